//! The data races of a state: those that [`pdnet_net::Interpreter::races`] defines.
//!
//! Most states have none, and nearly all of those are found out by looking at where the threads stand: each
//! execution place has two sets of memory, what steps from there may read and what they may write.

use std::ops::ControlFlow;

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{ArcData, Firing, Net, Place, Race, Transition, Var};

use crate::code::Operand;
use crate::layout::{Cells, Home, word_place};
use crate::transition::{Binding, Key, Rule};
use crate::{Compiled, Successors};

/// What the steps of a net do to memory.
#[derive(Clone, Debug)]
pub struct Races {
    /// What steps from an execution place may touch.
    from: IndexVec<Place, Touched>,
    steps: IndexVec<Transition, Accesses>,
    /// What the threads of the state at hand would touch.
    found: Vec<Found>,
    /// The bindings of those steps, one after the other.
    bindings: Vec<i64>,
}

/// Sets of memory places. Several places may share a bit: what the sets say is confirmed before it counts.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    reads: u64,
    writes: u64,
    /// What is touched other than by atomic operations.
    plain: u64,
}

/// What a transition does to memory.
#[derive(Clone, Debug, Default)]
struct Accesses {
    touched: Touched,
    is_atomic: bool,
    arcs: Vec<MemoryArc>,
}

#[derive(Clone, Copy, Debug)]
struct MemoryArc {
    place: Place,
    cells: Cells,
    key: Key,
    when: Option<Operand>,
    writes: bool,
}

/// An access that a thread could make next.
#[derive(Clone, Copy, Debug)]
struct Found {
    place: Place,
    /// Thread, depth and index, as far as the place has them.
    key: (i64, i64, i64),
    /// The bytes of the cell, both ends included.
    bytes: (i64, i64),
    writes: bool,
    is_atomic: bool,
    thread: i64,
    transition: Transition,
    /// Where its binding begins.
    binding: usize,
}

impl Found {
    fn same_cell(&self, other: &Self) -> bool {
        self.place == other.place && self.key == other.key
    }

    fn races_with(&self, other: &Self) -> bool {
        self.thread != other.thread
            && (self.writes || other.writes)
            && !(self.is_atomic && other.is_atomic)
            && self.same_cell(other)
            && self.bytes.0 <= other.bytes.1
            && other.bytes.0 <= self.bytes.1
    }

    /// Whether whatever races with `other` races with this.
    fn covers(&self, other: &Self) -> bool {
        self.thread == other.thread
            && (self.writes || !other.writes)
            && (!self.is_atomic || other.is_atomic)
            && self.same_cell(other)
            && self.bytes.0 <= other.bytes.0
            && other.bytes.1 <= self.bytes.1
    }
}

impl Races {
    /// Finds out what each transition of the net does to memory.
    #[must_use]
    pub fn new(net: &Net, compiled: &Compiled) -> Self {
        let mut steps: IndexVec<Transition, Accesses> = IndexVec::new();
        for (transition, data) in net.transitions.iter_enumerated() {
            let mut arcs = memory_arcs(net, &data.arcs, &compiled.transitions[transition]);
            if !data.action.is_access() {
                arcs.clear();
            }
            steps.push(Accesses { is_atomic: data.atomic, arcs, touched: Touched::default() });
        }
        let is_contested = contested(net, &steps);
        let mut numbers = IndexVec::filled(0_u32, net.places.len());
        let contested = net.places.indices().filter(|place| is_contested[*place]);
        for (number, place) in contested.enumerate() {
            numbers[place] = u32::try_from(number % 64).unwrap_or(0);
        }
        let mut from = IndexVec::filled(Touched::default(), net.places.len());
        for (place, transitions) in compiled.from.iter_enumerated() {
            for &transition in transitions {
                let step = &mut steps[transition];
                step.arcs.retain(|arc| is_contested[arc.place]);
                for arc in &step.arcs {
                    let bit = 1 << numbers[arc.place];
                    let set = if arc.writes { &mut step.touched.writes } else { &mut step.touched.reads };
                    *set |= bit;
                    step.touched.plain |= if step.is_atomic { 0 } else { bit };
                }
                from[place].add(step.touched);
            }
        }
        Self { from, steps, found: Vec::new(), bindings: Vec::new() }
    }

    /// The transitions that may be one of two that race.
    pub fn accesses(&self) -> impl Iterator<Item = Transition> {
        self.steps
            .iter_enumerated()
            .filter(|(_, step)| !step.arcs.is_empty())
            .map(|(transition, _)| transition)
    }
}

impl Touched {
    const fn add(&mut self, other: Self) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        self.plain |= other.plain;
    }
}

/// The arcs of a transition to memory. Its rule has the writes in the same order, and reads by their variables.
fn memory_arcs(net: &Net, arcs: &[ArcData], rule: &Rule) -> Vec<MemoryArc> {
    let read_into = |wanted: Var| {
        rule.bindings.iter().find_map(|binding| match binding {
            Binding::Read { var, cells, key, when } if usize::from(*var) == wanted.index() => {
                Some((*cells, *key, *when))
            }
            _ => None,
        })
    };
    let mut writes = rule.writes.iter().map(|write| (write.cells, write.key, write.when));
    let mut found = Vec::new();
    for arc in arcs {
        let (place, compiled, writes) = match arc {
            ArcData::Read { place, var, .. } => (*place, read_into(*var), false),
            ArcData::Write { place, .. } => (*place, writes.next(), true),
            _ => continue,
        };
        if let (Some((cells, key, when)), true) = (compiled, net.places[place].memory) {
            found.push(MemoryArc { place, cells, key, when, writes });
        }
    }
    found
}

/// The memory that two threads can touch, one of them writing.
fn contested(net: &Net, steps: &IndexVec<Transition, Accesses>) -> IndexVec<Place, bool> {
    let mut written = IndexVec::filled(false, net.places.len());
    let mut reachable = IndexVec::filled(false, net.places.len());
    for arc in steps.iter().flat_map(|step| &step.arcs) {
        written[arc.place] |= arc.writes;
        // The cells of a thread are its own, unless some step names them by another key.
        let is_foreign = matches!(arc.key, Key::Any { .. });
        reachable[arc.place] |= arc.cells.home == Home::Global || is_foreign;
    }
    written.iter().zip(reachable.iter()).map(|(written, reachable)| *written && *reachable).collect()
}

impl Successors<'_> {
    /// A data race of the current state, if there is one; always the same one.
    pub fn race(&mut self, races: &mut Races) -> Option<Race> {
        let compiled = self.compiled;
        if compiled.has_ended(&self.current) {
            return None;
        }
        let contested = self.contested_memory(races);
        if contested == 0 {
            return None;
        }
        let Races { steps, found, bindings, .. } = races;
        found.clear();
        bindings.clear();
        let mut race = None;
        let is_wanted = |transition: Transition| {
            let touched = steps[transition].touched;
            (touched.reads | touched.writes) & contested != 0
        };
        let _ = self.bind_all(self.current.live, is_wanted, &mut |this, transition, rule| {
            let step = &steps[transition];
            let binding = bindings.len();
            let n_found = found.len();
            for arc in &step.arcs {
                let Some(key) = this.memory_key(arc) else { continue };
                let (place, writes, is_atomic) = (arc.place, arc.writes, step.is_atomic);
                let thread = this.registers[0];
                let mut parts = rule.parts.iter().filter(|(part, ..)| *part == place).peekable();
                let is_whole = parts.peek().is_none();
                let parts = parts.map(|&(_, first, count)| Some((first, count)));
                for part in parts.chain(is_whole.then_some(None)) {
                    let bytes = match part {
                        None => (0, i64::MAX),
                        Some((first, count)) => {
                            let first = this.value(first);
                            (first, first.saturating_add(i64::from(count) - 1))
                        }
                    };
                    let access = Found { place, key, bytes, writes, is_atomic, thread, transition, binding };
                    if let Some(other) = found.iter().find(|other| other.races_with(&access)) {
                        race = Some(this.describe(other, &access, bindings, rule));
                        return ControlFlow::Break(());
                    }
                    if !found.iter().any(|other| other.covers(&access)) {
                        found.push(access);
                    }
                }
            }
            if found.len() > n_found {
                bindings.extend_from_slice(&this.registers[..rule.n_vars]);
            }
            ControlFlow::Continue(())
        });
        race
    }

    /// What two threads may touch, one of them writing, not both atomically, by where they stand.
    fn contested_memory(&self, races: &Races) -> u64 {
        let layout = &self.compiled.layout;
        let mut all = Touched::default();
        let mut contested = 0;
        for thread in self.current.live.iter() {
            let words = &self.current.threads[thread];
            let mut own = Touched::default();
            let mut base = layout.thread_template.len();
            for _ in 0..words[0] {
                let place = word_place(words[base]);
                own.add(races.from[place]);
                base += layout.frame_words[place] as usize;
            }
            contested |= own.writes & (all.reads | all.writes) | own.reads & all.writes;
            all.add(own);
        }
        contested & all.plain
    }

    /// Which cell an arc of the bound transition touches: nothing where its condition is false, or where there
    /// is no such cell.
    fn memory_key(&mut self, arc: &MemoryArc) -> Option<(i64, i64, i64)> {
        if !self.holds(arc.when) {
            return None;
        }
        let (thread, depth, index) = match arc.key {
            Key::Own { index } => (self.registers[0], self.registers[1], self.optional(index)),
            Key::Any { thread, depth, index } => {
                (self.value(thread), self.optional(depth).unwrap_or(0), self.optional(index))
            }
        };
        let layout = &self.compiled.layout;
        let is_below = |value: i64, end: u32| (0..i64::from(end)).contains(&value);
        let (thread, depth) = match arc.cells.home {
            Home::Global => (0, 0),
            Home::Thread => (thread, 0),
            Home::Frame(_) => (thread, depth),
        };
        let index = index.unwrap_or(0);
        let inside = is_below(thread, layout.max_threads.max(1))
            && is_below(depth, layout.max_depth.max(1))
            && arc.cells.length.is_none_or(|length| is_below(index, length));
        inside.then_some((thread, depth, index))
    }

    /// The race between an access that was found before and one of the bound transition.
    fn describe(&self, other: &Found, access: &Found, bindings: &[i64], rule: &Rule) -> Race {
        let n_vars = self.compiled.transitions[other.transition].n_vars;
        let binding = bindings[other.binding..other.binding + n_vars].to_vec();
        let first = Firing { transition: other.transition, binding };
        let binding = self.registers[..rule.n_vars].to_vec();
        let second = Firing { transition: access.transition, binding };
        let (thread, depth, index) = access.key;
        let cells = match self.compiled.layout.slots[access.place] {
            crate::layout::Slot::Cells(cells) => Some(cells),
            _ => None,
        };
        let mut key = match cells.map(|cells| cells.home) {
            Some(Home::Thread) => vec![thread],
            Some(Home::Frame(_)) => vec![thread, depth],
            Some(Home::Global) | None => vec![],
        };
        if cells.is_some_and(|cells| cells.length.is_some()) {
            key.push(index);
        }
        Race { place: access.place, key, first, second }
    }
}
