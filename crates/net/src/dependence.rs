//! Control places and control arcs: what makes a net a dependence net.
//!
//! Each execution place that a step leaves gets one control place, which stands for the statement there.
//! Control arcs lead from it to its transitions, and to it from the transitions whose firing is a
//! condition of the statement (Definition 8 of the slicing paper):
//!
//! * `co`, from the ways of a branch on which the statement cannot be avoided, where on another way it
//!   can, and from the function's entry where no branch decides. We take the non-termination-sensitive
//!   form: a path that never ends avoids whatever is not on it. (Ordinary control dependence loses the
//!   loop in `while (1); error();`.)
//! * `ca`, from a call or the creation of a thread to the entry, and from the exit to the return.
//! * `lo`, from a lock to every statement reached before the same mutex is given back, and to the other
//!   locks of that mutex.
//! * `po`, from a signal to the waits for it.

use pdnet_base::{FxHashMap, IndexVec};

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

/// The steps out of an execution place within its function.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Each transition with the place where the same frame goes on; `None` where it ends.
    steps: Vec<(Transition, Option<Place>)>,
    /// Places of the same function from which a step leads here.
    predecessors: Vec<Place>,
}

struct Builder<'a> {
    net: &'a mut Net,
    nodes: IndexVec<Place, Node>,
    control: FxHashMap<Place, Place>,
    arcs: Vec<(Transition, ArcData)>,
}

impl<'a> Builder<'a> {
    fn new(net: &'a mut Net) -> Self {
        let mut nodes: IndexVec<Place, Node> = IndexVec::filled(Node::default(), net.places.len());
        for (transition, data) in net.transitions.iter_enumerated() {
            let Some(source) = data.source() else { continue };
            let target = frame_target(net, transition);
            nodes[source].steps.push((transition, target));
            if let Some(target) = target {
                nodes[target].predecessors.push(source);
            }
        }
        Self { net, nodes, control: FxHashMap::default(), arcs: Vec::new() }
    }

    fn add_control_places(&mut self) {
        for place in self.nodes.indices() {
            if self.nodes[place].steps.is_empty() {
                continue;
            }
            let name = self.net.places[place].name.clone();
            let control = self.net.add_token_place(&name, PlaceKind::Control, Vec::new());
            self.net.places[control].pos = self.net.places[place].pos;
            self.net.places[control].function = self.net.places[place].function;
            self.control.insert(place, control);
            for &(transition, _) in &self.nodes[place].steps {
                self.arcs.push((transition, ArcData::Governed { place: control }));
            }
        }
    }

    fn govern(&mut self, transition: Transition, statement: Place, dependence: Dependence) {
        if let Some(&place) = self.control.get(&statement) {
            self.arcs.push((transition, ArcData::Governs { place, dependence }));
        }
    }

    /// For each statement: the places from which it cannot be avoided, and the branches on their rim.
    fn add_branches(&mut self) {
        let statements: Vec<Place> =
            self.nodes.indices().filter(|place| self.control.contains_key(place)).collect();
        for statement in statements {
            let unavoidable = self.unavoidable_from(statement);
            let mut governors = Vec::new();
            for &place in &unavoidable.rim {
                let steps = &self.nodes[place].steps;
                let towards = steps.iter().filter(|(_, target)| target.is_some_and(|to| unavoidable.has(to)));
                governors.extend(towards.map(|&(transition, _)| transition));
            }
            governors.sort_unstable();
            governors.dedup();
            for &transition in &governors {
                self.govern(transition, statement, Dependence::Control);
            }
            let function = self.net.places[statement].function;
            let Some(entry) = function.map(|function: Function| self.net.functions[function].entry) else {
                continue;
            };
            if statement != entry && (governors.is_empty() || unavoidable.has(entry)) {
                let enters: Vec<Transition> =
                    self.nodes[entry].steps.iter().map(|&(enter, _)| enter).collect();
                for enter in enters {
                    self.govern(enter, statement, Dependence::Control);
                }
            }
        }
    }

    /// The least set that contains the statement and every place all of whose steps lead into the set.
    fn unavoidable_from(&self, statement: Place) -> Unavoidable {
        let mut open_steps: FxHashMap<Place, usize> = FxHashMap::default();
        let mut inside = vec![statement];
        let mut result = Unavoidable { inside: FxHashMap::default(), rim: Vec::new() };
        result.inside.insert(statement, ());
        while let Some(place) = inside.pop() {
            for &predecessor in &self.nodes[place].predecessors {
                if result.has(predecessor) {
                    continue;
                }
                // One predecessor entry stands for one step, so that each step is counted once.
                let n_steps = self.nodes[predecessor].steps.len();
                let open = open_steps.entry(predecessor).or_insert_with(|| {
                    result.rim.push(predecessor);
                    n_steps
                });
                *open -= 1;
                if *open == 0 {
                    result.inside.insert(predecessor, ());
                    inside.push(predecessor);
                }
            }
        }
        // The statement itself may branch back to itself: a loop governs its own next round.
        let own = &self.nodes[statement].steps;
        let leads_back = own.iter().filter(|(_, to)| to.is_some_and(|to| result.has(to))).count();
        let Unavoidable { inside, rim } = &mut result;
        rim.retain(|place| !inside.contains_key(place));
        if leads_back > 0 && leads_back < own.len() {
            rim.push(statement);
        }
        result
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
                        for &predecessor in &self.nodes[*place].predecessors {
                            let steps = self.nodes[predecessor].steps.iter();
                            let exits = steps.filter(|(_, target)| *target == Some(*place));
                            pairs.extend(exits.map(|&(exit, _)| (exit, source)));
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
        let locks = self.steps_on_mutexes(&[Action::Lock, Action::Wait3]);
        let unlocks = self.steps_on_mutexes(&[Action::Unlock, Action::Wait1]);
        for &(lock, mutex) in &locks {
            for &(other, other_mutex) in &locks {
                let source = self.net.transitions[other].source();
                if let (true, true, Some(source)) = (other != lock, other_mutex == mutex, source) {
                    self.govern(lock, source, Dependence::Lock);
                }
            }
            let mut region: Vec<Place> = frame_target(self.net, lock).into_iter().collect();
            let mut seen: FxHashMap<Place, ()> = region.iter().map(|&place| (place, ())).collect();
            while let Some(place) = region.pop() {
                self.govern(lock, place, Dependence::Lock);
                for &(step, target) in &self.nodes[place].steps {
                    let Some(target) = target else { continue };
                    if !unlocks.contains(&(step, mutex)) && seen.insert(target, ()).is_none() {
                        region.push(target);
                    }
                }
            }
        }
    }

    /// The transitions with one of the actions, each with the cells that it writes: the mutex.
    fn steps_on_mutexes(&self, actions: &[Action]) -> Vec<(Transition, Place)> {
        let mut steps = Vec::new();
        for (transition, data) in self.net.transitions.iter_enumerated() {
            if actions.contains(&data.action) {
                let written = data.arcs.iter().find_map(|arc| match arc {
                    ArcData::Write { place, .. } => Some(*place),
                    _ => None,
                });
                steps.extend(written.map(|mutex| (transition, mutex)));
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
        for (transition, arc) in self.arcs {
            let arcs = &mut self.net.transitions[transition].arcs;
            if !arcs.contains(&arc) {
                arcs.push(arc);
            }
        }
    }
}

/// Where a statement cannot be avoided.
struct Unavoidable {
    inside: FxHashMap<Place, ()>,
    /// Places outside of the set with a step into it.
    rim: Vec<Place>,
}

impl Unavoidable {
    fn has(&self, place: Place) -> bool {
        self.inside.contains_key(&place)
    }
}

/// Where the moving frame goes on: the frame place on which its own token is put.
fn frame_target(net: &Net, transition: Transition) -> Option<Place> {
    let frame = crate::TransitionBuilder::frame();
    net.transitions[transition].arcs.iter().find_map(|arc| match arc {
        ArcData::Put { place, token } if net.is_frame_place(*place) && *token == frame => Some(*place),
        _ => None,
    })
}
