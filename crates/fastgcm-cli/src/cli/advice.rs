//! What to type instead, where clap's own advice would lead astray.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Replaces the advice of an error for what other programs have: age's options, and the names of openssl's and gpg's commands.
pub(crate) fn advised(mut error: Error) -> Error {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(said)) => said.clone(),
        _ => String::new(),
    };
    let (argument, command) = (said(ContextKind::InvalidArg), said(ContextKind::InvalidSubcommand));
    if error.kind() == ErrorKind::UnknownArgument && OF_AGE.contains(&&*argument) {
        let tips = LOCKED.iter().map(|tip| (*tip).into()).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    if let Some((_, ours)) = NAMES.iter().find(|(theirs, _)| *theirs == command) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![(*ours).into()]));
    }
    error
}

const OF_AGE: [&str; 5] = ["-r", "--recipient", "--for", "-p", "--passphrase"];

const LOCKED: [&str; 2] = [
    "files are sealed under a key, and the key file may be locked: 'fastgcm keygen -r RECIPIENT -o KEY' or 'fastgcm keygen --passphrase -o KEY' makes \
     one for it",
    "'fastgcm share -k KEY -r RECIPIENT -o NEW' writes a key that there is for one more person",
];

const NAMES: [(&str, &str); 8] = [
    ("encrypt", "seal"),
    ("enc", "seal"),
    ("lock", "seal"),
    ("decrypt", "open"),
    ("dec", "open"),
    ("unlock", "open"),
    ("unseal", "open"),
    ("verify", "inspect"),
];
