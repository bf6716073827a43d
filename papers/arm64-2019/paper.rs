//! Replays Ard Biesheuvel on AES-GCM in Linux for ThunderX2, 2019: four at once, a tail without branches, the tag folded in.

#[path = "tail.rs"]
pub(crate) mod tail;

use crate::{
    bench::{Bench, Library, Message, one_block, percent, ratios, sizes, style, times},
    report::{Cells, Report, Table},
};
use anyhow::Result;
use fastgcm_measure::{
    Case, Contender,
    aead::{AnyImplementation, Buffers},
};
use std::hint::black_box;

const SIZES: [usize; 3] = [512, 1500, 4096];
const KEYS: [usize; 3] = [128, 192, 256];

/// The table at the end of the post: gains of throughput, for each key the three sizes.
const PAPER: [(&str, &str); 4] = [
    ("ThunderX2", "35% 23% 11% 34% 20% 9% 38% 25% 16%"),
    ("eMAG", "11% 6% 3% 12% 4% 2% 11% 4% 2%"),
    ("Cortex-A72", "8% 5% -4% 9% 4% -5% 7% 4% -5%"),
    ("Cortex-A53", "11% 6% -1% 10% 8% -1% 10% 8% -2%"),
];

const OLD: &str = "2-way, stack buffer";
const NEW: [&str; 3] = ["4-way, tail from the right", "4-way, overlapping, folded tag", "5-way, overlapping, folded tag"];
/// The styles in which AES and GHASH have a pass each, or alternate after eight vectors. (Stitched is the library.)
const APART: [&str; 2] = ["two passes", "K'"];
/// The styles that are measured and whose instructions are counted.
const STYLES: [&str; 6] = [OLD, NEW[0], NEW[1], NEW[2], APART[0], APART[1]];

pub(crate) fn run(bench: &Bench<'_>, report: &mut Report) -> Result<()> {
    let backend = one_block();
    let cases: Vec<_> = KEYS.iter().flat_map(|key_bits| SIZES.map(|bytes| (*key_bits, bytes))).collect();
    let head =
        || ["".into()].into_iter().chain(cases.iter().map(|(key_bits, bytes)| format!("AES-{key_bits} {bytes}"))).collect::<Vec<_>>();
    let title = "Improvement of throughput over the style it replaced: 2-way, tail through a stack buffer, tag on its own";
    let mut table = Table::new(title, Cells::Timed, head());
    for (cpu, gains) in &PAPER {
        table.row(format!("paper, {cpu}"), gains.split(' '));
    }
    let styles = STYLES.map(|name| style(backend, name));
    let (library, buffers) = (Library(backend), Buffers::new(SIZES[2], 13));
    let measured: Vec<_> = cases
        .iter()
        .map(|(key_bits, bytes)| {
            let message = Message { seal: true, key_bits: *key_bits, bytes: *bytes, aad: 13 };
            let mut contenders: Vec<_> = styles.iter().flatten().map(|style| message.by_style(style)).collect();
            contenders.extend(message.by(&library, &buffers));
            bench.measure(message.case(), &mut contenders)
        })
        .collect();
    for new in NEW {
        table.row(format!("here, {new}"), ratios(&measured, OLD, new).into_iter().map(percent));
    }
    table.note(format!("\"Tail from the right\" is the post's: four overlapping loads, counters from right to left, lengths as a block of their own. Ours: time on {backend}. On a machine that is no AArch64 this is another processor's answer to the same question."));
    report.tables.push(table);

    let title = "Improvement of throughput over two passes, AES and then GHASH, eight vectors at once";
    let mut table = Table::new(title, Cells::Timed, head());
    for (name, new) in [("taking turns", APART[1]), ("stitched: the library", &library.name())] {
        table.row(format!("here, {name}"), ratios(&measured, APART[0], new).into_iter().map(percent));
    }
    let note = "The first is the same source twice; the library is not, its tails and its counters are straight-line code, too.";
    table.note(format!("On {backend}. {note}"));
    report.tables.push(table);

    report.tables.push(times(format!("Times on {backend}, 13 bytes of AAD"), head(), &measured));
    report.tables.push(counter_mode(bench));

    let arguments = |key: usize| {
        let probes = STYLES.into_iter().flat_map(|style| SIZES.map(|bytes| format!("{style}:{bytes}")));
        [backend.to_string(), (key / 8).to_string(), "13".into()].into_iter().chain(probes).collect::<Vec<_>>()
    };
    let counts = KEYS.iter().map(|key| bench.steps(&arguments(*key))).collect::<Result<Option<Vec<_>>>>()?;
    if let Some(counts) = counts {
        let mut table = Table::new(format!("Instructions executed on {backend}, 13 bytes of AAD"), Cells::Compiled, head());
        for (number, style) in STYLES.into_iter().enumerate() {
            table.row(style, counts.iter().flat_map(|of_key| of_key[3 * number..3 * number + 3].to_vec()));
        }
        table.note("The paper's gain is latency, on a processor with a deep pipeline. Counts of instructions cannot show that.");
        report.tables.push(table);
    }
    Ok(())
}

/// Measures counter mode without GHASH, for which the post found five at once better than four.
fn counter_mode(bench: &Bench<'_>) -> Table {
    const WAYS: [&str; 3] = [OLD, NEW[1], NEW[2]];
    let styles = WAYS.map(|name| style(one_block(), name));
    let measured = SIZES.map(|bytes| {
        let contenders = styles.iter().flatten().map(|style| {
            let (key, mut text) = (style.expand(&[0x5a; 16]), vec![7; bytes]);
            Contender::new(style.name, move || style.keystream(&key, &[1; 12], 0, black_box(&mut text)))
        });
        bench.measure(Case::of_bytes("AES-128 counter mode alone", bytes as u64), &mut contenders.collect::<Vec<_>>())
    });
    let title = "Improvement of throughput of counter mode alone, AES-128, by more blocks at once";
    let mut table = Table::new(title, Cells::Timed, sizes(&SIZES));
    for (name, old, new) in [("here, four over two", WAYS[0], WAYS[1]), ("here, five over four", WAYS[1], WAYS[2])] {
        table.row(name, ratios(&measured, old, new).into_iter().map(percent));
    }
    table.note("The post has five over four for CBC and CTR on ThunderX2: around 11%.");
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        message::{Shape, crypt, expand},
        tests::{bytes, count, faster, passed, replay, rows},
        trace::{Kind, Operations, Trace, trace},
    };
    use fastgcm::{
        Backend,
        internals::{Bits, Isa, Job, KeyFolded, Multiply},
    };
    use std::marker::PhantomData;
    use tail::{ByteLoop, Masked, Overlapping, StackBuffer, Tail};

    /// Copies the tail of a text. Returns `None` if it is longer than a vector.
    struct Copy<'a, T>(&'a [u8], &'a mut [u8], usize, PhantomData<T>);

    impl<T: Tail> Job for Copy<'_, T> {
        type Output = Option<()>;

        #[inline(always)]
        fn run<S: Isa + Bits, M: Multiply<S>>(self, s: S, _: M) -> Option<()> {
            if self.0.len() - self.2 > 16 * S::BLOCKS {
                return None;
            }
            let v = T::load(s, self.0, self.2);
            T::store(s, self.1, self.2, v);
            Some(())
        }
    }

    /// Checks that a tail's reads and writes touch only the tail, for every length at every place. Returns the number of cases.
    fn copies<T: Tail>(row: Backend) -> usize {
        let mut checked = 0;
        for (length, from) in (1..=80).flat_map(|length| (0..length).map(move |from| (length, from))) {
            let (source, mut target) = (bytes(length, 9), bytes(length, 10));
            let mut wanted = target.clone();
            wanted[from..].copy_from_slice(&source[from..]);
            if row.run(Copy::<T>(&source, &mut target, from, PhantomData)).unwrap().is_some() {
                assert_eq!(target, wanted, "{} on {row}: {length} bytes from {from}", std::any::type_name::<T>());
                checked += 1;
            }
        }
        checked
    }

    /// Traces the sealing of this many bytes.
    fn sealed<T: Tail>(length: usize) -> Operations {
        const SHAPE: Shape = Shape { two_passes: false, folded_tag: false, pipelined: false };
        let s = Trace::<1>;
        let key = expand::<_, KeyFolded, 4>(s, &[1; 16]);
        trace(|| crypt::<_, KeyFolded, T, 4, true>(s, &key, SHAPE, &[2; 12], &[3; 12], &mut vec![4; length]))
    }

    /// The page quotes the post; ratios and counts are those of the simulated clock and counter; tails are right; and a byte loop reads the tail a
    /// byte at a time, twice (for AES and for GHASH), and AAD of twelve bytes, while no other tail reads single bytes.
    #[test]
    fn arm64_2019() {
        let (report, checked) = replay("arm64-2019", 4 * 9);
        let cases = KEYS.map(|key| SIZES.map(|bytes| (key, bytes)));
        let ratio = |old: &str, new: &str| {
            let cases = cases.as_flattened().iter();
            cases
                .map(|(key, bytes)| percent(Some(faster(&format!("AES-{key} seal, 13 bytes of AAD"), *bytes, old, new))))
                .collect::<Vec<_>>()
        };
        assert_eq!(NEW.map(|new| ratio(OLD, new)), [4, 5, 6].map(|row| report.tables[0].rows[row][1..].to_vec()));
        let stitched = Library(one_block()).name();
        assert_eq!([APART[1], &stitched].map(|new| ratio(APART[0], new)), [0, 1].map(|row| report.tables[1].rows[row][1..].to_vec()));
        for (row, [old, new]) in report.tables[3].rows.iter().zip([[OLD, NEW[1]], [NEW[1], NEW[2]]]) {
            assert_eq!(row[1..], SIZES.map(|bytes| percent(Some(faster("AES-128 counter mode alone", bytes, old, new)))));
        }
        for (row, style) in report.tables[4].rows.iter().zip(STYLES) {
            let wanted = cases.as_flattened().iter().map(|(key, bytes)| count(style, key / 8 + 13, *bytes).to_string());
            assert_eq!(row[1..], wanted.collect::<Vec<_>>(), "{style}");
        }

        for row in rows().into_iter().filter(|row| *row != Backend::Portable) {
            let ways = [copies::<Masked>(row), copies::<Overlapping>(row), copies::<StackBuffer>(row), copies::<ByteLoop>(row)];
            assert!(ways.iter().all(|checked| *checked == ways[0]));
        }
        for length in 1..=100 {
            assert_eq!(sealed::<ByteLoop>(length).count(Kind::ByteLoad), 2 * (length % 16) + 12, "{length}");
            assert_eq!(sealed::<StackBuffer>(length).count(Kind::ByteLoad), 0, "{length}");
            // A group of one byte is read as one byte, because no byte before it could overlap.
            assert!(length % 64 == 1 || sealed::<Overlapping>(length).count(Kind::ByteLoad) == 0, "{length}");
            assert!(length % 16 == 1 || sealed::<Masked>(length).count(Kind::ByteLoad) == 0, "{length}");
        }
        passed("papers::arm64_2019", checked, 4 * 9);
    }
}
