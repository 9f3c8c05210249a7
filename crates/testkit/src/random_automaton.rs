//! Random automata over atoms, as properties.

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{AtomData, Property, PropertyKind};
use pdnet_logic::{Atom, AutState, Automaton, AutomatonBuilder, Guard, Ltl, translate};

/// A small automaton over atoms 0 to `n_atoms - 1`. It may be nondeterministic and incomplete, have states that
/// nothing leads to or from which nothing is accepted, none to two acceptance sets, and a state that accepts
/// everything.
#[must_use]
pub fn random_automaton(rng: &mut Rng, n_atoms: usize, max_states: usize) -> Automaton {
    let n_acceptance = *rng.pick(&[0, 1, 1, 1, 1, 2]);
    let mut builder = AutomatonBuilder::new(n_acceptance);
    let mut states: Vec<AutState> = (0..=rng.below(max_states)).map(|_| builder.add_state()).collect();
    let sources = states.clone();
    if rng.chance(30) {
        states.push(builder.add_accept_all());
    }
    let by_state = rng.chance(50);
    for &source in &sources {
        if by_state && rng.chance(40) {
            builder.mark_state(source, 1 << rng.below(2));
        }
        for _ in 0..1 + rng.below(3) {
            let sets = if !by_state && rng.chance(40) { 1 << rng.below(2) } else { 0 };
            let target = *rng.pick(&states);
            builder.add_edge(source, random_guard(rng, n_atoms), target, sets);
        }
    }
    let first = if rng.chance(20) { &sources[..] } else { &sources[..1] };
    let names = (0..n_atoms).map(|atom| format!("p{atom}")).collect();
    builder.finish(first, names).expect("a small automaton")
}

fn random_guard(rng: &mut Rng, n_atoms: usize) -> Guard {
    let literal = |rng: &mut Rng| {
        let atom = Guard::Atom(Atom::new(rng.below(n_atoms)));
        if rng.chance(50) { atom } else { atom.negated() }
    };
    match rng.below(6) {
        0 | 1 => Guard::True,
        2 | 3 => literal(rng),
        4 => literal(rng).and(literal(rng)),
        _ => literal(rng).or(literal(rng)),
    }
}

/// The property that no run is accepted.
#[must_use]
pub fn never_property(name: &str, automaton: Automaton, atoms: Vec<AtomData>) -> Property {
    let kind = PropertyKind::Never { automaton, atoms, stutter_invariant: false };
    Property { name: name.to_owned(), text: "never".to_owned(), class: "valid-ltl", kind }
}

/// A formula as the property that no run is accepted by the automaton of its negation.
///
/// # Panics
/// Where the formula is too large to be translated.
#[must_use]
pub fn never_of_formula(name: &str, formula: &Ltl, atoms: Vec<AtomData>) -> Property {
    let names = atoms.iter().map(|atom| atom.text.clone()).collect();
    let automaton = translate(&formula.negated(), names).expect("a small formula");
    let kind = PropertyKind::Never { automaton, atoms, stutter_invariant: formula.is_stutter_invariant() };
    Property { name: name.to_owned(), text: format!("never {formula:?}"), class: "valid-ltl", kind }
}
