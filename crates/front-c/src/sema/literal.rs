//! Constants and strings as they are written.

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::Diagnostic;

use super::Sema;
use crate::tree::{Expr, ExprKind, Init, InitStep, Linkage, Lvalue, LvalueKind, Storage, VariableData};
use crate::types::{FloatKind, IntKind, QualType, Type};

/// What stands before the quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Narrow,
    Wide,
    Utf16,
    Utf32,
}

impl Sema<'_> {
    pub(super) fn constant(&mut self, node: &Node<ast::Constant>) -> Expr {
        let span = self.span(node.span);
        match &node.node {
            ast::Constant::Integer(integer) => {
                let radix = match integer.base {
                    ast::IntegerBase::Decimal => 10,
                    ast::IntegerBase::Octal => 8,
                    ast::IntegerBase::Hexadecimal => 16,
                    ast::IntegerBase::Binary => 2,
                };
                if integer.suffix.imaginary {
                    return Self::unsupported("imaginary constant", Type::INT, span);
                }
                let value =
                    u128::from_str_radix(&integer.number, radix).ok().filter(|&v| v <= u128::from(u64::MAX));
                let Some(value) = value else {
                    self.report(
                        Diagnostic::error(
                            "literal-too-large",
                            "the constant is too large for any integer type",
                        )
                        .at(span, "more than 64 bits"),
                    );
                    return Self::poison(span);
                };
                let value = i128::try_from(value).unwrap_or(i128::MAX);
                let kind = self.literal_kind(integer, value);
                Expr { kind: ExprKind::Int(value), ty: Type::Int(kind), span }
            }
            ast::Constant::Float(float) => {
                let kind = match &float.suffix.format {
                    ast::FloatFormat::Float => FloatKind::Float,
                    ast::FloatFormat::Double => FloatKind::Double,
                    ast::FloatFormat::LongDouble | ast::FloatFormat::TS18661Format(_) => {
                        FloatKind::LongDouble
                    }
                };
                if float.suffix.imaginary {
                    return Self::unsupported("imaginary constant", Type::Float(kind), span);
                }
                let value = match float.base {
                    ast::FloatBase::Decimal => float.number.parse().ok(),
                    ast::FloatBase::Hexadecimal => hexadecimal_float(&float.number),
                };
                match value {
                    Some(value) => {
                        let value = if kind == FloatKind::Float { f64::from(value as f32) } else { value };
                        Expr { kind: ExprKind::Float(value), ty: Type::Float(kind), span }
                    }
                    None => Self::unsupported("floating constant", Type::Float(kind), span),
                }
            }
            ast::Constant::Character(text) => {
                let (encoding, units) = decode(text);
                let (value, kind) = match encoding {
                    Encoding::Narrow => {
                        let mut value = 0i128;
                        for unit in &units {
                            value = (value << 8) | i128::from(unit & 0xff);
                        }
                        // A single character has the value of a `char`, several that of an `int`.
                        let kind = if units.len() == 1 { IntKind::Char } else { IntKind::Int };
                        (kind.wrap(self.model, value), IntKind::Int)
                    }
                    Encoding::Wide => (last_unit(&units), IntKind::Int),
                    Encoding::Utf16 => (last_unit(&units), IntKind::UnsignedShort),
                    Encoding::Utf32 => (last_unit(&units), IntKind::UnsignedInt),
                };
                Expr { kind: ExprKind::Int(kind.wrap(self.model, value)), ty: Type::Int(kind), span }
            }
        }
    }

    /// The first type of the list in C11 6.4.4.1 that holds the value.
    fn literal_kind(&self, integer: &ast::Integer, value: i128) -> IntKind {
        let decimal = integer.base == ast::IntegerBase::Decimal;
        let candidates = [
            (ast::IntegerSize::Int, IntKind::Int),
            (ast::IntegerSize::Int, IntKind::UnsignedInt),
            (ast::IntegerSize::Long, IntKind::Long),
            (ast::IntegerSize::Long, IntKind::UnsignedLong),
            (ast::IntegerSize::LongLong, IntKind::LongLong),
            (ast::IntegerSize::LongLong, IntKind::UnsignedLongLong),
        ];
        let fits = |&(size, kind): &(ast::IntegerSize, IntKind)| {
            let sign_fits = match (integer.suffix.unsigned, kind.is_signed()) {
                (true, signed) => !signed,
                (false, true) => true,
                (false, false) => !decimal,
            };
            size >= integer.suffix.size && sign_fits && value <= kind.max(self.model)
        };
        candidates.iter().find(|candidate| fits(candidate)).map_or(
            // gcc takes `__int128` for a decimal constant that is too large for `long long`.
            IntKind::Int128,
            |&(_, kind)| kind,
        )
    }

    /// A string literal as an array object. A wide one is a variable that nobody can name.
    pub(super) fn string(&mut self, node: &Node<ast::StringLiteral>) -> Lvalue {
        let span = self.span(node.span);
        if let Some(bytes) = string_bytes(&node.node) {
            return string_lvalue(bytes, span);
        }
        let (kind, units) = wide_units(&node.node);
        let element = Type::Int(kind);
        let ty = QualType::from(Type::Array(Box::new(element.clone().into()), Some(units.len() as u64 + 1)));
        let part = |(index, unit): (u64, u32)| {
            let value = ExprKind::Int(kind.wrap(self.model, i128::from(unit)));
            (vec![InitStep::Index(index)], Expr { kind: value, ty: element.clone(), span })
        };
        let init = Init::List((0..).zip(units).map(part).collect());
        let variable = self.program.variables.push(VariableData {
            name: WIDE.to_owned(),
            ty: ty.clone(),
            storage: Storage::Global,
            span,
            init: Some(init),
            extern_only: false,
            linkage: Linkage::None,
            lengths: Vec::new(),
        });
        Lvalue { kind: LvalueKind::Variable(variable), ty, span }
    }

    /// The elements of a wide string literal, with their places in the array.
    pub(super) fn wide_parts(&self, lvalue: &Lvalue) -> Option<&[(Vec<InitStep>, Expr)]> {
        let LvalueKind::Variable(variable) = lvalue.kind else { return None };
        let data = &self.program.variables[variable];
        match &data.init {
            Some(Init::List(parts)) if data.name == WIDE => Some(parts),
            Some(_) | None => None,
        }
    }
}

/// The name of the variables that are wide strings.
const WIDE: &str = ".wide";

/// The units of adjacent string literals of which one is wide, and their type.
fn wide_units(pieces: &[String]) -> (IntKind, Vec<u32>) {
    let mut encoding = Encoding::Narrow;
    for piece in pieces {
        let (found, _) = decode(piece);
        if found != Encoding::Narrow {
            encoding = found;
        }
    }
    let prefix = match encoding {
        Encoding::Narrow => "",
        Encoding::Wide => "L",
        Encoding::Utf16 => "u",
        Encoding::Utf32 => "U",
    };
    let mut units = Vec::new();
    for piece in pieces {
        // All pieces are read as the wide one is.
        let quote = piece.find('"').unwrap_or(0);
        for unit in decode(&format!("{prefix}{}", &piece[quote..])).1 {
            match char::from_u32(unit).filter(|_| encoding == Encoding::Utf16 && unit > 0xffff) {
                Some(letter) => {
                    units.extend(letter.encode_utf16(&mut [0; 2]).iter().map(|half| u32::from(*half)))
                }
                None => units.push(unit),
            }
        }
    }
    let kind = match encoding {
        Encoding::Narrow | Encoding::Wide => IntKind::Int,
        Encoding::Utf16 => IntKind::UnsignedShort,
        Encoding::Utf32 => IntKind::UnsignedInt,
    };
    (kind, units)
}

/// The array object of a string; the terminating zero is added.
pub(super) fn string_lvalue(mut bytes: Vec<u8>, span: pdnet_source::Span) -> Lvalue {
    bytes.push(0);
    let ty = Type::Array(Box::new(Type::Int(IntKind::Char).into()), Some(bytes.len() as u64));
    Lvalue { kind: LvalueKind::String(bytes), ty: ty.into(), span }
}

/// The bytes of adjacent string literals, without the terminating zero.
pub(super) fn string_bytes(pieces: &[String]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for piece in pieces {
        let (encoding, units) = decode(piece);
        if encoding != Encoding::Narrow {
            return None;
        }
        bytes.extend(units.iter().map(|unit| (unit & 0xff) as u8));
    }
    Some(bytes)
}

fn last_unit(units: &[u32]) -> i128 {
    units.last().copied().map_or(0, i128::from)
}

/// The units of a quoted literal: bytes when it is narrow, code points otherwise.
fn decode(literal: &str) -> (Encoding, Vec<u32>) {
    let quote = literal.find(['"', '\'']).unwrap_or(0);
    let encoding = match &literal[..quote] {
        "L" => Encoding::Wide,
        "u" => Encoding::Utf16,
        "U" => Encoding::Utf32,
        _ => Encoding::Narrow,
    };
    let body = literal.get(quote + 1..literal.len().saturating_sub(1)).unwrap_or("");
    let mut units = Vec::new();
    let mut rest = body.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter != '\\' {
            if encoding == Encoding::Narrow {
                let mut buffer = [0; 4];
                units.extend(letter.encode_utf8(&mut buffer).bytes().map(u32::from));
            } else {
                units.push(u32::from(letter));
            }
            continue;
        }
        let unit = match rest.next() {
            Some('a') => 7,
            Some('b') => 8,
            Some('t') => 9,
            Some('n') => 10,
            Some('v') => 11,
            Some('f') => 12,
            Some('r') => 13,
            Some('x') => {
                let mut value = 0u32;
                while let Some(digit) = rest.peek().and_then(|digit| digit.to_digit(16)) {
                    value = value.wrapping_mul(16).wrapping_add(digit);
                    rest.next();
                }
                value
            }
            Some(first @ '0'..='7') => {
                let mut value = first.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|digit| digit.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    rest.next();
                }
                value
            }
            Some(other) => u32::from(other),
            None => break,
        };
        units.push(unit);
    }
    (encoding, units)
}

/// `1.8p3`, without the `0x`.
fn hexadecimal_float(number: &str) -> Option<f64> {
    let (mantissa, exponent) = number.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    Some(value * 2f64.powi(shift))
}
