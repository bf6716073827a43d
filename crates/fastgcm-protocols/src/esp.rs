//! IPsec ESP: AES-GCM (RFC 4106) and AES-GMAC (RFC 4543).
//!
//! ```text
//! SPI 4 │ sequence number 4 │ IV 8 │ payload, padding, pad length, next header │ ICV 8, 12 or 16
//!                                  └ encrypted, or with GMAC only authenticated ┘
//! ```
//! The nonce is the salt of the association (4 bytes) and the IV. The SPI and the sequence number of 32 or 64 bits (ESN) are authenticated
//! too. With ESN the number's upper half is authenticated between the two, but no packet contains it. With GMAC the IV is also
//! authenticated, as in Linux and in the examples of draft-mcgrew-gcm-test.
//!
//! The caller writes and reads payload, padding and next header (RFC 4303, section 2), and keeps the window of packets already seen
//! (section 3.4.3).
//!
//! | a packet | seal | open |
//! |---|---|---|
//! | in place | [`seal`](Sa::seal) | [`open`](Sa::open) |
//! | from one buffer to another | [`seal_to`](Sa::seal_to) | [`open_to`](Sa::open_to) |
//! | from a list of buffers to another list | [`seal_scattered`](Sa::seal_scattered) | [`open_scattered`](Sa::open_scattered) |
//! | in a list of buffers, in place | [`seal_chunks`](Sa::seal_chunks) | [`open_chunks`](Sa::open_chunks) |
//! | many, each in place | [`seal_batch`](Sa::seal_batch) | [`open_batch`](Sa::open_batch) |
//!
//! If a packet is opened to other buffers, somebody else may write to the packet's memory meanwhile: the payload is copied first, and the
//! caller gets exactly the bytes that were verified. A packet that is opened in place must belong to the caller alone.
//!
//! # Compared with the Linux kernel's templates
//! This table compares what the templates of `crypto/gcm.c` (Linux 6.12) accept and return with this module:
//!
//! | | `gcm(aes)` | `rfc4106(gcm(aes))` | `rfc4543(gcm(aes))` |
//! |---|---|---|---|
//! | **ours** | [`fastgcm::Key`] | [`Sa`] with [`Mode::Gcm`] | [`Sa`] with [`Mode::Gmac`] |
//! | key | 16, 24, 32 bytes | 16, 24, 32 bytes and 4 of salt | 16, 24, 32 bytes and 4 of salt |
//! | another length | `EINVAL`; ours `InvalidLength` | `EINVAL`; ours [`InvalidLength`](Error::InvalidLength) | as `rfc4106` |
//! | IV, with the request | 12 bytes; ours: any but none | 8 bytes; ours: as they stand in the packet | as `rfc4106` |
//! | tag (`authsize`) | 4, 8, 12 to 16; ours: 16, [`ShortTag`] for the others | 8, 12, 16; ours: `ICV` | 16 only; ours also 8 and 12 |
//! | another tag | `EINVAL`; ours does not compile | `EINVAL`; ours does not compile | as `rfc4106` |
//! | AAD (`assoclen`) | any | 16 or 20: SPI, sequence number, IV; the IV is left out. Ours: 8 or 12, by `high` | 16 or 20, the IV counts, and so does the payload |
//! | another AAD | - | `EINVAL`; ours has no such argument | as `rfc4106` |
//! | shorter than a tag | `EINVAL`; ours `InvalidLength` | `EINVAL`; ours [`Malformed`](Error::Malformed) | as `rfc4106` |
//! | no key yet | `ENOKEY`; ours has no such state | `ENOKEY`; ours has no such state | as `rfc4106` |
//! | a wrong tag | `EBADMSG`, and **the plaintext is in the destination**; ours `Unauthentic`, and zeros | `EBADMSG`, the plaintext too; ours [`Unauthentic`](Error::Unauthentic), and zeros | `EBADMSG`, the copied payload too; ours `Unauthentic`, and zeros where it was to be copied |
//! | source and destination | lists, equal or apart | as `gcm`; ours: the table above | as `gcm` |

use crate::{Error, Salt};
use core::fmt;
use fastgcm::{Backend, Key, ShortTag, Tag};

/// The bytes before the payload: SPI, sequence number, IV.
pub const HEADER: usize = 16;

/// The number of packets that go side by side.
const TOGETHER: usize = 8;

/// A packet of a batch ([`Sa::seal_batch`], [`Sa::open_batch`]).
pub struct Packet<'p> {
    /// The packet from SPI to ICV, as for [`Sa::seal`] and [`Sa::open`].
    pub bytes: &'p mut [u8],
    /// The upper half of the sequence number, with ESN.
    pub high: Option<u32>,
    /// The result of the last call for this packet.
    pub status: Result<(), Error>,
}

impl<'p> Packet<'p> {
    /// Makes a packet from its bytes, SPI to ICV.
    #[inline]
    pub fn new(bytes: &'p mut [u8], high: Option<u32>) -> Self {
        Self { bytes, high, status: Ok(()) }
    }
}

impl fmt::Debug for Packet<'_> {
    /// Writes the length of the packet and its status, and nothing of its text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = format_args!("{} bytes", self.bytes.len());
        f.debug_struct("Packet").field("bytes", &bytes).field("high", &self.high).field("status", &self.status).finish()
    }
}

/// The ICV as a tag of its own type, which has the functions `verify` and `open`.
macro_rules! with_tag {
    ($icv:ident, |$tag:ident| $then:expr) => {
        match ICV {
            16 => {
                let $tag = &Tag(first($icv));
                $then
            }
            12 => {
                let $tag = &ShortTag::<12>(first($icv));
                $then
            }
            _ => {
                let $tag = &ShortTag::<8>(first($icv));
                $then
            }
        }
    };
}

/// What AES does to the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// RFC 4106: AES encrypts and authenticates.
    Gcm,
    /// RFC 4543 (`ENCR_NULL_AUTH_AES_GMAC`): AES only authenticates.
    Gmac,
}

/// The key of a security association, with ICVs of `ICV` bytes: 16, 12 or 8. New associations should use 16 (RFC 8221, section 5).
#[derive(Debug)]
pub struct Sa<const ICV: usize = 16> {
    key: Key,
    salt: Salt<4>,
    mode: Mode,
}

impl<const ICV: usize> Sa<ICV> {
    /// Makes an association from the keying material of IKE: 16, 24 or 32 bytes of key, and 4 of salt (RFC 4106, section 8.1).
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) for any other number of bytes.
    pub fn new(keymat: &[u8], mode: Mode) -> Result<Self, Error> {
        Self::with_backend(keymat, mode, Backend::detect())
    }

    /// Does what [`new`](Self::new) does, for the back end `backend`.
    ///
    /// # Errors
    /// Returns [`Unavailable`](Error::Unavailable) if this machine cannot run `backend`.
    pub fn with_backend(keymat: &[u8], mode: Mode, backend: Backend) -> Result<Self, Error> {
        const { assert!(ICV == 8 || ICV == 12 || ICV == 16, "an ICV has 8, 12 or 16 bytes") }
        let (key, salt) = keymat.split_last_chunk().ok_or(Error::InvalidLength)?;
        Ok(Self { key: crate::key(key, backend)?, salt: Salt(*salt), mode })
    }

    /// Seals `packet` in place. It holds SPI, sequence number and IV, then the payload, then room for the ICV. `high` is the upper half of
    /// the sequence number, with ESN.
    ///
    /// **An IV must be unique under one key.** [`Outbound`] counts IVs.
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `packet` has no room for all of these; it is untouched.
    #[inline]
    pub fn seal(&self, packet: &mut [u8], high: Option<u32>) -> Result<(), Error> {
        let (header, rest) = packet.split_first_chunk_mut::<HEADER>().ok_or(Error::InvalidLength)?;
        let (payload, icv) = rest.split_last_chunk_mut::<ICV>().ok_or(Error::InvalidLength)?;
        let tag = match self.mode {
            Mode::Gcm => with_aad(header, high, |aad| self.key.seal(self.nonce(header), aad, payload))?,
            Mode::Gmac => self.mac(header, high, &[&*payload])?.finish(),
        };
        icv.copy_from_slice(&tag.0[..ICV]);
        Ok(())
    }

    /// Opens `packet` in place. Returns its payload. The caller must have found the association by the packet's SPI.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the packet is not what was sealed. With GCM its payload is then all zero; with GMAC
    /// the packet is untouched. Returns [`Malformed`](Error::Malformed) if `packet` is too short for an ESP packet; it is untouched.
    #[inline]
    pub fn open<'p>(&self, packet: &'p mut [u8], high: Option<u32>) -> Result<&'p mut [u8], Error> {
        let (header, rest) = packet.split_first_chunk_mut::<HEADER>().ok_or(Error::Malformed)?;
        let (payload, icv) = rest.split_last_chunk_mut::<ICV>().ok_or(Error::Malformed)?;
        self.open_payload(header, payload, icv, high)?;
        Ok(payload)
    }

    #[inline]
    fn open_payload(&self, header: &[u8; HEADER], payload: &mut [u8], icv: &[u8; ICV], high: Option<u32>) -> Result<(), Error> {
        with_tag!(icv, |icv| match self.mode {
            Mode::Gcm => with_aad(header, high, |aad| self.key.open(self.nonce(header), aad, payload, icv))?,
            Mode::Gmac => self.mac(header, high, &[&*payload])?.verify(icv)?,
        });
        Ok(())
    }

    /// Seals from one buffer to another: `from` is SPI, sequence number, IV and payload, and `to` is `ICV` bytes longer.
    ///
    /// **An IV must be unique under one key.**
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if `from` is too short or `to` has another length; `to` is untouched.
    #[inline]
    pub fn seal_to(&self, from: &[u8], to: &mut [u8], high: Option<u32>) -> Result<(), Error> {
        let (header, payload) = from.split_first_chunk::<HEADER>().ok_or(Error::InvalidLength)?;
        let (place, rest) = to.split_first_chunk_mut::<HEADER>().ok_or(Error::InvalidLength)?;
        let (text, icv) = rest.split_last_chunk_mut::<ICV>().ok_or(Error::InvalidLength)?;
        if text.len() != payload.len() {
            return Err(Error::InvalidLength);
        }
        let tag = match self.mode {
            Mode::Gcm => with_aad(header, high, |aad| self.key.seal_detached_to(self.nonce(header), aad, payload, text))?,
            Mode::Gmac => {
                text.copy_from_slice(payload);
                self.mac(header, high, &[&*text])?.finish()
            }
        };
        *place = *header;
        icv.copy_from_slice(&tag.0[..ICV]);
        Ok(())
    }

    /// Opens `packet` to `payload`, which must be exactly as long as the payload.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the packet is not what was sealed; `payload` is then all zero. Returns
    /// [`Malformed`](Error::Malformed) if `packet` is too short for an ESP packet, or [`InvalidLength`](Error::InvalidLength) if `payload`
    /// has another length; `payload` is untouched.
    #[inline]
    pub fn open_to(&self, packet: &[u8], payload: &mut [u8], high: Option<u32>) -> Result<(), Error> {
        let (header, rest) = packet.split_first_chunk::<HEADER>().ok_or(Error::Malformed)?;
        let (text, icv) = rest.split_last_chunk::<ICV>().ok_or(Error::Malformed)?;
        if text.len() != payload.len() {
            return Err(Error::InvalidLength);
        }
        // So the authenticated bytes are the bytes that the caller reads, even if somebody else writes to `packet` meanwhile: the library
        // loads ciphertext twice, to hash it and to decrypt it.
        payload.copy_from_slice(text);
        self.open_payload(header, payload, icv, high).inspect_err(|_| payload.fill(0))
    }

    /// Seals a payload that lies in several buffers to several other buffers, which together are exactly as long. Returns the ICV. Header
    /// and ICV are separate: a sender has them in buffers of their own, before and behind.
    ///
    /// **An IV must be unique under one key.**
    ///
    /// # Errors
    /// Returns [`InvalidLength`](Error::InvalidLength) if the two lists have different numbers of bytes; `to` is untouched.
    pub fn seal_scattered(
        &self,
        header: &[u8; HEADER],
        payload: &[&[u8]],
        to: &mut [&mut [u8]],
        high: Option<u32>,
    ) -> Result<[u8; ICV], Error> {
        let tag = match self.mode {
            Mode::Gcm => with_aad(header, high, |aad| self.key.seal_scattered(self.nonce(header), &[aad], payload, &[], to))?,
            Mode::Gmac => {
                copy(payload, to)?;
                self.mac(header, high, to)?.finish()
            }
        };
        Ok(first(&tag.0))
    }

    /// Opens a payload that lies in several buffers to several other buffers, which together are exactly as long.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the payload is not what was sealed; all buffers of `to` are then zero. Returns
    /// [`InvalidLength`](Error::InvalidLength) as [`seal_scattered`](Self::seal_scattered) does.
    pub fn open_scattered(
        &self,
        header: &[u8; HEADER],
        payload: &[&[u8]],
        to: &mut [&mut [u8]],
        icv: &[u8; ICV],
        high: Option<u32>,
    ) -> Result<(), Error> {
        copy(payload, to)?; // for the reason given in `open_to`
        self.open_chunks(header, to, icv, high).inspect_err(|_| to.iter_mut().for_each(|chunk| chunk.fill(0)))
    }

    /// Seals a payload that lies in several buffers, in place. Returns the ICV.
    ///
    /// **An IV must be unique under one key.**
    ///
    /// # Errors
    /// Every payload that an IP packet can hold succeeds.
    pub fn seal_chunks(&self, header: &[u8; HEADER], payload: &mut [&mut [u8]], high: Option<u32>) -> Result<[u8; ICV], Error> {
        let tag = match self.mode {
            Mode::Gcm => with_aad(header, high, |aad| self.key.seal_chunks(self.nonce(header), &[aad], payload))?,
            Mode::Gmac => self.mac(header, high, payload)?.finish(),
        };
        Ok(first(&tag.0))
    }

    /// Opens a payload that lies in several buffers, in place.
    ///
    /// # Errors
    /// Returns [`Unauthentic`](Error::Unauthentic) if the payload is not what was sealed. With GCM all buffers are then zero; with GMAC
    /// they are untouched.
    pub fn open_chunks(&self, header: &[u8; HEADER], payload: &mut [&mut [u8]], icv: &[u8; ICV], high: Option<u32>) -> Result<(), Error> {
        with_tag!(icv, |icv| match self.mode {
            Mode::Gcm => with_aad(header, high, |aad| self.key.open_chunks(self.nonce(header), &[aad], payload, icv))?,
            Mode::Gmac => self.mac(header, high, payload)?.verify(icv)?,
        });
        Ok(())
    }

    /// Seals each packet as [`seal`](Self::seal) does, and writes its `status`. A processor with wide vectors works side by side on
    /// neighbours of one length with at most 64 bytes of payload.
    ///
    /// **An IV must be unique under one key.**
    ///
    /// # Errors
    /// Returns the error of the first refused packet; all other packets are sealed.
    pub fn seal_batch(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        self.batch(packets, true)
    }

    /// Opens each packet as [`open`](Self::open) does, and writes its `status`. Packets with a whole ICV (16 bytes) go side by side, as the
    /// packets of [`seal_batch`](Self::seal_batch) do.
    ///
    /// # Errors
    /// Returns the error of the first refused packet; all other packets are opened.
    pub fn open_batch(&self, packets: &mut [Packet<'_>]) -> Result<(), Error> {
        self.batch(packets, false)
    }

    fn batch(&self, packets: &mut [Packet<'_>], seal: bool) -> Result<(), Error> {
        for group in packets.chunks_mut(TOGETHER) {
            if self.mode == Mode::Gmac || !seal && ICV < 16 || group.iter().any(|packet| packet.bytes.len() < HEADER + ICV) {
                for packet in group {
                    packet.status =
                        if seal { self.seal(packet.bytes, packet.high) } else { self.open(packet.bytes, packet.high).map(drop) };
                }
                continue;
            }
            self.side_by_side(group, seal);
        }
        packets.iter().map(|packet| packet.status).find(Result::is_err).unwrap_or(Ok(()))
    }

    /// Takes at most [`TOGETHER`] packets, which must be long enough, and have an ICV of 16 bytes if they are opened.
    fn side_by_side(&self, group: &mut [Packet<'_>], seal: bool) {
        let mut aads = [([0; 12], 0); TOGETHER];
        for (aad, packet) in aads.iter_mut().zip(&*group) {
            let header = first(packet.bytes);
            with_aad(&header, packet.high, |bytes| {
                aad.0[..bytes.len()].copy_from_slice(bytes);
                aad.1 = bytes.len();
            });
        }
        let mut messages = aads.each_ref().map(|(aad, n)| fastgcm::Packet::in_place([0; 12], &aad[..*n], &mut [], Tag([0; 16])));
        let count = group.len();
        for (message, packet) in messages.iter_mut().zip(&mut *group) {
            message.nonce = self.nonce(&first(packet.bytes));
            let icv = packet.bytes.len() - ICV;
            let (text, icv) = packet.bytes.split_at_mut(icv);
            message.tag = Tag(first(icv));
            message.text = fastgcm::Text::InPlace(&mut text[HEADER..]);
        }
        let messages = &mut messages[..count];
        // Each packet has its own status.
        let _ = if seal { self.key.seal_batch(messages) } else { self.key.open_batch(messages) };
        let results: [_; TOGETHER] = core::array::from_fn(|i| messages.get(i).map(|message| (message.status, message.tag)));
        for (packet, (status, tag)) in group.iter_mut().zip(results.into_iter().flatten()) {
            packet.status = status.map_err(Error::from);
            if seal && status.is_ok() {
                let icv = packet.bytes.len() - ICV;
                packet.bytes[icv..].copy_from_slice(&tag.0[..ICV]);
            }
        }
    }

    /// Authenticates SPI, sequence number, IV and payload.
    fn mac(&self, header: &[u8; HEADER], high: Option<u32>, payload: &[impl AsRef<[u8]>]) -> Result<fastgcm::Gmac<'_>, Error> {
        let mut mac = self.key.gmac(self.nonce(header));
        with_aad(header, high, |aad| mac.update(aad))?;
        mac.update(&header[8..])?;
        payload.iter().try_for_each(|piece| mac.update(piece.as_ref()))?;
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

/// Calls `then` with SPI and sequence number, whose upper half comes first.
#[inline(always)]
fn with_aad<T>(header: &[u8; HEADER], high: Option<u32>, then: impl FnOnce(&[u8]) -> T) -> T {
    let Some(high) = high else { return then(&header[..8]) };
    let mut aad = [0; 12];
    aad[..4].copy_from_slice(&header[..4]);
    aad[4..8].copy_from_slice(&high.to_be_bytes());
    aad[8..].copy_from_slice(&header[4..8]);
    then(&aad)
}

/// Copies from one list to another.
fn copy(from: &[&[u8]], to: &mut [&mut [u8]]) -> Result<(), Error> {
    let total = |sum: Option<usize>, n: usize| sum?.checked_add(n);
    let read = from.iter().map(|chunk| chunk.len()).fold(Some(0), total);
    if read.is_none() || read != to.iter().map(|chunk| chunk.len()).fold(Some(0), total) {
        return Err(Error::InvalidLength);
    }
    let mut reading = from.iter().copied();
    let mut chunk: &[u8] = &[];
    for place in to {
        let mut place = &mut **place;
        while !place.is_empty() {
            if chunk.is_empty() {
                chunk = reading.next().ok_or(Error::InvalidLength)?;
            }
            let n = chunk.len().min(place.len());
            let (here, rest) = core::mem::take(&mut place).split_at_mut(n);
            here.copy_from_slice(&chunk[..n]);
            (chunk, place) = (&chunk[n..], rest);
        }
    }
    Ok(())
}

/// Returns the first `N` bytes, padded with zeros if there are fewer.
#[inline(always)]
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

/// The sending side of an association: it writes SPI, sequence number and IV, and counts.
///
/// The IV is the sequence number in 64 bits, so it never repeats (RFC 4106, section 3.1). The first number is 1. Without ESN the last is
/// 2^32 - 1, because a sequence number must not repeat (RFC 4303, section 3.3.3). An `Outbound` cannot be cloned.
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
    /// `None` when the sequence numbers are used up.
    next: Option<u64>,
}

impl<const ICV: usize> Outbound<ICV> {
    /// Makes the sending side of an association that has sent nothing yet.
    #[inline]
    pub fn new(sa: Sa<ICV>, spi: u32, esn: bool) -> Self {
        Self { sa, spi, esn, next: Some(1) }
    }

    /// Makes the sending side of an association whose next sequence number is `next`, a number that was never reached.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) if there is no such sequence number: `next` is zero, or has more than 32 bits without ESN.
    #[inline]
    pub fn starting_at(sa: Sa<ICV>, spi: u32, esn: bool, next: u64) -> Result<Self, Error> {
        let next = Some(next).filter(|next| (1..=last(esn)).contains(next)).ok_or(Error::Exhausted)?;
        Ok(Self { sa, spi, esn, next: Some(next) })
    }

    /// Returns the next sequence number, or `None` when the sequence numbers are used up.
    #[inline]
    pub fn position(&self) -> Option<u64> {
        self.next
    }

    /// Seals `packet` in place: the function writes the first 16 bytes; then come the payload and room for the ICV. Returns the sequence
    /// number.
    ///
    /// # Errors
    /// Returns [`Exhausted`](Error::Exhausted) when the sequence numbers are used up, or [`InvalidLength`](Error::InvalidLength) as
    /// [`Sa::seal`] does. `packet` is untouched, and no number is used.
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

/// Returns the last sequence number.
fn last(esn: bool) -> u64 {
    if esn { u64::MAX } else { u32::MAX.into() }
}
