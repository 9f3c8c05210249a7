//! What a search for a bad step or state does with one state.

use std::ops::ControlFlow;

use pdnet_base::Idx as _;
use pdnet_check::{Depth, MemoryUse, Progress, StopReason, Trace, TraceEnd, Verdict};
use pdnet_space::{Flow, Glance, Outcome as StepOutcome, State, StateId};

use crate::budget::{Budget, FIRINGS};
use crate::goals::{Goals, Hit};
use crate::inside::Inside;
use crate::model::{Model, full};
use crate::scout::scout;
use crate::stepper::Stepper;
use crate::visited::Visited;

/// So many states are put into the store together.
const BATCH: usize = 256;

/// One who expands states and looks at them. A search has one of them, or several that share the visited set.
pub(crate) struct Worker<'a, V> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) goals: Goals<'a>,
    pub(crate) visited: V,
    pub(crate) stepper: Stepper<'a>,
    inside: Inside,
    /// Whether states are inside of atomic sections.
    section: Glance,
    hits: Vec<Hit>,
    pub(crate) counts: Counts,
    /// How deep the search is, where that is known.
    pub(crate) depth: Option<Depth>,
}

/// What a worker has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) expanded: u64,
    pub(crate) transitions: u64,
    /// Stored states in which a thread is in an atomic section.
    pub(crate) inside: u64,
    /// States from which only the steps of some threads were followed.
    pub(crate) partial: u64,
    /// Steps after which values were forgotten, and threads exchanged.
    pub(crate) forgotten: u64,
    pub(crate) exchanged: u64,
}

impl Counts {
    pub(crate) const fn add(&mut self, other: &Self) {
        self.expanded += other.expanded;
        self.transitions += other.transitions;
        self.inside += other.inside;
        self.partial += other.partial;
        self.forgotten += other.forgotten;
        self.exchanged += other.exchanged;
    }

    /// Takes back what was counted since `before` of expansions that count as never begun. The states that they have found stay.
    pub(crate) const fn take_back(&mut self, before: &Self) {
        *self = Self { inside: self.inside, ..*before };
    }
}

impl<'a, V: Visited> Worker<'a, V> {
    pub(crate) fn new(model: &'a Model<'a>, goals: Goals<'a>, stepper: Stepper<'a>, visited: V) -> Self {
        let (inside, section) = (Inside::default(), Glance::default());
        let (hits, counts) = (Vec::new(), Counts::default());
        Self { model, goals, visited, stepper, inside, section, hits, counts, depth: None }
    }

    /// Puts the first state in.
    pub(crate) fn start(&mut self, budget: &Budget<'_>) -> Result<(), StopReason> {
        let compiled = self.model.compiled;
        let start = self.stepper.start(&mut Vec::new());
        let initial = self.stepper.stored(&start);
        self.visited.insert(&initial, 0).map_err(|_| full())?;
        self.counts.inside += u64::from(compiled.is_in_section(&initial));
        budget.allow_states(1)
    }

    /// How far the search is, as far as this worker knows.
    pub(crate) fn progress(&self) -> Progress {
        Progress { depth: self.depth, ..progress(&self.visited, &self.counts, self.bytes()) }
    }

    /// What it takes memory for.
    pub(crate) fn memory(&self) -> MemoryUse {
        let (remembered, edges) = (self.stepper.bytes() as u64, self.goals.bytes() as u64);
        MemoryUse { remembered, edges, ..self.visited.memory() }
    }

    /// The bytes of what it keeps beside states.
    pub(crate) fn bytes(&self) -> usize {
        self.goals.bytes() + self.stepper.bytes()
    }

    /// Looks at a stored state and at those inside of an atomic section that it leads to, and finds their successors. Some of
    /// them wait for [`Worker::put_in`].
    pub(crate) fn expand(&mut self, id: StateId, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        self.stepper.load_row(&self.visited, id);
        self.inside.start();
        self.visit(id, false, budget)?;
        while let Some(state) = self.inside.pop() {
            self.stepper.go_to_row(state);
            self.visit(id, true, budget)?;
        }
        self.counts.expanded += 1;
        Ok(())
    }

    /// Looks at the state at hand and at its steps. It is the stored one, or one inside of an atomic section that was come to
    /// from there.
    fn visit(&mut self, id: StateId, is_inside: bool, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let enabled = self.follow(id, budget);
        // What was found counts, whatever stopped the expansion.
        let result = enabled.and_then(|is_enabled| {
            let is_dead = !is_enabled && !self.stepper.row().has_ended(self.model.compiled, &self.visited);
            if self.goals.need_state(is_dead) {
                self.stepper.unpack(&self.visited);
            }
            self.goals.look(&mut self.stepper, is_dead, &mut self.hits, budget)
        });
        if self.hits.is_empty() {
            return result;
        }
        self.stepper.unpack(&self.visited);
        let inside = is_inside.then(|| self.stepper.current().clone());
        for hit in std::mem::take(&mut self.hits) {
            let goal = hit.goal;
            if self.goals.undecided(goal).is_some() {
                let trace = self.trace(id, inside.as_ref(), hit);
                self.goals.undecided(goal).map(|verdict| verdict.insert(Verdict::Violated(trace)));
            }
        }
        result
    }

    /// Puts the states in that were found and wait for that.
    pub(crate) fn put_in(&mut self, budget: &Budget<'_>) -> Result<(), StopReason> {
        put_in(&mut self.visited, &mut self.counts.inside, budget)
    }

    /// Tries some straight runs for each goal that is still open.
    pub(crate) fn send_scouts(&mut self) {
        for (goal, verdict) in self.goals.open() {
            if let Some(prefix) = scout(self.model, goal) {
                *verdict = Some(Verdict::Violated(Trace { prefix, end: TraceEnd::Any }));
            }
        }
    }

    /// Finds the successors of the state at hand; true where something is enabled.
    fn follow(&mut self, id: StateId, budget: &mut Budget<'_>) -> Result<bool, StopReason> {
        #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
        let parent = id.index() as u32;
        let (mut n_enabled, mut stop) = (0_u64, None);
        let Self { model, goals, visited, stepper, inside, section, hits, counts, depth } = self;
        let goes_through = stepper.through_sections;
        let before = stepper.n_stored_otherwise();
        let mut n_steps = 0;
        let other_bytes = goals.bytes() + stepper.bytes();
        let result = stepper.for_each_row(visited, |visited, step, next, taken| {
            n_enabled += 1;
            n_steps += taken;
            if n_enabled.is_multiple_of(FIRINGS) {
                let counts = Counts { transitions: counts.transitions + n_enabled, ..*counts };
                let progress = Progress { depth: *depth, ..progress(visited, &counts, other_bytes) };
                stop = budget.look(&progress).err();
            }
            goals.see(step, hits);
            let mut is_later = true;
            let is_state = step.outcome == StepOutcome::State;
            let is_in_section = is_state && section.is_in_section(model.compiled, next, visited);
            if is_state && goes_through {
                if !(is_in_section && inside.push(next))
                    && visited.bring(next, parent, is_in_section) >= BATCH
                {
                    stop = stop.take().or(put_in(visited, &mut counts.inside, budget).err());
                }
            } else if is_state {
                match visited.insert_row(next, parent) {
                    // Numbers are what the proviso speaks of, whatever the order in which states are expanded.
                    Ok((found, is_new)) => {
                        is_later = found.index() > id.index();
                        if is_new {
                            counts.inside += u64::from(is_in_section);
                            stop = stop.take().or(allow_states(visited, budget).err());
                        }
                    }
                    Err(_) => stop = Some(full()),
                }
            }
            let control = if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Flow::new(control, is_later)
        });
        counts.transitions += n_steps;
        counts.partial += u64::from(stepper.is_partial());
        let (forgotten, exchanged) = stepper.n_stored_otherwise();
        counts.forgotten += forgotten - before.0;
        counts.exchanged += exchanged - before.1;
        match (result, stop) {
            (Err(error), _) => Err(StopReason::Unsupported(error.0)),
            (Ok(()), Some(reason)) => Err(reason),
            (Ok(()), None) => Ok(n_enabled > 0),
        }
    }

    /// The run to a state along the predecessors, on to one that is not stored, if it is given, and what breaks the goal
    /// there.
    fn trace(&mut self, id: StateId, inside: Option<&State>, hit: Hit) -> Trace {
        let mut path = vec![id];
        let mut at = id;
        while at.index() != 0 {
            at = self.visited.parent(at);
            path.push(at);
        }
        path.reverse();
        self.goals.trace(&mut self.stepper, &self.visited, (&path, inside), hit)
    }
}

/// Puts the states in that were brought. Those of several expansions are put in together, which does not change their order.
fn put_in<V: Visited>(visited: &mut V, n_inside: &mut u64, budget: &Budget<'_>) -> Result<(), StopReason> {
    let mut n_new = 0;
    let n_before = if budget.counts_states() { visited.len() } else { 0 };
    let mut stop = None;
    let put_in = visited.insert_brought(|_, is_new, is_in_section| {
        if is_new {
            n_new += 1;
            *n_inside += u64::from(is_in_section);
            stop = budget.allow_states(n_before + n_new).err();
        }
        if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    put_in.map_err(|_| full())?;
    stop.map_or(Ok(()), Err)
}

/// Whether the search may have as many states as it has.
fn allow_states(visited: &impl Visited, budget: &Budget<'_>) -> Result<(), StopReason> {
    if budget.counts_states() { budget.allow_states(visited.len()) } else { Ok(()) }
}

fn progress(visited: &impl Visited, counts: &Counts, other_bytes: usize) -> Progress {
    let states = visited.len() as u64;
    Progress {
        states,
        transitions: counts.transitions,
        frontier: states.saturating_sub(counts.expanded),
        memory_bytes: (visited.bytes() + other_bytes) as u64,
        depth: None,
    }
}
