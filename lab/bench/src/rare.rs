//! Programs with many keys, and rare calls. A warm message with one key finds everything near; a server's message finds its key in the second-level
//! cache, or beyond, and a program that calls a cipher now and then finds not even the code.

use crate::{
    peer::{Key, Loaded},
    place::{self, LINES},
    work::{self, Buffers, Nonces, Peer, Place, Verb, Work},
};
use aead_plugin::Message;
use clap::Args;
use fastgcm_measure::{Contender, Measurement, Sampler, median};
use std::time::{Duration, Instant};

/// How many keys there are, of which each message takes one at random.
const KEYS: [usize; 4] = [1, 64, 1024, 16_384];
/// Bytes of text under many keys, and of rare messages.
const MANY: [usize; 2] = [64, 1420];
const RARE: [usize; 4] = [64, 256, 1420, 4096];

#[derive(Args)]
pub(crate) struct Asked {
    /// Bits of the keys of messages
    #[arg(long, default_value_t = 128)]
    bits: usize,
    /// Samples at each of 64 places of key, stack and output
    #[arg(long, default_value_t = 8)]
    samples: usize,
    /// For `cold`: how often all are loaded anew, since the pages that the system gives to code and keys decide up to a quarter
    #[arg(long, default_value_t = 7)]
    launches: usize,
}

/// Of the machine's own level.
fn work(level: &str, verb: Verb, bits: usize, bytes: usize, cold: bool) -> Work {
    Work { level: level.into(), verb, bits, bytes, aad: 12, nonces: Nonces::Prepared, in_place: false, place: Place::Aligned, cold }
}

fn print(head: &str, columns: &[String], names: &[String], values: impl Fn(usize, usize) -> String) {
    println!("\n| {head} | {} |\n|---|{}", columns.join(" | "), "---:|".repeat(columns.len()));
    for (row, name) in names.iter().enumerate() {
        println!("| {name} | {} |", Vec::from_iter((0..columns.len()).map(|column| values(row, column))).join(" | "));
    }
}

/// Prints what a key has in bytes, what making one takes, and what a message takes under many. Returns how many cases were measured.
pub(crate) fn keys(asked: &Asked, peers: &[Box<dyn Peer>]) -> usize {
    fastgcm_measure::pin();
    let level = peers.first().map(|peer| peer.level()).unwrap_or_default();
    let here = peers.iter().filter(|peer| peer.level() == level && peer.table().is_some() && !peer.name().ends_with(" again"));
    let here: Vec<&dyn Peer> = here.map(|peer| &**peer).collect();
    let (buffers, names) = (Buffers::new(MANY[1], 1), Vec::from_iter(here.iter().map(|peer| peer.name())));
    let measure = |mut contenders: Vec<Contender<'_>>, micros| {
        let rounds = LINES * asked.samples;
        let sampler = Sampler { sample: Duration::from_micros(micros), rounds: rounds..=rounds, budget: Duration::ZERO };
        let measured = sampler.run_over(LINES, fastgcm_measure::Case::new("", ""), &mut contenders, &mut |_| ());
        Vec::from_iter(names.iter().map(|name| measured.by(name).map_or(f64::NAN, |found| median(found.by_place(LINES)))))
    };

    let (mut columns, mut times) = (Vec::new(), Vec::new());
    for bits in [128, 256] {
        for verb in [Verb::Rekey, Verb::Value, Verb::Key] {
            let made = work(&level, verb, bits, 0, false);
            columns.push(format!("AES-{bits} {verb}"));
            times.push(measure(here.iter().filter_map(|peer| peer.contender(&peer.name(), &made, &buffers)).collect(), 8));
        }
    }
    print("a key, ns", &columns, &names, |row, column| format!("{:.0}", times[column][row]));

    let bytes =
        Vec::from_iter(here.iter().map(|peer| {
            peer.table().map(|table| table.key_size).filter(|size| *size > 0).map_or_else(String::new, |size| size.to_string())
        }));
    let (mut columns, mut times) = (vec!["bytes of a key".to_owned()], Vec::new());
    for len in MANY {
        for count in KEYS {
            columns.push(format!("{len} B, {count} keys"));
            let many = |peer: &&dyn Peer| of_many(*peer, asked.bits, len, count, &buffers);
            times.push(measure(here.iter().filter_map(many).collect(), 40));
        }
    }
    let cell = |row: usize, column: usize| if column == 0 { bytes[row].clone() } else { format!("{:.1}", times[column - 1][row]) };
    print(&format!("AES-{} seal, AAD 12, ns", asked.bits), &columns, &names, cell);
    2 * 3 + MANY.len() * KEYS.len()
}

/// A message under one of so many keys, which is drawn just before. Of one key, its place moves.
fn of_many<'a>(peer: &dyn Peer, bits: usize, len: usize, count: usize, buffers: &'a Buffers) -> Option<Contender<'a>> {
    let (table, bytes) = (peer.table()?, [0x5a; 32]);
    let mut keys = if count == 1 {
        crate::peer::key_of_each_line(table, &bytes[..bits / 8])?
    } else {
        (0..count).map(|_| Key::new(table, &bytes[..bits / 8])).collect::<Option<Vec<_>>>()?
    };
    let mut drawn = fastrand::Rng::with_seed(count as u64);
    Some(Contender::placed(peer.name(), move |at, iterations| {
        work::clear_upper_halves();
        let (message, lines) = buffers.message(len, 12, at);
        let (first, count) = if count == 1 { (lines.key, 1) } else { (0, count) };
        place::deeper(lines.stack * 64, || {
            let start = Instant::now();
            for number in 0..iterations {
                let key = &mut keys[first + drawn.usize(..count)];
                // SAFETY: buffers with room for the text and a tag, which contenders use one at a time.
                unsafe { key.seal(&Message { nonce: buffers.nonce(number), ..message }) };
            }
            start.elapsed()
        })
    }))
}

/// Prints what a message takes after other data and other code, and the geometric means of how many times as long ours takes. `load` loads all
/// again, ours first. Returns how many cases were measured.
pub(crate) fn cold(asked: &Asked, load: impl Fn() -> Result<Vec<Loaded>, String>) -> Result<usize, String> {
    fastgcm_measure::pin();
    let mut names = Vec::new();
    let columns = Vec::from_iter([Verb::Seal, Verb::Open].into_iter().flat_map(|verb| RARE.map(|len| (verb, len))));
    // For each launch, column and contender.
    let mut times: Vec<Vec<Vec<f64>>> = Vec::new();
    for launch in 0..asked.launches.max(1) {
        let (peers, buffers) = (load()?, Buffers::new(RARE[3], launch as u64));
        let level = peers.first().map(Peer::level).unwrap_or_default();
        names = peers.iter().map(Peer::name).collect();
        let rounds = LINES * asked.samples.div_ceil(8);
        let sampler = Sampler { sample: Duration::ZERO, rounds: rounds..=rounds, budget: Duration::ZERO };
        times.push(Vec::from_iter(columns.iter().map(|&(verb, len)| {
            let once = work(&level, verb, asked.bits, len, true);
            let mut contenders = Vec::from_iter(peers.iter().filter_map(|peer| peer.contender(&peer.name(), &once, &buffers)));
            let measured = sampler.run_over(LINES, once.case(), &mut contenders, &mut |_| ());
            Vec::from_iter(names.iter().map(|name| measured.by(name).map_or(f64::NAN, middle)))
        })));
    }
    let of = |row: usize, column: usize| median(times.iter().map(|launch| launch[column][row]).collect());
    let heads = Vec::from_iter(columns.iter().map(|(verb, len)| format!("{verb} {len} B")));
    print(&format!("AES-{}, AAD 12, cold, ns", asked.bits), &heads, &names, |row, column| format!("{:.0}", of(row, column)));
    let means = ["sealed", "opened", "both"].map(str::to_owned);
    print("that / ours, geometric mean", &means, &names, |row, mean| {
        let wanted = match mean {
            0 => 0..RARE.len(),
            1 => RARE.len()..2 * RARE.len(),
            _ => 0..2 * RARE.len(),
        };
        let logs = wanted.clone().map(|column| median(times.iter().map(|launch| (launch[column][row] / launch[column][0]).ln()).collect()));
        format!("{:.3}", (logs.sum::<f64>() / wanted.len() as f64).exp())
    });
    Ok(columns.len())
}

/// The mean of the samples between the first and the third quartile: the clock moves in steps of some nanoseconds, and no message is like another.
fn middle(found: &Measurement) -> f64 {
    let mut sorted = found.samples_ns.clone();
    sorted.sort_by(f64::total_cmp);
    let half = &sorted[sorted.len() / 4..sorted.len().div_ceil(4) * 3];
    half.iter().sum::<f64>() / half.len() as f64
}
