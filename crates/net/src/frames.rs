//! Which cells are a frame's own business.
//!
//! A frame is a token (thread, depth) on one place of its function. A step moves its own frame, and may make a new
//! one (a call, a new thread) or end one (a return). Where all steps of a net are of that kind, the cells of a
//! frame that no step writes but under the key of the frame that it moves or makes have values that nobody changes
//! while the frame stands where it is. Analyses of one frame's way through its function can then follow them.

use pdnet_base::IndexVec;

use crate::net::{ArcData, Pattern, Place, PlaceForm, Scope, TransitionData, Var};
use crate::{Expr, Net};

/// What holds of the frames of a net, and of cells.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    /// Cells, no arrays, of the frames of a function that only steps of the frame itself write, or the step that
    /// makes it.
    pub(crate) private: IndexVec<Place, bool>,
    /// Cells that no step writes.
    pub(crate) unwritten: IndexVec<Place, bool>,
}

impl Frames {
    /// Looks at all steps; none where a step does something else with frames than to move its own to another place
    /// of the same function, make one at the entry of a function, or end one.
    pub(crate) fn new(net: &Net) -> Option<Self> {
        if !are_simple(net) {
            return None;
        }
        let is_cell = |place: Place| net.places[place].cells().is_some();
        let is_local = |place: Place| {
            let cells = net.places[place].cells();
            cells.is_some_and(|cells| matches!(cells.scope, Scope::Frame(_)) && cells.length.is_none())
        };
        let mut frames = Self {
            private: net.places.indices().map(is_local).collect(),
            unwritten: net.places.indices().map(is_cell).collect(),
        };
        let entries: IndexVec<Place, bool> = entries(net);
        for (place, data) in net.places.iter_enumerated() {
            if let PlaceForm::Tokens { initial } = &data.form
                && !initial.is_empty()
                && net.is_frame_place(place)
                && !entries[place]
            {
                return None;
            }
        }
        // A transition without arcs is one that was taken out: it never fires.
        for data in net.transitions.iter().filter(|data| !data.arcs.is_empty()) {
            if !is_plain(net, &entries, data) {
                return None;
            }
            for arc in &data.arcs {
                if let ArcData::Write { place, key, .. } = arc {
                    frames.unwritten[*place] = false;
                    if !is_own(key) && made(net, data).all(|(_, token)| token != key.as_slice()) {
                        frames.private[*place] = false;
                    }
                }
            }
        }
        Some(frames)
    }

    /// The private cell whose value a step's variable has whenever the step happens.
    pub(crate) fn cell_of(&self, data: &TransitionData, var: Var) -> Option<Place> {
        data.arcs.iter().find_map(|arc| match arc {
            ArcData::Read { place, key, var: bound, when }
                if *bound == var
                    && is_own(key)
                    && self.private[*place]
                    && when.as_ref().is_none_or(|when| is_demanded(data, when)) =>
            {
                Some(*place)
            }
            _ => None,
        })
    }
}

/// Whether frames and threads are as simple as the analyses take them to be: a step moves frames of one thread and
/// happens where its guard says so, and the number of a thread is given once.
fn are_simple(net: &Net) -> bool {
    net.is_plain() && !net.reuses_threads()
}

/// Whether the guard of a step says that a condition is true, word by word.
pub(crate) fn is_demanded(data: &TransitionData, condition: &Expr) -> bool {
    data.guard.as_ref().is_some_and(|guard| implies(guard, condition))
}

/// Whether a condition says that another one is true, word by word.
#[must_use]
pub fn implies(condition: &Expr, other: &Expr) -> bool {
    let (mut said, mut asked) = (Vec::new(), Vec::new());
    conjuncts(condition, &mut said);
    conjuncts(other, &mut asked);
    asked.iter().all(|part| said.contains(part))
}

/// The conditions that are all true where this one is, and only there.
pub fn conjuncts<'a>(condition: &'a Expr, found: &mut Vec<&'a Expr>) {
    match condition {
        Expr::If(first, second, third) if **third == Expr::Const(0) => {
            conjuncts(first, found);
            conjuncts(second, found);
        }
        Expr::Const(value) if *value != 0 => {}
        _ => found.push(condition),
    }
}

/// Whether a key is that of the frame that moves.
pub(crate) fn is_own(key: &[Expr]) -> bool {
    match key {
        [Expr::Var(thread), Expr::Var(depth)] => {
            *thread == TransitionData::thread_var() && *depth == TransitionData::depth_var()
        }
        _ => false,
    }
}

/// The frames that a step makes: where, and which.
pub(crate) fn made<'a>(net: &'a Net, data: &'a TransitionData) -> impl Iterator<Item = (Place, &'a [Expr])> {
    data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Put { place, token } if net.is_frame_place(*place) && !is_own(token) => {
            Some((*place, token.as_slice()))
        }
        _ => None,
    })
}

fn entries(net: &Net) -> IndexVec<Place, bool> {
    let mut entries = IndexVec::filled(false, net.places.len());
    for (function, data) in net.functions.iter_enumerated() {
        entries[data.entry] = net.places[data.entry].function == Some(function);
    }
    entries
}

/// Whether a step does to frames what can be followed.
fn is_plain(net: &Net, entries: &IndexVec<Place, bool>, data: &TransitionData) -> bool {
    let Some(source) = data.source().filter(|&source| net.is_frame_place(source)) else { return false };
    let mut n_moved = 0;
    data.arcs.iter().enumerate().all(|(number, arc)| match arc {
        ArcData::Take { place, token } if net.is_frame_place(*place) && number > 0 => {
            // A frame that ends: another one, which is not put anywhere.
            let parts: Option<Vec<Expr>> = token.iter().map(part).collect();
            parts.is_some_and(|parts| {
                !is_own(&parts) && made(net, data).all(|(_, made)| made != parts.as_slice())
            })
        }
        ArcData::Put { place, token } if net.is_frame_place(*place) => {
            if is_own(token) {
                n_moved += 1;
                n_moved == 1 && net.places[*place].function == net.places[source].function
            } else {
                entries[*place]
            }
        }
        ArcData::Drain { place, to, .. } => !net.is_frame_place(*place) && !net.is_frame_place(*to),
        _ => true,
    })
}

fn part(pattern: &Pattern) -> Option<Expr> {
    match pattern {
        Pattern::Is(expr) => Some(expr.clone()),
        Pattern::Bind(_) => None,
    }
}
