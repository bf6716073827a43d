//! The same with valgrind's memcheck as the observer: secrets are undefined memory, and it reports each branch and each address that
//! comes of undefined bits, in whatever run.
//!
//! Processors as valgrind shows them have AES-NI, PCLMULQDQ and AVX2, but no VAES and no AVX-512: those rows have their traces only.

use crate::{
    backends::backends,
    call::{Call, Public},
    suite::{full, passed},
    verbs::{Does, named, table},
};
use fastgcm::Backend;
use std::{arch::asm, hint::black_box, io::ErrorKind, process::Command};

/// F15: no branch and no address comes of undefined bits.
#[test]
fn f15_nothing_undefined_decides() {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-limit=no", "--undef-value-errors=yes", "--log-file=/dev/null"]);
    valgrind.arg(std::env::current_exe().unwrap());
    let output = match valgrind.args(["--exact", "undefined::under_valgrind", "--ignored", "--nocapture", "--test-threads=1"]).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return println!("SKIPPED constant_time::undefined: valgrind is not installed");
        }
        output => output.unwrap(),
    };
    let (said, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{said}\n{complaints}", output.status);
    assert!(said.contains("1 passed"), "{said}");
}

/// Lengths of texts: `portable` takes fifty times as long as the others, which take thirty times as long as without valgrind.
const LENGTHS: [usize; 16] = [0, 1, 8, 15, 16, 17, 64, 100, 128, 143, 144, 255, 300, 600, 1420, 4500];

#[test]
#[ignore = "started by `f15_nothing_undefined_decides`"]
fn under_valgrind() {
    assert_eq!(request(RUNNING_ON_VALGRIND, 0, 0), 1, "valgrind runs this");
    the_control_is_caught();
    for backend in backends() {
        let lengths = if backend == Backend::Portable && !full() { &LENGTHS[..13] } else { &LENGTHS };
        let mut call = Call::new(backend);
        let (mut calls, mut expected) = (0, 0);
        let mut check = |public: Public| {
            // At most one branch on the verdict of each look at the tag, and nothing else.
            let nothing = public.verb.does == Does::Seals && public.text == 0;
            let looks = if nothing { 0 } else { public.verb.looks[usize::from(public.wrong.is_some())] };
            let reports = reports_of(&mut call, public);
            assert!(reports <= looks, "{backend}, {public:?}: {reports} reports, and {looks} looks at a tag");
            calls += 1;
        };
        for key in [16, 24, 32] {
            check(Public::new(named("Key::rekey"), [key, 12, 0, 0]));
            expected += 1;
        }
        for &text in lengths {
            for nonce in [12, 1, 8, 16, 60] {
                let aad = [0, 13, 16, 64, 65, 200][(text / 3 + nonce) % 6];
                for (verb, wrong) in [("seal", None), ("open", None), ("open", Some(0)), ("open", Some(15))] {
                    let verb = named(&format!("Key::{verb}"));
                    check(Public { wrong, ..Public::new(verb, [[16, 24, 32][text % 3], nonce, aad, text]) });
                    expected += 1;
                }
            }
        }
        for text in [0, 20, 301] {
            for verb in table().iter().filter(|verb| verb.runs_on(backend)) {
                let public = Public::new(verb, [32, 12, [13, 65, 100][text % 3], text]);
                check(public);
                expected += 1;
                if verb.opens() {
                    [0, verb.tag - 1].into_iter().for_each(|byte| check(Public { wrong: Some(byte), ..public }));
                    expected += 2;
                }
            }
        }
        passed(&format!("constant_time::undefined/{backend}"), calls, expected);
    }
}

/// Performs a call whose secrets are undefined, and counts the reports.
fn reports_of(call: &mut Call, public: Public) -> u64 {
    // What the call needs is prepared with defined bytes, the same whatever memcheck thinks of them.
    call.prepare(public, 2);
    // The keys' own memory, derived of undefined bytes: undefined, but for what is said of lengths.
    call.secrets(undefined);
    call.set_keys();
    let before = reports();
    call.perform();
    let found = reports() - before;
    call.secrets(defined);
    defined(&mut call.heap);
    // A branch may have decided it, or may not have.
    defined(std::slice::from_mut(&mut call.verdict));
    assert_eq!(call.verdict, public.wrong.is_none());
    found
}

/// A table and a branch, indexed and decided by a secret: reported, or memcheck does not see what it should.
fn the_control_is_caught() {
    static TABLE: [u8; 256] = [7; 256];
    let mut secret = [5u8; 1];
    undefined(&mut secret);
    let before = reports();
    black_box(black_box(&TABLE)[usize::from(black_box(secret)[0])]);
    let table = reports() - before;
    if black_box(secret)[0] > 5 {
        black_box(1);
    }
    let branch = reports() - before - table;
    black_box(black_box(secret)[0].wrapping_mul(3));
    let nothing = reports() - before - table - branch;
    assert!(table >= 1 && branch >= 1 && nothing == 0, "table {table}, branch {branch}, nothing {nothing}");
    passed("constant_time::undefined_control_is_caught", 2, 2);
}

// Requests to valgrind (valgrind.h and memcheck.h of version 3.19): a sequence of instructions that does nothing on a processor.
const RUNNING_ON_VALGRIND: u64 = 0x1001;
const COUNT_ERRORS: u64 = 0x1201;
const MEMCHECK: u64 = (b'M' as u64) << 24 | (b'C' as u64) << 16;
const MAKE_MEM_UNDEFINED: u64 = MEMCHECK + 1;
const MAKE_MEM_DEFINED: u64 = MEMCHECK + 2;

fn reports() -> u64 {
    request(COUNT_ERRORS, 0, 0)
}

fn undefined(bytes: &mut [u8]) {
    request(MAKE_MEM_UNDEFINED, bytes.as_mut_ptr() as u64, bytes.len() as u64);
}

fn defined<T>(memory: &mut [T]) {
    request(MAKE_MEM_DEFINED, memory.as_mut_ptr() as u64, size_of_val(memory) as u64);
}

/// Asks valgrind; 0 where there is none.
fn request(what: u64, a: u64, b: u64) -> u64 {
    let arguments = [what, a, b, 0, 0, 0];
    let answer;
    // SAFETY: four rotations by 128 bits in all, and a register exchanged with itself. Valgrind reads `arguments`, and what it changes of
    // the memory that they name is only its own idea of it.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") arguments.as_ptr(),
            inout("rdx") 0_u64 => answer,
        );
    }
    answer
}
