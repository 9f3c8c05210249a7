//! One breadth-first search for everything that a single step or state can break.

use pdnet_base::Idx as _;
use pdnet_check::{Outcome, Progress, StopReason, Verdict};
use pdnet_net::Transition;
use pdnet_space::{Proviso, StateId, StateStore};

use crate::Crew;
use crate::budget::Budget;
use crate::crew;
use crate::goals::{Goal, Goals};
use crate::graph::Model;
use crate::journal::Journal;
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
    /// What kept it from coming to its end.
    pub(crate) stopped: Option<StopReason>,
}

impl<'a> Safety<'a> {
    /// A search, which is kept with this fingerprint, if one is given.
    pub(crate) fn new(model: &'a Model<'a>, goals: Vec<Goal>, fingerprint: Option<u64>) -> Self {
        let journal = fingerprint.map(Journal::new);
        Self { journal, ..Self::with(model, Goals::new(model, goals, false)) }
    }

    /// The transitions that fire in no run.
    ///
    /// # Errors
    /// Where not all runs are known.
    pub(crate) fn unreached(
        model: &'a Model<'a>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Transition>, StopReason> {
        budget.search();
        let ended = Self::with(model, Goals::new(model, Vec::new(), true)).run(budget);
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
        let Ended { goals, counts, progress, stopped } = self.run(budget);
        let mut stats = budget.stats(&search, &progress);
        stats.states_outside = Some(stats.states - counts.inside);
        stats.states_reduced = Some(counts.partial);
        stats.steps_forgotten = Some(counts.forgotten);
        stats.steps_exchanged = Some(counts.exchanged);
        let rest = stopped.map_or_else(|| goals.notes.verdict(net), Verdict::Unknown);
        goals.into_verdicts(&rest).map(|verdict| Outcome { verdict, stats }).collect()
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Ended<'a> {
        let explored = self.explore(budget);
        if let Ok(Some(n_expanded)) = explored {
            return crew::go_on(self.worker, n_expanded, budget);
        }
        let progress = self.worker.progress();
        let Worker { goals, counts, .. } = self.worker;
        Ended { goals, counts, progress, stopped: explored.err() }
    }

    /// Expands one state after the other until all goals are decided or no state is left. Where there are so many states that
    /// several workers shall go on, the number of those that were expanded comes back.
    fn explore(&mut self, budget: &mut Budget<'_>) -> Result<Option<usize>, StopReason> {
        let mut position = 0;
        let explored = self.explore_from(&mut position, budget);
        // What a limit has stopped is kept, too: with a higher one it can go on.
        if let Some(journal) = &mut self.journal
            && (journal.is_begun() || explored.is_err())
            && let Some(keeper) = budget.keeper()
        {
            journal.keep(&self.worker, position, keeper);
        }
        explored
    }

    fn explore_from(
        &mut self,
        position: &mut usize,
        budget: &mut Budget<'_>,
    ) -> Result<Option<usize>, StopReason> {
        let Self { worker, journal } = self;
        if let Some(journal) = journal {
            *position = journal.resume(worker, budget)?.unwrap_or(0);
        }
        if worker.visited.len() == 0 {
            worker.start(budget)?;
        }
        // What is kept is kept by one.
        let crew = if journal.is_some() { Crew::ALONE } else { worker.model.crew };
        let mut is_scouted = false;
        while *position < worker.visited.len() && worker.goals.are_open() {
            if let Some(journal) = journal
                && budget.is_moment()
                && let Some(keeper) = budget.keeper()
                && keeper.is_due()
            {
                journal.keep(worker, *position, keeper);
            }
            budget.tick(|| worker.progress())?;
            worker.expand(StateId::new(*position), budget)?;
            // What is kept must have the successors of all that was expanded, whenever the search is stopped.
            if journal.is_some() {
                worker.put_in(budget)?;
            }
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
                return Ok(Some(*position));
            }
        }
        Ok(None)
    }
}
