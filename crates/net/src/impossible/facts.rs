//! Conditions under conditions that are known to be true.

use crate::net::{ArcData, Place, TransitionData, Var};
use crate::{BinaryOp, Expr, frames};

/// Conditions that are true.
pub(super) struct Facts {
    known: Vec<Expr>,
}

impl Facts {
    /// The parts of a guard, and of other conditions.
    pub(super) fn new<'a>(conditions: impl IntoIterator<Item = &'a Expr>) -> Self {
        let mut known = Vec::new();
        for condition in conditions {
            let mut parts = Vec::new();
            frames::conjuncts(condition, &mut parts);
            known.extend(parts.into_iter().cloned());
        }
        let mut facts = Self { known };
        // What the facts say once they are known of each other, such as which of two cells a pointer means.
        let simplified: Vec<Expr> = facts.known.iter().map(|fact| facts.inside(fact)).collect();
        for expr in &simplified {
            let mut parts = Vec::new();
            frames::conjuncts(expr, &mut parts);
            for part in parts {
                if !facts.known.contains(part) {
                    facts.known.push(part.clone());
                }
            }
        }
        facts
    }

    /// One of them that is as asked.
    pub(super) fn any(&self, is_asked: impl Fn(&Expr) -> bool) -> bool {
        self.known.iter().any(is_asked)
    }

    /// An expression of the same value, wherever the facts are true.
    pub(super) fn simplify(&self, expr: &Expr) -> Expr {
        if expr.is_boolean() && self.known.contains(expr) {
            return Expr::Const(1);
        }
        if let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), ty, left, right) = expr
            && let Expr::Const(value) = **right
        {
            let is = |fact: &Expr| match fact {
                Expr::Binary(BinaryOp::Eq, _, same, known) if same == left => match **known {
                    Expr::Const(known) => Some(known == value),
                    _ => None,
                },
                Expr::Binary(BinaryOp::Ne, _, same, known) if same == left && known == right => Some(false),
                _ => None,
            };
            if let Some(is_equal) = self.known.iter().find_map(is) {
                return Expr::Const(i64::from(is_equal == (*op == BinaryOp::Eq)));
            }
            return Expr::binary(*op, *ty, self.simplify(left), Expr::Const(value));
        }
        self.inside(expr)
    }

    /// The same with the expression itself not looked up.
    fn inside(&self, expr: &Expr) -> Expr {
        match expr {
            Expr::If(condition, then, otherwise) => match self.simplify(condition) {
                Expr::Const(0) => self.simplify(otherwise),
                Expr::Const(_) => self.simplify(then),
                condition => {
                    let (then, otherwise) = (self.simplify(then), self.simplify(otherwise));
                    if then == otherwise { then } else { Expr::cond(condition, then, otherwise) }
                }
            },
            Expr::Binary(op, ty, left, right) => {
                Expr::binary(*op, *ty, self.simplify(left), self.simplify(right))
            }
            Expr::Unary(op, ty, operand) => Expr::unary(*op, *ty, self.simplify(operand)),
            Expr::Convert(ty, operand) => Expr::convert(*ty, self.simplify(operand)),
            expr => expr.clone(),
        }
    }

    /// The variables that have the value of a cell where the facts are true.
    pub(super) fn reads<'a>(
        &'a self,
        data: &'a TransitionData,
        cell: Place,
        asked: &'a [Expr],
    ) -> impl Iterator<Item = Var> + 'a {
        data.arcs.iter().filter_map(move |arc| match arc {
            ArcData::Read { place, key, var, when } if *place == cell && key == asked => {
                let is_sure = when
                    .as_ref()
                    .is_none_or(|when| matches!(self.simplify(when), Expr::Const(value) if value != 0));
                is_sure.then_some(*var)
            }
            _ => None,
        })
    }
}
