//! How many states small models have, as SPIN 6.5.2 counts them (`spin -o3 -a`, `-DSAFETY -DNOREDUCE`, `pan -c0`), and
//! whether they can stop in an invalid end state. The numbers were seen from SPIN.

use std::collections::BTreeSet;

use pdnet_front_promela::{LowerOptions, load_text, lower};
use pdnet_net::{Action, Interpreter, Marking, Successor, verify_net};
use pdnet_source::SourceMap;

/// A name, a model, its number of states, and whether an invalid end state can be reached.
const MODELS: &[(&str, &str, usize, bool)] = &[
    (
        "else that another process invalidates",
        r#"byte x; active proctype A() { do :: x == 0 -> x = 1 :: else -> break od } active proctype B() { x = 0; x = 2 }"#,
        21,
        false,
    ),
    (
        "atomic that blocks",
        r#"byte x; active proctype A() { atomic { x = 1; x == 2; x = 3 } } active proctype B() { x == 1 -> x = 2; x = 4 }"#,
        10,
        true,
    ),
    (
        "rendezvous from atomic to atomic",
        r#"chan q = [0] of { byte }; byte x; active proctype A() { atomic { x = 1; q!1; x = 2 }; x = 3 } active proctype B() { byte y; atomic { q?y; x = y + 5; x = 6 }; x = 7 }"#,
        11,
        false,
    ),
    (
        "rendezvous out of atomic",
        r#"chan q = [0] of { byte }; byte x; active proctype A() { atomic { q!1; x = 2; x = 3 } } active proctype B() { byte y; q?y; x = 4; x = 5 } active proctype C() { x = 8 }"#,
        24,
        false,
    ),
    (
        "receive in the middle of atomic",
        r#"chan q = [0] of { byte }; byte x; active proctype A() { byte y; atomic { x = 1; q?y; x = y } } active proctype B() { x = 9; q!2; x = 8 }"#,
        8,
        false,
    ),
    (
        "d step with a loop",
        r#"byte x, y; active [2] proctype A() { d_step { x = 0; do :: x < 3 -> x++ :: else -> break od; y = y + x }; y = y - 1 } active proctype B() { y == 2 -> x = 1 }"#,
        37,
        true,
    ),
    (
        "d step in a choice",
        r#"byte x; active proctype A() { do :: d_step { x < 2 -> x++; x = x * 2 } :: d_step { x > 3 -> x = 0 } :: else -> break od } active proctype B() { x = 1; x = 7 }"#,
        21,
        false,
    ),
    (
        "numbers of processes are used again",
        r#"byte n; proctype C() { n = n + 1; n = n - 1 } active proctype A() { byte i; do :: i < 3 -> run C(); _nr_pr == 1; i++ :: else -> break od }"#,
        24,
        false,
    ),
    (
        "processes end in order",
        r#"byte n; proctype C(byte k) { n = n + k } init { run C(1); run C(2); n = 5 }"#,
        39,
        false,
    ),
    (
        "channel in a message",
        r#"chan a = [1] of { chan }; chan b = [1] of { byte }; active proctype P() { chan c; a?c; c!3 } active proctype Q() { byte x; a!b; b?x; assert(x == 3) }"#,
        8,
        false,
    ),
    (
        "sorted send and random receive",
        r#"chan q = [3] of { byte, byte }; active proctype P() { byte x; q!!2,1; q!!1,2; q!!2,0; q??eval(2),x; assert(x == 0); q?1,x; assert(x == 2) } active proctype Q() { q??2,1 }"#,
        23,
        false,
    ),
    (
        "poll and keep",
        r#"chan q = [2] of { byte, byte }; active proctype P() { byte x; q!1,2; q!3,4; q?<1,x>; assert(x == 2 && len(q) == 2); if :: q?[3,_] -> assert(false) :: q??[3,_] -> skip fi; assert(full(q)) } "#,
        9,
        false,
    ),
    (
        "timeout",
        r#"chan q = [1] of { byte }; active proctype P() { do :: q!1 :: timeout -> break od } active proctype Q() { byte x; q?x; q?x }"#,
        10,
        false,
    ),
    (
        "unless",
        r#"byte x; active proctype P() { { do :: x < 3 -> x++ od } unless { x == 2 -> x = 8 }; x = 9 } active proctype Q() { x = 2 }"#,
        24,
        false,
    ),
    (
        "nested unless",
        r#"byte x; active proctype P() { { { x = 1; x = 2; x = 3 } unless { x == 7 -> x = 10 }; x = 11 } unless { x == 8 -> x = 12 } } active proctype Q() { x = 7; x = 8 }"#,
        31,
        false,
    ),
    (
        "else beside a rendezvous send",
        r#"chan q = [0] of { byte }; byte x; active proctype A() { if :: q!1 :: else -> x = 1 fi } active proctype B() { x = 2; q?_ }"#,
        9,
        true,
    ),
    (
        "else beside a rendezvous receive",
        r#"chan q = [0] of { byte }; byte x; active proctype A() { q!1 } active proctype B() { x = 2; if :: q?_ :: else -> x = 3 fi }"#,
        8,
        true,
    ),
    (
        "unless that sends by rendezvous",
        r#"chan q = [0] of { byte }; byte x; active proctype B() { { x = 1; x = 2; x = 3 } unless { q!1 } } active proctype A() { x == 1 -> q?_; x = 9 }"#,
        9,
        true,
    ),
    (
        "channels of processes",
        r#"byte g; proctype P(byte i) { chan c = [1] of { byte }; byte x; c!i; c?x; g = g + x } init { run P(1); run P(2); g = 0 }"#,
        79,
        false,
    ),
    (
        "channels as parameters",
        r#"chan q[2] = [1] of { byte }; proctype P(chan in; chan out) { byte x; do :: in?x -> out!(x + 1) % 4 :: x > 2 -> break od } init { atomic { run P(q[0], q[1]); run P(q[1], q[0]); q[0]!1 } }"#,
        13,
        true,
    ),
    (
        "values that nobody reads any more",
        r#"byte g; active [2] proctype P() { byte x, y; x = _pid + 3; y = x; g = y; x = g; g == x; if :: y = 1 :: y = 2 fi; skip }"#,
        115,
        true,
    ),
    (
        "variables that nobody reads",
        r#"byte seen, unseen; active [2] proctype P() { unseen = _pid; seen = seen + 1; unseen++; seen == 2 }"#,
        25,
        false,
    ),
    (
        "first values by process",
        r#"byte g; active [3] proctype P() { byte i = _pid; byte j = i + 1; g = g + i; i = j; g = g + i }"#,
        85,
        false,
    ),
    (
        "jump out of atomic",
        r#"byte x; active proctype P() { atomic { x = 1; if :: x == 1 -> goto L :: else fi; x = 2 }; L: x = 3; x = 4 } active proctype Q() { x = 7; x = 1 }"#,
        25,
        false,
    ),
    (
        "loop at the end of atomic",
        r#"byte x; active proctype P() { atomic { x = 1; do :: x < 4 -> x++ :: x > 2 -> break od }; x = 9 } active proctype Q() { x = 3; x = 2 }"#,
        23,
        false,
    ),
    (
        "atomic with a jump into another",
        r#"byte x; active proctype P() { A: atomic { x++; if :: x < 3 -> goto B :: else -> goto C fi }; B: atomic { x++; goto A }; C: x = 0 } active proctype Q() { x = 1 }"#,
        27,
        false,
    ),
    (
        "choice in choice",
        r#"byte x; active proctype P() { do :: if :: x == 0 -> x = 1 :: x == 1 -> x = 2 fi :: x == 2 -> break :: { x == 1; x = 0 } od } active proctype Q() { x = 1 }"#,
        27,
        false,
    ),
    (
        "provided",
        r#"byte t; active proctype P() provided (t == 0) { byte i; i = 1; t = 1; i = 2 } active proctype Q() provided (t == 1) { t = 0; t = 1; t = 0 }"#,
        5,
        true,
    ),
    ("last", r#"byte x; active [2] proctype P() { x = _last; x = _last }"#, 19, false),
    (
        "bits and arrays",
        r#"bit b; bool a[2]; unsigned u : 3; short s; active [2] proctype P() { b = b + 1; a[_pid] = b + 1; u = u + 5; s = s - 1; s == -2 && u == 2 }"#,
        31,
        false,
    ),
    (
        "structures",
        r#"typedef T { byte k; byte v[2] }; T t[2]; chan q = [1] of { T }; active [2] proctype P() { T x; x.k = _pid; x.v[1] = 3; t[_pid].v[_pid] = 2; q!x; q?x; t[x.k].k = x.v[1] }"#,
        56,
        false,
    ),
    (
        "atomic at the start of a choice",
        r#"byte x; active [2] proctype P() { do :: atomic { x < 2 -> x++; x++ } :: atomic { else -> x = x - 1; break } od }"#,
        11,
        false,
    ),
    (
        "timeout in atomic",
        r#"byte x; active proctype P() { atomic { x = 1; timeout; x = 2 }; x = 3 } active proctype Q() { x = 5; x = 6 }"#,
        11,
        false,
    ),
    (
        "for and select",
        r#"byte x; active proctype P() { byte i; for (i : 1 .. 3) { x = x + i }; select (i : 2 .. 4); x = i } active proctype Q() { x = 0 }"#,
        118,
        false,
    ),
    (
        "run in an assignment",
        r#"byte g; proctype C() { g = g + _pid } active proctype P() { pid c; c = run C(); c = run C(); g = g + c }"#,
        26,
        false,
    ),
    (
        "a trace that is kept",
        r#"chan q[2] = [1] of { byte, byte }; byte i; trace { end: do :: q[0]!1,2 :: q[1]?3,_ od } active proctype S() { byte k; do :: i < 2 -> q[i]!1+2*i,2; i++ :: else -> break od } active proctype R() { byte x, y; q[1]?x,y; q[0]?x,y }"#,
        18,
        false,
    ),
    (
        "a trace of receives with an end label",
        r#"chan q = [2] of { byte }; trace { do :: q?1 :: q?2 -> break od; q?3; end: q?4 } active proctype S() { q!1; q!1; q!2; q!3 } active proctype R() { byte x; end: do :: q?x od }"#,
        12,
        false,
    ),
    (
        "a trace that is not at its end while a process is there",
        r#"mtype = { a, b }; chan q = [2] of { mtype, byte }; trace { do :: q!a,1; q!b,2 od } active proctype S() { do :: q!a,1; q!b,2 :: break od } active proctype R() { mtype m; byte x; end: do :: q?m,x od }"#,
        9,
        true,
    ),
    (
        "a trace that is not at its end when all processes are gone",
        r#"chan q = [2] of { byte }; trace { q!1; q!2; q!3 } active proctype S() { q!1; q!2 }"#,
        4,
        false,
    ),
    (
        "a notrace that is left",
        r#"chan q = [2] of { byte }; notrace { q!1; q!3 } active proctype S() { if :: q!1; q!2 :: q!2; q!1 fi }"#,
        7,
        false,
    ),
    (
        "a notrace and a channel that it does not name",
        r#"chan q = [2] of { byte }; chan r = [1] of { byte }; notrace { q!1; q!3 } active proctype S() { r!4; q!1 } active proctype T() { byte x; r?x; r!5 }"#,
        10,
        false,
    ),
    (
        "a label and a local variable of another process",
        r#"byte x; active proctype A() { byte l; l = 3; L: x = 1; l = 4 } active proctype B() { (A[0]@L); x = 5; assert(A[0]:l == 3 || A[0]:l == 4) }"#,
        17,
        true,
    ),
    (
        "a variable of the same proctype",
        r#"byte x; active [2] proctype A() { byte l; l = 3 + _pid; do :: l < 6 -> l++ :: A[1-_pid]:l == 5 -> x = 1; break :: else -> break od }"#,
        136,
        false,
    ),
    (
        "a label of the same proctype",
        r#"byte x; active [2] proctype A() { L: x = _pid; if :: A[1-_pid]@L -> x = 3 :: else -> skip fi }"#,
        28,
        false,
    ),
    (
        "other processes with and without a number, arrays, and processes that do not exist",
        r#"byte x; byte y; proctype A(byte k) { byte a[3]; a[1] = k; W: a[2] = a[1] + 1; if :: x == 1 -> goto E :: else fi; x = 2; E: skip } init { run A(3); run A(4); do :: A@W -> y = 1 :: A[2]@E && A[1]:a[1] == 3 -> y = 2 :: A:a[2] > 3 -> y = 3; break :: A[5]@W || A[7]:k == 9 -> assert(false) :: y < 3 -> x = 1 od }"#,
        931,
        false,
    ),
    (
        "a process that is looked at, dies, and another one gets its number",
        r#"byte x; proctype W(byte a) { byte me = a + 1; L: x = a; M: x = me; } init { pid p; atomic { p = run W(1); x = p }; do :: W[p]@M -> break :: W[p]:me == 2 && x == 1 -> run W(5); x = 9; break :: timeout -> break od; (_nr_pr == 1); x = W[p]:me; p = run W(7); W[p]@L -> x = W:a; }"#,
        91,
        true,
    ),
    (
        "labels of a loop and of a jump",
        r#"byte x, y; active proctype P() { int l = 5; L3: do :: l > 3 -> l-- :: l < 5 -> break od; L4: goto L5; L5: x = 0 } active proctype Q() { do :: P@L3 -> y = 1 :: P@L4 -> y = 4 :: P@L5 -> y = P:l :: else -> break od }"#,
        53,
        false,
    ),
    (
        "labels in front of atomic and d_step",
        r#"byte x, y; active proctype P() { int l = 5; L1: atomic { x = 2; l = 6; x = 3 }; L2: d_step { l = 7; x = 4; l = 8 } ; x = 0 } active proctype Q() { do :: P@L1 -> y = 1 :: P@L2 -> y = 4 :: else -> break od }"#,
        16,
        false,
    ),
    (
        "the first process of a proctype",
        r#"byte x; proctype C() { byte v = 3; M: x = 1; v = 4; x = 2 } active proctype A() { byte i; run C(); C@M; i = C:v; run C(); do :: C[1]@M :: C:v == 4 -> break :: C[2]:v == 4 -> break od; (_nr_pr == 1); assert(!C@M && C:v == 0 && C[1]:v == 0); run C(); assert(C[1]:v == 0 || C[1]:v >= 3) }"#,
        127,
        true,
    ),
    (
        "a remote reference in a send",
        r#"chan q = [0] of { byte }; chan b = [1] of { byte }; byte x; active proctype S() { byte n; byte z = 7; A: q!n; n = 1; B: q!n+1; C: b!S[0]:n } active proctype R() { byte v; byte w; q?v; q?w; b?x }"#,
        8,
        false,
    ),
    (
        "a label inside of a value",
        r#"byte x; active proctype S() { byte n; n = 1; C: skip } active proctype R() { byte v; byte w; w = (S[0]@C -> 1 : 2); x = w }"#,
        17,
        false,
    ),
    (
        "a sender whose part is done",
        r#"chan q = [0] of { byte }; byte x; active proctype S() { byte n; byte z = 7; A: q!n; n = 1; B: q!n+1; C: skip } active proctype R() { byte v; byte w; if :: q?v :: S@B -> skip fi; do :: q?w :: S@C -> x = S:z + S[_pid-1]:n; break :: S@A && x < 2 -> x++ od }"#,
        12,
        true,
    ),
    (
        "a remote index, and sorted and random messages",
        r#"chan q = [1] of { byte }; byte x; byte a[3]; active proctype S() { byte n; byte z = 7; A: q!n; n = 1; B: q!n+1; C: z = 2 } active proctype R() { byte w; do :: q?w; a[S:n] = S[0]@B :: q!!S:z -> q??eval(S:n+6) :: S@C -> break od }"#,
        31,
        true,
    ),
    (
        "remote references inside of d_step and atomic",
        r#"byte x; active proctype S() { byte n; n = 1; C: n = 2; n = 0 } active proctype R() { if :: x = 1 :: x = 2 fi; d_step { x = S[0]:n; if :: x == 1 -> x = 4 :: else -> x = 5 fi }; atomic { S@C; x = S:n; S:n == 2; x = 7 } }"#,
        27,
        true,
    ),
    (
        "a channel taken out of another process",
        r#"chan c = [2] of { byte, chan }; byte x; proctype S(chan k) { byte n; chan mine = [1] of { byte }; n = 1; C: mine ! 3; k?n; n = 0 } init { chan z; chan g = [1] of { byte }; run S(g); S@C; z = S:mine; z?x; g!S[1]:n+1; S:k == g -> x = 9 }"#,
        22,
        true,
    ),
    (
        "the first of two processes",
        r#"byte x; active [2] proctype S() { byte n; n = _pid; C: n = n + 2; n = 0; x++ } active proctype R() { S@C -> x = S:n; S:n == 1 -> x = x + 10 }"#,
        92,
        true,
    ),
];

/// What a walk through all states finds.
struct Found {
    /// The states in which nobody is in an atomic sequence: those that SPIN keeps.
    n_states: usize,
    stops: bool,
    /// Some assertion fails, or something else goes wrong.
    fails: bool,
}

fn explore(text: &str) -> Found {
    let mut map = SourceMap::new();
    let file = map.add("model.pml", text);
    let loaded = load_text(&mut map, file).expect("a model");
    let lowered = lower(&map, &loaded.model, &[], &LowerOptions { max_processes: 8 }).expect("a net");
    assert_eq!(verify_net(&lowered.net), []);
    let interpreter = Interpreter::new(&lowered.net);
    let is_outside = |marking: &Marking| {
        lowered.net.atomic.is_none_or(|atomic| interpreter.cell(marking, atomic, &[]) == 0)
    };
    let mut found = Found { n_states: 0, stops: false, fails: false };
    let mut seen = BTreeSet::from([interpreter.initial()]);
    let mut open = vec![interpreter.initial()];
    while let Some(marking) = open.pop() {
        found.n_states += usize::from(is_outside(&marking));
        let enabled = interpreter.enabled(&marking);
        found.stops |= enabled.is_empty() && interpreter.eval(&marking, &lowered.unfinished) != 0;
        for firing in enabled {
            let fired = interpreter.fire_all(&marking, &firing);
            found.fails |= fired.steps.iter().any(|step| {
                let action = lowered.net.transitions[step.transition].action;
                matches!(action, Action::AssertFail | Action::Fault(_))
            });
            if let Successor::Marking(next) = fired.successor
                && !found.fails
                && seen.insert(next.clone())
            {
                open.push(next);
            }
        }
    }
    found
}

#[test]
fn states_are_counted_as_spin_counts_them() {
    for &(name, model, n_states, stops) in MODELS {
        let found = explore(model);
        assert_eq!((found.n_states, found.stops, found.fails), (n_states, stops, false), "{name}");
    }
}

/// Models in which something goes wrong that SPIN reports in the place of an assertion.
const FAILING: &[(&str, &str)] = &[
    ("an assertion", "byte x; active proctype P() { x = 1; assert(x == 2) }"),
    ("an assertion inside of d_step", "byte x; active proctype P() { d_step { x = 1; assert(x == 2) } }"),
    ("an index that is too large", "byte a[2]; byte i; active proctype P() { i = 2; a[i] = 1 }"),
    ("a negative index", "byte a[2]; short i; active proctype P() { i = -1; a[i] == 0 }"),
    ("a division by zero", "byte x, y; active proctype P() { x = 1 / y }"),
    ("a channel that is none", "active proctype P() { chan c; c!1 }"),
    (
        "a send that the trace has no event for",
        "chan q = [3] of { byte }; trace { do :: q!1; q!2 od } active proctype P() { q!1; q!2; q!2 }",
    ),
    (
        "a send inside of d_step that the trace has no event for",
        "chan q = [2] of { byte }; byte x; trace { end: do :: q!1; q?1 od } \
         active proctype S() { atomic { q!1; x = 1 }; d_step { x = 2; q!1 } } \
         active proctype R() { byte y; q?y; q?y }",
    ),
    (
        "a rendezvous that the trace has no event for",
        "chan c = [0] of { byte }; trace { c!1; c?1; c!1 } active proctype S() { c!1; c!2 } \
         active proctype R() { byte x; c?x; c?x }",
    ),
    (
        "a notrace that comes to its end",
        "chan q = [2] of { byte }; notrace { q!1; q!2 } active proctype S() { if :: q!1; q!2 :: q!2; q!1 fi }",
    ),
    (
        "an index of a variable of another process that is too large",
        "byte i; active proctype P() { byte a[2]; a[0] = 1 } active proctype Q() { i = 2; P:a[i] == 1 }",
    ),
    ("a d_step that blocks", "byte x; active proctype P() { d_step { x = 1; x == 2 } }"),
];

#[test]
fn what_goes_wrong_is_found() {
    for &(name, model) in FAILING {
        assert!(explore(model).fails, "{name}");
    }
}

#[test]
fn what_is_not_evaluated_does_not_go_wrong() {
    let models = [
        "byte a[2]; byte i; active proctype P() { i = 2; if :: i < 2 && a[i] == 1 :: else fi }",
        "byte x, y; active proctype P() { x = (y == 0 -> 7 : 1 / y) }",
        "byte a[2]; byte i = 2; active proctype P() { if :: d_step { i < 2; a[i] = 1 } :: else fi }",
    ];
    for model in models {
        assert!(!explore(model).fails, "{model}");
    }
}

/// What is said of references to other processes: a model, and the ids of errors and warnings.
const REFERENCES: &[(&str, &[&str])] = &[
    ("active proctype P() { d_step { skip; L: skip } } active proctype Q() { P@L }", &["label-in-d-step"]),
    ("active [2] proctype P() { L: skip } active proctype Q() { P@L; P[0]@L }", &["ambiguous-process"]),
    ("active proctype P() { L: skip } active proctype Q() { P@L; P[0]@L; P[_pid - 1]@L }", &[]),
    ("active proctype P() { byte k; k = 1 } active proctype Q() { P[1]:k == 1 }", &["no-such-process"]),
    ("proctype P() { L: skip } active proctype Q() { P[0]@L }", &["no-such-process"]),
    ("proctype P() { L: skip } init { run P(); P[1]@L; P@L }", &[]),
    ("proctype P() { L: skip } init { run P(); P[0]@L; P[2]@L }", &["no-such-process", "no-such-process"]),
    ("proctype P() { L: skip } init { run P(); run P(); P@L }", &["ambiguous-process"]),
];

#[test]
fn references_that_are_not_what_they_seem_are_named() {
    for &(text, ids) in REFERENCES {
        let mut map = SourceMap::new();
        let file = map.add("model.pml", text);
        let loaded = load_text(&mut map, file).expect("a model");
        let found = match lower(&map, &loaded.model, &[], &LowerOptions { max_processes: 8 }) {
            Ok(lowered) => lowered.warnings,
            Err(errors) => errors,
        };
        assert_eq!(found.iter().map(|found| found.id).collect::<Vec<_>>(), ids, "{text}");
    }
}
