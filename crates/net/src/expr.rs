//! Expressions: guards, arc expressions, and the atoms of properties.

use crate::net::{Place, Var};
use crate::{IntType, Net};

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// Arithmetic negation.
    Neg,
    /// Bitwise complement.
    Not,
    /// Negation of a floating value. Floating values are the bits that stand for them (IEEE 754), of 32 or 64
    /// bits as the type is wide.
    FloatNeg,
    /// The floating value of the type that is nearest to a signed integer.
    FloatFromSigned,
    /// The floating value of the type that is nearest to an unsigned integer.
    FloatFromUnsigned,
    /// The signed integer that a floating value of the type has before the point.
    FloatToSigned,
    /// The unsigned integer that a floating value of the type has before the point.
    FloatToUnsigned,
    /// From 32 to 64 bits.
    FloatWiden,
    /// From 64 to 32 bits.
    FloatNarrow,
}

/// Operators on two operands of the same type (shifts take any count).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// Addition, modulo 2^n.
    Add,
    /// Subtraction, modulo 2^n.
    Sub,
    /// Multiplication, modulo 2^n.
    Mul,
    /// Division towards zero; 0 where the divisor is 0 (front ends guard against it).
    Div,
    /// Remainder of that division; 0 where the divisor is 0.
    Rem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left; the count is taken modulo the width.
    Shl,
    /// Shift right, arithmetic for signed types; the count is taken modulo the width.
    Shr,
    /// Equality: 1 or 0, as all comparisons.
    Eq,
    /// Inequality.
    Ne,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Addition of floating values of the type's width, rounded to nearest.
    FloatAdd,
    /// Subtraction of floating values.
    FloatSub,
    /// Multiplication of floating values.
    FloatMul,
    /// Division of floating values.
    FloatDiv,
    /// Equality of floating values: 0 where one is no number.
    FloatEq,
    /// Less than, of floating values.
    FloatLt,
    /// Less than or equal, of floating values.
    FloatLe,
}

impl UnaryOp {
    /// All operators.
    pub const ALL: [Self; 9] = [
        Self::Neg,
        Self::Not,
        Self::FloatNeg,
        Self::FloatFromSigned,
        Self::FloatFromUnsigned,
        Self::FloatToSigned,
        Self::FloatToUnsigned,
        Self::FloatWiden,
        Self::FloatNarrow,
    ];

    /// The name in the text form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neg => "neg",
            Self::Not => "not",
            Self::FloatNeg => "fneg",
            Self::FloatFromSigned => "from-signed",
            Self::FloatFromUnsigned => "from-unsigned",
            Self::FloatToSigned => "to-signed",
            Self::FloatToUnsigned => "to-unsigned",
            Self::FloatWiden => "widen",
            Self::FloatNarrow => "narrow",
        }
    }

    /// Whether the operand or the result is a floating value.
    #[must_use]
    pub const fn is_floating(self) -> bool {
        match self {
            Self::Neg | Self::Not => false,
            Self::FloatNeg
            | Self::FloatFromSigned
            | Self::FloatFromUnsigned
            | Self::FloatToSigned
            | Self::FloatToUnsigned
            | Self::FloatWiden
            | Self::FloatNarrow => true,
        }
    }

    /// The operation on a canonical value.
    #[must_use]
    #[inline]
    pub const fn apply(self, ty: IntType, value: i64) -> i64 {
        match self {
            Self::Neg => ty.wrap(value.wrapping_neg()),
            Self::Not => ty.wrap(!value),
            Self::FloatNeg => crate::float::negate(ty, value),
            Self::FloatFromSigned => crate::float::from_signed(ty, value),
            Self::FloatFromUnsigned => crate::float::from_unsigned(ty, value),
            Self::FloatToSigned => crate::float::to_signed(ty, value),
            Self::FloatToUnsigned => crate::float::to_unsigned(ty, value),
            Self::FloatWiden => crate::float::widen(value),
            Self::FloatNarrow => crate::float::narrow(value),
        }
    }
}

impl BinaryOp {
    /// All operators.
    pub const ALL: [Self; 21] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Rem,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Shl,
        Self::Shr,
        Self::Eq,
        Self::Ne,
        Self::Lt,
        Self::Le,
        Self::FloatAdd,
        Self::FloatSub,
        Self::FloatMul,
        Self::FloatDiv,
        Self::FloatEq,
        Self::FloatLt,
        Self::FloatLe,
    ];

    /// The name in the text form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Rem => "rem",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
            Self::Shl => "shl",
            Self::Shr => "shr",
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::FloatAdd => "fadd",
            Self::FloatSub => "fsub",
            Self::FloatMul => "fmul",
            Self::FloatDiv => "fdiv",
            Self::FloatEq => "feq",
            Self::FloatLt => "flt",
            Self::FloatLe => "fle",
        }
    }

    /// Whether the result is 0 or 1.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::FloatEq | Self::FloatLt | Self::FloatLe
        )
    }

    /// Whether the operands are floating values.
    #[must_use]
    pub const fn is_floating(self) -> bool {
        match self {
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Rem
            | Self::And
            | Self::Or
            | Self::Xor
            | Self::Shl
            | Self::Shr
            | Self::Eq
            | Self::Ne
            | Self::Lt
            | Self::Le => false,
            Self::FloatAdd
            | Self::FloatSub
            | Self::FloatMul
            | Self::FloatDiv
            | Self::FloatEq
            | Self::FloatLt
            | Self::FloatLe => true,
        }
    }

    /// The operation on canonical values of type `ty`. Total: see the variants for division and shifts.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_wrap, reason = "unsigned types are meant")]
    pub const fn apply(self, ty: IntType, left: i64, right: i64) -> i64 {
        match self {
            Self::Add => ty.wrap(left.wrapping_add(right)),
            Self::Sub => ty.wrap(left.wrapping_sub(right)),
            Self::Mul => ty.wrap(left.wrapping_mul(right)),
            Self::Div => {
                if right == 0 {
                    0
                } else if ty.signed {
                    ty.wrap(left.wrapping_div(right))
                } else {
                    ((left as u64) / (right as u64)) as i64
                }
            }
            Self::Rem => {
                if right == 0 {
                    0
                } else if ty.signed {
                    ty.wrap(left.wrapping_rem(right))
                } else {
                    ((left as u64) % (right as u64)) as i64
                }
            }
            Self::And => left & right,
            Self::Or => left | right,
            Self::Xor => ty.wrap(left ^ right),
            Self::Shl => ty.wrap(left.wrapping_shl((right as u32) % ty.bits as u32)),
            Self::Shr => {
                let count = (right as u32) % ty.bits as u32;
                if ty.signed { left >> count } else { ((left as u64) >> count) as i64 }
            }
            Self::Eq => (left == right) as i64,
            Self::Ne => (left != right) as i64,
            Self::Lt => ty.less(left, right) as i64,
            Self::Le => !ty.less(right, left) as i64,
            Self::FloatAdd => crate::float::add(ty, left, right),
            Self::FloatSub => crate::float::sub(ty, left, right),
            Self::FloatMul => crate::float::mul(ty, left, right),
            Self::FloatDiv => crate::float::div(ty, left, right),
            Self::FloatEq => crate::float::equal(ty, left, right) as i64,
            Self::FloatLt => crate::float::less(ty, left, right) as i64,
            Self::FloatLe => {
                (crate::float::less(ty, left, right) || crate::float::equal(ty, left, right)) as i64
            }
        }
    }
}

/// An expression. It is total: every evaluation gives a value. Zero is false, all else is true.
///
/// In guards and on arcs, an expression speaks only of the transition's variables: what a transition
/// reads of the marking is on its arcs and nowhere else. The variants from [`Expr::Cell`] on look at the
/// marking itself and occur only in the atoms of properties.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expr {
    /// A constant in canonical form.
    Const(i64),
    /// A variable of the transition.
    Var(Var),
    /// An operator on one operand, computed in the type.
    Unary(UnaryOp, IntType, Box<Expr>),
    /// An operator on two operands of the type.
    Binary(BinaryOp, IntType, Box<Expr>, Box<Expr>),
    /// Conversion to the type.
    Convert(IntType, Box<Expr>),
    /// If the first is true the second, else the third.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The value of a cell: the place, and the key (thread, depth, index, as its scope and length ask).
    /// Outside of the array: 0. Of a thread or frame that does not exist: the initial value.
    Cell(Place, Vec<Expr>),
    /// Whether a token is on the place whose first components are these (none given: any token).
    Marked(Place, Vec<Expr>),
    /// Whether the process has not ended and no thread can move.
    Deadlock,
}

/// Where an expression finds its values.
pub trait Scalars {
    /// The value of a variable of the transition.
    fn var(&self, var: Var) -> i64;
    /// The value of a cell.
    fn cell(&self, place: Place, key: &[i64]) -> i64;
    /// Whether the place has a token that starts with these components.
    fn marked(&self, place: Place, prefix: &[i64]) -> bool;
    /// Whether the marking is a deadlock.
    fn deadlock(&self) -> bool;
}

impl Expr {
    /// True.
    pub const TRUE: Self = Self::Const(1);

    /// An operator on two operands.
    #[must_use]
    pub fn binary(op: BinaryOp, ty: IntType, left: Self, right: Self) -> Self {
        if let (Self::Const(left), Self::Const(right)) = (&left, &right) {
            return Self::Const(op.apply(ty, *left, *right));
        }
        Self::Binary(op, ty, Box::new(left), Box::new(right))
    }

    /// An operator on one operand.
    #[must_use]
    pub fn unary(op: UnaryOp, ty: IntType, operand: Self) -> Self {
        match operand {
            Self::Const(value) => Self::Const(op.apply(ty, value)),
            operand => Self::Unary(op, ty, Box::new(operand)),
        }
    }

    /// A conversion.
    #[must_use]
    pub fn convert(ty: IntType, operand: Self) -> Self {
        match operand {
            Self::Const(value) => Self::Const(ty.wrap(value)),
            operand => Self::Convert(ty, Box::new(operand)),
        }
    }

    /// A choice.
    #[must_use]
    pub fn cond(condition: Self, then: Self, otherwise: Self) -> Self {
        match condition {
            Self::Const(0) => otherwise,
            Self::Const(_) => then,
            condition => Self::If(Box::new(condition), Box::new(then), Box::new(otherwise)),
        }
    }

    /// 1 where the operand is 0, else 0.
    #[must_use]
    pub fn logical_not(operand: Self) -> Self {
        match operand {
            Self::Binary(BinaryOp::Eq, ty, left, right) => Self::Binary(BinaryOp::Ne, ty, left, right),
            Self::Binary(BinaryOp::Ne, ty, left, right) => Self::Binary(BinaryOp::Eq, ty, left, right),
            Self::Binary(BinaryOp::Lt, ty, left, right) => Self::Binary(BinaryOp::Le, ty, right, left),
            Self::Binary(BinaryOp::Le, ty, left, right) => Self::Binary(BinaryOp::Lt, ty, right, left),
            operand => Self::binary(BinaryOp::Eq, IntType::I64, operand, Self::Const(0)),
        }
    }

    /// 1 where the operand is not 0, else 0.
    #[must_use]
    pub fn truth(operand: Self) -> Self {
        if operand.is_boolean() {
            operand
        } else {
            Self::binary(BinaryOp::Ne, IntType::I64, operand, Self::Const(0))
        }
    }

    /// 1 where both are true.
    #[must_use]
    pub fn both(left: Self, right: Self) -> Self {
        Self::cond(left, Self::truth(right), Self::Const(0))
    }

    /// 1 where one of them is true.
    #[must_use]
    pub fn either(left: Self, right: Self) -> Self {
        Self::cond(left, Self::Const(1), Self::truth(right))
    }

    /// 1 where they are equal, as canonical values.
    #[must_use]
    pub fn equal(left: Self, right: Self) -> Self {
        Self::binary(BinaryOp::Eq, IntType::I64, left, right)
    }

    /// How often a variable of the transition occurs.
    #[must_use]
    pub fn n_uses(&self, var: Var) -> usize {
        let mut count = 0;
        self.walk(&mut |part| count += usize::from(*part == Self::Var(var)));
        count
    }

    /// Whether it can only be 0 or 1.
    #[must_use]
    pub fn is_boolean(&self) -> bool {
        match self {
            Self::Const(value) => matches!(value, 0 | 1),
            Self::Binary(op, ..) => op.is_comparison(),
            Self::If(_, then, otherwise) => then.is_boolean() && otherwise.is_boolean(),
            Self::Marked(..) | Self::Deadlock => true,
            Self::Var(_) | Self::Unary(..) | Self::Convert(..) | Self::Cell(..) => false,
        }
    }

    /// The value.
    pub fn eval(&self, scalars: &impl Scalars) -> i64 {
        match self {
            Self::Const(value) => *value,
            Self::Var(var) => scalars.var(*var),
            Self::Unary(op, ty, operand) => op.apply(*ty, operand.eval(scalars)),
            Self::Binary(op, ty, left, right) => op.apply(*ty, left.eval(scalars), right.eval(scalars)),
            Self::Convert(ty, operand) => ty.wrap(operand.eval(scalars)),
            Self::If(condition, then, otherwise) => {
                if condition.eval(scalars) != 0 {
                    then.eval(scalars)
                } else {
                    otherwise.eval(scalars)
                }
            }
            Self::Cell(place, key) => {
                let key: Vec<i64> = key.iter().map(|part| part.eval(scalars)).collect();
                scalars.cell(*place, &key)
            }
            Self::Marked(place, prefix) => {
                let prefix: Vec<i64> = prefix.iter().map(|part| part.eval(scalars)).collect();
                i64::from(scalars.marked(*place, &prefix))
            }
            Self::Deadlock => i64::from(scalars.deadlock()),
        }
    }

    /// Calls `visit` on this expression and on all below it.
    pub fn walk(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        match self {
            Self::Const(_) | Self::Var(_) | Self::Deadlock => {}
            Self::Unary(_, _, operand) | Self::Convert(_, operand) => operand.walk(visit),
            Self::Binary(_, _, left, right) => {
                left.walk(visit);
                right.walk(visit);
            }
            Self::If(condition, then, otherwise) => {
                condition.walk(visit);
                then.walk(visit);
                otherwise.walk(visit);
            }
            Self::Cell(_, parts) | Self::Marked(_, parts) => parts.iter().for_each(|part| part.walk(visit)),
        }
    }

    /// The variables that occur in it, in order of occurrence, possibly repeated.
    #[must_use]
    pub fn vars(&self) -> Vec<Var> {
        let mut vars = Vec::new();
        self.walk(&mut |expr| {
            if let Self::Var(var) = expr {
                vars.push(*var);
            }
        });
        vars
    }

    /// The expression with each variable replaced.
    #[must_use]
    pub fn replace_vars(&self, by: &impl Fn(Var) -> Self) -> Self {
        let all = |parts: &[Self]| parts.iter().map(|part| part.replace_vars(by)).collect();
        match self {
            Self::Const(_) | Self::Deadlock => self.clone(),
            Self::Var(var) => by(*var),
            Self::Unary(op, ty, operand) => Self::unary(*op, *ty, operand.replace_vars(by)),
            Self::Binary(op, ty, left, right) => {
                Self::binary(*op, *ty, left.replace_vars(by), right.replace_vars(by))
            }
            Self::Convert(ty, operand) => Self::convert(*ty, operand.replace_vars(by)),
            Self::If(condition, then, otherwise) => {
                Self::cond(condition.replace_vars(by), then.replace_vars(by), otherwise.replace_vars(by))
            }
            Self::Cell(place, key) => Self::Cell(*place, all(key)),
            Self::Marked(place, prefix) => Self::Marked(*place, all(prefix)),
        }
    }

    /// The expression of an atom with each place replaced.
    #[must_use]
    pub fn replace_places(&self, by: &impl Fn(Place) -> Place) -> Self {
        let one = |part: &Self| Box::new(part.replace_places(by));
        let all = |parts: &[Self]| parts.iter().map(|part| part.replace_places(by)).collect();
        match self {
            Self::Const(_) | Self::Var(_) | Self::Deadlock => self.clone(),
            Self::Unary(op, ty, operand) => Self::Unary(*op, *ty, one(operand)),
            Self::Binary(op, ty, left, right) => Self::Binary(*op, *ty, one(left), one(right)),
            Self::Convert(ty, operand) => Self::Convert(*ty, one(operand)),
            Self::If(condition, then, otherwise) => Self::If(one(condition), one(then), one(otherwise)),
            Self::Cell(place, key) => Self::Cell(by(*place), all(key)),
            Self::Marked(place, prefix) => Self::Marked(by(*place), all(prefix)),
        }
    }

    /// Whether it looks at the marking and so can only be an atom.
    #[must_use]
    pub fn observes_marking(&self) -> bool {
        let mut observes = false;
        self.walk(&mut |expr| observes |= matches!(expr, Self::Cell(..) | Self::Marked(..) | Self::Deadlock));
        observes
    }

    /// The expression as a person reads it, with the names of the net's places.
    #[must_use]
    pub fn pretty(&self, net: &Net, names: &dyn Fn(Var) -> String) -> String {
        crate::print::pretty_expr(net, self, names)
    }
}
