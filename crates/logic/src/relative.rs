//! Properties of a part of the states: what a formula or an automaton says if it does not see the others.
//!
//! SPIN's claims do not look at the states inside of an `atomic` sequence. A run is then judged by the word of the
//! states that are seen. That is the relativisation of temporal logic: `F f` becomes "at some state that is seen,
//! `f`", and likewise for the other operators, while atoms are only ever asked of states that are seen.

use pdnet_base::Idx as _;

use crate::{Atom, Automaton, Cube, Edge, Ltl};

impl Ltl {
    /// The formula for the states at which the atom is false, of words whose first state is one of them.
    ///
    /// It says the same of a word as this formula of the word without the other states, where infinitely many are left.
    #[must_use]
    pub fn outside(&self, unseen: Atom) -> Self {
        let hidden = || Self::Atom(unseen);
        let here = |f: &Self| Self::and(Self::not(hidden()), f.outside(unseen));
        let if_here = |f: &Self| Self::or(hidden(), f.outside(unseen));
        let part = |f: &Self| f.outside(unseen);
        match self {
            Self::True | Self::False | Self::Atom(_) => self.clone(),
            Self::Not(f) => Self::not(part(f)),
            Self::And(f, g) => Self::and(part(f), part(g)),
            Self::Or(f, g) => Self::or(part(f), part(g)),
            Self::Implies(f, g) => Self::implies(part(f), part(g)),
            Self::Iff(f, g) => Self::iff(part(f), part(g)),
            Self::Xor(f, g) => Self::xor(part(f), part(g)),
            Self::Next(f) => Self::next(Self::until(hidden(), here(f))),
            Self::Finally(f) => Self::finally(here(f)),
            Self::Globally(f) => Self::globally(if_here(f)),
            Self::Until(f, g) => Self::until(if_here(f), here(g)),
            Self::WeakUntil(f, g) => Self::weak_until(if_here(f), here(g)),
            Self::Release(f, g) => Self::release(here(f), if_here(g)),
            Self::StrongRelease(f, g) => Self::strong_release(here(f), if_here(g)),
        }
    }

    /// Whether the formula has the form that [`Ltl::outside`] gives to one without `X`. Then what it says of a word whose first state is
    /// seen depends on the seen states alone, however few they are: by induction, since its operators speak of seen states only.
    #[must_use]
    pub fn ignores(&self, unseen: Atom) -> bool {
        let hidden = Self::Atom(unseen);
        let here = |f: &Self| match f {
            Self::And(seen, f) => {
                matches!(&**seen, Self::Not(inner) if **inner == hidden) && f.ignores(unseen)
            }
            _ => false,
        };
        let if_here = |f: &Self| match f {
            Self::Or(not_seen, f) => **not_seen == hidden && f.ignores(unseen),
            _ => false,
        };
        match self {
            Self::True | Self::False => true,
            Self::Atom(atom) => *atom != unseen,
            Self::Not(f) => f.ignores(unseen),
            Self::And(f, g) | Self::Or(f, g) | Self::Implies(f, g) | Self::Iff(f, g) | Self::Xor(f, g) => {
                f.ignores(unseen) && g.ignores(unseen)
            }
            Self::Next(_) => false,
            Self::Finally(f) => here(f),
            Self::Globally(f) => if_here(f),
            Self::Until(f, g) | Self::WeakUntil(f, g) => if_here(f) && here(g),
            Self::Release(f, g) | Self::StrongRelease(f, g) => here(f) && if_here(g),
        }
    }
}

impl Automaton {
    /// The automaton that does not move, and accepts nothing, while the atom is true. The atom is a new one: no edge
    /// asks for it.
    #[must_use]
    pub fn outside(&self, unseen: Atom, text: &str) -> Self {
        let bit = 1_u64 << unseen.index();
        let mut found = self.clone();
        // Without acceptance sets, waiting forever would be accepted.
        let mark = u32::from(self.n_acceptance == 0);
        found.n_acceptance = self.n_acceptance.max(1);
        for state in self.states.indices() {
            if self.n_acceptance > 0 && self.is_universal_from(state) {
                continue;
            }
            let edges = &mut found.states[state].edges;
            for edge in edges.iter_mut() {
                edge.label.neg |= bit;
                edge.acceptance |= mark;
            }
            edges.push(Edge { label: Cube { pos: bit, neg: 0 }, target: state, acceptance: 0 });
            edges.sort_unstable();
        }
        found.atom_names.resize(unseen.index(), String::new());
        found.atom_names.push(text.to_owned());
        found
    }
}

#[cfg(test)]
mod tests {
    use pdnet_base::{Idx as _, Rng};

    use crate::random_formula::random_formula;
    use crate::{Atom, Ltl, translate};

    #[test]
    fn formulas_that_see_all_states_are_told_apart() {
        let (a, unseen) = (|| Ltl::Atom(Atom::new(0)), Atom::new(2));
        let here = |f: Ltl| Ltl::and(Ltl::not(Ltl::Atom(unseen)), f);
        for asked in
            [Ltl::finally(a()), Ltl::globally(here(a())), Ltl::until(a(), here(a())), Ltl::Atom(unseen)]
        {
            assert!(!asked.ignores(unseen), "{asked:?}");
        }
        // A word of which only finitely many states are seen.
        for asked in [Ltl::globally(Ltl::finally(a())), Ltl::finally(Ltl::globally(a()))] {
            let asked = asked.outside(unseen);
            let words = [[4, 5], [5, 4], [5, 5], [4, 4]];
            let answers: Vec<bool> = words.iter().map(|cycle| asked.holds_on_lasso(&[1, 0], cycle)).collect();
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{asked:?}");
        }
    }

    #[test]
    fn what_is_not_seen_makes_no_difference() {
        let mut rng = Rng::new(Rng::test_seed(1));
        let unseen = Atom::new(2);
        for _ in 0..2000 {
            let asked = random_formula(&mut rng, 3, (2, Ltl::next));
            let mut letters = |n: usize| -> Vec<u64> { (0..n).map(|_| rng.below(4) as u64).collect() };
            let (prefix, cycle) = (letters(3), letters(2));
            let mut scatter = |word: &[u64], first: bool| -> Vec<u64> {
                let mut found = Vec::new();
                for (number, &letter) in word.iter().enumerate() {
                    // The first state of all is seen.
                    let n_hidden = if first && number == 0 { 0 } else { rng.below(3) };
                    found.extend((0..n_hidden).map(|_| 4 | rng.below(4) as u64));
                    found.push(letter);
                }
                found
            };
            let (long_prefix, long_cycle) = (scatter(&prefix, true), scatter(&cycle, false));
            let expected = asked.holds_on_lasso(&prefix, &cycle);
            let found = asked.outside(unseen).holds_on_lasso(&long_prefix, &long_cycle);
            assert_eq!(expected, found, "{asked:?} on {prefix:?} {cycle:?}");
            let has_next = asked.any(&mut |part| matches!(part, Ltl::Next(_)));
            assert_eq!(asked.outside(unseen).ignores(unseen), !has_next, "{asked:?}");
            if let Ok(automaton) = translate(&asked, vec!["a".to_owned(), "b".to_owned()]) {
                let outside = automaton.outside(unseen, "unseen");
                let accepted = outside.accepts_lasso(&long_prefix, &long_cycle);
                assert_eq!(expected, accepted, "{asked:?} on {long_prefix:?} {long_cycle:?}");
            }
        }
    }
}
