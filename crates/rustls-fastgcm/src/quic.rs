//! Packets of QUIC (RFC 9001, sections 5.3 and 5.4).

use crate::aes::{Aes, TAG};
use fastgcm::{Key, hazmat::aes_block};
use rustls::{
    Error,
    crypto::cipher::{AeadKey, Iv, NONCE_LEN, Nonce},
    quic::{Algorithm, HeaderProtectionKey, PacketKey, Tag},
};

/// The number of packets that one key may encrypt, and of forgeries that it may refuse (RFC 9001, appendices B.1.1 and B.1.2).
const CONFIDENTIALITY: u64 = 1 << 23;
const INTEGRITY: u64 = 1 << 52;

/// The bytes of ciphertext from which a header's mask is made: one block.
const SAMPLE: usize = 16;

/// The length of the longest packet number.
const NUMBER: usize = 4;

struct Packets {
    key: Box<Key>,
    iv: Iv,
}

/// Only AES is used here, though the key has powers of H too: no smaller key would be faster to use.
struct Headers(Box<Key>);

impl Algorithm for Aes {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn PacketKey> {
        Box::new(Packets { key: self.key(&key), iv })
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn HeaderProtectionKey> {
        Box::new(Headers(self.key(&key)))
    }

    fn aead_key_len(&self) -> usize {
        self.length()
    }
}

impl Packets {
    fn encrypt(&self, nonce: [u8; NONCE_LEN], header: &[u8], payload: &mut [u8]) -> Result<Tag, Error> {
        let tag = self.key.seal(nonce, header, payload).map_err(|_| Error::EncryptError)?;
        Ok(Tag::from(tag.as_ref()))
    }

    fn decrypt<'a>(&self, nonce: [u8; NONCE_LEN], header: &[u8], payload: &'a mut [u8]) -> Result<&'a [u8], Error> {
        Ok(self.key.open_appended(nonce, header, payload).map_err(|_| Error::DecryptError)?)
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

impl Headers {
    /// RFC 9001, section 5.4.1. The first byte holds the length of the packet number, and is read while it is not masked.
    fn mask(&self, sample: &[u8], first: &mut u8, number: &mut [u8], is_masked: bool) -> Result<(), Error> {
        let mut block = <[u8; SAMPLE]>::try_from(sample).map_err(|_| Error::General("sample of invalid length".into()))?;
        if number.len() > NUMBER {
            return Err(Error::General("packet number too long".into()));
        }
        aes_block(&self.0, &mut block);
        let is_long = *first & 0x80 != 0;
        let masked = *first ^ block[0] & if is_long { 0x0f } else { 0x1f };
        let length = usize::from(if is_masked { masked } else { *first } & 3) + 1;
        *first = masked;
        number.iter_mut().zip(&block[1..]).take(length).for_each(|(byte, mask)| *byte ^= mask);
        Ok(())
    }
}

impl HeaderProtectionKey for Headers {
    fn encrypt_in_place(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) -> Result<(), Error> {
        self.mask(sample, first, number, false)
    }

    fn decrypt_in_place(&self, sample: &[u8], first: &mut u8, number: &mut [u8]) -> Result<(), Error> {
        self.mask(sample, first, number, true)
    }

    fn sample_len(&self) -> usize {
        SAMPLE
    }
}
