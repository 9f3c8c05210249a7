//! What is to be checked.

use std::fmt;

use pdnet_logic::Ltl;
use pdnet_net::{Expr, Transition};

/// A property of a net.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name for people and scripts: `assert`, `deadlock`, or the name of a formula.
    pub name: String,
    /// The property in the words of the user, printed in one spelling.
    pub text: String,
    /// The word for the verdict line: `unreach-call`, `no-deadlock`, `valid-ltl`.
    pub class: &'static str,
    /// What it says of the net.
    pub kind: PropertyKind,
}

/// The kinds of properties.
#[derive(Clone, Debug)]
pub enum PropertyKind {
    /// None of these transitions ever fires (assertions, error calls, faults). A run that fires one is a
    /// violation whatever comes after it.
    NeverFires(Vec<Transition>),
    /// No reachable deadlock.
    NoDeadlock,
    /// The formula holds on every infinite run; a run that ends or deadlocks repeats its last state.
    Ltl {
        /// The formula (not negated), over the atoms by number.
        formula: Ltl,
        /// What the atoms mean.
        atoms: Vec<AtomData>,
    },
}

/// An atom of a formula.
#[derive(Clone, Debug)]
pub struct AtomData {
    /// How it is written.
    pub text: String,
    /// When it is true: non-zero in a marking.
    pub expr: Expr,
}

/// Which infinite runs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those in which a thread that can move from some point on, moves again and again.
    Weak,
    /// Those in which a thread that can move again and again, moves again and again.
    Strong,
}

impl fmt::Display for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Strong => "strong",
        })
    }
}
