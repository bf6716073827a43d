//! RISC-V with vector cryptography: four blocks a vector, and the page of operations that the algorithm uses.
//!
//! AES is Zvkned, whose round adds the key last, as on x86; GHASH is Zvbc (carry-less multiplication of
//! 64-bit elements), and byte order is Zvkb. Zvkg's `vghsh` multiplies *and reduces* each block: it has no
//! unreduced product to sum up, so it cannot serve as `clmul`, and one block would wait for the previous one.
//! Zvkt promises that the time of these instructions does not depend on data.
//!
//! **What rustc 1.95 lacks.** It has no vector type for RISC-V that may be an operand of `asm!`, and the
//! names of these features are unstable (rust-lang/rust#150257). So:
//! * A vector lives in memory, and an operation is one `asm!`: set the length, load, compute, store. A round
//!   of four blocks is five instructions where one would be enough (`vsetivli`, two `vle32`, `vaesem`,
//!   `vse32`): 1.25 a block; on x86 with AVX-512 it is 0.25.
//! * `here` cannot say its features, and no compiler checks this row: only `Backend::row` does, when a key
//!   is made.
//! * An entry does not have the features enabled, so each `asm!` enables them in the assembler for itself.
//!
//! Any VLEN from 128 bits on (which V implies) gives equal results: four registers hold 64 bytes, and where
//! they could hold more, the length says 64. Bytes behind the first `n` are neither read nor written because
//! the length says `n`: there are neither masks nor branches.

use super::{Isa, Vectors};
use crate::Block;
use core::{arch::asm, mem::MaybeUninit};

/// Zvkned, Zvbc, Zvkb.
#[derive(Clone, Copy)]
pub(crate) struct Zvkned(());

impl Zvkned {
    /// Nothing proves the features to the compiler (see above): only the row of the table that names them may
    /// call this function.
    pub(crate) fn here() -> Self {
        Self(())
    }
}

/// A vector in memory: lane 0 first, the lowest byte of each lane first.
type Lanes = [Block; 4];

const BYTES: usize = size_of::<Lanes>();

/// Runs vector instructions that leave all their results at `out`. They use up to sixteen registers, in
/// groups of four (or two, for halves).
macro_rules! compute {
    ($($line:literal),+; $($name:ident = $operand:expr),+) => {{
        let mut out = MaybeUninit::<Lanes>::uninit();
        asm!(
            ".option push",
            ".option arch, +v, +zvkned, +zvkb, +zvbc",
            $($line,)+
            ".option pop",
            $($name = in(reg) $operand,)+
            out = in(reg) out.as_mut_ptr(),
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            options(nostack)
        );
        out.assume_init()
    }};
}

// SAFETY (of every block below): a token exists only where the row's features were found; each `asm!` reads
// what its operands point to and writes all of `out`; the caller vouches for the pointers.
#[allow(clippy::undocumented_unsafe_blocks)]
#[rustfmt::skip]
impl Vectors for Zvkned {
    type V = Lanes;
    const BLOCKS: usize = 4;
    const MANY_REGISTERS: bool = true;
    #[inline(always)] unsafe fn load(self, src: *const u8) -> Lanes {
        unsafe { compute!("vsetvli zero, {n}, e8, m4, ta, ma", "vle8.v v0, ({src})", "vse8.v v0, ({out})"; n = BYTES, src = src) }
    }
    #[inline(always)] unsafe fn store(self, dst: *mut u8, v: Lanes) { unsafe { self.store_first(dst, BYTES, v) } }
    #[inline(always)] unsafe fn load_first(self, src: *const u8, n: usize) -> Lanes {
        unsafe {
            compute!("vsetvli zero, {all}, e8, m4, ta, ma", "vmv.v.i v0, 0", "vsetvli zero, {n}, e8, m4, tu, ma", "vle8.v v0, ({src})",
                "vsetvli zero, {all}, e8, m4, ta, ma", "vse8.v v0, ({out})"; n = n, all = BYTES, src = src)
        }
    }
    #[inline(always)] unsafe fn store_first(self, dst: *mut u8, n: usize, v: Lanes) {
        let _: Lanes = unsafe {
            compute!("vsetvli zero, {all}, e8, m4, ta, ma", "vle8.v v0, ({v})", "vse8.v v0, ({out})", "vsetvli zero, {n}, e8, m4, ta, ma",
                "vse8.v v0, ({dst})"; n = n, all = BYTES, v = &v, dst = dst)
        };
    }
    #[inline(always)] fn splat(self, block: Block) -> Lanes { [block; 4] }
    #[inline(always)] fn first(self, block: Block) -> Lanes { [block, 0, 0, 0] }
    #[inline(always)] fn put_last(self, v: Lanes, block: Block) -> Lanes { [v[0], v[1], v[2], block] }
    #[inline(always)] fn lanes_from(self, a: Lanes, b: Lanes, n: usize) -> Lanes {
        let mut lanes = b;
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane = if n + i < 4 { a[n + i] } else { b[n + i - 4] };
        }
        lanes
    }
    #[inline(always)] fn keep_first(self, v: Lanes, n: usize) -> Lanes { unsafe { self.load_first((&raw const v).cast(), n.min(BYTES)) } }
    #[inline(always)] fn fold(self, v: Lanes) -> Block { v[0] ^ v[1] ^ v[2] ^ v[3] }
    #[inline(always)] fn xor(self, a: Lanes, b: Lanes) -> Lanes {
        unsafe {
            compute!("vsetivli zero, 8, e64, m4, ta, ma", "vle64.v v0, ({a})", "vle64.v v4, ({b})", "vxor.vv v0, v0, v4",
                "vse64.v v0, ({out})"; a = &a, b = &b)
        }
    }
    #[inline(always)] fn xor3(self, a: Lanes, b: Lanes, c: Lanes) -> Lanes {
        unsafe {
            compute!("vsetivli zero, 8, e64, m4, ta, ma", "vle64.v v0, ({a})", "vle64.v v4, ({b})", "vle64.v v8, ({c})",
                "vxor.vv v0, v0, v4", "vxor.vv v0, v0, v8", "vse64.v v0, ({out})"; a = &a, b = &b, c = &c)
        }
    }
    #[inline(always)] fn byte_swap(self, v: Lanes) -> Lanes {
        unsafe {
            compute!("vsetivli zero, 4, e64, m2, ta, ma", "vlseg2e64.v v0, ({v})", "vrev8.v v4, v2", "vrev8.v v6, v0",
                "vsseg2e64.v v4, ({out})"; v = &v)
        }
    }
    #[inline(always)] fn swap_halves(self, v: Lanes) -> Lanes {
        unsafe {
            compute!("vsetivli zero, 4, e64, m2, ta, ma", "vlseg2e64.v v2, ({v})", "vmv2r.v v6, v2", "vsseg2e64.v v4, ({out})"; v = &v)
        }
    }
    #[inline(always)] fn low_halves(self, a: Lanes, b: Lanes) -> Lanes { unsafe { halves(half::<false>(&a), half::<false>(&b)) } }
    #[inline(always)] fn high_halves(self, a: Lanes, b: Lanes) -> Lanes { unsafe { halves(half::<true>(&a), half::<true>(&b)) } }
    #[inline(always)] fn clmul<const A_HIGH: bool, const B_HIGH: bool>(self, a: Lanes, b: Lanes) -> Lanes {
        unsafe {
            compute!("vsetivli zero, 4, e64, m2, ta, ma", "vlse64.v v0, ({a}), {step}", "vlse64.v v2, ({b}), {step}",
                "vclmul.vv v4, v0, v2", "vclmulh.vv v6, v0, v2", "vsseg2e64.v v4, ({out})";
                a = half::<A_HIGH>(&a), b = half::<B_HIGH>(&b), step = size_of::<Block>())
        }
    }
    #[inline(always)] fn add32(self, v: Lanes, n: Lanes) -> Lanes {
        unsafe {
            compute!("vsetivli zero, 8, e64, m4, ta, ma", "vle64.v v0, ({v})", "vse64.v v0, ({out})", "vsetivli zero, 4, e32, m1, ta, ma",
                "vlse32.v v0, ({v}), {step}", "vlse32.v v1, ({n}), {step}", "vadd.vv v0, v0, v1", "vsse32.v v0, ({out}), {step}";
                v = &v, n = &n, step = size_of::<Block>())
        }
    }
    #[inline(always)] fn pin(self, _: &mut Lanes) {}
}

impl Isa for Zvkned {
    const WEAVES: bool = false;
    type State = Lanes;
    #[inline(always)]
    fn whiten(self, x: Lanes, key0: Lanes) -> Lanes {
        self.xor(x, key0)
    }
    #[inline(always)]
    fn state(self, v: Lanes) -> Lanes {
        v
    }
    #[inline(always)]
    fn vector(self, x: Lanes) -> Lanes {
        x
    }
    #[inline(always)]
    fn round(self, x: &mut Lanes, key: &Lanes) {
        *x = unsafe {
            compute!("vsetivli zero, 16, e32, m4, ta, ma", "vle32.v v0, ({x})", "vle32.v v4, ({key})", "vaesem.vv v0, v4",
                "vse32.v v0, ({out})"; x = x, key = key)
        }
    }
    #[inline(always)]
    fn last_round(self, x: Lanes, _prev: Lanes, last: Lanes, data: Lanes) -> Lanes {
        unsafe {
            compute!("vsetivli zero, 16, e32, m4, ta, ma", "vle32.v v0, ({x})", "vle32.v v4, ({key})", "vle32.v v8, ({data})",
                "vaesef.vv v0, v4", "vxor.vv v0, v0, v8", "vse32.v v0, ({out})"; x = &x, key = &last, data = &data)
        }
    }
    /// In a state of four equal columns ShiftRows does nothing, so the last round with a key of zeros is the
    /// S-box.
    #[inline(always)]
    fn next_words<const ROTATE: bool>(self, four: Block, last: Block, rcon: u8) -> Block {
        const COLUMNS: Block = 1 | 1 << 32 | 1 << 64 | 1 << 96;
        let words = self.splat((last >> 96) * COLUMNS);
        let word = self.last_round(words, words, [0; 4], [0; 4])[0] as u32;
        let t = if ROTATE { word.rotate_right(8) } else { word } ^ rcon as u32;
        let sums = four ^ four << 32;
        sums ^ sums << 64 ^ t as Block * COLUMNS
    }
    #[inline(always)]
    fn pin_state(self, _: &mut Lanes) {}
}

/// Returns one half of the first block; the halves of the other blocks follow in steps of one block.
#[inline(always)]
fn half<const HIGH: bool>(v: &Lanes) -> *const u64 {
    (&raw const *v).cast::<u64>().wrapping_add(HIGH as usize)
}

/// Returns the blocks whose first halves are `low` and `high`.
/// # Safety
/// Both come from [`half`], of vectors that live.
#[inline(always)]
unsafe fn halves(low: *const u64, high: *const u64) -> Lanes {
    // SAFETY: the caller's promise; and a token exists.
    unsafe {
        compute!("vsetivli zero, 4, e64, m2, ta, ma", "vlse64.v v0, ({low}), {step}", "vlse64.v v2, ({high}), {step}",
            "vsseg2e64.v v0, ({out})"; low = low, high = high, step = size_of::<Block>())
    }
}
