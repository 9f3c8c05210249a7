//! One breadth-first search for everything that a single step or state can break.

use pdnet_base::Idx as _;
use pdnet_check::{Depth, MemoryUse, Outcome, Progress, StopReason, Verdict};
use pdnet_net::Transition;
use pdnet_space::{Proviso, StateId, StateStore};

use crate::budget::Budget;
use crate::crew;
use crate::goals::{Goal, Goals};
use crate::journal::finite::{Journal, Resumed};
use crate::model::{Model, full};
use crate::scout::SCOUTS_AT;
use crate::stepper::Stepper;
use crate::visited::{Kept, Visited as _};
use crate::worker::{Counts, Worker};

/// The search. States are numbered in the order in which they are found, so that the queue of a breadth-first
/// search is nothing but the next number; each state remembers its predecessor. When it has become large, several workers may
/// go on with it.
pub(crate) struct Safety<'a> {
    worker: Worker<'a, Kept>,
    /// Where it is kept, if it is.
    journal: Option<Journal>,
}

/// How a search has ended.
pub(crate) struct Ended<'a> {
    pub(crate) goals: Goals<'a>,
    pub(crate) counts: Counts,
    pub(crate) progress: Progress,
    pub(crate) memory: MemoryUse,
    /// What kept it from coming to its end.
    pub(crate) stopped: Option<StopReason>,
}

impl<'a> Safety<'a> {
    /// A search, which is kept with this fingerprint, if one is given.
    pub(crate) fn new(model: &'a Model<'a>, goals: Vec<Goal>, fingerprint: Option<u64>) -> Self {
        let journal = fingerprint.map(Journal::new);
        Self { journal, ..Self::with(model, Goals::new(model, goals, false)) }
    }

    /// The transitions that fire in no run. The search is kept with this fingerprint, if one is given.
    ///
    /// # Errors
    /// Where not all runs are known.
    pub(crate) fn unreached(
        model: &'a Model<'a>,
        fingerprint: Option<u64>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Transition>, StopReason> {
        budget.search();
        let journal = fingerprint.map(Journal::new);
        let search = Self { journal, ..Self::with(model, Goals::new(model, Vec::new(), true)) };
        let ended = search.run(budget);
        if let Some(reason) = ended.stopped {
            return Err(reason);
        }
        if let Verdict::Unknown(reason) = ended.goals.notes.verdict(model.net) {
            return Err(reason);
        }
        Ok(ended.goals.into_unfired())
    }

    fn with(model: &'a Model<'a>, goals: Goals<'a>) -> Self {
        let stepper = Stepper::new(model, goals.reduction(Proviso::SomeLater), goals.stored());
        let worker = Worker::new(model, goals, stepper, Kept::new(StateStore::new(model.compiled)));
        Self { worker, journal: None }
    }

    /// One outcome for each goal. The statistics are those of the search that they share.
    pub(crate) fn check(self, budget: &mut Budget<'_>) -> Vec<Outcome> {
        let search = budget.search();
        let net = self.worker.model.net;
        let Ended { goals, counts, progress, memory, stopped } = self.run(budget);
        let mut stats = budget.stats(&search, &progress);
        stats.memory = memory;
        stats.states_outside = Some(stats.states - counts.inside);
        stats.states_reduced = Some(counts.partial);
        stats.steps_forgotten = Some(counts.forgotten);
        stats.steps_exchanged = Some(counts.exchanged);
        let rest = stopped.map_or_else(|| goals.notes.verdict(net), Verdict::Unknown);
        goals.into_verdicts(&rest).map(|verdict| Outcome { verdict, stats }).collect()
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Ended<'a> {
        let resumed = match &mut self.journal {
            Some(journal) => journal.resume(&mut self.worker, budget),
            None => Ok(Resumed::Anew),
        };
        let mut position = match resumed {
            Ok(Resumed::Anew) => 0,
            Ok(Resumed::Alone(n_expanded)) => n_expanded,
            Ok(Resumed::Shared(store, left)) => {
                return crew::go_on(self.worker, &store, left, self.journal, budget);
            }
            // What was not read must not be written over.
            Err(reason) => return self.end(Some(reason)),
        };
        match self.explore_from(&mut position, budget) {
            Ok(Go::Shared) => {
                let n_workers = self.worker.model.crew.workers;
                match self.worker.visited.share(position, n_workers) {
                    Ok(store) => crew::go_on(self.worker, &store, Vec::new(), self.journal, budget),
                    Err(_) => self.end(Some(full())),
                }
            }
            Ok(Go::Ended) => self.keep_and_end(position, None, budget),
            Err(reason) => self.keep_and_end(position, Some(reason), budget),
        }
    }

    /// What a limit has stopped is kept, too: with a higher one it can go on.
    fn keep_and_end(
        mut self,
        position: usize,
        stopped: Option<StopReason>,
        budget: &mut Budget<'_>,
    ) -> Ended<'a> {
        // Where states are counted, what was brought by who was expanded is in; where they are not, it has room.
        if let Some(journal) = &mut self.journal
            && (journal.is_begun || stopped.is_some())
            && (self.worker.put_in(budget).is_ok() || budget.counts_states())
            && let Some(keeper) = budget.keeper()
        {
            journal.keep(&self.worker, position, keeper);
        }
        self.end(stopped)
    }

    fn end(self, stopped: Option<StopReason>) -> Ended<'a> {
        let (progress, memory) = (self.worker.progress(), self.worker.memory());
        let Worker { goals, counts, .. } = self.worker;
        Ended { goals, counts, progress, memory, stopped }
    }

    /// Expands one state after the other, from this position on, until all goals are decided, no state is left, or there are so
    /// many of them that several workers shall go on.
    fn explore_from(&mut self, position: &mut usize, budget: &mut Budget<'_>) -> Result<Go, StopReason> {
        let Self { worker, journal } = self;
        if worker.visited.len() == 0 {
            worker.start(budget)?;
        }
        let crew = worker.model.crew;
        let (mut level, mut level_end) = level_at(worker, *position);
        let mut is_scouted = false;
        while *position < worker.visited.len() && worker.goals.are_open() {
            if *position == level_end {
                worker.put_in(budget)?;
                (level, level_end) = (level + 1, worker.visited.len());
            }
            worker.depth = Some(Depth::Level(level));
            if let Some(journal) = journal
                && budget.is_moment()
            {
                worker.put_in(budget)?;
                budget.keeper().into_iter().for_each(|keeper| journal.keep(worker, *position, keeper));
            }
            budget.tick(|| worker.progress())?;
            let before = worker.counts;
            let mut expanded = worker.expand(StateId::new(*position), budget);
            // What is dropped because there are too many states is found again by who expands this one again.
            if expanded.is_ok() && journal.is_some() && budget.counts_states() {
                expanded = worker.put_in(budget);
            }
            if expanded.is_err() && journal.is_some() {
                worker.counts.take_back(&before);
            }
            expanded?;
            *position += 1;
            if *position == worker.visited.len() || !worker.goals.are_open() {
                worker.put_in(budget)?;
            }
            if !is_scouted && worker.visited.len() >= SCOUTS_AT {
                is_scouted = true;
                worker.send_scouts();
            }
            if crew.workers > 1 && worker.visited.len() >= crew.from_states {
                worker.put_in(budget)?;
                return Ok(Go::Shared);
            }
        }
        Ok(Go::Ended)
    }
}

/// The level of a state that is to be expanded, and the first state of the next one.
fn level_at(worker: &Worker<'_, Kept>, position: usize) -> (u64, usize) {
    let level_of = |state: usize| {
        let before = |at: &StateId| (at.index() != 0).then(|| worker.visited.parent(*at));
        std::iter::successors(Some(StateId::new(state)), before).count() as u64 - 1
    };
    let n_states = worker.visited.len();
    if position >= n_states {
        return (0, n_states);
    }
    let level = level_of(position);
    let (mut first, mut end) = (position, n_states);
    while first < end {
        let middle = first.midpoint(end);
        if level_of(middle) <= level { first = middle + 1 } else { end = middle }
    }
    (level, end)
}

/// How a search by one worker has ended.
enum Go {
    /// Nothing is left to be done.
    Ended,
    /// Several workers shall go on.
    Shared,
}
