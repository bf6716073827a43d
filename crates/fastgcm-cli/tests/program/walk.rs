//! Two walks through the program. One gives sizes around 2^31, 2^32, 2^63 and 2^64 to every option that takes a number: the manual says which these are, so an option
//! that is new is noticed. The other takes the memory away, at one allocation after the other. (`fault_injection.py` lets every system call fail.)

#[path = "../../../fastgcm/tests/support/secrets.rs"]
mod secrets;

use crate::support::{Bench, full, text};
use fastgcm_file::{CHUNK_LEN, Cipher, Format, HEADER_LEN, Key, SEALED_CHUNK_LEN, TAG_LEN, sealed_len};
use std::{collections::BTreeSet, fs, os::unix::fs::FileExt};

const EDGES: [u64; 11] = [0, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, LEN - 1, LEN, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX];

/// A tebibyte and some bytes, of which there are the chunks around the edges only: the others take no room on the disk.
const LEN: u64 = (1 << 40) + 5;

const COMMANDS: [&str; 11] = ["keygen", "share", "seal", "open", "rekey", "inspect", "cpu", "selftest", "doctor", "completions", "man"];

/// What the manual calls the values of options that are no numbers.
const NO_NUMBERS: [&str; 14] =
    ["ANSWERS", "COMMAND", "FILE", "FORMAT", "IDENTITY", "KEY", "LIST", "MODULE", "NAME", "OUT", "PROMPT", "RECIPIENT", "SHELL", "TEXT"];

#[test]
fn sizes() {
    let bench = Bench::new();
    let mut numbers = BTreeSet::new();
    for command in COMMANDS {
        let page = String::from_utf8(bench.ok(&["man", command]))
            .unwrap()
            .replace("\\fB", "")
            .replace("\\fI", "")
            .replace("\\fR", "")
            .replace('\\', "");
        let line = page.split(".SH SYNOPSIS\n").nth(1).unwrap().lines().next().unwrap();
        for word in
            line.split(&[' ', '[', ']'][..]).map(|word| word.trim_end_matches("...")).filter(|word| word.starts_with(char::is_uppercase))
        {
            if !NO_NUMBERS.contains(&word.to_uppercase().as_str()) {
                numbers.insert(format!("{command} {word}"));
            }
        }
    }
    let known = ["inspect N", "open A..B", "open N", "rekey N", "seal N"].map(str::to_owned);
    assert!(numbers == BTreeSet::from(known), "an option that takes a number is new, or gone: {numbers:?}");

    let key = Key::new(Format::Cobblestone256, &[7; 32]).unwrap();
    bench.write("far.key", "07".repeat(32).as_bytes());
    bench.set_mode("far.key", 0o600);
    fs::create_dir(bench.path("far")).unwrap();
    let (header, cipher) = Cipher::create(&key, b"").unwrap();
    let file = fs::File::options().create_new(true).write(true).open(bench.path("far/far.sealed")).unwrap();
    file.set_len(sealed_len(LEN).unwrap()).unwrap();
    file.write_all_at(&header, 0).unwrap();
    let byte = |at: u64| (at / CHUNK_LEN as u64 + at) as u8;
    for number in EDGES
        .iter()
        .flat_map(|edge| [edge / CHUNK_LEN as u64, (edge / CHUNK_LEN as u64).saturating_sub(1)])
        .filter(|number| number * CHUNK_LEN as u64 <= LEN)
    {
        let start = number * CHUNK_LEN as u64;
        let text: Vec<_> = (start..LEN.min(start + CHUNK_LEN as u64)).map(byte).collect();
        let mut sealed = vec![0; text.len() + TAG_LEN];
        cipher.seal_chunk(number, &text, &mut sealed).unwrap();
        file.write_all_at(&sealed, HEADER_LEN as u64 + number * SEALED_CHUNK_LEN as u64).unwrap();
    }
    let mut cases = 0;
    for start in EDGES {
        for end in EDGES.map(|end| end.to_string()).into_iter().chain([
            start.saturating_add(2).to_string(),
            String::new(),
            "18446744073709551616".into(),
        ]) {
            let wanted = end.parse().or(if end.is_empty() { Ok(LEN) } else { Err(()) });
            let range = format!("{start}..{end}");
            let args = &["open", "-k", "far.key", "--range", &range, "far/far.sealed"][..];
            match wanted {
                Ok(end) if start <= end && end <= LEN && end - start < 10 => {
                    assert!(bench.ok(args) == (start..end).map(byte).collect::<Vec<_>>(), "{args:?}")
                }
                Ok(end) if start <= end && end <= LEN => continue, // there are holes
                _ => drop(bench.fails(2, args)),
            }
            cases += 1;
        }
    }
    bench.write("a", &text(100_000));
    for threads in EDGES {
        let threads = threads.to_string();
        let seal = &["seal", "-k", "key", "--force", "--threads", &threads, "a"][..];
        if threads == "0" {
            bench.fails(2, seal);
            continue;
        }
        bench.ok(seal);
        assert!(bench.ok(&["open", "-k", "key", "--threads", &threads, "-o", "-", "a.sealed"]) == text(100_000));
        bench.ok(&["inspect", "-k", "key", "--threads", &threads, "a.sealed"]);
        bench.ok(&["rekey", "-k", "key", "--to", "key128", "--threads", &threads, "a.sealed"]);
        cases += 4;
    }
    assert!(cases > 0);
}

/// One allocation fails, each in turn. The run ends, as it must; the old file stays, or the new one is complete; and nothing else is left.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn without_memory() {
    const BETWEEN: &str = r#"
        use std::{ffi::{c_char, c_int, c_void}, ptr::null_mut, sync::atomic::{AtomicUsize, Ordering::Relaxed}};
        unsafe extern "C" {
            fn __libc_malloc(len: usize) -> *mut c_void;
            fn __libc_calloc(number: usize, len: usize) -> *mut c_void;
            fn __libc_realloc(old: *mut c_void, len: usize) -> *mut c_void;
            fn getenv(name: *const c_char) -> *const c_char;
            fn atoi(text: *const c_char) -> c_int;
            fn write(file: c_int, start: *const c_char, len: usize) -> isize;
        }
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        fn fails() -> bool {
            let text = unsafe { getenv(c"FAILS".as_ptr()) };
            let fails = !text.is_null() && CALLS.fetch_add(1, Relaxed) == unsafe { atoi(text) } as usize;
            if fails {
                unsafe { write(2, c"met".as_ptr(), 3) };
            }
            fails
        }
        #[unsafe(no_mangle)] unsafe extern "C" fn malloc(len: usize) -> *mut c_void { if fails() { null_mut() } else { unsafe { __libc_malloc(len) } } }
        #[unsafe(no_mangle)] unsafe extern "C" fn calloc(number: usize, len: usize) -> *mut c_void { if fails() { null_mut() } else { unsafe { __libc_calloc(number, len) } } }
        #[unsafe(no_mangle)] unsafe extern "C" fn realloc(old: *mut c_void, len: usize) -> *mut c_void { if fails() { null_mut() } else { unsafe { __libc_realloc(old, len) } } }
    "#;
    let bench = Bench::new();
    let library = bench.compile("between", BETWEEN);
    let text = text(300_000);
    bench.write("a", &text);
    bench.ok(&["seal", "-k", "key", "a"]);
    let sealed = bench.read("a.sealed");
    let names = [bench.names(), vec!["out".into()]].concat().into_iter().collect::<BTreeSet<_>>();
    let opens = |key: &str| bench.run(&["open", "-q", "-k", key, "-o", "-", "out"]).stdout == text;
    let mut cases = 0;
    for args in [
        &["seal", "-q", "-k", "key", "--force", "-o", "out", "a"][..],
        &["open", "-q", "-k", "key", "--force", "-o", "out", "a.sealed"],
        &["open", "-q", "-k", "key", "--force", "--salvage", "-o", "out", "a.sealed"],
        &["rekey", "-q", "-k", "key", "--to", "key128", "out"],
    ] {
        let old = if args[0] == "rekey" { &sealed[..] } else { b"precious" };
        let mut run = |fails: usize| {
            bench.write("out", old);
            let output = bench.command(args).env("LD_PRELOAD", &library).env("FAILS", fails.to_string()).output().unwrap();
            let (status, met) = (output.status, output.stderr.starts_with(b"met"));
            let is_old = bench.read("out") == old;
            let is_new = match args[0] {
                "open" => bench.read("out") == text,
                "seal" => !is_old && opens("key"),
                _ => !is_old && opens("key128"),
            };
            assert!(is_old || is_new, "{args:?}, allocation {fails}");
            assert!(!status.success() || is_new, "{args:?}, allocation {fails}: success");
            assert!(bench.names().into_iter().collect::<BTreeSet<_>>() == names, "{args:?}, allocation {fails}: {:?}", bench.names());
            cases += usize::from(met);
            assert!(met || status.success(), "{args:?}, allocation {fails}");
            met
        };
        // How many there are: of so many each fails that comes behind the reading of the arguments, and of the others some.
        let all = (0..).map(|bits| 1 << bits).find(|fails| !run(*fails)).unwrap();
        let (mut low, mut high) = (all / 2, all);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if run(middle) { low = middle } else { high = middle }
        }
        let (last, step) = if full() { (120, 1) } else { (30, 151) };
        (0..high.saturating_sub(last)).step_by(step).chain(high.saturating_sub(last)..high).for_each(|fails| _ = run(fails));
    }
    assert!(cases > 150, "{cases}");
    assert!(cases > 0);
}

/// Key files that are none, by each option and variable that names one: no message has a byte of what stands there.
#[test]
fn quiet() {
    let bench = Bench::new();
    let secret = secrets::secret(33);
    let digits: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let spaced = format!("{} {}", &digits[..32], &digits[32..64]);
    let wrong = [
        secret[..31].to_vec(),
        secret.clone(),
        digits[..63].into(),
        digits[..65].into(),
        digits[..48].into(),
        digits.repeat(2).into(),
        format!("0x{}", &digits[..64]).into(),
        format!("{}\n{}\n", &digits[..64], &digits[..64]).into(),
        format!("key: {}", &digits[..64]).into(),
        spaced.into(),
        digits[..64].replace('9', "g").into(),
        format!("AGE-SECRET-KEY-1{}", digits.to_uppercase()).into(),
        // Two that are keys, of another format than is asked for at the end.
        digits[..64].into(),
        secret[..32].to_vec(),
    ];
    bench.write("a", &text(100));
    bench.ok(&["seal", "-k", "key", "a"]);
    for content in &wrong {
        bench.write("bad", content);
        bench.set_mode("bad", 0o600);
        for args in [
            &["seal", "-k", "bad", "--force", "a"][..],
            &["open", "-k", "bad", "-o", "-", "a.sealed"],
            &["open", "-k", "bad", "--salvage", "-o", "b", "a.sealed"],
            &["inspect", "-k", "bad", "a.sealed"],
            &["rekey", "-k", "bad", "--to", "key128", "a.sealed"],
            &["rekey", "-k", "key", "--to", "bad", "a.sealed"],
            &["share", "-k", "bad"],
            &["seal", "-k", "bad", "--format", "cobblestone-128", "--force", "a"],
            &["seal", "-k", &String::from_utf8_lossy(content).replace('\0', ""), "--force", "a"],
        ] {
            for variable in ["", "FASTGCM_KEY_FILE", "FASTGCM_KEY"] {
                let mut command = bench.command(args);
                if !variable.is_empty() {
                    command.env(variable, String::from_utf8_lossy(content).replace('\0', ""));
                }
                let output = command.output().unwrap();
                let said = [output.stdout, output.stderr].concat();
                // Where the argument is the secret, the program may show it as the name of a file.
                if !args.iter().any(|arg| arg.len() > 30) {
                    secrets::quiet(&format!("{args:?}"), &String::from_utf8_lossy(&said), &secret);
                }
            }
        }
    }
    bench.passed("walk::quiet", 1 + 3 * 9 * wrong.len());
}

/// Where a file cannot be made without a name, what is opened and what is a key is its owner's alone, whatever the umask.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn modes_without_tmpfile() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    let bench = Bench::new();
    bench.write("a", &text(100));
    bench.ok(&["seal", "-k", "key", "a"]);
    for (args, made) in [(&["open", "-k", "key", "-o", "b", "a.sealed"][..], "b"), (&["keygen", "-o", "new"], "new")] {
        let mut command = bench.command(args);
        // SAFETY: `prctl` and `umask` are calls of the system, and the filter lives until they return.
        unsafe {
            command.pre_exec(|| {
                const OPENAT: u32 = libc::SYS_openat as u32;
                let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
                let load = |k| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, k);
                let mut filter = [
                    load(0), // the number of the call
                    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 3, OPENAT),
                    load(16 + 8 * 2), // its flags
                    step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 0, 1, (libc::O_TMPFILE & !libc::O_DIRECTORY) as u32),
                    step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EOPNOTSUPP as u32),
                    step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
                ];
                let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
                libc::umask(0);
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                match libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::metadata(bench.path(made)).unwrap().permissions().mode() & 0o777, 0o600, "{args:?}");
    }
    bench.passed("walk::modes_without_tmpfile", 3);
}
