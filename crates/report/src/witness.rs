//! Witnesses in the YAML format of SV-COMP: the answer in a form that other tools can check.
//!
//! A violation witness is a list of segments. Each has one waypoint that the run passes, in the order of the
//! run; the last one is the target, where the property breaks. pdnet writes version 2.2, which knows threads:
//! thread 0 is `main`, thread k the one that the k-th `function_enter` waypoint at the creation of a thread
//! stands for. What is written of a run, by action:
//!
//! | step | waypoint |
//! | --- | --- |
//! | a thread is created | `function_enter` at the closing parenthesis of the call |
//! | an input is read | `function_return` with the value |
//! | a whole condition is decided | `branching` at the keyword |
//! | the first access of a statement to a shared object, and synchronization | `assumption` at the statement, with the values that it reads: that is where the order of threads shows |
//!
//! A run without end has the waypoints of its cycle marked `cycle` instead of a target. A violation by two
//! steps at once (a data race) would end in one segment with two targets: see [`Content::target`].

mod anchors;
mod yaml;

use std::collections::BTreeMap;

use pdnet_check::{PropertyKind, Replay};
use pdnet_net::{Action, Interpreter, Net, Scope, Shown};
use pdnet_source::{File, Pos};

use self::anchors::{Words, offset};
use self::yaml::Yaml;
use crate::accesses::{Access, AccessKind};
use crate::blocked::Blocked;
use crate::race::RaceAccess;
use crate::report::{Answer, PropertyResult, Report};
use crate::run::{Run, RunEnd, RunStep};
use crate::values::float_value;

/// The version of the format for violations.
const VIOLATION_VERSION: &str = "2.2";
/// The version for correctness, which every validator reads.
const CORRECTNESS_VERSION: &str = "2.0";

/// What a witness says beside the run.
#[derive(Clone, Debug)]
pub struct WitnessFrame {
    /// A universally unique identifier, RFC 4122.
    pub uuid: String,
    /// Now, ISO 8601.
    pub creation_time: String,
    /// The command line.
    pub command_line: String,
    /// The files of the program, each with its SHA-256 in hexadecimal digits.
    pub inputs: Vec<(String, String)>,
    /// The property as a property file has it.
    pub specification: String,
    /// `ILP32` or `LP64`.
    pub data_model: &'static str,
}

/// The witness of a violation; `None` where there is none.
#[must_use]
pub fn violation_witness(
    report: &Report<'_>,
    result: &PropertyResult<'_>,
    frame: &WitnessFrame,
) -> Option<String> {
    let Answer::Violated(replay) = &result.answer else { return None };
    let run = Run::new(report.net, report.legend, result.property, replay);
    let mut content = Content::new(report);
    content.run(&run);
    content.end(result, replay, &run);
    let segments = content.segments;
    let configuration = configuration(result);
    Some(document(report, frame, &configuration, ("violation_sequence", VIOLATION_VERSION), segments))
}

/// The witness of a proof. It holds no invariants: an explicit search has no short ones to give.
#[must_use]
pub fn correctness_witness(report: &Report<'_>, frame: &WitnessFrame) -> String {
    let configuration = report.results.first().map_or_else(String::new, configuration);
    document(report, frame, &configuration, ("invariant_set", CORRECTNESS_VERSION), Vec::new())
}

/// How the answer was found.
fn configuration(result: &PropertyResult<'_>) -> String {
    format!("{} engine, fairness {}", result.engine, result.fairness)
}

fn document(
    report: &Report<'_>,
    frame: &WitnessFrame,
    configuration: &str,
    (entry_type, version): (&str, &str),
    content: Vec<Yaml>,
) -> String {
    let names = frame.inputs.iter().map(|(name, _)| Yaml::text(name)).collect();
    let hashes = frame.inputs.iter().map(|(name, hash)| (name.clone(), Yaml::text(hash))).collect();
    let producer = Yaml::Map(vec![
        ("name", Yaml::text("pdnet")),
        ("version", Yaml::text(report.version)),
        ("configuration", Yaml::text(configuration)),
        ("command_line", Yaml::text(&frame.command_line)),
    ]);
    let task = Yaml::Map(vec![
        ("input_files", Yaml::List(names)),
        ("input_file_hashes", Yaml::Table(hashes)),
        ("specification", Yaml::text(&frame.specification)),
        ("data_model", Yaml::text(frame.data_model)),
        ("language", Yaml::text("C")),
    ]);
    let metadata = Yaml::Map(vec![
        ("format_version", Yaml::text(version)),
        ("uuid", Yaml::text(&frame.uuid)),
        ("creation_time", Yaml::text(&frame.creation_time)),
        ("producer", producer),
        ("task", task),
    ]);
    let entry = Yaml::Map(vec![
        ("entry_type", Yaml::text(entry_type)),
        ("metadata", metadata),
        ("content", Yaml::List(content)),
    ]);
    Yaml::List(vec![entry]).document()
}

/// A waypoint without its action.
struct Waypoint {
    kind: &'static str,
    /// The constraint and its format.
    constraint: Option<(String, Option<&'static str>)>,
    location: Location,
    thread: i64,
}

struct Location {
    file: File,
    line: u32,
    /// From 1, where it is known.
    column: Option<u32>,
    function: String,
}

/// The segments of a witness while they are made.
struct Content<'a> {
    report: &'a Report<'a>,
    words: BTreeMap<File, Words<'a>>,
    /// The thread ids of the witness by the net's threads.
    threads: BTreeMap<i64, u64>,
    n_threads: u64,
    /// For each thread the statement that it is in the middle of.
    statements: BTreeMap<i64, (File, usize)>,
    segments: Vec<Yaml>,
}

impl<'a> Content<'a> {
    fn new(report: &'a Report<'a>) -> Self {
        Self {
            report,
            words: BTreeMap::new(),
            threads: BTreeMap::from([(0, 0)]),
            n_threads: 0,
            statements: BTreeMap::new(),
            segments: Vec::new(),
        }
    }

    /// The waypoints of the run, without its end.
    fn run(&mut self, run: &Run) {
        let (prefix, cycle) = run.steps.split_at(run.n_prefix);
        // The last step of a run that fails is the target.
        let n_followed = prefix.len() - usize::from(matches!(run.end, RunEnd::Failure));
        for step in prefix.iter().take(n_followed) {
            self.step(step, "follow");
        }
        let n_before = self.segments.len();
        self.statements.clear();
        for step in cycle {
            self.step(step, "cycle");
        }
        if self.segments.len() == n_before
            && let Some((step, pos)) = cycle.iter().find_map(|step| step.pos.map(|pos| (step, pos)))
        {
            // A cycle must be seen to be one, even where nothing is decided in it.
            let waypoint = Waypoint {
                kind: "assumption",
                constraint: Some(("1".to_owned(), Some("c_expression"))),
                location: self.statement_location(pos, &step.function),
                thread: step.thread,
            };
            self.push("cycle", [waypoint]);
        }
    }

    fn step(&mut self, step: &RunStep, action: &'static str) {
        let Some(pos) = step.pos else { return };
        let statement = self.statement(pos).map(|at| (pos.file, at));
        let is_new = statement.is_some() && self.statements.get(&step.thread) != statement.as_ref();
        match statement {
            Some(statement) => self.statements.insert(step.thread, statement),
            None => self.statements.remove(&step.thread),
        };
        let waypoint = match step.action {
            Action::Create => Some(self.creation(step, pos)),
            Action::BranchTrue | Action::BranchFalse => self.branching(step, pos),
            // No function gives it, and no statement.
            Action::Fill => None,
            _ if !step.inputs.is_empty() => self.input(step, pos),
            // Back from a call, in the middle of a statement; and what stands for no statement.
            Action::Return | Action::Enter | Action::ThreadEnd => None,
            _ if is_new && is_visible(step) => Some(Waypoint {
                kind: "assumption",
                constraint: Some((self.reads(step), Some("c_expression"))),
                location: self.statement_location(pos, &step.function),
                thread: step.thread,
            }),
            _ => None,
        };
        if let Some(waypoint) = waypoint {
            self.push(action, [waypoint]);
        }
        for &thread in &step.created {
            self.n_threads += 1;
            self.threads.insert(thread, self.n_threads);
        }
    }

    /// The creation of a thread, which gives it its id.
    fn creation(&mut self, step: &RunStep, pos: Pos) -> Waypoint {
        let location = self.call_end(pos, &step.function, |name| name.ends_with("_create"));
        let location = location.unwrap_or_else(|| self.location(pos, &step.function, Some(pos.column)));
        Waypoint { kind: "function_enter", constraint: None, location, thread: step.thread }
    }

    fn input(&mut self, step: &RunStep, pos: Pos) -> Option<Waypoint> {
        let [input] = step.inputs.as_slice() else { return None };
        let value = c_value(input.shown, input.value)?;
        let location = self.call_end(pos, &step.function, |name| name.starts_with("__VERIFIER_nondet_"))?;
        let constraint = Some((format!("\\result == {value}"), Some("acsl_expression")));
        Some(Waypoint { kind: "function_return", constraint, location, thread: step.thread })
    }

    fn branching(&mut self, step: &RunStep, pos: Pos) -> Option<Waypoint> {
        let holds = step.action == Action::BranchTrue;
        let at = self.offset(pos)?;
        let branching = self.words(pos.file)?.branching(at, &step.label, holds)?;
        let location = self.location_at(pos.file, branching.at, &step.function);
        let constraint = Some((branching.value, None));
        Some(Waypoint { kind: "branching", constraint, location, thread: step.thread })
    }

    /// The values of the shared variables that a step reads, as a C expression: those that are named by a name
    /// that means the same in the step's function, with values that C has words for.
    fn reads(&self, step: &RunStep) -> String {
        let net = self.report.net;
        let reads = step.accesses.iter().filter(|access| {
            access.kind == AccessKind::Read
                && !access.internal
                && is_global(net, access.place)
                && !is_shadowed(net, &access.name, &step.function)
        });
        let fact = |read: &Access| {
            let value = c_value(net.places[read.place].shown, read.value)?;
            Some(format!("{} == {value}", read.name))
        };
        let facts: Vec<String> = reads.filter_map(fact).collect();
        if facts.is_empty() { "1".to_owned() } else { facts.join(" && ") }
    }

    /// How the run ends.
    fn end(&mut self, result: &PropertyResult<'_>, replay: &Replay, run: &Run) {
        let last = |step: &RunStep| step.pos.map(|pos| (pos, step.function.clone(), step.thread));
        let target = match &run.end {
            RunEnd::Cycle(_) => return,
            RunEnd::Deadlock(blocked) | RunEnd::Stuck(blocked) => blocked_last(run, blocked),
            RunEnd::Race(race) => {
                let place =
                    |access: &RaceAccess| access.pos.map(|pos| (pos, access.function.clone(), access.thread));
                let places: Vec<_> = race.accesses.iter().filter_map(place).collect();
                if places.len() == 2 {
                    self.target(&places);
                    return;
                }
                None
            }
            // Models have no witnesses.
            RunEnd::Failure | RunEnd::Ended | RunEnd::Standstill { .. } => None,
            RunEnd::Decided => forbidden_call(self.report.net, result, replay),
        };
        let main = || {
            let main = self.report.net.functions.iter().find(|function| function.name == "main")?;
            main.pos.map(|pos| (pos, main.name.clone(), 0))
        };
        // A property that is broken before the first step is so where the program begins.
        let target = target.or_else(|| run.steps.iter().rev().find_map(last)).or_else(main);
        if let Some((pos, function, thread)) = target {
            self.target(&[(pos, function, thread)]);
        }
    }

    /// The last segment. It has one target; of a data race, the two accesses.
    fn target(&mut self, places: &[(Pos, String, i64)]) {
        let targets: Vec<Waypoint> = places
            .iter()
            .map(|(pos, function, thread)| Waypoint {
                kind: "target",
                constraint: None,
                location: self.statement_location(*pos, function),
                thread: *thread,
            })
            .collect();
        self.push("follow", targets);
    }

    /// Adds a segment.
    fn push(&mut self, action: &'static str, waypoints: impl IntoIterator<Item = Waypoint>) {
        let waypoints = waypoints.into_iter().map(|waypoint| self.waypoint(action, waypoint)).collect();
        self.segments.push(Yaml::Map(vec![("segment", Yaml::List(waypoints))]));
    }

    fn waypoint(&self, action: &'static str, waypoint: Waypoint) -> Yaml {
        let Waypoint { kind, constraint, location, thread } = waypoint;
        let mut entries = vec![("type", Yaml::text(kind)), ("action", Yaml::text(action))];
        if let Some((value, format)) = constraint {
            let mut constraint = vec![("value", Yaml::text(value))];
            constraint.extend(format.map(|format| ("format", Yaml::text(format))));
            entries.push(("constraint", Yaml::Map(constraint)));
        }
        let pos = Pos { file: location.file, line: location.line, column: 0 };
        let mut place = vec![
            ("file_name", Yaml::text(self.report.file_name(pos))),
            ("line", Yaml::Number(location.line.into())),
        ];
        place.extend(location.column.map(|column| ("column", Yaml::Number(column.into()))));
        place.push(("function", Yaml::text(location.function)));
        entries.push(("location", Yaml::Map(place)));
        entries.push(("thread_id", Yaml::Number(self.threads.get(&thread).copied().unwrap_or(0))));
        Yaml::Map(vec![("waypoint", Yaml::Map(entries))])
    }

    fn words(&mut self, file: File) -> Option<&Words<'a>> {
        let report = self.report;
        let (_, data) = report.map.files().find(|(known, _)| *known == file)?;
        Some(self.words.entry(file).or_insert_with(|| Words::new(&data.text)))
    }

    fn offset(&self, pos: Pos) -> Option<usize> {
        let (_, data) = self.report.map.files().find(|(known, _)| *known == pos.file)?;
        offset(data, pos.line, pos.column)
    }

    fn statement(&mut self, pos: Pos) -> Option<usize> {
        let at = self.offset(pos)?;
        self.words(pos.file)?.statement(at)
    }

    fn call_end(&mut self, pos: Pos, function: &str, wanted: impl Fn(&str) -> bool) -> Option<Location> {
        let at = self.offset(pos)?;
        let end = self.words(pos.file)?.call_end(at, wanted)?;
        Some(self.location_at(pos.file, end, function))
    }

    /// The statement of a place; the place itself where no statement is found.
    fn statement_location(&mut self, pos: Pos, function: &str) -> Location {
        match self.statement(pos) {
            Some(at) => self.location_at(pos.file, at, function),
            None => self.location(pos, function, Some(pos.column)),
        }
    }

    fn location_at(&self, file: File, at: usize, function: &str) -> Location {
        let start = u32::try_from(at).unwrap_or(u32::MAX);
        let pos = self.report.map.pos(pdnet_source::Span { file, start, end: start });
        self.location(pos, function, Some(pos.column))
    }

    fn location(&self, pos: Pos, function: &str, column: Option<u32>) -> Location {
        let column = column.filter(|&column| column != 0);
        Location { file: pos.file, line: pos.line, column, function: function.to_owned() }
    }
}

/// Whether others can see the step: it touches what is shared, or waits for or wakes others.
fn is_visible(step: &RunStep) -> bool {
    use Action as A;
    let synchronizes = matches!(
        step.action,
        A::Lock
            | A::Unlock
            | A::ReadLock
            | A::ReadUnlock
            | A::Down
            | A::Up
            | A::Arrive
            | A::Leave
            | A::OnceBegin
            | A::OnceEnd
            | A::OncePass
            | A::Signal
            | A::Broadcast
            | A::Wait1
            | A::Join
    );
    synchronizes || step.accesses.iter().any(|access| access.is_shared() && !access.internal)
}

/// Whether a place is a global variable, or a member of one, that is no array.
fn is_global(net: &Net, place: pdnet_net::Place) -> bool {
    let data = &net.places[place];
    let is_scalar =
        data.cells().is_some_and(|cells| matches!(cells.scope, Scope::Global) && cells.length.is_none());
    let is_name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    is_scalar && data.function.is_none() && data.name.split('.').all(is_name)
}

/// Whether a function has a variable of its own with the name of this one.
fn is_shadowed(net: &Net, name: &str, function: &str) -> bool {
    let root = |name: &str| name.split('.').next().map(str::to_owned);
    net.places.iter().any(|place| {
        root(&place.name) == root(name)
            && place.function.is_some_and(|owner| net.functions[owner].name == function)
    })
}

/// A value as a C expression; `None` where C has no words for it. Of pointers that is all but null.
fn c_value(shown: Shown, value: i128) -> Option<String> {
    match shown {
        // Larger numbers need a type of their own in C.
        Shown::Integer => (value.unsigned_abs() <= i64::MAX.unsigned_abs().into()).then(|| value.to_string()),
        Shown::Pointer => (value == 0).then(|| "0".to_owned()),
        // A constant without a suffix is a `double`, to which the other side is converted.
        Shown::Float32 | Shown::Float64 => {
            let number = float_value(shown, value)?;
            number.is_finite().then(|| format!("{number:?}"))
        }
        Shown::Bits => None,
    }
}

/// Where the thread that closed a deadlock is blocked: of those that are, the one that moved last.
fn blocked_last(run: &Run, blocked: &[Blocked]) -> Option<(Pos, String, i64)> {
    let place = |step: &RunStep| {
        let blocked = blocked.iter().find(|blocked| blocked.thread == step.thread)?;
        blocked.pos.map(|pos| (pos, step.function.clone(), step.thread))
    };
    run.steps.iter().rev().find_map(place)
}

/// Where a formula `G ! call(f)` is broken: at the call that a thread stands before.
fn forbidden_call(net: &Net, result: &PropertyResult<'_>, replay: &Replay) -> Option<(Pos, String, i64)> {
    let PropertyKind::Ltl { atoms, .. } = &result.property.kind else { return None };
    let after = replay.prefix.last().map_or(&replay.initial, |step| &step.after);
    let is_named = |name: &str| atoms.iter().any(|atom| atom.text.starts_with(&format!("call({name}")));
    Interpreter::new(net).enabled(after).iter().find_map(|firing| {
        let data = &net.transitions[firing.transition];
        let pos = data.pos.filter(|_| data.calls.as_deref().is_some_and(is_named))?;
        Some((pos, net.functions[data.function].name.clone(), firing.thread()))
    })
}
