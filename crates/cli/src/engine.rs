//! The choice of the engine.

use pdnet_check::Engine;

use crate::reductions::{Reduction, Reductions};

/// The engine that answers.
pub(crate) fn engine(reduce: &Reductions, preemptions: Option<u32>) -> Box<dyn Engine> {
    let (stubborn, forget) = (reduce.has(Reduction::Stubborn), reduce.has(Reduction::Forget));
    if let Some(bound) = preemptions {
        return Box::new(pdnet_explicit::Preemptions { bound, forget });
    }
    Box::new(pdnet_explicit::Explicit { stubborn, forget, through_sections: true })
}
