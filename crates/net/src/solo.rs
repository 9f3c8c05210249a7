//! What the first thread does while it is the only one: before it starts others, and after it has waited for the end of all of them.
//!
//! A test of a program often ends so: threads are started, perhaps in a loop, their handles are kept, perhaps in an array, all
//! of them are joined, and then something is said of what they have left behind. Nobody can come between then.
//!
//! # How it is found
//!
//! The first thread is followed alone, with all that others may do to it left open. A *situation* is where its frames stand, the values
//! that are known of cells which only it writes, and the threads that may be alive. A step adds the threads that it makes frames of,
//! whose numbers are known since they are given in order and by nobody else; a step that looks for a thread of a known number among
//! the ended ones takes it away. A guard whose value is not known may be true, and a cell that is written with what
//! is not known has any value. So with every reachable marking of the net there is a situation that is true of it, and a step happens only
//! where it does in some situation.
//!
//! Only cells are followed on which depends where the first thread goes and which threads it starts or waits for: an array that it fills
//! with data is none of them. Where there are more than so many situations, as in a loop without a bound, nothing is found.
//!
//! A thread that is among the ended ones has no frame and never gets one: its number is not given again. So where no thread may be alive
//! that was started, there is no other thread; and whatever the others did happened before that, in the sense of C11 too, since
//! each of them was waited for.

use std::collections::BTreeMap;

use pdnet_base::{FxHashSet, IndexVec};

use crate::flow::Flow;
use crate::frames::{Frames, is_own, made};
use crate::impossible::calls::Calls;
use crate::interval::{Range, Ranges, by_type, range_of};
use crate::names::next_number;
use crate::net::{ArcData, Function, Pattern, Place, Scope, Transition, TransitionData};
use crate::protection::only_top_frames_move;
use crate::{Effect, Expr, Net, PlaceForm, Var};

/// So many frames and cells are there at most in all situations together.
const MOST: usize = 100_000;

/// Where the first thread is the only one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solo {
    /// Places of frames of which none is there while there are several threads.
    pub places: IndexVec<Place, bool>,
    /// Transitions that do not happen while there are several threads.
    pub steps: IndexVec<Transition, bool>,
}

impl Solo {
    /// Follows the first thread. Where it cannot be followed, nothing is known of any place and step.
    #[must_use]
    pub fn new(net: &Net) -> Self {
        let nothing = || Self {
            places: IndexVec::filled(false, net.places.len()),
            steps: IndexVec::filled(false, net.transitions.len()),
        };
        Walk::new(net).and_then(Walk::go).unwrap_or_else(nothing)
    }
}

/// A cell: its place, the depth of its frame (or 0), and its index (or 0).
type Cell = (Place, i64, i64);

/// What is true of some markings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Situation {
    /// Where the frames stand, the lowest first.
    frames: Vec<Place>,
    /// The number that the next thread gets.
    next: i64,
    /// The other threads that may have frames.
    live: Threads,
    /// Cells with known values.
    known: BTreeMap<Cell, i64>,
}

/// Some threads, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Threads([u64; 4]);

impl Threads {
    /// The word and the bit of a thread, if there is room for it.
    fn bit(thread: i64) -> Option<(usize, u64)> {
        let thread = u8::try_from(thread).ok()?;
        Some((usize::from(thread / 64), 1 << (thread % 64)))
    }

    fn insert(&mut self, thread: i64) -> Option<()> {
        let (word, bit) = Self::bit(thread)?;
        self.0[word] |= bit;
        Some(())
    }

    fn remove(&mut self, thread: i64) {
        if let Some((word, bit)) = Self::bit(thread) {
            self.0[word] &= !bit;
        }
    }

    fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }
}

struct Walk<'n> {
    net: &'n Net,
    flow: Flow,
    /// The cell with the number of the next thread.
    next: Place,
    /// Functions that only the first thread runs.
    is_firsts: IndexVec<Function, bool>,
    /// Cells that only steps of these functions write, under the key of the frame that moves or is made where they belong to one.
    is_private: IndexVec<Place, bool>,
    /// Cells on which it depends where the first thread goes, what it starts and what it waits for.
    decides: IndexVec<Place, bool>,
    solo: Solo,
}

impl<'n> Walk<'n> {
    fn new(net: &'n Net) -> Option<Self> {
        Frames::new(net)?;
        let flow = Flow::new(net);
        if !only_top_frames_move(net, &flow) || net.done.is_none() {
            return None;
        }
        let calls = Calls::new(net);
        let main = calls.main?;
        // Begin with all functions, and leave out those that others may run.
        let mut is_firsts: IndexVec<Function, bool> = IndexVec::filled(true, net.functions.len());
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for function in net.functions.indices().filter(|&function| function != main) {
                let mut entering = calls.entering[function].iter();
                let is_called = |transition: Transition| is_firsts[net.transitions[transition].function];
                if is_firsts[function] && !entering.all(|from| from.is_call && is_called(from.transition)) {
                    is_firsts[function] = false;
                    is_changed = true;
                }
            }
        }
        let next = next_number(net)?;
        let places = IndexVec::filled(true, net.places.len());
        let steps = IndexVec::filled(true, net.transitions.len());
        let mut walk = Self {
            net,
            flow,
            next,
            is_private: IndexVec::filled(true, net.places.len()),
            decides: IndexVec::filled(false, net.places.len()),
            is_firsts,
            solo: Solo { places, steps },
        };
        for data in &net.transitions {
            walk.look_at(data)?;
        }
        while walk.find_deciding() {}
        Some(walk)
    }

    /// Looks at all steps for more cells that decide; whether some were found.
    fn find_deciding(&mut self) -> bool {
        let mut is_changed = false;
        for data in self.net.transitions.iter().filter(|data| self.is_firsts[data.function]) {
            let mut needed: Vec<Var> = data.guard.iter().flat_map(Expr::vars).collect();
            for arc in &data.arcs {
                match arc {
                    ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                        for part in token {
                            if let Pattern::Is(part) = part {
                                needed.extend(part.vars());
                            }
                        }
                    }
                    ArcData::Put { token, .. } => needed.extend(token.iter().flat_map(Expr::vars)),
                    ArcData::Write { place, key, value, when } if self.decides[*place] => {
                        needed.extend(key.iter().chain([value]).chain(when).flat_map(Expr::vars));
                    }
                    ArcData::Write { .. } | ArcData::Read { .. } => {}
                    ArcData::Inhibit { .. } | ArcData::Drain { .. } => {}
                    ArcData::Governed { .. } | ArcData::Governs { .. } => {}
                }
            }
            // What is read under a key that is read comes later.
            for arc in data.arcs.iter().rev() {
                let ArcData::Read { place, key, var, when } = arc else { continue };
                if needed.contains(var) {
                    needed.extend(key.iter().chain(when).flat_map(Expr::vars));
                    is_changed |= !self.decides[*place];
                    self.decides[*place] = true;
                }
            }
        }
        is_changed
    }

    /// What a step means for what can be known.
    fn look_at(&mut self, data: &TransitionData) -> Option<()> {
        let net = self.net;
        let is_firsts = self.is_firsts[data.function];
        for arc in &data.arcs {
            match arc {
                ArcData::Write { place, key, .. } => {
                    let frame = key.get(..2).unwrap_or(key);
                    let is_frames = || is_own(frame) || made(net, data).any(|(_, token)| token == frame);
                    let is_right = match net.places[*place].cells().map(|cells| cells.scope) {
                        Some(Scope::Global) => true,
                        Some(Scope::Frame(_)) => is_frames(),
                        Some(Scope::Thread) | None => false,
                    };
                    if *place == self.next && !is_firsts {
                        return None;
                    }
                    self.is_private[*place] &= is_firsts && is_right;
                }
                ArcData::Take { place, .. } if Some(*place) == net.done => return None,
                ArcData::Drain { place, to, .. } if [Some(*place), Some(*to)].contains(&net.done) => {
                    return None;
                }
                ArcData::Put { place, .. } if Some(*place) == net.done => return None,
                ArcData::Take { .. } | ArcData::Put { .. } | ArcData::Drain { .. } => {}
                ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Read { .. } => {}
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        for bytes in &data.bytes {
            self.is_private[bytes.place] = false;
        }
        Some(())
    }

    fn go(mut self) -> Option<Solo> {
        let first = self.first()?;
        let mut seen: FxHashSet<Situation> = FxHashSet::default();
        let mut size = first.size();
        let mut waiting = vec![first.clone()];
        seen.insert(first);
        // What no frame of the first thread comes to may be a place of others.
        let mut is_met: IndexVec<Place, bool> = IndexVec::filled(false, self.net.places.len());
        while let Some(situation) = waiting.pop() {
            for &place in &situation.frames {
                is_met[place] = true;
                self.solo.places[place] &= situation.live.is_empty();
            }
            for transition in self.next_steps(&situation) {
                let Some(next) = self.step(&situation, transition)? else { continue };
                self.solo.steps[transition] &= situation.live.is_empty();
                if !next.frames.is_empty() && seen.insert(next.clone()) {
                    size += next.size();
                    if size > MOST {
                        return None;
                    }
                    waiting.push(next);
                }
            }
        }
        let Self { net, is_firsts, mut solo, .. } = self;
        for (place, data) in net.places.iter_enumerated() {
            let is_firsts = data.function.is_some_and(|function| is_firsts[function]);
            solo.places[place] &= is_met[place] && is_firsts && net.is_frame_place(place);
        }
        for (transition, data) in net.transitions.iter_enumerated() {
            solo.steps[transition] &= is_firsts[data.function];
        }
        Some(solo)
    }

    /// The beginning: one frame, of thread 0.
    fn first(&self) -> Option<Situation> {
        let net = self.net;
        let mut frames = Vec::new();
        for place in net.places.indices().filter(|&place| net.is_frame_place(place)) {
            if let PlaceForm::Tokens { initial } = &net.places[place].form {
                frames.extend(initial.iter().map(|token| (place, token.as_slice())));
            }
        }
        let [(place, [0, 0])] = frames.as_slice() else { return None };
        let next = net.places[self.next].cells()?;
        let is_plain = next.listed.is_empty() && next.default == 1;
        is_plain.then(|| Situation {
            frames: vec![*place],
            next: next.default,
            live: Threads::default(),
            known: BTreeMap::new(),
        })
    }

    /// The steps of the frame on top, and those of the frame below that wait for its end.
    fn next_steps(&self, situation: &Situation) -> Vec<Transition> {
        let of = |place: &Place| self.flow.steps[*place].iter().map(|step| step.transition);
        situation.frames.iter().rev().take(2).flat_map(of).collect()
    }

    /// What a step may lead to: nothing where it cannot happen, and none at all where it cannot be followed.
    fn step(&self, before: &Situation, transition: Transition) -> Option<Option<Situation>> {
        let net = self.net;
        let data = &net.transitions[transition];
        let mut values = by_type(net, data);
        let source = data.source()?;
        let top = before.frames.len() - 1;
        let takes_above = data.arcs.iter().skip(1).any(|arc| match arc {
            ArcData::Take { place, .. } => net.is_frame_place(*place),
            _ => false,
        });
        let depth = if takes_above { top.checked_sub(1) } else { Some(top) };
        let Some(depth) = depth.filter(|&depth| before.frames[depth] == source) else { return Some(None) };
        let depth = i64::try_from(depth).ok()?;
        values[TransitionData::thread_var()] = Range::one(0);
        values[TransitionData::depth_var()] = Range::one(depth);
        let mut after = before.clone();
        let one = |expr: &Expr, values: &Ranges| range_of(expr, values).single();
        for arc in data.arcs.iter().skip(1) {
            match arc {
                ArcData::Take { place, token } if net.is_frame_place(*place) => {
                    let Some(above) = before.frames.last() else { return Some(None) };
                    let is_above = token.iter().zip([0, depth + 1]).all(|(part, wanted)| match part {
                        Pattern::Is(part) => one(part, &values) == Some(wanted),
                        Pattern::Bind(_) => false,
                    });
                    if !is_above {
                        return None;
                    }
                    if above != place {
                        return Some(None);
                    }
                    after.drop_frame(net);
                }
                ArcData::Test { place, token } if Some(*place) == net.done => {
                    if let [Pattern::Is(thread)] = token.as_slice()
                        && let Some(thread) = one(thread, &values)
                    {
                        after.live.remove(thread);
                    }
                }
                ArcData::Read { place, key, var, when } => {
                    let counts = when.as_ref().map_or(Some(true), |when| range_of(when, &values).truth());
                    let value = match counts {
                        Some(true) => {
                            self.cell(*place, key, &values).and_then(|cell| before.value(self, cell))
                        }
                        Some(false) => Some(0),
                        None => None,
                    };
                    if let Some(value) = value {
                        values[*var] = Range::one(value);
                    } else if counts.is_none() {
                        values[*var] = values[*var].hull(Range::one(0));
                    }
                }
                ArcData::Take { .. } | ArcData::Test { .. } | ArcData::Inhibit { .. } => {}
                ArcData::Put { .. } | ArcData::Drain { .. } | ArcData::Write { .. } => {}
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        if data.guard.as_ref().is_some_and(|guard| range_of(guard, &values).truth() == Some(false)) {
            return Some(None);
        }
        if data.action.effect() == Effect::None {
            self.put(&mut after, data, &values, depth)?;
        } else {
            // The thread, the process or the run ends.
            after.frames.clear();
        }
        Some(Some(after))
    }

    /// What a step that happens puts and writes.
    fn put(&self, after: &mut Situation, data: &TransitionData, values: &Ranges, depth: i64) -> Option<()> {
        let net = self.net;
        let one = |expr: &Expr| range_of(expr, values).single();
        let mut goes_on = false;
        let mut above = None;
        for arc in &data.arcs {
            let ArcData::Put { place, token } = arc else { continue };
            if !net.is_frame_place(*place) {
                continue;
            }
            let [thread, at] = token.as_slice() else { return None };
            match (one(thread)?, one(at)?) {
                (0, at) if at == depth => {
                    *after.frames.last_mut()? = *place;
                    goes_on = true;
                }
                (0, at) if at == depth + 1 => above = Some(*place),
                (thread, 0) if thread > 0 => after.live.insert(thread)?,
                _ => return None,
            }
        }
        if !goes_on {
            after.drop_frame(net);
        }
        if let Some(place) = above {
            if !goes_on {
                return None;
            }
            after.frames.push(place);
        }
        for arc in &data.arcs {
            let ArcData::Write { place, key, value, when } = arc else { continue };
            let counts = when.as_ref().map_or(Some(true), |when| range_of(when, values).truth());
            if counts == Some(false) {
                continue;
            }
            let value = one(value).filter(|_| counts == Some(true));
            if *place == self.next {
                after.next = value?;
                continue;
            }
            if !self.is_private[*place] || !self.decides[*place] {
                continue;
            }
            let fits =
                |value: &i64| net.places[*place].cells().is_some_and(|cells| cells.value.contains(*value));
            match (self.cell(*place, key, values), value.filter(fits)) {
                (Some(cell), Some(value)) => {
                    after.known.insert(cell, value);
                }
                (Some(cell), None) => {
                    after.known.remove(&cell);
                }
                (None, _) => after.known.retain(|(other, _, _), _| other != place),
            }
        }
        Some(())
    }

    /// Which cell of a place a key names; nothing is known of what is not there.
    fn cell(&self, place: Place, key: &[Expr], values: &Ranges) -> Option<Cell> {
        let net = self.net;
        let one = |expr: &Expr| range_of(expr, values).single();
        let cells = net.places[place].cells()?;
        let (frame, index) = match (cells.scope, cells.length.is_some()) {
            (Scope::Global, false) => (None, None),
            (Scope::Global, true) => (None, Some(key.first()?)),
            (Scope::Frame(_), false) => (Some(key.get(..2)?), None),
            (Scope::Frame(_), true) => (Some(key.get(..2)?), Some(key.get(2)?)),
            (Scope::Thread, _) => return None,
        };
        let depth = match frame {
            Some([thread, depth]) => {
                (one(thread)? == 0).then_some(())?;
                one(depth)?
            }
            Some(_) | None => 0,
        };
        let index = index.map_or(Some(0), one)?;
        let is_there = (0..cells.length.map_or(1, i64::from)).contains(&index);
        is_there.then_some((place, depth, index))
    }
}

impl Situation {
    fn size(&self) -> usize {
        1 + self.frames.len() + self.known.len()
    }

    /// The value of a cell, where it is known.
    fn value(&self, walk: &Walk<'_>, cell: Cell) -> Option<i64> {
        if cell.0 == walk.next { Some(self.next) } else { self.known.get(&cell).copied() }
    }

    /// The frame on top goes, with its cells.
    fn drop_frame(&mut self, net: &Net) {
        self.frames.pop();
        let depth = self.frames.len() as i64;
        let is_frames = |place: Place| {
            let cells = net.places[place].cells();
            cells.is_some_and(|cells| matches!(cells.scope, Scope::Frame(_)))
        };
        self.known.retain(|&(place, at, _), _| at != depth || !is_frames(place));
    }
}
