//! What differs between versions of rustls: here 0.24, whose records are encrypted out of place, to memory of the caller.

use crate::{
    aes::{TAG, Tls13},
    quic::{CONFIDENTIALITY, INTEGRITY, Packets},
    tls12::{Decrypter, EXPLICIT, Encrypter, explicit},
};
use fastgcm::{Key, Tag};
use rustls::{
    Error,
    crypto::cipher::{EncryptBuffer, InboundOpaque, Nonce, OutboundPlain, Record, make_tls12_aad, make_tls13_aad},
    enums::ContentType,
    error::ApiMisuse,
    quic::{self, PacketKey},
};

pub(crate) use rustls::crypto::{
    CipherSuite,
    cipher::{RecordDecrypter, RecordEncrypter},
};

pub(crate) fn wrong_sample() -> Error {
    ApiMisuse::InvalidQuicHeaderProtectionSampleLength.into()
}

pub(crate) fn wrong_number() -> Error {
    ApiMisuse::InvalidQuicHeaderProtectionPacketNumberLength.into()
}

/// Bytes of text from which on it is read where it lies. A shorter one is copied to its place and encrypted there: one call of the cipher in place of a
/// call for each chunk and one for the type behind them. (Granite Rapids, AES-128, ns of one chunk copied, and read where it lies: 64 bytes 22 and 72,
/// 1 KiB 79 and 114, 8 KiB 501 and 524, 16 KiB 973 and 948.)
const READ_IN_PLACE: usize = 12 << 10;

/// The first bytes of `out`.
///
/// # Errors
/// [`EncryptBufferTooSmall`](ApiMisuse::EncryptBufferTooSmall): nothing has been written.
fn front(out: &mut [u8], required: usize) -> Result<&mut [u8], Error> {
    let provided = out.len();
    out.get_mut(..required).ok_or_else(|| ApiMisuse::EncryptBufferTooSmall { required, provided }.into())
}

/// Encrypts the chunks, and `last` behind them, to `out`, which has room for these and the tag.
fn seal(key: &Key, nonce: [u8; 12], aad: &[u8], text: &OutboundPlain<'_>, last: &[u8], out: &mut [u8]) -> Result<(), Error> {
    let (ciphertext, tag) = out.split_at_mut(text.len() + last.len());
    let sealed = if text.len() < READ_IN_PLACE {
        let length = ciphertext.len();
        let mut copy = EncryptBuffer::new(ciphertext, length)?;
        copy.extend_from_chunks(text);
        copy.extend_from_slice(last);
        key.seal(nonce, aad, copy.as_mut())
    } else {
        seal_pieces(key, nonce, aad, text.chunks().chain([last]), ciphertext)
    };
    tag.copy_from_slice(sealed.map_err(|_| Error::EncryptError)?.as_ref());
    Ok(())
}

fn seal_pieces<'p>(
    key: &Key,
    nonce: [u8; 12],
    aad: &[u8],
    pieces: impl Iterator<Item = &'p [u8]>,
    mut ciphertext: &mut [u8],
) -> Result<Tag, fastgcm::Error> {
    let mut sealer = key.sealer(nonce);
    sealer.aad(aad)?;
    let mut sealer = sealer.text();
    for piece in pieces {
        let (here, behind) = ciphertext.split_at_mut(piece.len());
        sealer.seal_to(piece, here)?;
        ciphertext = behind;
    }
    Ok(sealer.finish())
}

impl RecordEncrypter for Tls13 {
    fn encrypt<'a>(&mut self, record: Record<OutboundPlain<'_>>, seq: u64, out: &'a mut [u8]) -> Result<Record<&'a [u8]>, Error> {
        let payload = front(out, self.encrypted_payload_len(record.payload.len()))?;
        let typ = ContentType::ApplicationData;
        let aad = make_tls13_aad(typ, record.version.encode(), payload.len());
        let nonce = Nonce::new(&self.iv, seq).to_array()?;
        seal(&self.key, nonce, &aad, &record.payload, &record.typ.to_array(), payload)?;
        Ok(Record { typ, version: record.version, payload })
    }

    fn encrypted_payload_len(&self, text: usize) -> usize {
        text.saturating_add(1 + TAG)
    }
}

impl RecordDecrypter for Tls13 {
    fn decrypt<'a>(&mut self, mut record: Record<InboundOpaque<'a>>, seq: u64) -> Result<Record<&'a [u8]>, Error> {
        let nonce = Nonce::new(&self.iv, seq).to_array()?;
        let aad = make_tls13_aad(record.typ, record.version.version(), record.payload.len());
        let text = self.key.open_appended(nonce, &aad, &mut record.payload).map_err(|_| Error::DecryptError)?.len();
        record.payload.truncate(text);
        record.into_tls13_unpadded_record()
    }
}

impl RecordEncrypter for Encrypter {
    fn encrypt<'a>(&mut self, record: Record<OutboundPlain<'_>>, seq: u64, out: &'a mut [u8]) -> Result<Record<&'a [u8]>, Error> {
        let length = record.payload.len();
        let payload = front(out, self.encrypted_payload_len(length))?;
        let aad = make_tls12_aad(seq, record.typ, record.version.encode(), length);
        let nonce = Nonce::new(&self.iv, seq).to_array()?;
        let (number, sealed) = payload.split_at_mut(EXPLICIT);
        number.copy_from_slice(explicit(&nonce));
        seal(&self.key, nonce, &aad, &record.payload, &[], sealed)?;
        Ok(Record { typ: record.typ, version: record.version, payload })
    }

    fn encrypted_payload_len(&self, text: usize) -> usize {
        text.saturating_add(EXPLICIT + TAG)
    }
}

impl RecordDecrypter for Decrypter {
    fn decrypt<'a>(&mut self, mut record: Record<InboundOpaque<'a>>, seq: u64) -> Result<Record<&'a [u8]>, Error> {
        let (typ, version) = (record.typ, record.version.version());
        let length = self.open(&mut record.payload, |length| make_tls12_aad(seq, typ, version, length))?;
        Ok(record.into_plain_record_range(EXPLICIT..EXPLICIT + length))
    }
}

impl PacketKey for Packets {
    fn encrypt_in_place(&self, number: u64, header: &[u8], payload: &mut [u8], path: Option<u32>) -> Result<quic::Tag, Error> {
        self.encrypt(Nonce::quic(path, &self.iv, number).to_array()?, header, payload)
    }

    fn decrypt_in_place<'a>(&self, number: u64, header: &[u8], payload: &'a mut [u8], path: Option<u32>) -> Result<&'a [u8], Error> {
        self.decrypt(Nonce::quic(path, &self.iv, number).to_array()?, header, payload)
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
