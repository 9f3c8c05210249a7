//! Control places and control arcs: what makes a net a dependence net.
//!
//! Each execution place that a step leaves gets one control place, which stands for the statement there.
//! Control arcs lead from it to its transitions, and to it from the transitions whose firing is a
//! condition of the statement (Definition 8 of the slicing paper):
//!
//! * `co`, from the steps by which the statement cannot be avoided any more, where it could be avoided at the
//!   place before; and from the function's entry where there are none. We take the non-termination-sensitive form: a
//!   frame avoids whatever comes later by staying in a loop that is not known to end, by being blocked, or by
//!   the end of the run ([`crate::Hangs`]). (Ordinary control dependence loses the loop in `while (1); error();`.)
//! * `ca`, from a call or the creation of a thread to the entry, and from the exit to the return.
//! * `lo`, from a lock or the begin of an atomic section to every statement reached before it is given back, and
//!   from each lock of a mutex to another one of it, in a ring: so each depends on all, with few arcs.
//! * `po`, from a signal to the waits for it.

mod unavoidable;

use pdnet_base::{FxHashMap, Idx as _};

use self::unavoidable::{Edge, Unavoidable};
use crate::flow::{Flow, FlowStep};
use crate::hang::Hangs;
use crate::loops::Loops;
use crate::net::{ArcData, Dependence, Function, Place, PlaceKind, Transition};
use crate::{Action, Net};

/// Adds the control places and arcs to a net that has none yet.
pub fn add_control_dependence(net: &mut Net) {
    let mut builder = Builder::new(net);
    builder.add_control_places();
    builder.add_branches();
    builder.add_calls();
    builder.add_locks();
    builder.add_signals();
    builder.finish();
}

/// A place, or a loop that ends, counted after the places.
type Node = usize;

/// The flow of frames as control dependence sees it: a step back to the header of a loop that ends leads, in the
/// end, to one of the loop's exits.
struct Ways {
    /// Where the steps out of each node lead; none where a frame may not go on.
    targets: Vec<Vec<Option<Node>>>,
    /// The nodes with a step to this one, one entry for each step.
    predecessors: Vec<Vec<Node>>,
}

impl Ways {
    fn new(net: &Net, flow: &Flow) -> Self {
        let loops = Loops::new(net, flow);
        let hangs = Hangs::new(net, flow, &loops);
        let n_places = net.places.len();
        let mut targets: Vec<Vec<Option<Node>>> = Vec::new();
        for (place, steps) in flow.steps.iter_enumerated() {
            let node = |target: Place| match loops.ending(target) {
                Some(index) if loops.is_ending_back_edge(place, target) => n_places + index,
                _ => target.index(),
            };
            let mut to: Vec<Option<Node>> = steps.iter().map(|step| step.target.map(node)).collect();
            if hangs.places[place] && !to.contains(&None) {
                to.push(None);
            }
            targets.push(to);
        }
        for data in &loops.list {
            targets.push(data.exits.iter().map(|exit| Some(exit.index())).collect());
        }
        let mut predecessors = vec![Vec::new(); targets.len()];
        for (node, targets) in targets.iter().enumerate() {
            for &target in targets.iter().flatten() {
                predecessors[target].push(node);
            }
        }
        Self { targets, predecessors }
    }
}

struct Builder<'a> {
    net: &'a mut Net,
    flow: Flow,
    ways: Ways,
    control: FxHashMap<Place, Place>,
    arcs: Vec<(Transition, ArcData)>,
}

impl<'a> Builder<'a> {
    fn new(net: &'a mut Net) -> Self {
        let flow = Flow::new(net);
        let ways = Ways::new(net, &flow);
        Self { net, flow, ways, control: FxHashMap::default(), arcs: Vec::new() }
    }

    fn add_control_places(&mut self) {
        for place in self.flow.steps.indices() {
            if self.flow.steps[place].is_empty() {
                continue;
            }
            let name = self.net.places[place].name.clone();
            let control = self.net.add_token_place(&name, PlaceKind::Control, Vec::new());
            self.net.places[control].pos = self.net.places[place].pos;
            self.net.places[control].function = self.net.places[place].function;
            self.control.insert(place, control);
            for &FlowStep { transition, .. } in &self.flow.steps[place] {
                self.arcs.push((transition, ArcData::Governed { place: control }));
            }
        }
    }

    fn govern(&mut self, transition: Transition, statement: Place, dependence: Dependence) {
        if let Some(&place) = self.control.get(&statement) {
            self.arcs.push((transition, ArcData::Governs { place, dependence }));
        }
    }

    /// For each statement: the branches on the rim of the places from which it cannot be avoided.
    fn add_branches(&mut self) {
        let statements: Vec<Place> =
            self.flow.steps.indices().filter(|place| self.control.contains_key(place)).collect();
        let entries: Vec<Node> = self.net.functions.iter().map(|data| data.entry.index()).collect();
        let unavoidable = Unavoidable::new(&self.ways.targets, &self.ways.predecessors, &entries);
        for statement in statements {
            let node = statement.index();
            let rim = unavoidable.rim(node).iter().chain(unavoidable.own_rounds(node));
            let steps = rim.filter_map(|&Edge { from, step }| {
                let from = self.flow.steps.get(Place::new(from as usize))?;
                from.get(step as usize)
            });
            let mut governors: Vec<Transition> = steps.map(|step| step.transition).collect();
            governors.sort_unstable();
            governors.dedup();
            for &transition in &governors {
                self.govern(transition, statement, Dependence::Control);
            }
            let function = self.net.places[statement].function;
            let Some(entry) = function.map(|function: Function| self.net.functions[function].entry) else {
                continue;
            };
            if statement != entry && (governors.is_empty() || unavoidable.has_entry(node)) {
                let enters: Vec<Transition> =
                    self.flow.steps[entry].iter().map(|step| step.transition).collect();
                for enter in enters {
                    self.govern(enter, statement, Dependence::Control);
                }
            }
        }
    }

    fn add_calls(&mut self) {
        let mut pairs = Vec::new();
        for (transition, data) in self.net.transitions.iter_enumerated() {
            for arc in &data.arcs {
                match arc {
                    ArcData::Put { place, .. } if self.is_entry(*place) => pairs.push((transition, *place)),
                    // A return takes a second token, from the exit of the called function.
                    ArcData::Take { place, .. } if data.action == Action::Return => {
                        let Some(source) = data.source().filter(|source| source != place) else { continue };
                        for &predecessor in &self.flow.predecessors[*place] {
                            let steps = self.flow.steps[predecessor].iter();
                            let exits = steps.filter(|step| step.target == Some(*place));
                            pairs.extend(exits.map(|step| (step.transition, source)));
                        }
                    }
                    _ => {}
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        for (transition, statement) in pairs {
            self.govern(transition, statement, Dependence::Call);
        }
    }

    fn is_entry(&self, place: Place) -> bool {
        let function = self.net.places[place].function;
        function.is_some_and(|function| self.net.functions[function].entry == place)
    }

    fn add_locks(&mut self) {
        let locks =
            self.steps_on_locks(&[Action::Lock, Action::Wait3, Action::ReadLock, Action::AtomicBegin]);
        let unlocks: FxHashMap<(Transition, Place), ()> = self
            .steps_on_locks(&[Action::Unlock, Action::Wait1, Action::ReadUnlock, Action::AtomicEnd])
            .into_iter()
            .map(|step| (step, ()))
            .collect();
        let mut by_lock: FxHashMap<Place, Vec<Transition>> = FxHashMap::default();
        for &(step, lock) in &locks {
            by_lock.entry(lock).or_default().push(step);
        }
        for &(step, lock) in &locks {
            // Atomic sections do not wait for each other by any cell; and of locks, each knows the next one.
            if Some(lock) != self.net.atomic {
                let others = &by_lock[&lock];
                let at = others.iter().position(|&other| other == step).unwrap_or(0);
                let next = others[(at + 1) % others.len()];
                if let (true, Some(source)) = (next != step, self.net.transitions[next].source()) {
                    self.govern(step, source, Dependence::Lock);
                }
            }
            let mut region: Vec<Place> = self.net.frame_target(step).into_iter().collect();
            let mut seen: FxHashMap<Place, ()> = region.iter().map(|&place| (place, ())).collect();
            while let Some(place) = region.pop() {
                self.govern(step, place, Dependence::Lock);
                for step in &self.flow.steps[place] {
                    let Some(target) = step.target else { continue };
                    if !unlocks.contains_key(&(step.transition, lock)) && seen.insert(target, ()).is_none() {
                        region.push(target);
                    }
                }
            }
        }
    }

    /// The transitions with one of the actions, each with the cells that it writes: the lock.
    fn steps_on_locks(&self, actions: &[Action]) -> Vec<(Transition, Place)> {
        let mut steps = Vec::new();
        for (transition, data) in self.net.transitions.iter_enumerated() {
            if actions.contains(&data.action) {
                let written = data.arcs.iter().find_map(|arc| match arc {
                    ArcData::Write { place, .. } => Some(*place),
                    _ => None,
                });
                steps.extend(written.map(|lock| (transition, lock)));
            }
        }
        steps
    }

    fn add_signals(&mut self) {
        let mut wakes = Vec::new();
        let mut waits = Vec::new();
        for (transition, data) in self.net.transitions.iter_enumerated() {
            for arc in &data.arcs {
                match (data.action, arc) {
                    (
                        Action::Signal | Action::Broadcast,
                        ArcData::Put { place, .. } | ArcData::Drain { to: place, .. },
                    ) if !self.net.is_frame_place(*place) => {
                        wakes.push((transition, *place));
                    }
                    (Action::Wait3, ArcData::Take { place, .. }) if !self.net.is_frame_place(*place) => {
                        waits.extend(data.source().map(|source| (source, *place)));
                    }
                    _ => {}
                }
            }
        }
        for &(signal, woken) in &wakes {
            for &(wait, awaited) in &waits {
                if woken == awaited {
                    self.govern(signal, wait, Dependence::PriorOccurrence);
                }
            }
        }
    }

    fn finish(self) {
        let mut seen: FxHashMap<(Transition, Place, Option<Dependence>), ()> = FxHashMap::default();
        for (transition, arc) in self.arcs {
            let is_new = match &arc {
                ArcData::Governs { place, dependence } => {
                    seen.insert((transition, *place, Some(*dependence)), ()).is_none()
                }
                ArcData::Governed { place } => seen.insert((transition, *place, None), ()).is_none(),
                _ => true,
            };
            if is_new {
                self.net.transitions[transition].arcs.push(arc);
            }
        }
    }
}
