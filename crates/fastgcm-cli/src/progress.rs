//! The progress and the speed of a run, shown on a terminal only.

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
        let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col);
        let bar = len.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        // What is left of the line is the bar's. The numbers have at most as many columns as are asked for here, so a line never wraps.
        let template = match (len, if columns == 0 { 80 } else { columns }) {
            (Some(_), 60..) => "{binary_bytes} of {binary_total_bytes} [{wide_bar}] {binary_bytes_per_sec} {eta}",
            (Some(_), 24..) => "{percent}% {binary_bytes_per_sec} {eta}",
            (Some(_), 4..) => "{percent}%",
            (None, 30..) => "{spinner} {binary_bytes} {binary_bytes_per_sec}",
            _ => "{spinner}",
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
    /// Takes the bar off the screen, however the run ends.
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
