//! Floating point: a value is kept as the bits that stand for it in memory (IEEE 754).

use pdnet_net::{BinaryOp as NetOp, Expr, IntType, UnaryOp as NetUnary};
use pdnet_source::Span;

use super::Lowerer;
use super::value::convert;
use crate::tree::BinaryOp;
use crate::types::{FloatKind, Type};

/// The bits of a value of the type.
fn bits_of(ty: &Type) -> IntType {
    match ty {
        Type::Float(FloatKind::Float) => IntType { bits: 32, signed: false },
        _ => IntType::U64,
    }
}

/// Whether a floating value is not zero.
pub(crate) fn truth(ty: &Type, value: Expr) -> Expr {
    Expr::logical_not(Expr::binary(NetOp::FloatEq, bits_of(ty), value, Expr::Const(0)))
}

impl Lowerer<'_> {
    /// A constant.
    pub(crate) fn float_constant(&mut self, value: f64, ty: &Type, span: Span) -> Expr {
        self.int_type_at(ty, span);
        match ty {
            #[expect(clippy::cast_possible_truncation, reason = "rounds as the compiler does")]
            Type::Float(FloatKind::Float) => Expr::Const(i64::from((value as f32).to_bits())),
            _ => Expr::Const(value.to_bits().cast_signed()),
        }
    }

    /// An operator on floating values.
    pub(crate) fn float_binary(&mut self, op: BinaryOp, ty: IntType, l: Expr, r: Expr, span: Span) -> Expr {
        let (op, l, r) = match op {
            BinaryOp::Add => (NetOp::FloatAdd, l, r),
            BinaryOp::Sub => (NetOp::FloatSub, l, r),
            BinaryOp::Mul => (NetOp::FloatMul, l, r),
            BinaryOp::Div => (NetOp::FloatDiv, l, r),
            BinaryOp::Less => (NetOp::FloatLt, l, r),
            BinaryOp::LessEqual => (NetOp::FloatLe, l, r),
            BinaryOp::Greater => (NetOp::FloatLt, r, l),
            BinaryOp::GreaterEqual => (NetOp::FloatLe, r, l),
            BinaryOp::Equal => (NetOp::FloatEq, l, r),
            BinaryOp::NotEqual => return Expr::logical_not(Expr::binary(NetOp::FloatEq, ty, l, r)),
            BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::And | BinaryOp::Xor | BinaryOp::Or => {
                self.unsupported(span, "this operator on floating values is");
                return Expr::Const(0);
            }
        };
        Expr::binary(op, ty, l, r)
    }

    /// A conversion from or to a floating type.
    pub(crate) fn float_converted(&mut self, value: Expr, from: &Type, to: &Type, span: Span) -> Expr {
        let (from_int, to_int) = (self.int_type_at(from, span), self.int_type_at(to, span));
        match (from, to) {
            (Type::Float(from), Type::Float(to)) => match (from, to) {
                (FloatKind::Float, FloatKind::Double) => Expr::unary(NetUnary::FloatWiden, to_int, value),
                (FloatKind::Double, FloatKind::Float) => Expr::unary(NetUnary::FloatNarrow, to_int, value),
                _ => value,
            },
            (_, Type::Float(_)) => {
                let op = if from_int.signed || from_int.bits < 64 {
                    NetUnary::FloatFromSigned
                } else {
                    NetUnary::FloatFromUnsigned
                };
                Expr::unary(op, to_int, value)
            }
            (Type::Float(_), _) => {
                let op = if to_int.signed || to_int.bits < 64 {
                    NetUnary::FloatToSigned
                } else {
                    NetUnary::FloatToUnsigned
                };
                // Beyond the range of the type, the conversion is undefined (C11 6.3.1.4).
                let whole = Expr::unary(op, from_int, value);
                convert(IntType::I64, to_int, whole)
            }
            _ => value,
        }
    }
}
