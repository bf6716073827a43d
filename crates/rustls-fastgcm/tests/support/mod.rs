//! Two ends of a connection in memory: either may have either provider.
#![allow(dead_code)] // no test file needs all of it

use rustls::{
    CipherSuite, ClientConfig, ClientConnection, ConnectionCommon, Error, RootCertStore, ServerConfig, ServerConnection, SideData,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use std::{
    io::{IoSlice, Read, Write},
    ops::{Deref, DerefMut},
    sync::Arc,
};

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
    pub(crate) client: ClientConnection,
    pub(crate) server: ServerConnection,
}

impl Pair {
    pub(crate) fn new(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Self {
        let name = ServerName::try_from("localhost").unwrap();
        Self { client: ClientConnection::new(client.clone(), name).unwrap(), server: ServerConnection::new(server.clone()).unwrap() }
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
}

/// Carries what `from` has to say to `to`; `change` may change it.
pub(crate) fn carry<A: SideData, B: SideData>(
    from: &mut impl DerefMut<Target = ConnectionCommon<A>>,
    to: &mut impl DerefMut<Target = ConnectionCommon<B>>,
    change: impl FnOnce(&mut Vec<u8>),
) -> Result<(), Error> {
    let mut records = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut records).unwrap();
    }
    change(&mut records);
    let mut records = &records[..];
    while !records.is_empty() {
        to.read_tls(&mut records).unwrap();
        to.process_new_packets()?;
    }
    Ok(())
}

/// Sends the chunks in one call, and checks that they arrive.
pub(crate) fn send<A: SideData, B: SideData>(
    from: &mut impl DerefMut<Target = ConnectionCommon<A>>,
    to: &mut impl DerefMut<Target = ConnectionCommon<B>>,
    chunks: &[&[u8]],
) {
    from.deref_mut().set_buffer_limit(None);
    let length: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    let slices: Vec<IoSlice<'_>> = chunks.iter().map(|chunk| IoSlice::new(chunk)).collect();
    assert_eq!(from.writer().write_vectored(&slices).unwrap(), length);
    let mut received = Vec::new();
    let mut records = Vec::new();
    while from.deref().wants_write() {
        from.write_tls(&mut records).unwrap();
    }
    // As much at a time as the other end takes before it is read from.
    let mut records = &records[..];
    while !records.is_empty() {
        to.read_tls(&mut records).unwrap();
        to.process_new_packets().unwrap();
        let mut buffer = vec![0; length];
        while let Ok(n @ 1..) = to.reader().read(&mut buffer) {
            received.extend_from_slice(&buffer[..n]);
        }
    }
    assert!(received == chunks.concat());
}

/// Says how many cases were checked, and fails unless it was all of them.
pub(crate) fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
    println!("{name} ok {count}");
}

/// Deterministic bytes that differ everywhere.
pub(crate) fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
