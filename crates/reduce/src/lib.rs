//! Smaller nets with the same answers.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`slice`](slice()) | the one interface of all slicing methods: net and properties in, slice out |
//! | `fold` | what never changes and never happens, taken out first |
//! | `facts` | the arcs of a net, turned round |
//! | `criterion` | what a property looks at, by kind of property |
//! | `keep` | which statements and places are kept, and why |
//! | `method` | what methods of slicing have in common |
//! | `on_demand` | on-demand slicing, the default, and what every slice must have |
//! | `program` | classical slicing of programs |
//! | `reaching`, `post_dominance` | what it takes for that: reaching definitions, post-dominators |
//! | `backward` | traditional slicing of Petri nets |
//! | `joins` | which threads a join may wait for |
//! | `next` | which kept statement comes next |
//! | `rebuild` | the net of what is kept |
//! | `whole` | where nothing may be cut |
//! | `lift` | a run of the slice as a run of the whole net |
//! | [`agglomerate`](agglomerate()) | steps that nobody can come between become one |

#![forbid(unsafe_code)]

mod agglomerate;
mod backward;
mod criterion;
mod facts;
mod fold;
mod joins;
mod keep;
mod lift;
mod method;
mod next;
mod on_demand;
mod post_dominance;
mod program;
mod reaching;
mod rebuild;
mod slice;
mod whole;

pub use agglomerate::{Agglomerated, agglomerate};
pub use keep::{Kept, Mode, Reason, Statement};
pub use slice::{LiftError, Method, Slice, slice};
