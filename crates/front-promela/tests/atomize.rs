//! What `atomize` makes of small models: each rule, and each reason to leave a statement alone.

use pdnet_front_promela::{AtomizeOptions, Atomized, Rule, atomize, load_text, parse_formula};
use pdnet_source::SourceMap;

fn made(text: &str, formula: Option<&str>, options: AtomizeOptions) -> Atomized {
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
    let text = made(&model(body), None, AtomizeOptions::default()).text;
    assert_eq!(text, model(expected));
}

/// Checks that nothing is merged, and why.
#[track_caller]
fn refuse(body: &str, reason: &str) {
    let found = made(&model(body), None, AtomizeOptions::default());
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
    check("i = 1; q!i", "atomic { i = 1; q!i }");
}

#[test]
fn what_waits_is_waited_for_only_when_asked() {
    refuse("i = 1; q?k", "it may wait");
    refuse("i = 1; (x == 1)", "it may wait");
    let options = AtomizeOptions { before_waits: true, ..AtomizeOptions::default() };
    assert_eq!(made(&model("i = 1; q?k"), None, options).text, model("atomic { i = 1; q?k }"));
}

#[test]
fn guards_and_selections() {
    check(
        "do :: i < 2 -> x = i; i++ :: i >= 2 -> break od",
        "do :: atomic { i < 2 -> x = i; i++ } :: i >= 2 -> break od",
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
fn a_selection_that_may_block_does_not_follow() {
    check(
        "x = 1; if :: i == 0 -> skip :: i == 1 -> skip fi",
        "x = 1; atomic { if :: i == 0 -> skip :: i == 1 -> skip fi }",
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
    refuse("x = 1; (i == 1)", "it may block");
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
    let merged = |formula| made(text, Some(formula), AtomizeOptions::default()).merged.len();
    assert_eq!(merged("<> (x == 1)"), 1);
    assert_eq!(merged("<> (P:i == 2)"), 0);
    assert!(made(text, Some("X (x == 1)"), AtomizeOptions::default()).obstacle.is_some());
}

#[test]
fn a_claim_may_count_steps() {
    let text = "byte x;\nactive proctype P() { byte i; x = 1; i = 2 }\nnever { do :: x == 0 od }\n";
    assert!(made(text, None, AtomizeOptions::default()).obstacle.is_some());
    let trusting = AtomizeOptions { trust_claims: true, ..AtomizeOptions::default() };
    assert_eq!(made(text, None, trusting).merged.len(), 1);
}

#[test]
fn exclusive_channels_and_room_are_found() {
    let text = "chan q = [2] of { byte };\nbyte x;\n\
                active proctype S() { q!1; q!2 }\n\
                active proctype R() { byte i; q?i; x = i }\n\
                active proctype O() { x = 3 }\n";
    let found = made(text, None, AtomizeOptions::default());
    assert_eq!(
        found.text,
        "chan q = [2] of { byte };\nbyte x;\n\
         active proctype S() { xs q; atomic { q!1; q!2 } }\n\
         active proctype R() { byte i; xr q; atomic { q?i; x = i } }\n\
         active proctype O() { x = 3 }\n"
    );
    assert_eq!(found.merged[1].rules[0].1, Rule::PreReceive);
    // With one place less, a send may wait for the receive.
    let small = text.replace("[2]", "[1]");
    assert_eq!(made(&small, None, AtomizeOptions::default()).merged.len(), 0);
    // Somebody who asks for the length sees when the message is taken.
    let polled = text.replace("x = 3", "x = len(q)");
    assert_eq!(made(&polled, None, AtomizeOptions::default()).merged.len(), 0);
}
