//! Tokens of formulas and of the C expressions in them.
//!
//! The parser asks for one token at a time and says in which mode, because the same characters mean
//! different things inside and outside of quotes: `<>` and `data-race` are tokens of formulas only.

use pdnet_source::{File, Span};

use crate::IntSuffix;
use crate::words::HYPHENATED;

/// What the text is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Temporal logic with bare atoms.
    Formula,
    /// A C expression.
    C,
}

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tok {
    /// An identifier or keyword, or a word with a hyphen.
    Word,
    Int(i128, IntSuffix),
    /// A number that cannot be used, and why.
    BadNumber(BadNumber),
    /// A character constant without end or with an unknown escape.
    BadChar,
    Quote,
    LParen,
    RParen,
    LBracket,
    RBracket,
    Comma,
    Dot,
    Colon,
    ColonColon,
    Question,
    Semicolon,
    /// `->`: implication in a formula, member access in C.
    Arrow,
    /// `=>`, `-->` or `==>`
    Implies,
    Iff,
    Box,
    Diamond,
    Bang,
    Tilde,
    AmpAmp,
    Amp,
    /// `/\`
    Wedge,
    PipePipe,
    Pipe,
    /// `\/`
    Vee,
    Caret,
    /// A single `=`, a compound assignment, `++` or `--`.
    Assign,
    EqEq,
    NotEq,
    Lt,
    Le,
    Gt,
    Ge,
    Shl,
    Shr,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    /// A character that no token starts with.
    Unknown(char),
    End,
}

/// Why a number cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadNumber {
    /// A floating constant.
    Float,
    /// More than 64 bits.
    TooLarge,
    /// No number of C.
    Malformed,
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The text to read: a part of a file. Copying it is cheap, which is how the parser looks ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'a> {
    /// The whole text of the file up to the end of the part.
    text: &'a str,
    file: File,
    /// The next byte to read.
    pub(crate) at: usize,
}

/// Symbols of formulas that C does not have; longer ones stand before their beginnings.
const FORMULA_SYMBOLS: [(&str, Tok); 9] = [
    ("-->", Tok::Implies),
    ("==>", Tok::Implies),
    ("<->", Tok::Iff),
    ("<=>", Tok::Iff),
    ("=>", Tok::Implies),
    ("<>", Tok::Diamond),
    ("[]", Tok::Box),
    ("/\\", Tok::Wedge),
    ("\\/", Tok::Vee),
];

/// Symbols of C; longer ones stand before their beginnings.
const SYMBOLS: [(&str, Tok); 49] = [
    ("<<=", Tok::Assign),
    (">>=", Tok::Assign),
    ("->", Tok::Arrow),
    ("++", Tok::Assign),
    ("--", Tok::Assign),
    ("+=", Tok::Assign),
    ("-=", Tok::Assign),
    ("*=", Tok::Assign),
    ("/=", Tok::Assign),
    ("%=", Tok::Assign),
    ("&=", Tok::Assign),
    ("^=", Tok::Assign),
    ("|=", Tok::Assign),
    ("::", Tok::ColonColon),
    ("&&", Tok::AmpAmp),
    ("||", Tok::PipePipe),
    ("==", Tok::EqEq),
    ("!=", Tok::NotEq),
    ("<=", Tok::Le),
    (">=", Tok::Ge),
    ("<<", Tok::Shl),
    (">>", Tok::Shr),
    ("\"", Tok::Quote),
    ("(", Tok::LParen),
    (")", Tok::RParen),
    ("[", Tok::LBracket),
    ("]", Tok::RBracket),
    (",", Tok::Comma),
    (".", Tok::Dot),
    (":", Tok::Colon),
    ("?", Tok::Question),
    (";", Tok::Semicolon),
    ("!", Tok::Bang),
    ("~", Tok::Tilde),
    ("&", Tok::Amp),
    ("|", Tok::Pipe),
    ("^", Tok::Caret),
    ("=", Tok::Assign),
    ("<", Tok::Lt),
    (">", Tok::Gt),
    ("+", Tok::Plus),
    ("-", Tok::Minus),
    ("*", Tok::Star),
    ("/", Tok::Slash),
    ("%", Tok::Percent),
    // Typographic signs that come with text copied from a paper or a web page.
    ("¬", Tok::Bang),
    ("∧", Tok::Wedge),
    ("∨", Tok::Vee),
    ("→", Tok::Implies),
];

impl<'a> Lexer<'a> {
    /// A lexer for the bytes of `span`; what lies outside of the text or inside of a character is cut.
    pub(crate) fn new(text: &'a str, span: Span) -> Self {
        let boundary = |at: u32| {
            let at = (at as usize).min(text.len());
            (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
        };
        let end = boundary(span.end);
        Self { text: &text[..end], file: span.file, at: boundary(span.start).min(end) }
    }

    /// The span of these bytes.
    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { file: self.file, start: offset(start), end: offset(end) }
    }

    /// The text of these bytes.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or("")
    }

    /// What is still to be read.
    pub(crate) fn rest(&self) -> &'a str {
        self.slice(self.at, self.text.len())
    }

    /// Reads the next token.
    pub(crate) fn next(&mut self, mode: Mode) -> Token {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        let rest = self.rest();
        let (tok, len) = match rest.chars().next() {
            None => (Tok::End, 0),
            Some(c) if is_word_start(c) => (Tok::Word, word_len(rest, mode)),
            Some(c) if c.is_ascii_digit() => number(rest),
            Some('.') if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest),
            Some('\'') => character(rest),
            Some(c) => symbol(rest, mode).unwrap_or((Tok::Unknown(c), c.len_utf8())),
        };
        let start = self.at;
        self.at += len;
        Token { tok, start, end: self.at }
    }
}

fn symbol(rest: &str, mode: Mode) -> Option<(Tok, usize)> {
    let special = match mode {
        Mode::Formula => FORMULA_SYMBOLS.as_slice(),
        Mode::C => &[],
    };
    let found = special.iter().chain(&SYMBOLS).find(|(text, _)| rest.starts_with(text));
    found.map(|&(text, tok)| (tok, text.len()))
}

pub(crate) fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

pub(crate) fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn word_len(rest: &str, mode: Mode) -> usize {
    let end = |from: usize| rest[from..].find(|c| !is_word_part(c)).map_or(rest.len(), |at| from + at);
    if mode == Mode::Formula {
        // `data-race` is a word, `data-racer` is a subtraction.
        let hyphenated = HYPHENATED.iter().find(|word| rest.starts_with(**word));
        if let Some(word) = hyphenated.filter(|word| end(word.len()) == word.len()) {
            return word.len();
        }
        // `GF"p"` and `FG(p)`: no name can stand directly before a quote, and no atom is called so.
        let word = &rest[..end(0)];
        let only_operators =
            word.len() > 1 && word.bytes().all(|letter| matches!(letter, b'G' | b'F' | b'X'));
        if only_operators && rest[word.len()..].starts_with(['"', '(']) {
            return 1;
        }
    }
    end(0)
}

/// Reads everything that could be meant as a number, and only then judges it, so that `12ab` is one
/// wrong number instead of a number and a name.
fn number(rest: &str) -> (Tok, usize) {
    let len = rest.find(|c: char| !(is_word_part(c) || c == '.')).unwrap_or(rest.len());
    let text = &rest[..len];
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = if let Some(digits) = lower.strip_prefix("0x") {
        (digits, 16)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        (digits, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (&lower[1..], 8)
    } else {
        (lower.as_str(), 10)
    };
    let split = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(split);
    let bad = |reason| (Tok::BadNumber(reason), len);
    let octal_zero = radix == 8 && digits.is_empty();
    let (unsigned, longs) = match suffix {
        "" => (false, 0),
        "u" => (true, 0),
        "l" => (false, 1),
        "ll" => (false, 2),
        "ul" | "lu" => (true, 1),
        "ull" | "llu" => (true, 2),
        _ if suffix.contains('.') || (radix == 10 && suffix.starts_with('e')) => {
            return bad(BadNumber::Float);
        }
        _ => return bad(BadNumber::Malformed),
    };
    if digits.is_empty() && !octal_zero {
        return bad(BadNumber::Malformed);
    }
    let value = if octal_zero { Ok(0) } else { u64::from_str_radix(digits, radix) };
    let Ok(value) = value else { return bad(BadNumber::TooLarge) };
    // A lone zero counts as decimal: its type is `int` either way.
    let decimal = radix == 10 || octal_zero;
    (Tok::Int(i128::from(value), IntSuffix { unsigned, longs, decimal }), len)
}

/// A character constant; its type is `int` and plain `char` is signed (C11 6.4.4.4p10 on our targets).
fn character(rest: &str) -> (Tok, usize) {
    let mut chars = rest.char_indices().skip(1);
    let bad = |len: usize| (Tok::BadChar, len);
    let value = match chars.next() {
        None => return bad(rest.len()),
        Some((_, '\\')) => escape(&rest[2..]),
        Some((_, '\'')) => None,
        Some((at, c)) if c.is_ascii() => u8::try_from(c).ok().map(|byte| (byte, at + 1 - 2)),
        Some((_, _)) => None,
    };
    let Some((byte, used)) = value else {
        let end = rest[1..].find('\'').map_or(rest.len(), |at| at + 2);
        return bad(end);
    };
    let end = 2 + used;
    if !rest[end..].starts_with('\'') {
        return bad(end);
    }
    (Tok::Int(i128::from(byte.cast_signed()), IntSuffix::PLAIN), end + 1)
}

/// The byte that an escape sequence stands for and its length without the backslash.
fn escape(rest: &str) -> Option<(u8, usize)> {
    let first = rest.chars().next()?;
    let simple = match first {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'v' => 11,
        '\\' | '\'' | '"' | '?' => u8::try_from(first).ok()?,
        'x' => {
            let len = rest[1..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len() - 1);
            return Some((u8::from_str_radix(&rest[1..=len], 16).ok()?, 1 + len));
        }
        '0'..='7' => {
            let len = rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            return Some((u8::from_str_radix(&rest[..len], 8).ok()?, len));
        }
        _ => return None,
    };
    Some((simple, 1))
}
