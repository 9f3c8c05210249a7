//! The words of Promela.
//!
//! SPIN lets most semicolons be left out: the end of a line ends a statement where one can end there. That is done
//! here too, on the tokens of a body ([`with_separators`]), so that a line break means what it means to SPIN, also
//! where that is a surprise (`x = a` and `- b` in the next line are two statements).

use std::sync::Arc;

use pdnet_cpp::Positions;
use pdnet_source::{SourceMap, Span};

/// What a token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword.
    Word,
    /// Decimal digits.
    Number,
    /// A character constant.
    Char,
    /// A string with its quotes.
    String,
    /// An operator or other punctuation.
    Punct,
    /// Anything else.
    Stray,
}

/// A token.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it looks like.
    pub(crate) kind: Kind,
    /// Its text.
    pub(crate) text: Arc<str>,
    /// Where it stands; inside an inline, in the definition.
    pub(crate) span: Span,
    /// Where it stands in the call, for the argument of an inline.
    pub(crate) argument: Option<Span>,
    /// A line break stands before it.
    pub(crate) newline: bool,
    /// Nothing stands between it and the token before.
    pub(crate) glued: bool,
}

impl Token {
    /// The place to show where the token itself is what is wrong.
    pub(crate) fn place(&self) -> Span {
        self.argument.unwrap_or(self.span)
    }

    /// Whether it is this word or punctuation.
    pub(crate) fn is(&self, text: &str) -> bool {
        &*self.text == text && matches!(self.kind, Kind::Word | Kind::Punct)
    }

    /// Whether it is a name that is no keyword.
    pub(crate) fn is_name(&self) -> bool {
        self.kind == Kind::Word && !is_keyword(&self.text)
    }
}

/// Words that cannot be names. `in` can, outside of `for`.
const KEYWORDS: &[&str] = &[
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "D_proctype",
    "do",
    "chan",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "d_step",
    "select",
    "set_priority",
    "short",
    "skip",
    "timeout",
    "trace",
    "true",
    "show",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
];

/// Whether a word is a keyword.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// All keywords, to suggest one where a statement begins with a misspelt word.
pub(crate) fn keywords<'a>() -> impl Iterator<Item = &'a str> {
    KEYWORDS.iter().copied()
}

/// Punctuation of two characters.
const PAIRS: &[&str] =
    &["::", "->", "--", "++", "<<", "<=", ">>", ">=", "==", "!=", "!!", "??", "&&", "||", ".."];

/// The tokens of a preprocessed text.
pub(crate) fn lex(map: &mut SourceMap, positions: &mut Positions) -> Vec<Token> {
    let raw = split(positions.text());
    let mut tokens: Vec<Token> = Vec::with_capacity(raw.len());
    let mut end = usize::MAX;
    for token in raw {
        let text: Arc<str> = positions.text()[token.start..token.end].into();
        let span = positions.byte_span(map, token.start, token.end);
        let glued = token.start == end;
        end = token.end;
        tokens.push(Token { kind: token.kind, text, span, argument: None, newline: token.newline, glued });
    }
    tokens
}

/// The tokens of a text that is a file of its own, such as a formula of the command line.
pub(crate) fn lex_file(map: &SourceMap, file: pdnet_source::File) -> Vec<Token> {
    let text = &map.file(file).text;
    let mut end = usize::MAX;
    let small = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    split(text)
        .into_iter()
        .map(|token| {
            let glued = token.start == end;
            end = token.end;
            let span = Span { file, start: small(token.start), end: small(token.end) };
            let text = text[token.start..token.end].into();
            Token { kind: token.kind, text, span, argument: None, newline: token.newline, glued }
        })
        .collect()
}

/// The tokens of a text that takes the place of a token, such as that of a macro.
pub(crate) fn lex_instead(text: &str, token: &Token) -> Vec<Token> {
    let mut end = usize::MAX;
    split(text)
        .into_iter()
        .map(|raw| {
            let glued = raw.start == end;
            end = raw.end;
            Token {
                kind: raw.kind,
                text: text[raw.start..raw.end].into(),
                newline: false,
                glued,
                ..token.clone()
            }
        })
        .collect()
}

struct Raw {
    kind: Kind,
    start: usize,
    end: usize,
    newline: bool,
}

fn split(text: &str) -> Vec<Raw> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut newline) = (0, true);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        match byte {
            b'\n' => {
                newline = true;
                at += 1;
            }
            _ if byte.is_ascii_whitespace() || byte == 0x0b => at += 1,
            b'\\' if rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r\n") => {
                at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(0) + 1;
            }
            b'#' if newline => at += line_length(rest),
            b'/' if rest.starts_with(b"//") => at += line_length(rest),
            b'/' if rest.starts_with(b"/*") => {
                let Some(end) = text[at + 2..].find("*/") else {
                    // What follows is no part of the model, which the user must be told.
                    tokens.push(Raw { kind: Kind::Stray, start: at, end: at + 2, newline });
                    break;
                };
                let length = end + 4;
                newline |= text[at..at + length].contains('\n');
                at += length;
            }
            _ => {
                let (kind, length) = one(&text[at..]);
                tokens.push(Raw { kind, start: at, end: at + length, newline });
                newline = false;
                at += length;
            }
        }
    }
    tokens
}

/// The length up to the end of the line; a backslash at its end joins the next one, as in C.
fn line_length(rest: &[u8]) -> usize {
    let mut ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    ends.find(|&at| !rest[..at].trim_ascii_end().ends_with(b"\\")).unwrap_or(rest.len())
}

/// The kind and the length of the token at the start of a text.
fn one(rest: &str) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let length_of = |accept: fn(&u8) -> bool| bytes.iter().take_while(|byte| accept(byte)).count();
    let first = bytes[0];
    if first.is_ascii_digit() {
        return (Kind::Number, length_of(u8::is_ascii_digit));
    }
    if first.is_ascii_alphabetic() || first == b'_' {
        return (Kind::Word, length_of(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'));
    }
    if matches!(first, b'"' | b'\'' | b'$') {
        return quoted(rest, first);
    }
    if let Some(pair) = PAIRS.iter().find(|pair| rest.starts_with(**pair)) {
        return (Kind::Punct, pair.len());
    }
    let known = first.is_ascii_punctuation() && !matches!(first, b'#' | b'\\' | b'`');
    let length = rest.chars().next().map_or(1, char::len_utf8);
    (if known { Kind::Punct } else { Kind::Stray }, length)
}

fn quoted(rest: &str, quote: u8) -> (Kind, usize) {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\n' => return (Kind::Stray, at),
            b'\\' => escaped = true,
            _ if byte == quote => {
                return (if quote == b'\'' { Kind::Char } else { Kind::String }, at + 1);
            }
            _ => {}
        }
    }
    (Kind::Stray, rest.len())
}

/// The tokens of a body or a `typedef` with the semicolons that line breaks and closing braces stand for.
/// `ends_nothing` says of a name that it is one of a type, a proctype or an inline, behind which no statement ends.
pub(crate) fn with_separators(tokens: &[Token], ends_nothing: impl Fn(&str) -> bool) -> Vec<Token> {
    let mut result: Vec<Token> = Vec::with_capacity(tokens.len() + tokens.len() / 4);
    let mut open = 0usize;
    for token in tokens {
        if let Some(last) = result.last() {
            let at_line_end = token.newline && open == 0 && may_end(last, &ends_nothing);
            let behind_brace = last.is("}")
                && !["}", ")", ",", ";", "->", "::", "fi", "od", "unless"].iter().any(|text| token.is(text));
            let behind_else = last.is("else") && ![";", "->", "fi"].iter().any(|text| token.is(text));
            let needed = !token.is("unless") && !token.is(";") && !token.is("->");
            if needed && (at_line_end || behind_brace || behind_else) {
                let span = Span { start: last.span.end, ..last.span };
                result.push(Token {
                    kind: Kind::Punct,
                    text: ";".into(),
                    span,
                    argument: last.argument,
                    newline: false,
                    glued: false,
                });
            }
        }
        if token.is("(") {
            open += 1;
        } else if token.is(")") {
            open = open.saturating_sub(1);
        }
        result.push(token.clone());
    }
    result
}

/// Whether a statement can end with this token at the end of a line.
fn may_end(token: &Token, ends_nothing: &impl Fn(&str) -> bool) -> bool {
    match token.kind {
        Kind::Number | Kind::Char => true,
        Kind::Word if is_keyword(&token.text) => {
            matches!(&*token.text, "od" | "fi" | "else" | "break" | "true" | "false" | "skip" | "timeout")
        }
        Kind::Word => !ends_nothing(&token.text),
        Kind::Punct => matches!(&*token.text, "}" | ")" | "]" | "++" | "--"),
        Kind::String | Kind::Stray => false,
    }
}

/// The texts of some tokens in one line, with the spaces as written.
pub(crate) fn text_of(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if !token.glued && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}
