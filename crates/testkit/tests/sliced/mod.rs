//! The comparison of a slice with the whole net: what the tests of slicing have in common.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pdnet_base::Idx as _;
use pdnet_check::{
    AtomData, Engine as _, Fairness, Limits, Outcome, Property, PropertyKind, Request, Silent, StopReason,
    Trace, TraceEnd, Verdict, replay,
};
use pdnet_explicit::Explicit;
use pdnet_front_c::{LowerOptions, Options, load_preprocessed, lower};
use pdnet_logic::parse_formula;
use pdnet_net::{Action, Net, Transition, TransitionData, verify_net};
use pdnet_reduce::{LiftError, Method, slice};
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};

/// All ways to slice.
pub(crate) const METHODS: [Method; 3] = [Method::OnDemand, Method::Program, Method::Net];

/// The engine without reductions of its own.
pub(crate) const PLAIN: Explicit = Explicit::PLAIN;

/// What programs use of the system's headers, so that no preprocessor has to run.
pub(crate) const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_cond_t;
typedef struct { int k; } pthread_attr_t; typedef struct { int k; } pthread_mutexattr_t; typedef struct { int k; } sem_t;
typedef struct { int k; } pthread_barrier_t; typedef struct { int k; } pthread_barrierattr_t;
typedef int pthread_once_t; typedef unsigned int pthread_key_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
void pthread_exit(void *); pthread_t pthread_self(void); int pthread_detach(pthread_t);
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int pthread_mutex_trylock(pthread_mutex_t *); int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_broadcast(pthread_cond_t *);
int sem_init(sem_t *, int, unsigned); int sem_wait(sem_t *); int sem_trywait(sem_t *); int sem_post(sem_t *);
int pthread_barrier_init(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned); int pthread_barrier_wait(pthread_barrier_t *);
int pthread_once(pthread_once_t *, void (*)(void)); int pthread_key_create(pthread_key_t *, void (*)(void *));
int pthread_setspecific(pthread_key_t, const void *); void *pthread_getspecific(pthread_key_t);
void __pdnet_assert(_Bool); void abort(void); void exit(int); void __VERIFIER_assume(int); _Bool __VERIFIER_nondet_bool(void);
int __VERIFIER_nondet_int(void); void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
void *malloc(unsigned long); void free(void *);
";

/// A property, before there is a net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Assert,
    Deadlock,
    Race,
    PartialDeadlock,
    Termination,
    Memory,
    Locks,
    Ltl(String),
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ltl(formula) => write!(f, "{formula}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// The net of a program, with its properties in the order of the questions.
pub(crate) fn asked(
    program: &str,
    questions: &[Ask],
    options: &LowerOptions,
) -> Result<(Net, Vec<Property>), String> {
    let mut map = SourceMap::new();
    let file = map.add("sliced.i", format!("{PRELUDE}{program}"));
    let show = |map: &SourceMap, found: &[Diagnostic]| -> String {
        found.iter().map(|one| render(map, one, ColorChoice::Plain)).collect()
    };
    let loaded =
        load_preprocessed(&mut map, file, &Options::default()).map_err(|found| show(&map, &found))?;
    let mut formulas = Vec::new();
    for question in questions {
        if let Ask::Ltl(text) = question {
            let file = map.add("<ltl>", text.as_str());
            formulas.push(parse_formula(&map, file).map_err(|found| show(&map, &[found]))?);
        }
    }
    let lowered = lower(&map, &loaded.program, &formulas, options).map_err(|found| show(&map, &found))?;
    let net = lowered.net;
    let violations = verify_net(&net);
    if !violations.is_empty() {
        return Err(format!("{violations:?}"));
    }
    let mut meant = formulas.iter().zip(&lowered.atoms);
    let property = |question: &Ask| match question {
        Ask::Assert => Property::assertions(&net),
        Ask::Deadlock => Property::no_deadlock(),
        Ask::Race => Property::no_race(),
        Ask::PartialDeadlock => Property::no_partial_deadlock(),
        Ask::Termination => Property::termination(&net),
        Ask::Memory => Property::memory(&net),
        Ask::Locks => Property::locks(&net),
        Ask::Ltl(text) => {
            let (formula, exprs) = meant.next().expect("one for each question");
            let atoms = exprs.iter().enumerate().map(|(idx, expr)| AtomData {
                text: formula.atoms[pdnet_logic::Atom::new(idx)].to_string(),
                expr: expr.clone(),
            });
            let kind = PropertyKind::Ltl { formula: formula.ltl.clone(), atoms: atoms.collect() };
            Property { name: "ltl".into(), text: text.clone(), class: "valid-ltl", kind }
        }
    };
    let properties = questions.iter().map(property).collect();
    Ok((net, properties))
}

/// A verdict without its circumstances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Holds,
    Violated,
    Unknown,
}

pub(crate) fn class_of(verdict: &Verdict) -> Class {
    match verdict {
        Verdict::Holds => Class::Holds,
        Verdict::Violated(_) => Class::Violated,
        Verdict::Unknown(_) => Class::Unknown,
    }
}

/// Whether the search itself gave up.
pub(crate) fn is_cut_short(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Holds | Verdict::Violated(_) => false,
        Verdict::Unknown(reason) => match reason {
            StopReason::Bound { .. } | StopReason::Sampled { .. } | StopReason::Undefined { .. } => false,
            StopReason::Timeout(_)
            | StopReason::Memory { .. }
            | StopReason::States(_)
            | StopReason::Preemptions(_)
            | StopReason::Omissions { .. }
            | StopReason::Interrupted
            | StopReason::Unsupported(_) => true,
        },
    }
}

/// The answers of an engine.
pub(crate) fn answers(
    engine: Explicit,
    net: &Net,
    properties: &[Property],
    fairness: Fairness,
    states: u64,
) -> Vec<Outcome> {
    let limits = Limits { states: Some(states), ..Limits::default() };
    engine.check(&Request { net, properties, fairness, limits }, &mut Silent)
}

/// What came of the comparisons of slices with whole nets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Slices that were asked.
    pub(crate) slices: usize,
    /// Slices with fewer transitions than the net.
    pub(crate) smaller: usize,
    /// States of the searches on whole nets, and on the slices of them.
    pub(crate) whole_states: u64,
    pub(crate) slice_states: u64,
    /// Violations on slices.
    pub(crate) violated: usize,
    /// Those whose cycle does not close in the whole net.
    pub(crate) open: usize,
    /// Slices that know what the whole net leaves unknown, because of an input that they do not ask for or an
    /// assumption that cannot fail.
    pub(crate) known: usize,
    /// Transitions that each of [`METHODS`] keeps, where they were compared with each other.
    pub(crate) kept: [usize; 3],
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.slices += other.slices;
        self.smaller += other.smaller;
        self.whole_states += other.whole_states;
        self.slice_states += other.slice_states;
        self.violated += other.violated;
        self.open += other.open;
        self.known += other.known;
        self.kept.iter_mut().zip(other.kept).for_each(|(sum, kept)| *sum += kept);
    }
}

/// How slices are made and asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    pub(crate) fairness: Fairness,
    pub(crate) method: Method,
    /// For the slice.
    pub(crate) engine: Explicit,
    /// The most states of a search on the slice.
    pub(crate) states: u64,
}

pub(crate) fn failed_assumptions(net: &Net) -> Vec<Transition> {
    let fails = |(at, data): (Transition, &TransitionData)| (data.action == Action::AssumeFail).then_some(at);
    net.transitions.iter_enumerated().filter_map(fails).collect()
}

/// Whether a net has assumptions, and no run that can be seen fails one.
pub(crate) fn assumptions_hold(net: &Net, states: u64) -> bool {
    let fails = failed_assumptions(net);
    if fails.is_empty() {
        return false;
    }
    let kind = PropertyKind::NeverFires(fails);
    let property = Property { name: "assume".into(), text: String::new(), class: "unreach-call", kind };
    let outcome = answers(PLAIN, net, &[property], Fairness::None, states).remove(0);
    class_of(&outcome.verdict) != Class::Violated && !is_cut_short(&outcome.verdict)
}

/// The longest run that is worth showing.
const MAX_STEPS: usize = 20_000;

fn n_steps(trace: &Trace) -> usize {
    let cycle = if let TraceEnd::Cycle(cycle) = &trace.end { cycle.len() } else { 0 };
    trace.prefix.len() + cycle
}

/// What is wrong with a slice.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    pub(crate) text: String,
    /// The slice, where there is one, in its text form.
    pub(crate) slice: String,
}

impl Wrong {
    /// The first line without numbers: what is wrong, wherever it is.
    #[allow(dead_code, reason = "not all tests shrink")]
    pub(crate) fn kind(&self) -> String {
        let line = self.text.lines().next().unwrap_or_default();
        line.chars().filter(|c| !c.is_ascii_digit()).collect()
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nslice:\n{}", self.text, self.slice)
    }
}

/// Slices a net with all methods: what on-demand slicing keeps, its rivals keep as well.
pub(crate) fn compare_methods(
    net: &Net,
    properties: &[Property],
    fairness: Fairness,
) -> Result<Tally, (Method, Wrong)> {
    let mut tally = Tally::default();
    let mut on_demand = Vec::new();
    for (kept, method) in tally.kept.iter_mut().zip(METHODS) {
        let slice = slice(net, properties, fairness, method);
        let transitions: Vec<Transition> = slice.transitions.iter().copied().collect();
        *kept = transitions.len();
        if method == Method::OnDemand {
            on_demand = transitions;
            continue;
        }
        let more = on_demand.iter().find(|&transition| transitions.binary_search(transition).is_err());
        if let Some(&transition) = more {
            let data = &net.transitions[transition];
            let text = format!(
                "on-demand slicing keeps what the method cuts: {transition} {}, {:?}",
                data.label, data.pos
            );
            return Err((method, Wrong { text, slice: slice.net.to_string() }));
        }
    }
    Ok(tally)
}

/// Slices a net for some properties together, and compares the answers with those of the whole net.
pub(crate) fn judge(
    net: &Net,
    properties: &[Property],
    whole: &[Outcome],
    asking: Asking,
) -> Result<(Tally, Vec<Verdict>), Wrong> {
    let Asking { fairness, method, engine, states } = asking;
    let guarded = catch_unwind(AssertUnwindSafe(|| {
        let slice = slice(net, properties, fairness, method);
        let broken = verify_net(&slice.net);
        if !broken.is_empty() {
            let text = format!("the slice breaks rules of nets: {broken:?}");
            return Err(Wrong { text, slice: slice.net.to_string() });
        }
        if slice.properties.len() != properties.len() {
            let text = format!("{} properties of the slice", slice.properties.len());
            return Err(Wrong { text, slice: slice.net.to_string() });
        }
        let outcomes = answers(engine, &slice.net, &slice.properties, fairness, states);
        let mut tally = Tally { slices: 1, ..Tally::default() };
        tally.smaller = usize::from(slice.net.transitions.len() < net.transitions.len());
        let mut verdicts = Vec::new();
        for (number, (outcome, whole)) in outcomes.into_iter().zip(whole).enumerate() {
            tally.whole_states += whole.stats.states;
            tally.slice_states += outcome.stats.states;
            let wrong = |text: String| {
                let shown = |verdict: &Verdict| match verdict {
                    Verdict::Unknown(reason) => format!("Unknown ({reason})"),
                    other => format!("{:?}", class_of(other)),
                };
                let (before, after) = (shown(&whole.verdict), shown(&outcome.verdict));
                Wrong {
                    text: format!("{text}; whole net: {before}, slice: {after}"),
                    slice: slice.net.to_string(),
                }
            };
            let (expected, found) = (class_of(&whole.verdict), class_of(&outcome.verdict));
            if is_cut_short(&outcome.verdict) {
                return Err(wrong("the search on the slice gave up".to_owned()));
            }
            let is_sampled = matches!(whole.verdict, Verdict::Unknown(StopReason::Sampled { .. }));
            // Behind a bound or a fault an assumption may fail, unless it was cut because it cannot.
            let is_assumed = expected == Class::Unknown
                && found == Class::Violated
                && failed_assumptions(&slice.net).is_empty()
                && assumptions_hold(net, states);
            if (is_sampled && found == Class::Holds) || is_assumed {
                tally.known += 1;
            } else if expected != found {
                return Err(wrong("the verdicts differ".to_owned()));
            }
            let mut verdict = outcome.verdict.clone();
            if let Verdict::Violated(trace) = &outcome.verdict {
                tally.violated += 1;
                match slice.lift(net, trace) {
                    Ok(lifted) => {
                        // Nobody reads a longer one, and the replay takes its time.
                        if n_steps(&lifted) > MAX_STEPS {
                            let (before, after) = (n_steps(trace), n_steps(&lifted));
                            return Err(wrong(format!("{before} steps of the slice are lifted to {after}")));
                        }
                        replay(net, &properties[number], fairness, &lifted).map_err(|error| {
                            wrong(format!("the replay of the lifted run fails: {error}\nrun {trace:?}"))
                        })?;
                        verdict = if is_assumed { whole.verdict.clone() } else { Verdict::Violated(lifted) };
                    }
                    Err(LiftError::Open) => {
                        tally.open += 1;
                        // The caller would search the whole net.
                        verdict = whole.verdict.clone();
                    }
                    Err(error @ LiftError::Stuck { .. }) => {
                        return Err(wrong(format!("no run of the whole net: {error}\nrun {trace:?}")));
                    }
                }
            }
            verdicts.push(verdict);
        }
        Ok((tally, verdicts))
    }));
    guarded.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("(no message)");
        Err(Wrong { text: format!("panic: {text}"), slice: String::new() })
    })
}
