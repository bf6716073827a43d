//! `fastgcm` seals and opens files.
//!
//! ```text
//! main ── cli                    what may be asked for
//!      ── seal · open (salvage) · rekey · inspect · keygen · cpu · selftest (acvp) · doctor   one command each
//!           └── input · output · keyfile (lock, prompt, trust) · progress · report   files, and how nothing of them is lost
//!                 └── failure                                  exit codes and messages
//! ```
//! The formats and the threads are in the crate `fastgcm-file`, the cipher in `fastgcm`.

#![forbid(unsafe_code)]

mod acvp;
mod cli;
mod cpu;
mod doctor;
mod failure;
mod input;
mod inspect;
mod keyfile;
mod keygen;
mod lock;
mod open;
mod output;
mod progress;
#[cfg(feature = "age")]
mod prompt;
mod rekey;
mod report;
mod salvage;
mod seal;
mod selftest;
mod trust;

use clap::{CommandFactory, FromArgMatches};
use cli::{Cli, Command};
use failure::{Failure, escaped};
use std::{env, io::Write, process::ExitCode};

fn main() -> ExitCode {
    let command = cli::with_examples(Cli::command());
    let parsed = command.clone().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(answer) => {
            // `--help` and `--version` also come here, with exit code 0. If nobody reads them, that is not a failure. An error repeats
            // arguments, and an argument may be the name of a file: so the error is made again, from arguments that are fit to be shown.
            let arguments = env::args_os().map(|argument| escaped(&argument.to_string_lossy()));
            let code = ExitCode::from(answer.exit_code() as u8);
            let _ = cli::advised(command.clone().try_get_matches_from(arguments).err().unwrap_or(answer)).print();
            return code;
        }
    };
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Keygen(args) => keygen::run(&args),
        Command::Share(args) => keygen::share(&args),
        Command::Seal(args) => seal::run(&args),
        Command::Open(args) => open::run(&args),
        Command::Rekey(args) => rekey::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Cpu(args) => cpu::run(&args),
        Command::Selftest(args) => selftest::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "fastgcm", &mut script);
            print(&script)
        }
        Command::Man { command } => print(cli::manual(command.as_deref())?),
    }
}

/// Writes an answer to standard output. (`println!` would panic at a broken pipe.)
fn print(answer: impl AsRef<[u8]>) -> Result<(), Failure> {
    let written = input::standard(std::io::stdout()).and_then(|mut stdout| stdout.write_all(answer.as_ref()));
    written.map_err(|error| Failure::io("standard output", error))
}
