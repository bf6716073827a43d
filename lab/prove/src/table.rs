//! Many calls, on all cores, and a table of them.

use crate::{
    calls::{Case, Layout, ROWS, Subject},
    machine::Decoded,
    plan::Group,
    prove::{Failure, LIMIT, Proved, prove},
};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// What came of a group.
#[derive(Debug, Default)]
pub struct Outcome {
    pub runs: usize,
    pub steps: u64,
    pub time: Duration,
    /// The worst bound, as a power of two.
    pub bound: f64,
    pub failures: Vec<(Case, Failure)>,
}

/// Proves all cases of all groups.
pub fn run(subject: &Subject, groups: &[Group], seed: u64) -> Vec<Outcome> {
    let cases: Vec<(usize, &Case)> =
        groups.iter().enumerate().flat_map(|(n, group)| group.cases.iter().map(move |case| (n, case))).collect();
    let outcomes: Vec<Mutex<Outcome>> = groups.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut decoded = Decoded::default();
                loop {
                    let n = next.fetch_add(1, Relaxed);
                    let Some(&(group, case)) = cases.get(n) else { break };
                    let start = Instant::now();
                    // Each call has points of its own.
                    let result = prove(subject, &mut decoded, case, seed.wrapping_add(n as u64), LIMIT);
                    outcomes[group].lock().expect("no panic").add(case, result, start.elapsed());
                }
            });
        }
    });
    outcomes.into_iter().map(|outcome| outcome.into_inner().expect("no panic")).collect()
}

impl Outcome {
    fn add(&mut self, case: &Case, result: Result<Proved, Failure>, time: Duration) {
        self.runs += 1;
        self.time += time;
        match result {
            Ok(proved) => {
                self.steps += proved.steps;
                self.bound = if self.runs == 1 { proved.bound } else { self.bound.max(proved.bound) };
            }
            Err(failure) => self.failures.push((case.clone(), failure)),
        }
    }
}

/// Prints a line for each group; returns how many calls are not proved.
pub fn print(subject: &Subject, groups: &[Group], outcomes: &[Outcome]) -> usize {
    println!("| {} | verb | key; lengths | calls | instructions | seconds | error below |", subject.name);
    println!("|---|---|---|---:|---:|---:|---:|");
    for (group, outcome) in groups.iter().zip(outcomes) {
        let Outcome { runs, steps, time, bound, .. } = outcome;
        let (row, verb) = (ROWS[group.row].0, &subject.verbs[group.verb].name);
        let seconds = time.as_secs_f64();
        println!("| {row} | {verb} | {} | {runs} | {steps} | {seconds:.1} | 2^{:.0} |", group.what, bound.ceil());
    }
    let mut failed = 0;
    for (group, outcome) in groups.iter().zip(outcomes) {
        // Enough to see what is wrong.
        let told = if failed < 20 { 2 } else { 0 };
        failed += outcome.failures.len();
        for (case, failure) in outcome.failures.iter().take(told) {
            let (row, verb) = (ROWS[group.row].0, &subject.verbs[group.verb].name);
            let layout_said = if case.layout == Layout::default() { String::new() } else { format!(", {:?}", case.layout) };
            let Case { key, nonce, aad, text, cuts, right, .. } = case;
            let bits = 8 * key;
            println!(
                "{row}, {verb}, {bits} bits, nonce {nonce}, AAD {aad}, text {text}, cuts {cuts:?}, right {right}{layout_said}: {failure}"
            );
        }
    }
    let sum = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).sum::<f64>();
    let (calls, steps, time) = (sum(|o| o.runs as f64), sum(|o| o.steps as f64), sum(|o| o.time.as_secs_f64()));
    println!("{}: {calls} calls, {failed} of them not proved, {steps} instructions, {time:.1} s on one core", subject.name);
    failed
}
