//! Counts the source and the machine code of a back end.
//!
//! The source is the code that corresponds to the kernel's assembly, `gcm`, `ghash`, `aes` and the file of operations, without tests. The machine
//! code is every function of the row in the table's own module, for all lengths of key and of message, by the program's own table of symbols.

use crate::{
    bench::Library,
    report::{Cells, Table},
};
use fastgcm::Backend;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use std::{fs, path::Path};

/// The sizes before and after, from the text of the commit's message.
const PAPER: [(&str, [&str; 3]); 2] =
    [("paper, before: SSE, AVX, \"AVX2\"", ["4300", "-", "272 KB"]), ("paper, rewritten: SSE and AVX", ["1130", "-", "9 KB"])];

/// Modules of the library, each a file, a folder or both: the algorithm, and the operations of all rows of x86.
const ALGORITHM: &[&str] = &["gcm", "ghash", "aes"];
const OPERATIONS: &[&str] = &["isa/x86"];
/// Files of other implementations, or of tests.
const EXCLUDED: [&str; 3] = ["proof", "tests.rs", "software.rs"];

/// Returns the table of the sizes that the commit's message states in words.
pub(super) fn table(libraries: &[Library], linux: Option<&Path>) -> Table {
    let mut table = Table::new("Size", Cells::Compiled, ["", "lines of source", "without comments", "machine code, bytes"]);
    PAPER.iter().for_each(|(name, cells)| table.row(*name, cells));
    linux.and_then(of_linux).into_iter().flatten().for_each(|[name, lines, bytes]| table.row(name, [lines, "-".into(), bytes]));
    let [algorithm, operations] = [ALGORITHM, OPERATIONS].map(|modules| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/fastgcm/src");
        let paths = modules.iter().flat_map(|module| [source.join(module), source.join(format!("{module}.rs"))]);
        sum(paths.filter(|path| path.exists()).map(|path| lines(&path)))
    });
    let mut row = |name: String, [all, code]: [usize; 2], bytes: Option<usize>| {
        table.row(name, [all.to_string(), code.to_string(), bytes.map_or_else(|| "-".into(), |bytes| bytes.to_string())]);
    };
    row("here, the algorithm, once for all back ends".into(), algorithm, None);
    row("here, operations of all back ends of x86".into(), operations, None);
    let both = sum([algorithm, operations].into_iter());
    let code = symbols();
    libraries.iter().for_each(|library| row(format!("here, {}", library.0), both, bytes(&code, library.0)));
    row(format!("here, all {} of them", libraries.len()), both, libraries.iter().map(|library| bytes(&code, library.0)).sum());
    table.note("Lines of a row: the algorithm and the page of operations, which serves all rows of x86. The paper counts assembly alone, with its comments. No row has the glue from a key and a message to a back end.");
    table.note("Machine code is that of the program that made this table, functions of the row's own, counted by its symbols.");
    table
}

fn sum(counts: impl Iterator<Item = [usize; 2]>) -> [usize; 2] {
    counts.fold([0, 0], |sum, count| [sum[0] + count[0], sum[1] + count[1]])
}

/// Counts the lines of a file or of all files of a folder, and those lines that are neither empty nor comments.
fn lines(path: &Path) -> [usize; 2] {
    if path.file_name().is_some_and(|name| EXCLUDED.iter().any(|not| name == *not)) {
        return [0, 0];
    }
    if let Ok(files) = fs::read_dir(path) {
        return sum(files.flatten().map(|file| lines(&file.path())));
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    [text.lines().count(), text.lines().filter(is_code).count()]
}

/// Returns the rows of the kernel's assembly: name, lines of source, bytes. Of the file with other modes it counts from the first macro to the
/// end of the last function of GCM.
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

/// Returns the names and sizes of this program's functions, or none if it has been stripped.
fn symbols() -> Vec<(String, usize)> {
    let Some(bytes) = std::env::current_exe().ok().and_then(|path| fs::read(path).ok()) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let sized = file.symbols().filter(|symbol| symbol.size() > 0);
    sized.filter_map(|symbol| Some((symbol.name().ok()?.into(), symbol.size() as usize))).collect()
}

/// Counts the bytes of the functions in the row's module, without our `run`, which does other work than messages.
fn bytes(symbols: &[(String, usize)], backend: Backend) -> Option<usize> {
    let row = backend.name().replace('-', "_");
    let (module, run) = (format!("3row5table{}{row}", row.len()), format!("3row5table{}{row}3run", row.len()));
    let own: Vec<usize> =
        symbols.iter().filter(|(name, _)| name.contains(&module) && !name.contains(&run)).map(|(_, size)| *size).collect();
    (!own.is_empty()).then(|| own.into_iter().sum())
}
