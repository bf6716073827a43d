//! What changes from head to head of a loop: looked for in three heads.

use super::{
    LOOKED_AT, Over, Result, Stop,
    run::{Form, Run},
    state::{At, State, block_of, sum},
    stopped,
};
use crate::{
    calls::RETURN,
    field::{Bit, Block, Byte, O, number},
    lines::Line,
    prove::Failure,
};
use std::collections::{BTreeMap, BTreeSet};

/// What changes from head to head, and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Invariant {
    pub(super) head: u64,
    /// The turn before which the head is met first.
    pub(super) first: i128,
    /// Bytes of a turn that have been read at its head.
    pub(super) ahead: usize,
    /// Words of so many bytes: as functions of N at the first head, and by how much they grow in a turn.
    pub(super) words: BTreeMap<At, (usize, Line, i128)>,
    /// Blocks with the number of blocks before them in the last four bytes, plus this; or in the first four, in the other order.
    pub(super) counters: BTreeMap<At, (i128, bool)>,
    /// Registers that hold numbers and are the same ones after some turns: at the first head, how much is added in a turn, and modulo which power of two.
    pub(super) cycles: BTreeMap<At, (u64, u64, u32)>,
    /// The hash.
    pub(super) hashes: BTreeSet<At>,
    pub(super) form: Form,
    /// Bytes that are those of the text so far before this turn.
    pub(super) copies: BTreeMap<At, usize>,
    /// Bytes and registers of which nothing is said.
    pub(super) others: BTreeSet<At>,
}

impl std::fmt::Display for Invariant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { words, counters, hashes, form: Form { pending, .. }, others, copies, cycles, .. } = self;
        let (words, counters, hashes) = (words.len(), counters.len(), hashes.len());
        let (copies, others) = (copies.len(), others.len());
        write!(
            f,
            "{words} words count, {counters} counters in blocks, hash in {hashes}, {pending} bytes wait, {copies} bytes are in \
             registers as well, {others} places are unknown"
        )?;
        if cycles.is_empty() { Ok(()) } else { write!(f, ", {} numbers come back after {} turns", cycles.len(), self.period()) }
    }
}

impl Invariant {
    /// After so many turns all cycles are where they were.
    pub(super) fn period(&self) -> i128 {
        self.cycles.values().map(|(_, by, n)| 1 << (n - by.trailing_zeros().min(*n))).max().unwrap_or(1)
    }

    /// What a number that comes back is in that turn.
    pub(super) fn cycle(&self, (first, by, n): (u64, u64, u32), turn: i128) -> u64 {
        let sum = i128::from(first) + i128::from(by) * (turn - self.first);
        sum.rem_euclid(1 << n) as u64
    }

    /// And where numbers below 256 grow as blocks do, they are lowest bytes of counters.
    pub(super) fn with_lowest_bytes(&self, blocks: i128) -> Option<Self> {
        let mut other = self.clone();
        let is_one = |(at, (_, then, by)): (&At, &(usize, Line, i128))| {
            matches!(at, At::General(_)) && then.is_number() && (0..256).contains(&then.plus) && *by == blocks
        };
        let all: Vec<_> = self.words.iter().filter(|word| is_one(*word)).map(|(at, (_, then, by))| (*at, then.plus, *by)).collect();
        for &(at, first, by) in &all {
            other.words.remove(&at);
            other.cycles.insert(at, (first as u64, by as u64, 8));
        }
        (!all.is_empty()).then_some(other)
    }

    /// Nothing is said any more of what is there.
    pub(super) fn forget(&mut self, places: &BTreeSet<At>) {
        for &at in places {
            self.cycles.remove(&at);
            match (self.words.remove(&at), at) {
                (Some((n, ..)), At::Memory(at)) => self.others.extend((at..at + n as u64).map(At::Memory)),
                _ => drop(self.others.insert(at)),
            }
        }
    }
}

impl<'a> Run<'a> {
    /// How many bytes a turn of the loop has: by so much more has been read each time that a jump leads back to one place.
    pub(super) fn turn_of_loop(&mut self) -> Result<u64> {
        let mut met: BTreeMap<u64, (u64, u64, usize)> = BTreeMap::new();
        while self.machine.rip != RETURN {
            let from = self.machine.rip;
            self.step()?;
            let (to, progress) = (self.machine.rip, self.progress(self.read));
            if to <= from && from - to < 1 << 16 {
                let (last, turn, times) = met.entry(to).or_insert((progress, 0, 0));
                let more = progress - *last;
                if more > 0 {
                    (*last, *times) = (progress, if more == *turn { *times + 1 } else { 0 });
                    *turn = more;
                    if *times == 6 && more.is_multiple_of(16) {
                        return Ok(more);
                    }
                }
            }
        }
        stopped("no loop is found over the text")
    }

    /// Places that may be the head of the loop: where a jump leads, or does not lead, in a turn.
    pub(super) fn heads(&mut self) -> Result<Vec<u64>> {
        let (read, turn) = (self.read, self.turn as u64);
        let mut met: BTreeMap<u64, (u64, usize)> = BTreeMap::new();
        let (mut heads, mut looped) = (Vec::new(), false);
        while self.progress(read) < (LOOKED_AT as u64 - 3) * turn {
            let from = self.machine.rip;
            let jumps = self.machine.jumps(from).map_err(Failure::from)?;
            self.step()?;
            if looped && jumps && !heads.contains(&self.machine.rip) {
                heads.push(self.machine.rip);
            }
            let (to, progress) = (self.machine.rip, self.progress(read));
            if to == RETURN {
                return Err(Stop::NoLoop);
            }
            if to <= from && from - to < 1 << 16 {
                let (last, times) = met.entry(to).or_insert((progress, 0));
                if progress >= *last + turn {
                    *times = if progress == *last + turn { *times + 1 } else { 0 };
                    *last = progress;
                    looped |= *times == 4;
                }
            }
        }
        Ok(heads)
    }

    /// Looks at three heads one after the other.
    pub(super) fn invariant(&mut self, head: u64) -> Result<Invariant> {
        let (read, turn) = (self.read, self.turn);
        let plain = self.string(read, turn * LOOKED_AT as usize)?;
        self.machine.memory.reach = None;
        let first = self.arrive(head, read, None)?;
        if !first.is_multiple_of(16) || first > 4 * turn as u64 {
            return stopped("the loop has its head amid a block");
        }
        let mut states = vec![State::of(&self.machine)];
        for n in 1..3 {
            self.arrive(head, read, Some(first + n * turn as u64))?;
            states.push(State::of(&self.machine));
        }
        let done = first as usize;
        let ciphertext = if self.opens || self.over == Over::Aad { plain } else { self.string(self.write, done + turn)? };
        let mut new = Invariant { head, first: (done / turn) as i128, ahead: done % turn, ..Invariant::default() };
        let hashes = [self.hashes(&ciphertext[..done]), self.hashes(&ciphertext[..done + turn])];
        let [a, b, c] = &mut states[..] else { unreachable!("three") };
        if a.masks != b.masks || b.masks != c.masks {
            return stopped("masks change");
        }
        let mut changed: BTreeSet<At> =
            (0..a.general.len()).filter(|&r| a.general[r] != b.general[r] || b.general[r] != c.general[r]).map(At::General).collect();
        for (v, byte) in (0..32).flat_map(|v| (0..64).map(move |byte| (v, byte))) {
            let bits = |state: &State<'_>| -> [Bit; 8] { std::array::from_fn(|j| state.vectors[v][8 * byte + j]) };
            if bits(a) != bits(b) || bits(b) != bits(c) {
                changed.insert(At::Vector(v, byte));
            }
        }
        let memory = [b.memory.differing_from(&a.memory), c.memory.differing_from(&b.memory)].concat();
        changed.extend(memory.into_iter().map(At::Memory));
        let blocks: BTreeSet<At> = changed.iter().filter_map(|at| block_of(*at)).collect();
        for at in blocks {
            let three = [a.block(at)?, b.block(at)?, c.block(at)?];
            let form = |n: usize| hashes[n].iter().find(|(_, block)| *block == three[n]).map(|(form, _)| *form);
            let found = form(0).filter(|form_then| form(1) == Some(*form_then) && (new.hashes.is_empty() || new.form == *form_then));
            let before = new.first * (turn / 16) as i128 + (new.ahead / 16) as i128;
            if let Some(form) = found {
                new.form = form;
                new.hashes.insert(at);
            } else if let Some(found) =
                [false, true].into_iter().find_map(|is_first| Some((counter(&three, before, turn as i128 / 16, is_first)?, is_first)))
            {
                let (plus, is_first) = found;
                new.counters.insert(at, (plus + (new.ahead / 16) as i128, is_first));
            } else {
                continue;
            }
            changed.retain(|byte| block_of(*byte) != Some(at));
        }
        // Copies of the two turns before.
        let mut texts = Vec::new();
        let looked = done.min(2 * turn);
        for n in 0..3 {
            let end = self.cursor(first + n * turn as u64);
            let before = self.string(end - looked as u64, looked)?;
            let places: crate::unknown::Map<Byte, usize> = before.into_iter().zip((1..=looked).rev()).collect();
            texts.push(places);
        }
        for &at in &changed {
            if matches!(at, At::General(_)) {
                continue;
            }
            let three = [a.bytes(at, 1)?[0], b.bytes(at, 1)?[0], c.bytes(at, 1)?[0]];
            let behind: Vec<_> = three.iter().zip(&texts).map(|(byte, places)| places.get(byte).copied()).collect();
            if let [Some(a), Some(b), Some(c)] = behind[..]
                && a == b
                && b == c
            {
                new.copies.insert(at, a);
            }
        }
        changed.retain(|at| !new.copies.contains_key(at));
        let mut words: BTreeSet<(At, usize)> = BTreeSet::new();
        for at in &changed {
            match *at {
                At::General(_) => drop(words.insert((*at, 8))),
                At::Memory(at) => words.extend([(At::Memory(at & !7), 8), (At::Memory(at & !3), 4)]),
                At::Vector(..) => {}
            }
        }
        // Words of eight bytes first: half of one is a line as well.
        let mut words: Vec<_> = words.into_iter().collect();
        words.sort_by_key(|(_, n)| 8 - n);
        for (at, n) in words {
            let inside = |byte: &At| matches!((at, *byte), (At::Memory(word), At::Memory(byte)) if (word..word + n as u64).contains(&byte));
            if !changed.contains(&at) && !changed.iter().any(inside) {
                continue;
            }
            let lines = self.machine.unknown.lines.as_ref().expect("they are there");
            let line = |state: &mut State<'_>| -> Result<_> { Ok(lines.line(state.bytes(at, n)?.as_flattened())) };
            if let (Some(x), Some(y), Some(z)) = (line(a)?, line(b)?, line(c)?) {
                let (by, again) = (y.sub(&x), z.sub(&y));
                if by == again && by.is_number() && by.plus.abs() < 1 << 20 {
                    new.words.insert(at, (n, x, by.plus));
                    changed.retain(|byte| *byte != at && !inside(byte));
                }
            }
        }
        // Numbers in registers that come back.
        for r in 0..a.general.len() {
            let three = [&a.general[r], &b.general[r], &c.general[r]].map(|word| word.number().ok());
            if let (true, [Some(x), Some(y), Some(z)]) = (changed.contains(&At::General(r)), three)
                && let Some(n) =
                    [8, 32].into_iter().find(|n| (x | y | z) >> n == 0 && (y.wrapping_sub(x) ^ z.wrapping_sub(y)) & ((1 << n) - 1) == 0)
            {
                new.cycles.insert(At::General(r), (x, y.wrapping_sub(x) & ((1 << n) - 1), n));
                changed.remove(&At::General(r));
            }
        }
        new.others = changed;
        if new.hashes.is_empty() {
            return stopped("the hash is not found");
        }
        Ok(new)
    }
}

/// What is added to the number of blocks before turns one after the other, if the last four bytes change as such numbers do.
pub(super) fn counter(three: &[Block; 3], before: i128, blocks: i128, is_first: bool) -> Option<i128> {
    let last = |block: &Block| -> Option<u64> {
        let word: Vec<Bit> = (0..32).map(|j| block[if is_first { j / 8 } else { 15 - j / 8 }][j % 8]).collect();
        number(&word)
    };
    // It may stand there as a number.
    let told = last(&three[0]).map(|n| i128::from(n) - before);
    let change = |a: usize| {
        let change = sum(&three[a], &three[a + 1]);
        let rest = if is_first { &change[4..] } else { &change[..12] };
        if rest.iter().flatten().all(|&bit| bit == O) { last(&change) } else { None }
    };
    let changes = [change(0)?, change(1)?];
    if changes == [0, 0] {
        return None;
    }
    let fits = |plus: &i128| {
        let number = |n: i128| (before + blocks * n + plus) as u64 & 0xffff_ffff;
        changes == [number(0) ^ number(1), number(1) ^ number(2)]
    };
    // What was looked for first was found first: in whole turns.
    let near = (-2..=2).map(|n| n * blocks).chain((0..2 * blocks).flat_map(|n| [n, -n]));
    told.into_iter().chain(near).filter(|plus| before + plus >= 0).find(fits)
}
