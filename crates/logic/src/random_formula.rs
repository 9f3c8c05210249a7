//! Random formulas, for tests inside of this room.

use pdnet_base::{Idx as _, Rng};

use crate::{Atom, Ltl};

/// A formula of this depth over so many atoms; `last` makes one of the kinds of formulas of another one.
pub(crate) fn random_formula(rng: &mut Rng, depth: usize, (n_atoms, last): (usize, fn(Ltl) -> Ltl)) -> Ltl {
    if depth == 0 {
        return Ltl::Atom(Atom::new(rng.below(n_atoms)));
    }
    let mut part = || random_formula(rng, depth - 1, (n_atoms, last));
    let (f, g) = (part(), part());
    match rng.below(9) {
        0 => Ltl::not(f),
        1 => Ltl::and(f, g),
        2 => Ltl::or(f, g),
        3 => Ltl::finally(f),
        4 => Ltl::globally(f),
        5 => Ltl::until(f, g),
        6 => Ltl::weak_until(f, g),
        7 => Ltl::release(f, g),
        _ => last(f),
    }
}
