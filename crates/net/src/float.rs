//! Floating values as their bits (IEEE 754): of 64 bits, or of 32 where the type is as wide.

use crate::IntType;

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low bits are the value")]
const fn single(bits: i64) -> f32 {
    f32::from_bits(bits as u32)
}

const fn double(bits: i64) -> f64 {
    f64::from_bits(bits.cast_unsigned())
}

const fn single_bits(value: f32) -> i64 {
    value.to_bits() as i64
}

const fn double_bits(value: f64) -> i64 {
    value.to_bits().cast_signed()
}

macro_rules! operation {
    ($(#[$doc:meta])* $name:ident, $op:tt) => {
        $(#[$doc])*
        pub(crate) const fn $name(ty: IntType, left: i64, right: i64) -> i64 {
            if ty.bits == 32 {
                single_bits(single(left) $op single(right))
            } else {
                double_bits(double(left) $op double(right))
            }
        }
    };
}

operation!(add, +);
operation!(sub, -);
operation!(mul, *);
operation!(div, /);

#[expect(clippy::float_cmp, reason = "equality as C has it")]
pub(crate) const fn equal(ty: IntType, left: i64, right: i64) -> bool {
    if ty.bits == 32 { single(left) == single(right) } else { double(left) == double(right) }
}

pub(crate) const fn less(ty: IntType, left: i64, right: i64) -> bool {
    if ty.bits == 32 { single(left) < single(right) } else { double(left) < double(right) }
}

pub(crate) const fn negate(ty: IntType, value: i64) -> i64 {
    if ty.bits == 32 { single_bits(-single(value)) } else { double_bits(-double(value)) }
}

#[expect(clippy::cast_precision_loss, reason = "rounds to nearest, as C does")]
pub(crate) const fn from_signed(ty: IntType, value: i64) -> i64 {
    if ty.bits == 32 { single_bits(value as f32) } else { double_bits(value as f64) }
}

#[expect(clippy::cast_precision_loss, reason = "rounds to nearest, as C does")]
pub(crate) const fn from_unsigned(ty: IntType, value: i64) -> i64 {
    let value = value.cast_unsigned();
    if ty.bits == 32 { single_bits(value as f32) } else { double_bits(value as f64) }
}

#[expect(clippy::cast_possible_truncation, reason = "cuts off what is behind the point")]
pub(crate) const fn to_signed(ty: IntType, value: i64) -> i64 {
    if ty.bits == 32 { single(value) as i64 } else { double(value) as i64 }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cuts off what is behind the point"
)]
pub(crate) const fn to_unsigned(ty: IntType, value: i64) -> i64 {
    let whole = if ty.bits == 32 { single(value) as u64 } else { double(value) as u64 };
    whole.cast_signed()
}

pub(crate) const fn widen(value: i64) -> i64 {
    double_bits(single(value) as f64)
}

#[expect(clippy::cast_possible_truncation, reason = "rounds to nearest, as C does")]
pub(crate) const fn narrow(value: i64) -> i64 {
    single_bits(double(value) as f32)
}
