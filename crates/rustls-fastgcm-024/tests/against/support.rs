//! Two ends of a connection in memory: either may have either provider.
#![allow(dead_code, unused_imports)] // not every program of tests needs all of it

use rustls::{
    ClientConfig, ClientSide, Connection, ConnectionTrafficSecrets, Error, RootCertStore, ServerConfig, ServerSide, SideData, SliceInput,
    Tcp, VecInput,
    crypto::{CryptoProvider, Identity, cipher::OutboundPlain},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    quic::{KeyChange, Keys, PacketKey, Quic, QuicEvent, Secrets, Suite, Tag, Version},
};
use std::sync::Arc;

pub(crate) use rustls::{crypto::CipherSuite, quic::Side};

pub(crate) const SUITES: [(CipherSuite, usize); 6] = [
    (CipherSuite::TLS13_AES_128_GCM_SHA256, 16),
    (CipherSuite::TLS13_AES_256_GCM_SHA384, 32),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, 16),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, 32),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, 16),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, 32),
];

/// The certificate of `localhost`, and its key. It is known to everybody: for tests only.
pub(crate) fn certificate(rsa: bool) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let (certificate, key): (&[u8], &[u8]) = match rsa {
        false => (include_bytes!("../certificates/ecdsa.pem"), include_bytes!("../certificates/ecdsa.key")),
        true => (include_bytes!("../certificates/rsa.pem"), include_bytes!("../certificates/rsa.key")),
    };
    (CertificateDer::from_pem_slice(certificate).unwrap(), PrivateKeyDer::from_pem_slice(key).unwrap())
}

pub(crate) fn client(mut provider: CryptoProvider, suite: CipherSuite) -> ClientConfig {
    provider.tls12_cipher_suites.to_mut().retain(|one| one.common.suite == suite);
    provider.tls13_cipher_suites.to_mut().retain(|one| one.common.suite == suite);
    let mut roots = RootCertStore::empty();
    roots.add(certificate(false).0).unwrap();
    roots.add(certificate(true).0).unwrap();
    let mut config = ClientConfig::builder(provider.into()).with_root_certificates(roots).with_no_client_auth().unwrap();
    config.enable_secret_extraction = true;
    config.enable_early_data = true;
    config
}

pub(crate) fn server(provider: CryptoProvider, suite: CipherSuite) -> ServerConfig {
    let (certificate, key) = certificate(format!("{suite:?}").contains("RSA"));
    let identity = Identity::from_cert_chain(vec![certificate]).unwrap();
    let config = ServerConfig::builder(provider.into()).with_no_client_auth();
    let mut config = config.with_single_cert(identity.into(), key).unwrap();
    config.enable_secret_extraction = true;
    config.max_early_data_size = 1 << 14;
    config
}

/// One end, and what it has to say.
struct End<S: SideData> {
    connection: Connection<S, Tcp>,
    input: VecInput,
    said: Vec<u8>,
}

pub(crate) struct Pair {
    client: End<ClientSide>,
    server: End<ServerSide>,
}

impl Pair {
    pub(crate) fn new(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Self {
        Self::named(client, server, "localhost")
    }

    pub(crate) fn named(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>, name: &'static str) -> Self {
        let mut said = Vec::new();
        let connection = client.connect(name.try_into().unwrap()).build(&mut said).unwrap();
        let client = End { connection, input: VecInput::default(), said };
        let connection = Connection::<ServerSide, Tcp>::new(server.clone()).unwrap();
        Self { client, server: End { connection, input: VecInput::default(), said: Vec::new() } }
    }

    /// A connection that is ready.
    pub(crate) fn connected(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Self {
        let mut pair = Self::new(client, server);
        pair.run().unwrap();
        assert!(!pair.client.connection.is_handshaking() && !pair.server.connection.is_handshaking());
        pair
    }

    /// Until neither has anything more to say.
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        while !self.client.said.is_empty() || !self.server.said.is_empty() {
            carry(&mut self.client, &mut self.server, |_| ())?;
            carry(&mut self.server, &mut self.client, |_| ())?;
        }
        Ok(())
    }

    pub(crate) fn suite(&self) -> CipherSuite {
        self.client.connection.negotiated_cipher_suite().unwrap().suite()
    }

    /// Sends the chunks in one call, and checks that they arrive.
    pub(crate) fn send_to_server(&mut self, chunks: &[&[u8]]) {
        self.client.write(chunks);
        assert!(carry(&mut self.client, &mut self.server, |_| ()).unwrap() == chunks.concat());
    }

    pub(crate) fn send_to_client(&mut self, chunks: &[&[u8]]) {
        self.server.write(chunks);
        assert!(carry(&mut self.server, &mut self.client, |_| ()).unwrap() == chunks.concat());
    }

    /// Sends a text in a record that `change` changes.
    pub(crate) fn forged_to_server(&mut self, text: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>, Error> {
        self.client.write(&[text]);
        carry(&mut self.client, &mut self.server, change)
    }

    pub(crate) fn forged_to_client(&mut self, text: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>, Error> {
        self.server.write(&[text]);
        carry(&mut self.server, &mut self.client, change)
    }

    /// What the client says to an error.
    pub(crate) fn alert_of_client(&mut self) -> Result<Vec<u8>, Error> {
        carry(&mut self.client, &mut self.server, |_| ())
    }

    /// A client's early data, as the server reads it; none if it does not.
    pub(crate) fn early(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let Self { client, server } = self;
        let written = client.connection.early_data().unwrap().write(OutboundPlain::from(text), &mut client.said);
        assert_eq!(written.unwrap(), text.len());
        let said = std::mem::take(&mut client.said);
        assert_eq!(server.input.read(&mut &said[..]).unwrap(), said.len());
        let mut handler = server.connection.read_tls(&mut server.input, &mut server.said);
        let mut read = Vec::new();
        while let Some(piece) = handler.next_early_data() {
            read.extend_from_slice(piece.unwrap().bytes());
        }
        assert!(handler.next_payload().is_none());
        (!read.is_empty()).then_some(read)
    }

    pub(crate) fn is_early_data_accepted(&self) -> bool {
        self.client.connection.side().is_early_data_accepted()
    }

    pub(crate) fn update_keys(&mut self, of_client: bool) {
        let Self { client, server } = self;
        if of_client {
            client.connection.refresh_traffic_keys(&mut client.said).unwrap();
        } else {
            server.connection.refresh_traffic_keys(&mut server.said).unwrap();
        }
        self.run().unwrap();
    }

    /// To send and to receive, of client and server, and of server and client.
    pub(crate) fn secrets(self) -> [[ConnectionTrafficSecrets; 2]; 2] {
        let (client, server) =
            (self.client.connection.dangerous_extract_secrets().unwrap(), self.server.connection.dangerous_extract_secrets().unwrap());
        [[client.tx.1, server.rx.1], [server.tx.1, client.rx.1]]
    }
}

impl<S: SideData> End<S> {
    fn write(&mut self, chunks: &[&[u8]]) {
        self.connection.write(OutboundPlain::new(chunks), &mut self.said).unwrap();
    }
}

/// Carries what `from` has to say to `to`; `change` may change it. Returns the text that arrives.
fn carry<A: SideData, B: SideData>(from: &mut End<A>, to: &mut End<B>, change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>, Error> {
    let mut records = std::mem::take(&mut from.said);
    change(&mut records);
    let (mut records, mut arrived) = (&records[..], Vec::new());
    while !records.is_empty() {
        to.input.read(&mut records).unwrap();
        to.connection.read_tls(&mut to.input, &mut to.said).handle_all(&mut arrived)?;
    }
    Ok(arrived)
}

/// What the kernel is told (kTLS) of a key and of all twelve bytes of an IV, of which TLS 1.2 has four apart.
pub(crate) fn extracted(provider: &CryptoProvider, id: CipherSuite, key: [u8; 32], iv: [u8; 12]) -> ConnectionTrafficSecrets {
    let tls12 = provider.tls12_cipher_suites.iter().find(|suite| suite.common.suite == id);
    match tls12 {
        Some(suite) => suite.aead_alg.extract_keys(key.into(), &iv[..4], &iv[4..]),
        None => {
            let suite = provider.tls13_cipher_suites.iter().find(|suite| suite.common.suite == id).unwrap();
            suite.aead_alg.extract_keys(key.into(), iv.into())
        }
    }
    .unwrap()
}

/// The suite that QUIC begins with, or the other one.
pub(crate) fn quic_suite(provider: &CryptoProvider, id: CipherSuite) -> Suite {
    let suite = *provider.tls13_cipher_suites.iter().find(|suite| suite.common.suite == id).unwrap();
    Suite::try_from(suite).unwrap()
}

/// Keys of packets and headers of client and server, once they have shaken hands, and those to come.
pub(crate) fn quic_keys(client: ClientConfig, server: ServerConfig) -> [(Keys, Secrets); 2] {
    let client = Arc::new(client).connect("localhost".try_into().unwrap());
    let mut client = client.build_quic(Version::V1, bytes(8, 1)).unwrap();
    let mut server = Connection::<ServerSide, Quic>::new_quic(server.into(), Version::V1, bytes(8, 2)).unwrap();
    let mut keys = [None, None];
    for _ in 0..4 {
        tell(&mut client, &mut server, &mut keys[0]);
        tell(&mut server, &mut client, &mut keys[1]);
    }
    keys.map(Option::unwrap)
}

fn tell<A: SideData, B: SideData>(from: &mut Connection<A, Quic>, to: &mut Connection<B, Quic>, keys: &mut Option<(Keys, Secrets)>) {
    for event in from.events() {
        match event {
            QuicEvent::Message(mut said) => {
                let mut input = SliceInput::new(&mut said);
                to.read_hs(&mut input).unwrap();
                assert_eq!(input.into_used(), said.len());
            }
            QuicEvent::KeyChange(KeyChange::OneRtt { keys: now, next }) => *keys = Some((now, next)),
            _ => {}
        }
    }
}

pub(crate) fn seal_packet(key: &dyn PacketKey, path: Option<u32>, number: u64, header: &[u8], packet: &mut [u8]) -> Result<Tag, Error> {
    key.encrypt_in_place(number, header, packet, path)
}

pub(crate) fn open_packet<'p>(
    key: &dyn PacketKey,
    path: Option<u32>,
    number: u64,
    header: &[u8],
    packet: &'p mut [u8],
) -> Result<&'p [u8], Error> {
    key.decrypt_in_place(number, header, packet, path)
}

/// Says how many cases were checked, and fails unless it was all of them.
pub(crate) fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
    println!("{}::{name} ok {count}", crate::NAME);
}

/// Deterministic bytes that differ everywhere.
pub(crate) fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
