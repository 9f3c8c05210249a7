//! Runs with few preemptions first: a fast way to bugs, and a bound that says what it leaves out.
//!
//! A *preemption* takes the turn from a thread that could have gone on. Most bugs of threads need one or two of them, and
//! there are far fewer runs with so few: this is the iterative context bounding of Musuvathi and Qadeer, *Iterative
//! context bounding for systematic testing of multithreaded programs* (PLDI 2007). All runs without preemption are
//! searched first, then those with one, and so on up to the bound. A step that moves two threads preempts neither.
//!
//! # What it covers
//!
//! A node is a state and the thread that moved last, if that one can go on there. Nodes are expanded in the order of the
//! preemptions that lead to them, so that each is first met with the fewest, and what can be reached from it within the
//! bound is found from that meeting. If no step was left out because of the bound, all runs were searched, and the answer
//! is that of a full search. Otherwise a property that was not broken is `Unknown`, with the bound as the reason.
//!
//! Steps of other threads are never left out in favour of one thread's ([`pdnet_space::Stubborn`]): the run that is walked
//! instead could have more preemptions than the bound. Values may be forgotten: that changes no step. Merged steps
//! (agglomeration) only take preemptions away: a step that is moved next to another one of its thread leaves no turn to
//! be taken between them.

use std::ops::ControlFlow;

use pdnet_base::{FxHashMap, FxHashSet, Idx as _, table_bytes};
use pdnet_check::{Engine, Observer, Outcome, Progress, Request, Stats, StopReason, Trace, Verdict};
use pdnet_space::{Compiled, Jit, Outcome as StepOutcome, StateId, StateStore, ThreadSet};

use crate::Explicit;
use crate::budget::{Budget, FIRINGS};
use crate::goals::{Goal, Goals, Hit};
use crate::graph::{Model, full};
use crate::stepper::Stepper;

/// The explicit-state engine for runs with at most so many preemptions.
#[derive(Clone, Copy, Debug)]
pub struct Preemptions {
    /// How many.
    pub bound: u32,
    /// Whether values that nobody will look at are forgotten.
    pub forget: bool,
    /// Whether transitions are run as native code.
    pub jit: Jit,
}

impl Engine for Preemptions {
    fn name(&self) -> &'static str {
        "preemption-bounded"
    }

    fn check(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Vec<Outcome> {
        let mut budget = Budget::new(request.limits, observer);
        let unsupported = |text: String| Outcome {
            verdict: Verdict::Unknown(StopReason::Unsupported(text)),
            stats: Stats::default(),
        };
        let compiled = match Compiled::new(request.net) {
            Ok(compiled) => compiled.with_jit(self.jit),
            Err(error) => return vec![unsupported(error.0); request.properties.len()],
        };
        let engine = Explicit { forget: self.forget, ..Explicit::PLAIN };
        let model = Model::new(request.net, &compiled, &engine);
        let mut goals = Vec::new();
        let mut outcomes: Vec<Option<Outcome>> = Vec::new();
        for property in request.properties {
            let unfit = match crate::goal(&model, property, request.fairness) {
                Ok(Some(goal)) => {
                    goals.push(goal);
                    None
                }
                Ok(None) => Some(unsupported(
                    "a bound on preemptions is for what a finite run breaks: assertions, deadlocks, races, invariants"
                        .to_owned(),
                )),
                Err(text) => Some(unsupported(text)),
            };
            outcomes.push(unfit);
        }
        let found = if goals.is_empty() {
            Vec::new()
        } else {
            Search::new(&model, goals).check(self.bound, &mut budget)
        };
        let mut found = found.into_iter();
        let missing = || unsupported("property".to_owned());
        let all = outcomes.into_iter().map(|unfit| unfit.or_else(|| found.next()).unwrap_or_else(missing));
        let mut outcomes: Vec<Outcome> = all.collect();
        crate::note_native(&compiled, &mut outcomes);
        outcomes
    }
}

/// The number of no thread.
const NOBODY: u32 = u32::MAX;

/// A state, and the thread that has the turn there.
type Node = (StateId, u32);

/// A node that was met, with the position of the one before it.
type Met = (Node, u32);

/// The bytes of a table with entries of so many bytes, of which one in eight places is free.
const fn table_of(n_entries: usize, capacity: usize, entry: usize) -> usize {
    table_bytes(capacity / 7 * 8 * (entry + 1), n_entries, capacity)
}

struct Search<'a> {
    model: &'a Model<'a>,
    goals: Goals<'a>,
    store: StateStore,
    stepper: Stepper<'a>,
    /// Nodes in the order in which they were met, with the position of the one before.
    nodes: Vec<Met>,
    known: FxHashSet<Node>,
    /// Nodes that one preemption more leads to, with the first one before each.
    later: FxHashMap<Node, u32>,
    /// States that were looked at.
    looked: Vec<bool>,
    n_transitions: u64,
    /// Some step was left out.
    is_bounded: bool,
}

impl<'a> Search<'a> {
    fn new(model: &'a Model<'a>, goals: Vec<Goal>) -> Self {
        let goals = Goals::new(model, goals, false);
        Self {
            model,
            stepper: Stepper::new(model, None, goals.stored()),
            goals,
            store: StateStore::new(model.compiled),
            nodes: Vec::new(),
            known: FxHashSet::default(),
            later: FxHashMap::default(),
            looked: Vec::new(),
            n_transitions: 0,
            is_bounded: false,
        }
    }

    fn check(mut self, bound: u32, budget: &mut Budget<'_>) -> Vec<Outcome> {
        let search = budget.search();
        let stopped = self.explore(bound, budget).err();
        let stats = budget.stats(&search, &self.progress(self.nodes.len()));
        let rest = match stopped {
            Some(reason) => Verdict::Unknown(reason),
            None => match self.goals.notes.verdict(self.model.net) {
                Verdict::Holds if self.is_bounded => Verdict::Unknown(StopReason::Preemptions(bound)),
                verdict => verdict,
            },
        };
        self.goals.into_verdicts(&rest).map(|verdict| Outcome { verdict, stats }).collect()
    }

    fn progress(&self, n_expanded: usize) -> Progress {
        let n_open = self.nodes.len().saturating_sub(n_expanded) + self.later.len();
        let memory = self.store.bytes()
            + self.goals.bytes()
            + self.looked.capacity()
            + self.nodes.capacity() * size_of::<Met>()
            + table_of(self.known.len(), self.known.capacity(), size_of::<Node>())
            + table_of(self.later.len(), self.later.capacity(), size_of::<Met>());
        Progress {
            states: self.store.len() as u64,
            transitions: self.n_transitions,
            frontier: n_open as u64,
            memory_bytes: memory as u64,
        }
    }

    /// One level of preemptions after the other.
    fn explore(&mut self, bound: u32, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let initial = self.stepper.stored(&self.model.compiled.initial());
        let (id, _) = self.store.insert(&initial).map_err(|_| full())?;
        self.meet((id, NOBODY), 0);
        let mut position = 0;
        for level in 0..=bound {
            while position < self.nodes.len() && self.goals.are_open() {
                budget.tick(|| self.progress(position))?;
                self.expand(position, level == bound, budget)?;
                position += 1;
            }
            // The order of a table is not to be seen in runs.
            let mut later: Vec<(Node, u32)> = std::mem::take(&mut self.later).into_iter().collect();
            later.sort_unstable_by_key(|&(node, before)| (before, node));
            later.into_iter().for_each(|(node, before)| self.meet(node, before));
            if position == self.nodes.len() || !self.goals.are_open() {
                break;
            }
        }
        Ok(())
    }

    fn meet(&mut self, node: Node, before: u32) {
        if self.known.insert(node) {
            self.nodes.push((node, before));
        }
    }

    /// Finds what comes after a node; on the last level only what costs no preemption.
    fn expand(&mut self, position: usize, is_last: bool, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let ((id, turn), _) = self.nodes[position];
        if turn != NOBODY && self.known.contains(&(id, NOBODY)) {
            // All that can be done here was done without a preemption, with no more of them before.
            return Ok(());
        }
        self.stepper.load(&self.store, id);
        let enabled = self.enabled()?;
        let can_go_on = turn != NOBODY && enabled.contains(turn as usize);
        if turn != NOBODY && !can_go_on {
            // Whose turn it was does not matter.
            self.known.insert((id, NOBODY));
        }
        let mut hits = Vec::new();
        let result = self.follow(position, can_go_on.then_some(turn), is_last, &mut hits, budget);
        let result = result.and_then(|()| self.look(id, enabled.is_empty(), &mut hits, budget));
        for hit in hits {
            let goal = hit.goal;
            if self.goals.undecided(goal).is_some() {
                let trace = self.trace(position, hit);
                self.goals.undecided(goal).map(|verdict| verdict.insert(Verdict::Violated(trace)));
            }
        }
        result
    }

    /// The threads that can move in the loaded state.
    fn enabled(&mut self) -> Result<ThreadSet, StopReason> {
        let mut enabled = ThreadSet::NONE;
        let result = self.stepper.for_each(|step, _, _| {
            enabled |= step.movers();
            ControlFlow::Continue(())
        });
        result.map(|()| enabled).map_err(|error| StopReason::Unsupported(error.0))
    }

    /// Follows the steps of the loaded state; `turn` has the thread that could go on.
    fn follow(
        &mut self,
        position: usize,
        turn: Option<u32>,
        is_last: bool,
        hits: &mut Vec<Hit>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        #[expect(clippy::cast_possible_truncation, reason = "nodes are numbered in 32 bits")]
        let before = position as u32;
        let mut stop = None;
        let Self { goals, store, stepper, nodes, known, later, n_transitions, is_bounded, .. } = self;
        let mut n_firings = 0_u64;
        let result = stepper.for_each(|step, next, _| {
            n_firings += 1;
            let preempts = turn.is_some_and(|turn| !step.movers().contains(turn as usize));
            if preempts && is_last {
                *is_bounded = true;
                return ControlFlow::Continue(());
            }
            *n_transitions += 1;
            goals.see(step, hits);
            if step.outcome == StepOutcome::State {
                match store.insert(next) {
                    Ok((id, _)) => {
                        let node = (id, step.thread);
                        let is_known = known.contains(&node) || known.contains(&(id, NOBODY));
                        match (is_known, preempts) {
                            (true, _) => {}
                            (false, true) => {
                                later.entry(node).or_insert(before);
                            }
                            (false, false) => {
                                known.insert(node);
                                nodes.push((node, before));
                            }
                        }
                        stop = budget.allow_states(store.len()).err();
                    }
                    Err(_) => stop = Some(full()),
                }
            }
            if n_firings.is_multiple_of(FIRINGS) {
                let progress = Progress {
                    states: store.len() as u64,
                    transitions: *n_transitions,
                    frontier: 0,
                    memory_bytes: (store.bytes() + nodes.capacity() * size_of::<Met>()) as u64,
                };
                stop = stop.take().or(budget.look(&progress).err());
            }
            if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let stop = result.err().map(|error| StopReason::Unsupported(error.0)).or(stop);
        stop.map_or(Ok(()), Err)
    }

    /// Looks at the loaded state itself, once.
    fn look(
        &mut self,
        id: StateId,
        is_stuck: bool,
        hits: &mut Vec<Hit>,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        self.looked.resize(self.store.len(), false);
        if std::mem::replace(&mut self.looked[id.index()], true) {
            return Ok(());
        }
        let is_dead = is_stuck && !self.model.compiled.has_ended(self.stepper.current());
        self.goals.look(&mut self.stepper, is_dead, hits, budget)
    }

    /// The run to a node, and what breaks the goal there.
    fn trace(&mut self, position: usize, hit: Hit) -> Trace {
        let mut path = Vec::new();
        let mut at = position;
        loop {
            let ((id, _), before) = self.nodes[at];
            path.push(id);
            if at == 0 {
                break;
            }
            at = before as usize;
        }
        path.reverse();
        self.goals.trace(&mut self.stepper, &self.store, (&path, None), hit)
    }
}
