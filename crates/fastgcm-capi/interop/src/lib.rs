//! What the tests share.

use std::collections::BTreeSet;

/// The functions of `fastgcm.h`, each with its arguments as C writes them.
#[must_use]
pub fn functions() -> Vec<(&'static str, Vec<&'static str>)> {
    let header = include_str!("../../include/fastgcm.h");
    let declared = header.split(");").filter_map(|until| {
        let (before, arguments) = until.rsplit_once('(')?;
        let name = before.rsplit([' ', '*', '\n']).next()?;
        name.starts_with("fastgcm_").then(|| (name, arguments.split(',').map(str::trim).collect()))
    });
    declared.collect()
}

/// Fails unless these are all names that the header has.
pub fn complete<'a>(walked: impl IntoIterator<Item = &'a str>, declared: impl IntoIterator<Item = String>) {
    let walked: BTreeSet<_> = walked.into_iter().map(String::from).collect();
    let declared: BTreeSet<_> = declared.into_iter().collect();
    assert!(declared.len() > 10, "the header was not understood");
    assert_eq!(walked, declared, "what the header has, and what this test walks");
}
