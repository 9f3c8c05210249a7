//! What is proven without a search, against what the reference interpreter does: steps that are called impossible
//! are never enabled, loops that are said to end have no cycle of markings, and their rounds are counted; memory that
//! is said not to be contested is in no data race.
//! `PDNET_SEED=7 PDNET_PROGRAMS=5000 cargo test -p pdnet-testkit --test proofs` tries others, and more.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::{FxHashMap, IndexVec, Rng};
use pdnet_front_c::{LowerOptions, Options, load_preprocessed, lower};
use pdnet_net::{
    Action, Firing, Flow, Interpreter, LoopData, Loops, Marking, Net, Place, Scope, Solo, Successor,
    Transition, impossible, verify_net,
};
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};
use pdnet_testkit::{ProgramConfig, random_c_program, random_memory, random_threads};

mod counting;
mod handover;
mod joining;

/// Of each kind.
const N_PROGRAMS: usize = 100;
/// So many markings of a program are looked at.
const LIMIT: usize = 2500;
/// Rounds of loops that may take more are not counted.
const MAX_ROUNDS: u64 = 300;

fn n_programs() -> usize {
    Rng::test_number("PDNET_PROGRAMS").unwrap_or(N_PROGRAMS)
}

fn lowered(text: &str) -> Result<Net, String> {
    let mut map = SourceMap::new();
    let file = map.add("proofs.i", text);
    let show = |map: &SourceMap, found: &[Diagnostic]| -> String {
        found.iter().take(2).map(|found| render(map, found, ColorChoice::Plain)).collect()
    };
    let loaded =
        load_preprocessed(&mut map, file, &Options::default()).map_err(|found| show(&map, &found))?;
    let options = LowerOptions { max_threads: 4, max_depth: 4, ..LowerOptions::default() };
    let net = lower(&map, &loaded.program, &[], &options).map_err(|found| show(&map, &found))?.net;
    let violations = verify_net(&net);
    if violations.is_empty() { Ok(net) } else { Err(format!("{violations:?}")) }
}

/// A part of the reachable markings, the deepest first.
struct Explored {
    markings: Vec<Marking>,
    /// The steps between them.
    edges: Vec<Vec<(Firing, usize)>>,
    /// Whether each transition was enabled somewhere.
    was_enabled: IndexVec<Transition, bool>,
}

fn explore(net: &Net, limit: usize) -> Explored {
    let interpreter = Interpreter::new(net);
    let mut explored = Explored {
        markings: vec![interpreter.initial()],
        edges: vec![Vec::new()],
        was_enabled: IndexVec::filled(false, net.transitions.len()),
    };
    let mut numbers: FxHashMap<Marking, usize> = FxHashMap::from_iter([(explored.markings[0].clone(), 0)]);
    let mut queue = vec![0];
    while let Some(number) = queue.pop() {
        let marking = explored.markings[number].clone();
        for firing in interpreter.enabled(&marking) {
            explored.was_enabled[firing.transition] = true;
            let Successor::Marking(next) = interpreter.fire(&marking, &firing) else { continue };
            let target = match numbers.get(&next) {
                Some(&known) => known,
                None if explored.markings.len() == limit => continue,
                None => {
                    let new = explored.markings.len();
                    numbers.insert(next.clone(), new);
                    explored.markings.push(next);
                    explored.edges.push(Vec::new());
                    queue.push(new);
                    new
                }
            };
            explored.edges[number].push((firing, target));
        }
    }
    explored
}

/// What was compared.
#[derive(Debug, Default)]
struct Summary {
    impossible: usize,
    possible: usize,
    ending: usize,
    counted: usize,
    /// Loops that took as many rounds as they are said to take at most.
    exact: usize,
    endless: usize,
    /// Places with memory that several threads touch, and that are not contested.
    calm: usize,
    contested: usize,
    /// Steps that happen only while there is one thread, and of those the ones that happen after there were several.
    solo: usize,
    solo_again: usize,
}

fn compare(net: &Net, summary: &mut Summary) -> Result<(), String> {
    let explored = explore(net, LIMIT);
    let impossible = impossible(net);
    for (transition, data) in net.transitions.iter_enumerated() {
        let is_fault = matches!(data.action, Action::Fault(_) | Action::Bound(_));
        summary.impossible += usize::from(is_fault && impossible[transition]);
        summary.possible += usize::from(is_fault && !impossible[transition]);
        if impossible[transition] && explored.was_enabled[transition] {
            return Err(format!("{transition} ({}) is not impossible: {}", data.action, data.label));
        }
    }
    compare_races(net, &explored, summary)?;
    compare_solo(net, &explored, summary)?;
    let flow = Flow::new(net);
    for data in &Loops::new(net, &flow).list {
        let Some(ending) = data.ends else {
            summary.endless += 1;
            continue;
        };
        summary.ending += 1;
        for frame in frames(net, &explored, data.header) {
            if is_endless(net, &explored, data, &frame) {
                return Err(format!("the loop at {} does not end", data.header));
            }
            if let Some(rounds) = ending.max_rounds.filter(|&rounds| rounds <= MAX_ROUNDS) {
                let taken = rounds_of(net, &explored, data, &frame, rounds)
                    .ok_or_else(|| format!("the loop at {} takes more than {rounds} rounds", data.header))?;
                summary.counted += 1;
                summary.exact += usize::from(taken == rounds);
            }
        }
    }
    Ok(())
}

/// Looks for other threads where the first one is said to be the only one.
fn compare_solo(net: &Net, explored: &Explored, summary: &mut Summary) -> Result<(), String> {
    let solo = Solo::new(net);
    let frame_places: Vec<Place> = net.places.indices().filter(|&place| net.is_frame_place(place)).collect();
    let mut is_again: IndexVec<Transition, bool> = IndexVec::filled(false, net.transitions.len());
    for (marking, edges) in explored.markings.iter().zip(&explored.edges) {
        let tokens = frame_places.iter().flat_map(|&place| marking.tokens(place));
        let threads: BTreeSet<i64> = tokens.map(|(token, _)| token[0]).collect();
        let had_others = net.done.is_some_and(|done| marking.tokens(done).next().is_some());
        for (firing, _) in edges {
            is_again[firing.transition] |= had_others;
            if threads.len() > 1 && solo.steps[firing.transition] {
                return Err(format!("{} is a step beside others: {threads:?}", firing.transition));
            }
        }
        let stands = |place: &&Place| marking.tokens(**place).next().is_some();
        if threads.len() > 1
            && let Some(place) = frame_places.iter().filter(stands).find(|&&place| solo.places[place])
        {
            return Err(format!("a frame is on {place} beside others: {threads:?}"));
        }
    }
    for transition in net.transitions.indices().filter(|&transition| solo.steps[transition]) {
        summary.solo += usize::from(explored.was_enabled[transition]);
        summary.solo_again += usize::from(is_again[transition]);
    }
    Ok(())
}

/// Looks for data races in memory that is not contested.
fn compare_races(net: &Net, explored: &Explored, summary: &mut Summary) -> Result<(), String> {
    let contested = net.contested_memory();
    let is_global = |place: &Place| {
        let cells = net.places[*place].cells();
        net.places[*place].memory && cells.is_some_and(|cells| cells.scope == Scope::Global)
    };
    let n_calm = net.places.indices().filter(|place| is_global(place) && !contested.contains(place)).count();
    summary.calm += n_calm;
    summary.contested += contested.len();
    if n_calm == 0 {
        return Ok(());
    }
    let interpreter = Interpreter::new(net);
    let races = explored.markings.iter().flat_map(|marking| interpreter.races(marking));
    match races.into_iter().find(|race| !contested.contains(&race.place)) {
        None => Ok(()),
        Some(race) => Err(format!("{} is raced for, but not contested", net.places[race.place].name)),
    }
}

/// The frames that come to a place.
fn frames(net: &Net, explored: &Explored, place: Place) -> Vec<Vec<i64>> {
    assert!(net.is_frame_place(place));
    let tokens = explored.markings.iter().flat_map(|marking| marking.tokens(place));
    let mut frames: Vec<Vec<i64>> = tokens.map(|(token, _)| token.clone()).collect();
    frames.sort_unstable();
    frames.dedup();
    frames
}

fn is_in_body(marking: &Marking, data: &LoopData, frame: &[i64]) -> bool {
    data.body.iter().any(|&place| marking.tokens(place).any(|(token, _)| token == frame))
}

/// Whether a step is one of the frame itself.
fn is_own(firing: &Firing, frame: &[i64]) -> bool {
    firing.thread() == frame[0] && firing.depth() == frame[1]
}

/// Whether the frame can go round in a cycle of markings without leaving the loop.
fn is_endless(net: &Net, explored: &Explored, data: &LoopData, frame: &[i64]) -> bool {
    let n = explored.markings.len();
    let inside: Vec<bool> =
        explored.markings.iter().map(|marking| is_in_body(marking, data, frame)).collect();
    let forward: Vec<Vec<usize>> = (0..n)
        .map(|from| {
            let targets = explored.edges[from].iter().map(|(_, target)| *target);
            targets.filter(|&target| inside[from] && inside[target]).collect()
        })
        .collect();
    let component = components(&forward);
    (0..n).any(|from| {
        explored.edges[from].iter().any(|(firing, target)| {
            let moves = net.transitions[firing.transition].source().is_some_and(|at| data.body.contains(&at));
            inside[from]
                && inside[*target]
                && component[from] == component[*target]
                && is_own(firing, frame)
                && moves
        })
    })
}

/// The strongly connected component of each node.
fn components(forward: &[Vec<usize>]) -> Vec<usize> {
    let n = forward.len();
    let (mut seen, mut order) = (vec![false; n], Vec::new());
    for start in 0..n {
        let mut stack = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((node, next)) = stack.last_mut() {
            match forward[*node].get(*next) {
                Some(&target) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[target], true) {
                        stack.push((target, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    let mut backward: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (from, targets) in forward.iter().enumerate() {
        targets.iter().for_each(|&target| backward[target].push(from));
    }
    let mut component = vec![usize::MAX; n];
    for &root in order.iter().rev() {
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            if component[node] == usize::MAX {
                component[node] = root;
                stack.extend(&backward[node]);
            }
        }
    }
    component
}

/// The most rounds that the frame takes in the loop; nothing where that is more than it is said to.
fn rounds_of(net: &Net, explored: &Explored, data: &LoopData, frame: &[i64], most: u64) -> Option<u64> {
    let stands = |number: usize, place: Place| {
        explored.markings[number].tokens(place).any(|(token, _)| token == frame)
    };
    let mut best: BTreeMap<usize, u64> = BTreeMap::new();
    let mut queue = Vec::new();
    for (from, edges) in explored.edges.iter().enumerate() {
        let is_outside = !is_in_body(&explored.markings[from], data, frame);
        for (_, target) in edges.iter().filter(|_| is_outside) {
            if stands(*target, data.header) && best.insert(*target, 0).is_none() {
                queue.push(*target);
            }
        }
    }
    let mut longest = 0;
    while let Some(number) = queue.pop() {
        let rounds = best[&number];
        longest = longest.max(rounds);
        for (firing, target) in &explored.edges[number] {
            if !is_in_body(&explored.markings[*target], data, frame) {
                continue;
            }
            let comes_back =
                is_own(firing, frame) && net.frame_target(firing.transition) == Some(data.header);
            let rounds = rounds + u64::from(comes_back);
            if rounds > most {
                return None;
            }
            if best.get(target).is_none_or(|&known| known < rounds) {
                best.insert(*target, rounds);
                queue.push(*target);
            }
        }
    }
    Some(longest)
}

/// Compares programs of one kind.
fn compare_programs(seed: u64, n_programs: usize, program: impl Fn(&mut Rng) -> String) -> Summary {
    let mut summary = Summary::default();
    for number in 0..n_programs as u64 {
        let case = seed.wrapping_mul(1_000_003).wrapping_add(number);
        let text = program(&mut Rng::new(case));
        let net = lowered(&text).unwrap_or_else(|error| panic!("case {case}\n{text}\n{error}"));
        compare(&net, &mut summary).unwrap_or_else(|error| panic!("case {case}\n{text}\n{error}\n{net}"));
    }
    summary
}

#[test]
fn counting_programs() {
    // They are small: ten times as many.
    let summary = compare_programs(Rng::test_seed(1), 10 * n_programs(), counting::program);
    let Summary { impossible, possible, ending, endless, .. } = summary;
    assert!(impossible * 8 > possible && possible * 8 > impossible, "{summary:?}");
    assert!(ending * 8 > endless && endless * 8 > ending, "{summary:?}");
    assert!(summary.counted > n_programs() / 2 && summary.exact * 2 > summary.counted, "{summary:?}");
}

#[test]
fn programs_that_hand_over_data() {
    let summary = compare_programs(Rng::test_seed(1), 3 * n_programs(), handover::program);
    let Summary { calm, contested, .. } = summary;
    assert!(calm * 8 > contested && contested * 8 > calm, "{summary:?}");
}

#[test]
fn programs_that_wait_for_their_threads() {
    let summary = compare_programs(Rng::test_seed(1), 5 * n_programs(), joining::program);
    let Summary { calm, contested, solo, solo_again, .. } = summary;
    assert!(solo_again > n_programs() && solo > 2 * solo_again, "{summary:?}");
    assert!(calm > n_programs() / 4 && contested > calm, "{summary:?}");
}

#[test]
fn threaded_programs() {
    let seed = Rng::test_seed(1);
    let threads = compare_programs(seed, n_programs(), |rng| random_threads(rng).plain());
    assert!(threads.impossible > n_programs(), "{threads:?}");
}

#[test]
fn random_programs() {
    let seed = Rng::test_seed(1);
    let random = compare_programs(seed, n_programs(), |rng| {
        counting::without_headers(&random_c_program(rng, &ProgramConfig::default()).text)
    });
    assert!(random.impossible > n_programs(), "{random:?}");
}

#[test]
fn programs_with_memory() {
    let seed = Rng::test_seed(1);
    let memory =
        compare_programs(seed, n_programs().div_ceil(4), |rng| random_memory(rng, 12).asserting(0, false));
    assert!(memory.impossible > n_programs(), "{memory:?}");
}
