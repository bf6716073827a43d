//! The plan: seal and open at every size, for every level; then each other question by itself.

use crate::work::{Nonces, Place, Verb, Work};
use fastgcm_measure::Sampler;
use std::time::Duration;

const MIB: usize = 1 << 20;
const SIZES: [usize; 21] =
    [0, 16, 63, 64, 128, 200, 256, 300, 500, 512, 1024, 1420, 1500, 2048, 4095, 4096, 8192, 16384, 65536, MIB, 16 * MIB];
/// Sizes at which the cost of a nonce or a key is visible.
const UP_TO_16_KIB: &[usize] = SIZES.split_at(18).0;
/// Sizes for the other questions: with and without whole blocks, below, in and above the ranges that implementations treat differently.
const SOME: [usize; 10] = [0, 16, 64, 200, 256, 300, 512, 1420, 4096, 16384];
/// Lengths of AAD, besides 12: none, that of TLS 1.2, a block, and lengths of headers of RTP and IPv6 and of database rows.
const AADS: [usize; 7] = [0, 13, 16, 64, 128, 192, 256];
/// Sizes of cold messages.
const COLD: [usize; 6] = [16, 64, 256, 1024, 1420, 4096];
/// Sizes of a quick run.
const FEW: [usize; 9] = [0, 16, 64, 256, 1024, 1500, 4096, 16384, MIB];
/// Sizes of a quick run for the other questions.
const FEWER: [usize; 3] = [16, 256, 1500];

/// Returns the sampler. A sample takes 20 us, or one message if it is cold; slow cases have fewer rounds.
pub(crate) fn sampler(quick: bool, cold: bool) -> Sampler {
    if cold {
        Sampler { sample: Duration::ZERO, rounds: 50..=500, budget: Duration::from_secs(5) }
    } else if quick {
        Sampler { sample: Duration::from_micros(15), rounds: 5..=50, budget: Duration::from_millis(400) }
    } else {
        Sampler { sample: Duration::from_micros(20), rounds: 10..=120, budget: Duration::from_millis(1000) }
    }
}

/// Returns all cases of these levels, of which the first is the machine's own.
pub(crate) fn plan(quick: bool, levels: &[String]) -> Vec<Work> {
    levels.iter().enumerate().flat_map(|(number, level)| level_plan(quick, level, number == 0)).collect()
}

fn level_plan(quick: bool, level: &str, own: bool) -> Vec<Work> {
    use {Nonces::*, Verb::*};
    let mut plan = Vec::new();
    let without_aes = matches!(level, "vpaes-ssse3" | "portable");
    let case = |bits, verb| Work {
        level: level.into(),
        verb,
        bits,
        bytes: 0,
        aad: 12,
        nonces: Prepared,
        in_place: false,
        place: Place::Aligned,
        cold: false,
    };
    let mut add = |work: Work, sizes: &[usize]| plan.extend(sizes.iter().map(|&bytes| Work { bytes, ..work.clone() }));
    let sizes: &[usize] = match (quick, own) {
        // Without AES instructions 16 MiB take a fifth of a second, and the throughput is constant above 16 KiB.
        (false, _) if without_aes => UP_TO_16_KIB,
        (false, _) => &SIZES,
        (true, true) => &FEW,
        (true, false) => &FEWER,
    };
    for bits in [128, 256] {
        for verb in [Seal, Open] {
            add(case(bits, verb), sizes);
        }
    }
    for bits in [128, 192, 256] {
        add(case(bits, Rekey), &[0]);
        add(case(bits, Key), &[0]);
    }
    for bits in [128, 256] {
        add(case(bits, RekeyAndSeal), if quick { &FEWER } else { UP_TO_16_KIB });
    }
    // Without AES instructions a message takes so long that the other questions do not matter; a quick run asks them of one level only.
    if without_aes || quick && !own {
        return plan;
    }
    if own && !quick {
        for verb in [Seal, Open] {
            add(Work { cold: true, ..case(128, verb) }, &COLD);
        }
    }
    let (nonce_sizes, some): (&[usize], &[usize]) = if quick { (&FEWER, &FEWER) } else { (UP_TO_16_KIB, &SOME) };
    for verb in [Seal, Open] {
        add(case(192, verb), some);
    }
    let bits: &[usize] = if quick { &[128] } else { &[128, 256] };
    for &bits in bits {
        for verb in [Seal, Open] {
            for nonces in [Written, Dependent] {
                add(Work { nonces, ..case(bits, verb) }, nonce_sizes);
            }
            for aad in AADS {
                add(Work { aad, ..case(bits, verb) }, some);
            }
            for place in [Place::Odd, Place::PageEnd] {
                add(Work { place, ..case(bits, verb) }, some);
            }
        }
        for verb in [Seal, SealAndOpen] {
            add(Work { in_place: true, ..case(bits, verb) }, some);
        }
        add(Work { in_place: true, place: Place::Odd, ..case(bits, Seal) }, some);
    }
    plan
}
