//! Key files that are locked: age files (age-encryption.org) with the bytes of the key in them. The crate `age` makes and opens them, for which the program is
//! built with its feature `age`.

use crate::{
    cli,
    failure::{Code, Failure},
};
use fastgcm_file::Key;
use zeroize::Zeroizing;

/// What a key file begins with that is an age file, bare or as lines of text.
const MARKS: [&str; 2] = ["age-encryption.org/v1\n", "-----BEGIN AGE ENCRYPTED FILE-----"];

/// Whether a file with that beginning is locked.
pub(crate) fn is_locked(content: &[u8]) -> bool {
    MARKS.iter().any(|mark| content.trim_ascii_start().starts_with(mark.as_bytes()))
}

impl cli::Locks {
    /// Whether there is any.
    pub(crate) fn are_wanted(&self) -> bool {
        self.passphrase || !self.recipient.is_empty() || !self.list.is_empty()
    }
}

#[cfg(feature = "age")]
mod files {
    use super::*;
    use crate::{
        failure::escaped,
        keyfile::{read_at_most, refuse_others},
    };
    use age::{
        Decryptor, Encryptor, Identity,
        armor::{ArmoredReader, ArmoredWriter, Format},
        cli_common::{StdinGuard, read_identities, read_recipients},
        scrypt,
        secrecy::{ExposeSecret, SecretString},
    };
    use std::{
        fmt::Display,
        fs::File,
        io::{self, Write},
        path::PathBuf,
    };

    fn failure(name: &str, why: impl Display) -> Failure {
        // Some answers of age have a line of advice behind them, and marks of writing direction around names.
        let why = why.to_string().replace(['\u{2068}', '\u{2069}'], "");
        Failure::new(Code::Key, format_args!("key {name}: {}", why.trim_end().replace('\n', "; ")))
    }

    /// The bytes that are locked in a key file, or the first of them.
    pub(crate) fn unlock(name: &str, content: &[u8], longest: usize, reading: &cli::Reading) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let fail = |why: &dyn Display| failure(name, why);
        let decryptor = Decryptor::new(ArmoredReader::new(content)).map_err(|error| fail(&error))?;
        let by_default = || std::env::var_os("FASTGCM_IDENTITY").filter(|path| !path.is_empty()).map(PathBuf::from);
        let identities = if reading.identity.is_empty() { by_default().into_iter().collect() } else { reading.identity.clone() };
        let is_scrypt = decryptor.is_scrypt();
        let identities: Vec<Box<dyn Identity>> = if is_scrypt {
            vec![Box::new(scrypt::Identity::new(passphrase(name, false, reading.insecure_key_file)?))]
        } else if identities.is_empty() {
            return Err(fail(&"it is locked for somebody: -i IDENTITY opens it (an identity of age, or a private key of ssh)"));
        } else {
            read_identities(names(&identities)?, None, &mut StdinGuard::new(true)).map_err(|error| fail(&error))?
        };
        let text = decryptor.decrypt(identities.iter().map(|identity| &**identity)).map_err(|error| match error {
            age::DecryptError::DecryptionFailed | age::DecryptError::KeyDecryptionFailed if is_scrypt => {
                fail(&"another passphrase opens it")
            }
            age::DecryptError::NoMatchingKeys => fail(&"it is locked for others: no identity opens it"),
            error => fail(&error),
        })?;
        read_at_most(text, longest).map_err(|error| fail(&error))
    }

    /// A key file with that key in it, as lines of text.
    pub(crate) fn lock(name: &str, key: &Key, locks: &cli::Locks) -> Result<Vec<u8>, Failure> {
        let fail = |why: &dyn Display| failure(name, why);
        let encryptor = if locks.passphrase {
            Encryptor::with_user_passphrase(passphrase(name, true, false)?)
        } else {
            let guard = &mut StdinGuard::new(true);
            let recipients = read_recipients(locks.recipient.clone(), names(&locks.list)?, Vec::new(), None, guard);
            let recipients = recipients.map_err(|error| fail(&error))?;
            Encryptor::with_recipients(recipients.iter().map(|recipient| &**recipient as _)).map_err(|error| fail(&error))?
        };
        let sealed = || {
            let mut writer = encryptor.wrap_output(ArmoredWriter::wrap_output(Vec::new(), Format::AsciiArmor)?)?;
            writer.write_all(key.as_bytes())?;
            writer.finish()?.finish()
        };
        sealed().map_err(|error| fail(&error))
    }

    /// From the file that `FASTGCM_PASSPHRASE_FILE` names, its first line, or else from the terminal; a new one twice.
    fn passphrase(name: &str, is_new: bool, insecure: bool) -> Result<SecretString, Failure> {
        let secret = match std::env::var_os("FASTGCM_PASSPHRASE_FILE").filter(|path| !path.is_empty()) {
            Some(path) => {
                let path = PathBuf::from(path);
                let bad = |error| Failure::io(format_args!("passphrase {}", path.display()), error);
                let file = File::open(&path).map_err(bad)?;
                if !insecure {
                    refuse_others(&format_args!("passphrase {}", path.display()), &file.metadata().map_err(bad)?, 0o077)?;
                }
                let content = read_at_most(file, LONGEST).map_err(bad)?;
                let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let line = str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).map_err(|error| bad(io::Error::other(error)))?;
                SecretString::from(line)
            }
            None => {
                let ask = |what: &str| {
                    let answer = rpassword::prompt_password(format!("{what} of {}: ", escaped(name)));
                    let advice = "FASTGCM_PASSPHRASE_FILE names a file that has it";
                    let failed = |error| failure(name, format_args!("its passphrase cannot be asked for ({error}): {advice}"));
                    answer.map(SecretString::from).map_err(failed)
                };
                let secret = ask(if is_new { "New passphrase" } else { "Passphrase" })?;
                if is_new && ask("The same passphrase")?.expose_secret() != secret.expose_secret() {
                    return Err(failure(name, "the two passphrases differ"));
                }
                secret
            }
        };
        if secret.expose_secret().is_empty() { Err(failure(name, "the passphrase is empty")) } else { Ok(secret) }
    }

    /// Bytes of the longest passphrase in a file, and one more.
    const LONGEST: usize = 1025;

    fn names(paths: &[PathBuf]) -> Result<Vec<String>, Failure> {
        let name = |path: &PathBuf| {
            let name = path.to_str().map(str::to_owned);
            name.ok_or_else(|| Failure::usage(format_args!("{}: the crate age takes names in UTF-8 only", path.display())))
        };
        paths.iter().map(name).collect()
    }
}

#[cfg(not(feature = "age"))]
mod files {
    use super::*;

    fn without(name: &str) -> Failure {
        let how = "this program was built without age: `cargo install --path crates/fastgcm-cli --features age` builds it with age";
        Failure::new(Code::Key, format_args!("key {name}: {how}"))
    }

    pub(crate) fn unlock(name: &str, _: &[u8], _: usize, _: &cli::Reading) -> Result<Zeroizing<Vec<u8>>, Failure> {
        Err(without(name))
    }

    pub(crate) fn lock(name: &str, _: &Key, _: &cli::Locks) -> Result<Vec<u8>, Failure> {
        Err(without(name))
    }
}

pub(crate) use files::{lock, unlock};
