//! What is said of the feature `scrub`, and that its cost is asked of the program `fastgcm-scrubbed`.

use super::{Bench, PROGRAM};
use fastgcm::{Backend, internals::SCRUB};
use fastgcm_measure::Results;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

const QUICK: [&str; 12] =
    ["bench", "--quick", "--quiet", "--sizes", "16", "--key-bits", "128", "--seal", "--libcrypto", "none", "--json", "-"];

/// What this build says of itself.
const OWN: &str = if SCRUB { "measured WITH `scrub`: Cargo unified" } else { "measured without `scrub`" };

/// A copy of the study that can be run at once: another process writes it, because a child that another thread starts meanwhile would have inherited the open file.
fn copy_program(to: &Path) {
    assert!(Command::new("cp").arg(PROGRAM).arg(to).status().unwrap().success());
}

fn measured(program: impl AsRef<Path>, path: &Path) -> Results {
    let mut command = Command::new(program.as_ref());
    command.args(QUICK).env("PATH", path).env_remove("FASTGCM_BACKEND").stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Without a program that has `scrub`, and with one that is another, there is no column, and the head of the report says why.
#[test]
fn nothing_is_claimed_that_was_not_measured() {
    let bench = Bench::new();
    let alone = bench.path("fastgcm-study");
    copy_program(&alone);
    let cases = [
        (None, ": there is no program fastgcm-scrubbed beside this one or on the PATH"),
        (Some("#!/bin/sh\nexit 2"), "it has ended"),
        (Some("#!/bin/sh\nread version; echo fastgcm 0.0.9 with scrub"), "it is fastgcm 0.0.9 with scrub, not fastgcm 0.1.0 with scrub"),
    ];
    for (script, why) in cases {
        if let Some(script) = script {
            bench.write("fastgcm-scrubbed", script.as_bytes());
            fs::set_permissions(bench.path("fastgcm-scrubbed"), PermissionsExt::from_mode(0o755)).unwrap();
        }
        // Beside the program, and on the PATH.
        let results = measured(&alone, Path::new("/nowhere"));
        assert!(results.cases.iter().all(|case| case.contenders.len() == Backend::available().count()));
        let note = &results.machine.notes[0];
        assert!(note.starts_with(OWN) && note.contains("nothing is shown with it") && note.contains(why), "{note}");
    }
    println!("scrub::nothing_is_claimed_that_was_not_measured ok {}", cases.len());
}

/// The program `fastgcm-scrubbed` that was built beside this one gives a column, which wipes and so takes longer, unless this build wipes, too.
#[test]
fn its_cost_has_a_column() {
    let scrubbed = Path::new(PROGRAM).with_file_name("fastgcm-scrubbed");
    if !scrubbed.is_file() {
        return println!("{} is not built: `cargo build -p fastgcm-scrubbed` builds it", scrubbed.display());
    }
    let bench = Bench::new();
    let elsewhere = bench.path("fastgcm-study");
    copy_program(&elsewhere);
    let best = Backend::detect();
    // Found beside it, and on the PATH.
    for results in [measured(PROGRAM, Path::new("/nowhere")), measured(&elsewhere, scrubbed.parent().unwrap())] {
        let note = &results.machine.notes[0];
        assert!(
            note.starts_with(OWN) && note.ends_with(&format!("`{best} with scrub`: with it, by the program fastgcm-scrubbed")),
            "{note}"
        );
        for case in &results.cases {
            let [own, scrubbed] = [best.to_string(), format!("{best} with scrub")].map(|name| case.by(&name).unwrap());
            assert_eq!(own.samples_ns.len(), scrubbed.samples_ns.len());
        }
    }
    let build = if SCRUB { "that_has_it" } else { "without_it" };
    println!("scrub::its_cost_has_a_column_in_a_build_{build} ok 2");
}
