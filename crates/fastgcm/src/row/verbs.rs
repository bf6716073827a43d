//! The verbs: ONE list of what a row can do, and what follows from it.
//!
//! A line of [`verbs`] is `verb(arguments; text) -> result`, and what implements it: with instructions for
//! AES (`woven`), and without (`software`). From this list come, for each group of verbs, a struct of
//! function pointers and its safe calls (`groups!`), and in each row of the table the functions, which have
//! the row's target features ([`functions`]). These functions are the one gate to vector code. A key holds a
//! reference to the group [`Messages`]; any other group is looked up when it is used (`Backend::find`), so
//! the linker leaves out what a program does not call.

use crate::{
    Block,
    gcm::{Begun, SIDE_BY_SIDE},
    inout::{Hash, InOut, PADS, Table},
    isa::{Frame, Tagged, row_function, wiped_after},
    material::Material,
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
                ) -> &'a mut Material =>
                    woven |s, m, frame| {
                        Material::zero_around(s, place, gcm::filled(s));
                        expand(frame, place, key, one);
                        // SAFETY: both calls together have written each byte.
                        unsafe { place.assume_init_mut() }
                    },
                    software |s, m, frame| {
                        Material::zero_around(s, place, software::filled(s, m));
                        expand(frame, place, key, one);
                        // SAFETY: both calls together have written each byte.
                        unsafe { place.assume_init_mut() }
                    };
                /// Wipes everything that this row has written there.
                wipe(key: &mut Material) -> () =>
                    woven |s, m, frame| gcm::wipe(s, key.view_mut()),
                    software |s, m, frame| software::wipe(s, m, key.view_mut());
                /// Seals a message that is an end, or the end of a message that has begun. Returns the tag.
                seal_end[inline(never)](
                    key: &Material, nonce: Nonce96, aad: &[u8], begun: Option<&Begun<'_>>; text
                ) -> Tagged =>
                    woven |s, m, frame| {
                        // SAFETY: `Row::message` calls this verb only for such lengths, and so do `seal` and
                        // `open` of the row: they leave at most a turn (`plan::most`). (The optimiser is told
                        // so: otherwise it would leave bounds checks, and a way to panic, in 150
                        // instructions.)
                        unsafe { core::hint::assert_unchecked(gcm::is_end(s, aad.len(), text.len())) };
                        Tagged::of(gcm::end::<_, _, true>(s, m, key.view(), nonce, aad, text, begun))
                    },
                    software |s, m, frame| Tagged::of(software::message(s, m, key.view(), nonce.into(), aad, text, true));
                /// Opens a message that is an end, or the end of a message that has begun. Returns the right
                /// tag.
                open_end[inline(never)](
                    key: &Material, nonce: Nonce96, aad: &[u8], begun: Option<&Begun<'_>>; text
                ) -> Block =>
                    woven |s, m, frame| {
                        // SAFETY: as for `seal_end`.
                        unsafe { core::hint::assert_unchecked(gcm::is_end(s, aad.len(), text.len())) };
                        gcm::end::<_, _, false>(s, m, key.view(), nonce, aad, text, begun)
                    },
                    software |s, m, frame|
                        software::message(s, m, key.view(), nonce.into(), aad, text, false);
                /// Seals any message that is not an end. Returns the tag.
                seal[inline(never)](key: &Material, nonce: Nonce96, aad: &[u8]; text) -> Tagged =>
                    woven |s, m, frame|
                        Tagged::of(gcm::long::<_, _, true>(s, m, key.view(), nonce, aad, text, |rest, begun| {
                            let (src, dst, len) = rest.parts();
                            seal_end(frame, key, nonce, &[], Some(begun), src, dst, len).tag()
                        })),
                    software |s, m, frame| Tagged::of(software::message(s, m, key.view(), nonce.into(), aad, text, true));
                /// Opens any message that is not an end. Returns the right tag.
                open[inline(never)](key: &Material, nonce: Nonce96, aad: &[u8]; text) -> Block =>
                    woven |s, m, frame|
                        gcm::long::<_, _, false>(s, m, key.view(), nonce, aad, text, |rest, begun| {
                            let (src, dst, len) = rest.parts();
                            open_end(frame, key, nonce, &[], Some(begun), src, dst, len)
                        }),
                    software |s, m, frame|
                        software::message(s, m, key.view(), nonce.into(), aad, text, false);
            }
            /// Messages step by step.
            Steps {
                /// Continues GHASH over the bytes that wait and over `data`, padded with zeros to whole
                /// blocks.
                hash[inline(never)](key: &Material, hash: &mut Hash, data: &[u8]) -> () =>
                    woven |s, m, frame| drive::hash(s, m, key.view(), hash, data),
                    software |s, m, frame| software::hash(s, m, key.view(), hash, data);
                /// Encrypts a piece of text from block `index` on, and continues its hash. The piece has
                /// whole blocks.
                seal_piece(key: &Material, start: &Start, index: u32, hash: &mut Hash; text) -> () =>
                    woven |s, m, frame| {
                        let flush = |waits: &mut Hash| self::hash(frame, key, waits, &[]);
                        drive::update::<_, _, true>(s, m, key.view(), start, index, hash, text, flush)
                    },
                    software |s, m, frame| software::update(s, m, key.view(), start, index, hash, text, true);
                /// Decrypts a piece of text from block `index` on, and continues its hash. The piece has
                /// whole blocks.
                open_piece(key: &Material, start: &Start, index: u32, hash: &mut Hash; text) -> () =>
                    woven |s, m, frame| {
                        let flush = |waits: &mut Hash| self::hash(frame, key, waits, &[]);
                        drive::update::<_, _, false>(s, m, key.view(), start, index, hash, text, flush)
                    },
                    software |s, m, frame|
                        software::update(s, m, key.view(), start, index, hash, text, false);
                /// Writes the keystream of the blocks from `index` on to `pads`.
                pads(key: &Material, start: &Start, index: u32, pads: &mut Table<PADS>) -> () =>
                    woven |s, m, frame| drive::pads(s, key.view(), start, index, pads),
                    software |s, m, frame| software::pads(s, m, key.view(), start, index, pads);
                /// Ends GHASH with the lengths block: the result is the tag, once AES of J0 masks it. No
                /// bytes may wait.
                finish(key: &Material, hash: &Hash, lengths: Block, start: Option<&Start>) -> Block =>
                    woven |s, m, frame| drive::finish(s, m, key.view(), hash, lengths, start),
                    software |s, m, frame| software::finish(s, m, key.view(), hash, lengths, start);
                /// Returns AES of a block.
                aes(key: &Material, block: Block) -> Block =>
                    woven |s, m, frame| drive::aes(s, key.view(), block),
                    software |s, m, frame| software::aes(s, m, key.view(), block);
            }
            /// A key derived from another key.
            Derive {
                /// Encrypts the first `wanted` of these blocks with AES, in place, side by side.
                aes_beside(key: &Material, blocks: &mut Table<SIDE_BY_SIDE>, wanted: usize) -> () =>
                    woven |s, m, frame| drive::aes_beside(s, key.view(), blocks, wanted),
                    software |s, m, frame| software::aes_beside(s, m, key.view(), blocks, wanted);
            }
            /// A key in place of another.
            Rekey {
                /// Derives what messages need, in place of a key or where `Messages::derive` has written
                /// zeros.
                expand[inline(never)](
                    place: &mut MaybeUninit<Material>, key: &[u8], one: Option<(usize, usize)>
                ) -> () =>
                    woven |s, m, frame| {
                        // SAFETY: the place was made blank, or holds another key: the schedule is
                        // initialised.
                        let (schedule, tables) = unsafe { Material::parts(place) };
                        gcm::expand(s, m, schedule, tables, key, one)
                    },
                    software |s, m, frame| {
                        // SAFETY: the place was made blank, or holds another key: the schedule is
                        // initialised.
                        let (schedule, tables) = unsafe { Material::parts(place) };
                        software::expand(s, m, schedule, tables.zeroed(), key)
                    };
            }
            /// A short message with a key of its own.
            Once {
                /// Seals or opens a message of at most `gcm::most_once`. Returns the right tag.
                once(key: &[u8], nonce: Nonce96, aad: &[u8], seal: bool; text) -> Block =>
                    woven |s, m, frame| gcm::once(s, m, key, nonce, aad, text, seal),
                    software |s, m, frame| unreachable!("`gcm::most_once` says that there is none");
            }
            /// Packets side by side.
            Batches {
                /// Seals packets while they have the lengths of the first, which `gcm::most_batch` allows.
                /// Returns how many were sealed.
                seal_batch(key: &Material, packets: &mut [Packet<'_>]) -> (usize, usize) =>
                    woven |s, m, frame| gcm::batch::<_, _, true>(s, m, key.view(), packets),
                    software |s, m, frame| (0, 0);
                /// Opens packets while they have the lengths of the first, which `gcm::most_batch` allows.
                /// Returns how many were opened, and how many of their tags are wrong.
                open_batch(key: &Material, packets: &mut [Packet<'_>]) -> (usize, usize) =>
                    woven |s, m, frame| gcm::batch::<_, _, false>(s, m, key.view(), packets),
                    software |s, m, frame| (0, 0);
            }
            /// CTR alone.
            Ctr {
                /// Encrypts or decrypts, from the counter block `first` on.
                ctr(key: &Material, first: Block; text) -> () =>
                    woven |s, m, frame| drive::ctr(s, key.view(), first, text),
                    software |s, m, frame| software::ctr(s, m, key.view(), first, text);
            }
            /// AES-GCM-SIV.
            Siv {
                /// Seals a message under a key-generating key, or opens it if its tag is `given`. Returns the
                /// right tag.
                siv(key: &Material, nonce: Nonce96, aad: &[u8], given: Option<&Block>; text) -> Block =>
                    woven |s, m, frame| gcm::siv(s, m, &key.schedule, nonce, aad, text, given),
                    software |s, m, frame| software::siv(s, m, key.view(), nonce, aad, text, given);
            }
        }
    };
}
pub(super) use verbs;

/// Makes a struct for each group, and safe calls of its functions.
///
/// Each call takes `then`, which gets the result before the registers and the stack are wiped (feature
/// `scrub`): tags are compared there, so the tag that a forgery should have had is wiped with everything
/// else.
macro_rules! groups {
    ([] $($(#[$doc:meta])* $Group:ident { $(
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])? $(<$life:lifetime>)?
            ($($argument:ident: $type:ty),* $(; $text:ident)?) -> $result:ty =>
            woven |$s:ident, $m:ident, $f:ident| $woven:expr,
            software |$z:ident, $n:ident, $g:ident| $software:expr;
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

/// Makes the functions of a row, which is a module:
/// `[engine, instruction set, multiplication, [size] features]`.
macro_rules! functions {
    ($row:tt $($(#[$doc:meta])* $Group:ident { $(
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])? $(<$life:lifetime>)?
            ($($argument:ident: $type:ty),* $(; $text:ident)?) -> $result:ty =>
            woven |$s:ident, $m:ident, $f:ident| $woven:expr,
            software |$z:ident, $n:ident, $g:ident| $software:expr;
    )+ })+) => {$(
        $(
            crate::row::verbs::function! { $row
                $(#[$meta])* $verb $([$($attribute),+])? $(<$life>)?
                ($($argument: $type),* $(; $text)?) -> $result =>
                woven |$s, $m, $f| $woven, software |$z, $n, $g| $software
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

/// Makes one function of a row.
macro_rules! function {
    // rustc has no stable names for these features: there is nothing to enable, and the row's operations
    // enable them themselves.
    ([$engine:ident, $isa:ty, $multiply:ident, [$($size:tt)?] unnamed $unnamed:literal] $($verb:tt)*) => {
        crate::row::verbs::function! { [$engine, $isa, $multiply, [$($size)?]] $($verb)* }
    };
    ([Woven, $isa:ty, $multiply:ident, [] $($features:literal)?]
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])? $(<$life:lifetime>)?
        ($($argument:ident: $type:ty),* $(; $text:ident)?)
        -> $result:ty => woven |$s:ident, $m:ident, $f:ident| $woven:expr,
        software |$z:ident, $n:ident, $g:ident| $software:expr) => {
        crate::row::verbs::function! { @ [$($features)?] [<$isa>::here()] [$multiply] enter
            $(#[$meta])* $verb $([$($attribute),+])? $(<$life>)?
                ($($argument: $type),* $(; $text)?) -> $result => |$s, $m, $f| $woven }
    };
    ([Software, $isa:ty, $multiply:ident, [$size:tt] $($features:literal)?]
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])? $(<$life:lifetime>)?
        ($($argument:ident: $type:ty),* $(; $text:ident)?)
        -> $result:ty => woven |$s:ident, $m:ident, $f:ident| $woven:expr,
        software |$z:ident, $n:ident, $g:ident| $software:expr) => {
        crate::row::verbs::function! {
            @ [$($features)?] [<$isa>::here()] [software::By::<_, $size>($multiply)] enter_calls
            $(#[$meta])* $verb $([$($attribute),+])? $(<$life>)?
                ($($argument: $type),* $(; $text)?) -> $result => |$z, $n, $g| $software }
    };
    (@ [$($features:literal)?] [$here:expr] [$multiply:expr] $enter:ident
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])? $(<$life:lifetime>)?
        ($($argument:ident: $type:ty),*) -> $result:ty => |$s:ident, $m:ident, $f:ident| $body:expr) => {
        crate::isa::row_function! {
            $(#[target_feature(enable = $features)])?
            $(#[$meta])*
            $($(#[$attribute])+)?
            #[allow(unused_variables)]
            fn $verb $(<$life>)? (frame: Frame<'_>, $($argument: $type),*) -> $result {
                frame.$enter();
                let ($s, $m, $f) = ($here, $multiply, frame);
                $body
            }
        }
    };
    (@ [$($features:literal)?] [$here:expr] [$multiply:expr] $enter:ident
        $(#[$meta:meta])* $verb:ident $([$($attribute:meta),+])?
        ($($argument:ident: $type:ty),*; $text:ident) -> $result:ty =>
        |$s:ident, $m:ident, $f:ident| $body:expr) => {
        crate::isa::row_function! {
            $(#[target_feature(enable = $features)])?
            $(#[$meta])*
            $($(#[$attribute])+)?
            #[allow(unused_variables)]
            fn $verb(frame: Frame<'_>, $($argument: $type,)* src: *const u8, dst: *mut u8, len: usize) -> $result {
                frame.$enter();
                let ($s, $m, $f) = ($here, $multiply, frame);
                #[allow(unsafe_code)]
                // SAFETY: the caller of a row's function passes what `InOut::parts` returned.
                let $text = unsafe { InOut::between(src, dst, len) };
                $body
            }
        }
    };
}
pub(super) use function;
