//! The command line's commands and options, from which the manual and the completions are made, too.

mod advice;
mod manual;

pub(crate) use advice::advised;
pub(crate) use manual::{manual, with_examples};

use crate::failure::{Code, Failure};
use clap::{Args, Parser, Subcommand, builder::PossibleValuesParser, builder::TypedValueParser};
use fastgcm_file::{Backend, Format};
use std::{num::NonZero, path::PathBuf, str::FromStr, thread};

/// Seals and opens files with AES-GCM, at the speed of the disk.
///
/// Files are in Cobblestone format (C2SP chunked encryption), which other software reads and writes, too. An output appears under its
/// name only when it is complete and on the disk; no run deletes a file that it did not create.
#[derive(Debug, Parser)]
#[command(name = "fastgcm", version, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

fn exit_codes() -> String {
    let lines = Code::MEANINGS.iter().map(|(code, meaning)| format!("\n  {code}  {meaning}"));
    format!("Exit codes:{}", lines.collect::<String>())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a random key.
    Keygen(Keygen),
    /// Write a key file for one more person, or with another passphrase: the same key, locked.
    Share(Share),
    /// Seal a file: encrypt it, so that any change of it will be noticed.
    Seal(Seal),
    /// Open a sealed file.
    Open(Open),
    /// Seal files anew, under another key.
    ///
    /// The new file takes the place of the old one when it is complete and on the disk, and opens to the same text. Whatever stops the run before,
    /// the old file is as it was. Run again, it goes on with the files that are still under the old key.
    Rekey(Rekey),
    /// Tell what can be told of a sealed file without its key; with the key, verify it without opening it.
    ///
    /// A sealed file begins with random bytes and has no mark of its own. Without the key it can be told only
    /// that a file is none: its length or its beginning gives that away.
    Inspect(Inspect),
    /// Show the back ends of the cipher, what each needs of the processor, and which one is used.
    Cpu(Cpu),
    /// Check every back end of this machine against known answers and against each other.
    Selftest(Selftest),
    /// Check, or write, a configuration by which programs use the OpenSSL provider, and measure what it gains.
    ///
    /// It asks the program `openssl` on PATH. Exit code 7 says that a program with this configuration would not use the provider, or should
    /// not. It takes some seconds, in which one core is busy.
    ///
    /// Some programs clear their environment, and so do not know OPENSSL_CONF. Postfix hands on what `import_environment` in main.cf names,
    /// Dovecot what `import_environment` in dovecot.conf does; a unit of systemd has `Environment=`. `grep fastgcm.so /proc/PID/maps`
    /// shows whether it worked.
    Doctor(Doctor),
    /// Print the completion script of a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print a page of the manual (roff): `fastgcm man seal | man -l -`.
    Man {
        /// Of which command; of the whole program if none is named.
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Keygen {
    /// Where to write the key, as one line of hexadecimal digits, for your eyes only (mode 0600). It must not
    /// exist. Standard output if left out, which may be a terminal or a pipe, but no file that others may
    /// read.
    #[arg(short, long, value_name = "KEY")]
    pub(crate) output: Option<PathBuf>,
    /// What the key is for: 32 bytes for cobblestone-256, 16 for cobblestone-128.
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) locks: Locks,
}

/// How a key file is locked. It is an age file then, as lines of text, with the bytes of the key in it.
#[derive(Debug, Args)]
pub(crate) struct Locks {
    /// Lock the key file with a passphrase, which is asked for, or is the first line of the file that FASTGCM_PASSPHRASE_FILE names.
    #[cfg_attr(not(feature = "age"), arg(hide = true))]
    #[arg(short, long, conflicts_with_all = ["recipient", "list"])]
    pub(crate) passphrase: bool,
    /// Lock the key file for somebody: age1..., "ssh-ed25519 ...", "ssh-rsa ...", or a recipient of a plugin of age's. May be said several
    /// times: each of them can open it.
    #[cfg_attr(not(feature = "age"), arg(hide = true))]
    #[arg(short, long, value_name = "RECIPIENT")]
    pub(crate) recipient: Vec<String>,
    /// Lock the key file for each recipient of a list: one a line; lines that begin with # do not count.
    #[cfg_attr(not(feature = "age"), arg(hide = true))]
    #[arg(long = "for", value_name = "LIST")]
    pub(crate) list: Vec<PathBuf>,
}

/// Of a build that cannot lock key files.
#[cfg(not(feature = "age"))]
pub(crate) const WITHOUT_AGE: &str =
    "this program was built without age, and so has no locked key files: `cargo install` with `--features age` builds it with age";

#[derive(Debug, Args)]
pub(crate) struct Share {
    /// The key file. Without it, the file that FASTGCM_KEY_FILE names, or else fastgcm/key in your configuration folder.
    #[arg(short, long, value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    /// Where to write the new key file, which must not exist; standard output if left out.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) locks: Locks,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
pub(crate) struct Seal {
    #[command(flatten)]
    pub(crate) which: SealKey,
    /// Where to write the sealed file; FILE.sealed if left out, `-` for standard output. What comes from
    /// standard input goes to standard output, but to a terminal only with `-o -`.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Replace OUT if it exists, once the new file is complete. OUT keeps the mode of the file that it
    /// replaces; a new OUT gets the mode that the umask gives.
    #[arg(long)]
    pub(crate) force: bool,
    /// The format: AES with keys of 256 or of 128 bits.
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value_t)]
    pub(crate) format: Format,
    /// Give OUT the time of modification that FILE has.
    #[arg(long)]
    pub(crate) keep_time: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) common: Common,
    /// What to seal; `-` for standard input. Of several files each is sealed by itself, and what fails keeps none of the others back. Without -o, files whose
    /// names end in .sealed are skipped, and of several files those that have been sealed since they were modified.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// One of the two, or neither.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct SealKey {
    /// The key file: 16 or 32 raw bytes, or the same as one line of hexadecimal digits; `-` for standard input. Without it, the file that
    /// FASTGCM_KEY_FILE names, or else fastgcm/key in your configuration folder.
    #[arg(short, long, value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    /// Make a new key first, and write it to KEY, which must not exist.
    #[arg(long, value_name = "KEY")]
    pub(crate) new_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Open {
    /// The key file, as it was for sealing; `-` for standard input. Without it, the file that FASTGCM_KEY_FILE names, or else fastgcm/key in your
    /// configuration folder.
    #[arg(short, long, value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    /// Where to write the text; FILE without `.sealed` if left out (with --range: standard output), `-` for
    /// standard output. A terminal gets control characters only with `-o -`.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Replace OUT if it exists, once the new file is complete. OUT keeps the mode of the file that it
    /// replaces; a new OUT is for your eyes only (mode 0600).
    #[arg(long)]
    pub(crate) force: bool,
    /// Only the bytes from A up to, not including, B. All that they depend on is verified before anything is written.
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    pub(crate) range: Option<Range>,
    /// Of a damaged file, write what can be verified to OUT, and tell which bytes are lost: zeros stand for them. The exit code is 3 if any are.
    #[arg(long, requires = "output", conflicts_with_all = ["range", "keep_time"])]
    pub(crate) salvage: bool,
    /// The format. The key's length tells it if left out.
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) format: Option<Format>,
    /// Give OUT the time of modification that FILE has.
    #[arg(long)]
    pub(crate) keep_time: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The sealed file; `-` for standard input. Of several files each is opened by itself, and what fails keeps none of the others back.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Rekey {
    /// The key file that the files are sealed under; `-` for standard input. Without it, the file that FASTGCM_KEY_FILE names, or else fastgcm/key in
    /// your configuration folder.
    #[arg(short, long, value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) to: RekeyTo,
    /// Give the new file the time of modification of the old one.
    #[arg(long)]
    pub(crate) keep_time: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The sealed files. Each is replaced by itself, and what fails keeps none of the others back.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

/// One of the two.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct RekeyTo {
    /// The key file to seal them under. Its length tells the format.
    #[arg(long, value_name = "KEY")]
    pub(crate) to: Option<PathBuf>,
    /// Make a new key first, for cobblestone-256, and write it to KEY, which must not exist.
    #[arg(long, value_name = "KEY")]
    pub(crate) new_key: Option<PathBuf>,
}

/// How a key file is read.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// What opens a key file that is locked for somebody: an identity file of age's, or a private key of ssh. May be said several times.
    #[cfg_attr(not(feature = "age"), arg(hide = true))]
    #[arg(short, long, value_name = "IDENTITY")]
    pub(crate) identity: Vec<PathBuf>,
    /// Accept a key file that others may read.
    #[arg(long)]
    pub(crate) insecure_key_file: bool,
    /// Accept a key file of raw bytes that are all printable. A password is no key: such bytes can be guessed.
    #[arg(long)]
    pub(crate) raw_key: bool,
    /// Work in ways that NIST approves only: the back end passes a self-test first, and a key file that age has locked is refused. The
    /// program is not validated (FIPS 140).
    #[arg(long)]
    pub(crate) approved: bool,
}

/// What sealing and opening have in common.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// What the file is and where it belongs. It opens only with the same text, which is not stored.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: String,
    /// How many threads; all cores if left out. The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<NonZero<usize>>,
    #[command(flatten)]
    pub(crate) machine: Machine,
    /// No progress bar, and no report at the end.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// The key file, as it was for sealing; `-` for standard input. With it the whole file is verified.
    #[arg(short, long, value_name = "KEY")]
    pub(crate) key: Option<PathBuf>,
    /// The format. The key's length tells it if left out.
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) format: Option<Format>,
    /// Verify with the key that FASTGCM_KEY_FILE names, or else with fastgcm/key in your configuration folder.
    #[arg(long)]
    pub(crate) verify: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) common: Common,
    /// The sealed file; `-` for standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Cpu {
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) machine: Machine,
}

#[derive(Debug, Args)]
pub(crate) struct Selftest {
    /// Say nothing if all is well.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// In place of the known answers, put a vector set of NIST's ACVP to every back end: the prompt, AES-GCM or AES-GMAC in JSON.
    #[arg(long, value_name = "PROMPT", requires = "expected")]
    pub(crate) acvp: Option<PathBuf>,
    /// The answers that ACVP expects to that prompt.
    #[arg(long, value_name = "ANSWERS", requires = "acvp")]
    pub(crate) expected: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Write a configuration to FILE, which must not exist, if it works: all that the machine's own says (it includes that file), and the provider.
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// The provider for that configuration; `fastgcm.so` among OpenSSL's modules if left out.
    #[arg(long, value_name = "MODULE", requires = "write")]
    pub(crate) module: Option<PathBuf>,
    /// The configuration to check; that which OPENSSL_CONF names if left out, or else /etc/ssl/fastgcm.cnf.
    #[arg(conflicts_with = "write")]
    pub(crate) file: Option<PathBuf>,
}

/// How the cipher is run.
#[derive(Debug, Args)]
pub(crate) struct Machine {
    /// The back end of the cipher; the best one of this machine if left out. `fastgcm cpu` tells which there
    /// are. The environment variable FASTGCM_BACKEND says the same.
    #[arg(long, value_name = "NAME", value_parser = backend(), hide_possible_values = true)]
    backend: Option<Backend>,
}

impl Locks {
    /// Returns true if there is any.
    pub(crate) fn are_wanted(&self) -> bool {
        self.passphrase || !self.recipient.is_empty() || !self.list.is_empty()
    }
}

impl Machine {
    /// The back end to use: of the argument, of the environment, or the best.
    pub(crate) fn backend(&self) -> Result<Backend, Failure> {
        let chosen = match (self.backend, std::env::var_os("FASTGCM_BACKEND")) {
            (Some(chosen), _) => chosen,
            (None, Some(name)) if !name.is_empty() => {
                let names = Backend::ALL.iter().map(|backend| backend.name()).collect::<Vec<_>>().join(", ");
                let none = |_| Failure::usage(format_args!("FASTGCM_BACKEND names no back end: there are only {names}"));
                name.to_string_lossy().parse().map_err(none)?
            }
            _ => Backend::detect(),
        };
        if chosen.is_available() {
            Ok(chosen)
        } else {
            Err(Failure::usage(format_args!(
                "this machine cannot run the back end {chosen}: `fastgcm cpu` shows why, and which it can run"
            )))
        }
    }
}

impl Common {
    /// How many threads to use.
    pub(crate) fn threads(&self) -> NonZero<usize> {
        self.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN)
    }
}

fn backend() -> impl TypedValueParser<Value = Backend> {
    PossibleValuesParser::new(Backend::ALL.iter().map(|backend| backend.name())).try_map(|name| name.parse::<Backend>())
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.name())).try_map(|name| name.parse::<Format>())
}

fn threads(number: &str) -> Result<NonZero<usize>, &'static str> {
    number.parse().map_err(|_| "a number of threads, from 1 on")
}

/// Bytes `A..B`. Either may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
}

impl FromStr for Range {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WANTED: &str = "a range is A..B, in bytes, from 0 on, with A <= B < 2^64";
        let (start, end) = text.split_once("..").ok_or(WANTED)?;
        let number = |digits: &str| {
            if digits.bytes().all(|digit| digit.is_ascii_digit()) { digits.parse::<u64>().map_err(|_| WANTED) } else { Err(WANTED) }
        };
        let start = if start.is_empty() { 0 } else { number(start)? };
        let end = if end.is_empty() { None } else { Some(number(end)?) };
        if end.is_some_and(|end| end < start) { Err(WANTED) } else { Ok(Self { start, end }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn clap_has_nothing_to_complain_about() {
        Cli::command().debug_assert();
    }

    #[test]
    fn ranges() {
        let range = |start, end| Ok(Range { start, end });
        assert_eq!("3..5".parse(), range(3, Some(5)));
        assert_eq!("3..3".parse(), range(3, Some(3)));
        assert_eq!("..5".parse(), range(0, Some(5)));
        assert_eq!("3..".parse(), range(3, None));
        assert_eq!("..".parse(), range(0, None));
        for bad in ["", "3", "5..3", "-1..3", "+1..3", "3..=5", "a..b", "1...2", " 1..2", "0..99999999999999999999"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
    }
}
