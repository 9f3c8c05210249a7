//! Bounds on the private cells of frames, by where the frame is, and which steps they rule out.
//!
//! The usual forward analysis: at each place, the values that private cells ([`Frames`]) can have when a frame
//! stands there. Nobody else writes them, so that following the frame's own steps is enough. A step happens only
//! where its guard is true; it narrows what it read, and sets what it writes. Calls give their arguments to the
//! entry of the callee, and returns find the result at its exit. At the headers of loops and the entries of
//! functions, and in the end everywhere, bounds that go on moving are given up, so that it ends; after that, each place is computed again
//! from those before it, which brings back bounds that a guard at the end of the round has.
//!
//! Why a step is impossible: in every reachable marking where a frame stands at its place, the frame's cells are
//! within what is known there (by induction over the run), the variables of the step are within what the cells,
//! the types and constants allow, and no such values make its guard true.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pdnet_base::IndexVec;

use super::values::{State, Values};
use crate::flow::Flow;
use crate::frames::{Frames, is_demanded, is_own, made};
use crate::interval::{Range, Ranges, by_type, narrow, range_of};
use crate::loops::Loops;
use crate::net::{ArcData, Pattern, Place, PlaceForm, Transition, TransitionData, Var};
use crate::{Expr, IntType, Net};

/// A header of a loop is visited this often before bounds that still move are given up; an entry of a function
/// more often, as many calls lead to it.
const MAX_VISITS: u32 = 3;
const MAX_CALLS: u32 = 12;
/// Any other place: results of a function that calls itself come round through it.
const MAX_OTHERS: u32 = 64;
/// How often all places are computed again.
const N_AGAIN: usize = 2;
/// A step whose variables have few values is looked at for each of so many combinations.
const MAX_COMBINATIONS: usize = 16;

/// Marks the steps that no frame can take.
pub(super) fn mark(
    net: &Net,
    flow: &Flow,
    loops: &Loops,
    frames: &Frames,
    found: &mut IndexVec<Transition, bool>,
) {
    let mut analysis = Analysis::new(net, flow, loops, frames);
    analysis.run();
    for _ in 0..N_AGAIN {
        analysis.again();
    }
    for (transition, data) in net.transitions.iter_enumerated() {
        found[transition] |= analysis.cases(data).is_empty();
    }
}

/// Bounds on the cells of frames that only the frame itself writes, both ends included; none for other cells.
///
/// A cell has its first value or one that some step has written, and a step writes what the values allow with which it
/// can happen.
pub(super) fn private_bounds(
    net: &Net,
    flow: &Flow,
    loops: &Loops,
    frames: &Frames,
) -> IndexVec<Place, Option<(i64, i64)>> {
    let mut analysis = Analysis::new(net, flow, loops, frames);
    analysis.run();
    for _ in 0..N_AGAIN {
        analysis.again();
    }
    let first = |(cell, data): (Place, &crate::PlaceData)| {
        data.cells().filter(|_| frames.private[cell]).map(|cells| Range::one(cells.default))
    };
    let mut bounds: IndexVec<Place, Option<Range>> = net.places.iter_enumerated().map(first).collect();
    for data in &net.transitions {
        let cases = analysis.cases(data);
        for arc in &data.arcs {
            let ArcData::Write { place, value, .. } = arc else { continue };
            let Some(known) = &mut bounds[*place] else { continue };
            for values in &cases {
                *known = known.hull(range_of(value, values).converted(type_of(net, *place)));
            }
        }
    }
    bounds.iter().map(|bounds| bounds.map(|range| (range.low, range.high))).collect()
}

struct Analysis<'a> {
    net: &'a Net,
    flow: &'a Flow,
    loops: &'a Loops,
    frames: &'a Frames,
    /// What is known at each place that a frame can come to.
    known: IndexVec<Place, Option<State>>,
    visits: IndexVec<Place, u32>,
    /// The places of frames, each after those before it, loops aside; and where in that order each is.
    order: Vec<Place>,
    rank: IndexVec<Place, usize>,
    /// The steps that put a frame on each place.
    incoming: IndexVec<Place, Vec<Transition>>,
    /// The places where a return waits for a frame at this exit.
    waiting: IndexVec<Place, Vec<Place>>,
    is_entry: IndexVec<Place, bool>,
    /// The cells that each loop writes, in order. Only their bounds can move from round to round.
    written: Vec<Vec<Place>>,
}

/// A frame that a step puts somewhere.
enum Put<'a> {
    Own(Place),
    New(Place, &'a [Expr]),
}

impl<'a> Analysis<'a> {
    fn new(net: &'a Net, flow: &'a Flow, loops: &'a Loops, frames: &'a Frames) -> Self {
        let n_places = net.places.len();
        let mut analysis = Self {
            net,
            flow,
            loops,
            frames,
            known: IndexVec::filled(None, n_places),
            visits: IndexVec::filled(0, n_places),
            order: Vec::new(),
            rank: IndexVec::filled(usize::MAX, n_places),
            incoming: IndexVec::filled(Vec::new(), n_places),
            waiting: IndexVec::filled(Vec::new(), n_places),
            is_entry: IndexVec::filled(false, n_places),
            written: loops.list.iter().map(|data| written(net, flow, &data.body)).collect(),
        };
        for data in &net.functions {
            analysis.is_entry[data.entry] = true;
        }
        for (transition, data) in net.transitions.iter_enumerated() {
            for put in puts(net, data) {
                let (Put::Own(place) | Put::New(place, _)) = put;
                analysis.incoming[place].push(transition);
            }
            if let Some(source) = data.source() {
                for (exit, _) in ended(net, data) {
                    analysis.waiting[exit].push(source);
                }
            }
        }
        analysis.number();
        analysis
    }

    /// Puts the places of all functions in order: in depth, the last that was done first.
    fn number(&mut self) {
        let mut is_seen: IndexVec<Place, bool> = IndexVec::filled(false, self.net.places.len());
        for function in &self.net.functions {
            let mut done = Vec::new();
            let mut stack = Vec::new();
            if !std::mem::replace(&mut is_seen[function.entry], true) {
                stack.push((function.entry, 0));
            }
            while let Some((place, next)) = stack.last_mut() {
                let place = *place;
                let Some(step) = self.flow.steps[place].get(*next) else {
                    done.push(place);
                    stack.pop();
                    continue;
                };
                *next += 1;
                if let Some(target) = step.target
                    && !std::mem::replace(&mut is_seen[target], true)
                {
                    stack.push((target, 0));
                }
            }
            self.order.extend(done.into_iter().rev());
        }
        for (rank, &place) in self.order.iter().enumerate() {
            self.rank[place] = rank;
        }
    }

    fn has_initial(&self, place: Place) -> bool {
        matches!(&self.net.places[place].form, PlaceForm::Tokens { initial } if !initial.is_empty())
    }

    fn run(&mut self) {
        let mut queue: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
        let mut is_queued = vec![false; self.order.len()];
        for (rank, &place) in self.order.iter().enumerate() {
            if self.has_initial(place) {
                self.known[place] = Some(State::default());
                is_queued[rank] = true;
                queue.push(Reverse(rank));
            }
        }
        while let Some(Reverse(rank)) = queue.pop() {
            is_queued[rank] = false;
            let flow = self.flow;
            for step in &flow.steps[self.order[rank]] {
                for (place, state) in self.after(step.transition) {
                    if !self.join(place, state) {
                        continue;
                    }
                    for changed in std::iter::once(&place).chain(&self.waiting[place]) {
                        let rank = self.rank[*changed];
                        if rank != usize::MAX && !std::mem::replace(&mut is_queued[rank], true) {
                            queue.push(Reverse(rank));
                        }
                    }
                }
            }
        }
    }

    /// Adds to what is known at a place; whether more became possible.
    fn join(&mut self, place: Place, new: State) -> bool {
        let of_header = self.loops.of_header[place];
        let limit = match (of_header, self.is_entry[place]) {
            (_, true) => MAX_CALLS,
            (Some(_), false) => MAX_VISITS,
            (None, false) => MAX_OTHERS,
        };
        let Some(known) = &mut self.known[place] else {
            self.known[place] = Some(new);
            return true;
        };
        let (net, written) =
            (self.net, of_header.filter(|_| !self.is_entry[place]).map(|index| &self.written[index]));
        let limits = |cell: Place| {
            let moves = written.is_none_or(|written| written.binary_search(&cell).is_ok());
            moves.then(|| Range::of_type(type_of(net, cell)))
        };
        let widens = self.visits[place] >= limit;
        let is_changed = known.join(&new, widens.then_some(&limits));
        self.visits[place] += u32::from(is_changed);
        is_changed
    }

    /// Computes what is known at all places once more from what is known at those before them.
    fn again(&mut self) {
        for rank in 0..self.order.len() {
            let place = self.order[rank];
            let mut new = self.has_initial(place).then(State::default);
            for &transition in &self.incoming[place] {
                for (_, state) in self.after(transition).into_iter().filter(|(to, _)| *to == place) {
                    match &mut new {
                        None => new = Some(state),
                        Some(new) => drop(new.join(&state, None)),
                    }
                }
            }
            self.known[place] = new;
        }
    }

    /// What is known after a step: at each place where it puts a frame.
    fn after(&self, transition: Transition) -> Vec<(Place, State)> {
        let data = &self.net.transitions[transition];
        let mut found: Vec<(Place, State)> = Vec::new();
        let Some(before) = data.source().and_then(|source| self.known[source].as_ref()) else { return found };
        let cases = self.cases(data);
        if cases.is_empty() {
            return found;
        }
        for put in puts(self.net, data) {
            let (place, key, own) = match put {
                Put::Own(place) => (place, None, true),
                Put::New(place, key) => (place, Some(key), false),
            };
            let mut all: Option<State> = None;
            for values in &cases {
                let mut state = if own { self.read(data, before, values) } else { State::default() };
                self.write(data, key, values, &mut state);
                match &mut all {
                    None => all = Some(state),
                    Some(all) => drop(all.join(&state, None)),
                }
            }
            found.extend(all.map(|state| (place, state)));
        }
        found
    }

    /// The state with what a step found out about the cells that it read.
    fn read(&self, data: &TransitionData, before: &State, values: &Ranges) -> State {
        let mut state = before.clone();
        for arc in &data.arcs {
            if let ArcData::Read { place, var, .. } = arc
                && self.frames.cell_of(data, *var) == Some(*place)
            {
                let range = values[*var];
                // Few values stay apart where the step did not say more.
                let is_news = state.get(*place).is_none_or(|known| known.range != range);
                if is_news {
                    self.set(&mut state, *place, Values::new(range));
                }
            }
        }
        state
    }

    /// Sets what a step writes to its own frame, or to the new one with this key.
    fn write(&self, data: &TransitionData, key: Option<&[Expr]>, values: &Ranges, state: &mut State) {
        for arc in &data.arcs {
            let ArcData::Write { place, key: written, value, when } = arc else { continue };
            let is_meant = key.map_or_else(|| is_own(written), |key| key == written.as_slice());
            if !is_meant || !self.frames.private[*place] {
                continue;
            }
            let ty = type_of(self.net, *place);
            let new = Values::new(range_of(value, values).converted(ty));
            match when.as_ref().map_or(Some(true), |when| range_of(when, values).truth()) {
                Some(true) => self.set(state, *place, new),
                Some(false) => {}
                None => {
                    if let Some(both) = state.get(*place).map(|old| old.or(&new)) {
                        self.set(state, *place, both);
                    }
                }
            }
        }
    }

    /// What is known of a cell, where it is more than its type.
    fn set(&self, state: &mut State, cell: Place, values: Values) {
        let is_any = values.range == Range::of_type(type_of(self.net, cell));
        state.set(cell, (!is_any).then_some(values));
    }

    /// The values of a step's variables with which it may happen: a few cases, none where it cannot.
    fn cases(&self, data: &TransitionData) -> Vec<Ranges> {
        let Some(source) = data.source() else { return vec![by_type(self.net, data)] };
        let Some(state) = &self.known[source] else { return Vec::new() };
        let mut first = by_type(self.net, data);
        let mut apart: Vec<(Var, Values)> = Vec::new();
        let mut n_cases = 1;
        for arc in &data.arcs {
            let ArcData::Read { place, key, var, when } = arc else { continue };
            let Some(mut values) = self.value(data, state, *place, key) else { return Vec::new() };
            let is_sure = when.as_ref().is_none_or(|when| is_demanded(data, when));
            match when.as_ref().filter(|_| !is_sure).and_then(|when| range_of(when, &first).truth()) {
                _ if is_sure => {}
                Some(true) => {}
                Some(false) => values = Values::new(Range::one(0)),
                None => values = values.or(&Values::new(Range::one(0))),
            }
            first[*var] = values.range;
            if values.few().len() > 1 && n_cases * values.few().len() <= MAX_COMBINATIONS {
                n_cases *= values.few().len();
                apart.push((*var, values));
            }
        }
        let mut cases = vec![first];
        for (var, values) in apart {
            let with = |case: &Ranges, value: i64| {
                let mut case = case.clone();
                case[var] = Range::one(value);
                case
            };
            cases =
                cases.iter().flat_map(|case| values.few().iter().map(|&value| with(case, value))).collect();
        }
        if let Some(guard) = &data.guard {
            cases.retain_mut(|case| narrow(guard, true, case));
        }
        cases
    }

    /// What a step reads from a cell; none where there is no frame to read from.
    fn value(&self, data: &TransitionData, state: &State, place: Place, key: &[Expr]) -> Option<Values> {
        let any = Values::new(Range::of_type(type_of(self.net, place)));
        if self.frames.unwritten[place] {
            return Some(self.initial(place));
        }
        if !self.frames.private[place] {
            return Some(any);
        }
        if is_own(key) {
            return Some(state.get(place).copied().unwrap_or(any));
        }
        // The result of a call, from the frame that ends.
        match ended(self.net, data).find(|(_, token)| token.as_slice() == key) {
            Some((exit, _)) => {
                let known = self.known[exit].as_ref()?;
                Some(known.get(place).copied().unwrap_or(any))
            }
            None => Some(any),
        }
    }

    /// The values of cells that nobody writes. Outside of an array there is 0.
    fn initial(&self, place: Place) -> Values {
        let Some(cells) = self.net.places[place].cells() else { return Values::new(Range::ALL) };
        let mut values = Values::new(Range::one(cells.default));
        if cells.length.is_some() {
            values = values.or(&Values::new(Range::one(0)));
        }
        for (_, listed) in &cells.listed {
            values = values.or(&Values::new(Range::one(*listed)));
        }
        values
    }
}

/// The cells of its own that a frame writes in a loop.
fn written(net: &Net, flow: &Flow, body: &[Place]) -> Vec<Place> {
    let steps = body.iter().flat_map(|&place| &flow.steps[place]);
    let arcs = steps.flat_map(|step| &net.transitions[step.transition].arcs);
    let mut written: Vec<Place> = arcs
        .filter_map(|arc| match arc {
            ArcData::Write { place, key, .. } if is_own(key) => Some(*place),
            _ => None,
        })
        .collect();
    written.sort_unstable();
    written.dedup();
    written
}

fn type_of(net: &Net, cell: Place) -> IntType {
    net.places[cell].cells().map_or(IntType::I64, |cells| cells.value)
}

/// The frames that a step puts somewhere.
fn puts<'a>(net: &'a Net, data: &'a TransitionData) -> impl Iterator<Item = Put<'a>> {
    let own = data.arcs.iter().filter_map(move |arc| match arc {
        ArcData::Put { place, token } if net.is_frame_place(*place) && is_own(token) => {
            Some(Put::Own(*place))
        }
        _ => None,
    });
    own.chain(made(net, data).map(|(place, key)| Put::New(place, key)))
}

/// The frames that a step ends, beside its own: where they are, and their tokens.
fn ended<'a>(net: &'a Net, data: &'a TransitionData) -> impl Iterator<Item = (Place, Vec<Expr>)> + 'a {
    data.arcs.iter().skip(1).filter_map(move |arc| match arc {
        ArcData::Take { place, token } if net.is_frame_place(*place) => {
            let part = |pattern: &Pattern| match pattern {
                Pattern::Is(expr) => expr.clone(),
                Pattern::Bind(var) => Expr::Var(*var),
            };
            Some((*place, token.iter().map(part).collect()))
        }
        _ => None,
    })
}
