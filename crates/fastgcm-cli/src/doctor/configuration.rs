//! A configuration of OpenSSL, as config(5) of its manual has it, but for variables: sections, and in each
//! settings.

use crate::failure::Failure;
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

#[derive(Default)]
pub(super) struct Configuration(BTreeMap<String, Vec<(String, String)>>);

/// The section that has no name.
const NAMELESS: &str = "default";

/// The largest depth of included files, and the largest number of files: a file that includes itself ends there.
const DEPTH: usize = 5;
const FILES: usize = 1000;

impl Configuration {
    /// Reads a file, and what it includes.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        Ok(Self::of(&fs::read_to_string(file).map_err(|error| Failure::io(file.display(), error))?))
    }

    /// Reads a text, and what it includes.
    pub(super) fn of(text: &str) -> Self {
        let mut new = Self::default();
        let mut left = FILES;
        new.text(text, &mut NAMELESS.to_owned(), 0, &mut left);
        new
    }

    /// Adds what a text says. A section goes on behind the end of a file that was included.
    fn text(&mut self, text: &str, section: &mut String, depth: usize, left: &mut usize) {
        self.0.entry(section.clone()).or_default();
        for line in text.replace("\\\n", "").lines().map(without_comment) {
            if let Some(name) = line.strip_prefix(".include").filter(|rest| rest.starts_with([' ', '\t', '='])) {
                let files = if depth < DEPTH { included(Path::new(name.trim_start_matches([' ', '\t', '=']))) } else { Vec::new() };
                for file in files {
                    if let (Some(fewer), Ok(text)) = (left.checked_sub(1), fs::read_to_string(file)) {
                        *left = fewer;
                        self.text(&text, section, depth + 1, left);
                    }
                }
            } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
                *section = name.trim().to_owned();
                self.0.entry(section.clone()).or_default();
            } else if let Some((name, value)) = line.split_once('=') {
                let (section, name) = name.split_once("::").unwrap_or((section, name));
                let setting = (name.trim().to_owned(), unquoted(value.trim()));
                self.0.entry(section.trim().to_owned()).or_default().push(setting);
            }
        }
    }

    pub(super) fn has(&self, section: &str) -> bool {
        self.0.contains_key(section)
    }

    /// The settings of a section.
    pub(super) fn settings(&self, section: &str) -> impl Iterator<Item = (&str, &str)> {
        self.0.get(section).into_iter().flatten().map(|(name, value)| (&name[..], &value[..]))
    }

    /// Of settings with one name the last counts.
    pub(super) fn value(&self, section: &str, name: &str) -> Option<&str> {
        self.settings(section).filter(|setting| setting.0 == name).last().map(|setting| setting.1)
    }

    /// What is found on the way of those names: each value but the last names the section with the next.
    pub(super) fn at(&self, way: &[&str]) -> Option<&str> {
        way.iter().try_fold(NAMELESS, |section, name| self.value(section, name))
    }

    /// What a program that reads `self` in place of `other` loses, but for providers: sections and names.
    pub(super) fn lost<'a>(&self, other: &'a Self) -> Vec<(&'a str, &'a str)> {
        let init = other.at(&["openssl_conf"]).unwrap_or_default();
        let providers = other.value(init, "providers").unwrap_or_default();
        let mut spared = vec![providers, other.value(init, "alg_section").unwrap_or_default()];
        spared.extend(other.settings(providers).map(|(_, section)| section));
        let settings = other.0.iter().flat_map(|(section, settings)| settings.iter().map(move |(name, _)| (&section[..], &name[..])));
        let lost = settings.filter(|&(section, name)| {
            let is_spared = spared.contains(&section) || section == init && ["providers", "alg_section"].contains(&name);
            !is_spared && self.value(section, name) != other.value(section, name)
        });
        let mut lost: Vec<_> = lost.collect();
        // First what every program has of it.
        lost.sort_by_key(|&(section, name)| (section != NAMELESS || name != "openssl_conf", section != init));
        lost
    }
}

/// A line without what stands behind `#`, and without spaces around it.
fn without_comment(line: &str) -> &str {
    let mut quoted = None;
    let mut escaped = false;
    let end = line.find(|letter| {
        match (letter, quoted) {
            _ if escaped => escaped = false,
            ('\\', _) => escaped = true,
            ('"' | '\'' | '`', None) => quoted = Some(letter),
            _ if quoted == Some(letter) => quoted = None,
            ('#', None) => return true,
            _ => {}
        }
        false
    });
    line[..end.unwrap_or(line.len())].trim()
}

fn unquoted(value: &str) -> String {
    value.replace(['"', '\'', '`'], "")
}

/// The files that a line includes: one, or those of a folder whose names end with `.cnf` or `.conf`. OpenSSL passes over one that it
/// cannot read.
fn included(name: &Path) -> Vec<PathBuf> {
    let base = env::var_os("OPENSSL_CONF_INCLUDE").unwrap_or_default();
    let path = Path::new(&base).join(name);
    let mut files = vec![path.clone()];
    if let Ok(folder) = fs::read_dir(&path) {
        let files_of_it = folder.filter_map(|file| Some(file.ok()?.path()));
        files = files_of_it.filter(|file| file.extension().is_some_and(|end| end == "cnf" || end == "conf")).collect();
        files.sort();
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        let text = "a = 1 # one\n[ s ]\nb=\"x # y\"\nb = two\\\nlines\nt::c = 3\n[default]\nd = s\n# e = 5\n";
        let read = Configuration::of(text);
        assert_eq!(read.at(&["a"]), Some("1"));
        assert_eq!(read.at(&["d", "b"]), Some("twolines"));
        assert_eq!(read.settings("s").next(), Some(("b", "x # y")));
        assert_eq!(read.value("t", "c"), Some("3"));
        assert_eq!((read.at(&["e"]), read.has("s"), read.has("u")), (None, true, false));
    }

    #[test]
    fn comments() {
        for (line, kept) in [(r"a = b\# c # d", r"a = b\# c"), (r#"a = \" # b"#, r#"a = \""#), (r"a = \\# b", r"a = \\"), ("# a", "")] {
            assert_eq!(without_comment(line), kept);
        }
    }

    #[test]
    fn lost() {
        let own = "openssl_conf = init\n[init]\nproviders = p\nssl_conf = ssl\n[p]\ndefault = d\n[d]\nactivate = 1\n[ssl]\nsystem_default = policy\n";
        let other = Configuration::of(own);
        assert_eq!(Configuration::of(&format!("{own}[init]\nproviders = q\nalg_section = a\n")).lost(&other), []);
        let all = [("default", "openssl_conf"), ("init", "ssl_conf"), ("ssl", "system_default")];
        assert_eq!(Configuration::of("").lost(&other), all);
        assert_eq!(Configuration::of(&format!("{own}[default]\nopenssl_conf = mine\n")).lost(&other), all[..1]);
        assert_eq!(Configuration::of(&format!("{own}[init]\nssl_conf = mine\n")).lost(&other), all[1..2]);
    }

    /// A file that includes itself, and a folder all of whose files include it.
    #[test]
    fn circles() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("self.cnf"), format!("a = 1\n.include {}\nb = 2\n", file("self.cnf").display())).unwrap();
        let read = Configuration::read(&file("self.cnf")).unwrap();
        assert_eq!((read.at(&["a"]), read.at(&["b"]), read.settings(NAMELESS).count()), (Some("1"), Some("2"), 2 * (DEPTH + 1)));
        for number in 0..20 {
            fs::write(file(&format!("{number}.cnf")), format!("c = {number}\n.include {}\n", folder.path().display())).unwrap();
        }
        let read = Configuration::read(&file("0.cnf")).unwrap();
        assert!(read.at(&["c"]).is_some() && read.settings(NAMELESS).count() < 3 * FILES);
    }
}
