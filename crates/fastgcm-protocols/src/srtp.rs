//! SRTP and SRTCP with AEAD_AES_128_GCM and AEAD_AES_256_GCM (RFC 7714).
//!
//! ```text
//! RTP    header 12, CSRCs, extension │ payload            │ tag 16
//! RTCP   first packet's header 8     │ what is behind it  │ tag 16 │ E, index 31 bits
//!        └ authenticated ────────────┘ encrypted ─────────┘
//! ```
//! [`Session`] holds the key and the salt of a session, which RFC 3711, section 4.3, derives from the master key. There is no MKI: a caller
//! that needs an MKI must append and remove it. The caller keeps the list of packets already seen (RFC 3711, section 3.3.2).
//!
//! **What must be unique under one key**: for RTP, SSRC, rollover counter and sequence number together; for RTCP, SSRC and index together.
//! Rollover counter and sequence number allow 2^48 packets, and an index is less than 2^31; after that, new keys are needed.

use crate::{Error, Salt};
use fastgcm::{Backend, Key, Tag};

/// The length of a tag in bytes.
pub const TAG: usize = 16;
/// The bytes behind an RTCP packet: the tag, and the index with E.
pub const TRAILER: usize = TAG + 4;
/// The lengths in bytes of the shortest RTP header and of RTCP's header.
const RTP_HEADER: usize = 12;
const RTCP_HEADER: usize = 8;
/// The bit of the index that marks an encrypted packet.
const E: u32 = 1 << 31;

/// The keys of a session: one for RTP and one for RTCP.
#[derive(Debug)]
pub struct Session {
    key: Key,
    salt: Salt<12>,
}

impl Session {
    /// Makes a session from a session key of 16 or 32 bytes and a session salt.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for a key of any other length except 24.
    pub fn new(key: &[u8], salt: &[u8; 12]) -> Result<Self, Error> {
        Self::with_backend(key, salt, Backend::detect())
    }

    /// Does what [`new`](Self::new) does, for the back end `backend`.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`.
    pub fn with_backend(key: &[u8], salt: &[u8; 12], backend: Backend) -> Result<Self, Error> {
        Ok(Self { key: crate::key(key, backend)?, salt: Salt(*salt) })
    }

    /// Seals an RTP packet in place: header and payload, and behind them room for the tag. `rollover` is the rollover counter (ROC).
    ///
    /// # Errors
    /// Returns [`Malformed`](Error::Malformed) if `packet` is not an RTP packet, or [`InvalidLength`](Error::InvalidLength) if it has no
    /// room for a tag. `packet` is untouched.
    #[inline]
    pub fn seal_rtp(&self, packet: &mut [u8], rollover: u32) -> Result<(), Error> {
        let (packet, tag) = packet.split_last_chunk_mut::<TAG>().ok_or(Error::InvalidLength)?;
        let (header, payload, nonce) = self.rtp(packet, rollover)?;
        *tag = self.key.seal(nonce, header, payload)?.0;
        Ok(())
    }

    /// Opens an SRTP packet in place. Returns the RTP packet: everything but the tag.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the packet is not what was sealed; its payload is then all zero. Returns
    /// [`Malformed`](Error::Malformed) if `packet` is not an SRTP packet; it is untouched.
    #[inline]
    pub fn open_rtp<'p>(&self, packet: &'p mut [u8], rollover: u32) -> Result<&'p mut [u8], Error> {
        let (packet, tag) = packet.split_last_chunk_mut::<TAG>().ok_or(Error::Malformed)?;
        let (header, payload, nonce) = self.rtp(packet, rollover)?;
        self.key.open(nonce, header, payload, &Tag(*tag))?;
        Ok(packet)
    }

    /// Returns header, payload and nonce (RFC 7714, section 8.1: two zeros, SSRC, ROC, sequence number; XOR the salt).
    #[inline]
    #[allow(clippy::type_complexity)]
    fn rtp<'p>(&self, packet: &'p mut [u8], rollover: u32) -> Result<(&'p [u8], &'p mut [u8], [u8; 12]), Error> {
        let end = rtp_header(packet).ok_or(Error::Malformed)?;
        let (header, payload) = packet.split_at_mut(end);
        let [_, _, sequence @ .., _, _, _, _, s0, s1, s2, s3] = *header.first_chunk::<RTP_HEADER>().ok_or(Error::Malformed)?;
        let [q0, q1, ..] = sequence;
        let ssrc = u32::from_be_bytes([s0, s1, s2, s3]);
        let counted = u64::from(rollover) << 16 | u64::from(u16::from_be_bytes([q0, q1]));
        Ok((header, payload, self.nonce(ssrc, counted)))
    }

    /// Seals a compound RTCP packet in place. Behind the packet there must be room for tag and index, [`TRAILER`] bytes. If `encrypt` is
    /// false, the packet is only authenticated.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) if `index` has more than 31 bits, [`InvalidLength`](Error::InvalidLength) if there is no
    /// room, or [`Malformed`](Error::Malformed) if `packet` is not an RTCP packet. `packet` is untouched.
    #[inline]
    pub fn seal_rtcp(&self, packet: &mut [u8], index: u32, encrypt: bool) -> Result<(), Error> {
        if index >= E {
            return Err(Error::Exhausted);
        }
        let (packet, trailer) = packet.split_last_chunk_mut::<TRAILER>().ok_or(Error::InvalidLength)?;
        let ssrc = rtcp_ssrc(packet).ok_or(Error::Malformed)?;
        let word = if encrypt { E | index } else { index };
        let nonce = self.nonce(ssrc, index.into());
        let tag = if encrypt {
            let (aad, text) = rtcp_parts(packet, word)?;
            self.key.seal(nonce, &aad, text)?
        } else {
            self.authenticate(nonce, packet, word)?.finish()
        };
        trailer[..TAG].copy_from_slice(&tag.0);
        trailer[TAG..].copy_from_slice(&word.to_be_bytes());
        Ok(())
    }

    /// Opens an SRTCP packet in place. Returns the RTCP packet, its index, and whether it was encrypted.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the packet is not what was sealed; everything that was encrypted is then zero.
    /// Returns [`Malformed`](Error::Malformed) if `packet` is not an SRTCP packet; it is untouched.
    #[inline]
    pub fn open_rtcp<'p>(&self, packet: &'p mut [u8]) -> Result<(&'p mut [u8], u32, bool), Error> {
        let (packet, trailer) = packet.split_last_chunk_mut::<TRAILER>().ok_or(Error::Malformed)?;
        let ssrc = rtcp_ssrc(packet).ok_or(Error::Malformed)?;
        let (tag, word) = trailer.split_first_chunk::<TAG>().ok_or(Error::Malformed)?;
        let word = word.try_into().map(u32::from_be_bytes).map_err(|_| Error::Malformed)?;
        let (index, encrypted, tag) = (word & !E, word & E != 0, Tag(*tag));
        let nonce = self.nonce(ssrc, index.into());
        if encrypted {
            let (aad, text) = rtcp_parts(packet, word)?;
            self.key.open(nonce, &aad, text, &tag)?;
        } else {
            self.authenticate(nonce, packet, word)?.verify(&tag)?;
        }
        Ok((packet, index, encrypted))
    }

    /// Authenticates the whole packet, then the index (RFC 7714, section 9.3).
    fn authenticate(&self, nonce: [u8; 12], packet: &[u8], word: u32) -> Result<fastgcm::Gmac<'_>, Error> {
        let mut mac = self.key.gmac(nonce);
        mac.update(packet)?;
        mac.update(&word.to_be_bytes())?;
        Ok(mac)
    }

    /// Returns two zeros, the SSRC and a number of 48 bits, XOR the salt.
    #[inline]
    fn nonce(&self, ssrc: u32, number: u64) -> [u8; 12] {
        let counted = u128::from(ssrc) << 48 | u128::from(number);
        let mut nonce = [0; 12];
        for (byte, (counted, salt)) in nonce.iter_mut().zip(counted.to_be_bytes()[4..].iter().zip(self.salt.0)) {
            *byte = counted ^ salt;
        }
        nonce
    }
}

/// Returns the length of an RTP header: twelve bytes, four for each CSRC, and the extension (RFC 3550, sections 5.1 and 5.3.1).
#[inline]
fn rtp_header(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    let mut end = RTP_HEADER + 4 * usize::from(first & 0x0f);
    if first >> 6 != 2 {
        return None;
    }
    if first & 0x10 != 0 {
        let extension = packet.get(end..end + 4)?;
        end += 4 + 4 * usize::from(u16::from_be_bytes([extension[2], extension[3]]));
    }
    (end <= packet.len()).then_some(end)
}

/// Returns the SSRC of the sender of a compound packet (RFC 3550, section 6.4).
#[inline]
fn rtcp_ssrc(packet: &[u8]) -> Option<u32> {
    let [first, _, _, _, ssrc @ ..] = *packet.first_chunk::<RTCP_HEADER>()?;
    (first >> 6 == 2).then_some(u32::from_be_bytes(ssrc))
}

/// Returns the AAD of an encrypted packet, and its text (RFC 7714, section 9.2).
#[inline]
fn rtcp_parts(packet: &mut [u8], word: u32) -> Result<([u8; 12], &mut [u8]), Error> {
    let (header, text) = packet.split_first_chunk_mut::<RTCP_HEADER>().ok_or(Error::Malformed)?;
    let mut aad = [0; 12];
    aad[..8].copy_from_slice(header);
    aad[8..].copy_from_slice(&word.to_be_bytes());
    Ok((aad, text))
}
