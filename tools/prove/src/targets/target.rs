//! Programs of anybody, each a file of C beside a library: compiled, started for each row, proved, and told.

use crate::{
    process::symbols,
    statement::calls::{self, Case, Subject},
    statement::plan::Group,
    targets::concrete,
    targets::table::{self, Outcome, texts},
    values::random::Seed,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const HEADER: &str = include_str!("../../targets/gcm-prove.h");
const TEMPLATE: &str = include_str!("../../targets/template.c");

/// Writes a target to be filled in.
pub fn new(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(format!("{name}.c"));
    if path.exists() {
        return Err(format!("{} is there already", path.display()));
    }
    fs::write(&path, TEMPLATE.replace("NAME", name)).map_err(|e| format!("{}: {e}", path.display()))?;
    let header = path.with_file_name("gcm-prove.h");
    fs::write(&header, HEADER).map_err(|e| format!("{}: {e}", header.display()))?;
    Ok(path)
}

/// Where programs are compiled: a new folder that nobody else may read, as long as this is.
pub fn folder() -> Result<tempfile::TempDir, String> {
    tempfile::Builder::new().prefix("gcm-prove-").tempdir().map_err(|e| format!("a temporary folder: {e}"))
}

/// A file that is one, and no greater than any program is.
pub fn regular(path: &Path) -> Result<(), String> {
    let about = fs::metadata(path).map_err(|e| format!("{}: {e}", path.display()))?;
    match about.is_file() {
        true if about.len() <= symbols::LARGEST => Ok(()),
        true => Err(format!("{} has {} bytes, and no program has more than {}", path.display(), about.len(), symbols::LARGEST)),
        false => Err(format!("{} is no file", path.display())),
    }
}

/// Compiles a target with what the C compiler is to be told besides, in that folder; everything is linked into one program.
pub fn compiled(source: &Path, more: &[String], folder: &Path) -> Result<PathBuf, String> {
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let own = source.with_file_name("gcm-prove.h");
    if fs::read_to_string(&own).is_ok_and(|own| own != HEADER) {
        return Err(format!("{} is another version's: gcm-prove new writes this one's, beside a target of another name", own.display()));
    }
    fs::write(folder.join("gcm-prove.h"), HEADER).map_err(|e| format!("{}: {e}", folder.display()))?;
    let program = folder.join(&name);
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut command = Command::new(&compiler);
    command
        .args(["-O2", "-Wall", "-g", "-static", "-no-pie", "-Wl,-z,noexecstack", "-I"])
        .arg(folder)
        .arg("-o")
        .arg(&program)
        .arg(source)
        .args(more);
    // What repeats a call tells.
    let path = fs::canonicalize(source).map_err(|e| format!("{}: {e}", source.display()))?;
    let beside = path.parent().unwrap_or(&path).display().to_string();
    let told = format!("{}\n{compiler} -static -I{beside} {name}-refuted.c {} -o {name}-refuted", path.display(), more.join(" "));
    fs::write(program.with_extension("told"), told).map_err(|e| format!("{}: {e}", folder.display()))?;
    let status = command.status().map_err(|e| format!("{compiler}: {e}"))?;
    if status.success() { Ok(program) } else { Err(format!("{compiler} does not compile {}", source.display())) }
}

/// The address and the new byte that `FUNCTION+OFFSET=BYTE` says, in hexadecimal digits.
fn patch(program: &Path, patch: &str) -> Result<(u64, u8), String> {
    let parts = || -> Option<(&str, u64, u8)> {
        let (place, byte) = patch.split_once('=')?;
        let (name, offset) = place.rsplit_once('+').unwrap_or((place, "0"));
        let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        Some((name, hex(offset)?, u8::try_from(hex(byte)?).ok()?))
    };
    let (name, offset, byte) = parts().ok_or_else(|| format!("{patch}: a patch is written like aes_gcm_enc+0x1f3=11"))?;
    let at = symbols::Symbols::of(program).address(name).ok_or_else(|| format!("{} has no function {name}", program.display()))?;
    let at = at.checked_add(offset).filter(|_| offset < 1 << 32).ok_or_else(|| format!("{patch}: no function has so many bytes"))?;
    Ok((at, byte))
}

/// The program on that row, with a byte that is another.
pub fn started(name: &str, program: &Path, row: usize, patched: Option<&str>) -> Result<Subject, String> {
    let mut subject = Subject::on(name, program, row)?;
    if let Some(patched) = patched {
        let (at, byte) = patch(program, patched)?;
        subject.patch(at, byte)?;
    }
    Ok(subject)
}

/// One row of a program.
#[derive(Debug)]
pub struct Row {
    pub row: usize,
    /// The program for it, or why there is none.
    pub subject: Result<Subject, String>,
    pub groups: Vec<Group>,
    pub outcomes: Vec<Outcome>,
}

/// Proves what `plan` asks of a program on these rows, and prints tables.
pub fn prove_rows(
    start: impl Fn(usize) -> Result<Subject, String>,
    rows: &[usize],
    seed: Seed,
    plan: impl Fn(&Subject, usize) -> Vec<Group>,
) -> Vec<Row> {
    let one = |&row: &usize| {
        let subject = start(row);
        let (mut groups, mut outcomes) = (Vec::new(), Vec::new());
        match &subject {
            Ok(subject) => {
                let Subject { before, image, .. } = subject;
                let environment = if subject.has_environment { "; its environment is empty" } else { "" };
                let allocator = if image.allocators.is_empty() { "; no allocator has a name: what it gives is what it was" } else { "" };
                println!(
                    "\n{}: before the marker: {before}; {} answers of CPUID and XGETBV{environment}{allocator}",
                    calls::row(row).0,
                    image.answered
                );
                groups = plan(subject, row);
                let options = table::Options { wiped: false, stop: false };
                outcomes = table::outcomes(subject, &groups, seed.wrapping_add((row as Seed) << 96), options);
            }
            Err(why) => println!("\n{}: the program does not take it: {why}", calls::row(row).0),
        }
        Row { row, subject, groups, outcomes }
    };
    rows.iter().map(one).collect()
}

const KINDS: [&str; 3] = ["refuted", "the trace depends on a secret", "not understood"];

impl Row {
    fn count(&self, kind: &str) -> usize {
        self.outcomes.iter().flat_map(|outcome| &outcome.failures).filter(|(_, failure)| failure.kind() == kind).count()
    }

    pub fn calls(&self) -> usize {
        self.outcomes.iter().map(|outcome| outcome.runs).sum()
    }

    pub fn proved(&self) -> usize {
        self.calls() - self.outcomes.iter().map(|outcome| outcome.failures.len()).sum::<usize>()
    }

    /// Hashes of what was executed.
    fn trace(&self) -> [u64; 2] {
        std::array::from_fn(|i| self.outcomes.iter().fold(0, |sum: u64, outcome| sum.wrapping_add(outcome.trace[i])))
    }

    fn bound(&self) -> f64 {
        let proved = self.outcomes.iter().filter(|outcome| outcome.runs > outcome.failures.len());
        proved.map(|outcome| outcome.bound).fold(f64::NEG_INFINITY, f64::max).ceil()
    }

    fn first_failures(&self, kind: &str) -> Vec<(usize, &Case, String)> {
        let of_kind = |outcome: &Outcome| outcome.failures.iter().position(|(_, failure)| failure.kind() == kind);
        let found = self.outcomes.iter().enumerate().filter_map(|(n, outcome)| Some((n, &outcome.failures[of_kind(outcome)?])));
        found.map(|(n, (case, failure))| (n, case, failure.to_string())).collect()
    }
}

/// Writes a program that repeats such a call, if the target is C and was not patched; where that is.
fn repeats(name: &str, subject: &Subject, case: &Case, example: &concrete::Example) -> Option<String> {
    let told = fs::read_to_string(subject.program.with_extension("told")).ok().filter(|_| !subject.is_patched())?;
    let (source, command) = told.split_once('\n')?;
    let path = format!("{name}-refuted.c");
    fs::write(&path, example.program(source, command, subject, case)).ok()?;
    Some(path)
}

/// What has come of all rows: a table, what is not proved, and all of it as JSON.
pub fn tell(name: &str, rows: &[Row], seed: Seed) -> Value {
    println!(
        "\n| {name} | calls | proved | refuted | depends on a secret | not understood | instructions | error below | code | AES and GHASH |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---|---|");
    let (mut all, mut repeated) = (Vec::new(), None);
    for row in rows {
        let row_name = calls::row(row.row).0;
        let subject = match &row.subject {
            Ok(subject) => subject,
            Err(why) => {
                println!("| {row_name} | does not take it: {why} | | | | | | | | |");
                all.push(json!({ "row": row_name, "cannot": why }));
                continue;
            }
        };
        let [refuted, secret, unknown] = KINDS.map(|kind| row.count(kind));
        let steps: u64 = row.outcomes.iter().map(|outcome| outcome.steps).sum();
        let (trace, bound) = (row.trace(), row.bound());
        let bound = if bound.is_finite() { format!("2^{bound}") } else { "-".into() };
        let of = |kernel: u64| rows.iter().take_while(|other| other.row != row.row).find(|other| other.trace()[1] == kernel && kernel != 0);
        let same = of(trace[1]).map(|other| calls::row(other.row).0);
        let [code, kernel] = trace.map(|hash| format!("{:08x}", hash >> 32));
        let (calls, proved) = (row.calls(), row.proved());
        let shown = same.map_or(kernel.clone(), |same| format!("{kernel}, that of {same}"));
        println!("| {row_name} | {calls} | {proved} | {refuted} | {secret} | {unknown} | {steps} | {bound} | {code} | {shown} |");
        let mut failures = Vec::new();
        for kind in KINDS {
            for (n, case, why) in row.first_failures(kind) {
                let of_kind = row.outcomes[n].failures.iter().filter(|(_, failure)| failure.kind() == kind);
                let verb = &subject.verbs[case.verb].name;
                let example = if kind == "refuted" { concrete::example(subject, case) } else { None };
                if let Some(example) = example.as_ref().filter(|_| repeated.is_none()) {
                    repeated = repeats(name, subject, case, example);
                }
                let texts = texts(of_kind.clone().map(|(case, _)| case));
                failures.push(json!({
                    "kind": kind, "verb": verb, "calls": of_kind.count(), "texts": texts, "why": why,
                    "first": { "key": case.key, "nonce": case.nonce, "aad": case.aad, "text": case.text, "cuts": case.cuts, "right": case.right },
                    "example": example.map(|example| example.to_string()),
                }));
            }
        }
        let groups = row.groups.iter().zip(&row.outcomes).map(|(group, outcome)| {
            json!({
                "verb": subject.verbs[group.verb].name, "lengths": group.what, "calls": outcome.runs, "proved": outcome.runs - outcome.failures.len(),
                "instructions": outcome.steps, "seconds": outcome.time.as_secs_f64(), "error": format!("2^{}", outcome.bound.ceil()),
            })
        });
        all.push(json!({
            "row": row_name, "before": subject.before, "answered": subject.image.answered, "calls": calls, "proved": proved, "error": bound,
            "code": code, "aes_and_ghash": kernel, "one_code_path_with": same, "lines": groups.collect::<Vec<_>>(), "failures": failures,
        }));
    }
    for row in &all {
        for failure in row["failures"].as_array().into_iter().flatten() {
            let part = |name: &str| failure[name].as_str().unwrap_or_default().to_owned();
            println!(
                "{}, {}: {} calls, texts of {}: {}",
                row["row"].as_str().unwrap_or_default(),
                part("verb"),
                failure["calls"],
                part("texts"),
                part("why")
            );
            if failure["kind"] == KINDS[0] {
                let example = failure["example"].as_str().unwrap_or("none of eight inputs shows it");
                println!("    for example, with {}: {example}", failure["first"]);
            }
        }
    }
    if let Some(path) = repeated {
        println!("{path} is a program that repeats the first of these examples");
    }
    json!({ "program": name, "seed": seed.to_string(), "rows": all })
}
