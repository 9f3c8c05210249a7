//! Transition-based generalised Büchi automata over letters.

use pdnet_base::{Idx as _, IndexVec, index_type};

use crate::reduce::reduce;
use crate::scc::Graph;

index_type! {
    /// A state of an automaton.
    pub struct AutState = "q";
}

/// A conjunction of literals: the letters that have all bits of `pos` and none of `neg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cube {
    /// The atoms that must be true.
    pub pos: u64,
    /// The atoms that must be false.
    pub neg: u64,
}

impl Cube {
    /// All letters.
    pub const TRUE: Self = Self { pos: 0, neg: 0 };

    /// Whether the letter is in the cube.
    #[must_use]
    pub const fn matches(self, letter: u64) -> bool {
        letter & self.pos == self.pos && letter & self.neg == 0
    }

    /// The letters in both cubes; `None` where there is none.
    #[must_use]
    pub const fn intersect(self, other: Self) -> Option<Self> {
        let both = Self { pos: self.pos | other.pos, neg: self.neg | other.neg };
        if both.pos & both.neg == 0 { Some(both) } else { None }
    }

    /// Whether every letter of `other` is in this cube.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.pos & !other.pos == 0 && self.neg & !other.neg == 0
    }
}

/// An edge. It may be taken on every letter of its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The letters.
    pub label: Cube,
    /// Where it leads.
    pub target: AutState,
    /// Bit `i` is set where the edge belongs to acceptance set `i`.
    pub acceptance: u32,
}

/// What an automaton knows about a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateData {
    /// The edges out of it, sorted.
    pub edges: Vec<Edge>,
}

/// A transition-based generalised Büchi automaton. A run is accepting if it takes edges of *each* of the
/// `n_acceptance` sets infinitely often; with no set at all, every infinite run is accepting. A word is
/// accepted if some run over it is.
///
/// Automata that [`translate`](crate::translate) returns have only states that are reachable and from
/// which some word is accepted, except that the automaton of the empty language has one state without
/// edges. A state may have no edge for a letter: the run ends there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// The number of acceptance sets, at most 32.
    pub n_acceptance: u32,
    /// Where runs start.
    pub initial: AutState,
    /// The states.
    pub states: IndexVec<AutState, StateData>,
    /// The texts of the atoms, bit 0 first.
    pub atom_names: Vec<String>,
}

impl Automaton {
    /// The number of states.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// The number of edges.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        self.states.iter().map(|state| state.edges.len()).sum()
    }

    /// The bit set of all acceptance sets.
    #[must_use]
    pub const fn all_acceptance(&self) -> u32 {
        match 1_u32.checked_shl(self.n_acceptance) {
            Some(bit) => bit - 1,
            None => u32::MAX,
        }
    }

    /// The edges out of `state` that can be taken on `letter`.
    pub fn successors(&self, state: AutState, letter: u64) -> impl Iterator<Item = &Edge> {
        self.states[state].edges.iter().filter(move |edge| edge.label.matches(letter))
    }

    /// Whether no state has two edges for one letter. A product with such an automaton never branches
    /// because of the property.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.states.iter().all(|state| {
            state.edges.iter().enumerate().all(|(i, edge)| {
                state.edges[i + 1..].iter().all(|other| edge.label.intersect(other.label).is_none())
            })
        })
    }

    /// Whether the state certainly accepts every word: it has an edge back to itself for all letters and
    /// in all acceptance sets. A search that reaches such a state has found its counterexample, whatever
    /// the program does afterwards. Cheap and not complete: other states may accept every word too.
    #[must_use]
    pub fn is_universal_from(&self, state: AutState) -> bool {
        self.states[state].edges.iter().any(|edge| {
            edge.target == state && edge.label == Cube::TRUE && edge.acceptance == self.all_acceptance()
        })
    }

    /// An automaton of the same language, mostly a smaller one: without states that cannot be reached or from which
    /// nothing is accepted, except that the automaton of the empty language has one state without edges.
    #[must_use]
    pub fn reduced(&self) -> Self {
        reduce(self.clone())
    }
}

/// The automaton as a graph.
impl Graph for Automaton {
    fn n_nodes(&self) -> usize {
        self.states.len()
    }

    fn edges_of(&self, node: usize, out: &mut Vec<(usize, u32)>) {
        let edges = &self.states[AutState::new(node)].edges;
        out.extend(edges.iter().map(|edge| (edge.target.index(), edge.acceptance)));
    }
}
