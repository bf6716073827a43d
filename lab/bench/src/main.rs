//! AES-GCM implementations side by side, in one process: built, loaded, held to a processor level, checked against each other, and only
//! then measured, a short sample of each in turn. `lab/bench/README.md` says how each is called and what the figures mean.
//!
//! | module | what |
//! |---|---|
//! | `builds` | cargo builds one shared object for each rival; what cannot be built is told |
//! | `level` | processor levels, and what holds a rival to one |
//! | `peer` | loads them, a copy for each level |
//! | `check` | identical answers first |
//! | `buffer` | memory that ends with a page behind which nothing may be touched |
//! | `cold` | other data and other code, before each message |
//! | `place` | where key, stack and output lie in their pages |
//! | `work`, `plan` | what is measured, and the list of it |
//! | `bars` | instead of a plan: ranges of lengths, one number for each row and rival |
//! | `rare` | instead of a plan: many keys, and single messages after other work |
//! | `report` | tables, and a file for a spreadsheet |

mod bars;
mod buffer;
mod builds;
mod check;
mod cold;
mod level;
mod peer;
mod place;
mod plan;
mod rare;
mod report;
mod work;

use clap::Parser;
use fastgcm_measure::{Machine, Results};
use std::{error::Error, io::IsTerminal, path::PathBuf, process::ExitCode, time::Instant};
use work::{Buffers, Peer};

/// AES-GCM implementations side by side.
#[derive(Parser)]
struct Options {
    /// Two minutes: few sizes, short samples
    #[arg(long)]
    quick: bool,
    /// Installs what Debian has of what the rivals need (as root), and builds ipsec-mb from Debian's source
    #[arg(long, global = true)]
    install: bool,
    /// Only rivals whose name begins with one of these; fastgcm always takes part
    #[arg(long, value_delimiter = ',', global = true)]
    only: Vec<String>,
    /// In the place of this tree's library, that of this folder or commit
    #[arg(long, global = true)]
    ours: Option<String>,
    /// Builds of fastgcm of these folders or commits take part, too
    #[arg(long, value_delimiter = ',', global = true)]
    before: Vec<String>,
    /// Only cases whose group contains this, `AES-128 open` for example
    #[arg(long)]
    group: Option<String>,
    /// Where results.csv and bars.csv go
    #[arg(long, default_value = "out", global = true)]
    out: PathBuf,
    /// Builds, loads and checks, and measures nothing
    #[arg(long)]
    check: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// For ranges of lengths and each row, how many times as long as fastgcm the best rival takes, and every other
    Bars(bars::Asked),
    /// What a key takes to make and in memory, and what messages under many keys take
    Keys(rare::Asked),
    /// What single messages take after other data and other code
    Cold(rare::Asked),
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
    let mut peers: Vec<Box<dyn Peer>> = Vec::new();
    // What is compared with another build of ours is built as that one is.
    let this_tree = || builds::root().join("../..").to_string_lossy().into_owned();
    let ours = options.ours.clone().or_else(|| (!options.before.is_empty()).then(this_tree));
    for rival in builds::RIVALS.iter().filter(|rival| wanted(options, rival.name)) {
        let built = match &ours {
            Some(sources) if rival.name == "fastgcm" => builds::build_sources("fastgcm", sources),
            _ => builds::build(rival, options.install),
        };
        let loaded = built.and_then(|library| Ok((peer::load(&library)?, library)));
        match loaded {
            Ok(((variants, failed), library)) => {
                libraries.push(library);
                peers.extend(variants.into_iter().map(|variant| Box::new(variant) as Box<dyn Peer>));
                missing.extend(failed);
            }
            Err(why) => missing.push(format!("{}: {why}", rival.name)),
        }
    }
    for sources in &options.before {
        let library = builds::build_sources(sources, sources)?;
        let (variants, failed) = peer::load(&library)?;
        libraries.push(library);
        peers.extend(variants.into_iter().map(|variant| Box::new(variant) as Box<dyn Peer>));
        missing.extend(failed);
    }

    let mut machine = Machine::here(concat!("fastgcm-bench ", env!("CARGO_PKG_VERSION")));
    machine.notes.extend(peers.iter().map(|peer| format!("{} at {}: {}", peer.name(), peer.level(), peer.version())));
    machine.notes.extend(missing.iter().map(|why| format!("missing: {why}")));
    for why in &missing {
        println!("SKIPPED rival {why}");
    }

    let answers = check::all(&peers)?;
    println!("{} implementations gave {answers} answers, which agree", peers.len());
    if options.check {
        return Ok(());
    }

    if let Some(command) = &options.command {
        machine.lines().iter().for_each(|(name, value)| println!("{name:<10} {value}"));
        let again = || libraries.iter().map(peer::load_again).collect();
        match command {
            Command::Keys(asked) => {
                rare::keys(asked, &peers);
            }
            Command::Cold(asked) => {
                rare::cold(asked, again)?;
            }
            Command::Bars(asked) => {
                bars::run(asked, &peers, &options.before, &options.out)?;
            }
        }
        return Ok(());
    }

    machine.pinned_to = fastgcm_measure::pin();
    let mut results = Results::new(machine);
    for name in peers.iter().map(|peer| peer.name()).filter(|name| !name.starts_with("fastgcm")) {
        if !results.base.contains(&name) {
            results.base.push(name);
        }
    }
    measure(options, &peers, &mut results);
    report::terminal(&results);
    report::csv(&results, &options.out)?;
    Ok(())
}

fn wanted(options: &Options, name: &str) -> bool {
    options.only.is_empty() || name == "fastgcm" || options.only.iter().any(|only| name.starts_with(only.as_str()))
}

fn measure(options: &Options, peers: &[Box<dyn Peer>], results: &mut Results) {
    let mut levels: Vec<String> = Vec::new();
    for peer in peers {
        if !levels.contains(&peer.level()) {
            levels.push(peer.level());
        }
    }
    let plan = plan::plan(options.quick, &levels);
    let wanted = |work: &work::Work| options.group.as_ref().is_none_or(|part| work.case().group.contains(part.as_str()));
    let plan: Vec<_> = plan.into_iter().filter(wanted).collect();
    let most = plan.iter().map(|work| work.bytes).max().unwrap_or(0);
    let (buffers, start) = (Buffers::new(most, 1), Instant::now());
    for (number, work) in plan.iter().enumerate() {
        let here: Vec<_> = peers.iter().filter(|peer| peer.level() == work.level).collect();
        let mut contenders: Vec<_> = here.iter().filter_map(|peer| peer.contender(&peer.name(), work, &buffers)).collect();
        // fastgcm comes first, and once more called as usual, so that what another way costs is a ratio within one case.
        if let (Some(usual), Some(peer)) = (work.usual(), here.first()) {
            contenders.extend(peer.contender("fastgcm as usual", &usual, &buffers));
        }
        let case = work.case();
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K{}/{} {} {}", number + 1, plan.len(), case.group, case.name);
        }
        if !contenders.is_empty() {
            results.cases.push(plan::sampler(options.quick, work.cold).run(case, &mut contenders, &mut |_| ()));
        }
    }
    eprintln!("\r\x1b[K{} cases in {} s", plan.len(), start.elapsed().as_secs());
}
