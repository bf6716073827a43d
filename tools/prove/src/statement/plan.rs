//! The plan: the verbs and lengths of the calls to be proved.

use crate::statement::calls::{Case, Form, Layout, Subject, Verb};
use std::collections::HashMap;

/// The cases of one line of the table.
#[derive(Debug)]
pub struct Group {
    pub row: usize,
    pub verb: usize,
    /// The lengths in words.
    pub what: String,
    pub cases: Vec<Case>,
}

/// The requested lengths of keys, nonces, AAD and texts; `None` for all that the verb supports.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    pub keys: Vec<usize>,
    pub nonces: Vec<usize>,
    pub aads: Vec<usize>,
    pub texts: Vec<usize>,
}

impl Lengths {
    /// Parses the options `key` (in bytes, or in bits), `nonce`, `aad` and `text`. Lengths that the standard forbids are errors.
    pub fn of(options: &HashMap<String, String>) -> Result<Self, String> {
        let lengths = |name: &str| match options.get(name) {
            Some(text) => list(text).map_err(|why| format!("--{name} {text}: {why}")),
            None => Ok(Vec::new()),
        };
        let keys: Vec<usize> = lengths("key")?.into_iter().map(|n| if n >= 128 { n / 8 } else { n }).collect();
        if let Some(key) = keys.iter().find(|key| ![16, 24, 32].contains(*key)) {
            return Err(format!("--key {key}: a key of AES has 16, 24 or 32 bytes"));
        }
        let nonces = lengths("nonce")?;
        if nonces.contains(&0) {
            return Err("--nonce 0: a nonce has a byte or more".into());
        }
        Ok(Self { keys, nonces, aads: lengths("aad")?, texts: lengths("text")? })
    }
}

/// The largest number of lengths.
const MANY: usize = 1 << 16;

/// The largest length of a text in a program.
const LONG: usize = 1 << 30;

/// Parses a list like `0..600,1420`. Both ends belong to a range.
fn list(text: &str) -> Result<Vec<usize>, String> {
    let number = |text: &str| match text.parse::<usize>() {
        Ok(n) if n <= LONG => Ok(n),
        Ok(n) => Err(format!("{n} bytes are more than any call here has")),
        Err(_) => Err("lengths are written like 0..48,64".into()),
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once("..").map_or((part, part), |(first, last)| (first, last.trim_start_matches('=')));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("no length is in {part}"));
        }
        if last - first >= MANY || all.len() > MANY {
            return Err(format!("more than {MANY} lengths"));
        }
        all.extend(first..=last);
    }
    Ok(all)
}

/// Returns the list as text.
pub fn said(list: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &n in list {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => ranges.push((n, n)),
        }
    }
    let words = ranges.iter().flat_map(|&(first, last)| {
        let both = if first == last { vec![first] } else { vec![first, last] };
        if last > first + 1 { vec![format!("{first}..{last}")] } else { both.iter().map(usize::to_string).collect() }
    });
    words.collect::<Vec<_>>().join(",")
}

/// Returns lengths of text near the boundaries of vectors and iterations of any size.
fn near() -> Vec<usize> {
    let edges = [16, 32, 48, 64, 80, 96, 112, 128, 192, 256, 320, 384, 512, 640, 768, 1024].into_iter();
    let mut near: Vec<usize> = edges.flat_map(|edge| [edge - 1, edge, edge + 1]).chain([0, 2, 5, 8, 100, 300, 600, 1420]).collect();
    near.sort_unstable();
    near
}

/// Returns other layouts of a call's buffers: each begins at each of 16 bytes after a multiple of 16, and a byte before a line of 64; across pages, and up
/// to a page's end; in the other order; below other stacks.
pub fn layouts() -> impl Iterator<Item = Layout> {
    const OFFSETS: [u64; 17] = [1, 4098, 35, 4052, 69, 4086, 23, 4088, 57, 4090, 75, 4092, 13, 4094, 4095, 16, 63];
    let moved = |i: usize| Layout {
        stack: [0, 1, 3, 7, 13, 64, 255, 256][i % 8],
        moved: std::array::from_fn(|j| OFFSETS[(i + 3 * j) % OFFSETS.len()]),
        ends_pages: false,
        reversed: i % 2 == 1,
    };
    let at_ends = [false, true].map(|reversed| Layout { ends_pages: true, reversed, ..Layout::default() });
    (0..OFFSETS.len()).map(moved).chain(at_ends)
}

/// Returns the group with each of its cases in all of these layouts.
pub fn elsewhere(mut group: Group) -> Group {
    group.cases = group.cases.iter().flat_map(|case| layouts().map(|layout| Case { layout, ..case.clone() })).collect();
    group.what += ", elsewhere in memory";
    group
}

/// Returns a few lengths of each kind.
pub fn few() -> Vec<usize> {
    vec![0, 1, 16, 33, 64, 100, 257, 600]
}

fn cases(subject: &Subject, row: usize, verb: usize, lengths: &Lengths, cuts: impl Fn(usize) -> Vec<[usize; 2]>) -> Vec<Case> {
    let of: &Verb = &subject.verbs[verb];
    let own = |requested: &[usize], own: &[usize], usual: &[usize]| match (requested, own) {
        ([], []) => usual.to_vec(),
        ([], _) => own.to_vec(),
        (_, []) => requested.to_vec(),
        _ => {
            let both: Vec<usize> = requested.iter().copied().filter(|n| own.contains(n)).collect();
            if both.is_empty() { own[..1].to_vec() } else { both }
        }
    };
    let keys = own(&lengths.keys, &of.keys, &[16, 24, 32]);
    let nonces = own(&lengths.nonces, &of.nonces, &[12]);
    let mut all = Vec::new();
    for &key in &keys {
        for &nonce in &nonces {
            for &aad in &lengths.aads {
                let mut texts: Vec<usize> = lengths.texts.iter().map(|&n| of.text(n)).collect();
                texts.dedup();
                for text in texts {
                    let cut = if of.form == Form::Gmac { aad } else { text };
                    for cuts in if of.cuts { cuts(cut) } else { vec![[0; 2]] } {
                        for right in if of.opens { vec![true, false] } else { vec![true] } {
                            let layout = Layout::default();
                            all.push(Case { verb, row, key, nonce, aad, text, cuts, right, layout });
                        }
                    }
                }
            }
        }
    }
    all
}

/// Returns the group of one verb's cases.
pub fn group(subject: &Subject, row: usize, verb: usize, lengths: &Lengths, cuts: impl Fn(usize) -> Vec<[usize; 2]>, how: &str) -> Group {
    let cases = cases(subject, row, verb, lengths, cuts);
    let mut keys: Vec<usize> = cases.iter().map(|case| case.key).collect();
    let mut nonces: Vec<usize> = cases.iter().map(|case| case.nonce).collect();
    for list in [&mut keys, &mut nonces] {
        list.sort_unstable();
        list.dedup();
    }
    let (keys, nonces) = (keys.iter().map(|n| (8 * n).to_string()).collect::<Vec<_>>().join("/"), said(&nonces));
    let what = format!("{keys}; nonce {nonces}; AAD {}; text {}{how}", said(&lengths.aads), said(&lengths.texts));
    Group { row, verb, what, cases }
}

/// Returns two cuts in the middle, and none.
pub fn thirds(n: usize) -> Vec<[usize; 2]> {
    vec![[n / 3, n - n / 5], [n.min(16), n.min(16)]]
}

/// Returns every way to cut in three.
pub fn everywhere(n: usize) -> Vec<[usize; 2]> {
    (0..=n).flat_map(|first| (first..=n).map(move |second| [first, second])).collect()
}

/// Returns the plan of any program: `seal` and `open` at lengths near the boundaries of vectors and iterations of any size, other verbs at a few; or, to
/// sweep, each length. All rows have one plan, which shows rows that share a code path.
pub fn of_target(subject: &Subject, row: usize, sweep: bool) -> Vec<Group> {
    let upto = |last: usize| (0..=last).collect::<Vec<usize>>();
    let mut groups = Vec::new();
    for verb in 0..subject.verbs.len() {
        let mut add = |keys: &[usize], nonces: &[usize], aads: &[usize], texts: &[usize]| {
            let lengths = Lengths { keys: keys.to_vec(), nonces: nonces.to_vec(), aads: aads.to_vec(), texts: texts.to_vec() };
            let group = group(subject, row, verb, &lengths, thirds, "");
            let takes =
                |own: &[usize], requested: &[usize]| own.is_empty() || requested.is_empty() || own.iter().any(|n| requested.contains(n));
            if takes(&subject.verbs[verb].keys, keys) && takes(&subject.verbs[verb].nonces, nonces) {
                groups.push(group);
            }
        };
        let is_first = matches!(&*subject.verbs[verb].name, "seal" | "open");
        match (is_first, sweep) {
            (true, false) => {
                add(&[16], &[12], &[13], &near());
                add(&[24, 32], &[12], &[13], &few());
                add(&[16], &[12], &[0, 1, 16, 20, 64, 255, 600], &[0, 33]);
                add(&[32], &[8, 16, 60], &[0, 33], &[0, 100, 600]);
            }
            (true, true) => {
                add(&[16], &[12], &[13], &[upto(1100), vec![1420, 2047, 4097, 16384]].concat());
                add(&[24, 32], &[12], &[20], &upto(600));
                add(&[16], &[12], &upto(300), &[33]);
                add(&[32], &(1..=64).filter(|&n| n != 12).collect::<Vec<_>>(), &[5], &[0, 100]);
            }
            (false, false) => add(&[16, 32], &[], &[13], &[0, 1, 16, 33, 100, 600]),
            (false, true) => add(&[16, 24, 32], &[], &[0, 13], &[few(), vec![768, 1420, 4097]].concat()),
        }
        let lengths =
            Lengths { keys: vec![16], nonces: Vec::new(), aads: vec![13], texts: if is_first { vec![16, 33, 600] } else { vec![33] } };
        groups.push(elsewhere(group(subject, row, verb, &lengths, thirds, "")));
    }
    groups
}

/// Returns the groups of a row: of one verb, or of all verbs whose names contain this text.
pub fn asked(subject: &Subject, row: usize, verb: &str, lengths: &Lengths, every_cut: bool) -> Vec<Group> {
    let named: Vec<usize> = (0..subject.verbs.len()).filter(|&n| subject.verbs[n].name == verb).collect();
    let holds = |n: &usize| subject.verbs[*n].name.contains(verb);
    let verbs = if named.is_empty() { (0..subject.verbs.len()).filter(holds).collect() } else { named };
    let cuts = if every_cut { everywhere } else { thirds };
    let or = |requested: &[usize], usual: Vec<usize>| if requested.is_empty() { usual } else { requested.to_vec() };
    let lengths = Lengths { aads: or(&lengths.aads, vec![13]), texts: or(&lengths.texts, near()), ..lengths.clone() };
    verbs.iter().map(|&verb| group(subject, row, verb, &lengths, cuts, "")).collect()
}
