//! Bytes of machine code and instructions per message, as tables to read.

use super::{
    Row,
    count::{KEYS, SIZES, VERBS},
    table::Table,
};

/// KiB of machine code that a row should not exceed, all paths and key sizes together.
const GOALS: [(&str, u64); 4] = [("aesni-sse", 24), ("aesni-avx", 24), ("vaes-avx2", 40), ("vaes-avx512", 48)];

pub(super) fn print(compiler: &str, rows: &[Row], table: &Table) {
    println!("{compiler}, release, 16 code generation units, no LTO\n");
    println!("Bytes of machine code. Every function serves all key sizes.");
    let mut parts: Vec<&String> = table.0.keys().filter(|[kind, ..]| kind == "code").map(|[_, _, part, _]| part).collect();
    parts.sort();
    parts.dedup();
    line("", parts.iter().map(|part| part.to_string()).chain(["goal".into()]));
    for row in rows {
        let goal = GOALS.iter().find(|(name, _)| *name == row.name).map_or("-".into(), |(_, kib)| (kib << 10).to_string());
        line(&row.name, parts.iter().map(|part| number(table.get("code", &row.name, part, "bytes"))).chain([goal]));
    }
    println!("\nVectors that its loops write to the stack and read from it");
    parts.retain(|part| *part != "all");
    line("", parts.iter().map(|part| part.to_string()));
    for row in rows.iter().filter(|row| !row.made_of_calls()) {
        let get = |part: &str, name| table.get("code", &row.name, part, name);
        line(
            &row.name,
            parts.iter().map(|part| get(part, "spills").map_or("-".into(), |n| format!("{n} {:>3}", number(get(part, "reloads"))))),
        );
    }
    println!("\nInstructions of a message, AAD of 13 bytes");
    line("", SIZES.iter().map(|size| size.to_string()));
    for row in rows.iter().filter(|row| row.here) {
        for (verb, key) in VERBS.iter().flat_map(|verb| KEYS.map(|key| (verb, key))) {
            let get = |size| number(table.get("message", &row.name, &format!("{verb},{key},{size}"), "instructions"));
            line(&format!("{} {verb} {}", row.name, 8 * key), SIZES.iter().map(get));
        }
    }
    println!();
}

fn number(n: Option<u64>) -> String {
    n.map_or("-".into(), |n| n.to_string())
}

fn line(head: &str, cells: impl Iterator<Item = String>) {
    println!("{head:20}{}", cells.map(|cell| format!("{cell:>10}")).collect::<String>());
}
