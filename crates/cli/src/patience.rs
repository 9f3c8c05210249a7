//! Work that does not say how far it is, and is not to be waited for longer than the user wants: modelling and slicing.
//!
//! An engine looks at its limits while it searches. The analyses before it are many and each is short, unless the
//! program is large; that each of them looked at a clock would be in the way everywhere, and forgotten somewhere. So
//! they run on a thread of their own, and pdnet stops to wait when the time is up. The thread is left to itself: pdnet
//! has nothing to do after that but to say what it knows.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use pdnet_check::StopReason;

use crate::STACK_SIZE;

/// How often to see whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How long to go on: until the time is up, or the user wants to stop.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    /// When the time began.
    pub(crate) start: Instant,
    /// How much of it there is.
    pub(crate) timeout: Option<Duration>,
    /// The user wants to stop.
    pub(crate) interrupted: Arc<AtomicBool>,
}

impl Patience {
    /// Why to stop now, if so.
    pub(crate) fn is_over(&self) -> Option<StopReason> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(StopReason::Interrupted);
        }
        self.timeout.filter(|timeout| self.start.elapsed() >= *timeout).map(StopReason::Timeout)
    }

    /// Does some work, or says why its end was not waited for.
    pub(crate) fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StopReason> {
        if let Some(reason) = self.is_over() {
            return Err(reason);
        }
        let (sender, receiver) = channel();
        let worker = Builder::new().stack_size(STACK_SIZE).spawn(move || {
            // Nobody may be waiting any more.
            let _ = sender.send(work());
        });
        let worker =
            worker.map_err(|error| StopReason::Unsupported(format!("cannot start a thread: {error}")))?;
        loop {
            let left = self.timeout.map(|timeout| timeout.saturating_sub(self.start.elapsed()));
            match receiver.recv_timeout(left.unwrap_or(LOOK).min(LOOK)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(reason) = self.is_over() {
                        return Err(reason);
                    }
                }
                // It ended without a result: it panicked, and so do we.
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => return Err(StopReason::Interrupted),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience(timeout: Option<Duration>, interrupted: bool) -> Patience {
        Patience { start: Instant::now(), timeout, interrupted: Arc::new(AtomicBool::new(interrupted)) }
    }

    /// Work that ends when this test does.
    fn endless(stop: &Arc<AtomicBool>) -> impl FnOnce() + Send + 'static {
        let stop = Arc::clone(stop);
        move || {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn work_that_ends_is_waited_for() {
        assert_eq!(patience(None, false).wait_for(|| 7), Ok(7));
        assert_eq!(patience(Some(Duration::from_secs(600)), false).wait_for(|| 8), Ok(8));
    }

    #[test]
    fn work_that_does_not_end_is_left_when_the_time_is_up() {
        let stop = Arc::default();
        let limit = Duration::from_millis(20);
        let found = patience(Some(limit), false).wait_for(endless(&stop));
        assert_eq!(found, Err(StopReason::Timeout(limit)));
        stop.store(true, Ordering::Relaxed);
    }

    #[test]
    fn work_that_does_not_end_is_left_when_the_user_wants_it() {
        let stop = Arc::default();
        let patience = patience(None, false);
        let interrupted = Arc::clone(&patience.interrupted);
        let wish = std::thread::spawn(move || interrupted.store(true, Ordering::Relaxed));
        assert_eq!(patience.wait_for(endless(&stop)), Err(StopReason::Interrupted));
        stop.store(true, Ordering::Relaxed);
        wish.join().unwrap();
    }

    #[test]
    fn nothing_is_begun_that_nobody_will_wait_for() {
        let begun = || -> () { unreachable!("the time is up") };
        let limit = Duration::ZERO;
        assert_eq!(patience(Some(limit), false).wait_for(begun), Err(StopReason::Timeout(limit)));
        assert_eq!(patience(None, true).wait_for(begun), Err(StopReason::Interrupted));
    }
}
