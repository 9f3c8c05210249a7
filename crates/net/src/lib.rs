//! The program dependence net: the waist of pdnet.
//!
//! Every front end makes a [`Net`], every reduction turns one into a smaller one, every engine explores
//! one. The net is the coloured Petri net of Ding, Li, Chen and He, *Program dependence net and on-demand
//! slicing* (JSS 2024), Definition 1, with the corrections listed in the user guide's semantics page.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`int`](IntType) | integer types and their arithmetic |
//! | `expr` | guards, arc expressions, atoms |
//! | `net` | places, transitions, arcs: the 9-tuple |
//! | `memory` | the program's objects: what addresses and cells are called |
//! | [`legend`] | words beside a net: what those who wrote a model call its steps and cells |
//! | `action` | what a transition stands for in the program |
//! | `builder` | convenient construction of one transition |
//! | `flow`, `cover` | the control flow of a function; where a frame can always move on |
//! | `frames`, `interval` | which cells are a frame's own business; bounds on expressions |
//! | `contested`, `latches` | memory that threads may race for; variables that are set once |
//! | `loops`, `ends`, `hang` | loops and which of them end; where a frame may stay forever |
//! | [`impossible`] | steps that can never happen |
//! | `protection` | what no other thread can touch while a frame stands somewhere |
//! | `solo` | what the first thread does while it is the only one |
//! | [`idle`](idle_cells) | cells that decide nothing |
//! | `names` | where numbers of threads are nothing but names |
//! | `queue` | cells that are used as buffers, and at which end |
//! | `dependence` | control places and arcs (Definitions 5 to 8) |
//! | [`inputs`](split_inputs) | few values that stand for all values of an input |
//! | `print`, `parse` | the text form, which round-trips |
//! | `verify` | the list of invariants and their verifier |
//! | `interp` | the reference interpreter: slow, obvious, trusted |
//! | `race` | what a data race is, on the interpreter |

#![forbid(unsafe_code)]

mod action;
mod builder;
mod contested;
mod cover;
mod dependence;
mod ends;
mod expr;
mod float;
mod flow;
mod frames;
mod hang;
mod idle;
mod impossible;
mod inputs;
mod int;
mod interp;
mod interval;
mod latches;
pub mod legend;
mod loops;
mod memory;
mod names;
mod net;
mod parse;
mod print;
mod protection;
mod queue;
mod race;
mod solo;
mod verify;

pub use action::{Action, Bound, Effect, Fault};
pub use builder::TransitionBuilder;
pub use dependence::add_control_dependence;
pub use expr::{BinaryOp, Expr, Scalars, UnaryOp};
pub use flow::{Flow, FlowStep};
pub use frames::{conjuncts, implies};
pub use hang::Hangs;
pub use idle::idle_cells;
pub use impossible::{impossible, most_threads, private_bounds};
pub use inputs::{SplitLimits, split_inputs, split_inputs_again};
pub use int::IntType;
pub use interp::{Fired, Firing, INDIVISIBLE_STEPS, Interpreter, Marking, Successor, Token};
pub use loops::{Ending, LoopData, Loops};
pub use memory::{Address, ObjectData, ObjectKind, PartData, Shown};
pub use names::Names;
pub use net::{
    ArcData, Base, BytesData, CellData, Color, ColorData, Dependence, Domain, Function, FunctionData, Net,
    Pattern, Place, PlaceData, PlaceForm, PlaceKind, Scope, Transition, TransitionData, Var, VarData,
};
pub use parse::parse_net;
pub use protection::{Protection, Shelter};
pub use queue::{End, Queue, QueueData, QueueUse, Queues};
pub use race::{Access, Race};
pub use solo::Solo;
pub use verify::{Violation, verify_net};
