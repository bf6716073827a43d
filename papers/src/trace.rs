//! An instruction set that computes nothing and records every operation: what a technique *does*, which a correct tag cannot show.
//!
//! A vector is the number of the operation that it came from. From the list of operations follow their counts, how many must wait for each
//! other, and how many vectors are alive at once in the order in which they stand.
//!
//! Operations that a compiler removes are not counted: XOR with a known zero, shuffles of it, and constants.

use fastgcm::internals::{Bits, Isa, Vectors};
use std::{
    cell::{Cell, RefCell},
    thread_local,
};

/// The instruction set, with vectors of `B` blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trace<const B: usize>;

/// A vector: the number of the operation that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct V(usize);

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Zero,           // a constant that is zero: it is made by no operation
    Constant,       // any other constant, or a block in every lane
    Multiplication, // carry-less multiplication
    Folding,        // the same by the constant of the key-folded and the folding reductions
    Xor,            // XOR of two
    Shuffle,        // halves swapped, or brought together from two vectors
    Shift,          // bits or bytes shifted
    ByteSwap,       // the bytes of a block reversed
    LanesAdded,     // all lanes added
    Load,           // a whole vector read
    PartLoad,       // fewer bytes, but more than one, read
    ByteLoad,       // a single byte read
    Store,          // a vector, or a part of it, written
    Round,          // a round of AES, the last one included
    Other,          // anything else: counters, lanes replaced or cut off
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    kind: Kind,
    uses: [usize; 3],
}

/// The number for a missing operand.
const NONE: usize = usize::MAX;

thread_local! {
    /// The number of calls of `trace`.
    static RUN: Cell<u128> = const { Cell::new(0) };
    static OPERATIONS: RefCell<Vec<Operation>> = const { RefCell::new(Vec::new()) };
}

/// The recorded operations, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations(Vec<Operation>);

/// Records the operations of `work`.
pub(crate) fn trace<T>(work: impl FnOnce() -> T) -> Operations {
    OPERATIONS.take();
    RUN.set(RUN.get() + 1);
    work();
    Operations(OPERATIONS.take())
}

impl Operations {
    /// Counts one kind.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        self.0.iter().filter(|operation| operation.kind == kind).count()
    }

    /// Counts how often the second kind follows the first, ignoring other operations in between: how often they alternate.
    pub(crate) fn turns(&self, first: Kind, second: Kind) -> usize {
        let kinds: Vec<Kind> = self.0.iter().map(|operation| operation.kind).filter(|kind| [first, second].contains(kind)).collect();
        kinds.windows(2).filter(|pair| **pair == [first, second]).count()
    }

    /// Counts carry-less multiplications, the foldings included.
    pub(crate) fn multiplications(&self) -> usize {
        self.count(Kind::Multiplication) + self.count(Kind::Folding)
    }

    /// Counts the operations in registers.
    pub(crate) fn operations(&self) -> usize {
        self.0.iter().filter(|operation| operation.kind.cycles() > 0).count()
    }

    /// Returns the longest chain of dependent operations, in cycles of Skylake: 7 for a multiplication, 4 for a round of AES, 1 for
    /// any other operation in registers. (uops.info; loads, which depend on nothing here, are 0.)
    pub(crate) fn latency(&self) -> usize {
        let mut ready = Vec::with_capacity(self.0.len());
        for operation in &self.0 {
            let start = operation.uses.iter().filter(|used| **used != NONE).map(|used| ready[*used]).max().unwrap_or(0);
            ready.push(start + operation.kind.cycles());
        }
        ready.into_iter().max().unwrap_or(0)
    }

    /// Returns the largest number of live vectors, which have to be in registers. Constants are not counted, nor are loads that are used at once as an
    /// operand (which can come from memory).
    pub(crate) fn live(&self) -> usize {
        let mut last_use = vec![0; self.0.len()];
        for (at, operation) in self.0.iter().enumerate() {
            operation.uses.iter().filter(|used| **used != NONE).for_each(|used| last_use[*used] = at);
        }
        let made = |at: usize| !matches!(self.0[at].kind, Kind::Zero | Kind::Constant | Kind::Load | Kind::PartLoad | Kind::Store);
        let mut alive: Vec<usize> = Vec::new();
        let mut most = 0;
        for at in 0..self.0.len() {
            alive.retain(|value| last_use[*value] > at);
            if made(at) && last_use[at] > at {
                alive.push(at);
            }
            most = most.max(alive.len());
        }
        most
    }
}

impl Kind {
    fn cycles(self) -> usize {
        match self {
            Self::Zero | Self::Constant | Self::Load | Self::PartLoad | Self::ByteLoad | Self::Store => 0,
            Self::Multiplication | Self::Folding => 7,
            Self::Round => 4,
            _ => 1,
        }
    }
}

/// The upper half of a number that was made of a vector, plus the run; the lower half is the vector, so that later operations depend on
/// it. Greater than the upper half of any constant.
const OF_A_VECTOR: u128 = 0xff5e_ed00_0000_0000;

/// Records an operation.
fn note(kind: Kind, uses: &[V]) -> V {
    let mut operands = [NONE; 3];
    operands.iter_mut().zip(uses).for_each(|(operand, used)| *operand = used.0);
    OPERATIONS.with_borrow_mut(|operations| {
        operations.push(Operation { kind, uses: operands });
        V(operations.len() - 1)
    })
}

fn kind(v: V) -> Kind {
    OPERATIONS.with_borrow(|operations| operations.get(v.0).map_or(Kind::Other, |operation| operation.kind))
}

fn is_zero(v: V) -> bool {
    kind(v) == Kind::Zero
}

/// Records a load of `n` bytes into a vector of `whole`.
fn load(n: usize, whole: usize) -> V {
    let kind = match n {
        0 => Kind::Zero,
        1 => Kind::ByteLoad,
        n if n == whole => Kind::Load,
        _ => Kind::PartLoad,
    };
    note(kind, &[])
}

#[allow(unsafe_code, reason = "the trait's loads and stores are unsafe; these touch no memory")]
impl<const B: usize> Vectors for Trace<B> {
    type V = V;
    const BLOCKS: usize = B;
    const MANY_REGISTERS: bool = B == 4;

    unsafe fn load(self, _: *const u8) -> V {
        load(16 * B, 16 * B)
    }
    unsafe fn store(self, _: *mut u8, v: V) {
        note(Kind::Store, &[v]);
    }
    unsafe fn load_first(self, _: *const u8, n: usize) -> V {
        load(n, 16 * B)
    }
    unsafe fn store_first(self, _: *mut u8, _: usize, v: V) {
        note(Kind::Store, &[v]);
    }

    fn splat(self, block: u128) -> V {
        match block {
            0 => note(Kind::Zero, &[]),
            _ if block >> 64 == OF_A_VECTOR + RUN.get() => note(Kind::Other, &[V(block as u64 as usize)]),
            // A vector of an earlier run: a power of H.
            _ if block >> 64 >= OF_A_VECTOR => note(Kind::Load, &[]),
            _ => note(Kind::Constant, &[]),
        }
    }
    fn first(self, block: u128) -> V {
        self.splat(block)
    }
    fn put_last(self, v: V, _: u128) -> V {
        note(Kind::Other, &[v])
    }
    fn keep_first(self, v: V, _: usize) -> V {
        if is_zero(v) { v } else { note(Kind::Other, &[v]) }
    }
    fn fold(self, v: V) -> u128 {
        if is_zero(v) {
            return 0;
        }
        let V(number) = note(Kind::LanesAdded, &[v]);
        (OF_A_VECTOR + RUN.get()) << 64 | number as u128
    }

    fn xor(self, a: V, b: V) -> V {
        match (is_zero(a), is_zero(b)) {
            (true, _) => b,
            (_, true) => a,
            _ => note(Kind::Xor, &[a, b]),
        }
    }
    fn xor3(self, a: V, b: V, c: V) -> V {
        self.xor(self.xor(a, b), c)
    }
    fn byte_swap(self, v: V) -> V {
        note(Kind::ByteSwap, &[v])
    }
    fn swap_halves(self, v: V) -> V {
        note(Kind::Shuffle, &[v])
    }
    fn low_halves(self, a: V, b: V) -> V {
        // With a zero it is a shift of the whole lane.
        note(if is_zero(a) || is_zero(b) { Kind::Shift } else { Kind::Shuffle }, &[a, b])
    }
    fn high_halves(self, a: V, b: V) -> V {
        self.low_halves(a, b)
    }
    fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, a: V, b: V) -> V {
        let constant = kind(a) == Kind::Constant || kind(b) == Kind::Constant;
        note(if constant { Kind::Folding } else { Kind::Multiplication }, &[a, b])
    }
    fn add32(self, v: V, n: V) -> V {
        note(Kind::Other, &[v, n])
    }
    fn pin(self, _: &mut V) {}
}

impl<const B: usize> Bits for Trace<B> {
    fn shift_left<const N: u32>(self, v: V) -> V {
        note(Kind::Shift, &[v])
    }
    fn shift_right<const N: u32>(self, v: V) -> V {
        note(Kind::Shift, &[v])
    }
    fn up_word(self, v: V) -> V {
        note(Kind::Shift, &[v])
    }
    fn down_word(self, v: V) -> V {
        note(Kind::Shift, &[v])
    }
}

#[allow(unsafe_code, reason = "the trait's loads and stores are unsafe; these touch no memory")]
impl<const B: usize> Isa for Trace<B> {
    type State = V;

    fn whiten(self, x: V, key0: V) -> V {
        note(Kind::Xor, &[x, key0])
    }
    fn state(self, v: V) -> V {
        v
    }
    fn vector(self, x: V) -> V {
        x
    }
    fn round(self, x: &mut V, next: &V) {
        *x = note(Kind::Round, &[*x, *next]);
    }
    fn last_round(self, x: V, _: V, last: V, data: V) -> V {
        self.xor(note(Kind::Round, &[x, last]), data)
    }
    fn next_words<const ROTATE: bool>(self, _: u128, _: u128, _: u8) -> u128 {
        1
    }

    fn pin_state(self, _: &mut V) {}
}
