//! What properties see of a run, and which properties allow steps to be merged at all.

use pdnet_base::IndexVec;
use pdnet_check::{AtomData, Fairness, Property, PropertyKind};
use pdnet_logic::Ltl;
use pdnet_net::{ArcData, Expr, Net, Place, Transition, TransitionData};

use super::compose::target;

/// What atoms look at.
#[derive(Clone)]
struct Looks {
    /// Places whose tokens or cells are looked at.
    places: IndexVec<Place, bool>,
    /// Sets of places of frames of which is asked only whether a frame is on one of them.
    sets: Vec<IndexVec<Place, bool>>,
}

/// What is looked at.
pub(crate) struct Visible {
    always: Looks,
    /// What is looked at only where nothing can move.
    at_ends: Looks,
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
    ///
    /// Two formulas about deadlocks are understood, which do not ask when one comes:
    ///
    /// - `G !a` where a is that nothing can move and something else: that is looked at in deadlocks only;
    /// - `G F a` where a is something, or that nothing can move: a run that ends is no matter.
    pub(crate) fn new(
        net: &Net,
        properties: &[Property],
        fairness: Fairness,
        of_processes: bool,
    ) -> Option<Self> {
        let nothing = Looks { places: IndexVec::filled(false, net.places.len()), sets: Vec::new() };
        // Who waits for the end of a section that its owner never leaves may stand anywhere in a deadlock.
        let knows_ends = net.atomic.is_none() || (of_processes && net.atomic_yields);
        let mut visible = Self {
            always: nothing.clone(),
            at_ends: nothing,
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
                    let formula = match &property.kind {
                        PropertyKind::Ltl { formula, .. } => Some(formula),
                        _ => None,
                    };
                    if property.sees_steps() {
                        return None;
                    }
                    match ends(formula, atoms).filter(|_| knows_ends) {
                        Some(Ends::Of(expr)) => visible.at_ends.look(net, expr, of_processes)?,
                        Some(Ends::But(expr)) => visible.always.look(net, expr, of_processes)?,
                        None => {
                            for atom in atoms {
                                visible.always.look(net, &atom.expr, of_processes)?;
                            }
                        }
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

    /// Whether an atom looks at what is on a place, wherever other frames are.
    pub(crate) fn sees(&self, place: Place) -> bool {
        self.always.places[place]
    }

    /// The same, where the frame may also stand there in a deadlock.
    pub(crate) fn sees_at_end(&self, place: Place) -> bool {
        self.always.places[place] || self.at_ends.places[place]
    }

    /// Whether a step that ends nothing changes what an atom looks at, where a step follows.
    pub(crate) fn sees_step(&self, net: &Net, data: &TransitionData) -> bool {
        self.always.see(net, data)
    }

    /// The same, where no step may follow.
    pub(crate) fn sees_last_step(&self, net: &Net, data: &TransitionData) -> bool {
        self.always.see(net, data) || self.at_ends.see(net, data)
    }
}

impl Looks {
    /// Adds what an expression looks at. None where that is whether nothing can move.
    fn look(&mut self, net: &Net, expr: &Expr, of_processes: bool) -> Option<()> {
        let mut set = IndexVec::filled(false, net.places.len());
        if of_processes && is_somewhere(net, expr, &mut set) {
            self.sets.push(set);
            return Some(());
        }
        let mut sees_deadlocks = false;
        expr.walk(&mut |expr| match expr {
            Expr::Cell(place, _) | Expr::Marked(place, _) => self.places[*place] = true,
            Expr::Deadlock => sees_deadlocks = true,
            Expr::Const(_) | Expr::Var(_) => {}
            Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..) | Expr::If(..) => {}
        });
        (!sees_deadlocks).then_some(())
    }

    fn see(&self, net: &Net, data: &TransitionData) -> bool {
        let touches = data.arcs.iter().any(|arc| match arc {
            ArcData::Take { place, .. } | ArcData::Put { place, .. } | ArcData::Write { place, .. } => {
                self.places[*place]
            }
            ArcData::Drain { place, to, .. } => self.places[*place] || self.places[*to],
            ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Read { .. } => false,
            ArcData::Governed { .. } | ArcData::Governs { .. } => false,
        });
        // In nets with such sets, steps that must not be seen move one frame only.
        let (from, to) = (data.source(), target(net, data));
        let is_in = |set: &IndexVec<Place, bool>, place: Option<Place>| place.is_some_and(|place| set[place]);
        touches || self.sets.iter().any(|set| is_in(set, from) != is_in(set, to))
    }
}

/// Whether an expression says that a frame is on one of some places, which are put into the set.
fn is_somewhere(net: &Net, expr: &Expr, set: &mut IndexVec<Place, bool>) -> bool {
    match expr {
        Expr::Marked(place, prefix) if prefix.is_empty() && net.is_frame_place(*place) => {
            set[*place] = true;
            true
        }
        Expr::If(first, yes, rest) if **yes == Expr::Const(1) => {
            is_somewhere(net, first, set) && is_somewhere(net, rest, set)
        }
        Expr::Const(0) => true,
        _ => false,
    }
}

/// What a formula asks beside whether nothing can move.
enum Ends<'a> {
    /// Whether this is so in a deadlock.
    Of(&'a Expr),
    /// Whether this is so again and again, in a run that does not end.
    But(&'a Expr),
}

fn ends<'a>(formula: Option<&Ltl>, atoms: &'a [AtomData]) -> Option<Ends<'a>> {
    let [AtomData { expr, .. }] = atoms else { return None };
    let first = || Ltl::Atom(pdnet_base::Idx::new(0));
    let (never, again) = (Ltl::globally(Ltl::not(first())), Ltl::globally(Ltl::finally(first())));
    let Expr::If(left, yes, no) = expr else { return None };
    if formula == Some(&never) && **left == Expr::Deadlock && **no == Expr::Const(0) {
        return Some(Ends::Of(yes));
    }
    (formula == Some(&again) && **yes == Expr::Const(1) && **no == Expr::Deadlock).then_some(Ends::But(left))
}
