//! A run with all that is said of it, whatever the output format.

use pdnet_check::{Property, PropertyKind, Replay, Starved, Step, TraceEnd};
use pdnet_net::legend::Legend;
use pdnet_net::{Action, Interpreter, Marking, Net};
use pdnet_source::Pos;

use crate::accesses::{Access, accesses};
use crate::blocked::{Blocked, blocked_threads, mutex_of};
use crate::model::{Narrator, Partner, ToldMessage};
use crate::race::RaceData;
use crate::standing::{Standing, standings};
use crate::threads::{Threads, created};
use crate::values::final_values;
use crate::words::{Input, Phrase, Weight, inputs, phrases};

/// A run that breaks a property.
#[derive(Debug)]
pub(crate) struct Run {
    /// Its threads.
    pub(crate) threads: Threads,
    /// The atoms that hold before the first step, each with its value.
    pub(crate) initial_atoms: Vec<AtomValue>,
    /// All steps: those of the prefix, then those of the cycle.
    pub(crate) steps: Vec<RunStep>,
    /// How many of them come before the cycle.
    pub(crate) n_prefix: usize,
    /// How it goes on.
    pub(crate) end: RunEnd,
    /// The global variables after the last step of the prefix that matters, in the order of the net.
    pub(crate) finals: Vec<(String, String)>,
    /// They are those before the last step: it breaks a rule by what it is about to do.
    pub(crate) ends_before: bool,
}

/// One step.
#[derive(Debug)]
pub(crate) struct RunStep {
    /// The thread that moves.
    pub(crate) thread: i64,
    /// The function that the step belongs to.
    pub(crate) function: String,
    /// Where it comes from.
    pub(crate) pos: Option<Pos>,
    /// The action.
    pub(crate) action: Action,
    /// The statement, as the net names it.
    pub(crate) label: String,
    /// The cells that it touches, mutexes aside.
    pub(crate) accesses: Vec<Access>,
    /// The values of the inputs that it takes.
    pub(crate) inputs: Vec<Input>,
    /// The threads that it creates.
    pub(crate) created: Vec<i64>,
    /// The step in words.
    pub(crate) phrases: Vec<Phrase>,
    /// The atoms whose value it changes, with the new value.
    pub(crate) atoms: Vec<AtomValue>,
    /// The statement, where the source line is no good: of a model, a line can have many.
    pub(crate) statement: Option<String>,
    /// The second process that moves, of a model.
    pub(crate) partner: Option<Partner>,
    /// The message that is sent or received, of a model.
    pub(crate) message: Option<ToldMessage>,
}

/// The value of an atom of the property.
#[derive(Clone, Debug)]
pub(crate) struct AtomValue {
    /// The atom.
    pub(crate) text: String,
    /// Whether it holds.
    pub(crate) value: bool,
}

/// How a run goes on after its last step.
#[derive(Debug)]
pub(crate) enum RunEnd {
    /// The last step is what must not happen.
    Failure,
    /// The steps of the cycle repeat forever; these threads are left behind.
    Cycle(Vec<Starved>),
    /// The process has ended.
    Ended,
    /// No thread can move.
    Deadlock(Vec<Blocked>),
    /// No process of a model can move.
    Standstill {
        /// Where each stands.
        processes: Vec<Standing>,
        /// Whether the trace of the model has not come to its end.
        open_trace: bool,
    },
    /// Two threads race.
    Race(Box<RaceData>),
    /// This thread never moves again, although others do. (A list of one.)
    Stuck(Vec<Blocked>),
    /// Whatever comes after, the property is broken.
    Decided,
}

impl Run {
    /// Looks at a replayed run from all sides.
    ///
    /// A legend is there for models.
    pub(crate) fn new(net: &Net, legend: Option<&Legend>, property: &Property, replay: &Replay) -> Self {
        let narrator = legend.map(|legend| Narrator { net, legend });
        let threads = Threads::of_run(net, replay, narrator.is_some());
        let all: Vec<Step> = replay.prefix.iter().chain(&replay.cycle).cloned().collect();
        let mut steps = Vec::new();
        let mut before = (&replay.initial, replay.initial_letter);
        for step in &all {
            let mut told = run_step(net, property, &threads, before, step);
            if let Some(narrator) = narrator {
                retell(&mut told, narrator, &threads, before.0, step);
            }
            steps.push(told);
            before = (&step.after, step.letter);
        }
        let last = before.0;
        let is_standstill = || Interpreter::new(net).enabled(last).is_empty();
        let end = match (&replay.end, &property.kind) {
            (TraceEnd::Any, PropertyKind::Ltl { .. } | PropertyKind::Never { .. })
                if let Some(narrator) = narrator
                    && is_standstill() =>
            {
                standstill(narrator, last)
            }
            (TraceEnd::Stutter, _) if let Some(narrator) = narrator => standstill(narrator, last),
            (TraceEnd::Cycle(_), _) => RunEnd::Cycle(replay.starved.clone()),
            (TraceEnd::Race(race), _) => RunEnd::Race(Box::new(RaceData::new(net, &threads, last, race))),
            (TraceEnd::Stuck(thread), _) => RunEnd::Stuck(stuck_thread(net, last, &all, *thread)),
            (TraceEnd::Any, PropertyKind::NeverFires(_)) => RunEnd::Failure,
            (TraceEnd::Any, PropertyKind::Ltl { .. } | PropertyKind::Never { .. }) => RunEnd::Decided,
            (TraceEnd::Any | TraceEnd::Stutter, _) => {
                if Interpreter::new(net).ended(last) {
                    RunEnd::Ended
                } else {
                    RunEnd::Deadlock(blocked_threads(net, last, &all))
                }
            }
        };
        if let (RunEnd::Failure, Some(step)) = (&end, steps.last_mut()) {
            mark_failure(step);
        }
        let ends_before =
            matches!(end, RunEnd::Failure) && steps.last().is_some_and(|step| step.message.is_some());
        Self {
            initial_atoms: atom_values(property, 0, replay.initial_letter, true),
            finals: narrator.map_or_else(|| final_values(net, last), |narrator| narrator.finals(last)),
            n_prefix: replay.prefix.len(),
            ends_before,
            threads,
            steps,
            end,
        }
    }

    /// The threads that get a column: those that move, and those that are blocked at the end.
    pub(crate) fn shown_threads(&self) -> Vec<i64> {
        let is_blocked = |thread: i64| match &self.end {
            RunEnd::Deadlock(blocked) | RunEnd::Stuck(blocked) => {
                blocked.iter().any(|blocked| blocked.thread == thread)
            }
            RunEnd::Standstill { processes, .. } => {
                processes.iter().any(|standing| standing.thread == thread && !standing.is_valid())
            }
            RunEnd::Cycle(starved) => starved.iter().any(|starved| starved.thread == thread),
            RunEnd::Race(race) => race.accesses.iter().any(|access| access.thread == thread),
            RunEnd::Failure | RunEnd::Ended | RunEnd::Decided => false,
        };
        let moves = |thread: i64| {
            let is_partner = |step: &RunStep| step.partner.as_ref().is_some_and(|it| it.thread == thread);
            self.steps.iter().any(|step| step.thread == thread || is_partner(step))
        };
        let threads = self.threads.iter().map(|(thread, _)| thread);
        threads.filter(|&thread| moves(thread) || is_blocked(thread)).collect()
    }
}

impl RunStep {
    /// Whether the step shows nothing that a reader of the program would miss.
    pub(crate) fn is_silent(&self) -> bool {
        self.phrases.is_empty() && self.atoms.is_empty() && self.statement.is_none()
    }
}

fn run_step(
    net: &Net,
    property: &Property,
    threads: &Threads,
    before: (&Marking, u64),
    step: &Step,
) -> RunStep {
    let data = &net.transitions[step.firing.transition];
    let mut accesses = accesses(net, &step.firing);
    if let Some((mutex, _)) = mutex_of(net, step.firing.transition, &step.firing.binding) {
        // How the net encodes a mutex is of no interest; that it is taken, the words say.
        accesses.retain(|access| access.place != mutex);
    }
    RunStep {
        thread: step.firing.thread(),
        function: net.functions[data.function].name.clone(),
        pos: data.pos,
        action: data.action,
        label: data.label.clone(),
        inputs: inputs(net, &step.firing).collect(),
        created: created(net, &step.firing).into_iter().map(|(thread, _)| thread).collect(),
        phrases: phrases(net, threads, before.0, &step.firing, &accesses),
        accesses,
        atoms: atom_values(property, before.1, step.letter, false),
        statement: None,
        partner: None,
        message: None,
    }
}

fn standstill(narrator: Narrator<'_>, last: &Marking) -> RunEnd {
    let open_trace = narrator.has_open_trace(last);
    RunEnd::Standstill { processes: standings(narrator, last), open_trace }
}

/// Tells a step in the words of its model.
fn retell(told: &mut RunStep, narrator: Narrator<'_>, threads: &Threads, before: &Marking, step: &Step) {
    let words = narrator.tell(threads, before, &step.firing);
    told.statement = Some(words.statement);
    told.phrases = words.phrases;
    told.accesses = words.accesses;
    told.partner = words.partner;
    told.message = words.message;
}

/// Why a thread that never moves again cannot move.
fn stuck_thread(net: &Net, last: &Marking, steps: &[Step], thread: i64) -> Vec<Blocked> {
    let mut blocked = blocked_threads(net, last, steps);
    blocked.retain(|blocked| blocked.thread == thread);
    blocked
}

/// The atoms that differ between two letters, or all of them, with their value in the second.
fn atom_values(property: &Property, before: u64, after: u64, all: bool) -> Vec<AtomValue> {
    let numbered = property.atoms().iter().enumerate();
    // Those without a text are pdnet's own.
    let named = numbered.filter(|(_, atom)| !atom.text.is_empty());
    let changed = named.filter(|(bit, _)| all || (before ^ after) >> bit & 1 == 1);
    changed.map(|(bit, atom)| AtomValue { text: atom.text.clone(), value: after >> bit & 1 == 1 }).collect()
}

/// Makes the step that must not happen stand out, also where its action is an ordinary one (the call of an
/// error function that has a body).
fn mark_failure(step: &mut RunStep) {
    if step.phrases.iter().any(|phrase| phrase.weight == Weight::Failure) {
        return;
    }
    match step.phrases.first_mut() {
        Some(phrase) => phrase.weight = Weight::Failure,
        None => step.phrases.push(Phrase { text: step.label.clone(), weight: Weight::Failure }),
    }
}
