//! Constructors that simplify.
//!
//! The rules are those of Somenzi and Bloem (Efficient Büchi Automata from LTL Formulae, CAV 2000),
//! of Etessami and Holzmann (Optimizing Büchi Automata, CONCUR 2000), and the usual
//! distributive laws. Each makes the formula smaller, or brings temporal operators together so that
//! the automaton has fewer promises to keep, or takes out parts that do not depend on the position.
//! A rule must never undo another one: where two could, the comment says who wins.

use crate::store::{Node, NodeData, Store};

/// Lists longer than this are not compared pairwise.
const MAX_PAIRWISE: usize = 64;

impl Store {
    /// The conjunction of the list.
    pub(crate) fn and(&mut self, list: Vec<Node>) -> Node {
        let mut parts = Vec::new();
        for node in list {
            match self.data(node) {
                NodeData::And(inner) => parts.extend_from_slice(inner),
                NodeData::False => return self.no(),
                NodeData::True => {}
                _ => parts.push(node),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        if parts.len() > 1 {
            if self.has_opposites(&parts) {
                return self.no();
            }
            if self.propagate(&mut parts, true) {
                return self.and(parts);
            }
            if self.keep_extreme(&mut parts, true) {
                return self.no();
            }
            if let Some(parts) = self.merge_conjuncts(&parts) {
                return self.and(parts);
            }
        }
        match parts.as_slice() {
            [] => self.yes(),
            [single] => *single,
            _ => self.intern(NodeData::And(parts.into())),
        }
    }

    /// The disjunction of the list.
    pub(crate) fn or(&mut self, list: Vec<Node>) -> Node {
        let mut parts = Vec::new();
        for node in list {
            match self.data(node) {
                NodeData::Or(inner) => parts.extend_from_slice(inner),
                NodeData::True => return self.yes(),
                NodeData::False => {}
                _ => parts.push(node),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        if parts.len() > 1 {
            if self.has_opposites(&parts) {
                return self.yes();
            }
            if self.propagate(&mut parts, false) {
                return self.or(parts);
            }
            if self.keep_extreme(&mut parts, false) {
                return self.yes();
            }
            if let Some(parts) = self.merge_disjuncts(&parts) {
                return self.or(parts);
            }
        }
        match parts.as_slice() {
            [] => self.no(),
            [single] => *single,
            _ => self.intern(NodeData::Or(parts.into())),
        }
    }

    /// Whether a formula and its negation are in the list.
    fn has_opposites(&mut self, parts: &[Node]) -> bool {
        parts.iter().any(|&part| self.find_negation(part).is_some_and(|other| parts.contains(&other)))
    }

    /// Unit propagation: `a && (!a || b)` is `a && b`, and the dual. Says whether something changed.
    fn propagate(&mut self, parts: &mut [Node], conjunction: bool) -> bool {
        let opposites: Vec<Node> = parts.iter().filter_map(|&part| self.known_negation(part)).collect();
        let mut changed = false;
        for part in parts {
            let inner = match self.data(*part) {
                NodeData::Or(inner) if conjunction => inner,
                NodeData::And(inner) if !conjunction => inner,
                _ => continue,
            };
            let rest: Vec<Node> = inner.iter().copied().filter(|f| !opposites.contains(f)).collect();
            if rest.len() < inner.len() {
                *part = if conjunction { self.or(rest) } else { self.and(rest) };
                changed = true;
            }
        }
        changed
    }

    /// Drops from a conjunction what another part implies, from a disjunction what implies another part.
    /// Returns whether the whole is a constant because two parts contradict or complete each other.
    fn keep_extreme(&mut self, parts: &mut Vec<Node>, conjunction: bool) -> bool {
        if parts.len() > MAX_PAIRWISE {
            return false;
        }
        let mut at = 0;
        while at < parts.len() {
            let part = parts[at];
            let negation = self.known_negation(part);
            let mut redundant = false;
            for other in parts.clone() {
                if other == part {
                    continue;
                }
                let (strong, weak) = if conjunction { (other, part) } else { (part, other) };
                redundant |= self.implies(strong, weak);
                if let Some(negation) = negation {
                    let (strong, weak) = if conjunction { (other, negation) } else { (negation, other) };
                    if self.implies(strong, weak) {
                        return true;
                    }
                }
            }
            if redundant {
                parts.remove(at);
            } else {
                at += 1;
            }
        }
        false
    }

    /// Brings two conjuncts together: `G a && G b` is `G(a && b)`, and so on. `G F a` stays alone, because
    /// `globally` takes it out of a conjunction again.
    fn merge_conjuncts(&mut self, parts: &[Node]) -> Option<Vec<Node>> {
        self.merge(parts, |store, f, g| {
            use NodeData::{Finally, Globally, Next, Release, Until, WeakUntil};
            match (store.data(f).clone(), store.data(g).clone()) {
                (Next(a), Next(b)) => {
                    let both = store.and(vec![a, b]);
                    Some(store.next(both))
                }
                (Globally(a), Globally(b))
                    if !matches!(store.data(a), Finally(_)) && !matches!(store.data(b), Finally(_)) =>
                {
                    let both = store.and(vec![a, b]);
                    Some(store.globally(both))
                }
                (Finally(a), Finally(b)) => match (store.data(a).clone(), store.data(b).clone()) {
                    (Globally(a), Globally(b)) => {
                        let both = store.and(vec![a, b]);
                        let always = store.globally(both);
                        Some(store.finally(always))
                    }
                    _ => None,
                },
                (Until(a, b), Until(c, d)) if b == d => {
                    let both = store.and(vec![a, c]);
                    Some(store.until(both, b))
                }
                (WeakUntil(a, b), WeakUntil(c, d)) if b == d => {
                    let both = store.and(vec![a, c]);
                    Some(store.weak_until(both, b))
                }
                (Until(a, b), WeakUntil(c, d)) | (WeakUntil(a, b), Until(c, d)) if b == d => {
                    let both = store.and(vec![a, c]);
                    Some(store.until(both, b))
                }
                (Release(a, b), Release(c, d)) if a == c => {
                    let both = store.and(vec![b, d]);
                    Some(store.release(a, both))
                }
                _ => None,
            }
        })
    }

    /// Brings two disjuncts together: `F a || F b` is `F(a || b)`, and so on.
    fn merge_disjuncts(&mut self, parts: &[Node]) -> Option<Vec<Node>> {
        self.merge(parts, |store, f, g| {
            use NodeData::{Finally, Globally, Next, Release, StrongRelease, Until};
            match (store.data(f).clone(), store.data(g).clone()) {
                (Next(a), Next(b)) => {
                    let either = store.or(vec![a, b]);
                    Some(store.next(either))
                }
                (Finally(a), Finally(b)) => {
                    let either = store.or(vec![a, b]);
                    Some(store.finally(either))
                }
                (Globally(a), Globally(b)) => match (store.data(a).clone(), store.data(b).clone()) {
                    (Finally(a), Finally(b)) => {
                        let either = store.or(vec![a, b]);
                        let eventually = store.finally(either);
                        Some(store.globally(eventually))
                    }
                    _ => None,
                },
                (Until(a, b), Until(c, d)) if a == c => {
                    let either = store.or(vec![b, d]);
                    Some(store.until(a, either))
                }
                (Release(a, b), Release(c, d)) if b == d => {
                    let either = store.or(vec![a, c]);
                    Some(store.release(either, b))
                }
                (StrongRelease(a, b), StrongRelease(c, d)) if b == d => {
                    let either = store.or(vec![a, c]);
                    Some(store.strong_release(either, b))
                }
                (Release(a, b), StrongRelease(c, d)) | (StrongRelease(a, b), Release(c, d)) if b == d => {
                    let either = store.or(vec![a, c]);
                    Some(store.release(either, b))
                }
                _ => None,
            }
        })
    }

    /// The list after the first pair that can be merged has been.
    fn merge(
        &mut self,
        parts: &[Node],
        rule: impl Fn(&mut Self, Node, Node) -> Option<Node>,
    ) -> Option<Vec<Node>> {
        if parts.len() > MAX_PAIRWISE {
            return None;
        }
        for (i, &f) in parts.iter().enumerate() {
            for (j, &g) in parts.iter().enumerate().skip(i + 1) {
                if let Some(merged) = rule(self, f, g) {
                    let rest = parts.iter().enumerate().filter(|&(at, _)| at != i && at != j);
                    return Some(rest.map(|(_, &part)| part).chain([merged]).collect());
                }
            }
        }
        None
    }

    /// Splits a list by a property of its members: those that have it come first.
    fn split(&self, list: &[Node], test: impl Fn(&Self, Node) -> bool) -> Option<(Vec<Node>, Vec<Node>)> {
        let (yes, no): (Vec<Node>, Vec<Node>) = list.iter().partition(|&&part| test(self, part));
        (!yes.is_empty()).then_some((yes, no))
    }

    /// `X f`
    pub(crate) fn next(&mut self, f: Node) -> Node {
        if self.is_suspendable(f) { f } else { self.intern(NodeData::Next(f)) }
    }

    /// `F f`
    pub(crate) fn finally(&mut self, f: Node) -> Node {
        if self.is_eventual(f) {
            return f;
        }
        match self.data(f).clone() {
            NodeData::Next(a) => {
                let inner = self.finally(a);
                self.next(inner)
            }
            NodeData::Until(_, b) => self.finally(b),
            NodeData::StrongRelease(a, b) => {
                let both = self.and(vec![a, b]);
                self.finally(both)
            }
            NodeData::WeakUntil(a, b) => {
                let always = self.globally(a);
                let either = self.or(vec![always, b]);
                self.finally(either)
            }
            NodeData::Release(a, b) => {
                let (always, both) = (self.globally(b), self.and(vec![a, b]));
                let either = self.or(vec![always, both]);
                self.finally(either)
            }
            NodeData::And(list) => {
                let Some((fixed, rest)) = self.split(&list, Self::is_suspendable) else {
                    return self.intern(NodeData::Finally(f));
                };
                let rest = self.and(rest);
                let rest = self.finally(rest);
                self.and([fixed, vec![rest]].concat())
            }
            NodeData::Or(list) => self.finally_or(f, &list),
            NodeData::Globally(a) => self.finally_globally(f, a),
            NodeData::True | NodeData::False | NodeData::Literal(..) | NodeData::Finally(_) => {
                self.intern(NodeData::Finally(f))
            }
        }
    }

    /// `F(a || …)`: an inner `F` is absorbed, and what does not depend on the position stands outside.
    fn finally_or(&mut self, f: Node, list: &[Node]) -> Node {
        let stripped: Vec<Node> = list
            .iter()
            .map(|&part| match self.data(part) {
                NodeData::Finally(inner) => *inner,
                _ => part,
            })
            .collect();
        if stripped != list {
            let either = self.or(stripped);
            return self.finally(either);
        }
        let Some((fixed, rest)) = self.split(list, Self::is_suspendable) else {
            return self.intern(NodeData::Finally(f));
        };
        let rest = self.or(rest);
        let rest = self.finally(rest);
        self.or([fixed, vec![rest]].concat())
    }

    /// `F G a`, where `f` is `G a`: `F G(a || F b)` is `F G a || G F b`, and `F G(a || G b)` is
    /// `F(G a || G b)`.
    fn finally_globally(&mut self, f: Node, a: Node) -> Node {
        let NodeData::Or(list) = self.data(a).clone() else { return self.intern(NodeData::Finally(f)) };
        if let Some((eventual, rest)) = self.split(&list, Self::is_eventual) {
            let rest = self.or(rest);
            let always = self.globally(rest);
            let stable = self.finally(always);
            let mut parts = vec![stable];
            for part in eventual {
                parts.push(self.globally(part));
            }
            return self.or(parts);
        }
        if let Some((universal, rest)) = self.split(&list, Self::is_universal) {
            let rest = self.or(rest);
            let always = self.globally(rest);
            let either = self.or([universal, vec![always]].concat());
            return self.finally(either);
        }
        self.intern(NodeData::Finally(f))
    }

    /// `G f`
    pub(crate) fn globally(&mut self, f: Node) -> Node {
        if self.is_universal(f) {
            return f;
        }
        match self.data(f).clone() {
            NodeData::Next(a) => {
                let inner = self.globally(a);
                self.next(inner)
            }
            NodeData::Release(_, b) => self.globally(b),
            NodeData::WeakUntil(a, b) => {
                let either = self.or(vec![a, b]);
                self.globally(either)
            }
            NodeData::Until(a, b) => {
                let (either, again) = (self.or(vec![a, b]), self.finally(b));
                let (always, again) = (self.globally(either), self.globally(again));
                self.and(vec![always, again])
            }
            NodeData::StrongRelease(a, b) => {
                let again = self.finally(a);
                let (always, again) = (self.globally(b), self.globally(again));
                self.and(vec![always, again])
            }
            NodeData::And(list) => self.globally_and(f, &list),
            NodeData::Or(list) => {
                let Some((fixed, rest)) = self.split(&list, Self::is_suspendable) else {
                    return self.intern(NodeData::Globally(f));
                };
                let rest = self.or(rest);
                let rest = self.globally(rest);
                self.or([fixed, vec![rest]].concat())
            }
            NodeData::Finally(a) => self.globally_finally(f, a),
            NodeData::True | NodeData::False | NodeData::Literal(..) | NodeData::Globally(_) => {
                self.intern(NodeData::Globally(f))
            }
        }
    }

    /// `G(a && …)`: an inner `G` is absorbed, an inner `F` and what does not depend on the position
    /// stand outside.
    fn globally_and(&mut self, f: Node, list: &[Node]) -> Node {
        let stripped: Vec<Node> = list
            .iter()
            .map(|&part| match self.data(part) {
                NodeData::Globally(inner) => *inner,
                _ => part,
            })
            .collect();
        if stripped != list {
            let both = self.and(stripped);
            return self.globally(both);
        }
        let outside = |store: &Self, part| {
            store.is_suspendable(part) || matches!(store.data(part), NodeData::Finally(_))
        };
        let Some((fixed, rest)) = self.split(list, outside) else {
            return self.intern(NodeData::Globally(f));
        };
        let rest = self.and(rest);
        let mut parts = vec![self.globally(rest)];
        for part in fixed {
            parts.push(self.globally(part));
        }
        self.and(parts)
    }

    /// `G F a`, where `f` is `F a`: `G F(a && F b)` is `G F a && G F b`, the same with `G b`, and
    /// `G F(a || G b)` is `G F a || F G b`.
    fn globally_finally(&mut self, f: Node, a: Node) -> Node {
        match self.data(a).clone() {
            NodeData::And(list) => {
                let closed = |store: &Self, part| store.is_eventual(part) || store.is_universal(part);
                let Some((closed, rest)) = self.split(&list, closed) else {
                    return self.intern(NodeData::Globally(f));
                };
                let rest = self.and(rest);
                let mut parts = Vec::new();
                for part in closed.into_iter().chain([rest]) {
                    let again = self.finally(part);
                    parts.push(self.globally(again));
                }
                self.and(parts)
            }
            NodeData::Or(list) => {
                let Some((universal, rest)) = self.split(&list, Self::is_universal) else {
                    return self.intern(NodeData::Globally(f));
                };
                let rest = self.or(rest);
                let again = self.finally(rest);
                let mut parts = vec![self.globally(again)];
                for part in universal {
                    parts.push(self.finally(part));
                }
                self.or(parts)
            }
            _ => self.intern(NodeData::Globally(f)),
        }
    }
}
