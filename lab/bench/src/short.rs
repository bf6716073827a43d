//! Short messages: for each range of lengths, and each rival, one number that no single length decides.

use crate::{
    plan,
    work::{Buffers, Nonces, Peer, Place, Verb, Work},
};
use std::ops::RangeInclusive;

const RANGES: [RangeInclusive<usize>; 4] = [16..=64, 65..=128, 129..=256, 257..=1420];
/// Lengths of a range, spread evenly, its ends among them.
const LENGTHS: usize = 24;

/// Prints, of keys of 128 and 256 bits, sealed and opened, the geometric mean over the lengths of each range of how many times as fast as a
/// rival fastgcm is. Returns how many cases were measured.
pub(crate) fn run(peers: &[Box<dyn Peer>], level: &str) -> usize {
    fastgcm_measure::pin();
    let here = peers.iter().filter(|peer| peer.level() == level && !peer.name().ends_with(" again"));
    let here: Vec<&dyn Peer> = here.map(|peer| &**peer).collect();
    let (buffers, mut cases) = (Buffers::new(*RANGES[3].end()), 0);
    print!("\n| {level}, AAD 12 |");
    RANGES.iter().for_each(|range| print!(" {} to {} |", range.start(), range.end()));
    println!("\n|---|{}", "---:|".repeat(RANGES.len()));
    for bits in [128, 256] {
        for verb in [Verb::Seal, Verb::Open] {
            let means: Vec<Vec<f64>> = RANGES.iter().map(|range| of_range(&here, &buffers, level, verb, bits, range)).collect();
            cases += RANGES.len() * LENGTHS;
            for (number, peer) in here.iter().enumerate().skip(1) {
                print!("| AES-{bits} {verb}, {} |", peer.name());
                means.iter().for_each(|means| print!(" {:.3} |", means[number]));
                println!();
            }
        }
    }
    cases
}

/// One number for each peer.
fn of_range(peers: &[&dyn Peer], buffers: &Buffers, level: &str, verb: Verb, bits: usize, range: &RangeInclusive<usize>) -> Vec<f64> {
    let mut logs = vec![0.0; peers.len()];
    for number in 0..LENGTHS {
        let bytes = range.start() + (range.end() - range.start()) * number / (LENGTHS - 1);
        let level = level.to_owned();
        let work =
            Work { level, verb, bits, bytes, aad: 12, nonces: Nonces::Prepared, in_place: false, place: Place::Aligned, cold: false };
        let mut contenders: Vec<_> = peers.iter().filter_map(|peer| peer.contender(&peer.name(), &work, buffers)).collect();
        let measured = plan::sampler(true, false).run(work.case(), &mut contenders, &mut |_| ());
        for (log, peer) in logs.iter_mut().zip(peers) {
            let times = measured.by(&peer.name()).zip(measured.contenders.first());
            *log += times.map_or(f64::NAN, |(rival, ours)| ours.times_faster_than(rival).ln());
        }
    }
    logs.into_iter().map(|log| (log / LENGTHS as f64).exp()).collect()
}
