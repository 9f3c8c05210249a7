//! What pdnet says: verdicts and runs as text for people and as JSON for programs, drawings of nets, and
//! automata as text.
//!
//! The room takes values (a net, verdicts, replayed runs) and returns strings. It opens no file, prints
//! nothing and knows no command line; whether there is a terminal and how wide it is are parameters.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `report` | what is to be reported: the answers to all properties |
//! | `task` | the answers to a task beside the expected ones |
//! | `accesses` | which cells a step reads and writes, and their values |
//! | `threads` | which function each thread of a run was started with |
//! | `blocked` | why a thread cannot move |
//! | `values` | cells and values as people call them |
//! | `words` | a step in words |
//! | `run` | a run with all that is said of it, for any output format |
//! | `style`, `layout`, `table`, `text` | the text for people |
//! | `advice` | what to do when an answer is not known |
//! | `json` | the result as JSON |
//! | `witness` | a violation or a proof as a witness for other tools |
//! | `net_json`, `net_dot` | the net as JSON, and as a drawing |
//! | `automaton_text` | an automaton for people |

#![forbid(unsafe_code)]

mod accesses;
mod advice;
mod automaton_text;
mod blocked;
mod json;
mod layout;
mod net_dot;
mod net_json;
mod race;
mod report;
mod run;
mod style;
mod table;
mod task;
mod text;
mod threads;
mod values;
mod witness;
mod words;

pub use automaton_text::automaton_text;
pub use json::{RESULT_SCHEMA, result_json};
pub use layout::human_bytes;
pub use net_dot::net_dot;
pub use net_json::{NET_SCHEMA, net_json};
pub use report::{Answer, Overall, Probe, ProbeAnswer, PropertyResult, Report};
pub use task::{Agreement, Expected, Question, TaskReport};
pub use text::{DEFAULT_WIDTH, TextOptions, result_text, verdict_line};
pub use witness::{WitnessFrame, correctness_witness, violation_witness};
