//! Searches an implementation's memory for a freed key.
//!
//! The search must not find its own copy of the key, so it stores all bits inverted, and computes the blocks in a process that ends.

use crate::cases::Case;
use fastgcm_model::Model;
use std::{
    fs,
    os::unix::fs::FileExt,
    ptr,
    sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed},
};

/// The largest number of blocks: two halves of a key, its other round keys, and H.
const BLOCKS: usize = 20;

/// The blocks of a search, with inverted bits: the halves of the key, its round keys, and H. They lie in memory that processes share.
#[derive(Default)]
pub(crate) struct Needles {
    blocks: [[AtomicU8; 16]; BLOCKS],
    count: AtomicUsize,
}

impl Needles {
    /// Computes the blocks in another process. This process must have one thread. The key is the case's with inverted bits.
    pub(crate) fn make(&self, case: &Case) {
        self.count.store(0, Relaxed);
        // SAFETY: this process has one thread, so the new one has all that it needs.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let key: Vec<u8> = case.of.key.iter().map(|byte| !byte).collect();
            let model = Model::new(&key);
            let halves = key.chunks_exact(16).map(|half| half.try_into().expect("16 bytes"));
            // The first round keys are the key.
            let rounds = model.round_keys()[key.len() / 16..].iter().copied();
            let all = halves.chain(rounds).chain([model.h()]);
            for (block, at) in all.zip(&self.blocks) {
                block.iter().zip(at).for_each(|(byte, at)| at.store(!byte, Relaxed));
                self.count.fetch_add(1, Relaxed);
            }
            // SAFETY: this process needs no cleanup.
            unsafe { libc::_exit(0) };
        }
        // SAFETY: our child.
        unsafe { libc::waitpid(child, ptr::null_mut(), 0) };
    }

    /// Returns the blocks that this process has in writable memory.
    pub(crate) fn found(&self, key: usize) -> Vec<String> {
        let count = self.count.load(Relaxed);
        let (Ok(maps), Ok(memory)) = (fs::read_to_string("/proc/self/maps"), fs::File::open("/proc/self/mem")) else { return Vec::new() };
        let mut found = vec![false; count];
        // For each byte, the set of blocks that begin with it.
        let mut begin = [0_u32; 256];
        self.blocks[..count].iter().enumerate().for_each(|(i, block)| begin[usize::from(!block[0].load(Relaxed))] |= 1 << i);
        for line in maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw"))) {
            let range = line.split([' ', '-']).take(2).filter_map(|end| usize::from_str_radix(end, 16).ok()).collect::<Vec<_>>();
            let [from, to] = range[..] else { continue };
            // The kernel reads, because some writable pages are inaccessible.
            let mut chunk = vec![0; 1 << 16];
            for start in (from..to).step_by(chunk.len() - 15) {
                let wanted = chunk.len().min(to - start);
                let read = memory.read_at(&mut chunk[..wanted], start as u64).unwrap_or(0);
                for window in chunk[..read].windows(16) {
                    let mut candidates = begin[usize::from(window[0])];
                    while candidates != 0 {
                        let i = candidates.trailing_zeros() as usize;
                        found[i] |= window.iter().zip(&self.blocks[i]).all(|(byte, at)| *byte == !at.load(Relaxed));
                        candidates &= candidates - 1;
                    }
                }
            }
        }
        let halves = key / 16;
        let of = |from: usize, to: usize| found[from..to].iter().filter(|found| **found).count();
        let parts = [(of(0, halves), "halves of the key"), (of(halves, count - 1), "round keys"), (of(count - 1, count), "H")];
        let there = parts.into_iter().filter(|(number, _)| *number > 0);
        there.map(|(number, what)| if what == "H" { what.into() } else { format!("{number} {what}") }).collect()
    }
}
