//! A formula with the meaning of its atoms.

use std::fmt;

use pdnet_base::IndexVec;

use crate::{Atom, AtomSyntax, Ltl};

/// A parsed property: the tree over numbered atoms, and the atoms. Equal atoms have one number, and
/// numbers are given in the order in which the atoms first occur in the text.
///
/// Equality ignores where in the text things stand. `Display` prints the one canonical spelling, which
/// parses to an equal formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The tree.
    pub ltl: Ltl,
    /// What the atoms are.
    pub atoms: IndexVec<Atom, AtomSyntax>,
}

impl Formula {
    /// The canonical text of each atom, in order: the names for [`translate`](crate::translate).
    #[must_use]
    pub fn atom_names(&self) -> Vec<String> {
        self.atoms.iter().map(ToString::to_string).collect()
    }

    /// The same atoms under the negated formula.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self { ltl: self.ltl.negated(), atoms: self.atoms.clone() }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ltl.display(&self.atom_names()))
    }
}
