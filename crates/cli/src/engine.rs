//! The choice of the engine.

use pdnet_check::Engine;

use crate::args::Reduce;

/// The engine that answers.
pub(crate) fn engine(reduce: Reduce) -> Box<dyn Engine> {
    let local_first = match reduce {
        Reduce::None => false,
        Reduce::All => true,
    };
    Box::new(pdnet_explicit::Explicit { local_first })
}
