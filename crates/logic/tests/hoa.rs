//! Automata as they are read.

mod support;

use expect_test::{Expect, expect};
use pdnet_base::Rng;
use pdnet_logic::{HoaAutomaton, parse_hoa, translate};
use pdnet_source::{ColorChoice, SourceMap, render};
use support::{names, random_lasso, random_ltl};

fn read(text: &str) -> Result<HoaAutomaton, String> {
    let mut map = SourceMap::new();
    let file = map.add("bad.hoa", text);
    parse_hoa(&mut map, file).map_err(|diagnostic| render(&map, &diagnostic, ColorChoice::Plain))
}

fn accepts(text: &str, words: &[(&[u64], &[u64], bool)]) {
    let read = read(text).unwrap_or_else(|error| panic!("{error}"));
    for (prefix, cycle, expected) in words {
        let found = read.automaton.accepts_lasso(prefix, cycle);
        assert_eq!(found, *expected, "{text}\non {prefix:?} {cycle:?}");
    }
}

#[test]
fn what_is_written_is_read() {
    let seed = Rng::test_seed(1);
    let mut rng = Rng::new(seed);
    for case in 0..500 {
        let size = 1 + rng.below(12);
        let ltl = random_ltl(&mut rng, size, 3);
        let automaton = translate(&ltl, names(3)).expect("within the limits");
        let text = automaton.to_hoa("a \"name\" with a \\");
        let read = read(&text).unwrap_or_else(|error| panic!("seed {seed}, case {case}: {error}"));
        assert_eq!(read.name.as_deref(), Some("a \"name\" with a \\"));
        assert_eq!(read.automaton.to_hoa("a \"name\" with a \\"), text, "seed {seed}, case {case}");
        let (prefix, cycle) = random_lasso(&mut rng, 3);
        assert_eq!(
            read.automaton.accepts_lasso(&prefix, &cycle),
            ltl.holds_on_lasso(&prefix, &cycle),
            "seed {seed}, case {case}: {text}"
        );
    }
}

#[test]
fn acceptance_on_states_aliases_and_comments() {
    // F G a, with acceptance on states.
    let text = r#"HOA: v1 /* a /* nested */ comment */
        tool: "somebody" "1.0" name: "FGa"
        Alias: @a 0 Alias: @both @a & !(!@a | f)
        States: 2 Start: 0 AP: 1 "a"
        acc-name: Buchi Acceptance: 1 Inf(0)
        properties: state-acc stutter-invariant
        extra: 1 t "x"
        --BODY--
        State: 0 "waits" [t] 0 [@both] 1
        State: 1 {0} [@a] 1
        --END--"#;
    accepts(text, &[(&[0, 1], &[1], true), (&[], &[1, 0], false), (&[1], &[0], false)]);
    assert!(read(text).unwrap().stutter_invariant);
}

#[test]
fn labels_of_states_and_none_at_all() {
    let on_state = r#"HOA: v1 Start: 0 AP: 1 "a" Acceptance: 0 t --BODY--
        State: [0] 0 1 State: [!0] 1 0 --END--"#;
    accepts(on_state, &[(&[], &[1, 0], true), (&[], &[1], false), (&[], &[0, 1], false)]);
    let implicit = r#"HOA: v1 States: 2 Start: 0 AP: 2 "a" "b" Acceptance: 1 Inf(0) --BODY--
        State: 0 0 0 1 1 State: 1 {0} 0 0 1 1 --END--"#;
    // Letters 2 and 3, which have b, lead to the accepting state.
    accepts(implicit, &[(&[], &[2, 3], true), (&[2], &[1], false), (&[], &[0, 2], true)]);
}

#[test]
fn several_initial_states_and_sets() {
    let text = r#"HOA: v1 States: 2 Start: 0 Start: 1 AP: 2 "a" "b" Acceptance: 3 Inf(2)&(Inf(0)) --BODY--
        State: 0 [0] 0 {0 1} [1] 0 {2} State: 1 [!0&!1] 1 {0 2} --END--"#;
    accepts(text, &[(&[], &[1, 2], true), (&[], &[1], false), (&[], &[0], true), (&[0], &[1, 2], false)]);
}

#[test]
fn a_proposition_may_be_a_combination() {
    let text = r#"HOA: v1 States: 1 Start: 0 AP: 2 "x == 1 && !y" "\"y\"" Acceptance: 0 t --BODY--
        State: 0 [!0&1] 0 --END--"#;
    let read = read(text).unwrap_or_else(|error| panic!("{error}"));
    let atoms: Vec<String> = read.atoms.iter().map(ToString::to_string).collect();
    assert_eq!(atoms, ["x == 1", "y"]);
    accepts(text, &[(&[], &[2, 3], true), (&[], &[1], false), (&[], &[0], false)]);
}

fn check(text: &str, expected: &Expect) {
    match read(text) {
        Ok(_) => panic!("{text} was read"),
        Err(error) => expected.assert_eq(&error),
    }
}

#[test]
fn complaints_have_a_place() {
    check(
        "never { }",
        &expect![[r#"
        error[hoa-syntax]: expected `HOA:`, found `never`
         --> bad.hoa:1:1
          |
        1 | never { }
          | ^^^^^ expected `HOA:` here
          |
          = help: an automaton in the HOA format begins with `HOA: v1`
    "#]],
    );
    check(
        "HOA: v1\nAP: 1 \"a\"\nAcceptance: 2 Fin(0)&Inf(1)\n--BODY--\n--END--\n",
        &expect![[r#"
        error[hoa-acceptance]: this is no Büchi automaton
         --> bad.hoa:3:15
          |
        3 | Acceptance: 2 Fin(0)&Inf(1)
          |               ^^^ only `t`, `Inf(0)` and `Inf(0)&Inf(1)&…` can be checked
          |
          = help: Spot's `autfilt --ba` makes such an automaton of any other
    "#]],
    );
    check(
        "HOA: v1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0\n[0 & 1] 0\n--END--\n",
        &expect![[r#"
            error[hoa-label]: there is no atomic proposition 1
             --> bad.hoa:7:6
              |
            7 | [0 & 1] 0
              |      ^ there are 1, from 0 on
        "#]],
    );
    check(
        "HOA: v1\nStart: 0&1\n",
        &expect![[r#"
        error[hoa-alternation]: alternating automata cannot be checked
         --> bad.hoa:2:9
          |
        2 | Start: 0&1
          |         ^ a run would have to be in both states
          |
          = help: Spot's `autfilt --ba` makes an ordinary automaton of it
    "#]],
    );
    check(
        "HOA: v1\nAP: 1 \"F a\"\nAcceptance: 0 t\n--BODY--\n--END--\n",
        &expect![[r#"
        error[temporal-proposition]: an atomic proposition is about one state
         --> bad.hoa:2:8
          |
        2 | AP: 1 "F a"
          |        ^^^ this has a temporal operator
          |
          = help: what comes later is for the automaton to say
    "#]],
    );
    check(
        "HOA: v1\nAP: 1 \"a &&\"\nAcceptance: 0 t\n--BODY--\n--END--\n",
        &expect![[r#"
        error[missing-operand]: the formula ends where an operand should stand
         --> bad.hoa:2:12
          |
        2 | AP: 1 "a &&"
          |          --^ expected an operand here
          |          |
          |          `&&` needs a formula or an expression after it
    "#]],
    );
    check(
        "HOA: v1\nStates: 1\nStart: 0\nAP: 0\nAcceptance: 0 t\n--BODY--\nState: 0\n[t] 3\n--END--\n",
        &expect![[r#"
            error[hoa-state]: there is no state 3: there are 1, from 0 on
             --> bad.hoa:8:5
              |
            8 | [t] 3
              |     ^
        "#]],
    );
    check(
        "HOA: v1\nAcceptance: 0 t\n--BODY--\nState: 0\n[t] 0\n",
        &expect![[r#"
        error[hoa-syntax]: expected `State:` or `--END--`, found the end of the file
         --> bad.hoa:5:7
          |
        5 | [t] 0
          |      ^ expected `State:` or `--END--` here
    "#]],
    );
}

/// No text makes the reader panic or hang.
#[test]
fn damaged_files_are_refused_or_read() {
    let seed = Rng::test_seed(2);
    let mut rng = Rng::new(seed);
    let whole = r#"HOA: v1 States: 2 Start: 0 AP: 2 "a" "b == \"1\"" Alias: @x 0&!1 Acceptance: 2 Inf(0)&Inf(1)
        properties: stutter-invariant --BODY-- State: 0 "s" {0} [@x|(0)] 1 {1} State: [t] 1 0 --END--"#;
    assert!(read(&whole.replace("\\\"1\\\"", "1")).is_ok());
    let words: Vec<&str> = whole.split_inclusive([' ', '(', ')', '{', '}', '[', ']', '&']).collect();
    for _ in 0..3000 {
        let mut words = words.clone();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(words.len());
            match rng.below(3) {
                0 if words.len() > 1 => drop(words.remove(at)),
                1 => words.insert(
                    at,
                    *rng.pick(&["99999999999999999999 ", "& ", "\"", "--END-- ", "! ", "[ ", "/* "]),
                ),
                _ => words.truncate(at.max(1)),
            }
        }
        let _ = read(&words.concat());
    }
    let deep = format!("HOA: v1 AP: 0 Alias: @a {} t", "(".repeat(100_000));
    assert!(read(&deep).is_err());
    let doubling: String = (1..60).map(|n| format!(" Alias: @a{n} @a{}&!@a{}", n - 1, n - 1)).collect();
    assert!(read(&format!("HOA: v1 AP: 1 \"a\" Alias: @a0 0{doubling}")).is_err());
}
