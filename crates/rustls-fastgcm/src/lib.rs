#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature each item needs

mod aes;
mod quic;
#[cfg(feature = "tls12")]
mod tls12;

use rustls::{SupportedCipherSuite, crypto::CryptoProvider};

/// Returns `base` with fastgcm in each suite that uses AES-GCM.
///
/// Everything else stays as it is: the order of the suites, ChaCha20-Poly1305, key exchange, signatures, hashes, random numbers. No suite
/// is added that `base` does not have. QUIC is supported even if `base` does not support it.
///
/// The suites live as long as the program: 100 bytes for each suite of `base`, however often this function is called.
///
/// ```
/// # #[cfg(feature = "tls12")] {
/// let provider = rustls_fastgcm::with(rustls::crypto::ring::default_provider());
/// let roots = rustls::RootCertStore::empty();
/// let config = rustls::ClientConfig::builder_with_provider(provider.into())
///     .with_safe_default_protocol_versions()?
///     .with_root_certificates(roots)
///     .with_no_client_auth();
/// # }
/// # Ok::<(), rustls::Error>(())
/// ```
pub fn with(base: CryptoProvider) -> CryptoProvider {
    CryptoProvider { cipher_suites: base.cipher_suites.into_iter().map(suite).collect(), ..base }
}

fn suite(base: SupportedCipherSuite) -> SupportedCipherSuite {
    match base {
        SupportedCipherSuite::Tls13(base) => SupportedCipherSuite::Tls13(aes::tls13(base)),
        #[cfg(feature = "tls12")]
        SupportedCipherSuite::Tls12(base) => SupportedCipherSuite::Tls12(tls12::tls12(base)),
        #[allow(unreachable_patterns)] // where no other crate turns on TLS 1.2, either
        other => other,
    }
}
