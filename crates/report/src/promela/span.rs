//! Bounds on the values of expressions, wide enough never to overflow.
//!
//! A span holds canonical values as mathematical integers. Unsigned values of 64 bits above the largest signed one
//! look negative, as they do in the net.

use pdnet_net::{BinaryOp, Expr, IntType, UnaryOp, Var};

/// Both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) low: i128,
    pub(super) high: i128,
}

/// All values of 64 bits.
pub(super) const ALL: Span = Span { low: i64::MIN as i128, high: i64::MAX as i128 };
/// All values of Promela's `int`.
pub(super) const INT: Span = Span { low: i32::MIN as i128, high: i32::MAX as i128 };
const TRUTH: Span = Span { low: 0, high: 1 };

impl Span {
    pub(super) const fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    pub(super) const fn one(value: i64) -> Self {
        Self { low: value as i128, high: value as i128 }
    }

    /// All values of a type.
    pub(super) const fn of_type(ty: IntType) -> Self {
        if ty.bits == 64 { ALL } else { Self { low: ty.min() as i128, high: ty.max() as i128 } }
    }

    /// The only value.
    pub(super) fn single(self) -> Option<i64> {
        if self.low == self.high { i64::try_from(self.low).ok() } else { None }
    }

    pub(super) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What both have.
    pub(super) fn meet(self, other: Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    pub(super) const fn is_within(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    pub(super) const fn contains(self, value: i128) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether Promela's `int` holds the values.
    pub(super) const fn fits_int(self) -> bool {
        self.is_within(INT)
    }

    /// Whether 32 bits without a sign hold the values.
    pub(super) const fn fits_word(self) -> bool {
        self.is_within(Self { low: 0, high: u32::MAX as i128 })
    }

    /// After conversion to a type.
    pub(super) fn converted(self, ty: IntType) -> Self {
        let whole = Self::of_type(ty);
        match self.single() {
            Some(value) => Self::one(ty.wrap(value)),
            None if self.is_within(whole) => self,
            None => whole,
        }
    }

    /// Whether it is true, where that is the same for all values.
    pub(super) const fn truth(self) -> Option<bool> {
        if !self.contains(0) {
            Some(true)
        } else if self.low == 0 && self.high == 0 {
            Some(false)
        } else {
            None
        }
    }
}

/// The span of an expression, from those of its variables. Of a cell or a token nothing is known.
pub(super) fn span_of(expr: &Expr, of: &impl Fn(Var) -> Span) -> Span {
    match expr {
        Expr::Const(value) => Span::one(*value),
        Expr::Var(var) => of(*var),
        Expr::Convert(ty, operand) => span_of(operand, of).converted(*ty),
        Expr::If(condition, then, otherwise) => match span_of(condition, of).truth() {
            Some(true) => span_of(then, of),
            Some(false) => span_of(otherwise, of),
            None => span_of(then, of).hull(span_of(otherwise, of)),
        },
        Expr::Unary(op, ty, operand) => unary(*op, *ty, span_of(operand, of)),
        Expr::Binary(op, ty, left, right) => binary(*op, *ty, span_of(left, of), span_of(right, of)),
        Expr::Marked(..) | Expr::Deadlock => TRUTH,
        Expr::Cell(..) => ALL,
    }
}

/// The result of an operator on one operand.
pub(super) fn unary(op: UnaryOp, ty: IntType, operand: Span) -> Span {
    if let Some(value) = operand.single() {
        return Span::one(op.apply(ty, value));
    }
    match op {
        UnaryOp::Neg => Span::new(-operand.high, -operand.low).converted(ty),
        UnaryOp::Not => Span::new(!operand.high, !operand.low).converted(ty),
        UnaryOp::FloatNeg
        | UnaryOp::FloatFromSigned
        | UnaryOp::FloatFromUnsigned
        | UnaryOp::FloatToSigned
        | UnaryOp::FloatToUnsigned
        | UnaryOp::FloatWiden
        | UnaryOp::FloatNarrow => ALL,
    }
}

/// The result of an operator on two operands before it is converted to the type, where that is a simple matter.
pub(super) fn exact(op: BinaryOp, left: Span, right: Span) -> Option<Span> {
    match op {
        BinaryOp::Add => Some(Span::new(left.low + right.low, left.high + right.high)),
        BinaryOp::Sub => Some(Span::new(left.low - right.high, left.high - right.low)),
        BinaryOp::Mul => {
            let corners =
                [left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high];
            let low = corners.into_iter().min().unwrap_or(0);
            let high = corners.into_iter().max().unwrap_or(0);
            Some(Span::new(low, high))
        }
        _ => None,
    }
}

/// The result of an operator on two operands.
pub(super) fn binary(op: BinaryOp, ty: IntType, left: Span, right: Span) -> Span {
    if let (Some(left), Some(right)) = (left.single(), right.single()) {
        return Span::one(op.apply(ty, left, right));
    }
    if let Some(exact) = exact(op, left, right) {
        return exact.converted(ty);
    }
    let is_natural = left.low >= 0 && right.low >= 0;
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => ALL,
        BinaryOp::And if is_natural => Span::new(0, left.high.min(right.high)),
        BinaryOp::And if right.low >= 0 => Span::new(0, right.high),
        BinaryOp::And if left.low >= 0 => Span::new(0, left.high),
        BinaryOp::Or | BinaryOp::Xor if is_natural => {
            let bits = 128 - (left.high | right.high).leading_zeros();
            Span::new(0, (1 << bits) - 1)
        }
        // Bits above those of `int` are all like its highest one.
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor if left.fits_int() && right.fits_int() => {
            if op == BinaryOp::Xor { INT.converted(ty) } else { INT }
        }
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => ALL,
        BinaryOp::Div if left.low >= 0 && right.low >= 0 => Span::new(0, left.high),
        BinaryOp::Div if ty.signed => {
            let most = left.low.abs().max(left.high.abs());
            Span::new(-most, most).converted(ty)
        }
        BinaryOp::Rem if left.low >= 0 && right.low >= 0 => {
            Span::new(0, left.high.min((right.high - 1).max(0)))
        }
        BinaryOp::Rem if ty.signed => {
            let of_left = left.low.abs().max(left.high.abs());
            let of_right = (right.low.abs().max(right.high.abs()) - 1).max(0);
            let most = of_left.min(of_right);
            Span::new(if left.low < 0 { -most } else { 0 }, if left.high > 0 { most } else { 0 })
        }
        BinaryOp::Div | BinaryOp::Rem => ALL,
        BinaryOp::Shl => match right.single() {
            Some(count) if (0..63).contains(&count) && count < i64::from(ty.bits) => {
                Span::new(left.low << count, left.high << count).converted(ty)
            }
            _ => Span::of_type(ty),
        },
        BinaryOp::Shr if left.low >= 0 => match right.single() {
            Some(count) if (0..i64::from(ty.bits)).contains(&count) => {
                Span::new(left.low >> count, left.high >> count)
            }
            _ => Span::new(0, left.high),
        },
        BinaryOp::Shr if ty.signed => Span::new(left.low, left.high.max(0)),
        BinaryOp::Shr => ALL,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => comparison(op, ty, left, right),
        BinaryOp::FloatEq | BinaryOp::FloatLt | BinaryOp::FloatLe => TRUTH,
        BinaryOp::FloatAdd | BinaryOp::FloatSub | BinaryOp::FloatMul | BinaryOp::FloatDiv => ALL,
    }
}

fn comparison(op: BinaryOp, ty: IntType, left: Span, right: Span) -> Span {
    let is_apart = left.high < right.low || right.high < left.low;
    let in_order = ty.signed || (left.low >= 0 && right.low >= 0);
    match op {
        BinaryOp::Eq if is_apart => Span::one(0),
        BinaryOp::Ne if is_apart => Span::one(1),
        BinaryOp::Lt if in_order && left.high < right.low => Span::one(1),
        BinaryOp::Lt if in_order && right.high <= left.low => Span::one(0),
        BinaryOp::Le if in_order && left.high <= right.low => Span::one(1),
        BinaryOp::Le if in_order && right.high < left.low => Span::one(0),
        _ => TRUTH,
    }
}
