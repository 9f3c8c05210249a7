//! The exchange of Algorithm 1: a local assignment in front of a statement that waits comes behind it.
//!
//! `i0; i1` becomes `atomic { i1; i0 }` where `i0` is local and no guard, and neither of the two uses what the other
//! writes. The state in which `i0` is done and `i1` waits is gone; instead the process waits with `i0` still to be done,
//! which nobody can tell. So the state before `i0` must be one like any other: no label stands there, for it might be
//! an end state. And there must be no more such states than before: `i0` may have been the one to forget an old value.
//! So it is done only on the straight way from the start of the process to the first assignment of the variable, where
//! it has one value.

use super::facts::Facts;
use crate::tree::{ExprKind, Proc, Sequence, Stmt, StmtKind, Var};
use crate::walk::{each_expr, walk_statements, written};

impl Facts<'_> {
    /// How many local assignments from a statement of the body of a proctype on can be done behind the statement after
    /// them; 0 where that is no gain.
    pub(super) fn exchangeable(&self, proc: Proc, body: &Sequence, from: usize) -> usize {
        let rest = &body[from..];
        let is_local = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::Assign(..)) && self.is_local(stmt);
        let n = rest.iter().take_while(is_local).count();
        let Some(waiting) = rest.get(n).filter(|_| n > 0) else { return 0 };
        let is_single =
            matches!(waiting.kind, StmtKind::Receive { .. } | StmtKind::Send { .. } | StmtKind::Condition(_));
        let waits = is_single && !self.is_local(waiting) && self.waits(proc, waiting);
        let group = &rest[..=n];
        let uses = uses(std::slice::from_ref(waiting));
        let apart = rest[..n].iter().all(|stmt| {
            let written_here = writes(stmt);
            written_here.iter().all(|var| !uses.contains(var))
                && writes(waiting).iter().all(|var| !self::uses(std::slice::from_ref(stmt)).contains(var))
        });
        let before = self::uses(&body[..from]);
        let is_first = rest[..n].iter().flat_map(writes).all(|var| !before.contains(&var));
        let asks_timeout = {
            let mut found = false;
            each_expr(waiting, &mut |expr| found |= matches!(expr.kind, ExprKind::Timeout));
            found
        };
        let plain = group.iter().all(|stmt| stmt.labels.is_empty());
        if waits && apart && is_first && plain && !asks_timeout { n } else { 0 }
    }
}

/// The variables that statements read or write.
fn uses(statements: &[Stmt]) -> Vec<Var> {
    let mut found = Vec::new();
    walk_statements(statements, &mut |stmt| {
        found.extend(writes(stmt));
        each_expr(stmt, &mut |expr| {
            if let ExprKind::Load(place) = &expr.kind {
                found.push(place.var);
            }
        });
    });
    found
}

fn writes(stmt: &Stmt) -> Vec<Var> {
    written(&stmt.kind).iter().map(|place| place.var).collect()
}
