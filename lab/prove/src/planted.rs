//! Faults that are planted in a program of anybody: one in what only some lengths execute, one in what long texts repeat. The proof must refute exactly the
//! lengths at which the processor itself gives a wrong answer.

use crate::{
    calls::{Case, ROWS, Subject},
    concrete,
    machine::Decoded,
    prove::{Failure, LIMIT, prove},
    target,
    unknown::{Map, Seed},
};
use iced_x86::{Instruction, Mnemonic};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// The longest text that is asked for.
const MOST: usize = 600;
/// Candidates of a kind that are tried.
const TRIED: usize = 40;

/// Where an instruction is executed: texts, and how often at the longest.
#[derive(Clone, Debug)]
struct Executed {
    instruction: Instruction,
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

/// Products without carry that the proofs execute, with the texts that do.
fn executed(subject: &Subject, cases: &[Case], seed: Seed) -> Result<BTreeMap<u64, Executed>, String> {
    let visits = for_each(cases, |decoded, case| {
        decoded.visited = Some(Map::default());
        prove(subject, decoded, case, seed.wrapping_add(case.text as Seed), LIMIT, false).map(|_| {
            let visited = decoded.visited.take().unwrap_or_default().into_iter();
            visited.map(|(at, often)| (decoded.instructions[&at], often)).filter(|(i, _)| is_product(i)).collect::<Vec<_>>()
        })
    });
    let mut all: BTreeMap<u64, Executed> = BTreeMap::new();
    for (text, visited) in visits {
        for (instruction, often) in visited.map_err(|why| format!("text {text} is not proved without a fault: {why}"))? {
            let executed = all.entry(instruction.ip()).or_insert(Executed { instruction, texts: Vec::new(), often });
            executed.texts.push(text);
            executed.often = often;
        }
    }
    Ok(all)
}

fn is_product(i: &Instruction) -> bool {
    matches!(i.mnemonic(), Mnemonic::Pclmulqdq | Mnemonic::Vpclmulqdq)
}

/// What is planted: the product takes the other half of its first operand.
fn planted(subject: &Subject, program: &Path, executed: &Executed) -> Result<(std::path::PathBuf, u8), String> {
    let last = executed.instruction.next_ip() - 1;
    let byte = subject.image.bytes::<1>(last).ok_or("an instruction outside of the program")?[0] ^ 1;
    Ok((target::changed(program, last, byte)?, byte))
}

/// Texts at which a program is refuted, and those at which the processor answers wrong.
fn found(name: &str, program: &Path, row: usize, cases: &[Case], seed: Seed) -> Result<[Vec<usize>; 2], String> {
    let subject = Subject::on(name, program, row)?;
    let ends = for_each(cases, |decoded, case| {
        let proof = prove(&subject, decoded, case, seed.wrapping_add(case.text as Seed), LIMIT, false);
        let answers = (0..2).map(|n| concrete::once(&subject, case, n)).find(|answer| !matches!(answer, Ok(None)));
        (matches!(proof, Err(Failure::Refuted(_))), answer_is_wrong(answers))
    });
    let texts = |of: fn(&(bool, bool)) -> bool| ends.iter().filter(|(_, end)| of(end)).map(|(text, _)| *text).collect();
    Ok([texts(|end| end.0), texts(|end| end.1)])
}

fn answer_is_wrong(answer: Option<crate::machine::Result<Option<concrete::Example>>>) -> bool {
    answer.is_some()
}

/// Plants two faults on each row; whether all are refuted at exactly their lengths.
pub fn plant(name: &str, program: &Path, rows: &[usize], seed: Seed) -> Result<bool, String> {
    println!("| {name} | fault | executed at texts of | refuted at texts of | wrong on the processor | |");
    println!("|---|---|---|---|---|---|");
    let mut all_found = true;
    for &row in rows {
        let row_name = ROWS[row].0;
        let subject = match Subject::on(name, program, row) {
            Ok(subject) => subject,
            Err(why) => {
                println!("| {row_name} | does not take it: {why} | | | | |");
                continue;
            }
        };
        let cases = target::each_length(&subject, row, MOST).ok_or("it has no verb `seal`")?.remove(0).cases;
        let executed = executed(&subject, &cases, seed)?;
        let all: Vec<&Executed> = executed.values().filter(|executed| executed.texts.len() < cases.len()).collect();
        // In a tail: not from some length on; in a turn: more than once at the longest.
        let is_tail = |e: &&&Executed| !e.texts.contains(&MOST) || e.texts.windows(2).any(|two| two[0] + 1 < two[1]);
        let mut tails: Vec<&&Executed> = all.iter().filter(is_tail).collect();
        tails.sort_by_key(|executed| executed.texts.len());
        let turns: Vec<&&Executed> = all.iter().filter(|executed| executed.often > 1 && !is_tail(executed)).collect();
        for (kind, candidates) in [("a tail", tails), ("a turn", turns)] {
            let mut is_found = false;
            for executed in candidates.into_iter().take(TRIED) {
                let (copy, byte) = planted(&subject, program, executed)?;
                let [refuted, wrong] = found(name, &copy, row, &cases, seed)?;
                std::fs::remove_file(&copy).map_err(|e| e.to_string())?;
                let is_exact = refuted == wrong;
                if refuted.is_empty() && is_exact {
                    continue; // without influence
                }
                let place = subject.image.place(executed.instruction.ip());
                let [executed_at, refuted_at, wrong_at] = [&executed.texts, &refuted, &wrong].map(|texts| crate::plan::said(texts));
                let verdict = if is_exact { "exact" } else { "NOT EXACT" };
                println!(
                    "| {row_name} | in {kind}: {place}: {} ends with {byte:02x} | {executed_at} | {refuted_at} | {wrong_at} | {verdict} |",
                    executed.instruction
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
