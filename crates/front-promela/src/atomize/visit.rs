//! Walks over statements and expressions.

use crate::tree::{Expr, ExprKind, Place, ReceiveArg, Sequence, Stmt, StmtKind};

/// Calls a function for each statement of a sequence, the outer ones first.
pub(super) fn each_stmt<'t>(sequence: &'t Sequence, visit: &mut impl FnMut(&'t Stmt)) {
    for stmt in sequence {
        visit(stmt);
        for inner in parts(stmt) {
            each_stmt(inner, visit);
        }
    }
}

/// The sequences inside of a statement.
pub(super) fn parts(stmt: &Stmt) -> Vec<&Sequence> {
    match &stmt.kind {
        StmtKind::If(choices) | StmtKind::Do(choices) => choices.iter().map(|choice| &choice.body).collect(),
        StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => vec![inner],
        StmtKind::Unless { main, escape } => vec![main, escape],
        StmtKind::Condition(_)
        | StmtKind::Assign(..)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Else
        | StmtKind::Assert(_)
        | StmtKind::Print { .. } => Vec::new(),
    }
}

/// Calls a function for each expression of a statement itself, not of those inside of it; indices of assigned places
/// are among them.
pub(super) fn each_expr<'t>(stmt: &'t Stmt, visit: &mut impl FnMut(&'t Expr)) {
    match &stmt.kind {
        StmtKind::Condition(expr) | StmtKind::Assert(expr) => each_inner(expr, visit),
        StmtKind::Assign(place, expr) => {
            each_index(place, visit);
            each_inner(expr, visit);
        }
        StmtKind::Send { channel, args, .. } => {
            each_inner(channel, visit);
            args.iter().for_each(|arg| each_inner(arg, visit));
        }
        StmtKind::Receive { channel, args, .. } => {
            each_inner(channel, visit);
            each_arg(args, visit);
        }
        StmtKind::Print { args, .. } => args.iter().for_each(|arg| each_inner(arg, visit)),
        StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::Block(_)
        | StmtKind::Atomic(_)
        | StmtKind::DStep(_)
        | StmtKind::Unless { .. }
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Else => {}
    }
}

fn each_index<'t>(place: &'t Place, visit: &mut impl FnMut(&'t Expr)) {
    place.indices.iter().for_each(|index| each_inner(index, visit));
}

fn each_arg<'t>(args: &'t [ReceiveArg], visit: &mut impl FnMut(&'t Expr)) {
    for arg in args {
        match arg {
            ReceiveArg::Match(expr) => each_inner(expr, visit),
            ReceiveArg::Store(place) => each_index(place, visit),
            ReceiveArg::Ignore => {}
        }
    }
}

/// Calls a function for an expression and all those inside of it.
pub(super) fn each_inner<'t>(expr: &'t Expr, visit: &mut impl FnMut(&'t Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Load(place) => each_index(place, visit),
        ExprKind::Unary(_, inner)
        | ExprKind::Query(_, inner)
        | ExprKind::Enabled(inner)
        | ExprKind::PcValue(inner) => each_inner(inner, visit),
        ExprKind::Binary(_, left, right) => {
            each_inner(left, visit);
            each_inner(right, visit);
        }
        ExprKind::If(condition, then, otherwise) => {
            each_inner(condition, visit);
            each_inner(then, visit);
            each_inner(otherwise, visit);
        }
        ExprKind::Run(_, args) => args.iter().for_each(|arg| each_inner(arg, visit)),
        ExprKind::Poll { channel, args, .. } => {
            each_inner(channel, visit);
            each_arg(args, visit);
        }
        ExprKind::Remote { pid, place, .. } => {
            pid.iter().for_each(|pid| each_inner(pid, visit));
            each_index(place, visit);
        }
        ExprKind::At { pid, .. } => pid.iter().for_each(|pid| each_inner(pid, visit)),
        ExprKind::Const(_)
        | ExprKind::Pid
        | ExprKind::ProcessCount
        | ExprKind::Last
        | ExprKind::NonProgress
        | ExprKind::Timeout => {}
    }
}

/// The places that a statement itself writes.
pub(super) fn written(stmt: &Stmt) -> Vec<&Place> {
    match &stmt.kind {
        StmtKind::Assign(place, _) => vec![place],
        StmtKind::Receive { args, .. } => args
            .iter()
            .filter_map(|arg| match arg {
                ReceiveArg::Store(place) => Some(place),
                ReceiveArg::Match(_) | ReceiveArg::Ignore => None,
            })
            .collect(),
        StmtKind::Condition(_)
        | StmtKind::Send { .. }
        | StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::Block(_)
        | StmtKind::Atomic(_)
        | StmtKind::DStep(_)
        | StmtKind::Unless { .. }
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Else
        | StmtKind::Assert(_)
        | StmtKind::Print { .. } => Vec::new(),
    }
}
