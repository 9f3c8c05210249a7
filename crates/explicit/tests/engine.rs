//! What the engine says of small programs whose answers people know.

use std::time::Duration;

use pdnet_base::Idx as _;
use pdnet_check::{
    AtomData, Control, Engine as _, Fairness, Limits, Observer, Outcome, Progress, Property, PropertyKind,
    Request, Silent, StopReason, Trace, TraceEnd, Verdict, replay,
};
use pdnet_explicit::Explicit;
use pdnet_logic::{Atom, Ltl};
use pdnet_net::{
    Action, Base, Bound, Domain, Expr, Fault, IntType, Net, Place, Transition, TransitionBuilder as Builder,
};

#[path = "../../space/tests/nets/mod.rs"]
mod nets;

use nets::{Program, constant, less};

fn property(kind: PropertyKind) -> Property {
    Property { name: "p".to_owned(), text: "p".to_owned(), class: "valid-ltl", kind }
}

fn atom(number: usize) -> Ltl {
    Ltl::atom(Atom::new(number))
}

/// A formula over atoms `cell == value`.
fn formula(formula: Ltl, cells: &[(Place, i64)]) -> PropertyKind {
    let atoms = cells.iter().map(|&(cell, value)| AtomData {
        text: format!("{cell} == {value}"),
        expr: Expr::equal(Expr::Cell(cell, vec![]), constant(value)),
    });
    PropertyKind::Ltl { formula, atoms: atoms.collect() }
}

/// The outcomes; every violation is replayed, and a second run must give the same.
fn check(net: &Net, kinds: Vec<PropertyKind>, fairness: Fairness, limits: Limits) -> Vec<Outcome> {
    check_with(Explicit::default(), net, kinds, fairness, limits)
}

/// The engine that looks at all states.
const PLAIN: Explicit = Explicit::PLAIN;

fn check_with(
    engine: Explicit,
    net: &Net,
    kinds: Vec<PropertyKind>,
    fairness: Fairness,
    limits: Limits,
) -> Vec<Outcome> {
    let properties: Vec<Property> = kinds.into_iter().map(property).collect();
    let request = Request { net, properties: &properties, fairness, limits };
    let outcomes = engine.check(&request, &mut Silent);
    let again = engine.check(&request, &mut Silent);
    for ((outcome, again), property) in outcomes.iter().zip(&again).zip(&properties) {
        assert_eq!(format!("{:?}", outcome.verdict), format!("{:?}", again.verdict));
        assert_eq!(outcome.stats.states, again.stats.states);
        if let Verdict::Violated(trace) = &outcome.verdict {
            replay(net, property, fairness, trace).unwrap_or_else(|error| panic!("{error}: {trace:?}"));
        }
    }
    outcomes
}

fn verdict(net: &Net, kind: PropertyKind, fairness: Fairness) -> Verdict {
    check(net, vec![kind], fairness, Limits::default()).remove(0).verdict
}

fn violation(net: &Net, kind: PropertyKind, fairness: Fairness) -> Trace {
    match verdict(net, kind, fairness) {
        Verdict::Violated(trace) => trace,
        other => panic!("{other:?}"),
    }
}

fn assert_holds(net: &Net, kind: PropertyKind, fairness: Fairness) {
    let found = verdict(net, kind, fairness);
    assert!(matches!(found, Verdict::Holds), "{found:?}");
}

fn reason(net: &Net, kind: PropertyKind) -> StopReason {
    match verdict(net, kind, Fairness::None) {
        Verdict::Unknown(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lost_update_is_found_and_a_lock_prevents_it() {
    let (p, failing, x) = nets::counter(2, false);
    let trace = violation(&p.net, PropertyKind::NeverFires(vec![failing]), Fairness::None);
    // Two creations, four steps and the end of each thread, two joins, the assertion.
    assert_eq!((trace.prefix.len(), trace.end), (15, TraceEnd::Any));
    let (p, failing, _) = nets::counter(2, true);
    assert_holds(&p.net, PropertyKind::NeverFires(vec![failing]), Fairness::None);
    // Without a lock x may be 1 at the end, and no run gets beyond 2.
    let (p, ..) = nets::counter(2, false);
    assert_holds(&p.net, formula(Ltl::globally(Ltl::not(atom(0))), &[(x, 3)]), Fairness::None);
    violation(&p.net, formula(Ltl::finally(atom(0)), &[(x, 2)]), Fairness::Strong);
}

#[test]
fn crossed_locks_are_a_deadlock_and_the_verdicts_of_one_search_are_independent() {
    let p = nets::crossed_locks();
    let kinds = vec![
        PropertyKind::NoDeadlock,
        PropertyKind::NeverFires(vec![Transition::new(0)]),
        PropertyKind::NeverFires(vec![]),
        PropertyKind::Ltl {
            formula: Ltl::globally(Ltl::not(atom(0))),
            atoms: vec![AtomData { text: "deadlock".to_owned(), expr: Expr::Deadlock }],
        },
    ];
    let outcomes = check(&p.net, kinds, Fairness::None, Limits::default());
    let Verdict::Violated(trace) = &outcomes[0].verdict else { panic!() };
    assert_eq!((trace.prefix.len(), &trace.end), (4, &TraceEnd::Stutter));
    let Verdict::Violated(trace) = &outcomes[1].verdict else { panic!() };
    assert_eq!(trace.prefix.len(), 1);
    assert!(matches!(outcomes[2].verdict, Verdict::Holds));
    let Verdict::Violated(trace) = &outcomes[3].verdict else { panic!() };
    assert_eq!((trace.prefix.len(), &trace.end), (4, &TraceEnd::Any));
}

/// Main waits for the flag in a loop, and the other thread sets it.
fn spinning() -> (Program, Place, Place) {
    let mut p = Program::new(2, 1);
    let (main, setter) = (p.function("main"), p.function("setter"));
    let (flag, seen) = (p.global("flag", 0), p.global("seen", 0));
    let [spin, out, end] = [(); 3].map(|()| p.place(main));
    let handle = p.local(main, "handle");
    let (main_entry, setter_entry, setter_exit) = (p.entry(main), p.entry(setter), p.exit(setter));
    p.create(main_entry, spin, setter, (handle, Builder::frame()));
    p.branch(spin, (out, spin), flag, &[], |flag| flag);
    p.update(out, end, seen, |_| constant(1));
    p.process_end(end);
    p.update(setter_entry, setter_exit, flag, |_| constant(1));
    p.thread_end(setter_exit);
    (p, flag, seen)
}

#[test]
fn waiting_in_a_loop_needs_weak_fairness() {
    let (p, flag, seen) = spinning();
    let eventually = || formula(Ltl::finally(atom(0)), &[(seen, 1)]);
    let trace = violation(&p.net, eventually(), Fairness::None);
    let TraceEnd::Cycle(cycle) = &trace.end else { panic!("{trace:?}") };
    assert_eq!((trace.prefix.len(), cycle.len()), (1, 1));
    assert_holds(&p.net, eventually(), Fairness::Weak);
    assert_holds(&p.net, eventually(), Fairness::Strong);
    assert_holds(&p.net, PropertyKind::NoDeadlock, Fairness::None);
    let response = Ltl::globally(Ltl::implies(atom(0), Ltl::finally(atom(1))));
    violation(&p.net, formula(response.clone(), &[(flag, 0), (flag, 1)]), Fairness::None);
    assert_holds(&p.net, formula(response, &[(flag, 0), (flag, 1)]), Fairness::Weak);
}

#[test]
fn taking_a_contended_lock_needs_strong_fairness() {
    let mut p = Program::new(2, 1);
    let (main, greedy) = (p.function("main"), p.function("greedy"));
    let (m, got) = (p.global("m", 0), p.global("got", 0));
    let [wants, has, done] = [(); 3].map(|()| p.place(main));
    let handle = p.local(main, "handle");
    let (entry, greedy_entry) = (p.entry(main), p.entry(greedy));
    p.create(entry, wants, greedy, (handle, Builder::frame()));
    p.lock(wants, has, m);
    p.update(has, done, got, |_| constant(1));
    p.jump(done, done);
    let inside = p.place(greedy);
    p.lock(greedy_entry, inside, m);
    p.unlock(inside, greedy_entry, m);
    let eventually = || formula(Ltl::finally(atom(0)), &[(got, 1)]);
    violation(&p.net, eventually(), Fairness::None);
    let trace = violation(&p.net, eventually(), Fairness::Weak);
    let TraceEnd::Cycle(cycle) = &trace.end else { panic!("{trace:?}") };
    assert_eq!(cycle.len(), 2);
    assert_holds(&p.net, eventually(), Fairness::Strong);
}

#[test]
fn the_first_letter_is_that_of_the_initial_state() {
    let (p, flag, _) = spinning();
    assert_holds(&p.net, formula(Ltl::finally(atom(0)), &[(flag, 0)]), Fairness::None);
    assert_holds(&p.net, formula(atom(0), &[(flag, 0)]), Fairness::None);
    let trace = violation(&p.net, formula(atom(0), &[(flag, 1)]), Fairness::None);
    assert_eq!(trace, Trace { prefix: vec![], end: TraceEnd::Any });
    assert_holds(&p.net, formula(Ltl::next(atom(0)), &[(flag, 0)]), Fairness::None);
    let trace = violation(&p.net, formula(Ltl::next(Ltl::next(atom(0))), &[(flag, 0)]), Fairness::None);
    assert_eq!((trace.prefix.len(), trace.end), (2, TraceEnd::Any));
    let weak_until = Ltl::weak_until(atom(0), Ltl::False);
    let trace = violation(&p.net, formula(weak_until, &[(flag, 0)]), Fairness::Weak);
    assert_eq!((trace.prefix.len(), trace.end), (2, TraceEnd::Any));
}

#[test]
fn a_run_that_ends_repeats_its_last_state() {
    let (p, failing, x) = nets::counter(1, true);
    let stable = Ltl::finally(Ltl::globally(atom(0)));
    assert_holds(&p.net, formula(stable.clone(), &[(x, 1)]), Fairness::None);
    let trace = violation(&p.net, formula(stable, &[(x, 0)]), Fairness::None);
    assert_eq!(trace.end, TraceEnd::Stutter);
    assert_holds(&p.net, PropertyKind::NeverFires(vec![failing]), Fairness::None);
}

/// x becomes 0, 1 or 2; then 1 is bad and, if `fails`, an assumption fails where it is not 0.
fn assuming(fails: bool) -> (Program, Place) {
    let mut p = Program::new(1, 1);
    let main = p.function("main");
    let x = p.global("x", 0);
    let [chosen, after] = [(); 2].map(|()| p.place(main));
    let entry = p.entry(main);
    p.step(Action::Assign, (entry, Some(chosen)), |_, b| {
        let domain = Domain { ranges: vec![(0, 2)], exact: true };
        let choice = b.choose("choice", Base::Int(IntType::I32), domain);
        b.write(x, vec![], Expr::Var(choice));
    });
    p.step(Action::Assume, (chosen, Some(after)), |net, b| {
        let value = b.read(net, x, vec![]);
        b.guard(Expr::equal(value, constant(0)));
    });
    let action = if fails { Action::AssumeFail } else { Action::ProcessEnd };
    p.step(action, (chosen, None), |net, b| {
        let value = b.read(net, x, vec![]);
        b.guard(less(constant(0), value));
    });
    p.jump(after, after);
    (p, x)
}

#[test]
fn a_failed_assumption_removes_the_run_that_came_there() {
    let never_one = |x| formula(Ltl::globally(Ltl::not(atom(0))), &[(x, 1)]);
    let weak = |x| formula(Ltl::weak_until(Ltl::not(atom(0)), Ltl::False), &[(x, 1)]);
    let fairly = |x| formula(Ltl::finally(Ltl::globally(atom(0))), &[(x, 0)]);
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        let (p, x) = assuming(true);
        for kind in [never_one(x), weak(x), fairly(x), PropertyKind::NoDeadlock] {
            assert_holds(&p.net, kind, fairness);
        }
        let (p, x) = assuming(false);
        for kind in [never_one(x), weak(x), fairly(x)] {
            violation(&p.net, kind, fairness);
        }
    }
}

#[test]
fn bounds_samples_and_faults_make_holds_into_unknown() {
    // Recursion to depth 4 with room for 3 frames.
    let net = nets::recursion(3, 3).net;
    let StopReason::Bound { bound, limit, .. } = reason(&net, PropertyKind::NoDeadlock) else { panic!() };
    assert_eq!((bound, limit), (Bound::Depth, Some(3)));
    let net = nets::recursion(2, 5).net;
    assert_holds(&net, PropertyKind::NoDeadlock, Fairness::None);

    let mut p = Program::new(1, 1);
    let main = p.function("main");
    let x = p.global("x", 0);
    let (entry, exit) = (p.entry(main), p.exit(main));
    p.step(Action::Assign, (entry, Some(exit)), |_, b| {
        let domain = Domain { ranges: vec![(0, 3)], exact: false };
        let choice = b.choose("choice", Base::Int(IntType::I32), domain);
        b.write(x, vec![], Expr::Var(choice));
    });
    assert_eq!(
        reason(&p.net, PropertyKind::NeverFires(vec![])),
        StopReason::Sampled { pos: None, note: None }
    );
    violation(&p.net, formula(Ltl::globally(Ltl::not(atom(0))), &[(x, 3)]), Fairness::None);
    violation(&p.net, PropertyKind::NoDeadlock, Fairness::None);
    // A formula that is decided before the choice does not depend on it.
    assert_holds(&p.net, formula(atom(0), &[(x, 0)]), Fairness::None);

    let fault = p.step(Action::Fault(Fault::DivisionByZero), (exit, None), |net, b| {
        let value = b.read(net, x, vec![]);
        b.guard(Expr::equal(value, constant(2)));
    });
    let expected = StopReason::Undefined { fault: Fault::DivisionByZero, pos: None };
    assert_eq!(reason(&p.net, PropertyKind::NeverFires(vec![])), expected);
    let trace = violation(&p.net, PropertyKind::NeverFires(vec![fault]), Fairness::None);
    assert_eq!(trace.prefix.len(), 2);
    let finally = formula(Ltl::globally(Ltl::finally(Ltl::not(atom(0)))), &[(x, 9)]);
    assert_eq!(reason(&p.net, finally), expected);
}

#[test]
fn limits_are_ordinary_outcomes() {
    let (p, x) = nets::locked_loops(2, 4);
    let unreached = || formula(Ltl::globally(Ltl::not(atom(0))), &[(x, 99)]);
    let early = || formula(Ltl::globally(Ltl::not(atom(0))), &[(x, 1)]);
    let product = || formula(Ltl::finally(Ltl::globally(Ltl::not(atom(0)))), &[(x, 99)]);
    let kinds = || vec![unreached(), early(), product()];
    let limits = Limits { states: Some(200), ..Limits::default() };
    let outcomes = check_with(PLAIN, &p.net, kinds(), Fairness::None, limits);
    assert!(matches!(outcomes[0].verdict, Verdict::Unknown(StopReason::States(200))));
    assert!(matches!(outcomes[1].verdict, Verdict::Violated(_)), "{:?}", outcomes[1].verdict);
    assert!(matches!(outcomes[2].verdict, Verdict::Unknown(StopReason::States(200))));
    assert!(outcomes[0].stats.states >= 200);
    let limits = Limits { memory: Some(10), ..Limits::default() };
    let outcomes = check_with(PLAIN, &p.net, kinds(), Fairness::None, limits);
    assert!(outcomes.iter().all(|o| matches!(o.verdict, Verdict::Unknown(StopReason::Memory { limit: 10 }))));
    let limits = Limits { timeout: Some(Duration::ZERO), ..Limits::default() };
    let outcomes = check_with(PLAIN, &p.net, kinds(), Fairness::None, limits);
    assert!(outcomes.iter().all(|o| matches!(o.verdict, Verdict::Unknown(StopReason::Timeout(_)))));
}

#[test]
fn an_observer_can_stop_a_search() {
    struct Impatient(u32);
    impl Observer for Impatient {
        fn progress(&mut self, progress: &Progress) -> Control {
            assert!(progress.states >= progress.frontier && progress.memory_bytes > 0);
            self.0 += 1;
            Control::Stop
        }
    }
    // The counter counts forever.
    let mut p = Program::new(1, 1);
    let main = p.function("main");
    let x = p.global("x", 0);
    let entry = p.entry(main);
    p.update(entry, entry, x, |x| nets::add(x, constant(1)));
    let properties =
        [property(PropertyKind::NoDeadlock), property(formula(Ltl::finally(atom(0)), &[(x, -7)]))];
    let request =
        Request { net: &p.net, properties: &properties, fairness: Fairness::None, limits: Limits::default() };
    let mut observer = Impatient(0);
    let outcomes = PLAIN.check(&request, &mut observer);
    assert!(outcomes.iter().all(|o| matches!(o.verdict, Verdict::Unknown(StopReason::Interrupted))));
    assert_eq!(observer.0, 1);
}

#[test]
fn what_states_have_no_room_for_is_not_ignored() {
    let mut p = Program::new(1, 1);
    let main = p.function("main");
    let numbers =
        p.net.add_token_place("numbers", pdnet_net::PlaceKind::Variable, vec![Base::Int(IntType::I32)]);
    let (entry, exit) = (p.entry(main), p.exit(main));
    p.step(Action::Assign, (entry, Some(exit)), |_, b| {
        b.arc(pdnet_net::ArcData::Put { place: numbers, token: vec![constant(5)] });
    });
    let StopReason::Unsupported(text) = reason(&p.net, PropertyKind::NoDeadlock) else { panic!() };
    assert!(text.contains("numbers"), "{text}");
}

#[test]
fn state_counts_are_exact() {
    let count = |net: &Net| {
        let properties = [property(PropertyKind::NeverFires(vec![]))];
        let (fairness, limits) = (Fairness::None, Limits::default());
        let request = Request { net, properties: &properties, fairness, limits };
        Explicit::PLAIN.check(&request, &mut Silent)[0].stats
    };
    let cases = [
        ("counter", nets::counter(2, false).0.net, (83, 133)),
        ("locked counter", nets::counter(2, true).0.net, (47, 68)),
        ("crossed locks", nets::crossed_locks().net, (49, 76)),
        ("conditions", nets::conditions().net, (4987, 13_218)),
        ("recursion", nets::recursion(2, 5).net, (198, 365)),
        ("fibonacci", nets::fibonacci(6).0.net, (87_977, 123_058)),
        ("locked loops", nets::locked_loops(2, 3).0.net, (945, 1683)),
    ];
    for (name, net, expected) in cases {
        let stats = count(&net);
        assert_eq!((stats.states, stats.transitions), expected, "{name}");
    }
}

/// x becomes 1, and then comes the last step; with `assumes`, an assumption may fail instead of it.
fn last_step(last: Action, assumes: bool) -> (Program, Place, Transition) {
    let mut p = Program::new(1, 1);
    let main = p.function("main");
    let x = p.global("x", 0);
    let middle = p.place(main);
    let entry = p.entry(main);
    p.update(entry, middle, x, |_| constant(1));
    let last = p.step(last, (middle, None), |_, _| {});
    if assumes {
        p.step(Action::AssumeFail, (middle, None), |_, _| {});
    }
    (p, x, last)
}

const DIVISION: Action = Action::Fault(Fault::DivisionByZero);

#[test]
fn nothing_is_said_of_what_comes_after_undefined_behaviour() {
    let (p, x, fault) = last_step(DIVISION, false);
    let expected = StopReason::Undefined { fault: Fault::DivisionByZero, pos: None };
    let ended = Expr::Marked(p.net.ended.unwrap(), vec![]);
    let finally_ended = |formula: fn(Ltl) -> Ltl| PropertyKind::Ltl {
        formula: formula(Ltl::finally(atom(0))),
        atoms: vec![AtomData { text: "end".to_owned(), expr: ended.clone() }],
    };
    // The process may end or not.
    assert_eq!(reason(&p.net, finally_ended(|f| f)), expected);
    assert_eq!(reason(&p.net, finally_ended(Ltl::not)), expected);
    // x is 1 and may stay so or not.
    let settles = |value| formula(Ltl::finally(Ltl::globally(atom(0))), &[(x, value)]);
    assert_eq!(reason(&p.net, settles(0)), expected);
    assert_eq!(reason(&p.net, settles(1)), expected);
    // It is no deadlock.
    assert_eq!(reason(&p.net, PropertyKind::NoDeadlock), expected);
    // The step itself is a violation where it must not happen.
    let trace = violation(&p.net, PropertyKind::NeverFires(vec![fault]), Fairness::None);
    assert_eq!((trace.prefix.len(), trace.end), (2, TraceEnd::Any));
    // What comes after an assertion that failed is known: the process has ended.
    let (p, _, _) = last_step(Action::AssertFail, false);
    assert_holds(&p.net, finally_ended(|f| f), Fairness::None);
}

/// `x is never 1` for the search of invariants and for both searches of the product. (x never is 9.)
fn never_one(x: Place) -> [PropertyKind; 3] {
    let not = || Ltl::not(atom(0));
    [
        Ltl::globally(not()),
        Ltl::weak_until(not(), Ltl::False),
        Ltl::and(Ltl::globally(not()), Ltl::globally(Ltl::finally(Ltl::not(atom(1))))),
    ]
    .map(|never| formula(never, &[(x, 1), (x, 9)]))
}

#[test]
fn a_bad_prefix_before_undefined_behaviour_was_real() {
    for assumes in [false, true] {
        let (p, x, _) = last_step(DIVISION, assumes);
        for kind in never_one(x) {
            let trace = violation(&p.net, kind, Fairness::None);
            assert_eq!((trace.prefix.len(), trace.end), (1, TraceEnd::Any));
        }
    }
    let (p, x, _) = last_step(DIVISION, false);
    for kind in never_one(x) {
        violation(&p.net, kind, Fairness::Weak);
    }
    // With fairness and assumptions a prefix decides nothing.
    let (p, x, _) = last_step(DIVISION, true);
    for kind in never_one(x) {
        let found = verdict(&p.net, kind, Fairness::Weak);
        assert!(matches!(found, Verdict::Unknown(StopReason::Undefined { .. })), "{found:?}");
    }
}

#[test]
fn behind_a_bound_an_assumption_may_fail() {
    let bound = Action::Bound(Bound::Depth);
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        let (p, x, _) = last_step(bound, true);
        for kind in never_one(x) {
            let found = verdict(&p.net, kind, fairness);
            let is_bound =
                |reason: &StopReason| matches!(reason, StopReason::Bound { bound: Bound::Depth, .. });
            assert!(matches!(&found, Verdict::Unknown(reason) if is_bound(reason)), "{found:?}");
        }
        // Without assumptions the program goes on in some way.
        let (p, x, _) = last_step(bound, false);
        for kind in never_one(x) {
            violation(&p.net, kind, fairness);
        }
    }
}

#[test]
fn the_search_goes_on_after_a_prefix_that_only_a_bound_supports() {
    // x = 1 meets a bound; x = 0, x = 1 a step later ends.
    let mut p = Program::new(1, 1);
    let main = p.function("main");
    let x = p.global("x", 0);
    let [short, long, longer, end] = [(); 4].map(|()| p.place(main));
    let entry = p.entry(main);
    p.update(entry, short, x, |_| constant(1));
    p.step(Action::Bound(Bound::Depth), (short, None), |_, _| {});
    p.step(Action::AssumeFail, (short, None), |_, _| {});
    p.jump(entry, long);
    p.jump(long, longer);
    p.update(longer, end, x, |_| constant(1));
    p.process_end(end);
    for kind in never_one(x) {
        let trace = violation(&p.net, kind, Fairness::None);
        assert_eq!((trace.prefix.len(), trace.end), (3, TraceEnd::Any));
    }
}

#[test]
fn a_sample_that_fails_an_assumption_says_nothing_of_other_values() {
    // x = 1; assume(input == 1000), of which the sample knows nothing.
    let mut p = Program::new(1, 1);
    let main = p.function("main");
    let x = p.global("x", 0);
    let input = p.global("input", 0);
    let [before, after] = [(); 2].map(|()| p.place(main));
    let entry = p.entry(main);
    p.update(entry, before, x, |_| constant(1));
    p.step(Action::Assign, (before, Some(after)), |_, b| {
        let domain = Domain { ranges: vec![(0, 3)], exact: false };
        let choice = b.choose("choice", Base::Int(IntType::I32), domain);
        b.write(input, vec![], Expr::Var(choice));
    });
    p.step(Action::AssumeFail, (after, None), |_, _| {});
    for kind in never_one(x) {
        assert_eq!(reason(&p.net, kind), StopReason::Sampled { pos: None, note: None });
    }
}
