//! The machine on which a run measured.

use std::{env::consts, thread};

/// A description of the machine and of the program that measured.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The processor's name and numbers from Linux, or the architecture elsewhere.
    pub processor: String,
    /// Architecture and system, for example `x86_64 linux`.
    pub target: String,
    /// The number of threads that can run at once.
    pub cores: usize,
    /// The core to which the run was pinned.
    pub pinned_to: Option<usize>,
    /// The measuring program and its version.
    pub program: String,
    /// Notes for the reader, for example the versions of rivals.
    pub notes: Vec<String>,
}

impl Machine {
    /// Describes this machine.
    pub fn here(program: impl Into<String>) -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            processor: processor(&info).unwrap_or_else(|| consts::ARCH.into()),
            target: format!("{} {}", consts::ARCH, consts::OS),
            cores: thread::available_parallelism().map_or(1, usize::from),
            program: program.into(),
            ..Self::default()
        }
    }

    /// Returns the description as lines of a name and a value.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let pinned = self.pinned_to.map_or_else(String::new, |core| format!(", pinned to number {core}"));
        let mut lines = vec![
            ("processor", self.processor.clone()),
            ("target", format!("{}, {} cores{pinned}", self.target, self.cores)),
            ("program", self.program.clone()),
        ];
        lines.extend(self.notes.iter().map(|note| ("note", note.clone())));
        lines
    }
}

/// Returns the name of the first processor in `/proc/cpuinfo`, with family and model, because the name of a virtual one says little.
fn processor(info: &str) -> Option<String> {
    let field = |name: &str| {
        let value = info.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == name)?.1.trim();
        (!value.is_empty()).then_some(value)
    };
    let name = field("model name").or_else(|| field("CPU part"))?;
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => Some(format!("{name} (family {family}, model {model})")),
        _ => Some(name.into()),
    }
}

/// Pins this thread to its current core, so that no migration falls into a sample. Returns the core, or `None` where this fails (outside of
/// Linux).
pub fn pin() -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        let core = rustix::thread::sched_getcpu();
        let mut set = rustix::thread::CpuSet::new();
        set.set(core);
        rustix::thread::sched_setaffinity(None, &set).ok().map(|()| core)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let x86 = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2 GHz\n\nprocessor\t: 1\nmodel name\t: Other\n";
        assert_eq!(processor(x86).as_deref(), Some("Some CPU @ 2 GHz (family 6, model 85)"));
        assert_eq!(processor("processor\t: 0\nCPU part\t: 0xd40\n").as_deref(), Some("0xd40"));
        assert_eq!((processor(""), processor("model name\t:\n")), (None, None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn pinned_thread_stays() {
        thread::spawn(|| {
            let core = pin().unwrap();
            assert!((0..1000).all(|_| rustix::thread::sched_getcpu() == core));
            assert_eq!(thread::available_parallelism().unwrap().get(), 1);
        })
        .join()
        .unwrap();
    }
}
