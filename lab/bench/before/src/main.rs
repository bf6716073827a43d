//! Two commits of the library in one process, in turn: how long the new one takes, in times of the old one. `before.sh` builds it for two orders
//! in which the linker sees them, and README.md says what it measures.

#[path = "../../src/cold.rs"]
mod cold;
mod new;
mod old;

use fastgcm_measure::{Case, Contender, Machine, Sampler, pin};
use std::{cell::RefCell, env, error::Error, fs, time::Duration};

/// So many calls, and how long they took.
pub(crate) type Call<'a> = Box<dyn FnMut(u64) -> Duration + 'a>;

/// Places of a page that a key has in turn: what is stored to the text may have the low address bits of one of them.
pub(crate) const PLACES: usize = 8;
pub(crate) const KEY: &[u8; 32] = &[0x5a; 32];
const KEYS: [&[u8]; 3] = [KEY.first_chunk::<16>().unwrap(), KEY.first_chunk::<24>().unwrap(), KEY];
const MIB: usize = 1 << 20;

/// What both libraries read and write.
pub(crate) struct Buffers {
    pub(crate) from: RefCell<Bytes>,
    pub(crate) to: RefCell<Bytes>,
    pub(crate) aad: Bytes,
}

/// They begin so many bytes behind the beginning of a page.
pub(crate) struct Bytes(Vec<u8>, usize);

impl Bytes {
    fn new(len: usize, after_page: usize) -> Self {
        let bytes = vec![0x77; len + 8192];
        let start = bytes.as_ptr().addr().wrapping_neg() % 4096 + after_page;
        Self(bytes, start)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len() - 8192
    }

    pub(crate) fn first(&self, len: usize) -> &[u8] {
        &self.0[self.1..][..len]
    }

    pub(crate) fn first_mut(&mut self, len: usize) -> &mut [u8] {
        &mut self.0[self.1..][..len]
    }
}

/// Lengths of texts, by range.
const RANGES: [(&str, &[usize]); 8] = [
    ("0-16", &[0, 1, 4, 8, 12, 13, 15, 16]),
    ("17-64", &[17, 24, 31, 32, 40, 48, 57, 64]),
    ("65-128", &[65, 72, 80, 96, 100, 112, 120, 128]),
    ("129-256", &[129, 144, 160, 192, 200, 224, 250, 256]),
    ("257-512", &[257, 272, 300, 320, 384, 400, 448, 512]),
    ("513-1420", &[513, 560, 640, 768, 1000, 1024, 1280, 1420]),
    ("1421-4096", &[1421, 1500, 1600, 2048, 2500, 3000, 3500, 4096]),
    ("4 KiB-1 MiB", &[4112, 5000, 8192, 12_288, 16_384, 65_536, 262_144, MIB]),
];
const MUCH_AAD: [usize; 7] = [49, 64, 96, 128, 200, 320, 576];
const SHORT_TEXTS: [usize; 5] = [0, 16, 64, 100, 256];

/// A verb, its packets, pieces or nonces, and its lengths.
type Verb = (&'static str, &'static [usize], &'static [usize]);
const LENGTHS: &[usize] = &[16, 64, 256, 1420, 16_384];
const PIECES: &[usize] = &[16, 64, 1024, 65_536];
const VERBS: [Verb; 23] = [
    ("key", &[0], &[0]),
    ("seal_once", &[0], LENGTHS),
    ("open_once", &[0], LENGTHS),
    ("seal_batch", &[4, 8, 64], &[16, 64, 128, 256, 1420]),
    ("open_batch", &[4, 8, 64], &[16, 64, 128, 256, 1420]),
    ("siv seal", &[0], LENGTHS),
    ("siv open", &[0], LENGTHS),
    ("xaes seal", &[0], LENGTHS),
    ("xaes open", &[0], LENGTHS),
    ("gmac", &[0], LENGTHS),
    ("lists seal", &[4], &[300, 1420, 5000, 9000, 16_384, 65_536]),
    ("lists open", &[4], &[300, 1420, 5000, 9000, 16_384, 65_536]),
    ("lists in place", &[3], &[300, 1420, 5000, 16_384, 65_536]),
    ("parts", &[0], &[1420, 16_384, MIB]),
    ("parallel", &[0], &[16_384, MIB]),
    ("verified first", &[0], LENGTHS),
    ("nonce seal", &[13, 16], LENGTHS),
    ("nonce open", &[13, 16], LENGTHS),
    (ONE_CALL, &[0], &[MIB]),
    ("Sealer", PIECES, &[MIB]),
    ("Pieces seal", PIECES, &[MIB]),
    ("Pieces open", PIECES, &[MIB]),
    ("AAD in pieces", &[1, 16, 100], &[100, 4096]),
];
const ONE_CALL: &str = "one call";

/// What was asked for.
struct Wanted {
    sampler: Sampler,
    cold: usize,
    only: String,
    buffers: Buffers,
}

impl Wanted {
    /// Low quantiles of both: what the code costs when little disturbs it.
    fn compare(&self, old: Call<'_>, new: Call<'_>) -> [f64; 2] {
        let mut both = [Contender::timed("old", old), Contender::timed("new", new)];
        let measured = self.sampler.run(Case::new("", ""), &mut both, &mut |_| ());
        [0, 1].map(|which| quantile(&measured.contenders[which].samples_ns, 0.1))
    }

    fn tell(&self, backend: &str, group: &str, cell: &str, measure: impl FnOnce() -> [f64; 2]) {
        if self.only.is_empty() || group.contains(&self.only) || cell.contains(&self.only) {
            let [old, new] = measure();
            println!("{backend}\t{group}\t{cell}\t{old:.3}\t{new:.3}");
        }
    }

    fn messages(&self, backend: &str) {
        for key in KEYS {
            let (old, new) = (old::calls::Library::new(backend, key), new::calls::Library::new(backend, key));
            for (verb, seal) in [("seal", true), ("open", false)] {
                let cell = |range: &str, aad: usize, len: usize| {
                    let name = format!("AES-{}, AAD {aad}, {len} B", 8 * key.len());
                    self.tell(backend, &format!("{range} {verb}"), &name, || {
                        let times: [[f64; 2]; PLACES] = std::array::from_fn(|place| {
                            let one = old.message(place, seal, aad, len, &self.buffers);
                            self.compare(one, new.message(place, seal, aad, len, &self.buffers))
                        });
                        [0, 1].map(|which| geomean(&times.map(|time| time[which])))
                    });
                };
                for (range, lengths) in RANGES {
                    lengths.iter().for_each(|len| [0, 13].into_iter().for_each(|aad| cell(range, aad, *len)));
                }
                MUCH_AAD.into_iter().for_each(|aad| SHORT_TEXTS.into_iter().for_each(|len| cell("AAD 49-576", aad, len)));
            }
        }
    }

    /// Each message after other data and other code, timed alone: medians. Which page table and which set of a cache a key has counts there, so each
    /// library has keys before and behind those of the other one.
    fn cold(&self, backend: &str) {
        let others = cold::Others::new();
        for key in [KEYS[0], KEYS[2]] {
            let (old, new) = (old::calls::Library::new(backend, key), new::calls::Library::new(backend, key));
            let (new2, old2) = (new::calls::Library::new(backend, key), old::calls::Library::new(backend, key));
            let pairs = [(old, new), (old2, new2)];
            for (verb, seal) in [("seal", true), ("open", false)] {
                for len in [256, 300, 512, 768, 1024, 1420, 2048, 4096] {
                    self.tell(backend, &format!("cold {verb}"), &format!("AES-{}, {len} B", 8 * key.len()), || {
                        let each = pairs.iter().flat_map(|pair| (0..PLACES).map(move |place| (pair, place)));
                        let mut calls = Vec::from_iter(each.map(|((old, new), place)| -> [Call<'_>; 2] {
                            let buffers = &self.buffers;
                            [old.message(place, seal, 13, len, buffers), new.message(place, seal, 13, len, buffers)]
                        }));
                        let mut samples = [Vec::new(), Vec::new()];
                        for round in 0..self.cold {
                            for which in if (round / PLACES).is_multiple_of(2) { [0, 1] } else { [1, 0] } {
                                others.before(|| ());
                                samples[which].push(calls[round * 5 % (2 * PLACES)][which](1).as_nanos() as f64);
                            }
                        }
                        samples.map(|samples| quantile(&samples, 0.5))
                    });
                }
            }
        }
    }

    fn verbs(&self, backend: &str) {
        for key in [KEYS[0], KEYS[2]] {
            let (old, new) = (old::calls::Library::new(backend, key), new::calls::Library::new(backend, key));
            for (verb, counts, lengths) in VERBS {
                for (count, len) in counts.iter().flat_map(|count| lengths.iter().map(|len| (*count, *len))) {
                    self.tell(backend, verb, &format!("AES-{}, {count}, {len} B", 8 * key.len()), || {
                        self.compare(old.verb(verb, count, len, &self.buffers), new.verb(verb, count, len, &self.buffers))
                    });
                }
            }
        }
    }
}

fn quantile(samples: &[f64], part: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

fn geomean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// What was measured: old and new, of each run.
struct Cell {
    /// Back end and group.
    group: [String; 2],
    name: String,
    times: Vec<[f64; 2]>,
}

impl Cell {
    /// The median of the runs; of two, their mean.
    fn ratio(&self) -> f64 {
        let mut ratios = Vec::from_iter(self.times.iter().map(|[old, new]| new / old));
        ratios.sort_by(f64::total_cmp);
        geomean(&ratios[(ratios.len() - 1) / 2..=ratios.len() / 2])
    }
}

/// What the runs told, whose cells are the same ones.
fn read(files: &[String]) -> Result<Vec<Cell>, Box<dyn Error>> {
    let mut cells: Vec<Cell> = Vec::new();
    for (order, file) in files.iter().enumerate() {
        for (at, line) in fs::read_to_string(file)?.lines().enumerate() {
            let [backend, group, name, old, new] = Vec::from_iter(line.split('\t'))[..] else { return Err(line.into()) };
            if order == 0 {
                cells.push(Cell { group: [backend, group].map(str::to_owned), name: name.to_owned(), times: Vec::new() });
            }
            let cell = cells.get_mut(at).filter(|cell| cell.name == name && cell.group == [backend, group]);
            cell.ok_or("these runs have other cells")?.times.push([old.parse()?, new.parse()?]);
        }
    }
    Ok(cells)
}

/// New by old: of each group, of all, of the worst group.
fn report(files: &[String]) -> Result<(), Box<dyn Error>> {
    let cells = read(files)?;
    println!("{}", Machine::here("").processor);
    for backend in unique(&cells, 0) {
        println!("\n{backend:28} median  geomean  (by run)  worst cell");
        let (mut all, mut means) = (Vec::new(), Vec::new());
        for group in unique(&cells, 1) {
            let cells = Vec::from_iter(cells.iter().filter(|cell| cell.group == [backend, group]));
            let ratios = Vec::from_iter(cells.iter().map(|cell| cell.ratio()));
            let (mean, median) = (geomean(&ratios), quantile(&ratios, 0.5));
            let by_order = Vec::from_iter((0..files.len()).map(|order| {
                let ratios = cells.iter().filter_map(|cell| cell.times.get(order)).map(|[old, new]| new / old);
                format!("{:.3}", geomean(&Vec::from_iter(ratios)))
            }));
            let worst = cells.iter().max_by(|a, b| a.ratio().total_cmp(&b.ratio())).ok_or("no cell")?;
            let ([old, new], by_order) = (worst.times[0], by_order.join(" "));
            print!("  {group:26} {median:.3}   {mean:.3}   ({by_order})   ");
            println!("{:.3} {} ({old:.1} ns, {new:.1})", worst.ratio(), worst.name);
            means.push((mean, group));
            all.extend(ratios);
        }
        let (mean, group) = means.iter().max_by(|a, b| a.0.total_cmp(&b.0)).ok_or("no group")?;
        print!("  {} cells: median {:.3}, geomean {:.3}; ", all.len(), quantile(&all, 0.5), geomean(&all));
        println!("worst: {group} {mean:.3}");
    }
    in_pieces(&cells);
    Ok(())
}

/// The back ends, or the groups, in the order in which they came.
fn unique(cells: &[Cell], which: usize) -> Vec<&str> {
    let mut names = Vec::new();
    for name in cells.iter().map(|cell| &*cell.group[which]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A message in pieces beside one call, for either library.
fn in_pieces(cells: &[Cell]) {
    for cell in cells.iter().filter(|cell| ["Sealer", "Pieces seal", "Pieces open"].contains(&cell.group[1].as_str())) {
        let [backend, group] = &cell.group;
        let beside = |one: &&Cell| one.group == [backend, ONE_CALL] && one.name[..7] == cell.name[..7];
        let Some(one) = cells.iter().find(beside) else { continue };
        let ratio =
            |which: usize| geomean(&Vec::from_iter(cell.times.iter().zip(&one.times).map(|(pieces, one)| pieces[which] / one[which])));
        println!("{backend} {group:12} {:28} {:.3} of one call (old {:.3})", cell.name, ratio(1), ratio(0));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (mode, rest) = arguments.split_first().ok_or("messages, cold, verbs or report?")?;
    if mode == "report" {
        return report(rest);
    }
    let after = |name: &str| rest.iter().skip_while(|word| *word != name).nth(1).cloned();
    let quick = rest.iter().any(|word| word == "--quick");
    let (sample, rounds, budget) = if quick { (2, 10..=40, 20) } else { (4, 20..=160, 100) };
    let sampler = Sampler { sample: Duration::from_micros(sample), rounds, budget: Duration::from_millis(budget) };
    let buffers = Buffers {
        from: RefCell::new(Bytes::new(2 * MIB, 0)),
        to: RefCell::new(Bytes::new(2 * MIB, 33 * 64)),
        aad: Bytes::new(4096, 65 * 16),
    };
    let wanted = Wanted { sampler, cold: if quick { 32 } else { 160 }, only: after("--only").unwrap_or_default(), buffers };
    let all = new::calls::backends();
    let backends = match after("--backend") {
        None => vec![all[0].to_owned()],
        Some(name) if name == "all" => all.into_iter().map(str::to_owned).collect(),
        Some(name) => vec![name],
    };
    pin();
    for backend in backends {
        match mode.as_str() {
            "messages" => wanted.messages(&backend),
            "cold" => wanted.cold(&backend),
            "verbs" => wanted.verbs(&backend),
            _ => return Err(format!("{mode}: messages, cold or verbs?").into()),
        }
    }
    Ok(())
}
