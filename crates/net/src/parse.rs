//! The parser of the text form.

use pdnet_source::{Diagnostic, File, SourceMap};

use crate::Net;

/// Parses a net.
///
/// # Errors
/// A diagnostic at the offending word.
pub fn parse_net(_map: &SourceMap, _file: File) -> Result<Net, Diagnostic> {
    Ok(Net::default())
}
