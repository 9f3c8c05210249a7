//! The steps of a state as a search sees them.

use std::ops::ControlFlow;

use pdnet_base::IndexVec;
use pdnet_net::{Expr, Firing, Net, Race, Transition};
use pdnet_space::{
    Ample, Compiled, Forget, Observed, Outcome, Races, State, StateId, StateStore, Step, Successors,
    Unsupported,
};

use crate::graph::{Model, Movers};
use crate::inside::Inside;

/// The reduction *local steps first* for a search that watches these transitions, may look for deadlocks, and
/// looks at the atoms of these properties; nothing where it cannot be used.
pub(crate) fn reduction<'e>(
    model: &Model<'_>,
    watched: &IndexVec<Transition, bool>,
    looks_for_deadlocks: bool,
    properties: impl IntoIterator<Item = &'e [Expr]>,
) -> Option<Ample> {
    let mut observed = Observed::default();
    let watched = watched.iter_enumerated().filter(|(_, is_watched)| **is_watched);
    watched.for_each(|(transition, _)| observed.add_transition(transition));
    if looks_for_deadlocks {
        observed.add_deadlock();
    }
    let are_fit = properties.into_iter().all(|atoms| {
        !atoms.iter().any(|atom| looks_at_lost_sections(model.net, atom)) && observed.add_atoms(atoms)
    });
    if model.reduces && are_fit { Ample::new(model.net, &observed) } else { None }
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
    through_sections: bool,
    compiled: &'a Compiled,
    ample: Option<Ample>,
    forget: Option<Forget>,
    successors: Successors<'a>,
    /// Walks on from a successor.
    ahead: Successors<'a>,
}

impl<'a> Stepper<'a> {
    pub(crate) fn new(model: &Model<'a>, ample: Option<Ample>, forget: Option<Forget>) -> Self {
        let successors = Successors::new(model.compiled);
        let through_sections = model.through_sections;
        let ahead = successors.clone();
        Self { through_sections, compiled: model.compiled, ample, forget, ahead, successors }
    }

    /// The state whose steps are shown.
    pub(crate) const fn current(&self) -> &State {
        self.successors.current()
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
    /// there. After a pruned step there is no state, and the current one is shown.
    pub(crate) fn for_each(
        &mut self,
        mut visit: impl FnMut(&Step<'_>, &State, u64) -> ControlFlow<()>,
    ) -> Result<(), Unsupported> {
        let Self { compiled, ample, forget, successors, ahead, .. } = self;
        if ample.is_none() && forget.is_none() {
            return successors.for_each(|step, next| visit(step, next, 1));
        }
        let mut error = None;
        ahead.start_near(successors.current());
        successors.for_each_first(ample.as_ref(), |step, next| {
            if step.outcome == Outcome::Pruned {
                return visit(step, next, 1);
            }
            ahead.go_to(next);
            let mut n_steps = 1;
            while let Some(ample) = ample.as_ref() {
                match ahead.advance(ample, None) {
                    Ok(true) => n_steps += 1,
                    Ok(false) => break,
                    Err(found) => {
                        error = Some(found);
                        return ControlFlow::Break(());
                    }
                }
            }
            if let Some(forget) = forget.as_ref() {
                forget.apply(compiled, ahead.current_mut());
            }
            visit(step, ahead.current(), n_steps)
        })?;
        error.map_or(Ok(()), Err)
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

    /// Walks on to the first state that, as it would be stored, is the wanted one, and returns the firings: one step, or
    /// several through an atomic section, in the order in which a search goes through it. The current state may have
    /// values that stored ones lack, and so has the one that is found.
    pub(crate) fn walk_to(&mut self, mut is_wanted: impl FnMut(&State) -> bool) -> Option<Vec<Firing>> {
        let mut start = self.successors.current().clone();
        start.detach();
        let mut waiting = vec![(start, Vec::new())];
        let mut inside = Inside::default();
        while let Some((from, way)) = waiting.pop() {
            let mut found = None;
            self.go_to(&from);
            let Self { through_sections, compiled, ample, forget, successors, ahead } = self;
            ahead.start_near(successors.current());
            let _ = successors.for_each_first(ample.as_ref(), |step, next| {
                if step.outcome == Outcome::Pruned {
                    return ControlFlow::Continue(());
                }
                ahead.go_to(next);
                let mut firings = way.clone();
                firings.push(step.firing());
                if let Some(ample) = ample.as_ref() {
                    while ahead.advance(ample, Some(&mut firings)).unwrap_or(false) {}
                }
                let full = ahead.current().clone();
                if let Some(forget) = forget.as_ref() {
                    forget.apply(compiled, ahead.current_mut());
                }
                if is_wanted(ahead.current()) {
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
    pub(crate) fn find(
        &mut self,
        store: &mut StateStore,
        movers: Option<Movers>,
        to: StateId,
    ) -> Vec<Firing> {
        let mut found = Vec::new();
        let Self { ample, successors, ahead, .. } = self;
        ahead.start_near(successors.current());
        let _ = successors.for_each_first(ample.as_ref(), |step, next| {
            if step.outcome == Outcome::Pruned || movers.is_some_and(|movers| movers != Movers::of(step)) {
                return ControlFlow::Continue(());
            }
            ahead.go_to(next);
            found.push(step.firing());
            if let Some(ample) = ample.as_ref() {
                while ahead.advance(ample, Some(&mut found)).unwrap_or(false) {}
            }
            if store.insert(ahead.current()).is_ok_and(|(id, _)| id == to) {
                return ControlFlow::Break(());
            }
            found.clear();
            ControlFlow::Continue(())
        });
        found
    }
}
