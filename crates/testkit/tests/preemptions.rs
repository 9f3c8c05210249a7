//! The search with a bound on preemptions against the whole graph of random nets.
//!
//! For each net: the fewest preemptions of a run to each transition, and to a deadlock, found in the graph of the
//! reference by relaxation. With a smaller bound nothing must be found, from there on it must, and the run must replay.

use std::collections::BTreeMap;

use pdnet_base::Rng;
use pdnet_check::{
    Engine, Fairness, Limits, Preempted, Property, PropertyKind, Request, Silent, StopReason, Verdict, replay,
};
use pdnet_explicit::{Jit, Preemptions};
use pdnet_net::{Action, Firing, Interpreter, Transition};
use pdnet_testkit::{NetConfig, ReachableGraph, Resumed, random_net};

const N_NETS: usize = 400;

/// What a run can come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Fires(Transition),
    Deadlock,
}

/// The fewest preemptions of a run to each event that some run comes to; and the most that any marking needs with any
/// thread at the turn.
fn fewest(graph: &ReachableGraph<'_>) -> (BTreeMap<Event, u32>, u32) {
    let interpreter = Interpreter::new(graph.net());
    let mut best: BTreeMap<(usize, i64), u32> = BTreeMap::from([((0, -1), 0)]);
    let mut events: BTreeMap<Event, u32> = BTreeMap::new();
    let mut found = |event: Event, cost: u32| {
        let least = events.entry(event).or_insert(cost);
        *least = cost.min(*least);
    };
    loop {
        let mut is_changed = false;
        for ((at, turn), cost) in best.clone() {
            let can_go_on = graph.enabled_threads(at).contains(&turn);
            if graph.is_dead(at) && !interpreter.ended(graph.marking(at)) {
                found(Event::Deadlock, cost);
            }
            for edge in graph.edges(at) {
                let preempts = can_go_on && !graph.movers(&edge.firing).contains(&turn);
                let cost = cost + u32::from(preempts);
                edge.fires.iter().for_each(|&transition| found(Event::Fires(transition), cost));
                let least = best.entry((edge.target, edge.firing.thread())).or_insert(u32::MAX);
                if cost < *least {
                    *least = cost;
                    is_changed = true;
                }
            }
        }
        if !is_changed {
            let most = best.values().max().copied().unwrap_or(0);
            return (events, most);
        }
    }
}

/// The preemptions of a run; nothing where a firing is no edge of the graph.
fn preemptions(graph: &ReachableGraph<'_>, run: &[Firing]) -> Option<u32> {
    let (mut at, mut turn, mut n_preemptions) = (0, -1, 0);
    for firing in run {
        let edge = graph.edges(at).iter().find(|edge| edge.firing == *firing)?;
        let preempts = graph.enabled_threads(at).contains(&turn) && !graph.movers(firing).contains(&turn);
        n_preemptions += u32::from(preempts);
        (at, turn) = (edge.target, firing.thread());
    }
    Some(n_preemptions)
}

fn property(event: Event) -> Property {
    let kind = match event {
        Event::Fires(transition) => PropertyKind::NeverFires(vec![transition]),
        Event::Deadlock => PropertyKind::NoDeadlock,
    };
    Property { name: format!("{event:?}"), text: format!("{event:?}"), class: "event", kind }
}

#[test]
fn events_are_found_with_the_fewest_preemptions() {
    let seed = Rng::test_seed(1);
    let (mut n_compared, mut n_late, mut n_shown) = (0, 0, 0);
    for number in 0..N_NETS {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let net = random_net(&mut rng, &NetConfig::default());
        let Some(graph) = ReachableGraph::build(&net, 400) else { continue };
        if !graph.caveats().is_empty() {
            continue;
        }
        let (events, most) = fewest(&graph);
        // Firings without successor are no edges of the graph.
        let goes_on = |transition: &Transition| {
            !matches!(
                net.transitions[*transition].action,
                Action::AssertFail | Action::AssumeFail | Action::Error
            )
        };
        let transitions = net.transitions.indices().filter(goes_on).map(Event::Fires);
        let asked: Vec<Event> = transitions.chain([Event::Deadlock]).collect();
        let properties: Vec<Property> = asked.iter().map(|&event| property(event)).collect();
        for bound in 0..=most + 1 {
            for forget in [false, true] {
                let bounded = Preemptions { bound, forget, jit: if forget { Jit::On } else { Jit::Off } };
                // One of both is cut off and gone on with.
                let resumed = Resumed { first: bounded, second: bounded, same_states: true };
                let engine: &dyn Engine = if forget { &resumed } else { &bounded };
                let limits = Limits::default();
                let request =
                    Request { net: &net, properties: &properties, fairness: Fairness::None, limits };
                let outcomes = engine.check(&request, &mut Silent);
                for ((event, property), outcome) in asked.iter().zip(&properties).zip(outcomes) {
                    let context = || format!("seed {seed}, net {number}, {event:?}, bound {bound}\n{net}");
                    let least = events.get(event).copied();
                    n_compared += 1;
                    n_late += usize::from(least.is_some_and(|least| least > 0));
                    match outcome.verdict {
                        Verdict::Violated(trace) => {
                            assert!(least.is_some_and(|least| least <= bound), "{least:?}: {}", context());
                            let replayed = replay(&net, property, Fairness::None, &trace);
                            assert!(replayed.is_ok(), "{replayed:?}: {}", context());
                            let wanted = least.map(|least| Preempted { run: Some(least), complete: least });
                            assert_eq!(outcome.stats.preempted, wanted, "{}", context());
                            let shown = preemptions(&graph, &trace.prefix);
                            assert!(
                                shown.is_none_or(|shown| Some(shown) == least),
                                "{shown:?}: {}",
                                context()
                            );
                            n_shown += usize::from(shown.is_some());
                        }
                        Verdict::Holds => {
                            assert_eq!(least, None, "{}", context());
                        }
                        Verdict::Unknown(StopReason::Preemptions(limit)) => {
                            assert!(limit == bound && bound <= most, "{most}: {}", context());
                            let wanted = Preempted { run: None, complete: bound + 1 };
                            assert_eq!(outcome.stats.preempted, Some(wanted), "{}", context());
                            assert!(least.is_none_or(|least| least > bound), "{least:?}: {}", context());
                        }
                        Verdict::Unknown(reason) => panic!("{reason}: {}", context()),
                    }
                }
            }
        }
    }
    assert!(
        n_compared > 20 * N_NETS && n_late > 2 * N_NETS && n_shown > N_NETS,
        "{n_compared} compared, {n_late} with preemptions, {n_shown} runs"
    );
}
