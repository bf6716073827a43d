//! Numbers in tables of the documents that the code decides, or that a program has measured. Sentences are free: no test reads them, except that a
//! version of Rust is the project's wherever one stands.

#[path = "support/suite.rs"]
mod suite;

use fastgcm::Key;
use std::{
    fs,
    path::{Path, PathBuf},
};
use suite::passed;

/// A file of the project.
fn read(path: impl AsRef<Path>) -> String {
    let path = root(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// All numbers of a text: 24,894 is one, and so is 0.95.
fn numbers(text: &str) -> Vec<f64> {
    let words = text.split(|c: char| !c.is_ascii_digit() && !".,".contains(c));
    let plain = |word: &str| word.trim_matches(['.', ',']).replace(',', "");
    words.filter_map(|word| plain(word).parse().ok()).collect()
}

/// The rows of the tables in a text, without their heads.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    let mut in_rows = false;
    text.lines().filter(move |line| {
        let is_row = line.starts_with('|');
        let is_rule = is_row && line.contains("---");
        let is_wanted = in_rows && is_row && !is_rule;
        in_rows = is_row && (in_rows || is_rule);
        is_wanted
    })
}

/// The table that stands between these marks of a page.
fn marked<'a>(page: &'a str, mark: &str) -> &'a str {
    let behind = page.split_once(&format!("<!-- {mark} -->\n")).unwrap_or_else(|| panic!("no mark {mark}")).1;
    behind.split_once(&format!("<!-- /{mark} -->")).unwrap_or_else(|| panic!("no end of {mark}")).0
}

/// The numbers of each row of a page of measurements, and of the CSV files of that page: beside `zen5.md` stands `zen5-ranges.csv`.
fn measured(page: &Path) -> Vec<Vec<f64>> {
    let beside = root(page.parent().unwrap()).read_dir().unwrap().map(|file| file.unwrap().path());
    let start = format!("{}-", page.file_stem().unwrap().to_str().unwrap());
    let is_of_page = |file: &PathBuf| {
        file.extension().is_some_and(|end| end == "csv") && file.file_name().unwrap().to_str().unwrap().starts_with(&start)
    };
    let tables = beside.filter(is_of_page).map(|file| read(file).replace(',', " ")).collect::<String>();
    rows(&read(page)).map(numbers).chain(tables.lines().map(numbers)).collect()
}

/// A page's section shows measurements by copying rows of the file to which it links: each such row stands there.
fn copied(page: &str) -> usize {
    let (text, mut count) = (read(page), 0);
    for section in text.split("\n## ") {
        let links = section.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let is_measured = |link: &&str| link.ends_with(".md") && link.contains("/results/");
        let folder = Path::new(page).parent().unwrap();
        let there: Vec<Vec<f64>> = links.filter(is_measured).flat_map(|link| measured(&folder.join(link))).collect();
        // More than half of the cells of a row of measurements begin with a number.
        let is_copied = |row: &&str| {
            let cells = || row.trim_matches('|').split('|').map(|cell| cell.trim().trim_start_matches('*'));
            2 * cells().filter(|cell| cell.starts_with(|c: char| c.is_ascii_digit())).count() > cells().count()
        };
        for row in rows(section).filter(is_copied).filter(|_| !there.is_empty()) {
            let wanted = numbers(row);
            let is_there = there.iter().any(|row| row.windows(wanted.len()).any(|part| part == wanted));
            assert!(is_there, "{page}: no file to which the section links has the row {row}");
            count += 1;
        }
    }
    assert!(count > 0, "{page} has no rows");
    count
}

#[test]
fn tables() {
    let count = ["README.md", "BENCHMARKS.md"].map(copied).iter().sum();
    passed("documents::tables", count, count);
}

/// What follows from the code.
#[test]
fn code() {
    let page = read("docs/migrating.md");
    let size = rows(&page).find(|row| row.contains("| ring: 0.5 KB |")).unwrap();
    let key = (size_of::<Key>() as f64 / 100.0).round() / 10.0;
    assert_eq!(numbers(size), [0.5, key], "{size}");
    // A version of Rust, wherever one stands.
    let rust = read("Cargo.toml").split_once("rust-version = \"").unwrap().1.split_once('"').unwrap().0.to_owned();
    let pages = ["README.md", "crates/fastgcm/README.md", "docs/migrating.md", "crates/fastgcm/src/rustcrypto.rs"];
    let told: Vec<String> = pages.iter().flat_map(|page| versions(&read(page))).collect();
    assert!(told.iter().all(|version| *version == rust), "Rust {rust}: {told:?}");
    passed("documents::code", 1 + pages.len(), 5);
}

/// Each version behind the word `Rust`.
fn versions(text: &str) -> Vec<String> {
    let behind = text.split("Rust ").skip(1).map(|rest| rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap());
    behind.map(|version| version.trim_end_matches('.').to_owned()).filter(|version| version.contains('.')).collect()
}

/// The bytes that q messages may have in all, for each row of docs/nonces.md: the largest q for which the row's bound, times 2^129, is at most
/// 2^(129 - exponent).
#[test]
fn limits() {
    const SALT: u32 = 8 * 24; // bits, of a file's
    const CHUNK: u128 = 16_384;
    const COLUMNS: [(u128, u32); 6] = [(64, 32), (64, 57), (1420, 32), (1420, 57), (CHUNK, 32), (CHUNK, 57)];
    let square = |n: u128| n.saturating_mul(n);
    // That two of q random values of so many bits are equal, times 2^129, rounded up.
    let equal = |q: u128, bits: u32| match bits {
        ..=128 => square(q).saturating_mul(1 << (128 - bits)),
        bits => square(q.div_ceil(1 << ((bits - 128) / 2))),
    };
    // A key for each of q messages; with nonces, two messages have one key if the first halves of their nonces are equal.
    let own = |q: u128, blocks: u128| q.saturating_mul(square(blocks + 1));
    let halves = |q: u128, blocks: u128| own(q.saturating_add(square(q.div_ceil(1 << 48))), blocks);
    let blocks = |bytes: u128| fastgcm::limits::Blocks::sealed(bytes as u64);
    let files = |q, bytes, key| own(q, blocks(bytes) + bytes / CHUNK).saturating_add(equal(q, SALT)).saturating_add(equal(q, key));
    type Bound<'a> = &'a dyn Fn(u128, u128) -> u128;
    let bounds: [(&str, u128, Bound<'_>); 8] = [
        ("`SealingKey` with `CounterNonces` or `XorNonces`; TLS, QUIC, IPsec, SRTP", 1 << 64, &|q, bytes| {
            square((q * blocks(bytes)).saturating_add(1))
        }),
        ("`SealingKey` with `RandomNonces`", 1 << 32, &|q, bytes| square(q * blocks(bytes) + 1).saturating_add(equal(q, 96))),
        // AES of the root key: one block for the subkey, two or five for each message; CMACs of two blocks may also meet inside.
        ("`Xaes256Gcm`", 1 << 63, &|q, bytes| square(2 * q + 2).saturating_add(halves(q, blocks(bytes))).saturating_add(equal(q, 192))),
        ("`KcXaes256Gcm`", 1 << 63, &|q, bytes| {
            square(5 * q + 2).saturating_mul(2).saturating_add(halves(q, blocks(bytes))).saturating_add(equal(q, 192))
        }),
        // Keys that two of them share count as nonces that do.
        ("`seal_once`, each with 32 random bytes", 1 << 126, &|q, bytes| own(q, blocks(bytes)).saturating_add(equal(q, 256))),
        ("files of Cobblestone-256, each with so much text", 1 << 126, &|q, bytes| files(q, bytes, 256)),
        ("files of Cobblestone-128, each with so much text", 1 << 126, &|q, bytes| files(q, bytes, 128)),
        ("one file of either, in chunks of 16 KiB", 1 << 38, &|q, bytes| {
            if bytes == CHUNK { square(q * blocks(bytes) + 1) } else { u128::MAX }
        }),
    ];
    let mut table = String::new();
    for (name, most, bound) in bounds {
        let cells = COLUMNS.map(|(bytes, exponent)| {
            let fits = |q: u128| bound(q, bytes) <= 1 << (129 - exponent);
            let (mut q, mut step) = (0_u128, 1_u128 << 126);
            while step > 0 {
                q += if q + step <= most && fits(q + step) { step } else { 0 };
                step /= 2;
            }
            assert!(fits(q) || q == 0);
            shown(q.saturating_mul(bytes))
        });
        table += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    let page = read("docs/nonces.md");
    let there: String = rows(marked(&page, "limits")).map(|row| format!("{row}\n")).collect();
    assert!(there == table, "docs/nonces.md must have:\n{table}");
    passed("documents::limits", there.lines().count(), bounds.len());
}

/// A number of bytes with two digits, rounded down.
fn shown(bytes: u128) -> String {
    let (mut unit, mut tenths) = (0, 10 * bytes);
    while tenths >= 10_000 {
        (unit, tenths) = (unit + 1, tenths / 1000);
    }
    let unit = ["B", "KB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB", "RB", "QB"][unit];
    match tenths {
        0 => "".into(),
        1..100 => format!("{}.{} {unit}", tenths / 10, tenths % 10),
        _ => format!("{} {unit}", tenths / 10),
    }
}
