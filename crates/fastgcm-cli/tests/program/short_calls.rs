//! Reads and writes that move less than they were asked to: always allowed, seldom met, and nothing that strace can inject.

use crate::support::{Bench, text};

/// Every read and every write gives or takes a few bytes only, and is interrupted before: by a library that stands between the program and
/// the system's.
#[test]
fn short_and_interrupted_calls() {
    const BETWEEN: &str = r#"
        use std::{ffi::{c_int, c_void}, sync::{OnceLock, atomic::{AtomicUsize, Ordering}}};
        #[repr(C)] struct Slice { start: *const c_void, len: usize }
        unsafe extern "C" {
            fn readv(file: c_int, slices: *const Slice, number: c_int) -> isize;
            fn writev(file: c_int, slices: *const Slice, number: c_int) -> isize;
            fn __errno_location() -> *mut c_int;
        }
        static LIMIT: OnceLock<usize> = OnceLock::new();
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        unsafe fn short(call: unsafe extern "C" fn(c_int, *const Slice, c_int) -> isize, file: c_int, start: *const c_void, len: usize) -> isize {
            let limit = *LIMIT.get_or_init(|| std::env::var("LIMIT").unwrap().parse().unwrap());
            if CALLS.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
                unsafe { *__errno_location() = 4 }; // EINTR
                return -1;
            }
            if len > limit {
                unsafe { writev(2, &Slice { start: c".".as_ptr().cast(), len: 1 }, 1) };
            }
            unsafe { call(file, &Slice { start, len: len.min(limit) }, 1) }
        }
        #[unsafe(no_mangle)] unsafe extern "C" fn read(file: c_int, start: *mut c_void, len: usize) -> isize { unsafe { short(readv, file, start, len) } }
        #[unsafe(no_mangle)] unsafe extern "C" fn write(file: c_int, start: *const c_void, len: usize) -> isize { unsafe { short(writev, file, start, len) } }
    "#;
    let bench = Bench::new();
    let library = bench.compile("between", BETWEEN);
    let mut cases = 0;
    let mut short_calls = 0;
    for (limit, len) in [(1, 17_000), (7, 40_000), (4095, 300_000), (16383, 300_000), (65536, 600_000)] {
        let text = text(len);
        bench.write("a", &text);
        for threads in ["1", "3"] {
            let mut run = |args: &[&str]| {
                let mut command = bench.command(&[args, &["--threads", threads]].concat());
                let output = command.env("LD_PRELOAD", &library).env("LIMIT", limit.to_string()).output().unwrap();
                let dots = String::from_utf8(output.stderr).unwrap();
                assert!(output.status.success() && dots.bytes().all(|byte| byte == b'.'), "{args:?}: {dots}");
                // All of the text goes in at least once, or out.
                assert!(dots.len() >= len / limit, "{limit}: {} short calls", dots.len());
                short_calls += dots.len();
                cases += 1;
                output.stdout
            };
            run(&["seal", "-q", "-k", "key", "--force", "a"]);
            run(&["open", "-q", "-k", "key", "--force", "-o", "b", "a.sealed"]);
            assert!(bench.read("b") == text);
            let sealed = run(&["seal", "-k", "key", "-o", "-", "a"]);
            bench.write("c.sealed", &sealed);
            assert!(run(&["open", "-q", "-k", "key", "-o", "-", "c.sealed"]) == text);
            // Without the library between: what it sealed is a sealed file.
            assert!(bench.ok(&["open", "-k", "key", "-o", "-", "a.sealed"]) == text);
        }
    }
    assert_eq!(cases, 5 * 2 * 4);
    println!("{short_calls} short calls");
}
