//! Tests a program at the other end of two pipes, for languages that make no shared object.
//!
//! All numbers are little-endian. The program writes one line first:
//! `name|version|offers|keys|tags|nonce_min|nonce_max|block|algorithm`, numbers as in `aead.h` (`offers` 256: whole
//! messages; 512: it works on the referee's memory; without the last number it is AES-GCM). Then it reads requests from standard input until that ends:
//!
//! ```text
//! u32 x 8       seals (1 or 0), in pieces (1 or 0), bytes of key, nonce, AAD, text and tag, number of pieces
//! u32           how many of these pieces are AAD
//! u32 x number  the length of each piece
//! bytes         key, nonce, AAD, text, and the tag if it opens
//! ```
//!
//! and answers each with a byte (1 done, 0 refused), followed, if it is done, by the text, and by the tag if it seals.
//!
//! Memory: `REFEREE_MEMORY` is a folder with the files `key`, `nonce`, `AAD`, `input`, `output` and `tag`. A program with 512 maps all of them
//! before its first line. The referee then truncates their last page; each buffer ends there, or is followed by canary bytes. Instead of bytes a
//! request has seven numbers: the offsets of key, nonce, AAD, input, output and tag in their files, and 1 if the input is in the file `output`.
//! With 32 (AEAD_TAG_BEHIND) the tag follows the ciphertext in its buffer. The program answers with the byte alone; 2 means that it accessed
//! memory out of bounds. `tools/aead/libraries/referee.py` has both protocols.

use crate::{
    cases::{Buffers, Case, Mode},
    memory::Arena,
    message::{Layout, whole},
    peer::{About, Answer, Memory},
};
use aead_plugin::{Message, TAG_BEHIND};
use std::{
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::ExitStatusExt,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// The bit of `offers` for whole messages.
const WHOLE: u32 = 256;
/// The bit of `offers` for the referee's memory.
const MEMORY: u32 = 512;
/// The beginning of a message about an access to a guard page.
pub(crate) const OUT_OF_BOUNDS: &str = "touches a page behind a buffer";

/// A running program.
pub(crate) struct Process {
    pub(crate) about: About,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The referee's memory, if the program works on it.
    memory: Option<Arena>,
}

/// Returns the error for a first line that cannot be parsed.
fn bad_first_line(command: &[String], line: &str) -> String {
    format!("{}: its first line is {line:?}, not NAME|VERSION|NUMBERS; --loud shows what else it says", command.join(" "))
}

impl Process {
    pub(crate) fn start(command: &[String], like: &Arena) -> Result<Self, String> {
        let text = |error: std::io::Error| format!("{}: {error}", command.join(" "));
        let [name, arguments @ ..] = command else { return Err("no command".into()) };
        // A folder that nobody else can create, and that is always removed.
        let folder = tempfile::tempdir().map_err(text)?;
        let memory = like.shared(folder.path()).map_err(text)?;
        let mut program = Command::new(name);
        program.args(arguments).env("REFEREE_MEMORY", folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = program.spawn().map_err(text)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).map_err(text)?;
        drop(folder); // the program has mapped the files by now
        let fields: Vec<&str> = line.trim_end().split('|').collect();
        let [name, version, numbers @ ..] = fields.as_slice() else {
            return Err(bad_first_line(command, &line));
        };
        let numbers: Vec<usize> = numbers.iter().map_while(|number| number.parse().ok()).collect();
        let [offers, keys, tags, nonce_min, nonce_max, block, ref algorithm @ ..] = numbers[..] else {
            return Err(bad_first_line(command, &line));
        };
        let memory = Some(memory).filter(|_| offers as u32 & MEMORY != 0);
        memory.iter().flat_map(Arena::all).try_for_each(crate::memory::Region::fence).map_err(text)?;
        let about = About {
            name: (*name).into(),
            version: (*version).into(),
            offers: offers as u32,
            keys: keys as u32,
            tags: tags as u32,
            nonces: (nonce_min, nonce_max),
            block,
            algorithm: algorithm.first().map_or(0, |number| *number as u32),
            whole: offers as u32 & WHOLE != 0,
            memory: if memory.is_some() { Memory::Mapped } else { Memory::Its },
            ..About::default()
        };
        Ok(Self { about, child, input, output, memory })
    }

    pub(crate) fn ask(&mut self, case: &Case) -> Result<Answer, String> {
        let (nonce, aad, text, tag) = (case.nonce(), case.aad(), case.input(), case.tag());
        let (pieces, aads) = match &case.mode {
            Mode::Pieces { aad, text, .. } => ([&aad[..], text].concat(), aad.len()),
            _ => (Vec::new(), 0),
        };
        let whole_message = usize::from(!case.whole());
        let head =
            [usize::from(case.seals), whole_message, case.of.key.len(), nonce.len(), aad.len(), text.len(), case.tag, pieces.len(), aads];
        let mut request: Vec<u8> = head.iter().chain(&pieces).flat_map(|number| (*number as u32).to_le_bytes()).collect();
        if let Some(mut memory) = self.memory.take() {
            let layout = if self.about.offers & TAG_BEHIND != 0 { Layout::Behind } else { Layout::Apart };
            let key = memory.key.put(case.place, &case.of.key);
            let answer = whole(layout, case, &mut memory, &mut |message, arena| {
                let Message { nonce, aad, input, output, tag, .. } = *message;
                let shared = case.buffers != Buffers::Two;
                let read = if shared { &arena.output } else { &arena.input };
                let own = match (layout, case.seals) {
                    (Layout::Apart, _) => &arena.tag,
                    (_, true) => &arena.output,
                    (_, false) => read,
                };
                let places = [arena.key.offset(key), arena.nonce.offset(nonce), arena.aad.offset(aad), read.offset(input)];
                let more = [arena.output.offset(output), own.offset(tag), usize::from(shared)];
                request.extend(places.iter().chain(&more).flat_map(|number| (*number as u32).to_le_bytes()));
                match self.exchange(&request, &mut [])? {
                    2 => Err(OUT_OF_BOUNDS.into()),
                    done => Ok(done == 1),
                }
            });
            self.memory = Some(memory);
            return answer;
        }
        for bytes in [&case.of.key, &nonce, &aad, &text] {
            request.extend(bytes);
        }
        if !case.seals {
            request.extend(tag);
        }
        let mut answer = Answer { output: vec![0; text.len()], tag: vec![0; if case.seals { case.tag } else { 0 }], ..Answer::default() };
        let done = self.exchange(&request, &mut [&mut answer.output, &mut answer.tag])?;
        Ok(if done == 1 { Answer { done: true, ..answer } } else { Answer::default() })
    }

    /// Sends a request, and reads the byte of the answer, and what follows if that is 1.
    fn exchange(&mut self, request: &[u8], rest: &mut [&mut Vec<u8>]) -> Result<u8, String> {
        let mut done = [0];
        let mut exchange = || {
            self.input.write_all(request)?;
            self.input.flush()?;
            self.output.read_exact(&mut done)?;
            if done[0] == 1 {
                rest.iter_mut().try_for_each(|bytes| self.output.read_exact(bytes))?;
            }
            std::io::Result::Ok(done[0])
        };
        exchange().map_err(|error| match self.child.wait().map(|status| status.signal()) {
            Ok(Some(libc::SIGBUS | libc::SIGSEGV)) if self.about.memory == Memory::Mapped => {
                format!("{OUT_OF_BOUNDS}, which ends its process")
            }
            Ok(Some(signal)) => format!("its process has ended by signal {signal}"),
            _ => format!("its process has ended: {error}"),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
