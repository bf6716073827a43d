//! Locked key files: age files (age-encryption.org) with the bytes of the key in them. The crate `age` makes and opens them; the program
//! uses it if it is built with its feature `age`.

/// The length in bytes of the longest locked key file: a recipient takes about 200.
pub(crate) const LONGEST: usize = 64 << 10;
pub(crate) const TOO_LONG: &str = "a locked key file has 64 KiB at most";

/// The beginning of a key file that is an age file, bare or as lines of text.
const MARKS: [&str; 2] = ["age-encryption.org/v1\n", "-----BEGIN AGE ENCRYPTED FILE-----"];

/// Returns whether a file with this beginning is locked.
pub(crate) fn is_locked(content: &[u8]) -> bool {
    MARKS.iter().any(|mark| content.trim_ascii_start().starts_with(mark.as_bytes()))
}

#[cfg(feature = "age")]
mod files;

#[cfg(not(feature = "age"))]
mod files {
    use crate::{
        cli,
        failure::{Code, Failure},
    };
    use fastgcm_file::Key;
    use zeroize::Zeroizing;

    fn without(name: &str) -> Failure {
        Failure::new(Code::Key, format_args!("key {name}: {}", cli::WITHOUT_AGE))
    }

    pub(crate) fn unlock(name: &str, _: &[u8], _: usize, _: &cli::Reading) -> Result<Zeroizing<Vec<u8>>, Failure> {
        Err(without(name))
    }

    pub(crate) fn lock(name: &str, _: &Key, _: &cli::Locks) -> Result<Vec<u8>, Failure> {
        Err(without(name))
    }
}

pub(crate) use files::{lock, unlock};
