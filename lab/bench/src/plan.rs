//! The list of what is measured: seal and open at every size, for every level; then one question at a time beside that.

use crate::work::{Nonces, Place, Verb, Work};
use fastgcm_measure::Sampler;
use std::time::Duration;

const MIB: usize = 1 << 20;
const SIZES: [usize; 21] =
    [0, 16, 63, 64, 128, 200, 256, 300, 500, 512, 1024, 1420, 1500, 2048, 4095, 4096, 8192, 16384, 65536, MIB, 16 * MIB];
/// Above 16 KiB, a nonce or a key is nothing.
const UP_TO_16_KIB: &[usize] = SIZES.split_at(18).0;
/// For questions beside the main one: with and without whole blocks, below, in and above what implementations treat differently.
const SOME: [usize; 10] = [0, 16, 64, 200, 256, 300, 512, 1420, 4096, 16384];
/// Of AAD, beside 12: none, that of TLS 1.2, a block, and two as long as the headers of RTP and IPv6 and of database rows.
const AADS: [usize; 7] = [0, 13, 16, 64, 128, 192, 256];
/// Of single messages, with other data and other code in between.
const COLD: [usize; 6] = [16, 64, 256, 1024, 1420, 4096];
/// What a quick run has.
const FEW: [usize; 9] = [0, 16, 64, 256, 1024, 1500, 4096, 16384, MIB];
/// A quick run's for questions beside the main one.
const FEWER: [usize; 3] = [16, 256, 1500];

/// Rounds of 20 us for everybody; what takes longer has fewer rounds. A sample of what is cold is one message.
pub(crate) fn sampler(quick: bool, cold: bool) -> Sampler {
    if cold {
        Sampler { sample: Duration::ZERO, rounds: 50..=500, budget: Duration::from_secs(5) }
    } else if quick {
        Sampler { sample: Duration::from_micros(15), rounds: 5..=50, budget: Duration::from_millis(400) }
    } else {
        Sampler { sample: Duration::from_micros(20), rounds: 10..=120, budget: Duration::from_millis(1000) }
    }
}

/// All cases, for these levels, of which the first is the machine's own.
pub(crate) fn plan(quick: bool, levels: &[String]) -> Vec<Work> {
    levels.iter().enumerate().flat_map(|(number, level)| of_level(quick, level, number == 0)).collect()
}

fn of_level(quick: bool, level: &str, own: bool) -> Vec<Work> {
    use {Nonces::*, Verb::*};
    let mut plan = Vec::new();
    let without_aes = matches!(level, "vpaes-ssse3" | "portable");
    let every = |bits, verb| Work {
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
    let mut add = |of: Work, sizes: &[usize]| plan.extend(sizes.iter().map(|&bytes| Work { bytes, ..of.clone() }));
    let sizes: &[usize] = match (quick, own) {
        // Without AES instructions 16 MiB take a fifth of a second, and nothing changes above 16 KiB.
        (false, _) if without_aes => UP_TO_16_KIB,
        (false, _) => &SIZES,
        (true, true) => &FEW,
        (true, false) => &FEWER,
    };
    for bits in [128, 256] {
        for verb in [Seal, Open] {
            add(every(bits, verb), sizes);
        }
    }
    for bits in [128, 192, 256] {
        add(every(bits, Rekey), &[0]);
        add(every(bits, Key), &[0]);
    }
    for bits in [128, 256] {
        add(every(bits, RekeyAndSeal), if quick { &FEWER } else { UP_TO_16_KIB });
    }
    // Below AES instructions a message takes so long that the rest is nothing; and a quick run asks it of one level only.
    if without_aes || quick && !own {
        return plan;
    }
    if own && !quick {
        for verb in [Seal, Open] {
            add(Work { cold: true, ..every(128, verb) }, &COLD);
        }
    }
    let (nonce_sizes, some): (&[usize], &[usize]) = if quick { (&FEWER, &FEWER) } else { (UP_TO_16_KIB, &SOME) };
    for verb in [Seal, Open] {
        add(every(192, verb), some);
    }
    let bits: &[usize] = if quick { &[128] } else { &[128, 256] };
    for &bits in bits {
        for verb in [Seal, Open] {
            for nonces in [Written, Dependent] {
                add(Work { nonces, ..every(bits, verb) }, nonce_sizes);
            }
            for aad in AADS {
                add(Work { aad, ..every(bits, verb) }, some);
            }
            for place in [Place::Odd, Place::PageEnd] {
                add(Work { place, ..every(bits, verb) }, some);
            }
        }
        for verb in [Seal, SealAndOpen] {
            add(Work { in_place: true, ..every(bits, verb) }, some);
        }
        add(Work { in_place: true, place: Place::Odd, ..every(bits, Seal) }, some);
    }
    plan
}
