//! The plan: which way a message goes. Its thresholds are defined here, with the measurements behind them.
//!
//! A message ends with an *end* ([`tail`](super::tail)): up to eight vectors of text, the tag's mask, and
//! before them AAD or the hash so far. What does not fit comes before it, in the *beginning*
//! ([`drive`](super::drive)): AAD that is hashed first, and turns of eight vectors. One test prints the plan
//! of each width as a table (docs/plan.md); another walks through every length and state.
//!
//! Thresholds of other ways are defined where these ways begin: `max_once` (a key for one message) in
//! [`gcm`](super), `max_batch` in [`batch`](mod@super::batch) and `side_by_side` in `row` (packets side by
//! side), `SHORT_TURN` in [`turn`](super::turn), `LARGE` in `running` (pieces), `FIRST` in `gmac`, `COPIED`
//! and `AAD` in `gathered` (lists of chunks), `PAYS` and `PART` in `parallel` (threads), `AHEAD` in `inout`
//! (how far ahead memory is prefetched).
//!
//! The measurements behind the thresholds were made on Zen 4 (a trial that left out each path by itself) and
//! on Emerald Rapids, where `bars --before COMMIT` (tools/bench) measures a changed threshold against the
//! previous commit. A threshold that is not the number of a row's powers must gain 5 % in a range of lengths
//! on two families of processors.

use crate::{
    Block,
    ghash::{aad_lanes, max_powers},
    inout::TURN,
};

/// Returns how many blocks `bytes` fill. A slice has that many bytes. (`div_ceil` takes three
/// instructions more.)
#[inline(always)]
#[expect(clippy::manual_div_ceil)]
pub(crate) const fn blocks(bytes: usize) -> usize {
    (bytes + 15) / 16
}

/// Returns the lengths block, in bits, mirrored. It cannot overflow, because `limits` comes first.
#[inline(always)]
pub(crate) fn lengths(aad: u64, text: u64) -> Block {
    ((aad as Block * 8) << 64) | (text as Block * 8)
}

/// The vectors of a step, which comes before the last vectors of an end of more than four: as many vectors as
/// fit, with their hash, in the processor's window. Without the step 512 bytes take 6 to 13 % longer (Zen 4);
/// sealing 257 to 512 bytes takes 0.93 to 0.99 of the time that tails of up to nine vectors took (Emerald
/// Rapids).
pub(crate) const STEP: usize = 4;

/// The shortest message, in bytes, whose turns prefetch memory (`inout::AHEAD` bytes ahead): beyond the cache
/// prefetching turns take 0.81 to 0.98 of the time (Emerald Rapids), within the cache there is no difference. (tests/lists.rs
/// has this number too, and stands at its edge.)
pub(crate) const PREFETCH_PAYS: usize = 32 << 10;

/// The blocks of a window ([`ahead`](super::ahead)): as many as the last byte of a counter has values.
pub(crate) const WINDOW: usize = 256;

/// The shortest text, in bytes, whose turns run two rounds ahead ([`ahead`](super::ahead)): two windows.
pub(crate) const AHEAD_PAYS: usize = 2 * 16 * WINDOW;

/// Returns how many of the `bytes` of a piece that begins with block `index` come before turns that run two
/// rounds ahead: what comes before a window, or all of them, where turns ahead do not pay. A turn has `turn`
/// blocks.
#[inline(always)]
pub(crate) const fn before_ahead(turn: usize, index: u32, bytes: usize) -> usize {
    let before = 16 * (index.wrapping_neg() as usize % WINDOW);
    if (index as usize).is_multiple_of(turn) && bytes >= before + AHEAD_PAYS { before } else { bytes }
}

/// The last vectors of a text, the last of which may be cut, and J0. "Lane" says that J0 has the last lane,
/// which the text leaves free. With four lanes this saves 4 to 12 % of 16 to 112 bytes (Zen 4), with two
/// lanes 6 % of 1 to 16 bytes (Emerald Rapids). The smallest class comes first: a text takes the first class
/// that it fits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Empty,
    OneLane,
    One,
    TwoLane,
    Two,
    Three,
    Four,
}

impl Class {
    /// Returns the class of the last `bytes` of a text.
    #[cfg(test)]
    fn of(blocks: usize, bytes: usize) -> Option<Self> {
        use Class::*;
        [Empty, OneLane, One, TwoLane, Two, Three, Four].into_iter().find(|class| class.fits(blocks, bytes))
    }

    /// Returns whether the last `bytes` of a text fit, in vectors of `blocks` blocks. (Comparisons replace a
    /// jump table: so the optimiser knows in each class how long the last vector can be, and a short text
    /// goes through few comparisons.)
    #[inline(always)]
    pub(crate) const fn fits(self, blocks: usize, bytes: usize) -> bool {
        let vector = 16 * blocks;
        match self {
            Self::Empty => bytes == 0,
            Self::OneLane => blocks > 1 && bytes <= vector - 16,
            Self::One => bytes <= vector,
            Self::TwoLane => blocks > 2 && bytes <= 2 * vector - 16,
            Self::Two => bytes <= 2 * vector,
            Self::Three => bytes <= 3 * vector,
            Self::Four => bytes <= 4 * vector,
        }
    }
}

/// Returns whether four whole vectors come before the last vectors of a text that needs no turn, or no
/// further turn.
#[inline(always)]
pub(crate) const fn has_step(blocks: usize, bytes: usize) -> bool {
    bytes > 16 * STEP * blocks
}

/// Returns the most blocks of AAD and text together, and bytes of text, of a message that is an end, in
/// vectors of `blocks` blocks: a key has a power for each block and for the lengths, so nothing waits for a
/// hash. (When AAD of 49 to 368 bytes was hashed first, before 16 bytes of text, it took 15 to 35 % longer:
/// Zen 4, Zen 5.) With no blocks, where nothing is woven, a block of AAD without text is an end.
///
/// The beginning of a longer message leaves up to a turn, which must be an end: the verbs `seal_end` and
/// `open_end` tell the optimiser so. [`is_end`] relies on one block more.
pub(crate) const fn max_end(blocks: usize) -> (usize, usize) {
    let max = (if blocks == 0 { 1 } else { max_powers(blocks) - 1 }, max_text(blocks));
    assert!(max.0 > TURN * blocks && max.1 == 16 * TURN * blocks);
    max
}

/// Returns whether a message is an end; `max` is what [`max_end`] returns. (One block of AAD has its power beside any
/// text that needs no turn, so most messages need two comparisons.)
#[inline(always)]
pub(crate) const fn is_end(max: (usize, usize), aad: usize, text: usize) -> bool {
    text <= max.1 && (aad <= 16 || blocks(aad) + blocks(text) <= max.0)
}

/// Returns the most bytes of text that need no turn, in vectors of `blocks` blocks.
pub(crate) const fn max_text(blocks: usize) -> usize {
    const { assert!(2 * STEP == TURN) }
    16 * TURN * blocks
}

/// Returns the most bytes of AAD that share a vector with the lengths.
pub(crate) const fn beside_lengths(blocks: usize) -> usize {
    16 * aad_lanes(blocks)
}

/// Returns the highest power of H that a message needs: one for each block of its end, including AAD, and one
/// for the lengths; and the powers of a turn, if the message has a beginning.
pub(crate) const fn powers(blocks: usize, aad: usize, text: usize) -> usize {
    if is_end(max_end(blocks), aad, text) {
        self::blocks(aad) + self::blocks(text) + 1
    } else {
        max_powers(blocks)
    }
}

#[cfg(test)]
mod tests;
