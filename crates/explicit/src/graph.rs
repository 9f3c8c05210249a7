//! The reachable states with their edges, found on demand and kept.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdnet_base::{FxHashMap, Idx as _, IndexVec};
use pdnet_check::{Progress, StopReason};
use pdnet_net::{Action, Firing, Net, Transition};
use pdnet_space::{
    Atoms, Compiled, Flow, Outcome, SharedStore, State, StateId, Step, StoreWorker, Stubborn, ThreadSet,
};

use crate::budget::{Budget, FIRINGS};
use crate::edges::{Claim, Draft, Edges, LETTER_BITS, Letter, Record, RecordWriter};
use crate::notes::{self, Notes};
use crate::stepper::{Stepper, Stored};
use crate::{Crew, Explicit};

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
    /// Whether searches for finite runs may forget values.
    pub(crate) forgets: bool,
    /// Whether searches for finite runs may exchange threads.
    pub(crate) exchanges: bool,
    /// Whether such searches walk through atomic sections.
    pub(crate) through_sections: bool,
    pub(crate) crew: Crew,
}

impl<'a> Model<'a> {
    pub(crate) fn new(net: &'a Net, compiled: &'a Compiled, engine: &Explicit) -> Self {
        let notable =
            net.transitions.indices().map(|transition| notes::is_notable(net, transition)).collect();
        let has_assumptions = net.transitions.iter().any(|data| data.action == Action::AssumeFail);
        let has_partners = net.transitions.iter().any(|data| net.moves_partner(data));
        let Explicit {
            stubborn: reduces, forget: forgets, symmetry: exchanges, through_sections, crew, ..
        } = *engine;
        Self {
            net,
            compiled,
            notable,
            has_assumptions,
            has_partners,
            reduces,
            forgets,
            exchanges,
            through_sections,
            crew,
        }
    }
}

/// Who moves on an edge: a thread, and maybe another one with it.
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
struct Known {
    store: Arc<SharedStore>,
    edges: Edges,
    /// What has to be noted of states; of most, nothing.
    noted: Mutex<FxHashMap<StateId, Noted>>,
}

/// What has to be noted of a state.
#[derive(Clone, Debug, Default)]
struct Noted {
    /// The notable transitions that fire in it.
    transitions: Vec<Transition>,
    /// The first transition of a sequence without end.
    cut: Option<Transition>,
}

impl Known {
    fn noted(&self) -> MutexGuard<'_, FxHashMap<StateId, Noted>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bytes(&self) -> usize {
        self.store.bytes() + self.edges.bytes()
    }

    fn progress(&self) -> Progress {
        progress(self.store.len(), self.edges.len(), self.bytes())
    }
}

/// One who finds the edges of states. A graph has one of them, and others may help it.
///
/// With a reduction the mark of a state in the store is how many steps were taken on the way on which it was found. A state that
/// is not expanded in full has only edges to larger marks ([`pdnet_space::Proviso::AllLater`]); they do not change, so that it
/// does not matter who expands which state when.
pub(crate) struct Expander<'a> {
    model: &'a Model<'a>,
    known: Arc<Known>,
    store: StoreWorker,
    stepper: Stepper<'a>,
    reduces: bool,
    /// The state that the generator of successors holds.
    loaded: Option<StateId>,
    writer: RecordWriter,
    draft: Draft,
    /// The atoms whose letters are kept with states, and their number.
    atoms: Option<(Atoms, u8)>,
}

impl Expander<'_> {
    /// The state in its working form.
    fn state(&mut self, state: StateId) -> &State {
        if self.loaded != Some(state) {
            self.stepper.load(&self.store, state);
            self.loaded = Some(state);
        }
        self.stepper.current()
    }

    /// Expands a state that was claimed.
    fn expand(&mut self, state: StateId, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        // Whatever comes, others shall not wait for this state.
        let claimed = Claimed { known: Arc::clone(&self.known), state, is_done: false };
        budget.tick(|| self.known.progress())?;
        let _ = self.state(state);
        let mut stop = None;
        let mut n_firings = 0_u64;
        let mut noted = Noted::default();
        let Self { model, known, store, stepper, reduces, draft, .. } = self;
        draft.clear();
        let depth = known.store.mark(state);
        let result = stepper.for_each(|step, next, n_steps| {
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
                let mark = if *reduces {
                    depth.saturating_add(u32::try_from(n_steps).unwrap_or(u32::MAX))
                } else {
                    0
                };
                match store.insert(next, mark) {
                    Ok((target, is_new)) => {
                        if is_new {
                            draft.fresh.push(target);
                        }
                        is_later = !*reduces || known.store.mark(target) > depth;
                        #[expect(clippy::cast_possible_truncation, reason = "states are numbered so")]
                        draft.targets.push(target.index() as u32);
                        draft.movers.push(Movers::of(step));
                    }
                    Err(_) => stop = Some(full()),
                }
                // Other searches may have filled the graph: only what this one adds is counted here.
                if let Err(reason) = budget.allow_states(draft.fresh.len()) {
                    stop = Some(reason);
                }
            }
            let control = if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Flow::new(control, is_later)
        });
        let stop = result.err().map(|error| StopReason::Unsupported(error.0)).or(stop);
        if let Some(reason) = stop {
            return Err(reason);
        }
        if let Some(chosen) = self.stepper.chosen() {
            // Others were tried before.
            self.draft.keep_only(chosen);
        }
        if let Some((atoms, number)) = &mut self.atoms {
            let (compiled, now) = (self.model.compiled, self.stepper.current());
            let is_deadlock = self.draft.enabled.is_empty() && !compiled.has_ended(now);
            let letter = u32::try_from(atoms.letter(compiled, now, is_deadlock)).unwrap_or(0);
            self.draft.letter = Some(Letter { atoms: *number, letter });
        }
        self.draft.is_noted = noted.cut.is_some() || !noted.transitions.is_empty();
        if self.draft.is_noted {
            self.known.noted().insert(state, noted);
        }
        claimed.publish(&mut self.writer, &self.draft);
        Ok(())
    }

    /// Expands a state that another worker will need, unless that was done or is being done. What comes back is its letter and the
    /// states that it has led to for the first time, if the letters are kept.
    pub(crate) fn help(
        &mut self,
        state: StateId,
        budget: &mut Budget<'_>,
    ) -> Result<Option<(u64, &[StateId])>, StopReason> {
        match self.known.edges.claim(state) {
            Claim::Granted => self.expand(state, budget)?,
            Claim::Done | Claim::Others => return Ok(None),
        }
        let Draft { letter, fresh, .. } = &self.draft;
        Ok(letter.map(|found| (u64::from(found.letter), fresh.as_slice())))
    }
}

/// The claim to expand a state, which is given back where that does not come about.
struct Claimed {
    known: Arc<Known>,
    state: StateId,
    is_done: bool,
}

impl Claimed {
    fn publish(mut self, writer: &mut RecordWriter, draft: &Draft) {
        self.known.edges.publish(writer, self.state, draft);
        self.is_done = true;
    }
}

impl Drop for Claimed {
    fn drop(&mut self) {
        if !self.is_done {
            self.known.edges.release(self.state);
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
}

/// The graph of states. States are numbered as in its store.
pub(crate) struct Graph<'a> {
    pub(crate) model: &'a Model<'a>,
    known: Arc<Known>,
    expander: Expander<'a>,
    /// How many properties have looked at it.
    n_observers: u8,
}

impl<'a> Graph<'a> {
    /// The graph, or with a reduction, what is left of it.
    pub(crate) fn new(model: &'a Model<'a>, stubborn: Option<Stubborn>) -> Self {
        let store = SharedStore::empty(model.compiled, model.crew.workers.max(1));
        let edges = Edges::new(model.compiled.max_threads(), model.has_partners);
        let known = Arc::new(Known { store, edges, noted: Mutex::default() });
        let reduces = stubborn.is_some();
        let expander = Expander {
            model,
            store: SharedStore::worker(&known.store, 0),
            known: Arc::clone(&known),
            stepper: Stepper::new(model, stubborn, Stored::default()),
            reduces,
            loaded: None,
            writer: RecordWriter::default(),
            draft: Draft::default(),
            atoms: None,
        };
        Self { model, known, expander, n_observers: 0 }
    }

    /// Another worker on the same graph. There is never more than one with the same number.
    pub(crate) fn helper(&self, number: usize) -> Expander<'a> {
        let Expander { model, known, stepper, reduces, atoms, .. } = &self.expander;
        Expander {
            model,
            known: Arc::clone(known),
            store: SharedStore::worker(&known.store, number),
            stepper: stepper.clone(),
            reduces: *reduces,
            loaded: None,
            writer: RecordWriter::default(),
            draft: Draft::default(),
            atoms: atoms.clone(),
        }
    }

    /// Keeps the letters of these atoms with states that are expanded from now on, where there is room for them.
    pub(crate) fn observe(&mut self, atoms: &Atoms) {
        self.n_observers = self.n_observers.saturating_add(1);
        let has_room = atoms.len() <= LETTER_BITS && self.n_observers < 0x7f;
        self.expander.atoms = has_room.then(|| (atoms.clone(), self.n_observers));
    }

    /// The initial state.
    pub(crate) fn initial(&mut self) -> Result<StateId, StopReason> {
        self.add(&self.model.compiled.initial())
    }

    /// Adds a state that does not come from this graph.
    pub(crate) fn add(&mut self, state: &State) -> Result<StateId, StopReason> {
        let (id, _) = self.expander.store.insert(state, 0).map_err(|_| full())?;
        Ok(id)
    }

    pub(crate) fn n_states(&self) -> usize {
        self.known.store.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.known.bytes()
    }

    #[inline]
    fn record(&self, state: StateId) -> Option<Record<'_>> {
        self.known.edges.get(state)
    }

    /// The edges out of a state, by number, which is expanded first where it was not. A state without edges either
    /// repeats forever ([`Graph::stutters`]) or is a dead end of runs that assumptions, bounds or faults cut off.
    pub(crate) fn edges(
        &mut self,
        state: StateId,
        budget: &mut Budget<'_>,
    ) -> Result<Range<usize>, StopReason> {
        loop {
            if let Some(record) = self.record(state) {
                return Ok(0..record.n_edges());
            }
            match self.known.edges.claim(state) {
                Claim::Granted => self.expander.expand(state, budget)?,
                Claim::Done => {}
                // That takes as long as it would take here.
                Claim::Others => std::thread::yield_now(),
            }
        }
    }

    /// Looks at what is known of a state, so that it is close to the processor when it is needed.
    #[inline]
    pub(crate) fn touch(&self, state: StateId) -> u32 {
        self.record(state).map_or(0, |record| record.touch())
    }

    /// Where an edge of an expanded state leads, and who moves.
    #[inline]
    pub(crate) fn edge(&self, state: StateId, edge: usize) -> (StateId, Movers) {
        self.record(state).map_or((state, Movers::NOBODY), |record| record.edge(edge))
    }

    /// What is known of a state, which is expanded first where it was not; its edges are listed.
    #[inline]
    pub(crate) fn look(
        &mut self,
        state: StateId,
        edges: &mut Vec<(StateId, Movers)>,
        budget: &mut Budget<'_>,
    ) -> Result<Seen, StopReason> {
        edges.clear();
        loop {
            if let Some(record) = self.known.edges.get(state) {
                edges.extend((0..record.n_edges()).map(|edge| record.edge(edge)));
                let letter = self.expander.atoms.as_ref().and_then(|(_, number)| record.letter(*number));
                return Ok(Seen { enabled: record.enabled(), letter, is_notable: record.is_noted() });
            }
            self.edges(state, budget)?;
        }
    }

    /// Whether no transition at all is enabled in an expanded state: it repeats forever.
    pub(crate) fn stutters(&self, state: StateId) -> bool {
        self.enabled(state).is_empty()
    }

    /// The threads that can move in an expanded state, by themselves or with another.
    #[inline]
    pub(crate) fn enabled(&self, state: StateId) -> ThreadSet {
        self.record(state).map_or(ThreadSet::NONE, |record| record.enabled())
    }

    /// Whether undefined behaviour can be met in an expanded state.
    pub(crate) fn meets_fault(&self, state: StateId) -> bool {
        let is_fault = |&transition: &Transition| {
            matches!(self.model.net.transitions[transition].action, Action::Fault(_))
        };
        self.is_notable(state)
            && self.known.noted().get(&state).is_some_and(|noted| noted.transitions.iter().any(is_fault))
    }

    /// Whether something has to be noted of an expanded state: not all that can come after it is known.
    pub(crate) fn is_notable(&self, state: StateId) -> bool {
        self.record(state).is_some_and(|record| record.is_noted())
    }

    /// Adds what has to be noted of an expanded state.
    pub(crate) fn note(&self, state: StateId, notes: &mut Notes) {
        if !self.is_notable(state) {
            return;
        }
        if let Some(Noted { transitions, cut }) = self.known.noted().get(&state) {
            transitions.iter().for_each(|&transition| notes.add(self.model.net, transition));
            cut.iter().for_each(|&transition| notes.add_cut(transition));
        }
    }

    /// The state in its working form.
    pub(crate) fn state(&mut self, state: StateId) -> &State {
        self.expander.state(state)
    }

    /// The firings of the first way from one state to the other.
    pub(crate) fn firings_to(&mut self, from: StateId, to: StateId) -> Vec<Firing> {
        let _ = self.state(from);
        self.expander.stepper.find(&self.expander.store, None, to)
    }

    /// The firings of the first way from one state to the other that begins with a step of these threads.
    pub(crate) fn firings(&mut self, from: StateId, movers: Movers, to: StateId) -> Vec<Firing> {
        let _ = self.state(from);
        self.expander.stepper.find(&self.expander.store, Some(movers), to)
    }
}

fn progress(n_states: usize, n_edges: usize, bytes: usize) -> Progress {
    Progress { states: n_states as u64, transitions: n_edges as u64, frontier: 0, memory_bytes: bytes as u64 }
}

/// The reason to stop where numbers of states are used up.
pub(crate) fn full() -> StopReason {
    StopReason::States(u64::from(u32::MAX))
}
