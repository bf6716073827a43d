//! Each protocol on each back end: the examples of its RFC, random packets against the construction as the RFC writes it down (over the
//! model of AES-GCM), forged packets, packets of every wrong length, and the end of its numbers.

mod esp;
mod quic;
mod srtp;
#[path = "../../../fastgcm/tests/support/suite.rs"]
mod suite;
mod tls;
#[cfg(target_os = "linux")]
mod walk;

use fastgcm_protocols::{Backend, Error};
use suite::Random;

/// All back ends of this machine; with `FASTGCM_ONLY` those that it names.
fn backends() -> Vec<Backend> {
    match std::env::var("FASTGCM_ONLY") {
        Ok(only) => only.split(',').map(|name| name.parse().unwrap()).collect(),
        Err(_) => Backend::available().collect(),
    }
}

/// `count` for each back end; fails unless it is `expected` for each.
fn passed(name: &str, counts: &[(Backend, usize)], expected: usize) {
    assert_eq!(counts.len(), backends().len());
    for (backend, count) in counts {
        assert_eq!(*count, expected, "{name}/{backend}");
    }
}

/// Does something with each back end, which says how many cases it had.
fn each(name: &str, expected: usize, mut run: impl FnMut(Backend) -> usize) {
    let counts: Vec<_> = backends().into_iter().map(|backend| (backend, run(backend))).collect();
    passed(name, &counts, expected);
}

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Opens `packet` with a bit of it altered, and looks at what is left: `text` is zero, the rest as it was.
fn forged(packet: &[u8], text: std::ops::Range<usize>, bit: usize, open: impl FnOnce(&mut [u8]) -> Result<(), Error>) {
    let mut altered = packet.to_vec();
    altered[bit / 8] ^= 1 << (bit % 8);
    let mut left = altered.clone();
    assert_eq!(open(&mut left), Err(Error::Unauthentic), "bit {bit}");
    altered[text].fill(0);
    assert_eq!(left, altered, "bit {bit}");
}

/// What is refused is untouched.
fn refused(packet: &[u8], error: Error, call: impl FnOnce(&mut [u8]) -> Result<(), Error>) {
    let mut left = packet.to_vec();
    assert_eq!(call(&mut left), Err(error));
    assert_eq!(left, packet);
}

/// Errors of the library keep their meaning; what a protocol cannot be told is a wrong length.
#[test]
fn errors_of_the_library() {
    for (theirs, ours) in [
        (fastgcm::Error::Unauthentic, Error::Unauthentic),
        (fastgcm::Error::Exhausted, Error::Exhausted),
        (fastgcm::Error::Unavailable, Error::Unavailable),
        (fastgcm::Error::InvalidLength, Error::InvalidLength),
    ] {
        assert_eq!(Error::from(theirs), ours);
    }
}
