//! Source files, positions in them, diagnostics as values, and their one renderer.
//!
//! A [`Span`] is a byte range of an original file (never of preprocessed text); a [`Pos`] is what a
//! person reads: file, line, column. Rooms that find something wrong build a [`Diagnostic`]; only
//! [`render`] turns it into text, and only the command-line room prints that text.

#![forbid(unsafe_code)]

mod diagnostic;
mod map;
mod render;
mod suggest;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use map::{File, FileData, Pos, SourceMap, Span};
pub use render::{ColorChoice, render};
pub use suggest::nearest_name;
