//! How many threads there can be.
//!
//! A step happens at most once in each activation of its function where it lies on no cycle, and at most once in
//! each round of each of the loops around it otherwise: a loop that comes back to its header at most `n` times has
//! at most `n + 1` rounds, the last of which leaves it. The first function is activated once; any other as often
//! as the steps happen that enter it. A global cell that steps only add one to is then at most its first value and
//! as much more as the steps can happen. The number of threads is such a cell. A step that meets the bound is one
//! of those that leave its place: where a step that adds one is another, that one has not happened as often as it
//! can.

use pdnet_base::{FxHashMap, IndexVec};

use super::calls::Calls;
use crate::flow::Flow;
use crate::interval::{Range, by_type, narrow};
use crate::loops::Loops;
use crate::net::{ArcData, Function, Place, Scope, Transition, TransitionData};
use crate::{Action, BinaryOp, Bound, Expr, Net};

/// More is not counted.
const MANY: u64 = 1 << 20;

/// Marks the steps that meet the bound on threads where there can never be so many.
pub(super) fn mark(
    net: &Net,
    flow: &Flow,
    loops: &Loops,
    calls: &Calls,
    found: &mut IndexVec<Transition, bool>,
) {
    let is_bound = |data: &TransitionData| data.action == Action::Bound(Bound::Threads);
    if !net.transitions.iter().any(is_bound) {
        return;
    }
    let mut counts = Counts::new(net, flow, loops, calls);
    let mut most_of: FxHashMap<Place, Option<i64>> = FxHashMap::default();
    for (transition, data) in net.transitions.iter_enumerated().filter(|(_, data)| is_bound(data)) {
        let mut values = by_type(net, data);
        for arc in &data.arcs {
            if let ArcData::Read { place, var, .. } = arc
                && let Some((first, most)) = counts.bounds(*place, &mut most_of)
            {
                let is_instead = most > first && counts.adds_at(*place, data.source());
                // Where the arc does not count, the variable is 0.
                values[*var] = Range::new(first.min(0), if is_instead { most - 1 } else { most });
            }
        }
        let is_possible = data.guard.as_ref().is_none_or(|guard| narrow(guard, true, &mut values));
        found[transition] |= !is_possible;
    }
}

/// The greatest number of threads that there can ever be, where that can be seen.
#[must_use]
pub fn most_threads(net: &Net) -> Option<u32> {
    let is_bound = |data: &&TransitionData| data.action == Action::Bound(Bound::Threads);
    let counter = net.transitions.iter().find(is_bound)?.arcs.iter().rev().find_map(|arc| match arc {
        ArcData::Read { place, .. } if net.places[*place].internal => Some(*place),
        _ => None,
    })?;
    crate::frames::Frames::new(net)?;
    let flow = Flow::new(net);
    let loops = Loops::new(net, &flow);
    let calls = Calls::new(net);
    let (_, most) = Counts::new(net, &flow, &loops, &calls).bounds(counter, &mut FxHashMap::default())?;
    u32::try_from(most).ok()
}

struct Counts<'a> {
    net: &'a Net,
    flow: &'a Flow,
    loops: &'a Loops,
    calls: &'a Calls,
    /// The loops around each place that is in one.
    around: FxHashMap<Place, Vec<usize>>,
    /// How often each function is activated at most; nothing where that is not known, or just being found out.
    activations: FxHashMap<Function, Option<u64>>,
}

impl<'a> Counts<'a> {
    fn new(net: &'a Net, flow: &'a Flow, loops: &'a Loops, calls: &'a Calls) -> Self {
        let mut around: FxHashMap<Place, Vec<usize>> = FxHashMap::default();
        for (index, data) in loops.list.iter().enumerate() {
            for &place in &data.body {
                around.entry(place).or_default().push(index);
            }
        }
        Self { net, flow, loops, calls, around, activations: FxHashMap::default() }
    }

    /// The first value and the greatest one of a cell that steps only add one to.
    fn bounds(&mut self, place: Place, known: &mut FxHashMap<Place, Option<i64>>) -> Option<(i64, i64)> {
        let cells = self.net.places[place].cells()?;
        if cells.scope != Scope::Global || cells.length.is_some() {
            return None;
        }
        let added = match known.get(&place) {
            Some(added) => *added,
            None => {
                let added = self.added(place);
                known.insert(place, added);
                added
            }
        };
        let most = cells.default.checked_add(added?)?;
        cells.value.contains(most).then_some((cells.default, most))
    }

    /// How often steps add one to a cell, at most; nothing where they do anything else to it.
    fn added(&mut self, cell: Place) -> Option<i64> {
        let net = self.net;
        let mut n_added: u64 = 0;
        for (transition, data) in net.transitions.iter_enumerated() {
            let mut writes = data.arcs.iter().filter_map(|arc| match arc {
                ArcData::Write { place, value, .. } if *place == cell => Some(value),
                _ => None,
            });
            let Some(value) = writes.next() else { continue };
            if writes.next().is_some() || !adds_one(data, cell, value) {
                return None;
            }
            n_added = n_added.checked_add(self.firings(transition)?)?;
        }
        i64::try_from(n_added).ok().filter(|&n_added| n_added <= MANY.cast_signed())
    }

    /// Whether a step from a place adds to a cell.
    fn adds_at(&self, cell: Place, source: Option<Place>) -> bool {
        let steps = source.into_iter().flat_map(|source| &self.flow.steps[source]);
        let mut arcs = steps.flat_map(|step| &self.net.transitions[step.transition].arcs);
        arcs.any(|arc| matches!(arc, ArcData::Write { place, .. } if *place == cell))
    }

    /// How often a step happens in a run, at most.
    fn firings(&mut self, transition: Transition) -> Option<u64> {
        let data = &self.net.transitions[transition];
        let mut n_firings = self.activations(self.net.places[data.source()?].function?)?;
        for &index in self.around.get(&data.source()?).into_iter().flatten() {
            let n_rounds = self.loops.list[index].ends?.max_rounds?.checked_add(1)?;
            n_firings = n_firings.checked_mul(n_rounds).filter(|&n| n <= MANY)?;
        }
        Some(n_firings)
    }

    /// How often a function is activated in a run, at most.
    fn activations(&mut self, function: Function) -> Option<u64> {
        if self.calls.main == Some(function) {
            return Some(1);
        }
        // There is one initial frame, of the first function.
        self.calls.main?;
        if let Some(known) = self.activations.get(&function) {
            return *known;
        }
        self.activations.insert(function, None);
        let calls = self.calls;
        let mut n_activations: u64 = 0;
        for entering in &calls.entering[function] {
            n_activations =
                n_activations.checked_add(self.firings(entering.transition)?).filter(|&n| n <= MANY)?;
        }
        self.activations.insert(function, Some(n_activations));
        Some(n_activations)
    }
}

/// Whether a value is that of a cell before, and one more.
fn adds_one(data: &TransitionData, cell: Place, value: &Expr) -> bool {
    let Expr::Binary(BinaryOp::Add, _, left, right) = value else { return false };
    let (Expr::Var(var), Expr::Const(1)) = (&**left, &**right) else { return false };
    data.arcs.iter().any(|arc| match arc {
        ArcData::Read { place, var: bound, when, .. } => {
            // Where the arc does not count, the variable is 0, and one is not more than the first value and one.
            let is_fine = when.as_ref().is_none_or(|when| crate::frames::is_demanded(data, when));
            *place == cell && bound == var && is_fine
        }
        _ => false,
    })
}
