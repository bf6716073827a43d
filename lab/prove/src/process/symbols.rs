//! What the file of a program says: names of its functions, and where it asks the processor what that is.

use crate::values::random::Map;
use iced_x86::{Decoder, DecoderOptions, Mnemonic};
use object::{Object, ObjectKind, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SymbolKind};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// Bytes of the greatest file that is looked at.
pub const LARGEST: u64 = 1 << 30;

/// A function of the allocator, by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allocator {
    /// So many bytes as this argument says.
    Gives(usize),
    /// Behind the first argument, as many as the third says.
    GivesBehind,
    Moves,
    Frees,
}

/// Their names. (`calloc` gives zeros.)
pub(crate) const NAMES: [(&str, Allocator); 7] = [
    ("malloc", Allocator::Gives(0)),
    ("valloc", Allocator::Gives(0)),
    ("aligned_alloc", Allocator::Gives(1)),
    ("memalign", Allocator::Gives(1)),
    ("posix_memalign", Allocator::GivesBehind),
    ("realloc", Allocator::Moves),
    ("free", Allocator::Frees),
];

/// A file, if it is one, and not too large.
fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let about = fs::metadata(file)?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(std::io::Error::other("no file, or one that is too large"));
    }
    fs::read(file)
}

/// What it says, without what a terminal would obey.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Functions by their addresses in the file.
#[derive(Debug, Default)]
pub struct Symbols {
    all: Vec<(u64, String)>,
    data: Vec<(u64, String)>,
    moves: bool,
    /// Where its memory ends, statics that begin as zeros among it.
    end: u64,
}

impl Symbols {
    /// Of a file; none if that is no program.
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
        // On AArch64 `$x` says that instructions begin.
        all.retain(|(_, name)| !name.starts_with('$'));
        all.sort();
        let is_data = |symbol: &object::Symbol<'_, '_>| symbol.kind() == SymbolKind::Data && symbol.is_definition();
        let mut data: Vec<_> =
            file.symbols().filter(is_data).filter_map(|symbol| Some((symbol.address(), plain(symbol.name().ok()?)))).collect();
        data.sort();
        let end = file.segments().map(|segment| segment.address().saturating_add(segment.size())).max().unwrap_or(0);
        Self { all, data, moves: file.kind() == ObjectKind::Dynamic, end }
    }

    /// Where its memory ends in a process whose file begins there.
    pub fn end(&self, start: u64) -> u64 {
        if self.moves { start.saturating_add(self.end) } else { self.end }
    }

    /// Which function or variable has this address, in a process whose file begins there, and how many bytes from its start.
    pub fn name(&self, at: u64, start: u64) -> Option<(&str, u64)> {
        let at = if self.moves { at.checked_sub(start)? } else { at };
        let found = [&self.all, &self.data].into_iter().filter_map(|all| {
            let next = all.partition_point(|(first, _)| *first <= at);
            let (first, _) = all[..next].last()?;
            // Of several names the first.
            Some(&all[all.partition_point(|(other, _)| other < first)])
        });
        let (first, name) = found.max_by_key(|(first, _)| *first)?;
        Some((name, at - first))
    }

    /// The address of that function in a process whose file begins there.
    pub fn within(&self, name: &str, start: u64) -> Option<u64> {
        self.address(name).map(|at| if self.moves { at.wrapping_add(start) } else { at })
    }

    /// The address of that function in the file.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.all.iter().find(|(_, other)| other == name).map(|(at, _)| *at)
    }
}

/// Whether a program is one of AArch64.
pub fn is_arm(file: &Path) -> bool {
    read(file).is_ok_and(|bytes| object::File::parse(&*bytes).is_ok_and(|file| file.architecture() == object::Architecture::Aarch64))
}

/// Where a program asks what the processor is, with the bytes of each such instruction.
pub type Asks = Arc<Map<u64, Vec<u8>>>;

/// Where the file of a program has CPUID or XGETBV when it begins at `base`. One file is looked at once.
pub fn asks(program: &Path, base: u64) -> Result<Asks, String> {
    static KNOWN: Mutex<BTreeMap<(PathBuf, u64), Asks>> = Mutex::new(BTreeMap::new());
    let key = (program.to_owned(), base);
    let mut known = KNOWN.lock().expect("no panic");
    if let Some(found) = known.get(&key) {
        return Ok(found.clone());
    }
    let found = Arc::new(asks_of(program, base)?);
    known.insert(key, found.clone());
    Ok(found)
}

/// Decoded from each name on to the next.
fn asks_of(program: &Path, base: u64) -> Result<Map<u64, Vec<u8>>, String> {
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
