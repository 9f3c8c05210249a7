//! Expressions that decide a branch.

use pdnet_net::{Action, Expr, Place};

use super::Lowerer;
use super::step::Step;
use crate::tree::{BinaryOp, Callee, Expr as TreeExpr, ExprKind, UnaryOp};
use crate::types::{IntKind, Type};

impl Lowerer<'_> {
    /// Control goes to one of the places, as the expression is true or false. At least one step is made,
    /// so that a loop without a body is a loop.
    pub(crate) fn condition(&mut self, expr: &TreeExpr, on_true: Place, on_false: Place) {
        match &expr.kind {
            ExprKind::Cast(operand) if self.keeps_truth(&operand.ty, &expr.ty) => {
                self.condition(operand, on_true, on_false);
            }
            ExprKind::Unary(UnaryOp::Not, operand) => self.condition(operand, on_false, on_true),
            ExprKind::Binary(BinaryOp::NotEqual, operand, zero) if is_zero(zero) => {
                self.condition(operand, on_true, on_false);
            }
            ExprKind::Binary(BinaryOp::Equal, operand, zero) if is_zero(zero) => {
                self.condition(operand, on_false, on_true);
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
                let label = self.text(expr.span);
                let step = |action, to| Step::new(action, label.clone(), Some(to)).calling(&name);
                let steps = vec![step(Action::BranchTrue, on_true), step(Action::BranchFalse, on_false)];
                self.emit(expr.span, steps);
            }
            _ => {
                let value = self.value(expr);
                let label = self.text(expr.span);
                let steps = match value {
                    Expr::Const(0) => vec![Step::new(Action::BranchFalse, label, Some(on_false))],
                    Expr::Const(_) => vec![Step::new(Action::BranchTrue, label, Some(on_true))],
                    value => vec![
                        Step::new(Action::BranchTrue, label.clone(), Some(on_true))
                            .when(Expr::truth(value.clone())),
                        Step::new(Action::BranchFalse, label, Some(on_false)).when(Expr::logical_not(value)),
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
        if *to == Type::Int(IntKind::Bool) {
            return self.int_type_of(from).is_some();
        }
        match (self.int_type_of(from), self.int_type_of(to)) {
            (Some(from), Some(to)) => to.bits >= from.bits,
            _ => false,
        }
    }
}

fn is_zero(expr: &TreeExpr) -> bool {
    match &expr.kind {
        ExprKind::Int(0) => true,
        ExprKind::Cast(operand) => is_zero(operand),
        _ => false,
    }
}
