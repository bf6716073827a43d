//! The only functions with `#[target_feature]`, generated from the table in `backend.rs`.

/// The entries of one row: what `backend::Entries` lists, behind the one gate where vectors come to life. Short and long
/// messages are two functions, so that a short one does not pay for the long one's stack frame.
macro_rules! entries {
    ($variant:ident, $row:ident, $isa:expr, $multiply:expr, $features:literal, lanes $lanes:literal) => {
        mod $row {
            #[allow(unused_imports)]
            use crate::{
                Block,
                aes::Schedule,
                backend::{Backend, Entries},
                gcm::{self, Bulk, Calls, Rest, apart},
                ghash::{Karatsuba, KeyFolded, KeyFoldedHalves, Multiply, Winograd},
                inout::{Ends, InOut, made},
                isa::*,
                key::Material,
                nonce::{J0, Nonce96},
            };
            use core::mem::MaybeUninit;

            pub(super) static ENTRIES: Entries = Entries {
                backend: Backend::$variant,
                derive,
                expand,
                wipe,
                most_short: gcm::most_short($lanes),
                once: if $lanes == 1 { None } else { Some((gcm::most_once($lanes), once)) },
                seal_short,
                open_short,
                seal,
                open,
                any,
                j0,
                tag,
                #[cfg(test)]
                prove: |fault| crate::ghash::proof::Provable::prove($multiply, fault),
                #[cfg(test)]
                products,
                #[cfg(test)]
                fill,
            };

            /// For a key that is returned by value.
            #[target_feature(enable = $features)]
            fn derive(frame: Frame<'_>, key: &[u8], powers: usize) -> Material {
                frame.enter();
                made(|place| derive_in(frame, place, key, powers))
            }

            #[target_feature(enable = $features)]
            fn derive_in<'a>(frame: Frame<'_>, place: &'a mut MaybeUninit<Material>, key: &[u8], powers: usize) -> &'a mut Material {
                frame.enter();
                gcm::derive($isa, $multiply, place, key, powers)
            }

            #[target_feature(enable = $features)]
            fn expand(frame: Frame<'_>, material: &mut Material, key: &[u8]) {
                frame.enter();
                gcm::expand($isa, $multiply, material, key);
            }

            #[target_feature(enable = $features)]
            fn wipe(material: &mut Material) {
                gcm::wipe($isa, material);
            }

            #[target_feature(enable = $features)]
            fn once(frame: Frame<'_>, key: &[u8], nonce: Nonce96, aad: &[u8], text: InOut<'_>, seal: bool) -> Block {
                frame.enter();
                let mut schedule = Schedule::ZERO;
                gcm::once($isa, $multiply, &mut schedule, key, nonce, aad, text, seal)
            }

            #[target_feature(enable = $features)]
            fn seal_short(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], ends: Ends<'_>, len: usize) -> Block {
                frame.enter();
                let text = crate::backend::short_text!($isa, $lanes, aad, ends, len);
                gcm::short::<_, _, true, false>($isa, $multiply, Row(frame), key, nonce, aad, text)
            }

            #[target_feature(enable = $features)]
            fn open_short(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], ends: Ends<'_>, len: usize) -> Block {
                frame.enter();
                let text = crate::backend::short_text!($isa, $lanes, aad, ends, len);
                gcm::short::<_, _, false, false>($isa, $multiply, Row(frame), key, nonce, aad, text)
            }

            #[target_feature(enable = $features)]
            fn seal(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                frame.enter();
                if gcm::has_much_aad($isa, aad, &text) {
                    seal_much_aad(frame, key, nonce, aad, text)
                } else {
                    seal_long(frame, key, nonce, aad, text)
                }
            }

            #[target_feature(enable = $features)]
            #[inline(never)]
            fn seal_long(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                frame.enter();
                gcm::long::<_, _, true>($isa, $multiply, Row(frame), key, nonce, aad, text)
            }

            #[target_feature(enable = $features)]
            #[inline(never)]
            fn seal_much_aad(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                frame.enter();
                gcm::short::<_, _, true, true>($isa, $multiply, Row(frame), key, nonce, aad, text.here())
            }

            #[target_feature(enable = $features)]
            fn open(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                frame.enter();
                if gcm::has_much_aad($isa, aad, &text) {
                    open_much_aad(frame, key, nonce, aad, text)
                } else {
                    open_long(frame, key, nonce, aad, text)
                }
            }

            #[target_feature(enable = $features)]
            #[inline(never)]
            fn open_long(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                frame.enter();
                gcm::long::<_, _, false>($isa, $multiply, Row(frame), key, nonce, aad, text)
            }

            #[target_feature(enable = $features)]
            #[inline(never)]
            fn open_much_aad(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                frame.enter();
                gcm::short::<_, _, false, true>($isa, $multiply, Row(frame), key, nonce, aad, text.here())
            }

            #[target_feature(enable = $features)]
            #[inline(never)]
            fn bulk<'a, S: Isa, M: Multiply<S>, const SEAL: bool, const FACE: bool>(
                frame: Frame<'_>,
                s: S,
                multiply: M,
                key: &'a Material,
                all: Bulk<'a, S>,
            ) -> Bulk<'a, S> {
                frame.enter();
                gcm::bulk::<S, M, SEAL, FACE>(s, multiply, key, all)
            }

            #[target_feature(enable = $features)]
            #[inline(never)]
            #[cfg(debug_assertions)]
            fn tail<S: Isa, M: Multiply<S>, const SEAL: bool, const N: usize, const ALL: usize, const WHOLE: usize>(
                frame: Frame<'_>,
                s: S,
                key: &Material,
                rest: Rest<'_, S>,
            ) -> Block {
                frame.enter();
                gcm::tail::<S, M, SEAL, N, ALL, WHOLE>(s, &key.schedule, &key.powers, rest)
            }

            crate::backend::calls!();

            #[target_feature(enable = $features)]
            fn any(frame: Frame<'_>, key: &Material, j0: J0, aad: &[u8], text: InOut<'_>, seal: bool) -> Block {
                frame.enter();
                apart::any($isa, $multiply, key, j0, aad, text, seal)
            }

            #[target_feature(enable = $features)]
            fn j0(frame: Frame<'_>, key: &Material, nonce: &[u8]) -> J0 {
                frame.enter();
                apart::j0($isa, $multiply, key, nonce)
            }

            #[target_feature(enable = $features)]
            fn tag(frame: Frame<'_>, key: &Material, j0: J0, aad: &[u8], ciphertext: &[u8]) -> Block {
                frame.enter();
                apart::tag($isa, $multiply, key, j0, aad, ciphertext)
            }

            /// Any other work, compiled for this row.
            #[cfg(feature = "internals")]
            #[target_feature(enable = $features)]
            pub(super) fn run<J: crate::backend::Job>(job: J) -> J::Output {
                job.run($isa, $multiply)
            }

            // What a proof needs of a row, beside its messages.
            #[target_feature(enable = $features)]
            #[cfg(test)]
            fn products(block: Block, h: Block) -> [[Block; 4]; 2] {
                crate::ghash::proof::products($isa, $multiply, block, h)
            }

            #[target_feature(enable = $features)]
            #[cfg(test)]
            fn fill(material: &mut Material, h: Block) {
                crate::ghash::proof::fill($isa, $multiply, material, h);
            }
        }
    };
    // A row that needs no feature has no instruction for AES.
    ($variant:ident, $row:ident, $isa:expr, $multiply:expr) => {
        entries! { $variant, $row, $isa, $multiply, by plain }
    };
    ($variant:ident, $row:ident, $isa:expr, $multiply:expr, $features:literal, by $way:ident) => {
        entries! { $variant, $row, $isa, $multiply, by $way, $features }
    };
    // Features that rustc has no stable names for: nothing to enable, and the row's operations see to themselves. Through memory, so
    // there is nothing to weave.
    ($variant:ident, $row:ident, $isa:expr, $multiply:expr, unnamed $features:literal) => {
        entries! { $variant, $row, $isa, $multiply, by apart }
    };
    // One way for all messages.
    ($variant:ident, $row:ident, $isa:expr, $multiply:expr, by $way:ident $(, $features:literal)?) => {
        mod $row {
            use crate::{
                Block,
                backend::{Backend, Entries},
                gcm::$way,
                ghash::*,
                inout::{Ends, InOut, made},
                isa::*,
                key::Material,
                nonce::{J0, Nonce96},
            };
            use core::mem::MaybeUninit;

            pub(super) static ENTRIES: Entries = Entries {
                backend: Backend::$variant,
                derive,
                expand,
                wipe,
                most_short: (0, 0), // empty ones alone
                once: None,
                seal_short,
                open_short,
                seal,
                open,
                any,
                j0,
                tag,
                #[cfg(test)]
                prove: |fault| crate::ghash::proof::Provable::prove($multiply, fault),
                #[cfg(test)]
                products,
                #[cfg(test)]
                fill,
            };

            $(#[target_feature(enable = $features)])?
            fn derive(frame: Frame<'_>, key: &[u8], powers: usize) -> Material {
                frame.enter_calls();
                made(|place| derive_in(frame, place, key, powers))
            }

            $(#[target_feature(enable = $features)])?
            fn derive_in<'a>(frame: Frame<'_>, place: &'a mut MaybeUninit<Material>, key: &[u8], powers: usize) -> &'a mut Material {
                frame.enter_calls();
                $way::derive($isa, $multiply, place, key, powers)
            }

            $(#[target_feature(enable = $features)])?
            fn expand(frame: Frame<'_>, material: &mut Material, key: &[u8]) {
                frame.enter_calls();
                $way::expand($isa, $multiply, material, key);
            }

            $(#[target_feature(enable = $features)])?
            fn wipe(material: &mut Material) {
                $way::wipe($isa, material);
            }

            $(#[target_feature(enable = $features)])?
            fn seal_short(frame: Frame<'_>, key: &Material, nonce: Nonce96, _: &[u8], _: Ends<'_>, _: usize) -> Block {
                frame.enter_calls();
                any(frame, key, nonce.into(), &[], InOut::in_place(&mut []), true)
            }

            $(#[target_feature(enable = $features)])?
            fn seal(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                frame.enter_calls();
                any(frame, key, nonce.into(), aad, text, true)
            }

            $(#[target_feature(enable = $features)])?
            fn open_short(frame: Frame<'_>, key: &Material, nonce: Nonce96, _: &[u8], _: Ends<'_>, _: usize) -> Block {
                frame.enter_calls();
                any(frame, key, nonce.into(), &[], InOut::in_place(&mut []), false)
            }

            $(#[target_feature(enable = $features)])?
            fn open(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>) -> Block {
                frame.enter_calls();
                any(frame, key, nonce.into(), aad, text, false)
            }

            $(#[target_feature(enable = $features)])?
            fn any(frame: Frame<'_>, key: &Material, j0: J0, aad: &[u8], text: InOut<'_>, seal: bool) -> Block {
                frame.enter_calls();
                $way::any($isa, $multiply, key, j0, aad, text, seal)
            }

            $(#[target_feature(enable = $features)])?
            fn j0(frame: Frame<'_>, key: &Material, nonce: &[u8]) -> J0 {
                frame.enter_calls();
                $way::j0($isa, $multiply, key, nonce)
            }

            $(#[target_feature(enable = $features)])?
            fn tag(frame: Frame<'_>, key: &Material, j0: J0, aad: &[u8], ciphertext: &[u8]) -> Block {
                frame.enter_calls();
                $way::tag($isa, $multiply, key, j0, aad, ciphertext)
            }

            // What a proof needs of a row, beside its messages.
            $(#[target_feature(enable = $features)])?
            #[cfg(test)]
            fn products(block: Block, h: Block) -> [[Block; 4]; 2] {
                $way::products($isa, $multiply, block, h)
            }

            $(#[target_feature(enable = $features)])?
            #[cfg(test)]
            fn fill(material: &mut Material, h: Block) {
                $way::fill($isa, $multiply, material, h);
            }

            /// Any other work.
            #[cfg(feature = "internals")]
            $(#[target_feature(enable = $features)])?
            pub(super) fn run<J: crate::backend::Job>(job: J) -> J::Output {
                job.run($isa, $way::multiply($isa, $multiply))
            }
        }
    };
}
pub(crate) use entries;
