//! What messages need of a key: round keys and powers of H.

use super::plan;
use crate::{
    aes::{Material, Schedule},
    ghash::{Multiply, Powers},
    inout::Unwritten,
    isa::Isa,
};
use zeroize::Zeroize;

/// A key as the functions of these modules see it. (The functions of [`software`](super::software) have a
/// type of their own.)
pub(crate) type WovenMaterial = Material<Powers>;

/// Derives everything that messages need from 16, 24 or 32 bytes of key, or only what one message with these
/// numbers of bytes of AAD and text needs. Nothing of the previous contents remains.
#[inline(always)]
pub(crate) fn expand<S: Isa, M: Multiply<S>>(
    s: S,
    _: M,
    schedule: &mut Schedule,
    mut tables: Unwritten<'_, Powers>,
    key: &[u8],
    one: Option<(usize, usize)>,
) {
    let h = schedule.expand::<S, true>(s, key);
    let powers = if let Some((aad, text)) = one { plan::powers(S::BLOCKS, aad, text) } else { usize::MAX };
    Powers::fill::<S, M>(&mut tables, s, h, powers);
}

/// Returns how many blocks of the tables [`expand`] writes.
#[inline(always)]
pub(crate) const fn filled<S: Isa>(_: S) -> usize {
    Powers::filled::<S>()
}

/// Writes zeros where `expand` has written.
#[inline(always)]
pub(crate) fn wipe<S: Isa>(s: S, material: &mut WovenMaterial) {
    material.schedule.zeroize();
    material.tables.wipe(s);
}
