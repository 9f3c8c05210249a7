//! Walks over statements and expressions: for the lowering and for `atomize`.

use crate::tree::{Expr, ExprKind, Init, Model, Place, ReceiveArg, Sequence, Stmt, StmtKind};

/// Calls a function for each statement of a sequence, the outer ones first.
pub(crate) fn walk_statements<'t>(sequence: &'t [Stmt], visit: &mut dyn FnMut(&'t Stmt)) {
    for stmt in sequence {
        visit(stmt);
        for inner in parts(stmt) {
            walk_statements(inner, visit);
        }
    }
}

/// The sequences inside of a statement.
pub(crate) fn parts(stmt: &Stmt) -> Vec<&Sequence> {
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

/// The expressions of one statement, without what is inside of them and without those of statements inside of it;
/// indices of assigned places are among them.
pub(crate) fn expressions<'t>(statement: &'t StmtKind, visit: &mut dyn FnMut(&'t Expr)) {
    match statement {
        StmtKind::Condition(expr) | StmtKind::Assert(expr) => visit(expr),
        StmtKind::Assign(place, value) => {
            place.indices.iter().for_each(&mut *visit);
            visit(value);
        }
        StmtKind::Send { channel, args, .. } => {
            visit(channel);
            args.iter().for_each(visit);
        }
        StmtKind::Receive { channel, args, .. } => {
            visit(channel);
            args.iter().flat_map(parts_of_arg).for_each(visit);
        }
        StmtKind::Print { args, .. } => args.iter().for_each(visit),
        StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::Block(_)
        | StmtKind::Atomic(_)
        | StmtKind::DStep(_)
        | StmtKind::Unless { .. }
        | StmtKind::Goto(_)
        | StmtKind::Else
        | StmtKind::Break => {}
    }
}

/// The expressions of a field of a receive: what it must be, or the indices of where it goes.
fn parts_of_arg(arg: &ReceiveArg) -> &[Expr] {
    match arg {
        ReceiveArg::Match(expr) => std::slice::from_ref(expr),
        ReceiveArg::Store(place) => &place.indices,
        ReceiveArg::Ignore => &[],
    }
}

/// Calls a function for an expression and all those inside of it, the outer ones first.
pub(crate) fn walk<'t>(expr: &'t Expr, visit: &mut dyn FnMut(&'t Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Load(place) => place.indices.iter().for_each(|index| walk(index, visit)),
        ExprKind::Unary(_, inner)
        | ExprKind::Query(_, inner)
        | ExprKind::Enabled(inner)
        | ExprKind::PcValue(inner) => walk(inner, visit),
        ExprKind::Binary(_, left, right) => {
            walk(left, visit);
            walk(right, visit);
        }
        ExprKind::If(condition, then, otherwise) => {
            walk(condition, visit);
            walk(then, visit);
            walk(otherwise, visit);
        }
        ExprKind::Run(_, args) => args.iter().for_each(|arg| walk(arg, visit)),
        ExprKind::Poll { channel, args, .. } => {
            walk(channel, visit);
            args.iter().flat_map(parts_of_arg).for_each(|part| walk(part, visit));
        }
        ExprKind::Remote { pid, place, .. } => {
            pid.iter().for_each(|pid| walk(pid, visit));
            place.indices.iter().for_each(|index| walk(index, visit));
        }
        ExprKind::At { pid, .. } => pid.iter().for_each(|pid| walk(pid, visit)),
        ExprKind::Const(_)
        | ExprKind::Pid
        | ExprKind::ProcessCount
        | ExprKind::Last
        | ExprKind::NonProgress
        | ExprKind::Anything
        | ExprKind::Timeout => {}
    }
}

/// Calls a function for all expressions of a statement itself, also for those inside of others.
pub(crate) fn each_expr<'t>(stmt: &'t Stmt, visit: &mut dyn FnMut(&'t Expr)) {
    expressions(&stmt.kind, &mut |expr| walk(expr, visit));
}

/// Calls a function for all expressions of the processes of a model, also for those inside of others: statements,
/// `provided`, first values of variables.
pub(crate) fn each_inside_expr<'t>(model: &'t Model, visit: &mut dyn FnMut(&'t Expr)) {
    for proc in model.procs.iter() {
        proc.provided.iter().for_each(|expr| walk(expr, visit));
        walk_statements(&proc.body, &mut |stmt| each_expr(stmt, visit));
    }
    for data in model.vars.iter() {
        match &data.init {
            Init::Value(expr) => walk(expr, visit),
            Init::List(exprs) => exprs.iter().for_each(|expr| walk(expr, visit)),
            Init::Zero | Init::Channel(_) => {}
        }
    }
}

/// The places that a statement itself writes.
pub(crate) fn written(statement: &StmtKind) -> Vec<&Place> {
    match statement {
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

/// Whether two places are written alike, wherever they stand.
pub(crate) fn same_place(one: &Place, other: &Place) -> bool {
    one.var == other.var && all_same(&one.indices, &other.indices)
}

/// Whether two expressions are written alike, wherever they stand.
pub(crate) fn same_expr(one: &Expr, other: &Expr) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Const(one), ExprKind::Const(other)) => one == other,
        (ExprKind::Load(one), ExprKind::Load(other)) => same_place(one, other),
        (ExprKind::Unary(op, one), ExprKind::Unary(other_op, other)) => {
            op == other_op && same_expr(one, other)
        }
        (ExprKind::Binary(op, left, right), ExprKind::Binary(other_op, other_left, other_right)) => {
            op == other_op && same_expr(left, other_left) && same_expr(right, other_right)
        }
        (ExprKind::If(c, t, e), ExprKind::If(other_c, other_t, other_e)) => {
            same_expr(c, other_c) && same_expr(t, other_t) && same_expr(e, other_e)
        }
        (ExprKind::Query(query, one), ExprKind::Query(other_query, other)) => {
            query == other_query && same_expr(one, other)
        }
        (ExprKind::Pid, ExprKind::Pid)
        | (ExprKind::ProcessCount, ExprKind::ProcessCount)
        | (ExprKind::Last, ExprKind::Last)
        | (ExprKind::NonProgress, ExprKind::NonProgress)
        | (ExprKind::Timeout, ExprKind::Timeout) => true,
        // What starts a process, or looks into another one, is never taken for the same.
        (
            ExprKind::Const(_)
            | ExprKind::Load(_)
            | ExprKind::Pid
            | ExprKind::ProcessCount
            | ExprKind::Last
            | ExprKind::NonProgress
            | ExprKind::Anything
            | ExprKind::Timeout
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::If(..)
            | ExprKind::Run(..)
            | ExprKind::Query(..)
            | ExprKind::Poll { .. }
            | ExprKind::Enabled(_)
            | ExprKind::PcValue(_)
            | ExprKind::Remote { .. }
            | ExprKind::At { .. },
            _,
        ) => false,
    }
}

fn all_same(some: &[Expr], others: &[Expr]) -> bool {
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| same_expr(one, other))
}
