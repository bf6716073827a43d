//! Locked key files, where the program is built with the crate `age`.

use super::{LONGEST, TOO_LONG};
use crate::{
    cli,
    failure::{Code, Failure, reason},
    input::{by_environment, read_at_most},
    prompt,
    trust::{INSECURE, Others, refuse_others},
};
use age::{
    Callbacks, DecryptError, Decryptor, Encryptor, Identity,
    armor::{ArmoredReader, ArmoredWriter, Format},
    cli_common::{StdinGuard, UiCallbacks, read_identities, read_recipients},
    scrypt,
    secrecy::{ExposeSecret, SecretString},
    ssh,
};
use fastgcm_file::Key;
use std::{
    fmt::Display,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};
use zeroize::Zeroizing;

fn failure(name: &str, why: impl Display) -> Failure {
    // Some answers of age have a line of advice behind them, and marks of writing direction around names.
    let why = why.to_string().replace(['\u{2068}', '\u{2069}'], "");
    Failure::new(Code::Key, format_args!("key {name}: {}", why.trim_end().replace('\n', "; ")))
}

/// The bytes that are locked in a key file, or the first of them.
pub(crate) fn unlock(name: &str, content: &[u8], longest: usize, reading: &cli::Reading) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let fail = |why: &dyn Display| failure(name, why);
    let decryptor = Decryptor::new_buffered(ArmoredReader::new(content)).map_err(|error| fail(&error))?;
    let is_scrypt = decryptor.is_scrypt();
    let asked = Asked::default();
    let identities = if is_scrypt {
        let mut identity = scrypt::Identity::new(passphrase(name, false, reading.insecure_key_file)?);
        identity.set_max_work_factor(bearable());
        vec![Box::new(identity) as Box<dyn Identity>]
    } else {
        prompt::restore_on_signals();
        open_identities(name, reading, &asked)?
    };
    let text = decryptor.decrypt(identities.iter().map(|identity| &**identity));
    prompt::end_if_interrupted();
    let text = text.map_err(|error| match error {
        DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed if is_scrypt => fail(&"another passphrase opens it"),
        DecryptError::NoMatchingKeys => match asked.failed() {
            Some(why) => fail(&why),
            None => fail(&"it is locked for others: no identity opens it"),
        },
        DecryptError::KeyDecryptionFailed if !prompt::is_possible() => {
            fail(&"the passphrase of an identity cannot be asked for: there is no terminal")
        }
        DecryptError::ExcessiveWork { required, .. } => fail(&costly(required)),
        error => fail(&error),
    })?;
    read_at_most(text, longest).map_err(|error| fail(&error))
}

/// A key file with that key in it, as lines of text.
pub(crate) fn lock(name: &str, key: &Key, locks: &cli::Locks) -> Result<Vec<u8>, Failure> {
    let fail = |why: &dyn Display| failure(name, why);
    let encryptor = if locks.passphrase {
        if bearable() < 18 {
            return Err(fail(&"locking with a passphrase takes 256 MiB of memory, which there are not"));
        }
        Encryptor::with_user_passphrase(passphrase(name, true, false)?)
    } else {
        locks.recipient.iter().try_for_each(|recipient| refuse_several(recipient))?;
        for list in &locks.list {
            check(&format_args!("list {}", list.display()), list, Others::Change, None)?;
        }
        let guard = &mut StdinGuard::new(true);
        let recipients = read_recipients(locks.recipient.clone(), names(&locks.list)?, Vec::new(), None, guard);
        let recipients = recipients.map_err(|error| fail(&error).note_if(!locks.recipient.is_empty(), NO_FILE))?;
        Encryptor::with_recipients(recipients.iter().map(|recipient| &**recipient as _)).map_err(|error| fail(&error))?
    };
    let sealed = || {
        let mut writer = encryptor.wrap_output(ArmoredWriter::wrap_output(Vec::new(), Format::AsciiArmor)?)?;
        writer.write_all(key.as_bytes())?;
        writer.finish()?.finish()
    };
    let locked = sealed().map_err(|error| fail(&error))?;
    if locked.len() > LONGEST { Err(fail(&format_args!("{TOO_LONG}: these are too many recipients"))) } else { Ok(locked) }
}

const NO_FILE: &str =
    "-r takes the recipient itself (age1..., or \"ssh-ed25519 ...\"); --for FILE takes those that a file has, such as id_ed25519.pub";

/// Of two recipients in one argument the crate `age` takes the first, and the second for a comment: who is left out is locked out.
fn refuse_several(recipient: &str) -> Result<(), Failure> {
    let begins = |word: &&str| ["age1", "ssh-ed25519", "ssh-rsa"].iter().any(|kind| word.starts_with(kind));
    if recipient.contains(['\n', '\r']) || recipient.split_whitespace().filter(begins).count() > 1 {
        let why = "-r names one recipient, in one line: say -r for each of them, or --for FILE with a line for each";
        return Err(Failure::usage(why));
    }
    Ok(())
}

/// The identities that open a locked key file. If no option names any, the environment does.
fn open_identities(name: &str, reading: &cli::Reading, asked: &Asked) -> Result<Vec<Box<dyn Identity>>, Failure> {
    let mut files: Vec<_> = reading.identity.iter().map(|path| (path.clone(), path.display().to_string())).collect();
    if files.is_empty() {
        files.extend(by_environment("FASTGCM_IDENTITY").map(|path| (path, "$FASTGCM_IDENTITY".into())));
    }
    if files.is_empty() {
        let why = "it is locked for somebody: -i IDENTITY opens it (an identity of age, or a private key of ssh)";
        return Err(failure(name, why));
    }
    let mut identities = Vec::new();
    for (path, shown) in files {
        let called = format!("identity {shown}");
        let file = match reading.insecure_key_file {
            true => File::open(&path).map_err(|error| Failure::io(&called, error))?,
            false => check(&called, &path, Others::Read, INSECURE)?,
        };
        let metadata = file.metadata().map_err(|error| Failure::io(&called, error))?;
        if metadata.len() > LONGEST as u64 {
            return Err(failure(name, format_args!("{called} has more than 64 KiB")));
        }
        // The crate `age` says nothing where it cannot ask for the passphrase of a key of ssh, so that one is asked for here. (A pipe can be read once.)
        if metadata.is_file()
            && let Ok(key @ ssh::Identity::Encrypted(_)) = ssh::Identity::from_buffer(io::BufReader::new(file), None)
        {
            identities.push(Box::new(key.with_callbacks(asked.about(&shown))) as Box<dyn Identity>);
            continue;
        }
        let file = names(std::slice::from_ref(&path))?;
        let read = read_identities(file, Some(bearable()), &mut StdinGuard::new(true));
        // No message shows what an environment variable holds.
        identities.extend(read.map_err(|error| failure(name, error.to_string().replace(&*path.to_string_lossy(), &shown)))?);
    }
    Ok(identities)
}

/// Opens a file that others must not get at.
fn check(name: &dyn Display, path: &Path, others: Others, option: Option<&str>) -> Result<File, Failure> {
    let io = |error| Failure::io(name, error);
    let file = File::open(path).map_err(io)?;
    refuse_others(name, path, &file.metadata().map_err(io)?, others, option)?;
    Ok(file)
}

/// Asks for the passphrase of a key of ssh, once, and remembers why that was not possible.
#[derive(Clone, Default)]
struct Asked {
    name: String,
    answer: Arc<Mutex<Option<SecretString>>>,
    failed: Arc<Mutex<Option<String>>>,
}

impl Asked {
    fn about(&self, name: &str) -> Self {
        Self { name: name.into(), answer: Arc::default(), failed: self.failed.clone() }
    }

    fn failed(&self) -> Option<String> {
        self.failed.lock().ok()?.clone()
    }
}

impl Callbacks for Asked {
    fn display_message(&self, message: &str) {
        UiCallbacks.display_message(message);
    }

    fn confirm(&self, message: &str, yes: &str, no: Option<&str>) -> Option<bool> {
        UiCallbacks.confirm(message, yes, no)
    }

    fn request_public_string(&self, description: &str) -> Option<String> {
        UiCallbacks.request_public_string(description)
    }

    fn request_passphrase(&self, description: &str) -> Option<SecretString> {
        let mut answer = self.answer.lock().ok()?;
        if answer.is_none() {
            match prompt::secret(&format!("Passphrase of the ssh key {}", self.name)) {
                Ok(typed) => *answer = Some(SecretString::from(&**typed)),
                Err(error) => {
                    // A desktop may have another way.
                    *answer = UiCallbacks.request_passphrase(description);
                    if answer.is_none() {
                        let why = format!("the passphrase of the ssh key {} cannot be asked for ({})", self.name, reason(&error));
                        *self.failed.lock().ok()? = Some(why);
                    }
                }
            }
        }
        answer.clone()
    }
}

/// From the file that `FASTGCM_PASSPHRASE_FILE` names, its first line, or else from the terminal; a new one twice.
fn passphrase(name: &str, is_new: bool, insecure: bool) -> Result<SecretString, Failure> {
    let secret = match by_environment("FASTGCM_PASSPHRASE_FILE") {
        Some(path) => {
            let shown = "passphrase $FASTGCM_PASSPHRASE_FILE";
            let bad = |error| Failure::io(shown, error);
            let file = File::open(&path).map_err(bad)?;
            if !insecure {
                let option = INSECURE.filter(|_| !is_new);
                refuse_others(&shown, &path, &file.metadata().map_err(bad)?, Others::Read, option)?;
            }
            // With a line end of two bytes behind it, and a byte more.
            let content = read_at_most(file, prompt::LONGEST + 3).map_err(bad)?;
            let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.len() > prompt::LONGEST {
                return Err(Failure::new(Code::Key, format_args!("{shown}: {}", prompt::TOO_LONG)));
            }
            SecretString::from(str::from_utf8(line).map_err(|error| bad(io::Error::other(error)))?)
        }
        None => {
            let ask = |what: &str| {
                let answer = prompt::secret(&format!("{what} of {name}"));
                let advice = "FASTGCM_PASSPHRASE_FILE names a file that has it";
                let failed =
                    |error: io::Error| failure(name, format_args!("its passphrase cannot be asked for ({}): {advice}", reason(&error)));
                answer.map(|typed| SecretString::from(&**typed)).map_err(failed)
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

/// The greatest work factor of scrypt that a run takes upon itself, of which a stranger's file names one: 2^n means 2^n KiB of memory. A machine that locks
/// a key file chooses one that takes it a second: 18 or 19.
fn bearable() -> u8 {
    let number = |path: &str, name: &str| {
        let text = std::fs::read_to_string(path).ok()?;
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok())
    };
    // What the machine has left, and what a container or a limit leaves of it.
    let left = number("/proc/meminfo", "MemAvailable:").unwrap_or(u64::MAX);
    let left = left.min(number("/sys/fs/cgroup/memory.max", "").map_or(u64::MAX, |bytes| bytes >> 10));
    let fits = |factor: &u8| {
        let mut memory = Vec::<u8>::new();
        let is_given = memory.try_reserve_exact(1 << (factor + 10)).is_ok();
        left >= 1 << factor && is_given && std::hint::black_box(&memory).capacity() > 0
    };
    (1..=WORK).rev().find(fits).unwrap_or(1)
}

/// With 1 GiB of memory.
const WORK: u8 = 20;

fn costly(required: u8) -> String {
    let most = bearable();
    format!(
        "its passphrase costs too much to try: a work factor of 2^{required}, and this process takes 2^{most} (1 KiB of memory for each)"
    )
}

fn names(paths: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let name = |path: &PathBuf| {
        let name = path.to_str().map(str::to_owned);
        name.ok_or_else(|| Failure::usage(format_args!("{}: the crate age takes names in UTF-8 only", path.display())))
    };
    paths.iter().map(name).collect()
}
