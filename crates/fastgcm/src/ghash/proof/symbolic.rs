//! An instruction set of symbols: it computes with polynomials what the other instruction sets compute with
//! numbers.
//!
//! A vector must be `Copy`, so it is a number; a table of this thread holds what the number stands for.

use super::polynomial::{self, Lane, Polynomial};
use crate::{Block, isa::Vectors};
use std::{cell::RefCell, thread_local, vec::Vec};

/// The token of vectors of one block: every operation works lane by lane, so one lane stands for all. It
/// carries the fault that is planted in the operations.
#[derive(Clone, Copy)]
pub struct Symbolic(pub(crate) Fault);

/// What a wrong kernel might do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// x^63+x^62+x^57 has one more term.
    OneTermMore,
    /// x^63+x^62+x^57 lacks its highest term.
    OneTermLess,
    /// The constant is that of the other convention, 0xe1.
    OtherConvention,
    /// The halves are not swapped.
    NoSwap,
    /// The product takes the other halves.
    OtherHalves,
    /// The product loses its highest bit: it has 127.
    ShortProduct,
    /// The low halves both come from one vector.
    SameHalf,
    /// The last of three summands is lost.
    TwoOfThree,
    /// First and second nibbles are exchanged.
    OtherNibble,
    /// Bits that leave a register do not enter the next.
    CarryLost,
    /// Bits that leave a byte are lost.
    OutLost,
    /// Bytes alternate, the other vector's first.
    OtherTurns,
}

impl Fault {
    /// All faults.
    #[cfg(test)]
    pub(super) const PLANTED: [Self; 12] = [
        Self::OneTermMore,
        Self::OneTermLess,
        Self::OtherConvention,
        Self::NoSwap,
        Self::OtherHalves,
        Self::ShortProduct,
        Self::SameHalf,
        Self::TwoOfThree,
        Self::OtherNibble,
        Self::CarryLost,
        Self::OutLost,
        Self::OtherTurns,
    ];
}

#[derive(Clone, Copy)]
pub struct V(usize);

#[derive(Default)]
struct Table {
    vectors: Vec<Lane>,
    /// The fault that is planted where no token can carry it.
    fault: Option<Fault>,
    met: bool,
    not_linear: bool,
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

/// Makes a clean table for the next proof.
pub(super) fn begin() {
    TABLE.take();
}

/// Makes a clean table for a proof with a fault.
pub(super) fn begin_with(fault: Fault) {
    begin();
    TABLE.with_borrow_mut(|table| table.fault = Some(fault));
}

/// Returns whether this operation has the planted fault.
pub(super) fn planted(fault: Fault) -> bool {
    TABLE.with_borrow_mut(|table| {
        let planted = table.fault == Some(fault);
        table.met |= planted;
        planted
    })
}

/// Notes that a lookup used a table that is not a linear function of a nibble, or an index that is not one.
pub(super) fn note_not_linear() {
    TABLE.with_borrow_mut(|table| table.not_linear = true);
}

pub(super) fn not_linear() -> bool {
    TABLE.with_borrow(|table| table.not_linear)
}

/// Returns whether the last proof of this thread has met the planted fault.
#[cfg(test)]
pub(super) fn met() -> bool {
    TABLE.with_borrow(|table| table.met)
}

impl V {
    pub(super) fn new(lane: Lane) -> Self {
        TABLE.with_borrow_mut(|table| {
            table.vectors.push(lane);
            Self(table.vectors.len() - 1)
        })
    }

    pub(super) fn lane(self) -> Lane {
        TABLE.with_borrow(|table| table.vectors[self.0].clone())
    }
}

impl Symbolic {
    /// Returns whether this operation has the planted fault.
    fn planted(self, fault: Fault) -> bool {
        let planted = self.0 == fault;
        TABLE.with_borrow_mut(|table| table.met |= planted);
        planted
    }
}

fn half(lane: &Lane, high: bool) -> &[Polynomial] {
    if high { &lane[64..] } else { &lane[..64] }
}

fn halves(low: &[Polynomial], high: &[Polynomial]) -> Lane {
    [low, high].concat()
}

/// An operation that GHASH never uses.
fn not_asked<T>() -> T {
    unreachable!("the proof has neither memory nor AES")
}

#[allow(unsafe_code)]
impl Vectors for Symbolic {
    type V = V;
    const BLOCKS: usize = 1;
    const MANY_REGISTERS: bool = false;

    unsafe fn load(self, _: *const u8) -> V {
        not_asked()
    }
    unsafe fn store(self, _: *mut u8, _: V) {
        not_asked()
    }
    unsafe fn load_first(self, _: *const u8, _: usize) -> V {
        not_asked()
    }
    unsafe fn store_first(self, _: *mut u8, _: usize, _: V) {
        not_asked()
    }

    fn splat(self, block: Block) -> V {
        let folding = block == 0xc2 << 56;
        let block = match () {
            () if folding && self.planted(Fault::OneTermMore) => 0xc3 << 56,
            () if folding && self.planted(Fault::OneTermLess) => 0x42 << 56,
            () if folding && self.planted(Fault::OtherConvention) => 0xe1 << 56,
            () => block,
        };
        V::new(polynomial::constant(block))
    }
    fn first(self, block: Block) -> V {
        V::new(polynomial::constant(block))
    }
    fn put_last(self, _: V, _: Block) -> V {
        not_asked()
    }
    fn keep_first(self, _: V, _: usize) -> V {
        not_asked()
    }
    fn fold(self, _: V) -> Block {
        not_asked()
    }

    fn xor(self, a: V, b: V) -> V {
        V::new(polynomial::add(&a.lane(), &b.lane()))
    }
    fn xor3(self, a: V, b: V, c: V) -> V {
        let sum = self.xor(a, b);
        if self.planted(Fault::TwoOfThree) { sum } else { self.xor(sum, c) }
    }
    fn byte_swap(self, v: V) -> V {
        V::new(v.lane().chunks(8).rev().collect::<Vec<_>>().concat())
    }
    fn swap_halves(self, v: V) -> V {
        let lane = v.lane();
        if self.planted(Fault::NoSwap) { v } else { V::new(halves(half(&lane, true), half(&lane, false))) }
    }
    fn low_halves(self, a: V, b: V) -> V {
        let b = if self.planted(Fault::SameHalf) { a } else { b };
        V::new(halves(half(&a.lane(), false), half(&b.lane(), false)))
    }
    fn high_halves(self, a: V, b: V) -> V {
        V::new(halves(half(&a.lane(), true), half(&b.lane(), true)))
    }
    fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, a: V, b: V) -> V {
        let other = self.planted(Fault::OtherHalves);
        let mut product =
            polynomial::multiply(half(&a.lane(), A_HIGH ^ other), half(&b.lane(), B_HIGH ^ other));
        if self.planted(Fault::ShortProduct) {
            product[126] = Polynomial::ZERO;
        }
        V::new(product)
    }
    fn add32(self, _: V, _: V) -> V {
        not_asked()
    }

    fn pin(self, _: &mut V) {}
}
