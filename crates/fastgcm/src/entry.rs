//! The only functions with `#[target_feature]`, generated from the table in `backend.rs`.

/// The functions of one row: what `backend::Kernels` lists, behind the one gate where vectors come to life. Short and long messages are two
/// functions, so that a short one does not pay for the long one's stack frame.
macro_rules! entries {
    // Features that rustc has no stable names for: nothing to enable, and the row's operations see to themselves.
    ($variant:ident, $row:ident, $engine:ident<$isa:ty, $multiply:ident $(, $n:tt)?>, unnamed $unnamed:literal) => {
        entries! { $variant, $row, $engine<$isa, $multiply $(, $n)?> }
    };
    ($variant:ident, $row:ident, $engine:ident<$isa:ty, $multiply:ident $(, $n:tt)?> $(, $features:literal)?) => {
        mod $row {
            #[allow(unused_imports)]
            use crate::{
                Block,
                backend::{Backend, Batches, Ctr, Expand, Kernels, Once, Siv},
                engine::{Engine, Sequential, Software, Woven},
                gcm::{self, Beside, Bulk, Outlined, Rest},
                ghash::{Karatsuba, KeyFolded, KeyFoldedHalves, Multiply, Nibbles, Winograd},
                inout::{Ends, Hash, InOut, Room},
                isa::*,
                material::Material,
                nonce::{J0, Nonce96, Start},
                packet::Packet,
                runs::Text,
                steps::{Steps, Turns},
            };
            use core::mem::MaybeUninit;

            type E = $engine<$isa, $multiply $(, $n)?>;

            pub(super) static KERNELS: Kernels = Kernels {
                backend: Backend::$variant,
                derive,
                wipe,
                most_short: E::MOST_SHORT,
                seal_short,
                open_short,
                seal,
                open,
                has_runs: E::TURN.is_some(),
                #[cfg(test)]
                prove: |fault| crate::ghash::proof::Provable::prove($multiply, fault),
                #[cfg(test)]
                products,
                #[cfg(test)]
                fill,
            };

            pub(super) static STEPS: Steps =
                Steps { hash, crypt, turns: if let Some(turn) = E::TURN { Some(Turns { blocks: turn, seal: seal_turns, open: open_turns, many: piece, settle }) } else { None }, finish, aes };
            pub(super) const EXPAND: Expand = expand;
            pub(super) const ONCE: Option<Once> = if let Some(most) = E::MOST_ONCE { Some((most, once)) } else { None };
            pub(super) const BATCH: Option<Batches> = if let Some(most) = E::MOST_BATCH { Some((most, seal_batch, open_batch)) } else { None };
            #[cfg_attr(not(feature = "hazmat"), allow(dead_code))]
            pub(super) const CTR: Ctr = ctr;
            pub(super) const SIV: Siv = siv;

            /// The engine, where the row's features are enabled.
            macro_rules! engine {
                () => {
                    $engine(<$isa>::here(), $multiply)
                };
            }

            $(#[target_feature(enable = $features)])?
            fn derive<'a>(frame: Frame<'_>, place: &'a mut MaybeUninit<Material>, key: &[u8], one: Option<(usize, usize)>) -> &'a mut Material {
                E::enter(frame);
                engine!().blank(place);
                expand(frame, place, key, one);
                crate::backend::expanded!(place)
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn expand(frame: Frame<'_>, place: &mut MaybeUninit<Material>, key: &[u8], one: Option<(usize, usize)>) {
                E::enter(frame);
                let (schedule, tables) = crate::backend::unexpanded!(place);
                engine!().expand(schedule, tables, key, one);
            }

            $(#[target_feature(enable = $features)])?
            fn wipe(material: &mut Material) {
                engine!().wipe(material.view_mut());
            }

            $(#[target_feature(enable = $features)])?
            fn once(frame: Frame<'_>, key: &[u8], nonce: Nonce96, aad: &[u8], text: InOut<'_>, seal: bool) -> Block {
                E::enter(frame);
                engine!().once(key, nonce, aad, text, seal)
            }

            $(#[target_feature(enable = $features)])?
            fn seal_short(
                frame: Frame<'_>,
                key: &Material,
                nonce: Nonce96,
                aad: &[u8],
                ends: Ends<'_>,
                len: usize,
            ) -> Block {
                E::enter(frame);
                let text = crate::backend::short_text!(aad, ends, len);
                engine!().short::<true>(Row(frame), key.view(), nonce, aad, text)
            }

            $(#[target_feature(enable = $features)])?
            fn open_short(
                frame: Frame<'_>,
                key: &Material,
                nonce: Nonce96,
                aad: &[u8],
                ends: Ends<'_>,
                len: usize,
            ) -> Block {
                E::enter(frame);
                let text = crate::backend::short_text!(aad, ends, len);
                engine!().short::<false>(Row(frame), key.view(), nonce, aad, text)
            }

            $(#[target_feature(enable = $features)])?
            fn seal<'a>(frame: Frame<'_>, key: &'a Material, nonce: Nonce96, aad: &[u8], text: &mut Text<'a>) -> Block {
                E::enter(frame);
                engine!().long::<true>(Row(frame), key.view(), nonce, aad, text)
            }

            $(#[target_feature(enable = $features)])?
            fn open<'a>(frame: Frame<'_>, key: &'a Material, nonce: Nonce96, aad: &[u8], text: &mut Text<'a>) -> Block {
                E::enter(frame);
                engine!().long::<false>(Row(frame), key.view(), nonce, aad, text)
            }

            $(#[target_feature(enable = $features)])?
            fn seal_batch(frame: Frame<'_>, key: &Material, packets: &mut [Packet<'_>]) -> (usize, bool) {
                E::enter(frame);
                engine!().batch::<true>(key.view(), packets)
            }

            $(#[target_feature(enable = $features)])?
            fn open_batch(frame: Frame<'_>, key: &Material, packets: &mut [Packet<'_>]) -> (usize, bool) {
                E::enter(frame);
                engine!().batch::<false>(key.view(), packets)
            }

            $(#[target_feature(enable = $features)])?
            fn hash(frame: Frame<'_>, key: &Material, hash: &mut Hash, data: &[u8]) {
                E::enter(frame);
                engine!().hash(key.view(), hash, data);
            }

            $(#[target_feature(enable = $features)])?
            #[allow(clippy::too_many_arguments)]
            fn crypt(frame: Frame<'_>, key: &Material, start: &Start, index: u32, hash: &mut Hash, ends: Ends<'_>, len: usize, seal: bool) {
                E::enter(frame);
                engine!().crypt(key.view(), start, index, hash, crate::backend::text!(ends, len), seal);
            }

            $(#[target_feature(enable = $features)])?
            #[allow(clippy::too_many_arguments)]
            fn seal_turns(
                frame: Frame<'_>,
                key: &Material,
                nonce: &Nonce96,
                index: u32,
                hash: &mut Hash,
                room: Option<&mut Room>,
                ends: Ends<'_>,
                len: usize,
            ) {
                E::enter(frame);
                engine!().turns::<true>(key.view(), *nonce, index, hash, room, crate::backend::text!(ends, len));
            }

            $(#[target_feature(enable = $features)])?
            fn open_turns(frame: Frame<'_>, key: &Material, nonce: &Nonce96, index: u32, hash: &mut Hash, ends: Ends<'_>, len: usize) {
                E::enter(frame);
                engine!().turns::<false>(key.view(), *nonce, index, hash, None, crate::backend::text!(ends, len));
            }

            $(#[target_feature(enable = $features)])?
            fn settle(frame: Frame<'_>, key: &Material, hash: &mut Hash, room: &Room) {
                E::enter(frame);
                engine!().settle(key.view(), hash, room);
            }

            $(#[target_feature(enable = $features)])?
            #[allow(clippy::too_many_arguments)]
            fn piece<'a>(
                frame: Frame<'_>,
                key: &'a Material,
                nonce: Nonce96,
                index: u32,
                hash: &mut Hash,
                room: Option<&mut Room>,
                text: InOut<'a>,
                seal: bool,
            ) -> InOut<'a> {
                E::enter(frame);
                engine!().piece(Row(frame), key.view(), nonce, index, hash, room, text, seal)
            }

            $(#[target_feature(enable = $features)])?
            fn finish(frame: Frame<'_>, key: &Material, hash: &Hash, lengths: Block, j0: Option<J0>) -> Block {
                E::enter(frame);
                engine!().finish(key.view(), hash, lengths, j0)
            }

            $(#[target_feature(enable = $features)])?
            fn ctr(frame: Frame<'_>, key: &Material, first: Block, text: InOut<'_>) {
                E::enter(frame);
                engine!().ctr(key.view(), first, text);
            }

            $(#[target_feature(enable = $features)])?
            fn siv(frame: Frame<'_>, key: &Material, nonce: Nonce96, aad: &[u8], text: InOut<'_>, given: Option<Block>) -> Block {
                E::enter(frame);
                engine!().siv(key.view(), nonce, aad, text, given)
            }

            $(#[target_feature(enable = $features)])?
            fn aes(frame: Frame<'_>, key: &Material, block: Block) -> Block {
                E::enter(frame);
                engine!().aes(key.view(), block)
            }

            // What is written once, and inlined into the functions above, calls as a function of its own. (Cold, so that what waits in registers while it runs
            // is no concern of shorter messages.)
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            #[cold]
            fn bulk<'a, S: Isa, M: Multiply<S>, const SEAL: bool, const FACE: bool>(
                frame: Frame<'_>,
                s: S,
                multiply: M,
                key: &'a gcm::Material,
                all: &mut Bulk<'a, S>,
            ) {
                frame.enter();
                gcm::bulk::<S, M, SEAL, FACE>(s, multiply, key, all);
            }

            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            #[cfg(debug_assertions)]
            fn tail<S: Isa, M: Multiply<S>, B: Beside<S, M>, const SEAL: bool, const N: usize, const ALL: usize, const WHOLE: usize>(
                frame: Frame<'_>,
                s: S,
                key: &gcm::Material,
                rest: Rest<'_, S, B>,
            ) -> Block {
                frame.enter();
                gcm::tail::<S, M, B, SEAL, N, ALL, WHOLE>(s, &key.schedule, &key.tables, rest)
            }

            crate::backend::calls!();

            /// Any other work, compiled for this row.
            #[cfg(feature = "internals")]
            $(#[target_feature(enable = $features)])?
            pub(super) fn run<J: crate::backend::Job>(job: J) -> J::Output {
                let (s, multiply) = engine!().parts();
                job.run(s, multiply)
            }

            // What a proof needs of a row, beside its messages.
            $(#[target_feature(enable = $features)])?
            #[cfg(test)]
            fn products(block: Block, h: Block) -> [[Block; 4]; 2] {
                engine!().products(block, h)
            }

            $(#[target_feature(enable = $features)])?
            #[cfg(test)]
            fn fill(material: &mut Material, h: Block) {
                engine!().fill(material.view_mut(), h);
            }
        }
    };
}
pub(crate) use entries;
