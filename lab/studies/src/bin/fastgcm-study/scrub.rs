//! What the library's feature `scrub` costs. One build has it or has it not, so the program `fastgcm-scrubbed`, which has it, is asked for its
//! samples in turn with everything else (`fastgcm_measure::process`).

use fastgcm::{Backend, internals::SCRUB};
use fastgcm_measure::process::Process;
use std::{
    env::{self, consts::EXE_SUFFIX},
    process::{Command, Stdio},
};

/// What is said at the head of a report without such a column.
pub(crate) fn note() -> String {
    let unified = "measured WITH `scrub`: Cargo unified the features of several packages. `-p fastgcm-studies` builds without";
    if SCRUB { unified.into() } else { "measured without `scrub`".into() }
}

/// The program beside this one or on the PATH, in its part as that contender, and what is said of it at the head of a report.
pub(crate) fn find(backend: Backend, name: String) -> (Option<Process>, String) {
    const WANTED: &str = concat!("fastgcm ", env!("CARGO_PKG_VERSION"), " with scrub");
    let program = format!("fastgcm-scrubbed{EXE_SUFFIX}");
    let beside = env::current_exe().map(|this| this.with_file_name(&program)).ok();
    let on_path = env::split_paths(&env::var_os("PATH").unwrap_or_default()).map(|folder| folder.join(&program)).collect::<Vec<_>>();
    let Some(program) = beside.into_iter().chain(on_path).find(|file| file.is_file()) else {
        return (
            None,
            format!("{}; nothing is shown with it: there is no program fastgcm-scrubbed beside this one or on the PATH", note()),
        );
    };
    let mut command = Command::new(program);
    let why = match Process::start(name.clone(), command.arg(backend.name()).stderr(Stdio::null())) {
        Ok(process) if process.version() == WANTED => {
            return (Some(process), format!("{}; column or row `{name}`: with it, by the program fastgcm-scrubbed", note()));
        }
        Ok(process) => format!("it is {}, not {WANTED}", process.version()),
        Err(why) => why,
    };
    (None, format!("{}; nothing is shown with it, since the program fastgcm-scrubbed does not serve: {why}", note()))
}
