//! Sizes of automata. The table pins what we obtain, so that a change of the translation that makes automata
//! larger is seen. The last column is a number of states that must not be exceeded: the sizes that Spot
//! is known for on the standard examples, and cases in which one or two states are evidently enough. A 0
//! says that we compared with nothing: such a row only pins our own size.

mod support;

use pdnet_logic::{Automaton, translate};
use support::parse;

fn automaton(text: &str) -> Automaton {
    let formula = parse(text);
    translate(&formula.ltl, formula.atom_names()).expect("within the limits")
}

/// Formula, states, edges, acceptance sets, and the number of states not to exceed (0: none known).
type Row = (&'static str, usize, usize, u32, usize);

fn check(rows: &[Row]) {
    let mut wrong = String::new();
    for &(text, states, edges, sets, known) in rows {
        let automaton = automaton(text);
        let found = (automaton.n_states(), automaton.n_edges(), automaton.n_acceptance);
        if found != (states, edges, sets) {
            wrong += &format!("{text}: {found:?} instead of {:?}\n", (states, edges, sets));
        }
        assert!(known == 0 || states <= known, "{text}: {states} states are more than {known}");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn basic_formulas_have_the_smallest_automata() {
    check(&[
        ("true", 1, 1, 0, 1),
        ("false", 1, 0, 0, 1),
        ("G p", 1, 1, 0, 1),
        ("F p", 2, 3, 1, 2),
        ("X X p", 4, 4, 0, 0),
        ("p U q", 2, 3, 1, 2),
        ("p W q", 2, 3, 0, 2),
        ("p R q", 2, 3, 0, 2),
        ("p M q", 2, 3, 1, 2),
        ("G F p", 1, 2, 1, 1),
        ("F G p", 2, 3, 1, 2),
        ("G(p -> F q)", 2, 5, 1, 2),
        ("!G(p -> F q)", 2, 3, 1, 0),
        ("G(p -> (q U r))", 2, 5, 1, 0),
        ("!G(p -> (q U r))", 3, 6, 1, 0),
        ("F(p && F q)", 3, 6, 1, 0),
        ("G F a && G F b", 1, 4, 2, 1),
        ("G F a || G F b", 1, 3, 1, 1),
        ("G F a && G F b && G F c && G F d", 1, 16, 4, 1),
        ("G F(a && X F b)", 1, 4, 2, 0),
        ("F G a || F G b", 3, 5, 1, 0),
        ("!(G F a -> G F b)", 2, 4, 1, 2),
        ("G F a -> G F b", 4, 8, 1, 0),
        ("!((G F p0 && G F p1 && G F p2) -> G F q)", 2, 10, 3, 0),
        ("(G F p0 && G F p1 && G F p2) -> G F q", 6, 14, 1, 0),
        ("(G F a -> G F b) && (G F c -> G F d)", 8, 22, 2, 0),
        ("p1 U (p2 U (p3 U p4))", 4, 10, 1, 0),
        ("!(p1 U (p2 U (p3 U p4)))", 4, 10, 0, 0),
        ("(p U q) && (r U s)", 4, 9, 1, 0),
        ("F a && F b && F c", 8, 27, 1, 0),
        ("G(a || X b)", 2, 4, 0, 0),
    ]);
}

/// Dwyer, Avrunin, Corbett: Property Specification Patterns for Finite-State Verification, 1998. The
/// scopes are, in order: globally, before r, after q, between q and r, after q until r.
#[test]
fn specification_patterns_have_small_automata() {
    check(&[
        // absence
        ("G !p", 1, 1, 0, 1),
        ("F r -> (!p U r)", 4, 7, 1, 0),
        ("G(q -> G !p)", 2, 3, 0, 0),
        ("G((q && !r && F r) -> (!p U r))", 3, 7, 1, 0),
        ("G(q && !r -> (!p W r))", 2, 5, 0, 0),
        // existence
        ("!r W (p && !r)", 2, 3, 0, 2),
        ("G !q || F(q && F p)", 5, 11, 1, 0),
        ("G(q && !r -> (!r W (p && !r)))", 2, 6, 0, 0),
        ("G(q && !r -> (!r U (p && !r)))", 2, 6, 1, 0),
        // precedence
        ("!p W s", 2, 3, 0, 2),
        ("F r -> (!p U (s || r))", 4, 9, 1, 0),
        ("G !q || F(q && (!p W s))", 5, 11, 1, 0),
        ("G((q && !r && F r) -> (!p U (s || r)))", 3, 9, 1, 0),
        // response
        ("G(p -> F s)", 2, 5, 1, 2),
        ("F r -> ((p -> (!r U (s && !r))) U r)", 5, 13, 1, 0),
        ("G(q -> G(p -> F s))", 3, 9, 1, 0),
        ("G((q && !r && F r) -> ((p -> (!r U (s && !r))) U r))", 4, 13, 1, 0),
        ("G(q && !r -> ((p -> (!r U (s && !r))) W r))", 3, 11, 1, 0),
    ]);
}

/// The negations are what a model checker runs.
#[test]
fn negated_patterns_have_small_automata() {
    check(&[
        ("!(F r -> (!p U r))", 3, 5, 1, 0),
        ("!G(q -> G !p)", 3, 6, 1, 0),
        ("!G((q && !r && F r) -> (!p U r))", 4, 8, 1, 0),
        ("!G(q && !r -> (!p W r))", 3, 6, 1, 0),
        ("!(!r W (p && !r))", 2, 3, 1, 0),
        ("!G(q && !r -> ((p -> (!r U (s && !r))) W r))", 4, 8, 1, 0),
        ("!G((q && !r && F r) -> ((p -> (!r U (s && !r))) U r))", 4, 8, 1, 0),
    ]);
}

#[test]
fn a_state_that_accepts_everything_is_recognised() {
    let automaton = automaton("F p");
    let universal: Vec<bool> =
        automaton.states.indices().map(|state| automaton.is_universal_from(state)).collect();
    assert_eq!(universal.iter().filter(|&&universal| universal).count(), 1);
    assert!(!automaton.is_universal_from(automaton.initial));
}
