//! "The statement i0 is a guard" (Section 3.2): choices whose outcome nobody else can change.
//!
//! The paper merges a guard with what follows only where the choice is no real one, because its merged transition needs
//! both parts enabled (H-similarity). Promela's `atomic` is weaker: after the guard it waits without the privilege where
//! the next statement is blocked. So a local guard may wait for the next step whatever stands beside it: the choice is
//! made later, and no outcome is lost. What remains to be asked is whether an `else` is local, and, for a choice that is
//! to follow a step at once, whether others can make another alternative possible before it is made.

use std::slice::from_ref;

use super::facts::Facts;
use crate::tree::{BinaryOp, Choice, Stmt, StmtKind};
use crate::walk::{same_expr, walk_statements};

impl Facts<'_> {
    /// Whether the `else` of a choice depends on nothing that others do: all guards beside it are local.
    pub(super) fn else_is_local(&self, choices: &[Choice]) -> bool {
        choices
            .iter()
            .filter(|choice| choice.otherwise.is_none())
            .all(|choice| choice.body.first().is_some_and(|guard| self.is_local(guard)))
    }

    /// Whether others cannot add to the alternatives of a choice once one of them is possible: its guards are all local,
    /// or all of them receive from one channel (where the first message stays the first), or send to one, or there is one
    /// alternative only. That each guard by itself may come early is not asked here.
    pub(super) fn is_stable(&self, choices: &[Choice]) -> bool {
        let mut guards = Vec::new();
        for choice in choices {
            match (&choice.otherwise, choice.body.first()) {
                (Some(_), _) if !self.else_is_local(choices) => return false,
                (Some(_), _) | (None, None) => {}
                (None, Some(guard)) => {
                    if !first_steps(guard, &mut guards) {
                        return false;
                    }
                }
            }
        }
        let Some((first, rest)) = guards.split_first() else { return true };
        let same_channel = |guard: &&Stmt| match (&first.kind, &guard.kind) {
            (StmtKind::Send { channel, .. }, StmtKind::Send { channel: other, .. })
            | (
                StmtKind::Receive { channel, random: false, .. },
                StmtKind::Receive { channel: other, random: false, .. },
            ) => same_expr(channel, other),
            _ => false,
        };
        rest.is_empty() && choices.len() == 1
            || guards.iter().all(|guard| self.is_local(guard))
            || guards.iter().all(same_channel)
    }
}

/// The same comparison with its sides exchanged.
pub(super) fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
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

/// The steps that a statement can begin with; `false` where they are not simply statements of it.
fn first_steps<'t>(stmt: &'t Stmt, found: &mut Vec<&'t Stmt>) -> bool {
    match &stmt.kind {
        StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
            inner.first().is_some_and(|first| first_steps(first, found))
        }
        StmtKind::If(choices) | StmtKind::Do(choices) => choices.iter().all(|choice| {
            choice.otherwise.is_none() && choice.body.first().is_some_and(|first| first_steps(first, found))
        }),
        StmtKind::Condition(_)
        | StmtKind::Assign(..)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Assert(_)
        | StmtKind::Print { .. } => {
            found.push(stmt);
            true
        }
        StmtKind::Unless { .. } | StmtKind::Goto(_) | StmtKind::Break | StmtKind::Else => false,
    }
}

/// The guards of a statement of which somebody can tell that they are not possible: those beside an `else`, those of an
/// `unless`, and all of choices in a `d_step`, which takes the first that is possible.
pub(super) fn awaited_guards(stmt: &Stmt) -> Vec<&Stmt> {
    let mut found = Vec::new();
    match &stmt.kind {
        StmtKind::If(choices) | StmtKind::Do(choices)
            if choices.iter().any(|choice| choice.otherwise.is_some() || begins_else(choice)) =>
        {
            found.extend(choices.iter().filter_map(|choice| choice.body.first()));
        }
        StmtKind::Unless { escape, .. } => found.extend(escape.first()),
        StmtKind::DStep(inner) => walk_statements(inner, &mut |stmt| {
            if let StmtKind::If(choices) | StmtKind::Do(choices) = &stmt.kind {
                found.extend(choices.iter().filter_map(|choice| choice.body.first()));
            }
        }),
        StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::Condition(_)
        | StmtKind::Assign(..)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Block(_)
        | StmtKind::Atomic(_)
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Else
        | StmtKind::Assert(_)
        | StmtKind::Print { .. } => {}
    }
    found
}

fn begins_else(choice: &Choice) -> bool {
    let mut found = false;
    if let Some(first) = choice.body.first() {
        walk_statements(from_ref(first), &mut |stmt| found |= matches!(stmt.kind, StmtKind::Else));
    }
    found
}
