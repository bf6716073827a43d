//! `fastgcm bench`: every back end of this machine, and the system's libcrypto, measured in turn.

#[allow(unsafe_code, reason = "functions of another library can be called in no other way")]
pub(crate) mod libcrypto;

use crate::{
    cli,
    failure::{Code, Failure},
    print,
    progress::Progress,
    results::{Files, Form, failed},
};
use fastgcm::{Backend, Key, Tag};
use fastgcm_measure::{
    Machine, Results, Sampler,
    aead::{self, AnyImplementation, Buffers, NonceFrom, Verb, Work},
    chart, csv, html, json, pin, text,
};
use libcrypto::Libcrypto;
use std::{collections::BTreeMap, time::Duration};

/// Compares answers, then speed. What stands in the way of the files is noticed before anything is measured.
pub(crate) fn run(args: &cli::Bench) -> Result<(), Failure> {
    let files = plan(args)?;
    let back_ends: Vec<_> = args.back_ends()?.into_iter().map(Ours).collect();
    let rival = rival(args)?;
    let mut implementations: Vec<&dyn AnyImplementation> = Vec::new();
    implementations.extend(rival.iter().map(|rival| rival as &dyn AnyImplementation));
    implementations.extend(back_ends.iter().map(|back_end| back_end as &dyn AnyImplementation));
    let compared = aead::check(&implementations).map_err(|error| Failure::new(Code::SelfTest, error))?;

    let mut results = Results::new(machine(rival.as_ref(), compared));
    results.base = rival.iter().map(aead::Implementation::name).collect();
    measure(args, &implementations, &mut results);

    if !files.take_stdout() {
        print(text(&results))?;
    }
    files.write(&results)
}

/// A back end of ours.
struct Ours(Backend);

/// A key as a caller has it, by value. (In a box, to be derived in place, making one takes 90 ns more: that much costs the heap.)
struct OurKey(Key);

impl aead::Implementation for Ours {
    type Key = OurKey;

    fn name(&self) -> String {
        self.0.to_string()
    }

    fn key(&self, key: &[u8]) -> Option<OurKey> {
        Key::with_backend(key, self.0).ok().map(OurKey)
    }
}

impl aead::Key for OurKey {
    #[inline(always)]
    fn seal(&mut self, nonce: &[u8; 12], aad: &[u8], text: &mut [u8]) -> [u8; 16] {
        // Nothing that is measured here is too long; if it were, the answers would have differed.
        self.0.seal(nonce, aad, text).map_or([0; 16], |tag| tag.0)
    }

    #[inline(always)]
    fn open(&mut self, nonce: &[u8; 12], aad: &[u8], ciphertext: &[u8], text: &mut [u8], tag: &[u8; 16]) -> bool {
        self.0.open_detached_to(nonce, aad, ciphertext, text, &Tag(*tag)).is_ok()
    }
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

fn machine(rival: Option<&Libcrypto>, compared: usize) -> Machine {
    let mut machine = Machine::here(concat!("fastgcm ", env!("CARGO_PKG_VERSION")));
    machine.pinned_to = pin();
    let features: BTreeMap<_, _> = Backend::ALL.iter().flat_map(|backend| backend.features()).collect();
    machine.features = features.into_iter().filter(|(_, here)| *here).map(|(name, _)| name.into()).collect();
    machine.notes.push(match rival {
        Some(rival) => format!("times: how many times faster than {}", rival.version()),
        None => "times: how many times as fast as the fastest back end; there is no libcrypto to compare with".into(),
    });
    machine.notes.push(format!("{compared} answers, each compared with that of the others"));
    machine
}

/// Key set-up; a key and one message, as by who keeps no keys; messages.
fn measure(args: &cli::Bench, implementations: &[&dyn AnyImplementation], results: &mut Results) {
    let works = works(args);
    let buffers = Buffers::new(works.iter().map(|work| work.bytes).max().unwrap_or(0), args.aad);
    let rounds = if args.quick { 5..=40 } else { 10..=400 };
    let budget = Duration::from_secs_f64(args.seconds() / works.len() as f64);
    let sampler = Sampler { rounds, budget, ..Sampler::default() };
    let progress = Progress::work(args.results.quiet, works.len());
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
