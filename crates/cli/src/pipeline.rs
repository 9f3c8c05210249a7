//! `pdnet check`: the way from a file to a verdict, read from top to bottom.

use pdnet_check::{AtomData, Engine, Outcome, Property, PropertyKind, StopReason, Verdict};
use pdnet_front_c::tree::Program;
use pdnet_front_c::{LowerOptions, Lowered, lower};
use pdnet_net::{Net, verify_net};
use pdnet_report::{Answer, Overall, PropertyResult, Report, result_json, result_text, verdict_line};
use pdnet_source::{Diagnostic, Severity};

use crate::args::{Atomicity, CheckArgs, FrontArgs, Reduce, ResultFormat, When};
use crate::checks::Check;
use crate::exit::{ExitStatus, Failure};
use crate::inputs::{load_program, program_name};
use crate::job::resolve_job;
use crate::progress::Display;
use crate::properties::{Properties, Wanted, resolve_properties};
use crate::session::{Session, suits_stderr};
use crate::settle::Search;
use crate::task::{report_of, unexpected};
use crate::witness::write_witnesses;

/// Checks the properties of a program and prints the answers.
pub(crate) fn check(
    args: &CheckArgs,
    session: &mut Session,
    engine: &dyn Engine,
) -> Result<ExitStatus, Failure> {
    // What was given: a program, or a task that names one.
    let job = resolve_job(&mut session.map, args).map_err(refused)?;
    // Text to tree.
    let loaded = load_program(&mut session.map, &job.program, &args.front, job.data_model);
    let loaded = loaded.map_err(refused)?;
    // What is asked of it.
    let (task, annotations) = (job.task.as_ref(), &loaded.annotations);
    let asked = resolve_properties(&mut session.map, &args.properties, task, annotations, args.reduce);
    let asked = asked.map_err(refused)?;
    // Tree to net.
    let options = lower_options(&args.front, &asked);
    let mut model = Model::new(session, &loaded.program, &asked, &options)?;
    if !args.quiet {
        session.show(&loaded.warnings);
        session.show(&model.warnings);
    }
    // Net to verdicts, all properties in one request.
    session.catch_interrupts();
    let display = progress_display(args);
    let limits = args.limits.or_default();
    let fairness = args.fair.into();
    let ask = |model: &Model, what: &str| {
        let search = Search { session, engine, net: &model.net, limits: &limits, display };
        search.ask(&model.properties, fairness, what)
    };
    let mut outcomes = ask(&model, "search")?;
    if outcomes.iter().any(needs_unset) && !options.uninitialised {
        // Some run reads memory that was never written. Only for such programs there is a net in which it has
        // arbitrary values: it is the larger one.
        let options = LowerOptions { arbitrary_memory: true, ..options };
        let other = Model::new(session, &loaded.program, &asked, &options)?;
        let found = ask(&other, "search with arbitrary memory")?;
        if outcomes.iter().zip(&found).all(|(before, after)| is_open(before) || !is_open(after)) {
            (model, outcomes) = (other, found);
        }
    }
    let (model, outcomes) = (model, outcomes);
    let search = Search { session, engine, net: &model.net, limits: &limits, display };
    // Verdicts to answers: a violation counts once it is replayed.
    let mut results = Vec::new();
    for (property, outcome) in model.properties.iter().zip(outcomes) {
        let answer = search.settle(property, fairness, outcome.verdict)?;
        let probes = match &answer {
            Answer::Violated(run) => search.probe(property, fairness, run)?,
            Answer::Holds | Answer::Unknown(_) => Vec::new(),
        };
        let (engine, stats) = (engine.name(), outcome.stats);
        results.push(PropertyResult { property, fairness, engine, stats, answer, probes });
    }
    // Answers to text.
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        input: program_name(&args.program),
        net: &model.net,
        map: &session.map,
        results,
        task: task.map(|task| report_of(task, &asked.questions)),
        reductions: crate::engine::reductions(args.reduce),
        notes: notes(args, &asked.notes),
    };
    print(args, session, &report)?;
    // Loud, also where nothing else is said: somebody is wrong.
    session.show(&unexpected(&report, &asked.questions));
    if let Some(path) = &args.witness {
        write_witnesses(path, &job, &asked, &report)?;
    }
    Ok(match report.overall() {
        Overall::True => ExitStatus::Success,
        Overall::False(_) => ExitStatus::Violated,
        Overall::Unknown(_) => ExitStatus::Unknown,
    })
}

/// The net of a program, and what is asked of it in terms of the net.
struct Model {
    net: Net,
    properties: Vec<Property>,
    warnings: Vec<Diagnostic>,
}

impl Model {
    fn new(
        session: &Session,
        program: &Program,
        asked: &Properties,
        options: &LowerOptions,
    ) -> Result<Self, Failure> {
        let lowered = lower(&session.map, program, &asked.formulas(), options).map_err(refused)?;
        verify(&lowered.net)?;
        let properties = properties_of(asked, &lowered)?;
        Ok(Self { net: lowered.net, properties, warnings: lowered.warnings })
    }
}

/// Whether an answer is missing because some run reads memory that was never written.
fn needs_unset(outcome: &Outcome) -> bool {
    matches!(&outcome.verdict, Verdict::Unknown(StopReason::Undefined { fault, .. }) if fault.needs_unset())
}

fn is_open(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::Unknown(_))
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
fn lower_options(front: &FrontArgs, asked: &Properties) -> LowerOptions {
    LowerOptions {
        overflow: asked.asks_for(Check::Overflow),
        leaks: asked.asks_for(Check::Leak),
        uninitialised: asked.asks_for(Check::Uninitialized),
        ..front.lower_options()
    }
}

/// The properties with what they mean in the net.
fn properties_of(asked: &Properties, lowered: &Lowered) -> Result<Vec<Property>, Failure> {
    let mut atoms = lowered.atoms.iter();
    let mut properties = Vec::new();
    for wanted in &asked.wanted {
        let named = match wanted {
            Wanted::Check(check) => {
                properties.push(check.property(&lowered.net));
                continue;
            }
            Wanted::Named { check, name, .. } => {
                properties.push(Property { name: name.clone(), ..check.property(&lowered.net) });
                continue;
            }
            Wanted::Formula(named) => named,
        };
        let names = named.formula.atom_names();
        let Some(exprs) = atoms.next().filter(|exprs| exprs.len() == names.len()) else {
            return Err(Failure::Bug(format!("the atoms of `{}` got lost", named.name)));
        };
        let meaning = names.into_iter().zip(exprs).map(|(text, expr)| AtomData { text, expr: expr.clone() });
        let kind = PropertyKind::Ltl { formula: named.formula.ltl.clone(), atoms: meaning.collect() };
        let text = named.formula.to_string();
        properties.push(Property { name: named.name.clone(), text, class: named.class, kind });
    }
    Ok(properties)
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
    if args.reduce == Reduce::None {
        notes.push("no reduction was used (--reduce none)".to_owned());
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
