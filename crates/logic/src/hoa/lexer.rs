//! The tokens of the HOA format.

use pdnet_source::{Diagnostic, File, Span};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tok {
    /// A name with a colon behind it, such as `States:`; without the colon.
    Header(String),
    /// A name.
    Word(String),
    /// What stands between double quotes, without the backslashes, and whether there were some.
    Text { text: String, escaped: bool },
    /// A number; too large ones are the largest.
    Number(usize),
    /// `@name`, without the `@`.
    Alias(String),
    /// One of `! & | ( ) [ ] { }`.
    Sign(char),
    /// `--BODY--`, `--END--` or `--ABORT--`.
    Mark(&'static str),
    /// The end of the file.
    End,
}

/// The words that separate the parts of an automaton.
const MARKS: [&str; 3] = ["--BODY--", "--END--", "--ABORT--"];

/// A token with its place.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) tok: Tok,
    pub(super) span: Span,
}

/// The text as tokens; the last one is [`Tok::End`].
pub(super) fn tokens(text: &str, file: File) -> Result<Vec<Token>, Diagnostic> {
    let mut lexer = Lexer { text, at: 0, file };
    let mut found = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let tok = lexer.token()?;
        let is_end = tok == Tok::End;
        found.push(Token { tok, span: lexer.span(start, lexer.at) });
        if is_end {
            return Ok(found);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    file: File,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn span(&self, start: usize, end: usize) -> Span {
        let small = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { file: self.file, start: small(start), end: small(end) }
    }

    fn error(&self, start: usize, message: impl Into<String>, label: &str) -> Diagnostic {
        let len = self.text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Diagnostic::error("hoa-syntax", message).at(self.span(start, start + len), label)
    }

    /// White space, and comments, which may be nested.
    fn skip_blanks(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            if !self.rest().starts_with("/*") {
                return Ok(());
            }
            let start = self.at;
            let mut depth = 0_usize;
            loop {
                if self.rest().starts_with("/*") {
                    depth += 1;
                    self.at += 2;
                } else if self.rest().starts_with("*/") {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        break;
                    }
                } else {
                    let Some(c) = self.rest().chars().next() else {
                        return Err(self.error(start, "a comment does not end", "it begins here"));
                    };
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn token(&mut self) -> Result<Tok, Diagnostic> {
        let start = self.at;
        let Some(c) = self.rest().chars().next() else { return Ok(Tok::End) };
        if let Some(mark) = MARKS.into_iter().find(|mark| self.rest().starts_with(mark)) {
            self.at += mark.len();
            return Ok(Tok::Mark(mark));
        }
        match c {
            '!' | '&' | '|' | '(' | ')' | '[' | ']' | '{' | '}' => {
                self.at += 1;
                Ok(Tok::Sign(c))
            }
            '"' => self.string(),
            '@' => {
                self.at += 1;
                Ok(Tok::Alias(self.word()))
            }
            '0'..='9' => {
                let digits = self.take(|c| c.is_ascii_digit());
                Ok(Tok::Number(digits.parse().unwrap_or(usize::MAX)))
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let word = self.word();
                if !self.rest().starts_with(':') {
                    return Ok(Tok::Word(word));
                }
                self.at += 1;
                Ok(Tok::Header(word))
            }
            _ => Err(self.error(start, format!("`{c}` is not expected in an automaton"), "")),
        }
    }

    fn word(&mut self) -> String {
        self.take(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    }

    fn take(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let rest = self.rest();
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let taken = rest[..len].to_owned();
        self.at += len;
        taken
    }

    fn string(&mut self) -> Result<Tok, Diagnostic> {
        let start = self.at;
        let (mut text, mut escaped) = (String::new(), false);
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + at + 1;
                    return Ok(Tok::Text { text, escaped });
                }
                '\\' => {
                    escaped = true;
                    text.extend(chars.next().map(|(_, c)| c));
                }
                _ => text.push(c),
            }
        }
        Err(self.error(start, "a string does not end", "it begins here"))
    }
}
