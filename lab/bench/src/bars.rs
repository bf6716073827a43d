//! Whether we are ahead: for ranges of lengths and each row of ours, how many times as long as ours the best rival takes. No single length decides
//! a number, no single place of key, stack and output, and no other work beside it.

use crate::{
    place::LINES,
    work::{Buffers, Nonces, Peer, Place, Verb, Work},
};
use clap::Args;
use fastgcm_measure::{Sampler, median};
use std::{fmt::Write as _, fs, path::Path, time::Duration};

/// A range, and lengths all over it, its ends among them.
const RANGES: [(&str, [usize; 8]); 4] = [
    ("16 to 64", [16, 20, 28, 32, 40, 48, 57, 64]),
    ("65 to 256", [65, 80, 100, 128, 144, 192, 230, 256]),
    ("257 to 1420", [257, 320, 400, 512, 700, 1000, 1024, 1420]),
    ("2 to 64 KiB", [2048, 3000, 4096, 6000, 8192, 16_384, 32_768, 65_536]),
];

#[derive(Args)]
pub(crate) struct Asked {
    /// The processor levels, if not all that have AES instructions
    #[arg(long, value_delimiter = ',')]
    level: Vec<String>,
    /// Lengths in place of ranges: a column for each, and at the end the table of README.md
    #[arg(long, value_delimiter = ',')]
    lengths: Vec<usize>,
    /// Key sizes in bits
    #[arg(long, value_delimiter = ',', default_values_t = [128, 256])]
    bits: Vec<usize>,
    /// Bytes of AAD
    #[arg(long, default_value_t = 12)]
    aad: usize,
    /// Samples at each of the 64 places of key, stack and output, of which an eighth are below what is told
    #[arg(long, default_value_t = 16)]
    samples: usize,
    /// Which lines of key, stack and output are at one place
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Who takes part at a level, and their times: for each column, length and contender, nanoseconds.
struct Row<'a> {
    work: &'a Work,
    peers: &'a [&'a dyn Peer],
    times: Vec<Vec<Vec<f64>>>,
}

/// Prints a table for each level, and writes every time to `bars.csv`. Returns how many cases were measured.
pub(crate) fn run(asked: &Asked, peers: &[Box<dyn Peer>], others: &[String], out: &Path) -> std::io::Result<usize> {
    fastgcm_measure::pin();
    let columns: Vec<(String, Vec<usize>)> = if asked.lengths.is_empty() {
        RANGES.iter().map(|(name, lengths)| ((*name).to_owned(), lengths.to_vec())).collect()
    } else {
        asked.lengths.iter().map(|&len| (len.to_string(), vec![len])).collect()
    };
    let most = columns.iter().flat_map(|(_, lengths)| lengths).max().copied().unwrap_or(0);
    let (buffers, mut cases) = (Buffers::new(most, asked.seed), 0);
    let mut levels: Vec<String> = Vec::new();
    for level in peers.iter().map(|peer| peer.level()) {
        let wanted = if asked.level.is_empty() { !matches!(&*level, "vpaes-ssse3" | "portable") } else { asked.level.contains(&level) };
        if wanted && !levels.contains(&level) {
            levels.push(level);
        }
    }
    let mut csv = String::from("level,key,verb,aad,bytes,contender,ns\n");
    for level in levels {
        let (mut heads, mut cells) = (Vec::new(), vec![Vec::new(); asked.lengths.len()]);
        let here: Vec<&dyn Peer> =
            peers.iter().filter(|peer| peer.level() == level && peer.table().is_some()).map(|peer| &**peer).collect();
        print!("\n{level}, AAD {}: how many times as long as fastgcm\n\n| |", asked.aad);
        columns.iter().for_each(|(name, _)| print!(" {name} |"));
        println!("\n|---|{}", "---:|".repeat(columns.len()));
        for &bits in &asked.bits {
            for verb in [Verb::Seal, Verb::Open] {
                let (nonces, place) = (Nonces::Prepared, Place::Aligned);
                let mut work =
                    Work { level: level.clone(), verb, bits, bytes: 0, aad: asked.aad, nonces, in_place: false, place, cold: false };
                let mut times = Vec::new();
                for (_, lengths) in &columns {
                    times.push(Vec::from_iter(lengths.iter().map(|&bytes| {
                        work.bytes = bytes;
                        cases += 1;
                        let times = measure(&work, &here, &buffers, asked.samples);
                        for (peer, ns) in here.iter().zip(&times) {
                            let _ = writeln!(csv, "{level},{bits},{verb},{},{bytes},{},{ns:.2}", asked.aad, peer.name());
                        }
                        times
                    })));
                }
                let row = Row { work: &work, peers: &here, times };
                row.print(others);
                heads.push(format!("AES-{bits} {verb}"));
                cells.iter_mut().zip(&row.times).for_each(|(cells, column)| cells.push(row.beside_the_best(others, &column[0])));
            }
        }
        if !cells.is_empty() {
            println!("\n| bytes | {} |\n|---:|{}", heads.join(" | "), "---|".repeat(heads.len()));
            asked.lengths.iter().zip(cells).for_each(|(len, cells)| println!("| {len} | {} |", cells.join(" | ")));
        }
    }
    fs::create_dir_all(out)?;
    fs::write(out.join("bars.csv"), csv)?;
    Ok(cases)
}

/// Nanoseconds that each of them takes: the median over all places of a low quantile at each. Not a number where it has no such key.
fn measure(work: &Work, peers: &[&dyn Peer], buffers: &Buffers, samples: usize) -> Vec<f64> {
    let mut contenders: Vec<_> = peers.iter().filter_map(|peer| peer.contender(&peer.name(), work, buffers)).collect();
    let sampler = Sampler { sample: Duration::from_micros(3), rounds: LINES * samples..=LINES * samples, budget: Duration::ZERO };
    let measured = sampler.run_over(LINES, work.case(), &mut contenders, &mut |_| ());
    let time = |peer: &&dyn Peer| measured.by(&peer.name()).map_or(f64::NAN, |found| median(found.by_place(LINES)));
    peers.iter().map(time).collect()
}

impl Row<'_> {
    /// Of each column, the geometric mean of how many times as long as ours that takes.
    fn mean(&self, column: &[Vec<f64>], of: impl Fn(&[f64]) -> f64) -> f64 {
        let logs: f64 = column.iter().map(|times| (of(times) / times[0]).ln()).sum();
        (logs / column.len() as f64).exp()
    }

    fn line(&self, name: &str, of: impl Fn(&[f64]) -> f64) {
        let means = self.times.iter().map(|column| self.mean(column, &of));
        let cells: String = means.map(|mean| format!(" {mean:.3} |")).collect();
        println!("| AES-{} {}, {name} |{cells}", self.work.bits, self.work.verb);
    }

    /// Which of them are not ours.
    fn rivals(&self, others: &[String]) -> Vec<usize> {
        let is_ours = |name: &str| {
            name.starts_with("fastgcm ")
                || others.iter().any(|other| name.strip_prefix(other.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
        };
        Vec::from_iter((0..self.peers.len()).filter(|&at| !is_ours(&self.peers[at].name())))
    }

    /// A cell of the table of lengths: our nanoseconds, how many times as long the best rival takes, and its name.
    fn beside_the_best(&self, others: &[String], times: &[f64]) -> String {
        let ours = if times[0] < 1000.0 { format!("{:.1}", times[0]) } else { format!("{:.0}", times[0]) };
        let best =
            self.rivals(others).into_iter().filter(|&at| !times[at].is_nan()).min_by(|&one, &other| times[one].total_cmp(&times[other]));
        best.map_or(ours.clone(), |best| format!("{ours} {:.2} {}", times[best] / times[0], self.peers[best].name()))
    }

    /// First what decides, the best rival at each length; then each contender.
    fn print(&self, others: &[String]) {
        let rivals = self.rivals(others);
        if !rivals.is_empty() {
            self.line("**best rival**", |times| rivals.iter().map(|&at| times[at]).fold(f64::INFINITY, f64::min));
        }
        for (at, peer) in self.peers.iter().enumerate().skip(1) {
            self.line(&peer.name(), |times| times[at]);
        }
        if self.times.iter().all(|column| column.len() == 1) {
            let cells: String = self.times.iter().map(|column| format!(" {:.1} |", column[0][0])).collect();
            println!("| AES-{} {}, fastgcm, ns |{cells}", self.work.bits, self.work.verb);
        }
    }
}
