//! "The statement i0 is not a guard" (Section 3.2): what may wait for the step that follows it.
//!
//! A local assignment or condition, and a receive that disturbs nobody, can be put off until the process does its next
//! step: what others do in between neither depends on it nor changes it (H-independence, quasi-persistence). In
//! a run where the next step never comes, it is left out, or done when the next step is blocked: an `atomic` whose
//! next statement is blocked gives up its privilege, so that all states in which the process waits there are still
//! reached, and with them every deadlock, `timeout` and `else`.

use super::facts::Facts;
use crate::tree::{Proc, Stmt, StmtKind};

impl Facts<'_> {
    /// Whether a single statement can be put off until the next step of its process.
    pub(super) fn may_wait(&self, proc: Proc, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Receive { channel, args, keep: false, .. } => {
                self.are_local_args(args) && self.channels.receive_may_wait(proc, channel)
            }
            StmtKind::Condition(_) | StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. } => {
                self.is_local(stmt)
            }
            StmtKind::Receive { .. }
            | StmtKind::Send { .. }
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
