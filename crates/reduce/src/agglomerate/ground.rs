//! What both rules look at: the steps of a net, and what protects them.

use pdnet_base::IndexVec;
use pdnet_net::{
    ArcData, Expr, Flow, Net, Pattern, Place, PlaceData, PlaceForm, Protection, Scope, Shelter, Transition,
    TransitionData, impossible,
};

use super::compose::is_frame;
use super::processes::Processes;
use super::special::Special;
use super::visible::Visible;

/// What is out of the reach of others.
enum Shelters {
    /// In a net whose steps are what their arcs say.
    Program(Box<Protection>),
    /// In others.
    Processes(Processes),
}

impl Shelters {
    fn of(&self, at: Place, cell: Place, key: &[Expr], writes: bool) -> Option<Shelter> {
        match self {
            Self::Program(protection) => protection.of(at, cell, key, writes),
            Self::Processes(processes) => processes.of(cell, writes),
        }
    }

    fn program(&self) -> Option<&Protection> {
        match self {
            Self::Program(protection) => Some(protection),
            Self::Processes(_) => None,
        }
    }
}

/// A net, seen by a rule.
pub(crate) struct Ground<'a> {
    pub(crate) net: &'a Net,
    pub(crate) visible: &'a Visible,
    pub(crate) flow: Flow,
    pub(crate) impossible: IndexVec<Transition, bool>,
    protection: Shelters,
    /// What steps are beside their arcs; none where they are what their arcs say.
    pub(crate) special: Option<&'a Special>,
    /// Places of frames that only the steps take from that begin there, and that nothing else looks at.
    through: IndexVec<Place, bool>,
}

impl<'a> Ground<'a> {
    /// None where the net is none of those that the rules understand.
    pub(crate) fn new(net: &'a Net, visible: &'a Visible, special: Option<&'a Special>) -> Option<Self> {
        let flow = Flow::new(net);
        let impossible = impossible(net);
        let protection = match special {
            None => Shelters::Program(Box::new(Protection::new(net, &flow, &impossible)?)),
            Some(_) => Shelters::Processes(Processes::new(net)?),
        };
        let mut through: IndexVec<Place, bool> =
            net.places.indices().map(|place| net.is_frame_place(place) && !visible.sees(place)).collect();
        for (transition, data) in net.transitions.iter_enumerated() {
            for (number, arc) in data.arcs.iter().enumerate().filter(|_| !impossible[transition]) {
                match arc {
                    ArcData::Take { place, .. } => through[*place] &= number == 0,
                    ArcData::Test { place, .. } | ArcData::Inhibit { place, .. } => through[*place] = false,
                    ArcData::Drain { place, to, .. } => {
                        through[*place] = false;
                        through[*to] = false;
                    }
                    ArcData::Put { .. } | ArcData::Read { .. } | ArcData::Write { .. } => {}
                    ArcData::Governed { .. } | ArcData::Governs { .. } => {}
                }
            }
        }
        Some(Self { net, visible, flow, impossible, protection, special, through })
    }

    /// Whether the steps from a place are such that one of them can be merged with the one before it, as far as that is
    /// not about their arcs: whether they are enabled depends on their arcs alone.
    pub(crate) fn depends_on_arcs(&self, place: Place) -> bool {
        let Some(special) = self.special else { return true };
        let is_plain = |&transition: &Transition| {
            let data = &self.net.transitions[transition];
            data.rank == 0 && !data.late
        };
        !special.is_inside(place) && self.steps(place).iter().all(is_plain)
    }

    /// Whether a place of frames may vanish between two steps.
    pub(crate) fn is_through(&self, place: Place) -> bool {
        self.through[place]
    }

    /// The steps out of a place that may happen.
    pub(crate) fn steps(&self, place: Place) -> Vec<Transition> {
        let steps = self.flow.steps[place].iter().map(|step| step.transition);
        steps.filter(|&transition| !self.impossible[transition]).collect()
    }

    /// Whether a step takes and puts no tokens but frames of its own thread, and looks at no others.
    pub(crate) fn moves_only_frames(&self, data: &TransitionData) -> bool {
        let thread = Expr::Var(TransitionData::thread_var());
        data.arcs.iter().enumerate().all(|(number, arc)| match arc {
            ArcData::Take { .. } => number == 0,
            ArcData::Put { place, token } => {
                self.net.is_frame_place(*place) && token.first() == Some(&thread)
            }
            ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Drain { .. } => false,
            ArcData::Read { .. } | ArcData::Write { .. } => true,
            ArcData::Governed { .. } | ArcData::Governs { .. } => true,
        })
    }

    /// Whether a step that is merged with the one before it takes, puts and looks for tokens only where no other thread
    /// does so meanwhile: frames of its own thread, the first frames of threads that it starts, and what is under a lock
    /// that it holds, such as those who wait for a condition.
    pub(crate) fn tokens_are_sheltered(&self, at: Place, data: &TransitionData) -> bool {
        let thread = Expr::Var(TransitionData::thread_var());
        let is_special = |place: Place| Some(place) == self.net.done || Some(place) == self.net.ended;
        let is_sheltered = |place: Place| {
            !self.net.is_frame_place(place)
                && !is_special(place)
                && self.protection.program().is_some_and(|program| program.shelters_tokens(at, place))
        };
        data.arcs.iter().enumerate().all(|(number, arc)| match arc {
            ArcData::Take { place, .. } => number == 0 || is_sheltered(*place),
            ArcData::Put { place, token } if self.net.is_frame_place(*place) => {
                let starts = token.get(1) == Some(&Expr::Const(0)) && !self.visible.fair;
                token.first() == Some(&thread) || starts
            }
            ArcData::Put { place, .. } | ArcData::Test { place, .. } | ArcData::Inhibit { place, .. } => {
                is_sheltered(*place)
            }
            ArcData::Drain { place, to, .. } => is_sheltered(*place) && is_sheltered(*to),
            ArcData::Read { .. } | ArcData::Write { .. } => true,
            ArcData::Governed { .. } | ArcData::Governs { .. } => true,
        })
    }

    /// Whether the end of a thread can be merged with the step before it. It takes nothing from anybody, and lets only
    /// those go on who wait for it, if
    /// - nobody asks which threads have *not* ended;
    /// - cells of its frames, which go, are touched by nobody else, and no atom looks at cells of frames, at where threads
    ///   are, or at which have ended;
    /// - there are no atomic sections: a thread that ends inside of one leaves a deadlock behind, unless it is the last;
    /// - no fairness is assumed, for the sake of those who wait for it.
    pub(crate) fn ends_are_quiet(&self) -> bool {
        let net = self.net;
        let is_of_frames = |place: Place| {
            let scope = net.places[place].cells().map(|cells| cells.scope);
            matches!(scope, Some(Scope::Frame(_)))
        };
        let is_quiet = |place: Place| {
            let is_end = Some(place) == net.done || Some(place) == net.ended;
            let is_touched = is_of_frames(place)
                && !self.protection.program().is_some_and(|program| program.is_own(place));
            let matters = is_end || is_of_frames(place) || net.is_frame_place(place);
            !(is_touched || matters && self.visible.sees(place))
        };
        let asks_only = |arc: &ArcData| match arc {
            ArcData::Test { token, .. } => token.iter().all(|part| matches!(part, Pattern::Is(_))),
            _ => false,
        };
        let mut arcs = net.transitions.iter().flat_map(|data| &data.arcs);
        let is_final = arcs.all(|arc| {
            let drains = matches!(arc, ArcData::Drain { to, .. } if Some(*to) == net.done);
            !drains && (Some(arc.place()) != net.done || asks_only(arc))
        });
        net.done.is_some()
            && self.special.is_none()
            && net.atomic.is_none()
            && !self.visible.fair
            && is_final
            && net.places.indices().all(is_quiet)
    }

    /// Whether all frames of the function that a place belongs to are the first ones of their threads.
    pub(crate) fn only_first_frames(&self, place: Place) -> bool {
        let function = self.net.places[place].function;
        let of_function =
            |other: Place| self.net.is_frame_place(other) && self.net.places[other].function == function;
        let is_first = |data: &TransitionData| {
            data.arcs.iter().all(|arc| match arc {
                ArcData::Put { place, token } if of_function(*place) => {
                    is_frame(token) || token.get(1) == Some(&Expr::Const(0))
                }
                _ => true,
            })
        };
        let begins_first = |(place, data): (Place, &PlaceData)| match &data.form {
            PlaceForm::Tokens { initial } => {
                !of_function(place) || initial.iter().all(|token| token.get(1) == Some(&0))
            }
            PlaceForm::Cells(_) => true,
        };
        self.net.transitions.iter().all(is_first) && self.net.places.iter_enumerated().all(begins_first)
    }

    /// Whether no token is needed beside the frame.
    pub(crate) fn needs_no_token(data: &TransitionData) -> bool {
        data.arcs.iter().enumerate().all(|(number, arc)| match arc {
            ArcData::Take { .. } => number == 0,
            ArcData::Test { .. } | ArcData::Inhibit { .. } => false,
            ArcData::Put { .. } | ArcData::Drain { .. } => true,
            ArcData::Read { .. } | ArcData::Write { .. } => true,
            ArcData::Governed { .. } | ArcData::Governs { .. } => true,
        })
    }

    /// Whether other threads cannot change what a step reads while its frame stands before it.
    pub(crate) fn reads_are_stable(
        &self,
        at: Place,
        data: &TransitionData,
        allowed: impl Fn(Shelter) -> bool,
    ) -> bool {
        data.arcs.iter().all(|arc| match arc {
            ArcData::Read { place, key, .. } => {
                self.protection.of(at, *place, key, false).is_some_and(&allowed)
                    && self.may_merge(at, *place, key)
            }
            _ => true,
        })
    }

    /// Whether other threads cannot touch what a step writes while its frame stands before it.
    pub(crate) fn writes_are_sheltered(
        &self,
        at: Place,
        data: &TransitionData,
        allowed: impl Fn(Shelter) -> bool,
    ) -> bool {
        data.arcs.iter().all(|arc| match arc {
            ArcData::Write { place, key, .. } => {
                self.protection.of(at, *place, key, true).is_some_and(&allowed)
                    && self.may_merge(at, *place, key)
            }
            _ => true,
        })
    }

    /// Whether no two threads can race for the cells of a place.
    pub(crate) fn is_race_free(&self, place: Place) -> bool {
        self.protection.program().is_some_and(|program| program.is_race_free(place))
    }

    /// Whether an access can be made together with the step before it although races are looked for: inside of an
    /// atomic section it may race with one outside.
    fn may_merge(&self, at: Place, place: Place, key: &[Expr]) -> bool {
        let in_section = self.protection.of(at, place, key, true) == Some(Shelter::Section);
        !(self.visible.races && in_section && self.net.places[place].memory) || self.is_race_free(place)
    }
}

/// Marks the ends of edges back onto the path of a depth-first search, and gives the other places that are asked about,
/// each after those that edges lead to from it.
pub(crate) fn without_cycles(
    n_places: usize,
    asked: &IndexVec<Place, bool>,
    edges: impl Fn(Place) -> Vec<Place>,
) -> Vec<Place> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Unseen,
        OnPath,
        Left,
    }
    let mut marks: IndexVec<Place, Mark> = IndexVec::filled(Mark::Unseen, n_places);
    let mut cut: IndexVec<Place, bool> = IndexVec::filled(false, n_places);
    let mut order = Vec::new();
    for start in asked.indices() {
        if !asked[start] || marks[start] != Mark::Unseen {
            continue;
        }
        marks[start] = Mark::OnPath;
        let mut path = vec![(start, edges(start))];
        while let Some((place, ahead)) = path.last_mut() {
            let Some(target) = ahead.pop() else {
                marks[*place] = Mark::Left;
                order.push(*place);
                path.pop();
                continue;
            };
            if !asked[target] {
                continue;
            }
            match marks[target] {
                Mark::Unseen => {
                    marks[target] = Mark::OnPath;
                    path.push((target, edges(target)));
                }
                Mark::OnPath => cut[target] = true,
                Mark::Left => {}
            }
        }
    }
    order.retain(|place| !cut[*place]);
    order
}
