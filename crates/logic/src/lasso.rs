//! The meaning of a formula on an ultimately periodic word.

use pdnet_base::Idx as _;

use crate::{Atom, Ltl};

/// A word `prefix cycle cycle cycle …`, laid out so that every position has one successor.
pub(crate) struct Lasso {
    letters: Vec<u64>,
    /// Where the last position continues.
    back: usize,
}

impl Lasso {
    /// An empty cycle means that the last letter of the prefix is repeated (a run that ended); if the
    /// prefix is empty too, a letter in which no atom is true is.
    pub(crate) fn new(prefix: &[u64], cycle: &[u64]) -> Self {
        let mut letters = prefix.to_vec();
        letters.extend_from_slice(cycle);
        if letters.is_empty() {
            letters.push(0);
        }
        let back = prefix.len().min(letters.len() - 1);
        Self { letters, back }
    }

    pub(crate) fn len(&self) -> usize {
        self.letters.len()
    }

    pub(crate) fn letter(&self, position: usize) -> u64 {
        self.letters[position]
    }

    pub(crate) fn successor(&self, position: usize) -> usize {
        if position + 1 == self.letters.len() { self.back } else { position + 1 }
    }
}

impl Ltl {
    /// Whether the infinite word `prefix cycle cycle cycle …` satisfies the formula. Bit `i` of a letter
    /// is the truth of atom `i`; an atom of number 64 or more is false everywhere. An empty cycle repeats
    /// the last letter.
    ///
    /// This computes, for each subformula, the set of positions at which it holds, taking `U` as a least
    /// and `R` as a greatest fixpoint. It uses neither normal forms nor automata, and is what both are
    /// tested against.
    #[must_use]
    pub fn holds_on_lasso(&self, prefix: &[u64], cycle: &[u64]) -> bool {
        self.truth(&Lasso::new(prefix, cycle))[0]
    }

    /// For each position of the lasso, whether the formula holds there.
    fn truth(&self, lasso: &Lasso) -> Vec<bool> {
        let all = |value| vec![value; lasso.len()];
        let both = |f: &Self, g: &Self, op: fn(bool, bool) -> bool| {
            let (left, right) = (f.truth(lasso), g.truth(lasso));
            left.into_iter().zip(right).map(|(a, b)| op(a, b)).collect()
        };
        match self {
            Self::True => all(true),
            Self::False => all(false),
            Self::Atom(atom) => (0..lasso.len()).map(|at| has_atom(lasso.letter(at), *atom)).collect(),
            Self::Not(f) => f.truth(lasso).into_iter().map(|value| !value).collect(),
            Self::And(f, g) => both(f, g, |a, b| a && b),
            Self::Or(f, g) => both(f, g, |a, b| a || b),
            Self::Implies(f, g) => both(f, g, |a, b| !a || b),
            Self::Iff(f, g) => both(f, g, |a, b| a == b),
            Self::Xor(f, g) => both(f, g, |a, b| a != b),
            Self::Next(f) => {
                let inner = f.truth(lasso);
                (0..lasso.len()).map(|at| inner[lasso.successor(at)]).collect()
            }
            Self::Finally(f) => until(lasso, &all(true), &f.truth(lasso), false),
            Self::Globally(f) => until(lasso, &f.truth(lasso), &all(false), true),
            Self::Until(f, g) => until(lasso, &f.truth(lasso), &g.truth(lasso), false),
            Self::WeakUntil(f, g) => until(lasso, &f.truth(lasso), &g.truth(lasso), true),
            Self::Release(f, g) => release(lasso, &f.truth(lasso), &g.truth(lasso), true),
            Self::StrongRelease(f, g) => release(lasso, &f.truth(lasso), &g.truth(lasso), false),
        }
    }
}

fn has_atom(letter: u64, atom: Atom) -> bool {
    u32::try_from(atom.index()).ok().and_then(|bit| letter.checked_shr(bit)).is_some_and(|rest| rest & 1 == 1)
}

/// The fixpoint of `v = g or (f and next v)`: the least one from `false`, the greatest from `true`.
fn until(lasso: &Lasso, f: &[bool], g: &[bool], start: bool) -> Vec<bool> {
    fixpoint(lasso, start, |at, next| g[at] || (f[at] && next))
}

/// The fixpoint of `v = g and (f or next v)`.
fn release(lasso: &Lasso, f: &[bool], g: &[bool], start: bool) -> Vec<bool> {
    fixpoint(lasso, start, |at, next| g[at] && (f[at] || next))
}

/// Repeats `v[i] = step(i, v[successor of i])` from a constant until nothing changes.
fn fixpoint(lasso: &Lasso, start: bool, step: impl Fn(usize, bool) -> bool) -> Vec<bool> {
    let mut values = vec![start; lasso.len()];
    loop {
        let mut changed = false;
        for at in (0..lasso.len()).rev() {
            let value = step(at, values[lasso.successor(at)]);
            changed |= value != values[at];
            values[at] = value;
        }
        if !changed {
            return values;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a() -> Ltl {
        Ltl::atom(Atom::new(0))
    }

    fn b() -> Ltl {
        Ltl::atom(Atom::new(1))
    }

    #[test]
    fn the_operators_mean_what_the_textbooks_say() {
        let cases: &[(Ltl, &[u64], &[u64], bool)] = &[
            (a(), &[1], &[0], true),
            (Ltl::next(a()), &[0], &[1], true),
            (Ltl::globally(a()), &[1, 1], &[1, 0], false),
            (Ltl::finally(b()), &[0, 0], &[0, 2], true),
            (Ltl::until(a(), b()), &[1, 1, 2], &[0], true),
            (Ltl::until(a(), b()), &[], &[1], false),
            (Ltl::weak_until(a(), b()), &[], &[1], true),
            (Ltl::release(a(), b()), &[2, 3], &[0], true),
            (Ltl::release(a(), b()), &[2, 1], &[0], false),
            (Ltl::release(a(), b()), &[], &[2], true),
            (Ltl::strong_release(a(), b()), &[], &[2], false),
            (Ltl::strong_release(a(), b()), &[2, 2, 3], &[0], true),
            (Ltl::globally(Ltl::finally(a())), &[], &[0, 0, 1], true),
            (Ltl::finally(Ltl::globally(a())), &[0], &[1, 1, 0], false),
        ];
        for (ltl, prefix, cycle, expected) in cases {
            assert_eq!(ltl.holds_on_lasso(prefix, cycle), *expected, "{ltl:?} on {prefix:?} {cycle:?}");
        }
    }

    #[test]
    fn an_empty_cycle_repeats_the_last_letter() {
        assert!(Ltl::finally(Ltl::globally(a())).holds_on_lasso(&[0, 1], &[]));
        assert!(!Ltl::finally(a()).holds_on_lasso(&[], &[]));
    }

    #[test]
    fn atoms_beyond_the_letter_are_false() {
        assert!(!Ltl::atom(Atom::new(64)).holds_on_lasso(&[u64::MAX], &[u64::MAX]));
    }
}
