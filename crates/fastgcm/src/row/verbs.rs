//! The verbs: ONE list of what a row can do, and what follows from it.
//!
//! A line of [`verbs`] is `verb(arguments; text) -> result`. From this list come the trait [`Engine`], whose
//! implementations are the bodies of all verbs ([`woven`](super::woven), [`software`](super::software)); for each group of verbs a
//! struct of function pointers and its safe calls (`groups!`); and in each row of the table the functions,
//! which have the row's target features (`functions!`) and do nothing but call the row's engine. These functions are the one
//! gate to vector code. A key holds a reference to the group [`Messages`]; any other group is looked up when it is used (`Backend::find`), so
//! the linker leaves out what a program does not call.

use crate::{
    Block,
    aes::{Material, Schedule},
    gcm::{Beginning, SIDE_BY_SIDE},
    inout::{Hash, InOut, PADS, Table},
    isa::{Frame, TagRegister, row_function, wiped_after},
    nonce::{Nonce96, Start},
    packet::Packet,
};
use core::mem::MaybeUninit;

/// Hands the list to the macro `$to`, behind `$context`.
macro_rules! verbs {
    ($to:ident $context:tt) => {
        $to! { $context
            /// Whole messages, and their keys.
            Messages {
                /// Derives what messages need from a key, in uninitialised memory, or only what one message
                /// with these numbers of bytes of AAD and text needs.
                derive<'a>(
                    place: &'a mut MaybeUninit<Material>, key: &[u8], one: Option<(usize, usize)>
                ) -> &'a mut Material;
                /// Wipes everything that this row has written there.
                wipe(key: &mut Material) -> ();
                /// Seals a message that is an end, or the end of a message that has begun. Returns the tag.
                seal_end[inline(never)](
                    key: &Material, nonce: Nonce96, aad: &[u8], beginning: Option<&Beginning<'_>>; text
                ) -> TagRegister;
                /// Opens a message that is an end, or the end of a message that has begun. Returns the right
                /// tag.
                open_end[inline(never)](
                    key: &Material, nonce: Nonce96, aad: &[u8], beginning: Option<&Beginning<'_>>; text
                ) -> Block;
                /// Seals any message that is not an end. Returns the tag.
                seal[inline(never)](key: &Material, nonce: Nonce96, aad: &[u8]; text) -> TagRegister;
                /// Opens any message that is not an end. Returns the right tag.
                open[inline(never)](key: &Material, nonce: Nonce96, aad: &[u8]; text) -> Block;
                /// Seals turns two rounds ahead, from block `index` on, and continues `hash`.
                seal_ahead[inline(never)](
                    key: &Material, nonce: Nonce96, index: u32, hash: &mut Table<4>; text
                ) -> () = unreachable!("this engine has no turns");
                /// Opens turns two rounds ahead, from block `index` on, and continues `hash`.
                open_ahead[inline(never)](
                    key: &Material, nonce: Nonce96, index: u32, hash: &mut Table<4>; text
                ) -> () = unreachable!("this engine has no turns");
            }
            /// Messages step by step.
            Steps {
                /// Continues GHASH over the bytes that wait and over `data`, padded with zeros to whole
                /// blocks.
                hash[inline(never)](key: &Material, hash: &mut Hash, data: &[u8]) -> ();
                /// Encrypts a piece of text from block `index` on, and continues its hash. The piece has
                /// whole blocks.
                seal_piece(key: &Material, start: &Start, index: u32, hash: &mut Hash; text) -> ();
                /// Decrypts a piece of text from block `index` on, and continues its hash. The piece has
                /// whole blocks.
                open_piece(key: &Material, start: &Start, index: u32, hash: &mut Hash; text) -> ();
                /// Writes the keystream of the blocks from `index` on to `pads`.
                pads(key: &Material, start: &Start, index: u32, pads: &mut Table<PADS>) -> ();
                /// Ends GHASH with the lengths block: the result is the tag, once AES of J0 masks it. No
                /// bytes may wait.
                finish(key: &Material, hash: &Hash, lengths: Block, start: Option<&Start>) -> Block;
                /// Returns AES of a block.
                aes(key: &Material, block: Block) -> Block;
            }
            /// A key derived from another key.
            Derive {
                /// Encrypts the first `wanted` of these blocks with AES, in place, side by side.
                aes_beside(key: &Material, blocks: &mut Table<SIDE_BY_SIDE>, wanted: usize) -> ();
            }
            /// A key in place of another.
            Rekey {
                /// Derives what messages need, in place of a key or where `Messages::derive` has written
                /// zeros.
                expand[inline(never)](
                    place: &mut MaybeUninit<Material>, key: &[u8], one: Option<(usize, usize)>
                ) -> ();
            }
            /// A short message with a key of its own.
            Once {
                /// Seals or opens a message of at most `gcm::max_once`. Returns the right tag.
                once(key: &[u8], nonce: Nonce96, aad: &[u8], seal: bool; text) -> Block
                    = unreachable!("`gcm::max_once` says that there is none");
            }
            /// Packets side by side.
            Batches {
                /// Seals packets while they have the lengths of the first, which `gcm::max_batch` allows.
                /// Returns how many were sealed.
                seal_batch(key: &Material, packets: &mut [Packet<'_>]) -> (usize, usize) = (0, 0);
                /// Opens packets while they have the lengths of the first, which `gcm::max_batch` allows.
                /// Returns how many were opened, and how many of their tags are wrong.
                open_batch(key: &Material, packets: &mut [Packet<'_>]) -> (usize, usize) = (0, 0);
            }
            /// CTR alone.
            Ctr {
                /// Encrypts or decrypts, from the counter block `first` on.
                ctr(key: &Material, first: Block; text) -> ();
            }
            /// AES-GCM-SIV.
            Siv {
                /// Seals a message under a key-generating key, or opens it if its tag is `given`. Returns the
                /// right tag.
                siv(key: &Material, nonce: Nonce96, aad: &[u8], given: Option<&Block>; text) -> Block;
                /// Runs CTR of such a message two rounds ahead, from the counter block `first` on.
                siv_ahead[inline(never)](schedule: &Schedule, first: Block; text) -> () = unreachable!("this engine has no turns");
            }
        }
    };
}
pub(super) use verbs;

/// Makes the trait.
macro_rules! trait_of {
    ([] $($(#[$doc:meta])* $Group:ident { $(
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])? $(<$life:lifetime>)?
            ($($argument:ident: $type:ty),* $(; $text:ident)?) -> $result:ty $(= $default:expr)?;
    )+ })+) => {
        /// The bodies of all verbs, for rows of one kind. A function of a row calls them, and has the row's
        /// target features: all methods are inlined there.
        pub(crate) trait Engine: Copy {
            /// The blocks of a vector, or none where AES and GHASH are not woven: see
            /// [`plan`](crate::gcm::plan).
            const BLOCKS: usize;

            /// Notes how deep the stack of the row's function is.
            fn enter(self);
            $($(
                trait_of! { @method [$($default)?] $(#[$meta])*
                fn $verb$(<$life>)?(self, $($argument: $type,)* $($text: InOut<'_>)?) -> $result }
            )+)+
            /// Returns the row's multiplication on numbers.
            #[cfg(test)]
            fn products(self, block: Block, h: Block) -> [[Block; 4]; 2];
            /// Fills in the powers of a hash key of the test's choice.
            #[cfg(test)]
            fn fill(self, key: &mut Material, h: Block);
        }
    };
    (@method [] $($signature:tt)*) => {
        $($signature)*;
    };
    (@method [$default:expr] $($signature:tt)*) => {
        #[allow(unused_variables)]
        $($signature)* { $default }
    };
}
verbs! { trait_of [] }

/// Makes a struct for each group, and safe calls of its functions.
///
/// Each call takes `then`, which gets the result before the registers and the stack are wiped (feature
/// `scrub`): tags are compared there, so the tag that a forgery should have had is wiped with everything
/// else.
macro_rules! groups {
    ([] $($(#[$doc:meta])* $Group:ident { $(
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])? $(<$life:lifetime>)?
            ($($argument:ident: $type:ty),* $(; $text:ident)?) -> $result:ty $(= $default:expr)?;
    )+ })+) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            #[allow(dead_code, reason = "some verbs are called within the row alone")]
            #[allow(improper_ctypes_definitions, reason = "Rust calls them, not C")]
            pub(crate) struct $Group {
                $(pub(super) $verb: groups!(@pointer ($($life)?) ($($type,)*) ($($text)?) $result),)+
            }

            // These calls are safe, because `Backend::row` hands out a row only where its features were
            // found, and a group only with the row.
            #[allow(unsafe_code)]
            #[allow(dead_code)]
            $(#[$doc])*
            impl $Group {$(
                $(#[$meta])*
                #[inline(always)]
                pub(crate) fn $verb<$($life,)? T>(
                    &self, $($argument: $type,)* $($text: InOut<'_>,)? then: impl FnOnce($result) -> T,
                ) -> T {
                    groups!(@call self.$verb ($($argument),*) ($($text)?) then)
                }
            )+}

            $(#[$doc])*
            impl Group for $Group {
                #[inline(always)]
                fn of<R: Functions>() -> &'static Self {
                    R::all()
                }
            }
        )+

        /// All groups of a row.
        pub(crate) trait Functions: $(Has<$Group> +)+ {}
        impl<R: $(Has<$Group> +)+> Functions for R {}
    };
    (@pointer ($($life:lifetime)?) ($($type:ty,)*) () $result:ty) => {
        row_function! { type [$($life)?] (Frame<'_>, $($type),*) -> $result }
    };
    (@pointer () ($($type:ty,)*) ($text:ident) $result:ty) => {
        row_function! { type [] (Frame<'_>, $($type,)* *const u8, *mut u8, usize) -> $result }
    };
    (@call $self:ident.$verb:ident ($($argument:ident),*) () $then:ident) => {
        // SAFETY: see the impl.
        wiped_after!(frame, $then(unsafe { ($self.$verb)(frame, $($argument),*) }))
    };
    (@call $self:ident.$verb:ident ($($argument:ident),*) ($text:ident) $then:ident) => {{
        let (src, dst, len) = $text.parts();
        // SAFETY: see the impl.
        wiped_after!(frame, $then(unsafe { ($self.$verb)(frame, $($argument,)* src, dst, len) }))
    }};
}
verbs! { groups [] }

/// A group of verbs, which every row has.
pub(crate) trait Group: Sized + 'static {
    fn of<R: Functions>() -> &'static Self;
}

/// States that a row has this group.
pub(crate) trait Has<G: 'static> {
    const ALL: G;
    fn all() -> &'static G;
}

/// Makes the functions of a row, which is a module: `[{ engine } features]`.
macro_rules! functions {
    ($row:tt $($(#[$doc:meta])* $Group:ident { $(
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])? $(<$life:lifetime>)?
            ($($argument:ident: $type:ty),* $(; $text:ident)?) -> $result:ty $(= $default:expr)?;
    )+ })+) => {$(
        $(
            crate::row::verbs::function! { $row
                $(#[$meta])* $($(#[$attribute])+)?
                fn $verb $(<$life>)? ($($argument: $type),* $(; $text)?) -> $result;
            }
        )+

        $(#[$doc])*
        impl verbs::Has<verbs::$Group> for Row {
            const ALL: verbs::$Group = verbs::$Group { $($verb),+ };

            #[inline(always)]
            fn all() -> &'static verbs::$Group {
                static ALL: verbs::$Group = <Row as verbs::Has<verbs::$Group>>::ALL;
                &ALL
            }
        }
    )+};
}
pub(super) use functions;

/// Makes one function of a row, which calls the row's engine.
macro_rules! function {
    ([{ $($engine:tt)* } $($features:literal)?] $(#[$meta:meta])* fn $verb:ident $(<$life:lifetime>)?
        ($($argument:ident: $type:ty),*) -> $result:ty;) => {
        crate::isa::row_function! {
            $(#[target_feature(enable = $features)])?
            $(#[$meta])*
            fn $verb $(<$life>)? (frame: Frame<'_>, $($argument: $type),*) -> $result {
                let engine = engine!(frame, $($engine)*);
                engine.enter();
                engine.$verb($($argument),*)
            }
        }
    };
    ([{ $($engine:tt)* } $($features:literal)?] $(#[$meta:meta])* fn $verb:ident
        ($($argument:ident: $type:ty),*; $text:ident) -> $result:ty;) => {
        crate::isa::row_function! {
            $(#[target_feature(enable = $features)])?
            $(#[$meta])*
            fn $verb(frame: Frame<'_>, $($argument: $type,)* src: *const u8, dst: *mut u8, len: usize) -> $result {
                let engine = engine!(frame, $($engine)*);
                engine.enter();
                #[allow(unsafe_code)]
                // SAFETY: the caller of a row's function passes what `InOut::parts` returned.
                engine.$verb($($argument,)* unsafe { InOut::between(src, dst, len) })
            }
        }
    };
}
pub(super) use function;

/// Calls another function of the engine's row, which is not inlined.
macro_rules! within_row {
    ($engine:ident, $Group:ident.$verb:ident($($argument:expr),* $(; $text:expr)?)) => {
        // SAFETY: a function of the row runs, so the row's features are there; and a text is passed as its parts.
        unsafe { within_row!(@parts $engine, $Group.$verb($($argument),*) $($text)?) }
    };
    (@parts $engine:ident, $Group:ident.$verb:ident($($argument:expr),*)) => {
        (<R as Has<$Group>>::ALL.$verb)($engine.frame, $($argument),*)
    };
    (@parts $engine:ident, $Group:ident.$verb:ident($($argument:expr),*) $text:expr) => {{
        let (src, dst, len) = $text.parts();
        (<R as Has<$Group>>::ALL.$verb)($engine.frame, $($argument,)* src, dst, len)
    }};
}
pub(super) use within_row;
