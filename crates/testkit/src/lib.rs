//! What every engine, reduction and front end is tested with: an oracle, and generators of cases.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `reference` | the whole reachable graph of a net, and the answers that can be read off it |
//! | `product` | the graph times a formula or an automaton, and the search for a fair accepting cycle in it |
//! | `reference_engine` | the oracle in the shape of an engine |
//! | `resumed` | an engine whose searches are cut off and gone on with |
//! | `lasso` | single runs, judged by the meaning of the formula alone |
//! | `random_net` | small nets of the class that C programs give |
//! | `random_formula` | formulas without next, and atoms for a net |
//! | `random_automaton` | automata of bad runs |
//! | `conformance` | the comparison of an engine with the oracle |
//! | `shrink` | smaller nets, formulas and automata that fail in the same way |
//! | `random_c` | small multi-threaded C programs, and formulas about them |
//! | `random_expr` | C integer expressions without undefined behaviour |
//! | `random_memory` | sequential C programs about memory, with a checksum |
//! | `random_threads` | threads that work on shared structs through pointers, and schedules for them |
//! | `random_alike` | threads and processes that run the same function forever, and formulas about them |
//! | `random_regions` | threads with regions under locks, of which much can be merged |
//! | `random_sliceable` | threads in two camps of variables, with all that can keep one from going on |
//! | `random_channels` | Promela models in which who uses which channel is a matter of values |
//! | `random_promela` | Promela models with all kinds of channels and sequences, and formulas about them |
//! | `shrink_lines` | smaller programs that fail in the same way |
//! | `compiler` | the system's C compiler, where there is one |
//! | `spin` | SPIN, where it is installed |
//!
//! Everything random is a function of a seed, and every failure prints its seed. Nothing here is fast, and
//! nothing here looks at an engine: an oracle that shared code with what it judges would share its bugs.

#![forbid(unsafe_code)]

mod compiler;
mod conformance;
mod lasso;
mod product;
mod random_alike;
mod random_automaton;
mod random_c;
mod random_channels;
mod random_expr;
mod random_formula;
mod random_memory;
mod random_net;
mod random_promela;
mod random_protocol;
mod random_regions;
mod random_sliceable;
mod random_threads;
mod reference;
mod reference_engine;
mod resumed;
mod shrink;
mod shrink_lines;
mod spin;

pub use compiler::{CompileError, Compiler};
pub use conformance::{
    ConformanceConfig, ConformanceReport, Disagreement, Expected, check_case, check_engine, check_engines,
    compare,
};
pub use lasso::{Lasso, random_lasso};
pub use random_alike::{random_alike, random_alike_formula, random_alike_model, random_alike_model_formula};
pub use random_automaton::{never_of_formula, never_property, random_automaton};
pub use random_c::{ProgramConfig, RandomProgram, random_c_formula, random_c_program};
pub use random_channels::random_channels;
pub use random_expr::{CType, ExprConfig, Printing, RandomExpr, TypedVariable, random_expr};
pub use random_formula::{random_atoms, random_formula};
pub use random_memory::{RandomMemory, random_memory};
pub use random_net::{NetConfig, random_net};
pub use random_promela::{PromelaConfig, random_promela, random_promela_formula};
pub use random_protocol::random_protocol;
pub use random_regions::random_regions;
pub use random_sliceable::{Sliceable, random_sliceable, random_sliceable_formula};
pub use random_threads::{RandomThreads, random_threads, random_threads_formula};
pub use reference::{Caveats, ReachableEdge, ReachableGraph, RefAnswer, RefVerdict};
pub use reference_engine::Reference;
pub use resumed::Resumed;
pub use shrink::shrink;
pub use shrink_lines::shrink_lines;
pub use spin::{Spin, SpinRun};
