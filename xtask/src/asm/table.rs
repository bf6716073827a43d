//! The committed table: what was found when somebody last looked at it, one file for each compiler.
//!
//! ```text
//! code     aesni-avx  seal     bytes 6202  calls 1  ...
//! message  aesni-avx  open,16,1420  instructions 2929  clmul 276  ...
//! ```

use super::{count::Counted, inspect::Numbers};
use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

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
    pub(super) fn read(path: &Path) -> Result<Option<Self>, String> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(format!("{}: {e}", path.display())),
        };
        Self::parse(&text).map(Some).map_err(|e| format!("{}: {e}", path.display()))
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut table = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split_whitespace().map(str::to_owned);
            let (Some(kind), Some(row), Some(part)) = (words.next(), words.next(), words.next()) else { continue };
            while let (Some(name), Some(number)) = (words.next(), words.next()) {
                let number = number.parse().map_err(|_| format!("{number} is no number: {line}"))?;
                table.0.insert([kind.clone(), row.clone(), part.clone(), name], number);
            }
        }
        Ok(table)
    }

    pub(super) fn write(&self, path: &Path, compiler: &str) -> Result<(), String> {
        let head = format!("# {compiler}. Written by `cargo xtask asm --bless`; what it means stands in xtask/src/asm.rs.\n");
        fs::write(path, head + &self.text()).map_err(|e| format!("{}: {e}", path.display()))
    }

    pub(super) fn text(&self) -> String {
        let (mut text, mut last) = (String::new(), None);
        for ([kind, row, part, name], number) in &self.0 {
            let line = (kind, row, part);
            if last != Some(line) {
                let _ = write!(text, "{}{kind} {row} {part}", if last.is_some() { "\n" } else { "" });
                last = Some(line);
            }
            let _ = write!(text, " {name} {number}");
        }
        text + "\n"
    }

    /// Numbers by row and message.
    pub(super) fn add_messages(&mut self, counted: &Counted) {
        for ((row, message), numbers) in counted {
            self.add("message", row, message, numbers);
        }
    }

    pub(super) fn add(&mut self, kind: &str, row: &str, part: &str, numbers: &Numbers) {
        let key = |name: &str| [kind, row, part, name].map(str::to_owned);
        self.0.extend(numbers.iter().map(|(name, number)| (key(name), *number)));
    }

    pub(super) fn get(&self, kind: &str, row: &str, part: &str, name: &str) -> Option<u64> {
        self.0.get(&[kind, row, part, name].map(str::to_owned)).copied()
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
        match (self.old, self.new) {
            (Some(old), Some(new)) => new * 100 > old * (100 + tolerance(&self.key[3])),
            _ => true,
        }
    }

    /// It has become smaller by more than that: the table should follow, or the gain can be lost unseen.
    pub(super) fn shrinks(&self) -> bool {
        matches!((self.old, self.new), (Some(old), Some(new)) if new * (100 + tolerance(&self.key[3])) < old * 100)
    }

    pub(super) fn show(&self) -> String {
        let [kind, row, part, name] = self.key;
        let number = |n: Option<u64>| n.map_or("-".into(), |n| n.to_string());
        let percent = match (self.old, self.new) {
            (Some(old), Some(new)) if old > 0 => format!("{:+.1} %", (new as f64 / old as f64 - 1.0) * 100.0),
            _ => String::new(),
        };
        format!("{kind:8}{row:15}{part:16}{name:13}{:>9}{:>9}{percent:>10}", number(self.old), number(self.new))
    }

    pub(super) const HEAD: &'static str = "        row            part            number             old      new    change";
}
