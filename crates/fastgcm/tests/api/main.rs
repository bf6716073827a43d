//! The public interface: every verb, and what it leaves in every buffer, after success, after a forgery, after a wrong length.
#![cfg(feature = "alloc")]

#[path = "../support/allocator.rs"]
mod allocator;
mod counter;
mod forgery;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[path = "../support/giant.rs"]
mod giant;
mod keys;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod kinds;
mod lengths;
#[path = "../support/referee.rs"]
mod referee;
#[path = "../support/secrets.rs"]
mod secrets;
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
