//! Handles of threads that were created and not yet joined, and the faults of joins that this rules out.
//!
//! A step that creates a thread gives it the number `n` that a global cell *count* holds, adds one to the count,
//! and puts `n + 1`, the *handle*, into a cell. A *handle cell* belongs to one frame alone: it is a local of it, or
//! a global that only the first function touches; and nothing is written to it but handles by the steps that create
//! their threads, and constants. So no two handle cells ever hold the same handle. That a thread was joined or
//! detached is a mark under its number; where all steps that set such marks take the number from handle cells, the
//! mark of a thread is set only by a step that reads the one cell that holds its handle, and that is a step of the
//! frame to which the cell belongs. So along the steps of that frame: a cell is *fresh* after a step that created
//! a thread into it, until a step takes a number from it to set a mark, or writes it. A fresh handle is not 0, at
//! most the count (which never falls), and its thread is not marked.

use pdnet_base::{FxHashMap, FxHashSet, IndexVec};

use super::calls::Calls;
use super::facts::Facts;
use crate::flow::Flow;
use crate::frames::{is_demanded, is_own, made};
use crate::net::{ArcData, Place, Scope, Transition, TransitionData, Var};
use crate::{Action, BinaryOp, Expr, Fault, IntType, Net};

/// A set of handle cells, by number. So many are looked at.
type Set = u128;
const MAX_CELLS: usize = 128;

/// A handle cell: its place, and the constant index in an array.
type Cell = (Place, Option<i64>);

/// Marks the joins that cannot fail because the handle is fresh.
pub(super) fn mark(net: &Net, flow: &Flow, calls: &Calls, found: &mut IndexVec<Transition, bool>) {
    let is_asked = |data: &TransitionData| data.action == Action::Fault(Fault::NoThread);
    if !net.transitions.iter().any(is_asked) {
        return;
    }
    let Some(handles) = Handles::new(net, calls) else { return };
    let fresh = handles.fresh(net, flow);
    for (transition, data) in net.transitions.iter_enumerated().filter(|(_, data)| is_asked(data)) {
        let set = data.source().and_then(|source| fresh[source]).unwrap_or(0);
        if set != 0 && handles.is_ruled_out(data, set) {
            found[transition] = true;
        }
    }
}

struct Handles {
    /// The cell that counts threads.
    count: Place,
    numbers: FxHashMap<Cell, usize>,
    /// The places with a mark for each thread.
    marks: FxHashSet<Place>,
}

impl Handles {
    fn new(net: &Net, calls: &Calls) -> Option<Self> {
        let mut count = None;
        let mut places: FxHashSet<Place> = FxHashSet::default();
        for data in &net.transitions {
            let Some((place, handle)) = created(net, data) else { continue };
            if count.is_some_and(|count| count != place) {
                return None;
            }
            count = Some(place);
            let written = data.arcs.iter().filter_map(|arc| match arc {
                ArcData::Write { place, value, .. } if *value == handle && Some(*place) != count => {
                    Some(*place)
                }
                _ => None,
            });
            places.extend(written);
        }
        let count = count?;
        let mut handles = Self { count, numbers: FxHashMap::default(), marks: FxHashSet::default() };
        let mut marked: Vec<(&TransitionData, Place, &[Expr])> = Vec::new();
        for data in &net.transitions {
            let handle = created(net, data).map(|(_, handle)| handle);
            let mut n_handles = 0;
            for arc in &data.arcs {
                match arc {
                    // The count only ever grows, and by the number that was given.
                    ArcData::Write { place, value, when, .. }
                        if *place == count && (handle.as_ref() != Some(value) || when.is_some()) =>
                    {
                        return None;
                    }
                    ArcData::Write { place, key, value, when } if places.contains(place) => {
                        let is_handle = handle.as_ref() == Some(value);
                        n_handles += usize::from(is_handle);
                        let is_fine = is_handle || matches!(value, Expr::Const(0));
                        if !is_fine
                            || when.is_some()
                            || n_handles > 1
                            || !is_of_one(net, calls, data, *place, key)
                        {
                            places.remove(place);
                        }
                    }
                    ArcData::Read { place, key, .. }
                        if places.contains(place) && !is_of_one(net, calls, data, *place, key) =>
                    {
                        places.remove(place);
                    }
                    ArcData::Write { place, key, .. } if is_mark_place(net, *place) => {
                        marked.push((data, *place, key));
                    }
                    _ => {}
                }
            }
        }
        for data in &net.transitions {
            for arc in &data.arcs {
                if let ArcData::Write { place, key, .. } = arc
                    && places.contains(place)
                    && let Some(index) = constant_index(key)
                {
                    let next = handles.numbers.len();
                    if next < MAX_CELLS || handles.numbers.contains_key(&(*place, index)) {
                        handles.numbers.entry((*place, index)).or_insert(next);
                    }
                }
            }
        }
        // Marks that are set for numbers from elsewhere say nothing.
        let mut is_wrong: FxHashSet<Place> = FxHashSet::default();
        for (data, place, key) in marked {
            let is_from_cell = number_var(key).and_then(|var| handles.cell_of(data, var)).is_some();
            handles.marks.insert(place);
            if !is_from_cell {
                is_wrong.insert(place);
            }
        }
        handles.marks.retain(|place| !is_wrong.contains(place));
        Some(handles)
    }

    /// The number of the handle cell whose value a variable has whenever the step happens.
    fn cell_of(&self, data: &TransitionData, var: Var) -> Option<usize> {
        data.arcs.iter().find_map(|arc| match arc {
            ArcData::Read { place, key, var: bound, when }
                if *bound == var && when.as_ref().is_none_or(|when| is_demanded(data, when)) =>
            {
                self.numbers.get(&(*place, constant_index(key)?)).copied()
            }
            _ => None,
        })
    }

    /// The fresh cells at each place that a frame can come to.
    fn fresh(&self, net: &Net, flow: &Flow) -> IndexVec<Place, Option<Set>> {
        let mut fresh: IndexVec<Place, Option<Set>> = IndexVec::filled(None, net.places.len());
        let mut queue: Vec<Place> = net.functions.iter().map(|data| data.entry).collect();
        for &entry in &queue {
            fresh[entry] = Some(0);
        }
        while let Some(place) = queue.pop() {
            let Some(set) = fresh[place] else { continue };
            for step in &flow.steps[place] {
                let Some(target) = step.target else { continue };
                let after = self.after(net, &net.transitions[step.transition], set);
                let joined = fresh[target].map_or(after, |known| known & after);
                if fresh[target] != Some(joined) {
                    fresh[target] = Some(joined);
                    queue.push(target);
                }
            }
        }
        fresh
    }

    fn after(&self, net: &Net, data: &TransitionData, mut set: Set) -> Set {
        for arc in &data.arcs {
            let ArcData::Write { place, key, .. } = arc else { continue };
            if let Some(number) = constant_index(key).and_then(|index| self.numbers.get(&(*place, index))) {
                set &= !(1 << number);
            }
            if self.marks.contains(place) {
                set &= match number_var(key).and_then(|var| self.cell_of(data, var)) {
                    Some(number) => !(1 << number),
                    None => 0,
                };
            }
        }
        let Some((_, handle)) = created(net, data) else { return set };
        for arc in &data.arcs {
            if let ArcData::Write { place, key, value, when: None } = arc
                && *value == handle
                && let Some(number) = constant_index(key).and_then(|index| self.numbers.get(&(*place, index)))
            {
                set |= 1 << number;
            }
        }
        set
    }

    /// Whether the guard of a step is false because a handle that it reads is fresh.
    fn is_ruled_out(&self, data: &TransitionData, set: Set) -> bool {
        let Some(guard) = &data.guard else { return false };
        let count = data.arcs.iter().find_map(|arc| match arc {
            ArcData::Read { place, var, .. } if *place == self.count => Some(*var),
            _ => None,
        });
        let Some(count) = count else { return false };
        let handles = data.vars.indices().filter(|&var| {
            let is_plain =
                |arc: &ArcData| matches!(arc, ArcData::Read { var: bound, when: None, .. } if *bound == var);
            data.arcs.iter().any(is_plain)
                && self.cell_of(data, var).is_some_and(|number| set & (1 << number) != 0)
        });
        for handle in handles {
            let handle = Expr::Var(handle);
            let mut known = vec![
                Expr::binary(BinaryOp::Ne, IntType::I64, handle.clone(), Expr::Const(0)),
                Expr::binary(BinaryOp::Le, IntType::U64, handle.clone(), Expr::Var(count)),
            ];
            let number = Expr::binary(BinaryOp::Sub, IntType::I64, handle, Expr::Const(1));
            // The count is read: otherwise its variable says nothing.
            let is_read = |facts: &Facts, place: Place| {
                data.arcs.iter().any(|arc| match arc {
                    ArcData::Read { place: read, when, .. } if *read == place => when
                        .as_ref()
                        .is_none_or(|when| matches!(facts.simplify(when), Expr::Const(value) if value != 0)),
                    _ => false,
                })
            };
            if !is_read(&Facts::new(&known[..1]), self.count) {
                continue;
            }
            let facts = Facts::new(&known);
            let marks = data.arcs.iter().filter_map(|arc| match arc {
                ArcData::Read { place, key, var, .. } if self.marks.contains(place) => match key.as_slice() {
                    [key] if facts.simplify(key) == number => Some(*var),
                    _ => None,
                },
                _ => None,
            });
            // Whether the arc counts or not: the mark of the thread is 0.
            known.extend(marks.map(|var| Expr::equal(Expr::Var(var), Expr::Const(0))).collect::<Vec<_>>());
            if Facts::new(&known).simplify(guard) == Expr::Const(0) {
                return true;
            }
        }
        false
    }
}

/// Of a step that creates a thread: the cell that its number is read from, and its handle.
fn created(net: &Net, data: &TransitionData) -> Option<(Place, Expr)> {
    let mover = Expr::Var(TransitionData::thread_var());
    let number = made(net, data).find_map(|(_, token)| match token.first() {
        Some(first @ Expr::Var(var)) if *first != mover => Some(*var),
        _ => None,
    })?;
    let count = data.arcs.iter().find_map(|arc| match arc {
        ArcData::Read { place, key, var, when }
            if *var == number
                && key.is_empty()
                && when.as_ref().is_none_or(|when| is_demanded(data, when)) =>
        {
            Some(*place)
        }
        _ => None,
    })?;
    // There is room for the next number.
    let room =
        net.places[count].cells().is_some_and(|cells| cells.value.contains(i64::from(net.max_threads)));
    let is_below =
        Expr::binary(BinaryOp::Lt, IntType::I64, Expr::Var(number), Expr::Const(i64::from(net.max_threads)));
    let handle = Expr::binary(BinaryOp::Add, IntType::I64, Expr::Var(number), Expr::Const(1));
    (room && is_demanded(data, &is_below)).then_some((count, handle))
}

/// Whether a place has a cell for each thread, 0 at first.
fn is_mark_place(net: &Net, place: Place) -> bool {
    let cells = net.places[place].cells();
    cells.is_some_and(|cells| {
        matches!(cells.scope, Scope::Thread) && cells.length.is_none() && cells.default == 0
    })
}

/// The variable whose value, less one, is the key.
fn number_var(key: &[Expr]) -> Option<Var> {
    let [Expr::Binary(BinaryOp::Sub, _, left, right)] = key else { return None };
    match (&**left, &**right) {
        (Expr::Var(var), Expr::Const(1)) => Some(*var),
        _ => None,
    }
}

/// Whether a step accesses a cell that only one frame accesses, at a constant index if any.
fn is_of_one(net: &Net, calls: &Calls, data: &TransitionData, place: Place, key: &[Expr]) -> bool {
    let Some(cells) = net.places[place].cells() else { return false };
    let is_owned = match cells.scope {
        Scope::Frame(_) => key.len() >= 2 && is_own(&key[..2]),
        Scope::Global => calls.main == Some(data.function),
        Scope::Thread => false,
    };
    // A handle that is there from the start, or a write outside of the array, is no handle of a thread.
    let is_inside = constant_index(key).is_some_and(|index| {
        index.is_none_or(|index| (0..i64::from(cells.length.unwrap_or(0))).contains(&index))
    });
    is_owned && is_inside && cells.value == IntType::U64 && cells.default == 0 && cells.listed.is_empty()
}

/// The constant index in an array, none for a single cell; nothing where it is not constant.
fn constant_index(key: &[Expr]) -> Option<Option<i64>> {
    let rest = if key.len() >= 2 && is_own(&key[..2]) { &key[2..] } else { key };
    match rest {
        [] => Some(None),
        [Expr::Const(index)] => Some(Some(*index)),
        _ => None,
    }
}
