//! The last part of a text, which fills no vector: five ways to read and write it without touching what lies beside it.
//!
//! | | reads | of which source |
//! |---|---|---|
//! | [`Masked`] | once; where there are no masks, two overlapping words | the library |
//! | [`Overlapping`] | the last 16 bytes of the text, whatever of it has been read before | after Biesheuvel, 2019 |
//! | [`Right`] | all blocks of the tail at once, each of the four loads somewhere in the text | Biesheuvel, 2019 |
//! | [`StackBuffer`] | into a buffer and from there | what he replaced |
//! | [`ByteLoop`] | a byte at a time | Intel's code of 2010 and many since |

use fastgcm::internals::{Isa, load, store};

/// A way to read and write `text[from..]`, which is not empty and no longer than a vector.
pub(crate) trait Tail {
    /// A tail of less than four blocks is done at once, from the right to the left ([`Right`]).
    const FROM_THE_RIGHT: bool = false;
    /// Reads; zeros stand behind the end.
    fn load<S: Isa>(s: S, text: &[u8], from: usize) -> S::V;
    /// Writes as many bytes as there are.
    fn store<S: Isa>(s: S, text: &mut [u8], from: usize, v: S::V);
}

/// The loads and stores that the instruction set has for it.
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

/// One load of the last 16 bytes of the text; what does not belong to the tail is shifted out. For vectors of one block, and a `text` (that
/// of the group in hand) of 16 bytes or more: else as [`Masked`].
/// With `RIGHT`, all of the tail of a message that goes four vectors of one block at a time is done at once (`message::from_the_right`).
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

    /// The bytes before the tail are written again, as they are.
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

/// A buffer, filled by a call of `memcpy`.
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

/// A loop, a byte at a time.
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
