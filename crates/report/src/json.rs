//! The result as JSON, for programs.
//!
//! # The schema `pdnet-result/1`
//!
//! One object. Fields may be added within version 1; none is removed or changes its meaning. What does not
//! apply is `null`, lists are never `null`.
//!
//! | field | content |
//! | --- | --- |
//! | `schema` | `"pdnet-result/1"` |
//! | `tool` | `name`, `version` |
//! | `input` | the file as the user named it |
//! | `net` | `places`, `transitions`, `arcs`: their numbers |
//! | `timings` | seconds: `reading` the program, `modelling` it as a net; `phases`: all parts of the way (`name`, `seconds`); `total` |
//! | `reductions` | for each reduction `name`, `before`, `after` (transitions), `seconds`; null where the search itself leaves out states; of a `slice` also `method`, the names of the `properties` that it was made for, `places` (`before`, `after`) and `cut` (for each `file`, first and last of the `lines` of each range without anything kept), and `phases` (`name`, `seconds`); of an `agglomerate` the `properties`, `places` where threads can stand (`before`, `after`), and `merged`: at how many places by each rule (`post`, `pre`) |
//! | `verdict` | of all properties together: `"true"`, `"false"`, `"unknown"` |
//! | `results` | one object for each property, in the order asked for |
//! | `task` | where the properties come from a task definition: `definition`, `properties`; else `null` |
//! | `unreached` | with `--unreached`: `reason` (a text where not all runs are known, else `null`) and `processes`: for each `name`, `statements` (their number) and `never`: those that no run executes, with `text`, `file`, `line`, `column`. Left out otherwise |
//! | `notes` | texts that the user should know |
//!
//! A property of a task: `name`, `verdict`, `expected` (`"true"`, `"false"` or `null`), `subproperty`, `agreement`
//! (`"expected"`, `"unexpected"`, `"open"` where there is no answer, `null` where none is expected), `reason` (a text,
//! where the verdict is unknown).
//!
//! A result:
//!
//! | field | content |
//! | --- | --- |
//! | `name` | the property's name: `assert`, `deadlock`, the name of a formula |
//! | `class` | the word for the verdict line: `unreach-call`, `valid-ltl` |
//! | `formula` | the formula in one spelling; of a built-in check, what it says |
//! | `fairness` | `"none"`, `"weak"`, `"strong"`; `null` for what is no formula |
//! | `verdict` | `"true"`, `"false"`, `"unknown"` |
//! | `reason` | of an unknown verdict: `text`, `advice`, `file`, `line`, `column` |
//! | `engine` | the engine's name |
//! | `cached` | whether the answer is that of an earlier run on the same slice; `stats` are then those of that run |
//! | `stats` | `states`, `transitions`, `seconds`, `peak_memory_bytes`; `memory`: what it was used for at the end; `preemptions` of a search for runs with few of them: those of the `run`, whether it has the `least`, and up to how many all runs were `searched` |
//! | `fair` | answers under stronger fairness, where the run starves a thread: `fairness`, `verdict`, `reason` |
//! | `trace` | of a false verdict, a run that was replayed on the net |
//!
//! A trace:
//!
//! | field | content |
//! | --- | --- |
//! | `threads` | `thread` (a number), `function` (the one it was started with) |
//! | `atoms` | the atoms of the formula before the first step: `text`, `value` |
//! | `prefix` | steps |
//! | `cycle` | steps that repeat forever after the prefix; empty unless `end` is `"cycle"` |
//! | `end` | `"cycle"`; `"stutter"`: the last state stays forever; `"any"`: the prefix alone breaks the property |
//! | `outcome` | `"failure"`, `"cycle"`, `"ended"`, `"deadlock"`, `"partial-deadlock"`, `"race"`, `"decided"` |
//! | `blocked` | in a deadlock, for each thread that cannot move: `thread`, `file`, `line`, `column`, `text`; of a Promela model, for each process when none can move |
//! | `race` | of a data race: `object`, and two `accesses` with `thread`, `function`, `file`, `line`, `column`, `access` (`"read"` or `"write"`), `atomic`, `label` |
//! | `starved` | threads that the cycle leaves behind: `thread`, `always_enabled` |
//! | `variables` | global variables after the last step: `name`, `value` (a text) |
//!
//! A step: `thread`, `function`, `file`, `line`, `column` (`null` where only the line is known), `action` (the
//! name of the net's action), `label` (the statement), `text` (phrases), `values` (`name`, `value`, `access`: `"read"` or
//! `"write"`, `shared`), `atoms` (those that the step changes: `text` and the new `value`). Of a Promela model also
//! `statement` (what is executed), `message` (`kind`: `"send"`, `"receive"`, `"peek"` or `"rendezvous"`, `channel`,
//! `fields`) and, of a rendezvous, `partner` (the receiving `thread`, its `statement`, `text`); these three are left
//! out where they do not apply.

use pdnet_check::{MemoryUse, Preempted, StopReason, TraceEnd};
use pdnet_source::Pos;
use serde::Serialize;

use crate::accesses::AccessKind;
use crate::advice::{advice, reason_pos};
use crate::blocked::Blocked;
use crate::merging::MergeSummary;
use crate::race::RaceData;
use crate::report::{Answer, Origin, Overall, ProbeAnswer, PropertyResult, Report};
use crate::run::{AtomValue, Run, RunEnd, RunStep};
use crate::slice_json::ChangeObject;
use crate::slicing::SliceSummary;
use crate::standing::Standing;
use crate::task::{Agreement, Question};
use crate::timings::{Timings, phases};
use crate::unreached::Unreached;

/// The name and version of the schema.
pub const RESULT_SCHEMA: &str = "pdnet-result/1";

/// The result as one JSON object, indented, ending in a newline.
#[must_use]
pub fn result_json(report: &Report<'_>) -> String {
    let results = report.results.iter().map(|result| result_of(report, result)).collect();
    let object = Object {
        schema: RESULT_SCHEMA,
        tool: Tool { name: "pdnet", version: report.version },
        input: &report.input,
        net: Size {
            places: report.net.places.len(),
            transitions: report.net.transitions.len(),
            arcs: report.net.n_arcs(),
        },
        timings: timings_of(report),
        reductions: reductions_of(report),
        verdict: report.overall().name(),
        results,
        task: task_of(report),
        unreached: report.unreached.as_ref().map(|unreached| unreached_of(report, unreached)),
        notes: &report.notes,
    };
    to_json(&object)
}

fn task_of<'a>(report: &'a Report<'_>) -> Option<TaskObject<'a>> {
    let task = report.task.as_ref()?;
    let property = |question: &'a Question| {
        let answer = report.answer_to(question);
        let expected = question.expected.as_ref();
        TaskPropertyObject {
            name: &question.name,
            verdict: answer.name(),
            reason: if let Overall::Unknown(reason) = answer { Some(reason.to_string()) } else { None },
            expected: expected.map(|expected| if expected.holds { "true" } else { "false" }),
            subproperty: expected.and_then(|expected| expected.subproperty.as_deref()),
            agreement: report.agreement(question).map(Agreement::name),
        }
    };
    Some(TaskObject {
        definition: &task.definition,
        properties: task.questions.iter().map(property).collect(),
    })
}

/// Serialisation of our own types cannot fail: keys are strings, numbers are finite or become `null`.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("only strings as keys");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Object<'a> {
    schema: &'static str,
    tool: Tool<'a>,
    input: &'a str,
    net: Size,
    timings: TimingsObject,
    reductions: Vec<Reduction<'a>>,
    verdict: &'static str,
    results: Vec<ResultObject<'a>>,
    task: Option<TaskObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreached: Option<UnreachedObject>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct UnreachedObject {
    reason: Option<String>,
    processes: Vec<UnreachedProcessObject>,
}

#[derive(Serialize)]
struct UnreachedProcessObject {
    name: String,
    statements: usize,
    never: Vec<UnreachedStatementObject>,
}

#[derive(Serialize)]
struct UnreachedStatementObject {
    text: String,
    #[serde(flatten)]
    place: PlaceObject,
}

fn unreached_of(report: &Report<'_>, unreached: &Unreached) -> UnreachedObject {
    let processes = match unreached {
        Unreached::Known(processes) => processes,
        Unreached::Unknown(reason) => {
            return UnreachedObject { reason: Some(reason.to_string()), processes: Vec::new() };
        }
    };
    let processes = processes.iter().map(|process| UnreachedProcessObject {
        name: process.name.trim_matches(':').to_owned(),
        statements: process.n_statements,
        never: process
            .statements
            .iter()
            .map(|statement| UnreachedStatementObject {
                text: statement.text.clone(),
                place: place_of(report, statement.pos),
            })
            .collect(),
    });
    UnreachedObject { reason: None, processes: processes.collect() }
}

fn timings_of(report: &Report<'_>) -> TimingsObject {
    let Timings { reading, modelling, total, .. } = report.timings;
    let phases = phases(report).into_iter().map(|(name, seconds)| PhaseObject { name, seconds });
    TimingsObject { reading, modelling, phases: phases.collect(), total }
}

#[derive(Serialize)]
struct TimingsObject {
    reading: f64,
    modelling: f64,
    phases: Vec<PhaseObject>,
    total: f64,
}

#[derive(Serialize, Default)]
struct Reduction<'a> {
    name: &'static str,
    before: Option<usize>,
    after: Option<usize>,
    seconds: Option<f64>,
    method: Option<&'static str>,
    properties: &'a [String],
    places: Option<ChangeObject>,
    cut: Vec<CutObject<'a>>,
    phases: Vec<PhaseObject>,
    merged: Option<MergedObject>,
}

#[derive(Serialize)]
struct MergedObject {
    post: usize,
    pre: usize,
}

#[derive(Serialize)]
struct PhaseObject {
    name: &'static str,
    seconds: f64,
}

#[derive(Serialize)]
struct CutObject<'a> {
    file: &'a str,
    lines: &'a [(u32, u32)],
}

/// The slices, which are smaller nets, and what the searches could do by themselves.
fn reductions_of<'a>(report: &'a Report<'_>) -> Vec<Reduction<'a>> {
    let slice = |summary: &'a SliceSummary| Reduction {
        name: "slice",
        before: Some(summary.transitions.before),
        after: Some(summary.transitions.after),
        seconds: Some(summary.seconds),
        method: Some(summary.method),
        properties: &summary.properties,
        places: Some(summary.places.into()),
        cut: summary.cut.iter().map(|cut| CutObject { file: &cut.file, lines: &cut.ranges }).collect(),
        phases: summary.phases.iter().map(|&(name, seconds)| PhaseObject { name, seconds }).collect(),
        merged: None,
    };
    let merge = |summary: &'a MergeSummary| Reduction {
        name: "agglomerate",
        before: Some(summary.transitions.before),
        after: Some(summary.transitions.after),
        seconds: Some(summary.seconds),
        properties: &summary.properties,
        places: Some(summary.places.into()),
        merged: Some(MergedObject { post: summary.post, pre: summary.pre }),
        ..Reduction::default()
    };
    let named = report.reductions.iter().map(|&name| Reduction { name, ..Reduction::default() });
    report.slices.iter().map(slice).chain(report.merges.iter().map(merge)).chain(named).collect()
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'static str,
    version: &'a str,
}

#[derive(Serialize)]
struct TaskObject<'a> {
    definition: &'a str,
    properties: Vec<TaskPropertyObject<'a>>,
}

#[derive(Serialize)]
struct TaskPropertyObject<'a> {
    name: &'a str,
    verdict: &'static str,
    reason: Option<String>,
    expected: Option<&'static str>,
    subproperty: Option<&'a str>,
    agreement: Option<&'static str>,
}

#[derive(Serialize)]
struct Size {
    places: usize,
    transitions: usize,
    arcs: usize,
}

#[derive(Serialize)]
struct ResultObject<'a> {
    name: &'a str,
    class: &'static str,
    formula: &'a str,
    fairness: Option<String>,
    verdict: &'static str,
    reason: Option<Reason>,
    engine: &'a str,
    cached: bool,
    stats: StatsObject,
    fair: Vec<Fair>,
    trace: Option<Trace>,
}

#[derive(Serialize)]
struct StatsObject {
    states: u64,
    /// Those in which nobody is in an atomic sequence, where they were counted: what SPIN calls states.
    #[serde(skip_serializing_if = "Option::is_none")]
    states_outside_atomic: Option<u64>,
    /// Those from which only the steps of some threads were followed, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    states_reduced: Option<u64>,
    /// The steps after which values were forgotten, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps_forgotten: Option<u64>,
    /// The steps after which threads were given each other's numbers, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps_exchanged: Option<u64>,
    transitions: u64,
    seconds: f64,
    peak_memory_bytes: u64,
    memory: MemoryObject,
    /// What a search for runs with few preemptions can say.
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptions: Option<PreemptionsObject>,
}

/// Where the memory was when the search ended, in bytes.
#[derive(Serialize)]
struct MemoryObject {
    states: u64,
    index: u64,
    parts: u64,
    way_back: u64,
    remembered: u64,
    edges: u64,
    nodes: u64,
    waiting: u64,
}

#[derive(Serialize)]
struct PreemptionsObject {
    run: Option<u32>,
    least: bool,
    searched: Option<u32>,
}

fn memory_object(memory: MemoryUse) -> MemoryObject {
    let MemoryUse { states, index, parts, way_back, remembered, edges, nodes, waiting } = memory;
    MemoryObject { states, index, parts, way_back, remembered, edges, nodes, waiting }
}

fn preemptions_object(preempted: Preempted) -> PreemptionsObject {
    let Preempted { run, complete } = preempted;
    PreemptionsObject { run, least: preempted.is_least(), searched: complete.checked_sub(1) }
}

#[derive(Serialize)]
struct Reason {
    text: String,
    advice: String,
    #[serde(flatten)]
    place: PlaceObject,
}

/// Where something is in the source.
#[derive(Serialize)]
pub(crate) struct PlaceObject {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

impl PlaceObject {
    pub(crate) fn new(pos: Option<Pos>, name: impl FnOnce(Pos) -> String) -> Self {
        Self {
            file: pos.map(name),
            line: pos.map(|pos| pos.line),
            column: pos.map(|pos| pos.column).filter(|&column| column != 0),
        }
    }
}

#[derive(Serialize)]
struct Fair {
    fairness: String,
    verdict: &'static str,
    reason: Option<String>,
}

#[derive(Serialize)]
struct Trace {
    threads: Vec<ThreadObject>,
    atoms: Vec<AtomObject>,
    prefix: Vec<StepObject>,
    cycle: Vec<StepObject>,
    end: &'static str,
    outcome: &'static str,
    blocked: Vec<BlockedObject>,
    race: Option<RaceObject>,
    starved: Vec<StarvedObject>,
    variables: Vec<VariableObject>,
}

#[derive(Serialize)]
struct ThreadObject {
    thread: i64,
    function: String,
}

#[derive(Serialize)]
struct AtomObject {
    text: String,
    value: bool,
}

#[derive(Serialize)]
struct StepObject {
    thread: i64,
    function: String,
    #[serde(flatten)]
    place: PlaceObject,
    action: &'static str,
    label: String,
    text: Vec<String>,
    values: Vec<ValueObject>,
    atoms: Vec<AtomObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statement: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<MessageObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partner: Option<PartnerObject>,
}

#[derive(Serialize)]
struct MessageObject {
    kind: &'static str,
    channel: String,
    fields: Vec<String>,
}

#[derive(Serialize)]
struct PartnerObject {
    thread: i64,
    statement: String,
    text: Vec<String>,
}

#[derive(Serialize)]
struct ValueObject {
    name: String,
    value: serde_json::Number,
    /// The value for people, where it is more than the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    access: &'static str,
    shared: bool,
}

#[derive(Serialize)]
struct BlockedObject {
    thread: i64,
    #[serde(flatten)]
    place: PlaceObject,
    text: String,
}

#[derive(Serialize)]
struct RaceObject {
    object: String,
    accesses: Vec<RaceAccessObject>,
}

#[derive(Serialize)]
struct RaceAccessObject {
    thread: i64,
    function: String,
    #[serde(flatten)]
    place: PlaceObject,
    access: &'static str,
    atomic: bool,
    label: String,
}

#[derive(Serialize)]
struct StarvedObject {
    thread: i64,
    always_enabled: bool,
}

#[derive(Serialize)]
struct VariableObject {
    name: String,
    value: String,
}

fn result_of<'a>(report: &'a Report<'_>, result: &'a PropertyResult<'_>) -> ResultObject<'a> {
    let (verdict, reason, trace) = match &result.answer {
        Answer::Holds => ("true", None, None),
        Answer::Violated(replay) => {
            let run = Run::new(report.net, report.legend, result.property, replay);
            ("false", None, Some(trace_of(report, &run, &replay.end)))
        }
        Answer::Unknown(reason) => ("unknown", Some(reason_of(report, reason)), None),
    };
    let fair = result.probes.iter().map(|probe| {
        let (verdict, reason) = match &probe.answer {
            ProbeAnswer::Holds => ("true", None),
            ProbeAnswer::Violated { .. } => ("false", None),
            ProbeAnswer::Unknown(reason) => ("unknown", Some(reason.to_string())),
        };
        Fair { fairness: probe.fairness.to_string(), verdict, reason }
    });
    ResultObject {
        name: &result.property.name,
        class: result.property.class,
        formula: &result.property.text,
        fairness: result.property.is_about_runs().then(|| result.fairness.to_string()),
        verdict,
        reason,
        engine: result.engine,
        cached: result.origin == Origin::Cache,
        stats: StatsObject {
            states: result.stats.states,
            states_reduced: result.stats.states_reduced.filter(|&n| n != 0),
            steps_forgotten: result.stats.steps_forgotten.filter(|&n| n != 0),
            steps_exchanged: result.stats.steps_exchanged.filter(|&n| n != 0),
            states_outside_atomic: result.stats.states_outside.filter(|&n| n != result.stats.states),
            transitions: result.stats.transitions,
            seconds: result.stats.seconds,
            peak_memory_bytes: result.stats.peak_memory_bytes,
            memory: memory_object(result.stats.memory),
            preemptions: result.stats.preempted.map(preemptions_object),
        },
        fair: fair.collect(),
        trace,
    }
}

fn place_of(report: &Report<'_>, pos: Option<Pos>) -> PlaceObject {
    PlaceObject::new(pos, |pos| report.file_name(pos).to_owned())
}

fn reason_of(report: &Report<'_>, reason: &StopReason) -> Reason {
    let advice = advice(reason, report.legend.is_some());
    Reason { text: reason.to_string(), advice, place: place_of(report, reason_pos(reason)) }
}

fn trace_of(report: &Report<'_>, run: &Run, end: &TraceEnd) -> Trace {
    let (prefix, cycle) = run.steps.split_at(run.n_prefix);
    let steps = |steps: &[RunStep]| steps.iter().map(|step| step_of(report, step)).collect();
    let place_name = |pos| report.place_name(pos);
    let blocked_of = |blocked: &Blocked| BlockedObject {
        thread: blocked.thread,
        place: place_of(report, blocked.pos),
        text: blocked.cause.describe(blocked.thread, &run.threads, &place_name),
    };
    let mut blocked = Vec::new();
    let mut race = None;
    let mut starved = Vec::new();
    let outcome = match &run.end {
        RunEnd::Failure => "failure",
        RunEnd::Ended => "ended",
        RunEnd::Decided => "decided",
        RunEnd::Cycle(threads) => {
            starved.extend(threads.iter().map(|starved| StarvedObject {
                thread: starved.thread,
                always_enabled: starved.always_enabled,
            }));
            "cycle"
        }
        RunEnd::Deadlock(threads) => {
            blocked.extend(threads.iter().map(&blocked_of));
            "deadlock"
        }
        RunEnd::Standstill { processes, open_trace } => {
            blocked.extend(processes.iter().map(|process| BlockedObject {
                thread: process.thread,
                place: place_of(report, process.pos),
                text: process.describe(),
            }));
            if processes.iter().all(Standing::is_valid) && !open_trace { "ended" } else { "deadlock" }
        }
        RunEnd::Stuck(threads) => {
            blocked.extend(threads.iter().map(&blocked_of));
            "partial-deadlock"
        }
        RunEnd::Race(data) => {
            race = Some(race_of(report, data));
            "race"
        }
    };
    let threads = run.threads.iter();
    let variables = run.finals.iter();
    Trace {
        threads: threads
            .map(|(thread, function)| ThreadObject { thread, function: function.to_owned() })
            .collect(),
        atoms: atoms_of(&run.initial_atoms),
        prefix: steps(prefix),
        cycle: steps(cycle),
        end: match end {
            TraceEnd::Cycle(_) => "cycle",
            TraceEnd::Stutter => "stutter",
            TraceEnd::Any | TraceEnd::Race(_) | TraceEnd::Stuck(_) => "any",
        },
        outcome,
        blocked,
        race,
        starved,
        variables: variables
            .map(|(name, value)| VariableObject { name: name.clone(), value: value.clone() })
            .collect(),
    }
}

fn race_of(report: &Report<'_>, race: &RaceData) -> RaceObject {
    let accesses = race.accesses.iter().map(|access| RaceAccessObject {
        thread: access.thread,
        function: access.function.clone(),
        place: place_of(report, access.pos),
        access: access_name(access.kind),
        atomic: access.is_atomic,
        label: access.label.clone(),
    });
    RaceObject { object: race.object.clone(), accesses: accesses.collect() }
}

const fn access_name(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
    }
}

fn atoms_of(atoms: &[AtomValue]) -> Vec<AtomObject> {
    atoms.iter().map(|atom| AtomObject { text: atom.text.clone(), value: atom.value }).collect()
}

fn step_of(report: &Report<'_>, step: &RunStep) -> StepObject {
    let visible = step.accesses.iter().filter(|access| !access.internal);
    let values = visible.map(|access| ValueObject {
        name: access.name.clone(),
        value: number(access.value),
        text: Some(access.text.clone()).filter(|text| *text != access.value.to_string()),
        access: access_name(access.kind),
        shared: access.is_shared(),
    });
    StepObject {
        thread: step.thread,
        function: step.function.clone(),
        place: place_of(report, step.pos),
        action: step.action.name(),
        label: step.label.clone(),
        text: step.phrases.iter().map(|phrase| phrase.text.clone()).collect(),
        values: values.collect(),
        atoms: atoms_of(&step.atoms),
        statement: step.statement.clone(),
        message: step.message.as_ref().map(|message| MessageObject {
            kind: message.kind,
            channel: message.channel.clone(),
            fields: message.fields.clone(),
        }),
        partner: step.partner.as_ref().map(|partner| PartnerObject {
            thread: partner.thread,
            statement: partner.statement.clone(),
            text: partner.phrases.iter().map(|phrase| phrase.text.clone()).collect(),
        }),
    }
}

/// A value of a type of at most 64 bits.
fn number(value: i128) -> serde_json::Number {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(signed), _) => signed.into(),
        (Err(_), Ok(unsigned)) => unsigned.into(),
        (Err(_), Err(_)) => 0.into(),
    }
}
