//! The engine against a naive checker, on random programs and random formulas.
//!
//! The naive checker shares nothing with the engine but the translation of formulas: it explores with the
//! reference interpreter, decides emptiness by the fixpoint of Emerson and Lei, and treats strong fairness by
//! trying every set of threads that may come to rest.

use std::collections::BTreeMap;

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{
    AtomData, Engine as _, Fairness, Limits, Property, PropertyKind, Request, Silent, StopReason, TraceEnd,
    Verdict, replay,
};
use pdnet_explicit::Explicit;
use pdnet_logic::{Atom, Ltl, translate};
use pdnet_net::{Action, Expr, Interpreter, Marking, Net, PlaceForm, Successor, Transition};

#[path = "../../space/tests/nets/mod.rs"]
mod nets;

struct State {
    letter: u64,
    enabled: u64,
    /// Mover, target.
    edges: Vec<(u32, usize)>,
    distance: usize,
}

struct Reference {
    states: Vec<State>,
    /// How many steps lead to the first firing of a transition.
    fires: BTreeMap<Transition, usize>,
    /// Steps to the nearest deadlock.
    deadlock: Option<usize>,
    is_noted: bool,
    has_bound: bool,
    has_fault: bool,
}

/// All states, or nothing where there are too many.
fn explore(net: &Net, atoms: &[AtomData], max: usize) -> Option<Reference> {
    let interpreter = Interpreter::new(net);
    let mut found: BTreeMap<Marking, usize> = BTreeMap::new();
    let mut markings = vec![interpreter.initial()];
    found.insert(markings[0].clone(), 0);
    let mut distances = vec![0];
    let mut reference = Reference {
        states: Vec::new(),
        fires: BTreeMap::new(),
        deadlock: None,
        is_noted: false,
        has_bound: false,
        has_fault: false,
    };
    let mut at = 0;
    while at < markings.len() {
        if markings.len() > max {
            return None;
        }
        let marking = markings[at].clone();
        let firings = interpreter.enabled(&marking);
        let mut state = State { letter: 0, enabled: 0, edges: Vec::new(), distance: distances[at] };
        for (bit, atom) in atoms.iter().enumerate() {
            state.letter |= u64::from(interpreter.eval(&marking, &atom.expr) != 0) << bit;
        }
        for firing in firings {
            let thread = u32::try_from(firing.thread()).unwrap();
            state.enabled |= 1 << thread;
            let data = &net.transitions[firing.transition];
            let samples = data.vars.iter().any(|var| var.choice.as_ref().is_some_and(|domain| !domain.exact));
            reference.has_bound |= matches!(data.action, Action::Bound(_));
            reference.has_fault |= matches!(data.action, Action::Fault(_));
            reference.is_noted |= samples || matches!(data.action, Action::Bound(_) | Action::Fault(_));
            reference.fires.entry(firing.transition).or_insert(distances[at] + 1);
            if let Successor::Marking(next) = interpreter.fire(&marking, &firing) {
                let n = markings.len();
                let target = *found.entry(next.clone()).or_insert(n);
                if target == n {
                    markings.push(next);
                    distances.push(distances[at] + 1);
                }
                state.edges.push((thread, target));
            }
        }
        if interpreter.is_deadlock(&marking) {
            reference.deadlock.get_or_insert(distances[at]);
        }
        reference.states.push(state);
        at += 1;
    }
    Some(reference)
}

/// An edge of the product: source, target, sets that it belongs to.
type Edge = (usize, usize, u128);

impl Reference {
    /// Whether a run breaks the formula.
    fn breaks(&self, formula: &Ltl, fairness: Fairness) -> bool {
        let automaton = translate(&formula.negated(), vec![]).unwrap();
        let n_aut = automaton.n_states();
        let all = u128::from(automaton.all_acceptance());
        let mut edges: Vec<(usize, usize, u32, u64)> = Vec::new();
        for (at, state) in self.states.iter().enumerate() {
            for q in automaton.states.indices() {
                for edge in automaton.successors(q, state.letter) {
                    let from = at * n_aut + q.index();
                    if state.enabled == 0 {
                        edges.push((from, at * n_aut + edge.target.index(), edge.acceptance, 0));
                    }
                    for &(thread, target) in &state.edges {
                        let to = target * n_aut + edge.target.index();
                        edges.push((from, to, edge.acceptance, 1 << thread));
                    }
                }
            }
        }
        let n = self.states.len() * n_aut;
        let mut reachable = vec![false; n];
        reachable[automaton.initial.index()] = true;
        let mut changed = true;
        while changed {
            changed = false;
            for &(from, to, ..) in &edges {
                if reachable[from] && !reachable[to] {
                    reachable[to] = true;
                    changed = true;
                }
            }
        }
        let enabled = |node: usize| self.states[node / n_aut].enabled;
        let threads = 0b111_u64;
        match fairness {
            Fairness::None => {
                let edges = edges.iter().map(|&(from, to, acc, _)| (from, to, u128::from(acc))).collect();
                nonempty(&reachable, edges, all)
            }
            Fairness::Weak => {
                let with = |&(from, to, acc, moved): &(usize, usize, u32, u64)| {
                    let fair = (moved | !enabled(from)) & threads;
                    (from, to, u128::from(acc) | u128::from(fair) << 32)
                };
                nonempty(&reachable, edges.iter().map(with).collect(), all | u128::from(threads) << 32)
            }
            Fairness::Strong => (0..=threads).any(|resting| {
                let allowed: Vec<bool> =
                    (0..n).map(|node| reachable[node] && enabled(node) & resting == 0).collect();
                let with = |&(from, to, acc, moved): &(usize, usize, u32, u64)| {
                    (from, to, u128::from(acc) | u128::from(moved) << 32)
                };
                let busy = threads & !resting;
                nonempty(&allowed, edges.iter().map(with).collect(), all | u128::from(busy) << 32)
            }),
        }
    }
}

/// Whether some infinite path through allowed nodes takes edges of each set again and again: the greatest set
/// from each of whose nodes, for each acceptance set, a path inside leads to an edge of it inside.
fn nonempty(allowed: &[bool], edges: Vec<Edge>, all: u128) -> bool {
    let mut inside = allowed.to_vec();
    loop {
        let before = inside.clone();
        let mut sets: Vec<u128> = (0..128).map(|bit| 1 << bit).filter(|bit| all & bit != 0).collect();
        sets.push(0);
        for set in sets {
            let mut good = vec![false; inside.len()];
            let mut changed = true;
            while changed {
                changed = false;
                for &(from, to, sets) in &edges {
                    let takes = sets & set == set || good[to];
                    if inside[from] && inside[to] && takes && !good[from] {
                        good[from] = true;
                        changed = true;
                    }
                }
            }
            inside = good;
        }
        if inside == before {
            return inside.iter().any(|&inside| inside);
        }
    }
}

fn random_formula(rng: &mut Rng, height: usize, n_atoms: usize) -> Ltl {
    if height == 0 {
        return Ltl::atom(Atom::new(rng.below(n_atoms)));
    }
    let below = |rng: &mut Rng| {
        let height = rng.below(height);
        random_formula(rng, height, n_atoms)
    };
    match rng.below(12) {
        0 => Ltl::not(below(rng)),
        1 => Ltl::and(below(rng), below(rng)),
        2 => Ltl::or(below(rng), below(rng)),
        3 => Ltl::implies(below(rng), below(rng)),
        4 => Ltl::next(below(rng)),
        5 | 6 => Ltl::finally(below(rng)),
        7 | 8 => Ltl::globally(below(rng)),
        9 => Ltl::until(below(rng), below(rng)),
        10 => Ltl::weak_until(below(rng), below(rng)),
        _ => Ltl::release(below(rng), below(rng)),
    }
}

fn random_atoms(rng: &mut Rng, net: &Net) -> Vec<AtomData> {
    let places: Vec<_> = net.places.indices().collect();
    let mut atoms = Vec::new();
    while atoms.len() < 3 {
        let place = *rng.pick(&places);
        let expr = match &net.places[place].form {
            PlaceForm::Tokens { .. } if rng.chance(40) => Expr::Marked(place, vec![]),
            PlaceForm::Cells(_) if net.components(place).len() == 1 => {
                Expr::equal(Expr::Cell(place, vec![]), Expr::Const(rng.below(2) as i64))
            }
            _ if rng.chance(5) => Expr::Deadlock,
            _ => continue,
        };
        atoms.push(AtomData { text: format!("a{}", atoms.len()), expr });
    }
    atoms
}

fn property(kind: PropertyKind) -> Property {
    Property { name: "p".to_owned(), text: "p".to_owned(), class: "valid-ltl", kind }
}

#[test]
fn random_programs_get_the_verdicts_of_the_naive_checker() {
    let seed = Rng::test_seed(3);
    let n_cases = Rng::test_number("PDNET_CASES").unwrap_or(900);
    let mut rng = Rng::new(seed);
    let (mut n_holds, mut n_violated, mut n_unknown) = (0, 0, 0);
    // Violated formulas by fairness: each kind of fairness must make a difference somewhere.
    let mut n_by_fairness = [0; 3];
    for case in 0..n_cases {
        let net = if case % 3 == 0 { nets::random(&mut rng).net } else { nets::random_loops(&mut rng).net };
        let atoms = random_atoms(&mut rng, &net);
        let Some(reference) = explore(&net, &atoms, 80) else { continue };
        let has_assumptions = net.transitions.iter().any(|data| data.action == Action::AssumeFail);
        let n_transitions = net.transitions.len();
        let some: Vec<Transition> = (0..3).map(|_| Transition::new(rng.below(n_transitions))).collect();
        let mut properties =
            vec![property(PropertyKind::NeverFires(some.clone())), property(PropertyKind::NoDeadlock)];
        for height in [1, 2, 3, 4] {
            let mut formula = random_formula(&mut rng, height, atoms.len());
            if height == 1 {
                formula = Ltl::globally(Ltl::atom(Atom::new(0)));
            }
            properties.push(property(PropertyKind::Ltl { formula, atoms: atoms.clone() }));
        }
        for formula in
            [Ltl::globally(Ltl::finally(Ltl::atom(Atom::new(1)))), Ltl::finally(Ltl::atom(Atom::new(2)))]
        {
            properties.push(property(PropertyKind::Ltl { formula, atoms: atoms.clone() }));
        }
        let fairness = [Fairness::None, Fairness::Weak, Fairness::Strong].into_iter().enumerate();
        for ((kind, fairness), stubborn) in fairness.flat_map(|each| [(each, false), (each, true)]) {
            let request = Request { net: &net, properties: &properties, fairness, limits: Limits::default() };
            let outcomes =
                Explicit { stubborn, forget: stubborn, ..Explicit::PLAIN }.check(&request, &mut Silent);
            assert_eq!(outcomes.len(), properties.len());
            for (position, (outcome, property)) in outcomes.iter().zip(&properties).enumerate() {
                let about = || {
                    format!(
                        "seed {seed}, case {case}, {fairness:?}, stubborn {stubborn}, {:?}:\n{net}",
                        property.kind
                    )
                };
                let (breaks, shortest) = match &property.kind {
                    PropertyKind::NeverFires(_) => {
                        let steps =
                            some.iter().filter_map(|transition| reference.fires.get(transition)).min();
                        (steps.is_some(), steps.copied())
                    }
                    PropertyKind::NoDeadlock => (reference.deadlock.is_some(), reference.deadlock),
                    PropertyKind::NoRace | PropertyKind::NoPartialDeadlock | PropertyKind::Never { .. } => {
                        unreachable!("not asked here")
                    }
                    PropertyKind::Ltl { formula, .. } => {
                        let first = reference.states.iter().filter(|state| state.letter & 1 == 0);
                        let nearest = first.map(|state| state.distance).min();
                        let is_invariant = position == 2 && !has_assumptions;
                        (reference.breaks(formula, fairness), nearest.filter(|_| is_invariant))
                    }
                };
                match &outcome.verdict {
                    Verdict::Violated(trace) => {
                        n_violated += 1;
                        n_by_fairness[kind] += 1;
                        let replayed = replay(&net, property, fairness, trace);
                        assert!(replayed.is_ok(), "{:?} of {trace:?}, {}", replayed.err(), about());
                        let is_cut = reference.has_fault || (reference.has_bound && !has_assumptions);
                        assert!(breaks || (is_cut && trace.end == TraceEnd::Any), "{trace:?}, {}", about());
                        if let Some(shortest) = shortest.filter(|_| !stubborn) {
                            assert_eq!(trace.prefix.len(), shortest, "{}", about());
                        }
                    }
                    Verdict::Holds => {
                        n_holds += 1;
                        assert!(!breaks, "holds, {}", about());
                    }
                    Verdict::Unknown(StopReason::Unsupported(_)) => {}
                    Verdict::Unknown(reason) => {
                        n_unknown += 1;
                        assert!(reference.is_noted && !breaks, "{reason}, {}", about());
                    }
                }
            }
        }
    }
    assert!(n_by_fairness[0] > n_by_fairness[1] && n_by_fairness[1] > n_by_fairness[2], "{n_by_fairness:?}");
    assert!(n_holds > 200 && n_violated > 200 && n_unknown > 20, "{n_holds} {n_violated} {n_unknown}");
}
