//! Expressions of the net as expressions of Promela.
//!
//! Promela computes as C does with `int`, 32 bits with a sign. A value whose span fits into `int` is itself; one whose
//! span fits into 32 bits without a sign is the `int` with the same bits. Sums, differences and products have the right
//! lower 32 bits either way; other operators and comparisons are written so that they are right for the
//! representation at hand. What would need more bits is refused.

use std::collections::BTreeSet;

use pdnet_net::{BinaryOp, Expr, IntType, Place, UnaryOp, Var};

use super::model::Model;
use super::span::{self, Span};

/// Why something cannot be written in Promela.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Refusal {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A piece of Promela that has a value. The text is a word or stands in parentheses.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) text: String,
    pub(super) span: Span,
    /// The places that it looks at.
    pub(super) reads: BTreeSet<Place>,
}

impl Code {
    /// A constant.
    pub(super) fn constant(value: i64) -> Self {
        let span = Span::one(value);
        let text = match i32::try_from(value) {
            Ok(i32::MIN) => "(-2147483647 - 1)".to_owned(),
            Ok(value) if value < 0 => format!("({value})"),
            Ok(value) => value.to_string(),
            // The bits of a value without a sign; anything wider is refused by `checked`.
            #[expect(clippy::cast_possible_truncation, reason = "the lower bits are meant")]
            Err(_) => return Self { span, ..Self::constant(i64::from(value as i32)) },
        };
        Self { text, span, reads: BTreeSet::new() }
    }

    /// A piece made of others.
    pub(super) fn of(text: String, span: Span, parts: &[&Self]) -> Self {
        let reads = parts.iter().flat_map(|part| part.reads.iter().copied()).collect();
        Self { text, span, reads }
    }

    /// Whether the text is the value itself and not only its bits.
    pub(super) const fn is_int(&self) -> bool {
        self.span.fits_int()
    }

    /// 1 where all are true.
    pub(super) fn all(parts: Vec<Self>) -> Option<Self> {
        Self::joined(parts, "&&")
    }

    /// 1 where one is true; none where there are none.
    pub(super) fn any(parts: Vec<Self>) -> Option<Self> {
        Self::joined(parts, "||")
    }

    fn joined(mut parts: Vec<Self>, by: &str) -> Option<Self> {
        if parts.len() < 2 {
            return parts.pop();
        }
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        let text = format!("({})", texts.join(&format!(" {by} ")));
        let refs: Vec<&Self> = parts.iter().collect();
        Some(Self::of(text, TRUTH, &refs))
    }

    /// 1 where it is 0.
    pub(super) fn negated(&self) -> Self {
        Self::of(format!("(!{})", self.text), TRUTH, &[self])
    }
}

const TRUTH: Span = Span::new(0, 1);

/// Writes expressions.
pub(super) struct ExprWriter<'a> {
    pub(super) model: &'a Model<'a>,
    /// What stands for the variables of a step.
    pub(super) vars: &'a dyn Fn(Var) -> Option<Code>,
    /// In formulas `->` is the implication, so that there is no conditional expression.
    pub(super) in_formula: bool,
}

impl ExprWriter<'_> {
    /// The expression, which must be of 32 bits.
    pub(super) fn write(&self, expr: &Expr) -> Result<Code, Refusal> {
        let code = match expr {
            Expr::Const(value) => Code::constant(*value),
            Expr::Var(var) => (self.vars)(*var)
                .ok_or_else(|| Refusal::new(format!("the variable {var} of a step is not bound")))?,
            Expr::Convert(ty, operand) => convert(*ty, self.write(operand)?)?,
            Expr::If(condition, then, otherwise) => self.conditional(condition, then, otherwise)?,
            Expr::Unary(op, ty, operand) => unary(*op, *ty, &self.write(operand)?)?,
            Expr::Binary(op, ty, left, right) => {
                self.binary(*op, *ty, &self.write(left)?, &self.write(right)?)?
            }
            Expr::Cell(place, key) => {
                let key: Result<Vec<Code>, Refusal> = key.iter().map(|part| self.write(part)).collect();
                self.read(*place, &key?)?
            }
            Expr::Marked(place, prefix) => {
                let prefix: Result<Vec<Code>, Refusal> = prefix.iter().map(|part| self.write(part)).collect();
                self.marked(*place, &prefix?)
            }
            Expr::Deadlock => {
                return Err(Refusal::new("the atom `deadlock` has no counterpart in a formula of SPIN")
                    .help("ask for `--check deadlock`, which becomes an invalid end state"));
            }
        };
        checked(code)
    }

    /// If the first is true the second, else the third.
    fn conditional(&self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Result<Code, Refusal> {
        let condition = self.write(condition)?;
        match condition.span.truth() {
            Some(true) => return self.write(then),
            Some(false) => return self.write(otherwise),
            None => {}
        }
        if *otherwise == Expr::Const(0) && then.is_boolean() {
            let then = self.write(then)?;
            return Ok(if then.span == Span::one(1) {
                truth(&condition)
            } else {
                Code::of(format!("({} && {})", condition.text, then.text), TRUTH, &[&condition, &then])
            });
        }
        if *then == Expr::Const(1) && otherwise.is_boolean() {
            let otherwise = self.write(otherwise)?;
            return Ok(Code::of(
                format!("({} || {})", condition.text, otherwise.text),
                TRUTH,
                &[&condition, &otherwise],
            ));
        }
        let (then, otherwise) = (self.write(then)?, self.write(otherwise)?);
        Ok(self.choose(&condition, &then, &otherwise))
    }

    /// A conditional expression.
    pub(super) fn choose(&self, condition: &Code, then: &Code, otherwise: &Code) -> Code {
        let (c, a, b) = (&condition.text, &then.text, &otherwise.text);
        let text = if self.in_formula {
            format!("((({c}) != 0) * {a} + (({c}) == 0) * {b})")
        } else {
            format!("({c} -> {a} : {b})")
        };
        Code::of(text, then.span.hull(otherwise.span), &[condition, then, otherwise])
    }

    fn binary(&self, op: BinaryOp, ty: IntType, left: &Code, right: &Code) -> Result<Code, Refusal> {
        let span = span::binary(op, ty, left.span, right.span);
        if let Some(value) = span.single() {
            return Ok(Code::constant(value));
        }
        let (a, b) = (&left.text, &right.text);
        let plain = |sign: &str| Code::of(format!("({a} {sign} {b})"), span, &[left, right]);
        let both_int = left.is_int() && right.is_int();
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                let sign = match op {
                    BinaryOp::Add => "+",
                    BinaryOp::Sub => "-",
                    _ => "*",
                };
                let exact = span::exact(op, left.span, right.span).unwrap_or(span::ALL);
                wrap(ty, exact, plain(sign))
            }
            BinaryOp::And => Ok(plain("&")),
            BinaryOp::Or => Ok(plain("|")),
            BinaryOp::Xor => Ok(plain("^")),
            BinaryOp::Eq | BinaryOp::Ne => Ok(equality(op == BinaryOp::Eq, left, right)),
            BinaryOp::Lt | BinaryOp::Le => {
                let sign = if op == BinaryOp::Lt { "<" } else { "<=" };
                let is_natural = left.span.low >= 0 && right.span.low >= 0;
                if both_int && (ty.signed || is_natural) {
                    Ok(plain(sign))
                } else if (both_int && !ty.signed) || is_natural {
                    // The order of the bits as a number without a sign.
                    let text = format!("(({a} ^ {MIN}) {sign} ({b} ^ {MIN}))");
                    Ok(Code::of(text, TRUTH, &[left, right]))
                } else {
                    Err(wide("a comparison"))
                }
            }
            BinaryOp::Div | BinaryOp::Rem => self.division(op, ty, left, right, span),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, ty, left, right, span),
            BinaryOp::FloatAdd
            | BinaryOp::FloatSub
            | BinaryOp::FloatMul
            | BinaryOp::FloatDiv
            | BinaryOp::FloatEq
            | BinaryOp::FloatLt
            | BinaryOp::FloatLe => Err(floating()),
        }
    }

    fn division(
        &self,
        op: BinaryOp,
        ty: IntType,
        left: &Code,
        right: &Code,
        span: Span,
    ) -> Result<Code, Refusal> {
        let (a, b) = (&left.text, &right.text);
        let sign = if op == BinaryOp::Div { "/" } else { "%" };
        let is_natural = left.span.low >= 0 && right.span.low >= 0;
        let quotient = if left.is_int() && right.is_int() && (ty.signed || is_natural) {
            let plain = Code::of(format!("({a} {sign} {b})"), span, &[left, right]);
            // The smallest number divided by -1 is too large, and a trap on some machines.
            if left.span.low == i128::from(i32::MIN) && right.span.contains(-1) {
                let minus = Code::of(format!("({b} == -1)"), TRUTH, &[right]);
                let by_minus = match op {
                    BinaryOp::Div => Code::of(format!("(-{a})"), span, &[left]),
                    _ => Code::constant(0),
                };
                self.choose(&minus, &by_minus, &plain)
            } else {
                plain
            }
        } else if is_natural && !self.in_formula {
            self.model.use_macro(if op == BinaryOp::Div { Macro::Divide } else { Macro::Remainder });
            let name = if op == BinaryOp::Div { "udiv" } else { "umod" };
            Code::of(format!("{name}({a}, {b})"), span, &[left, right])
        } else {
            return Err(wide("a division"));
        };
        let quotient = wrap(ty, quotient.span, quotient)?;
        if !right.span.contains(0) {
            return Ok(quotient);
        }
        if self.in_formula {
            // Both ways are computed there.
            let safe = format!("({a} {sign} ({b} + ({b} == 0)))");
            let safe = Code::of(format!("(({b} != 0) * {safe})"), span.hull(Span::one(0)), &[left, right]);
            return if left.is_int() && right.is_int() { Ok(safe) } else { Err(wide("a division")) };
        }
        let is_zero = Code::of(format!("({b} == 0)"), TRUTH, &[right]);
        Ok(self.choose(&is_zero, &Code::constant(0), &quotient))
    }

    fn shift(
        &self,
        op: BinaryOp,
        ty: IntType,
        left: &Code,
        right: &Code,
        span: Span,
    ) -> Result<Code, Refusal> {
        let bits = i64::from(ty.bits);
        // The count, below the width.
        let count = if right.span.is_within(Span::new(0, i128::from(bits) - 1)) {
            right.clone()
        } else if ty.bits.is_power_of_two() {
            let text = format!("({} & {})", right.text, bits - 1);
            Code::of(text, Span::new(0, i128::from(bits) - 1), &[right])
        } else {
            return Err(wide("a shift"));
        };
        if count.span.high > 31 {
            return Err(wide("a shift"));
        }
        let (a, n) = (&left.text, &count.text);
        if op == BinaryOp::Shl {
            let exact = Span::new(
                (left.span.low << count.span.high).min(left.span.low << count.span.low),
                (left.span.high << count.span.high).max(left.span.high << count.span.low),
            );
            return wrap(ty, exact, Code::of(format!("({a} << {n})"), span, &[left, &count]));
        }
        if left.is_int() && (ty.signed || left.span.low >= 0) {
            return Ok(Code::of(format!("({a} >> {n})"), span, &[left, &count]));
        }
        if left.span.fits_word() && !self.in_formula {
            self.model.use_macro(Macro::Shift);
            return Ok(Code::of(format!("ushr({a}, {n})"), span, &[left, &count]));
        }
        Err(wide("a shift"))
    }

    /// The value of a cell.
    pub(super) fn read(&self, place: Place, key: &[Code]) -> Result<Code, Refusal> {
        let model = self.model;
        if let Some(value) = model.constant_cell(place, key) {
            return Ok(Code::constant(value));
        }
        let (index, inside) = model.cell_index(place, key)?;
        if inside.as_ref().is_some_and(|inside| inside.span.truth() == Some(false)) {
            return Ok(Code::constant(model.outside(place)?));
        }
        if let Some(table) = model.tables.get(&place) {
            // In formulas only: steps look at such cells value by value.
            let mut parts = Vec::new();
            for (number, value) in table.iter().enumerate() {
                let cell = model.cell_text(place, &index);
                let value = checked(Code::constant(*value))?;
                parts.push(format!("({cell} == {number}) * {}", value.text));
            }
            if inside.is_some() || !self.in_formula {
                return Err(wide("a cell"));
            }
            let span = model.possible.values[place].span();
            let mut code = Code::of(format!("({})", parts.join(" + ")), span, &[&index]);
            code.reads.insert(place);
            return checked(code);
        }
        let span = model.possible.values[place].span();
        let at = |index: &Code| {
            let mut code = Code::of(model.cell_text(place, index), span, &[index]);
            code.reads.insert(place);
            code
        };
        let Some(inside) = inside else { return Ok(at(&index)) };
        let outside = Code::constant(model.outside(place)?);
        if self.in_formula {
            // Both ways are computed there, so that the index must be one in any case.
            let safe =
                Code::of(format!("({} * {})", inside.text, index.text), index.span, &[&inside, &index]);
            return Ok(self.choose(&inside, &at(&safe), &outside));
        }
        Ok(self.choose(&inside, &at(&index), &outside))
    }

    /// Whether a token is on the place that starts so.
    pub(super) fn marked(&self, place: Place, prefix: &[Code]) -> Code {
        let model = self.model;
        let mut ways = Vec::new();
        for (token, code) in model.tokens(place) {
            let mut parts = Vec::new();
            let mut is_possible = true;
            for (wanted, has) in prefix.iter().zip(&token) {
                let equal = equality(true, wanted, &Code::constant(*has));
                match equal.span.truth() {
                    Some(true) => {}
                    Some(false) => is_possible = false,
                    None => parts.push(equal),
                }
            }
            if is_possible {
                parts.push(code);
                ways.extend(Code::all(parts));
            }
        }
        Code::any(ways).unwrap_or_else(|| Code::constant(0))
    }
}

/// The smallest `int`.
const MIN: &str = "(-2147483647 - 1)";

/// Definitions that a model may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Macro {
    Divide,
    Remainder,
    Shift,
}

impl Macro {
    /// The definition. Quotients of numbers without a sign: half of the dividend fits into `int`, and what is missing
    /// at the end is at most one.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Divide => {
                "#define ubelow(a, b) (((a) ^ (-2147483647 - 1)) < ((b) ^ (-2147483647 - 1)))\n\
                 #define uhalf(a, b) ((((((a) >> 1) & 2147483647) / (b)) << 1))\n\
                 #define udiv(a, b) ((b) < 0 -> (ubelow(a, b) -> 0 : 1) : (uhalf(a, b) + (ubelow((a) - uhalf(a, b) * (b), b) -> 0 : 1)))\n"
            }
            Self::Remainder => "#define umod(a, b) ((a) - udiv(a, b) * (b))\n",
            Self::Shift => {
                "#define ushr(a, n) ((n) == 0 -> (a) : (((a) >> (n)) & (2147483647 >> ((n) - 1))))\n"
            }
        }
    }
}

/// The result of an operator that was computed in `int`, as a value of its type. `exact` is the span of what would be
/// computed with no limit.
fn wrap(ty: IntType, exact: Span, code: Code) -> Result<Code, Refusal> {
    let whole = Span::of_type(ty);
    if exact.is_within(whole) {
        return checked(Code { span: exact, ..code });
    }
    if ty.bits > 32 {
        return Err(wide("a result"));
    }
    Ok(narrowed(ty, code))
}

/// The lower bits of an `int` as a value of a type of at most 32 bits.
fn narrowed(ty: IntType, code: Code) -> Code {
    let span = Span::of_type(ty);
    if ty.bits == 32 {
        return Code { span, ..code };
    }
    let mask = (1_i64 << ty.bits) - 1;
    let text = if ty.signed {
        let sign = 1_i64 << (ty.bits - 1);
        format!("((({} & {mask}) ^ {sign}) - {sign})", code.text)
    } else {
        format!("({} & {mask})", code.text)
    };
    Code { text, span, ..code }
}

fn convert(ty: IntType, code: Code) -> Result<Code, Refusal> {
    if let Some(value) = code.span.single() {
        return checked(Code::constant(ty.wrap(value)));
    }
    // 64 bits hold all values as they are.
    if ty.bits == 64 || code.span.is_within(Span::of_type(ty)) {
        return Ok(code);
    }
    if ty.bits > 32 {
        return Err(wide("a conversion"));
    }
    Ok(narrowed(ty, code))
}

fn unary(op: UnaryOp, ty: IntType, operand: &Code) -> Result<Code, Refusal> {
    let span = span::unary(op, ty, operand.span);
    if let Some(value) = span.single() {
        return checked(Code::constant(value));
    }
    let (low, high) = (operand.span.low, operand.span.high);
    match op {
        UnaryOp::Neg => {
            let code = Code::of(format!("(-{})", operand.text), span, &[operand]);
            wrap(ty, Span::new(-high, -low), code)
        }
        UnaryOp::Not => {
            let code = Code::of(format!("(~{})", operand.text), span, &[operand]);
            wrap(ty, Span::new(!high, !low), code)
        }
        UnaryOp::FloatNeg
        | UnaryOp::FloatFromSigned
        | UnaryOp::FloatFromUnsigned
        | UnaryOp::FloatToSigned
        | UnaryOp::FloatToUnsigned
        | UnaryOp::FloatWiden
        | UnaryOp::FloatNarrow => Err(floating()),
    }
}

/// Whether two values are equal, or whether they are not.
pub(super) fn equality(equal: bool, left: &Code, right: &Code) -> Code {
    let is_apart = left.span.high < right.span.low || right.span.high < left.span.low;
    if is_apart {
        return Code::constant(i64::from(!equal));
    }
    if let (Some(a), Some(b)) = (left.span.single(), right.span.single()) {
        return Code::constant(i64::from((a == b) == equal));
    }
    let (a, b) = (&left.text, &right.text);
    let sign = if equal { "==" } else { "!=" };
    // Of the same bits, one may be a value without a sign and the other a negative one.
    let negative = match (left.is_int(), right.is_int()) {
        (false, true) if right.span.low < 0 => Some(b),
        (true, false) if left.span.low < 0 => Some(a),
        _ => None,
    };
    let text = match (negative, equal) {
        (None, _) => format!("({a} {sign} {b})"),
        (Some(signed), true) => format!("({signed} >= 0 && {a} == {b})"),
        (Some(signed), false) => format!("({signed} < 0 || {a} != {b})"),
    };
    Code::of(text, TRUTH, &[left, right])
}

/// 1 where it is not 0.
fn truth(code: &Code) -> Code {
    if code.span.is_within(TRUTH) {
        return code.clone();
    }
    Code::of(format!("({} != 0)", code.text), TRUTH, &[code])
}

/// Refuses what has more than 32 bits.
pub(super) fn checked(code: Code) -> Result<Code, Refusal> {
    if code.span.fits_int() || code.span.fits_word() { Ok(code) } else { Err(wide("a value")) }
}

fn wide(what: &str) -> Refusal {
    Refusal::new(format!("{what} of more than 32 bits, which is all that Promela computes with"))
}

fn floating() -> Refusal {
    Refusal::new("floating-point arithmetic, which Promela does not have")
}
