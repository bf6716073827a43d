//! The plan: which way a message goes. Its thresholds stand here, with what set them.
//!
//! A message ends with an *end* ([`tail`](super::tail)): up to eight vectors of text, the tag's mask, and
//! before them AAD or the hash of what has been. What does not fit goes before, into the *beginning*
//! ([`drive`](super::drive)): AAD that is hashed first, and turns of eight vectors. A test prints the plan of
//! each width as a table (docs/plan.md), another one walks through every length and state.
//!
//! Thresholds of other ways stand where these ways begin: `most_once` (a key for one message) in [`gcm`](super),
//! `most_batch` in [`batch`](mod@super::batch) and `side_by_side` in `row` (packets side by side), `FEW` in
//! [`siv`](mod@super::siv), `LARGE` in `running` (pieces), `FIRST` in `gmac`, `COPIED` and `AAD` in `gathered`
//! (lists of chunks), `PAYS` and `PART` in `parallel` (threads), `AHEAD` in `inout` (how far memory is asked for).
//!
//! What set the thresholds was measured on Zen 4 (a trial, each path left out by itself) and on Emerald
//! Rapids, where `bars --before COMMIT` (lab/bench) measures a change of one beside the commit before. A
//! threshold that is not the number of a row's powers needs 5 % in a range of lengths on two families of
//! processors.

use crate::{
    Block,
    ghash::{aad_lanes, most_powers},
    inout::TURN,
};

/// Blocks of so many bytes, which a slice has. (`div_ceil` takes three instructions more.)
#[inline(always)]
#[expect(clippy::manual_div_ceil)]
pub(crate) const fn blocks(bytes: usize) -> usize {
    (bytes + 15) / 16
}

/// The lengths block, in bits, mirrored. No overflow: `limits` comes first.
#[inline(always)]
pub(crate) fn lengths(aad: u64, text: u64) -> Block {
    ((aad as Block * 8) << 64) | (text as Block * 8)
}

/// Vectors of a step, which comes before the last ones of an end of more than four: as many as fit, with
/// their hash, in the window of the processor. Without it 512 bytes take 6 to 13 % longer (Zen 4); 257 to 512
/// bytes sealed take 0.93 to 0.99 of what tails of up to nine vectors took (Emerald Rapids).
pub(crate) const STEP: usize = 4;

/// Bytes of a message from which on turns ask for memory ahead (`inout::AHEAD` bytes): beyond the cache they
/// take 0.81 to 0.98 of the time (Emerald Rapids), within it there is no difference.
pub(crate) const ASK_PAYS: usize = 32 << 10;

/// The last vectors of a text, of which the last may be cut, and J0. "Lane" says that J0 has the last lane,
/// which the text leaves: of four lanes 4 to 12 % of 16 to 112 bytes (Zen 4), of two lanes 6 % of 1 to
/// 16 bytes (Emerald Rapids). From the smallest on: a text takes the first that it fits
/// in.
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
    /// The class of the last `bytes` of a text.
    #[cfg(test)]
    fn of(blocks: usize, bytes: usize) -> Option<Self> {
        use Class::*;
        [Empty, OneLane, One, TwoLane, Two, Three, Four].into_iter().find(|class| class.fits(blocks, bytes))
    }

    /// Whether the last `bytes` of a text fit, in vectors of `blocks` blocks. (Comparisons, not a table of
    /// places to jump to: so the optimiser knows in each class how long the last vector can be, and a short
    /// text goes through few of them.)
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

/// Whether four whole vectors come before the last ones of a text that needs no turn, or no more of them.
#[inline(always)]
pub(crate) const fn has_step(blocks: usize, bytes: usize) -> bool {
    bytes > 16 * STEP * blocks
}

/// The most blocks of AAD and text together, and bytes of text, of a message that is an end, in vectors of
/// `blocks` blocks: a key has a power for each block, and for the lengths, so that nothing waits for a hash.
/// (Hashed first, AAD of 49 to 368 bytes before 16 bytes of text took 15 to 35 % longer: Zen 4, Zen 5.) With
/// no blocks, where nothing is woven, empty messages are.
///
/// The beginning of a longer message leaves up to a turn, which must be an end: the verbs `seal_end` and
/// `open_end` tell the optimiser so.
pub(crate) const fn most(blocks: usize) -> (usize, usize) {
    let most = (most_powers(blocks).saturating_sub(1), most_text(blocks));
    assert!(most.0 >= TURN * blocks && most.1 >= 16 * TURN * blocks);
    most
}

/// Whether a message is an end, of which this is the [`most`].
#[inline(always)]
pub(crate) const fn is_end(most: (usize, usize), aad: usize, text: usize) -> bool {
    text <= most.1 && blocks(aad) + blocks(text) <= most.0
}

/// The most bytes of text that need no turn, in vectors of `blocks` blocks.
pub(crate) const fn most_text(blocks: usize) -> usize {
    const { assert!(2 * STEP == TURN) }
    16 * TURN * blocks
}

/// The most bytes of AAD that share a vector with the lengths.
pub(crate) const fn beside_lengths(blocks: usize) -> usize {
    16 * aad_lanes(blocks)
}

/// The highest power of H that a message asks for: one for each block of its end, AAD among them, and one for
/// the lengths; and those of a turn, if it has a beginning.
pub(crate) const fn powers(blocks: usize, aad: usize, text: usize) -> usize {
    if is_end(most(blocks), aad, text) {
        self::blocks(aad) + self::blocks(text) + 1
    } else {
        most_powers(blocks)
    }
}

#[cfg(test)]
mod tests;
