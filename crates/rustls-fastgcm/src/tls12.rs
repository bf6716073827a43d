//! Suites of TLS 1.2. Their records (RFC 5288, section 3) are eight bytes of the nonce, the text, and the tag. The first four bytes of the
//! nonce are part of the key block.

use crate::aes::{Aes, Suites, TAG, common};
use fastgcm::Key;
use rustls::{
    ConnectionTrafficSecrets, Error, Tls12CipherSuite,
    crypto::cipher::{
        AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, KeyBlockShape, MessageDecrypter, MessageEncrypter, NONCE_LEN, Nonce,
        OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls12AeadAlgorithm, UnsupportedOperationError, make_tls12_aad,
    },
};

/// The bytes of the nonce that are part of the key block, and the bytes in each record.
const SALT: usize = 4;
const EXPLICIT: usize = 8;

/// The longest text of a record (RFC 5246, section 6.2.1).
const LONGEST: usize = 1 << 14;

/// Returns a suite with fastgcm in it, if the suite uses AES-GCM.
pub(crate) fn tls12(base: &'static Tls12CipherSuite) -> &'static Tls12CipherSuite {
    static OURS: Suites<Tls12CipherSuite> = Suites::new();
    let Some(aes) = Aes::of(base.common.suite) else { return base };
    OURS.of(base, || Tls12CipherSuite { common: common(&base.common), aead_alg: aes, ..*base })
}

struct Encrypter {
    key: Box<Key>,
    /// The explicit part starts where the key block says, and each record XORs it with its number, so no two are alike.
    iv: Iv,
}

struct Decrypter {
    key: Box<Key>,
    salt: [u8; SALT],
}

impl Tls12AeadAlgorithm for Aes {
    fn encrypter(&self, key: AeadKey, salt: &[u8], explicit: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(Encrypter { key: self.key(&key), iv: iv(salt, explicit).into() })
    }

    fn decrypter(&self, key: AeadKey, salt: &[u8]) -> Box<dyn MessageDecrypter> {
        Box::new(Decrypter { key: self.key(&key), salt: std::array::from_fn(|i| salt[i]) })
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape { enc_key_len: self.length(), fixed_iv_len: SALT, explicit_nonce_len: EXPLICIT }
    }

    fn extract_keys(&self, key: AeadKey, salt: &[u8], explicit: &[u8]) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Ok(self.secrets(key, iv(salt, explicit).into()))
    }
}

fn iv(salt: &[u8], explicit: &[u8]) -> [u8; NONCE_LEN] {
    let mut iv = [0; NONCE_LEN];
    iv[..SALT].copy_from_slice(salt);
    iv[SALT..].copy_from_slice(explicit);
    iv
}

/// Returns the explicit part of a nonce.
fn explicit(nonce: &[u8; NONCE_LEN]) -> &[u8] {
    &nonce[SALT..]
}

impl Decrypter {
    /// Opens the payload of a record in place. Its text has `length` bytes, from which `aad` is made, and begins behind the explicit part
    /// of the nonce. After [`DecryptError`](Error::DecryptError) the text is zero.
    fn open(&self, payload: &mut [u8], aad: impl FnOnce(usize) -> [u8; 13]) -> Result<usize, Error> {
        let length = payload.len().checked_sub(EXPLICIT + TAG).ok_or(Error::DecryptError)?;
        if length > LONGEST {
            return Err(Error::PeerSentOversizedRecord);
        }
        let (explicit, sealed) = payload.split_at_mut(EXPLICIT);
        self.key.open_appended(iv(&self.salt, explicit), &aad(length), sealed).map_err(|_| Error::DecryptError)?;
        Ok(length)
    }
}

impl MessageEncrypter for Encrypter {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, seq: u64) -> Result<OutboundOpaqueMessage, Error> {
        let length = message.payload.len();
        let mut record = PrefixedPayload::with_capacity(self.encrypted_payload_len(length));
        let nonce = Nonce::new(&self.iv, seq).0;
        record.extend_from_slice(explicit(&nonce));
        // As in TLS 1.3, the memory must be written first.
        record.extend_from_chunks(&message.payload);
        let aad = make_tls12_aad(seq, message.typ, message.version, length);
        let tag = self.key.seal(nonce, &aad, &mut record.as_mut()[EXPLICIT..]).map_err(|_| Error::EncryptError)?;
        record.extend_from_slice(tag.as_ref());
        Ok(OutboundOpaqueMessage::new(message.typ, message.version, record))
    }

    fn encrypted_payload_len(&self, text: usize) -> usize {
        text.saturating_add(EXPLICIT + TAG)
    }
}

impl MessageDecrypter for Decrypter {
    fn decrypt<'a>(&mut self, mut message: InboundOpaqueMessage<'a>, seq: u64) -> Result<InboundPlainMessage<'a>, Error> {
        let (typ, version) = (message.typ, message.version);
        let length = self.open(&mut message.payload, |length| make_tls12_aad(seq, typ, version, length))?;
        Ok(message.into_plain_message_range(EXPLICIT..EXPLICIT + length))
    }
}
