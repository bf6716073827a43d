//! The layouts of `IMB_MGR` and of a key are in Intel's header only: a page of C tells them.

use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=src/layout.c");
    println!("cargo::rerun-if-env-changed=RIVAL_MADE");
    let folder = env::var("RIVAL_MADE").expect("lab/bench's program sets RIVAL_MADE to the folder that make.sh has filled");
    let version = fs::read_to_string(format!("{folder}/version")).expect("a folder that make.sh has filled");
    println!("cargo::rustc-env=RIVAL_VERSION={}", version.trim());
    // Libraries are linked in the order in which they are told, and layout.c needs the other.
    cc::Build::new().file("src/layout.c").include(format!("{folder}/include")).compile("layout");
    println!("cargo::rustc-link-search=native={folder}");
    println!("cargo::rustc-link-lib=static=IPSec_MB");
}
