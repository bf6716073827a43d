//! The program `gcm-prove`: `gcm-prove new NAME`, or `gcm-prove TARGET.c [-l LIBRARY] [OPTION]... [OPTION OF THE COMPILER]...` (tools/prove/README.md).
#![allow(missing_docs)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use gcm_prove::{
    checks,
    induct::{self, Over},
    process::symbols,
    silicon::arm,
    statement::calls::{self, Case, Layout, ROW_COUNT, ROWS, Subject, row_of},
    statement::plan::{self, Lengths},
    targets::planted,
    targets::target,
    values::random::{self, Seed},
};
use std::{
    collections::{BTreeSet, HashMap},
    fs,
    io::Write,
    panic,
    path::PathBuf,
    process::ExitCode,
};

const USAGE: &str = "gcm-prove new NAME            writes NAME.c, a target to be filled in
gcm-prove TARGET.c [-l LIBRARY]... [OPTION OF THE COMPILER]...
gcm-prove PROGRAM             proves a compiled target
  --row R[,R]                 only these rows: vaes-avx512, vaes-avx2, aesni-avx, aesni-sse; aes-neon, aes-neon-eor3
  --sweep                     proves each length, not a sample
  --verb V --key N --nonce N --aad N --text N[..N][,..]   proves these calls
  --patch FUNCTION+OFFSET=BYTE   replaces a byte of that function (hexadecimal)
  --plant                     plants two faults, which must be refuted at exactly their lengths
  --lengths                   proves every length that reaches the loop of `seal` and `open`, by induction
  --longest N                 the largest length of --lengths (default: the standard's)
  --turn N                    bytes of an iteration of that loop, if they are not found
  --right                     the right tag only, for code that zeroes a refused text in a loop
  --every N                   a sample: each N-th of the lengths with which that loop may end
  --forms                     compares each executed instruction with this processor
  --whole                     fails if this processor lacks one of them
  --seed N                    the seed of the random points, to repeat a run
  --json FILE                 writes the results";

fn main() -> ExitCode {
    // After a broken pipe the program ends as after any panic, which removes the compiled files.
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_pipe = info.payload().downcast_ref::<String>().is_some_and(|why| why.contains("Broken pipe"));
        if !is_pipe {
            usual(info);
        }
    }));
    match panic::catch_unwind(work) {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        Ok(Ok(false)) => ExitCode::FAILURE,
        Ok(Err(why)) => {
            // Standard error may be closed, too.
            let _ = writeln!(std::io::stderr(), "{why}");
            ExitCode::from(2)
        }
        Err(_) => ExitCode::from(2),
    }
}

fn work() -> Result<bool, String> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().filter(|first| !first.starts_with('-')).ok_or(USAGE)?;
    if first == "new" {
        let path = target::new(&arguments.next().ok_or(USAGE)?)?;
        println!("{} is written: its six steps say what to fill in", path.display());
        return Ok(true);
    }
    if !is_x86_feature_detected!("pclmulqdq") {
        return Err("this processor has no carry-less multiplication".into());
    }
    let (mut options, mut more): (HashMap<String, String>, Vec<String>) = Default::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match &*argument {
            "--sweep" | "--plant" | "--forms" | "--lengths" | "--right" | "--whole" => {
                drop(options.insert(argument[2..].into(), String::new()))
            }
            "--row" | "--verb" | "--key" | "--nonce" | "--aad" | "--text" | "--patch" | "--seed" | "--json" | "--longest" | "--turn"
            | "--every" => {
                drop(options.insert(argument[2..].into(), value()?));
            }
            "-l" => {
                let library = value()?;
                let is_file = library.contains(['/', '.']);
                more.push(if is_file { library } else { format!("-l{library}") });
            }
            _ if argument.starts_with("--") => return Err(format!("{argument} is not known\n{USAGE}")),
            _ => more.push(argument),
        }
    }
    let source = PathBuf::from(&first);
    let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    target::regular(&source)?;
    let folder = target::folder()?;
    let is_source = source.extension().is_some_and(|end| end == "c");
    // A program is a path, not a name to be searched for.
    let program = if is_source {
        target::compiled(&source, &more, folder.path())?
    } else {
        fs::canonicalize(&source).map_err(|e| format!("{first}: {e}"))?
    };
    let rows: Vec<usize> = match options.get("row") {
        None if symbols::is_arm(&program) => (ROWS.len()..ROW_COUNT).collect(),
        None => (0..ROWS.len()).collect(),
        Some(names) => {
            let number = |name: &str| row_of(name).ok_or_else(|| format!("--row {name}: there is no such row"));
            names.split(',').map(number).collect::<Result<_, _>>()?
        }
    };
    let lengths = Lengths::of(&options)?;
    let seed: Seed = match options.get("seed") {
        Some(seed) => seed.parse().map_err(|_| "--seed wants a number")?,
        None => random::drawn()?,
    };
    println!("{name}: points drawn from seed {seed}");
    if options.contains_key("plant") {
        return planted::plant(&name, &program, &rows, seed);
    }
    if options.contains_key("forms") && symbols::is_arm(&program) {
        let mut failed = 0;
        for &row in &rows {
            failed += arm::check(&target::started(&name, &program, row, None)?, row, seed)?;
        }
        return Ok(failed == 0);
    }
    if options.contains_key("forms") {
        let (mut encodings, mut proofs) = (BTreeSet::new(), 0);
        for &row in &rows {
            let (met, proved) = checks::encodings(&target::started(&name, &program, row, None)?, &[row], seed);
            encodings.extend(met);
            proofs += proved;
        }
        return Ok(checks::forms_of(encodings, proofs, 300, seed, 0, options.contains_key("whole"))? == 0);
    }
    if options.contains_key("lengths") {
        let number = |name: &str| options.get(name).map(|n| n.parse::<u64>().map_err(|_| format!("--{name} {n} is no number"))).transpose();
        let (longest, turn, every) = (number("longest")?, number("turn")?, number("every")?.unwrap_or(1));
        if every == 0 {
            return Err("--every 0: each how-manieth?".into());
        }
        if turn.is_some_and(|turn| turn == 0 || turn % 16 != 0) {
            return Err("--turn: a turn has whole blocks".into());
        }
        let mut failed = 0;
        for &row in &rows {
            let mut subject = target::started(&name, &program, row, options.get("patch").map(|patch| &**patch))?;
            (subject.longest, subject.right_only) = (longest, options.contains_key("right"));
            let verbs = match options.get("verb") {
                Some(verb) => vec![subject.verb(verb).ok_or("it has no such verb")?],
                None => ["seal", "open"].iter().filter_map(|verb| subject.verb(verb)).collect(),
            };
            let keys = if lengths.keys.is_empty() { vec![16] } else { lengths.keys.clone() };
            failed +=
                verbs.into_iter().map(|verb| of_any_length(&mut subject, row, verb, &keys, (turn, every as usize), seed)).sum::<usize>();
        }
        return Ok(failed == 0);
    }
    let is_own = !lengths.texts.is_empty() || !lengths.keys.is_empty() || !lengths.nonces.is_empty() || !lengths.aads.is_empty();
    let start = |row| target::started(&name, &program, row, options.get("patch").map(|patch| &**patch));
    let rows = target::prove_rows(start, &rows, seed, |subject, row| match options.get("verb") {
        None if !is_own => plan::of_target(subject, row, options.contains_key("sweep")),
        verb => plan::asked(subject, row, verb.map_or("", |verb| verb), &lengths, false),
    });
    let report = target::tell(&name, &rows, seed);
    if let Some(file) = options.get("json") {
        fs::write(file, format!("{report:#}\n")).map_err(|e| format!("{file}: {e}"))?;
    }
    let calls: usize = rows.iter().map(target::Row::calls).sum();
    if calls == 0 {
        return Err("nothing was asked for: no verb takes such lengths, or no row is taken".into());
    }
    Ok(rows.iter().all(|row| row.calls() == row.proved()))
}

/// Proves every length of a verb, with each of these sizes of keys. Returns the number of failures.
fn of_any_length(subject: &mut Subject, row: usize, verb: usize, keys: &[usize], (turn, every): (Option<u64>, usize), seed: Seed) -> usize {
    let case = |key| Case { verb, row, key, nonce: 12, aad: 13, text: 0, cuts: [0; 2], right: true, layout: Layout::default() };
    let about = format!("{}, {}", calls::row(row).0, subject.verbs[verb].name);
    let found = turn.map_or_else(|| induct::turn(subject, &case(keys[0]), Over::Text, seed), |turn| Ok(turn as usize));
    match found {
        Ok(turn) => {
            println!("{about}: turns of {turn} bytes");
            subject.turns[row] = turn;
            let questions: Vec<_> = keys.iter().map(|&key| (case(key), Over::Text)).collect();
            checks::of_any_length(subject, &questions, every, seed)
        }
        Err(why) => {
            println!("{about}: {why}");
            1
        }
    }
}
