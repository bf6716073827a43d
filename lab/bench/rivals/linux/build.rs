//! Assembles what `make.sh` fetched, with headers that make it code of a program.

include!("../made.rs");

fn main() {
    println!("cargo::rerun-if-changed=stubs");
    let folder = made();
    let mut assembly = cc::Build::new();
    assembly.include("stubs");
    for name in ["aes-gcm-aesni-x86_64", "aes-gcm-avx10-x86_64", "aesni-intel_asm"] {
        assembly.file(format!("{folder}/{name}.S"));
    }
    assembly.compile("linux");
}
