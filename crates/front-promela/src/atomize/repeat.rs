//! Loops that are sure to end, by counting.
//!
//! The paper leaves loops alone, for one that never ends inside of an `atomic` keeps everybody else from moving. But
//! `do :: i < N -> a[i] = 0; i++ :: else -> break od` is no more than many local statements. A loop ends where each
//! alternative that comes back to its head asks for a bound on a counter and moves the counter towards it on every way,
//! and nothing else in the loop writes to the counter.

use super::facts::Facts;
use super::guard::mirrored;
use crate::tree::{BinaryOp, Choice, Expr, ExprKind, Place, Sequence, Stmt, StmtKind, Type, Var};
use crate::walk::{walk, walk_statements, written};

/// A bound on a counter.
#[derive(Clone, Copy, Debug)]
struct Bound<'t> {
    var: Var,
    /// The comparison that holds as long as the loop goes on, with the counter on its left side.
    op: BinaryOp,
    limit: &'t Expr,
}

impl Facts<'_> {
    /// Whether a loop is sure to end.
    pub(super) fn ends(&self, choices: &[Choice]) -> bool {
        let returning: Vec<&Choice> = choices.iter().filter(|choice| !leaves(&choice.body)).collect();
        let Some(first) = returning.first() else { return true };
        self.bounds(first).iter().any(|bound| {
            returning.iter().all(|choice| {
                self.bounds(choice).iter().any(|other| {
                    other.var == bound.var
                        && upwards(other.op) == upwards(bound.op)
                        && self.is_counted(choices, other)
                }) && always_writes(&choice.body, bound.var)
            })
        })
    }

    /// The bounds that the guard of an alternative asks for.
    fn bounds<'t>(&self, choice: &'t Choice) -> Vec<Bound<'t>> {
        let mut found = Vec::new();
        if choice.otherwise.is_none()
            && let Some(Stmt { kind: StmtKind::Condition(guard), .. }) = choice.body.first()
        {
            self.bounds_in(guard, &mut found);
        }
        found
    }

    fn bounds_in<'t>(&self, expr: &'t Expr, found: &mut Vec<Bound<'t>>) {
        let ExprKind::Binary(op, left, right) = &expr.kind else { return };
        if *op == BinaryOp::And {
            self.bounds_in(left, found);
            self.bounds_in(right, found);
            return;
        }
        for (counter, limit, op) in [(left, right, Some(*op)), (right, left, mirrored(*op))] {
            let is_bound =
                matches!(op, Some(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Ne));
            if let (ExprKind::Load(place), Some(op), true) = (&counter.kind, op, is_bound)
                && place.indices.is_empty()
                && self.private[place.var]
            {
                found.push(Bound { var: place.var, op, limit });
            }
        }
    }

    /// Whether all that a loop writes to the counter brings it nearer to its limit, without running over.
    fn is_counted(&self, choices: &[Choice], bound: &Bound<'_>) -> bool {
        let up = upwards(bound.op);
        let mut total = 0i64;
        let mut is_good = true;
        for choice in choices {
            walk_statements(&choice.body, &mut |stmt| {
                let in_loop = matches!(&stmt.kind, StmtKind::Do(inner) if writes_in(inner, bound.var));
                is_good &= !in_loop;
                for place in written(&stmt.kind) {
                    if place.var == bound.var {
                        match step(stmt, place) {
                            Some(by) if up.is_none_or(|up| (by > 0) == up) => {
                                total = total.saturating_add(by.abs());
                            }
                            Some(_) | None => is_good = false,
                        }
                    }
                    let mut is_limit = false;
                    walk(bound.limit, &mut |inner| {
                        is_limit |= matches!(&inner.kind, ExprKind::Load(used) if used.var == place.var);
                    });
                    is_good &= !is_limit;
                }
            });
        }
        let (least, most) = range(self.model.vars[bound.var].ty);
        let (limit_least, limit_most) = match &bound.limit.kind {
            ExprKind::Const(value) => (*value, *value),
            ExprKind::Load(place) if place.indices.is_empty() && self.private[place.var] => {
                range(self.model.vars[place.var].ty)
            }
            _ => return false,
        };
        is_good
            && match bound.op {
                BinaryOp::Lt => limit_most - 1 + total <= most,
                BinaryOp::Le => limit_most + total <= most,
                BinaryOp::Gt => limit_least + 1 - total >= least,
                BinaryOp::Ge => limit_least - total >= least,
                // Counting one by one, also around, comes to every value of a small type.
                _ => total == 1 && most <= 255 && limit_least >= least && limit_most <= most,
            }
    }
}

/// Whether a bound is above the counter; `None` where it is on no side.
fn upwards(op: BinaryOp) -> Option<bool> {
    match op {
        BinaryOp::Lt | BinaryOp::Le => Some(true),
        BinaryOp::Gt | BinaryOp::Ge => Some(false),
        _ => None,
    }
}

/// By how much an assignment changes a variable, where that is a constant.
fn step(stmt: &Stmt, place: &Place) -> Option<i64> {
    let StmtKind::Assign(_, value) = &stmt.kind else { return None };
    let ExprKind::Binary(op, left, right) = &value.kind else { return None };
    let is_counter = |expr: &Expr| matches!(&expr.kind, ExprKind::Load(loaded) if loaded.var == place.var && loaded.indices.is_empty());
    let by = match (op, &left.kind, &right.kind) {
        (BinaryOp::Add, _, ExprKind::Const(by)) if is_counter(left) => *by,
        (BinaryOp::Add, ExprKind::Const(by), _) if is_counter(right) => *by,
        (BinaryOp::Sub, _, ExprKind::Const(by)) if is_counter(left) => -*by,
        _ => return None,
    };
    (by != 0 && by.abs() < 1 << 20).then_some(by)
}

fn writes_in(choices: &[Choice], var: Var) -> bool {
    let mut found = false;
    for choice in choices {
        walk_statements(&choice.body, &mut |stmt| {
            found |= written(&stmt.kind).iter().any(|place| place.var == var);
        });
    }
    found
}

/// Whether a sequence always jumps away.
fn leaves(sequence: &Sequence) -> bool {
    sequence.iter().any(|stmt| matches!(stmt.kind, StmtKind::Break | StmtKind::Goto(_)))
}

/// Whether a variable is written on every way through a sequence that does not jump away.
fn always_writes(sequence: &Sequence, var: Var) -> bool {
    sequence.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break | StmtKind::Goto(_) => true,
        StmtKind::Assign(place, _) => place.var == var,
        StmtKind::If(choices) => choices.iter().all(|choice| always_writes(&choice.body, var)),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
            always_writes(inner, var)
        }
        StmtKind::Condition(_)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Do(_)
        | StmtKind::Unless { .. }
        | StmtKind::Else
        | StmtKind::Assert(_)
        | StmtKind::Print { .. } => false,
    })
}

/// The least and the largest value of a type.
fn range(ty: Type) -> (i64, i64) {
    match ty {
        Type::Bit | Type::Bool => (0, 1),
        Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => (0, 255),
        Type::Short => (-32_768, 32_767),
        Type::Int => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Type::Unsigned(bits) => (0, (1 << bits) - 1),
    }
}
