//! ipsec-mb's structures are in Intel's header only: a page of C calls it.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=src/ipsec.c");
    println!("cargo::rerun-if-env-changed=RIVAL_MADE");
    let here = env::var("CARGO_MANIFEST_DIR").expect("cargo tells where this package is");
    // Where lab/bench's program with `--install`, or `rivals/make.sh`, has put it.
    let folder = env::var("RIVAL_MADE").unwrap_or_else(|_| format!("{here}/../../../target/made/ipsec-mb"));
    cc::Build::new().file("src/ipsec.c").include(format!("{folder}/include")).compile("ipsec");
    println!("cargo::rustc-link-search=native={folder}");
    println!("cargo::rustc-link-lib=static=IPSec_MB");
}
