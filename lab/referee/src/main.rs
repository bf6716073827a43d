//! The referee: implementations of AES-GCM, each asked in a process of its own for what SP 800-38D says, and
//! for the manners that a caller needs. docs/referee.md says how one is tried.
//!
//! ```text
//! main ┬── new · prepare      a plug-in to begin with; from a source file or a folder to a plug-in, and its switches
//!      ├── families · cases   what is asked, with the model's answers
//!      ├── worker · finding   a process for each implementation; what is wrong with an answer
//!      │    ├── peer · pipe   an implementation in C, or a program that reads questions
//!      │    ├── message       what is called for one message
//!      │    │    └── memory   buffers between pages that nobody may touch
//!      │    └── freed         what is in memory when a key is freed
//!      ├── serve              the model with a fault, as a program at the end of a pipe
//!      └── report · pages     the table; JUnit's XML
//! ```

mod cases;
mod families;
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
use worker::Manner;

#[derive(Parser)]
#[command(version, about = "Asks implementations of AES-GCM for every answer of SP 800-38D, and looks at their manners")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Ask implementations, and print one table.
    Run(Run),
    /// Write a plug-in to begin with.
    New {
        language: new::Language,
        /// Where to.
        #[arg(default_value = ".")]
        folder: PathBuf,
    },
    /// Plant each known fault in the model, and see that it is found for what it is.
    Selftest {
        /// Only these.
        faults: Vec<String>,
    },
    #[command(hide = true)]
    FaultyProgram,
    /// Put a vector set of NIST's ACVP to implementations.
    Acvp {
        /// The prompt: a vector set in JSON.
        prompt: PathBuf,
        /// What is expected of it.
        expected: PathBuf,
        /// As for `run`.
        #[arg(required = true)]
        plugins: Vec<PathBuf>,
    },
    /// Say which planted faults published vectors would have missed.
    Vectors {
        /// The cases of CAVP, as testdata/make_cavp_sample.py writes them; its sample if left out.
        #[arg(long)]
        cavp: Option<PathBuf>,
        /// A prompt of ACVP and what is expected of it.
        #[arg(long, num_args = 2, value_names = ["PROMPT", "EXPECTED"])]
        acvp: Vec<PathBuf>,
        /// Write the vectors that close the gaps to this folder, in Wycheproof's form.
        #[arg(long, value_name = "FOLDER")]
        write: Option<PathBuf>,
    },
}

#[derive(clap::Args)]
struct Run {
    /// Source files (.c, .cc, .py, .java, .js), shared objects, folders with a go.mod or a Cargo.toml, or
    /// names of what is in tools/aead/libraries; all that are no crates of Rust if left out. What is to be in its
    /// environment stands before it: "REFEREE_LINUX=2 linux".
    plugins: Vec<PathBuf>,
    /// How much is asked.
    #[arg(long, value_enum, default_value = "usual")]
    amount: Size,
    /// Only these families of questions: lengths, operands, long, aad, nonces, tags, forged, wraps, places,
    /// pieces, copies, empty.
    #[arg(long)]
    family: Vec<String>,
    /// Only this question (FAMILY/NUMBER), as a finding names it.
    #[arg(long, value_name = "FAMILY/NUMBER")]
    case: Option<String>,
    /// Ask under each feature of the processor, and under each two, that the implementation's own switch takes away: its plug-in names the switch.
    #[arg(long)]
    crippled: bool,
    /// Manners count too: any finding makes the exit status 1.
    #[arg(long)]
    strict: bool,
    /// Fewer questions than these make the exit status 1: an implementation is asked what its plug-in offers, and one that
    /// offers nothing would have no findings.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    least: usize,
    /// Of this implementation it is known that it has findings: they do not change the exit status.
    #[arg(long, value_name = "NAME")]
    known: Vec<String>,
    /// Fetch libraries that no package of this machine has, and build libraries from source: minutes.
    #[arg(long)]
    fetch: bool,
    /// Seconds of processor time that an answer may take.
    #[arg(long, default_value_t = 20)]
    patience: u64,
    /// Behind these buffers so many bytes may be read (nonce=4), up to 64: a fault that is known shall not hide others.
    #[arg(long, value_name = "BUFFER=BYTES")]
    spare: Vec<String>,
    /// Write the table to this file, too, with the processor and the amount.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Write JUnit's XML to this file, for CI.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[arg(long, hide = true)]
    told: bool,
    /// Show what plug-ins write to standard error.
    #[arg(long)]
    loud: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Size {
    /// Some thousand questions.
    Quick,
    /// Every length to 2,000 bytes, and texts of up to 1 MiB.
    Usual,
    /// Texts of up to 64 MiB, too.
    Full,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(run) => self::run(&run),
        Command::New { language, folder } => new::write(language, &folder),
        Command::Selftest { faults } => selftest(&faults),
        Command::FaultyProgram => serve::faulty().map(|()| true),
        Command::Acvp { prompt, expected, plugins } => acvp(&prompt, &expected, &plugins),
        Command::Vectors { cavp, acvp, write } => vectors(cavp.as_deref(), &acvp, write.as_deref()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("referee: {why}");
            ExitCode::from(2)
        }
    }
}

/// All cases, and buffers that are large enough for them.
fn asked(amount: Amount, families: &[String]) -> (Vec<cases::Case>, Arena) {
    let cases = families::all(amount, families);
    let arena = arena(&cases);
    (cases, arena)
}

/// Buffers that are large enough.
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
    let (family, number) = match run.case.as_deref().map(|case| case.split_once('/').ok_or("--case wants FAMILY/NUMBER")).transpose()? {
        Some((family, number)) => (vec![family.to_owned()], number.parse().ok()),
        None => (run.family.clone(), None),
    };
    let (mut cases, mut arena) = asked(amount, &family);
    cases.retain(|case| number.is_none_or(|number: usize| case.number == number));
    if cases.is_empty() {
        return Err("there is no such family, or no such question".into());
    }
    for spare in &run.spare {
        let (name, bytes) = spare.split_once('=').ok_or("--spare wants BUFFER=BYTES")?;
        arena.spare(name, bytes.parse().map_err(|_| format!("--spare {spare}: no number"))?)?;
    }
    let mut again = vec!["--amount".to_owned(), format!("{amount:?}").to_lowercase(), "--patience".into(), run.patience.to_string()];
    again.extend(run.case.iter().flat_map(|case| ["--case".to_owned(), case.clone()]));
    again.extend(run.family.iter().flat_map(|family| ["--family".to_owned(), family.clone()]));
    again.extend(run.spare.iter().flat_map(|spare| ["--spare".to_owned(), spare.clone()]));
    let manner = Manner { patience: run.patience, first: false, loud: run.loud, again: again.leak() };
    let reports = reports(paths, run.fetch, run.crippled, &cases, arena, manner);
    if run.told {
        reports.iter().for_each(|(_, report)| print!("{}", report.lines()));
        return Ok(true);
    }
    let spare = run.spare.iter().map(|spare| format!(" --spare {spare}")).collect::<String>();
    let fetch = if run.fetch { " --fetch" } else { "" };
    let how = format!("--amount {}{fetch}{spare}", format!("{amount:?}").to_lowercase());
    let asked = pages::Asked { reports: &reports, cases: &cases, how: &how, strict: run.strict };
    let table = report::table(&asked);
    print!("{table}");
    let files = [(&run.write, report::page(&table, &how)), (&run.junit, asked.junit())];
    for (file, text) in files.iter().filter_map(|(file, text)| file.as_ref().map(|file| (file, text))) {
        fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let bad = |report: &Report| {
        let counted = if run.strict { finding::KINDS.len() } else { Kind::Leaves as usize };
        let found = report.counts[..counted].iter().any(|count| *count > 0) && !run.known.contains(&report.about.name);
        let few = report.absent.is_none() && (report.asked as usize) < run.least;
        if few {
            eprintln!("{}: asked {} questions, fewer than {}", report.about.name, report.asked, run.least);
        }
        found || few || report.absent.is_some() && !run.plugins.is_empty()
    };
    Ok(!reports.iter().any(|(_, report)| bad(report)))
}

/// Builds all, and asks one after the other; those that are asked on crippled processors, too, have a second report of that.
fn reports(
    paths: Vec<PathBuf>,
    fetch: bool,
    crippled: bool,
    cases: &[cases::Case],
    mut arena: Arena,
    manner: Manner,
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
        let mut report = worker::ask(&plugin.command, cases, &mut arena, manner);
        for setting in &plugin.settings {
            report.about.version += &format!(", {setting}");
        }
        let more = (crippled && report.absent.is_none() && !plugin.crippled.is_empty())
            .then(|| on_crippled(&plugin.command, &plugin.crippled, &report, cases, &mut arena, manner));
        reports.push((path.clone(), report));
        reports.extend(more.map(|report| (path, report)));
    }
    reports
}

/// Asks on each crippled processor; what it says without a switch is no finding again.
fn on_crippled(
    command: &[String],
    all: &[switches::Settings],
    plain: &Report,
    cases: &[cases::Case],
    arena: &mut Arena,
    manner: Manner,
) -> Report {
    let mut report = Report { about: plain.about.clone(), crippled: true, ..Report::default() };
    let mut refused = 0;
    for settings in all {
        let other = worker::ask(&[settings, command].concat(), cases, arena, manner);
        refused += usize::from(other.absent.is_some());
        report.absorb(other, settings, plain);
        if manner.first && !report.findings.is_empty() {
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
    let manner = Manner { patience: 20, first: false, loud: false, again: &[] };
    let reports = reports(plugins.to_vec(), false, false, &set.cases, arena(&set.cases), manner);
    print!("{}", report::table(&pages::Asked { reports: &reports, cases: &set.cases, how: "", strict: false }));
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
            wrong => return Err(format!("{}: {wrong} are not what the model says", set.name)),
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
    let (cases, mut arena) = asked(Amount::Quick, &[]);
    let manner = Manner { patience: 2, first: true, loud: false, again: &[] };
    let program = std::env::current_exe().map_err(|error| error.to_string())?.display().to_string();
    let crippled = switches::of(prepare::MODEL_WITHOUT, "");
    let mut failed = String::new();
    let mut caught = 0;
    for fault in referee_faulty::FAULTS.iter().filter(|fault| only.is_empty() || only.iter().any(|name| name == fault.name)) {
        let faulty = match fault.family {
            "programs" => vec![program.clone(), "faulty-program".into()],
            _ => vec![peer::MODEL.into()],
        };
        let command = [vec![format!("REFEREE_FAULT={}", fault.name)], faulty].concat();
        let family: Vec<cases::Case>;
        let (report, named) = match fault.family {
            "processors" => {
                let plain = worker::ask(&command, &cases, &mut arena, manner);
                let report = on_crippled(&command, &crippled, &plain, &cases, &mut arena, manner);
                let named = plain.findings.is_empty() && report.findings.iter().all(|finding| !finding.settings.is_empty());
                (report, named)
            }
            "programs" => (worker::ask(&command, &cases, &mut arena, manner), true),
            name => {
                family = families::all(Amount::Quick, &[name.to_owned()]);
                (worker::ask(&command, &family, &mut arena, manner), true)
            }
        };
        match report.findings.first() {
            Some(finding) if finding.kind == kind(fault.kind) && named => caught += 1,
            other => {
                writeln!(failed, "{}: {} ({}), but {other:?}, {:?}", fault.name, fault.says, fault.family, report.absent).expect("a String")
            }
        }
    }
    // And without a fault there is nothing, in this process and at the end of a pipe.
    let mut asked = 0;
    for command in [vec![peer::MODEL.into()], vec![program, "faulty-program".into()]] {
        let report = worker::ask(&command, &cases, &mut arena, Manner { first: false, ..manner });
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

/// How a planted fault has to be told.
fn kind(kind: referee_faulty::Kind) -> Kind {
    match kind {
        referee_faulty::Kind::Answer | referee_faulty::Kind::Shape => Kind::Wrong,
        referee_faulty::Kind::Outside => Kind::Outside,
        referee_faulty::Kind::Leaves => Kind::Leaves,
        referee_faulty::Kind::Crash => Kind::Crash,
        referee_faulty::Kind::Hangs => Kind::Hangs,
        referee_faulty::Kind::Takes => Kind::Takes,
        referee_faulty::Kind::Keeps => Kind::Keeps,
    }
}
