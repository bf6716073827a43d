//! Dan Anderson: "Carryless Multiplication Optimization for AES GCM Mode in Solaris", 2010. Times of four multiplications, and throughput with
//! one to four threads.

use super::{Bench, Library, Message, Report, Series, Table, best_and_median, one_block, percent, spread, style};
use crate::{
    aggregate::{Powers, packed},
    combine::combine,
    multiply::{
        self, NAMES, Visit,
        plain::{FourBitTable, bit_serial, ghash},
    },
};
use fastgcm::{
    Backend,
    internals::{Bits, Isa, Job, Multiply},
};
use fastgcm_measure::{
    Case, Contender,
    aead::{AnyImplementation, Buffers},
};
use std::{hint::black_box, sync::Barrier, thread, time::Instant};

/// Bytes that are hashed, a block at a time.
const BYTES: usize = 4096;
/// The key of section 6 of the paper of the same year, and its hash key.
const K: u128 = 0xfeff_e992_8665_731c_6d6a_8f94_6730_8308;
const H: u128 = 0xb83b_5337_08bf_535d_0aa6_e529_80d5_3b78;

/// What the post says, in seconds, and what it is here. "Linear folding" there is a reduction, around the same product.
const POST: [(&str, &str, Option<f64>); 11] = [
    ("a bit at a time, in C", "", Some(7.83)),
    ("a table of 16 entries (not in constant time)", "", None),
    ("schoolbook, shifted, reduced by shifts", NAMES[4], Some(1.18)),
    ("linear folding (schoolbook)", NAMES[0], Some(1.36)),
    ("Karatsuba, shifted, reduced by shifts", NAMES[8], Some(1.19)),
    ("Karatsuba, folding", NAMES[5], None),
    ("baseline of 2023", NAMES[1], None),
    ("key-folded", NAMES[9], None),
    ("Winograd", NAMES[10], None),
    ("Karatsuba of the library, for Arm", NAMES[11], None),
    ("key-folded by halves, for Arm", NAMES[12], None),
];

pub(super) fn run(bench: &Bench<'_>, report: &mut Report) {
    let backend = one_block();
    let text: Vec<u8> = (0..BYTES).map(|i| (i * 7) as u8).collect();
    let table = FourBitTable::new(H);
    let keys: Vec<Option<Powers>> = POST.iter().map(|(_, multiply, _)| backend.run(Expand(multiply, 1)).ok().flatten()).collect();
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
    let measured = bench.measure(Case::of_bytes("GHASH, one block at a time", BYTES as u64), (0, 2), &mut contenders);
    drop(contenders);

    let unit = measured.by(POST[2].0).map_or(1.0, |school| school.median_ns / 1.18);
    let mut table = Table::new(
        "GHASH by four ways to multiply, one block after the other",
        ["", "post, s", "ours, ns a block: best / median", "ours, scaled to its 1.18 s"],
    );
    for (name, _, seconds) in POST {
        let Some(own) = measured.by(name) else { continue };
        let post = seconds.map_or_else(|| "-".into(), |seconds| format!("{seconds:.2}"));
        table.row(name, [post, best_and_median(own, (BYTES / 16) as f64), format!("{:.2}", own.median_ns / unit)]);
    }
    table.note(format!("On {backend}. Each block waits for the one before: this is latency."));
    table.note("The listing that the post calls Karatsuba has four multiplications: it is schoolbook. Ours is Karatsuba.");
    table.note("The post's C code used no tables; what is here called C is Rust, a bit at a time, without branches.");
    report.tables.push(table);
    let threads = threads(bench, report);
    report.tables.push(threads);
    report.tables.push(interfaces(bench));
}

/// So many powers for one multiplication. `None` if there is none of that name.
pub(super) struct Expand<'a>(pub(super) &'a str, pub(super) usize);

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

/// GHASH, n times, with one reduction for so many blocks.
pub(super) struct Hash<'a> {
    pub(super) multiply: &'a str,
    pub(super) powers: &'a Powers,
    pub(super) blocks: usize,
    pub(super) text: &'a [u8],
    pub(super) n: u64,
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

/// Bytes of one message.
const MESSAGE: usize = 1 << 18;
/// Fewer without the instruction, since a bit at a time takes its time.
const SLOW: usize = 1 << 16;

/// What the post says that throughput gained, in percent, with one to four threads.
const GAINS: [(usize, u32); 4] = [(1, 229), (2, 221), (3, 230), (4, 224)];

/// Throughput with one to four threads, of the style of 2010 against the same message with GHASH a bit at a time.
///
/// All do the same: AES has a pass over the text, GHASH another. With one thread a split message is a whole one, and what those two columns differ
/// by then is noise.
fn threads(bench: &Bench<'_>, report: &mut Report) -> Table {
    let backend = one_block();
    let mut table = Table::new(
        "AES-128-GCM: gain in throughput by PCLMULQDQ, and MB/s",
        [
            "threads",
            "post, gain",
            "ours, gain",
            "ours, MB/s, one message each: best / median",
            "ours, MB/s, one message split: best / median",
        ],
    );
    let repeat = if bench.quick { 2 } else { 20 };
    report.chart = ["post", "ours"].map(|name| Series { name: name.into(), points: Vec::new() }).into();
    report.axes = ["threads", "times the throughput without PCLMULQDQ"];
    for (threads, gain) in GAINS {
        (bench.progress)(0.5 + threads as f64 / 10.0, &format!("{threads} threads"));
        let fast = Work { bytes: MESSAGE, split: 1, repeat, bit_serial: false };
        let slow = Work { bytes: SLOW, split: 1, repeat: 1, bit_serial: true };
        // In turn, nine times: a thread that is interrupted holds up all, so the best stands beside the one in the middle.
        let rounds: Vec<[f64; 3]> = (0..9)
            .map(|_| {
                let work = [fast, slow, Work { split: threads, ..fast }];
                work.map(|work| together(threads, backend, work).mb_per_s())
            })
            .collect();
        let sorted = |of: &dyn Fn(&[f64; 3]) -> f64| {
            let mut all: Vec<f64> = rounds.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            [all[8], all[4]]
        };
        let [_, ours] = sorted(&|round| round[0] / round[1]);
        let speed = |at: usize| sorted(&|round| round[at]).map(|speed| format!("{speed:.0}")).join(" / ");
        let cells = [format!("{gain}%"), percent(Some(ours)), speed(0), speed(2)];
        table.row(threads.to_string(), cells);
        for (line, times) in report.chart.iter_mut().zip([1.0 + f64::from(gain) / 100.0, ours]) {
            line.points.push((threads as f64, times));
        }
    }
    let cores = report.machine.cores;
    table.note(format!("This machine runs {cores} threads at once. A gain of 100% is twice the throughput; ours are medians of the ratios within nine rounds."));
    table.note("Ours has AES-NI with and without; where AES is slow, as in the post's \"before\", GHASH is a smaller part and the gain is smaller.");
    table.note("Split: each thread has a part of one message, and moves the hash of it to its place by a power of H (`combine`), which it makes anew each time, a bit at a time.");
    table
}

/// What programs call: the post put GCM and GMAC behind the interfaces that its programs knew.
fn interfaces(bench: &Bench<'_>) -> Table {
    const SIZES: [usize; 4] = [64, 512, 1420, 16384];
    let library = Library::from(Backend::detect());
    let (buffers, text, name) = (Buffers::new(SIZES[3], 13), vec![7; SIZES[3]], format!("{} GMAC", library.name));
    let measured = SIZES.map(|bytes| {
        let message = Message { seal: true, key_bits: 128, bytes, aad: 13 };
        let peers = bench.peers.iter().copied().chain(bench.provider);
        let mut contenders: Vec<_> =
            peers.chain([&library as &dyn AnyImplementation]).filter_map(|one| message.by(one, &buffers)).collect();
        // The text is authenticated only.
        let key = fastgcm::Key::with_backend(&K.to_be_bytes(), library.backend).ok();
        contenders.extend(key.map(|key| {
            let text = &text[..bytes];
            Contender::new(&*name, move || {
                let mut mac = key.gmac([1; 12]);
                mac.update(text).map(|()| mac.finish())
            })
        }));
        bench.measure(message.case(), (9, 10), &mut contenders)
    });
    let head = ["bytes"].map(String::from).into_iter().chain(SIZES.map(|n| n.to_string()));
    let mut table = spread("What programs call: AES-128-GCM sealed, 13 bytes of AAD, and AES-128-GMAC".into(), head, &measured);
    table.note(match bench.provider {
        Some(_) => "The provider is fastgcm-openssl as a module, called as OpenSSL's own ciphers are: what the post's PKCS#11 library is to its programs.",
        None => "fastgcm-openssl, which programs call as they call OpenSSL, takes no part: --provider FILE names its module.",
    });
    table
}

/// What each thread does: its part of a message in so many parts, so often.
#[derive(Clone, Copy)]
struct Work {
    bytes: usize,
    split: usize,
    repeat: usize,
    /// GHASH without the instruction.
    bit_serial: bool,
}

impl Work {
    /// One thread's: the key and the text are there before the clock starts.
    fn run(self, backend: Backend, part: usize, start: &Barrier) -> Option<Done> {
        let blocks = self.bytes / 16;
        let (from, to) = (blocks * part / self.split, blocks * (part + 1) / self.split);
        let prepared = style(backend, "packed, N = 4").and_then(|style| Some((style.expand(&K.to_be_bytes())?, style)));
        let mut text = vec![2; 16 * (to - from)];
        start.wait(); // also who has nothing to do, so that nobody waits for ever
        let (key, style) = prepared?;
        let (began, mut bytes, mut hash) = (Instant::now(), 0, 0);
        for _ in 0..self.repeat {
            style.keystream(&key, &[3; 12], from, &mut text);
            hash = if self.bit_serial { ghash(&text, |x| bit_serial(x, H)) } else { style.ghash(&key, &text) };
            // The blocks behind are zeros, as it were.
            if to < blocks {
                hash = combine(H, &[(hash, to - from), (0, blocks - to)]);
            }
            hash = black_box(hash);
            bytes += text.len();
        }
        Some(Done { began, ended: Instant::now(), bytes, hash })
    }
}

/// What threads have done: from when the first began until the last ended.
struct Done {
    began: Instant,
    ended: Instant,
    bytes: usize,
    /// The sum of the threads' last hashes: of one message that is split, its hash.
    hash: u128,
}

impl Done {
    fn and(self, other: Self) -> Self {
        Self {
            began: self.began.min(other.began),
            ended: self.ended.max(other.ended),
            bytes: self.bytes + other.bytes,
            hash: self.hash ^ other.hash,
        }
    }

    fn mb_per_s(&self) -> f64 {
        self.bytes as f64 / (self.ended - self.began).as_secs_f64() / 1e6
    }
}

/// So many threads do that at once. A back end that is not available does nothing.
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
    use fastgcm_model::{Model, inc32};

    /// What threads do with their parts of a message is the hash of the message, each part having been moved to its place; and every byte counts.
    #[test]
    fn parts_make_the_message() {
        let model = Model::new(&K.to_be_bytes());
        let mut checked = 0;
        for blocks in [1, 7, 37] {
            let text = model.gctr(&inc32(&model.j0(&[3; 12])), &vec![2; 16 * blocks]);
            let hash = u128::from_be_bytes(fastgcm_model::ghash(&model.h(), &text));
            for split in 1..=4 {
                for bit_serial in [false, true] {
                    let done = together(split, one_block(), Work { bytes: text.len(), split, repeat: 1, bit_serial });
                    assert_eq!((done.hash, done.bytes), (hash, text.len()), "{blocks} blocks, {split} parts, {bit_serial}");
                    checked += 1;
                }
            }
        }
        let each = together(3, one_block(), Work { bytes: 32, split: 1, repeat: 5, bit_serial: false });
        assert_eq!(each.bytes, 3 * 5 * 32);
        let second = Done { ended: each.began + std::time::Duration::from_secs(2), bytes: 6_000_000, ..each };
        assert_eq!(second.mb_per_s(), 3.0);
        assert_eq!(checked, 3 * 4 * 2);
        println!("studies::parts_of_a_message ok {checked}");
    }

    /// Each name of the table is that of its multiplication, and what is timed under it is the hash.
    #[test]
    fn every_way_is_a_hash() {
        let names = POST.map(|(_, multiply, _)| multiply);
        assert_eq!(
            names[2..],
            [
                "schoolbook + mirror, shifts",
                "schoolbook + folding",
                "Karatsuba + mirror, shifts",
                "Karatsuba + folding",
                "schoolbook + Montgomery",
                "key-folded (K')",
                "Winograd",
                "Karatsuba of the library",
                "key-folded by halves",
            ]
        );
        let (backend, text) = (one_block(), [7; 160]);
        let wanted = ghash(&text, |x| bit_serial(x, H));
        for multiply in &names[2..] {
            let powers = backend.run(Expand(multiply, 1)).unwrap().unwrap();
            let hash = backend.run(Hash { multiply, powers: &powers, blocks: 1, text: &text, n: 1 }).unwrap();
            assert_eq!(hash, wanted, "{multiply}");
        }
        println!("studies::ways ok {}", names[2..].len());
    }
}
