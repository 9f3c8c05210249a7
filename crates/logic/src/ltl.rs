//! The formula tree.

use std::fmt;

use pdnet_base::{Idx as _, index_type};

index_type! {
    /// An atom of a formula: bit number `index()` of a letter.
    pub struct Atom = "a";
}

/// How many atoms a formula may have. A letter is a `u64`, so that engines compare labels with two
/// machine instructions; no property that a person writes comes near this limit.
pub const MAX_ATOMS: usize = 64;

/// A formula of linear temporal logic over numbered atoms.
///
/// The tree keeps what the user wrote; [`Ltl::to_nnf`] and [`Ltl::simplify`] make normal forms of it.
/// Functions on trees are recursive. The parser bounds the depth of what it builds, so that no input
/// text can exhaust the stack; code that builds trees itself should keep them equally shallow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ltl {
    /// Holds always.
    True,
    /// Holds never.
    False,
    /// Holds where the first letter has this bit.
    Atom(Atom),
    /// `!f`
    Not(Box<Self>),
    /// `f && g`
    And(Box<Self>, Box<Self>),
    /// `f || g`
    Or(Box<Self>, Box<Self>),
    /// `f -> g`
    Implies(Box<Self>, Box<Self>),
    /// `f <-> g`
    Iff(Box<Self>, Box<Self>),
    /// `f xor g`
    Xor(Box<Self>, Box<Self>),
    /// `X f`: after one step.
    Next(Box<Self>),
    /// `F f`: now or later.
    Finally(Box<Self>),
    /// `G f`: now and always.
    Globally(Box<Self>),
    /// `f U g`: `g` comes, and until then `f` holds.
    Until(Box<Self>, Box<Self>),
    /// `f W g`: like `U`, but `g` need not come if `f` holds forever.
    WeakUntil(Box<Self>, Box<Self>),
    /// `f R g`: `g` holds up to and including the moment at which `f` holds, forever if `f` never does.
    Release(Box<Self>, Box<Self>),
    /// `f M g`: like `R`, but `f` must come.
    StrongRelease(Box<Self>, Box<Self>),
}

/// Constructors that box, so that rewriting code reads like the formula.
impl Ltl {
    /// The atom of that number.
    #[must_use]
    pub fn atom(atom: Atom) -> Self {
        Self::Atom(atom)
    }

    /// `!f`, exactly; see [`Ltl::negated`] for one that folds double negations.
    #[expect(clippy::should_implement_trait, reason = "named like the other constructors")]
    #[must_use]
    pub fn not(f: Self) -> Self {
        Self::Not(Box::new(f))
    }

    /// `f && g`
    #[must_use]
    pub fn and(f: Self, g: Self) -> Self {
        Self::And(Box::new(f), Box::new(g))
    }

    /// `f || g`
    #[must_use]
    pub fn or(f: Self, g: Self) -> Self {
        Self::Or(Box::new(f), Box::new(g))
    }

    /// `f -> g`
    #[must_use]
    pub fn implies(f: Self, g: Self) -> Self {
        Self::Implies(Box::new(f), Box::new(g))
    }

    /// `f <-> g`
    #[must_use]
    pub fn iff(f: Self, g: Self) -> Self {
        Self::Iff(Box::new(f), Box::new(g))
    }

    /// `f xor g`
    #[must_use]
    pub fn xor(f: Self, g: Self) -> Self {
        Self::Xor(Box::new(f), Box::new(g))
    }

    /// `X f`
    #[must_use]
    pub fn next(f: Self) -> Self {
        Self::Next(Box::new(f))
    }

    /// `F f`
    #[must_use]
    pub fn finally(f: Self) -> Self {
        Self::Finally(Box::new(f))
    }

    /// `G f`
    #[must_use]
    pub fn globally(f: Self) -> Self {
        Self::Globally(Box::new(f))
    }

    /// `f U g`
    #[must_use]
    pub fn until(f: Self, g: Self) -> Self {
        Self::Until(Box::new(f), Box::new(g))
    }

    /// `f W g`
    #[must_use]
    pub fn weak_until(f: Self, g: Self) -> Self {
        Self::WeakUntil(Box::new(f), Box::new(g))
    }

    /// `f R g`
    #[must_use]
    pub fn release(f: Self, g: Self) -> Self {
        Self::Release(Box::new(f), Box::new(g))
    }

    /// `f M g`
    #[must_use]
    pub fn strong_release(f: Self, g: Self) -> Self {
        Self::StrongRelease(Box::new(f), Box::new(g))
    }
}

/// Questions about the tree.
impl Ltl {
    /// The negation; a formula that is a negation already loses it, and constants are swapped, so that
    /// a person who reads the negated property sees no `!!`.
    #[must_use]
    pub fn negated(&self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Not(f) => (**f).clone(),
            Self::Atom(_)
            | Self::And(..)
            | Self::Or(..)
            | Self::Implies(..)
            | Self::Iff(..)
            | Self::Xor(..)
            | Self::Next(_)
            | Self::Finally(_)
            | Self::Globally(_)
            | Self::Until(..)
            | Self::WeakUntil(..)
            | Self::Release(..)
            | Self::StrongRelease(..) => Self::not(self.clone()),
        }
    }

    /// The direct subformulas, from left to right.
    #[must_use]
    pub fn children(&self) -> (Option<&Self>, Option<&Self>) {
        match self {
            Self::True | Self::False | Self::Atom(_) => (None, None),
            Self::Not(f) | Self::Next(f) | Self::Finally(f) | Self::Globally(f) => (Some(f), None),
            Self::And(f, g)
            | Self::Or(f, g)
            | Self::Implies(f, g)
            | Self::Iff(f, g)
            | Self::Xor(f, g)
            | Self::Until(f, g)
            | Self::WeakUntil(f, g)
            | Self::Release(f, g)
            | Self::StrongRelease(f, g) => (Some(f), Some(g)),
        }
    }

    /// Whether `predicate` is true of the formula or of some subformula.
    pub fn any(&self, predicate: &mut impl FnMut(&Self) -> bool) -> bool {
        let (left, right) = self.children();
        predicate(self) || left.is_some_and(|f| f.any(predicate)) || right.is_some_and(|f| f.any(predicate))
    }

    /// The number of operators, constants and occurrences of atoms.
    #[must_use]
    pub fn size(&self) -> usize {
        let (left, right) = self.children();
        1 + left.map_or(0, Self::size) + right.map_or(0, Self::size)
    }

    /// One more than the highest atom that occurs, 0 where none does.
    #[must_use]
    pub fn n_atoms(&self) -> usize {
        if let Self::Atom(atom) = self {
            return atom.index() + 1;
        }
        let (left, right) = self.children();
        left.map_or(0, Self::n_atoms).max(right.map_or(0, Self::n_atoms))
    }

    /// Whether `X` occurs. Reductions that merge or drop steps must be off for such a formula.
    #[must_use]
    pub fn uses_next(&self) -> bool {
        self.any(&mut |f| matches!(f, Self::Next(_)))
    }

    /// Whether the formula certainly cannot tell a run from the same run with states repeated, judged by
    /// its syntax: without `X` it cannot (Lamport: What Good is Temporal Logic?, 1983). A formula with
    /// `X` may be stutter-invariant too; we then say no, which costs reductions and never correctness.
    #[must_use]
    pub fn is_stutter_invariant(&self) -> bool {
        !self.uses_next()
    }

    /// Whether the syntax shows a safety property: one that every violating run violates after finitely
    /// many steps. That is so where the negation normal form has no `U`, `F` or `M` (Sistla: Safety,
    /// liveness and fairness in temporal logic, 1994). A safety property may fail this test.
    #[must_use]
    pub fn is_syntactic_safety(&self) -> bool {
        self.is_safety(true)
    }

    /// The safety test under an even (`positive`) or odd number of negations.
    fn is_safety(&self, positive: bool) -> bool {
        match self {
            Self::True | Self::False | Self::Atom(_) => true,
            Self::Not(f) => f.is_safety(!positive),
            Self::And(f, g) | Self::Or(f, g) => f.is_safety(positive) && g.is_safety(positive),
            Self::Implies(f, g) => f.is_safety(!positive) && g.is_safety(positive),
            Self::Iff(f, g) | Self::Xor(f, g) => {
                [true, false].iter().all(|&sign| f.is_safety(sign) && g.is_safety(sign))
            }
            Self::Next(f) => f.is_safety(positive),
            Self::Finally(f) => !positive && f.is_safety(positive),
            Self::Globally(f) => positive && f.is_safety(positive),
            Self::Until(f, g) | Self::StrongRelease(f, g) => {
                !positive && f.is_safety(positive) && g.is_safety(positive)
            }
            Self::WeakUntil(f, g) | Self::Release(f, g) => {
                positive && f.is_safety(positive) && g.is_safety(positive)
            }
        }
    }

    /// The formula as text, with `names[i]` for atom `i` (`a7` where the table is too short).
    #[must_use]
    pub fn display<'a>(&'a self, names: &'a [String]) -> impl fmt::Display + use<'a> {
        DisplayLtl { ltl: self, names }
    }
}

/// The binding strengths of the canonical spelling, weakest first, in the order that Spot uses:
/// `<->`, `->`, `xor`, `||`, `&&`, then `U W R M`, then `!` and the unary temporal operators.
pub(crate) mod level {
    pub(crate) const LOWEST: u8 = 0;
    pub(crate) const IFF: u8 = 1;
    pub(crate) const IMPLIES: u8 = 2;
    pub(crate) const XOR: u8 = 3;
    pub(crate) const OR: u8 = 4;
    pub(crate) const AND: u8 = 5;
    pub(crate) const UNTIL: u8 = 6;
    pub(crate) const PREFIX: u8 = 7;
}

struct DisplayLtl<'a> {
    ltl: &'a Ltl,
    names: &'a [String],
}

impl fmt::Display for DisplayLtl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.ltl, level::LOWEST)
    }
}

/// What the printer does with a node.
enum Shape<'a> {
    Leaf(&'static str),
    Atom(Atom),
    Prefix(&'static str, &'a Ltl),
    /// Operator, its level, the levels that the left and the right operand must have, the operands.
    Infix(&'static str, u8, (u8, u8), &'a Ltl, &'a Ltl),
}

impl DisplayLtl<'_> {
    fn shape(ltl: &Ltl) -> Shape<'_> {
        use level::{AND, IFF, IMPLIES, OR, UNTIL, XOR};
        let left = |text, level, f, g| Shape::Infix(text, level, (level, level + 1), f, g);
        let right = |text, level, f, g| Shape::Infix(text, level, (level + 1, level), f, g);
        match ltl {
            Ltl::True => Shape::Leaf("true"),
            Ltl::False => Shape::Leaf("false"),
            Ltl::Atom(atom) => Shape::Atom(*atom),
            Ltl::Not(f) => Shape::Prefix("!", f),
            Ltl::Next(f) => Shape::Prefix("X", f),
            Ltl::Finally(f) => Shape::Prefix("F", f),
            Ltl::Globally(f) => Shape::Prefix("G", f),
            Ltl::And(f, g) => left("&&", AND, f, g),
            Ltl::Or(f, g) => left("||", OR, f, g),
            Ltl::Xor(f, g) => left("xor", XOR, f, g),
            Ltl::Implies(f, g) => right("->", IMPLIES, f, g),
            Ltl::Iff(f, g) => right("<->", IFF, f, g),
            Ltl::Until(f, g) => right("U", UNTIL, f, g),
            Ltl::WeakUntil(f, g) => right("W", UNTIL, f, g),
            Ltl::Release(f, g) => right("R", UNTIL, f, g),
            Ltl::StrongRelease(f, g) => right("M", UNTIL, f, g),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, ltl: &Ltl, min: u8) -> fmt::Result {
        match Self::shape(ltl) {
            Shape::Leaf(text) => f.write_str(text),
            Shape::Atom(atom) => match self.names.get(atom.index()) {
                // `G x == 0` would parse, but people would wonder.
                Some(name) if min >= level::PREFIX && !is_compact(name) => write!(f, "({name})"),
                Some(name) => f.write_str(name),
                None => write!(f, "{atom}"),
            },
            Shape::Prefix(text, inner) => {
                f.write_str(text)?;
                if text != "!" && !self.starts_with_parenthesis(inner) {
                    f.write_str(" ")?;
                }
                self.write(f, inner, level::PREFIX)
            }
            Shape::Infix(text, own, (left, right), first, second) => {
                if own < min {
                    f.write_str("(")?;
                }
                self.write(f, first, left)?;
                write!(f, " {text} ")?;
                self.write(f, second, right)?;
                if own < min {
                    f.write_str(")")?;
                }
                Ok(())
            }
        }
    }

    /// Whether the operand of a prefix operator will be printed in parentheses.
    fn starts_with_parenthesis(&self, ltl: &Ltl) -> bool {
        match Self::shape(ltl) {
            Shape::Leaf(_) | Shape::Prefix(..) => false,
            Shape::Atom(atom) => self.names.get(atom.index()).is_some_and(|name| !is_compact(name)),
            Shape::Infix(..) => true,
        }
    }
}

/// Whether the text of an atom is one visual unit: quoted, or without a space outside of brackets.
fn is_compact(name: &str) -> bool {
    let mut depth = 0_u32;
    for c in name.chars() {
        match c {
            '"' => return name.starts_with('"') || depth > 0,
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return false,
            _ => {}
        }
    }
    true
}
