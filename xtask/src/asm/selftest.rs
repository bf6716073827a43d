//! `cargo xtask asm --selftest`: faults planted in a copy of the library, each of which leaves every answer right or nearly so, and each of
//! which must be found. Two copies, about as long as two builds.

use super::{Change, Found, Table};
use crate::{package::step, planted::Patch};
use std::{fs, path::Path, process::Command};

/// How a fault must show.
enum Shows {
    /// In a line about a row that has both.
    AsFault(&'static str, &'static str),
    /// In more than the table has of kind, row, part and name.
    AsGrowth([&'static str; 4]),
}

/// Faults that can be told apart in one copy.
struct Copy {
    /// What is planted in it, by its name in `xtask/faults/asm.patch`.
    patch: &'static str,
    flags: &'static str,
    faults: &'static [(&'static str, Shows)],
}

const COPIES: &[Copy] = &[
    Copy {
        patch: "asm-numbers",
        flags: "",
        faults: &[
            ("a target feature less: intrinsics are calls", Shows::AsFault("aesni-avx", "core_arch")),
            ("16 live vectors more: spills in the bulk loop", Shows::AsGrowth(["code", "vaes-avx512", "seal_long", "spills"])),
            ("a reduction more each turn, by its code", Shows::AsGrowth(["code", "vaes-avx512", "open_long", "clmul"])),
            ("a reduction more each turn, by a message", Shows::AsGrowth(["message", "aesni-sse", "seal,16,16384", "clmul"])),
            ("a table load more each turn", Shows::AsGrowth(["message", "aesni-sse", "open,32,4096", "loads"])),
            ("more code in the bulk loop, by its cache lines", Shows::AsGrowth(["message", "vaes-avx512", "seal,16,16384", "code-lines"])),
            ("more instructions for both", Shows::AsGrowth(["message", "aesni-sse", "seal,16,16384", "instructions"])),
        ],
    },
    Copy {
        patch: "asm-features",
        flags: "-C llvm-args=-x86-use-vzeroupper=0",
        faults: &[
            ("AVX512DQ enabled", Shows::AsFault("vaes-avx512 seal", "avx512dq")),
            ("no vzeroupper, 256 bits", Shows::AsFault("vaes-avx2 seal", "no vzeroupper")),
            ("no vzeroupper, 512 bits", Shows::AsFault("vaes-avx512 open_long", "no vzeroupper")),
        ],
    },
];

pub(super) fn run(root: &Path, table: &Path) -> Result<(), String> {
    let Some(table) = Table::read(table)? else {
        println!("SKIPPED asm_selftest: no table for this compiler, so nothing can be seen to grow");
        return Ok(());
    };
    let (target, patches) = (root.join("target/asm/planted"), Patch::read(&root.join("xtask/faults/asm.patch"))?);
    let mut caught = 0;
    for copy in COPIES {
        let patch = patches.iter().find(|patch| patch.name == copy.patch).ok_or(format!("asm.patch has no {}", copy.patch))?;
        plant(root, &target, patch)?;
        let found = Found::of(&target, &target.join("target"), copy.flags)?;
        let changes = table.changes(&found.table);
        for (what, shows) in copy.faults {
            let line = match shows {
                Shows::AsFault(row, words) => found.faults.iter().find(|line| line.starts_with(row) && line.contains(words)).cloned(),
                Shows::AsGrowth(key) => {
                    let grown =
                        |change: &&Change| change.key.iter().zip(key).all(|(a, b)| a == b) && change.new.is_some() && change.fails();
                    changes.iter().find(grown).map(Change::show)
                }
            };
            let line = line.ok_or_else(|| format!("planted and not found: {what}\n{}", found.faults.join("\n")))?;
            println!("caught: {what}\n        {}", line.chars().take(160).collect::<String>());
            caught += 1;
        }
    }
    println!("asm_selftest ok {caught}");
    Ok(())
}

/// A workspace of the library and the probe, with that planted.
fn plant(root: &Path, target: &Path, patch: &Patch) -> Result<(), String> {
    const KEPT: [&str; 3] = ["crates/fastgcm", "lab/model", "xtask/probe"];
    let failed = |e: std::io::Error| format!("{}: {e}", target.display());
    for folder in KEPT {
        let to = target.join(folder);
        let _ = fs::remove_dir_all(&to);
        fs::create_dir_all(&to).map_err(failed)?;
        step(Command::new("cp").arg("-r").arg(root.join(folder).join(".")).arg(to))?;
    }
    for file in ["Cargo.lock", "lab/Cargo.toml"] {
        fs::copy(root.join(file), target.join(file)).map_err(failed)?;
    }
    let manifest = fs::read_to_string(root.join("Cargo.toml")).map_err(failed)?;
    let member = |line: &str| line.trim().strip_prefix('"').and_then(|line| line.split('"').next()).map(str::to_owned);
    let kept = manifest.lines().filter(|line| member(line).is_none_or(|path| path == "lab" || KEPT.contains(&path.as_str())));
    fs::write(target.join("Cargo.toml"), kept.collect::<Vec<_>>().join("\n")).map_err(failed)?;
    patch.changed(target)?.into_iter().try_for_each(|(path, text)| fs::write(path, text).map_err(failed))
}
