//! Promela models, the language of SPIN 6.5: from text to a tree, and from there to a net.
//!
//! | file | what it does |
//! | --- | --- |
//! | `tree.rs` | the model with names resolved; what the syntax makes and the lowering takes |
//! | `lower.rs` | the tree to a net, and expressions of properties to atoms |

#![forbid(unsafe_code)]

mod lower;
pub mod tree;

pub use lower::{LowerOptions, Lowered, lower};
