//! What SPIN makes one step of by itself: its statement merging, which is on unless `spin -o3` says otherwise.
//!
//! Assignments, assertions and prints of locals in a row are one step of SPIN's, and so is a condition, a receive or a
//! send on locals with such behind it. None but the first may have a label, and none may be one of several alternatives.
//! An `atomic` is a border for this: around such a chain it saves nothing, and one that begins in the middle of a chain
//! cuts it in two and makes a state of the border. Where a chain leads to a step that others see, `atomic` around the
//! steps behind the chain saves as much as `atomic` around part of the chain too, and cuts nothing.

use super::facts::Facts;
use crate::tree::{Proc, Stmt, StmtKind};

impl Facts<'_> {
    /// Whether SPIN makes one step of these statements by itself. `beside_others`: the first begins one of several
    /// alternatives.
    pub(super) fn is_chain(&self, proc: Proc, statements: &[Stmt], beside_others: bool) -> bool {
        match statements {
            [first, rest @ ..] => {
                !beside_others
                    && self.begins_chain(proc, first)
                    && rest.iter().all(|stmt| self.continues_chain(proc, stmt))
            }
            [] => false,
        }
    }

    /// Whether SPIN lets a statement be the first of a chain.
    fn begins_chain(&self, proc: Proc, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Condition(_) | StmtKind::Receive { .. } => self.is_safe(proc, stmt),
            StmtKind::Send { .. } => !self.channels.any_rendezvous && self.is_safe(proc, stmt),
            StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. } => {
                self.continues_chain(proc, stmt)
            }
            StmtKind::If(_)
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

    /// Whether SPIN lets a statement be part of a chain behind the first.
    fn continues_chain(&self, proc: Proc, stmt: &Stmt) -> bool {
        matches!(stmt.kind, StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. })
            && stmt.labels.is_empty()
            && self.is_safe(proc, stmt)
    }

    /// Whether SPIN takes a single statement as one that nobody else sees. With `provided` somewhere it takes none so.
    fn is_safe(&self, proc: Proc, stmt: &Stmt) -> bool {
        self.channel_of_safe(proc, stmt).is_some()
            && self.model.procs.iter().all(|data| data.provided.is_none())
    }
}
