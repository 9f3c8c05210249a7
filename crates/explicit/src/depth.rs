//! A search depth first for everything that a single step or state can break.
//!
//! It keeps the states that wait and those on the way to the present one, which is the run that is shown where something is found. So it
//! can do with a visited set that does not keep the states ([`Filter`]): whatever that takes for what, a violation is one.
//! Where none is found, such a set proves nothing.

use std::ops::ControlFlow;

use pdnet_base::Idx as _;
use pdnet_check::{MemoryUse, Outcome, Progress, StopReason, Verdict};
use pdnet_space::{Compiled, Flow, Outcome as StepOutcome, Proviso, State, StateId, States};

use crate::Storage;
use crate::budget::{Budget, FIRINGS};
use crate::filter::Filter;
use crate::goals::{Goal, Goals, Hit};
use crate::graph::{Model, full};
use crate::journal::depth::DepthJournal;
use crate::journal::findings::Findings;
use crate::stepper::Stepper;
use crate::worker::Counts;

/// The search.
pub(crate) struct Depth<'a> {
    model: &'a Model<'a>,
    goals: Goals<'a>,
    stepper: Stepper<'a>,
    storage: Storage,
    filter: Filter,
    /// The states that wait, each with the number of states before it on its way.
    waiting: Packed,
    /// The states on the way to the present one, which is the last.
    way: Packed,
    n_transitions: u64,
    n_partial: u64,
    /// Where the search is kept, if it is.
    journal: Option<DepthJournal>,
}

/// States as bytes, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    bytes: Vec<u8>,
    /// Where each begins, and its depth.
    starts: Vec<(usize, usize)>,
    /// The fewest that there were since [`Packed::take_lowest`].
    lowest: usize,
}

impl Packed {
    /// How many there are.
    pub(crate) const fn len(&self) -> usize {
        self.starts.len()
    }

    /// The depth of one of them.
    pub(crate) fn depth(&self, at: usize) -> usize {
        self.starts.get(at).map_or(0, |&(_, depth)| depth)
    }

    /// The fewest that there were since this was asked the last time: so many are as they were then.
    pub(crate) fn take_lowest(&mut self) -> usize {
        std::mem::replace(&mut self.lowest, self.starts.len())
    }

    pub(crate) fn push(&mut self, depth: usize, state: &[u8]) {
        self.starts.push((self.bytes.len(), depth));
        self.bytes.extend_from_slice(state);
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.lowest = self.lowest.min(len);
        if let Some(&(start, _)) = self.starts.get(len) {
            self.bytes.truncate(start);
            self.starts.truncate(len);
        }
    }

    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let end = self.starts.get(at + 1).map_or(self.bytes.len(), |&(start, _)| start);
        self.starts.get(at).map_or(&[], |&(start, _)| &self.bytes[start..end])
    }

    pub(crate) const fn size(&self) -> usize {
        self.bytes.capacity() + self.starts.capacity() * size_of::<(usize, usize)>()
    }
}

/// The way as states by their position.
struct Way<'w> {
    way: &'w Packed,
    compiled: &'w Compiled,
}

impl States for Way<'_> {
    fn load(&self, id: StateId, state: &mut State) {
        state.unpack(self.compiled.layout(), self.way.get(id.index()));
    }
}

impl<'a> Depth<'a> {
    /// A search, which is kept with this fingerprint, if one is given.
    pub(crate) fn new(
        model: &'a Model<'a>,
        goals: Vec<Goal>,
        fingerprint: Option<u64>,
        storage: Storage,
        memory: Option<u64>,
    ) -> Self {
        let goals = Goals::new(model, goals, false);
        // A state that was seen has no number here: only a new one is known to be later than the one before it.
        let mut stepper = Stepper::new(model, goals.reduction(Proviso::SomeLater), goals.stored());
        stepper.through_sections = false;
        Self {
            model,
            goals,
            stepper,
            storage,
            filter: Filter::new(storage, memory, model.compiled),
            waiting: Packed::default(),
            way: Packed::default(),
            n_transitions: 0,
            n_partial: 0,
            journal: fingerprint.map(DepthJournal::new),
        }
    }

    /// One outcome for each goal. The statistics are those of the search that they share.
    pub(crate) fn check(mut self, budget: &mut Budget<'_>) -> Vec<Outcome> {
        let search = budget.search();
        let stopped = match self.resume(budget) {
            Ok(()) => {
                let stopped = self.explore(budget).err();
                // What a limit has stopped is kept, too: with a higher one it can go on.
                if self.journal.as_ref().is_some_and(|journal| journal.is_begun || stopped.is_some()) {
                    self.keep(budget);
                }
                stopped
            }
            // What was not read must not be written over.
            Err(reason) => Some(reason),
        };
        let mut stats = budget.stats(&search, &self.progress());
        stats.states_reduced = Some(self.n_partial);
        stats.memory = MemoryUse {
            way_back: self.way.size() as u64,
            waiting: self.waiting.size() as u64,
            remembered: self.stepper.bytes() as u64,
            edges: self.goals.bytes() as u64,
            ..self.filter.memory()
        };
        let (forgotten, exchanged) = self.stepper.n_stored_otherwise();
        (stats.steps_forgotten, stats.steps_exchanged) = (Some(forgotten), Some(exchanged));
        let rest = match stopped {
            Some(reason) => Verdict::Unknown(reason),
            None => match self.goals.notes.verdict(self.model.net) {
                Verdict::Holds => self.filter.confidence().map_or(Verdict::Holds, |confidence| {
                    Verdict::Unknown(StopReason::Omissions { store: self.storage.name(), confidence })
                }),
                other => other,
            },
        };
        self.goals.into_verdicts(&rest).map(|verdict| Outcome { verdict, stats }).collect()
    }

    /// Goes on with what was kept of the search, if something was.
    fn resume(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let Self { model, goals, filter, waiting, way, journal, .. } = self;
        let Some(journal) = journal else { return Ok(()) };
        match journal.read(model, goals, filter, (waiting, way), budget) {
            Ok(Some(counts)) => (self.n_transitions, self.n_partial) = (counts.transitions, counts.partial),
            Ok(None) => {}
            Err(Some(reason)) => return Err(reason),
            Err(None) => {
                self.filter.clear(model.compiled);
                (self.waiting, self.way) = (Packed::default(), Packed::default());
            }
        }
        Ok(())
    }

    /// Keeps what is new.
    fn keep(&mut self, budget: &mut Budget<'_>) {
        let counts = Counts { transitions: self.n_transitions, partial: self.n_partial, ..Counts::default() };
        let findings = Findings::of(&self.goals, counts);
        if let (Some(journal), Some(keeper)) = (&mut self.journal, budget.keeper()) {
            journal.keep((&mut self.waiting, &mut self.way), &findings, keeper);
        }
    }

    fn progress(&self) -> Progress {
        let other_bytes = self.way.size() + self.goals.bytes() + self.stepper.bytes();
        progress(&self.filter, &self.waiting, (self.n_transitions, self.way.len()), other_bytes)
    }

    fn explore(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let layout = self.model.compiled.layout();
        let start = self.stepper.start(&mut Vec::new());
        let mut state = self.stepper.stored(&start);
        let mut bytes = Vec::new();
        if self.filter.len() == 0 {
            state.pack(layout, &mut bytes);
            self.filter.insert(&state, &bytes).map_err(|_| full())?;
            self.waiting.push(0, &bytes);
            self.journal.iter_mut().for_each(|journal| journal.add(&self.filter, &bytes));
        }
        while self.goals.are_open()
            && let Some(last) = self.waiting.starts.len().checked_sub(1)
        {
            if self.journal.is_some() && budget.is_moment() {
                self.keep(budget);
            }
            budget.tick(|| self.progress())?;
            let depth = self.waiting.starts[last].1;
            self.way.truncate(depth);
            self.way.push(depth, self.waiting.get(last));
            self.waiting.truncate(last);
            state.unpack(layout, self.way.get(depth));
            self.stepper.go_to(&state);
            let before = (self.n_transitions, self.n_partial);
            let visited = self.visit(depth, &mut bytes, budget);
            if let Some(journal) = &mut self.journal {
                journal.relieve(budget);
                if visited.is_err() {
                    // It was not visited to the end: who goes on later begins with it.
                    self.waiting.push(depth, self.way.get(depth));
                    (self.n_transitions, self.n_partial) = before;
                }
            }
            visited?;
        }
        Ok(())
    }

    /// Looks at the present state and at its steps.
    fn visit(
        &mut self,
        depth: usize,
        bytes: &mut Vec<u8>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        let other_bytes = self.way.size() + self.goals.bytes() + self.stepper.bytes();
        let mut hits: Vec<Hit> = Vec::new();
        let (mut n_enabled, mut stop) = (0_u64, None);
        let Self { model, goals, stepper, filter, waiting, n_transitions, journal, .. } = self;
        let result = stepper.for_each(|step, next, taken| {
            n_enabled += 1;
            *n_transitions += taken;
            if n_enabled.is_multiple_of(FIRINGS) {
                stop = budget.look(&progress(filter, waiting, (*n_transitions, depth), other_bytes)).err();
            }
            goals.see(step, &mut hits);
            let mut is_later = true;
            if step.outcome == StepOutcome::State {
                bytes.clear();
                next.pack(model.compiled.layout(), bytes);
                is_later = filter.insert(next, bytes).unwrap_or_else(|_| {
                    stop = Some(full());
                    false
                });
                if is_later {
                    journal.iter_mut().for_each(|journal| journal.add(filter, bytes));
                    waiting.push(depth + 1, bytes);
                    let n_states = usize::try_from(filter.len()).unwrap_or(usize::MAX);
                    stop = stop.take().or(budget.allow_states(n_states).err());
                }
            }
            let control = if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Flow::new(control, is_later)
        });
        self.n_partial += u64::from(self.stepper.is_partial());
        let looked = match (result, stop) {
            (Err(error), _) => Err(StopReason::Unsupported(error.0)),
            (Ok(()), Some(reason)) => Err(reason),
            (Ok(()), None) => {
                let is_dead = n_enabled == 0 && !self.model.compiled.has_ended(self.stepper.current());
                self.goals.look(&mut self.stepper, is_dead, &mut hits, budget)
            }
        };
        for hit in hits {
            let goal = hit.goal;
            if self.goals.undecided(goal).is_some() {
                let path: Vec<StateId> = (0..self.way.starts.len()).map(StateId::new).collect();
                let way = Way { way: &self.way, compiled: self.model.compiled };
                let trace = self.goals.trace(&mut self.stepper, &way, (&path, None), hit);
                self.goals.undecided(goal).map(|verdict| verdict.insert(Verdict::Violated(trace)));
            }
        }
        looked
    }
}

fn progress(
    filter: &Filter,
    waiting: &Packed,
    (transitions, depth): (u64, usize),
    other_bytes: usize,
) -> Progress {
    Progress {
        states: filter.len(),
        transitions,
        frontier: waiting.starts.len() as u64,
        memory_bytes: (filter.bytes() + waiting.size() + other_bytes) as u64,
        depth: Some(pdnet_check::Depth::Stack(depth as u64)),
    }
}
