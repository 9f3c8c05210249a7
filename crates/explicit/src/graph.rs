//! The reachable states with their edges, found on demand and kept.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pdnet_base::{FxHashMap, IndexVec};
use pdnet_check::{MemoryUse, Progress, StopReason};
use pdnet_net::{Action, Expr, Firing, Net, Transition};
use pdnet_space::{
    Atoms, Compiled, Flow, Outcome, SharedStore, State, StateId, Step, StoreWorker, Stubborn, Symmetry,
    ThreadSet,
};

use crate::budget::{Budget, FIRINGS, memory_of};
use crate::edges::{Claim, Draft, Edges, LETTER_BITS, Letter, Map, Record, RecordWriter};
use crate::journal::edges::GraphJournal;
use crate::notes::{self, Notes};
use crate::sights::{self, Sight};
use crate::stepper::{Real, Stepper, Stored};
use crate::{Crew, Explicit, Order};

/// So many successors of a state are put into the store together.
const BATCH: usize = 256;

/// So often one looks for what another worker is about to find, before others may have the processor.
const LOOKS: u32 = 100;

/// So often before limits are looked at.
const LIMITS: u32 = 1 << 12;

/// A net, compiled, with what every search asks about its transitions.
pub(crate) struct Model<'a> {
    pub(crate) net: &'a Net,
    pub(crate) compiled: &'a Compiled,
    pub(crate) notable: IndexVec<Transition, bool>,
    /// Some run may be removed by a failed assumption.
    pub(crate) has_assumptions: bool,
    /// Some step moves two threads.
    pub(crate) has_partners: bool,
    /// Whether searches may leave out steps.
    pub(crate) reduces: bool,
    /// Whether that depends on the state of the automaton.
    pub(crate) is_guided: bool,
    /// Whether searches for finite runs may forget values.
    pub(crate) forgets: bool,
    /// Whether searches may exchange threads.
    pub(crate) exchanges: bool,
    /// So many steps a cycle may have that has to be gone along more than once for that.
    pub(crate) most_unrolled: usize,
    /// Whether such searches walk through atomic sections.
    pub(crate) through_sections: bool,
    pub(crate) crew: Crew,
    /// Whether the order of a search is that of SPIN's: of the steps of a state those of the newest thread come first.
    pub(crate) newest_first: bool,
}

impl<'a> Model<'a> {
    pub(crate) fn new(net: &'a Net, compiled: &'a Compiled, engine: &Explicit) -> Self {
        let notable =
            net.transitions.indices().map(|transition| notes::is_notable(net, transition)).collect();
        let has_assumptions = net.transitions.iter().any(|data| data.action == Action::AssumeFail);
        let has_partners = net.transitions.iter().any(|data| net.moves_partner(data));
        let Explicit {
            stubborn: reduces,
            guided: is_guided,
            forget: forgets,
            symmetry: exchanges,
            most_unrolled,
            through_sections,
            crew,
            order,
            ..
        } = *engine;
        Self {
            net,
            compiled,
            notable,
            has_assumptions,
            has_partners,
            reduces,
            is_guided,
            forgets,
            exchanges,
            most_unrolled,
            through_sections,
            crew,
            newest_first: order == Order::Depth,
        }
    }

    /// The exchange of threads for a search that evaluates these atoms, if there is one.
    pub(crate) fn symmetry<'e>(&self, atoms: impl IntoIterator<Item = &'e Expr> + Clone) -> Option<Symmetry> {
        let symmetry =
            if self.exchanges { Symmetry::new(self.net, self.compiled, atoms)? } else { return None };
        Some(if self.newest_first { symmetry.ascending() } else { symmetry })
    }
}

/// Who moves on an edge: a thread, and maybe another one with it, by their numbers in the state as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Movers {
    thread: u8,
    partner: u8,
}

/// The number of no thread.
const NO_THREAD: u8 = u8::MAX;

impl Movers {
    /// On an edge on which no thread moves, because the state repeats.
    pub(crate) const NOBODY: Self = Self { thread: NO_THREAD, partner: NO_THREAD };

    /// A thread that moves by itself.
    #[inline]
    pub(crate) const fn alone(thread: u8) -> Self {
        Self { thread, partner: NO_THREAD }
    }

    #[inline]
    pub(crate) const fn from_bytes([thread, partner]: [u8; 2]) -> Self {
        Self { thread, partner }
    }

    #[inline]
    pub(crate) const fn bytes(self) -> [u8; 2] {
        [self.thread, self.partner]
    }

    /// Those of a step.
    #[expect(clippy::cast_possible_truncation, reason = "there are at most 255 threads")]
    pub(crate) fn of(step: &Step<'_>) -> Self {
        Self { thread: step.thread as u8, partner: step.partner.map_or(NO_THREAD, |partner| partner as u8) }
    }

    /// Whether the thread that moves, not its partner, is one of these.
    pub(crate) fn is_of(self, threads: ThreadSet) -> bool {
        threads.contains(usize::from(self.thread))
    }

    /// The thread that moves, not its partner.
    pub(crate) const fn thread(self) -> u8 {
        self.thread
    }

    /// As a set.
    #[inline]
    pub(crate) fn set(self) -> ThreadSet {
        let mut set = ThreadSet::NONE;
        for thread in [self.thread, self.partner] {
            if thread != NO_THREAD {
                set.insert(usize::from(thread));
            }
        }
        set
    }
}

/// What the workers on a graph share.
pub(crate) struct Known {
    pub(crate) store: Arc<SharedStore>,
    /// The steps for who sees all that is observed.
    whole: Layer,
    /// Those for who sees less, by sight. Many states have none of their own there.
    narrow: [OnceLock<Box<Layer>>; sights::MOST],
    /// The bytes of the steps that the workers remember.
    remembered: AtomicUsize,
    /// What reductions did for workers that have ended.
    saved: Saved,
}

/// What reductions did for several workers.
#[derive(Debug, Default)]
struct Saved {
    /// Nodes of the product, in the last search, from which steps were left out.
    reduced: AtomicU64,
    forgotten: AtomicU64,
    exchanged: AtomicU64,
}

/// The steps from states, for one sight.
struct Layer {
    edges: Edges,
    /// What has to be noted of states; of most, nothing.
    noted: Mutex<FxHashMap<StateId, Noted>>,
}

impl Layer {
    fn new(model: &Model<'_>) -> Self {
        let edges = Edges::new(model.compiled.max_threads(), model.has_partners);
        Self { edges, noted: Mutex::default() }
    }

    fn noted(&self) -> MutexGuard<'_, FxHashMap<StateId, Noted>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What has to be noted of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted {
    /// The notable transitions that fire in it.
    pub(crate) transitions: Vec<Transition>,
    /// The first transition of a sequence without end.
    pub(crate) cut: Option<Transition>,
}

impl Known {
    fn new(model: &Model<'_>) -> Self {
        let store = SharedStore::empty(model.compiled, model.crew.workers.max(1));
        let narrow = std::array::from_fn(|_| OnceLock::new());
        let remembered = AtomicUsize::new(0);
        Self { store, whole: Layer::new(model), narrow, remembered, saved: Saved::default() }
    }

    /// The edges for who sees all that is observed.
    pub(crate) const fn edges(&self) -> &Edges {
        &self.whole.edges
    }

    /// What has to be noted of states, for who sees all that is observed.
    pub(crate) fn noted(&self) -> MutexGuard<'_, FxHashMap<StateId, Noted>> {
        self.whole.noted()
    }

    /// The steps for a sight. Those for a narrow one must never be taken for all: it has a layer since it was made
    /// ([`Graph::sight`]).
    #[inline]
    fn layer(&self, sight: Sight) -> &Layer {
        let Some(number) = sight.number() else { return &self.whole };
        self.narrow[number].get().unwrap_or_else(|| unreachable!("sight {number} was not made"))
    }

    /// The sight whose steps from an expanded state are taken for this one.
    #[inline]
    fn taken(&self, state: StateId, sight: Sight) -> Sight {
        let is_elsewhere = sight != Sight::WHOLE && self.layer(sight).edges.is_elsewhere(state);
        if is_elsewhere { Sight::WHOLE } else { sight }
    }

    /// What is known of a state that was expanded, by a map of the edges for who sees all.
    #[inline]
    fn record<'k>(&'k self, map: &'k Map, state: StateId, sight: Sight) -> Option<Record<'k>> {
        match self.taken(state, sight) {
            Sight::WHOLE => self.edges().find(map, state),
            narrow => self.layer(narrow).edges.get(state),
        }
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        let narrow = self.narrow.iter().filter_map(OnceLock::get).map(|layer| &**layer);
        std::iter::once(&self.whole).chain(narrow)
    }

    fn n_edges(&self) -> usize {
        self.layers().map(|layer| layer.edges.len()).sum()
    }

    fn edge_bytes(&self) -> usize {
        self.layers().map(|layer| layer.edges.bytes()).sum()
    }

    fn bytes(&self) -> usize {
        self.store.bytes() + self.edge_bytes() + self.remembered.load(Ordering::Relaxed)
    }

    pub(crate) fn progress(&self) -> Progress {
        progress(self.store.len(), self.n_edges(), self.bytes())
    }

    /// Counts what a worker takes for steps that it remembers, instead of what was counted before.
    #[inline]
    fn count_bytes(&self, bytes: usize, counted: &mut usize) {
        if bytes != *counted {
            // The sum is never below what this one has added before.
            self.remembered.fetch_add(bytes.wrapping_sub(*counted), Ordering::Relaxed);
            *counted = bytes;
        }
    }
}

/// One who finds the edges of states. Each worker on a graph has one.
///
/// With a reduction the mark of a state in the store is how many steps were taken on the way on which it was found. A state that
/// is not expanded in full has only edges to larger marks ([`pdnet_space::Proviso::AllLater`]); they do not change, so that it
/// does not matter who expands which state when, nor for which sight ([`crate::sights::Sights`]).
pub(crate) struct Expander<'a> {
    known: Arc<Known>,
    finder: Finder<'a>,
    /// By sight, as edges are.
    writers: Writers,
    /// The bytes of remembered steps that are counted already.
    counted: usize,
    /// After how many steps values were forgotten, and threads exchanged, before it was made of another one.
    before: (u64, u64),
}

/// Where a worker writes the edges for each sight.
type Writers = [RecordWriter; 1 + sights::MOST];

impl Expander<'_> {
    /// Expands a state that was claimed.
    fn expand(&mut self, state: StateId, sight: Sight, budget: &mut Budget<'_>) -> Result<(), StopReason> {
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
    fn expand_all(
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
struct Finder<'a> {
    model: &'a Model<'a>,
    store: StoreWorker,
    stepper: Stepper<'a>,
    reduces: bool,
    /// The state that the generator of successors holds.
    loaded: Option<StateId>,
    /// One for each of the states that are expanded together.
    drafts: Vec<Draft>,
    /// The atoms whose letters are kept with states, and their number.
    atoms: Option<(Atoms, u8)>,
}

impl Finder<'_> {
    /// The state in its working form.
    fn state(&mut self, state: StateId) -> &State {
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
        let finder = Finder {
            model,
            store: SharedStore::worker(&known.store, 0),
            stepper: Stepper::new(model, stubborn, stored),
            reduces,
            loaded: None,
            drafts: Vec::new(),
            atoms: None,
        };
        let writers = Default::default();
        let expander = Expander { known: Arc::clone(&known), finder, writers, counted: 0, before: (0, 0) };
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
                self.expander.counted = 0;
                self.expander.known = Arc::clone(&self.known);
                self.expander.finder.store = SharedStore::worker(&self.known.store, 0);
                self.expander.finder.loaded = None;
                self.expander.writers = Default::default();
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
        let Expander { known, finder: Finder { model, stepper, reduces, atoms, .. }, .. } = &self.expander;
        let finder = Finder {
            model,
            store: SharedStore::worker(&known.store, number),
            stepper: stepper.clone(),
            reduces: *reduces,
            loaded: None,
            drafts: Vec::new(),
            atoms: atoms.clone(),
        };
        let before = finder.stepper.n_stored_otherwise();
        let known = Arc::clone(known);
        let expander = Expander { known, finder, writers: Default::default(), counted: 0, before };
        let observed = self.observed.clone();
        // One worker keeps what all of them find.
        Self {
            model,
            known: Arc::clone(&expander.known),
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

fn progress(n_states: usize, n_edges: usize, bytes: usize) -> Progress {
    Progress {
        states: n_states as u64,
        transitions: n_edges as u64,
        frontier: 0,
        memory_bytes: bytes as u64,
        depth: None,
    }
}

/// The reason to stop where numbers of states are used up.
pub(crate) fn full() -> StopReason {
    StopReason::States(u64::from(u32::MAX))
}
