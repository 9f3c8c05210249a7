//! What a search looks at, and which transitions change it.

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Effect, Expr, Net, Place, PlaceForm, Scope, Transition, TransitionData};

use crate::footprint::Moves;

/// What a search looks at beside whether steps are enabled.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    places: Vec<Place>,
    /// Values are observed, of these places or of others.
    pub(crate) sees_states: bool,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) deadlocks: bool,
}

impl Observed {
    /// Adds what the atoms of one property look at. False where they look at whether nothing can move *and* at
    /// something else: no reduction then. A step that changes nothing else can still be the last one that is
    /// possible, and so decide which of the two changes first.
    #[must_use]
    pub fn add_atoms<'e>(&mut self, atoms: impl IntoIterator<Item = &'e Expr>) -> bool {
        let n_before = self.places.len();
        let mut looks_for_deadlock = false;
        for atom in atoms {
            atom.walk(&mut |expr| match expr {
                Expr::Cell(place, _) | Expr::Marked(place, _) => self.places.push(*place),
                Expr::Deadlock => looks_for_deadlock = true,
                Expr::Const(_) | Expr::Var(_) => {}
                Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..) | Expr::If(..) => {}
            });
        }
        self.sees_states |= !self.places.is_empty();
        self.deadlocks |= looks_for_deadlock;
        !looks_for_deadlock || self.places.len() == n_before
    }

    /// The same with no values but those that these atoms look at. All else stays as it is.
    pub(crate) fn narrowed<'e>(&self, atoms: impl IntoIterator<Item = &'e Expr>) -> Self {
        let mut narrowed = Self { places: Vec::new(), ..self.clone() };
        let _ = narrowed.add_atoms(atoms);
        narrowed
    }

    /// Adds the atoms of an invariant that can only be true where nothing can move, so that a violation is a matter of
    /// which dead states there are. False where it is not only that, or where a thread can stay in an atomic section
    /// forever: then another one that could move is not looked at, and may stand anywhere.
    #[must_use]
    pub fn add_end_states(&mut self, net: &Net, atoms: &[Expr]) -> bool {
        let is_fit = !atoms.is_empty() && atoms.iter().all(is_about_ends);
        let keeps_sections = net.atomic.is_some() && !net.atomic_yields;
        self.deadlocks |= is_fit && !keeps_sections;
        is_fit && !keeps_sections
    }

    /// Adds whether nothing can move.
    pub const fn add_deadlock(&mut self) {
        self.deadlocks = true;
    }

    /// Adds a transition whose firing must be seen: no state before it is left out.
    pub fn add_transition(&mut self, transition: Transition) {
        self.transitions.push(transition);
    }
}

/// Whether an atom is false wherever something can move.
fn is_about_ends(atom: &Expr) -> bool {
    match atom {
        Expr::Deadlock => true,
        Expr::If(first, second, third) => {
            **third == Expr::Const(0) && (is_about_ends(first) || is_about_ends(second))
        }
        Expr::Const(value) => *value == 0,
        Expr::Var(_) | Expr::Cell(..) | Expr::Marked(..) => false,
        Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..) => false,
    }
}

/// What is observed, by place.
pub(crate) struct View<'a> {
    net: &'a Net,
    is_observed: IndexVec<Place, bool>,
    /// Some place is observed that frames go away from when a thread ends with more frames than one.
    sees_stacks: bool,
}

impl<'a> View<'a> {
    pub(crate) fn new(net: &'a Net, observed: &Observed, all_moves: &IndexVec<Transition, Moves>) -> Self {
        let mut is_observed = IndexVec::filled(false, net.places.len());
        observed.places.iter().for_each(|&place| is_observed[place] = true);
        // Where frames wait below others: return sites, and where a frame that waits could move by itself.
        let mut is_below: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
        let mut pending: Vec<Place> =
            all_moves.iter().flat_map(|moves| moves.below.iter().copied()).collect();
        let initial = net.places.iter_enumerated().flat_map(|(place, data)| match &data.form {
            PlaceForm::Tokens { initial } if net.is_frame_place(place) => vec![place; initial.len()],
            PlaceForm::Tokens { .. } | PlaceForm::Cells(_) => Vec::new(),
        });
        let initial: Vec<Place> = initial.collect();
        if initial.len() > 1 {
            // Some of them may be below others.
            pending.extend(initial);
        }
        while let Some(place) = pending.pop() {
            if std::mem::replace(&mut is_below[place], true) {
                continue;
            }
            let waiting = all_moves.iter().filter(|moves| moves.keeps_above);
            let moved = waiting.flat_map(|moves| moves.moved.iter());
            pending.extend(moved.filter(|(from, _)| *from == place).map(|&(_, to)| to));
        }
        let sees_stacks = net.places.indices().any(|place| is_observed[place] && is_below[place]);
        Self { net, is_observed, sees_stacks }
    }

    /// Whether firing the transition may change what is observed. Cells of a frame go back to their initial
    /// value when the frame goes.
    pub(crate) fn changes(&self, data: &TransitionData, moves: &Moves) -> bool {
        let by_arc = |arc: &ArcData| match arc {
            ArcData::Take { place, .. } | ArcData::Put { place, .. } | ArcData::Write { place, .. } => {
                self.is_observed[*place]
            }
            ArcData::Drain { place, to, .. } => self.is_observed[*place] || self.is_observed[*to],
            ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Read { .. } => false,
            ArcData::Governed { .. } | ArcData::Governs { .. } => false,
        };
        let resets = |frame: &Place| {
            let function = self.net.places[*frame].function;
            self.net.places.iter_enumerated().any(|(place, data)| {
                let scope = data.cells().map(|cells| cells.scope);
                self.is_observed[place]
                    && matches!((scope, function), (Some(Scope::Frame(owner)), Some(function)) if owner == function)
            })
        };
        // The end of a thread takes its frames from wherever they are.
        let ends = data.action.effect() == Effect::EndThread
            && (self.sees_stacks
                || self.net.places.iter_enumerated().any(|(place, data)| {
                    let scope = data.cells().map(|cells| cells.scope);
                    let is_cell = matches!(scope, Some(Scope::Frame(_)));
                    let is_end = Some(place) == self.net.done || Some(place) == self.net.ended;
                    self.is_observed[place] && (is_cell || is_end)
                }));
        ends || data.arcs.iter().any(by_arc) || moves.popped.iter().any(resets)
    }
}
