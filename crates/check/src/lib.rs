//! The vocabulary of a check: what is asked of an engine, what it answers, and the replay that decides
//! whether a violation is shown.
//!
//! An engine knows nothing of source text; a front end knows nothing of engines. Both know this room.

#![forbid(unsafe_code)]

mod engine;
mod property;
mod replay;
mod stuck;
mod verdict;

pub use engine::{Control, Depth, Engine, Keeper, Limits, Observer, Progress, Request, Silent};
pub use property::{AtomData, Fairness, Property, PropertyKind};
pub use replay::{Replay, ReplayError, Starved, Step, replay};
pub use verdict::{MemoryUse, NativeCode, Outcome, Preempted, Stats, StopReason, Trace, TraceEnd, Verdict};
