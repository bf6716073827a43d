//! A trace of a function: the address of every instruction that it executes, and of all memory that these touch.
//!
//! The processor's trap flag (Intel's manual, volume 3, section 18.3.1.4) raises SIGTRAP after each instruction. That needs no second
//! process and no debugger, so it also works on the emulated processor, and it is three times as fast as ptrace: 50,000 to 150,000 steps a
//! second, nearly all of it the kernel's time.

use crate::allocator::allocating_elsewhere;
use iced_x86::{Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register, UsedMemory};
use std::{
    arch::asm,
    cell::{Cell, RefCell},
    collections::HashMap,
    mem::MaybeUninit,
    ops::Range,
    ptr,
};

/// What an observer of addresses has seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trace {
    pub(crate) steps: usize,
    /// Of all addresses, in their order.
    digest: u64,
}

/// One step: where, and the digest up to there.
pub(crate) type Step = (u64, u64);

/// Traces functions. Keeps what it has learnt of each instruction.
#[derive(Default)]
pub(crate) struct Tracer {
    known: HashMap<u64, Known>,
    trace: Trace,
    /// An instruction that takes its time by an operand in memory, or whose addresses are in a vector register.
    refused: Option<Instruction>,
    /// All steps, where a difference is to be found.
    log: Option<Vec<Step>>,
    /// Addresses that no access may reach, not even under a mask; and the first that did.
    pub(crate) forbidden: Vec<Range<u64>>,
    pub(crate) reached: Option<(Instruction, u64)>,
    /// Memory, and how many bytes have been written there, each as often as it was.
    pub(crate) watched: Range<u64>,
    pub(crate) written: u64,
    /// Is told of each access to memory: where it is, and whether it reads.
    pub(crate) observer: Option<Box<Observer>>,
}

pub(crate) type Observer = dyn FnMut(Range<u64>, bool);

struct Known {
    instruction: Instruction,
    memory: Vec<UsedMemory>,
    /// By what it divides, which takes its time by its operands: they belong to the trace.
    divisor: Option<Register>,
    refused: bool,
}

impl Default for Trace {
    fn default() -> Self {
        Self { steps: 0, digest: 0x9e37_79b9_7f4a_7c15 }
    }
}

impl Tracer {
    /// Runs `f` an instruction at a time, on a stack of its own. Fails if an instruction is refused. Two traces are alike only if `subject`
    /// is in the same place both times.
    pub(crate) fn trace<T>(&mut self, subject: &mut T, f: extern "sysv64" fn(&mut T)) -> Result<Trace, String> {
        self.trace = Trace::default();
        self.refused = None;
        single_steps(self, subject, f);
        match self.refused {
            None => Ok(self.trace),
            Some(instruction) => Err(format!("{:?} at {:#x}", instruction.code(), instruction.ip())),
        }
    }

    /// The trace, step by step: to find out where two traces part.
    pub(crate) fn steps<T>(&mut self, subject: &mut T, f: extern "sysv64" fn(&mut T)) -> Vec<Step> {
        self.log = Some(Vec::with_capacity(1 << 20));
        _ = self.trace(subject, f);
        self.log.take().unwrap_or_default()
    }

    /// The first instruction whose address or memory differs.
    pub(crate) fn parting(&self, a: &[Step], b: &[Step]) -> String {
        let Some(step) = a.iter().zip(b).position(|(a, b)| a != b) else {
            return format!("the end: {} steps and {}", a.len(), b.len());
        };
        // Another address: the branch before it is what matters. The same: its memory.
        let from = if a[step].0 == b[step].0 { step } else { step.saturating_sub(1) };
        let instruction = self.known[&a[from].0].instruction;
        format!("step {step}: {:?} at {:#x}", instruction.code(), instruction.ip())
    }

    /// The processor is about to execute the instruction at `registers[RIP]`.
    fn step(&mut self, registers: &[i64; 23]) {
        let at = registers[libc::REG_RIP as usize] as u64;
        let known = self.known.entry(at).or_insert_with(|| Known::at(at));
        let mut digest = mix(self.trace.digest, at);
        for memory in &known.memory {
            match memory.virtual_address(0, |register, _, _| value(registers, register)) {
                Some(address) => {
                    digest = mix(digest, address);
                    // What `rep` repeats traps each time, and has no size but that of the instruction.
                    let size = [memory.memory_size(), known.instruction.memory_size()].map(|size| size.size() as u64);
                    let end = address.saturating_add(if size[0] == 0 { size[1] } else { size[0] });
                    if self.forbidden.iter().any(|pages| address < pages.end && pages.start < end) {
                        self.reached.get_or_insert((known.instruction, address));
                    }
                    let writes = !matches!(memory.access(), OpAccess::Read | OpAccess::CondRead);
                    let reads = !matches!(memory.access(), OpAccess::Write | OpAccess::CondWrite);
                    if let Some(observer) = &mut self.observer {
                        observer(address..end, reads);
                    }
                    if writes {
                        self.written += end.min(self.watched.end).saturating_sub(address.max(self.watched.start));
                    }
                }
                None => self.refused = Some(known.instruction),
            }
        }
        if let Some(divisor) = known.divisor {
            for register in [Register::RAX, Register::RDX, divisor] {
                digest = mix(digest, value(registers, register).unwrap_or(0));
            }
        }
        if known.refused {
            self.refused = Some(known.instruction);
        }
        self.trace = Trace { steps: self.trace.steps + 1, digest };
        if let Some(log) = &mut self.log {
            log.push((at, digest));
        }
    }
}

impl Known {
    fn at(address: u64) -> Self {
        // SAFETY: the processor has just fetched an instruction there, and none has more than 15 bytes. (Code is followed by data.)
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, 15) };
        let instruction = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).decode();
        thread_local!(static INFO: RefCell<InstructionInfoFactory> = RefCell::new(InstructionInfoFactory::new()));
        let memory = INFO.with_borrow_mut(|info| {
            let used = info.info(&instruction).used_memory();
            used.iter().filter(|memory| memory.access() != OpAccess::NoMemAccess).copied().collect()
        });
        let divides = matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv);
        let divisor = (divides && instruction.op0_register().is_gpr()).then(|| instruction.op0_register());
        let refused = instruction.is_invalid() || divides && divisor.is_none();
        Self { instruction, memory, divisor, refused }
    }
}

/// Each step of it can be undone, so two digests that once differ stay different unless something else differs too.
fn mix(digest: u64, word: u64) -> u64 {
    (digest.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A register that is part of an address, or of a division; a segment's base does not change meanwhile.
fn value(registers: &[i64; 23], register: Register) -> Option<u64> {
    if register.is_segment_register() {
        return Some(0);
    }
    const ORDER: [i32; 16] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    let whole = register.is_gpr().then(|| registers[ORDER[register.full_register().number()] as usize] as u64)?;
    Some(if register.is_gpr64() { whole } else { whole & 0xffff_ffff })
}

thread_local! {
    /// Who is told of each step of this thread. (A constant without a destructor: to read it in a handler is one load.)
    static TRACER: Cell<*mut Tracer> = const { Cell::new(ptr::null_mut()) };
    /// What is traced has always the same stack, and so has the handler; each thread its own.
    static STACKS: RefCell<Box<Stacks>> = RefCell::new(Box::new(Stacks([0; STACK], [0; STACK])));
}

/// Bytes of each stack.
const STACK: usize = 256 << 10;

#[repr(align(64))]
struct Stacks([u8; STACK], [u8; STACK]);

extern "C" fn trapped(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's description of where the thread stands, and the tracer that this thread lends for that time. The code that is
    // interrupted holds no lock, and allocates in a place of its own if at all, so this may.
    let (tracer, context) = unsafe { (&mut *TRACER.get(), &*context.cast::<libc::ucontext_t>()) };
    allocating_elsewhere(|| tracer.step(&context.uc_mcontext.gregs));
}

/// Runs `f` with the trap flag set.
fn single_steps<T>(tracer: &mut Tracer, subject: &mut T, f: extern "sysv64" fn(&mut T)) {
    STACKS.with_borrow_mut(|stacks| {
        TRACER.set(tracer);
        on_stacks(stacks, subject, f);
        TRACER.set(ptr::null_mut());
    });
}

fn on_stacks<T>(stacks: &mut Stacks, subject: &mut T, f: extern "sysv64" fn(&mut T)) {
    // SAFETY: a handler of the right type for a signal that nobody else uses, on a stack that lives until the old one is put back; a call
    // by the System V ABI, on an aligned stack that nobody else uses; the stack pointer is kept in a register that the callee restores.
    unsafe {
        let mut old = MaybeUninit::uninit();
        let stack = libc::stack_t { ss_sp: stacks.0.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
        assert_eq!(libc::sigaltstack(&stack, old.as_mut_ptr()), 0);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = trapped as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        assert_eq!(libc::sigaction(libc::SIGTRAP, &action, ptr::null_mut()), 0);
        asm!(
            "mov r12, rsp",
            "mov rsp, rsi",
            "pushfq",
            "or qword ptr [rsp], 0x100",
            "popfq",
            "call rax",
            "pushfq",
            "and qword ptr [rsp], -0x101",
            "popfq",
            "mov rsp, r12",
            inout("rax") f => _,
            inout("rdi") subject => _,
            inout("rsi") stacks.1.as_mut_ptr_range().end => _,
            out("r12") _,
            clobber_abi("sysv64"),
        );
        libc::sigaltstack(old.as_ptr(), ptr::null_mut());
    }
}
