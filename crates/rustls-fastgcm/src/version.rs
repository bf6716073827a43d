//! What differs between versions of rustls: here 0.23, whose records are vectors.

use crate::{
    aes::{TAG, Tls13},
    quic::{CONFIDENTIALITY, INTEGRITY, Packets},
};
use rustls::{
    ContentType, Error, ProtocolVersion,
    crypto::cipher::{
        InboundOpaqueMessage, InboundPlainMessage, MessageDecrypter, MessageEncrypter, Nonce, OutboundOpaqueMessage, OutboundPlainMessage,
        PrefixedPayload, make_tls13_aad,
    },
    quic::{PacketKey, Tag},
};
#[cfg(feature = "tls12")]
use {
    crate::tls12::{Decrypter, EXPLICIT, Encrypter, explicit},
    rustls::crypto::cipher::make_tls12_aad,
};

pub(crate) use rustls::{
    CipherSuite,
    crypto::cipher::{MessageDecrypter as RecordDecrypter, MessageEncrypter as RecordEncrypter},
};

pub(crate) fn wrong_sample() -> Error {
    Error::General("sample of invalid length".into())
}

pub(crate) fn wrong_number() -> Error {
    Error::General("packet number too long".into())
}

impl MessageEncrypter for Tls13 {
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

#[cfg(feature = "tls12")]
impl MessageEncrypter for Encrypter {
    fn encrypt(&mut self, message: OutboundPlainMessage<'_>, seq: u64) -> Result<OutboundOpaqueMessage, Error> {
        let length = message.payload.len();
        let mut record = PrefixedPayload::with_capacity(self.encrypted_payload_len(length));
        let nonce = Nonce::new(&self.iv, seq).0;
        record.extend_from_slice(explicit(&nonce));
        // As in TLS 1.3.
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

#[cfg(feature = "tls12")]
impl MessageDecrypter for Decrypter {
    fn decrypt<'a>(&mut self, mut message: InboundOpaqueMessage<'a>, seq: u64) -> Result<InboundPlainMessage<'a>, Error> {
        let (typ, version) = (message.typ, message.version);
        let length = self.open(&mut message.payload, |length| make_tls12_aad(seq, typ, version, length))?;
        Ok(message.into_plain_message_range(EXPLICIT..EXPLICIT + length))
    }
}

impl PacketKey for Packets {
    fn encrypt_in_place(&self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        self.encrypt(Nonce::new(&self.iv, number).0, header, payload)
    }

    fn encrypt_in_place_for_path(&self, path: u32, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        self.encrypt(Nonce::for_path(path, &self.iv, number).0, header, payload)
    }

    fn decrypt_in_place<'a>(&self, number: u64, header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        self.decrypt(Nonce::new(&self.iv, number).0, header, payload)
    }

    fn decrypt_in_place_for_path<'a>(&self, path: u32, number: u64, header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        self.decrypt(Nonce::for_path(path, &self.iv, number).0, header, payload)
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        CONFIDENTIALITY
    }

    fn integrity_limit(&self) -> u64 {
        INTEGRITY
    }
}
