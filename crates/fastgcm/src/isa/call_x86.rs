//! How functions of a row are called on x86-64: with System V's convention, on Windows too, so that a tag
//! comes back in a vector register. Through two general registers a tag takes four instructions and 4 cycles
//! more, and the next message waits for these.

use crate::Block;
use core::{arch::x86_64::__m128i, mem::transmute};

/// A tag on its way out of a row.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct TagRegister(__m128i);

impl TagRegister {
    #[inline(always)]
    pub(crate) fn of(tag: Block) -> Self {
        // SAFETY: both are 16 plain bytes.
        Self(unsafe { transmute::<Block, __m128i>(tag) })
    }

    #[inline(always)]
    pub(crate) fn tag(self) -> Block {
        // SAFETY: both are 16 plain bytes.
        unsafe { transmute::<__m128i, Block>(self.0) }
    }
}

/// The type of a pointer to a function of a row, or such a function. An argument is a number, a reference, a
/// slice or two numbers of 64 bits: anything else would be copied to the stack in halves, and loaded as a
/// whole before both halves have left the store buffer (10 ns).
macro_rules! row_function {
    (type [$($life:lifetime)?] ($($type:ty),*) -> $result:ty) => {
        $(for<$life>)? unsafe extern "sysv64-unwind" fn($($type),*) -> $result
    };
    ($(#[$meta:meta])* fn $name:ident $(<$life:lifetime>)?
        ($($argument:ident: $type:ty),*) -> $result:ty $body:block) => {
        $(#[$meta])*
        #[allow(improper_ctypes_definitions, reason = "Rust calls it, not C")]
        extern "sysv64-unwind" fn $name $(<$life>)? ($($argument: $type),*) -> $result $body
    };
}
pub(crate) use row_function;
