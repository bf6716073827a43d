//! IPsec ESP: AES-GCM (RFC 4106) and AES-GMAC (RFC 4543).
//!
//! ```text
//! SPI 4 │ sequence number 4 │ IV 8 │ payload, padding, pad length, next header │ ICV 8, 12 or 16
//!                                  └ encrypted, or with GMAC only authenticated ┘
//! ```
//! The nonce is the salt of the association (4 bytes) and the IV. What is authenticated besides is the SPI and the sequence number, of 32 or of 64 bits
//! (ESN): then its upper half stands between the two, and in no packet. With GMAC the IV is authenticated too, as Linux does it
//! and as the examples of draft-mcgrew-gcm-test have it.
//!
//! In the Linux kernel these are the templates `rfc4106(gcm(aes))` and `rfc4543(gcm(aes))`, whose key is likewise key and salt; [`Sa`] is what their
//! `setkey` makes. The caller writes and reads payload, padding and next header (RFC 4303, section 2), and keeps the window of packets seen
//! (section 3.4.3).

use crate::{Error, Salt};
use fastgcm::{AnyTag, Backend, Key, ShortTag, Tag};

/// Bytes before the payload: SPI, sequence number, IV.
pub const HEADER: usize = 16;

/// What AES does to the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// RFC 4106: encrypts and authenticates.
    Gcm,
    /// RFC 4543 (`ENCR_NULL_AUTH_AES_GMAC`): authenticates.
    Gmac,
}

/// The key of a security association, with ICVs of `ICV` bytes: 16, 12 or 8. New ones should have 16 (RFC 8221, section 5).
#[derive(Debug)]
pub struct Sa<const ICV: usize = 16> {
    key: Key,
    salt: Salt<4>,
    mode: Mode,
}

impl<const ICV: usize> Sa<ICV> {
    /// From the keying material of IKE: 16, 24 or 32 bytes of key, and 4 of salt (RFC 4106, section 8.1).
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    pub fn new(keymat: &[u8], mode: Mode) -> Result<Self, Error> {
        Self::with_backend(keymat, mode, Backend::detect())
    }

    /// The same for one back end.
    ///
    /// # Errors
    /// [`Unavailable`](Error::Unavailable) if this machine cannot run it.
    pub fn with_backend(keymat: &[u8], mode: Mode, backend: Backend) -> Result<Self, Error> {
        const { assert!(ICV == 8 || ICV == 12 || ICV == 16, "an ICV has 8, 12 or 16 bytes") }
        let (key, salt) = keymat.split_last_chunk().ok_or(Error::InvalidLength)?;
        Ok(Self { key: crate::key(key, backend)?, salt: Salt(*salt), mode })
    }

    /// Seals `packet` in place: SPI, sequence number and IV stand in it, behind them the payload, and at the end there is room for the ICV. `high` is the
    /// upper half of the sequence number, with ESN.
    ///
    /// **No IV may come twice under one key.** [`Outbound`] counts them.
    ///
    /// # Errors
    /// [`InvalidLength`](Error::InvalidLength) if it has no room for all that: it is untouched.
    #[inline]
    pub fn seal(&self, packet: &mut [u8], high: Option<u32>) -> Result<(), Error> {
        let (header, rest) = packet.split_first_chunk_mut::<HEADER>().ok_or(Error::InvalidLength)?;
        let (payload, icv) = rest.split_last_chunk_mut::<ICV>().ok_or(Error::InvalidLength)?;
        let tag = match self.mode {
            Mode::Gcm => with_aad(header, high, |aad| self.key.seal(self.nonce(header), aad, payload))?,
            Mode::Gmac => self.gmac(header, high, payload)?,
        };
        icv.copy_from_slice(&tag.0[..ICV]);
        Ok(())
    }

    /// Opens `packet` in place. Returns its payload. The caller has found its association by its SPI.
    ///
    /// # Errors
    /// [`Unauthentic`](Error::Unauthentic) if it is not what was sealed: with GCM its payload is all zero, with GMAC it is untouched.
    /// [`Malformed`](Error::Malformed) if it is too short for an ESP packet: it is untouched.
    #[inline]
    pub fn open<'p>(&self, packet: &'p mut [u8], high: Option<u32>) -> Result<&'p mut [u8], Error> {
        let (header, rest) = packet.split_first_chunk_mut::<HEADER>().ok_or(Error::Malformed)?;
        let (payload, icv) = rest.split_last_chunk_mut::<ICV>().ok_or(Error::Malformed)?;
        match ICV {
            16 => self.open_with(header, high, payload, &Tag(first(icv)))?,
            12 => self.open_with(header, high, payload, &ShortTag::<12>(first(icv)))?,
            _ => self.open_with(header, high, payload, &ShortTag::<8>(first(icv)))?,
        }
        Ok(payload)
    }

    #[inline(always)]
    fn open_with(&self, header: &[u8; HEADER], high: Option<u32>, payload: &mut [u8], icv: &impl AnyTag) -> Result<(), Error> {
        match self.mode {
            Mode::Gcm => with_aad(header, high, |aad| self.key.open(self.nonce(header), aad, payload, icv))?,
            Mode::Gmac => self.mac(header, high, payload)?.verify(icv)?,
        }
        Ok(())
    }

    fn gmac(&self, header: &[u8; HEADER], high: Option<u32>, payload: &[u8]) -> Result<Tag, Error> {
        Ok(self.mac(header, high, payload)?.finish())
    }

    /// SPI, sequence number, IV, payload.
    fn mac(&self, header: &[u8; HEADER], high: Option<u32>, payload: &[u8]) -> Result<fastgcm::Gmac<'_>, Error> {
        let mut mac = self.key.gmac(self.nonce(header));
        with_aad(header, high, |aad| mac.update(aad))?;
        mac.update(&header[8..])?;
        mac.update(payload)?;
        Ok(mac)
    }

    #[inline(always)]
    fn nonce(&self, header: &[u8; HEADER]) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&self.salt.0);
        nonce[4..].copy_from_slice(&header[8..]);
        nonce
    }
}

/// SPI and sequence number, whose upper half comes first.
#[inline(always)]
fn with_aad<T>(header: &[u8; HEADER], high: Option<u32>, then: impl FnOnce(&[u8]) -> T) -> T {
    let Some(high) = high else { return then(&header[..8]) };
    let mut aad = [0; 12];
    aad[..4].copy_from_slice(&header[..4]);
    aad[4..8].copy_from_slice(&high.to_be_bytes());
    aad[8..].copy_from_slice(&header[4..8]);
    then(&aad)
}

/// The first `N` bytes, or fewer and zeros.
#[inline(always)]
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// The sending side of an association: it writes SPI, sequence number and IV, and counts.
///
/// The IV is the sequence number in 64 bits, so it never repeats (RFC 4106, section 3.1). The first is 1. Without ESN the last is 2^32 - 1, since a
/// sequence number must not come again (RFC 4303, section 3.3.3). It cannot be cloned.
///
/// ```
/// use fastgcm_protocols::esp::{HEADER, Mode, Outbound, Sa};
///
/// let keymat = [7; 20]; // AES-128 and salt
/// let mut outbound = Outbound::new(Sa::<16>::new(&keymat, Mode::Gcm)?, 0x1234, true);
/// let mut packet = [0; HEADER + 20 + 16];
/// packet[HEADER..][..20].copy_from_slice(b"a payload, \x01\x02\x03\x04\x05\x06\x07\x07\x04");
/// outbound.seal(&mut packet)?;
///
/// let inbound = Sa::<16>::new(&keymat, Mode::Gcm)?;
/// assert_eq!(&inbound.open(&mut packet, Some(0))?[..9], b"a payload");
/// # Ok::<(), fastgcm_protocols::Error>(())
/// ```
#[derive(Debug)]
pub struct Outbound<const ICV: usize = 16> {
    sa: Sa<ICV>,
    spi: u32,
    esn: bool,
    /// `None` when they are used up.
    next: Option<u64>,
}

impl<const ICV: usize> Outbound<ICV> {
    /// For an association that has sent nothing yet.
    #[inline]
    pub fn new(sa: Sa<ICV>, spi: u32, esn: bool) -> Self {
        Self { sa, spi, esn, next: Some(1) }
    }

    /// For one whose next sequence number is `next`: a value that was never reached.
    ///
    /// # Errors
    /// [`Exhausted`](Error::Exhausted) if there is no such number: zero, or one of more than 32 bits without ESN.
    #[inline]
    pub fn starting_at(sa: Sa<ICV>, spi: u32, esn: bool, next: u64) -> Result<Self, Error> {
        let next = Some(next).filter(|next| (1..=last(esn)).contains(next)).ok_or(Error::Exhausted)?;
        Ok(Self { sa, spi, esn, next: Some(next) })
    }

    /// The next sequence number; `None` when they are used up.
    #[inline]
    pub fn position(&self) -> Option<u64> {
        self.next
    }

    /// Seals `packet` in place: the first 16 bytes are written, behind them stands the payload, and at the end there is room for the ICV. Returns the
    /// sequence number.
    ///
    /// # Errors
    /// [`Exhausted`](Error::Exhausted) when the sequence numbers are used up, [`InvalidLength`](Error::InvalidLength) as for [`Sa::seal`]: `packet` is
    /// untouched, and no number is used.
    #[inline]
    pub fn seal(&mut self, packet: &mut [u8]) -> Result<u64, Error> {
        let now = self.next.ok_or(Error::Exhausted)?;
        if packet.len() < HEADER + ICV {
            return Err(Error::InvalidLength);
        }
        let (named, rest) = packet.split_at_mut(8);
        named.copy_from_slice(&(u64::from(self.spi) << 32 | now & u64::from(u32::MAX)).to_be_bytes());
        rest[..8].copy_from_slice(&now.to_be_bytes());
        self.next = if now < last(self.esn) { Some(now + 1) } else { None };
        self.sa.seal(packet, self.esn.then_some((now >> 32) as u32))?;
        Ok(now)
    }
}

/// The last sequence number.
fn last(esn: bool) -> u64 {
    if esn { u64::MAX } else { u32::MAX.into() }
}
