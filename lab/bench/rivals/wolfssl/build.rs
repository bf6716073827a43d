//! Compiles the four files of wolfSSL that are its AES-GCM, out of what `make.sh` fetched.

include!("../made.rs");

fn main() {
    println!("cargo::rerun-if-changed=src");
    let folder = made();
    let mut sources = cc::Build::new();
    sources.include("src").include(&folder).define("WOLFSSL_USER_SETTINGS", None).opt_level(3).warnings(false);
    for flag in ["-maes", "-mpclmul", "-mssse3", "-msse4.1"] {
        sources.flag(flag);
    }
    sources.file("src/layout.c");
    for name in ["aes.c", "cpuid.c", "memory.c", "aes_asm.S", "aes_gcm_asm.S"] {
        sources.file(format!("{folder}/wolfcrypt/src/{name}"));
    }
    sources.compile("wolfssl");
}
