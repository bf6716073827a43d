//! One call, held against the standard.

use crate::{
    machine::ways::Ways,
    machine::{self, Decoded, Machine, Stop, Word, stop},
    spec::{self, Gcm},
    statement::calls::{AROUND_BOTH, Case, Form, Places, RETURN, Refused, Shape, Subject, Verb, place, row},
    values::field::{Bit, Block, Byte, byte, none, number, numbers, xor},
    values::random::Seed,
    values::unknown::{Fact, Unknown},
};
use std::collections::HashSet;

/// Why a call is not proved.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// It computes something else than the standard says, or does what it must not.
    Refuted(String),
    /// A secret decides where it goes on, or where it touches memory.
    Secret(String),
    /// The interpreter has no meaning for what it does.
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
    /// The kind of it, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Refuted(_) => "refuted",
            Self::Secret(_) => "the trace depends on a secret",
            Self::NotUnderstood(_) => "not understood",
        }
    }

    /// And of what it is said.
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

/// What a proof took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Proved {
    pub steps: u64,
    /// Arguments of shared functions.
    pub asked: usize,
    /// A bound of their degree, and of the degree of all that is compared.
    pub argument: u64,
    pub degree: u64,
    /// The probability that what is proved is false is below this power of two: docs/proof.md has the calculation.
    pub bound: f64,
    /// Hashes of the places of its instructions, and of those of AES and of products without carry.
    pub trace: [u64; 2],
}

impl Proved {
    /// `ends`: how often what has come of a call was compared.
    pub(crate) fn new(machine: &Machine<'_>, case: &Case, form: Form, ends: usize) -> Self {
        let (steps, asked) = (machine.steps, machine.unknown.asked());
        // The standard's own: a hash of so many blocks, and the comparison of a tag, a product of 128 factors.
        let blocks = [case.nonce, case.aad, case.text].iter().map(|n| n.div_ceil(16) as u64 + 2).sum::<u64>();
        let own_argument = match form {
            Form::Siv => blocks,
            Form::Gcm | Form::Gmac if case.nonce != 12 => case.nonce.div_ceil(16) as u64 + 2,
            _ => 1,
        };
        let argument = u64::from(machine.degrees.argument).max(own_argument);
        let degree = u64::from(machine.degrees.worst).max(blocks);
        let square = |n: u64| (n as f64).powi(2);
        let pairs = square(asked as u64) / 2.0;
        // Bits that are looked at: of at most four operands an instruction, with the degree that there is by then; and of the last one, and of what is compared at
        // the end. Each is held against 0, 1, another bit and its opposite, and some are held against hashes. What decides is held against what may decide.
        let ends = ends as f64;
        let last = ends * (4.0 * 512.0 + 8.0 * (case.text as f64 + 65536.0));
        let decided = machine.degrees.decided.max(128 * blocks);
        let compared = 4.0 * (4.0 * 512.0 * machine.degrees.looked_at + last * square(degree)) + machine.unknown.recognized;
        let sum = pairs * square(argument) + compared + ends * 16.0 * square(decided);
        let sum = if machine.unknown.differs() { 1.25 * sum } else { sum };
        Self { steps, asked, argument, degree, bound: sum.log2() - 128.0, trace: machine.trace }
    }
}

/// More instructions than any call that is proved takes.
pub const LIMIT: u64 = 50_000_000;

/// A greater bound of the error, as a power of two, proves nothing.
pub const LEAST: f64 = -64.0;

/// What a call is given, and what must come of it.
#[derive(Debug)]
pub struct Message {
    pub key: Vec<Byte>,
    pub nonce: Vec<Byte>,
    pub aad: Vec<Byte>,
    /// The text that is read.
    pub text: Vec<Byte>,
    /// The tag that is given, and a commitment if the scheme has one.
    pub given: Vec<Byte>,
    /// What the standard makes of it: the other text, and the tag with the commitment.
    pub other: Vec<Byte>,
    pub tag: Vec<Byte>,
}

impl Message {
    /// Symbols, and the standard's answer.
    pub fn new(unknown: &mut Unknown, case: &Case, verb: &Verb) -> Self {
        let strings = [case.key, case.nonce, case.aad, case.text, verb.behind()].map(|n| unknown.random.string(n));
        Self::of(unknown, strings, verb)
    }

    /// Numbers.
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
        let asked = opens.then_some(&first);
        let mut commitment = Vec::new();
        let (other, tag) = match form {
            Form::Gcm | Form::Gmac => Gcm::new(unknown, &key).run(unknown, &nonce, &aad, &text, asked),
            Form::Xaes => spec::xaes(unknown, &key, &nonce, &aad, &text, asked),
            Form::KcXaes => {
                commitment = spec::xaes_commitment(unknown, &key, &nonce);
                spec::xaes(unknown, &key, &nonce, &aad, &text, asked)
            }
            Form::Dndk(commits) => {
                let (derived, named, tail) = spec::dndk(unknown, &key, &nonce, commits);
                commitment = named;
                Gcm::new(unknown, &derived).run(unknown, &tail, &aad, &text, asked)
            }
            Form::Siv => spec::siv(unknown, &key, &nonce, &aad, &text, asked),
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

    /// What is where before the call; `stale` is where nothing but an answer will be.
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

    /// What a process is given before the call, and where: its buffers, and last what says what is to be done. The message is one of numbers.
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

/// Bytes that have come into registers and onto the stack, are no numbers, and are not what everybody may know (ciphertext, tag, AAD, nonce) or what
/// stood in registers and below the stack before the call.
fn left(machine: &Machine<'_>, first: &[Byte], message: &Message, opens: bool, has_512: bool) -> (usize, usize) {
    let ciphertext = if opens { &message.text } else { &message.other };
    // What seals tells its tag. What opens does not: whoever knows the right tag of a text can forge it.
    let computed: &[Byte] = if opens { &[] } else { &message.tag };
    let unused = machine.memory.unused();
    let public: HashSet<&Byte> =
        [&ciphertext[..], &message.given[..], computed, &message.aad, &message.nonce, first, &unused].into_iter().flatten().collect();
    let is_secret = |byte: &Byte| number(byte).is_none() && !public.contains(byte);
    let stack = machine.memory.left().iter().filter(|(_, byte)| is_secret(byte)).count();
    // A row without AVX-512 cannot reach registers 16 to 31. The C library's `memcpy` can, where the processor has them.
    let has_more = |i: usize| has_512 || !(16 * 64..32 * 64).contains(&i);
    let registers = machine.registers();
    let secret = registers.iter().enumerate().filter(|(i, byte)| has_more(*i) && is_secret(byte));
    (stack, secret.count())
}

/// More ways than these are not gone.
const WAYS: usize = 40;

/// Proves one call for all keys, nonces, AADs and texts of these lengths. `wiped`: and that nothing is left of secrets where the verb promises
/// that. Where a secret decides, both ways are gone, to say what comes of each.
pub fn prove(subject: &Subject, decoded: &mut Decoded, case: &Case, seed: Seed, limit: u64, wiped: bool) -> Result<Proved, Failure> {
    let (mut todo, mut ends, mut condition, mut gone) = (vec![(Vec::new(), Vec::new())], Vec::new(), None, 0);
    let mut is_public = true;
    while let Some((chosen, facts)) = todo.pop().filter(|_| gone < WAYS) {
        gone += 1;
        let (mut ways, mut answer) = (Ways::of(chosen), None);
        let end = prove_way(subject, decoded, case, seed, limit, wiped, (&mut ways, &facts, &mut answer));
        let Some((place, known, of_public)) = ways.parts else {
            if condition.is_none() {
                return end;
            }
            ends.push((end, answer));
            continue;
        };
        // The first that is about a secret is told.
        if condition.is_none() || is_public && !of_public {
            condition = Some(place);
        }
        is_public &= of_public;
        for (outcome, fact) in [true, false].into_iter().zip(known.into_iter().rev()) {
            todo.push(([&ways.chosen[..], &[outcome]].concat(), [&facts[..], &[fact]].concat()));
        }
    }
    let condition = condition.unwrap_or_default();
    // What everybody may know may decide.
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

/// So many calls one after the other.
const CALLS: usize = 4;

/// One of the ways that a call goes, and what it answers. Where it leaves numbers behind, in statics or in what it allocates, another call from there on goes the
/// same way, with a message of its own in the same buffers, until one leaves all as it was: so does each behind it, then. (What an allocator keeps is left out of that,
/// but for the second call.)
fn prove_way(
    subject: &Subject,
    decoded: &mut Decoded,
    case: &Case,
    seed: Seed,
    limit: u64,
    wiped: bool,
    (ways, facts, answer): (&mut Ways, &[Option<Fact>], &mut Option<Word>),
) -> Result<Proved, Failure> {
    let verb = &subject.verbs[case.verb];
    let mut machine = subject.machine(decoded, case, seed)?;
    machine.may_mark = wiped && verb.wipes;
    machine.unknown.facts = facts.to_vec();
    let mut calls = 0;
    loop {
        let mut told = None;
        let ended = call(subject, &mut machine, case, limit, wiped, (ways, &mut told));
        if calls == 0 {
            *answer = told;
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

/// One call of a machine that is about to call; where it has left another number than was there, if anywhere, and whether
/// that is not of the allocator.
fn call(
    subject: &Subject,
    machine: &mut Machine<'_>,
    case: &Case,
    limit: u64,
    wiped: bool,
    (ways, answer): (&mut Ways, &mut Option<Word>),
) -> Result<Option<(u64, bool)>, Failure> {
    let verb = &subject.verbs[case.verb];
    machine.ways = Some(std::mem::take(ways));
    let message = Message::new(&mut machine.unknown, case, verb);
    let places = subject.places(case)?;
    let ciphertext = if verb.opens { &message.text } else { &message.other };
    if let Some(ways) = &mut machine.ways {
        ways.public.extend([&message.nonce, &message.aad, ciphertext].into_iter().flatten().flatten());
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
    // All that may decide: whether the tags are equal.
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
    *ways = machine.ways.take().unwrap_or_default();
    ended?;
    let told = machine.answer().clone();
    *answer = Some(told.clone());

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
    if told != Word::Number(u64::from(!accepts)) {
        return refuted(format!("the answer is {}, and should be {}", told.said(), u64::from(!accepts)));
    }
    if verb.opens && machine.asked != [equal_tags] {
        return refuted("it accepts without a look at the tag");
    }
    let text = machine.memory.string(places.to, places.to_len)?;
    let told = machine.memory.string(places.tag, verb.behind())?;
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
            equal("the tag that was given", &told, tag)?;
            equal("the tag behind the text", behind, if behind.is_empty() { behind } else { tag })?;
        }
        Shape::InPlaceBehind | Shape::Behind => equal("the tag", behind, &message.tag)?,
        _ => equal("the tag", &told, &message.tag)?,
    }
    // What it wrote elsewhere are statics that hold numbers, and what it allocates: each byte was looked at when it was written.
    let own = subject.own(case, &places);
    let mut others = machine.memory.changed();
    others.retain(|at| !own.ranges.iter().any(|range| range.contains(at)) && !matches!(machine.memory.number(*at, 1), Ok(None)));
    let of_program = others.iter().find(|at| !(verb.allocates && subject.image.is_allocators(**at)));
    Ok(of_program.map(|at| (*at, true)).or(others.first().map(|at| (*at, false))))
}
