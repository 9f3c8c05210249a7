//! Expressions that decide a branch.

use pdnet_net::{Action, Expr, Place};

use pdnet_source::Span;

use super::Lowerer;
use super::step::Step;
use crate::tree::{BinaryOp, Callee, Expr as TreeExpr, ExprKind, UnaryOp};
use crate::types::{IntKind, Type};

impl Lowerer<'_> {
    /// Control goes to one of the places, as the expression is true or false. At least one step is made,
    /// so that a loop without a body is a loop.
    pub(crate) fn condition(&mut self, expr: &TreeExpr, on_true: Place, on_false: Place) {
        self.condition_within(expr, on_true, on_false, Shown { span: expr.span, negated: false });
    }

    fn condition_within(&mut self, expr: &TreeExpr, on_true: Place, on_false: Place, shown: Shown) {
        match &expr.kind {
            ExprKind::Cast(operand) if self.keeps_truth(&operand.ty, &expr.ty) => {
                self.condition_within(operand, on_true, on_false, shown);
            }
            ExprKind::Unary(UnaryOp::Not, operand) => {
                self.condition_within(operand, on_false, on_true, shown.negate());
            }
            ExprKind::Binary(BinaryOp::NotEqual, operand, zero) if is_zero(zero) => {
                self.condition_within(operand, on_true, on_false, shown);
            }
            ExprKind::Binary(BinaryOp::Equal, operand, zero) if is_zero(zero) => {
                self.condition_within(operand, on_false, on_true, shown.negate());
            }
            ExprKind::LogicalAnd(left, right) if self.must_split(expr) => {
                let middle = self.fresh_place(right.span);
                self.condition(left, middle, on_false);
                self.frame.current = Some(middle);
                self.condition(right, on_true, on_false);
            }
            ExprKind::LogicalOr(left, right) if self.must_split(expr) => {
                let middle = self.fresh_place(right.span);
                self.condition(left, on_true, middle);
                self.frame.current = Some(middle);
                self.condition(right, on_true, on_false);
            }
            ExprKind::Call(Callee::Direct(function), _) if self.is_input(*function) => {
                // Whatever the type, all that is asked is whether it is zero: two cases are exact.
                let name = self.program.functions[*function].name.clone();
                let label = self.text(shown.span);
                let step = |action, to| Step::new(action, label.clone(), Some(to)).calling(&name);
                let steps = vec![step(shown.action(true), on_true), step(shown.action(false), on_false)];
                self.emit(expr.span, steps);
            }
            _ => {
                let value = self.truth_value(expr);
                let label = self.text(shown.span);
                let when_true = Step::new(shown.action(true), label.clone(), Some(on_true));
                let when_false = Step::new(shown.action(false), label, Some(on_false));
                let steps = match value {
                    Expr::Const(0) => vec![when_false],
                    Expr::Const(_) => vec![when_true],
                    value => vec![
                        when_true.when(Expr::truth(value.clone())),
                        when_false.when(Expr::logical_not(value)),
                    ],
                };
                self.emit(expr.span, steps);
            }
        }
    }

    /// Whether the sides of `&&` or `||` need steps of their own.
    fn must_split(&self, expr: &TreeExpr) -> bool {
        self.class(expr).steps
    }

    /// Whether a conversion keeps apart what is zero and what is not.
    fn keeps_truth(&self, from: &Type, to: &Type) -> bool {
        if matches!(from, Type::Float(_)) || matches!(to, Type::Float(_)) {
            return false;
        }
        if *to == Type::Int(IntKind::Bool) {
            return self.int_type_of(from).is_some();
        }
        if matches!((from, to), (Type::Pointer(_), Type::Int(_))) {
            // An address is not zero as a number either; of a part of it nothing is known.
            return self.int_type_of(to).is_some_and(|to| to.bits == self.pointer_bits());
        }
        match (self.int_type_of(from), self.int_type_of(to)) {
            (Some(from), Some(to)) => to.bits >= from.bits,
            _ => false,
        }
    }
}

/// The condition as it stands in the source, of which a part decides: `x == 0` is decided by `x`.
#[derive(Clone, Copy)]
struct Shown {
    span: Span,
    /// It is true where the deciding part is false.
    negated: bool,
}

impl Shown {
    const fn negate(self) -> Self {
        Self { span: self.span, negated: !self.negated }
    }

    /// The branch that is taken when the deciding part has this value.
    const fn action(self, value: bool) -> Action {
        if value == self.negated { Action::BranchFalse } else { Action::BranchTrue }
    }
}

fn is_zero(expr: &TreeExpr) -> bool {
    if matches!(expr.ty, Type::Float(_)) {
        return false;
    }
    match &expr.kind {
        ExprKind::Int(0) => true,
        ExprKind::Cast(operand) => is_zero(operand),
        _ => false,
    }
}
