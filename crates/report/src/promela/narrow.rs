//! What a condition that is true says of the variables in it.

use pdnet_base::IndexVec;
use pdnet_net::{BinaryOp, Expr, IntType, Var};

use super::span::{Span, span_of};

/// Narrows the spans of variables by a condition that is true, or false; `false` where it cannot be.
pub(super) fn narrow(condition: &Expr, truth: bool, spans: &mut IndexVec<Var, Span>) -> bool {
    let of = |expr: &Expr, spans: &IndexVec<Var, Span>| span_of(expr, &|var| spans[var]);
    if of(condition, spans).truth().is_some_and(|known| known != truth) {
        return false;
    }
    match condition {
        // A conjunction that is true, and a disjunction that is false.
        Expr::If(first, second, third) if truth && **third == Expr::Const(0) => {
            narrow(first, true, spans) && narrow(second, true, spans)
        }
        Expr::If(first, second, third) if !truth && **second == Expr::Const(1) => {
            narrow(first, false, spans) && narrow(third, false, spans)
        }
        // A condition compared with 0.
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, left, right)
            if left.is_boolean() && **right == Expr::Const(0) =>
        {
            narrow(left, (*op == BinaryOp::Ne) == truth, spans)
        }
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), _, left, right) => {
            if (*op == BinaryOp::Eq) != truth {
                return true;
            }
            let (a, b) = (of(left, spans), of(right, spans));
            let Some(both) = a.meet(b) else { return false };
            limit(left, both, spans) && limit(right, both, spans)
        }
        Expr::Binary(BinaryOp::Lt, ty, left, right) => match truth {
            true => less(*ty, left, right, 1, spans),
            false => less(*ty, right, left, 0, spans),
        },
        Expr::Binary(BinaryOp::Le, ty, left, right) => match truth {
            true => less(*ty, left, right, 0, spans),
            false => less(*ty, right, left, 1, spans),
        },
        _ => true,
    }
}

/// Narrows by `left + gap <= right`.
fn less(ty: IntType, left: &Expr, right: &Expr, gap: i128, spans: &mut IndexVec<Var, Span>) -> bool {
    let (a, b) = (span_of(left, &|var| spans[var]), span_of(right, &|var| spans[var]));
    if !ty.signed && b.low < 0 {
        return true;
    }
    // Without a sign, what is below something that does not look negative does not look negative.
    let low = if ty.signed { a.low } else { a.low.max(0) };
    let below = Span::new(low, a.high.min(b.high - gap));
    let above = Span::new(b.low.max(low + gap), b.high);
    below.low <= below.high
        && above.low <= above.high
        && limit(left, below, spans)
        && limit(right, above, spans)
}

/// Narrows an expression that is a variable, possibly converted in a way that changes nothing.
fn limit(expr: &Expr, span: Span, spans: &mut IndexVec<Var, Span>) -> bool {
    match expr {
        Expr::Var(var) => match spans[*var].meet(span) {
            Some(both) => {
                spans[*var] = both;
                true
            }
            None => false,
        },
        Expr::Convert(ty, operand) => {
            let inner = span_of(operand, &|var| spans[var]);
            !inner.is_within(Span::of_type(*ty)) || limit(operand, span, spans)
        }
        _ => true,
    }
}
