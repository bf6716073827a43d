//! `cargo xtask asm --selftest`: faults planted in a copy of the library, each of which leaves every answer right or nearly so, and each of
//! which must be found. Two copies, about as long as two builds.

use super::{Change, Found, Table};
use std::{fs, path::Path};

/// A change to one file of the library: it must be possible, or the test says so.
struct Plant(&'static str, &'static str, &'static str);

/// How a fault must show.
enum Shows {
    /// In a line about a row that has both.
    AsFault(&'static str, &'static str),
    /// In more than the table has of kind, row, part and name.
    AsGrowth([&'static str; 4]),
}

/// Faults that can be told apart in one copy.
struct Copy {
    flags: &'static str,
    plants: &'static [Plant],
    faults: &'static [(&'static str, Shows)],
}

const COPIES: &[Copy] = &[
    Copy {
        flags: "",
        plants: &[
            Plant("isa/x86.rs", r#"AesAvx, face_pays 32 << 10, "aes,pclmulqdq,"#, r#"AesAvx, face_pays 32 << 10, "aes,"#),
            Plant("backend.rs", r#""aes,pclmulqdq,ssse3,sse4.1,avx""#, r#""aes,ssse3,sse4.1,avx""#),
            Plant(
                "gcm/turn.rs",
                "let (nothing, zero) =",
                "let mut extra = [s.splat(schedule.keys[0]); 16];
                 each!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => { s.pin(&mut extra[I]); });
                 let (nothing, zero) =",
            ),
            Plant(
                "gcm/turn.rs",
                "sum = M::add3(s, sum, sums[6], sums[7]);",
                "sum = M::add3(s, sum, sums[6], sums[7]);
                 each!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 => { s.pin(&mut extra[I]); });",
            ),
            Plant(
                "gcm/turn.rs",
                "M::reduce(s, sum, s.splat(self.powers.turn_constant(s)))",
                "let hash = M::reduce(s, sum, s.splat(self.powers.turn_constant(s)));
                 let (first, second) = self.powers.down_from(s, S::BLOCKS).splat();
                 M::reduce(s, M::product(s, M::ready(s, hash, first, second)), hash)",
            ),
            Plant(
                "gcm/turn.rs",
                "let (first, second) = self.powers.down_from(s, S::BLOCKS * (8 - I)).splat();",
                "let (first, second) = self.powers.down_from(s, S::BLOCKS * (8 - I)).splat();
                 let second = s.xor(second, self.powers.down_from(s, S::BLOCKS * (8 - I) + 1).splat().0);",
            ),
        ],
        faults: &[
            ("a target feature less: intrinsics are calls", Shows::AsFault("aesni-avx", "core_arch")),
            ("16 live vectors more: spills in the bulk loop", Shows::AsGrowth(["code", "vaes-avx512", "seal_long", "spills"])),
            ("a reduction more each turn, by its code", Shows::AsGrowth(["code", "vaes-avx512", "open_long", "clmul"])),
            ("a reduction more each turn, by a message", Shows::AsGrowth(["message", "aesni-sse", "seal,16,16384", "clmul"])),
            ("a table load more each turn", Shows::AsGrowth(["message", "aesni-sse", "open,32,4096", "loads"])),
            ("more instructions for both", Shows::AsGrowth(["message", "aesni-sse", "seal,16,16384", "instructions"])),
        ],
    },
    Copy {
        flags: "-C llvm-args=-x86-use-vzeroupper=0",
        plants: &[
            Plant("entry.rs", "fn seal(", "#[target_feature(enable = \"avx512dq\")]\nfn seal("),
            Plant("isa/x86.rs", "_mm512_inserti32x4::<3>", "_mm512_inserti64x2::<3>"),
        ],
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
    let target = root.join("target/asm/planted");
    let mut caught = 0;
    for copy in COPIES {
        plant(root, &target, copy.plants)?;
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

/// A workspace of the library and the probe, with these changes.
fn plant(root: &Path, target: &Path, plants: &[Plant]) -> Result<(), String> {
    const KEPT: [&str; 3] = ["crates/fastgcm", "lab/model", "xtask/probe"];
    let failed = |e: std::io::Error| format!("{}: {e}", target.display());
    for folder in KEPT {
        let _ = fs::remove_dir_all(target.join(folder));
        copy_folder(&root.join(folder), &target.join(folder)).map_err(failed)?;
    }
    fs::copy(root.join("Cargo.lock"), target.join("Cargo.lock")).map_err(failed)?;
    let manifest = fs::read_to_string(root.join("Cargo.toml")).map_err(failed)?;
    let member = |line: &str| line.trim().strip_prefix('"').and_then(|line| line.split('"').next()).map(str::to_owned);
    let kept = manifest.lines().filter(|line| member(line).is_none_or(|path| KEPT.contains(&path.as_str())));
    fs::write(target.join("Cargo.toml"), kept.collect::<Vec<_>>().join("\n")).map_err(failed)?;
    for Plant(file, from, to) in plants {
        let path = target.join("crates/fastgcm/src").join(file);
        let text = fs::read_to_string(&path).map_err(failed)?;
        if !text.contains(from) {
            return Err(format!("{file} has no `{from}` any more: the self-test must follow"));
        }
        fs::write(&path, text.replacen(from, to, 1)).map_err(failed)?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to.join(entry.file_name()))?;
        } else {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
