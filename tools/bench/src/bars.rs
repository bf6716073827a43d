//! Compares fastgcm with the rivals over ranges of lengths: prints, for each row, the best rival's time as a multiple of fastgcm's. No single
//! length, no single place of key, stack and output, and no other work on the machine decides a number.

use crate::{
    peer::Loaded,
    place::LINES,
    work::{Buffers, Nonces, Place, Verb, Work},
};
use clap::Args;
use fastgcm_measure::{Case, Sampler, median};
use std::{fmt::Write as _, fs, path::Path, time::Duration};

/// The ranges, each with lengths that include its ends.
const RANGES: [(&str, [usize; 8]); 4] = [
    ("16 to 64", [16, 20, 28, 32, 40, 48, 57, 64]),
    ("65 to 256", [65, 80, 100, 128, 144, 192, 230, 256]),
    ("257 to 1420", [257, 320, 400, 512, 700, 1000, 1024, 1420]),
    ("2 to 64 KiB", [2048, 3000, 4096, 6000, 8192, 16_384, 32_768, 65_536]),
];

/// The options of `bars`.
#[derive(Args)]
pub(crate) struct Options {
    /// Processor levels (default: all that have AES instructions)
    #[arg(long, value_delimiter = ',')]
    level: Vec<String>,
    /// Measures these lengths instead of ranges, one column each, and prints the table of README.md
    #[arg(long, value_delimiter = ',')]
    lengths: Vec<usize>,
    /// Key sizes in bits
    #[arg(long, value_delimiter = ',', default_values_t = [128, 256])]
    bits: Vec<usize>,
    /// Bytes of AAD
    #[arg(long, default_value_t = 12)]
    aad: usize,
    /// Where nonces come from
    #[arg(long, value_enum, default_value = "prepared")]
    nonces: Nonces,
    /// Where text and AAD begin
    #[arg(long, value_enum, default_value = "aligned")]
    place: Place,
    /// Samples at each of the 64 places of key, stack and output; the result is a place's lowest eighth
    #[arg(long, default_value_t = 16)]
    samples: usize,
    /// Seed of the places: decides which lines of key, stack and output are combined
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The contenders of a level and their times: for each column, length and contender, nanoseconds.
struct Row<'a> {
    work: Work,
    peers: &'a [&'a Loaded],
    times: Vec<Vec<Vec<f64>>>,
}

/// Prints a table for each level, and writes every time to `bars.csv`.
pub(crate) fn run(options: &Options, peers: &[Loaded], before: &[String], out: &Path) -> std::io::Result<()> {
    let columns: Vec<(String, Vec<usize>)> = if options.lengths.is_empty() {
        RANGES.iter().map(|(name, lengths)| ((*name).to_owned(), lengths.to_vec())).collect()
    } else {
        options.lengths.iter().map(|&len| (len.to_string(), vec![len])).collect()
    };
    let max_len = columns.iter().flat_map(|(_, lengths)| lengths).max().copied().unwrap_or(0);
    let buffers = Buffers::new(max_len, options.seed);
    let mut levels: Vec<&String> = Vec::new();
    for level in peers.iter().map(|peer| &peer.level) {
        let keep = if options.level.is_empty() { !matches!(&**level, "vpaes-ssse3" | "portable") } else { options.level.contains(level) };
        if keep && !levels.contains(&level) {
            levels.push(level);
        }
    }
    let mut csv = String::from("level,key,verb,aad,bytes,contender,ns\n");
    for level in levels {
        let (mut heads, mut cells) = (Vec::new(), vec![Vec::new(); options.lengths.len()]);
        let at_level: Vec<&Loaded> = peers.iter().filter(|peer| peer.level == *level).collect();
        print!("\n{level}, AAD {}: how many times as long as fastgcm\n\n| |", options.aad);
        columns.iter().for_each(|(name, _)| print!(" {name} |"));
        println!("\n|---|{}", "---:|".repeat(columns.len()));
        for &bits in &options.bits {
            for verb in [Verb::Seal, Verb::Open] {
                let Options { aad, nonces, place, .. } = *options;
                let mut work = Work { verb, bits, bytes: 0, aad, nonces, place, cold: false };
                let mut times = Vec::new();
                for (_, lengths) in &columns {
                    times.push(Vec::from_iter(lengths.iter().map(|&bytes| {
                        work.bytes = bytes;
                        let times = measure(&work, &at_level, &buffers, options.samples);
                        for (peer, ns) in at_level.iter().zip(&times) {
                            let _ = writeln!(csv, "{level},{bits},{verb},{aad},{bytes},{},{ns:.2}", peer.name);
                        }
                        times
                    })));
                }
                let row = Row { work, peers: &at_level, times };
                row.print(before);
                heads.push(format!("AES-{bits} {verb}"));
                cells.iter_mut().zip(&row.times).for_each(|(cells, column)| cells.push(row.cell(before, &column[0])));
            }
        }
        if !cells.is_empty() {
            println!("\n| bytes | {} |\n|---:|{}", heads.join(" | "), "---|".repeat(heads.len()));
            options.lengths.iter().zip(cells).for_each(|(len, cells)| println!("| {len} | {} |", cells.join(" | ")));
        }
    }
    fs::create_dir_all(out)?;
    fs::write(out.join("bars.csv"), csv)
}

/// Returns each contender's nanoseconds: the median over all places of a low quantile at each. NaN where it has no such key.
fn measure(work: &Work, peers: &[&Loaded], buffers: &Buffers, samples: usize) -> Vec<f64> {
    let mut contenders: Vec<_> = peers.iter().filter_map(|peer| peer.contender(work, buffers)).collect();
    let sampler = Sampler { sample: Duration::from_micros(3), rounds: LINES * samples..=LINES * samples, budget: Duration::ZERO };
    let measured = sampler.run_over(LINES, Case::new("", ""), &mut contenders);
    let time = |peer: &&Loaded| measured.by(&peer.name).map_or(f64::NAN, |found| median(found.by_place(LINES)));
    peers.iter().map(time).collect()
}

impl Row<'_> {
    /// Returns the geometric mean over a column of `time` as a multiple of ours.
    fn mean(&self, column: &[Vec<f64>], time: impl Fn(&[f64]) -> f64) -> f64 {
        let logs: f64 = column.iter().map(|times| (time(times) / times[0]).ln()).sum();
        (logs / column.len() as f64).exp()
    }

    fn line(&self, name: &str, time: impl Fn(&[f64]) -> f64) {
        let means = self.times.iter().map(|column| self.mean(column, &time));
        let cells: String = means.map(|mean| format!(" {mean:.3} |")).collect();
        println!("| AES-{} {}, {name} |{cells}", self.work.bits, self.work.verb);
    }

    /// Returns the positions of the rivals: all but the builds of fastgcm.
    fn rivals(&self, before: &[String]) -> Vec<usize> {
        let is_ours = |name: &str| {
            name.starts_with("fastgcm ")
                || before.iter().any(|build| name.strip_prefix(build.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
        };
        Vec::from_iter((0..self.peers.len()).filter(|&at| !is_ours(&self.peers[at].name)))
    }

    /// Returns a cell of the table of lengths: our nanoseconds, the best rival's time as a multiple, and its name.
    fn cell(&self, before: &[String], times: &[f64]) -> String {
        let ours = if times[0] < 1000.0 { format!("{:.1}", times[0]) } else { format!("{:.0}", times[0]) };
        let best =
            self.rivals(before).into_iter().filter(|&at| !times[at].is_nan()).min_by(|&one, &other| times[one].total_cmp(&times[other]));
        best.map_or(ours.clone(), |best| format!("{ours} {:.2} {}", times[best] / times[0], self.peers[best].name))
    }

    /// Prints the best rival at each length first, then each contender.
    fn print(&self, before: &[String]) {
        let rivals = self.rivals(before);
        if !rivals.is_empty() {
            self.line("**best rival**", |times| rivals.iter().map(|&at| times[at]).fold(f64::INFINITY, f64::min));
        }
        for (at, peer) in self.peers.iter().enumerate().skip(1) {
            self.line(&peer.name, |times| times[at]);
        }
        if self.times.iter().all(|column| column.len() == 1) {
            let cells: String = self.times.iter().map(|column| format!(" {:.1} |", column[0][0])).collect();
            println!("| AES-{} {}, fastgcm, ns |{cells}", self.work.bits, self.work.verb);
        }
    }
}
