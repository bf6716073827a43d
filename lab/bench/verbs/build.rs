//! ipsec-mb's structures are in Intel's header only: a page of C calls it.

fn main() {
    println!("cargo::rerun-if-changed=src/ipsec.c");
    cc::Build::new().file("src/ipsec.c").compile("ipsec");
    println!("cargo::rustc-link-lib=dylib=IPSec_MB");
}
