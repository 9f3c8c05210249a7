//! What an automaton can still look at in a state, and in which states repetitions make no difference to it.

use pdnet_base::{Idx as _, IndexVec};

use crate::scc::components;
use crate::simulation::{MAX_SPLITS, Simulation, is_covered};
use crate::{AutState, Automaton, Cube, Edge};

/// Of automata with more edges nothing is found out. Those of properties that people write have far fewer.
const MOST_EDGES: usize = 2000;

impl Automaton {
    /// For each state the atoms, as bits, that the labels of edges ask for which can be taken from there on. What a state accepts depends
    /// on no others. A state that accepts every word looks at none.
    #[must_use]
    pub fn atoms_ahead(&self) -> IndexVec<AutState, u64> {
        let mut ahead: IndexVec<AutState, u64> = IndexVec::filled(0, self.states.len());
        let is_open: IndexVec<AutState, bool> =
            self.states.indices().map(|state| !self.is_universal_from(state)).collect();
        loop {
            let mut is_changed = false;
            for (state, data) in self.states.iter_enumerated().filter(|(state, _)| is_open[*state]) {
                let asked = |edge: &Edge| edge.label.pos | edge.label.neg | ahead[edge.target];
                let found = data.edges.iter().fold(0, |atoms, edge| atoms | asked(edge));
                is_changed |= std::mem::replace(&mut ahead[state], found) != found;
            }
            if !is_changed {
                return ahead;
            }
        }
    }

    /// For each state whether what it accepts is certainly *stutter-invariant*: a word is accepted if and only if all those are that differ
    /// from it in repetitions of letters. Where the whole automaton is known to be (`is_invariant`), so are all states of a
    /// deterministic one.
    ///
    /// Of an automaton for a formula without `X` one would expect it of all states, since each stands for such a formula; but it is
    /// read off the automaton as it is, after all that was done to it, and for automata that somebody has given the expectation would be wrong.
    /// Not complete: other states may be invariant, too.
    ///
    /// # Why it is so
    ///
    /// *Deterministic.* If the only run over u ends in q, then q accepts w if and only if uw is accepted. Where w and v differ in
    /// repetitions only, so do uw and uv.
    ///
    /// *In general.* Acceptance on edges between components makes no difference, since a run takes finitely many of them; let them belong to all
    /// sets. We write r ≥ q where r simulates q (`simulation.rs`), and ask of all states q that can be reached:
    ///
    /// 1. if q takes the edge (q, a, p), then q has an edge for a to a t ≥ q, or p has one for a to a t ≥ p;
    /// 2. if q can take edges over a to p and from there over a to r, it has an edge for a to a t ≥ r, in at least all acceptance sets
    ///    of both.
    ///
    /// By 1, where q takes an edge over a to p, there is for every k ≥ 1 a way over a^k to some p' ≥ p, in all sets of the edge. For k + 1: either t ≥ p, and
    /// there is such a way over a^k from p for the edge to t; or t ≥ q, t has an edge over a to a z ≥ p in the same sets, and there is such a way over
    /// a^k from t for that edge. By 2, where a way over a^k leads from q to p, an edge over a leads to some p' ≥ p, in all sets of
    /// the way: two edges become one, and its target can go on as the way does.
    ///
    /// So let w be accepted, and v differ from it in how often letters are repeated. We follow the accepting run over w, block of equal
    /// letters by block, with a run over v that is always in a state that simulates the one of the other run: it simulates the way through
    /// the block, makes one edge of that by 2, and as many as v has letters in the block by 1, in at least the same sets. A
    /// last block without end is the same in both, and is simulated. So the run over v is in infinitely many edges of each set, too.
    #[must_use]
    pub fn stutter_invariant_states(&self, is_invariant: bool) -> IndexVec<AutState, bool> {
        if is_invariant && self.is_deterministic() {
            return IndexVec::filled(true, self.states.len());
        }
        let widened = self.with_acceptance_between();
        let is_small = self.n_edges() <= MOST_EDGES;
        let Some(simulation) = is_small.then(|| Simulation::of(&widened)).flatten() else {
            return IndexVec::filled(false, self.states.len());
        };
        let mut found: IndexVec<AutState, bool> = widened
            .states
            .indices()
            .map(|state| widened.can_repeat(state, &simulation) && widened.can_skip(state, &simulation))
            .collect();
        loop {
            let mut is_changed = false;
            for (state, data) in widened.states.iter_enumerated() {
                let is_left = found[state] && data.edges.iter().all(|edge| found[edge.target]);
                is_changed |= std::mem::replace(&mut found[state], is_left) != is_left;
            }
            if !is_changed {
                return found;
            }
        }
    }

    /// The same automaton, with edges between components in all acceptance sets.
    fn with_acceptance_between(&self) -> Self {
        let starts: Vec<usize> = (0..self.states.len()).collect();
        let (found, all) = (components(self, &starts), self.all_acceptance());
        let mut widened = self.clone();
        for (component, data) in found.of.iter().zip(widened.states.iter_mut()) {
            let leaves = |edge: &&mut Edge| found.of[edge.target.index()] != *component;
            data.edges.iter_mut().filter(leaves).for_each(|edge| edge.acceptance = all);
        }
        widened
    }

    /// Condition 1 of [`Automaton::stutter_invariant_states`] for one state.
    fn can_repeat(&self, state: AutState, simulation: &Simulation) -> bool {
        let loops = |at: AutState| {
            let edges = self.states[at].edges.iter();
            edges.filter(move |edge| simulation.holds(at.index(), edge.target.index())).map(|edge| edge.label)
        };
        self.states[state].edges.iter().all(|edge| {
            let labels: Vec<Cube> = loops(state).chain(loops(edge.target)).collect();
            is_covered(edge.label, &labels, MAX_SPLITS)
        })
    }

    /// Condition 2 of [`Automaton::stutter_invariant_states`] for one state.
    fn can_skip(&self, state: AutState, simulation: &Simulation) -> bool {
        let edges = &self.states[state].edges;
        edges.iter().all(|first| {
            self.states[first.target].edges.iter().all(|second| {
                let Some(label) = first.label.intersect(second.label) else { return true };
                let acceptance = first.acceptance | second.acceptance;
                let both = Edge { label, target: second.target, acceptance };
                simulation.is_matched(&both, edges)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use pdnet_base::{Idx as _, IndexVec, Rng};

    use crate::random_formula::random_formula;
    use crate::{Atom, AutState, Automaton, AutomatonBuilder, Guard, translate};

    fn automaton(rng: &mut Rng) -> Automaton {
        let mut builder = AutomatonBuilder::new(1);
        let states: Vec<AutState> = (0..2 + rng.below(3)).map(|_| builder.add_state()).collect();
        for &state in &states {
            for _ in 0..1 + rng.below(3) {
                let atom = Guard::Atom(Atom::new(rng.below(2)));
                let guard = [Guard::True, atom.clone(), atom.clone().negated()][rng.below(3)].clone();
                let target = if rng.chance(40) { state } else { states[rng.below(states.len())] };
                builder.add_edge(state, guard, target, u32::from(rng.chance(50)));
            }
        }
        builder.finish(&states[..1], Vec::new()).expect("small").reduced()
    }

    /// The word with letters repeated by chance.
    fn repeat(rng: &mut Rng, word: &[u64]) -> Vec<u64> {
        word.iter().flat_map(|&letter| vec![letter; 1 + rng.below(3)]).collect()
    }

    fn from(automaton: &Automaton, initial: AutState) -> Automaton {
        Automaton { initial, ..automaton.clone() }
    }

    fn check(rng: &mut Rng, automaton: &Automaton, found: &IndexVec<AutState, bool>) {
        let ahead = automaton.atoms_ahead();
        for state in automaton.states.indices() {
            let automaton = from(automaton, state);
            let mut letters = |n: usize| -> Vec<u64> { (0..n).map(|_| rng.below(8) as u64).collect() };
            let (prefix, cycle) = (letters(4), letters(3));
            let (other_prefix, other_cycle) = (letters(4), letters(3));
            let accepts = automaton.accepts_lasso(&prefix, &cycle);
            let mix = |word: &[u64], other: &[u64]| -> Vec<u64> {
                let both = word.iter().zip(other);
                both.map(|(letter, other)| letter & ahead[state] | other & !ahead[state]).collect()
            };
            let mixed = automaton.accepts_lasso(&mix(&prefix, &other_prefix), &mix(&cycle, &other_cycle));
            assert_eq!(accepts, mixed, "{state} of {automaton:?} looks at more than {:b}", ahead[state]);
            if found[state] {
                let repeated = automaton.accepts_lasso(&repeat(rng, &prefix), &repeat(rng, &cycle));
                assert_eq!(accepts, repeated, "{state} of {automaton:?} on {prefix:?} ({cycle:?})");
            }
        }
    }

    #[test]
    fn invariant_states_cannot_tell_repetitions() {
        let mut rng = Rng::new(Rng::test_seed(1));
        let (mut n_found, mut n_all, mut n_given) = (0, 0, 0);
        for _ in 0..3000 {
            let depth = 1 + rng.below(3);
            let asked = random_formula(&mut rng, depth, (3, |f| f));
            let Ok(automaton) = translate(&asked, Vec::new()) else { continue };
            let found = automaton.stutter_invariant_states(true);
            n_all += found.len();
            n_found += found.iter().filter(|found| **found).count();
            check(&mut rng, &automaton, &found);
        }
        for _ in 0..3000 {
            let automaton = automaton(&mut rng);
            let found = automaton.stutter_invariant_states(false);
            n_given += found.iter().filter(|found| **found).count();
            for _ in 0..4 {
                check(&mut rng, &automaton, &found);
            }
        }
        assert!(n_found * 10 > n_all * 9, "{n_found} of {n_all}");
        assert!(n_given > 1000, "{n_given}");
    }
}
