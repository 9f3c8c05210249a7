//! Implications that the syntax shows.

use crate::store::{Node, NodeData, Store};

/// How many answers are remembered. Beyond that the answer is "not known", so that the quadratic number
/// of pairs cannot make a long formula slow.
const MAX_REMEMBERED: usize = 200_000;

impl Store {
    /// Whether `f` implies `g`, as far as structural rules tell (Somenzi, Bloem: Efficient Büchi Automata
    /// from LTL Formulae, CAV 2000, extended to all our operators). "No" means "not known".
    pub(crate) fn implies(&mut self, f: Node, g: Node) -> bool {
        if f == g || f == self.no() || g == self.yes() {
            return true;
        }
        if f == self.yes() || g == self.no() {
            return false;
        }
        if let Some(&known) = self.implications.get(&(f, g)) {
            return known;
        }
        if self.implications.len() >= MAX_REMEMBERED {
            return false;
        }
        let answer = self.implied_by_right(f, g) || self.implied_by_left(f, g) || self.implied_by_both(f, g);
        self.implications.insert((f, g), answer);
        answer
    }

    /// `f` implies `g` because it implies enough of the parts of `g`.
    fn implied_by_right(&mut self, f: Node, g: Node) -> bool {
        match self.data(g).clone() {
            NodeData::And(list) => list.iter().all(|&part| self.implies(f, part)),
            NodeData::Or(list) => list.iter().any(|&part| self.implies(f, part)),
            NodeData::Finally(b) => self.implies(f, b),
            NodeData::Globally(b) => self.is_universal(f) && self.implies(f, b),
            NodeData::Until(_, b) => self.implies(f, b),
            NodeData::WeakUntil(a, b) => self.implies(f, b) || (self.is_universal(f) && self.implies(f, a)),
            NodeData::Release(a, b) => self.implies(f, b) && (self.is_universal(f) || self.implies(f, a)),
            NodeData::StrongRelease(a, b) => self.implies(f, b) && self.implies(f, a),
            NodeData::Next(b) => self.is_universal(f) && self.implies(f, b),
            NodeData::True | NodeData::False | NodeData::Literal(..) => false,
        }
    }

    /// `f` implies `g` because enough of the parts of `f` do.
    fn implied_by_left(&mut self, f: Node, g: Node) -> bool {
        match self.data(f).clone() {
            NodeData::And(list) => list.iter().any(|&part| self.implies(part, g)),
            NodeData::Or(list) => list.iter().all(|&part| self.implies(part, g)),
            NodeData::Finally(b) => self.is_eventual(g) && self.implies(b, g),
            NodeData::Globally(b) => self.implies(b, g),
            NodeData::Until(a, b) => self.implies(b, g) && (self.is_eventual(g) || self.implies(a, g)),
            NodeData::WeakUntil(a, b) => self.implies(b, g) && self.implies(a, g),
            NodeData::Release(_, b) => self.implies(b, g),
            NodeData::StrongRelease(a, b) => {
                self.implies(b, g) || (self.is_eventual(g) && self.implies(a, g))
            }
            NodeData::Next(b) => self.is_eventual(g) && self.implies(b, g),
            NodeData::True | NodeData::False | NodeData::Literal(..) => false,
        }
    }

    /// `f` implies `g` because operators of one kind are monotone in their operands.
    fn implied_by_both(&mut self, f: Node, g: Node) -> bool {
        use NodeData::{Finally, Globally, Next, Release, StrongRelease, Until, WeakUntil};
        match (self.data(f).clone(), self.data(g).clone()) {
            (Next(a), Next(b)) | (Finally(a), Finally(b)) | (Globally(a), Globally(b)) => self.implies(a, b),
            (Until(a, b), Until(c, d) | WeakUntil(c, d))
            | (WeakUntil(a, b), WeakUntil(c, d))
            | (Release(a, b), Release(c, d))
            | (StrongRelease(a, b), StrongRelease(c, d) | Release(c, d)) => {
                self.implies(a, c) && self.implies(b, d)
            }
            // In `a M b` the left side comes while the right one holds, which is what `b U (a && b)` says.
            (StrongRelease(a, b), Until(c, d) | WeakUntil(c, d)) => self.implies(b, c) && self.implies(a, d),
            (Release(a, b), WeakUntil(c, d)) => self.implies(b, c) && self.implies(a, d),
            (Globally(a), WeakUntil(c, _)) => self.implies(a, c),
            (Globally(a), Release(_, d)) => self.implies(a, d),
            _ => false,
        }
    }
}
