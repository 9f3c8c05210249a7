//! The comparison of an engine with the reference, on random nets.
//!
//! An engine conforms when, for every net and property,
//! - it says `Violated` exactly where the reference does, and the run that it gives passes the replay;
//! - or it gives a prefix that breaks a formula by itself, from which the reference sees no infinite run, but
//!   undefined behaviour, or a bound in a net whose assumptions cannot fail behind it;
//! - no such prefix can only fail an assumption or meet a bound behind which it may;
//! - its runs to an assertion or a deadlock are shortest (where that is asked of it);
//! - it says `Unknown` only where the reference met what it names, and `Holds` only where no safety property
//!   was judged on a graph that a bound, undefined behaviour or a sampled input cut short.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use pdnet_base::Rng;
use pdnet_check::{
    AtomData, Engine, Fairness, Limits, Outcome, Property, PropertyKind, Replay, Request, Silent, StopReason,
    Trace, TraceEnd, Verdict, replay,
};
use pdnet_logic::Ltl;
use pdnet_net::{Action, Net, Transition};

use crate::random_automaton::{never_of_formula, never_property, random_automaton};
use crate::random_formula::{random_atoms, random_formula};
use crate::random_net::{NetConfig, random_net};
use crate::reference::{Caveats, ReachableGraph, RefAnswer, RefVerdict};
use crate::shrink::shrink;

/// The cases, and what is asked of the engine.
#[derive(Clone, Debug)]
pub struct ConformanceConfig {
    /// The nets.
    pub net: NetConfig,
    /// Nets with more markings than this are left out.
    pub max_markings: usize,
    /// Formulas for each net. Automata come beside them.
    pub n_formulas: usize,
    /// The size of the formulas.
    pub max_formula_size: usize,
    /// The kinds of fairness to ask for.
    pub fairness: Vec<Fairness>,
    /// Whether runs to an assertion and to a deadlock must be shortest.
    pub shortest: bool,
}

impl Default for ConformanceConfig {
    fn default() -> Self {
        Self {
            net: NetConfig::default(),
            max_markings: 1500,
            n_formulas: 3,
            max_formula_size: 10,
            fairness: vec![Fairness::None, Fairness::Weak, Fairness::Strong],
            shortest: true,
        }
    }
}

/// What was compared. A suite in which nearly everything holds, or nothing, tests little: look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConformanceReport {
    /// Nets that were compared.
    pub nets: usize,
    /// Nets that were left out because they are too large.
    pub too_large: usize,
    /// Markings of all nets.
    pub markings: usize,
    /// Properties that hold.
    pub holds: usize,
    /// Properties that are violated.
    pub violated: usize,
    /// Properties that the engine left unknown, rightly.
    pub unknown: usize,
    /// Nets with a data race.
    pub races: usize,
    /// Nets with a partial deadlock.
    pub partial_deadlocks: usize,
    /// States that the engine visited, by its own account.
    pub visited: u64,
}

impl ConformanceReport {
    /// Adds what was compared elsewhere.
    pub const fn add(&mut self, other: &Self) {
        let Self { nets, too_large, markings, holds, violated, unknown, races, partial_deadlocks, visited } =
            other;
        self.nets += *nets;
        self.too_large += *too_large;
        self.markings += *markings;
        self.holds += *holds;
        self.violated += *violated;
        self.unknown += *unknown;
        self.races += *races;
        self.partial_deadlocks += *partial_deadlocks;
        self.visited += *visited;
    }
}

impl fmt::Display for ConformanceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nets, too_large, markings, holds, violated, unknown, races, partial_deadlocks, visited } =
            self;
        write!(f, "{nets} nets with {markings} markings, {too_large} too large; ")?;
        write!(f, "{holds} verdicts hold, {violated} violated, {unknown} unknown; ")?;
        write!(f, "{races} races, {partial_deadlocks} partial deadlocks; {visited} states visited")
    }
}

/// A case in which the engine does not conform.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// What is wrong.
    pub message: String,
    /// The net.
    pub net: Net,
    /// The property.
    pub property: Property,
    /// The fairness asked for.
    pub fairness: Fairness,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        writeln!(f, "property {}: {} (fairness {})", self.property.name, self.property.text, self.fairness)?;
        match &self.property.kind {
            PropertyKind::Ltl { formula, .. } => writeln!(f, "formula {formula:?}")?,
            PropertyKind::Never { automaton, .. } => writeln!(f, "automaton {}", automaton.to_hoa(""))?,
            PropertyKind::NeverFires(_)
            | PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock => {}
        }
        for (number, atom) in self.property.atoms().iter().enumerate() {
            writeln!(f, "atom {number}: {} = {:?}", atom.text, atom.expr)?;
        }
        write!(f, "{}", self.net)
    }
}

/// Compares an engine with the reference on `cases` random nets; `shortest` says whether its runs to an
/// assertion and to a deadlock must be shortest.
///
/// # Panics
/// Where it does not conform, with all that is needed to bring the case back.
pub fn check_engine(engine: &dyn Engine, shortest: bool, cases: usize, seed: u64) -> ConformanceReport {
    let config = ConformanceConfig { shortest, ..ConformanceConfig::default() };
    let mut rng = Rng::new(seed);
    let mut report = ConformanceReport::default();
    for case in 0..cases {
        let case_seed = rng.next_u64();
        if let Err(disagreement) = check_case(engine, &config, case_seed, &mut report) {
            refuse(
                engine,
                &config,
                &disagreement,
                &format!("seed {seed}, case {case}, case seed {case_seed}"),
            );
        }
    }
    report
}

/// As [`check_engine`] for several engines, each with whether its runs must be shortest. The reference answers once for all of them, and
/// as many nets are looked at at a time as there are processors.
///
/// # Panics
/// Where one does not conform.
pub fn check_engines(
    engines: &[(Box<dyn Engine + Sync>, bool)],
    cases: usize,
    seed: u64,
) -> Vec<ConformanceReport> {
    let mut rng = Rng::new(seed);
    let seeds: Vec<u64> = (0..cases).map(|_| rng.next_u64()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut reports = vec![ConformanceReport::default(); engines.len()];
        while let Some(&case_seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let config = ConformanceConfig::default();
            let found = with_case(&config, case_seed, |case| {
                for ((engine, shortest), report) in engines.iter().zip(&mut reports) {
                    if let Err(disagreement) = case.compare(&**engine, *shortest, report) {
                        let config = ConformanceConfig { shortest: *shortest, ..config.clone() };
                        let place = format!("seed {seed}, case seed {case_seed}");
                        refuse(&**engine, &config, &disagreement, &place);
                    }
                }
            });
            if found.is_none() {
                reports.iter_mut().for_each(|report| report.too_large += 1);
            }
        }
        reports
    };
    let mut reports = vec![ConformanceReport::default(); engines.len()];
    std::thread::scope(|scope| {
        let n_workers = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            let found = worker.join().expect("what differs was printed above");
            reports.iter_mut().zip(&found).for_each(|(report, found)| report.add(found));
        }
    });
    reports
}

/// Makes a disagreement smaller and panics with it.
fn refuse(engine: &dyn Engine, config: &ConformanceConfig, disagreement: &Disagreement, place: &str) -> ! {
    let name = engine.name();
    let smaller = shrink(disagreement, &|candidate| {
        let graph = ReachableGraph::build(&candidate.net, config.max_markings)?;
        let Disagreement { property, fairness, .. } = candidate;
        compare(engine, &graph, std::slice::from_ref(property), *fairness, config.shortest).err()
    });
    panic!("engine {name} does not conform: {place}\n{smaller}\nbefore shrinking: {}", disagreement.message);
}

/// One case of [`check_engine`].
///
/// # Errors
/// Where the engine does not conform.
pub fn check_case(
    engine: &dyn Engine,
    config: &ConformanceConfig,
    case_seed: u64,
    report: &mut ConformanceReport,
) -> Result<(), Box<Disagreement>> {
    with_case(config, case_seed, |case| case.compare(engine, config.shortest, report)).unwrap_or_else(|| {
        report.too_large += 1;
        Ok(())
    })
}

/// A net, and what the reference says of its properties, by fairness.
struct Case<'g> {
    graph: &'g ReachableGraph<'g>,
    asked: Vec<Expected<'g>>,
}

impl Case<'_> {
    /// Compares the answers of an engine.
    fn compare(
        &self,
        engine: &dyn Engine,
        shortest: bool,
        report: &mut ConformanceReport,
    ) -> Result<(), Box<Disagreement>> {
        report.nets += 1;
        report.markings += self.graph.n_markings();
        for expected in &self.asked {
            report.add(&expected.compare(engine, shortest)?);
        }
        Ok(())
    }
}

/// Makes the case of a seed; nothing where the net is too large.
fn with_case<T>(config: &ConformanceConfig, case_seed: u64, body: impl FnOnce(&Case<'_>) -> T) -> Option<T> {
    let mut rng = Rng::new(case_seed);
    let net = random_net(&mut rng, &config.net);
    let graph = ReachableGraph::build(&net, config.max_markings)?;
    let mut formulas = random_properties(&mut rng, &net, config);
    formulas.push(Property::termination(&net));
    formulas.extend(random_claims(&mut rng, &net, &formulas));
    let mut all = safety_properties(&net);
    all.extend(formulas.iter().cloned());
    let asked = config.fairness.iter().enumerate().map(|(round, &fairness)| {
        // Fairness says nothing of safety properties: once is enough.
        Expected::new(&graph, if round == 0 { &all } else { &formulas }, fairness)
    });
    Some(body(&Case { graph: &graph, asked: asked.collect() }))
}

fn safety_properties(net: &Net) -> Vec<Property> {
    let named =
        |name: &str, class, kind| Property { name: name.to_owned(), text: name.to_owned(), class, kind };
    let mut properties = vec![
        named("deadlock", "no-deadlock", PropertyKind::NoDeadlock),
        Property::no_race(),
        Property::no_partial_deadlock(),
    ];
    let of_action = |wanted: fn(Action) -> bool| -> Vec<Transition> {
        net.transitions.iter_enumerated().filter(|(_, data)| wanted(data.action)).map(|(at, _)| at).collect()
    };
    let asserts = of_action(|action| action == Action::AssertFail);
    let errors = of_action(|action| matches!(action, Action::Error | Action::Fault(_)));
    for (name, transitions) in [("assert", asserts), ("error", errors)] {
        if !transitions.is_empty() {
            properties.push(named(name, "unreach-call", PropertyKind::NeverFires(transitions)));
        }
    }
    properties
}

fn random_properties(rng: &mut Rng, net: &Net, config: &ConformanceConfig) -> Vec<Property> {
    let mut properties = Vec::new();
    while properties.len() < config.n_formulas {
        let n_atoms = 1 + rng.below(3);
        let atoms = random_atoms(rng, net, n_atoms);
        let formula = random_formula(rng, n_atoms, config.max_formula_size);
        if n_temporal(&formula) <= 6 {
            properties.push(ltl_property(format!("ltl{}", properties.len()), formula, atoms));
        }
    }
    properties
}

/// Automata: one that is made of one of the formulas, and one that is not.
fn random_claims(rng: &mut Rng, net: &Net, formulas: &[Property]) -> Vec<Property> {
    let mut claims = Vec::new();
    if let PropertyKind::Ltl { formula, atoms } = &rng.pick(formulas).kind {
        claims.push(never_of_formula("never-formula", formula, atoms.clone()));
    }
    let n_atoms = 1 + rng.below(2);
    let atoms = random_atoms(rng, net, n_atoms);
    claims.push(never_property("never", random_automaton(rng, n_atoms, 4), atoms));
    claims
}

/// A property that says that a formula holds.
fn ltl_property(name: String, formula: Ltl, atoms: Vec<AtomData>) -> Property {
    let names: Vec<String> = atoms.iter().map(|atom| atom.text.clone()).collect();
    let text = formula.display(&names).to_string();
    Property { name, text, class: "valid-ltl", kind: PropertyKind::Ltl { formula, atoms } }
}

/// The number of temporal operators, which the size of the reference's tableau is exponential in.
fn n_temporal(formula: &Ltl) -> usize {
    let (left, right) = formula.children();
    let own = match formula {
        Ltl::True | Ltl::False | Ltl::Atom(_) | Ltl::Not(_) => 0,
        Ltl::And(..) | Ltl::Or(..) | Ltl::Implies(..) | Ltl::Iff(..) | Ltl::Xor(..) => 0,
        Ltl::Next(_) | Ltl::Finally(_) | Ltl::Globally(_) | Ltl::Until(..) => 1,
        Ltl::WeakUntil(..) | Ltl::Release(..) | Ltl::StrongRelease(..) => 1,
    };
    own + left.map_or(0, n_temporal) + right.map_or(0, n_temporal)
}

/// Compares the engine's answers to one request with those of the reference.
///
/// # Errors
/// The first answer that is wrong.
pub fn compare(
    engine: &dyn Engine,
    graph: &ReachableGraph<'_>,
    properties: &[Property],
    fairness: Fairness,
    shortest: bool,
) -> Result<ConformanceReport, Box<Disagreement>> {
    Expected::new(graph, properties, fairness).compare(engine, shortest)
}

/// A request with the answers of the reference.
pub struct Expected<'g> {
    graph: &'g ReachableGraph<'g>,
    properties: &'g [Property],
    fairness: Fairness,
    answers: Vec<RefAnswer>,
}

impl<'g> Expected<'g> {
    /// Asks the reference.
    #[must_use]
    pub fn new(graph: &'g ReachableGraph<'g>, properties: &'g [Property], fairness: Fairness) -> Self {
        let answers = properties.iter().map(|property| graph.check(property, fairness)).collect();
        Self { graph, properties, fairness, answers }
    }

    /// Compares the answers of an engine with these; `shortest` says whether its runs to an assertion and to a deadlock must be
    /// shortest.
    ///
    /// # Errors
    /// The first answer that is wrong.
    pub fn compare(
        &self,
        engine: &dyn Engine,
        shortest: bool,
    ) -> Result<ConformanceReport, Box<Disagreement>> {
        let Self { graph, properties, fairness, ref answers } = *self;
        let net = graph.net();
        let wrong = |property: &Property, message: String| {
            Box::new(Disagreement { message, net: net.clone(), property: property.clone(), fairness })
        };
        let request = Request { net, properties, fairness, limits: Limits::default() };
        // A panic without the net that it came from would be of no use.
        let outcomes: Vec<Outcome> = catch_unwind(AssertUnwindSafe(|| engine.check(&request, &mut Silent)))
            .map_err(|payload| {
            wrong(&properties[0], format!("the engine panicked: {}", panic_text(&*payload)))
        })?;
        if outcomes.len() != properties.len() {
            let message = format!("{} outcomes for {} properties", outcomes.len(), properties.len());
            return Err(wrong(&properties[0], message));
        }
        let mut report = ConformanceReport::default();
        for ((property, expected), outcome) in properties.iter().zip(answers).zip(outcomes) {
            report.visited += outcome.stats.states;
            compare_one((graph, property, fairness), expected, shortest, &outcome.verdict, &mut report)
                .map_err(|message| wrong(property, message))?;
        }
        Ok(report)
    }
}

fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("(no message)")
}

fn compare_one(
    (graph, property, fairness): (&ReachableGraph<'_>, &Property, Fairness),
    expected: &RefAnswer,
    shortest: bool,
    verdict: &Verdict,
    report: &mut ConformanceReport,
) -> Result<(), String> {
    if let Some(trace) = &expected.trace {
        replay(graph.net(), property, fairness, trace)
            .map_err(|error| format!("the reference is wrong: its own run fails, {error}: {trace:?}"))?;
    }
    let is_safety = !property.is_about_runs();
    let caveats = graph.caveats();
    match (expected.verdict, verdict) {
        (RefVerdict::Violated, Verdict::Violated(trace)) => {
            report.violated += 1;
            if let TraceEnd::Race(race) = &trace.end {
                report.races += 1;
                if !graph.net().contested_memory().contains(&race.place) {
                    return Err(format!("a race on {}, which is not contested", race.place));
                }
            }
            let is_partial = matches!(property.kind, PropertyKind::NoPartialDeadlock);
            report.partial_deadlocks += usize::from(is_partial);
            let replayed = replay(graph.net(), property, fairness, trace)
                .map_err(|error| format!("the run of the engine fails: {error}\nrun: {trace:?}"))?;
            if is_bad_prefix(property, trace)
                && !last_of(graph, &replayed).is_some_and(|at| graph.goes_on(at))
            {
                return Err(format!("no run that counts goes on from the end of the run {trace:?}"));
            }
            let best = expected.trace.as_ref().map_or(0, |trace| trace.prefix.len());
            if is_safety && shortest && trace.prefix.len() != best {
                return Err(format!("a run of {} steps, where {best} are enough", trace.prefix.len()));
            }
        }
        (RefVerdict::Holds, Verdict::Holds) => {
            report.holds += 1;
            if is_safety && !caveats.is_empty() {
                return Err(format!("the engine says Holds, although it must have met {caveats:?}"));
            }
        }
        (RefVerdict::Holds, Verdict::Unknown(reason)) => {
            report.unknown += 1;
            if !is_due(caveats, reason) {
                return Err(format!("the engine says Unknown ({reason}), but what was met is {caveats:?}"));
            }
        }
        (RefVerdict::Holds, Verdict::Violated(trace)) => {
            let replayed = replay(graph.net(), property, fairness, trace);
            // The reference follows no run beyond a bound or a fault. Where the rest does not matter, the run
            // that comes there breaks the property all the same, if it is one.
            if is_bad_prefix(property, trace)
                && let Ok(replayed) = &replayed
                && last_of(graph, replayed).is_some_and(|at| graph.is_left_open(at))
            {
                report.violated += 1;
                return Ok(());
            }
            let replayed =
                replayed.map_or_else(|error| error.to_string(), |_| "it passes the replay!".to_owned());
            return Err(format!(
                "the engine says Violated, the reference Holds\nreplay: {replayed}\nrun: {trace:?}"
            ));
        }
        (RefVerdict::Violated, Verdict::Holds | Verdict::Unknown(_)) => {
            return Err(format!(
                "the engine says {verdict:?}, the reference Violated\nrun: {:?}",
                expected.trace
            ));
        }
    }
    Ok(())
}

/// Whether the trace is a prefix that breaks a property of infinite runs whatever comes after it.
fn is_bad_prefix(property: &Property, trace: &Trace) -> bool {
    property.is_about_runs() && trace.end == TraceEnd::Any
}

/// The number of the last marking of a run.
fn last_of(graph: &ReachableGraph<'_>, replayed: &Replay) -> Option<usize> {
    graph.number_of(replayed.prefix.last().map_or(&replayed.initial, |step| &step.after))
}

/// Whether the reference met what the engine gives as its reason.
fn is_due(caveats: &Caveats, reason: &StopReason) -> bool {
    match reason {
        StopReason::Bound { bound, .. } => caveats.bounds.contains(bound),
        StopReason::Sampled { .. } => caveats.sampled,
        StopReason::Undefined { fault, .. } => caveats.faults.contains(fault),
        StopReason::Timeout(_)
        | StopReason::Memory { .. }
        | StopReason::States(_)
        | StopReason::Preemptions(_)
        | StopReason::Omissions { .. }
        | StopReason::Interrupted
        | StopReason::Unsupported(_) => false,
    }
}
