//! Reads a program's file: the names of its functions, and the places of CPUID and XGETBV.

use crate::values::random::Map;
use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::{Object, ObjectKind, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SymbolKind};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// The largest size of a file.
pub const LARGEST: u64 = 1 << 30;

/// A function of the allocator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allocator {
    /// Returns as many bytes as this argument says.
    Gives(usize),
    /// Stores a pointer in the first argument, to as many bytes as the third says.
    GivesBehind,
    Moves,
    Frees,
}

/// The functions by name. (`calloc` returns zeros.)
pub(crate) const NAMES: [(&str, Allocator); 7] = [
    ("malloc", Allocator::Gives(0)),
    ("valloc", Allocator::Gives(0)),
    ("aligned_alloc", Allocator::Gives(1)),
    ("memalign", Allocator::Gives(1)),
    ("posix_memalign", Allocator::GivesBehind),
    ("realloc", Allocator::Moves),
    ("free", Allocator::Frees),
];

/// Reads a regular file that is not too large.
fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let about = fs::metadata(file)?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(std::io::Error::other("no file, or one that is too large"));
    }
    fs::read(file)
}

/// Removes control characters, which could change the terminal.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The functions by their addresses in the file.
#[derive(Debug, Default)]
pub struct Symbols {
    all: Vec<(u64, String)>,
    data: Vec<(u64, String)>,
    moves: bool,
    /// The end of its memory, including zeroed statics.
    end: u64,
}

impl Symbols {
    /// Reads the symbols of a file; none if it is no program.
    pub fn of(file: &Path) -> Self {
        let Ok(bytes) = read(file) else { return Self::default() };
        object::File::parse(&*bytes).map_or_else(|_| Self::default(), |file| Self::parsed(&file))
    }

    fn parsed(file: &object::File<'_>) -> Self {
        let code: Vec<_> = file.sections().filter(|section| section.kind() == SectionKind::Text).map(|section| section.index()).collect();
        let is_code = |symbol: &object::Symbol<'_, '_>| symbol.section_index().is_some_and(|index| code.contains(&index));
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let named =
            symbols.filter(|symbol| matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label | SymbolKind::Unknown) && is_code(symbol));
        let mut all: Vec<_> = named.filter_map(|symbol| Some((symbol.address(), plain(symbol.name().ok()?)))).collect();
        // On AArch64 `$x` marks the start of instructions.
        all.retain(|(_, name)| !name.starts_with('$'));
        all.sort();
        let is_data = |symbol: &object::Symbol<'_, '_>| symbol.kind() == SymbolKind::Data && symbol.is_definition();
        let mut data: Vec<_> =
            file.symbols().filter(is_data).filter_map(|symbol| Some((symbol.address(), plain(symbol.name().ok()?)))).collect();
        data.sort();
        let end = file.segments().map(|segment| segment.address().saturating_add(segment.size())).max().unwrap_or(0);
        Self { all, data, moves: file.kind() == ObjectKind::Dynamic, end }
    }

    /// Returns the end of its memory in a process whose file begins at `start`.
    pub fn end(&self, start: u64) -> u64 {
        if self.moves { start.saturating_add(self.end) } else { self.end }
    }

    /// Returns the function or variable at an address in a process whose file begins at `start`, and the offset from its start.
    pub fn name(&self, at: u64, start: u64) -> Option<(&str, u64)> {
        let at = if self.moves { at.checked_sub(start)? } else { at };
        let found = [&self.all, &self.data].into_iter().filter_map(|all| {
            let next = all.partition_point(|(first, _)| *first <= at);
            let (first, _) = all[..next].last()?;
            // The first of several names.
            Some(&all[all.partition_point(|(other, _)| other < first)])
        });
        let (first, name) = found.max_by_key(|(first, _)| *first)?;
        Some((name, at - first))
    }

    /// Returns the address of a function in a process whose file begins at `start`.
    pub fn within(&self, name: &str, start: u64) -> Option<u64> {
        self.address(name).map(|at| if self.moves { at.wrapping_add(start) } else { at })
    }

    /// Returns the address of a function in the file.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.all.iter().find(|(_, other)| other == name).map(|(at, _)| *at)
    }
}

/// Returns true for a program of AArch64.
pub fn is_arm(file: &Path) -> bool {
    read(file).is_ok_and(|bytes| object::File::parse(&*bytes).is_ok_and(|file| file.architecture() == object::Architecture::Aarch64))
}

/// The addresses of CPUID and XGETBV in a program, with the bytes of each instruction.
pub type Queries = Arc<Map<u64, Vec<u8>>>;

/// Returns the addresses of CPUID and XGETBV in a program that begins at `base`. Each file is read once.
pub fn queries(program: &Path, base: u64) -> Result<Queries, String> {
    static KNOWN: Mutex<BTreeMap<(PathBuf, u64), Queries>> = Mutex::new(BTreeMap::new());
    let key = (program.to_owned(), base);
    let mut known = KNOWN.lock().expect("no panic");
    if let Some(found) = known.get(&key) {
        return Ok(found.clone());
    }
    let found = Arc::new(queries_of(program, base)?);
    known.insert(key, found.clone());
    Ok(found)
}

/// Decodes from each symbol to the next.
fn queries_of(program: &Path, base: u64) -> Result<Map<u64, Vec<u8>>, String> {
    let bytes = read(program).map_err(|e| format!("{}: {e}", program.display()))?;
    let file = object::File::parse(&*bytes).map_err(|e| format!("{}: {e}", program.display()))?;
    let symbols = Symbols::parsed(&file);
    let moved = if symbols.moves { base } else { 0 };
    let mut found = Map::default();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let (start, code) = (section.address(), section.data().map_err(|e| e.to_string())?);
        let end = start.checked_add(code.len() as u64).ok_or_else(|| format!("{}: code behind the end of memory", program.display()))?;
        let inside = symbols.all.iter().map(|(at, _)| *at).filter(|at| (start..end).contains(at));
        let mut starts: Vec<u64> = std::iter::once(start).chain(inside).collect();
        starts.dedup();
        for (n, &from) in starts.iter().enumerate() {
            let to = starts.get(n + 1).copied().unwrap_or(end);
            let part = &code[(from - start) as usize..(to - start) as usize];
            for i in Decoder::with_ip(64, part, from, DecoderOptions::NONE) {
                if matches!(i.mnemonic(), Mnemonic::Cpuid | Mnemonic::Xgetbv) {
                    let at = (i.ip() - start) as usize;
                    found.insert(i.ip().wrapping_add(moved), code[at..at + i.len()].to_vec());
                }
            }
        }
    }
    Ok(found)
}
