//! What may be asked for on the command line.

use crate::failure::Failure;
use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use fastgcm::Backend;
use std::path::PathBuf;

/// Measures AES-GCM on this machine: the back ends of fastgcm, others beside them, and what papers have told.
#[derive(Debug, Parser)]
#[command(name = "fastgcm-study", version, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure the back ends of this machine, and the system's libcrypto beside them.
    ///
    /// Samples of all of them are taken in turn, on one core. Shown are the median time in nanoseconds, the throughput in GB/s, and how many
    /// times faster than libcrypto it is: the median of the ratios within each round. Answers are compared before anything is timed. The
    /// best back end is shown with the feature `scrub`, too, if the program `fastgcm-scrubbed` is there, which has it.
    Bench(Bench),
    /// Replay a paper on fast AES-GCM: its table beside the same one measured here.
    ///
    /// solaris-2010, packed-2010, arm64-2019, ghash-2023, aesni-2024: which papers these are, and what came out elsewhere, stands in the README of
    /// the crate fastgcm-studies. OpenSSL's libcrypto and Intel's libIPSec_MB take part where the system has them.
    Study(Study),
    /// What `study` steps through.
    #[command(hide = true)]
    StudyProbe {
        /// See `fastgcm_studies::study::probe`.
        arguments: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Study {
    /// Which paper.
    #[arg(value_parser = PossibleValuesParser::new(fastgcm_studies::study::NAMES))]
    pub(crate) name: String,
    /// A glance: few samples.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write the tables to FILE, for a page.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write chart and tables to FILE, as one page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// In FOLDER, that of the studies, write the tables in `results` and the chart in `charts` anew.
    #[arg(long = "results", value_name = "FOLDER", conflicts_with = "quick")]
    pub(crate) folder: Option<PathBuf>,
    /// For solaris-2010: fastgcm-openssl as a module of OpenSSL, whose code is run.
    #[arg(long, value_name = "FILE")]
    pub(crate) provider: Option<PathBuf>,
    /// For aesni-2024: Linux before and after, from the folder that `lab/studies/linux.sh` has filled; its code is run.
    #[cfg(target_arch = "x86_64")]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) linux: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// Where results go, of whatever was measured.
#[derive(Debug, Args)]
pub(crate) struct Results {
    /// Write the tables to FILE, a line for each cell.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write everything to FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write charts to FILE.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Replace these files if they exist.
    #[arg(long)]
    pub(crate) force: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Bytes of text, K and M for KiB and MiB.
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = size, default_value = "16,64,256,1420,4096,16K,64K,1M")]
    pub(crate) sizes: Vec<usize>,
    /// Bits of the key: 128, 192, 256.
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = key_bits, default_value = "128,256")]
    pub(crate) key_bits: Vec<usize>,
    /// Bytes of AAD.
    #[arg(long, value_name = "N", value_parser = size, default_value = "13")]
    pub(crate) aad: usize,
    /// Only seal; without this and --open, both.
    #[arg(long)]
    pub(crate) seal: bool,
    /// Only open.
    #[arg(long)]
    pub(crate) open: bool,
    /// Where the nonce comes from.
    #[arg(long, value_name = "HOW", default_value = "prepared")]
    pub(crate) nonce: NonceFrom,
    /// About how long it may take.
    #[arg(long, value_name = "N", value_parser = seconds, conflicts_with = "quick")]
    seconds: Option<f64>,
    /// A glance: about 2 seconds, few samples.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only this back end; all that this machine can run if left out. `fastgcm cpu` tells which there are.
    #[arg(long, value_name = "NAME", env = "FASTGCM_BACKEND", value_parser = backend())]
    backend: Option<Backend>,
    /// Compare with this libcrypto, a path or a name that the system finds, and run its code; with the system's if left out, with none if it
    /// says `none`.
    #[arg(long, value_name = "FILE")]
    pub(crate) libcrypto: Option<PathBuf>,
    /// Write charts and tables to FILE, as one page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) results: Results,
}

/// As [`fastgcm_measure::aead::NonceFrom`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum NonceFrom {
    /// It has been in memory for long: calls overlap as far as the processor can.
    Prepared,
    /// It is stored just before each call, as 4 and 8 bytes.
    Written,
    /// It is taken from the last output: calls cannot overlap, so this is latency.
    Dependent,
}

impl From<NonceFrom> for fastgcm_measure::aead::NonceFrom {
    fn from(from: NonceFrom) -> Self {
        match from {
            NonceFrom::Prepared => Self::Prepared,
            NonceFrom::Written => Self::Written,
            NonceFrom::Dependent => Self::Dependent,
        }
    }
}

impl Bench {
    /// The back ends to measure.
    pub(crate) fn back_ends(&self) -> Result<Vec<Backend>, Failure> {
        match self.backend {
            None => Ok(Backend::available().collect()),
            Some(backend) if backend.is_available() => Ok(vec![backend]),
            Some(backend) => Err(Failure::usage(format_args!("this machine cannot run the back end {backend}: `fastgcm cpu` shows why"))),
        }
    }

    /// About how long it may take.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.quick { 2.0 } else { 15.0 })
    }
}

fn backend() -> impl TypedValueParser<Value = Backend> {
    PossibleValuesParser::new(Backend::ALL.iter().map(|backend| backend.name())).try_map(|name| name.parse::<Backend>())
}

/// A number of bytes, up to 1024M, perhaps with a K or an M behind it.
fn size(text: &str) -> Result<usize, &'static str> {
    const WANTED: &str = "a number of bytes up to 1024M, such as 1420, 16K or 1M";
    let (digits, unit) = match text.as_bytes() {
        [.., b'K'] => (&text[..text.len() - 1], 1 << 10),
        [.., b'M'] => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    number.filter(|bytes| *bytes <= 1 << 30).ok_or(WANTED)
}

fn key_bits(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|bits| matches!(bits, 128 | 192 | 256)).ok_or("there are 128, 192 and 256")
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds)).ok_or("a number of seconds from 0.1 to a day")
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
    fn sizes() {
        let good = [("0", 0), ("1420", 1420), ("16K", 16384), ("1M", 1 << 20), ("1024M", 1 << 30)];
        assert!(good.iter().all(|(text, bytes)| size(text) == Ok(*bytes)));
        for bad in ["", "K", "x", "-1", "1k", "1.5K", "1G", "1025M", "99999999999999999999", "18014398509481985K", "16 K", "16é"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
