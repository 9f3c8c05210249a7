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
//! A search that is kept is kept by the first worker, while the others rest: each has expanded what it has taken then, and put in what it has
//! found. When the search is stopped before its end, what somebody had taken and not expanded is left, and waits again.
//!
//! Runs are those along which the states were found. With several workers these are not always shortest ones, nor the same
//! each time.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pdnet_base::{Idx as _, OwnLine};
use pdnet_check::{Depth, Progress, StopReason};
use pdnet_space::{SharedStore, StateId, StoreWorker};

use crate::budget::Budget;
use crate::journal::findings::Findings;
use crate::journal::finite::Journal;
use crate::safety::Ended;
use crate::scout::SCOUTS_AT;
use crate::team::{Watch, lock};
use crate::visited::{Kept, Visited as _};
use crate::worker::{Counts, Worker};

/// So many states are taken at a time, at most.
const MOST: u32 = 1024;

/// The longest sleep of a worker that has nothing to do.
const SLEEP: Duration = Duration::from_micros(500);

/// The shortest time between two looks at how deep the search is, and how much longer than such a look it is at least.
const DEPTH_EVERY: Duration = Duration::from_millis(200);
const DEPTH_SHARE: u32 = 50;

/// Goes on with a search whose states are in this store; beside those that were not handed out, these are left to be expanded.
pub(crate) fn go_on<'a>(
    worker: Worker<'a, Kept>,
    store: &Arc<SharedStore>,
    left: Vec<StateId>,
    mut journal: Option<Journal>,
    budget: &mut Budget<'_>,
) -> Ended<'a> {
    let n_workers = worker.model.crew.workers.max(1);
    let Worker { model, goals, visited, stepper, counts, .. } = worker;
    drop(visited);
    let crew = Common::new(store, n_workers, goals.len(), counts, left);
    let mut first = Worker::new(model, goals, stepper, SharedStore::worker(store, 0));
    let mut others: Vec<Worker<'a, StoreWorker>> = (1..n_workers)
        .map(|number| {
            Worker::new(model, first.goals.fork(), first.stepper.clone(), SharedStore::worker(store, number))
        })
        .collect();
    std::thread::scope(|scope| {
        for (number, worker) in (1..).zip(&mut others) {
            let (crew, budget) = (&crew, budget.fork());
            let run = move || {
                let mut watch = Watch(&crew.is_over);
                crew.run(worker, number, None, &mut budget.with(&mut watch));
            };
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                // Fewer workers do as well.
                crew.n_busy.fetch_sub(1, Ordering::SeqCst);
                crew.n_alive.fetch_sub(1, Ordering::SeqCst);
            }
        }
        crew.run(&mut first, 0, journal.as_mut(), budget);
    });
    let progress = crew.progress();
    let left = std::mem::take(&mut *crew.left());
    let stopped = crew.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    let memory = first.memory();
    let mut ended = Ended { goals: first.goals, counts, progress, memory, stopped };
    ended.counts.add(&first.counts);
    for worker in others {
        ended.memory.remembered += worker.memory().remembered;
        ended.goals.join(worker.goals);
        ended.counts.add(&worker.counts);
    }
    if let Some(journal) = &mut journal
        && (journal.is_begun || ended.stopped.is_some())
        && let Some(keeper) = budget.keeper()
    {
        journal.keep_shared((model, store), &Findings::of(&ended.goals, ended.counts), &left, keeper);
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
    tallies: Vec<OwnLine<Tally>>,
    /// What was done before the workers began.
    before: Counts,
    /// States that were handed out and not expanded.
    left: Mutex<Vec<StateId>>,
    /// How deep the search is.
    depth: AtomicU64,
    /// The first worker keeps the search, and wants the others to rest.
    is_pause: AtomicBool,
    /// How many of them do.
    n_resting: AtomicUsize,
    /// How many workers have not gone.
    n_alive: AtomicUsize,
    /// What those that rest have found.
    findings: Mutex<Vec<Findings>>,
}

/// What a worker lets the others know.
#[derive(Debug, Default)]
struct Tally {
    expanded: AtomicU64,
    transitions: AtomicU64,
    /// What it keeps beside states.
    bytes: AtomicUsize,
}

impl<'s> Common<'s> {
    fn new(
        store: &'s SharedStore,
        n_workers: usize,
        n_goals: usize,
        before: Counts,
        left: Vec<StateId>,
    ) -> Self {
        Self {
            store,
            decided: (0..n_goals).map(|_| AtomicBool::new(false)).collect(),
            n_busy: AtomicUsize::new(n_workers),
            is_over: AtomicBool::new(false),
            stopped: Mutex::new(None),
            tallies: (0..n_workers).map(|_| OwnLine::default()).collect(),
            before,
            left: Mutex::new(left),
            depth: AtomicU64::new(0),
            is_pause: AtomicBool::new(false),
            n_resting: AtomicUsize::new(0),
            n_alive: AtomicUsize::new(n_workers),
            findings: Mutex::default(),
        }
    }

    fn left(&self) -> MutexGuard<'_, Vec<StateId>> {
        lock(&self.left)
    }

    fn progress(&self) -> Progress {
        let sum = |of: fn(&Tally) -> &AtomicU64| -> u64 {
            self.tallies.iter().map(|tally| of(tally).load(Ordering::Relaxed)).sum()
        };
        let states = self.store.len() as u64;
        let expanded = self.before.expanded + sum(|tally| &tally.expanded);
        let bytes: usize = self.tallies.iter().map(|tally| tally.bytes.load(Ordering::Relaxed)).sum();
        let depth = self.depth.load(Ordering::Relaxed);
        Progress {
            states,
            transitions: self.before.transitions + sum(|tally| &tally.transitions),
            frontier: states.saturating_sub(expanded),
            memory_bytes: (self.store.bytes() + bytes) as u64,
            depth: (depth > 0).then_some(Depth::Level(depth)),
        }
    }

    /// Works until the search is over. Who has the journal keeps it.
    fn run(
        &self,
        worker: &mut Worker<'_, StoreWorker>,
        number: usize,
        journal: Option<&mut Journal>,
        budget: &mut Budget<'_>,
    ) {
        // Where this worker panics, the others shall not wait for it.
        let leaves = Leaves(self);
        let result = self.work(worker, number, journal, budget);
        self.tell(worker, number);
        if let Err(reason) = result {
            let mut stopped = lock(&self.stopped);
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
        mut journal: Option<&mut Journal>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        let mut is_scouted = number != 0 || self.store.len() >= SCOUTS_AT;
        let mut depth_at = Instant::now();
        let mut states = if number == 0 { std::mem::take(&mut *self.left()) } else { Vec::new() };
        loop {
            while self.take(&mut states, number) {
                let before = worker.counts;
                let result = self.expand(worker, &states, budget);
                if !matches!(result, Ok(true)) {
                    worker.counts.take_back(&before);
                    self.left().append(&mut states);
                    return result.map(drop);
                }
                self.tell(worker, number);
                if !worker.goals.are_open() {
                    return Ok(());
                }
                if !is_scouted && worker.visited.len() >= SCOUTS_AT {
                    is_scouted = true;
                    worker.send_scouts();
                }
                if number == 0 && Instant::now() >= depth_at {
                    depth_at = self.measure(worker, states.last().copied());
                }
                states.clear();
                self.rest(worker, number);
                if let Some(journal) = &mut journal {
                    self.keep(worker, journal, budget);
                }
            }
            self.n_busy.fetch_sub(1, Ordering::SeqCst);
            if !self.await_work(worker, number, &mut journal, budget)? {
                return Ok(());
            }
        }
    }

    /// Takes some states for a worker, unless there are some; false where there are none.
    fn take(&self, states: &mut Vec<StateId>, worker: usize) -> bool {
        if states.is_empty() {
            states.extend(self.store.take(MOST, worker).into_iter().flatten());
        }
        !states.is_empty()
    }

    /// Expands states, and puts in what was found; false where the search is over before that.
    fn expand(
        &self,
        worker: &mut Worker<'_, StoreWorker>,
        states: &[StateId],
        budget: &mut Budget<'_>,
    ) -> Result<bool, StopReason> {
        for &id in states {
            budget.tick(|| self.progress())?;
            if self.is_over.load(Ordering::Relaxed) {
                return Ok(false);
            }
            worker.expand(id, budget)?;
        }
        // Others may wait for what this one has found.
        worker.put_in(budget).map(|()| true)
    }

    /// Sees how many states lie before one of those that are expanded now; says when to look again.
    fn measure(&self, worker: &Worker<'_, StoreWorker>, state: Option<StateId>) -> Instant {
        let start = Instant::now();
        let mut depth = 0;
        let mut at = state.unwrap_or_else(|| StateId::new(0));
        while at.index() != 0 {
            at = worker.visited.parent(at);
            depth += 1;
        }
        self.depth.store(depth, Ordering::Relaxed);
        start + (start.elapsed() * DEPTH_SHARE).max(DEPTH_EVERY)
    }

    /// Keeps the search, if it is time for that, while all others rest.
    fn keep(&self, worker: &Worker<'_, StoreWorker>, journal: &mut Journal, budget: &mut Budget<'_>) {
        if !budget.keeper().is_some_and(|keeper| keeper.is_due()) {
            return;
        }
        self.findings().clear();
        self.is_pause.store(true, Ordering::SeqCst);
        let is_over = || self.is_over.load(Ordering::SeqCst);
        while !is_over() && self.n_resting.load(Ordering::SeqCst) + 1 < self.n_alive.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_micros(20));
        }
        // Where it is over, all is kept at the end.
        if !is_over() {
            let mut counts = self.before;
            counts.add(&worker.counts);
            let mut findings = Findings::of(&worker.goals, counts);
            self.findings().drain(..).for_each(|others| findings.join(others));
            let model = (worker.model, self.store);
            budget.keeper().into_iter().for_each(|keeper| {
                journal.keep_shared(model, &findings, &[], keeper);
            });
        }
        self.is_pause.store(false, Ordering::SeqCst);
        while !is_over() && self.n_resting.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_micros(20));
        }
    }

    fn findings(&self) -> MutexGuard<'_, Vec<Findings>> {
        lock(&self.findings)
    }

    /// Rests while the search is kept. Nothing is taken and not expanded, or brought and not put in.
    fn rest(&self, worker: &Worker<'_, StoreWorker>, number: usize) {
        if number == 0 || !self.is_pause.load(Ordering::SeqCst) {
            return;
        }
        self.findings().push(Findings::of(&worker.goals, worker.counts));
        self.n_resting.fetch_add(1, Ordering::SeqCst);
        while self.is_pause.load(Ordering::SeqCst) && !self.is_over.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_micros(50));
        }
        self.n_resting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Waits until there is something to do; false where there will be nothing.
    fn await_work(
        &self,
        worker: &Worker<'_, StoreWorker>,
        number: usize,
        journal: &mut Option<&mut Journal>,
        budget: &mut Budget<'_>,
    ) -> Result<bool, StopReason> {
        let mut sleep = Duration::from_micros(1);
        loop {
            if self.is_over.load(Ordering::SeqCst) || self.n_busy.load(Ordering::SeqCst) == 0 {
                return Ok(false);
            }
            self.rest(worker, number);
            if self.store.has_more() {
                self.n_busy.fetch_add(1, Ordering::SeqCst);
                return Ok(true);
            }
            budget.look(&self.progress())?;
            if let Some(journal) = journal {
                self.keep(worker, journal, budget);
            }
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
        self.0.n_alive.fetch_sub(1, Ordering::SeqCst);
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}
