//! The calls, their arguments, and their places in memory.

use crate::{
    machine::arm,
    machine::{Decoded, Machine, Result, Word, stop},
    memory::{Memory, Own},
    process::image::{Image, Isa, writable},
    process::symbols,
    process::{processor::Processor, qemu::Process},
    values::field::{Byte, byte, bytes},
    values::random::Seed,
};
use fastgcm_step::Traced;
use iced_x86::Register;
use std::{
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// The rows of x86-64, each with a processor that has its features, and none of those that only a better row needs.
pub const ROWS: [(&str, Processor); 4] = [
    ("vaes-avx512", Processor { one_c: SSE | AVX, seven_b: BMI | AVX2 | SHA | AVX512, seven_c: VAES | VBMI, saved: 0xe7 }),
    ("vaes-avx2", Processor { one_c: SSE | AVX, seven_b: BMI | AVX2 | SHA, seven_c: VAES, saved: 7 }),
    ("aesni-avx", Processor { one_c: SSE | AVX, seven_b: BMI | AVX2, seven_c: 0, saved: 7 }),
    ("aesni-sse", Processor { one_c: SSE, seven_b: 0, seven_c: 0, saved: 3 }),
];
/// The rows of AArch64, whose numbers follow, each with a processor of qemu's of that kind.
pub const ARM_ROWS: [(&str, &str); 2] = [("aes-neon", "cortex-a72"), ("aes-neon-eor3", "max,sve=off,sme=off")];

/// The number of rows.
pub const ROW_COUNT: usize = ROWS.len() + ARM_ROWS.len();

/// Returns the name of a row, and its processor, which counts for x86-64 only.
pub fn row(number: usize) -> (&'static str, Processor) {
    match number.checked_sub(ROWS.len()) {
        None => ROWS[number],
        Some(number) => (ARM_ROWS[number].0, Processor { one_c: 0, seven_b: 0, seven_c: 0, saved: 0 }),
    }
}

/// Returns the row with this name.
pub fn row_of(name: &str) -> Option<usize> {
    (0..ROW_COUNT).find(|&number| row(number).0 == name)
}

/// SSE3, PCLMULQDQ, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT, AES.
const SSE: u32 = 1 << 0 | 1 << 1 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23 | 1 << 25;
/// FMA, MOVBE, OSXSAVE, AVX.
const AVX: u32 = 1 << 12 | 1 << 22 | 1 << 26 | 1 << 27 | 1 << 28;
/// Both parts of BMI, and ADX, which came with the second.
const BMI: u32 = 1 << 3 | 1 << 8 | 1 << 19;
const AVX2: u32 = 1 << 5;
const SHA: u32 = 1 << 29;
/// F, DQ, IFMA, CD, BW, VL.
const AVX512: u32 = 1 << 16 | 1 << 17 | 1 << 21 | 1 << 28 | 1 << 30 | 1 << 31;
const VBMI: u32 = 1 << 1;
/// GFNI, VAES, VPCLMULQDQ.
const VAES: u32 = 1 << 8 | 1 << 9 | 1 << 10;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Gcm,
    Gmac,
    Xaes,
    KcXaes,
    /// DNDK-GCM, with or without a commitment.
    Dndk(bool),
    Siv,
    Ctr,
    Blocks,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    InPlace,
    Apart,
    InPlaceBehind,
    Behind,
    Read,
}

/// The contents of the output after a refusal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refused {
    Zeros,
    AsItWas,
    Unverified,
}

/// A verb of a program, from the program's own description.
#[derive(Clone, Debug)]
pub struct Verb {
    /// Its number in the program.
    pub number: u64,
    pub name: String,
    pub form: Form,
    pub opens: bool,
    pub shape: Shape,
    pub refused: Refused,
    /// The compared bytes of the tag.
    pub tag: usize,
    /// True if the text is cut in two places.
    pub cuts: bool,
    /// True if its nonce is a counter.
    pub counts: bool,
    /// True if it promises to leave no secrets on the stack or in registers (the library's feature `scrub`).
    pub wipes: bool,
    /// True if it allocates on the heap, which may hold secrets afterwards.
    pub allocates: bool,
    /// The lengths of keys and of nonces; empty for all of AES-GCM's.
    pub keys: Vec<usize>,
    pub nonces: Vec<usize>,
}

impl Verb {
    fn parse(number: u64, line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(';').collect();
        let &[name, how, keys, nonces] = &fields[..] else { return None };
        let how: Vec<&str> = how.split(' ').collect();
        let list = |list: &str| list.trim_matches(['[', ']']).split(", ").filter_map(|n| n.parse().ok()).collect::<Vec<usize>>();
        let (keys, nonces, tag) = (list(keys), list(nonces), how.get(4)?.parse().ok()?);
        let is_plain = ["Gcm", "Gmac", "Siv", "Xaes"].contains(&how[0]);
        if keys.iter().any(|key| ![16, 24, 32].contains(key))
            || nonces.iter().any(|n| *n == 0 && is_plain || *n > 1 << 16)
            || tag > if is_plain { 16 } else { 64 }
        {
            return None;
        }
        Some(Self {
            number,
            name: name.to_owned(),
            form: match how[0] {
                "Gcm" => Form::Gcm,
                "Gmac" => Form::Gmac,
                "Xaes" => Form::Xaes,
                "KcXaes" => Form::KcXaes,
                form if form.starts_with("Dndk") => Form::Dndk(form.ends_with("true)")),
                "Siv" => Form::Siv,
                "Ctr" => Form::Ctr,
                "Blocks" => Form::Blocks,
                _ => return None,
            },
            opens: match how[1] {
                "Opens" => true,
                "Seals" => false,
                _ => return None,
            },
            shape: match how[2] {
                "InPlace" => Shape::InPlace,
                "Apart" => Shape::Apart,
                "InPlaceBehind" => Shape::InPlaceBehind,
                "Behind" => Shape::Behind,
                "Read" => Shape::Read,
                _ => return None,
            },
            refused: match how[3] {
                "Zeros" => Refused::Zeros,
                "AsItWas" => Refused::AsItWas,
                "Unverified" => Refused::Unverified,
                _ => return None,
            },
            tag,
            cuts: how.contains(&"cut"),
            counts: how.contains(&"number"),
            wipes: how.contains(&"wipes"),
            allocates: how.contains(&"heap"),
            keys,
            nonces,
        })
    }

    /// Returns the bytes of a tag and its commitment.
    pub fn behind(&self) -> usize {
        self.tag.max(16)
    }

    /// Returns a length of text near `n` that it supports.
    pub fn text(&self, n: usize) -> usize {
        match self.form {
            Form::Gmac => 0,
            Form::Blocks => n / 16 * 16,
            _ => n,
        }
    }
}

/// The public parameters of a call.
#[derive(Clone, Debug)]
pub struct Case {
    pub verb: usize,
    /// The index in `ROWS`, or after them in `ARM_ROWS`.
    pub row: usize,
    pub key: usize,
    pub nonce: usize,
    pub aad: usize,
    pub text: usize,
    pub cuts: [usize; 2],
    /// True if the given tag is assumed to be right.
    pub right: bool,
    pub layout: Layout,
}

/// The positions of stack and buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layout {
    /// The distance by which the stack begins lower, in units of 16 bytes.
    pub stack: u64,
    /// The bytes by which each buffer is moved: key, nonce, AAD, the first text, the second, tag.
    pub moved: [u64; 6],
    /// True if each buffer ends at the end of a page.
    pub ends_pages: bool,
    /// True if the last buffer is the first in memory.
    pub reversed: bool,
}

/// The addresses of a case's buffers.
#[derive(Clone, Debug)]
pub struct Places {
    pub key: u64,
    pub nonce: u64,
    pub aad: u64,
    pub from: u64,
    pub to: u64,
    pub tag: u64,
    pub heap: Range<u64>,
    pub place: Range<u64>,
    pub from_len: usize,
    pub to_len: usize,
}

/// A program that is stopped before its calls.
#[derive(Debug)]
pub struct Subject {
    pub name: String,
    /// The program's file.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub image: Image,
    pub verbs: Vec<Verb>,
    /// The program's numbers of `ROWS` and `ARM_ROWS`, or `None` for a row that it lacks.
    pub rows: [Option<u64>; ROW_COUNT],
    pub call: u64,
    pub perform: u64,
    /// Its description of the work before its calls.
    pub before: String,
    /// True if its calls may read the environment, which is empty.
    pub has_environment: bool,
    /// The row whose processor it was given, if any.
    pub on: Option<usize>,
    /// The bytes of an iteration of its loop on each row, for an induction.
    pub turns: [usize; ROW_COUNT],
    /// The bytes of the longest text, if it is not the standard's.
    pub longest: Option<u64>,
    /// True if proofs of any length assume the right tag, because a refused text is zeroed in a loop.
    pub right_only: bool,
    /// The patched bytes of its code.
    patches: Vec<(u64, u8)>,
    arena: Range<u64>,
}

/// The return address of a call.
pub const RETURN: u64 = 0x1234_5678_9abc;
/// The stack that a call may use.
const STACK: u64 = 1 << 20;
/// The number of unknown bytes on each side of a buffer.
const AROUND: u64 = 64;

impl Subject {
    /// Starts a program with the interface of `victim`.
    pub fn start(name: &str, program: &Path, arguments: &[String]) -> Result<Self> {
        let (image, _) = Image::of(program, arguments)?;
        Self::of(name, program, arguments, image, None)
    }

    /// Starts a program on a row's processor, with the row's name as an argument.
    pub fn on(name: &str, program: &Path, row: usize) -> Result<Self> {
        let arguments = [self::row(row).0.to_owned()];
        let image = match row.checked_sub(ROWS.len()) {
            None => Image::on(program, &arguments, &ROWS[row].1)?.0,
            Some(arm) => Process::start(program, &arguments, ARM_ROWS[arm].1, &[])?.image(program)?,
        };
        Self::of(name, program, &arguments, image, Some(row))
    }

    /// Returns a process of it that is stopped at its marker.
    pub fn process(&self) -> Result<Traced> {
        let traced = match self.on {
            Some(row) => Image::arrived(&self.program, &self.arguments, &ROWS[row].1)?.0,
            None => {
                let mut traced = Traced::start(&self.program, &self.arguments)?;
                traced.next_marker()?;
                traced
            }
        };
        let memory = writable(&traced)?;
        self.patches.iter().try_for_each(|(at, byte)| memory.write_all_at(&[*byte], *at)).map_err(|e| e.to_string())?;
        Ok(traced)
    }

    /// Returns a process for AArch64 that is stopped at its marker.
    pub fn arm_process(&self) -> Result<Process> {
        let arm = self.on.and_then(|row| row.checked_sub(ROWS.len())).ok_or("a program of x86-64")?;
        Ok(Process::start(&self.program, &self.arguments, ARM_ROWS[arm].1, &self.patches)?)
    }

    /// Sets a process of AArch64 to the beginning of a call, which returns to `back`.
    pub fn begin(&self, process: &mut Process, case: &Case, back: u64) -> Result<()> {
        let mut general = process.general()?;
        (general.words[0], general.words[arm::LINK], general.words[arm::STACK]) = (self.call, back, self.top(case));
        general.at = self.perform;
        Ok(process.set_general(&general)?)
    }

    /// Replaces a byte.
    pub fn patch(&mut self, at: u64, byte: u8) -> Result<()> {
        self.image.patch(at, byte).ok_or_else(|| format!("{at:#x} is nowhere in the program"))?;
        self.patches.push((at, byte));
        Ok(())
    }

    pub fn is_patched(&self) -> bool {
        !self.patches.is_empty()
    }

    fn of(name: &str, program: &Path, arguments: &[String], image: Image, on: Option<usize>) -> Result<Self> {
        let [call, perform, arena, size, at, length] = image.marker.arguments;
        let arena = arena..arena + size;
        let description = image.string(at, length as usize).ok_or("the program tells nothing of its verbs")?;
        let description = String::from_utf8_lossy(description).into_owned();
        let (mut verbs, mut rows, mut row) = (Vec::new(), [None; ROW_COUNT], 0);
        let (mut number, mut before, mut has_environment) = (0, String::new(), false);
        for line in description.lines() {
            if let Some(line) = line.strip_prefix("verb;") {
                let plain = symbols::plain(line);
                verbs.push(Verb::parse(number, &plain).ok_or_else(|| format!("the program tells of a verb that is none: {plain}"))?);
                number += 1;
            } else if let Some(name) = line.strip_prefix("row;") {
                if let Some(known) = row_of(name) {
                    rows[known] = Some(row);
                }
                row += 1;
            } else if let Some(done) = line.strip_prefix("before;") {
                before = symbols::plain(done);
            } else if line == "environment;empty" {
                has_environment = true;
            }
        }
        let (name, program, arguments) = (name.to_owned(), program.to_owned(), arguments.to_owned());
        Ok(Self {
            name,
            program,
            arguments,
            image,
            verbs,
            rows,
            call,
            perform,
            before,
            has_environment,
            on,
            turns: [0; ROW_COUNT],
            longest: None,
            right_only: false,
            patches: Vec::new(),
            arena,
        })
    }

    pub fn verb(&self, name: &str) -> Option<usize> {
        self.verbs.iter().position(|verb| verb.name == name)
    }

    /// Returns the address of `perform`'s pointer to the second text; the length follows it, and the pointer to the first text precedes it.
    pub fn second_text(&self) -> u64 {
        self.call + 8 * 12
    }

    /// Returns the address of its pointer to the AAD.
    pub fn aad(&self) -> u64 {
        self.call + 8 * 8
    }

    /// Returns the addresses of a case's buffers.
    pub fn places(&self, case: &Case) -> Result<Places> {
        let verb = &self.verbs[case.verb];
        let text = case.text;
        let (from_len, to_len) = match verb.shape {
            Shape::InPlace => (0, text),
            Shape::Apart => (text, text),
            Shape::InPlaceBehind => (0, text + verb.behind()),
            Shape::Behind if verb.opens => (text + verb.behind(), text),
            Shape::Behind => (text, text + verb.behind()),
            Shape::Read => (text, 0),
        };
        let (heap_len, place_len) = (8 * text + (32 << 10), 64 << 10);
        let sizes = [case.key, case.nonce, case.aad, from_len, to_len, verb.behind(), heap_len, place_len];
        let Layout { moved, ends_pages, reversed, .. } = case.layout;
        let mut starts = [0; 8];
        let mut next = self.arena.start + 4096;
        for n in 0..8 {
            let n = if reversed { 7 - n } else { n };
            let by = match moved.get(n) {
                None => 0,
                Some(_) if ends_pages => sizes[n].next_multiple_of(4096) as u64 - sizes[n] as u64,
                Some(by) => *by,
            };
            starts[n] = next + by;
            next = (starts[n] + sizes[n] as u64 + AROUND).next_multiple_of(4096) + 4096;
        }
        if next > self.arena.end {
            stop!("the program has no room for a text of {text} bytes");
        }
        let [key, nonce, aad, from, to, tag, heap, place] = starts;
        let (heap, place) = (heap..heap + heap_len as u64, place..place + place_len as u64);
        Ok(Places { key, nonce, aad, from, to, tag, heap, place, from_len, to_len })
    }

    /// Returns the top of a call's stack: on x86-64 a function is entered 8 bytes below, where [`RETURN`] is.
    pub fn top(&self, case: &Case) -> u64 {
        Self::below(self.image.marker.stack, case)
    }

    /// Returns the top of a call's stack in another process with this stack pointer.
    pub fn below(rsp: u64, case: &Case) -> u64 {
        ((rsp - 4096) & !15) - 16 * case.layout.stack
    }

    /// Returns a machine that is about to call. Its registers are unknown except the call's arguments.
    pub fn machine<'a>(&'a self, decoded: &'a mut Decoded, case: &Case, seed: Seed) -> Result<Machine<'a>> {
        let top = self.top(case);
        let scratch = self.image.stack.start.min(top) - STACK..top;
        let mut machine = Machine::new(&self.image, decoded, row(case.row).1, seed, self.perform, scratch);
        machine.memory.nameless = self.around(&self.places(case)?);
        if self.image.stack.contains(&top) {
            machine.memory.foreign = top..self.image.stack.end;
            let Range { start, end } = self.image.auxiliary;
            machine.memory.auxiliary = start - if self.has_environment { 8 } else { 0 }..end;
        }
        self.enter(&mut machine, case)?;
        Ok(machine)
    }

    /// Sets a machine to the beginning of a call.
    fn enter(&self, machine: &mut Machine<'_>, case: &Case) -> Result<()> {
        let top = self.top(case);
        machine.rip = self.perform;
        match self.image.isa {
            Isa::X86 => {
                machine.general[Register::RSP.number()] = Word::Number(top - 8);
                machine.memory.put(top - 8, &RETURN.to_le_bytes().map(byte))?;
                machine.general[Register::RDI.number()] = Word::Number(self.call);
            }
            Isa::Arm => {
                machine.general[arm::LINK] = Word::Number(RETURN);
                machine.general[0] = Word::Number(self.call);
            }
        }
        for (i, word) in self.words(case)?.into_iter().enumerate() {
            machine.memory.put(self.call + 8 * i as u64, &bytes(&word.to_le_bytes()))?;
        }
        Ok(())
    }

    /// Prepares a machine for another call. Its registers, and the stack that was used, become unknown.
    pub(crate) fn again(&self, machine: &mut Machine<'_>, case: &Case) -> Result<()> {
        let top = self.top(case);
        machine.forget_registers();
        machine.memory.forget_below(top);
        machine.memory.forget(self.around(&self.places(case)?));
        machine.asked.clear();
        self.enter(machine, case)
    }

    /// Returns the range of a call's arguments with their surroundings, which are unknown and belong to no one.
    fn around(&self, places: &Places) -> Range<u64> {
        let parts = [places.key, places.nonce, places.aad, places.from, places.to, places.tag, places.heap.start, places.place.start];
        let ends = [places.heap.end, places.place.end, places.to + places.to_len as u64, places.from + places.from_len as u64];
        let (first, last) = (parts.into_iter().min().unwrap_or_default(), parts.into_iter().chain(ends).max().unwrap_or_default());
        first - 4096..last + 4096
    }

    /// Returns the memory that a call may write.
    pub(crate) fn own(&self, case: &Case, places: &Places) -> Own {
        let verb = &self.verbs[case.verb];
        // An opening only reads the tag.
        let tag = places.tag..places.tag + if verb.opens { 0 } else { verb.behind() as u64 };
        let ranges = vec![places.to..places.to + places.to_len as u64, tag, places.heap.clone(), places.place.clone()];
        let range = |at: u64, n: usize| at..at + n as u64;
        let arguments = vec![
            ("key", range(places.key, case.key)),
            ("nonce", range(places.nonce, case.nonce)),
            ("AAD", range(places.aad, case.aad)),
            ("text that is read", range(places.from, places.from_len)),
            ("text that is written", range(places.to, places.to_len)),
            ("tag", range(places.tag, verb.behind())),
        ];
        Own { ranges, near: self.around(places), arguments, allocates: verb.allocates }
    }

    /// Returns the words that describe the call to `perform`.
    pub fn words(&self, case: &Case) -> Result<[u64; 20]> {
        let places = self.places(case)?;
        let (place, heap) = (&places.place, &places.heap);
        let Some(row) = self.rows[case.row] else { stop!("the program has no row {}", self::row(case.row).0) };
        let len = |n: usize| n as u64;
        Ok([
            self.verbs[case.verb].number,
            row,
            len(case.cuts[0]),
            len(case.cuts[1]),
            places.key,
            len(case.key),
            places.nonce,
            len(case.nonce),
            places.aad,
            len(case.aad),
            places.from,
            len(places.from_len),
            places.to,
            len(places.to_len),
            places.tag,
            len(self.verbs[case.verb].behind()),
            heap.start,
            heap.end - heap.start,
            place.start,
            place.end - place.start,
        ])
    }
}

/// Places bytes in memory, with unknown bytes around them.
pub fn place(memory: &mut Memory<'_>, around: &[Byte], at: u64, what: &[Byte]) -> Result<()> {
    let (before, behind) = around.split_at(AROUND as usize);
    memory.put(at - AROUND, before)?;
    memory.put(at + what.len() as u64, &behind[..AROUND as usize])?;
    memory.put(at, what)
}

/// The number of unknown bytes that [`place`] needs.
pub const AROUND_BOTH: usize = 2 * AROUND as usize;
