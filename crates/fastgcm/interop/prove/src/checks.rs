//! What else is asked of the prover about fastgcm: all lengths by induction; semantics against this processor; calls that are wrong on purpose.
//!
//! ```text
//! fastgcm-prove PROGRAM lengths [NAME=VALUE]...    row, verb, key, over (text or aad): those only; every: of the exits; seed
//! fastgcm-prove PROGRAM forms [NAME=VALUE]...      tries: of each encoding; seed
//! fastgcm-prove PROGRAM lockstep [NAME=VALUE]...   row, verb: those only; seed
//! fastgcm-prove PROGRAM controls [NAME=VALUE]...   row: that only; seed
//! fastgcm-prove PROGRAM flips [NAME=VALUE]...      count: flipped bits for each row and verb; seed
//! ```

use crate::{
    controls,
    plan::{self, is_beyond, is_main},
};
use gcm_prove::{
    checks,
    induct::{self, Over},
    machine::Decoded,
    silicon::lockstep,
    statement::calls::{Case, Form, Layout, ROWS, Subject},
    statement::plan::{Lengths, asked as in_table},
    targets::table,
    values::random::{Random, Seed},
};
use std::collections::HashMap;

/// What is asked for, if it is a check of this module; returns how much of it fails.
pub(crate) fn asked(arguments: &[String], drawn: fn() -> Result<Seed, String>) -> Option<Result<usize, String>> {
    let (name, known, check) = CHECKS.into_iter().find(|(name, ..)| arguments.iter().any(|argument| argument == name))?;
    let run = || {
        let mut program = None;
        let mut options = Options::new();
        for argument in arguments.iter().filter(|argument| **argument != name) {
            match argument.split_once('=') {
                Some((name, value)) if known.contains(&name) || name == "seed" => drop(options.insert(name, value)),
                None if argument.contains('/') && program.is_none() => program = Some(argument),
                _ => return Err(format!("{name} does not know {argument}: it takes NAME=VALUE, of {} and seed", known.join(", "))),
            }
        }
        let program = program.ok_or("no program is named, with its path")?;
        let seed = if let Some(seed) = number(&options, "seed")? { seed } else { drawn()? };
        println!("points and operands drawn from seed {seed}");
        let mut subject = Subject::start("program", program.as_ref(), &[])?;
        (0..ROWS.len()).for_each(|row| subject.turns[row] = plan::turn(row).0);
        subject.longest = Some(LONGEST);
        if name != "controls" {
            subject.verbs.retain(|verb| !is_beyond(&verb.name));
        }
        check(&subject, &options, seed)
    };
    Some(run())
}

fn number<T: std::str::FromStr>(options: &Options<'_>, name: &str) -> Result<Option<T>, String> {
    options.get(name).map(|n| n.parse().map_err(|_| format!("{name}={n} is no number"))).transpose()
}

type Options<'a> = HashMap<&'a str, &'a str>;

/// A check, with its name and what it may be told.
type Check = (&'static str, &'static [&'static str], fn(&Subject, &Options<'_>, Seed) -> Result<usize, String>);
const CHECKS: [Check; 5] = [
    ("lengths", &["row", "verb", "key", "over", "every"], lengths),
    ("forms", &["tries", "whole"], forms),
    ("lockstep", &["row", "verb"], in_lockstep),
    ("flips", &["row", "count"], flips),
    ("controls", &["row"], in_controls),
];

/// Calls that are wrong on purpose, by themselves, in a table, and of any length.
fn in_controls(subject: &Subject, options: &Options<'_>, seed: Seed) -> Result<usize, String> {
    let is = |name: &str, value: &str| options.get(name).is_none_or(|asked| *asked == value);
    let mut failed = 0;
    for row in (0..ROWS.len()).filter(|&row| is("row", ROWS[row].0)) {
        let name = ROWS[row].0;
        let (held, mut wrong) = controls::run(subject, row, seed)?;
        if !controls::points_are_wide(seed) {
            wrong.push("points are not drawn from all of the field".into());
        }
        // A table with one call that is refuted, between two that are proved.
        let lengths = Lengths { keys: vec![16], texts: vec![32, 33, 34], ..Lengths::default() };
        let groups = in_table(subject, row, "wrong: a byte of the ciphertext", &lengths, false);
        println!("{name}: of the next three calls one is wrong on purpose, and so is the induction behind them");
        let refuted = table::run(subject, &groups, seed, table::Options { wiped: false, stop: false });
        if refuted != 1 {
            wrong.push(format!("{name}: {refuted} calls of the table are refuted, not 1"));
        }
        // Right up to 8 GiB: no sample has such AAD.
        let verb = subject.verb("wrong: long AAD").ok_or("the program has no long AAD that is wrong")?;
        let text = plan::turn(row).0 + 29;
        let case = Case { verb, row, key: 16, nonce: 12, aad: 0, text, cuts: [0; 2], right: true, layout: Layout::default() };
        match induct::induct(subject, &mut Decoded::default(), &case, Over::Aad, 1, seed) {
            Err(failure) if failure.to_string().contains("refuted: exit: the tag: byte 0") => {}
            Err(failure) => wrong.push(format!("{name}, long AAD: {failure}")),
            Ok(_) => wrong.push(format!("{name}, long AAD: proved")),
        }
        if checks::of_any_length(subject, &[(case, Over::Aad)], 1, seed) != 1 {
            wrong.push(format!("{name}, long AAD: its induction fails, and nothing is said of it"));
        }
        wrong.iter().for_each(|what| println!("FAILED {what}"));
        failed += wrong.len();
        if wrong.is_empty() {
            assert!(held > 0);
        }
    }
    Ok(failed)
}

/// Verbs whose loops are proved, by what is of any length.
const LOOPS: [(&str, Over); 5] =
    [("seal", Over::Text), ("open", Over::Text), ("seal apart", Over::Text), ("open apart", Over::Text), ("seal", Over::Aad)];

/// The longest text that an induction is asked for: the next one runs two rounds ahead (`gcm/ahead.rs`), in two loops, of which no invariant is found.
const LONGEST: u64 = (8 << 10) - 1;

/// All lengths: a line for each row, key and verb.
fn lengths(subject: &Subject, options: &Options<'_>, seed: Seed) -> Result<usize, String> {
    let is = |name: &str, value: &str| options.get(name).is_none_or(|asked| *asked == value);
    let mut questions = Vec::new();
    for (row, key, (verb, over)) in
        (0..ROWS.len()).flat_map(|row| [16, 24, 32].into_iter().flat_map(move |key| LOOPS.map(|l| (row, key, l))))
    {
        let over_name = if over == Over::Text { "text" } else { "aad" };
        if is("row", ROWS[row].0) && is("key", &(8 * key).to_string()) && is("verb", verb) && is("over", over_name) {
            let verb = subject.verb(verb).ok_or("it has no such verb")?;
            // Beside a shorter text the number of blocks of AAD decides, which is no linear function of its length.
            let (aad, text) = if over == Over::Text { (13, 0) } else { (0, plan::turn(row).0 + 29) };
            let case = Case { verb, row, key, nonce: 12, aad, text, cuts: [0; 2], right: true, layout: Layout::default() };
            questions.push((case, over));
        }
    }
    let every = number(options, "every")?.unwrap_or(1);
    Ok(checks::of_any_length(subject, &questions, every, seed))
}

/// Bits of machine code that is executed, flipped.
fn flips(subject: &Subject, options: &Options<'_>, seed: Seed) -> Result<usize, String> {
    let count = number(options, "count")?.unwrap_or(40);
    let is = |name: &str, value: &str| options.get(name).is_none_or(|asked| *asked == value);
    let verbs: Vec<usize> = ["seal", "open"].into_iter().filter_map(|verb| subject.verb(verb)).collect();
    let rows = (0..ROWS.len()).filter(|&row| is("row", ROWS[row].0));
    let all: Vec<(usize, usize)> = rows.flat_map(|row| verbs.iter().map(move |&verb| (row, verb))).collect();
    Ok(checks::flips(subject, &all, count, seed))
}

/// Each instruction that proofs execute, held against this processor; and semantics that are wrong on purpose, which must be found.
fn forms(subject: &Subject, options: &Options<'_>, seed: Seed) -> Result<usize, String> {
    let tries = number(options, "tries")?.unwrap_or(300);
    let (encodings, proofs) = checks::encodings(subject, &(0..ROWS.len()).collect::<Vec<_>>(), seed);
    checks::forms_of(encodings, proofs, tries, seed, gcm_prove::silicon::forms::BROKEN, number::<u8>(options, "whole")?.is_some())
}

/// Whole calls, an instruction at a time by the interpreter and by this processor.
fn in_lockstep(subject: &Subject, options: &Options<'_>, seed: Seed) -> Result<usize, String> {
    let is = |name: &str, value: &str| options.get(name).is_none_or(|asked| *asked == value);
    let mut failed = 0;
    for row in (0..ROWS.len()).filter(|&row| is("row", ROWS[row].0)) {
        let name = ROWS[row].0;
        if !lockstep::has(row) {
            println!("{name}: this processor has not got its instructions");
            continue;
        }
        let mut cases = cases(subject, row, seed);
        cases.retain(|case| is("verb", &subject.verbs[case.verb].name));
        failed += checks::in_lockstep(subject, row, &cases, seed);
    }
    Ok(failed)
}

/// Calls that are run so: each verb, and two that are long.
fn cases(subject: &Subject, row: usize, seed: Seed) -> Vec<Case> {
    let mut random = Random::new(seed, 5);
    let mut all = Vec::new();
    for (n, verb) in subject.verbs.iter().enumerate().skip(1) {
        let texts = if is_main(&verb.name) { vec![0, 1, 100, 700, 1420] } else { vec![random.word() as usize % 400] };
        for (text, right) in texts.into_iter().flat_map(|text| [(text, true), (text, false)]).filter(|(_, right)| *right || verb.opens) {
            let one = |own: &[usize], usual: &[usize], random: &mut Random| {
                let list = if own.is_empty() { usual } else { own };
                list[random.word() as usize % list.len()]
            };
            let (key, nonce) = (one(&verb.keys, &[16, 24, 32], &mut random), one(&verb.nonces, &[12, 12, 8], &mut random));
            let (aad, text) = (random.word() as usize % 60, verb.text(text));
            let whole = if verb.form == Form::Gmac { aad } else { text };
            let cuts = if verb.cuts { [whole / 3, whole - whole / 5] } else { [0; 2] };
            all.push(Case { verb: n, row, key, nonce, aad, text, cuts, right, layout: Default::default() });
        }
    }
    all
}
