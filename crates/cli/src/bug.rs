//! What pdnet says when it finds itself wrong.

use std::io::Write as _;

/// What the user is asked to do.
pub(crate) const REQUEST: &str = "\
this is a bug in pdnet, not in your program: no verdict is given
please report it with the input file, the command line and the text above";

/// Makes a panic say that it is our bug, on whatever thread it happens.
pub(crate) fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic");
        let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        let place = place.unwrap_or_default();
        let version = env!("CARGO_PKG_VERSION");
        let mut out = std::io::stderr().lock();
        let _ = writeln!(out, "error: pdnet {version} has failed: {text}{place}\n{REQUEST}");
    }));
}
