//! The layouts of `IMB_MGR` and of a key are in Intel's header only: a page of C tells them.

use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/layout.c");
    println!("cargo::rerun-if-env-changed=IPSEC_MB_BARE");
    let mut layout = cc::Build::new();
    layout.file("src/layout.c");
    // Libraries are linked in the order in which they are told, and layout.c needs the other.
    match env::var("IPSEC_MB_BARE") {
        Err(_) => {
            layout.compile("layout");
            println!("cargo::rustc-link-lib=dylib=IPSec_MB");
        }
        // Where `bare.sh` built.
        Ok(folder) => {
            let version = fs::read_to_string(format!("{folder}/version")).expect("a folder that bare.sh has filled");
            println!("cargo::rustc-env=IPSEC_MB_BARE_VERSION={}", version.trim());
            layout.include(format!("{folder}/source/lib")).compile("layout");
            println!("cargo::rustc-link-search=native={folder}/source/lib");
            println!("cargo::rustc-link-lib=static=IPSec_MB");
        }
    }
}
