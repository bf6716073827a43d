//! Links what `make.sh` built.

include!("../made.rs");

fn main() {
    let folder = made();
    println!("cargo::rustc-link-search=native={folder}/lib");
    println!("cargo::rustc-link-lib=static=gcrypt");
    println!("cargo::rustc-link-lib=static=gpg-error");
}
