//! Which loops end: a proof for loops that count.
//!
//! A *counter* is a private cell of the frame ([`Frames`]) that the steps of the loop only change by adding
//! constants of one sign. A *test* is a place that every round passes, and whose steps that stay in the loop are
//! enabled only where the counter is within a limit. Say that the counter goes up (down is the same the other way
//! round), that a round adds at least one and at most `most`, and that the steps that stay need
//! `counter <= limit`. Where `limit + most` is a value of the counter's type, no addition after a passed test
//! wraps around, so that the counter is greater at each test than at the one before, and at most `limit` where
//! the test is passed. There are finitely many such values: the loop ends. What the limit comes from does not
//! matter: in `i < n` it is at most the largest value that `n` can have, less one, whatever happens to `n`.
//!
//! Where a round adds exactly one and the test is `counter != c`, the counter takes all values of its type one
//! after the other, wrapping around or not, and `c` among them.
//!
//! *Rounds.* Loops are looked at from the inside out. Where all cycles of a loop lead through its header, those
//! inside that are known to end aside, a round is a way from the header to the header. Cut out of it what goes
//! round in inner loops, and it is a way in a graph without cycles. The counter is not written in inner loops, so
//! that nothing is cut that changes it, and each addition happens at most once in a round.

use pdnet_base::{FxHashMap, IndexVec};

use crate::flow::{Flow, FlowStep};
use crate::frames::{Frames, is_own};
use crate::interval::{by_type, range_of};
use crate::loops::{Ending, Loops};
use crate::net::{ArcData, Place, Transition, TransitionData, Var};
use crate::{BinaryOp, Expr, IntType, Net};

/// So many cells are tried as the counter of a loop.
const MAX_CANDIDATES: usize = 16;
/// The first value of a counter is looked for so many steps before the loop.
const MAX_STEPS_BEFORE: usize = 64;

/// Sets what is known of the loops that are known to end.
pub(crate) fn prove(net: &Net, flow: &Flow, loops: &mut Loops) {
    if loops.list.is_empty() {
        return;
    }
    let Some(frames) = Frames::new(net) else { return };
    let mut prover = Prover { net, flow, frames, position: IndexVec::filled(OUTSIDE, net.places.len()) };
    let mut order: Vec<usize> = (0..loops.list.len()).collect();
    order.sort_by_key(|&index| loops.list[index].body.len());
    for index in order {
        if loops.list[index].is_natural {
            loops.list[index].ends = prover.proof(loops, index);
        }
    }
}

/// Of a place that is not in the loop.
const OUTSIDE: usize = usize::MAX;
/// Of a place of the loop that has not got its position yet, or never will.
const UNPLACED: usize = usize::MAX - 1;

struct Prover<'a> {
    net: &'a Net,
    flow: &'a Flow,
    frames: Frames,
    /// The position of each place of the loop at hand in [`Rounds::order`].
    position: IndexVec<Place, usize>,
}

/// The ways from the header of a loop to its header.
struct Rounds {
    /// Places, each behind all from which a step leads to it; the header first. Without those from which only
    /// steps inside of an inner loop go on.
    order: Vec<Place>,
    /// The steps between them, without those that close inner loops: from, step, to; by position. The header at
    /// the end of a round has the position behind all others.
    edges: Vec<(usize, FlowStep, usize)>,
    /// Whether every round passes a position.
    is_passed: Vec<bool>,
}

/// What a test says of a counter where the loop goes on, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claim {
    low: i128,
    high: i128,
    not: Option<i128>,
}

/// What is added to a counter from the header to a place: at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Added {
    least: i128,
    most: i128,
}

impl Prover<'_> {
    fn proof(&mut self, loops: &Loops, index: usize) -> Option<Ending> {
        let body = &loops.list[index].body;
        for &place in body {
            self.position[place] = UNPLACED;
        }
        let ending = self.rounds(loops, index).and_then(|rounds| self.count(loops, index, &rounds));
        for &place in body {
            self.position[place] = OUTSIDE;
        }
        ending
    }

    fn is_inside(&self, place: Place) -> bool {
        self.position[place] != OUTSIDE
    }

    /// The steps that stay in the loop.
    fn staying(&self, place: Place) -> impl Iterator<Item = (FlowStep, Place)> + '_ {
        let steps = self.flow.steps[place].iter();
        let targets = steps.filter_map(|step| step.target.map(|target| (*step, target)));
        targets.filter(|(_, target)| self.is_inside(*target))
    }

    /// The rounds of a loop; none where it has cycles that are not known to end beside its own.
    fn rounds(&mut self, loops: &Loops, index: usize) -> Option<Rounds> {
        let header = loops.list[index].header;
        // In depth, so that a place is done after all behind it.
        let next = |prover: &Self, place: Place, number: usize| {
            let step = prover.flow.steps[place].get(number)?;
            let target = step.target.filter(|&target| {
                prover.is_inside(target) && target != header && !loops.is_ending_back_edge(place, target)
            });
            Some(target)
        };
        let mut is_open: FxHashMap<Place, bool> = FxHashMap::from_iter([(header, true)]);
        let mut stack = vec![(header, 0)];
        let mut done = Vec::new();
        while let Some((place, number)) = stack.last_mut() {
            let (place, at) = (*place, *number);
            *number += 1;
            match next(self, place, at) {
                None => {
                    is_open.insert(place, false);
                    done.push(place);
                    stack.pop();
                }
                Some(None) => {}
                Some(Some(target)) => match is_open.get(&target) {
                    None => {
                        is_open.insert(target, true);
                        stack.push((target, 0));
                    }
                    Some(true) => return None,
                    Some(false) => {}
                },
            }
        }
        // Those that go on to the end of a round, from its end: `done` has what is behind a place before it.
        let mut goes_on: FxHashMap<Place, ()> = FxHashMap::default();
        for &place in &done {
            let is_next = |target: Place| {
                target == header
                    || (goes_on.contains_key(&target) && !loops.is_ending_back_edge(place, target))
            };
            if self.staying(place).any(|(_, target)| is_next(target)) {
                goes_on.insert(place, ());
            }
        }
        let order: Vec<Place> = done.into_iter().rev().filter(|place| goes_on.contains_key(place)).collect();
        if order.first() != Some(&header) {
            return None;
        }
        for (position, &place) in order.iter().enumerate() {
            self.position[place] = position;
        }
        let mut edges = Vec::new();
        for (from, &place) in order.iter().enumerate() {
            for (step, target) in self.staying(place) {
                let to = self.position[target];
                if target == header {
                    edges.push((from, step, order.len()));
                } else if to != UNPLACED && !loops.is_ending_back_edge(place, target) {
                    edges.push((from, step, to));
                }
            }
        }
        // A position is passed by all rounds where no step leads over it.
        let mut over = vec![0_i64; order.len() + 2];
        for &(from, _, to) in &edges {
            over[from + 1] += 1;
            over[to] -= 1;
        }
        let mut n_over = 0;
        let is_passed = over[..order.len()].iter().map(|change| {
            n_over += change;
            n_over == 0
        });
        let is_passed = is_passed.collect();
        Some(Rounds { order, edges, is_passed })
    }

    /// Looks for a counter and its test.
    fn count(&self, loops: &Loops, index: usize, rounds: &Rounds) -> Option<Ending> {
        let mut found: Option<Ending> = None;
        let mut additions: FxHashMap<Place, Option<Vec<i64>>> = FxHashMap::default();
        let mut n_candidates = 0;
        for (position, &place) in rounds.order.iter().enumerate() {
            if !rounds.is_passed[position] {
                continue;
            }
            for (counter, at, claim) in self.tests(rounds, position, place) {
                n_candidates += 1;
                if n_candidates > MAX_CANDIDATES {
                    return found;
                }
                let added =
                    additions.entry(counter).or_insert_with(|| self.additions(loops, index, rounds, counter));
                let Some(added) = added else { continue };
                let ending = self.judge(loops, index, rounds, counter, at, claim, added);
                // The fewest rounds that are known.
                if let Some(ending) = ending {
                    let is_better = match (found.and_then(|found| found.max_rounds), ending.max_rounds) {
                        (Some(known), Some(new)) => new < known,
                        (None, Some(_)) => true,
                        (_, None) => found.is_none(),
                    };
                    if is_better {
                        found = Some(ending);
                    }
                }
            }
        }
        found
    }

    /// The counters that a place may be a test of, where in the round their value is the tested one, and what the
    /// test says.
    fn tests(&self, rounds: &Rounds, position: usize, place: Place) -> Vec<(Place, usize, Claim)> {
        let mut found = Vec::new();
        let steps: Vec<Transition> = self.staying(place).map(|(step, _)| step.transition).collect();
        let Some(&first) = steps.first() else { return found };
        let Some(guard) = &self.net.transitions[first].guard else { return found };
        let mut vars = guard.vars();
        vars.sort_unstable();
        vars.dedup();
        for var in vars {
            let Some(cell) = self.frames.cell_of(&self.net.transitions[first], var) else { continue };
            let claims = steps.iter().map(|&transition| self.claim(transition, cell));
            let Some(claim) = claims.reduce(Claim::or) else { continue };
            found.push((cell, position, claim));
            if let Some((original, before)) = self.copied(place, cell, rounds) {
                found.push((original, before, claim));
            }
        }
        found
    }

    /// The cell whose value this one has at a place, as it was before the only step there.
    fn copied(&self, place: Place, copy: Place, rounds: &Rounds) -> Option<(Place, usize)> {
        let &[before] = self.flow.predecessors[place].as_slice() else { return None };
        let position = self.position[before];
        if self.is_entry(place) || !rounds.is_passed.get(position).copied().unwrap_or(false) {
            return None;
        }
        let mut original = None;
        for (step, target) in self.staying(before) {
            let data = &self.net.transitions[step.transition];
            let mut writes = own_writes(data, copy);
            let (Some((Expr::Var(var), None)), None, true) = (writes.next(), writes.next(), target == place)
            else {
                return None;
            };
            let cell = self.frames.cell_of(data, *var)?;
            if original.is_some_and(|original| original != cell) || self.ty(cell) != self.ty(copy) {
                return None;
            }
            original = Some(cell);
        }
        // A step from before the place is one of those.
        original.filter(|&original| original != copy).map(|original| (original, position))
    }

    fn ty(&self, cell: Place) -> Option<IntType> {
        self.net.places[cell].cells().map(|cells| cells.value)
    }

    /// What the guard of a step says of a private cell.
    fn claim(&self, transition: Transition, cell: Place) -> Claim {
        let data = &self.net.transitions[transition];
        let Some(ty) = self.ty(cell) else { return Claim::ANY };
        let mut claim = Claim { low: ty.to_i128(ty.min()), high: ty.to_i128(ty.max()), not: None };
        let is_cell = |var: Var| self.frames.cell_of(data, var) == Some(cell);
        if let Some(guard) = &data.guard {
            claim.learn(self.net, data, ty, &is_cell, guard, true);
        }
        claim
    }

    /// What each edge of the rounds adds to a counter; none where the loop does anything else to it, where it
    /// goes in both directions, or where an inner loop writes it.
    fn additions(&self, loops: &Loops, index: usize, rounds: &Rounds, counter: Place) -> Option<Vec<i64>> {
        let data = &loops.list[index];
        let ty = self.ty(counter)?;
        let mut n_writes = 0;
        for &place in &data.body {
            for (step, _) in self.staying(place) {
                n_writes += own_writes(&self.net.transitions[step.transition], counter).count();
            }
        }
        let mut added = Vec::with_capacity(rounds.edges.len());
        let mut n_found = 0;
        for &(from, step, _) in &rounds.edges {
            let transition = &self.net.transitions[step.transition];
            let mut writes = own_writes(transition, counter);
            let Some((value, when)) = writes.next() else {
                added.push(0);
                continue;
            };
            if when.is_some() || writes.next().is_some() || is_in_inner_loop(loops, index, rounds.order[from])
            {
                return None;
            }
            added.push(self.added(transition, counter, ty, value)?);
            n_found += 1;
        }
        let goes_up = added.iter().any(|&added| added > 0);
        let goes_down = added.iter().any(|&added| added < 0);
        // Writes that are on no way of a round are in inner loops.
        (n_found == n_writes && goes_up != goes_down).then_some(added)
    }

    /// The constant that a new value adds to the old one, modulo the width of the counter.
    fn added(&self, data: &TransitionData, counter: Place, ty: IntType, value: &Expr) -> Option<i64> {
        match value {
            Expr::Convert(to, operand) if to.bits >= ty.bits => self.added(data, counter, ty, operand),
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), at, left, right) if at.bits >= ty.bits => {
                let (var, constant) = match (&**left, &**right) {
                    (Expr::Var(var), Expr::Const(constant)) => (*var, *constant),
                    (Expr::Const(constant), Expr::Var(var)) if *op == BinaryOp::Add => (*var, *constant),
                    _ => return None,
                };
                if self.frames.cell_of(data, var) != Some(counter) {
                    return None;
                }
                let constant = if *op == BinaryOp::Sub { constant.wrapping_neg() } else { constant };
                Some(IntType { bits: ty.bits, signed: true }.wrap(constant))
            }
            _ => None,
        }
    }

    /// Whether a claim of a test and what a round adds make an end.
    #[expect(clippy::too_many_arguments, reason = "the parts of the argument")]
    fn judge(
        &self,
        loops: &Loops,
        index: usize,
        rounds: &Rounds,
        counter: Place,
        at: usize,
        claim: Claim,
        added: &[i64],
    ) -> Option<Ending> {
        let ty = self.ty(counter)?;
        let (least, most) = (ty.to_i128(ty.min()), ty.to_i128(ty.max()));
        // A counter that goes down is one that goes up, with all signs changed.
        let sign = if added.iter().any(|&added| added < 0) { -1 } else { 1 };
        let (low, high) = if sign < 0 { (-most, -least) } else { (least, most) };
        let (limit, not) = (if sign < 0 { -claim.low } else { claim.high }, claim.not.map(|not| sign * not));
        let sums = sums(rounds, added, sign);
        let (before, round) = (sums[at]?, sums[rounds.order.len()]?);
        let first = self.first_values(loops, index, counter);
        let first = first.map(|(low, high)| if sign < 0 { (-high, -low) } else { (low, high) });
        if round.least >= 1 && limit + round.most <= high {
            let max_rounds = first.and_then(|(from, to)| {
                if to + before.most > high {
                    return None;
                }
                let room = limit - from - before.least;
                if room < 0 { Some(0) } else { u64::try_from(room / round.least + 1).ok() }
            });
            return Some(Ending { max_rounds });
        }
        let not = not.filter(|not| (low..=high).contains(not))?;
        if round != (Added { least: 1, most: 1 }) {
            return None;
        }
        let max_rounds = first.filter(|(from, to)| from == to && before.least == before.most);
        let n_values = 1_i128 << ty.bits;
        let max_rounds = max_rounds
            .and_then(|(from, _)| u64::try_from((not - from - before.least).rem_euclid(n_values)).ok());
        Some(Ending { max_rounds })
    }

    /// The least and greatest value that a counter has when a frame comes to the header from outside, where it is
    /// set to constants before.
    fn first_values(&self, loops: &Loops, index: usize, counter: Place) -> Option<(i128, i128)> {
        let data = &loops.list[index];
        let ty = self.ty(counter)?;
        if self.is_entry(data.header) {
            return None;
        }
        let mut found: Option<(i128, i128)> = None;
        let mut sources: Vec<Place> = self.flow.predecessors[data.header]
            .iter()
            .copied()
            .filter(|&place| !self.is_inside(place))
            .collect();
        sources.sort_unstable();
        sources.dedup();
        for source in sources {
            for step in self.flow.steps[source].iter().filter(|step| step.target == Some(data.header)) {
                let value = ty.to_i128(ty.wrap(self.value_after(*step, source, counter)?));
                found = Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
            }
        }
        found
    }

    /// The constant that a cell was set to last, after a step.
    fn value_after(&self, mut step: FlowStep, mut source: Place, cell: Place) -> Option<i64> {
        for _ in 0..MAX_STEPS_BEFORE {
            let mut writes = own_writes(&self.net.transitions[step.transition], cell);
            if let Some((value, when)) = writes.next() {
                return match (value, when, writes.next()) {
                    (Expr::Const(value), None, None) => Some(*value),
                    _ => None,
                };
            }
            let &[before] = self.flow.predecessors[source].as_slice() else { return None };
            if self.is_entry(source) {
                return None;
            }
            step = *self.flow.steps[before].iter().find(|step| step.target == Some(source))?;
            source = before;
        }
        None
    }

    fn is_entry(&self, place: Place) -> bool {
        self.net.places[place].function.is_none_or(|function| self.net.functions[function].entry == place)
    }
}

impl Claim {
    const ANY: Self = Self { low: i128::MIN / 4, high: i128::MAX / 4, not: None };

    /// What is so where one or the other is.
    fn or(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            not: self.not.filter(|_| self.not == other.not),
        }
    }

    /// Learns from a condition that is true (or false) of a cell of this type.
    fn learn(
        &mut self,
        net: &Net,
        data: &TransitionData,
        ty: IntType,
        is_cell: &impl Fn(Var) -> bool,
        condition: &Expr,
        truth: bool,
    ) {
        let is_always =
            |expr: &Expr, truth: bool| matches!(expr, Expr::Const(value) if (*value != 0) == truth);
        match condition {
            Expr::If(first, then, otherwise) if is_always(otherwise, !truth) => {
                self.learn(net, data, ty, is_cell, first, true);
                self.learn(net, data, ty, is_cell, then, truth);
            }
            Expr::If(first, then, otherwise) if is_always(then, !truth) => {
                self.learn(net, data, ty, is_cell, first, false);
                self.learn(net, data, ty, is_cell, otherwise, truth);
            }
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, left, right) => {
                let is_equal = (*op == BinaryOp::Eq) == truth;
                match &**right {
                    Expr::Const(0) if left.is_boolean() => {
                        self.learn(net, data, ty, is_cell, left, !is_equal)
                    }
                    Expr::Const(value) if !is_equal && is_unchanged(ty, left, is_cell) => {
                        self.learn_not(ty, *value);
                    }
                    _ => {}
                }
            }
            Expr::Binary(op @ (BinaryOp::Lt | BinaryOp::Le), at, left, right) => {
                let (left, right) = if truth { (left, right) } else { (right, left) };
                let gap = i128::from((*op == BinaryOp::Lt) == truth);
                let values = by_type(net, data);
                let most = range_of(right, &values).as_numbers(at.signed).1 - gap;
                let least = range_of(left, &values).as_numbers(at.signed).0 + gap;
                self.learn_high(ty, *at, left, is_cell, most);
                self.learn_low(ty, *at, right, is_cell, least);
            }
            Expr::Var(var) if truth && is_cell(*var) => self.learn_not(ty, 0),
            _ => {}
        }
    }

    /// The cell has not this canonical value.
    fn learn_not(&mut self, ty: IntType, value: i64) {
        if !ty.contains(value) {
            return;
        }
        let value = ty.to_i128(value);
        self.not = Some(value);
        self.low += i128::from(self.low == value);
        self.high -= i128::from(self.high == value);
    }

    /// An expression is at most this, compared in a type.
    fn learn_high(
        &mut self,
        ty: IntType,
        at: IntType,
        expr: &Expr,
        is_cell: &impl Fn(Var) -> bool,
        most: i128,
    ) {
        let is_below = most <= i128::from(ty.max()) && ty.signed;
        let is_same = is_unchanged(ty, expr, is_cell);
        if is_same && (ty.signed == at.signed || (!ty.signed && ty.bits < 64)) {
            self.high = self.high.min(most);
        } else if is_below && !at.signed && (is_same || is_made_unsigned(ty, expr, is_cell)) {
            // What is negative would be larger than anything that has room in the type of the cell.
            self.low = self.low.max(0);
            self.high = self.high.min(most);
        }
    }

    /// An expression is at least this, compared in a type.
    fn learn_low(
        &mut self,
        ty: IntType,
        at: IntType,
        expr: &Expr,
        is_cell: &impl Fn(Var) -> bool,
        least: i128,
    ) {
        let is_same = is_unchanged(ty, expr, is_cell);
        if is_same && (ty.signed == at.signed || (!ty.signed && ty.bits < 64)) {
            self.low = self.low.max(least);
        }
    }
}

/// Whether an expression is the canonical value of the cell.
fn is_unchanged(ty: IntType, expr: &Expr, is_cell: &impl Fn(Var) -> bool) -> bool {
    match expr {
        Expr::Var(var) => is_cell(*var),
        Expr::Convert(to, operand) => {
            let keeps = to.bits == 64 || (ty.bits < 64 && to.contains(ty.min()) && to.contains(ty.max()));
            keeps && is_unchanged(ty, operand, is_cell)
        }
        _ => false,
    }
}

/// Whether an expression is the value of a signed cell, converted to an unsigned type that is as wide or wider.
fn is_made_unsigned(ty: IntType, expr: &Expr, is_cell: &impl Fn(Var) -> bool) -> bool {
    match expr {
        Expr::Convert(to, operand) => {
            !to.signed && to.bits >= ty.bits && matches!(**operand, Expr::Var(var) if is_cell(var))
        }
        _ => false,
    }
}

/// The values that a step gives to a cell of its own frame, with their conditions.
fn own_writes(data: &TransitionData, cell: Place) -> impl Iterator<Item = (&Expr, Option<&Expr>)> {
    data.arcs.iter().filter_map(move |arc| match arc {
        ArcData::Write { place, key, value, when } if *place == cell && is_own(key) => {
            Some((value, when.as_ref()))
        }
        _ => None,
    })
}

/// Whether a place is in a loop inside of this one.
fn is_in_inner_loop(loops: &Loops, index: usize, place: Place) -> bool {
    let outer = &loops.list[index];
    let headers = outer.body.iter().filter(|&&header| header != outer.header);
    headers.filter_map(|&header| loops.of_header[header]).any(|inner| {
        // One that is around this loop has its header elsewhere.
        loops.list[inner].body.binary_search(&place).is_ok()
    })
}

/// What is added to a counter from the header to each position; none where no round comes there.
fn sums(rounds: &Rounds, added: &[i64], sign: i128) -> Vec<Option<Added>> {
    let mut sums: Vec<Option<Added>> = vec![None; rounds.order.len() + 1];
    sums[0] = Some(Added { least: 0, most: 0 });
    // In the order of where they come from, which is one of ways.
    for (&(from, _, to), &added) in rounds.edges.iter().zip(added) {
        let Some(sum) = sums[from] else { continue };
        let added = sign * i128::from(added);
        let new = Added { least: sum.least + added, most: sum.most + added };
        sums[to] = Some(
            sums[to]
                .map_or(new, |old| Added { least: old.least.min(new.least), most: old.most.max(new.most) }),
        );
    }
    sums
}
