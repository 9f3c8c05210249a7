//! Steps that are more, or less, than the arcs of one transition say: ranks, late steps, sections that are lost,
//! indivisible sequences, partners, and threads that begin again. The nets are small enough to be thought through.

use pdnet_base::Idx;
use pdnet_check::{
    AtomData, Engine, Fairness, Limits, Property, PropertyKind, Request, Silent, StopReason, Verdict, replay,
};
use pdnet_explicit::Explicit;
use pdnet_logic::{Atom, Ltl};
use pdnet_net::{
    Base, Bound, Expr, Firing, IntType, Interpreter, Marking, Net, PlaceForm, Successor, parse_net,
    verify_net,
};
use pdnet_source::{ColorChoice, SourceMap, render};
use pdnet_testkit::Reference;

/// A net of two functions with places `p0` to `p3` and `p4` to `p7`, and the global cells `p8` (x), `p9` (atomic)
/// and `p10` (indivisible). Transitions follow.
fn net(specials: &str, transitions: &str) -> Net {
    let text = format!(
        r#"net "steps" threads 3 depth 1
        color c0 = thread depth
        color c1 = u8
        color c2 = thread depth u8
        function f0 "f" entry p0 exit p3
        function f1 "g" entry p4 exit p7
        place p0 execution c0 "f0" of f0 tokens (0 0)
        place p1 execution c0 "f1" of f0 tokens
        place p2 execution c0 "f2" of f0 tokens
        place p3 execution c0 "f3" of f0 tokens
        place p4 execution c0 "g0" of f1 tokens (1 0)
        place p5 execution c0 "g1" of f1 tokens
        place p6 execution c0 "g2" of f1 tokens
        place p7 execution c0 "g3" of f1 tokens
        place p8 variable c1 "x" cells global u8 = 0
        place p9 variable c1 "owner" cells global u8 = 0
        place p10 variable c1 "inside" cells global u8 = 0
        place p11 variable c2 "local of g" of f1 cells frame f1 u8 = 0
        {specials} {transitions}"#
    );
    let mut map = SourceMap::new();
    let file = map.add("test.net", &text);
    let net =
        parse_net(&map, file).unwrap_or_else(|found| panic!("{}", render(&map, &found, ColorChoice::Plain)));
    assert_eq!(verify_net(&net), []);
    let again = map.add("again.net", net.to_string());
    assert_eq!(parse_net(&map, again).expect("what was printed"), net);
    net
}

/// A step from one place to another, with more arcs.
fn step(number: usize, head: &str, from: &str, to: &str, more: &str) -> String {
    format!(
        "transition t{number} {head} var x0 thread \"t\" var x1 depth \"d\" take {from} (?x0 ?x1) {more} \
         put {to} (x0 x1)\n"
    )
}

fn enabled(net: &Net, marking: &Marking) -> Vec<usize> {
    let enabled = Interpreter::new(net).enabled(marking);
    enabled.iter().map(|firing| Idx::index(firing.transition)).collect()
}

/// The marking after the first enabled binding of each of the transitions.
fn after(net: &Net, transitions: &[usize]) -> Marking {
    let interpreter = Interpreter::new(net);
    transitions.iter().fold(interpreter.initial(), |marking, &transition| {
        let firing = first(net, &marking, transition);
        let Successor::Marking(next) = interpreter.fire(&marking, &firing) else { panic!("pruned") };
        next
    })
}

fn first(net: &Net, marking: &Marking, transition: usize) -> Firing {
    let enabled = Interpreter::new(net).enabled(marking);
    let found = enabled.into_iter().find(|firing| Idx::index(firing.transition) == transition);
    found.unwrap_or_else(|| panic!("t{transition} is not enabled"))
}

#[test]
fn of_one_activation_only_the_lowest_rank_is_taken() {
    let x_is_1 = "var x2 u8 \"x\" read p8 () x2 guard (eq u8 x2 1)";
    let steps = [
        step(0, "assign f0 \"a\"", "p0", "p1", x_is_1),
        step(1, "assign f0 \"else\" rank 3", "p0", "p2", ""),
        step(2, "assign f0 \"or else\" rank 3", "p0", "p3", ""),
        step(3, "assign f1 \"x = 1\" rank 7", "p4", "p5", "write p8 () 1"),
    ];
    let net = net("", &steps.concat());
    assert_eq!(enabled(&net, &after(&net, &[])), [1, 2, 3], "another activation does not matter");
    assert_eq!(enabled(&net, &after(&net, &[3])), [0]);
}

#[test]
fn a_late_step_waits_until_nothing_else_can_move() {
    let steps = [
        step(0, "assign f0 \"timeout\" late", "p0", "p1", ""),
        step(1, "assign f1 \"g\"", "p4", "p5", ""),
        step(2, "assign f1 \"g late, after\" rank 2 late", "p5", "p6", ""),
        step(3, "assign f1 \"g late\" rank 1 late", "p5", "p7", ""),
    ];
    let net = net("", &steps.concat());
    assert_eq!(enabled(&net, &after(&net, &[])), [1]);
    assert_eq!(enabled(&net, &after(&net, &[1])), [0, 3], "late ones compete by rank among themselves");
}

#[test]
fn who_cannot_go_on_loses_the_section() {
    let x_is_1 = "var x2 u8 \"x\" read p8 () x2 guard (eq u8 x2 1)";
    let steps = [
        step(0, "atomic-begin f0 \"begin\"", "p0", "p1", "write p9 () 1"),
        step(1, "assign f0 \"x == 1\"", "p1", "p2", x_is_1),
        step(2, "assign f0 \"timeout\" late", "p1", "p3", ""),
        step(3, "assign f1 \"x = 1\"", "p4", "p5", "write p8 () 1"),
        step(4, "assign f1 \"x = 2\"", "p5", "p6", "write p8 () 2"),
    ];
    let net = net("atomic p9 yields", &steps.concat());
    let owner = |net: &Net, marking: &Marking| {
        Interpreter::new(net).cell(marking, net.atomic.expect("declared"), &[])
    };
    let blocked = after(&net, &[0]);
    assert_eq!((owner(&net, &blocked), enabled(&net, &blocked)), (0, vec![3]));
    let kept = after(&net, &[3, 0]);
    assert_eq!((owner(&net, &kept), enabled(&net, &kept)), (1, vec![1]));
}

#[test]
fn an_indivisible_sequence_is_one_firing() {
    let steps = [
        step(0, "assign f0 \"begin\"", "p0", "p1", "write p10 () 1"),
        step(1, "assign f0 \"first\"", "p1", "p2", "write p8 () 5"),
        step(2, "assign f0 \"never\"", "p1", "p3", ""),
        step(3, "assign f0 \"end\"", "p2", "p3", "write p10 () 0"),
        step(4, "assign f1 \"loop\"", "p4", "p5", "write p10 () 1"),
        step(5, "assign f1 \"round\"", "p5", "p5", ""),
    ];
    let net = net("indivisible p10", &steps.concat());
    let interpreter = Interpreter::new(&net);
    let start = interpreter.initial();
    let fired = interpreter.fire_all(&start, &first(&net, &start, 0));
    let numbers: Vec<usize> = fired.steps.iter().map(|step| Idx::index(step.transition)).collect();
    assert_eq!(numbers, [0, 1, 3]);
    assert_eq!(fired.successor, Successor::Marking(after(&net, &[0])));
    assert_eq!(enabled(&net, &after(&net, &[0])), [4]);
    let fired = interpreter.fire_all(&start, &first(&net, &start, 4));
    assert_eq!((fired.successor, fired.bound), (Successor::Pruned, Some(Bound::Indivisible)));
}

#[test]
fn two_threads_move_in_one_step() {
    let meet = "transition t0 assign f0 \"meet\" var x0 thread \"t\" var x1 depth \"d\" \
                var x2 thread \"u\" var x3 depth \"e\" take p0 (?x0 ?x1) take p4 (?x2 ?x3) \
                put p1 (x0 x1) put p5 (x2 x3) write p11 (x2 x3) 7 guard (ne i64 x0 x2)\n";
    let net = net("", meet);
    let interpreter = Interpreter::new(&net);
    let firing = first(&net, &interpreter.initial(), 0);
    assert_eq!(interpreter.movers(&firing).into_iter().collect::<Vec<i64>>(), [0, 1]);
    let next = after(&net, &[0]);
    let local = Idx::new(11);
    assert_eq!(interpreter.cell(&next, local, &[1, 0]), 7);
    assert!(interpreter.marked(&next, Idx::new(5), &[1, 0]));
}

#[test]
fn a_thread_may_begin_with_the_number_of_one_that_has_ended() {
    let steps = [
        "transition t0 thread-end f1 \"end\" var x0 thread \"t\" var x1 depth \"d\" take p4 (?x0 ?x1)\n"
            .to_owned(),
        step(1, "create f0 \"run g\"", "p0", "p1", "inhibit p4 (1) put p4 (1 0)"),
    ];
    let net = net("", &steps.concat());
    assert!(net.reuses_threads());
    assert_eq!(enabled(&net, &after(&net, &[])), [0]);
    assert_eq!(enabled(&net, &after(&net, &[0, 1])), [0]);
}

#[test]
fn a_partner_counts_as_one_that_moves() {
    // Thread 0 spins, or meets thread 1, which can do nothing by itself.
    let steps = [
        step(0, "jump f0 \"spin\"", "p0", "p0", ""),
        "transition t1 assign f0 \"meet\" var x0 thread \"t\" var x1 depth \"d\" var x2 thread \"u\" \
         var x3 depth \"e\" take p0 (?x0 ?x1) take p4 (?x2 ?x3) put p0 (x0 x1) put p5 (x2 x3)\n"
            .to_owned(),
    ];
    let net = net("", &steps.concat());
    let marked = Expr::Marked(Idx::new(5), vec![]);
    let atoms = vec![AtomData { text: "met".to_owned(), expr: marked }];
    let formula = Ltl::finally(Ltl::atom(Atom::new(0)));
    let property = Property {
        name: "met".to_owned(),
        text: "F met".to_owned(),
        class: "valid-ltl",
        kind: PropertyKind::Ltl { formula, atoms },
    };
    let engines: [&dyn Engine; 2] = [&Reference { limit: 100 }, &Explicit::default()];
    for engine in engines {
        let verdict = |fairness: Fairness| {
            let properties = std::slice::from_ref(&property);
            let request = Request { net: &net, properties, fairness, limits: Limits::default() };
            matches!(engine.check(&request, &mut Silent)[0].verdict, Verdict::Holds)
        };
        let found = [Fairness::None, Fairness::Weak, Fairness::Strong].map(verdict);
        assert_eq!(found, [false, true, true], "{}", engine.name());
    }
}

#[test]
fn a_long_sequence_is_a_bound_and_what_fires_in_it_is_seen() {
    // The counter goes through all 2^8 values again and again: the sequence has no end, and fires t2 once in a round.
    let steps = [
        step(0, "assign f0 \"begin\"", "p0", "p1", "write p10 () 1"),
        step(
            1,
            "assign f0 \"count\"",
            "p1",
            "p1",
            "var x2 u8 \"x\" read p8 () x2 guard (ne u8 x2 200) write p8 () (add u8 x2 1)",
        ),
        step(
            2,
            "assign f0 \"at 200\"",
            "p1",
            "p1",
            "var x2 u8 \"x\" read p8 () x2 guard (eq u8 x2 200) write p8 () (add u8 x2 1)",
        ),
    ];
    let net = net("indivisible p10", &steps.concat());
    let never = |transition: usize| Property {
        name: format!("never t{transition}"),
        text: String::new(),
        class: "unreach-call",
        kind: PropertyKind::NeverFires(vec![Idx::new(transition)]),
    };
    let properties = [never(2), never(3)];
    let engines: [&dyn Engine; 2] = [&Reference { limit: 100 }, &Explicit::default()];
    for engine in engines {
        let request = Request {
            net: &net,
            properties: &properties,
            fairness: Fairness::None,
            limits: Limits::default(),
        };
        let outcomes = engine.check(&request, &mut Silent);
        let Verdict::Violated(trace) = &outcomes[0].verdict else { panic!("{:?}", outcomes[0].verdict) };
        let replayed = replay(&net, &properties[0], Fairness::None, trace).expect("a run");
        assert_eq!(trace.prefix.len(), 1, "a firing names its first step only");
        assert_eq!(replayed.prefix.len(), 202, "begin, 200 rounds, and the step that must not fire");
        let is_bound =
            |reason: &StopReason| matches!(reason, StopReason::Bound { bound: Bound::Indivisible, .. });
        assert!(matches!(&outcomes[1].verdict, Verdict::Unknown(reason) if is_bound(reason)));
    }
}

#[test]
fn a_sequence_that_counts_too_long_is_cut_off() {
    // A counter of 64 bits never comes back: only the number of steps ends this.
    let mut net = net(
        "indivisible p10",
        &[
            step(0, "assign f0 \"begin\"", "p0", "p1", "write p10 () 1"),
            step(
                1,
                "assign f0 \"count\"",
                "p1",
                "p1",
                "var x2 u64 \"x\" read p8 () x2 write p8 () (add u64 x2 1)",
            ),
        ]
        .concat(),
    );
    let color = net.color(vec![Base::Int(IntType::U64)]);
    let x = &mut net.places[Idx::new(8)];
    x.color = color;
    let PlaceForm::Cells(cells) = &mut x.form else { panic!("cells") };
    cells.value = IntType::U64;
    assert_eq!(verify_net(&net), []);
    let property = Property::no_partial_deadlock();
    let properties = std::slice::from_ref(&property);
    let request = Request { net: &net, properties, fairness: Fairness::None, limits: Limits::default() };
    let outcomes = Explicit::default().check(&request, &mut Silent);
    let Verdict::Unknown(StopReason::Bound { bound, limit, .. }) = &outcomes[0].verdict else {
        panic!("{:?}", outcomes[0].verdict)
    };
    assert_eq!((*bound, *limit), (Bound::Indivisible, Some(1_000_000)));
}

#[test]
fn many_threads_and_unreached_steps() {
    // Thread 254 is the highest that there can be; it meets the lowest.
    let mut net = net(
        "",
        &[
            "transition t0 assign f1 \"meet\" var x0 thread \"t\" var x1 depth \"d\" var x2 thread \"u\" \
             var x3 depth \"e\" take p4 (?x0 ?x1) take p0 (?x2 ?x3) put p5 (x0 x1) put p1 (x2 x3)\n"
                .to_owned(),
            step(1, "assign f0 \"after\"", "p1", "p2", ""),
            step(2, "assign f0 \"never\"", "p3", "p2", ""),
        ]
        .concat(),
    );
    net.max_threads = 255;
    net.places[Idx::new(4)].form = PlaceForm::Tokens { initial: vec![vec![254, 0], vec![70, 0]] };
    assert_eq!(verify_net(&net), []);
    let unreached = Explicit::default().unreached(&net, Limits::default(), &mut Silent);
    assert_eq!(unreached, Ok(vec![Idx::new(2)]));
    let property = Property {
        name: "deadlock".to_owned(),
        text: String::new(),
        class: "no-deadlock",
        kind: PropertyKind::NoDeadlock,
    };
    let engines: [&dyn Engine; 2] = [&Reference { limit: 100 }, &Explicit::PLAIN];
    for engine in engines {
        let properties = std::slice::from_ref(&property);
        let request = Request { net: &net, properties, fairness: Fairness::None, limits: Limits::default() };
        let outcomes = engine.check(&request, &mut Silent);
        let Verdict::Violated(trace) = &outcomes[0].verdict else { panic!("{:?}", outcomes[0].verdict) };
        assert_eq!(trace.prefix.len(), 2);
    }
    net.max_threads = 256;
    let unreached = Explicit::default().unreached(&net, Limits::default(), &mut Silent);
    assert!(matches!(unreached, Err(StopReason::Unsupported(_))), "{unreached:?}");
}

#[test]
fn the_engine_takes_the_lowest_rank_only() {
    // Both ways are open in the beginning; the higher rank would come to p2 with x still 0.
    let x_is_1 = "var x2 u8 \"x\" read p8 () x2 guard (eq u8 x2 1)";
    let steps = [
        step(0, "assign f0 \"first\"", "p0", "p1", ""),
        step(1, "assign f0 \"else\" rank 1", "p0", "p2", ""),
        step(2, "assign f1 \"x = 1\"", "p4", "p5", "write p8 () 1"),
        step(3, "assign f1 \"first\" rank 1", "p5", "p6", x_is_1),
        step(4, "assign f1 \"else\" rank 2", "p5", "p7", ""),
    ];
    let net = net("", &steps.concat());
    for stubborn in [false, true] {
        let engine = Explicit { stubborn, ..Explicit::PLAIN };
        let unreached = engine.unreached(&net, Limits::default(), &mut Silent);
        assert_eq!(unreached, Ok(vec![Idx::new(1), Idx::new(4)]));
    }
}
