//! The public interface: every verb, and what it leaves in every buffer, after success, after a forgery, after a wrong length.
#![cfg(feature = "alloc")]

#[path = "../support/allocator.rs"]
mod allocator;
mod counter;
mod forgery;
mod keys;
mod lengths;
#[path = "../support/referee.rs"]
mod referee;
#[path = "../support/suite.rs"]
mod suite;
#[path = "../support/backends.rs"]
mod support;
#[path = "../support/verbs.rs"]
mod verbs;
#[path = "../support/wrap.rs"]
mod wrap;

use fastgcm::Key;

fn each_backend(key: &[u8]) -> impl Iterator<Item = Key> {
    support::backends().into_iter().map(move |backend| support::key(key, backend))
}

/// Says how many cases were checked, and fails unless it was all of them.
fn passed(name: &str, count: usize, expected: usize) {
    assert_eq!(count, expected, "{name}");
    println!("{name} ok {count}");
}

/// Deterministic bytes that differ everywhere.
fn bytes(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64).map(|i| ((i + 1000 * seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}
