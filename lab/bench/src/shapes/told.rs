//! Measures the shapes, all contenders in turn, and tells how far from the middle the slow ones are.

use super::{
    LENGTHS, NONCES, SOME, SPECIALS, Shape, Special,
    call::{Caller, Ground},
    draw,
};
use crate::work::Peer;
use std::{error::Error, fmt::Write, fs, io::IsTerminal, ops::RangeInclusive, path::Path};

/// A shape that takes more than that, in times of the middle of its length, is told by name.
const CLIFF: f64 = 1.25;

/// AAD is data as text is, so shapes are also compared with those that have about as much of it.
const AADS: [RangeInclusive<usize>; 6] = [0..=0, 1..=16, 17..=48, 49..=112, 113..=208, 209..=300];

/// What is asked of the shapes.
#[derive(clap::Args)]
pub(crate) struct Asked {
    /// Of the generator
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many shapes are drawn
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Samples of each shape by each contender, of which the fastest counts; the middle one where a sample is one call
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Of the keys
    #[arg(long, default_value_t = 128)]
    bits: usize,
    /// Only the shape of that number, whose times are told
    #[arg(long)]
    number: Option<usize>,
    /// The processor level, if not the machine's own
    #[arg(long)]
    level: Option<String>,
    /// How many shapes are told by name; shapes.csv has all
    #[arg(long, default_value_t = 40)]
    names: usize,
}

/// What came out: of each shape a time of each contender, or none where it has not got that way.
pub(super) struct Told {
    pub(super) contenders: Vec<String>,
    pub(super) shapes: Vec<Shape>,
    pub(super) times: Vec<Vec<Option<f64>>>,
}

/// Measures, prints, and writes `shapes.csv`. Returns how many shapes there were.
pub(crate) fn run(asked: &Asked, peers: &[Box<dyn Peer>], folder: &Path) -> Result<usize, Box<dyn Error + Send + Sync>> {
    let level = asked.level.clone().or_else(|| Some(peers.first()?.level())).ok_or("nobody is there")?;
    let (mut names, mut callers) = (Vec::new(), Vec::new());
    for peer in peers.iter().filter(|peer| peer.level() == level && !peer.name().ends_with(" again")) {
        let Some(caller) = peer.table().and_then(|table| Caller::new(table, asked.bits, asked.seed)) else { continue };
        names.push(peer.name());
        callers.push(caller);
    }
    let cores = rustix::thread::sched_getaffinity(None)?;
    fastgcm_measure::pin();
    let mut ground = Ground::new(&cores);
    let mut shapes = draw(asked.seed, asked.count);
    if let Some(number) = asked.number {
        shapes.retain(|shape| shape.number == number);
    }
    let mut told = Told { contenders: names, shapes, times: Vec::new() };
    told.times = measure(&told.shapes, &mut callers, &mut ground, asked.rounds);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("shapes.csv"), told.csv())?;
    if asked.number.is_some() {
        println!("{}", told.csv());
    } else {
        print!("AES-{}, {level}, seed {}\n{}", asked.bits, asked.seed, told.tables(asked.names));
    }
    Ok(told.shapes.len())
}

/// Of each shape a time of each contender, who take their samples in turn. A round goes through all shapes: so the samples of a shape are seconds
/// apart, and what disturbs the machine for a while disturbs one of them.
fn measure(shapes: &[Shape], callers: &mut [Caller], ground: &mut Ground, rounds: usize) -> Vec<Vec<Option<f64>>> {
    let mut samples = vec![vec![Vec::new(); callers.len()]; shapes.len()];
    for round in 0..rounds {
        for (shape, samples) in shapes.iter().zip(&mut samples) {
            for turn in 0..callers.len() {
                let which = (turn + round) % callers.len();
                samples[which].extend(ground.sample(&mut callers[which], shape));
            }
        }
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K{} of {rounds} rounds", round + 1);
        }
    }
    eprint!("\r\x1b[K");
    let once = |shape: &Shape| matches!(shape.special, Some(Special::Cold | Special::Forked | Special::OtherCore));
    let time = |shape: &Shape, mut samples: Vec<f64>| part(&mut samples, if once(shape) { 50 } else { 0 });
    let times = |(shape, samples): (&Shape, Vec<Vec<f64>>)| samples.into_iter().map(|samples| time(shape, samples)).collect();
    shapes.iter().zip(samples).map(times).collect()
}

/// What so many of a hundred are at most: 0 is the smallest, 50 the one in the middle.
fn part(values: &mut [f64], percent: usize) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get((values.len() * percent / 100).min(values.len().checked_sub(1)?)).copied()
}

/// The geometric mean.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}

impl Told {
    /// Times of that contender, of the shapes that are wanted.
    fn times(&self, contender: usize, wanted: impl Fn(&Shape) -> bool) -> Vec<f64> {
        let found = self.shapes.iter().zip(&self.times).filter(|(shape, _)| wanted(shape));
        found.filter_map(|(_, times)| times[contender]).collect()
    }

    /// The time in the middle of a length, in group 1.
    fn middle(&self, contender: usize, open: bool, bytes: usize) -> Option<f64> {
        let wanted = |shape: &Shape| shape.special.is_none() && shape.open == open && shape.bytes == bytes;
        part(&mut self.times(contender, wanted), 50)
    }

    /// For each shape and contender: how many times as long as the middle of its length it takes.
    fn ratios(&self) -> Vec<Vec<Option<f64>>> {
        let middles: Vec<Vec<[Option<f64>; 2]>> = LENGTHS
            .iter()
            .map(|&bytes| {
                let both = |contender| [false, true].map(|open| self.middle(contender, open, bytes));
                (0..self.contenders.len()).map(both).collect()
            })
            .collect();
        let ratio = |shape: &Shape, contender: usize, time: Option<f64>| {
            let length = LENGTHS.iter().position(|bytes| *bytes == shape.bytes)?;
            let [seal, open] = middles[length][contender];
            let usual = match (shape.special, shape.open) {
                (Some(Special::Chained), true) => seal? + open?,
                (_, true) => open?,
                (_, false) => seal?,
            };
            Some(time? / usual)
        };
        let of_shape = |(shape, times): (&Shape, &Vec<Option<f64>>)| {
            times.iter().enumerate().map(|(contender, time)| ratio(shape, contender, *time)).collect()
        };
        self.shapes.iter().zip(&self.times).map(of_shape).collect()
    }

    /// A line for each shape: its name, and times and ratios.
    pub(super) fn csv(&self) -> String {
        let (mut text, ratios) = (String::from("shape,special,verb,bytes,aad"), self.ratios());
        self.contenders.iter().for_each(|name| _ = write!(text, ",{name} ns,{name} ratio"));
        text.push('\n');
        let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
        for ((shape, times), ratios) in self.shapes.iter().zip(&self.times).zip(&ratios) {
            let special = shape.special.map_or_else(String::new, |special| special.to_string());
            _ = write!(text, "\"{shape}\",{special},{},{},{}", shape.verb(), shape.bytes, shape.aad);
            times.iter().zip(ratios).for_each(|(time, ratio)| _ = write!(text, ",{},{}", cell(*time), cell(*ratio)));
            text.push('\n');
        }
        text
    }

    pub(super) fn tables(&self, names: usize) -> String {
        let (mut text, ratios) = (String::new(), self.ratios());
        self.lengths(&ratios, &mut text);
        self.ways(&ratios, &mut text);
        self.specials(&ratios, &mut text);
        self.names(&ratios, names, &mut text);
        text
    }

    /// The head of a table, and the line below it.
    fn head(&self, first: &str, text: &mut String) {
        _ = write!(text, "\n| {first} |");
        self.contenders.iter().for_each(|name| _ = write!(text, " {name} |"));
        _ = writeln!(text, "\n|---|{}", "---:|".repeat(self.contenders.len()));
    }

    /// A row: of each contender a cell of the ratios of what is wanted.
    fn row(
        &self,
        name: &str,
        ratios: &[Vec<Option<f64>>],
        wanted: impl Fn(&Shape) -> bool,
        cell: impl Fn(usize, &mut [f64]) -> Option<String>,
        text: &mut String,
    ) {
        _ = write!(text, "| {name} |");
        for contender in 0..self.contenders.len() {
            let mut found: Vec<f64> = self.picked(contender, ratios, &wanted);
            _ = write!(text, " {} |", cell(contender, &mut found).unwrap_or_default());
        }
        text.push('\n');
    }

    fn picked(&self, contender: usize, ratios: &[Vec<Option<f64>>], wanted: impl Fn(&Shape) -> bool) -> Vec<f64> {
        let found = self.shapes.iter().zip(ratios).filter(|(shape, _)| wanted(shape));
        found.filter_map(|(_, ratios)| ratios[contender]).collect()
    }

    /// Times of the shapes that are wanted, in times of the middle of those that have about as much AAD.
    fn alike(&self, contender: usize, wanted: impl Fn(&Shape) -> bool) -> Vec<f64> {
        let of_aad = |aad: RangeInclusive<usize>| {
            let mut times = self.times(contender, |shape| wanted(shape) && aad.contains(&shape.aad));
            let middle = part(&mut times, 50).unwrap_or(f64::NAN);
            times.into_iter().map(move |time| time / middle)
        };
        AADS.into_iter().flat_map(of_aad).collect()
    }

    /// Group 1: at each length, how many times the time in the middle the 95th of a hundred shapes takes.
    fn lengths(&self, ratios: &[Vec<Option<f64>>], text: &mut String) {
        for open in [false, true] {
            let verb = if open { "open" } else { "seal" };
            _ = writeln!(text, "\nGroup 1, {verb}: the 95th percentile over the median (the median, ns)");
            self.head("bytes", text);
            let mut worst = vec![0.0_f64; self.contenders.len()];
            let mut worst_alike = worst.clone();
            for bytes in LENGTHS {
                let wanted = |shape: &Shape| shape.special.is_none() && shape.open == open && shape.bytes == bytes;
                for contender in 0..self.contenders.len() {
                    let most = part(&mut self.picked(contender, ratios, wanted), 95).unwrap_or_default();
                    worst[contender] = worst[contender].max(most);
                    let most = part(&mut self.alike(contender, wanted), 95).unwrap_or_default();
                    worst_alike[contender] = worst_alike[contender].max(most);
                }
                let cell = |contender, found: &mut [f64]| {
                    let middle = self.middle(contender, open, bytes)?;
                    Some(format!("{:.2} ({middle:.1})", part(found, 95)?))
                };
                self.row(&bytes.to_string(), ratios, wanted, cell, text);
            }
            for (name, worst) in [("the worst length", &worst), ("the worst length, with about as much AAD", &worst_alike)] {
                let cell = |contender: usize, _: &mut [f64]| Some(format!("{:.2}", worst[contender]));
                self.row(name, ratios, |_| false, cell, text);
            }
        }
    }

    /// Group 1: what each way costs, whatever else there is about a shape.
    fn ways(&self, ratios: &[Vec<Option<f64>>], text: &mut String) {
        _ = writeln!(text, "\nGroup 1, up to 256 bytes: the median and the 95th percentile of the shapes that are called so");
        self.head("way", text);
        let cell = |_, found: &mut [f64]| Some(format!("{:.2} {:.2}", part(found, 50)?, part(found, 95)?));
        let mut row = |name: &str, wanted: &dyn Fn(&Shape) -> bool| {
            let short = |shape: &Shape| shape.special.is_none() && shape.bytes <= 256 && wanted(shape);
            self.row(name, ratios, short, cell, text);
        };
        row("all", &|_| true);
        for (number, (name, _)) in NONCES.iter().enumerate() {
            row(&format!("nonce {name}"), &|shape| shape.nonce == number);
        }
        for aad in AADS {
            row(&format!("AAD of {} to {}", aad.start(), aad.end()), &|shape| aad.contains(&shape.aad));
        }
        row("in place", &|shape| shape.output.is_none());
        row("from one buffer to another", &|shape| shape.output.is_some());
        for (name, at) in [("input", 0), ("output", 1), ("AAD", 2)] {
            row(&format!("{name} at a page's end"), &|shape| {
                [Some(shape.input), shape.output, Some(shape.aad_at)][at] == Some(super::At::PageEnd)
            });
        }
        for keys in [1, 2, 4, 8, 16, 32, 64] {
            row(&format!("{keys} keys in turn"), &|shape| shape.keys == keys);
        }
    }

    /// Group 2: how many times the middle of group 1.
    fn specials(&self, ratios: &[Vec<Option<f64>>], text: &mut String) {
        _ = writeln!(
            text,
            "\nGroup 2: median and 95th percentile, in times of the median of group 1 at that length (geometric mean of the medians, ns)"
        );
        self.head("special", text);
        let of = |special, open| move |shape: &Shape| shape.special == Some(special) && shape.open == open;
        let rows: Vec<_> = SPECIALS.iter().flat_map(|(special, name)| [false, true].map(|open| (*special, *name, open))).collect();
        for &(special, name, open) in &rows {
            let wanted = of(special, open);
            let cell = |contender: usize, found: &mut [f64]| {
                let time = |bytes: usize| part(&mut self.times(contender, |shape| wanted(shape) && shape.bytes == bytes), 50);
                let mean = mean(SOME.iter().filter_map(|bytes| time(*bytes)));
                Some(format!("{:.2} {:.2} ({mean:.0})", part(found, 50)?, part(found, 95)?))
            };
            let verb = if open { "open" } else { "seal" };
            self.row(&format!("{name}, {verb}"), ratios, wanted, cell, text);
        }
        let cell = |contender: usize, _: &mut [f64]| {
            let [middle, most] = [50, 95].map(|percent| {
                let parts =
                    rows.iter().filter_map(|(special, _, open)| part(&mut self.picked(contender, ratios, of(*special, *open)), percent));
                mean(parts)
            });
            Some(format!("{middle:.2} {most:.2}"))
        };
        self.row("geometric mean", ratios, |_| false, cell, text);
    }

    /// The shapes of group 1 in which the first contender takes too long, the worst first.
    fn names(&self, ratios: &[Vec<Option<f64>>], most: usize, text: &mut String) {
        let first = |ratios: &[Option<f64>]| ratios.first().copied().flatten().unwrap_or_default();
        let mut found: Vec<(&Shape, &Vec<Option<f64>>)> = self.shapes.iter().zip(ratios).collect();
        found.retain(|(shape, _)| shape.special.is_none());
        let all = found.len();
        _ = writeln!(text, "\nGroup 1, shapes of more than {CLIFF} times the median of their length, of {all}:");
        self.head("", text);
        let above = |_, found: &mut [f64]| Some(found.iter().filter(|ratio| **ratio > CLIFF).count().to_string());
        self.row("how many", ratios, |shape| shape.special.is_none(), above, text);
        found.retain(|(_, ratios)| first(ratios) > CLIFF);
        found.sort_by(|one, two| first(two.1).total_cmp(&first(one.1)));
        for (shape, _) in found.into_iter().take(most) {
            let cell = |_, found: &mut [f64]| Some(format!("{:.2}", found.first()?));
            self.row(&shape.to_string(), ratios, |other| other.number == shape.number, cell, text);
        }
    }
}
