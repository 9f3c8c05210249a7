//! Formulas that are invariants: `G p` and `!F p` with `p` free of temporal operators.

use pdnet_base::Idx as _;
use pdnet_logic::{Atom, Ltl};

/// A condition on letters.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    formula: Ltl,
    negated: bool,
}

/// The condition that every state must meet, where the formula is an invariant.
pub(crate) fn condition(formula: &Ltl) -> Option<Condition> {
    let found =
        |inner: &Ltl, negated| is_propositional(inner).then(|| Condition { formula: inner.clone(), negated });
    match formula {
        Ltl::Globally(inner) => found(inner, false),
        Ltl::Not(inner) => match &**inner {
            Ltl::Finally(inner) => found(inner, true),
            Ltl::Not(inner) => condition(inner),
            Ltl::True
            | Ltl::False
            | Ltl::Atom(_)
            | Ltl::And(..)
            | Ltl::Or(..)
            | Ltl::Implies(..)
            | Ltl::Iff(..)
            | Ltl::Xor(..)
            | Ltl::Next(_)
            | Ltl::Globally(_)
            | Ltl::Until(..)
            | Ltl::WeakUntil(..)
            | Ltl::Release(..)
            | Ltl::StrongRelease(..) => None,
        },
        Ltl::True
        | Ltl::False
        | Ltl::Atom(_)
        | Ltl::And(..)
        | Ltl::Or(..)
        | Ltl::Implies(..)
        | Ltl::Iff(..)
        | Ltl::Xor(..)
        | Ltl::Next(_)
        | Ltl::Finally(_)
        | Ltl::Until(..)
        | Ltl::WeakUntil(..)
        | Ltl::Release(..)
        | Ltl::StrongRelease(..) => None,
    }
}

impl Condition {
    /// Whether it makes no difference in states at which the atom is true.
    pub(crate) fn ignores(&self, unseen: Atom) -> bool {
        let formula = self.formula.clone();
        if self.negated { Ltl::finally(formula) } else { Ltl::globally(formula) }.ignores(unseen)
    }

    /// Whether a letter meets it.
    pub(crate) fn holds(&self, letter: u64) -> bool {
        truth(&self.formula, letter) != self.negated
    }
}

fn is_propositional(formula: &Ltl) -> bool {
    !formula.any(&mut |inner| match inner {
        Ltl::Next(_)
        | Ltl::Finally(_)
        | Ltl::Globally(_)
        | Ltl::Until(..)
        | Ltl::WeakUntil(..)
        | Ltl::Release(..)
        | Ltl::StrongRelease(..) => true,
        Ltl::True
        | Ltl::False
        | Ltl::Atom(_)
        | Ltl::Not(_)
        | Ltl::And(..)
        | Ltl::Or(..)
        | Ltl::Implies(..)
        | Ltl::Iff(..)
        | Ltl::Xor(..) => false,
    })
}

/// The truth of a propositional formula. Temporal operators do not occur; were there one, its operand
/// decides.
fn truth(formula: &Ltl, letter: u64) -> bool {
    match formula {
        Ltl::True => true,
        Ltl::False => false,
        Ltl::Atom(atom) => atom.index() < 64 && letter >> atom.index() & 1 == 1,
        Ltl::Not(f) => !truth(f, letter),
        Ltl::And(f, g) => truth(f, letter) && truth(g, letter),
        Ltl::Or(f, g) => truth(f, letter) || truth(g, letter),
        Ltl::Implies(f, g) => !truth(f, letter) || truth(g, letter),
        Ltl::Iff(f, g) => truth(f, letter) == truth(g, letter),
        Ltl::Xor(f, g) => truth(f, letter) != truth(g, letter),
        Ltl::Next(f) | Ltl::Finally(f) | Ltl::Globally(f) => truth(f, letter),
        Ltl::Until(_, g) | Ltl::WeakUntil(_, g) | Ltl::Release(_, g) | Ltl::StrongRelease(_, g) => {
            truth(g, letter)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invariants_are_recognised() {
        let p = || Ltl::atom(Atom::new(0));
        let q = || Ltl::atom(Atom::new(1));
        let always = condition(&Ltl::globally(Ltl::implies(p(), q()))).unwrap();
        assert!(always.holds(0) && always.holds(3) && !always.holds(1));
        let never = condition(&Ltl::not(Ltl::finally(Ltl::and(p(), q())))).unwrap();
        assert!(never.holds(1) && !never.holds(3));
        assert!(condition(&Ltl::not(Ltl::not(Ltl::globally(p())))).is_some());
        assert!(condition(&Ltl::globally(Ltl::finally(p()))).is_none());
        assert!(condition(&Ltl::finally(p())).is_none());
    }
}
