//! The arithmetic of constants: numbers of 32 bits that wrap, as SPIN has them.

use crate::tree::{BinaryOp, UnaryOp};

/// The value of an operator on a known number; none where it is no number of 32 bits.
pub(crate) fn unary(op: UnaryOp, value: i64) -> Option<i64> {
    let value = i32::try_from(value).ok()?;
    Some(i64::from(match op {
        UnaryOp::Neg => value.wrapping_neg(),
        UnaryOp::BitNot => !value,
        UnaryOp::Not => i32::from(value == 0),
    }))
}

/// The value of an operator on known numbers; none where they are no numbers of 32 bits, or it has none.
pub(crate) fn binary(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    let (left, right) = (i32::try_from(left).ok()?, i32::try_from(right).ok()?);
    Some(i64::from(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Div => left.checked_div(right)?,
        BinaryOp::Rem => left.checked_rem(right)?,
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::Shl => left.checked_shl(u32::try_from(right).ok()?)?,
        BinaryOp::Shr => left.checked_shr(u32::try_from(right).ok()?)?,
        BinaryOp::Eq => i32::from(left == right),
        BinaryOp::Ne => i32::from(left != right),
        BinaryOp::Lt => i32::from(left < right),
        BinaryOp::Le => i32::from(left <= right),
        BinaryOp::Gt => i32::from(left > right),
        BinaryOp::Ge => i32::from(left >= right),
        BinaryOp::And => i32::from(left != 0 && right != 0),
        BinaryOp::Or => i32::from(left != 0 || right != 0),
    }))
}
