//! What an engine answers.

use std::fmt;
use std::time::Duration;

use pdnet_net::{Bound, Fault, Firing, Race};
use pdnet_source::Pos;

/// The answer to one property.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Every run has the property.
    Holds,
    /// This run has not.
    Violated(Trace),
    /// Not known, and why.
    Unknown(StopReason),
}

/// A run: steps from the initial marking, and how it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The steps before the cycle, or all steps.
    pub prefix: Vec<Firing>,
    /// How it goes on.
    pub end: TraceEnd,
}

/// How a run goes on after its prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEnd {
    /// These steps repeat forever. Not empty.
    Cycle(Vec<Firing>),
    /// The last marking has no step (the process has ended, or a deadlock): it repeats forever.
    Stutter,
    /// The prefix alone breaks the property, whatever comes after. Where the property is that transitions
    /// never fire, the last step may be one without successor (a fault).
    Any,
    /// The last marking has this data race.
    Race(Box<Race>),
    /// This thread never moves again after the last marking, although others do.
    Stuck(i64),
}

/// Why an answer is not known. A limit is an ordinary outcome.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// The time was up.
    Timeout(Duration),
    /// The memory was used up.
    Memory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The number of states was reached.
    States(u64),
    /// Runs with more preemptions than this were left out.
    Preemptions(u32),
    /// States were kept in a way in which one may be taken for another.
    Omissions {
        /// How they were kept.
        store: &'static str,
        /// How sure it is that none was left out.
        confidence: String,
    },
    /// The user stopped it.
    Interrupted,
    /// A bound of the model was met.
    Bound {
        /// Which one.
        bound: Bound,
        /// Its value.
        limit: Option<u32>,
        /// Where in the program.
        pos: Option<Pos>,
    },
    /// An input was not tried with all its values.
    Sampled {
        /// Where in the program.
        pos: Option<Pos>,
        /// Which input, and what was in the way.
        note: Option<String>,
    },
    /// A run reached undefined behaviour, after which it means nothing.
    Undefined {
        /// Which.
        fault: Fault,
        /// Where in the program.
        pos: Option<Pos>,
    },
    /// The engine cannot do this.
    Unsupported(String),
}

/// What the search took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// States of the net, or of its product with the automaton, that were visited.
    pub states: u64,
    /// Those of them in which no thread is in an atomic section, where they were counted.
    pub states_outside: Option<u64>,
    /// Those of them from which only the steps of some threads were followed, where they were counted.
    pub states_reduced: Option<u64>,
    /// Steps after which values were forgotten that nobody will look at, where they were counted.
    pub steps_forgotten: Option<u64>,
    /// Steps after which threads were given each other's numbers, where they were counted.
    pub steps_exchanged: Option<u64>,
    /// Steps between them.
    pub transitions: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// The most memory that states and search took at one time.
    pub peak_memory_bytes: u64,
    /// Where the memory was when the search ended.
    pub memory: MemoryUse,
    /// What a search for runs with few preemptions can say, where it has left runs out or found one.
    pub preempted: Option<Preempted>,
    /// What was made into native code up to its end.
    pub native: NativeCode,
}

/// What a search uses memory for, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// The visited states, each as the numbers of its parts, or what stands for them.
    pub states: u64,
    /// The index by which a state is found.
    pub index: u64,
    /// The different parts of states.
    pub parts: u64,
    /// From where each state was found.
    pub way_back: u64,
    /// Steps that are known already.
    pub remembered: u64,
    /// The edges of the graph.
    pub edges: u64,
    /// The nodes of the product with an automaton, or of states and turns.
    pub nodes: u64,
    /// States that wait, and those on the way to the present one.
    pub waiting: u64,
}

impl MemoryUse {
    /// The parts with what they are called.
    #[must_use]
    pub const fn parts(&self) -> [(&'static str, u64); 8] {
        let Self { states, index, parts, way_back, remembered, edges, nodes, waiting } = *self;
        [
            ("visited states", states),
            ("index of the states", index),
            ("parts of states", parts),
            ("way back", way_back),
            ("remembered steps", remembered),
            ("edges", edges),
            ("nodes", nodes),
            ("waiting and stacks", waiting),
        ]
    }
}

/// What a search for runs with few preemptions can say of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preempted {
    /// How many preemptions the run has that breaks it, if there is one.
    pub run: Option<u32>,
    /// All runs with fewer preemptions than this were searched.
    pub complete: u32,
}

impl Preempted {
    /// Whether no run with fewer preemptions breaks the property than the one that was found.
    #[must_use]
    pub fn is_least(self) -> bool {
        self.run == Some(self.complete)
    }
}

/// Steps of a net that were made into native code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NativeCode {
    /// Transitions.
    pub transitions: u64,
    /// How long it took.
    pub seconds: f64,
}

/// The answer to one property, with its circumstances.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// What it took.
    pub stats: Stats,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(limit) => write!(f, "time limit {} s", limit.as_secs_f64()),
            Self::Memory { limit } => write!(f, "memory limit {}", Bytes(*limit)),
            Self::States(limit) => write!(f, "state limit {limit}"),
            Self::Preemptions(1) => write!(f, "at most 1 preemption"),
            Self::Preemptions(limit) => write!(f, "at most {limit} preemptions"),
            Self::Omissions { store, confidence } => write!(f, "{store}: {confidence}"),
            Self::Interrupted => write!(f, "interrupted"),
            Self::Bound { bound, limit: None, .. } => write!(f, "bound on the {bound}"),
            Self::Bound { bound, limit: Some(limit), .. } => write!(f, "bound on the {bound}: {limit}"),
            Self::Sampled { note: None, .. } => write!(f, "an input was sampled"),
            Self::Sampled { note: Some(note), .. } => write!(f, "an input was sampled: {note}"),
            Self::Undefined { fault, .. } => write!(f, "undefined behaviour: {fault}"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
        }
    }
}

/// A number of bytes as people read it.
struct Bytes(u64);
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
        let mut value = self.0;
        let mut unit = 0;
        while value >= 1024 && value.is_multiple_of(1024) && unit + 1 < units.len() {
            value /= 1024;
            unit += 1;
        }
        write!(f, "{value} {}", units[unit])
    }
}
