//! "The statement i0 is followed by non blocking statements" (Section 3.2): what may come right after a step.
//!
//! After any step `i0`, a local statement may be done at once: whatever others do between the two does not depend on it,
//! so that it can be moved to the front (F-independence). A run in which the process stops between the two has the same
//! visible part as one in which it goes on to the end, which comes, for every loop inside ends.
//!
//! The paper asks that the statement cannot block (F-continuation), because its merged transition is one step or none.
//! Promela's `atomic` gives up the privilege where it is blocked and goes on later, so that this need not be asked: where
//! the statement is not possible, the state in the middle is reached as before, and all that others do there. What must
//! hold is that once it is possible, nobody else can prevent or change it, and that it prevents and changes nothing for
//! others. So these may follow as well:
//!
//! - a condition on locals: it is true at once or never;
//! - a receive, where no other process receives from the channel: the first message stays the first;
//! - a send, where no other process sends to the channel: an earlier message only makes more possible, and takes its
//!   place in the same order;
//! - a send, where there is always room and all messages are the same one: then the order of two sends does not matter;
//! - giving back a lock or a counter ([`super::tokens`]).
//!
//! In all but the first case, nobody may ask how full a channel is or whether something is free, and there is one thing
//! that is not the same: a process that waits for the message or the lock may be blocked in the middle, and so be
//! starved by a run that is weakly fair. Where cycles are looked for, such steps stay apart unless fairness is not asked
//! for.

use super::facts::Facts;
use crate::tree::{Expr, ExprKind, Proc, ReceiveArg, Stmt, StmtKind};

impl Facts<'_> {
    /// Whether a single statement can be done right after any step of its process, and if not, why.
    pub(super) fn may_advance(&self, proc: Proc, stmt: &Stmt) -> Result<(), String> {
        match &stmt.kind {
            StmtKind::Condition(_) | StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. }
                if self.is_local(stmt) =>
            {
                Ok(())
            }
            StmtKind::Assign(..) if self.tokens.releases.contains(&std::ptr::from_ref(stmt)) => {
                self.check_fairness()
            }
            StmtKind::Condition(_) | StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. } => {
                Err("it uses what other processes or formulas see".to_owned())
            }
            StmtKind::Send { channel, args, sorted } => {
                if *sorted || !args.iter().all(|arg| self.is_local_expr(arg)) {
                    return Err("the send depends on what other processes do".to_owned());
                }
                self.channels.send_may_advance(proc, channel)?;
                self.check_fairness()
            }
            StmtKind::Receive { channel, args, .. } => {
                if !self.are_local_args(args) {
                    return Err("the receive depends on what other processes do, or shows them the message"
                        .to_owned());
                }
                self.channels.receive_may_advance(proc, channel)?;
                self.check_fairness()
            }
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

    /// Whether the fields of a receive are nobody else's business.
    pub(super) fn are_local_args(&self, args: &[ReceiveArg]) -> bool {
        args.iter().all(|arg| match arg {
            ReceiveArg::Match(expr) => self.is_local_expr(expr),
            ReceiveArg::Store(place) => self.is_local_place(place),
            ReceiveArg::Ignore => true,
        })
    }

    fn check_fairness(&self) -> Result<(), String> {
        if self.keeps_fairness {
            return Err(
                "others who wait for it would be starved less by weakly fair runs (`--fair none` says that \
                        fairness is not asked for)"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

/// Whether a condition is a constant that is not zero.
pub(super) fn is_true(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Const(value) if value != 0)
}
