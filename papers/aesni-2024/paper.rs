//! Replays Eric Biggers: "crypto: x86/aes-gcm - rewrite the AES-NI optimized AES-GCM", Linux commit e6e758fa, 2024. Tables 1 and 2, and the sizes.

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "functions of another library can be called in no other way")]
#[path = "linux.rs"]
pub(crate) mod linux;
#[path = "size.rs"]
mod size;

use crate::{
    bench::{Bench, Library, Message, percent, ratios, sizes, times},
    report::{Cells, Report, Table},
};
use anyhow::Result;
use fastgcm::Backend;
use fastgcm_measure::aead::{AnyImplementation, Buffers};

const SIZES: [usize; 11] = [16384, 4096, 4095, 1420, 512, 500, 300, 200, 64, 63, 16];

/// The gains of throughput: table 1 (encryption), table 2 (decryption).
const PAPER: [(bool, &str, &str); 12] = [
    (true, "Intel Broadwell", "2% 8% 11% 18% 31% 26% 35% 29% 45% 55% 54%"),
    (true, "Intel Skylake", "1% 4% 7% 12% 26% 19% 25% 19% 28% 33% 27%"),
    (true, "Intel Cascade Lake", "3% 8% 10% 18% 33% 24% 36% 28% 39% 49% 54%"),
    (true, "AMD Zen 1", "6% 12% 6% 15% 27% 24% 27% 22% 23% 29% 26%"),
    (true, "AMD Zen 2", "8% 13% 13% 19% 26% 28% 32% 24% 22% 25% 31%"),
    (true, "AMD Zen 3", "8% 14% 13% 19% 26% 25% 30% 24% 22% 23% 26%"),
    (false, "Intel Broadwell", "3% 8% 11% 19% 32% 28% 36% 31% 40% 51% 53%"),
    (false, "Intel Skylake", "3% 4% 7% 13% 28% 27% 28% 21% 23% 30% 30%"),
    (false, "Intel Cascade Lake", "3% 9% 11% 19% 33% 28% 36% 29% 36% 47% 53%"),
    (false, "AMD Zen 1", "15% 18% 14% 20% 36% 33% 35% 31% 32% 35% 36%"),
    (false, "AMD Zen 2", "9% 16% 13% 21% 26% 27% 31% 30% 27% 38% 30%"),
    (false, "AMD Zen 3", "8% 15% 12% 18% 23% 23% 27% 23% 24% 32% 26%"),
];

/// The library's back ends whose levels Linux has, too.
pub(crate) const LEVELS: [Backend; 4] = [Backend::AesniSse, Backend::AesniAvx, Backend::VaesAvx2, Backend::VaesAvx512];

pub(crate) fn run(bench: &Bench<'_>, report: &mut Report) -> Result<()> {
    let libraries: Vec<_> = LEVELS.into_iter().filter(|backend| backend.is_available()).map(Library).collect();
    let pairs = pairs(bench, &libraries);
    let buffers = Buffers::new(SIZES[0], 16);
    for (number, seal, verb) in [(1, true, "encryption"), (2, false, "decryption")] {
        let title = format!("Table {number}: AES-256-GCM {verb} throughput improvement, 16 bytes of AAD");
        let mut table = Table::new(title, Cells::Timed, sizes(&SIZES));
        for (_, cpu, gains) in PAPER.iter().filter(|row| row.0 == seal) {
            table.row(format!("paper, {cpu}"), gains.split(' '));
        }
        let measured = SIZES.map(|bytes| {
            let message = Message { seal, key_bits: 256, bytes, aad: 16 };
            let ours = libraries.iter().map(|library| library as &dyn AnyImplementation);
            let all = ours.chain(bench.linux.iter().flat_map(|linux| linux.all()));
            bench.measure(message.case(), &mut all.filter_map(|one| message.by(one, &buffers)).collect::<Vec<_>>())
        });
        for (name, old, new) in &pairs {
            table.row(format!("here, {name}"), ratios(&measured, old, new).into_iter().map(percent));
        }
        table.note(match &bench.linux {
            Some(_) => "Linux 6.1 is what was replaced: for each length the code that the kernel chose, SSE below 640 bytes, avx_gen2 below 4,096, avx_gen4 from there on. Measured is the assembly, for AAD and text in one piece each.",
            None => "Linux takes no part: aesni-2024/linux.sh FOLDER fetches and assembles its code, and --linux FOLDER measures it.",
        });
        report.tables.push(table);
        report.tables.push(times(format!("Times behind table {number}: AES-256-GCM {verb}"), sizes(&SIZES), &measured));
    }
    report.tables.push(size::table(&libraries, bench.linux.as_ref().map(|linux| linux.folder)));
    Ok(())
}

/// Returns the rows, each a name, the old code and the new: the paper's own comparison first, then ours with Linux at each level.
fn pairs(bench: &Bench<'_>, libraries: &[Library]) -> Vec<(String, String, String)> {
    let Some(linux) = &bench.linux else { return Vec::new() };
    let pair = |name: &str, new: String, old: &dyn AnyImplementation| (format!("{name} over {}", old.name()), old.name(), new);
    let mut pairs = Vec::new();
    let avx = linux.new.iter().find(|(level, _)| *level == Backend::AesniAvx);
    pairs.extend(avx.map(|(_, avx)| pair(&avx.name(), avx.name(), linux.old)));
    for library in libraries {
        let old = Some(linux.old).filter(|_| library.0 == Backend::AesniAvx);
        let new = linux.new.iter().filter(|(level, _)| *level == library.0).map(|(_, new)| *new);
        pairs.extend(old.into_iter().chain(new).map(|linux| pair(library.0.name(), library.name(), linux)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{faster, passed, replay};

    /// The page quotes the commit's message, and each row compares the code of its name.
    #[test]
    fn aesni_2024() {
        let (report, mut checked) = replay("aesni-2024", 2 * 6 * 11 + 2 * 3);
        let mut rows = vec![("Linux avx", "Linux avx".into(), "Linux before")];
        for (backend, old) in [(Backend::AesniSse, "Linux sse"), (Backend::AesniAvx, "Linux before"), (Backend::AesniAvx, "Linux avx")] {
            rows.extend(backend.is_available().then(|| (backend.name(), Library(backend).name(), old)));
        }
        for (table, verb) in [(0, "seal"), (2, "open")] {
            for ((name, new, old), row) in rows.iter().zip(&report.tables[table].rows[6..]) {
                let wanted = SIZES.map(|bytes| percent(Some(faster(&format!("AES-256 {verb}, 16 bytes of AAD"), bytes, old, new))));
                assert_eq!((&row[0], &row[1..]), (&format!("here, {name} over {old}"), &wanted[..]));
                checked += 1;
            }
        }
        passed("papers::aesni_2024", checked, 138 + 2 * rows.len());
    }
}
