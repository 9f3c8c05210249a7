//! Which statements nobody else notices, and which notice nobody else.
//!
//! A statement is *local* where it reads and writes only variables that no other process, formula or claim looks at,
//! and globals that are never assigned (Section 3.2, "does the statement refer to local or global variables?"). Beyond
//! the paper, a global that one process alone uses is local too. What others do does not depend on a local statement
//! of this process, and the statement does not depend on what they do, so that the two can change places.

use pdnet_base::IndexVec;

use super::facts::Facts;
use crate::tree::{Expr, ExprKind, Place, Stmt, StmtKind, Var};

/// Whether a value depends only on what no other process changes. `private` are the variables of which that is so.
pub(super) fn is_local_expr(private: &IndexVec<Var, bool>, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Pid => true,
        ExprKind::Load(place) => {
            private[place.var] && place.indices.iter().all(|index| is_local_expr(private, index))
        }
        ExprKind::Unary(_, inner) => is_local_expr(private, inner),
        ExprKind::Binary(_, left, right) => is_local_expr(private, left) && is_local_expr(private, right),
        ExprKind::If(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().all(|part| is_local_expr(private, part))
        }
        ExprKind::ProcessCount
        | ExprKind::Last
        | ExprKind::NonProgress
        | ExprKind::Anything
        | ExprKind::Timeout
        | ExprKind::Run(..)
        | ExprKind::Query(..)
        | ExprKind::Poll { .. }
        | ExprKind::Enabled(_)
        | ExprKind::PcValue(_)
        | ExprKind::Remote { .. }
        | ExprKind::At { .. } => false,
    }
}

impl Facts<'_> {
    /// Whether a value depends only on what no other process changes.
    pub(super) fn is_local_expr(&self, expr: &Expr) -> bool {
        is_local_expr(&self.private, expr)
    }

    /// Whether a variable, and the way to its element, are nobody else's business.
    pub(super) fn is_local_place(&self, place: &Place) -> bool {
        self.private[place.var] && place.indices.iter().all(|index| self.is_local_expr(index))
    }

    /// Whether a single statement is local.
    pub(super) fn is_local(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Condition(expr) | StmtKind::Assert(expr) => self.is_local_expr(expr),
            StmtKind::Assign(place, value) => self.is_local_place(place) && self.is_local_expr(value),
            StmtKind::Print { args, .. } => args.iter().all(|arg| self.is_local_expr(arg)),
            StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Unless { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else => false,
        }
    }
}
