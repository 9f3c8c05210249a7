//! Automata as text.

mod support;

use expect_test::{Expect, expect};
use pdnet_logic::translate;
use support::parse;

fn check_hoa(text: &str, expected: &Expect) {
    let formula = parse(text);
    let automaton = translate(&formula.ltl, formula.atom_names()).expect("within the limits");
    expected.assert_eq(&automaton.to_hoa(&formula.to_string()));
}

#[test]
fn response_in_hoa() {
    check_hoa(
        "G(x == 1 -> F \"y && z\")",
        &expect![[r#"
        HOA: v1
        name: "G(x == 1 -> F \"y && z\")"
        States: 2
        Start: 0
        AP: 2 "x == 1" "\"y && z\""
        acc-name: Buchi
        Acceptance: 1 Inf(0)
        properties: trans-labels explicit-labels trans-acc no-univ-branch deterministic
        --BODY--
        State: 0
        [!0&!1] 0 {0}
        [0&!1] 1
        [1] 0 {0}
        State: 1
        [!1] 1
        [1] 0 {0}
        --END--
    "#]],
    );
}

#[test]
fn safety_has_no_acceptance_set() {
    check_hoa(
        "G p",
        &expect![[r#"
        HOA: v1
        name: "G p"
        States: 1
        Start: 0
        AP: 1 "p"
        acc-name: all
        Acceptance: 0 t
        properties: trans-labels explicit-labels trans-acc no-univ-branch deterministic
        --BODY--
        State: 0
        [0] 0
        --END--
    "#]],
    );
}

#[test]
fn two_recurrences_in_hoa() {
    check_hoa(
        "G F a && G F b",
        &expect![[r#"
        HOA: v1
        name: "G F a && G F b"
        States: 1
        Start: 0
        AP: 2 "a" "b"
        acc-name: generalized-Buchi 2
        Acceptance: 2 Inf(0)&Inf(1)
        properties: trans-labels explicit-labels trans-acc no-univ-branch deterministic
        --BODY--
        State: 0
        [!0&!1] 0
        [0&!1] 0 {0}
        [!0&1] 0 {1}
        [0&1] 0 {0 1}
        --END--
    "#]],
    );
}

#[test]
fn the_empty_language_in_hoa() {
    check_hoa(
        "p && !p",
        &expect![[r#"
        HOA: v1
        name: "p && !p"
        States: 1
        Start: 0
        AP: 1 "p"
        acc-name: all
        Acceptance: 0 t
        properties: trans-labels explicit-labels trans-acc no-univ-branch deterministic
        --BODY--
        State: 0
        --END--
    "#]],
    );
}

#[test]
fn a_drawing() {
    let formula = parse("p U x == 1");
    let automaton = translate(&formula.ltl, formula.atom_names()).expect("within the limits");
    expect![[r#"
        digraph "until" {
          rankdir=LR;
          label="until";
          node [shape=circle];
          start [shape=point, label=""];
          start -> 0;
          0 [label="0"];
          0 -> 0 [label="p && !(x == 1)"];
          0 -> 1 [label="x == 1"];
          1 [label="1"];
          1 -> 1 [label="true {0}"];
        }
    "#]]
    .assert_eq(&automaton.to_dot("until"));
}
