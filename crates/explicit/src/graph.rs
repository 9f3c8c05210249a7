//! The reachable states with their edges, found on demand and kept.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pdnet_check::{MemoryUse, StopReason};
use pdnet_net::{Action, Expr, Firing, Transition};
use pdnet_space::{Atoms, State, StateId, Stubborn, ThreadSet};

use crate::budget::{Budget, memory_of};
use crate::edges::{Claim, LETTER_BITS, Map, Record};
use crate::journal::edges::GraphJournal;
use crate::model::{Model, Movers, full};
use crate::notes::Notes;
use crate::sights::Sight;
use crate::stepper::{Real, Stepper, Stored};

mod expander;
mod known;

use expander::{Expander, Finder};
pub(crate) use known::{Known, Noted};
use known::{Layer, Saved};

/// So often one looks for what another worker is about to find, before others may have the processor.
const LOOKS: u32 = 100;

/// So often before limits are looked at.
const LIMITS: u32 = 1 << 12;

/// What is known of a state beside its edges.
pub(crate) struct Seen {
    /// The threads that can move.
    pub(crate) enabled: ThreadSet,
    /// The letter of the atoms that are observed, if it was kept.
    pub(crate) letter: Option<u64>,
    pub(crate) is_notable: bool,
    /// Steps were left out.
    pub(crate) is_partial: bool,
}

/// The graph of states. States are numbered as in its store.
pub(crate) struct Graph<'a> {
    pub(crate) model: &'a Model<'a>,
    known: Arc<Known>,
    /// Where the edges are for who sees all.
    map: Map,
    expander: Expander<'a>,
    /// The atoms of the properties that have looked at it. Those of number 1 are the first.
    observed: Vec<String>,
    /// Where it is kept, if it is.
    journal: Option<GraphJournal>,
}

impl<'a> Graph<'a> {
    /// The graph, or with a reduction, what is left of it.
    pub(crate) fn new(model: &'a Model<'a>, stubborn: Option<Stubborn>, stored: Stored) -> Self {
        let known = Arc::new(Known::new(model));
        let reduces = stubborn.is_some();
        let stepper = Stepper::new(model, stubborn, stored);
        let expander = Expander::new(model, (Arc::clone(&known), 0), stepper, reduces);
        Self { model, known, map: Map::default(), expander, observed: Vec::new(), journal: None }
    }

    /// Keeps it as the graph of this number, if one is given.
    pub(crate) fn kept(self, search: Option<u64>) -> Self {
        Self { journal: search.map(GraphJournal::new), ..self }
    }

    /// Begins a search on it: what was kept of the graph is read, if that was not done.
    ///
    /// # Errors
    /// Where a limit is met.
    pub(crate) fn begin(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_unread()) else {
            return Ok(());
        };
        match journal.read((self.model, &self.known), &mut self.expander.finder.store, budget) {
            Ok(names) => self.observed = names.unwrap_or_default(),
            Err(Some(reason)) => return Err(reason),
            // What was half read is of no use.
            Err(None) => {
                self.known = Arc::new(Known::new(self.model));
                self.map = Map::default();
                self.expander.begin_again(Arc::clone(&self.known));
            }
        }
        Ok(())
    }

    /// Keeps what is new, where it is time for that.
    #[inline]
    fn keep_if_due(&mut self, budget: &mut Budget<'_>) {
        if let Some(journal) = &mut self.journal
            && journal.is_due(budget)
            && let Some(keeper) = budget.keeper()
        {
            journal.keep((self.model, &self.known), &self.observed, keeper);
        }
    }

    /// Ends a search on it. What a limit has stopped is kept, too: with a higher one it can go on.
    pub(crate) fn end(&mut self, is_stopped: bool, budget: &mut Budget<'_>) {
        if let Some(journal) = &mut self.journal
            && !journal.is_unread()
            && (journal.is_begun || is_stopped)
            && let Some(keeper) = budget.keeper()
        {
            journal.keep((self.model, &self.known), &self.observed, keeper);
        }
    }

    /// The same graph for another worker. There is never more than one with the same number.
    pub(crate) fn fork(&self, number: usize) -> Self {
        let expander = self.expander.fork(number);
        let observed = self.observed.clone();
        // One worker keeps what all of them find.
        Self {
            model: self.model,
            known: Arc::clone(&self.known),
            map: Map::default(),
            expander,
            observed,
            journal: None,
        }
    }

    /// Keeps the letters of these atoms with states that are expanded from now on, where there is room for them. Letters that are known of the
    /// same atoms are theirs.
    pub(crate) fn observe(&mut self, atoms: &Atoms) {
        let name = format!("{atoms:?}");
        let known = self.observed.iter().position(|other| *other == name);
        let number = known.unwrap_or_else(|| {
            self.observed.push(name);
            self.observed.len() - 1
        });
        let number = u8::try_from(number + 1).ok().filter(|&number| number < 0x7f);
        let has_room = atoms.len() <= LETTER_BITS;
        self.expander.finder.atoms = number.filter(|_| has_room).map(|number| (atoms.clone(), number));
    }

    /// The initial state, as it is stored.
    pub(crate) fn initial(&mut self) -> Result<StateId, StopReason> {
        let initial = self.expander.finder.stepper.stored(&self.model.compiled.initial());
        self.add(&initial)
    }

    /// Adds a state that does not come from this graph.
    pub(crate) fn add(&mut self, state: &State) -> Result<StateId, StopReason> {
        let (id, _) = self.expander.finder.store.insert(state, 0).map_err(|_| full())?;
        Ok(id)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.known.bytes()
    }

    /// What it takes memory for.
    pub(crate) fn memory(&self) -> MemoryUse {
        let edges = self.known.edge_bytes() as u64;
        let remembered = self.known.remembered.load(Ordering::Relaxed) as u64;
        MemoryUse { edges, remembered, ..memory_of(self.known.store.size()) }
    }

    /// After how many steps values were forgotten, and threads exchanged, by all who found edges and have ended, and here.
    pub(crate) fn n_stored_otherwise(&self) -> (u64, u64) {
        let Saved { forgotten, exchanged, .. } = &self.known.saved;
        let own = self.expander.finder.stepper.n_stored_otherwise();
        (own.0 + forgotten.load(Ordering::Relaxed), own.1 + exchanged.load(Ordering::Relaxed))
    }

    /// Nodes of the product in the last search by several workers from which steps were left out.
    pub(crate) fn n_reduced(&self) -> &AtomicU64 {
        &self.known.saved.reduced
    }

    /// Whether steps are left out, and that may depend on what is seen.
    pub(crate) const fn is_guided(&self) -> bool {
        self.expander.finder.reduces && self.model.is_guided
    }

    /// A sight in which at least the values are seen that these atoms look at, all of which are observed. There are few, so that it may be
    /// the whole one.
    pub(crate) fn sight(&mut self, atoms: &[&Expr]) -> Sight {
        let model = self.model;
        let sight = self.expander.finder.stepper.sight(model.net, atoms);
        if let Some(number) = sight.number() {
            self.known.narrow[number].get_or_init(|| Box::new(Layer::new(model)));
        }
        sight
    }

    #[inline]
    fn record(&self, state: StateId, sight: Sight) -> Option<Record<'_>> {
        self.known.record(&self.map, state, sight)
    }

    /// The edges out of a state for a sight, by number, which is expanded first where it was not. A state without edges either
    /// repeats forever ([`Graph::stutters`]) or is a dead end of runs that assumptions, bounds or faults cut off.
    pub(crate) fn edges(
        &mut self,
        state: StateId,
        sight: Sight,
        budget: &mut Budget<'_>,
    ) -> Result<Range<usize>, StopReason> {
        self.keep_if_due(budget);
        let mut n_looks = 0_u32;
        loop {
            if let Some(record) = self.record(state, sight) {
                return Ok(0..record.n_edges());
            }
            match self.known.layer(sight).edges.claim(state) {
                Claim::Granted => self.expander.expand(state, sight, budget)?,
                Claim::Done => {}
                // That takes as long as it would take here.
                Claim::Others => {
                    n_looks = n_looks.wrapping_add(1);
                    if n_looks < LOOKS {
                        std::hint::spin_loop()
                    } else {
                        std::thread::yield_now()
                    }
                    // A state may have very many steps.
                    if n_looks.is_multiple_of(LIMITS) {
                        budget.look(&self.known.progress())?;
                    }
                }
            }
        }
    }

    /// Expands a state for a sight, unless that was done or another worker does it: false then.
    pub(crate) fn expand(
        &mut self,
        state: StateId,
        sight: Sight,
        budget: &mut Budget<'_>,
    ) -> Result<bool, StopReason> {
        match self.known.layer(sight).edges.claim(state) {
            Claim::Granted => self.expander.expand(state, sight, budget).map(|()| true),
            Claim::Done | Claim::Others => Ok(false),
        }
    }

    /// Expands states together, each for a sight, those that were not expanded and that no other worker expands.
    pub(crate) fn expand_all(
        &mut self,
        states: impl Iterator<Item = (StateId, Sight)>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        let Self { known, expander, .. } = self;
        let is_granted = |&(state, sight): &(StateId, Sight)| {
            matches!(known.layer(sight).edges.claim(state), Claim::Granted)
        };
        expander.expand_all(states.filter(is_granted), budget)
    }

    /// Whether the edges of a state are known for a sight.
    #[inline]
    pub(crate) fn is_expanded(&self, state: StateId, sight: Sight) -> bool {
        self.record(state, sight).is_some()
    }

    /// The letter of the atoms that are observed, in an expanded state of which this was seen.
    #[inline]
    pub(crate) fn letter(&mut self, state: StateId, seen: &Seen, atoms: &mut Atoms) -> u64 {
        seen.letter.unwrap_or_else(|| {
            let compiled = self.model.compiled;
            let loaded = self.state(state);
            let is_deadlock = seen.enabled.is_empty() && !compiled.has_ended(loaded);
            atoms.letter(compiled, loaded, is_deadlock)
        })
    }

    /// Looks at what is known of a state, so that it is close to the processor when it is needed. Whether its edges are known.
    #[inline]
    pub(crate) fn touch(&self, state: StateId, sight: Sight) -> bool {
        std::hint::black_box(self.record(state, sight).map(|record| record.touch())).is_some()
    }

    /// Where an edge of an expanded state leads, and who moves.
    #[inline]
    pub(crate) fn edge(&self, state: StateId, sight: Sight, edge: usize) -> (StateId, Movers) {
        self.record(state, sight).map_or((state, Movers::NOBODY), |record| record.edge(edge))
    }

    /// What is known of a state, which is expanded first where it was not; its edges are listed.
    #[inline]
    pub(crate) fn look(
        &mut self,
        state: StateId,
        sight: Sight,
        edges: &mut Vec<(StateId, Movers)>,
        budget: &mut Budget<'_>,
    ) -> Result<Seen, StopReason> {
        self.keep_if_due(budget);
        self.map.learn(self.known.edges());
        edges.clear();
        loop {
            if let Some(record) = self.known.record(&self.map, state, sight) {
                edges.extend((0..record.n_edges()).map(|edge| record.edge(edge)));
                let letter =
                    self.expander.finder.atoms.as_ref().and_then(|(_, number)| record.letter(*number));
                return Ok(Seen {
                    enabled: record.enabled(),
                    letter,
                    is_notable: record.is_noted(),
                    is_partial: record.is_partial(),
                });
            }
            self.edges(state, sight, budget)?;
        }
    }

    /// Whether no transition at all is enabled in an expanded state: it repeats forever.
    pub(crate) fn stutters(&self, state: StateId, sight: Sight) -> bool {
        self.enabled(state, sight).is_empty()
    }

    /// The threads that can move in an expanded state, by themselves or with another.
    #[inline]
    pub(crate) fn enabled(&self, state: StateId, sight: Sight) -> ThreadSet {
        self.record(state, sight).map_or(ThreadSet::NONE, |record| record.enabled())
    }

    /// Whether undefined behaviour can be met in an expanded state.
    pub(crate) fn meets_fault(&self, state: StateId, sight: Sight) -> bool {
        let is_fault = |&transition: &Transition| {
            matches!(self.model.net.transitions[transition].action, Action::Fault(_))
        };
        let layer = self.known.layer(self.known.taken(state, sight));
        self.is_notable(state, sight)
            && layer.noted().get(&state).is_some_and(|noted| noted.transitions.iter().any(is_fault))
    }

    /// Whether something has to be noted of an expanded state: not all that can come after it is known.
    pub(crate) fn is_notable(&self, state: StateId, sight: Sight) -> bool {
        self.record(state, sight).is_some_and(|record| record.is_noted())
    }

    /// Adds what has to be noted of an expanded state.
    pub(crate) fn note(&self, state: StateId, sight: Sight, notes: &mut Notes) {
        if !self.is_notable(state, sight) {
            return;
        }
        let layer = self.known.layer(self.known.taken(state, sight));
        if let Some(Noted { transitions, cut }) = layer.noted().get(&state) {
            transitions.iter().for_each(|&transition| notes.add(self.model.net, transition));
            cut.iter().for_each(|&transition| notes.add_cut(transition));
        }
    }

    /// The state in its working form.
    pub(crate) fn state(&mut self, state: StateId) -> &State {
        self.expander.finder.state(state)
    }

    /// The firings of the first way from one state to the other.
    pub(crate) fn firings_to(&mut self, from: StateId, to: StateId) -> Vec<Firing> {
        let _ = self.state(from);
        self.expander.finder.stepper.see(Sight::WHOLE);
        self.expander.finder.stepper.find(&self.expander.finder.store, None, to)
    }

    /// The initial state of a run of the net, where threads of stored states may have other numbers than in such a run.
    pub(crate) fn real(&mut self) -> Option<Real> {
        let stepper = &mut self.expander.finder.stepper;
        stepper.exchanges().then(|| stepper.real(self.model.compiled.initial()))
    }

    /// Goes on with a run of the net along the first way from one state to the other that begins with a step of these threads, for a sight, and
    /// adds what fires. Says whether that could be done.
    pub(crate) fn follow(
        &mut self,
        real: &mut Real,
        ((from, sight), movers, to): ((StateId, Sight), Movers, StateId),
        firings: &mut Vec<Firing>,
    ) -> bool {
        let sight = self.known.taken(from, sight);
        let Finder { stepper, store, loaded, .. } = &mut self.expander.finder;
        *loaded = None;
        stepper.see(sight);
        stepper.follow(store, real, (from, movers, to), firings)
    }

    /// The firings of the first way from one state to the other that begins with a step of these threads, for a sight.
    pub(crate) fn firings(
        &mut self,
        (from, sight): (StateId, Sight),
        movers: Movers,
        to: StateId,
    ) -> Vec<Firing> {
        let _ = self.state(from);
        self.expander.finder.stepper.see(self.known.taken(from, sight));
        self.expander.finder.stepper.find(&self.expander.finder.store, Some(movers), to)
    }
}
