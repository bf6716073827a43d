//! Five ways to read and write the last part of a text, which fills no vector, without accesses out of bounds.
//!
//! | | reads | of which source |
//! |---|---|---|
//! | [`Masked`] | once; where there are no masks, two overlapping words | the library |
//! | [`Overlapping`] | the last 16 bytes of the text, whatever of it has been read before | after Biesheuvel, 2019 |
//! | [`Right`] | all blocks of the tail at once, each of the four loads somewhere in the text | Biesheuvel, 2019 |
//! | [`StackBuffer`] | through a buffer on the stack | the code that he replaced |
//! | [`ByteLoop`] | a byte at a time | Intel's code of 2010 and many since |

use fastgcm::internals::{Isa, load, store};

/// Reads and writes `text[from..]`, which is not empty and no longer than a vector.
pub(crate) trait Tail {
    /// True if a tail of less than four blocks is processed at once, from the right to the left ([`Right`]).
    const FROM_THE_RIGHT: bool = false;
    /// Reads the tail, with zeros behind its end.
    fn load<S: Isa>(s: S, text: &[u8], from: usize) -> S::V;
    /// Writes the bytes of the tail.
    fn store<S: Isa>(s: S, text: &mut [u8], from: usize, v: S::V);
}

/// The masked loads and stores of the instruction set.
pub(crate) struct Masked;

impl Tail for Masked {
    #[inline(always)]
    fn load<S: Isa>(s: S, text: &[u8], from: usize) -> S::V {
        load(s, &text[from..])
    }

    #[inline(always)]
    fn store<S: Isa>(s: S, text: &mut [u8], from: usize, v: S::V) {
        store(s, &mut text[from..], v);
    }
}

/// One load of the last 16 bytes of the text, from which the bytes before the tail are shifted out. For vectors of one block, and a `text`
/// (of the current group) of 16 bytes or more; otherwise as [`Masked`].
/// With `RIGHT`, the whole tail of a message in groups of four vectors of one block is processed at once (`message::from_the_right`).
pub(crate) struct By16<const RIGHT: bool>;

pub(crate) type Overlapping = By16<false>;
pub(crate) type Right = By16<true>;

impl<const RIGHT: bool> Tail for By16<RIGHT> {
    const FROM_THE_RIGHT: bool = RIGHT;

    #[inline(always)]
    fn load<S: Isa>(s: S, text: &[u8], from: usize) -> S::V {
        match text.last_chunk::<16>() {
            Some(last) if S::BLOCKS == 1 => s.first(s.fold(load(s, last)) >> (8 * (16 - (text.len() - from)))),
            _ => Masked::load(s, text, from),
        }
    }

    /// Writes the bytes before the tail again, unchanged.
    #[inline(always)]
    fn store<S: Isa>(s: S, text: &mut [u8], from: usize, v: S::V) {
        let tail = text.len() - from;
        match text.last_chunk_mut::<16>() {
            Some(last) if S::BLOCKS == 1 && tail > 0 => {
                let before = 8 * (16 - tail);
                let kept = s.fold(load(s, last)) & ((1 << before) - 1);
                store(s, last, s.first(kept | s.fold(v) << before));
            }
            _ => Masked::store(s, text, from, v),
        }
    }
}

/// A buffer on the stack, filled with `memcpy`.
pub(crate) struct StackBuffer;

impl Tail for StackBuffer {
    #[inline(always)]
    fn load<S: Isa>(s: S, text: &[u8], from: usize) -> S::V {
        let mut buffer = [0; 64];
        buffer[..text.len() - from].copy_from_slice(&text[from..]);
        load(s, &buffer[..16 * S::BLOCKS])
    }

    #[inline(always)]
    fn store<S: Isa>(s: S, text: &mut [u8], from: usize, v: S::V) {
        let mut buffer = [0; 64];
        store(s, &mut buffer[..16 * S::BLOCKS], v);
        let n = text.len() - from;
        text[from..].copy_from_slice(&buffer[..n]);
    }
}

/// A loop over single bytes.
pub(crate) struct ByteLoop;

impl Tail for ByteLoop {
    #[inline(always)]
    fn load<S: Isa>(s: S, text: &[u8], from: usize) -> S::V {
        let mut buffer = [0; 64];
        for (byte, place) in text[from..].chunks(1).zip(&mut buffer) {
            *place = s.fold(load(s, byte)) as u8;
        }
        load(s, &buffer[..16 * S::BLOCKS])
    }

    #[inline(always)]
    fn store<S: Isa>(s: S, text: &mut [u8], from: usize, v: S::V) {
        let mut buffer = [0; 64];
        store(s, &mut buffer[..16 * S::BLOCKS], v);
        for (place, byte) in text[from..].chunks_mut(1).zip(&buffer) {
            store(s, place, s.first(u128::from(*byte)));
        }
    }
}
