//! Single-steps a child program, which gives exact and repeatable counts where a clock is neither.
//!
//! The program marks the part of interest with two `int3` instructions, both in one function, so that they have one address:
//! ```text
//! #[inline(never)]
//! extern "C" fn marker(case: u64) {       // the caller finds `case` in `Registers::rdi`
//!     unsafe { core::arch::asm!("int3", in("rdi") case) }
//! }
//! marker(7); work(); marker(7);
//! ```
//! From there on the kernel stops it after every instruction (ptrace(2), `PTRACE_SINGLESTEP`). It runs with an empty environment and, where
//! the kernel allows it, without randomised addresses, so that equal runs have equal addresses; a program for such a comparison keeps its
//! buffers in statics, because a heap moves.
//!
//! It executes about 50,000 instructions a second. `cargo xtask asm` guards fastgcm's machine code with it; `papers` replays a paper's table of
//! instructions. On other machines the crate is empty.
//!
//! `lab/asm/examples/aarch64.rs` follows a program of AArch64 by qemu's log instead.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use nix::{
    libc::{self, user_regs_struct},
    sys::{
        personality::{self, Persona},
        ptrace,
        signal::Signal,
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};
use std::{
    fs,
    marker::PhantomData,
    mem::offset_of,
    ops::Range,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

/// The longest time to the next marker.
const LIMIT: Duration = Duration::from_secs(120);

/// The general registers, with the names of <sys/user.h>.
pub type Registers = user_regs_struct;

/// A traced program, which is stopped between calls of these methods. It is killed when this is dropped.
#[derive(Debug)]
pub struct Traced {
    child: Child,
    /// The address of the marker's `int3`, once it has been reached.
    marker: Option<u64>,
    base: u64,
    code: Range<u64>,
    /// ptrace works only in the thread that started the program.
    _this_thread: PhantomData<*const ()>,
}

impl Traced {
    /// Starts `program`, stopped before its first instruction.
    pub fn start(program: &Path, arguments: &[String]) -> Result<Self, String> {
        // A path, not a name to be searched for.
        let path = if program.is_absolute() { program.to_owned() } else { Path::new(".").join(program) };
        let mut command = Command::new(path);
        command.args(arguments).env_clear();
        // SAFETY: two system calls, which are allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // Forbidden in some containers, where addresses differ from run to run, but counts do not.
                let _ = personality::set(Persona::ADDR_NO_RANDOMIZE);
                Ok(ptrace::traceme()?)
            })
        };
        let child = command.spawn().map_err(|e| format!("{}, to be traced: {e}", program.display()))?;
        let mut new = Self { child, marker: None, base: 0, code: 0..0, _this_thread: PhantomData };
        match new.wait()? {
            Some(Signal::SIGTRAP) => {} // execve
            other => return Err(format!("{} stopped with {other:?} at its start", program.display())),
        }
        (new.base, new.code) = new.mapped(program)?;
        Ok(new)
    }

    /// Returns its process, whose memory can be read while it is stopped.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the load address of its file.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the addresses of the program's own machine code, without the C library's.
    pub fn code(&self) -> Range<u64> {
        self.code.clone()
    }

    /// Runs it at full speed to its next marker. Returns `None` if it has ended successfully.
    pub fn next_marker(&mut self) -> Result<Option<Registers>, String> {
        ptrace::cont(self.pid(), None).map_err(|e| format!("ptrace: {e}"))?;
        match self.wait_for(LIMIT)? {
            None => Ok(None),
            Some(Signal::SIGTRAP) => {
                let registers = self.registers()?;
                self.marker = Some(registers.rip - 1);
                Ok(Some(registers))
            }
            // The signal with which Go's scheduler preempts a thread; it is not delivered.
            Some(Signal::SIGURG) => self.next_marker(),
            Some(signal) => Err(format!("the traced program got {signal}")),
        }
    }

    /// Executes one instruction (one repetition of one with `rep`). Returns the address of the next, or `None` for a marker, which is
    /// skipped.
    pub fn step(&mut self) -> Result<Option<u64>, String> {
        let at = self.single()?;
        if Some(at) != self.marker {
            return Ok(Some(at));
        }
        self.single()?;
        Ok(None)
    }

    /// Calls `each` with the address of each instruction up to the next marker, before it is executed: `registers` then has its operands.
    pub fn until_marker(&mut self, mut each: impl FnMut(&Self, u64) -> Result<(), String>) -> Result<(), String> {
        let mut at = self.registers()?.rip;
        loop {
            each(self, at)?;
            match self.step()? {
                Some(next) => at = next,
                None => return Ok(()),
            }
        }
    }

    /// Returns the general registers.
    pub fn registers(&self) -> Result<Registers, String> {
        ptrace::getregs(self.pid()).map_err(|e| format!("ptrace: {e}"))
    }

    /// Sets the general registers.
    pub fn set_registers(&self, registers: Registers) -> Result<(), String> {
        ptrace::setregs(self.pid(), registers).map_err(|e| format!("ptrace: {e}"))
    }

    /// Returns the vector registers and masks in XSAVE's standard layout.
    pub fn extended(&self) -> Result<Vec<u8>, String> {
        const NT_X86_XSTATE: usize = 0x202;
        let mut area = vec![0u8; 4096];
        let mut part = libc::iovec { iov_base: area.as_mut_ptr().cast(), iov_len: area.len() };
        // SAFETY: the kernel writes within the area.
        let done = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, self.pid().as_raw(), NT_X86_XSTATE, &raw mut part) };
        if done != 0 {
            return Err(format!("ptrace: {}", std::io::Error::last_os_error()));
        }
        area.truncate(part.iov_len);
        Ok(area)
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Executes one instruction. Returns the next address.
    fn single(&mut self) -> Result<u64, String> {
        ptrace::step(self.pid(), None).map_err(|e| format!("ptrace: {e}"))?;
        match self.wait()? {
            Some(Signal::SIGTRAP) => {}
            Some(signal) => return Err(format!("the traced program got {signal}")),
            None => return Err("the traced program ended between two markers".into()),
        }
        let rip = ptrace::read_user(self.pid(), offset_of!(Registers, rip) as *mut _).map_err(|e| format!("ptrace: {e}"))?;
        Ok(rip as u64)
    }

    /// Waits until it stops, up to a limit.
    fn wait_for(&mut self, limit: Duration) -> Result<Option<Signal>, String> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(20);
        loop {
            match waitpid(self.pid(), Some(WaitPidFlag::WNOHANG)).map_err(|e| format!("waitpid: {e}"))? {
                WaitStatus::StillAlive if start.elapsed() < limit => thread::sleep(pause),
                WaitStatus::StillAlive => return Err(format!("the traced program does not reach its marker in {} s", limit.as_secs())),
                status => return Self::stopped(status),
            }
            pause = (2 * pause).min(Duration::from_millis(5));
        }
    }

    /// Waits until it stops. Returns the signal, or `None` if it has ended.
    fn wait(&mut self) -> Result<Option<Signal>, String> {
        Self::stopped(waitpid(self.pid(), None).map_err(|e| format!("waitpid: {e}"))?)
    }

    fn stopped(status: WaitStatus) -> Result<Option<Signal>, String> {
        match status {
            WaitStatus::Stopped(_, signal) => Ok(Some(signal)),
            WaitStatus::Exited(_, 0) => Ok(None),
            other => Err(format!("the traced program: {other:?}")),
        }
    }

    /// Returns the load address of the program's file, and its executable segment.
    fn mapped(&self, program: &Path) -> Result<(u64, Range<u64>), String> {
        let program = fs::canonicalize(program).map_err(|e| format!("{}: {e}", program.display()))?;
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.child.id())).map_err(|e| e.to_string())?;
        let own = maps.lines().filter(|line| line.ends_with(&*program.to_string_lossy()));
        let segments = own.filter_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let (start, end) = range.split_once('-')?;
            Some((u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?, rest.starts_with("r-xp")))
        });
        let segments: Vec<_> = segments.collect();
        let code = segments.iter().find(|(_, executable)| *executable);
        match (segments.first(), code) {
            (Some((first, _)), Some((code, _))) => Ok((first.start, code.clone())),
            _ => Err(format!("{} is not in memory", program.display())),
        }
    }
}

/// Returns the number of instructions that `program` executes between each two markers.
///
/// # Errors
/// The program cannot be started or traced, or fails.
pub fn count(program: &Path, arguments: &[String]) -> Result<Vec<u64>, String> {
    let mut traced = Traced::start(program, arguments)?;
    let mut counts = Vec::new();
    while traced.next_marker()?.is_some() {
        let mut count = 0;
        traced.until_marker(|_, _| {
            count += 1;
            Ok(())
        })?;
        counts.push(count);
    }
    Ok(counts)
}

/// Stops a program that is traced, and kills one that is not.
#[inline(never)]
pub fn marker() {
    // SAFETY: a trap, and nothing else.
    unsafe { core::arch::asm!("int3") }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
