//! What is asked of an engine.

use std::fmt;
use std::time::Duration;

use pdnet_net::Net;

use crate::{Fairness, Outcome, Property};

/// Limits of a search. Meeting one is an ordinary outcome: [`crate::Verdict::Unknown`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Wall-clock time for the whole request.
    pub timeout: Option<Duration>,
    /// Bytes for states and search.
    pub memory: Option<u64>,
    /// Number of states (of each search).
    pub states: Option<u64>,
}

/// A request: properties of one net.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The net.
    pub net: &'a Net,
    /// The properties, each to get a verdict of its own.
    pub properties: &'a [Property],
    /// Which runs count for LTL.
    pub fairness: Fairness,
    /// Limits.
    pub limits: Limits,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// States so far.
    pub states: u64,
    /// Steps so far.
    pub transitions: u64,
    /// States found and not yet expanded.
    pub frontier: u64,
    /// Bytes in use.
    pub memory_bytes: u64,
    /// How deep it is, where that is known.
    pub depth: Option<Depth>,
}

/// How deep a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// It goes from level to level: the states that are expanded now are so many steps away from the initial one, as far as steps lead
    /// from one stored state to another.
    Level(u64),
    /// It goes into the depth: so many states lie on the way to the one that is expanded now.
    Stack(u64),
    /// It goes from one number of preemptions to the next: this is the present one.
    Preemptions(u32),
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level(level) => write!(f, "level {level}"),
            Self::Stack(depth) => write!(f, "depth {depth}"),
            Self::Preemptions(1) => f.write_str("1 preemption"),
            Self::Preemptions(preemptions) => write!(f, "{preemptions} preemptions"),
        }
    }
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop and tell what was found.
    Stop,
}

/// Hears of the progress; the command-line room shows it. Called a few times a second at most.
pub trait Observer {
    /// The search is this far.
    fn progress(&mut self, progress: &Progress) -> Control;

    /// Who keeps the search, if it is to be kept.
    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        None
    }

    /// The bytes of memory that the process has now, where the system tells: more than the tables of a search, since what was given
    /// back is not always there for others.
    fn resident_bytes(&mut self) -> Option<u64> {
        None
    }
}

/// Keeps searches, so that they can go on after the process has ended, however that came. What it cannot keep is lost, and the search goes
/// on; to say so is for the keeper.
pub trait Keeper {
    /// How many states a search may expand before it asks again whether it is time to keep what is new.
    fn patience(&self) -> u32 {
        1024
    }

    /// Whether it is time to keep what is new.
    fn is_due(&mut self) -> bool;

    /// Appends a record of that search.
    fn append(&mut self, search: u64, record: &[u8]);

    /// Makes what was appended since the last time count, all of it together. Records after which the process ends before this are lost
    /// as if they had never been.
    fn commit(&mut self);

    /// Shows the records of that search in their order, those of earlier processes and those that were appended, each with the place at
    /// which [`Keeper::record`] finds it again.
    fn records(&mut self, search: u64, show: &mut dyn FnMut(u64, &[u8]));

    /// Reads the record at a place once more; false where that fails.
    fn record(&mut self, place: u64, record: &mut Vec<u8>) -> bool;

    /// Tells the user that what was kept is of no use.
    fn complain(&mut self, text: &str);

    /// Tells the user what a search goes on with.
    fn tell(&mut self, text: &str);
}

/// An observer that says nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }
}

/// A way to answer requests.
pub trait Engine {
    /// Its name in the output.
    fn name(&self) -> &'static str;

    /// One outcome for each property of the request, in their order. Deterministic: the same request gives
    /// the same verdicts and, where one thread works on it, the same traces, limits of time and memory aside.
    fn check(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Vec<Outcome>;
}
