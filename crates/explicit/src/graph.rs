//! The reachable states with their edges, found on demand and kept.

use std::ops::{ControlFlow, Range};

use pdnet_base::{FxHashMap, Idx as _, IndexVec};
use pdnet_check::{Progress, StopReason};
use pdnet_net::{Action, Firing, Net, Transition};
use pdnet_space::{Compiled, Flow, Outcome, State, StateId, StateStore, Step, Stubborn, ThreadSet};

use crate::Explicit;
use crate::budget::{Budget, FIRINGS};
use crate::notes::{self, Notes};
use crate::stepper::Stepper;

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
    /// Whether such searches walk through atomic sections.
    pub(crate) through_sections: bool,
}

impl<'a> Model<'a> {
    pub(crate) fn new(net: &'a Net, compiled: &'a Compiled, engine: &Explicit) -> Self {
        let notable =
            net.transitions.indices().map(|transition| notes::is_notable(net, transition)).collect();
        let has_assumptions = net.transitions.iter().any(|data| data.action == Action::AssumeFail);
        let has_partners = net.transitions.iter().any(|data| net.moves_partner(data));
        let Explicit { stubborn: reduces, forget: forgets, through_sections } = *engine;
        Self { net, compiled, notable, has_assumptions, has_partners, reduces, forgets, through_sections }
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

    /// Those of a step.
    #[expect(clippy::cast_possible_truncation, reason = "there are at most 255 threads")]
    pub(crate) fn of(step: &Step<'_>) -> Self {
        Self { thread: step.thread as u8, partner: step.partner.map_or(NO_THREAD, |partner| partner as u8) }
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

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
struct Node {
    first_edge: usize,
    n_edges: u32,
    is_expanded: bool,
}

const UNKNOWN: Node = Node { first_edge: 0, n_edges: 0, is_expanded: false };

/// The graph of states. States are numbered as in its store.
pub(crate) struct Graph<'a> {
    pub(crate) model: &'a Model<'a>,
    store: StateStore,
    stepper: Stepper<'a>,
    /// The state that the generator of successors holds.
    loaded: Option<StateId>,
    nodes: Vec<Node>,
    /// With a reduction, for each state how many steps were taken on the way on which it was found. A state that is not
    /// expanded in full has only edges to larger numbers ([`pdnet_space::Proviso::AllLater`]).
    depths: Option<Vec<u32>>,
    targets: Vec<u32>,
    movers: Vec<u8>,
    /// Who moves with them, where a net has steps of two threads.
    partners: Option<Vec<u8>>,
    /// For each state the threads that can move, be it only by a step that is not followed: some words each.
    enabled: Vec<u64>,
    /// States from which a sequence has no end, with the first transition of one.
    cut: FxHashMap<StateId, Transition>,
    /// The notable transitions that fire in a state; most states have none.
    notable: FxHashMap<StateId, Vec<Transition>>,
}

impl<'a> Graph<'a> {
    /// The graph, or with a reduction, what is left of it.
    pub(crate) fn new(model: &'a Model<'a>, stubborn: Option<Stubborn>) -> Self {
        Self {
            model,
            store: StateStore::new(model.compiled),
            depths: stubborn.is_some().then(Vec::new),
            stepper: Stepper::new(model, stubborn, None),
            loaded: None,
            nodes: Vec::new(),
            targets: Vec::new(),
            movers: Vec::new(),
            partners: model.has_partners.then(Vec::new),
            enabled: Vec::new(),
            cut: FxHashMap::default(),
            notable: FxHashMap::default(),
        }
    }

    /// The initial state.
    pub(crate) fn initial(&mut self) -> Result<StateId, StopReason> {
        self.add(&self.model.compiled.initial())
    }

    /// Adds a state that does not come from this graph.
    pub(crate) fn add(&mut self, state: &State) -> Result<StateId, StopReason> {
        let (id, _) = self.store.insert(state).map_err(|_| full())?;
        self.make_room();
        Ok(id)
    }

    /// Gives every state of the store its node.
    fn make_room(&mut self) {
        self.nodes.resize(self.store.len(), UNKNOWN);
        if let Some(depths) = &mut self.depths {
            depths.resize(self.store.len(), 0);
        }
        self.enabled.resize(self.store.len() * self.n_words(), 0);
    }

    /// How many words a set of threads has.
    fn n_words(&self) -> usize {
        ThreadSet::n_words(self.model.compiled.max_threads())
    }

    pub(crate) fn n_states(&self) -> usize {
        self.store.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.store.bytes()
            + self.nodes.capacity() * size_of::<Node>()
            + self.depths.as_ref().map_or(0, Vec::capacity) * 4
            + self.targets.capacity() * 4
            + self.movers.capacity()
            + self.partners.as_ref().map_or(0, Vec::capacity)
            + self.enabled.capacity() * 8
    }

    /// The edges out of a state, which is expanded first where it was not. A state without edges either
    /// repeats forever ([`Graph::stutters`]) or is a dead end of runs that assumptions, bounds or faults cut off.
    pub(crate) fn edges(
        &mut self,
        state: StateId,
        budget: &mut Budget<'_>,
    ) -> Result<Range<usize>, StopReason> {
        if !self.nodes[state.index()].is_expanded {
            self.expand(state, budget)?;
        }
        let node = &self.nodes[state.index()];
        Ok(node.first_edge..node.first_edge + node.n_edges as usize)
    }

    /// Where an edge leads, and who moves.
    #[inline]
    pub(crate) fn edge(&self, edge: usize) -> (StateId, Movers) {
        let partner = self.partners.as_ref().map_or(NO_THREAD, |partners| partners[edge]);
        (StateId::new(self.targets[edge] as usize), Movers { thread: self.movers[edge], partner })
    }

    /// Whether no transition at all is enabled in an expanded state: it repeats forever.
    pub(crate) fn stutters(&self, state: StateId) -> bool {
        self.enabled(state).is_empty()
    }

    /// The threads that can move in an expanded state, by themselves or with another.
    #[inline]
    pub(crate) fn enabled(&self, state: StateId) -> ThreadSet {
        let n_words = self.n_words();
        ThreadSet::from_words(&self.enabled[state.index() * n_words..][..n_words])
    }

    /// Whether undefined behaviour can be met in an expanded state.
    pub(crate) fn meets_fault(&self, state: StateId) -> bool {
        let is_fault = |&transition: &Transition| {
            matches!(self.model.net.transitions[transition].action, Action::Fault(_))
        };
        self.notable.get(&state).is_some_and(|transitions| transitions.iter().any(is_fault))
    }

    /// Whether something has to be noted of an expanded state: not all that can come after it is known.
    pub(crate) fn is_notable(&self, state: StateId) -> bool {
        self.notable.contains_key(&state) || self.cut.contains_key(&state)
    }

    /// Adds what has to be noted of an expanded state.
    pub(crate) fn note(&self, state: StateId, notes: &mut Notes) {
        if let Some(transitions) = self.notable.get(&state) {
            transitions.iter().for_each(|&transition| notes.add(self.model.net, transition));
        }
        if let Some(&transition) = self.cut.get(&state) {
            notes.add_cut(transition);
        }
    }

    /// The state in its working form.
    pub(crate) fn state(&mut self, state: StateId) -> &State {
        if self.loaded != Some(state) {
            self.stepper.load(&self.store, state);
            self.loaded = Some(state);
        }
        self.stepper.current()
    }

    fn expand(&mut self, state: StateId, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        budget.tick(|| progress(self.store.len(), self.targets.len(), self.bytes()))?;
        let _ = self.state(state);
        let first_edge = self.targets.len();
        let mut node = Node { first_edge, is_expanded: true, ..UNKNOWN };
        let mut enabled = ThreadSet::NONE;
        let mut stop = None;
        let (n_before, other_bytes) = (self.store.len(), self.bytes() - self.store.bytes());
        let mut n_firings = 0_u64;
        let Self { model, store, stepper, depths, targets, movers, partners, notable, cut, .. } = self;
        let result = stepper.for_each(|step, next, n_steps| {
            enabled |= step.movers();
            n_firings += 1;
            if n_firings.is_multiple_of(FIRINGS) {
                let bytes = store.bytes() + other_bytes;
                stop = budget.look(&progress(store.len(), targets.len(), bytes)).err();
            }
            for transition in step.transitions().filter(|&transition| model.notable[transition]) {
                notable.entry(state).or_default().push(transition);
            }
            if step.is_cut {
                cut.entry(state).or_insert(step.transition);
            }
            let mut is_later = true;
            if step.outcome == Outcome::State {
                match store.insert(next) {
                    Ok((target, is_new)) => {
                        if let Some(depths) = depths {
                            let depth = depths[state.index()];
                            if is_new {
                                depths.push(depth.saturating_add(u32::try_from(n_steps).unwrap_or(u32::MAX)));
                            }
                            is_later = depths[target.index()] > depth;
                        }
                        #[expect(clippy::cast_possible_truncation, reason = "states are numbered so")]
                        targets.push(target.index() as u32);
                        let moving = Movers::of(step);
                        movers.push(moving.thread);
                        if let Some(partners) = partners {
                            partners.push(moving.partner);
                        }
                    }
                    Err(_) => stop = Some(full()),
                }
                // Other searches may have filled the graph: only what this one adds is counted here.
                if let Err(reason) = budget.allow_states(store.len() - n_before) {
                    stop = Some(reason);
                }
            }
            let control = if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Flow::new(control, is_later)
        });
        self.make_room();
        let stop = result.err().map(|error| StopReason::Unsupported(error.0)).or(stop);
        if let Some(reason) = stop {
            self.targets.truncate(first_edge);
            self.movers.truncate(first_edge);
            if let Some(partners) = &mut self.partners {
                partners.truncate(first_edge);
            }
            return Err(reason);
        }
        node.n_edges = u32::try_from(self.targets.len() - first_edge).map_err(|_| full())?;
        self.nodes[state.index()] = node;
        let n_words = self.n_words();
        let words = enabled.words(self.model.compiled.max_threads());
        self.enabled[state.index() * n_words..][..n_words].copy_from_slice(words);
        Ok(())
    }

    /// The firings of the first way from one state to the other.
    pub(crate) fn firings_to(&mut self, from: StateId, to: StateId) -> Vec<Firing> {
        let _ = self.state(from);
        self.stepper.find(&self.store, None, to)
    }

    /// The firings of the first way from one state to the other that begins with a step of these threads.
    pub(crate) fn firings(&mut self, from: StateId, movers: Movers, to: StateId) -> Vec<Firing> {
        let _ = self.state(from);
        self.stepper.find(&self.store, Some(movers), to)
    }
}

fn progress(n_states: usize, n_edges: usize, bytes: usize) -> Progress {
    Progress { states: n_states as u64, transitions: n_edges as u64, frontier: 0, memory_bytes: bytes as u64 }
}

/// The reason to stop where numbers of states are used up.
pub(crate) fn full() -> StopReason {
    StopReason::States(u64::from(u32::MAX))
}
