//! Formulas in negation normal form, each stored once.
//!
//! Equal formulas have equal numbers, so comparing them is free, and what `<->` and `xor` double is
//! shared instead of copied. All nodes are made by the constructors of `rewrite.rs`, which simplify.

use pdnet_base::{FxHashMap, Idx as _, IndexVec, index_type};

use crate::{Atom, Ltl};

index_type! {
    /// A formula of the store.
    pub struct Node = "n";
}

/// What a node is. Lists of operands are sorted, have no duplicates and at least two members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NodeData {
    True,
    False,
    /// An atom, or its negation where the flag is false.
    Literal(Atom, bool),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    Next(Node),
    Finally(Node),
    Globally(Node),
    Until(Node, Node),
    WeakUntil(Node, Node),
    Release(Node, Node),
    StrongRelease(Node, Node),
}

/// Closure properties of a node that the syntax shows (Etessami, Holzmann: Optimizing Büchi Automata,
/// CONCUR 2000). A formula with both does not depend on where in a word it is evaluated.
#[derive(Clone, Copy, Debug)]
struct Closure {
    /// If it holds somewhere it holds everywhere before: `F f = f`.
    eventual: bool,
    /// If it holds somewhere it holds everywhere after: `G f = f`.
    universal: bool,
}

/// The table of formulas.
pub(crate) struct Store {
    nodes: IndexVec<Node, NodeData>,
    closures: IndexVec<Node, Closure>,
    index: FxHashMap<NodeData, Node>,
    negations: FxHashMap<Node, Node>,
    pub(crate) implications: FxHashMap<(Node, Node), bool>,
}

impl Store {
    pub(crate) fn new() -> Self {
        let mut store = Self {
            nodes: IndexVec::new(),
            closures: IndexVec::new(),
            index: FxHashMap::default(),
            negations: FxHashMap::default(),
            implications: FxHashMap::default(),
        };
        let (yes, no) = (store.intern(NodeData::True), store.intern(NodeData::False));
        store.know_negation(yes, no);
        store
    }

    pub(crate) fn yes(&self) -> Node {
        Node::new(0)
    }

    pub(crate) fn no(&self) -> Node {
        Node::new(1)
    }

    pub(crate) fn data(&self, node: Node) -> &NodeData {
        &self.nodes[node]
    }

    pub(crate) fn is_eventual(&self, node: Node) -> bool {
        self.closures[node].eventual
    }

    pub(crate) fn is_universal(&self, node: Node) -> bool {
        self.closures[node].universal
    }

    /// Whether the truth of the formula is the same at all positions of a word.
    pub(crate) fn is_suspendable(&self, node: Node) -> bool {
        self.is_eventual(node) && self.is_universal(node)
    }

    /// The direct subformulas.
    pub(crate) fn children(&self, node: Node) -> Vec<Node> {
        match self.data(node) {
            NodeData::True | NodeData::False | NodeData::Literal(..) => Vec::new(),
            NodeData::And(list) | NodeData::Or(list) => list.to_vec(),
            NodeData::Next(f) | NodeData::Finally(f) | NodeData::Globally(f) => vec![*f],
            NodeData::Until(f, g)
            | NodeData::WeakUntil(f, g)
            | NodeData::Release(f, g)
            | NodeData::StrongRelease(f, g) => vec![*f, *g],
        }
    }

    /// The number of exactly this formula, without simplification.
    pub(crate) fn intern(&mut self, data: NodeData) -> Node {
        if let Some(&node) = self.index.get(&data) {
            return node;
        }
        let node = self.nodes.push(data.clone());
        let children = self.children(node);
        let all = |test: fn(&Closure) -> bool| children.iter().all(|&child| test(&self.closures[child]));
        let constant = matches!(data, NodeData::True | NodeData::False);
        let leaf = matches!(data, NodeData::Literal(..));
        let eventual = constant || matches!(data, NodeData::Finally(_)) || (!leaf && all(|c| c.eventual));
        let universal = constant || matches!(data, NodeData::Globally(_)) || (!leaf && all(|c| c.universal));
        self.closures.push(Closure { eventual, universal });
        self.index.insert(data, node);
        node
    }

    pub(crate) fn literal(&mut self, atom: Atom, positive: bool) -> Node {
        let (node, other) =
            (self.intern(NodeData::Literal(atom, positive)), self.intern(NodeData::Literal(atom, !positive)));
        self.know_negation(node, other);
        node
    }

    fn know_negation(&mut self, node: Node, negation: Node) {
        self.negations.insert(node, negation);
        self.negations.entry(negation).or_insert(node);
    }

    /// The negation, where it has been made already.
    pub(crate) fn known_negation(&self, node: Node) -> Option<Node> {
        self.negations.get(&node).copied()
    }

    /// The negation, where it can be found without making new nodes. Rules that look for contradictions use
    /// this, because a rule that makes nodes to decide whether it applies might never end.
    pub(crate) fn find_negation(&mut self, node: Node) -> Option<Node> {
        self.find_dual(node, 6)
    }

    /// Looks for the dual formula over the negations of the operands, this many levels down.
    fn find_dual(&mut self, node: Node, levels: u32) -> Option<Node> {
        if let Some(negation) = self.known_negation(node) {
            return Some(negation);
        }
        let levels = levels.checked_sub(1)?;
        let children: Option<Vec<Node>> =
            self.children(node).into_iter().map(|child| self.find_dual(child, levels)).collect();
        let mut children = children?;
        let dual = match (self.data(node), children.as_slice()) {
            (NodeData::Next(_), [f]) => NodeData::Next(*f),
            (NodeData::Finally(_), [f]) => NodeData::Globally(*f),
            (NodeData::Globally(_), [f]) => NodeData::Finally(*f),
            (NodeData::Until(..), [f, g]) => NodeData::Release(*f, *g),
            (NodeData::Release(..), [f, g]) => NodeData::Until(*f, *g),
            (NodeData::WeakUntil(..), [f, g]) => NodeData::StrongRelease(*f, *g),
            (NodeData::StrongRelease(..), [f, g]) => NodeData::WeakUntil(*f, *g),
            (NodeData::And(_), _) => {
                children.sort_unstable();
                NodeData::Or(children.into())
            }
            (NodeData::Or(_), _) => {
                children.sort_unstable();
                NodeData::And(children.into())
            }
            _ => return None,
        };
        let negation = self.index.get(&dual).copied()?;
        self.know_negation(node, negation);
        Some(negation)
    }

    /// The negation, pushed down to the literals.
    pub(crate) fn negate(&mut self, node: Node) -> Node {
        if let Some(negation) = self.known_negation(node) {
            return negation;
        }
        let negation = match self.data(node).clone() {
            NodeData::True => self.no(),
            NodeData::False => self.yes(),
            NodeData::Literal(atom, positive) => self.literal(atom, !positive),
            NodeData::And(list) => {
                let list = list.iter().map(|&f| self.negate(f)).collect();
                self.or(list)
            }
            NodeData::Or(list) => {
                let list = list.iter().map(|&f| self.negate(f)).collect();
                self.and(list)
            }
            NodeData::Next(f) => {
                let f = self.negate(f);
                self.next(f)
            }
            NodeData::Finally(f) => {
                let f = self.negate(f);
                self.globally(f)
            }
            NodeData::Globally(f) => {
                let f = self.negate(f);
                self.finally(f)
            }
            NodeData::Until(f, g) => {
                let (f, g) = (self.negate(f), self.negate(g));
                self.release(f, g)
            }
            NodeData::Release(f, g) => {
                let (f, g) = (self.negate(f), self.negate(g));
                self.until(f, g)
            }
            NodeData::WeakUntil(f, g) => {
                let (f, g) = (self.negate(f), self.negate(g));
                self.strong_release(f, g)
            }
            NodeData::StrongRelease(f, g) => {
                let (f, g) = (self.negate(f), self.negate(g));
                self.weak_until(f, g)
            }
        };
        self.know_negation(node, negation);
        negation
    }

    /// The simplified normal form of a tree.
    pub(crate) fn build(&mut self, ltl: &Ltl) -> Node {
        match ltl {
            Ltl::True => self.yes(),
            Ltl::False => self.no(),
            Ltl::Atom(atom) => self.literal(*atom, true),
            Ltl::Not(f) => {
                let f = self.build(f);
                self.negate(f)
            }
            Ltl::Next(f) => {
                let f = self.build(f);
                self.next(f)
            }
            Ltl::Finally(f) => {
                let f = self.build(f);
                self.finally(f)
            }
            Ltl::Globally(f) => {
                let f = self.build(f);
                self.globally(f)
            }
            Ltl::And(f, g)
            | Ltl::Or(f, g)
            | Ltl::Implies(f, g)
            | Ltl::Iff(f, g)
            | Ltl::Xor(f, g)
            | Ltl::Until(f, g)
            | Ltl::WeakUntil(f, g)
            | Ltl::Release(f, g)
            | Ltl::StrongRelease(f, g) => {
                let (f, g) = (self.build(f), self.build(g));
                self.combine(ltl, f, g)
            }
        }
    }

    /// The binary operator at the root of `ltl`, over operands that are built already.
    fn combine(&mut self, ltl: &Ltl, f: Node, g: Node) -> Node {
        match ltl {
            Ltl::And(..) => self.and(vec![f, g]),
            Ltl::Or(..) => self.or(vec![f, g]),
            Ltl::Implies(..) => {
                let f = self.negate(f);
                self.or(vec![f, g])
            }
            Ltl::Iff(..) => self.same(f, g),
            Ltl::Xor(..) => {
                let g = self.negate(g);
                self.same(f, g)
            }
            Ltl::Until(..) => self.until(f, g),
            Ltl::WeakUntil(..) => self.weak_until(f, g),
            Ltl::Release(..) => self.release(f, g),
            Ltl::StrongRelease(..) => self.strong_release(f, g),
            Ltl::True
            | Ltl::False
            | Ltl::Atom(_)
            | Ltl::Not(_)
            | Ltl::Next(_)
            | Ltl::Finally(_)
            | Ltl::Globally(_) => f,
        }
    }

    /// `f <-> g`
    fn same(&mut self, f: Node, g: Node) -> Node {
        let (not_f, not_g) = (self.negate(f), self.negate(g));
        let (both, neither) = (self.and(vec![f, g]), self.and(vec![not_f, not_g]));
        self.or(vec![both, neither])
    }
}
