//! The choice of the engine.

use pdnet_check::Engine;

use crate::reductions::{Reduction, Reductions};

/// The engine that answers.
pub(crate) fn engine(reduce: &Reductions) -> Box<dyn Engine> {
    let (local_first, forget) = (reduce.has(Reduction::LocalFirst), reduce.has(Reduction::Forget));
    Box::new(pdnet_explicit::Explicit { local_first, forget, through_sections: true })
}
