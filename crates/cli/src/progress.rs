//! The progress line, and the ear for the interrupt key.

use std::cell::{RefCell, RefMut};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pdnet_check::{Control, Keeper, Observer, Progress};
use pdnet_report::human_bytes;

use crate::checkpoint::Checkpoint;
use crate::session::stderr_width;

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
pub(crate) struct Watch<'k> {
    interrupted: Arc<AtomicBool>,
    display: Display,
    what: String,
    start: Instant,
    last_line: Option<Instant>,
    is_shown: bool,
    /// When the progress was heard of before, how many states there were then, and how many of them waited.
    before: Option<(Instant, u64, u64)>,
    /// Who keeps the search.
    keeper: Option<RefMut<'k, Checkpoint>>,
}

impl<'k> Watch<'k> {
    /// Watches a search for `what`.
    pub(crate) fn new(interrupted: Arc<AtomicBool>, display: Display, what: &str) -> Self {
        let what = what.to_owned();
        Self {
            interrupted,
            display,
            what,
            start: Instant::now(),
            last_line: None,
            is_shown: false,
            before: None,
            keeper: None,
        }
    }

    /// And keeps it.
    pub(crate) fn keeping(mut self, checkpoint: Option<&'k RefCell<Checkpoint>>) -> Self {
        self.keeper = checkpoint.map(RefCell::borrow_mut);
        self
    }

    fn text(&self, progress: &Progress) -> String {
        let seconds = self.start.elapsed().as_secs_f64();
        let (rate, growth) = self.rates(progress).unzip();
        format!(
            "{}: {} states{}, {}, {seconds:.0} s{}{}",
            self.what,
            progress.states,
            rate.map_or_else(String::new, |rate| format!(", {rate:.0} states/s")),
            // What a narrow terminal has no room for stands at the end.
            human_bytes(progress.memory_bytes),
            progress.depth.map_or_else(String::new, |depth| format!(", {depth}")),
            // A search for cycles keeps no list of what waits.
            match (progress.frontier, growth.flatten()) {
                (0, _) => String::new(),
                (waiting, None) => format!(", {waiting} to expand"),
                (waiting, Some(growth)) => format!(", {waiting} to expand ({growth:+.0}/s)"),
            }
        )
    }

    /// How fast the number of states grows, and that of those that wait: a search whose second number falls comes to its end. That is
    /// since the progress was heard of before: what was kept of an earlier search was not found in this one.
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn rates(&self, progress: &Progress) -> Option<(f64, Option<f64>)> {
        let (when, states, frontier) = self.before?;
        let seconds = when.elapsed().as_secs_f64();
        let rate = |now: u64, before: u64| (now as f64 - before as f64) / seconds;
        let growth = (progress.frontier > 0).then(|| rate(progress.frontier, frontier));
        (seconds > 0.0 && progress.states >= states).then(|| (rate(progress.states, states), growth))
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
                // A line that is wrapped could not be overwritten.
                let text: String =
                    self.text(progress).chars().take(stderr_width().saturating_sub(1)).collect();
                let _ = write!(out, "\r\x1b[K{text}");
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

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.show(progress);
        self.before = Some((Instant::now(), progress.states, progress.frontier));
        if self.interrupted.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }

    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        self.keeper.as_deref_mut().map(|checkpoint| checkpoint as &mut dyn Keeper)
    }

    fn resident_bytes(&mut self) -> Option<u64> {
        crate::memory::resident()
    }
}

/// The line goes before the result comes.
impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.is_shown {
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[K");
            let _ = out.flush();
        }
    }
}
