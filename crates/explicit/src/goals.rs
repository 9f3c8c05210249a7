//! What a search for a bad step or state looks for, and what it has found.

use pdnet_base::{Idx as _, IndexVec};
use pdnet_check::{AtomData, StopReason, Trace, TraceEnd, Verdict};
use pdnet_net::{Expr, Firing, Transition};
use pdnet_space::{Atoms, Forget, Proviso, Races, State, StateId, States, Step, Stubborn};

use crate::budget::Budget;
use crate::continuation::Continuations;
use crate::graph::Graph;
use crate::invariant::Condition;
use crate::model::Model;
use crate::notes::Notes;
use crate::sights::Sight;
use crate::stepper::{Asked, Stepper, Stored, reduction, seen_atoms};

/// What breaks a property.
#[derive(Clone)]
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

    /// Whether every state breaks it in which something can move, as it is with `G deadlock`.
    fn usually_fails(&self) -> bool {
        match self {
            Self::NeverFires(_) | Self::NoDeadlock | Self::NoRace(_) => false,
            Self::Invariant(condition, atoms, _) => {
                atoms.usual_letter().is_some_and(|letter| !condition.holds(letter))
            }
        }
    }

    /// Whether no state breaks it in which something can move.
    fn usually_holds(&self) -> bool {
        match self {
            Self::NeverFires(_) | Self::NoDeadlock => true,
            Self::NoRace(_) => false,
            Self::Invariant(condition, atoms, _) => {
                atoms.usual_letter().is_some_and(|letter| condition.holds(letter))
            }
        }
    }
}

/// What breaks a goal in the state at hand.
pub(crate) struct Hit {
    pub(crate) goal: usize,
    /// The first transition of the firing that does, and that of its transitions which must not fire.
    pub(crate) last: Option<(Transition, Transition)>,
    /// The thread that fires it, by its number in the state at hand.
    pub(crate) thread: Option<u32>,
    pub(crate) end: TraceEnd,
}

/// The goals of one search, with their verdicts.
pub(crate) struct Goals<'a> {
    model: &'a Model<'a>,
    goals: Vec<Goal>,
    /// Those that no state breaks in which something can move, so that such states need not be looked at.
    usually_hold: Vec<bool>,
    verdicts: Vec<Option<Verdict>>,
    /// Those that another worker has decided.
    left_to_others: Vec<bool>,
    /// The transitions that some goal or note waits for.
    watched: IndexVec<Transition, bool>,
    /// Those that were seen to fire, where somebody asks.
    fired: Option<IndexVec<Transition, bool>>,
    pub(crate) notes: Notes,
    /// For the infinite runs that a violated invariant needs, where the net has assumptions.
    continuations: Option<(Graph<'a>, Continuations)>,
}

impl<'a> Goals<'a> {
    /// With `asks_all`, all transitions are watched, and those that fire are kept.
    pub(crate) fn new(model: &'a Model<'a>, goals: Vec<Goal>, asks_all: bool) -> Self {
        let mut watched = model.notable.clone();
        if asks_all {
            watched.iter_mut().for_each(|watched| *watched = true);
        }
        for goal in &goals {
            if let Goal::NeverFires(fires) = goal {
                fires.iter_enumerated().for_each(|(transition, fires)| watched[transition] |= fires);
            }
        }
        Self {
            model,
            verdicts: vec![None; goals.len()],
            left_to_others: vec![false; goals.len()],
            usually_hold: goals.iter().map(Goal::usually_holds).collect(),
            goals,
            watched,
            fired: asks_all.then(|| IndexVec::filled(false, model.net.transitions.len())),
            notes: Notes::default(),
            continuations: None,
        }
    }

    /// The goals that are open, for another worker on the same search.
    pub(crate) fn fork(&self) -> Self {
        let n_goals = self.goals.len();
        Self {
            model: self.model,
            goals: self.goals.clone(),
            usually_hold: self.usually_hold.clone(),
            verdicts: vec![None; n_goals],
            left_to_others: (0..n_goals).map(|goal| !self.is_open(goal)).collect(),
            watched: self.watched.clone(),
            fired: self.fired.as_ref().map(|fired| IndexVec::filled(false, fired.len())),
            notes: Notes::default(),
            continuations: None,
        }
    }

    /// Adds what another worker has found.
    pub(crate) fn join(&mut self, other: Self) {
        for (verdict, found) in self.verdicts.iter_mut().zip(other.verdicts) {
            *verdict = verdict.take().or(found);
        }
        if let (Some(fired), Some(others)) = (&mut self.fired, other.fired) {
            fired.iter_mut().zip(others.iter()).for_each(|(fired, others)| *fired |= others);
        }
        self.notes.join(self.model.net, &other.notes);
    }

    /// How many there are.
    pub(crate) const fn len(&self) -> usize {
        self.goals.len()
    }

    /// Looks no more for a goal that another worker has decided.
    pub(crate) fn leave_to_others(&mut self, goal: usize) {
        self.left_to_others[goal] = true;
    }

    fn is_open(&self, goal: usize) -> bool {
        self.verdicts[goal].is_none() && !self.left_to_others[goal]
    }

    /// What the atoms of each goal look at.
    fn atoms(&self) -> impl Iterator<Item = &[Expr]> + Clone {
        self.goals.iter().map(|goal| match goal {
            Goal::NeverFires(_) | Goal::NoDeadlock | Goal::NoRace(_) => &[],
            Goal::Invariant(_, _, exprs) => exprs.as_slice(),
        })
    }

    /// The steps that may be left out, for a search that keeps this proviso.
    pub(crate) fn reduction(&self, proviso: Proviso) -> Option<Stubborn> {
        // A reduction keeps the states in which nothing can move, and may pass over all others, the first one included.
        if self.goals.iter().any(Goal::usually_fails) {
            return None;
        }
        let mut kept = self.watched.clone();
        for goal in &self.goals {
            // States before accesses that may race are looked at.
            if let Goal::NoRace(races) = goal {
                races.accesses().for_each(|transition| kept[transition] = true);
            }
        }
        let deadlocks = self.goals.iter().any(|goal| matches!(goal, Goal::NoDeadlock));
        let asked = Asked { watched: &kept, deadlocks, is_finite: true };
        let seen = self.goals.iter().map(|goal| match goal {
            Goal::NeverFires(_) | Goal::NoDeadlock | Goal::NoRace(_) => Vec::new(),
            Goal::Invariant(condition, _, exprs) => {
                seen_atoms(self.model.net, exprs, |atom| condition.ignores(atom))
            }
        });
        let seen: Vec<Vec<Expr>> = seen.collect();
        reduction(self.model, asked, seen.iter().map(Vec::as_slice), proviso)
    }

    /// What may be done to states before they are stored.
    pub(crate) fn stored(&self) -> Stored {
        let Model { net, compiled, .. } = *self.model;
        let atoms = || self.atoms().flatten();
        let forget = self.model.forgets.then(|| Forget::new(net, compiled, atoms()));
        Stored { forget, symmetry: self.model.symmetry(atoms()), ..Stored::default() }
    }

    /// Whether something is still looked for.
    pub(crate) fn are_open(&self) -> bool {
        self.fired.is_some() || (0..self.goals.len()).any(|goal| self.is_open(goal))
    }

    /// The goals without a verdict, to be settled by a run that breaks them.
    pub(crate) fn open(&mut self) -> impl Iterator<Item = (&mut Goal, &mut Option<Verdict>)> {
        let own = self.goals.iter_mut().zip(&mut self.verdicts).zip(&self.left_to_others);
        own.filter(|((_, verdict), left)| verdict.is_none() && !**left).map(|(own, _)| own)
    }

    /// The place for a goal's verdict, if it has none yet.
    pub(crate) fn undecided(&mut self, goal: usize) -> Option<&mut Option<Verdict>> {
        let is_open = self.is_open(goal);
        self.verdicts.get_mut(goal).filter(|_| is_open)
    }

    /// One verdict for each goal: what was found, or else what is to be said of the rest.
    pub(crate) fn into_verdicts(self, rest: &Verdict) -> impl Iterator<Item = Verdict> {
        self.verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(|| rest.clone()))
    }

    /// The transitions that were not seen to fire.
    pub(crate) fn into_unfired(self) -> Vec<Transition> {
        let fired = self.fired.unwrap_or_default();
        fired.iter_enumerated().filter(|(_, fires)| !**fires).map(|(transition, _)| transition).collect()
    }

    /// The transitions that were seen to fire, where somebody asks.
    pub(crate) fn fired(&self) -> Vec<Transition> {
        let fired = self.fired.iter().flat_map(|fired| fired.iter_enumerated());
        fired.filter(|(_, fires)| **fires).map(|(transition, _)| transition).collect()
    }

    /// Takes it as known that a transition can fire.
    pub(crate) fn has_fired(&mut self, transition: Transition) {
        self.fired.iter_mut().for_each(|fired| fired[transition] = true);
    }

    /// The goals for which a run was found, with that run.
    pub(crate) fn decided(&self) -> impl Iterator<Item = (usize, &Trace)> {
        self.verdicts.iter().enumerate().filter_map(|(goal, verdict)| match verdict {
            Some(Verdict::Violated(trace)) => Some((goal, trace)),
            Some(Verdict::Holds | Verdict::Unknown(_)) | None => None,
        })
    }

    /// Takes it as known that a run breaks a goal.
    pub(crate) fn decide(&mut self, goal: usize, trace: Trace) {
        if let Some(verdict) = self.undecided(goal) {
            *verdict = Some(Verdict::Violated(trace));
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.continuations.as_ref().map_or(0, |(graph, _)| graph.bytes())
    }

    /// Looks at a step of the state at hand.
    pub(crate) fn see(&mut self, step: &Step<'_>, hits: &mut Vec<Hit>) {
        for transition in step.transitions().filter(|&transition| self.watched[transition]) {
            if self.model.notable[transition] {
                self.notes.add(self.model.net, transition);
            }
            if let Some(fired) = &mut self.fired {
                fired[transition] = true;
            }
            for (goal, data) in self.goals.iter().enumerate() {
                if let Goal::NeverFires(fires) = data
                    && fires[transition]
                    && self.is_open(goal)
                {
                    let last = Some((step.transition, transition));
                    let thread = Some(step.thread);
                    hits.push(Hit { goal, last, thread, end: TraceEnd::Any });
                }
            }
        }
        if step.is_cut {
            self.notes.add_cut(step.transition);
        }
    }

    /// Whether the state at hand itself has to be looked at, and not only its steps.
    pub(crate) fn need_state(&self, is_dead: bool) -> bool {
        let mut open = self.goals.iter().zip(&self.usually_hold).zip(&self.verdicts);
        open.any(|((goal, usually_holds), verdict)| {
            verdict.is_none()
                && match goal {
                    Goal::NeverFires(_) | Goal::NoDeadlock => false,
                    Goal::NoRace(_) | Goal::Invariant(..) => is_dead || !usually_holds,
                }
        })
    }

    /// Looks at the state that is loaded, if [`Goals::need_state`] asks for that.
    pub(crate) fn look(
        &mut self,
        stepper: &mut Stepper<'_>,
        is_dead: bool,
        hits: &mut Vec<Hit>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        for (goal, data) in self.goals.iter_mut().enumerate() {
            let is_usual = !is_dead && self.usually_hold[goal];
            if is_usual || self.verdicts[goal].is_some() || self.left_to_others[goal] {
                continue;
            }
            match data {
                Goal::NeverFires(_) => {}
                Goal::NoDeadlock => {
                    if is_dead {
                        hits.push(Hit { goal, last: None, thread: None, end: TraceEnd::Stutter });
                    }
                }
                Goal::NoRace(races) => {
                    if let Some(race) = stepper.race(races) {
                        hits.push(Hit {
                            goal,
                            last: None,
                            thread: None,
                            end: TraceEnd::Race(Box::new(race)),
                        });
                    }
                }
                Goal::Invariant(condition, atoms, _) => {
                    let letter = atoms.letter(self.model.compiled, stepper.current(), is_dead);
                    if condition.holds(letter) {
                        continue;
                    }
                    if self.model.has_assumptions {
                        let fresh =
                            || (Graph::new(self.model, None, Stored::default()), Continuations::default());
                        let (graph, continuations) = self.continuations.get_or_insert_with(fresh);
                        let mut state = stepper.current().clone();
                        state.detach();
                        let state = graph.add(&state)?;
                        if !continuations.exists(graph, (state, Sight::WHOLE), budget)? {
                            // The search goes on, and so comes to the bounds that may hide such a run.
                            continue;
                        }
                    }
                    hits.push(Hit { goal, last: None, thread: None, end: TraceEnd::Any });
                }
            }
        }
        Ok(())
    }

    /// The run along these states from the initial one, on to one that is not stored, if there is one, and the firing that
    /// breaks the goal. It is found again from the
    /// initial state, with all values, so that it is a run of the net where stored states lack some.
    pub(crate) fn trace(
        &mut self,
        stepper: &mut Stepper<'_>,
        store: &impl States,
        (path, inside): (&[StateId], Option<&State>),
        hit: Hit,
    ) -> Trace {
        let mut prefix = stepper.walk_along(store, path);
        prefix.extend(inside.and_then(|inside| stepper.walk_to(inside, None)).unwrap_or_default());
        self.finish(stepper, prefix, None, hit)
    }

    /// The run that is found by going these firings, after which the stepper is, and by the firing that breaks the goal; by this thread, if one
    /// is named.
    pub(crate) fn finish(
        &mut self,
        stepper: &mut Stepper<'_>,
        mut prefix: Vec<Firing>,
        by: Option<u32>,
        hit: Hit,
    ) -> Trace {
        let Hit { goal, last, thread: _, mut end } = hit;
        prefix.extend(last.and_then(|(first, fires)| stepper.find_firing(first, fires, by)));
        if let (TraceEnd::Race(found), Some(Goal::NoRace(races))) = (&mut end, self.goals.get_mut(goal))
            && let Some(race) = stepper.race(races)
        {
            **found = race;
        }
        Trace { prefix, end }
    }
}
