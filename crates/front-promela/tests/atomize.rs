//! What `atomize` makes of small models: each rule, and each reason to leave a statement alone.

use pdnet_front_promela::{AtomizeOptions, Atomized, Rule, atomize, load_text, parse_formula};
use pdnet_source::SourceMap;

fn made(text: &str, formula: Option<&str>, options: &AtomizeOptions) -> Atomized {
    let mut map = SourceMap::new();
    let file = map.add("test.pml", text);
    let mut loaded = load_text(&mut map, file).expect("accepted");
    let block = formula.map(|formula| {
        let formula = map.add("formula", formula);
        parse_formula(&map, formula, "f", &mut loaded).expect("accepted")
    });
    let blocks: Vec<_> = block.iter().collect();
    let mut reload = |text: &str| {
        let mut map = SourceMap::new();
        let file = map.add("test.pml", text);
        load_text(&mut map, file).map(|loaded| loaded.model)
    };
    atomize(&map, file, &loaded, &blocks, options, &mut reload).expect("read again")
}

/// The body of a process with globals, channels and locals around it, and another process that uses them all.
fn model(body: &str) -> String {
    format!(
        "byte x, y; chan q = [2] of {{ byte }}; chan r = [0] of {{ byte }};\n\
         active proctype P() {{ byte i, k;\n{body}\n}}\n\
         active [2] proctype Q() {{ byte j; do :: q?j :: q!j :: r?j; x = y :: y = x od }}\n"
    )
}

/// Checks the body that comes out.
#[track_caller]
fn check(body: &str, expected: &str) {
    let text = made(&model(body), None, &AtomizeOptions::default()).text;
    assert_eq!(text, model(expected));
}

/// Checks that nothing is merged, and why.
#[track_caller]
fn refuse(body: &str, reason: &str) {
    let found = made(&model(body), None, &AtomizeOptions::default());
    assert_eq!(found.text, model(body));
    let reasons: Vec<&str> = found.kept.iter().map(|kept| kept.reason.as_str()).collect();
    assert!(reasons.iter().any(|found| found.contains(reason)), "{reasons:?} {:?}", found.obstacle);
}

#[test]
fn local_statements_follow_any_step() {
    check("x = 1; i = 2; k = i", "atomic { x = 1; i = 2; k = i }");
    check("q?i; k++ /* a comment */; x = k", "atomic { q?i; k++ } /* a comment */; x = k");
    check("(x == 1) ->\n  i = 1", "atomic { (x == 1) ->\n  i = 1 }");
}

#[test]
fn local_statements_wait_for_the_next_step() {
    check("i = 1; x = i", "atomic { i = 1; x = i }");
    // A send for which there may be no room waits.
    check("i = 1; q!i", "i = 1; q!i");
}

#[test]
fn what_spin_merges_by_itself_is_not_cut() {
    // Alone, it saves nothing; with more, the chain stays outside, also where a loop makes `skip` stay there.
    refuse("i = 1; k = 2; q?i", "SPIN makes one step of it");
    check("do :: skip; k = 2; x = k; i = 1; q?i od", "do :: skip; k = 2; atomic { x = k; i = 1 }; q?i od");
    refuse("do :: skip; k = 2; x = k od", "SPIN makes one step of it");
    // SPIN does not merge what begins one of several alternatives, or has a label, or is global.
    check("do :: k = 1; i = 2 :: q?i od", "do :: atomic { k = 1; i = 2 } :: q?i od");
    check("i = 1; here: k = 2; q?i", "atomic { i = 1; here: k = 2 }; q?i");
}

#[test]
fn what_waits_is_waited_for_only_when_asked() {
    refuse("(i == 1); q?k", "it may wait");
    refuse("(i == 1); (x == 1)", "it may wait");
    let options = AtomizeOptions { before_waits: true, ..AtomizeOptions::default() };
    assert_eq!(made(&model("(i == 1); q?k"), None, &options).text, model("atomic { (i == 1); q?k }"));
}

#[test]
fn guards_and_selections() {
    check(
        "do :: i < 2 -> x = i; i++ :: i >= 2 -> break od",
        "do :: i < 2 -> atomic { x = i; i++ } :: i >= 2 -> break od",
    );
    check(
        "x = 1; if :: i == 0 -> k = 1 :: else -> k = 2 fi",
        "atomic { x = 1; if :: i == 0 -> k = 1 :: else -> k = 2 fi }",
    );
    check(
        "if :: i == 0 -> x = 1 :: i != 0 -> y = 1 fi; k = 1",
        "atomic { if :: i == 0 -> x = 1 :: i != 0 -> y = 1 fi; k = 1 }",
    );
}

#[test]
fn a_selection_that_others_can_change_does_not_follow() {
    check(
        "x = 1; if :: i == 0 -> skip :: i == 1 -> skip fi",
        "atomic { x = 1; if :: i == 0 -> skip :: i == 1 -> skip fi }",
    );
    check(
        "x = 1; if :: i == 0 -> skip :: y == 1 -> skip fi",
        "x = 1; atomic { if :: i == 0 -> skip :: y == 1 -> skip fi }",
    );
}

#[test]
fn an_else_that_others_can_change_does_not_follow() {
    check(
        "y = 1; if :: x == 0 -> skip :: else -> skip fi",
        "y = 1; atomic { if :: x == 0 -> skip :: else -> skip fi }",
    );
}

#[test]
fn two_steps_that_others_see_stay_apart() {
    refuse("x = 1; y = 1", "what other processes or formulas see");
    refuse("x = 1; (y == 1)", "what other processes or formulas see");
    refuse("x = 1; q?i", "another process may receive");
    refuse("x = 1; q!1", "another process may send");
    refuse("x = 1; assert(y == 1)", "what other processes or formulas see");
}

#[test]
fn labels_that_mean_something_stay_outside() {
    refuse("x = 1; again: i = 1; goto again", "somebody jumps to the label `again`");
    refuse("x = 1; accept: i = 1", "the label `accept` is looked at");
    check("again: x = 1; i = 1; goto again", "again: atomic { x = 1; i = 1 }; goto again");
}

#[test]
fn nothing_moves_to_or_from_a_state_that_is_looked_at() {
    // Behind `i = 1` is a progress state: coming there earlier would hide a cycle without progress.
    check("x = 1; i = 1; progress: y = 1", "x = 1; i = 1; progress: y = 1");
    // Staying longer before `i = 1` would, too.
    check("progress: i = 1; x = 1", "progress: i = 1; x = 1");
}

#[test]
fn loops_escapes_timeouts_and_rendezvous() {
    check("do :: x = 1; y = 1 od; x = 2", "do :: x = 1; y = 1 od; x = 2");
    refuse("{ x = 1; i = 1 } unless { y == 1 }", "`unless`");
    refuse("i = 1; timeout; x = 1", "`timeout`");
    refuse("r!1; i = 1", "rendezvous");
    check("r?k; i = 1", "atomic { r?k; i = 1 }");
}

#[test]
fn atomic_sequences_are_extended() {
    check("atomic { x = 1; y = 1 }; i = 1", "atomic { atomic { x = 1; y = 1 }; i = 1 }");
    check("i = 1; d_step { x = 1; y = 1 }", "atomic { i = 1; d_step { x = 1; y = 1 } }");
}

#[test]
fn what_formulas_look_at_is_not_local() {
    let text = "byte x;\nactive proctype P() { byte i; x = 1; i = 2 }\nactive proctype Q() { x = 2 }\n";
    let merged = |formula| made(text, Some(formula), &AtomizeOptions::default()).merged.len();
    assert_eq!(merged("<> (x == 1)"), 1);
    assert_eq!(merged("<> (P:i == 2)"), 0);
    assert!(made(text, Some("X (x == 1)"), &AtomizeOptions::default()).obstacle.is_some());
}

#[test]
fn what_other_processes_look_at_is_not_local() {
    let merges = |process: &str, body: &str, look: &str| {
        let text = format!(
            "byte x, y;\nactive proctype P() {{ byte i; byte k; {body} }}\n\
             active proctype Q() {{ {look}; x = 2; y = 3; x = y }}\n"
        );
        let found = made(&text, None, &AtomizeOptions::default());
        found.merged.iter().any(|merged| merged.process == process)
    };
    let merged = |body: &str, look: &str| merges("P", body, look);
    assert!(merged("x = 1; i = 2", "skip"));
    assert!(!merged("x = 1; i = 2", "P:i == 2"));
    assert!(!merged("x = 1; i = 2", "x = P[0]:i"));
    assert!(merged("x = 1; i = 2", "P:k == 2"));
    assert!(merged("x = 1; L: i = 2", "skip"));
    assert!(!merged("x = 1; L: i = 2", "P@L"));
    assert!(!merged("x = 1; i = 2; L: y = 1", "P@L"));
    assert!(!merged("L: i = 1; x = 1", "assert(!P[0]@L)"));
    // The step that leaves the label is the one that may be of any kind.
    assert!(merged("L: x = 1; i = 2", "P@L"));
    // A condition on another process is as one on a global variable.
    assert!(merges("Q", "y = 1; x = i; L: skip", "byte j; x = 1; j == 0"));
    assert!(!merges("Q", "y = 1; x = i; L: skip", "x = 1; P@L"));
}

#[test]
fn a_channel_that_is_taken_out_of_a_process_may_be_anywhere() {
    let text = |taken: &str| {
        format!(
            "byte x; proctype P() {{ chan c = [2] of {{ byte }}; byte i; x = 1; c?i }}\n\
             init {{ chan d; run P(); {taken}; x = 2; d?_ }}\n"
        )
    };
    let merged = |taken: &str| {
        let found = made(&text(taken), None, &AtomizeOptions::default());
        found.merged.iter().any(|merged| merged.process == "P")
    };
    assert!(!merged("d = P:c"));
}

#[test]
fn each_statement_is_named_once() {
    let text = "byte x, y; chan q = [2] of { byte };\n\
                active proctype P() { byte i; x = 1; q!1; i = 2; do :: x = i; y = 2 :: q?i; x = i od }\n\
                active [2] proctype Q() { byte j; do :: q?j; x = y :: q!j; y = x; \
                if :: x == 1 -> y = 2; x = 3 :: else -> x = 4; y = 3 fi od }\n";
    let found = made(text, None, &AtomizeOptions::default());
    let mut named: Vec<_> = found.kept.iter().map(|kept| kept.span).collect();
    // The first of a merged sequence is not merged with what stands before it; the others are.
    named.extend(found.merged.iter().flat_map(|merged| &merged.rules[1..]).map(|&(span, _)| span));
    assert!(!found.merged.is_empty() && named.len() > 5);
    named.sort_by_key(|span| (span.start, span.end));
    assert!(named.windows(2).all(|pair| pair[0] != pair[1]), "{named:?}");
}

#[test]
fn a_claim_may_count_steps() {
    let text = "byte x;\nactive proctype P() { byte i; x = 1; i = 2 }\nnever { do :: x == 0 od }\n";
    assert!(made(text, None, &AtomizeOptions::default()).obstacle.is_some());
    let trusting = AtomizeOptions { trust_claims: true, ..AtomizeOptions::default() };
    assert_eq!(made(text, None, &trusting).merged.len(), 1);
}

#[test]
fn exclusive_channels_and_room_are_found() {
    let text = "chan q = [2] of { byte };\nbyte x;\n\
                active proctype S() { q!1; q!2 }\n\
                active proctype R() { byte i; q?i; x = i }\n\
                active proctype O() { x = 3 }\n";
    let found = made(text, None, &AtomizeOptions::default());
    assert_eq!(
        found.text,
        "chan q = [2] of { byte };\nbyte x;\n\
         active proctype S() { xs q; atomic { q!1; q!2 } }\n\
         active proctype R() { byte i; xr q; atomic { q?i; x = i } }\n\
         active proctype O() { x = 3 }\n"
    );
    assert_eq!(found.merged[1].rules[0].1, Rule::PreReceive);
    // With one place less, a send may wait for the receive, which therefore cannot be put off.
    let small = text.replace("[2]", "[1]");
    let merged = made(&small, None, &AtomizeOptions::default()).merged;
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].rules[1].1, Rule::PostShared);
    // Somebody who asks for the length sees when the message is taken.
    let polled = text.replace("x = 3", "x = len(q)");
    assert_eq!(made(&polled, None, &AtomizeOptions::default()).merged.len(), 0);
}

/// The text of a model with what is expected of it: `[[` and `]]` stand for `atomic { ` and ` }`.
#[track_caller]
fn check_model(text: &str, formula: Option<&str>, options: &AtomizeOptions) {
    let original = text.replace("[[", "").replace("]]", "");
    let expected = text.replace("[[", "atomic { ").replace("]]", " }");
    let made = made(&original, formula, options).text;
    let without_promises = made.replace("xr in; ", "").replace("xs out; ", "").replace("xr out; ", "");
    assert_eq!(without_promises, expected);
}

const RING: &str = "byte x; chan link[3] = [1] of { byte };\n\
    proctype node(chan in, out; byte me) { byte i; do :: [[in?i; out!i]] od }\n\
    init { byte n; atomic { do :: n < 3 -> run node(link[n], link[(n + 1) % 3], n); n++ :: else -> break od } }\n";

#[test]
fn channels_are_told_apart_by_process() {
    let default = AtomizeOptions::default();
    check_model(RING, None, &default);
    let found = made(&RING.replace("[[", "").replace("]]", ""), None, &default);
    assert!(
        found.text.contains("xs out; xr in; ") || found.text.contains("xr in; xs out; "),
        "{}",
        found.text
    );
    // Two processes send to one channel.
    check_model(
        &RING.replace("link[(n + 1) % 3]", "link[n / 2]").replace("[[", "").replace("]]", ""),
        None,
        &default,
    );
    // It is not known which channel a process gets.
    let unknown = RING.replace("(n + 1) % 3", "(n + x) % 3") + "active proctype O() { x = 1 }\n";
    check_model(&unknown.replace("[[", "").replace("]]", ""), None, &default);
}

const FORKS: &str = "chan fork[2] = [1] of { bit }; byte x;\n\
    proctype P(byte me) { byte other; other = 1 - me;\n\
    do :: fork[me]?_; [[fork[other]?_; x = me; fork[me]!1; fork[other]!1]] od }\n\
    init { byte n; atomic { do :: n < 2 -> fork[n]!1; run P(n); n++ :: n >= 2 -> break od } }\n";

#[test]
fn tokens_are_given_back_at_once() {
    let default = AtomizeOptions::default();
    // `x = me` is seen by others, so that the second fork is not taken in the same step.
    let text = FORKS.replace("[[fork[other]?_; x = me; ", "fork[other]?_; [[x = me; ");
    check_model(&text, None, &default);
    check_model(&FORKS.replace("x = me; ", ""), None, &default);
    // One fork more than there is room for: a send may block.
    let full =
        text.replace("fork[n]!1; run", "fork[n]!1; fork[n]!1; run").replace("[[", "").replace("]]", "");
    check_model(&full, None, &default);
    // Different messages: their order can be seen.
    let colored = text.replace("fork[me]!1", "fork[me]!0").replace("[[", "").replace("]]", "");
    check_model(&colored, None, &default);
    // The index is not the same any more.
    let moved = text
        .replace("fork[other]?_; [[x = me;", "[[fork[other]?_; other = me]];")
        .replace("[other]!1]]", "[other]!1");
    check_model(&moved, None, &default);
}

const LOCKS: &str = "bool busy[2]; byte seated; byte x;\n\
    active [2] proctype P() { byte i;\n\
    do :: atomic { seated < 1 -> seated++ }; atomic { !busy[_pid] -> busy[_pid] = true };\n\
    [[x = 1; busy[_pid] = false; seated--]] od }\n";

#[test]
fn locks_and_counters_are_given_back_at_once() {
    let default = AtomizeOptions::default();
    check_model(LOCKS, None, &default);
    let apart = |text: &str| text.replace("[[", "").replace("]]", "");
    // Somebody looks whether the lock is free, or goes another way where it is not.
    for spy in [
        "x = busy[0]",
        "assert(!busy[1])",
        "if :: atomic { !busy[0] -> busy[0] = true }; busy[0] = false :: else fi",
    ] {
        let text =
            format!("{}active proctype Q() {{ x = 2; {spy} }}\n", apart(LOCKS).replace("seated--", "skip"));
        let found = made(&text, None, &default).text;
        assert!(!found.contains("atomic { x = 1; busy"), "{found}");
    }
    // Who gives back has not taken.
    let text = format!("{}active proctype Q() {{ busy[0] = false }}\n", apart(LOCKS));
    assert!(!made(&text, None, &default).text.contains("atomic { x = 1; busy"));
    // Starvation by a weakly fair run is seen by cycles only.
    check_model(&apart(LOCKS), Some("[] <> (x == 1)"), &default);
    let unfair = AtomizeOptions { no_fairness: true, ..AtomizeOptions::default() };
    check_model(LOCKS, Some("[] <> (x == 1)"), &unfair);
    check_model(&LOCKS.replace("; seated--]]", "]]; seated--"), Some("[] (seated < 2)"), &unfair);
}

#[test]
fn a_loop_without_any_condition_is_not_made() {
    check("do :: skip; x = 1; i = 2 od", "do :: skip; atomic { x = 1; i = 2 } od");
    check("do :: true -> q!1; i = 2 od", "do :: true -> atomic { q!1; i = 2 } od");
}

#[test]
fn loops_that_count_are_merged() {
    check(
        "x = 1; do :: i < 3 -> k = k + i; i++ :: else -> break od; k = 0",
        "atomic { x = 1; do :: i < 3 -> k = k + i; i++ :: else -> break od; k = 0 }",
    );
    for endless in [
        "x = 1; do :: i < 3 -> k = i :: else -> break od",
        "x = 1; do :: i < 3 -> i++ :: k > 0 -> skip :: else -> break od",
        "x = 1; do :: i < 3 -> i++; i = 0 :: else -> break od",
        "x = 1; do :: i <= 255 -> i++ :: else -> break od",
        "x = 1; do :: i < 3 -> if :: k == 0 -> i++ :: else -> k = 0 fi :: else -> break od",
    ] {
        let found = made(&model(endless), None, &AtomizeOptions::default());
        assert!(!found.text.contains("atomic { x = 1; do"), "{}", found.text);
        assert!(found.kept.iter().any(|kept| kept.reason == "the loop may never end"), "{:?}", found.kept);
    }
    check(
        "x = 1; do :: i < 3 -> y = i; i++ :: else -> break od",
        "x = 1; do :: i < 3 -> atomic { y = i; i++ } :: else -> break od",
    );
}

#[test]
fn an_assignment_comes_behind_what_waits() {
    check("i = 1; q?k; k = 2; x = 2", "atomic { q?k; i = 1; k = 2 }; x = 2");
    check("i = 1; q!k", "atomic { q!k; i = 1 }");
    check("i = 1; k = 2; (x == 1)", "atomic { (x == 1); i = 1; k = 2 }");
    // What waits uses it, the variable has been used before, a label stands there, it is in a loop.
    check("i = 1; (x == i)", "i = 1; (x == i)");
    check("x = i; i = 1; (x == 1)", "atomic { x = i; i = 1 }; (x == 1)");
    check("i = 1; end: (x == 1)", "i = 1; end: (x == 1)");
    check("do :: x = 1; i = 1; (y == 1) od", "do :: atomic { x = 1; i = 1 }; (y == 1) od");
}

#[test]
fn only_the_claims_that_are_asked_for_count() {
    let text = "byte x;\nactive proctype P() { byte i; x = 1; i = 2 }\nactive proctype Q() { x = 2 }\n\
                ltl a { <> (P:i == 2) }\nltl b { <> (x == 2) }\nnever c { do :: x == 0 od }\n";
    let merged = |claims: &[&str]| {
        let claims = claims.iter().map(|name| (*name).to_owned()).collect();
        made(text, None, &AtomizeOptions { claims, ..AtomizeOptions::default() }).merged.len()
    };
    assert_eq!([merged(&[]), merged(&["a"]), merged(&["b"]), merged(&["c"])], [0, 0, 1, 0]);
}
