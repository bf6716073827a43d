//! Further checks besides the table: proofs of all lengths by induction, comparison of semantics with this processor, and flipped bits, which must be found.

use crate::{
    induct::{self, Answer, Over},
    machine::Decoded,
    silicon::forms::{self, Comparison},
    silicon::lockstep,
    statement::calls::{Case, Layout, ROWS, Subject},
    statement::prove::{Failure, prove},
    values::random::{Map, Random, Seed},
};
use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// The largest number of instructions of a call, which ends endless loops.
const LIMIT: u64 = 200_000;

/// Proves each for any length, and prints a line for it. Returns the number of failures.
pub fn of_any_length(subject: &Subject, questions: &[(Case, Over)], every: usize, seed: Seed) -> usize {
    println!("| row | verb | key | of any length | lengths | loop at | exits | invariant | seconds | error below |");
    println!("|---|---|---:|---|---|---|---:|---|---:|---:|");
    let failed = AtomicUsize::new(0);
    each(questions, |n, (case, over)| {
        let start = Instant::now();
        let seed = seed.wrapping_add((n as Seed) << 64);
        let answer = induct::induct(subject, &mut Decoded::default(), case, *over, every, seed);
        if !print(subject, case, *over, every, &answer, start.elapsed()) {
            failed.fetch_add(1, Relaxed);
        }
    });
    failed.into_inner()
}

fn print(subject: &Subject, case: &Case, over: Over, every: usize, answer: &Result<Answer, Failure>, time: Duration) -> bool {
    let about = format!("{} | {} | {} | {over:?}", crate::statement::calls::row(case.row).0, subject.verbs[case.verb].name, 8 * case.key);
    match answer {
        Ok(answer) => {
            let seconds = time.as_secs_f64();
            let heads: BTreeSet<&str> = answer.classes.iter().map(|class| &*class.head).collect();
            let heads = heads.into_iter().collect::<Vec<_>>().join(", ");
            let exits: usize = answer.classes.iter().map(|class| class.exits).sum();
            let bound = answer.bound();
            let (from, to) = (answer.from, answer.whole());
            let invariant = answer.classes.last().map_or("", |class| &*class.invariant);
            let classes = answer.classes.len();
            let tags = if subject.verbs[case.verb].opens && subject.right_only { ", THE RIGHT TAG ONLY" } else { "" };
            let exits = if every == 1 { exits.to_string() } else { format!("{exits}, each {every}th") };
            println!(
                "| {about} | {from}..{}, {classes} classes{tags} | {heads} | {exits} | {invariant} | {seconds:.1} | 2^{:.0} |",
                to.map_or("(with gaps)".into(), |to| to.to_string()),
                bound.ceil()
            );
            answer.is_proved()
        }
        Err(failure) => {
            // The row has the reason; the lines below it have the other attempts.
            let failure = failure.to_string();
            let (first, others) = failure.split_once('\n').unwrap_or((&failure, ""));
            println!("| {about} | {first} |");
            others.lines().for_each(|other| println!("{other}"));
            false
        }
    }
}

/// Calls `work` with each element, on all cores.
fn each<T: Sync>(all: &[T], work: impl Fn(usize, &T) + Sync) {
    let next = Mutex::new(all.iter().enumerate());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let taken = next.lock().expect("no panic").next();
                    let Some((n, one)) = taken else { break };
                    work(n, one);
                }
            });
        }
    });
}

/// The length of a text with an iteration of the loop, and a part of a vector at the end.
const FLIPPED: usize = 700;

/// Flips `count` bits of executed machine code for each row and verb. The proof must fail, unless a processor ignores the bit or it matters at other
/// lengths only. Returns the number of rows and verbs that fail.
pub fn flips(subject: &Subject, all: &[(usize, usize)], count: u64, seed: Seed) -> usize {
    println!("| row | verb | flipped | refuted | stopped | goes through |");
    println!("|---|---|---:|---:|---:|---:|");
    let failed = AtomicUsize::new(0);
    each(all, |_, &(row, verb)| {
        let name = format!("{} | {}", ROWS[row].0, subject.verbs[verb].name);
        match flipped(subject, row, verb, count, seed) {
            Ok(([refuted, stopped], equal)) => {
                println!("| {name} | {count} | {refuted} | {stopped} | {} |", equal.len());
                equal.iter().for_each(|what| println!("goes through: {what}"));
                // Few bits of the code that a proof needs do not matter.
                if equal.len() as u64 > count / 4 {
                    failed.fetch_add(1, Relaxed);
                }
            }
            Err(failure) => {
                println!("| {name} | {failure} |");
                failed.fetch_add(1, Relaxed);
            }
        }
    });
    failed.into_inner()
}

/// Flips bits of instructions that the proof needs. Returns how many are refuted, how many stop the interpreter, and those that are proved.
fn flipped(subject: &Subject, row: usize, verb: usize, count: u64, seed: Seed) -> Result<([usize; 2], Vec<String>), Failure> {
    let case = Case { verb, row, key: 16, nonce: 12, aad: 13, text: FLIPPED, cuts: [0; 2], right: true, layout: Layout::default() };
    let mut decoded = Decoded { visited: Some(Map::default()), ..Decoded::default() };
    prove(subject, &mut decoded, &case, seed, LIMIT, false)?;
    let mut places: Vec<u64> = decoded.visited.take().into_iter().flatten().map(|(at, _)| at).collect();
    places.sort_unstable();
    let mut random = Random::new(seed, row as u64);
    let ([mut refuted, mut stopped], mut equal) = ([0, 0], Vec::new());
    while ((refuted + stopped + equal.len()) as u64) < count {
        let at = places[random.word() as usize % places.len()];
        let i = decoded.instructions[&at];
        // Only instructions without which the proof fails.
        let mut without = Decoded { instructions: decoded.instructions.clone(), ..Decoded::default() };
        let mut nothing = iced_x86::Decoder::with_ip(64, &[0x90], at, iced_x86::DecoderOptions::NONE).decode();
        nothing.set_len(i.len());
        nothing.set_next_ip(i.next_ip());
        without.instructions.insert(at, nothing);
        if prove(subject, &mut without, &case, seed, LIMIT, false).is_ok() {
            continue;
        }
        let bit = random.word() as usize % (8 * i.len());
        let place = at + bit as u64 / 8;
        let byte = subject.image.bytes::<1>(place).map_or(0, |[byte]| byte) ^ 1 << (bit % 8);
        let mut with = Decoded { patches: std::iter::once((place, byte)).collect(), ..Decoded::default() };
        match prove(subject, &mut with, &case, seed, LIMIT, false) {
            Err(Failure::Refuted(_)) => refuted += 1,
            Err(Failure::Secret(_) | Failure::NotUnderstood(_)) => stopped += 1,
            Ok(_) => {
                let now = with.instructions.get(&at).map_or(String::new(), |i| i.to_string());
                equal.push(format!("{}: {i} becomes {now}", subject.image.place(at)));
            }
        }
    }
    Ok(([refuted, stopped], equal))
}

/// Returns the encodings that a sample of calls executes on these rows, and the number of these calls that are proved.
pub fn encodings(subject: &Subject, rows: &[usize], seed: Seed) -> (BTreeSet<Vec<u8>>, usize) {
    let mut encodings: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut proofs = 0;
    for &row in rows {
        let mut decoded = Decoded::default();
        for verb in 0..subject.verbs.len() {
            let known = &subject.verbs[verb];
            let own = |own: &[usize], usual: usize| own.first().copied().unwrap_or(usual);
            for (text, key, nonce) in [(0, 16, 12), (100, 24, 12), (FLIPPED, 32, 16)] {
                let (key, nonce, text) = (own(&known.keys, key), own(&known.nonces, nonce), known.text(text));
                let cuts = if known.cuts { [text / 3, text / 2] } else { [0; 2] };
                let case = Case { verb, row, key, nonce, aad: 13, text, cuts, right: true, layout: Layout::default() };
                proofs += usize::from(prove(subject, &mut decoded, &case, seed, 10 * LIMIT, false).is_ok());
            }
        }
        let bytes = |(&at, i): (&u64, &iced_x86::Instruction)| subject.image.string(at, i.len()).map(<[u8]>::to_vec);
        encodings.extend(decoded.instructions.iter().filter_map(bytes));
    }
    (encodings, proofs)
}

/// Compares each encoding with this processor. Returns the number of differences, and of broken semantics that are not found.
///
/// With `is_whole` an encoding that this processor cannot run counts as a difference.
pub fn forms_of(
    encodings: BTreeSet<Vec<u8>>,
    proofs: usize,
    tries: usize,
    seed: Seed,
    broken: usize,
    is_whole: bool,
) -> Result<usize, String> {
    let encodings: Vec<Vec<u8>> = encodings.into_iter().collect();
    let comparison = forms::run(&encodings, tries, seed, 0)?;
    let Comparison { executions, forms: by_form, differences, lacking, left_out, .. } = &comparison;
    let (met, compared, differ) = (encodings.len(), by_form.len(), differences.len());
    println!("{met} encodings of {proofs} proofs: {executions} executions of {compared} forms, {differ} encodings differ");
    differences.iter().take(20).for_each(|what| println!("differs: {what}"));
    let names = |of: &std::collections::BTreeMap<String, usize>| of.keys().cloned().collect::<Vec<_>>().join(" ");
    println!("this processor has not got: {}", names(lacking));
    println!("not alone (branches, the stack, strings, the system): {}", names(left_out));
    let mut failed = differ + if is_whole { lacking.len() } else { 0 };
    for how in 1..=broken {
        // The first two are about masks.
        if how <= 2 && !is_whole && !forms::has_masks() {
            println!("SKIPPED proof::forms, broken on purpose, way {how}: this processor has no AVX-512");
            continue;
        }
        let found = forms::run(&encodings, tries.min(100), seed, how)?.differences;
        println!("broken on purpose, way {how}: {}", found.first().map_or("NOT FOUND", |what| what));
        failed += usize::from(found.is_empty());
    }
    if failed == 0 {
        println!("proof::forms ok {compared}");
    }
    Ok(failed)
}

/// Runs whole calls in lockstep with this processor, also with broken semantics, which must be found. Returns the number of calls that differ, and of
/// broken semantics that are not found.
pub fn in_lockstep(subject: &Subject, row: usize, cases: &[Case], seed: Seed) -> usize {
    let (name, failed) = (ROWS[row].0, AtomicUsize::new(0));
    let sum = Mutex::new((0, 0, 0));
    each(cases, |n, case| {
        let (verb, Case { key, nonce, aad, text, cuts, right, .. }) = (&subject.verbs[case.verb].name, case);
        let call = format!("{name}, {verb}, key {key}, nonce {nonce}, AAD {aad}, text {text}, cuts {cuts:?}, right {right}");
        match lockstep::run(subject, case, seed.wrapping_add(n as Seed), 0) {
            Ok(comparison) if comparison.difference.is_none() => {
                let mut sum = sum.lock().expect("no panic");
                *sum = (sum.0 + 1, sum.1 + comparison.steps, sum.2 + comparison.bytes);
            }
            other => {
                let what = other.map_or_else(|why| why.to_string(), |comparison| comparison.difference.unwrap_or_default());
                println!("differs: {call}: {what}");
                failed.fetch_add(1, Relaxed);
            }
        }
    });
    let (calls, steps, bytes) = sum.into_inner().expect("no panic");
    println!("{name}: {calls} of {} calls in lockstep, {steps} instructions, {bytes} bytes of memory at their ends", cases.len());
    // The first two are about masks, which only a row with AVX-512 has.
    for how in if row == 0 { 1..=4 } else { 3..=4 } {
        let found = cases.iter().find_map(|case| lockstep::run(subject, case, seed, how).ok()?.difference);
        println!("broken on purpose, way {how}: {}", found.as_deref().unwrap_or("NOT FOUND"));
        failed.fetch_add(usize::from(found.is_none()), Relaxed);
    }
    failed.into_inner()
}
