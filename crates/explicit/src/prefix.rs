//! Shortest bad prefixes.

use pdnet_base::Idx as _;
use pdnet_check::{Depth, StopReason, Trace};
use pdnet_logic::{AutState, Automaton};

use crate::budget::Budget;
use crate::lasso::{firings, prefix_end};
use crate::model::Movers;
use crate::nodes::{MET, Visits as _};
use crate::product::{Expansion, Product, Search};
use crate::scc::components;

/// Whether every accepting run of the automaton comes into a state that accepts everything. Such automata are
/// *terminal*: Bloem, Ravi, Somenzi, *Efficient decision procedures for model checking of linear time logic
/// properties* (CAV 1999). Reachability of such a state then decides emptiness.
pub(crate) fn is_terminal(automaton: &Automaton) -> bool {
    let is_inner = |state: AutState| !automaton.is_universal_from(state);
    let inner_edges = |state: AutState| {
        let edges = if is_inner(state) { automaton.states[state].edges.as_slice() } else { &[] };
        edges.iter().filter(|edge| is_inner(edge.target))
    };
    let successors: Vec<Vec<usize>> = automaton
        .states
        .indices()
        .map(|state| inner_edges(state).map(|edge| edge.target.index()).collect())
        .collect();
    // Without the universal states no component may have a cycle through all acceptance sets.
    components(&successors).iter().all(|component| {
        let within = component.iter().flat_map(|&state| inner_edges(AutState::new(state)));
        let mut inside = within.filter(|edge| component.contains(&edge.target.index())).peekable();
        let has_cycle = inside.peek().is_some();
        let covered = inside.fold(0, |acc, edge| acc | edge.acceptance);
        !has_cycle || covered != automaton.all_acceptance()
    })
}

/// The value of a node that was put into the queue.
const FOUND: u32 = MET + 1;

/// Breadth-first search for a run after which the automaton accepts everything; the first one found is a
/// shortest one.
pub(crate) struct Prefixes {
    /// The nodes in the order in which they were found, each with the position of the one before it and who moves.
    found: Vec<(u32, u32, Movers)>,
    /// The position of the next one.
    next: u32,
    /// The present level, and the position at which it ends.
    level: (u64, usize),
}

impl Prefixes {
    pub(crate) const fn new() -> Self {
        Self { found: Vec::new(), next: 0, level: (0, 1) }
    }

    /// Searches, or goes on with that, until the product has as many nodes as it is to pause at.
    pub(crate) fn search(
        &mut self,
        product: &mut Product<'_, '_>,
        pause_at: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Search<Trace>, StopReason> {
        if self.found.is_empty() {
            product.nodes.set_value(product.initial, FOUND);
            self.found.push((product.initial, 0, Movers::NOBODY));
        }
        let mut edges = Vec::new();
        while let Some(&(node, _, _)) = self.found.get(self.next as usize) {
            if product.nodes.len() >= pause_at {
                return Ok(Search::Paused);
            }
            edges.clear();
            if self.next as usize == self.level.1 {
                self.level = (self.level.0 + 1, self.found.len());
            }
            product.depth = Depth::Level(self.level.0);
            product.search_bytes = self.found.capacity() * size_of::<(u32, u32, Movers)>();
            if product.expand(node, &mut edges, budget)? == Expansion::Accepted {
                return Ok(Search::Ended(Some(self.trace(product))));
            }
            for edge in &edges {
                if product.nodes.value(edge.target) < FOUND {
                    product.nodes.set_value(edge.target, FOUND);
                    self.found.push((edge.target, self.next, edge.movers));
                }
            }
            self.next += 1;
        }
        Ok(Search::Ended(None))
    }

    /// The run to the next node.
    fn trace(&self, product: &mut Product<'_, '_>) -> Trace {
        let mut path = Vec::new();
        let mut at = self.next;
        while at != 0 {
            let (node, before, movers) = self.found[at as usize];
            let (parent, _, _) = self.found[before as usize];
            path.push((product.seen(parent), movers, product.state(node)));
            at = before;
        }
        path.reverse();
        Trace { prefix: firings(product.graph, &path), end: prefix_end(&path) }
    }
}
