//! Threads that are blocked forever while others go on.
//!
//! The question is about all continuations of a state, so that the whole graph is explored first. Then two things
//! are carried from each state back to those before it: which threads move in some continuation, and whether
//! some continuation never ends the process.

use pdnet_base::Idx as _;
use pdnet_check::{Depth, MemoryUse, Outcome, Progress, Stats, StopReason, Trace, TraceEnd, Verdict};
use pdnet_space::{StateId, ThreadSet};

use crate::budget::Budget;
use crate::graph::Graph;
use crate::notes::Notes;
use crate::sights::Sight;

/// Looks for a state in which some thread can move, while another one has not ended, does not wait for the
/// end of a thread and never moves again, and from which some run never ends the process.
pub(crate) fn check(graph: &mut Graph<'_>, budget: &mut Budget<'_>) -> Outcome {
    let search = budget.search();
    let mut explored = Explored::default();
    let decided = graph.begin(budget).and_then(|()| explored.decide(graph, budget));
    graph.end(decided.is_err(), budget);
    let verdict = decided.unwrap_or_else(Verdict::Unknown);
    let memory = MemoryUse { nodes: explored.bytes() as u64, ..graph.memory() };
    let stats = Stats { memory, ..budget.stats(&search, &explored.progress(graph)) };
    Outcome { verdict, stats }
}

/// The states in the order of their distance from the initial one. Positions in that order are what the
/// numbers below speak of.
#[derive(Default)]
struct Explored {
    states: Vec<StateId>,
    /// For each state the position of the one that it was found from.
    parents: Vec<u32>,
    /// For each state of the graph its position.
    positions: Vec<u32>,
    n_edges: usize,
    n_expanded: usize,
    /// How far the states that are expanded now are from the initial one.
    level: u64,
    notes: Notes,
}

const NOWHERE: u32 = u32::MAX;

impl Explored {
    fn decide(&mut self, graph: &mut Graph<'_>, budget: &mut Budget<'_>) -> Result<Verdict, StopReason> {
        self.explore(graph, budget)?;
        budget.look(&self.progress(graph))?;
        let before = Predecessors::new(self, graph, budget)?;
        let moves = self.moving_threads(graph, &before);
        let joins = graph.model.net.join_places();
        let goes_on = self.going_on(graph, &before, budget)?;
        for (at, &state) in self.states.iter().enumerate() {
            if !goes_on[at] || moves[at] == ThreadSet::ALL || graph.stutters(state, Sight::WHOLE) {
                continue;
            }
            let compiled = graph.model.compiled;
            let now = graph.state(state);
            let stuck = now.live_threads() & !moves[at] & !compiled.threads_on(now, &joins);
            if let Some(thread) = stuck.iter().next() {
                let thread = thread as i64;
                return Ok(Verdict::Violated(self.trace(graph, at, thread)));
            }
        }
        Ok(self.notes.verdict(graph.model.net))
    }

    /// What it takes. What the steps back will take is counted from the beginning.
    fn bytes(&self) -> usize {
        self.states.len() * (4 + 4 + 4 + 4 + size_of::<ThreadSet>() + 1 + 4) + self.n_edges * 4
    }

    fn progress(&self, graph: &Graph<'_>) -> Progress {
        let (states, transitions) = (self.states.len() as u64, self.n_edges as u64);
        let frontier = states - self.n_expanded as u64;
        let depth = Some(Depth::Level(self.level));
        Progress { states, transitions, frontier, memory_bytes: (graph.bytes() + self.bytes()) as u64, depth }
    }

    /// Visits all states, breadth first.
    fn explore(&mut self, graph: &mut Graph<'_>, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let initial = graph.initial()?;
        self.add(initial, 0);
        let (mut at, mut level_end) = (0, 1);
        while at < self.states.len() {
            if at == level_end {
                (self.level, level_end) = (self.level + 1, self.states.len());
            }
            budget.tick(|| self.progress(graph))?;
            let state = self.states[at];
            let edges = graph.edges(state, Sight::WHOLE, budget)?;
            graph.note(state, Sight::WHOLE, &mut self.notes);
            self.n_edges += edges.len();
            #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
            let parent = at as u32;
            for edge in edges {
                let (target, _) = graph.edge(state, Sight::WHOLE, edge);
                self.add(target, parent);
            }
            budget.allow_states(self.states.len())?;
            at += 1;
            self.n_expanded = at;
        }
        Ok(())
    }

    fn add(&mut self, state: StateId, parent: u32) {
        let n_positions = self.positions.len().max(state.index() + 1);
        self.positions.resize(n_positions, NOWHERE);
        if self.positions[state.index()] == NOWHERE {
            #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
            let position = self.states.len() as u32;
            self.positions[state.index()] = position;
            self.states.push(state);
            self.parents.push(parent);
        }
    }

    /// For each state the threads that move in some continuation; all where not every continuation is known.
    fn moving_threads(&self, graph: &Graph<'_>, before: &Predecessors) -> Vec<ThreadSet> {
        let own = |&state: &StateId| {
            if graph.is_notable(state, Sight::WHOLE) {
                ThreadSet::ALL
            } else {
                graph.enabled(state, Sight::WHOLE)
            }
        };
        let mut moves: Vec<ThreadSet> = self.states.iter().map(own).collect();
        let mut queue: Vec<u32> = (0..before.n_states()).rev().collect();
        while let Some(at) = queue.pop() {
            let later = moves[at as usize];
            for &predecessor in before.of(at) {
                let known = &mut moves[predecessor as usize];
                if *known | later != *known {
                    *known |= later;
                    queue.push(predecessor);
                }
            }
        }
        moves
    }

    /// For each state whether some run from it never ends the process: it comes to a deadlock or to a cycle. What
    /// has no step into the rest is taken out, again and again: what stays, goes on.
    fn going_on(
        &self,
        graph: &mut Graph<'_>,
        before: &Predecessors,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<bool>, StopReason> {
        let mut goes_on = vec![true; self.states.len()];
        let mut n_steps = Vec::with_capacity(self.states.len());
        let mut queue = Vec::new();
        for (at, &state) in self.states.iter().enumerate() {
            let n_edges = graph.edges(state, Sight::WHOLE, budget)?.len();
            let is_deadlock =
                graph.stutters(state, Sight::WHOLE) && !graph.model.compiled.has_ended(graph.state(state));
            if n_edges == 0 && !is_deadlock {
                goes_on[at] = false;
                #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
                queue.push(at as u32);
            }
            n_steps.push(n_edges);
        }
        while let Some(at) = queue.pop() {
            for &predecessor in before.of(at) {
                let left = &mut n_steps[predecessor as usize];
                *left -= 1;
                if *left == 0 {
                    goes_on[predecessor as usize] = false;
                    queue.push(predecessor);
                }
            }
        }
        Ok(goes_on)
    }

    fn trace(&self, graph: &mut Graph<'_>, position: usize, thread: i64) -> Trace {
        let mut path = vec![position];
        let mut at = position;
        while at != 0 {
            at = self.parents[at] as usize;
            path.push(at);
        }
        path.reverse();
        let mut prefix = Vec::new();
        for pair in path.windows(2) {
            prefix.extend(graph.firings_to(self.states[pair[0]], self.states[pair[1]]));
        }
        Trace { prefix, end: TraceEnd::Stuck(thread) }
    }
}

/// The steps of a graph, backwards.
struct Predecessors {
    /// Where the predecessors of each state begin.
    first: Vec<u32>,
    predecessors: Vec<u32>,
}

impl Predecessors {
    fn new(explored: &Explored, graph: &mut Graph<'_>, budget: &mut Budget<'_>) -> Result<Self, StopReason> {
        if u32::try_from(explored.n_edges).is_err() {
            return Err(crate::model::full());
        }
        let mut first = vec![0_u32; explored.states.len() + 1];
        let mut steps = |visit: &mut dyn FnMut(u32, usize)| -> Result<(), StopReason> {
            for (at, &state) in explored.states.iter().enumerate() {
                for edge in graph.edges(state, Sight::WHOLE, budget)? {
                    let (target, _) = graph.edge(state, Sight::WHOLE, edge);
                    visit(explored.positions[target.index()], at);
                }
            }
            Ok(())
        };
        steps(&mut |target, _| first[target as usize + 1] += 1)?;
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut next = first.clone();
        let mut predecessors = vec![0_u32; explored.n_edges];
        steps(&mut |target, source| {
            let slot = &mut next[target as usize];
            #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
            let source = source as u32;
            predecessors[*slot as usize] = source;
            *slot += 1;
        })?;
        Ok(Self { first, predecessors })
    }

    #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
    fn n_states(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    fn of(&self, at: u32) -> &[u32] {
        let at = at as usize;
        &self.predecessors[self.first[at] as usize..self.first[at + 1] as usize]
    }
}
