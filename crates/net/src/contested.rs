//! Memory that two threads can come to: what a data race needs, found without a search.
//!
//! A function runs in the threads that start in it or in a function that calls it, directly or not. Two steps of
//! such functions are of two threads where the threads start in different functions, or where several can start
//! in the same one. A cell of memory can be raced for only where two such steps touch its place, one of them
//! writes it, not both are atomic operations, and the cells are not each thread's own. What the first thread does
//! before it can have started another one, or when it has waited for the end of all others (`solo`), races with nothing.
//!
//! Two such steps race only where two threads can be before them at the same time. They cannot where both surely hold
//! the same lock there (the `held` analysis of impossible steps), and where a latch is set at one place and not yet set
//! at the other (`latches`).
//!
//! Where no place is left, there is no data race, whatever the number of threads and the values of inputs.

use std::collections::{BTreeMap, BTreeSet};

use crate::flow::Flow;
use crate::frames::Frames;
use crate::impossible::calls::Calls;
use crate::impossible::held::Held;
use crate::latches::Latches;
use crate::net::{ArcData, Function, Place, PlaceForm, Scope, TransitionData};
use crate::protection::only_top_frames_move;
use crate::solo::Solo;
use crate::{Action, Expr, Net};

/// What the threads that start in one function do to a place.
#[derive(Clone, Copy, Debug, Default)]
struct Touches {
    reads: bool,
    writes: bool,
    plain_reads: bool,
    plain_writes: bool,
}

impl Touches {
    const fn conflicts(self, other: Self) -> bool {
        (self.plain_writes && (other.reads || other.writes))
            || (self.writes && (other.plain_reads || other.plain_writes))
    }
}

/// An access of a step to a place.
struct Touch {
    at: Place,
    function: Function,
    writes: bool,
    atomic: bool,
}

impl Touch {
    fn of(data: &TransitionData, place: Place) -> Option<Self> {
        let mut arcs =
            data.arcs.iter().filter_map(access).filter(|(touched, _)| *touched == place).peekable();
        arcs.peek()?;
        let (at, function) = (data.source()?, data.function);
        data.action.is_access().then(|| Self {
            at,
            function,
            writes: arcs.any(|(_, writes)| writes),
            atomic: data.atomic,
        })
    }
}

/// Why two frames of different threads are never at two places at the same time.
struct Apart {
    held: Option<Held>,
    latches: Option<Latches>,
}

impl Apart {
    /// None where frames do what is not understood.
    fn new(net: &Net) -> Option<Self> {
        Frames::new(net)?;
        let flow = Flow::new(net);
        if !only_top_frames_move(net, &flow) {
            return None;
        }
        let held = Held::new(net, &flow, &Calls::new(net));
        let latches = Latches::new(net, &flow);
        Some(Self { held, latches })
    }

    fn excludes(&self, one: Place, other: Place) -> bool {
        self.held.as_ref().is_some_and(|held| held.at(one) & held.at(other) != 0)
            || self.latches.as_ref().is_some_and(|latches| latches.excludes(one, other))
    }
}

impl Net {
    /// The places with memory that two threads may touch at once, one of them writing.
    #[must_use]
    pub fn contested_memory(&self) -> BTreeSet<Place> {
        let starts = self.thread_starts();
        let calls = self.calls();
        let reached: BTreeMap<Function, BTreeSet<Function>> =
            starts.keys().map(|&start| (start, reach(&calls, start))).collect();
        let shared = self.shared_memory();
        let solo = Solo::new(self);
        let mut alone = self.alone(&starts, &calls);
        // Each of the others was waited for: what it did happened before.
        alone.extend(self.places.indices().filter(|&place| solo.places[place]));
        let mut touches: BTreeMap<(Place, Function), Touches> = BTreeMap::new();
        for data in &self.transitions {
            if !data.action.is_access() || data.source().is_some_and(|from| alone.contains(&from)) {
                continue;
            }
            for (place, writes) in data.arcs.iter().filter_map(access) {
                if !shared.contains(&place) {
                    continue;
                }
                for start in starts.keys().filter(|start| reached[start].contains(&data.function)) {
                    let touched = touches.entry((place, *start)).or_default();
                    touched.reads |= !writes;
                    touched.writes |= writes;
                    touched.plain_reads |= !writes && !data.atomic;
                    touched.plain_writes |= writes && !data.atomic;
                }
            }
        }
        let mut contested = BTreeSet::new();
        for (&(place, start), &mine) in &touches {
            for (&(_, other), &theirs) in
                touches.range((place, pdnet_base::Idx::new(0))..).take_while(|(k, _)| k.0 == place)
            {
                let are_two = start != other || starts[&start] > 1;
                if are_two && mine.conflicts(theirs) {
                    contested.insert(place);
                }
            }
        }
        if !contested.is_empty()
            && let Some(apart) = Apart::new(self)
        {
            let are_two = |one: Function, other: Function| {
                starts.keys().filter(|start| reached[start].contains(&one)).any(|start| {
                    let mut others = starts.keys().filter(|start| reached[start].contains(&other));
                    others.any(|other| start != other || starts[start] > 1)
                })
            };
            contested.retain(|&place| {
                let accesses: Vec<Touch> = self
                    .transitions
                    .iter()
                    .filter_map(|data| Touch::of(data, place))
                    .filter(|touch| !alone.contains(&touch.at))
                    .collect();
                accesses.iter().enumerate().any(|(number, one)| {
                    accesses[number..].iter().any(|other| {
                        (one.writes || other.writes)
                            && !(one.atomic && other.atomic)
                            && are_two(one.function, other.function)
                            && !apart.excludes(one.at, other.at)
                    })
                })
            });
        }
        contested
    }

    /// The functions that threads start in, with how many can: one, or more than one.
    fn thread_starts(&self) -> BTreeMap<Function, u32> {
        let mut starts: BTreeMap<Function, u32> = BTreeMap::new();
        for data in &self.places {
            if let (PlaceForm::Tokens { initial }, Some(function)) = (&data.form, data.function)
                && !initial.is_empty()
            {
                let count = starts.entry(function).or_default();
                *count = count.saturating_add(u32::try_from(initial.len()).unwrap_or(u32::MAX));
            }
        }
        for data in &self.transitions {
            for function in self.entered(data, false) {
                // How often the step fires is not looked into.
                starts.insert(function, 2);
            }
        }
        starts
    }

    /// The functions to whose places a step puts frames: of the thread that moves, or of others.
    fn entered<'a>(&'a self, data: &'a TransitionData, own: bool) -> impl Iterator<Item = Function> + 'a {
        let mover = Expr::Var(TransitionData::thread_var());
        let places = data.arcs.iter().filter_map(move |arc| match arc {
            ArcData::Put { place, token } if (token.first() == Some(&mover)) == own => Some(*place),
            _ => None,
        });
        places.filter_map(|place| self.places[place].function.filter(|_| self.is_frame_place(place)))
    }

    /// The functions to whose places the steps of each function put tokens of the same thread.
    fn calls(&self) -> BTreeMap<Function, BTreeSet<Function>> {
        let mut calls: BTreeMap<Function, BTreeSet<Function>> = BTreeMap::new();
        for data in &self.transitions {
            let entered: Vec<Function> = self.entered(data, true).collect();
            calls.entry(data.function).or_default().extend(entered);
        }
        calls
    }

    /// The places of the function that the first thread starts in where that thread is the only one: it has
    /// started no other, nor called a function that does. None where several threads are there from the start,
    /// or where the function is entered again.
    fn alone(
        &self,
        starts: &BTreeMap<Function, u32>,
        calls: &BTreeMap<Function, BTreeSet<Function>>,
    ) -> BTreeSet<Place> {
        let first: Vec<Function> = starts.keys().copied().filter(|start| starts[start] == 1).collect();
        let [first] = first.as_slice() else { return BTreeSet::new() };
        let initial = self.places.indices().filter(|place| self.is_frame_place(*place));
        let n_initial: usize = initial
            .map(|place| match &self.places[place].form {
                PlaceForm::Tokens { initial } => initial.len(),
                PlaceForm::Cells(_) => 0,
            })
            .sum();
        if n_initial != 1 {
            return BTreeSet::new();
        }
        let enters = |data: &TransitionData| self.entered(data, true).any(|entered| entered == *first);
        if self.transitions.iter().any(|data| data.function != *first && enters(data)) {
            return BTreeSet::new();
        }
        let starting = self.transitions.iter().filter(|data| self.entered(data, false).next().is_some());
        let starting: BTreeSet<Function> = starting.map(|data| data.function).collect();
        let mut after: BTreeSet<Place> = BTreeSet::new();
        let own: Vec<&TransitionData> =
            self.transitions.iter().filter(|data| data.function == *first).collect();
        let targets = |data: &TransitionData| -> Vec<Place> {
            let puts = data.arcs.iter().filter_map(|arc| match arc {
                ArcData::Put { place, .. } if self.is_frame_place(*place) => Some(*place),
                _ => None,
            });
            puts.collect()
        };
        let mut queue: Vec<Place> = Vec::new();
        for data in &own {
            let called = self.entered(data, true).filter(|entered| entered != first);
            let mut reached = called.flat_map(|entered| reach(calls, entered));
            if self.entered(data, false).next().is_some() || reached.any(|called| starting.contains(&called))
            {
                queue.extend(targets(data));
            }
        }
        while let Some(place) = queue.pop() {
            if after.insert(place) {
                let leaving = own.iter().filter(|data| data.source() == Some(place));
                queue.extend(leaving.flat_map(|data| targets(data)));
            }
        }
        let is_before = |place: &Place| {
            self.places[*place].function == Some(*first)
                && self.is_frame_place(*place)
                && !after.contains(place)
        };
        self.places.indices().filter(is_before).collect()
    }

    /// Memory whose cells are not each thread's own.
    fn shared_memory(&self) -> BTreeSet<Place> {
        let mut shared = BTreeSet::new();
        for data in &self.transitions {
            for arc in &data.arcs {
                let (ArcData::Read { place, key, .. } | ArcData::Write { place, key, .. }) = arc else {
                    continue;
                };
                if !self.places[*place].memory {
                    continue;
                }
                let scope = self.places[*place].cells().map(|cells| cells.scope);
                let is_own = key.first() == Some(&Expr::Var(TransitionData::thread_var()));
                // The step that makes a thread gives it its first values, before it can move.
                let is_first = data.action == Action::Create && matches!(arc, ArcData::Write { .. });
                if matches!(scope, Some(Scope::Global)) || !(is_own || is_first) {
                    shared.insert(*place);
                }
            }
        }
        shared
    }
}

fn access(arc: &ArcData) -> Option<(Place, bool)> {
    match arc {
        ArcData::Read { place, .. } => Some((*place, false)),
        ArcData::Write { place, .. } => Some((*place, true)),
        _ => None,
    }
}

fn reach(calls: &BTreeMap<Function, BTreeSet<Function>>, start: Function) -> BTreeSet<Function> {
    let mut seen = BTreeSet::new();
    let mut queue = vec![start];
    while let Some(function) = queue.pop() {
        if seen.insert(function) {
            queue.extend(calls.get(&function).into_iter().flatten());
        }
    }
    seen
}
