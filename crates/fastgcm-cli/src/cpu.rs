//! `fastgcm cpu`

use crate::{cli, failure::Failure, print};
use fastgcm_file::Backend;
use std::{collections::BTreeMap, env::consts, fmt::Write};

/// Shows the back ends for this kind of processor, what each needs from it, and which of them is used.
pub(crate) fn run(args: &cli::Cpu) -> Result<(), Failure> {
    let used = args.machine.backend()?;
    print(if args.json { json(used) } else { text(used) })
}

/// Returns the back ends for this kind of processor, which are compiled in, or the others.
fn back_ends(compiled: bool) -> impl Iterator<Item = Backend> {
    Backend::ALL.iter().copied().filter(move |backend| backend.is_compiled() == compiled)
}

fn text(used: Backend) -> String {
    let mut text = format!("back ends for {}\n", consts::ARCH);
    for backend in back_ends(true) {
        let state = match (backend == used, backend.is_available()) {
            (true, _) => "in use",
            (false, true) => "available",
            (false, false) => "not available",
        };
        let needs = backend.features().map(|(name, here)| format!("{name} {}", if here { "yes" } else { "no" })).collect::<Vec<_>>();
        let needs = if needs.is_empty() { "nothing".into() } else { needs.join(", ") };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {backend:<15} {state:<14} needs {needs}");
    }
    let others = back_ends(false).map(Backend::name).collect::<Vec<_>>().join(", ");
    text + &format!("for other processors: {others}\n")
}

/// All names are plain ASCII without quotes, so nothing must be escaped.
fn json(used: Backend) -> String {
    // Each feature that any back end for this kind of processor needs, and whether it is there.
    let features: BTreeMap<_, _> = back_ends(true).flat_map(Backend::features).collect();
    let features: Vec<_> = features.iter().map(|(name, here)| format!("\"{name}\":{here}")).collect();
    let backends = Backend::ALL.iter().map(|backend| {
        let needs = backend.features().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(",");
        let (available, compiled) = (backend.is_available(), backend.is_compiled());
        format!("{{\"name\":\"{backend}\",\"available\":{available},\"compiled\":{compiled},\"needs\":[{needs}]}}")
    });
    let backends = backends.collect::<Vec<_>>().join(",");
    let arch = consts::ARCH;
    format!("{{\"arch\":\"{arch}\",\"features\":{{{}}},\"backends\":[{backends}],\"in_use\":\"{used}\"}}\n", features.join(","))
}
