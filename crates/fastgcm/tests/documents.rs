//! Numbers in the documents that the code decides, or that a program has measured.

#[path = "support/suite.rs"]
mod suite;

use fastgcm::{Key, limits};
use std::{
    fs,
    path::{Path, PathBuf},
};
use suite::passed;

/// A file of the project.
fn raw(path: &str) -> String {
    fs::read_to_string(root(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file of the project, with one space where it has any white space.
fn read(path: &str) -> String {
    words(&raw(path))
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number that stands behind some text of a file.
fn number(path: &str, before: &str) -> usize {
    let text = read(path);
    let behind = text.split_once(before).unwrap_or_else(|| panic!("{path}: {before}")).1;
    let end = behind.find(|c: char| !c.is_ascii_digit() && !"_,".contains(c)).unwrap();
    behind[..end].replace(['_', ','], "").parse().unwrap_or_else(|error| panic!("{path}: {before}: {error}"))
}

/// As it is printed: 24,894.
fn printed(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", printed(number / 1000), number % 1000) }
}

/// Each text stands on its page.
fn stand(suite: &str, wanted: &[(&str, String)], count: usize) {
    for (page, text) in wanted {
        assert!(read(page).contains(&words(text)), "{page} does not say: {text}");
    }
    passed(suite, wanted.len(), count);
}

/// What follows from the code.
#[test]
fn numbers() {
    let rust = read("Cargo.toml").split_once("rust-version = \"").unwrap().1.split_once('"').unwrap().0.to_owned();
    let key = format!("{:.1} KB", size_of::<Key>() as f64 / 1000.0);
    let wanted = [
        ("docs/security-model.md", format!("a key has {key} and")),
        ("docs/migrating.md", format!("| size of a key | ring: 0.5 KB | {key} |")),
        ("crates/aes-gcm-010/README.md", format!("It takes {key}, where")),
        ("crates/aes-gcm-011/README.md", format!("It takes {key}, where")),
        ("crates/rustls-fastgcm/README.md", format!("One takes {key}: a")),
        ("crates/str0m-fastgcm/README.md", format!("One takes {key}")),
        ("docs/security-model.md", format!("the limit of 2^36 - {} bytes", (1 << 36) - limits::TEXT)),
        ("crates/fastgcm/src/isa/scrub.rs", "const CALLS: usize = 4096;".into()), // the next line's 4 KB
        ("SECURITY.md", "up to 4 KB more of stack".into()),
        ("README.md", format!("Rust must be {rust} or newer")),
        ("crates/fastgcm/README.md", format!("Rust {rust}")),
        ("crates/fastgcm/src/rustcrypto.rs", format!("Rust {rust}** or newer")),
    ];
    stand("documents::numbers", &wanted, 12);
}

/// How much the tests do, as they say it themselves.
#[test]
fn counts() {
    let (known, traces) = ("crates/fastgcm/tests/known_answers.rs", "crates/fastgcm/tests/constant_time/traces.rs");
    let pairs = "crates/fastgcm/tests/cross_validation.rs";
    let (pieces, long) = ("crates/fastgcm/tests/pieces.rs", "testdata/long_known_answers.txt");
    let cavp = 6 * number("testdata/make_cavp_sample.py", "CASES_PER_FILE = ");
    let gcm = "support::wycheproof_gcm(), Tally { sealed: ";
    let gmac = "support::wycheproof_gmac(), Tally { sealed: ";
    let wycheproof = number(known, gcm) + number(known, "empty_nonces: ") + number(known, gmac);
    let lines = raw(long).lines().count() - 2;
    let builds = number("xtask/src/compilers.rs", "const BUILDS: [&str; ");
    let targets = fs::read_dir(root("lab/fuzz/fuzz_targets")).unwrap().count();
    let wanted = [
        format!("({} of NIST's CAVP, {wycheproof} of Wycheproof)", printed(cavp)),
        format!("({} messages of up to 16 MiB)", printed(lines * number(long, "# AES-GCM, "))),
        format!(
            "each back end seals {}, in the full run {})",
            printed(number(pairs, "150_000, _ => ")),
            printed(number(pairs, "(_, true) => "))
        ),
        format!("the known answers on {builds} kinds of optimised build"),
        format!("processor, LTO, toolchain) | none | {builds} |"),
        format!("fuzzing, a minute for each of {targets} targets"),
        format!("{} changes by the library", printed(2 * number("crates/fastgcm-file/tests/files/tampering.rs", "2 * sample("))),
        format!("every length to {},", printed(number("crates/fastgcm/tests/guard_pages.rs", "(1101..="))),
        format!("every two cuts of texts to {} bytes", number(pieces, "fn f12_every_two_cuts_of_a_text() { const LONGEST: usize = ")),
        format!("and of AAD to {},", number(pieces, "fn f12_every_two_cuts_of_aad() { const LONGEST: usize = ")),
        format!("| {} secrets x ", number(traces, "_ if full() => Self { secrets: ")),
        format!(" secrets x {} lengths: the same trace", number(traces, "const LENGTHS: [usize; ")),
        format!("| {} secrets x ", number(traces, "_ if emulated() => Self { secrets: ")),
        format!(" secrets x {} lengths, set-up", number(traces, "const DOZEN: [usize; ")),
    ];
    let wanted = wanted.map(|text| ("docs/security-model.md", text));
    stand("documents::counts", &wanted, 14);
}

/// What lab/bench/price/price.sh has measured.
#[test]
fn price() {
    let price = raw("lab/bench/price/price.md");
    let mut wanted = vec![("docs/migrating.md", price.clone())];
    for name in ["fastgcm", "aes-gcm", "ring", "aws-lc-rs"] {
        // The first row of that name; some have a version behind it.
        let row = price.lines().find(|line| line.starts_with(&format!("| {name} "))).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        wanted.push(("README.md", format!("{name} {} KB, {} s, {} s", cells[2], cells[3], cells[4])));
    }
    stand("documents::price", &wanted, 5);
}

/// What `interface` of lab/bench has measured.
#[test]
fn through_aes_gcm() {
    let results = raw("lab/bench/results/zen5-aes-gcm.md");
    let table = results.split("\n\n").last().unwrap();
    assert_eq!((table.lines().count(), table.matches(" ns").count() + table.matches(" µs").count()), (2 + 5, 4 * 5));
    stand("documents::through_aes_gcm", &[("docs/migrating.md", table.trim().into())], 1);
}

/// What crates/fastgcm-python/tests/figures.py and crates/fastgcm-python/interop/run.py have measured.
#[test]
fn figures() {
    let (python, data) = (raw("docs/python-figures.md"), raw("crates/fastgcm-python/interop/results/README.md"));
    // A row's cells, each the best and the median; the best in nanoseconds, or in what the table has without a unit.
    let best = |page: &str, row: &str, cell: usize| -> f64 {
        let line = page.lines().find(|line| line.starts_with(&format!("| {row} |"))).unwrap_or_else(|| panic!("no row {row}"));
        let cell = line.split('|').nth(2 + cell).unwrap().split(',').next().unwrap().trim();
        let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
        let factor = [("", 1.0), ("ns", 1.0), ("µs", 1e3), ("ms", 1e6)].into_iter().find(|known| known.0 == unit).unwrap().1;
        number.parse::<f64>().unwrap() * factor
    };
    let to_pyca = |row: &str| best(&python, row, 1) / best(&python, row, 0);
    let new_memory = "encrypt, 1 GiB, to memory that is new each time";
    let reused = best(&python, "encrypt_into, 1 GiB", 1) / best(&python, new_memory, 1);
    let share = |begins: &str| {
        let cells = data.lines().filter(|line| line.starts_with(begins)).flat_map(|line| line.split('|'));
        let shares: Vec<u32> = cells.filter_map(|cell| cell.trim().strip_suffix('%')?.parse().ok()).collect();
        format!("{} to {} %", shares.iter().min().unwrap(), shares.iter().max().unwrap())
    };
    let (plain, compressed) = (share("| numbers, not compressed"), share("| numbers and text, zstd"));
    let [alone, two] = ["one process", "2 workers"].map(|row| printed(best(&data, row, 0) as usize));
    let wanted = [
        ("docs/python.md", format!("1 GiB in one thread takes {:.2} of pyca's time", to_pyca("encrypt_into, 1 GiB"))),
        ("docs/python.md", format!("1 MiB takes {:.2}.", to_pyca("encrypt, 1 MiB"))),
        ("docs/python.md", format!("is used again takes {reused:.2} of the time of `encrypt`")),
        ("docs/python.md", format!("is opened in {:.2} times pyca's time", to_pyca("decrypt of a bytearray, 1 MiB"))),
        ("docs/python.md", format!("`bytes` in {:.2} times", to_pyca("decrypt, 1 MiB"))),
        ("docs/data.md", format!("one process sealed {alone} MiB/s and two workers of Dask {two} MiB/s")),
        ("docs/data.md", format!("Encryption is {plain} of a task that only copies numbers, and {compressed} of one that compresses")),
    ];
    stand("documents::figures", &wanted, 7);
}

/// The numbers of a row of a table, but for the first cell.
fn numbers_of(row: &str) -> Vec<f64> {
    row.split('|').skip(2).filter_map(|cell| cell.trim().parse().ok()).collect()
}

/// What lab/bench, lab/bench/before and crates/fastgcm-openssl/interop have measured.
#[test]
fn benchmarks() {
    let results = |name: &str| raw(&format!("lab/bench/results/{name}.md")).replace("**", "");
    let page = raw("BENCHMARKS.md");
    let (mut wanted, mut rows) = (Vec::new(), 0);
    let processors = [
        ("Emerald Rapids", "emerald-rapids"),
        ("Zen 5", "zen5"),
        ("Zen 4", "zen4"),
        ("Granite Rapids", "granite-rapids"),
        ("Skylake-SP", "skylake-sp"),
    ];
    for (processor, name) in processors {
        let (results, heading) = (results(name), format!("\n## {processor} ("));
        let section = page.split(&heading).nth(1).unwrap().split("\n## ").next().unwrap();
        for row in
            section.lines().filter(|line| line.starts_with("| AES-") || line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit())
        {
            assert!(results.contains(&row.replace("ipsec-mb*", "ipsec-mb-bare")), "{name}.md has no row {row}");
            rows += 1;
        }
        let behind = results.lines().find_map(|line| line.strip_suffix(" cells.").filter(|line| !line.contains('*')));
        wanted.extend(behind.map(|cells| ("BENCHMARKS.md", format!("{cells} on {processor}"))));
    }
    // What README says of speed is of the first processor, sealing with AES-128.
    let first = results("emerald-rapids");
    let ratio = |bytes: usize| {
        let row = first.lines().find_map(|line| Some(line.strip_prefix(&format!("| {bytes} | "))?.to_owned())).unwrap();
        row.split(' ').nth(1).unwrap().to_owned()
    };
    wanted.extend([
        ("README.md", format!("AES-128 {} times as fast at 16 bytes, {} at 64, {} at 256,", ratio(16), ratio(64), ratio(256))),
        ("README.md", format!("{} at 1420, {} at 4 KiB and {} at 1 MiB", ratio(1420), ratio(4096), ratio(1 << 20))),
    ]);
    let numbers = |line: &str| -> Vec<f64> { line.split(['|', '/', ' ']).filter_map(|word| word.parse().ok()).collect() };
    let range = |numbers: &[f64]| {
        let [least, most] = [f64::min as fn(f64, f64) -> f64, f64::max].map(|pick| numbers.iter().copied().reduce(pick).unwrap());
        format!("{least:.2} to {most:.2}")
    };
    // Where a rival is ahead on that processor, as the file lists it: cells, and the ratios there.
    let listed: Vec<_> = first.lines().filter_map(|line| line.strip_prefix("* ")?.split_once(" cells): ")).collect();
    let behind = |is_meant: &dyn Fn(&str) -> bool| {
        let (mut cells, mut all, mut ratios) = (0, 0, Vec::new());
        for (head, ratio) in &listed {
            let (name, count) = head.rsplit_once(" (").unwrap();
            if is_meant(name) {
                let (some, of) = count.split_once(" of ").unwrap();
                (cells, all) = (cells + some.parse::<usize>().unwrap(), all + of.parse::<usize>().unwrap());
                ratios.extend(numbers(ratio));
            }
        }
        (format!("{cells} of {all}"), range(&ratios))
    };
    for (row, verb) in [("vaes-avx512", "seal"), ("vaes-avx512", "open"), ("vaes-avx2", "seal"), ("aesni-avx", "seal")] {
        let [narrow, wide] = [128, 256].map(|key| {
            let (cells, ratios) = behind(&|name| name == format!("{row} AES-{key} {verb}, AAD 12"));
            format!("with AES-{key} at {cells} ({ratios})")
        });
        wanted.push(("BENCHMARKS.md", format!("`{row}` {verb}s slower {narrow} and {wide}")));
    }
    let fresh = behind(&|name| name == "vaes-avx512 AES-128 fresh key and seal, AAD 12");
    wanted.push(("BENCHMARKS.md", format!("for AES-128 at {} lengths ({},", fresh.0, fresh.1)));
    let aad = behind(&|name| name.starts_with("vaes-avx512") && ["AAD 128", "AAD 192", "AAD 256"].iter().any(|aad| name.ends_with(aad)));
    wanted.push(("BENCHMARKS.md", format!("is behind at {} ({})", aad.0, aad.1)));
    let cold = behind(&|name| name.starts_with("vaes-avx512") && name.ends_with(", cold"));
    wanted.push(("BENCHMARKS.md", format!("is behind at {} with AES-128 ({})", cold.0, cold.1)));
    // Rustls: of each rival's best time, in the last two cells.
    let tls = raw("crates/rustls-fastgcm/interop/results/granite-rapids.md");
    let of_rival = |rows: &[&str], rival: usize| {
        let rows = tls.lines().filter(|line| rows.iter().any(|row| line.starts_with(&format!("| {row} |"))));
        range(&rows.map(|line| line.split('|').nth(rival).unwrap().trim().parse().unwrap()).collect::<Vec<f64>>())
    };
    let sizes = [&["records of 16 KiB"][..], &["records of 1 KiB", "packets of 1200 bytes"], &["records of 64 bytes"]];
    let [ring, aws_lc] = [6, 7].map(|rival| sizes.map(|rows| of_rival(rows, rival)));
    let page = "crates/rustls-fastgcm/README.md";
    wanted.push((
        page,
        format!("16 KiB take {}, records of 1 KiB and packets of QUIC {}, records of 64 bytes {}.", ring[0], ring[1], ring[2]),
    ));
    wanted.push((page, format!("Of AWS-LC's they take {}, {}, and {}.", aws_lc[0], aws_lc[1], aws_lc[2])));
    // Shapes: of each contender the worst length of three runs, sealed and opened; and the mean of what everybody pays for.
    let cells = |line: &str| -> Vec<String> { line.split('|').skip(2).map(|cell| cell.trim().to_owned()).collect() };
    let contenders = cells(first.lines().find(|line| line.starts_with("| seed |")).unwrap());
    let spread = first.lines().filter(|line| line.contains(", seal | ") || line.contains(", open | "));
    let spread = spread.filter(|line| line.as_bytes()[2].is_ascii_digit()).map(numbers_of).collect::<Vec<_>>();
    let worst = (0..spread[0].len()).map(|at| spread.iter().map(|row| row[at]).fold(0.0, f64::max)).collect::<Vec<_>>();
    let mean = cells(first.lines().find(|line| line.starts_with("| geometric mean |")).unwrap());
    let mean: Vec<f64> = mean.iter().filter_map(|cell| cell.split(' ').nth(1)?.parse().ok()).collect();
    let best = |figures: &[f64]| {
        let (at, figure) = figures.iter().enumerate().skip(1).min_by(|one, two| one.1.total_cmp(two.1)).unwrap();
        (format!("{:.2}", figures[0]), format!("{figure:.2}"), contenders[at].clone())
    };
    let (ours, rival, name) = best(&worst);
    wanted.push(("README.md", format!("at most {ours} times the median of its length, and {rival} with the best rival ({name})")));
    wanted
        .push(("BENCHMARKS.md", format!("at most {ours} times the median of its length, at any length ({name}, the best rival: {rival};")));
    let (ours, rival, name) = best(&mean);
    wanted.push(("README.md", format!("Cold caches, a fork and the like: {ours} times, and {rival} ({name})")));
    let medians = results("history").lines().find_map(|line| line.split_once("cells |").map(|(_, rest)| numbers(rest))).unwrap();
    for page in ["README.md", "BENCHMARKS.md", "CHANGELOG.md"] {
        wanted.push((page, format!("{} of ", range(&medians))));
    }
    let [before, now] = ["before | ", "| now | "].map(|row| printed((number("lab/bench/results/history.md", row) + 500) / 1000));
    wanted.push((
        "ARCHITECTURE.md",
        format!("{before} KB for sealing and opening with AVX-512; this one has {now} KB and takes {:.2} of", medians[0]),
    ));
    let provider = raw("crates/fastgcm-openssl/README.md");
    let tls: Vec<_> = provider.lines().filter(|line| line.starts_with("| TLS 1.")).map(numbers).collect();
    let of = |at: usize| range(&tls.iter().map(|line| line[at] / line[at + 1]).collect::<Vec<_>>());
    wanted.push(("README.md", format!("nginx takes {} of the user time", of(0))));
    wanted.push(("README.md", format!("curl takes {}.", of(2))));
    // Ratios to OpenSSL 3.0: AES-128's and AES-256's.
    let least_and_most = |begins: &str| {
        let rows = provider.lines().filter(|line| line.starts_with(begins)).map(|line| numbers(line.split('|').nth(4).unwrap()));
        let ratios = rows.flatten().collect::<Vec<_>>();
        [f64::min as fn(f64, f64) -> f64, f64::max].map(|pick| format!("{:.1}", ratios.iter().copied().reduce(pick).unwrap()))
    };
    let [[record, _], [bytes, _]] = ["| used context, seal 16 KiB", "| 16 KiB in pieces of 1 byte"].map(least_and_most);
    let [[_, most], [least, _]] = ["| 16 KiB in pieces of 16 ", "| 16 KiB in pieces of 15 "].map(least_and_most);
    assert_eq!(record, "0.2"); // a fifth
    wanted.push((
        "README.md",
        format!("takes {bytes} times as long as without fastgcm, in pieces of 15 to 64 bytes {least} to {most} times"),
    ));
    passed("documents::rows", rows, 37);
    stand("documents::benchmarks", &wanted, 25);
}
