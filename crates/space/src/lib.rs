//! States of a net in a form that a search can afford.
//!
//! The reference interpreter keeps a marking in two tree maps and looks at every transition in every step.
//! Here the same net is *compiled*: every place gets a fixed slot, every guard and arc expression becomes a
//! short register program, and transitions are listed by the place where the moving frame stands, so that a
//! step looks only at what its threads could do next.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `layout` | where each place lives in a state, and the initial state |
//! | `chunks` | how the global words are cut into parts |
//! | `thread_set` | sets of threads |
//! | `state` | the unpacked state that transitions work on |
//! | `code` | expressions as register programs |
//! | `common` | what the expressions of a transition have in common |
//! | `schedule` | in which order a transition's variables are bound |
//! | `transition` | transitions as lists of steps that bind and steps that fire |
//! | `touch` | what compiled transitions look at or change |
//! | `native` | rules as native code, where it pays |
//! | `successors` | enumerates the firings of a state |
//! | `priority` | ranks and late steps |
//! | `sequence` | what comes at once after a step |
//! | `memo` | steps that are known already |
//! | `fire` | the state after a firing |
//! | `race` | the data races of a state |
//! | `footprint` | how transitions move frames |
//! | `access` | what transitions do to what other threads may touch, and who could come between |
//! | `plan` | what threads can do, by where they stand and what they hold |
//! | `observed` | what a search looks at |
//! | `stubborn` | in which states the steps of some threads are enough |
//! | `first` | shows the steps of such threads |
//! | `section` | atomic sections as one step |
//! | `sure` | what is sure of queues inside of atomic sections |
//! | `bits` | sets of small numbers |
//! | `forget` | values that nobody will look at |
//! | `symmetry` | threads that could have each other's numbers |
//! | `advance` | steps that are alone, taken without a look around |
//! | `atoms` | the atoms of properties on unpacked states |
//! | `pool` | equal parts of states, stored once |
//! | `index` | a hash index that grows in small pieces |
//! | `rows` | vectors of small numbers, packed |
//! | `packed` | states as bytes, without a store |
//! | `parts` | states as the numbers of their parts |
//! | `store` | the visited set: states as short vectors of parts |
//! | `shared` | the same for several workers at once |
//!
//! This room knows nothing of properties, searches or limits. Whatever a net does that a state has no room
//! for (see [`Layout`]) is an [`Unsupported`] error, found when the net is compiled or, where it depends on
//! values, when the step is taken. It is never ignored.
//!
//! ```
//! use pdnet_net::Net;
//! use pdnet_space::{Compiled, StateStore, States as _, Successors};
//!
//! let net = Net::default();
//! let compiled = Compiled::new(&net).unwrap();
//! let mut store = StateStore::new(&compiled);
//! let mut successors = Successors::new(&compiled);
//! let (initial, is_new) = store.insert(&compiled.initial()).unwrap();
//! assert!(is_new);
//! store.load(initial, successors.current_mut());
//! let mut n_steps = 0;
//! successors.for_each(|_, _| n_steps += 1).unwrap();
//! assert_eq!(n_steps, 0);
//! ```

#![forbid(unsafe_code)]

mod access;
mod advance;
mod atoms;
mod bits;
mod chunks;
mod code;
mod common;
mod fire;
mod first;
mod footprint;
mod forget;
mod index;
mod layout;
mod memo;
mod native;
mod observed;
mod packed;
mod parts;
mod plan;
mod pool;
mod priority;
mod race;
mod rows;
mod schedule;
mod section;
mod sequence;
mod shared;
mod state;
mod store;
mod stubborn;
mod successors;
mod sure;
mod symmetry;
mod thread_set;
mod touch;
mod transition;

pub use atoms::Atoms;
pub use forget::Forget;
pub use layout::{Layout, Unsupported};
pub use memo::PartStore;
pub use native::{Jit, NativeCounts};
pub use observed::Observed;
pub use parts::{Glance, Row};
pub use race::Races;
pub use shared::{SharedStore, StoreWorker};
pub use state::State;
pub use store::{Full, StateId, StateStore, States, StoreSize};
pub use stubborn::{Proviso, Stubborn};
pub use successors::{Flow, Outcome, Step, Successors};
pub use symmetry::Symmetry;
pub use thread_set::ThreadSet;
pub use transition::Compiled;
