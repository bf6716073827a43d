//! `fastgcm cpu`

use crate::{cli, failure::Failure, print};
use fastgcm_file::Backend;
use std::{collections::BTreeMap, fmt::Write};

/// Shows the features that matter, the back ends, and which of them is used.
pub(crate) fn run(args: &cli::Cpu) -> Result<(), Failure> {
    let used = args.machine.backend()?;
    // Each feature that any back end needs, and whether it is there.
    let features: BTreeMap<_, _> = Backend::ALL.iter().flat_map(|backend| backend.features()).collect();
    print(if args.json { json(used, &features) } else { text(used, &features) })
}

fn text(used: Backend, features: &BTreeMap<&str, bool>) -> String {
    let list = |wanted: bool| {
        let names: Vec<_> = features.iter().filter(|(_, here)| **here == wanted).map(|(name, _)| *name).collect();
        if names.is_empty() { "none".into() } else { names.join(" ") }
    };
    let mut text = format!("features   {}\nmissing    {}\n\nback ends\n", list(true), list(false));
    for &backend in Backend::ALL {
        let state = match (backend == used, backend.is_available()) {
            (true, _) => "in use",
            (false, true) => "available",
            (false, false) => "not on this machine",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {backend:<13}  {state}");
    }
    text
}

/// All names are plain ASCII without quotes, so nothing has to be escaped.
fn json(used: Backend, features: &BTreeMap<&str, bool>) -> String {
    let features: Vec<_> = features.iter().map(|(name, here)| format!("\"{name}\":{here}")).collect();
    let backends: Vec<_> = Backend::ALL
        .iter()
        .map(|backend| {
            let needs: Vec<_> = backend.features().map(|(name, _)| format!("\"{name}\"")).collect();
            format!("{{\"name\":\"{backend}\",\"available\":{},\"needs\":[{}]}}", backend.is_available(), needs.join(","))
        })
        .collect();
    format!("{{\"features\":{{{}}},\"backends\":[{}],\"in_use\":\"{used}\"}}\n", features.join(","), backends.join(","))
}
