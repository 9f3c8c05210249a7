//! C programs with POSIX threads: from text to a typed tree, and from there to a net.
//!
//! [`load`] runs the system's preprocessor with headers of our own in front, parses the result with
//! `lang-c`, resolves names, checks types, and returns a [`tree::Program`]. Every place in that tree is a
//! place in the programmer's files. The parser library is seen by no one outside of this crate.

#![forbid(unsafe_code)]

mod acsl;
mod annotations;
mod compile_commands;
mod dump;
mod headers;
mod json;
mod library;
mod link;
mod load;
mod lower;
mod parse;
mod prepass;
mod preprocess;
mod sema;
pub mod tree;
pub mod types;

pub use annotations::{Annotation, AnnotationKind};
pub use compile_commands::compile_commands;
pub use dump::{dump, dump_body, dump_expr};
pub use load::{Input, Loaded, Options, load, load_all, load_preprocessed};
pub use lower::{Atomicity, LowerOptions, Lowered, lower};
pub use sema::TREE_DEPTH_LIMIT;
