//! The reference checker: the whole reachable graph of a net, and what can be read off it.
//!
//! It is as simple as it can be: every marking is stored as the interpreter gives it, every enabled firing
//! is an edge, and each question is one look at all of them.

use std::collections::{BTreeSet, VecDeque};

use pdnet_base::FxHashMap;
use pdnet_check::{AtomData, Fairness, Property, PropertyKind, Trace, TraceEnd};
use pdnet_logic::{Automaton, Ltl};
use pdnet_net::{Action, Bound, Fault, Firing, Interpreter, Marking, Net, Successor, Transition};

use crate::product::Product;

/// What the reference says of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefVerdict {
    /// No run of the graph breaks it.
    Holds,
    /// Some run does.
    Violated,
}

/// What was met on the way. Where something was met, `Holds` is true of the graph and perhaps not of the
/// program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caveats {
    /// Bounds of the model that some run met.
    pub bounds: BTreeSet<Bound>,
    /// Undefined behaviour that some run met.
    pub faults: BTreeSet<Fault>,
    /// Whether some run took an input of which not all values are tried.
    pub sampled: bool,
}

impl Caveats {
    /// Whether nothing was met.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty() && self.faults.is_empty() && !self.sampled
    }
}

/// An answer of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefAnswer {
    /// The answer.
    pub verdict: RefVerdict,
    /// A run that breaks the property, where there is one; for safety properties a shortest one.
    pub trace: Option<Trace>,
}

impl RefAnswer {
    fn new(trace: Option<Trace>) -> Self {
        let verdict = if trace.is_some() { RefVerdict::Violated } else { RefVerdict::Holds };
        Self { verdict, trace }
    }
}

/// A step between two markings of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachableEdge {
    /// What fires.
    pub firing: Firing,
    /// All transitions that it fires, those of an indivisible sequence among them.
    pub fires: Vec<Transition>,
    /// The number of the marking that it leads to.
    pub target: usize,
}

/// A firing that leads nowhere.
#[derive(Clone, Debug)]
struct Pruned {
    firing: Firing,
    fires: Vec<Transition>,
    /// An indivisible sequence was cut off.
    is_cut: bool,
}

/// All reachable markings, numbered in the order of their distance from the first, which is the initial one.
#[derive(Clone, Debug)]
pub struct ReachableGraph<'a> {
    net: &'a Net,
    markings: Vec<Marking>,
    /// The steps out of each marking.
    edges: Vec<Vec<ReachableEdge>>,
    /// The firings that are enabled in each marking and lead nowhere.
    pruned: Vec<Vec<Pruned>>,
    /// The step by which each marking but the first was found: from where, and what.
    found_by: Vec<Option<(usize, Firing)>>,
    /// The number of steps of a shortest run to each marking.
    distance: Vec<usize>,
    caveats: Caveats,
}

impl<'a> ReachableGraph<'a> {
    /// Explores the net breadth first; `None` where there are more than `limit` markings.
    #[must_use]
    pub fn build(net: &'a Net, limit: usize) -> Option<Self> {
        let interpreter = Interpreter::new(net);
        let mut graph = Self {
            net,
            markings: vec![interpreter.initial()],
            edges: Vec::new(),
            pruned: Vec::new(),
            found_by: vec![None],
            distance: vec![0],
            caveats: Caveats::default(),
        };
        let mut numbers: FxHashMap<Marking, usize> = FxHashMap::default();
        numbers.insert(graph.markings[0].clone(), 0);
        while graph.edges.len() < graph.markings.len() {
            let source = graph.edges.len();
            let marking = graph.markings[source].clone();
            graph.edges.push(Vec::new());
            graph.pruned.push(Vec::new());
            for firing in interpreter.enabled(&marking) {
                let fired = interpreter.fire_all(&marking, &firing);
                fired.steps.iter().for_each(|step| graph.note(step));
                graph.caveats.bounds.extend(fired.bound);
                let fires: Vec<Transition> = fired.steps.iter().map(|step| step.transition).collect();
                match fired.successor {
                    Successor::Pruned => {
                        let is_cut = fired.bound.is_some();
                        graph.pruned[source].push(Pruned { firing, fires, is_cut });
                    }
                    Successor::Marking(next) => {
                        let target = *numbers.entry(next.clone()).or_insert(graph.markings.len());
                        if target == graph.markings.len() {
                            if graph.markings.len() == limit {
                                return None;
                            }
                            graph.markings.push(next);
                            graph.found_by.push(Some((source, firing.clone())));
                            graph.distance.push(graph.distance[source] + 1);
                        }
                        graph.edges[source].push(ReachableEdge { firing, fires, target });
                    }
                }
            }
        }
        Some(graph)
    }

    fn note(&mut self, firing: &Firing) {
        let data = &self.net.transitions[firing.transition];
        match data.action {
            Action::Bound(bound) => drop(self.caveats.bounds.insert(bound)),
            Action::Fault(fault) => drop(self.caveats.faults.insert(fault)),
            _ => {}
        }
        let is_sample = |domain: &pdnet_net::Domain| !domain.exact;
        self.caveats.sampled |= data.vars.iter().any(|var| var.choice.as_ref().is_some_and(is_sample));
    }

    /// The net.
    #[must_use]
    pub const fn net(&self) -> &'a Net {
        self.net
    }

    /// How many markings there are.
    #[must_use]
    pub fn n_markings(&self) -> usize {
        self.markings.len()
    }

    /// How many steps there are between them.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// A marking.
    #[must_use]
    pub fn marking(&self, number: usize) -> &Marking {
        &self.markings[number]
    }

    /// The steps out of a marking.
    #[must_use]
    pub fn edges(&self, number: usize) -> &[ReachableEdge] {
        &self.edges[number]
    }

    /// What was met anywhere in the graph.
    #[must_use]
    pub const fn caveats(&self) -> &Caveats {
        &self.caveats
    }

    /// Whether nothing is enabled in a marking, so that it repeats forever. Where only firings without
    /// successor are enabled, it does not: the runs that came there are no runs.
    #[must_use]
    pub fn is_dead(&self, number: usize) -> bool {
        self.edges[number].is_empty() && self.pruned[number].is_empty()
    }

    /// The threads that can move in a marking, by themselves or with another, in order; a step without successor is a
    /// move too.
    #[must_use]
    pub fn enabled_threads(&self, number: usize) -> BTreeSet<i64> {
        self.enabled(number).flat_map(|(firing, _)| self.movers(firing)).collect()
    }

    /// The threads that move by a firing.
    #[must_use]
    pub fn movers(&self, firing: &Firing) -> BTreeSet<i64> {
        Interpreter::new(self.net).movers(firing)
    }

    /// What can fire in a marking, with all transitions that it fires: what has a successor, then what has none.
    fn enabled(&self, number: usize) -> impl Iterator<Item = (&Firing, &[Transition])> {
        let edges = self.edges[number].iter().map(|edge| (&edge.firing, edge.fires.as_slice()));
        edges.chain(self.pruned[number].iter().map(|pruned| (&pruned.firing, pruned.fires.as_slice())))
    }

    /// The number of a marking, where it is reachable.
    #[must_use]
    pub fn number_of(&self, marking: &Marking) -> Option<usize> {
        self.markings.iter().position(|other| other == marking)
    }

    /// Whether a prefix that comes to the marking may be called a violation by itself: an infinite run goes on
    /// from there, or [`ReachableGraph::is_left_open`].
    #[must_use]
    pub fn goes_on(&self, number: usize) -> bool {
        let mut alive = self.reachable_from(number);
        if alive.iter().any(|&at| self.is_dead(at)) || self.is_left_open(number) {
            return true;
        }
        // What has no step into the rest is taken out, again and again: what stays has a cycle.
        loop {
            let lives = |at: &usize| self.edges[*at].iter().any(|edge| alive.contains(&edge.target));
            let rest: BTreeSet<usize> = alive.iter().copied().filter(lives).collect();
            if rest.len() == alive.len() {
                return !rest.is_empty();
            }
            alive = rest;
        }
    }

    /// Whether a run from the marking leaves the graph and is a run all the same: it meets undefined behaviour,
    /// after which anything may come, or a bound where no assumption of the net can fail behind it.
    #[must_use]
    pub fn is_left_open(&self, number: usize) -> bool {
        let has_assumptions = self.net.transitions.iter().any(|data| data.action == Action::AssumeFail);
        let is_exit = |pruned: &Pruned| {
            let of_transition = |&transition: &Transition| match self.net.transitions[transition].action {
                Action::Fault(_) => true,
                Action::Bound(_) => !has_assumptions,
                _ => false,
            };
            pruned.fires.last().is_some_and(of_transition) || pruned.is_cut && !has_assumptions
        };
        self.reachable_from(number).iter().any(|&at| self.pruned[at].iter().any(is_exit))
    }

    fn reachable_from(&self, number: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([number]);
        let mut queue = vec![number];
        while let Some(at) = queue.pop() {
            queue.extend(self.edges[at].iter().map(|edge| edge.target).filter(|&next| found.insert(next)));
        }
        found
    }

    /// The values of atoms in a marking, one bit for each.
    #[must_use]
    pub fn letter(&self, number: usize, atoms: &[AtomData]) -> u64 {
        let interpreter = Interpreter::new(self.net);
        let holds = |atom: &AtomData| interpreter.eval(&self.markings[number], &atom.expr) != 0;
        atoms.iter().enumerate().fold(0, |letter, (bit, atom)| letter | u64::from(holds(atom)) << bit)
    }

    /// A shortest run to a marking.
    #[must_use]
    pub fn path_to(&self, number: usize) -> Vec<Firing> {
        let mut steps = VecDeque::new();
        let mut at = number;
        while let Some((source, firing)) = &self.found_by[at] {
            steps.push_front(firing.clone());
            at = *source;
        }
        steps.into()
    }

    /// The answer to a property.
    #[must_use]
    pub fn check(&self, property: &Property, fairness: Fairness) -> RefAnswer {
        match &property.kind {
            PropertyKind::NeverFires(transitions) => self.never_fires(transitions),
            PropertyKind::NoDeadlock => self.no_deadlock(),
            PropertyKind::NoRace => self.no_race(),
            PropertyKind::NoPartialDeadlock => self.no_partial_deadlock(),
            PropertyKind::Ltl { formula, atoms } => self.holds(formula, atoms, fairness),
            PropertyKind::Never { automaton, atoms, .. } => self.none_accepted(automaton, atoms, fairness),
        }
    }

    /// Whether some run fires one of these. That a firing is enabled is enough, also where it has no successor.
    /// The trace is a shortest one.
    #[must_use]
    pub fn never_fires(&self, transitions: &[Transition]) -> RefAnswer {
        let fires = |(_, fires): &(&Firing, &[Transition])| {
            fires.iter().any(|transition| transitions.contains(transition))
        };
        // Markings are in the order of their distance: the first hit is a nearest one.
        let hit = (0..self.n_markings()).find_map(|source| Some((source, self.enabled(source).find(fires)?)));
        RefAnswer::new(hit.map(|(source, (firing, _))| {
            let mut prefix = self.path_to(source);
            prefix.push(firing.clone());
            Trace { prefix, end: TraceEnd::Any }
        }))
    }

    /// Whether some run comes to a deadlock. The trace is a shortest one.
    #[must_use]
    pub fn no_deadlock(&self) -> RefAnswer {
        let interpreter = Interpreter::new(self.net);
        let hit =
            (0..self.n_markings()).find(|&at| self.is_dead(at) && !interpreter.ended(&self.markings[at]));
        RefAnswer::new(hit.map(|at| Trace { prefix: self.path_to(at), end: TraceEnd::Stutter }))
    }

    /// Whether some run comes to a data race. The trace is a shortest one.
    #[must_use]
    pub fn no_race(&self) -> RefAnswer {
        let interpreter = Interpreter::new(self.net);
        let race = |at: usize| interpreter.races(&self.markings[at]).into_iter().next();
        let hit = (0..self.n_markings()).find_map(|at| Some((at, race(at)?)));
        RefAnswer::new(
            hit.map(|(at, race)| Trace { prefix: self.path_to(at), end: TraceEnd::Race(Box::new(race)) }),
        )
    }

    /// Whether some run comes to a marking after which a thread never moves again, although others do and the
    /// process need not end. A thread that waits for the end of another one does not count. The trace is a shortest one.
    #[must_use]
    pub fn no_partial_deadlock(&self) -> RefAnswer {
        let interpreter = Interpreter::new(self.net);
        let can_stay = self.can_stay();
        let moving = self.moving_threads();
        let hit = (0..self.n_markings()).filter(|at| can_stay.contains(at)).find_map(|at| {
            let moving = moving[at].as_ref().filter(|_| !self.is_dead(at))?;
            let marking = &self.markings[at];
            let live = interpreter.threads(marking);
            let mut stuck =
                live.difference(moving).filter(|thread| !interpreter.is_joining(marking, **thread));
            stuck.next().map(|&thread| Trace { prefix: self.path_to(at), end: TraceEnd::Stuck(thread) })
        });
        RefAnswer::new(hit)
    }

    /// For each marking the threads that move in some continuation; nothing where not all of those are known.
    fn moving_threads(&self) -> Vec<Option<BTreeSet<i64>>> {
        let own = |at| (!self.is_cut_short(at)).then(|| self.enabled_threads(at));
        let mut moving: Vec<Option<BTreeSet<i64>>> = (0..self.n_markings()).map(own).collect();
        loop {
            let mut changed = false;
            for at in (0..self.n_markings()).rev() {
                let targets = self.edges[at].iter().map(|edge| moving[edge.target].clone());
                let all = targets.chain([moving[at].clone()]).reduce(|left, right| Some(&left? | &right?));
                let all = all.expect("its own at least");
                changed |= all != moving[at];
                moving[at] = all;
            }
            if !changed {
                return moving;
            }
        }
    }

    /// The markings from which some run never ends the process: it comes to a deadlock or to a cycle.
    fn can_stay(&self) -> BTreeSet<usize> {
        let interpreter = Interpreter::new(self.net);
        let mut rest: BTreeSet<usize> = (0..self.n_markings()).collect();
        loop {
            let stays = |at: &usize| {
                interpreter.is_deadlock(&self.markings[*at])
                    || self.edges[*at].iter().any(|edge| rest.contains(&edge.target))
            };
            let fewer: BTreeSet<usize> = rest.iter().copied().filter(stays).collect();
            if fewer.len() == rest.len() {
                return rest;
            }
            rest = fewer;
        }
    }

    /// Whether a step out of the marking leads into what the graph does not know: undefined behaviour, a bound,
    /// or an input of which not all values are tried.
    fn is_cut_short(&self, number: usize) -> bool {
        let mut fires = self.enabled(number).flat_map(|(_, fires)| fires);
        let leads_out = |&transition: &Transition| {
            let data = &self.net.transitions[transition];
            let is_sample = |domain: &pdnet_net::Domain| !domain.exact;
            let sampled = data.vars.iter().any(|var| var.choice.as_ref().is_some_and(is_sample));
            sampled || matches!(data.action, Action::Fault(_) | Action::Bound(_))
        };
        fires.any(leads_out) || self.pruned[number].iter().any(|pruned| pruned.is_cut)
    }

    /// Whether the formula holds on all runs that are fair.
    ///
    /// The graph is multiplied with the tableau of the negated formula (see `product.rs`). The translation that
    /// engines use plays no part here.
    #[must_use]
    pub fn holds(&self, formula: &Ltl, atoms: &[AtomData], fairness: Fairness) -> RefAnswer {
        RefAnswer::new(Product::with_tableau(self, &formula.negated(), atoms).find_run(fairness))
    }

    /// Whether no run that is fair is accepted by the automaton, which is taken as it is.
    #[must_use]
    pub fn none_accepted(&self, automaton: &Automaton, atoms: &[AtomData], fairness: Fairness) -> RefAnswer {
        RefAnswer::new(Product::with_automaton(self, automaton, atoms).find_run(fairness))
    }
}
