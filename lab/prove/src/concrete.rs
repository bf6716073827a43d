//! A call by the processor itself, over numbers: what refutes a call by polynomials should show there, with a key, a nonce, AAD and a text that anybody can try.

use crate::{
    arm::{LINK, STACK, qemu::Process},
    calls::{Case, Subject},
    field::{Byte, byte, number},
    image::{Isa, writable},
    machine::Result,
    prove::Message,
    unknown::{Seed, Unknown},
};
use fastgcm_step::{Registers, Traced};
use std::{fs::File, os::unix::fs::FileExt};

/// Inputs, and what came of them.
#[derive(Clone, Debug)]
pub struct Example {
    pub key: String,
    pub nonce: String,
    pub aad: String,
    /// Byte i of what is read is this, plus 7 i.
    pub text: u8,
    pub tag: Option<String>,
    /// What is wrong with the answer.
    pub wrong: String,
}

impl std::fmt::Display for Example {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key, nonce, aad, text, tag, wrong } = self;
        let tag = tag.as_ref().map_or(String::new(), |tag| format!(", tag {tag}"));
        write!(f, "key {key}, nonce {nonce}, AAD {aad}, byte i of the text is ({text} + 7 i) mod 256{tag}: {wrong}")
    }
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "none".into() } else { bytes.iter().map(|byte| format!("{byte:02x}")).collect() }
}

fn numbers(bytes: &[Byte]) -> Vec<u8> {
    bytes.iter().map(|byte| number(byte).expect("of numbers come numbers") as u8).collect()
}

/// A process that stands at its marker.
enum Standing {
    X86(Traced, File),
    Arm(Process),
}

impl Standing {
    fn of(subject: &Subject) -> Result<Self> {
        if subject.image.isa == Isa::Arm {
            return Ok(Self::Arm(subject.arm_process()?));
        }
        let traced = subject.process()?;
        let memory = writable(&traced)?;
        Ok(Self::X86(traced, memory))
    }

    fn write(&mut self, at: u64, what: &[u8]) -> Result<()> {
        match self {
            Self::X86(_, memory) => memory.write_all_at(what, at).map_err(|e| format!("{at:#x}: {e}").into()),
            Self::Arm(process) => Ok(process.write(at, what)?),
        }
    }

    fn read(&mut self, at: u64, n: usize) -> Result<Vec<u8>> {
        match self {
            Self::X86(_, memory) => {
                let mut bytes = vec![0; n];
                memory.read_exact_at(&mut bytes, at).map_err(|e| format!("{at:#x}: {e}"))?;
                Ok(bytes)
            }
            Self::Arm(process) => Ok(process.read(at, n)?),
        }
    }

    /// Calls, with that stack, and returns the answer. The call returns to a trap, which is the marker.
    fn call(&mut self, subject: &Subject, top: u64) -> Result<u64> {
        match self {
            Self::X86(traced, memory) => {
                let (top, marker) = (top - 8, subject.image.marker.at - 1);
                let write = |at: u64, what: &[u8]| memory.write_all_at(what, at).map_err(|e| format!("{at:#x}: {e}"));
                write(top, &marker.to_le_bytes())?;
                write(marker, &[0xcc])?;
                let start = Registers { rip: subject.perform, rdi: subject.call, rsp: top, orig_rax: u64::MAX, ..traced.registers()? };
                traced.set_registers(start)?;
                let ended = traced.next_marker().map_err(|why| format!("the call: {why}"));
                Ok(ended?.ok_or("the program has ended")?.rax)
            }
            Self::Arm(process) => {
                let mut general = process.general()?;
                (general.words[0], general.words[LINK], general.words[STACK]) = (subject.call, subject.image.marker.at, top);
                general.at = subject.perform;
                process.set_general(&general)?;
                process.run().map_err(|why| format!("the call: {why}"))?;
                Ok(process.general()?.words[0])
            }
        }
    }
}

/// One call, of inputs that `n` chooses; an example if its answer is wrong.
pub fn once(subject: &Subject, case: &Case, n: u8) -> Result<Option<Example>> {
    let verb = &subject.verbs[case.verb];
    let mut unknown = Unknown::new(Seed::from(n));
    let string = |len: usize, start: u8| (0..len).map(|i| start.wrapping_add(7 * i as u8)).collect::<Vec<u8>>();
    let start = |i: u8| n.wrapping_mul(37).wrapping_add(i * 50);
    let all = [case.key, case.nonce, case.aad, case.text, verb.behind()];
    let strings: [Vec<u8>; 5] = std::array::from_fn(|i| string(all[i], start(i as u8)));
    let mut message = Message::of(&mut unknown, strings.clone().map(|string| string.into_iter().map(byte).collect()), verb);
    if verb.opens && case.right {
        message.given.clone_from(&message.tag);
    }
    let mut process = Standing::of(subject)?;
    let places = subject.places(case)?;
    let buffers = message.buffers(verb, &places, &vec![byte(0xa5); case.text + verb.behind()]);
    for (at, what) in buffers {
        process.write(at, &numbers(&what))?;
    }
    process.write(subject.call, &subject.words(case)?.map(u64::to_le_bytes).concat())?;
    let answer = process.call(subject, subject.top(case))?;
    let mut read = |at: u64, n: usize| process.read(at, n);
    let accepts = !verb.opens || case.right;
    let mut wrong = Vec::new();
    if answer != u64::from(!accepts) {
        wrong.push(format!("the answer is {}, and should be {}", answer, u64::from(!accepts)));
    }
    let differs = |name: &str, is: &[u8], should: &[u8]| {
        let at = is.iter().zip(should).position(|(is, should)| is != should)?;
        let to = is.len().min(at + 16);
        Some(format!("{name} from byte {at} on is {}, and should be {}", hex(&is[at..to]), hex(&should[at..to])))
    };
    if accepts && places.to_len > 0 {
        wrong.extend(differs("the text", &read(places.to, case.text)?, &numbers(&message.other)));
    }
    if !verb.opens {
        let at = if places.to_len > case.text { places.to + case.text as u64 } else { places.tag };
        wrong.extend(differs("the tag", &read(at, verb.tag)?, &numbers(&message.tag)));
    }
    let [key, nonce, aad, ..] = strings.each_ref().map(|string| hex(string));
    let tag = verb.opens.then(|| hex(&numbers(&message.given)));
    Ok((!wrong.is_empty()).then(|| Example { key, nonce, aad, text: start(3), tag, wrong: wrong.join("; ") }))
}

/// The first of some inputs whose answer is wrong.
pub fn example(subject: &Subject, case: &Case) -> Option<Example> {
    (0..8).find_map(|n| once(subject, case, n).ok().flatten())
}
