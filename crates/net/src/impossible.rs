//! Steps that can never happen, found without a search.
//!
//! Every fault that a step might run into is a transition of its own, whose guard says when. Most of them never
//! happen, and often that can be seen: the index is a counter within the bounds, the mutex is held. Each analysis
//! stands in its own file, with the reason why it is right. What is not understood counts as possible.
//!
//! | file | what it rules out |
//! | --- | --- |
//! | `ranges`, `values` | steps whose guards depend on a frame's own cells |
//! | `held` | the unlocking of a lock that is not held |
//! | `handles` | the join of a thread that was just created |
//! | `threads` | more threads than there can be |
//! | `calls`, `facts` | what they share |

pub(crate) mod calls;
mod facts;
mod handles;
pub(crate) mod held;
mod ranges;
mod threads;
mod values;

use pdnet_base::IndexVec;

use self::calls::Calls;
pub use self::threads::most_threads;
use crate::Net;
use crate::flow::Flow;
use crate::frames::Frames;
use crate::loops::Loops;
use crate::net::{Place, Transition};

/// The transitions that are enabled in no reachable marking.
#[must_use]
pub fn impossible(net: &Net) -> IndexVec<Transition, bool> {
    let mut found = IndexVec::filled(false, net.transitions.len());
    let Some(frames) = Frames::new(net) else { return found };
    let flow = Flow::new(net);
    let loops = Loops::new(net, &flow);
    let calls = Calls::new(net);
    ranges::mark(net, &flow, &loops, &frames, &mut found);
    held::mark(net, &flow, &calls, &mut found);
    handles::mark(net, &flow, &calls, &mut found);
    threads::mark(net, &flow, &loops, &calls, &mut found);
    found
}

/// Bounds on the values of the cells of frames that nobody else writes, both ends included; none for other cells, and
/// where frames do something that is not understood.
#[must_use]
pub fn private_bounds(net: &Net) -> IndexVec<Place, Option<(i64, i64)>> {
    let Some(frames) = Frames::new(net) else { return IndexVec::filled(None, net.places.len()) };
    let flow = Flow::new(net);
    let loops = Loops::new(net, &flow);
    ranges::private_bounds(net, &flow, &loops, &frames)
}
