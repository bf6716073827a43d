//! Assembles what `make.sh` fetched, with headers that make it code of a program.

use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-env-changed=RIVAL_MADE");
    println!("cargo::rerun-if-changed=stubs");
    let folder = env::var("RIVAL_MADE").expect("lab/bench's program sets RIVAL_MADE to the folder that make.sh has filled");
    let version = fs::read_to_string(format!("{folder}/version")).expect("a folder that make.sh has filled");
    println!("cargo::rustc-env=RIVAL_VERSION={}", version.trim());
    let mut assembly = cc::Build::new();
    assembly.include("stubs");
    for name in ["aes-gcm-aesni-x86_64", "aes-gcm-avx10-x86_64", "aesni-intel_asm"] {
        assembly.file(format!("{folder}/{name}.S"));
    }
    assembly.compile("linux");
}
