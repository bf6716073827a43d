//! Memory over lifted bits: the process's contents, unknown bytes, and later writes.

use crate::{
    process::image::{Image, LINE},
    values::field::{Bit, Byte, Vector, byte, number},
    values::random::{Map, Random, Seed},
    values::word::{Result, Stop, refuse},
};
use std::{collections::HashSet, ops::Range, sync::Arc};

/// A line of memory: numbers, or bytes of bits with a bound of the degree of each.
#[derive(Clone, Debug)]
enum Line {
    Known([u8; LINE]),
    Lifted(Box<([Byte; LINE], [u32; LINE])>),
}

impl Line {
    fn byte(&self, i: usize) -> Byte {
        match self {
            Self::Known(bytes) => byte(bytes[i]),
            Self::Lifted(line) => line.0[i],
        }
    }

    fn lifted(&mut self) -> &mut ([Byte; LINE], [u32; LINE]) {
        if let Self::Known(bytes) = self {
            *self = Self::Lifted(Box::new((bytes.map(byte), [0; LINE])));
        }
        match self {
            Self::Lifted(line) => line,
            Self::Known(_) => unreachable!("it has just been lifted"),
        }
    }
}

/// The memory that a call may write besides its stack: any byte of these ranges, and elsewhere only numbers that are not near its arguments.
#[derive(Clone, Debug, Default)]
pub struct Own {
    pub ranges: Vec<Range<u64>>,
    /// The range of its arguments with their surroundings; and each argument.
    pub near: Range<u64>,
    pub arguments: Vec<(&'static str, Range<u64>)>,
    /// True if the allocator's memory may hold secrets.
    pub allocates: bool,
}

impl Own {
    /// Describes an address: the argument, or the distance from one.
    fn place(&self, at: u64) -> String {
        if !self.near.contains(&at) {
            return "in a long text or beside it, or in its caller's stack".into();
        }
        let far = |range: &Range<u64>| if at < range.start { range.start - at } else { (at + 1).saturating_sub(range.end) };
        let Some((name, range)) = self.arguments.iter().min_by_key(|(_, range)| far(range)) else { return format!("at {at:#x}") };
        match far(range) {
            0 => format!("byte {} of the {name}", at - range.start),
            n if at < range.start => format!("{n} before the {name} begins"),
            n => format!("{n} behind where the {name} ends"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Memory<'a> {
    image: &'a Image,
    random: Random,
    lines: Map<u64, Line>,
    /// The contents of written lines at `watch`.
    before: Option<Map<u64, Line>>,
    /// Unknown memory that a call may write: the stack below its caller's.
    pub scratch: Range<u64>,
    /// Unknown memory around a call's arguments.
    pub nameless: Range<u64>,
    /// The caller's stack with the system's data, which a call must not access.
    pub foreign: Range<u64>,
    /// The kernel's data on the stack that a call may read: about the machine, and an empty environment.
    pub auxiliary: Range<u64>,
    /// The memory that a call may write, or `None` (everything) before it begins.
    pub own: Option<Own>,
    /// Unknown memory that no process has: a text longer than any iteration reads.
    pub endless: Range<u64>,
    /// The parts of it that must not be accessed any more: the start of the text, for an iteration far behind (whose addresses do not move).
    pub passed: Vec<Range<u64>>,
    /// The bytes of allocated memory before any write. They may be copied.
    unwritten: Arc<HashSet<Byte>>,
    /// The range of it that was read: the first byte, and the end.
    pub reach: Option<(u64, u64)>,
}

fn line(at: u64) -> u64 {
    at / LINE as u64
}

/// Returns the parts of lines of `n` bytes from `at` on: line, first byte in it, bytes.
fn parts(at: u64, n: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = at.wrapping_add(done as u64);
        let first = at as usize % LINE;
        let part = (n - done).min(LINE - first);
        done += part;
        (part > 0).then_some((line(at), first, part))
    })
}

impl<'a> Memory<'a> {
    pub fn new(image: &'a Image, seed: Seed, scratch: Range<u64>) -> Self {
        let random = Random::new(seed, 1);
        Self {
            image,
            random,
            lines: Map::default(),
            before: None,
            scratch,
            nameless: 0..0,
            foreign: 0..0,
            auxiliary: 0..0,
            own: None,
            endless: 0..0,
            passed: Vec::new(),
            unwritten: Arc::default(),
            reach: None,
        }
    }

    fn unknown(&self, at: u64) -> bool {
        self.scratch.contains(&at) || self.endless.contains(&at) || self.nameless.contains(&at)
    }

    fn line(&mut self, number: u64) -> Result<&mut Line> {
        if !self.lines.contains_key(&number) {
            let start = number * LINE as u64;
            if let Some(range) = self.passed.iter().find(|range| range.contains(&start)) {
                let at = start - range.start;
                return Err(format!("the text is touched near byte {at}, at an address that does not move with the loop").into());
            }
            let at = |i: usize| start + i as u64;
            let known = self.image.bytes::<LINE>(start);
            let unknown = (0..LINE).filter(|&i| self.unknown(at(i))).count();
            let new = match (known, unknown) {
                (Some(bytes), 0) => Line::Known(bytes),
                (None, 0) => return Err(format!("memory at {start:#x} is not mapped, or cannot be read").into()),
                (known, _) => {
                    let degrees = std::array::from_fn(|i| self.unknown(at(i)).into());
                    let symbols = |i| if self.unknown(at(i)) { self.random.symbols() } else { byte(known.map_or(0, |bytes| bytes[i])) };
                    Line::Lifted(Box::new((std::array::from_fn(symbols), degrees)))
                }
            };
            self.lines.insert(number, new);
        }
        Ok(self.lines.get_mut(&number).expect("it is there now"))
    }

    /// Fails for an access to the caller's memory, other than the kernel's data.
    fn is_native(&self, at: u64, n: usize) -> Result<()> {
        let is_auxiliary = self.auxiliary.start <= at && at + n as u64 <= self.auxiliary.end;
        let last = at.saturating_add((n as u64).saturating_sub(1));
        if (self.foreign.contains(&at) || self.foreign.contains(&last)) && !is_auxiliary {
            return Err("its caller's stack is read, or its environment".into());
        }
        Ok(())
    }

    /// Reads `bits` bits.
    pub fn read(&mut self, at: u64, bits: usize) -> Result<Vector> {
        self.is_native(at, bits / 8)?;
        if self.endless.contains(&at) {
            let end = at + bits as u64 / 8;
            let (first, last) = self.reach.unwrap_or((at, end));
            self.reach = Some((first.min(at), last.max(end)));
        }
        let mut all = Vector { bits: Vec::with_capacity(bits), degrees: Vec::with_capacity(bits / 8) };
        for (line, first, n) in parts(at, bits / 8) {
            match self.line(line)? {
                Line::Known(bytes) => {
                    bytes[first..first + n].iter().for_each(|&number| all.bits.extend(byte(number)));
                    all.degrees.resize(all.degrees.len() + n, 0);
                }
                Line::Lifted(line) => {
                    all.bits.extend_from_slice(line.0[first..first + n].as_flattened());
                    all.degrees.extend_from_slice(&line.1[first..first + n]);
                }
            }
        }
        Ok(all)
    }

    /// Returns a number of at most eight bytes, or `None` if a bit is unknown.
    pub fn number(&mut self, at: u64, n: usize) -> Result<Option<u64>> {
        self.is_native(at, n)?;
        if at as usize % LINE + n <= LINE
            && let Line::Known(bytes) = self.line(line(at))?
        {
            let mut word = [0; 8];
            word[..n].copy_from_slice(&bytes[at as usize % LINE..][..n]);
            return Ok(Some(u64::from_le_bytes(word)));
        }
        Ok(number(&self.read(at, 8 * n)?.bits))
    }

    pub fn string(&mut self, at: u64, n: usize) -> Result<Vec<Byte>> {
        Ok(self.read(at, 8 * n)?.bits.as_chunks().0.to_vec())
    }

    /// Writes a program's bits, with a bound of the degree of each byte. Fails outside of the call's own memory.
    pub fn write(&mut self, at: u64, bits: &[Bit], degrees: &[u32]) -> Result<()> {
        if let Some(own) = &self.own {
            let all = at..at.saturating_add(bits.len() as u64 / 8);
            let within = |range: &Range<u64>| range.start <= all.start && all.end <= range.end;
            if !within(&self.scratch) && !own.ranges.iter().any(within) {
                all.zip(bits.as_chunks::<8>().0).try_for_each(|(at, byte)| self.may_write(own, at, byte))?;
            }
        }
        self.set(at, bits, degrees)
    }

    fn may_write(&self, own: &Own, at: u64, what: &Byte) -> Result<()> {
        if self.scratch.contains(&at) || own.ranges.iter().any(|range| range.contains(&at)) {
            return Ok(());
        }
        if own.near.contains(&at) || self.endless.contains(&at) || self.foreign.contains(&at) {
            refuse!("memory that is not its own is written, {}", own.place(at));
        }
        // An unmapped page is reported where it is written.
        if number(what).is_none()
            && self.image.is_writable(at)
            && !self.unwritten.contains(what)
            && !(own.allocates && self.image.is_heap(at))
        {
            refuse!("a secret is written to {}", self.image.place(at));
        }
        Ok(())
    }

    fn set(&mut self, at: u64, bits: &[Bit], degrees: &[u32]) -> Result<()> {
        let mut from = bits.as_chunks::<8>().0;
        let mut degrees = degrees;
        for (line, first, n) in parts(at, from.len()) {
            let start = line * LINE as u64 + first as u64;
            for at in [start, start + n as u64 - 1] {
                if !self.unknown(at) && !self.passed.iter().any(|range| range.contains(&at)) {
                    if !self.image.is_writable(at) {
                        return Err(format!("memory at {at:#x} cannot be written").into());
                    }
                    if self.image.is_executable(at) {
                        return Err(Stop::NotUnderstood(format!("code is written, at {}", self.image.place(at))));
                    }
                    if self.image.is_shared(at) {
                        return Err(Stop::NotUnderstood(format!("a mapping that may be shared is written, at {}", self.image.place(at))));
                    }
                }
            }
            if self.before.as_ref().is_some_and(|before| !before.contains_key(&line)) {
                let was = self.line(line)?.clone();
                self.before.as_mut().expect("it is watched").insert(line, was);
            }
            let (part, rest) = from.split_at(n);
            let (own, others) = degrees.split_at(n);
            match self.line(line)? {
                Line::Known(bytes) if part.iter().flatten().all(|bit| bit.number().is_some()) => {
                    let numbers = part.iter().map(|byte| number(byte).map_or(0, |n| n as u8));
                    bytes[first..].iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
                }
                to => {
                    let (bytes, degrees) = to.lifted();
                    bytes[first..first + n].copy_from_slice(part);
                    degrees[first..first + n].copy_from_slice(own);
                }
            }
            (from, degrees) = (rest, others);
        }
        Ok(())
    }

    /// Sets memory to symbols or numbers.
    pub fn put(&mut self, at: u64, bytes: &[Byte]) -> Result<()> {
        self.set(at, bytes.as_flattened(), &vec![1; bytes.len()])
    }

    /// Sets memory that an allocator returns.
    pub fn give(&mut self, at: u64, fresh: &[Byte]) -> Result<()> {
        Arc::make_mut(&mut self.unwritten).extend(fresh);
        self.put(at, fresh)
    }

    /// Makes the endless memory unknown.
    pub fn forget_endless(&mut self) {
        let endless = self.endless.clone();
        let is_endless = |line: u64| endless.contains(&(line * LINE as u64));
        self.lines.retain(|&line, _| !is_endless(line));
        self.before.iter_mut().for_each(|before| before.retain(|&line, _| !is_endless(line)));
    }

    /// Forbids all further accesses to the endless memory.
    pub fn pass(&mut self) {
        self.forget_endless();
        let endless = std::mem::take(&mut self.endless);
        self.passed.push(endless);
    }

    /// Begins to record changes.
    pub fn watch(&mut self) {
        self.before = Some(Map::default());
    }

    /// Returns the addresses of changed bytes outside of the call's own stack.
    pub fn changed(&self) -> Vec<u64> {
        self.differing().filter(|(at, ..)| !self.scratch.contains(at)).map(|(at, ..)| at).collect()
    }

    /// Returns the changed bytes of the call's own stack: address, and current value.
    pub fn left(&self) -> Vec<(u64, Byte)> {
        self.differing().filter(|(at, ..)| self.scratch.contains(at)).collect()
    }

    /// Makes the stack below this address unknown.
    pub fn forget_below(&mut self, top: u64) {
        let scratch = self.scratch.clone();
        let is_below = |line: u64| scratch.contains(&(line * LINE as u64)) && (line + 1) * LINE as u64 <= top;
        self.lines.retain(|&line, _| !is_below(line));
        self.before.iter_mut().for_each(|before| before.retain(|&line, _| !is_below(line)));
    }

    /// Makes this memory, which belongs to no one, unknown.
    pub fn forget(&mut self, range: Range<u64>) {
        let is_in = |line: u64| range.contains(&(line * LINE as u64));
        self.lines.retain(|&line, _| !is_in(line));
        self.before = None;
    }

    /// Returns the contents of the call's own stack before the call.
    pub fn unused(&self) -> Vec<Byte> {
        let before = self.before.as_ref();
        let lines = self.lines.iter().filter(|(line, _)| self.scratch.contains(&(*line * LINE as u64)));
        lines.flat_map(|(line, now)| (0..LINE).map(move |i| before.and_then(|before| before.get(line)).unwrap_or(now).byte(i))).collect()
    }

    /// Returns the bytes that differ from `then`, except endless memory. A line that `then` had not read differs in its unknown bytes.
    pub fn differing_from(&self, then: &Self) -> Vec<u64> {
        let mut all = Vec::new();
        for (&line, now) in &self.lines {
            let start = line * LINE as u64;
            let of_image = || self.image.bytes::<LINE>(start).map(Line::Known);
            let was = then.lines.get(&line).cloned().or_else(of_image);
            let differs = |i: &u64| {
                let (at, i) = (start + i, *i as usize);
                let is_new = !then.lines.contains_key(&line) && self.scratch.contains(&at);
                !self.endless.contains(&at) && (is_new || was.as_ref().is_none_or(|was| was.byte(i) != now.byte(i)))
            };
            all.extend((0..LINE as u64).filter(differs).map(|i| start + i));
        }
        all.sort_unstable();
        all
    }

    /// Returns the lines that were read or written: the first address, and the current bytes.
    pub fn looked_at(&self) -> impl Iterator<Item = (u64, [Byte; LINE])> {
        self.lines.iter().map(|(&line, now)| (line * LINE as u64, std::array::from_fn(|i| now.byte(i))))
    }

    /// Returns the lines that contain one of some bits.
    pub fn lines_with(&self, is_one: impl Fn(&Bit) -> bool) -> Vec<u64> {
        let has = |line: &Line| matches!(line, Line::Lifted(line) if line.0.as_flattened().iter().any(&is_one));
        self.lines.iter().filter(|(_, line)| has(line)).map(|(&number, _)| number).collect()
    }

    /// Replaces bits in these lines.
    pub fn translate(&mut self, lines: &[u64], other: impl Fn(Bit) -> Bit) {
        for number in lines {
            if let Some(Line::Lifted(line)) = self.lines.get_mut(number) {
                line.0.as_flattened_mut().iter_mut().for_each(|bit| *bit = other(*bit));
            }
        }
    }

    fn differing(&self) -> impl Iterator<Item = (u64, Byte)> {
        let written = self.before.iter().flatten();
        let mut all: Vec<_> = written
            .flat_map(|(&line, before)| {
                let now = &self.lines[&line];
                (0..LINE).filter(move |&i| now.byte(i) != before.byte(i)).map(move |i| (line * LINE as u64 + i as u64, now.byte(i)))
            })
            .collect();
        all.sort();
        all.into_iter()
    }
}
