//! "The statement i0 is a guard" (Section 3.2): choices whose outcome nobody else can change.
//!
//! The paper merges a guard with what follows only where the choice is no real one, because its merged transition needs
//! both parts enabled (H-similarity). Promela's `atomic` is weaker: after the guard it waits without the privilege where
//! the next statement is blocked. So a local guard may wait for the next step whatever stands beside it: the choice is
//! made later, and no outcome is lost. What remains to be asked is whether an `else` is local, and whether some guard
//! of a choice is always true.

use super::facts::Facts;
use super::post::is_true;
use crate::dump_expr;
use crate::tree::{BinaryOp, Choice, Expr, ExprKind, ReceiveArg, Stmt, StmtKind, UnaryOp};

impl Facts<'_> {
    /// Whether the `else` of a choice depends on nothing that others do: all guards beside it are local.
    pub(super) fn else_is_local(&self, choices: &[Choice]) -> bool {
        choices
            .iter()
            .filter(|choice| choice.otherwise.is_none())
            .all(|choice| choice.body.first().is_some_and(|guard| self.is_local(guard)))
    }

    /// Whether in every state some alternative of a choice with local guards can be taken.
    pub(super) fn is_exhaustive(&self, choices: &[Choice]) -> bool {
        if choices.iter().any(|choice| choice.otherwise.is_some()) {
            return self.else_is_local(choices);
        }
        let guards: Vec<&Stmt> = choices.iter().filter_map(|choice| choice.body.first()).collect();
        let always = |guard: &&Stmt| match &guard.kind {
            StmtKind::Condition(expr) => is_true(expr),
            StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. } => self.is_local(guard),
            StmtKind::If(inner) => {
                inner.iter().all(|choice| choice.body.first().is_none_or(|guard| self.is_local(guard)))
                    && self.is_exhaustive(inner)
            }
            StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::Do(_)
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Unless { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else => false,
        };
        if guards.iter().any(always) {
            return true;
        }
        let conditions: Vec<&Expr> = guards.iter().filter_map(|guard| first_condition(guard)).collect();
        conditions
            .iter()
            .enumerate()
            .any(|(at, one)| conditions[at + 1..].iter().any(|other| self.are_opposite(one, other)))
    }

    /// Whether at most one alternative can be taken at a time, as far as the form of the guards tells: no real choice
    /// (Section 3.2, "i0 is a guard", 2 and 3).
    pub(super) fn is_deterministic(&self, choices: &[Choice]) -> bool {
        let guards: Vec<&Stmt> = choices
            .iter()
            .filter(|choice| choice.otherwise.is_none())
            .filter_map(|choice| choice.body.first())
            .collect();
        guards
            .iter()
            .enumerate()
            .all(|(at, one)| guards[at + 1..].iter().all(|other| self.exclude(one, other)))
    }

    fn exclude(&self, one: &Stmt, other: &Stmt) -> bool {
        if let (Some(one), Some(other)) = (first_condition(one), first_condition(other)) {
            let (a, b) = (constant_of(one), constant_of(other));
            let different = a.zip(b).is_some_and(|((left, value), (other_left, other_value))| {
                value != other_value && dump_expr(self.model, left) == dump_expr(self.model, other_left)
            });
            return different || self.are_opposite(one, other);
        }
        match (&one.kind, &other.kind) {
            (
                StmtKind::Receive { channel, args, random: false, .. },
                StmtKind::Receive { channel: other_channel, args: other_args, random: false, .. },
            ) => {
                let differs = match (args.first(), other_args.first()) {
                    (Some(ReceiveArg::Match(one)), Some(ReceiveArg::Match(other))) => {
                        matches!((&one.kind, &other.kind), (ExprKind::Const(a), ExprKind::Const(b)) if a != b)
                    }
                    _ => false,
                };
                differs && dump_expr(self.model, channel) == dump_expr(self.model, other_channel)
            }
            _ => false,
        }
    }

    /// Whether one of two conditions is true where the other is not, as far as their form tells.
    fn are_opposite(&self, one: &Expr, other: &Expr) -> bool {
        let same = |a: &Expr, b: &Expr| dump_expr(self.model, a) == dump_expr(self.model, b);
        match (&one.kind, &other.kind) {
            (ExprKind::Unary(UnaryOp::Not, inner), _) if same(inner, other) => true,
            (_, ExprKind::Unary(UnaryOp::Not, inner)) if same(one, inner) => true,
            (ExprKind::Binary(op, left, right), ExprKind::Binary(other_op, other_left, other_right)) => {
                opposite(*op) == Some(*other_op) && same(left, other_left) && same(right, other_right)
                    || opposite(*op) == mirrored(*other_op)
                        && opposite(*op).is_some()
                        && same(left, other_right)
                        && same(right, other_left)
            }
            _ => false,
        }
    }
}

/// The condition that a statement begins with.
fn first_condition(stmt: &Stmt) -> Option<&Expr> {
    match &stmt.kind {
        StmtKind::Condition(expr) => Some(expr),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
            inner.first().and_then(first_condition)
        }
        StmtKind::Assign(..)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::Unless { .. }
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Else
        | StmtKind::Assert(_)
        | StmtKind::Print { .. } => None,
    }
}

/// The two sides of `x == 3`.
fn constant_of(expr: &Expr) -> Option<(&Expr, i64)> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Eq, left, right) => match right.kind {
            ExprKind::Const(value) => Some((left, value)),
            _ => None,
        },
        _ => None,
    }
}

fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Eq => Some(BinaryOp::Ne),
        BinaryOp::Ne => Some(BinaryOp::Eq),
        BinaryOp::Lt => Some(BinaryOp::Ge),
        BinaryOp::Ge => Some(BinaryOp::Lt),
        BinaryOp::Gt => Some(BinaryOp::Le),
        BinaryOp::Le => Some(BinaryOp::Gt),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or => None,
    }
}

/// The same comparison with its sides exchanged.
fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Eq | BinaryOp::Ne => Some(op),
        BinaryOp::Lt => Some(BinaryOp::Gt),
        BinaryOp::Gt => Some(BinaryOp::Lt),
        BinaryOp::Le => Some(BinaryOp::Ge),
        BinaryOp::Ge => Some(BinaryOp::Le),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or => None,
    }
}
