//! Locks that a thread surely holds, and which faults that rules out.
//!
//! A lock is a global cell that holds a mark of its owner: the thread's number plus one, or the same with a minus
//! (a read-write lock that is held for writing). It is understood where every step that writes the cell
//! - takes it: its guard demands that the cell is 0 (or, where owners have negative marks, not negative), or
//! - gives it back: its guard demands that the cell holds the mark of the step's own thread, or
//! - is a step of the first thread while there is no other, or
//! - is a step at a place where the thread surely holds the lock, by what is found below.
//!
//! The last looks like a circle, and is an induction over the steps of a run: that the thread holds the lock there
//! was true before the step because no step before it broke the rule. It is needed where the guard of an unlocking
//! step was left out because it is always true. The cell that says who is in an atomic section is a lock, too: only
//! the thread inside can move.
//!
//! So no thread changes a cell that holds the mark of another one. What the thread itself does is followed along
//! its steps: at each place the set of locks that hold its mark, whatever the way there. Taking a lock adds it; any
//! other write of the cell removes it, where the index is not constant from all cells of the place. A call hands
//! the set to the callee, and where the callee returns, the caller has left what neither the callee nor anything
//! that it calls may have given back, and has what is held at the exit of the callee. New threads hold nothing.

use pdnet_base::{FxHashMap, IndexVec};

use super::calls::{Calls, entered};
use super::facts::Facts;
use crate::flow::Flow;
use crate::net::{ArcData, Function, Place, Scope, Transition, TransitionData};
use crate::{BinaryOp, Expr, IntType, Net, UnaryOp};

/// A set of locks, by number. So many locks are looked at.
pub(crate) type Set = u128;
const MAX_LOCKS: usize = 128;

/// How an owner marks a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Positive,
    Negative,
}

impl Mark {
    /// The mark of the thread that moves.
    fn of_mover(self) -> Expr {
        let thread = Expr::Var(TransitionData::thread_var());
        let positive = Expr::binary(BinaryOp::Add, IntType::I64, thread, Expr::Const(1));
        match self {
            Self::Positive => positive,
            Self::Negative => Expr::unary(UnaryOp::Neg, IntType::I64, positive),
        }
    }
}

/// What a step does to the set of locks.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    removed: Set,
    added: Set,
}

impl Change {
    const fn of(self, set: Set) -> Set {
        (set & !self.removed) | self.added
    }
}

/// Marks the steps that cannot happen because the thread holds a lock.
pub(super) fn mark(net: &Net, flow: &Flow, calls: &Calls, found: &mut IndexVec<Transition, bool>) {
    let Some(Held { locks, at: held }) = Held::new(net, flow, calls) else { return };
    for (transition, data) in net.transitions.iter_enumerated() {
        let set = data.source().and_then(|source| held[source]).unwrap_or(0);
        let Some(guard) = data.guard.as_ref().filter(|_| set != 0 && !found[transition]) else { continue };
        let mut facts = Vec::new();
        for arc in &data.arcs {
            if let ArcData::Read { place, key, var, when: None } = arc
                && let Some(number) = locks.number(*place, key)
                && set & (1 << number) != 0
            {
                let mark = locks.marks[place].of_mover();
                facts.push(Expr::equal(Expr::Var(*var), mark));
            }
        }
        if !facts.is_empty() && Facts::new(&facts).simplify(guard) == Expr::Const(0) {
            found[transition] = true;
        }
    }
}

/// Which locks are held where.
pub(crate) struct Held {
    locks: Locks,
    /// The locks that every frame that stands on a place holds, where a frame can come to it.
    at: IndexVec<Place, Option<Set>>,
}

impl Held {
    /// Looks at all steps of a net; none where no lock is understood.
    pub(crate) fn new(net: &Net, flow: &Flow, calls: &Calls) -> Option<Self> {
        let mut marks = candidates(net);
        let alone = calls.alone(net, flow);
        loop {
            let locks = Locks::new(net, marks)?;
            let at = locks.held(net, flow, calls);
            let broken = locks.broken(net, &alone, &at);
            if broken.is_empty() {
                return Some(Self { locks, at });
            }
            marks = locks.marks;
            marks.retain(|place, _| !broken.contains(place));
        }
    }

    /// The locks that a frame on this place holds. Where no frame can come to, all.
    pub(crate) fn at(&self, place: Place) -> Set {
        self.at[place].unwrap_or(Set::MAX)
    }

    /// The lock that a key of a place names, where it is one lock.
    pub(crate) fn lock(&self, place: Place, key: &[Expr]) -> Set {
        self.locks.number(place, key).map_or(0, |number| 1 << number)
    }

    /// The locks that a step needs free or its own, by its guard.
    pub(crate) fn demanded(&self, data: &TransitionData) -> Set {
        let mut demanded = 0;
        for arc in &data.arcs {
            if let ArcData::Read { place, key, .. } = arc
                && let Some(&mark) = self.locks.marks.get(place)
                && demands_free_or_own(data, *place, key, None, mark)
            {
                demanded |= self.lock(*place, key);
            }
        }
        demanded
    }

    /// Whether a step touches a cell of locks only where no other thread holds it: its guard demands that the cell is
    /// free or its own, or the lock is held where the step begins.
    pub(crate) fn waits_for(&self, data: &TransitionData, arc: &ArcData) -> bool {
        let (ArcData::Read { place, key, .. } | ArcData::Write { place, key, .. }) = arc else { return true };
        let Some(&mark) = self.locks.marks.get(place) else { return true };
        let is_held = data.source().is_some_and(|source| self.at(source) & self.lock(*place, key) != 0);
        is_held || demands_free_or_own(data, *place, key, None, mark)
    }
}

/// The places with cells that some step marks as an owner does.
fn candidates(net: &Net) -> FxHashMap<Place, Mark> {
    let mut marks: FxHashMap<Place, Mark> = FxHashMap::default();
    let [positive, negative] = [Mark::Positive, Mark::Negative].map(|mark| (mark, mark.of_mover()));
    for arc in net.transitions.iter().flat_map(|data| &data.arcs) {
        if let ArcData::Write { place, value, .. } = arc
            && let Some((mark, _)) = [&positive, &negative].into_iter().find(|(_, mark)| mark == value)
            && is_lock_cell(net, *place, *mark)
        {
            marks.entry(*place).or_insert(*mark);
        }
    }
    marks
}

/// The locks that are understood.
struct Locks {
    /// The cell that says who is in an atomic section.
    section: Option<Place>,
    /// The places with their cells, and how they are marked.
    marks: FxHashMap<Place, Mark>,
    /// The numbers of the single locks: the place, with the index in an array.
    numbers: FxHashMap<(Place, Option<i64>), usize>,
    /// All locks of a place.
    of_place: FxHashMap<Place, Set>,
    /// What each step that writes locks does.
    changes: FxHashMap<Transition, Change>,
}

impl Locks {
    fn new(net: &Net, marks: FxHashMap<Place, Mark>) -> Option<Self> {
        let mut locks = Self {
            section: net.atomic,
            marks,
            numbers: FxHashMap::default(),
            of_place: FxHashMap::default(),
            changes: FxHashMap::default(),
        };
        locks.find_changes(net);
        (!locks.numbers.is_empty()).then_some(locks)
    }

    /// The places with locks that some step may change while another thread holds them, given what is held where.
    fn broken(
        &self,
        net: &Net,
        alone: &IndexVec<Place, bool>,
        held: &IndexVec<Place, Option<Set>>,
    ) -> Vec<Place> {
        let mut broken = Vec::new();
        for data in &net.transitions {
            let Some(source) = data.source().filter(|&source| !alone[source]) else { continue };
            for arc in &data.arcs {
                if let ArcData::Write { place, key, .. } = arc
                    && let Some(&mark) = self.marks.get(place)
                    && Some(*place) != self.section
                    && !leaves_others_alone(data, arc, mark)
                    && self
                        .number(*place, key)
                        .is_none_or(|number| held[source].is_some_and(|set| set & (1 << number) == 0))
                {
                    broken.push(*place);
                }
            }
        }
        broken
    }

    fn number(&self, place: Place, key: &[Expr]) -> Option<usize> {
        self.numbers.get(&(place, index(key)?)).copied()
    }

    fn find_changes(&mut self, net: &Net) {
        // The locks that are taken somewhere; the others are never held.
        for data in &net.transitions {
            for arc in &data.arcs {
                if let Some((place, Some(index))) = self.taken(data, arc) {
                    let next = self.numbers.len();
                    let length = net.places[place].cells().and_then(|cells| cells.length).unwrap_or(0);
                    if index.is_some_and(|index| !(0..i64::from(length)).contains(&index)) {
                        continue;
                    }
                    if next < MAX_LOCKS || self.numbers.contains_key(&(place, index)) {
                        let number = *self.numbers.entry((place, index)).or_insert(next);
                        *self.of_place.entry(place).or_default() |= 1 << number;
                    }
                }
            }
        }
        for (transition, data) in net.transitions.iter_enumerated() {
            let mut change = Change::default();
            let mut is_touched = false;
            for arc in &data.arcs {
                let ArcData::Write { place, key, .. } = arc else { continue };
                let Some(&all) = self.of_place.get(place) else { continue };
                is_touched = true;
                match self.taken(data, arc) {
                    Some((_, Some(index))) => {
                        let number = self.numbers.get(&(*place, index));
                        change.added |= number.map_or(0, |number| 1 << number);
                    }
                    // Taken at some index: nothing is given back.
                    Some((_, None)) => {}
                    None => {
                        let removed = match index(key) {
                            Some(index) => self.numbers.get(&(*place, index)).map_or(0, |number| 1 << number),
                            None => all,
                        };
                        change.removed |= removed;
                        change.added &= !removed;
                    }
                }
            }
            if is_touched {
                self.changes.insert(transition, change);
            }
        }
    }

    /// The lock that a step surely takes by an arc: its place, and its index where that is constant.
    fn taken(&self, data: &TransitionData, arc: &ArcData) -> Option<(Place, Option<Option<i64>>)> {
        let ArcData::Write { place, key, value, when: None } = arc else { return None };
        let mark = *self.marks.get(place)?;
        let facts = Facts::new(&data.guard);
        let is_free =
            facts.reads(data, *place, key).any(|var| facts.any(|fact| is_zero(fact, &Expr::Var(var))));
        let is_section = self.section == Some(*place);
        (*value == mark.of_mover() && (is_free || is_section)).then(|| (*place, index(key)))
    }

    /// The locks that are held at each place, where a frame can come to it.
    fn held(&self, net: &Net, flow: &Flow, calls: &Calls) -> IndexVec<Place, Option<Set>> {
        let given_back = self.given_back(net, calls);
        let mut held: IndexVec<Place, Option<Set>> = IndexVec::filled(None, net.places.len());
        let mut waiting: IndexVec<Function, Vec<Place>> = IndexVec::filled(Vec::new(), net.functions.len());
        let mut exit_of: FxHashMap<Place, Function> = FxHashMap::default();
        for (function, data) in net.functions.iter_enumerated() {
            exit_of.insert(data.exit, function);
        }
        let mut queue: Vec<Place> = Vec::new();
        for (place, data) in net.places.iter_enumerated() {
            if let crate::PlaceForm::Tokens { initial } = &data.form
                && !initial.is_empty()
                && net.is_frame_place(place)
            {
                held[place] = Some(0);
                queue.push(place);
            }
        }
        for (transition, data) in net.transitions.iter_enumerated() {
            if let (Some(function), Some(source)) = (net.returns_from(transition), data.source()) {
                waiting[function].push(source);
            }
        }
        while let Some(place) = queue.pop() {
            let Some(set) = held[place] else { continue };
            for step in &flow.steps[place] {
                let data = &net.transitions[step.transition];
                let mut after = set;
                if let Some(callee) = net.returns_from(step.transition) {
                    // Not before the callee is known to come to its exit.
                    let Some(at_exit) = held[net.functions[callee].exit] else { continue };
                    after = (after & !given_back[callee]) | at_exit;
                }
                after = self.changes.get(&step.transition).copied().unwrap_or_default().of(after);
                let new = entered(net, data).map(|(function, is_call)| {
                    (net.functions[function].entry, if is_call { after } else { 0 })
                });
                for (to, set) in step.target.map(|target| (target, after)).into_iter().chain(new) {
                    let joined = held[to].map_or(set, |known| known & set);
                    if held[to] == Some(joined) {
                        continue;
                    }
                    held[to] = Some(joined);
                    queue.push(to);
                    if let Some(function) = exit_of.get(&to) {
                        queue.extend(&waiting[*function]);
                    }
                }
            }
        }
        held
    }

    /// The locks that each function may give back, itself or in what it calls.
    fn given_back(&self, net: &Net, calls: &Calls) -> IndexVec<Function, Set> {
        let mut given_back: IndexVec<Function, Set> = IndexVec::filled(0, net.functions.len());
        for (transition, data) in net.transitions.iter_enumerated() {
            given_back[data.function] |= self.changes.get(&transition).map_or(0, |change| change.removed);
        }
        let mut queue: Vec<Function> = net.functions.indices().collect();
        while let Some(function) = queue.pop() {
            for entering in calls.entering[function].iter().filter(|entering| entering.is_call) {
                let caller = net.transitions[entering.transition].function;
                let all = given_back[caller] | given_back[function];
                if all != given_back[caller] {
                    given_back[caller] = all;
                    queue.push(caller);
                }
            }
        }
        given_back
    }
}

/// Whether a place has global cells with room for marks.
fn is_lock_cell(net: &Net, place: Place, mark: Mark) -> bool {
    let Some(cells) = net.places[place].cells() else { return false };
    let most = i64::from(net.max_threads);
    let has_room = match mark {
        Mark::Positive => cells.value.contains(most),
        Mark::Negative => cells.value.signed && cells.value.contains(-most),
    };
    matches!(cells.scope, Scope::Global) && has_room
}

/// Whether a step can write by an arc only where the cell holds no mark of another thread.
fn leaves_others_alone(data: &TransitionData, arc: &ArcData, mark: Mark) -> bool {
    let ArcData::Write { place, key, when, .. } = arc else { return true };
    demands_free_or_own(data, *place, key, when.as_ref(), mark)
}

/// Whether the guard of a step, or another condition, demands that a cell of locks holds no mark of another thread.
fn demands_free_or_own(
    data: &TransitionData,
    place: Place,
    key: &[Expr],
    when: Option<&Expr>,
    mark: Mark,
) -> bool {
    let facts = Facts::new(data.guard.iter().chain(when));
    let mover = mark.of_mover();
    let zero = Expr::Const(0);
    facts.reads(data, place, key).any(|var| {
        let cell = Expr::Var(var);
        facts.any(|fact| {
            is_zero(fact, &cell)
                || matches!(fact, Expr::Binary(BinaryOp::Eq, _, left, right) if **left == cell && **right == mover)
                || (mark == Mark::Negative
                    && matches!(fact, Expr::Binary(BinaryOp::Lt | BinaryOp::Le, ty, left, right)
                        if ty.signed && **left == zero && **right == cell))
        })
    })
}

/// Whether a fact says that an expression is 0.
fn is_zero(fact: &Expr, expr: &Expr) -> bool {
    matches!(fact, Expr::Binary(BinaryOp::Eq, _, left, right) if **left == *expr && **right == Expr::Const(0))
}

/// The index that a key asks for, where it is constant; of a single cell, none.
fn index(key: &[Expr]) -> Option<Option<i64>> {
    match key {
        [] => Some(None),
        [Expr::Const(index)] => Some(Some(*index)),
        _ => None,
    }
}
