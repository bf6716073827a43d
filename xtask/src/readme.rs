//! What README.md tells a reader to type, and its program, run as they stand there. A command fails if it ends with an error, or if a file
//! that its line names is not there behind it; what is opened must be what was sealed.

use crate::{
    ci::full,
    tools::{emptied, run as type_in, sh, step, write},
};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use std::path::Path;

/// How the names end of the files that a line writes.
const FILES: [&str; 6] = [".key", ".sealed", ".tar", ".html", ".json", ".csv"];

pub(crate) fn run(root: &Path, _: &[String]) -> Result<()> {
    let (readme, checks) = (fs::read_to_string(root.join("README.md"))?, fs::read_to_string(root.join(".ci/checks"))?);
    // One after the other: built at once, they would have each other's features.
    type_in(root, "cargo build --release -p fastgcm-cli")?;
    if full() {
        type_in(&root.join("lab"), "cargo build --release -p fastgcm-studies; cargo build --release -p fastgcm-scrubbed")?;
    }
    // The programs that were built stand in front of any other.
    let path = format!("{0}/target/release:{0}/lab/target/release:{1}", root.display(), std::env::var("PATH")?);
    let (mut commands, mut tests) = (0, 0);
    for block in blocks(&readme, "sh") {
        let folder = emptied(root.join("target/readme"))?;
        let typed = |line: &str| step(sh(&folder, line).env("PATH", &path));
        typed("cp -r ../../docs ../../README.md . && tar cf backup.tar docs")?;
        for line in block.lines() {
            let (command, comment) = line.split_once('#').map_or((line, ""), |(command, comment)| (command.trim(), comment));
            if command.starts_with("fastgcm-study ") && !full() {
                continue; // it takes minutes to compile
            }
            commands += 1;
            if command.starts_with("cargo test") {
                tests += checks.matches(&format!("\n{command} -- --nocapture #")).count();
            } else if command.starts_with("cargo add ") {
                // A new program with our library: the block of Rust. (`cargo new` would make it a member of our workspace.)
                let program = *blocks(&readme, "rust").first().context("README.md: no program")?;
                let main = format!("fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{program}\n    Ok(())\n}}\n");
                write(&folder.join("program/src/main.rs"), main)?;
                write(&folder.join("program/Cargo.toml"), "[package]\nname = \"program\"\nedition = \"2024\"\n[workspace]\n")?;
                typed(&format!("cd program; {command} --quiet --path ../../../crates/fastgcm; cargo run --quiet"))?;
            } else {
                // What it opens is put aside, and must be there again; what it would show is put where it was.
                let opened = command.split(' ').find_map(|word| word.strip_suffix(".sealed").filter(|_| command.contains("open ")));
                typed(&match opened {
                    Some(name) if command.contains("-o - ") => format!("mv {name} was; {command} > {name}; cmp {name} was"),
                    Some(name) => format!("mv {name} was; {command}; cmp {name} was"),
                    None => command.to_owned(),
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
    println!("readme ok {commands}");
    Ok(())
}

/// The blocks of that language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let mark = format!("\n```{language}\n");
    text.split(&mark).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}
