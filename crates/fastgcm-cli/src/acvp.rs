//! `fastgcm selftest --acvp`: a vector set of NIST's ACVP (Automated Cryptographic Validation Protocol) for AES-GCM or AES-GMAC, on every
//! back end. The prompt is what an ACVP server sends; the answers are those that it expects.
//!
//! Both are JSON: an object with `testGroups`, alone or behind a header. A group states direction and length of tag, and each of its tests
//! has a number. Texts are hexadecimal; a missing text is empty.

use crate::{
    failure::{Code, Failure},
    print,
};
use fastgcm::{AnyTag, Key, Nonce, ShortTag, Tag};
use fastgcm_file::Backend;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fmt::Display, fs, path::Path};

/// Runs the set on all back ends of this machine.
pub(crate) fn run(prompt: &Path, expected: &Path, quiet: bool) -> Result<(), Failure> {
    let tests = read(prompt, expected)?;
    let mut report = String::new();
    let mut total = 0;
    for backend in Backend::available() {
        for test in &tests {
            let right = test.is_right(backend).map_err(|error| wrong(backend, test, error))?;
            if !right {
                return Err(wrong(backend, test, "not the answer that is expected"));
            }
        }
        total += tests.len();
        report += &format!("{backend:<13}  {} answers ok\n", tests.len());
    }
    report += &format!("acvp ok {total}\n");
    if quiet { Ok(()) } else { print(report) }
}

fn wrong(backend: Backend, test: &Test, what: impl Display) -> Failure {
    let message = format_args!("SELF-TEST FAILED: back end {backend}, test {}: {what}. Do not use this machine", test.id);
    Failure::new(Code::SelfTest, message)
}

/// One test and its answer.
struct Test {
    id: u64,
    seals: bool,
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    /// The input: text or ciphertext.
    input: Vec<u8>,
    /// The expected output; `None` if the message must be refused.
    output: Option<Vec<u8>>,
    tag: Vec<u8>,
}

impl Test {
    /// Returns whether the back end gives this answer.
    fn is_right(&self, backend: Backend) -> Result<bool, fastgcm::Error> {
        let key = Key::with_backend(&self.key, backend)?;
        if !self.seals {
            return match self.tag.len() {
                4 => self.opens::<4, _>(&key, ShortTag),
                8 => self.opens::<8, _>(&key, ShortTag),
                12 => self.opens::<12, _>(&key, ShortTag),
                13 => self.opens::<13, _>(&key, ShortTag),
                14 => self.opens::<14, _>(&key, ShortTag),
                15 => self.opens::<15, _>(&key, ShortTag),
                _ => self.opens::<16, _>(&key, Tag),
            };
        }
        let mut text = self.input.clone();
        let tag = key.seal(Nonce::any(&self.nonce)?, &self.aad, &mut text)?;
        Ok(self.output.as_ref() == Some(&text) && tag[..self.tag.len()] == self.tag[..])
    }

    fn opens<const N: usize, T: AnyTag>(&self, key: &Key, tag: fn([u8; N]) -> T) -> Result<bool, fastgcm::Error> {
        let Ok(bytes) = <[u8; N]>::try_from(&self.tag[..]) else { return Err(fastgcm::Error::InvalidLength) };
        let mut text = self.input.clone();
        let opened = key.open(Nonce::any(&self.nonce)?, &self.aad, &mut text, &tag(bytes));
        Ok(match &self.output {
            Some(output) => opened.is_ok() && *output == text,
            None => opened.is_err() && text.iter().all(|byte| *byte == 0),
        })
    }
}

/// Reads the tests of a prompt, each with its answer.
fn read(prompt: &Path, expected: &Path) -> Result<Vec<Test>, Failure> {
    let (questions, replies) = (set(prompt)?, set(expected)?);
    let bad = |path: &Path, why: String| Failure::new(Code::Io, format_args!("{}: {why}", path.display()));
    let mut answers = BTreeMap::new();
    for (_, answer) in tests(&replies) {
        let id = number(answer, "tcId").map_err(|why| bad(expected, why))?;
        if answers.insert(id, answer).is_some() {
            return Err(bad(expected, format!("two answers to test {id}")));
        }
    }
    let mut found = Vec::new();
    for (group, question) in tests(&questions) {
        let id = number(question, "tcId").map_err(|why| bad(prompt, why))?;
        let answer = answers.remove(&id).ok_or_else(|| bad(expected, format!("no answer to test {id}")))?;
        found.push(test(id, group, question, answer).map_err(|why| bad(prompt, format!("test {id}: {why}")))?);
    }
    match answers.keys().next() {
        Some(id) => Err(bad(expected, format!("test {id} is not in the prompt"))),
        None if found.is_empty() => Err(bad(prompt, "it has no tests".into())),
        None => Ok(found),
    }
}

fn test(id: u64, group: &Object, question: &Object, answer: &Object) -> Result<Test, String> {
    let seals = match group.get("direction").and_then(Value::as_str) {
        Some("encrypt") => true,
        Some("decrypt") => false,
        _ => return Err("direction is neither encrypt nor decrypt".into()),
    };
    let bits = number(group, "tagLen")?;
    if !matches!(bits, 32 | 64 | 96 | 104 | 112 | 120 | 128) {
        return Err(format!("SP 800-38D has no tag of {bits} bits"));
    }
    // A party that makes the IV gives it with the answer.
    let nonce = if question.contains_key("iv") { hex(question, "iv")? } else { hex(answer, "iv")? };
    let (key, aad) = (hex(question, "key")?, hex(question, "aad")?);
    let refused = answer.get("testPassed") == Some(&Value::Bool(false));
    let (input, output, tag) = if seals {
        (hex(question, "pt")?, Some(hex(answer, "ct")?), hex(answer, "tag")?)
    } else {
        (hex(question, "ct")?, if refused { None } else { Some(hex(answer, "pt")?) }, hex(question, "tag")?)
    };
    if 8 * tag.len() as u64 != bits {
        return Err(format!("a tag of {} bytes, where the group says {bits} bits", tag.len()));
    }
    // What no machine could answer rightly is a fault of the set.
    for (name, bytes) in [("keyLen", &key), ("ivLen", &nonce), ("aadLen", &aad), ("payloadLen", &input)] {
        // A GMAC has no payload, whatever its group says.
        let is_said = group.contains_key(name) && (name != "payloadLen" || !bytes.is_empty());
        if is_said && number(group, name)? != 8 * bytes.len() as u64 {
            return Err(format!("{name} is {} bits, and {} bytes are there", group[name], bytes.len()));
        }
    }
    if !matches!(key.len(), 16 | 24 | 32) {
        return Err(format!("AES has no key of {} bytes", key.len()));
    }
    if nonce.is_empty() {
        return Err("neither the prompt nor the answer has an iv".into());
    }
    if output.as_ref().is_some_and(|output| output.len() != input.len()) {
        return Err("text and ciphertext have different lengths".into());
    }
    Ok(Test { id, seals, key, nonce, aad, input, output, tag })
}

type Object = Map<String, Value>;

/// Returns the object with `testGroups`.
fn set(path: &Path) -> Result<Value, Failure> {
    let name = path.display();
    let text = fs::read(path).map_err(|error| Failure::io(name, error))?;
    let none = |why: &dyn Display| Failure::new(Code::Io, format_args!("{}: no vector set of ACVP: {why}", path.display()));
    let value: Value = serde_json::from_slice(&text).map_err(|error| none(&error))?;
    let parts = if let Value::Array(parts) = value { parts } else { vec![value] };
    let found = parts.into_iter().find(|part| part["testGroups"].is_array()).ok_or_else(|| none(&"it has no testGroups"))?;
    match found["algorithm"].as_str() {
        Some("ACVP-AES-GCM" | "ACVP-AES-GMAC") => Ok(found),
        other => Err(none(&format_args!("its algorithm is {}, not ACVP-AES-GCM or ACVP-AES-GMAC", other.unwrap_or("not named")))),
    }
}

/// Returns each test, with its group.
fn tests(set: &Value) -> impl Iterator<Item = (&Object, &Object)> {
    let groups = set["testGroups"].as_array().into_iter().flatten().filter_map(Value::as_object);
    groups.flat_map(|group| {
        let tests = group.get("tests").and_then(Value::as_array).into_iter().flatten();
        tests.filter_map(Value::as_object).map(move |test| (group, test))
    })
}

fn number(object: &Object, name: &str) -> Result<u64, String> {
    object.get(name).and_then(Value::as_u64).ok_or_else(|| format!("a number is missing: {name}"))
}

/// Returns the bytes of a field; none if there is no such field.
fn hex(object: &Object, name: &str) -> Result<Vec<u8>, String> {
    let text = match object.get(name) {
        None => "",
        Some(text) => text.as_str().ok_or_else(|| format!("{name} is no text"))?,
    };
    base16ct::mixed::decode_vec(text).map_err(|_| format!("{name} is no hexadecimal"))
}
