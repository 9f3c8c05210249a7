//! A short run out of what a search has found.

use std::collections::VecDeque;

use pdnet_check::{Fairness, StopReason, Trace, TraceEnd};
use pdnet_net::Firing;
use pdnet_space::{StateId, ThreadSet};

use crate::budget::Budget;
use crate::emptiness::{Summary, Witness};
use crate::graph::Graph;
use crate::model::Movers;
use crate::product::{Edge, Product};
use crate::sights::Sight;
use crate::stepper::Real;

/// A step from a state, for a sight, with who moves and where it leads.
type Step = ((StateId, Sight), Movers, StateId);

/// The firings of a path from the initial state; repetitions of a last state are no firings.
pub(crate) fn firings(graph: &mut Graph<'_>, path: &[Step]) -> Vec<Firing> {
    let (mut real, mut firings) = (graph.real(), Vec::new());
    go_along(graph, &mut real, path, &mut firings);
    firings
}

/// Adds the firings of a path, by the numbers that threads have in a run of the net, where these may be others. Says whether there are
/// such; were there none, the replay of the run would tell.
fn go_along(
    graph: &mut Graph<'_>,
    real: &mut Option<Real>,
    path: &[Step],
    firings: &mut Vec<Firing>,
) -> bool {
    let mut moves = path.iter().filter(|(_, movers, _)| *movers != Movers::NOBODY);
    moves.all(|&step| match real {
        Some(real) => graph.follow(real, step, firings),
        None => {
            let (from, movers, to) = step;
            firings.extend(graph.firings(from, movers, to));
            true
        }
    })
}

/// How a run goes on after a path that decides: in any way, unless the path repeats a last state already.
pub(crate) fn prefix_end(path: &[Step]) -> TraceEnd {
    if path.iter().any(|(_, movers, _)| *movers == Movers::NOBODY) {
        TraceEnd::Stutter
    } else {
        TraceEnd::Any
    }
}

/// The run of a witness: a shortest way to it among the visited nodes, then a cycle that goes to the nearest
/// edge that is still missing until acceptance and fairness are satisfied, and back.
///
/// Where threads have exchanged their numbers ([`pdnet_space::Symmetry`]), to go along the cycle once leads to the same stored state, but perhaps
/// not to the same one of the net: threads may have exchanged their roles. Who has which role afterwards is a
/// permutation of who had it before, always the same one, since the way from one stored state to the next is. So after as many rounds as the order
/// of that permutation the run is back, if not before. All rounds have the word of the first. With many threads in roles of many kinds that can be
/// very many rounds: where they have too many steps, there is no run here, and the caller has to look for one elsewhere.
pub(crate) fn trace(
    product: &mut Product<'_, '_>,
    witness: &Witness,
    visited: impl Fn(&Product<'_, '_>, u32) -> bool,
    fairness: Fairness,
    budget: &mut Budget<'_>,
) -> Result<Option<Trace>, StopReason> {
    let mut builder = Builder { product, budget, edges: Vec::new() };
    let members: &[u32] = match witness {
        Witness::Prefix(node) => std::slice::from_ref(node),
        Witness::Component(nodes) => nodes,
    };
    let mut is_member = vec![false; builder.product.nodes.bound()];
    members.iter().for_each(|&node| is_member[node as usize] = true);
    let member = |node: u32| is_member.get(node as usize).copied().unwrap_or(false);

    let mut prefix = Vec::new();
    let initial = builder.product.initial;
    let entry = if member(initial) {
        initial
    } else {
        builder.walk(initial, visited, |_, _, edge| member(edge.target), &mut prefix)?
    };
    let steps = |builder: &Builder<'_, '_, '_, '_>, path: &[(u32, Edge)]| -> Vec<Step> {
        let product = &builder.product;
        let step =
            |&(from, edge): &(u32, Edge)| (product.seen(from), edge.movers, product.state(edge.target));
        path.iter().map(step).collect()
    };
    let prefix = steps(&builder, &prefix);
    let end = prefix_end(&prefix);
    let (mut real, mut firings) = (builder.product.graph.real(), Vec::new());
    go_along(builder.product.graph, &mut real, &prefix, &mut firings);
    let prefix = firings;
    if matches!(witness, Witness::Prefix(_)) {
        return Ok(Some(Trace { prefix, end }));
    }
    let (state, sight) = builder.product.seen(entry);
    if builder.product.graph.stutters(state, sight) {
        return Ok(Some(Trace { prefix, end: TraceEnd::Stutter }));
    }

    let cycle = builder.cycle(entry, members, member, fairness)?;
    let cycle = steps(&builder, &cycle);
    let cycle = unroll(builder.product, real, &cycle, builder.budget)?;
    Ok(cycle.map(|cycle| Trace { prefix, end: TraceEnd::Cycle(cycle) }))
}

/// The firings of a cycle, gone along until the run of the net is back where it was. Nothing where that takes too many steps.
fn unroll(
    product: &mut Product<'_, '_>,
    mut real: Option<Real>,
    cycle: &[Step],
    budget: &mut Budget<'_>,
) -> Result<Option<Vec<Firing>>, StopReason> {
    let start = real.clone();
    let mut firings = Vec::new();
    loop {
        let is_whole = go_along(product.graph, &mut real, cycle, &mut firings);
        let is_back = start.as_ref().zip(real.as_ref()).is_none_or(|(start, now)| now.is_at(start));
        if is_back || !is_whole {
            return Ok(Some(firings));
        }
        if firings.len() >= product.graph.model.most_unrolled {
            return Ok(None);
        }
        budget.look(&product.progress())?;
    }
}

struct Builder<'b, 'p, 'a, 'o> {
    product: &'b mut Product<'p, 'a>,
    budget: &'b mut Budget<'o>,
    edges: Vec<Edge>,
}

impl Builder<'_, '_, '_, '_> {
    /// Appends a shortest path from a node through allowed nodes whose last edge is wanted; the result is
    /// where it ends.
    fn walk(
        &mut self,
        start: u32,
        allowed: impl Fn(&Product<'_, '_>, u32) -> bool,
        wanted: impl Fn(&Product<'_, '_>, u32, Edge) -> bool,
        path: &mut Vec<(u32, Edge)>,
    ) -> Result<u32, StopReason> {
        let mut parents: Vec<Option<(u32, Edge)>> = vec![None; self.product.nodes.bound()];
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            self.edges.clear();
            self.product.expand(node, &mut self.edges, self.budget)?;
            // Where several workers have searched, some nodes have not been met here.
            parents.resize(self.product.nodes.bound(), None);
            for &edge in &self.edges {
                if !allowed(self.product, edge.target) {
                    continue;
                }
                if wanted(self.product, node, edge) {
                    let first = path.len();
                    path.push((node, edge));
                    let mut at = node;
                    while at != start {
                        let Some(step) = parents[at as usize] else { break };
                        path.push(step);
                        at = step.0;
                    }
                    path[first..].reverse();
                    return Ok(edge.target);
                }
                if edge.target != start && parents[edge.target as usize].is_none() {
                    parents[edge.target as usize] = Some((node, edge));
                    queue.push_back(edge.target);
                }
            }
        }
        // The callers only ask for what can be reached.
        Ok(start)
    }

    /// A cycle from the entry through the members that is accepting and fair.
    fn cycle(
        &mut self,
        entry: u32,
        members: &[u32],
        member: impl Fn(u32) -> bool,
        fairness: Fairness,
    ) -> Result<Vec<(u32, Edge)>, StopReason> {
        let all = self.product.automaton.all_acceptance();
        let sometimes = members.iter().fold(ThreadSet::NONE, |acc, &node| acc | self.product.enabled(node));
        let mut path: Vec<(u32, Edge)> = Vec::new();
        let mut at = entry;
        loop {
            let mut summary = Summary { acceptance: 0, moved: ThreadSet::NONE, sometimes, always: sometimes };
            for &(from, edge) in &path {
                summary.add_edge(edge);
                summary.always &= self.product.enabled(from);
            }
            let starved = summary.starved(fairness);
            if summary.acceptance == all && starved.is_empty() {
                break;
            }
            let wanted = |product: &Product<'_, '_>, from: u32, edge: Edge| {
                let feeds = !(edge.movers.set() & starved).is_empty();
                // Only weak fairness asks where a thread cannot move.
                let rests = fairness == Fairness::Weak && !(starved & !product.enabled(from)).is_empty();
                edge.acceptance & !summary.acceptance != 0 || feeds || rests
            };
            let n_steps = path.len();
            at = self.walk(at, |_, node| member(node), wanted, &mut path)?;
            if path.len() == n_steps {
                break;
            }
        }
        if at != entry || path.is_empty() {
            self.walk(at, |_, node| member(node), |_, _, edge| edge.target == entry, &mut path)?;
        }
        Ok(path)
    }
}
