//! `cargo xtask cross`: runs the library's tests for other machines, under qemu, node or wine. It installs what it needs (Debian and root).
//!
//! Emulation is exact, not fast: these tests prove that the answers are right and that each processor gets a row that it can run. They say
//! nothing of speed.
//!
//! **Detection is exact**: `tests/machine.rs` runs on many processors, and on some that lack a single feature (a hypervisor may remove any bit).
//! Each run must give right answers on exactly the rows that the processor's features allow. qemu's own emulation has neither VPCLMULQDQ nor
//! AVX-512, so the rows that need them must be refused here; the check `emulated` runs those.

use crate::{
    machines::{MACHINES, Machine},
    tools::{self, full, need, run as run_line, sh},
};
use anyhow::{Result, bail, ensure};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Bits of `AT_HWCAP` on AArch64 (<asm/hwcap.h>).
const HWCAP: [(&str, u64); 3] = [("aes", 1 << 3), ("pmull", 1 << 4), ("sha3", 1 << 17)];

/// Runs the named machines, or all.
pub(crate) fn run(root: &Path, names: &[String]) -> Result<()> {
    if let Some(name) = names.iter().find(|name| MACHINES.iter().all(|machine| machine.name != **name)) {
        bail!("xtask/src/machines.rs has no `{name}`");
    }
    let readme = fs::read_to_string(root.join("README.md"))?;
    let is_named = |machine: &Machine| readme.contains(&format!("`{}`", machine.triple));
    ensure!(MACHINES.iter().all(is_named), "README.md does not say how each machine of xtask/src/machines.rs is tested");
    let wanted = |machine: &&Machine| names.is_empty() || names.iter().any(|name| name == machine.name);
    MACHINES.iter().filter(wanted).try_for_each(|machine| machine.run(root))
}

/// The suffix of a processor whose features the compiler may use. (In the full run, which builds the library once more.)
const BUILT_FOR_IT: &str = " built for it";

/// The suffix of a processor before a single feature that the compiler may use.
const BUILT_WITH: &str = " built with ";

/// The arguments of Cargo for tests of the library.
const TEST: &str = "test -p fastgcm --features draft,hazmat";

/// Returns the folder of these builds.
fn build_folder(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("cross")
}

impl Machine {
    fn run(&self, root: &Path) -> Result<()> {
        fs::create_dir_all(build_folder(root))?;
        let programs = self.needs.iter().chain([&self.linker]).filter(|program| **program != "rust-lld");
        programs.into_iter().try_for_each(|program| need(root, program, self.packages))?;
        run_line(&build_folder(root), self.prepare)?;
        let processors: Vec<(&str, &str)> =
            self.processors().filter(|(processor, _)| full() || !processor.ends_with(BUILT_FOR_IT)).collect();
        let Some((first, _)) = processors.first() else {
            run_line(root, &self.cargo(root, "", "build -p fastgcm --no-default-features"))?;
            return Ok(());
        };
        for (processor, rows) in processors.iter().rev() {
            let output = tools::output(&mut sh(
                root,
                &self.cargo(root, processor, &format!("{TEST} --test machine -- --nocapture --test-threads=1")),
            ))?;
            let row = |line: &str| Some(line.strip_prefix("machine ")?.split_once(" yes ")?.0.to_owned());
            let found: Vec<String> = output.lines().filter_map(row).collect();
            let expected: Vec<&str> = rows.split(' ').filter(|row| !row.is_empty()).chain(["portable"]).collect();
            ensure!(*rows == "*" || found == expected, "{} {processor}: rows {found:?}, not {expected:?}\n{output}", self.name);
            println!("{} {processor}: {}", self.name, found.join(" "));
        }
        match self.name {
            "x86" => {}
            "aarch64" => {
                // All of the library's tests in the full run; otherwise those of each verb on each row, without 8 MiB of chunks.
                let some = ["known_answers", "api", "every_length", "guard_pages", "memory", "once", "batch", "pieces", "lists", "siv"];
                let some: String = some.iter().map(|file| format!("--test {file} ")).collect();
                let tests = if full() { String::new() } else { some + "-- --skip very_long_lists" };
                run_line(root, &self.cargo(root, first, &format!("{TEST} {tests}")))?;
                let step = "--quiet --release -p fastgcm-asm --example";
                run_line(root, &self.cargo(root, first, &format!("build {step} secrets")))?;
                // The known answers use more of the library.
                let programs = "release/examples/secrets $(ls -t debug/deps/known_answers-* | grep -v '[.]d$' | head -n 1)";
                let compare = format!("cargo run {step} aarch64 --manifest-path '{}/Cargo.toml'", root.display());
                run_line(&build_folder(root).join(self.triple), &format!("{compare} -- {programs}"))?;
            }
            _ => {
                let files = ["known_answers", "every_length", "guard_pages"];
                let files = &files[..if self.triple.contains("-linux-") { 3 } else { 2 }];
                let tests: String = files.iter().map(|file| format!("--test {file} ")).collect();
                run_line(root, &self.cargo(root, first, &format!("{TEST} {tests}")))?;
            }
        }
        Ok(())
    }

    /// Returns a line that runs Cargo for this machine, and programs on this processor. The standard library is rustup's; where rustup's server
    /// cannot be reached, Debian's compiler builds it from its sources (except WebAssembly's, which needs a C library that Debian lacks).
    fn cargo(&self, root: &Path, processor: &str, arguments: &str) -> String {
        let (cpu, flags) = match processor.strip_suffix(BUILT_FOR_IT) {
            Some(processor) => (processor, format!(" -C target-cpu={}", processor.split(' ').next().unwrap_or_default())),
            None => (processor, String::new()),
        };
        let (cpu, flags) = match cpu.split_once(BUILT_WITH) {
            Some((cpu, feature)) => (cpu, format!(" -C target-feature=+{feature}")),
            None => (cpu, flags),
        };
        let (cpu, lacking) = cpu.split_once(" lacking ").unwrap_or((cpu, ""));
        let bits = HWCAP.iter().find(|(name, _)| *name == lacking);
        let lacking = bits.map_or(String::new(), |(_, bits)| format!("{}/lab/emulate/lacking.sh {bits} ", root.display()));
        let build_folder = build_folder(root).display().to_string();
        let runner = format!("timeout 1800 {lacking}{}", self.runner.replace("CPU", cpu).replace("HERE", &build_folder));
        let (triple, linker, variable) =
            (self.triple, self.linker, format!("CARGO_TARGET_{}", self.triple.to_uppercase().replace('-', "_")));
        format!(
            "cargo=cargo
            if ! [ -e $(rustc --print sysroot)/lib/rustlib/{triple} ] && ! rustup target add {triple}; then
                '{}/.ci/need' - rustc-web rust-web-src >&2
                export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1 cargo='cargo -Zbuild-std'
            fi
            export CARGO_BUILD_TARGET={triple} CARGO_TARGET_DIR='{build_folder}' {variable}_LINKER={linker} {variable}_RUNNER='{runner}' FASTGCM_QUICK=1 FASTGCM_EMULATED=1
            if [[ {triple} = *-linux-gnu && {triple} != x86_64-* ]]; then export {variable}_RUSTFLAGS='-C target-feature=+crt-static{flags}'
            elif [ -n '{flags}' ]; then export {variable}_RUSTFLAGS='{flags}'; fi
            unset FASTGCM_FULL # gigabytes
            $cargo {arguments}",
            root.display()
        )
    }
}
