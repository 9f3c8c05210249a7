//! Single runs, judged by the meaning of the formula and of fairness alone.
//!
//! This is the oracle of the oracle: it has no automaton, no product and no components. A run that it finds
//! fair and false settles that the formula is violated; it can never settle that it holds.

use std::collections::BTreeSet;

use pdnet_base::Rng;
use pdnet_check::{AtomData, Fairness};
use pdnet_logic::Ltl;

use crate::reference::ReachableGraph;

/// An infinite run: steps of the graph, the last ones repeated forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The markings before the cycle.
    pub prefix: Vec<usize>,
    /// The markings of the cycle, each with the threads that move there; none where a dead marking
    /// repeats. Not empty.
    pub cycle: Vec<(usize, BTreeSet<i64>)>,
}

/// A random walk from the initial marking until it closes a cycle. `None` where it comes to a marking
/// without continuation or takes more than `max_steps`.
#[must_use]
pub fn random_lasso(rng: &mut Rng, graph: &ReachableGraph<'_>, max_steps: usize) -> Option<Lasso> {
    // Some walks close the first cycle that they can, others go on for a while: fair cycles are long.
    let patience = *rng.pick(&[0, 50, 80, 95]);
    let mut walk: Vec<(usize, BTreeSet<i64>)> = Vec::new();
    let mut at = 0;
    while walk.len() < max_steps {
        let visits: Vec<usize> = (0..walk.len()).filter(|&idx| walk[idx].0 == at).collect();
        if !visits.is_empty() && !rng.chance(patience) {
            let cycle = walk.split_off(*rng.pick(&visits));
            return Some(Lasso { prefix: walk.into_iter().map(|(marking, _)| marking).collect(), cycle });
        }
        if graph.is_dead(at) {
            let prefix = walk.into_iter().map(|(marking, _)| marking).collect();
            return Some(Lasso { prefix, cycle: vec![(at, BTreeSet::new())] });
        }
        if graph.edges(at).is_empty() {
            return None;
        }
        let edge = rng.pick(graph.edges(at));
        walk.push((at, graph.movers(&edge.firing)));
        at = edge.target;
    }
    None
}

impl Lasso {
    /// Whether the run is fair: the definitions, read aloud.
    #[must_use]
    pub fn is_fair(&self, graph: &ReachableGraph<'_>, fairness: Fairness) -> bool {
        let is_enabled = |thread: i64, marking: usize| graph.enabled_threads(marking).contains(&thread);
        (0..i64::from(graph.net().max_threads)).all(|thread| {
            let moves = self.cycle.iter().any(|(_, movers)| movers.contains(&thread));
            let always = self.cycle.iter().all(|(marking, _)| is_enabled(thread, *marking));
            let sometimes = self.cycle.iter().any(|(marking, _)| is_enabled(thread, *marking));
            match fairness {
                Fairness::None => true,
                Fairness::Weak => moves || !always,
                Fairness::Strong => moves || !sometimes,
            }
        })
    }

    /// Whether the formula is true of the run.
    #[must_use]
    pub fn satisfies(&self, graph: &ReachableGraph<'_>, formula: &Ltl, atoms: &[AtomData]) -> bool {
        let prefix: Vec<u64> = self.prefix.iter().map(|&at| graph.letter(at, atoms)).collect();
        let cycle: Vec<u64> = self.cycle.iter().map(|(at, _)| graph.letter(*at, atoms)).collect();
        formula.holds_on_lasso(&prefix, &cycle)
    }
}
