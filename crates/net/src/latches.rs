//! Variables that are set once and for all, and what threads know of them by where they are.
//!
//! A *latch* is a global variable that is 0 at first, and to which steps write nothing but constants other than 0:
//! once it is set, it stays set. (A step may write 0 where it is surely not set yet: that changes nothing.) Programs
//! use latches to hand over data: `data = 1; ready = 1;` here and `while (!ready) …; x = data;` there.
//!
//! At each place of frames, two sets of latches are found:
//!
//! - *set*: in every marking where a frame stands there, the latch is set. A step makes it so that writes the latch, or
//!   whose guard is true only of a latch that is set, be it read from the latch or from a copy in the frame's own
//!   cells. Since nothing unsets a latch, the frame's own way is all that counts, and whoever it calls or starts knows
//!   what it knows. After a return, the frame knows what it knew and what is known at the exit of the function.
//! - *clear*: in every marking where a frame stands there, the latch is not set. Only the first thread can know that,
//!   of latches that no other thread sets, and as long as it has set none itself: from the beginning on, until a step
//!   that writes the latch, or calls a function that may.
//!
//! So a frame at a place with a latch among those that are set, and one at a place with the same latch among those that
//! are clear, are never there at the same time.
//!
//! Both are proved by induction over the steps of a run, together with each other and with what makes a variable a
//! latch: the step that writes 0 to a latch is one at a place where the latch is clear.

use pdnet_base::{FxHashMap, IndexVec};

use crate::flow::Flow;
use crate::frames::{Frames, is_own, made};
use crate::impossible::calls::{Calls, entered};
use crate::interval::{Range, by_type, narrow, range_of};
use crate::net::{ArcData, Function, Pattern, Place, Scope, TransitionData, Var};
use crate::protection::only_top_frames_move;
use crate::{Expr, Net};

/// A set of latches, by number. So many are looked at.
pub(crate) type Set = u64;
const MAX_LATCHES: usize = 64;
/// So many copies of latches are kept at one place.
const MAX_COPIES: usize = 8;

/// What is known of latches at each place of frames.
pub(crate) struct Latches {
    /// Those that are set; none where no frame comes to the place.
    set: IndexVec<Place, Option<Set>>,
    /// Those that are not set.
    clear: IndexVec<Place, Option<Set>>,
}

impl Latches {
    /// Looks at all steps; none where there is no latch, or frames do what is not understood.
    pub(crate) fn new(net: &Net, flow: &Flow) -> Option<Self> {
        let frames = Frames::new(net)?;
        let calls = Calls::new(net);
        calls.main?;
        if !only_top_frames_move(net, flow) {
            return None;
        }
        let mut candidates = candidates(net);
        loop {
            if candidates.is_empty() {
                return None;
            }
            let analysis = Analysis::new(net, flow, &frames, &calls, &candidates);
            let clear = analysis.clear();
            // A latch that is cleared while it may be set is none.
            let is_latch = |cell: &Place| {
                let bit = analysis.bit(*cell);
                net.transitions.iter().all(|data| {
                    let known = data.source().and_then(|source| clear[source]).unwrap_or(Set::MAX);
                    known & bit != 0 || writes(data).all(|(place, value)| place != *cell || value != Some(0))
                })
            };
            let kept: Vec<Place> = candidates.iter().copied().filter(is_latch).collect();
            if kept.len() == candidates.len() {
                let set = analysis.set();
                return Some(Self { set, clear });
            }
            candidates = kept;
        }
    }

    /// Whether no two frames can stand at these places at the same time.
    pub(crate) fn excludes(&self, one: Place, other: Place) -> bool {
        let (Some(set), Some(other_set)) = (self.set[one], self.set[other]) else { return true };
        let clear = |place: Place| self.clear[place].unwrap_or(0);
        set & clear(other) != 0 || other_set & clear(one) != 0
    }
}

/// The cells that a step writes, with the value where it is constant.
fn writes(data: &TransitionData) -> impl Iterator<Item = (Place, Option<i64>)> {
    data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Write { place, value: Expr::Const(value), .. } => Some((*place, Some(*value))),
        ArcData::Write { place, .. } => Some((*place, None)),
        _ => None,
    })
}

/// Global variables that are 0 at first and get constants only.
fn candidates(net: &Net) -> Vec<Place> {
    let mut is_candidate: IndexVec<Place, bool> = net
        .places
        .iter_enumerated()
        .map(|(place, data)| {
            let cells = data.cells().filter(|cells| cells.scope == Scope::Global && cells.length.is_none());
            cells.is_some_and(|cells| cells.default == 0 && cells.listed.is_empty())
                && Some(place) != net.atomic
                && Some(place) != net.indivisible
        })
        .collect();
    let mut is_set: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
    for (place, value) in net.transitions.iter().flat_map(writes) {
        is_candidate[place] &= value.is_some();
        is_set[place] |= value.is_some_and(|value| value != 0);
    }
    let found = net.places.indices().filter(|&place| is_candidate[place] && is_set[place]);
    found.take(MAX_LATCHES).collect()
}

/// A cell of a frame that was computed from a latch: where it is not this value, the latch is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Copy {
    cell: Place,
    latch: Place,
    if_clear: i64,
    range: Range,
}

/// What is known at a place while it is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    set: Set,
    copies: Vec<Copy>,
}

impl Known {
    /// What is known on both ways.
    fn meet(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.set &= other.set;
        self.copies.retain(|copy| other.copies.contains(copy));
        *self != before
    }
}

struct Analysis<'a> {
    net: &'a Net,
    flow: &'a Flow,
    frames: &'a Frames,
    calls: &'a Calls,
    numbers: FxHashMap<Place, usize>,
    /// All values that a latch can have.
    ranges: FxHashMap<Place, Range>,
    /// The latches that a function, or one that it calls, may set.
    sets: IndexVec<Function, Set>,
    /// Whether a thread other than the first may run a function.
    is_foreign: IndexVec<Function, bool>,
}

impl<'a> Analysis<'a> {
    fn new(net: &'a Net, flow: &'a Flow, frames: &'a Frames, calls: &'a Calls, candidates: &[Place]) -> Self {
        let numbers: FxHashMap<Place, usize> =
            candidates.iter().enumerate().map(|(number, &place)| (place, number)).collect();
        let mut ranges: FxHashMap<Place, Range> =
            candidates.iter().map(|&place| (place, Range::one(0))).collect();
        for (place, value) in net.transitions.iter().flat_map(writes) {
            if let (Some(range), Some(value)) = (ranges.get_mut(&place), value) {
                *range = range.hull(Range::one(value));
            }
        }
        let n_functions = net.functions.len();
        let mut analysis = Self {
            net,
            flow,
            frames,
            calls,
            numbers,
            ranges,
            sets: IndexVec::filled(0, n_functions),
            is_foreign: IndexVec::filled(false, n_functions),
        };
        for data in &net.transitions {
            analysis.sets[data.function] |= analysis.set_by(data);
        }
        for function in net.functions.indices() {
            analysis.is_foreign[function] = calls.entering[function].iter().any(|entering| !entering.is_call);
        }
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for data in &net.transitions {
                for (called, is_call) in entered(net, data).filter(|(_, is_call)| *is_call) {
                    debug_assert!(is_call);
                    let sets = analysis.sets[data.function] | analysis.sets[called];
                    is_changed |= sets != analysis.sets[data.function];
                    analysis.sets[data.function] = sets;
                    let is_foreign = analysis.is_foreign[data.function] || analysis.is_foreign[called];
                    is_changed |= is_foreign != analysis.is_foreign[called];
                    analysis.is_foreign[called] = is_foreign;
                }
            }
        }
        analysis
    }

    fn bit(&self, cell: Place) -> Set {
        self.numbers.get(&cell).map_or(0, |number| 1 << number)
    }

    /// The latches that a step may set by itself.
    fn set_by(&self, data: &TransitionData) -> Set {
        let values = writes(data).filter(|(_, value)| *value != Some(0));
        values.fold(0, |set, (cell, _)| set | self.bit(cell))
    }

    /// The latches that may be set once a step was taken and all that it calls is done.
    fn set_through(&self, data: &TransitionData) -> Set {
        let called = entered(self.net, data).filter(|(_, is_call)| *is_call);
        called.fold(self.set_by(data), |set, (function, _)| set | self.sets[function])
    }

    /// Which latches are not set, by where the first thread is.
    fn clear(&self) -> IndexVec<Place, Option<Set>> {
        let net = self.net;
        let mut clear: IndexVec<Place, Option<Set>> = IndexVec::filled(None, net.places.len());
        let foreign = net.functions.indices().filter(|&function| self.is_foreign[function]);
        let by_others = foreign.fold(0, |set, function| set | self.sets[function]);
        let mut queue: Vec<Place> = Vec::new();
        let mut meet = |place: Place, new: Set, queue: &mut Vec<Place>| {
            let met = clear[place].map_or(new, |old| old & new);
            if clear[place] != Some(met) {
                clear[place] = Some(met);
                queue.push(place);
            }
            met
        };
        for (function, data) in net.functions.iter_enumerated() {
            if self.calls.main == Some(function) {
                meet(data.entry, !by_others, &mut queue);
            } else if self.is_foreign[function] {
                meet(data.entry, 0, &mut queue);
            }
        }
        while let Some(place) = queue.pop() {
            // Nothing is added to what is known there: this only reads it.
            let known = meet(place, Set::MAX, &mut Vec::new());
            for step in &self.flow.steps[place] {
                let data = &net.transitions[step.transition];
                if let Some(target) = step.target {
                    meet(target, known & !self.set_through(data), &mut queue);
                }
                for (called, is_call) in entered(net, data) {
                    let new = if is_call { known & !self.set_by(data) } else { 0 };
                    meet(net.functions[called].entry, new, &mut queue);
                }
            }
        }
        clear
    }

    /// Which latches are set, by where a frame is.
    fn set(&self) -> IndexVec<Place, Option<Set>> {
        let net = self.net;
        let mut known: IndexVec<Place, Option<Known>> = IndexVec::filled(None, net.places.len());
        let mut waiting: IndexVec<Place, Vec<Place>> = IndexVec::filled(Vec::new(), net.places.len());
        for data in &net.transitions {
            if let Some(source) = data.source() {
                for exit in ended(net, data) {
                    waiting[exit].push(source);
                }
            }
        }
        let mut queue = Vec::new();
        if let Some(main) = self.calls.main {
            let entry = net.functions[main].entry;
            known[entry] = Some(Known::default());
            queue.push(entry);
        }
        while let Some(place) = queue.pop() {
            for step in &self.flow.steps[place] {
                let data = &net.transitions[step.transition];
                let Some(before) = &known[place] else { continue };
                let Some(after) = self.after(data, before, &known) else { continue };
                let mut targets: Vec<(Place, Known)> = Vec::new();
                for (entry, _) in made(net, data) {
                    targets.push((entry, Known { set: after.set, copies: Vec::new() }));
                }
                targets.extend(step.target.map(|target| (target, after)));
                for (target, new) in targets {
                    let is_changed = match &mut known[target] {
                        None => {
                            known[target] = Some(new);
                            true
                        }
                        Some(old) => old.meet(&new),
                    };
                    if is_changed {
                        queue.push(target);
                        queue.extend(&waiting[target]);
                    }
                }
            }
        }
        known.iter().map(|known| known.as_ref().map(|known| known.set)).collect()
    }

    /// What is known after a step; none where it waits for the exit of a function that nobody is known to come to.
    fn after(
        &self,
        data: &TransitionData,
        before: &Known,
        known: &IndexVec<Place, Option<Known>>,
    ) -> Option<Known> {
        let mut after = before.clone();
        for exit in ended(self.net, data) {
            after.set |= known[exit].as_ref()?.set;
        }
        after.set |= self.learnt(data, before);
        for arc in &data.arcs {
            let ArcData::Write { place, key, value, when } = arc else { continue };
            if when.is_none() && matches!(value, Expr::Const(value) if *value != 0) {
                after.set |= self.bit(*place);
            }
            if self.frames.private[*place] && is_own(key) {
                after.copies.retain(|copy| copy.cell != *place);
            }
        }
        let copies = data.arcs.iter().filter_map(|arc| self.copy(data, arc));
        after.copies.extend(copies);
        after.copies.truncate(MAX_COPIES);
        Some(after)
    }

    /// The latches of which the guard of a step says that they are set.
    fn learnt(&self, data: &TransitionData, before: &Known) -> Set {
        let Some(guard) = &data.guard else { return 0 };
        let mut ranges = by_type(self.net, data);
        let mut asked: Vec<(Var, Place, i64)> = Vec::new();
        for arc in &data.arcs {
            let ArcData::Read { place, key, var, when: None } = arc else { continue };
            if let Some(&range) = self.ranges.get(place) {
                ranges[*var] = range;
                asked.push((*var, *place, 0));
            } else if self.frames.private[*place] && is_own(key) {
                for copy in before.copies.iter().filter(|copy| copy.cell == *place) {
                    ranges[*var] = copy.range;
                    asked.push((*var, copy.latch, copy.if_clear));
                }
            }
        }
        if asked.is_empty() || !narrow(guard, true, &mut ranges) {
            return 0;
        }
        let is_set = |(var, _, if_clear): &&(Var, Place, i64)| !ranges[*var].contains(*if_clear);
        asked.iter().filter(is_set).fold(0, |set, (_, latch, _)| set | self.bit(*latch))
    }

    /// The copy of a latch that an arc writes to the step's own frame.
    fn copy(&self, data: &TransitionData, arc: &ArcData) -> Option<Copy> {
        let ArcData::Write { place, key, value, when: None } = arc else { return None };
        if !self.frames.private[*place] || !is_own(key) {
            return None;
        }
        let mut vars = value.vars();
        vars.sort_unstable();
        vars.dedup();
        let [var] = vars[..] else { return None };
        let latch = data.arcs.iter().find_map(|arc| match arc {
            ArcData::Read { place, var: read, when: None, .. } if *read == var => {
                self.numbers.contains_key(place).then_some(*place)
            }
            _ => None,
        })?;
        // The cell must be written once by the step, or it has another value.
        let same = |other: &&ArcData| matches!(other, ArcData::Write { place: other, .. } if other == place);
        if data.arcs.iter().filter(same).count() > 1 || *place == latch {
            return None;
        }
        let ty = self.net.places[*place].cells()?.value;
        let mut ranges = by_type(self.net, data);
        ranges[var] = Range::one(0);
        let if_clear = range_of(value, &ranges).converted(ty).single()?;
        ranges[var] = self.ranges[&latch];
        Some(Copy { cell: *place, latch, if_clear, range: range_of(value, &ranges).converted(ty) })
    }
}

/// Where the frames are that a step ends, beside its own.
fn ended<'a>(net: &'a Net, data: &'a TransitionData) -> impl Iterator<Item = Place> + 'a {
    data.arcs.iter().skip(1).filter_map(move |arc| match arc {
        ArcData::Take { place, token } => {
            let is_known = token.iter().all(|part| matches!(part, Pattern::Is(_)));
            (net.is_frame_place(*place) && is_known).then_some(*place)
        }
        _ => None,
    })
}
