//! How far a run is, and how fast: on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};

/// A progress bar on standard error, or nothing.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Makes a bar of this length, or a count if there is no length.
    pub(crate) fn new(quiet: bool, len: Option<u64>) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self(None);
        }
        let (bar, template) = match len {
            Some(len) => (ProgressBar::new(len), "{binary_bytes} of {binary_total_bytes} [{bar:40}] {binary_bytes_per_sec} {eta}"),
            None => (ProgressBar::new_spinner(), "{spinner} {binary_bytes} {binary_bytes_per_sec}"),
        };
        // If the template had a fault, the plain bar would do.
        Self(Some(match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style.progress_chars("=> ")),
            Err(_) => bar,
        }))
    }

    pub(crate) fn advance(&self, bytes: usize) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes as u64);
        }
    }
}

impl Drop for Progress {
    /// Leaves the bar on the screen as it is, however the run ends.
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.abandon();
        }
    }
}
