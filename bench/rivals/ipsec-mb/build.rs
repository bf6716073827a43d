//! The layouts of `IMB_MGR` and of a key are in Intel's header only: a page of C tells them.

fn main() {
    println!("cargo::rerun-if-changed=src/layout.c");
    println!("cargo::rustc-link-lib=dylib=IPSec_MB");
    cc::Build::new().file("src/layout.c").compile("layout");
}
