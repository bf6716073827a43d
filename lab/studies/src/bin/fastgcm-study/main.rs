//! `fastgcm-study` measures: the back ends of this machine beside the system's libcrypto (`bench`), and the papers' tables (`study`). The
//! studies are in the crate `fastgcm-studies`; here are the peers, the progress and the files.
//!
//! It measures the library as others have it, and asks the program `fastgcm-scrubbed` for what the feature `scrub` costs.
//!
//! `unsafe` stands only in `libcrypto.rs`, `ipsec_mb.rs` and `linux.rs`, which call other libraries, and in `cold.rs` of `lab/bench`, which makes code.

#![deny(unsafe_code)]

mod bench;
mod cli;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[allow(unsafe_code, reason = "code that evicts other code is made at run time")]
#[path = "../../../../bench/src/cold.rs"]
mod cold;
mod failure;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "functions of another library can be called in no other way")]
mod ipsec_mb;
#[allow(unsafe_code, reason = "functions of another library can be called in no other way")]
mod libcrypto;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "functions of another library can be called in no other way")]
mod linux;
mod progress;
mod results;
mod scrub;
mod study;

use clap::Parser;
use cli::{Cli, Command};
use failure::{Failure, shown};
use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|answer| {
        // Also `--help` and `--version` come here. An error repeats arguments, so it is made again of arguments that are fit to be shown.
        let arguments = env::args_os().map(|argument| shown(&argument.to_string_lossy()));
        Cli::try_parse_from(arguments).err().unwrap_or(answer).exit()
    });
    let done = match cli.command {
        Command::Bench(args) => bench::run(&args),
        Command::Study(args) => study::run(&args),
        Command::StudyProbe { arguments } => study::probe(&arguments),
    };
    done.map_or_else(Failure::report, |()| ExitCode::SUCCESS)
}

/// Writes an answer to standard output. (`println!` would panic at a broken pipe.)
fn print(answer: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| Failure::io("standard output", &error))
}
