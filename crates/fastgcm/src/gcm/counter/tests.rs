//! Counters where no message of a test gets, and their tables when they are done with.

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

/// A turn that ends with a period, and the vector behind it: after `high` periods of 256 blocks.
fn across<S: Isa, const FACE: bool>(s: S, high: u32) -> usize {
    let (schedule, nonce, first) = (schedule(), nonce(), PERIOD - TURN * S::BLOCKS);
    // Without the table as a piece of a message begins there.
    let mut public = TableCounter::at(s, &schedule, nonce, (high << 8) + first as u32);
    if FACE {
        public.constant = constant::<S, FACE>(s, &schedule, nonce, high);
    }
    let mut changes = FirstRoundTable::<S>::room();
    if FACE {
        FirstRoundTable::new(s, &schedule, &mut TableCounter::new(s, &schedule, nonce), &mut changes);
    }
    let mut x = [s.state(s.splat(0)); STATES];
    let mut blocks = Table::<{ 9 * MOST_BLOCKS }>::ZERO;
    public.next_of::<FACE, TURN>(s, &schedule, &changes, &mut x);
    each!(I in 0 1 2 3 4 5 6 7 => { blocks.store(s, I * S::BLOCKS, s.leave(x[I])); });
    public.next_of::<FACE, 1>(s, &schedule, &changes, &mut x);
    blocks.store(s, TURN * S::BLOCKS, s.leave(x[0]));

    let [key0, key1] = [0, 1].map(|i| s.splat(schedule.keys[i]));
    for i in 0..(TURN + 1) * S::BLOCKS {
        let counter = nonce.with_counter((high << 8) + (first + i + 2) as u32);
        let whitened = s.whiten(s.splat(counter), key0);
        let mut expected = Table::<MOST_BLOCKS>::ZERO;
        expected.store(s, 0, if FACE { rounded(s, s.state(whitened), s.state(key0), s.state(key1)) } else { whitened });
        assert_eq!(blocks.get(i), expected.get(0), "{high:x}, block {i} of {} a vector, FACE: {FACE}", S::BLOCKS);
    }
    1
}

/// F4: carries into each byte of the counter. A message would need up to 64 GiB to get there.
#[test]
fn f04_counters_at_every_carry() {
    let mut turns = 0;
    for high in [0, 0xfe, 0xff, 0xfffe, 0xffff, 0xff_fffe] {
        let (one, two, four) = (Portable::<1>::here(), Portable::<2>::here(), Portable::<4, true>::here());
        turns += across::<_, false>(one, high) + across::<_, false>(two, high) + across::<_, false>(four, high);
        turns += across::<_, true>(one, high) + across::<_, true>(two, high) + across::<_, true>(four, high);
    }
    assert_eq!(turns, 36);
}

/// F12: the turns of a piece have their own counters, whether they go on with what the piece before has kept or begin anew, over the end of a period.
#[test]
fn f12_turns_of_pieces_behind_each_other() {
    let (s, schedule) = (Portable::<4, true>::here(), schedule());
    let mut blocks_seen = 0;
    for first in [0_u32, 32, 192, 224, 256, 0xffff_ff00, 0xffff_ffa0] {
        // One turn behind the other, or a period later, when what was kept is of no use.
        for (keeps, step) in [(true, 32), (false, 32), (true, 288)] {
            let mut kept = Hash::ZERO;
            for turn in 0..3 {
                let index = first.wrapping_add(turn * step);
                let mut counters = TableCounter::resumed(s, &schedule, nonce(), index, &kept);
                let (mut x, mut blocks) = ([s.state(s.splat(0)); STATES], Table::<{ TURN * 4 }>::ZERO);
                counters.next::<TURN>(s, &schedule, &mut x);
                if keeps {
                    counters.keep(s, &mut kept);
                }
                each!(I in 0 1 2 3 4 5 6 7 => { blocks.store(s, 4 * I, s.leave(x[I])); });
                for i in 0..TURN * 4 {
                    let expected = J0::from(nonce()).counter_block(index.wrapping_add(i as u32)) ^ schedule.keys[0];
                    assert_eq!(blocks.get(i), expected, "from block {first:x}, turn {turn} of {step} blocks, block {i}, keeps: {keeps}");
                    blocks_seen += 1;
                }
            }
        }
    }
    assert_eq!(blocks_seen, 7 * 3 * 3 * 32);
}

/// F16: what a long message makes of the key on its stack. (Only rows with VAES do, and few machines have those.)
#[test]
fn f16_tables_of_long_messages_are_wiped() {
    let (s, schedule) = (Portable::<4, true>::here(), schedule());
    let (mut public, mut changes) = (TableCounter::new(s, &schedule, nonce()), FirstRoundTable::<Portable<4, true>>::room());
    let face = FirstRoundTable::new(s, &schedule, &mut public, &mut changes);
    // Where the byte is zero nothing changes.
    assert!((0..PERIOD).all(|i| (face.changes.get(i) != PLAIN.get(i)) == (PLAIN.get(i) != 0)));
    face.done(s, &schedule);
    assert!((0..PERIOD + 8).all(|i| changes.get(i) == 0));
}
