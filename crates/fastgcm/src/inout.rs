//! Memory as vectors: the message that is being transformed, and tables of blocks. Bounds are checked once
//! for a whole turn; inside a turn, positions are compile-time constants.

use crate::{Block, isa::Vectors};
use core::{marker::PhantomData, ptr::NonNull};

mod hash;
mod made;
mod storage;
mod table;
pub(crate) use hash::{Hash, PADS, WAITING};
pub(crate) use made::*;
pub(crate) use storage::{Kept, Plain, Storage, Unwritten, plain};
pub(crate) use table::{Filling, Part, Table, no_memset};

/// The number of vectors in one turn of the bulk loop, on every back end: as many AES states as hide the
/// latency of a round.
pub(crate) const TURN: usize = 8;

/// A message on its way: `len` bytes that are read from `src` and written to `dst`, which are equal or
/// disjoint. The type is not `Copy`: only the owner of the value may write to `dst`.
pub(crate) struct InOut<'a> {
    src: *const u8,
    dst: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [u8]>,
}

impl<'a> InOut<'a> {
    /// Returns where the text is read and written, and its length: numbers, which travel in registers.
    #[inline(always)]
    pub(crate) fn parts(self) -> (*const u8, *mut u8, usize) {
        (self.src, self.dst, self.len)
    }

    /// Puts together what [`parts`](Self::parts) has taken apart.
    /// # Safety
    /// The numbers come from `parts`, and nobody else uses that memory while the result lives.
    #[inline(always)]
    pub(crate) unsafe fn between(src: *const u8, dst: *mut u8, len: usize) -> Self {
        Self { src, dst, len, life: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn in_place(text: &'a mut [u8]) -> Self {
        let dst = text.as_mut_ptr();
        Self { src: dst, dst, len: text.len(), life: PhantomData }
    }

    /// A message without text.
    pub(crate) const EMPTY: Self = Self {
        src: NonNull::dangling().as_ptr(),
        dst: NonNull::dangling().as_ptr(),
        len: 0,
        life: PhantomData,
    };

    /// Returns `None` unless both buffers have the same length.
    #[inline(always)]
    pub(crate) fn copying(from: &'a [u8], to: &'a mut [u8]) -> Option<Self> {
        (from.len() == to.len()).then_some(Self {
            src: from.as_ptr(),
            dst: to.as_mut_ptr(),
            len: from.len(),
            life: PhantomData,
        })
    }

    /// Takes the text in RustCrypto's buffers: one buffer, or two that do not overlap.
    #[cfg(feature = "aead06")]
    #[inline(always)]
    pub(crate) fn of(buffer: aead::inout::InOutBuf<'a, 'a, u8>) -> Self {
        let len = buffer.len();
        let (src, dst) = buffer.into_raw();
        Self { src, dst, len, life: PhantomData }
    }

    /// Returns whether input and output are one buffer.
    #[cfg(feature = "aead06")]
    #[inline(always)]
    pub(crate) fn is_in_place(&self) -> bool {
        core::ptr::eq(self.src, self.dst)
    }

    /// Lends this text as a value of its own. The caller's value lies in memory, so every step through the
    /// message would be stored there.
    #[inline(always)]
    pub(crate) fn here(&mut self) -> InOut<'_> {
        InOut { src: self.src, dst: self.dst, len: self.len, life: PhantomData }
    }

    /// Returns the number of bytes that are left.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Prefetches the memory of a later turn.
    #[inline(always)]
    pub(crate) fn prefetch_turn<S: Vectors>(&self, s: S) {
        each!(I in 0 1 2 3 4 5 6 7 => { if const { (I * 16 * S::BLOCKS).is_multiple_of(LINE) } {
            s.prefetch(self.src.wrapping_add(I * 16 * S::BLOCKS + AHEAD));
        } });
    }

    /// Returns the bytes that are read.
    #[inline(always)]
    pub(crate) fn source(&self) -> &[u8] {
        // SAFETY: `len` bytes are readable, and are written only by way of `&mut self`.
        unsafe { core::slice::from_raw_parts(self.src, self.len) }
    }

    /// Returns the bytes that have been written.
    #[inline(always)]
    pub(crate) fn written(&self) -> &[u8] {
        // SAFETY: `len` bytes are readable, and are written only by way of `&mut self`.
        unsafe { core::slice::from_raw_parts(self.dst, self.len) }
    }

    /// Takes the next `vectors` vectors, or all that is left.
    #[inline(always)]
    pub(crate) fn take<S: Vectors>(&mut self, vectors: usize) -> Self {
        self.take_blocks(S::BLOCKS * vectors)
    }

    /// Splits the text into its whole vectors and the rest, which is less than a vector.
    #[inline(always)]
    pub(crate) fn split_cut<S: Vectors>(self) -> (Self, Self) {
        let cut = self.len % (16 * S::BLOCKS);
        let whole = Self { len: self.len - cut, ..self };
        // SAFETY: `whole.len` bytes lie inside the message.
        let (src, dst) = unsafe { (whole.src.add(whole.len), whole.dst.add(whole.len)) };
        (whole, Self { src, dst, len: cut, life: PhantomData })
    }

    /// Returns the last turn, which there must be.
    #[inline(always)]
    pub(crate) fn last_turn<S: Vectors>(mut self, _: S) -> Self {
        assert!(self.len >= TURN * 16 * S::BLOCKS);
        self.take_len(self.len - TURN * 16 * S::BLOCKS);
        self
    }

    /// Takes the last vector, if the last vector is whole.
    #[inline(always)]
    pub(crate) fn take_last<S: Vectors>(&mut self) -> Option<Self> {
        self.len = self.len.checked_sub(16 * S::BLOCKS)?;
        // SAFETY: `self.len` bytes lie inside the message, and a vector behind them.
        let (src, dst) = unsafe { (self.src.add(self.len), self.dst.add(self.len)) };
        Some(Self { src, dst, len: 16 * S::BLOCKS, life: PhantomData })
    }

    /// Takes the next `blocks` blocks, or all that is left.
    #[inline(always)]
    pub(crate) fn take_blocks(&mut self, blocks: usize) -> Self {
        self.take_len(16 * blocks)
    }

    /// Takes the next `len` bytes, or all that is left.
    #[inline(always)]
    pub(crate) fn take_len(&mut self, len: usize) -> Self {
        let len = self.len.min(len);
        let taken = Self { src: self.src, dst: self.dst, len, life: PhantomData };
        // SAFETY: `len` bytes lie inside the message.
        unsafe {
            self.src = self.src.add(len);
            self.dst = self.dst.add(len);
        }
        self.len -= len;
        taken
    }

    /// Takes the next `n <= 16` bytes, or all that is left, as a part of a block: `f` turns what is read into
    /// what is written, as numbers whose lowest byte is the first byte. Returns both numbers.
    #[inline(always)]
    pub(crate) fn take_bytes(&mut self, n: usize, f: impl FnOnce(Block) -> Block) -> (Block, Block) {
        let n = n.min(16).min(self.len);
        // SAFETY: these bytes lie inside the message.
        unsafe {
            let input = load_bytes_of_block(self.src, n);
            let output = f(input) & first_bytes(n);
            store_bytes_of_block(self.dst, n, output);
            (self.src, self.dst) = (self.src.add(n), self.dst.add(n));
            self.len -= n;
            (input, output)
        }
    }

    /// Takes the next turn, if there is one.
    #[inline(always)]
    pub(crate) fn whole_turn<S: Vectors>(&mut self, s: S) -> Option<Turn<'a, S>> {
        if self.len < TURN * 16 * S::BLOCKS { None } else { self.take::<S>(TURN).whole(s) }
    }

    /// Returns all of the text, if it is a turn.
    #[inline(always)]
    pub(crate) fn whole<S: Vectors>(self, s: S) -> Option<Turn<'a, S>> {
        if self.len == TURN * 16 * S::BLOCKS { Some(Turn::new(s, self)) } else { None }
    }

    /// Loads vector `I` of what is left, of which `WHOLE` vectors are whole, with zeros behind the end.
    #[inline(always)]
    pub(crate) fn load<S: Vectors, const I: usize, const WHOLE: usize>(&self, s: S) -> S::V {
        let src = self.src.wrapping_add(I * 16 * S::BLOCKS);
        if const { I < WHOLE } {
            assert!(self.len >= WHOLE * 16 * S::BLOCKS);
            // SAFETY: the line above has checked the bounds.
            return unsafe { s.load(src) };
        }
        // SAFETY: `bytes` never reaches beyond the end; where it is 0, nothing is read.
        unsafe { s.load_first(src, self.bytes::<S, I>()) }
    }

    /// Writes the part of vector `I` that lies inside the message.
    #[inline(always)]
    pub(crate) fn store<S: Vectors, const I: usize, const WHOLE: usize>(&mut self, s: S, v: S::V) {
        let dst = self.dst.wrapping_add(I * 16 * S::BLOCKS);
        if const { I < WHOLE } {
            assert!(self.len >= WHOLE * 16 * S::BLOCKS);
            // SAFETY: the line above has checked the bounds.
            return unsafe { s.store(dst, v) };
        }
        // SAFETY: `bytes` never reaches beyond the end; where it is 0, nothing is written.
        unsafe { s.store_first(dst, self.bytes::<S, I>(), v) }
    }

    /// Returns how many bytes of the message lie in vector `I`.
    #[inline(always)]
    pub(crate) fn bytes<S: Vectors, const I: usize>(&self) -> usize {
        self.len.saturating_sub(I * 16 * S::BLOCKS).min(16 * S::BLOCKS)
    }

    /// Tells the optimiser that the first `whole` vectors are whole and need no mask.
    #[inline(always)]
    pub(crate) fn at_least<S: Vectors>(self, whole: usize) -> Self {
        assert!(self.len >= whole * 16 * S::BLOCKS);
        self
    }
}

/// The bytes of a cache line.
const LINE: usize = 64;

/// How far ahead of a turn memory is prefetched. The processor prefetches by itself, but not early enough.
/// With this, sealing 128 MiB took 0.81 to 0.93 of the time (`vaes-avx512`; the gain was largest where
/// vectors cross cache lines), 0.85 to 0.89 (`vaes-avx2`) and 0.88 (`aesni-avx`), and opening took 0.93 to
/// 0.98, 0.85 to 0.90 and 0.94 to 0.98. Within the cache it made no difference. Half this distance gained two
/// thirds of that; twice this distance gained less where vectors cross lines. (Emerald Rapids, AES-256.)
const AHEAD: usize = 2048;

/// `TURN` vectors that are known to be in bounds.
pub(crate) struct Turn<'a, S: Vectors> {
    /// The bytes of these vectors.
    text: InOut<'a>,
    /// What was stored, on machines with enough registers to keep it.
    kept: [S::V; TURN],
}

impl<'a, S: Vectors> Turn<'a, S> {
    #[inline(always)]
    fn new(s: S, text: InOut<'a>) -> Self {
        Self { text, kept: [s.splat(0); TURN] }
    }

    #[inline(always)]
    pub(crate) fn load<const I: usize>(&self, s: S) -> S::V {
        const { assert!(I < TURN) }
        // SAFETY: a turn is in bounds.
        unsafe { s.load(self.text.src.add(I * 16 * S::BLOCKS)) }
    }

    #[inline(always)]
    pub(crate) fn store<const I: usize>(&mut self, s: S, v: S::V) {
        const { assert!(I < TURN) }
        if const { S::MANY_REGISTERS } {
            self.kept[I] = v;
        }
        // SAFETY: a turn is in bounds.
        unsafe { s.store(self.text.dst.add(I * 16 * S::BLOCKS), v) }
    }
}

/// A turn that was stored.
pub(crate) struct SealedTurn<'a, S: Vectors>(Turn<'a, S>);

impl<'a, S: Vectors> SealedTurn<'a, S> {
    /// Marks a turn of which all vectors have been stored.
    #[inline(always)]
    pub(crate) fn of(turn: Turn<'a, S>) -> Self {
        Self(turn)
    }

    /// Returns a turn without text, in place of one that nobody uses.
    #[inline(always)]
    pub(crate) fn nothing(s: S) -> Self {
        Self(Turn::new(s, InOut::EMPTY))
    }

    /// Returns where the turn lies, so that memory can hand it over.
    #[inline(always)]
    pub(crate) fn text(self) -> InOut<'a> {
        self.0.text
    }

    /// Returns the turn that was stored in `text`.
    #[inline(always)]
    pub(crate) fn at(s: S, text: &'a InOut<'_>) -> Self {
        assert!(text.len == 16 * S::BLOCKS * TURN);
        // Only `load` uses this value.
        let text = InOut { src: text.src, dst: text.dst, len: text.len, life: PhantomData };
        let mut stored = Self(Turn::new(s, text));
        if const { S::MANY_REGISTERS } {
            each!(I in 0 1 2 3 4 5 6 7 => { stored.0.kept[I] = stored.written::<I>(s); });
        }
        stored
    }

    /// Returns what `store` wrote: kept in a register, or read again. (Reading again made a long message that
    /// is sealed with vectors of 64 bytes 3 % slower on Zen 4, and 7 to 14 % slower where vectors cross cache
    /// lines, as they do in memory from `malloc`.)
    #[inline(always)]
    pub(crate) fn load<const I: usize>(&self, s: S) -> S::V {
        if const { S::MANY_REGISTERS } { self.0.kept[I] } else { self.written::<I>(s) }
    }

    #[inline(always)]
    fn written<const I: usize>(&self, s: S) -> S::V {
        const { assert!(I < TURN) }
        // SAFETY: a turn is in bounds.
        unsafe { s.load(self.0.text.dst.add(I * 16 * S::BLOCKS)) }
    }
}

/// Loads the first `bytes.len() <= 16 * BLOCKS` bytes of a vector, with zeros behind them. (Longer input is
/// cut.)
#[inline(always)]
pub(crate) fn load_bytes<S: Vectors>(s: S, bytes: &[u8]) -> S::V {
    let n = bytes.len();
    if n <= 16 {
        // SAFETY: n bytes are readable.
        unsafe { s.load_block(bytes.as_ptr(), n) }
    } else {
        // SAFETY: so many bytes are readable.
        unsafe { s.load_first(bytes.as_ptr(), n.min(16 * S::BLOCKS)) }
    }
}

/// Loads sixteen bytes of a key as one block.
#[inline(always)]
pub(crate) fn load_key<S: Vectors>(s: S, bytes: &[u8]) -> Block {
    assert!(bytes.len() >= 16);
    // SAFETY: the line above has checked the length.
    unsafe { s.load_key(bytes.as_ptr()) }
}

/// Returns ones in the first `n <= 16` bytes.
#[inline(always)]
fn first_bytes(n: usize) -> Block {
    if n == 0 { 0 } else { Block::MAX >> (8 * (16 - n)) }
}

/// Loads the first `n <= 16` bytes of a block, with zeros behind them, by two accesses that overlap: a call
/// of `memcpy` takes longer, and so does a shift of 128 bits by an unknown number.
/// # Safety
/// The `n` bytes are readable.
#[inline(always)]
unsafe fn load_bytes_of_block(src: *const u8, n: usize) -> Block {
    macro_rules! at {
        ($type:ty, $i:expr) => {
            // SAFETY: this part lies among the `n` bytes.
            <$type>::from_le_bytes(unsafe { src.add($i).cast::<[u8; size_of::<$type>()]>().read() }) as u64
        };
    }
    let (low, high) = match n {
        9.. => (at!(u64, 0), at!(u64, n - 8) >> (8 * (16 - n))),
        8 => (at!(u64, 0), 0),
        4.. => (at!(u32, 0) | at!(u32, n - 4) << (8 * (n - 4)), 0),
        2.. => (at!(u16, 0) | at!(u16, n - 2) << (8 * (n - 2)), 0),
        1 => (at!(u8, 0), 0),
        _ => (0, 0),
    };
    low as Block | (high as Block) << 64
}

/// Writes the first `n <= 16` bytes of a block, by two accesses that overlap.
/// # Safety
/// The `n` bytes are writable.
#[inline(always)]
unsafe fn store_bytes_of_block(dst: *mut u8, n: usize, block: Block) {
    macro_rules! two {
        ($type:ty) => {{
            const SIZE: usize = size_of::<$type>();
            let last = n - SIZE;
            // SAFETY: both parts lie among the `n` bytes.
            unsafe {
                dst.cast::<[u8; SIZE]>().write((block as $type).to_le_bytes());
                dst.add(last).cast::<[u8; SIZE]>().write(((block >> (8 * last)) as $type).to_le_bytes());
            }
        }};
    }
    match n {
        8.. => two!(u64),
        4.. => two!(u32),
        2.. => two!(u16),
        1 => two!(u8),
        _ => {}
    }
}

/// Returns the first `bytes.len() <= 16` bytes of a block, with zeros behind them. (Longer input is cut.)
#[inline(always)]
pub(crate) fn part_of_block(bytes: &[u8]) -> Block {
    // SAFETY: so many bytes are readable.
    unsafe { load_bytes_of_block(bytes.as_ptr(), bytes.len().min(16)) }
}

/// Loads a vector of `16 * BLOCKS` bytes.
#[inline(always)]
pub(crate) fn load_vector<S: Vectors>(s: S, bytes: &[u8]) -> S::V {
    assert!(bytes.len() == 16 * S::BLOCKS);
    // SAFETY: the line above has checked the length.
    unsafe { s.load(bytes.as_ptr()) }
}
