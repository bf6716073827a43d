//! Measures programs with many keys, and rare calls. A warm message with one key hits the first-level cache; a server's message finds its key
//! in the second-level cache or beyond, and a program that rarely calls a cipher does not even find the code in the near caches.

use crate::{
    peer::{Key, Loaded},
    place::{self, LINES},
    work::{self, Buffers, Nonces, Place, Verb, Work},
};
use aead_plugin::Message;
use clap::Args;
use fastgcm_measure::{Case, Contender, Measurement, Sampler, median};
use std::time::{Duration, Instant};

/// Numbers of keys, of which each message takes one at random.
const KEYS: [usize; 4] = [1, 64, 1024, 16_384];
/// Bytes of a message under many keys.
const MANY: [usize; 2] = [64, 1420];
/// Bytes of a cold message.
const RARE: [usize; 4] = [64, 256, 1420, 4096];

/// The options of `keys` and `cold`.
#[derive(Args)]
pub(crate) struct Options {
    /// Key size of the messages, in bits
    #[arg(long, default_value_t = 128)]
    bits: usize,
    /// Samples at each of 64 places of key, stack and output
    #[arg(long, default_value_t = 8)]
    samples: usize,
    /// For `cold`: number of times that all are loaded, since the pages of code and keys change times by up to a quarter
    #[arg(long, default_value_t = 7)]
    launches: usize,
}

/// Returns the usual work with this operation.
fn work(verb: Verb, bits: usize, bytes: usize, cold: bool) -> Work {
    Work { verb, bits, bytes, aad: 12, nonces: Nonces::Prepared, place: Place::Aligned, cold }
}

fn print_table(head: &str, columns: &[String], names: &[String], values: impl Fn(usize, usize) -> String) {
    println!("\n| {head} | {} |\n|---|{}", columns.join(" | "), "---:|".repeat(columns.len()));
    for (row, name) in names.iter().enumerate() {
        println!("| {name} | {} |", Vec::from_iter((0..columns.len()).map(|column| values(row, column))).join(" | "));
    }
}

/// Prints the bytes of a key, the time to make one, and the time of a message under many keys.
pub(crate) fn keys(options: &Options, peers: &[Loaded]) {
    let at_first_level = |peer: &&Loaded| peer.level == peers[0].level && !peer.name.ends_with(" again");
    let at_level: Vec<&Loaded> = peers.iter().filter(at_first_level).collect();
    let (buffers, names) = (Buffers::new(MANY[1], 1), Vec::from_iter(at_level.iter().map(|peer| peer.name.clone())));
    let measure = |mut contenders: Vec<Contender<'_>>, micros| {
        let rounds = LINES * options.samples;
        let sampler = Sampler { sample: Duration::from_micros(micros), rounds: rounds..=rounds, budget: Duration::ZERO };
        let measured = sampler.run_over(LINES, Case::new("", ""), &mut contenders);
        Vec::from_iter(names.iter().map(|name| measured.by(name).map_or(f64::NAN, |found| median(found.by_place(LINES)))))
    };

    let (mut columns, mut times) = (Vec::new(), Vec::new());
    for bits in [128, 256] {
        for verb in [Verb::Rekey, Verb::Value, Verb::Key] {
            let made = work(verb, bits, 0, false);
            columns.push(format!("AES-{bits} {verb}"));
            times.push(measure(at_level.iter().filter_map(|peer| peer.contender(&made, &buffers)).collect(), 8));
        }
    }
    print_table("a key, ns", &columns, &names, |row, column| format!("{:.0}", times[column][row]));

    let bytes = |peer: &Loaded| Some(peer.table.key_size).filter(|size| *size > 0).map_or_else(String::new, |size| size.to_string());
    let (mut columns, mut times) = (vec!["bytes of a key".to_owned()], Vec::new());
    for len in MANY {
        for count in KEYS {
            columns.push(format!("{len} B, {count} keys"));
            let many = |peer: &&Loaded| many_keys(peer, options.bits, len, count, &buffers);
            times.push(measure(at_level.iter().filter_map(many).collect(), 40));
        }
    }
    let cell = |row: usize, column: usize| if column == 0 { bytes(at_level[row]) } else { format!("{:.1}", times[column - 1][row]) };
    print_table(&format!("AES-{} seal, AAD 12, ns", options.bits), &columns, &names, cell);
}

/// Returns a contender that seals messages, each under a random one of `count` keys. A single key moves from line to line.
fn many_keys<'a>(peer: &Loaded, bits: usize, len: usize, count: usize, buffers: &'a Buffers) -> Option<Contender<'a>> {
    let (table, bytes) = (peer.table, [0x5a; 32]);
    let mut keys = if count == 1 {
        crate::peer::keys_at_each_line(table, &bytes[..bits / 8])?
    } else {
        (0..count).map(|_| Key::new(table, &bytes[..bits / 8])).collect::<Option<Vec<_>>>()?
    };
    let mut rng = fastrand::Rng::with_seed(count as u64);
    Some(Contender::placed(&*peer.name, move |at, iterations| {
        work::clear_upper_halves();
        let (message, lines) = buffers.message(len, 12, at);
        let (first, count) = if count == 1 { (lines.key, 1) } else { (0, count) };
        place::with_stack_at(lines.stack * 64, || {
            let start = Instant::now();
            for number in 0..iterations {
                let key = &mut keys[first + rng.usize(..count)];
                // SAFETY: buffers with room for the text and a tag, which contenders use one at a time.
                unsafe { key.seal(&Message { nonce: buffers.nonce(number), ..message }) };
            }
            start.elapsed()
        })
    }))
}

/// Prints the time of a cold message, and the geometric means as multiples of ours. `load` loads all rivals again, ours first.
pub(crate) fn cold(options: &Options, load: impl Fn() -> Result<Vec<Loaded>, String>) -> Result<(), String> {
    let mut names = Vec::new();
    let columns = Vec::from_iter([Verb::Seal, Verb::Open].into_iter().flat_map(|verb| RARE.map(|len| (verb, len))));
    // Indexed by launch, column and contender.
    let mut times: Vec<Vec<Vec<f64>>> = Vec::new();
    for launch in 0..options.launches.max(1) {
        let (peers, buffers) = (load()?, Buffers::new(RARE[3], launch as u64));
        names = peers.iter().map(|peer| peer.name.clone()).collect();
        let rounds = LINES * options.samples.div_ceil(8);
        let sampler = Sampler { sample: Duration::ZERO, rounds: rounds..=rounds, budget: Duration::ZERO };
        times.push(Vec::from_iter(columns.iter().map(|&(verb, len)| {
            let once = work(verb, options.bits, len, true);
            let mut contenders = Vec::from_iter(peers.iter().filter_map(|peer| peer.contender(&once, &buffers)));
            let measured = sampler.run_over(LINES, Case::new("", ""), &mut contenders);
            Vec::from_iter(names.iter().map(|name| measured.by(name).map_or(f64::NAN, interquartile_mean)))
        })));
    }
    let time = |row: usize, column: usize| median(times.iter().map(|launch| launch[column][row]).collect());
    let heads = Vec::from_iter(columns.iter().map(|(verb, len)| format!("{verb} {len} B")));
    print_table(&format!("AES-{}, AAD 12, cold, ns", options.bits), &heads, &names, |row, column| format!("{:.0}", time(row, column)));
    let means = ["sealed", "opened", "both"].map(str::to_owned);
    print_table("time / ours, geometric mean", &means, &names, |row, mean| {
        let wanted = match mean {
            0 => 0..RARE.len(),
            1 => RARE.len()..2 * RARE.len(),
            _ => 0..2 * RARE.len(),
        };
        let logs = wanted.clone().map(|column| median(times.iter().map(|launch| (launch[column][row] / launch[column][0]).ln()).collect()));
        format!("{:.3}", (logs.sum::<f64>() / wanted.len() as f64).exp())
    });
    Ok(())
}

/// Returns the interquartile mean of the samples: the clock has a resolution of some nanoseconds, and cold messages vary.
fn interquartile_mean(found: &Measurement) -> f64 {
    let mut sorted = found.samples_ns.clone();
    sorted.sort_by(f64::total_cmp);
    let half = &sorted[sorted.len() / 4..sorted.len().div_ceil(4) * 3];
    half.iter().sum::<f64>() / half.len() as f64
}
