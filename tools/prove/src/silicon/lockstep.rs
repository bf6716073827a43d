//! Runs whole calls in lockstep with this processor: a process single-steps a call, and so does the interpreter over numbers. After
//! each instruction all registers, masks and flags are compared, and at the end all memory that the interpreter has accessed.
//!
//! The interpreter gives the process the results of CPUID, XGETBV and system calls, so each row runs whose instructions this processor
//! has.

use crate::{
    machine::{Decoded, Flags, Machine, Result, Word, Zero},
    process::image::{Image, writable},
    silicon::forms::{broken, flags_differ},
    statement::calls::{Case, RETURN, ROWS, Subject},
    statement::prove::Message,
    values::field::{Bit, byte, numbers},
    values::random::Seed,
    values::unknown::Unknown,
};
use fastgcm_step::Registers;
use iced_x86::{Mnemonic, Register};
use std::{arch::x86_64::__cpuid_count, os::unix::fs::FileExt};

/// The outcome of a call.
#[derive(Debug, Default)]
pub struct Outcome {
    pub steps: u64,
    /// The compared bytes of memory.
    pub bytes: usize,
    pub difference: Option<String>,
}

/// The largest number of instructions of a call.
const LIMIT: u64 = 200_000;

/// Runs the call of this case over random numbers. `how` selects broken semantics, or is 0.
pub fn run(subject: &Subject, case: &Case, seed: Seed, how: usize) -> Result<Outcome> {
    let mut traced = subject.process()?;
    let memory = writable(&traced)?;
    let write = |at: u64, what: &[u8]| memory.write_all_at(what, at).map_err(|e| format!("{at:#x}: {e}"));

    let verb = &subject.verbs[case.verb];
    let mut unknown = Unknown::new(seed);
    let mut message = Message::of_numbers(&mut unknown, case, verb);
    if verb.opens && case.right {
        message.given = message.tag.clone();
    }
    for (at, what) in message.inputs(subject, case)? {
        write(at, &what)?;
    }
    let top = subject.top(case) - 8;
    write(top, &RETURN.to_le_bytes())?;
    let start = Registers { rip: subject.perform, rdi: subject.call, rsp: top, orig_rax: u64::MAX, ..traced.registers()? };
    traced.set_registers(start)?;

    let image = Image::of_process(traced.id(), start)?;
    let mut decoded = Decoded::default();
    let mut machine = Machine::new(&image, &mut decoded, ROWS[case.row].1, seed, subject.perform, 0..0);
    machine.general = general(&start).map(Word::Number).to_vec();
    let (vectors, masks) = vectors(&traced.extended()?);
    for (vector, bytes) in machine.vectors.iter_mut().zip(&vectors) {
        *vector = std::array::from_fn(|i| Bit::from(bytes[i / 8] >> (i % 8) & 1 == 1));
    }
    machine.masks = masks.map(Some);
    let flag = |n: u64| start.eflags >> n & 1 == 1;
    machine.flags = Flags {
        carry: Some(Bit::from(flag(0))),
        zero: Zero::Is(flag(6)),
        parity: Some(flag(2)),
        sign: Some(flag(7)),
        overflow: Some(flag(11)),
    };

    let mut outcome = Outcome::default();
    while machine.rip != RETURN && outcome.difference.is_none() {
        if outcome.steps == LIMIT {
            return Err(format!("more than {LIMIT} instructions").into());
        }
        outcome.steps += 1;
        let at = machine.rip;
        let is_new = !machine.decoded.instructions.contains_key(&at);
        let mut i = machine.fetch(at)?;
        if is_new {
            broken(how, &mut i);
            machine.decoded.instructions.insert(at, i);
        }
        // The kernel's answer is copied to the buffer of the call.
        let answer = (i.mnemonic() == Mnemonic::Syscall).then(|| (machine.register(Register::RDI), machine.register(Register::RSI)));
        machine.step()?;
        // The process executes an instruction with `rep` one repetition at a time.
        while traced.step()? == Some(at) {}
        let mut theirs = traced.registers()?;
        if matches!(i.mnemonic(), Mnemonic::Cpuid | Mnemonic::Xgetbv | Mnemonic::Syscall) {
            // CPUID's leaf 1 has the core's number in EBX, which is unknown in a proof and taken from the process here.
            if i.mnemonic() == Mnemonic::Cpuid && machine.general[3].number().is_err() {
                machine.general[3] = Word::Number(theirs.rbx);
            }
            let own = machine.general.iter().map(Word::number).collect::<Result<Vec<_>>>()?;
            [theirs.rax, theirs.rbx, theirs.rcx, theirs.rdx, theirs.r11] = [own[0], own[3], own[1], own[2], own[11]];
            traced.set_registers(theirs)?;
            if let Some((Word::Number(to), Word::Number(n))) = answer {
                write(to, &numbers(&machine.memory.string(to, n as usize)?).ok_or("a symbol from the kernel")?)?;
            }
        }
        outcome.difference = difference(&machine, &theirs, &traced.extended()?).map(|what| format!("{} ({i}): {what}", image.place(at)));
    }
    if outcome.difference.is_none() {
        for (at, ours) in machine.memory.looked_at() {
            let mut theirs = [0; crate::process::image::LINE];
            memory.read_exact_at(&mut theirs, at).map_err(|e| format!("{at:#x}: {e}"))?;
            outcome.bytes += theirs.len();
            let differs = ours.iter().zip(theirs).position(|(ours, theirs)| *ours != byte(theirs));
            outcome.difference = outcome.difference.or(differs.map(|i| format!("memory at {}", image.place(at + i as u64))));
        }
    }
    Ok(outcome)
}

/// Returns the general registers in the order of their numbers.
fn general(r: &Registers) -> [u64; 16] {
    [r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15]
}

/// Returns vectors and masks from XSAVE's standard format, with zeros for those that this processor lacks.
fn vectors(area: &[u8]) -> ([[u8; 64]; 32], [u64; 8]) {
    // SAFETY: CPUID has no side effects; a processor with AVX has leaf 13.
    #[allow(unused_unsafe)]
    let component = |n: u32| unsafe { __cpuid_count(13, n) }.ebx as usize;
    let [upper, masks, halves, more] = [2, 5, 6, 7].map(component);
    let part = |to: &mut [u8], from: usize| {
        if let Some(part) = area.get(from..from + to.len()).filter(|_| from > 0) {
            to.copy_from_slice(part);
        }
    };
    let mut vectors = [[0; 64]; 32];
    for (n, vector) in vectors.iter_mut().enumerate() {
        if n < 16 {
            part(&mut vector[..16], 160 + 16 * n);
            part(&mut vector[16..32], if upper == 0 { 0 } else { upper + 16 * n });
            part(&mut vector[32..], if halves == 0 { 0 } else { halves + 32 * n });
        } else {
            part(vector, if more == 0 { 0 } else { more + 64 * (n - 16) });
        }
    }
    let mask = |n: usize| {
        let mut bytes = [0; 8];
        part(&mut bytes, if masks == 0 { 0 } else { masks + 8 * n });
        u64::from_le_bytes(bytes)
    };
    (vectors, std::array::from_fn(mask))
}

/// Describes a difference.
fn difference(machine: &Machine<'_>, theirs: &Registers, area: &[u8]) -> Option<String> {
    if machine.rip != theirs.rip {
        return Some(format!("goes on at {:#x}, the processor at {:#x}", machine.rip, theirs.rip));
    }
    for (n, (ours, theirs)) in machine.general.iter().zip(general(theirs)).enumerate() {
        if *ours != Word::Number(theirs) {
            return Some(format!("general register {n}: {ours:x?}, the processor has {theirs:#x}"));
        }
    }
    let (vectors, masks) = vectors(area);
    for (n, (ours, theirs)) in machine.vectors.iter().zip(&vectors).enumerate() {
        if let Some(i) = ours.as_chunks::<8>().0.iter().zip(theirs).position(|(ours, &theirs)| *ours != byte(theirs)) {
            return Some(format!("byte {i} of vector {n}"));
        }
    }
    let mask = machine.masks.iter().zip(masks).position(|(ours, theirs)| ours.is_some_and(|ours| ours != theirs));
    mask.map(|n| format!("mask {n}")).or_else(|| flags_differ(&machine.flags, theirs.eflags))
}

/// Returns true if this processor has the instructions of a row.
pub fn has(row: usize) -> bool {
    match ROWS[row].0 {
        "vaes-avx512" => is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("vaes"),
        "vaes-avx2" => is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2"),
        "aesni-avx" => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
        _ => is_x86_feature_detected!("aes"),
    }
}
