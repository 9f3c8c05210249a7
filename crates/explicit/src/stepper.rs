//! The steps of a state as a search sees them.

use std::ops::ControlFlow;

use pdnet_base::IndexVec;
use pdnet_net::{Expr, Firing, Net, Race, Transition};
use pdnet_space::{
    Compiled, Flow, Forget, Observed, Outcome, Proviso, Races, State, StateId, StateStore, Step, Stubborn,
    Successors, Unsupported,
};

use crate::graph::{Model, Movers};
use crate::inside::Inside;

/// What a search looks for, beside the atoms of properties.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'w> {
    /// The transitions whose firing it watches.
    pub(crate) watched: &'w IndexVec<Transition, bool>,
    /// Whether it looks for deadlocks.
    pub(crate) deadlocks: bool,
    /// Whether it looks for finite runs to states in which invariants do not hold. Their atoms may then also be such as
    /// can only be true where nothing can move.
    pub(crate) is_finite: bool,
}

/// The reduction with stubborn sets for a search that looks for this, and at the atoms of these properties; nothing
/// where it cannot be used.
pub(crate) fn reduction<'e>(
    model: &Model<'_>,
    asked: Asked<'_>,
    properties: impl IntoIterator<Item = &'e [Expr]>,
    proviso: Proviso,
) -> Option<Stubborn> {
    let mut observed = Observed::default();
    let watched = asked.watched.iter_enumerated().filter(|(_, is_watched)| **is_watched);
    watched.for_each(|(transition, _)| observed.add_transition(transition));
    if asked.deadlocks {
        observed.add_deadlock();
    }
    let are_fit = properties.into_iter().all(|atoms| {
        !atoms.iter().any(|atom| looks_at_lost_sections(model.net, atom))
            && (asked.is_finite && observed.add_end_states(model.net, atoms) || observed.add_atoms(atoms))
    });
    if model.reduces && are_fit { Stubborn::new(model.net, model.compiled, &observed, proviso) } else { None }
}

/// Whether an atom looks at who is in an atomic section, where sections are lost by who cannot move: that changes in
/// steps whose arcs do not say so.
fn looks_at_lost_sections(net: &Net, atom: &Expr) -> bool {
    let mut looks = false;
    atom.walk(&mut |part| looks |= matches!(part, Expr::Cell(place, _) if Some(*place) == net.atomic));
    looks && net.atomic_yields
}

/// A generator of successors that leaves out what the reduction allows to leave out: other threads' steps
/// where those of one are enough, and states after which there is one step only that nobody needs to see.
///
/// Where values are forgotten, it shows states without them.
pub(crate) struct Stepper<'a> {
    /// Whether a search may walk through atomic sections without storing the states in them. Where steps are left out, it may
    /// not: that a state leads to a later one has to be seen at once ([`Proviso`]).
    pub(crate) through_sections: bool,
    compiled: &'a Compiled,
    stubborn: Option<Stubborn>,
    forget: Option<Forget>,
    successors: Successors<'a>,
    /// Walks on from a successor.
    ahead: Successors<'a>,
}

impl<'a> Stepper<'a> {
    pub(crate) fn new(model: &Model<'a>, stubborn: Option<Stubborn>, forget: Option<Forget>) -> Self {
        let successors = Successors::new(model.compiled);
        let through_sections = model.through_sections && stubborn.is_none();
        let ahead = successors.clone();
        Self { through_sections, compiled: model.compiled, stubborn, forget, ahead, successors }
    }

    /// The state whose steps are shown.
    pub(crate) const fn current(&self) -> &State {
        self.successors.current()
    }

    /// Whether steps of some threads were not shown for the current state.
    pub(crate) const fn is_partial(&self) -> bool {
        self.successors.is_partial()
    }

    /// A data race of the current state.
    pub(crate) fn race(&mut self, races: &mut Races) -> Option<Race> {
        self.successors.race(races)
    }

    /// Goes to a state of a store.
    pub(crate) fn load(&mut self, store: &StateStore, id: StateId) {
        store.load(id, self.successors.current_mut());
    }

    /// Goes to a state that was come to from the one that was loaded; what is left in its place is no state.
    pub(crate) const fn swap(&mut self, state: &mut State) {
        std::mem::swap(self.successors.current_mut(), state);
    }

    /// Goes to a state that need not be from a store.
    pub(crate) fn go_to(&mut self, state: &State) {
        self.successors.current_mut().copy_from(state);
    }

    /// The state as it is stored: without what is forgotten.
    pub(crate) fn stored(&self, state: &State) -> State {
        let mut stored = state.clone();
        stored.detach();
        if let Some(forget) = &self.forget {
            forget.apply(self.compiled, &mut stored);
        }
        stored
    }

    /// Shows each step with the state that it leads to, and the number of steps that were taken to come
    /// there. After a pruned step there is no state, and the current one is shown. What `visit` returns says whether the
    /// state is later ([`Proviso`]).
    pub(crate) fn for_each<R: Into<Flow>>(
        &mut self,
        mut visit: impl FnMut(&Step<'_>, &State, u64) -> R,
    ) -> Result<(), Unsupported> {
        let Self { compiled, stubborn, forget, successors, ahead, .. } = self;
        if stubborn.is_none() && forget.is_none() {
            return successors.for_each(|step, next| visit(step, next, 1));
        }
        let mut error = None;
        ahead.start_near(successors.current());
        successors.for_each_first(stubborn.as_ref(), |step, next| {
            if step.outcome == Outcome::Pruned {
                return visit(step, next, 1).into();
            }
            ahead.go_to(next);
            let mut n_steps = 1;
            while let Some(stubborn) = stubborn.as_ref() {
                match ahead.advance(stubborn, None) {
                    Ok(true) => n_steps += 1,
                    Ok(false) => break,
                    Err(found) => {
                        error = Some(found);
                        return ControlFlow::Break(()).into();
                    }
                }
            }
            if let Some(forget) = forget.as_ref() {
                forget.apply(compiled, ahead.current_mut());
            }
            visit(step, ahead.current(), n_steps).into()
        })?;
        error.map_or(Ok(()), Err)
    }

    /// The state of that number.
    fn wanted(&self, store: &StateStore, to: StateId) -> State {
        let mut wanted = self.successors.current().clone();
        store.load(to, &mut wanted);
        wanted
    }

    /// A firing in the current state that begins with the one transition and fires the other.
    pub(crate) fn find_firing(&mut self, first: Transition, fires: Transition) -> Option<Firing> {
        let mut found = None;
        let _ = self.successors.for_each(|step, _| {
            if step.transition == first && step.transitions().any(|transition| transition == fires) {
                found = Some(step.firing());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// Walks from the current state to one that is stored with this number, and returns the firings of the first way there. The
    /// current state may have values that stored ones lack, and so has the one that is found.
    pub(crate) fn walk_to_stored(&mut self, store: &StateStore, to: StateId) -> Option<Vec<Firing>> {
        let wanted = self.wanted(store, to);
        self.walk_to(&wanted)
    }

    /// Walks to the first state that, as it would be stored, is the wanted one: by one step, or by several through an atomic
    /// section, in the order in which a search goes through it. All first steps are tried: which of them a search had to
    /// look at depended on what it knew then.
    pub(crate) fn walk_to(&mut self, wanted: &State) -> Option<Vec<Firing>> {
        let mut start = self.successors.current().clone();
        start.detach();
        let mut waiting = vec![(start, Vec::new())];
        let mut inside = Inside::default();
        while let Some((from, way)) = waiting.pop() {
            let mut found = None;
            self.go_to(&from);
            let Self { through_sections, compiled, stubborn, forget, successors, ahead } = self;
            ahead.start_near(successors.current());
            let _ = successors.for_each(|step, next| {
                if step.outcome == Outcome::Pruned {
                    return ControlFlow::Continue(());
                }
                ahead.go_to(next);
                let mut firings = way.clone();
                firings.push(step.firing());
                if let Some(stubborn) = stubborn.as_ref() {
                    while ahead.advance(stubborn, Some(&mut firings)).unwrap_or(false) {}
                }
                let full = ahead.current().clone();
                if let Some(forget) = forget.as_ref() {
                    forget.apply(compiled, ahead.current_mut());
                }
                if ahead.current().is_same(wanted) {
                    found = Some((full, firings));
                    return ControlFlow::Break(());
                }
                if *through_sections && compiled.is_in_section(&full) && inside.push(&full) {
                    waiting.push((full, firings));
                }
                ControlFlow::Continue(())
            });
            if let Some((state, firings)) = found {
                self.go_to(&state);
                return Some(firings);
            }
        }
        None
    }

    /// The firings of the first way from the current state to the other, by the threads if they are named.
    /// Firings are not stored: a trace has few steps, and a search has many.
    pub(crate) fn find(&mut self, store: &StateStore, movers: Option<Movers>, to: StateId) -> Vec<Firing> {
        let mut found = Vec::new();
        let wanted = self.wanted(store, to);
        let Self { stubborn, successors, ahead, .. } = self;
        ahead.start_near(successors.current());
        let _ = successors.for_each(|step, next| {
            if step.outcome == Outcome::Pruned || movers.is_some_and(|movers| movers != Movers::of(step)) {
                return ControlFlow::Continue(());
            }
            ahead.go_to(next);
            found.push(step.firing());
            if let Some(stubborn) = stubborn.as_ref() {
                while ahead.advance(stubborn, Some(&mut found)).unwrap_or(false) {}
            }
            if ahead.current().is_same(&wanted) {
                return ControlFlow::Break(());
            }
            found.clear();
            ControlFlow::Continue(())
        });
        found
    }
}
