//! Where key, stack and output lie. A load that has the low twelve bits of address of a store just made waits for that store, 4 to 10 ns, so
//! one place proves nothing: every contender is measured with its key at each line of a page, and with the stack and the output at each line too.

use fastrand::Rng;
use std::{arch::asm, time::Duration};

/// Of 64 bytes, in a page of 4096.
pub(crate) const LINES: usize = 64;

/// The lines at which they begin in their pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    pub(crate) key: usize,
    pub(crate) stack: usize,
    pub(crate) output: usize,
}

/// As many places as a page has lines: each of the three has each line once, in an order of its own.
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

/// Calls `work` with a stack that begins at that place of a page: where the system put it is drawn at each start of a program.
pub(crate) fn deeper(place: usize, mut work: impl FnMut() -> Duration) -> Duration {
    extern "sysv64" fn called<F: FnMut() -> Duration>(work: &mut F, time: &mut Duration) {
        *time = work();
    }
    fn of<F: FnMut() -> Duration>(_: &F) -> extern "sysv64" fn(&mut F, &mut Duration) {
        called::<F>
    }
    let (function, mut time) = (of(&work), Duration::ZERO);
    // SAFETY: the stack pointer goes down by less than a page, to a multiple of 16, and comes back; R12 is the called function's to keep.
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

    /// Each of the three is at each line once, and the stack is where it should be.
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
            deeper(stack * 64, || {
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
