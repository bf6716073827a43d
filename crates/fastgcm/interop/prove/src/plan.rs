//! Which calls of fastgcm are proved: which verbs, with which lengths.

use gcm_prove::{
    statement::calls::{ROWS, Subject, Verb},
    statement::plan::{Group, Lengths, elsewhere, everywhere, few, group, thirds},
};

/// Bytes of a turn, and of a vector.
pub(crate) fn turn(row: usize) -> (usize, usize) {
    let vector = [64, 32, 16, 16][row];
    (8 * vector, vector)
}

/// Texts near every threshold that there is: each length of the first vectors, then the neighbours of blocks, vectors and turns.
pub(crate) fn near(row: usize) -> Vec<usize> {
    let (turn, vector) = turn(row);
    let edges = (1..=4).map(|n| n * vector).chain((1..=3).map(|n| n * turn)).chain([turn + vector, 4096, 4064]);
    let mut all: Vec<usize> = edges.flat_map(|edge| [edge - 1, edge, edge + 1]).chain([0, 1, 2, 5, 8, 15, 100, 300, 1420]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Verbs that are out of reach, and why: docs/proof.md says what it would take.
pub(crate) const BEYOND: &[(&str, &str)] = &[
    ("wrong: ", "controls, which are not right"),
    ("_part", "hashes of parts go together by the multiplication of `portable`"),
    ("Plan::", "as parts"),
];

/// Whether the plan leaves it out.
pub(crate) fn is_beyond(name: &str) -> bool {
    BEYOND.iter().any(|(part, _)| name.contains(part))
}

/// Which plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// What the gate has time for.
    Quick,
    /// Each length, with one size of keys or another.
    Default,
    /// With all of them.
    All,
    /// Of the library with feature `scrub`: that nothing is left of secrets.
    Wiped,
}

/// Verbs that meet all lengths.
const MAIN: [&str; 4] = ["seal", "open", "fastgcm_seal", "fastgcm_open"];

/// Verbs that meet each length, with the bytes of the key that each length meets in the default.
const EACH: [(&str, usize); 6] =
    [("seal", 16), ("open", 16), ("seal apart", 24), ("open apart", 24), ("fastgcm_seal", 32), ("fastgcm_open", 32)];

pub(crate) fn is_main(name: &str) -> bool {
    MAIN.contains(&name)
}

/// The plan of the gate, or the whole one.
pub(crate) fn plan(subject: &Subject, rows: &[usize], how: How) -> Vec<Group> {
    let mut groups = Vec::new();
    if how == How::Wiped {
        // What lengths decide is which functions are called: a few of each way.
        let lengths = Lengths { keys: vec![16, 32], aads: vec![13], texts: vec![0, 1, 100, 600], ..Lengths::default() };
        let verbs = |row: usize| (1..subject.verbs.len()).filter(|&verb| subject.verbs[verb].wipes).map(move |verb| (row, verb));
        groups.extend(rows.iter().flat_map(|&row| verbs(row)).map(|(row, verb)| group(subject, row, verb, &lengths, thirds, "")));
    }
    for &row in rows.iter().filter(|_| how != How::Wiped) {
        let quick = how == How::Quick;
        let (turn, vector) = turn(row);
        let own = |name: &str| subject.verb(name).into_iter();
        let add = |groups: &mut Vec<Group>, verb: usize, lengths: &Lengths, how: &str| {
            groups.push(group(subject, row, verb, lengths, thirds, how))
        };
        let all = || Lengths { aads: vec![13], ..Lengths::default() };
        if quick {
            let texts: Vec<usize> = near(row).into_iter().filter(|n| *n <= 2 * turn + vector).collect();
            for verb in MAIN.into_iter().flat_map(own) {
                add(&mut groups, verb, &Lengths { keys: vec![16], texts: texts.clone(), ..all() }, "");
                add(&mut groups, verb, &Lengths { keys: vec![24, 32], texts: few(), ..all() }, "");
                add(&mut groups, verb, &Lengths { keys: vec![32], nonces: vec![8, 16], aads: vec![0, 33], texts: vec![0, 100] }, "");
                let lengths = Lengths { keys: vec![16], texts: vec![100], ..all() };
                groups.push(elsewhere(group(subject, row, verb, &lengths, thirds, "")));
            }
            for verb in 1..subject.verbs.len() {
                let Verb { name, cuts, .. } = &subject.verbs[verb];
                if !is_main(name) {
                    // Packets of 40 bytes go side by side; of three turns, the first piece is one.
                    let (nonces, texts) = if *cuts { (vec![8, 12], vec![3 * turn]) } else { (Vec::new(), vec![40]) };
                    add(&mut groups, verb, &Lengths { keys: vec![16], nonces, texts, ..all() }, "");
                }
            }
            continue;
        }
        let every: Vec<usize> = (0..=(2 * turn + vector).max(600)).collect();
        for (verb, of) in EACH.into_iter().flat_map(|(name, of)| own(name).map(move |verb| (verb, of))) {
            for key in [16, 24, 32] {
                let texts = if how == How::All || key == of { every.clone() } else { near(row) };
                add(&mut groups, verb, &Lengths { keys: vec![key], texts, ..all() }, "");
            }
        }
        for verb in MAIN.into_iter().flat_map(own) {
            add(
                &mut groups,
                verb,
                &Lengths { keys: vec![16], texts: near(row).into_iter().filter(|&n| n > every.len()).collect(), ..all() },
                "",
            );
            add(&mut groups, verb, &Lengths { keys: vec![16], aads: (0..=48).collect(), texts: few(), ..Lengths::default() }, "");
            add(
                &mut groups,
                verb,
                &Lengths { keys: vec![32], aads: vec![64, 100, 255, 256, 600, 1000, 4097], texts: few(), ..Lengths::default() },
                "",
            );
            let nonces = (1..=20).chain([32, 60, 200]).filter(|&n| n != 12).collect();
            add(&mut groups, verb, &Lengths { keys: vec![16], nonces, aads: vec![5], texts: vec![0, 17, 300, 600] }, "");
            add(&mut groups, verb, &Lengths { keys: vec![24, 32], nonces: vec![8, 16], aads: vec![0, 33], texts: few() }, "");
        }
        for verb in 1..subject.verbs.len() {
            let Verb { name, cuts, .. } = &subject.verbs[verb];
            if EACH.iter().all(|(each, _)| each != name) {
                let (nonces, more) = if *cuts { (vec![8, 12], vec![3 * turn]) } else { Default::default() };
                add(&mut groups, verb, &Lengths { nonces, aads: vec![0, 20], texts: [few(), more].concat(), ..Lengths::default() }, "");
            }
        }
        for verb in own("seal in three pieces").chain(own("seal a list of three")).chain(own("open a list of three")) {
            let lengths = Lengths { keys: vec![16], texts: vec![0, 1, 2, 17, 33, 40], ..all() };
            groups.push(group(subject, row, verb, &lengths, everywhere, ", every cut in three"));
        }
        for verb in own("AAD in three pieces") {
            let lengths = Lengths { keys: vec![16], aads: vec![0, 1, 17, 33, 40], texts: vec![0], ..Lengths::default() };
            groups.push(group(subject, row, verb, &lengths, everywhere, ", every cut in three"));
        }
        // Elsewhere in memory.
        for verb in ["seal", "open", "seal apart", "open apart"].into_iter().flat_map(own) {
            let lengths = Lengths { keys: vec![16], texts: vec![0, 1, 33, 100, 300, 600], ..all() };
            groups.push(elsewhere(group(subject, row, verb, &lengths, thirds, "")));
        }
    }
    groups.retain(|group| !group.cases.is_empty() && !is_beyond(&subject.verbs[group.verb].name));
    groups
}

/// The calls that a plan has on each row, at least: what is left out by mistake would be missed by nobody. Whoever adds a verb or a length writes the new
/// number here; a smaller one says why.
const LEAST: [(&str, How, [usize; 4]); 7] = [
    ("fastgcm-proved", How::Quick, [421, 421, 415, 415]),
    ("libfastgcm", How::Quick, [246, 246, 240, 240]),
    ("provider", How::Quick, [37, 37, 37, 37]),
    ("fastgcm-proved", How::Default, [24861, 21933, 21912, 21912]),
    ("libfastgcm", How::Default, [6915, 5451, 5436, 5436]),
    ("provider", How::Default, [1830, 1830, 1830, 1830]),
    ("scrub", How::Wiped, [756, 756, 756, 756]),
];

/// On which of these rows the plan has fewer calls than it had.
pub(crate) fn too_few(subject: &Subject, rows: &[usize], how: How, groups: &[Group]) -> Vec<String> {
    let calls = |row: usize| groups.iter().filter(|group| group.row == row).map(|group| group.cases.len()).sum::<usize>();
    let least = LEAST.iter().find(|(name, plan, _)| *name == subject.name && *plan == how);
    let few = |&row: &usize| {
        let (name, is, least) = (ROWS[row].0, calls(row), least?.2[row]);
        (is < least).then(|| format!("{}, {name}: the plan has {is} calls, and had {least}", subject.name))
    };
    rows.iter().filter_map(few).collect()
}

/// The `i`-th of `n` parts, each with cases of all kinds.
pub(crate) fn part(groups: &mut Vec<Group>, (i, n): (usize, usize)) {
    let mut number = 0;
    for group in groups.iter_mut() {
        group.cases.retain(|_| {
            number += 1;
            number % n == i % n
        });
    }
    groups.retain(|group| !group.cases.is_empty());
}

/// Rows by name; all that the program has.
pub(crate) fn rows(subject: &Subject, names: Option<&str>) -> Option<Vec<usize>> {
    let index = |name: &str| ROWS.iter().position(|(row, _)| *row == name);
    let own = || (0..ROWS.len()).filter(|&row| subject.rows[row].is_some()).collect();
    names.map_or_else(|| Some(own()), |names| names.split(',').map(index).collect())
}
