//! Proves that a call computes the standard's answer.

use crate::{
    machine::path::Path,
    machine::{self, Decoded, Machine, Stop, Word, stop},
    spec::{self, Gcm},
    statement::calls::{AROUND_BOTH, Case, Form, Places, RETURN, Refused, Shape, Subject, Verb, place, row},
    values::field::{Bit, Block, Byte, byte, none, number, numbers, xor},
    values::random::Seed,
    values::unknown::{Fact, Unknown},
};
use std::collections::HashSet;

/// The reason why a call is not proved.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// It differs from the standard, or does something forbidden.
    Refuted(String),
    /// A secret decides a branch or an address.
    Secret(String),
    /// The interpreter has no semantics for an instruction.
    NotUnderstood(String),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Secret(why) => Self::Secret(why),
            Stop::NotUnderstood(why) => Self::NotUnderstood(why),
            Stop::Refuted(why) => Self::Refuted(why),
        }
    }
}

impl Failure {
    /// Returns its kind in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Refuted(_) => "refuted",
            Self::Secret(_) => "the trace depends on a secret",
            Self::NotUnderstood(_) => "not understood",
        }
    }

    /// Adds the subject of the failure.
    pub(crate) fn of(self, what: impl std::fmt::Display) -> Self {
        let with = |why: String| format!("{what}: {why}");
        match self {
            Self::Refuted(why) => Self::Refuted(with(why)),
            Self::Secret(why) => Self::Secret(with(why)),
            Self::NotUnderstood(why) => Self::NotUnderstood(with(why)),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Refuted(why) | Self::Secret(why) | Self::NotUnderstood(why)) = self;
        write!(f, "{}: {why}", self.kind())
    }
}

/// The measures of a proof.
#[derive(Clone, Copy, Debug, Default)]
pub struct Proved {
    pub steps: u64,
    /// The number of arguments of shared functions.
    pub arguments: usize,
    /// A bound of their degree, and of the degree of all compared bits.
    pub argument: u64,
    pub degree: u64,
    /// The probability that the statement is false is below this power of two: docs/proof.md has the calculation.
    pub bound: f64,
    /// Hashes of the addresses of its instructions, and of those of AES and carry-less products.
    pub trace: [u64; 2],
}

impl Proved {
    /// Computes the measures. `ends` is the number of comparisons of a call's results.
    pub(crate) fn new(machine: &Machine<'_>, case: &Case, form: Form, ends: usize) -> Self {
        let (steps, arguments) = (machine.steps, machine.unknown.argument_count());
        // The standard's own degrees: a hash of these blocks, and the comparison of a tag, a product of 128 factors.
        let blocks = [case.nonce, case.aad, case.text].iter().map(|n| n.div_ceil(16) as u64 + 2).sum::<u64>();
        let own_argument = match form {
            Form::Siv => blocks,
            Form::Gcm | Form::Gmac if case.nonce != 12 => case.nonce.div_ceil(16) as u64 + 2,
            _ => 1,
        };
        let argument = u64::from(machine.degrees.argument).max(own_argument);
        let degree = u64::from(machine.degrees.worst).max(blocks);
        let square = |n: u64| (n as f64).powi(2);
        let pairs = square(arguments as u64) / 2.0;
        // Compared bits: those of at most four operands an instruction, with the degree at that time; and of the last one, and of the results at the
        // end. Each is compared with 0, 1, another bit and its opposite, some with hashes, and conditions with those that may decide.
        let ends = ends as f64;
        let last = ends * (4.0 * 512.0 + 8.0 * (case.text as f64 + 65536.0));
        let decided = machine.degrees.decided.max(128 * blocks);
        let compared = 4.0 * (4.0 * 512.0 * machine.degrees.looked_at + last * square(degree)) + machine.unknown.recognized;
        let sum = pairs * square(argument) + compared + ends * 16.0 * square(decided);
        let sum = if machine.unknown.differs() { 1.25 * sum } else { sum };
        Self { steps, arguments, argument, degree, bound: sum.log2() - 128.0, trace: machine.trace }
    }
}

/// The largest number of instructions of a call.
pub const LIMIT: u64 = 50_000_000;

/// The largest accepted bound of the error, as a power of two.
pub const LEAST: f64 = -64.0;

/// A call's inputs and expected outputs.
#[derive(Debug)]
pub struct Message {
    pub key: Vec<Byte>,
    pub nonce: Vec<Byte>,
    pub aad: Vec<Byte>,
    /// The input text.
    pub text: Vec<Byte>,
    /// The given tag, with a commitment if the scheme has one.
    pub given: Vec<Byte>,
    /// The standard's output text, and its tag with the commitment.
    pub other: Vec<Byte>,
    pub tag: Vec<Byte>,
}

impl Message {
    /// Makes a message of symbols, with the standard's answer.
    pub fn new(unknown: &mut Unknown, case: &Case, verb: &Verb) -> Self {
        let strings = [case.key, case.nonce, case.aad, case.text, verb.behind()].map(|n| unknown.random.string(n));
        Self::of(unknown, strings, verb)
    }

    /// Makes a message of numbers.
    pub fn of_numbers(unknown: &mut Unknown, case: &Case, verb: &Verb) -> Self {
        let lengths = [case.key, case.nonce, case.aad, case.text, verb.behind()];
        let strings = lengths.map(|n| (0..n).map(|_| byte(unknown.random.word() as u8)).collect());
        Self::of(unknown, strings, verb)
    }

    pub(crate) fn of(unknown: &mut Unknown, [key, mut nonce, aad, text, given]: [Vec<Byte>; 5], verb: &Verb) -> Self {
        let (form, opens) = (verb.form, verb.opens);
        if verb.counts {
            nonce.iter_mut().for_each(|symbols| *symbols = byte(unknown.random.word() as u8));
        }
        let first: Block = *given.first_chunk().expect("16 bytes");
        let received = opens.then_some(&first);
        let mut commitment = Vec::new();
        let (other, tag) = match form {
            Form::Gcm | Form::Gmac => Gcm::new(unknown, &key).run(unknown, &nonce, &aad, &text, received),
            Form::Xaes => spec::xaes(unknown, &key, &nonce, &aad, &text, received),
            Form::KcXaes => {
                commitment = spec::xaes_commitment(unknown, &key, &nonce);
                spec::xaes(unknown, &key, &nonce, &aad, &text, received)
            }
            Form::Dndk(commits) => {
                let (derived, named, tail) = spec::dndk(unknown, &key, &nonce, commits);
                commitment = named;
                Gcm::new(unknown, &derived).run(unknown, &tail, &aad, &text, received)
            }
            Form::Siv => spec::siv(unknown, &key, &nonce, &aad, &text, received),
            Form::Ctr => {
                let counter: &Block = nonce.first_chunk().expect("a counter block");
                (Gcm::new(unknown, &key).ctr(unknown, counter, &text), first)
            }
            Form::Blocks => {
                let keys = spec::expand(unknown, &key);
                let blocks = text.as_chunks().0.iter();
                (blocks.flat_map(|block| spec::cipher(unknown, &keys, block)).collect(), first)
            }
        };
        let tag = [&tag[..], &commitment].concat();
        Self { key, nonce, aad, text, given, other, tag }
    }

    /// Returns the buffers before the call; `stale` fills those that only receive an answer.
    pub fn buffers(&self, verb: &Verb, places: &Places, stale: &[Byte]) -> [(u64, Vec<Byte>); 6] {
        let (n, text, tag) = (self.text.len(), &self.text, &self.given[..]);
        let joined = || [text, tag].concat();
        let (from, to) = match verb.shape {
            Shape::InPlace => (Vec::new(), text.clone()),
            Shape::Apart => (text.clone(), stale[..n].to_vec()),
            Shape::InPlaceBehind => (Vec::new(), joined()),
            Shape::Behind if verb.opens => (joined(), stale[..n].to_vec()),
            Shape::Behind => (text.clone(), stale.to_vec()),
            Shape::Read => (text.clone(), Vec::new()),
        };
        let Self { key, nonce, aad, .. } = self;
        [
            (places.key, key.clone()),
            (places.nonce, nonce.clone()),
            (places.aad, aad.clone()),
            (places.from, from),
            (places.to, to),
            (places.tag, tag.to_vec()),
        ]
    }

    /// Returns the bytes to write into a process before the call, with their addresses: its buffers, and the description of the call. The message is one of numbers.
    pub fn inputs(&self, subject: &Subject, case: &Case) -> machine::Result<[(u64, Vec<u8>); 7]> {
        let verb = &subject.verbs[case.verb];
        let stale = vec![byte(0xa5); case.text + verb.behind()];
        let buffers = self.buffers(verb, &subject.places(case)?, &stale).map(|(at, what)| Some((at, numbers(&what)?)));
        let [Some(key), Some(nonce), Some(aad), Some(from), Some(to), Some(tag)] = buffers else { stop!("a symbol among numbers") };
        Ok([key, nonce, aad, from, to, tag, (subject.call, subject.words(case)?.map(u64::to_le_bytes).concat())])
    }
}

fn refuted<T>(why: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Refuted(why.into()))
}

fn equal(what: &str, code: &[Byte], standard: &[Byte]) -> Result<(), Failure> {
    match code.iter().zip(standard).position(|(code, standard)| code != standard) {
        Some(i) => refuted(format!("byte {i} of {} of {what} is not what the standard says", standard.len())),
        None => Ok(()),
    }
}

/// Returns the numbers of bytes in registers and on the stack that are neither numbers, nor public (ciphertext, tag, AAD, nonce), nor were there
/// before the call.
fn left(machine: &Machine<'_>, first: &[Byte], message: &Message, opens: bool, has_512: bool) -> (usize, usize) {
    let ciphertext = if opens { &message.text } else { &message.other };
    // Sealing reveals its tag. Opening does not: the right tag of a text allows a forgery.
    let computed: &[Byte] = if opens { &[] } else { &message.tag };
    let unused = machine.memory.unused();
    let public: HashSet<&Byte> =
        [&ciphertext[..], &message.given[..], computed, &message.aad, &message.nonce, first, &unused].into_iter().flatten().collect();
    let is_secret = |byte: &Byte| number(byte).is_none() && !public.contains(byte);
    let stack = machine.memory.left().iter().filter(|(_, byte)| is_secret(byte)).count();
    // A row without AVX-512 cannot write registers 16 to 31. The C library's `memcpy` can, if the processor has them.
    let has_more = |i: usize| has_512 || !(16 * 64..32 * 64).contains(&i);
    let registers = machine.registers();
    let secret = registers.iter().enumerate().filter(|(i, byte)| has_more(*i) && is_secret(byte));
    (stack, secret.count())
}

/// The largest number of paths.
const MAX_PATHS: usize = 40;

/// Proves one call for all keys, nonces, AADs and texts of these lengths, and with `wiped` that no secrets remain if the verb promises that.
/// Where a secret decides, both paths are followed, to report the result of each.
pub fn prove(subject: &Subject, decoded: &mut Decoded, case: &Case, seed: Seed, limit: u64, wiped: bool) -> Result<Proved, Failure> {
    let (mut todo, mut ends, mut condition, mut gone) = (vec![(Vec::new(), Vec::new())], Vec::new(), None, 0);
    let mut is_public = true;
    while let Some((chosen, facts)) = todo.pop().filter(|_| gone < MAX_PATHS) {
        gone += 1;
        let (mut path, mut answer) = (Path::of(chosen), None);
        let end = prove_path(subject, decoded, case, seed, limit, wiped, (&mut path, &facts, &mut answer));
        let Some((place, known, of_public)) = path.parts else {
            if condition.is_none() {
                return end;
            }
            ends.push((end, answer));
            continue;
        };
        // The first condition on a secret is reported.
        if condition.is_none() || is_public && !of_public {
            condition = Some(place);
        }
        is_public &= of_public;
        for (outcome, fact) in [true, false].into_iter().zip(known.into_iter().rev()) {
            todo.push(([&path.chosen[..], &[outcome]].concat(), [&facts[..], &[fact]].concat()));
        }
    }
    let condition = condition.unwrap_or_default();
    // Public values may decide.
    if is_public && todo.is_empty() {
        let worst = |a: Proved, b: Proved| Proved { steps: a.steps + b.steps, ..if a.bound < b.bound { b } else { a } };
        let ends: Result<Vec<Proved>, Failure> = ends.into_iter().map(|(end, _)| end).collect();
        return Ok(ends?.into_iter().reduce(worst).unwrap_or_default());
    }
    let has = |n: u64| ends.iter().any(|(_, answer)| *answer == Some(Word::Number(n)));
    if subject.verbs[case.verb].opens && has(0) && has(1) {
        return refuted(format!("it does not accept by the tag alone, or not by all of it: {condition}"));
    }
    let right = ends.iter().filter(|(end, _)| end.is_ok()).count();
    let more = match ends.iter().find_map(|(end, _)| end.as_ref().err()) {
        _ if !todo.is_empty() => ", and others were not gone".into(),
        None => String::new(),
        Some(why) => format!("; elsewhere {why}"),
    };
    Err(Failure::Secret(format!("{condition}. Of {} ways that were gone {right} give what the standard says{more}", ends.len())))
}

/// The largest number of consecutive calls.
const CALLS: usize = 4;

/// Follows one path of a call. If the call leaves numbers in statics or in allocated memory, another call from there must take this path, with a
/// message of its own in these buffers, until one leaves all unchanged: then each later one does, too. (The allocator's own data is exempt, except for
/// the second call.)
fn prove_path(
    subject: &Subject,
    decoded: &mut Decoded,
    case: &Case,
    seed: Seed,
    limit: u64,
    wiped: bool,
    (path, facts, answer): (&mut Path, &[Option<Fact>], &mut Option<Word>),
) -> Result<Proved, Failure> {
    let verb = &subject.verbs[case.verb];
    let mut machine = subject.machine(decoded, case, seed)?;
    machine.may_mark = wiped && verb.wipes;
    machine.unknown.facts = facts.to_vec();
    let mut calls = 0;
    loop {
        let mut result = None;
        let ended = call(subject, &mut machine, case, limit, wiped, (path, &mut result));
        if calls == 0 {
            *answer = result;
        }
        let left = ended.map_err(|failure| if calls == 0 { failure } else { failure.of(format_args!("call {}", calls + 1)) })?;
        calls += 1;
        let Some((left, is_program)) = left.filter(|(_, is_program)| *is_program || calls == 1) else { break };
        if calls == CALLS && is_program {
            return Err(Failure::NotUnderstood(format!(
                "each call leaves the program another: {} changes again",
                subject.image.place(left)
            )));
        }
        subject.again(&mut machine, case)?;
    }
    let proved = Proved::new(&machine, case, verb.form, calls);
    if proved.bound > LEAST {
        return Err(Failure::NotUnderstood(format!("the error is bounded by 2^{:.0} only", proved.bound)));
    }
    Ok(proved)
}

/// Runs one call of a prepared machine. Returns the address of a changed number, if any, and whether it is outside of the allocator's
/// data.
fn call(
    subject: &Subject,
    machine: &mut Machine<'_>,
    case: &Case,
    limit: u64,
    wiped: bool,
    (path, answer): (&mut Path, &mut Option<Word>),
) -> Result<Option<(u64, bool)>, Failure> {
    let verb = &subject.verbs[case.verb];
    machine.path = Some(std::mem::take(path));
    let message = Message::new(&mut machine.unknown, case, verb);
    let places = subject.places(case)?;
    let ciphertext = if verb.opens { &message.text } else { &message.other };
    if let Some(path) = &mut machine.path {
        path.public.extend([&message.nonce, &message.aad, ciphertext].into_iter().flatten().flatten());
    }

    let stale = machine.unknown.random.string(case.text + verb.behind());
    let (n, tag) = (case.text, &message.given[..]);
    let buffers = message.buffers(verb, &places, &stale);
    for (at, what) in &buffers {
        let around = machine.unknown.random.string(AROUND_BOTH);
        place(&mut machine.memory, &around, *at, what)?;
    }
    let (_, to) = &buffers[4];
    if verb.tag > message.tag.len() {
        return Err(Failure::NotUnderstood(format!("a tag of {} bytes, where the scheme has {}", verb.tag, message.tag.len())));
    }
    // Only the equality of the tags may decide.
    let differ: Vec<Bit> = (0..verb.tag).flat_map(|i| xor(&message.tag[i], &message.given[i])).collect();
    let equal_tags = none(&differ);
    if verb.opens {
        machine.verdicts.insert(equal_tags, case.right);
    }
    let kept = machine.kept();
    machine.memory.watch();
    machine.memory.own = Some(subject.own(case, &places));
    let entry = if wiped { machine.registers() } else { Vec::new() };
    let limit = machine.steps.saturating_add(limit);
    let ended = machine.run_to(RETURN, limit);
    machine.memory.own = None;
    *path = machine.path.take().unwrap_or_default();
    ended?;
    let result = machine.answer().clone();
    *answer = Some(result.clone());

    let first = [machine.marked.take().unwrap_or_default(), entry].concat();
    if wiped
        && verb.wipes
        && let left @ (1.., _) | left @ (_, 1..) = left(machine, &first, &message, verb.opens, row(case.row).0 == "vaes-avx512")
    {
        return refuted(format!("{} bytes of secrets are left on the stack, {} in registers", left.0, left.1));
    }

    if machine.kept() != kept || *machine.stack() != Word::Number(subject.top(case)) {
        return refuted("a register of the caller is not what it was");
    }
    let accepts = !verb.opens || case.right;
    if result != Word::Number(u64::from(!accepts)) {
        return refuted(format!("the answer is {}, and should be {}", result.text(), u64::from(!accepts)));
    }
    if verb.opens && machine.asked != [equal_tags] {
        return refuted("it accepts without a look at the tag");
    }
    let text = machine.memory.string(places.to, places.to_len)?;
    let tag_now = machine.memory.string(places.tag, verb.behind())?;
    let (body, behind) = text.split_at(n.min(text.len()));
    let tagged = !matches!(verb.form, Form::Ctr | Form::Blocks);
    if verb.opens && !case.right {
        match verb.refused {
            Refused::Zeros if body.iter().flatten().any(|&bit| bit != Bit::default()) => return refuted("a text that is refused is left"),
            Refused::AsItWas => equal("the text that is refused", body, &to[..body.len()])?,
            _ => {}
        }
    } else if verb.shape != Shape::Read {
        equal("the text", body, &message.other)?;
    }
    match verb.shape {
        _ if verb.opens || !tagged => {
            equal("the tag that was given", &tag_now, tag)?;
            equal("the tag behind the text", behind, if behind.is_empty() { behind } else { tag })?;
        }
        Shape::InPlaceBehind | Shape::Behind => equal("the tag", behind, &message.tag)?,
        _ => equal("the tag", &tag_now, &message.tag)?,
    }
    // Other writes are to statics that hold numbers and to allocated memory: each byte was checked when it was written.
    let own = subject.own(case, &places);
    let mut others = machine.memory.changed();
    others.retain(|at| !own.ranges.iter().any(|range| range.contains(at)) && !matches!(machine.memory.number(*at, 1), Ok(None)));
    let of_program = others.iter().find(|at| !(verb.allocates && subject.image.is_allocators(**at)));
    Ok(of_program.map(|at| (*at, true)).or(others.first().map(|at| (*at, false))))
}
