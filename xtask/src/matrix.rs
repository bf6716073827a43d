//! `cargo xtask matrix LOG...`: what ran where, of each suite and each back end, written into SECURITY.md from the logs of runs (`.ci/run`
//! leaves `target/ci.log`; the shards of a full run leave one each). Nobody writes that table by hand, and nothing is in it that did not
//! print its `ok`. Without a log: whether the table that is there has the suites and the back ends of today, which the gate asks.

use crate::suites::suite;
use std::{collections::BTreeSet, fs, path::Path};

const PAGE: &str = "SECURITY.md";
const BEGIN: &str = "<!-- what ran where: written by `cargo xtask matrix` -->\n";
const END: &str = "<!-- end -->\n";

/// Suites that are put to back ends: what they are, and their names, in front of that of the back end.
const SUITES: [(&str, &str); 20] = [
    ("proof, on symbols", "ghash_proof::every_multiplication"),
    ("16,384 pairs of bits", "ghash_proof::every_pair_of_bits/"),
    ("linearity", "ghash_proof::linear_in_both_arguments/"),
    ("NIST's CAVP", "known_answers::cavp/"),
    ("Wycheproof", "known_answers::wycheproof_gcm/"),
    ("long answers of OpenSSL and ring", "long_known_answers/"),
    ("every length against the model", "every_length/"),
    ("back ends against each other", "cross_validation/"),
    ("every verb", "api::every_verb/"),
    ("forgeries, tags (F1, F2)", "api::f02_every_bit_of_the_tag_counts/"),
    ("wrap of the counter (F4)", "api::f04_counter_wraps_modulo_2_32/"),
    ("guard pages (F7)", "guard_pages::f07/"),
    ("buffers in place and side by side (F8)", "aliasing::f08_in_place/"),
    ("registers (F10, F20)", "registers::f10_callee_saved_registers/"),
    ("wiping of keys (F16)", "memory::dropped_keys_are_wiped/"),
    ("wiping of stack and registers, by `scrub` (F16)", "wiping::with_scrub/"),
    ("constant time, by traces (F14, F15)", "constant_time::traces/"),
    ("constant time, under valgrind (F15)", "constant_time::undefined/"),
    ("machine code looked at", "asm"),
    ("right answers on many processors", "machine::random_messages/"),
];

/// Checks of the run, and what a back end that ran there ran on.
const PLACES: [(&str, char); 8] = [
    ("tests", 'N'),
    ("inside", 'N'),
    ("all features", 'N'),
    ("Windows, 32 bits", 'N'),
    ("emulated", 'E'),
    ("aarch64", 'Q'),
    ("other machines", 'Q'),
    ("dispatch", 'Q'),
];

/// Suites that need no processor: they look at the code of every row that is compiled for that machine.
const CODE: [&str; 2] = ["ghash_proof::every_multiplication", "asm"];

pub(crate) fn run(root: &Path, logs: &[String]) -> Result<(), String> {
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).map_err(|e| format!("{PAGE}: {e}"))?;
    let around = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (table, behind)) = around.ok_or(format!("{PAGE}: the marks of the table are not there"))?;
    let rows = rows(root)?;
    if logs.is_empty() {
        return check(table, &rows);
    }
    let mut text = String::new();
    for log in logs {
        text += &fs::read_to_string(root.join(log)).map_err(|e| format!("{log}: {e}"))?;
        text += "\n";
    }
    let table = written(&rows, &Ran::read(&text, &rows));
    println!("{table}");
    fs::write(&path, format!("{before}{BEGIN}{table}{END}{behind}")).map_err(|e| format!("{PAGE}: {e}"))
}

/// A back end, and the family of machines that it is compiled for.
struct Row {
    name: String,
    family: String,
}

impl Row {
    /// Its code is there in a check of that name.
    fn is_compiled(&self, check: &str) -> bool {
        self.family == "any" || self.family == if check == "aarch64" { "arm" } else { "x86" }
    }
}

/// Those of the table in `backend.rs`.
fn rows(root: &Path) -> Result<Vec<Row>, String> {
    let text = fs::read_to_string(root.join("crates/fastgcm/src/backend.rs")).map_err(|e| format!("backend.rs: {e}"))?;
    let row = |line: &str| {
        let (name, rest) = line.split_once("= \"")?.1.split_once("\" on ")?;
        Some(Row { name: name.to_owned(), family: rest.split_once(':')?.0.to_owned() })
    };
    let rows: Vec<Row> = text.lines().filter_map(row).collect();
    if rows.is_empty() { Err("backend.rs: no row found".into()) } else { Ok(rows) }
}

/// Suite, back end and place of all that ran.
struct Ran(BTreeSet<(&'static str, String, char)>);

impl Ran {
    fn read(log: &str, rows: &[Row]) -> Self {
        let mut ran = BTreeSet::new();
        for section in log.split("\n== ").map(|section| section.trim_start_matches("== ")) {
            let (check, text) = section.split_once('\n').unwrap_or((section, ""));
            let names: BTreeSet<&str> = text.lines().filter_map(suite).map(|(name, _)| name).collect();
            let place = PLACES.iter().find(|(name, _)| *name == check).map(|(_, place)| *place);
            let Some(place) = place.or(names.contains("asm").then_some('C')) else { continue };
            // Of the random messages on many processors there is a line for each processor.
            let machines = || text.lines().filter(|line| line.starts_with("machine ok "));
            for ((_, suite), row) in SUITES.iter().flat_map(|suite| rows.iter().map(move |row| (*suite, row))) {
                let many = || suite.starts_with("machine::") && machines().any(|line| line.split(' ').any(|word| word == row.name));
                if CODE.contains(&suite) {
                    if names.contains(suite) && row.is_compiled(check) {
                        ran.insert((suite, row.name.clone(), 'C'));
                    }
                } else if names.contains(&*format!("{suite}{}", row.name)) || many() {
                    ran.insert((suite, row.name.clone(), place));
                }
            }
        }
        Self(ran)
    }
}

fn written(rows: &[Row], ran: &Ran) -> String {
    let names: Vec<String> = rows.iter().map(|row| format!("`{}`", row.name)).collect();
    let mut text = format!("{}{}|\n", heading(rows), "|---".repeat(1 + names.len()));
    for (title, suite) in SUITES {
        let cell = |row: &Row| {
            let places: String = ["N", "E", "Q", "C"]
                .into_iter()
                .filter(|place| ran.0.contains(&(suite, row.name.clone(), place.chars().next().unwrap_or(' '))))
                .collect::<Vec<_>>()
                .join(" ");
            if places.is_empty() { "–".to_owned() } else { places }
        };
        text += &format!("| {title} | {} |\n", rows.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    text
}

fn heading(rows: &[Row]) -> String {
    let names: Vec<String> = rows.iter().map(|row| format!("`{}`", row.name)).collect();
    format!("| | {} |\n", names.join(" | "))
}

/// The table has a column for each back end and a line for each suite; what is in it depends on the machines that there were.
fn check(table: &str, rows: &[Row]) -> Result<(), String> {
    let lines: Vec<&str> = table.lines().collect();
    let titles = lines.iter().skip(2).filter_map(|line| line.strip_prefix("| ")?.split_once(" | ").map(|(title, _)| title));
    if lines.first().map(|line| format!("{line}\n")) != Some(heading(rows)) || !titles.eq(SUITES.iter().map(|(title, _)| *title)) {
        return Err(format!(
            "{PAGE}: the table of what ran where is not of today's suites and back ends: `cargo xtask matrix target/ci.log`"
        ));
    }
    println!("matrix ok {}", SUITES.len() * rows.len());
    Ok(())
}
