//! Replays Ozturk, Kantecki, Yap: "AES-GCM - Optimized GHASH Function", Intel, August 2023. Tables 11, 12 and 13, and figures 7 to 9.

#[cfg(test)]
#[path = "steps.rs"]
mod steps;

use crate::{
    aggregate::{Powers, deferred, packed},
    bench::{Bench, Library, Message, ratio, ratios, sizes, style, times},
    multiply::{Baseline, step},
    report::{Cells, Report, Table},
    trace::{Kind, Operations, Trace, trace},
};
use anyhow::Result;
use fastgcm::{
    Backend,
    internals::{KeyFolded, Multiply, load},
};
use fastgcm_measure::aead::Buffers;

const SIZES: [usize; 6] = [16384, 2048, 512, 256, 128, 64];

/// Tables 12 and 13: baseline cycles over new cycles.
const PAPER: [(usize, &str, &str); 4] = [
    (128, "3rd Gen Xeon (Ice Lake)", "1.09 1.05 1.16 1.14 1.12 1.26"),
    (128, "4th Gen Xeon (Sapphire Rapids)", "1.10 1.07 1.08 1.24 1.22 1.43"),
    (256, "3rd Gen Xeon (Ice Lake)", "1.07 1.11 1.16 1.16 1.22 1.16"),
    (256, "4th Gen Xeon (Sapphire Rapids)", "1.00 1.02 1.09 1.26 1.23 1.38"),
];

/// A row's name, the old style and the new one.
const PAIRS: [(&str, &str, &str); 2] = [
    ("one loop, baseline / K'", "baseline", "K'"),
    ("the same with three reductions, baseline / K'", "baseline, three reductions", "K', three reductions"),
];

pub(crate) fn run(bench: &Bench<'_>, report: &mut Report) -> Result<()> {
    report.tables.extend([table_11(), figures_7_to_9(), figure_9()]);
    let backend = Backend::detect();
    let library = Library(backend);
    let buffers = Buffers::new(SIZES[0], 12);
    let styles: Vec<_> = PAIRS.iter().flat_map(|(_, old, new)| [*old, *new]).filter_map(|name| style(backend, name)).collect();
    for (number, key_bits) in [(12, 128), (13, 256)] {
        let title = format!("Table {number}: AES-{key_bits}-GCM seal, 12 bytes of AAD, improvement ratio");
        let mut table = Table::new(title, Cells::Timed, sizes(&SIZES));
        for (_, cpu, ratios) in PAPER.iter().filter(|(bits, ..)| *bits == key_bits) {
            table.row(format!("paper, {cpu}"), ratios.split(' '));
        }
        let measured = SIZES.map(|bytes| {
            let message = Message { seal: true, key_bits, bytes, aad: 12 };
            let mut contenders: Vec<_> = styles.iter().map(|style| message.by_style(style)).collect();
            contenders.extend(message.by(&library, &buffers));
            bench.measure(message.case(), &mut contenders)
        });
        for (name, old, new) in PAIRS {
            table.row(format!("here, {name}"), ratios(&measured, old, new).into_iter().map(ratio));
        }
        table.note("The paper's ratios are of cycles, between two versions of ipsec-mb built with SAFE_OPTIONS=n; ours are of time within one run.");
        table.note(format!("Both loops are the same source around two multiplications, on {backend}."));
        report.tables.push(table);
        report.tables.push(times(format!("Times behind table {number}: AES-{key_bits}-GCM seal"), sizes(&SIZES), &measured));
    }
    Ok(())
}

/// Traces the multiplication and reduction of one block.
pub(crate) fn one<M: Multiply<Trace<1>>>() -> Operations {
    let s = Trace::<1>;
    trace(|| {
        let [block, first, second] = [0; 3].map(|_| load(s, &[7; 16]));
        step::<_, M>(s, block, (first, second))
    })
}

fn table_11() -> Table {
    let head = ["", "multiplications", "XORs", "shuffles and shifts", "all", "most live vectors"];
    let mut table = Table::new("Table 11: instructions to multiply and reduce one block", Cells::Counted, head);
    table.row("paper, baseline", "7 6 5 18 -".split(' '));
    table.row("paper, new", "5 4 1 10 -".split(' '));
    for (name, done) in [("ours, baseline", one::<Baseline>()), ("ours, K'", one::<KeyFolded>())] {
        let (multiplications, xors) = (done.multiplications(), done.count(Kind::Xor));
        let moves = done.count(Kind::Shuffle) + done.count(Kind::Shift);
        table.row(name, [multiplications, xors, moves, multiplications + xors + moves, done.live()]);
    }
    table.note(
        "Ours are counted by running the variant on an instruction set that writes operations down; constants are operands in memory.",
    );
    table
}

/// Counts the paper's own example.
fn figures_7_to_9() -> Table {
    let (one, four, text) = (Trace::<1>, Trace::<4>, [1; 16 * 12]);
    let (single, powers) = (Powers::new::<_, KeyFolded>(one, 1, 1), Powers::new::<_, KeyFolded>(four, 1, 8));
    let rows = [
        ("figure 7: one after the other", trace(|| packed::<_, KeyFolded>(one, &single, 1, 0, &text))),
        ("figure 8: four side by side, lanes added each time", trace(|| packed::<_, KeyFolded>(four, &powers, 4, 0, &text))),
        ("figure 9: four side by side, lanes added once", trace(|| deferred::<_, KeyFolded>(four, &powers, 1, 0, &text))),
    ];
    let title = "Figures 7 to 9: 12 blocks, multiplied by K' in vectors of one block or four";
    let mut table = Table::new(title, Cells::Counted, ["", "multiplications", "reductions", "sums over lanes", "latency in cycles"]);
    for (name, done) in rows {
        // The lanes of one block are one.
        let lanes = if name.starts_with("figure 7") { 0 } else { done.count(Kind::LanesAdded) };
        table.row(name, [done.count(Kind::Multiplication), done.count(Kind::Folding), lanes, done.latency()]);
    }
    table.note("A multiplication is an instruction, for one block or for four.");
    table
}

fn figure_9() -> Table {
    let (s, turns) = (Trace::<4>, 8);
    let text = vec![1; 16 * (32 * turns + 4)];
    let powers = Powers::new::<_, KeyFolded>(s, 1, 40);
    let every = trace(|| packed::<_, KeyFolded>(s, &powers, 32, 0, &text));
    let once = trace(|| deferred::<_, KeyFolded>(s, &powers, 8, 0, &text));
    let title = format!("Figure 9: lanes added every turn, or once; {} blocks, four lanes, 8 vectors a turn", 32 * turns + 4);
    let mut table = Table::new(title, Cells::Counted, ["", "sums over lanes", "reductions", "latency in cycles", "most live vectors"]);
    for (name, done) in [("figure 8: every turn", every), ("figure 9: once", once)] {
        table.row(name, [done.count(Kind::LanesAdded), done.count(Kind::Folding), done.latency(), done.live()]);
    }
    table.note("Latency: the longest chain, with 7 cycles for a multiplication and 1 for anything else in registers.");
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{faster, hash, pairs, passed, replay, standard};
    use steps::{gfmul64, table_4, table_5, table_6, table_8, table_9, table_10};

    /// The page quotes the paper and has its counts; ratios are those of the simulated clock; tables 4 to 10 are SP 800-38D's multiplication, both
    /// plain and mirrored; and deferred lanes are added once.
    #[test]
    fn ghash_2023() {
        let (report, mut checked) = replay("ghash-2023", 4 * 5 + 3 * 4 + 2 * 4 + 4 * 6);
        for (row, (_, old, new)) in PAIRS.into_iter().enumerate() {
            for (table, key) in [(3, 128), (5, 256)] {
                let wanted = SIZES.map(|bytes| ratio(Some(faster(&format!("AES-{key} seal, 12 bytes of AAD"), bytes, old, new))));
                assert_eq!(report.tables[table].rows[2 + row][1..], wanted);
                checked += 1;
            }
        }

        for (a, b) in pairs() {
            let plain = table_4(a, b);
            // GCM's first bit is the coefficient of x^0.
            assert_eq!(plain.reverse_bits(), standard(a.reverse_bits(), b.reverse_bits()), "table 4");
            for (name, product) in [("5", table_5(a, b)), ("6", table_6(a, b)), ("7 and 8", table_8(a, b))] {
                assert_eq!(product, plain, "table {name}");
            }
            let mirrored = table_4(plain, 2).reverse_bits();
            for (name, product) in
                [("9", table_9(a.reverse_bits(), b.reverse_bits())), ("10", table_10(a.reverse_bits(), b.reverse_bits()))]
            {
                assert_eq!(product, mirrored, "table {name}");
            }
        }
        // Section 2.2.2: a product of mirrored digits is one bit short.
        for (x, y) in [1, 2, 0x87, u64::MAX, 0x1234_5678_9abc_def1].into_iter().flat_map(|x| [1, 3, u64::MAX].map(|y| (x, y))) {
            assert_eq!(gfmul64(x.reverse_bits(), y.reverse_bits()), (gfmul64(x, y) << 1).reverse_bits());
        }

        for turns in 0..=8 {
            let blocks = 4 * 8 * turns + 4;
            let once = hash::<4, KeyFolded>(blocks, |s, powers, text| deferred::<_, KeyFolded>(s, powers, 8, 0, text));
            let every = hash::<4, KeyFolded>(blocks, |s, powers, text| packed::<_, KeyFolded>(s, powers, 32, 0, text));
            assert_eq!([&once, &every].map(|done| done.count(Kind::LanesAdded)), [1, turns + 1]);
            assert_eq!([&once, &every].map(|done| done.count(Kind::Folding)), [turns + 1; 2]);
            assert!(once.latency() <= every.latency());
            assert_eq!(once.live(), every.live(), "figure 9 frees no register");
            checked += 1;
        }
        passed("papers::ghash_2023", checked, 64 + 2 * 2 + 9);
    }
}
