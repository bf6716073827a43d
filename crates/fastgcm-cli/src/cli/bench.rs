//! What `fastgcm bench` may be asked for.

use super::{Results, backend, chosen};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use fastgcm_file::Backend;
use std::path::PathBuf;

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
    /// The environment variable FASTGCM_BACKEND says the same.
    #[arg(long, value_name = "NAME", value_parser = backend(), hide_possible_values = true)]
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
        Ok(chosen(self.backend)?.map_or_else(|| Backend::available().collect(), |backend| vec![backend]))
    }

    /// About how long it may take.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.quick { 2.0 } else { 15.0 })
    }
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

    #[test]
    fn sizes() {
        let good = [("0", 0), ("1420", 1420), ("16K", 16384), ("1M", 1 << 20), ("1024M", 1 << 30)];
        assert!(good.iter().all(|(text, bytes)| size(text) == Ok(*bytes)));
        for bad in ["", "K", "x", "-1", "1k", "1.5K", "1G", "1025M", "99999999999999999999", "18014398509481985K", "16 K", "16é"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
