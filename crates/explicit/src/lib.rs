//! The explicit-state engine: it visits the reachable states one by one.
//!
//! Properties that a single state or step can break (assertions, deadlocks, data races, invariants) share one
//! breadth-first search, so that their counterexamples are short (shortest, where the reduction is off). Other
//! formulas are checked one by one on
//! the product of the net with the automaton of the negated formula, and automata that runs must not be accepted by
//! are taken as they are.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `goals` | what a search for a bad step or state looks for |
//! | `worker` | what such a search does with one state |
//! | `visited` | where it keeps the states |
//! | `safety` | the breadth-first search |
//! | `crew` | several workers on it |
//! | `depth` | the same search, depth first |
//! | `filter` | where that one keeps the states, or what it remembers of them |
//! | `inside` | states inside of atomic sections, which need not be stored |
//! | `parents` | from which state each state was found |
//! | `journal` | what is kept of a search, to go on with it later |
//! | `preemption` | a search for runs with few preemptions |
//! | `scout` | a few straight runs, when a search has become large |
//! | `invariant` | which formulas are invariants |
//! | `notes` | bounds, samples and undefined behaviour that make `Holds` into `Unknown` |
//! | `budget` | limits and progress |
//! | `graph` | the reachable states with their edges, found on demand |
//! | `edges` | where the edges are kept |
//! | `continuation` | whether a run goes on forever in spite of assumptions |
//! | `partial` | threads that are blocked forever while others go on |
//! | `stepper` | the steps of a state that a search has to look at |
//! | `product` | the net times an automaton |
//! | `sights` | what it has to see at a state of the automaton |
//! | `nodes` | its nodes |
//! | `numbers` | their numbers, for several workers |
//! | `prefix` | shortest bad prefixes, for automata that decide after finitely many steps |
//! | `sweep` | several workers on that |
//! | `emptiness` | accepting components of the product, with fairness |
//! | `divide` | two workers on that: both go through nodes on no accepting cycle, one searches the others |
//! | `ahead` | two workers where there are few of the former: one searches, the other finds edges |
//! | `cycles` | more workers on that: all of them search |
//! | `sets` | the sets of strongly connected nodes that they share |
//! | `team` | how several workers end together |
//! | `streett` | strong fairness inside of a component |
//! | `scc` | components of small graphs |
//! | `lasso` | a short run out of an accepting component |
//! | `ltl` | which of these a formula needs |
//!
//! This room knows no front end, no reduction and no other engine, and it prints nothing. It does not replay
//! its own traces: that is for whoever shows them.
//!
//! Violations of an invariant or of a safety formula have a prefix after which everything is lost, but only
//! runs count that no failed assumption removes. So where a net has assumptions, the prefix must go on to
//! some infinite run, or to undefined behaviour, after which anything may come. Where only a bound of the model
//! keeps all runs from failing an assumption, no violation is reported, and the bound makes the verdict
//! `Unknown`. Where a net has no assumptions, every prefix goes on in the program itself.
//!
//! Runs into undefined behaviour are not followed, as those into a bound are not: they are no runs of a formula,
//! they are no deadlock, and they make `Holds` into `Unknown`. The step itself is a violation where a property
//! says that it never fires.
//!
//! With fairness *and* assumptions a prefix decides nothing here: whether a fair run goes on from it takes a
//! search of its own. A run that does is found as a cycle; where the prefix goes on only to undefined behaviour
//! the verdict is `Unknown`.

#![forbid(unsafe_code)]

mod ahead;
mod budget;
mod continuation;
mod crew;
mod cycles;
mod depth;
mod divide;
mod edges;
mod emptiness;
mod filter;
mod goals;
mod graph;
mod inside;
mod invariant;
mod journal;
mod lasso;
mod ltl;
mod model;
mod nodes;
mod notes;
mod numbers;
mod parents;
mod partial;
mod preemption;
mod prefix;
mod product;
mod safety;
mod scc;
mod scout;
mod sets;
mod sights;
mod stepper;
mod streett;
mod sweep;
mod tally;
mod team;
mod visited;
mod worker;

use pdnet_check::{
    Engine, Fairness, Limits, NativeCode, Observer, Outcome, Property, PropertyKind, Request, Stats,
    StopReason, Verdict,
};
use pdnet_net::{Expr, Net, Transition};
use pdnet_space::{Compiled, Observed, Proviso, Races};

use crate::budget::Budget;
use crate::depth::Depth;
use crate::goals::Goal;
use crate::graph::Graph;
use crate::journal::Question;
use crate::ltl::Bad;
use crate::model::Model;
use crate::safety::Safety;
use crate::stepper::{Asked, Stored, reduction, seen_atoms};

pub use crate::preemption::Preemptions;
pub use pdnet_space::Jit;

/// The explicit-state engine.
#[derive(Clone, Copy, Debug)]
pub struct Explicit {
    /// Whether steps are put off where those of some threads are enough ([`pdnet_space::Stubborn`]). Only searches that
    /// this leaves exact do so: not those for formulas with `X` and automata that may see steps, under fairness, or with `deadlock` beside
    /// other atoms. Without it, runs to assertions and deadlocks are shortest.
    pub stubborn: bool,
    /// Whether, for formulas, what these steps must not change is only what the automaton can still look at. Without `stubborn`, it makes no
    /// difference.
    pub guided: bool,
    /// Whether values that nobody will look at are forgotten ([`pdnet_space::Forget`]). Only searches for
    /// finite runs do so; runs stay as short as they are.
    pub forget: bool,
    /// Whether states in which threads have only exchanged their numbers are stored once ([`pdnet_space::Symmetry`]). Searches for
    /// finite runs do so, which stay as short as they are, and those for cycles without fairness.
    pub symmetry: bool,
    /// A cycle on which threads have exchanged their roles is gone along again until all have their own again, up to so many
    /// steps. Where it takes more, the formula is searched for once more without `symmetry`. No answer depends on it.
    pub most_unrolled: usize,
    /// Whether states inside of atomic sections are walked through and not stored. Only searches for finite runs
    /// do so; runs are then shortest where each section counts as one step.
    pub through_sections: bool,
    /// Who works on a search.
    pub crew: Crew,
    /// In which order searches for finite runs go on.
    pub order: Order,
    /// How they keep the states that were visited. What does not keep them all goes depth first, whatever the order says, and makes
    /// `Holds` into `Unknown`. Searches for cycles keep all states.
    pub storage: Storage,
    /// Whether transitions are run as native code ([`pdnet_space::Jit`]). No answer depends on it.
    pub jit: Jit,
}

/// In which order states are expanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Those that were found first come first: runs are short.
    #[default]
    Breadth,
    /// Those after the state at hand come first, by the newest thread first: one worker, and less to keep. A state counts when it is
    /// gone to.
    Depth,
}

/// How the states that were visited are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Storage {
    /// All of each.
    #[default]
    Exact,
    /// A hash of each.
    HashCompact,
    /// Some bits for each.
    Bitstate,
}

impl Storage {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::HashCompact => "hash-compact",
            Self::Bitstate => "bitstate",
        }
    }
}

/// How many workers share a search, and from when on.
#[derive(Clone, Copy, Debug)]
pub struct Crew {
    /// How many there are.
    pub workers: usize,
    /// One works alone until there are so many states: to share them takes a moment, and most searches are small.
    pub from_states: usize,
}

impl Crew {
    /// One who does all.
    pub const ALONE: Self = Self::of(1);

    /// So many workers.
    #[must_use]
    pub const fn of(workers: usize) -> Self {
        Self { workers, from_states: 100_000 }
    }
}

impl Explicit {
    /// Without any reduction, by one worker.
    pub const PLAIN: Self = Self {
        stubborn: false,
        guided: false,
        forget: false,
        symmetry: false,
        most_unrolled: 10_000,
        through_sections: false,
        crew: Crew::ALONE,
        order: Order::Breadth,
        storage: Storage::Exact,
        jit: if cfg!(feature = "always-native") { Jit::On } else { Jit::Off },
    };
}

impl Default for Explicit {
    fn default() -> Self {
        Self {
            stubborn: true,
            guided: true,
            forget: true,
            symmetry: true,
            through_sections: true,
            jit: if cfg!(feature = "always-native") { Jit::On } else { Jit::Auto },
            ..Self::PLAIN
        }
    }
}

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        "explicit"
    }

    fn check(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Vec<Outcome> {
        let mut budget = Budget::new(request.limits, observer);
        let unsupported = |text: String| Verdict::Unknown(StopReason::Unsupported(text));
        let compiled = match Compiled::new(request.net) {
            Ok(compiled) => compiled.with_jit(self.jit),
            Err(error) => {
                let outcome = Outcome { verdict: unsupported(error.0), stats: Stats::default() };
                return vec![outcome; request.properties.len()];
            }
        };
        let model = Model::new(request.net, &compiled, self);
        let mut outcomes: Vec<Option<Outcome>> = vec![None; request.properties.len()];

        let mut goals = Vec::new();
        for (position, property) in request.properties.iter().enumerate() {
            match goal(&model, property, request.fairness) {
                Ok(Some(kind)) => goals.push((position, kind)),
                Ok(None) => {}
                Err(text) => {
                    outcomes[position] =
                        Some(Outcome { verdict: unsupported(text), stats: Stats::default() });
                }
            }
        }
        let (positions, goals): (Vec<usize>, Vec<Goal>) = goals.into_iter().unzip();
        let is_kept = budget.keeper().is_some();
        if !goals.is_empty() {
            let asked: Vec<&Property> =
                positions.iter().map(|&position| &request.properties[position]).collect();
            let kept = is_kept.then(|| Question::Finite(&asked).number(self, &model));
            let found = match (self.order, self.storage) {
                (Order::Breadth, Storage::Exact) => Safety::new(&model, goals, kept).check(&mut budget),
                (Order::Depth, _) | (_, Storage::HashCompact | Storage::Bitstate) => {
                    Depth::new(&model, goals, kept, self.storage, request.limits.memory).check(&mut budget)
                }
            };
            for (position, outcome) in positions.into_iter().zip(found) {
                outcomes[position] = Some(outcome);
            }
        }

        // All that needs edges shares a graph: states and edges found once need not be found again. What a
        // reduction would not preserve has one of its own.
        let open =
            request.properties.iter().enumerate().filter(|(position, _)| outcomes[*position].is_none());
        let open: Vec<(usize, &Property, Leeway)> = open
            .filter_map(|(position, property)| {
                Some((position, property, Leeway::of(&model, property, request.fairness)?))
            })
            .collect();
        for leeway in Leeway::ALL {
            let chosen = open.iter().filter(|(_, _, own)| *own == leeway);
            let chosen: Vec<(usize, &Property)> =
                chosen.map(|&(position, property, _)| (position, property)).collect();
            if chosen.is_empty() {
                continue;
            }
            let group = Group::new(self, &model, &chosen, leeway);
            let mut graph = group.graph(0, is_kept);
            for (position, property) in chosen {
                let mut search = |graph: &mut Graph<'_>| match &property.kind {
                    PropertyKind::Ltl { formula, atoms } => {
                        let bad = Bad::Negated(formula);
                        ltl::check(graph, (bad, atoms), request.fairness, &mut budget)
                    }
                    PropertyKind::Never { automaton, atoms, .. } => {
                        let bad = Bad::Automaton(automaton);
                        ltl::check(graph, (bad, atoms), request.fairness, &mut budget)
                    }
                    PropertyKind::NeverFires(_)
                    | PropertyKind::NoDeadlock
                    | PropertyKind::NoRace
                    | PropertyKind::NoPartialDeadlock => Some(partial::check(graph, &mut budget)),
                };
                let mut found = search(&mut graph);
                if found.is_none() {
                    // Both at once could take more memory than there is.
                    drop(graph);
                    found = search(&mut group.second_graph(position, is_kept));
                    graph = group.graph(position + 1, is_kept);
                } else if found.as_ref().is_some_and(|found| matches!(found.verdict, Verdict::Unknown(_))) {
                    // The next one shall not pay for what this one has filled the memory with.
                    graph = group.graph(position + 1, is_kept);
                }
                outcomes[position] = found;
            }
        }
        let missing = || Outcome { verdict: unsupported("property".to_owned()), stats: Stats::default() };
        let mut outcomes: Vec<Outcome> =
            outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(missing)).collect();
        note_native(&compiled, &mut outcomes);
        outcomes
    }
}

impl Explicit {
    /// The transitions of a net that fire in no run.
    ///
    /// # Errors
    /// Where that cannot be told: a limit was met, or not all runs are known.
    pub fn unreached(
        &self,
        net: &Net,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Transition>, StopReason> {
        let compiled =
            Compiled::new(net).map_err(|error| StopReason::Unsupported(error.0))?.with_jit(self.jit);
        let model = Model::new(net, &compiled, self);
        let mut budget = Budget::new(limits, observer);
        let kept = budget.keeper().is_some().then(|| Question::Unreached.number(self, &model));
        Safety::unreached(&model, kept, &mut budget)
    }
}

/// What the graph for a property may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leeway {
    /// Steps that other threads cannot notice.
    reduces: bool,
    /// States in which threads have only exchanged their numbers.
    exchanges: bool,
}

impl Leeway {
    const ALL: [Self; 4] = [
        Self { reduces: true, exchanges: true },
        Self { reduces: true, exchanges: false },
        Self { reduces: false, exchanges: true },
        Self { reduces: false, exchanges: false },
    ];

    /// That for a property, if it needs a graph.
    fn of(model: &Model<'_>, property: &Property, fairness: Fairness) -> Option<Self> {
        match &property.kind {
            PropertyKind::Ltl { .. } | PropertyKind::Never { .. } => {
                let reduces = preserves(property, fairness);
                Some(Self { reduces, exchanges: is_exchangeable(model, property, fairness) })
            }
            // Which threads move again is asked for each by itself.
            PropertyKind::NoPartialDeadlock => Some(Self { reduces: false, exchanges: false }),
            PropertyKind::NeverFires(_) | PropertyKind::NoDeadlock | PropertyKind::NoRace => None,
        }
    }
}

/// Properties that are decided on the same graph.
struct Group<'g, 'a> {
    engine: &'g Explicit,
    model: &'a Model<'a>,
    /// What they observe.
    observed: Vec<Vec<Expr>>,
    /// All their atoms.
    atoms: Vec<Vec<Expr>>,
    leeway: Leeway,
}

impl<'g, 'a> Group<'g, 'a> {
    fn new(
        engine: &'g Explicit,
        model: &'a Model<'a>,
        properties: &[(usize, &Property)],
        leeway: Leeway,
    ) -> Self {
        let observed_by = |property: &Property| {
            let ignores = |atom| match &property.kind {
                PropertyKind::Ltl { formula, .. } => formula.ignores(atom),
                _ => false,
            };
            seen_atoms(model.net, property.atoms().iter().map(|atom| &atom.expr), ignores)
        };
        let observed = properties.iter().map(|(_, property)| observed_by(property)).collect();
        let atoms = properties.iter().map(|(_, property)| exprs(property)).collect();
        Self { engine, model, observed, atoms, leeway }
    }

    /// The graph for those from that number on. It is kept, if it is to be.
    fn graph(&self, first: usize, is_kept: bool) -> Graph<'a> {
        self.make(first, is_kept, false)
    }

    /// A graph for the property of that number, for which the other one does not do because threads are exchanged there.
    fn second_graph(&self, position: usize, is_kept: bool) -> Graph<'a> {
        self.make(position, is_kept, true)
    }

    fn make(&self, first: usize, is_kept: bool, is_second: bool) -> Graph<'a> {
        let Self { engine, model, observed, atoms, leeway: Leeway { reduces, exchanges } } = self;
        let exchanged = (*exchanges && !is_second).then_some(atoms.as_slice());
        let question = Question::Graph { observed, reduces: *reduces, exchanged, first, is_second };
        let kept = is_kept.then(|| question.number(engine, model));
        let seen = observed.iter().map(Vec::as_slice);
        let asked = Asked { watched: &model.notable, deadlocks: false, is_finite: false };
        let stubborn = if *reduces { reduction(model, asked, seen, Proviso::AllLater) } else { None };
        let symmetry = exchanged.and_then(|atoms| model.symmetry(atoms.iter().flatten()));
        Graph::new(model, stubborn, Stored { symmetry, ..Stored::default() }).kept(kept)
    }
}

/// The atoms of a property.
fn exprs(property: &Property) -> Vec<Expr> {
    property.atoms().iter().map(|atom| atom.expr.clone()).collect()
}

/// Whether it makes no difference to a property of infinite runs who of some threads is who ([`Symmetry`]). Under fairness it does: on a cycle of
/// stored states it is not the same thread that moves again and again, or cannot.
fn is_exchangeable(model: &Model<'_>, property: &Property, fairness: Fairness) -> bool {
    fairness == Fairness::None && model.symmetry(&exprs(property)).is_some()
}

/// Adds what was made into native code.
pub(crate) fn note_native(compiled: &Compiled, outcomes: &mut [Outcome]) {
    let counts = compiled.native_counts();
    let native = NativeCode { transitions: counts.transitions, seconds: counts.time.as_secs_f64() };
    outcomes.iter_mut().for_each(|outcome| outcome.stats.native = native);
}

/// Whether leaving out steps that other threads cannot notice preserves the property.
fn preserves(property: &Property, fairness: Fairness) -> bool {
    match &property.kind {
        PropertyKind::NeverFires(_) | PropertyKind::NoDeadlock | PropertyKind::NoRace => true,
        PropertyKind::NoPartialDeadlock => false,
        PropertyKind::Ltl { atoms, .. } | PropertyKind::Never { atoms, .. } => {
            fairness == Fairness::None
                && !property.sees_steps()
                && Observed::default().add_atoms(atoms.iter().map(|atom| &atom.expr))
        }
    }
}

/// What the breadth-first search has to look for, where it can decide the property.
fn goal(model: &Model<'_>, property: &Property, fairness: Fairness) -> Result<Option<Goal>, String> {
    match &property.kind {
        PropertyKind::NeverFires(transitions) => Ok(Some(Goal::never(model, transitions))),
        PropertyKind::NoDeadlock => Ok(Some(Goal::NoDeadlock)),
        PropertyKind::NoRace => Ok(Some(Goal::NoRace(Box::new(Races::new(model.net, model.compiled))))),
        PropertyKind::NoPartialDeadlock | PropertyKind::Never { .. } => Ok(None),
        PropertyKind::Ltl { formula, atoms } => {
            // Whether a *fair* run goes on from a bad state in spite of assumptions is more than a search
            // for one infinite run can tell: the product decides that.
            if model.has_assumptions && fairness != Fairness::None {
                return Ok(None);
            }
            let Some(condition) = invariant::condition(formula) else { return Ok(None) };
            Goal::invariant(model, condition, atoms).map(Some)
        }
    }
}
