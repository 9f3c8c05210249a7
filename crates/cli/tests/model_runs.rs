//! How runs of Promela models are told.

use std::process::Command;

use expect_test::{Expect, expect};

/// Checks a model and compares what is said of its run.
#[track_caller]
fn check(arguments: &[&str], model: &str, expected: &Expect) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("m.pml"), model).expect("a model");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    command.current_dir(folder.path()).args(["check", "m.pml"]).args(arguments);
    let output = command.output().expect("pdnet runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(10), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let from = printed.find("  violated").expect("a violation");
    // With the line above, which has the property.
    let from = printed[..from - 1].rfind('\n').map_or(0, |at| at + 1);
    let lines = printed[from..].lines().filter(|line| !line.contains("explicit engine"));
    let told: Vec<&str> = lines.take_while(|line| !line.starts_with("Verification")).collect();
    expected.assert_eq(&format!("{}\n", told.join("\n").trim_end()));
}

#[test]
fn messages_are_shown_with_their_names_and_who_gets_them() {
    let model = r"
mtype = { req, ack };
chan c = [0] of { mtype, byte };
chan q = [2] of { mtype, byte, bool };
chan r[2] = [1] of { int };
byte x; mtype last = ack;
typedef Msg { byte a; short b[2] };
Msg m[2];
active proctype P() {
  byte i = _pid;
  c!req(3); q!ack,i,true; r[i]!7;
  m[1].b[1] = 5; x++; last = req
}
active proctype Q() {
  mtype t; byte v; bool b; int n;
  c?t(v); v > 2; q?<t,v,b>; q?t,v,b; r[0]?n; assert(n == 8)
}";
    check(
        &["--check", "assert"],
        model,
        &expect![[r#"
            assert: no assertion fails, no array, channel or division goes wrong
              violated (unreach-call), by the run below

              step  line      0: P                                     1: Q
                 1  m.pml:11  c!req(3)                                 c?t(v)
                                hands req,3 over c to process 1 (Q)      receives req,3 from process 0 (P)
                                                                         writes t = req, v = 3
                 2            q!ack,i,true
                                sends ack,0,true to q
                 3  m.pml:16                                           v > 2
                                                                         reads v = 3
                 4                                                     q?<t,v,b>
                                                                         sees ack,0,true in q, where it stays
                                                                         writes t = ack, v = 0, b = true
                 5                                                     q?t,v,b
                                                                         receives ack,0,true from q
                                                                         writes t = ack, v = 0, b = true
                 6  m.pml:11  r[i]!7
                                sends 7 to r[0]
                 7  m.pml:12  m[1].b[1] = 5
                                writes m[1].b[1] = 5
                 8            x++
                 9            last = req
                                writes last = req
                10  m.pml:16                                           r[0]?n
                                                                         receives 7 from r[0]
                                                                         writes n = 7
                11                                                     assert(n == 8)
                                                                         reads n = 7
                                                                         ✗ assertion fails
              variables at the end: m[0].a = 0, m[1].a = 0, m[0].b = {0, 0}, m[1].b = {0, 5}, q = [], r[0] = [],
                r[1] = []
        "#]],
    );
}

#[test]
fn an_invalid_end_state_says_who_waits_for_what() {
    let model = r#"
mtype = { a, b };
chan q = [1] of { mtype, byte };
chan s = [0] of { mtype };
byte n = 2;
init { atomic { run W(1); run W(n); run E() }; printf("%d of %e\n", n, a); (n == 0) }
proctype W(byte k) { mtype t; q!a(k); if :: s?eval(b) :: q?b,k fi; end: q?t,k }
proctype E() { endless: s?b }
"#;
    check(
        &["--check", "deadlock"],
        model,
        &expect![[r#"
            deadlock: no invalid end state
              violated (no-deadlock), by the run below

              step  line     0: init                    1: W                       2: W
                 1  m.pml:6  run W(1)
                               starts process 1: W(k =
                                 1)
                 2           run W(n)
                               reads n = 2
                               starts process 2: W(k =
                                 2)
                 3           run E()
                               starts process 3: E()
                 4           printf("%d of %e\n", n,…
                               prints "2 of a"
                 5  m.pml:7                             q!a(k)
                                                          sends a,1 to q
              invalid end state: no process can move, this state stays forever
                process 0 (init) at m.pml:6 waits for (n == 0), but n = 2
                process 1 (W) at m.pml:7 waits for s?eval(b), but nobody is ready to send it; or for q?b,k, but
                  q has the message a,1
                process 2 (W) at m.pml:7 waits for q!a(k), but q is full
                process 3 (E) at m.pml:8 may end here (label endless), waits for s?b, but nobody is ready to
                  send it
              variables at the end: n = 2, q = [a,1]
        "#]],
    );
}

#[test]
fn a_process_that_has_ended_waits_for_younger_ones() {
    let model = "active proctype A() { skip }\nactive proctype B() { false }\n";
    check(
        &["--check", "deadlock"],
        model,
        &expect![[r#"
            deadlock: no invalid end state
              violated (no-deadlock), by the run below

              step  line     0: A                                     1: B
                 1  m.pml:1  skip
              invalid end state: no process can move, this state stays forever
                process 0 (A) at m.pml:1 is at its end
                process 1 (B) at m.pml:2 waits for false
        "#]],
    );
}

#[test]
fn what_is_wrong_from_the_start_needs_no_step() {
    let model = "byte x = 1;\nactive proctype A() { false }\nltl p { x == 2 }\n";
    check(
        &["--claim", "p"],
        model,
        &expect![[r#"
            p: x == 2
              violated (valid-ltl), by the run below, no fairness assumed

              at the start: x == 2: false
              no step is needed: it is so from the start
              invalid end state: no process can move, this state stays forever
                process 0 (A) at m.pml:2 waits for false
              variables at the end: x = 1
        "#]],
    );
    check(
        &["--check", "deadlock"],
        model,
        &expect![[r#"
            deadlock: no invalid end state
              violated (no-deadlock), by the run below

              no step is needed: it is so from the start
              invalid end state: no process can move, this state stays forever
                process 0 (A) at m.pml:2 waits for false
              variables at the end: x = 1
        "#]],
    );
}

#[test]
fn channels_of_processes_have_their_names() {
    let model = r"
chan g = [1] of { chan };
active proctype A() { chan own = [1] of { byte }; byte x; g!own; own?x; assert(x == 1) }
active proctype B() { chan to; g?to; to!2 }
";
    check(
        &["--check", "assert"],
        model,
        &expect![[r#"
            assert: no assertion fails, no array, channel or division goes wrong
              violated (unreach-call), by the run below

              step  line     0: A                                     1: B
                 1  m.pml:3  g!own
                               sends A[0]:own to g
                 2  m.pml:4                                           g?to
                                                                        receives A[0]:own from g
                                                                        writes to = A[0]:own
                 3                                                    to!2
                                                                        reads _nr_pr = 2
                                                                        sends 2 to A[0]:own
                 4  m.pml:3  own?x
                               receives 2 from A[0]:own
                               writes x = 2
                 5  m.pml:4                                           end of B
                                                                        the process ends
                 6  m.pml:3  assert(x == 1)
                               reads x = 2
                               ✗ assertion fails
              variables at the end: g = []
        "#]],
    );
}

#[test]
fn a_d_step_is_one_step_with_all_its_statements() {
    let model = r"
byte x, a[3];
active proctype A() { byte i; d_step { i = 2; x = i + 1; a[i] = x }; assert(a[2] == 0) }
";
    check(
        &["--check", "assert"],
        model,
        &expect![[r#"
            assert: no assertion fails, no array, channel or division goes wrong
              violated (unreach-call), by the run below

              step  line     0: A
                 1  m.pml:3  i = 2; x = i + 1; a[i] = x
                               writes i = 2, x = 3, a[2] = 3
                 2           assert(a[2] == 0)
                               reads a[2] = 3
                               ✗ assertion fails
              variables at the end: x = 3, a = {0, 0, 3}
        "#]],
    );
}

#[test]
fn a_cycle_names_the_processes_that_are_left_behind() {
    let model = r"
bool turn;
active proctype A() { do :: turn = !turn od }
active proctype B() { turn; progress: skip }
";
    check(
        &["--ltl", "<> B@progress"],
        model,
        &expect![[r#"
            ltl-1: <> B@progress
              violated (valid-ltl), by the run below, no fairness assumed

              at the start: B@progress: false
              step  line     0: A                                     1: B
            ── cycle starts here: the following steps repeat forever ──
                 1  m.pml:3  turn = !turn
                               reads turn = false
                               writes turn = true
                 2           turn = !turn
                               reads turn = true
                               writes turn = false
            ── back to the start of the cycle ──
              process 1 (B) could move again and again in the cycle and never does
              variables at the start of the cycle: turn = false
              the property fails only by starving process 1 (B): with --fair strong it holds
        "#]],
    );
}

#[test]
fn faults_are_named_as_those_of_a_model() {
    let model = "byte a[2], i = 2;\nactive proctype A() { a[i] = 1 }\n";
    check(
        &["--check", "assert"],
        model,
        &expect![[r#"
            assert: no assertion fails, no array, channel or division goes wrong
              violated (unreach-call), by the run below

              step  line     0: A
                 1  m.pml:2  a[i] = 1
                               reads i = 2
                               ✗ an index is outside of its array
              variables at the end: i = 2
        "#]],
    );
    let model = "byte i;\nactive proctype A() { i = 1 / i }\n";
    check(
        &["--check", "assert"],
        model,
        &expect![[r#"
            assert: no assertion fails, no array, channel or division goes wrong
              violated (unreach-call), by the run below

              step  line     0: A
                 1  m.pml:2  i = 1 / i
                               reads i = 0
                               ✗ division by zero
              variables at the end: i = 0
        "#]],
    );
}

#[test]
fn many_processes_share_a_column() {
    let model = r"
chan c = [0] of { byte };
byte x;
proctype P() { byte y; c?y; x = x + y }
init { byte i; atomic { for (i : 1 .. 6) { run P() } }; c!2; c!3; _nr_pr == 1; assert(x != 5) }
";
    check(
        &["--check", "deadlock"],
        model,
        &expect![[r#"
            deadlock: no invalid end state
              violated (no-deadlock), by the run below

              step  line     process
                 1  m.pml:5  0: init  for (i : 1 .. 6)
                                        writes i = 1
                 2                    for (i : 1 .. 6)
                                        reads i = 1
                 3                    run P()
                                        starts process 1: P()
                 4                    for (i : 1 .. 6)
                                        writes i = 2
                 5                    for (i : 1 .. 6)
                                        reads i = 2
                 6                    run P()
                                        starts process 2: P()
                 7                    for (i : 1 .. 6)
                                        writes i = 3
                 8                    for (i : 1 .. 6)
                                        reads i = 3
                 9                    run P()
                                        starts process 3: P()
                10                    for (i : 1 .. 6)
                                        writes i = 4
                11                    for (i : 1 .. 6)
                                        reads i = 4
                12                    run P()
                                        starts process 4: P()
                13                    for (i : 1 .. 6)
                                        writes i = 5
                14                    for (i : 1 .. 6)
                                        reads i = 5
                15                    run P()
                                        starts process 5: P()
                16                    for (i : 1 .. 6)
                                        writes i = 6
                17                    for (i : 1 .. 6)
                                        reads i = 6
                18                    run P()
                                        starts process 6: P()
                19                    for (i : 1 .. 6)
                                        writes i = 7
                20                    for (i : 1 .. 6)
                                        reads i = 7
                21                    for (i : 1 .. 6)
                22                    for (i : 1 .. 6) { run P() }
                23                    c!2
                                        hands 2 over c to process 1 (P)
                             1: P     c?y
                                        receives 2 from process 0 (init)
                                        writes y = 2
                24                    c!3
                                        hands 3 over c to process 2 (P)
                             2: P     c?y
                                        receives 3 from process 0 (init)
                                        writes y = 3
                25  m.pml:4  1: P     x = x + y
                                        reads x = 0
                                        writes x = 2
                26  m.pml:4  2: P     x = x + y
                                        reads x = 2
                                        writes x = 5
              invalid end state: no process can move, this state stays forever
                process 0 (init) at m.pml:5 waits for _nr_pr == 1, but _nr_pr = 7
                process 1 (P) at m.pml:4 is at its end
                process 2 (P) at m.pml:4 is at its end
                process 3 (P) at m.pml:4 waits for c?y, but nobody is ready to send it
                process 4 (P) at m.pml:4 waits for c?y, but nobody is ready to send it
                process 5 (P) at m.pml:4 waits for c?y, but nobody is ready to send it
                process 6 (P) at m.pml:4 waits for c?y, but nobody is ready to send it
              variables at the end: x = 5
        "#]],
    );
}

#[test]
fn statements_that_no_run_executes_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = r"chan c = [0] of { byte }, d = [0] of { byte };
byte x;
proctype N() { x = 9 }
active proctype P() {
  c!1;
  if :: x == 7 -> x = 8 :: else -> x = 2 fi;
  d_step { x = 3; if :: x == 4 -> x = 5; x = 6 :: else -> skip fi };
  do :: x = 1 :: x = 2; goto out od;
  x = 77;
out: d?x; false -> x = 3
}
active proctype Q() { byte y; c?y }
";
    std::fs::write(folder.path().join("m.pml"), model).expect("a model");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
        command.current_dir(folder.path()).args(["check", "m.pml", "--unreached"]).args(arguments);
        String::from_utf8(command.output().expect("pdnet runs").stdout).expect("text")
    };
    let list = |reduce: &str| {
        let printed = run(&["--check", "assert", "--reduce", reduce]);
        let from = printed.find("statements that").expect("the list");
        let end = |text: &str| printed.find(text).unwrap_or(printed.len());
        printed[from..end("\nVerification").min(end("\nnote"))].to_owned()
    };
    expect![[r#"
            statements that no run executes
              proctype N: none of its 2 statements is ever executed
                m.pml:3 x = 9
                m.pml:3 end of N
              proctype P: 10 of 18 statements are never executed
                m.pml:6 x == 7
                m.pml:6 x = 8
                m.pml:7 x == 4
                m.pml:7 x = 5
                m.pml:7 x = 6
                m.pml:9 x = 77
                m.pml:10 d?x
                m.pml:10 false
                m.pml:10 x = 3
                m.pml:11 end of P
              proctype Q: all 2 statements are executed
        "#]]
    .assert_eq(&list("all"));
    // Whatever was merged and cut for the property.
    assert_eq!(list("all"), list("none"));
    let json = run(&["--check", "assert", "--format", "json"]);
    assert!(json.contains("\"unreached\": {\n    \"reason\": null"), "{json}");
    // A search that was cut short knows nothing of what comes later.
    let printed = run(&["--check", "assert", "--states", "2"]);
    assert!(printed.contains("not known: state limit"), "{printed}");
}

#[test]
fn a_trace_says_what_it_waits_for() {
    let model = r"
chan q = [4] of { byte, byte };
byte x;
trace { do :: q!1,_; q!x,2 od }
active proctype P() { q!1,5; q!3,2; q!1,7; q!3,3 }
";
    check(
        &["--check", "assert"],
        model,
        &expect![[r#"
        assert: no assertion fails, no array, channel or division goes wrong
          violated (unreach-call), by the run below

          step  line     0: P
             1  m.pml:5  q!1,5
                           sends 1,5 to q
             2           q!3,2
                           sends 3,2 to q
             3           q!1,7
                           sends 1,7 to q
             4           q!3,3
                           sends 3,3 to q
                           ✗ no event of the trace fits
                           ✗ the trace waits for q!x,2
          variables before the last step: q = [1,5; 3,2; 1,7]
    "#]],
    );
}

#[test]
fn a_d_step_that_blocks_is_no_assertion() {
    let model = r"
byte x;
active proctype P() { d_step { x = 1; x == 2; x = 3 } }
";
    check(
        &["--check", "assert"],
        model,
        &expect![[r#"
        assert: no assertion fails, no array, channel or division goes wrong
          violated (unreach-call), by the run below

          step  line     0: P
             1  m.pml:3  x = 1
                           writes x = 1
             2           x == 2
                           ✗ the d_step blocks here, in its middle
          variables at the end: x = 1
    "#]],
    );
}

#[test]
fn what_is_seen_of_another_process_has_its_name() {
    let model = r"
byte x;
active proctype A() { byte l; l = 3; L: x = 1; l = 4 }
active proctype B() { byte k; A@L; k = A[0]:l; assert(A[0]:l != k) }
";
    check(
        &["--check", "assert"],
        model,
        &expect![[r#"
        assert: no assertion fails, no array, channel or division goes wrong
          violated (unreach-call), by the run below

          step  line     0: A                                     1: B
             1  m.pml:3  l = 3
                           writes l = 3
             2  m.pml:4                                           A@L
                                                                    reads A[0]@L = true
             3  m.pml:3  x = 1
                           writes x = 1
             4  m.pml:4                                           k = A[0]:l
                                                                    reads A[0]:l = 3
                                                                    writes k = 3
             5                                                    assert(A[0]:l != k)
                                                                    reads A[0]:l = 3, k = 3
                                                                    ✗ assertion fails
    "#]],
    );
}
