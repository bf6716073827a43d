//! Exact numbers for whole messages: the probe is stepped through each of them.

use super::{
    Row,
    inspect::{Kind, Numbers},
    program::Program,
};
use crate::step::Traced;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    thread,
};

/// Around each way that a message can take: no text, a part of a vector, a tail of each kind, one turn and several, the last block cut or
/// not.
const SIZES: [usize; 12] = [0, 16, 63, 64, 200, 300, 500, 512, 1420, 4095, 4096, 16384];
const KEYS: [usize; 3] = [16, 24, 32];
const VERBS: [&str; 2] = ["seal", "open"];

/// What the probe is told to do with a row: `seal,16,64` ...
pub(super) fn messages(row: &Row) -> Vec<String> {
    let mut all = Vec::new();
    for verb in VERBS {
        for key in KEYS {
            for size in SIZES {
                // A row without instructions for AES takes a hundred times as many others: few messages.
                if !row.made_of_calls() || matches!((key, size), (16, 0 | 1420) | (_, 200)) {
                    all.push(format!("{verb},{key},{size}"));
                }
            }
        }
    }
    all
}

/// By row and message.
pub(super) type Counted = BTreeMap<(String, String), Numbers>;

/// Numbers of some messages for each of these rows, which must be such as this processor can run.
pub(super) fn count<'a>(
    probe: &Path,
    program: &Program,
    rows: impl Iterator<Item = &'a Row>,
    messages: impl Fn(&Row) -> Vec<String> + Sync,
) -> Result<Counted, String> {
    let (kinds, none) = (kinds(program), HashMap::new());
    let one_row = |row: &Row| -> Result<Counted, String> {
        let messages = messages(row);
        let mut arguments = vec![row.name.clone()];
        arguments.extend(messages.iter().cloned());
        let kinds = if row.made_of_calls() { &none } else { &kinds };
        let mut traced = Traced::start(probe, &arguments)?;
        let mut counted = Counted::new();
        for message in messages {
            traced.next_marker()?.ok_or("the probe has no marker for this message")?;
            let numbers = one(&mut traced, kinds)?;
            counted.insert((row.name.clone(), message), numbers);
        }
        match traced.next_marker()? {
            None => Ok(counted),
            Some(_) => Err("the probe has a marker too many".into()),
        }
    };
    let each = thread::scope(|scope| {
        let threads: Vec<_> = rows.map(|row| scope.spawn(|| one_row(row))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?).collect::<Result<Vec<_>, String>>()
    })?;
    Ok(each.into_iter().flatten().collect())
}

/// From here to the next marker. The C library's instructions are left out: its `memcpy` is another one on each machine.
fn one(traced: &mut Traced, kinds: &HashMap<u64, Kind>) -> Result<Numbers, String> {
    let mut numbers = Numbers::from([("instructions", 0), ("clmul", 0), ("aes", 0), ("loads", 0)]);
    traced.until_marker(|program, at| {
        let mut add = |name, number| *numbers.entry(name).or_default() += number as u64;
        add("instructions", program.code().contains(&at));
        if let Some(kind) = kinds.get(&at.wrapping_sub(program.base())) {
            add("clmul", kind.clmul);
            add("aes", kind.aes);
            add("loads", kind.load);
        }
        Ok(())
    })?;
    Ok(numbers)
}

/// By address in the file.
fn kinds(program: &Program) -> HashMap<u64, Kind> {
    let own = program.functions.values().filter(|function| function.name.contains("fastgcm::"));
    own.flat_map(|function| function.code.iter().map(|i| (i.ip(), Kind::of(i)))).collect()
}
