//! Which calls of fastgcm are proved from machine code, and what else `cargo xtask prove` runs: the engine is `tools/prove`, and docs/proof.md says what it
//! does.
//!
//! `fastgcm-prove [PROGRAM[=ARGUMENT]...]... [--quick|--all|--wiped] [--shard I/N] [--stop] [--row R,R] [--verb V [--key ..] [--nonce ..] [--aad ..] [--text ..] [--every-cut]] [--seed N]`
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod checks;
mod controls;
mod plan;

use gcm_prove::{
    statement::calls::Subject,
    statement::plan::{Lengths, asked},
    targets::table::{self, Options},
    values::random::drawn,
};
use plan::How;
use std::{collections::HashMap, process::ExitCode};

fn main() -> ExitCode {
    match work() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn work() -> Result<usize, String> {
    if let Some(failed) = checks::asked(&std::env::args().skip(1).collect::<Vec<_>>(), drawn) {
        return failed;
    }
    let mut programs = Vec::new();
    let mut options: HashMap<String, String> = HashMap::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("--") {
            Some(flag @ ("quick" | "all" | "every-cut" | "wiped" | "stop")) => drop(options.insert(flag.into(), String::new())),
            Some(name @ ("row" | "verb" | "key" | "nonce" | "aad" | "text" | "seed" | "shard")) => {
                let value = arguments.next().ok_or_else(|| format!("--{name} wants a value"))?;
                options.insert(name.into(), value);
            }
            Some(name) => return Err(format!("--{name} is not known")),
            None => programs.push(argument),
        }
    }
    if !is_x86_feature_detected!("pclmulqdq") {
        return Err("this processor has no carry-less multiplication".into());
    }
    let lengths = Lengths::of(&options)?;
    let seed = match options.get("seed") {
        Some(seed) => seed.parse().map_err(|_| "--seed wants a number")?,
        None => drawn()?,
    };
    println!("points drawn from seed {seed}");
    if programs.is_empty() {
        // What is built with this program lies beside it.
        let own = std::env::current_exe().map_err(|e| e.to_string())?;
        programs.push(own.with_file_name("fastgcm-proved").display().to_string());
    }
    let wiped = options.contains_key("wiped");
    let how = match wiped {
        true => How::Wiped,
        false if options.contains_key("quick") => How::Quick,
        false if options.contains_key("all") => How::All,
        false => How::Default,
    };
    let shard = match options.get("shard") {
        Some(shard) => shard
            .split_once('/')
            .and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok().filter(|&n| n > 0)?)))
            .ok_or("--shard is written like 1/20")?,
        None => (1, 1),
    };
    let (mut failed, mut in_all) = (0, 0);
    for program in &programs {
        let mut words = program.split('=').map(str::to_owned);
        let program = words.next().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        let subject = Subject::start(name, program.as_ref(), &words.collect::<Vec<_>>())?;
        let rows = plan::rows(&subject, options.get("row").map(String::as_str)).ok_or("--row: there is no such row")?;
        let mut groups = match options.get("verb") {
            Some(verb) => {
                let of_row = |&row: &usize| {
                    let texts = if lengths.texts.is_empty() { plan::near(row) } else { lengths.texts.clone() };
                    asked(&subject, row, verb, &Lengths { texts, ..lengths.clone() }, options.contains_key("every-cut"))
                };
                rows.iter().flat_map(of_row).collect()
            }
            None => plan::plan(&subject, &rows, how),
        };
        if !options.contains_key("verb") {
            for few in plan::too_few(&subject, &rows, how, &groups) {
                println!("FAILED {few}");
                failed += 1;
            }
        }
        plan::part(&mut groups, shard);
        if groups.is_empty() {
            continue;
        }
        in_all += groups.len();
        failed += table::run(&subject, &groups, seed, Options { wiped, stop: options.contains_key("stop") });
    }
    if in_all == 0 { Err("nothing is asked for: no program has such a verb or takes such lengths".into()) } else { Ok(failed) }
}
