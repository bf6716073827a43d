//! `cargo xtask matrix LOG...`: what ran where, of each suite and each back end, written into SECURITY.md from the logs of runs (`.ci/run`
//! leaves `target/ci.log`; the shards of a full run leave one each). Nobody writes that table by hand, and nothing is in it that did not
//! print its `ok`. Without a log: whether the table that is there has the suites and the back ends of today, which the gate asks.

use crate::suites::{rows, suite};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use std::{collections::BTreeSet, path::Path};

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

/// What a back end that ran in a check of the run ran on: this processor, an emulated one, or qemu's. (`C`: its code was looked at.)
fn place(check: &str) -> Option<char> {
    match check {
        "tests" | "released_build" | "inside" | "windows" => Some('N'),
        "emulated" => Some('E'),
        "aarch64" | "other_machines" | "dispatch" => Some('Q'),
        _ => None,
    }
}

/// Suites that need no processor: they look at the code of every row that is compiled for that machine.
const CODE: [&str; 2] = ["ghash_proof::every_multiplication", "asm"];

pub(crate) fn run(root: &Path, logs: &[String]) -> Result<()> {
    let page = fs::read_to_string(root.join(PAGE))?;
    let around = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (table, behind)) = around.context("SECURITY.md: the marks of the table are not there")?;
    let rows = rows(root)?;
    let rows: Vec<(&str, &str)> = rows.iter().map(|row| (&*row.name, &*row.family)).collect();
    if logs.is_empty() {
        // What is in the cells depends on the machines that there were.
        let (today, frame) = (table_of(&rows, &BTreeSet::new()), |line: &str| line.split(" | ").next().map(str::to_owned));
        let is_of_today = table.lines().next() == today.lines().next() && table.lines().map(frame).eq(today.lines().map(frame));
        ensure!(is_of_today, "{PAGE}: its table is not of today's suites and back ends: `cargo xtask matrix target/ci.log`");
        println!("matrix ok {}", SUITES.len() * rows.len());
        return Ok(());
    }
    let logs = logs.iter().map(|log| fs::read_to_string(root.join(log))).collect::<Result<Vec<_>, _>>()?;
    let table = table_of(&rows, &logs.iter().flat_map(|log| ran(log, &rows)).collect());
    Ok(fs::write(root.join(PAGE), format!("{before}{BEGIN}{table}{END}{behind}"))?)
}

/// Suite, back end and place of all that ran.
fn ran<'a>(log: &str, rows: &[(&'a str, &str)]) -> BTreeSet<(&'static str, &'a str, char)> {
    let mut ran = BTreeSet::new();
    for section in log.split("\n== ").map(|section| section.trim_start_matches("== ")) {
        let (check, text) = section.split_once('\n').unwrap_or((section, ""));
        let names: BTreeSet<&str> = text.lines().filter_map(suite).map(|(name, _)| name).collect();
        let Some(place) = place(check).or(names.contains("asm").then_some('C')) else { continue };
        for ((_, suite), (row, family)) in SUITES.iter().flat_map(|suite| rows.iter().map(move |row| (suite, row))) {
            let is_compiled = *family == "any" || *family == if check == "aarch64" { "arm" } else { "x86" };
            // Of the random messages on many processors there is a line for each processor.
            let many = || text.lines().any(|line| line.starts_with("machine ok ") && line.split(' ').any(|word| word == *row));
            if CODE.contains(suite) && names.contains(suite) && is_compiled {
                ran.insert((*suite, *row, 'C'));
            } else if names.contains(&*format!("{suite}{row}")) || suite.starts_with("machine::") && many() {
                ran.insert((*suite, *row, place));
            }
        }
    }
    ran
}

fn table_of(rows: &[(&str, &str)], ran: &BTreeSet<(&str, &str, char)>) -> String {
    let names: Vec<String> = rows.iter().map(|(name, _)| format!("`{name}`")).collect();
    let mut text = format!("| | {} |\n{}|\n", names.join(" | "), "|---".repeat(1 + names.len()));
    for (title, suite) in SUITES {
        text += &format!("| {title}");
        for (row, _) in rows {
            let places: Vec<String> = "NEQC".chars().filter(|place| ran.contains(&(suite, row, *place))).map(String::from).collect();
            text += &format!(" | {}", if places.is_empty() { "–".into() } else { places.join(" ") });
        }
        text += " |\n";
    }
    text
}
