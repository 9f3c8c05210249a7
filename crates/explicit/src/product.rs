//! The net times an automaton, found on demand.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;

use pdnet_base::Idx as _;
use pdnet_check::{Depth, MemoryUse, Progress, StopReason};
use pdnet_logic::{AutState, Automaton};
use pdnet_space::{Atoms, StateId, ThreadSet};

use crate::ahead::Hints;
use crate::budget::Budget;
use crate::continuation::Continuations;
use crate::graph::Graph;
use crate::model::{Movers, full};
use crate::nodes::{Node, NodeTable, Nodes};
use crate::notes::Notes;
use crate::sights::{Sight, Sights};

/// An edge of the product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) target: u32,
    /// The acceptance sets of the automaton's edge.
    pub(crate) acceptance: u32,
    /// Who moves.
    pub(crate) movers: Movers,
}

/// What became of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// The edges were listed.
    Edges,
    /// The automaton can go into a state that accepts everything: the run up to here is a violation.
    Accepted,
}

/// How far a search of the product has come.
pub(crate) enum Search<T> {
    /// It has found something, or there is nothing.
    Ended(Option<T>),
    /// It has become large, and can be gone on with.
    Paused,
}

/// The product of the graph of states and an automaton for the negated property.
///
/// A node is a state and an automaton state that has read the letters of all states *before* it. An edge
/// reads the letter of its source, so that the word of a run s0 s1 s2 ... is read from s0 on. A state in
/// which nothing is enabled has an edge to itself.
pub(crate) struct Product<'p, 'a, N = Nodes> {
    pub(crate) graph: &'p mut Graph<'a>,
    pub(crate) automaton: &'p Automaton,
    /// What has to be seen at the automaton states.
    pub(crate) sights: Sights,
    atoms: Atoms,
    /// The automaton states that accept every word. Empty where a prefix alone decides nothing.
    universal: Vec<bool>,
    continuations: Continuations,
    pub(crate) nodes: N,
    pub(crate) initial: u32,
    /// The edges of the state that is looked at.
    successors: Vec<(StateId, Movers)>,
    pub(crate) n_edges: u64,
    /// The nodes that were expanded and from which steps were left out.
    pub(crate) n_reduced: u64,
    /// Whether there may be no more nodes than the budget allows.
    is_limited: bool,
    /// The threads that can move in the state of the node that was expanded last.
    pub(crate) last_enabled: ThreadSet,
    /// Who is told of nodes that are seen for the first time.
    pub(crate) hints: Option<Hints>,
    /// Whether the steps of the newest thread are followed first, as SPIN does it: violations are often found after fewer nodes, since
    /// who was started last has more left to do than who started it. Several workers find more for each other without that, unless
    /// it is asked for.
    newest_first: bool,
    /// What the search keeps beside the product.
    pub(crate) search_bytes: usize,
    /// How deep it is.
    pub(crate) depth: Depth,
    pub(crate) notes: Notes,
}

impl<'p, 'a> Product<'p, 'a> {
    /// The product with its initial node. With `prefixes`, an automaton state that
    /// accepts everything ends the search.
    pub(crate) fn new(
        graph: &'p mut Graph<'a>,
        (automaton, sights): (&'p Automaton, Sights),
        atoms: Atoms,
        prefixes: bool,
        budget: &Budget<'_>,
    ) -> Result<Self, StopReason> {
        let initial = graph.initial()?;
        graph.observe(&atoms);
        let universal =
            automaton.states.indices().map(|state| prefixes && automaton.is_universal_from(state));
        let (universal, nodes) = (universal.collect(), Nodes::new(automaton.states.len()));
        let mut product = Self::of(graph, (automaton, sights), (atoms, universal), nodes);
        product.newest_first = true;
        (product.initial, _) = product.node(initial, automaton.initial, budget)?;
        Ok(product)
    }

    /// The number of a node that a search by others has met. From now on only those are met that it might have met, too: it has
    /// kept the limits.
    pub(crate) fn adopt(&mut self, node: Node, budget: &Budget<'_>) -> Result<u32, StopReason> {
        self.is_limited = false;
        self.node(node.0, node.1, budget).map(|(node, _)| node)
    }

    /// The same product for workers, each with its view of the graph and of the nodes. The first one is for who has this product.
    pub(crate) fn share<'q, N: NodeTable>(
        &'q mut self,
        others: &'q mut [Graph<'a>],
        mut nodes: impl FnMut(usize) -> N,
    ) -> Vec<Product<'q, 'a, N>> {
        let initial = self.nodes.get(self.initial);
        self.graph.n_reduced().store(0, Ordering::Relaxed);
        let Self { graph, automaton, sights, atoms, universal, .. } = self;
        let graphs = std::iter::once(&mut **graph).chain(others);
        let share = |(number, graph)| {
            let observed = (atoms.clone(), universal.clone());
            let mut product = Product::of(graph, (*automaton, sights.clone()), observed, nodes(number));
            // There is room for the first node.
            let found = product.nodes.number(initial, |_| Ok::<(), ()>(()));
            product.initial = found.ok().flatten().map_or(0, |(node, _)| node);
            product
        };
        graphs.enumerate().map(share).collect()
    }
}

impl<'p, 'a, N: NodeTable> Product<'p, 'a, N> {
    fn of(
        graph: &'p mut Graph<'a>,
        (automaton, sights): (&'p Automaton, Sights),
        (atoms, universal): (Atoms, Vec<bool>),
        nodes: N,
    ) -> Self {
        Self {
            newest_first: graph.model.newest_first,
            graph,
            automaton,
            sights,
            atoms,
            universal,
            continuations: Continuations::default(),
            nodes,
            initial: 0,
            successors: Vec::new(),
            n_edges: 0,
            n_reduced: 0,
            is_limited: true,
            last_enabled: ThreadSet::NONE,
            hints: None,
            search_bytes: 0,
            depth: Depth::Stack(0),
            notes: Notes::default(),
        }
    }

    /// The number of a node, which is added where it is new, and whether it is known to be that.
    fn node(&mut self, state: StateId, at: AutState, budget: &Budget<'_>) -> Result<(u32, bool), StopReason> {
        let key = (state, at);
        let is_limited = self.is_limited;
        let allow = |n_nodes| if is_limited { budget.allow_states(n_nodes) } else { Ok(()) };
        self.nodes.number(key, allow)?.ok_or_else(full)
    }

    /// Lists the edges out of a node: appends them to `edges`.
    pub(crate) fn expand(
        &mut self,
        node: u32,
        edges: &mut Vec<Edge>,
        budget: &mut Budget<'_>,
    ) -> Result<Expansion, StopReason> {
        budget.tick(|| self.progress())?;
        let (state, at) = self.nodes.get(node);
        let sight = self.sights.of(at);
        let mut successors = std::mem::take(&mut self.successors);
        let seen = self.graph.look(state, sight, &mut successors, budget);
        self.successors = successors;
        let seen = seen?;
        self.last_enabled = seen.enabled;
        self.n_reduced += u64::from(seen.is_partial);
        let stutters = seen.enabled.is_empty();
        let letter = self.graph.letter(state, &seen, &mut self.atoms);
        let automaton = self.automaton;
        if automaton.successors(at, letter).next().is_none() {
            // The runs that come here satisfy the formula whatever they meet later: nothing is to be noted.
            return Ok(Expansion::Edges);
        }
        if seen.is_notable {
            self.graph.note(state, sight, &mut self.notes);
        }
        if automaton.successors(at, letter).any(|edge| self.universal[edge.target.index()]) {
            let is_run = !self.graph.model.has_assumptions
                || self.continuations.exists(self.graph, (state, sight), budget)?;
            if is_run {
                return Ok(Expansion::Accepted);
            }
            // Every run that we know fails an assumption. There is no violation to be found from here on, but
            // the bounds and samples to come must be noted: with more values, or beyond a bound, one may lie.
        }
        let first = edges.len();
        let mut successors = std::mem::take(&mut self.successors);
        if self.newest_first && (self.hints.is_none() || self.graph.model.newest_first) {
            successors.sort_by_key(|(_, movers)| Reverse(movers.thread()));
        }
        for edge in automaton.successors(at, letter) {
            let acceptance = edge.acceptance;
            if stutters {
                let (target, _) = self.node(state, edge.target, budget)?;
                edges.push(Edge { target, acceptance, movers: Movers::NOBODY });
            }
            // A search will look at all of this in a moment, and wait for each of them. These looks do not wait for each other.
            let sight = self.sights.of(edge.target);
            let is_known = |&(next, _): &(StateId, Movers)| {
                self.nodes.touch((next, edge.target)) && self.graph.touch(next, sight)
            };
            if self.hints.is_some() {
                first_those(&mut successors, is_known);
            } else {
                std::hint::black_box(successors.iter().filter(|next| is_known(next)).count());
            }
            for &(next, movers) in &successors {
                let (target, is_new) = self.node(next, edge.target, budget)?;
                if is_new && let Some(hints) = &mut self.hints {
                    hints.tell((next, edge.target));
                }
                edges.push(Edge { target, acceptance, movers });
            }
        }
        self.successors = successors;
        self.n_edges += (edges.len() - first) as u64;
        Ok(Expansion::Edges)
    }

    /// What it is made of beside the graph, for others.
    pub(crate) fn observed(&self) -> (&'p Automaton, Sights, Atoms) {
        (self.automaton, self.sights.clone(), self.atoms.clone())
    }

    /// The state of a node.
    pub(crate) fn state(&self, node: u32) -> StateId {
        self.nodes.get(node).0
    }

    /// The threads that can move in the state of an expanded node.
    pub(crate) fn enabled(&self, node: u32) -> ThreadSet {
        let (state, sight) = self.seen(node);
        self.graph.enabled(state, sight)
    }

    /// The state of a node, and what has to be seen there.
    pub(crate) fn seen(&self, node: u32) -> (StateId, Sight) {
        let (state, at) = self.nodes.get(node);
        (state, self.sights.of(at))
    }

    /// The bytes of what is still to be done.
    fn waiting_bytes(&self) -> usize {
        self.search_bytes + self.hints.as_ref().map_or(0, Hints::bytes)
    }

    /// What it takes memory for.
    pub(crate) fn memory(&self) -> MemoryUse {
        let (nodes, waiting) =
            (self.nodes.progress(Progress::default()).memory_bytes, self.waiting_bytes() as u64);
        MemoryUse { nodes, waiting, ..self.graph.memory() }
    }

    pub(crate) fn progress(&self) -> Progress {
        self.nodes.progress(Progress {
            states: 0,
            transitions: self.n_edges,
            frontier: 0,
            memory_bytes: (self.waiting_bytes() + self.graph.bytes()) as u64,
            depth: Some(self.depth),
        })
    }
}

/// What a worker has counted is added to what others have.
impl<N> Drop for Product<'_, '_, N> {
    fn drop(&mut self) {
        self.graph.n_reduced().fetch_add(self.n_reduced, Ordering::Relaxed);
    }
}

/// Puts those first of which something is true.
fn first_those<T>(items: &mut [T], is_true: impl Fn(&T) -> bool) {
    let mut n_true = 0;
    for at in 0..items.len() {
        if is_true(&items[at]) {
            items.swap(n_true, at);
            n_true += 1;
        }
    }
}
