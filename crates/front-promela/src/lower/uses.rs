//! Which variables a statement reads and writes by name.

use crate::tree::{Expr, ExprKind, Model, Place, ReceiveArg, StmtKind, Var};

/// Variables by the way in which they are used. An element of an array counts for neither: it is not known which one it
/// is. Its index is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    pub(super) reads: Vec<Var>,
    pub(super) writes: Vec<Var>,
}

/// The uses of a statement that is one step.
pub(super) fn statement_uses(model: &Model, statement: &StmtKind) -> Uses {
    let mut uses = Uses::default();
    let mut read = |expr: &Expr, uses: &mut Uses| {
        walk(expr, &mut |inner| {
            if let ExprKind::Load(place) = &inner.kind
                && model.vars[place.var].dims.is_empty()
            {
                uses.reads.push(place.var);
            }
        });
    };
    let write = |place: &Place, uses: &mut Uses, read: &mut dyn FnMut(&Expr, &mut Uses)| {
        if model.vars[place.var].dims.is_empty() {
            uses.writes.push(place.var);
        }
        place.indices.iter().for_each(|index| read(index, uses));
    };
    match statement {
        StmtKind::Condition(expr) | StmtKind::Assert(expr) => read(expr, &mut uses),
        StmtKind::Assign(place, value) => {
            write(place, &mut uses, &mut read);
            read(value, &mut uses);
        }
        StmtKind::Send { channel, args, .. } => {
            read(channel, &mut uses);
            args.iter().for_each(|arg| read(arg, &mut uses));
        }
        StmtKind::Receive { channel, args, .. } => {
            read(channel, &mut uses);
            for arg in args {
                match arg {
                    ReceiveArg::Match(expr) => read(expr, &mut uses),
                    ReceiveArg::Store(place) => write(place, &mut uses, &mut read),
                    ReceiveArg::Ignore => {}
                }
            }
        }
        StmtKind::Print { args, .. } => args.iter().for_each(|arg| read(arg, &mut uses)),
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
    uses
}

/// Calls `visit` on an expression and on all below it.
pub(crate) fn walk<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Const(_)
        | ExprKind::Pid
        | ExprKind::ProcessCount
        | ExprKind::Last
        | ExprKind::NonProgress
        | ExprKind::Timeout => {}
        ExprKind::Load(place) => place.indices.iter().for_each(|index| walk(index, visit)),
        ExprKind::Unary(_, operand)
        | ExprKind::Query(_, operand)
        | ExprKind::Enabled(operand)
        | ExprKind::PcValue(operand) => walk(operand, visit),
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
            for arg in args {
                match arg {
                    ReceiveArg::Match(expr) => walk(expr, visit),
                    ReceiveArg::Store(place) => place.indices.iter().for_each(|index| walk(index, visit)),
                    ReceiveArg::Ignore => {}
                }
            }
        }
        ExprKind::Remote { pid, place, .. } => {
            pid.iter().for_each(|pid| walk(pid, visit));
            place.indices.iter().for_each(|index| walk(index, visit));
        }
        ExprKind::At { pid, .. } => pid.iter().for_each(|pid| walk(pid, visit)),
    }
}

/// Calls `visit` on every statement of a sequence and below.
pub(crate) fn walk_statements<'t>(
    sequence: &'t [crate::tree::Stmt],
    visit: &mut dyn FnMut(&'t crate::tree::Stmt),
) {
    for statement in sequence {
        visit(statement);
        match &statement.kind {
            StmtKind::If(choices) | StmtKind::Do(choices) => {
                choices.iter().for_each(|choice| walk_statements(&choice.body, visit));
            }
            StmtKind::Block(inside) | StmtKind::Atomic(inside) | StmtKind::DStep(inside) => {
                walk_statements(inside, visit);
            }
            StmtKind::Unless { main, escape } => {
                walk_statements(main, visit);
                walk_statements(escape, visit);
            }
            StmtKind::Condition(_)
            | StmtKind::Assign(..)
            | StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::Goto(_)
            | StmtKind::Else
            | StmtKind::Break
            | StmtKind::Assert(_)
            | StmtKind::Print { .. } => {}
        }
    }
}

/// The expressions of one statement, without those of statements below it.
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
            for arg in args {
                match arg {
                    ReceiveArg::Match(expr) => visit(expr),
                    ReceiveArg::Store(place) => place.indices.iter().for_each(&mut *visit),
                    ReceiveArg::Ignore => {}
                }
            }
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
