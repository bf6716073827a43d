//! What README.md tells a reader to type, and its program, run as they stand there. A command fails if it ends with an error, or if a file
//! that its line names is not there behind it; what is opened must be what was sealed. And what the pages tell a reader to write into Cargo.toml, in a program
//! that lies beside this repository.

use crate::tools::{emptied, files, full, run as type_in, sh, step, write};
use anyhow::{Context, Result, bail, ensure};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// How the names end of the files that a line writes.
const FILES: [&str; 6] = [".key", ".sealed", ".tar", ".html", ".json", ".csv"];

/// A program of the reader's. (`cargo new` would make it a member of our workspace.)
const PROGRAM: &str = "[package]\nname = \"program\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n";

/// What every program over `aes-gcm` calls, of whichever version.
const AES_GCM: &str = "use aes_gcm::{Aes256Gcm, aead::{Aead, KeyInit}};
fn main() {
    let cipher = Aes256Gcm::new(&[7; 32].into());
    let sealed = cipher.encrypt(&[1; 12].into(), &b\"text\"[..]).unwrap();
    assert_eq!(cipher.decrypt(&[1; 12].into(), &sealed[..]).unwrap(), b\"text\");
}
";

/// `options` are of the program's build: `-p fastgcm-cli`, unless others are given.
pub(crate) fn run(root: &Path, options: &[String]) -> Result<()> {
    let (readme, checks) = (fs::read_to_string(root.join("README.md"))?, fs::read_to_string(root.join(".ci/run"))?);
    // One after the other: built at once, they would have each other's features.
    let options = if options.is_empty() { "-p fastgcm-cli".into() } else { options.join(" ") };
    type_in(root, &format!("cargo build --release {options}"))?;
    if full() {
        type_in(root, "cargo build --release -p fastgcm-studies; cargo build --release -p fastgcm-scrubbed")?;
    }
    // The programs that were built stand in front of any other.
    let path = format!("{}/target/release:{}", root.display(), std::env::var("PATH")?);
    let (mut commands, mut tests) = (0, 0);
    // The first block on the studies measures; it is typed in the full run.
    let studies = fs::read_to_string(root.join("lab/studies/README.md"))?;
    for block in blocks(&readme, "sh").into_iter().chain(blocks(&studies, "sh").into_iter().take(1)) {
        let folder = beside(root)?;
        let typed = |line: &str| step(sh(&folder, line).env("PATH", &path));
        typed("cp ../../README.md .")?;
        for line in block.lines() {
            let (command, comment) = line.split_once('#').map_or((line, ""), |(command, comment)| (command.trim(), comment));
            if command.starts_with("fastgcm-study ") && !full() {
                continue; // it takes minutes to compile
            }
            commands += 1;
            if command.starts_with("cargo test") {
                tests += checks.matches(&format!("\n    {command} -- --nocapture #")).count();
            } else if command.starts_with("cargo add ") {
                // A new program with our library: the block of Rust.
                let program = *blocks(&readme, "rust").first().context("README.md: no program")?;
                let main = format!("fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{program}\n    Ok(())\n}}\n");
                write(&folder.join("program/src/main.rs"), main)?;
                write(&folder.join("program/Cargo.toml"), PROGRAM)?;
                typed(&format!("cd program; {command}; cargo run --quiet"))?;
            } else {
                // What it opens must be what was sealed.
                let opened = command.split(' ').find_map(|word| word.strip_suffix(".sealed").filter(|_| command.contains("open ")));
                let to = command.split_once(" -o ").and_then(|(_, rest)| rest.split(' ').next());
                typed(&match (opened, to) {
                    (Some(name), Some("-")) => format!("{command} > shown; cmp {name} shown"),
                    (Some(name), Some(to)) => format!("{command}; cmp {name} {to}"),
                    (Some(name), None) => bail!("README.md: {command} would replace {name}"),
                    (None, _) => command.to_owned(),
                })?;
                let words = command.split(' ').chain(comment.split(' ')).map(|word| word.trim_matches(['`', ';', ',', '.']));
                let named: Vec<&str> = words.filter(|word| FILES.iter().any(|end| word.ends_with(end))).collect();
                typed(&format!("for file in {}; do [ -s $file ]; done", named.join(" ")))?;
            }
            if command.starts_with("fastgcm-study bench ") {
                // It is of the library without `scrub`, and has a column with it.
                typed("grep -q 'measured without `scrub`' bench.html && grep -q ' with scrub</th>' bench.html")?;
            }
        }
    }
    ensure!(tests == 1, "README.md: the test command is not that of the check `tests`");
    let marks = readme.matches("\n```").count() / 2;
    let all: usize = ["sh", "rust", "toml"].iter().map(|language| blocks(&readme, language).len()).sum();
    ensure!(all == marks, "README.md has {marks} blocks, of which {all} are of a language that is known");
    println!("readme ok {commands}");
    println!("manifests ok {}", manifests(root)?);
    emptied(root.join("target/readme"))?;
    Ok(())
}

/// What the pages have for a Cargo.toml: Cargo finds each package there, and a program over `aes-gcm` compiles.
fn manifests(root: &Path) -> Result<usize> {
    let mut lines = 0;
    for page in files(root, "README.md docs crates", "*.md")? {
        let text = fs::read_to_string(&page)?;
        for dependencies in blocks(&text, "toml") {
            let of_aes_gcm = dependencies.contains("\naes-gcm = ") || dependencies.starts_with("aes-gcm = ");
            let folder = beside(root)?;
            write(&folder.join("program/src/main.rs"), if of_aes_gcm { AES_GCM } else { "fn main() {}" })?;
            write(&folder.join("program/Cargo.toml"), PROGRAM.to_owned() + dependencies.trim_start_matches("[dependencies]\n") + "\n")?;
            let line = if of_aes_gcm { "cargo check --quiet --target-dir ../../readme-built" } else { "cargo tree --quiet --depth 1" };
            type_in(&folder.join("program"), line).with_context(|| page.display().to_string())?;
            lines += dependencies.lines().filter(|line| line.contains("path = \"../fastgcm/")).count();
        }
    }
    Ok(lines)
}

/// A folder for programs, beside this repository, which is `fastgcm` there.
fn beside(root: &Path) -> Result<PathBuf> {
    let folder = emptied(root.join("target/readme"))?;
    type_in(&folder, "ln -s ../.. fastgcm")?;
    Ok(folder)
}

/// The blocks of that language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let mark = format!("\n```{language}\n");
    text.split(&mark).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}
