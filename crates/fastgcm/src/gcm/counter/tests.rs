//! Counters that no message of a test reaches, and their tables after use.

use super::*;
use crate::{
    isa::{Portable, Vectors},
    nonce::{Kind, Nonce},
};

fn schedule() -> Schedule {
    let mut schedule = Schedule::ZERO;
    schedule.expand::<_, true>(Portable::<1>::here(), &[7; 16]);
    schedule
}

fn nonce() -> Nonce96 {
    let Kind::Public(nonce) = Nonce::from(*b"twelve bytes").0 else { unreachable!() };
    nonce
}

/// Compares turns, and the last vectors of a text, from block `first` on, with the standard.
fn from<const N: usize, const MANY_REGISTERS: bool>(s: Portable<N, MANY_REGISTERS>, first: u32) -> usize {
    let (schedule, nonce) = (schedule(), nonce());
    let j0 = J0::from(nonce);
    let mut counter = XorCounter::new(s, &schedule, nonce);
    counter.skip(s, first);
    let mut seen = 0;
    let mut check = |x: &[_; STATES], n: usize, index: u32| {
        for (i, x) in x.iter().take(n).enumerate() {
            let mut blocks = Table::<MOST_BLOCKS>::ZERO;
            blocks.store(s, 0, s.vector(*x));
            for lane in 0..N {
                let block = index.wrapping_add((i * N + lane) as u32);
                let expected = j0.counter_block(block) ^ schedule.keys[0];
                assert_eq!(blocks.get(lane), expected, "block {block:x} of a text, {N} a vector");
                seen += 1;
            }
        }
    };
    let mut x = [s.state(s.splat(0)); STATES];
    for turn in 0..3 {
        counter.next::<TURN>(s, &schedule, &mut x);
        check(&x, TURN, first.wrapping_add((turn * TURN * N) as u32));
    }
    let behind = first.wrapping_add((3 * TURN * N) as u32);
    counter.last::<4, 4>(s, &mut x);
    check(&x, 4, behind);
    counter.last::<3, 4>(s, &mut x);
    check(&x, 3, behind);
    counter.next::<4>(s, &schedule, &mut x);
    check(&x, 4, behind);
    seen
}

/// F4, F12: carries into each byte of the counter, and the end of the longest message. A message would need
/// up to 64 GiB to reach these counters.
#[test]
fn f04_counters_at_every_carry() {
    let firsts = [
        0,
        0x100 - 64,
        0xff00,
        0x1_0000 - 64,
        0xff_ff00,
        0x100_0000 - 32,
        0xffff_ff00,
        0xffff_ffa0,
        0xffff_ffc0,
    ];
    let (one, two, four) = (Portable::<1>::here(), Portable::<2>::here(), Portable::<4, true>::here());
    let seen: usize =
        firsts.iter().map(|first| from(one, *first) + from(two, *first) + from(four, *first)).sum();
    assert_eq!(seen, firsts.len() * (3 * TURN + 4 + 3 + 4) * (1 + 2 + 4));
}
