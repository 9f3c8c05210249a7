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
//! bound is found from that meeting. What a step breaks that is a preemption itself counts only when all with fewer
//! preemptions was searched, so that the run that is shown has as few of them as any run that breaks the property; where a limit
//! stops the search before, it is shown all the same, without that claim. If no step was left out because of the bound, all runs were searched, and the answer
//! is that of a full search. Otherwise a property that was not broken is `Unknown`, with the bound as the reason.
//!
//! Steps of other threads are never left out in favour of one thread's ([`pdnet_space::Stubborn`]): the run that is walked
//! instead could have more preemptions than the bound. Values may be forgotten: that changes no step. Merged steps
//! (agglomeration) only take preemptions away: a step that is moved next to another one of its thread leaves no turn to
//! be taken between them.

use std::ops::ControlFlow;

use pdnet_base::{FxHashMap, FxHashSet, Idx as _, table_bytes};
use pdnet_check::{
    Depth, Engine, MemoryUse, Observer, Outcome, Preempted, Progress, Request, Stats, StopReason, Trace,
    TraceEnd, Verdict,
};
use pdnet_net::Transition;
use pdnet_space::{Compiled, Jit, Outcome as StepOutcome, StateId, StateStore, ThreadSet};

use crate::Explicit;
use crate::budget::{Budget, FIRINGS, memory_of};
use crate::goals::{Goal, Goals, Hit};
use crate::journal::Question;
use crate::journal::bounded::{BoundedJournal, Position};
use crate::journal::findings::Findings;
use crate::model::{Model, full};
use crate::stepper::Stepper;
use crate::worker::Counts;

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
        let (mut goals, mut asked) = (Vec::new(), Vec::new());
        let mut outcomes: Vec<Option<Outcome>> = Vec::new();
        for property in request.properties {
            let unfit = match crate::goal(&model, property, request.fairness) {
                Ok(Some(goal)) => {
                    goals.push(goal);
                    asked.push(property);
                    None
                }
                Ok(None) => Some(unsupported(
                    "a bound on preemptions where only an endless run breaks the property (leave the bound out)"
                        .to_owned(),
                )),
                Err(text) => Some(unsupported(text)),
            };
            outcomes.push(unfit);
        }
        let found = if goals.is_empty() {
            Vec::new()
        } else {
            let kept = budget
                .keeper()
                .is_some()
                .then(|| Question::Bounded(&asked, self.bound).number(&engine, &model));
            Search::new(&model, goals, kept).check(self.bound, &mut budget)
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
pub(crate) type Node = (StateId, u32);

/// A node that was met, with the position of the one before it.
pub(crate) type Met = (Node, u32);

/// The bytes of a table with entries of so many bytes, of which one in eight places is free.
const fn table_of(n_entries: usize, capacity: usize, entry: usize) -> usize {
    table_bytes(capacity / 7 * 8 * (entry + 1), n_entries, capacity)
}

/// What is known of states and turns.
pub(crate) struct Tables {
    pub(crate) store: StateStore,
    /// Nodes in the order in which they were met, with the position of the one before.
    pub(crate) nodes: Vec<Met>,
    pub(crate) known: FxHashSet<Node>,
    /// Nodes that one preemption more leads to, with the first one before each.
    pub(crate) later: FxHashMap<Node, u32>,
    pub(crate) n_transitions: u64,
    /// How many nodes were expanded, and with how many preemptions that is.
    n_expanded: usize,
    level: u32,
}

impl Tables {
    fn new(compiled: &Compiled) -> Self {
        Self {
            store: StateStore::new(compiled),
            nodes: Vec::new(),
            known: FxHashSet::default(),
            later: FxHashMap::default(),
            n_transitions: 0,
            n_expanded: 0,
            level: 0,
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        let n_open = self.nodes.len().saturating_sub(self.n_expanded) + self.later.len();
        Progress {
            states: self.store.len() as u64,
            transitions: self.n_transitions,
            frontier: n_open as u64,
            memory_bytes: (self.store.bytes() + self.bytes()) as u64,
            depth: Some(Depth::Preemptions(self.level)),
        }
    }

    /// The bytes of what is known beside the states.
    fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Met>()
            + table_of(self.known.len(), self.known.capacity(), size_of::<Node>())
            + table_of(self.later.len(), self.later.capacity(), size_of::<Met>())
    }
}

/// What is known of a goal that was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// How many preemptions the run has.
    pub(crate) run: u32,
    /// All runs with fewer than so many were searched.
    pub(crate) complete: u32,
}

/// What a preemption breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Later {
    /// The position of the node from which it does.
    pub(crate) position: usize,
    pub(crate) goal: usize,
    /// The first transition of the firing, and that which must not fire.
    pub(crate) last: (Transition, Transition),
    /// The thread that fires it.
    pub(crate) thread: u32,
}

struct Search<'a> {
    model: &'a Model<'a>,
    goals: Goals<'a>,
    stepper: Stepper<'a>,
    tables: Tables,
    /// States that were looked at.
    looked: Vec<bool>,
    /// Some step was left out.
    is_bounded: bool,
    /// For each goal, what is known of it if it was decided.
    found: Vec<Option<Found>>,
    /// What one preemption more breaks, once for each goal.
    later: Vec<Later>,
    /// Where the search is kept, if it is.
    journal: Option<BoundedJournal>,
}

impl<'a> Search<'a> {
    fn new(model: &'a Model<'a>, goals: Vec<Goal>, fingerprint: Option<u64>) -> Self {
        let goals = Goals::new(model, goals, false);
        Self {
            model,
            stepper: Stepper::new(model, None, goals.stored()),
            found: vec![None; goals.len()],
            goals,
            tables: Tables::new(model.compiled),
            looked: Vec::new(),
            is_bounded: false,
            later: Vec::new(),
            journal: fingerprint.map(BoundedJournal::new),
        }
    }

    fn check(mut self, bound: u32, budget: &mut Budget<'_>) -> Vec<Outcome> {
        let search = budget.search();
        let stopped = match self.resume(budget) {
            Ok(()) => {
                let stopped = self.explore(bound, budget).err();
                // What a limit has stopped is kept, too: with a higher one it can go on.
                if self.journal.as_ref().is_some_and(|journal| journal.is_begun || stopped.is_some()) {
                    self.keep(budget);
                }
                stopped
            }
            // What was not read must not be written over.
            Err(reason) => Some(reason),
        };
        // What was seen is a violation, whether or not there is one with fewer preemptions.
        self.settle_later(self.tables.level + 1);
        let mut stats = budget.stats(&search, &self.progress());
        stats.memory = MemoryUse {
            nodes: (self.tables.bytes() + self.looked.capacity()) as u64,
            remembered: self.stepper.bytes() as u64,
            edges: self.goals.bytes() as u64,
            ..memory_of(self.tables.store.size())
        };
        let complete = if stopped.is_none() { bound + 1 } else { self.tables.level };
        let rest = match stopped {
            Some(reason) => Verdict::Unknown(reason),
            None => match self.goals.notes.verdict(self.model.net) {
                Verdict::Holds if self.is_bounded => Verdict::Unknown(StopReason::Preemptions(bound)),
                verdict => verdict,
            },
        };
        let (found, is_bounded) = (self.found, self.is_bounded || matches!(rest, Verdict::Unknown(_)));
        let preempted = |found: Option<Found>| match found {
            Some(Found { run, complete }) => Some(Preempted { run: Some(run), complete }),
            None => is_bounded.then_some(Preempted { run: None, complete }),
        };
        let stats = found.into_iter().map(|found| Stats { preempted: preempted(found), ..stats });
        let verdicts = self.goals.into_verdicts(&rest);
        verdicts.zip(stats).map(|(verdict, stats)| Outcome { verdict, stats }).collect()
    }

    fn progress(&self) -> Progress {
        let own = self.goals.bytes() + self.looked.capacity();
        let progress = self.tables.progress();
        Progress { memory_bytes: progress.memory_bytes + own as u64, ..progress }
    }

    /// Goes on with what was kept of the search, if something was.
    fn resume(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        match journal.read(self.model, self.goals.len(), &mut self.tables, budget) {
            Ok(None) => {}
            Ok(Some(Position { findings, level, n_expanded, is_bounded, found, later })) => {
                let counts = findings.give_to(self.model.net, &mut self.goals);
                (self.tables.n_transitions, self.tables.n_expanded) = (counts.transitions, n_expanded);
                (self.tables.level, self.is_bounded, self.found, self.later) =
                    (level, is_bounded, found, later);
            }
            Err(Some(reason)) => return Err(reason),
            Err(None) => self.tables = Tables::new(self.model.compiled),
        }
        Ok(())
    }

    /// Keeps what is new.
    fn keep(&mut self, budget: &mut Budget<'_>) {
        let Tables { store, n_transitions, n_expanded, level, .. } = &self.tables;
        let counts = Counts { transitions: *n_transitions, ..Counts::default() };
        let position = Position {
            findings: Findings::of(&self.goals, counts),
            level: *level,
            n_expanded: *n_expanded,
            is_bounded: self.is_bounded,
            found: self.found.clone(),
            later: self.later.clone(),
        };
        if let (Some(journal), Some(keeper)) = (&mut self.journal, budget.keeper()) {
            journal.keep(self.model, store, &position, keeper);
        }
    }

    /// One level of preemptions after the other.
    fn explore(&mut self, bound: u32, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        if self.tables.nodes.is_empty() {
            let initial = self.stepper.stored(&self.model.compiled.initial());
            let (id, _) = self.tables.store.insert(&initial).map_err(|_| full())?;
            self.meet((id, NOBODY), 0);
        }
        loop {
            while self.tables.n_expanded < self.tables.nodes.len() && self.goals.are_open() {
                if self.journal.is_some() && budget.is_moment() {
                    self.keep(budget);
                }
                budget.tick(|| self.progress())?;
                let before = self.tables.n_transitions;
                let expanded = self.expand(self.tables.n_expanded, self.tables.level == bound, budget);
                if expanded.is_err() {
                    self.tables.n_transitions = before;
                }
                self.journal.iter_mut().for_each(|journal| journal.relieve(budget));
                expanded?;
                self.tables.n_expanded += 1;
            }
            if !self.goals.are_open() || self.tables.level == bound {
                return Ok(());
            }
            self.tables.level += 1;
            self.settle_later(self.tables.level);
            // The order of a table is not to be seen in runs.
            let mut later: Vec<Met> = std::mem::take(&mut self.tables.later).into_iter().collect();
            self.journal.iter_mut().for_each(BoundedJournal::next_level);
            later.sort_unstable_by_key(|&(node, before)| (before, node));
            later.into_iter().for_each(|(node, before)| self.meet(node, before));
            if self.tables.n_expanded == self.tables.nodes.len() || !self.goals.are_open() {
                return Ok(());
            }
        }
    }

    /// What a preemption has broken is broken by a run with so many of them.
    fn settle_later(&mut self, run: u32) {
        for Later { position, goal, last, thread } in std::mem::take(&mut self.later) {
            let hit = Hit { goal, last: Some(last), thread: Some(thread), end: TraceEnd::Any };
            self.settle(position, hit, run);
        }
    }

    /// Decides a goal by a run with so many preemptions.
    fn settle(&mut self, position: usize, hit: Hit, run: u32) {
        let goal = hit.goal;
        if self.goals.undecided(goal).is_some() {
            let trace = self.trace(position, hit);
            self.goals.undecided(goal).map(|verdict| verdict.insert(Verdict::Violated(trace)));
            self.found[goal] = Some(Found { run, complete: self.tables.level });
        }
    }

    fn meet(&mut self, node: Node, before: u32) {
        if self.tables.known.insert(node) {
            self.tables.nodes.push((node, before));
            self.journal.iter_mut().for_each(|journal| journal.meet(node, before));
        }
    }

    /// Finds what comes after a node; on the last level only what costs no preemption.
    fn expand(&mut self, position: usize, is_last: bool, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let ((id, turn), _) = self.tables.nodes[position];
        if turn != NOBODY && self.tables.known.contains(&(id, NOBODY)) {
            // All that can be done here was done without a preemption, with no more of them before.
            return Ok(());
        }
        self.stepper.load(&self.tables.store, id);
        let enabled = self.enabled()?;
        let can_go_on = turn != NOBODY && enabled.contains(turn as usize);
        let is_anybodys = turn != NOBODY && !can_go_on;
        if is_anybodys {
            // Whose turn it was does not matter.
            self.tables.known.insert((id, NOBODY));
        }
        let mut hits = Vec::new();
        let result = self.follow(position, can_go_on.then_some(turn), is_last, &mut hits, budget);
        let result = result.and_then(|()| self.look(id, enabled.is_empty(), &mut hits, budget));
        for hit in hits {
            self.settle(position, hit, self.tables.level);
        }
        if is_anybodys {
            match &result {
                Ok(()) => self.journal.iter_mut().for_each(|journal| journal.is_anybodys((id, NOBODY))),
                // Who expands it again has all to do.
                Err(_) => {
                    self.tables.known.remove(&(id, NOBODY));
                }
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
        let Self { goals, stepper, tables, is_bounded, later, journal, .. } = self;
        let mut n_firings = 0_u64;
        let mut later_hits = Vec::new();
        let result = stepper.for_each(|step, next, _| {
            n_firings += 1;
            let preempts = turn.is_some_and(|turn| !step.movers().contains(turn as usize));
            if preempts && is_last {
                *is_bounded = true;
                return ControlFlow::Continue(());
            }
            tables.n_transitions += 1;
            goals.see(step, if preempts { &mut later_hits } else { hits });
            if step.outcome == StepOutcome::State {
                match tables.store.insert(next) {
                    Ok((id, _)) => {
                        let node = (id, step.thread);
                        let is_known = tables.known.contains(&node) || tables.known.contains(&(id, NOBODY));
                        match (is_known, preempts) {
                            (true, _) => {}
                            (false, true) => {
                                tables.later.entry(node).or_insert_with(|| {
                                    journal.iter_mut().for_each(|journal| journal.wait(node, before));
                                    before
                                });
                            }
                            (false, false) => {
                                tables.known.insert(node);
                                tables.nodes.push((node, before));
                                journal.iter_mut().for_each(|journal| journal.meet(node, before));
                            }
                        }
                        stop = budget.allow_states(tables.store.len()).err();
                    }
                    Err(_) => stop = Some(full()),
                }
            }
            if n_firings.is_multiple_of(FIRINGS) {
                stop = stop.take().or(budget.look(&tables.progress()).err());
            }
            if stop.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        for hit in later_hits {
            if let (Some(last), Some(thread)) = (hit.last, hit.thread)
                && !later.iter().any(|known| known.goal == hit.goal)
            {
                later.push(Later { position, goal: hit.goal, last, thread });
            }
        }
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
        self.looked.resize(self.tables.store.len(), false);
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
            let (node, before) = self.tables.nodes[at];
            path.push(node);
            if at == 0 {
                break;
            }
            at = before as usize;
        }
        path.reverse();
        // Another thread may have a step to the same state, but it would be a preemption.
        let prefix = self.stepper.walk_along_by(&self.tables.store, &path);
        self.goals.finish(&mut self.stepper, prefix, hit.thread, hit)
    }
}
