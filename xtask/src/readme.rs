//! What README.md tells a reader to type, and its program, run as they stand there. A command fails if it ends with an error, or if a file
//! that its line names is not there behind it; what is opened must be what was sealed.

use crate::{
    ci::{TEST, cargo, full},
    log::Log,
    package::step,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// How the names end of the files that a line writes.
const FILES: [&str; 6] = [".key", ".sealed", ".tar", ".html", ".json", ".csv"];

pub(crate) fn run(root: &Path, log: &mut Log) -> Result<(), String> {
    let readme = fs::read_to_string(root.join("README.md")).map_err(|e| format!("README.md: {e}"))?;
    // One after the other: built at once, they would have each other's features.
    step(&mut cargo(root, "build --release -p fastgcm-cli"))?;
    if full() {
        let lab = root.join("lab");
        step(&mut cargo(&lab, "build --release -p fastgcm-studies"))?;
        step(&mut cargo(&lab, "build --release -p fastgcm-scrubbed"))?;
    }
    let shell = Shell { root: root.to_owned(), folder: root.join("target/readme") };
    let (mut commands, mut tests) = (0, 0);
    for block in blocks(&readme, "sh") {
        shell.furnish(log)?;
        for line in block.lines() {
            let (command, comment) = line.split_once('#').map_or((line, ""), |(command, comment)| (command.trim(), comment));
            match command {
                // It takes minutes to compile.
                _ if command.starts_with("fastgcm-study ") && !full() => continue,
                _ if command.starts_with("cargo test") => tests += usize::from(command == TEST),
                _ if command.starts_with("cargo add ") => shell.program(log, command, &readme)?,
                _ => shell.command(log, command, comment)?,
            }
            commands += 1;
            if command.starts_with("fastgcm-study bench ") {
                shell.scrub()?;
            }
            // How to open what was sealed stands in the comment.
            if let Some(open) = comment.split('`').find(|word| word.starts_with("open ")) {
                let (program, seal) = command.split_once(" -- ").ok_or("README.md: what is sealed?")?;
                let file = seal.split(' ').next_back().unwrap_or_default();
                shell.command(log, &format!("{program} -- {open} {file}.sealed"), "")?;
                commands += 1;
            }
        }
    }
    if tests != 1 {
        return Err(format!("README.md: the test command is not `{TEST}`"));
    }
    log.say(format!("readme ok {commands}"));
    Ok(())
}

/// The blocks of that language.
fn blocks<'a>(text: &'a str, language: &str) -> impl Iterator<Item = &'a str> {
    let mark = format!("\n```{language}\n");
    let blocks: Vec<&str> = text.split(&mark).skip(1).filter_map(|rest| rest.split_once("\n```")).map(|(block, _)| block).collect();
    blocks.into_iter()
}

struct Shell {
    root: PathBuf,
    folder: PathBuf,
}

impl Shell {
    /// A new folder, with what the commands of a block find there.
    fn furnish(&self, log: &mut Log) -> Result<(), String> {
        _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&self.folder).map_err(|e| e.to_string())?;
        let root = self.root.display();
        self.run(log, &format!("cp -r '{root}/docs' '{root}/README.md' . && tar cf backup.tar docs"))
    }

    /// A line as one types it, with the program that was built in front of any other.
    fn run(&self, log: &mut Log, line: &str) -> Result<(), String> {
        let path = std::env::var("PATH").unwrap_or_default();
        let release = |folder| self.root.join(folder).join("target/release");
        let path = format!("{}:{}:{path}", release("").display(), release("lab").display());
        log.step(Command::new("bash").args(["-euo", "pipefail", "-c", line]).current_dir(&self.folder).env("PATH", path))
    }

    /// A command of the program. Whatever it opens is put aside, and must be there again.
    fn command(&self, log: &mut Log, command: &str, comment: &str) -> Result<(), String> {
        let words = command.split(' ').chain(comment.split(' ')).map(|word| word.trim_matches(['`', ';', ',', '.']));
        let files: Vec<&str> = words.filter(|word| FILES.iter().any(|end| word.ends_with(end))).collect();
        let opened = command.contains("open ").then(|| command.split(' ').find_map(|word| word.strip_suffix(".sealed"))).flatten();
        let text = opened.map(|name| fs::read(self.folder.join(name)).map_err(|e| format!("{name}: {e}"))).transpose()?;
        opened.map_or(Ok(()), |name| fs::remove_file(self.folder.join(name)).map_err(|e| e.to_string()))?;
        // What would be shown is put where it was.
        let shown = opened.filter(|_| command.contains("-o - "));
        self.run(log, &shown.map_or(command.to_owned(), |name| format!("{command} > {name}")))?;
        if let Some(missing) = files.iter().find(|file| fs::metadata(self.folder.join(file)).map_or(0, |file| file.len()) == 0) {
            return Err(format!("README.md: {command}: there is no {missing}"));
        }
        if opened.map(|name| fs::read(self.folder.join(name)).unwrap_or_default()) != text {
            return Err(format!("README.md: {command}: that is not what was sealed"));
        }
        Ok(())
    }

    /// What `fastgcm-study bench` wrote is of the library without `scrub`, and has a column with it.
    fn scrub(&self) -> Result<(), String> {
        let page = fs::read_to_string(self.folder.join("bench.html")).map_err(|e| format!("bench.html: {e}"))?;
        let says = ["measured without `scrub`", " with scrub</th>"].iter().all(|words| page.contains(words));
        if says {
            Ok(())
        } else {
            Err("README.md: fastgcm-study bench: the page is not of the library without `scrub` beside that with it".into())
        }
    }

    /// A new program with our library, by the command that adds it: it is the block of Rust.
    fn program(&self, log: &mut Log, add: &str, readme: &str) -> Result<(), String> {
        let program = blocks(readme, "rust").next().ok_or("README.md: no program")?;
        let library = self.root.join("crates/fastgcm");
        let main = format!("fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{program}\n    Ok(())\n}}\n");
        // `cargo new` would make it a member of our workspace.
        let manifest = "[package]\nname = \"program\"\nedition = \"2024\"\n[workspace]\n";
        self.run(log, &format!("mkdir -p program/src && echo '{manifest}' > program/Cargo.toml"))?;
        fs::write(self.folder.join("program/src/main.rs"), main).map_err(|e| e.to_string())?;
        self.run(log, &format!("cd program && {add} --quiet --path '{}'", library.display()))?;
        self.run(log, "cd program && cargo run --quiet")
    }
}
