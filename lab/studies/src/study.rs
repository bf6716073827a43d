//! One module for each paper: its own table beside the same one measured here. `fastgcm-study study NAME` shows them.

mod aesni_2024;
mod arm64_2019;
mod ghash_2023;
mod packed_2010;
mod report;
mod size;
mod solaris_2010;
#[cfg(test)]
mod tests;

pub use report::{Paper, Report, Series, Table};

use crate::message::{AnyStyle, styles};
use fastgcm::{Backend, Key, Tag};
use fastgcm_measure::{
    Case, Contender, Machine, Measured, Measurement, Sampler,
    aead::{self, AnyImplementation, Buffers, NonceFrom, Verb, Work},
};
use std::{cell::RefCell, path::Path, time::Duration};

/// The names of the studies, in the order of their papers.
pub const NAMES: [&str; 5] = ["solaris-2010", "packed-2010", "arm64-2019", "ghash-2023", "aesni-2024"];

/// Their papers, in that order. Where nobody keeps one at a lasting address the link asks for its title.
const PAPERS: [Paper; 5] = [
    Paper {
        title: "D. Anderson, \"Carryless Multiplication Optimization for AES GCM Mode in Solaris\", 2010",
        link: "https://duckduckgo.com/?q=%22Carryless+Multiplication+Optimization+for+AES+GCM+Mode+in+Solaris%22",
        claim: "with PCLMULQDQ AES-GCM has 221 to 230 % more throughput than without, with one to four threads.",
    },
    Paper {
        title: "K. Jankowski and P. Laurent, \"Packed AES-GCM Algorithm Suitable for AES/PCLMULQDQ Instructions\", IEEE Transactions on Computers, 2010",
        link: "https://doi.org/10.1109/TC.2010.147",
        claim: "with one reduction for four blocks a message takes 1.9 times fewer instructions.",
    },
    Paper {
        title: "A. Biesheuvel, \"crypto: arm64/gcm-aes-ce - implement 4 way interleave\", Linux, 2019",
        link: "https://lore.kernel.org/all/?q=%22arm64%2Fgcm-aes-ce+-+implement+4+way+interleave%22",
        claim: "four blocks at once and a tail without branches make long messages up to 35 % faster.",
    },
    Paper {
        title: "E. Ozturk, T. Kantecki and K. Yap, \"Advanced Encryption Standard Galois Counter Mode - Optimized GHASH Function\", Intel, 2023",
        link: "https://duckduckgo.com/?q=%22Advanced+Encryption+Standard+Galois+Counter+Mode%22+%22Optimized+GHASH+Function%22+Intel",
        claim: "a block multiplied and reduced takes 10 instructions instead of 18, and messages are up to 1.43 times as fast.",
    },
    Paper {
        title: "E. Biggers, \"crypto: x86/aes-gcm - rewrite the AES-NI optimized AES-GCM\", Linux, 2024",
        link: "https://git.kernel.org/linus/e6e758fa",
        claim: "the new code has 1 to 55 % more throughput than that of 2010 to 2013, most with short messages.",
    },
];

/// Whether what the paper's lines of the chart show is so here, too. What speaks is the paper's technique: lines of other libraries beside ours have other names.
fn verdict(report: &Report) -> String {
    let range = |is: fn(&str) -> bool| {
        let values = || gains(report, is).into_iter();
        Some((values().min_by(f64::total_cmp)?, values().max_by(f64::total_cmp)?))
    };
    let is_theirs = |name: &str| name.starts_with("paper") || name == "post";
    let (Some(theirs), Some(ours)) = (range(is_theirs), range(|name| name.starts_with("here") || name == "ours")) else {
        return "There is no verdict: this run has measured nothing that stands beside the paper's figures.".into();
    };
    let word = match ours {
        (least, _) if least > 1.0 => "Confirmed on this processor",
        (_, most) if most > 1.0 => "Confirmed on this processor in part",
        _ => "Not confirmed on this processor",
    };
    let what = if report.name == "packed-2010" { "times fewer instructions" } else { "times as fast" };
    format!("{word}: {:.2} to {:.2} {what} here, {:.2} to {:.2} in the paper.", ours.0, ours.1, theirs.0, theirs.1)
}

/// How many times better the new way is, at each point of the lines of that kind. Of packed-2010 two lines make one: the old way's, and the new one's.
fn gains(report: &Report, is: fn(&str) -> bool) -> Vec<f64> {
    let lines: Vec<&Series> = report.chart.iter().filter(|line| is(&line.name)).collect();
    match &lines[..] {
        [old, new, ..] if report.name == "packed-2010" => old.points.iter().zip(&new.points).map(|(old, new)| old.1 / new.1).collect(),
        lines => lines.iter().flat_map(|line| &line.points).map(|point| point.1).collect(),
    }
}

/// Counts executed instructions between markers of [`probe`] with these arguments.
pub type Steps = dyn Fn(&[String]) -> Result<Vec<u64>, String>;

/// Measures the contenders of a case, and tells which part of the case is done, from 0 to 1.
pub type Measure<'a> = dyn Fn(Case, &mut [Contender<'_>], &mut dyn FnMut(f64)) -> Measured + 'a;

/// Measures by the clock: at a glance, or for half a second a case.
pub fn by_clock(quick: bool) -> impl Fn(Case, &mut [Contender<'_>], &mut dyn FnMut(f64)) -> Measured {
    let (rounds, budget) = if quick { (3..=10, Duration::from_millis(20)) } else { (20..=400, Duration::from_millis(500)) };
    let sampler = Sampler { rounds, budget, ..Sampler::default() };
    move |case, contenders, progress| sampler.run(case, contenders, progress)
}

/// What a study may use.
pub struct Bench<'a> {
    /// A glance: few samples.
    pub quick: bool,
    /// Measures: [`by_clock`].
    pub measure: &'a Measure<'a>,
    /// Implementations of others, those that are there, each at its best on this processor.
    pub peers: Vec<&'a dyn AnyImplementation>,
    /// The same, held to instructions that this back end of ours has too.
    pub held: Vec<(Backend, &'a dyn AnyImplementation)>,
    /// Linux before and after 2024, where it has been fetched.
    pub linux: Option<Linux<'a>>,
    /// The library as OpenSSL's provider.
    pub provider: Option<&'a dyn AnyImplementation>,
    /// [`Library`] at its best, built with feature `scrub`, which this build has not.
    pub scrubbed: Option<&'a dyn AnyImplementation>,
    /// Brings other data and other code into the caches, where that can be done.
    pub cold: Option<&'a dyn Fn()>,
    /// Executed instructions of [`probe`] with these arguments, if this machine can be stepped.
    pub steps: Option<&'a Steps>,
    /// Is told which part of the study is done, from 0 to 1, and what is in hand.
    pub progress: &'a dyn Fn(f64, &str),
}

/// The kernel's code, in a program.
pub struct Linux<'a> {
    /// The sources, and what they are assembled to: what `linux.sh` has put there.
    pub folder: &'a Path,
    /// What the kernel chose for each length before.
    pub old: &'a dyn AnyImplementation,
    /// And since, each beside the back end of ours that has the instructions of that level.
    pub new: Vec<(Backend, &'a dyn AnyImplementation)>,
}

impl<'a> Linux<'a> {
    fn all(&self) -> impl Iterator<Item = &'a dyn AnyImplementation> {
        [self.old].into_iter().chain(self.new.iter().map(|(_, new)| *new))
    }
}

impl std::fmt::Debug for Linux<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Linux").field(&self.folder).finish()
    }
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("quick", &self.quick).finish_non_exhaustive()
    }
}

/// Does the study of that name.
///
/// # Errors
/// If there is none, or if the program could not be stepped.
pub fn run(name: &str, bench: &Bench<'_>, machine: Machine) -> Result<Report, String> {
    let known = NAMES.into_iter().zip(PAPERS).find(|known| known.0 == name);
    let (known, paper) = known.ok_or_else(|| format!("no study is named {name}: {}", NAMES.join(", ")))?;
    let mut report = Report::new(known, paper, machine);
    match known {
        "solaris-2010" => solaris_2010::run(bench, &mut report),
        "packed-2010" => packed_2010::run(bench, &mut report)?,
        "arm64-2019" => arm64_2019::run(bench, &mut report)?,
        "ghash-2023" => ghash_2023::run(bench, &mut report),
        _ => aesni_2024::run(bench, &mut report),
    }
    // What is counted is as sure at a glance.
    let is_glance = bench.quick && known != "packed-2010";
    report.verdict =
        if is_glance { "There is no verdict: a glance (--quick) has too few samples for one.".into() } else { verdict(&report) };
    Ok(report)
}

/// The part of this program that is stepped through: each style in turn seals each length, between two calls of `marker`. The arguments are the
/// back end, the key's bytes, the AAD's, then `STYLE:LENGTH`. Returns the tags and the ciphertexts; `None` if it cannot.
pub fn probe(arguments: &[String], marker: &dyn Fn()) -> Option<Vec<([u8; 16], Vec<u8>)>> {
    let [backend, key, aad, cases @ ..] = arguments else { return None };
    let (backend, key, aad): (Backend, usize, usize) = (backend.parse().ok()?, key.parse().ok()?, aad.parse().ok()?);
    let (bytes, aad) = ([1; 32], vec![2; aad]);
    let mut sealed = Vec::new();
    for case in cases {
        let (name, length) = case.rsplit_once(':')?;
        let mut text = vec![3; length.parse().ok()?];
        let style = style(backend, name)?;
        let mut key = style.expand(bytes.get(..key)?)?;
        marker();
        let tag = style.crypt(true, &mut key, &[4; 12], &aad, &mut text);
        marker();
        sealed.push((tag, text));
    }
    Some(sealed)
}

impl Bench<'_> {
    /// Samples of all contenders in turn, as number `at` of `of` cases.
    fn measure(&self, case: Case, (at, of): (usize, usize), contenders: &mut [Contender<'_>]) -> Measured {
        let name = case.name.clone();
        (self.progress)(at as f64 / of as f64, &name);
        (self.measure)(case, contenders, &mut |part| (self.progress)((at as f64 + part) / of as f64, &name))
    }

    fn steps(&self, arguments: &[String]) -> Result<Option<Vec<u64>>, String> {
        self.steps.map(|steps| steps(arguments)).transpose()
    }
}

/// The back end of this machine that is best for vectors of one block: what the papers of before 2023 are about.
fn one_block() -> Backend {
    let narrow = |backend: &Backend| !backend.name().starts_with("vaes");
    Backend::available().find(narrow).unwrap_or(Backend::Portable)
}

/// The library's own back end, as one of those that are compared.
#[derive(Clone, Debug)]
pub struct Library {
    /// Which.
    pub backend: Backend,
    /// What it is called.
    pub name: String,
}

impl From<Backend> for Library {
    fn from(backend: Backend) -> Self {
        Self { backend, name: format!("fastgcm {backend}") }
    }
}

/// A key as a caller has it, by value. (In a box, to be derived in place, making one takes 90 ns more: that much costs the heap.)
#[derive(Debug)]
pub struct LibraryKey(Key);

impl aead::Implementation for Library {
    type Key = LibraryKey;

    fn name(&self) -> String {
        self.name.clone()
    }

    fn key(&self, key: &[u8]) -> Option<LibraryKey> {
        Key::with_backend(key, self.backend).ok().map(LibraryKey)
    }
}

impl aead::Key for LibraryKey {
    #[inline(always)]
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        // Nothing that is measured is too long; if it were, the answers would have differed.
        self.0.seal(nonce, aad, text).map_or([0; 16], |tag| tag.0)
    }

    #[inline(always)]
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.0.open_detached_to(nonce, aad, ciphertext, text, &Tag(*tag)).is_ok()
    }
}

/// What is done in one case: seal or open so many bytes.
#[derive(Clone, Copy)]
struct Message {
    seal: bool,
    key_bits: usize,
    bytes: usize,
    aad: usize,
}

impl Message {
    fn case(self) -> Case {
        let verb = if self.seal { "seal" } else { "open" };
        Case::of_bytes(format!("AES-{} {verb}, {} bytes of AAD", self.key_bits, self.aad), self.bytes as u64)
    }

    /// Anything that seals and opens, after it has shown elsewhere that its answers are right.
    fn by<'a>(self, implementation: &'a dyn AnyImplementation, buffers: &'a Buffers) -> Option<Contender<'a>> {
        let verb = if self.seal { Verb::Seal } else { Verb::Open };
        let Self { key_bits, bytes, aad, .. } = self;
        implementation.contender(Work { verb, key_bits, bytes, aad, nonce: NonceFrom::Prepared }, buffers)
    }

    /// A style. It opens in place, whatever stands there, and gives a tag that nobody compares: one comparison less than the library does.
    fn by_style<'a>(self, style: &'a dyn AnyStyle, name: String) -> Option<Contender<'a>> {
        let mut key = style.expand(&[0x5a; 32][..self.key_bits / 8])?;
        let (text, aad) = (RefCell::new(vec![7; self.bytes]), vec![0xad; self.aad]);
        Some(Contender::looped(name, move |iterations| {
            let mut text = text.borrow_mut();
            for _ in 0..iterations {
                std::hint::black_box(style.crypt(self.seal, &mut key, &[1; 12], &aad, &mut text));
            }
        }))
    }
}

/// The style of that name on a back end.
fn style(backend: Backend, name: &str) -> Option<Box<dyn AnyStyle>> {
    styles(backend).into_iter().find(|style| style.name() == name)
}

/// How many times the time of `new` that of `old` is: medians, or `None` if one of them did not take part.
fn ratio(measured: &Measured, old: &str, new: &str) -> Option<f64> {
    Some(measured.by(new)?.times_faster_than(measured.by(old)?))
}

/// The spread behind a table of ratios: nanoseconds of each contender in each case, the best sample and the one in the middle.
fn spread(title: String, head: impl IntoIterator<Item = String>, measured: &[Measured]) -> Table {
    let mut table = Table::new(title, head);
    for (at, contender) in measured.first().map_or(&[][..], |case| &case.contenders).iter().enumerate() {
        table.row(&contender.contender, measured.iter().map(|case| best_and_median(&case.contenders[at], 1.0)));
    }
    table.note("Nanoseconds: the best sample / the sample in the middle. Ratios elsewhere are medians of the ratios within each round.");
    table
}

/// For a cell: nanoseconds of one of so many parts of the work.
fn best_and_median(measurement: &Measurement, parts: f64) -> String {
    let [best, median] = [measurement.best_ns, measurement.median_ns].map(|ns| ns / parts);
    if median < 100.0 { format!("{best:.1} / {median:.1}") } else { format!("{best:.0} / {median:.0}") }
}

/// For a cell.
fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".into(), |ratio| format!("{ratio:.2}"))
}

/// An improvement of throughput, as kernel developers write it.
fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".into(), |ratio| format!("{}%", (100.0 * (ratio - 1.0)).round() as i64))
}
