//! The one abstraction: a proof that the CPU has an instruction set, and the few vector operations that GCM
//! needs.
//!
//! A token (`Vaes512`, ...) has one constructor, `#[target_feature(enable = "...")] fn here()`. It is safe to
//! call only from a function that enables the same features, so rustc itself checks every row of the table in
//! `row/table.rs`, and the code above this module needs no `unsafe`.
//!
//! Operations are `#[inline(always)]` *without* `#[target_feature]`: they melt into the entry, and only there
//! do the intrinsics find the features they need.
//!
//! This is also the only place, beside the table, that asks which machine the code is compiled for.

use crate::Block;

#[cfg(feature = "internals")]
pub(crate) mod bits;
pub(crate) mod detect;
mod portable;
pub(crate) use portable::{Portable, Word};
pub(crate) mod nibbles;
mod scrub;
pub(crate) use scrub::{Frame, try_wiped_after_all, wiped_after};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[path = "call_x86.rs"]
mod call;
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[path = "call_any.rs"]
mod call;
#[cfg(all(feature = "scrub", target_arch = "x86_64", target_feature = "sse2"))]
#[path = "scrub_x86.rs"]
mod wiper;
#[cfg(all(feature = "scrub", not(all(target_arch = "x86_64", target_feature = "sse2"))))]
#[path = "scrub_any.rs"]
mod wiper;
pub(crate) use call::{Tagged, row_function};
// A target without SSE2 (`x86_64-unknown-none` and other soft-float ones) has no vector registers to hand to
// a function: LLVM cannot compile the rows there, and whoever chose such a target does not want them.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod cpuid;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[path = "portable/sse2.rs"]
mod sse2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod ssse3;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod x86;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use {
    cpuid::features,
    sse2::Pair as Widest,
    ssse3::Ssse3,
    x86::{AesAvx, AesSse, Vaes256, Vaes512, joined},
};
// Nor has `aarch64-unknown-none-softfloat` any. Big-endian ones have their lanes the other way round, and no
// row.
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod aarch64;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod hwcap;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
pub(crate) use {
    aarch64::{Neon, NeonEor3, joined},
    hwcap::features,
};
#[cfg(all(target_arch = "riscv64", target_endian = "little"))]
mod hwprobe;
#[cfg(all(target_arch = "riscv64", target_endian = "little"))]
mod riscv64;
#[cfg(all(target_arch = "riscv64", target_endian = "little"))]
pub(crate) use {hwprobe::features, riscv64::Zvkned};

/// The widest words that `portable` can count on.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) type Widest = u64;

/// The features of this CPU: none that a row asks for.
#[cfg(not(any(
    all(target_arch = "riscv64", target_endian = "little"),
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
pub(crate) fn features() -> detect::Features {
    detect::Features::NONE
}

/// Two words as one. The machines with rows of their own see to it that the optimiser does not load both at
/// once.
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
#[inline(always)]
pub(crate) fn joined(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Says that a program seldom comes here: code for it stands behind all other, so that a short message goes straight
/// on. (A jump that is taken costs it 0.1 ns on Zen 5.)
#[cold]
#[inline(always)]
pub(crate) fn rarely() {}

/// Keeps an expression where the instruction sets of a family exist, and gives `None` elsewhere.
macro_rules! on {
    (any => $some:expr) => {
        $some
    };
    (x86 => $some:expr) => {{
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        {
            $some
        }
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        {
            None
        }
    }};
    (arm => $some:expr) => {{
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        {
            $some
        }
        #[cfg(not(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")))]
        {
            None
        }
    }};
    (riscv => $some:expr) => {{
        #[cfg(all(target_arch = "riscv64", target_endian = "little"))]
        {
            $some
        }
        #[cfg(not(all(target_arch = "riscv64", target_endian = "little")))]
        {
            None
        }
    }};
}
pub(crate) use on;

/// Keeps an item where the instruction sets of a family exist.
macro_rules! item_on {
    (any => $($item:tt)*) => { $($item)* };
    (x86 => $($item:tt)*) => {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        $($item)*
    };
    (arm => $($item:tt)*) => {
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        $($item)*
    };
    (riscv => $($item:tt)*) => {
        #[cfg(all(target_arch = "riscv64", target_endian = "little"))]
        $($item)*
    };
}
pub(crate) use item_on;

/// Operations on vectors of `BLOCKS` lanes of 128 bits. Lane 0 is the first block in memory.
pub trait Vectors: Copy + 'static {
    /// A vector.
    type V: Copy;
    const BLOCKS: usize;
    /// Enough registers (32) to keep two hash vectors in flight beside eight AES states, and the ciphertext
    /// that is to be hashed.
    const MANY_REGISTERS: bool;

    // ---- memory: called from `inout.rs` only
    /// # Safety
    /// `16 * BLOCKS` bytes are readable.
    unsafe fn load(self, src: *const u8) -> Self::V;
    /// # Safety
    /// `16 * BLOCKS` bytes are writable.
    unsafe fn store(self, dst: *mut u8, v: Self::V);
    /// Asks for the line of the cache that has the byte at `src`, which may be anywhere: a hint, that reads
    /// nothing.
    #[inline(always)]
    fn ask_for(self, _src: *const u8) {}
    /// The first `n` bytes; zeros behind them. No page is touched that holds none of them.
    /// # Safety
    /// `n <= 16 * BLOCKS` bytes are readable.
    unsafe fn load_first(self, src: *const u8, n: usize) -> Self::V;
    /// The first `n` bytes of a block; zeros behind them. No more than the block is touched: a masked load of
    /// 64 bytes waits for whatever has just been stored in any of them, 7 ns on Zen 4.
    /// # Safety
    /// `n <= 16` bytes are readable.
    #[inline(always)]
    unsafe fn load_block(self, src: *const u8, n: usize) -> Self::V {
        // SAFETY: the caller's promise.
        unsafe { self.load_first(src, n) }
    }
    /// Sixteen bytes that will be stored as one block.
    /// # Safety
    /// They are readable.
    #[inline(always)]
    unsafe fn load_key(self, src: *const u8) -> Block {
        // SAFETY: the caller's promise.
        Block::from_le_bytes(unsafe { src.cast::<[u8; 16]>().read() })
    }
    /// Writes the first `n` bytes. No page is touched that holds none of them.
    /// # Safety
    /// `n <= 16 * BLOCKS` bytes are writable.
    unsafe fn store_first(self, dst: *mut u8, n: usize, v: Self::V);

    // ---- lanes
    /// `block` in every lane.
    fn splat(self, block: Block) -> Self::V;
    /// The first lane of `v`, AND `mask`, in every lane.
    #[inline(always)]
    fn splat_masked(self, v: Self::V, mask: Block) -> Self::V {
        self.splat(self.fold(self.keep_first(v, 16)) & mask)
    }
    /// `first`, then `rest`, then zeros: a nonce of 96 bits as it was loaded, in every lane.
    #[inline(always)]
    fn splat_nonce(self, first: u32, rest: u64) -> Self::V {
        self.splat(first as Block | (rest as Block) << 32)
    }
    /// Two words of a block, in every lane: of a block that was just stored by words, which a load of all of it
    /// would wait for.
    #[inline(always)]
    fn splat_words(self, [low, high]: [u64; 2]) -> Self::V {
        self.splat(Block::from(low) | Block::from(high) << 64)
    }
    /// `block` in lane 0, zeros behind.
    fn first(self, block: Block) -> Self::V;
    /// `v` with its last lane replaced.
    fn put_last(self, v: Self::V, block: Block) -> Self::V;
    /// A vector of the lanes of `a` and `b`, from lane `n <= BLOCKS` of `a` on. (Narrow vectors are loaded
    /// where they begin.)
    #[inline(always)]
    fn lanes_from(self, a: Self::V, b: Self::V, n: usize) -> Self::V {
        const { assert!(Self::BLOCKS == 1) }
        if n == 0 { a } else { b }
    }
    /// The first lanes of vectors of four lanes, that of vector p in lane p.
    #[inline(always)]
    fn lanes(self, vectors: [Self::V; 4]) -> Self::V {
        vectors.into_iter().rev().fold(self.splat(0), |lanes, v| {
            self.lanes_from(self.splat(self.fold(self.keep_first(v, 16))), lanes, Self::BLOCKS - 1)
        })
    }
    /// Vectors of four lanes, and lanes of four vectors: lane p of vector j was lane j of vector p.
    #[inline(always)]
    fn transpose(self, vectors: [Self::V; 4]) -> [Self::V; 4] {
        [0, 1, 2, 3].map(|j| self.lanes(vectors.map(|v| self.lanes_from(v, v, j))))
    }
    /// The first `n <= 16 * BLOCKS` bytes of `v`; zeros behind them.
    fn keep_first(self, v: Self::V, n: usize) -> Self::V;
    /// The sum (XOR) of the lanes.
    fn fold(self, v: Self::V) -> Block;
    /// The sum of the lanes of `v` and of one lane of `other`: the first, or the last.
    #[inline(always)]
    fn fold_with<const LAST: bool>(self, v: Self::V, other: Self::V) -> Block {
        let first = self.keep_first(other, 16 * if LAST { Self::BLOCKS - 1 } else { 1 });
        self.fold(self.xor(v, if LAST { self.xor(other, first) } else { first }))
    }

    // ---- bits, lane by lane
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    fn byte_swap(self, v: Self::V) -> Self::V;
    fn swap_halves(self, v: Self::V) -> Self::V;
    /// `(low(a), low(b))`
    fn low_halves(self, a: Self::V, b: Self::V) -> Self::V;
    /// `(high(a), high(b))`
    fn high_halves(self, a: Self::V, b: Self::V) -> Self::V;
    /// Carry-less product of one half of `a` with one half of `b`.
    fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, a: Self::V, b: Self::V) -> Self::V;
    /// The low half of `v` times x^A + x^B + x^C.
    #[inline(always)]
    fn clmul_by<const A: u32, const B: u32, const C: u32>(self, v: Self::V) -> Self::V {
        self.clmul::<false, false>(v, self.splat(1 << A | 1 << B | 1 << C))
    }
    /// Adds `n` to the first four bytes of every lane, a little-endian number, modulo 2^32.
    fn add32(self, v: Self::V, n: Self::V) -> Self::V;

    // ---- scheduling
    /// Computes `v` *here*: no instruction, but the compiler moves neither its producers nor any memory
    /// access across. Without it LLVM emits all of a turn's hashing, then all of its AES, whatever the source
    /// order.
    fn pin(self, v: &mut Self::V);
}

/// AES beside them. What multiplies only (`ghash`), or moves bytes (`inout.rs`), asks for [`Vectors`] alone.
///
/// Its form costs neither family an instruction: x86 adds the key after a round, Arm adds it before
/// (`KEY_FIRST`).
pub trait Isa: Vectors {
    /// A vector in the form that the AES operations want: the vector itself where there are AES instructions,
    /// bit planes where there are none. States and round keys have it.
    type State: Copy;
    /// Whether AES and GHASH run side by side: not where operations go through memory.
    const WEAVES: bool = true;

    fn whiten(self, x: Self::V, key0: Self::V) -> Self::V;
    /// `v` in the form for AES.
    fn state(self, v: Self::V) -> Self::State;
    /// Whether a round adds its key before what else it does, or behind that.
    const KEY_FIRST: bool = false;
    /// A round of `x` with its key. (By reference: of each value the compiler would make a copy in memory,
    /// and take it out again later.)
    fn round(self, x: &mut Self::State, key: &Self::State);
    /// A round between these two keys.
    #[inline(always)]
    fn round_between(self, x: &mut Self::State, prev: &Self::State, next: &Self::State) {
        self.round(x, if Self::KEY_FIRST { prev } else { next });
    }
    /// The last round, XOR `data`. x86 ignores `prev`.
    fn last_round(self, x: Self::State, prev: Self::State, last: Self::State, data: Self::V) -> Self::V;
    /// Key schedule, four words at a time: t = S-box of the last word of `last`, rotated by a byte if
    /// `ROTATE`, XOR `rcon`; then t plus the first, the first two, three, four words of `four`.
    fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block;
    /// Computes `x` here, as [`pin`](Vectors::pin) does.
    fn pin_state(self, x: &mut Self::State);
    /// Any state, for a place that nobody reads: no instruction.
    #[inline(always)]
    fn unset(self) -> Self::State {
        self.state(self.splat(0))
    }
}

/// AES of `N` blocks at a time, where there is no instruction for it
/// ([`gcm::software`](crate::gcm::software)).
pub(crate) trait Sliced<const N: usize>: Isa {
    /// Round keys as `keystream` wants them, in place of those of the standard, which stand first in each.
    fn round_keys(self, keys: &mut [[Block; 4]]);
    /// Encrypts these blocks in place, or the first `wanted` of them.
    fn encrypt(self, keys: &[[Block; 4]], blocks: &mut [Block; N], wanted: usize);
    /// Puts AES of `N` counter blocks there, or of `wanted` of them: `first`, with i added to its low 32
    /// bits, for i from 0 on, in that order of bytes. The addition is modulo 2^32, without a carry into the
    /// nonce (SP 800-38D, section 6.2; RFC 8452, section 4).
    fn keystream(self, keys: &[[Block; 4]], first: Block, order: Order, pads: &mut [Block; N], wanted: usize);
}

/// How a counter block is made of a number whose low 32 bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// GCM: its bytes from the highest on, so that the counter stands in the last four.
    Swapped,
    /// GCM-SIV: from the lowest on, so that it stands in the first four.
    Straight,
}
