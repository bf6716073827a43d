//! The shared library's name for the loader has the version of its interface.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-link-arg=-Wl,-soname,libfastgcm.so.0");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
