//! Strong fairness inside of a component.

use pdnet_base::FxHashMap;
use pdnet_check::{Fairness, StopReason};

use crate::budget::Budget;
use crate::emptiness::Summary;
use crate::nodes::NodeTable;
use crate::product::{Edge, Product};
use crate::scc::components_by;

/// A part of the component in which a run is accepting and strongly fair, if there is one. What the component has in common is
/// known.
///
/// Emerson and Lei, *Modalities for model checking: branching time logic strikes back* (1987); for
/// Streett conditions on the fly: Duret-Lutz, Poitrenaud, Couvreur, *On-the-fly emptiness check of
/// transition-based Streett automata* (ATVA 2009). A thread that can move somewhere in the component and
/// never does is starved by a run that comes again and again to where it can. A fair run stays away from
/// there: take those nodes out and look at the components of what is left.
pub(crate) fn refine<N: NodeTable>(
    product: &mut Product<'_, '_, N>,
    component: Vec<u32>,
    summary: &Summary,
    budget: &mut Budget<'_>,
) -> Result<Option<Vec<u32>>, StopReason> {
    refine_all(product, vec![(component, *summary)], budget)
}

/// The same for nodes that need not be connected.
pub(crate) fn refine_nodes<N: NodeTable>(
    product: &mut Product<'_, '_, N>,
    nodes: &[u32],
    budget: &mut Budget<'_>,
) -> Result<Option<Vec<u32>>, StopReason> {
    let components = parts(product, nodes, budget)?;
    refine_all(product, components, budget)
}

fn refine_all<N: NodeTable>(
    product: &mut Product<'_, '_, N>,
    mut pending: Vec<(Vec<u32>, Summary)>,
    budget: &mut Budget<'_>,
) -> Result<Option<Vec<u32>>, StopReason> {
    let all = product.automaton.all_acceptance();
    while let Some((mut nodes, summary)) = pending.pop() {
        // Parts of a component cover no more acceptance sets than it does itself.
        if summary.acceptance != all {
            continue;
        }
        let starved = summary.starved(Fairness::Strong);
        if starved.is_empty() {
            return Ok(Some(nodes));
        }
        nodes.retain(|&node| (product.enabled(node) & starved).is_empty());
        pending.extend(parts(product, &nodes, budget)?);
    }
    Ok(None)
}

/// The components of these nodes that have a cycle, each with what it has in common.
fn parts<N: NodeTable>(
    product: &mut Product<'_, '_, N>,
    nodes: &[u32],
    budget: &mut Budget<'_>,
) -> Result<Vec<(Vec<u32>, Summary)>, StopReason> {
    let positions: FxHashMap<u32, usize> = nodes.iter().enumerate().map(|(at, &node)| (node, at)).collect();
    // The edges among them, and where those of each node end.
    let (mut inner, mut ends): (Vec<(usize, Edge)>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut edges = Vec::new();
    let n_bytes = product.search_bytes;
    for &node in nodes {
        let own =
            positions.capacity() * 2 * size_of::<(u32, usize)>() + nodes.len() * size_of::<[usize; 4]>();
        product.search_bytes = n_bytes + own + inner.capacity() * size_of::<(usize, Edge)>();
        edges.clear();
        product.expand(node, &mut edges, budget)?;
        let stay = edges.iter().filter_map(|&edge| Some((*positions.get(&edge.target)?, edge)));
        inner.extend(stay);
        ends.push(inner.len());
    }
    product.search_bytes = n_bytes;
    let edges_of = |at: usize| &inner[at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]];
    let components = components_by(nodes.len(), |at, edge| Some(edges_of(at).get(edge)?.0));
    let mut part_of = vec![0; nodes.len()];
    for (number, component) in components.iter().enumerate() {
        component.iter().for_each(|&at| part_of[at] = number);
    }
    let mut found = Vec::new();
    for component in components {
        let (mut summary, mut has_cycle) = (Summary::EMPTY, false);
        for &at in &component {
            summary.merge(&Summary::of_node(product.enabled(nodes[at])));
            for &(_, edge) in edges_of(at).iter().filter(|(target, _)| part_of[*target] == part_of[at]) {
                summary.add_edge(edge);
                has_cycle = true;
            }
        }
        if has_cycle {
            found.push((component.into_iter().map(|at| nodes[at]).collect(), summary));
        }
    }
    Ok(found)
}
