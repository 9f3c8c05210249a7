//! Whether an automaton accepts an ultimately periodic word.

use pdnet_base::Idx as _;

use crate::lasso::Lasso;
use crate::{AutState, Automaton};

impl Automaton {
    /// Whether the word `prefix cycle cycle cycle …` is accepted; an empty cycle repeats the last letter.
    ///
    /// This is the meaning of an automaton, slow and obvious, and uses nothing of what makes or reduces
    /// automata. The automaton runs over the word: a node is a position of the word and a state. A node is *good*
    /// if, of each acceptance set, some way over good nodes leads to an edge of the set between good nodes. The
    /// largest set of good nodes is found by taking out what is not good until nothing changes (Emerson and
    /// Lei, *Modalities for model checking*, 1987). From a good node, such ways can be put together forever; and
    /// the nodes of an accepting run are good. So the word is accepted if the initial node is good or leads to a
    /// good one, and it is then good itself.
    #[must_use]
    pub fn accepts_lasso(&self, prefix: &[u64], cycle: &[u64]) -> bool {
        let word = Word { automaton: self, lasso: Lasso::new(prefix, cycle) };
        let mut good = vec![vec![true; self.n_states()]; word.lasso.len()];
        loop {
            let before = good.clone();
            if self.n_acceptance == 0 {
                good = word.leads_to(&good, |_| true);
            }
            for set in 0..self.n_acceptance {
                good = word.leads_to(&good, |acceptance| acceptance >> set & 1 == 1);
            }
            if good == before {
                return good[0][self.initial.index()];
            }
        }
    }
}

/// An automaton that runs over a word.
struct Word<'a> {
    automaton: &'a Automaton,
    lasso: Lasso,
}

impl Word<'_> {
    /// The nodes among `within` from which a way in `within` leads to an edge in `within` that is wanted, and over
    /// it.
    fn leads_to(&self, within: &[Vec<bool>], is_wanted: impl Fn(u32) -> bool) -> Vec<Vec<bool>> {
        let mut found = vec![vec![false; self.automaton.n_states()]; self.lasso.len()];
        loop {
            let mut changed = false;
            for at in (0..self.lasso.len()).rev() {
                let next = self.lasso.successor(at);
                for state in 0..self.automaton.n_states() {
                    if found[at][state] || !within[at][state] {
                        continue;
                    }
                    let mut edges = self.automaton.successors(AutState::new(state), self.lasso.letter(at));
                    found[at][state] = edges.any(|edge| {
                        let target = edge.target.index();
                        found[next][target] || (within[next][target] && is_wanted(edge.acceptance))
                    });
                    changed |= found[at][state];
                }
            }
            if !changed {
                return found;
            }
        }
    }
}
