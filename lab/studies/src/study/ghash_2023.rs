//! Ozturk, Kantecki, Yap: "AES-GCM - Optimized GHASH Function", Intel, August 2023. Tables 11, 12 and 13, and figure 9.

use super::{Bench, Library, Message, Report, Series, Table, ratio, spread, style, times};
use crate::{
    aggregate::{Powers, deferred, packed},
    multiply::{Baseline, step},
    trace::{Done, Kind, Trace, trace},
};
use fastgcm::{
    Backend,
    internals::{KeyFolded, Multiply, load},
};
use fastgcm_measure::aead::{AnyImplementation, Buffers};

const SIZES: [usize; 6] = [16384, 2048, 512, 256, 128, 64];

/// Tables 12 and 13: baseline cycles over new cycles.
const PAPER: [(usize, &str, [f64; 6]); 4] = [
    (128, "3rd Gen Xeon (Ice Lake)", [1.09, 1.05, 1.16, 1.14, 1.12, 1.26]),
    (128, "4th Gen Xeon (Sapphire Rapids)", [1.10, 1.07, 1.08, 1.24, 1.22, 1.43]),
    (256, "3rd Gen Xeon (Ice Lake)", [1.07, 1.11, 1.16, 1.16, 1.22, 1.16]),
    (256, "4th Gen Xeon (Sapphire Rapids)", [1.00, 1.02, 1.09, 1.26, 1.23, 1.38]),
];

/// Old and new, and what they are called.
const PAIRS: [(&str, &str, &str); 2] = [
    ("one loop, baseline / K'", "baseline", "K'"),
    ("the same with three reductions, baseline / K'", "baseline, three reductions", "K', three reductions"),
];

pub(super) fn run(bench: &Bench<'_>, report: &mut Report) {
    report.tables.push(table_11());
    report.tables.push(figures_7_to_9());
    report.tables.push(figure_9());
    let backend = Backend::detect();
    let library = Library::from(backend);
    let ours = library.name();
    let buffers = Buffers::new(SIZES[0], 12);
    for (number, key_bits) in [128, 256].into_iter().enumerate() {
        let title = format!("Table {}: AES-{key_bits}-GCM seal, 12 bytes of AAD, improvement ratio", 12 + number);
        let head = || ["bytes"].map(String::from).into_iter().chain(SIZES.map(|n| n.to_string()));
        let mut table = Table::new(title, head());
        PAPER.iter().filter(|(bits, ..)| *bits == key_bits).for_each(|(_, cpu, ratios)| {
            table.row(format!("paper, {cpu}"), ratios.map(|r| format!("{r:.2}")));
            if key_bits == 128 {
                let points = SIZES.iter().zip(ratios).map(|(size, ratio)| (*size as f64, *ratio)).collect();
                report.chart.push(Series { name: format!("paper, {cpu}"), points });
            }
        });
        report.axes[1] = "AES-128 sealed, time of the old over that of the new";
        let measured = SIZES.map(|bytes| {
            let message = Message { seal: true, key_bits, bytes, aad: 12 };
            let styles: Vec<_> = PAIRS.iter().flat_map(|(_, old, new)| [*old, *new]).filter_map(|name| style(backend, name)).collect();
            let mut contenders: Vec<_> = styles.iter().filter_map(|style| message.by_style(&**style, style.name().into())).collect();
            contenders.extend(message.by(&library, &buffers));
            contenders.extend(bench.scrubbed.and_then(|scrubbed| message.by(scrubbed, &buffers)));
            contenders.extend(bench.peers.iter().filter_map(|peer| message.by(*peer, &buffers)));
            let at = SIZES.iter().position(|size| *size == bytes).unwrap_or(0);
            bench.measure(message.case(), (6 * number + at, 12), &mut contenders)
        });
        let mut row = |name: String, old: &str, new: &str| {
            let ratios: Vec<_> = measured.iter().map(|measured| ratio(measured, old, new)).collect();
            let points = SIZES.iter().zip(&ratios).filter_map(|(size, ratio)| Some((*size as f64, (*ratio)?))).collect();
            // (OpenSSL's line would leave the others no room.)
            if key_bits == 128 && !name.starts_with("OpenSSL") {
                // Another library beside ours says nothing of the paper's technique, nor for its verdict.
                let kind = if style(backend, old).is_some() { "here" } else { "beside" };
                report.chart.push(Series { name: format!("{kind}, {name}"), points });
            }
            table.row(format!("here, {name}"), ratios.into_iter().map(times));
        };
        PAIRS.iter().for_each(|(name, old, new)| row((*name).into(), old, new));
        for library in [Some(ours.clone()), bench.scrubbed.map(AnyImplementation::name)].into_iter().flatten() {
            bench.peers.iter().for_each(|peer| row(format!("{} / {library}", peer.name()), &peer.name(), &library));
        }
        table.note("The paper's ratios are of cycles, between two versions of ipsec-mb built with SAFE_OPTIONS=n; ours are of time within one run.");
        table.note(format!(
            "Both loops are the same source around two multiplications, on {backend}. Debian builds ipsec-mb 1.3 with its safe options."
        ));
        report.tables.push(table);
        report.tables.push(spread(format!("Times behind table {}: AES-{key_bits}-GCM seal", 12 + number), head(), &measured));
    }
}

/// One block, multiplied and reduced.
fn one<M: Multiply<Trace<1>>>() -> Done {
    let s = Trace::<1>;
    trace(|| {
        let [block, first, second] = [0; 3].map(|_| load(s, &[7; 16]));
        step::<_, M>(s, block, (first, second))
    })
}

fn table_11() -> Table {
    let mut table = Table::new(
        "Table 11: instructions to multiply and reduce one block",
        ["", "multiplications", "XORs", "shuffles and shifts", "all", "most live vectors"],
    );
    let paper = |counts: [usize; 4]| counts.map(|n| n.to_string()).into_iter().chain(["-".into()]);
    table.row("paper, baseline", paper([7, 6, 5, 18]));
    table.row("paper, new", paper([5, 4, 1, 10]));
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

/// The paper's own example.
fn figures_7_to_9() -> Table {
    let (one, four, text) = (Trace::<1>, Trace::<4>, [1; 16 * 12]);
    let (single, powers) = (Powers::new::<_, KeyFolded>(one, 1, 1), Powers::new::<_, KeyFolded>(four, 1, 8));
    let rows = [
        ("figure 7: one after the other", trace(|| packed::<_, KeyFolded>(one, &single, 1, 0, &text))),
        ("figure 8: four side by side, lanes added each time", trace(|| packed::<_, KeyFolded>(four, &powers, 4, 0, &text))),
        ("figure 9: four side by side, lanes added once", trace(|| deferred::<_, KeyFolded>(four, &powers, 1, 0, &text))),
    ];
    let head = ["", "multiplications", "reductions", "sums over lanes", "latency in cycles"];
    let mut table = Table::new("Figures 7 to 9: 12 blocks, multiplied by K' in vectors of one block or four", head);
    for (name, done) in rows {
        let lanes = done.count(Kind::LanesAdded);
        // The lanes of one block are one.
        let lanes = if name.starts_with("figure 7") { 0 } else { lanes };
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
    let mut table = Table::new(title, ["", "sums over lanes", "reductions", "latency in cycles", "most live vectors"]);
    for (name, done) in [("figure 8: every turn", every), ("figure 9: once", once)] {
        table.row(name, [done.count(Kind::LanesAdded), done.count(Kind::Folding), done.latency(), done.live()]);
    }
    table.note("Latency: the longest chain, with 7 cycles for a multiplication and 1 for anything else in registers.");
    table
}
