//! The common parts of all replays: the contenders, the measurement of a case, and the cells of a table.

use crate::{
    message::{self, AnyStyle, styles},
    report::{Cells, Table},
};
use anyhow::Result;
use fastgcm::{Backend, Key, Tag};
use fastgcm_measure::{
    Case, Contender, Measured, Measurement, Sampler,
    aead::{self, AnyImplementation, Buffers, Verb, Work},
};
use std::{hint::black_box, path::Path, time::Duration};

/// Counts the instructions between the markers of [`probe`] with these arguments.
pub(crate) type Steps = dyn Fn(&[String]) -> Result<Vec<u64>>;

/// Measures the contenders of a case.
pub(crate) type Measure<'a> = dyn Fn(Case, &mut [Contender<'_>]) -> Measured + 'a;

/// Returns a measurement by the clock: a quick one, or half a second a case.
pub(crate) fn by_clock(quick: bool) -> impl Fn(Case, &mut [Contender<'_>]) -> Measured {
    let (rounds, budget) = if quick { (3..=10, Duration::from_millis(20)) } else { (20..=400, Duration::from_millis(500)) };
    let sampler = Sampler { rounds, budget, ..Sampler::default() };
    move |case, contenders| sampler.run(case, contenders)
}

/// The contenders and the measurements of a replay.
pub(crate) struct Bench<'a> {
    /// True if few samples are enough.
    pub(crate) quick: bool,
    pub(crate) measure: &'a Measure<'a>,
    /// Linux before and after 2024, if it has been fetched.
    pub(crate) linux: Option<Linux<'a>>,
    /// Counts instructions; `None` on machines without single-stepping.
    pub(crate) steps: Option<&'a Steps>,
}

/// The code of Linux, as contenders.
pub(crate) struct Linux<'a> {
    /// The folder that `linux.sh` has filled with sources and objects.
    pub(crate) folder: &'a Path,
    /// The old code, which the kernel chose by the length.
    pub(crate) old: &'a dyn AnyImplementation,
    /// The new code, each level with our back end of equal instructions.
    pub(crate) new: Vec<(Backend, &'a dyn AnyImplementation)>,
}

impl<'a> Linux<'a> {
    pub(crate) fn all(&self) -> impl Iterator<Item = &'a dyn AnyImplementation> {
        [self.old].into_iter().chain(self.new.iter().map(|(_, new)| *new))
    }
}

impl Bench<'_> {
    /// Takes samples of all contenders in turn.
    pub(crate) fn measure(&self, case: Case, contenders: &mut [Contender<'_>]) -> Measured {
        eprintln!("{}, {} bytes", case.group, case.name);
        (self.measure)(case, contenders)
    }

    pub(crate) fn steps(&self, arguments: &[String]) -> Result<Option<Vec<u64>>> {
        self.steps.map(|steps| steps(arguments)).transpose()
    }
}

/// Runs the messages whose instructions are counted: each style in turn seals each length, between two calls of `marker`. The arguments are the
/// back end, the key's bytes, the AAD's, then `STYLE:LENGTH`. Returns the tags and the ciphertexts; `None` if it cannot.
pub(crate) fn probe(arguments: &[String], marker: &dyn Fn()) -> Option<Vec<([u8; 16], Vec<u8>)>> {
    let [backend, key, aad, cases @ ..] = arguments else { return None };
    let (backend, key, aad): (Backend, usize, usize) = (backend.parse().ok()?, key.parse().ok()?, aad.parse().ok()?);
    let (bytes, aad) = ([1; 32], vec![2; aad]);
    let mut sealed = Vec::new();
    for case in cases {
        let (name, length) = case.rsplit_once(':')?;
        let mut text = vec![3; length.parse().ok()?];
        let style = style(backend, name)?;
        let mut key = style.expand(bytes.get(..key)?);
        marker();
        let tag = style.crypt(true, &mut key, &[4; 12], &aad, &mut text);
        marker();
        sealed.push((tag, text));
    }
    Some(sealed)
}

/// Returns this machine's best back end with vectors of one block: the sources before 2023 are about such vectors.
pub(crate) fn one_block() -> Backend {
    let narrow = |backend: &Backend| !backend.name().starts_with("vaes");
    Backend::available().find(narrow).unwrap_or(Backend::Portable)
}

/// A back end of the library as a contender.
pub(crate) struct Library(pub(crate) Backend);

/// A key by value, as callers have it. (Making one in a box takes 90 ns more, for the heap.)
pub(crate) struct LibraryKey(Key);

impl aead::Implementation for Library {
    type Key = LibraryKey;

    fn name(&self) -> String {
        format!("fastgcm {}", self.0)
    }

    fn key(&self, key: &[u8]) -> Option<LibraryKey> {
        Key::with_backend(key, self.0).ok().map(LibraryKey)
    }
}

impl aead::Key for LibraryKey {
    #[inline(always)]
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        // No message here is too long; an error would make the answers differ.
        self.0.seal(nonce, aad, text).map_or([0; 16], |tag| tag.0)
    }

    #[inline(always)]
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.0.open_detached_to(nonce, aad, ciphertext, text, &Tag(*tag)).is_ok()
    }
}

/// A case: a message that is sealed or opened.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    pub(crate) seal: bool,
    pub(crate) key_bits: usize,
    pub(crate) bytes: usize,
    pub(crate) aad: usize,
}

impl Message {
    pub(crate) fn case(self) -> Case {
        let verb = if self.seal { "seal" } else { "open" };
        Case::of_bytes(format!("AES-{} {verb}, {} bytes of AAD", self.key_bits, self.aad), self.bytes as u64)
    }

    /// Returns the contender of an implementation, whose answers have been compared before.
    pub(crate) fn by<'a>(self, implementation: &'a dyn AnyImplementation, buffers: &'a Buffers) -> Option<Contender<'a>> {
        let verb = if self.seal { Verb::Seal } else { Verb::Open };
        let Self { key_bits, bytes, aad, .. } = self;
        implementation.contender(Work { verb, key_bits, bytes, aad }, buffers)
    }

    /// Returns the contender of a style. It works in place and compares no tag, unlike the library.
    pub(crate) fn by_style(self, style: &AnyStyle) -> Contender<'_> {
        let mut key = style.expand(&[0x5a; 32][..self.key_bits / 8]);
        let (mut text, aad) = (vec![7; self.bytes], vec![0xad; self.aad]);
        Contender::looped(style.name, move |iterations| {
            for _ in 0..iterations {
                black_box(self.once(style, &mut key, &aad, &mut text));
            }
        })
    }

    /// Seals or opens once.
    #[inline(always)]
    pub(crate) fn once(self, style: &AnyStyle, key: &mut message::Key, aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        style.crypt(self.seal, key, &[1; 12], aad, text)
    }
}

/// Returns the style with this name on a back end.
pub(crate) fn style(backend: Backend, name: &str) -> Option<AnyStyle> {
    styles(backend).into_iter().find(|style| style.name == name)
}

/// Returns the median ratio of `old`'s time to `new`'s for each case, or `None` if one of them did not take part.
pub(crate) fn ratios(measured: &[Measured], old: &str, new: &str) -> Vec<Option<f64>> {
    measured.iter().map(|measured| Some(measured.by(new)?.times_faster_than(measured.by(old)?))).collect()
}

/// Returns the head of a table with a column for each size.
pub(crate) fn sizes(sizes: &[usize]) -> Vec<String> {
    ["bytes".into()].into_iter().chain(sizes.iter().map(usize::to_string)).collect()
}

/// Returns the table of times behind a table of ratios: nanoseconds of each contender in each case, the best sample / the median.
pub(crate) fn times(title: impl Into<String>, head: Vec<String>, measured: &[Measured]) -> Table {
    let mut table = Table::new(title, Cells::Timed, head);
    for (at, contender) in measured.first().map_or(&[][..], |case| &case.contenders).iter().enumerate() {
        table.row(&contender.contender, measured.iter().map(|case| best_and_median(&case.contenders[at], 1.0)));
    }
    table
}

/// Returns the cell with the nanoseconds of one of `parts` parts of the work.
pub(crate) fn best_and_median(measurement: &Measurement, parts: f64) -> String {
    let [best, median] = [measurement.best_ns, measurement.median_ns].map(|ns| ns / parts);
    if median < 100.0 { format!("{best:.1} / {median:.1}") } else { format!("{best:.0} / {median:.0}") }
}

/// Returns the cell of a ratio.
pub(crate) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}"))
}

/// Returns the cell of an improvement of throughput, in percent as in the kernel's commits.
pub(crate) fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".into(), |ratio| format!("{}%", (100.0 * (ratio - 1.0)).round() as i64))
}
