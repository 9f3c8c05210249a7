//! The whole net as its own slice.

use pdnet_base::IndexVec;
use pdnet_check::{Property, PropertyKind};
use pdnet_logic::Ltl;
use pdnet_net::{ArcData, Expr, Net, Place, PlaceForm, Transition, Var};

use crate::Slice;
use crate::keep::{Kept, Mode, Reason};

/// Whether nothing may be cut: the arguments for slicing are about steps of one thread each, which another step
/// can prevent only by taking what it needs. A step that is cut may be the one whose rank, or whose not being late,
/// keeps a kept one from being enabled; it may be the one that keeps a thread in its section, or a part of an
/// indivisible sequence; and what a partner does is on no control arc. Nor do the arguments about the ends of threads
/// know that a number may be given again.
pub(crate) fn keeps_all(net: &Net) -> bool {
    !net.is_plain() || net.reuses_threads() || has_dead_end(net)
}

/// Whether a formula asks when a deadlock comes, and not only whether one does. With steps that were cut, it comes sooner: the state
/// before them looks like the one after them but for that. So `F deadlock` and `G !deadlock` say the same of a slice, but
/// `deadlock`, which asks whether the first state is one, does not, nor does `F (x == 1 && !deadlock)`.
pub(crate) fn asks_when_deadlocks_come(property: &Property) -> bool {
    let (atoms, is_whether) = match &property.kind {
        PropertyKind::Ltl { formula, atoms } => (atoms, atoms.len() == 1 && asks_whether(formula)),
        PropertyKind::Never { atoms, .. } => (atoms, false),
        PropertyKind::NeverFires(_)
        | PropertyKind::NoDeadlock
        | PropertyKind::NoRace
        | PropertyKind::NoPartialDeadlock => return false,
    };
    let mut looks = false;
    for atom in atoms {
        atom.expr.walk(&mut |part| looks |= *part == Expr::Deadlock);
    }
    looks && !is_whether
}

/// Whether a formula over one atom says that it is true at some time, or never.
fn asks_whether(formula: &Ltl) -> bool {
    match formula {
        Ltl::Not(inner) => asks_whether(inner),
        Ltl::Finally(inner) => matches!(**inner, Ltl::Atom(_)),
        Ltl::Globally(inner) => matches!(&**inner, Ltl::Not(atom) if matches!(**atom, Ltl::Atom(_))),
        _ => false,
    }
}

/// Whether a frame can come to a place that no step takes it from. Such a place is no statement, so that nothing
/// could be kept of it, and yet who is there is stuck. Programs have none: what blocks them is a step.
fn has_dead_end(net: &Net) -> bool {
    let mut is_left: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
    let mut is_entered = is_left.clone();
    for arc in net.transitions.iter().flat_map(|data| &data.arcs) {
        match arc {
            ArcData::Take { place, .. } => is_left[*place] = true,
            ArcData::Put { place, .. } => is_entered[*place] = true,
            ArcData::Drain { place, to, .. } => {
                is_left[*place] = true;
                is_entered[*to] = true;
            }
            ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Read { .. } | ArcData::Write { .. } => {
            }
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
    }
    let is_marked = |place: Place| matches!(&net.places[place].form, PlaceForm::Tokens { initial } if !initial.is_empty());
    let frames = net.places.indices().filter(|&place| net.is_frame_place(place));
    frames.into_iter().any(|place| !is_left[place] && (is_entered[place] || is_marked(place)))
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
