//! Promela models, the language of SPIN 6.5: from text to a tree, and from there to a net.
//!
//! | file | what it does |
//! | --- | --- |
//! | `tree.rs` | the model with names resolved; what the syntax makes and the lowering takes |
//! | `claim.rs` | `never` claims to automata |
//! | `lower.rs` | the tree to a net, and expressions of properties to atoms |

#![forbid(unsafe_code)]

mod claim;
mod lower;
pub mod tree;

pub use claim::{ClaimAutomaton, claim_automaton};
pub use lower::{LowerOptions, Lowered, lower};
