//! `study`: each paper's table is there with ours beside it, and what can be counted is counted exactly. That anything is fast is not
//! tested.

use super::Bench;
use serde_json::Value;

const NAMES: [&str; 5] = ["solaris-2010", "packed-2010", "arm64-2019", "ghash-2023", "aesni-2024"];

/// A study as JSON.
fn study(bench: &Bench, name: &str) -> Value {
    let text = bench.ok(&[
        "study",
        name,
        "--quick",
        "--quiet",
        "--csv",
        "s.csv",
        "--json",
        "s.json",
        "--svg",
        "s.svg",
        "--markdown",
        "s.md",
        "--html",
        "s.html",
        "--force",
    ]);
    let report: Value = serde_json::from_slice(&bench.read("s.json")).unwrap();
    let text = String::from_utf8(text).unwrap();
    let in_one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for table in report["tables"].as_array().unwrap() {
        let (width, rows) = (table["head"].as_array().unwrap().len(), table["rows"].as_array().unwrap());
        assert!(rows.iter().all(|row| row.as_array().unwrap().len() == width), "{name}: {table}");
        assert!(in_one_line.contains(table["title"].as_str().unwrap()), "{name}");
    }
    let notes = [0, 1].map(|at| report["machine"]["notes"][at].as_str().unwrap());
    let own = if fastgcm::internals::SCRUB { "measured WITH `scrub`" } else { "measured without `scrub`" };
    assert!(notes[0].starts_with(own) && notes[1].starts_with("compiled by rustc "), "{notes:?}");
    assert!(bench.read("s.svg").starts_with(b"<svg"), "{name}");
    assert!(bench.read("s.csv").starts_with(b"processor,program,table,row,column,value\n"), "{name}");
    assert!(bench.read("s.md").starts_with(b"* processor: "), "{name}");
    let page = String::from_utf8(bench.read("s.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<table>").count() == report["tables"].as_array().unwrap().len(), "{name}");
    // A verdict and the paper come first.
    let (verdict, link) = (report["verdict"].as_str().unwrap(), report["paper"]["link"].as_str().unwrap());
    let begins = ["Confirmed on this processor", "Not confirmed on this processor: ", "There is no verdict: "];
    assert!(begins.iter().any(|begin| verdict.starts_with(begin)), "{name}: {verdict}");
    assert!(page.contains("</h1><p class=\"lead\">") && page.contains(&format!("<a href=\"{link}\">")), "{name}");
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.contains("https://")), "{name}: {text}");
    // A glance says so wherever its numbers go.
    assert!([&text, &page].iter().all(|shown| shown.contains("--quick: a glance")), "{name}");
    report
}

/// The cells of the row of that name, in the table whose title begins so.
fn row<'a>(report: &'a Value, table: &str, name: &str) -> Vec<&'a str> {
    let tables = report["tables"].as_array().unwrap();
    let table = tables.iter().find(|one| one["title"].as_str().unwrap().starts_with(table)).unwrap();
    let row = table["rows"].as_array().unwrap().iter().find(|row| row[0] == name).unwrap();
    row.as_array().unwrap()[1..].iter().map(|cell| cell.as_str().unwrap()).collect()
}

#[test]
fn every_study() {
    let bench = Bench::new();
    let reports = NAMES.map(|name| study(&bench, name));
    let [solaris, packed, arm, ghash, aesni] = &reports;
    assert_eq!(row(solaris, "GHASH by four", "linear folding (schoolbook)")[0], "1.36");
    assert_eq!(row(arm, "Improvement", "paper, ThunderX2")[1], "23%");
    assert_eq!(row(ghash, "Table 11", "paper, baseline")[..4], row(ghash, "Table 11", "ours, baseline")[..4]);
    assert_eq!(row(ghash, "Table 11", "ours, K'"), ["5", "4", "1", "10", "3"]);
    assert_eq!(row(aesni, "Table 1", "paper, Intel Skylake")[10], "27%");
    assert_eq!(row(aesni, "Size", "paper, rewritten: SSE and AVX"), ["1130", "-", "9 KB"]);
    assert!(row(aesni, "Size", "here, the algorithm, once for all back ends")[0].parse::<usize>().unwrap() > 1000);
    assert_eq!(row(arm, "Improvement of throughput over two passes", "here, stitched: the library").len(), 9);
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        // Its own machine code, by its own symbols.
        assert!(row(aesni, "Size", "here, aesni-avx")[2].parse::<usize>().unwrap() > 10_000);
    }
    // Instructions, where they can be counted: one reduction for four blocks is worth what the paper says, more or less.
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let cells = row(packed, "Tables 4.1 and 4.2", "4096");
        assert_eq!(cells[..5], ["255", "23071", "63", "12055", "1.91"]);
        assert!((1.2..3.0).contains(&cells[7].parse::<f64>().unwrap()), "{cells:?}");
    }
    println!("study::every_study ok {}", reports.len());
}

/// What the committed results say was counted on a processor, instructions, lines and bytes, is what the released program counts now. (One that is optimised
/// otherwise executes other instructions.) A tenth allows for another compiler, and for what changes in the library.
#[test]
fn counted_in_results() {
    let Some(program) = std::env::var_os("FASTGCM_STUDY") else {
        return println!("SKIPPED study::counted_in_results: FASTGCM_STUDY names no released program");
    };
    let mut compared = 0;
    for (name, tables) in
        [("packed-2010", &["Tables 4.1", "Figure 6"][..]), ("arm64-2019", &["Instructions executed"]), ("aesni-2024", &["Size"])]
    {
        let mut command = std::process::Command::new(&program);
        command.args(["study", name, "--quick", "--quiet", "--json", "-"]);
        command.args(std::env::var_os("FASTGCM_LINUX").iter().flat_map(|folder| [std::ffi::OsStr::new("--linux"), folder]));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report = serde_json::from_slice(&output.stdout).unwrap();
        compared += tables.iter().map(|table| compare_with_results(name, &report, table, 0.1)).sum::<usize>();
    }
    assert!(compared >= 12 * 11 + 14 + 6 * 9 + 10, "{compared}");
    println!("study::counted_in_results ok {compared}");
}

/// How many numbers of that table were compared. (Another processor may lack a row.)
fn compare_with_results(name: &str, report: &Value, table: &str, part: f64) -> usize {
    let results = std::fs::read_to_string(format!("{}/results/{name}.txt", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let tables = report["tables"].as_array().unwrap();
    let table = tables.iter().find(|one| one["title"].as_str().unwrap().starts_with(table)).unwrap();
    let title = table["title"].as_str().unwrap();
    let there = results.split_once(&format!("**{title}**")).unwrap_or_else(|| panic!("results/{name}.txt has no {title}")).1;
    let there: Vec<_> = there.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|')).collect();
    let mut compared = 0;
    for row in table["rows"].as_array().unwrap() {
        let cells: Vec<_> = row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap()).collect();
        let Some(line) = there.iter().find(|line| line.starts_with(&format!("| {} |", cells[0]))) else { continue };
        let there: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        for (found, written) in cells.iter().zip(&there).skip(1) {
            if let (Ok(found), Ok(written)) = (found.parse::<f64>(), written.parse::<f64>()) {
                assert!((found - written).abs() <= part * found.max(written), "results, {title}, {}: {written}, found {found}", cells[0]);
                compared += 1;
            } else {
                assert_eq!(found, written, "results, {title}, {}", cells[0]);
            }
        }
    }
    compared
}

/// With the kernel's code, from the folder that `FASTGCM_LINUX` names: it gives the model's answers, or nothing is measured; and of what was
/// replaced and what replaced it the sizes are those of the paper, 257 KB and 9 KB.
#[test]
fn linux() {
    let Some(folder) = std::env::var_os("FASTGCM_LINUX") else {
        return println!("SKIPPED study::linux: FASTGCM_LINUX names no folder that lab/studies/linux.sh has filled");
    };
    let bench = Bench::new();
    let arguments = ["study", "aesni-2024", "--quick", "--quiet", "--json", "s.json", "--linux", folder.to_str().unwrap()];
    bench.ok(&arguments);
    let report: Value = serde_json::from_slice(&bench.read("s.json")).unwrap();
    for (name, bytes) in [("Linux 6.1 AVX, 6.1/aesni-intel_avx-x86_64.S", 257), ("Linux 6.12 SSE and AVX, 6.12/aes-gcm-aesni-x86_64.S", 9)]
    {
        let found: usize = row(&report, "Size", name)[2].parse().unwrap();
        assert_eq!(found.div_ceil(1000), bytes, "{name}");
    }
    for row_of in ["here, Linux 6.12 aesni_avx over Linux 6.1", "here, aesni-avx over Linux 6.12 aesni_avx"] {
        assert!(["Table 1", "Table 2"].iter().all(|table| row(&report, table, row_of).iter().all(|cell| cell.ends_with('%'))));
    }
    println!("study::linux ok 4");
}

#[test]
fn refused() {
    let bench = Bench::new();
    bench.fails(2, &["study", "nobody-1999"]);
    bench.fails(2, &["study", "ghash-2023", "--csv", "same", "--svg", "same"]);
    bench.write("there", b"");
    bench.fails(5, &["study", "ghash-2023", "--csv", "there"]);
    bench.fails(2, &["study", "ghash-2023", "--results", "nowhere"]);
    bench.fails(2, &["study", "ghash-2023", "--results", ".", "--quick"]);
    bench.fails(2, &["study", "solaris-2010", "--provider", "there"]);
    if cfg!(target_arch = "x86_64") {
        bench.fails(2, &["study", "aesni-2024", "--linux", "nowhere"]);
    }
    println!("study::refused ok 7");
}
