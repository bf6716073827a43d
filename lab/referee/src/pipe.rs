//! A program at the other end of two pipes, for languages whose implementations work on memory of their own.
//!
//! All numbers are little-endian. The program writes one line first:
//! `name|version|offers|keys|tags|nonce_min|nonce_max|block`, numbers as in `referee.h` (`offers` 256: whole
//! messages). Then it reads questions from standard input until that ends:
//!
//! ```text
//! u32 x 8       seals (1 or 0), in pieces (1 or 0), bytes of key, nonce, AAD, text and tag, number of pieces
//! u32           how many of these pieces are AAD
//! u32 x number  the length of each piece
//! bytes         key, nonce, AAD, text, tag (which is nothing to read when it seals)
//! ```
//!
//! and answers each with a byte (1 done, 0 refused), and if done with the text, and if it seals with the tag.
//! `plugins/referee.py` has both.

use crate::{
    cases::{Case, Way},
    peer::{About, Answer},
};
use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// Of `offers` in the first line: whole messages.
const WHOLE: u32 = 256;

/// One that runs.
pub(crate) struct Process {
    pub(crate) about: About,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    pub(crate) fn start(command: &[String]) -> Result<Self, String> {
        let text = |error: std::io::Error| format!("{}: {error}", command.join(" "));
        let [program, arguments @ ..] = command else { return Err("no command".into()) };
        let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(text)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line).map_err(text)?;
        let fields: Vec<&str> = line.trim_end().split('|').collect();
        let [name, version, numbers @ ..] = fields.as_slice() else {
            return Err(format!("{}: says {line:?}", command.join(" ")));
        };
        let numbers: Vec<usize> = numbers.iter().map_while(|number| number.parse().ok()).collect();
        let [offers, keys, tags, nonce_min, nonce_max, block] = numbers[..] else {
            return Err(format!("{}: says {line:?}", command.join(" ")));
        };
        let about = About {
            name: (*name).into(),
            version: (*version).into(),
            offers: offers as u32,
            keys: keys as u32,
            tags: tags as u32,
            nonces: (nonce_min, nonce_max),
            block,
            whole: offers as u32 & WHOLE != 0,
            copy: false,
            nonce_first: false,
        };
        Ok(Self { about, child, input, output })
    }

    pub(crate) fn ask(&mut self, case: &Case) -> Result<Answer, String> {
        let (nonce, aad, text, tag) = (case.nonce(), case.aad(), case.input(), case.tag());
        let (pieces, aads) = match &case.way {
            Way::Whole => (Vec::new(), 0),
            Way::Pieces { aad, text, .. } => ([&aad[..], text].concat(), aad.len()),
        };
        let mut question = Vec::new();
        let whole = usize::from(case.way != Way::Whole);
        let head = [usize::from(case.seals), whole, case.of.key.len(), nonce.len(), aad.len(), text.len(), case.tag, pieces.len(), aads];
        for number in head.iter().chain(&pieces) {
            question.extend((*number as u32).to_le_bytes());
        }
        for bytes in [&case.of.key, &nonce, &aad, &text] {
            question.extend(bytes);
        }
        if !case.seals {
            question.extend(tag);
        }
        let mut answer = Answer::default();
        let mut done = [0];
        let mut talk = || {
            self.input.write_all(&question)?;
            self.input.flush()?;
            self.output.read_exact(&mut done)?;
            if done[0] == 1 {
                answer.output.resize(text.len(), 0);
                self.output.read_exact(&mut answer.output)?;
                answer.tag.resize(if case.seals { case.tag } else { 0 }, 0);
                self.output.read_exact(&mut answer.tag)?;
            }
            std::io::Result::Ok(())
        };
        talk().map_err(|error| format!("its process has ended: {error}"))?;
        answer.done = done[0] == 1;
        Ok(answer)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
