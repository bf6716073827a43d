#![doc = include_str!("../README.md")]

use fastgcm::{Key, Tag};
use std::fmt;
use str0m_proto::crypto::{
    AeadAes128GcmCipher, AeadAes256GcmCipher, CryptoError, CryptoProvider, SrtpProvider, SupportedAeadAes128Gcm, SupportedAeadAes256Gcm,
    SupportedAes128CmSha1_80,
};

/// The length of a tag in bytes.
const TAG: usize = 16;

/// Returns `base` with fastgcm in the suites of SRTP that use AES-GCM. Everything else stays as it is.
///
/// The new provider lives as long as the program: 16 bytes for each call.
pub fn with(base: CryptoProvider) -> CryptoProvider {
    CryptoProvider { srtp_provider: Box::leak(Box::new(Srtp(base.srtp_provider))), ..base }
}

/// AES-GCM is ours, and everything else comes from another provider.
#[derive(Debug)]
struct Srtp(&'static dyn SrtpProvider);

impl SrtpProvider for Srtp {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        self.0.aes_128_cm_sha1_80()
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &Gcm
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &Gcm
    }

    fn srtp_aes_128_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        self.0.srtp_aes_128_ecb_round(key, input, output);
    }

    fn srtp_aes_256_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        self.0.srtp_aes_256_ecb_round(key, input, output);
    }
}

#[derive(Debug)]
struct Gcm;

/// One direction of a session. The key is derived in its final place, so that no copy of it remains.
struct Cipher(Box<Key>);

impl Cipher {
    /// Writes the ciphertext and its tag to `output`.
    fn seal(&self, iv: &[u8; 12], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        let sealed = output.get_mut(..input.len() + TAG).ok_or_else(short)?;
        self.0.seal_to(*iv, aad, input, sealed).map_err(refused)
    }

    /// Writes the text to `output`, and returns its length.
    fn open(&self, iv: &[u8; 12], aads: &[&[u8]], input: &[u8], output: &mut [u8]) -> Result<usize, CryptoError> {
        let (ciphertext, tag) = input.split_last_chunk::<TAG>().ok_or_else(short)?;
        let text = output.get_mut(..ciphertext.len()).ok_or_else(short)?;
        self.0.open_gathered(*iv, aads, &[ciphertext], text, &Tag(*tag)).map_err(refused)?;
        Ok(ciphertext.len())
    }
}

fn short() -> CryptoError {
    CryptoError::Other("AES-GCM: a buffer is too short".into())
}

fn refused(error: fastgcm::Error) -> CryptoError {
    CryptoError::Other(format!("AES-GCM: {error}"))
}

impl fmt::Debug for Cipher {
    /// Writes the name of the type, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").finish_non_exhaustive()
    }
}

macro_rules! suites {
    ($($suite:ident $cipher:ident $length:literal,)+) => { $(
        impl $suite for Gcm {
            fn create_cipher(&self, key: [u8; $length], _encrypt: bool) -> Box<dyn $cipher> {
                Box::new(Cipher(Key::boxed(&key).expect("16 or 32 bytes")))
            }
        }

        impl $cipher for Cipher {
            fn encrypt(&mut self, iv: &[u8; 12], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
                self.seal(iv, aad, input, output)
            }

            fn decrypt(&mut self, iv: &[u8; 12], aads: &[&[u8]], input: &[u8], output: &mut [u8]) -> Result<usize, CryptoError> {
                self.open(iv, aads, input, output)
            }
        }
    )+ };
}

suites! { SupportedAeadAes128Gcm AeadAes128GcmCipher 16, SupportedAeadAes256Gcm AeadAes256GcmCipher 32, }
