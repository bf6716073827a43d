//! `fastgcm keygen`

use crate::{cli, failure::Failure, keyfile, output::Target};
use fastgcm_file::Key;

/// Makes a key.
pub(crate) fn run(args: &cli::Keygen) -> Result<(), Failure> {
    let target = Target::plan_new(args.output.as_deref().unwrap_or("-".as_ref()))?;
    let key = Key::generate(args.format).map_err(|error| Failure::file("key", error))?;
    keyfile::create(target, &key)
}
