//! What never changes and what never happens, taken out of a net before it is sliced.
//!
//! Places and transitions keep their numbers: a transition that is gone has no arcs.

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Expr, Flow, Net, Pattern, Place, TransitionData, implies, impossible};

/// So often what was found is used to find more.
const MAX_ROUNDS: usize = 4;

/// The net with constants in the place of cells that never change, without the transitions that can never fire, and
/// without the guards that are then always true. It has no control arcs.
pub(crate) fn fold(net: &Net) -> Net {
    let mut folded = net.clone();
    for data in folded.transitions.iter_mut() {
        data.arcs.retain(|arc| !arc.is_control());
    }
    for _ in 0..MAX_ROUNDS {
        let constants = fold_constants(&mut folded);
        let removed = remove_impossible(&mut folded);
        if !constants && !removed {
            break;
        }
    }
    folded
}

/// Cells that every write leaves as they are: nobody writes, or only the initial value of all of them.
fn unchanging(net: &Net) -> IndexVec<Place, bool> {
    let mut is_fixed: IndexVec<Place, bool> = net.places.iter().map(|data| data.cells().is_some()).collect();
    for arc in net.transitions.iter().flat_map(|data| &data.arcs) {
        if let ArcData::Write { place, value, .. } = arc {
            let cells = net.places[*place].cells();
            let same =
                cells.is_some_and(|cells| cells.listed.is_empty() && *value == Expr::Const(cells.default));
            // A write that changes nothing can still be raced with.
            is_fixed[*place] &= same && !net.places[*place].memory;
        }
    }
    if let Some(atomic) = net.atomic {
        is_fixed[atomic] = false;
    }
    is_fixed
}

/// Replaces reads of unchanging cells by their values; true where there was one.
fn fold_constants(net: &mut Net) -> bool {
    let is_fixed = unchanging(net);
    let places = net.places.clone();
    let mut is_changed = false;
    for data in net.transitions.iter_mut() {
        let mut at = 0;
        while let Some(arc) = data.arcs.get(at) {
            at += 1;
            let ArcData::Read { place, key, var, when } = arc else { continue };
            let (true, Some(cells)) = (is_fixed[*place], places[*place].cells()) else { continue };
            let value = match (cells.length, key.last()) {
                (None, _) => cells.default,
                (Some(length), Some(Expr::Const(index))) => match u32::try_from(*index) {
                    Ok(index) if index < length => cells.initial(index),
                    _ => 0,
                },
                (Some(_), _) if cells.listed.is_empty() && cells.default == 0 => 0,
                (Some(_), _) => continue,
            };
            let value = match when {
                None => Expr::Const(value),
                Some(when) => Expr::cond(when.clone(), Expr::Const(value), Expr::Const(0)),
            };
            let var = *var;
            data.arcs.remove(at - 1);
            replace(data, &|other| if other == var { value.clone() } else { Expr::Var(other) });
            is_changed = true;
            // Another read may have had it in its key or its condition.
            at = 0;
        }
        if let Some(Expr::Const(value)) = data.guard {
            if value == 0 {
                data.arcs.clear();
            }
            data.guard = None;
            is_changed = true;
        }
    }
    is_changed
}

/// Replaces variables in all expressions of a transition.
fn replace(data: &mut TransitionData, by: &impl Fn(pdnet_net::Var) -> Expr) {
    let one = |expr: &mut Expr| *expr = expr.replace_vars(by);
    for arc in &mut data.arcs {
        match arc {
            ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                for part in token {
                    if let Pattern::Is(expr) = part {
                        one(expr);
                    }
                }
            }
            ArcData::Put { token, .. } => token.iter_mut().for_each(one),
            ArcData::Inhibit { prefix, .. } | ArcData::Drain { prefix, .. } => {
                prefix.iter_mut().for_each(one)
            }
            ArcData::Read { key, when, .. } => key.iter_mut().chain(when).for_each(one),
            ArcData::Write { key, value, when, .. } => {
                key.iter_mut().chain([value]).chain(when).for_each(one)
            }
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
    }
    data.guard.iter_mut().for_each(one);
    data.bytes.iter_mut().for_each(|bytes| one(&mut bytes.first));
}

/// Drops a guard that is always true, and the conditions of arcs that are true with it.
fn drop_guard(data: &mut TransitionData) {
    let Some(guard) = data.guard.take() else { return };
    for arc in &mut data.arcs {
        if let ArcData::Read { when, .. } | ArcData::Write { when, .. } = arc
            && when.as_ref().is_some_and(|when| implies(&guard, when))
        {
            *when = None;
        }
    }
}

/// Removes what can never fire. Where one step is left of a statement, and one of all its guards was always true, it
/// is this one's. True where something was removed.
fn remove_impossible(net: &mut Net) -> bool {
    let is_impossible = impossible(net);
    let flow = Flow::new(net);
    let mut is_changed = false;
    for (place, steps) in flow.steps.iter_enumerated() {
        let left: Vec<_> = steps.iter().filter(|step| !is_impossible[step.transition]).collect();
        if left.len() == steps.len() {
            continue;
        }
        is_changed = true;
        if let [only] = left[..]
            && flow.guards_cover(net, place)
        {
            drop_guard(&mut net.transitions[only.transition]);
        }
        for step in steps.iter().filter(|step| is_impossible[step.transition]) {
            net.transitions[step.transition].arcs.clear();
        }
    }
    is_changed
}
