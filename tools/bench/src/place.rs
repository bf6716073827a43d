//! Positions of key, stack and output in their pages. A load waits 4 to 10 ns for a store just made to an address with the same low twelve
//! bits, so one position proves nothing. Every contender is measured with its key, the stack and the output at each line of a page.

use fastrand::Rng;
use std::{arch::asm, time::Duration};

/// The number of lines of 64 bytes in a page of 4096.
pub(crate) const LINES: usize = 64;

/// The lines at which key, stack and output begin in their pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    pub(crate) key: usize,
    pub(crate) stack: usize,
    pub(crate) output: usize,
}

/// Returns as many places as a page has lines. Each of the three visits each line once, in an order of its own.
pub(crate) fn places(seed: u64) -> [Lines; LINES] {
    let mut rng = Rng::with_seed(seed);
    let mut shuffled = || {
        let mut lines: [usize; LINES] = std::array::from_fn(|line| line);
        rng.shuffle(&mut lines);
        lines
    };
    let [keys, stacks, outputs] = [shuffled(), shuffled(), shuffled()];
    std::array::from_fn(|at| Lines { key: keys[at], stack: stacks[at], output: outputs[at] })
}

/// Calls `work` with a stack that begins at this offset in a page. Without this, each start of a program has a random offset.
pub(crate) fn with_stack_at(place: usize, mut work: impl FnMut() -> Duration) -> Duration {
    extern "sysv64" fn trampoline<F: FnMut() -> Duration>(work: &mut F, time: &mut Duration) {
        *time = work();
    }
    fn trampoline_of<F: FnMut() -> Duration>(_: &F) -> extern "sysv64" fn(&mut F, &mut Duration) {
        trampoline::<F>
    }
    let (function, mut time) = (trampoline_of(&work), Duration::ZERO);
    // SAFETY: the stack pointer goes down by less than a page, to a multiple of 16, and R12 restores it, which the called function preserves.
    unsafe {
        asm!(
            "mov r12, rsp",
            "mov rax, rsp",
            "sub rax, r13",
            "and rax, 4080",
            "sub rsp, rax",
            "call r14",
            "mov rsp, r12",
            in("r13") place,
            in("r14") function,
            in("rdi") &raw mut work,
            in("rsi") &raw mut time,
            out("r12") _,
            clobber_abi("sysv64"),
        );
    }
    time
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, stack and output visit each line once, and the stack has the offset that was asked for.
    #[test]
    fn every_line() {
        let places = places(1);
        let mut seen = [[false; LINES]; 3];
        for Lines { key, stack, output } in places {
            for (seen, line) in seen.iter_mut().zip([key, stack, output]) {
                assert!(!std::mem::replace(&mut seen[line], true), "line {line} twice");
            }
        }
        let frame = |stack: usize| {
            let mut at = 0;
            with_stack_at(stack * 64, || {
                let here = 0_u8;
                at = std::hint::black_box(&raw const here).addr();
                Duration::ZERO
            });
            at
        };
        let first = frame(0);
        for stack in 0..LINES {
            assert_eq!(frame(stack).wrapping_sub(first) % 4096, stack * 64);
        }
    }
}
