//! Messages that are gathered from several buffers. Short messages are joined where their text goes, straight from C's lists: by way of
//! lists of Rust's slices they took 4 to 10 ns longer (Zen 5).

use crate::{
    fastgcm_key, fastgcm_slice,
    fastgcm_status::{self, *},
    key::key_of,
    memory::{Output, Stretch, read},
    message::{Call, Expected, GATHERED},
    status,
};
use fastgcm::{Nonce, Tag, limits};
use std::{ffi::c_int, mem::MaybeUninit, slice};

/// The longest text, in bytes, of a usual message that is joined where its text goes, and sealed or opened there. (`gathered.rs` of
/// `fastgcm` has the times.)
const TEXT: usize = (8 << 10) - 1;

/// The most bytes of AAD that are joined on the stack.
const AAD: usize = 128;

/// The longest list of buffers that is joined, and that otherwise needs no memory of the heap.
const FEW: usize = 16;

/// A list of buffers.
#[derive(Clone, Copy)]
struct List(*const fastgcm_slice, usize);

impl List {
    /// Returns how many bytes the list has, if it has at most `most` bytes, if its few buffers are not NULL, and if they are `apart` from
    /// what is written.
    ///
    /// # Safety
    /// The list has this many slices.
    #[inline(always)]
    unsafe fn usual(self, most: usize, apart: impl Fn(Stretch) -> bool) -> Option<usize> {
        if self.1 > FEW || self.1 > 0 && self.0.is_null() || !apart(Stretch::new(self.0.cast(), self.1 * size_of::<fastgcm_slice>())) {
            return None;
        }
        let mut total = 0;
        for i in 0..self.1 {
            // SAFETY: the caller's promise.
            let fastgcm_slice { data, size } = unsafe { *self.0.add(i) };
            if data.is_null() || size > most - total || !apart(Stretch::new(data, size)) {
                return None;
            }
            total += size;
        }
        Some(total)
    }

    /// Copies the bytes of the list to `to`.
    ///
    /// # Safety
    /// The list is usual, and there is room for it.
    #[inline(always)]
    unsafe fn copy(self, mut to: *mut u8) {
        for i in 0..self.1 {
            // SAFETY: the caller's promise.
            unsafe {
                let fastgcm_slice { data, size } = *self.0.add(i);
                to.copy_from_nonoverlapping(data, size);
                to = to.add(size);
            }
        }
    }
}

/// A message whose nonce has 12 bytes and whose tag has 16.
#[derive(Clone, Copy)]
struct Gathered {
    key: *const fastgcm_key,
    nonce: *const u8,
    aad: List,
    from: List,
    to: *mut u8,
    size: usize,
    tag: *const u8,
}

impl Gathered {
    /// Joins the message, its AAD in `room`, if the message is usual: short, and with no buffer NULL or where it must not be. (A tag that
    /// is read may lie in `to`, but not here, where the ciphertext is written first.) Otherwise the function writes nothing.
    ///
    /// # Safety
    /// The caller's promises about these buffers hold.
    #[inline(always)]
    unsafe fn together(self, writes_tag: bool, room: &mut [MaybeUninit<u8>; AAD]) -> Option<Call> {
        let Self { key, nonce, aad, from, to, size, tag } = self;
        if key.is_null() || nonce.is_null() || to.is_null() || tag.is_null() || size > TEXT {
            return None;
        }
        let (text, mac) = (Stretch::new(to, size), Stretch::new(tag, 16));
        let apart = |read: Stretch| text.surely_apart(read) && (!writes_tag || mac.surely_apart(read));
        if !apart(Stretch::new(nonce, 12)) || !text.surely_apart(mac) {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let aad_size = aad.usual(AAD, apart)?;
            if from.usual(size, apart)? != size {
                return None;
            }
            let room = room.as_mut_ptr().cast::<u8>();
            aad.copy(room);
            from.copy(to);
            Some(Call { key, nonce, aad: room, aad_size, from: to, to, size, tag })
        }
    }
}

/// Encrypts a message whose AAD and text lie in several buffers, one behind the other: `aad_count` and `text_count` of them. `ciphertext`
/// has `ciphertext_size` bytes, which must equal the length of all text, and must overlap neither an input nor a list. Everything else is
/// as for `fastgcm_seal`.
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
    let (aads, from) = (List(aad, aad_count), List(text, text_count));
    let message = Gathered { key, nonce, aad: aads, from, to: ciphertext, size: ciphertext_size, tag };
    let mut room = [const { MaybeUninit::uninit() }; AAD];
    // SAFETY: the same promise.
    unsafe {
        if nonce_size == 12
            && let Some(call) = message.together(true, &mut room)
        {
            return call.seal::<GATHERED>();
        }
        seal_otherwise(key, nonce, nonce_size, aad, aad_count, text, text_count, ciphertext, ciphertext_size, tag)
    }
}

/// Seals by any call that is not usual, and seals long messages.
///
/// # Safety
/// As said.
#[cold]
#[inline(never)]
unsafe extern "C" fn seal_otherwise(
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
        let (key, nonce) = (key_of(key)?, read(nonce, nonce_size, limits::NONCE)?);
        let output = Output::new(ciphertext, ciphertext_size)?.apart(nonce)?;
        let tag = Output::new(tag, 16)?.apart(nonce)?;
        let apart = |piece: &[u8]| {
            output.apart(piece)?;
            tag.apart(piece)?;
            Ok(())
        };
        with_list(aad, aad_count, limits::AAD, apart, |aad| {
            with_list(text, text_count, limits::TEXT, apart, |text| {
                let output = output.slice();
                let tag = tag.apart(output)?;
                // A number, for the reason given in `message.rs`.
                let made = u128::from_ne_bytes(key.seal_gathered(Nonce::any(nonce)?, aad, text, &[], output)?.0);
                tag.0.cast::<[u8; 16]>().write(made.to_ne_bytes());
                Ok(())
            })
        })
    })
}

/// Decrypts a message whose AAD and ciphertext lie in several buffers. `text` has `text_size` bytes, which must equal the length of all
/// ciphertext, and must overlap neither a list nor any input but the tag, which has 16 bytes. Everything else is as for `fastgcm_open`.
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
    let (aads, from) = (List(aad, aad_count), List(ciphertext, ciphertext_count));
    let message = Gathered { key, nonce, aad: aads, from, to: text, size: text_size, tag };
    let mut room = [const { MaybeUninit::uninit() }; AAD];
    // SAFETY: the same promise.
    unsafe {
        if nonce_size == 12
            && let Some(call) = message.together(false, &mut room)
        {
            return call.open::<GATHERED>();
        }
        open_otherwise(key, nonce, nonce_size, aad, aad_count, ciphertext, ciphertext_count, tag, text, text_size)
    }
}

/// Opens by any call that is not usual, and opens long messages.
///
/// # Safety
/// As said.
#[cold]
#[inline(never)]
unsafe extern "C" fn open_otherwise(
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
        let (key, nonce, tag) = (key_of(key)?, read(nonce, nonce_size, limits::NONCE)?, Expected::read(tag, 16)?);
        let output = Output::new(text, text_size)?.apart(nonce)?;
        let apart = |piece: &[u8]| output.apart(piece).map(drop);
        with_list(aad, aad_count, limits::AAD, apart, |aad| {
            with_list(ciphertext, ciphertext_count, limits::TEXT, apart, |from| {
                Ok(key.open_gathered(Nonce::any(nonce)?, aad, from, output.slice(), &Tag(tag.0))?)
            })
        })
    })
}

/// Calls `then` with the bytes of a list of slices, each of which has at most `most` bytes, if `each` accepts them and the list. A short
/// list is on the stack.
/// # Safety
/// The list has this many slices, and each slice has as many bytes as it says.
unsafe fn with_list<T>(
    list: *const fastgcm_slice,
    count: usize,
    most: u64,
    each: impl Fn(&[u8]) -> Result<(), fastgcm_status>,
    then: impl FnOnce(&[&[u8]]) -> Result<T, fastgcm_status>,
) -> Result<T, fastgcm_status> {
    if count > isize::MAX as usize / size_of::<fastgcm_slice>() {
        return Err(FASTGCM_TOO_LONG);
    }
    // SAFETY: the caller's promise.
    each(unsafe { read(list.cast(), count * size_of::<fastgcm_slice>(), u64::MAX)? })?;
    let mut few = [const { MaybeUninit::<&[u8]>::uninit() }; FEW];
    let mut many = Vec::new();
    let slices = if count <= few.len() {
        &mut few[..count]
    } else {
        many.try_reserve_exact(count).map_err(|_| FASTGCM_NO_MEMORY)?;
        many.spare_capacity_mut()[..count].as_mut()
    };
    for (i, slice) in slices.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        let piece = unsafe { read((*list.add(i)).data, (*list.add(i)).size, most)? };
        each(piece)?;
        slice.write(piece);
    }
    // SAFETY: each slice has just been written.
    then(unsafe { slice::from_raw_parts(slices.as_ptr().cast(), count) })
}
