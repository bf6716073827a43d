//! How functions of a row are called on machines where no special convention pays off: like any function of
//! Rust.

use crate::Block;

/// A tag on its way out of a row.
#[derive(Clone, Copy)]
pub(crate) struct TagRegister(Block);

impl TagRegister {
    #[inline(always)]
    pub(crate) fn of(tag: Block) -> Self {
        Self(tag)
    }

    #[inline(always)]
    pub(crate) fn tag(self) -> Block {
        self.0
    }
}

/// The type of a pointer to a function of a row, or such a function.
macro_rules! row_function {
    (type [$($life:lifetime)?] ($($type:ty),*) -> $result:ty) => {
        $(for<$life>)? unsafe fn($($type),*) -> $result
    };
    ($(#[$meta:meta])* fn $name:ident $(<$life:lifetime>)?
        ($($argument:ident: $type:ty),*) -> $result:ty $body:block) => {
        $(#[$meta])*
        fn $name $(<$life>)? ($($argument: $type),*) -> $result $body
    };
}
pub(crate) use row_function;
