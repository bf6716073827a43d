//! Other machines: `cargo xtask cross` installs what it needs (Debian and root) and runs the library's tests there, under qemu, node or wine.
//!
//! A processor is emulated exactly, not quickly: what this page proves is that the answers are right and that each processor gets a row that it can
//! run. Nothing here says how fast any of them is.
//!
//! **Detection never lies**: `tests/machine.rs` runs on many processors, and on some that lack a single feature (a hypervisor may take away any bit).
//! Each run must give right answers on exactly the rows that the processor's features allow. qemu's own emulation has neither VPCLMULQDQ nor AVX-512,
//! so the rows that need them must be refused everywhere here; the check `emulated` runs those.

use crate::{
    machines::{MACHINES, Machine},
    tools::{full, need, output, run as type_in, sh},
};
use anyhow::{Result, bail, ensure};
use fs_err as fs;
use std::path::{Path, PathBuf};

/// Bits of `AT_HWCAP` on AArch64 (<asm/hwcap.h>).
const HWCAP: [(&str, u64); 3] = [("aes", 1 << 3), ("pmull", 1 << 4), ("sha3", 1 << 17)];

/// Those named, or all.
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

/// Behind a processor: the compiler may believe what rustc says of it. (In the full run: the library is built once more.)
const BUILT_FOR_IT: &str = " built for it";

/// Behind a processor: the compiler may use that feature.
const BUILT_WITH: &str = " built with ";

/// How tests of the library are built.
const TEST: &str = "test -p fastgcm --features draft,hazmat";

/// Where those builds are.
fn here(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("cross")
}

impl Machine {
    fn run(&self, root: &Path) -> Result<()> {
        fs::create_dir_all(here(root))?;
        let programs = self.needs.iter().chain([&self.linker]).filter(|program| **program != "rust-lld");
        programs.into_iter().try_for_each(|program| need(root, program, self.packages))?;
        type_in(&here(root), self.prepare)?;
        let processors: Vec<(&str, &str)> =
            self.processors().filter(|(processor, _)| full() || !processor.ends_with(BUILT_FOR_IT)).collect();
        let Some((first, _)) = processors.first() else {
            type_in(root, &self.cargo(root, "", "build -p fastgcm --no-default-features"))?;
            return Ok(());
        };
        for (processor, rows) in processors.iter().rev() {
            let said =
                output(&mut sh(root, &self.cargo(root, processor, &format!("{TEST} --test machine -- --nocapture --test-threads=1"))))?;
            let row = |line: &str| Some(line.strip_prefix("machine ")?.split_once(" yes ")?.0.to_owned());
            let found: Vec<String> = said.lines().filter_map(row).collect();
            let expected: Vec<&str> = rows.split(' ').filter(|row| !row.is_empty()).chain(["portable"]).collect();
            ensure!(*rows == "*" || found == expected, "{} {processor}: rows {found:?}, not {expected:?}\n{said}", self.name);
            println!("{} {processor}: {}", self.name, found.join(" "));
        }
        match self.name {
            "x86" => {}
            "aarch64" => {
                // All of the library's tests. In the full run also those inside the library, which take the compiler minutes, and what is very long: 8 MiB
                // of chunks; 512 MiB of AAD, of a text, of a nonce.
                let tests = if full() { "" } else { "--test '*' -- --skip of_more_bits_than_32 --skip very_long_lists" };
                type_in(root, &self.cargo(root, first, &format!("{TEST} {tests}")))?;
                let step = "--quiet --release -p fastgcm-step --example";
                type_in(root, &self.cargo(root, first, &format!("build {step} secrets")))?;
                // The known answers have more of the library in them.
                let programs = "release/examples/secrets $(ls -t debug/deps/known_answers-* | grep -v '[.]d$' | head -n 1)";
                let compare = format!("cargo run {step} aarch64 --manifest-path '{}/Cargo.toml'", root.display());
                type_in(&here(root).join(self.triple), &format!("{compare} -- {programs}"))?;
            }
            _ => {
                let files = ["known_answers", "every_length", "guard_pages"];
                let files = &files[..if self.triple.contains("-linux-") { 3 } else { 2 }];
                let tests: String = files.iter().map(|file| format!("--test {file} ")).collect();
                type_in(root, &self.cargo(root, first, &format!("{TEST} {tests}")))?;
            }
        }
        Ok(())
    }

    /// A line that runs Cargo for this machine, and programs on that processor of it. The standard library is rustup's; where rustup's server cannot be
    /// reached, Debian's compiler makes one from its sources (but for WebAssembly's, which wants a C library that Debian has not).
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
        let here = here(root).display().to_string();
        let runner = format!("timeout 1800 {lacking}{}", self.runner.replace("CPU", cpu).replace("HERE", &here));
        let (triple, linker, variable) =
            (self.triple, self.linker, format!("CARGO_TARGET_{}", self.triple.to_uppercase().replace('-', "_")));
        format!(
            "cargo=cargo
            if ! [ -e $(rustc --print sysroot)/lib/rustlib/{triple} ] && ! rustup target add {triple}; then
                '{}/.ci/need' - rustc-web rust-web-src >&2
                export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1 cargo='cargo -Zbuild-std'
            fi
            export CARGO_BUILD_TARGET={triple} CARGO_TARGET_DIR='{here}' {variable}_LINKER={linker} {variable}_RUNNER='{runner}' FASTGCM_QUICK=1 FASTGCM_EMULATED=1
            if [[ {triple} = *-linux-gnu && {triple} != x86_64-* ]]; then export {variable}_RUSTFLAGS='-C target-feature=+crt-static{flags}'
            elif [ -n '{flags}' ]; then export {variable}_RUSTFLAGS='{flags}'; fi
            unset FASTGCM_FULL # gigabytes
            $cargo {arguments}",
            root.display()
        )
    }
}
