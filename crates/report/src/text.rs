//! The result for people.

use std::fmt::Write as _;

use pdnet_check::{Fairness, Preempted, PropertyKind, Starved, Stats, StopReason};
use pdnet_source::ColorChoice;

use crate::advice::{advice, reason_pos};
use crate::blocked::Blocked;
use crate::layout::{count, human_bytes, wrap};
use crate::report::{Answer, Origin, ProbeAnswer, PropertyResult, Report};
use crate::run::{Run, RunEnd};
use crate::standing::Standing;
use crate::style::{Style, paint};
use crate::table::{run_table, short_place};
use crate::task::Agreement;
use crate::threads::Threads;
use crate::unreached::Unreached;

/// The width of the text where nothing else is known.
pub const DEFAULT_WIDTH: usize = 100;

/// How the text should look.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// The number of columns of the terminal.
    pub width: usize,
    /// Whether to use its colours.
    pub color: ColorChoice,
}

/// The last line, for people and for scripts, without a newline: `Verification result: TRUE`.
#[must_use]
pub fn verdict_line(report: &Report<'_>) -> String {
    format!("Verification result: {}", report.overall())
}

/// All answers with their runs, without the last line. Ends in a newline.
#[must_use]
pub fn result_text(report: &Report<'_>, options: TextOptions) -> String {
    let mut writer = Writer { report, options, out: String::new() };
    writer.head();
    for result in &report.results {
        writer.out.push('\n');
        writer.result(result);
    }
    writer.task();
    writer.unreached();
    if !report.notes.is_empty() {
        writer.out.push('\n');
        for note in &report.notes {
            writer.paragraph("", &format!("note: {note}"), Style::Plain);
        }
    }
    writer.out
}

struct Writer<'a> {
    report: &'a Report<'a>,
    options: TextOptions,
    out: String,
}

impl Writer<'_> {
    fn head(&mut self) {
        let net = self.report.net;
        let size = [
            count(net.places.len() as u64, "place"),
            count(net.transitions.len() as u64, "transition"),
            count(net.n_arcs() as u64, "arc"),
        ];
        let mut line = format!("pdnet {}: {}", self.report.version, self.report.input);
        // There is none where the time was up before.
        if !net.places.is_empty() {
            let _ = write!(line, ", a net of {}", size.join(", "));
        }
        self.paragraph("", &line, Style::Dim);
        for slice in &self.report.slices {
            let several = self.report.slices.len() > 1;
            let which = if several { format!(" for {}", slice.properties.join(", ")) } else { String::new() };
            self.paragraph("", &format!("slicing{which}: {}", slice.sentence()), Style::Dim);
        }
        for merge in &self.report.merges {
            let several = self.report.results.len() > merge.properties.len();
            let which = if several { format!(" for {}", merge.properties.join(", ")) } else { String::new() };
            self.paragraph("", &format!("agglomeration{which}: {}", merge.sentence()), Style::Dim);
        }
    }

    /// The properties of the task, each with what was expected.
    fn task(&mut self) {
        let Some(task) = self.report.task.as_ref().filter(|task| !task.questions.is_empty()) else { return };
        self.out.push('\n');
        self.paragraph("", &format!("task {}:", task.definition), Style::Bold);
        for (agreement, line) in self.report.task_lines() {
            let style = match agreement {
                Some(Agreement::Expected) => Style::Good,
                Some(Agreement::Unexpected) => Style::Bad,
                Some(Agreement::Open) => Style::Unsure,
                None => Style::Plain,
            };
            self.paragraph("  ", &line, style);
        }
    }

    /// The statements of a model that no run executes.
    fn unreached(&mut self) {
        let Some(unreached) = &self.report.unreached else { return };
        self.out.push('\n');
        self.paragraph("", "statements that no run executes", Style::Bold);
        let processes = match unreached {
            Unreached::Known(processes) => processes,
            Unreached::Unknown(reason) => {
                self.paragraph("  ", &format!("not known: {reason}"), Style::Unsure);
                return;
            }
        };
        for process in processes {
            self.paragraph("  ", &process.sentence(), Style::Plain);
            for statement in &process.statements {
                let place = statement.pos.map(|pos| format!("{}  ", short_place(self.report, pos)));
                let text = format!("{}{}", place.unwrap_or_default(), statement.text);
                self.paragraph("    ", &text, Style::Unsure);
            }
        }
    }

    /// Lines of the whole width, each behind `indent`.
    fn paragraph(&mut self, indent: &str, text: &str, style: Style) {
        for line in wrap(text, self.options.width.saturating_sub(indent.len())) {
            let _ = writeln!(self.out, "{indent}{}", paint(self.options.color, style, &line));
        }
    }

    fn result(&mut self, result: &PropertyResult<'_>) {
        let title = format!("{}: {}", result.property.name, result.property.text);
        self.paragraph("", &title, Style::Bold);
        match &result.answer {
            Answer::Holds => {
                let text = format!("holds on every run{}", assumed(result));
                self.paragraph("  ", &text, Style::Good);
            }
            Answer::Violated(_) => {
                let text =
                    format!("violated ({}), by the run below{}", result.property.class, assumed(result));
                self.paragraph("  ", &text, Style::Bad);
            }
            Answer::Unknown(reason) => {
                let text = format!("unknown: {reason}{}", assumed(result));
                self.paragraph("  ", &text, Style::Unsure);
                let place = reason_pos(reason).map(|pos| format!("at {}: ", self.report.place_name(pos)));
                let text =
                    format!("{}{}", place.unwrap_or_default(), advice(reason, self.report.legend.is_some()));
                self.paragraph("  ", &text, Style::Plain);
            }
        }
        let effort = match result.origin {
            Origin::Search => format!("{} engine: {}", result.engine, effort(&result.stats)),
            Origin::Cache => "answered from the cache: its slice has not changed".to_owned(),
        };
        self.paragraph("  ", &effort, Style::Dim);
        if let Some(preempted) = result.stats.preempted {
            self.paragraph("  ", &covered(preempted), Style::Plain);
        }
        if let Answer::Violated(replay) = &result.answer {
            let run = Run::new(self.report.net, self.report.legend, result.property, replay);
            self.run(result, &run);
        }
    }

    fn run(&mut self, result: &PropertyResult<'_>, run: &Run) {
        self.out.push('\n');
        let atoms: Vec<String> =
            run.initial_atoms.iter().map(|atom| format!("{}: {}", atom.text, atom.value)).collect();
        if !atoms.is_empty() {
            self.paragraph("  ", &format!("at the start: {}", atoms.join("; ")), Style::Logic);
        }
        if run.steps.is_empty() {
            self.paragraph("  ", "no step is needed: it is so from the start", Style::Bad);
        } else {
            let table = run_table(self.report, run, self.options.width, self.options.color);
            self.out.push_str(&table);
        }
        self.end(run);
        if !run.finals.is_empty() {
            let values: Vec<String> =
                run.finals.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let when = match run.end {
                RunEnd::Cycle(_) => "at the start of the cycle",
                _ if run.ends_before => "before the last step",
                _ => "at the end",
            };
            self.paragraph("  ", &format!("variables {when}: {}", values.join(", ")), Style::Plain);
        }
        if let Some(text) = fairness_finding(result, &run.threads) {
            self.paragraph("  ", &text, Style::Unsure);
        }
    }

    /// Why threads cannot move, a line for each.
    fn blocked(&mut self, run: &Run, blocked: &[Blocked]) {
        for blocked in blocked {
            let report = self.report;
            let place_name = |pos| short_place(report, pos);
            let at = blocked.pos.map_or_else(String::new, |pos| format!(" at {}", place_name(pos)));
            let cause = blocked.cause.describe(blocked.thread, &run.threads, &place_name);
            let text = format!("{}{at} {cause}", run.threads.describe(blocked.thread));
            self.paragraph("    ", &text, Style::Plain);
        }
    }

    /// Where the processes of a model stand when none can move.
    fn standstill(&mut self, run: &Run, processes: &[Standing]) {
        if processes.is_empty() {
            self.paragraph("  ", "all processes have ended: this state stays forever", Style::Bad);
            return;
        }
        let is_valid = processes.iter().all(Standing::is_valid);
        let head = if is_valid { "valid end state" } else { "invalid end state" };
        let text = format!("{head}: no process can move, this state stays forever");
        self.paragraph("  ", &text, Style::Bad);
        for process in processes {
            let at = process.pos.map(|pos| format!(" at {}", short_place(self.report, pos)));
            let who = run.threads.describe(process.thread);
            let text = format!("{who}{} {}", at.unwrap_or_default(), process.describe());
            self.paragraph("    ", &text, Style::Plain);
        }
    }

    /// How the run goes on, in words.
    fn end(&mut self, run: &Run) {
        match &run.end {
            RunEnd::Failure => {}
            RunEnd::Decided => {
                self.paragraph("  ", "whatever comes after, the property is broken", Style::Bad);
            }
            RunEnd::Ended => {
                self.paragraph("  ", "the process has ended: this state stays forever", Style::Bad);
            }
            RunEnd::Deadlock(blocked) => {
                self.paragraph("  ", "deadlock: no thread can move, this state stays forever", Style::Bad);
                self.blocked(run, blocked);
            }
            RunEnd::Standstill { processes, open_trace } => {
                self.standstill(run, processes);
                if *open_trace {
                    let text = "the trace of the model has not come to its end";
                    self.paragraph("  ", text, Style::Bad);
                }
            }
            RunEnd::Stuck(blocked) => {
                let text = "partial deadlock: a thread never moves again, whatever the others do";
                self.paragraph("  ", text, Style::Bad);
                self.blocked(run, blocked);
            }
            RunEnd::Race(race) => {
                let text = format!("data race on {}: nothing orders these two accesses", race.object);
                self.paragraph("  ", &text, Style::Bad);
                for access in &race.accesses {
                    let report = self.report;
                    let place_name = |pos| short_place(report, pos);
                    let text = access.describe(&race.object, &run.threads, &place_name);
                    self.paragraph("    ", &text, Style::Plain);
                }
            }
            RunEnd::Cycle(starved) => {
                for starved in starved {
                    let often = if starved.always_enabled { "all the time" } else { "again and again" };
                    let who = run.threads.describe(starved.thread);
                    let text = format!("{who} could move {often} in the cycle and never does");
                    self.paragraph("  ", &text, Style::Unsure);
                }
            }
        }
    }
}

/// Which fairness a verdict on a formula rests on.
fn assumed(result: &PropertyResult<'_>) -> &'static str {
    // A state from which no step leads is the same under every fairness.
    if result.property.class == "no-deadlock" {
        return "";
    }
    match (&result.property.kind, result.fairness) {
        (
            PropertyKind::NeverFires(_)
            | PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock,
            _,
        ) => "",
        (PropertyKind::Ltl { .. } | PropertyKind::Never { .. }, Fairness::None) => ", no fairness assumed",
        (PropertyKind::Ltl { .. } | PropertyKind::Never { .. }, Fairness::Weak) => ", weak fairness assumed",
        (PropertyKind::Ltl { .. } | PropertyKind::Never { .. }, Fairness::Strong) => {
            ", strong fairness assumed"
        }
    }
}

/// What a search for runs with few preemptions has covered.
fn covered(preempted: Preempted) -> String {
    let Preempted { run, complete } = preempted;
    let preemptions = |n: u32| count(u64::from(n), "preemption");
    match (run, complete) {
        (Some(0), _) => "the run has no preemption".to_owned(),
        (Some(run), _) if preempted.is_least() => {
            format!("the run has {}, and no run with fewer breaks it", preemptions(run))
        }
        (Some(run), _) => format!("the run has {}; not all runs with fewer were searched", preemptions(run)),
        (None, 0) => "not even all runs without preemptions were searched".to_owned(),
        (None, 1) => "all runs without preemptions were searched, and none breaks it".to_owned(),
        (None, complete) => {
            format!("all runs with at most {} were searched, and none breaks it", preemptions(complete - 1))
        }
    }
}

fn effort(stats: &Stats) -> String {
    let reduced = stats.states_reduced.filter(|&n| n > 0);
    let reduced = reduced.map_or_else(String::new, |n| format!(" ({n} reduced by stubborn sets)"));
    format!(
        "{}{reduced}, {}, {:.2} s, {}",
        count(stats.states, "state"),
        count(stats.transitions, "transition"),
        stats.seconds,
        human_bytes(stats.peak_memory_bytes)
    )
}

/// What the answers under stronger fairness say of this violation.
pub(crate) fn fairness_finding(result: &PropertyResult<'_>, threads: &Threads) -> Option<String> {
    let Answer::Violated(replay) = &result.answer else { return None };
    let last = result.probes.last()?;
    // The threads that the last unfair run leaves behind: those that the next fairness would help.
    let before_last = result.probes.iter().rev().skip(1).find_map(|probe| match &probe.answer {
        ProbeAnswer::Violated { starved } => Some(starved),
        ProbeAnswer::Holds | ProbeAnswer::Unknown(_) => None,
    });
    let starved: &[Starved] = before_last.unwrap_or(&replay.starved);
    let names: Vec<String> = starved.iter().map(|starved| threads.describe(starved.thread)).collect();
    let names = names.join(" or ");
    let fairness = last.fairness;
    Some(match &last.answer {
        ProbeAnswer::Holds => {
            format!("the property fails only by starving {names}: with --fair {fairness} it holds")
        }
        ProbeAnswer::Violated { .. } => {
            let noun = threads.noun();
            format!("starving a {noun} is not the only reason: the property fails with --fair {fairness} too")
        }
        ProbeAnswer::Unknown(reason @ StopReason::States(_)) => {
            format!(
                "whether it fails only by starving {names} is not known: a short look met the {reason}, --fair {fairness} looks further"
            )
        }
        ProbeAnswer::Unknown(reason) => {
            format!("whether it fails only by starving {names} is not known: --fair {fairness} gave {reason}")
        }
    })
}
