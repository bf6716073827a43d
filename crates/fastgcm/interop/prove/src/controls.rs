//! Calls that are wrong on purpose (`victim/src/wrong.rs`): each must be refuted at exactly the lengths at which it is wrong, for the reason that it is wrong,
//! and be proved at the lengths beside. They are to the prover what tests are to the library: without them nobody would see that it has become blind.

use gcm_prove::{
    machine::Decoded,
    statement::calls::{Case, Layout, ROWS, Subject},
    statement::prove::{Failure, prove},
    values::field::Bit,
    values::random::{Random, Seed},
};

/// The length at which a call is wrong, and its neighbours.
const AT: usize = 33;
const TEXTS: [usize; 5] = [0, AT - 1, AT, AT + 1, 600];

/// What must be said of a call that is wrong.
#[derive(Clone, Copy)]
enum Said {
    /// Refuted, with these words.
    Refuted(&'static str),
    /// The trace depends on a secret, with these words.
    Secret(&'static str),
}
use Said::{Refuted, Secret};

/// With which tag a call that opens is wrong.
const RIGHT: bool = true;
const WRONG: bool = false;

/// Each call that is wrong, with what must be said of it, and for opening with which tag.
const CONTROLS: &[(&str, Said, bool)] = &[
    ("a byte of the tag that is sealed", Refuted("byte 5 of 16 of the tag "), RIGHT),
    ("a byte of the ciphertext", Refuted("byte 32 of 33 of the text "), RIGHT),
    ("a byte behind the text is written", Refuted("memory that is not its own is written"), RIGHT),
    ("a byte before the text is written", Refuted("memory that is not its own is written"), RIGHT),
    ("the AAD is written", Refuted("memory that is not its own is written"), RIGHT),
    ("the key is written", Refuted("memory that is not its own is written"), RIGHT),
    ("a secret is kept in a static", Refuted("a secret is written to "), RIGHT),
    ("a branch depends on the key", Secret("symbol"), RIGHT),
    ("an address depends on the key", Secret("a symbol in an address"), RIGHT),
    ("the tag is compared in 12 bytes", Refuted("it does not accept by the tag alone"), RIGHT),
    ("any tag is accepted", Refuted("the answer is "), WRONG),
    ("the tag is not looked at", Refuted("it accepts without a look at the tag"), RIGHT),
    ("the tag is not looked at", Refuted("the answer is "), WRONG),
    ("a text that is refused is left", Refuted("a text that is refused is left"), WRONG),
    ("a text that is refused is not as it was", Refuted("byte 0 of 33 of the text that is refused"), WRONG),
    ("the tag that was given is written", Refuted("memory that is not its own is written, byte 7 of the tag"), RIGHT),
    ("one nonce", Refuted("byte 0 of 16 of the tag "), RIGHT),
];

/// Calls in which one bit of an input is another one: `cuts[0]` says which.
const BITS: [&str; 3] = ["a byte of the nonce", "a byte of the key", "a byte of the AAD"];

/// With what each must end: it is refuted, or stops, in these words; or, where that is empty, is proved.
fn held(subject: &Subject, case: &Case, expected: Option<Said>, seed: Seed) -> Result<(), String> {
    let wiped = subject.verbs[case.verb].wipes;
    let ended = prove(subject, &mut Decoded::default(), case, seed, LIMIT, wiped);
    let is_right = match (&ended, expected) {
        (Ok(_), None) => true,
        (Err(Failure::Refuted(why)), Some(Refuted(said))) | (Err(Failure::Secret(why)), Some(Secret(said))) => why.contains(said),
        _ => false,
    };
    let ended = ended.map_or_else(|why| why.to_string(), |_| "proved".into());
    let (row, name, Case { text, cuts, right, .. }) = (ROWS[case.row].0, &subject.verbs[case.verb].name, case);
    if is_right { Ok(()) } else { Err(format!("{row}, {name}, text {text}, cuts {cuts:?}, right {right}: {ended}")) }
}

const LIMIT: u64 = 200_000;

/// Whether points are drawn from all of GF(2^64): of what the bound of the error counts on, nothing else would tell. Each bit of some hundred is 0 and 1, in
/// about half of them.
pub(crate) fn points_are_wide(seed: Seed) -> bool {
    const DRAWN: u32 = 1000;
    let mut random = Random::new(seed, 0);
    let symbols: Vec<Bit> = (0..DRAWN).map(|_| random.symbol()).collect();
    let ones = |of: fn(&Bit) -> u64, bit: u32| symbols.iter().map(|symbol| (of(symbol) >> bit & 1) as u32).sum::<u32>();
    (0..64).all(|bit| {
        [ones(|symbol| symbol.0, bit), ones(|symbol| symbol.1, bit)].iter().all(|ones| (DRAWN / 3..2 * DRAWN / 3).contains(ones))
    }) && symbols.iter().all(|symbol| symbol.0 != symbol.1)
}

/// All controls on that row. Returns how many calls ended as they must, and what is wrong.
pub(crate) fn run(subject: &Subject, row: usize, seed: Seed) -> Result<(usize, Vec<String>), String> {
    let verb = |name: &str| subject.verb(&format!("wrong: {name}")).ok_or_else(|| format!("the program has no call `wrong: {name}`"));
    let case = |verb, text, cuts, right| Case { verb, row, key: 16, nonce: 12, aad: 13, text, cuts, right, layout: Layout::default() };
    let mut asked = Vec::new();
    for &(name, said, on) in CONTROLS {
        let verb = verb(name)?;
        for text in TEXTS {
            for right in [true, false].into_iter().filter(|right| *right || subject.verbs[verb].opens) {
                if text != AT || right == on {
                    asked.push((case(verb, text, [0; 2], right), (text == AT).then_some(said)));
                }
            }
        }
    }
    let verb_of_register = verb("a register of the caller is changed")?;
    asked.extend(TEXTS.map(|text| (case(verb_of_register, text, [0; 2], true), Some(Refuted("a register of the caller")))));
    for name in BITS {
        let verb = verb(name)?;
        for bit in 0..8 {
            asked.extend(TEXTS.map(|text| (case(verb, text, [bit.min(text); 2], true), (text == AT).then_some(Refuted("byte ")))));
        }
    }
    // What a program without the feature `scrub` leaves is enough for this one.
    let verb = verb("a secret is left")?;
    asked.extend(TEXTS.map(|text| (case(verb, text, [0; 2], true), Some(Refuted("bytes of secrets are left")))));
    let wrong = asked.iter().enumerate().filter_map(|(n, (case, said))| held(subject, case, *said, seed.wrapping_add(n as Seed)).err());
    let wrong: Vec<String> = wrong.collect();
    Ok((asked.len() - wrong.len(), wrong))
}
