//! AES-GCM in the form of OpenSSL's ciphers (provider-cipher(7)): a context that has a key, an IV and a direction, in any order, then AAD,
//! text and the end.
//!
//! A nonce is used once: after the end of a message nothing goes on before there is another IV. Opened text is handed out **before it is
//! verified**, as OpenSSL's own provider does, because the interface requires it.

use crate::{
    Provider, Work,
    abi::{Dispatch, Failure, INTEGER, OCTETS, Param, Reason, UNSIGNED, bytes, bytes_mut, guarded, table},
    key::Keyed,
    object::{Cipher, Object, duplicate, finish, free, get, init, new_cipher, set, update},
    short::Short,
};
use fastgcm::{Key, Nonce, Tag, hazmat::Pieces, limits};
use std::{
    ffi::{c_int, c_void},
    ptr, slice,
};

/// The most bytes of an IV that OpenSSL's own provider accepts.
const MOST_IV: usize = 128;
/// The length of a tag in bytes.
const TAG: usize = 16;
/// TLS 1.2 (RFC 5288): the part of a nonce that comes with each record, the part that comes with the key, and the bytes of AAD.
const EXPLICIT: usize = 8;
const FIXED: usize = 4;
const TLS_AAD: usize = 13;

/// The state of a context's IV.
#[derive(Clone, Copy, PartialEq)]
enum Iv {
    /// There is no IV. A caller that seals gets a random one.
    None,
    /// No message has begun with the IV.
    New,
    /// A message has begun with the IV.
    Begun,
    /// A message has ended with the IV, or another length of IV was set.
    Used,
}

pub(crate) struct Context<'p> {
    work: Work<'p>,
    key_length: usize,
    key: Option<Keyed<'p>>,
    /// The message that has begun, as long as it is not in pieces.
    short: Short,
    pieces: Option<Pieces>,
    /// The most bytes of text that may still come.
    text_left: u64,
    seals: bool,
    iv_state: Iv,
    iv_length: usize,
    iv: [u8; MOST_IV],
    /// True if the fixed part is set, so that the rest may count.
    counts: bool,
    /// The tag of the last sealed message, or the tag that the caller expects.
    tag: [u8; TAG],
    tag_length: Option<usize>,
    /// The AAD of the next TLS record.
    tls_aad: Option<[u8; TLS_AAD]>,
    tls_padding: usize,
}

impl<'p> Object<'p> for Context<'p> {
    fn provider(&self) -> &'p Provider {
        self.work.provider
    }

    /// Duplicates a context, even in the middle of a message. All duplicates share one expanded key.
    #[inline(always)]
    unsafe fn duplicate(&self) -> Result<impl FnOnce(*mut Self), Failure> {
        let (shared, long) = (self.key.as_ref().map(Keyed::for_copies).transpose()?, self.short.duplicate_long()?);
        Ok(move |copy: *mut Self| {
            let key = self.key.as_ref().zip(shared).map(|(key, shared)| key.duplicate(shared));
            // SAFETY: a copy of this object. A message in pieces owns no memory.
            unsafe {
                (&raw mut (*copy).work).write(Work::none(self.work.provider));
                (&raw mut (*copy).key).write(key);
                (&raw mut (*copy).short.long).write(long);
            }
        })
    }
}

impl<'p> Context<'p> {
    fn begin_anew(&mut self, state: Iv) {
        self.iv_state = state;
        self.pieces = None;
    }

    /// Clears key and IV, as in a new context.
    pub(crate) fn clear(&mut self) {
        self.key = None;
        self.begin_anew(Iv::None);
    }

    /// Returns whether no message has begun with the IV.
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.iv_state, Iv::None | Iv::New)
    }

    pub(crate) fn seals(&self) -> bool {
        self.seals
    }

    fn iv(&self) -> &[u8] {
        &self.iv[..self.iv_length]
    }

    /// Fills the IV with random bytes from this place on.
    fn fill_iv(&mut self, from: usize) -> Result<(), Failure> {
        getrandom::fill(&mut self.iv[from..self.iv_length]).map_err(|_| None)
    }

    /// Draws a random IV for a caller that seals and has set none: when a message begins, or when the caller asks for it before.
    fn draw_iv(&mut self) -> Result<(), Failure> {
        if !self.seals || self.iv_length < 12 || self.tls_aad.is_some() {
            return Err(None);
        }
        self.fill_iv(0)?;
        self.iv_state = Iv::New;
        Ok(())
    }

    /// Makes sure that a message has begun.
    #[inline]
    fn begun(&mut self) -> Result<(), Failure> {
        if self.iv_state == Iv::Begun { Ok(()) } else { self.begin() }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        if self.key.is_none() || self.iv_state == Iv::Used {
            return Err(None);
        }
        if self.iv_state == Iv::None {
            self.draw_iv()?;
        }
        if let Ok(nonce) = self.iv().try_into() {
            self.short.begin(nonce);
        } else {
            let key = self.key.as_mut().ok_or(None)?.for_pieces()?;
            self.pieces = Some(Pieces::new(key, Nonce::any(&self.iv[..self.iv_length]).map_err(|_| None)?));
            self.short.begin([0; 12]);
        }
        (self.iv_state, self.text_left) = (Iv::Begun, limits::TEXT);
        Ok(())
    }

    /// Returns the key and the message in pieces.
    #[inline]
    fn in_pieces(&mut self) -> Result<(&Key, &mut Pieces), Failure> {
        let key = self.key.as_mut().ok_or(None)?.for_pieces()?;
        let pieces = match &mut self.pieces {
            Some(pieces) => {
                self.short.aad_goes_on(key, pieces).map_err(|_| None)?;
                pieces
            }
            none => self.short.go_on(key, none.insert(Pieces::new(key, self.short.nonce))).map_err(|_| None)?,
        };
        Ok((key, pieces))
    }

    /// Small pieces of AAD wait until there is more: a call of the library takes as long for one byte as for a vector.
    pub(crate) fn aad(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.begun()?;
        if self.short.aad(piece) {
            return Ok(());
        }
        self.in_pieces()?;
        if self.short.aad(piece) {
            return Ok(());
        }
        let (key, pieces) = self.in_pieces()?;
        pieces.aad(key, piece).map_err(|_| None)
    }

    /// # Safety
    /// `size` bytes are readable at `from` and writable at `to`.
    #[inline]
    unsafe fn text(&mut self, from: *const u8, to: *mut u8, size: usize) -> Result<(), Failure> {
        self.begun()?;
        // Text that is too long is refused before any of it is copied.
        let left = self.text_left.checked_sub(size as u64).ok_or(None)?;
        if size == 0 {
            return Ok(());
        }
        let seals = self.seals;
        let apart = from.addr().abs_diff(to.addr());
        // The text at its destination, for work in place: there is little to copy, or the two overlap in part, which OpenSSL neither
        // requires nor forbids anywhere.
        // SAFETY: the caller's promise. No other slice is made of that memory.
        let there = || unsafe { slice::from_raw_parts_mut(to, size) };
        let moved = || {
            if apart != 0 {
                // SAFETY: the caller's promise.
                unsafe { ptr::copy(from, to, size) };
            }
            there()
        };
        self.work.bytes += size as u64;
        if self.pieces.is_none() && self.short.takes(size) {
            self.short.text(self.key.as_mut().ok_or(None)?, size, moved, seals)?;
            self.text_left = left;
            return Ok(());
        }
        self.short.aad_ends();
        let (key, pieces) = self.in_pieces()?;
        let done = if apart >= size {
            // SAFETY: the caller's promise; it does not overlap.
            let from = unsafe { slice::from_raw_parts(from, size) };
            if seals { pieces.seal_to(key, from, there()) } else { pieces.open_to(key, from, there()) }
        } else if seals {
            pieces.seal(key, moved())
        } else {
            pieces.open(key, moved())
        };
        done.map_err(|_| None)?;
        self.text_left = left;
        Ok(())
    }

    /// Ends a message: its tag can then be requested, or is verified.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.finish_beside(0)
    }

    /// Does what `finish` does, and verifies something else of the message with its tag: `differs` is how that differs from what the caller
    /// expects.
    pub(crate) fn finish_beside(&mut self, differs: u128) -> Result<(), Failure> {
        self.begun()?;
        let (seals, tag_length) = (self.seals, self.tag_length.unwrap_or(TAG));
        if !seals && self.tag_length.is_none() {
            return Err(Some(Reason::TagNotSet));
        }
        let Tag(tag) = if self.pieces.is_some() {
            let (key, pieces) = self.in_pieces()?;
            pieces.finish(key).map_err(|_| None)?
        } else {
            self.short.finish(self.key.as_mut().ok_or(None)?, seals)?
        };
        self.work.messages += 1;
        self.begin_anew(Iv::Used);
        if seals {
            (self.tag, self.tag_length) = (tag, Some(TAG));
            return Ok(());
        }
        // Compares as many bytes as the caller has, in constant time.
        let differ = (u128::from_le_bytes(tag) ^ u128::from_le_bytes(self.tag)) << (8 * (TAG - tag_length)) | differs;
        if Tag(differ.to_le_bytes()) == Tag([0; TAG]) { Ok(()) } else { Err(None) }
    }

    pub(crate) fn tag(&self) -> &[u8; TAG] {
        &self.tag
    }

    /// Does `update` and `cipher` of the interface: AAD if there is nothing to write to, the end if there is nothing to read, or a TLS
    /// record.
    ///
    /// # Safety
    /// `size` bytes are readable at `from`, unless that is null, and writable at `to`, unless that is null.
    unsafe fn any(&mut self, from: *const u8, to: *mut u8, size: usize) -> Result<usize, Failure> {
        if let Some(aad) = self.tls_aad.take() {
            // SAFETY: the caller's promise.
            let record = if ptr::eq(from, to) { unsafe { bytes_mut(to, size) } } else { None };
            let done = record.ok_or(None).and_then(|record| self.tls_record(aad, record));
            self.begin_anew(Iv::Used);
            return done;
        }
        if from.is_null() {
            return self.finish().map(|()| 0);
        }
        if to.is_null() {
            // SAFETY: the caller's promise.
            let aad = unsafe { bytes(from, size) }.ok_or(None)?;
            return self.aad(aad).map(|()| size);
        }
        // SAFETY: the caller's promise.
        unsafe { self.text(from, to, size) }.map(|()| size)
    }

    /// Does a record of TLS 1.2 in place: explicit part of the nonce, text, tag. Returns how many bytes of the record count: all of them,
    /// or the text. On a wrong tag the text is all zero.
    fn tls_record(&mut self, aad: [u8; TLS_AAD], record: &mut [u8]) -> Result<usize, Failure> {
        let size = record.len();
        let (explicit, rest) = record.split_first_chunk_mut::<EXPLICIT>().ok_or(None)?;
        let (text, tag) = rest.split_last_chunk_mut::<TAG>().ok_or(None)?;
        if self.seals {
            self.take_iv(explicit)?;
        } else {
            self.set_explicit(explicit)?;
        }
        // `take_iv` has already counted on to the next IV.
        let mut iv = self.iv;
        let iv = &mut iv[..self.iv_length];
        iv[self.iv_length - EXPLICIT..].copy_from_slice(explicit);
        let (key, nonce) = (self.key.as_mut().ok_or(None)?.for_pieces()?, Nonce::any(iv).map_err(|_| None)?);
        if self.seals {
            *tag = key.seal(nonce, &aad, text).map_err(|_| None)?.0;
        } else {
            key.open(nonce, &aad, text, &Tag(*tag)).map_err(|_| None)?;
        }
        self.work.messages += 1;
        self.work.bytes += text.len() as u64;
        Ok(if self.seals { size } else { text.len() })
    }

    /// Sets the AAD of the next record. Returns how many bytes longer than its text a record is.
    fn set_tls_aad(&mut self, aad: &[u8]) -> Result<(), Failure> {
        let mut aad = <[u8; TLS_AAD]>::try_from(aad).map_err(|_| None)?;
        let [.., high, low] = &mut aad;
        let around = EXPLICIT + if self.seals { 0 } else { TAG };
        let length = usize::from(u16::from_be_bytes([*high, *low])).checked_sub(around).ok_or(None)?;
        [*high, *low] = (length as u16).to_be_bytes();
        (self.tls_aad, self.tls_padding) = (Some(aad), TAG);
        Ok(())
    }

    /// Sets the fixed part of the IV, with a random number behind it for a caller that seals; or, with a length of -1, all of the IV.
    ///
    /// # Safety
    /// `size` bytes are readable at `data`; with a length of -1 as many as an IV has.
    unsafe fn set_fixed(&mut self, data: *const u8, size: usize) -> Result<(), Failure> {
        let all = size == usize::MAX;
        let size = if all { self.iv_length } else { size };
        if !all && (size < FIXED || self.iv_length.checked_sub(EXPLICIT).is_none_or(|most| most < size)) {
            return Err(None);
        }
        // SAFETY: the caller's promise.
        self.iv[..size].copy_from_slice(unsafe { bytes(data, size) }.ok_or(None)?);
        if !all && self.seals {
            self.fill_iv(size)?;
        }
        self.counts = true;
        self.begin_anew(Iv::New);
        Ok(())
    }

    /// Begins a message with the IV, whose last bytes are returned; the next message will have the next IV.
    fn take_iv(&mut self, last: &mut [u8]) -> Result<(), Failure> {
        if !self.counts || self.key.is_none() || self.iv_length < EXPLICIT {
            return Err(None);
        }
        self.begin_anew(Iv::New);
        self.begin()?;
        let n = if last.is_empty() { 0 } else { last.len().min(self.iv_length) };
        last[..n].copy_from_slice(&self.iv()[self.iv_length - n..]);
        let counter = self.iv[..self.iv_length].last_chunk_mut::<EXPLICIT>().ok_or(None)?;
        *counter = u64::from_be_bytes(*counter).wrapping_add(1).to_be_bytes();
        Ok(())
    }

    /// Begins a message with the IV, whose last bytes are these.
    fn set_explicit(&mut self, last: &[u8]) -> Result<(), Failure> {
        if !self.counts || self.key.is_none() || self.seals {
            return Err(None);
        }
        let from = self.iv_length.checked_sub(last.len()).ok_or(None)?;
        self.iv[from..self.iv_length].copy_from_slice(last);
        self.begin_anew(Iv::New);
        self.begin()
    }
}

impl<'p> Cipher<'p> for Context<'p> {
    #[inline(always)]
    fn new(provider: &'p Provider, key_length: usize) -> Self {
        Self {
            work: Work::none(provider),
            key_length,
            key: None,
            short: Short::NONE,
            pieces: None,
            text_left: 0,
            seals: false,
            iv_state: Iv::None,
            iv_length: 12,
            iv: [0; MOST_IV],
            counts: false,
            tag: [0; TAG],
            tag_length: None,
            tls_aad: None,
            tls_padding: 0,
        }
    }

    fn init(&mut self, seals: bool, key: Option<&[u8]>, iv: Option<&[u8]>) -> Result<(), Failure> {
        // A refused call changes nothing.
        if iv.is_some_and(|iv| !(1..=MOST_IV).contains(&iv.len())) {
            return Err(Some(Reason::InvalidIvLength));
        }
        if key.is_some_and(|key| key.len() != self.key_length) {
            return Err(Some(Reason::InvalidKeyLength));
        }
        self.seals = seals;
        if let Some(iv) = iv {
            self.iv[..iv.len()].copy_from_slice(iv);
            self.iv_length = iv.len();
            self.begin_anew(Iv::New);
        }
        if let Some(key) = key {
            if self.iv_state == Iv::Begun {
                self.begin_anew(Iv::Used);
            }
            Keyed::set(&mut self.key, key, self.work.provider)?;
            self.work.keys += 1;
        }
        Ok(())
    }

    fn get(&mut self, param: &mut Param) -> Result<(), Failure> {
        if param.is(c"tag") {
            let tag = self.tag.get(..param.size()).filter(|tag| !tag.is_empty() && self.seals && self.tag_length.is_some());
            return param.set_bytes(tag.ok_or(Reason::InvalidTag)?).ok_or(Some(Reason::FailedToSetParameter));
        }
        // A context that is being set up asks for these.
        for (name, length) in [(c"ivlen", self.iv_length), (c"keylen", self.key_length)] {
            if param.is(name) {
                return param.set_number(length as u64).ok_or(Some(Reason::FailedToSetParameter));
            }
        }
        let done = match param.name() {
            b"taglen" => param.set_number(self.tag_length.unwrap_or(TAG) as u64),
            b"tlsaadpad" => param.set_number(self.tls_padding as u64),
            b"iv" | b"updated-iv" => {
                if self.iv_state == Iv::None {
                    self.draw_iv()?;
                }
                if param.size() < self.iv_length {
                    return Err(Some(Reason::InvalidIvLength));
                }
                param.set_bytes(self.iv())
            }
            b"tlsivgen" => {
                let room = param.room().ok_or(None)?;
                return self.take_iv(room);
            }
            _ => return Ok(()),
        };
        done.ok_or(Some(Reason::FailedToSetParameter))
    }

    fn set(&mut self, param: &Param) -> Result<(), Failure> {
        let ill = Some(Reason::FailedToGetParameter);
        if param.is(c"tag") {
            // A tag of any length is accepted, as OpenSSL's own provider accepts it, though the standard knows only 4, 8 and 12 to 16 bytes
            // (SP 800-38D, section 5.2.1.2).
            let tag = param.bytes().filter(|tag| tag.len() <= TAG).ok_or(ill)?;
            if self.seals || tag.is_empty() {
                return Err(Some(Reason::InvalidTag));
            }
            self.tag[..tag.len()].copy_from_slice(tag);
            self.tag_length = Some(tag.len());
            return Ok(());
        }
        match param.name() {
            b"ivlen" => {
                let length = param.number().ok_or(ill)?;
                if !(1..=MOST_IV).contains(&length) {
                    return Err(Some(Reason::InvalidIvLength));
                }
                if length != self.iv_length {
                    self.iv_length = length;
                    if self.iv_state != Iv::None {
                        self.begin_anew(Iv::Used);
                    }
                }
            }
            b"keylen" if param.number().ok_or(ill)? != self.key_length => return Err(Some(Reason::InvalidKeyLength)),
            b"tlsaad" => self.set_tls_aad(param.bytes().ok_or(ill)?).map_err(|_| Reason::InvalidAad)?,
            // SAFETY: OpenSSL's call; see there for the length of -1.
            b"tlsivfixed" => unsafe { self.set_fixed(param.octets(), param.size()) }.map_err(|_| ill)?,
            b"tlsivinv" => self.set_explicit(param.bytes().ok_or(ill)?)?,
            _ => {}
        }
        Ok(())
    }

    /// An `update` of nothing is not the end of a message.
    #[inline(always)] // small pieces: 5 %
    unsafe fn update(&mut self, is_piece: bool, to: *mut u8, room: usize, from: *const u8, size: usize) -> Result<usize, Failure> {
        if is_piece && size == 0 {
            return Ok(0);
        }
        if room < size {
            return Err(Some(Reason::OutputBufferTooSmall));
        }
        // SAFETY: the caller's promise.
        let done = unsafe { self.any(from, to, size) };
        if done == Err(Some(Reason::MallocFailure)) {
            // Without the bytes for which there was no memory it is another message, whose tag nobody may get.
            self.begin_anew(Iv::Used);
            return Err(Some(Reason::MallocFailure));
        }
        done.map_err(|reason| if is_piece { Some(Reason::CipherOperationFailed) } else { reason })
    }

    fn finish(&mut self) -> Result<(), Failure> {
        // SAFETY: nothing is read or written.
        unsafe { self.any(ptr::null(), ptr::null_mut(), 0) }.map(drop)
    }
}

/// Describes a cipher without a context, by the number of its mode (`EVP_CIPH_GCM_MODE`, `EVP_CIPH_GCM_SIV_MODE`) and the bytes of its IV.
pub(crate) unsafe extern "C" fn describe<const BITS: usize, const MODE: usize, const IV: usize>(params: *mut Param) -> c_int {
    guarded(0, || {
        // SAFETY: OpenSSL's call.
        for param in unsafe { Param::list(params) } {
            let value = match param.name() {
                b"mode" => MODE,
                b"keylen" => BITS / 8,
                b"ivlen" => IV,
                b"blocksize" | b"aead" | b"custom-iv" => 1,
                b"cts" | b"tls-multi" | b"has-randkey" => 0,
                _ => continue,
            };
            if param.set_number(value as u64).is_none() {
                return 0;
            }
        }
        1
    })
}

static DESCRIPTION: [Param; 10] = [
    Param::named(c"mode", UNSIGNED),
    Param::named(c"keylen", UNSIGNED),
    Param::named(c"ivlen", UNSIGNED),
    Param::named(c"blocksize", UNSIGNED),
    Param::named(c"aead", INTEGER),
    Param::named(c"custom-iv", INTEGER),
    Param::named(c"cts", INTEGER),
    Param::named(c"tls-multi", INTEGER),
    Param::named(c"has-randkey", INTEGER),
    Param::END,
];

static GETTABLE: [Param; 9] = [
    Param::named(c"keylen", UNSIGNED),
    Param::named(c"ivlen", UNSIGNED),
    Param::named(c"taglen", UNSIGNED),
    Param::named(c"iv", OCTETS),
    Param::named(c"updated-iv", OCTETS),
    Param::named(c"tag", OCTETS),
    Param::named(c"tlsaadpad", UNSIGNED),
    Param::named(c"tlsivgen", OCTETS),
    Param::END,
];

static SETTABLE: [Param; 7] = [
    Param::named(c"keylen", UNSIGNED),
    Param::named(c"ivlen", UNSIGNED),
    Param::named(c"tag", OCTETS),
    Param::named(c"tlsaad", OCTETS),
    Param::named(c"tlsivfixed", OCTETS),
    Param::named(c"tlsivinv", OCTETS),
    Param::END,
];

pub(crate) unsafe extern "C" fn description(_: *mut c_void) -> *const Param {
    DESCRIPTION.as_ptr()
}

/// The functions of a mode of OpenSSL with each size of keys, and the type of a context. At the place of the call, `GETTABLE` and
/// `SETTABLE` are that mode's.
macro_rules! ciphers {
    ($mode:literal $iv:literal: $($name:ident $bits:literal $context:ty,)+) => {
        unsafe extern "C" fn gettable(_: *mut c_void, _: *mut c_void) -> *const Param {
            GETTABLE.as_ptr()
        }

        unsafe extern "C" fn settable(_: *mut c_void, _: *mut c_void) -> *const Param {
            SETTABLE.as_ptr()
        }

        $(
            pub(crate) static $name: [Dispatch; 15] = table! {
                1 new_cipher::<$context, $bits>,
                2 init::<$context, true>,
                3 init::<$context, false>,
                4 update::<$context, true>,
                5 finish::<$context>,
                6 update::<$context, false>,
                7 free::<$context>,
                8 duplicate::<$context>,
                9 describe::<$bits, $mode, $iv>,
                10 get::<$context>,
                11 set::<$context>,
                12 description,
                13 gettable,
                14 settable,
            };
        )+
    };
}
pub(crate) use ciphers;

ciphers! { 6 12: AES_128 128 Context<'static>, AES_192 192 Context<'static>, AES_256 256 Context<'static>, }
