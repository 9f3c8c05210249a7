//! The choice of the engine.

use pdnet_check::Engine;

use crate::reductions::{Reduction, Reductions};

/// The engine that answers.
pub(crate) fn engine(reduce: &Reductions) -> Box<dyn Engine> {
    let (stubborn, forget) = (reduce.has(Reduction::Stubborn), reduce.has(Reduction::Forget));
    Box::new(pdnet_explicit::Explicit { stubborn, forget })
}
