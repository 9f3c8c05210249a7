//! One breadth-first search for everything that a single step or state can break.

use std::ops::ControlFlow;

use pdnet_base::Idx as _;
use pdnet_check::{Outcome, Progress, StopReason, Trace, TraceEnd, Verdict};
use pdnet_net::Transition;
use pdnet_space::{Flow, Outcome as StepOutcome, Proviso, State, StateId, StateStore};

use crate::budget::{Budget, FIRINGS};
use crate::goals::{Goal, Goals, Hit};
use crate::graph::{Model, full};
use crate::inside::Inside;
use crate::parents::Parents;
use crate::scout::{SCOUTS_AT, scout};
use crate::stepper::Stepper;

/// So many successors of a state are put into the store together.
const BATCH: usize = 64;

/// The search. States are numbered in the order in which they are found, so that the queue of a breadth-first
/// search is nothing but the next number; each state remembers its predecessor.
pub(crate) struct Safety<'a> {
    model: &'a Model<'a>,
    goals: Goals<'a>,
    store: StateStore,
    stepper: Stepper<'a>,
    inside: Inside,
    parents: Parents,
    n_transitions: u64,
    /// Stored states in which a thread is in an atomic section.
    n_inside: u64,
    /// States from which only the steps of some threads were followed.
    n_partial: u64,
}

impl<'a> Safety<'a> {
    pub(crate) fn new(model: &'a Model<'a>, goals: Vec<Goal>) -> Self {
        Self::with(model, Goals::new(model, goals, false))
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
        let mut search = Self::with(model, Goals::new(model, Vec::new(), true));
        search.explore(budget)?;
        if let Verdict::Unknown(reason) = search.goals.notes.verdict(model.net) {
            return Err(reason);
        }
        Ok(search.goals.into_unfired())
    }

    fn with(model: &'a Model<'a>, goals: Goals<'a>) -> Self {
        Self {
            model,
            stepper: Stepper::new(model, goals.reduction(Proviso::SomeLater), goals.forget()),
            goals,
            store: StateStore::new(model.compiled),
            inside: Inside::default(),
            parents: Parents::default(),
            n_transitions: 0,
            n_inside: 0,
            n_partial: 0,
        }
    }

    /// One outcome for each goal. The statistics are those of the search that they share.
    pub(crate) fn check(mut self, budget: &mut Budget<'_>) -> Vec<Outcome> {
        let search = budget.search();
        let stopped = self.explore(budget).err();
        let mut stats = budget.stats(&search, &self.progress(self.parents.len()));
        stats.states_outside = Some(stats.states - self.n_inside);
        stats.states_reduced = Some(self.n_partial);
        let rest = match stopped {
            None => self.goals.notes.verdict(self.model.net),
            Some(reason) => Verdict::Unknown(reason),
        };
        self.goals.into_verdicts(&rest).map(|verdict| Outcome { verdict, stats }).collect()
    }

    fn progress(&self, n_expanded: usize) -> Progress {
        let memory = self.store.bytes() + self.parents.bytes() + self.goals.bytes();
        progress(self.parents.len(), self.n_transitions, n_expanded, memory)
    }

    /// Expands one state after the other until all goals are decided or no state is left.
    fn explore(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let compiled = self.model.compiled;
        let initial = self.stepper.stored(&compiled.initial());
        self.store.insert(&initial).map_err(|_| full())?;
        self.parents.push(0);
        self.n_inside += u64::from(compiled.is_in_section(&initial));
        budget.allow_states(1)?;
        let (mut position, mut is_scouted) = (0, false);
        let mut hits: Vec<Hit> = Vec::new();
        while position < self.parents.len() && self.goals.are_open() {
            budget.tick(|| self.progress(position))?;
            let id = StateId::new(position);
            self.stepper.load(&self.store, id);
            self.inside.start();
            self.visit(id, false, &mut hits, budget)?;
            while let Some(state) = self.inside.pop() {
                self.stepper.swap(state);
                self.visit(id, true, &mut hits, budget)?;
            }
            position += 1;
            if !is_scouted && self.parents.len() >= SCOUTS_AT {
                is_scouted = true;
                self.send_scouts();
            }
        }
        Ok(())
    }

    /// Looks at the state at hand and at its steps. It is the stored one, or one inside of an atomic section that was come to
    /// from there.
    fn visit(
        &mut self,
        id: StateId,
        is_inside: bool,
        hits: &mut Vec<Hit>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        let enabled = self.expand(id, hits, budget);
        // What was found counts, whatever stopped the expansion.
        let result = enabled.and_then(|is_enabled| {
            let is_dead = !is_enabled && !self.model.compiled.has_ended(self.stepper.current());
            self.goals.look(&mut self.stepper, is_dead, hits, budget)
        });
        let inside = (is_inside && !hits.is_empty()).then(|| self.stepper.current().clone());
        for hit in hits.drain(..) {
            let goal = hit.goal;
            if self.goals.undecided(goal).is_some() {
                let trace = self.trace(id, inside.as_ref(), hit);
                self.goals.undecided(goal).map(|verdict| verdict.insert(Verdict::Violated(trace)));
            }
        }
        result
    }

    /// Tries some straight runs for each goal that is still open.
    fn send_scouts(&mut self) {
        for (goal, verdict) in self.goals.open() {
            if let Some(prefix) = scout(self.model, goal) {
                *verdict = Some(Verdict::Violated(Trace { prefix, end: TraceEnd::Any }));
            }
        }
    }

    /// Finds the successors of the loaded state; true where something is enabled.
    fn expand(
        &mut self,
        id: StateId,
        hits: &mut Vec<Hit>,
        budget: &mut Budget<'_>,
    ) -> Result<bool, StopReason> {
        #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
        let parent = id.index() as u32;
        let (mut n_enabled, mut stop) = (0_u64, None);
        let n_transitions = self.n_transitions;
        let Self { model, goals, store, stepper, inside, parents, n_inside, .. } = self;
        let goes_through = stepper.through_sections;
        let mut n_steps = 0;
        let result = stepper.for_each(|step, next, taken| {
            n_enabled += 1;
            n_steps += taken;
            if n_enabled.is_multiple_of(FIRINGS) {
                let memory = store.bytes() + parents.bytes();
                stop = budget
                    .look(&progress(parents.len(), n_transitions + n_enabled, id.index(), memory))
                    .err();
            }
            goals.see(step, hits);
            let mut is_later = true;
            let is_in_section = model.compiled.is_in_section(next);
            if step.outcome == StepOutcome::State && goes_through {
                if !(is_in_section && inside.push(next)) {
                    match store.bring(next, is_in_section) {
                        Ok(n_brought) if n_brought < BATCH => {}
                        Ok(_) => {
                            stop = stop.take().or(put_in(store, parent, parents, n_inside, budget).err())
                        }
                        Err(_) => stop = Some(full()),
                    }
                }
            } else if step.outcome == StepOutcome::State {
                match store.insert(next) {
                    // States are expanded in the order of their numbers.
                    Ok((found, false)) => is_later = found.index() > id.index(),
                    Ok((_, true)) => {
                        parents.push(parent);
                        *n_inside += u64::from(is_in_section);
                        stop = stop.take().or(budget.allow_states(parents.len()).err());
                    }
                    Err(_) => stop = Some(full()),
                }
            }
            let control = if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Flow::new(control, is_later)
        });
        let put_in = put_in(store, parent, parents, n_inside, budget);
        let stop = stop.or(put_in.err());
        self.n_transitions += n_steps;
        self.n_partial += u64::from(self.stepper.is_partial());
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
        let mut at = id.index();
        while at != 0 {
            at = self.parents.get(at) as usize;
            path.push(StateId::new(at));
        }
        path.reverse();
        self.goals.trace(&mut self.stepper, &self.store, (&path, inside), hit)
    }
}

/// Puts the states in that were brought, as successors of one state.
fn put_in(
    store: &mut StateStore,
    parent: u32,
    parents: &mut Parents,
    n_inside: &mut u64,
    budget: &Budget<'_>,
) -> Result<(), StopReason> {
    let mut stop = None;
    let put_in = store.insert_brought(|_, is_new, is_in_section| {
        if is_new {
            parents.push(parent);
            *n_inside += u64::from(is_in_section);
            stop = budget.allow_states(parents.len()).err();
        }
        if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    put_in.map_err(|_| full())?;
    stop.map_or(Ok(()), Err)
}

fn progress(n_states: usize, transitions: u64, n_expanded: usize, memory: usize) -> Progress {
    let frontier = n_states.saturating_sub(n_expanded) as u64;
    Progress { states: n_states as u64, transitions, frontier, memory_bytes: memory as u64 }
}
