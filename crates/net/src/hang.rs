//! Where a frame may stay forever, or its run may end.

use pdnet_base::IndexVec;

use crate::flow::Flow;
use crate::loops::Loops;
use crate::net::{ArcData, Function, Place, Transition};
use crate::{Action, Net};

/// What can keep a frame from going on.
#[derive(Clone, Debug)]
pub struct Hangs {
    /// Places that a frame may not leave for another one of its function: no step may be enabled there, or a step
    /// may end the frame, the thread, the process or the run.
    pub places: IndexVec<Place, bool>,
    /// Functions whose activations all come to their exit after finitely many own steps, unblocked.
    pub returns: IndexVec<Function, bool>,
}

impl Hangs {
    /// Looks at all places; what a call does is found from the callees.
    #[must_use]
    pub fn new(net: &Net, flow: &Flow, loops: &Loops) -> Self {
        let mut own: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
        let mut callees: IndexVec<Place, Vec<Function>> = IndexVec::filled(Vec::new(), net.places.len());
        for (place, steps) in flow.steps.iter_enumerated() {
            let is_return = |transition| net.transitions[transition].action == Action::Return;
            let ends = steps.iter().any(|step| step.target.is_none());
            if !steps.is_empty() && !ends && steps.iter().all(|step| is_return(step.transition)) {
                let called = steps.iter().filter_map(|step| net.returns_from(step.transition));
                callees[place] = called.collect();
                // A return that takes no token of a callee is not understood.
                own[place] = callees[place].len() != steps.len();
            } else {
                own[place] = ends || !flow.is_total(net, place);
            }
        }
        let bodies: IndexVec<Function, Vec<Place>> =
            net.functions.iter().map(|data| with_start(flow, data.entry)).collect();
        let ends_its_loops: IndexVec<Function, bool> =
            bodies.iter().map(|body| is_acyclic(flow, loops, body)).collect();
        let mut hangs = Self { places: own, returns: IndexVec::filled(false, net.functions.len()) };
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for (function, body) in bodies.iter_enumerated() {
                let exit = net.functions[function].exit;
                let goes_on = |place: Place| {
                    place == exit
                        || (!hangs.places[place]
                            && callees[place].iter().all(|&callee| hangs.returns[callee]))
                };
                if !hangs.returns[function]
                    && ends_its_loops[function]
                    && (exit == net.functions[function].entry || !flow.predecessors[exit].is_empty())
                    && body.iter().all(|&place| goes_on(place))
                {
                    hangs.returns[function] = true;
                    is_changed = true;
                }
            }
        }
        for (place, called) in callees.iter_enumerated() {
            hangs.places[place] |= called.iter().any(|&callee| !hangs.returns[callee]);
        }
        hangs
    }
}

impl Net {
    /// The function from whose exit a return takes the token.
    #[must_use]
    pub fn returns_from(&self, transition: Transition) -> Option<Function> {
        let data = &self.transitions[transition];
        let source = data.source();
        data.arcs.iter().find_map(|arc| match arc {
            ArcData::Take { place, .. } if Some(*place) != source && self.is_frame_place(*place) => {
                self.places[*place].function
            }
            _ => None,
        })
    }
}

fn with_start(flow: &Flow, start: Place) -> Vec<Place> {
    let mut places = flow.reachable_from(start);
    if !places.contains(&start) {
        places.push(start);
    }
    places
}

/// Whether all loops among these places are loops that end.
fn is_acyclic(flow: &Flow, loops: &Loops, places: &[Place]) -> bool {
    let mut n_open: pdnet_base::FxHashMap<Place, usize> = places.iter().map(|&place| (place, 0)).collect();
    let edges = |place: Place| {
        let targets = flow.steps[place].iter().filter_map(|step| step.target);
        targets.filter(move |&target| !loops.is_ending_back_edge(place, target))
    };
    for &place in places {
        for target in edges(place) {
            *n_open.entry(target).or_insert(0) += 1;
        }
    }
    let mut ready: Vec<Place> = places.iter().copied().filter(|place| n_open[place] == 0).collect();
    let mut n_done = 0;
    while let Some(place) = ready.pop() {
        n_done += 1;
        for target in edges(place) {
            let open = n_open.entry(target).or_insert(1);
            *open -= 1;
            if *open == 0 {
                ready.push(target);
            }
        }
    }
    n_done == places.len()
}
