//! Links what `make.sh` has fetched, or builds, of the one rival that is asked for. It stays inside the shared object: rustc hides all symbols of a `cdylib`
//! but those that Rust exports.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let link = |libraries: &[&str]| libraries.iter().for_each(|name| println!("cargo::rustc-link-lib=static={name}"));
    let search = |folder: &str| println!("cargo::rustc-link-search=native={folder}");
    if cfg!(feature = "libgcrypt") {
        search(&format!("{}/lib", made()));
        link(&["gcrypt", "gpg-error"]);
    } else if cfg!(feature = "libsodium") {
        search(&made());
        link(&["sodium"]);
    }
    #[cfg(feature = "ipsec-mb")]
    {
        println!("cargo::rerun-if-changed=ipsec-mb.c");
        let folder = made();
        // The layouts of `IMB_MGR` and of a key are in Intel's header only: a page of C tells them. Libraries are linked in the order in which they are told,
        // and that page needs the other.
        cc::Build::new().file("ipsec-mb.c").include(format!("{folder}/include")).compile("layout");
        search(&folder);
        link(&["IPSec_MB"]);
    }
    #[cfg(feature = "linux")]
    {
        // With headers that make it code of a program.
        println!("cargo::rerun-if-changed=stubs");
        let folder = made();
        let mut assembly = cc::Build::new();
        assembly.include("stubs");
        for name in ["aes-gcm-aesni-x86_64", "aes-gcm-avx10-x86_64", "aesni-intel_asm"] {
            assembly.file(format!("{folder}/{name}.S"));
        }
        assembly.compile("linux");
    }
    #[cfg(feature = "wolfssl")]
    {
        // The four files of wolfSSL that are its AES-GCM.
        println!("cargo::rerun-if-changed=wolfssl.c");
        println!("cargo::rerun-if-changed=wolfssl");
        let folder = made();
        let mut sources = cc::Build::new();
        sources.include("wolfssl").include(&folder).define("WOLFSSL_USER_SETTINGS", None).opt_level(3).warnings(false);
        for flag in ["-maes", "-mpclmul", "-mssse3", "-msse4.1"] {
            sources.flag(flag);
        }
        sources.file("wolfssl.c");
        for name in ["aes.c", "cpuid.c", "memory.c", "aes_asm.S", "aes_gcm_asm.S"] {
            sources.file(format!("{folder}/wolfcrypt/src/{name}"));
        }
        sources.compile("wolfssl");
    }
    // With the options that the crate has for everybody.
    #[cfg(feature = "openssl-3-6")]
    openssl_src_3::Build::new().build().print_cargo_metadata();
    #[cfg(feature = "openssl-4-0")]
    openssl_src_4::Build::new().build().print_cargo_metadata();
}

/// The folder that `make.sh` has filled. Tells Cargo when that is another one, and the rival its version.
#[allow(dead_code)] // most rivals come from a registry
fn made() -> String {
    println!("cargo::rerun-if-env-changed=RIVAL_MADE");
    let folder = std::env::var("RIVAL_MADE").expect("lab/bench's program sets RIVAL_MADE to the folder that make.sh has filled");
    let version = std::fs::read_to_string(format!("{folder}/version")).expect("a folder that make.sh has filled");
    println!("cargo::rustc-env=RIVAL_VERSION={}", version.trim());
    folder
}
