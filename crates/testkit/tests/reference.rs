//! The reference against what is simpler still: its own runs replayed, single runs judged one by one, and the
//! automata of the logic room.

use pdnet_base::Rng;
use pdnet_check::{Engine, replay};
use pdnet_check::{Fairness, Limits, Property, PropertyKind, Request, Silent, Verdict};
use pdnet_logic::translate;
use pdnet_net::{Firing, Interpreter, Successor};
use pdnet_testkit::{
    NetConfig, ReachableGraph, RefVerdict, Reference, check_engine, random_atoms, random_formula,
    random_lasso, random_net,
};

const KINDS: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

/// Every verdict of the reference against all that can be known without it: a violation must replay, and a
/// formula that holds must be true of every fair run that a random walk finds.
#[test]
fn verdicts_agree_with_single_runs() {
    let seed = Rng::test_seed(1);
    let mut rng = Rng::new(seed);
    let (mut n_holds, mut n_violated, mut n_fair_runs) = (0, 0, 0);
    for case in 0..250 {
        let net = random_net(&mut rng, &NetConfig::default());
        let Some(graph) = ReachableGraph::build(&net, 300) else { continue };
        let atoms = random_atoms(&mut rng, &net, 2);
        let formula = random_formula(&mut rng, 2, 8);
        let runs: Vec<_> = (0..40).filter_map(|_| random_lasso(&mut rng, &graph, 60)).collect();
        let mut weaker = RefVerdict::Violated;
        for fairness in KINDS {
            let context = format!("seed {seed}, case {case}, {fairness}, {formula:?}, {atoms:?}\n{net}");
            let answer = graph.holds(&formula, &atoms, fairness);
            assert!(
                !(weaker == RefVerdict::Holds && answer.verdict == RefVerdict::Violated),
                "more fairness makes fewer runs: {context}"
            );
            weaker = answer.verdict;
            if let Some(trace) = &answer.trace {
                n_violated += 1;
                let kind = PropertyKind::Ltl { formula: formula.clone(), atoms: atoms.clone() };
                let property =
                    Property { name: String::new(), text: String::new(), class: "valid-ltl", kind };
                if let Err(error) = replay(&net, &property, fairness, trace) {
                    panic!("{error}: {trace:?}\n{context}");
                }
                continue;
            }
            n_holds += 1;
            for run in runs.iter().filter(|run| run.is_fair(&graph, fairness)) {
                n_fair_runs += 1;
                assert!(run.satisfies(&graph, &formula, &atoms), "false on {run:?}\n{context}");
            }
        }
    }
    // Otherwise nothing much was tested.
    assert!(n_holds > 100 && n_violated > 100 && n_fair_runs > 1000, "{n_holds} {n_violated} {n_fair_runs}");
}

/// What the interpreter says of one transition, and of one thread, is a part of what it says of all.
#[test]
fn parts_of_what_is_enabled_are_parts_of_all() {
    let mut rng = Rng::new(Rng::test_seed(7));
    let mut n_firings = 0;
    for _ in 0..100 {
        let net = random_net(&mut rng, &NetConfig::default());
        let interpreter = Interpreter::new(&net);
        let mut marking = interpreter.initial();
        for _ in 0..30 {
            let enabled = interpreter.enabled(&marking);
            n_firings += enabled.len();
            for transition in net.transitions.indices() {
                let of = |firing: &&Firing| firing.transition == transition;
                let wanted: Vec<Firing> = enabled.iter().filter(of).cloned().collect();
                assert_eq!(interpreter.enabled_by(&marking, transition), wanted, "{net}");
                let threads = 0..i64::from(net.max_threads);
                let by_thread =
                    threads.flat_map(|thread| interpreter.enabled_of(&marking, transition, thread));
                assert_eq!(by_thread.collect::<Vec<Firing>>(), wanted, "{net}");
            }
            if enabled.is_empty() {
                break;
            }
            if let Successor::Marking(next) = interpreter.fire(&marking, rng.pick(&enabled)) {
                marking = next;
            }
        }
    }
    assert!(n_firings > 1000, "{n_firings}");
}

/// The harness itself, on an engine that is right by definition.
#[test]
fn the_reference_conforms_to_itself() {
    let report = check_engine(&Reference { limit: 2000 }, true, 60, Rng::test_seed(2));
    assert!(report.violated > 30 && report.holds > 30 && report.too_large < 20, "{report}");
}

/// The reference, but on every fifth net or so its violations are kept secret.
struct Liar;

impl Engine for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn check(
        &self,
        request: &Request<'_>,
        observer: &mut dyn pdnet_check::Observer,
    ) -> Vec<pdnet_check::Outcome> {
        let mut outcomes = Reference { limit: 2000 }.check(request, observer);
        for outcome in &mut outcomes {
            if matches!(outcome.verdict, Verdict::Violated(_))
                && request.net.transitions.len().is_multiple_of(5)
            {
                outcome.verdict = Verdict::Holds;
            }
        }
        outcomes
    }
}

#[test]
fn a_wrong_engine_is_found_out() {
    let result = std::panic::catch_unwind(|| check_engine(&Liar, true, 60, 3));
    let message = *result.expect_err("it lies").downcast::<String>().expect("a formatted message");
    for part in ["liar", "seed 3", "case seed", "the reference Violated", "net \"random\"", "property"] {
        assert!(message.contains(part), "{part} is missing in\n{message}");
    }
}

#[test]
fn limits_are_heard() {
    let net = random_net(&mut Rng::new(11), &NetConfig::default());
    let property = Property {
        name: String::new(),
        text: String::new(),
        class: "no-deadlock",
        kind: PropertyKind::NoDeadlock,
    };
    let limits = Limits { states: Some(1), ..Limits::default() };
    let request = Request { net: &net, properties: &[property], fairness: Fairness::None, limits };
    let outcomes = Reference { limit: 2000 }.check(&request, &mut Silent);
    assert!(matches!(outcomes[0].verdict, Verdict::Unknown(_)));
}

/// The tableau of the reference against the automata of the logic room, on the same graphs.
#[test]
fn the_tableau_and_the_automaton_agree() {
    let seed = Rng::test_seed(4);
    let mut rng = Rng::new(seed);
    let mut n_compared = 0;
    while n_compared < 300 {
        let net = random_net(&mut rng, &NetConfig::default());
        let Some(graph) = ReachableGraph::build(&net, 200) else { continue };
        let atoms = random_atoms(&mut rng, &net, 3);
        let formula = random_formula(&mut rng, 3, 8);
        let names = atoms.iter().map(|atom| atom.text.clone()).collect();
        let automaton = translate(&formula.negated(), names).expect("small formulas have automata");
        for fairness in KINDS {
            let by_tableau = graph.holds(&formula, &atoms, fairness).verdict;
            let by_automaton = graph.none_accepted(&automaton, &atoms, fairness).verdict;
            assert_eq!(by_tableau, by_automaton, "seed {seed}, {fairness}, {formula:?}, {atoms:?}\n{net}");
        }
        n_compared += 1;
    }
}
