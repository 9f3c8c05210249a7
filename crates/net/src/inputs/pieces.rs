//! How a function of one integer behaves, interval by interval.
//!
//! The function is an [`Expr`] whose only variable is the integer. Values are canonical `i64`s (see
//! [`IntType`]), so one that looks negative may be a large unsigned one. Inside a piece, the shape says what
//! is certain. Where the behaviour changes inside an interval, the interval is split; the point is found by
//! bisection, which is right because the function is monotone there.

use crate::net::{Place, Var};
use crate::{BinaryOp, Expr, IntType, Scalars, UnaryOp};

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

fn split_if<K: PartialEq>(
    applies: bool,
    low: i64,
    high: i64,
    limit: usize,
    key: impl Fn(i64) -> K,
) -> Option<Vec<(i64, i64)>> {
    if applies { split_by(low, high, limit, key) } else { None }
}

const fn constant(value: i64) -> Shape {
    Shape::Linear { slope: 0, offset: value as i128 }
}

/// A linear shape, where it is small enough for exact arithmetic.
fn linear(slope: Option<i128>, offset: Option<i128>) -> Shape {
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
    const fn through(self, rising: bool) -> Self {
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
    fn scaled(self, factor: i128, summand: i128) -> Self {
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

fn each(all: Vec<Piece>, split: impl Fn(Piece) -> Vec<Piece>) -> Vec<Piece> {
    all.into_iter().flat_map(split).collect()
}

/// The common refinement of two lists of pieces of the same interval.
fn refine(left: &[Piece], right: &[Piece]) -> Vec<(Piece, Piece)> {
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
fn together(left: Shape, right: Shape) -> Shape {
    match (left.modulus(), right.modulus()) {
        (Some(left), Some(right)) => common_multiple(left, right).map_or(Shape::Wild, Shape::Periodic),
        _ => Shape::Wild,
    }
}

/// The pieces of a function with the given raw values and shape after conversion to a type.
fn wrapped(ty: IntType, piece: Piece, n_split: usize, raw: &dyn Fn(i64) -> i128) -> Vec<Piece> {
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

/// One operation on two operands.
struct Operation<'a> {
    expr: &'a Expr,
    op: BinaryOp,
    ty: IntType,
    left: &'a Expr,
    right: &'a Expr,
    n_split: usize,
}

impl Operation<'_> {
    fn pieces(&self, left: Piece, right: Piece) -> Vec<Piece> {
        let Piece { low, high, .. } = left;
        let whole = |shape| vec![Piece { low, high, shape }];
        if left.shape.as_constant().is_some() && right.shape.as_constant().is_some() {
            return whole(constant(value_at(self.expr, low)));
        }
        let both = together(left.shape, right.shape);
        if both != Shape::Wild {
            return whole(both);
        }
        match self.op {
            BinaryOp::Add | BinaryOp::Sub => self.sum(left, right),
            BinaryOp::Mul => match (left.shape.as_constant(), right.shape.as_constant()) {
                (Some(factor), None) => self.product(right, self.right, factor),
                (None, Some(factor)) => self.product(left, self.left, factor),
                _ => whole(Shape::Wild),
            },
            BinaryOp::And => match (left.shape.as_constant(), right.shape.as_constant()) {
                (Some(mask), None) => self.mask(right, self.right, mask),
                (None, Some(mask)) => self.mask(left, self.left, mask),
                _ => whole(Shape::Wild),
            },
            BinaryOp::Shl => match right.shape.as_constant() {
                Some(count) => self.product(left, self.left, 1 << count.rem_euclid(self.ty.bits.into())),
                None => whole(Shape::Wild),
            },
            BinaryOp::Shr | BinaryOp::Div => match right.shape.as_constant() {
                Some(_) => self.staircase(left),
                None => whole(Shape::Wild),
            },
            BinaryOp::Rem => match right.shape.as_constant() {
                Some(divisor) => self.remainder(left, divisor),
                None => whole(Shape::Wild),
            },
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => self.comparison(left, right),
            BinaryOp::Or | BinaryOp::Xor => whole(Shape::Wild),
        }
    }

    fn sum(&self, left: Piece, right: Piece) -> Vec<Piece> {
        let sign = if self.op == BinaryOp::Sub { -1 } else { 1 };
        let shape = match (left.shape, right.shape) {
            (Shape::Linear { slope, offset }, Shape::Linear { slope: other, offset: summand }) => {
                linear(Some(slope + sign * other), offset.checked_add(sign * summand))
            }
            (shape, other) => match (shape.as_constant(), other.as_constant()) {
                (_, Some(summand)) => shape.scaled(1, sign * summand),
                (Some(summand), _) => other.scaled(sign, summand),
                (None, None) => Shape::Wild,
            },
        };
        let raw = |x| i128::from(value_at(self.left, x)) + sign * i128::from(value_at(self.right, x));
        wrapped(self.ty, Piece { shape, ..left }, self.n_split, &raw)
    }

    fn product(&self, piece: Piece, of: &Expr, factor: i128) -> Vec<Piece> {
        // Both are within 65 bits, so their product is exact.
        let raw = |x| i128::from(value_at(of, x)).wrapping_mul(factor);
        wrapped(self.ty, Piece { shape: piece.shape.scaled(factor, 0), ..piece }, self.n_split, &raw)
    }

    /// Bitwise and with a constant.
    fn mask(&self, piece: Piece, of: &Expr, mask: i128) -> Vec<Piece> {
        let Piece { low, high, shape } = piece;
        let whole = |shape| vec![Piece { low, high, shape }];
        if !shape.is_monotone() {
            return whole(Shape::Wild);
        }
        let (first, last) = (i128::from(value_at(of, low)), i128::from(value_at(of, high)));
        let fits = |value: i128| value >= 0 && value <= mask;
        if mask >= 0 && (mask + 1) & mask == 0 && fits(first) && fits(last) {
            return vec![piece];
        }
        if mask < 0 && (-mask) & (-mask - 1) == 0 {
            return whole(shape.through(true));
        }
        // Only the bits from the lowest one of the mask on count.
        let stair = |x: i64| value_at(of, x) >> mask.trailing_zeros().min(63);
        if let Some(parts) = split_by(low, high, self.n_split, stair) {
            let part =
                |&(low, high): &(i64, i64)| Piece { low, high, shape: constant(value_at(self.expr, low)) };
            return parts.iter().map(part).collect();
        }
        // Only the bits up to the highest one of the mask count.
        let bits = 128 - mask.leading_zeros();
        let size = 1i128.checked_shl(bits).filter(|&size| mask >= 0 && size <= MAX_MODULUS);
        match (shape, size) {
            (Shape::Linear { .. }, Some(size)) => whole(Shape::Periodic(size)),
            _ => whole(Shape::Wild),
        }
    }

    /// Shifts to the right and division by a constant: monotone, once unsigned values are told apart that
    /// look negative.
    fn staircase(&self, piece: Piece) -> Vec<Piece> {
        each(self.by_sign(piece), |part| {
            let (low, high) = (part.low, part.high);
            if !part.shape.is_monotone() {
                return vec![Piece { low, high, shape: Shape::Wild }];
            }
            let results = |x: i64| value_at(self.expr, x);
            if let Some(parts) = split_by(low, high, self.n_split, results) {
                let part = |&(low, high): &(i64, i64)| Piece { low, high, shape: constant(results(low)) };
                return parts.iter().map(part).collect();
            }
            let divisor = value_at(self.right, low);
            if self.op == BinaryOp::Div && self.ty.signed && divisor < 0 {
                // The least value divided by -1 wraps.
                let raw = |x| i128::from(value_at(self.left, x)) / i128::from(divisor);
                return wrapped(
                    self.ty,
                    Piece { shape: part.shape.through(false), ..part },
                    self.n_split,
                    &raw,
                );
            }
            vec![Piece { low, high, shape: part.shape.through(true) }]
        })
    }

    fn remainder(&self, piece: Piece, divisor: i128) -> Vec<Piece> {
        let size = self.read(i64::try_from(divisor).expect("a constant")).abs();
        each(self.by_sign(piece), |part| {
            let (low, high) = (part.low, part.high);
            let is_small = |x: i64| self.read(value_at(self.left, x)).abs() < size;
            let shape = match part.shape {
                shape if shape.is_monotone() && is_small(low) && is_small(high) => {
                    // The dividend itself; of an unsigned one too, as it looks like itself.
                    shape
                }
                Shape::Linear { .. } if size <= MAX_MODULUS => Shape::Periodic(size.max(1)),
                Shape::Linear { .. } | Shape::Rising | Shape::Falling | Shape::Periodic(_) | Shape::Wild => {
                    Shape::Wild
                }
            };
            vec![Piece { low, high, shape }]
        })
    }

    fn comparison(&self, left: Piece, right: Piece) -> Vec<Piece> {
        let mut found = Vec::new();
        let (lefts, rights) = match self.op {
            BinaryOp::Lt | BinaryOp::Le => (self.by_sign(left), self.by_sign_of(right, self.right)),
            _ => (vec![left], vec![right]),
        };
        for (left, right) in refine(&lefts, &rights) {
            let (low, high) = (left.low, left.high);
            let is_monotone = match (left.shape, right.shape) {
                (Shape::Linear { .. }, Shape::Linear { .. }) => true,
                (shape, other) => {
                    (shape.is_monotone() && other.as_constant().is_some())
                        || (other.is_monotone() && shape.as_constant().is_some())
                }
            };
            let difference = |x: i64| {
                let (left, right) = (value_at(self.left, x), value_at(self.right, x));
                match self.op {
                    BinaryOp::Lt | BinaryOp::Le => (self.read(left) - self.read(right)).signum(),
                    _ => (i128::from(left) - i128::from(right)).signum(),
                }
            };
            match split_if(is_monotone, low, high, 3, difference) {
                Some(parts) => found.extend(parts.iter().map(|&(low, high)| {
                    let shape = constant(value_at(self.expr, low));
                    Piece { low, high, shape }
                })),
                None => found.push(Piece { low, high, shape: Shape::Wild }),
            }
        }
        found
    }

    /// A canonical value as operations of the type read it.
    const fn read(&self, value: i64) -> i128 {
        self.ty.to_i128(value)
    }

    /// Splits the left operand where its canonical value changes its sign, if that matters.
    fn by_sign(&self, piece: Piece) -> Vec<Piece> {
        self.by_sign_of(piece, self.left)
    }

    fn by_sign_of(&self, piece: Piece, of: &Expr) -> Vec<Piece> {
        let matters = piece.shape.is_monotone() && (!self.ty.signed || self.op == BinaryOp::Rem);
        match split_if(matters, piece.low, piece.high, 2, |x| value_at(of, x) < 0) {
            Some(parts) => parts.iter().map(|&(low, high)| Piece { low, high, ..piece }).collect(),
            None => vec![piece],
        }
    }
}
