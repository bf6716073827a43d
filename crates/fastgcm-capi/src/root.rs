//! Root keys: AES-256-GCM with a separate key for each message.

use crate::{
    fastgcm_root_key,
    fastgcm_scheme::*,
    fastgcm_status::{self, *},
    key::backend_of,
    memory::{Output, Place, free, on_heap, place, read, wipe},
    status,
};
use fastgcm::{
    Backend, KcXaes256Gcm, RootKey, Scheme, Xaes256Gcm,
    limits::{AAD, TEXT},
};
use std::{
    ffi::{c_char, c_int},
    fmt,
    mem::{ManuallyDrop, MaybeUninit},
    ptr,
};

/// The length of a root key in bytes.
pub const FASTGCM_ROOT_KEY_BYTES: usize = 32;
/// The length in bytes of a nonce of XAES-256-GCM and of KC-XAES-256-GCM.
pub const FASTGCM_XAES_256_GCM_NONCE: usize = 24;
/// The length in bytes of a tag of XAES-256-GCM.
pub const FASTGCM_XAES_256_GCM_TAG: usize = 16;
/// The length in bytes of a tag of KC-XAES-256-GCM: 16 bytes of tag, then 32 bytes of commitment.
pub const FASTGCM_KC_XAES_256_GCM_TAG: usize = 48;

const XAES: c_int = FASTGCM_XAES_256_GCM as c_int;
const KC_XAES: c_int = FASTGCM_KC_XAES_256_GCM as c_int;

/// The root key of a scheme.
pub(crate) struct Root {
    /// A `fastgcm_scheme`, or 0 when the key has ended.
    scheme: c_int,
    key: Keys,
}

/// The key of the scheme that `Root` names. It is a union, because a variant of an `enum` is not made in its final place, and a move leaves
/// round keys on the stack.
union Keys {
    xaes: ManuallyDrop<Xaes256Gcm>,
    kc_xaes: ManuallyDrop<KcXaes256Gcm>,
}

impl Root {
    fn init(
        place: &mut MaybeUninit<Self>,
        scheme: c_int,
        key: &[u8; FASTGCM_ROOT_KEY_BYTES],
        backend: Backend,
    ) -> Result<(), fastgcm_status> {
        let root = place.as_mut_ptr();
        // SAFETY: both fields lie there, nobody else borrows them, and a `ManuallyDrop` is what it contains.
        unsafe {
            let keys = &raw mut (*root).key;
            match scheme {
                XAES => {
                    RootKey::init_in_place(&mut *(&raw mut (*keys).xaes).cast::<MaybeUninit<Xaes256Gcm>>(), key, backend)?;
                }
                KC_XAES => {
                    RootKey::init_in_place(&mut *(&raw mut (*keys).kc_xaes).cast::<MaybeUninit<KcXaes256Gcm>>(), key, backend)?;
                }
                _ => return Err(FASTGCM_UNAVAILABLE),
            }
            (&raw mut (*root).scheme).write(scheme);
        }
        Ok(())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // SAFETY: `init` has made this field.
        unsafe {
            match self.scheme {
                XAES => ManuallyDrop::drop(&mut self.key.xaes),
                KC_XAES => ManuallyDrop::drop(&mut self.key.kc_xaes),
                _ => {} // it has ended before
            }
            // For a call that comes too late.
            (&raw mut self.scheme).write_volatile(0);
        }
    }
}

impl fmt::Debug for Root {
    /// Writes the scheme, and nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scheme.fmt(f)
    }
}

/// Returns how many bytes of memory a root key needs, whatever its scheme.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_root_key_size() -> usize {
    size_of::<fastgcm_root_key>()
}

/// Returns the alignment of a root key: its address must be a multiple of this number.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_root_key_align() -> usize {
    align_of::<fastgcm_root_key>()
}

/// Makes a root key in the caller's memory, which has `place_size` bytes. `fastgcm_root_key_wipe` ends the key.
///
/// `scheme` is a `fastgcm_scheme`. **A key is for one scheme**: 32 bytes must not be the root key of two schemes. `key` has `key_size`
/// bytes: 32. They are only read. `backend` is NULL for the machine's best back end, or the name of a back end (`fastgcm_backend`).
///
/// If the function returns `FASTGCM_PLACE`, `FASTGCM_INVALID_LENGTH`, `FASTGCM_UNAVAILABLE` (the scheme or the back end) or `FASTGCM_NULL`,
/// nothing is written, and there is no key.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_root_key_init(
    key_place: *mut fastgcm_root_key,
    place_size: usize,
    scheme: c_int,
    key: *const u8,
    key_size: usize,
    backend: *const c_char,
) -> c_int {
    status(|| {
        let place = place(key_place, place_size)?;
        if key_size != FASTGCM_ROOT_KEY_BYTES {
            return Err(FASTGCM_INVALID_LENGTH);
        }
        // SAFETY: the caller's promise.
        let (key, backend) = unsafe { (read(key, key_size, 32)?, backend_of(backend)?) };
        let key = key.try_into().map_err(|_| FASTGCM_INVALID_LENGTH)?;
        // SAFETY: a `fastgcm_root_key` is a `Root`, and nothing else.
        let place = unsafe { &mut *ptr::from_mut(place).cast::<MaybeUninit<Root>>() };
        Root::init(place, scheme, key, backend)
    })
}

const _: () = assert!(size_of::<fastgcm_root_key>() == size_of::<Root>() && align_of::<fastgcm_root_key>() == align_of::<Root>());

/// Wipes a root key that `fastgcm_root_key_init` has made. The key has then ended, and its memory may be used for something else. NULL is
/// allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_root_key_wipe(key: *mut fastgcm_root_key) {
    // SAFETY: the caller's promise.
    unsafe { wipe(key) }
}

/// Makes a root key on the heap: `*key_made` is the key, or NULL if the call fails. `fastgcm_root_key_free` ends the key. Everything else
/// is as for `fastgcm_root_key_init`.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_root_key_new(
    key_made: *mut *mut fastgcm_root_key,
    scheme: c_int,
    key: *const u8,
    key_size: usize,
    backend: *const c_char,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { on_heap(key_made, |place, size| fastgcm_root_key_init(place, size, scheme, key, key_size, backend)) }
}

/// Wipes a root key that `fastgcm_root_key_new` has made, and frees its memory. NULL is allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_root_key_free(key: *mut fastgcm_root_key) {
    // SAFETY: the caller's promise: `fastgcm_root_key_new` has made it.
    unsafe { free(key) }
}

/// Encrypts a message.
///
/// `nonce` has `nonce_size` bytes, the length of the scheme's nonces: 24. **A nonce must be unique for every message under one key**; 24
/// random bytes are unique for 2^80 messages. `text` has `text_size` bytes, and the function writes as many to `ciphertext`, which is
/// `text` itself or does not overlap it. It writes `tag_size` bytes to `tag`, the length of the scheme's tags: 16, or 48 if the scheme
/// commits to its key. `tag` may be `ciphertext + text_size`. The outputs must overlap neither `aad`, `nonce` nor `key`, nor each other.
///
/// If the function returns `FASTGCM_INVALID_LENGTH` (of the nonce or the tag), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP`, `FASTGCM_NULL` or
/// `FASTGCM_OUT_OF_ORDER` (the key was wiped), nothing is written.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_root_seal(
    key: *const fastgcm_root_key,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const u8,
    aad_size: usize,
    text: *const u8,
    text_size: usize,
    ciphertext: *mut u8,
    tag: *mut u8,
    tag_size: usize,
) -> c_int {
    // SAFETY: the caller's promise; and `Root::init` has made the key of that scheme.
    status(|| unsafe {
        let root = &key.as_ref().ok_or(FASTGCM_NULL)?.0;
        let call = Call { root, nonce, nonce_size, aad, aad_size, from: text, to: ciphertext, size: text_size };
        match root.scheme {
            XAES => call.seal(&root.key.xaes, tag, tag_size),
            KC_XAES => call.seal(&root.key.kc_xaes, tag, tag_size),
            _ => Err(FASTGCM_OUT_OF_ORDER),
        }
    })
}

/// Decrypts a message, and verifies it: tag and commitment together, in constant time.
///
/// `nonce` has `nonce_size` bytes, the length of the scheme's nonces: 24. `ciphertext` has `ciphertext_size` bytes, and the function writes
/// as many to `text`, which is `ciphertext` itself or does not overlap it. `tag` has `tag_size` bytes, the length of the scheme's tags: 16,
/// or 48 if the scheme commits to its key. `text` must overlap neither `aad`, `nonce` nor `key`. `fastgcm_open` says what nobody may write to
/// during the call.
///
/// Returns `FASTGCM_UNAUTHENTIC` if anything differs from what was sealed; `text` is then all zero. If the function returns
/// `FASTGCM_INVALID_LENGTH` (of the nonce or the tag), `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP`, `FASTGCM_NULL` or `FASTGCM_OUT_OF_ORDER`
/// (the key was wiped), nothing is written.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_root_open(
    key: *const fastgcm_root_key,
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
    // SAFETY: the caller's promise; and `Root::init` has made the key of that scheme.
    status(|| unsafe {
        let root = &key.as_ref().ok_or(FASTGCM_NULL)?.0;
        let call = Call { root, nonce, nonce_size, aad, aad_size, from: ciphertext, to: text, size: ciphertext_size };
        match root.scheme {
            XAES => call.open(&root.key.xaes, tag, tag_size),
            KC_XAES => call.open(&root.key.kc_xaes, tag, tag_size),
            _ => Err(FASTGCM_OUT_OF_ORDER),
        }
    })
}

/// A call without its tag.
struct Call<'r> {
    root: &'r Root,
    nonce: *const u8,
    nonce_size: usize,
    aad: *const u8,
    aad_size: usize,
    from: *const u8,
    to: *mut u8,
    size: usize,
}

/// The buffers that are read, and the buffer that is written.
struct Buffers<'a, S: Scheme> {
    nonce: S::Nonce,
    aad: &'a [u8],
    from: &'a [u8],
    output: Output,
    /// Where the nonce is. Nothing that is written overlaps it.
    nonce_there: &'a [u8],
}

impl Call<'_> {
    /// # Safety
    /// Each buffer has as many bytes as the call says, if it is not null.
    unsafe fn buffers<'a, S: Scheme>(&self) -> Result<Buffers<'a, S>, fastgcm_status> {
        if self.nonce_size != size_of::<S::Nonce>() {
            return Err(FASTGCM_INVALID_LENGTH);
        }
        // SAFETY: the caller's promise.
        let (nonce_there, aad, from) =
            unsafe { (read(self.nonce, self.nonce_size, 24)?, read(self.aad, self.aad_size, AAD)?, read(self.from, self.size, TEXT)?) };
        let output = Output::new(self.to, self.size)?.apart(aad)?.apart(nonce_there)?.apart_from(self.root)?;
        let nonce = nonce_there.try_into().map_err(|_| FASTGCM_INVALID_LENGTH)?;
        Ok(Buffers { nonce, aad, from, output, nonce_there })
    }

    /// # Safety
    /// The promise of `buffers` holds, and this many bytes are writable at `tag`.
    unsafe fn seal<S: Scheme>(self, key: &RootKey<S>, tag: *mut u8, tag_size: usize) -> Result<(), fastgcm_status> {
        if tag_size != size_of::<S::Tag>() {
            return Err(FASTGCM_INVALID_LENGTH);
        }
        // SAFETY: the caller's promise.
        let Buffers { nonce, aad, from, output, nonce_there } = unsafe { self.buffers::<S>()? };
        let tag = Output::new(tag, tag_size)?.apart(aad)?.apart(nonce_there)?.apart(from)?.apart_from(self.root)?;
        let place = output.place(from)?;
        // SAFETY: if the two slices are one, the text is not read through the other one.
        let output = unsafe { output.slice() };
        let tag = tag.apart(output)?;
        let made = match place {
            Place::Same => key.seal(&nonce, aad, output)?,
            Place::Apart(text) => key.seal_detached_to(&nonce, aad, text, output)?,
        };
        // SAFETY: the caller's promise.
        unsafe { tag.slice() }.copy_from_slice(made.as_ref());
        Ok(())
    }

    /// # Safety
    /// The promise of `buffers` holds, and this many bytes are readable at `tag`.
    unsafe fn open<S: Scheme>(self, key: &RootKey<S>, tag: *const u8, tag_size: usize) -> Result<(), fastgcm_status> {
        if tag_size != size_of::<S::Tag>() {
            return Err(FASTGCM_INVALID_LENGTH);
        }
        // SAFETY: the caller's promise. The tag is copied, so it may lie anywhere.
        let tag = unsafe { read(tag, tag_size, 48)? }.try_into().map_err(|_| FASTGCM_INVALID_LENGTH)?;
        // SAFETY: the caller's promise.
        let Buffers { nonce, aad, from, output, .. } = unsafe { self.buffers::<S>()? };
        let place = output.place(from)?;
        // SAFETY: if the two slices are one, the text is not read through the other one.
        let output = unsafe { output.slice() };
        match place {
            Place::Same => key.open(&nonce, aad, output, &tag)?,
            Place::Apart(from) => key.open_detached_to(&nonce, aad, from, output, &tag)?,
        }
        Ok(())
    }
}
