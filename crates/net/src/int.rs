//! Integer types and their arithmetic.

use std::fmt;

/// An integer type of 1 to 64 bits.
///
/// A value of such a type is an `i64` in *canonical form*: sign-extended for signed types, zero-extended
/// for unsigned ones. Only unsigned 64-bit values above `i64::MAX` look negative; operations on that type
/// read them as `u64`. Conversion between types is then [`IntType::wrap`] of the target, whatever the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntType {
    /// Width, 1 to 64.
    pub bits: u8,
    /// Whether it holds negative values.
    pub signed: bool,
}

impl IntType {
    /// `int` on every machine that we know.
    pub const I32: Self = Self { bits: 32, signed: true };
    /// `long` on most.
    pub const I64: Self = Self { bits: 64, signed: true };
    /// `unsigned long` on most; also pointers.
    pub const U64: Self = Self { bits: 64, signed: false };
    /// A byte.
    pub const U8: Self = Self { bits: 8, signed: false };

    /// The canonical form of a value after conversion to this type: modulo 2^n.
    #[must_use]
    #[inline]
    pub const fn wrap(self, value: i64) -> i64 {
        let shift = 64 - self.bits as u32;
        if self.signed { (value << shift) >> shift } else { ((value as u64) << shift >> shift) as i64 }
    }

    /// Whether the value is in canonical form.
    #[must_use]
    pub const fn contains(self, value: i64) -> bool {
        self.wrap(value) == value
    }

    /// Whether `left < right` in this type.
    #[must_use]
    #[inline]
    pub const fn less(self, left: i64, right: i64) -> bool {
        if self.signed { left < right } else { (left as u64) < (right as u64) }
    }

    /// The value as a mathematical integer.
    #[must_use]
    pub const fn to_i128(self, value: i64) -> i128 {
        if self.signed { value as i128 } else { value as u64 as i128 }
    }

    /// The smallest value, canonical.
    #[must_use]
    pub const fn min(self) -> i64 {
        if self.signed { i64::MIN >> (64 - self.bits as u32) } else { 0 }
    }

    /// The largest value, canonical (of unsigned 64 bits: -1).
    #[must_use]
    pub const fn max(self) -> i64 {
        if self.signed { !self.min() } else { self.wrap(-1) }
    }
}

impl fmt::Display for IntType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_is_modulo_the_width() {
        let i8 = IntType { bits: 8, signed: true };
        assert_eq!(i8.wrap(200), -56);
        assert_eq!(IntType::U8.wrap(-1), 255);
        assert_eq!(IntType::U64.wrap(-1), -1);
        assert_eq!((i8.min(), i8.max()), (-128, 127));
        assert_eq!(IntType::U8.max(), 255);
        assert_eq!(IntType::U64.to_i128(-1), i128::from(u64::MAX));
        assert!(IntType::U64.less(1, -1));
        assert!(IntType::I64.less(-1, 1));
    }
}
