//! The replay of a violation on the reference interpreter.
//!
//! An engine's word is not enough: a run is shown only after every one of its steps was found enabled by
//! the interpreter, and after the run as a whole was found to break the property, by the meaning of the
//! formula rather than by an automaton that was made of it. Where the property itself is an automaton, its meaning is
//! whether it accepts the word of the run. That a thread never moves again is a statement about all continuations:
//! see `stuck.rs`.

use std::collections::BTreeSet;
use std::fmt;

use pdnet_net::{Expr, Fired, Firing, Interpreter, Marking, Net, Successor, Transition, idle_cells};

use crate::stuck::may_be_stuck;
use crate::{AtomData, Fairness, Property, PropertyKind, Trace, TraceEnd};

/// One step of a replayed run.
#[derive(Clone, Debug)]
pub struct Step {
    /// What fired.
    pub firing: Firing,
    /// The marking after it. Where the step has no successor, which only the last step of a run that breaks
    /// [`PropertyKind::NeverFires`] may be, that before it.
    pub after: Marking,
    /// The values of the property's atoms after it, by number; of an inner step, those before the firing.
    pub letter: u64,
    /// The firing goes on: this is a step of an indivisible sequence, and not its last one. No property looks at
    /// the marking after it.
    pub is_inner: bool,
}

/// So many inner steps of a firing are shown, beside its last one.
const MAX_INNER: usize = 1000;

/// A run that was found to be one, and to break the property.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The initial marking.
    pub initial: Marking,
    /// The values of the atoms in the initial marking.
    pub initial_letter: u64,
    /// The steps before the cycle, or all of them.
    pub prefix: Vec<Step>,
    /// The steps of the cycle; empty where the run ends or its rest does not matter.
    pub cycle: Vec<Step>,
    /// How the run goes on.
    pub end: TraceEnd,
    /// Threads that could move at every point of the cycle (weakly) or at some point of it (strongly),
    /// and never do. Empty where the run ends.
    pub starved: Vec<Starved>,
}

/// A thread that a run leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starved {
    /// The thread.
    pub thread: i64,
    /// It could move all the time, not only now and then.
    pub always_enabled: bool,
}

/// Why a run is not shown. Always a bug of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// A step is not enabled.
    NotEnabled {
        /// Its position in the run.
        step: usize,
    },
    /// A step has no successor, and is not the last one of a run that must not fire it.
    Pruned {
        /// Its position in the run.
        step: usize,
    },
    /// The cycle does not come back to its first marking.
    OpenCycle,
    /// The run is said to end, and does not.
    NotAtEnd,
    /// The run does not break the property.
    NoViolation,
    /// The run is not fair.
    Unfair,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEnabled { step } => write!(f, "step {step} of the run is not enabled"),
            Self::Pruned { step } => write!(f, "step {step} of the run has no successor"),
            Self::OpenCycle => write!(f, "the cycle does not close"),
            Self::NotAtEnd => write!(f, "the run does not end where it is said to"),
            Self::NoViolation => write!(f, "the run does not break the property"),
            Self::Unfair => write!(f, "the run is not fair"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Whether a run that came from one marking to the other can do so again and again, and the property sees the same each
/// time: they are the same, but for cells that decide nothing and that the property does not look at.
fn closes(net: &Net, property: &Property, start: &Marking, end: &Marking) -> bool {
    if start == end {
        return true;
    }
    let atoms: &[AtomData] = match &property.kind {
        PropertyKind::Ltl { atoms, .. } | PropertyKind::Never { atoms, .. } => atoms,
        PropertyKind::NeverFires(_)
        | PropertyKind::NoDeadlock
        | PropertyKind::NoRace
        | PropertyKind::NoPartialDeadlock => return false,
    };
    let mut observed = Vec::new();
    for atom in atoms {
        atom.expr.walk(&mut |part| {
            if let Expr::Cell(place, _) = part {
                observed.push(*place);
            }
        });
    }
    let idle = idle_cells(net, |place| observed.contains(&place));
    start.without_cells(|place| idle[place]) == end.without_cells(|place| idle[place])
}

/// Replays a trace of a violation of `property`.
///
/// # Errors
/// When the trace is no run of the net, or does not break the property under the given fairness.
pub fn replay(
    net: &Net,
    property: &Property,
    fairness: Fairness,
    trace: &Trace,
) -> Result<Replay, ReplayError> {
    let interpreter = Interpreter::new(net);
    let initial = interpreter.initial();
    let mut player = Player { interpreter, property, current: initial.clone(), n_steps: 0 };
    let initial_letter = player.letter();
    // A step that must not fire may have no successor: it is the end of the run.
    let targets: &[Transition] = match &property.kind {
        PropertyKind::NeverFires(transitions) if trace.end == TraceEnd::Any => transitions,
        PropertyKind::NeverFires(_)
        | PropertyKind::NoDeadlock
        | PropertyKind::NoRace
        | PropertyKind::NoPartialDeadlock
        | PropertyKind::Ltl { .. }
        | PropertyKind::Never { .. } => &[],
    };
    let prefix = player.play(&trace.prefix, targets)?;
    let last_is_target = prefix.last().is_some_and(|step| targets.contains(&step.firing.transition));
    let at_cycle = player.current.clone();
    let mut starved = Vec::new();
    let cycle = match &trace.end {
        TraceEnd::Cycle(firings) => {
            let steps = player.play(firings, &[])?;
            if firings.is_empty() || !closes(net, property, &at_cycle, &player.current) {
                return Err(ReplayError::OpenCycle);
            }
            starved = starved_threads(interpreter, &steps);
            steps
        }
        TraceEnd::Stutter => {
            if !interpreter.enabled(&player.current).is_empty() {
                return Err(ReplayError::NotAtEnd);
            }
            Vec::new()
        }
        TraceEnd::Any | TraceEnd::Race(_) | TraceEnd::Stuck(_) => Vec::new(),
    };
    let result = Replay { initial, initial_letter, prefix, cycle, end: trace.end.clone(), starved };
    let breaks = match &property.kind {
        PropertyKind::NeverFires(_) => last_is_target,
        PropertyKind::NoDeadlock => interpreter.is_deadlock(&at_cycle),
        PropertyKind::NoRace => match &result.end {
            TraceEnd::Race(race) => interpreter.races(&at_cycle).contains(race),
            TraceEnd::Cycle(_) | TraceEnd::Stutter | TraceEnd::Any | TraceEnd::Stuck(_) => false,
        },
        PropertyKind::NoPartialDeadlock => match &result.end {
            TraceEnd::Stuck(thread) => may_be_stuck(net, &at_cycle, *thread),
            TraceEnd::Cycle(_) | TraceEnd::Stutter | TraceEnd::Any | TraceEnd::Race(_) => false,
        },
        PropertyKind::Ltl { formula, .. } => {
            is_bad_word(&result, |prefix, cycle| !formula.holds_on_lasso(prefix, cycle))
        }
        PropertyKind::Never { automaton, .. } => {
            is_bad_word(&result, |prefix, cycle| automaton.accepts_lasso(prefix, cycle))
        }
    };
    if !breaks {
        return Err(ReplayError::NoViolation);
    }
    let is_unfair = match fairness {
        Fairness::None => false,
        Fairness::Weak => result.starved.iter().any(|starved| starved.always_enabled),
        Fairness::Strong => !result.starved.is_empty(),
    };
    if is_unfair && property.is_about_runs() {
        return Err(ReplayError::Unfair);
    }
    Ok(result)
}

/// Plays steps one after another.
struct Player<'a> {
    interpreter: Interpreter<'a>,
    property: &'a Property,
    current: Marking,
    n_steps: usize,
}

impl Player<'_> {
    /// Plays the steps. The last firing ends at the first of the targets, if it fires one, and may then have
    /// no successor.
    fn play(&mut self, firings: &[Firing], targets: &[Transition]) -> Result<Vec<Step>, ReplayError> {
        let mut steps = Vec::new();
        for (position, firing) in firings.iter().enumerate() {
            let step = self.n_steps;
            let enabled = self.interpreter.enabled_of(&self.current, firing.transition, firing.thread());
            if !enabled.contains(firing) {
                return Err(ReplayError::NotEnabled { step });
            }
            let mut fired = self.interpreter.fire_all(&self.current, firing);
            let is_target = |step: &Firing| targets.contains(&step.transition);
            let target = fired.steps.iter().position(is_target).filter(|_| position + 1 == firings.len());
            if fired.successor == Successor::Pruned && target.is_none() {
                return Err(ReplayError::Pruned { step });
            }
            fired.steps.truncate(target.map_or(fired.steps.len(), |target| target + 1));
            self.n_steps += 1;
            self.show(&fired, &mut steps);
        }
        Ok(steps)
    }

    /// Goes on to the end of a firing, and adds its steps.
    fn show(&mut self, fired: &Fired, steps: &mut Vec<Step>) {
        let letter = self.letter();
        let Some((last, inner)) = fired.steps.split_last() else { return };
        let mut at = self.current.clone();
        for (position, step) in inner.iter().enumerate() {
            if let Successor::Marking(next) = self.interpreter.step(&at, step) {
                at = next;
            }
            if position < MAX_INNER {
                steps.push(Step { firing: step.clone(), after: at.clone(), letter, is_inner: true });
            }
        }
        self.current = match &fired.successor {
            Successor::Marking(next) => next.clone(),
            Successor::Pruned => at,
        };
        let (after, letter) = (self.current.clone(), self.letter());
        steps.push(Step { firing: last.clone(), after, letter, is_inner: false });
    }

    fn letter(&self) -> u64 {
        let holds = |atom: &crate::AtomData| self.interpreter.eval(&self.current, &atom.expr) != 0;
        let atoms = self.property.atoms().iter();
        atoms.enumerate().fold(0, |letter, (bit, atom)| letter | u64::from(holds(atom)) << bit)
    }
}

/// Whether the run breaks a property of infinite words, by the property's own meaning: `is_bad` of the word
/// `prefix cycle cycle …`.
///
/// Where the rest of the run does not matter, the prefix must be bad when it is followed by the last
/// letter forever, by no atom, by every atom, and by the last letter with any one atom turned over.
fn is_bad_word(run: &Replay, is_bad: impl Fn(&[u64], &[u64]) -> bool) -> bool {
    let mut letters = vec![run.initial_letter];
    letters.extend(run.prefix.iter().filter(|step| !step.is_inner).map(|step| step.letter));
    let last = letters.pop().expect("the initial letter at least");
    match run.end {
        TraceEnd::Cycle(_) => {
            let mut cycle = vec![last];
            cycle.extend(run.cycle.iter().filter(|step| !step.is_inner).map(|step| step.letter));
            cycle.pop();
            is_bad(&letters, &cycle)
        }
        TraceEnd::Stutter => is_bad(&letters, &[last]),
        TraceEnd::Any => {
            letters.push(last);
            let turned = (0..64).map(|bit| last ^ (1 << bit));
            let mut continuations = [last, 0, u64::MAX].into_iter().chain(turned);
            continuations.all(|letter| is_bad(&letters, &[letter]))
        }
        TraceEnd::Race(_) | TraceEnd::Stuck(_) => false,
    }
}

/// The threads that can move in the cycle, by themselves or with another, and never do. Who moves in a firing is
/// said by its first step.
/// (The marking after the last step is the first one again, so that looking at those after each step
/// looks at all of them.)
fn starved_threads(interpreter: Interpreter<'_>, cycle: &[Step]) -> Vec<Starved> {
    let mut enabled_at: Vec<Vec<i64>> = Vec::new();
    let mut moved: BTreeSet<i64> = BTreeSet::new();
    let mut is_first = true;
    for step in cycle {
        if is_first {
            moved.extend(interpreter.movers(&step.firing));
        }
        is_first = !step.is_inner;
        if step.is_inner {
            continue;
        }
        let enabled = interpreter.enabled(&step.after);
        let mut threads: Vec<i64> = enabled.iter().flat_map(|firing| interpreter.movers(firing)).collect();
        threads.sort_unstable();
        threads.dedup();
        enabled_at.push(threads);
    }
    let mut threads: Vec<i64> = enabled_at.iter().flatten().copied().collect();
    threads.sort_unstable();
    threads.dedup();
    threads.retain(|thread| !moved.contains(thread));
    let always = |thread: i64| enabled_at.iter().all(|enabled| enabled.contains(&thread));
    threads.into_iter().map(|thread| Starved { thread, always_enabled: always(thread) }).collect()
}
