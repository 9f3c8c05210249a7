//! A search depth first for everything that a single step or state can break.
//!
//! A state is put into the visited set when the search goes to it, and not when a step is found that leads there. So whoever looks for
//! one violation pays for the states on the way to it, and not for all that lie beside that way; these wait, one for each step that was
//! found and not taken yet. Steps that turned out not to be needed, since those of other threads are enough, do not wait.
//!
//! Of the steps of a state those of the thread with the highest number come first, which usually is the newest one, and those of one thread
//! in their order in the program. That is the order of SPIN's search: where neither leaves steps out, both go to the same states.
//!
//! It keeps the states that wait and those on the way to the present one, which is the run that is shown where something is found. So it
//! can do with a visited set that does not keep the states ([`Filter`]): whatever that takes for what, a violation is one.
//! Where none is found, such a set proves nothing.
//!
//! # Why steps may be left out
//!
//! What keeps a step from being put off forever is a number that each state keeps ([`Proviso::SomeLater`]). Here it is its place in the
//! order in which the search goes to states. One that is not in the visited set while another is looked at is gone to later, by the
//! step that was found, which waits, or before that by another way: its number is larger. One that is in the set has a smaller number, or is
//! the one at hand.
//!
//! That only a state *on the way* to the present one keeps steps from being enough, as in SPIN, would be right, too: then the number is the place in
//! the reversed order in which states are left. It takes a set of the states on the way, and was not needed.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use pdnet_base::Idx as _;
use pdnet_check::{MemoryUse, Outcome, Progress, StopReason, Verdict};
use pdnet_space::{Compiled, Flow, Outcome as StepOutcome, Proviso, State, StateId, States, ThreadSet};

use crate::Storage;
use crate::budget::{Budget, FIRINGS};
use crate::filter::Filter;
use crate::goals::{Goal, Goals, Hit};
use crate::journal::depth::DepthJournal;
use crate::journal::findings::Findings;
use crate::model::{Model, full};
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
    /// The states after the present one.
    next: Next,
    counts: Counts,
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

/// The states that the steps of one state lead to.
#[derive(Debug, Default)]
struct Next {
    bytes: Vec<u8>,
    /// Where each ends, and the thread that moves.
    found: Vec<(usize, u32)>,
    /// Their positions, in the order in which they are to be visited.
    order: Vec<usize>,
}

impl Next {
    fn clear(&mut self) {
        self.bytes.clear();
        self.found.clear();
    }

    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|before| self.found.get(before)).map_or(0, |&(end, _)| end)
    }

    /// Adds a state as bytes, which come back.
    fn add(&mut self, thread: u32, pack: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        let start = self.bytes.len();
        pack(&mut self.bytes);
        self.found.push((self.bytes.len(), thread));
        &self.bytes[start..]
    }

    /// Takes the last one back.
    fn take_back(&mut self) {
        self.found.pop();
        self.bytes.truncate(self.start(self.found.len()));
    }

    /// Lets those wait, but for steps of other threads than these, if they are enough.
    fn wait(&mut self, depth: usize, chosen: Option<ThreadSet>, waiting: &mut Packed) {
        self.order.clear();
        let is_enough = |&at: &usize| chosen.is_none_or(|chosen| chosen.contains(self.found[at].1 as usize));
        self.order.extend((0..self.found.len()).filter(is_enough));
        // What is put last comes first.
        self.order.sort_by_key(|&at| (self.found[at].1, Reverse(at)));
        for &at in &self.order {
            waiting.push(depth, &self.bytes[self.start(at)..self.found[at].0]);
        }
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
        // A state that was visited has no number here: only one that is still to be visited is known to be later.
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
            next: Next::default(),
            counts: Counts::default(),
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
        stats.states_outside = Some(stats.states - self.counts.inside);
        stats.states_reduced = Some(self.counts.partial);
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
            Ok(Some(counts)) => self.counts = counts,
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
        let findings = Findings::of(&self.goals, self.counts);
        if let (Some(journal), Some(keeper)) = (&mut self.journal, budget.keeper()) {
            journal.keep((&mut self.waiting, &mut self.way), &findings, keeper);
        }
    }

    fn progress(&self) -> Progress {
        let other_bytes = self.way.size() + self.goals.bytes() + self.stepper.bytes();
        progress(&self.filter, &self.waiting, (self.counts.transitions, self.way.len()), other_bytes)
    }

    fn explore(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let layout = self.model.compiled.layout();
        let start = self.stepper.start(&mut Vec::new());
        let mut state = self.stepper.stored(&start);
        if self.filter.len() == 0 && self.waiting.len() == 0 {
            let mut bytes = Vec::new();
            state.pack(layout, &mut bytes);
            self.waiting.push(0, &bytes);
        }
        while self.goals.are_open()
            && let Some(last) = self.waiting.starts.len().checked_sub(1)
        {
            if self.journal.is_some() && budget.is_moment() {
                self.keep(budget);
            }
            budget.tick(|| self.progress())?;
            state.unpack(layout, self.waiting.get(last));
            // What was put in and not visited to the end is the last one that waits.
            let is_unfinished = self.counts.expanded < self.filter.len();
            if !is_unfinished && !self.enter(&state, last)? {
                self.waiting.truncate(last);
                continue;
            }
            let depth = self.waiting.starts[last].1;
            self.way.truncate(depth);
            self.way.push(depth, self.waiting.get(last));
            self.waiting.truncate(last);
            self.stepper.go_to(&state);
            let before = self.counts;
            let n_states = usize::try_from(self.filter.len()).unwrap_or(usize::MAX);
            let visited = budget.allow_states(n_states).and_then(|()| self.visit(depth, budget));
            if let Some(journal) = &mut self.journal {
                journal.relieve(budget);
                if visited.is_err() {
                    // It was not visited to the end: who goes on later begins with it.
                    self.waiting.push(depth, self.way.get(depth));
                    self.counts = before;
                }
            }
            visited?;
            self.counts.expanded += 1;
        }
        Ok(())
    }

    /// Goes to a state that waits, unless another way has led to it since; true where it is new.
    fn enter(&mut self, state: &State, waiting: usize) -> Result<bool, StopReason> {
        let bytes = self.waiting.get(waiting);
        let is_new = self.filter.insert(state, bytes).map_err(|_| full())?;
        if is_new {
            self.counts.inside += u64::from(self.model.compiled.is_in_section(state));
            self.journal.iter_mut().for_each(|journal| journal.add(&self.filter, bytes));
        }
        Ok(is_new)
    }

    /// Looks at the present state and at its steps.
    fn visit(&mut self, depth: usize, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let other_bytes = self.way.size() + self.goals.bytes() + self.stepper.bytes();
        let mut hits: Vec<Hit> = Vec::new();
        let (mut n_enabled, mut stop) = (0_u64, None);
        let Self { model, goals, stepper, filter, waiting, next, counts, .. } = self;
        next.clear();
        let result = stepper.for_each(|step, state, taken| {
            n_enabled += 1;
            counts.transitions += taken;
            if n_enabled.is_multiple_of(FIRINGS) {
                stop =
                    budget.look(&progress(filter, waiting, (counts.transitions, depth), other_bytes)).err();
            }
            goals.see(step, &mut hits);
            let mut is_later = true;
            if step.outcome == StepOutcome::State {
                let bytes = next.add(step.thread, |bytes| state.pack(model.compiled.layout(), bytes));
                let is_visited = filter.contains(state, bytes).unwrap_or_else(|_| {
                    stop = Some(full());
                    true
                });
                is_later = !is_visited;
                if is_visited {
                    next.take_back();
                }
            }
            let control = if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Flow::new(control, is_later)
        });
        self.counts.partial += u64::from(self.stepper.is_partial());
        let looked = match (result, stop) {
            (Err(error), _) => Err(StopReason::Unsupported(error.0)),
            (Ok(()), Some(reason)) => Err(reason),
            (Ok(()), None) => {
                let is_dead = n_enabled == 0 && !self.model.compiled.has_ended(self.stepper.current());
                self.goals.look(&mut self.stepper, is_dead, &mut hits, budget)
            }
        };
        if looked.is_ok() {
            self.next.wait(depth + 1, self.stepper.chosen(), &mut self.waiting);
        }
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
