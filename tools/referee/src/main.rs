//! The referee: tests implementations of AES-GCM against SP 800-38D, and for the robustness that callers need, each in a process of its own.
//! docs/referee.md describes its use.
//!
//! ```text
//! main ┬── new · prepare      writes a plug-in to fill in; builds a plug-in of a source file or a folder, with its switches
//!      ├── families · cases   the test cases, with the model's answers
//!      ├── worker · finding   tests an implementation in a process; the findings
//!      │    ├── peer · pipe   an implementation in C, or a program that answers requests
//!      │    ├── message       the calls for one message
//!      │    │    └── memory   buffers between guard pages
//!      │    └── freed         searches memory for a freed key
//!      ├── faulty · serve     the model with faults planted; the same as a program at the end of a pipe
//!      └── report · pages     the table; JUnit's XML
//! ```

mod cases;
mod families;
mod faulty;
mod finding;
mod freed;
mod memory;
mod message;
mod new;
mod pages;
mod peer;
mod pipe;
mod prepare;
mod published;
mod report;
mod serve;
mod switches;
mod worker;

use clap::{Parser, Subcommand, ValueEnum};
use families::Amount;
use finding::{Kind, Report};
use memory::Arena;
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};
use worker::Limits;

#[derive(Parser)]
#[command(version, about = "Tests implementations of AES-GCM against SP 800-38D, and their robustness")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Test implementations, and print a table.
    Run(Run),
    /// Write a plug-in to fill in.
    New {
        language: new::Language,
        /// The folder.
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Plant each known fault in the model, and check that it is found.
    Selftest {
        /// The faults (default: all).
        faults: Vec<String>,
    },
    #[command(hide = true)]
    FaultyProgram,
    /// Test implementations with a vector set of NIST's ACVP.
    Acvp {
        /// The prompt, a vector set in JSON.
        prompt: PathBuf,
        /// The expected results in JSON.
        expected: PathBuf,
        /// The implementations, named as for `run`.
        #[arg(required = true)]
        plugins: Vec<PathBuf>,
    },
    /// Print which planted faults published vectors miss.
    Vectors {
        /// The cases of CAVP in the format of testdata/make_cavp_sample.py (default: its sample).
        #[arg(long)]
        cavp: Option<PathBuf>,
        /// A prompt of ACVP and its expected results.
        #[arg(long, num_args = 2, value_names = ["PROMPT", "EXPECTED"])]
        acvp: Vec<PathBuf>,
        /// Write vectors for the missed faults to this folder in Wycheproof's format.
        #[arg(long, value_name = "FOLDER")]
        write: Option<PathBuf>,
    },
}

#[derive(clap::Args)]
struct Run {
    /// Source files (.c, .cc, .py, .java, .js), shared objects, folders with a go.mod or a Cargo.toml, or names of
    /// plug-ins in tools/aead/libraries (default: all that are no Rust crates). Environment variables precede a name:
    /// "REFEREE_LINUX=2 linux".
    plugins: Vec<PathBuf>,
    /// The number of test cases.
    #[arg(long, value_enum, default_value = "usual")]
    amount: Size,
    /// Run only these families of test cases: lengths, operands, long, aad, nonces, tags, forged, wraps, places,
    /// pieces, copies, empty.
    #[arg(long)]
    family: Vec<String>,
    /// Run only this test case of a finding.
    #[arg(long, value_name = "FAMILY/NUMBER")]
    case: Option<String>,
    /// Test without each processor feature and each pair of features, using the switches that the plug-in names.
    #[arg(long)]
    crippled: bool,
    /// Exit with status 1 after any finding, including robustness.
    #[arg(long)]
    strict: bool,
    /// Exit with status 1 after fewer test cases: a plug-in that offers nothing has no findings.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    least: usize,
    /// Ignore the findings of this implementation in the exit status.
    #[arg(long, value_name = "NAME")]
    known: Vec<String>,
    /// Fetch libraries that no package of this machine has, and build libraries from source (minutes).
    #[arg(long)]
    fetch: bool,
    /// The largest processor time of an answer, in seconds.
    #[arg(long, default_value_t = 20)]
    patience: u64,
    /// Allow reading this many bytes (up to 64) after these buffers (nonce=4), so that a known fault hides no others.
    #[arg(long, value_name = "BUFFER=BYTES")]
    spare: Vec<String>,
    /// Write the table with the processor and the amount to this file.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Write JUnit XML to this file.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[arg(long, hide = true)]
    raw: bool,
    /// Show the plug-ins' standard error.
    #[arg(long)]
    loud: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Size {
    /// Some thousand test cases.
    Quick,
    /// Every length to 2,000 bytes, and texts of up to 1 MiB.
    Usual,
    /// Texts of up to 64 MiB, too.
    Full,
}

fn main() -> ExitCode {
    let success = match Cli::parse().command {
        Command::Run(run) => self::run(&run),
        Command::New { language, folder } => new::write(language, &folder),
        Command::Selftest { faults } => selftest(&faults),
        Command::FaultyProgram => serve::faulty().map(|()| true),
        Command::Acvp { prompt, expected, plugins } => acvp(&prompt, &expected, &plugins),
        Command::Vectors { cavp, acvp, write } => vectors(cavp.as_deref(), &acvp, write.as_deref()),
    };
    match success {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("referee: {why}");
            ExitCode::from(2)
        }
    }
}

/// Returns all cases, and buffers for them.
fn cases_and_arena(amount: Amount, families: &[String]) -> (Vec<cases::Case>, Arena) {
    let cases = families::all(amount, families);
    let arena = arena(&cases);
    (cases, arena)
}

/// Returns buffers that are large enough for the cases.
fn arena(cases: &[cases::Case]) -> Arena {
    let most = |length: fn(&cases::Sealed) -> usize| cases.iter().map(|case| length(&case.of)).max().unwrap_or(0);
    Arena::new(most(|of| of.text.len().max(of.sealed.len())), most(|of| of.aad.len()), most(|of| of.nonce.len()))
}

fn run(run: &Run) -> Result<bool, String> {
    let amount = match run.amount {
        Size::Quick => Amount::Quick,
        Size::Usual => Amount::Usual,
        Size::Full => Amount::Full,
    };
    let paths = if run.plugins.is_empty() { prepare::here()? } else { run.plugins.clone() };
    let (family, number) = match run.case.as_deref().map(|case| case.split_once('/').ok_or("--case needs FAMILY/NUMBER")).transpose()? {
        Some((family, number)) => (vec![family.to_owned()], number.parse().ok()),
        None => (run.family.clone(), None),
    };
    let (mut cases, mut arena) = cases_and_arena(amount, &family);
    cases.retain(|case| number.is_none_or(|number: usize| case.number == number));
    if cases.is_empty() {
        return Err("there is no such family, or no such test case".into());
    }
    for spare in &run.spare {
        let (name, bytes) = spare.split_once('=').ok_or("--spare needs BUFFER=BYTES")?;
        arena.spare(name, bytes.parse().map_err(|_| format!("--spare {spare}: not a number"))?)?;
    }
    let mut arguments = vec!["--amount".to_owned(), format!("{amount:?}").to_lowercase(), "--patience".into(), run.patience.to_string()];
    arguments.extend(run.case.iter().flat_map(|case| ["--case".to_owned(), case.clone()]));
    arguments.extend(run.family.iter().flat_map(|family| ["--family".to_owned(), family.clone()]));
    arguments.extend(run.spare.iter().flat_map(|spare| ["--spare".to_owned(), spare.clone()]));
    let limits = Limits { cpu_seconds: run.patience, first_only: false, loud: run.loud, arguments: arguments.leak() };
    let reports = reports(paths, run.fetch, run.crippled, &cases, arena, limits);
    if run.raw {
        reports.iter().for_each(|(_, report)| print!("{}", report.lines()));
        return Ok(true);
    }
    let spare = run.spare.iter().map(|spare| format!(" --spare {spare}")).collect::<String>();
    let fetch = if run.fetch { " --fetch" } else { "" };
    let how = format!("--amount {}{fetch}{spare}", format!("{amount:?}").to_lowercase());
    let results = pages::Results { reports: &reports, cases: &cases, arguments: &how, strict: run.strict };
    let table = report::table(&results);
    print!("{table}");
    let files = [(&run.write, report::page(&table, &how)), (&run.junit, results.junit())];
    for (file, text) in files.iter().filter_map(|(file, text)| file.as_ref().map(|file| (file, text))) {
        fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let bad = |report: &Report| {
        let counted = if run.strict { finding::KINDS.len() } else { Kind::Leaves as usize };
        let found = report.counts[..counted].iter().any(|count| *count > 0) && !run.known.contains(&report.about.name);
        let few = report.absent.is_none() && (report.asked as usize) < run.least;
        if few {
            eprintln!("{}: {} test cases, fewer than {}", report.about.name, report.asked, run.least);
        }
        found || few || report.absent.is_some() && !run.plugins.is_empty()
    };
    Ok(!reports.iter().any(|(_, report)| bad(report)))
}

/// Builds and tests the plug-ins. With `crippled`, a plug-in that names switches has a second report.
fn reports(
    paths: Vec<PathBuf>,
    fetch: bool,
    crippled: bool,
    cases: &[cases::Case],
    mut arena: Arena,
    limits: Limits,
) -> Vec<(PathBuf, Report)> {
    let plugins: Vec<_> = paths.into_iter().map(|path| (prepare::plugin(&path, fetch), path)).collect();
    let mut reports = Vec::new();
    for (plugin, path) in plugins {
        let plugin = match plugin {
            Ok(plugin) => plugin,
            Err(why) => {
                reports.push((path, Report { absent: Some(why), ..Report::default() }));
                continue;
            }
        };
        eprintln!("asking {} ...", plugin.path.display());
        let mut report = worker::ask(&plugin.command, cases, &mut arena, limits);
        for setting in &plugin.settings {
            report.about.version += &format!(", {setting}");
        }
        let more = (crippled && report.absent.is_none() && !plugin.crippled.is_empty())
            .then(|| crippled_report(&plugin.command, &plugin.crippled, &report, cases, &mut arena, limits));
        reports.push((path.clone(), report));
        reports.extend(more.map(|report| (path, report)));
    }
    reports
}

/// Tests a plug-in on each crippled processor. Findings of the plain processor are left out.
fn crippled_report(
    command: &[String],
    all: &[switches::Settings],
    plain: &Report,
    cases: &[cases::Case],
    arena: &mut Arena,
    limits: Limits,
) -> Report {
    let mut report = Report { about: plain.about.clone(), crippled: true, ..Report::default() };
    let mut refused = 0;
    for settings in all {
        let other = worker::ask(&[settings, command].concat(), cases, arena, limits);
        refused += usize::from(other.absent.is_some());
        report.absorb(other, settings, plain);
        if limits.first_only && !report.findings.is_empty() {
            break;
        }
    }
    report.about.version += &format!(", {} crippled processors", all.len() - refused);
    if refused > 0 {
        report.about.version += &format!(", and {refused} that it refuses");
    }
    report
}

fn acvp(prompt: &Path, expected: &Path, plugins: &[PathBuf]) -> Result<bool, String> {
    let set = published::acvp(prompt, expected)?;
    let limits = Limits { cpu_seconds: 20, first_only: false, loud: false, arguments: &[] };
    let reports = reports(plugins.to_vec(), false, false, &set.cases, arena(&set.cases), limits);
    print!("{}", report::table(&pages::Results { reports: &reports, cases: &set.cases, arguments: "", strict: false }));
    Ok(reports.iter().all(|(_, report)| report.absent.is_none() && report.counts[0] == 0 && report.asked > 0))
}

fn vectors(cavp: Option<&Path>, acvp: &[PathBuf], write: Option<&Path>) -> Result<bool, String> {
    let sample = prepare::home().aead.join("../../testdata/cavp_gcm_sample.txt");
    let mut sets = vec![published::wycheproof()?];
    if cavp.is_some() || sample.exists() {
        sets.push(published::cavp(cavp.unwrap_or(&sample))?);
    }
    for pair in acvp.chunks(2) {
        sets.push(published::acvp(&pair[0], &pair[1])?);
    }
    sets.push(published::closing(usize::MAX));
    for set in &sets {
        match published::wrong(set) {
            0 => {}
            wrong => return Err(format!("{}: {wrong} cases differ from the model", set.name)),
        }
    }
    let (table, _, closed) = published::table(&sets);
    print!("{table}");
    if let Some(folder) = write {
        let text = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(text)?;
        for (name, file) in published::files()? {
            fs::write(folder.join(name), format!("{file:#}\n")).map_err(text)?;
            println!("{}", folder.join(name).display());
        }
    }
    Ok(closed)
}

fn selftest(only: &[String]) -> Result<bool, String> {
    let (cases, mut arena) = cases_and_arena(Amount::Quick, &[]);
    let limits = Limits { cpu_seconds: 2, first_only: true, loud: false, arguments: &[] };
    let program = std::env::current_exe().map_err(|error| error.to_string())?.display().to_string();
    let crippled = switches::of(prepare::MODEL_WITHOUT, "");
    let mut failed = String::new();
    let mut caught = 0;
    for fault in faulty::FAULTS.iter().filter(|fault| only.is_empty() || only.iter().any(|name| name == fault.name)) {
        let faulty = match fault.family {
            "programs" => vec![program.clone(), "faulty-program".into()],
            _ => vec![peer::MODEL.into()],
        };
        let command = [vec![format!("REFEREE_FAULT={}", fault.name)], faulty].concat();
        let family: Vec<cases::Case>;
        let (report, named) = match fault.family {
            "processors" => {
                let plain = worker::ask(&command, &cases, &mut arena, limits);
                let report = crippled_report(&command, &crippled, &plain, &cases, &mut arena, limits);
                let named = plain.findings.is_empty() && report.findings.iter().all(|finding| !finding.settings.is_empty());
                (report, named)
            }
            "programs" => (worker::ask(&command, &cases, &mut arena, limits), true),
            name => {
                family = families::all(Amount::Quick, &[name.to_owned()]);
                (worker::ask(&command, &family, &mut arena, limits), true)
            }
        };
        match report.findings.first() {
            Some(finding) if finding.kind == fault.kind && named => caught += 1,
            other => writeln!(failed, "{}: {} ({}), but {other:?}, {:?}", fault.name, fault.description, fault.family, report.absent)
                .expect("a String"),
        }
    }
    // Without a fault there are no findings, in this process and at the end of a pipe.
    let mut asked = 0;
    for command in [vec![peer::MODEL.into()], vec![program, "faulty-program".into()]] {
        let report = worker::ask(&command, &cases, &mut arena, Limits { first_only: false, ..limits });
        if report.asked < 1000 || !report.findings.is_empty() {
            writeln!(failed, "without a fault: {} asked, {:?} {:?}", report.asked, report.findings, report.absent).expect("a String");
        }
        asked += report.asked;
    }
    print!("{failed}");
    assert!(asked > 0);
    assert!(caught > 0);
    Ok(failed.is_empty())
}
