//! The calls. Memory that may be an array of Java comes as a beginning and a place in it (`at`), because Java makes a slice more slowly
//! than we add. The caller has checked that everything lies within its memory, and Java that output is input or does not overlap it. A
//! message has its tag behind it. A result is 0 or a number for what is wrong; Java then throws the exception.

use fastgcm::{Backend, Error, KcXaes, Key, Nonce, RootKey, Scheme, ShortTag, Tag, Xaes, hazmat::Pieces};
use std::{
    alloc::{Layout, alloc, dealloc},
    ffi::c_int,
    mem::MaybeUninit,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr, slice,
    sync::OnceLock,
};

/// The message is not what the key's owner sealed.
const UNAUTHENTIC: c_int = 1;
/// Anything else: a fault of ours, or of Java's checks.
pub(crate) const FAULT: c_int = 2;

static BACKEND: OnceLock<Backend> = OnceLock::new();

fn backend() -> Backend {
    *BACKEND.get_or_init(Backend::detect)
}

/// Runs a call. A panic in it (a fault of ours) does not leave this function.
#[inline(always)]
fn status(call: impl FnOnce() -> Result<(), Error>) -> c_int {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => 0,
        Ok(Err(Error::Unauthentic)) => UNAUTHENTIC,
        _ => FAULT,
    }
}

/// Returns what `make` makes, on the heap, or null if there is no memory.
fn on_heap<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> Result<(), Error>) -> *mut T {
    const { assert!(size_of::<T>() > 0) }
    // SAFETY: not of no bytes.
    let place = unsafe { alloc(Layout::new::<T>()) }.cast::<T>();
    // SAFETY: memory of that size and alignment, which nobody else has.
    let made = !place.is_null() && status(|| make(unsafe { &mut *place.cast() })) == 0;
    if made {
        return place;
    }
    if !place.is_null() {
        // SAFETY: as it was allocated, and nothing was made there.
        unsafe { dealloc(place.cast(), Layout::new::<T>()) };
    }
    ptr::null_mut()
}

/// # Safety
/// `on_heap` made it, and nobody uses it any more.
unsafe fn free<T>(made: *mut T) {
    // SAFETY: the caller's promise. Dropping it wipes it.
    unsafe {
        ptr::drop_in_place(made);
        dealloc(made.cast(), Layout::new::<T>());
    }
}

/// Returns bytes of Java's: its empty arrays are somewhere too, but a foreign function may be told that nothing is at 0.
///
/// # Safety
/// This many bytes are readable there while they are used.
unsafe fn read<'a>(at: *const u8, size: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    if size == 0 { &[] } else { unsafe { slice::from_raw_parts(at, size) } }
}

/// # Safety
/// This many bytes are writable there while they are used, and nothing else reads them.
unsafe fn write<'a>(at: *mut u8, size: usize) -> &'a mut [u8] {
    // SAFETY: the caller's promise.
    if size == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(at, size) } }
}

/// Returns the nonce, and the AAD behind it.
///
/// # Safety
/// As for `read`.
unsafe fn head<'a>(head: *const u8, nonce: usize, aad: usize) -> Result<(Nonce<'a>, &'a [u8]), Error> {
    // SAFETY: the caller's promise.
    unsafe { Ok((Nonce::any(read(head, nonce))?, read(head.wrapping_add(nonce), aad))) }
}

/// Seals under this key.
///
/// # Safety
/// As for `fastgcm_java_message`.
#[inline(always)]
unsafe fn seal(key: &Key, nonce: Nonce<'_>, aad: &[u8], from: *const u8, size: usize, to: *mut u8, tag: usize) -> Result<(), Error> {
    // SAFETY: the caller's promise. What is sealed in place is read through `to` only.
    let made = unsafe {
        if from == to.cast_const() {
            key.seal(nonce, aad, write(to, size))?
        } else {
            key.seal_detached_to(nonce, aad, read(from, size), write(to, size))?
        }
    };
    // SAFETY: the caller's promise; the text has been written.
    unsafe { write(to.wrapping_add(size), tag.min(16)) }.copy_from_slice(&made.0[..tag.min(16)]);
    Ok(())
}

/// Opens under this key. A refused text in place is what it was before; any other refused output is all zero.
///
/// # Safety
/// As for `fastgcm_java_message`.
#[inline(always)]
unsafe fn open(key: &Key, nonce: Nonce<'_>, aad: &[u8], from: *const u8, size: usize, to: *mut u8, tag: usize) -> Result<(), Error> {
    let mut expected = Tag([0; 16]);
    // SAFETY: the caller's promise. The tag is copied before anything is written.
    expected.0[..tag.min(16)].copy_from_slice(unsafe { read(from.wrapping_add(size), tag.min(16)) });
    macro_rules! open {
        ($tag:expr) => {
            // SAFETY: the caller's promise; text that is opened in place is read only through `to`.
            unsafe {
                if from == to.cast_const() {
                    key.open_restoring(nonce, aad, write(to, size), &$tag)
                } else {
                    key.open_detached_to(nonce, aad, read(from, size), write(to, size), &$tag)
                }
            }
        };
    }
    match tag {
        16 => open!(expected),
        15 => open!(short::<15>(&expected)),
        14 => open!(short::<14>(&expected)),
        13 => open!(short::<13>(&expected)),
        12 => open!(short::<12>(&expected)),
        _ => Err(Error::InvalidLength),
    }
}

fn short<const N: usize>(tag: &Tag) -> ShortTag<N> {
    ShortTag(std::array::from_fn(|at| tag.0[at]))
}

/// Starts the library: `name` is the back end for which keys are made, if this machine can run it; otherwise they are made for the best
/// one. Returns how many bytes of a message go in one call, so that no call takes more than 100 us: garbage collection waits for it.
///
/// # Safety
/// So many bytes are readable there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_start(name: *const u8, size: usize) -> c_int {
    // SAFETY: the caller's promise.
    let named = str::from_utf8(unsafe { read(name, size) }).ok().and_then(|name| name.parse::<Backend>().ok());
    let chosen = *BACKEND.get_or_init(|| named.filter(|backend| backend.is_available()).unwrap_or_else(Backend::detect));
    if matches!(chosen.name(), "portable" | "vpaes-ssse3" | "vpaes-neon") { 4096 } else { 65536 }
}

/// Writes the name of the back end to `name`, and returns its length, which is at most `size` bytes.
///
/// # Safety
/// So many bytes are writable there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_backend(name: *mut u8, size: usize) -> c_int {
    let bytes = backend().name().as_bytes();
    let size = size.min(bytes.len());
    // SAFETY: the caller's promise.
    unsafe { write(name, size) }.copy_from_slice(&bytes[..size]);
    size as c_int
}

/// Makes a key of 16, 24 or 32 bytes. Returns null if there is no memory.
///
/// # Safety
/// So many bytes are readable there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_key(bytes: *const u8, size: usize) -> *mut Key {
    // SAFETY: the caller's promise.
    on_heap(|place| Key::init_in_place(place, unsafe { read(bytes, size) }, backend()).map(|_| ()))
}

/// Wipes a key, and frees its memory.
///
/// # Safety
/// `fastgcm_java_key` made it, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_key_free(key: *mut Key) {
    // SAFETY: the caller's promise.
    unsafe { free(key) };
}

/// Derives what a message of XAES-256-GCM needs, from a root key of 32 bytes and a nonce of 24. It writes the message's key to the first 32
/// bytes of `made`, which has 64. The message's nonce is the last 12 bytes of the given nonce. If `commits` is set, the commitment follows
/// the key, otherwise zeros.
///
/// # Safety
/// So many bytes are readable and writable there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_derive(root: *const u8, nonce: *const u8, made: *mut u8, commits: c_int) -> c_int {
    status(|| {
        // SAFETY: the caller's promise.
        let (root, nonce, made) = unsafe { (&*root.cast::<[u8; 32]>(), &*nonce.cast::<[u8; 24]>(), write(made, 64)) };
        if commits != 0 { derive::<KcXaes>(root, nonce, made) } else { derive::<Xaes>(root, nonce, made) }
    })
}

fn derive<S: Scheme<Nonce = [u8; 24]>>(root: &[u8; 32], nonce: &[u8; 24], made: &mut [u8]) -> Result<(), Error> {
    let mut place = MaybeUninit::uninit();
    let root = RootKey::<S>::init_in_place(&mut place, root, backend())?;
    let done = root.with_derived_key(nonce, |key, _, tag| {
        let commitment = &tag.as_ref()[16..];
        made.fill(0);
        made[..32].copy_from_slice(key);
        made[32..][..commitment.len()].copy_from_slice(commitment);
        Ok(())
    });
    // SAFETY: the key is dropped where it was made, and not used any more.
    unsafe { place.assume_init_drop() };
    done
}

/// Encrypts `size` bytes from `from` to `to`, and writes `tag` bytes of tag behind them; or decrypts them, if the `tag` bytes behind them
/// are their tag, and otherwise returns 1. After a refusal, text in place is what it was before, and any other output is all zero. `head`
/// is the nonce, and the AAD behind it.
///
/// # Safety
/// All of these are readable or writable. The output is the input, or does not overlap it, and does not overlap `head`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_message(
    key: *const Key,
    head_at: *const u8,
    nonce: usize,
    aad: usize,
    from: *const u8,
    from_at: usize,
    size: usize,
    to: *mut u8,
    to_at: usize,
    tag: usize,
    seals: c_int,
) -> c_int {
    let (from, to) = (from.wrapping_add(from_at), to.wrapping_add(to_at));
    status(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (nonce, aad) = head(head_at, nonce, aad)?;
            let verb = if seals != 0 { seal } else { open };
            verb(&*key, nonce, aad, from, size, to, tag)
        }
    })
}

/// Does what `fastgcm_java_message` does, for the only message of a key (`key_size` bytes), which is made and wiped meanwhile: nothing is
/// left to be freed.
///
/// # Safety
/// As for `fastgcm_java_message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_once(
    key: *const u8,
    key_size: usize,
    head_at: *const u8,
    nonce: usize,
    aad: usize,
    from: *const u8,
    from_at: usize,
    size: usize,
    to: *mut u8,
    to_at: usize,
    tag: usize,
    seals: c_int,
) -> c_int {
    let (from, to) = (from.wrapping_add(from_at), to.wrapping_add(to_at));
    status(|| {
        let mut place = MaybeUninit::uninit();
        // SAFETY: the caller's promise. The key is dropped where it was made, and not used any more.
        unsafe {
            let (nonce, aad) = head(head_at, nonce, aad)?;
            let key = Key::init_in_place(&mut place, read(key, key_size), backend())?;
            let verb = if seals != 0 { seal } else { open };
            let done = verb(key, nonce, aad, from, size, to, tag);
            place.assume_init_drop();
            done
        }
    })
}

/// Begins a message in pieces. Returns null if there is no memory.
///
/// # Safety
/// As for `fastgcm_java_message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_pieces(key: *const Key, nonce: *const u8, size: usize) -> *mut Pieces {
    on_heap(|place| {
        // SAFETY: the caller's promise.
        place.write(unsafe { Pieces::new(&*key, Nonce::any(read(nonce, size))?) });
        Ok(())
    })
}

/// Wipes a message in pieces, and frees its memory.
///
/// # Safety
/// `fastgcm_java_pieces` made it, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_pieces_free(pieces: *mut Pieces) {
    // SAFETY: the caller's promise.
    unsafe { free(pieces) };
}

/// Takes the next piece of AAD.
///
/// # Safety
/// As for `fastgcm_java_message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_aad(pieces: *mut Pieces, key: *const Key, aad: *const u8, at: usize, size: usize) -> c_int {
    // SAFETY: the caller's promise.
    status(|| unsafe { (*pieces).aad(&*key, read(aad.wrapping_add(at), size)) })
}

/// Takes the next piece of text. Decrypted text is not verified: Java wipes it if `fastgcm_java_end` refuses the message.
///
/// # Safety
/// As for `fastgcm_java_message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_text(
    pieces: *mut Pieces,
    key: *const Key,
    from: *const u8,
    from_at: usize,
    size: usize,
    to: *mut u8,
    to_at: usize,
    seals: c_int,
) -> c_int {
    let (from, to) = (from.wrapping_add(from_at), to.wrapping_add(to_at));
    status(|| {
        // SAFETY: the caller's promise. What changes in place is read through `to` only.
        unsafe {
            let (pieces, key) = (&mut *pieces, &*key);
            match (from == to.cast_const(), seals != 0) {
                (true, true) => pieces.seal(key, write(to, size)),
                (true, false) => pieces.open(key, write(to, size)),
                (false, true) => pieces.seal_to(key, read(from, size), write(to, size)),
                (false, false) => pieces.open_to(key, read(from, size), write(to, size)),
            }
        }
    })
}

/// Ends the message: writes `size` bytes of its tag, or compares them.
///
/// # Safety
/// As for `fastgcm_java_message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_java_end(
    pieces: *mut Pieces,
    key: *const Key,
    tag: *mut u8,
    at: usize,
    size: usize,
    seals: c_int,
) -> c_int {
    let tag = tag.wrapping_add(at);
    status(|| {
        // SAFETY: the caller's promise.
        unsafe {
            let (pieces, key) = (&mut *pieces, &*key);
            if seals == 0 {
                return pieces.verify(key, read(tag, size));
            }
            let made = pieces.finish(key)?;
            write(tag, size.min(16)).copy_from_slice(&made.0[..size.min(16)]);
            Ok(())
        }
    })
}
