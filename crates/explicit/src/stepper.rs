//! The steps of a state as a search sees them.

use std::ops::ControlFlow;

use pdnet_base::{FxHashSet, Idx as _, IndexVec};
use pdnet_logic::Atom;
use pdnet_net::{Expr, Firing, Net, Race, Transition};
use pdnet_space::{
    Compiled, Flow, Forget, Observed, Outcome, PartStore, Proviso, Races, Row, State, StateId, States, Step,
    Stubborn, Successors, Symmetry, ThreadSet, Unsupported,
};

use crate::model::{Model, Movers};
use crate::sights::{self, Sight};

/// So many states inside of atomic sections are looked at for one way. A search walks through far fewer after each step.
const MOST_INSIDE: usize = 1 << 16;

/// So many silent steps are taken at once, before a state is shown and limits are looked at: a thread can compute for very long by itself.
const MOST_SILENT: u64 = 250;

/// Who takes the steps of a way.
#[derive(Clone, Copy)]
enum By {
    Anybody,
    /// One thread takes all of them.
    Thread(u32),
    /// These threads take the first.
    First(Movers),
}

impl By {
    fn allows(self, step: &Step<'_>, is_first: bool) -> bool {
        match self {
            Self::Anybody => true,
            Self::Thread(thread) => thread == step.thread,
            Self::First(movers) => !is_first || movers == Movers::of(step),
        }
    }
}

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

/// The atoms of a property that a reduction must not change. One that is true inside of atomic sections is none of them, where
/// the property does not look at states inside: a reduction keeps the order of all others in the states outside.
pub(crate) fn seen_atoms<'e>(
    net: &Net,
    atoms: impl IntoIterator<Item = &'e Expr>,
    ignores: impl Fn(Atom) -> bool,
) -> Vec<Expr> {
    let seen = atoms.into_iter().enumerate();
    seen.filter(|(number, atom)| !is_unseen(net, (*number, atom), &ignores))
        .map(|(_, atom)| atom.clone())
        .collect()
}

/// Whether an atom of a property is none of these.
pub(crate) fn is_unseen(net: &Net, (number, atom): (usize, &Expr), ignores: impl Fn(Atom) -> bool) -> bool {
    // Nobody is in a section at first.
    let atomic = net.atomic.filter(|&at| net.places[at].cells().is_some_and(|cells| cells.default == 0));
    let is_inside = matches!(atom, Expr::Cell(place, key) if Some(*place) == atomic && key.is_empty());
    is_inside && ignores(Atom::new(number))
}

/// Whether an atom looks at who is in an atomic section, where sections are lost by who cannot move: that changes in
/// steps whose arcs do not say so.
fn looks_at_lost_sections(net: &Net, atom: &Expr) -> bool {
    let mut looks = false;
    atom.walk(&mut |part| looks |= matches!(part, Expr::Cell(place, _) if Some(*place) == net.atomic));
    looks && net.atomic_yields
}

/// What is done to states before they are stored, so that those that need not be told apart become one.
#[derive(Clone, Default)]
pub(crate) struct Stored {
    pub(crate) forget: Option<Forget>,
    pub(crate) symmetry: Option<Symmetry>,
    /// How often each of them made a difference.
    pub(crate) n_forgotten: u64,
    pub(crate) n_exchanged: u64,
}

impl Stored {
    const fn is_nothing(&self) -> bool {
        self.forget.is_none() && self.symmetry.is_none()
    }

    fn apply(&mut self, compiled: &Compiled, state: &mut State) {
        if let Some(forget) = &self.forget {
            self.n_forgotten += u64::from(forget.apply(compiled, state));
        }
        if let Some(symmetry) = &mut self.symmetry {
            self.n_exchanged += u64::from(symmetry.apply(compiled, state).is_some());
        }
    }

    /// The state without what is forgotten, with these numbers of threads.
    fn renamed(&self, compiled: &Compiled, state: &State, names: &[usize]) -> State {
        let mut renamed = state.clone();
        renamed.detach();
        if let Some(symmetry) = &self.symmetry {
            symmetry.rename(compiled, &mut renamed, names);
        }
        if let Some(forget) = &self.forget {
            let _ = forget.apply(compiled, &mut renamed);
        }
        renamed
    }

    /// Does to a state what is done before it is stored, and gives the threads their new names.
    fn apply_named(&mut self, compiled: &Compiled, state: &mut State, names: &mut [usize]) {
        state.detach();
        if let Some(forget) = &self.forget {
            let _ = forget.apply(compiled, state);
        }
        if let Some(to) = self.symmetry.as_mut().and_then(|symmetry| symmetry.apply(compiled, state)) {
            names.iter_mut().for_each(|name| *name = to[*name]);
        }
    }
}

/// A state of a run of the net that goes along stored states, in which threads may have other numbers.
#[derive(Clone)]
pub(crate) struct Real {
    state: State,
    /// By which number each thread of it goes in the stored state.
    names: Vec<usize>,
}

impl Real {
    /// Whether it is the same state. By which numbers threads go in the stored one is no part of it.
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        self.state.is_same(&other.state)
    }
}

/// A generator of successors that leaves out what the reduction allows to leave out: other threads' steps
/// where those of one are enough, and states after which there is one step only that nobody needs to see.
///
/// It shows states as they are stored.
#[derive(Clone)]
pub(crate) struct Stepper<'a> {
    /// Whether a search may walk through atomic sections without storing the states in them. Where steps are left out, it may
    /// not: that a state leads to a later one has to be seen at once ([`Proviso`]).
    pub(crate) through_sections: bool,
    compiled: &'a Compiled,
    /// The reduction for the sight at hand.
    stubborn: Option<Stubborn>,
    sight: Sight,
    /// The reductions for narrow sights; in the place of the one at hand is that for the whole one.
    narrow: Vec<Stubborn>,
    stored: Stored,
    successors: Successors<'a>,
    /// Walks on from a successor.
    ahead: Successors<'a>,
    /// The state that is shown.
    shown: Row,
}

impl<'a> Stepper<'a> {
    pub(crate) fn new(model: &Model<'a>, stubborn: Option<Stubborn>, stored: Stored) -> Self {
        let successors = Successors::new(model.compiled);
        // Whose steps lead through a section would have to be kept, too, where threads are exchanged.
        let through_sections = model.through_sections && stubborn.is_none() && stored.symmetry.is_none();
        let ahead = successors.clone();
        let shown = Row::default();
        Self {
            through_sections,
            compiled: model.compiled,
            stubborn,
            sight: Sight::WHOLE,
            narrow: Vec::new(),
            stored,
            ahead,
            successors,
            shown,
        }
    }

    /// A sight in which at least the values are seen that these atoms look at, all of which are observed.
    pub(crate) fn sight(&mut self, net: &Net, atoms: &[&Expr]) -> Sight {
        self.see(Sight::WHOLE);
        let Some(whole) = &self.stubborn else { return Sight::WHOLE };
        let Some(found) = whole.narrowed(net, atoms.iter().copied()) else { return Sight::WHOLE };
        if found.is_like(whole) {
            return Sight::WHOLE;
        }
        let known = self.narrow.iter().position(|other| other.is_like(&found));
        match known {
            Some(number) => Sight::narrow(number),
            None if self.narrow.len() == sights::MOST => Sight::WHOLE,
            None => {
                self.narrow.push(found);
                Sight::narrow(self.narrow.len() - 1)
            }
        }
    }

    /// Shows from now on the steps that are enough for a sight.
    #[inline]
    pub(crate) fn see(&mut self, sight: Sight) {
        if sight != self.sight {
            self.exchange();
            self.sight = sight;
            self.exchange();
        }
    }

    /// Exchanges the reduction for the sight with that for the whole one.
    fn exchange(&mut self) {
        if let (Some(number), Some(stubborn)) = (self.sight.number(), &mut self.stubborn) {
            std::mem::swap(&mut self.narrow[number], stubborn);
        }
    }

    /// The state whose steps are shown.
    pub(crate) const fn current(&self) -> &State {
        self.successors.current()
    }

    /// Whether steps of some threads were not shown for the current state.
    pub(crate) const fn is_partial(&self) -> bool {
        self.successors.is_partial()
    }

    /// After how many steps values were forgotten, and threads exchanged.
    pub(crate) const fn n_stored_otherwise(&self) -> (u64, u64) {
        (self.stored.n_forgotten, self.stored.n_exchanged)
    }

    /// The threads whose steps are enough for the current state, where steps were left out.
    pub(crate) fn chosen(&self) -> Option<ThreadSet> {
        self.successors.chosen()
    }

    /// A data race of the current state.
    pub(crate) fn race(&mut self, races: &mut Races) -> Option<Race> {
        self.successors.race(races)
    }

    /// Goes to a state of a store.
    pub(crate) fn load(&mut self, store: &impl States, id: StateId) {
        store.load(id, self.successors.current_mut());
    }

    /// Goes to a state of a store, of which only the numbers of its parts are needed at first. It is the current one after
    /// [`Stepper::unpack`].
    pub(crate) fn load_row(&mut self, store: &impl PartStore, id: StateId) {
        self.successors.load_row(store, id);
    }

    /// The same for a state that was seen before.
    pub(crate) fn go_to_row(&mut self, row: &Row) {
        self.successors.go_to_row(row);
    }

    /// The state that was gone to by its numbers.
    pub(crate) const fn row(&self) -> &Row {
        self.successors.row()
    }

    /// Makes the state that was gone to by its numbers the current one.
    pub(crate) fn unpack(&mut self, store: &impl PartStore) {
        self.successors.unpack(store);
    }

    /// Goes to a state that need not be from a store.
    pub(crate) fn go_to(&mut self, state: &State) {
        self.successors.current_mut().copy_from(state);
    }

    /// The state that a search begins with: what comes at once after the initial one, and need not be seen, is gone through. The
    /// firings are added.
    pub(crate) fn start(&mut self, firings: &mut Vec<Firing>) -> State {
        self.ahead.start_near(&self.compiled.initial());
        if let Some(stubborn) = &self.stubborn {
            // Where there is no room for a step, the search will say so.
            let _ = advance_far(&mut self.ahead, stubborn, Some(firings));
        }
        let mut start = self.ahead.current().clone();
        start.detach();
        start
    }

    /// The state as it is stored.
    pub(crate) fn stored(&mut self, state: &State) -> State {
        let mut stored = state.clone();
        stored.detach();
        self.stored.apply(self.compiled, &mut stored);
        stored
    }

    /// Shows each step with the state that it leads to, and the number of steps that were taken to come
    /// there. After a pruned step there is no state, and the current one is shown. What `visit` returns says whether the
    /// state is later ([`Proviso`]).
    pub(crate) fn for_each<R: Into<Flow>>(
        &mut self,
        mut visit: impl FnMut(&Step<'_>, &State, u64) -> R,
    ) -> Result<(), Unsupported> {
        if self.stubborn.is_none() && self.stored.is_nothing() {
            return self.successors.for_each(|step, next| visit(step, next, 1));
        }
        self.for_each_state(|step, next, n_steps| visit(step, next, n_steps).into())
    }

    /// Shows each step with the state that it leads to, which may be given numbers.
    fn for_each_state(
        &mut self,
        mut visit: impl FnMut(&Step<'_>, &mut State, u64) -> Flow,
    ) -> Result<(), Unsupported> {
        let Self { compiled, stubborn, stored, successors, ahead, .. } = self;
        let mut error = None;
        ahead.start_near(successors.current());
        successors.for_each_first(stubborn.as_ref(), |step, next| {
            ahead.go_to(next);
            if step.outcome == Outcome::Pruned {
                return visit(step, ahead.current_mut(), 1);
            }
            let mut n_steps = 1;
            if let Some(stubborn) = stubborn.as_ref() {
                match advance_far(ahead, stubborn, None) {
                    Ok(n_silent) => n_steps += n_silent,
                    Err(found) => {
                        error = Some(found);
                        return ControlFlow::Break(()).into();
                    }
                }
            }
            stored.apply(compiled, ahead.current_mut());
            visit(step, ahead.current_mut(), n_steps)
        })?;
        error.map_or(Ok(()), Err)
    }

    /// The same for a state that was gone to by its numbers, with the numbers of the states that are shown; after a pruned step
    /// they are of no state. The store must always be the same one. Steps do not know their firing.
    pub(crate) fn for_each_row<S: PartStore, R: Into<Flow>>(
        &mut self,
        store: &mut S,
        mut visit: impl FnMut(&mut S, &Step<'_>, &Row, u64) -> R,
    ) -> Result<(), Unsupported> {
        if self.stubborn.is_none() && self.stored.is_nothing() {
            let visit = |store: &mut S, step: &Step<'_>, next: &Row| visit(store, step, next, 1);
            return self.successors.for_each_remembered(store, visit);
        }
        self.successors.unpack(store);
        let mut row = std::mem::take(&mut self.shown);
        let mut is_full = false;
        let result = self.for_each_state(|step, next, n_steps| {
            is_full = step.outcome == Outcome::State && store.make_row(next, &mut row).is_err();
            if is_full { ControlFlow::Break(()).into() } else { visit(store, step, &row, n_steps).into() }
        });
        self.shown = row;
        match is_full {
            true => Err(Unsupported("more than 2^32 different parts of states".to_owned())),
            false => result,
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.successors.bytes()
    }

    /// The state of that number.
    fn wanted(&self, store: &impl States, to: StateId) -> State {
        let mut wanted = self.successors.current().clone();
        store.load(to, &mut wanted);
        wanted
    }

    /// A firing in the current state that begins with the one transition and fires the other; by this thread, if one is named.
    pub(crate) fn find_firing(
        &mut self,
        first: Transition,
        fires: Transition,
        by: Option<u32>,
    ) -> Option<Firing> {
        let mut found = None;
        let _ = self.successors.for_each(|step, _| {
            let is_first = step.transition == first && by.is_none_or(|thread| thread == step.thread);
            if is_first && step.transitions().any(|transition| transition == fires) {
                found = step.firing();
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// Walks from the current state to one that is stored with this number, and returns the firings of the first way there. The
    /// current state may have values that stored ones lack, and so has the one that is found.
    fn walk_to_stored(&mut self, store: &impl States, to: StateId) -> Option<Vec<Firing>> {
        let wanted = self.wanted(store, to);
        self.walk_to(&wanted, None)
    }

    /// As [`Stepper::walk_along`], where it matters which thread takes which step, and none has another number: each state comes with
    /// the thread that moves to it.
    pub(crate) fn walk_along_by(&mut self, store: &impl States, path: &[(StateId, u32)]) -> Vec<Firing> {
        self.go_to(&self.compiled.initial());
        let mut firings = Vec::new();
        for &(next, thread) in path.iter().skip(1) {
            let wanted = self.wanted(store, next);
            let Some(more) = self.walk_to(&wanted, Some(thread)) else { break };
            firings.extend(more);
        }
        firings
    }

    /// The firings of a run along stored states from the initial one, which is the first. The current state is then the last one of
    /// that run, with all its values.
    pub(crate) fn walk_along(&mut self, store: &impl States, path: &[StateId]) -> Vec<Firing> {
        let mut firings = Vec::new();
        let start = self.start(&mut firings);
        self.go_to(&start);
        if self.exchanges() {
            let mut real = self.real(start);
            for ends in path.windows(2) {
                let mut from = self.wanted(store, ends[0]);
                from.detach();
                self.go_to(&from);
                let Some(way) = self.walk_to_stored(store, ends[1]) else { break };
                if !self.imitate_all(&mut real, from, way, &mut firings) {
                    break;
                }
            }
            self.go_to(&real.state);
            return firings;
        }
        for &next in path.iter().skip(1) {
            // There is such a way; were there none, the replay of the run would tell.
            let Some(more) = self.walk_to_stored(store, next) else { break };
            firings.extend(more);
        }
        firings
    }

    /// Whether threads of stored states may have other numbers than in a run of the net.
    pub(crate) const fn exchanges(&self) -> bool {
        self.stored.symmetry.is_some()
    }

    /// A run of the net that begins in this state, which is stored in its place.
    pub(crate) fn real(&mut self, state: State) -> Real {
        let mut names: Vec<usize> = (0..self.compiled.max_threads() as usize).collect();
        self.stored.apply_named(self.compiled, &mut state.clone(), &mut names);
        Real { state, names }
    }

    /// Goes on with a run from a stored state by these firings there, after which a state is stored again, and adds what fires in the run. Which
    /// of the steps was taken from a stored state was found there, by the numbers there, since which steps are taken together may depend on
    /// the numbers; the thread that goes by that number takes the same step in the run. Says whether all of it could be done.
    fn imitate_all(
        &mut self,
        real: &mut Real,
        mut at: State,
        way: Vec<Firing>,
        firings: &mut Vec<Firing>,
    ) -> bool {
        for firing in way {
            let Some(next) = self.after(&at, &firing) else { return false };
            let Some((step, state)) = self.imitate(&next, &firing, real) else { return false };
            firings.push(step);
            (at, real.state) = (next, state);
        }
        self.stored.apply_named(self.compiled, &mut at, &mut real.names);
        true
    }

    /// Goes on with a run along the first way from the one stored state to the other that begins with a step of these threads, and adds what
    /// fires. Says whether that could be done.
    pub(crate) fn follow(
        &mut self,
        store: &impl States,
        real: &mut Real,
        (from, movers, to): (StateId, Movers, StateId),
        firings: &mut Vec<Firing>,
    ) -> bool {
        let (mut from, to) = (self.wanted(store, from), self.wanted(store, to));
        from.detach();
        self.go_to(&from);
        let way = self.walk(&to, By::First(movers));
        way.is_some_and(|way| self.imitate_all(real, from, way, firings))
    }

    /// The state after a firing.
    fn after(&mut self, at: &State, firing: &Firing) -> Option<State> {
        self.go_to(at);
        let mut found = None;
        let _ = self.successors.for_each(|step, next| {
            if step.outcome == Outcome::State && step.firing().as_ref() == Some(firing) {
                found = Some(next.clone());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let mut state: State = found?;
        state.detach();
        Some(state)
    }

    /// The step of the real run that leads to this state, but for the names of threads and what is forgotten.
    fn imitate(
        &mut self,
        next: &State,
        firing: &Firing,
        Real { state: real, names }: &Real,
    ) -> Option<(Firing, State)> {
        let identity: Vec<usize> = (0..names.len()).collect();
        let wanted = self.stored.renamed(self.compiled, next, &identity);
        self.go_to(real);
        let mut found = None;
        let Self { compiled, stored, successors, .. } = self;
        let _ = successors.for_each(|step, next| {
            let fits = step.outcome == Outcome::State
                && step.transition == firing.transition
                && names[step.thread as usize] as i64 == firing.thread()
                && stored.renamed(compiled, next, names).is_same(&wanted);
            if fits {
                found = Some((step.firing(), next.clone()));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let (step, mut state) = found?;
        state.detach();
        Some((step?, state))
    }

    /// Walks to the first state that, as it would be stored, is the wanted one: by one step, or by several through an atomic
    /// section, in the order in which a search goes through it. All first steps are tried: which of them a search had to
    /// look at depended on what it knew then. Only steps of one thread count, if one is named.
    pub(crate) fn walk_to(&mut self, wanted: &State, by: Option<u32>) -> Option<Vec<Firing>> {
        self.walk(wanted, by.map_or(By::Anybody, By::Thread))
    }

    fn walk(&mut self, wanted: &State, by: By) -> Option<Vec<Firing>> {
        let mut start = self.successors.current().clone();
        start.detach();
        let goes_through = self.through_sections || self.stubborn.is_some();
        // The states inside of sections that were come to, each with the one before it and the firing; the first is where it starts.
        let mut inside: Vec<(State, usize, Option<Firing>)> = vec![(start, 0, None)];
        let mut seen: FxHashSet<Vec<u8>> = FxHashSet::default();
        let mut waiting = vec![0];
        while let Some(at) = waiting.pop() {
            let from = inside[at].0.clone();
            self.go_to(&from);
            let mut found = None;
            let Self { compiled, stubborn, stored, successors, ahead, .. } = self;
            ahead.start_near(successors.current());
            let _ = successors.for_each(|step, next| {
                if step.outcome == Outcome::Pruned || !by.allows(step, at == 0) {
                    return ControlFlow::Continue(());
                }
                ahead.go_to(next);
                let mut firings = Vec::from_iter(step.firing());
                // A section is walked through step by step, so that each of its states is come to.
                let is_inside = compiled.is_in_section(ahead.current());
                if let Some(stubborn) = stubborn.as_ref() {
                    let _ = advance_far(ahead, stubborn, Some(&mut firings));
                }
                let full = ahead.current().clone();
                stored.apply(compiled, ahead.current_mut());
                if ahead.current().is_same(wanted) {
                    found = Some((full, firings));
                    return ControlFlow::Break(());
                }
                if goes_through && is_inside && inside.len() < MOST_INSIDE {
                    let mut bytes = Vec::new();
                    next.pack(compiled.layout(), &mut bytes);
                    if seen.insert(bytes) {
                        let mut next = next.clone();
                        next.detach();
                        waiting.push(inside.len());
                        inside.push((next, at, step.firing()));
                    }
                }
                ControlFlow::Continue(())
            });
            if let Some((state, last)) = found {
                self.go_to(&state);
                let mut way = last;
                way.reverse();
                let mut at = at;
                while at != 0 {
                    let (_, before, firing) = &inside[at];
                    way.extend(firing.clone());
                    at = *before;
                }
                way.reverse();
                return Some(way);
            }
        }
        None
    }

    /// The firings of the first way from the current state to the other, by the threads if they are named.
    /// Firings are not stored: a trace has few steps, and a search has many.
    pub(crate) fn find(&mut self, store: &impl States, movers: Option<Movers>, to: StateId) -> Vec<Firing> {
        let start = self.successors.current().clone();
        let wanted = self.wanted(store, to);
        let found = self.walk(&wanted, movers.map_or(By::Anybody, By::First)).unwrap_or_default();
        self.successors.current_mut().copy_from(&start);
        found
    }
}

/// Takes silent steps, one after the other, and says how many; the firings are added to a trace, if there is one. The first state of all
/// and those after each step are gone on from in the same way whenever that is done, so that runs are found again.
fn advance_far(
    ahead: &mut Successors<'_>,
    stubborn: &Stubborn,
    mut trace: Option<&mut Vec<Firing>>,
) -> Result<u64, Unsupported> {
    let mut n_steps = 0;
    while n_steps < MOST_SILENT && ahead.advance(stubborn, trace.as_deref_mut())? {
        n_steps += 1;
    }
    Ok(n_steps)
}
