//! Tests gcm-prove with programs that are wrong on purpose (`victims.c`): it must report the listed failure of each, and prove the right programs.
//! `native.c` runs a call of each on the processor and compares it with the right program's, so that the wrong programs are known to be wrong.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The expected verdict.
#[derive(Clone, Copy)]
enum Verdict {
    Proved,
    /// Not proved, with these words.
    Not(&'static str),
}
use Verdict::{Not, Proved};

const SSE: &[&str] = &["-O2", "-Wno-unused", "-maes", "-mpclmul", "-mssse3", "-msse4.1"];
const AVX: &[&str] = &["-O2", "-Wno-unused", "-maes", "-mpclmul", "-mavx2", "-mbmi"];
const AVX512: &[&str] = &["-O2", "-Wno-unused", "-maes", "-mpclmul", "-mavx512bw", "-mavx512vl", "-fno-tree-vectorize"];

/// The effect on the processor: none; a wrong answer for sealing 1,000 bytes in buffers that are moved by this many bytes; a signal.
#[derive(Clone, Copy, PartialEq)]
enum Shows {
    Nothing,
    Wrong(usize),
    Dies(usize),
}
use Shows::{Dies, Nothing, Wrong};

/// The quick plan: all verbs of the right programs, and of a wrong one the verb that shows it.
const QUICK: &[(u32, Verdict, Shows)] = &[
    (0, Proved, Nothing),
    (1, Not("memory that is not its own is written"), Nothing),
    (2, Not("refuted: call 2: byte 0 of 16 of the tag"), Wrong(0)),
    (3, Not("is not aligned to 16 bytes"), Dies(1)),
    (4, Not("refuted: byte 0 of 16 of the tag"), Wrong(1)),
    (5, Not("(int3): a trap"), Dies(0)),
    (6, Not("refuted: a register of the caller"), Nothing),
    (7, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (8, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (11, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (12, Not("code is written"), Wrong(0)),
    (16, Not("the trace depends on a secret"), Nothing),
    (17, Not("refuted: the answer is a function of"), Nothing),
    (19, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (21, Not("memory that is not its own is written"), Nothing),
    (24, Not("refuted: byte 0 of "), Nothing),
    (25, Not("memory that is not its own is written"), Nothing),
    (26, Not("a secret is written to stolen"), Nothing),
    (52, Not("refuted: byte 0 of 16 of the tag"), Nothing),
    (53, Not("refuted: byte 0 of 16 of the tag"), Nothing),
    (54, Not("lahf): no semantics"), Nothing),
    (56, Not("is not aligned to 16 bytes"), Dies(1)),
    (57, Not("refuted: byte 0 of 16 of the tag"), Nothing),
    (58, Not("refuted: byte 0 of 16 of the tag"), Nothing),
    (59, Not("refuted: byte 0 of 16 of the tag"), Nothing),
    (60, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (61, Not("memory that is not its own is written"), Nothing),
    (62, Not("its caller's stack is read, or its environment"), Nothing),
    (63, Not("the stack moves by other than 8 bytes"), Nothing),
    (64, Not("no instruction"), Dies(0)),
    (65, Not("(std): no semantics"), Nothing),
    (66, Not("memory that is not its own is written"), Nothing),
    (67, Not("movsb"), Nothing),
    (68, Not("ldmxcsr"), Nothing),
    (69, Not("fninit"), Nothing),
    (70, Not("the trace depends on a secret"), Nothing),
    (71, Not("a symbol in an address"), Nothing),
    (72, Not("of fewer than 64 bits"), Nothing),
    (73, Not("system call 10"), Nothing),
    (74, Not("refuted: call 3: byte 0 of 16 of the tag"), Nothing),
    (75, Not("each call leaves the program another"), Nothing),
    (76, Not("refuted: call 2: byte 0 of 16 of the tag"), Wrong(0)),
    (77, Proved, Nothing),
    (78, Not("refuted: byte 0 of 16 of the tag"), Nothing),
    (79, Not("refuted: byte 0 of 16 of the tag"), Nothing),
    (80, Proved, Nothing),
    (81, Not("memory that is not its own is written, byte 0 of the key"), Nothing),
    (82, Not("a secret is written to zeros"), Nothing),
    (90, Not("a mapping that may be shared is written"), Wrong(0)),
    (91, Not("a mapping that may be shared is written"), Wrong(0)),
    (92, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (93, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (94, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (95, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (96, Not("div"), Dies(0)),
    (97, Not("refuted: byte 0 of 16 of the tag"), Wrong(0)),
    (98, Not("maskmovdqu"), Nothing),
    (99, Not("pushfq"), Nothing),
    (110, Proved, Nothing),
    (108, Not("the trace depends on a secret"), Nothing),
    (109, Not("is not aligned to 16 bytes"), Dies(1)),
];

const OF_AVX: &[(u32, Verdict)] = &[
    (0, Proved),
    (50, Not("not known")),
    (51, Not("refuted: byte 0 of 16 of the tag")),
    (83, Not("refuted: byte 0 of 16 of the tag")),
    (84, Not("refuted: byte 0 of 16 of the tag")),
    (85, Proved),
    (100, Not("is not aligned to 32 bytes")),
    (101, Not("refuted: byte 0 of 16 of the tag")),
];
const OF_AVX512: &[(u32, Verdict)] = &[
    (0, Proved),
    (86, Not("a mask that is not a number")),
    (87, Not("memory that is not its own is written")),
    (88, Not("is not aligned to 64 bytes")),
    (102, Not("refuted: byte 0 of 16 of the tag")),
    (103, Not("refuted: byte 0 of 16 of the tag")),
];

/// The proofs of any length: the verb, and further options.
const LENGTHS: &[(u32, &str, &[&str], Verdict)] = &[
    (0, "seal", &[], Proved),
    (0, "open", &[], Proved),
    (9, "open", &[], Not("a wrong tag is accepted")),
    (10, "seal", &[], Not("at an address that does not move with the loop")),
    (10, "open", &[], Not("at an address that does not move with the loop")),
    (13, "seal", &[], Not("refuted: 1000 bytes")),
    (18, "seal", &[], Not("| not understood")),
    (20, "seal", &[], Not("it depends on the turn")),
    (27, "seal", &[], Not("a symbol in an address")),
    (28, "seal", &[], Not("| not understood")),
    (40, "seal", &[], Not("memory that is not its own is written")),
    (41, "seal", &[], Not("| not understood")),
    (42, "open", &[], Not("| not understood")),
    (43, "seal", &[], Not("| not understood")),
    (44, "seal", &["--longest", "200000000"], Not("| not understood")),
    (45, "seal", &[], Not("at an address that does not move with the loop")),
    (46, "seal", &[], Not("| not understood")),
    (47, "seal", &[], Not("| not understood")),
    (48, "seal", &[], Not("| not understood")),
    (49, "seal", &[], Not("a register of the caller")),
    (55, "seal", &[], Not("| not understood")),
    (89, "seal", &[], Not("is written, which is not its own")),
    (104, "seal", &[], Not("| not understood")),
    (105, "seal", &[], Not("| not understood")),
    (106, "seal", &[], Not("| not understood")),
    (107, "seal", &[], Not("| not understood")),
    (111, "seal", &[], Not("step: the hash")),
    (112, "seal", &[], Proved),
];

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn source(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name).display().to_string()
}

/// A run of gcm-prove over victims, with the wrong verdicts so far.
#[derive(Default)]
struct Trial {
    checked: usize,
    wrong: Vec<String>,
}

impl Trial {
    fn quick(&mut self, victim: u32, flags: &[&str], row: &str, expected: Verdict) {
        // Faults of `open` only.
        let is_of_all = matches!(expected, Proved) || victim == 17;
        let flags = [flags, if is_of_all { &[] } else { &["-DSEAL", "-Wno-unused-function"] }].concat();
        self.check("quick", victim, &flags, &["--row", row], expected);
    }

    fn check(&mut self, group: &str, victim: u32, flags: &[&str], options: &[&str], expected: Verdict) {
        let define = format!("-DV={victim}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_gcm-prove"));
        command.current_dir(folder(group)).arg(source("victims.c")).args(flags).arg(define).args(options);
        let Output { status, stdout, stderr } = command.output().unwrap();
        let output = String::from_utf8_lossy(&stdout);
        let is_right = match expected {
            Proved => status.code() == Some(0),
            Not(words) => status.code() == Some(1) && output.contains(words),
        };
        self.checked += 1;
        if !is_right {
            self.wrong.push(format!("V={victim} {options:?}: {status}\n{output}\n{}", String::from_utf8_lossy(&stderr)));
        }
    }

    fn ends(self, suite: &str) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        println!("proof::{suite} ok {}", self.checked);
    }
}

#[test]
fn each_has_its_verdict() {
    let mut trial = Trial::default();
    for &(victim, expected, _) in QUICK {
        trial.quick(victim, SSE, "aesni-sse", expected);
    }
    for &(victim, expected) in OF_AVX {
        trial.quick(victim, AVX, "aesni-avx", expected);
    }
    // A program runs on the processor up to its first call.
    if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
        for &(victim, expected) in OF_AVX512 {
            trial.quick(victim, AVX512, "vaes-avx512", expected);
        }
    } else {
        println!("SKIPPED proof::victims of vaes-avx512: this processor has no AVX-512");
    }
    // A wrong length that the quick plan leaves out.
    let options = ["--row", "aesni-sse", "--verb", "seal", "--text", "33", "--aad", "38..40"];
    trial.check("quick", 14, SSE, &options, Not("1 calls, texts of 33: refuted: byte 0 of 16 of the tag"));
    let options = ["--row", "aesni-sse", "--verb", "seal", "--text", "999..1001"];
    trial.check("quick", 13, SSE, &options, Not("texts of 1000: refuted: byte 0 of 16 of the tag"));
    trial.ends("victims");
}

#[test]
fn of_any_length() {
    let mut trial = Trial::default();
    // A loop that counts down takes ten seconds. One that cuts lengths and looks at the low byte of its counter takes a minute. All of these are in the
    // full check, and otherwise those that find the planted faults, and the right one. `VICTIMS` names some of the second kind alone.
    let some = env::var("VICTIMS");
    let is_full = env::var_os("FASTGCM_FULL").is_some();
    let (plain, cut) = match &some {
        _ if is_full => ("", ""),
        Ok(some) => ("none", some.as_str()),
        Err(_) => ("0,9,10,40,48,89,111", "0,10"),
    };
    let is_in = |list: &str, victim: u32| list.is_empty() || list.split(',').any(|n| n.parse() == Ok(victim));
    for &(victim, verb, more, expected) in LENGTHS {
        let options = [&["--row", "aesni-sse", "--lengths", "--verb", verb], more].concat();
        if is_in(plain, victim) {
            trial.check("lengths", victim, &[SSE, &["-DPLAIN"]].concat(), &options, expected);
        }
        if is_in(cut, victim) {
            trial.check("lengths", victim, SSE, &options, expected);
        }
    }
    trial.ends("long_victims");
}

/// Seals a message twice on the processor. Returns how it ended, and what it wrote.
fn native(victim: u32, moved: usize) -> (Option<i32>, Vec<u8>) {
    let (folder, define) = (folder("native"), format!("-DV={victim}"));
    let program = folder.join(format!("v{victim}"));
    let targets = format!("{}/../targets", source(""));
    let compiled = Command::new("cc").args(SSE).arg(define).args(["-I", &targets, "-o"]).arg(&program).arg(source("native.c")).status();
    assert!(compiled.unwrap().success());
    let Output { status, stdout, .. } =
        Command::new(&program).args(["s", "1000", &moved.to_string()]).arg(folder.join("made")).output().unwrap();
    (status.code(), stdout)
}

#[test]
fn what_is_wrong_is_wrong_on_the_processor() {
    let right = [0, 1].map(|moved| native(0, moved));
    assert!(right.iter().all(|right| right.0 == Some(0)));
    let mut count = 0;
    for &(victim, _, shows) in QUICK {
        match shows {
            Nothing => continue,
            Wrong(moved) => assert_ne!(native(victim, moved), right[moved], "V={victim}"),
            Dies(moved) => assert_eq!(native(victim, moved).0, None, "V={victim}"),
        }
        count += 1;
    }
    println!("proof::native_victims ok {count}");
}
