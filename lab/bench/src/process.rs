//! Go and Java: processes of their own, which take their samples when it is their turn and say how long these took, by their own clock.
//! Each is one page of source in `rivals/`; what they are asked, `fastgcm_measure::process` says. They cannot be held to a level.

use crate::{
    builds, level,
    work::{self, Nonces, Peer, Place, Work},
};
use fastgcm_measure::{
    Contender,
    aead::{AnyImplementation, Buffers, Verb, Work as Case},
    process,
};
use std::{fs, process::Command};

/// A way to build and start one.
type Start = fn() -> Result<Process, String>;

/// All of them.
pub(crate) const LANGUAGES: [(&str, Start); 2] = [("go", go), ("java", java)];

fn go() -> Result<Process, String> {
    let program = builds::target()?.join("release/rival-go");
    aead_load::run(Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(builds::root().join("rivals/go")))?;
    Process::start("go", &mut Command::new(program))
}

fn java() -> Result<Process, String> {
    let classes = builds::target()?.join("release/rival-java");
    fs::create_dir_all(&classes).map_err(|error| error.to_string())?;
    aead_load::run(Command::new("javac").arg("-d").arg(&classes).arg(builds::root().join("rivals/java/Rival.java")))?;
    Process::start("java", Command::new("java").args(["-Xms256m", "-cp"]).arg(&classes).arg("Rival"))
}

/// One that runs; and buffers, of which it uses none.
pub(crate) struct Process(process::Process, Buffers);

impl Process {
    fn start(name: &str, command: &mut Command) -> Result<Self, String> {
        Ok(Self(process::Process::start(name, command)?, Buffers::new(0, 0)))
    }
}

impl Peer for Process {
    fn name(&self) -> String {
        self.0.name()
    }

    fn level(&self) -> String {
        level::native().into()
    }

    fn version(&self) -> String {
        self.0.version().into()
    }

    fn contender<'a>(&'a self, _: &str, work: &Work, _: &'a work::Buffers) -> Option<Contender<'a>> {
        let verb = match work.verb {
            work::Verb::Seal => Verb::Seal,
            work::Verb::Open => Verb::Open,
            work::Verb::Key => Verb::Key,
            work::Verb::Rekey | work::Verb::Value | work::Verb::RekeyAndSeal | work::Verb::SealAndOpen => return None,
        };
        // Their ways to write a nonce, where their buffers lie, and what is near, are not ours to choose.
        if work.nonces != Nonces::Prepared || work.in_place || work.place != Place::Aligned || work.cold {
            return None;
        }
        let case = Case { verb, key_bits: work.bits, bytes: work.bytes, aad: work.aad };
        self.0.contender(case, &self.1)
    }

    fn answer(&self, key: &[u8], nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.0.answer(key, nonce, aad, text)
    }
}
