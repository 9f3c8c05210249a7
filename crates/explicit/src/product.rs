//! The net times an automaton, found on demand.

use std::hash::{BuildHasher as _, Hasher as _};

use pdnet_base::Idx as _;
use pdnet_check::{Progress, StopReason};
use pdnet_logic::{AutState, Automaton};
use pdnet_space::{Atoms, StateId, ThreadSet};

use crate::budget::Budget;
use crate::continuation::Continuations;
use crate::graph::{Graph, Movers, full};
use crate::notes::Notes;

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

/// The product of the graph of states and an automaton for the negated property.
///
/// A node is a state and an automaton state that has read the letters of all states *before* it. An edge
/// reads the letter of its source, so that the word of a run s0 s1 s2 ... is read from s0 on. A state in
/// which nothing is enabled has an edge to itself.
pub(crate) struct Product<'p, 'a> {
    pub(crate) graph: &'p mut Graph<'a>,
    pub(crate) automaton: &'p Automaton,
    atoms: Atoms,
    /// The automaton states that accept every word. Empty where a prefix alone decides nothing.
    universal: Vec<bool>,
    continuations: Continuations,
    pub(crate) nodes: Vec<(StateId, AutState)>,
    table: hashbrown::HashTable<u32>,
    pub(crate) n_edges: u64,
    /// What the search keeps beside the product.
    pub(crate) search_bytes: usize,
    pub(crate) notes: Notes,
}

impl<'p, 'a> Product<'p, 'a> {
    /// The product with its initial node, which has number 0. With `prefixes`, an automaton state that
    /// accepts everything ends the search.
    pub(crate) fn new(
        graph: &'p mut Graph<'a>,
        automaton: &'p Automaton,
        atoms: Atoms,
        prefixes: bool,
        budget: &Budget<'_>,
    ) -> Result<Self, StopReason> {
        let initial = graph.initial()?;
        let universal =
            automaton.states.indices().map(|state| prefixes && automaton.is_universal_from(state));
        let mut product = Self {
            universal: universal.collect(),
            graph,
            automaton,
            atoms,
            continuations: Continuations::default(),
            nodes: Vec::new(),
            table: hashbrown::HashTable::new(),
            n_edges: 0,
            search_bytes: 0,
            notes: Notes::default(),
        };
        product.node(initial, automaton.initial, budget)?;
        Ok(product)
    }

    /// The number of a node, which is added where it is new.
    fn node(&mut self, state: StateId, at: AutState, budget: &Budget<'_>) -> Result<u32, StopReason> {
        let Self { nodes, table, .. } = self;
        let key = (state, at);
        let hasher = |&node: &u32| hash(nodes[node as usize]);
        match table.entry(hash(key), |&node| nodes[node as usize] == key, hasher) {
            hashbrown::hash_table::Entry::Occupied(entry) => Ok(*entry.get()),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let node = u32::try_from(nodes.len()).map_err(|_| full())?;
                budget.allow_states(nodes.len() + 1)?;
                entry.insert(node);
                nodes.push(key);
                Ok(node)
            }
        }
    }

    /// Lists the edges out of a node: appends them to `edges`.
    pub(crate) fn expand(
        &mut self,
        node: u32,
        edges: &mut Vec<Edge>,
        budget: &mut Budget<'_>,
    ) -> Result<Expansion, StopReason> {
        budget.tick(|| self.progress())?;
        let (state, at) = self.nodes[node as usize];
        let successors = self.graph.edges(state, budget)?;
        let stutters = self.graph.stutters(state);
        let compiled = self.graph.model.compiled;
        let loaded = self.graph.state(state);
        let is_deadlock = stutters && !compiled.has_ended(loaded);
        let letter = self.atoms.letter(compiled, loaded, is_deadlock);
        let automaton = self.automaton;
        if automaton.successors(at, letter).next().is_none() {
            // The runs that come here satisfy the formula whatever they meet later: nothing is to be noted.
            return Ok(Expansion::Edges);
        }
        self.graph.note(state, &mut self.notes);
        if automaton.successors(at, letter).any(|edge| self.universal[edge.target.index()]) {
            let is_run =
                !self.graph.model.has_assumptions || self.continuations.exists(self.graph, state, budget)?;
            if is_run {
                return Ok(Expansion::Accepted);
            }
            // Every run that we know fails an assumption. There is no violation to be found from here on, but
            // the bounds and samples to come must be noted: with more values, or beyond a bound, one may lie.
        }
        let first = edges.len();
        for edge in automaton.successors(at, letter) {
            let acceptance = edge.acceptance;
            if stutters {
                let target = self.node(state, edge.target, budget)?;
                edges.push(Edge { target, acceptance, movers: Movers::NOBODY });
            }
            for successor in successors.clone() {
                let (next, movers) = self.graph.edge(successor);
                let target = self.node(next, edge.target, budget)?;
                edges.push(Edge { target, acceptance, movers });
            }
        }
        self.n_edges += (edges.len() - first) as u64;
        Ok(Expansion::Edges)
    }

    /// The state of a node.
    pub(crate) fn state(&self, node: u32) -> StateId {
        self.nodes[node as usize].0
    }

    /// The threads that can move in the state of an expanded node.
    pub(crate) fn enabled(&self, node: u32) -> ThreadSet {
        self.graph.enabled(self.state(node))
    }

    pub(crate) fn progress(&self) -> Progress {
        let own = self.nodes.capacity() * size_of::<(StateId, AutState)>() + self.table.allocation_size();
        Progress {
            states: self.nodes.len() as u64,
            transitions: self.n_edges,
            frontier: 0,
            memory_bytes: (own + self.search_bytes + self.graph.bytes()) as u64,
        }
    }
}

fn hash((state, at): (StateId, AutState)) -> u64 {
    let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
    hasher.write_u64((state.index() as u64) << 32 | at.index() as u64);
    hasher.finish()
}
