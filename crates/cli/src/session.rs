//! The world outside: streams, colors, the terminal, the interrupt key.

use std::cell::RefCell;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use pdnet_report::{DEFAULT_WIDTH, TextOptions};
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};

use crate::args::When;
use crate::bug;
use crate::checkpoint::Checkpoint;
use crate::exit::{ExitStatus, Failure};

/// One run of pdnet.
pub(crate) struct Session {
    /// All texts that diagnostics may point into.
    pub(crate) map: SourceMap,
    /// When it began.
    pub(crate) start: Instant,
    /// The user wants to stop.
    pub(crate) interrupted: Arc<AtomicBool>,
    /// Where searches are kept, if they are.
    pub(crate) checkpoint: Option<RefCell<Checkpoint>>,
    color: When,
}

/// Interrupts that come as close together as this are taken as one.
const SAME_WISH: std::time::Duration = std::time::Duration::from_millis(500);

impl Session {
    /// Begins now.
    pub(crate) fn new(color: When) -> Self {
        Self {
            map: SourceMap::new(),
            start: Instant::now(),
            interrupted: Arc::default(),
            checkpoint: None,
            color,
        }
    }

    /// From now on the interrupt key asks the search to stop and tell what it has found; when it is pressed
    /// again, pdnet ends at once.
    pub(crate) fn catch_interrupts(&self) {
        let interrupted = Arc::clone(&self.interrupted);
        let mut first: Option<Instant> = None;
        // Without a handler the key ends pdnet, which is not worth a complaint.
        let _ = ctrlc::set_handler(move || {
            interrupted.store(true, Ordering::Relaxed);
            // Some programs send the signal to a process and to its group: that is one wish, not two.
            let since = first.get_or_insert_with(Instant::now).elapsed();
            if since > SAME_WISH {
                leave();
            }
        });
    }

    /// How text on standard output should look.
    pub(crate) fn text_options(&self) -> TextOptions {
        let color = match anstream::AutoStream::choice(&io::stdout()) {
            anstream::ColorChoice::Never => ColorChoice::Plain,
            anstream::ColorChoice::Auto
            | anstream::ColorChoice::AlwaysAnsi
            | anstream::ColorChoice::Always => ColorChoice::Colored,
        };
        TextOptions { width: terminal_width(), color: self.chosen(color) }
    }

    /// Whether to use colors on standard error.
    fn stderr_color(&self) -> ColorChoice {
        self.chosen(match anstream::AutoStream::choice(&io::stderr()) {
            anstream::ColorChoice::Never => ColorChoice::Plain,
            anstream::ColorChoice::Auto
            | anstream::ColorChoice::AlwaysAnsi
            | anstream::ColorChoice::Always => ColorChoice::Colored,
        })
    }

    const fn chosen(&self, automatic: ColorChoice) -> ColorChoice {
        match self.color {
            When::Auto => automatic,
            When::Always => ColorChoice::Colored,
            When::Never => ColorChoice::Plain,
        }
    }

    /// Writes to standard output. A reader who has left is no failure: he has seen what he wanted.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Output("standard output".to_owned(), error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes to standard error.
    pub(crate) fn tell(&self, text: &str) {
        // There is no one left to complain to.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Shows diagnostics.
    pub(crate) fn show(&self, diagnostics: &[Diagnostic]) {
        let color = self.stderr_color();
        for diagnostic in diagnostics {
            self.tell(&render(&self.map, diagnostic, color));
        }
    }

    /// Says why there is no result.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitStatus {
        match failure {
            Failure::Input(diagnostics) => self.show(diagnostics),
            Failure::Bug(what) => self.tell(&format!("error: {what}\n{}\n", bug::REQUEST)),
            Failure::Output(what, error) => self.tell(&format!("error: cannot write {what}: {error}\n")),
        }
        failure.status()
    }
}

/// Whether something that suits a terminal should be done on standard error.
pub(crate) fn suits_stderr(when: When) -> bool {
    match when {
        When::Auto => io::stderr().is_terminal(),
        When::Always => true,
        When::Never => false,
    }
}

/// Says what the system refused to give.
pub(crate) fn complain(text: &str) -> ExitStatus {
    let _ = writeln!(io::stderr(), "error: {text}");
    ExitStatus::Usage
}

/// The width of the terminal: what the user says, what the terminal says, or the default.
fn terminal_width() -> usize {
    const NARROWEST: usize = 40;
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let asked = || terminal_size::terminal_size().map(|(width, _)| width.0.into());
    said.or_else(asked).filter(|&width: &usize| width > 0).unwrap_or(DEFAULT_WIDTH).max(NARROWEST)
}

/// The width of the terminal that standard error is.
pub(crate) fn stderr_width() -> usize {
    let asked = terminal_size::terminal_size_of(io::stderr());
    asked.map_or(DEFAULT_WIDTH, |(width, _)| width.0.into()).max(1)
}

#[expect(clippy::exit, reason = "the user has asked twice, and there is no other way out of a handler")]
fn leave() {
    // What shells report for a process that the interrupt key has ended.
    std::process::exit(130);
}
