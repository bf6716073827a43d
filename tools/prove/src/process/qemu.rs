//! A process of AArch64 under qemu's user-mode emulation, controlled with gdb's protocol: registers, memory, steps, and runs to a marker, `brk #0`.

use super::image::{Image, Isa, Marker, Region};
use object::{
    Endianness, elf,
    read::elf::{FileHeader, ProgramHeader},
};
use std::{
    fs,
    io::{Read, Write},
    ops::Range,
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The number of the stack pointer among the general registers.
pub const STACK: usize = 31;
pub const LINK: usize = 30;

/// `mrs x0, tpidr_el0`: reads the thread pointer.
pub(crate) const THREAD: u32 = 0xd53b_d040;

type Result<T> = std::result::Result<T, String>;

/// The general registers, the stack pointer, the program counter, and the flags, as in the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct General {
    /// The general registers; the last is the stack pointer.
    pub words: [u64; 32],
    pub at: u64,
    /// The flags: N, Z, C, V from bit 31 down.
    pub flags: u32,
}

#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The folder of its socket, and of the program if it is patched.
    _folder: tempfile::TempDir,
    stream: UnixStream,
}

/// The bytes of memory in one request; qemu's packets have 4096.
const PART: usize = 1024;
const PAGE: u64 = 4096;

impl Process {
    /// Starts a program on a processor, with patched bytes, and runs it to its first marker.
    pub fn start(program: &Path, arguments: &[String], processor: &str, patches: &[(u64, u8)]) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(|e| format!("a temporary folder: {e}"))?;
        let copy = folder.path().join("patched");
        if patches.is_empty() {
            return Self::started(program, arguments, processor, folder);
        }
        // qemu does not write code for a debugger, so a copy of the file is patched.
        let write = || {
            let mut file = fs::read(program)?;
            for &(at, byte) in patches {
                let place = offset(&file, at).ok_or_else(|| std::io::Error::other(format!("{at:#x} is nowhere in it")))?;
                file[place] = byte;
            }
            fs::write(&copy, &file)?;
            fs::set_permissions(&copy, fs::metadata(program)?.permissions())
        };
        write().map_err(|e| format!("{}: {e}", program.display()))?;
        Self::started(&copy, arguments, processor, folder)
    }

    fn started(program: &Path, arguments: &[String], processor: &str, folder: tempfile::TempDir) -> Result<Self> {
        let socket = folder.path().join("gdb");
        let mut command = Command::new("qemu-aarch64");
        command.args(["-cpu", processor, "-g"]).arg(&socket).arg(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::null()).spawn().map_err(|e| format!("qemu-aarch64 (Debian's package qemu-user): {e}"))?;
        let begun = Instant::now();
        let stream = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(_) if begun.elapsed() < Duration::from_secs(20) && matches!(child.try_wait(), Ok(None)) => {
                    thread::sleep(Duration::from_millis(2));
                }
                Err(why) => return Err(format!("qemu-aarch64 -cpu {processor} does not listen: {why}")),
            }
        };
        let mut process = Self { child, _folder: folder, stream };
        // qemu accepts names of registers only after a request for their description.
        process.ask("qXfer:features:read:target.xml:0,ffb")?;
        process.run()?;
        Ok(process)
    }

    /// Sends a request, and returns the response.
    fn ask(&mut self, what: &str) -> Result<String> {
        let sum = what.bytes().fold(0, u8::wrapping_add);
        let wrong = |e: std::io::Error| format!("qemu: {e}");
        self.stream.write_all(format!("${what}#{sum:02x}").as_bytes()).map_err(wrong)?;
        let (mut answer, mut buffer) = (Vec::new(), [0; 8192]);
        loop {
            let n = self.stream.read(&mut buffer).map_err(wrong)?;
            if n == 0 {
                return Err("the program has ended".into());
            }
            answer.extend_from_slice(&buffer[..n]);
            let start = answer.iter().position(|&byte| byte == b'$');
            let end = answer.iter().position(|&byte| byte == b'#');
            if let (Some(start), Some(end)) = (start, end)
                && answer.len() >= end + 3
            {
                self.stream.write_all(b"+").map_err(wrong)?;
                return String::from_utf8(answer[start + 1..end].to_vec()).map_err(|e| e.to_string());
            }
        }
    }

    fn ask_bytes(&mut self, what: &str) -> Result<Vec<u8>> {
        let answer = self.ask(what)?;
        let bytes =
            || -> Option<Vec<u8>> { (0..answer.len() / 2).map(|i| u8::from_str_radix(answer.get(2 * i..2 * i + 2)?, 16).ok()).collect() };
        bytes().filter(|_| !answer.starts_with('E')).ok_or_else(|| format!("qemu answers {answer} to {what}"))
    }

    fn tell(&mut self, what: &str) -> Result<()> {
        match &*self.ask(what)? {
            "OK" => Ok(()),
            answer => Err(format!("qemu answers {answer} to {}", &what[..what.len().min(40)])),
        }
    }

    fn stopped(&mut self, what: &str) -> Result<()> {
        match &*self.ask(what)? {
            answer if answer.starts_with("T05") => Ok(()),
            answer if answer.starts_with('W') => Err("the program has no marker".into()),
            answer => Err(format!("the program ends with {answer}")),
        }
    }

    /// Runs to a marker.
    pub fn run(&mut self) -> Result<()> {
        self.stopped("c")
    }

    /// Executes one instruction.
    pub fn step(&mut self) -> Result<()> {
        self.stopped("s")
    }

    pub fn general(&mut self) -> Result<General> {
        let bytes = self.ask_bytes("g")?;
        let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let flags = bytes.get(264..268).and_then(|flags| flags.first_chunk()).ok_or("qemu: too few registers")?;
        Ok(General { words: std::array::from_fn(|i| words[i]), at: words[32], flags: u32::from_le_bytes(*flags) })
    }

    /// Sets the general registers by their numbers: 0 to 31, 32 for the program counter, and 33 for the flags.
    pub fn set_general(&mut self, general: &General) -> Result<()> {
        let mut words: Vec<String> = general.words.iter().chain([&general.at]).map(|word| hex(&word.to_le_bytes())).collect();
        words.push(hex(&general.flags.to_le_bytes()));
        words.iter().enumerate().try_for_each(|(i, word)| self.tell(&format!("P{i:x}={word}")))
    }

    /// Returns a vector register. (Its number in the protocol is 34 more, on a processor without SVE.)
    pub fn vector(&mut self, number: usize) -> Result<[u8; 16]> {
        let bytes = self.ask_bytes(&format!("p{:x}", 34 + number))?;
        bytes.try_into().map_err(|bytes: Vec<u8>| format!("qemu: a vector of {} bytes", bytes.len()))
    }

    pub fn set_vector(&mut self, number: usize, bytes: &[u8; 16]) -> Result<()> {
        self.tell(&format!("P{:x}={}", 34 + number, hex(bytes)))
    }

    pub fn read(&mut self, at: u64, n: usize) -> Result<Vec<u8>> {
        let mut all = Vec::with_capacity(n);
        while all.len() < n {
            let part = (n - all.len()).min(PART);
            all.extend(self.ask_bytes(&format!("m{:x},{part:x}", at + all.len() as u64))?);
        }
        Ok(all)
    }

    pub fn write(&mut self, at: u64, what: &[u8]) -> Result<()> {
        let parts = what.chunks(PART).enumerate();
        parts
            .map(|(i, part)| format!("M{:x},{:x}:{}", at + (i * PART) as u64, part.len(), hex(part)))
            .try_for_each(|write| self.tell(&write))
    }

    /// Returns the mapped pages from an address on.
    fn mapped(&mut self, from: u64) -> Range<u64> {
        let pages = (0..).map(|i| from + i * PAGE).take_while(|page| self.read(*page, 1).is_ok()).count();
        from..from + pages as u64 * PAGE
    }

    /// Reads the memory of a static program: its file's segments, its heap, and its stack.
    pub fn image(&mut self, program: &Path) -> Result<Image> {
        let general = self.general()?;
        let name = program.display().to_string();
        let file = fs::read(program).map_err(|e| format!("{name}: {e}"))?;
        let mut all: Vec<_> = segments(&file).map_err(|e| format!("{name}: {e}"))?;
        let end = all.iter().map(|(range, _)| range.end).max().ok_or("a program without memory")?;
        // With some of it that is not used yet.
        let stack = self.mapped((general.words[31] & !(PAGE - 1)) - 32 * PAGE);
        let count = all.len();
        all.extend([(self.mapped(end), [true, false]), (stack.clone(), [true, false])]);
        let mut regions = Vec::new();
        for (i, (range, [writable, executable])) in all.into_iter().enumerate().filter(|(_, (range, _))| !range.is_empty()) {
            let bytes = self.read(range.start, (range.end - range.start) as usize)?;
            let file = if i < count { &*name } else { ["[heap]", "[stack]"][i - count] }.to_owned();
            regions.push(Region { range, writable, executable, shared: false, file, bytes });
        }
        regions.sort_by_key(|region| region.range.start);
        // Executes an instruction of the C library that reads the thread pointer.
        let code = regions.iter().filter(|region| !region.writable);
        let mut words = code.flat_map(|region| (region.range.start..).step_by(4).zip(region.bytes.as_chunks::<4>().0));
        let asks = words.find(|(_, word)| u32::from_le_bytes(**word) & 0xffff_ffe0 == THREAD && word[0] & 0x1f != 31);
        let mut fs = 0;
        if let Some((at, word)) = asks {
            self.set_general(&General { at, ..general.clone() })?;
            self.step()?;
            fs = self.general()?.words[usize::from(word[0] & 0x1f)];
            self.set_general(&general)?;
        }
        let marker = Marker { arguments: std::array::from_fn(|i| general.words[i]), stack: general.words[31], at: general.at, fs };
        Ok(Image::new(Isa::Arm, regions, marker, stack))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the offset in the file of an address.
fn offset(file: &[u8], at: u64) -> Option<usize> {
    let header = elf::FileHeader64::<Endianness>::parse(file).ok()?;
    let endian = header.endian().ok()?;
    let maps = |header: &&elf::ProgramHeader64<Endianness>| {
        let start = header.p_vaddr(endian);
        header.p_type(endian) == elf::PT_LOAD && (start..start + header.p_filesz(endian)).contains(&at)
    };
    let found = header.program_headers(endian, file).ok()?.iter().find(maps)?;
    usize::try_from(at - found.p_vaddr(endian) + found.p_offset(endian)).ok()
}

/// Returns the pages that a file maps, and whether they are writable (unless protected after the start, RELRO) and executable.
fn segments(file: &[u8]) -> object::Result<Vec<(Range<u64>, [bool; 2])>> {
    let header = elf::FileHeader64::<Endianness>::parse(file)?;
    let endian = header.endian()?;
    let headers = header.program_headers(endian, file)?;
    let of = |kind: u32| headers.iter().filter(move |header| header.p_type(endian) == kind);
    let bytes = |header: &elf::ProgramHeader64<Endianness>| header.p_vaddr(endian)..header.p_vaddr(endian) + header.p_memsz(endian);
    let mut all = Vec::new();
    for header in of(elf::PT_LOAD) {
        let Range { start, end } = bytes(header);
        let (start, end) = (start & !(PAGE - 1), end.next_multiple_of(PAGE));
        let [writable, executable] = [elf::PF_W, elf::PF_X].map(|flag| header.p_flags(endian) & flag != 0);
        let protected = of(elf::PT_GNU_RELRO).map(bytes).find(|range| (start..end).contains(&range.start));
        let parted = protected.map_or(start, |range| range.end & !(PAGE - 1));
        all.extend([(start..parted, [false, executable]), (parted..end, [writable, executable])]);
    }
    Ok(all)
}
