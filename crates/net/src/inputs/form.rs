//! Functions of one input as expressions, kept small.

use crate::{BinaryOp, Expr, IntType};

/// How many operators and operands there are.
pub(super) fn n_nodes(expr: &Expr) -> usize {
    let mut n = 0;
    expr.walk(&mut |_| n += 1);
    n
}

/// The function of a variable, applied to a form of an input with the given values.
pub(super) fn substitute(function: &Expr, form: &Expr, universe: &[(i64, i64)]) -> Expr {
    let inner = |expr: &Expr| substitute(expr, form, universe);
    match function {
        Expr::Var(_) => form.clone(),
        Expr::Unary(op, ty, operand) => Expr::unary(*op, *ty, inner(operand)),
        Expr::Convert(ty, operand) => {
            let operand = inner(operand);
            if fits(&operand, *ty, universe) { operand } else { Expr::convert(*ty, operand) }
        }
        Expr::Binary(op, ty, left, right) => sum(*op, *ty, inner(left), inner(right), universe),
        Expr::If(condition, then, otherwise) => Expr::cond(inner(condition), inner(then), inner(otherwise)),
        Expr::Const(_) | Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => function.clone(),
    }
}

/// Sums with constants become one sum: `x + 1 + 1` is `x + 2`.
fn sum(op: BinaryOp, ty: IntType, left: Expr, right: Expr, universe: &[(i64, i64)]) -> Expr {
    let summand = match (op, &right) {
        (BinaryOp::Add, Expr::Const(value)) => *value,
        (BinaryOp::Sub, Expr::Const(value)) => ty.wrap(value.wrapping_neg()),
        _ => return Expr::binary(op, ty, left, right),
    };
    match left {
        left if summand == 0 && fits(&left, ty, universe) => left,
        Expr::Binary(BinaryOp::Add, inner, operand, before) if inner == ty => match *before {
            Expr::Const(before) => {
                let both = Expr::Const(ty.wrap(before.wrapping_add(summand)));
                sum(BinaryOp::Add, ty, *operand, both, universe)
            }
            before => {
                let left = Expr::Binary(BinaryOp::Add, inner, operand, Box::new(before));
                Expr::binary(BinaryOp::Add, ty, left, Expr::Const(summand))
            }
        },
        left => Expr::binary(BinaryOp::Add, ty, left, Expr::Const(summand)),
    }
}

/// Whether all values of a form are canonical in the type, so that conversion changes nothing.
fn fits(form: &Expr, ty: IntType, universe: &[(i64, i64)]) -> bool {
    // Unsigned 64-bit values look like signed ones.
    let contains = |inner: IntType| match (inner.signed, ty.signed) {
        _ if ty.bits == 64 => true,
        (true, true) | (false, false) => inner.bits <= ty.bits,
        (false, true) => inner.bits < ty.bits,
        (true, false) => false,
    };
    match form {
        Expr::Const(value) => ty.contains(*value),
        Expr::Var(_) => universe.iter().all(|&(low, high)| ty.contains(low) && ty.contains(high)),
        Expr::Unary(_, inner, _) | Expr::Convert(inner, _) => contains(*inner),
        Expr::Binary(op, inner, ..) => match op {
            op if op.is_comparison() => ty.contains(1),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl | BinaryOp::Xor => contains(*inner),
            // These do not wrap, so what they give is as canonical as their operands: not looked into.
            _ => ty.bits == 64,
        },
        Expr::If(_, then, otherwise) => fits(then, ty, universe) && fits(otherwise, ty, universe),
        Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => ty.bits == 64,
    }
}
