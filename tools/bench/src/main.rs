//! Compares AES-GCM implementations in one process: builds and loads them, restricts each to a processor level, checks that all answers
//! agree, and times a short sample of each in turn. `tools/bench/README.md` describes the calls and the figures.
//!
//! | module | contents |
//! |---|---|
//! | `builds` | builds a shared object for each rival |
//! | `level` | the processor levels, and how a rival is restricted to one |
//! | `peer` | loads a copy of each shared object for each level |
//! | `check` | checks that all answers agree |
//! | `buffer` | memory that ends with a guard page |
//! | `cold` | evicts a message's data and code from the caches |
//! | `place` | the positions of key, stack and output in their pages |
//! | `work` | the inner loop |
//! | `bars` | the subcommand `bars`: ranges of lengths, one number for each row and rival |
//! | `rare` | the subcommands `keys` and `cold`: many keys, and single messages after other work |

mod bars;
mod buffer;
mod builds;
mod check;
mod cold;
mod level;
mod peer;
mod place;
mod rare;
mod work;

use clap::Parser;
use fastgcm_measure::Machine;
use peer::Loaded;
use std::{error::Error, path::PathBuf, process::ExitCode};

/// Compares AES-GCM implementations in one process.
#[derive(Parser)]
struct Options {
    /// Installs the Debian packages that rivals need (as root), and builds ipsec-mb from Debian's source
    #[arg(long, global = true)]
    install: bool,
    /// Measures fastgcm and only those rivals whose names begin with one of these
    #[arg(long, value_delimiter = ',', global = true)]
    only: Vec<String>,
    /// Measures fastgcm of this folder or commit instead of this tree's
    #[arg(long, global = true)]
    ours: Option<String>,
    /// Measures fastgcm of these folders or commits, too
    #[arg(long, value_delimiter = ',', global = true)]
    before: Vec<String>,
    /// The folder for bars.csv
    #[arg(long, default_value = "out", global = true)]
    out: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Builds the rivals and compares their answers, without measuring
    Check,
    /// Prints each rival's time as a multiple of fastgcm's, and the best rival's, for ranges of lengths
    Bars(bars::Options),
    /// Prints the size of a key, the time to make one, and the times of messages under many keys
    Keys(rare::Options),
    /// Prints the times of single messages after other data and other code
    Cold(rare::Options),
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bench: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error + Send + Sync>> {
    if options.install {
        builds::install()?;
    }
    let mut missing = Vec::new();
    let mut libraries = Vec::new();
    let mut peers: Vec<Loaded> = Vec::new();
    // `--before` compares two builds, so this tree is built exactly as the other one.
    let this_tree = || builds::root().join("../..").to_string_lossy().into_owned();
    let ours = options.ours.clone().or_else(|| (!options.before.is_empty()).then(this_tree));
    for rival in builds::RIVALS.iter().filter(|rival| selected(options, rival.name)) {
        let built = match &ours {
            Some(sources) if rival.name == "fastgcm" => builds::build_sources("fastgcm", sources),
            _ => builds::build(rival, options.install),
        };
        let loaded = built.and_then(|library| Ok((peer::load(&library)?, library)));
        match loaded {
            Ok(((variants, failed), library)) => {
                libraries.push(library);
                peers.extend(variants);
                missing.extend(failed);
            }
            Err(why) => missing.push(format!("{}: {why}", rival.name)),
        }
    }
    for sources in &options.before {
        let library = builds::build_sources(sources, sources)?;
        let (variants, failed) = peer::load(&library)?;
        libraries.push(library);
        peers.extend(variants);
        missing.extend(failed);
    }

    let mut machine = Machine::here(concat!("fastgcm-bench ", env!("CARGO_PKG_VERSION")));
    machine.notes.extend(peers.iter().map(|peer| format!("{} at {}: {}", peer.name, peer.level, peer.version)));
    machine.notes.extend(missing.iter().map(|why| format!("missing: {why}")));
    for why in &missing {
        println!("SKIPPED rival {why}");
    }

    let answers = check::all(&peers)?;
    println!("{} implementations gave {answers} answers, which agree", peers.len());
    machine.pinned_to = fastgcm_measure::pin();
    machine.lines().iter().for_each(|(name, value)| println!("{name:<10} {value}"));
    match &options.command {
        Command::Check => {}
        Command::Bars(arguments) => bars::run(arguments, &peers, &options.before, &options.out)?,
        Command::Keys(arguments) => rare::keys(arguments, &peers),
        Command::Cold(arguments) => rare::cold(arguments, || libraries.iter().map(peer::load_again).collect())?,
    }
    Ok(())
}

fn selected(options: &Options, name: &str) -> bool {
    options.only.is_empty() || name == "fastgcm" || options.only.iter().any(|only| name.starts_with(only.as_str()))
}
