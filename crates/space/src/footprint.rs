//! What transitions touch that another thread may touch, and how they move frames: all of it read off the
//! arcs.

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{
    ArcData, BinaryOp, Effect, Expr, Function, Net, Pattern, Place, PlaceForm, PlaceKind, Scope,
    TransitionData,
};

/// The shared places that a step reads and writes, one bit each. Where there are more places than bits, some
/// of them share one, which makes steps look more dependent than they are and never less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) reads: u128,
    pub(crate) writes: u128,
}

impl Touch {
    pub(crate) const fn join(self, other: Self) -> Self {
        Self { reads: self.reads | other.reads, writes: self.writes | other.writes }
    }

    /// Whether steps that touch these and those places may not commute.
    pub(crate) const fn conflicts(self, other: Self) -> bool {
        self.writes & (other.reads | other.writes) != 0 || self.reads & other.writes != 0
    }
}

/// What a transition does to frames. All of them are of the moving thread, except that the bottom frame of a
/// thread without frames may be put, and that frames of partners may be moved or taken away.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    /// A frame goes from one place to another.
    pub(crate) moved: Vec<(Place, Place)>,
    /// A new frame, also of a new thread.
    pub(crate) pushed: Vec<Place>,
    /// A frame goes away.
    pub(crate) popped: Vec<Place>,
    /// The lowest of the frames that are taken is put back.
    pub(crate) keeps_lowest: bool,
    /// Where frames stand afterwards that have another one above them, as far as the transition tells.
    pub(crate) below: Vec<Place>,
    /// No frame above the moving one comes or goes, so that it is below others if it was.
    pub(crate) keeps_above: bool,
}

/// Places whose tokens or cells more than one thread may touch, with their bits.
pub(crate) struct Shared<'a> {
    net: &'a Net,
    bits: IndexVec<Place, u128>,
    /// For each function, the bits of those cells of its frames that other threads touch too.
    frame_bits: IndexVec<Function, u128>,
    /// The bits of all places from which a partner's frame is taken.
    meeting_bits: u128,
    /// Transitions only ask whether a thread is among the ended ones. Then the end of a thread takes nothing
    /// from anybody, and happens once for each thread.
    pub(crate) ends_are_final: bool,
    deadlocks: bool,
}

impl<'a> Shared<'a> {
    /// Cells of a thread or a frame are its own where every arc names them by the thread that moves, or by a
    /// thread whose bottom frame the same transition puts: that thread has no frame yet, so that it is none of
    /// those that could move. All other places that some transition changes are shared.
    ///
    /// A frame place is shared where a partner's frame is taken from it: every step that moves a frame there
    /// or away from there writes it.
    ///
    /// Where deadlocks matter, the end of a thread is taken to read who is in an atomic section.
    pub(crate) fn new(net: &'a Net, deadlocks: bool) -> Self {
        let mut is_shared: IndexVec<Place, bool> = net
            .places
            .iter_enumerated()
            .map(|(place, data)| match &data.form {
                _ if data.kind == PlaceKind::Control => false,
                PlaceForm::Tokens { .. } => !net.is_frame_place(place),
                PlaceForm::Cells(cells) => cells.scope == Scope::Global,
            })
            .collect();
        let mut is_changed: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
        let ends_are_final = net.done.is_some() && net.transitions.iter().all(|data| asks_only(net, data));
        if let (Some(done), false) = (net.done, ends_are_final) {
            is_changed[done] = true;
        }
        for data in &net.transitions {
            for arc in &data.arcs {
                match arc {
                    ArcData::Read { place, key, .. } | ArcData::Write { place, key, .. } => {
                        is_shared[*place] |= key.first().is_none_or(|thread| !is_own(net, data, thread));
                        is_changed[*place] |= matches!(arc, ArcData::Write { .. });
                    }
                    ArcData::Take { place, .. } | ArcData::Put { place, .. } => is_changed[*place] = true,
                    ArcData::Drain { place, to, .. } => {
                        is_changed[*place] = true;
                        is_changed[*to] = true;
                    }
                    ArcData::Test { .. } | ArcData::Inhibit { .. } => {}
                    ArcData::Governed { .. } | ArcData::Governs { .. } => {}
                }
            }
        }
        let mut shared = Self {
            net,
            bits: IndexVec::filled(0, net.places.len()),
            frame_bits: IndexVec::filled(0, net.functions.len()),
            meeting_bits: 0,
            ends_are_final,
            deadlocks,
        };
        let mut n_shared = 0;
        let meetings = meeting_places(net);
        for (place, data) in net.places.iter_enumerated() {
            let scope = data.cells().map(|cells| cells.scope);
            // Cells of frames are changed also when the frame goes.
            let is_frame = matches!(scope, Some(Scope::Frame(_)));
            if net.is_frame_place(place) {
                if !meetings[place] {
                    continue;
                }
            } else if !is_shared[place] || !(is_changed[place] || is_frame) {
                continue;
            }
            shared.bits[place] = 1 << (n_shared % u128::BITS);
            n_shared += 1;
            if meetings[place] {
                shared.meeting_bits |= shared.bits[place];
            }
            if let Some(Scope::Frame(function)) = scope {
                shared.frame_bits[function] |= shared.bits[place];
            }
        }
        shared
    }

    /// What a transition touches: what its arcs name, the cells of frames that come and go, and what the end
    /// of a thread changes.
    pub(crate) fn touch(&self, data: &TransitionData, moves: &Moves) -> Touch {
        let mut touch = Touch::default();
        for arc in &data.arcs {
            match arc {
                ArcData::Read { place, .. }
                | ArcData::Test { place, .. }
                | ArcData::Inhibit { place, .. } => {
                    touch.reads |= self.bits[*place];
                }
                ArcData::Write { place, .. } | ArcData::Take { place, .. } | ArcData::Put { place, .. } => {
                    touch.writes |= self.bits[*place];
                }
                ArcData::Drain { place, to, .. } => touch.writes |= self.bits[*place] | self.bits[*to],
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        for &place in moves.pushed.iter().chain(&moves.popped) {
            touch.writes |= self.net.places[place].function.map_or(0, |function| self.frame_bits[function]);
        }
        match data.action.effect() {
            Effect::None | Effect::Prune | Effect::EndProcess => {}
            Effect::EndThread => {
                let bits = |place: Option<Place>| place.map_or(0, |place| self.bits[place]);
                touch.reads |= bits(self.net.atomic.filter(|_| self.deadlocks));
                touch.writes |= bits(self.net.done);
                touch.writes |= self.frame_bits.iter().fold(0, |all, bits| all | bits);
                touch.writes |= self.meeting_bits;
            }
        }
        touch
    }

    /// What can happen to a frame that stands on the place without a step of its own thread: a partner takes it.
    pub(crate) fn exposure(&self, place: Place) -> Touch {
        Touch { reads: 0, writes: self.bits[place] & self.meeting_bits }
    }
}

/// The places from which a frame is taken that may be another thread's than the moving one's.
fn meeting_places(net: &Net) -> IndexVec<Place, bool> {
    let mut meetings = IndexVec::filled(false, net.places.len());
    for data in &net.transitions {
        for arc in data.arcs.iter().skip(1) {
            if let ArcData::Take { place, token } = arc
                && net.is_frame_place(*place)
                && is_foreign(token)
            {
                meetings[*place] = true;
            }
        }
    }
    meetings
}

/// Whether the token of a frame may be that of another thread.
fn is_foreign(token: &[Pattern]) -> bool {
    token.first() != Some(&Pattern::Is(Expr::Var(TransitionData::thread_var())))
}

/// Whether the transition waits for the end of a thread.
pub(crate) fn waits(net: &Net, data: &TransitionData) -> bool {
    data.arcs.iter().any(|arc| matches!(arc, ArcData::Test { place, .. } if Some(*place) == net.done))
}

/// Whether the transition leaves the set of ended threads alone, or asks whether one thread that it knows is
/// among them and can then fire in one way only.
fn asks_only(net: &Net, data: &TransitionData) -> bool {
    let is_known = |token: &[Pattern]| token.iter().all(|part| matches!(part, Pattern::Is(_)));
    let is_single = data.vars.iter().all(|var| var.choice.is_none())
        && data.arcs[1..].iter().all(|arc| match arc {
            ArcData::Take { token, .. } | ArcData::Test { token, .. } => is_known(token),
            ArcData::Put { .. } | ArcData::Inhibit { .. } | ArcData::Drain { .. } => true,
            ArcData::Read { .. } | ArcData::Write { .. } => true,
            ArcData::Governed { .. } | ArcData::Governs { .. } => true,
        });
    data.arcs.iter().all(|arc| match arc {
        ArcData::Test { place, .. } if Some(*place) == net.done => is_single,
        ArcData::Drain { place, to, .. } => Some(*place) != net.done && Some(*to) != net.done,
        arc => Some(arc.place()) != net.done,
    })
}

/// Whether the first part of a key names the thread that moves, or one that the transition starts.
fn is_own(net: &Net, data: &TransitionData, thread: &Expr) -> bool {
    let starts = |arc: &ArcData| match arc {
        ArcData::Put { place, token } => {
            net.is_frame_place(*place)
                && token.first() == Some(thread)
                && token.get(1) == Some(&Expr::Const(0))
        }
        _ => false,
    };
    *thread == Expr::Var(TransitionData::thread_var()) || data.arcs.iter().any(starts)
}

/// What a transition does to frames, or nothing where it looks at frames of another thread without taking them, or at
/// frames of which the arcs do not tell how deep they are.
pub(crate) fn moves(net: &Net, data: &TransitionData) -> Option<Moves> {
    let own = Expr::Var(TransitionData::thread_var());
    let mut moves = Moves::default();
    let (mut taken, mut put) = (Vec::new(), Vec::new());
    let mut partners: Vec<(Vec<Expr>, Place)> = Vec::new();
    for (position, arc) in data.arcs.iter().enumerate() {
        if arc.is_control() || !net.is_frame_place(arc.place()) {
            continue;
        }
        match arc {
            // The first arc binds thread and depth of the moving frame.
            ArcData::Take { place, .. } if position == 0 => taken.push((0, *place)),
            ArcData::Take { place, token } => match token.as_slice() {
                [Pattern::Is(thread), Pattern::Is(depth)] if *thread == own => {
                    taken.push((offset(depth)?, *place));
                }
                token if is_foreign(token) => {
                    let key = token.iter().map(|part| match part {
                        Pattern::Bind(var) => Expr::Var(*var),
                        Pattern::Is(expr) => expr.clone(),
                    });
                    partners.push((key.collect(), *place));
                }
                _ => return None,
            },
            ArcData::Put { place, token } => match token.as_slice() {
                [thread, depth] if *thread == own => put.push((offset(depth)?, *place)),
                token if let Some(at) = partners.iter().position(|(key, _)| key == token) => {
                    let (_, from) = partners.remove(at);
                    moves.moved.push((from, *place));
                    // It may have been below others.
                    moves.below.push(*place);
                }
                [_, Expr::Const(0)] => moves.pushed.push(*place),
                _ => return None,
            },
            ArcData::Test { token, .. } => {
                if token.first() != Some(&Pattern::Is(own.clone())) {
                    return None;
                }
            }
            ArcData::Inhibit { prefix, .. } => {
                if prefix.first() != Some(&own) {
                    return None;
                }
            }
            ArcData::Drain { .. } | ArcData::Read { .. } | ArcData::Write { .. } => return None,
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
    }
    let lowest = taken.iter().map(|&(depth, _)| depth).min();
    for &(depth, from) in &taken {
        match put.iter().find(|&&(other, _)| other == depth) {
            Some(&(_, to)) => moves.moved.push((from, to)),
            None => moves.popped.push(from),
        }
    }
    let is_new = |depth: i64| taken.iter().all(|&(other, _)| other != depth);
    moves.pushed.extend(put.iter().filter(|&&(depth, _)| is_new(depth)).map(|&(_, place)| place));
    let highest = put.iter().map(|&(depth, _)| depth).max();
    let is_below = |depth: i64| depth < 0 || highest.is_some_and(|highest| depth < highest);
    moves.below.extend(put.iter().filter(|&&(depth, _)| is_below(depth)).map(|&(_, place)| place));
    moves.keeps_above = taken.iter().chain(&put).all(|&(depth, _)| depth <= 0);
    moves.keeps_lowest = partners.is_empty() && put.iter().any(|&(depth, _)| Some(depth) == lowest);
    moves.popped.extend(partners.into_iter().map(|(_, place)| place));
    Some(moves)
}

/// How much deeper than the moving frame a depth is.
fn offset(depth: &Expr) -> Option<i64> {
    let own = Expr::Var(TransitionData::depth_var());
    match depth {
        depth if *depth == own => Some(0),
        Expr::Binary(op, _, left, right) if **left == own => match (op, &**right) {
            (BinaryOp::Add, Expr::Const(more)) => Some(*more),
            (BinaryOp::Sub, Expr::Const(less)) => less.checked_neg(),
            _ => None,
        },
        _ => None,
    }
}

/// Transitions, by index, that close a cycle of moves: every cycle has one.
///
/// A depth-first search over the places of frames; an edge back onto the path is what closes a cycle.
pub(crate) fn closing<T: pdnet_base::Idx>(
    n_places: usize,
    edges: impl Iterator<Item = (T, Place, Place)>,
    n_transitions: usize,
) -> IndexVec<T, bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Unseen,
        OnPath,
        Left,
    }
    let mut next: IndexVec<Place, Vec<(T, Place)>> = IndexVec::filled(Vec::new(), n_places);
    edges.for_each(|(transition, from, to)| next[from].push((transition, to)));
    let mut closing = IndexVec::filled(false, n_transitions);
    let mut marks: IndexVec<Place, Mark> = IndexVec::filled(Mark::Unseen, n_places);
    let mut path: Vec<(Place, usize)> = Vec::new();
    for start in (0..n_places).map(Place::new) {
        if marks[start] != Mark::Unseen {
            continue;
        }
        marks[start] = Mark::OnPath;
        path.push((start, 0));
        while let Some((place, position)) = path.last_mut() {
            let Some(&(transition, target)) = next[*place].get(*position) else {
                marks[*place] = Mark::Left;
                path.pop();
                continue;
            };
            *position += 1;
            match marks[target] {
                Mark::Unseen => {
                    marks[target] = Mark::OnPath;
                    path.push((target, 0));
                }
                Mark::OnPath => closing[transition] = true,
                Mark::Left => {}
            }
        }
    }
    closing
}
