//! The manual: what clap knows of the commands, and what it does not know.

use super::Cli;
use crate::failure::{Code, Failure};
use clap::{Arg, ArgAction, CommandFactory};
use clap_mangen::{
    Man,
    roff::{Roff, bold, italic, roman},
};
use std::io;

/// A command line, and what it does. A test runs all of them, one after the other.
const EXAMPLES: [(&str, &str); 12] = [
    ("fastgcm keygen -o my.key", "Make a key that only you may read."),
    ("fastgcm seal -k my.key photos.tar", "Seal a file: this writes photos.tar.sealed."),
    ("fastgcm seal --new-key trip.key -o trip.sealed photos.tar", "Make a key, and seal a file with it to another name."),
    ("fastgcm inspect -k my.key photos.tar.sealed", "Verify all of a sealed file, and write nothing."),
    ("fastgcm open -k my.key -o copy.tar photos.tar.sealed", "Open it under another name."),
    ("fastgcm open -k my.key --force photos.tar.sealed", "Open it in the place of photos.tar."),
    ("fastgcm open -k my.key --range 512..1024 photos.tar.sealed > part", "Open only some of it."),
    ("tar c photos | fastgcm seal -k my.key - > photos.sealed", "Seal what comes from a pipe (in bash after: set -o pipefail)."),
    ("fastgcm open -k my.key - < photos.sealed | tar t", "Open it into a pipe (in bash after: set -o pipefail)."),
    ("fastgcm seal -k my.key --force *.tar", "Seal several files, each by itself."),
    ("fastgcm open -k my.key --salvage -o saved.tar photos.tar.sealed", "Of a damaged file, write what can be verified."),
    ("fastgcm rekey -k my.key --new-key new.key photos.tar.sealed", "Seal it anew under another key, in the place of the old file."),
];

/// Returns the program with the examples of each command behind its help, and all examples behind the program's help.
pub(crate) fn with_examples(command: clap::Command) -> clap::Command {
    let names: Vec<_> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let all = format!("{}\n\n{}", super::exit_codes(), shown(None).unwrap_or_default());
    names.into_iter().fold(command.after_help(all), |command, name| {
        let examples = shown(Some(&name));
        #[cfg(not(feature = "age"))]
        let examples = if ["keygen", "share"].contains(&&*name) {
            Some(format!("{}\n\n{}", super::WITHOUT_AGE, examples.unwrap_or_default()))
        } else {
            examples
        };
        command.mut_subcommand(name, |command| if let Some(examples) = examples { command.after_help(examples) } else { command })
    })
}

/// Returns the examples as help shows them.
fn shown(command: Option<&str>) -> Option<String> {
    let lines: Vec<_> = examples(command).map(|(line, what)| format!("\n  {line}\n      {what}")).collect();
    (!lines.is_empty()).then(|| format!("Examples:{}", lines.concat()))
}

/// Returns the examples of a command, or all.
fn examples(command: Option<&str>) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    EXAMPLES.iter().filter(move |(line, _)| command.is_none_or(|name| line.contains(&format!("fastgcm {name} "))))
}

/// Returns a page of the manual (roff): of one command, or of the program.
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
    let synopsis = synopsis(&page, command);
    let (man, mut out) = (Man::new(page), Vec::new());
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    synopsis.to_writer(&mut out)?;
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
    for (number, (line, what)) in examples(command).enumerate() {
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

/// Returns how the command is typed. (The synopsis of the crate `clap_mangen` leaves out the values of options.)
fn synopsis(page: &clap::Command, command: Option<&str>) -> Roff {
    let mut words = vec![bold(command.map_or("fastgcm".into(), |name| format!("fastgcm {name}")))];
    let shown = || page.get_arguments().filter(|arg| !arg.is_hide_set());
    for arg in shown().filter(|arg| !arg.is_positional()).chain(shown().filter(|arg| arg.is_positional())) {
        let value = value(arg).map(|value| if arg.is_positional() { value } else { format!(" {value}") }).unwrap_or_default();
        let (open, close) = if arg.is_required_set() { ("", "") } else { ("[", "]") };
        let flag = arg.get_short().map(|short| format!("-{short}")).or_else(|| arg.get_long().map(|long| format!("--{long}")));
        words.extend([roman(format!(" {open}")), bold(flag.unwrap_or_default()), italic(value), roman(close)]);
    }
    if page.has_subcommands() {
        words.push(italic(" COMMAND"));
    }
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text(words);
    roff
}

/// Returns what follows an option, or stands in its own place.
fn value(arg: &Arg) -> Option<String> {
    let several = if matches!(arg.get_action(), ArgAction::Append) { "..." } else { "" };
    let names = arg.get_value_names().filter(|_| arg.get_action().takes_values())?;
    Some(format!("{}{several}", names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")))
}

const FILES: &str = "A new key and a text that was opened are for your eyes only (mode 0600). A sealed file gets \
    the mode that the umask gives. What --force replaces keeps its mode, and its owner and group where the system allows that. Standard \
    output that is redirected to a file is made by the shell, not by fastgcm.";

const ENVIRONMENT: [(&str, &str); 4] = [
    ("FASTGCM_KEY_FILE", "The key file, where -k names none. Without both, it is fastgcm/key in $XDG_CONFIG_HOME or ~/.config."),
    ("FASTGCM_PASSPHRASE_FILE", "A file whose first line is the passphrase of a locked key file. Without it the terminal is asked."),
    ("FASTGCM_IDENTITY", "What opens a key file that is locked for somebody, where -i names nothing."),
    ("FASTGCM_BACKEND", "The back end of the cipher, as --backend names it."),
];

/// Returns what README.md says about keys, point by point.
fn keys() -> Vec<String> {
    let section = include_str!("../../README.md").split("\n## ").find_map(|section| section.strip_prefix("Keys\n\n* "));
    let points = section.unwrap_or_default().trim_end().split("\n* ");
    points.map(|point| point.replace("**", "").replace('`', "").replace("\n  ", " ")).collect()
}
