//! The loops of functions, and which of them end.

use pdnet_base::{FxHashMap, IndexVec};

use crate::flow::Flow;
use crate::net::Place;
use crate::{Net, ends};

/// The loops of a net.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Each with its header; loops inside of others are entries of their own.
    pub list: Vec<LoopData>,
    /// The loop of which a place is the header.
    pub of_header: IndexVec<Place, Option<usize>>,
}

/// A loop: what can be reached from its header and leads back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopData {
    /// Where each round begins.
    pub header: Place,
    /// All its places, the header among them, in order.
    pub body: Vec<Place>,
    /// Whether every way into it leads through the header. Only `goto` makes others.
    pub is_natural: bool,
    /// Where a frame can be after a step out of the loop, in order.
    pub exits: Vec<Place>,
    /// Set where a frame leaves it after finitely many of its own steps, whatever else happens, provided that it
    /// is never blocked: with the number of rounds that it takes at most, where that is known.
    pub ends: Option<Ending>,
}

/// What is known of a loop that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How often at most a frame that came to the header from outside comes back to it.
    pub max_rounds: Option<u64>,
}

/// How far a walk has come with a place. No two functions share one.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

impl Loops {
    /// Finds the loops of all functions, and asks of each whether it ends.
    #[must_use]
    pub fn new(net: &Net, flow: &Flow) -> Self {
        let mut loops = Self { list: Vec::new(), of_header: IndexVec::filled(None, net.places.len()) };
        let mut marks = IndexVec::filled(Mark::New, net.places.len());
        for function in net.functions.iter() {
            loops.find(flow, function.entry, &mut marks);
        }
        ends::prove(net, flow, &mut loops);
        loops
    }

    /// Whether a step leads back to the header of a loop that ends.
    #[must_use]
    pub fn is_ending_back_edge(&self, from: Place, to: Place) -> bool {
        self.ending(to).is_some_and(|index| self.list[index].body.binary_search(&from).is_ok())
    }

    /// The loop that ends and has this header.
    #[must_use]
    pub fn ending(&self, header: Place) -> Option<usize> {
        self.of_header[header].filter(|&index| self.list[index].ends.is_some())
    }

    /// A walk through the function in depth: a step to a place that is still open closes a loop.
    fn find(&mut self, flow: &Flow, entry: Place, marks: &mut IndexVec<Place, Mark>) {
        let mut back_edges: Vec<(Place, Place)> = Vec::new();
        let mut stack = vec![(entry, 0)];
        marks[entry] = Mark::Open;
        while let Some((place, next)) = stack.last_mut() {
            let place = *place;
            let Some(step) = flow.steps[place].get(*next) else {
                marks[place] = Mark::Done;
                stack.pop();
                continue;
            };
            *next += 1;
            let Some(target) = step.target else { continue };
            match marks[target] {
                Mark::New => {
                    marks[target] = Mark::Open;
                    stack.push((target, 0));
                }
                Mark::Open => back_edges.push((target, place)),
                Mark::Done => {}
            }
        }
        back_edges.sort_unstable();
        back_edges.dedup();
        for edges in back_edges.chunk_by(|left, right| left.0 == right.0) {
            let header = edges[0].0;
            let tails: Vec<Place> = edges.iter().map(|&(_, tail)| tail).collect();
            self.of_header[header] = Some(self.list.len());
            self.list.push(body_of(flow, entry, header, &tails));
        }
    }
}

/// The loop that these steps back to the header close.
fn body_of(flow: &Flow, entry: Place, header: Place, tails: &[Place]) -> LoopData {
    let mut inside: FxHashMap<Place, ()> = FxHashMap::from_iter([(header, ())]);
    let mut body = vec![header];
    let mut open: Vec<Place> = tails.to_vec();
    while let Some(place) = open.pop() {
        if inside.insert(place, ()).is_none() {
            body.push(place);
            open.extend(&flow.predecessors[place]);
        }
    }
    body.sort_unstable();
    let is_inside = |place: &Place| body.binary_search(place).is_ok();
    let steps = body.iter().flat_map(|&place| &flow.steps[place]);
    let mut exits: Vec<Place> = steps.filter_map(|step| step.target).filter(|to| !is_inside(to)).collect();
    exits.sort_unstable();
    exits.dedup();
    let is_natural = header == entry || !is_inside(&entry);
    LoopData { header, is_natural, exits, ends: None, body }
}
