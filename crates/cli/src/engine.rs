//! The choice of the engine.

use pdnet_check::Engine;

use crate::args::Reduce;

/// The engine that answers.
pub(crate) fn engine(reduce: Reduce) -> Box<dyn Engine> {
    let names = reductions(reduce);
    let has = |name: &str| names.contains(&name);
    Box::new(pdnet_explicit::Explicit { local_first: has("local-first"), forget: has("forget") })
}

/// The names of the reductions that it may use.
pub(crate) fn reductions(reduce: Reduce) -> Vec<&'static str> {
    match reduce {
        Reduce::None => Vec::new(),
        Reduce::All => vec!["local-first", "forget"],
    }
}
