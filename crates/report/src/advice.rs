//! What to do when an answer is not known.

use pdnet_check::StopReason;
use pdnet_net::{Bound, Fault};
use pdnet_source::Pos;

/// Where in the program the reason lies.
pub(crate) const fn reason_pos(reason: &StopReason) -> Option<Pos> {
    match reason {
        StopReason::Bound { pos, .. }
        | StopReason::Sampled { pos, .. }
        | StopReason::Undefined { pos, .. } => *pos,
        StopReason::Timeout(_)
        | StopReason::Memory { .. }
        | StopReason::States(_)
        | StopReason::Preemptions(_)
        | StopReason::Omissions { .. }
        | StopReason::Interrupted
        | StopReason::Unsupported(_) => None,
    }
}

/// What the reason means, and what the user can do about it.
pub(crate) fn advice(reason: &StopReason, is_model: bool) -> String {
    match reason {
        StopReason::Timeout(_) => "no violation was found up to then; raise --timeout".to_owned(),
        StopReason::Memory { .. } => "no violation was found up to then; raise --memory".to_owned(),
        StopReason::States(_) => "no violation was found up to then; raise --states".to_owned(),
        StopReason::Preemptions(_) => {
            "no run with so few breaks it, and those with more were not searched; raise --preemptions, or leave it away"
                .to_owned()
        }
        StopReason::Omissions { .. } => {
            "no violation was found, and no limit was met; a proof needs all states: --store exact".to_owned()
        }
        StopReason::Interrupted => "no violation was found up to then".to_owned(),
        StopReason::Bound { bound: Bound::Depth, .. } => {
            "some run calls deeper than that and was not followed; raise --depth".to_owned()
        }
        StopReason::Bound { bound: Bound::Threads, .. } => {
            "some run creates more threads than that and was not followed; raise --max-threads".to_owned()
        }
        StopReason::Bound { bound: Bound::Heap, .. } => {
            "some run allocates more or larger blocks than that and was not followed; raise --max-blocks or \
             --max-elements"
                .to_owned()
        }
        StopReason::Bound { bound: Bound::Library, .. } => {
            "some run needs more than pdnet keeps and was not followed".to_owned()
        }
        StopReason::Bound { bound: Bound::Indivisible, .. } => {
            "some run does not come to the end of an indivisible sequence and was not followed".to_owned()
        }
        StopReason::Sampled { .. } => {
            "not all values of an input were tried, and those that were break nothing; \
             bound the input with an assumption, or take one of 8 bits: that is tried with all its values"
                .to_owned()
        }
        StopReason::Undefined { fault, .. } => {
            let meaning = "a run that meets undefined behaviour may do anything";
            let check = match fault {
                // In a model all faults are found where assertions are.
                _ if is_model => Some("assert"),
                Fault::DivisionByZero | Fault::Shift => Some("arithmetic"),
                Fault::Overflow => Some("overflow"),
                Fault::OutOfBounds
                | Fault::InvalidPointer
                | Fault::NullPointer
                | Fault::Dangling
                | Fault::ReadOnly
                | Fault::InvalidFree
                | Fault::UnrelatedPointers => Some("memory"),
                Fault::NotOwner | Fault::NoThread | Fault::DestroyHeld => Some("locks"),
                Fault::Leak => Some("leak"),
                Fault::Uninitialised => Some("uninitialized"),
                Fault::AddressAsNumber | Fault::Environment | Fault::MixedAccess | Fault::UnwrittenCopy => {
                    None
                }
            };
            match check {
                Some(check) => format!("{meaning}; see that run with --check {check}"),
                None => "what follows depends on what only a real machine knows".to_owned(),
            }
        }
        StopReason::Unsupported(_) => "this version cannot answer it as it is asked".to_owned(),
    }
}
