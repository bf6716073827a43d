//! Compares semantics with silicon: this processor runs each instruction that proofs have executed, with random operands and boundary values, and so does
//! the interpreter. All registers, masks, defined flags and memory are compared.
//!
//! The instruction stands on a page of its own, between code that loads the whole state and code that stores it.

use crate::{
    machine::{Decoded, Flags, Machine, Word, Zero},
    memory::Memory,
    process::image::Image,
    values::field::{Bit, byte, bytes, lifted, number},
    values::random::{Random, Seed},
};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpKind, Register};
use std::{arch::global_asm, collections::BTreeMap};

/// The state that the code around an instruction loads and stores. The assembly below knows this layout.
#[repr(C, align(64))]
#[derive(Clone, Debug)]
struct State {
    vectors: [[u8; 64]; 32],
    masks: [u64; 8],
    general: [u64; 16],
    flags: u64,
}

macro_rules! around {
    ($name:literal, $load:literal, $store:literal) => {
        global_asm!(
            concat!(".globl fastgcm_forms_enter_", $name),
            concat!("fastgcm_forms_enter_", $name, ":"),
            ".irp r, rbx, rbp, r12, r13, r14, r15",
            "push \\r",
            ".endr",
            "mov [rip + fastgcm_forms_saved], rsp",
            "mov [rip + fastgcm_forms_saved + 8], rdi",
            "mov [rip + fastgcm_forms_saved + 16], rsi",
            $load,
            "push qword ptr [rdi + 2240]",
            "popfq",
            "mov rax, [rdi + 2112]",
            "mov rcx, [rdi + 2120]",
            "mov rdx, [rdi + 2128]",
            "mov rbx, [rdi + 2136]",
            "mov rsp, [rdi + 2144]",
            "mov rbp, [rdi + 2152]",
            "mov rsi, [rdi + 2160]",
            ".irp n, 8, 9, 10, 11, 12, 13, 14, 15",
            "mov r\\n, [rdi + 2112 + 8 * \\n]",
            ".endr",
            "mov rdi, [rdi + 2168]",
            "jmp qword ptr [rip + fastgcm_forms_saved + 16]",
            concat!(".globl fastgcm_forms_leave_", $name),
            concat!("fastgcm_forms_leave_", $name, ":"),
            "mov [rip + fastgcm_forms_saved + 24], rdi",
            "mov rdi, [rip + fastgcm_forms_saved + 8]",
            "mov [rdi + 2112], rax",
            "mov [rdi + 2120], rcx",
            "mov [rdi + 2128], rdx",
            "mov [rdi + 2136], rbx",
            "mov [rdi + 2144], rsp",
            "mov [rdi + 2152], rbp",
            "mov [rdi + 2160], rsi",
            ".irp n, 8, 9, 10, 11, 12, 13, 14, 15",
            "mov [rdi + 2112 + 8 * \\n], r\\n",
            ".endr",
            "mov rax, [rip + fastgcm_forms_saved + 24]",
            "mov [rdi + 2168], rax",
            "mov rsp, [rip + fastgcm_forms_saved]",
            "pushfq",
            "pop qword ptr [rdi + 2240]",
            "cld",
            $store,
            ".irp r, r15, r14, r13, r12, rbp, rbx",
            "pop \\r",
            ".endr",
            "ret",
        );
    };
}

global_asm!(".data", ".balign 64", "fastgcm_forms_saved:", ".quad 0, 0, 0, 0", ".text");
around!(
    "512",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
     vmovdqu64 zmm\\n, [rdi + 64 * \\n]
     .endr
     .irp n, 0,1,2,3,4,5,6,7
     kmovq k\\n, [rdi + 2048 + 8 * \\n]
     .endr",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
     vmovdqu64 [rdi + 64 * \\n], zmm\\n
     .endr
     .irp n, 0,1,2,3,4,5,6,7
     kmovq [rdi + 2048 + 8 * \\n], k\\n
     .endr
     vzeroupper"
);
around!(
    "256",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
     vmovdqu ymm\\n, [rdi + 64 * \\n]
     .endr",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
     vmovdqu [rdi + 64 * \\n], ymm\\n
     .endr
     vzeroupper"
);
around!(
    "128",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
     movdqu xmm\\n, [rdi + 64 * \\n]
     .endr",
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
     movdqu [rdi + 64 * \\n], xmm\\n
     .endr"
);

type Enter = unsafe extern "C" fn(&mut State, *const u8);

unsafe extern "C" {
    fn fastgcm_forms_enter_512(state: &mut State, code: *const u8);
    fn fastgcm_forms_enter_256(state: &mut State, code: *const u8);
    fn fastgcm_forms_enter_128(state: &mut State, code: *const u8);
    fn fastgcm_forms_leave_512();
    fn fastgcm_forms_leave_256();
    fn fastgcm_forms_leave_128();
}

/// The results of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    pub executions: u64,
    /// The compared forms, and how often.
    pub forms: BTreeMap<String, u64>,
    pub encodings: usize,
    /// The forms that this processor lacks; and branches, stack instructions and the like, which cannot be compared one by one.
    pub lacking: BTreeMap<String, usize>,
    pub left_out: BTreeMap<String, usize>,
    pub differences: Vec<String>,
}

/// The number of broken semantics, which the comparison must find.
pub const BROKEN: usize = 8;

/// Returns true if this processor has masks.
pub fn has_masks() -> bool {
    is_x86_feature_detected!("avx512bw")
}

/// Breaks an instruction before it is interpreted.
pub(crate) fn broken(how: usize, i: &mut Instruction) {
    match how {
        1 => i.set_zeroing_masking(false),
        2 if i.op0_kind() == OpKind::Memory => i.set_op_mask(Register::None),
        3 if i.op_count() > 1 && i.op_kind(i.op_count() - 1) == OpKind::Immediate8 => i.set_immediate8(i.immediate8() ^ 1),
        4 if i.op_count() > 1 && i.op0_kind() == OpKind::Register => i.set_memory_index_scale(1),
        _ => {}
    }
}

/// Breaks the state after an instruction.
fn broken_after(how: usize, i: &Instruction, before: &State, machine: &mut Machine<'_>) {
    let to = i.op0_register();
    match how {
        5 if i.op0_kind() == OpKind::Register && to.is_gpr32() => {
            let upper = before.general[to.full_register().number()] >> 32 << 32;
            if let Word::Number(n) = &mut machine.general[to.full_register().number()] {
                *n |= upper;
            }
        }
        6 if i.op0_kind() == OpKind::Register && to.is_xmm() && i.encoding() != iced_x86::EncodingKind::Legacy => {
            let upper: Vec<Bit> = before.vectors[to.number()][16..32].iter().flat_map(|&n| byte(n)).collect();
            machine.vectors[to.number()][128..256].copy_from_slice(&upper);
        }
        // The carry for exactly the width.
        7 if i.mnemonic() == iced_x86::Mnemonic::Bzhi
            && machine.register(i.op2_register()).keep(8) == Word::Number(8 * to.size() as u64) =>
        {
            machine.flags.carry = machine.flags.carry.map(Bit::inverted);
        }
        8 if machine.flags.zero == Zero::Is(true) => machine.flags.sign = machine.flags.sign.map(|sign| !sign),
        _ => {}
    }
}

/// Boundary values, used besides random ones.
const EDGES: [u64; 24] = [
    0,
    1,
    2,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    1 << 31,
    (1 << 31) - 1,
    (1 << 32) - 1,
    1 << 32,
    1 << 63,
    u64::MAX >> 1,
    u64::MAX,
];

fn general(random: &mut Random) -> u64 {
    match random.word() % 4 {
        0 => EDGES[random.word() as usize % EDGES.len()],
        1 => random.word() % 70,
        2 => random.word() << 8 | EDGES[random.word() as usize % 17],
        _ => random.word(),
    }
}

/// Runs each encoding this often. `how` selects broken semantics, or is 0.
pub fn run(encodings: &[Vec<u8>], tries: usize, seed: Seed, how: usize) -> Result<Comparison, String> {
    let (enter, leave, width): (Enter, usize, usize) = if has_masks() {
        (fastgcm_forms_enter_512, fastgcm_forms_leave_512 as *const () as usize, 64)
    } else if is_x86_feature_detected!("avx") {
        (fastgcm_forms_enter_256, fastgcm_forms_leave_256 as *const () as usize, 32)
    } else {
        (fastgcm_forms_enter_128, fastgcm_forms_leave_128 as *const () as usize, 16)
    };
    // SAFETY: new memory: a page of code and two of data.
    let page = unsafe {
        let (read_write_execute, private_anonymous) = (7, 0x22);
        mmap(std::ptr::null_mut(), 3 * 4096, read_write_execute, private_anonymous, -1, 0)
    };
    // SAFETY: the two pages of data are ours.
    if page as isize != -1 && unsafe { mprotect(page.add(4096), 2 * 4096, 3) } != 0 {
        return Err("a page of data stays executable".into());
    }
    if page.is_null() || page as isize == -1 {
        return Err("there is no page that can be written and executed".into());
    }
    let (code, data) = (page as u64, page as u64 + 4096);
    let image = Image::of_process(std::process::id(), fastgcm_step::Registers { ..ZERO })?;
    let mut decoded = Decoded::default();
    let nobody = crate::statement::calls::ROWS[0].1;
    let mut machine = Machine::new(&image, &mut decoded, nobody, seed, code, 0..0);
    machine.lifted_only = true;
    let mut random = Random::new(seed, 3);
    let mut comparison = Comparison { encodings: encodings.len(), ..Comparison::default() };
    let mut info = InstructionInfoFactory::new();
    'encodings: for encoding in encodings {
        let mut encoding = encoding.clone();
        let mut decoder = Decoder::with_ip(64, &encoding, code, DecoderOptions::NONE);
        let mut i = decoder.decode();
        let form = format!("{:?}", i.code());
        let is_alone = i.flow_control() == FlowControl::Next && !i.is_stack_instruction() && !i.has_rep_prefix();
        let of_system = matches!(i.mnemonic(), iced_x86::Mnemonic::Cpuid | iced_x86::Mnemonic::Xgetbv | iced_x86::Mnemonic::Syscall);
        let memory = (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Memory) && i.mnemonic() != iced_x86::Mnemonic::Lea;
        let string = info.info(&i).used_memory().len() > usize::from(memory);
        if !is_alone || of_system || string || i.memory_segment() == Register::FS || memory && i.memory_base() == i.memory_index() {
            *comparison.left_out.entry(form).or_default() += 1;
            continue;
        }
        if let Some(feature) = i.cpuid_features().iter().find(|feature| !has(&format!("{feature:?}"))) {
            *comparison.lacking.entry(format!("{form} ({feature:?})")).or_default() += 1;
            continue;
        }
        if i.is_ip_rel_memory_operand() {
            let at = decoder.get_constant_offsets(&i).displacement_offset();
            let displacement = (data + 512).wrapping_sub(code + encoding.len() as u64) as i32;
            encoding[at..at + 4].copy_from_slice(&displacement.to_le_bytes());
            i = Decoder::with_ip(64, &encoding, code, DecoderOptions::NONE).decode();
        }
        let jump = [&encoding[..], &[0xff, 0x25, 0, 0, 0, 0], &leave.to_le_bytes()].concat();
        // SAFETY: the page is ours, and nobody executes it now.
        unsafe { std::ptr::copy_nonoverlapping(jump.as_ptr(), page, jump.len()) };
        let mut interpreted = i;
        broken(how, &mut interpreted);
        for _ in 0..tries {
            let mut state = State { vectors: [[0; 64]; 32], masks: [0; 8], general: [0; 16], flags: 2 | random.word() & 0x8d5 };
            for n in 0..32 {
                let words: Vec<u8> = (0..8).flat_map(|_| general(&mut random).to_le_bytes()).collect();
                state.vectors[n] = match random.word() % 8 {
                    0 => [[0, 0xff][random.word() as usize % 2]; 64],
                    1 if n > 0 => state.vectors[n - 1],
                    _ => words.try_into().expect("64 bytes"),
                };
            }
            state.masks.iter_mut().for_each(|mask| *mask = general(&mut random));
            state.general.iter_mut().for_each(|n| *n = general(&mut random));
            state.general[Register::RSP.number()] = data + 4096;
            if memory && !i.is_ip_rel_memory_operand() {
                let Some(base) = Some(i.memory_base()).filter(|base| base.is_gpr64()) else { continue 'encodings };
                let mut rest = (data + 1024).wrapping_sub(i.memory_displacement64());
                if i.memory_index() != Register::None {
                    let n = random.word() % 8 * 64;
                    state.general[i.memory_index().number()] = n;
                    rest = rest.wrapping_sub(n * u64::from(i.memory_index_scale()));
                }
                state.general[base.number()] = rest;
            }
            let content: Vec<u8> = (0..512).flat_map(|_| general(&mut random).to_le_bytes()).collect();
            // SAFETY: the page is ours.
            unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), data as *mut u8, 4096) };
            machine.memory = Memory::new(&image, seed, 0..0);
            machine.memory.put(data, &bytes(&content))?;
            machine.general = state.general.map(Word::Number).to_vec();
            for (vector, bytes) in machine.vectors.iter_mut().zip(&state.vectors) {
                *vector = std::array::from_fn(|j| Bit::from(bytes[j / 8] >> (j % 8) & 1 == 1));
            }
            machine.masks = state.masks.map(Some);
            let flag = |n: u64| state.flags >> n & 1 == 1;
            let (carry, zero) = (Some(Bit::from(flag(0))), Zero::Is(flag(6)));
            machine.flags = Flags { carry, zero, parity: Some(flag(2)), sign: Some(flag(7)), overflow: Some(flag(11)) };
            machine.rip = code;
            machine.decoded.instructions.insert(code, interpreted);
            let before = state.clone();
            // An instruction that would trap is not executed.
            if machine.step().is_err() {
                continue;
            }
            broken_after(how, &i, &before, &mut machine);
            // SAFETY: one instruction that touches registers and our data, and does not trap: the interpreter has just executed it.
            unsafe { enter(&mut state, page) };
            comparison.executions += 1;
            *comparison.forms.entry(form.clone()).or_default() += 1;
            // SAFETY: the page is ours.
            let now = unsafe { std::slice::from_raw_parts(data as *const u8, 4096) };
            if let Some(what) = difference(&mut machine, &state, data, now, width) {
                comparison.differences.push(format!("{i}: {what}"));
                continue 'encodings;
            }
        }
    }
    Ok(comparison)
}

/// Describes a difference.
fn difference(machine: &mut Machine<'_>, state: &State, data: u64, now: &[u8], width: usize) -> Option<String> {
    for (r, (ours, &theirs)) in machine.general.iter().zip(&state.general).enumerate() {
        if *ours != Word::Number(theirs) {
            return Some(format!("general register {r}: {}, the processor has {theirs:#x}", ours.text()));
        }
    }
    for v in 0..if width == 64 { 32 } else { 16 } {
        for byte in 0..width {
            let ours = number(&machine.vectors[v][8 * byte..][..8]);
            if ours != Some(state.vectors[v][byte].into()) {
                return Some(format!("byte {byte} of vector {v}: {ours:?}, the processor has {}", state.vectors[v][byte]));
            }
        }
    }
    if width == 64 && machine.masks != state.masks.map(Some) {
        return Some(format!("masks: {:x?}, the processor has {:x?}", machine.masks, state.masks));
    }
    if let Some(what) = flags_differ(&machine.flags, state.flags) {
        return Some(what);
    }
    let ours = machine.memory.string(data, now.len()).ok()?;
    let at = ours.iter().zip(now).position(|(ours, &theirs)| *ours != lifted::<8>(theirs.into()))?;
    Some(format!("memory at {at}"))
}

/// Describes a difference of a defined flag.
pub(crate) fn flags_differ(flags: &Flags, theirs: u64) -> Option<String> {
    let Flags { carry, overflow, sign, parity, zero } = flags;
    let zero = if let Zero::Is(zero) = zero { Some(*zero) } else { None };
    let flags = [
        ("carry", carry.and_then(Bit::number), 0),
        ("parity", *parity, 2),
        ("zero", zero, 6),
        ("sign", *sign, 7),
        ("overflow", *overflow, 11),
    ];
    let differs = |(_, ours, n): &(&str, Option<bool>, u64)| ours.is_some_and(|ours| ours != (theirs >> n & 1 == 1));
    flags.iter().find(|flag| differs(flag)).map(|(name, ..)| format!("flag {name}"))
}

/// Returns true if this processor has a feature.
fn has(feature: &str) -> bool {
    match feature {
        "AVX" => is_x86_feature_detected!("avx"),
        "AVX2" => is_x86_feature_detected!("avx2"),
        "AVX512F" => is_x86_feature_detected!("avx512f"),
        "AVX512BW" => is_x86_feature_detected!("avx512bw"),
        "AVX512DQ" => is_x86_feature_detected!("avx512dq"),
        "AVX512VL" => is_x86_feature_detected!("avx512vl"),
        "AVX512_VBMI" => is_x86_feature_detected!("avx512vbmi"),
        "VAES" => is_x86_feature_detected!("vaes"),
        "VPCLMULQDQ" => is_x86_feature_detected!("vpclmulqdq"),
        "AES" => is_x86_feature_detected!("aes"),
        "PCLMULQDQ" => is_x86_feature_detected!("pclmulqdq"),
        "BMI1" => is_x86_feature_detected!("bmi1"),
        "BMI2" => is_x86_feature_detected!("bmi2"),
        "LZCNT" => is_x86_feature_detected!("lzcnt"),
        "MOVBE" => is_x86_feature_detected!("movbe"),
        "POPCNT" => is_x86_feature_detected!("popcnt"),
        "SSE4_1" => is_x86_feature_detected!("sse4.1"),
        "SSSE3" => is_x86_feature_detected!("ssse3"),
        _ => true,
    }
}

unsafe extern "C" {
    fn mprotect(at: *mut u8, len: usize, protection: i32) -> i32;
    fn mmap(at: *mut u8, len: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
}

// SAFETY: integers, which may be zero.
const ZERO: fastgcm_step::Registers = unsafe { std::mem::zeroed() };
