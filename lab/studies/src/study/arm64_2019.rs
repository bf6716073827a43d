//! Ard Biesheuvel on AES-GCM in Linux for ThunderX2, 2019: four at once, a tail without branches, the tag folded in.

use super::{Bench, Library, Message, Report, Series, Table, one_block, percent, ratio, spread, style};
use fastgcm_measure::{
    Case, Contender,
    aead::{AnyImplementation, Buffers},
};
use std::hint::black_box;

const SIZES: [usize; 3] = [512, 1500, 4096];
const KEYS: [usize; 3] = [128, 192, 256];

/// Percent of throughput gained, for each key the three sizes.
const PAPER: [(&str, [i32; 9]); 4] = [
    ("ThunderX2", [35, 23, 11, 34, 20, 9, 38, 25, 16]),
    ("eMAG", [11, 6, 3, 12, 4, 2, 11, 4, 2]),
    ("Cortex-A72", [8, 5, -4, 9, 4, -5, 7, 4, -5]),
    ("Cortex-A53", [11, 6, -1, 10, 8, -1, 10, 8, -2]),
];

/// Styles of two, four and five blocks at once.
const WAYS: [&str; 3] = [OLD, NEW[1], NEW[2]];
const OLD: &str = "2-way, stack buffer";
const NEW: [&str; 3] = ["4-way, tail from the right", "4-way, overlapping, folded tag", "5-way, overlapping, folded tag"];
/// AES and GHASH one after the other over the whole text; in turn, eight vectors each. (Stitched is the library.)
const APART: [&str; 2] = ["two passes", "K'"];
/// Whose instructions are counted.
const COUNTED: [&str; 6] = [OLD, NEW[0], NEW[1], NEW[2], APART[0], APART[1]];

pub(super) fn run(bench: &Bench<'_>, report: &mut Report) -> Result<(), String> {
    let backend = one_block();
    let cases: Vec<_> = KEYS.iter().flat_map(|key_bits| SIZES.map(|bytes| (*key_bits, bytes))).collect();
    let head = || ["".into()].into_iter().chain(cases.iter().map(|(key_bits, bytes)| format!("AES-{key_bits} {bytes}")));
    let mut table =
        Table::new("Improvement of throughput over the style it replaced: 2-way, tail through a stack buffer, tag on its own", head());
    report.axes[1] = "AES-128, times the throughput of the style before";
    for (cpu, gains) in &PAPER {
        table.row(format!("paper, {cpu}"), gains.map(|n| format!("{n}%")));
        let points = SIZES.iter().zip(gains).map(|(size, gain)| (*size as f64, 1.0 + f64::from(*gain) / 100.0)).collect();
        report.chart.push(Series { name: format!("paper, {cpu}"), points });
    }
    let styles: Vec<_> = COUNTED.into_iter().filter_map(|name| style(backend, name)).collect();
    let (library, buffers) = (Library::from(backend), Buffers::new(SIZES[2], 13));
    let measured: Vec<_> = cases
        .iter()
        .enumerate()
        .map(|(at, (key_bits, bytes))| {
            let message = Message { seal: true, key_bits: *key_bits, bytes: *bytes, aad: 13 };
            let mut contenders: Vec<_> = styles.iter().filter_map(|style| message.by_style(&**style, style.name().into())).collect();
            contenders.extend(message.by(&library, &buffers));
            bench.measure(message.case(), (at, cases.len() + SIZES.len()), &mut contenders)
        })
        .collect();
    for new in NEW {
        let ratios: Vec<_> = measured.iter().map(|measured| ratio(measured, OLD, new)).collect();
        let points = SIZES.iter().zip(&ratios).filter_map(|(size, ratio)| Some((*size as f64, (*ratio)?))).collect();
        report.chart.push(Series { name: format!("here, {new}"), points });
        table.row(format!("here, {new}"), ratios.into_iter().map(percent));
    }
    table
        .note(format!("\"Tail from the right\" is the post's: four overlapping loads, counters from right to left, lengths as a block of their own. Ours: time on {backend}. On a machine that is no AArch64 this is another processor's answer to the same question."));
    report.tables.push(table);

    let mut table = Table::new("Improvement of throughput over two passes, AES and then GHASH, eight vectors at once", head());
    for (name, new) in [("taking turns", APART[1]), ("stitched: the library", &library.name())] {
        table.row(format!("here, {name}"), measured.iter().map(|measured| percent(ratio(measured, APART[0], new))));
    }
    table.note(format!(
        "On {backend}. The first is the same source twice; the library is not, its tails and its counters are straight-line code, too."
    ));
    report.tables.push(table);

    report.tables.push(spread(format!("Times on {backend}, 13 bytes of AAD"), head(), &measured));
    report.tables.push(counter_mode(bench, (cases.len(), cases.len() + SIZES.len())));

    let arguments = |key: usize| {
        let probes = COUNTED.into_iter().flat_map(|style| SIZES.map(|bytes| format!("{style}:{bytes}")));
        [backend.to_string(), (key / 8).to_string(), "13".into()].into_iter().chain(probes).collect::<Vec<_>>()
    };
    let mut counts = Vec::new();
    for key in KEYS {
        counts.push(bench.steps(&arguments(key))?);
    }
    if let Some(counts) = counts.into_iter().collect::<Option<Vec<_>>>() {
        let mut table = Table::new(format!("Instructions executed on {backend}, 13 bytes of AAD"), head());
        for (number, style) in COUNTED.into_iter().enumerate() {
            table.row(style, counts.iter().flat_map(|of_key| of_key[3 * number..3 * number + 3].to_vec()));
        }
        table.note("The paper's gain is latency, on a processor with a deep pipeline. Counts of instructions cannot show that.");
        report.tables.push(table);
    }
    Ok(())
}

/// Counter mode without GHASH, for which five at once were found better than four.
fn counter_mode(bench: &Bench<'_>, (at, of): (usize, usize)) -> Table {
    let styles: Vec<_> = WAYS.into_iter().filter_map(|name| style(one_block(), name)).collect();
    let measured: Vec<_> = (0..SIZES.len())
        .map(|number| {
            let contenders = styles.iter().filter_map(|style| {
                let (key, mut text) = (style.expand(&[0x5a; 16])?, vec![7; SIZES[number]]);
                Some(Contender::new(style.name(), move || style.keystream(&key, &[1; 12], 0, black_box(&mut text))))
            });
            let case = Case::of_bytes("AES-128 counter mode alone", SIZES[number] as u64);
            bench.measure(case, (at + number, of), &mut contenders.collect::<Vec<_>>())
        })
        .collect();
    let head = ["bytes"].map(String::from).into_iter().chain(SIZES.map(|bytes| bytes.to_string()));
    let mut table = Table::new("Improvement of throughput of counter mode alone, AES-128, by more blocks at once", head);
    for (name, old, new) in [("here, four over two", WAYS[0], WAYS[1]), ("here, five over four", WAYS[1], WAYS[2])] {
        table.row(name, measured.iter().map(|measured| percent(ratio(measured, old, new))));
    }
    table.note("The post has five over four for CBC and CTR on ThunderX2: around 11%.");
    table
}
