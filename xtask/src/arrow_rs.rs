//! arrow-rs (crate `parquet`) with the patches of `lab/arrow-rs`, and pyarrow at the other end. Cargo fetches its source, which is copied under
//! `target/arrow-rs` and patched there.

use crate::{
    package::step,
    rustcrypto::{fetch, read, renew, write},
};
use std::{path::Path, process::Command};

/// That the patches are for.
const VERSION: &str = "60.1.0";

/// `files` are those of `make_files.py`, and `python` has pyarrow.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let [python, files] = arguments else { return Err("arrow-rs PYTHON FILES".into()) };
    let (scratch, patches) = (root.join("target/arrow-rs"), root.join("lab/arrow-rs"));
    let (parquet, program) = (scratch.join("parquet"), scratch.join("program"));
    renew(&fetch(&scratch, "parquet", VERSION)?, &parquet, &["."])?;
    for name in ["gcm.patch", "ctr.patch"] {
        step(Command::new("patch").args(["-p1", "--silent", "--input"]).arg(patches.join(name)).current_dir(&parquet))?;
    }
    let manifest = read(&parquet.join("Cargo.toml"))?;
    let ours = root.join("crates/fastgcm-parquet");
    write(&parquet.join("Cargo.toml"), &format!("{manifest}\n[dependencies.fastgcm-parquet]\npath = {ours:?}\n"))?;
    let manifest = format!(
        "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\narrow-array = \"{VERSION}\"\n\
        parquet = {{ path = {parquet:?}, default-features = false, features = [\"arrow\", \"encryption\"] }}\n\n[profile.dev]\ndebug = false\n"
    );
    write(&program.join("Cargo.toml"), &manifest)?;
    write(&program.join("src/main.rs"), &read(&patches.join("program.rs"))?)?;
    let written = program.join("written");
    renew(&patches, &written, &["read.py"])?; // an empty folder but for that
    let mut build = Command::new("cargo");
    build.args(["run", "--quiet", "--target-dir"]).arg(scratch.join("target")).arg("--").arg(files).arg(&written);
    step(build.env("RUSTFLAGS", "--cap-lints=allow").current_dir(&program))?; // the code over ring that nothing calls any more
    step(Command::new(python).arg(written.join("read.py")).arg(&written))
}
