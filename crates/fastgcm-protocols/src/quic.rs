//! Packets of QUIC v1 (RFC 9001, section 5) and v2 (RFC 9369): packet protection, header protection, Retry.
//!
//! ```text
//! first byte 1 │ the rest of the header │ packet number 1 to 4 │ payload   │ tag 16
//!  └ 4 or 5 bits masked                   └ masked               └ encrypted, header authenticated
//! ```
//! [`Keys`] protects a whole packet in place; [`PacketKey`] and [`HeaderKey`] are its parts, for a stack that keeps them separate. Packets
//! of v1 and v2 differ only in the derivation of keys ([`Keys::initial`] derives the keys of Initial packets) and in Retry ([`Version`]).
//!
//! **A packet number must be unique under one key.** QUIC's own rules ensure that (RFC 9000, section 12.3).

use crate::{Error, Salt};
use fastgcm::{Backend, Key, Tag, hazmat::aes_block, nonces::XorNonces};

/// The length of a tag in bytes.
pub const TAG: usize = 16;
/// The number of bytes from which the mask of a header is made.
pub const SAMPLE: usize = 16;
/// The number of packets that may be sealed under one key (RFC 9001, section 6.6).
pub const CONFIDENTIALITY_LIMIT: u64 = 1 << 23;
/// The number of packets that may fail to open under all keys of a connection (RFC 9001, section 6.6).
pub const INTEGRITY_LIMIT: u64 = 1 << 52;
/// The last packet number (RFC 9000, section 12.3).
pub const LAST_NUMBER: u64 = (1 << 62) - 1;

/// A version of QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// RFC 9001.
    V1,
    /// RFC 9369.
    V2,
}

impl Version {
    /// Returns key and nonce of the tag of a Retry packet (RFC 9001, section 5.8; RFC 9369, section 3.3.3).
    fn retry(self) -> (u128, [u8; 12]) {
        match self {
            Self::V1 => (0xbe0c690b9f66575a1d766b54e368c84e, [0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb]),
            Self::V2 => (0x8fb4b01b56ac48e260fbcbcead7ccc92, [0xd8, 0x69, 0x69, 0xbc, 0x2d, 0x7c, 0x6d, 0x99, 0x90, 0xef, 0xb0, 0x4a]),
        }
    }

    /// Returns the tag of a Retry packet: `packet` is everything before the tag, `original` is the destination connection ID of the
    /// client's first Initial.
    ///
    /// The key of this tag is public, so the tag excludes only damage and people who have not seen the Initial.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `original` has more than 20 bytes.
    pub fn retry_tag(self, original: &[u8], packet: &[u8]) -> Result<[u8; TAG], Error> {
        self.retry_mac(original, packet, |mac| mac.finish().0)
    }

    /// Verifies the tag at the end of a Retry `packet`.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the tag differs, [`Malformed`](Error::Malformed) if there is no room for a tag, or
    /// [`InvalidLength`](Error::InvalidLength) as [`retry_tag`](Self::retry_tag) does.
    pub fn verify_retry(self, original: &[u8], packet: &[u8]) -> Result<(), Error> {
        let (packet, tag) = packet.split_last_chunk::<TAG>().ok_or(Error::Malformed)?;
        Ok(self.retry_mac(original, packet, |mac| mac.verify(&Tag(*tag)))??)
    }

    fn retry_mac<T>(self, original: &[u8], packet: &[u8], then: impl FnOnce(fastgcm::Gmac<'_>) -> T) -> Result<T, Error> {
        let length = u8::try_from(original.len()).ok().filter(|&length| length <= 20).ok_or(Error::InvalidLength)?;
        let (key, nonce) = self.retry();
        let key = Key::aes128(&key.to_be_bytes());
        let mut mac = key.gmac(nonce);
        mac.update(&[length])?;
        mac.update(original)?;
        mac.update(packet)?;
        Ok(then(mac))
    }
}

/// Packet protection (RFC 9001, section 5.3).
#[derive(Debug)]
pub struct PacketKey {
    key: Key,
    iv: Salt<12>,
}

impl PacketKey {
    /// Makes the key from `quic key` and `quic iv` (v2: `quicv2 key` and so on).
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) unless `key` has 16 or 32 bytes (or 24, for which no suite is registered).
    pub fn new(key: &[u8], iv: &[u8; 12]) -> Result<Self, Error> {
        Self::with_backend(key, iv, Backend::detect())
    }

    /// Does what [`new`](Self::new) does, for the back end `backend`.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`.
    pub fn with_backend(key: &[u8], iv: &[u8; 12], backend: Backend) -> Result<Self, Error> {
        Ok(Self { key: crate::key(key, backend)?, iv: Salt(*iv) })
    }

    /// Encrypts `payload` in place, and returns the tag. `header` is the unmasked header before it.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) if `number` is beyond [`LAST_NUMBER`]; `payload` is untouched.
    #[inline]
    pub fn seal(&self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<[u8; TAG], Error> {
        if number > LAST_NUMBER {
            return Err(Error::Exhausted);
        }
        Ok(self.key.seal(XorNonces::at(self.iv.0, number), header, payload)?.0)
    }

    /// Seals a packet whose payload lies in several chunks: the ciphertext goes to one buffer, `ciphertext`.
    ///
    /// # Errors
    /// Fails like [`seal`](Self::seal). Returns [`InvalidLength`](Error::InvalidLength) if `ciphertext` is not exactly as long as all
    /// chunks together.
    #[inline]
    pub fn seal_gathered(&self, number: u64, header: &[u8], payload: &[&[u8]], ciphertext: &mut [u8]) -> Result<[u8; TAG], Error> {
        if number > LAST_NUMBER {
            return Err(Error::Exhausted);
        }
        Ok(self.key.seal_gathered(XorNonces::at(self.iv.0, number), &[header], payload, &[], ciphertext)?.0)
    }

    /// Decrypts `payload`, whose last 16 bytes are the tag, in place. Returns the payload without the tag.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the payload is not what was sealed; all of it but the tag is then zero. Returns
    /// [`Malformed`](Error::Malformed) if there is no room for a tag or `number` is beyond [`LAST_NUMBER`]; `payload` is untouched.
    #[inline]
    pub fn open<'p>(&self, number: u64, header: &[u8], payload: &'p mut [u8]) -> Result<&'p mut [u8], Error> {
        if number > LAST_NUMBER || payload.len() < TAG {
            return Err(Error::Malformed);
        }
        Ok(self.key.open_appended(XorNonces::at(self.iv.0, number), header, payload)?)
    }
}

/// Header protection (RFC 9001, section 5.4).
#[derive(Debug)]
pub struct HeaderKey(Key);

impl HeaderKey {
    /// Makes the key from `quic hp`, which is as long as the key of the packets.
    ///
    /// # Errors
    /// Fails like [`PacketKey::new`].
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        Self::with_backend(key, Backend::detect())
    }

    /// Does what [`new`](Self::new) does, for the back end `backend`.
    ///
    /// # Errors
    /// Fails like [`PacketKey::with_backend`].
    pub fn with_backend(key: &[u8], backend: Backend) -> Result<Self, Error> {
        Ok(Self(crate::key(key, backend)?))
    }

    /// Returns the mask for a sample: its first byte is for the first byte of the packet, the other bytes are for the packet number.
    #[inline]
    pub fn mask(&self, sample: &[u8; SAMPLE]) -> [u8; 5] {
        let mut block = *sample;
        aes_block(&self.0, &mut block);
        [block[0], block[1], block[2], block[3], block[4]]
    }

    /// Replaces several samples by their masks.
    #[inline]
    pub fn masks(&self, samples: &mut [[u8; SAMPLE]]) {
        fastgcm::hazmat::aes_blocks(&self.0, samples);
    }

    /// Returns the mask for the packet whose number begins at `number_at`: the sample begins four bytes behind that, whatever the length of
    /// the number.
    #[inline]
    fn mask_of(&self, packet: &[u8], number_at: usize) -> Option<[u8; 5]> {
        let from = number_at.checked_add(4)?;
        Some(self.mask(packet.get(from..from.checked_add(SAMPLE)?)?.try_into().ok()?))
    }
}

/// Returns the masked bits of the first byte (RFC 9001, section 5.4.1).
#[inline]
fn masked_bits(first: u8) -> u8 {
    if first & 0x80 != 0 { 0x0f } else { 0x1f }
}

/// Returns the length of the packet number in bytes.
#[inline]
fn number_len(first: u8) -> usize {
    usize::from(first & 3) + 1
}

/// An opened packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The full packet number.
    pub number: u64,
    /// Where the payload begins; it ends 16 bytes before the end of the packet.
    pub payload_at: usize,
}

/// Everything that protects one direction at one level of encryption.
///
/// ```
/// use fastgcm_protocols::quic::{Keys, TAG};
///
/// let (sealer, opener) = (Keys::new(&[1; 16], &[2; 12], &[3; 16])?, Keys::new(&[1; 16], &[2; 12], &[3; 16])?);
/// let mut packet = *b"\x40connect.\x2asome frames................";   // short header, connection ID, packet number in a byte
/// let before = packet;
/// sealer.seal(&mut packet, 9, 42)?;
/// let opened = opener.open(&mut packet, 9, 42)?;
/// assert_eq!((opened.number, opened.payload_at), (42, 10));
/// assert_eq!(packet[..packet.len() - TAG], before[..packet.len() - TAG]);
/// # Ok::<(), fastgcm_protocols::Error>(())
/// ```
#[derive(Debug)]
pub struct Keys {
    /// The key of the payload.
    pub packet: PacketKey,
    /// The key of the header.
    pub header: HeaderKey,
}

impl Keys {
    /// Makes the keys from `quic key`, `quic iv` and `quic hp` (v2: `quicv2 key` and so on).
    ///
    /// # Errors
    /// Fails like [`PacketKey::new`], and if the two keys have different lengths.
    pub fn new(key: &[u8], iv: &[u8; 12], hp: &[u8]) -> Result<Self, Error> {
        Self::with_backend(key, iv, hp, Backend::detect())
    }

    /// Does what [`new`](Self::new) does, for the back end `backend`.
    ///
    /// # Errors
    /// Fails like [`PacketKey::with_backend`].
    pub fn with_backend(key: &[u8], iv: &[u8; 12], hp: &[u8], backend: Backend) -> Result<Self, Error> {
        if key.len() != hp.len() {
            return Err(Error::InvalidLength);
        }
        Ok(Self { packet: PacketKey::with_backend(key, iv, backend)?, header: HeaderKey::with_backend(hp, backend)? })
    }

    /// Seals `packet` in place. It holds the unmasked header, whose packet number begins at `number_at` and has the length that the first
    /// byte states; then the payload; then room for the tag. `number` is the full packet number, of which the header has the last bytes.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if these do not fit, or if packet number and payload together have fewer than four
    /// bytes, so that there is no sample (RFC 9001, section 5.4.2). Returns [`Malformed`](Error::Malformed) if the header has another
    /// number, or [`Exhausted`](Error::Exhausted) if `number` is beyond [`LAST_NUMBER`]. `packet` is untouched.
    #[inline]
    pub fn seal(&self, packet: &mut [u8], number_at: usize, number: u64) -> Result<(), Error> {
        let first = *packet.first().ok_or(Error::InvalidLength)?;
        let payload_at = number_at.checked_add(number_len(first)).ok_or(Error::InvalidLength)?;
        let sampled = number_at.checked_add(4 + SAMPLE).ok_or(Error::InvalidLength)?;
        if number_at == 0 || packet.len() < sampled {
            return Err(Error::InvalidLength);
        }
        let (header, body) = packet.split_at_mut(payload_at);
        let (payload, tag) = body.split_last_chunk_mut::<TAG>().ok_or(Error::InvalidLength)?;
        let written = header[number_at..].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        if written != number & (u64::MAX >> (64 - 8 * (payload_at - number_at))) {
            return Err(Error::Malformed);
        }
        *tag = self.packet.seal(number, header, payload)?;
        let mask = self.header.mask_of(packet, number_at).ok_or(Error::InvalidLength)?;
        apply(packet, number_at, payload_at, masked_bits(first), mask);
        Ok(())
    }

    /// Opens `packet`, whose packet number begins at `number_at`, in place. `expected` is one more than the largest number so far: of the
    /// numbers with the packet's last bytes, the function takes the nearest to `expected` (RFC 9000, appendix A.3). The caller must check
    /// the reserved bits.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the packet is not what was sealed; its payload is then all zero, and its header is
    /// masked as before. Returns [`Malformed`](Error::Malformed) if the packet is too short to have a sample; it is untouched.
    #[inline]
    pub fn open(&self, packet: &mut [u8], number_at: usize, expected: u64) -> Result<Opened, Error> {
        if number_at == 0 {
            return Err(Error::Malformed);
        }
        let mask = self.header.mask_of(packet, number_at).ok_or(Error::Malformed)?;
        let bits = masked_bits(packet[0]);
        let payload_at = number_at + number_len(packet[0] ^ mask[0] & bits);
        apply(packet, number_at, payload_at, bits, mask);
        let (header, payload) = packet.split_at_mut(payload_at);
        let number = decode(&header[number_at..], expected);
        let opened = self.packet.open(number, header, payload).map(|_| Opened { number, payload_at });
        if opened.is_err() {
            apply(packet, number_at, payload_at, bits, mask);
        }
        opened
    }
}

/// XORs the mask, in place.
#[inline]
fn apply(packet: &mut [u8], number_at: usize, payload_at: usize, bits: u8, mask: [u8; 5]) {
    packet[0] ^= mask[0] & bits;
    packet[number_at..payload_at].iter_mut().zip(&mask[1..]).for_each(|(byte, mask)| *byte ^= mask);
}

/// Returns the full packet number (RFC 9000, appendix A.3).
#[inline]
fn decode(truncated: &[u8], expected: u64) -> u64 {
    let window = 1_u64 << (8 * truncated.len());
    let low = truncated.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    let candidate = expected & !(window - 1) | low;
    if candidate.saturating_add(window / 2) <= expected && candidate <= LAST_NUMBER - window {
        candidate + window
    } else if candidate > expected.saturating_add(window / 2) && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

/// The side that seals Initial packets.
#[cfg(feature = "initial")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

#[cfg(feature = "initial")]
impl Keys {
    /// Makes the keys of the Initial packets that `side` seals. `connection` is the destination connection ID of the client's first Initial
    /// packet (RFC 9001, section 5.2; RFC 9369, section 3.3.1). Anybody who has seen that ID has these keys.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `connection` has more than 20 bytes.
    pub fn initial(version: Version, connection: &[u8], side: Side) -> Result<Self, Error> {
        Self::initial_with_backend(version, connection, side, Backend::detect())
    }

    /// Does what [`initial`](Self::initial) does, for the back end `backend`.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`.
    pub fn initial_with_backend(version: Version, connection: &[u8], side: Side, backend: Backend) -> Result<Self, Error> {
        const V1: [u8; 20] = *b"\x38\x76\x2c\xf7\xf5\x59\x34\xb3\x4d\x17\x9a\xe6\xa4\xc8\x0c\xad\xcc\xbb\x7f\x0a";
        const V2: [u8; 20] = *b"\x0d\xed\xe3\xde\xf7\x00\xa6\xdb\x81\x93\x81\xbe\x6e\x26\x9d\xcb\xf9\xbd\x2e\xd9";
        if connection.len() > 20 {
            return Err(Error::InvalidLength);
        }
        let (salt, labels) = match version {
            Version::V1 => (V1, [&b"quic key"[..], b"quic iv", b"quic hp"]),
            Version::V2 => (V2, [&b"quicv2 key"[..], b"quicv2 iv", b"quicv2 hp"]),
        };
        let initial = hkdf::Hkdf::<sha2::Sha256>::new(Some(&salt), connection);
        let side = if side == Side::Client { &b"client in"[..] } else { b"server in" };
        let secret = expand_label::<32>(&initial, side)?;
        let secret = hkdf::Hkdf::from_prk(&secret).map_err(|_| Error::InvalidLength)?;
        let (key, iv, hp) =
            (expand_label::<16>(&secret, labels[0])?, expand_label(&secret, labels[1])?, expand_label::<16>(&secret, labels[2])?);
        Self::with_backend(&key, &iv, &hp, backend)
    }
}

/// Runs HKDF-Expand-Label with no context (RFC 8446, section 7.1).
#[cfg(feature = "initial")]
fn expand_label<const N: usize>(secret: &hkdf::Hkdf<sha2::Sha256>, label: &[u8]) -> Result<[u8; N], Error> {
    let mut output = [0; N];
    let info = [&[0, N as u8, 6 + label.len() as u8][..], b"tls13 ", label, &[0]];
    secret.expand_multi_info(&info, &mut output).map_err(|_| Error::InvalidLength)?;
    Ok(output)
}
