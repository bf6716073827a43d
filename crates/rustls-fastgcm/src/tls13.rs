//! Records of TLS 1.3 (RFC 8446, section 5.2): the text, a byte for its type, and zeros as padding, of which we send none.

use crate::{Aes, TAG};
use fastgcm::Key;
use rustls::{
    ConnectionTrafficSecrets, ContentType, Error, ProtocolVersion,
    crypto::cipher::{
        AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter, Nonce, OutboundOpaqueMessage,
        OutboundPlainMessage, PrefixedPayload, Tls13AeadAlgorithm, UnsupportedOperationError, make_tls13_aad,
    },
};

struct Records {
    key: Box<Key>,
    iv: Iv,
}

impl Tls13AeadAlgorithm for Aes {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Records { key: self.key(&key), iv })
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Records { key: self.key(&key), iv })
    }

    fn key_len(&self) -> usize {
        (*self).key_len()
    }

    fn extract_keys(&self, key: AeadKey, iv: Iv) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Ok(self.secrets(key, iv))
    }

    /// No: nobody has validated it.
    fn fips(&self) -> bool {
        false
    }
}

impl MessageEncrypter for Records {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, seq: u64) -> Result<OutboundOpaqueMessage, Error> {
        let length = self.encrypted_payload_len(message.payload.len());
        let mut record = PrefixedPayload::with_capacity(length);
        // The record's memory must be written before safe code can encrypt into it. That the chunks are what is written costs the least.
        record.extend_from_chunks(&message.payload);
        record.extend_from_slice(&message.typ.to_array());
        let nonce = Nonce::new(&self.iv, seq).0;
        let tag = self.key.seal(nonce, &make_tls13_aad(length), record.as_mut()).map_err(|_| Error::EncryptError)?;
        record.extend_from_slice(tag.as_ref());
        Ok(OutboundOpaqueMessage::new(ContentType::ApplicationData, ProtocolVersion::TLSv1_2, record))
    }

    fn encrypted_payload_len(&self, text: usize) -> usize {
        text + 1 + TAG
    }
}

impl MessageDecrypter for Records {
    fn decrypt<'a>(&mut self, mut message: InboundOpaqueMessage<'a>, seq: u64) -> Result<InboundPlainMessage<'a>, Error> {
        let nonce = Nonce::new(&self.iv, seq).0;
        let aad = make_tls13_aad(message.payload.len());
        let text = self.key.open_appended(nonce, &aad, &mut message.payload).map_err(|_| Error::DecryptError)?.len();
        message.payload.truncate(text);
        message.into_tls13_unpadded_message()
    }
}
