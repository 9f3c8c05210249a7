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
//! | `model`, `standing` | the same for models: steps, and where processes stand, in the model's own words |
//! | `unreached` | which statements of a model no run executes |
//! | `run` | a run with all that is said of it, for any output format |
//! | `style`, `layout`, `table`, `text` | the text for people |
//! | `advice` | what to do when an answer is not known |
//! | `json` | the result as JSON |
//! | `witness` | a violation or a proof as a witness for other tools |
//! | `net_json`, `net_dot` | the net as JSON, and as a drawing |
//! | `promela` | the net as a model for SPIN |
//! | `slicing` | what slicing did, as values |
//! | `slice_words` | why something is kept, in words |
//! | `slice_text`, `slice_json`, `slice_dot` | a slice: the program with marks and reasons, and drawings |
//! | `atomize_json` | what `pdnet atomize` did, as JSON |
//! | `cache_entry` | an answer as a file, to be used again |
//! | `timings` | how long the parts of the way took |
//! | `automaton_text` | an automaton for people |

#![forbid(unsafe_code)]

mod accesses;
mod advice;
mod atomize_json;
mod automaton_text;
mod blocked;
mod cache_entry;
mod json;
mod layout;
mod merging;
mod model;
mod net_dot;
mod net_json;
mod promela;
mod race;
mod report;
mod run;
mod slice_dot;
mod slice_json;
mod slice_text;
mod slice_words;
mod slicing;
mod standing;
mod style;
mod table;
mod task;
mod text;
mod threads;
mod timings;
mod unreached;
mod values;
mod witness;
mod words;

pub use atomize_json::{
    ATOMIZE_SCHEMA, AtomizeReport, ChannelNote, MergedSequence, SourcePlace, StatementNote, atomize_json,
};
pub use automaton_text::automaton_text;
pub use cache_entry::CacheEntry;
pub use json::{RESULT_SCHEMA, result_json};
pub use layout::human_bytes;
pub use merging::MergeSummary;
pub use net_dot::net_dot;
pub use net_json::{NET_SCHEMA, net_json};
pub use promela::{PromelaExport, PromelaModel, promela};
pub use report::{Answer, Origin, Overall, Probe, ProbeAnswer, PropertyResult, Report};
pub use slice_dot::slice_dot;
pub use slice_json::{SLICE_SCHEMA, slice_json};
pub use slice_text::slice_text;
pub use slicing::{Change, CutLines, KeptParts, SliceReport, SliceSummary, SlicedProperties};
pub use task::{Agreement, Expected, Question, TaskReport};
pub use text::{DEFAULT_WIDTH, TextOptions, result_text, verdict_line};
pub use timings::{Timings, phases, timings_table};
pub use unreached::{Unreached, UnreachedProcess};
pub use witness::{WitnessFrame, correctness_witness, violation_witness};
