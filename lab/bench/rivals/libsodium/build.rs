//! Links what `make.sh` fetched.

include!("../made.rs");

fn main() {
    println!("cargo::rustc-link-search=native={}", made());
    println!("cargo::rustc-link-lib=static=sodium");
}
