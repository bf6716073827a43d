//! Compares semantics with qemu, an independent reading of the manual: whole calls in lockstep with the interpreter over numbers, and instructions that
//! proofs have executed, with random operands.

use crate::{
    machine::arm::{
        STACK, WIDTH, field,
        general::{DCZID, ZERO_BLOCK},
    },
    machine::{Decoded, Flags, Machine, Result, Word, Zero},
    process::qemu::{General, Process},
    statement::calls::{Case, Layout, RETURN, Subject, row},
    statement::prove::{LIMIT, Message, prove},
    values::field::{Bit, byte},
    values::random::{Map, Random, Seed},
    values::unknown::Unknown,
};
use std::collections::BTreeMap;

/// Broken semantics: the interpreter replaces bits of instructions with these bits (mask, value).
const BROKEN: [(&str, u32, u32, u32); 6] = [
    ("PMULL takes the upper halves", 0xffe0_fc00, 0x0ee0_e000, 1 << 30),
    ("EXT takes another byte", 0xbfe0_8400, 0x2e00_0000, 1 << 11),
    ("ADD has elements of another size", 0xbf20_fc00, 0x0e20_8400, 1 << 22),
    ("SUBS is ADDS", 0x7f20_0000, 0x6b00_0000, 1 << 30),
    ("CSEL has the other condition", 0x7fe0_0800, 0x1a80_0000, 1 << 12),
    ("AESE is AESMC", 0xffff_fc00, 0x4e28_4800, 1 << 13),
];

/// Copies the compared state of a process to a machine.
fn state(machine: &mut Machine<'_>, process: &mut Process) -> Result<()> {
    let general = process.general()?;
    machine.general = general.words.iter().map(|&n| Word::Number(n)).collect();
    machine.flags = flags(general.flags);
    machine.rip = general.at;
    for number in 0..32 {
        let bytes = process.vector(number)?;
        machine.vectors[number][..WIDTH].copy_from_slice(bytes.map(byte).as_flattened());
    }
    Ok(())
}

fn flags(word: u32) -> Flags {
    let flag = |bit: u32| word >> bit & 1 == 1;
    Flags { carry: Some((!flag(29)).into()), overflow: Some(flag(28)), sign: Some(flag(31)), parity: None, zero: Zero::Is(flag(30)) }
}

/// Describes a difference of general registers, flags, and these vectors.
fn difference(machine: &Machine<'_>, process: &mut Process, vectors: &[u32]) -> Result<Option<String>> {
    let General { words, at, flags: word } = process.general()?;
    if machine.rip != at {
        return Ok(Some(format!("goes on at {:#x}, qemu at {at:#x}", machine.rip)));
    }
    for (number, (ours, theirs)) in machine.general.iter().zip(words).enumerate() {
        if *ours != Word::Number(theirs) {
            return Ok(Some(format!("general register {number}: {ours:x?}, qemu has {theirs:#x}")));
        }
    }
    let theirs = flags(word);
    let ours = &machine.flags;
    let zero = matches!((&ours.zero, &theirs.zero), (Zero::Is(a), Zero::Is(b)) if a != b);
    let differs = |a: Option<bool>, b: Option<bool>| a.is_some() && a != b;
    let carry = differs(ours.carry.and_then(Bit::number), theirs.carry.and_then(Bit::number));
    if zero || carry || differs(ours.sign, theirs.sign) || differs(ours.overflow, theirs.overflow) {
        return Ok(Some(format!("flags: {ours:?}, qemu has {theirs:?}")));
    }
    for &number in vectors {
        let theirs = process.vector(number as usize)?;
        let ours = machine.vectors[number as usize][..WIDTH].as_chunks::<8>().0;
        if let Some(i) = ours.iter().zip(theirs).position(|(ours, theirs)| *ours != byte(theirs)) {
            return Ok(Some(format!("byte {i} of vector {number}")));
        }
    }
    Ok(None)
}

/// Returns the instruction that broken semantics execute instead.
fn broken(how: usize, i: u32) -> u32 {
    match how.checked_sub(1).map(|how| BROKEN[how]) {
        Some((_, mask, value, other)) if i & mask == value => i ^ other,
        _ => i,
    }
}

fn patch(machine: &mut Machine<'_>, at: u64, i: u32) {
    machine.decoded.patches.extend((at..).zip(i.to_le_bytes()));
}

/// Runs a whole call in lockstep. Returns the number of instructions, and a difference.
fn call(subject: &Subject, case: &Case, seed: Seed, how: usize) -> Result<(u64, Option<String>)> {
    let mut process = subject.arm_process()?;
    let verb = &subject.verbs[case.verb];
    let mut unknown = Unknown::new(seed);
    let mut message = Message::of_numbers(&mut unknown, case, verb);
    if verb.opens && case.right {
        message.given = message.tag.clone();
    }
    for (at, what) in message.inputs(subject, case)? {
        process.write(at, &what)?;
    }
    subject.begin(&mut process, case, RETURN)?;
    let image = process.image(&subject.program)?;
    let mut decoded = Decoded::default();
    let mut machine = Machine::new(&image, &mut decoded, row(case.row).1, seed, subject.perform, 0..0);
    state(&mut machine, &mut process)?;
    let mut steps = 0;
    while machine.rip != RETURN {
        let at = machine.rip;
        let i = machine.word(at)?;
        if how > 0 {
            patch(&mut machine, at, broken(how, i));
        }
        machine.step()?;
        steps += 1;
        if [DCZID, ZERO_BLOCK].contains(&(i & 0xffff_ffe0)) {
            // DC ZVA uses the interpreter's size of a block.
            let mut general = process.general()?;
            let number = field(i, 0, 5) as usize;
            if i & 0xffff_ffe0 == DCZID {
                general.words[number] = machine.general[number].number()?;
            } else {
                process.write(general.words[number] & !63, &[0; 64])?;
            }
            general.at = machine.rip;
            process.set_general(&general)?;
        } else {
            process.step()?;
        }
        if let Some(what) = difference(&machine, &mut process, &[field(i, 0, 5), field(i, 10, 5)])? {
            return Ok((steps, Some(format!("{} ({i:08x}): {what}", image.place(at)))));
        }
    }
    let mut differs = difference(&machine, &mut process, &(0..32).collect::<Vec<_>>())?;
    for (at, ours) in machine.memory.looked_at() {
        let theirs = process.read(at, ours.len())?;
        let found = ours.iter().zip(theirs).position(|(ours, theirs)| *ours != byte(theirs));
        differs = differs.or(found.map(|i| format!("memory at {}", image.place(at + i as u64))));
    }
    Ok((steps, differs))
}

/// Returns true for instructions without memory accesses and indirect branches.
fn is_alone(i: u32) -> bool {
    match field(i, 25, 4) {
        0b1010 | 0b1011 => field(i, 26, 5) == 0b00101 || i & 0x7c00_0000 == 0x3400_0000 || i >> 24 == 0x54,
        group => group & 0b0101 != 0b0100,
    }
}

/// Returns addresses of instructions, a few of each form. Instructions of one form differ only in their registers.
fn forms(subject: &Subject, cases: &[Case], seed: Seed) -> Result<Vec<u64>> {
    let mut decoded = Decoded { visited: Some(Map::default()), ..Decoded::default() };
    for case in cases {
        prove(subject, &mut decoded, case, seed, LIMIT, false).map_err(|why| why.to_string())?;
    }
    let mut all: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for &at in decoded.visited.iter().flatten().map(|(at, _)| at) {
        let Some(i) = subject.image.bytes::<4>(at).map(u32::from_le_bytes).filter(|&i| is_alone(i)) else { continue };
        // Instructions with immediates have their registers in other fields.
        let registers = if matches!(field(i, 25, 4), 0b1000 | 0b1001) { 0x3ff } else { 0x1f_03ff };
        let places = all.entry(i & !registers).or_default();
        places.push(at);
    }
    all.values_mut().for_each(|places| places.sort_unstable());
    Ok(all.into_values().flat_map(|places| places.into_iter().take(2)).collect())
}

/// Runs each instruction this often with random operands. Returns the number of executions, and the differences.
fn forms_of(subject: &Subject, row_number: usize, places: &[u64], tries: usize, seed: Seed, how: usize) -> Result<(usize, Vec<String>)> {
    let mut process = subject.arm_process()?;
    let mut decoded = Decoded::default();
    let mut random = Random::new(seed, 7);
    let (mut executions, mut found) = (0, Vec::new());
    for &at in places {
        for _ in 0..tries {
            // Boundary values are frequent.
            let mut word = || match random.word() % 6 {
                0 => 0,
                1 => u64::MAX,
                2 => random.word() % 130,
                3 => 1 << (random.word() % 64),
                _ => random.word(),
            };
            let words = std::array::from_fn(|i| if i == STACK { word() & !15 } else { word() });
            let flags = (word() as u32) << 28;
            process.set_general(&General { words, at, flags })?;
            for number in 0..32 {
                let bytes = [word().to_le_bytes(), word().to_le_bytes()].concat();
                process.set_vector(number, bytes.first_chunk().ok_or("16 bytes")?)?;
            }
            let mut machine = Machine::new(&subject.image, &mut decoded, row(row_number).1, seed, at, 0..0);
            machine.lifted_only = random.word().is_multiple_of(2);
            state(&mut machine, &mut process)?;
            let i = machine.word(at)?;
            patch(&mut machine, at, broken(how, i));
            let does = machine.step();
            patch(&mut machine, at, i);
            if does.is_err() {
                // For example, an index out of range.
                continue;
            }
            process.step()?;
            executions += 1;
            if let Some(what) = difference(&machine, &mut process, &(0..32).collect::<Vec<_>>())? {
                found.push(format!("{} ({i:08x}): {what}", subject.image.place(at)));
                break;
            }
        }
    }
    Ok((executions, found))
}

/// Runs both comparisons for a row of a program, and prints the results. Returns the number of differences, and of broken semantics that are not found.
pub fn check(subject: &Subject, row_number: usize, seed: Seed) -> Result<usize> {
    let texts = [0, 1, 16, 33, 100, 143, 300, 700];
    let case = |verb, text: usize, right| {
        let (key, nonce) = (16 + text % 3 * 8, if text == 100 { 20 } else { 12 });
        Case { verb, row: row_number, key, nonce, aad: text % 40, text, cuts: [0; 2], right, layout: Layout::default() }
    };
    let verbs = 0..subject.verbs.len();
    let cases: Vec<Case> = verbs
        .flat_map(|verb| texts.into_iter().flat_map(move |text| [(verb, text, true), (verb, text, false)]))
        .filter(|&(verb, _, right)| right || subject.verbs[verb].opens)
        .map(|(verb, text, right)| case(verb, text, right))
        .collect();
    let name = row(row_number).0;
    let (mut steps, mut failed) = (0, 0);
    for case in &cases {
        let (executed, differs) = call(subject, case, seed, 0)?;
        steps += executed;
        if let Some(what) = differs {
            println!("differs: {}, text {}: {what}", subject.verbs[case.verb].name, case.text);
            failed += 1;
        }
    }
    println!("{name}: {} calls in lockstep with qemu: {steps} instructions, {failed} calls differ", cases.len());
    let places = forms(subject, &cases, seed)?;
    let (executions, differ) = forms_of(subject, row_number, &places, 20, seed, 0)?;
    println!("{name}: {} instructions with random operands: {executions} executions, {} differ", places.len(), differ.len());
    differ.iter().take(20).for_each(|what| println!("differs: {what}"));
    failed += differ.len();
    for how in 1..=BROKEN.len() {
        let (_, mask, value, _) = BROKEN[how - 1];
        let is_it = |at: &&u64| subject.image.bytes::<4>(**at).is_some_and(|i| u32::from_le_bytes(i) & mask == value);
        let some: Vec<u64> = places.iter().filter(is_it).copied().collect();
        if some.is_empty() {
            println!("{name}: wrong on purpose, {}: no such instruction was met", BROKEN[how - 1].0);
            continue;
        }
        let (_, found) = forms_of(subject, row_number, &some, 20, seed, how)?;
        let found = found.first();
        println!("{name}: wrong on purpose, {}: {}", BROKEN[how - 1].0, found.map_or("NOT FOUND", |what| what));
        failed += usize::from(found.is_none());
    }
    if failed == 0 {
        println!("proof::forms/{name} ok {}", places.len());
    }
    Ok(failed)
}
