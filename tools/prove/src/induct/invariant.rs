//! Finds the invariant of a loop: the changes from head to head, observed at several heads.

use super::{
    LOOKED_AT, Over, Result, Stop,
    run::{Form, Run},
    state::{At, State, block_of, bytes_of, sum},
    stopped,
};
use crate::{
    statement::calls::RETURN,
    statement::prove::Failure,
    values::field::{Bit, Block, Byte, O, number},
    values::lines::Line,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A block counter in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    /// The difference to the number of blocks before this iteration.
    pub(super) plus: i128,
    /// True if it is in the first four bytes, byte-swapped.
    pub(super) is_first: bool,
    /// A number added to its lowest byte alone, without a carry to the others.
    pub(super) more: u8,
}

impl Counter {
    /// Returns the period of that byte: the least power of two of iterations, each of this many blocks, after which it recurs.
    fn period(&self, blocks: i128) -> i128 {
        if self.more == 0 { 1 } else { 256 >> blocks.trailing_zeros().min(8) }
    }
}

/// The changes from head to head.
#[derive(Clone, Debug, Default)]
pub(super) struct Invariant {
    pub(super) head: u64,
    /// The blocks of an iteration.
    pub(super) blocks: i128,
    /// The iteration before which the head is reached first.
    pub(super) first: i128,
    /// The bytes of an iteration that are done at its head, and how many more have been read.
    pub(super) ahead: usize,
    pub(super) lead: usize,
    /// The counting words, with their bytes: functions of N at the first head, and their growth in an iteration.
    pub(super) words: BTreeMap<At, (usize, Line, i128)>,
    /// The blocks with a counter.
    pub(super) counters: BTreeMap<At, Counter>,
    /// The registers with recurring numbers: at the first head, the growth in an iteration, and the power of two of the modulus.
    pub(super) cycles: BTreeMap<At, (u64, u64, u32)>,
    /// The hash: each is a sum of these blocks.
    pub(super) hashes: Vec<Vec<At>>,
    pub(super) form: Form,
    /// The bytes that are copies of ciphertext, with their distance from its end.
    pub(super) copies: BTreeMap<At, usize>,
    /// The bytes and registers without a statement.
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
    /// Returns the number of iterations after which all cycles recur.
    pub(super) fn period(&self) -> i128 {
        let cycles = self.cycles.values().map(|(_, by, n)| 1 << (n - by.trailing_zeros().min(*n)));
        cycles.chain(self.counters.values().map(|counter| counter.period(self.blocks))).max().unwrap_or(1)
    }

    /// Returns the value of a recurring number in an iteration.
    pub(super) fn cycle(&self, (first, by, n): (u64, u64, u32), turn: i128) -> u64 {
        let sum = i128::from(first) + i128::from(by) * (turn - self.first);
        sum.rem_euclid(1 << n) as u64
    }

    /// Returns the invariant in which numbers below 256 that grow like blocks are lowest bytes of counters.
    pub(super) fn with_lowest_bytes(&self) -> Option<Self> {
        let mut other = self.clone();
        let is_one = |(at, (_, then, by)): (&At, &(usize, Line, i128))| {
            matches!(at, At::General(_)) && then.is_number() && (0..256).contains(&then.plus) && *by == self.blocks
        };
        let all: Vec<_> = self.words.iter().filter(|word| is_one(*word)).map(|(at, (_, then, by))| (*at, then.plus, *by)).collect();
        for &(at, first, by) in &all {
            other.words.remove(&at);
            other.cycles.insert(at, (first as u64, by as u64, 8));
        }
        (!all.is_empty()).then_some(other)
    }

    /// Removes the statements about these places.
    pub(super) fn forget(&mut self, places: &BTreeSet<At>) {
        for &at in places {
            self.cycles.remove(&at);
            self.copies.remove(&at);
            if self.hashes.iter().flatten().any(|place| *place == at) {
                self.hashes.retain(|shares| !shares.contains(&at));
                self.others.extend(bytes_of(at));
                continue;
            }
            if let Some(counter) = self.counters.remove(&at) {
                // Code that adds to another counter's lowest byte handles the carry later.
                let least = self.counters.values().filter(|other| other.is_first == counter.is_first).map(|other| other.plus).min();
                let more = counter.plus - least.unwrap_or(counter.plus);
                if counter.more == 0 && (1..256).contains(&more) {
                    self.counters.insert(at, Counter { plus: counter.plus - more, more: more as u8, ..counter });
                } else {
                    self.others.extend(bytes_of(at));
                }
                continue;
            }
            match (self.words.remove(&at), at) {
                (Some((n, ..)), At::Memory(at)) => self.others.extend((at..at + n as u64).map(At::Memory)),
                _ => drop(self.others.insert(at)),
            }
        }
    }
}

impl<'a> Run<'a> {
    /// Returns the bytes of loops' iterations: the additional bytes read each time a jump returns to one place.
    pub(super) fn turns_of_loops(&mut self) -> Result<Vec<u64>> {
        let mut met: BTreeMap<u64, (u64, u64, usize)> = BTreeMap::new();
        let mut turns = Vec::new();
        while self.machine.rip != RETURN {
            let from = self.machine.rip;
            // Once a loop is found, later failures do not matter.
            match self.step() {
                Err(_) if !turns.is_empty() => break,
                other => other?,
            }
            let (to, progress) = (self.machine.rip, self.progress(self.read));
            if to <= from && from - to < 1 << 16 {
                let (last, turn, times) = met.entry(to).or_insert((progress, 0, 0));
                let more = progress - *last;
                if more > 0 {
                    (*last, *times) = (progress, if more == *turn { *times + 1 } else { 0 });
                    *turn = more;
                    if *times == 6 && more.is_multiple_of(16) && !turns.contains(&more) {
                        turns.push(more);
                    }
                }
            }
        }
        Ok(turns)
    }

    /// Returns possible heads of the loop: targets of jumps, taken or not, in an iteration.
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

    /// Finds the invariant from six consecutive heads.
    pub(super) fn invariant(&mut self, head: u64) -> Result<Invariant> {
        let (read, turn) = (self.read, self.turn);
        let plain = self.string(read, turn * LOOKED_AT as usize)?;
        self.machine.memory.reach = None;
        let first = self.arrive(head, read, None)?;
        if !first.is_multiple_of(16) || first > 4 * turn as u64 {
            return stopped("the loop has its head amid a block");
        }
        let is_text = self.over == Over::Text;
        let (seals, read_so_far) = (is_text && !self.opens, first as usize);
        let mut done = read_so_far;
        if is_text {
            let other = self.other(&plain[..read_so_far], &Line::number(0));
            let written = self.string(self.write, read_so_far)?;
            while done > 0 && written[done - 16..done] != other[done - 16..done] {
                done -= 16;
            }
        }
        let mut states = vec![State::of(&self.machine)];
        for n in 1..6 {
            self.arrive(head, read, Some(first + n * turn as u64))?;
            states.push(State::of(&self.machine));
        }
        let ciphertext = if seals { self.string(self.write, done + 2 * turn)? } else { plain };
        let end = if seals { done } else { read_so_far };
        let lead = read_so_far - done;
        let mut new =
            Invariant { head, first: (done / turn) as i128, ahead: done % turn, lead, blocks: turn as i128 / 16, ..Invariant::default() };
        let hashes = [self.hashes(&ciphertext[..end]), self.hashes(&ciphertext[..end + turn])];
        let [a, b, c, later @ ..] = &mut states[..] else { unreachable!("six") };
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
            if let Some(form) = found {
                new.form = form;
                new.hashes.push(vec![at]);
            } else if let Some(found) =
                counters(&three.into_iter().chain(later.iter_mut().map_while(|state| state.block(at).ok())).collect::<Vec<_>>(), done, turn)
            {
                let (plus, is_first) = found;
                new.counters.insert(at, Counter { plus: plus + (new.ahead / 16) as i128, is_first, more: 0 });
            } else {
                continue;
            }
            changed.retain(|byte| block_of(*byte) != Some(at));
        }
        // Copies of the two previous iterations.
        let mut texts = Vec::new();
        let looked = end.min(2 * turn);
        for n in 0..3 {
            let before = &ciphertext[end + n * turn - looked..end + n * turn];
            let places: crate::values::random::Map<Byte, usize> = before.iter().copied().zip((1..=looked).rev()).collect();
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
        if new.hashes.is_empty()
            && let Some((form, shares)) = shared([a, b], &changed, &hashes)?
        {
            changed.retain(|byte| block_of(*byte).is_none_or(|block| !shares.contains(&block)));
            (new.form, new.hashes) = (form, vec![shares]);
        }
        let mut words: BTreeSet<(At, usize)> = BTreeSet::new();
        for at in &changed {
            match *at {
                At::General(_) => drop(words.insert((*at, 8))),
                At::Memory(at) => words.extend([(At::Memory(at & !7), 8), (At::Memory(at & !3), 4)]),
                At::Vector(..) => {}
            }
        }
        // Words of eight bytes come first, because half of one is a line, too.
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
        // Recurring numbers in registers.
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

/// Returns the difference of consecutive counters to the number of blocks, if the last four bytes change like such counters, or the first four.
fn counters(at_heads: &[Block], done: usize, turn: usize) -> Option<(i128, bool)> {
    let [before, blocks] = [done, turn].map(|n| n as i128 / 16);
    [false, true].into_iter().find_map(|is_first| {
        let last = |block: &Block| -> Option<u64> {
            let word: Vec<Bit> = (0..32).map(|j| block[if is_first { j / 8 } else { 15 - j / 8 }][j % 8]).collect();
            number(&word)
        };
        // It may be a number.
        let number = last(&at_heads[0]).map(|n| i128::from(n) - before);
        let change = |two: &[Block]| {
            let change = sum(&two[0], &two[1]);
            let rest = if is_first { &change[4..] } else { &change[..12] };
            if rest.iter().flatten().all(|&bit| bit == O) { last(&change) } else { None }
        };
        let changes: Vec<u64> = at_heads.windows(2).map(change).collect::<Option<_>>()?;
        let fits = |plus: &i128| {
            let number = |n: i128| (before + blocks * n + plus) as u64 & 0xffff_ffff;
            changes.iter().zip(0..).all(|(change, n)| *change == number(n) ^ number(n + 1))
        };
        // Whole iterations come first.
        let near = (-2..=2).map(|n| n * blocks).chain((0..2 * blocks).flat_map(|n| [n, -n]));
        let found = number.into_iter().chain(near).filter(|plus| before + plus >= 0).find(fits)?;
        (changes[..2] != [0, 0]).then_some((found, is_first))
    })
}

/// Returns two or three changing blocks whose sum is the hash, at two consecutive heads.
fn shared(states: [&mut State<'_>; 2], changed: &BTreeSet<At>, hashes: &[Vec<(Form, Block)>; 2]) -> Result<Option<(Form, Vec<At>)>> {
    let places: Vec<At> = changed.iter().filter_map(|at| block_of(*at)).collect::<BTreeSet<_>>().into_iter().collect();
    let mut blocks = Vec::new();
    for state in states {
        blocks.push(places.iter().map(|at| state.block(*at)).collect::<Result<Vec<Block>>>()?);
    }
    let forms = [0, 1].map(|n| hashes[n].iter().map(|(form, block)| (*block, *form)).collect::<HashMap<_, _>>());
    let all = 0..places.len();
    let pairs = all.clone().flat_map(|x| (0..x).map(move |y| vec![x, y]));
    let triples = all.flat_map(|x| (0..x).flat_map(move |y| (0..y).map(move |z| vec![x, y, z])));
    let form = |n: usize, of: &[usize]| forms[n].get(&of.iter().fold([[O; 8]; 16], |all, &i| sum(&all, &blocks[n][i])));
    Ok(pairs.chain(triples).take(100_000).find_map(|of| {
        let form = form(0, &of).filter(|then| form(1, &of) == Some(then))?;
        Some((*form, of.iter().map(|&i| places[i]).collect()))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All recurring numbers recur after a period, and not before.
    #[test]
    fn what_comes_back_has_a_period() {
        for (by, n, blocks, more) in [1, 3, 4, 6, 40, 255, 256]
            .into_iter()
            .flat_map(|by| [8, 32].map(|n| (by, n)))
            .flat_map(|(by, n)| [1, 4, 6, 16, 96, 512].map(|blocks| (by, n, blocks)))
            .flat_map(|(by, n, blocks)| [0, 7].map(|more| (by, n, blocks, more)))
        {
            let counter = Counter { plus: 2, is_first: false, more };
            let mut invariant = Invariant { first: 3, blocks, ..Invariant::default() };
            invariant.counters.insert(At::Vector(0, 0), counter);
            let low = |turn: i128| (turn * blocks) & 255;
            let of_counter = (1..).find(|period| more == 0 || low(*period) == 0).unwrap();
            assert_eq!(invariant.period(), of_counter);
            if n == 8 {
                invariant.cycles.insert(At::General(1), (5, by, n));
                let of_cycle = (1..).find(|period| invariant.cycle((5, by, n), 3 + period) == 5).unwrap();
                assert_eq!(invariant.period(), of_counter.max(of_cycle));
            }
            assert_eq!(invariant.cycle((5, by, n), 3), 5);
            assert_eq!(invariant.cycle((5, by, n), 1003), (5 + 1000 * by) % (1 << n));
            assert_eq!(invariant.cycle((5, by, n), 2), (5u64.wrapping_sub(by)) & ((1 << n) - 1));
        }
    }

    /// A counter is found by its changed bits, in either order, and by nothing else.
    #[test]
    fn counters_are_found() {
        let fixed: Block = std::array::from_fn(|i| crate::values::field::byte(17 * i as u8));
        let block = |n: u32, is_first: bool| {
            let mut word = [[O; 8]; 16];
            let bytes = if is_first { n.to_le_bytes() } else { n.to_be_bytes() };
            word[if is_first { 0 } else { 12 }..][..4].copy_from_slice(&bytes.map(crate::values::field::byte));
            sum(&word, &fixed)
        };
        // Heads of iterations of four blocks, of which ten are done at the first one.
        let heads = |by: u32, is_first: bool| -> Vec<Block> { (0..6).map(|n| block(12 + 2 + by * n, is_first)).collect() };
        for is_first in [false, true] {
            let (plus, found) = counters(&heads(4, is_first), 12 * 16, 64).unwrap();
            // Unchanged bits do not matter.
            let change = |n: i128| n ^ (n + 4);
            assert!(found == is_first && (0..5).all(|n| change(12 + plus + 4 * n) == change(12 + 2 + 4 * n)));
            assert_eq!(counters(&heads(3, is_first), 12 * 16, 64), None);
            assert_eq!(counters(&heads(0, is_first), 12 * 16, 64), None);
        }
    }
}
