//! What this processor was given, in words that `cargo xtask cross` and `cargo xtask dispatch` read; and 1,000 random messages by
//! each of its back ends against the model. Short, because it is run on many emulated processors.

#[path = "support/suite.rs"]
mod suite;
#[path = "support/backends.rs"]
mod support;

use fastgcm::{Backend, Key, Nonce, Tag};
use fastgcm_model::Model;
use suite::Random;
use support::{Tally, backends};

/// `machine NAME yes|no FEATURE,FEATURE` for each row of the table. A row is there if all of its features are, and is else refused.
#[test]
fn rows() {
    for &backend in Backend::ALL {
        let (names, here): (Vec<_>, Vec<_>) = backend.features().unzip();
        assert_eq!(backend.is_available(), !here.contains(&false) && compiled(&backend), "{backend}");
        let key = Key::with_backend(&[1; 16], backend);
        assert_eq!(key.as_ref().map(Key::backend).ok(), backend.is_available().then_some(backend), "{backend}");
        println!("\nmachine {backend} {} {}", if backend.is_available() { "yes" } else { "no" }, names.join(","));
    }
    assert_eq!(Some(Backend::detect()), Backend::available().next());
    assert_eq!(Some(Backend::Portable), Backend::available().last());
}

/// What is said of each feature is what the kernel says of the processor, for the rows of other families too. (An emulator for programs shows them the
/// kernel's words about the host.)
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn features_are_those_of_the_kernel() {
    if suite::emulated() {
        return;
    }
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags: Vec<&str> = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap().split_whitespace().collect();
    let (mut compared, mut missing) = (0, 0);
    for backend in Backend::ALL {
        for (name, here) in backend.features() {
            assert_eq!(here, flags.contains(&&*name.replace('.', "_")), "{backend}: {name}");
            missing += usize::from(!here);
            compared += 1;
        }
    }
    assert!(missing > 0, "no processor has the features of all rows");
    assert!(compared > 0);
}

/// Rows of another family of processors may need features that have the same name here.
fn compiled(backend: &Backend) -> bool {
    match backend.name() {
        "portable" => true,
        "vpaes-simd128" => cfg!(target_arch = "wasm32"),
        name if name.contains("-neon") => cfg!(target_arch = "aarch64"),
        name if name.starts_with("aes-zvkned") => cfg!(target_arch = "riscv64"),
        _ => cfg!(target_arch = "x86_64"),
    }
}

#[test]
fn random_messages() {
    const MESSAGES: usize = 1000;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut passed = Tally::default();
    for _ in 0..MESSAGES {
        let key = {
            let n = [16, 24, 32][random.below(3)];
            random.bytes(n)
        };
        let nonce_length = if random.below(4) == 0 { 1 + random.below(40) } else { 12 };
        let (nonce, aad) = (random.bytes(nonce_length), {
            let n = random.below(80);
            random.bytes(n)
        });
        let text = {
            let n = random.below(700);
            random.bytes(n)
        };
        let (ciphertext, tag) = Model::new(&key).seal(&nonce, &aad, &text);
        for backend in backends() {
            let what = format!("{backend}, key of {}, nonce of {}, {} bytes", key.len(), nonce.len(), text.len());
            let (key, nonce) = (support::key(&key, backend), Nonce::any(&nonce).unwrap());
            let mut buffer = text.clone();
            assert_eq!(key.seal(nonce, &aad, &mut buffer).unwrap().0, tag, "{what}");
            assert!(buffer == ciphertext, "{what}");
            key.open(nonce, &aad, &mut buffer, &Tag(tag)).unwrap_or_else(|error| panic!("{error}: {what}"));
            assert!(buffer == text, "{what}");
            passed.add(&key, 1);
        }
    }
    passed.passed("machine::random_messages", MESSAGES);
}
