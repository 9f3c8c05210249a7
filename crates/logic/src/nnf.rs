//! Negation normal form.

use crate::Ltl;

impl Ltl {
    /// The negation normal form: the same meaning with `And`, `Or`, `Next`, `Until`, `Release`, the
    /// constants, atoms and negated atoms only (Baier, Katoen: Principles of Model Checking, section 5.1.5).
    ///
    /// `<->` and `xor` double their operands, so the tree can grow exponentially in the number of nested
    /// ones. [`translate`](crate::translate) shares equal subformulas instead and does not suffer from it.
    #[must_use]
    pub fn to_nnf(&self) -> Self {
        self.nnf(false)
    }

    /// The normal form of the formula, or of its negation.
    fn nnf(&self, negate: bool) -> Self {
        // In each pair below the second form is the dual of the first.
        let pick =
            |plain: fn(Self, Self) -> Self, dual: fn(Self, Self) -> Self| if negate { dual } else { plain };
        match self {
            Self::True => Self::constant(!negate),
            Self::False => Self::constant(negate),
            Self::Atom(atom) if negate => Self::not(Self::Atom(*atom)),
            Self::Atom(atom) => Self::Atom(*atom),
            Self::Not(f) => f.nnf(!negate),
            Self::And(f, g) => pick(Self::and, Self::or)(f.nnf(negate), g.nnf(negate)),
            Self::Or(f, g) => pick(Self::or, Self::and)(f.nnf(negate), g.nnf(negate)),
            Self::Implies(f, g) => pick(Self::or, Self::and)(f.nnf(!negate), g.nnf(negate)),
            Self::Iff(f, g) => Self::same(f, g, negate),
            Self::Xor(f, g) => Self::same(f, g, !negate),
            Self::Next(f) => Self::next(f.nnf(negate)),
            Self::Finally(f) => pick(Self::until, Self::release)(Self::constant(!negate), f.nnf(negate)),
            Self::Globally(f) => pick(Self::release, Self::until)(Self::constant(negate), f.nnf(negate)),
            Self::Until(f, g) => pick(Self::until, Self::release)(f.nnf(negate), g.nnf(negate)),
            Self::Release(f, g) => pick(Self::release, Self::until)(f.nnf(negate), g.nnf(negate)),
            Self::WeakUntil(f, g) => {
                // f W g = g R (f || g)
                let (f, g) = (f.nnf(negate), g.nnf(negate));
                pick(Self::release, Self::until)(g.clone(), pick(Self::or, Self::and)(f, g))
            }
            Self::StrongRelease(f, g) => {
                // f M g = g U (f && g)
                let (f, g) = (f.nnf(negate), g.nnf(negate));
                pick(Self::until, Self::release)(g.clone(), pick(Self::and, Self::or)(f, g))
            }
        }
    }

    fn constant(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }

    /// The normal form of `f <-> g`, or of its negation.
    fn same(f: &Self, g: &Self, negate: bool) -> Self {
        Self::or(Self::and(f.nnf(false), g.nnf(negate)), Self::and(f.nnf(true), g.nnf(!negate)))
    }
}
