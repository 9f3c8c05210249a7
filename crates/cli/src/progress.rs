//! The progress line, and the ear for the interrupt key.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pdnet_check::{Control, Observer, Progress};
use pdnet_report::human_bytes;

/// Shorter searches show nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// Where lines cannot be overwritten, one comes at most this often.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Display {
    /// Not at all.
    Hidden,
    /// In one line of a terminal that is overwritten.
    Line,
    /// In lines below each other.
    Lines,
}

/// Watches a search.
pub(crate) struct Watch {
    interrupted: Arc<AtomicBool>,
    display: Display,
    what: String,
    start: Instant,
    last_line: Option<Instant>,
    is_shown: bool,
}

impl Watch {
    /// Watches a search for `what`.
    pub(crate) fn new(interrupted: Arc<AtomicBool>, display: Display, what: &str) -> Self {
        let what = what.to_owned();
        Self { interrupted, display, what, start: Instant::now(), last_line: None, is_shown: false }
    }

    fn text(&self, progress: &Progress) -> String {
        let seconds = self.start.elapsed().as_secs_f64().max(0.001);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = progress.states as f64 / seconds;
        format!(
            "{}: {} states, {rate:.0} states/s, {} to expand, {}, {seconds:.0} s",
            self.what,
            progress.states,
            progress.frontier,
            human_bytes(progress.memory_bytes)
        )
    }

    fn show(&mut self, progress: &Progress) {
        if self.start.elapsed() < PATIENCE {
            return;
        }
        let mut out = std::io::stderr().lock();
        // A progress line that cannot be written is not missed.
        match self.display {
            Display::Hidden => {}
            Display::Line => {
                let _ = write!(out, "\r\x1b[K{}", self.text(progress));
                let _ = out.flush();
                self.is_shown = true;
            }
            Display::Lines => {
                if self.last_line.is_none_or(|last| last.elapsed() >= LINE_EVERY) {
                    self.last_line = Some(Instant::now());
                    let _ = writeln!(out, "{}", self.text(progress));
                }
            }
        }
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.show(progress);
        if self.interrupted.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }
}

/// The line goes before the result comes.
impl Drop for Watch {
    fn drop(&mut self) {
        if self.is_shown {
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[K");
            let _ = out.flush();
        }
    }
}
