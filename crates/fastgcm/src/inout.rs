//! Memory as vectors: the message that is being transformed, and tables of blocks. Bounds are checked once for a whole turn;
//! inside, positions are compile-time constants.

use crate::{Block, isa::Vectors};
use core::{marker::PhantomData, mem::MaybeUninit, ptr::NonNull};
use zeroize::{Zeroize, optimization_barrier};

mod storage;
pub(crate) use storage::{Kept, Plain, Scratch, Storage, Unwritten, plain};

/// Vectors in one turn of the bulk loop, on every back end: as many AES states as hide the latency of a round.
pub(crate) const TURN: usize = 8;

/// A message on its way: `len` bytes read from `src` and written to `dst`, which are equal or disjoint.
#[derive(Clone, Copy)]
pub(crate) struct InOut<'a> {
    src: *const u8,
    dst: *mut u8,
    len: usize,
    life: PhantomData<&'a mut [u8]>,
}

/// Where a message is read and written, without its length: as two words they travel in registers.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    src: *const u8,
    dst: *mut u8,
    life: PhantomData<&'a mut [u8]>,
}

impl<'a> InOut<'a> {
    #[inline(always)]
    pub(crate) fn parts(self) -> (Ends<'a>, usize) {
        (Ends { src: self.src, dst: self.dst, life: PhantomData }, self.len)
    }

    /// What `parts` has taken apart.
    /// # Safety
    /// `len` is the length that came with `ends`.
    #[inline(always)]
    pub(crate) unsafe fn between(ends: Ends<'a>, len: usize) -> Self {
        Self { src: ends.src, dst: ends.dst, len, life: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn in_place(text: &'a mut [u8]) -> Self {
        let dst = text.as_mut_ptr();
        Self { src: dst, dst, len: text.len(), life: PhantomData }
    }

    /// No text.
    pub(crate) const EMPTY: Self = Self { src: NonNull::dangling().as_ptr(), dst: NonNull::dangling().as_ptr(), len: 0, life: PhantomData };

    /// `None` unless both have the same length.
    #[inline(always)]
    pub(crate) fn copying(from: &'a [u8], to: &'a mut [u8]) -> Option<Self> {
        (from.len() == to.len()).then_some(Self { src: from.as_ptr(), dst: to.as_mut_ptr(), len: from.len(), life: PhantomData })
    }

    /// The same of RustCrypto's buffers, which are one or two that do not overlap.
    #[cfg(feature = "aead06")]
    #[inline(always)]
    pub(crate) fn of(buffer: aead::inout::InOutBuf<'a, 'a, u8>) -> Self {
        let len = buffer.len();
        let (src, dst) = buffer.into_raw();
        Self { src, dst, len, life: PhantomData }
    }

    /// Both ends are one buffer.
    #[cfg(feature = "aead06")]
    #[inline(always)]
    pub(crate) fn is_in_place(&self) -> bool {
        core::ptr::eq(self.src, self.dst)
    }

    /// The same, told apart from the one that the caller handed over in memory: there every step through the message would be stored.
    #[inline(always)]
    pub(crate) fn here(&self) -> Self {
        Self { src: self.src, dst: self.dst, len: self.len, life: PhantomData }
    }

    /// Bytes that are left.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Takes the next turn, if that leaves so many bytes: see [`meeting`].
    #[inline(always)]
    pub(crate) fn turn<S: Vectors>(&mut self, s: S, left: usize) -> Option<Turn<'a, S>> {
        let turn = TURN * 16 * S::BLOCKS;
        if self.is_tail::<S>(left) {
            return None;
        }
        let taken = Turn::new(s, self);
        // SAFETY: the turn lies inside the message.
        unsafe {
            self.src = self.src.add(turn);
            self.dst = self.dst.add(turn);
        }
        self.len -= turn;
        Some(taken)
    }

    /// Asks for the memory of a later turn.
    #[inline(always)]
    pub(crate) fn ask_for_turn<S: Vectors>(&self, s: S) {
        each!(I in 0 1 2 3 4 5 6 7 => { if const { (I * 16 * S::BLOCKS).is_multiple_of(LINE) } {
            s.ask_for(self.src.wrapping_add(I * 16 * S::BLOCKS + AHEAD));
        } });
    }

    /// What is read.
    #[inline(always)]
    pub(crate) fn source(&self) -> &[u8] {
        // SAFETY: `len` bytes are readable. Whoever asks has done with them before anything is written there.
        unsafe { core::slice::from_raw_parts(self.src, self.len) }
    }

    /// What has been written.
    #[inline(always)]
    pub(crate) fn written(&self) -> &[u8] {
        // SAFETY: likewise.
        unsafe { core::slice::from_raw_parts(self.dst, self.len) }
    }

    /// Takes the next `vectors` vectors, or all that is left.
    #[inline(always)]
    pub(crate) fn take<S: Vectors>(&mut self, vectors: usize) -> Self {
        self.take_blocks(S::BLOCKS * vectors)
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
        let taken = Self { len, ..*self };
        // SAFETY: `len` bytes lie inside the message.
        unsafe {
            self.src = self.src.add(len);
            self.dst = self.dst.add(len);
        }
        self.len -= len;
        taken
    }

    /// The same where it is written, read from as many bytes elsewhere, if they are as many.
    #[inline(always)]
    pub(crate) fn reading(self, from: &'a [u8]) -> Option<Self> {
        (from.len() == self.len).then_some(Self { src: from.as_ptr(), ..self })
    }

    /// Copies bytes to where it is written. (Longer input is cut.)
    #[inline(always)]
    pub(crate) fn fill(self, bytes: &[u8]) {
        // SAFETY: so many bytes are writable, and nobody else borrows them.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.dst, bytes.len().min(self.len)) }
    }

    /// Takes the next `n <= 16` bytes, or all that is left, as a piece of a block: `f` makes what is written of what is read, in numbers whose
    /// lowest byte is the first. Returns both.
    #[inline(always)]
    pub(crate) fn take_bytes(&mut self, n: usize, f: impl FnOnce(Block) -> Block) -> (Block, Block) {
        let n = n.min(16).min(self.len);
        // SAFETY: so many bytes lie inside the message.
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

    /// All of it, if that is a turn.
    #[inline(always)]
    pub(crate) fn whole<S: Vectors>(&self, s: S) -> Option<Turn<'a, S>> {
        if self.len == TURN * 16 * S::BLOCKS { Some(Turn::new(s, self)) } else { None }
    }

    /// No turn can be taken from it that leaves so many bytes.
    #[inline(always)]
    pub(crate) fn is_tail<S: Vectors>(&self, left: usize) -> bool {
        is_tail::<S>(self.len, left)
    }

    /// Vector `I` of what is left, of which `WHOLE` vectors are whole; zeros behind the end.
    #[inline(always)]
    pub(crate) fn load<S: Vectors, const I: usize, const WHOLE: usize>(&self, s: S) -> S::V {
        let src = self.src.wrapping_add(I * 16 * S::BLOCKS);
        if const { I < WHOLE } {
            assert!(self.len >= WHOLE * 16 * S::BLOCKS);
            // SAFETY: just checked.
            return unsafe { s.load(src) };
        }
        // SAFETY: `bytes` never reaches past the end; where it is 0 nothing is read.
        unsafe { s.load_first(src, self.bytes::<S, I>()) }
    }

    /// Writes what lies inside the message, likewise.
    #[inline(always)]
    pub(crate) fn store<S: Vectors, const I: usize, const WHOLE: usize>(&mut self, s: S, v: S::V) {
        let dst = self.dst.wrapping_add(I * 16 * S::BLOCKS);
        if const { I < WHOLE } {
            assert!(self.len >= WHOLE * 16 * S::BLOCKS);
            // SAFETY: just checked.
            return unsafe { s.store(dst, v) };
        }
        // SAFETY: `bytes` never reaches past the end; where it is 0 nothing is written.
        unsafe { s.store_first(dst, self.bytes::<S, I>(), v) }
    }

    /// Bytes of the message in vector `I`.
    #[inline(always)]
    pub(crate) fn bytes<S: Vectors, const I: usize>(&self) -> usize {
        self.len.saturating_sub(I * 16 * S::BLOCKS).min(16 * S::BLOCKS)
    }

    /// Tells the optimiser that the first `whole` vectors are whole, so that they need no mask.
    #[inline(always)]
    pub(crate) fn at_least<S: Vectors>(self, whole: usize) -> Self {
        assert!(self.len >= whole * 16 * S::BLOCKS);
        self
    }
}

/// No turn can be taken from so many bytes that leaves `left` of them.
#[inline(always)]
pub(crate) fn is_tail<S: Vectors>(bytes: usize, left: usize) -> bool {
    bytes < 16 * TURN * S::BLOCKS + left
}

/// The fewest bytes that have a block for each lane: behind the turns of a message, the lanes of its hash meet there.
pub(crate) const fn meeting(blocks: usize) -> usize {
    16 * (blocks - 1) + 1
}

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// How far ahead of a turn memory is asked for. The processor does so by itself, but not soon enough. Sealing 128 MiB took 0.81 to 0.93 of the time
/// with this (`vaes-avx512`; most where vectors cross lines of the cache), 0.85 to 0.89 (`vaes-avx2`) and 0.88 (`aesni-avx`), opening 0.93 to 0.98,
/// 0.85 to 0.90 and 0.94 to 0.98. Within the cache it made no difference. Half as far gained two thirds of that; twice as far gained less where
/// vectors cross lines. (Emerald Rapids, AES-256.)
const AHEAD: usize = 2048;

/// `TURN` vectors, known to be in bounds.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a, S: Vectors> {
    place: Place<'a, S>,
    /// What was stored, where there are registers for it.
    kept: [S::V; TURN],
}

/// Where a turn is.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a, S> {
    src: *const u8,
    dst: *mut u8,
    life: PhantomData<(&'a mut [u8], S)>,
}

impl<'a, S: Vectors> Turn<'a, S> {
    #[inline(always)]
    fn new(s: S, text: &InOut<'a>) -> Self {
        Self { place: Place { src: text.src, dst: text.dst, life: PhantomData }, kept: [s.splat(0); TURN] }
    }

    /// Where it is, to be handed over in memory.
    #[inline(always)]
    pub(crate) fn place(&self) -> Place<'a, S> {
        self.place
    }

    /// The turn that was stored there.
    #[inline(always)]
    pub(crate) fn at(s: S, place: Place<'a, S>) -> Self {
        let mut kept = [s.splat(0); TURN];
        if const { S::ROOMY } {
            each!(I in 0 1 2 3 4 5 6 7 => { kept[I] = place.stored::<I>(s); });
        }
        Self { place, kept }
    }

    #[inline(always)]
    pub(crate) fn load<const I: usize>(&self, s: S) -> S::V {
        const { assert!(I < TURN) }
        // SAFETY: a turn is in bounds.
        unsafe { s.load(self.place.src.add(I * 16 * S::BLOCKS)) }
    }

    #[inline(always)]
    pub(crate) fn store<const I: usize>(&mut self, s: S, v: S::V) {
        const { assert!(I < TURN) }
        if const { S::ROOMY } {
            self.kept[I] = v;
        }
        // SAFETY: a turn is in bounds.
        unsafe { s.store(self.place.dst.add(I * 16 * S::BLOCKS), v) }
    }

    /// What `store` wrote: kept, or read again. (Read again, a long message that is sealed with vectors of 64 bytes took 3 % longer on Zen 4,
    /// and 7 to 14 % where they cross lines of the cache, as behind `malloc` they do.)
    #[inline(always)]
    pub(crate) fn stored<const I: usize>(&self, s: S) -> S::V {
        if const { S::ROOMY } { self.kept[I] } else { self.place.stored::<I>(s) }
    }
}

impl<S: Vectors> Place<'_, S> {
    #[inline(always)]
    fn stored<const I: usize>(&self, s: S) -> S::V {
        const { assert!(I < TURN) }
        // SAFETY: a turn is in bounds.
        unsafe { s.load(self.dst.add(I * 16 * S::BLOCKS)) }
    }
}

/// The first `bytes.len() <= 16 * BLOCKS` bytes of a vector; zeros behind. (Longer input is cut.)
#[inline(always)]
pub(crate) fn load_bytes<S: Vectors>(s: S, bytes: &[u8]) -> S::V {
    let n = bytes.len().min(16 * S::BLOCKS);
    // SAFETY: n bytes are readable.
    unsafe { if n <= 16 { s.load_block(bytes.as_ptr(), n) } else { s.load_first(bytes.as_ptr(), n) } }
}

/// Sixteen bytes of a key, as one block.
#[inline(always)]
pub(crate) fn load_key<S: Vectors>(s: S, bytes: &[u8]) -> Block {
    assert!(bytes.len() >= 16);
    // SAFETY: just checked.
    unsafe { s.load_key(bytes.as_ptr()) }
}

/// Ones in the first `n <= 16` bytes.
#[inline(always)]
fn first_bytes(n: usize) -> Block {
    if n == 0 { 0 } else { Block::MAX >> (8 * (16 - n)) }
}

/// The first `n <= 16` bytes of a block, zeros behind them, by two accesses that overlap: a call of `memcpy` takes longer, and so does a shift of 128
/// bits by a number that is not known.
/// # Safety
/// They are readable.
#[inline(always)]
unsafe fn load_bytes_of_block(src: *const u8, n: usize) -> Block {
    macro_rules! at {
        ($type:ty, $i:expr) => {
            // SAFETY: it lies among the `n` bytes.
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
/// They are writable.
#[inline(always)]
unsafe fn store_bytes_of_block(dst: *mut u8, n: usize, block: Block) {
    macro_rules! two {
        ($type:ty) => {{
            const SIZE: usize = size_of::<$type>();
            let last = n - SIZE;
            // SAFETY: both lie among the `n` bytes.
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

/// The first `bytes.len() <= 16` bytes of a block, zeros behind them. (Longer input is cut.)
#[inline(always)]
pub(crate) fn part_of_block(bytes: &[u8]) -> Block {
    // SAFETY: so many bytes are readable.
    unsafe { load_bytes_of_block(bytes.as_ptr(), bytes.len().min(16)) }
}

/// A vector of `16 * BLOCKS` bytes.
#[inline(always)]
pub(crate) fn load_vector<S: Vectors>(s: S, bytes: &[u8]) -> S::V {
    assert!(bytes.len() == 16 * S::BLOCKS);
    // SAFETY: just checked.
    unsafe { s.load(bytes.as_ptr()) }
}

/// A table of blocks that can be read one by one or a vector at a time: in memory every block has its bytes in the order of
/// the message, whatever the machine's own order.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Table<const N: usize>([Block; N]);

impl<const N: usize> Table<N> {
    pub(crate) const ZERO: Self = Self([0; N]);

    pub(crate) const fn set(&mut self, i: usize, block: Block) {
        self.0[i] = block.to_le();
    }

    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> Block {
        Block::from_le(self.0[i])
    }

    /// All of it, in the order of a message.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: blocks are plain bytes.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), 16 * N) }
    }

    /// The vector that starts at block `i`.
    #[inline(always)]
    pub(crate) fn load<S: Vectors>(&self, s: S, i: usize) -> S::V {
        assert!(i <= N - S::BLOCKS);
        // SAFETY: just checked.
        unsafe { s.load(self.0.as_ptr().add(i).cast()) }
    }

    #[inline(always)]
    pub(crate) fn store<S: Vectors>(&mut self, s: S, i: usize, v: S::V) {
        assert!(i <= N - S::BLOCKS);
        // SAFETY: just checked.
        unsafe { s.store(self.0.as_mut_ptr().add(i).cast(), v) }
    }

    /// Zeros in the first `n` vectors. (As a `memset` of more than 2 KiB it took 17 ns on Zen 5, and nothing beside it.)
    #[inline(always)]
    pub(crate) fn wipe_vectors<S: Vectors>(&mut self, s: S, n: usize) {
        let zero = no_memset(s);
        for i in 0..n {
            self.store(s, i * S::BLOCKS, zero);
        }
        optimization_barrier(self);
    }

    /// `blocks` blocks from block `i` on.
    #[inline(always)]
    pub(crate) fn part(&self, i: usize, blocks: usize) -> Part<'_> {
        Part(&self.0[i..][..blocks])
    }

    /// `blocks` blocks, of which the first stands `n` before block `end`.
    #[inline(always)]
    pub(crate) fn part_before(&self, end: usize, n: usize, blocks: usize) -> Part<'_> {
        assert!(n <= end && end - n + blocks <= N);
        // SAFETY: just checked. (As `part(end - n, ..)` it takes two instructions more.)
        Part(unsafe { core::slice::from_raw_parts(self.0.as_ptr().add(end).sub(n), blocks) })
    }
}

/// A hash in lanes, in memory.
pub(crate) type Lanes = Table<4>;

/// Room for a turn that was sealed. It is ciphertext, so nobody wipes it.
pub(crate) type Room = Table<{ 4 * TURN }>;

/// What a row keeps between two pieces of a message.
#[derive(Clone)]
pub(crate) struct Hash {
    /// All lanes but the first are zero unless a turn waits or has just been done. The first then is GHASH so far, its bytes turned round, on every row.
    lanes: Lanes,
    /// The last turn of a piece that was sealed waits in its room, and is hashed beside the AES of the next piece: alone it takes as long as AES, and
    /// the processor does not overlap what is so far apart.
    waits: bool,
    /// What whole turns make their counter blocks of (`gcm::counter`), and behind which period: 0 if nothing is kept.
    counter: Lanes,
    behind: u32,
}

impl Hash {
    pub(crate) const ZERO: Self = Self { lanes: Lanes::ZERO, waits: false, counter: Lanes::ZERO, behind: 0 };

    #[inline(always)]
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// GHASH so far, its bytes turned round. No turn waits.
    #[inline(always)]
    pub(crate) fn get(&self) -> Block {
        debug_assert!(!self.waits);
        self.lanes.get(0)
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, hash: Block) {
        self.lanes.set(0, hash);
    }

    #[inline(always)]
    pub(crate) fn load<S: Vectors>(&self, s: S) -> S::V {
        self.lanes.load(s, 0)
    }

    #[inline(always)]
    pub(crate) fn store<S: Vectors>(&mut self, s: S, lanes: S::V) {
        self.lanes.store(s, 0, lanes);
    }

    /// What was kept for that period, if it was that one.
    #[inline(always)]
    pub(crate) fn counter<S: Vectors>(&self, s: S, period: u32) -> Option<S::V> {
        if self.behind == period + 1 { Some(self.counter.load(s, 0)) } else { None }
    }

    #[inline(always)]
    pub(crate) fn keep_counter<S: Vectors>(&mut self, s: S, counter: S::V, period: u32) {
        self.counter.store(s, 0, counter);
        self.behind = period + 1;
    }

    /// The turn that waits in `room`, if one does.
    #[inline(always)]
    pub(crate) fn take_turn<S: Vectors>(&mut self, s: S, room: &Room) -> Option<Turn<'static, S>> {
        if !core::mem::take(&mut self.waits) {
            return None;
        }
        let mut turn = Turn::new(s, &InOut::EMPTY); // it lies in no text
        each!(I in 0 1 2 3 4 5 6 7 => { turn.kept[I] = room.load(s, I * S::BLOCKS); });
        Some(turn)
    }

    /// Lets a turn wait there. Only where it has been kept in registers.
    #[inline(always)]
    pub(crate) fn let_wait<S: Vectors>(&mut self, s: S, turn: Turn<'_, S>, room: &mut Room) {
        each!(I in 0 1 2 3 4 5 6 7 => { room.store(s, I * S::BLOCKS, turn.kept[I]); });
        self.waits = true;
    }
}

impl Zeroize for Hash {
    fn zeroize(&mut self) {
        self.lanes.zeroize();
        self.counter.zeroize();
        self.behind = 0;
    }
}

/// A part of a table: bounds are checked once, and positions inside are constants of the program. (A check for each vector left eight
/// compare-and-branch pairs in the bulk loop, an index for each three instructions a load in every tail.)
#[derive(Clone, Copy)]
pub(crate) struct Part<'a>(&'a [Block]);

impl Part<'_> {
    #[inline(always)]
    pub(crate) fn get(self, i: usize) -> Block {
        Block::from_le(self.0[i])
    }

    /// The vector that starts at block `i`.
    #[inline(always)]
    pub(crate) fn load<S: Vectors>(self, s: S, i: usize) -> S::V {
        assert!(i + S::BLOCKS <= self.0.len());
        // SAFETY: just checked.
        unsafe { s.load(self.0.as_ptr().add(i).cast()) }
    }
}

/// A zero that the optimiser does not know for one: it would put its stores together to a `memset`.
#[inline(always)]
pub(crate) fn no_memset<S: Vectors>(s: S) -> S::V {
    let mut zero = s.splat(0);
    s.pin(&mut zero);
    zero
}

/// What `make` puts there, made where the caller wants it: rustc copies a local variable that is returned, but LLVM drops the copy
/// of one that a call alone has written. (For a key, 30 ns, and a copy that nobody would wipe.)
#[inline(always)]
pub(crate) fn made<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> T {
    #[inline(never)]
    fn apart<T>(place: &mut MaybeUninit<T>, make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) {
        make_there(place, make);
    }
    let mut place = MaybeUninit::uninit();
    apart(&mut place, make);
    // SAFETY: it has been made there.
    unsafe { place.assume_init() }
}

/// The same on the heap.
#[cfg(feature = "alloc")]
pub(crate) fn made_boxed<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> alloc::boxed::Box<T> {
    let mut place = alloc::boxed::Box::new_uninit();
    make_there(&mut place, make);
    // SAFETY: it has been made there.
    unsafe { place.assume_init() }
}

/// The same behind a counted reference.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub(crate) fn made_shared<T>(make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) -> alloc::sync::Arc<T> {
    let mut place = alloc::sync::Arc::new_uninit();
    make_there(alloc::sync::Arc::get_mut(&mut place).expect("nobody shares it yet"), make);
    // SAFETY: it has been made there.
    unsafe { place.assume_init() }
}

/// Panics unless `make` returns a `T` that is there: then there is one.
#[inline(always)]
fn make_there<T>(place: &mut MaybeUninit<T>, make: impl FnOnce(&mut MaybeUninit<T>) -> &mut T) {
    let there = place.as_ptr();
    assert!(core::ptr::eq(make(place), there));
}

/// Makes a struct where it stays: a function makes the first field there, and the others are moved there.
macro_rules! made_in {
    ($place:expr, $type:ident { $first:ident: $make:expr, $($other:ident: $value:expr),* }) => {{
        use core::mem::MaybeUninit;
        fn empty<T>(field: *mut T) -> *mut MaybeUninit<T> {
            field.cast()
        }
        let place: &mut MaybeUninit<$type> = $place;
        let (make, start) = ($make, place.as_mut_ptr());
        let _all = |$type { $first: _, $($other: _),* }: &$type| {};
        #[allow(unsafe_code)]
        // SAFETY: the fields lie there, these are all, and nobody else borrows them. `make` has returned the first, and it is there.
        unsafe {
            let first = &raw mut (*start).$first;
            assert!(core::ptr::eq(make(&mut *empty(first)), first));
            $((&raw mut (*start).$other).write($value);)*
            place.assume_init_mut()
        }
    }};
}
pub(crate) use made_in;

/// One fill and a barrier: the loop of volatile stores of `zeroize` took as long as a short message.
impl<const N: usize> Zeroize for Table<N> {
    fn zeroize(&mut self) {
        self.wipe();
    }
}
