//! Asks for a passphrase at the terminal, which does not show it. However the run ends, the terminal then shows typed text again.

use crate::failure::escaped;
use rustix::{
    process::getpgrp,
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP},
    flag,
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};
use zeroize::Zeroizing;

/// The length in bytes of the longest passphrase. (A terminal passes on 4,095 bytes of a line, and silently drops the rest.)
pub(crate) const LONGEST: usize = 1024;
pub(crate) const TOO_LONG: &str = "a passphrase has 1,024 bytes at most";

/// Returns what is typed next, up to the end of the line.
pub(crate) fn secret(question: &str) -> io::Result<Zeroizing<String>> {
    restore_on_signals();
    let terminal = terminal()?;
    let shown = tcgetattr(&terminal)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    hidden.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHONL);
    set_hidden(Some(hidden.clone()));
    tcsetattr(&terminal, OptionalActions::Flush, &hidden)?;
    let typed = ask(&terminal, question);
    set_hidden(None);
    tcsetattr(&terminal, OptionalActions::Now, &shown)?;
    typed
}

/// The state of the terminal while somebody is asked. A run that was stopped (Ctrl-Z) and continues restores this state.
static HIDDEN: Mutex<Option<Termios>> = Mutex::new(None);

fn set_hidden(modes: Option<Termios>) {
    *HIDDEN.lock().unwrap_or_else(PoisonError::into_inner) = modes;
}

fn ask(mut terminal: &File, question: &str) -> io::Result<Zeroizing<String>> {
    terminal.write_all(format!("{}: ", escaped(question)).as_bytes())?;
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST + 1));
    loop {
        let mut byte = Zeroizing::new([0]);
        match terminal.read(&mut *byte) {
            Ok(0) if line.is_empty() => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "nothing was typed")),
            Ok(0) => break,
            Ok(_) if matches!(*byte, [b'\n']) => break,
            // A line that is too long is still read to its end: no other program may get the rest.
            Ok(_) if line.len() <= LONGEST => line.push(byte[0]),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if line.len() > LONGEST {
        return Err(io::Error::other(TOO_LONG));
    }
    let text = str::from_utf8(&line).map_err(|_| io::Error::other("what was typed is no UTF-8"))?;
    Ok(Zeroizing::new(text.into()))
}

fn terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// Returns whether there is a terminal at which somebody may be asked.
pub(crate) fn is_possible() -> bool {
    terminal().is_ok()
}

/// Installs handlers with which a signal that ends or stops the run first restores the terminal's present state. An ignored signal stays
/// ignored. Call this before a prompt, here or in the crate `age`.
pub(crate) fn restore_on_signals() {
    STARTED.get_or_init(|| {
        let terminal = terminal()?;
        let shown = tcgetattr(&terminal)?;
        let (ignored, interrupted) = (ignored(), Arc::default());
        if ignored >> (SIGINT - 1) & 1 == 0 {
            flag::register(SIGINT, Arc::clone(&interrupted))?;
        }
        let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP];
        let mut signals = Signals::new(ending.iter().filter(|signal| ignored >> (**signal - 1) & 1 == 0))?;
        thread::Builder::new().spawn(move || {
            for signal in signals.forever() {
                // A run in the background leaves the terminal to the program that has it.
                let is_ours = || tcgetpgrp(&terminal).is_ok_and(|group| group == getpgrp());
                if is_ours() {
                    let _ = tcsetattr(&terminal, OptionalActions::Now, &shown);
                }
                let _ = emulate_default_handler(signal);
                // Only a run that was stopped comes here, when it continues.
                let hidden = HIDDEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(hidden) = hidden.filter(|_| is_ours()) {
                    let _ = tcsetattr(&terminal, OptionalActions::Now, &hidden);
                }
            }
        })?;
        Ok(interrupted)
    });
}

/// True if Ctrl-C was typed at a prompt; unset before the first prompt.
static STARTED: OnceLock<io::Result<Arc<AtomicBool>>> = OnceLock::new();

/// The crate `age` continues after it raises the signal of a Ctrl-C, and says that there is no answer. The run ends by that signal, and
/// says nothing more.
pub(crate) fn end_if_interrupted() {
    let interrupted = STARTED.get().and_then(|started| started.as_ref().ok());
    while interrupted.is_some_and(|interrupted| interrupted.load(Ordering::SeqCst)) {
        thread::park();
    }
}

/// Returns the signals that were ignored when the run began, one bit each.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0)
}
