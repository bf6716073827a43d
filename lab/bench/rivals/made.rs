/// The folder that `make.sh` has filled. Tells Cargo when that is another one, and the crate its version.
fn made() -> String {
    println!("cargo::rerun-if-env-changed=RIVAL_MADE");
    let folder = std::env::var("RIVAL_MADE").expect("lab/bench's program sets RIVAL_MADE to the folder that make.sh has filled");
    let version = std::fs::read_to_string(format!("{folder}/version")).expect("a folder that make.sh has filled");
    println!("cargo::rustc-env=RIVAL_VERSION={}", version.trim());
    folder
}
