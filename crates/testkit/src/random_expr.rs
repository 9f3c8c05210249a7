//! Random C integer expressions that have one value: no undefined behaviour, no unspecified order.
//!
//! Divisors that are 0 or -1 are kept away by a condition, shift counts by a mask, and the operand of a left
//! shift is made unsigned. Signed overflow is left in: pdnet wraps, and so does the compiler under `-fwrapv`.

use std::fmt::{self, Write as _};

use pdnet_base::Rng;

/// The integer types of C, for 64-bit machines other than Windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CType {
    /// `_Bool`
    Bool,
    /// `char`, which is signed on the machines that we compare with
    Char,
    /// `signed char`
    SChar,
    /// `unsigned char`
    UChar,
    /// `short`
    Short,
    /// `unsigned short`
    UShort,
    /// `int`
    Int,
    /// `unsigned int`
    UInt,
    /// `long`
    Long,
    /// `unsigned long`
    ULong,
    /// `long long`
    LongLong,
    /// `unsigned long long`
    ULongLong,
}

impl CType {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Bool,
        Self::Char,
        Self::SChar,
        Self::UChar,
        Self::Short,
        Self::UShort,
        Self::Int,
        Self::UInt,
        Self::Long,
        Self::ULong,
        Self::LongLong,
        Self::ULongLong,
    ];

    /// How it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "_Bool",
            Self::Char => "char",
            Self::SChar => "signed char",
            Self::UChar => "unsigned char",
            Self::Short => "short",
            Self::UShort => "unsigned short",
            Self::Int => "int",
            Self::UInt => "unsigned int",
            Self::Long => "long",
            Self::ULong => "unsigned long",
            Self::LongLong => "long long",
            Self::ULongLong => "unsigned long long",
        }
    }

    /// The number of bits that decide its value.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Char | Self::SChar | Self::UChar => 8,
            Self::Short | Self::UShort => 16,
            Self::Int | Self::UInt => 32,
            Self::Long | Self::ULong | Self::LongLong | Self::ULongLong => 64,
        }
    }
}

/// A variable of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedVariable {
    /// Its type.
    pub ctype: CType,
    /// Its name.
    pub name: String,
    /// The bits of its value; those above the width of the type are 0.
    pub bits: u64,
}

impl fmt::Display for TypedVariable {
    /// The declaration with its value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ctype, name, bits } = self;
        if *bits < 100 {
            write!(f, "{} {name} = {bits};", ctype.name())
        } else {
            write!(f, "{} {name} = ({})0x{bits:x}ULL;", ctype.name(), ctype.name())
        }
    }
}

/// An expression and the variables in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomExpr {
    /// The variables.
    pub variables: Vec<TypedVariable>,
    /// The expression.
    pub text: String,
}

/// What expressions look like.
#[derive(Clone, Debug)]
pub struct ExprConfig {
    /// The most operators on a way from the whole to a leaf.
    pub max_depth: usize,
    /// The most variables, at least 1.
    pub max_variables: usize,
    /// Percentage of leaves that are literals.
    pub literals: usize,
}

impl Default for ExprConfig {
    fn default() -> Self {
        Self { max_depth: 4, max_variables: 4, literals: 30 }
    }
}

/// A random expression.
#[must_use]
pub fn random_expr(rng: &mut Rng, config: &ExprConfig) -> RandomExpr {
    let n_variables = 1 + rng.below(config.max_variables);
    let variables: Vec<TypedVariable> = (0..n_variables).map(|idx| random_variable(rng, idx)).collect();
    let mut text = String::new();
    let depth = 1 + rng.below(config.max_depth);
    Writer { rng, config, variables: &variables }.write(&mut text, depth).expect("strings take all text");
    RandomExpr { variables, text }
}

impl RandomExpr {
    /// A program that stores the value of each expression, as `long long`, in a global of its own: `r0`,
    /// `r1`, and so on, each computed by a function of its own.
    #[must_use]
    pub fn program(exprs: &[Self], printing: Printing) -> String {
        let mut text = String::new();
        if printing == Printing::Results {
            text.push_str("#include <stdio.h>\n");
        }
        for (idx, expr) in exprs.iter().enumerate() {
            let _ = writeln!(text, "long long r{idx};\nlong long e{idx}(void)\n{{");
            for variable in &expr.variables {
                let _ = writeln!(text, "    {variable}");
            }
            let _ = writeln!(text, "    return (long long)({});\n}}", expr.text);
        }
        text.push_str("int main(void)\n{\n");
        for idx in 0..exprs.len() {
            let _ = writeln!(text, "    r{idx} = e{idx}();");
        }
        if printing == Printing::Results {
            for idx in 0..exprs.len() {
                let _ = writeln!(text, "    printf(\"%lld\\n\", r{idx});");
            }
        }
        text.push_str("    return 0;\n}\n");
        text
    }
}

/// Whether a program of expressions prints their values, one to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printing {
    /// It prints nothing.
    Nothing,
    /// It prints all values.
    Results,
}

fn random_variable(rng: &mut Rng, idx: usize) -> TypedVariable {
    let ctype = *rng.pick(&CType::ALL);
    let mask = u64::MAX >> (64 - ctype.bits());
    let top = 1_u64 << (ctype.bits() - 1);
    let bits = match rng.below(8) {
        0 => 0,
        1 => 1,
        2 => mask,
        3 => top,
        4 => top - 1,
        5 => rng.below(20) as u64,
        6 => (rng.below(20) as u64).wrapping_neg(),
        _ => rng.next_u64(),
    };
    TypedVariable { ctype, name: format!("v{idx}"), bits: bits & mask }
}

/// Literals of all types and forms, many of them at the edge of a type.
const LITERALS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "7",
    "100",
    "255",
    "'a'",
    "'\\n'",
    "'\\xff'",
    "017",
    "0xff",
    "65535",
    "2147483647",
    "(-2147483647 - 1)",
    "2147483648",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "1u",
    "4294967295u",
    "1L",
    "-1L",
    "3ul",
    "9223372036854775807",
    "(-9223372036854775807LL - 1)",
    "0x8000000000000000",
    "18446744073709551615u",
    "1ULL",
];

struct Writer<'a> {
    rng: &'a mut Rng,
    config: &'a ExprConfig,
    variables: &'a [TypedVariable],
}

impl Writer<'_> {
    fn write(&mut self, out: &mut String, depth: usize) -> fmt::Result {
        if depth == 0 {
            return self.leaf(out);
        }
        match self.rng.below(20) {
            0..=4 => {
                let op = *self.rng.pick(&["+", "-", "*", "&", "|", "^"]);
                self.infix(out, op, depth)
            }
            5..=7 => {
                let op = *self.rng.pick(&["==", "!=", "<", ">", "<=", ">="]);
                self.infix(out, op, depth)
            }
            8 => {
                let op = *self.rng.pick(&["&&", "||"]);
                self.infix(out, op, depth)
            }
            9 | 10 => {
                let op = *self.rng.pick(&["-", "~", "!", "+"]);
                write!(out, "{op}(")?;
                self.write(out, depth - 1)?;
                out.write_char(')')
            }
            11..=13 => {
                let ctype = self.rng.pick(&CType::ALL).name();
                write!(out, "({ctype})(")?;
                self.write(out, depth - 1)?;
                out.write_char(')')
            }
            14 | 15 => self.division(out, depth),
            16 | 17 => self.shift(out, depth),
            18 => {
                out.write_char('(')?;
                self.write(out, depth - 1)?;
                out.write_str(" ? ")?;
                self.write(out, depth - 1)?;
                out.write_str(" : ")?;
                self.write(out, depth - 1)?;
                out.write_char(')')
            }
            _ => {
                if self.rng.chance(50) {
                    out.write_str("sizeof(")?;
                    self.write(out, depth - 1)?;
                    return out.write_char(')');
                }
                out.write_str("((void)0, ")?;
                self.write(out, depth - 1)?;
                out.write_char(')')
            }
        }
    }

    fn infix(&mut self, out: &mut String, op: &str, depth: usize) -> fmt::Result {
        let right_depth = self.rng.below(depth);
        out.write_char('(')?;
        self.write(out, depth - 1)?;
        write!(out, " {op} ")?;
        self.write(out, right_depth)?;
        out.write_char(')')
    }

    /// The divisor is written three times, so it is a small one.
    fn division(&mut self, out: &mut String, depth: usize) -> fmt::Result {
        let op = *self.rng.pick(&["/", "%"]);
        if self.rng.chance(30) {
            let divisor = *self.rng.pick(&["1", "2", "3", "7", "-3", "10u", "256L", "0x80000000", "5ULL"]);
            out.write_char('(')?;
            self.write(out, depth - 1)?;
            return write!(out, " {op} {divisor})");
        }
        let mut divisor = String::new();
        let divisor_depth = self.rng.below(2).min(depth - 1);
        self.write(&mut divisor, divisor_depth)?;
        write!(out, "({divisor} != 0 && {divisor} != -1 ? ")?;
        self.write(out, depth - 1)?;
        write!(out, " {op} {divisor} : ")?;
        self.leaf(out)?;
        out.write_char(')')
    }

    fn shift(&mut self, out: &mut String, depth: usize) -> fmt::Result {
        let count_depth = self.rng.below(depth);
        let (cast, op, mask) = *self.rng.pick(&[
            ("unsigned int", "<<", 31),
            ("unsigned long", "<<", 63),
            ("unsigned long long", "<<", 7),
            ("int", ">>", 31),
            ("long", ">>", 63),
            ("", ">>", 31),
            ("", ">>", 7),
        ]);
        out.write_char('(')?;
        if !cast.is_empty() {
            write!(out, "({cast})")?;
        }
        out.write_char('(')?;
        self.write(out, depth - 1)?;
        write!(out, ") {op} (")?;
        self.write(out, count_depth)?;
        write!(out, " & {mask}))")
    }

    fn leaf(&mut self, out: &mut String) -> fmt::Result {
        if self.rng.chance(self.config.literals) {
            let literal: &&str = self.rng.pick(LITERALS);
            return out.write_str(literal);
        }
        let variable = self.rng.pick(self.variables);
        out.write_str(&variable.name)
    }
}
