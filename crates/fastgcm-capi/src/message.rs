//! Messages that lie in one buffer.

use crate::{
    fastgcm_key,
    fastgcm_status::{self, *},
    key::key_of,
    memory::{Output, Place, Stretch, read},
    status,
};
use fastgcm::{
    Key, Nonce, Tag,
    hazmat::is_short,
    limits::{AAD, NONCE, TEXT},
};
use std::{
    ffi::c_int,
    slice,
    sync::atomic::{Ordering::SeqCst, compiler_fence},
};

/// The most bytes of text, or of AAD, of a usual call: a call whose nonce has 12 bytes and whose tag has 16, with all its buffers non-NULL
/// and apart. Seeing that a call is usual takes a third of the time of checking all rules, each of which has an error of its own; the
/// functions `..._otherwise` check them.
const MUCH: usize = i32::MAX as usize;

/// A call whose nonce has 12 bytes and whose tag has 16.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) key: *const fastgcm_key,
    pub(crate) nonce: *const u8,
    /// It is not null even if there is no AAD.
    pub(crate) aad: *const u8,
    pub(crate) aad_size: usize,
    pub(crate) from: *const u8,
    pub(crate) to: *mut u8,
    pub(crate) size: usize,
    pub(crate) tag: *const u8,
}

/// The place from which such a call is made. Each place needs a function of its own: in a function with two callers, LLVM does not inline
/// what `catch_unwind` calls, and everything goes through memory (4 ns).
pub(crate) const SHORT: u8 = 0;
pub(crate) const LONG: u8 = 1;
pub(crate) const GATHERED: u8 = 2;

impl Call {
    /// Returns whether the call is usual, whatever its sizes are: its buffers are not NULL, and what is written does not overlap what is
    /// read, but `to` may be `from` itself.
    #[inline(always)]
    fn is_usual(self, writes_tag: bool) -> bool {
        !self.key.is_null()
            && !self.nonce.is_null()
            && !self.aad.is_null()
            && !self.from.is_null()
            && !self.to.is_null()
            && !self.tag.is_null()
            && (!writes_tag || Stretch::new(self.to, self.size).surely_apart(Stretch::new(self.tag, 16)))
            && self.writes_apart(Stretch::new(self.aad, self.aad_size), writes_tag)
            && self.writes_apart(Stretch::new(self.nonce, 12), writes_tag)
            && (self.to.cast_const() == self.from || self.writes_apart(Stretch::new(self.from, self.size), writes_tag))
    }

    /// Returns whether what the call writes does not overlap these bytes.
    #[inline(always)]
    fn writes_apart(self, read: Stretch, writes_tag: bool) -> bool {
        Stretch::new(self.to, self.size).surely_apart(read) && (!writes_tag || Stretch::new(self.tag, 16).surely_apart(read))
    }

    /// Returns whether the message of the call is short.
    ///
    /// # Safety
    /// The call is usual.
    #[inline(always)]
    unsafe fn is_short(self) -> bool {
        // SAFETY: the caller's promise.
        is_short(unsafe { &(*self.key).0 }, self.aad_size, self.size)
    }

    /// Returns whether the sizes of the call are not usual. (Sums of such sizes may have wrapped, but then this finds them.)
    #[inline(always)]
    fn is_much(self) -> bool {
        self.aad_size > MUCH || self.size > MUCH
    }

    /// Encrypts.
    ///
    /// # Safety
    /// The call is usual and not much, and writes its tag.
    #[inline(always)]
    pub(crate) unsafe fn seal<const FROM: u8>(self) -> c_int {
        status(|| {
            // SAFETY: the caller's promise; what is written lies apart.
            let (key, nonce, aad, to) = unsafe {
                let (aad, to) = (slice::from_raw_parts(self.aad, self.aad_size), slice::from_raw_parts_mut(self.to, self.size));
                (&(*self.key).0, &*self.nonce.cast::<[u8; 12]>(), aad, to)
            };
            // A number: a `Result` of sixteen bytes is stored in pieces, and a load of the whole waits for them.
            let made = if self.to.cast_const() == self.from {
                u128::from_ne_bytes(key.seal(nonce, aad, to)?.0)
            } else {
                // SAFETY: the caller's promise.
                u128::from_ne_bytes(key.seal_detached_to(nonce, aad, unsafe { slice::from_raw_parts(self.from, self.size) }, to)?.0)
            };
            // SAFETY: the caller's promise.
            unsafe { self.tag.cast_mut().cast::<[u8; 16]>().write(made.to_ne_bytes()) };
            Ok(())
        })
    }

    /// Decrypts.
    ///
    /// # Safety
    /// The call is usual and not much, and reads its tag.
    #[inline(always)]
    pub(crate) unsafe fn open<const FROM: u8>(self) -> c_int {
        status(|| {
            // SAFETY: the caller's promise; what is written lies apart, but for the tag, which is copied.
            let (key, nonce, aad, tag, to) = unsafe {
                let (aad, to) = (slice::from_raw_parts(self.aad, self.aad_size), slice::from_raw_parts_mut(self.to, self.size));
                (&(*self.key).0, &*self.nonce.cast::<[u8; 12]>(), aad, Tag(*self.tag.cast::<[u8; 16]>()), to)
            };
            if self.to.cast_const() == self.from {
                return Ok(key.open(nonce, aad, to, &tag)?);
            }
            // SAFETY: the caller's promise.
            Ok(key.open_detached_to(nonce, aad, unsafe { slice::from_raw_parts(self.from, self.size) }, to, &tag)?)
        })
    }
}

/// Encrypts a message (SP 800-38D, section 7.1).
///
/// `nonce` has `nonce_size` bytes: 12, or any other number from 1 on. **A nonce must be unique for every message under one key.** `text`
/// has `text_size` bytes, and the function writes as many to `ciphertext`, which is `text` itself or does not overlap it. It writes 16
/// bytes to `tag`. The outputs must overlap neither `aad` nor `nonce`, nor each other.
///
/// If the function returns `FASTGCM_INVALID_LENGTH` (an empty nonce), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP` or `FASTGCM_NULL`, nothing is
/// written.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_seal(
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const u8,
    aad_size: usize,
    text: *const u8,
    text_size: usize,
    ciphertext: *mut u8,
    tag: *mut u8,
) -> c_int {
    let aad = aad.wrapping_add((aad_size == 0) as usize);
    let call = Call { key, nonce, aad, aad_size, from: text, to: ciphertext, size: text_size, tag };
    // SAFETY: the same promise.
    unsafe {
        if nonce_size != 12 || !call.is_usual(true) {
            seal_otherwise(key, nonce, nonce_size, aad, aad_size, text, text_size, ciphertext, tag)
        } else if call.is_short() {
            call.seal::<SHORT>()
        } else {
            seal_long(key, nonce, nonce_size, aad, aad_size, text, text_size, ciphertext, tag)
        }
    }
}

/// Seals a message that is not short, by a usual call. It needs a frame and more registers.
///
/// # Safety
/// As said.
#[inline(never)]
unsafe extern "C" fn seal_long(
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const u8,
    aad_size: usize,
    text: *const u8,
    text_size: usize,
    ciphertext: *mut u8,
    tag: *mut u8,
) -> c_int {
    let call = Call { key, nonce, aad, aad_size, from: text, to: ciphertext, size: text_size, tag };
    // SAFETY: the same promise.
    unsafe {
        if call.is_much() {
            seal_otherwise(key, nonce, nonce_size, aad, aad_size, text, text_size, ciphertext, tag)
        } else {
            call.seal::<LONG>()
        }
    }
}

/// Seals by any call that is not usual. (The function is cold: otherwise the optimiser takes the usual calls for rare, and inlines nothing
/// there. It takes the original arguments: as a `Call`, which lies in memory, usual calls took 0.1 to 0.3 ns longer, and gathered ones 1 to
/// 5.)
/// # Safety
/// As said.
#[cold]
#[inline(never)]
unsafe extern "C" fn seal_otherwise(
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const u8,
    aad_size: usize,
    text: *const u8,
    text_size: usize,
    ciphertext: *mut u8,
    tag: *mut u8,
) -> c_int {
    status(|| {
        // SAFETY: the caller's promise.
        let (key, nonce, aad, text) =
            unsafe { (key_of(key)?, read(nonce, nonce_size, NONCE)?, read(aad, aad_size, AAD)?, read(text, text_size, TEXT)?) };
        let output = Output::new(ciphertext, text_size)?.apart(aad)?.apart(nonce)?;
        let tag = Output::new(tag, 16)?.apart(aad)?.apart(nonce)?.apart(text)?;
        let place = output.place(text)?;
        // SAFETY: if the two slices are one, the text is not read through the other one.
        let output = unsafe { output.slice() };
        let tag = tag.apart(output)?;
        let nonce = Nonce::any(nonce)?;
        // A number: a `Result` of sixteen bytes is stored in pieces, and loading it as a whole waits for them (7 ns).
        let made = match place {
            Place::Same => u128::from_ne_bytes(key.seal(nonce, aad, output)?.0),
            Place::Apart(text) => u128::from_ne_bytes(key.seal_detached_to(nonce, aad, text, output)?.0),
        };
        // SAFETY: the caller's promise.
        unsafe { tag.slice() }.copy_from_slice(&made.to_ne_bytes());
        Ok(())
    })
}

/// Decrypts a message, and verifies it (SP 800-38D, section 7.2).
///
/// `ciphertext` has `ciphertext_size` bytes, and the function writes as many to `text`, which is `ciphertext` itself or does not overlap
/// it. `tag` has `tag_size` bytes: 16, or the first 12 to 15, 8 or 4 of a tag. A caller with tags of several lengths must not let the
/// sender choose the length. `text` must overlap neither `aad` nor `nonce`.
///
/// **Nobody else may write to these buffers during the call**, as another thread could, or a process that shares the memory. The library
/// loads `ciphertext` twice, to hash it and to decrypt it, so ciphertext that changes in between may be accepted as text that nobody
/// sealed. Copy shared memory first. This rule holds for every function that opens.
///
/// Returns `FASTGCM_UNAUTHENTIC` if anything differs from what was sealed; `text` is then all zero. If the function returns
/// `FASTGCM_INVALID_LENGTH` (of the nonce or the tag), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP` or `FASTGCM_NULL`, nothing is written.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_open(
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const u8,
    aad_size: usize,
    ciphertext: *const u8,
    ciphertext_size: usize,
    tag: *const u8,
    tag_size: usize,
    text: *mut u8,
) -> c_int {
    let aad = aad.wrapping_add((aad_size == 0) as usize);
    let call = Call { key, nonce, aad, aad_size, from: ciphertext, to: text, size: ciphertext_size, tag };
    // SAFETY: the same promise.
    unsafe {
        if nonce_size == 12 && tag_size == 16 && call.is_usual(false) {
            if call.is_short() {
                return call.open::<SHORT>();
            }
            // Loaded values do not stay in registers: each register that a function saves costs two instructions.
            compiler_fence(SeqCst);
            if !call.is_much() {
                return call.open::<LONG>();
            }
        }
        open_otherwise(key, nonce, nonce_size, aad, aad_size, ciphertext, ciphertext_size, tag, tag_size, text)
    }
}

/// Opens by any call that is not usual.
///
/// # Safety
/// As said.
#[cold]
#[inline(never)]
unsafe extern "C" fn open_otherwise(
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const u8,
    aad_size: usize,
    ciphertext: *const u8,
    ciphertext_size: usize,
    tag: *const u8,
    tag_size: usize,
    text: *mut u8,
) -> c_int {
    status(|| {
        // SAFETY: the caller's promise.
        let (key, nonce, aad, from) =
            unsafe { (key_of(key)?, read(nonce, nonce_size, NONCE)?, read(aad, aad_size, AAD)?, read(ciphertext, ciphertext_size, TEXT)?) };
        // SAFETY: the caller's promise. The tag is copied, so it may lie anywhere.
        let tag = unsafe { Expected::read(tag, tag_size)? };
        let output = Output::new(text, ciphertext_size)?.apart(aad)?.apart(nonce)?;
        let place = output.place(from)?;
        let nonce = Nonce::any(nonce)?;
        // SAFETY: if the two slices are one, the text is not read through the other one.
        let output = unsafe { output.slice() };
        tag.open(key, nonce, aad, place, output)
    })
}

/// A tag of a length that the standard allows.
pub(crate) struct Expected(pub(crate) [u8; 16], pub(crate) usize);

impl Expected {
    /// # Safety
    /// This many bytes are readable there.
    pub(crate) unsafe fn read(tag: *const u8, size: usize) -> Result<Self, fastgcm_status> {
        if !matches!(size, 4 | 8 | 12..=16) {
            return Err(FASTGCM_INVALID_LENGTH);
        }
        let mut bytes = [0; 16];
        // SAFETY: the caller's promise.
        bytes[..size].copy_from_slice(unsafe { read(tag, size, 16)? });
        Ok(Self(bytes, size))
    }

    fn open(self, key: &Key, nonce: Nonce<'_>, aad: &[u8], place: Place<'_>, output: &mut [u8]) -> Result<(), fastgcm_status> {
        macro_rules! open {
            ($tag:expr) => {
                match place {
                    Place::Same => key.open(nonce, aad, output, &$tag),
                    Place::Apart(from) => key.open_detached_to(nonce, aad, from, output, &$tag),
                }
            };
        }
        let tag = Tag(self.0);
        Ok(match self.1 {
            4 => open!(tag.truncate::<4>()),
            8 => open!(tag.truncate::<8>()),
            12 => open!(tag.truncate::<12>()),
            13 => open!(tag.truncate::<13>()),
            14 => open!(tag.truncate::<14>()),
            15 => open!(tag.truncate::<15>()),
            _ => open!(tag),
        }?)
    }
}
