//! The whole net as its own slice.

use pdnet_base::IndexVec;
use pdnet_check::Property;
use pdnet_net::{Net, Place, Transition, Var};

use crate::Slice;
use crate::keep::{Kept, Mode, Reason};

/// Whether nothing may be cut: the arguments for slicing are about steps of one thread each, which another step
/// can prevent only by taking what it needs. A step that is cut may be the one whose rank, or whose not being late,
/// keeps a kept one from being enabled; it may be the one that keeps a thread in its section, or a part of an
/// indivisible sequence; and what a partner does is on no control arc. Nor do the arguments about the ends of threads
/// know that a number may be given again.
pub(crate) fn keeps_all(net: &Net) -> bool {
    !net.is_plain() || net.reuses_threads()
}

/// The slice that has everything.
pub(crate) fn whole(net: &Net, properties: &[Property]) -> Slice {
    let mut kept = Kept::nothing(net);
    for source in net.transitions.iter().filter_map(pdnet_net::TransitionData::source) {
        kept.statements[source] = Some(Reason::Whole);
    }
    for place in net.places.indices() {
        kept.places[place] = !net.is_frame_place(place);
    }
    Slice {
        net: net.clone(),
        properties: properties.to_vec(),
        kept,
        mode: Mode::Run,
        places: net.places.indices().collect::<IndexVec<Place, Place>>(),
        transitions: net.transitions.indices().collect::<IndexVec<Transition, Transition>>(),
        vars: net.transitions.iter().map(|data| data.vars.indices().collect::<Vec<Var>>()).collect(),
        parked: Vec::new(),
        phases: Vec::new(),
    }
}
