//! `fastgcm study`: a paper's table beside the same one measured here. The studies are in the crate `fastgcm-studies`; here are the peers, the
//! progress and the files.

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "functions of another library can be called in no other way")]
mod ipsec_mb;

use crate::{
    bench::libcrypto::Libcrypto,
    cli,
    failure::{Code, Failure},
    input::is_dash,
    output::Target,
    print,
    progress::Progress,
};
use fastgcm_measure::{
    Machine,
    aead::{self, AnyImplementation},
    pin,
};
use fastgcm_studies::study::{self, Bench, Report, Steps};
use std::{io::Write, path::PathBuf};

/// Compares answers, then measures. What stands in the way of the files is noticed first.
pub(crate) fn run(args: &cli::Study) -> Result<(), Failure> {
    let files = plan(args)?;
    let (libcrypto, ipsec_mb) = (Libcrypto::find(), ipsec_mb());
    let mut peers: Vec<&dyn AnyImplementation> = Vec::new();
    peers.extend(libcrypto.iter().map(|peer| peer as &dyn AnyImplementation));
    peers.extend(ipsec_mb.iter().map(|peer| &**peer));
    aead::check(&peers).map_err(|error| Failure::new(Code::SelfTest, error))?;

    let mut machine = Machine::here(concat!("fastgcm ", env!("CARGO_PKG_VERSION")));
    // Threads are what that study is about.
    machine.pinned_to = if args.name == "solaris-2010" { None } else { pin() };
    machine.notes.push(format!("compiled by {}", fastgcm_studies::COMPILER));
    machine.notes.extend(libcrypto.iter().map(|peer| peer.version().to_owned()));
    machine.notes.extend(ipsec_mb.iter().map(|peer| format!("{}, as the system has it", peer.name())));

    let progress = Progress::work(args.quiet, 1);
    let bench = Bench { quick: args.quick, peers, steps: steps(), progress: &|part, name| progress.at(part, name) };
    let report = study::run(&args.name, &bench, machine).map_err(|error| Failure::new(Code::Io, error))?;
    drop(progress);
    if !files.iter().any(|(_, _, is_stdout)| *is_stdout) {
        print(report.text())?;
    }
    files.into_iter().try_for_each(|(format, target, _)| write(&report, format, target))
}

/// Our own program in its part of being stepped through.
pub(crate) fn probe(arguments: &[String]) -> Result<(), Failure> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    let marker = fastgcm_step::marker;
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    let marker = || ();
    study::probe(arguments, &marker).ok_or_else(|| Failure::usage("not what `study` asks for"))
}

/// Instructions between two markers of ourselves.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn steps() -> Option<&'static Steps> {
    Some(&|arguments| {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let arguments: Vec<_> = ["study-probe".to_owned()].into_iter().chain(arguments.iter().cloned()).collect();
        fastgcm_step::count(&program, &arguments)
    })
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn steps() -> Option<&'static Steps> {
    None
}

#[cfg(target_arch = "x86_64")]
fn ipsec_mb() -> Option<Box<dyn AnyImplementation>> {
    ipsec_mb::IpsecMb::find().map(|peer| Box::new(peer) as Box<dyn AnyImplementation>)
}

#[cfg(not(target_arch = "x86_64"))]
fn ipsec_mb() -> Option<Box<dyn AnyImplementation>> {
    None
}

#[derive(Clone, Copy)]
enum Format {
    Csv,
    Json,
    Svg,
    Markdown,
}

/// The files that were asked for, no two of them the same; and whether one is the standard output.
fn plan(args: &cli::Study) -> Result<Vec<(Format, Target, bool)>, Failure> {
    let asked: [(Format, &Option<PathBuf>); 4] =
        [(Format::Csv, &args.csv), (Format::Json, &args.json), (Format::Svg, &args.svg), (Format::Markdown, &args.markdown)];
    let mut files: Vec<(Format, Target, bool)> = Vec::new();
    for (format, path) in asked {
        let Some(path) = path else { continue };
        let target = Target::plan(path, args.force)?;
        target.refuse_existing()?;
        if files.iter().any(|(_, other, is_stdout)| other.is_same_place(&target) || *is_stdout && is_dash(path)) {
            return Err(Failure::usage(format_args!("{} is asked for twice", path.display())));
        }
        files.push((format, target, is_dash(path)));
    }
    Ok(files)
}

fn write(report: &Report, format: Format, target: Target) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(Code::Io, format_args!("the results: {error}"));
    let content = match format {
        Format::Csv => report.csv().map_err(|error| failed(&error))?,
        Format::Json => report.json().map_err(|error| failed(&error))?,
        Format::Svg => report.svg().map_err(|error| failed(&error))?.ok_or_else(|| Failure::usage("there is nothing to be drawn"))?,
        Format::Markdown => report.markdown(),
    };
    let mut output = target.create()?;
    output.write_all(content.as_bytes()).map_err(|error| Failure::io("the results", error))?;
    output.commit()
}
