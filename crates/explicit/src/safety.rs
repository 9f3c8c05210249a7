//! One breadth-first search for everything that a single step or state can break.

use std::ops::ControlFlow;

use pdnet_base::{Idx as _, IndexVec};
use pdnet_check::{AtomData, Outcome, Progress, StopReason, Trace, TraceEnd, Verdict};
use pdnet_net::{Expr, Transition};
use pdnet_space::{Atoms, Forget, Outcome as StepOutcome, Races, State, StateId, StateStore};

use crate::budget::{Budget, FIRINGS};
use crate::continuation::Continuations;
use crate::graph::{Graph, Model, full};
use crate::inside::Inside;
use crate::invariant::Condition;
use crate::notes::Notes;
use crate::parents::Parents;
use crate::scout::{SCOUTS_AT, scout};
use crate::stepper::{Stepper, reduction};

/// What breaks a property.
pub(crate) enum Goal {
    /// The firing of one of these transitions, also where it has no successor.
    NeverFires(IndexVec<Transition, bool>),
    /// A state in which the process has not ended and nothing is enabled.
    NoDeadlock,
    /// A state with a data race.
    NoRace(Box<Races>),
    /// A state whose letter does not meet the condition, if a run goes on from there
    /// ([`Continuations::exists`]). The last is what the atoms were made of.
    Invariant(Condition, Box<Atoms>, Vec<Expr>),
}

impl Goal {
    pub(crate) fn never(model: &Model<'_>, transitions: &[Transition]) -> Self {
        let mut fires = IndexVec::filled(false, model.net.transitions.len());
        for &transition in transitions {
            if transition.index() < fires.len() {
                fires[transition] = true;
            }
        }
        Self::NeverFires(fires)
    }

    pub(crate) fn invariant(
        model: &Model<'_>,
        condition: Condition,
        atoms: &[AtomData],
    ) -> Result<Self, String> {
        let exprs: Vec<Expr> = atoms.iter().map(|atom| atom.expr.clone()).collect();
        let atoms = Atoms::new(model.net, model.compiled, &exprs).map_err(|error| error.0)?;
        Ok(Self::Invariant(condition, Box::new(atoms), exprs))
    }
}

/// What breaks a goal in the state at hand.
struct Hit {
    goal: usize,
    /// The first transition of the firing that does, and that of its transitions which must not fire.
    last: Option<(Transition, Transition)>,
    end: TraceEnd,
}

/// The search. States are numbered in the order in which they are found, so that the queue of a breadth-first
/// search is nothing but the next number; each state remembers its predecessor.
pub(crate) struct Safety<'a> {
    model: &'a Model<'a>,
    goals: Vec<Goal>,
    verdicts: Vec<Option<Verdict>>,
    /// The transitions that some goal or note waits for.
    watched: IndexVec<Transition, bool>,
    /// Those that were seen to fire, where somebody asks.
    fired: Option<IndexVec<Transition, bool>>,
    store: StateStore,
    stepper: Stepper<'a>,
    inside: Inside,
    parents: Parents,
    n_transitions: u64,
    /// Stored states in which a thread is in an atomic section.
    n_inside: u64,
    notes: Notes,
    /// For the infinite runs that a violated invariant needs, where the net has assumptions.
    continuations: Option<(Graph<'a>, Continuations)>,
}

impl<'a> Safety<'a> {
    pub(crate) fn new(model: &'a Model<'a>, goals: Vec<Goal>) -> Self {
        Self::with(model, goals, false)
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
        let mut search = Self::with(model, Vec::new(), true);
        search.explore(budget)?;
        if let Verdict::Unknown(reason) = search.notes.verdict(model.net) {
            return Err(reason);
        }
        let fired = search.fired.unwrap_or_default();
        Ok(fired.iter_enumerated().filter(|(_, fires)| !**fires).map(|(transition, _)| transition).collect())
    }

    /// With `asks_all`, all transitions are watched, and those that fire are kept.
    fn with(model: &'a Model<'a>, goals: Vec<Goal>, asks_all: bool) -> Self {
        let mut watched = model.notable.clone();
        if asks_all {
            watched.iter_mut().for_each(|watched| *watched = true);
        }
        let mut seen: Vec<Transition> = Vec::new();
        for goal in &goals {
            match goal {
                Goal::NeverFires(fires) => {
                    fires.iter_enumerated().for_each(|(transition, fires)| watched[transition] |= fires);
                }
                // States before accesses that may race are looked at.
                Goal::NoRace(races) => seen.extend(races.accesses()),
                Goal::NoDeadlock | Goal::Invariant(..) => {}
            }
        }
        let atoms = goals.iter().map(|goal| match goal {
            Goal::NeverFires(_) | Goal::NoDeadlock | Goal::NoRace(_) => &[],
            Goal::Invariant(_, _, exprs) => exprs.as_slice(),
        });
        let deadlocks = goals.iter().any(|goal| matches!(goal, Goal::NoDeadlock));
        let mut kept = watched.clone();
        seen.into_iter().for_each(|transition| kept[transition] = true);
        let ample = reduction(model, &kept, deadlocks, atoms.clone());
        let forget = model.forgets.then(|| Forget::new(model.net, model.compiled, atoms.flatten()));
        let stepper = Stepper::new(model, ample, forget);
        Self {
            model,
            stepper,
            verdicts: vec![None; goals.len()],
            goals,
            watched,
            fired: asks_all.then(|| IndexVec::filled(false, model.net.transitions.len())),
            store: StateStore::new(model.compiled),
            inside: Inside::default(),
            parents: Parents::default(),
            n_transitions: 0,
            n_inside: 0,
            notes: Notes::default(),
            continuations: None,
        }
    }

    /// One outcome for each goal. The statistics are those of the search that they share.
    pub(crate) fn check(mut self, budget: &mut Budget<'_>) -> Vec<Outcome> {
        let search = budget.search();
        let stopped = self.explore(budget).err();
        let mut stats = budget.stats(&search, &self.progress(self.parents.len()));
        stats.states_outside = Some(stats.states - self.n_inside);
        let rest = match stopped {
            None => self.notes.verdict(self.model.net),
            Some(reason) => Verdict::Unknown(reason),
        };
        let verdicts = self.verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(|| rest.clone()));
        verdicts.map(|verdict| Outcome { verdict, stats }).collect()
    }

    fn progress(&self, n_expanded: usize) -> Progress {
        let continuations = self.continuations.as_ref().map_or(0, |(graph, _)| graph.bytes());
        let memory = self.store.bytes() + self.parents.bytes() + continuations;
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
        while position < self.parents.len()
            && (self.fired.is_some() || self.verdicts.iter().any(Option::is_none))
        {
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
            self.look(is_dead, hits, budget)
        });
        let inside = (is_inside && !hits.is_empty()).then(|| self.stepper.current().clone());
        for hit in hits.drain(..) {
            let goal = hit.goal;
            if self.verdicts[goal].is_none() {
                self.verdicts[goal] = Some(Verdict::Violated(self.trace(id, inside.as_ref(), hit)));
            }
        }
        result
    }

    /// Tries some straight runs for each goal that is still open.
    fn send_scouts(&mut self) {
        for (goal, verdict) in self.goals.iter_mut().zip(&mut self.verdicts) {
            if verdict.is_none()
                && let Some(prefix) = scout(self.model, goal)
            {
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
        let Self { model, goals, verdicts, watched, fired, store, stepper, inside, .. } = self;
        let Self { parents, notes, n_inside, .. } = self;
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
            for transition in step.transitions().filter(|&transition| watched[transition]) {
                if model.notable[transition] {
                    notes.add(model.net, transition);
                }
                if let Some(fired) = fired {
                    fired[transition] = true;
                }
                for (goal, data) in goals.iter().enumerate() {
                    if let Goal::NeverFires(fires) = data
                        && fires[transition]
                        && verdicts[goal].is_none()
                    {
                        let last = Some((step.transition, transition));
                        hits.push(Hit { goal, last, end: TraceEnd::Any });
                    }
                }
            }
            if step.is_cut {
                notes.add_cut(step.transition);
            }
            let is_in_section = model.compiled.is_in_section(next);
            if step.outcome == StepOutcome::State
                && !(is_in_section && model.through_sections && inside.push(next))
            {
                match store.insert(next) {
                    Ok((_, false)) => {}
                    Ok((_, true)) => {
                        parents.push(parent);
                        *n_inside += u64::from(is_in_section);
                        stop = stop.take().or(budget.allow_states(parents.len()).err());
                    }
                    Err(_) => stop = Some(full()),
                }
            }
            if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.n_transitions += n_steps;
        match (result, stop) {
            (Err(error), _) => Err(StopReason::Unsupported(error.0)),
            (Ok(()), Some(reason)) => Err(reason),
            (Ok(()), None) => Ok(n_enabled > 0),
        }
    }

    /// Looks at the loaded state itself.
    fn look(
        &mut self,
        is_dead: bool,
        hits: &mut Vec<Hit>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        for (goal, data) in self.goals.iter_mut().enumerate() {
            if self.verdicts[goal].is_some() {
                continue;
            }
            match data {
                Goal::NeverFires(_) => {}
                Goal::NoDeadlock => {
                    if is_dead {
                        hits.push(Hit { goal, last: None, end: TraceEnd::Stutter });
                    }
                }
                Goal::NoRace(races) => {
                    if let Some(race) = self.stepper.race(races) {
                        hits.push(Hit { goal, last: None, end: TraceEnd::Race(Box::new(race)) });
                    }
                }
                Goal::Invariant(condition, atoms, _) => {
                    let letter = atoms.letter(self.model.compiled, self.stepper.current(), is_dead);
                    if condition.holds(letter) {
                        continue;
                    }
                    if self.model.has_assumptions {
                        let fresh = || (Graph::new(self.model, None), Continuations::default());
                        let (graph, continuations) = self.continuations.get_or_insert_with(fresh);
                        let mut state = self.stepper.current().clone();
                        state.detach();
                        let state = graph.add(&state)?;
                        if !continuations.exists(graph, state, budget)? {
                            // The search goes on, and so comes to the bounds that may hide such a run.
                            continue;
                        }
                    }
                    hits.push(Hit { goal, last: None, end: TraceEnd::Any });
                }
            }
        }
        Ok(())
    }

    /// The run to a state along the predecessors, on to one that is not stored, if it is given, and one more firing. It is found again from the initial
    /// state, with all values, so that it is a run of the net where stored states lack some.
    fn trace(&mut self, id: StateId, inside: Option<&State>, hit: Hit) -> Trace {
        let mut path = vec![id];
        let mut at = id.index();
        while at != 0 {
            at = self.parents.get(at) as usize;
            path.push(StateId::new(at));
        }
        path.reverse();
        let mut prefix = Vec::new();
        self.stepper.go_to(&self.model.compiled.initial());
        for &next in &path[1..] {
            // There is such a way; were there none, the replay of the run would tell.
            let store = &mut self.store;
            let Some(firings) = self.stepper.walk_to(|state| store.find(state) == Some(next)) else { break };
            prefix.extend(firings);
        }
        let Hit { goal, last, mut end } = hit;
        if let Some(inside) = inside {
            prefix.extend(self.stepper.walk_to(|state| state.is_same(inside)).unwrap_or_default());
        }
        prefix.extend(last.and_then(|(first, fires)| self.stepper.find_firing(first, fires)));
        if let (TraceEnd::Race(found), Goal::NoRace(races)) = (&mut end, &mut self.goals[goal])
            && let Some(race) = self.stepper.race(races)
        {
            **found = race;
        }
        Trace { prefix, end }
    }
}

fn progress(n_states: usize, transitions: u64, n_expanded: usize, memory: usize) -> Progress {
    let frontier = n_states.saturating_sub(n_expanded) as u64;
    Progress { states: n_states as u64, transitions, frontier, memory_bytes: memory as u64 }
}
