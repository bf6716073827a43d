//! Every variant gives what the standard gives, is proved to where that can be, and does what its name says.

mod aggregate;
mod counts;
mod message;
mod multiply;

use fastgcm::Backend;

/// Fails unless so many cases were checked.
fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
    println!("{name} ok {count}");
}

/// The rows that this machine can run, or those that `FASTGCM_ONLY` names.
fn rows() -> Vec<Backend> {
    let only = std::env::var("FASTGCM_ONLY").ok();
    let wanted = |backend: &Backend| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == backend.name()));
    Backend::available().filter(wanted).collect()
}

/// Bytes that look random.
fn bytes(n: usize, seed: u64) -> Vec<u8> {
    let mut x = seed | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..n).map(|_| next()).collect()
}
