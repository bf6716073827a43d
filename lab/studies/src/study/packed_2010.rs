//! Jankowski, Laurent: "Packed AES-GCM Algorithm Suitable for AES/PCLMULQDQ Instructions", IEEE Transactions on Computers, 2010. Figures 6 and
//! 7, tables 4.1 and 4.2, sections 3.1 to 3.3.

use super::{
    Bench, Message, Report, Series, Table, best_and_median, one_block, percent, ratio,
    solaris_2010::{Expand, Hash},
    spread, style, times,
};
use crate::{
    multiply::{By, Karatsuba, Mirror, NAMES, Product, Reduce, Shifts},
    trace::{Done, Trace, trace},
};
use fastgcm::internals::{Multiply, Vectors, load};
use fastgcm_measure::{Case, Contender};
use std::hint::black_box;

const SIZES: [u64; 12] = [64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
/// Tables 4.1 and 4.2.
const STANDARD: [u64; 12] = [391, 751, 1111, 1471, 2191, 2911, 4351, 5791, 8671, 11551, 17311, 23071];
const PACKED: [u64; 12] = [211, 399, 587, 775, 1151, 1527, 2279, 3031, 4535, 6039, 9047, 12055];

const STYLES: [&str; 2] = ["standard, N = 1", "packed, N = 4"];
const PIPELINED: &str = "packed, N = 4, pipelined";

pub(super) fn run(bench: &Bench<'_>, report: &mut Report) -> Result<(), String> {
    report.tables.push(parts());
    report.tables.push(reductions(bench));
    report.tables.extend(loops(bench));
    let backend = one_block();
    (bench.progress)(0.5, "stepping");
    let probes = STYLES.into_iter().flat_map(|style| SIZES.into_iter().chain([0]).map(move |bytes| format!("{style}:{bytes}")));
    let arguments: Vec<_> = [backend.to_string(), "16".into(), "0".into()].into_iter().chain(probes).collect();
    let Some(counts) = bench.steps(&arguments)? else {
        let mut table = Table::new("Tables 4.1 and 4.2", ["bytes"]);
        table.note("Instructions are counted by single steps, which need Linux on x86-64.");
        report.tables.push(table);
        return Ok(());
    };
    let (standard, packed) = counts.split_at(SIZES.len() + 1);
    let [standard, packed] = [Counted::new(standard, 1), Counted::new(packed, 4)];
    report.tables.push(figure_6(&standard, &packed));

    let ours = ["ours, loop alone: standard", "packed", "times", "ours, whole call: standard", "packed", "times"];
    let head = ["bytes", "body runs, standard", "paper, standard", "body runs, packed", "paper, packed", "times"].into_iter().chain(ours);
    let mut table = Table::new("Tables 4.1 and 4.2: instructions executed for one message, AES-128", head);
    let quotient = |a: u64, b: u64| format!("{:.2}", a as f64 / b as f64);
    for (i, bytes) in SIZES.into_iter().enumerate() {
        let runs = |blocks: u64| (bytes / 16 / blocks - 1).to_string();
        let mut cells = vec![runs(1), STANDARD[i].to_string(), runs(4), PACKED[i].to_string(), quotient(STANDARD[i], PACKED[i])];
        for (a, b) in [(standard.alone(i), packed.alone(i)), (standard.whole[i], packed.whole[i])] {
            cells.extend([a.to_string(), b.to_string(), quotient(a, b)]);
        }
        table.row(bytes.to_string(), cells);
    }
    table.note(format!("Ours: instructions executed on {backend}, counted by single steps. The whole call has the first counter block, lengths and tag; the loop alone is what it executes more than for an empty message."));
    table.note("The paper counts the processing loop alone, by hand, in assembly: prolog, body as often as it runs, and epilog.");
    report.tables.push(table);
    report.axes[1] = "instructions";
    let alone = |counted: &Counted<'_>| (0..SIZES.len()).map(|i| counted.alone(i)).collect::<Vec<_>>();
    for (name, counts) in [
        ("paper, standard", STANDARD.to_vec()),
        ("paper, packed", PACKED.to_vec()),
        ("here, loop alone, standard", alone(&standard)),
        ("here, loop alone, packed", alone(&packed)),
    ] {
        let points = SIZES.iter().zip(counts).map(|(bytes, count)| (*bytes as f64, count as f64)).collect();
        report.chart.push(Series { name: name.into(), points });
    }
    Ok(())
}

/// Instructions of a style that works on so many blocks at once: of messages of all sizes, and of an empty one.
struct Counted<'a> {
    whole: &'a [u64],
    empty: u64,
    blocks: u64,
}

impl<'a> Counted<'a> {
    fn new(counts: &'a [u64], blocks: u64) -> Self {
        let (empty, whole) = counts.split_last().unwrap_or((&0, &[]));
        Self { whole, empty: *empty, blocks }
    }

    /// The processing loop, and what goes with it.
    fn alone(&self, at: usize) -> u64 {
        self.whole[at].saturating_sub(self.empty)
    }

    /// A run of the body: from the longest two messages.
    fn body(&self) -> f64 {
        let last = SIZES.len() - 1;
        (self.whole[last] - self.whole[last - 1]) as f64 / ((SIZES[last] - SIZES[last - 1]) / 16 / self.blocks) as f64
    }
}

/// Of the shortest message, which has the same parts as the paper counts: the first piece is prolog and epilog, each other one a run of the body.
fn figure_6(standard: &Counted<'_>, packed: &Counted<'_>) -> Table {
    let mut table = Table::new("Figure 6: instructions of the parts", ["", "standard", "packed"]);
    table.row("paper, prolog and epilog: the first 1 or 4 blocks", [47 + 74, 95 + 116]);
    table.row("paper, body: each further 1 or 4 blocks", [90, 188]);
    table.row("paper, 64 bytes", [STANDARD[0], PACKED[0]]);
    let both = |of: &dyn Fn(&Counted<'_>) -> f64| [standard, packed].map(|counted| format!("{:.0}", of(counted)));
    let runs = |counted: &Counted<'_>| (SIZES[0] / 16 / counted.blocks - 1) as f64;
    table.row("ours, the first 1 or 4 blocks", both(&|counted| counted.alone(0) as f64 - runs(counted) * counted.body()));
    table.row("ours, each further 1 or 4 blocks", both(&|counted| counted.body()));
    table.row("ours, 64 bytes", both(&|counted| counted.alone(0) as f64));
    table.row("ours, an empty message", both(&|counted| counted.empty as f64));
    table.note("The paper leaves out what an empty message costs; whole calls of ours at 64 bytes have that beside the loop. The rest of the difference is the body, which a compiler made of a generic source, with a bounds check for each group and round keys in memory.");
    table
}

/// What the paper counts, as time; and the loop of section 2.1, in which a group is hashed beside the AES of the next.
fn loops(bench: &Bench<'_>) -> [Table; 2] {
    const SOME: [usize; 4] = [64, 256, 1024, 4096];
    let styles: Vec<_> = [STYLES[0], STYLES[1], PIPELINED].into_iter().filter_map(|name| style(one_block(), name)).collect();
    let measured = SOME.map(|bytes| {
        let message = Message { seal: true, key_bits: 128, bytes, aad: 0 };
        let contenders = styles.iter().filter_map(|style| message.by_style(&**style, style.name().into()));
        bench.measure(message.case(), (2, 4), &mut contenders.collect::<Vec<_>>())
    });
    let head = || ["bytes"].map(String::from).into_iter().chain(SOME.map(|bytes| bytes.to_string()));
    let mut table = Table::new("Section 2.1: improvement of throughput, AES-128, sealed", head());
    for (name, old, new) in [("packed over standard", STYLES[0], STYLES[1]), ("pipelined over packed", STYLES[1], PIPELINED)] {
        table.row(format!("here, {name}"), measured.iter().map(|measured| percent(ratio(measured, old, new))));
    }
    table
        .note("The paper has no times. Pipelined, each group of four blocks is hashed beside the AES of the next one, of the same source.");
    [table, spread("Times behind section 2.1".into(), head(), &measured)]
}

/// Section 3.3: "a generic reduction based on Horner's representation ... proved to be slower".
fn reductions(bench: &Bench<'_>) -> Table {
    const BYTES: usize = 4096;
    const WAYS: [(&str, usize); 4] = [("shifts, hard-coded", 3), ("Horner, the polynomial is data", 2), ("folding", 0), ("Montgomery", 1)];
    let (backend, text) = (one_block(), [7; BYTES]);
    let measured = [1, 4].map(|blocks| {
        let keys = WAYS.map(|(_, number)| backend.run(Expand(NAMES[number], blocks)).ok().flatten());
        let contenders = WAYS.iter().zip(&keys).filter_map(|((name, number), powers)| {
            let (powers, text) = (powers.as_ref()?, &text);
            Some(Contender::looped(*name, move |n| {
                black_box(backend.run(Hash { multiply: NAMES[*number], powers, blocks, text, n }).ok());
            }))
        });
        let case = Case::of_bytes(format!("GHASH, one reduction for {blocks}"), BYTES as u64);
        bench.measure(case, (blocks / 4, 4), &mut contenders.collect::<Vec<_>>())
    });
    let head = ["", "N = 1, ns a block: best / median", "times the first", "N = 4, ns a block: best / median", "times the first"];
    let mut table = Table::new("Section 3.3: GHASH by schoolbook and four reductions", head);
    for (name, _) in WAYS {
        let cells = measured.iter().flat_map(|measured| {
            let own = measured.by(name).map(|own| best_and_median(own, (BYTES / 16) as f64));
            [own.unwrap_or_default(), times(ratio(measured, name, WAYS[0].0))]
        });
        table.row(name, cells);
    }
    table.note(format!(
        "On {backend}. Times more than 1 are slower than the first. The paper says without a number that Horner's rule was slower."
    ));
    table
}

/// Sections 3.1 to 3.3.
fn parts() -> Table {
    let s = Trace::<1>;
    let block = || load(s, &[7; 16]);
    let four = trace(|| {
        let mut sum = [s.splat(0); 3];
        for _ in 0..4 {
            let product = Karatsuba::product(s, block(), block(), block());
            sum = <By<Karatsuba, Shifts> as Multiply<_>>::add(s, sum, product);
        }
        // And the middle put in its place.
        let ([low, middle, high], zero) = (Karatsuba::sum(s, sum), s.splat(0));
        (s.xor(low, s.low_halves(zero, middle)), s.xor(high, s.high_halves(middle, zero)))
    });
    let shifts = trace(|| Shifts::reduce(s, block(), block()));
    let mirrored = trace(|| <Mirror<Shifts> as Reduce<_>>::reduce(s, block(), block()));
    let count = |done: &Done| done.operations();
    let mut table = Table::new("Sections 3.1 to 3.3: instructions of the parts", ["", "paper", "ours"]);
    table.row("four products by Karatsuba, added (3.1)", [55, count(&four)]);
    table.row("a shift by one bit for the mirrored bits (3.2)", [15, count(&mirrored) - count(&shifts)]);
    table.row("reduction by shifts (3.3)", [28, count(&shifts)]);
    table.note("Ours: operations in registers, without moves from register to register, of which legacy encoding needs many.");
    table.note(
        "Ours needs neither shift nor reduction by shifts any more: the key is stored times x, and a reduction is one multiplication.",
    );
    table
}
