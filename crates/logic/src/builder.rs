//! Automata that are given rather than made of a formula: `never` claims, files in the HOA format.

use std::fmt;

use pdnet_base::{Idx as _, IndexVec};

use crate::{Atom, AutState, Automaton, Cube, Edge, MAX_ATOMS, MAX_STATES, StateData};

/// How many edges an automaton may have, once each guard is a list of cubes.
const MAX_EDGES: usize = 500_000;

/// How many cubes the guard of one edge may have.
const MAX_CUBES: usize = 4096;

/// How many acceptance sets fit into an edge.
const MAX_SETS: u32 = 32;

/// When an edge may be taken: a Boolean combination of atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Always.
    True,
    /// Never.
    False,
    /// When the atom is true.
    Atom(Atom),
    /// When the other may not be taken.
    Not(Box<Self>),
    /// When both may be taken.
    And(Box<Self>, Box<Self>),
    /// When one of them may be taken.
    Or(Box<Self>, Box<Self>),
}

impl Guard {
    /// The negation.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Not(inner) => *inner,
            other @ (Self::Atom(_) | Self::And(..) | Self::Or(..)) => Self::Not(Box::new(other)),
        }
    }

    /// This and another one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, guard) | (guard, Self::True) => guard,
            (left, right) => Self::And(Box::new(left), Box::new(right)),
        }
    }

    /// This or another one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, guard) | (guard, Self::False) => guard,
            (left, right) => Self::Or(Box::new(left), Box::new(right)),
        }
    }

    /// Whether it is true of a letter.
    #[must_use]
    pub fn matches(&self, letter: u64) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            Self::Atom(atom) => atom.index() < MAX_ATOMS && letter >> atom.index() & 1 == 1,
            Self::Not(inner) => !inner.matches(letter),
            Self::And(left, right) => left.matches(letter) && right.matches(letter),
            Self::Or(left, right) => left.matches(letter) || right.matches(letter),
        }
    }

    /// Cubes that are the guard together (or, where not `positive`, its negation).
    fn cubes(&self, positive: bool) -> Result<Vec<Cube>, BuildError> {
        match self {
            Self::True | Self::False => {
                let holds = matches!(self, Self::True) == positive;
                Ok(if holds { vec![Cube::TRUE] } else { Vec::new() })
            }
            Self::Atom(atom) => {
                if atom.index() >= MAX_ATOMS {
                    return Err(BuildError::TooManyAtoms);
                }
                let bit = 1 << atom.index();
                let (pos, neg) = if positive { (bit, 0) } else { (0, bit) };
                Ok(vec![Cube { pos, neg }])
            }
            Self::Not(inner) => inner.cubes(!positive),
            Self::And(left, right) | Self::Or(left, right) => {
                let (left, right) = (left.cubes(positive)?, right.cubes(positive)?);
                let is_and = matches!(self, Self::And(..)) == positive;
                if is_and { conjunction(&left, &right) } else { minimal([left, right].concat()) }
            }
        }
    }
}

fn conjunction(left: &[Cube], right: &[Cube]) -> Result<Vec<Cube>, BuildError> {
    let mut product = Vec::new();
    for &a in left {
        product.extend(right.iter().filter_map(|&b| a.intersect(b)));
        if product.len() > 2 * MAX_CUBES {
            product = minimal(product)?;
        }
    }
    minimal(product)
}

/// The cubes that no other one contains; all letters, where a cube and one that differs by the sign of its only
/// literal say so (`a || !a`).
fn minimal(mut cubes: Vec<Cube>) -> Result<Vec<Cube>, BuildError> {
    // Those with fewer literals first: a cube is contained in none that comes later.
    cubes.sort_unstable_by_key(|cube| (cube.pos.count_ones() + cube.neg.count_ones(), *cube));
    let mut kept: Vec<Cube> = Vec::new();
    for cube in cubes {
        let opposite = Cube { pos: cube.neg, neg: cube.pos };
        if (cube.pos | cube.neg).count_ones() == 1 && kept.contains(&opposite) {
            return Ok(vec![Cube::TRUE]);
        }
        if !kept.iter().any(|other| other.contains(cube)) {
            kept.push(cube);
        }
    }
    if kept.len() > MAX_CUBES { Err(BuildError::TooManyEdges) } else { Ok(kept) }
}

/// Why a description has no automaton. These are limits of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// An atom has a number of [`MAX_ATOMS`] or more.
    TooManyAtoms,
    /// More than [`MAX_STATES`] states.
    TooManyStates,
    /// Too many edges, or a guard that is too far from a list of alternatives.
    TooManyEdges,
    /// More than 32 acceptance sets.
    TooManySets,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyAtoms => write!(f, "the automaton has more than {MAX_ATOMS} atoms"),
            Self::TooManyStates => write!(f, "the automaton has more than {MAX_STATES} states"),
            Self::TooManyEdges => write!(f, "the guards of the automaton are too large"),
            Self::TooManySets => write!(f, "the automaton has more than {MAX_SETS} acceptance sets"),
        }
    }
}

impl std::error::Error for BuildError {}

/// Builds an automaton from states and guarded edges.
///
/// ```
/// use pdnet_base::Idx as _;
/// use pdnet_logic::{Atom, AutomatonBuilder, Guard};
///
/// // never { T0: do :: p -> goto accept :: true od; accept: do :: p od }
/// let p = || Guard::Atom(Atom::new(0));
/// let mut builder = AutomatonBuilder::new(1);
/// let (start, accept) = (builder.add_state(), builder.add_state());
/// builder.add_edge(start, p(), accept, 0);
/// builder.add_edge(start, Guard::True, start, 0);
/// builder.add_edge(accept, p(), accept, 0);
/// builder.mark_state(accept, 1);
/// let automaton = builder.finish(&[start], vec!["p".to_owned()]).unwrap();
/// assert!(automaton.accepts_lasso(&[1, 0], &[1]));
/// assert!(!automaton.accepts_lasso(&[1, 1], &[1, 0]));
/// ```
#[derive(Clone, Debug)]
pub struct AutomatonBuilder {
    n_acceptance: u32,
    edges: IndexVec<AutState, Vec<(Guard, AutState, u32)>>,
    /// The acceptance sets of each state.
    marks: IndexVec<AutState, u32>,
}

impl AutomatonBuilder {
    /// An automaton with this many acceptance sets and no state. One set is a Büchi automaton; with none, every
    /// infinite run of the automaton is accepting.
    #[must_use]
    pub const fn new(n_acceptance: u32) -> Self {
        Self { n_acceptance, edges: IndexVec::new(), marks: IndexVec::new() }
    }

    /// Adds a state.
    pub fn add_state(&mut self) -> AutState {
        self.marks.push(0);
        self.edges.push(Vec::new())
    }

    /// Adds a state that accepts whatever comes: the end of a `never` claim.
    pub fn add_accept_all(&mut self) -> AutState {
        let state = self.add_state();
        self.add_edge(state, Guard::True, state, u32::MAX);
        state
    }

    /// Adds an edge that may be taken where the guard is true of the letter that is read. Bit `i` of `acceptance`
    /// puts it into set `i`.
    pub fn add_edge(&mut self, source: AutState, guard: Guard, target: AutState, acceptance: u32) {
        self.edges[source].push((guard, target, acceptance));
    }

    /// Puts a state into acceptance sets: a run that visits it again and again visits these sets again and
    /// again. That is the same as putting all edges out of it there.
    pub fn mark_state(&mut self, state: AutState, acceptance: u32) {
        self.marks[state] |= acceptance;
    }

    /// The automaton, which starts in any of `initial`. `atom_names` are only for output.
    ///
    /// # Errors
    /// A limit was met; see [`BuildError`].
    ///
    /// # Panics
    /// Where a state is not one of this builder's.
    pub fn finish(mut self, initial: &[AutState], atom_names: Vec<String>) -> Result<Automaton, BuildError> {
        if self.n_acceptance > MAX_SETS {
            return Err(BuildError::TooManySets);
        }
        let start = match initial {
            [only] => *only,
            // A new state that can do what any of them can. No edge comes back to it.
            several => {
                let state = self.add_state();
                for &other in several {
                    let mark = self.marks[other];
                    let edges = self.edges[other].clone();
                    let marked = edges.into_iter().map(|(guard, target, sets)| (guard, target, sets | mark));
                    self.edges[state].extend(marked);
                }
                state
            }
        };
        if self.edges.len() > MAX_STATES {
            return Err(BuildError::TooManyStates);
        }
        let mut automaton = Automaton {
            n_acceptance: self.n_acceptance,
            initial: start,
            states: IndexVec::new(),
            atom_names,
        };
        let all = automaton.all_acceptance();
        let mut n_edges = 0;
        for (state, described) in self.edges.iter_enumerated() {
            let mut edges = Vec::new();
            for (guard, target, sets) in described {
                assert!(target.index() < self.edges.len(), "an edge leads to a state of the automaton");
                let acceptance = (sets | self.marks[state]) & all;
                let labels = guard.cubes(true)?.into_iter();
                edges.extend(labels.map(|label| Edge { label, target: *target, acceptance }));
                if n_edges + edges.len() > MAX_EDGES {
                    return Err(BuildError::TooManyEdges);
                }
            }
            edges.sort_unstable();
            edges.dedup();
            n_edges += edges.len();
            automaton.states.push(StateData { edges });
        }
        Ok(automaton)
    }
}

#[cfg(test)]
mod tests {
    use pdnet_base::Rng;

    use super::*;

    fn random_guard(rng: &mut Rng, height: usize) -> Guard {
        let inner = |rng: &mut Rng| random_guard(rng, height - 1);
        match rng.below(if height == 0 { 4 } else { 8 }) {
            0 => Guard::True,
            1 => Guard::False,
            2 | 3 => Guard::Atom(Atom::new(rng.below(4))),
            4 => inner(rng).negated(),
            5 => Guard::Not(Box::new(inner(rng))),
            6 => inner(rng).and(inner(rng)),
            _ => inner(rng).or(inner(rng)),
        }
    }

    #[test]
    fn cubes_are_the_guard() {
        let seed = Rng::test_seed(1);
        let mut rng = Rng::new(seed);
        for _ in 0..2000 {
            let guard = random_guard(&mut rng, 5);
            let cubes = guard.cubes(true).expect("small");
            for letter in 0..16 {
                let is_in = cubes.iter().any(|cube| cube.matches(letter));
                assert_eq!(guard.matches(letter), is_in, "seed {seed}: {guard:?} on {letter}: {cubes:?}");
            }
        }
    }

    #[test]
    fn plain_tautologies_are_all_letters() {
        let a = || Guard::Atom(Atom::new(3));
        assert_eq!(a().or(a().negated()).cubes(true), Ok(vec![Cube::TRUE]));
        assert_eq!(a().and(a().negated()).cubes(true), Ok(vec![]));
    }

    #[test]
    fn several_initial_states_are_one() {
        let mut builder = AutomatonBuilder::new(1);
        let states: Vec<AutState> = (0..2).map(|_| builder.add_state()).collect();
        for (number, &state) in states.iter().enumerate() {
            builder.add_edge(state, Guard::Atom(Atom::new(number)), state, 1);
        }
        let automaton = builder.finish(&states, Vec::new()).expect("small");
        assert!(automaton.accepts_lasso(&[], &[1]) && automaton.accepts_lasso(&[], &[2]));
        assert!(!automaton.accepts_lasso(&[1], &[2]) && !automaton.accepts_lasso(&[], &[0]));
        let none = AutomatonBuilder::new(1).finish(&[], Vec::new()).expect("small");
        assert!(!none.accepts_lasso(&[], &[0]));
    }

    #[test]
    fn limits_are_errors() {
        let guard = |number: usize| Guard::Atom(Atom::new(number));
        let with = |guard: Guard| {
            let mut builder = AutomatonBuilder::new(1);
            let state = builder.add_state();
            builder.add_edge(state, guard, state, 1);
            builder.finish(&[state], Vec::new())
        };
        assert_eq!(with(guard(64)), Err(BuildError::TooManyAtoms));
        // (a0 || a1) && (a2 || a3) && …: 2^16 cubes, none within another.
        let wide = (0..16).map(|pair| guard(2 * pair).or(guard(2 * pair + 1)));
        assert_eq!(with(wide.reduce(Guard::and).expect("some")), Err(BuildError::TooManyEdges));
        assert_eq!(AutomatonBuilder::new(33).finish(&[], Vec::new()), Err(BuildError::TooManySets));
    }
}
