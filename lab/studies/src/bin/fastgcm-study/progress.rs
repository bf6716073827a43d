//! How far it is: on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};

/// A progress bar on standard error, or nothing.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar over so many pieces of work, which have names.
    pub(crate) fn new(quiet: bool, pieces: usize) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::new(pieces as u64 * PARTS);
        // If the template had a fault, the plain bar would do.
        Self(Some(match ProgressStyle::with_template("[{bar:30}] {percent:>3} % {eta:>4}  {msg}") {
            Ok(style) => bar.with_style(style.progress_chars("=> ")),
            Err(_) => bar,
        }))
    }

    /// So many pieces are done, and this is the one in hand; the same as before if it has no name.
    pub(crate) fn at(&self, pieces: f64, name: &str) {
        if let Some(bar) = &self.0 {
            bar.set_position((pieces * PARTS as f64) as u64);
            if !name.is_empty() {
                bar.set_message(name.to_owned());
            }
        }
    }
}

/// Into so many parts a piece of work is divided on the bar.
const PARTS: u64 = 100;

impl Drop for Progress {
    /// Leaves the bar on the screen as it is, however the run ends.
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.abandon();
        }
    }
}
