//! Making automata smaller without changing their language.

use pdnet_base::{FxHashMap, Idx as _, IndexVec};

use crate::scc::components;
use crate::simulation::quotient_by_simulation;
use crate::{AutState, Automaton, Cube, Edge, StateData};

/// How often the sequence of reductions is repeated at most; each may help the others, and in practice
/// nothing changes after the third round.
const MAX_ROUNDS: usize = 6;

/// Repeats all reductions until none of them helps.
pub(crate) fn reduce(mut automaton: Automaton) -> Automaton {
    let size = |automaton: &Automaton| (automaton.n_states(), automaton.n_edges(), automaton.n_acceptance);
    for _ in 0..MAX_ROUNDS {
        let before = size(&automaton);
        let labels = total_literals(&automaton);
        automaton = simplify_acceptance(prune(automaton));
        merge_labels(&mut automaton);
        automaton = merge_equal_states(automaton);
        automaton = quotient_by_simulation(automaton);
        if size(&automaton) == before && total_literals(&automaton) == labels {
            break;
        }
    }
    automaton = simplify_acceptance(prune(automaton));
    merge_labels(&mut automaton);
    automaton
}

fn total_literals(automaton: &Automaton) -> u32 {
    let edges = automaton.states.iter().flat_map(|state| &state.edges);
    edges.map(|edge| edge.label.pos.count_ones() + edge.label.neg.count_ones()).sum()
}

/// Keeps the states that are reachable and from which some word is accepted, numbered in the order in
/// which a breadth-first search meets them, so that the result does not depend on how it was made.
fn prune(automaton: Automaton) -> Automaton {
    let found = components(&automaton, &[automaton.initial.index()]);
    let accepting = found.accepting(&automaton, automaton.all_acceptance());
    // Components are in reverse topological order: successors have been judged before.
    let mut useful = accepting;
    let mut by_component: Vec<Vec<AutState>> = vec![Vec::new(); found.n_components];
    for (state, component) in automaton.states.indices().zip(&found.of) {
        if let Some(component) = component {
            by_component[*component].push(state);
        }
    }
    for (component, members) in by_component.iter().enumerate() {
        let leads_on = members.iter().any(|&state| {
            automaton.states[state]
                .edges
                .iter()
                .any(|edge| found.of[edge.target.index()].is_some_and(|target| useful[target]))
        });
        useful[component] |= leads_on;
    }
    let is_useful = |state: AutState| found.of[state.index()].is_some_and(|component| useful[component]);
    let mut order = vec![automaton.initial];
    let mut numbers: FxHashMap<AutState, AutState> = FxHashMap::default();
    numbers.insert(automaton.initial, AutState::new(0));
    let mut at = 0;
    while let Some(&state) = order.get(at) {
        at += 1;
        for edge in &automaton.states[state].edges {
            if is_useful(edge.target) && !numbers.contains_key(&edge.target) {
                numbers.insert(edge.target, AutState::new(order.len()));
                order.push(edge.target);
            }
        }
    }
    let states = order.iter().map(|&state| {
        let edges = automaton.states[state].edges.iter().filter(|edge| is_useful(edge.target));
        let mut edges: Vec<Edge> =
            edges.map(|edge| Edge { target: numbers[&edge.target], ..*edge }).collect();
        edges.sort_unstable();
        edges.dedup();
        StateData { edges }
    });
    let states: IndexVec<AutState, StateData> = states.collect();
    Automaton { initial: AutState::new(0), states, ..automaton }
}

/// Gives each strongly connected component its own, smallest choice of acceptance sets.
///
/// No cycle leaves a component, so acceptance sets of different components have nothing to do with each
/// other. Within an accepting component a set that includes another one is implied by it and goes; the
/// rest are numbered from 0, and numbers that a component does not need are filled up with copies.
/// Edges between components, and in components that do not accept, get no set.
fn simplify_acceptance(mut automaton: Automaton) -> Automaton {
    let all = automaton.all_acceptance();
    let found = components(&automaton, &[automaton.initial.index()]);
    let marks = found.marks(&automaton);
    let inner = |state: AutState, edge: &Edge| {
        let component = found.of[state.index()]?;
        (found.of[edge.target.index()] == Some(component)).then_some(component)
    };
    // For each component the acceptance of all its inner edges, which decides what includes what.
    let mut seen: Vec<Vec<u32>> = vec![Vec::new(); found.n_components];
    for (state, data) in automaton.states.iter_enumerated() {
        for edge in &data.edges {
            if let Some(component) = inner(state, edge) {
                seen[component].push(edge.acceptance);
            }
        }
    }
    let accepting = |component: usize| marks[component].is_some_and(|marks| marks & all == all);
    let mut kept: Vec<Vec<u32>> = Vec::new();
    let mut n_acceptance = 0;
    for (component, seen) in seen.iter_mut().enumerate() {
        seen.sort_unstable();
        seen.dedup();
        let sets = if accepting(component) { needed_sets(automaton.n_acceptance, seen) } else { Vec::new() };
        n_acceptance = n_acceptance.max(sets.len());
        if !seen.is_empty() && !accepting(component) {
            n_acceptance = n_acceptance.max(1);
        }
        kept.push(sets);
    }
    automaton.n_acceptance = u32::try_from(n_acceptance).unwrap_or(u32::MAX);
    let everything = automaton.all_acceptance();
    for (state, data) in automaton.states.indices().zip(automaton.states.iter_mut().collect::<Vec<_>>()) {
        for edge in &mut data.edges {
            edge.acceptance = match inner(state, edge) {
                Some(component) if accepting(component) => match kept[component].as_slice() {
                    [] => everything,
                    sets => (0..automaton.n_acceptance)
                        .zip(sets.iter().chain(std::iter::repeat(&sets[0])))
                        .filter(|(_, set)| edge.acceptance >> **set & 1 == 1)
                        .fold(0, |mask, (number, _)| mask | 1 << number),
                },
                Some(_) | None => 0,
            };
        }
        data.edges.sort_unstable();
        data.edges.dedup();
    }
    automaton
}

/// The sets that are not implied by others, given the acceptance of all edges of a component.
fn needed_sets(n_acceptance: u32, seen: &[u32]) -> Vec<u32> {
    // Every edge of set `small` is in set `large`: visiting `small` again and again visits `large`.
    let includes = |large: u32, small: u32| {
        seen.iter().all(|acceptance| acceptance >> small & 1 == 0 || acceptance >> large & 1 == 1)
    };
    let full = |set: u32| seen.iter().all(|acceptance| acceptance >> set & 1 == 1);
    let mut sets: Vec<u32> = (0..n_acceptance).filter(|&set| !full(set)).collect();
    let mut at = 0;
    while at < sets.len() {
        let set = sets[at];
        if sets.iter().any(|&other| other != set && includes(set, other)) {
            sets.remove(at);
        } else {
            at += 1;
        }
    }
    sets
}

/// Joins edges with the same target and acceptance: a label inside of another goes, and two labels that
/// differ in the sign of one atom become one without that atom.
fn merge_labels(automaton: &mut Automaton) {
    for data in automaton.states.iter_mut() {
        let edges = &mut data.edges;
        edges.sort_unstable_by_key(|edge| (edge.target, edge.acceptance, edge.label));
        let mut merged: Vec<Edge> = Vec::new();
        for group in edges.chunk_by(|a, b| (a.target, a.acceptance) == (b.target, b.acceptance)) {
            let labels = merge_cubes(group.iter().map(|edge| edge.label).collect());
            merged.extend(labels.into_iter().map(|label| Edge { label, ..group[0] }));
        }
        merged.sort_unstable();
        *edges = merged;
    }
}

/// The union of the cubes with fewer cubes.
fn merge_cubes(mut cubes: Vec<Cube>) -> Vec<Cube> {
    'again: loop {
        cubes.sort_unstable();
        cubes.dedup();
        for i in 0..cubes.len() {
            for j in 0..cubes.len() {
                if i == j {
                    continue;
                }
                let (a, b) = (cubes[i], cubes[j]);
                if a.contains(b) {
                    cubes.remove(j);
                    continue 'again;
                }
                // Labels that overlap without need would only make engines try one target twice, so that
                // nothing is widened unless two labels become one.
                let conflict = (a.pos & b.neg) | (a.neg & b.pos);
                let rest = Cube { pos: a.pos & !conflict, neg: a.neg & !conflict };
                if conflict.count_ones() == 1
                    && rest == (Cube { pos: b.pos & !conflict, neg: b.neg & !conflict })
                {
                    cubes[i] = rest;
                    cubes.remove(j);
                    continue 'again;
                }
            }
        }
        return cubes;
    }
}

/// What the edges of a state look like: label, acceptance, class of the target.
type Signature = Vec<(Cube, u32, usize)>;

/// Merges states that no sequence of edges tells apart: the coarsest partition in which states of one
/// class have the same labels, acceptance and classes of targets (Moore's refinement).
fn merge_equal_states(automaton: Automaton) -> Automaton {
    let mut classes: Vec<usize> = vec![0; automaton.n_states()];
    let mut n_classes = 1;
    loop {
        let mut numbers: FxHashMap<(usize, Signature), usize> = FxHashMap::default();
        let mut refined = Vec::with_capacity(classes.len());
        for (data, &class) in automaton.states.iter().zip(&classes) {
            let mut signature: Signature = data
                .edges
                .iter()
                .map(|edge| (edge.label, edge.acceptance, classes[edge.target.index()]))
                .collect();
            signature.sort_unstable();
            signature.dedup();
            let fresh = numbers.len();
            refined.push(*numbers.entry((class, signature)).or_insert(fresh));
        }
        classes = refined;
        if numbers.len() == n_classes {
            break;
        }
        n_classes = numbers.len();
    }
    if n_classes == automaton.n_states() {
        return automaton;
    }
    collapse(automaton, &classes)
}

/// Moves every edge to the first state of its target's class; the other states are then unreachable.
pub(crate) fn collapse(mut automaton: Automaton, classes: &[usize]) -> Automaton {
    let mut first: FxHashMap<usize, AutState> = FxHashMap::default();
    for (state, &class) in automaton.states.indices().zip(classes) {
        first.entry(class).or_insert(state);
    }
    let representative = |state: AutState| first[&classes[state.index()]];
    automaton.initial = representative(automaton.initial);
    for data in automaton.states.iter_mut() {
        for edge in &mut data.edges {
            edge.target = representative(edge.target);
        }
        data.edges.sort_unstable();
        data.edges.dedup();
    }
    prune(automaton)
}
