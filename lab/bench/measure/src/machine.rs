//! What it was measured on.

use std::{env::consts, thread};

/// A description of the machine and of the program that measured.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The processor's name and numbers, as Linux tells them; elsewhere the architecture.
    pub processor: String,
    /// `x86_64 linux`, for example.
    pub target: String,
    /// How many threads can run at once.
    pub cores: usize,
    /// The core that everything ran on, if it was held to one.
    pub pinned_to: Option<usize>,
    /// What measured, with its version.
    pub program: String,
    /// Anything else that a reader should know, a line each: the versions of rivals, for example.
    pub notes: Vec<String>,
}

impl Machine {
    /// This one.
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

    /// All of it, as lines of a name and a value.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let pinned = self.pinned_to.map_or_else(String::new, |core| format!(", held to number {core}"));
        let mut lines = vec![
            ("processor", self.processor.clone()),
            ("target", format!("{}, {} cores{pinned}", self.target, self.cores)),
            ("program", self.program.clone()),
        ];
        lines.extend(self.notes.iter().map(|note| ("note", note.clone())));
        lines
    }
}

/// The name of the first processor in `/proc/cpuinfo`, with family and model: the name of a virtual one says little.
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

/// Holds this thread to the core that it runs on, so that no move to another falls into a sample, and says which that is. `None` where
/// that cannot be done (it is Linux that can).
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
    fn pinned_it_stays() {
        thread::spawn(|| {
            let core = pin().unwrap();
            assert!((0..1000).all(|_| rustix::thread::sched_getcpu() == core));
            assert_eq!(thread::available_parallelism().unwrap().get(), 1);
        })
        .join()
        .unwrap();
    }
}
