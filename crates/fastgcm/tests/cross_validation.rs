//! Every ordered pair of back ends, random messages: what one seals the other opens, and what was changed on the way it refuses.
//!
//! Other messages every time. The seed is printed; `FASTGCM_SEED=` repeats a run, `FASTGCM_CASES=` says how many messages each back end
//! seals.

#[path = "support/backends.rs"]
mod backends;
#[path = "support/suite.rs"]
mod suite;

use fastgcm::{Error, Key, Nonce};
use std::{
    env,
    hash::{BuildHasher, RandomState},
};
use suite::{Random, full, quick};

/// Messages under one key.
const OF_A_KEY: usize = 100;

#[test]
fn every_pair_of_back_ends() {
    let seed = number("FASTGCM_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    let usual = match (quick(), full()) {
        (true, _) => 700,
        (_, true) => 150_000,
        _ => 40_000,
    };
    let each = number("FASTGCM_CASES").map_or(usual, |cases| cases as usize);
    println!("cross_validation: FASTGCM_SEED={seed} FASTGCM_CASES={each}");
    let backends = backends::backends();
    let cases = each * backends.len();

    let mut random = Random(seed);
    let (mut text, mut sealed, mut opened) = (Vec::new(), Vec::new(), Vec::new());
    let (mut done, mut forged, mut of_pair) = (0, 0, vec![0; backends.len().pow(2)]);
    let mut by_row = backends::Tally::default();
    while done < cases {
        let bytes = random_key(&mut random);
        let keys: Vec<Key> = backends.iter().map(|&backend| backends::key(&bytes, backend)).collect();
        for _ in 0..OF_A_KEY.min(cases - done) {
            let pair = done % of_pair.len();
            let (from, to) = (&keys[pair % backends.len()], &keys[pair / backends.len()]);
            let nonce = random_nonce(&mut random);
            let aad = random_aad(&mut random);
            text.resize(random_length(&mut random), 0);
            random.fill(&mut text);
            let what = || format!("{from:?} to {to:?}, nonce {}, AAD {}, text {}, seed {seed}", nonce.len(), aad.len(), text.len());

            sealed.resize(text.len() + 16, 0);
            opened.resize(text.len(), 0);
            let n = Nonce::any(&nonce).unwrap();
            from.seal_to(n, &aad, &text, &mut sealed).unwrap();
            to.open_to(n, &aad, &sealed, &mut opened).unwrap_or_else(|error| panic!("{error}: {}", what()));
            assert!(opened == text, "{}", what());
            // One bit of every eighth message.
            if done % 8 == 0 {
                let bit = random.below(8 * sealed.len());
                sealed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(to.open_to(n, &aad, &sealed, &mut opened), Err(Error::Unauthentic), "bit {bit}: {}", what());
                assert!(opened.iter().all(|&byte| byte == 0), "{}", what());
                forged += 1;
            }
            of_pair[pair] += 1;
            by_row.add(from, 1);
            done += 1;
        }
    }
    assert_eq!(forged, cases.div_ceil(8));
    assert!(of_pair.iter().all(|&n| n >= cases / backends.len().pow(2)), "every pair had its share: {of_pair:?}");
    by_row.passed("cross_validation", each);
}

/// Of 16, 24 or 32 bytes.
fn random_key(random: &mut Random) -> Vec<u8> {
    let length = [16, 24, 32][random.below(3)];
    random.bytes(length)
}

/// Of twelve bytes; one in eight of any length up to 80.
fn random_nonce(random: &mut Random) -> Vec<u8> {
    let length = if random.below(8) == 0 { 1 + random.below(80) } else { 12 };
    random.bytes(length)
}

/// Mostly what protocols have, up to 40 bytes; one in sixteen up to 1500.
fn random_aad(random: &mut Random) -> Vec<u8> {
    let length = if random.below(16) == 0 { random.below(1501) } else { random.below(41) };
    random.bytes(length)
}

/// Mostly short, where every length takes a way of its own; one in 500 has up to 70,000 bytes.
fn random_length(random: &mut Random) -> usize {
    match random.below(1000) {
        0..700 => random.below(301),
        700..950 => random.below(1501),
        950..998 => random.below(5001),
        _ => random.below(70_001),
    }
}

fn number(variable: &str) -> Option<u64> {
    Some(env::var(variable).ok()?.parse().unwrap_or_else(|_| panic!("{variable} is not a number")))
}
