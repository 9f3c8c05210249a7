//! A breadth-first search for finite runs, by one worker or several.
//!
//! The mark of a state is the number of the one before it. The summary has what was found and which states wait. While one worker searches,
//! these are all from some number on; several workers take them in about the order of their blocks. What one worker has kept, several can
//! go on with, and the other way round.

use std::sync::Arc;

use pdnet_base::Idx as _;
use pdnet_base::varint::{put, take};
use pdnet_check::{Keeper, StopReason};
use pdnet_space::{SharedStore, StateId, StateStore, States as _};

use crate::budget::Budget;
use crate::journal::findings::Findings;
use crate::journal::states::{StateLog, dense};
use crate::journal::{Contents, Kind, give_up, go_on, take_u32};
use crate::model::{Model, full};
use crate::visited::{Kept, Visited as _};
use crate::worker::Worker;

/// A search that is kept.
pub(crate) struct Journal {
    search: u64,
    states: StateLog,
    /// Something was kept.
    pub(crate) is_begun: bool,
}

/// How a search goes on.
pub(crate) enum Resumed {
    /// From its beginning.
    Anew,
    /// By one worker; so many states were expanded.
    Alone(usize),
    /// By several. Those states wait that the store has not handed out, and these.
    Shared(Arc<SharedStore>, Vec<StateId>),
}

impl Journal {
    pub(crate) fn new(search: u64) -> Self {
        Self { search, states: StateLog::default(), is_begun: false }
    }

    /// Keeps what is new of a search by one worker, who has expanded so many states, and nothing that was brought waits to be put in.
    pub(crate) fn keep(&mut self, worker: &Worker<'_, Kept>, n_expanded: usize, keeper: &mut dyn Keeper) {
        let Model { compiled, .. } = *worker.model;
        let mut state = compiled.initial();
        state.detach();
        let n_states = worker.visited.len();
        let mut parents = worker.visited.parents_from(self.states.n_dense().unwrap_or(0));
        let load = |id, state: &mut _| {
            worker.visited.load(id, state);
            parents.next().unwrap_or(0)
        };
        self.states.keep(self.search, dense(n_states), (&mut state, compiled.layout()), load, keeper);
        let waiting = (n_expanded < n_states).then_some((n_expanded as u64, n_states as u64));
        self.finish(&Findings::of(&worker.goals, worker.counts), waiting.into_iter(), keeper);
    }

    /// Keeps what is new of a search by several workers, none of whom is at work. Those states wait that were not handed out, and these.
    pub(crate) fn keep_shared(
        &mut self,
        (model, store): (&Model<'_>, &SharedStore),
        findings: &Findings,
        left: &[StateId],
        keeper: &mut dyn Keeper,
    ) {
        let mut state = model.compiled.initial();
        state.detach();
        let ends: Vec<(u32, u32)> = store.ends().collect();
        let load = |id, state: &mut _| {
            store.load(id, state);
            store.mark(id)
        };
        let rows = ends.iter().map(|&(end, _)| end);
        self.states.keep(self.search, rows, (&mut state, model.compiled.layout()), load, keeper);
        let block = u64::from(SharedStore::BLOCK);
        let not_taken = (0..).zip(&ends).filter(|(_, (end, taken))| taken < end);
        let not_taken =
            not_taken.map(|(at, &(end, taken))| (at * block + u64::from(taken), at * block + u64::from(end)));
        let left = left.iter().map(|id| (id.index() as u64, id.index() as u64 + 1));
        self.finish(findings, not_taken.chain(left), keeper);
    }

    /// Appends the summary: what was found, and which ranges of states wait.
    fn finish(
        &mut self,
        findings: &Findings,
        waiting: impl Iterator<Item = (u64, u64)>,
        keeper: &mut dyn Keeper,
    ) {
        let mut summary = Kind::Summary.record();
        findings.put(&mut summary);
        let waiting: Vec<(u64, u64)> = waiting.collect();
        put(waiting.len() as u64, &mut summary);
        for (first, end) in waiting {
            put(first, &mut summary);
            put(end - first, &mut summary);
        }
        keeper.append(self.search, &summary);
        keeper.commit();
        self.is_begun = true;
    }

    /// Goes on with what was kept of this search. Where nothing was, or it is not to be read, the worker is as it was.
    ///
    /// # Errors
    /// Where a limit is met. Then nothing may be kept.
    pub(crate) fn resume(
        &mut self,
        worker: &mut Worker<'_, Kept>,
        budget: &mut Budget<'_>,
    ) -> Result<Resumed, StopReason> {
        let Some(contents) = budget.keeper().and_then(|keeper| Contents::read(self.search, keeper)) else {
            return Ok(Resumed::Anew);
        };
        go_on(&contents, budget);
        if let Some(resumed) = self.read(&contents, worker, budget)? {
            self.is_begun = true;
            return Ok(resumed);
        }
        self.states = StateLog::default();
        worker.visited = Kept::new(StateStore::new(worker.model.compiled));
        if let Some(keeper) = budget.keeper() {
            give_up(self.search, keeper);
        }
        Ok(Resumed::Anew)
    }

    fn read(
        &mut self,
        contents: &Contents,
        worker: &mut Worker<'_, Kept>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Resumed>, StopReason> {
        let Model { net, compiled, .. } = *worker.model;
        let mut rest = contents.summary.as_slice();
        let Some(findings) = Findings::take(net, worker.goals.len(), &mut rest) else { return Ok(None) };
        let Some(waiting) = take_ranges(&mut rest) else { return Ok(None) };
        let is_first = match (contents.n_dense(), waiting.as_slice()) {
            (Some(n_states), []) => Some(n_states),
            (Some(n_states), &[(first, end)]) if end == n_states => Some(first),
            _ => None,
        };
        let resumed = if let Some(n_expanded) = is_first {
            let mut state = compiled.initial();
            let log = contents.for_each_state(budget, |_, parent, bytes, budget| {
                state.unpack(compiled.layout(), bytes);
                let (id, is_new) = worker.visited.insert(&state, parent).map_err(|_| full())?;
                if id.index().is_multiple_of(1 << 10) {
                    budget.look(&worker.progress())?;
                }
                Ok(is_new && (parent as usize) <= id.index())
            })?;
            let Some(log) = log else { return Ok(None) };
            self.states = log;
            Resumed::Alone(n_expanded as usize)
        } else {
            let n_workers = worker.model.crew.workers;
            let store = SharedStore::empty(compiled, n_workers.max(1));
            let mut own = SharedStore::worker(&store, 0);
            let Some(log) = contents.restore((&compiled.initial(), compiled.layout()), &mut own, budget)?
            else {
                return Ok(None);
            };
            drop(own);
            let ends: Vec<u32> = store.ends().map(|(end, _)| end).collect();
            let mut left = Vec::new();
            for (first, end) in waiting {
                let (block, row) = (first / SharedStore::BLOCK, first % SharedStore::BLOCK);
                let block_end = block * SharedStore::BLOCK + ends.get(block as usize).copied().unwrap_or(0);
                if !(first..end).all(|number| log.has(number)) {
                    return Ok(None);
                }
                if end == block_end {
                    store.set_taken(block, row);
                } else {
                    left.extend((first..end).map(|number| StateId::new(number as usize)));
                }
            }
            self.states = log;
            Resumed::Shared(store, left)
        };
        worker.counts = findings.give_to(net, &mut worker.goals);
        Ok(Some(resumed))
    }
}

fn take_ranges(rest: &mut &[u8]) -> Option<Vec<(u32, u32)>> {
    let range = |rest: &mut &[u8]| {
        let first = take_u32(rest)?;
        Some((first, first.checked_add(take_u32(rest)?)?))
    };
    (0..take(rest)?).map(|_| range(rest)).collect()
}
