#![doc = include_str!("../README.md")]

mod quic;
mod tls13;

#[cfg(feature = "tls12")]
mod tls12;

#[cfg(feature = "tls12")]
use rustls::Tls12CipherSuite;
use rustls::{
    CipherSuite, CipherSuiteCommon, ConnectionTrafficSecrets, SupportedCipherSuite, Tls13CipherSuite,
    crypto::{
        CryptoProvider,
        cipher::{AeadKey, Iv},
    },
};
use std::sync::{Mutex, PoisonError};

/// `base`, with fastgcm in each of its suites that uses AES-GCM.
///
/// Everything else stays as it is: the order of the suites, those with ChaCha20-Poly1305, key exchange, signatures, hashes, random numbers. A suite that
/// `base` does not have is not added. QUIC is supported even if `base` does not support it.
///
/// The suites live as long as the program: 100 bytes for each of `base`, however often this is called.
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

/// A suite with fastgcm in it, if it uses AES-GCM.
fn suite(base: SupportedCipherSuite) -> SupportedCipherSuite {
    let Some(aes) = Aes::of(base.suite()) else { return base };
    match base {
        SupportedCipherSuite::Tls13(base) => SupportedCipherSuite::Tls13(TLS13.of(base, || Tls13CipherSuite {
            common: common(&base.common),
            hkdf_provider: base.hkdf_provider,
            aead_alg: aes,
            quic: Some(aes),
        })),
        #[cfg(feature = "tls12")]
        SupportedCipherSuite::Tls12(base) => SupportedCipherSuite::Tls12(TLS12.of(base, || Tls12CipherSuite {
            common: common(&base.common),
            prf_provider: base.prf_provider,
            kx: base.kx,
            sign: base.sign,
            aead_alg: aes,
        })),
        #[allow(unreachable_patterns)] // where no other crate turns on TLS 1.2, either
        other => other,
    }
}

fn common(base: &CipherSuiteCommon) -> CipherSuiteCommon {
    // draft-irtf-cfrg-aead-limits-08, section 5.1.1: records of 2^14 bytes
    CipherSuiteCommon { suite: base.suite, hash_provider: base.hash_provider, confidentiality_limit: 1 << 24 }
}

/// The key lengths of TLS.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Aes {
    Aes128,
    Aes256,
}

impl Aes {
    /// That of a suite; none if it does not use AES-GCM.
    fn of(suite: CipherSuite) -> Option<&'static Self> {
        match suite {
            CipherSuite::TLS13_AES_128_GCM_SHA256
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
            | CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => Some(&Self::Aes128),
            CipherSuite::TLS13_AES_256_GCM_SHA384
            | CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
            | CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => Some(&Self::Aes256),
            _ => None,
        }
    }

    /// In bytes.
    fn key_len(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes256 => 32,
        }
    }

    /// Derived where it stays, so that no copy of it is left.
    ///
    /// # Panics
    /// If rustls gives a key of another length than it was told.
    fn key(self, key: &AeadKey) -> Box<fastgcm::Key> {
        assert_eq!(key.as_ref().len(), self.key_len());
        fastgcm::Key::boxed(key.as_ref()).expect("16 or 32 bytes")
    }

    /// What the kernel needs to take over (kTLS).
    fn secrets(self, key: AeadKey, iv: Iv) -> ConnectionTrafficSecrets {
        match self {
            Self::Aes128 => ConnectionTrafficSecrets::Aes128Gcm { key, iv },
            Self::Aes256 => ConnectionTrafficSecrets::Aes256Gcm { key, iv },
        }
    }
}

/// Bytes of a tag.
const TAG: usize = 16;

/// The longest text of a record (RFC 8446, section 5.1).
const RECORD: usize = 1 << 14;

/// Our suites beside those that they are made of. Rustls wants them for the program's lifetime.
struct Suites<S: 'static>(Mutex<Vec<(&'static S, &'static S)>>);

static TLS13: Suites<Tls13CipherSuite> = Suites(Mutex::new(Vec::new()));
#[cfg(feature = "tls12")]
static TLS12: Suites<Tls12CipherSuite> = Suites(Mutex::new(Vec::new()));

impl<S> Suites<S> {
    /// Ours of that one, made at the first call.
    fn of(&self, base: &'static S, make: impl FnOnce() -> S) -> &'static S {
        let mut suites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is ours already stays: it may be the base of the next call.
        if let Some((_, ours)) = suites.iter().find(|(of, ours)| std::ptr::eq(*of, base) || std::ptr::eq(*ours, base)) {
            return ours;
        }
        let ours = Box::leak(Box::new(make()));
        suites.push((base, ours));
        ours
    }
}
