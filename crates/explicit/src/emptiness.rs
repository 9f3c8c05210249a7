//! Accepting components of the product.

use pdnet_base::Idx as _;
use pdnet_check::{Depth, Fairness, StopReason};
use pdnet_logic::{AutState, Automaton, StateData};
use pdnet_space::ThreadSet;

use crate::budget::Budget;
use crate::model::Movers;
use crate::nodes::{MET, Visits};
use crate::product::{Edge, Expansion, Product, Search};
use crate::scc::components;
use crate::streett;

/// What a search for an accepting run finds.
pub(crate) enum Witness {
    /// Nodes that are strongly connected and among which an accepting fair run can stay forever.
    Component(Vec<u32>),
    /// A node at which the automaton can go on to accept everything.
    Prefix(u32),
}

/// What the edges and states of a component have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// That of no node.
    pub(crate) const EMPTY: Self =
        Self { acceptance: 0, moved: ThreadSet::NONE, sometimes: ThreadSet::NONE, always: ThreadSet::ALL };

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

    /// Whether nothing would change if the other one were merged into it.
    #[inline]
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.acceptance | other.acceptance == self.acceptance
            && self.sometimes | other.sometimes == self.sometimes
            && self.always & other.always == self.always
            && self.moved | other.moved == self.moved
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

/// The states of an automaton on which no accepting cycle lies: no component of a product with one of them accepts.
///
/// Renault, Duret-Lutz, Kordon and Poitrenaud, *Strength-based decomposition of the property Büchi automaton for faster model
/// checking* (TACAS 2013) take the automaton apart by this; here it only tells which nodes need no bookkeeping.
pub(crate) fn transient_states(automaton: &Automaton) -> Vec<bool> {
    let targets = |data: &StateData| data.edges.iter().map(|edge| edge.target.index()).collect();
    let successors: Vec<Vec<usize>> = automaton.states.iter().map(targets).collect();
    let mut is_transient = vec![false; successors.len()];
    for component in components(&successors) {
        let edges = component.iter().flat_map(|&state| &automaton.states[AutState::new(state)].edges);
        let mut inner = edges.filter(|edge| component.contains(&edge.target.index())).peekable();
        let has_cycle = inner.peek().is_some();
        let acceptance = inner.fold(0, |all, edge| all | edge.acceptance);
        let accepts = has_cycle && acceptance == automaton.all_acceptance();
        component.iter().for_each(|&state| is_transient[state] = !accepts);
    }
    is_transient
}

/// The first position in the order of visits. Smaller values are of nodes that were not visited.
const FIRST: u32 = MET + 1;

/// The value of a node whose component was left.
pub(crate) const DEAD: u32 = u32::MAX;

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

/// Whether a search has visited the node.
pub(crate) fn is_visited<N: Visits>(product: &Product<'_, '_, N>, node: u32) -> bool {
    is_visit(product.nodes.value(node))
}

/// Whether this is the value of a node that a search has visited.
#[inline]
pub(crate) const fn is_visit(value: u32) -> bool {
    value >= FIRST
}

/// The state of the search.
pub(crate) struct Emptiness {
    fairness: Fairness,
    /// The position of the next visit. The value of a node is its position in the order of visits, or [`DEAD`] where its
    /// component was left.
    next_order: u32,
    /// The visited nodes that are not dead, in the order of their visits.
    live: Vec<u32>,
    roots: Vec<Root>,
    /// The nodes on the path with the range of their edges that was not followed yet.
    path: Vec<(u32, usize, usize)>,
    edges: Vec<Edge>,
    /// The automaton states that are on no accepting cycle.
    transient: Vec<bool>,
}

impl Emptiness {
    pub(crate) fn new(automaton: &Automaton, fairness: Fairness) -> Self {
        Self {
            fairness,
            transient: transient_states(automaton),
            next_order: FIRST,
            live: Vec::new(),
            roots: Vec::new(),
            path: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// Searches depth-first for a component with an accepting run, or goes on with that, until the product has as many nodes as
    /// it is to pause at.
    ///
    /// Couvreur, *On-the-fly verification of linear temporal logic* (FM 1999): a search for
    /// strongly connected components that merges the acceptance sets of a component while it grows, and stops
    /// as soon as they are complete. Fairness joins in as in [`Summary::starved`]; under strong fairness a
    /// component that is not fair as a whole may still have a fair part, which is looked for when the
    /// component is complete. Nodes with an automaton state that is on no accepting cycle are only gone through: what
    /// components they make does not matter.
    pub(crate) fn search<N: Visits>(
        &mut self,
        product: &mut Product<'_, '_, N>,
        pause_at: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Search<Witness>, StopReason> {
        if self.next_order == FIRST
            && let Some(witness) = self.begin(product, product.initial, budget)?
        {
            return Ok(Search::Ended(Some(witness)));
        }
        self.go_on(product, pause_at, budget)
    }

    /// Searches in the same way what can be reached from a node and was not visited. Where the node was, there is nothing to do.
    pub(crate) fn search_from<N: Visits>(
        &mut self,
        product: &mut Product<'_, '_, N>,
        node: u32,
        budget: &mut Budget<'_>,
    ) -> Result<Search<Witness>, StopReason> {
        if is_visited(product, node) {
            return Ok(Search::Ended(None));
        }
        match self.begin(product, node, budget)? {
            Some(witness) => Ok(Search::Ended(Some(witness))),
            None => self.go_on(product, usize::MAX, budget),
        }
    }

    /// Begins at a node that was not visited.
    fn begin<N: Visits>(
        &mut self,
        product: &mut Product<'_, '_, N>,
        target: u32,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Witness>, StopReason> {
        self.visit(product, Edge { target, acceptance: 0, movers: Movers::NOBODY }, budget)
    }

    /// Follows the edges on the path until there are none.
    fn go_on<N: Visits>(
        &mut self,
        product: &mut Product<'_, '_, N>,
        pause_at: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Search<Witness>, StopReason> {
        while let Some((node, next, end)) = self.path.last_mut() {
            let node = *node;
            if next == end {
                self.path.pop();
                self.edges.truncate(self.path.last().map_or(0, |&(_, _, end)| end));
                if let Some(witness) = self.leave(product, node, budget)? {
                    return Ok(Search::Ended(Some(witness)));
                }
                continue;
            }
            if product.nodes.is_time_to_pause(pause_at) {
                return Ok(Search::Paused);
            }
            let edge = self.edges[*next];
            *next += 1;
            match product.nodes.value(edge.target) {
                DEAD => {}
                ..FIRST => {
                    if N::DEFERS && self.is_transient(product, edge.target) {
                        product.nodes.defer(edge.target);
                    } else if let Some(witness) = self.visit(product, edge, budget)? {
                        return Ok(Search::Ended(Some(witness)));
                    }
                }
                order => {
                    if let Some(witness) = self.close(product, edge, order) {
                        return Ok(Search::Ended(Some(witness)));
                    }
                }
            }
        }
        Ok(Search::Ended(None))
    }

    /// Whether the automaton state of a node is on no accepting cycle.
    fn is_transient<N: Visits>(&self, product: &Product<'_, '_, N>, node: u32) -> bool {
        self.transient[product.nodes.get(node).1.index()]
    }

    /// How many nodes it has gone to.
    pub(crate) fn n_visited(&self) -> u64 {
        u64::from(self.next_order - FIRST)
    }

    fn bytes(&self) -> usize {
        self.live.capacity() * 4
            + self.roots.capacity() * size_of::<Root>()
            + self.path.capacity() * size_of::<(u32, usize, usize)>()
            + self.edges.capacity() * size_of::<Edge>()
    }

    /// Visits the target of an edge for the first time.
    fn visit<N: Visits>(
        &mut self,
        product: &mut Product<'_, '_, N>,
        entry: Edge,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Witness>, StopReason> {
        let node = entry.target;
        let first = self.edges.len();
        product.search_bytes = self.bytes();
        product.depth = Depth::Stack(self.path.len() as u64);
        let expansion = product.expand(node, &mut self.edges, budget)?;
        let order = self.next_order;
        self.next_order += 1;
        // The component of the automaton state is left by all that comes after the node, or accepts nothing.
        let is_transient = self.is_transient(product, node);
        product.nodes.set_value(node, if is_transient { DEAD } else { order });
        if expansion == Expansion::Accepted {
            return Ok(Some(Witness::Prefix(node)));
        }
        self.path.push((node, first, self.edges.len()));
        if is_transient {
            return Ok(None);
        }
        self.live.push(node);
        let summary = Summary::of_node(product.last_enabled);
        self.roots.push(Root { order, summary, entry, has_cycle: false });
        Ok(None)
    }

    /// An edge back into the live part: everything on the path from its target on is one component.
    fn close<N: Visits>(&mut self, product: &Product<'_, '_, N>, edge: Edge, order: u32) -> Option<Witness> {
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
        let from = self.live.partition_point(|&node| product.nodes.value(node) < first);
        Some(Witness::Component(self.live[from..].to_vec()))
    }

    /// All edges of a node were followed. If it is the first of its component, the component is complete.
    fn leave<N: Visits>(
        &mut self,
        product: &mut Product<'_, '_, N>,
        node: u32,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Witness>, StopReason> {
        let order = product.nodes.value(node);
        let Some(root) = self.roots.pop_if(|root| root.order == order) else { return Ok(None) };
        // What was visited after its first node and is live belongs to the component.
        let from = self.live.iter().rposition(|&member| member == node).unwrap_or(self.live.len());
        let component = self.live.split_off(from);
        // Parts of a component cover no more acceptance sets than it does itself.
        let may_accept = root.summary.acceptance == product.automaton.all_acceptance();
        if self.fairness == Fairness::Strong && root.has_cycle && may_accept {
            let found = streett::refine(product, component.clone(), &root.summary, budget)?;
            if let Some(part) = found {
                return Ok(Some(Witness::Component(part)));
            }
        }
        component.iter().for_each(|&node| product.nodes.set_value(node, DEAD));
        Ok(None)
    }
}
