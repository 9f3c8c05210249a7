//! What all searches by several workers need to end together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pdnet_check::{Control, Observer, Progress};

/// A worker that panics leaves nothing half done that others look at; the panic goes on when all have ended.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops a worker in the middle of something as soon as this is true.
pub(crate) struct Watch<'f>(pub(crate) &'f AtomicBool);

impl Observer for Watch<'_> {
    fn progress(&mut self, _: &Progress) -> Control {
        if self.0.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }
}

/// Makes this true when a worker goes, however it goes: it goes only when there is nothing more to be done, or it panics, and then the
/// others shall not go on.
pub(crate) struct Leaves<'f>(pub(crate) &'f AtomicBool);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
