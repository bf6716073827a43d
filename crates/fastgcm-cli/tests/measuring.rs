//! What measures is another program: it is found, and gets what was said; and this one gives it samples.

mod support;

use fastgcm::{Backend, Key};
use fastgcm_measure::{
    aead::{AnyImplementation, Buffers, NonceFrom, Verb, Work},
    process::Process,
};
use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, process::Command, time::Duration};
use support::Bench;

/// The program in a folder, called with that PATH.
fn run(bench: &Bench, path: &str, args: &[&OsStr]) -> (Option<i32>, Vec<u8>, String) {
    let output = Command::new(bench.path("bin/fastgcm")).args(args).env("PATH", bench.path(path)).output().unwrap();
    (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// Beside the program comes before the PATH; what is said arrives byte by byte, and the exit code comes back.
#[test]
fn words_are_handed_over() {
    let bench = Bench::new();
    for folder in ["bin", "path", "empty"] {
        fs::create_dir(bench.path(folder)).unwrap();
    }
    fs::copy(env!("CARGO_BIN_EXE_fastgcm"), bench.path("bin/fastgcm")).unwrap();
    let stub = |name: &str| {
        bench.write(name, format!("#!/bin/sh\nprintf '%s|' {name} \"$@\"; exit 7").as_bytes());
        bench.set_mode(name, 0o755);
    };
    let odd = OsStr::from_bytes(b"a \xff");
    for command in ["bench", "study"] {
        let args = [command, "--help", "-q", "--", "--force"].map(OsStr::new);
        let args = [&args[..], &[odd]].concat();
        for place in ["path", "bin"] {
            let name = format!("{place}/fastgcm-study");
            stub(&name);
            let (code, said, _) = run(&bench, "path", &args);
            let wanted = [name.as_bytes(), b"|", command.as_bytes(), b"|--help|-q|--|--force|a \xff|"].concat();
            assert_eq!((code, String::from_utf8_lossy(&said)), (Some(7), String::from_utf8_lossy(&wanted)));
        }
        fs::remove_file(bench.path("bin/fastgcm-study")).unwrap();
        let (code, said, message) = run(&bench, "empty", &args);
        assert!(code == Some(2) && said.is_empty() && message.lines().count() == 1, "{message}");
        let ways = ["neither beside this one nor on the PATH", "cargo install fastgcm-studies", "cargo build --release -p fastgcm-studies"];
        assert!(ways.iter().all(|way| message.contains(way)), "{message}");
    }
    println!("measuring::words_are_handed_over ok 6");
}

/// Its answers are the library's, and a sample takes time.
#[test]
fn samples_are_given() {
    let bench = Bench::new();
    let (mut samples, backend) = (0, Backend::detect());
    let peer = Process::start("peer", &mut bench.command(&["peer", backend.name()])).unwrap();
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
    println!("measuring::samples_are_given ok {samples}");
}
