//! Which search a formula or an automaton needs.

use std::sync::atomic::Ordering;

use pdnet_base::Idx as _;
use pdnet_check::{AtomData, Fairness, MemoryUse, Outcome, Progress, Stats, StopReason, Verdict};
use pdnet_logic::{Atom, Automaton, Ltl, translate};
use pdnet_space::Atoms;

use crate::ahead;
use crate::budget::Budget;
use crate::cycles::Cycles;
use crate::divide::{self, Divided};
use crate::emptiness::{Emptiness, is_visited};
use crate::graph::Graph;
use crate::lasso;
use crate::nodes::NodeTable as _;
use crate::prefix::{self, Prefixes};
use crate::product::{Product, Search};
use crate::sights::Sights;
use crate::stepper::is_unseen;
use crate::sweep::Sweep;

/// The runs that break a property.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bad<'a> {
    /// Those on which the formula does not hold.
    Negated(&'a Ltl),
    /// Those that the automaton accepts.
    Automaton(&'a Automaton),
}

impl Bad<'_> {
    fn automaton(self, names: Vec<String>) -> Result<Automaton, StopReason> {
        match self {
            Self::Negated(formula) => translate(&formula.negated(), names)
                .map_err(|error| StopReason::Unsupported(error.to_string())),
            // States from which nothing is accepted would only add to what is searched and to what is noted.
            Self::Automaton(automaton) => Ok(automaton.reduced()),
        }
    }

    /// Whether they do not depend on the states at which the atom is true.
    pub(crate) fn ignores(self, unseen: Atom) -> bool {
        match self {
            Self::Negated(formula) => formula.ignores(unseen),
            Self::Automaton(_) => false,
        }
    }

    /// Whether every bad run is bad after finitely many steps.
    fn is_by_prefix(self) -> bool {
        match self {
            Self::Negated(formula) => formula.is_syntactic_safety(),
            // Where the automaton shows it, it is terminal.
            Self::Automaton(_) => false,
        }
    }
}

/// Checks one property: is there a run that the automaton of the bad runs accepts?
///
/// Vardi and Wolper, *An automata-theoretic approach to automatic program verification* (LICS 1986). Where
/// the automaton decides after finitely many steps, a breadth-first search finds a shortest violation, and
/// for terminal automata that search is all. Otherwise the product is searched for an accepting component.
///
/// Nothing comes back where there is such a run, but on a graph in which threads are exchanged, and it cannot be shown
/// ([`lasso::trace`]): a graph without that has to be searched.
pub(crate) fn check(
    graph: &mut Graph<'_>,
    (bad, atoms): (Bad<'_>, &[AtomData]),
    fairness: Fairness,
    budget: &mut Budget<'_>,
) -> Option<Outcome> {
    let search = budget.search();
    let mut last = Last::default();
    let before = graph.n_stored_otherwise();
    let decided = graph.begin(budget).and_then(|()| decide(graph, (bad, atoms), fairness, budget, &mut last));
    graph.end(decided.is_err(), budget);
    let verdict = decided.unwrap_or_else(|reason| Some(Verdict::Unknown(reason)))?;
    let (forgotten, exchanged) = graph.n_stored_otherwise();
    let stats = Stats {
        memory: last.memory,
        states_reduced: Some(last.n_reduced),
        steps_forgotten: Some(forgotten.saturating_sub(before.0)),
        steps_exchanged: Some(exchanged.saturating_sub(before.1)),
        ..budget.stats(&search, &last.progress)
    };
    Some(Outcome { verdict, stats })
}

/// Puts the edges first by which the automaton leaves a state. Where it guesses when the run goes wrong for good, as for `F G p`, a
/// search depth first otherwise goes to the ends of the net before the guess, and to what comes after it last. So they stand in the claims that
/// SPIN makes of formulas.
fn leave_first(automaton: &mut Automaton) {
    for (state, data) in automaton.states.iter_mut().enumerate() {
        data.edges.sort_by_key(|edge| edge.target.index() == state);
    }
}

/// How far a search was when it ended.
#[derive(Default)]
struct Last {
    progress: Progress,
    memory: MemoryUse,
    /// The nodes from which steps were left out.
    n_reduced: u64,
}

impl Last {
    /// That of a search by one worker.
    fn alone(product: &Product<'_, '_>) -> Self {
        Self { progress: product.progress(), memory: product.memory(), n_reduced: product.n_reduced }
    }

    /// That of a search by several, who had this product in common.
    fn shared(product: &Product<'_, '_>, progress: Progress, memory: MemoryUse) -> Self {
        Self { progress, memory, n_reduced: product.graph.n_reduced().load(Ordering::Relaxed) }
    }
}

fn decide(
    graph: &mut Graph<'_>,
    (bad, atoms): (Bad<'_>, &[AtomData]),
    fairness: Fairness,
    budget: &mut Budget<'_>,
    last: &mut Last,
) -> Result<Option<Verdict>, StopReason> {
    let (net, compiled) = (graph.model.net, graph.model.compiled);
    let names = atoms.iter().map(|atom| atom.text.clone()).collect();
    let mut automaton = bad.automaton(names)?;
    leave_first(&mut automaton);
    let sights = Sights::new(graph, &automaton, atoms, |number| {
        is_unseen(net, (number, &atoms[number].expr), |atom| bad.ignores(atom))
    });
    let atoms = Atoms::new(net, compiled, atoms.iter().map(|atom| &atom.expr))
        .map_err(|error| StopReason::Unsupported(error.0))?;
    let crew = graph.model.crew;
    // One works alone until there are so many nodes.
    let pause_at = if crew.workers > 1 { crew.from_states } else { usize::MAX };
    // A prefix that can be continued can be continued fairly, because the scheduler may be fair from then on;
    // but not where a thread that has to move can only fail an assumption.
    let prefixes = fairness == Fairness::None || !graph.model.has_assumptions;
    let is_terminal = prefix::is_terminal(&automaton);
    if prefixes && (is_terminal || bad.is_by_prefix()) {
        let seen = (&automaton, sights.clone());
        let mut product = Product::new(graph, seen, atoms.clone(), prefixes, budget)?;
        let mut found = Prefixes::new().search(&mut product, pause_at, budget);
        *last = Last::alone(&product);
        // It begins again, but what was found of the graph is there.
        if matches!(found, Ok(Search::Paused)) {
            let sweep = Sweep::new(crew.workers, automaton.states.len());
            found = sweep.search(&mut product, budget).map(Search::Ended);
            let (progress, memory) = (sweep.progress(product.progress()), sweep.memory(product.memory()));
            *last = Last::shared(&product, progress, memory);
        }
        if let Search::Ended(Some(trace)) = found? {
            return Ok(Some(Verdict::Violated(trace)));
        }
        if is_terminal {
            return Ok(Some(product.notes.verdict(net)));
        }
    }
    let mut product = Product::new(graph, (&automaton, sights), atoms, prefixes, budget)?;
    let mut emptiness = Emptiness::new(&automaton, fairness);
    // Where others run ahead, nothing begins again, so that they can come soon.
    let pause_at = if crew.workers < ahead::TOO_MANY { pause_at / ahead::SOONER } else { pause_at };
    let mut found = emptiness.search(&mut product, pause_at, budget);
    let is_divided = matches!(found, Ok(Search::Paused)) && divide::is_divisible(&automaton, crew.workers);
    if !is_divided && matches!(found, Ok(Search::Paused)) && crew.workers < ahead::TOO_MANY {
        found = ahead::search(&mut product, budget, |product, budget| {
            emptiness.search(product, usize::MAX, budget)
        });
    }
    *last = Last::alone(&product);
    if product.graph.model.newest_first && matches!(found, Ok(Search::Ended(Some(_)))) {
        // In this order a state counts when it is gone to: nodes that were seen from afar do not.
        last.progress.states = emptiness.n_visited();
    }
    drop(emptiness);
    let trace = match found? {
        Search::Ended(None) => return Ok(Some(product.notes.verdict(net))),
        Search::Ended(Some(witness)) => lasso::trace(&mut product, &witness, is_visited, fairness, budget)?,
        // It begins again, but what was found of the graph is there.
        Search::Paused if is_divided => {
            let divided = Divided::new(&automaton, fairness);
            let found = divided.search(&mut product, budget);
            let (progress, memory) = (divided.progress(product.progress()), divided.memory(product.memory()));
            *last = Last::shared(&product, progress, memory);
            let visited = |product: &Product<'_, '_>, node| divided.has_seen(product.nodes.get(node));
            match found? {
                Some(witness) => lasso::trace(&mut product, &witness, visited, fairness, budget)?,
                None => return Ok(Some(product.notes.verdict(net))),
            }
        }
        // The same.
        Search::Paused => {
            let cycles = Cycles::new(crew.workers, automaton.states.len(), fairness);
            let found = cycles.search(&mut product, budget);
            let (progress, memory) = (cycles.progress(product.progress()), cycles.memory(product.memory()));
            *last = Last::shared(&product, progress, memory);
            let visited = |product: &Product<'_, '_>, node| cycles.has_seen(product.nodes.get(node));
            match found? {
                Some(witness) => lasso::trace(&mut product, &witness, visited, fairness, budget)?,
                None => return Ok(Some(product.notes.verdict(net))),
            }
        }
    };
    Ok(trace.map(Verdict::Violated))
}
