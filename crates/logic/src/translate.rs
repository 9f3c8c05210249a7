//! From formulas to automata.

use std::fmt;

use pdnet_base::{FxHashMap, Idx as _, IndexVec};

use crate::reduce::reduce;
use crate::store::{Node, NodeData, Store};
use crate::{AutState, Automaton, Cube, Edge, Ltl, MAX_ATOMS, StateData};

/// How many states an automaton may have while it is being built. Automata of properties that people
/// write have fewer than a hundred.
pub const MAX_STATES: usize = 100_000;

/// How many terms a step of a single state may have.
const MAX_TERMS: usize = 16_384;

/// How many edges an automaton may have while it is being built.
const MAX_EDGES: usize = 500_000;

/// How many comparisons of terms a translation may make: some seconds. Without this limit a hostile
/// formula could keep us busy for hours below all the others.
const MAX_WORK: usize = 200_000_000;

/// How many acceptance sets fit into an edge.
const MAX_PROMISES: usize = 32;

/// Why a formula has no automaton. These are limits, not faults of the formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranslateError {
    /// An atom has a number of [`MAX_ATOMS`] or more.
    TooManyAtoms,
    /// More than 32 different right sides of `F`, `U` and `M`.
    TooManyAcceptanceSets,
    /// More than [`MAX_STATES`] states.
    TooManyStates,
    /// Too many edges, of a single state or of all.
    TooManyEdges,
    /// The construction took too many steps.
    TooMuchWork,
}

impl fmt::Display for TranslateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyAtoms => write!(f, "the formula has more than {MAX_ATOMS} atoms"),
            Self::TooManyAcceptanceSets => {
                write!(f, "the formula has more than {MAX_PROMISES} eventualities")
            }
            Self::TooManyStates => {
                write!(f, "the automaton of the formula has more than {MAX_STATES} states")
            }
            Self::TooManyEdges => write!(f, "the automaton of the formula has more than {MAX_EDGES} edges"),
            Self::TooMuchWork => write!(f, "the translation of the formula takes too long"),
        }
    }
}

impl std::error::Error for TranslateError {}

/// The automaton that accepts exactly the words that satisfy the formula. A model checker that looks for
/// violations negates the formula first. `atom_names` are only for output.
///
/// The construction is Couvreur's (On-the-fly Verification of Linear Temporal Logic, FM 1999):
/// a state is a set of formulas that must hold from here on; the tableau rules turn it into a
/// disjunction of terms, each with the literals for the present letter, the formulas for the next
/// state, and the promises it makes (right sides of `U`, `F` and `M` that it puts off). Terms that others
/// subsume are dropped, and sets of formulas with equal terms are one state. An edge belongs to the
/// acceptance set of a promise unless it makes that promise. The formula is simplified before and the
/// automaton reduced afterwards (see `reduce.rs`).
///
/// # Errors
/// A limit was met; see [`TranslateError`].
pub fn translate(ltl: &Ltl, atom_names: Vec<String>) -> Result<Automaton, TranslateError> {
    if ltl.n_atoms() > MAX_ATOMS {
        return Err(TranslateError::TooManyAtoms);
    }
    let mut tableau = Tableau::new();
    let root = tableau.store.build(ltl);
    let mut automaton = tableau.explore(root)?;
    automaton.atom_names = atom_names;
    Ok(reduce(automaton))
}

/// A way to satisfy a formula now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Term {
    label: Cube,
    /// Bit `i`: the right side of number `i` is put off.
    promises: u32,
    /// What must hold in the next state; sorted.
    next: Vec<Node>,
}

impl Term {
    const TRUE: Self = Self { label: Cube::TRUE, promises: 0, next: Vec::new() };

    /// Whether every run that `other` allows is a run that this term allows.
    fn subsumes(&self, other: &Self) -> bool {
        self.label.contains(other.label)
            && self.promises & !other.promises == 0
            && self.next.iter().all(|node| other.next.binary_search(node).is_ok())
    }

    /// Both at once; `None` where the labels contradict.
    fn join(&self, other: &Self) -> Option<Self> {
        let label = self.label.intersect(other.label)?;
        let mut next = self.next.clone();
        next.extend_from_slice(&other.next);
        next.sort_unstable();
        next.dedup();
        Some(Self { label, promises: self.promises | other.promises, next })
    }
}

type Terms = Result<Vec<Term>, TranslateError>;

struct Tableau {
    store: Store,
    terms: FxHashMap<Node, Vec<Term>>,
    promises: FxHashMap<Node, u32>,
    /// Comparisons made up to now.
    work: usize,
}

impl Tableau {
    fn new() -> Self {
        Self { store: Store::new(), terms: FxHashMap::default(), promises: FxHashMap::default(), work: 0 }
    }

    /// The automaton of all states that can be reached from the formula.
    fn explore(&mut self, root: Node) -> Result<Automaton, TranslateError> {
        let mut states: IndexVec<AutState, Vec<Term>> = IndexVec::new();
        // Two sets of formulas with equal terms are the same state.
        let mut by_terms: FxHashMap<Vec<Term>, AutState> = FxHashMap::default();
        let mut by_set: FxHashMap<Vec<Node>, AutState> = FxHashMap::default();
        let mut edges: IndexVec<AutState, Vec<Edge>> = IndexVec::new();
        let mut n_edges = 0;
        let mut roots = Vec::new();
        self.add_conjuncts(root, &mut roots);
        roots.sort_unstable();
        let mut visit = |tableau: &mut Self, set: Vec<Node>, states: &mut IndexVec<AutState, Vec<Term>>| {
            if let Some(&state) = by_set.get(&set) {
                return Ok(state);
            }
            let terms = tableau.step(&set)?;
            let state = match by_terms.get(&terms) {
                Some(&state) => state,
                None if states.len() == MAX_STATES => return Err(TranslateError::TooManyStates),
                None => {
                    let state = states.push(terms.clone());
                    by_terms.insert(terms, state);
                    state
                }
            };
            by_set.insert(set, state);
            Ok(state)
        };
        let initial = visit(self, roots, &mut states)?;
        let mut at = initial;
        while at.index() < states.len() {
            let mut out = Vec::new();
            for term in states[at].clone() {
                let target = visit(self, term.next, &mut states)?;
                // For now an edge carries its promises; the number of sets is known at the end only.
                out.push(Edge { label: term.label, target, acceptance: term.promises });
            }
            n_edges += out.len();
            if n_edges > MAX_EDGES {
                return Err(TranslateError::TooManyEdges);
            }
            edges.push(out);
            at = AutState::new(at.index() + 1);
        }
        let n_acceptance =
            u32::try_from(self.promises.len()).map_err(|_| TranslateError::TooManyAcceptanceSets)?;
        let mut automaton =
            Automaton { n_acceptance, initial, states: IndexVec::new(), atom_names: Vec::new() };
        let all = automaton.all_acceptance();
        for mut out in edges.iter().cloned() {
            for edge in &mut out {
                edge.acceptance = all & !edge.acceptance;
            }
            out.sort_unstable();
            out.dedup();
            automaton.states.push(StateData { edges: out });
        }
        Ok(automaton)
    }

    /// The parts of a conjunction.
    fn add_conjuncts(&self, node: Node, set: &mut Vec<Node>) {
        match self.store.data(node) {
            NodeData::True => {}
            NodeData::And(list) => set.extend_from_slice(list),
            _ => set.push(node),
        }
    }

    /// The terms of a set of formulas, sorted, none subsumed by another.
    fn step(&mut self, set: &[Node]) -> Terms {
        let mut product = vec![Term::TRUE];
        for &node in set {
            let terms = self.expand(node)?;
            product = self.join(&product, &terms)?;
        }
        product.sort_unstable();
        Ok(product)
    }

    /// The terms of one formula: Couvreur's rules, remembered.
    fn expand(&mut self, node: Node) -> Terms {
        if let Some(terms) = self.terms.get(&node) {
            return Ok(terms.clone());
        }
        let terms = match self.store.data(node).clone() {
            NodeData::True => vec![Term::TRUE],
            NodeData::False => Vec::new(),
            NodeData::Literal(atom, positive) => {
                let bit = 1 << atom.index();
                let label = if positive { Cube { pos: bit, neg: 0 } } else { Cube { pos: 0, neg: bit } };
                vec![Term { label, ..Term::TRUE }]
            }
            NodeData::And(list) => {
                let mut product = vec![Term::TRUE];
                for &part in &list {
                    let terms = self.expand(part)?;
                    product = self.join(&product, &terms)?;
                }
                product
            }
            NodeData::Or(list) => {
                let mut sum = Vec::new();
                for &part in &list {
                    sum.extend(self.expand(part)?);
                    sum = self.minimal(sum)?;
                }
                sum
            }
            NodeData::Next(f) => {
                let mut next = Vec::new();
                self.add_conjuncts(f, &mut next);
                if f == self.store.no() { Vec::new() } else { vec![Term { next, ..Term::TRUE }] }
            }
            // F b = b or (promise b and next F b)
            NodeData::Finally(b) => {
                let wait = self.put_off(b, Some(node))?;
                self.either(b, vec![wait])?
            }
            // G a = a and next G a
            NodeData::Globally(a) => {
                let again = [Term { next: vec![node], ..Term::TRUE }];
                let now = self.recurring(a)?;
                self.join(&now, &again)?
            }
            // a U b = b or (a and promise b and next a U b)
            NodeData::Until(a, b) => {
                let wait = self.put_off(b, Some(node))?;
                let now = self.expand(a)?;
                let wait = self.join(&now, &[wait])?;
                self.either(b, wait)?
            }
            // a W b = b or (a and next a W b)
            NodeData::WeakUntil(a, b) => {
                let wait = Term { next: vec![node], ..Term::TRUE };
                let now = self.expand(a)?;
                let wait = self.join(&now, &[wait])?;
                self.either(b, wait)?
            }
            // a R b = b and (a or next a R b)
            NodeData::Release(a, b) => {
                let wait = Term { next: vec![node], ..Term::TRUE };
                let either = self.either(a, vec![wait])?;
                let now = self.expand(b)?;
                self.join(&now, &either)?
            }
            // a M b = b and (a or (promise a and next a M b))
            NodeData::StrongRelease(a, b) => {
                let wait = self.put_off(a, Some(node))?;
                let either = self.either(a, vec![wait])?;
                let now = self.expand(b)?;
                self.join(&now, &either)?
            }
        };
        self.terms.insert(node, terms.clone());
        Ok(terms)
    }

    /// The terms of `a` inside of `G a`. There `F b` need not be carried into the next state, because `G a`
    /// is and asks for `F b` anew; only the promise is made (Duret-Lutz: LTL translation improvements in
    /// Spot 1.0, 2014). This gives `G F b` a single state.
    fn recurring(&mut self, a: Node) -> Terms {
        match *self.store.data(a) {
            NodeData::Finally(b) => {
                let wait = self.put_off(b, None)?;
                self.either(b, vec![wait])
            }
            _ => self.expand(a),
        }
    }

    /// The term that promises `goal` and goes on with `again`.
    fn put_off(&mut self, goal: Node, again: Option<Node>) -> Result<Term, TranslateError> {
        let number = match self.promises.get(&goal) {
            Some(&number) => number,
            None if self.promises.len() == MAX_PROMISES => return Err(TranslateError::TooManyAcceptanceSets),
            None => {
                let number = u32::try_from(self.promises.len()).unwrap_or(u32::MAX);
                self.promises.insert(goal, number);
                number
            }
        };
        Ok(Term { label: Cube::TRUE, promises: 1 << number, next: again.into_iter().collect() })
    }

    /// The terms of `f`, and others.
    fn either(&mut self, f: Node, others: Vec<Term>) -> Terms {
        let mut sum = self.expand(f)?;
        sum.extend(others);
        self.minimal(sum)
    }

    /// All ways to satisfy one term of each list.
    fn join(&mut self, left: &[Term], right: &[Term]) -> Terms {
        let mut product = Vec::new();
        for a in left {
            for b in right {
                product.extend(a.join(b));
                if product.len() >= 2 * MAX_TERMS {
                    product = self.minimal(product)?;
                }
            }
        }
        self.minimal(product)
    }

    /// The terms that no other term subsumes, in order.
    fn minimal(&mut self, mut terms: Vec<Term>) -> Terms {
        // A subsuming term is never larger, so that each needs to be compared with those before it only.
        terms.sort_by_cached_key(|term| {
            let size = (term.label.pos.count_ones() + term.label.neg.count_ones()) as usize
                + term.promises.count_ones() as usize
                + term.next.len();
            (size, term.clone())
        });
        let mut kept: Vec<Term> = Vec::new();
        for term in terms {
            let subsumed_by = kept.iter().position(|other| other.subsumes(&term));
            self.work += 10 + term.next.len() + subsumed_by.unwrap_or(kept.len());
            if self.work > MAX_WORK {
                return Err(TranslateError::TooMuchWork);
            }
            if subsumed_by.is_none() {
                kept.push(term);
            }
        }
        if kept.len() > MAX_TERMS { Err(TranslateError::TooManyEdges) } else { Ok(kept) }
    }
}
