//! Accepting components of the product.

use pdnet_check::{Fairness, StopReason};
use pdnet_space::ThreadSet;

use crate::budget::Budget;
use crate::graph::Movers;
use crate::product::{Edge, Expansion, Product};
use crate::streett;

/// What a search for an accepting run finds.
pub(crate) enum Witness {
    /// Nodes that are strongly connected and among which an accepting fair run can stay forever.
    Component(Vec<u32>),
    /// A node at which the automaton can go on to accept everything.
    Prefix(u32),
}

/// What the edges and states of a component have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    /// The acceptance sets that its edges cover.
    pub(crate) acceptance: u32,
    /// The threads that move on its edges.
    pub(crate) moved: ThreadSet,
    /// The threads that can move in some state of it.
    pub(crate) sometimes: ThreadSet,
    /// The threads that can move in all its states.
    pub(crate) always: ThreadSet,
}

impl Summary {
    /// That of a single node without edges.
    pub(crate) const fn of_node(enabled: ThreadSet) -> Self {
        Self { acceptance: 0, moved: ThreadSet::NONE, sometimes: enabled, always: enabled }
    }

    pub(crate) fn add_edge(&mut self, edge: Edge) {
        self.acceptance |= edge.acceptance;
        self.moved |= edge.movers.set();
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.acceptance |= other.acceptance;
        self.moved |= other.moved;
        self.sometimes |= other.sometimes;
        self.always &= other.always;
    }

    /// Whether a run through all of the component is accepting and fair.
    pub(crate) fn is_accepting(&self, all_acceptance: u32, fairness: Fairness) -> bool {
        self.acceptance == all_acceptance && self.starved(fairness).is_empty()
    }

    /// The threads towards which such a run is not fair. Weak fairness is one more acceptance set for each
    /// thread: the edges on which it moves or at whose source it cannot. Strong fairness is a Streett pair.
    pub(crate) fn starved(&self, fairness: Fairness) -> ThreadSet {
        match fairness {
            Fairness::None => ThreadSet::NONE,
            Fairness::Weak => self.always & !self.moved,
            Fairness::Strong => self.sometimes & !self.moved,
        }
    }
}

const UNVISITED: u32 = 0;
const DEAD: u32 = u32::MAX;

/// A component on the path of the search.
struct Root {
    /// The number of its first node.
    order: u32,
    summary: Summary,
    /// The edge that led into it.
    entry: Edge,
    /// Some edge stays inside.
    has_cycle: bool,
}

/// The state of the search.
pub(crate) struct Emptiness {
    fairness: Fairness,
    /// For each node the position in the order of visits from 1 on, [`UNVISITED`], or [`DEAD`] where its
    /// component was left.
    order: Vec<u32>,
    n_visited: u32,
    /// The visited nodes that are not dead, in the order of their visits.
    live: Vec<u32>,
    roots: Vec<Root>,
    /// The nodes on the path with the range of their edges that was not followed yet.
    path: Vec<(u32, usize, usize)>,
    edges: Vec<Edge>,
}

impl Emptiness {
    pub(crate) const fn new(fairness: Fairness) -> Self {
        Self {
            fairness,
            order: Vec::new(),
            n_visited: 0,
            live: Vec::new(),
            roots: Vec::new(),
            path: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// Searches depth-first for a component with an accepting run.
    ///
    /// Couvreur, *On-the-fly verification of linear temporal logic* (FM 1999): a search for
    /// strongly connected components that merges the acceptance sets of a component while it grows, and stops
    /// as soon as they are complete. Fairness joins in as in [`Summary::starved`]; under strong fairness a
    /// component that is not fair as a whole may still have a fair part, which is looked for when the
    /// component is complete.
    pub(crate) fn search(
        &mut self,
        product: &mut Product<'_, '_>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Witness>, StopReason> {
        let into = Edge { target: 0, acceptance: 0, movers: Movers::NOBODY };
        if let Some(witness) = self.visit(product, into, budget)? {
            return Ok(Some(witness));
        }
        while let Some((node, next, end)) = self.path.last_mut() {
            let node = *node;
            if next == end {
                self.path.pop();
                self.edges.truncate(self.path.last().map_or(0, |&(_, _, end)| end));
                if let Some(witness) = self.leave(product, node, budget)? {
                    return Ok(Some(witness));
                }
                continue;
            }
            let edge = self.edges[*next];
            *next += 1;
            match self.order_of(edge.target) {
                DEAD => {}
                UNVISITED => {
                    if let Some(witness) = self.visit(product, edge, budget)? {
                        return Ok(Some(witness));
                    }
                }
                order => {
                    if let Some(witness) = self.close(product, edge, order) {
                        return Ok(Some(witness));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether the node was visited.
    pub(crate) fn is_visited(&self, node: u32) -> bool {
        self.order.get(node as usize).is_some_and(|&order| order != UNVISITED)
    }

    fn bytes(&self) -> usize {
        (self.order.capacity() + self.live.capacity()) * 4
            + self.roots.capacity() * size_of::<Root>()
            + self.path.capacity() * size_of::<(u32, usize, usize)>()
            + self.edges.capacity() * size_of::<Edge>()
    }

    fn order_of(&self, node: u32) -> u32 {
        self.order.get(node as usize).copied().unwrap_or(UNVISITED)
    }

    /// Visits the target of an edge for the first time.
    fn visit(
        &mut self,
        product: &mut Product<'_, '_>,
        entry: Edge,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Witness>, StopReason> {
        let node = entry.target;
        let first = self.edges.len();
        product.search_bytes = self.bytes();
        let expansion = product.expand(node, &mut self.edges, budget)?;
        self.n_visited += 1;
        self.order.resize(product.nodes.len(), UNVISITED);
        self.order[node as usize] = self.n_visited;
        if expansion == Expansion::Accepted {
            return Ok(Some(Witness::Prefix(node)));
        }
        self.live.push(node);
        self.path.push((node, first, self.edges.len()));
        let summary = Summary::of_node(product.enabled(node));
        self.roots.push(Root { order: self.n_visited, summary, entry, has_cycle: false });
        Ok(None)
    }

    /// An edge back into the live part: everything on the path from its target on is one component.
    fn close(&mut self, product: &Product<'_, '_>, edge: Edge, order: u32) -> Option<Witness> {
        let mut root = self.roots.pop()?;
        while root.order > order {
            let mut below = self.roots.pop()?;
            below.summary.merge(&root.summary);
            below.summary.add_edge(root.entry);
            root = below;
        }
        root.summary.add_edge(edge);
        root.has_cycle = true;
        let (summary, first) = (root.summary, root.order);
        self.roots.push(root);
        if !summary.is_accepting(product.automaton.all_acceptance(), self.fairness) {
            return None;
        }
        let from = self.live.partition_point(|&node| self.order[node as usize] < first);
        Some(Witness::Component(self.live[from..].to_vec()))
    }

    /// All edges of a node were followed. If it is the first of its component, the component is complete.
    fn leave(
        &mut self,
        product: &mut Product<'_, '_>,
        node: u32,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Witness>, StopReason> {
        let order = self.order[node as usize];
        let Some(root) = self.roots.pop_if(|root| root.order == order) else { return Ok(None) };
        let from = self.live.partition_point(|&node| self.order[node as usize] < order);
        let component = self.live.split_off(from);
        if self.fairness == Fairness::Strong && root.has_cycle {
            let found = streett::refine(product, component.clone(), budget)?;
            if let Some(part) = found {
                return Ok(Some(Witness::Component(part)));
            }
        }
        component.iter().for_each(|&node| self.order[node as usize] = DEAD);
        Ok(None)
    }
}
