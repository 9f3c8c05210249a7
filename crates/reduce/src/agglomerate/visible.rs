//! What properties see of a run, and which properties allow steps to be merged at all.

use pdnet_base::IndexVec;
use pdnet_check::{Fairness, Property, PropertyKind};
use pdnet_net::{ArcData, Expr, Net, Place, Transition, TransitionData};

/// What is looked at.
pub(crate) struct Visible {
    places: IndexVec<Place, bool>,
    /// Transitions whose firing is looked for.
    pub(crate) watched: IndexVec<Transition, bool>,
    /// Data races are looked for.
    pub(crate) races: bool,
    /// Only fair runs count, so that it matters when a thread can move.
    pub(crate) fair: bool,
}

impl Visible {
    /// None where a property sees more than can be kept:
    ///
    /// - a formula with `X`, and many an automaton, sees every step;
    /// - an atom that says whether nothing can move sees each of them, too;
    /// - that a thread is left behind while others go on may be true only between two steps that would be merged.
    pub(crate) fn new(net: &Net, properties: &[Property], fairness: Fairness) -> Option<Self> {
        let mut visible = Self {
            places: IndexVec::filled(false, net.places.len()),
            watched: IndexVec::filled(false, net.transitions.len()),
            races: false,
            fair: false,
        };
        for property in properties {
            match &property.kind {
                PropertyKind::NeverFires(transitions) => {
                    transitions.iter().for_each(|&transition| visible.watched[transition] = true);
                }
                PropertyKind::NoDeadlock => {}
                PropertyKind::NoRace => visible.races = true,
                PropertyKind::NoPartialDeadlock => return None,
                PropertyKind::Ltl { atoms, .. } | PropertyKind::Never { atoms, .. } => {
                    let mut sees_deadlocks = false;
                    for atom in atoms {
                        atom.expr.walk(&mut |expr| match expr {
                            Expr::Cell(place, _) | Expr::Marked(place, _) => visible.places[*place] = true,
                            Expr::Deadlock => sees_deadlocks = true,
                            Expr::Const(_) | Expr::Var(_) => {}
                            Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..) | Expr::If(..) => {}
                        });
                    }
                    if sees_deadlocks || property.sees_steps() {
                        return None;
                    }
                    visible.fair |= fairness != Fairness::None;
                }
            }
        }
        Some(visible)
    }

    /// The same on a net with the same places and other transitions.
    pub(crate) fn watching(self, watched: IndexVec<Transition, bool>) -> Self {
        Self { watched, ..self }
    }

    /// Whether an atom looks at what is on a place.
    pub(crate) fn sees(&self, place: Place) -> bool {
        self.places[place]
    }

    /// Whether a step that ends nothing changes what an atom looks at.
    pub(crate) fn sees_step(&self, data: &TransitionData) -> bool {
        data.arcs.iter().any(|arc| match arc {
            ArcData::Take { place, .. } | ArcData::Put { place, .. } | ArcData::Write { place, .. } => {
                self.places[*place]
            }
            ArcData::Drain { place, to, .. } => self.places[*place] || self.places[*to],
            ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Read { .. } => false,
            ArcData::Governed { .. } | ArcData::Governs { .. } => false,
        })
    }
}
