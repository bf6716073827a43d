//! Tests an implementation in a process of its own: judges the answers, and how the process ends.

use crate::{
    cases::{Buffers, Case, Expected, Mode},
    finding::{Finding, KINDS, Kind, Report, receive},
    freed,
    memory::Arena,
    peer::{About, Answer, Memory, Peer},
    pipe::OUT_OF_BOUNDS,
};
use aead_plugin::OF_PIECES;
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    mem,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    ptr,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

/// Limits for one run of a plug-in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Seconds of processor time for one answer.
    pub(crate) cpu_seconds: u64,
    /// Stops after the first finding.
    pub(crate) first_only: bool,
    /// Shows the plug-in's standard error.
    pub(crate) loud: bool,
    /// Arguments with which another referee runs these cases.
    pub(crate) arguments: &'static [String],
}

/// Variables that Go and the loader of glibc read only when a process starts.
const READ_AT_START: [&str; 2] = ["GODEBUG=", "GLIBC_TUNABLES="];

/// Runs the cases in another referee, which has the variables from its start.
fn run_another(settings: &[&String], command: &[String], limits: Limits) -> Report {
    let mut report = Report::default();
    let program = std::env::current_exe().unwrap_or_default();
    let mut other = std::process::Command::new(program);
    other.args(["run", "--raw"]).args(limits.arguments).arg(command.join(" "));
    other.envs(settings.iter().filter_map(|setting| setting.split_once('=')));
    match other.stderr(std::process::Stdio::null()).output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).lines().for_each(|line| receive(line, &mut report)),
        Err(error) => report.absent = Some(error.to_string()),
    }
    if report.about_line.is_empty() && report.absent.is_none() {
        report.absent = Some("the other referee prints nothing".into());
    }
    report
}

/// The memory that both processes share.
#[derive(Default)]
struct Shared {
    /// The current case.
    at: AtomicUsize,
    asked: AtomicU64,
    counts: [AtomicU64; KINDS.len()],
    /// The blocks of a freed key.
    needles: freed::Needles,
    signal: AtomicU64,
    address: AtomicUsize,
    /// The kind of access: 1 read, 2 write, 0 unknown.
    access: AtomicU64,
}

/// The address of [`Shared`], for the signal handler. It is set once, before a process is made.
static SHARED: AtomicUsize = AtomicUsize::new(0);

fn shared() -> &'static Shared {
    let mut at = SHARED.load(Relaxed);
    if at == 0 {
        // SAFETY: new memory, zeros, which are a `Shared`; it is never unmapped.
        let made = unsafe {
            let size = mem::size_of::<Shared>();
            libc::mmap(ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert!(made != libc::MAP_FAILED, "no memory: {}", io::Error::last_os_error());
        at = made.addr();
        SHARED.store(at, Relaxed);
    }
    // SAFETY: mapped above.
    unsafe { &*ptr::with_exposed_provenance::<Shared>(at) }
}

/// Runs the cases. This program must have one thread.
pub(crate) fn ask(command: &[String], cases: &[Case], arena: &mut Arena, limits: Limits) -> Report {
    let (early, rest): (Vec<_>, Vec<_>) = command.iter().partition(|word| READ_AT_START.iter().any(|name| word.starts_with(name)));
    if !early.is_empty() {
        return run_another(&early, &rest.into_iter().cloned().collect::<Vec<_>>(), limits);
    }
    let shared = shared();
    let mut report = Report::default();
    shared.asked.store(0, Relaxed);
    shared.counts.iter().for_each(|count| count.store(0, Relaxed));
    if let Some(case) = cases.iter().find(|case| case.family == "freed") {
        shared.needles.make(case);
    }
    let (mut start, mut ends, mut family) = (0, 0, "");
    while start < cases.len() {
        for state in [&shared.signal, &shared.access] {
            state.store(0, Relaxed);
        }
        shared.at.store(usize::MAX, Relaxed);
        let ended = process(command, cases, arena, start, limits, &mut report);
        let at = shared.at.load(Relaxed);
        let ended = match ended {
            Outcome::Success => break,
            Outcome::Reported => None,
            Outcome::Hangs => Some((Kind::Hangs, format!("no answer in {} s of processor time", limits.cpu_seconds))),
            Outcome::Failure(how) => Some(crash_finding(&how, arena)),
        };
        let Some(case) = cases.get(at) else {
            report.absent = Some(format!("ends before it is asked: {}", ended.map_or_else(String::new, |(_, message)| message)));
            break;
        };
        if case.family != family {
            (family, ends) = (case.family, 0);
        }
        ends += 1;
        if let Some((kind, message)) = ended {
            shared.counts[kind as usize].fetch_add(1, Relaxed);
            report.add(Finding::new(kind, &message, case));
        }
        start = at + 1;
        // A family that ends the process repeatedly is abandoned.
        if ends == 6 {
            start += cases[start..].iter().take_while(|case| case.family == family).count();
        }
        if limits.first_only {
            break;
        }
    }
    report.asked = shared.asked.load(Relaxed);
    report.counts = std::array::from_fn(|i| shared.counts[i].load(Relaxed));
    report
}

/// The outcome of a process.
enum Outcome {
    Success,
    /// A program at the end of a pipe ended, which was reported.
    Reported,
    Failure(String),
    Hangs,
}

fn crash_finding(how: &str, arena: &Arena) -> (Kind, String) {
    let shared = shared();
    let signal = shared.signal.load(Relaxed) as i32;
    if matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
        let address = shared.address.load(Relaxed);
        let access = match shared.access.load(Relaxed) {
            1 => "reads",
            2 => "writes",
            _ => "touches",
        };
        return match arena.all().iter().find_map(|region| region.guard_page(address)) {
            Some(place) => (Kind::Outside, format!("{access} {place}")),
            None => (Kind::Crash, format!("{access} {address:#x}, which is nobody's")),
        };
    }
    (Kind::Crash, how.into())
}

/// Runs the cases from `start` on in a process.
fn process(command: &[String], cases: &[Case], arena: &mut Arena, start: usize, limits: Limits, report: &mut Report) -> Outcome {
    let mut ends = [0; 2];
    // SAFETY: two numbers.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    assert_eq!(made, 0, "{}", io::Error::last_os_error());
    // SAFETY: the file descriptors have no other owner.
    let (reads, writes) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    // SAFETY: this process has one thread, so the new one has all that it needs.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", io::Error::last_os_error());
    if child == 0 {
        drop(reads);
        let code = run_cases(command, cases, arena, start, limits, File::from(writes));
        // SAFETY: this process needs no cleanup.
        unsafe { libc::_exit(code) };
    }
    drop(writes);
    let hangs = listen(child, File::from(reads), limits, report);
    if hangs {
        // SAFETY: our child, which has not been waited for.
        unsafe { libc::kill(child, libc::SIGKILL) };
    }
    let mut status = 0;
    // SAFETY: our child, which has not been waited for.
    unsafe { libc::waitpid(child, &mut status, 0) };
    match status {
        _ if hangs => Outcome::Hangs,
        0 => Outcome::Success,
        _ if libc::WIFSIGNALED(status) => Outcome::Failure(format!("ends by signal {}", libc::WTERMSIG(status))),
        _ if libc::WEXITSTATUS(status) == REPORTED => Outcome::Reported,
        _ if libc::WEXITSTATUS(status) == SIGNALLED => Outcome::Failure(format!("ends by signal {}", shared().signal.load(Relaxed))),
        _ => Outcome::Failure(format!("ends with status {}", libc::WEXITSTATUS(status))),
    }
}

/// Reads the process's lines until it ends. Returns true if it exceeds its limit.
fn listen(child: i32, from: File, limits: Limits, report: &mut Report) -> bool {
    let raw = from.as_raw_fd();
    let mut lines = BufReader::new(from);
    let (mut at, mut since, mut rounds) = (usize::MAX, used(child), 0);
    loop {
        let mut poll = libc::pollfd { fd: raw, events: libc::POLLIN, revents: 0 };
        // SAFETY: one of them.
        let ready = unsafe { libc::poll(&mut poll, 1, 250) };
        if ready > 0 {
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap_or(0) == 0 {
                return false;
            }
            loop {
                receive(line.trim_end_matches('\n'), report);
                if !lines.buffer().contains(&b'\n') {
                    break;
                }
                line.clear();
                let _ = lines.read_line(&mut line);
            }
            continue;
        }
        let now = shared().at.load(Relaxed);
        if now != at {
            (at, since, rounds) = (now, used(child), 0);
        }
        rounds += 1;
        // A process that waits for another one uses no processor time, and before the first case something is loaded.
        let asked = at != usize::MAX;
        let longest = if asked { 4 * 20 * limits.cpu_seconds } else { 4 * 120 };
        if asked && used(child) > since + limits.cpu_seconds * 100 || rounds > longest {
            return true;
        }
    }
}

/// Returns a process's processor time in hundredths of a second.
fn used(child: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// The exit status after a signal.
const SIGNALLED: i32 = 77;
/// The exit status after a program at the end of a pipe has ended.
const REPORTED: i32 = 76;

/// Runs the cases in the new process.
fn run_cases(command: &[String], cases: &[Case], arena: &mut Arena, start: usize, limits: Limits, mut to: File) -> i32 {
    let shared = shared();
    if !limits.loud {
        let _ = File::create("/dev/null").map(|null| {
            // SAFETY: two open files. This discards standard error.
            unsafe { libc::dup2(null.as_raw_fd(), 2) }
        });
    }
    let mut send = |line: String| {
        let _ = writeln!(to, "{}", line.replace('\n', " "));
    };
    let mut peer = match Peer::load(command, arena) {
        Ok(peer) => peer,
        Err(why) => {
            send(format!("absent\t{why}"));
            return 0;
        }
    };
    let about = peer.about().clone();
    let flag = |there, flag| if there { flag } else { "" };
    let memory = match about.memory {
        Memory::Ours => "",
        Memory::Mapped => "m",
        Memory::Its => "i",
    };
    let flags = [flag(about.whole, "w"), flag(about.copy, "c"), flag(about.nonce_first, "n"), flag(about.again, "a"), memory].concat();
    let About { name, version, offers, keys, tags, nonces, block, algorithm, .. } = &about;
    send(format!("about\t{name}\t{version}\t{offers}\t{keys}\t{tags}\t{}\t{}\t{block}\t{algorithm}\t{flags}", nonces.0, nonces.1));
    catch_signals();
    let mut sent: Vec<Finding> = Vec::new();
    let mut find = |kind: Kind, message: &str, case: &Case, send: &mut dyn FnMut(String)| {
        shared.counts[kind as usize].fetch_add(1, Relaxed);
        let found = Finding::new(kind, message, case);
        let smaller = |known: &Finding| (known.kind, &known.family) == (kind, &found.family) && known.size <= found.size;
        if !sent.iter().any(smaller) {
            send(found.line());
            sent.push(found);
        }
    };
    for (i, case) in cases.iter().enumerate().skip(start).filter(|(_, case)| case.family != "freed" && about.offered(case)) {
        shared.at.store(i, Relaxed);
        let answer = match peer.ask(case, arena) {
            Ok(answer) => answer,
            Err(why) if matches!(peer, Peer::Process(_)) => {
                find(if why.starts_with(OUT_OF_BOUNDS) { Kind::Outside } else { Kind::Crash }, &why, case, &mut send);
                return REPORTED;
            }
            Err(why) => {
                find(Kind::Wrong, &why, case, &mut send);
                continue;
            }
        };
        shared.asked.fetch_add(1, Relaxed);
        for (kind, message) in judge(case, &answer, about.whole && about.offers & OF_PIECES == 0) {
            find(kind, &message, case, &mut send);
            if limits.first_only {
                return 0;
            }
        }
    }
    let freed = cases.iter().enumerate().find(|(_, case)| case.family == "freed" && about.offered(case));
    if let (Peer::C(peer), Some((at, case))) = (&mut peer, freed) {
        shared.at.store(at, Relaxed);
        if let Err(why) = peer.used_and_freed(case, arena) {
            find(Kind::Wrong, &why, case, &mut send);
        }
        let what = shared.needles.found(case.of.key.len());
        if !what.is_empty() {
            find(Kind::Keeps, &format!("in memory when the key is freed: {}", what.join(", ")), case, &mut send);
        }
    }
    0
}

/// Returns the faults of an answer, and with `check_output` plaintext that remains after a refusal.
fn judge(case: &Case, answer: &Answer, check_output: bool) -> Vec<(Kind, String)> {
    let mut found: Vec<(Kind, String)> = answer.outside.iter().map(|message| (Kind::Outside, message.clone())).collect();
    match case.expected {
        Expected::Never if answer.done => found.push((Kind::Takes, "takes it".into())),
        Expected::Never => {}
        Expected::Refusal(_) | Expected::Forgery if answer.done => found.push((Kind::Wrong, "opens a forgery".into())),
        Expected::Refusal(_) | Expected::Forgery => {
            // An implementation in pieces returns text before it is verified.
            if check_output && case.whole() && leaves(&answer.output, &case.of.text) {
                found.push((Kind::Leaves, "leaves plaintext".into()));
            }
        }
        // Partly overlapping buffers may be refused.
        Expected::Answer if matches!(case.buffers, Buffers::Shifted(_)) && !answer.done => {}
        Expected::Answer => {
            found.extend(differs(case, answer).map(|message| (Kind::Wrong, message)));
            if matches!(&case.mode, Mode::Pieces { copy: Some(_), .. }) {
                let copied = answer.copied.as_ref();
                let message = copied.map_or_else(|| Some("is not copied".into()), |copied| differs(case, copied));
                found.extend(message.map(|message| (Kind::Wrong, format!("the copy {message}"))));
            }
        }
    }
    found
}

fn differs(case: &Case, answer: &Answer) -> Option<String> {
    if !answer.done {
        return Some("refuses what is right".into());
    }
    if let Some(at) = answer.output.iter().zip(case.output()).position(|(is, should)| is != should) {
        return Some(format!("gives another byte {at}"));
    }
    if answer.output.len() != case.output().len() {
        return Some(format!("gives {} bytes", answer.output.len()));
    }
    (case.seals && answer.tag != case.tag()).then(|| "gives another tag".into())
}

/// Returns true if eight bytes of the text are at their place in the output.
fn leaves(output: &[u8], text: &[u8]) -> bool {
    output.chunks_exact(8).zip(text.chunks_exact(8)).any(|(left, text)| left == text)
}

/// Records the signal, and ends the process.
extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let shared = shared();
    shared.signal.store(signal as u64, Relaxed);
    // SAFETY: the kernel's pointer.
    unsafe { shared.address.store((*info).si_addr().addr(), Relaxed) };
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the kernel's pointer.
    unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        let error = context.uc_mcontext.gregs[libc::REG_ERR as usize];
        shared.access.store(if error & 2 == 0 { 1 } else { 2 }, Relaxed);
    }
    let _ = context;
    // SAFETY: `_exit` is async-signal-safe.
    unsafe { libc::_exit(SIGNALLED) };
}

fn catch_signals() {
    const STACK: usize = 1 << 16;
    let stack = Box::leak(vec![0_u8; STACK].into_boxed_slice());
    // SAFETY: a stack that lives as long as the process, and a handler that is async-signal-safe.
    unsafe {
        let stack = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&stack, ptr::null_mut());
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT, libc::SIGTRAP] {
            libc::sigaction(signal, &action, ptr::null_mut());
        }
    }
}
