//! Suites with fastgcm in them, and records of TLS 1.3.

use fastgcm::Key;
use rustls::{
    CipherSuite, CipherSuiteCommon, ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion, Tls13CipherSuite,
    crypto::cipher::{
        AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter, Nonce, OutboundOpaqueMessage,
        OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm, UnsupportedOperationError, make_tls13_aad,
    },
};
use std::sync::{Mutex, PoisonError};

/// The length of a tag in bytes.
pub(crate) const TAG: usize = 16;

/// The key lengths of TLS. `fips()` of each algorithm returns rustls's default, because nobody has validated this implementation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aes {
    Aes128,
    Aes256,
}

impl Aes {
    /// Returns the key length of a suite, or `None` if the suite does not use AES-GCM.
    pub(crate) fn of(suite: CipherSuite) -> Option<&'static Self> {
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

    /// Returns the length in bytes.
    pub(crate) fn length(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes256 => 32,
        }
    }

    /// Derives the key in its final place, so that no copy of it remains.
    ///
    /// # Panics
    /// Panics if rustls passes a key of another length than it was told.
    pub(crate) fn key(self, key: &AeadKey) -> Box<Key> {
        assert_eq!(key.as_ref().len(), self.length());
        Key::boxed(key.as_ref()).expect("16 or 32 bytes")
    }

    /// Returns what the kernel needs to take over (kTLS).
    pub(crate) fn secrets(self, key: AeadKey, iv: Iv) -> ConnectionTrafficSecrets {
        match self {
            Self::Aes128 => ConnectionTrafficSecrets::Aes128Gcm { key, iv },
            Self::Aes256 => ConnectionTrafficSecrets::Aes256Gcm { key, iv },
        }
    }
}

pub(crate) fn common(base: &CipherSuiteCommon) -> CipherSuiteCommon {
    // draft-irtf-cfrg-aead-limits-08, section 5.1.1, for records of 2^14 bytes
    CipherSuiteCommon { confidentiality_limit: 1 << 24, ..*base }
}

/// Returns a suite with fastgcm in it, if the suite uses AES-GCM.
pub(crate) fn tls13(base: &'static Tls13CipherSuite) -> &'static Tls13CipherSuite {
    static OURS: Suites<Tls13CipherSuite> = Suites::new();
    let Some(aes) = Aes::of(base.common.suite) else { return base };
    OURS.of(base, || Tls13CipherSuite { common: common(&base.common), aead_alg: aes, quic: Some(aes), ..*base })
}

/// Our suites, each beside the suite from which it was made. Rustls needs them for the program's lifetime.
pub(crate) struct Suites<S: 'static>(Mutex<Vec<(&'static S, &'static S)>>);

impl<S> Suites<S> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns our version of a suite, which the first call makes.
    pub(crate) fn of(&self, base: &'static S, make: impl FnOnce() -> S) -> &'static S {
        let mut suites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A suite that is already ours stays: it may be the base of the next call.
        if let Some((_, ours)) = suites.iter().find(|(of, ours)| std::ptr::eq(*of, base) || std::ptr::eq(*ours, base)) {
            return ours;
        }
        let ours = Box::leak(Box::new(make()));
        suites.push((base, ours));
        ours
    }
}

/// Records of TLS 1.3 (RFC 8446, section 5.2): the text, a byte for its type, and zeros as padding, of which we send none.
struct Tls13 {
    key: Box<Key>,
    iv: Iv,
}

impl Tls13AeadAlgorithm for Aes {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Tls13 { key: self.key(&key), iv })
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Tls13 { key: self.key(&key), iv })
    }

    fn key_len(&self) -> usize {
        self.length()
    }

    fn extract_keys(&self, key: AeadKey, iv: Iv) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Ok(self.secrets(key, iv))
    }
}

impl MessageEncrypter for Tls13 {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, seq: u64) -> Result<OutboundOpaqueMessage, Error> {
        let length = self.encrypted_payload_len(message.payload.len());
        let mut record = PrefixedPayload::with_capacity(length);
        // The record's memory must be written before safe code can encrypt into it. Writing the chunks there costs the least.
        record.extend_from_chunks(&message.payload);
        record.extend_from_slice(&message.typ.to_array());
        let nonce = Nonce::new(&self.iv, seq).0;
        let tag = self.key.seal(nonce, &make_tls13_aad(length), record.as_mut()).map_err(|_| Error::EncryptError)?;
        record.extend_from_slice(tag.as_ref());
        Ok(OutboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, record))
    }

    fn encrypted_payload_len(&self, text: usize) -> usize {
        text.saturating_add(1 + TAG)
    }
}

impl MessageDecrypter for Tls13 {
    fn decrypt<'a>(&mut self, mut message: InboundOpaqueMessage<'a>, seq: u64) -> Result<InboundPlainMessage<'a>, Error> {
        let nonce = Nonce::new(&self.iv, seq).0;
        let aad = make_tls13_aad(message.payload.len());
        let text = self.key.open_appended(nonce, &aad, &mut message.payload).map_err(|_| Error::DecryptError)?.len();
        message.payload.truncate(text);
        message.into_tls13_unpadded_message()
    }
}
