//! Two ends of a connection in memory: either may have either provider.
#![allow(dead_code, unused_imports)] // not every program of tests needs all of it

use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, ConnectionTrafficSecrets, Error, RootCertStore, ServerConfig, ServerConnection,
    SideData, SupportedCipherSuite,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    quic::{self, KeyChange, Keys, PacketKey, Secrets, Suite, Tag, Version},
};
use std::{
    io::{IoSlice, Read, Write},
    ops::DerefMut,
    sync::Arc,
};

pub(crate) use rustls::{CipherSuite, Side};

pub(crate) const SUITES: [(CipherSuite, usize); 6] = [
    (CipherSuite::TLS13_AES_128_GCM_SHA256, 16),
    (CipherSuite::TLS13_AES_256_GCM_SHA384, 32),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, 16),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, 32),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, 16),
    (CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, 32),
];

/// The certificate of `localhost`, and its key. It is known to everybody: for tests only.
fn certificate(rsa: bool) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let both: &[u8] = if rsa { include_bytes!("../certificates/rsa.pem") } else { include_bytes!("../certificates/ecdsa.pem") };
    (CertificateDer::from_pem_slice(both).unwrap(), PrivateKeyDer::from_pem_slice(both).unwrap())
}

pub(crate) fn client(mut provider: CryptoProvider, suite: CipherSuite) -> ClientConfig {
    provider.cipher_suites.retain(|one| one.suite() == suite);
    let versions = [provider.cipher_suites[0].version()];
    let mut roots = RootCertStore::empty();
    roots.add(certificate(false).0).unwrap();
    roots.add(certificate(true).0).unwrap();
    let config = ClientConfig::builder_with_provider(provider.into()).with_protocol_versions(&versions).unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.enable_secret_extraction = true;
    config.enable_early_data = true;
    config
}

pub(crate) fn server(provider: CryptoProvider, suite: CipherSuite) -> ServerConfig {
    let (certificate, key) = certificate(format!("{suite:?}").contains("RSA"));
    let config = ServerConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    config.enable_secret_extraction = true;
    config.max_early_data_size = 1 << 14;
    config
}

pub(crate) struct Pair {
    client: ClientConnection,
    server: ServerConnection,
}

impl Pair {
    pub(crate) fn new(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Self {
        let name = ServerName::try_from("localhost").unwrap();
        let (mut client, mut server) =
            (ClientConnection::new(client.clone(), name).unwrap(), ServerConnection::new(server.clone()).unwrap());
        client.set_buffer_limit(None);
        server.set_buffer_limit(None);
        Self { client, server }
    }

    /// A connection that is ready.
    pub(crate) fn connected(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Self {
        let mut pair = Self::new(client, server);
        pair.run().unwrap();
        assert!(!pair.client.is_handshaking() && !pair.server.is_handshaking());
        pair
    }

    /// Until neither has anything more to say.
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        while self.client.wants_write() || self.server.wants_write() {
            carry(&mut self.client, &mut self.server, |_| ())?;
            carry(&mut self.server, &mut self.client, |_| ())?;
        }
        Ok(())
    }

    pub(crate) fn suite(&self) -> CipherSuite {
        self.client.negotiated_cipher_suite().unwrap().suite()
    }

    /// Sends the chunks in one call, and checks that they arrive.
    pub(crate) fn send_to_server(&mut self, chunks: &[&[u8]]) {
        write(&mut self.client, chunks);
        assert!(carry(&mut self.client, &mut self.server, |_| ()).unwrap() == chunks.concat());
    }

    pub(crate) fn send_to_client(&mut self, chunks: &[&[u8]]) {
        write(&mut self.server, chunks);
        assert!(carry(&mut self.server, &mut self.client, |_| ()).unwrap() == chunks.concat());
    }

    /// Sends a text in a record that `change` changes.
    pub(crate) fn forged_to_server(&mut self, text: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>, Error> {
        write(&mut self.client, &[text]);
        carry(&mut self.client, &mut self.server, change)
    }

    pub(crate) fn forged_to_client(&mut self, text: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>, Error> {
        write(&mut self.server, &[text]);
        carry(&mut self.server, &mut self.client, change)
    }

    /// What the client says to an error.
    pub(crate) fn alert_of_client(&mut self) -> Result<Vec<u8>, Error> {
        carry(&mut self.client, &mut self.server, |_| ())
    }

    /// A client's early data, as the server reads it; none if it does not.
    pub(crate) fn early(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        self.client.early_data().unwrap().write_all(text).unwrap();
        carry(&mut self.client, &mut self.server, |_| ()).unwrap();
        let mut read = Vec::new();
        self.server.early_data()?.read_to_end(&mut read).unwrap();
        Some(read)
    }

    pub(crate) fn is_early_data_accepted(&self) -> bool {
        self.client.is_early_data_accepted()
    }

    pub(crate) fn update_keys(&mut self, of_client: bool) {
        if of_client { self.client.refresh_traffic_keys() } else { self.server.refresh_traffic_keys() }.unwrap();
        self.run().unwrap();
    }

    /// To send and to receive, of client and server, and of server and client.
    pub(crate) fn secrets(self) -> [[ConnectionTrafficSecrets; 2]; 2] {
        let [client, server] = [self.client.dangerous_extract_secrets().unwrap(), self.server.dangerous_extract_secrets().unwrap()];
        [[client.tx.1, server.rx.1], [server.tx.1, client.rx.1]]
    }
}

fn write<S: SideData>(from: &mut impl DerefMut<Target = ConnectionCommon<S>>, chunks: &[&[u8]]) {
    let slices: Vec<IoSlice<'_>> = chunks.iter().map(|chunk| IoSlice::new(chunk)).collect();
    assert_eq!(from.writer().write_vectored(&slices).unwrap(), chunks.iter().map(|chunk| chunk.len()).sum());
}

/// Carries what `from` has to say to `to`; `change` may change it. Returns the text that arrives.
fn carry<A: SideData, B: SideData>(
    from: &mut impl DerefMut<Target = ConnectionCommon<A>>,
    to: &mut impl DerefMut<Target = ConnectionCommon<B>>,
    change: impl FnOnce(&mut Vec<u8>),
) -> Result<Vec<u8>, Error> {
    let mut records = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut records).unwrap();
    }
    change(&mut records);
    let (mut records, mut arrived, mut buffer) = (&records[..], Vec::new(), vec![0; 1 << 16]);
    while !records.is_empty() {
        to.read_tls(&mut records).unwrap();
        to.process_new_packets()?;
        while let Ok(n @ 1..) = to.reader().read(&mut buffer) {
            arrived.extend_from_slice(&buffer[..n]);
        }
    }
    Ok(arrived)
}

/// What the kernel is told (kTLS) of a key and of all twelve bytes of an IV, of which TLS 1.2 has four apart.
pub(crate) fn extracted(provider: &CryptoProvider, id: CipherSuite, key: [u8; 32], iv: [u8; 12]) -> ConnectionTrafficSecrets {
    match provider.cipher_suites.iter().find(|suite| suite.suite() == id).unwrap() {
        SupportedCipherSuite::Tls12(suite) => suite.aead_alg.extract_keys(key.into(), &iv[..4], &iv[4..]),
        SupportedCipherSuite::Tls13(suite) => suite.aead_alg.extract_keys(key.into(), iv.into()),
    }
    .unwrap()
}

/// The suite that QUIC begins with, or the other one.
pub(crate) fn quic_suite(provider: &CryptoProvider, id: CipherSuite) -> Suite {
    provider.cipher_suites.iter().find(|suite| suite.suite() == id).unwrap().tls13().unwrap().quic_suite().unwrap()
}

/// Keys of packets and headers of client and server, once they have shaken hands, and those to come.
pub(crate) fn quic_keys(client: ClientConfig, server: ServerConfig) -> [(Keys, Secrets); 2] {
    let name = "localhost".try_into().unwrap();
    let client = quic::ClientConnection::new(client.into(), Version::V1, name, bytes(8, 1)).unwrap();
    let server = quic::ServerConnection::new(server.into(), Version::V1, bytes(8, 2)).unwrap();
    let (mut client, mut server): ((quic::Connection, _), (quic::Connection, _)) = ((client.into(), None), (server.into(), None));
    let tell = |from: &mut (quic::Connection, Option<_>), to: &mut quic::Connection| loop {
        let mut said = Vec::new();
        let change = from.0.write_hs(&mut said);
        if said.is_empty() && change.is_none() {
            return;
        }
        to.read_hs(&said).unwrap();
        if let Some(KeyChange::OneRtt { keys, next }) = change {
            from.1 = Some((keys, next));
        }
    };
    for _ in 0..4 {
        tell(&mut client, &mut server.0);
        tell(&mut server, &mut client.0);
    }
    [client.1.unwrap(), server.1.unwrap()]
}

pub(crate) fn seal_packet(key: &dyn PacketKey, path: Option<u32>, number: u64, header: &[u8], packet: &mut [u8]) -> Result<Tag, Error> {
    match path {
        None => key.encrypt_in_place(number, header, packet),
        Some(path) => key.encrypt_in_place_for_path(path, number, header, packet),
    }
}

pub(crate) fn open_packet<'p>(
    key: &dyn PacketKey,
    path: Option<u32>,
    number: u64,
    header: &[u8],
    packet: &'p mut [u8],
) -> Result<&'p [u8], Error> {
    match path {
        None => key.decrypt_in_place(number, header, packet),
        Some(path) => key.decrypt_in_place_for_path(path, number, header, packet),
    }
}

/// Fails unless so many cases were checked.
pub(crate) fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
}

/// Deterministic bytes that differ everywhere.
pub(crate) fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
