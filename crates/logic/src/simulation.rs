//! Reduction by direct simulation.

use pdnet_base::Idx as _;

use crate::reduce::collapse;
use crate::{AutState, Automaton, Cube, Edge};

/// How many pairs of edges are compared before we give up, which is about a second. Only the size of the
/// automaton depends on it.
const MAX_WORK: usize = 20_000_000;

/// How many times a cube is split when we ask whether others cover it.
pub(crate) const MAX_SPLITS: u32 = 12;

/// Merges states that simulate each other and drops what others do better.
///
/// State `r` simulates `q` if, for each edge of `q` and each letter on it, `r` has an edge for that letter in
/// at least the same acceptance sets whose target simulates the other target. Then `r` accepts whatever `q`
/// does, so that states which simulate each other are one, and of two edges of one state the smaller
/// one is not needed (Etessami, Wilke, Schuller: Fair Simulation Relations, Parity Games, and State Space
/// Reduction for Büchi Automata, ICALP 2001; for our kind of automata: Babiak, Badie,
/// Duret-Lutz, Křetínský, Strejček: Compositional Approach to Suspension, SPIN 2013).
pub(crate) fn quotient_by_simulation(mut automaton: Automaton) -> Automaton {
    let Some(simulation) = Simulation::of(&automaton) else { return automaton };
    let n = automaton.n_states();
    for data in automaton.states.iter_mut() {
        simulation.drop_smaller(&mut data.edges);
    }
    // The class of a state is the first state that it simulates and that simulates it.
    let equal = |q: usize, r: usize| simulation.holds(q, r) && simulation.holds(r, q);
    let classes: Vec<usize> = (0..n).map(|q| (0..q).find(|&r| equal(q, r)).unwrap_or(q)).collect();
    collapse(automaton, &classes)
}

/// The largest simulation relation.
pub(crate) struct Simulation {
    n: usize,
    /// At `small * n + large`: whether `large` simulates `small`.
    table: Vec<bool>,
}

impl Simulation {
    /// Starts from all pairs and removes those that fail until none does; `None` where that is too much.
    pub(crate) fn of(automaton: &Automaton) -> Option<Self> {
        let n = automaton.n_states();
        let mut work = n.saturating_mul(n);
        if work > MAX_WORK {
            return None;
        }
        let mut simulation = Self { n, table: vec![true; n * n] };
        loop {
            let mut changed = false;
            // States are numbered from the initial one on, and what a pair depends on is further away.
            for small in (0..n).rev() {
                for large in (0..n).rev() {
                    if small == large || !simulation.holds(small, large) {
                        continue;
                    }
                    let edges = &automaton.states[AutState::new(small)].edges;
                    let others = &automaton.states[AutState::new(large)].edges;
                    work += 1 + edges.len() * others.len();
                    if work > MAX_WORK {
                        return None;
                    }
                    if !edges.iter().all(|edge| simulation.is_matched(edge, others)) {
                        simulation.table[small * n + large] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return Some(simulation);
            }
        }
    }

    pub(crate) fn holds(&self, small: usize, large: usize) -> bool {
        self.table[small * self.n + large]
    }

    /// Whether `large` is at least as good as `small` on the letters that both have.
    fn is_better(&self, small: &Edge, large: &Edge) -> bool {
        small.acceptance & !large.acceptance == 0 && self.holds(small.target.index(), large.target.index())
    }

    /// Whether every letter of the edge is on some other edge that is at least as good.
    pub(crate) fn is_matched(&self, edge: &Edge, others: &[Edge]) -> bool {
        let better: Vec<Cube> =
            others.iter().filter(|other| self.is_better(edge, other)).map(|other| other.label).collect();
        is_covered(edge.label, &better, MAX_SPLITS)
    }

    /// Removes edges, and letters from edges, for which the same state has an edge that is at least as
    /// good. Of two that are equally good, one stays.
    fn drop_smaller(&self, edges: &mut Vec<Edge>) {
        let mut at = 0;
        while at < edges.len() {
            let edge = edges[at];
            let others: Vec<Edge> = edges
                .iter()
                .enumerate()
                .filter(|&(position, other)| position != at && self.is_better(&edge, other))
                .map(|(_, other)| *other)
                .collect();
            let labels: Vec<Cube> = others.iter().map(|other| other.label).collect();
            if is_covered(edge.label, &labels, MAX_SPLITS) {
                edges.remove(at);
                continue;
            }
            for other in &others {
                if let Some(rest) = without(edges[at].label, other.label) {
                    edges[at].label = rest;
                }
            }
            at += 1;
        }
    }
}

/// Whether every letter of `cube` is in one of the others: false also where more than `splits` atoms would
/// have to be tried.
pub(crate) fn is_covered(cube: Cube, others: &[Cube], splits: u32) -> bool {
    let meeting: Vec<Cube> = others.iter().copied().filter(|other| other.intersect(cube).is_some()).collect();
    if meeting.iter().any(|other| other.contains(cube)) {
        return true;
    }
    let Some(first) = meeting.first() else { return false };
    if splits == 0 {
        return false;
    }
    // Some atom that the first one asks for and the cube leaves open.
    let open = (first.pos | first.neg) & !(cube.pos | cube.neg);
    let bit = open & open.wrapping_neg();
    is_covered(Cube { pos: cube.pos | bit, ..cube }, &meeting, splits - 1)
        && is_covered(Cube { neg: cube.neg | bit, ..cube }, &meeting, splits - 1)
}

/// The letters of `cube` that are not in `other`, where these are one smaller cube.
fn without(cube: Cube, other: Cube) -> Option<Cube> {
    cube.intersect(other)?;
    let (pos, neg) = (other.pos & !cube.pos, other.neg & !cube.neg);
    if pos.count_ones() + neg.count_ones() == 1 {
        Some(Cube { pos: cube.pos | neg, neg: cube.neg | pos })
    } else {
        None
    }
}
