//! Steps that are more, or less, than their arcs say, as in nets of Promela models: what both rules must know of ranks,
//! late steps, sections that are lost, indivisible sequences and partners.
//!
//! Let t be a thread whose frame stands on a place p, and f a step from p that touches nothing but t's own cells. What the
//! other threads do must not depend on whether t has taken f. They cannot see t's cells; this is what is left:
//!
//! - **Partners.** Another thread may take t's frame along. It does not do so from p ([`Ground::is_through`]), but it may
//!   from where f leads. That only enables more, unless that more *disables* something: by a lower rank, because a late
//!   step is not enabled, or because a thread that could not go on would have lost its section. Nor does it do so where
//!   fairness asks who can move. So f must not lead to a place from which partners are taken, except in nets with
//!   none of this ([`Special::may_lead_to`]).
//! - **Ranks** are compared among the steps of one frame at one place. Steps from p that are merged have rank 0, all of
//!   them, so that ranks keep none from being enabled. The composed step stands where h stood and has its rank (in
//!   pre-agglomeration, where h is one of those that exclude each other, that of f). One of the composed steps is enabled
//!   exactly where h was (or, f behind h).
//! - **Late steps.** No step from p is late. As long as t stands on p and nobody is in a section, f is enabled, and so no
//!   late step is; who is in a section that can be lost has a step that is not late, or has lost it. So no late step is
//!   among those that f is moved across. A late step can be h: the composed one is late, too. (Not under fairness: where
//!   all steps of a cycle are late, another late one is not enabled between h and f.) Nothing is put off in nets
//!   with late steps: h would be enabled, and keep them from being so.
//! - **Sections.** No step that is moved writes the cell that says who is in one. Who loses his section does so because
//!   no step of *his* is enabled, which does not depend on t, partners aside. Nobody enters one by h, a partner least of
//!   all: t could not take f before he is through. If t itself is still in a section, nobody comes between h and f, and f
//!   is enabled, so that the section is not lost between them. Steps are put off only where t is in none ([`Special::may_own`]): it would lose it earlier.
//! - **Indivisible sequences.** Where the cell is not 0, the same thread goes on by its *first* step. Places where that
//!   may be are left alone with all steps from them ([`Special::is_inside`]), so that these steps stay and keep their
//!   order. It must be certain that a sequence never stops in the middle, or others would go on in it; else nothing is merged.
//!
//! That numbers of threads are given again does not matter where no two have the same at a time
//! ([`super::processes`]): between h and f, t does not end.
//!
//! [`Ground::is_through`]: super::ground::Ground::is_through

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Expr, Flow, Net, Place, TransitionData};

use super::compose::target;

/// What a net has of all that.
pub(crate) struct Special {
    /// From these, partners are taken.
    meeting: IndexVec<Place, bool>,
    /// A frame may stand here while its thread is in an atomic section.
    owning: IndexVec<Place, bool>,
    /// A frame may stand here in an indivisible sequence.
    inside: IndexVec<Place, bool>,
    indivisible: Option<Place>,
    atomic: Option<Place>,
    /// That a step is enabled can keep another from being enabled.
    disables: bool,
    /// There are late steps.
    pub(crate) late: bool,
}

impl Special {
    /// None where an indivisible sequence may stop in the middle.
    pub(crate) fn new(net: &Net, flow: &Flow) -> Option<Self> {
        let nowhere: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
        let mut special = Self {
            meeting: nowhere.clone(),
            owning: nowhere.clone(),
            inside: nowhere,
            indivisible: net.indivisible,
            atomic: net.atomic,
            disables: net.has_priorities() || net.atomic_yields,
            late: net.transitions.iter().any(|data| data.late),
        };
        for arc in net.transitions.iter().flat_map(|data| data.arcs.iter().skip(1)) {
            if let ArcData::Take { place, .. }
            | ArcData::Test { place, .. }
            | ArcData::Inhibit { place, .. } = arc
            {
                special.meeting[*place] = true;
            }
        }
        if let Some(atomic) = net.atomic {
            special.owning = reached_with(net, atomic);
        }
        if let Some(indivisible) = net.indivisible {
            special.inside = reached_with(net, indivisible);
            special.sequences_end(net, flow, indivisible).then_some(())?;
        }
        Some(special)
    }

    /// Whether the thread that is in an indivisible sequence can always go on until it ends.
    fn sequences_end(&self, net: &Net, flow: &Flow, indivisible: Place) -> bool {
        let places = net.places.indices().filter(|&place| self.inside[place]);
        let goes_on = |place: Place| {
            flow.is_total(net, place)
                && flow.steps[place].iter().all(|step| !net.transitions[step.transition].late)
        };
        let begins = 0 == net.places[indivisible].cells().map_or(1, |cells| cells.default);
        let keeps_section = net.transitions.iter().all(|data| {
            let is_in = writes(data, indivisible).any(|value| *value != Expr::Const(0))
                || data.source().is_some_and(|place| self.inside[place])
                    && writes(data, indivisible).next().is_none();
            !is_in || net.atomic.is_none_or(|atomic| writes(data, atomic).next().is_none())
        });
        let mut places = places;
        begins && keeps_section && places.all(goes_on)
    }

    /// Whether a frame may stand here in an indivisible sequence.
    pub(crate) fn is_inside(&self, place: Place) -> bool {
        self.inside[place]
    }

    /// Whether a frame may stand here while its thread is in an atomic section.
    pub(crate) fn may_own(&self, place: Place) -> bool {
        self.owning[place]
    }

    /// Whether a step that is moved may lead here.
    pub(crate) fn may_lead_to(&self, place: Place, fair: bool) -> bool {
        !self.meeting[place] || !(self.disables || fair)
    }

    /// Whether a step may be the first of two that are merged, and is not put off.
    pub(crate) fn may_be_first(&self, data: &TransitionData, fair: bool) -> bool {
        data.source().is_some_and(|place| !self.inside[place])
            && self.indivisible.is_none_or(|cell| writes(data, cell).next().is_none())
            && self.atomic.is_none_or(|cell| writes(data, cell).all(|value| *value == Expr::Const(0)))
            && !(fair && data.late)
    }
}

/// The values that a step may give to a global cell.
fn writes(data: &TransitionData, cell: Place) -> impl Iterator<Item = &Expr> {
    data.arcs.iter().filter_map(move |arc| match arc {
        ArcData::Write { place, value, .. } if *place == cell => Some(value),
        _ => None,
    })
}

/// The places on which a step may put a frame, its own or a partner's, while a cell is not 0 because of that thread: those
/// to which steps lead that write something else than 0 to it, and those to which one gets from there by steps that
/// leave the cell alone.
fn reached_with(net: &Net, cell: Place) -> IndexVec<Place, bool> {
    let mut reached = IndexVec::filled(false, net.places.len());
    for data in net.transitions.iter().filter(|data| writes(data, cell).any(|value| *value != Expr::Const(0)))
    {
        for arc in &data.arcs {
            if let ArcData::Put { place, .. } = arc {
                reached[*place] = true;
            }
        }
    }
    loop {
        let mut is_changed = false;
        for data in &net.transitions {
            let (Some(source), Some(target)) = (data.source(), target(net, data)) else { continue };
            // A write under a condition may leave it alone.
            let resets = data.arcs.iter().any(|arc| match arc {
                ArcData::Write { place, value: Expr::Const(0), when: None, .. } => *place == cell,
                _ => false,
            });
            if reached[source] && !resets && !reached[target] {
                reached[target] = true;
                is_changed = true;
            }
        }
        if !is_changed {
            return reached;
        }
    }
}
