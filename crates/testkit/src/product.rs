//! The reachable graph times a formula or an automaton, and the search for a fair accepting cycle in it.
//!
//! The formula comes in one of two ways. The *tableau* guesses, at every marking of a run, which temporal
//! subformulas hold there; the guess at a marking must follow from its letter and the guess at the next
//! one by the law of each operator (`f U g` holds where `g` does, or `f` does and `f U g` holds next), and
//! a guess that promises something must see it come true again and again. The *automaton* is that of the
//! logic room. The tableau is far larger and needs no trust. Where the property is an automaton, there is no
//! tableau, and the automaton is taken edge by edge as it is given.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pdnet_base::{FxHashMap, Idx as _};
use pdnet_check::{AtomData, Fairness, Trace, TraceEnd};
use pdnet_logic::{AutState, Automaton, Ltl};
use pdnet_net::Firing;

use crate::reference::{ReachableEdge, ReachableGraph};

/// A graph whose nodes are a marking and a state of the formula.
pub(crate) struct Product<'g, 'a> {
    graph: &'g ReachableGraph<'a>,
    /// The marking of each node.
    marking: Vec<usize>,
    /// The steps out of each node.
    edges: Vec<Vec<ProductEdge>>,
    /// How many of the nodes, from the first on, are initial ones.
    n_initial: usize,
    /// All acceptance sets.
    all_acceptance: u64,
    /// The threads that can move, by marking.
    enabled: Vec<BTreeSet<i64>>,
}

/// A step of the product.
#[derive(Clone, Copy)]
struct ProductEdge {
    target: usize,
    /// Bit `i` where it belongs to acceptance set `i`.
    acceptance: u64,
    /// Which step of the marking it is; `None` where a dead marking repeats.
    step: Option<usize>,
}

impl<'g, 'a> Product<'g, 'a> {
    /// The product with the tableau of `formula`: its accepting cycles are runs that have the formula.
    pub(crate) fn with_tableau(graph: &'g ReachableGraph<'a>, formula: &Ltl, atoms: &[AtomData]) -> Self {
        let letters: Vec<u64> = (0..graph.n_markings()).map(|at| graph.letter(at, atoms)).collect();
        let tableau = Tableau::new(formula);
        let initial: Vec<u64> =
            tableau.guesses().filter(|&guess| tableau.truth(formula, letters[0], guess)).collect();
        // For a letter and the next one: the guesses that each guess can be followed by.
        let mut followers: BTreeMap<(u64, u64), Vec<Vec<u64>>> = BTreeMap::new();
        let successors = |marking: usize, guess: u64, next: usize| -> Vec<(u64, u64)> {
            let pair = (letters[marking], letters[next]);
            let table = followers.entry(pair).or_insert_with(|| {
                let mut table = vec![Vec::new(); tableau.guesses().count()];
                for later in tableau.guesses() {
                    table[to_index(tableau.earlier(pair.0, pair.1, later))].push(later);
                }
                table
            });
            let acceptance = tableau.kept_promises(letters[marking], guess);
            table[to_index(guess)].iter().map(|&later| (later, acceptance)).collect()
        };
        Self::explore(graph, &initial, tableau.all_promises(), successors)
    }

    /// The product with an automaton.
    pub(crate) fn with_automaton(
        graph: &'g ReachableGraph<'a>,
        automaton: &Automaton,
        atoms: &[AtomData],
    ) -> Self {
        let letters: Vec<u64> = (0..graph.n_markings()).map(|at| graph.letter(at, atoms)).collect();
        let successors = |marking: usize, state: u64, _: usize| -> Vec<(u64, u64)> {
            let edges = automaton.successors(AutState::new(to_index(state)), letters[marking]);
            edges.map(|edge| (edge.target.index() as u64, u64::from(edge.acceptance))).collect()
        };
        let initial = [automaton.initial.index() as u64];
        Self::explore(graph, &initial, u64::from(automaton.all_acceptance()), successors)
    }

    /// All nodes that the initial ones reach. `successors` gives, for a marking, a state of the formula and
    /// the next marking, the next states with the acceptance sets of the step.
    fn explore(
        graph: &'g ReachableGraph<'a>,
        initial: &[u64],
        all_acceptance: u64,
        mut successors: impl FnMut(usize, u64, usize) -> Vec<(u64, u64)>,
    ) -> Self {
        let mut nodes: Vec<(usize, u64)> = initial.iter().map(|&state| (0, state)).collect();
        let mut numbers: FxHashMap<(usize, u64), usize> =
            nodes.iter().enumerate().map(|(number, &node)| (node, number)).collect();
        let mut edges: Vec<Vec<ProductEdge>> = Vec::new();
        while edges.len() < nodes.len() {
            let (marking, state) = nodes[edges.len()];
            let mut steps: Vec<(Option<usize>, usize)> =
                graph.edges(marking).iter().enumerate().map(|(idx, edge)| (Some(idx), edge.target)).collect();
            if graph.is_dead(marking) {
                steps.push((None, marking));
            }
            let mut out = Vec::new();
            for (step, next) in steps {
                for (next_state, acceptance) in successors(marking, state, next) {
                    let target = *numbers.entry((next, next_state)).or_insert_with(|| {
                        nodes.push((next, next_state));
                        nodes.len() - 1
                    });
                    out.push(ProductEdge { target, acceptance, step });
                }
            }
            edges.push(out);
        }
        let marking = nodes.into_iter().map(|(marking, _)| marking).collect();
        let enabled = (0..graph.n_markings()).map(|at| graph.enabled_threads(at)).collect();
        Self { graph, marking, edges, n_initial: initial.len(), all_acceptance, enabled }
    }

    /// A fair run through edges of all acceptance sets again and again.
    pub(crate) fn find_run(&self, fairness: Fairness) -> Option<Trace> {
        let everything: Vec<usize> = (0..self.edges.len()).collect();
        let component = self.find_component(&everything, fairness)?;
        Some(self.run_into(&component, fairness))
    }

    /// A strongly connected set of nodes such that the cycle through all of its edges is accepting and fair.
    ///
    /// Strong fairness asks, of each thread, that it moves or that it is enabled only finitely often: where
    /// a component enables a thread that never moves in it, no fair cycle of it touches a marking that
    /// enables the thread. So these nodes go, and what is left is taken apart again.
    fn find_component(&self, nodes: &[usize], fairness: Fairness) -> Option<Vec<usize>> {
        for component in self.components(nodes) {
            let inside: BTreeSet<usize> = component.iter().copied().collect();
            let edges: Vec<(usize, ProductEdge)> = component
                .iter()
                .flat_map(|&node| self.edges[node].iter().map(move |edge| (node, *edge)))
                .filter(|(_, edge)| inside.contains(&edge.target))
                .collect();
            let acceptance = edges.iter().fold(0, |acc, (_, edge)| acc | edge.acceptance);
            if edges.is_empty() || acceptance != self.all_acceptance {
                continue;
            }
            let moving: BTreeSet<i64> =
                edges.iter().flat_map(|(node, edge)| self.movers(*node, edge)).collect();
            let enabled = |node: usize| &self.enabled[self.marking[node]];
            match fairness {
                Fairness::None => return Some(component),
                Fairness::Weak => {
                    let is_starved = |thread: &i64| {
                        !moving.contains(thread)
                            && component.iter().all(|&node| enabled(node).contains(thread))
                    };
                    if !enabled(component[0]).iter().any(is_starved) {
                        return Some(component);
                    }
                }
                Fairness::Strong => {
                    let is_bad = |node: usize| !enabled(node).is_subset(&moving);
                    if !component.iter().any(|&node| is_bad(node)) {
                        return Some(component);
                    }
                    let rest: Vec<usize> = component.into_iter().filter(|&node| !is_bad(node)).collect();
                    if let Some(found) = self.find_component(&rest, fairness) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// The strongly connected components of the graph that these nodes make: those that are reached from
    /// one node, forwards and backwards (Kosaraju and Sharir).
    fn components(&self, nodes: &[usize]) -> Vec<Vec<usize>> {
        const OUTSIDE: usize = usize::MAX;
        let mut local = vec![OUTSIDE; self.edges.len()];
        nodes.iter().enumerate().for_each(|(idx, &node)| local[node] = idx);
        let mut forward = vec![Vec::new(); nodes.len()];
        let mut backward = vec![Vec::new(); nodes.len()];
        for (idx, &node) in nodes.iter().enumerate() {
            for target in self.edges[node].iter().map(|edge| local[edge.target]).filter(|&to| to != OUTSIDE) {
                forward[idx].push(target);
                backward[target].push(idx);
            }
        }
        let mut seen = vec![false; nodes.len()];
        let mut order = Vec::new();
        for root in 0..nodes.len() {
            finish_order(&forward, root, &mut seen, &mut order);
        }
        let mut seen = vec![false; nodes.len()];
        let mut components = Vec::new();
        for &root in order.iter().rev() {
            let mut component = Vec::new();
            finish_order(&backward, root, &mut seen, &mut component);
            if !component.is_empty() {
                components.push(component.into_iter().map(|idx| nodes[idx]).collect());
            }
        }
        components
    }

    fn step(&self, node: usize, edge: &ProductEdge) -> Option<&'g ReachableEdge> {
        edge.step.map(|idx| &self.graph.edges(self.marking[node])[idx])
    }

    fn movers(&self, node: usize, edge: &ProductEdge) -> BTreeSet<i64> {
        self.step(node, edge).map_or_else(BTreeSet::new, |step| self.graph.movers(&step.firing))
    }

    /// A run into the component, and around in it so that it is accepting and fair.
    fn run_into(&self, component: &[usize], fairness: Fairness) -> Trace {
        let inside: BTreeSet<usize> = component.iter().copied().collect();
        let starts: Vec<usize> = (0..self.n_initial).collect();
        let found = starts.iter().find(|start| inside.contains(start));
        let prefix = match found {
            Some(_) => Vec::new(),
            None => self
                .path(&starts, |_| true, |_, edge| inside.contains(&edge.target))
                .expect("only reachable nodes were explored"),
        };
        let entry = prefix.last().map_or_else(|| *found.expect("no way was needed"), |(_, edge)| edge.target);

        let mut cycle: Vec<(usize, ProductEdge)> = Vec::new();
        let mut visit = |goal: &dyn Fn(usize, &ProductEdge) -> bool| {
            if !cycle.iter().any(|(node, edge)| goal(*node, edge)) {
                let at = cycle.last().map_or(entry, |(_, edge)| edge.target);
                let path = self.path(&[at], |node| inside.contains(&node), goal);
                cycle.extend(path.expect("the component was found to contain such a step"));
            }
        };
        for bit in (0..64).map(|bit| 1_u64 << bit).filter(|bit| self.all_acceptance & bit != 0) {
            visit(&|_, edge| edge.acceptance & bit != 0);
        }
        let threads: BTreeSet<i64> =
            component.iter().flat_map(|&node| &self.enabled[self.marking[node]]).copied().collect();
        for &thread in &threads {
            let moves = |node: usize, edge: &ProductEdge| self.movers(node, edge).contains(&thread);
            let rests = |node: usize| !self.enabled[self.marking[node]].contains(&thread);
            match fairness {
                Fairness::None => {}
                Fairness::Weak => visit(&|node, edge| moves(node, edge) || rests(node)),
                Fairness::Strong => visit(&moves),
            }
        }
        if cycle.last().is_none_or(|(_, edge)| edge.target != entry) {
            let at = cycle.last().map_or(entry, |(_, edge)| edge.target);
            let back = self.path(&[at], |node| inside.contains(&node), |_, edge| edge.target == entry);
            cycle.extend(back.expect("the component is strongly connected"));
        }

        let firings = |path: &[(usize, ProductEdge)]| -> Vec<Firing> {
            path.iter()
                .filter_map(|(node, edge)| self.step(*node, edge))
                .map(|step| step.firing.clone())
                .collect()
        };
        let around = firings(&cycle);
        let end = if around.is_empty() { TraceEnd::Stutter } else { TraceEnd::Cycle(around) };
        Trace { prefix: firings(&prefix), end }
    }

    /// A shortest way from one of `starts`, over allowed nodes, that ends with a step of which `goal` is
    /// true.
    fn path(
        &self,
        starts: &[usize],
        allowed: impl Fn(usize) -> bool,
        goal: impl Fn(usize, &ProductEdge) -> bool,
    ) -> Option<Vec<(usize, ProductEdge)>> {
        let mut from: FxHashMap<usize, Option<(usize, ProductEdge)>> =
            starts.iter().map(|&start| (start, None)).collect();
        let mut queue: VecDeque<usize> = starts.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            for edge in &self.edges[node] {
                let target = edge.target;
                if goal(node, edge) && allowed(target) {
                    let mut path = VecDeque::from([(node, *edge)]);
                    let mut at = node;
                    while let Some((source, edge)) = from[&at] {
                        path.push_front((source, edge));
                        at = source;
                    }
                    return Some(path.into());
                }
                if allowed(target) && !from.contains_key(&target) {
                    from.insert(target, Some((node, *edge)));
                    queue.push_back(target);
                }
            }
        }
        None
    }
}

/// Appends the nodes that `root` reaches and that were not seen before, each after all that it reaches.
fn finish_order(successors: &[Vec<usize>], root: usize, seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[root], true) {
        return;
    }
    let mut stack = vec![(root, 0)];
    while let Some((node, next)) = stack.pop() {
        match successors[node].get(next) {
            None => order.push(node),
            Some(&target) => {
                stack.push((node, next + 1));
                if !std::mem::replace(&mut seen[target], true) {
                    stack.push((target, 0));
                }
            }
        }
    }
}

fn to_index(number: u64) -> usize {
    usize::try_from(number).expect("a small number")
}

/// The temporal subformulas of a formula. A *guess* has one bit for each: whether it holds.
struct Tableau {
    /// Subformulas stand before the formulas that contain them.
    temporal: Vec<Ltl>,
}

impl Tableau {
    fn new(formula: &Ltl) -> Self {
        let mut tableau = Self { temporal: Vec::new() };
        tableau.collect(formula);
        assert!(tableau.temporal.len() <= 16, "the tableau of {formula:?} is too large to be written down");
        tableau
    }

    fn collect(&mut self, formula: &Ltl) {
        let (left, right) = formula.children();
        left.into_iter().chain(right).for_each(|child| self.collect(child));
        if is_temporal(formula) && !self.temporal.contains(formula) {
            self.temporal.push(formula.clone());
        }
    }

    fn guesses(&self) -> impl Iterator<Item = u64> + use<> {
        0..1_u64 << self.temporal.len()
    }

    fn bit(&self, formula: &Ltl) -> u64 {
        let position = self.temporal.iter().position(|temporal| temporal == formula);
        1 << position.expect("all temporal subformulas were collected")
    }

    /// Whether a subformula holds at a marking with this letter and this guess.
    fn truth(&self, formula: &Ltl, letter: u64, guess: u64) -> bool {
        let truth = |f: &Ltl| self.truth(f, letter, guess);
        match formula {
            Ltl::True => true,
            Ltl::False => false,
            Ltl::Atom(atom) => letter >> atom.index() & 1 == 1,
            Ltl::Not(f) => !truth(f),
            Ltl::And(f, g) => truth(f) && truth(g),
            Ltl::Or(f, g) => truth(f) || truth(g),
            Ltl::Implies(f, g) => !truth(f) || truth(g),
            Ltl::Iff(f, g) => truth(f) == truth(g),
            Ltl::Xor(f, g) => truth(f) != truth(g),
            Ltl::Next(_)
            | Ltl::Finally(_)
            | Ltl::Globally(_)
            | Ltl::Until(..)
            | Ltl::WeakUntil(..)
            | Ltl::Release(..)
            | Ltl::StrongRelease(..) => guess & self.bit(formula) != 0,
        }
    }

    /// The guess at a marking with `letter` that follows from the guess `later` at the next one.
    fn earlier(&self, letter: u64, next_letter: u64, later: u64) -> u64 {
        let mut guess = 0;
        for formula in &self.temporal {
            let now = |f: &Ltl| self.truth(f, letter, guess);
            let next = later & self.bit(formula) != 0;
            let holds = match formula {
                Ltl::Next(f) => self.truth(f, next_letter, later),
                Ltl::Finally(f) => now(f) || next,
                Ltl::Globally(f) => now(f) && next,
                Ltl::Until(f, g) | Ltl::WeakUntil(f, g) => now(g) || (now(f) && next),
                Ltl::Release(f, g) | Ltl::StrongRelease(f, g) => now(g) && (now(f) || next),
                _ => unreachable!("only temporal formulas were collected"),
            };
            if holds {
                guess |= self.bit(formula);
            }
        }
        guess
    }

    /// The formulas of which nothing is promised at a marking, or what is promised comes there. A promise is
    /// that `g` of `f U g` comes, and for those that may go on forever, that what breaks them comes.
    fn kept_promises(&self, letter: u64, guess: u64) -> u64 {
        let now = |f: &Ltl| self.truth(f, letter, guess);
        self.temporal.iter().fold(0, |acc, formula| {
            let holds = now(formula);
            let kept = match formula {
                Ltl::Finally(g) | Ltl::Until(_, g) | Ltl::StrongRelease(g, _) => !holds || now(g),
                Ltl::Globally(f) | Ltl::WeakUntil(f, _) | Ltl::Release(_, f) => holds || !now(f),
                _ => true,
            };
            if kept { acc | self.bit(formula) } else { acc }
        })
    }

    fn all_promises(&self) -> u64 {
        (1 << self.temporal.len()) - 1
    }
}

fn is_temporal(formula: &Ltl) -> bool {
    match formula {
        Ltl::Next(_)
        | Ltl::Finally(_)
        | Ltl::Globally(_)
        | Ltl::Until(..)
        | Ltl::WeakUntil(..)
        | Ltl::Release(..)
        | Ltl::StrongRelease(..) => true,
        Ltl::True
        | Ltl::False
        | Ltl::Atom(_)
        | Ltl::Not(_)
        | Ltl::And(..)
        | Ltl::Or(..)
        | Ltl::Implies(..)
        | Ltl::Iff(..)
        | Ltl::Xor(..) => false,
    }
}
