//! How transitions move frames: all of it read off the arcs.

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{ArcData, BinaryOp, Expr, Net, Pattern, Place, TransitionData};

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

/// Whether the token of a frame may be that of another thread.
pub(crate) fn is_foreign(token: &[Pattern]) -> bool {
    token.first() != Some(&Pattern::Is(Expr::Var(TransitionData::thread_var())))
}

/// Whether the transition waits for the end of a thread.
pub(crate) fn waits(net: &Net, data: &TransitionData) -> bool {
    data.arcs.iter().any(|arc| matches!(arc, ArcData::Test { place, .. } if Some(*place) == net.done))
}

/// Whether the transition leaves the set of ended threads alone, or asks whether one thread that it knows is
/// among them and can then fire in one way only.
pub(crate) fn asks_only(net: &Net, data: &TransitionData) -> bool {
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
pub(crate) fn is_own(net: &Net, data: &TransitionData, thread: &Expr) -> bool {
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
