//! Shortest bad prefixes.

use pdnet_base::Idx as _;
use pdnet_check::{StopReason, Trace};
use pdnet_logic::{AutState, Automaton};

use crate::budget::Budget;
use crate::graph::Movers;
use crate::lasso::{firings, prefix_end};
use crate::product::{Expansion, Product};
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

/// Breadth-first search for a run after which the automaton accepts everything; the first one found is a
/// shortest one.
pub(crate) fn search(
    product: &mut Product<'_, '_>,
    budget: &mut Budget<'_>,
) -> Result<Option<Trace>, StopReason> {
    // Nodes are numbered as they are found, which is the order of a breadth-first search.
    let mut parents: Vec<(u32, Movers)> = vec![(0, Movers::NOBODY)];
    let mut edges = Vec::new();
    let mut node: u32 = 0;
    while (node as usize) < parents.len() {
        edges.clear();
        product.search_bytes = parents.capacity() * size_of::<(u32, Movers)>();
        if product.expand(node, &mut edges, budget)? == Expansion::Accepted {
            let mut path = Vec::new();
            let mut at = node;
            while at != 0 {
                let (parent, movers) = parents[at as usize];
                path.push((product.state(parent), movers, product.state(at)));
                at = parent;
            }
            path.reverse();
            return Ok(Some(Trace { prefix: firings(product.graph, &path), end: prefix_end(&path) }));
        }
        for edge in &edges {
            if edge.target as usize == parents.len() {
                parents.push((node, edge.movers));
            }
        }
        node += 1;
    }
    Ok(None)
}
