//! The values of constant expressions.

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::{Diagnostic, Span};

use super::Sema;
use crate::tree::{BinaryOp, Expr, ExprKind, Lvalue, LvalueKind, UnaryOp};
use crate::types::Type;

impl<'a> Sema<'a> {
    /// The value of an integer expression, where it is constant. A read of a `const` variable with a
    /// constant initialiser counts too: no run can change it.
    pub(super) fn fold(&self, expr: &Expr) -> Option<i128> {
        self.evaluate(expr, true)
    }

    /// The same as C itself sees it: no variable is read.
    pub(super) fn fold_strict(&self, expr: &Expr) -> Option<i128> {
        self.evaluate(expr, false)
    }

    fn evaluate(&self, expr: &Expr, read: bool) -> Option<i128> {
        if let Type::Pointer(_) = expr.ty {
            return self.address(expr, read);
        }
        let Type::Int(kind) = expr.ty else { return None };
        let value = match &expr.kind {
            ExprKind::Int(value) => *value,
            ExprKind::Cast(inner) => match &inner.ty {
                Type::Int(_) | Type::Pointer(_) => self.evaluate(inner, read)?,
                Type::Float(_) => float_to_int(float_value(inner)?)?,
                Type::Void
                | Type::Thread
                | Type::Array(..)
                | Type::Record(_)
                | Type::Function(_)
                | Type::Sync(_) => return None,
            },
            ExprKind::Unary(op, operand) => {
                let value = match &operand.ty {
                    Type::Float(_) => i128::from(float_value(operand)? != 0.0),
                    _ => self.evaluate(operand, read)?,
                };
                match op {
                    UnaryOp::Negate => value.checked_neg()?,
                    UnaryOp::Complement => !value,
                    UnaryOp::Not => i128::from(value == 0),
                }
            }
            ExprKind::Binary(op, left, right) => {
                if let (Type::Float(_), Type::Float(_)) = (&left.ty, &right.ty) {
                    return compare_floats(*op, float_value(left)?, float_value(right)?);
                }
                let (left, right) = (self.evaluate(left, read)?, self.evaluate(right, read)?);
                apply(*op, left, right, kind.bits(self.model))?
            }
            ExprKind::PointerDifference(left, right) => {
                let Type::Pointer(target) = &left.ty else { return None };
                let size = i128::from(self.size_of(&target.ty)?);
                let bytes = self.address(left, read)?.checked_sub(self.address(right, read)?)?;
                bytes.checked_div(size)?
            }
            ExprKind::LogicalAnd(left, right) => {
                i128::from(self.truth(left, read)? && self.truth(right, read)?)
            }
            ExprKind::LogicalOr(left, right) => {
                i128::from(self.truth(left, read)? || self.truth(right, read)?)
            }
            ExprKind::Conditional(condition, yes, no) => {
                let chosen = if self.truth(condition, read)? { yes } else { no };
                self.evaluate(chosen, read)?
            }
            ExprKind::Load(lvalue) if read => match lvalue.kind {
                LvalueKind::Variable(variable) => *self.constants.get(&variable)?,
                LvalueKind::Index(..)
                | LvalueKind::Deref(_)
                | LvalueKind::Field(..)
                | LvalueKind::String(_)
                | LvalueKind::Compound(..) => return None,
            },
            ExprKind::Load(_)
            | ExprKind::Float(_)
            | ExprKind::AddressOf(_)
            | ExprKind::Decay(_)
            | ExprKind::FunctionRef(_)
            | ExprKind::PointerOffset { .. }
            | ExprKind::Comma(..)
            | ExprKind::Assign(..)
            | ExprKind::CompoundAssign { .. }
            | ExprKind::Step { .. }
            | ExprKind::Call(..)
            | ExprKind::Statement(_)
            | ExprKind::Unsupported(_) => return None,
        };
        Some(kind.wrap(self.model, value))
    }

    fn truth(&self, expr: &Expr, read: bool) -> Option<bool> {
        match &expr.ty {
            Type::Float(_) => float_value(expr).map(|value| value != 0.0),
            _ => self.evaluate(expr, read).map(|value| value != 0),
        }
    }

    /// The number of a pointer that does not depend on any object, as in `&((struct s *) 0)->f`.
    fn address(&self, expr: &Expr, read: bool) -> Option<i128> {
        match &expr.kind {
            ExprKind::Cast(inner) => match inner.ty {
                Type::Int(_) | Type::Pointer(_) => self.evaluate(inner, read),
                Type::Void
                | Type::Thread
                | Type::Float(_)
                | Type::Array(..)
                | Type::Record(_)
                | Type::Function(_)
                | Type::Sync(_) => None,
            },
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => self.object_address(lvalue, read),
            ExprKind::PointerOffset { pointer, offset, negate } => {
                let Type::Pointer(target) = &expr.ty else { return None };
                let size = i128::from(self.size_of(&target.ty)?);
                let distance = self.evaluate(offset, read)?.checked_mul(size)?;
                let start = self.address(pointer, read)?;
                if *negate { start.checked_sub(distance) } else { start.checked_add(distance) }
            }
            _ => None,
        }
    }

    fn object_address(&self, lvalue: &Lvalue, read: bool) -> Option<i128> {
        match &lvalue.kind {
            LvalueKind::Deref(pointer) => self.address(pointer, read),
            LvalueKind::Field(object, field) => {
                let Type::Record(record) = object.ty.ty else { return None };
                let data = self.program.records[record].fields.as_ref()?.get(*field)?;
                self.object_address(object, read)?.checked_add(i128::from(data.bit_offset / 8))
            }
            LvalueKind::Index(array, index) => {
                let size = i128::from(self.size_of(&lvalue.ty.ty)?);
                let distance = self.evaluate(index, read)?.checked_mul(size)?;
                self.object_address(array, read)?.checked_add(distance)
            }
            LvalueKind::Variable(_) | LvalueKind::String(_) | LvalueKind::Compound(..) => None,
        }
    }

    /// Checks an expression that must be an integer constant.
    pub(super) fn integer_constant(
        &mut self,
        node: &'a Node<ast::Expression>,
        what: &str,
    ) -> Option<(i128, Expr)> {
        let expr = self.rvalue_expr(node);
        if Self::is_poison(&expr) {
            return None;
        }
        match (&expr.ty, self.fold(&expr)) {
            (Type::Int(_), Some(value)) => Some((value, expr)),
            _ => {
                self.not_constant(expr.span, what);
                None
            }
        }
    }

    pub(super) fn not_constant(&mut self, span: Span, what: &str) {
        self.report(
            Diagnostic::error("not-constant", format!("{what} must be constant"))
                .at(span, "its value is not known before the program runs"),
        );
    }

    /// Whether the value is known before the program runs, up to the addresses of its objects.
    pub(super) fn is_static(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::FunctionRef(_) | ExprKind::Unsupported(_) => {
                true
            }
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => self.is_static_object(lvalue),
            ExprKind::Load(lvalue) => match &lvalue.kind {
                LvalueKind::Variable(variable) => self.constants.contains_key(variable),
                LvalueKind::Compound(..) => true,
                LvalueKind::Index(..)
                | LvalueKind::Deref(_)
                | LvalueKind::Field(..)
                | LvalueKind::String(_) => false,
            },
            ExprKind::Unary(_, inner) | ExprKind::Cast(inner) => self.is_static(inner),
            ExprKind::Binary(_, left, right)
            | ExprKind::PointerDifference(left, right)
            | ExprKind::LogicalAnd(left, right)
            | ExprKind::LogicalOr(left, right) => self.is_static(left) && self.is_static(right),
            ExprKind::PointerOffset { pointer, offset, .. } => {
                self.is_static(pointer) && self.is_static(offset)
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.is_static(condition) && self.is_static(yes) && self.is_static(no)
            }
            ExprKind::Comma(..)
            | ExprKind::Assign(..)
            | ExprKind::CompoundAssign { .. }
            | ExprKind::Step { .. }
            | ExprKind::Call(..)
            | ExprKind::Statement(_) => false,
        }
    }

    fn is_static_object(&self, lvalue: &Lvalue) -> bool {
        match &lvalue.kind {
            LvalueKind::Variable(variable) => {
                use crate::tree::Storage;
                match self.program.variables[*variable].storage {
                    Storage::Global | Storage::Static(_) => true,
                    Storage::Local(_) | Storage::Param(_) | Storage::ThreadLocal => false,
                }
            }
            LvalueKind::Index(array, index) => self.is_static_object(array) && self.is_static(index),
            LvalueKind::Deref(pointer) => self.is_static(pointer),
            LvalueKind::Field(object, _) => self.is_static_object(object),
            LvalueKind::String(_) | LvalueKind::Compound(..) => true,
        }
    }
}

/// The result of an operator on integers, before it is cut to the type. Division by zero has none.
fn apply(op: BinaryOp, left: i128, right: i128, bits: u32) -> Option<i128> {
    let shift = || u32::try_from(right).ok().filter(|&shift| shift < bits);
    Some(match op {
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Div => left.checked_div(right)?,
        BinaryOp::Rem => left.checked_rem(right)?,
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Shl => left.wrapping_shl(shift()?),
        BinaryOp::Shr => left.wrapping_shr(shift()?),
        BinaryOp::Less => i128::from(left < right),
        BinaryOp::LessEqual => i128::from(left <= right),
        BinaryOp::Greater => i128::from(left > right),
        BinaryOp::GreaterEqual => i128::from(left >= right),
        BinaryOp::Equal => i128::from(left == right),
        BinaryOp::NotEqual => i128::from(left != right),
        BinaryOp::And => left & right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Or => left | right,
    })
}

fn compare_floats(op: BinaryOp, left: f64, right: f64) -> Option<i128> {
    Some(i128::from(match op {
        BinaryOp::Less => left < right,
        BinaryOp::LessEqual => left <= right,
        BinaryOp::Greater => left > right,
        BinaryOp::GreaterEqual => left >= right,
        BinaryOp::Equal => left == right,
        BinaryOp::NotEqual => left != right,
        BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Xor
        | BinaryOp::Or => return None,
    }))
}

/// The value of a simple floating constant expression.
fn float_value(expr: &Expr) -> Option<f64> {
    let is_float = matches!(expr.ty, Type::Float(_));
    match &expr.kind {
        ExprKind::Float(value) => Some(*value),
        ExprKind::Int(value) => Some(*value as f64),
        ExprKind::Cast(inner) if is_float => float_value(inner),
        ExprKind::Unary(UnaryOp::Negate, inner) if is_float => Some(-float_value(inner)?),
        ExprKind::Binary(op, left, right) if is_float => {
            let (left, right) = (float_value(left)?, float_value(right)?);
            match op {
                BinaryOp::Mul => Some(left * right),
                BinaryOp::Div => Some(left / right),
                BinaryOp::Add => Some(left + right),
                BinaryOp::Sub => Some(left - right),
                _ => None,
            }
        }
        _ => None,
    }
}

fn float_to_int(value: f64) -> Option<i128> {
    let limit = 2f64.powi(100);
    (value.is_finite() && value.abs() < limit).then_some(value as i128)
}
