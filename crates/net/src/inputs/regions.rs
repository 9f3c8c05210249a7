//! Bounds on the values of a frame's own variables, by where the frame is.
//!
//! The usual forward analysis with intervals: `assume(0 <= x && x < 5)` bounds `x` from there on, until it
//! is written. It follows tokens of frames from place to place. Only cells are looked at that nobody but
//! their own frame writes, or the step that makes the frame; a frame has one token.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::IndexVec;

use crate::net::{ArcData, Base, Pattern, Place, PlaceForm, Scope, Transition, TransitionData, Var};
use crate::{BinaryOp, Expr, IntType, Net};

/// Both ends included, in the order of canonical values.
type Range = (i64, i64);
/// The bounds of cells; a cell without an entry is not bounded.
type Bounds = BTreeMap<Place, Range>;

/// A place is visited this often before bounds that still move are given up.
const MAX_VISITS: u32 = 4;

/// The bounds of what steps read.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// By transition and the number of the arc that reads.
    reads: BTreeMap<(Transition, usize), Range>,
}

/// A frame that a step moves, makes where there is no place that it comes from, or ends where there is none
/// that it goes to.
#[derive(Clone, Debug)]
struct Move {
    from: Option<Place>,
    to: Option<Place>,
    token: Vec<Expr>,
}

/// The frames that a step moves, makes or ends.
fn moves(net: &Net, data: &TransitionData) -> Vec<Move> {
    let mut taken: Vec<(Place, Vec<Expr>)> = Vec::new();
    for arc in &data.arcs {
        if let ArcData::Take { place, token } = arc
            && net.is_frame_place(*place)
        {
            let part = |pattern: &Pattern| match pattern {
                Pattern::Bind(var) => Expr::Var(*var),
                Pattern::Is(expr) => expr.clone(),
            };
            taken.push((*place, token.iter().map(part).collect()));
        }
    }
    let mut found = Vec::new();
    for arc in &data.arcs {
        if let ArcData::Put { place, token } = arc
            && net.is_frame_place(*place)
        {
            let from = taken.iter().find(|(_, taken)| taken == token).map(|(from, _)| *from);
            found.push(Move { from, to: Some(*place), token: token.clone() });
        }
    }
    for (from, token) in taken {
        if !found.iter().any(|step: &Move| step.token == token) {
            found.push(Move { from: Some(from), to: None, token });
        }
    }
    found
}

/// Whether a transition can fire at most once in a run: it lies on no cycle of its function, and the
/// function is entered once, by a step that fires once or as the start of the program.
pub(super) fn fires_once(net: &Net, transition: Transition) -> bool {
    fires_once_within(net, transition, &mut BTreeSet::new())
}

fn fires_once_within(net: &Net, transition: Transition, seen: &mut BTreeSet<Transition>) -> bool {
    if !seen.insert(transition) {
        return false;
    }
    let Some(start) = net.transitions[transition].source() else { return false };
    // All places from which a frame can come to the start, moving itself.
    let mut behind = BTreeSet::from([start]);
    let mut makers = Vec::new();
    let mut n_initial = 0;
    let mut queue = vec![start];
    while let Some(place) = queue.pop() {
        if let PlaceForm::Tokens { initial } = &net.places[place].form {
            n_initial += initial.len();
        }
        for (other, data) in net.transitions.iter_enumerated() {
            for step in moves(net, data).iter().filter(|step| step.to == Some(place)) {
                match step.from {
                    Some(from) if from == start => return false,
                    Some(from) => {
                        if behind.insert(from) {
                            queue.push(from);
                        }
                    }
                    None => makers.push(other),
                }
            }
            if data.arcs.iter().any(|arc| matches!(arc, ArcData::Drain { to, .. } if *to == place)) {
                return false;
            }
        }
    }
    match (n_initial, makers.as_slice()) {
        (1, []) => true,
        (0, [maker]) => fires_once_within(net, *maker, seen),
        _ => false,
    }
}

impl Regions {
    /// The bounds of what an arc of a transition reads.
    pub(super) fn at(&self, transition: Transition, arc: usize) -> Option<(i64, i64)> {
        self.reads.get(&(transition, arc)).copied()
    }

    pub(super) fn new(net: &Net) -> Self {
        let drains = |arc: &ArcData| match arc {
            ArcData::Drain { place, to, .. } => net.is_frame_place(*place) || net.is_frame_place(*to),
            _ => false,
        };
        if net.transitions.iter().any(|data| data.arcs.iter().any(drains)) {
            return Self::default();
        }
        let mut analysis = Analysis {
            net,
            moves: net.transitions.iter().map(|data| moves(net, data)).collect(),
            private: private_cells(net),
            known: BTreeMap::new(),
            visits: BTreeMap::new(),
        };
        analysis.run();
        let mut result = Self::default();
        for (transition, data) in net.transitions.iter_enumerated() {
            for step in analysis.moves[transition].iter().filter(|step| step.from.is_some()) {
                let Some(mut values) = analysis.values(transition, step) else { continue };
                let feasible = data.guard.as_ref().is_none_or(|guard| narrow(guard, true, &mut values));
                let bounds = step.from.and_then(|from| analysis.known.get(&from));
                for (number, arc) in data.arcs.iter().enumerate() {
                    if let ArcData::Read { place, key, var, when } = arc
                        && *key == step.token
                        && analysis.private.contains(place)
                        // Where an arc does not count, its variable is 0, and the guard may be true of that: it
                        // says nothing of the cell. What is known of the cell before the step does.
                        && let Some(&range) = match when {
                            None => values.get(var),
                            Some(_) => bounds.and_then(|bounds| bounds.get(place)),
                        }
                        && feasible
                        && range != limits(analysis.type_of(*place))
                    {
                        result.reads.insert((transition, number), range);
                    }
                }
            }
        }
        result
    }
}

/// Cells of frames, not arrays, that are written only together with their frame's token.
fn private_cells(net: &Net) -> BTreeSet<Place> {
    let mut private: BTreeSet<Place> = net
        .places
        .iter_enumerated()
        .filter(|(_, data)| {
            data.cells().is_some_and(|cells| matches!(cells.scope, Scope::Frame(_)) && cells.length.is_none())
        })
        .map(|(place, _)| place)
        .collect();
    for data in &net.transitions {
        let moves = moves(net, data);
        for arc in &data.arcs {
            if let ArcData::Write { place, key, .. } = arc
                && !moves.iter().any(|step| step.token == *key)
            {
                private.remove(place);
            }
        }
    }
    private
}

struct Analysis<'a> {
    net: &'a Net,
    moves: IndexVec<Transition, Vec<Move>>,
    private: BTreeSet<Place>,
    /// The bounds at each place that a frame can reach.
    known: BTreeMap<Place, Bounds>,
    visits: BTreeMap<Place, u32>,
}

impl Analysis<'_> {
    fn run(&mut self) {
        let mut leaving: BTreeMap<Place, BTreeSet<Transition>> = BTreeMap::new();
        for (transition, moves) in self.moves.iter_enumerated() {
            for from in moves.iter().filter_map(|step| step.from) {
                leaving.entry(from).or_default().insert(transition);
            }
        }
        let mut queue: BTreeSet<Transition> = self.net.transitions.indices().collect();
        for (place, data) in self.net.places.iter_enumerated() {
            let PlaceForm::Tokens { initial } = &data.form else { continue };
            if self.net.is_frame_place(place) && !initial.is_empty() {
                self.known.insert(place, self.fresh(place));
            }
        }
        while let Some(transition) = queue.pop_first() {
            for step in self.moves[transition].clone() {
                let Some(to) = step.to else { continue };
                let Some(after) = self.after(transition, &step, to) else { continue };
                if self.join(to, after) {
                    queue.extend(leaving.get(&to).into_iter().flatten());
                }
            }
        }
    }

    fn type_of(&self, place: Place) -> IntType {
        self.net.places[place].cells().map_or(IntType::I64, |cells| cells.value)
    }

    /// The bounds in a new frame: those of the function's cells.
    fn fresh(&self, at: Place) -> Bounds {
        let function = self.net.places[at].function;
        let own = |place: &&Place| function.is_some() && self.net.places[**place].function == function;
        let initial = |place: &Place| {
            let default = self.net.places[*place].cells().map_or(0, |cells| cells.default);
            (*place, (default, default))
        };
        self.private.iter().filter(own).map(initial).collect()
    }

    /// The bounds of a step's variables before the guard is looked at; nothing where no frame gets there.
    fn values(&self, transition: Transition, step: &Move) -> Option<BTreeMap<Var, Range>> {
        let data = &self.net.transitions[transition];
        let mut values: BTreeMap<Var, Range> = data
            .vars
            .iter_enumerated()
            .filter_map(|(var, data)| match data.base {
                Base::Int(ty) => Some((var, limits(ty))),
                Base::Thread | Base::Depth | Base::Index(_) => None,
            })
            .collect();
        let Some(from) = step.from else { return Some(values) };
        let bounds = self.known.get(&from)?;
        for arc in &data.arcs {
            if let ArcData::Read { place, key, var, when: None } = arc
                && *key == step.token
                && let Some(&range) = bounds.get(place)
            {
                values.insert(*var, range);
            }
        }
        Some(values)
    }

    /// The bounds after a step; nothing where it cannot happen.
    fn after(&self, transition: Transition, step: &Move, to: Place) -> Option<Bounds> {
        let data = &self.net.transitions[transition];
        // The frame that moves is bounded by what it read; one that is made, by what its maker read.
        let mover = match step.from {
            Some(_) => Some(step),
            None => self.moves[transition].iter().find(|step| step.from.is_some()),
        };
        let mut values = match mover {
            Some(mover) => self.values(transition, mover)?,
            None => BTreeMap::new(),
        };
        if !data.guard.as_ref().is_none_or(|guard| narrow(guard, true, &mut values)) {
            return None;
        }
        let mut bounds = match step.from {
            None => self.fresh(to),
            Some(from) => self.known.get(&from)?.clone(),
        };
        // What the guard says of a variable, it says of the cell.
        for arc in &data.arcs {
            if let ArcData::Read { place, key, var, when: None } = arc
                && step.from.is_some()
                && *key == step.token
                && let Some(range) = values.get(var)
                && self.private.contains(place)
            {
                bounds.insert(*place, *range);
            }
        }
        for arc in &data.arcs {
            if let ArcData::Write { place, key, value, when } = arc
                && *key == step.token
                && self.private.contains(place)
            {
                let ty = self.type_of(*place);
                let new = converted(ty, range_of(value, &values));
                let old = bounds.get(place).copied();
                match when {
                    None => bounds.insert(*place, new),
                    Some(_) => match old {
                        Some(old) => bounds.insert(*place, hull(old, new)),
                        None => None,
                    },
                };
            }
        }
        Some(bounds)
    }

    /// Adds bounds to those known at a place; whether they became wider.
    fn join(&mut self, place: Place, new: Bounds) -> bool {
        let Some(known) = self.known.get_mut(&place) else {
            self.known.insert(place, new);
            return true;
        };
        let visits = self.visits.entry(place).or_default();
        let mut changed = false;
        known.retain(|cell, range| {
            let Some(&added) = new.get(cell) else {
                changed = true;
                return false;
            };
            let ty = self.net.places[*cell].cells().map_or(IntType::I64, |cells| cells.value);
            let mut wider = hull(*range, added);
            if *visits >= MAX_VISITS {
                // Bounds that move are given up, each by itself.
                let (least, most) = limits(ty);
                wider.0 = if wider.0 < range.0 { least } else { wider.0 };
                wider.1 = if wider.1 > range.1 { most } else { wider.1 };
            }
            changed |= wider != *range;
            *range = wider;
            true
        });
        *visits += u32::from(changed);
        changed
    }
}

const fn limits(ty: IntType) -> Range {
    if ty.bits == 64 { (i64::MIN, i64::MAX) } else { (ty.min(), ty.max()) }
}

fn hull(left: Range, right: Range) -> Range {
    (left.0.min(right.0), left.1.max(right.1))
}

fn converted(ty: IntType, range: Range) -> Range {
    if ty.contains(range.0) && ty.contains(range.1) { range } else { limits(ty) }
}

/// Bounds of an expression.
fn range_of(expr: &Expr, values: &BTreeMap<Var, Range>) -> Range {
    let all = (i64::MIN, i64::MAX);
    match expr {
        Expr::Const(value) => (*value, *value),
        Expr::Var(var) => values.get(var).copied().unwrap_or(all),
        Expr::Convert(ty, operand) => converted(*ty, range_of(operand, values)),
        Expr::If(_, then, otherwise) => hull(range_of(then, values), range_of(otherwise, values)),
        Expr::Binary(op, ty, left, right) => {
            let (left, right) = (range_of(left, values), range_of(right, values));
            let exact = |low: Option<i64>, high: Option<i64>| match (low, high) {
                (Some(low), Some(high)) => converted(*ty, (low, high)),
                _ => limits(*ty),
            };
            match op {
                BinaryOp::Add => exact(left.0.checked_add(right.0), left.1.checked_add(right.1)),
                BinaryOp::Sub => exact(left.0.checked_sub(right.1), left.1.checked_sub(right.0)),
                BinaryOp::Mul if left.0 >= 0 && right.0 >= 0 => {
                    exact(left.0.checked_mul(right.0), left.1.checked_mul(right.1))
                }
                BinaryOp::And if right.0 >= 0 => (0, right.1),
                BinaryOp::And if left.0 >= 0 => (0, left.1),
                BinaryOp::Rem if left.0 >= 0 && right.0 > 0 => (0, left.1.min(right.1 - 1)),
                BinaryOp::Div if left.0 >= 0 && right.0 > 0 => (0, left.1),
                op if op.is_comparison() => (0, 1),
                _ => all,
            }
        }
        Expr::Unary(..) | Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => all,
    }
}

/// Narrows bounds by a condition that is true (or false); `false` where it cannot be.
fn narrow(condition: &Expr, truth: bool, values: &mut BTreeMap<Var, Range>) -> bool {
    match condition {
        Expr::Const(value) => (*value != 0) == truth,
        Expr::If(first, second, third) => match (&**second, &**third) {
            // Both, or not both; either, or neither.
            (second, Expr::Const(0)) if truth => narrow(first, true, values) && narrow(second, true, values),
            (Expr::Const(1), third) if !truth => narrow(first, false, values) && narrow(third, false, values),
            _ => true,
        },
        Expr::Binary(BinaryOp::Eq, _, left, right) => compare(left, right, truth, values),
        Expr::Binary(BinaryOp::Ne, _, left, right) => compare(left, right, !truth, values),
        Expr::Binary(BinaryOp::Lt, ty, left, right) if truth => less(*ty, left, right, 1, values),
        Expr::Binary(BinaryOp::Le, ty, left, right) if truth => less(*ty, left, right, 0, values),
        Expr::Binary(BinaryOp::Lt, ty, left, right) => less(*ty, right, left, 0, values),
        Expr::Binary(BinaryOp::Le, ty, left, right) => less(*ty, right, left, 1, values),
        _ => true,
    }
}

/// Narrows by `left == right`, or by `left != right`.
fn compare(left: &Expr, right: &Expr, equal: bool, values: &mut BTreeMap<Var, Range>) -> bool {
    // A comparison of a condition with 0 or 1.
    if let (true, Expr::Const(value @ (0 | 1))) = (left.is_boolean(), right) {
        return narrow(left, (*value == 1) == equal, values);
    }
    let (a, b) = (range_of(left, values), range_of(right, values));
    if equal {
        let both = (a.0.max(b.0), a.1.min(b.1));
        return both.0 <= both.1 && limit(left, both, values) && limit(right, both, values);
    }
    let without = |range: Range, other: Range| match range {
        (low, high) if other.0 != other.1 || low == high => (low, high),
        (low, high) if low == other.0 => (low + 1, high),
        (low, high) if high == other.0 => (low, high - 1),
        range => range,
    };
    let (new_a, new_b) = (without(a, b), without(b, a));
    limit(left, new_a, values) && limit(right, new_b, values)
}

/// Narrows by `left + gap <= right`.
fn less(ty: IntType, left: &Expr, right: &Expr, gap: i64, values: &mut BTreeMap<Var, Range>) -> bool {
    let (mut a, mut b) = (range_of(left, values), range_of(right, values));
    if !ty.signed {
        // What is below something that does not look negative does not look negative.
        if b.0 < 0 {
            return true;
        }
        a.0 = a.0.max(0);
    }
    a.1 = a.1.min(b.1.saturating_sub(gap));
    if ty.signed || a.0 >= 0 {
        b.0 = b.0.max(a.0.saturating_add(gap));
    }
    a.0 <= a.1 && b.0 <= b.1 && limit(left, a, values) && limit(right, b, values)
}

/// Narrows an expression that is a variable, possibly converted, to bounds.
fn limit(expr: &Expr, range: Range, values: &mut BTreeMap<Var, Range>) -> bool {
    match expr {
        Expr::Var(var) => {
            let known = values.get(var).copied().unwrap_or((i64::MIN, i64::MAX));
            let both = (known.0.max(range.0), known.1.min(range.1));
            values.insert(*var, both);
            both.0 <= both.1
        }
        Expr::Convert(ty, operand) => {
            let inner = range_of(operand, values);
            // Only where the conversion changes nothing.
            if ty.contains(inner.0) && ty.contains(inner.1) { limit(operand, range, values) } else { true }
        }
        _ => true,
    }
}
