//! Builds libcrypto from the sources in `openssl-src`, with the options that crate has for everybody. It stays inside the shared object:
//! rustc hides all symbols of a `cdylib` but those that Rust exports.

fn main() {
    openssl_src::Build::new().build().print_cargo_metadata();
    println!("cargo::rerun-if-changed=build.rs");
}
