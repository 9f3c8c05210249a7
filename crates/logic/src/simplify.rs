//! The constructors of the binary temporal operators, and `Ltl::simplify`.

use pdnet_base::FxHashMap;

use crate::Ltl;
use crate::store::{Node, NodeData, Store};

/// A simplified formula that is larger than this and larger than what the user wrote is not returned.
const MAX_GROWTH: usize = 1_000;

impl Ltl {
    /// A formula of the same meaning that is usually smaller, in negation normal form with all temporal
    /// operators: constants, repetition (`F F a`), absorption (`a && G a`), implied parts, distribution
    /// (`G a && G b`), and parts that do not depend on the position (`F(a && G F b)`).
    ///
    /// Where nested `<->` would make the result larger than the formula and than a thousand nodes, the
    /// formula is returned as it is.
    #[must_use]
    pub fn simplify(&self) -> Self {
        let mut store = Store::new();
        let node = store.build(self);
        let mut sizes = FxHashMap::default();
        let size = store.tree_size(node, &mut sizes);
        if size > MAX_GROWTH && size > self.size() {
            return self.clone();
        }
        store.to_ltl(node)
    }
}

impl Store {
    /// The size of the node as a tree, where shared parts count each time.
    fn tree_size(&self, node: Node, known: &mut FxHashMap<Node, usize>) -> usize {
        if let Some(&size) = known.get(&node) {
            return size;
        }
        let children = self.children(node);
        let operators = children.len().max(2) - 1;
        let size = children
            .into_iter()
            .fold(operators, |sum, child| sum.saturating_add(self.tree_size(child, known)));
        known.insert(node, size);
        size
    }

    /// The node as a tree.
    pub(crate) fn to_ltl(&self, node: Node) -> Ltl {
        match self.data(node) {
            NodeData::True => Ltl::True,
            NodeData::False => Ltl::False,
            NodeData::Literal(atom, true) => Ltl::Atom(*atom),
            NodeData::Literal(atom, false) => Ltl::not(Ltl::Atom(*atom)),
            NodeData::And(list) => self.to_balanced(list, Ltl::and),
            NodeData::Or(list) => self.to_balanced(list, Ltl::or),
            NodeData::Next(f) => Ltl::next(self.to_ltl(*f)),
            NodeData::Finally(f) => Ltl::finally(self.to_ltl(*f)),
            NodeData::Globally(f) => Ltl::globally(self.to_ltl(*f)),
            NodeData::Until(f, g) => Ltl::until(self.to_ltl(*f), self.to_ltl(*g)),
            NodeData::WeakUntil(f, g) => Ltl::weak_until(self.to_ltl(*f), self.to_ltl(*g)),
            NodeData::Release(f, g) => Ltl::release(self.to_ltl(*f), self.to_ltl(*g)),
            NodeData::StrongRelease(f, g) => Ltl::strong_release(self.to_ltl(*f), self.to_ltl(*g)),
        }
    }

    /// A short list as a chain, which prints without parentheses; a long one as a balanced tree, because
    /// the depth of trees must stay small.
    fn to_balanced(&self, list: &[Node], build: fn(Ltl, Ltl) -> Ltl) -> Ltl {
        match list {
            // The constructors never make an empty list.
            [] => Ltl::True,
            [single] => self.to_ltl(*single),
            [init @ .., last] if init.len() < 16 => build(self.to_balanced(init, build), self.to_ltl(*last)),
            _ => {
                let (left, right) = list.split_at(list.len() / 2);
                build(self.to_balanced(left, build), self.to_balanced(right, build))
            }
        }
    }

    /// The operands under `X`, where both are.
    fn both_next(&self, f: Node, g: Node) -> Option<(Node, Node)> {
        match (self.data(f), self.data(g)) {
            (NodeData::Next(a), NodeData::Next(b)) => Some((*a, *b)),
            _ => None,
        }
    }

    /// `g` without `f`, where `g` is a conjunction that has `f` as a part.
    fn without_conjunct(&mut self, g: Node, f: Node) -> Option<Node> {
        match self.data(g) {
            NodeData::And(list) if list.contains(&f) => {
                let rest = list.iter().copied().filter(|&part| part != f).collect();
                Some(self.and(rest))
            }
            _ => None,
        }
    }

    /// `g` without `f`, where `g` is a disjunction that has `f` as a part.
    fn without_disjunct(&mut self, g: Node, f: Node) -> Option<Node> {
        match self.data(g) {
            NodeData::Or(list) if list.contains(&f) => {
                let rest = list.iter().copied().filter(|&part| part != f).collect();
                Some(self.or(rest))
            }
            _ => None,
        }
    }

    /// Takes the parts of a conjunction or disjunction `g` that do not depend on the position out of
    /// `f op g`. This is right for `U` and `R`; `W` does not let go of conjunctions nor `M` of disjunctions,
    /// so they do not ask.
    fn take_out(&mut self, g: Node, rebuild: impl FnOnce(&mut Self, Node) -> Node) -> Option<Node> {
        let (list, conjunction) = match self.data(g).clone() {
            NodeData::And(list) => (list, true),
            NodeData::Or(list) => (list, false),
            _ => return None,
        };
        let (mut fixed, rest): (Vec<Node>, Vec<Node>) = list.iter().partition(|&&f| self.is_suspendable(f));
        if fixed.is_empty() {
            return None;
        }
        let rest = if conjunction { self.and(rest) } else { self.or(rest) };
        fixed.push(rebuild(self, rest));
        Some(if conjunction { self.and(fixed) } else { self.or(fixed) })
    }

    /// `f U g`
    pub(crate) fn until(&mut self, f: Node, g: Node) -> Node {
        if f == self.yes() {
            return self.finally(g);
        }
        if self.is_eventual(g) || self.implies(f, g) {
            return g;
        }
        if let Some((a, b)) = self.both_next(f, g) {
            let inner = self.until(a, b);
            return self.next(inner);
        }
        match self.data(g).clone() {
            NodeData::Until(a, b) if a == f => return self.until(a, b),
            NodeData::StrongRelease(_, b) if b == f => return g,
            _ => {}
        }
        // (a U g) U g and (a W g) U g are a U g
        if let NodeData::Until(a, b) | NodeData::WeakUntil(a, b) = *self.data(f)
            && b == g
        {
            return self.until(a, g);
        }
        if let Some(rest) = self.without_conjunct(g, f) {
            return self.strong_release(rest, f);
        }
        if let Some(rest) = self.without_disjunct(f, g) {
            return self.until(rest, g);
        }
        if let Some(node) = self.take_out(g, |store, rest| store.until(f, rest)) {
            return node;
        }
        let not_g = self.negate(g);
        if self.implies(not_g, f) {
            return self.finally(g);
        }
        self.intern(NodeData::Until(f, g))
    }

    /// `f R g`
    pub(crate) fn release(&mut self, f: Node, g: Node) -> Node {
        if f == self.no() {
            return self.globally(g);
        }
        if self.is_universal(g) || self.implies(g, f) {
            return g;
        }
        if let Some((a, b)) = self.both_next(f, g) {
            let inner = self.release(a, b);
            return self.next(inner);
        }
        match self.data(g).clone() {
            NodeData::Release(a, b) if a == f => return self.release(a, b),
            NodeData::WeakUntil(_, b) if b == f => return g,
            _ => {}
        }
        // (a R g) R g and (a M g) R g are a R g
        if let NodeData::Release(a, b) | NodeData::StrongRelease(a, b) = *self.data(f)
            && b == g
        {
            return self.release(a, g);
        }
        if let Some(rest) = self.without_disjunct(g, f) {
            return self.weak_until(rest, f);
        }
        if let Some(rest) = self.without_conjunct(f, g) {
            return self.release(rest, g);
        }
        if let Some(node) = self.take_out(g, |store, rest| store.release(f, rest)) {
            return node;
        }
        let not_g = self.negate(g);
        if self.implies(f, not_g) {
            return self.globally(g);
        }
        self.intern(NodeData::Release(f, g))
    }

    /// `f W g`
    pub(crate) fn weak_until(&mut self, f: Node, g: Node) -> Node {
        if f == self.yes() || g == self.yes() {
            return self.yes();
        }
        if g == self.no() {
            return self.globally(f);
        }
        if self.implies(f, g) {
            return g;
        }
        if let Some((a, b)) = self.both_next(f, g) {
            let inner = self.weak_until(a, b);
            return self.next(inner);
        }
        match self.data(g).clone() {
            NodeData::WeakUntil(a, b) if a == f => return self.weak_until(a, b),
            NodeData::Until(a, _) if a == f => return self.weak_until_of_until(f, g),
            NodeData::Globally(a) if a == f => return g,
            _ => {}
        }
        if let NodeData::WeakUntil(a, b) = *self.data(f)
            && b == g
        {
            return self.weak_until(a, g);
        }
        if let Some(rest) = self.without_conjunct(g, f) {
            return self.release(rest, f);
        }
        if let Some(rest) = self.without_disjunct(f, g) {
            return self.weak_until(rest, g);
        }
        let not_g = self.negate(g);
        if self.implies(not_g, f) {
            return self.yes();
        }
        self.intern(NodeData::WeakUntil(f, g))
    }

    /// `f W (f U b)` is `f W b`.
    fn weak_until_of_until(&mut self, f: Node, g: Node) -> Node {
        match *self.data(g) {
            NodeData::Until(_, b) => self.weak_until(f, b),
            _ => self.intern(NodeData::WeakUntil(f, g)),
        }
    }

    /// `f M g`
    pub(crate) fn strong_release(&mut self, f: Node, g: Node) -> Node {
        if f == self.no() || g == self.no() {
            return self.no();
        }
        if g == self.yes() {
            return self.finally(f);
        }
        if self.implies(g, f) {
            return g;
        }
        if let Some((a, b)) = self.both_next(f, g) {
            let inner = self.strong_release(a, b);
            return self.next(inner);
        }
        match *self.data(g) {
            NodeData::StrongRelease(a, b) if a == f => return self.strong_release(a, b),
            NodeData::Release(a, b) if a == f => return self.strong_release(a, b),
            NodeData::Finally(a) if a == f => return g,
            _ => {}
        }
        if let NodeData::StrongRelease(a, b) = *self.data(f)
            && b == g
        {
            return self.strong_release(a, g);
        }
        if let Some(rest) = self.without_disjunct(g, f) {
            return self.until(rest, f);
        }
        if let Some(rest) = self.without_conjunct(f, g) {
            return self.strong_release(rest, g);
        }
        let not_g = self.negate(g);
        if self.implies(f, not_g) {
            return self.no();
        }
        self.intern(NodeData::StrongRelease(f, g))
    }
}
