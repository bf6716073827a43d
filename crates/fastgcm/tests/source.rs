//! What can be read off the source, because no machine at hand would show it.

#[path = "support/suite.rs"]
mod suite;

use fastgcm::Backend;
use std::{
    fs,
    path::{Path, PathBuf},
};
use suite::passed;

/// Every `asm!` of the library: the file, its template, how often it stands there. Most are empty but for a comment that names their
/// operand; two words become one by instructions that LLVM cannot take apart; AArch64's round is two instructions that must stay neighbours, its byte
/// swap one that LLVM would make two of. RISC-V has no intrinsics: one template takes the instructions of every operation, and the vector registers that it names are declared as changed; the
/// other asks the kernel, with the registers that a system call has. Those of feature `scrub`, which wipe registers, name all that a function
/// may change.
const BY_HAND: [(&str, &str, usize); 10] = [
    ("isa/scrub_x86.rs", "mov {}, rsp", 1),
    ("isa/scrub_x86.rs", "/* wipe */", 1),
    ("isa/x86.rs", "/*{0}*/", 4),
    ("isa/x86.rs", "shl {0}, 32", 1),
    ("isa/aarch64.rs", "/*{0:v}*/", 2),
    ("isa/aarch64.rs", "orr {0}, {1}, {0}, lsl #32", 1),
    ("isa/aarch64.rs", "tbl {out:v}.16b, {{ {v:v}.16b }}, {by:v}.16b", 1),
    ("isa/aarch64.rs", "aese {x:v}.16b, {key:v}.16b", 1),
    ("isa/riscv64.rs", ".option push", 1),
    ("isa/hwprobe.rs", "ecall", 1),
];

/// F10: the compiler knows all that the code does to the registers, because no `asm!` but those above is in the library and none of them
/// touches more than its operands. On Windows that is what keeps xmm6 to xmm15, on AArch64 v8 to v15.
#[test]
fn f10_no_instruction_by_hand() {
    let mut found = Vec::new();
    for (name, code) in sources() {
        for (at, _) in code.match_indices("asm!(") {
            found.push((name.clone(), code[at..].split('"').nth(1).unwrap().to_owned()));
        }
        assert!(!code.contains("global_asm") && !code.contains("naked_asm"), "{name}");
    }
    for (name, template, times) in BY_HAND {
        assert_eq!(found.iter().filter(|(file, text)| file == name && text == template).count(), times, "{name}: {template}");
    }
    passed("source::f10_no_instruction_by_hand", found.len(), BY_HAND.iter().map(|(_, _, times)| times).sum());
}

/// F11: rustc 1.95 gives wrong code where `avx512dq` and `avx512vl` are enabled both (rust-lang/rust#158622). No row asks for both.
#[test]
fn f11_avx512dq_is_never_enabled() {
    let mut rows = 0;
    for backend in Backend::ALL {
        assert!(backend.features().all(|(name, _)| name != "avx512dq"), "{backend}");
        rows += 1;
    }
    for (name, code) in sources() {
        let enabled = code.lines().find(|line| line.contains("avx512dq") && (line.contains("enable") || line.contains(',')));
        assert_eq!(enabled, None, "{name}");
    }
    passed("source::f11_avx512dq_is_never_enabled", rows, Backend::ALL.len());
}

/// F18: nothing depends on the order of bytes in a word. What is read from memory or written to it goes through `from_le_bytes`, `to_le` and
/// their like; only x86, which has one order, and AArch64 and RISC-V, whose pages are compiled where words are little-endian, look at words as bytes.
#[test]
fn f18_no_native_byte_order() {
    const ONE_ORDER: [&str; 7] =
        ["isa/call_x86.rs", "isa/x86.rs", "isa/ssse3.rs", "isa/portable/sse2.rs", "isa/aarch64.rs", "isa/neon.rs", "isa/riscv64.rs"];
    let mut files = 0;
    for (name, mut code) in sources().into_iter().filter(|(name, _)| !ONE_ORDER.contains(&name.as_str())) {
        if name == "isa/mod.rs" {
            // Where each mention of that page is compiled.
            code = code.replace("target_arch = \"aarch64\", target_feature = \"neon\", target_endian = \"little\"", "");
            assert!(!code.contains("target_arch = \"aarch64\""), "AArch64 without its byte order");
            code = code.replace("target_arch = \"riscv64\", target_endian = \"little\"", "");
            assert!(!code.contains("target_arch = \"riscv64\""), "RISC-V without its byte order");
        }
        for word in ["transmute", "to_ne_bytes", "from_ne_bytes", "read_unaligned", "write_unaligned", "target_endian"] {
            assert!(!code.contains(word), "{name}: {word}");
        }
        files += 1;
    }
    // Blocks in memory, by vectors and one by one: the table's order is said where it is set and where it is read.
    let table = fs::read_to_string(root().join("inout/table.rs")).unwrap();
    assert!(table.contains("block.to_le()") && table.contains("Block::from_le("));
    passed("source::f18_no_native_byte_order", files, sources().len() - ONE_ORDER.len());
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The library's files, by name, without comments and tests.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap()).collect();
                found.push((path.strip_prefix(root()).unwrap().to_string_lossy().into_owned(), code.join("\n")));
            }
        }
    }
    assert!(found.len() > 20, "the library's files: {}", found.len());
    found
}
