//! `fastgcm keygen`

use crate::{cli, failure::Failure, keyfile, output::Target, report};
use fastgcm_file::Key;

/// Makes a key, and tells its fingerprint.
pub(crate) fn run(args: &cli::Keygen) -> Result<(), Failure> {
    let path = args.output.as_deref().unwrap_or("-".as_ref());
    let target = Target::plan_new(path)?;
    let key = Key::generate(args.format).map_err(|error| Failure::file("key", error))?;
    keyfile::create(target, &key)?;
    report::made(path, &key)
}
