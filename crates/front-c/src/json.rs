//! A reader of JSON that remembers where each value stands, for diagnostics that point there.

use pdnet_source::{Diagnostic, File, Span};

/// How deep values may be nested.
const DEPTH_LIMIT: usize = 64;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Json {
    /// The value.
    pub(crate) value: Value,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The values. Numbers and the like are not told apart: nobody asks for them.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A string.
    String(String),
    /// A list.
    List(Vec<Json>),
    /// An object, with its keys in order.
    Object(Vec<(String, Json)>),
    /// A number, `true`, `false` or `null`.
    Other,
}

impl Json {
    /// A member of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            Value::String(_) | Value::List(_) | Value::Other => None,
        }
    }

    /// The text of a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            Value::List(_) | Value::Object(_) | Value::Other => None,
        }
    }
}

/// Reads one value.
///
/// # Errors
/// The first place where the text is not JSON.
pub(crate) fn parse(file: File, text: &str) -> Result<Json, Diagnostic> {
    let mut reader = Reader { file, text, at: 0, depth: 0 };
    let json = reader.value()?;
    reader.blanks();
    if reader.at < text.len() { Err(reader.error("nothing may follow the value")) } else { Ok(json) }
}

struct Reader<'t> {
    file: File,
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<Json, Diagnostic> {
        self.blanks();
        let start = self.at;
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(self.error("nested too deeply"));
        }
        let value = match self.peek() {
            Some('"') => Value::String(self.string()?),
            Some('[') => Value::List(self.items(']', Self::value)?),
            Some('{') => Value::Object(self.items('}', Self::member)?),
            Some(c) if c == '-' || c.is_ascii_alphanumeric() => {
                let rest = &self.text[start..];
                let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
                let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
                if !matches!(word, "true" | "false" | "null") && word.parse::<f64>().is_err() {
                    return Err(self.error("not a value"));
                }
                self.at += word.len();
                Value::Other
            }
            _ => return Err(self.error("a value is missing here")),
        };
        self.depth -= 1;
        Ok(Json { value, span: self.span(start, self.at) })
    }

    fn member(&mut self) -> Result<(String, Json), Diagnostic> {
        self.blanks();
        if self.peek() != Some('"') {
            return Err(self.error("a name in quotes is missing here"));
        }
        let name = self.string()?;
        self.blanks();
        if !self.take(':') {
            return Err(self.error("a `:` is missing here"));
        }
        Ok((name, self.value()?))
    }

    /// The items between brackets, the first of which is next.
    fn items<T>(
        &mut self,
        close: char,
        item: fn(&mut Self) -> Result<T, Diagnostic>,
    ) -> Result<Vec<T>, Diagnostic> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            self.blanks();
            if self.take(close) {
                return Ok(items);
            }
            if !self.take(',') {
                return Err(self.error(&format!("a `,` or `{close}` is missing here")));
            }
        }
    }

    /// A string, whose opening quote is next.
    fn string(&mut self) -> Result<String, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(text),
                '\n' => break,
                '\\' => text.push(self.escape()?),
                _ => text.push(c),
            }
        }
        self.at = start;
        Err(self.error("this string is not closed"))
    }

    fn escape(&mut self) -> Result<char, Diagnostic> {
        let c = self.peek().unwrap_or('\n');
        let plain = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let first = self.unit(1)?;
                // A letter beyond 16 bits is two escapes.
                let second =
                    if (0xd800..0xdc00).contains(&first) && self.text[self.at + 5..].starts_with("\\u") {
                        self.unit(7)?
                    } else {
                        0
                    };
                let (code, length) = if second == 0 {
                    (first, 5)
                } else {
                    (0x10000 + ((first - 0xd800) << 10) + second.wrapping_sub(0xdc00), 11)
                };
                self.at += length;
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            _ => return Err(self.error("no such escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// Four hexadecimal digits.
    fn unit(&self, offset: usize) -> Result<u32, Diagnostic> {
        let digits = self.text.get(self.at + offset..self.at + offset + 4);
        let code = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        code.and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.error("no such escape"))
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn span(&self, start: usize, end: usize) -> Span {
        let small = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { file: self.file, start: small(start), end: small(end) }
    }

    fn error(&self, label: &str) -> Diagnostic {
        let end = self.at + self.peek().map_or(0, char::len_utf8);
        Diagnostic::error("bad-json", "this is not JSON").at(self.span(self.at, end), label)
    }
}
