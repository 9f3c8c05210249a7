//! `pdnet check`: the way from a file to a verdict, read from top to bottom.

use std::sync::Arc;
use std::time::Instant;

use pdnet_check::{AtomData, Engine, Property, PropertyKind, StopReason};
use pdnet_front_c::{LowerOptions, Lowered};
use pdnet_net::{Net, verify_net};
use pdnet_report::{
    Answer, Overall, PropertyResult, Report, Timings, result_json, result_text, timings_table, verdict_line,
};
use pdnet_source::{Diagnostic, Severity};

use crate::args::{Atomicity, CheckArgs, FrontArgs, ResultFormat, SearchOrder, Store, When};
use crate::cache::Cache;
use crate::checks::Check;
use crate::exit::{ExitStatus, Failure};
use crate::front::{Modelling, Source};
use crate::inputs::program_name;
use crate::job::resolve_job;
use crate::patience::Patience;
use crate::progress::Display;
use crate::properties::{NamedAutomaton, NamedFormula, Properties, Wanted};
use crate::question::question;
use crate::reductions::Reduction;
use crate::session::{Session, suits_stderr};
use crate::settle::Search;
use crate::slicing::{Answers, Settled, Slicing};
use crate::task::{report_of, unexpected};
use crate::trail::write_trail;
use crate::witness::write_witnesses;

/// Checks the properties of a program and prints the answers.
pub(crate) fn check(
    args: &CheckArgs,
    session: &mut Session,
    engine: &dyn Engine,
) -> Result<ExitStatus, Failure> {
    // What was given: a program, or a task that names one.
    let job = resolve_job(&mut session.map, &args.program, &args.front).map_err(refused)?;
    // Text to tree.
    let mut clock = Clock::new();
    let source = Source::load(&mut session.map, &job.program, &args.front, job.data_model);
    let mut source = source.map_err(refused)?;
    refuse_options(args, &source)?;
    let reading = clock.lap();
    // What is asked of it.
    let task = job.task.as_ref();
    let asked = source.ask(&mut session.map, &args.properties, task, &args.reduce).map_err(refused)?;
    // Tree to net.
    session.catch_interrupts();
    let limits = args.limits.or_default();
    let patience = Patience {
        start: session.start,
        timeout: limits.timeout,
        interrupted: Arc::clone(&session.interrupted),
    };
    let modelling =
        Modelling { map: Arc::new(session.map.clone()), source: &source, asked: &asked, front: &args.front };
    let first = modelling.model(&patience)?;
    let second;
    let mut model = &first;
    if !args.quiet {
        session.show(source.warnings());
        session.show(&model.warnings);
        session.show(crate::engine::warning(&args.limits).as_slice());
    }
    // What was kept of searches must be about the same question. Where there was no time to make the net, nothing is asked.
    if let Some(checkpoint) = &session.checkpoint
        && model.missing.is_none()
    {
        let question = question(args, &model.net, &model.properties);
        checkpoint.borrow_mut().ask(&question).map_err(|diagnostic| refused(vec![diagnostic]))?;
    }
    let mut timings = Timings { reading, modelling: clock.lap(), ..Timings::default() };
    // Net to smaller nets, these to verdicts, and verdicts to answers: a violation counts once it is replayed on
    // the whole net.
    let display = progress_display(args);
    let slicing = Slicing::new(args.slicing.slice, &args.reduce);
    let cache = open_cache(args, session, engine);
    let cache = cache.as_ref();
    let fairness = args.fair.into();
    let (limits, patience, warns) = (&limits, &patience, !args.quiet);
    let agglomerates = args.reduce.has(Reduction::Agglomerate);
    let search_in =
        |net| Search { session, engine, net, limits, patience, display, slicing, agglomerates, cache, warns };
    let mut answers = match &model.missing {
        Some(reason) => Answers::unknown(model.properties.len(), reason),
        None => search_in(&model.net).answer(&model.properties, fairness, "search")?,
    };
    if let Some(larger) = modelling.larger_model(patience, &answers.settled)? {
        second = larger;
        if second.missing.is_none() {
            let what = "search of a larger net";
            let found = search_in(&second.net).answer(&second.properties, fairness, what)?;
            let pairs = answers.settled.iter().zip(&found.settled);
            if pairs.into_iter().all(|(before, after)| is_open(before) || !is_open(after)) {
                (model, answers) = (&second, found);
            }
        }
    }
    timings.answering = clock.lap();
    let search = search_in(&model.net);
    let Answers { settled, slices, merges } = answers;
    // What would be under stronger fairness.
    let mut results = Vec::new();
    for (property, settled) in model.properties.iter().zip(settled) {
        let Settled { answer, stats, slice, merge, origin } = settled;
        let probes = match &answer {
            Answer::Violated(run) => search.probe(property, fairness, (run, stats.states))?,
            Answer::Holds | Answer::Unknown(_) => Vec::new(),
        };
        let engine = engine.name();
        results.push(PropertyResult {
            property,
            fairness,
            engine,
            stats,
            answer,
            slice,
            merge,
            origin,
            probes,
        });
    }
    timings.probing = clock.lap();
    let unreached = match (&model.legend, &model.missing) {
        (Some(legend), None) if args.unreached => Some(search.unreached(legend)),
        _ => None,
    };
    // Answers to text.
    timings.total = session.start.elapsed().as_secs_f64();
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        input: program_name(&args.program),
        net: &model.net,
        legend: model.legend.as_deref(),
        map: &session.map,
        results,
        task: task.map(|task| report_of(task, &asked.common.questions)),
        reductions: args.reduce.of_search(args.limits.preemptions.is_some()),
        slices,
        merges,
        unreached,
        timings,
        notes: notes(args, &asked.common.notes),
    };
    print(args, session, &report)?;
    if let Some(checkpoint) = &session.checkpoint
        && report.results.iter().any(is_cut_short)
    {
        checkpoint.borrow().say_kept();
    }
    // Loud, also where nothing else is said: somebody is wrong.
    session.show(&unexpected(&report, &asked.common.questions));
    if let Some(path) = &args.witness {
        write_witnesses(path, &job, &asked.common, &report)?;
    }
    if let Some(path) = &args.trail {
        write_trail(path, &model.net, &model.spin_ids, &report.results)?;
    }
    Ok(match report.overall() {
        Overall::True => ExitStatus::Success,
        Overall::False(_) => ExitStatus::Violated,
        Overall::Unknown(_) => ExitStatus::Unknown,
    })
}

/// Complains about options that mean nothing in the language of the program.
fn refuse_options(args: &CheckArgs, source: &Source) -> Result<(), Failure> {
    let refusal = |option: &str, message: &str, help: &str| {
        let text = format!("{option} {message}");
        Err(refused(vec![Diagnostic::error("unsuitable-option", text).help(help)]))
    };
    match source {
        Source::C(_) if args.trail.is_some() => {
            refusal("--trail", "is for Promela models", "--witness writes the run of a C program to a file")
        }
        Source::C(_) if args.unreached => {
            refusal("--unreached", "is for Promela models", "`pdnet slice` says what an answer depends on")
        }
        Source::Promela(_) if args.witness.is_some() => refusal(
            "--witness",
            "is for C programs: the format of witnesses speaks of C only",
            "--trail writes the run of a model to a file, for `spin -t`; --format json has all that is known of it",
        ),
        Source::C(_) | Source::Promela(_) => Ok(()),
    }
}

/// Measures the parts of the way.
pub(crate) struct Clock(Instant);

impl Clock {
    /// Begins now.
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    /// The seconds since the last time.
    pub(crate) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let seconds = now.duration_since(self.0).as_secs_f64();
        self.0 = now;
        seconds
    }
}

/// Whether a limit or the user has stopped the search: it could go on.
const fn is_cut_short(result: &PropertyResult<'_>) -> bool {
    matches!(
        result.answer,
        Answer::Unknown(
            StopReason::Timeout(_)
                | StopReason::Memory { .. }
                | StopReason::States(_)
                | StopReason::Interrupted
        )
    )
}

const fn is_open(settled: &Settled) -> bool {
    matches!(settled.answer, Answer::Unknown(_))
}

/// The input was not accepted; that must have been said.
pub(crate) fn refused(diagnostics: Vec<Diagnostic>) -> Failure {
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Failure::Input(diagnostics);
    }
    Failure::Bug("the input was refused without a reason".to_owned())
}

/// A net that breaks the rules of nets is our fault.
pub(crate) fn verify(net: &Net) -> Result<(), Failure> {
    let violations = verify_net(net);
    if violations.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
    Err(Failure::Bug(format!("the net of the program is not well formed:\n  {}", list.join("\n  "))))
}

/// What the net must have, by what is asked.
pub(crate) fn lower_options(front: &FrontArgs, asked: &Properties) -> LowerOptions {
    LowerOptions {
        overflow: asked.asks_for(Check::Overflow),
        leaks: asked.asks_for(Check::Leak),
        uninitialised: asked.asks_for(Check::Uninitialized),
        ..front.lower_options()
    }
}

/// The properties with what they mean in the net.
pub(crate) fn properties_of(asked: &Properties, lowered: &Lowered) -> Result<Vec<Property>, Failure> {
    let mut atoms = lowered.atoms.iter();
    let mut properties = Vec::new();
    for wanted in &asked.wanted {
        let mut meaning_of = |name: &str, texts: Vec<String>| {
            let Some(exprs) = atoms.next().filter(|exprs| exprs.len() == texts.len()) else {
                return Err(Failure::Bug(format!("the atoms of `{name}` got lost")));
            };
            let pairs = texts.into_iter().zip(exprs);
            Ok(pairs.map(|(text, expr)| AtomData { text, expr: expr.clone() }).collect())
        };
        properties.push(match wanted {
            Wanted::Check(check) => check.property(&lowered.net),
            Wanted::Named { check, name, .. } => {
                Property { name: name.clone(), ..check.property(&lowered.net) }
            }
            Wanted::Formula(NamedFormula { name, class, formula, .. }) => {
                let atoms = meaning_of(name, formula.atom_names())?;
                let kind = PropertyKind::Ltl { formula: formula.ltl.clone(), atoms };
                Property { name: name.clone(), text: formula.to_string(), class, kind }
            }
            Wanted::Never(NamedAutomaton { name, text, hoa }) => {
                let atoms = meaning_of(name, hoa.as_formula().atom_names())?;
                let (automaton, stutter_invariant) = (hoa.automaton.clone(), hoa.stutter_invariant);
                let kind = PropertyKind::Never { automaton, atoms, stutter_invariant };
                Property { name: name.clone(), text: text.clone(), class: "valid-ltl", kind }
            }
        });
    }
    Ok(properties)
}

/// The cache, if there is to be one. That it cannot be used is no reason not to check.
fn open_cache(args: &CheckArgs, session: &Session, engine: &dyn Engine) -> Option<Cache> {
    let folder = args.cache.as_ref()?;
    // What the other reductions do is in the net that is searched.
    match Cache::open(folder, engine.name(), &args.reduce.of_search(args.limits.preemptions.is_some())) {
        Ok(cache) => Some(cache),
        Err(why) => {
            if !args.quiet {
                session.show(&[Diagnostic::warning("cache", why)]);
            }
            None
        }
    }
}

fn progress_display(args: &CheckArgs) -> Display {
    let is_terminal = suits_stderr(When::Auto);
    if args.quiet || !suits_stderr(args.progress) {
        Display::Hidden
    } else if is_terminal {
        Display::Line
    } else {
        Display::Lines
    }
}

fn notes(args: &CheckArgs, asked: &[String]) -> Vec<String> {
    let mut notes = asked.to_vec();
    if args.front.atomicity == Atomicity::Statement {
        let note = "each statement was taken as one step (--atomicity statement): \
                    what another thread does in the middle of a statement is not seen";
        notes.push(note.to_owned());
    }
    if args.reduce.is_none() {
        let note = match Slicing::new(args.slicing.slice, &args.reduce) {
            None => "no reduction was used (--reduce none)",
            Some(_) => "no reduction but slicing was used (--reduce none)",
        };
        notes.push(note.to_owned());
    }
    let limits = &args.limits;
    let is_alone = limits.preemptions.is_some()
        || limits.search == Some(SearchOrder::Dfs)
        || limits.store != Store::Exact;
    if limits.threads > 1 && is_alone {
        let note = "what finite runs break was searched by one thread of pdnet: \
                    --preemptions, --search dfs and --store are not for several (--threads)";
        notes.push(note.to_owned());
    }
    notes
}

fn print(args: &CheckArgs, session: &Session, report: &Report<'_>) -> Result<(), Failure> {
    let last_line = format!("{}\n", verdict_line(report));
    match args.format {
        ResultFormat::Text => {
            if !args.quiet {
                session.print(&format!("{}\n", result_text(report, session.text_options())))?;
            }
            if args.timings {
                session.print(&format!("{}\n", timings_table(report)))?;
            }
            session.print(&last_line)
        }
        ResultFormat::Json => {
            session.print(&result_json(report))?;
            if !args.quiet {
                session.tell(&last_line);
            }
            Ok(())
        }
    }
}
