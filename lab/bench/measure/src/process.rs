//! Contenders in other processes, which take their samples when it is their turn and say how long these took, by their own clock. So two
//! builds of one library can be compared, which no process can hold.
//!
//! One line of question, one line of answer:
//! ```text
//! version                             -> whatever it says of itself
//! answer xKEY xNONCE xAAD xTEXT       -> xSEALED, in hexadecimal behind an x, after it was opened again and refused with a wrong tag
//! case VERB KEYBYTES BYTES AAD NONCE  -> ok
//! run ITERATIONS                      -> nanoseconds, of the case
//! ```
//! An answer that begins with `error` is one.

use crate::{
    Contender,
    aead::{AnyImplementation, Buffers, NonceFrom, Verb, Work},
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
        let nonce = NONCES.iter().find(|(nonce, _)| *nonce == work.nonce)?.1;
        let case = format!("case {verb} {} {} {} {nonce}", work.key_bits / 8, work.bytes, work.aad);
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

/// The other side: answers with that implementation until `input` ends.
///
/// # Errors
/// Those of the pipes.
pub fn serve(implementation: &dyn AnyImplementation, version: &str, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut lines = input.lines();
    let mut say = |answer: &str| writeln!(output, "{answer}").and_then(|()| output.flush());
    let mut next = lines.next();
    while let Some(line) = next.transpose()? {
        let words: Vec<&str> = line.split(' ').collect();
        let work = work(&words);
        let buffers = work.map(|work| Buffers::new(work.bytes, work.aad));
        let contender = work.zip(buffers.as_ref()).and_then(|(work, buffers)| implementation.contender(work, buffers));
        match (contender, &words[..]) {
            (Some(mut contender), _) => {
                say("ok")?;
                next = loop {
                    let line = lines.next().transpose()?;
                    match line.as_deref().and_then(|line| line.strip_prefix("run ")).and_then(|number| number.parse().ok()) {
                        Some(iterations) => say(&contender.take(0, iterations).as_nanos().to_string())?,
                        None => break line.map(Ok),
                    }
                };
                continue;
            }
            (None, ["version"]) => say(version)?,
            (None, ["answer", key, nonce, aad, text]) => say(&answer(implementation, [key, nonce, aad, text]))?,
            _ => say("error: not what is asked here")?,
        }
        next = lines.next();
    }
    Ok(())
}

const VERBS: [(Verb, &str); 4] = [(Verb::Key, "key"), (Verb::KeyAndSeal, "key-and-seal"), (Verb::Seal, "seal"), (Verb::Open, "open")];
const NONCES: [(NonceFrom, &str); 3] =
    [(NonceFrom::Prepared, "prepared"), (NonceFrom::Written, "written"), (NonceFrom::Dependent, "dependent")];

fn work(words: &[&str]) -> Option<Work> {
    let ["case", verb, key, bytes, aad, nonce] = words else { return None };
    Some(Work {
        verb: VERBS.iter().find(|(_, name)| name == verb)?.0,
        key_bits: 8 * key.parse::<usize>().ok().filter(|key| [16, 24, 32].contains(key))?,
        bytes: bytes.parse().ok()?,
        aad: aad.parse().ok()?,
        nonce: NONCES.iter().find(|(_, name)| name == nonce)?.0,
    })
}

fn answer(implementation: &dyn AnyImplementation, words: [&str; 4]) -> String {
    let [Some(key), Some(nonce), Some(aad), Some(text)] = words.map(bytes) else { return "error: no hexadecimal".into() };
    let Ok(nonce) = nonce.try_into() else { return "error: no nonce of twelve bytes".into() };
    match implementation.answer(&key, &nonce, &aad, &text) {
        Ok(Some(sealed)) => hex(&sealed),
        Ok(None) => "error: no key of that length".into(),
        Err(why) => format!("error: {why}"),
    }
}

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
    use crate::aead::tests::Adder;
    use std::cell::Cell;

    /// What it was asked, it does: the case is told once, and its key is made once.
    #[test]
    fn questions_and_answers() {
        let (nonces, keys) = (RefCell::default(), Cell::new(0));
        let adder = Adder { nonces: &nonces, keys: &keys, fault: 0 };
        let text = b"text";
        let sealed = adder.answer(&[7; 16], &[1; 12], b"aad", text).unwrap().unwrap();
        nonces.take();
        let questions = [
            "version".into(),
            format!("answer {} {} {} {}", hex(&[7; 16]), hex(&[1; 12]), hex(b"aad"), hex(text)),
            format!("answer {} {} x x", hex(&[7; 24]), hex(&[1; 12])),
            "answer x0 x x x".into(),
            "run 3".into(),
            "case seal 16 5 3 dependent".into(),
            "run 30".into(),
            "run 12".into(),
            "case open 16 5 3 sometimes".into(),
        ];
        let mut said = Vec::new();
        serve(&adder, "adder 1", questions.join("\n").as_bytes(), &mut said).unwrap();
        let said = String::from_utf8(said).unwrap();
        let said: Vec<&str> = said.lines().collect();
        assert_eq!((said.len(), said[0], said[1].to_owned(), said[5]), (questions.len(), "adder 1", hex(&sealed), "ok"), "{said:?}");
        assert!([2, 3, 4, 8].iter().all(|at| said[*at].starts_with("error")), "{said:?}");
        assert!([6, 7].iter().all(|at| said[*at].parse::<u64>().is_ok()), "{said:?}");
        // Three by `answer`, one for each call of a sample.
        assert_eq!(nonces.take().len(), 3 + 30 + 12);
    }

    #[test]
    fn who_does_not_answer() {
        assert!(Process::start("nobody", &mut Command::new("/no/such/program")).is_err());
        let silent = Process::start("silent", Command::new("sh").args(["-c", "read question"]));
        assert_eq!(silent.unwrap_err(), "it has ended");
        let one =
            Process::start("one", Command::new("sh").args(["-c", "read question; echo one 1.0; read question; echo error: no"])).unwrap();
        assert_eq!(one.version(), "one 1.0");
        let work = Work { verb: Verb::Seal, key_bits: 128, bytes: 16, aad: 0, nonce: NonceFrom::Prepared };
        assert!(one.contender(work, &Buffers::new(0, 0)).is_none());
        println!("measure::who_does_not_answer ok 4");
    }
}
