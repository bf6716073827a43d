//! `libfastgcm`: AES-GCM for C and C++. `fastgcm.h` is made of this file's documentation.

#![allow(non_camel_case_types)] // C's names

use fastgcm::{
    Backend, Error, Key, Nonce, Packet, Tag,
    hazmat::{Pieces, is_short},
};
use std::{
    ffi::{CStr, c_char, c_int},
    mem::MaybeUninit,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
    sync::atomic::{Ordering::SeqCst, compiler_fence},
};

/// What a call returns: all but `FASTGCM_OK` mean that it has done nothing, unless it says what else. More may come.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum fastgcm_status {
    /// Done.
    FASTGCM_OK = 0,
    /// The message, its AAD, nonce or tag is not what the key's owner sealed.
    FASTGCM_UNAUTHENTIC = 1,
    /// A key, nonce, tag or buffer has a length that the call does not take.
    FASTGCM_INVALID_LENGTH = 2,
    /// A text has more than 2^36 - 32 bytes, or AAD or a nonce more than 2^61 - 1.
    FASTGCM_TOO_LONG = 3,
    /// There is no back end of that name, or this machine cannot run it.
    FASTGCM_UNAVAILABLE = 4,
    /// AAD behind text, anything behind the end, or a key of another back end.
    FASTGCM_OUT_OF_ORDER = 5,
    /// A pointer is NULL. (With a length of 0 a buffer may be.)
    FASTGCM_NULL = 6,
    /// What is written overlaps something that is read, or something else that is written.
    FASTGCM_OVERLAP = 7,
    /// The memory for a key or a message is too small, or not aligned as it has to be.
    FASTGCM_PLACE = 8,
    /// There is no memory.
    FASTGCM_NO_MEMORY = 9,
    /// A self-test found a wrong answer: nothing of this library may be used.
    FASTGCM_SELFTEST = 10,
    /// A fault of this library. Output is undefined.
    FASTGCM_INTERNAL = 11,
}

use fastgcm_status::*;

/// Bytes that are read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fastgcm_slice {
    /// May be NULL if `size` is 0.
    pub data: *const u8,
    /// Bytes.
    pub size: usize,
}

/// A message of a batch. The caller lays it out, so it never changes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fastgcm_packet {
    /// 12 bytes, of which no two packets under one key have the same.
    pub nonce: [u8; 12],
    /// What became of it, a `fastgcm_status`: written.
    pub status: c_int,
    /// AAD, only read. NULL if `aad_size` is 0.
    pub aad: *const u8,
    /// Bytes of AAD.
    pub aad_size: usize,
    /// Text or ciphertext, which is read.
    pub from: *const u8,
    /// Ciphertext or text, which is written: it is `from`, or does not overlap it.
    pub to: *mut u8,
    /// Bytes of text: `from` and `to` have as many.
    pub size: usize,
    /// The tag: written when the packet is sealed, read when it is opened.
    pub tag: [u8; 16],
}

/// A key, ready for use by any number of threads. Its memory is the caller's (`fastgcm_key_init`) or the heap's (`fastgcm_key_new`).
#[derive(Debug)]
pub struct fastgcm_key(Key);

/// A message in pieces: for one thread at a time.
#[derive(Debug)]
pub struct fastgcm_pieces(Pieces);

impl From<Error> for fastgcm_status {
    fn from(error: Error) -> Self {
        match error {
            Error::Unauthentic => FASTGCM_UNAUTHENTIC,
            Error::InvalidLength => FASTGCM_INVALID_LENGTH,
            Error::TooLong => FASTGCM_TOO_LONG,
            Error::Unavailable => FASTGCM_UNAVAILABLE,
            Error::OutOfOrder => FASTGCM_OUT_OF_ORDER,
            _ => FASTGCM_INTERNAL,
        }
    }
}

/// A call, whose panic (a fault of ours) does not get out. Inlined: otherwise what it needs goes through memory (4 ns).
#[inline(always)]
fn status(call: impl FnOnce() -> Result<(), fastgcm_status>) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(FASTGCM_INTERNAL));
    done.err().unwrap_or(FASTGCM_OK) as c_int
}

/// Bytes of a caller. No memory is larger than `isize::MAX`.
/// # Safety
/// So many are readable there, if it is not null.
unsafe fn read<'a>(data: *const u8, size: usize) -> Result<&'a [u8], fastgcm_status> {
    match (data.is_null(), size) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(FASTGCM_NULL),
        (_, size) if size > isize::MAX as usize => Err(FASTGCM_TOO_LONG),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { slice::from_raw_parts(data, size) }),
    }
}

/// Where a caller wants something written: not yet a slice, because it may overlap what is read.
#[derive(Clone, Copy)]
struct Output(*mut u8, usize);

impl Output {
    fn new(data: *mut u8, size: usize) -> Result<Self, fastgcm_status> {
        match (data.is_null(), size) {
            (_, 0) => Ok(Self(ptr::dangling_mut(), 0)),
            (true, _) => Err(FASTGCM_NULL),
            (_, size) if size > isize::MAX as usize => Err(FASTGCM_TOO_LONG),
            _ => Ok(Self(data, size)),
        }
    }

    /// An error if it overlaps these bytes.
    #[inline(always)]
    fn apart(self, bytes: &[u8]) -> Result<Self, fastgcm_status> {
        let (mine, other) = (Stretch::new(self.0, self.1), Stretch::new(bytes.as_ptr(), bytes.len()));
        let overlaps = !mine.surely_apart(other) && self.1 > 0 && !bytes.is_empty();
        if overlaps { Err(FASTGCM_OVERLAP) } else { Ok(self) }
    }

    /// What is written instead of `from`, if they are the same, or do not overlap.
    fn place(self, from: &[u8]) -> Result<Place<'_>, fastgcm_status> {
        if ptr::eq(self.0, from.as_ptr()) || from.is_empty() {
            return Ok(Place::Same);
        }
        self.apart(from).map(|_| Place::Apart(from))
    }

    /// # Safety
    /// So many bytes are writable there, and no slice of them is used any more.
    unsafe fn slice<'a>(self) -> &'a mut [u8] {
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts_mut(self.0, self.1) }
    }
}

enum Place<'a> {
    Same,
    Apart(&'a [u8]),
}

/// The most bytes of text, or of AAD, that a usual call has: one whose nonce has 12 bytes and whose tag has 16, with all of its buffers somewhere and
/// apart. To see that a call is usual takes a third of the time that all rules take, of which each has an error of its own; `..._otherwise` has them.
const MUCH: usize = i32::MAX as usize;

/// Bytes of memory, not more than `isize::MAX`: where they begin, and where they end.
#[derive(Clone, Copy)]
struct Stretch(usize, usize);

impl Stretch {
    #[inline(always)]
    fn new(at: *const u8, size: usize) -> Self {
        Self(at.addr(), at.addr().wrapping_add(size))
    }

    /// Two of them do not overlap. (It says `false` of some more: of empty ones within another.)
    ///
    /// That is one comparison, or two. Without the fences LLVM makes both and joins them, five instructions, and each instruction of a call takes 0.06 ns:
    /// the time of short messages goes by how many instructions the processor has in flight (Zen 5).
    #[inline(always)]
    fn surely_apart(self, other: Self) -> bool {
        compiler_fence(SeqCst);
        if other.0 >= self.1 {
            return true;
        }
        compiler_fence(SeqCst);
        other.1 <= self.0
    }
}

/// # Safety
/// `key` is null, or one that was made.
unsafe fn key<'a>(key: *const fastgcm_key) -> Result<&'a Key, fastgcm_status> {
    // SAFETY: the caller's promise.
    unsafe { key.as_ref() }.map(|key| &key.0).ok_or(FASTGCM_NULL)
}

/// The back end of that name, or the best.
/// # Safety
/// `name` is null, or a string.
unsafe fn backend(name: *const c_char) -> Result<Backend, fastgcm_status> {
    if name.is_null() {
        return Ok(Backend::detect());
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| FASTGCM_UNAVAILABLE)?;
    name.parse().map_err(|_| FASTGCM_UNAVAILABLE)
}

/// Memory for a `T`.
fn place<'a, T>(memory: *mut T, size: usize) -> Result<&'a mut MaybeUninit<T>, fastgcm_status> {
    if memory.is_null() {
        return Err(FASTGCM_NULL);
    }
    if size < size_of::<T>() || !memory.is_aligned() {
        return Err(FASTGCM_PLACE);
    }
    // SAFETY: the caller's memory, as large and aligned as it has to be.
    Ok(unsafe { &mut *memory.cast() })
}

/// Bytes of memory that a key needs.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_key_size() -> usize {
    size_of::<fastgcm_key>()
}

/// What the address of a key must be a multiple of.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_key_align() -> usize {
    align_of::<fastgcm_key>()
}

/// Makes a key in the caller's memory, which has `place_size` bytes; `fastgcm_key_wipe` ends it.
///
/// `key` has `key_size` bytes: 16, 24 or 32. They are only read. `backend` is NULL for the machine's best back end, or a name
/// (`fastgcm_backend`).
///
/// Returns `FASTGCM_PLACE`, `FASTGCM_INVALID_LENGTH`, `FASTGCM_UNAVAILABLE`, `FASTGCM_NULL`: then nothing is written, and there is no key.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_init(
    key_place: *mut fastgcm_key,
    place_size: usize,
    key: *const u8,
    key_size: usize,
    backend: *const c_char,
) -> c_int {
    status(|| {
        let place = place(key_place, place_size)?;
        // SAFETY: the caller's promise.
        let (key, backend) = unsafe { (read(key, key_size)?, self::backend(backend)?) };
        // SAFETY: a `fastgcm_key` is a `Key`, and nothing else.
        let place = unsafe { &mut *ptr::from_mut(place).cast::<MaybeUninit<Key>>() };
        Key::init_in_place(place, key, backend)?;
        Ok(())
    })
}

const _: () = assert!(size_of::<fastgcm_key>() == size_of::<Key>() && align_of::<fastgcm_key>() == align_of::<Key>());

/// Wipes a key that `fastgcm_key_init` has made: there is no key any more, and the memory may be used for something else. NULL is allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_wipe(key: *mut fastgcm_key) {
    if !key.is_null() {
        status(|| {
            // SAFETY: the caller's promise.
            unsafe { ptr::drop_in_place(key) };
            Ok(())
        });
    }
}

/// Memory on the heap for a `T`, which `init` makes there, or does not.
/// # Safety
/// `made` is null or writable, and `init` makes a `T` if it returns `FASTGCM_OK`.
unsafe fn on_heap<T>(made: *mut *mut T, init: impl FnOnce(*mut T, usize) -> c_int) -> c_int {
    if made.is_null() {
        return FASTGCM_NULL as c_int;
    }
    let layout = std::alloc::Layout::new::<T>();
    // SAFETY: a `T` has a size; the rest is the caller's promise.
    unsafe {
        *made = ptr::null_mut();
        let place = std::alloc::alloc(layout).cast::<T>();
        if place.is_null() {
            return FASTGCM_NO_MEMORY as c_int;
        }
        let done = init(place, layout.size());
        if done == FASTGCM_OK as c_int {
            *made = place;
        } else {
            std::alloc::dealloc(place.cast(), layout);
        }
        done
    }
}

/// The same on the heap: `*key_made` is the key, or NULL if the call fails. `fastgcm_key_free` ends it.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_new(
    key_made: *mut *mut fastgcm_key,
    key: *const u8,
    key_size: usize,
    backend: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { on_heap(key_made, |place, size| fastgcm_key_init(place, size, key, key_size, backend)) }
}

/// Wipes a key that `fastgcm_key_new` has made, and frees its memory. NULL is allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_free(key: *mut fastgcm_key) {
    if !key.is_null() {
        status(|| {
            // SAFETY: the caller's promise: `fastgcm_key_new` has allocated it as a `Box` would.
            drop(unsafe { Box::from_raw(key) });
            Ok(())
        });
    }
}

/// A call whose nonce has 12 bytes, and its tag 16.
#[derive(Clone, Copy)]
struct Call {
    key: *const fastgcm_key,
    nonce: *const u8,
    /// Not null if there is none.
    aad: *const u8,
    aad_size: usize,
    from: *const u8,
    to: *mut u8,
    size: usize,
    tag: *const u8,
}

impl Call {
    /// Whether it is usual, whatever its sizes are: its buffers are somewhere, and what is written does not overlap what is read, but `to` may be `from`
    /// itself.
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

    /// What it writes does not overlap those bytes.
    #[inline(always)]
    fn writes_apart(self, read: Stretch, writes_tag: bool) -> bool {
        Stretch::new(self.to, self.size).surely_apart(read) && (!writes_tag || Stretch::new(self.tag, 16).surely_apart(read))
    }

    /// Whether its message is a short one.
    ///
    /// # Safety
    /// The call is usual.
    #[inline(always)]
    unsafe fn is_short(self) -> bool {
        // SAFETY: the caller's promise.
        is_short(unsafe { &(*self.key).0 }, self.aad_size, self.size)
    }

    /// Whether its sizes are not usual. (Sums of such sizes may have wrapped, but then this is what is found.)
    #[inline(always)]
    fn is_much(self) -> bool {
        self.aad_size > MUCH || self.size > MUCH
    }

    /// Encrypts. Each call wants a `SHORT` of its own: of what is called twice, what `catch_unwind` calls is not inlined, and all goes through memory (4 ns).
    ///
    /// # Safety
    /// The call is usual and not much, and writes its tag.
    #[inline(always)]
    unsafe fn seal<const SHORT: bool>(self) -> c_int {
        status(|| {
            // SAFETY: the caller's promise; what is written lies apart.
            let (key, nonce, aad, to) = unsafe {
                let (aad, to) = (slice::from_raw_parts(self.aad, self.aad_size), slice::from_raw_parts_mut(self.to, self.size));
                (&(*self.key).0, &*self.nonce.cast::<[u8; 12]>(), aad, to)
            };
            // As a number: a `Result` of sixteen bytes is stored in pieces, and whoever loads it as a whole waits for them.
            let made = if self.to.cast_const() == self.from {
                u128::from_ne_bytes(key.seal(nonce, aad, to)?.0)
            } else {
                // SAFETY: likewise.
                u128::from_ne_bytes(key.seal_detached_to(nonce, aad, unsafe { slice::from_raw_parts(self.from, self.size) }, to)?.0)
            };
            // SAFETY: likewise.
            unsafe { self.tag.cast_mut().cast::<[u8; 16]>().write(made.to_ne_bytes()) };
            Ok(())
        })
    }

    /// Decrypts, likewise.
    ///
    /// # Safety
    /// The call is usual and not much, and reads its tag.
    #[inline(always)]
    unsafe fn open<const SHORT: bool>(self) -> c_int {
        status(|| {
            // SAFETY: the caller's promise; what is written lies apart, but for the tag, which is copied.
            let (key, nonce, aad, tag, to) = unsafe {
                let (aad, to) = (slice::from_raw_parts(self.aad, self.aad_size), slice::from_raw_parts_mut(self.to, self.size));
                (&(*self.key).0, &*self.nonce.cast::<[u8; 12]>(), aad, Tag(*self.tag.cast::<[u8; 16]>()), to)
            };
            if self.to.cast_const() == self.from {
                return Ok(key.open(nonce, aad, to, &tag)?);
            }
            // SAFETY: likewise.
            Ok(key.open_detached_to(nonce, aad, unsafe { slice::from_raw_parts(self.from, self.size) }, to, &tag)?)
        })
    }
}

/// Encrypts a message (SP 800-38D, section 7.1).
///
/// `nonce` has `nonce_size` bytes: 12, or any other number from 1 on. **The same nonce must never be used twice with one key.** `text` has
/// `text_size` bytes, and as many are written to `ciphertext`, which is `text` itself or does not overlap it; 16 bytes are written to `tag`.
/// What is written overlaps neither `aad` nor `nonce`, nor each other.
///
/// Returns `FASTGCM_INVALID_LENGTH` (an empty nonce), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP`, `FASTGCM_NULL`: then nothing is written.
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
            call.seal::<true>()
        } else {
            seal_long(key, nonce, nonce_size, aad, aad_size, text, text_size, ciphertext, tag)
        }
    }
}

/// The same of a usual call whose message is not short: it wants a frame, and more registers.
///
/// # Safety
/// As said.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
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
            call.seal::<false>()
        }
    }
}

/// The same of all calls that are not usual. (Cold: else the optimiser takes the usual ones for rare, and inlines nothing there.)
///
/// # Safety
/// As said.
#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
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
        let (key, nonce, aad, text) = unsafe { (self::key(key)?, read(nonce, nonce_size)?, read(aad, aad_size)?, read(text, text_size)?) };
        let output = Output::new(ciphertext, text_size)?.apart(aad)?.apart(nonce)?;
        let tag = Output::new(tag, 16)?.apart(aad)?.apart(nonce)?.apart(text)?;
        let place = output.place(text)?;
        // SAFETY: of the text nothing is read through another slice if it is the same.
        let output = unsafe { output.slice() };
        let tag = tag.apart(output)?;
        let nonce = Nonce::any(nonce)?;
        // As a number: a `Result` of sixteen bytes is stored in pieces, and loading it as a whole waits for them (7 ns).
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
/// `ciphertext` has `ciphertext_size` bytes, and as many are written to `text`, which is `ciphertext` itself or does not overlap it. `tag` has
/// `tag_size` bytes: 16, or the first 12 to 15, 8 or 4 of a tag; whoever has messages of several lengths of tags must not let the sender choose.
/// `text` overlaps neither `aad` nor `nonce`.
///
/// Returns `FASTGCM_UNAUTHENTIC` if anything is not as it was sealed: `text` is all zero. With `FASTGCM_INVALID_LENGTH` (of the nonce or the tag),
/// `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP`, `FASTGCM_NULL` nothing is written.
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
                return call.open::<true>();
            }
            // What has been loaded stays in no register: each that a function saves is two instructions.
            compiler_fence(SeqCst);
            if !call.is_much() {
                return call.open::<false>();
            }
        }
        open_otherwise(key, nonce, nonce_size, aad, aad_size, ciphertext, ciphertext_size, tag, tag_size, text)
    }
}

/// The same of all that is not usual.
///
/// # Safety
/// As said.
#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
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
            unsafe { (self::key(key)?, read(nonce, nonce_size)?, read(aad, aad_size)?, read(ciphertext, ciphertext_size)?) };
        // SAFETY: likewise. It is copied, so that it may lie anywhere.
        let tag = unsafe { Expected::read(tag, tag_size)? };
        let output = Output::new(text, ciphertext_size)?.apart(aad)?.apart(nonce)?;
        let place = output.place(from)?;
        let nonce = Nonce::any(nonce)?;
        // SAFETY: of the text nothing is read through another slice if it is the same.
        let output = unsafe { output.slice() };
        tag.open(key, nonce, aad, place, output)
    })
}

/// A tag of a length that the standard allows.
struct Expected([u8; 16], usize);

impl Expected {
    /// # Safety
    /// So many bytes are readable there.
    unsafe fn read(tag: *const u8, size: usize) -> Result<Self, fastgcm_status> {
        if !matches!(size, 4 | 8 | 12..=16) {
            return Err(FASTGCM_INVALID_LENGTH);
        }
        let mut bytes = [0; 16];
        // SAFETY: the caller's promise.
        bytes[..size].copy_from_slice(unsafe { read(tag, size)? });
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

/// The bytes of a list of slices, each of which `each` accepts, for `then`. Few are put on the stack.
/// # Safety
/// As many slices are there, each with as many bytes as it says.
unsafe fn with_list<T>(
    list: *const fastgcm_slice,
    count: usize,
    each: impl Fn(&[u8]) -> Result<(), fastgcm_status>,
    then: impl FnOnce(&[&[u8]]) -> Result<T, fastgcm_status>,
) -> Result<T, fastgcm_status> {
    if count > 0 && list.is_null() {
        return Err(FASTGCM_NULL);
    }
    if count > isize::MAX as usize / size_of::<fastgcm_slice>() {
        return Err(FASTGCM_TOO_LONG);
    }
    let mut few = [const { MaybeUninit::<&[u8]>::uninit() }; 16];
    let mut many = Vec::new();
    let slices = if count <= few.len() {
        &mut few[..count]
    } else {
        many.try_reserve_exact(count).map_err(|_| FASTGCM_NO_MEMORY)?;
        many.spare_capacity_mut()[..count].as_mut()
    };
    for (i, slice) in slices.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        let piece = unsafe { read((*list.add(i)).data, (*list.add(i)).size)? };
        each(piece)?;
        slice.write(piece);
    }
    // SAFETY: each has just been written.
    then(unsafe { slice::from_raw_parts(slices.as_ptr().cast(), count) })
}

/// With a nonce that has not 12 bytes, about which the code for the others need not ask.
#[cold]
#[inline(never)]
fn seal_gathered_otherwise(key: &Key, nonce: Nonce<'_>, aad: &[&[u8]], text: &[&[u8]], output: &mut [u8]) -> Result<u128, fastgcm_status> {
    Ok(u128::from_ne_bytes(key.seal_gathered(nonce, aad, text, &[], output)?.0))
}

/// Likewise.
#[cold]
#[inline(never)]
fn open_gathered_otherwise(
    key: &Key,
    nonce: Nonce<'_>,
    aad: &[&[u8]],
    from: &[&[u8]],
    output: &mut [u8],
    tag: &Tag,
) -> Result<(), fastgcm_status> {
    Ok(key.open_gathered(nonce, aad, from, output, tag)?)
}

/// Encrypts a message whose AAD and text lie in several buffers, one behind the other: `aad_count` and `text_count` of them. `ciphertext` has
/// `ciphertext_size` bytes, as many as the text has in all, and overlaps nothing that is read. Everything else is as for `fastgcm_seal`.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_seal_gathered(
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const fastgcm_slice,
    aad_count: usize,
    text: *const fastgcm_slice,
    text_count: usize,
    ciphertext: *mut u8,
    ciphertext_size: usize,
    tag: *mut u8,
) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe {
        let (key, nonce) = (self::key(key)?, read(nonce, nonce_size)?);
        let output = Output::new(ciphertext, ciphertext_size)?.apart(nonce)?;
        let tag = Output::new(tag, 16)?.apart(nonce)?;
        let apart = |piece: &[u8]| {
            output.apart(piece)?;
            tag.apart(piece)?;
            Ok(())
        };
        with_list(aad, aad_count, apart, |aad| {
            with_list(text, text_count, apart, |text| {
                let output = output.slice();
                let tag = tag.apart(output)?;
                // As a number, as above.
                let made = match <&[u8; 12]>::try_from(nonce) {
                    Ok(nonce) => u128::from_ne_bytes(key.seal_gathered(nonce, aad, text, &[], output)?.0),
                    Err(_) => seal_gathered_otherwise(key, Nonce::any(nonce)?, aad, text, output)?,
                };
                tag.0.cast::<[u8; 16]>().write(made.to_ne_bytes());
                Ok(())
            })
        })
    })
}

/// Decrypts a message whose AAD and ciphertext lie in several buffers. `text` has `text_size` bytes, as many as the ciphertext has in all, and
/// overlaps nothing that is read but the tag, which has 16 bytes. Everything else is as for `fastgcm_open`.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_open_gathered(
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const fastgcm_slice,
    aad_count: usize,
    ciphertext: *const fastgcm_slice,
    ciphertext_count: usize,
    tag: *const u8,
    text: *mut u8,
    text_size: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe {
        let (key, nonce, tag) = (self::key(key)?, read(nonce, nonce_size)?, Expected::read(tag, 16)?);
        let output = Output::new(text, text_size)?.apart(nonce)?;
        let apart = |piece: &[u8]| output.apart(piece).map(drop);
        with_list(aad, aad_count, apart, |aad| {
            with_list(ciphertext, ciphertext_count, apart, |from| match <&[u8; 12]>::try_from(nonce) {
                Ok(nonce) => Ok(key.open_gathered(nonce, aad, from, output.slice(), &Tag(tag.0))?),
                Err(_) => open_gathered_otherwise(key, Nonce::any(nonce)?, aad, from, output.slice(), &Tag(tag.0)),
            })
        })
    })
}

/// Encrypts `count` packets, side by side where that is faster: short ones of the same lengths. `packets` is NULL only if `count` is 0.
///
/// What is written (each packet's `to` and the list itself) overlaps nothing else that is read or written: AAD may be shared, texts may not. A packet's
/// `from` may be its own `to`.
///
/// Returns `FASTGCM_OVERLAP`, `FASTGCM_NULL`, `FASTGCM_TOO_LONG`, `FASTGCM_NO_MEMORY`: then nothing is written, in no packet. Otherwise each packet has its
/// tag and its status, and the result is `FASTGCM_OK`.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_seal_batch(key: *const fastgcm_key, packets: *mut fastgcm_packet, count: usize) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe { batch::<true>(self::key(key)?, packets, count) })
}

/// Decrypts and verifies `count` packets. As for `fastgcm_seal_batch`; each packet's `tag` has 16 bytes and is only read.
///
/// Returns `FASTGCM_UNAUTHENTIC` if any packet is not as it was sealed: its `status` says so, and its text is all zero. All others are opened.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_open_batch(key: *const fastgcm_key, packets: *mut fastgcm_packet, count: usize) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe { batch::<false>(self::key(key)?, packets, count) })
}

/// # Safety
/// So many packets are readable and writable there, each with what it points to.
unsafe fn batch<const SEAL: bool>(key: &Key, packets: *mut fastgcm_packet, count: usize) -> Result<(), fastgcm_status> {
    if count == 0 {
        return Ok(());
    }
    if packets.is_null() {
        return Err(FASTGCM_NULL);
    }
    let list_size = count.checked_mul(size_of::<fastgcm_packet>()).filter(|size| isize::try_from(*size).is_ok()).ok_or(FASTGCM_TOO_LONG)?;
    // SAFETY: the caller's promise. It is shared until it is known that nothing else lies there.
    let list = unsafe { slice::from_raw_parts(packets, count) };
    let mut order = InOrder::of((packets.addr(), list_size));
    for packet in list {
        // SAFETY: likewise.
        let (aad, from) = unsafe { (read(packet.aad, packet.aad_size)?, read(packet.from, packet.size)?) };
        let to = Output::new(packet.to, packet.size)?;
        if aad.len() as u64 > fastgcm::limits::AAD || from.len() as u64 > fastgcm::limits::TEXT {
            return Err(FASTGCM_TOO_LONG);
        }
        order.packet(aad, from, to);
    }
    if !order.are_apart() && !Apart::of(list, list_size)?.are_apart() {
        return Err(FASTGCM_OVERLAP);
    }
    let mut all = Ok(());
    // A few at a time, on the stack.
    for first in (0..count).step_by(TOGETHER) {
        let mut messages = [const { MaybeUninit::<Packet<'_>>::uninit() }; TOGETHER];
        let here = TOGETHER.min(count - first);
        for (i, message) in messages[..here].iter_mut().enumerate() {
            // SAFETY: the caller's promise; of what is written there is one slice, as has just been seen.
            unsafe {
                let packet = &*packets.add(first + i);
                let (aad, tag) = (read(packet.aad, packet.aad_size)?, Tag(packet.tag));
                let to = Output::new(packet.to, packet.size)?.slice();
                message.write(if ptr::eq(packet.from, packet.to) || to.is_empty() {
                    Packet::in_place(packet.nonce, aad, to, tag)
                } else {
                    Packet::to(packet.nonce, aad, read(packet.from, packet.size)?, to, tag)
                });
            }
        }
        // SAFETY: so many were just written; and none has anything to drop.
        let messages = unsafe { slice::from_raw_parts_mut(messages.as_mut_ptr().cast::<Packet<'_>>(), here) };
        all = all.and(if SEAL { key.seal_batch(messages) } else { key.open_batch(messages) });
        for (i, message) in messages.iter().enumerate() {
            // SAFETY: the caller's promise; nothing reads this packet of the list any more.
            let packet = unsafe { &mut *packets.add(first + i) };
            packet.status = message.status.map_or_else(fastgcm_status::from, |()| FASTGCM_OK) as c_int;
            if SEAL && message.status.is_ok() {
                packet.tag = message.tag.0;
            }
        }
    }
    Ok(all?)
}

/// Packets that the library is given at a time.
const TOGETHER: usize = 16;

/// A first look at the places of a batch, which sees that they are apart if what is written lies in the order of the packets, and what is read either
/// beside all of that, or just before what is written for the same packet. It takes a fortieth of the time that sorting takes.
struct InOrder {
    /// What is written lies from the first of these up to the last.
    written: (usize, usize),
    /// AAD, and text that is read.
    read: [(usize, usize); 2],
    list: (usize, usize),
    apart: bool,
}

impl InOrder {
    fn of((begin, size): (usize, usize)) -> Self {
        Self { written: (usize::MAX, 0), read: [(usize::MAX, 0); 2], list: (begin, begin + size), apart: true }
    }

    #[inline(always)]
    fn packet(&mut self, aad: &[u8], from: &[u8], to: Output) {
        let (begin, end) = (to.0.addr(), to.0.addr() + to.1);
        let behind = self.written.1;
        if to.1 > 0 {
            self.apart &= begin >= behind;
            self.written = (self.written.0.min(begin), end);
        }
        let mut read = |bytes: &[u8], which: usize| {
            let bytes = (bytes.as_ptr().addr(), bytes.as_ptr().addr() + bytes.len());
            let between = behind <= bytes.0 && bytes.1 <= begin; // (never, where nothing is written: then `begin` is 1)
            if !between && bytes.0 < bytes.1 {
                self.read[which] = (self.read[which].0.min(bytes.0), self.read[which].1.max(bytes.1));
            }
            self.apart &= bytes.1 <= self.list.0 || bytes.0 >= self.list.1 || bytes.0 == bytes.1;
        };
        read(aad, 0);
        if !ptr::eq(to.0, from.as_ptr()) {
            read(from, 1);
        }
    }

    fn are_apart(&self) -> bool {
        let apart = |(begin, end): (usize, usize), other: (usize, usize)| end <= other.0 || other.1 <= begin;
        self.apart && self.read.iter().all(|&read| apart(self.written, read)) && apart(self.written, self.list)
    }
}

/// Places in memory, to be told whether what is written overlaps anything.
struct Apart {
    /// Begin, end, and whether it is written.
    places: Vec<(usize, usize, bool)>,
}

impl Apart {
    /// What a batch reads and writes, with its list, which has so many bytes.
    fn of(list: &[fastgcm_packet], list_size: usize) -> Result<Self, fastgcm_status> {
        let mut places = Vec::new();
        places.try_reserve_exact(3 * list.len() + 1).map_err(|_| FASTGCM_NO_MEMORY)?;
        let mut new = Self { places };
        new.written(list.as_ptr().addr(), list_size);
        for packet in list {
            new.read(packet.aad.addr(), packet.aad_size);
            new.written(packet.to.addr(), packet.size);
            if !ptr::eq(packet.to, packet.from) {
                new.read(packet.from.addr(), packet.size);
            }
        }
        Ok(new)
    }

    fn read(&mut self, begin: usize, size: usize) {
        if size > 0 {
            self.places.push((begin, begin + size, false));
        }
    }

    fn written(&mut self, begin: usize, size: usize) {
        if size > 0 {
            self.places.push((begin, begin + size, true));
        }
    }

    /// In the order in which they begin, what is written begins behind all that came before, and what is read behind all that was written.
    fn are_apart(mut self) -> bool {
        self.places.sort_unstable(); // which looks first whether they are sorted
        let (mut any, mut written) = (0, 0);
        self.places.iter().all(|&(begin, end, writes)| {
            let apart = begin >= if writes { any } else { written };
            any = any.max(end);
            written = if writes { written.max(end) } else { written };
            apart
        })
    }
}

/// Bytes of memory that a message in pieces needs.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_pieces_size() -> usize {
    size_of::<fastgcm_pieces>()
}

/// What the address of a message in pieces must be a multiple of.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_pieces_align() -> usize {
    align_of::<fastgcm_pieces>()
}

/// Begins a message in pieces in the caller's memory, which has `place_size` bytes; `fastgcm_pieces_wipe` ends it. After it come AAD, then text,
/// then `fastgcm_pieces_finish` or `fastgcm_pieces_verify`, all with the same key. Whole messages are faster.
///
/// Returns `FASTGCM_PLACE`, `FASTGCM_INVALID_LENGTH` (an empty nonce), `FASTGCM_TOO_LONG`, `FASTGCM_NULL`: then nothing is written.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_init(
    pieces_place: *mut fastgcm_pieces,
    place_size: usize,
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
) -> c_int {
    status(|| {
        let place = place(pieces_place, place_size)?;
        // SAFETY: the caller's promise.
        let (key, nonce) = unsafe { (self::key(key)?, read(nonce, nonce_size)?) };
        place.write(fastgcm_pieces(Pieces::new(key, Nonce::any(nonce)?)));
        Ok(())
    })
}

/// The same on the heap: `*pieces_made` is the message, or NULL if the call fails. `fastgcm_pieces_free` ends it.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_new(
    pieces_made: *mut *mut fastgcm_pieces,
    key: *const fastgcm_key,
    nonce: *const u8,
    nonce_size: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { on_heap(pieces_made, |place, size| fastgcm_pieces_init(place, size, key, nonce, nonce_size)) }
}

/// What a call for a message in pieces works on.
/// # Safety
/// Each is null, or one that was made.
unsafe fn both<'a>(pieces: *mut fastgcm_pieces, key: *const fastgcm_key) -> Result<(&'a mut Pieces, &'a Key), fastgcm_status> {
    // SAFETY: the caller's promise.
    unsafe { Ok((&mut pieces.as_mut().ok_or(FASTGCM_NULL)?.0, self::key(key)?)) }
}

/// The next `aad_size` bytes of AAD. Returns `FASTGCM_OUT_OF_ORDER`, `FASTGCM_TOO_LONG`, `FASTGCM_NULL`: then they are not taken.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_aad(
    pieces: *mut fastgcm_pieces,
    key: *const fastgcm_key,
    aad: *const u8,
    aad_size: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe {
        let (pieces, key) = both(pieces, key)?;
        Ok(pieces.aad(key, read(aad, aad_size)?)?)
    })
}

/// Encrypts the next `text_size` bytes of text to `ciphertext`, which is `text` itself or does not overlap it. Returns `FASTGCM_OUT_OF_ORDER`,
/// `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP`, `FASTGCM_NULL`: then they are not taken, and nothing is written.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_seal(
    pieces: *mut fastgcm_pieces,
    key: *const fastgcm_key,
    text: *const u8,
    text_size: usize,
    ciphertext: *mut u8,
) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe {
        let ((pieces, key), from) = (both(pieces, key)?, read(text, text_size)?);
        let output = Output::new(ciphertext, text_size)?;
        match output.place(from)? {
            Place::Same => Ok(pieces.seal(key, output.slice())?),
            Place::Apart(from) => Ok(pieces.seal_to(key, from, output.slice())?),
        }
    })
}

/// Decrypts likewise. **The text is not verified** before `fastgcm_pieces_verify` has returned `FASTGCM_OK`: until then it must have no effect, and
/// if it returns anything else, the caller wipes it.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_open(
    pieces: *mut fastgcm_pieces,
    key: *const fastgcm_key,
    ciphertext: *const u8,
    ciphertext_size: usize,
    text: *mut u8,
) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe {
        let ((pieces, key), from) = (both(pieces, key)?, read(ciphertext, ciphertext_size)?);
        let output = Output::new(text, ciphertext_size)?;
        match output.place(from)? {
            Place::Same => Ok(pieces.open(key, output.slice())?),
            Place::Apart(from) => Ok(pieces.open_to(key, from, output.slice())?),
        }
    })
}

/// Ends a message that was sealed, and writes 16 bytes to `tag`. Returns `FASTGCM_OUT_OF_ORDER`, `FASTGCM_NULL`: then nothing is written.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_finish(pieces: *mut fastgcm_pieces, key: *const fastgcm_key, tag: *mut u8) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe {
        let ((pieces, key), tag) = (both(pieces, key)?, Output::new(tag, 16)?);
        let made = pieces.finish(key)?;
        tag.slice().copy_from_slice(&made.0);
        Ok(())
    })
}

/// Ends a message that was opened, and compares its tag in constant time: `tag_size` as for `fastgcm_open`. Returns `FASTGCM_UNAUTHENTIC` if anything
/// is not as it was sealed. With `FASTGCM_INVALID_LENGTH`, `FASTGCM_OUT_OF_ORDER`, `FASTGCM_NULL` the message has not ended.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_verify(
    pieces: *mut fastgcm_pieces,
    key: *const fastgcm_key,
    tag: *const u8,
    tag_size: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe {
        let ((pieces, key), tag) = (both(pieces, key)?, Expected::read(tag, tag_size)?);
        Ok(pieces.verify(key, &tag.0[..tag.1])?)
    })
}

/// Wipes a message in pieces, ended or not: there is none any more. NULL is allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_wipe(pieces: *mut fastgcm_pieces) {
    if !pieces.is_null() {
        status(|| {
            // SAFETY: the caller's promise.
            unsafe { ptr::drop_in_place(pieces) };
            Ok(())
        });
    }
}

/// Wipes a message in pieces that `fastgcm_pieces_new` has made, and frees its memory. NULL is allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_free(pieces: *mut fastgcm_pieces) {
    if !pieces.is_null() {
        status(|| {
            // SAFETY: the caller's promise: `fastgcm_pieces_new` has allocated it as a `Box` would.
            drop(unsafe { Box::from_raw(pieces) });
            Ok(())
        });
    }
}

/// The names of back ends, as C has them.
fn name(backend: Backend) -> &'static CStr {
    match backend {
        Backend::VaesAvx512 => c"vaes-avx512",
        Backend::VaesAvx2 => c"vaes-avx2",
        Backend::AesniAvx => c"aesni-avx",
        Backend::AesniSse => c"aesni-sse",
        Backend::VpaesSsse3 => c"vpaes-ssse3",
        Backend::AesNeonEor3 => c"aes-neon-eor3",
        Backend::AesNeon => c"aes-neon",
        Backend::AesZvkned => c"aes-zvkned",
        Backend::Portable => c"portable",
        _ => c"another",
    }
}

/// The name of the back end at that place among those that this machine can run, best first; NULL behind the last. The string is constant.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_backend(index: usize) -> *const c_char {
    Backend::available().nth(index).map_or(ptr::null(), |backend| name(backend).as_ptr())
}

/// The name of the back end that a key uses; NULL if the key is NULL. The string is constant.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_key_backend(key: *const fastgcm_key) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { self::key(key) }.map_or(ptr::null(), |key| name(key.backend()).as_ptr())
}

/// The version of this library, as "0.1.0". The string is constant.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// What a status means, in English. The string is constant.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_text(status: c_int) -> *const c_char {
    let text = match status {
        0 => c"done",
        1 => c"the message is not authentic",
        2 => c"a key, nonce, tag or buffer has an invalid length",
        3 => c"a text, AAD or nonce is longer than AES-GCM allows",
        4 => c"this machine cannot run that back end",
        5 => c"a message in pieces is out of order, or has another key",
        6 => c"a pointer is NULL",
        7 => c"buffers overlap",
        8 => c"the memory for a key or a message is too small, or not aligned",
        9 => c"there is no memory",
        10 => c"the self-test failed",
        11 => c"a fault of this library",
        _ => c"an unknown status",
    };
    text.as_ptr()
}

/// Seals and opens known answers on each back end of this machine, and a forgery, in less than a millisecond. Returns `FASTGCM_OK` or
/// `FASTGCM_SELFTEST`.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_selftest() -> c_int {
    status(|| {
        let right = Backend::available().all(|backend| KNOWN.iter().all(|(key, tag)| known(backend, key, tag) == Ok(())));
        if right { Ok(()) } else { Err(FASTGCM_SELFTEST) }
    })
}

/// Keys and tags of test cases 4, 10 and 16 of "The Galois/Counter Mode of Operation" (McGrew, Viega), which share nonce, AAD and text.
const KNOWN: [(&[u8], u128); 3] = [
    (&KEY, 0x5bc94fbc3221a5db94fae95ae7121a47),
    (&KEY_192, 0x2519498e80f1478f37ba55bd6d27618c),
    (&KEY_256, 0x76fc6ece0f4e1768cddf8853bb2d551b),
];
const KEY: [u8; 16] = 0xfeffe9928665731c6d6a8f9467308308u128.to_be_bytes();
const KEY_192: [u8; 24] = twice();
const KEY_256: [u8; 32] = twice();
const NONCE: [u8; 12] = [0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad, 0xde, 0xca, 0xf8, 0x88];
const AAD: [u8; 20] =
    [0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2];
const TEXT: [u8; 60] = {
    let blocks: [u128; 4] = [
        0xd9313225f88406e5a55909c5aff5269a,
        0x86a7a9531534f7da2e4c303d8a318a72,
        0x1c3c0c95956809532fcf0e2449a6b525,
        0xb16aedf5aa0de657ba637b3900000000,
    ];
    let mut text = [0; 60];
    let mut i = 0;
    while i < 60 {
        text[i] = blocks[i / 16].to_be_bytes()[i % 16];
        i += 1;
    }
    text
};

/// The longer keys go on with the shorter one.
const fn twice<const N: usize>() -> [u8; N] {
    let mut key = [0; N];
    let mut i = 0;
    while i < N {
        key[i] = KEY[i % 16];
        i += 1;
    }
    key
}

fn known(backend: Backend, key: &[u8], tag: &u128) -> Result<(), Error> {
    let key = Key::with_backend(key, backend)?;
    let mut text = TEXT;
    let made = key.seal(NONCE, &AAD, &mut text)?;
    if made.0 != tag.to_be_bytes() || text == TEXT {
        return Err(Error::Unauthentic);
    }
    let mut forged = made;
    forged.0[15] ^= 1;
    let refused = key.open(NONCE, &AAD, &mut { text }, &forged);
    key.open(NONCE, &AAD, &mut text, &made)?;
    if refused == Err(Error::Unauthentic) && text == TEXT { Ok(()) } else { Err(Error::Unauthentic) }
}
