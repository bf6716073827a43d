//! Many calls, on all cores, and a table of them.

use crate::{
    machine::Decoded,
    statement::calls::{Case, Layout, ROW_COUNT, Subject, row},
    statement::plan::{Group, said},
    statement::prove::{Failure, LIMIT, Proved, prove},
    values::random::Seed,
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

/// What came of a group.
#[derive(Debug, Default)]
pub struct Outcome {
    pub runs: usize,
    pub steps: u64,
    pub time: Duration,
    /// The worst bound, as a power of two.
    pub bound: f64,
    pub failures: Vec<(Case, Failure)>,
    /// Hashes of what was executed, summed over the calls that are proved: rows with one and the same hash are one code path.
    pub trace: [u64; 2],
}

/// What else is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// That nothing is left of secrets, where a verb promises that.
    pub wiped: bool,
    /// The first call that is not proved is the last.
    pub stop: bool,
}

/// Proves all cases of all groups, and prints a line for each group when it is done. Returns how many calls are not proved.
pub fn run(subject: &Subject, groups: &[Group], seed: Seed, options: Options) -> usize {
    outcomes(subject, groups, seed, options).iter().map(|outcome| outcome.failures.len()).sum()
}

/// What came of each group.
pub fn outcomes(subject: &Subject, groups: &[Group], seed: Seed, options: Options) -> Vec<Outcome> {
    println!("| {} | verb | key; lengths | calls | instructions | seconds | error below |", subject.name);
    println!("|---|---|---|---:|---:|---:|---:|");
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
                    let result = prove(subject, &mut decoded, case, seed.wrapping_add(n as Seed), LIMIT, options.wiped);
                    let mut outcome = outcomes[group].lock().expect("no panic");
                    outcome.add(case, result, start.elapsed());
                    let stops = options.stop && !outcome.failures.is_empty();
                    if stops {
                        next.store(cases.len(), Relaxed);
                    }
                    if stops || outcome.runs == groups[group].cases.len() {
                        outcome.print(subject, &groups[group]);
                    }
                }
            });
        }
    });
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(|outcome| outcome.into_inner().expect("no panic")).collect();
    for number in 0..ROW_COUNT {
        let proved = groups.iter().zip(&outcomes).filter(|(group, outcome)| group.row == number && outcome.failures.is_empty());
        let calls: usize = proved.map(|(_, outcome)| outcome.runs).sum();
        if calls > 0 {
            println!("proof::{}/{} ok {calls}", subject.name.replace('-', "_"), row(number).0);
        }
    }
    let failed: usize = outcomes.iter().map(|outcome| outcome.failures.len()).sum();
    let refuted =
        outcomes.iter().flat_map(|outcome| &outcome.failures).filter(|(_, failure)| matches!(failure, Failure::Refuted(_))).count();
    let sum = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).sum::<f64>();
    let (calls, steps, time) = (sum(|o| o.runs as f64), sum(|o| o.steps as f64), sum(|o| o.time.as_secs_f64()));
    println!(
        "{}: {calls} calls, {failed} of them not proved, {refuted} refuted, {steps} instructions, {time:.0} s of all threads",
        subject.name
    );
    outcomes
}

/// The lengths of texts of these, for people.
pub fn texts<'c>(cases: impl Iterator<Item = &'c Case>) -> String {
    let texts: BTreeSet<usize> = cases.map(|case| case.text).collect();
    said(&texts.into_iter().collect::<Vec<_>>())
}

impl Outcome {
    fn add(&mut self, case: &Case, result: Result<Proved, Failure>, time: Duration) {
        self.runs += 1;
        self.time += time;
        match result {
            Ok(proved) => {
                self.steps += proved.steps;
                (0..2).for_each(|i| self.trace[i] = self.trace[i].wrapping_add(proved.trace[i]));
                self.bound = if self.runs == 1 + self.failures.len() { proved.bound } else { self.bound.max(proved.bound) };
            }
            Err(failure) => self.failures.push((case.clone(), failure)),
        }
    }

    fn print(&self, subject: &Subject, group: &Group) {
        let Outcome { runs, steps, time, bound, failures, .. } = self;
        let (row, verb) = (row(group.row).0, &subject.verbs[group.verb].name);
        let (seconds, bound) = (time.as_secs_f64(), bound.ceil());
        match failures.len() {
            0 => println!("| {row} | {verb} | {} | {runs} | {steps} | {seconds:.1} | 2^{bound} |", group.what),
            failed => println!("| {row} | {verb} | {} | {runs}, {failed} NOT PROVED | {steps} | {seconds:.1} | |", group.what),
        }
        // At which lengths, by what happens, and one of each.
        for kind in ["refuted", "the trace depends on a secret", "not understood"] {
            let of_kind: Vec<_> = failures.iter().filter(|(_, failure)| failure.kind() == kind).collect();
            let Some((case, failure)) = of_kind.first() else { continue };
            println!("{row}, {verb}: {kind}: {} calls, texts of {}", of_kind.len(), texts(of_kind.iter().map(|(case, _)| case)));
            let Case { key, nonce, aad, text, cuts, right, layout, .. } = case;
            let layout = if *layout == Layout::default() { String::new() } else { format!(", {layout:?}") };
            let bits = 8 * key;
            println!(
                "FAILED {row}, {verb}, {bits} bits, nonce {nonce}, AAD {aad}, text {text}, cuts {cuts:?}, right {right}{layout}: {failure}"
            );
        }
    }
}
