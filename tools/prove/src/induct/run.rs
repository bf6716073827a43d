//! Runs a call with a text of any length up to a place, and checks the state at its end.

use super::{
    APART, FAR, LONG, Lengths, Over, Result, Stage, Stop, refuted,
    state::{in_block, mirrored, sum},
    stopped,
};
use crate::{
    machine::{Decoded, Machine, Word},
    memory::Own,
    spec::{self, Gcm},
    statement::calls::{AROUND_BOTH, Case, Places, RETURN, Refused, Shape, Subject, Verb, place},
    statement::prove::Failure,
    values::field::{Block, Byte, O, xor},
    values::lines::{Line, Lines},
    values::random::Seed,
};
use std::ops::Range;

/// A call up to its current instruction.
pub(super) struct Run<'a> {
    pub(super) machine: Machine<'a>,
    pub(super) over: Over,
    pub(super) opens: bool,
    pub(super) refused: Refused,
    pub(super) right_only: bool,
    own: Own,
    far: u64,
    pub(super) stage: Stage,
    pub(super) turn: usize,
    pub(super) lengths: Lengths,
    pub(super) gcm: Gcm,
    pub(super) nonce: Vec<Byte>,
    pub(super) aad: Vec<Byte>,
    pub(super) text: Vec<Byte>,
    pub(super) given: Block,
    pub(super) places: Places,
    pub(super) kept: Vec<Word>,
    pub(super) top: u64,
    pub(super) seed: Seed,
    pub(super) streams: u64,
    /// The addresses at which the input of any length is read, and written.
    pub(super) read: u64,
    pub(super) write: u64,
}

impl<'a> Run<'a> {
    pub(super) fn start(
        subject: &'a Subject,
        decoded: &'a mut Decoded,
        case: &Case,
        over: Over,
        lengths: Lengths,
        range: [i128; 2],
        seed: Seed,
    ) -> Result<Self> {
        let verb: &Verb = &subject.verbs[case.verb];
        if matches!(verb.shape, Shape::Behind | Shape::InPlaceBehind) {
            return stopped("a tag behind a text of any length has no address");
        }
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
        let (n, no_degrees) = (lines.bits(&lengths.bytes(&Line { times: [1, 0], plus: 0 })), [1; 8]);
        for (at, start) in long {
            machine.memory.write(at, &crate::values::field::lifted::<64>(start), &no_degrees).map_err(Failure::from)?;
            machine.memory.write(at + 8, &n, &no_degrees).map_err(Failure::from)?;
        }
        let (kept, top) = (machine.kept(), subject.top(case));
        machine.memory.watch();
        let far = machine.unknown.random.word() >> 24;
        let own = subject.own(case, &places);
        let given = given.try_into().expect("16 bytes");
        let turn = lengths.turn as usize;
        let opens = verb.opens;
        let mut new = Self {
            machine,
            far,
            stage: Stage::Base,
            own,
            refused: verb.refused,
            right_only: subject.right_only,
            over,
            opens,
            turn,
            lengths,
            gcm,
            nonce,
            aad,
            text,
            given,
            places,
            kept,
            top,
            seed,
            streams: 3,
            read,
            write: LONG,
        };
        new.owns(LONG..LONG + new.lengths.at(range[0]) as u64);
        Ok(new)
    }

    /// Returns the representative iteration of a line.
    pub(super) fn reference(&self, i: &Line) -> i128 {
        if i.is_number() {
            return 0;
        }
        let bytes = i128::from(FAR + (self.far << 12));
        bytes / (self.turn as i128 * i.times[0]) / 4096 * 4096
    }

    /// Sets the memory that a call may write for a text in this range, which may be longer on both sides.
    pub(super) fn owns(&mut self, text: Range<u64>) {
        let text = if self.over == Over::Text { text } else { self.places.to..self.places.to + self.text.len() as u64 };
        let tag = self.places.tag..self.places.tag + if self.opens { 0 } else { 16 };
        let ranges = vec![text, tag, self.places.heap.clone(), self.places.place.clone()];
        self.machine.memory.own = Some(Own { ranges, ..self.own.clone() });
    }

    pub(super) fn step(&mut self) -> Result<()> {
        self.machine.step().map_err(|why| match self.lines().doubt.take() {
            Some(doubt) if !doubt.is_number() => Stop::Doubt(doubt),
            _ => Stop::Failure(why.into()),
        })
    }

    pub(super) fn lines(&mut self) -> &mut Lines {
        self.machine.unknown.lines.as_mut().expect("they are there")
    }

    /// Returns the number of bytes read from an address on.
    pub(super) fn progress(&self, from: u64) -> u64 {
        self.machine.memory.reach.map_or(0, |reach| reach.1.saturating_sub(from))
    }

    /// Runs to the head at which it has read `want` bytes, or to the first one for `None`.
    pub(super) fn arrive(&mut self, head: u64, from: u64, want: Option<u64>) -> Result<u64> {
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

    /// Returns the AES of a counter block.
    pub(super) fn stream(&mut self, counter: &Line) -> Block {
        let bits = self.lines().bits(counter);
        let mut block = in_block(&bits[..32]);
        block[..12].copy_from_slice(&self.nonce);
        spec::cipher(&mut self.machine.unknown, &self.gcm.keys, &block)
    }

    /// Returns the standard's output for a part of the text that begins with this block.
    pub(super) fn other(&mut self, text: &[Byte], block: &Line) -> Vec<Byte> {
        let mut other = Vec::with_capacity(text.len());
        for (part, j) in text.chunks(16).zip(2..) {
            let stream = self.stream(&block.add_number(j));
            other.extend(part.iter().zip(&stream).map(|(a, b)| xor(a, b)));
        }
        other
    }

    pub(super) fn string(&mut self, at: u64, n: usize) -> Result<Vec<Byte>> {
        Ok(self.machine.memory.string(at, n).map_err(Failure::from)?)
    }

    pub(super) fn expect(&mut self, what: &str, at: u64, want: &[Byte]) -> Result<()> {
        let have = self.string(at, want.len())?;
        match have.iter().zip(want).position(|(have, want)| have != want) {
            Some(i) => refuted(format!("{what}: byte {i} of {} is not what the standard says", want.len())),
            None => Ok(()),
        }
    }

    /// Checks that only these `n` bytes of the text, and the tag only at the end, are written. (All else was checked when it was written.)
    pub(super) fn only(&mut self, what: &str, at: u64, n: usize, is_end: bool) -> Result<()> {
        let tag = self.places.tag..self.places.tag + 16;
        let is_own = |byte: u64| (at..at + n as u64).contains(&byte) || is_end && tag.contains(&byte);
        let memory = &self.machine.memory;
        let of_call = |byte: &u64| memory.endless.contains(byte) || tag.contains(byte);
        match memory.changed().into_iter().filter(of_call).find(|byte| !is_own(*byte)) {
            Some(byte) => refuted(format!("{what}: memory at {byte:#x} is written, which is not its own")),
            None => Ok(()),
        }
    }

    /// Returns possible forms of the hash after this ciphertext of whole blocks. (For the search, not for the proof: its degrees are wrong.)
    pub(super) fn hashes(&mut self, done: &[Byte]) -> Vec<(Form, Block)> {
        let mut all = Vec::new();
        let mut y = self.hash(&[]);
        for end in (0..=done.len()).step_by(16) {
            let (hashed, waits) = done.split_at(end);
            if end > 0 {
                y = self.gcm.h.ghash(&mut self.machine.unknown, &y, &hashed[end - 16..]);
            }
            let pending = waits.len();
            if pending > 2 * self.turn {
                continue;
            }
            for (is_mirrored, is_begun) in [(true, false), (false, false), (true, true), (false, true)] {
                if !is_begun || pending > 0 {
                    let form = Form { pending, is_mirrored, is_begun };
                    all.push((form, form.of(&y, waits)));
                }
            }
        }
        all
    }

    /// Returns Y after AAD and this ciphertext, or after this AAD.
    pub(super) fn hash(&mut self, done: &[Byte]) -> Block {
        let mut data = Vec::new();
        if self.over == Over::Text {
            data.extend(&self.aad);
            spec::pad(&mut data);
        }
        data.extend(done);
        self.gcm.h.ghash(&mut self.machine.unknown, &[[O; 8]; 16], &data)
    }
}

/// The form of a stored hash.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Form {
    /// The bytes before this iteration that are not in it yet.
    pub(super) pending: usize,
    pub(super) is_mirrored: bool,
    /// True if the first pending block is already added.
    pub(super) is_begun: bool,
}

impl Form {
    /// Returns the stored form of a hash, before the pending blocks.
    pub(super) fn of(&self, y: &Block, waits: &[Byte]) -> Block {
        let begun = match waits.first_chunk() {
            Some(block) if self.is_begun => sum(y, block),
            _ => *y,
        };
        mirrored(&begun, self.is_mirrored)
    }
}
