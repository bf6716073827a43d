//! `libfastgcm`: AES-GCM for C and C++. `fastgcm.h` is generated from the documentation of these files.

#![allow(non_camel_case_types)] // C's names

mod memory;

// The header has their functions in this order, which the empty lines keep from rustfmt.

mod key;

mod message;

mod gathered;

mod batch;

mod pieces;

mod root;

mod about;

pub use {about::*, batch::*, gathered::*, key::*, message::*, pieces::*, root::*};

use fastgcm::{Error, Key, hazmat::Pieces};
use std::{
    ffi::c_int,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The result of a call. Any result but `FASTGCM_OK` means that the call has done nothing, unless its function says otherwise. Later
/// versions may add results.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum fastgcm_status {
    /// The call has succeeded.
    FASTGCM_OK = 0,
    /// The message, its AAD, nonce or tag is not what the key's owner sealed.
    FASTGCM_UNAUTHENTIC = 1,
    /// A key, nonce, tag or buffer has a length that the call does not accept.
    FASTGCM_INVALID_LENGTH = 2,
    /// A text has more than 2^36 - 32 bytes, or AAD or a nonce has more than 2^61 - 1.
    FASTGCM_TOO_LONG = 3,
    /// There is no back end of that name, this machine cannot run it, or there is no such scheme.
    FASTGCM_UNAVAILABLE = 4,
    /// AAD came after text, something came after the end, the key has another back end, or a root key was wiped.
    FASTGCM_OUT_OF_ORDER = 5,
    /// A pointer is NULL. (A buffer with a length of 0 may be NULL.)
    FASTGCM_NULL = 6,
    /// An output overlaps an input or another output.
    FASTGCM_OVERLAP = 7,
    /// The memory for a key or a message is too small, or not aligned as required.
    FASTGCM_PLACE = 8,
    /// There was not enough memory.
    FASTGCM_NO_MEMORY = 9,
    /// A self-test found a wrong answer. Nothing of this library may be used.
    FASTGCM_SELFTEST = 10,
    /// A fault of this library. The output is undefined.
    FASTGCM_INTERNAL = 11,
}

use fastgcm_status::*;

/// The scheme by which a root key makes the key of AES-256-GCM for each message. The meaning of a number never changes; later versions may
/// add numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum fastgcm_scheme {
    /// XAES-256-GCM (c2sp.org/XAES-256-GCM): nonces of 24 bytes, which may be random, and tags of 16 bytes.
    FASTGCM_XAES_256_GCM = 1,
    /// XAES-256-GCM with a commitment to the key (IACR ePrint 2025/758): nobody can make a message that opens under two keys. Tags have 48 bytes.
    FASTGCM_KC_XAES_256_GCM = 2,
}

/// Bytes that are only read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fastgcm_slice {
    /// The bytes. It may be NULL if `size` is 0.
    pub data: *const u8,
    /// The number of bytes.
    pub size: usize,
}

/// A message of a batch. The caller allocates it, so its layout never changes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct fastgcm_packet {
    /// The nonce: 12 bytes, which must be unique for every message under one key.
    pub nonce: [u8; 12],
    /// The result for this packet, a `fastgcm_status`. The call writes it.
    pub status: c_int,
    /// AAD, which is only read. It may be NULL if `aad_size` is 0.
    pub aad: *const u8,
    /// The number of bytes of AAD.
    pub aad_size: usize,
    /// The text or ciphertext that is read.
    pub from: *const u8,
    /// The ciphertext or text that is written. It is `from`, or does not overlap it.
    pub to: *mut u8,
    /// The number of bytes of text, in `from` and in `to`.
    pub size: usize,
    /// The tag: written when the packet is sealed, read when it is opened.
    pub tag: [u8; 16],
}

/// A key, ready for use by any number of threads. Its memory belongs to the caller (`fastgcm_key_init`) or to the heap (`fastgcm_key_new`).
#[derive(Debug)]
pub struct fastgcm_key(Key);

/// A root key of a `fastgcm_scheme`, ready for use by any number of threads. Its memory belongs to the caller (`fastgcm_root_key_init`) or
/// to the heap (`fastgcm_root_key_new`).
#[derive(Debug)]
pub struct fastgcm_root_key(root::Root);

/// A message in pieces, for one thread at a time.
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

/// Runs a call. A panic in it (a fault of ours) does not leave this function. It is inlined: otherwise its arguments go through memory (4
/// ns).
#[inline(always)]
pub(crate) fn status(call: impl FnOnce() -> Result<(), fastgcm_status>) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(FASTGCM_INTERNAL));
    done.err().unwrap_or(FASTGCM_OK) as c_int
}
