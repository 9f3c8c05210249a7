//! Several workers on one search for a bad step or state.
//!
//! They share the visited set, which hands out each state to one of them ([`pdnet_space::SharedStore::take`]); everything else each
//! has for itself, and it is put together at the end. The first of them is the thread that began the search: it alone
//! speaks with who asked for it.
//!
//! # Why the answers are the same
//!
//! Each state that is put in is expanded by one worker, and none is left when the search ends: a worker is idle after it has
//! found nothing to take, and what it has put in itself it has seen by then. So when all are idle, every state was taken, and
//! whoever took it has expanded it. Without stubborn sets the states are therefore those that can be reached, as with one worker.
//! With them, what may be left out in a state depends on the numbers of states and not on who expands them when
//! ([`pdnet_space::Proviso::SomeLater`]); which number a state gets depends on the workers, and so may the number of
//! states, but not the answer.
//!
//! Runs are those along which the states were found. With several workers these are not always shortest ones, nor the same
//! each time.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pdnet_check::{Control, Observer, Progress, StopReason};
use pdnet_space::{SharedStore, StoreWorker};

use crate::budget::Budget;
use crate::graph::full;
use crate::safety::Ended;
use crate::scout::SCOUTS_AT;
use crate::visited::{Kept, Visited as _};
use crate::worker::{Counts, Worker};

/// So many states are taken at a time, at most.
const MOST: u32 = 32;

/// The longest sleep of a worker that has nothing to do.
const SLEEP: Duration = Duration::from_micros(500);

/// Goes on with a search that has expanded so many states.
pub(crate) fn go_on<'a>(worker: Worker<'a, Kept>, n_expanded: usize, budget: &mut Budget<'_>) -> Ended<'a> {
    let n_workers = worker.model.crew.workers;
    let progress = worker.progress();
    let Worker { model, goals, visited, stepper, counts, .. } = worker;
    let Ok(store) = visited.share(n_expanded, n_workers) else {
        return Ended { goals, counts, progress, stopped: Some(full()) };
    };
    drop(visited);
    let crew = Common::new(&store, n_workers, goals.len(), counts);
    let mut first = Worker::new(model, goals, stepper, SharedStore::worker(&store, 0));
    let mut others: Vec<Worker<'a, StoreWorker>> = (1..n_workers)
        .map(|number| {
            Worker::new(model, first.goals.fork(), first.stepper.clone(), SharedStore::worker(&store, number))
        })
        .collect();
    std::thread::scope(|scope| {
        for (number, worker) in (1..).zip(&mut others) {
            let (crew, budget) = (&crew, budget.fork());
            let run = move || {
                let mut watch = Watch(crew);
                crew.run(worker, number, &mut budget.with(&mut watch));
            };
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                // Fewer workers do as well.
                crew.n_busy.fetch_sub(1, Ordering::SeqCst);
            }
        }
        crew.run(&mut first, 0, budget);
    });
    let progress = crew.progress();
    let stopped = crew.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut ended = Ended { goals: first.goals, counts, progress, stopped };
    ended.counts.add(&first.counts);
    for worker in others {
        ended.goals.join(worker.goals);
        ended.counts.add(&worker.counts);
    }
    ended
}

/// What the workers share beside the states.
struct Common<'s> {
    store: &'s SharedStore,
    /// For each goal whether some worker has decided it.
    decided: Vec<AtomicBool>,
    /// The workers that have something to do.
    n_busy: AtomicUsize,
    /// There is nothing to do any more.
    is_over: AtomicBool,
    stopped: Mutex<Option<StopReason>>,
    tallies: Vec<Tally>,
    /// What was done before the workers began.
    before: Counts,
}

/// What a worker lets the others know, in a line of the cache for itself.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Tally {
    expanded: AtomicU64,
    transitions: AtomicU64,
    /// What it keeps beside states.
    bytes: AtomicUsize,
}

impl<'s> Common<'s> {
    fn new(store: &'s SharedStore, n_workers: usize, n_goals: usize, before: Counts) -> Self {
        Self {
            store,
            decided: (0..n_goals).map(|_| AtomicBool::new(false)).collect(),
            n_busy: AtomicUsize::new(n_workers),
            is_over: AtomicBool::new(false),
            stopped: Mutex::new(None),
            tallies: (0..n_workers).map(|_| Tally::default()).collect(),
            before,
        }
    }

    fn progress(&self) -> Progress {
        let sum = |of: fn(&Tally) -> &AtomicU64| -> u64 {
            self.tallies.iter().map(|tally| of(tally).load(Ordering::Relaxed)).sum()
        };
        let states = self.store.len() as u64;
        let expanded = self.before.expanded + sum(|tally| &tally.expanded);
        let bytes: usize = self.tallies.iter().map(|tally| tally.bytes.load(Ordering::Relaxed)).sum();
        Progress {
            states,
            transitions: self.before.transitions + sum(|tally| &tally.transitions),
            frontier: states.saturating_sub(expanded),
            memory_bytes: (self.store.bytes() + bytes) as u64,
        }
    }

    /// Works until the search is over.
    fn run(&self, worker: &mut Worker<'_, StoreWorker>, number: usize, budget: &mut Budget<'_>) {
        // Where this worker panics, the others shall not wait for it.
        let leaves = Leaves(self);
        let result = self.work(worker, number, budget);
        self.tell(worker, number);
        if let Err(reason) = result {
            let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that are told to stop because another one has are not asked why.
            if !self.is_over.load(Ordering::SeqCst) {
                *stopped = Some(reason);
            }
        }
        drop(leaves);
    }

    fn work(
        &self,
        worker: &mut Worker<'_, StoreWorker>,
        number: usize,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        let mut is_scouted = number != 0 || self.store.len() >= SCOUTS_AT;
        loop {
            while let Some(states) = self.store.take(MOST) {
                for id in states {
                    budget.tick(|| self.progress())?;
                    if self.is_over.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    worker.expand(id, budget)?;
                }
                // Others may wait for what this one has found.
                worker.put_in(budget)?;
                self.tell(worker, number);
                if !worker.goals.are_open() {
                    return Ok(());
                }
                if !is_scouted && worker.visited.len() >= SCOUTS_AT {
                    is_scouted = true;
                    worker.send_scouts();
                }
            }
            self.n_busy.fetch_sub(1, Ordering::SeqCst);
            if !self.await_work(budget)? {
                return Ok(());
            }
        }
    }

    /// Waits until there is something to do; false where there will be nothing.
    fn await_work(&self, budget: &mut Budget<'_>) -> Result<bool, StopReason> {
        let mut sleep = Duration::from_micros(1);
        loop {
            if self.is_over.load(Ordering::SeqCst) || self.n_busy.load(Ordering::SeqCst) == 0 {
                return Ok(false);
            }
            if self.store.has_more() {
                self.n_busy.fetch_add(1, Ordering::SeqCst);
                return Ok(true);
            }
            budget.look(&self.progress())?;
            std::thread::sleep(sleep);
            sleep = (sleep * 2).min(SLEEP);
        }
    }

    /// Tells the others how far a worker is, and it what they have decided.
    fn tell(&self, worker: &mut Worker<'_, StoreWorker>, number: usize) {
        let tally = &self.tallies[number];
        tally.expanded.store(worker.counts.expanded, Ordering::Relaxed);
        tally.transitions.store(worker.counts.transitions, Ordering::Relaxed);
        tally.bytes.store(worker.bytes(), Ordering::Relaxed);
        for (goal, decided) in self.decided.iter().enumerate() {
            if worker.goals.undecided(goal).is_none() {
                decided.store(true, Ordering::Relaxed);
            } else if decided.load(Ordering::Relaxed) {
                worker.goals.leave_to_others(goal);
            }
        }
    }
}

/// Ends the search when a worker goes, however it goes: each goes only when there is nothing more to be done.
struct Leaves<'c, 's>(&'c Common<'s>);

impl Drop for Leaves<'_, '_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

/// Stops the searches that a worker does on the side when all is over.
struct Watch<'c, 's>(&'c Common<'s>);

impl Observer for Watch<'_, '_> {
    fn progress(&mut self, _: &Progress) -> Control {
        if self.0.is_over.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }
}
