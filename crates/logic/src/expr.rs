//! C expressions inside atoms: syntax only, names are not resolved.

use std::fmt::{self, Write as _};

use pdnet_source::Span;

use crate::words::is_reserved;
use crate::{Name, ThreadRef};

/// An expression with its place in the text. Two expressions are equal if they say the same, wherever
/// they stand: this is what lets a formula share equal atoms.
#[derive(Clone, Debug)]
pub struct ExprSyntax {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for ExprSyntax {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for ExprSyntax {}

/// The forms of an expression. There are no calls, assignments, increments or casts: a property looks
/// at a state and must not change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// An integer or character constant; negative only where a character constant is (`'\xff'`).
    Int(i128, IntSuffix),
    /// A name: a global, an enumerator, a macro that the front end knows.
    Name(String),
    /// `func::v` or `func[k]::v`: a local of a thread or activation.
    Local {
        /// Whose local.
        thread: ThreadRef,
        /// The local.
        name: Name,
    },
    /// A prefix operator and its operand.
    Unary(UnaryOp, Box<ExprSyntax>),
    /// An infix operator and its operands.
    Binary(BinaryOp, Box<ExprSyntax>, Box<ExprSyntax>),
    /// `c ? a : b`
    Conditional(Box<ExprSyntax>, Box<ExprSyntax>, Box<ExprSyntax>),
    /// `a[i]`
    Index(Box<ExprSyntax>, Box<ExprSyntax>),
    /// `s.f`
    Member(Box<ExprSyntax>, Name),
    /// `p->f`
    Arrow(Box<ExprSyntax>, Name),
}

/// How an integer constant was written, as far as C lets that decide its type (C11 6.4.4.1p5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IntSuffix {
    /// Has a `u`.
    pub unsigned: bool,
    /// The number of `l`: 0, 1 or 2.
    pub longs: u8,
    /// Written in decimal; others may become unsigned without a suffix.
    pub decimal: bool,
}

impl IntSuffix {
    /// A plain decimal constant.
    pub const PLAIN: Self = Self { unsigned: false, longs: 0, decimal: true };
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `+`, which still promotes its operand.
    Plus,
    /// `~`
    BitNot,
    /// `!`
    Not,
    /// `*`
    Deref,
    /// `&`
    AddressOf,
}

impl UnaryOp {
    /// The operator as C writes it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Neg => "-",
            Self::Plus => "+",
            Self::BitNot => "~",
            Self::Not => "!",
            Self::Deref => "*",
            Self::AddressOf => "&",
        }
    }
}

/// An infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `&&`
    And,
    /// `||`
    Or,
}

impl BinaryOp {
    /// The operator as C writes it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::BitAnd => "&",
            Self::BitXor => "^",
            Self::BitOr => "|",
            Self::And => "&&",
            Self::Or => "||",
        }
    }

    /// How tightly it binds in C (C11 6.5.5 to 6.5.14); all of these associate to the left.
    pub(crate) const fn level(self) -> u8 {
        match self {
            Self::Or => level::OR,
            Self::And => level::OR + 1,
            Self::BitOr => level::OR + 2,
            Self::BitXor => level::OR + 3,
            Self::BitAnd => level::OR + 4,
            Self::Eq | Self::Ne => level::EQUALITY,
            Self::Lt | Self::Le | Self::Gt | Self::Ge => level::RELATIONAL,
            Self::Shl | Self::Shr => level::SHIFT,
            Self::Add | Self::Sub => level::SHIFT + 1,
            Self::Mul | Self::Div | Self::Rem => level::SHIFT + 2,
        }
    }

    /// Whether it is one of the six comparisons.
    #[must_use]
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::Eq | Self::Ne)
    }

    /// Whether it computes a number: what stands below the comparisons in C's grammar.
    pub(crate) const fn is_arithmetic(self) -> bool {
        self.level() >= level::SHIFT
    }
}

/// The binding strengths of C, weakest first. Those from `EQUALITY` on are also the strengths of bare
/// atoms, where they continue the levels of the temporal operators.
pub(crate) mod level {
    pub(crate) const CONDITIONAL: u8 = 1;
    pub(crate) const OR: u8 = 3;
    pub(crate) const EQUALITY: u8 = 8;
    pub(crate) const RELATIONAL: u8 = 9;
    pub(crate) const SHIFT: u8 = 10;
    pub(crate) const UNARY: u8 = 13;
    pub(crate) const POSTFIX: u8 = 14;
}

impl ExprSyntax {
    fn level(&self) -> u8 {
        match &self.kind {
            ExprKind::Int(..) | ExprKind::Name(_) | ExprKind::Local { .. } => level::POSTFIX,
            ExprKind::Index(..) | ExprKind::Member(..) | ExprKind::Arrow(..) => level::POSTFIX,
            ExprKind::Unary(..) => level::UNARY,
            ExprKind::Binary(op, ..) => op.level(),
            ExprKind::Conditional(..) => level::CONDITIONAL,
        }
    }

    /// Whether the expression means the same when it stands in a formula without quotes. It does not
    /// where an operator would be taken as a logical one (`!`, `&&`, `->`) or a name as a keyword.
    pub(crate) fn is_bare(&self) -> bool {
        match &self.kind {
            ExprKind::Int(..) => true,
            ExprKind::Name(name) => !is_reserved(name),
            ExprKind::Local { thread, .. } => !is_reserved(&thread.function.text),
            ExprKind::Unary(UnaryOp::Not | UnaryOp::BitNot, _) => false,
            ExprKind::Unary(UnaryOp::Neg | UnaryOp::Plus | UnaryOp::Deref | UnaryOp::AddressOf, operand) => {
                operand.is_bare()
            }
            ExprKind::Binary(op, left, right) => {
                (op.is_arithmetic() || op.is_comparison()) && left.is_bare() && right.is_bare()
            }
            ExprKind::Conditional(..) | ExprKind::Arrow(..) => false,
            // Brackets are C again, so anything may stand in them.
            ExprKind::Index(base, _) | ExprKind::Member(base, _) => base.is_bare(),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, min: u8) -> fmt::Result {
        let parentheses = self.level() < min;
        if parentheses {
            f.write_char('(')?;
        }
        match &self.kind {
            ExprKind::Int(value, suffix) => write_int(f, *value, *suffix)?,
            ExprKind::Name(name) => f.write_str(name)?,
            ExprKind::Local { thread, name } => write!(f, "{thread}::{name}")?,
            ExprKind::Unary(op, operand) => {
                f.write_str(op.text())?;
                // `--x` and `&&x` are other tokens.
                if matches!(&operand.kind, ExprKind::Unary(inner, _) if inner == op) {
                    f.write_char(' ')?;
                }
                operand.write(f, level::UNARY)?;
            }
            ExprKind::Binary(op, left, right) => {
                // A comparison of comparisons gets its parentheses even where C does not ask for them,
                // because the parser takes a chain of them for a slip.
                let floor = if op.is_comparison() { level::SHIFT } else { op.level() };
                left.write(f, floor)?;
                write!(f, " {} ", op.text())?;
                right.write(f, floor.max(op.level() + 1))?;
            }
            ExprKind::Conditional(condition, yes, no) => {
                condition.write(f, level::OR)?;
                f.write_str(" ? ")?;
                yes.write(f, level::CONDITIONAL)?;
                f.write_str(" : ")?;
                no.write(f, level::CONDITIONAL)?;
            }
            ExprKind::Index(base, index) => {
                base.write(f, level::POSTFIX)?;
                write!(f, "[{index}]")?;
            }
            ExprKind::Member(base, name) => {
                // `3.x` would be a floating constant.
                let number = matches!(base.kind, ExprKind::Int(..));
                base.write(f, if number { level::POSTFIX + 1 } else { level::POSTFIX })?;
                write!(f, ".{name}")?;
            }
            ExprKind::Arrow(base, name) => {
                base.write(f, level::POSTFIX)?;
                write!(f, "->{name}")?;
            }
        }
        if parentheses {
            f.write_char(')')?;
        }
        Ok(())
    }
}

/// The expression in C's syntax, with no more parentheses than needed to read it back.
impl fmt::Display for ExprSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, level::CONDITIONAL)
    }
}

fn write_int(f: &mut fmt::Formatter<'_>, value: i128, suffix: IntSuffix) -> fmt::Result {
    match u128::try_from(value) {
        // Only a character constant is negative: C's integer constants have no sign.
        Err(_) => return write!(f, "'\\x{:02x}'", value & 0xff),
        Ok(value) if suffix.decimal => write!(f, "{value}")?,
        Ok(value) => write!(f, "{value:#x}")?,
    }
    if suffix.unsigned {
        f.write_char('U')?;
    }
    for _ in 0..suffix.longs.min(2) {
        f.write_char('L')?;
    }
    Ok(())
}
