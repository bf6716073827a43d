//! Contenders in other processes, which take their samples when it is their turn and say how long these took, by their own clock: those of another
//! language.
//!
//! One line of question, one line of answer:
//! ```text
//! version                             -> whatever it says of itself
//! answer xKEY xNONCE xAAD xTEXT       -> xSEALED, in hexadecimal behind an x, after it was opened again and refused with a wrong tag
//! case VERB KEYBYTES BYTES AAD        -> ok
//! run ITERATIONS                      -> nanoseconds, of the case
//! ```
//! An answer that begins with `error` is one.

use crate::{
    Contender,
    aead::{AnyImplementation, Buffers, Verb, Work},
};
use std::{
    cell::RefCell,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

/// A process that is asked.
#[derive(Debug)]
pub struct Process {
    name: String,
    version: String,
    child: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    /// The case that it has been told last.
    case: RefCell<String>,
}

impl Process {
    /// Starts it, and asks for its version. `name`: the column of the table.
    ///
    /// # Errors
    /// If it cannot be started, or does not answer.
    pub fn start(name: impl Into<String>, command: &mut Command) -> Result<Self, String> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return Err("no pipes".into()) };
        let pipes = RefCell::new((input, BufReader::new(output)));
        let mut process = Self { name: name.into(), version: String::new(), child, pipes, case: RefCell::default() };
        process.version = process.ask("version")?;
        Ok(process)
    }

    /// What it says of itself.
    pub fn version(&self) -> &str {
        &self.version
    }

    fn ask(&self, question: &str) -> Result<String, String> {
        let (input, output) = &mut *self.pipes.borrow_mut();
        let mut line = String::new();
        let asked = writeln!(input, "{question}").and_then(|()| input.flush()).and_then(|()| output.read_line(&mut line));
        match (asked, line.trim()) {
            (Ok(_), "") => Err("it has ended".into()),
            (Ok(_), line) if line.starts_with("error") => Err(line.into()),
            (Ok(_), line) => Ok(line.into()),
            (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => Err("it has ended".into()),
            (Err(error), _) => Err(error.to_string()),
        }
    }

    fn run(&self, case: &str, iterations: u64) -> Result<Duration, String> {
        if *self.case.borrow() != case {
            self.ask(case)?;
            case.clone_into(&mut self.case.borrow_mut());
        }
        let answer = self.ask(&format!("run {iterations}"))?;
        answer.parse().map(Duration::from_nanos).map_err(|_| format!("no nanoseconds: {answer}"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl AnyImplementation for Process {
    fn name(&self) -> String {
        self.name.clone()
    }

    /// # Panics
    /// In a sample, if the process has ended.
    fn contender<'a>(&'a self, work: Work, _: &'a Buffers) -> Option<Contender<'a>> {
        let verb = VERBS.iter().find(|(verb, _)| *verb == work.verb)?.1;
        let case = format!("case {verb} {} {} {}", work.key_bits / 8, work.bytes, work.aad);
        self.run(&case, 1).ok()?;
        let name = self.name.clone();
        Some(Contender::timed(name, move |iterations| match self.run(&case, iterations) {
            Ok(time) => time,
            Err(why) => panic!("{}: {why}", self.name),
        }))
    }

    fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let sealed = self.ask(&format!("answer {} {} {} {}", hex(key), hex(nonce), hex(aad), hex(text)))?;
        bytes(&sealed).map(Some).ok_or_else(|| format!("no hexadecimal: {sealed}"))
    }
}

const VERBS: [(Verb, &str); 3] = [(Verb::Key, "key"), (Verb::Seal, "seal"), (Verb::Open, "open")];

/// Behind an x, so that nothing is a word, too.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("x".into(), |text, byte| text + &format!("{byte:02x}"))
}

fn bytes(word: &str) -> Option<Vec<u8>> {
    let digits = word.strip_prefix('x')?;
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn who_does_not_answer() {
        assert!(Process::start("nobody", &mut Command::new("/no/such/program")).is_err());
        let silent = Process::start("silent", Command::new("sh").args(["-c", "read question"]));
        assert_eq!(silent.unwrap_err(), "it has ended");
        let one =
            Process::start("one", Command::new("sh").args(["-c", "read question; echo one 1.0; read question; echo error: no"])).unwrap();
        assert_eq!(one.version(), "one 1.0");
        let work = Work { verb: Verb::Seal, key_bits: 128, bytes: 16, aad: 0 };
        assert!(one.contender(work, &Buffers::new(0, 0)).is_none());
    }
}
