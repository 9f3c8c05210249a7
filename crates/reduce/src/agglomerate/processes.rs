//! Nets whose threads have one frame each, and are numbered as processes of Promela are.
//!
//! The number of a thread may be given again. What a step of one thread does is independent of the others only if no
//! two frames have the same number at the same time; this file proves it from the arcs.

use pdnet_base::IndexVec;
use pdnet_net::{
    ArcData, BinaryOp, Effect, Expr, IntType, Net, Pattern, Place, PlaceForm, Scope, Shelter, Transition,
    TransitionData, Var,
};

use super::compose::is_frame;

/// Which cells are out of the reach of other processes.
pub(crate) struct Processes {
    own: IndexVec<Place, bool>,
    written: IndexVec<Place, bool>,
    global: IndexVec<Place, bool>,
}

impl Processes {
    /// None where a thread may have two frames.
    pub(crate) fn new(net: &Net) -> Option<Self> {
        if !has_one_frame_each(net) {
            return None;
        }
        let scope = |place: Place| net.places[place].cells().map(|cells| cells.scope);
        let mut processes = Self {
            own: net.places.indices().map(|place| matches!(scope(place), Some(Scope::Frame(_)))).collect(),
            written: IndexVec::filled(false, net.places.len()),
            global: net.places.indices().map(|place| scope(place) == Some(Scope::Global)).collect(),
        };
        // A section can be lost without a step that writes the cell.
        for special in [net.atomic, net.indivisible].into_iter().flatten() {
            processes.written[special] = true;
        }
        for data in &net.transitions {
            for arc in &data.arcs {
                if let ArcData::Read { place, key, .. } | ArcData::Write { place, key, .. } = arc {
                    processes.own[*place] &= names_moved_frame(net, data, key);
                    processes.written[*place] |= matches!(arc, ArcData::Write { .. });
                }
            }
        }
        Some(processes)
    }

    /// Why no other thread touches a cell while a frame stands on a place from which no step of another thread takes it.
    ///
    /// Cells of frames are a thread's own where every step names them by a frame that it moves or makes. Global cells are
    /// out of reach only where no step writes them.
    pub(crate) fn of(&self, cell: Place, writes: bool) -> Option<Shelter> {
        if self.own[cell] {
            return Some(Shelter::Own);
        }
        (!writes && self.global[cell] && !self.written[cell]).then_some(Shelter::Fixed)
    }
}

/// Whether in every reachable marking every thread has one frame, at depth 0, and nobody else's number.
///
/// It is so where no step makes a frame. Else a global cell must count the frames. By induction the threads are
/// those below its value: a step makes at most one frame, with that number, and then counts one more; only the
/// thread with the highest number can end, and then one less is counted; all others leave the cell alone, and put
/// every frame that they take back to some place. What ends the process, or the run, comes last.
fn has_one_frame_each(net: &Net) -> bool {
    let mut threads = Vec::new();
    for (place, data) in net.places.iter_enumerated() {
        if let PlaceForm::Tokens { initial } = &data.form
            && net.is_frame_place(place)
        {
            for token in initial {
                let [thread, 0] = token[..] else { return false };
                threads.push(thread);
            }
        }
    }
    threads.sort_unstable();
    let n_threads = threads.len();
    threads.dedup();
    if threads.len() != n_threads {
        return false;
    }
    let steps: Vec<(Transition, &TransitionData)> =
        net.transitions.iter_enumerated().filter(|(_, data)| !data.arcs.is_empty()).collect();
    let mut made: Vec<(Transition, Expr)> = Vec::new();
    for (transition, data) in &steps {
        let Some(new) = new_frames(net, data) else { return false };
        made.extend(new.into_iter().map(|number| (*transition, number)));
    }
    let Some((first, number)) = made.first() else { return true };
    let Some(count) = counter(&net.transitions[*first], number) else { return false };
    let is_counter = net.places[count].cells().is_some_and(|cells| {
        cells.scope == Scope::Global
            && cells.length.is_none()
            && usize::try_from(cells.default) == Ok(n_threads)
            // A thread with a higher number has no place in a state, so that the count does not wrap.
            && cells.value.contains(i64::from(net.max_threads))
    });
    let are_first = threads.iter().zip(0..).all(|(&thread, number)| thread == number);
    is_counter
        && are_first
        && steps.iter().all(|(transition, data)| {
            let new: Vec<&Expr> =
                made.iter().filter(|(maker, _)| maker == transition).map(|(_, number)| number).collect();
            counts(data, count, &new)
        })
}

/// The numbers of the frames that a step makes. None where it does something else to frames than to move them, to
/// make some at depth 0, or to end its own thread.
fn new_frames(net: &Net, data: &TransitionData) -> Option<Vec<Expr>> {
    let mut taken: Vec<[Expr; 2]> = Vec::new();
    let mut from: Vec<Place> = Vec::new();
    let mut put: Vec<&Vec<Expr>> = Vec::new();
    for arc in &data.arcs {
        match arc {
            ArcData::Take { place, token } if net.is_frame_place(*place) => {
                let [Pattern::Bind(thread), Pattern::Bind(depth)] = token[..] else { return None };
                taken.push([Expr::Var(thread), Expr::Var(depth)]);
                from.push(*place);
            }
            ArcData::Put { place, token } if net.is_frame_place(*place) => put.push(token),
            ArcData::Drain { place, to, .. } => {
                if net.is_frame_place(*place) || net.is_frame_place(*to) {
                    return None;
                }
            }
            ArcData::Take { .. } | ArcData::Put { .. } | ArcData::Test { .. } => {}
            ArcData::Inhibit { .. } | ArcData::Read { .. } | ArcData::Write { .. } => {}
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
    }
    let are_two = match (&from[..], &taken[..]) {
        ([_], _) => true,
        // One frame is not on two places. On one, it must be said that there are two.
        ([first, second], [[own, _], [other, _]]) => first != second || are_unequal(data, own, other),
        _ => false,
    };
    let times = |token: &[Expr]| put.iter().filter(|other| other.as_slice() == token).count();
    let is_fine = match data.action.effect() {
        Effect::None => taken.iter().all(|token| times(token) == 1),
        Effect::EndThread => taken.len() == 1 && put.is_empty(),
        Effect::EndProcess | Effect::Prune => return Some(Vec::new()),
    };
    let new = put.iter().filter(|token| taken.iter().all(|other| other.as_slice() != token.as_slice()));
    let numbers = new.map(|token| match token.as_slice() {
        [number, Expr::Const(0)] => Some(number.clone()),
        _ => None,
    });
    let numbers = numbers.collect::<Option<Vec<Expr>>>()?;
    (is_fine && are_two).then_some(numbers)
}

/// Whether the guard of a step says that two values differ.
fn are_unequal(data: &TransitionData, left: &Expr, right: &Expr) -> bool {
    let mut said = Vec::new();
    data.guard.iter().for_each(|guard| conjuncts(guard, &mut said));
    said.iter().any(|part| match part {
        Expr::Binary(BinaryOp::Ne, _, one, other) => **one == *left && **other == *right,
        _ => false,
    })
}

/// The cell that a step reads a number from.
fn counter(data: &TransitionData, number: &Expr) -> Option<Place> {
    let Expr::Var(number) = number else { return None };
    data.arcs.iter().find_map(|arc| match arc {
        ArcData::Read { place, key, var, when: None } if var == number && key.is_empty() => Some(*place),
        _ => None,
    })
}

/// Whether a step that makes these frames counts as it should.
fn counts(data: &TransitionData, count: Place, new: &[&Expr]) -> bool {
    let mut values: Vec<Var> = Vec::new();
    let mut written = Vec::new();
    for arc in &data.arcs {
        match arc {
            ArcData::Read { place, var, when: None, .. } if *place == count => {
                values.push(*var);
            }
            ArcData::Write { place, value, when, .. } if *place == count => written.push((value, when)),
            _ => {}
        }
    }
    let is_count = |expr: &Expr| matches!(expr, Expr::Var(var) if values.contains(var));
    let becomes = |op: BinaryOp| match written[..] {
        [(Expr::Binary(found, IntType::I32, old, by), None)] => {
            *found == op && is_count(old) && **by == Expr::Const(1)
        }
        _ => false,
    };
    match data.action.effect() {
        Effect::None => match new {
            [] => written.is_empty(),
            [number] => is_count(number) && becomes(BinaryOp::Add),
            _ => false,
        },
        Effect::EndThread => {
            let mut said = Vec::new();
            data.guard.iter().for_each(|guard| conjuncts(guard, &mut said));
            let own = Expr::Var(TransitionData::thread_var());
            let next = Expr::binary(BinaryOp::Add, IntType::I32, own, Expr::Const(1));
            let is_last = |part: &&Expr| match part {
                Expr::Binary(BinaryOp::Eq, IntType::I32, left, right) => **left == next && is_count(right),
                _ => false,
            };
            said.iter().any(is_last) && becomes(BinaryOp::Sub)
        }
        Effect::EndProcess | Effect::Prune => true,
    }
}

/// Whether a key names the cells of the frame that moves, of a partner's that is taken, or of one that is made.
fn names_moved_frame(net: &Net, data: &TransitionData, key: &[Expr]) -> bool {
    let Some(frame) = key.get(..2) else { return false };
    is_frame(frame)
        || data.arcs.iter().any(|arc| match arc {
            ArcData::Take { place, token } if net.is_frame_place(*place) => {
                token.iter().zip(frame).all(|(part, expr)| match (part, expr) {
                    (Pattern::Bind(bound), Expr::Var(var)) => bound == var,
                    _ => false,
                })
            }
            ArcData::Put { place, token } => net.is_frame_place(*place) && token.as_slice() == frame,
            _ => false,
        })
}

/// The conditions that are all true where this one is.
fn conjuncts<'a>(condition: &'a Expr, found: &mut Vec<&'a Expr>) {
    match condition {
        Expr::If(first, second, third) if **third == Expr::Const(0) => {
            conjuncts(first, found);
            conjuncts(second, found);
        }
        _ => found.push(condition),
    }
}
