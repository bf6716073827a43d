//! Go and Java: processes of their own, which take their samples when it is their turn and say how long these took, by their own clock.
//! Each is one page of source in `rivals/`; what they are asked stands there. They cannot be held to a level.

use crate::{
    builds,
    work::{Buffers, Nonces, Peer, Place, Verb, Work},
};
use fastgcm_measure::Contender;
use plugin::level;
use std::{
    cell::RefCell,
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

/// A way to build and start one.
type Start = fn() -> Result<Process, String>;

/// All of them.
pub(crate) const LANGUAGES: [(&str, Start); 2] = [("go", go), ("java", java)];

fn go() -> Result<Process, String> {
    let program = builds::target()?.join("release/rival-go");
    builds::run(Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(builds::root().join("rivals/go")))?;
    Process::start("go", &mut Command::new(program))
}

fn java() -> Result<Process, String> {
    let classes = builds::target()?.join("release/rival-java");
    fs::create_dir_all(&classes).map_err(|error| error.to_string())?;
    builds::run(Command::new("javac").arg("-d").arg(&classes).arg(builds::root().join("rivals/java/Rival.java")))?;
    Process::start("java", Command::new("java").args(["-Xms256m", "-cp"]).arg(&classes).arg("Rival"))
}

/// One that runs.
pub(crate) struct Process {
    name: String,
    version: String,
    child: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Process {
    fn start(name: &str, command: &mut Command) -> Result<Self, String> {
        let text = |error: std::io::Error| format!("{name}: {error}");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(text)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return Err("no pipes".into()) };
        let mut process = Self { name: name.into(), version: String::new(), child, pipes: RefCell::new((input, BufReader::new(output))) };
        process.version = process.ask("version")?;
        Ok(process)
    }

    /// One line there, one line back.
    fn ask(&self, question: &str) -> Result<String, String> {
        let (input, output) = &mut *self.pipes.borrow_mut();
        let mut line = String::new();
        let asked = writeln!(input, "{question}").and_then(|()| input.flush()).and_then(|()| output.read_line(&mut line));
        match (asked, line.trim()) {
            (Ok(_), "") => Err("it has ended".into()),
            (Ok(_), line) if line.starts_with("error") => Err(line.into()),
            (Ok(_), line) => Ok(line.into()),
            (Err(error), _) => Err(error.to_string()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer for Process {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn level(&self) -> String {
        level::native().into()
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn contender<'a>(&'a self, name: &str, work: &Work, _buffers: &'a Buffers) -> Option<Contender<'a>> {
        let verb = match work.verb {
            Verb::Seal => "seal",
            Verb::Open => "open",
            Verb::Key => "key",
            Verb::Rekey | Verb::RekeyAndSeal | Verb::SealAndOpen => return None,
        };
        // Their ways to write a nonce, where their buffers lie, and what is near, are not ours to choose.
        if work.nonces != Nonces::Prepared || work.in_place || work.place != Place::Aligned || work.cold {
            return None;
        }
        let case = format!("{verb} {} {} {}", work.bits / 8, work.bytes, work.aad);
        let mut ready = false;
        Some(Contender::timed(name, move |iterations| {
            // No contender of this process is asked between another's samples: one case is one contender here.
            if !std::mem::replace(&mut ready, true) {
                self.ask(&format!("case {case}")).expect("the process answers");
            }
            let answer = self.ask(&format!("run {iterations}")).expect("the process answers");
            Duration::from_nanos(answer.parse().expect("nanoseconds"))
        }))
    }

    fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let hex = |bytes: &[u8]| bytes.iter().fold(String::from("x"), |text, byte| text + &format!("{byte:02x}"));
        let sealed = self.ask(&format!("answer {} {} {} {}", hex(key), hex(nonce), hex(aad), hex(text)))?;
        let bytes = (1..sealed.len()).step_by(2).map(|at| u8::from_str_radix(sealed.get(at..at + 2).unwrap_or(""), 16));
        bytes.collect::<Result<_, _>>().map(Some).map_err(|error| format!("no hexadecimal: {error}"))
    }
}
