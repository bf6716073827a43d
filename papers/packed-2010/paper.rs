//! Replays Jankowski, Laurent: "Packed AES-GCM Algorithm Suitable for AES/PCLMULQDQ Instructions", IEEE Transactions on Computers, 2010. Figures 6 and
//! 7, tables 4.1 and 4.2, sections 2.1 and 3.1 to 3.3.

use crate::{
    bench::{Bench, Message, best_and_median, one_block, percent, ratio, ratios, sizes, style, times},
    multiply::{By, Karatsuba, Mirror, Product, Reduce, Shifts},
    report::{Cells, Report, Table},
    solaris_2010::{Expand, Hash},
    trace::{Trace, trace},
};
use anyhow::Result;
use fastgcm::internals::{Multiply, Vectors, load};
use fastgcm_measure::{Case, Contender};
use std::{hint::black_box, slice};

const SIZES: [usize; 12] = [64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
/// Figure 6: blocks that are reduced together, instructions of prolog, body and epilog.
const FIGURE_6: [(usize, [u64; 3]); 2] = [(1, [47, 90, 74]), (4, [95, 188, 116])];

const STYLES: [&str; 2] = ["standard, N = 1", "packed, N = 4"];
const PIPELINED: &str = "packed, N = 4, pipelined";

pub(crate) fn run(bench: &Bench<'_>, report: &mut Report) -> Result<()> {
    report.tables.push(parts());
    report.tables.push(reductions(bench));
    report.tables.extend(loops(bench));
    let backend = one_block();
    let probes = STYLES.into_iter().flat_map(|style| SIZES.into_iter().chain([0]).map(move |bytes| format!("{style}:{bytes}")));
    let arguments: Vec<_> = [backend.to_string(), "16".into(), "0".into()].into_iter().chain(probes).collect();
    let Some(counts) = bench.steps(&arguments)? else {
        report.tables[0].note("Tables 4.1 and 4.2 need single steps: Linux on x86-64.");
        return Ok(());
    };
    let (standard, packed) = counts.split_at(SIZES.len() + 1);
    let [standard, packed] = [Counted::new(standard, 1), Counted::new(packed, 4)];
    report.tables.push(figure_6(&standard, &packed));

    let ours = ["ours, loop alone: standard", "packed", "times", "ours, whole call: standard", "packed", "times"];
    let head = ["bytes", "body runs, standard", "paper, standard", "body runs, packed", "paper, packed", "times"].into_iter().chain(ours);
    let mut table = Table::new("Tables 4.1 and 4.2: instructions executed for one message, AES-128", Cells::Compiled, head);
    for (i, bytes) in SIZES.into_iter().enumerate() {
        let mut cells = Vec::new();
        for [a, b] in
            [[0, 1].map(|number| in_paper(number, bytes)), [standard.alone(i), packed.alone(i)], [standard.whole[i], packed.whole[i]]]
        {
            cells.extend([a.to_string(), b.to_string(), format!("{:.2}", a as f64 / b as f64)]);
        }
        [1, 4].iter().zip([0, 2]).for_each(|(blocks, at)| cells.insert(at, (bytes / 16 / blocks - 1).to_string()));
        table.row(bytes.to_string(), cells);
    }
    table.note(format!("Ours: instructions executed on {backend}, counted by single steps. The whole call has the first counter block, lengths and tag; the loop alone is what it executes more than for an empty message."));
    table.note("The paper counts the processing loop alone, by hand, in assembly: prolog, body as often as it runs, and epilog.");
    report.tables.push(table);
    Ok(())
}

/// Returns the instructions of tables 4.1 (0) and 4.2 (1) for a message: prolog, body as often as it runs, and epilog.
fn in_paper(number: usize, bytes: usize) -> u64 {
    let (blocks, [prolog, body, epilog]) = FIGURE_6[number];
    prolog + body * (bytes / 16 / blocks - 1) as u64 + epilog
}

/// The instructions of a style for this many blocks at once: of messages of all sizes, and of an empty one.
struct Counted<'a> {
    whole: &'a [u64],
    empty: u64,
    blocks: usize,
}

impl<'a> Counted<'a> {
    fn new(counts: &'a [u64], blocks: usize) -> Self {
        let (empty, whole) = counts.split_last().unwrap_or((&0, &[]));
        Self { whole, empty: *empty, blocks }
    }

    /// Returns the instructions of the processing loop and of what surrounds it.
    fn alone(&self, at: usize) -> u64 {
        self.whole[at].saturating_sub(self.empty)
    }

    /// Returns the instructions of a run of the body, from the longest two messages.
    fn body(&self) -> f64 {
        let last = SIZES.len() - 1;
        (self.whole[last] - self.whole[last - 1]) as f64 / ((SIZES[last] - SIZES[last - 1]) / 16 / self.blocks) as f64
    }
}

/// The parts of the shortest message, those that the paper counts: the first piece is prolog and epilog, each other one a run of the body.
fn figure_6(standard: &Counted<'_>, packed: &Counted<'_>) -> Table {
    let mut table = Table::new("Figure 6: instructions of the parts", Cells::Compiled, ["", "standard", "packed"]);
    table.row("paper, prolog and epilog: the first 1 or 4 blocks", FIGURE_6.map(|(_, [prolog, _, epilog])| prolog + epilog));
    table.row("paper, body: each further 1 or 4 blocks", FIGURE_6.map(|(_, [_, body, _])| body));
    table.row("paper, 64 bytes", [0, 1].map(|number| in_paper(number, 64)));
    let both = |of: &dyn Fn(&Counted<'_>) -> f64| [standard, packed].map(|counted| format!("{:.0}", of(counted)));
    let runs = |counted: &Counted<'_>| (SIZES[0] / 16 / counted.blocks - 1) as f64;
    table.row("ours, the first 1 or 4 blocks", both(&|counted| counted.alone(0) as f64 - runs(counted) * counted.body()));
    table.row("ours, each further 1 or 4 blocks", both(&|counted| counted.body()));
    table.row("ours, 64 bytes", both(&|counted| counted.alone(0) as f64));
    table.row("ours, an empty message", both(&|counted| counted.empty as f64));
    table.note("The paper leaves out what an empty message costs; whole calls of ours at 64 bytes have that beside the loop. The rest of the difference is the body, which a compiler made of a generic source, with a bounds check for each group and round keys in memory.");
    table
}

/// Measures the messages whose instructions the paper counts, and the pipelined loop of section 2.1.
fn loops(bench: &Bench<'_>) -> [Table; 2] {
    const SOME: [usize; 4] = [64, 256, 1024, 4096];
    let styles: Vec<_> = [STYLES[0], STYLES[1], PIPELINED].into_iter().filter_map(|name| style(one_block(), name)).collect();
    let measured = SOME.map(|bytes| {
        let message = Message { seal: true, key_bits: 128, bytes, aad: 0 };
        bench.measure(message.case(), &mut styles.iter().map(|style| message.by_style(style)).collect::<Vec<_>>())
    });
    let mut table = Table::new("Section 2.1: improvement of throughput, AES-128, sealed", Cells::Timed, sizes(&SOME));
    for (name, old, new) in [("packed over standard", STYLES[0], STYLES[1]), ("pipelined over packed", STYLES[1], PIPELINED)] {
        table.row(format!("here, {name}"), ratios(&measured, old, new).into_iter().map(percent));
    }
    table
        .note("The paper has no times. Pipelined, each group of four blocks is hashed beside the AES of the next one, of the same source.");
    [table, times("Times behind section 2.1", sizes(&SOME), &measured)]
}

/// Measures the reductions of section 3.3: "a generic reduction based on Horner's representation ... proved to be slower".
fn reductions(bench: &Bench<'_>) -> Table {
    const BYTES: usize = 4096;
    const WAYS: [(&str, &str); 4] = [
        ("shifts, hard-coded", "schoolbook + shifts"),
        ("Horner, the polynomial is data", "schoolbook + Horner"),
        ("folding", "schoolbook + folding"),
        ("Montgomery", "schoolbook + Montgomery"),
    ];
    let (backend, text) = (one_block(), [7; BYTES]);
    let measured = [1, 4].map(|blocks| {
        let keys = WAYS.map(|(_, multiply)| backend.run(Expand(multiply, blocks)).ok().flatten());
        let contenders = WAYS.iter().zip(&keys).filter_map(|((name, multiply), powers)| {
            let (powers, text) = (powers.as_ref()?, &text);
            Some(Contender::looped(*name, move |n| {
                black_box(backend.run(Hash { multiply, powers, blocks, text, n }).ok());
            }))
        });
        let case = Case::of_bytes(format!("GHASH, one reduction for {blocks}"), BYTES as u64);
        bench.measure(case, &mut contenders.collect::<Vec<_>>())
    });
    let head = ["", "N = 1, ns a block: best / median", "times the first", "N = 4, ns a block: best / median", "times the first"];
    let mut table = Table::new("Section 3.3: GHASH by schoolbook and four reductions", Cells::Timed, head);
    for (name, _) in WAYS {
        let cells = measured.iter().flat_map(|measured| {
            let own = measured.by(name).map(|own| best_and_median(own, (BYTES / 16) as f64));
            [own.unwrap_or_default(), ratio(ratios(slice::from_ref(measured), name, WAYS[0].0)[0])]
        });
        table.row(name, cells);
    }
    let note = "Times more than 1 are slower than the first. The paper says without a number that Horner's rule was slower.";
    table.note(format!("On {backend}. {note}"));
    table
}

/// Counts the parts of sections 3.1 to 3.3.
fn parts() -> Table {
    let s = Trace::<1>;
    let block = || load(s, &[7; 16]);
    let four = trace(|| {
        let mut sum = [s.splat(0); 3];
        for _ in 0..4 {
            let product = Karatsuba::product(s, block(), block(), block());
            sum = <By<Karatsuba, Shifts> as Multiply<_>>::add(s, sum, product);
        }
        // Adding the middle part.
        let ([low, middle, high], zero) = (Karatsuba::sum(s, sum), s.splat(0));
        (s.xor(low, s.low_halves(zero, middle)), s.xor(high, s.high_halves(middle, zero)))
    });
    let shifts = trace(|| Shifts::reduce(s, block(), block())).operations();
    let mirrored = trace(|| <Mirror<Shifts> as Reduce<_>>::reduce(s, block(), block())).operations();
    let mut table = Table::new("Sections 3.1 to 3.3: instructions of the parts", Cells::Counted, ["", "paper", "ours"]);
    table.row("four products by Karatsuba, added (3.1)", [55, four.operations()]);
    table.row("a shift by one bit for the mirrored bits (3.2)", [15, mirrored - shifts]);
    table.row("reduction by shifts (3.3)", [28, shifts]);
    table.note("Ours: operations in registers, without moves from register to register, of which legacy encoding needs many.");
    table.note(
        "Ours needs neither shift nor reduction by shifts any more: the key is stored times x, and a reduction is one multiplication.",
    );
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        aggregate::packed,
        multiply::Baseline,
        solaris_2010::{H, plain::power},
        tests::{count, faster, hash, passed, replay},
    };
    use fastgcm::internals::KeyFolded;

    /// The page quotes the paper; ratios and counts are those of the simulated clock and counter; the test vectors of section 6 pass; and packing
    /// reduces once for N blocks with any multiplication, and saves nothing else.
    #[test]
    fn packed_2010() {
        let (report, mut checked) = replay("packed-2010", 3 * 2 + 3 * 2 + 2 * 12);
        let wanted = |number: usize| faster(&format!("GHASH, one reduction for {number}"), 4096, "folding", "shifts, hard-coded");
        assert_eq!([2, 4].map(|at| report.tables[1].rows[2][at].clone()), [wanted(1), wanted(4)].map(|wanted| format!("{wanted:.2}")));
        for (row, old, new) in [(0, STYLES[0], STYLES[1]), (1, STYLES[1], PIPELINED)] {
            let wanted = [64, 256, 1024, 4096].map(|bytes| percent(Some(faster("AES-128 seal, 0 bytes of AAD", bytes, old, new))));
            assert_eq!(report.tables[2].rows[row][1..], wanted);
        }
        // The counter is affine in the blocks.
        let (parts, messages) = (&report.tables[4].rows, &report.tables[5].rows);
        for (number, style) in STYLES.into_iter().enumerate() {
            let alone = |bytes: usize| (count(style, 16, bytes) - count(style, 16, 0)).to_string();
            let group = alone(16 * FIGURE_6[number].0);
            assert_eq!([3, 4, 5, 6].map(|row| &parts[row][1 + number]), [&group, &group, &alone(64), &count(style, 16, 0).to_string()]);
            for (row, bytes) in messages.iter().zip(SIZES) {
                assert_eq!([&row[6 + number], &row[9 + number]], [&alone(bytes), &count(style, 16, bytes).to_string()]);
            }
        }

        let powers = [
            0xb83b_5337_08bf_535d_0aa6_e529_80d5_3b78,
            0x8a6f_f5ac_a561_c0d8_6580_5055_eb72_8397,
            0xc414_cb8f_1152_eb71_563a_5ca9_ddcb_ddb5,
            0x3c4b_0daa_91e6_b35f_9b9e_89d8_510d_d431,
        ];
        assert_eq!([1, 2, 3, 4].map(|n| power(H, n)), powers);

        for n in [1, 2, 4, 8, 16, 32, 48] {
            for blocks in [n, 2 * n, 96] {
                let done = hash::<1, KeyFolded>(blocks, |s, powers, text| packed::<_, KeyFolded>(s, powers, n, 0, text));
                assert_eq!(done.multiplications(), 4 * blocks + blocks.div_ceil(n), "K', N = {n}");
                let done = hash::<1, Baseline>(blocks, |s, powers, text| packed::<_, Baseline>(s, powers, n, 0, text));
                assert_eq!(done.multiplications(), 4 * blocks + 3 * blocks.div_ceil(n), "baseline, N = {n}");
                checked += 2;
            }
        }
        passed("papers::packed_2010", checked, 36 + 7 * 3 * 2);
    }
}
