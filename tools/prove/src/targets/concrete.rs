//! A call by the processor itself, over numbers: what refutes a call by polynomials should show there, with a key, a nonce, AAD and a text that anybody can try.

use crate::{
    machine::Result,
    process::image::{Isa, writable},
    process::qemu::Process,
    statement::calls::{Case, Layout, Refused, Subject, row},
    statement::prove::Message,
    values::field::{Byte, byte, numbers},
    values::random::Seed,
    values::unknown::Unknown,
};
use fastgcm_step::{Registers, Traced};
use std::{fs::File, os::unix::fs::FileExt};

/// Inputs, and what came of them.
#[derive(Clone, Debug)]
pub struct Example {
    text: Vec<u8>,
    /// Key, nonce, AAD, what is read, what is written, the tag: as they are before the call.
    buffers: [Vec<u8>; 6],
    opens: bool,
    /// What is wrong with the answer.
    pub wrong: String,
    /// What is to be answered; and what is to be where then: its name, the buffer, the first byte of it.
    answer: u64,
    should: Vec<(&'static str, &'static str, usize, Vec<u8>)>,
}

impl std::fmt::Display for Example {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [key, nonce, aad, _, _, tag] = self.buffers.each_ref().map(|bytes| hex(bytes));
        let tag = if self.opens { format!(", tag {tag}") } else { String::new() };
        write!(f, "key {key}, nonce {nonce}, AAD {aad}, text {}{tag}: {}", hex(&self.text), self.wrong)
    }
}

impl Example {
    /// A program of C that makes this call of a target, and compares. `command`: what compiles it.
    pub fn program(&self, target: &str, command: &str, subject: &Subject, case: &Case) -> String {
        // An array of C has at least one byte.
        let listed = |bytes: &[u8]| bytes.iter().map(|n| format!("{n}, ")).collect::<String>();
        let array = |kind: &str, name: &str, bytes: &[u8]| format!("static {kind}uint8_t {name}[] = {{{}0}};\n", listed(bytes));
        let names = ["key", "nonce", "aad", "from", "to", "tag"];
        let buffers = names.iter().zip(&self.buffers);
        // Each as far behind the start of a page as it was.
        let Layout { moved, ends_pages, .. } = case.layout;
        let by = |n: usize, bytes: &[u8]| if ends_pages { bytes.len().next_multiple_of(4096) - bytes.len() } else { moved[n] as usize };
        let arrays = buffers.clone().enumerate().map(|(n, (name, bytes))| {
            let (by, bytes) = (by(n, bytes), listed(bytes));
            format!("static uint8_t {name}_in_page[] __attribute__((aligned(4096))) = {{[{by}] = {bytes}0}};\n#define {name} ({name}_in_page + {by})\n")
        });
        let arrays: String = arrays.collect();
        let fields: String = buffers.map(|(name, bytes)| format!("{{{name}, {}}}, ", bytes.len())).collect();
        let compared = self.should.iter().map(|(name, buffer, first, bytes)| {
            let (n, array) = (bytes.len(), array("const ", name, bytes));
            format!("    {array}    wrong |= differs(\"{name}\", {buffer} + {first}, {name}, {n});\n")
        });
        format!(
            r#"/* A call that gcm-prove has refuted, on {row}. (A processor with a better row may go another way.)
 *     {command} */
#include "gcm-prove.h"
#undef TARGET
#define TARGET(verbs, setup, before) static const verb *const calls = verbs; static const char *(*const make)(const char *) = setup;
#include "{target}"

{arrays}static uint8_t place[65536], heap[{heap}];

static int differs(const char *what, const uint8_t *is, const uint8_t *should, size_t n) {{
    size_t i = 0;
    while (i < n && is[i] == should[i]) i++;
    if (i < n) printf("byte %zu of %zu of the %s is %02x, and should be %02x\n", i, n, what, is[i], should[i]);
    return i < n;
}}

int main(void) {{
    const char *why = make("{row}");
    if (why) return puts(why), 2;
    const call c = {{{verb}, {number}, {{{cut}, {next}}}, {fields}{{heap, sizeof heap}}, {{place, sizeof place}}}};
    const uint64_t answer = calls[c.verb].run(&c);
    int wrong = answer != {answer};
    printf("the answer is %d, and should be {answer}\n", (int)answer);
{compared}    return puts(wrong ? "wrong" : "right"), wrong;
}}
"#,
            row = row(case.row).0,
            heap = 8 * case.text + (32 << 10),
            verb = subject.verbs[case.verb].number,
            number = subject.rows[case.row].unwrap_or_default(),
            cut = case.cuts[0],
            next = case.cuts[1],
            answer = self.answer,
            compared = compared.collect::<String>(),
        )
    }
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() { "none".into() } else { bytes.iter().map(|byte| format!("{byte:02x}")).collect() }
}

fn certain(bytes: &[Byte]) -> Vec<u8> {
    numbers(bytes).expect("of numbers come numbers")
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

    /// Calls, and returns the answer. The call returns to a trap, which is the marker.
    fn call(&mut self, subject: &Subject, case: &Case) -> Result<u64> {
        match self {
            Self::X86(traced, memory) => {
                let (top, marker) = (Subject::below(traced.registers()?.rsp, case) - 8, subject.image.marker.at - 1);
                let write = |at: u64, what: &[u8]| memory.write_all_at(what, at).map_err(|e| format!("{at:#x}: {e}"));
                write(top, &marker.to_le_bytes())?;
                write(marker, &[0xcc])?;
                let start = Registers { rip: subject.perform, rdi: subject.call, rsp: top, orig_rax: u64::MAX, ..traced.registers()? };
                traced.set_registers(start)?;
                let ended = traced.next_marker().map_err(|why| format!("the call: {why}"));
                Ok(ended?.ok_or("the program has ended")?.rax)
            }
            Self::Arm(process) => {
                subject.begin(process, case, subject.image.marker.at)?;
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
    let inputs = message.inputs(subject, case)?;
    for (at, what) in &inputs {
        process.write(*at, what)?;
    }
    let [key, nonce, aad, from, to, tag, _] = inputs.map(|(_, what)| what);
    let buffers = [key, nonce, aad, from, to, tag];
    let ended = process.call(subject, case);
    let mut read = |at: u64, n: usize| process.read(at, n);
    let accepts = !verb.opens || case.right;
    let mut wrong = Vec::new();
    let (opens, should_answer) = (verb.opens, u64::from(!accepts));
    let answer = match ended {
        Ok(answer) => answer,
        // A signal, for example of an access that is not aligned.
        Err(why) => {
            let [.., text, _] = strings;
            return Ok(Some(Example { text, buffers, opens, wrong: why.to_string(), answer: should_answer, should: Vec::new() }));
        }
    };
    if answer != u64::from(!accepts) {
        wrong.push(format!("the answer is {}, and should be {}", answer, u64::from(!accepts)));
    }
    let differs = |name: &str, is: &[u8], should: &[u8]| {
        let at = is.iter().zip(should).position(|(is, should)| is != should)?;
        let to = is.len().min(at + 16);
        Some(format!("{name} from byte {at} on is {}, and should be {}", hex(&is[at..to]), hex(&should[at..to])))
    };
    let text = match verb.refused {
        _ if accepts => certain(&message.other),
        Refused::Zeros => vec![0; case.text],
        Refused::AsItWas => buffers[4][..places.to_len.min(case.text)].to_vec(),
        Refused::Unverified => Vec::new(),
    };
    let mut should = Vec::new();
    if places.to_len > 0 {
        wrong.extend(differs("the text", &read(places.to, text.len())?, &text));
        should.push(("text", "to", 0, text));
    }
    if !verb.opens {
        let made = certain(&message.tag[..verb.tag]);
        let is_behind = places.to_len > case.text;
        let at = if is_behind { places.to + case.text as u64 } else { places.tag };
        wrong.extend(differs("the tag", &read(at, verb.tag)?, &made));
        should.push(if is_behind { ("made", "to", case.text, made) } else { ("made", "tag", 0, made) });
    }
    let [.., text, _] = strings;
    let wrong = wrong.join("; ");
    Ok((!wrong.is_empty()).then_some(Example { text, buffers, opens, wrong, answer: should_answer, should }))
}

/// The first of some inputs whose answer is wrong.
pub fn example(subject: &Subject, case: &Case) -> Option<Example> {
    (0..8).find_map(|n| once(subject, case, n).ok().flatten())
}
