//! Links what `make.sh` built.

use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-env-changed=RIVAL_MADE");
    let folder = env::var("RIVAL_MADE").expect("lab/bench's program sets RIVAL_MADE to the folder that make.sh has filled");
    let version = fs::read_to_string(format!("{folder}/version")).expect("a folder that make.sh has filled");
    println!("cargo::rustc-env=RIVAL_VERSION={}", version.trim());
    println!("cargo::rustc-link-search=native={folder}/lib");
    println!("cargo::rustc-link-lib=static=gcrypt");
    println!("cargo::rustc-link-lib=static=gpg-error");
}
