//! Implementations under test: a table of C functions, or a program at the other end of two pipes.

use crate::{
    cases::{Before, Buffers, Case, Expected, Mode},
    faulty,
    memory::{Arena, Region},
    message::{Layout, Running, by_threads, whole},
    pipe::Process,
    prepare::is_setting,
};
use aead_load::{checked, open, string};
use aead_plugin::{GIVES_TAG, IN_PLACE, KEEPS, NULL, ONE_AAD, OVERLAP, SYMBOL, TAG_BEHIND, THREADS, Table};
use std::{
    env,
    ffi::{c_int, c_void},
    path::Path,
    ptr,
};

/// The name of the built-in model, with the fault that `REFEREE_FAULT` names.
pub(crate) const MODEL: &str = "model";

/// An implementation's description of itself and of what it offers.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) offers: u32,
    pub(crate) keys: u32,
    pub(crate) tags: u32,
    pub(crate) nonces: (usize, usize),
    /// The block size of pieces, or 0 without pieces.
    pub(crate) block: usize,
    pub(crate) whole: bool,
    pub(crate) copy: bool,
    pub(crate) nonce_first: bool,
    pub(crate) again: bool,
    pub(crate) algorithm: u32,
    /// The memory on which it works.
    pub(crate) memory: Memory,
}

/// The memory that an implementation reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Memory {
    /// The referee's, between guard pages.
    #[default]
    Ours,
    /// The referee's, with a guard page after each buffer.
    Mapped,
    /// Its own, in which out-of-bounds accesses are not detected.
    Its,
}

impl About {
    /// Returns true if it offers what the case needs.
    pub(crate) fn offered(&self, case: &Case) -> bool {
        let of = &case.of;
        let key = self.keys >> (of.key.len() / 8 - 2) & 1 == 1 && self.algorithm == of.algorithm;
        let (least, most) = self.nonces;
        let nonce = (least..=most).contains(&of.nonce.len()) || case.expected == Expected::Never && of.nonce.is_empty() && least < most;
        let has_tag = |tag: usize| tag < 32 && self.tags >> tag & 1 == 1;
        // An interface with one length of tag often has no argument for it.
        let tag = self.algorithm != 0
            || has_tag(case.tag)
            || case.expected == Expected::Never && self.tags.count_ones() > 1 && self.offers & GIVES_TAG == 0;
        // An implementation that offers a length is not tested for refusing it.
        let offered = case.expected == Expected::Never && !of.nonce.is_empty() && has_tag(case.tag);
        let buffers = match case.buffers {
            Buffers::Two => true,
            Buffers::InPlace => self.offers & IN_PLACE != 0,
            Buffers::Shifted(_) => self.offers & OVERLAP != 0,
        };
        let place = case.place != crate::cases::Place::Null || self.offers & NULL != 0;
        let mode = match &case.mode {
            Mode::Threads(_) => self.whole && self.offers & THREADS != 0,
            Mode::Whole => self.whole || self.block > 0 && !matches!(case.buffers, Buffers::Shifted(_)),
            Mode::Pieces { text, copy, nonce_first, aad, again } => {
                let whole_blocks = |pieces: &[usize]| {
                    let all_but_one = &pieces[..pieces.len().saturating_sub(1)];
                    all_but_one.iter().all(|piece| piece % self.block == 0)
                };
                self.block > 0
                    && whole_blocks(text)
                    && whole_blocks(aad)
                    && (aad.len() < 2 || self.offers & ONE_AAD == 0)
                    && (copy.is_none() || self.copy)
                    && (!nonce_first || self.nonce_first)
                    && (*again == Before::No || self.again)
            }
        };
        let freed = case.family != "freed" || self.offers & KEEPS == 0 && self.memory == Memory::Ours;
        key && nonce && tag && !offered && buffers && place && mode && freed
    }

    /// Describes what it does not offer.
    pub(crate) fn lacks(&self) -> String {
        let mut lacks = Vec::new();
        let mut add = |missing: bool, what: &str| {
            if missing {
                lacks.push(what.to_owned());
            }
        };
        add(self.keys & 1 == 0, "AES-128");
        add(self.keys & 2 == 0, "AES-192");
        add(self.keys & 4 == 0, "AES-256");
        add(self.algorithm == 0 && self.nonces.0 == self.nonces.1, "other nonces");
        add(self.algorithm == 0 && self.tags.count_ones() == 1, "short tags");
        add(!self.whole, "whole messages");
        add(self.offers & IN_PLACE == 0, "in place");
        add(self.offers & OVERLAP == 0, "overlap");
        add(self.block == 0, "pieces");
        add(self.block > 1, &format!("pieces but of {} bytes", self.block));
        add(self.offers & ONE_AAD != 0, "AAD in pieces");
        add(self.block > 0 && !self.copy, "copies");
        add(self.block > 0 && !self.nonce_first, "nonce before key");
        add(self.block > 0 && !self.again, "contexts again");
        add(self.whole && self.offers & THREADS == 0, "threads");
        lacks.join(", ")
    }
}

/// The answer to a case.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) done: bool,
    pub(crate) output: Vec<u8>,
    pub(crate) tag: Vec<u8>,
    /// The answer of the context's copy.
    pub(crate) copied: Option<Box<Answer>>,
    /// Descriptions of out-of-bounds accesses.
    pub(crate) outside: Vec<String>,
}

/// An implementation.
pub(crate) enum Peer {
    C(InC),
    Process(Box<Process>),
}

impl Peer {
    /// Loads a shared object, or starts a program, with the environment variables (`NAME=VALUE`) that precede it.
    pub(crate) fn load(command: &[String], arena: &Arena) -> Result<Self, String> {
        let words = command.iter().take_while(|word| is_setting(word)).count();
        for (name, value) in command[..words].iter().filter_map(|word| word.split_once('=')) {
            // SAFETY: this process has one thread.
            unsafe { env::set_var(name, value) };
        }
        match &command[words..] {
            [model] if model == MODEL => InC::of(faulty::table()).map(Self::C),
            [library] if library.ends_with(".so") => InC::load(Path::new(library)).map(Self::C),
            command => Process::start(command, arena).map(|process| Self::Process(Box::new(process))),
        }
    }

    pub(crate) fn about(&self) -> &About {
        match self {
            Self::C(peer) => &peer.about,
            Self::Process(peer) => &peer.about,
        }
    }

    /// Runs a case.
    pub(crate) fn ask(&mut self, case: &Case, arena: &mut Arena) -> Result<Answer, String> {
        match self {
            Self::C(peer) => peer.ask(case, arena),
            Self::Process(peer) => peer.ask(case),
        }
    }
}

/// An implementation in this process.
pub(crate) struct InC {
    about: About,
    table: &'static Table,
    /// The last key. It is used for several messages, because refusing a message must not affect a key.
    key: Option<(Vec<u8>, *mut c_void, usize)>,
}

/// The number of messages for one key: more than a byte can count.
const MESSAGES_PER_KEY: usize = 300;

impl InC {
    fn load(library: &Path) -> Result<Self, String> {
        Self::of(open(library, &env::var("REFEREE_TABLE").unwrap_or_else(|_| SYMBOL.into()), 0)?)
    }

    fn of(table: &'static Table) -> Result<Self, String> {
        let table = checked(table)?;
        // SAFETY: functions as the header requires.
        let version = unsafe {
            let why = table.start.map_or(ptr::null(), |start| start(ptr::null()));
            if !why.is_null() {
                return Err(format!("it does not start: {}", string(why)));
            }
            table.version.map(|version| string(version())).unwrap_or_default()
        };
        let about = About {
            // SAFETY: a string, by the header.
            name: unsafe { string(table.name) },
            version,
            offers: table.offers,
            keys: table.keys,
            tags: table.tags,
            nonces: (table.nonce_min, table.nonce_max),
            block: if table.begin.is_some() { table.block } else { 0 },
            whole: table.seal.is_some(),
            copy: table.copy.is_some(),
            nonce_first: table.nonce_first.is_some(),
            again: table.again.is_some(),
            algorithm: table.algorithm,
            memory: Memory::Ours,
        };
        Ok(Self { about, table, key: None })
    }

    fn key(&mut self, case: &Case, arena: &mut Arena) -> Result<*mut c_void, String> {
        if let Some((bytes, key, left)) = &mut self.key
            && *bytes == case.of.key
            && *left > 0
        {
            *left -= 1;
            return Ok(*key);
        }
        self.forget();
        let at = arena.key.put(crate::cases::Place::End, &case.of.key);
        // SAFETY: a key of this length.
        let key = unsafe { self.table.key.expect("`of` looked")(at, case.of.key.len()) };
        if key.is_null() {
            return Err("refuses the key".into());
        }
        self.key = Some((case.of.key.clone(), key, MESSAGES_PER_KEY));
        Ok(key)
    }

    fn forget(&mut self) {
        if let Some((_, key, _)) = self.key.take() {
            // SAFETY: the table's own function made it, and nobody uses it any more.
            unsafe { self.table.free.expect("`of` looked")(key) }
        }
    }

    fn ask(&mut self, case: &Case, arena: &mut Arena) -> Result<Answer, String> {
        let (table, behind) = (self.table, self.about.offers & TAG_BEHIND != 0);
        match &case.mode {
            Mode::Whole if self.about.whole => {
                let key = self.key(case, arena)?;
                let function = if case.seals { table.seal } else { table.open };
                let layout = if behind { Layout::Behind } else { Layout::Apart };
                // SAFETY: a key of this implementation, and a message as the header requires.
                whole(layout, case, arena, &mut |message, _| Ok(unsafe { function.expect("`of` looked")(key, message) } != 0))
            }
            Mode::Threads(other) => {
                let key = self.key(case, arena)?;
                match by_threads(table, behind, key, &case.of, other) {
                    Some(wrong) => Err(wrong),
                    None => Ok(Answer { done: true, output: case.output().to_vec(), tag: case.tag(), ..Answer::default() }),
                }
            }
            _ => self.pieces(table, case, arena, &case.nonce(), &case.aad(), &case.tag()),
        }
    }

    /// Uses and frees a key: the case's with inverted bits. Keeps no copy of it.
    pub(crate) fn used_and_freed(&mut self, case: &Case, arena: &mut Arena) -> Result<(), String> {
        self.forget();
        let at = arena.key.place(crate::cases::Place::End, case.of.key.len(), 0);
        arena.key.bytes_mut().iter_mut().zip(&case.of.key).for_each(|(to, byte)| *to = !byte);
        // SAFETY: a key of this length.
        let key = unsafe { self.table.key.expect("`of` looked")(at, case.of.key.len()) };
        arena.key.bytes_mut().fill(0);
        if key.is_null() {
            return Err("refuses the key".into());
        }
        // It stands for the key of the case, and its answers are ignored.
        self.key = Some((case.of.key.clone(), key, MESSAGES_PER_KEY));
        self.ask(case, arena)?;
        self.forget();
        Ok(())
    }

    fn pieces(&mut self, table: &Table, case: &Case, arena: &mut Arena, nonce: &[u8], aad: &[u8], tag: &[u8]) -> Result<Answer, String> {
        let one = Mode::Pieces { aad: one(aad.len()), text: one(case.of.text.len()), copy: None, nonce_first: false, again: Before::No };
        let mode = if case.whole() { &one } else { &case.mode };
        let Mode::Pieces { aad: aads, text: texts, copy, nonce_first, again } = mode else {
            return Err("no pieces".into());
        };
        let seals = c_int::from(case.seals);
        let nonce_at = arena.nonce.put(case.place, nonce);
        // SAFETY: buffers of these lengths.
        let run = unsafe {
            if *nonce_first {
                let key = arena.key.put(case.place, &case.of.key);
                table.nonce_first.expect("offered")(key, case.of.key.len(), seals, nonce_at, nonce.len(), case.tag)
            } else {
                let key = self.key(case, arena)?;
                table.begin.expect("offered")(key, seals, nonce_at, nonce.len(), case.tag)
            }
        };
        if run.is_null() {
            return Ok(Answer::default());
        }
        let mut answer = Answer::default();
        if *again != Before::No {
            // Another message, whose nonce, AAD and text are other bytes.
            let other: Vec<u8> = (0..100).collect();
            let at = other.as_ptr();
            let mut written = vec![0; 100];
            let mut tag = vec![7; case.tag];
            let text = if let Before::Aborted(at) = *again { at } else { 48 };
            // SAFETY: a run that `begin` made, and buffers that are long enough.
            let begun = unsafe {
                table.again.expect("offered")(run, at.add(3), nonce.len(), case.tag);
                table.aad.expect("offered")(run, at, 13);
                table.update.expect("offered")(run, at, written.as_mut_ptr(), text);
                if *again == Before::Refused {
                    table.finish.expect("offered")(run, tag.as_mut_ptr(), case.tag);
                }
                table.again.expect("offered")(run, nonce_at, nonce.len(), case.tag)
            };
            if begun == 0 {
                // SAFETY: the run has ended.
                unsafe { table.drop.expect("offered")(run) };
                return Err("does not begin again".into());
            }
        }
        answer.outside.extend([&arena.key, &arena.nonce].into_iter().filter_map(Region::touched));
        answer.outside.extend((arena.nonce.bytes() != nonce).then(|| "changes the nonce".into()));
        let mut running = Running { table, run, case, arena, tag };
        let mut done = running.aads(aads, aad, &mut answer);
        let input = case.input();
        let cut = copy.unwrap_or(texts.len()).min(texts.len());
        let (before, behind) = texts.split_at(cut);
        let read: usize = before.iter().sum();
        done = done && running.texts(before, &input[..read], &mut answer);
        if copy.is_some() && done {
            // SAFETY: a run that `begin` made.
            let second = unsafe { table.copy.expect("offered")(run) };
            let mut copied = Answer { output: answer.output.clone(), ..Answer::default() };
            if !second.is_null() {
                // The first run ends before the other one continues.
                copied.done = done;
                answer.done = running.texts(behind, &input[read..], &mut answer) && running.finish(&mut answer);
                // SAFETY: the run has ended.
                unsafe { table.drop.expect("offered")(run) };
                running.run = second;
                copied.done = running.texts(behind, &input[read..], &mut copied) && running.finish(&mut copied);
                // SAFETY: the run has ended.
                unsafe { table.drop.expect("offered")(second) };
                answer.copied = Some(Box::new(copied));
                return Ok(answer);
            }
            answer.copied = Some(Box::new(copied));
        }
        answer.done = done && running.texts(behind, &input[read..], &mut answer) && running.finish(&mut answer);
        // SAFETY: the run has ended.
        unsafe { table.drop.expect("offered")(run) };
        Ok(answer)
    }
}

/// Returns the lengths of one piece, or of none if it is empty.
fn one(len: usize) -> Vec<usize> {
    if len == 0 { Vec::new() } else { vec![len] }
}
