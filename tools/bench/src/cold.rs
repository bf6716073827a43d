//! Evicts the cipher from the caches between messages, as in a program that calls a cipher rarely: reads other data and executes other code,
//! so that the near caches hold no code, table, key or text of the cipher, and the branch predictors have learnt other branches.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use std::{
    cell::Cell,
    hint::black_box,
    ptr, slice,
    time::{Duration, Instant},
};

/// Bytes of other data: more than a second-level cache holds.
const DATA: usize = 8 << 20;
/// Bytes of other code: more than the first-level cache and the branch predictors hold.
const CODE: usize = 1 << 20;
/// Bytes of a cache line.
const LINE: usize = 64;
/// A line of the other code: computes the next number of a sequence, branches on it, and continues at the next line either way.
/// `lea eax, [rax + 4 * rax + 0x3c6ef35f]`, `test eax, eax`, `js next`, `jmp next`.
const NEXT: [u8; 13] = [0x8d, 0x84, 0x80, 0x5f, 0xf3, 0x6e, 0x3c, 0x85, 0xc0, 0x78, 0x35, 0xeb, 0x33];
/// The first line: `mov eax, edi`, `jmp next`.
const FIRST: [u8; 4] = [0x89, 0xf8, 0xeb, 0x3c];
/// The last line.
const RETURN: u8 = 0xc3;

/// Other data and other code. The code's memory is never unmapped.
pub(crate) struct Evictor {
    data: Vec<u64>,
    code: extern "sysv64" fn(u32) -> u32,
    last: Cell<u32>,
    /// The time that reading the clock takes, which every sample contains once.
    clock: Duration,
}

impl Evictor {
    pub(crate) fn new() -> Self {
        // SAFETY: new memory, written within its size before it becomes executable and read-only. Each line continues at the next, and the last one
        // returns. The code changes the registers of its argument and its result, and flags.
        let code = unsafe {
            let first =
                mmap_anonymous(ptr::null_mut(), CODE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE).expect("memory for code");
            let bytes = slice::from_raw_parts_mut(first.cast::<u8>(), CODE);
            bytes.chunks_exact_mut(LINE).for_each(|line| line[..NEXT.len()].copy_from_slice(&NEXT));
            bytes[..FIRST.len()].copy_from_slice(&FIRST);
            bytes[CODE - LINE] = RETURN;
            mprotect(first, CODE, MprotectFlags::READ | MprotectFlags::EXEC).expect("memory that can be executed");
            std::mem::transmute::<*mut std::ffi::c_void, extern "sysv64" fn(u32) -> u32>(first)
        };
        let clock = (0..1000).map(|_| Instant::now().elapsed()).min().unwrap_or_default();
        Self { data: vec![1; DATA / size_of::<u64>()], code, last: Cell::new(0), clock }
    }

    /// Returns the time of `message` alone, after the eviction.
    pub(crate) fn time(&self, message: impl FnOnce()) -> Duration {
        self.run();
        black_box(Instant::now()); // brings the clock's own code and data into the caches
        let start = Instant::now();
        message();
        start.elapsed().saturating_sub(self.clock)
    }

    /// Reads a word of each line of the data, and executes each line of the code. Returns the number of lines that were read.
    fn run(&self) -> u64 {
        self.last.set((self.code)(self.last.get()));
        black_box(self.data.iter().step_by(LINE / size_of::<u64>()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines of the data are read, and all lines of the code are executed: the result is the right number of the sequence.
    #[test]
    fn every_line() {
        let (evictor, mut expected) = (Evictor::new(), 0_u32);
        for _ in 0..3 {
            assert_eq!(evictor.run(), (DATA / LINE) as u64);
            (0..CODE / LINE - 2).for_each(|_| expected = expected.wrapping_mul(5).wrapping_add(0x3c6e_f35f));
            assert_eq!(evictor.last.get(), expected);
        }
    }
}
