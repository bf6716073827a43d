//! x86-64: the stack and all registers that a called function may leave changed, in one piece of assembler,
//! because a compiler could put something in a register that has just been wiped.

use super::{detect::Features, features};
use core::arch::asm;

/// Returns where the frame of the function ends into which this call is inlined.
#[inline(always)]
pub(super) fn stack_pointer() -> usize {
    let here;
    // SAFETY: the instruction only reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) here, options(nomem, nostack, preserves_flags)) };
    here
}

/// Which vector registers are to be wiped. The row's own registers do not decide this: `memcpy` uses the
/// widest registers that the processor has.
enum Registers {
    /// The registers that every processor of the family has.
    Base,
    /// Sixteen registers, twice as wide.
    Avx,
    /// Thirty-two registers. (The masks stay: they hold lengths.)
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

/// Wipes the stack from here down to `lowest`, or up to 191 bytes below it, in cache lines of 64 bytes, two
/// at a time. (A vector that crosses a line takes two stores; four at a time would be two more than needed,
/// and took 3 ns with many other stores in flight.) Then it wipes the vector registers, and the general
/// registers that a function may change. (The other general registers have their caller's values again.)
///
/// **It works downwards**, because it may wipe more than the entry has used (`LEAVES`, `CALLS`), and Windows
/// gives a stack its next page when a program touches the page next to its present ones. A program that
/// touches a page further down first is killed.
///
/// Meanwhile the stack pointer is below what is being wiped: otherwise a signal handler would leave its own
/// data there, and valgrind would take the stores for accesses outside the stack.
///
/// It is a function of its own, so that the functions that seal and open are small enough to be inlined into
/// their caller. A tag that they returned in memory, in two words, was loaded as one vector, and that load
/// waited for all of these stores (2 ns, on Zen 5).
#[inline(never)]
pub(super) fn wipe(lowest: usize) {
    macro_rules! wipe {
        ($zero:expr, $store:expr) => {
            // SAFETY: the memory below the stack pointer belongs to nobody (`nostack` is absent, so there is
            // no red zone), and the entry has just used it. The stack pointer is put back; every register
            // that changes is declared.
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
