//! One implementation, asked in a process of its own: what it says, what it does, and how it ends.

use crate::{
    cases::{Asks, Buffers, Case, Way},
    finding::{Finding, KINDS, Kind, Report, hear},
    freed,
    memory::Arena,
    peer::{About, Answer, Memory, Peer},
    pipe::BESIDE,
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

/// How patient one is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Seconds of processor time for one answer.
    pub(crate) patience: u64,
    /// The first finding is the last.
    pub(crate) first: bool,
    /// What a plug-in writes to standard error is shown.
    pub(crate) loud: bool,
    /// Arguments with which another referee asks these questions.
    pub(crate) again: &'static [String],
}

/// What is read when a process begins, and at no other time: by Go and by the loader of glibc.
const READ_AT_ONCE: [&str; 2] = ["GODEBUG=", "GLIBC_TUNABLES="];

/// Asks by another referee, in whose environment all of it stands from its beginning.
fn by_another(settings: &[&String], command: &[String], manner: Manner) -> Report {
    let mut report = Report::default();
    let program = std::env::current_exe().unwrap_or_default();
    let mut other = std::process::Command::new(program);
    other.args(["run", "--told"]).args(manner.again).arg(command.join(" "));
    other.envs(settings.iter().filter_map(|setting| setting.split_once('=')));
    match other.stderr(std::process::Stdio::null()).output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).lines().for_each(|line| hear(line, &mut report)),
        Err(error) => report.absent = Some(error.to_string()),
    }
    if report.about_line.is_empty() && report.absent.is_none() {
        report.absent = Some("the other referee says nothing".into());
    }
    report
}

/// What both processes see.
#[derive(Default)]
struct Shared {
    /// The case that is being asked.
    at: AtomicUsize,
    asked: AtomicU64,
    counts: [AtomicU64; KINDS.len()],
    /// Where the key is sought that was freed.
    needles: freed::Needles,
    signal: AtomicU64,
    address: AtomicUsize,
    /// 1 read, 2 written, 0 unknown.
    access: AtomicU64,
}

/// Set once, before a process is made: what the handler of signals writes to.
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

/// Asks all of it. The program must have one thread.
pub(crate) fn ask(command: &[String], cases: &[Case], arena: &mut Arena, manner: Manner) -> Report {
    let (early, rest): (Vec<_>, Vec<_>) = command.iter().partition(|word| READ_AT_ONCE.iter().any(|name| word.starts_with(name)));
    if !early.is_empty() {
        return by_another(&early, &rest.into_iter().cloned().collect::<Vec<_>>(), manner);
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
        let ended = process(command, cases, arena, start, manner, &mut report);
        let at = shared.at.load(Relaxed);
        let ended = match ended {
            Ended::Well => break,
            Ended::Told => None,
            Ended::Hangs => Some((Kind::Hangs, format!("no answer in {} s of processor time", manner.patience))),
            Ended::Badly(how) => Some(how_it_ended(&how, arena)),
        };
        let Some(case) = cases.get(at) else {
            report.absent = Some(format!("ends before it is asked: {}", ended.map_or_else(String::new, |(_, says)| says)));
            break;
        };
        if case.family != family {
            (family, ends) = (case.family, 0);
        }
        ends += 1;
        if let Some((kind, says)) = ended {
            shared.counts[kind as usize].fetch_add(1, Relaxed);
            report.add(Finding::new(kind, &says, case));
        }
        start = at + 1;
        // A family that ends the process again and again is not asked to its end.
        if ends == 6 {
            start += cases[start..].iter().take_while(|case| case.family == family).count();
        }
        if manner.first {
            break;
        }
    }
    report.asked = shared.asked.load(Relaxed);
    report.counts = std::array::from_fn(|i| shared.counts[i].load(Relaxed));
    report
}

enum Ended {
    Well,
    /// A program at the end of a pipe did, and what it did is told.
    Told,
    Badly(String),
    Hangs,
}

fn how_it_ended(how: &str, arena: &Arena) -> (Kind, String) {
    let shared = shared();
    let signal = shared.signal.load(Relaxed) as i32;
    if matches!(signal, libc::SIGSEGV | libc::SIGBUS) {
        let address = shared.address.load(Relaxed);
        let access = match shared.access.load(Relaxed) {
            1 => "reads",
            2 => "writes",
            _ => "touches",
        };
        return match arena.all().iter().find_map(|region| region.beside(address)) {
            Some(place) => (Kind::Outside, format!("{access} {place}")),
            None => (Kind::Crash, format!("{access} {address:#x}, which is nobody's")),
        };
    }
    (Kind::Crash, how.into())
}

/// One process, from that case on.
fn process(command: &[String], cases: &[Case], arena: &mut Arena, start: usize, manner: Manner, report: &mut Report) -> Ended {
    let mut ends = [0; 2];
    // SAFETY: two numbers.
    let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) };
    assert_eq!(made, 0, "{}", io::Error::last_os_error());
    // SAFETY: they are nobody else's.
    let (reads, writes) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    // SAFETY: this process has one thread, so the new one has all that it needs.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", io::Error::last_os_error());
    if child == 0 {
        drop(reads);
        let code = work(command, cases, arena, start, manner, File::from(writes));
        // SAFETY: nothing of this process is to be cleared away.
        unsafe { libc::_exit(code) };
    }
    drop(writes);
    let hangs = listen(child, File::from(reads), manner, report);
    if hangs {
        // SAFETY: our child, which has not been waited for.
        unsafe { libc::kill(child, libc::SIGKILL) };
    }
    let mut status = 0;
    // SAFETY: likewise.
    unsafe { libc::waitpid(child, &mut status, 0) };
    match status {
        _ if hangs => Ended::Hangs,
        0 => Ended::Well,
        _ if libc::WIFSIGNALED(status) => Ended::Badly(format!("ends by signal {}", libc::WTERMSIG(status))),
        _ if libc::WEXITSTATUS(status) == TOLD => Ended::Told,
        _ if libc::WEXITSTATUS(status) == SIGNALLED => Ended::Badly(format!("ends by signal {}", shared().signal.load(Relaxed))),
        _ => Ended::Badly(format!("ends with status {}", libc::WEXITSTATUS(status))),
    }
}

/// Hears what the process says until it ends, or until it has said nothing for too long.
fn listen(child: i32, from: File, manner: Manner, report: &mut Report) -> bool {
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
                hear(line.trim_end_matches('\n'), report);
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
        // Whoever waits for another process uses no time of its own; and before the first question something is loaded.
        let asked = at != usize::MAX;
        let longest = if asked { 4 * 20 * manner.patience } else { 4 * 120 };
        if asked && used(child) > since + manner.patience * 100 || rounds > longest {
            return true;
        }
    }
}

/// Hundredths of a second of the processor that it has used.
fn used(child: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// What a process that was ended by a signal ends with.
const SIGNALLED: i32 = 77;
/// What a process ends with whose program at the end of a pipe has ended.
const TOLD: i32 = 76;

/// In the new process.
fn work(command: &[String], cases: &[Case], arena: &mut Arena, start: usize, manner: Manner, mut to: File) -> i32 {
    let shared = shared();
    if !manner.loud {
        let _ = File::create("/dev/null").map(|null| {
            // SAFETY: two open files; what is written here shall not be seen.
            unsafe { libc::dup2(null.as_raw_fd(), 2) }
        });
    }
    let mut say = |line: String| {
        let _ = writeln!(to, "{}", line.replace('\n', " "));
    };
    let mut peer = match Peer::load(command, arena) {
        Ok(peer) => peer,
        Err(why) => {
            say(format!("absent\t{why}"));
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
    say(format!("about\t{name}\t{version}\t{offers}\t{keys}\t{tags}\t{}\t{}\t{block}\t{algorithm}\t{flags}", nonces.0, nonces.1));
    catch_signals();
    let mut said: Vec<Finding> = Vec::new();
    let mut find = |kind: Kind, says: &str, case: &Case, say: &mut dyn FnMut(String)| {
        shared.counts[kind as usize].fetch_add(1, Relaxed);
        let found = Finding::new(kind, says, case);
        let smaller = |known: &Finding| (known.kind, &known.family) == (kind, &found.family) && known.size <= found.size;
        if !said.iter().any(smaller) {
            say(found.line());
            said.push(found);
        }
    };
    for (i, case) in cases.iter().enumerate().skip(start).filter(|(_, case)| case.family != "freed" && about.offered(case)) {
        shared.at.store(i, Relaxed);
        let answer = match peer.ask(case, arena) {
            Ok(answer) => answer,
            Err(why) if matches!(peer, Peer::Process(_)) => {
                find(if why.starts_with(BESIDE) { Kind::Outside } else { Kind::Crash }, &why, case, &mut say);
                return TOLD;
            }
            Err(why) => {
                find(Kind::Wrong, &why, case, &mut say);
                continue;
            }
        };
        shared.asked.fetch_add(1, Relaxed);
        for (kind, says) in judge(case, &answer, about.whole && about.offers & OF_PIECES == 0) {
            find(kind, &says, case, &mut say);
            if manner.first {
                return 0;
            }
        }
    }
    let freed = cases.iter().enumerate().find(|(_, case)| case.family == "freed" && about.offered(case));
    if let (Peer::C(peer), Some((at, case))) = (&mut peer, freed) {
        shared.at.store(at, Relaxed);
        if let Err(why) = peer.used_and_freed(case, arena) {
            find(Kind::Wrong, &why, case, &mut say);
        }
        let what = shared.needles.found(case.of.key.len());
        if !what.is_empty() {
            find(Kind::Keeps, &format!("in memory when the key is freed: {}", what.join(", ")), case, &mut say);
        }
    }
    0
}

/// What is wrong with an answer. If the referee `looks`, what a refusal leaves is, too.
fn judge(case: &Case, answer: &Answer, looks: bool) -> Vec<(Kind, String)> {
    let mut found: Vec<(Kind, String)> = answer.outside.iter().map(|says| (Kind::Outside, says.clone())).collect();
    match case.asks {
        Asks::Never if answer.done => found.push((Kind::Takes, "takes it".into())),
        Asks::Never => {}
        Asks::Refusal(_) | Asks::Forgery if answer.done => found.push((Kind::Wrong, "opens a forgery".into())),
        Asks::Refusal(_) | Asks::Forgery => {
            // Whoever takes pieces hands out what nobody has verified yet.
            if looks && case.whole() && leaves(&answer.output, &case.of.text) {
                found.push((Kind::Leaves, "leaves plaintext".into()));
            }
        }
        // Where buffers overlap in part, a refusal is as good.
        Asks::Answer if matches!(case.buffers, Buffers::Shifted(_)) && !answer.done => {}
        Asks::Answer => {
            found.extend(differs(case, answer).map(|says| (Kind::Wrong, says)));
            if matches!(&case.way, Way::Pieces { copy: Some(_), .. }) {
                let copied = answer.copied.as_ref();
                let says = copied.map_or_else(|| Some("is not copied".into()), |copied| differs(case, copied));
                found.extend(says.map(|says| (Kind::Wrong, format!("the copy {says}"))));
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

/// Whether eight bytes of the text are where they would be.
fn leaves(output: &[u8], text: &[u8]) -> bool {
    output.chunks_exact(8).zip(text.chunks_exact(8)).any(|(left, text)| left == text)
}

/// Writes down what happened, and ends the process.
extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let shared = shared();
    shared.signal.store(signal as u64, Relaxed);
    // SAFETY: the kernel's.
    unsafe { shared.address.store((*info).si_addr().addr(), Relaxed) };
    #[cfg(target_arch = "x86_64")]
    // SAFETY: likewise.
    unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        let error = context.uc_mcontext.gregs[libc::REG_ERR as usize];
        shared.access.store(if error & 2 == 0 { 1 } else { 2 }, Relaxed);
    }
    let _ = context;
    // SAFETY: it may be called in a handler.
    unsafe { libc::_exit(SIGNALLED) };
}

fn catch_signals() {
    const STACK: usize = 1 << 16;
    let stack = Box::leak(vec![0_u8; STACK].into_boxed_slice());
    // SAFETY: a stack that lives as long as the process, and a handler that calls what a handler may.
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
