//! Bounds on the values of expressions.
//!
//! A range holds canonical values, in the order of signed 64-bit numbers: unsigned 64-bit values above the largest
//! signed one look negative and come first. All that an expression may be is in its range; where an operation may
//! leave its type, the result is any value of the type.

use pdnet_base::IndexVec;

use crate::net::{Base, TransitionData, Var};
use crate::{BinaryOp, Expr, IntType, Net, UnaryOp};

/// Both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

/// The ranges of a step's variables.
pub(crate) type Ranges = IndexVec<Var, Range>;

impl Range {
    pub(crate) const ALL: Self = Self { low: i64::MIN, high: i64::MAX };
    const TRUTH: Self = Self { low: 0, high: 1 };

    pub(crate) const fn new(low: i64, high: i64) -> Self {
        Self { low, high }
    }

    pub(crate) const fn one(value: i64) -> Self {
        Self { low: value, high: value }
    }

    /// All values of a type.
    pub(crate) const fn of_type(ty: IntType) -> Self {
        if ty.bits == 64 { Self::ALL } else { Self { low: ty.min(), high: ty.max() } }
    }

    /// The only value.
    pub(crate) const fn single(self) -> Option<i64> {
        if self.low == self.high { Some(self.low) } else { None }
    }

    const fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub(crate) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub(crate) fn both(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// After conversion to a type: moved as a whole where it lies between two points of wrapping around.
    pub(crate) fn converted(self, ty: IntType) -> Self {
        let (low, high) = (ty.wrap(self.low), ty.wrap(self.high));
        let is_narrow = ty.bits == 64 || i128::from(self.high) - i128::from(self.low) < 1_i128 << ty.bits;
        if is_narrow && low <= high { Self { low, high } } else { Self::of_type(ty) }
    }

    pub(crate) const fn contains(self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether it is true, where that is the same for all values.
    pub(crate) const fn truth(self) -> Option<bool> {
        if !self.contains(0) {
            Some(true)
        } else if self.low == 0 && self.high == 0 {
            Some(false)
        } else {
            None
        }
    }

    /// As numbers of a type without or with a sign, in 64 bits.
    pub(crate) const fn as_numbers(self, signed: bool) -> (i128, i128) {
        let wide = IntType { bits: 64, signed };
        if signed || self.low >= 0 || self.high < 0 {
            (wide.to_i128(self.low), wide.to_i128(self.high))
        } else {
            (0, u64::MAX as i128)
        }
    }
}

/// What is known of a step's variables by their types alone.
pub(crate) fn by_type(net: &Net, data: &TransitionData) -> Ranges {
    let range = |base: Base| match base {
        Base::Int(ty) => Range::of_type(ty),
        Base::Index(length) => Range::new(0, i64::from(length)),
        Base::Thread => Range::new(0, i64::from(net.max_threads)),
        Base::Depth => Range::new(0, i64::from(net.max_depth)),
    };
    let choice = |ranges: &[(i64, i64)]| match (ranges.first(), ranges.last()) {
        (Some(first), Some(last)) => Range::new(first.0, last.1),
        _ => Range::ALL,
    };
    // A sample stands for values that it does not have.
    let of = |var: &crate::VarData| match &var.choice {
        Some(domain) if domain.exact => choice(&domain.ranges),
        Some(_) | None => range(var.base),
    };
    data.vars.iter().map(of).collect()
}

/// The range of an expression.
pub(crate) fn range_of(expr: &Expr, values: &Ranges) -> Range {
    match expr {
        Expr::Const(value) => Range::one(*value),
        Expr::Var(var) => values.get(*var).copied().unwrap_or(Range::ALL),
        Expr::Convert(ty, operand) => range_of(operand, values).converted(*ty),
        Expr::If(condition, then, otherwise) => match range_of(condition, values).truth() {
            Some(true) => range_of(then, values),
            Some(false) => range_of(otherwise, values),
            None => range_of(then, values).hull(range_of(otherwise, values)),
        },
        Expr::Unary(op, ty, operand) => unary(*op, *ty, range_of(operand, values)),
        Expr::Binary(op, ty, left, right) => {
            binary(*op, *ty, range_of(left, values), range_of(right, values))
        }
        Expr::Marked(..) | Expr::Deadlock => Range::TRUTH,
        Expr::Cell(..) => Range::ALL,
    }
}

fn exact(ty: IntType, low: Option<i64>, high: Option<i64>) -> Range {
    match (low, high) {
        (Some(low), Some(high)) => Range::new(low, high).converted(ty),
        _ => Range::of_type(ty),
    }
}

fn unary(op: UnaryOp, ty: IntType, operand: Range) -> Range {
    if let Some(value) = operand.single() {
        return Range::one(op.apply(ty, value));
    }
    match op {
        UnaryOp::Neg => exact(ty, operand.high.checked_neg(), operand.low.checked_neg()),
        UnaryOp::Not => Range::new(!operand.high, !operand.low).converted(ty),
        _ => Range::ALL,
    }
}

fn binary(op: BinaryOp, ty: IntType, left: Range, right: Range) -> Range {
    if let (Some(left), Some(right)) = (left.single(), right.single()) {
        return Range::one(op.apply(ty, left, right));
    }
    let is_natural = left.low >= 0 && right.low >= 0;
    match op {
        BinaryOp::Add => exact(ty, left.low.checked_add(right.low), left.high.checked_add(right.high)),
        BinaryOp::Sub => exact(ty, left.low.checked_sub(right.high), left.high.checked_sub(right.low)),
        BinaryOp::Mul if is_natural => {
            exact(ty, left.low.checked_mul(right.low), left.high.checked_mul(right.high))
        }
        BinaryOp::And if right.low >= 0 && left.low >= 0 => Range::new(0, left.high.min(right.high)),
        BinaryOp::And if right.low >= 0 => Range::new(0, right.high),
        BinaryOp::And if left.low >= 0 => Range::new(0, left.high),
        BinaryOp::Or | BinaryOp::Xor if is_natural => {
            // No bit above the highest one of both.
            let bits = 64 - (left.high | right.high).leading_zeros();
            let all = Range::new(0, if bits >= 63 { i64::MAX } else { (1 << bits) - 1 });
            if op == BinaryOp::Xor { all.converted(ty) } else { all }
        }
        BinaryOp::Rem if left.low >= 0 && right.low > 0 => Range::new(0, left.high.min(right.high - 1)),
        BinaryOp::Rem if !ty.signed && right.low > 0 => Range::new(0, right.high - 1),
        BinaryOp::Rem if right.low > 0 => Range::new(1 - right.high, right.high - 1),
        BinaryOp::Div if left.low >= 0 && right.low > 0 => {
            Range::new(left.low / right.high, left.high / right.low)
        }
        BinaryOp::Shr => match right.single() {
            Some(count) if (0..i64::from(ty.bits)).contains(&count) && (left.low >= 0 || ty.signed) => {
                Range::new(left.low >> count, left.high >> count)
            }
            // Without a sign, bits above come in as zeros.
            Some(count) if (1..i64::from(ty.bits)).contains(&count) => Range::new(0, i64::MAX >> (count - 1)),
            _ => Range::ALL,
        },
        BinaryOp::Eq => equality(left, right, true),
        BinaryOp::Ne => equality(left, right, false),
        BinaryOp::Lt => order(ty, left, right, true),
        BinaryOp::Le => order(ty, right, left, false),
        op if op.is_comparison() => Range::TRUTH,
        _ => Range::ALL,
    }
}

fn equality(left: Range, right: Range, equal: bool) -> Range {
    // Both single: answered before.
    if left.both(right).is_empty() { Range::one(i64::from(!equal)) } else { Range::TRUTH }
}

/// Whether `left < right`, as `truth` or its contrary.
fn order(ty: IntType, left: Range, right: Range, truth: bool) -> Range {
    let (left, right) = (left.as_numbers(ty.signed), right.as_numbers(ty.signed));
    if left.1 < right.0 {
        Range::one(i64::from(truth))
    } else if right.1 <= left.0 {
        Range::one(i64::from(!truth))
    } else {
        Range::TRUTH
    }
}

/// Narrows ranges by a condition that is true (or false); `false` where it cannot be.
pub(crate) fn narrow(condition: &Expr, truth: bool, values: &mut Ranges) -> bool {
    if range_of(condition, values).truth().is_some_and(|known| known != truth) {
        return false;
    }
    match condition {
        Expr::If(first, second, third) => {
            let cannot_be = |way: &Expr| range_of(way, values).truth().is_some_and(|known| known != truth);
            // Which way was taken: the other is not open, or would make the whole otherwise.
            let is_first = range_of(first, values).truth();
            if is_first == Some(true) || cannot_be(third) {
                narrow(first, true, values) && narrow(second, truth, values)
            } else if is_first == Some(false) || cannot_be(second) {
                narrow(first, false, values) && narrow(third, truth, values)
            } else {
                true
            }
        }
        Expr::Binary(BinaryOp::Eq, _, left, right) => compare(left, right, truth, values),
        Expr::Binary(BinaryOp::Ne, _, left, right) => compare(left, right, !truth, values),
        Expr::Binary(BinaryOp::Lt, ty, left, right) if truth => less(*ty, left, right, 1, values),
        Expr::Binary(BinaryOp::Le, ty, left, right) if truth => less(*ty, left, right, 0, values),
        Expr::Binary(BinaryOp::Lt, ty, left, right) => less(*ty, right, left, 0, values),
        Expr::Binary(BinaryOp::Le, ty, left, right) => less(*ty, right, left, 1, values),
        Expr::Var(_) => compare(condition, &Expr::Const(0), !truth, values),
        _ => true,
    }
}

/// Narrows by `left == right`, or by `left != right`.
fn compare(left: &Expr, right: &Expr, equal: bool, values: &mut Ranges) -> bool {
    // A comparison of a condition with 0 or 1.
    if let (true, Expr::Const(value @ (0 | 1))) = (left.is_boolean(), right) {
        return narrow(left, (*value == 1) == equal, values);
    }
    let (a, b) = (range_of(left, values), range_of(right, values));
    if equal {
        let both = a.both(b);
        return !both.is_empty() && limit(left, both, values) && limit(right, both, values);
    }
    let without = |range: Range, other: Range| match other.single() {
        Some(value) if range.single() == Some(value) => Range::new(1, 0),
        Some(value) if range.low == value => Range::new(value + 1, range.high),
        Some(value) if range.high == value => Range::new(range.low, value - 1),
        _ => range,
    };
    let (new_a, new_b) = (without(a, b), without(b, a));
    !new_a.is_empty() && !new_b.is_empty() && limit(left, new_a, values) && limit(right, new_b, values)
}

/// Narrows by `left + gap <= right`.
fn less(ty: IntType, left: &Expr, right: &Expr, gap: i64, values: &mut Ranges) -> bool {
    let (mut a, mut b) = (range_of(left, values), range_of(right, values));
    if !ty.signed {
        // What is below something that does not look negative does not look negative.
        if b.low < 0 {
            return true;
        }
        a.low = a.low.max(0);
    }
    a.high = a.high.min(b.high.saturating_sub(gap));
    b.low = b.low.max(a.low.saturating_add(gap));
    !a.is_empty() && !b.is_empty() && limit(left, a, values) && limit(right, b, values)
}

/// Narrows an expression that is a variable, possibly converted, to a range.
fn limit(expr: &Expr, range: Range, values: &mut Ranges) -> bool {
    match expr {
        Expr::Var(var) if values.get(*var).is_some() => {
            values[*var] = values[*var].both(range);
            !values[*var].is_empty()
        }
        Expr::Convert(ty, operand) => {
            let inner = range_of(operand, values);
            // Only where the conversion changes nothing.
            if ty.contains(inner.low) && ty.contains(inner.high) {
                limit(operand, range, values)
            } else {
                true
            }
        }
        _ => true,
    }
}
