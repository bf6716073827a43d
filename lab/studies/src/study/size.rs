//! How much source and machine code a back end is: both counted, by the build script and in the program that runs.
//!
//! Source is what a row of the table is made of: `gcm`, `ghash`, `aes`, the crossing and the one page of operations. Not what tests it, nor
//! what chooses a row, makes nonces and hands out keys (which the kernel, too, has elsewhere, in C). Machine code is every function of
//! the row in the table's own module, all lengths of key and of message, by the program's own table of symbols.

use super::Table;
use fastgcm::Backend;
use object::{Object, ObjectSymbol};
use std::{fs, path::Path};

/// Linux's before and after (in KB), from the commit's message.
const PAPER: [(&str, &str, &str); 2] =
    [("paper, before: SSE, AVX, \"AVX2\"", "4300", "272 KB"), ("paper, rewritten: SSE and AVX", "1130", "9 KB")];

/// Lines with and without comments: of the algorithm, and of the operations of all rows of x86.
const SHARED: Option<[usize; 2]> = lines(env!("FASTGCM_STUDIES_LINES_SHARED"));
const OPERATIONS: Option<[usize; 2]> = lines(env!("FASTGCM_STUDIES_LINES_X86"));

/// Table 3, which the paper has in words.
pub(super) fn table(backends: &[Backend]) -> Table {
    let mut table = Table::new("Size", ["", "lines of source", "without comments", "machine code, bytes"]);
    PAPER.iter().for_each(|(name, lines, bytes)| table.row(*name, [lines, "-", bytes]));
    let cell = |number: Option<usize>| number.map_or_else(|| "-".into(), |number| number.to_string());
    let mut row = |name: String, lines: Option<[usize; 2]>, bytes: Option<usize>| {
        table.row(name, [cell(lines.map(|n| n[0])), cell(lines.map(|n| n[1])), cell(bytes)]);
    };
    row("here, the algorithm, once for all back ends".into(), SHARED, None);
    row("here, operations of all back ends of x86".into(), OPERATIONS, None);
    let both = SHARED.zip(OPERATIONS).map(|(a, b)| [a[0] + b[0], a[1] + b[1]]);
    let code = symbols(std::env::current_exe().ok().as_deref());
    let bytes = |backend: &Backend| bytes(&code, *backend);
    backends.iter().for_each(|backend| row(format!("here, {backend}"), both, bytes(backend)));
    row("here, both".into(), both, backends.iter().map(bytes).sum());
    table.note("Lines are those that the row is made of: the algorithm and the page of operations, which serves all rows of x86. The paper's count is of assembly alone, with its comments.");
    table.note("Machine code is that of the program that made this table, functions of the row's own, counted by its symbols.");
    table
}

/// Names and sizes of the functions in that program; none if it has been stripped of them.
fn symbols(program: Option<&Path>) -> Vec<(String, usize)> {
    let Some(bytes) = program.and_then(|path| fs::read(path).ok()) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    file.symbols()
        .filter(|symbol| symbol.size() > 0)
        .filter_map(|symbol| Some((symbol.name().ok()?.into(), symbol.size() as usize)))
        .collect()
}

/// Those in the row's module, but `run`, which is other work than messages: ours.
fn bytes(symbols: &[(String, usize)], backend: Backend) -> Option<usize> {
    let row = backend.name().replace('-', "_");
    let (module, run) = (format!("3row5table{}{row}", row.len()), format!("3row5table{}{row}3run", row.len()));
    let own: Vec<usize> =
        symbols.iter().filter(|(name, _)| name.contains(&module) && !name.contains(&run)).map(|(_, size)| *size).collect();
    (!own.is_empty()).then(|| own.into_iter().sum())
}

/// `LINES CODE` of the build script; `None` where it did not find the library's source.
const fn lines(text: &str) -> Option<[usize; 2]> {
    let (mut numbers, mut at, bytes) = ([0; 2], 0, text.as_bytes());
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b' ' => at += 1,
            digit => numbers[at] = 10 * numbers[at] + (digit - b'0') as usize,
        }
        i += 1;
    }
    if bytes.is_empty() { None } else { Some(numbers) }
}
