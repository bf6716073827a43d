//! How much source and machine code a back end is: both counted, by the build script and in the program that runs.
//!
//! Source is what stands for the kernel's assembly, `gcm`, `ghash`, `aes` and the one page of operations; and what stands for its glue, from a key and
//! a message in one buffer or several to the row that does it. Not what tests it. Machine code is every function of the row in the table's own
//! module, all lengths of key and of message, by the program's own table of symbols.

use super::Table;
use fastgcm::Backend;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use std::{fs, path::Path};

/// Linux's before and after (in KB), from the commit's message.
const PAPER: [(&str, &str, &str); 2] =
    [("paper, before: SSE, AVX, \"AVX2\"", "4300", "272 KB"), ("paper, rewritten: SSE and AVX", "1130", "9 KB")];

/// Lines with and without comments: of the algorithm, of the operations of all rows of x86, and of what stands between them and a caller.
const ALGORITHM: Option<[usize; 2]> = lines(env!("FASTGCM_STUDIES_LINES_ALGORITHM"));
const OPERATIONS: Option<[usize; 2]> = lines(env!("FASTGCM_STUDIES_LINES_X86"));
const GLUE: Option<[usize; 2]> = lines(env!("FASTGCM_STUDIES_LINES_GLUE"));

/// Table 3, which the paper has in words.
pub(super) fn table(backends: &[Backend], linux: Option<&Path>) -> Table {
    let mut table = Table::new("Size", ["", "lines of source", "without comments", "machine code, bytes"]);
    PAPER.iter().for_each(|(name, lines, bytes)| table.row(*name, [lines, "-", bytes]));
    let of_linux = linux.and_then(|folder| Some(of_linux(folder)?.into_iter().chain(glue_of_linux(folder)?)));
    of_linux.into_iter().flatten().for_each(|[name, lines, bytes]| table.row(name, [lines, "-".into(), bytes]));
    let cell = |number: Option<usize>| number.map_or_else(|| "-".into(), |number| number.to_string());
    let mut row = |name: String, lines: Option<[usize; 2]>, bytes: Option<usize>| {
        table.row(name, [cell(lines.map(|n| n[0])), cell(lines.map(|n| n[1])), cell(bytes)]);
    };
    row("here, the algorithm, once for all back ends".into(), ALGORITHM, None);
    row("here, operations of all back ends of x86".into(), OPERATIONS, None);
    row("here, glue: from a key and a message to the back end".into(), GLUE, None);
    let both = ALGORITHM.zip(OPERATIONS).map(|(a, b)| [a[0] + b[0], a[1] + b[1]]);
    let code = symbols(std::env::current_exe().ok().as_deref());
    let bytes = |backend: &Backend| bytes(&code, *backend);
    backends.iter().for_each(|backend| row(format!("here, {backend}"), both, bytes(backend)));
    row(format!("here, all {} of them", backends.len()), both, backends.iter().map(bytes).sum());
    table.note("Lines of a row: the algorithm and the page of operations, which serves all rows of x86. The paper counts assembly alone, with its comments. The kernel's glue is C: those parts of its file that name GCM.");
    table.note("Machine code is that of the program that made this table, functions of the row's own, counted by its symbols.");
    table
}

/// Linux' assembly: what, lines of source, bytes. Of the file that has other modes, too, it is what stands between the first macro and the end
/// of the last function of GCM.
fn of_linux(folder: &Path) -> Option<[[String; 3]; 4]> {
    let row = |name: &str, file: &str, part: bool| {
        let source = fs::read_to_string(folder.join(file).with_extension("S")).ok()?;
        let code = fs::read(folder.join(file).with_extension("o")).ok()?;
        let code = object::File::parse(&*code).ok()?;
        let (lines, bytes) = if part {
            let from = source.lines().position(|line| line.starts_with(".macro"))?;
            let to = source.lines().position(|line| line.starts_with("SYM_FUNC_END(aesni_gcm_finalize)"))?;
            let own = code.symbols().filter(|symbol| symbol.name().is_ok_and(|name| name.contains("gcm")));
            (to + 1 - from, own.map(|symbol| symbol.size()).sum::<u64>())
        } else {
            let kinds = [SectionKind::Text, SectionKind::ReadOnlyData, SectionKind::ReadOnlyString];
            let own = code.sections().filter(|section| kinds.contains(&section.kind()));
            (source.lines().count(), own.map(|section| section.size()).sum())
        };
        Some([format!("{name}, {file}.S"), lines.to_string(), bytes.to_string()])
    };
    Some([
        row("Linux 6.1 SSE, the part of GCM", "6.1/aesni-intel_asm", true)?,
        row("Linux 6.1 AVX", "6.1/aesni-intel_avx-x86_64", false)?,
        row("Linux 6.12 SSE and AVX", "6.12/aes-gcm-aesni-x86_64", false)?,
        row("Linux 6.12 VAES", "6.12/aes-gcm-avx10-x86_64", false)?,
    ])
}

/// The C around it: of the file that has other modes, too, each declaration or function that names GCM.
fn glue_of_linux(folder: &Path) -> Option<[[String; 3]; 2]> {
    let row = |version: &str| {
        let file = format!("{version}/aesni-intel_glue.c");
        let source = fs::read_to_string(folder.join(&file)).ok()?;
        let (mut own, mut part) = (0, Vec::new());
        // A part ends at an empty line before one that begins at the margin.
        let mut lines = source.lines().chain(["", "end"]).peekable();
        while let Some(line) = lines.next() {
            part.push(line);
            if line.is_empty() && lines.peek().is_some_and(|next| !next.is_empty() && !next.starts_with([' ', '\t', '}'])) {
                own += if part.iter().any(|line| line.to_ascii_lowercase().contains("gcm")) { part.len() } else { 0 };
                part.clear();
            }
        }
        Some([format!("Linux {version} glue, the part of GCM, {file}"), own.to_string(), "-".into()])
    };
    Some([row("6.1")?, row("6.12")?])
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
