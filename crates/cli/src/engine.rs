//! The choice of the engine.

use pdnet_check::{Engine, Limits, Observer, StopReason};
use pdnet_net::{Net, Transition};

use crate::reductions::{Reduction, Reductions};

/// The engine that answers.
pub(crate) fn engine(reduce: &Reductions, preemptions: Option<u32>) -> Box<dyn Engine> {
    let (stubborn, forget) = (reduce.has(Reduction::Stubborn), reduce.has(Reduction::Forget));
    if let Some(bound) = preemptions {
        return Box::new(pdnet_explicit::Preemptions { bound, forget });
    }
    Box::new(pdnet_explicit::Explicit { stubborn, forget, through_sections: true })
}

/// The transitions that fire in no run of a net.
///
/// Nothing that leaves out steps is used, whatever was chosen for the properties: a step that was left out would be
/// taken for one that never happens.
///
/// # Errors
/// Where not all runs are known.
pub(crate) fn unreached(
    net: &Net,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<Transition>, StopReason> {
    pdnet_explicit::Explicit { stubborn: false, forget: true, through_sections: true }
        .unreached(net, limits, observer)
}
