//! `study`: a paper's table beside the same one measured here.

use crate::{
    cli,
    failure::{Code, Failure},
    libcrypto::Libcrypto,
    print,
    progress::Progress,
    results::{Files, Form, failed},
    scrub,
};
#[cfg(target_arch = "x86_64")]
use crate::{
    ipsec_mb,
    linux::{self, Linux},
};
use fastgcm::Backend;
use fastgcm_measure::{
    Machine,
    aead::{self, AnyImplementation},
    pin,
};
use fastgcm_studies::study::{self, Bench, Library, Report, Steps};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Compares answers, then measures. What stands in the way of the files is noticed first.
pub(crate) fn run(args: &cli::Study) -> Result<(), Failure> {
    let files = plan(args)?;
    if let Some(file) = args.folder.as_deref().map(|folder| tables(folder, &args.name)).filter(|file| !file.exists()) {
        return Err(Failure::usage(format_args!("{} is not there: --results takes the folder of the studies", file.display())));
    }
    let (libcrypto, ipsec_mb) = (Libcrypto::find(), ipsec_mb());
    let held = if args.name == "aesni-2024" { held() } else { Vec::new() };
    let mut peers: Vec<&dyn AnyImplementation> = Vec::new();
    peers.extend(libcrypto.iter().map(|peer| peer as &dyn AnyImplementation));
    peers.extend(ipsec_mb.iter().map(|peer| &**peer));
    let held: Vec<_> = held.iter().map(|(level, peer)| (*level, &**peer)).collect();
    let mut machine = Machine::here(concat!("fastgcm-study ", env!("CARGO_PKG_VERSION")));
    if args.quick {
        machine.program += ", --quick: a glance, few samples";
    }
    // Threads are what that study is about.
    machine.pinned_to = if args.name == "solaris-2010" { None } else { pin() };
    let library = Library::from(Backend::detect());
    let (scrubbed, note) = match args.name.as_str() {
        "ghash-2023" => scrub::find(library.backend, format!("{} with scrub", library.name)),
        _ => (None, scrub::note()),
    };
    let scrubbed = scrubbed.as_ref().map(|scrubbed| scrubbed as &dyn AnyImplementation);
    let ours = scrubbed.into_iter().chain([&library as &dyn AnyImplementation]);
    let all: Vec<_> = peers.iter().copied().chain(ours).chain(held.iter().map(|(_, peer)| *peer)).collect();
    aead::check(&all).map_err(|error| Failure::new(Code::SelfTest, error))?;

    let provider = args.provider.as_deref().map(|file| {
        let provider = Libcrypto::provider(file).map_err(Failure::usage)?;
        aead::check(&[&provider, &library]).map_err(|error| Failure::new(Code::SelfTest, error))?;
        Ok(provider)
    });
    let provider = provider.transpose()?;
    #[cfg(target_arch = "x86_64")]
    let linux = linux(args)?;
    #[cfg(target_arch = "x86_64")]
    let linux = linux.as_ref().and_then(|linux| {
        let new = linux.new.iter().map(|(level, new)| (*level, new as &dyn AnyImplementation)).collect();
        Some(study::Linux { folder: args.linux.as_deref()?, old: linux.old.first()?, new })
    });
    #[cfg(not(target_arch = "x86_64"))]
    let linux = None;

    machine.notes.push(note);
    machine.notes.push(format!("compiled by {}", fastgcm_studies::COMPILER));
    machine.notes.extend(libcrypto.iter().map(|peer| peer.version().to_owned()));
    machine.notes.extend(ipsec_mb.iter().map(|peer| format!("{}, as the system has it", peer.name())));

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    let others = (args.name == "aesni-2024").then(crate::cold::Others::new).map(|others| {
        move || {
            others.before(|| ());
        }
    });
    let progress = Progress::new(args.results.quiet, 1);
    let bench = Bench {
        quick: args.quick,
        measure: &study::by_clock(args.quick),
        peers,
        held,
        linux,
        scrubbed,
        provider: provider.as_ref().map(|provider| provider as &dyn AnyImplementation),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        cold: others.as_ref().map(|others| others as &dyn Fn()),
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        cold: None,
        steps: steps(),
        progress: &|part, name| progress.at(part, name),
    };
    let report = study::run(&args.name, &bench, machine).map_err(|error| Failure::new(Code::Io, error))?;
    drop(progress);
    if !files.take_stdout() {
        print(&report.text())?;
    }
    if let Some(folder) = &args.folder {
        into_results(folder, &report)?;
    }
    files.write(&report)
}

/// The file with the tables of that study, in the folder of the studies.
fn tables(folder: &Path, name: &str) -> PathBuf {
    folder.join("results").join(format!("{name}.txt"))
}

/// Writes the tables, and the chart in a file of its own.
fn into_results(folder: &Path, report: &Report) -> Result<(), Failure> {
    let write = |path: &Path, text: String| fs::write(path, text).map_err(|error| Failure::io(path.display(), &error));
    if let Some(chart) = report.svg().map_err(failed)? {
        write(&folder.join("charts").join(format!("{}.svg", report.name)), chart)?;
    }
    write(&tables(folder, report.name), report.markdown())
}

/// Our own program in its part of being stepped through.
pub(crate) fn probe(arguments: &[String]) -> Result<(), Failure> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    use fastgcm_step::marker;
    study::probe(arguments, &marker).map(drop).ok_or_else(|| Failure::usage("not what `study` asks for"))
}

/// Where no program can be stepped through, nobody looks for it.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[inline(never)]
fn marker() {
    std::hint::black_box(0);
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

/// Linux' code, once it has given the model's answers at all lengths, as ours has at its levels.
#[cfg(target_arch = "x86_64")]
fn linux(args: &cli::Study) -> Result<Option<Linux>, Failure> {
    let Some(folder) = args.linux.as_deref().filter(|_| args.name == "aesni-2024") else { return Ok(None) };
    let linux = Linux::load(folder).map_err(|error| Failure::usage(format_args!("{}: {error}", folder.display())))?;
    let ours: Vec<_> = linux.new.iter().map(|(level, _)| Library::from(*level)).collect();
    let all: Vec<_> = linux.all().chain(ours.iter().map(|one| one as &dyn AnyImplementation)).collect();
    linux::check(&all).map_err(|error| Failure::new(Code::SelfTest, error))?;
    Ok(Some(linux))
}

/// Peers at levels of ours, narrowest first: OpenSSL without AVX and without VAES, ipsec-mb by its code for such processors.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn held() -> Vec<(Backend, Box<dyn AnyImplementation>)> {
    const OPENSSL: [(Backend, &str, &str); 2] =
        [(Backend::AesniSse, "without AVX", "~0x1000000000000000:~0x60000000000"), (Backend::AesniAvx, "without VAES", ":~0x60000000000")];
    const IPSEC_MB: [(Backend, &str); 3] = [(Backend::AesniSse, "sse"), (Backend::AesniAvx, "avx_gen2"), (Backend::AesniAvx, "avx_gen4")];
    let mut held: Vec<(Backend, Box<dyn AnyImplementation>)> = Vec::new();
    for (backend, level, capabilities) in OPENSSL {
        held.extend(Libcrypto::held(level, capabilities).map(|peer| (backend, Box::new(peer) as Box<dyn AnyImplementation>)));
    }
    for (backend, level) in IPSEC_MB.into_iter().filter(|(_, level)| ipsec_mb::levels().contains(level)) {
        held.extend(ipsec_mb::IpsecMb::at(level).map(|peer| (backend, Box::new(peer) as Box<dyn AnyImplementation>)));
    }
    held
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn held() -> Vec<(Backend, Box<dyn AnyImplementation>)> {
    Vec::new()
}

#[cfg(not(target_arch = "x86_64"))]
fn ipsec_mb() -> Option<Box<dyn AnyImplementation>> {
    None
}

/// The forms that were asked for.
fn plan(args: &cli::Study) -> Result<Files<Report>, Failure> {
    let forms: [(_, Form<Report>); 5] = [
        (&args.results.csv, |report| report.csv().map_err(failed)),
        (&args.results.json, |report| report.json().map_err(failed)),
        (&args.results.svg, |report| report.svg().map_err(failed)?.ok_or_else(|| Failure::usage("there is nothing to be drawn"))),
        (&args.markdown, |report| Ok(report.markdown())),
        (&args.html, |report| report.html().map_err(failed)),
    ];
    Files::plan(forms, &args.results)
}
