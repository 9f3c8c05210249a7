//! What all searches by several workers need to end together.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;

use pdnet_check::{Control, Observer, Progress};

/// A worker that panics leaves nothing half done that others look at; the panic goes on when all have ended.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a worker, and gives what it brings home. A panic of it goes on here: a scope of threads does not see those that were
/// waited for, and what such a worker has not found is no proof of anything.
pub(crate) fn join<T>(worker: ScopedJoinHandle<'_, T>) -> T {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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

/// What several workers still have to do: nodes that wait in some queues, in batches, and what those workers have in hand who are busy.
///
/// Batches and busy workers are counted in *one* number. Only who is busy puts batches there, so that nothing is left to be done when
/// it is 0, and never will be again. To look at the queues and at the number of busy workers one after the other is not enough where
/// a queue is for some workers only: a batch may be taken between the two looks, and its taker seem to be idle and the queue empty.
#[derive(Debug)]
pub(crate) struct Chores<const QUEUES: usize> {
    n_left: AtomicUsize,
    n_busy: AtomicUsize,
    /// The nodes in all queues.
    n_nodes: AtomicUsize,
    queues: [Queue; QUEUES],
}

#[derive(Debug, Default)]
struct Queue {
    batches: Mutex<VecDeque<Vec<u32>>>,
    n_batches: AtomicUsize,
}

impl<const QUEUES: usize> Chores<QUEUES> {
    /// Empty queues, and so many workers who are busy.
    pub(crate) fn new(n_workers: usize) -> Self {
        let queues = std::array::from_fn(|_| Queue::default());
        let [n_left, n_busy] = [0; 2].map(|_| AtomicUsize::new(n_workers));
        Self { n_left, n_busy, n_nodes: AtomicUsize::new(0), queues }
    }

    /// A worker who is busy, or one who has not begun, hands nodes over.
    pub(crate) fn put(&self, queue: usize, batch: Vec<u32>) {
        self.n_left.fetch_add(1, Ordering::SeqCst);
        self.n_nodes.fetch_add(batch.len(), Ordering::Relaxed);
        let Queue { batches, n_batches } = &self.queues[queue];
        let mut batches = lock(batches);
        batches.push_back(batch);
        n_batches.store(batches.len(), Ordering::SeqCst);
    }

    /// A worker who is busy takes what has waited longest.
    pub(crate) fn take(&self, queue: usize) -> Option<Vec<u32>> {
        if self.n_waiting(queue) == 0 {
            return None;
        }
        let Queue { batches, n_batches } = &self.queues[queue];
        let mut batches = lock(batches);
        let batch = batches.pop_front()?;
        n_batches.store(batches.len(), Ordering::SeqCst);
        self.n_nodes.fetch_sub(batch.len(), Ordering::Relaxed);
        self.n_left.fetch_sub(1, Ordering::SeqCst);
        Some(batch)
    }

    /// How many batches wait.
    #[inline]
    pub(crate) fn n_waiting(&self, queue: usize) -> usize {
        self.queues[queue].n_batches.load(Ordering::SeqCst)
    }

    /// A worker has nothing in hand any more.
    pub(crate) fn rest(&self) {
        self.n_busy.fetch_sub(1, Ordering::SeqCst);
        self.n_left.fetch_sub(1, Ordering::SeqCst);
    }

    /// A worker who rests goes on, since it has seen a batch that waits.
    pub(crate) fn go_on(&self) {
        self.n_left.fetch_add(1, Ordering::SeqCst);
        self.n_busy.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether all is done. Nothing comes after that: who goes on all the same finds nothing to take.
    pub(crate) fn are_done(&self) -> bool {
        self.n_left.load(Ordering::SeqCst) == 0
    }

    /// How many workers are busy, more or less.
    pub(crate) fn n_busy(&self) -> usize {
        self.n_busy.load(Ordering::Relaxed)
    }

    /// The bytes of what waits.
    pub(crate) fn bytes(&self) -> usize {
        let n_batches: usize = (0..QUEUES).map(|queue| self.n_waiting(queue)).sum();
        self.n_nodes.load(Ordering::Relaxed) * size_of::<u32>() + n_batches * size_of::<Vec<u32>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_worker_is_no_answer() {
        let worked = std::panic::catch_unwind(|| {
            std::thread::scope(|scope| join(scope.spawn(|| std::panic::resume_unwind(Box::new(())))))
        });
        assert!(worked.is_err());
    }

    /// Two workers, the second of whom leaves one queue to the first. Whoever sees that all is done ends the work of both.
    #[test]
    fn nobody_ends_the_work_while_there_is_some() {
        const COMMON: usize = 0;
        const FIRST_ONLY: usize = 1;
        for round in 0..20_000_u32 {
            let chores = Chores::<2>::new(2);
            let is_over = AtomicBool::new(false);
            let n_done = AtomicUsize::new(0);
            let work = |is_first: bool| {
                loop {
                    let own = || is_first.then(|| chores.take(FIRST_ONLY)).flatten();
                    while let Some(batch) = own().or_else(|| chores.take(COMMON)) {
                        for number in batch.into_iter().filter(|_| !is_over.load(Ordering::SeqCst)) {
                            n_done.fetch_add(1, Ordering::SeqCst);
                            // 1 leads to 2 and 3, and so on up to 15.
                            if number < 8 {
                                chores.put((number + round) as usize % 2, vec![2 * number]);
                                chores.put(round as usize / 2 % 2, vec![2 * number + 1]);
                            }
                        }
                    }
                    chores.rest();
                    while !chores.are_done() && !is_over.load(Ordering::SeqCst) {
                        if chores.n_waiting(COMMON) > 0 || is_first && chores.n_waiting(FIRST_ONLY) > 0 {
                            chores.go_on();
                            break;
                        }
                        std::thread::yield_now();
                    }
                    if chores.are_done() || is_over.load(Ordering::SeqCst) {
                        is_over.store(true, Ordering::SeqCst);
                        return;
                    }
                }
            };
            chores.put(COMMON, vec![1]);
            std::thread::scope(|scope| {
                scope.spawn(|| work(false));
                work(true);
            });
            assert_eq!(n_done.into_inner(), 15, "round {round}");
        }
    }
}
