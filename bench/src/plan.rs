//! The list of what is measured.

use crate::work::{Nonces, Verb, Work};
use fastgcm_measure::Sampler;
use std::time::Duration;

const MIB: usize = 1 << 20;
const SIZES: [usize; 21] =
    [0, 16, 63, 64, 128, 200, 256, 300, 500, 512, 1024, 1420, 1500, 2048, 4095, 4096, 8192, 16384, 65536, MIB, 16 * MIB];
/// What a quick run has of them.
const FEW: [usize; 9] = [0, 16, 64, 256, 1024, 1500, 4096, 16384, MIB];
/// A quick run's for questions beside the main one.
const FEWER: [usize; 3] = [16, 256, 1500];

/// Quick: 60 rounds of 15 us, half a second for one case.
pub(crate) fn sampler(quick: bool) -> Sampler {
    if quick {
        Sampler { sample: Duration::from_micros(15), rounds: 10..=60, budget: Duration::from_millis(500) }
    } else {
        Sampler { sample: Duration::from_micros(20), rounds: 20..=300, budget: Duration::from_secs(2) }
    }
}

/// All cases, for these levels, of which the first is the machine's own.
pub(crate) fn plan(quick: bool, levels: &[String]) -> Vec<Work> {
    use {Nonces::*, Verb::*};
    let mut plan = Vec::new();
    for (number, level) in levels.iter().enumerate() {
        let own = number == 0;
        let sizes: &[usize] = match (quick, own) {
            (false, _) => &SIZES,
            (true, true) => &FEW,
            (true, false) => &FEWER,
        };
        let side: &[usize] = if quick { &FEWER } else { &SIZES };
        let every =
            |bits, verb| Work { level: level.clone(), verb, bits, bytes: 0, aad: 12, nonces: Prepared, in_place: false, odd: false };
        let mut add = |of: Work, sizes: &[usize]| plan.extend(sizes.iter().map(|&bytes| Work { bytes, ..of.clone() }));
        for bits in [128, 256] {
            for verb in [Seal, Open] {
                add(every(bits, verb), sizes);
            }
        }
        if quick && !own {
            continue;
        }
        let bits: &[usize] = if quick { &[128] } else { &[128, 256] };
        for &bits in bits {
            for verb in [Seal, Open] {
                for nonces in [Written, Dependent] {
                    add(Work { nonces, ..every(bits, verb) }, side);
                }
                add(Work { aad: 16, ..every(bits, verb) }, side);
                add(Work { odd: true, ..every(bits, verb) }, side);
            }
            for verb in [Seal, SealAndOpen] {
                add(Work { in_place: true, ..every(bits, verb) }, side);
            }
            add(Work { in_place: true, odd: true, ..every(bits, Seal) }, side);
        }
        for bits in [128, 256] {
            add(every(bits, Rekey), &[0]);
            add(every(bits, Key), &[0]);
        }
        for bits in [128, 256] {
            add(every(bits, RekeyAndSeal), if quick { &FEWER } else { &SIZES[..18] });
        }
    }
    plan
}
