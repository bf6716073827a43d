//! Proves base, step and exit with an invariant.

use super::{
    LONG, NEAR, Over, Result, Stop,
    invariant::{Counter, Invariant},
    refuted,
    run::Run,
    state::{At, State, block_of, in_order, put, sum},
    stopped,
};
use crate::{
    machine::Word,
    spec,
    statement::calls::{RETURN, Refused},
    statement::prove::Failure,
    values::field::{Bit, Block, Byte, byte, lifted, none, number, xor},
    values::lines::{Line, Lines},
};
use std::collections::BTreeSet;

impl<'a> Run<'a> {
    /// Proves the base, from the start to the first head. Returns the state there.
    pub(super) fn base(&mut self, new: &Invariant) -> Result<State<'a>> {
        let (read, turn) = (self.read, self.turn);
        let done = new.first as usize * turn + new.ahead;
        let plain = self.string(read, done + new.lead)?;
        // The standard comes first, so that the code's intermediate hashes are recognized.
        let other = if self.over == Over::Text { self.other(&plain[..done], &Line::number(0)) } else { Vec::new() };
        let ciphertext = if self.over == Over::Text && !self.opens { other.clone() } else { plain };
        let (hashed, waits) = ciphertext.split_at(ciphertext.len() - new.form.pending);
        let y = self.hash(hashed);
        self.machine.memory.reach = None;
        self.arrive(new.head, read, Some((done + new.lead) as u64))?;
        if self.over == Over::Text {
            self.expect("base: the text", self.write, &other)?;
            self.only("base", self.write, done, false)?;
        } else {
            self.only("base", 0, 0, false)?;
        }
        let mut state = State::of(&self.machine);
        for (&at, &behind) in &new.copies {
            if state.bytes(at, 1)?[0] != ciphertext[ciphertext.len() - behind] {
                return refuted("base: a copy of the text");
            }
        }
        for shares in &new.hashes {
            if state.sum_of(shares)? != new.form.of(&y, waits) {
                return refuted("base: the hash");
            }
        }
        for (&at, (n, line, _)) in &new.words {
            if state.bytes(at, *n)? != self.lines().bits(line).as_chunks().0[..*n] {
                return refuted("base: a word");
            }
        }
        for (&at, &cycle) in &new.cycles {
            if state.bytes(at, 8)? != lifted::<64>(new.cycle(cycle, new.first)).as_chunks().0 {
                return refuted("base: a number that comes back");
            }
        }
        state.memory.forget_endless();
        Ok(state)
    }

    /// Sets the state at the head of an iteration to the invariant, with these units left. Returns the hash, and the last of the ciphertext so
    /// far.
    pub(super) fn havoc(
        &mut self,
        new: &Invariant,
        base: &mut State<'a>,
        known: &Known,
        i: &Line,
        left: &Line,
    ) -> Result<(Block, Vec<Byte>)> {
        let (turn, units) = (self.turn as i128, self.units());
        let (total, reference) = (i.scaled(units).add(left), self.reference(i));
        let step = if i.is_number() { 1 } else { i.times[0] };
        (self.lines().stride, self.lines().reference) = ([turn * step, 0], [reference, 0]);
        base.restore(&mut self.machine, new.head);
        // The text is unknown. Moving addresses are far away, and fixed ones must not be accessed any more.
        let [read, write] = self.cursors(new, i);
        let memory = &mut self.machine.memory;
        if !i.is_number() {
            memory.passed = vec![memory.endless.clone()];
            memory.endless = read.min(write) - NEAR..read.max(write) + NEAR;
        }
        let least = self.lines().range(left).0;
        let (before, least) = (if i.is_number() { i.plus } else { new.first } * turn, self.lengths.at(least));
        let start = write - new.ahead as u64;
        self.owns(start - before as u64..start + least as u64);
        // Functions of the base's N become those of this N.
        let mut others: crate::values::random::Map<Bit, Bit> = crate::values::random::Map::default();
        for (core, bits) in &known.cores {
            let line = total.scaled(core.times[0]).add_number(core.plus);
            let now = self.lines().bits(&line);
            others.extend(bits.iter().map(|&(bit, j)| (bit, now[j])));
        }
        let translated = |bit: Bit| others.get(&bit).copied().unwrap_or(bit);
        self.machine.memory.translate(&known.memory, translated);
        self.machine.vectors.as_flattened_mut().iter_mut().for_each(|bit| *bit = translated(*bit));
        for word in &mut self.machine.general {
            *word = Word::of(word.bits().map(translated));
        }
        for &at in &new.others {
            match at {
                At::General(r) => self.machine.general[r] = Word::of(std::array::from_fn(|_| self.machine.unknown.random.symbol())),
                _ => {
                    let symbols = self.machine.unknown.random.symbols();
                    put(&mut self.machine, at, &[symbols])?;
                }
            }
        }
        for (&at, word) in &new.words {
            let bits = self.lines().bits(&value(new, word, i, left, units));
            put(&mut self.machine, at, &bits.as_chunks().0[..word.0])?;
        }
        for (&at, &how) in &new.counters {
            let block = self.counter(new, base, at, how, i, translated)?;
            put(&mut self.machine, at, &block)?;
        }
        let past = self.past(new, i)?;
        for (&at, &behind) in &new.copies {
            put(&mut self.machine, at, &past[past.len() - behind..][..1])?;
        }
        let y: Block = std::array::from_fn(|_| self.machine.unknown.random.symbols());
        let waits = &past[past.len() - new.form.pending..];
        // The shares of a hash are unknown, with this sum.
        for (&first, others) in new.hashes.iter().filter_map(|shares| shares.split_first()) {
            let mut rest = new.form.of(&y, waits);
            for &at in others {
                let share: Block = std::array::from_fn(|_| self.machine.unknown.random.symbols());
                put(&mut self.machine, at, &share)?;
                rest = sum(&rest, &share);
            }
            put(&mut self.machine, first, &rest)?;
        }
        for (&at, &cycle) in &new.cycles {
            put(&mut self.machine, at, lifted::<64>(new.cycle(cycle, i.plus)).as_chunks().0)?;
        }
        self.machine.memory.reach = None;
        self.machine.memory.watch();
        Ok((y, past))
    }

    /// Returns a block with a counter in iteration `i`.
    fn counter(
        &mut self,
        new: &Invariant,
        base: &mut State<'a>,
        at: At,
        counter: Counter,
        i: &Line,
        translated: impl Fn(Bit) -> Bit,
    ) -> Result<Block> {
        let then = self.counted(new, counter, &Line::number(new.first))?;
        let fixed = sum(&base.block(at)?, &then).map(|byte| byte.map(&translated));
        Ok(sum(&fixed, &self.counted(new, counter, i)?))
    }

    /// Returns the counting part of the block.
    fn counted(&mut self, new: &Invariant, counter: Counter, i: &Line) -> Result<Block> {
        let bits = self.lines().bits(&i.scaled(new.blocks).add_number(counter.plus));
        let mut word: [Bit; 32] = bits[..32].try_into().expect("32 of 64");
        if counter.more != 0 {
            let Some(low) = number(&word[..8]) else { return stopped("the lowest byte of a counter is not known") };
            word[..8].copy_from_slice(&byte((low as u8).wrapping_add(counter.more)));
        }
        Ok(in_order(&word, counter.is_first))
    }

    /// Returns the addresses of the text that this iteration reads, and writes.
    pub(super) fn cursors(&self, new: &Invariant, i: &Line) -> [u64; 2] {
        let turns = i.at(&[self.reference(i), 0]);
        [self.read, self.write].map(|start| start + (turns * self.turn as i128) as u64 + new.ahead as u64)
    }

    /// Returns the last of the ciphertext so far, as far as the invariant refers to it. Opening in place has overwritten it since.
    pub(super) fn past(&mut self, new: &Invariant, i: &Line) -> Result<Vec<Byte>> {
        let [read, write] = self.cursors(new, i);
        let n = new.copies.values().fold(new.form.pending, |most, &behind| most.max(behind));
        let end = if self.opens { read + new.lead as u64 } else { write };
        let past = self.string(end - n as u64, n)?;
        if self.opens && self.over == Over::Text && read == write {
            let over = self.machine.unknown.random.string(n.saturating_sub(new.lead));
            self.machine.memory.put(end - n as u64, &over).map_err(Failure::from)?;
        }
        Ok(past)
    }

    /// Sets the region of the unknown integers.
    pub(super) fn region(&mut self, corners: Vec<[i128; 2]>) {
        self.machine.unknown.lines = Some(Lines::new(corners, self.seed, self.streams));
        self.streams += 1;
        self.machine.unknown.forget();
    }

    /// Proves the step of one iteration with at least `bottom` units left, for any `i` with this remainder modulo the period.
    pub(super) fn turn(
        &mut self,
        new: &Invariant,
        base: &mut State<'a>,
        known: &Known,
        i: &Line,
        bottom: i128,
        range: [i128; 2],
    ) -> Result<()> {
        let (turn, units) = (self.turn as i128, self.units());
        // The region of iterations and units left, in periods.
        let (periods, more) = ((new.first - i.plus + i.times[0] - 1).div_euclid(i.times[0]), units * i.plus);
        let corners = corners(units * i.times[0], periods, bottom + more, range);
        self.region(corners.into_iter().map(|[k, left]| [k, left - more]).collect());
        let left = Line { times: [0, 1], plus: 0 };
        let (y, mut ciphertext) = self.havoc(new, base, known, i, &left)?;
        let [read, write] = self.cursors(new, i);
        let plain = self.string(read, self.turn)?;
        let more = self.string(read + new.lead as u64, self.turn)?;
        let mut start = State::of(&self.machine);
        // The standard comes first, as in the base.
        let is_text = self.over == Over::Text;
        let block = i.scaled(turn / 16).add_number((new.ahead / 16) as i128);
        let other = if is_text { self.other(&plain, &block) } else { Vec::new() };
        let begin = ciphertext.len() - new.form.pending;
        ciphertext.extend(if is_text && !self.opens { &other } else { &more });
        let (hashed, waits) = ciphertext[begin..].split_at(self.turn);
        let y = self.gcm.h.ghash(&mut self.machine.unknown, &y, hashed);
        self.machine.memory.reach = None;
        // The iteration reads further bytes.
        self.step()?;
        self.arrive(new.head, read, Some(turn as u64 + new.lead as u64))?;
        if is_text {
            self.expect("step: the text", write, &other)?;
            self.only("step", write, self.turn, false)?;
        } else {
            self.only("step", 0, 0, false)?;
        }
        let mut now = State::of(&self.machine);
        let mut weaker = BTreeSet::new();
        for shares in &new.hashes {
            if now.sum_of(shares)? != new.form.of(&y, waits) {
                weaker.extend(shares);
            }
        }
        if new.hashes.iter().all(|shares| shares.iter().any(|at| weaker.contains(at))) {
            return refuted("step: the hash");
        }
        let (next, left) = (i.add_number(1), left.add_number(-units));
        for (&at, word) in &new.words {
            let want = self.lines().bits(&value(new, word, &next, &left, units));
            if now.bytes(at, word.0)? != want.as_chunks().0[..word.0] {
                weaker.insert(at);
            }
        }
        for (&at, &cycle) in &new.cycles {
            if now.bytes(at, 8)? != lifted::<64>(new.cycle(cycle, next.plus)).as_chunks().0 {
                weaker.insert(at);
            }
        }
        for (&at, &counter) in &new.counters {
            let (then, later) = (self.counted(new, counter, i)?, self.counted(new, counter, &next)?);
            if sum(&sum(&start.block(at)?, &then), &later) != now.block(at)? {
                weaker.insert(at);
            }
        }
        for (&at, &behind) in &new.copies {
            if now.bytes(at, 1)?[0] != ciphertext[ciphertext.len() - behind] {
                weaker.insert(at);
            }
        }
        // All else is unchanged.
        let is_known = |at: At| {
            let block = block_of(at);
            let in_block =
                block.is_some_and(|block| new.hashes.iter().flatten().any(|at| *at == block) || new.counters.contains_key(&block));
            let word =
                |n: u64| matches!(at, At::Memory(at) if new.words.get(&At::Memory(at & !(n - 1))).is_some_and(|word| word.0 as u64 == n));
            let has = [new.copies.contains_key(&at), new.words.contains_key(&at), new.cycles.contains_key(&at), new.others.contains(&at)];
            in_block || has.contains(&true) || word(8) || word(4)
        };
        let general = (0..now.general.len()).filter(|&r| now.general[r] != start.general[r]).map(At::General);
        let bytes = (0..32).flat_map(|v| (0..64).map(move |byte| (v, byte)));
        let differ = |&(v, byte): &(usize, usize)| now.vectors[v][8 * byte..][..8] != start.vectors[v][8 * byte..][..8];
        let vectors = bytes.filter(differ).map(|(v, byte)| At::Vector(v, byte));
        let memory = now.memory.differing_from(&start.memory).into_iter().map(At::Memory);
        weaker.extend(general.chain(vectors).chain(memory).filter(|&at| !is_known(at)));
        if now.masks != start.masks || weaker.contains(&At::General(self.machine.stack_number())) {
            return stopped("step: masks or the stack change");
        }
        if weaker.is_empty() { Ok(()) } else { Err(Stop::Weaker(weaker)) }
    }

    /// Proves the exit with these units left in any iteration, for openings with both verdicts.
    pub(super) fn exit(&mut self, new: &Invariant, base: &mut State<'a>, known: &Known, i: &Line, left: i128) -> Result<()> {
        self.exit_with(new, base, known, i, left, true)?;
        if self.opens && !self.right_only { self.exit_with(new, base, known, i, left, false) } else { Ok(()) }
    }

    /// Proves the exit on each path of branches on unknown public addresses.
    fn exit_with(&mut self, new: &Invariant, base: &mut State<'a>, known: &Known, i: &Line, left: i128, right: bool) -> Result<()> {
        let mut branches: Vec<bool> = Vec::new();
        loop {
            self.lines().branches = Some((branches, 0));
            let result = self.exit_one_way(new, base, known, i, left, right);
            (branches, _) = self.lines().branches.take().expect("they are there");
            result?;
            // The next path: take the last branch that was not taken.
            while branches.last() == Some(&true) {
                branches.pop();
            }
            match branches.last_mut() {
                Some(last) => *last = true,
                None => return Ok(()),
            }
            if branches.len() > 8 {
                return stopped("exit: too many ways");
            }
        }
    }

    fn exit_one_way(&mut self, new: &Invariant, base: &mut State<'a>, known: &Known, i: &Line, units: i128, right: bool) -> Result<()> {
        let turn = self.turn as i128;
        let (y, past) = self.havoc(new, base, known, i, &Line::number(units))?;
        let left = self.lengths.grain * units + self.lengths.rest;
        let (total, left) = (i.scaled(turn).add_number(left), left as usize);
        let [read, write] = self.cursors(new, i);
        let plain = self.string(read, left - new.ahead)?;
        let (aad_len, text_len) = match self.over {
            Over::Text => (Line::number(self.aad.len() as i128), total),
            Over::Aad => (total, Line::number(self.text.len() as i128)),
        };
        let (text, block) = match self.over {
            Over::Text => (plain.clone(), i.scaled(turn / 16).add_number((new.ahead / 16) as i128)),
            Over::Aad => (self.text.clone(), Line::number(0)),
        };
        let other = self.other(&text, &block);
        let ciphertext = if self.opens { &text[new.lead..] } else { &other[..] };
        let mut data = past[past.len() - new.form.pending..].to_vec();
        if self.over == Over::Aad {
            data.extend(&plain);
            spec::pad(&mut data);
        }
        data.extend(ciphertext);
        spec::pad(&mut data);
        for length in [aad_len, text_len] {
            let bits = self.lines().bits(&length.scaled(8));
            data.extend(bits.as_chunks::<8>().0.iter().rev());
        }
        let s = self.gcm.h.ghash(&mut self.machine.unknown, &y, &data);
        let mask = self.stream(&Line::number(1));
        let tag = sum(&s, &mask);
        let differ: Vec<Bit> = (0..16).flat_map(|i| xor(&tag[i], &self.given[i])).collect();
        let equal = none(&differ);
        if self.opens {
            self.machine.verdicts.insert(equal, right);
        }
        let limit = self.machine.steps + 1_000_000;
        self.lines().filled = None;
        while self.machine.rip != RETURN {
            if self.machine.steps > limit {
                return stopped("exit: it does not end");
            }
            self.step()?;
        }
        let to = if self.over == Over::Text { write } else { self.places.to };
        // The whole text is filled, or nothing.
        let whole = (Line::number(i128::from(LONG)), i.scaled(turn).add_number(left as i128));
        let filled = self.lines().filled;
        let is_wiped = filled.is_some_and(|(start, n, what)| (start, n) == whole && what == 0 && self.over == Over::Text);
        if filled.is_some() && !is_wiped {
            return refuted("exit: a part of the text is filled");
        }
        match self.refused {
            _ if right && is_wiped => return refuted("exit: the text"),
            _ if right => {
                self.expect("exit: the text", to, &other)?;
                self.only("exit", to, other.len(), !self.opens)?;
            }
            Refused::Unverified => {}
            Refused::Zeros if is_wiped => {}
            Refused::Zeros if self.over == Over::Aad || whole.1.is_number() => {
                let n = if self.over == Over::Aad { other.len() } else { whole.1.plus as usize };
                let at = if self.over == Over::Aad { to } else { LONG };
                self.expect("exit: the text that is refused", at, &vec![byte(0); n])?;
            }
            _ => return stopped("exit: a text that is refused is not zeroed as a whole"),
        }
        let place = self.places.tag;
        let want = if self.opens { self.given } else { tag };
        self.expect("exit: the tag", place, &want)?;
        if self.machine.kept() != self.kept || *self.machine.stack() != Word::Number(self.top) {
            return refuted("exit: a register of the caller is not what it was");
        }
        if *self.machine.answer() != Word::Number(u64::from(!right)) {
            return refuted(format!("exit: {}", if right { "the answer" } else { "a wrong tag is accepted" }));
        }
        Ok(())
    }
}

/// The base's functions of N: cores of lines with their symbols, and the lines of memory that contain one.
pub(super) struct Known {
    pub(super) cores: Vec<(Line, Vec<(Bit, usize)>)>,
    pub(super) memory: Vec<u64>,
}

impl Known {
    pub(super) fn new(lines: &Lines, base: &State<'_>) -> Self {
        let cores = lines.origins();
        let all: BTreeSet<Bit> = cores.iter().flat_map(|(_, bits)| bits.iter().map(|(bit, _)| *bit)).collect();
        let memory = base.memory.lines_with(|bit| bit.number().is_none() && all.contains(bit));
        Self { cores, memory }
    }
}

/// Returns the corners of all iterations and units left that belong to lengths of a range, where an iteration has this many units.
pub(super) fn corners(units: i128, first: i128, bottom: i128, [least, most]: [i128; 2]) -> Vec<[i128; 2]> {
    // On both edges a point with exactly the first, or the last, length, and one with no more than `bottom` units left.
    let lower = (least - bottom).div_euclid(units).max(first);
    let upper = (most - bottom).div_euclid(units).max(first);
    let at = |i: i128, n: i128| [i, (n - i * units).max(bottom)];
    let kink = if lower < upper { [lower + 1, bottom] } else { at(upper, least) };
    vec![at(first, least), at(lower.min(upper), least), kink, at(upper, least), at(upper, most), at(first, most)]
}

/// Returns a word in iteration `i`, where an iteration has this many units.
pub(super) fn value(new: &Invariant, (_, then, by): &(usize, Line, i128), i: &Line, left: &Line, units: i128) -> Line {
    let total = i.scaled(units).add(left);
    total.scaled(then.times[0]).add(&i.scaled(*by)).add_number(then.plus - by * new.first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corners contain each iteration `i`, from the first on, with all units left of a length of the range: a property of all lines at the corners holds there.
    #[test]
    fn all_turns_are_within_the_corners() {
        for (units, first, bottom, least, more) in (1..4)
            .flat_map(|units| (0..3).flat_map(move |first| (0..6).map(move |bottom| (units, first, bottom))))
            .flat_map(|(units, first, bottom)| (0..12).flat_map(move |least| (0..9).map(move |more| (units, first, bottom, least, more))))
        {
            let range = [least, least + more];
            let corners = corners(units, first, bottom, range);
            let is_one = |&[i, left]: &[i128; 2]| left >= bottom && (range[0]..=range[1]).contains(&(i * units + left));
            let all: Vec<[i128; 2]> = (first..25).flat_map(|i| (0..25).map(move |left| [i, left])).filter(is_one).collect();
            for line in (-3..=3).flat_map(|a| (-3..=3).map(move |b| Line { times: [a, b], plus: 0 })) {
                let at = |points: &[[i128; 2]]| points.iter().map(|point| line.at(point)).max();
                assert!(at(&all).is_none_or(|most| Some(most) <= at(&corners)), "{units} {first} {bottom} {range:?} {line:?}: {corners:?}");
            }
        }
    }
}
