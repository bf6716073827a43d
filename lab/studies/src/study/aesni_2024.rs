//! Eric Biggers: "crypto: x86/aes-gcm - rewrite the AES-NI optimized AES-GCM", Linux commit e6e758fa, 2024. Tables 1 and 2.

use super::{Bench, Library, Message, Report, Series, Table, percent, ratio, size, spread, style};
use fastgcm::Backend;
use fastgcm_measure::aead::{AnyImplementation, Buffers};

const SIZES: [usize; 11] = [16384, 4096, 4095, 1420, 512, 500, 300, 200, 64, 63, 16];

/// Percent of throughput gained: table 1 (encryption), table 2 (decryption).
const PAPER: [(bool, &str, [u32; 11]); 6] = [
    (true, "Intel Skylake", [1, 4, 7, 12, 26, 19, 25, 19, 28, 33, 27]),
    (true, "Intel Cascade Lake", [3, 8, 10, 18, 33, 24, 36, 28, 39, 49, 54]),
    (true, "AMD Zen 3", [8, 14, 13, 19, 26, 25, 30, 24, 22, 23, 26]),
    (false, "Intel Skylake", [3, 4, 7, 13, 28, 27, 28, 21, 23, 30, 30]),
    (false, "Intel Cascade Lake", [3, 9, 11, 19, 33, 28, 36, 29, 36, 47, 53]),
    (false, "AMD Zen 3", [8, 15, 12, 18, 23, 23, 27, 23, 24, 32, 26]),
];

/// A back end of the library, and the style that Linux had for such processors.
const PAIRS: [(Backend, &str); 2] =
    [(Backend::AesniSse, "4 blocks, Karatsuba, shifts"), (Backend::AesniAvx, "8 blocks, powers not stored")];

pub(super) fn run(bench: &Bench<'_>, report: &mut Report) {
    let pairs: Vec<_> = PAIRS.into_iter().filter(|(backend, _)| backend.is_available()).collect();
    let buffers = Buffers::new(SIZES[0], 16);
    for (number, seal) in [true, false].into_iter().enumerate() {
        let verb = if seal { "encryption" } else { "decryption" };
        let title = format!("Table {}: AES-256-GCM {verb} throughput improvement, 16 bytes of AAD", number + 1);
        let head = || ["bytes"].map(String::from).into_iter().chain(SIZES.map(|n| n.to_string()));
        let mut table = Table::new(title, head());
        PAPER
            .iter()
            .filter(|row| row.0 == seal)
            .for_each(|(_, cpu, gains)| table.row(format!("paper, {cpu}"), gains.map(|n| format!("{n}%"))));
        let libraries: Vec<_> = pairs.iter().map(|(backend, _)| Library::from(*backend)).collect();
        let old: Vec<_> = pairs.iter().filter_map(|(backend, name)| Some((*backend, style(*backend, name)?))).collect();
        let old_name = |backend: Backend, name: &str| format!("{name} on {backend}");
        let measured = SIZES.map(|bytes| {
            let message = Message { seal, key_bits: 256, bytes, aad: 16 };
            let mut contenders: Vec<_> =
                old.iter().filter_map(|(backend, style)| message.by_style(&**style, old_name(*backend, style.name()))).collect();
            contenders.extend(libraries.iter().filter_map(|library| message.by(library, &buffers)));
            contenders.extend(bench.held.iter().filter_map(|(_, peer)| message.by(*peer, &buffers)));
            let at = SIZES.iter().position(|size| *size == bytes).unwrap_or(0);
            bench.measure(message.case(), (11 * number + at, 22), &mut contenders)
        });
        let mut row = |name: String, old: &str, new: &str| {
            let ratios: Vec<_> = measured.iter().map(|measured| ratio(measured, old, new)).collect();
            let points = SIZES.iter().zip(&ratios).filter_map(|(size, ratio)| Some((*size as f64, (*ratio)?))).collect();
            report.chart.push(Series { name: format!("{verb}: {name}"), points });
            table.row(format!("here, {name}"), ratios.into_iter().map(percent));
        };
        for ((backend, name), library) in pairs.iter().zip(&libraries) {
            row(format!("{backend} over \"{name}\""), &old_name(*backend, name), &library.name());
            for (_, peer) in bench.held.iter().filter(|(level, _)| level == backend) {
                row(format!("{backend} over {}", peer.name()), &peer.name(), &library.name());
            }
        }
        table.note("The styles that Linux replaced are written here afresh, as loops (`message`); they are not its old code.");
        table.note("OpenSSL and ipsec-mb are held to the same level: OpenSSL is told that the processor has nothing wider (OPENSSL_ia32cap), of ipsec-mb it is the code for such processors.");
        report.tables.push(table);
        report.tables.push(spread(format!("Times behind table {}: AES-256-GCM {verb}", number + 1), head(), &measured));
    }
    report.tables.push(size::table(&PAIRS.map(|(backend, _)| backend)));
}
