//! How an operation on two functions of one integer behaves, interval by interval.

use super::pieces::{
    MAX_MODULUS, Piece, Shape, constant, each, linear, refine, split_by, split_if, together, value_at,
    wrapped,
};
use crate::{BinaryOp, Expr, IntType};

/// One operation on two operands.
pub(super) struct Operation<'a> {
    pub(super) expr: &'a Expr,
    pub(super) op: BinaryOp,
    pub(super) ty: IntType,
    pub(super) left: &'a Expr,
    pub(super) right: &'a Expr,
    pub(super) n_split: usize,
}

impl Operation<'_> {
    pub(super) fn pieces(&self, left: Piece, right: Piece) -> Vec<Piece> {
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
            BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::FloatAdd
            | BinaryOp::FloatSub
            | BinaryOp::FloatMul
            | BinaryOp::FloatDiv
            | BinaryOp::FloatEq
            | BinaryOp::FloatLt
            | BinaryOp::FloatLe => whole(Shape::Wild),
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
