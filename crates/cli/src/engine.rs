//! The choice of the engine.

use pdnet_check::Engine;

/// The engine that answers.
pub(crate) fn engine() -> Box<dyn Engine> {
    Box::new(pdnet_explicit::Explicit)
}
