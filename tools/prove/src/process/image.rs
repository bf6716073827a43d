//! The memory of a process that is stopped right before the call, which is interpreted.

use super::{
    processor::Processor,
    symbols::{self, Allocator, NAMES},
};
use fastgcm_step::{Registers, Traced};
use std::{
    arch::x86_64::__cpuid_count,
    collections::HashMap,
    fs::{self, File, OpenOptions},
    ops::Range,
    os::unix::fs::FileExt,
    path::Path,
    sync::Mutex,
};

/// The bytes of a line of memory.
pub const LINE: usize = 64;

#[derive(Debug)]
pub(crate) struct Region {
    pub(crate) range: Range<u64>,
    pub(crate) writable: bool,
    pub(crate) executable: bool,
    /// True if the memory is shared.
    pub(crate) shared: bool,
    pub(crate) file: String,
    pub(crate) bytes: Vec<u8>,
}

/// The instruction set of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Isa {
    X86,
    Arm,
}

/// The registers at the marker: those of a function's first six arguments, the stack, the program counter, and the thread pointer.
#[derive(Clone, Debug)]
pub struct Marker {
    pub arguments: [u64; 6],
    pub stack: u64,
    pub at: u64,
    pub fs: u64,
}

impl From<Registers> for Marker {
    fn from(r: Registers) -> Self {
        Self { arguments: [r.rdi, r.rsi, r.rdx, r.rcx, r.r8, r.r9], stack: r.rsp, at: r.rip, fs: r.fs_base }
    }
}

/// The state of a process at its marker.
pub struct Image {
    pub(crate) regions: Vec<Region>,
    pub isa: Isa,
    pub marker: Marker,
    /// The stack that the system has given it.
    pub stack: Range<u64>,
    /// The kernel's data about machine and program on the stack (getauxval(3)).
    pub auxiliary: Range<u64>,
    /// The number of emulated CPUID and XGETBV before the marker.
    pub answered: usize,
    /// The addresses of its allocator's functions.
    pub allocators: Vec<(u64, Allocator)>,
    /// Its files, each with its memory, including zeros that are not in the file.
    files: Vec<(String, Range<u64>)>,
    names: Mutex<HashMap<String, symbols::Symbols>>,
}

impl Image {
    /// Runs a program to its first marker, `int3`, and reads its state. The process is killed when it is dropped.
    pub fn of(program: &Path, arguments: &[String]) -> Result<(Self, Traced), String> {
        let mut traced = Traced::start(program, arguments)?;
        let registers = traced.next_marker()?.ok_or_else(|| format!("{} has no marker", program.display()))?;
        Ok((Self::of_process(traced.id(), registers)?, traced))
    }

    /// Runs a program to its marker on this processor: in its own file CPUID and XGETBV are replaced by traps, which are removed at the
    /// marker.
    pub fn on(program: &Path, arguments: &[String], processor: &Processor) -> Result<(Self, Traced), String> {
        let (traced, registers, answered) = Self::arrived(program, arguments, processor)?;
        let mut image = Self::of_process(traced.id(), registers)?;
        image.answered = answered;
        Ok((image, traced))
    }

    /// Returns its process at the marker, its registers, and the number of emulated instructions.
    pub fn arrived(program: &Path, arguments: &[String], processor: &Processor) -> Result<(Traced, Registers, usize), String> {
        let mut traced = Traced::start(program, arguments)?;
        let memory = writable(&traced)?;
        let write = |at: u64, what: &[u8]| memory.write_all_at(what, at).map_err(|e| format!("{at:#x}: {e}"));
        let sites = symbols::queries(program, traced.base())?;
        for &at in sites.keys() {
            write(at, &[0xcc])?;
        }
        let mut answered = 0;
        loop {
            let r = traced.next_marker()?.ok_or_else(|| format!("{} has no marker", program.display()))?;
            let Some(bytes) = sites.get(&(r.rip - 1)) else {
                for (&at, bytes) in &*sites {
                    write(at, bytes)?;
                }
                return Ok((traced, r, answered));
            };
            traced.set_registers(emulated(processor, &r, bytes))?;
            answered += 1;
        }
    }

    /// Reads the state of a stopped process.
    pub fn of_process(id: u32, registers: Registers) -> Result<Self, String> {
        let memory = File::open(format!("/proc/{id}/mem")).map_err(|e| e.to_string())?;
        let maps = fs::read_to_string(format!("/proc/{id}/maps")).map_err(|e| e.to_string())?;
        let (mut regions, mut stack) = (Vec::new(), 0..0);
        for line in maps.lines() {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let ends = fields[0]
                .split_once('-')
                .and_then(|(start, end)| Some((u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?)));
            let (start, end) = ends.ok_or_else(|| format!("maps: {line}"))?;
            let file = fields.get(5).copied().unwrap_or_default().to_owned();
            if file == "[stack]" {
                stack = start..end;
            }
            let mut bytes = vec![0; (end - start) as usize];
            // The kernel's own pages cannot be read this way, and are not needed.
            if fields[1].starts_with('r') && memory.read_exact_at(&mut bytes, start).is_ok() {
                regions.push(Region {
                    range: start..end,
                    writable: fields[1].as_bytes()[1] == b'w',
                    executable: fields[1].as_bytes()[2] == b'x',
                    shared: fields[1].as_bytes()[3] == b's',
                    file,
                    bytes,
                });
            }
        }
        let mut image = Self::new(Isa::X86, regions, registers.into(), stack);
        let auxiliary = fs::read(format!("/proc/{id}/auxv")).map_err(|e| e.to_string())?;
        if let Some(region) = image.region(image.stack.start).filter(|_| !auxiliary.is_empty())
            && let Some(at) = region.bytes.as_chunks::<8>().0.windows(auxiliary.len() / 8).position(|part| part.as_flattened() == auxiliary)
        {
            let start = region.range.start + 8 * at as u64;
            image.auxiliary = start..start + auxiliary.len() as u64;
        }
        Ok(image)
    }

    pub(crate) fn new(isa: Isa, regions: Vec<Region>, marker: Marker, stack: Range<u64>) -> Self {
        let mut new = Self {
            regions,
            isa,
            marker,
            stack,
            auxiliary: 0..0,
            answered: 0,
            allocators: Vec::new(),
            files: Vec::new(),
            names: Mutex::default(),
        };
        for region in new.regions.iter().filter(|region| region.file.starts_with('/')) {
            if new.files.iter().all(|(file, _)| *file != region.file) {
                let (symbols, start) = (symbols::Symbols::of(region.file.as_ref()), region.range.start);
                new.files.push((region.file.clone(), start..symbols.end(start)));
                new.allocators.extend(NAMES.iter().filter_map(|(name, how)| Some((symbols.within(name, start)?, *how))));
            }
        }
        new
    }

    fn region(&self, at: u64) -> Option<&Region> {
        let next = self.regions.partition_point(|region| region.range.start <= at);
        self.regions[..next].last().filter(|region| region.range.contains(&at))
    }

    /// Returns `N` bytes, or `None` where memory is not mapped.
    pub fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let region = self.region(at)?;
        region.bytes.get((at - region.range.start) as usize..)?.first_chunk().copied()
    }

    /// Returns a string of this many bytes.
    pub fn string(&self, at: u64, n: usize) -> Option<&[u8]> {
        let region = self.region(at)?;
        region.bytes.get((at - region.range.start) as usize..)?.get(..n)
    }

    /// Replaces a byte. Returns `None` where memory is not mapped.
    pub fn patch(&mut self, at: u64, byte: u8) -> Option<()> {
        let region = self.regions.iter_mut().find(|region| region.range.contains(&at))?;
        *region.bytes.get_mut((at - region.range.start) as usize)? = byte;
        Some(())
    }

    pub fn is_writable(&self, at: u64) -> bool {
        self.region(at).is_some_and(|region| region.writable)
    }

    pub fn is_shared(&self, at: u64) -> bool {
        self.region(at).is_some_and(|region| region.shared)
    }

    pub fn is_executable(&self, at: u64) -> bool {
        self.region(at).is_some_and(|region| region.executable)
    }

    /// Returns true for memory of the heap.
    pub fn is_heap(&self, at: u64) -> bool {
        let is_of_file = || self.files.iter().any(|(_, range)| range.contains(&at));
        self.region(at).is_some_and(|region| region.file == "[heap]" || region.file.is_empty() && !is_of_file())
    }

    /// Returns true for data of the C library's allocator: on the heap, and in statics of that library.
    pub fn is_allocators(&self, at: u64) -> bool {
        let place = self.place(at);
        self.is_heap(at) || place.starts_with("main_arena") || place.starts_with("mp_") || place.contains("libc.so")
    }

    /// Returns file and offset of an address, as in a disassembly, and the function's name if it has one.
    pub fn place(&self, at: u64) -> String {
        let Some(region) = self.region(at) else { return format!("{at:#x}") };
        let of_file = self.files.iter().find(|(file, range)| *file == region.file || region.file.is_empty() && range.contains(&at));
        let Some((path, range)) = of_file else {
            return if region.file.is_empty() { format!("{at:#x}") } else { format!("{} + {:#x}", region.file, at - region.range.start) };
        };
        let first = range.start;
        let mut names = self.names.lock().expect("no panic");
        let symbols = names.entry(path.clone()).or_insert_with(|| symbols::Symbols::of(path.as_ref()));
        let file = path.rsplit('/').next().unwrap_or_default();
        match symbols.name(at, first) {
            Some((name, by)) => format!("{name}+{by:#x} in {file}"),
            None => format!("{file} + {:#x}", at - first),
        }
    }
}

/// Opens the memory of a process.
pub fn writable(traced: &Traced) -> Result<File, String> {
    OpenOptions::new().read(true).write(true).open(format!("/proc/{}/mem", traced.id())).map_err(|e| e.to_string())
}

/// Returns the registers after an emulated CPUID or XGETBV, behind whose first byte the process is stopped.
fn emulated(processor: &Processor, r: &Registers, bytes: &[u8]) -> Registers {
    let mut now = *r;
    now.rip += bytes.len() as u64 - 1;
    if bytes.len() == 3 {
        (now.rax, now.rdx) = (processor.saved.into(), 0);
        return now;
    }
    let (leaf, below) = (r.rax as u32, r.rcx as u32);
    // Leaves that do not describe instructions, for example caches, are this machine's.
    #[allow(unused_unsafe)]
    // SAFETY: every processor of 64 bits has CPUID.
    let own = || unsafe { __cpuid_count(leaf, below) };
    let [a, b, c, d] = processor.cpuid(leaf, below).unwrap_or_else(|| [own().eax, own().ebx, own().ecx, own().edx]);
    (now.rax, now.rbx, now.rcx, now.rdx) = (a.into(), b.into(), c.into(), d.into());
    now
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image of {} regions", self.regions.len())
    }
}
