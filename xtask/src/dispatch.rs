//! Detection that never lies: `cargo xtask dispatch` runs `tests/machine.rs` on many x86 processors, as qemu emulates them, and on one
//! that lacks each single feature in turn. A hypervisor may take away any bit. Each run must give right answers on exactly the rows
//! that the processor's features allow.
//!
//! qemu's own emulation has neither VPCLMULQDQ nor AVX-512, so the rows that need them must be refused everywhere here;
//! `cargo xtask emulate` runs those.

use crate::{
    cross::{Machine, machine_test},
    debian::install,
};
use std::{path::Path, process::Command};

/// Makers and years; none of them is asked for by name in the library.
const MODELS: [&str; 14] = [
    "qemu64",
    "Conroe",
    "Penryn",
    "Nehalem",
    "Westmere",
    "SandyBridge",
    "IvyBridge",
    "Haswell",
    "Skylake-Client",
    "Denverton",
    "Opteron_G3",
    "Opteron_G5",
    "EPYC",
    "EPYC-Milan",
];

/// Features that are taken away from the best, one at a time, by qemu's name, with the rows' names of what goes with each: AVX and
/// wider registers are of no use where the operating system cannot save them.
const MASKS: [(&str, &[&str]); 12] = [
    ("aes", &["aes"]),
    ("pclmulqdq", &["pclmulqdq"]),
    ("ssse3", &["ssse3"]),
    ("sse4.1", &["sse4.1"]),
    ("avx", &["avx"]),
    ("avx2", &["avx2"]),
    ("bmi2", &["bmi2"]),
    ("vaes", &["vaes"]),
    ("xsave", &["avx", "avx2", "vaes", "vpclmulqdq", "avx512f"]),
    ("sse4.2", &[]),
    ("movbe", &[]),
    ("sha-ni", &[]),
];

pub(crate) fn run(root: &Path) -> Result<(), String> {
    install("qemu-x86_64", &["qemu-user"])?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root);
    let test = machine_test(&mut cargo, "x86_64-unknown-linux-gnu")?;
    let on = |processor: &str| Machine::run(Command::new("timeout").args(["300", "qemu-x86_64", "-cpu", processor]).arg(&test), processor);

    let best = on("max")?;
    if !best.has("aesni-avx") {
        return Err("qemu's best processor has no row with AES-NI and AVX: there is nothing to take away".into());
    }
    for (feature, gone) in MASKS {
        let processor = format!("max,-{feature}");
        let machine = on(&processor)?;
        for row in &machine.rows {
            let before = best.has(&row.name);
            let expected = before && !row.needs.iter().any(|need| gone.contains(&need.as_str()));
            if row.here != expected {
                return Err(format!("{processor}: {} is {}there", row.name, if row.here { "" } else { "not " }));
            }
        }
    }
    let (mut with_aes, mut permuting) = (0, 0);
    for model in MODELS {
        let machine = on(model)?;
        with_aes += usize::from(machine.has("aesni-sse"));
        permuting += usize::from(machine.has("vpaes-ssse3"));
    }
    // Of these, Westmere and later from Intel, Denverton, and AMD's from Opteron_G5 on.
    if with_aes != 9 {
        return Err(format!("{with_aes} models with AES-NI, not 9"));
    }
    // All but qemu64 and Opteron_G3.
    if permuting != 12 {
        return Err(format!("{permuting} models with SSSE3, not 12"));
    }
    println!("dispatch ok {}", 1 + MASKS.len() + MODELS.len());
    Ok(())
}
