//! Compiled nets against the reference interpreter: the same firings in every reachable state, and equal
//! states exactly where markings are equal.

use std::collections::BTreeMap;

use pdnet_base::{Idx as _, Rng};
use pdnet_net::{Expr, Firing, Interpreter, Marking, Net, PlaceForm, Successor, Transition, verify_net};
use pdnet_space::{
    Atoms, Compiled, Jit, Outcome, Races, StateId, StateStore, States as _, Step, Successors, Unsupported,
};

#[path = "nets/mod.rs"]
mod nets;

/// Explores both side by side; the result is the number of states, at most `max`, and of those with a race.
fn compare(net: &Net, max: usize) -> Result<(usize, usize), Unsupported> {
    let violations = verify_net(net);
    assert!(violations.is_empty(), "{violations:?}");
    let interpreter = Interpreter::new(net);
    let compiled = Compiled::new(net)?;
    let native = compiled.clone().with_jit(Jit::On);
    let mut store = StateStore::new(&compiled);
    let mut successors = Successors::new(&compiled);
    let mut natively = Successors::new(&native);
    let mut remembering = Successors::new(&compiled);
    let mut of_marking: BTreeMap<Marking, StateId> = BTreeMap::new();
    let mut markings: Vec<Marking> = vec![interpreter.initial()];
    let (initial, _) = store.insert(&compiled.initial()).unwrap();
    of_marking.insert(markings[0].clone(), initial);
    let atoms = all_atoms(net);
    let mut compiled_atoms: Vec<Atoms> =
        atoms.chunks(64).map(|some| Atoms::new(net, &compiled, some).unwrap()).collect();
    let mut races = Races::new(net, &compiled);
    let mut n_racy = 0;
    let mut at = 0;
    while at < markings.len() && at < max {
        let marking = markings[at].clone();
        store.load(StateId::new(at), successors.current_mut());
        assert_eq!(compiled.has_ended(successors.current()), interpreter.ended(&marking));
        let (mut found, mut steps): (Vec<(Firing, Option<StateId>)>, Vec<_>) = (Vec::new(), Vec::new());
        successors.for_each(|step, next| {
            let id = match step.outcome {
                Outcome::State => Some(store.insert(next).unwrap().0),
                Outcome::Pruned => None,
            };
            let firing = step.firing().unwrap();
            assert_eq!(i64::from(step.thread), firing.thread());
            found.push((firing, id));
            steps.push(described(step, id));
        })?;
        let mut native_found = Vec::new();
        store.load(StateId::new(at), natively.current_mut());
        natively.for_each(|step, next| {
            let id = (step.outcome == Outcome::State).then(|| store.insert(next).unwrap().0);
            native_found.push((step.firing().unwrap(), id));
        })?;
        assert_eq!(native_found, found, "native steps of s{at}:\n{net}");
        let mut remembered = Vec::new();
        remembering.load_row(&store, StateId::new(at));
        remembering.for_each_remembered(&mut store, |store, step, next| {
            let id = (step.outcome == Outcome::State).then(|| store.insert_row(next).unwrap().0);
            remembered.push(described(step, id));
        })?;
        assert_eq!(remembered, steps, "remembered steps of s{at}:\n{net}");
        let is_deadlock = found.is_empty() && !interpreter.ended(&marking);
        for (some, compiled_atoms) in atoms.chunks(64).zip(&mut compiled_atoms) {
            let letter = compiled_atoms.letter(&compiled, successors.current(), is_deadlock);
            for (bit, atom) in some.iter().enumerate() {
                let expected = interpreter.eval(&marking, atom) != 0;
                assert_eq!(letter >> bit & 1 == 1, expected, "{atom} in s{at}:\n{net}");
            }
        }
        let expected = interpreter.races(&marking);
        match successors.race(&mut races) {
            None => assert_eq!(expected, [], "races of s{at}:\n{net}"),
            Some(race) => assert!(expected.contains(&race), "{race:?} of s{at}:\n{net}"),
        }
        assert_eq!(natively.race(&mut races), successors.race(&mut races), "races of s{at}:\n{net}");
        n_racy += usize::from(!expected.is_empty());
        found.sort();
        let firings: Vec<Firing> = found.iter().map(|(firing, _)| firing.clone()).collect();
        assert_eq!(firings, interpreter.enabled(&marking), "firings of s{at}:\n{net}");
        for (firing, id) in found {
            match (interpreter.fire(&marking, &firing), id) {
                (Successor::Pruned, None) => {}
                (Successor::Marking(next), Some(id)) => {
                    let known = *of_marking.entry(next.clone()).or_insert(id);
                    assert_eq!(known, id, "after {firing:?} of s{at}:\n{net}");
                    if id.index() >= markings.len() {
                        markings.resize(id.index() + 1, Marking::default());
                    }
                    if markings[id.index()] == Marking::default() {
                        markings[id.index()] = next;
                    } else {
                        assert_eq!(markings[id.index()], next, "after {firing:?} of s{at}:\n{net}");
                    }
                }
                (successor, id) => panic!("{firing:?} gives {successor:?} and {id:?}"),
            }
        }
        at += 1;
    }
    assert_eq!(store.len(), of_marking.len());
    Ok((at, n_racy))
}

/// All that can be said of a step, beside its binding.
fn described(
    step: &Step<'_>,
    id: Option<StateId>,
) -> (u32, Vec<Transition>, Option<u32>, bool, Option<StateId>) {
    (step.thread, step.transitions().collect(), step.partner, step.is_cut, id)
}

/// Makes variables memory, and steps atomic operations, by these percentages.
fn mark_memory(rng: &mut Rng, net: &mut Net, memory: usize, atomic: usize) {
    let is_special = |place| net.atomic == Some(place) || net.places[place].internal;
    let cells =
        net.places.iter_enumerated().filter(|(place, data)| data.cells().is_some() && !is_special(*place));
    let cells: Vec<_> = cells.map(|(place, _)| place).collect();
    for place in cells {
        net.places[place].memory = rng.chance(memory);
    }
    net.transitions.iter_mut().for_each(|data| data.atomic = rng.chance(atomic));
}

/// Atoms for every place: whether it is marked, and its cells, with keys in range and out of it.
fn all_atoms(net: &Net) -> Vec<Expr> {
    let mut atoms = vec![Expr::Deadlock];
    for (place, data) in net.places.iter_enumerated() {
        let n = net.components(place).len();
        let make = |key: &[i64]| {
            let key = key.iter().map(|&part| Expr::Const(part)).collect();
            match data.form {
                PlaceForm::Tokens { .. } => Expr::Marked(place, key),
                PlaceForm::Cells(_) => Expr::Cell(place, key),
            }
        };
        let keys: &[&[i64]] = &[&[], &[0], &[1], &[-1], &[7], &[1, 0], &[0, 1], &[1, 1], &[0, 5], &[1, 0, 1]];
        for key in keys {
            let fits = match data.form {
                PlaceForm::Tokens { .. } => key.len() <= n,
                PlaceForm::Cells(_) => key.len() + 1 == n,
            };
            if fits {
                atoms.push(make(key));
            }
        }
    }
    atoms
}

#[test]
fn small_programs_have_the_states_of_the_interpreter() {
    let programs = [
        ("counter", nets::counter(2, false).0, 83),
        ("locked counter", nets::counter(2, true).0, 47),
        ("crossed locks", nets::crossed_locks(), 49),
        ("conditions", nets::conditions(), 2000),
        ("recursion", nets::recursion(2, 5), 198),
        ("recursion to the bound", nets::recursion(3, 3), 57),
        ("fibonacci", nets::fibonacci(2).0, 467),
        ("locked loops", nets::locked_loops(2, 2).0, 378),
    ];
    for (name, program, expected) in programs {
        let (n, _) = compare(&program.net, 2000).unwrap();
        assert_eq!(n, expected, "{name}");
    }
}

#[test]
fn random_programs_have_the_states_of_the_interpreter() {
    let seed = Rng::test_seed(7);
    let mut rng = Rng::new(seed);
    let (mut n_states, mut n_racy, mut n_unsupported) = (0, 0, 0);
    for case in 0..600 {
        let mut program = if case % 3 == 0 { nets::random_loops(&mut rng) } else { nets::random(&mut rng) };
        mark_memory(&mut rng, &mut program.net, 60, 25);
        match compare(&program.net, 200) {
            Ok((n, racy)) => {
                n_states += n;
                n_racy += racy;
            }
            Err(_) => n_unsupported += 1,
        }
    }
    assert!(n_states > 4000, "seed {seed}: only {n_states} states");
    assert!(n_racy * 20 > n_states && n_racy * 2 < n_states, "seed {seed}: {n_racy} of {n_states} race");
    assert!(n_unsupported < 100, "seed {seed}: {n_unsupported} unsupported");
}
