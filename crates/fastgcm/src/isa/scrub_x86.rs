//! x86-64: the stack and all registers that a called function may leave changed, in one piece of assembler,
//! since a compiler would be free to put something in a register that has just been wiped.

use super::{detect::Features, features};
use core::arch::asm;

/// Where the frame of the function ends that this is inlined into.
#[inline(always)]
pub(super) fn stack_pointer() -> usize {
    let here;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) here, options(nomem, nostack, preserves_flags)) };
    here
}

/// Which vector registers there are to be wiped. Not which the row uses: `memcpy` takes the widest that the
/// processor has.
enum Registers {
    /// Those that every processor of the kind has.
    Base,
    /// Sixteen, twice as wide.
    Avx,
    /// Thirty-two. (The masks stay: they hold lengths.)
    Avx512,
}

impl Registers {
    #[inline(always)]
    fn here() -> Self {
        let features = features();
        if features.contain(const { Features::named("avx512f,avx512vl") }) {
            Self::Avx512
        } else if features.contain(const { Features::named("avx") }) {
            Self::Avx
        } else {
            Self::Base
        }
    }
}

/// Wipes the stack from here down to `lowest`, or up to 191 bytes below it, in lines of 64 bytes, two at a
/// time (a vector that crosses a line takes two stores; four at a time were two more that nobody needed, and
/// with many others in flight 3 ns). Then it wipes the registers: those of vectors, and the general ones that
/// a function may change. (The others have their caller's values again.)
///
/// **Downwards**, because more may be wiped than the entry has used (`LEAVES`, `CALLS`), and Windows gives a
/// stack its next page when the page beside those it has is touched. Whoever touches a page further down
/// first is killed.
///
/// The stack pointer stands below what is wiped meanwhile: a signal handler would leave its own things there,
/// and valgrind would take the stores for accesses beside the stack.
///
/// A function of its own, so that those that seal and open are small enough to be a part of their caller: a
/// tag that they return in memory, in two words, was loaded as one vector, and that load waited for all of
/// these stores (2 ns, on Zen 5).
#[inline(never)]
pub(super) fn wipe(lowest: usize) {
    macro_rules! wipe {
        ($zero:expr, $store:expr) => {
            // SAFETY: what lies below the stack pointer belongs to nobody (no red zone: `nostack` is not
            // said), and the entry has just used it. The stack pointer is put back; every register that
            // changes is declared.
            unsafe {
                asm!(
                    "/* wipe */",
                    $zero,
                    "mov rcx, rsp",
                    "mov rsi, rsp",
                    "and rsi, -64",
                    "lea rsp, [rdi - 128]",
                    ".irp at, rcx - 64",
                    $store,
                    ".endr",
                    "2:",
                    ".irp at, rsi - 64, rsi - 128",
                    $store,
                    ".endr",
                    "sub rsi, 128",
                    "cmp rsi, rdi",
                    "ja 2b",
                    "mov rsp, rcx",
                    ".irp r, eax, ecx, edx, esi, edi, r8d, r9d, r10d, r11d",
                    "xor \\r, \\r",
                    ".endr",
                    inout("rdi") lowest => _,
                    clobber_abi("sysv64"),
                )
            }
        };
    }
    match Registers::here() {
        Registers::Base => wipe!(
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n pxor xmm\\n, xmm\\n\n .endr",
            "movups [\\at], xmm0\n movups [\\at + 16], xmm0\n movups [\\at + 32], xmm0\n movups [\\at + 48], xmm0"
        ),
        Registers::Avx => wipe!(
            ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vpxor xmm\\n, xmm\\n, xmm\\n\n .endr",
            "vmovups [\\at], ymm0\n vmovups [\\at + 32], ymm0"
        ),
        Registers::Avx512 => wipe!(
            concat!(
                ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vpxor xmm\\n, xmm\\n, xmm\\n\n .endr\n",
                ".irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n vpxord xmm\\n, xmm\\n, xmm\\n\n .endr"
            ),
            "vmovups [\\at], zmm0"
        ),
    }
}
