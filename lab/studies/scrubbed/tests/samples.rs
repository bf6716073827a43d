//! The program gives samples of the library with `scrub`.

use fastgcm::{Backend, Key};
use fastgcm_measure::{
    aead::{AnyImplementation, Buffers, NonceFrom, Verb, Work},
    process::Process,
};
use std::{process::Command, time::Duration};

/// Its answers are the library's, and a sample takes time.
#[test]
fn samples_are_given() {
    let (mut samples, backend) = (0, Backend::detect());
    let peer = Process::start("peer", Command::new(env!("CARGO_BIN_EXE_fastgcm-scrubbed")).arg(backend.name())).unwrap();
    assert_eq!(peer.version(), concat!("fastgcm ", env!("CARGO_PKG_VERSION"), " with scrub"));
    for (bytes, key_bits) in [(0, 128), (16, 192), (1000, 256)] {
        let (key, mut text) = (&[7; 32][..key_bits / 8], vec![1; bytes]);
        let answer = peer.answer(key, &[2; 12], b"aad", &text).unwrap().unwrap();
        let tag = Key::new(key).unwrap().seal([2; 12], b"aad", &mut text).unwrap();
        assert!(answer == [&text[..], &tag.0].concat());
        for verb in [Verb::Key, Verb::KeyAndSeal, Verb::Seal, Verb::Open] {
            let work = Work { verb, key_bits, bytes, aad: 13, nonce: NonceFrom::Dependent };
            let buffers = Buffers::new(0, 0);
            let mut contender = [peer.contender(work, &buffers).unwrap()];
            let sampler = fastgcm_measure::Sampler { rounds: 2..=2, budget: Duration::ZERO, ..Default::default() };
            let measured = sampler.run(work.case(), &mut contender, &mut |_| ());
            samples += measured.contenders[0].samples_ns.iter().filter(|ns| **ns > 0.0).count();
        }
    }
    assert_eq!(samples, 2 * 4 * 3);
    println!("scrubbed::samples_are_given ok {samples}");
}
