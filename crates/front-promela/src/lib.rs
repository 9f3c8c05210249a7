//! Promela models, the language of SPIN 6.5: from text to a tree, and from there to a net.
//!
//! | file | what it does |
//! | --- | --- |
//! | `tree.rs` | the model with names resolved; what the syntax makes and the lowering takes |

#![forbid(unsafe_code)]

pub mod tree;
