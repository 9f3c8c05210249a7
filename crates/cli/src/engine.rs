//! The choice of the engine.

use pdnet_check::Engine;

use crate::args::Reduce;

/// The engine that answers.
pub(crate) fn engine(reduce: Reduce) -> Box<dyn Engine> {
    Box::new(pdnet_explicit::Explicit { local_first: !reductions(reduce).is_empty() })
}

/// The names of the reductions that it may use.
pub(crate) fn reductions(reduce: Reduce) -> Vec<&'static str> {
    match reduce {
        Reduce::None => Vec::new(),
        Reduce::All => vec!["local-first"],
    }
}
