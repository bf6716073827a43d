//! The layouts of `IMB_MGR` and of a key are in Intel's header only: a page of C tells them.

include!("../made.rs");

fn main() {
    println!("cargo::rerun-if-changed=src/layout.c");
    let folder = made();
    // Libraries are linked in the order in which they are told, and layout.c needs the other.
    cc::Build::new().file("src/layout.c").include(format!("{folder}/include")).compile("layout");
    println!("cargo::rustc-link-search=native={folder}");
    println!("cargo::rustc-link-lib=static=IPSec_MB");
}
