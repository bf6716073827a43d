//! `bench`: every back end of this machine, and the system's libcrypto, measured in turn.

use crate::{
    cli,
    failure::{Code, Failure},
    libcrypto::Libcrypto,
    print,
    progress::Progress,
    results::{Files, Form, failed},
    scrub,
};
use fastgcm::Backend;
use fastgcm_measure::{
    Machine, Results, Sampler,
    aead::{self, AnyImplementation, Buffers, NonceFrom, Verb, Work},
    chart, csv, html, json, pin, text,
};
use fastgcm_studies::study::Library;
use std::{collections::BTreeMap, time::Duration};

/// Compares answers, then speed. What stands in the way of the files is noticed before anything is measured.
pub(crate) fn run(args: &cli::Bench) -> Result<(), Failure> {
    let files = plan(args)?;
    let back_ends: Vec<_> = args.back_ends()?.into_iter().map(|backend| Library { backend, name: backend.to_string() }).collect();
    let rival = rival(args)?;
    let mut machine = machine(rival.as_ref());
    machine.pinned_to = pin(); // and with this program, those that it starts
    let (best, others) = back_ends.split_first().ok_or_else(|| Failure::usage("there is no back end"))?;
    let (scrubbed, note) = scrub::find(best.backend, format!("{} with scrub", best.name));
    let mut implementations: Vec<&dyn AnyImplementation> = Vec::new();
    implementations.extend(rival.iter().map(|rival| rival as &dyn AnyImplementation));
    implementations.push(best);
    implementations.extend(scrubbed.iter().map(|scrubbed| scrubbed as &dyn AnyImplementation));
    implementations.extend(others.iter().map(|back_end| back_end as &dyn AnyImplementation));
    let compared = aead::check(&implementations).map_err(|error| Failure::new(Code::SelfTest, error))?;

    machine.notes.insert(0, note);
    machine.notes.push(format!("{compared} answers, each compared with that of the others"));
    let mut results = Results::new(machine);
    results.base = rival.iter().map(aead::Implementation::name).collect();
    measure(args, &implementations, &mut results);
    results.summary = summary(&results, best.backend.name());

    if !files.take_stdout() {
        print(&text(&results))?;
    }
    files.write(&results)
}

fn rival(args: &cli::Bench) -> Result<Option<Libcrypto>, Failure> {
    match &args.libcrypto {
        None => Ok(Libcrypto::find()),
        Some(file) if file.as_os_str() == "none" => Ok(None),
        Some(file) => match Libcrypto::load(file.as_os_str()) {
            Ok(library) => Ok(Some(library)),
            Err(error) => Err(Failure::usage(format_args!("{}: {error}", file.display()))),
        },
    }
}

fn machine(rival: Option<&Libcrypto>) -> Machine {
    let mut machine = Machine::here(concat!("fastgcm-study ", env!("CARGO_PKG_VERSION")));
    let features: BTreeMap<_, _> = Backend::ALL.iter().flat_map(|backend| backend.features()).collect();
    machine.features = features.into_iter().filter(|(_, here)| *here).map(|(name, _)| name.into()).collect();
    machine.notes.push(match rival {
        Some(rival) => format!("times: how many times faster than {}", rival.version()),
        None => "times: how many times as fast as the fastest back end; there is no libcrypto to compare with".into(),
    });
    machine
}

/// Key set-up; a key and one message, as by who keeps no keys; messages.
fn measure(args: &cli::Bench, implementations: &[&dyn AnyImplementation], results: &mut Results) {
    let works = works(args);
    let buffers = Buffers::new(works.iter().map(|work| work.bytes).max().unwrap_or(0), args.aad);
    let rounds = if args.quick { 5..=40 } else { 10..=400 };
    let budget = Duration::from_secs_f64(args.seconds() / works.len() as f64);
    let sampler = Sampler { rounds, budget, ..Sampler::default() };
    let progress = Progress::new(args.results.quiet, works.len());
    for (number, work) in works.into_iter().enumerate() {
        let case = work.case();
        progress.at(number as f64, &format!("{} {}", case.group, case.name));
        let mut contenders: Vec<_> = implementations.iter().filter_map(|one| one.contender(work, &buffers)).collect();
        results.cases.push(sampler.run(case, &mut contenders, &mut |part| progress.at(number as f64 + part, "")));
    }
}

fn works(args: &cli::Bench) -> Vec<Work> {
    let mut works = Vec::new();
    let aad = args.aad;
    for &key_bits in &args.key_bits {
        works.push(Work { verb: Verb::Key, key_bits, bytes: 0, aad, nonce: NonceFrom::Prepared });
    }
    for &key_bits in &args.key_bits {
        let all = |verb, sizes: &[usize]| {
            sizes.iter().map(move |&bytes| Work { verb, key_bits, bytes, aad, nonce: args.nonce.into() }).collect::<Vec<_>>()
        };
        works.extend(all(Verb::KeyAndSeal, &[16, 1420, 16384]));
        if args.seal || !args.open {
            works.extend(all(Verb::Seal, &args.sizes));
        }
        if args.open || !args.seal {
            works.extend(all(Verb::Open, &args.sizes));
        }
    }
    works
}

/// What a reader wants to know first: the best back end, and what it does with a message of 16 KiB, or the size that was asked for next to it.
fn summary(results: &Results, best: &str) -> String {
    let what = format!("The best back end of this processor is {best}.");
    let messages = results.cases.iter().filter(|one| ["seal,", "open,"].iter().any(|verb| one.case.group.split(' ').nth(1) == Some(verb)));
    let usual = messages.min_by_key(|one| one.case.bytes.unwrap_or(0).abs_diff(16384));
    let Some((measured, own)) = usual.and_then(|measured| Some((measured, measured.by(best)?))) else { return what };
    let (key, verb) = measured.case.group.split(',').next().and_then(|what| what.split_once(' ')).unwrap_or_default();
    let rival = results.base(measured).filter(|rival| rival.contender != best);
    let beside = rival.map(|rival| format!(", {:.1} times as fast as {}", own.times_faster_than(rival), rival.contender));
    format!(
        "{what} It {verb}s {} bytes with {key} in {:.0} ns, which is {:.1} GB/s{}.",
        measured.case.name,
        own.median_ns,
        measured.throughput(own).unwrap_or_default(),
        beside.unwrap_or_default()
    )
}

/// The forms that were asked for.
fn plan(args: &cli::Bench) -> Result<Files<Results>, Failure> {
    let forms: [(_, Form<Results>); 4] = [
        (&args.results.csv, |results| csv(results).map_err(failed)),
        (&args.results.json, |results| json(results).map_err(failed)),
        (&args.results.svg, |results| {
            let groups: Vec<_> = results.groups().into_iter().map(|(group, _)| group).collect();
            let drawn = chart::svg(results, &groups).map_err(failed)?;
            drawn.ok_or_else(|| Failure::usage("a chart needs two sizes that are not 0"))
        }),
        (&args.html, |results| html(results, "AES-GCM on this machine").map_err(failed)),
    ];
    Files::plan(forms, &args.results)
}
