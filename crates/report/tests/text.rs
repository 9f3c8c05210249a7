//! The text for people.

mod programs;

use expect_test::{Expect, expect};
use pdnet_check::{Fairness, Property, StopReason};
use pdnet_logic::Ltl;
use pdnet_net::{Bound, Fault};
use pdnet_report::{Answer, Probe, ProbeAnswer, TextOptions, result_text, verdict_line};
use pdnet_source::{ColorChoice, Pos};
use programs::{End, Program, abba, division, lost_update, spin};

const LOST_UPDATE: [(i64, &str); 8] = [
    (0, "create"),
    (0, "read x"),
    (1, "read x"),
    (1, "write x"),
    (1, "return 0"),
    (0, "write x"),
    (0, "join"),
    (0, "assert(x == 2)"),
];

fn check(
    program: &Program,
    property: &Property,
    answer: Answer,
    probes: Vec<Probe>,
    width: usize,
    expected: &Expect,
) {
    let report = program.report(property, answer, probes);
    let text = result_text(&report, TextOptions { width, color: ColorChoice::Plain });
    expected.assert_eq(&format!("{text}{}\n", verdict_line(&report)));
}

#[test]
fn a_failed_assertion_ends_the_table() {
    let program = lost_update();
    let property = Property::assertions(&program.net);
    let run = program.run(&property, &LOST_UPDATE, End::Any);
    check(
        &program,
        &property,
        Answer::Violated(Box::new(run)),
        vec![],
        90,
        &expect![[r#"
            pdnet 0.0.0: src/lost.c, a net of 16 places, 10 transitions, 40 arcs

            assert: no assertion fails, no error function is called
              violated (unreach-call), by the run below
              explicit engine: 12 states, 20 transitions, 0.25 s, 3.0 MiB

              step  line       main                               1: worker
                 1  lost.c:7   pthread_create(&t, 0, worker, 0);
                                 creates thread 1 (worker)
                 2  lost.c:8   x = x + 1;
                                 reads x = 0
                 3  lost.c:3                                      x = x + 1;
                                                                    reads x = 0
                 4                                                  writes x = 1
                 5  lost.c:4                                      return 0;
                                                                    the thread ends
                 6  lost.c:8   x = x + 1;
                                 writes x = 1
                 7  lost.c:9   pthread_join(t, 0);
                                 joins thread 1 (worker)
                 8  lost.c:10  assert(x == 2);
                                 reads x = 1
                                 ✗ assertion fails: assert(x ==
                                   2)
              variables at the end: x = 1
            Verification result: FALSE (unreach-call)
        "#]],
    );
}

#[test]
fn narrow_terminals_get_one_column_for_all_threads() {
    let program = lost_update();
    let property = Property::assertions(&program.net);
    let run = program.run(&property, &LOST_UPDATE, End::Any);
    check(
        &program,
        &property,
        Answer::Violated(Box::new(run)),
        vec![],
        56,
        &expect![[r#"
            pdnet 0.0.0: src/lost.c, a net of 16 places, 10
              transitions, 40 arcs

            assert: no assertion fails, no error function is called
              violated (unreach-call), by the run below
              explicit engine: 12 states, 20 transitions, 0.25 s,
                3.0 MiB

              step  line       thread
                 1  lost.c:7   main       pthread_create(&t, 0, wor…
                                            creates thread 1
                                              (worker)
                 2  lost.c:8   main       x = x + 1;
                                            reads x = 0
                 3  lost.c:3   1: worker  x = x + 1;
                                            reads x = 0
                 4                          writes x = 1
                 5  lost.c:4   1: worker  return 0;
                                            the thread ends
                 6  lost.c:8   main       x = x + 1;
                                            writes x = 1
                 7  lost.c:9   main       pthread_join(t, 0);
                                            joins thread 1 (worker)
                 8  lost.c:10  main       assert(x == 2);
                                            reads x = 1
                                            ✗ assertion fails:
                                              assert(x == 2)
              variables at the end: x = 1
            Verification result: FALSE (unreach-call)
        "#]],
    );
}

#[test]
fn a_deadlock_says_who_waits_for_whom() {
    let program = abba();
    let property = Property::no_deadlock();
    let steps = [(0, "create"), (1, "lock a"), (2, "lock b")];
    let run = program.run(&property, &steps, End::Stutter);
    check(
        &program,
        &property,
        Answer::Violated(Box::new(run)),
        vec![],
        100,
        &expect![[r#"
        pdnet 0.0.0: abba.c, a net of 16 places, 9 transitions, 35 arcs

        deadlock: some thread can move until the process ends
          violated (no-deadlock), by the run below
          explicit engine: 12 states, 20 transitions, 0.25 s, 3.0 MiB

          step  line       main                       1: first                   2: second
             1  abba.c:10  start(); pthread_join(t,…
                             creates thread 1
                               (first), thread 2
                               (second)
             2  abba.c:2                              pthread_mutex_lock(&a);
                                                        locks a
             3  abba.c:6                                                         pthread_mutex_lock(&b);
                                                                                   locks b
          deadlock: no thread can move, this state stays forever
            thread 0 (main) at abba.c:10 waits for the end of thread 1 (first)
            thread 1 (first) at abba.c:3 waits for mutex b, held by thread 2 (second) since abba.c:6
            thread 2 (second) at abba.c:7 waits for mutex a, held by thread 1 (first) since abba.c:2
        Verification result: FALSE (no-deadlock)
    "#]],
    );
}

#[test]
fn a_cycle_is_marked_and_the_starved_thread_named() {
    let program = spin();
    let property = program.formula("flag", 1, Ltl::finally);
    let run = program.run(&property, &[(0, "create")], End::Cycle(&[(0, "flag == 0")]));
    let probes = vec![Probe { fairness: Fairness::Weak, answer: ProbeAnswer::Holds }];
    check(
        &program,
        &property,
        Answer::Violated(Box::new(run)),
        probes,
        100,
        &expect![[r#"
            pdnet 0.0.0: spin.c, a net of 10 places, 6 transitions, 17 arcs

            ltl-1: F(flag == 1)
              violated (valid-ltl), by the run below, no fairness assumed
              explicit engine: 12 states, 20 transitions, 0.25 s, 3.0 MiB

              at the start: flag == 1: false
              step  line      main                                     1: setter
                 1  spin.c:6  pthread_create(&t, 0, setter, 0);
                                creates thread 1 (setter)
            ── cycle starts here: the following steps repeat forever ──
                 2  spin.c:7  while (flag == 0);
                                reads flag = 0
                                flag == 0 is true
            ── back to the start of the cycle ──
              thread 1 (setter) could move all the time in the cycle and never does
              variables at the start of the cycle: flag = 0
              the property fails only by starving thread 1 (setter): with --fair weak it holds
            Verification result: FALSE (valid-ltl)
        "#]],
    );
}

#[test]
fn changes_of_atoms_stand_below_the_step() {
    let program = spin();
    let property = program.formula("flag", 1, |atom| Ltl::globally(Ltl::not(atom)));
    let run = program.run(&property, &[(0, "create"), (1, "flag = 1")], End::Any);
    check(
        &program,
        &property,
        Answer::Violated(Box::new(run)),
        vec![],
        100,
        &expect![[r#"
        pdnet 0.0.0: spin.c, a net of 10 places, 6 transitions, 17 arcs

        ltl-1: G !(flag == 1)
          violated (valid-ltl), by the run below, no fairness assumed
          explicit engine: 12 states, 20 transitions, 0.25 s, 3.0 MiB

          at the start: flag == 1: false
          step  line      main                                     1: setter
             1  spin.c:6  pthread_create(&t, 0, setter, 0);
                            creates thread 1 (setter)
             2  spin.c:3                                           flag = 1;
                                                                     writes flag = 1
                                                                     » flag == 1: false → true
          whatever comes after, the property is broken
          variables at the end: flag = 1
        Verification result: FALSE (valid-ltl)
    "#]],
    );
}

#[test]
fn a_run_that_ends_says_so() {
    let program = spin();
    let property = program.formula("flag", 1, |atom| Ltl::globally(Ltl::finally(Ltl::not(atom))));
    let steps = [(0, "create"), (1, "flag = 1"), (0, "flag == 0"), (0, "return")];
    let run = program.run(&property, &steps, End::Stutter);
    check(
        &program,
        &property,
        Answer::Violated(Box::new(run)),
        vec![],
        100,
        &expect![[r#"
            pdnet 0.0.0: spin.c, a net of 10 places, 6 transitions, 17 arcs

            ltl-1: G F !(flag == 1)
              violated (valid-ltl), by the run below, no fairness assumed
              explicit engine: 12 states, 20 transitions, 0.25 s, 3.0 MiB

              at the start: flag == 1: false
              step  line      main                                     1: setter
                 1  spin.c:6  pthread_create(&t, 0, setter, 0);
                                creates thread 1 (setter)
                 2  spin.c:3                                           flag = 1;
                                                                         writes flag = 1
                                                                         » flag == 1: false → true
                 3  spin.c:7  while (flag == 0);
                                reads flag = 1
                                flag == 0 is false
                 4  spin.c:8  }
                                the process ends
              the process has ended: this state stays forever
              variables at the end: flag = 1
            Verification result: FALSE (valid-ltl)
        "#]],
    );
}

#[test]
fn what_is_not_known_comes_with_advice() {
    let program = spin();
    let property = Property::assertions(&program.net);
    let (file, _) = program.map.files().next().unwrap();
    let pos = Some(Pos { file, line: 6, column: 5 });
    let check = |reason: StopReason, expected: &Expect| {
        let report = program.report(&property, Answer::Unknown(reason), vec![]);
        let text = result_text(&report, TextOptions { width: 100, color: ColorChoice::Plain });
        let middle: Vec<&str> = text.lines().skip(3).take_while(|line| !line.contains("engine")).collect();
        expected.assert_eq(&format!("{}\n{}\n", middle.join("\n"), verdict_line(&report)));
    };
    check(
        StopReason::Bound { bound: Bound::Threads, limit: Some(16), pos },
        &expect![[r#"
          unknown: bound on the number of threads: 16
          at spin.c:6: some run creates more threads than that and was not followed; raise --max-threads
        Verification result: UNKNOWN (bound on the number of threads: 16)
    "#]],
    );
    check(
        StopReason::Memory { limit: 4 << 30 },
        &expect![[r#"
          unknown: memory limit 4 GiB
          no violation was found up to then; raise --memory
        Verification result: UNKNOWN (memory limit 4 GiB)
    "#]],
    );
    check(
        StopReason::Undefined { fault: Fault::DivisionByZero, pos },
        &expect![[r#"
          unknown: undefined behaviour: division by zero
          at spin.c:6: a run that meets undefined behaviour may do anything; see that run with --check
            arithmetic
        Verification result: UNKNOWN (undefined behaviour: division by zero)
    "#]],
    );
    check(
        StopReason::Sampled { pos, note: None },
        &expect![[r#"
              unknown: an input was sampled
              at spin.c:6: not all values of an input were tried, and those that were break nothing; bound the
                input with an assumption, or take one of 8 bits: that is tried with all its values
            Verification result: UNKNOWN (an input was sampled)
        "#]],
    );
}

#[test]
fn colors_add_nothing_but_escapes() {
    let program = abba();
    let property = Property::no_deadlock();
    let run = || program.run(&property, &[(0, "create"), (1, "lock a"), (2, "lock b")], End::Stutter);
    let text = |color| {
        let report = program.report(&property, Answer::Violated(Box::new(run())), vec![]);
        result_text(&report, TextOptions { width: 100, color })
    };
    let mut colored = text(ColorChoice::Colored);
    assert!(colored.contains("\x1b[1;31m"));
    while let Some(start) = colored.find('\x1b') {
        let end = start + colored[start..].find('m').unwrap();
        colored.replace_range(start..=end, "");
    }
    assert_eq!(colored, text(ColorChoice::Plain));
}

#[test]
fn a_run_ends_with_its_fault() {
    let program = division();
    let property = Property::arithmetic(&program.net);
    let run = program.run(&property, &[(0, "x = 1"), (0, "division by zero")], End::Any);
    check(
        &program,
        &property,
        Answer::Violated(Box::new(run)),
        vec![],
        100,
        &expect![[r#"
            pdnet 0.0.0: division.c, a net of 7 places, 2 transitions, 7 arcs

            arithmetic: no division by zero, no bad shift
              violated (no-arithmetic-error), by the run below
              explicit engine: 12 states, 20 transitions, 0.25 s, 3.0 MiB

              step  line          main
                 1  division.c:3  x = 1;
                                    writes x = 1
                 2  division.c:4  y = x / y;
                                    reads y = 0
                                    ✗ undefined behaviour: division by zero
              variables at the end: x = 1, y = 0
            Verification result: FALSE (no-arithmetic-error)
        "#]],
    );
}

#[test]
fn the_effort_says_what_stubborn_sets_did() {
    let program = abba();
    let property = Property::no_deadlock();
    let mut report = program.report(&property, Answer::Holds, vec![]);
    report.results[0].stats.states_reduced = Some(5);
    let text = result_text(&report, TextOptions { width: 100, color: ColorChoice::Plain });
    assert!(text.contains("12 states (5 reduced by stubborn sets), 20 transitions"), "{text}");
}
