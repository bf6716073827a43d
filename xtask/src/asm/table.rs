//! The committed table: what was found when somebody last looked at it, one file for each compiler.
//!
//! ```text
//! code     aesni-avx  seal     bytes 6202  calls 1  ...
//! message  aesni-avx  open,16,1420  instructions 2929  clmul 276  ...
//! ```

use super::inspect::Numbers;
use anyhow::{Context, Result};
use fs_err as fs;
use std::{collections::BTreeMap, path::Path};

/// Numbers by `kind, row, part, name of the number`.
#[derive(Default)]
pub(super) struct Table(pub(super) BTreeMap<[String; 4], u64>);

/// What became of one number.
pub(super) struct Change<'a> {
    pub(super) key: &'a [String; 4],
    pub(super) old: Option<u64>,
    pub(super) new: Option<u64>,
}

/// How much more of it is no failure, in percent. Bytes and instructions move with every change; what is 0 here is decided by the source,
/// and each one more is worth a look. Spills are among these although they are the compiler's: with 16 registers, eight blocks in
/// flight are faster than four in spite of some, but not of any number.
fn tolerance(name: &str) -> u64 {
    match name {
        "bytes" | "instructions" | "reloads" => 5,
        "ir" => 1,
        _ => 0,
    }
}

impl Table {
    /// If there is one.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        if path.exists() { Self::parse(&fs::read_to_string(path)?).map(Some) } else { Ok(None) }
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut table = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [kind, row, part, ref numbers @ ..] = words[..] else { continue };
            for pair in numbers.chunks_exact(2) {
                let number = pair[1].parse().with_context(|| format!("{} is no number: {line}", pair[1]))?;
                table.0.insert([kind, row, part, pair[0]].map(str::to_owned), number);
            }
        }
        Ok(table)
    }

    pub(super) fn write(&self, path: &Path, compiler: &str) -> Result<()> {
        let head = format!("# {compiler}. Written by `cargo xtask asm --bless`; what it means stands in xtask/src/asm.rs.\n");
        Ok(fs::write(path, head + &self.text())?)
    }

    pub(super) fn text(&self) -> String {
        let mut lines: BTreeMap<&[String], String> = BTreeMap::new();
        for (key, number) in &self.0 {
            *lines.entry(&key[..3]).or_insert_with(|| key[..3].join(" ")) += &format!(" {} {number}", key[3]);
        }
        lines.into_values().map(|line| line + "\n").collect()
    }

    pub(super) fn add(&mut self, kind: &str, row: &str, part: &str, numbers: &Numbers) {
        let key = |name: &str| [kind, row, part, name].map(str::to_owned);
        self.0.extend(numbers.iter().map(|(name, number)| (key(name), *number)));
    }

    /// All numbers of both, side by side.
    pub(super) fn changes<'a>(&'a self, new: &'a Self) -> Vec<Change<'a>> {
        let old = self.0.iter().map(|(key, old)| Change { key, old: Some(*old), new: new.0.get(key).copied() });
        let only_new = new.0.iter().filter(|(key, _)| !self.0.contains_key(*key));
        old.chain(only_new.map(|(key, new)| Change { key, old: None, new: Some(*new) })).collect()
    }
}

impl Change<'_> {
    /// It is there in one of the two only, or has grown more than it may.
    pub(super) fn fails(&self) -> bool {
        let grown = |(old, new)| new * 100 > old * (100 + tolerance(&self.key[3]));
        self.old.zip(self.new).is_none_or(grown)
    }

    /// It has become smaller by more than that: the table should follow, or the gain can be lost unseen.
    pub(super) fn shrinks(&self) -> bool {
        self.old.zip(self.new).is_some_and(|(old, new)| new * (100 + tolerance(&self.key[3])) < old * 100)
    }

    pub(super) fn show(&self) -> String {
        let [kind, row, part, name] = self.key;
        let number = |n: Option<u64>| n.map_or("-".into(), |n| n.to_string());
        let percent = |(old, new): (u64, u64)| format!("{:+.1} %", (new as f64 / old as f64 - 1.0) * 100.0);
        let percent = self.old.filter(|old| *old > 0).zip(self.new).map_or(String::new(), percent);
        format!("{kind:8}{row:15}{part:16}{name:13}{:>9}{:>9}{percent:>10}", number(self.old), number(self.new))
    }

    pub(super) const HEAD: &'static str = "        row            part            number             old      new    change";
}
