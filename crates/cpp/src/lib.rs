//! The C preprocessor, for the languages that are written with it.
//!
//! | file | what it does |
//! | --- | --- |
//! | `input.rs` | reads the user's file |
//! | `compiler.rs` | finds a C compiler, runs it, makes diagnostics of its complaints |
//! | `token.rs` | a lexer for preprocessed text, to compare lines |
//! | `positions.rs` | from the preprocessed text back to places in the user's files |

#![forbid(unsafe_code)]

pub mod compiler;
mod input;
mod positions;
mod token;

pub use input::{FileKind, decode, read, start_of};
pub use positions::Positions;
pub use token::{Token, TokenKind, lex};
