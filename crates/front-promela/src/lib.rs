//! Promela models, the language of SPIN 6.5: from text to a tree, and from there to a net.
//!
//! | file | what it does |
//! | --- | --- |
//! | `load.rs` | the way from a file to the tree |
//! | `preprocess.rs` | macros and includes |
//! | `lexer.rs` | words |
//! | `parser.rs` and below | from words to the tree, names resolved on the way |
//! | `names.rs` | what names mean |
//! | `places.rs` | places of statements that come out of macros |
//! | `atomize.rs` and below | from Promela to Promela, with fewer interleavings |
//! | `dump.rs` | the tree as text, for tests |
//! | `tree.rs` | the model with names resolved; what the syntax makes and the lowering takes |
//! | `arithmetic.rs` | the arithmetic of constants |
//! | `walk.rs` | walks over statements and expressions |
//! | `lower.rs` and below | the tree to a net, and expressions of properties to atoms |
//! | `claim.rs` | `never` claims to automata |

#![forbid(unsafe_code)]

mod arithmetic;
mod atomize;
mod claim;
mod dump;
mod lexer;
mod load;
mod lower;
mod names;
mod parser;
mod places;
mod preprocess;
pub mod tree;
mod walk;

pub use atomize::{
    AtomizeOptions, Atomized, ChannelFact, Kept, Merged, Rule, atomize, atomize_file, shown_statement,
};
pub use claim::{ClaimAutomaton, claim_automaton};
pub use dump::{dump, dump_expr};
pub use load::{Loaded, Options, load, load_text, parse_formula};
pub use lower::{LowerOptions, Lowered, lower};
pub use names::Names;
pub use parser::TREE_DEPTH_LIMIT;
