//! Several workers on one search: as many states as with one, and limits that hold for all of them.

use std::time::Duration;

use pdnet_base::Idx as _;
use pdnet_check::{
    AtomData, Control, Engine as _, Fairness, Limits, Observer, Progress, Property, PropertyKind, Request,
    Silent, Stats, StopReason, Verdict, replay,
};
use pdnet_explicit::{Crew, Explicit};
use pdnet_logic::{Atom, Ltl};
use pdnet_net::{Expr, Net};

#[path = "../../space/tests/nets/mod.rs"]
mod nets;

use nets::{Program, constant};

fn engine(workers: usize, from_states: usize) -> Explicit {
    Explicit { crew: Crew { workers, from_states }, ..Explicit::PLAIN }
}

fn property(kind: PropertyKind) -> Property {
    Property { name: "p".to_owned(), text: "p".to_owned(), class: "unreach-call", kind }
}

/// What becomes of a search for something that is not there.
fn search(engine: &Explicit, net: &Net, limits: Limits, observer: &mut dyn Observer) -> (Verdict, Stats) {
    let properties = [property(PropertyKind::NeverFires(vec![]))];
    let request = Request { net, properties: &properties, fairness: Fairness::None, limits };
    let outcome = engine.check(&request, observer).remove(0);
    (outcome.verdict, outcome.stats)
}

/// Counts forever, in two threads.
fn endless() -> Program {
    let mut p = Program::new(2, 1);
    let (main, worker) = (p.function("main"), p.function("worker"));
    let x = p.global("x", 0);
    p.main_with_workers(main, worker, 1);
    let y = p.global("y", 0);
    for (function, counter) in [(main, y), (worker, x)] {
        let entry = p.entry(function);
        p.update(entry, entry, counter, |counter| nets::add(counter, constant(1)));
    }
    p
}

#[test]
fn workers_find_all_states_once() {
    let cases = [
        ("conditions", nets::conditions().net),
        ("recursion", nets::recursion(2, 5).net),
        ("fibonacci", nets::fibonacci(5).0.net),
        ("locked loops", nets::locked_loops(2, 3).0.net),
    ];
    let settings = [
        Explicit::PLAIN,
        Explicit { forget: true, ..Explicit::PLAIN },
        Explicit { through_sections: true, ..Explicit::PLAIN },
    ];
    for (name, net) in &cases {
        for setting in settings {
            let (_, alone) = search(&setting, net, Limits::default(), &mut Silent);
            for (workers, from_states) in [(2, 1), (2, 500), (4, 1), (7, 30)] {
                let engine = Explicit { crew: Crew { workers, from_states }, ..setting };
                let (verdict, stats) = search(&engine, net, Limits::default(), &mut Silent);
                assert!(matches!(verdict, Verdict::Holds), "{name}: {verdict:?}");
                let counts = |stats: &Stats| (stats.states, stats.transitions, stats.states_outside);
                assert_eq!(counts(&stats), counts(&alone), "{name}, {engine:?}");
            }
        }
    }
}

/// Formulas with several workers: the same answers, as many nodes where there is no violation, and runs that are violations.
#[test]
fn workers_change_neither_nodes_nor_answers() {
    let (p, i, j) = nets::fibonacci(5);
    let is = |cell, value| Expr::equal(Expr::Cell(cell, vec![]), constant(value));
    let atom = |number| Ltl::atom(Atom::new(number));
    let always_later = |one: Ltl, other: Ltl| Ltl::globally(Ltl::implies(one, Ltl::finally(other)));
    // The first holds since its atom is never true, the second fails on the run that stays at its end. The automaton of the
    // third has many states. The last two are decided by finite runs: one holds, the other does not.
    let formulas = [
        always_later(atom(0), atom(1)),
        Ltl::globally(Ltl::finally(atom(1))),
        Ltl::or(
            Ltl::or(always_later(atom(0), atom(1)), Ltl::finally(Ltl::globally(atom(0)))),
            Ltl::globally(Ltl::finally(Ltl::and(atom(1), Ltl::next(Ltl::next(atom(1)))))),
        ),
        Ltl::globally(Ltl::implies(atom(0), Ltl::next(atom(1)))),
        Ltl::globally(Ltl::implies(atom(1), Ltl::next(atom(1)))),
    ];
    let mut n_violated = [0; 5];
    for (number, formula, fairness) in formulas.iter().enumerate().flat_map(|(number, formula)| {
        [Fairness::None, Fairness::Weak, Fairness::Strong].map(|f| (number, formula, f))
    }) {
        let atoms = [("i == -1", is(i, -1)), ("j == 2", is(j, 2))];
        let atoms = atoms.map(|(text, expr)| AtomData { text: text.to_owned(), expr }).to_vec();
        let properties = [property(PropertyKind::Ltl { formula: formula.clone(), atoms })];
        let request = Request { net: &p.net, properties: &properties, fairness, limits: Limits::default() };
        let check = |engine: Explicit| engine.check(&request, &mut Silent).remove(0);
        let alone = check(Explicit::PLAIN);
        for (workers, from_states) in [(1, 1), (2, 1), (2, 300), (4, 1), (40, 1)] {
            let shared = check(engine(workers, from_states));
            match (&shared.verdict, &alone.verdict) {
                (Verdict::Violated(trace), Verdict::Violated(_)) => {
                    n_violated[number] += 1;
                    replay(&p.net, &properties[0], fairness, trace).unwrap();
                }
                (Verdict::Holds, Verdict::Holds) => {
                    let counts = |stats: &Stats| (stats.states, stats.transitions);
                    assert_eq!(
                        counts(&shared.stats),
                        counts(&alone.stats),
                        "{fairness:?}, {workers} workers"
                    );
                }
                (shared, alone) => {
                    panic!("{formula:?}, {fairness:?}, {workers} workers: {shared:?}, {alone:?}")
                }
            }
        }
    }
    assert_eq!(n_violated, [0, 15, 0, 0, 15]);
}

#[test]
fn limits_hold_for_all_workers() {
    let p = endless();
    let many = engine(3, 50);
    let limited = |limits| search(&many, &p.net, limits, &mut Silent);
    let (verdict, stats) = limited(Limits { states: Some(20_000), ..Limits::default() });
    assert!(matches!(verdict, Verdict::Unknown(StopReason::States(20_000))), "{verdict:?}");
    // Each of them may be about to put in the successors of a state.
    assert!((20_001..20_100).contains(&stats.states), "{} states", stats.states);
    let (verdict, stats) = limited(Limits { memory: Some(4 << 20), ..Limits::default() });
    assert!(matches!(verdict, Verdict::Unknown(StopReason::Memory { .. })), "{verdict:?}");
    assert!(stats.peak_memory_bytes < 6 << 20, "{} bytes", stats.peak_memory_bytes);
    let (verdict, _) = limited(Limits { timeout: Some(Duration::from_millis(50)), ..Limits::default() });
    assert!(matches!(verdict, Verdict::Unknown(StopReason::Timeout(_))), "{verdict:?}");
}

#[test]
fn limits_hold_for_all_workers_on_a_formula() {
    let p = endless();
    let x = p.net.places.iter_enumerated().find(|(_, place)| place.name == "x").unwrap().0;
    let expr = Expr::equal(Expr::Cell(x, vec![]), constant(-1));
    let atom = || Ltl::atom(Atom::new(0));
    // A search for cycles, and one for a finite run.
    let formulas = [
        Ltl::globally(Ltl::finally(Ltl::not(atom()))),
        Ltl::globally(Ltl::implies(atom(), Ltl::next(atom()))),
    ];
    // Two workers share the work in another way than three.
    for (formula, workers) in formulas.into_iter().flat_map(|formula| [2, 3].map(|n| (formula.clone(), n))) {
        let atoms = vec![AtomData { text: "x == -1".to_owned(), expr: expr.clone() }];
        let properties = [property(PropertyKind::Ltl { formula, atoms })];
        let limited = |limits| {
            let request = Request { net: &p.net, properties: &properties, fairness: Fairness::None, limits };
            let outcome = engine(workers, 50).check(&request, &mut Silent).remove(0);
            (outcome.verdict, outcome.stats)
        };
        let (verdict, stats) = limited(Limits { states: Some(20_000), ..Limits::default() });
        assert!(matches!(verdict, Verdict::Unknown(StopReason::States(20_000))), "{verdict:?}");
        // One who searches alone has not yet added the one that is too much.
        assert!((20_000..20_100).contains(&stats.states), "{} states", stats.states);
        let (verdict, stats) = limited(Limits { memory: Some(8 << 20), ..Limits::default() });
        assert!(matches!(verdict, Verdict::Unknown(StopReason::Memory { .. })), "{verdict:?}");
        assert!(stats.peak_memory_bytes < 12 << 20, "{} bytes", stats.peak_memory_bytes);
        let (verdict, _) = limited(Limits { timeout: Some(Duration::from_millis(50)), ..Limits::default() });
        assert!(matches!(verdict, Verdict::Unknown(StopReason::Timeout(_))), "{verdict:?}");
    }
}

#[test]
fn who_asked_hears_of_all_workers_and_stops_them() {
    struct Impatient(u64);
    impl Observer for Impatient {
        fn progress(&mut self, progress: &Progress) -> Control {
            assert!(progress.states >= progress.frontier && progress.memory_bytes > 0);
            assert!(progress.states >= self.0, "states do not go away");
            self.0 = progress.states;
            if progress.states > 5000 { Control::Stop } else { Control::Continue }
        }
    }
    let (verdict, _) = search(&engine(4, 10), &endless().net, Limits::default(), &mut Impatient(0));
    assert!(matches!(verdict, Verdict::Unknown(StopReason::Interrupted)), "{verdict:?}");
}

#[test]
fn steps_that_fire_are_seen_by_some_worker() {
    let net = nets::conditions().net;
    let unreached = |engine: Explicit| engine.unreached(&net, Limits::default(), &mut Silent).unwrap();
    assert_eq!(unreached(engine(4, 1)), unreached(Explicit::PLAIN));
}
