#![doc = include_str!("../README.md")]

mod aes;
mod quic;
mod tls12;
mod version;

use rustls::crypto::CryptoProvider;

/// `base`, with fastgcm in each of its suites that uses AES-GCM.
///
/// Everything else stays as it is: the order of the suites, those with ChaCha20-Poly1305, key exchange, signatures, hashes, tickets, random numbers. A
/// suite that `base` does not have is not added. QUIC is supported even if `base` does not support it.
///
/// The suites live as long as the program: 100 bytes for each of `base`, however often this is called.
///
/// ```
/// let provider = rustls_fastgcm::with(rustls_ring::DEFAULT_PROVIDER);
/// let config = rustls::ClientConfig::builder(provider.into())
///     .with_root_certificates(rustls::RootCertStore::empty())
///     .with_no_client_auth()?;
/// # Ok::<(), rustls::Error>(())
/// ```
pub fn with(base: CryptoProvider) -> CryptoProvider {
    CryptoProvider {
        tls12_cipher_suites: base.tls12_cipher_suites.iter().map(|base| tls12::tls12(base)).collect(),
        tls13_cipher_suites: base.tls13_cipher_suites.iter().map(|base| aes::tls13(base)).collect(),
        ..base
    }
}
