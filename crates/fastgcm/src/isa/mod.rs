//! The one abstraction: a proof that the CPU has an instruction set, and the few vector operations that GCM
//! needs.
//!
//! A token (`Vaes512`, ...) has one constructor, `#[target_feature(enable = "...")] fn here()`. Only a
//! function that enables the token's features may call it safely, so rustc itself checks every row of the
//! table in `row/table.rs`, and the code above this module needs no `unsafe`.
//!
//! Operations are `#[inline(always)]` *without* `#[target_feature]`: they melt into the entry, and only there
//! do the intrinsics find the features that they need.
//!
//! Besides the table, only this module asks for which machine the code is compiled.

use crate::Block;

#[cfg(feature = "internals")]
pub(crate) mod bits;
pub(crate) mod detect;
mod portable;
pub(crate) use portable::{Portable, Word};
pub(crate) mod nibbles;
mod permute;
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
pub(crate) use call::{TagRegister, row_function};
// A target without SSE2 (`x86_64-unknown-none` and other soft-float targets) has no vector registers to pass
// to a function: LLVM cannot compile the rows there, and nobody who chose such a target wants them.
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
// `aarch64-unknown-none-softfloat` has no vector registers either. Big-endian targets have their lanes in the
// opposite order, and no row.
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod aarch64;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod hwcap;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
pub(crate) use {
    aarch64::{Neon, NeonEor3, joined},
    hwcap::features,
    neon::NeonTables,
};
// Features of WebAssembly are those that a module is compiled for: an engine without them refuses the module.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::Simd128;
#[cfg(all(target_arch = "riscv64", target_endian = "little"))]
mod hwprobe;
#[cfg(all(target_arch = "riscv64", target_endian = "little"))]
mod riscv64;
#[cfg(all(target_arch = "riscv64", target_endian = "little"))]
pub(crate) use {hwprobe::features, riscv64::Zvkned};

/// The widest words that `portable` can count on.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) type Widest = u64;

/// Returns the features of this CPU that a row uses: none, or those that a module of WebAssembly is compiled
/// for.
#[cfg(not(any(
    all(target_arch = "riscv64", target_endian = "little"),
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
pub(crate) fn features() -> detect::Features {
    detect::Features::named(if cfg!(target_feature = "simd128") { "simd128" } else { "" })
}

/// Joins two words. Machines with rows of their own keep the optimiser from loading both words at once.
#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
#[inline(always)]
pub(crate) fn joined(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Marks a path that a program seldom takes: its code is placed behind all other code, so that a short
/// message goes straight on. (A taken jump costs 0.1 ns on Zen 5.)
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
    (wasm => $some:expr) => {{
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        {
            $some
        }
        #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
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
    (wasm => $($item:tt)*) => {
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        $($item)*
    };
}
pub(crate) use item_on;

/// Operations on vectors of `BLOCKS` lanes of 128 bits. Lane 0 is the first block in memory.
pub trait Vectors: Copy + 'static {
    /// A vector.
    type V: Copy;
    const BLOCKS: usize;
    /// Whether there are enough registers (32) to keep two hash vectors in flight beside eight AES states,
    /// and the ciphertext that is to be hashed.
    const MANY_REGISTERS: bool;

    // ---- memory: called from `inout.rs` only
    /// # Safety
    /// `16 * BLOCKS` bytes are readable.
    unsafe fn load(self, src: *const u8) -> Self::V;
    /// # Safety
    /// `16 * BLOCKS` bytes are writable.
    unsafe fn store(self, dst: *mut u8, v: Self::V);
    /// Prefetches the cache line with the byte at `src`, which may be any address: this is a hint that reads
    /// nothing.
    #[inline(always)]
    fn prefetch(self, _src: *const u8) {}
    /// Loads the first `n` bytes, with zeros behind them. It touches no page that holds none of these bytes.
    /// # Safety
    /// `n <= 16 * BLOCKS` bytes are readable.
    unsafe fn load_first(self, src: *const u8, n: usize) -> Self::V;
    /// Loads the first `n` bytes of a block, with zeros behind them. It touches no more than the block: a
    /// masked load of 64 bytes waits for anything that has just been stored in any of them, 7 ns on Zen 4.
    /// # Safety
    /// `n <= 16` bytes are readable.
    #[inline(always)]
    unsafe fn load_block(self, src: *const u8, n: usize) -> Self::V {
        // SAFETY: the caller's promise.
        unsafe { self.load_first(src, n) }
    }
    /// Loads sixteen bytes that will be stored as one block.
    /// # Safety
    /// Sixteen bytes are readable.
    #[inline(always)]
    unsafe fn load_key(self, src: *const u8) -> Block {
        // SAFETY: the caller's promise.
        Block::from_le_bytes(unsafe { src.cast::<[u8; 16]>().read() })
    }
    /// Writes the first `n` bytes. It touches no page that holds none of these bytes.
    /// # Safety
    /// `n <= 16 * BLOCKS` bytes are writable.
    unsafe fn store_first(self, dst: *mut u8, n: usize, v: Self::V);

    // ---- lanes
    /// Returns `block` in every lane.
    fn splat(self, block: Block) -> Self::V;
    /// Returns the first lane of `v`, AND `mask`, in every lane.
    #[inline(always)]
    fn splat_masked(self, v: Self::V, mask: Block) -> Self::V {
        self.splat(self.fold(self.keep_first(v, 16)) & mask)
    }
    /// Returns `first`, then `rest`, then zeros: a nonce of 96 bits as it was loaded, in every lane.
    #[inline(always)]
    fn splat_nonce(self, first: u32, rest: u64) -> Self::V {
        self.splat(first as Block | (rest as Block) << 32)
    }
    /// Returns two words of a block, in every lane. The block may just have been stored by words; a load of
    /// the whole block would wait for them.
    #[inline(always)]
    fn splat_words(self, [low, high]: [u64; 2]) -> Self::V {
        self.splat(Block::from(low) | Block::from(high) << 64)
    }
    /// Returns `block` in lane 0, with zeros behind it.
    fn first(self, block: Block) -> Self::V;
    /// Returns `v` with its last lane replaced.
    fn put_last(self, v: Self::V, block: Block) -> Self::V;
    /// Returns a vector of the lanes of `a` and `b`, from lane `n <= BLOCKS` of `a` on. (Narrow vectors are
    /// loaded where they begin.)
    #[inline(always)]
    fn lanes_from(self, a: Self::V, b: Self::V, n: usize) -> Self::V {
        const { assert!(Self::BLOCKS == 1) }
        if n == 0 { a } else { b }
    }
    /// Takes vectors of four lanes, and returns the first lane of vector p in lane p.
    #[inline(always)]
    fn lanes(self, vectors: [Self::V; 4]) -> Self::V {
        vectors.into_iter().rev().fold(self.splat(0), |lanes, v| {
            self.lanes_from(self.splat(self.fold(self.keep_first(v, 16))), lanes, Self::BLOCKS - 1)
        })
    }
    /// Transposes four vectors of four lanes: lane p of vector j was lane j of vector p.
    #[inline(always)]
    fn transpose(self, vectors: [Self::V; 4]) -> [Self::V; 4] {
        [0, 1, 2, 3].map(|j| self.lanes(vectors.map(|v| self.lanes_from(v, v, j))))
    }
    /// Returns the first `n <= 16 * BLOCKS` bytes of `v`, with zeros behind them.
    fn keep_first(self, v: Self::V, n: usize) -> Self::V;
    /// Returns the sum (XOR) of the lanes.
    fn fold(self, v: Self::V) -> Block;
    /// Returns the sum of the lanes of `v` and of one lane of `other`: the first, or the last.
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
    /// Returns `(low(a), low(b))`.
    fn low_halves(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `(high(a), high(b))`.
    fn high_halves(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the carry-less product of one half of `a` with one half of `b`.
    fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the low half of `v` times x^A + x^B + x^C.
    #[inline(always)]
    fn clmul_by<const A: u32, const B: u32, const C: u32>(self, v: Self::V) -> Self::V {
        self.clmul::<false, false>(v, self.splat(1 << A | 1 << B | 1 << C))
    }
    /// Adds `n` to the first four bytes of every lane, a little-endian number, modulo 2^32.
    fn add32(self, v: Self::V, n: Self::V) -> Self::V;

    // ---- scheduling
    /// Computes `v` *here*: there is no instruction, but the compiler moves neither the producers of `v` nor
    /// any memory access across this point. Without it LLVM emits all of a turn's hashing, then all of its
    /// AES, whatever the source order.
    fn pin(self, v: &mut Self::V);
}

/// AES beside the vector operations. Code that only multiplies (`ghash`) or moves bytes (`inout.rs`) uses
/// [`Vectors`] alone.
///
/// The form of these operations costs neither family an instruction: x86 adds the key after a round, Arm adds
/// it before (`KEY_FIRST`).
pub trait Isa: Vectors {
    /// A vector in the form that the AES operations use, for states and round keys: the vector itself where
    /// there are AES instructions, bit planes where there are none.
    type State: Copy;
    /// Whether AES and GHASH run side by side. They do not where operations go through memory.
    const WEAVES: bool = true;

    fn whiten(self, x: Self::V, key0: Self::V) -> Self::V;
    /// Returns `v` in the form for AES.
    fn state(self, v: Self::V) -> Self::State;
    /// Returns a state as a vector: the inverse of [`state`](Self::state).
    fn vector(self, x: Self::State) -> Self::V;
    /// Whether a round adds its key first, or last.
    const KEY_FIRST: bool = false;
    /// Runs a round of `x` with its key. (Both are references: of each value the compiler would make a copy
    /// in memory, and load the copy again later.)
    fn round(self, x: &mut Self::State, key: &Self::State);
    /// Runs a round between these two keys.
    #[inline(always)]
    fn round_between(self, x: &mut Self::State, prev: &Self::State, next: &Self::State) {
        self.round(x, if Self::KEY_FIRST { prev } else { next });
    }
    /// Runs the last round, XOR `data`. x86 ignores `prev`.
    fn last_round(self, x: Self::State, prev: Self::State, last: Self::State, data: Self::V) -> Self::V;
    /// Makes four words of the key schedule at a time: t = S-box of the last word of `last`, rotated by a
    /// byte if `ROTATE`, XOR `rcon`; then t plus the first, the first two, three, four words of `four`.
    fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block;
    /// Computes `x` here, as [`pin`](Vectors::pin) does.
    fn pin_state(self, x: &mut Self::State);
    /// Returns any state, for a place that nobody reads: there is no instruction.
    #[inline(always)]
    fn unset(self) -> Self::State {
        self.state(self.splat(0))
    }
}

/// AES of `N` blocks at a time, where there is no instruction for it
/// ([`gcm::software`](crate::gcm::software)).
pub(crate) trait Sliced<const N: usize>: Isa {
    /// A round key in the form that AES uses.
    type Key: RoundKey;
    /// Replaces the standard's round keys by round keys for `keystream`.
    fn round_keys(self, keys: &mut [Self::Key]);
    /// Encrypts these blocks in place, or the first `wanted` of them.
    fn encrypt(self, keys: &[Self::Key], blocks: &mut [Block; N], wanted: usize);
    /// Writes AES of `N` counter blocks, or of `wanted` of them, to `pads`: `first`, with i added to its low
    /// 32 bits, for i from 0 on, in the byte order `order`. The addition is modulo 2^32, without a carry into
    /// the nonce (SP 800-38D, section 6.2; RFC 8452, section 4).
    fn keystream(self, keys: &[Self::Key], first: Block, order: Order, pads: &mut [Block; N], wanted: usize);
}

/// A round key of [`Sliced`], which is made in its place.
pub(crate) trait RoundKey: Copy {
    /// Returns a place that holds the standard's round key.
    fn of(key: Block) -> Self;
}

impl RoundKey for Block {
    fn of(key: Block) -> Self {
        key
    }
}

/// A bit-sliced key: planes that are as large as four blocks.
impl RoundKey for [Block; 4] {
    fn of(key: Block) -> Self {
        [key, 0, 0, 0]
    }
}

/// How a number whose low 32 bits count becomes a counter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// GCM's order: bytes from the highest on, so that the counter is in the last four.
    Swapped,
    /// GCM-SIV's order: bytes from the lowest on, so that the counter is in the first four.
    Straight,
}
