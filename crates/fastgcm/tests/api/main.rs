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
use suite::{bytes, passed};

fn each_backend(key: &[u8]) -> impl Iterator<Item = Key> {
    support::backends().into_iter().map(move |backend| support::key(key, backend))
}
