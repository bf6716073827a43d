//! The program `fastgcm-papers`: replays a source on fast AES-GCM, three papers and two changes of Linux, and prints its tables beside the
//! tables measured here.
//!
//! ```text
//! NAME/paper.rs   a module for each source: its tables beside ours
//!   └── message ── aggregate ── multiply    techniques as variants over `fastgcm::internals::Isa`
//!            trace                          an instruction set that counts what a variant does
//! ```
//! A variant that wins is promoted by moving it to `fastgcm/src/ghash/`, and naming it in a row of `fastgcm/src/row/table.rs`.
//!
//! `unsafe` stands only in `aesni-2024/linux.rs`, which calls other libraries.

#![deny(unsafe_code)]
#![cfg_attr(not(test), allow(dead_code, reason = "some variants are proved and counted, and in no table of times"))]

#[path = "../aesni-2024/paper.rs"]
mod aesni_2024;
mod aggregate;
#[path = "../arm64-2019/paper.rs"]
mod arm64_2019;
mod bench;
#[path = "../ghash-2023/paper.rs"]
mod ghash_2023;
mod message;
mod multiply;
#[path = "../packed-2010/paper.rs"]
mod packed_2010;
mod report;
#[path = "../solaris-2010/paper.rs"]
mod solaris_2010;
#[cfg(test)]
mod tests;
mod trace;

#[cfg(target_arch = "x86_64")]
use aesni_2024::linux;
use anyhow::{Context, Error, Result};
use bench::{Bench, Library, Steps, by_clock};
use clap::{Parser, builder::PossibleValuesParser};
use fastgcm::{Backend, internals::SCRUB};
use fastgcm_measure::{
    Machine,
    aead::{self, AnyImplementation},
    pin,
};
use report::Report;
use std::{fs, path::PathBuf};

/// Fills the report of a source.
type Replay = fn(&Bench<'_>, &mut Report) -> Result<()>;

/// The sources, in the order of their years.
const SOURCES: [(&str, Replay); 5] = [
    ("solaris-2010", solaris_2010::run),
    ("packed-2010", packed_2010::run),
    ("arm64-2019", arm64_2019::run),
    ("ghash-2023", ghash_2023::run),
    ("aesni-2024", aesni_2024::run),
];

/// Replays a source on fast AES-GCM: prints its tables and the corresponding measurements, as Markdown.
///
/// The folder with the source's name has a page about it.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Names the source
    #[arg(value_parser = PossibleValuesParser::new(SOURCES.map(|source| source.0)))]
    name: String,
    /// Takes few samples (some seconds)
    #[arg(long)]
    quick: bool,
    /// Writes the tables into the source's page
    #[arg(long, conflicts_with_all = ["quick", "check"])]
    write: bool,
    /// Compares the quoted and counted cells with the source's page, and fails if they differ
    #[arg(long)]
    check: bool,
    /// For aesni-2024: the folder that `linux.sh` has filled, whose code is executed
    #[arg(long, value_name = "FOLDER")]
    linux: Option<PathBuf>,
    /// Seals the messages whose instructions are counted
    #[arg(long, hide = true, num_args = 1..)]
    probe: Vec<String>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    if !options.probe.is_empty() {
        return bench::probe(&options.probe, &marker).map(drop).context("not what a replay asks for");
    }
    let (name, replay) = SOURCES.into_iter().find(|source| source.0 == options.name).context("no source has this name")?;
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name).join("README.md");
    let report = measure(&options, replay)?;
    println!("{}", report.markdown(|_| true));
    let page = fs::read_to_string(&path)?;
    if options.check {
        println!("{name}: {} cells are those of the page", report.compare(&page, true)?);
    }
    if options.write {
        let (about, _) = page.split_once(MEASURED).context("the page has no such heading")?;
        fs::write(&path, format!("{about}{MEASURED}{}", report.markdown(|table| !table.is_times())))?;
    }
    Ok(())
}

/// The heading of a page after which its tables stand, to the end.
const MEASURED: &str = "## Measured\n\n";

/// Compares the answers of all contenders, then replays the source.
fn measure(options: &Options, replay: Replay) -> Result<Report> {
    let mut machine = Machine::here(concat!("fastgcm-papers ", env!("CARGO_PKG_VERSION")));
    machine.program += if options.quick { ", --quick: a glance, few samples" } else { "" };
    // That source is about threads.
    machine.pinned_to = if options.name == "solaris-2010" { None } else { pin() };
    machine.notes.push(
        if SCRUB { "measured WITH `scrub`: Cargo unified the features of several packages" } else { "measured without `scrub`" }.into(),
    );
    machine.notes.push(concat!("compiled by ", env!("COMPILER")).into());

    let library = Library(Backend::detect());
    aead::check(&[&library]).map_err(Error::msg)?;

    #[cfg(target_arch = "x86_64")]
    let linux = options.linux.as_deref().map(linux::Linux::load).transpose()?;
    #[cfg(target_arch = "x86_64")]
    let linux = linux.as_ref().map(|linux| {
        let ours: Vec<_> = linux.new.iter().map(|(level, _)| Library(*level)).collect();
        linux::check(&linux.all().chain(ours.iter().map(|one| one as &dyn AnyImplementation)).collect::<Vec<_>>())?;
        let new = linux.new.iter().map(|(level, new)| (*level, new as &dyn AnyImplementation)).collect();
        let folder = options.linux.as_deref().context("a folder")?;
        Ok::<_, Error>(bench::Linux { folder, old: &linux.old, new })
    });
    #[cfg(target_arch = "x86_64")]
    let linux = linux.transpose()?;
    #[cfg(not(target_arch = "x86_64"))]
    let linux = None;

    let mut report = Report::new(machine);
    replay(&Bench { quick: options.quick, measure: &by_clock(options.quick), linux, steps: steps() }, &mut report)?;
    Ok(report)
}

/// Counts the instructions between two markers of this program.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn steps() -> Option<&'static Steps> {
    Some(&|arguments| {
        let arguments: Vec<_> = ["packed-2010", "--probe"].map(String::from).into_iter().chain(arguments.iter().cloned()).collect();
        fastgcm_step::count(&std::env::current_exe()?, &arguments).map_err(Error::msg)
    })
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use fastgcm_step::marker;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn steps() -> Option<&'static Steps> {
    None
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn marker() {}
