//! Properties that are automata: against the formulas that they are made of, against the reference, and one by one
//! where a careless engine or replay would be wrong.

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{
    AtomData, Engine as _, Fairness, Limits, Property, PropertyKind, ReplayError, Request, Silent, Trace,
    TraceEnd, Verdict, replay,
};
use pdnet_explicit::Explicit;
use pdnet_logic::{Atom, AutomatonBuilder, Guard};
use pdnet_net::{Net, parse_net};
use pdnet_source::SourceMap;
use pdnet_testkit::{
    NetConfig, ReachableGraph, compare, never_of_formula, never_property, random_atoms, random_automaton,
    random_formula, random_net,
};

const KINDS: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

fn ask(net: &Net, properties: &[Property], fairness: Fairness) -> Vec<Verdict> {
    let request = Request { net, properties, fairness, limits: Limits::default() };
    let outcomes = Explicit::default().check(&request, &mut Silent);
    outcomes.into_iter().map(|outcome| outcome.verdict).collect()
}

/// A formula and the automaton of its negation are the same question.
#[test]
fn an_automaton_of_a_formula_answers_as_the_formula_does() {
    let seed = Rng::test_seed(1);
    let mut rng = Rng::new(seed);
    let (mut n_holds, mut n_violated, mut n_open) = (0, 0, 0);
    for case in 0..600 {
        let net = random_net(&mut rng, &NetConfig::default());
        if ReachableGraph::build(&net, 500).is_none() {
            continue;
        }
        let atoms = random_atoms(&mut rng, &net, 2);
        let formula = random_formula(&mut rng, 2, 9);
        let claim = never_of_formula("claim", &formula, atoms.clone());
        let accepts_nothing =
            matches!(&claim.kind, PropertyKind::Never { automaton, .. } if automaton.n_edges() == 0);
        let kind = PropertyKind::Ltl { formula: formula.clone(), atoms };
        let properties = [Property { kind, ..claim.clone() }, claim];
        for fairness in KINDS {
            match ask(&net, &properties, fairness).as_slice() {
                [Verdict::Holds, Verdict::Holds] => n_holds += 1,
                [Verdict::Violated(_), Verdict::Violated(_)] => n_violated += 1,
                [Verdict::Unknown(_), Verdict::Unknown(_)] => n_open += 1,
                // What accepts nothing at all accepts no run that is not known either.
                [Verdict::Unknown(_), Verdict::Holds] if accepts_nothing => n_holds += 1,
                other => panic!("seed {seed}, case {case}, {fairness}, {formula:?}: {other:?}\n{net}"),
            }
        }
    }
    assert!(n_holds > 200 && n_violated > 200 && n_open > 10, "{n_holds} {n_violated} {n_open}");
}

/// Automata that no formula need have, also larger ones than those of the conformance suite.
#[test]
fn random_automata_agree_with_the_reference() {
    let seed = Rng::test_seed(2);
    let mut rng = Rng::new(seed);
    let (mut n_holds, mut n_violated) = (0, 0);
    for case in 0..1500 {
        let net = random_net(&mut rng, &NetConfig::default());
        let Some(graph) = ReachableGraph::build(&net, 300) else { continue };
        let atoms = random_atoms(&mut rng, &net, 3);
        let property = never_property("never", random_automaton(&mut rng, 3, 8), atoms);
        for fairness in KINDS {
            let compared =
                compare(&Explicit::default(), &graph, std::slice::from_ref(&property), fairness, false);
            match compared {
                Ok(report) => {
                    n_holds += report.holds;
                    n_violated += report.violated;
                }
                Err(wrong) => panic!("seed {seed}, case {case}: {wrong}"),
            }
        }
    }
    assert!(n_holds > 500 && n_violated > 500, "{n_holds} {n_violated}");
}

/// A thread that takes a step that nobody sees, sets `x` to 1, and ends the process: `x` is 0 in two states.
const COUNT: &str = r#"
    net "count" threads 1 depth 1
    color c0 = thread depth
    color c1 = thread
    color c2 =
    color c3 = i32
    function f0 "main" entry p0 exit p0
    place p0 execution c0 "0" of f0 tokens (0 0)
    place p1 execution c0 "1" of f0 tokens
    place p2 execution c0 "2" of f0 tokens
    place p3 execution c1 "done" tokens
    place p4 execution c2 "ended" tokens
    place p5 variable c3 "x" cells global i32 = 0
    done p3
    ended p4
    transition t0 jump f0 "skip"
      var x0 thread "t" var x1 depth "d"
      take p0 (?x0 ?x1) put p1 (x0 x1)
    transition t1 assign f0 "x = 1"
      var x0 thread "t" var x1 depth "d"
      take p1 (?x0 ?x1) write p5 () 1 put p2 (x0 x1)
    transition t2 process-end f0 "end"
      var x0 thread "t" var x1 depth "d"
      take p2 (?x0 ?x1)
"#;

fn net(text: &str) -> Net {
    let mut map = SourceMap::new();
    let file = map.add("net", text);
    let net = parse_net(&map, file).expect("a net");
    assert_eq!(pdnet_net::verify_net(&net), []);
    net
}

/// The atom `x`, which is number 0.
fn x(net: &Net) -> Vec<AtomData> {
    let place = net.places.iter_enumerated().find(|(_, data)| data.name == "x").expect("x").0;
    vec![AtomData { text: "x".to_owned(), expr: pdnet_net::Expr::Cell(place, Vec::new()) }]
}

fn x_is(value: bool) -> Guard {
    let atom = Guard::Atom(Atom::new(0));
    if value { atom } else { atom.negated() }
}

/// The claim that comes to its end when `x` is 0 in the first `n_zeros` states and not in the next.
fn zeros_then_one(net: &Net, n_zeros: usize) -> Property {
    let mut builder = AutomatonBuilder::new(1);
    let end = builder.add_accept_all();
    let first = builder.add_state();
    let mut at = first;
    for _ in 0..n_zeros {
        let next = builder.add_state();
        builder.add_edge(at, x_is(false), next, 0);
        at = next;
    }
    builder.add_edge(at, x_is(true), end, 0);
    never_property("zeros", builder.finish(&[first], vec!["x".to_owned()]).expect("small"), x(net))
}

/// The claim that accepts when `x` has this value from some point on.
fn in_the_end(net: &Net, value: bool) -> Property {
    let mut builder = AutomatonBuilder::new(1);
    let (start, stays) = (builder.add_state(), builder.add_state());
    builder.add_edge(start, Guard::True, start, 0);
    builder.add_edge(start, x_is(value), stays, 0);
    builder.add_edge(stays, x_is(value), stays, 0);
    builder.mark_state(stays, 1);
    never_property("end", builder.finish(&[start], vec!["x".to_owned()]).expect("small"), x(net))
}

/// A reduction that leaves out the step that nobody sees would miscount.
#[test]
fn an_automaton_counts_steps() {
    let net = net(COUNT);
    let properties: Vec<Property> = (0..5).map(|n_zeros| zeros_then_one(&net, n_zeros)).collect();
    for fairness in KINDS {
        let verdicts = ask(&net, &properties, fairness);
        for (n_zeros, verdict) in verdicts.iter().enumerate() {
            let Verdict::Violated(trace) = verdict else {
                assert!(matches!(verdict, Verdict::Holds) && n_zeros != 2, "{n_zeros}: {verdict:?}");
                continue;
            };
            assert_eq!((n_zeros, trace.prefix.len(), &trace.end), (2, 2, &TraceEnd::Any));
            replay(&net, &properties[n_zeros], fairness, trace).expect("a violation");
        }
    }
}

/// A run that ends repeats its last state, and the automaton goes on reading it.
#[test]
fn an_automaton_reads_the_last_state_forever() {
    let net = net(COUNT);
    let properties = [in_the_end(&net, true), in_the_end(&net, false)];
    for fairness in KINDS {
        let verdicts = ask(&net, &properties, fairness);
        let [Verdict::Violated(trace), Verdict::Holds] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        replay(&net, &properties[0], fairness, trace).expect("a violation");
        // The same run does not break the other property, nor may it be called a prefix that decides.
        let wrong = replay(&net, &properties[1], fairness, trace).expect_err("not accepted");
        assert_eq!(wrong, ReplayError::NoViolation);
        let cut = Trace { end: TraceEnd::Any, ..trace.clone() };
        let wrong = replay(&net, &properties[0], fairness, &cut).expect_err("the rest matters");
        assert_eq!(wrong, ReplayError::NoViolation);
    }
}

/// What a claim has seen before undefined behaviour did happen; what it would see afterwards did not.
#[test]
fn a_claim_may_end_before_undefined_behaviour() {
    let net = net(&COUNT.replace("process-end", "fault-overflow"));
    let properties = [zeros_then_one(&net, 2), in_the_end(&net, true)];
    let verdicts = ask(&net, &properties, Fairness::None);
    let [Verdict::Violated(trace), Verdict::Unknown(_)] = verdicts.as_slice() else { panic!("{verdicts:?}") };
    replay(&net, &properties[0], Fairness::None, trace).expect("a violation");
}
