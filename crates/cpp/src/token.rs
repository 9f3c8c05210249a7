//! A lexer for preprocessed C, good enough to rewrite tokens and to compare lines.
//!
//! It knows no keywords. Comments, directives and line markers are skipped; every other byte belongs to
//! exactly one token, so that no input is lost and none is refused here.

/// What a token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or keyword.
    Word,
    /// A number, in the wide sense of the preprocessor.
    Number,
    /// A character constant, with its prefix.
    Character,
    /// A string literal, with its prefix.
    String,
    /// An operator or other punctuation.
    Punct,
    /// Anything else: a stray byte, a quote that is not closed.
    Stray,
}

/// A token: what it is and where it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it looks like.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

impl Token {
    /// The token's text.
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }
}

/// Operators of more than one character, longest first.
const LONG_PUNCTUATION: &[&str] = &[
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "^=", "|=", "##",
];

/// The tokens of a text.
pub fn lex(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, tokens: Vec::new() };
    lexer.run();
    lexer.tokens
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        let mut line_start = true;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    line_start = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' if line_start => self.skip_line(),
                b'/' if self.rest().starts_with("//") => self.skip_line(),
                b'/' if self.rest().starts_with("/*") => {
                    let body = &self.text[self.at + 2..];
                    self.at = body.find("*/").map_or(self.bytes.len(), |end| self.at + 2 + end + 2);
                }
                b'\\' if self.rest().starts_with("\\\n") || self.rest().starts_with("\\\r\n") => self.at += 1,
                _ => {
                    line_start = false;
                    self.token(byte);
                }
            }
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Skips to the end of the line; a backslash at its end joins the next one.
    fn skip_line(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte == b'\n' {
                let before = self.text[..self.at].trim_end_matches('\r');
                if !before.ends_with('\\') {
                    break;
                }
            }
            self.at += 1;
        }
    }

    fn token(&mut self, byte: u8) {
        let start = self.at;
        let next_is_digit = self.bytes.get(start + 1).is_some_and(u8::is_ascii_digit);
        let kind = if let Some(prefix) = self.quote_prefix() {
            self.quoted(start + prefix)
        } else if is_word_start(byte) {
            self.take_while(is_word_byte);
            TokenKind::Word
        } else if byte.is_ascii_digit() || (byte == b'.' && next_is_digit) {
            self.number();
            TokenKind::Number
        } else if let Some(long) = LONG_PUNCTUATION.iter().find(|long| self.rest().starts_with(**long)) {
            self.at += long.len();
            TokenKind::Punct
        } else {
            self.at += 1;
            if byte.is_ascii_punctuation() && !matches!(byte, b'@' | b'`' | b'\\') {
                TokenKind::Punct
            } else {
                TokenKind::Stray
            }
        };
        self.tokens.push(Token { kind, start, end: self.at });
    }

    /// How many bytes stand before the quote, when a string or character starts here.
    fn quote_prefix(&self) -> Option<usize> {
        let rest = self.rest().as_bytes();
        let is_quote = |at: usize| matches!(rest.get(at), Some(b'"' | b'\''));
        match rest {
            [b'"' | b'\'', ..] => Some(0),
            [b'L' | b'u' | b'U', ..] if is_quote(1) => Some(1),
            [b'u', b'8', ..] if is_quote(2) => Some(2),
            _ => None,
        }
    }

    fn quoted(&mut self, quote_at: usize) -> TokenKind {
        let quote = self.bytes[quote_at];
        self.at = quote_at + 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => return TokenKind::Stray,
                b'\\' if self.at + 1 < self.bytes.len() => {
                    self.at += 1;
                    // The escaped character may be longer than one byte.
                    self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                }
                _ if byte == quote => {
                    self.at += 1;
                    return if quote == b'"' { TokenKind::String } else { TokenKind::Character };
                }
                _ => self.at += 1,
            }
        }
        TokenKind::Stray
    }

    fn number(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let sign_after_exponent = matches!(byte, b'+' | b'-')
                && matches!(self.bytes[self.at - 1], b'e' | b'E' | b'p' | b'P')
                // `0xE+1` is a sum.
                && !(matches!(self.bytes[self.at - 1], b'e' | b'E') && self.token_is_hexadecimal());
            if is_word_byte(byte) || byte == b'.' || sign_after_exponent {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// Whether the number that ends here starts with `0x`.
    fn token_is_hexadecimal(&self) -> bool {
        let start = self.text[..self.at]
            .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .map_or(0, |at| at + 1);
        self.text
            .get(start..self.at)
            .is_some_and(|number| number.starts_with("0x") || number.starts_with("0X"))
    }

    fn take_while(&mut self, accept: fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|&byte| accept(byte)) {
            self.at += 1;
        }
    }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn is_word_byte(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_tokens(text: &str, expected: &[&str]) {
        let tokens: Vec<_> = lex(text).iter().map(|token| token.text(text)).collect();
        assert_eq!(tokens, expected);
    }

    #[test]
    fn comments_and_directives_are_skipped() {
        assert_tokens("# 1 \"a.c\"\nint/*x*/ a; // b\n#pragma x\n;", &["int", "a", ";", ";"]);
        assert_tokens("a /* open", &["a"]);
    }

    #[test]
    fn numbers_strings_and_operators_are_whole() {
        assert_tokens("x+=0x1Fu+1e-5;L'\\''", &["x", "+=", "0x1Fu", "+", "1e-5", ";", "L'\\''"]);
        assert_tokens("\"a\\\"b\" u8\"c\"", &["\"a\\\"b\"", "u8\"c\""]);
        assert_tokens("0xE+1", &["0xE", "+", "1"]);
        assert_tokens("a...b->c", &["a", "...", "b", "->", "c"]);
        assert_tokens("$x é1", &["$x", "é1"]);
    }

    #[test]
    fn an_open_quote_ends_with_its_line() {
        assert_tokens("\"abc\nd", &["\"abc", "d"]);
        assert_tokens("'\\", &["'\\"]);
    }
}
