//! The probe that `cargo xtask asm` disassembles and steps through: uses the library as any other program does.
//!
//! ```text
//! probe                                       a line for each back end: its name, `here` or `elsewhere`, the features that it needs
//! probe BACKEND VERB,KEY BYTES,TEXT BYTES...  runs each argument between two markers; a marker before these has the key's address
//! ```
//! The verbs are `seal`, `open` and `rare`; AAD has 13 bytes as in TLS 1.2 (and more than most).

use fastgcm::{AesGcmSiv, Backend, Error, Key, Nonce, Packet, Tag, hazmat};
use std::{hint::black_box, process::ExitCode};

/// The bytes of the longest text.
const LONGEST: usize = 1 << 17;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        None => {
            list();
            Some(())
        }
        Some((backend, cases)) => backend.parse().ok().and_then(|backend| cases.iter().try_for_each(|case| run(backend, case))),
    };
    if done.is_some() {
        return ExitCode::SUCCESS;
    }
    eprintln!("probe: cannot do {arguments:?}");
    ExitCode::FAILURE
}

/// Lists the rows that are compiled for x86-64. Arm's and RISC-V's are in the table on every machine, but not in this program.
fn list() {
    for backend in Backend::ALL
        .iter()
        .filter(|backend| !["aes-neon", "vpaes-neon", "vpaes-simd128", "aes-zvkned"].iter().any(|of| backend.name().starts_with(of)))
    {
        let features: Vec<&str> = backend.features().map(|(name, _)| name).collect();
        let here = if backend.is_available() { "here" } else { "elsewhere" };
        println!("{backend} {here} {}", features.join(","));
    }
}

/// Runs one message between two markers.
fn run(backend: Backend, case: &str) -> Option<()> {
    let mut words = case.split(',');
    let (verb, key, length) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let key = Key::with_backend([7; 32].get(..key)?, backend).ok()?;
    let (nonce, aad) = ([1; 12], [2; 13]);
    let mut text = vec![3; LONGEST];
    let text = text.get_mut(..length)?;
    tell(&key);
    match verb {
        "seal" => {
            marker();
            let tag = key.seal(nonce, &aad, text);
            marker();
            black_box(tag).ok()?;
        }
        "open" => {
            let tag = key.seal(nonce, &aad, text).ok()?;
            marker();
            let verdict = key.open(nonce, &aad, text, &tag);
            marker();
            black_box(verdict).ok()?;
        }
        "rare" => rare(backend, text).ok()?,
        _ => return None,
    }
    black_box(text);
    Some(())
}

/// Calls all other functions of a row, because the linker removes uncalled ones, which would not be inspected then.
fn rare(backend: Backend, text: &mut [u8]) -> Result<(), Error> {
    let key = Key::boxed_with_backend(&[7; 32], backend)?;
    key.seal(Nonce::any(&[1; 8])?, b"", text)?;
    hazmat::ctr(&key, &[2; 16], text);
    backend.seal_once(&[7; 16], [1; 12], b"", text)?;
    AesGcmSiv::with_backend(&[7; 16], backend)?.seal(&[1; 12], b"", text)?;
    let mut packets: Vec<_> = text.chunks_mut(16).map(|text| Packet::in_place([1; 12], b"", text, Tag([0; 16]))).collect();
    key.seal_batch(&mut packets)?;
    key.open_batch(&mut packets)
}

/// Stops a program that is traced, and kills one that is not.
#[inline(never)]
fn marker() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a trap, and nothing else.
    unsafe {
        core::arch::asm!("int3");
    }
}

/// Stops a traced program, with the address of the key and its size in registers.
#[inline(never)]
fn tell(key: &Key) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a trap, and nothing else.
    unsafe {
        core::arch::asm!("int3", in("rdi") key, in("rsi") size_of_val(key));
    }
}
