//! Jankowski, Laurent: "Packed AES-GCM Algorithm Suitable for AES/PCLMULQDQ Instructions", IEEE Transactions on Computers, 2010. Figures 6 and
//! 7, tables 4.1 and 4.2, sections 3.1 to 3.3.

use super::{Bench, Report, Series, Table, one_block};
use crate::{
    multiply::{By, Karatsuba, Mirror, Product, Reduce, Shifts},
    trace::{Done, Trace, trace},
};
use fastgcm::internals::{Multiply, Vectors, load};

const SIZES: [u64; 12] = [64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
/// Tables 4.1 and 4.2.
const STANDARD: [u64; 12] = [391, 751, 1111, 1471, 2191, 2911, 4351, 5791, 8671, 11551, 17311, 23071];
const PACKED: [u64; 12] = [211, 399, 587, 775, 1151, 1527, 2279, 3031, 4535, 6039, 9047, 12055];

const STYLES: [&str; 2] = ["standard, N = 1", "packed, N = 4"];

pub(super) fn run(bench: &Bench<'_>, report: &mut Report) -> Result<(), String> {
    report.tables.push(parts());
    let backend = one_block();
    (bench.progress)(0.1, "stepping");
    let probes = STYLES.into_iter().flat_map(|style| SIZES.map(|bytes| format!("{style}:{bytes}")));
    let arguments: Vec<_> = [backend.to_string(), "16".into(), "0".into()].into_iter().chain(probes).collect();
    let Some(counts) = bench.steps(&arguments)? else {
        let mut table = Table::new("Tables 4.1 and 4.2", ["bytes"]);
        table.note("Instructions are counted by single steps, which need Linux on x86-64.");
        report.tables.push(table);
        return Ok(());
    };
    let (standard, packed) = counts.split_at(SIZES.len());
    report.tables.push(figure_6(standard, packed));

    let mut table = Table::new(
        "Tables 4.1 and 4.2: instructions executed for one message, AES-128",
        ["bytes", "paper, standard", "paper, packed", "times", "ours, standard", "ours, packed", "times"],
    );
    let times = |a: u64, b: u64| format!("{:.2}", a as f64 / b as f64);
    for (i, bytes) in SIZES.iter().enumerate() {
        let [a, b, c, d] = [STANDARD[i], PACKED[i], standard[i], packed[i]];
        table.row(bytes.to_string(), [a.to_string(), b.to_string(), times(a, b), c.to_string(), d.to_string(), times(c, d)]);
    }
    table.note(format!(
        "Ours: every instruction of a whole call on {backend}, counted by single steps: tag, lengths, and the copying of the rest included."
    ));
    table.note("The paper counts the processing loop alone, by hand, in assembly.");
    report.tables.push(table);
    report.unit = "instructions";
    for (name, counts) in
        [("paper, standard", &STANDARD[..]), ("paper, packed", &PACKED), ("ours, standard", standard), ("ours, packed", packed)]
    {
        let points = SIZES.iter().zip(counts).map(|(bytes, count)| (*bytes as f64, *count as f64)).collect();
        report.chart.push(Series { name: name.into(), points });
    }
    Ok(())
}

/// What a piece of the body, and the rest, cost: from the longest two messages.
fn figure_6(standard: &[u64], packed: &[u64]) -> Table {
    let mut table = Table::new("Figure 6: instructions of the parts", ["", "standard", "packed"]);
    let last = SIZES.len() - 1;
    let body =
        |counts: &[u64], blocks: u64| (counts[last] - counts[last - 1]) as f64 / ((SIZES[last] - SIZES[last - 1]) / 16 / blocks) as f64;
    let (one, four) = (body(standard, 1), body(packed, 4));
    table.row("paper, prolog and epilog", [47 + 74, 95 + 116]);
    table.row("paper, body (1 block, 4 blocks)", [90, 188]);
    let rest = |counts: &[u64], body: f64, blocks: u64| format!("{:.0}", counts[last] as f64 - body * (SIZES[last] / 16 / blocks) as f64);
    table.row("ours, prolog and epilog", [rest(standard, one, 1), rest(packed, four, 4)]);
    table.row("ours, body (1 block, 4 blocks)", [format!("{one:.0}"), format!("{four:.0}")]);
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
