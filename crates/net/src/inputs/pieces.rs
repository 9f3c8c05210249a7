//! How a function of one integer behaves, interval by interval.
//!
//! The function is an [`Expr`] whose only variable is the integer. Values are canonical `i64`s (see
//! [`IntType`]), so one that looks negative may be a large unsigned one. Inside a piece, the shape says what
//! is certain. Where the behaviour changes inside an interval, the interval is split; the point is found by
//! bisection, which is right because the function is monotone there.

use super::operation::Operation;
use crate::net::{Place, Var};
use crate::{Expr, IntType, Scalars, UnaryOp};

/// How a function behaves on an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// It is `slope * x + offset`, without wrapping; constant where the slope is 0.
    Linear { slope: i128, offset: i128 },
    /// It never falls as `x` grows.
    Rising,
    /// It never rises as `x` grows.
    Falling,
    /// It depends on `x` modulo this number only.
    Periodic(i128),
    /// Nothing is known.
    Wild,
}

/// An interval, both ends included, and how the function behaves on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) shape: Shape,
}

/// The most pieces that one function may fall into.
const MAX_PIECES: usize = 2048;
/// The largest modulus.
pub(super) const MAX_MODULUS: i128 = 4096;

/// The value of the function at a point.
pub(super) fn value_at(expr: &Expr, x: i64) -> i64 {
    struct Point(i64);
    impl Scalars for Point {
        fn var(&self, _: Var) -> i64 {
            self.0
        }
        fn cell(&self, _: Place, _: &[i64]) -> i64 {
            0
        }
        fn marked(&self, _: Place, _: &[i64]) -> bool {
            false
        }
        fn deadlock(&self) -> bool {
            false
        }
    }
    expr.eval(&Point(x))
}

/// The pieces of a function on an interval, in order; they cover it. One operation splits an interval into
/// at most `n_split`.
pub(super) fn pieces(expr: &Expr, low: i64, high: i64, n_split: usize) -> Vec<Piece> {
    let found = unlimited(expr, low, high, n_split);
    if found.len() > MAX_PIECES { vec![Piece { low, high, shape: Shape::Wild }] } else { found }
}

/// Splits an interval where the key changes; the key must be monotone. `None` where that gives too many.
pub(super) fn split_by<K: PartialEq>(
    low: i64,
    high: i64,
    limit: usize,
    key: impl Fn(i64) -> K,
) -> Option<Vec<(i64, i64)>> {
    let mut parts = Vec::new();
    let mut start = low;
    loop {
        if parts.len() == limit {
            return None;
        }
        let wanted = key(start);
        // The last point with the key of the first one.
        let (mut good, mut bad) = (i128::from(start), i128::from(high) + 1);
        while bad - good > 1 {
            let middle = i128::midpoint(good, bad);
            let point = i64::try_from(middle).expect("between two i64");
            if key(point) == wanted { good = middle } else { bad = middle }
        }
        let end = i64::try_from(good).expect("between two i64");
        parts.push((start, end));
        if end == high {
            return Some(parts);
        }
        start = end + 1;
    }
}

pub(super) fn split_if<K: PartialEq>(
    applies: bool,
    low: i64,
    high: i64,
    limit: usize,
    key: impl Fn(i64) -> K,
) -> Option<Vec<(i64, i64)>> {
    if applies { split_by(low, high, limit, key) } else { None }
}

pub(super) const fn constant(value: i64) -> Shape {
    Shape::Linear { slope: 0, offset: value as i128 }
}

/// A linear shape, where it is small enough for exact arithmetic.
pub(super) fn linear(slope: Option<i128>, offset: Option<i128>) -> Shape {
    match (slope.filter(|slope| slope.unsigned_abs() <= 1 << 62), offset) {
        (Some(slope), Some(offset)) => Shape::Linear { slope, offset },
        _ => Shape::Wild,
    }
}

impl Shape {
    pub(super) const fn as_constant(self) -> Option<i128> {
        match self {
            Self::Linear { slope: 0, offset } => Some(offset),
            Self::Linear { .. } | Self::Rising | Self::Falling | Self::Periodic(_) | Self::Wild => None,
        }
    }

    pub(super) const fn is_monotone(self) -> bool {
        match self {
            Self::Linear { .. } | Self::Rising | Self::Falling => true,
            Self::Periodic(_) | Self::Wild => false,
        }
    }

    /// The modulus, 1 for a constant.
    pub(super) const fn modulus(self) -> Option<i128> {
        match self {
            Self::Linear { slope: 0, .. } => Some(1),
            Self::Periodic(modulus) => Some(modulus),
            Self::Linear { .. } | Self::Rising | Self::Falling | Self::Wild => None,
        }
    }

    /// What is left of the shape when a rising (or falling) function is applied that is not linear.
    pub(super) const fn through(self, rising: bool) -> Self {
        match (self, rising) {
            (Self::Linear { slope: ..=-1, .. } | Self::Falling, true)
            | (Self::Linear { slope: 0.., .. } | Self::Rising, false) => Self::Falling,
            (Self::Linear { .. } | Self::Rising, true) | (Self::Linear { .. } | Self::Falling, false) => {
                Self::Rising
            }
            (Self::Periodic(_) | Self::Wild, _) => self,
        }
    }

    /// The shape of `factor * f + summand`.
    pub(super) fn scaled(self, factor: i128, summand: i128) -> Self {
        match self {
            Self::Linear { slope, offset } => {
                let offset = offset.checked_mul(factor).and_then(|offset| offset.checked_add(summand));
                linear(slope.checked_mul(factor), offset)
            }
            Self::Rising | Self::Falling => self.through(factor >= 0),
            Self::Periodic(_) | Self::Wild => self,
        }
    }
}

/// The least common multiple, where it is not too large.
pub(super) fn common_multiple(left: i128, right: i128) -> Option<i128> {
    let (mut a, mut b) = (left, right);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some(left / a * right).filter(|&modulus| modulus <= MAX_MODULUS)
}

fn unlimited(expr: &Expr, low: i64, high: i64, n_split: usize) -> Vec<Piece> {
    let pieces = |expr: &Expr, low, high| pieces(expr, low, high, n_split);
    let whole = |shape| vec![Piece { low, high, shape }];
    match expr {
        Expr::Const(value) => whole(constant(*value)),
        Expr::Var(_) => whole(Shape::Linear { slope: 1, offset: 0 }),
        Expr::Unary(op, ty, operand) => {
            let (factor, summand) = match op {
                UnaryOp::Neg => (-1, 0),
                UnaryOp::Not => (-1, -1),
                UnaryOp::FloatNeg
                | UnaryOp::FloatFromSigned
                | UnaryOp::FloatFromUnsigned
                | UnaryOp::FloatToSigned
                | UnaryOp::FloatToUnsigned
                | UnaryOp::FloatWiden
                | UnaryOp::FloatNarrow => return whole(Shape::Wild),
            };
            let raw = |x| factor * i128::from(value_at(operand, x)) + summand;
            each(pieces(operand, low, high), |piece| {
                wrapped(*ty, Piece { shape: piece.shape.scaled(factor, summand), ..piece }, n_split, &raw)
            })
        }
        Expr::Convert(ty, operand) => {
            let raw = |x| i128::from(value_at(operand, x));
            each(pieces(operand, low, high), |piece| wrapped(*ty, piece, n_split, &raw))
        }
        Expr::Binary(op, ty, left, right) => {
            let common = refine(&pieces(left, low, high), &pieces(right, low, high));
            let mut found = Vec::new();
            for (piece, other) in common {
                let operation = Operation { expr, op: *op, ty: *ty, left, right, n_split };
                found.extend(operation.pieces(piece, other));
            }
            found
        }
        Expr::If(condition, then, otherwise) => {
            let condition_pieces = each(pieces(condition, low, high), |piece| {
                let truth = |x: i64| value_at(condition, x).signum();
                match split_if(piece.shape.is_monotone(), piece.low, piece.high, 3, truth) {
                    Some(parts) => {
                        let decided =
                            |&(low, high): &(i64, i64)| Piece { low, high, shape: constant(truth(low)) };
                        parts.iter().map(decided).collect()
                    }
                    None => vec![piece],
                }
            });
            let branches = refine(&pieces(then, low, high), &pieces(otherwise, low, high));
            let mut found = Vec::new();
            for piece in condition_pieces {
                for (then, otherwise) in &branches {
                    let (low, high) = (piece.low.max(then.low), piece.high.min(then.high));
                    if low <= high {
                        let shape = match piece.shape.as_constant() {
                            Some(0) => otherwise.shape,
                            Some(_) => then.shape,
                            None => together(together(piece.shape, then.shape), otherwise.shape),
                        };
                        found.push(Piece { low, high, shape });
                    }
                }
            }
            found
        }
        Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => whole(Shape::Wild),
    }
}

pub(super) fn each(all: Vec<Piece>, split: impl Fn(Piece) -> Vec<Piece>) -> Vec<Piece> {
    all.into_iter().flat_map(split).collect()
}

/// The common refinement of two lists of pieces of the same interval.
pub(super) fn refine(left: &[Piece], right: &[Piece]) -> Vec<(Piece, Piece)> {
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        let (low, high) = (a.low.max(b.low), a.high.min(b.high));
        found.push((Piece { low, high, ..*a }, Piece { low, high, ..*b }));
        i += usize::from(a.high == high);
        j += usize::from(b.high == high);
    }
    found
}

/// The shape of any function of two functions.
pub(super) fn together(left: Shape, right: Shape) -> Shape {
    match (left.modulus(), right.modulus()) {
        (Some(left), Some(right)) => common_multiple(left, right).map_or(Shape::Wild, Shape::Periodic),
        _ => Shape::Wild,
    }
}

/// The pieces of a function with the given raw values and shape after conversion to a type.
pub(super) fn wrapped(ty: IntType, piece: Piece, n_split: usize, raw: &dyn Fn(i64) -> i128) -> Vec<Piece> {
    let Piece { low, high, shape } = piece;
    if !shape.is_monotone() {
        return vec![piece];
    }
    let size = 1i128 << ty.bits;
    let least = if ty.bits == 64 { i128::from(i64::MIN) } else { i128::from(ty.min()) };
    let turn = |x: i64| (raw(x) - least).div_euclid(size);
    if let Some(parts) = split_by(low, high, n_split, turn) {
        let part = |&(low, high): &(i64, i64)| {
            let shape = match shape {
                Shape::Linear { slope, offset } => Shape::Linear { slope, offset: offset - turn(low) * size },
                other => other,
            };
            Piece { low, high, shape }
        };
        return parts.iter().map(part).collect();
    }
    // It wraps around often, but then it may depend on few low bits.
    let periodic = matches!(shape, Shape::Linear { .. }) && size <= MAX_MODULUS;
    vec![Piece { low, high, shape: if periodic { Shape::Periodic(size) } else { Shape::Wild } }]
}
