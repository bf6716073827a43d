//! Eric Biggers: "crypto: x86/aes-gcm - rewrite the AES-NI optimized AES-GCM", Linux commit e6e758fa, 2024. Tables 1 and 2.

use super::{Bench, Library, Message, Report, Series, Table, percent, ratio, size, spread};
use fastgcm::Backend;
use fastgcm_measure::aead::{AnyImplementation, Buffers};

const SIZES: [usize; 11] = [16384, 4096, 4095, 1420, 512, 500, 300, 200, 64, 63, 16];

/// Percent of throughput gained: table 1 (encryption), table 2 (decryption).
const PAPER: [(bool, &str, [u32; 11]); 12] = [
    (true, "Intel Broadwell", [2, 8, 11, 18, 31, 26, 35, 29, 45, 55, 54]),
    (true, "Intel Skylake", [1, 4, 7, 12, 26, 19, 25, 19, 28, 33, 27]),
    (true, "Intel Cascade Lake", [3, 8, 10, 18, 33, 24, 36, 28, 39, 49, 54]),
    (true, "AMD Zen 1", [6, 12, 6, 15, 27, 24, 27, 22, 23, 29, 26]),
    (true, "AMD Zen 2", [8, 13, 13, 19, 26, 28, 32, 24, 22, 25, 31]),
    (true, "AMD Zen 3", [8, 14, 13, 19, 26, 25, 30, 24, 22, 23, 26]),
    (false, "Intel Broadwell", [3, 8, 11, 19, 32, 28, 36, 31, 40, 51, 53]),
    (false, "Intel Skylake", [3, 4, 7, 13, 28, 27, 28, 21, 23, 30, 30]),
    (false, "Intel Cascade Lake", [3, 9, 11, 19, 33, 28, 36, 29, 36, 47, 53]),
    (false, "AMD Zen 1", [15, 18, 14, 20, 36, 33, 35, 31, 32, 35, 36]),
    (false, "AMD Zen 2", [9, 16, 13, 21, 26, 27, 31, 30, 27, 38, 30]),
    (false, "AMD Zen 3", [8, 15, 12, 18, 23, 23, 27, 23, 24, 32, 26]),
];

/// Back ends of the library whose levels Linux has, too.
const LEVELS: [Backend; 4] = [Backend::AesniSse, Backend::AesniAvx, Backend::VaesAvx2, Backend::VaesAvx512];

pub(super) fn run(bench: &Bench<'_>, report: &mut Report) {
    let libraries: Vec<_> = LEVELS.into_iter().filter(|backend| backend.is_available()).map(Library::from).collect();
    let pairs = pairs(bench, &libraries);
    report.axes[1] = "AES-256 sealed, times the throughput";
    let buffers = Buffers::new(SIZES[0], 16);
    for (number, seal) in [true, false].into_iter().enumerate() {
        let verb = if seal { "encryption" } else { "decryption" };
        let title = format!("Table {}: AES-256-GCM {verb} throughput improvement, 16 bytes of AAD", number + 1);
        let head = || ["bytes"].map(String::from).into_iter().chain(SIZES.map(|n| n.to_string()));
        let mut table = Table::new(title, head());
        for (_, cpu, gains) in PAPER.iter().filter(|row| row.0 == seal) {
            table.row(format!("paper, {cpu}"), gains.map(|n| format!("{n}%")));
            if seal && ["Intel Cascade Lake", "AMD Zen 3"].contains(cpu) {
                let points = SIZES.iter().zip(gains).map(|(size, gain)| (*size as f64, 1.0 + f64::from(*gain) / 100.0)).collect();
                report.chart.push(Series { name: format!("paper, {cpu}"), points });
            }
        }
        let measured = SIZES.map(|bytes| {
            let message = Message { seal, key_bits: 256, bytes, aad: 16 };
            let mut contenders: Vec<_> = libraries.iter().filter_map(|library| message.by(library, &buffers)).collect();
            contenders.extend(bench.linux.iter().flat_map(|linux| linux.all()).filter_map(|linux| message.by(linux, &buffers)));
            contenders.extend(bench.held.iter().filter_map(|(_, peer)| message.by(*peer, &buffers)));
            let at = SIZES.iter().position(|size| *size == bytes).unwrap_or(0);
            bench.measure(message.case(), (11 * number + at, 22), &mut contenders)
        });
        for Pair { name, old, new, drawn } in &pairs {
            let ratios: Vec<_> = measured.iter().map(|measured| ratio(measured, old, new)).collect();
            if seal && *drawn {
                let points = SIZES.iter().zip(&ratios).filter_map(|(size, ratio)| Some((*size as f64, (*ratio)?))).collect();
                report.chart.push(Series { name: format!("here, {name}"), points });
            }
            table.row(format!("here, {name}"), ratios.into_iter().map(percent));
        }
        table.note(match &bench.linux {
            Some(_) => "Linux 6.1 is what was replaced: for each length the code that the kernel chose, SSE below 640 bytes, avx_gen2 below 4,096, avx_gen4 from there on. Measured is the assembly, for AAD and text in one piece each.",
            None => "Linux takes no part: lab/studies/linux.sh FOLDER fetches and assembles its code, and --linux FOLDER measures it.",
        });
        table.note("OpenSSL and ipsec-mb are held to the same level: OpenSSL is told that the processor has nothing wider (OPENSSL_ia32cap), of ipsec-mb it is the code for such processors.");
        report.tables.push(table);
        report.tables.push(spread(format!("Times behind table {}: AES-256-GCM {verb}", number + 1), head(), &measured));
    }
    if let Some(others) = bench.cold {
        report.tables.extend(cold(bench, others, &libraries, &pairs, &buffers));
    }
    let backends: Vec<_> = libraries.iter().map(|library| library.backend).collect();
    report.tables.push(size::table(&backends, bench.linux.as_ref().map(|linux| linux.folder)));
}

/// Table 1 again, for some lengths, where other code and other data come before each message: the improvements, and the times.
fn cold(bench: &Bench<'_>, others: &dyn Fn(), libraries: &[Library], pairs: &[Pair], buffers: &Buffers) -> [Table; 2] {
    const SOME: [usize; 5] = [4096, 1420, 512, 64, 16];
    let head = || ["bytes"].map(String::from).into_iter().chain(SOME.map(|n| n.to_string()));
    let measured = SOME.map(|bytes| {
        let message = Message { seal: true, key_bits: 256, bytes, aad: 16 };
        let mut case = message.case();
        case.group += ", cold caches";
        let ours = libraries.iter().map(|library| library as &dyn AnyImplementation);
        let all = ours.chain(bench.linux.iter().flat_map(|linux| linux.all()));
        let mut contenders: Vec<_> = all.filter_map(|one| message.by(one, buffers)).map(|one| one.after(others)).collect();
        bench.measure(case, (21, 22), &mut contenders)
    });
    let mut table = Table::new("Table 1 with cold caches: AES-256-GCM encryption throughput improvement, 16 bytes of AAD", head());
    for Pair { name, old, new, .. } in pairs.iter().filter(|pair| measured[0].by(&pair.old).is_some()) {
        table.row(format!("here, {name}"), measured.iter().map(|measured| percent(ratio(measured, old, new))));
    }
    table.note("Before each message a program of 1 MiB runs and 8 MiB are read, so neither code nor key nor text is near.");
    [table, spread("Times with cold caches: AES-256-GCM encryption".into(), head(), &measured)]
}

/// A row: which two are compared, and whether the chart shows it.
struct Pair {
    name: String,
    old: String,
    new: String,
    drawn: bool,
}

/// The paper's own comparison first, then ours with everybody of the level.
fn pairs(bench: &Bench<'_>, libraries: &[Library]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut pair = |name: &str, new: &dyn AnyImplementation, old: &dyn AnyImplementation, drawn| {
        pairs.push(Pair { name: format!("{name} over {}", old.name()), old: old.name(), new: new.name(), drawn });
    };
    if let Some(linux) = &bench.linux {
        let avx = linux.new.iter().find(|(level, _)| *level == Backend::AesniAvx);
        avx.iter().for_each(|(_, avx)| pair(&avx.name(), *avx, linux.old, true));
    }
    for library in libraries {
        let name = library.backend.name();
        if let Some(linux) = &bench.linux {
            if library.backend == Backend::AesniAvx {
                pair(name, library, linux.old, false);
            }
            linux.new.iter().filter(|(level, _)| *level == library.backend).for_each(|(_, linux)| pair(name, library, *linux, true));
        }
        bench.held.iter().filter(|(level, _)| *level == library.backend).for_each(|(_, peer)| pair(name, library, *peer, false));
    }
    pairs
}
