//! Records of TLS 1.2 (RFC 5288, section 3): eight bytes of the nonce, the text, and the tag. The four bytes before are part of the key block.

use crate::{Aes, RECORD, TAG};
use fastgcm::Key;
use rustls::{
    ConnectionTrafficSecrets, Error,
    crypto::cipher::{
        AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, KeyBlockShape, MessageDecrypter, MessageEncrypter, NONCE_LEN, Nonce,
        OutboundOpaqueMessage, OutboundPlainMessage, PrefixedPayload, Tls12AeadAlgorithm, UnsupportedOperationError, make_tls12_aad,
    },
};

/// Bytes of the nonce that are part of the key block, and of each record.
const SALT: usize = 4;
const EXPLICIT: usize = 8;

struct Encrypter {
    key: Box<Key>,
    /// The explicit part starts where the key block says, and each record's is that XOR its number: so no two are alike.
    iv: Iv,
}

struct Decrypter {
    key: Box<Key>,
    salt: [u8; SALT],
}

impl Tls12AeadAlgorithm for Aes {
    fn encrypter(&self, key: AeadKey, salt: &[u8], explicit: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(Encrypter { key: self.key(&key), iv: iv(salt, explicit) })
    }

    fn decrypter(&self, key: AeadKey, salt: &[u8]) -> Box<dyn MessageDecrypter> {
        Box::new(Decrypter { key: self.key(&key), salt: std::array::from_fn(|i| salt[i]) })
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        KeyBlockShape { enc_key_len: self.key_len(), fixed_iv_len: SALT, explicit_nonce_len: EXPLICIT }
    }

    fn extract_keys(&self, key: AeadKey, salt: &[u8], explicit: &[u8]) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Ok(self.secrets(key, iv(salt, explicit)))
    }

    /// No: nobody has validated it.
    fn fips(&self) -> bool {
        false
    }
}

fn iv(salt: &[u8], explicit: &[u8]) -> Iv {
    let mut iv = [0; NONCE_LEN];
    iv[..SALT].copy_from_slice(salt);
    iv[SALT..].copy_from_slice(explicit);
    iv.into()
}

impl MessageEncrypter for Encrypter {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, seq: u64) -> Result<OutboundOpaqueMessage, Error> {
        let length = message.payload.len();
        let mut record = PrefixedPayload::with_capacity(self.encrypted_payload_len(length));
        let nonce = Nonce::new(&self.iv, seq).0;
        record.extend_from_slice(&nonce[SALT..]);
        // As in TLS 1.3.
        record.extend_from_chunks(&message.payload);
        let aad = make_tls12_aad(seq, message.typ, message.version, length);
        let tag = self.key.seal(nonce, &aad, &mut record.as_mut()[EXPLICIT..]).map_err(|_| Error::EncryptError)?;
        record.extend_from_slice(tag.as_ref());
        Ok(OutboundOpaqueMessage::new(message.typ, message.version, record))
    }

    fn encrypted_payload_len(&self, text: usize) -> usize {
        EXPLICIT + text + TAG
    }
}

impl MessageDecrypter for Decrypter {
    fn decrypt<'a>(&mut self, mut message: InboundOpaqueMessage<'a>, seq: u64) -> Result<InboundPlainMessage<'a>, Error> {
        let length = message.payload.len().checked_sub(EXPLICIT + TAG).ok_or(Error::DecryptError)?;
        if length > RECORD {
            return Err(Error::PeerSentOversizedRecord);
        }
        let aad = make_tls12_aad(seq, message.typ, message.version, length);
        let (explicit, sealed) = message.payload.split_at_mut(EXPLICIT);
        let mut nonce = [0; NONCE_LEN];
        nonce[..SALT].copy_from_slice(&self.salt);
        nonce[SALT..].copy_from_slice(explicit);
        self.key.open_appended(nonce, &aad, sealed).map_err(|_| Error::DecryptError)?;
        Ok(message.into_plain_message_range(EXPLICIT..EXPLICIT + length))
    }
}
