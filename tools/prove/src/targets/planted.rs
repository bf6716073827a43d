//! Faults that are planted in a program of anybody: one in what only some lengths execute, one in what long texts repeat. The proof must refute exactly the
//! lengths at which the processor itself gives a wrong answer.

use crate::{
    machine::Decoded,
    machine::arm,
    process::image::Isa,
    statement::calls::{self, Case, Subject},
    statement::plan::{self, Lengths, said},
    statement::prove::{Failure, LIMIT, prove},
    targets::concrete,
    values::random::{Map, Seed},
};
use iced_x86::Mnemonic;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// Texts that are asked for: each short one, and some of several turns.
fn texts() -> Vec<usize> {
    let long = [
        639, 640, 641, 700, 767, 768, 769, 800, 900, 1000, 1023, 1024, 1025, 1100, 1279, 1280, 1281, 1400, 1535, 1536, 1537, 1600, 2304,
        2400, 3200,
    ];
    (0..=600).chain(long).collect()
}
/// Candidates of a kind that are tried.
const TRIED: usize = 40;

/// A product without carry: where it is, what it is, and its byte that says which halves are multiplied, with the bit.
#[derive(Clone, Debug)]
struct Product {
    at: u64,
    said: String,
    byte: u64,
    bit: u8,
}

impl Product {
    /// If the instruction there is one.
    fn of(subject: &Subject, decoded: &Decoded, at: u64) -> Option<Self> {
        if subject.image.isa == Isa::Arm {
            let word = u32::from_le_bytes(subject.image.bytes(at)?);
            return arm::is_product(word).then(|| Self { at, said: format!("{word:08x}"), byte: at + 3, bit: 0x40 });
        }
        let i = decoded.instructions.get(&at)?;
        let is_product = matches!(i.mnemonic(), Mnemonic::Pclmulqdq | Mnemonic::Vpclmulqdq);
        is_product.then(|| Self { at, said: i.to_string(), byte: i.next_ip() - 1, bit: 1 })
    }
}

/// Where an instruction is executed: texts, and how often at the longest.
#[derive(Clone, Debug)]
struct Executed {
    product: Product,
    texts: Vec<usize>,
    often: u64,
}

/// Does that for each text, on all cores.
fn for_each<T: Send>(cases: &[Case], work: impl Fn(&mut Decoded, &Case) -> T + Sync) -> Vec<(usize, T)> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut decoded = Decoded { visited: Some(Map::default()), ..Decoded::default() };
                while let Some(case) = cases.get(next.fetch_add(1, Relaxed)) {
                    let result = work(&mut decoded, case);
                    results.lock().expect("no panic").push((case.text, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no panic");
    results.sort_by_key(|(text, _)| *text);
    results
}

/// Products without carry that the proofs execute, with the texts that do; what is not proved without a fault is left out.
fn executed(subject: &Subject, cases: &mut Vec<Case>, seed: Seed) -> BTreeMap<u64, Executed> {
    let visits = for_each(cases, |decoded, case| {
        decoded.visited = Some(Map::default());
        prove(subject, decoded, case, seed.wrapping_add(case.text as Seed), LIMIT, false).map(|_| {
            let visited = decoded.visited.take().unwrap_or_default().into_iter();
            visited.filter_map(|(at, often)| Some((Product::of(subject, decoded, at)?, often))).collect::<Vec<_>>()
        })
    });
    let mut all: BTreeMap<u64, Executed> = BTreeMap::new();
    let mut proved = Vec::new();
    for (text, visited) in visits {
        let Ok(visited) = visited else { continue };
        proved.push(text);
        for (product, often) in visited {
            let executed = all.entry(product.at).or_insert(Executed { product, texts: Vec::new(), often });
            executed.texts.push(text);
            executed.often = often;
        }
    }
    cases.retain(|case| proved.contains(&case.text));
    all
}

/// The program with the fault: the product takes the other half of its first operand; on AArch64 of both.
fn planted(name: &str, program: &Path, row: usize, executed: &Executed) -> Result<(Subject, u8), String> {
    let mut subject = Subject::on(name, program, row)?;
    let Product { byte: at, bit, .. } = executed.product;
    let byte = subject.image.bytes::<1>(at).ok_or("an instruction outside of the program")?[0] ^ bit;
    subject.patch(at, byte)?;
    Ok((subject, byte))
}

/// Texts at which a program is refuted, and those at which the processor answers wrong.
fn found(subject: &Subject, cases: &[Case], seed: Seed) -> [Vec<usize>; 2] {
    let ends = for_each(cases, |decoded, case| {
        let proof = prove(subject, decoded, case, seed.wrapping_add(case.text as Seed), LIMIT, false);
        let is_refuted = matches!(proof, Err(Failure::Refuted(_)));
        // Of what is refuted some input must show it; elsewhere one is enough.
        let inputs = if is_refuted { 0..8 } else { 0..1 };
        (is_refuted, inputs.map(|n| concrete::once(subject, case, n)).any(|answer| !matches!(answer, Ok(None))))
    });
    let texts = |of: fn(&(bool, bool)) -> bool| ends.iter().filter(|(_, end)| of(end)).map(|(text, _)| *text).collect();
    [texts(|end| end.0), texts(|end| end.1)]
}

/// Plants two faults on each row; whether all are refuted at exactly their lengths.
pub fn plant(name: &str, program: &Path, rows: &[usize], seed: Seed) -> Result<bool, String> {
    println!("| {name} | fault | executed at texts of | refuted at texts of | wrong on the processor | |");
    println!("|---|---|---|---|---|---|");
    let mut all_found = true;
    for &row in rows {
        let row_name = calls::row(row).0;
        let subject = match Subject::on(name, program, row) {
            Ok(subject) => subject,
            Err(why) => {
                println!("| {row_name} | does not take it: {why} | | | | |");
                continue;
            }
        };
        let lengths = Lengths { keys: vec![16], aads: vec![13], texts: texts(), ..Lengths::default() };
        let mut cases = plan::asked(&subject, row, "seal", &lengths, false).remove(0).cases;
        let executed = executed(&subject, &mut cases, seed);
        let all: Vec<&Executed> = executed.values().filter(|executed| executed.texts.len() < cases.len()).collect();
        // In a turn: from some length on, and more than once at the longest. In a tail: all others.
        let asked: Vec<usize> = cases.iter().map(|case| case.text).collect();
        let is_turn = |e: &&&Executed| e.often > 1 && asked.ends_with(&e.texts);
        let mut tails: Vec<&&Executed> = all.iter().filter(|executed| !is_turn(executed)).collect();
        tails.sort_by_key(|executed| executed.texts.len());
        let turns: Vec<&&Executed> = all.iter().filter(is_turn).collect();
        for (kind, candidates) in [("a tail", tails), ("a turn", turns)] {
            let mut is_found = false;
            for executed in candidates.into_iter().take(TRIED) {
                let (wrong_subject, byte) = planted(name, program, row, executed)?;
                // What has no influence is not looked at any further.
                let some: Vec<Case> =
                    cases.iter().filter(|case| executed.texts[..2.min(executed.texts.len())].contains(&case.text)).cloned().collect();
                if found(&wrong_subject, &some, seed).iter().all(Vec::is_empty) {
                    continue;
                }
                let [refuted, wrong] = found(&wrong_subject, &cases, seed);
                let is_exact = refuted == wrong;
                let place = subject.image.place(executed.product.at);
                let [executed_at, refuted_at, wrong_at] = [&executed.texts, &refuted, &wrong].map(|texts| said(texts));
                let verdict = if is_exact { "exact" } else { "NOT EXACT" };
                println!(
                    "| {row_name} | in {kind}: {place}: {} ends with {byte:02x} | {executed_at} | {refuted_at} | {wrong_at} | {verdict} |",
                    executed.product.said
                );
                all_found &= is_exact;
                is_found = true;
                break;
            }
            if !is_found {
                println!("| {row_name} | in {kind}: no instruction that could be changed | | | | |");
            }
        }
    }
    Ok(all_found)
}
