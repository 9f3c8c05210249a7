//! How the edges of states are found, by each worker on a graph.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pdnet_check::StopReason;
use pdnet_space::{Atoms, Flow, Outcome, SharedStore, State, StateId, StoreWorker};

use super::known::{Known, Noted};
use crate::budget::{Budget, FIRINGS};
use crate::edges::{Draft, Letter, RecordWriter};
use crate::model::{Model, Movers, full};
use crate::sights::{self, Sight};
use crate::stepper::Stepper;

/// So many successors of a state are put into the store together.
const BATCH: usize = 256;

/// One who finds the edges of states. Each worker on a graph has one.
///
/// With a reduction the mark of a state in the store is how many steps were taken on the way on which it was found. A state that
/// is not expanded in full has only edges to larger marks ([`pdnet_space::Proviso::AllLater`]); they do not change, so that it
/// does not matter who expands which state when, nor for which sight ([`crate::sights::Sights`]).
pub(super) struct Expander<'a> {
    known: Arc<Known>,
    pub(super) finder: Finder<'a>,
    /// By sight, as edges are.
    writers: Writers,
    /// The bytes of remembered steps that are counted already.
    counted: usize,
    /// After how many steps values were forgotten, and threads exchanged, before it was made of another one.
    before: (u64, u64),
}

/// Where a worker writes the edges for each sight.
type Writers = [RecordWriter; 1 + sights::MOST];

impl<'a> Expander<'a> {
    /// One for the worker of a number.
    pub(super) fn new(
        model: &'a Model<'a>,
        (known, number): (Arc<Known>, usize),
        stepper: Stepper<'a>,
        reduces: bool,
    ) -> Self {
        let before = stepper.n_stored_otherwise();
        let store = SharedStore::worker(&known.store, number);
        let finder = Finder { model, store, stepper, reduces, loaded: None, drafts: Vec::new(), atoms: None };
        Self { known, finder, writers: Default::default(), counted: 0, before }
    }

    /// One for another worker. There is never more than one with the same number.
    pub(super) fn fork(&self, number: usize) -> Self {
        let Finder { model, stepper, reduces, atoms, .. } = &self.finder;
        let mut fork = Self::new(model, (Arc::clone(&self.known), number), stepper.clone(), *reduces);
        fork.finder.atoms.clone_from(atoms);
        fork
    }

    /// Begins again with what is known of another graph, which is nothing yet.
    pub(super) fn begin_again(&mut self, known: Arc<Known>) {
        self.finder.store = SharedStore::worker(&known.store, 0);
        self.finder.loaded = None;
        self.known = known;
        self.writers = Default::default();
        self.counted = 0;
    }

    /// Expands a state that was claimed.
    pub(super) fn expand(
        &mut self,
        state: StateId,
        sight: Sight,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        let Self { known, finder, writers, counted, .. } = self;
        // Whatever comes, others shall not wait for this state.
        let claimed = Claimed { known, state, sight, is_done: false };
        let Some(claimed) = claimed.unless_partial() else { return Ok(()) };
        let noted = finder.find(known, (state, sight), 0, budget);
        // What was brought must not be left for the next one.
        let put_in = finder.put_in(1);
        let noted = noted?;
        put_in?;
        known.count_bytes(finder.bytes(), counted);
        claimed.settle(noted, &finder.drafts[0], writers, budget)
    }

    /// Expands states, each of which was claimed when it comes. Their successors are put into the store together: what has to be
    /// waited for is asked for before, for all of them.
    pub(super) fn expand_all(
        &mut self,
        states: impl Iterator<Item = (StateId, Sight)>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        let Self { known, finder, writers, counted, .. } = self;
        let mut found = Vec::new();
        let mut stop = Ok(());
        for (state, sight) in states {
            let claimed = Claimed { known, state, sight, is_done: false };
            let Some(claimed) = claimed.unless_partial() else { continue };
            match finder.find(known, (state, sight), found.len(), budget) {
                Ok(noted) => found.push((claimed, noted)),
                Err(reason) => {
                    stop = Err(reason);
                    break;
                }
            }
        }
        let put_in = finder.put_in(finder.drafts.len());
        stop.and(put_in)?;
        known.count_bytes(finder.bytes(), counted);
        let mut found = found.into_iter().zip(&finder.drafts);
        found.try_for_each(|((claimed, noted), draft)| claimed.settle(noted, draft, writers, budget))
    }
}

/// What an [`Expander`] finds steps with.
pub(super) struct Finder<'a> {
    model: &'a Model<'a>,
    pub(super) store: StoreWorker,
    pub(super) stepper: Stepper<'a>,
    pub(super) reduces: bool,
    /// The state that the generator of successors holds.
    pub(super) loaded: Option<StateId>,
    /// One for each of the states that are expanded together.
    drafts: Vec<Draft>,
    /// The atoms whose letters are kept with states, and their number.
    pub(super) atoms: Option<(Atoms, u8)>,
}

impl Finder<'_> {
    /// The state in its working form.
    pub(super) fn state(&mut self, state: StateId) -> &State {
        if self.loaded != Some(state) {
            self.stepper.load(&self.store, state);
            self.loaded = Some(state);
        }
        self.stepper.current()
    }

    /// Finds the steps from a state and makes the draft of that number of them. Where they lead is brought to the store, or put
    /// in where it has to be known now. What has to be noted comes back.
    fn find(
        &mut self,
        known: &Known,
        (state, sight): (StateId, Sight),
        at: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Noted, StopReason> {
        if self.drafts.len() <= at {
            self.drafts.resize_with(at + 1, Draft::default);
        }
        let Self { model, store, stepper, reduces, loaded, drafts, atoms } = self;
        stepper.see(sight);
        budget.tick(|| known.progress())?;
        let mut stop = None;
        let mut n_firings = 0_u64;
        let mut noted = Noted::default();
        drafts[at].clear();
        *loaded = None;
        let depth = if *reduces { known.store.mark(state) } else { 0 };
        stepper.load_row(store, state);
        let result = stepper.for_each_row(store, |store, step, next, n_steps| {
            let draft = &mut drafts[at];
            draft.enabled |= step.movers();
            n_firings += 1;
            if n_firings.is_multiple_of(FIRINGS) {
                stop = budget.look(&known.progress()).err();
            }
            noted.transitions.extend(step.transitions().filter(|&transition| model.notable[transition]));
            if step.is_cut {
                noted.cut = noted.cut.or(Some(step.transition));
            }
            let mut is_later = true;
            if step.outcome == Outcome::State {
                draft.movers.push(Movers::of(step));
                if *reduces {
                    // Whether the state is a later one has to be known now.
                    let mark = depth.saturating_add(u32::try_from(n_steps).unwrap_or(u32::MAX));
                    match store.insert_row(next, mark) {
                        Ok((target, is_new)) => {
                            is_later = known.store.mark(target) > depth;
                            draft.add(target, is_new);
                        }
                        Err(_) => stop = Some(full()),
                    }
                } else {
                    draft.n_brought += 1;
                    if store.bring(next, 0, false) >= BATCH {
                        stop = stop.take().or(put_in(store, &mut drafts[..=at]).err());
                    }
                }
                if let Err(reason) = budget.allow_states(drafts[at].n_fresh) {
                    stop = Some(reason);
                }
            }
            let control = if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Flow::new(control, is_later)
        });
        if let Some(reason) = result.err().map(|error| StopReason::Unsupported(error.0)).or(stop) {
            return Err(reason);
        }
        let draft = &mut drafts[at];
        if let Some(chosen) = stepper.chosen() {
            // Others were tried before.
            draft.keep_only(chosen);
        }
        if let Some((atoms, number)) = atoms {
            stepper.unpack(store);
            *loaded = Some(state);
            let (compiled, now) = (model.compiled, stepper.current());
            let is_deadlock = draft.enabled.is_empty() && !compiled.has_ended(now);
            let letter = u32::try_from(atoms.letter(compiled, now, is_deadlock)).unwrap_or(0);
            draft.letter = Some(Letter { atoms: *number, letter });
        }
        draft.is_noted = noted.cut.is_some() || !noted.transitions.is_empty();
        Ok(noted)
    }

    /// The bytes of what it remembers.
    fn bytes(&self) -> usize {
        let drafts = self.drafts.iter();
        let drafts: usize = drafts
            .map(|draft| {
                draft.targets.capacity() * size_of::<u32>() + draft.movers.capacity() * size_of::<Movers>()
            })
            .sum();
        self.stepper.bytes() + drafts
    }

    /// Puts the states into the store that were brought for the first drafts.
    fn put_in(&mut self, n_drafts: usize) -> Result<(), StopReason> {
        let n_drafts = n_drafts.min(self.drafts.len());
        put_in(&mut self.store, &mut self.drafts[..n_drafts])
    }
}

/// Puts the states into the store that were brought to it: they are targets of the drafts, in their order.
#[inline]
fn put_in(store: &mut StoreWorker, drafts: &mut [Draft]) -> Result<(), StopReason> {
    let mut at = 0;
    let put_in = store.insert_brought(|target, is_new, _| {
        while drafts.get(at).is_some_and(|draft| draft.n_brought == 0) {
            at += 1;
        }
        if let Some(draft) = drafts.get_mut(at) {
            draft.add(target, is_new);
            draft.n_brought -= 1;
        }
        ControlFlow::Continue(())
    });
    if put_in.is_err() {
        drafts.iter_mut().for_each(|draft| draft.n_brought = 0);
    }
    put_in.map_err(|_| full())
}

impl Drop for Expander<'_> {
    fn drop(&mut self) {
        let Self { known, finder, counted, before, .. } = self;
        known.remembered.fetch_sub(*counted, Ordering::Relaxed);
        let (forgotten, exchanged) = finder.stepper.n_stored_otherwise();
        known.saved.forgotten.fetch_add(forgotten - before.0, Ordering::Relaxed);
        known.saved.exchanged.fetch_add(exchanged - before.1, Ordering::Relaxed);
    }
}

/// The claim to expand a state, which is given back where that does not come about.
struct Claimed<'k> {
    known: &'k Known,
    state: StateId,
    sight: Sight,
    is_done: bool,
}

impl Claimed<'_> {
    /// It, but where the edges for the whole sight are not all: those will do.
    #[inline]
    fn unless_partial(self) -> Option<Self> {
        let is_narrow = self.sight != Sight::WHOLE;
        if is_narrow && self.known.edges().get(self.state).is_some_and(|record| record.is_partial()) {
            self.refer();
            return None;
        }
        Some(self)
    }

    /// Makes known what was found.
    #[inline]
    fn settle(
        mut self,
        noted: Noted,
        draft: &Draft,
        writers: &mut Writers,
        budget: &Budget<'_>,
    ) -> Result<(), StopReason> {
        // Other searches may have filled the graph: only what this one adds is counted here.
        budget.allow_states(draft.n_fresh)?;
        let Self { known, state, sight, .. } = self;
        let is_narrow = sight != Sight::WHOLE;
        if is_narrow && known.edges().get(state).is_some_and(|record| record.is_like(draft)) {
            self.refer();
            return Ok(());
        }
        if draft.is_noted {
            known.layer(sight).noted().insert(state, noted);
        }
        let writer = &mut writers[sight.number().map_or(0, |number| 1 + number)];
        known.layer(sight).edges.publish(writer, state, draft);
        self.is_done = true;
        Ok(())
    }

    /// What is known for the whole sight will do.
    fn refer(mut self) {
        self.known.layer(self.sight).edges.refer(self.state);
        self.is_done = true;
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.known.layer(self.sight).edges.release(self.state);
        }
    }
}
