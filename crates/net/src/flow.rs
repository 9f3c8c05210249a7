//! The way of a frame through its function, read off the execution arcs.

use pdnet_base::{FxHashMap, IndexVec};

use crate::Net;
use crate::cover::Cover;
use crate::frames::is_own;
use crate::net::{ArcData, Place, Transition};

/// The steps of frames from place to place: the control flow graph of each function. A call leads to the place
/// where the caller waits, and the return from there on.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The steps out of each place.
    pub steps: IndexVec<Place, Vec<FlowStep>>,
    /// For each place the places from which a step leads to it, one entry for each step.
    pub predecessors: IndexVec<Place, Vec<Place>>,
}

/// A step out of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowStep {
    /// The transition.
    pub transition: Transition,
    /// Where the same frame goes on; `None` where the frame, the thread, the process or the run ends.
    pub target: Option<Place>,
}

impl Flow {
    /// Looks at all transitions of a net.
    #[must_use]
    pub fn new(net: &Net) -> Self {
        let n_places = net.places.len();
        let mut flow = Self {
            steps: IndexVec::filled(Vec::new(), n_places),
            predecessors: IndexVec::filled(Vec::new(), n_places),
        };
        for (transition, data) in net.transitions.iter_enumerated() {
            let Some(source) = data.source() else { continue };
            let target = net.frame_target(transition);
            flow.steps[source].push(FlowStep { transition, target });
            if let Some(target) = target {
                flow.predecessors[target].push(source);
            }
        }
        flow
    }

    /// Whether a frame that stands here can always take a step, whatever the marking: the guards of the steps
    /// cover all cases, and no step needs a token that is not there. (Who is in an atomic section does not count.)
    #[must_use]
    pub fn is_total(&self, net: &Net, place: Place) -> bool {
        Cover::of(net, self.steps[place].iter().map(|step| step.transition)).is_total()
    }

    /// Whether at most one of the steps from here can be taken, whatever the marking, as far as guards tell.
    #[must_use]
    pub fn is_exclusive(&self, net: &Net, place: Place) -> bool {
        Cover::of(net, self.steps[place].iter().map(|step| step.transition)).is_exclusive()
    }

    /// Whether the guards alone of the steps from here cover all cases, whatever tokens the steps need beside.
    #[must_use]
    pub fn guards_cover(&self, net: &Net, place: Place) -> bool {
        Cover::of_guards(net, self.steps[place].iter().map(|step| step.transition)).is_total()
    }

    /// The places that a frame can come to from this one, itself among them only where a way leads back to it.
    #[must_use]
    pub fn reachable_from(&self, start: Place) -> Vec<Place> {
        let mut seen: FxHashMap<Place, ()> = FxHashMap::default();
        let mut found = Vec::new();
        let mut open = vec![start];
        while let Some(place) = open.pop() {
            for target in self.steps[place].iter().filter_map(|step| step.target) {
                if seen.insert(target, ()).is_none() {
                    found.push(target);
                    open.push(target);
                }
            }
        }
        found
    }
}

impl Net {
    /// Where the moving frame goes on: the frame place on which its own token is put.
    #[must_use]
    pub fn frame_target(&self, transition: Transition) -> Option<Place> {
        self.transitions[transition].arcs.iter().find_map(|arc| match arc {
            ArcData::Put { place, token } if is_own(token) && self.is_frame_place(*place) => Some(*place),
            _ => None,
        })
    }
}
