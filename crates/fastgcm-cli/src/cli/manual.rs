//! The manual: what clap knows of the commands, and what it does not.

use super::Cli;
use crate::failure::{Code, Failure};
use clap::CommandFactory;
use clap_mangen::{
    Man,
    roff::{Roff, bold, roman},
};
use std::io;

/// A command line, and what it does. A test runs all of them, one after the other.
const EXAMPLES: [(&str, &str); 10] = [
    ("fastgcm keygen -o my.key", "Make a key that only you may read."),
    ("fastgcm seal -k my.key photos.tar", "Seal a file: this writes photos.tar.sealed."),
    ("fastgcm inspect -k my.key photos.tar.sealed", "Verify all of a sealed file, and write nothing."),
    ("fastgcm open -k my.key -o copy.tar photos.tar.sealed", "Open it under another name."),
    ("fastgcm open -k my.key --force photos.tar.sealed", "Open it in the place of photos.tar."),
    ("fastgcm open -k my.key --range 512..1024 photos.tar.sealed > part", "Open only some of it."),
    ("tar c photos | fastgcm seal -k my.key - > photos.sealed", "Seal what comes from a pipe (in bash after: set -o pipefail)."),
    ("fastgcm open -k my.key - < photos.sealed | tar t", "Open it into a pipe (in bash after: set -o pipefail)."),
    ("fastgcm seal -k my.key --force *.tar", "Seal several files, each by itself."),
    ("fastgcm rekey -k my.key --new-key new.key photos.tar.sealed", "Seal it anew under another key, in the place of the old file."),
];

/// A page of the manual (roff): of one command, or of the program.
pub(crate) fn manual(command: Option<&str>) -> Result<Vec<u8>, Failure> {
    let mut program = Cli::command();
    program.build();
    let known = program.get_subcommands().find(|known| Some(known.get_name()) == command && !known.is_hide_set());
    let page = match (command, known) {
        (None, _) => program.clone(),
        (Some(_), Some(command)) => command.clone(),
        (Some(name), None) => return Err(Failure::usage(format_args!("there is no command {name}: `fastgcm --help` lists them"))),
    };
    render(page, command).map_err(|error| Failure::io("the manual", error))
}

fn render(page: clap::Command, command: Option<&str>) -> io::Result<Vec<u8>> {
    let (has_commands, has_version) = (page.has_subcommands(), page.get_version().is_some());
    let (man, mut out) = (Man::new(page), Vec::new());
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if has_commands {
        man.render_subcommands_section(&mut out)?;
    }
    let mut more = Roff::new();
    more.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in Code::MEANINGS {
        more.control("TP", []).text([bold(code.to_string())]).text([roman(meaning)]);
    }
    more.control("SH", ["KEYS"]);
    for key in keys() {
        more.control("IP", ["\\(bu", "2"]).text([roman(key)]);
    }
    more.control("SH", ["FILES"]).text([roman(FILES)]);
    more.control("SH", ["ENVIRONMENT"]);
    for (name, meaning) in ENVIRONMENT {
        more.control("TP", []).text([bold(name)]).text([roman(meaning)]);
    }
    let examples = EXAMPLES.iter().filter(|(line, _)| command.is_none_or(|name| line.contains(&format!("fastgcm {name} "))));
    for (number, (line, what)) in examples.enumerate() {
        if number == 0 {
            more.control("SH", ["EXAMPLES"]);
        }
        more.control("TP", []).text([roman(*what)]).control("EX", []).text([roman(*line)]).control("EE", []);
    }
    more.to_writer(&mut out)?;
    if has_version {
        man.render_version_section(&mut out)?;
    }
    Ok(out)
}

const FILES: &str = "A new key and a text that was opened are for your eyes only (mode 0600). A sealed file gets \
    the mode that the umask gives. What --force replaces keeps its mode, and its owner and group where the system allows that. Standard \
    output that is redirected to a file is made by the shell, not by fastgcm.";

const ENVIRONMENT: [(&str, &str); 4] = [
    ("FASTGCM_KEY", "The key file, where -k names none. Without both, it is fastgcm/key in $XDG_CONFIG_HOME or ~/.config."),
    ("FASTGCM_PASSPHRASE_FILE", "A file whose first line is the passphrase of a locked key file. Without it the terminal is asked."),
    ("FASTGCM_IDENTITY", "What opens a key file that is locked for somebody, where -i names nothing."),
    ("FASTGCM_BACKEND", "The back end of the cipher, as --backend names it."),
];

/// What README.md says of keys, point by point.
fn keys() -> Vec<String> {
    let section = include_str!("../../README.md").split("\n## ").find_map(|section| section.strip_prefix("Keys\n\n* "));
    let points = section.unwrap_or_default().trim_end().split("\n* ");
    points.map(|point| point.replace("**", "").replace('`', "").replace("\n  ", " ")).collect()
}
