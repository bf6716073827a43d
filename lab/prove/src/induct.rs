//! All lengths: the loop over turns, by induction.
//!
//! ```text
//! base   from the start to the head of the loop, with a length N of which only a range is known
//! step   from the head to the head, in turn i of any number, with L bytes left of any number: N = i * turn + L
//! exit   from the head to the end, in turn i of any number, for each L with which the loop may end
//! ```
//! Lengths, pointers and counters are [lines](crate::lines): what is compared is decided for all of them, or not at all. What else changes from head to
//! head is known from an invariant, which is looked for and then proved: words that count, counters inside blocks, and the hash,
//! which is Y of all before, for any Y. Whatever has no part in it is a fresh symbol each time.

use crate::{
    calls::{AROUND_BOTH, Case, Places, RETURN, Shape, Subject, Verb, place},
    field::{Bit, Block, Byte, O, none, number, xor},
    lines::{Line, Lines},
    machine::{Decoded, Degrees, Flags, Machine, Word},
    memory::Memory,
    plan::turn,
    prove::{Failure, KEPT, LIMIT, Proved, prove},
    spec::{self, Gcm},
    unknown::Seed,
};
use iced_x86::{FlowControl, Register};
use std::collections::{BTreeMap, BTreeSet};

/// What is of any length.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Over {
    Text,
    Aad,
}

/// What is proved of one class of lengths.
#[derive(Clone, Debug)]
pub struct Class {
    pub from: u64,
    pub to: u64,
    /// Where the loop has its head.
    pub head: String,
    /// Bytes with which it may end: each has an exit of its own.
    pub exits: usize,
    pub invariant: String,
    pub proved: Proved,
}

/// What came of it: classes, and below which length there is no loop.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub classes: Vec<Class>,
    pub from: u64,
}

enum Stop {
    Failure(Failure),
    /// What is compared is negative for some lengths only.
    Doubt(Line),
    /// More of the state changes than was thought.
    Weaker(BTreeSet<At>),
    /// It ends before it has met the loop.
    NoLoop,
}

type Result<T> = std::result::Result<T, Stop>;

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

fn stopped<T>(why: impl Into<String>) -> Result<T> {
    Err(Stop::Failure(Failure::Stopped(why.into())))
}

fn refuted<T>(why: impl Into<String>) -> Result<T> {
    Err(Stop::Failure(Failure::Refuted(why.into())))
}

/// A text that no process has: where it is written, and how far behind that one is that is only read.
const LONG: u64 = 0x2000_0000_0000;
const APART: u64 = 1 << 41;

/// The longest text of SP 800-38D. AAD is not followed further than that either.
const MOST: i128 = (1 << 36) - 32;

/// Turns that are looked at to find an invariant.
const LOOKED_AT: i128 = 12;

/// The turn that stands for all: far from where a text begins.
const REFERENCE: i128 = 1 << 20;

/// A part of the processor's state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum At {
    General(usize),
    /// A byte of a vector register.
    Vector(usize, usize),
    Memory(u64),
}

/// All that the processor has.
#[derive(Clone)]
struct State<'a> {
    general: [Word; 16],
    vectors: Box<[[Bit; 512]; 32]>,
    masks: [Option<u64>; 8],
    memory: Memory<'a>,
    degrees: Degrees,
}

impl<'a> State<'a> {
    fn of(machine: &Machine<'a>) -> Self {
        let Machine { general, vectors, masks, memory, degrees, .. } = machine;
        Self { general: general.clone(), vectors: vectors.clone(), masks: *masks, memory: memory.clone(), degrees: degrees.clone() }
    }

    fn restore(&self, machine: &mut Machine<'a>, rip: u64) {
        let Self { general, vectors, masks, memory, degrees } = self;
        (machine.general, machine.masks) = (general.clone(), *masks);
        machine.vectors.clone_from(vectors);
        machine.memory = memory.clone();
        (machine.flags, machine.rip) = (Flags::UNDEFINED, rip);
        machine.degrees.back_to(degrees);
        machine.verdicts.clear();
        machine.asked.clear();
    }

    fn bytes(&mut self, at: At, n: usize) -> Result<Vec<Byte>> {
        Ok(match at {
            At::General(r) => self.general[r].bits().as_chunks().0[..n].to_vec(),
            At::Vector(v, first) => self.vectors[v].as_chunks().0[first..first + n].to_vec(),
            At::Memory(at) => self.memory.string(at, n).map_err(Failure::from)?,
        })
    }

    fn block(&mut self, at: At) -> Result<Block> {
        Ok(self.bytes(at, 16)?.try_into().expect("16 bytes"))
    }
}

fn put(machine: &mut Machine<'_>, at: At, bytes: &[Byte]) -> Result<()> {
    match at {
        At::General(r) => machine.general[r] = Word::low(bytes.as_flattened()),
        At::Vector(v, first) => machine.vectors[v][8 * first..][..8 * bytes.len()].copy_from_slice(bytes.as_flattened()),
        At::Memory(at) => machine.memory.put(at, bytes).map_err(Failure::from)?,
    }
    Ok(())
}

/// The last four bytes of a block, as a number with the most significant byte first.
fn in_block(word: &[Bit]) -> Block {
    std::array::from_fn(|i| if i < 12 { [O; 8] } else { std::array::from_fn(|j| word[8 * (15 - i) + j]) })
}

fn sum(a: &Block, b: &Block) -> Block {
    std::array::from_fn(|i| xor(&a[i], &b[i]))
}

fn mirrored(block: &Block, is: bool) -> Block {
    std::array::from_fn(|i| block[if is { 15 - i } else { i }])
}

/// What changes from head to head, and how.
#[derive(Clone, Debug, Default)]
struct Invariant {
    head: u64,
    /// The turn before which the head is met first.
    first: i128,
    /// Words of so many bytes: as functions of N at the first head, and by how much they grow in a turn.
    words: BTreeMap<At, (usize, Line, i128)>,
    /// Blocks with the number of blocks before them in the last four bytes, plus this.
    counters: BTreeMap<At, i128>,
    /// The hash.
    hashes: BTreeSet<At>,
    is_mirrored: bool,
    /// Bytes before this turn that are not in the hash yet.
    pending: usize,
    /// Bytes that are those of the text so far before this turn.
    copies: BTreeMap<At, usize>,
    /// Bytes and registers of which nothing is said.
    others: BTreeSet<At>,
}

impl std::fmt::Display for Invariant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { words, counters, hashes, pending, others, copies, .. } = self;
        let (words, counters, hashes) = (words.len(), counters.len(), hashes.len());
        let (copies, others) = (copies.len(), others.len());
        write!(
            f,
            "{words} words count, {counters} counters in blocks, hash in {hashes}, {pending} bytes wait, {copies} bytes are in \
             registers as well, {others} places are unknown"
        )
    }
}

/// One call up to wherever it stands.
struct Run<'a> {
    machine: Machine<'a>,
    over: Over,
    opens: bool,
    turn: usize,
    gcm: Gcm,
    nonce: Vec<Byte>,
    aad: Vec<Byte>,
    text: Vec<Byte>,
    given: Block,
    places: Places,
    kept: [Word; 6],
    top: u64,
    seed: Seed,
    streams: u64,
    /// Where what is of any length is read, and written.
    read: u64,
    write: u64,
}

impl<'a> Run<'a> {
    fn start(subject: &'a Subject, decoded: &'a mut Decoded, case: &Case, over: Over, range: [i128; 2], seed: Seed) -> Result<Self> {
        let verb: &Verb = &subject.verbs[case.verb];
        let mut machine = subject.machine(decoded, case, seed).map_err(Failure::from)?;
        let places = subject.places(case).map_err(Failure::from)?;
        machine.unknown.lines = Some(Lines::new(range.map(|n| [n, 0]).into(), seed, 2));
        machine.memory.endless = LONG..LONG + 2 * APART;
        let mut string = |n: usize| machine.unknown.random.string(n);
        let [key, nonce, aad, text, given] = [case.key, case.nonce, case.aad, case.text, 16].map(&mut string);
        let gcm = Gcm::new(&mut machine.unknown, &key);
        for (at, what) in [(places.key, &key), (places.nonce, &nonce), (places.aad, &aad), (places.to, &text), (places.tag, &given)] {
            let around = machine.unknown.random.string(AROUND_BOTH);
            place(&mut machine.memory, &around, at, what).map_err(Failure::from)?;
        }
        let apart = matches!(verb.shape, Shape::Apart);
        let mut read = LONG;
        let mut long = vec![];
        match over {
            Over::Text if apart => {
                read = LONG + APART;
                long.extend([(subject.second_text(), LONG), (subject.second_text() - 16, read)]);
            }
            Over::Text => long.push((subject.second_text(), LONG)),
            Over::Aad => long.push((subject.aad(), LONG)),
        }
        let lines = machine.unknown.lines.as_mut().expect("they are there");
        let (n, no_degrees) = (lines.bits(&Line { times: [1, 0], plus: 0 }), [1; 8]);
        for (at, start) in long {
            machine.memory.write(at, &crate::field::lifted::<64>(start), &no_degrees).map_err(Failure::from)?;
            machine.memory.write(at + 8, &n, &no_degrees).map_err(Failure::from)?;
        }
        let kept = KEPT.map(|r| machine.register(r));
        let top = machine.register(Register::RSP).number().map_err(Failure::from)?;
        machine.memory.watch();
        let given = given.try_into().expect("16 bytes");
        let turn = turn(case.row).0;
        let opens = verb.opens;
        Ok(Self { machine, over, opens, turn, gcm, nonce, aad, text, given, places, kept, top, seed, streams: 3, read, write: LONG })
    }

    fn step(&mut self) -> Result<()> {
        self.machine.step().map_err(|why| match self.lines().doubt.take() {
            Some(doubt) if !doubt.is_number() => Stop::Doubt(doubt),
            _ => Stop::Failure(Failure::Stopped(why)),
        })
    }

    fn lines(&mut self) -> &mut Lines {
        self.machine.unknown.lines.as_mut().expect("they are there")
    }

    /// How far it has read from there on.
    fn progress(&self, from: u64) -> u64 {
        self.machine.memory.reach.map_or(0, |reach| reach.1.saturating_sub(from))
    }

    /// Runs until it stands at the head, and has read so much; the first time if that is `None`.
    fn arrive(&mut self, head: u64, from: u64, want: Option<u64>) -> Result<u64> {
        let limit = self.machine.steps + 100_000;
        loop {
            if self.machine.rip == head && want.is_none_or(|want| want == self.progress(from)) {
                return Ok(self.progress(from));
            }
            if self.machine.rip == RETURN {
                return Err(Stop::NoLoop);
            }
            if self.machine.steps > limit || want.is_some_and(|want| want < self.progress(from)) {
                return stopped("the loop does not meet its head");
            }
            self.step()?;
        }
    }

    /// Places that may be the head of the loop: where a jump leads, or does not lead, in a turn.
    fn heads(&mut self) -> Result<Vec<u64>> {
        let (read, turn) = (self.read, self.turn as u64);
        let mut met: BTreeMap<u64, (u64, usize)> = BTreeMap::new();
        let (mut heads, mut looped) = (Vec::new(), false);
        while self.progress(read) < (LOOKED_AT as u64 - 3) * turn {
            let from = self.machine.rip;
            let jumps = self.machine.fetch(from).map_err(Failure::from)?.flow_control() != FlowControl::Next;
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

    /// AES of a counter block.
    fn stream(&mut self, counter: &Line) -> Block {
        let bits = self.lines().bits(counter);
        let mut block = in_block(&bits[..32]);
        block[..12].copy_from_slice(&self.nonce);
        spec::cipher(&mut self.machine.unknown, &self.gcm.keys, &block)
    }

    /// What the standard makes of that part of the text, which begins with that block of it.
    fn other(&mut self, text: &[Byte], block: &Line) -> Vec<Byte> {
        let mut other = Vec::with_capacity(text.len());
        for (part, j) in text.chunks(16).zip(2..) {
            let stream = self.stream(&block.add_number(j));
            other.extend(part.iter().zip(&stream).map(|(a, b)| xor(a, b)));
        }
        other
    }

    fn string(&mut self, at: u64, n: usize) -> Result<Vec<Byte>> {
        Ok(self.machine.memory.string(at, n).map_err(Failure::from)?)
    }

    fn expect(&mut self, what: &str, at: u64, want: &[Byte]) -> Result<()> {
        let have = self.string(at, want.len())?;
        match have.iter().zip(want).position(|(have, want)| have != want) {
            Some(i) => refuted(format!("{what}: byte {i} of {} is not what the standard says", want.len())),
            None => Ok(()),
        }
    }

    /// Nothing else of memory is written than `n` bytes there, the tag at the end, and statics that hold numbers.
    fn only(&mut self, what: &str, at: u64, n: usize, is_end: bool) -> Result<()> {
        let tag = self.places.tag..self.places.tag + if is_end { 16 } else { 0 };
        let apart = self.places.to..self.places.to + self.text.len() as u64;
        for byte in self.machine.memory.changed() {
            let own = (at..at + n as u64).contains(&byte) || tag.contains(&byte) || self.over == Over::Aad && apart.contains(&byte);
            let is_static =
                !self.machine.memory.endless.contains(&byte) && !(self.places.key - 4096..self.places.place.end).contains(&byte);
            let is_number = is_static && self.machine.memory.number(byte, 1).map_err(Failure::from)?.is_some();
            if !own && !is_number {
                return refuted(format!("{what}: memory at {byte:#x} is written, which is not its own"));
            }
        }
        Ok(())
    }

    /// Looks at three heads one after the other.
    fn invariant(&mut self, head: u64) -> Result<Invariant> {
        let (read, turn) = (self.read, self.turn);
        let plain = self.string(read, turn * LOOKED_AT as usize)?;
        self.machine.memory.reach = None;
        let first = self.arrive(head, read, None)?;
        if !first.is_multiple_of(turn as u64) || first > 4 * turn as u64 {
            return stopped("the loop has its head amid a turn");
        }
        let mut states = vec![State::of(&self.machine)];
        for n in 1..3 {
            self.arrive(head, read, Some(first + n * turn as u64))?;
            states.push(State::of(&self.machine));
        }
        let done = first as usize;
        let ciphertext = if self.opens || self.over == Over::Aad { plain } else { self.string(self.write, done + turn)? };
        let mut new = Invariant { head, first: (done / turn) as i128, ..Invariant::default() };
        let hashes = [self.hashes(&ciphertext[..done]), self.hashes(&ciphertext[..done + turn])];
        let [a, b, c] = &mut states[..] else { unreachable!("three") };
        if a.masks != b.masks || b.masks != c.masks {
            return stopped("masks change");
        }
        let mut changed: BTreeSet<At> =
            (0..16).filter(|&r| a.general[r] != b.general[r] || b.general[r] != c.general[r]).map(At::General).collect();
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
            let found = hashes[0].iter().find(|(pending, is, y)| {
                *y == three[0] && hashes[1].iter().any(|(later, also, y)| later == pending && also == is && *y == three[1])
            });
            if let Some((pending, is_mirrored, _)) = found {
                (new.pending, new.is_mirrored) = (*pending, *is_mirrored);
                new.hashes.insert(at);
            } else if let Some(plus) = counter(&three, new.first, turn as i128 / 16) {
                new.counters.insert(at, plus);
            } else {
                continue;
            }
            changed.retain(|byte| block_of(*byte) != Some(at));
        }
        // Copies of the turn before.
        let mut texts = Vec::new();
        for n in 0..3 {
            let end = self.cursor(first + n * turn as u64);
            let before = if end < self.written() + turn as u64 { Vec::new() } else { self.string(end - turn as u64, turn)? };
            let places: crate::unknown::Map<Byte, usize> = before.into_iter().zip((1..=turn).rev()).collect();
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
        new.others = changed;
        if new.hashes.is_empty() {
            return stopped("the hash is not found");
        }
        Ok(new)
    }

    /// Where the ciphertext is that waits: what is sealed where it is written, what is opened where it is read.
    fn written(&self) -> u64 {
        if self.opens { self.read } else { self.write }
    }

    fn cursor(&self, progress: u64) -> u64 {
        self.written() + progress
    }

    /// What the hash may look like where this ciphertext is done: what waits, whether it is mirrored, and the block.
    fn hashes(&mut self, done: &[Byte]) -> Vec<(usize, bool, Block)> {
        let mut all = Vec::new();
        for pending in [0, self.turn] {
            if pending > done.len() {
                continue;
            }
            let y = self.hash(&done[..done.len() - pending]);
            all.extend([true, false].map(|is| (pending, is, mirrored(&y, is))));
        }
        all
    }

    /// Y behind AAD and so much ciphertext, or behind so much AAD.
    fn hash(&mut self, done: &[Byte]) -> Block {
        let mut data = Vec::new();
        if self.over == Over::Text {
            data.extend(&self.aad);
            spec::pad(&mut data);
        }
        data.extend(done);
        self.gcm.h.ghash(&mut self.machine.unknown, &[[O; 8]; 16], &data)
    }

    /// From the start to the first head; returns the state there.
    fn base(&mut self, new: &Invariant) -> Result<State<'a>> {
        let (read, turn) = (self.read, self.turn);
        let done = new.first as usize * turn;
        let plain = self.string(read, done)?;
        self.machine.memory.reach = None;
        self.arrive(new.head, read, Some(done as u64))?;
        let mut hashed = plain.clone();
        if self.over == Over::Text {
            let other = self.other(&plain, &Line::number(0));
            self.expect("base: the text", self.write, &other)?;
            self.only("base", self.write, done, false)?;
            if !self.opens {
                hashed = other;
            }
        } else {
            self.only("base", 0, 0, false)?;
        }
        let mut state = State::of(&self.machine);
        for (&at, &behind) in &new.copies {
            if state.bytes(at, 1)? != self.string(self.cursor(done as u64) - behind as u64, 1)? {
                return refuted("base: a copy of the text");
            }
        }
        let y = self.hash(&hashed[..done - new.pending]);
        for &at in &new.hashes {
            if state.block(at)? != mirrored(&y, new.is_mirrored) {
                return refuted("base: the hash");
            }
        }
        Ok(state)
    }

    /// Stands at the head in a turn of which as much is known as the invariant says; returns the hash.
    fn havoc(&mut self, new: &Invariant, base: &mut State<'a>, known: &Known, i: &Line, left: &Line) -> Result<Block> {
        let turn = self.turn as i128;
        let total = i.scaled(turn).add(left);
        base.restore(&mut self.machine, new.head);
        // What is a function of N is the same function of this N.
        let mut others: crate::unknown::Map<Bit, Bit> = crate::unknown::Map::default();
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
            let bits = self.lines().bits(&value(new, word, i, left, turn));
            put(&mut self.machine, at, &bits.as_chunks().0[..word.0])?;
        }
        for (&at, &plus) in &new.counters {
            let block = self.counter(new, base, at, plus, i, translated)?;
            put(&mut self.machine, at, &block)?;
        }
        for (&at, &behind) in &new.copies {
            let [read, write] = self.cursors(i);
            let text = self.string(if self.opens { read } else { write } - behind as u64, 1)?;
            put(&mut self.machine, at, &text)?;
        }
        let y: Block = std::array::from_fn(|_| self.machine.unknown.random.symbols());
        for &at in &new.hashes {
            put(&mut self.machine, at, &mirrored(&y, new.is_mirrored))?;
        }
        let reference = if i.is_number() { [0; 2] } else { [REFERENCE, 0] };
        (self.lines().stride, self.lines().reference) = ([turn, 0], reference);
        self.machine.memory.reach = None;
        self.machine.memory.watch();
        Ok(y)
    }

    /// What a block with a counter is in turn `i`.
    fn counter(
        &mut self,
        new: &Invariant,
        base: &mut State<'a>,
        at: At,
        plus: i128,
        i: &Line,
        translated: impl Fn(Bit) -> Bit,
    ) -> Result<Block> {
        let blocks = self.turn as i128 / 16;
        let then = in_block(&crate::field::lifted::<32>((blocks * new.first + plus) as u64));
        let fixed = sum(&base.block(at)?, &then).map(|byte| byte.map(&translated));
        let now = self.lines().bits(&i.scaled(blocks).add_number(plus));
        Ok(sum(&fixed, &in_block(&now[..32])))
    }

    /// Where the text is that this turn reads, and where it writes.
    fn cursors(&self, i: &Line) -> [u64; 2] {
        let turns = if i.is_number() { i.plus } else { REFERENCE };
        [self.read, self.write].map(|start| start + (turns * self.turn as i128) as u64)
    }

    /// A new region of what is unknown.
    fn region(&mut self, corners: Vec<[i128; 2]>) {
        self.machine.unknown.lines = Some(Lines::new(corners, self.seed, self.streams));
        self.streams += 1;
        self.machine.unknown.forget();
    }

    /// One turn, any, with at least `least` bytes left.
    fn turn(&mut self, new: &Invariant, base: &mut State<'a>, known: &Known, bottom: i128, range: [i128; 2]) -> Result<()> {
        let (turn, first) = (self.turn as i128, new.first);
        self.region(corners(turn, first, bottom, range));
        let (i, left) = (Line { times: [1, 0], plus: 0 }, Line { times: [0, 1], plus: 0 });
        let y = self.havoc(new, base, known, &i, &left)?;
        let [read, write] = self.cursors(&i);
        let plain = self.string(read, self.turn)?;
        let before = self.string(if self.opens { read } else { write } - new.pending as u64, new.pending)?;
        let mut start = State::of(&self.machine);
        self.machine.memory.reach = None;
        // It reads beyond what was read before.
        self.machine.step().map_err(Failure::from)?;
        self.arrive(new.head, read, Some(turn as u64))?;
        let hashed = if self.over == Over::Text {
            let other = self.other(&plain, &i.scaled(turn / 16));
            self.expect("step: the text", write, &other)?;
            self.only("step", write, self.turn, false)?;
            if self.opens { plain } else { other }
        } else {
            self.only("step", 0, 0, false)?;
            plain
        };
        let data = [before, hashed].concat();
        let y = self.gcm.h.ghash(&mut self.machine.unknown, &y, &data[..data.len() - new.pending]);
        let mut now = State::of(&self.machine);
        for &at in &new.hashes {
            if now.block(at)? != mirrored(&y, new.is_mirrored) {
                return refuted("step: the hash");
            }
        }
        let (next, left) = (i.add_number(1), left.add_number(-turn));
        let mut weaker = BTreeSet::new();
        for (&at, word) in &new.words {
            let want = self.lines().bits(&value(new, word, &next, &left, turn));
            if now.bytes(at, word.0)? != want.as_chunks().0[..word.0] {
                weaker.insert(at);
            }
        }
        for (&at, &plus) in &new.counters {
            let blocks = turn / 16;
            let (then, later) = (i.scaled(blocks).add_number(plus), next.scaled(blocks).add_number(plus));
            let [then, later] = [then, later].map(|line| in_block(&self.lines().bits(&line)[..32]));
            if sum(&sum(&start.block(at)?, &then), &later) != now.block(at)? {
                return refuted("step: a counter");
            }
        }
        for (&at, &behind) in &new.copies {
            let end = if self.opens { read } else { write } + self.turn as u64;
            if now.bytes(at, 1)? != self.string(end - behind as u64, 1)? {
                return refuted("step: a copy of the text");
            }
        }
        // All else is as it was.
        let told = |at: At| {
            let block = block_of(at);
            let in_block = block.is_some_and(|block| new.hashes.contains(&block) || new.counters.contains_key(&block));
            let word =
                |n: u64| matches!(at, At::Memory(at) if new.words.get(&At::Memory(at & !(n - 1))).is_some_and(|word| word.0 as u64 == n));
            in_block || new.others.contains(&at) || new.copies.contains_key(&at) || new.words.contains_key(&at) || word(8) || word(4)
        };
        let general = (0..16).filter(|&r| now.general[r] != start.general[r]).map(At::General);
        let bytes = (0..32).flat_map(|v| (0..64).map(move |byte| (v, byte)));
        let differ = |&(v, byte): &(usize, usize)| now.vectors[v][8 * byte..][..8] != start.vectors[v][8 * byte..][..8];
        let vectors = bytes.filter(differ).map(|(v, byte)| At::Vector(v, byte));
        let memory = now.memory.differing_from(&start.memory).into_iter().map(At::Memory);
        weaker.extend(general.chain(vectors).chain(memory).filter(|&at| !told(at)));
        if now.masks != start.masks || weaker.contains(&At::General(Register::RSP.number())) {
            return stopped("step: masks or the stack change");
        }
        if weaker.is_empty() { Ok(()) } else { Err(Stop::Weaker(weaker)) }
    }

    /// To the end, with so many bytes left, in any turn, whichever way it goes where public addresses decide that are not known.
    fn exit(&mut self, new: &Invariant, base: &mut State<'a>, known: &Known, i: &Line, left: usize) -> Result<()> {
        let mut ways: Vec<bool> = Vec::new();
        loop {
            self.lines().ways = Some((ways, 0));
            let result = self.exit_one_way(new, base, known, i, left);
            (ways, _) = self.lines().ways.take().expect("they are there");
            result?;
            // The next way: the last branch that was not taken is.
            while ways.last() == Some(&true) {
                ways.pop();
            }
            match ways.last_mut() {
                Some(last) => *last = true,
                None => return Ok(()),
            }
            if ways.len() > 8 {
                return stopped("exit: too many ways");
            }
        }
    }

    fn exit_one_way(&mut self, new: &Invariant, base: &mut State<'a>, known: &Known, i: &Line, left: usize) -> Result<()> {
        let turn = self.turn as i128;
        let total = i.scaled(turn).add_number(left as i128);
        let y = self.havoc(new, base, known, i, &Line::number(left as i128))?;
        let [read, write] = self.cursors(i);
        let plain = self.string(read, left)?;
        let before = self.string(if self.opens { read } else { write } - new.pending as u64, new.pending)?;
        let (aad_len, text_len) = match self.over {
            Over::Text => (Line::number(self.aad.len() as i128), total),
            Over::Aad => (total, Line::number(self.text.len() as i128)),
        };
        let (text, block) = match self.over {
            Over::Text => (plain.clone(), i.scaled(turn / 16)),
            Over::Aad => (self.text.clone(), Line::number(0)),
        };
        let other = self.other(&text, &block);
        let ciphertext = if self.opens { &text } else { &other };
        let mut data = before;
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
            self.machine.verdicts.insert(equal, true);
        }
        let limit = self.machine.steps + 1_000_000;
        while self.machine.rip != RETURN {
            if self.machine.steps > limit {
                return stopped("exit: it does not end");
            }
            self.step()?;
        }
        let to = if self.over == Over::Text { write } else { self.places.to };
        self.expect("exit: the text", to, &other)?;
        self.only("exit", to, other.len(), !self.opens)?;
        let place = self.places.tag;
        let want = if self.opens { self.given } else { tag };
        self.expect("exit: the tag", place, &want)?;
        if self.opens && self.machine.asked != [equal] {
            return refuted("exit: it accepts without a look at the tag");
        }
        if KEPT.map(|r| self.machine.register(r)) != self.kept || self.machine.register(Register::RSP) != Word::Number(self.top + 8) {
            return refuted("exit: a register of the caller is not what it was");
        }
        if self.machine.register(Register::RAX) != Word::Number(0) {
            return refuted("exit: the answer");
        }
        Ok(())
    }
}

/// Where the base has functions of N: cores of lines with their symbols, and the lines of memory that hold one.
struct Known {
    cores: Vec<(Line, Vec<(Bit, usize)>)>,
    memory: Vec<u64>,
}

impl Known {
    fn new(lines: &Lines, base: &State<'_>) -> Self {
        let cores = lines.origins();
        let all: BTreeSet<Bit> = cores.iter().flat_map(|(_, bits)| bits.iter().map(|(bit, _)| *bit)).collect();
        let memory = base.memory.lines_with(|bit| bit.number().is_none() && all.contains(bit));
        Self { cores, memory }
    }
}

/// The corners of all turns and bytes left, from these on, that belong to lengths of a range.
fn corners(turn: i128, first: i128, bottom: i128, [least, most]: [i128; 2]) -> Vec<[i128; 2]> {
    // On both edges a point whose length is just the first, or the last, and one with no more than `bottom` bytes left.
    let lower = (least - bottom).div_euclid(turn).max(first);
    let upper = (most - bottom).div_euclid(turn).max(first);
    let at = |i: i128, n: i128| [i, (n - i * turn).max(bottom)];
    let kink = if lower < upper { [lower + 1, bottom] } else { at(upper, least) };
    vec![at(first, least), at(lower.min(upper), least), kink, at(upper, least), at(upper, most), at(first, most)]
}

/// A word in turn `i`.
fn value(new: &Invariant, (_, then, by): &(usize, Line, i128), i: &Line, left: &Line, turn: i128) -> Line {
    let total = i.scaled(turn).add(left);
    total.scaled(then.times[0]).add(&i.scaled(*by)).add_number(then.plus - by * new.first)
}

/// The aligned block in which a byte is.
fn block_of(at: At) -> Option<At> {
    match at {
        At::General(_) => None,
        At::Vector(v, byte) => Some(At::Vector(v, byte & !15)),
        At::Memory(at) => Some(At::Memory(at & !15)),
    }
}

/// What is added to the number of blocks before turns one after the other, if the last four bytes change as such numbers do.
fn counter(three: &[Block; 3], first: i128, blocks: i128) -> Option<i128> {
    let last = |block: &Block| -> Option<u64> {
        let word: Vec<Bit> = (0..32).map(|j| block[15 - j / 8][j % 8]).collect();
        number(&word)
    };
    let change = |a: usize| {
        let change = sum(&three[a], &three[a + 1]);
        if change[..12].iter().flatten().all(|&bit| bit == O) { last(&change) } else { None }
    };
    let changes = [change(0)?, change(1)?];
    if changes == [0, 0] {
        return None;
    }
    let fits = |plus: &i128| {
        let number = |n: i128| (blocks * (first + n) + plus) as u64 & 0xffff_ffff;
        changes == [number(0) ^ number(1), number(1) ^ number(2)]
    };
    (-2..=2).map(|n| n * blocks).filter(|plus| blocks * first + plus >= 0).find(fits)
}

/// Where what is compared changes, if it is a function of one unknown: the first that belongs to the upper part, above `least`.
fn parted(doubt: &Line, of: usize, least: i128) -> Option<i128> {
    let (times, plus) = (doubt.times[of], doubt.plus);
    if times == 0 || doubt.times[1 - of] != 0 {
        return None;
    }
    // The least n with times * n + plus >= 0, or > 0.
    let (up, down) = if times > 0 { (times, -plus) } else { (-times, plus + 1) };
    let first = down.div_euclid(up) + i128::from(down.rem_euclid(up) != 0);
    Some(first.max(least + 1))
}

/// Proves that verb for all lengths for which it has a loop; `every`: with each how-manieth number of bytes left.
pub fn induct(
    subject: &Subject,
    decoded: &mut Decoded,
    case: &Case,
    over: Over,
    every: usize,
    seed: Seed,
) -> std::result::Result<Answer, Failure> {
    let turn = turn(case.row).0 as i128;
    let mut answer = Answer::default();
    let mut ranges = vec![[0, MOST]];
    let mut failed = None;
    while let Some([from, to]) = ranges.pop() {
        if to < LOOKED_AT * turn {
            answer.from = answer.from.max(to as u64 + 1);
            continue;
        }
        match class(subject, decoded, case, over, [from, to], every, seed.wrapping_add(from as Seed)) {
            Ok(class) => {
                if class.from as i128 > from {
                    ranges.push([from, class.from as i128 - 1]);
                }
                answer.classes.push(class);
            }
            Err(Stop::Doubt(doubt)) => {
                let Some(part) = parted(&doubt, 0, from).filter(|part| *part <= to) else {
                    return Err(Failure::Stopped(format!("no part of {from}..={to} decides {doubt:?}")));
                };
                ranges.extend([[from, part - 1], [part, to]]);
            }
            Err(Stop::Failure(failure)) => match example(subject, case, over, [from, to], seed) {
                Some(found) => return Err(found),
                None => failed = failed.or(Some(failure)),
            },
            Err(Stop::NoLoop) => return Err(Failure::Stopped(format!("no loop for lengths {from}..={to}"))),
            Err(Stop::Weaker(_)) => unreachable!("that is asked for below"),
        }
    }
    answer.classes.sort_by_key(|class| class.from);
    failed.map_or(Ok(answer), Err)
}

/// A length of that range that is not proved by itself: of a fault in a loop no invariant is found, which says little.
fn example(subject: &Subject, case: &Case, over: Over, [from, to]: [i128; 2], seed: Seed) -> Option<Failure> {
    let turn = turn(case.row).0 as i128;
    let least = from.max(LOOKED_AT * turn);
    [0, 1, turn + 1, 4 * turn].map(|more| least + more).into_iter().filter(|n| *n <= to.min(1 << 17)).find_map(|n| {
        let mut case = case.clone();
        *if over == Over::Text { &mut case.text } else { &mut case.aad } = n as usize;
        match prove(subject, &mut Decoded::default(), &case, seed, LIMIT, false) {
            Err(Failure::Refuted(why)) => Some(Failure::Refuted(format!("{n} bytes: {why}"))),
            Err(Failure::Stopped(why)) => Some(Failure::Stopped(format!("{n} bytes: {why}"))),
            Ok(_) => None,
        }
    })
}

fn class(
    subject: &Subject,
    decoded: &mut Decoded,
    case: &Case,
    over: Over,
    [from, to]: [i128; 2],
    every: usize,
    seed: Seed,
) -> Result<Class> {
    let turn = turn(case.row).0 as i128;
    let long = [from.max(LOOKED_AT * turn), to];
    let heads = Run::start(subject, decoded, case, over, long, seed)?.heads()?;
    let mut why = String::from("no loop is proved");
    for head in heads {
        let mut invariant = match Run::start(subject, decoded, case, over, long, seed)?.invariant(head) {
            Ok(invariant) => invariant,
            Err(Stop::Failure(failure)) => {
                why += &format!("; head {}: {failure}", subject.image.place(head));
                continue;
            }
            Err(other) => return Err(other),
        };
        // From the least length on with which it comes to the head for sure.
        let mut least = from.max(invariant.first * turn);
        loop {
            let result = Run::start(subject, decoded, case, over, [least, to], seed)?.base(&invariant).map(|_| ());
            least = match result {
                Ok(()) => break,
                Err(Stop::Doubt(doubt)) => parted(&doubt, 0, least).filter(|part| *part <= to).ok_or(Stop::Doubt(doubt))?,
                Err(Stop::NoLoop) if least < to => least + 1,
                Err(other) => return Err(other),
            };
        }
        let mut run = Run::start(subject, decoded, case, over, [least, to], seed)?;
        match run.prove(&mut invariant, least, to, every) {
            Err(Stop::Failure(failure)) => why += &format!("; head {}: {failure}", subject.image.place(head)),
            Err(other) => return Err(other),
            Ok(exits) => {
                let longest = Case { text: 2 * turn as usize, ..case.clone() };
                let proved = Proved::new(&run.machine, &longest, subject.verbs[case.verb].form);
                let head = subject.image.place(head);
                return Ok(Class { from: least as u64, to: to as u64, head, exits, invariant: invariant.to_string(), proved });
            }
        }
    }
    stopped(why)
}

impl<'a> Run<'a> {
    /// Base, step and all exits; returns how many of these.
    fn prove(&mut self, invariant: &mut Invariant, least: i128, most: i128, every: usize) -> Result<usize> {
        let (turn, first) = (self.turn as i128, invariant.first);
        let base = &mut self.base(invariant)?;
        let known = Known::new(self.lines(), base);
        self.machine.unknown.remember();
        // The step: from as many bytes left as it goes on with for sure.
        let mut bottom = turn;
        loop {
            match self.turn(invariant, base, &known, bottom, [least, most]) {
                Ok(()) => break,
                Err(Stop::Weaker(places)) => invariant.forget(&places),
                // Of the length of all: for another class.
                Err(Stop::Doubt(Line { times: [a, b], plus })) if a == turn * b => {
                    return Err(Stop::Doubt(Line { times: [b, 0], plus }));
                }
                Err(Stop::Doubt(doubt)) => match parted(&doubt, 1, bottom) {
                    Some(part) if part < 4 * turn => bottom = part,
                    // So many turns are not possible with more bytes left.
                    _ if doubt.times[1] == 0 && bottom < 4 * turn => bottom += 16,
                    _ => return stopped(format!("step: it depends on the turn: {doubt:?}")),
                },
                Err(Stop::NoLoop) if bottom < 4 * turn => bottom += 1,
                Err(other) => return Err(other),
            }
        }
        let lowest = (bottom - turn).min(least - first * turn).max(0);
        let mut exits = 0;
        let possible = |left: i128| [first.max((least - left + turn - 1).div_euclid(turn)), (most - left).div_euclid(turn)];
        let all_left = (lowest..bottom).map(|left| (left, possible(left))).filter(|(_, turns)| turns[0] <= turns[1]);
        for (left, turns) in all_left.step_by(every) {
            exits += 1;
            // No more of them: what was stored of a length has no bit above that of the greatest one.
            self.region(turns.map(|i| [i, 0]).into());
            let i = Line { times: [1, 0], plus: 0 };
            let mut parts = match self.exit(invariant, base, &known, &i, left as usize) {
                Ok(()) => continue,
                Err(Stop::Doubt(doubt)) => vec![(turns, doubt)],
                Err(other) => return Err(other),
            };
            // Not alike in all turns.
            while let Some(([from, to], doubt)) = parts.pop() {
                let at = parted(&doubt, 0, from).filter(|at| *at <= to);
                let halves = at.map_or(vec![[from, to]], |at| vec![[from, at - 1], [at, to]]);
                for half @ [from, to] in halves {
                    self.region(half.map(|i| [i, 0]).into());
                    let i = if from == to { Line::number(from) } else { i };
                    match self.exit(invariant, base, &known, &i, left as usize) {
                        Err(Stop::Doubt(doubt)) if from < to => parts.push((half, doubt)),
                        other => other?,
                    }
                }
            }
        }
        Ok(exits)
    }
}

impl Invariant {
    /// Nothing is said any more of what is there.
    fn forget(&mut self, places: &BTreeSet<At>) {
        for &at in places {
            match (self.words.remove(&at), at) {
                (Some((n, ..)), At::Memory(at)) => self.others.extend((at..at + n as u64).map(At::Memory)),
                _ => drop(self.others.insert(at)),
            }
        }
    }
}
