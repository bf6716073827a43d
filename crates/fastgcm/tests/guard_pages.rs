//! F7: not a byte beside a buffer is read or written. Each buffer begins, or ends, at a page that may not be touched.
#![cfg(target_os = "linux")]

#[path = "support/guarded.rs"]
mod guarded;
#[path = "support/backends.rs"]
mod support;

use fastgcm::{Backend, Error, Key, Nonce, Tag};
use guarded::{Guarded, SIDES, Side};
use support::{Tally, backends};

/// AAD: none, one byte, TLS 1.2's, one block, IPsec's, and more than any tail takes.
const AADS: [usize; 6] = [0, 1, 13, 16, 20, 200];

/// Every length around and inside the vectors and turns of every back end.
const LENGTHS: std::ops::RangeInclusive<usize> = 0..=1100;

/// Of long messages every length to more than a turn behind where round keys are spread over the lanes once for all turns (2048 bytes opened, 2560
/// sealed). Then lengths around places: pages, and where a message makes a table of its own (32 KiB with vectors of one block, 128 KiB with wider
/// ones).
fn long() -> impl Iterator<Item = usize> {
    const OFF: [isize; 19] = [-513, -257, -65, -64, -17, -16, -1, 0, 1, 15, 16, 17, 63, 64, 65, 129, 257, 511, 513];
    let around = |n: usize| OFF.map(move |off| n.wrapping_add_signed(off));
    (1101..=3100).step_by(step()).chain([4 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10].into_iter().flat_map(around))
}

/// The longest of these.
const LONGEST: usize = (128 << 10) + 513;

/// `FASTGCM_QUICK`: every seventh length, for an emulated processor.
fn step() -> usize {
    if std::env::var_os("FASTGCM_QUICK").is_some() { 7 } else { 1 }
}

#[test]
fn f07_nothing_beside_the_buffers_is_touched() {
    let mut memory = Memory::new();
    let mut keys = Vec::new();
    for length in [16, 24, 32] {
        for (side, backend) in SIDES.into_iter().flat_map(|side| backends().into_iter().map(move |backend| (side, backend))) {
            keys.push((length, side, support::key(memory.key.put(side, &bytes(length, 1)), backend)));
        }
    }
    let mut calls = Tally::default();
    for length in LENGTHS.step_by(step()) {
        let text = bytes(length, 2);
        for aad in AADS.map(|n| bytes(n, 3)) {
            // Twelve bytes, and any other number up to 130; the keys take turns.
            for nonce in [bytes(12, 4), bytes(1 + (7 * length + aad.len()) % 130, 5)] {
                let key_length = [16, 24, 32][(length + aad.len() + nonce.len()) % 3];
                let portable = support::key(&bytes(key_length, 1), Backend::Portable);
                let mut sealed = text.clone();
                let tag = portable.seal(Nonce::any(&nonce).unwrap(), &aad, &mut sealed).unwrap();
                for (_, side, key) in keys.iter().filter(|(length, ..)| *length == key_length) {
                    calls.add(key, memory.message(*side, key, [&nonce, &aad, &text, &sealed], tag));
                }
            }
        }
    }
    // Each key meets buffers at the side where it was made itself.
    calls.passed("guard_pages::f07", 1101usize.div_ceil(step()) * AADS.len() * 2 * SIDES.len() * 6);
}

/// The same beyond the loops for few turns: AAD, nonces and keys take turns.
#[test]
fn f07_nothing_beside_long_buffers_is_touched() {
    let mut memory = Memory::new();
    let (mut calls, mut lengths) = (Tally::default(), 0);
    for (i, length) in long().enumerate() {
        let (text, aad) = (bytes(length, 2), bytes(AADS[i % AADS.len()], 3));
        // Every eighth nonce is none of twelve bytes.
        let (nonce, bytes) = (bytes(if i % 8 == 7 { 16 } else { 12 }, 4), bytes([16, 24, 32][i % 3], 1));
        let mut sealed = text.clone();
        let tag = support::key(&bytes, Backend::Portable).seal(Nonce::any(&nonce).unwrap(), &aad, &mut sealed).unwrap();
        for backend in backends() {
            let key = support::key(&bytes, backend);
            for side in SIDES {
                calls.add(&key, memory.message(side, &key, [&nonce, &aad, &text, &sealed], tag));
            }
        }
        lengths += 1;
    }
    assert_eq!(lengths, 2000usize.div_ceil(step()) + 5 * 19);
    calls.passed("guard_pages::f07_long", lengths * SIDES.len() * 6);
}

/// A nonce of each length, up to more than a turn of the widest back end.
#[test]
fn f07_nonces_of_every_length() {
    let mut memory = Memory::new();
    let mut calls = Tally::default();
    for backend in backends() {
        let key = support::key(&bytes(16, 1), backend);
        for length in 1..=LENGTHS.last().unwrap() {
            let nonce = bytes(length, 6);
            let expected = key.seal(Nonce::any(&nonce).unwrap(), b"", &mut []).unwrap();
            for side in SIDES {
                let found = key.seal(Nonce::any(memory.nonce.put(side, &nonce)).unwrap(), b"", &mut []).unwrap();
                assert_eq!(found.0, expected.0);
                calls.add(&key, 1);
            }
        }
    }
    calls.passed("guard_pages::f07_nonces", 1100 * 2);
}

/// Everything that a call is given, each between guards of its own.
struct Memory {
    key: Guarded,
    nonce: Guarded,
    aad: Guarded,
    from: Guarded,
    to: Guarded,
    tag: Guarded,
}

impl Memory {
    fn new() -> Self {
        let [key, nonce, aad, from, to, tag] = std::array::from_fn(|_| Guarded::new(LONGEST));
        Self { key, nonce, aad, from, to, tag }
    }

    /// One message in place and copied, sealed and opened and refused. Returns the number of calls.
    fn message(&mut self, side: Side, key: &Key, [nonce, aad, text, sealed]: [&[u8]; 4], tag: Tag) -> usize {
        let what = || format!("{side:?}, {key:?}, nonce {}, AAD {}, text {}", nonce.len(), aad.len(), text.len());
        let nonce = Nonce::any(self.nonce.put(side, nonce)).unwrap();
        let aad = &*self.aad.put(side, aad);
        let tag = self.tag.put_tag(side, tag);

        let buffer = self.to.put(side, text);
        let found = key.seal(nonce, aad, buffer).unwrap();
        assert_eq!((&*buffer, found.0), (sealed, tag.0), "{}", what());
        key.open_verified_first(nonce, aad, buffer, tag).unwrap();
        assert_eq!(buffer, text, "{}", what());
        buffer.copy_from_slice(sealed);
        key.open(nonce, aad, buffer, tag).unwrap();
        assert_eq!(buffer, text, "{}", what());

        let from = self.from.put(side, text);
        let found = key.seal_detached_to(nonce, aad, from, buffer).unwrap();
        assert_eq!((&*buffer, found.0), (sealed, tag.0), "{}", what());
        from.copy_from_slice(sealed);
        key.open_detached_to(nonce, aad, from, buffer, tag).unwrap();
        assert_eq!(buffer, text, "{}", what());
        tag.0[0] ^= 1;
        assert_eq!(key.open_detached_to(nonce, aad, from, buffer, tag), Err(Error::Unauthentic));
        assert!(buffer.iter().all(|&byte| byte == 0), "{}", what());
        6
    }
}

/// The control: the guards do kill. Each sin is committed by a process of its own, a fork of this one (which runs also where an emulator
/// runs this program, and could not start it anew).
#[test]
fn f07_one_byte_beside_is_death() {
    let mut deaths = 0;
    for (sin, dies) in [("read below", true), ("read above", true), ("write below", true), ("write above", true), ("none", false)] {
        let mut status = 0;
        // SAFETY: the child touches its own memory and leaves; it never returns into this test.
        unsafe {
            match libc::fork() {
                0 => libc::_exit(i32::from(std::panic::catch_unwind(|| commit(sin)).is_err())),
                child => assert!(child > 0 && libc::waitpid(child, &mut status, 0) == child, "{sin}"),
            }
        }
        if dies {
            assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV, "{sin}: {status:#x}");
            deaths += 1;
        } else {
            assert_eq!(status, 0, "{sin}");
        }
    }
    assert_eq!(deaths, 4);
    println!("guard_pages::f07_one_byte_beside_is_death ok {deaths}");
}

fn commit(sin: &str) {
    let mut memory = Guarded::new(LONGEST);
    let low = memory.put(Side::Low, &[1; 16]).as_mut_ptr();
    let high = memory.put(Side::High, &[1; 16]).as_mut_ptr();
    // SAFETY: none. The first and the last byte of the buffer are ours, the bytes beside them are not: the process is to die of it.
    unsafe {
        assert_eq!(low.read_volatile() + high.wrapping_add(15).read_volatile(), 2);
        match sin {
            "read below" => _ = low.wrapping_sub(1).read_volatile(),
            "read above" => _ = high.wrapping_add(16).read_volatile(),
            "write below" => low.wrapping_sub(1).write_volatile(1),
            "write above" => high.wrapping_add(16).write_volatile(1),
            _ => {}
        }
    }
}

/// Deterministic bytes that differ everywhere.
fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 10_000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
