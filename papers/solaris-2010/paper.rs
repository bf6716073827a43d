//! Replays Dan Anderson: "Carryless Multiplication Optimization for AES GCM Mode in Solaris", 2010. Times of four multiplications, and throughput with
//! one to four threads.

#[path = "plain.rs"]
pub(crate) mod plain;

use crate::{
    aggregate::{Powers, packed},
    bench::{Bench, best_and_median, one_block, percent, style},
    multiply::{self, Visit},
    report::{Cells, Report, Table},
};
use anyhow::Result;
use fastgcm::{
    Backend,
    internals::{Bits, Isa, Job, Multiply},
};
use fastgcm_measure::{Case, Contender};
use plain::{FourBitTable, bit_serial, combine, ghash};
use std::{hint::black_box, sync::Barrier, thread, time::Instant};

/// The number of bytes that are hashed, a block at a time.
const BYTES: usize = 4096;
/// The key of section 6 of the paper of the same year, and its hash key.
const K: u128 = 0xfeff_e992_8665_731c_6d6a_8f94_6730_8308;
pub(crate) const H: u128 = 0xb83b_5337_08bf_535d_0aa6_e529_80d5_3b78;

/// The rows of the table: name, multiplication here, seconds in the post. "Linear folding" there is a reduction, around the same product.
const POST: [(&str, &str, &str); 11] = [
    ("a bit at a time, in C", "", "7.83"),
    ("a table of 16 entries (not in constant time)", "", "-"),
    ("schoolbook, shifted, reduced by shifts", "schoolbook + mirror, shifts", "1.18"),
    ("linear folding (schoolbook)", "schoolbook + folding", "1.36"),
    ("Karatsuba, shifted, reduced by shifts", "Karatsuba + mirror, shifts", "1.19"),
    ("Karatsuba, folding", "Karatsuba + folding", "-"),
    ("baseline of 2023", "schoolbook + Montgomery", "-"),
    ("key-folded", "key-folded (K')", "-"),
    ("Winograd", "Winograd", "-"),
    ("Karatsuba of the library, for Arm", "Karatsuba of the library", "-"),
    ("key-folded by halves, for Arm", "key-folded by halves", "-"),
];

pub(crate) fn run(bench: &Bench<'_>, report: &mut Report) -> Result<()> {
    let backend = one_block();
    let text: Vec<u8> = (0..BYTES).map(|i| (i * 7) as u8).collect();
    let table = FourBitTable::new(H);
    let keys = POST.map(|(_, multiply, _)| backend.run(Expand(multiply, 1)).ok().flatten());
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for ((name, multiply, _), powers) in POST.iter().zip(&keys) {
        let (text, table) = (&text, &table);
        contenders.push(match powers {
            Some(powers) => Contender::looped(*name, move |n| {
                black_box(backend.run(Hash { multiply, powers, blocks: 1, text, n }).ok());
            }),
            None if name.starts_with("a bit") => Contender::new(*name, move || ghash(text, |x| bit_serial(x, H))),
            None => Contender::new(*name, move || ghash(text, |x| table.times(x))),
        });
    }
    let measured = bench.measure(Case::of_bytes("GHASH, one block at a time", BYTES as u64), &mut contenders);
    drop(contenders);

    let unit = measured.by(POST[2].0).map_or(1.0, |school| school.median_ns / 1.18);
    let mut table = Table::new(
        "GHASH by four ways to multiply, one block after the other",
        Cells::Timed,
        ["", "post, s", "ours, ns a block: best / median", "ours, scaled to its 1.18 s"],
    );
    for (name, _, seconds) in POST {
        let Some(own) = measured.by(name) else { continue };
        table.row(name, [seconds.into(), best_and_median(own, (BYTES / 16) as f64), format!("{:.2}", own.median_ns / unit)]);
    }
    table.note(format!("On {backend}. Each block waits for the one before: this is latency."));
    table.note("The listing that the post calls Karatsuba has four multiplications: it is schoolbook. Ours is Karatsuba.");
    table.note("The post's C code used no tables; what is here called C is Rust, a bit at a time, without branches.");
    report.tables.push(table);
    report.tables.push(threads(bench, report.machine.cores));
    Ok(())
}

/// Makes this many powers for the multiplication with this name, or returns `None` if there is none.
pub(crate) struct Expand<'a>(pub(crate) &'a str, pub(crate) usize);

impl Job for Expand<'_> {
    type Output = Option<Powers>;

    #[inline(always)]
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> Option<Powers> {
        struct Each<'a, S>(S, Expand<'a>, Option<Powers>);
        impl<S: Isa + Bits> Visit<S> for Each<'_, S> {
            #[inline(always)]
            fn visit<M: Multiply<S>>(&mut self, name: &'static str, _: M) {
                if name == self.1.0 {
                    self.2 = Some(Powers::new::<S, M>(self.0, H.swap_bytes(), self.1.1));
                }
            }
        }
        let mut each = Each(s, self, None);
        multiply::all(s, &mut each);
        each.2
    }
}

/// Hashes a text n times, with one reduction for this many blocks.
pub(crate) struct Hash<'a> {
    pub(crate) multiply: &'a str,
    pub(crate) powers: &'a Powers,
    pub(crate) blocks: usize,
    pub(crate) text: &'a [u8],
    pub(crate) n: u64,
}

impl Job for Hash<'_> {
    type Output = u128;

    #[inline(always)]
    fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> u128 {
        struct Each<'a, S>(S, Hash<'a>, u128);
        impl<S: Isa + Bits> Visit<S> for Each<'_, S> {
            #[inline(always)]
            fn visit<M: Multiply<S>>(&mut self, name: &'static str, _: M) {
                if name == self.1.multiply {
                    for _ in 0..self.1.n {
                        self.2 = packed::<S, M>(self.0, self.1.powers, self.1.blocks, self.2, self.1.text);
                    }
                }
            }
        }
        let mut each = Each(s, self, 0);
        multiply::all(s, &mut each);
        each.2
    }
}

/// The bytes of a message, and of one without the instruction, which takes long.
const MESSAGE: usize = 1 << 18;
const SLOW: usize = 1 << 16;

/// The gain in throughput in the post with one to four threads.
const GAINS: [(usize, &str); 4] = [(1, "229%"), (2, "221%"), (3, "230%"), (4, "224%")];

/// Measures the throughput with one to four threads, of the style of 2010 against the same message with GHASH a bit at a time.
///
/// In all of them AES has a pass over the text, and GHASH another. With one thread a split message is a whole one, so the difference of those
/// two columns is noise.
fn threads(bench: &Bench<'_>, cores: usize) -> Table {
    let backend = one_block();
    let [each, split] = ["each", "split"].map(|how| format!("ours, MB/s, one message {how}: best / median"));
    let head = ["threads", "post, gain", "ours, gain", &each, &split];
    let mut table = Table::new("AES-128-GCM: gain in throughput by PCLMULQDQ, and MB/s", Cells::Timed, head);
    let repeat = if bench.quick { 2 } else { 20 };
    for (threads, gain) in GAINS {
        let fast = Work { bytes: MESSAGE, split: 1, repeat, bit_serial: false };
        let slow = Work { bytes: SLOW, split: 1, repeat: 1, bit_serial: true };
        // Nine times in turn: an interrupted thread delays all, so the best time stands next to the median.
        let round = |_| [fast, slow, Work { split: threads, ..fast }].map(|work| together(threads, backend, work).mb_per_s());
        let rounds: Vec<[f64; 3]> = (0..9).map(round).collect();
        let sorted = |of: &dyn Fn(&[f64; 3]) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            [all[8], all[4]]
        };
        let [_, ours] = sorted(&|round| round[0] / round[1]);
        let speed = |at: usize| sorted(&|round| round[at]).map(|speed| format!("{speed:.0}")).join(" / ");
        table.row(threads.to_string(), [gain.into(), percent(Some(ours)), speed(0), speed(2)]);
    }
    table.note(format!("This machine runs {cores} threads at once. A gain of 100% is twice the throughput; ours are medians of the ratios within nine rounds."));
    table.note("Ours has AES-NI with and without; where AES is slow, as in the post's \"before\", GHASH is a smaller part and the gain is smaller.");
    table.note("Split: each thread has a part of one message, and moves the hash of it to its place by a power of H (`combine`), which it makes anew each time, a bit at a time.");
    table
}

/// The work of each thread: its part of a message, and the number of repetitions.
#[derive(Clone, Copy)]
struct Work {
    bytes: usize,
    split: usize,
    repeat: usize,
    /// GHASH without the instruction.
    bit_serial: bool,
}

impl Work {
    /// Does one thread's work. The key and the text are made before the clock starts.
    fn run(self, backend: Backend, part: usize, start: &Barrier) -> Option<Done> {
        let blocks = self.bytes / 16;
        let (from, to) = (blocks * part / self.split, blocks * (part + 1) / self.split);
        let prepared = style(backend, "packed, N = 4").map(|style| (style.expand(&K.to_be_bytes()), style));
        let mut text = vec![2; 16 * (to - from)];
        start.wait(); // also a thread with nothing to do, so that no other waits for ever
        let (key, style) = prepared?;
        let (began, mut bytes, mut hash) = (Instant::now(), 0, 0);
        for _ in 0..self.repeat {
            style.keystream(&key, &[3; 12], from, &mut text);
            hash = if self.bit_serial { ghash(&text, |x| bit_serial(x, H)) } else { style.ghash(&key, &text) };
            // The blocks after the part count as zeros.
            if to < blocks {
                hash = combine(H, &[(hash, to - from), (0, blocks - to)]);
            }
            hash = black_box(hash);
            bytes += text.len();
        }
        Some(Done { began, ended: Instant::now(), bytes, hash })
    }
}

/// The finished work of threads, from the first start to the last end.
struct Done {
    began: Instant,
    ended: Instant,
    bytes: usize,
    /// The sum of the threads' last hashes: of one message that is split, its hash.
    hash: u128,
}

impl Done {
    fn and(self, other: Self) -> Self {
        let (began, ended) = (self.began.min(other.began), self.ended.max(other.ended));
        Self { began, ended, bytes: self.bytes + other.bytes, hash: self.hash ^ other.hash }
    }

    fn mb_per_s(&self) -> f64 {
        self.bytes as f64 / (self.ended - self.began).as_secs_f64() / 1e6
    }
}

/// Runs this work in several threads at once. A back end that is not available does nothing.
fn together(threads: usize, backend: Backend, work: Work) -> Done {
    let barrier = &Barrier::new(threads);
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|number| scope.spawn(move || work.run(backend, number % work.split, barrier))).collect();
        let done = handles.into_iter().filter_map(|handle| handle.join().ok().flatten()).reduce(Done::and);
        done.unwrap_or_else(|| Done { began: Instant::now(), ended: Instant::now(), bytes: 0, hash: 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{pairs, passed, replay, standard};
    use fastgcm_model::{Model, inc32};

    /// The page quotes the post; each name of the table measures its multiplication; each thread's part of a message counts, and the parts make
    /// the message.
    #[test]
    fn solaris_2010() {
        let (_, mut checked) = replay("solaris-2010", 11 + 4);

        let (backend, text) = (one_block(), [7; 160]);
        let wanted = ghash(&text, |x| bit_serial(x, H));
        for (_, multiply, _) in &POST[2..] {
            let powers = backend.run(Expand(multiply, 1)).unwrap().unwrap();
            let hash = backend.run(Hash { multiply, powers: &powers, blocks: 1, text: &text, n: 1 }).unwrap();
            assert_eq!(hash, wanted, "{multiply}");
            checked += 1;
        }

        let model = Model::new(&K.to_be_bytes());
        assert_eq!(u128::from_be_bytes(model.h()), H);
        for blocks in [1, 7, 37] {
            let text = model.gctr(&inc32(&model.j0(&[3; 12])), &vec![2; 16 * blocks]);
            let hash = u128::from_be_bytes(fastgcm_model::ghash(&model.h(), &text));
            for (split, bit_serial) in (1..=4).flat_map(|split| [(split, false), (split, true)]) {
                let done = together(split, backend, Work { bytes: text.len(), split, repeat: 1, bit_serial });
                assert_eq!((done.hash, done.bytes), (hash, text.len()), "{blocks} blocks, {split} parts, {bit_serial}");
                checked += 1;
            }
        }
        let each = together(3, backend, Work { bytes: 32, split: 1, repeat: 5, bit_serial: false });
        assert_eq!(each.bytes, 3 * 5 * 32);
        let second = Done { ended: each.began + std::time::Duration::from_secs(2), bytes: 6_000_000, ..each };
        assert_eq!(second.mb_per_s(), 3.0);
        passed("papers::solaris_2010", checked, 11 + 4 + 9 + 3 * 4 * 2);
    }

    /// The multiplications without an instruction are SP 800-38D's, and hashes of parts make the hash of the whole.
    #[test]
    fn without_an_instruction() {
        for (a, b) in pairs() {
            assert_eq!(bit_serial(a, b), standard(a, b));
            assert_eq!(FourBitTable::new(b).times(a), standard(a, b));
        }
        let text = crate::tests::bytes(64 * 16, 6);
        let hash = |text: &[u8]| ghash(text, |x| bit_serial(x, H));
        let whole = hash(&text);
        for (first, second) in (0..=64).flat_map(|first| (first..=64).map(move |second| (first, second))) {
            let parts = [(0, first), (first, second), (second, 64)].map(|(from, to)| (hash(&text[16 * from..16 * to]), to - from));
            assert_eq!(combine(H, &parts), whole, "{first} {second}");
        }
    }
}
