//! What the tests of the front end share.
#![allow(dead_code, reason = "each test file uses a part of this")]

use pdnet_front_c::types::DataModel;
use pdnet_front_c::{Loaded, Options, load_preprocessed};
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};

/// Loads a preprocessed text.
pub(crate) fn load_text(text: &str, data_model: DataModel) -> (SourceMap, Result<Loaded, Vec<Diagnostic>>) {
    let mut map = SourceMap::new();
    let file = map.add("test.c", text);
    let options = Options { data_model, ..Options::default() };
    let result = load_preprocessed(&mut map, file, &options);
    (map, result)
}

/// All diagnostics as a user sees them.
pub(crate) fn rendered(map: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| render(map, diagnostic, ColorChoice::Plain)).collect()
}
