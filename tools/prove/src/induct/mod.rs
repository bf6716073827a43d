//! Proves all lengths by induction over the iterations of the loop.
//!
//! ```text
//! base   from the start to the head of the loop, with a length N of which only a range is known
//! step   from the head to the head, in any iteration i, with any number L of bytes left: N = i * turn + L
//! exit   from the head to the end, in any iteration i, for each L with which the loop may end
//! ```
//! Lengths, pointers and counters are [lines](crate::values::lines): a comparison is decided for all of them, or not at all. The other changes from head to
//! head are known from an invariant, which is found and then proved: words that count, counters inside blocks, and the hash,
//! which is Y of all before, for any Y. Everything else is a fresh symbol each time. Where one proof of all lengths fails, one for
//! each remainder modulo a block, or an iteration, may succeed; for numbers that recur after p iterations, i = p k + j, with a step for each j.

mod invariant;
mod run;
mod state;
mod steps;

use crate::{
    machine::Decoded,
    statement::calls::{Case, Subject},
    statement::prove::{Failure, LEAST, LIMIT, Proved, prove},
    values::lines::Line,
    values::random::Seed,
};
use invariant::Invariant;
use run::Run;
use state::{At, State};
use std::collections::BTreeSet;
use steps::Known;

/// The input of any length.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Over {
    Text,
    Aad,
}

/// The proof of one class of lengths.
#[derive(Clone, Debug)]
pub struct Class {
    pub from: u64,
    pub to: u64,
    /// The address of the loop's head.
    pub head: String,
    /// The numbers of bytes with which the loop may end: each has an exit of its own.
    pub exits: usize,
    pub invariant: String,
    pub proved: Proved,
}

/// The proofs: classes, and the length below which there is no loop.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The classes. Each has the lengths with one remainder modulo `grain`.
    pub classes: Vec<Class>,
    pub grain: u64,
    pub from: u64,
}

impl Answer {
    /// Returns a bound of the total error, as a power of two.
    pub fn bound(&self) -> f64 {
        self.classes.iter().map(|class| class.proved.bound.exp2()).sum::<f64>().log2()
    }

    /// Returns true if all lengths are proved.
    pub fn is_proved(&self) -> bool {
        self.whole().is_some() && self.bound() <= LEAST
    }

    /// Returns the longest proved length, if each length from the first on up to it is in a class.
    pub fn whole(&self) -> Option<u64> {
        let most = self.classes.iter().map(|class| class.to).max()?;
        let is_whole = (0..self.grain).all(|rest| {
            let first = (self.from..self.from + self.grain).find(|n| n % self.grain == rest);
            let own = self.classes.iter().filter(|class| class.from % self.grain == rest);
            let next = own.fold(first, |next, class| next.filter(|next| class.from <= *next).map(|next| next.max(class.to + self.grain)));
            next.is_some_and(|next| next > most)
        });
        is_whole.then_some(most)
    }
}

/// The progress of a proof.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    Invariant,
    Base,
    Step,
    Exit,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Invariant => "an invariant of the loop",
            Self::Base => "the way to the loop",
            Self::Step => "a turn of the loop",
            Self::Exit => "what follows the loop",
        })
    }
}

enum Stop {
    Failure(Failure),
    /// A comparison's difference is negative for some lengths only.
    Doubt(Line),
    /// More of the state changes than the invariant says.
    Weaker(BTreeSet<At>),
    /// The call ends before the loop.
    NoLoop,
}

type Result<T> = std::result::Result<T, Stop>;

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

fn stopped<T>(why: impl Into<String>) -> Result<T> {
    Err(Stop::Failure(Failure::NotUnderstood(why.into())))
}

fn refuted<T>(why: impl Into<String>) -> Result<T> {
    Err(Stop::Failure(Failure::Refuted(why.into())))
}

/// The address of the endless output text, and the distance to the input text.
const LONG: u64 = 0x2000_0000_0000;
const APART: u64 = 1 << 41;

/// The longest text of SP 800-38D, which is also the limit for AAD.
const MOST: i128 = (1 << 36) - 32;

/// The number of iterations observed to find an invariant.
const LOOKED_AT: i128 = 12;

/// The distance from the start of a text to the representative iteration: at no address of any process, so that no number points there, and unknown to the program's author.
const FAR: u64 = 1 << 62;

/// The largest number of iterations that are proved one by one.
const FEW: i128 = 64;

/// The distance from an iteration's positions in the text within which it may access the text.
const NEAR: u64 = 1 << 40;

/// Returns the first value of the unknown in the upper part, above `least`, if the difference is a function of one unknown.
fn parted(doubt: &Line, of: usize, least: i128) -> Option<i128> {
    let (times, plus) = (doubt.times[of], doubt.plus);
    if times == 0 || doubt.times[1 - of] != 0 {
        return None;
    }
    // The least n with times * n + plus >= 0, or > 0.
    let (up, down) = if times > 0 { (times, -plus) } else { (-times, plus + 1) };
    let first = down.div_euclid(up) + i128::from(down.rem_euclid(up) != 0);
    Some(first.max(least + 1))
}

/// The lengths of one proof: N = grain * x + rest, for any x. The lowest bits of N are numbers, so rounding a length to whole blocks or iterations gives a line.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    /// The bytes of an iteration.
    turn: i128,
    grain: i128,
    rest: i128,
}

impl Lengths {
    fn at(&self, x: i128) -> i128 {
        self.grain * x + self.rest
    }

    /// Returns the least x with this many bytes.
    fn least(&self, bytes: i128) -> i128 {
        (bytes - self.rest + self.grain - 1).div_euclid(self.grain)
    }

    fn bytes(&self, x: &Line) -> Line {
        x.scaled(self.grain).add_number(self.rest)
    }
}

/// Returns the bytes of an iteration of a verb's loops over a long text: first of the loop that is reached first, then of those around it.
fn turns(subject: &Subject, case: &Case, over: Over, seed: Seed) -> Result<Vec<u64>> {
    let (mut decoded, lengths) = (Decoded::default(), Lengths { turn: 0, grain: 0, rest: 1 << 17 });
    Run::start(subject, &mut decoded, case, over, lengths, [0; 2], seed)?.turns_of_loops()
}

/// Returns the bytes of an iteration of a verb's loop over a long text.
pub fn turn(subject: &Subject, case: &Case, over: Over, seed: Seed) -> std::result::Result<usize, Failure> {
    match turns(subject, case, over, seed) {
        Ok(turns) if !turns.is_empty() => Ok(turns[0] as usize),
        Err(Stop::Failure(failure)) => Err(failure),
        _ => Err(Failure::NotUnderstood("no loop is found over the text".into())),
    }
}

/// Proves a verb for all lengths for which it has a loop, with each `every`-th number of bytes left. It first tries all lengths together; if that fails,
/// the classes of lengths with one remainder modulo a block, and then an iteration; and if no inner iteration represents all, those of a loop around it.
pub fn induct(
    subject: &Subject,
    decoded: &mut Decoded,
    case: &Case,
    over: Over,
    every: usize,
    seed: Seed,
) -> std::result::Result<Answer, Failure> {
    let turn = subject.turns[case.row] as i128;
    if turn == 0 || turn % 16 != 0 {
        return Err(Failure::NotUnderstood("a turn has whole blocks".into()));
    }
    let most = subject.longest.filter(|_| over == Over::Text).map_or(MOST, i128::from);
    let inner = match of_turn(subject, decoded, case, over, (turn, most), every, seed) {
        Err(failure @ (Failure::NotUnderstood(_) | Failure::Secret(_))) => failure,
        other => return other,
    };
    let around = turns(subject, case, over, seed).unwrap_or_default().into_iter().map(i128::from);
    let mut failed = inner;
    for around in around.filter(|around| *around > turn && around % turn == 0) {
        match of_turn(subject, decoded, case, over, (around, most), every, seed) {
            Ok(mut answer) => {
                // Shorter texts may not reach it, and the inner loop represents them.
                let shorter = of_turn(subject, decoded, case, over, (turn, i128::from(answer.from) - 1), every, seed.wrapping_add(1 << 60));
                if let Some(shorter) = shorter.ok().filter(|shorter| shorter.grain == answer.grain && !shorter.classes.is_empty()) {
                    answer.from = shorter.from;
                    answer.classes.splice(0..0, shorter.classes);
                }
                return Ok(answer);
            }
            Err(why) => {
                let (Failure::NotUnderstood(inner) | Failure::Secret(inner) | Failure::Refuted(inner)) = &mut failed;
                *inner += &format!("\n    in turns of {around} bytes: {why}");
            }
        }
    }
    Err(failed)
}

fn of_turn(
    subject: &Subject,
    decoded: &mut Decoded,
    case: &Case,
    over: Over,
    (turn, most): (i128, i128),
    every: usize,
    seed: Seed,
) -> std::result::Result<Answer, Failure> {
    let mut failed = Failure::NotUnderstood("a turn has whole blocks".into());
    // An iteration of a loop around others is long, and has as many remainders.
    let grains = if turn == subject.turns[case.row] as i128 { vec![1, 16, turn] } else { vec![1] };
    for grain in grains {
        let mut answer = Answer { grain: grain as u64, ..Answer::default() };
        let result = (0..grain).try_for_each(|rest| {
            let seed = seed.wrapping_add((rest as Seed) << 40);
            let part = alike(subject, decoded, case, over, (Lengths { turn, grain, rest }, most), every, seed)?;
            answer.from = answer.from.max(part.from);
            answer.classes.extend(part.classes);
            Ok(())
        });
        match result {
            Ok(()) => {
                answer.classes.sort_by_key(|class| class.from);
                return Ok(answer);
            }
            Err(failure @ Failure::Refuted(_)) => return Err(failure),
            Err(failure) => failed = failure,
        }
    }
    Err(failed)
}

/// Proves the lengths with one remainder.
fn alike(
    subject: &Subject,
    decoded: &mut Decoded,
    case: &Case,
    over: Over,
    (lengths, most): (Lengths, i128),
    every: usize,
    seed: Seed,
) -> std::result::Result<Answer, Failure> {
    let units = lengths.turn / lengths.grain;
    let mut answer = Answer::default();
    // Invariants of longer texts may hold for those that are too short to observe.
    let mut known: Vec<Invariant> = Vec::new();
    let mut ranges = vec![[0, (most - lengths.rest).div_euclid(lengths.grain)]];
    let mut failed = None;
    while let Some([from, to]) = ranges.pop() {
        let is_short = to < LOOKED_AT * units;
        let meets = |known: &&Invariant| lengths.least((known.first + 2) * lengths.turn + (known.ahead + known.lead) as i128) <= to;
        let candidates: Vec<Invariant> = known.iter().filter(meets).cloned().collect();
        let seed = seed.wrapping_add(from as Seed);
        match class(subject, decoded, case, over, (lengths, [from, to], is_short.then_some(candidates)), every, seed) {
            Ok((least, class, invariant)) => {
                known.push(invariant);
                if least > from {
                    ranges.push([from, least - 1]);
                }
                answer.classes.push(class);
            }
            Err(Stop::Doubt(doubt)) => {
                let Some(part) = parted(&doubt, 0, from).filter(|part| *part <= to) else {
                    return Err(Failure::NotUnderstood(format!("no part of {from}..={to} decides {doubt:?}")));
                };
                ranges.extend([[from, part - 1], [part, to]]);
            }
            Err(_) if is_short => answer.from = answer.from.max(lengths.at(to) as u64 + 1),
            Err(Stop::Failure(failure)) => match example(subject, case, over, lengths.turn, [from, to].map(|x| lengths.at(x)), seed) {
                Some(found) => return Err(found),
                None => failed = failed.or(Some(failure)),
            },
            Err(Stop::NoLoop) => {
                let [from, to] = [from, to].map(|x| lengths.at(x));
                return Err(Failure::NotUnderstood(format!("no loop for lengths {from}..={to}")));
            }
            Err(Stop::Weaker(_)) => unreachable!("a full proof checks that below"),
        }
    }
    failed.map_or(Ok(answer), Err)
}

/// Returns the failure of a single length of the range, because a fault in a loop often leaves no invariant, which says little.
fn example(subject: &Subject, case: &Case, over: Over, turn: i128, [from, to]: [i128; 2], seed: Seed) -> Option<Failure> {
    let least = from.max(LOOKED_AT * turn);
    // Includes lengths after an overflow of a counter's low byte.
    [0, 1, turn + 1, 4 * turn, 16 * turn, 32 * turn, 64 * turn, 128 * turn]
        .map(|more| least + more)
        .into_iter()
        .filter(|n| *n <= to.min(1 << 17))
        .find_map(|n| {
            let mut case = case.clone();
            *if over == Over::Text { &mut case.text } else { &mut case.aad } = n as usize;
            match prove(subject, &mut Decoded::default(), &case, seed, LIMIT, false) {
                Err(Failure::NotUnderstood(_)) | Ok(_) => None,
                Err(failure) => Some(failure.of(format_args!("{n} bytes"))),
            }
        })
}

fn class(
    subject: &Subject,
    decoded: &mut Decoded,
    case: &Case,
    over: Over,
    (lengths, [from, to], known): (Lengths, [i128; 2], Option<Vec<Invariant>>),
    every: usize,
    seed: Seed,
) -> Result<(i128, Class, Invariant)> {
    let turn = lengths.turn;
    let units = turn / lengths.grain;
    let long = [from.max(LOOKED_AT * units), to];
    let candidates: Vec<(u64, Option<Invariant>)> = match known {
        Some(known) => known.into_iter().map(|invariant| (invariant.head, Some(invariant))).collect(),
        None => {
            let heads = Run::start(subject, decoded, case, over, lengths, long, seed)?.heads()?;
            heads.into_iter().map(|head| (head, None)).collect()
        }
    };
    let mut failures: Vec<(Stage, String, Failure)> = Vec::new();
    for (head, known) in candidates {
        let look = || Run::start(subject, decoded, case, over, lengths, long, seed)?.invariant(head);
        let found = match known.map_or_else(look, Ok) {
            Ok(invariant) => invariant,
            Err(Stop::Failure(failure)) => {
                failures.push((Stage::Invariant, subject.image.place(head), failure));
                continue;
            }
            Err(other) => return Err(other),
        };
        'found: for mut invariant in found.with_lowest_bytes().into_iter().chain([found]) {
            // From the least length on with which it certainly reaches the head.
            let mut least = from.max(lengths.least(invariant.first * turn + (invariant.ahead + invariant.lead) as i128));
            loop {
                let result = Run::start(subject, decoded, case, over, lengths, [least, to], seed)?.base(&invariant).map(|_| ());
                least = match result {
                    Ok(()) => break,
                    Err(Stop::Doubt(doubt)) => parted(&doubt, 0, least).filter(|part| *part <= to).ok_or(Stop::Doubt(doubt))?,
                    Err(Stop::NoLoop) if least < to => least + 1,
                    Err(Stop::Failure(failure)) => {
                        failures.push((Stage::Base, subject.image.place(head), failure));
                        continue 'found;
                    }
                    Err(other) => return Err(other),
                };
            }
            let mut run = Run::start(subject, decoded, case, over, lengths, [least, to], seed)?;
            match run.prove(&mut invariant, least, to, every) {
                Err(Stop::Failure(failure)) => failures.push((run.stage, subject.image.place(head), failure)),
                Err(other) => return Err(other),
                Ok(exits) => {
                    let longest = Case { text: 2 * turn as usize, ..case.clone() };
                    let proved =
                        Proved::new(&run.machine, &longest, subject.verbs[case.verb].form, exits + invariant.period() as usize + 1);
                    let head = subject.image.place(head);
                    let [from, to] = [least, to].map(|x| lengths.at(x) as u64);
                    return Ok((least, Class { from, to, head, exits, invariant: invariant.to_string(), proved }, invariant));
                }
            }
        }
    }
    // The proof with the most progress comes first.
    failures.sort_by_key(|(stage, ..)| std::cmp::Reverse(*stage));
    let text = |(stage, head, failure): &(Stage, String, Failure)| format!("{stage} from {head} on is not proved: {failure}");
    let mut all: Vec<String> = failures.iter().map(text).collect();
    all.dedup();
    stopped(if all.is_empty() { "no head of a loop is found".into() } else { all.join("\n    ") })
}

impl<'a> Run<'a> {
    /// Returns the units of an iteration.
    fn units(&self) -> i128 {
        self.turn as i128 / self.lengths.grain
    }

    /// Proves base, step and all exits. Returns the number of exits.
    fn prove(&mut self, invariant: &mut Invariant, least: i128, most: i128, every: usize) -> Result<usize> {
        let (units, first) = (self.units(), invariant.first);
        let base = &mut self.base(invariant)?;
        let known = Known::new(self.lines(), base);
        self.stage = Stage::Step;
        self.machine.unknown.remember();
        // The step: with at least the units left with which the loop certainly continues.
        let mut bottom = self.lengths.least((self.turn + invariant.ahead + invariant.lead) as i128);
        let mut rest = 0;
        while rest < invariant.period() {
            let i = Line { times: [invariant.period(), 0], plus: rest };
            let result = self.turn(invariant, base, &known, &i, bottom, [least, most]);
            // A changed invariant invalidates the proofs of other remainders.
            rest = if result.is_ok() { rest + 1 } else { 0 };
            match result {
                Ok(()) => {}
                Err(Stop::Weaker(places)) => invariant.forget(&places),
                // A comparison of the whole length: for another class.
                Err(Stop::Doubt(Line { times: [a, b], plus })) if a == units * b * i.times[0] => {
                    return Err(Stop::Doubt(Line { times: [b, 0], plus: plus - b * units * i.plus }));
                }
                Err(Stop::Doubt(doubt)) => match parted(&doubt, 1, bottom) {
                    Some(part) if part < 4 * units => bottom = part,
                    // This many iterations are impossible with more left.
                    _ if doubt.times[1] == 0 && bottom < 4 * units => bottom += (16 / self.lengths.grain).max(1),
                    _ => return stopped(format!("step: it depends on the turn: {doubt:?}")),
                },
                Err(Stop::NoLoop) if bottom < 4 * units => bottom += 1,
                Err(other) => return Err(other),
            }
        }
        let lowest = (bottom - units).min(least - first * units);
        let mut exits = 0;
        let possible = |left: i128| [first.max((least - left + units - 1).div_euclid(units)), (most - left).div_euclid(units)];
        let all_left = (lowest..bottom).map(|left| (left, possible(left))).filter(|(_, turns)| turns[0] <= turns[1]);
        let period = invariant.period();
        for (left, turns) in all_left.step_by(every) {
            for i in (0..period).map(|rest| Line { times: [period, 0], plus: rest }) {
                let periods = [(turns[0] - i.plus + period - 1).div_euclid(period), (turns[1] - i.plus).div_euclid(period)];
                if periods[0] <= periods[1] {
                    exits += 1;
                    self.exits(invariant, base, &known, &i, left, periods)?;
                }
            }
        }
        Ok(exits)
    }

    /// Proves the exits with this many units left, in these iterations: in parts if they differ, and a few one by one, because numbers allow more.
    fn exits(&mut self, invariant: &Invariant, base: &mut State<'a>, known: &Known, i: &Line, left: i128, turns: [i128; 2]) -> Result<()> {
        self.stage = Stage::Exit;
        let mut parts = vec![turns];
        while let Some(part @ [from, to]) = parts.pop() {
            // A stored length has no bit above that of the greatest one.
            self.region(part.map(|k| [k, 0]).into());
            let i = if from == to { Line::number(i.at(&[from, 0])) } else { *i };
            match self.exit(invariant, base, known, &i, left) {
                Err(Stop::Doubt(doubt)) if from < to => match parted(&doubt, 0, from).filter(|at| *at <= to) {
                    Some(at) => parts.extend([[from, at - 1], [at, to]]),
                    None => return stopped(format!("exit: it depends on the turn: {doubt:?}")),
                },
                Err(Stop::Failure(_)) if from < to && to - from < FEW => parts.extend((from..=to).map(|k| [k; 2])),
                other => other?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(from: u64, to: u64, bound: f64) -> Class {
        Class { from, to, head: String::new(), exits: 1, invariant: String::new(), proved: Proved { bound, ..Proved::default() } }
    }

    /// All lengths are proved without a gap, and with a small enough total error.
    #[test]
    fn what_is_proved() {
        let answer = |classes: &[Class]| Answer { classes: classes.to_vec(), grain: 1, from: 10 };
        assert!(answer(&[class(10, 20, -70.0), class(21, 30, -70.0)]).is_proved());
        assert!(!answer(&[class(10, 20, -70.0), class(22, 30, -70.0)]).is_proved());
        assert!(!answer(&[class(11, 30, -70.0)]).is_proved());
        assert!(!answer(&[class(10, 20, -70.0), class(21, 30, -63.0)]).is_proved());
        assert!(!answer(&[class(10, 20, -64.0), class(21, 30, -64.0)]).is_proved());
    }

    /// Classes with one remainder each: no remainder may be missing, nor a length of one.
    #[test]
    fn what_is_proved_of_each_rest() {
        let answer = |classes: &[(u64, u64)]| {
            let classes = classes.iter().map(|&(from, to)| class(from, to, -90.0)).collect();
            Answer { classes, grain: 4, from: 10 }
        };
        assert_eq!(answer(&[(12, 40), (13, 41), (10, 38), (11, 39)]).whole(), Some(41));
        assert_eq!(answer(&[(12, 40), (13, 41), (10, 38)]).whole(), None);
        assert_eq!(answer(&[(12, 40), (13, 33), (10, 38), (11, 39)]).whole(), None);
        assert_eq!(answer(&[(12, 40), (13, 41), (10, 38), (15, 39)]).whole(), None);
        assert_eq!(answer(&[(12, 40), (13, 41), (10, 18), (22, 38), (11, 39)]).whole(), Some(41));
        assert_eq!(answer(&[(12, 40), (13, 41), (10, 18), (26, 38), (11, 39)]).whole(), None);
    }

    /// The least number of units has this many bytes.
    #[test]
    fn lengths_are_cut_where_they_begin() {
        for (grain, rest, bytes) in
            (1..=16).flat_map(|grain| (0..grain).flat_map(move |rest| (0..70).map(move |bytes| (grain, rest, bytes))))
        {
            let lengths = Lengths { turn: 64, grain, rest };
            let least = lengths.least(bytes);
            assert!(lengths.at(least) >= bytes && lengths.at(least - 1) < bytes);
            assert_eq!(lengths.bytes(&Line { times: [3, 5], plus: 7 }).at(&[2, 9]), lengths.at(3 * 2 + 5 * 9 + 7));
        }
    }

    /// On each side of a parted region the difference has one sign, and no side is empty.
    #[test]
    fn regions_are_parted_where_the_sign_changes() {
        for (times, plus, of) in [-5, -1, 1, 3].into_iter().flat_map(|times| (-20..20).map(move |plus| (times, plus, (plus & 1) as usize)))
        {
            let line = Line { times: if of == 0 { [times, 0] } else { [0, times] }, plus };
            let is_negative = |n: i128| times * n + plus < 0;
            let change = (-30..30).find(|&n| is_negative(n) != is_negative(n - 1)).unwrap();
            assert_eq!(parted(&line, of, -40), Some(change));
            assert_eq!(parted(&line, of, change + 2), Some(change + 3));
            assert_eq!(parted(&line, 1 - of, 0), None);
        }
        assert_eq!(parted(&Line { times: [1, 1], plus: 0 }, 0, 0), None);
    }
}
