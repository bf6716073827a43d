//! Messages in pieces.

use crate::{
    fastgcm_key, fastgcm_pieces,
    fastgcm_status::{self, *},
    key::key_of,
    memory::{Output, Place, free, on_heap, place, read, wipe},
    message::Expected,
    status,
};
use fastgcm::{
    Key, Nonce,
    hazmat::Pieces,
    limits::{AAD, NONCE, TEXT},
};
use std::ffi::c_int;

/// Returns how many bytes of memory a message in pieces needs.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_pieces_size() -> usize {
    size_of::<fastgcm_pieces>()
}

/// Returns the alignment of a message in pieces: its address must be a multiple of this number.
#[unsafe(no_mangle)]
pub extern "C" fn fastgcm_pieces_align() -> usize {
    align_of::<fastgcm_pieces>()
}

/// Begins a message in pieces in the caller's memory, which has `place_size` bytes. `fastgcm_pieces_wipe` ends the message. After this call
/// come AAD, then text, then `fastgcm_pieces_finish` or `fastgcm_pieces_verify`, all with one key. Functions for whole messages are faster.
///
/// If the function returns `FASTGCM_PLACE`, `FASTGCM_INVALID_LENGTH` (an empty nonce), `FASTGCM_TOO_LONG` or `FASTGCM_NULL`, nothing is
/// written.
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
        let (key, nonce) = unsafe { (key_of(key)?, read(nonce, nonce_size, NONCE)?) };
        place.write(fastgcm_pieces(Pieces::new(key, Nonce::any(nonce)?)));
        Ok(())
    })
}

/// Begins a message on the heap: `*pieces_made` is the message, or NULL if the call fails. `fastgcm_pieces_free` ends the message.
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

/// Returns the message and the key of a call for a message in pieces.
/// # Safety
/// Each pointer is null, or points to a value that was made.
unsafe fn both<'a>(pieces: *mut fastgcm_pieces, key: *const fastgcm_key) -> Result<(&'a mut Pieces, &'a Key), fastgcm_status> {
    // SAFETY: the caller's promise.
    unsafe { Ok((&mut pieces.as_mut().ok_or(FASTGCM_NULL)?.0, key_of(key)?)) }
}

/// Takes the next `aad_size` bytes of AAD. If the function returns `FASTGCM_OUT_OF_ORDER`, `FASTGCM_TOO_LONG` or `FASTGCM_NULL`, it has not
/// taken them.
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
        Ok(pieces.aad(key, read(aad, aad_size, AAD)?)?)
    })
}

/// Encrypts the next `text_size` bytes of text to `ciphertext`, which is `text` itself or does not overlap it. If the function returns
/// `FASTGCM_OUT_OF_ORDER`, `FASTGCM_TOO_LONG`, `FASTGCM_OVERLAP` or `FASTGCM_NULL`, it has not taken them, and nothing is written.
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
        let ((pieces, key), from) = (both(pieces, key)?, read(text, text_size, TEXT)?);
        let output = Output::new(ciphertext, text_size)?;
        match output.place(from)? {
            Place::Same => Ok(pieces.seal(key, output.slice())?),
            Place::Apart(from) => Ok(pieces.seal_to(key, from, output.slice())?),
        }
    })
}

/// Decrypts the next bytes of text. **They are not verified** before `fastgcm_pieces_verify` has returned `FASTGCM_OK`: until then they
/// must have no effect, and if it returns anything else, the caller must wipe them.
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
        let ((pieces, key), from) = (both(pieces, key)?, read(ciphertext, ciphertext_size, TEXT)?);
        let output = Output::new(text, ciphertext_size)?;
        match output.place(from)? {
            Place::Same => Ok(pieces.open(key, output.slice())?),
            Place::Apart(from) => Ok(pieces.open_to(key, from, output.slice())?),
        }
    })
}

/// Ends a message that was sealed, and writes 16 bytes to `tag`. If the function returns `FASTGCM_OUT_OF_ORDER` or `FASTGCM_NULL`, nothing
/// is written.
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

/// Ends a message that was opened, and compares its tag in constant time; `tag_size` is as for `fastgcm_open`. Returns
/// `FASTGCM_UNAUTHENTIC` if anything differs from what was sealed. If it returns `FASTGCM_INVALID_LENGTH`, `FASTGCM_OUT_OF_ORDER` or
/// `FASTGCM_NULL`, the message has not ended.
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

/// Wipes a message in pieces, whether or not it has ended, and ends it. NULL is allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_wipe(pieces: *mut fastgcm_pieces) {
    // SAFETY: the caller's promise.
    unsafe { wipe(pieces) }
}

/// Wipes a message in pieces that `fastgcm_pieces_new` has made, and frees its memory. NULL is allowed.
///
/// # Safety
/// As said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fastgcm_pieces_free(pieces: *mut fastgcm_pieces) {
    // SAFETY: the caller's promise: `fastgcm_pieces_new` has made it.
    unsafe { free(pieces) }
}
