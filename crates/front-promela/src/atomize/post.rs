//! "The statement i0 is followed by non blocking statements" (Section 3.2): what may come right after a step.
//!
//! After any step `i0`, a statement that cannot block and is local may be done at once: whatever others do between the
//! two does not depend on it, so that it can be moved to the front (F-independence), and it is always possible
//! (F-continuation). A run in which the process stops between the two has the same visible part as one in which it
//! goes on to the end, which comes, for there is no loop inside.
//!
//! Beyond the paper, a send may come there too, where no other process sends to the channel, there is always room, and
//! nobody asks how full the channel is: an earlier message only makes more possible, and takes its place in the same
//! order.

use super::facts::Facts;
use crate::tree::{Expr, ExprKind, Proc, Stmt, StmtKind};

impl Facts<'_> {
    /// Whether a single statement can be done right after any step of its process: local and never blocked.
    pub(super) fn may_advance(&self, proc: Proc, stmt: &Stmt) -> Result<(), String> {
        match &stmt.kind {
            StmtKind::Condition(expr) if is_true(expr) => Ok(()),
            StmtKind::Condition(_) => Err("it may block".to_owned()),
            StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. } if self.is_local(stmt) => {
                Ok(())
            }
            StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. } => {
                Err("it uses what other processes or formulas see".to_owned())
            }
            StmtKind::Send { channel, args, sorted } => {
                if *sorted || !args.iter().all(|arg| self.is_local_expr(arg)) {
                    return Err("the send depends on what other processes do".to_owned());
                }
                self.channels.send_may_advance(self.model, proc, channel)
            }
            StmtKind::Receive { .. } => Err("the receive may block".to_owned()),
            StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Unless { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else => Err("it is no single step".to_owned()),
        }
    }
}

/// Whether a condition is a constant that is not zero.
pub(super) fn is_true(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(value) if value != 0)
}
