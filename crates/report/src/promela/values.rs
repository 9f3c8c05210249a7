//! Where frames can be, and which values cells can have.
//!
//! Promela computes with 32 bits, and the export writes one option for each thread and depth that can take a step.
//! Both need to know what is possible. The analysis does not follow the order of steps: it starts with the initial
//! marking and adds what a step can put and write until nothing is new. A step counts where a frame can stand at its
//! place, with every value that the cells that it reads can have, and where its guard is not false for all of them.
//! So everything that a run can do is in the result, by induction over the run.
//!
//! Cells with few values keep them one by one: addresses are numbers of 64 bits, but a pointer mostly has only a few.

use std::collections::BTreeSet;

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{
    ArcData, Base, CellData, Expr, IntType, Net, Pattern, Place, PlaceForm, Scope, TransitionData, Var,
    private_bounds,
};

use super::narrow::narrow;
use super::span::{INT, Span, span_of};

/// More values of a cell are a span.
const MAX_FEW: usize = 64;
/// A span of so many values that a step writes is kept as single values.
const MAX_WIDTH: i128 = 16;
/// A step is looked at for each combination of the values of its variables, as long as there are not more.
const MAX_COMBINATIONS: usize = 256;
/// A span that has grown so often becomes all values of its type.
const MAX_GROWTH: u32 = 8;

/// The values that cells of a place can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Few(BTreeSet<i64>),
    Many(Span),
}

impl Values {
    /// The bounds.
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Few(values) => match (values.first(), values.last()) {
                (Some(&first), Some(&last)) => Span::new(first.into(), last.into()),
                _ => Span::one(0),
            },
            Self::Many(span) => *span,
        }
    }

    /// All values, where they are few.
    pub(super) fn list(&self) -> Option<Vec<i64>> {
        match self {
            Self::Few(values) => Some(values.iter().copied().collect()),
            Self::Many(span) if span.high - span.low < MAX_FEW as i128 => {
                (span.low..=span.high).map(|value| i64::try_from(value).ok()).collect()
            }
            Self::Many(_) => None,
        }
    }

    /// With one more value.
    pub(super) fn and(&self, value: i64) -> Self {
        let mut values = self.clone();
        values.add(Span::one(value));
        values
    }

    /// Adds values; whether there were new ones.
    fn add(&mut self, new: Span) -> bool {
        if let Self::Few(values) = self {
            if new.high - new.low < MAX_WIDTH {
                let before = values.len();
                values.extend((new.low..=new.high).filter_map(|value| i64::try_from(value).ok()));
                let is_changed = values.len() > before;
                if values.len() > MAX_FEW {
                    *self = Self::Many(self.span());
                }
                return is_changed;
            }
            let hull = if values.is_empty() { new } else { self.span().hull(new) };
            *self = Self::Many(hull);
            return true;
        }
        let old = self.span();
        *self = Self::Many(old.hull(new));
        !new.is_within(old)
    }
}

/// A frame: its place, thread and depth.
pub(super) type Frame = (Place, i64, i64);

/// What a net can do, at most.
pub(super) struct Possible {
    /// Where frames can be.
    pub(super) frames: BTreeSet<Frame>,
    /// The values of cells.
    pub(super) values: IndexVec<Place, Values>,
    /// Cells that some step writes.
    pub(super) written: IndexVec<Place, bool>,
    /// Cells of frames that some step writes, by thread and depth.
    pub(super) touched: BTreeSet<Frame>,
    /// Places that can have tokens.
    pub(super) marked: IndexVec<Place, bool>,
    growth: IndexVec<Place, u32>,
    /// What is known of cells from the order of steps.
    bounds: IndexVec<Place, Option<Span>>,
}

impl Possible {
    /// What can happen with so many threads.
    pub(super) fn new(net: &Net, n_threads: u32) -> Self {
        let n = net.places.len();
        let mut possible = Self {
            frames: BTreeSet::new(),
            values: net
                .places
                .iter()
                .map(|data| Values::Few(data.cells().map_or_else(BTreeSet::new, initial_values)))
                .collect(),
            written: IndexVec::filled(false, n),
            touched: BTreeSet::new(),
            marked: IndexVec::filled(false, n),
            growth: IndexVec::filled(0, n),
            bounds: private_bounds(net)
                .iter()
                .map(|bounds| bounds.map(|(low, high)| Span::new(low.into(), high.into())))
                .collect(),
        };
        for (place, data) in net.places.iter_enumerated() {
            let PlaceForm::Tokens { initial } = &data.form else { continue };
            possible.marked[place] |= !initial.is_empty();
            if net.is_frame_place(place) {
                possible.frames.extend(initial.iter().map(|token| (place, token[0], token[1])));
            }
        }
        if let Some(done) = net.done {
            possible.marked[done] = true;
        }
        if let Some(ended) = net.ended {
            possible.marked[ended] = true;
        }
        let analysis = Analysis { net, n_threads: n_threads.into() };
        while analysis.round(&mut possible) {}
        possible
    }

    /// What a step's variable can be: of an input its values, of a token by its colour, else what the cell has that is
    /// read.
    pub(super) fn of_var(&self, net: &Net, n_threads: i64, data: &TransitionData, var: Var) -> Values {
        let VarDomain { base, choice } = VarDomain::of(data, var);
        if let Some(ranges) = choice {
            let mut values = Values::Few(BTreeSet::new());
            for &(low, high) in ranges {
                values.add(Span::new(low.into(), high.into()));
            }
            return values;
        }
        for arc in &data.arcs {
            if let ArcData::Read { place, var: bound, when, key } = arc
                && *bound == var
            {
                let values = &self.values[*place];
                let is_inside = key.is_empty() && when.is_none();
                // Outside of an array there is 0, and so there is where the arc does not count.
                return if is_inside { values.clone() } else { values.and(0) };
            }
        }
        let high = match base {
            Base::Thread => n_threads - 1,
            Base::Depth => i64::from(net.max_depth) - 1,
            Base::Index(length) => i64::from(length) - 1,
            Base::Int(ty) => return Values::Many(Span::of_type(ty)),
        };
        let mut values = Values::Few(BTreeSet::new());
        values.add(Span::new(0, high.into()));
        values
    }
}

struct VarDomain<'a> {
    base: Base,
    choice: Option<&'a [(i64, i64)]>,
}

impl<'a> VarDomain<'a> {
    fn of(data: &'a TransitionData, var: Var) -> Self {
        let found = &data.vars[var];
        Self { base: found.base, choice: found.choice.as_ref().map(|domain| domain.ranges.as_slice()) }
    }
}

/// The values that cells have first.
fn initial_values(cells: &CellData) -> BTreeSet<i64> {
    let mut values: BTreeSet<i64> = cells.listed.iter().map(|(_, value)| *value).collect();
    // The default is nowhere where every element is listed; that costs nothing.
    values.insert(cells.default);
    values
}

struct Analysis<'a> {
    net: &'a Net,
    n_threads: i64,
}

impl Analysis<'_> {
    /// Looks at every step once; whether something was new.
    fn round(&self, possible: &mut Possible) -> bool {
        let mut is_changed = false;
        for data in &self.net.transitions {
            let Some(source) = data.source() else { continue };
            let from = (source, i64::MIN, i64::MIN)..=(source, i64::MAX, i64::MAX);
            let frames: Vec<Frame> = possible.frames.range(from).copied().collect();
            for (_, thread, depth) in frames {
                is_changed |= self.step(data, thread, depth, possible);
            }
        }
        is_changed
    }

    /// Adds what a step of a frame can do.
    fn step(&self, data: &TransitionData, thread: i64, depth: i64, possible: &mut Possible) -> bool {
        let mut spans: IndexVec<Var, Span> = data.vars.iter().map(|_| Span::one(0)).collect();
        let mut listed: Vec<(Var, Vec<i64>)> = Vec::new();
        for var in data.vars.indices() {
            if var == TransitionData::thread_var() {
                spans[var] = Span::one(thread);
            } else if var == TransitionData::depth_var() {
                spans[var] = Span::one(depth);
            } else {
                let values = possible.of_var(self.net, self.n_threads, data, var);
                spans[var] = values.span();
                if let Some(list) = values.list().filter(|list| list.len() > 1) {
                    listed.push((var, list));
                }
            }
        }
        // What does not fit into 32 bits first: for it, single values matter.
        listed.sort_by_key(|(var, list)| (spans[*var].fits_int(), list.len()));
        let mut n_combinations = 1;
        listed.retain(|(_, list)| {
            let fits = n_combinations * list.len() <= MAX_COMBINATIONS;
            n_combinations *= if fits { list.len() } else { 1 };
            fits
        });
        let mut is_changed = false;
        self.combine(data, &listed, &mut spans, &mut |spans| is_changed |= self.act(data, spans, possible));
        is_changed
    }

    fn combine(
        &self,
        data: &TransitionData,
        listed: &[(Var, Vec<i64>)],
        spans: &mut IndexVec<Var, Span>,
        act: &mut impl FnMut(&IndexVec<Var, Span>),
    ) {
        let Some(((var, values), rest)) = listed.split_first() else {
            let mut narrowed = spans.clone();
            if data.guard.as_ref().is_none_or(|guard| narrow(guard, true, &mut narrowed)) {
                act(&narrowed);
            }
            return;
        };
        let before = spans[*var];
        for &value in values {
            spans[*var] = Span::one(value);
            self.combine(data, rest, spans, act);
        }
        spans[*var] = before;
    }

    /// Adds what a step with these values does.
    fn act(&self, data: &TransitionData, spans: &IndexVec<Var, Span>, possible: &mut Possible) -> bool {
        let of = |expr: &Expr| span_of(expr, &|var| spans[var]);
        let mut is_changed = false;
        let is_too_many = |arc: &ArcData| match arc {
            ArcData::Put { place, token } if self.net.is_frame_place(*place) => {
                of(&token[0]).low >= self.n_threads.into()
            }
            _ => false,
        };
        // There are never so many threads.
        if data.arcs.iter().any(is_too_many) {
            return false;
        }
        for arc in &data.arcs {
            match arc {
                ArcData::Put { place, token } => {
                    is_changed |= !std::mem::replace(&mut possible.marked[*place], true);
                    if self.net.is_frame_place(*place) {
                        let threads = within(of(&token[0]), self.n_threads);
                        for thread in threads {
                            for depth in within(of(&token[1]), self.net.max_depth.into()) {
                                is_changed |= possible.frames.insert((*place, thread, depth));
                            }
                        }
                    }
                }
                ArcData::Drain { place, to, .. } if possible.marked[*place] => {
                    is_changed |= !std::mem::replace(&mut possible.marked[*to], true);
                }
                ArcData::Write { place, key, value, when } => {
                    let counts = when.as_ref().is_none_or(|when| of(when).truth() != Some(false));
                    let Some(cells) = self.net.places[*place].cells().filter(|_| counts) else { continue };
                    is_changed |= !std::mem::replace(&mut possible.written[*place], true);
                    if matches!(cells.scope, Scope::Frame(_)) {
                        for thread in within(of(&key[0]), self.n_threads) {
                            for depth in within(of(&key[1]), self.net.max_depth.into()) {
                                is_changed |= possible.touched.insert((*place, thread, depth));
                            }
                        }
                    }
                    is_changed |= grow(possible, *place, of(value).converted(cells.value), cells.value);
                }
                ArcData::Take { .. }
                | ArcData::Test { .. }
                | ArcData::Inhibit { .. }
                | ArcData::Drain { .. }
                | ArcData::Read { .. }
                | ArcData::Governed { .. }
                | ArcData::Governs { .. } => {}
            }
        }
        is_changed
    }
}

/// The numbers below a limit that a span has.
fn within(span: Span, limit: i64) -> impl Iterator<Item = i64> {
    (0..limit).filter(move |&value| span.contains(value.into()))
}

/// Adds values of a cell, and gives up bounds that go on moving.
fn grow(possible: &mut Possible, place: Place, new: Span, ty: IntType) -> bool {
    let bounds = possible.bounds[place].unwrap_or(Span::of_type(ty));
    let Some(new) = new.meet(bounds) else { return false };
    let values = &mut possible.values[place];
    if !values.add(new) {
        return false;
    }
    if let Values::Many(_) = values {
        possible.growth[place] += 1;
        // What moves on within `int` may stay there; then it may be anything.
        let within = if values.span().fits_int() { INT.meet(bounds).unwrap_or(bounds) } else { bounds };
        if possible.growth[place] > MAX_GROWTH {
            *values = Values::Many(within.hull(values.span()));
        }
    }
    true
}

/// The variables that a step's tokens bind, the frame's aside.
pub(super) fn bound_by_tokens(data: &TransitionData) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    for arc in data.arcs.iter().skip(1) {
        if let ArcData::Take { token, .. } | ArcData::Test { token, .. } = arc {
            found.extend(token.iter().filter_map(|pattern| match pattern {
                Pattern::Bind(var) => Some(*var),
                Pattern::Is(_) => None,
            }));
        }
    }
    debug_assert!(found.iter().all(|var| var.index() > 1), "the frame is bound by the first arc");
    found
}
