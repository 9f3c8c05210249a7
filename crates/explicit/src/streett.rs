//! Strong fairness inside of a component.

use pdnet_base::FxHashMap;
use pdnet_check::{Fairness, StopReason};

use crate::budget::Budget;
use crate::emptiness::Summary;
use crate::product::{Edge, Product};
use crate::scc::components;

/// A part of the component in which a run is accepting and strongly fair, if there is one.
///
/// Emerson and Lei, *Modalities for model checking: branching time logic strikes back* (1987); for
/// Streett conditions on the fly: Duret-Lutz, Poitrenaud, Couvreur, *On-the-fly emptiness check of
/// transition-based Streett automata* (ATVA 2009). A thread that can move somewhere in the component and
/// never does is starved by a run that comes again and again to where it can. A fair run stays away from
/// there: take those nodes out and look at the components of what is left.
pub(crate) fn refine(
    product: &mut Product<'_, '_>,
    component: Vec<u32>,
    budget: &mut Budget<'_>,
) -> Result<Option<Vec<u32>>, StopReason> {
    let all = product.automaton.all_acceptance();
    let mut pending = vec![component];
    let mut edges: Vec<Edge> = Vec::new();
    while let Some(nodes) = pending.pop() {
        let position: FxHashMap<u32, usize> =
            nodes.iter().enumerate().map(|(at, &node)| (node, at)).collect();
        let mut successors: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        let mut summary: Option<Summary> = None;
        let mut has_cycle = false;
        for (at, &node) in nodes.iter().enumerate() {
            let mut own = Summary::of_node(product.enabled(node));
            edges.clear();
            product.expand(node, &mut edges, budget)?;
            for &edge in &edges {
                if let Some(&target) = position.get(&edge.target) {
                    own.add_edge(edge);
                    successors[at].push(target);
                    has_cycle = true;
                }
            }
            match &mut summary {
                Some(summary) => summary.merge(&own),
                None => summary = Some(own),
            }
        }
        let Some(summary) = summary else { continue };
        // Parts of a component cover no more acceptance sets than it does itself.
        if !has_cycle || summary.acceptance != all {
            continue;
        }
        let starved = summary.starved(Fairness::Strong);
        if starved.is_empty() {
            return Ok(Some(nodes));
        }
        let stays = |at: usize| (product.enabled(nodes[at]) & starved).is_empty();
        for (at, targets) in successors.iter_mut().enumerate() {
            if stays(at) {
                targets.retain(|&target| stays(target));
            } else {
                targets.clear();
            }
        }
        for part in components(&successors) {
            if part.iter().all(|&at| stays(at)) {
                pending.push(part.into_iter().map(|at| nodes[at]).collect());
            }
        }
    }
    Ok(None)
}
