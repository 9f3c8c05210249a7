//! The pass over tokens between the preprocessor and the parser library.
//!
//! The library does not know all of GNU C. What it cannot parse is written in another way here, and
//! nothing that matters is lost on the way: attributes go to a side table, constructs without a
//! counterpart become calls of names that start with `__pdnet_`, which the type checker knows.
//! The new text is a list of tokens, and each of them remembers the token of the old text that it
//! came from: positions never depend on what was inserted or dropped.

use pdnet_source::Diagnostic;

use crate::token::{Token, TokenKind};

/// How deep brackets may nest; clang's default limit too.
pub(crate) const BRACKET_LIMIT: usize = 256;
/// How many operators and keywords an expression or a chain of `else if` may have before the recursive
/// parser would need more stack than it has.
const CHAIN_LIMIT: usize = 5_000;

/// Stands between `?` and `:` where the programmer wrote nothing.
pub(crate) const ELVIS: &str = "__pdnet_elvis";
/// Stands for `__auto_type`; a type name of its own.
pub(crate) const AUTO_TYPE: &str = "__pdnet_auto_type";
/// `__builtin_types_compatible_p(A, B)`, as a call with `sizeof(A)` and `sizeof(B)`.
pub(crate) const TYPES_COMPATIBLE: &str = "__pdnet_types_compatible";
/// `_Alignof(X)`, as a call with `sizeof(X)`.
pub(crate) const ALIGNOF: &str = "__pdnet_alignof";
/// `&&label`, as a call.
pub(crate) const LABEL_ADDRESS: &str = "__pdnet_label_address";
/// `goto *e`, as a call.
pub(crate) const COMPUTED_GOTO: &str = "__pdnet_computed_goto";

/// Declarations put in front of every program, so that the parser takes these names for types.
const PRELUDE: &[&str] = &[
    "typedef",
    "int",
    AUTO_TYPE,
    ";",
    "typedef",
    "_Decimal128x",
    "__int128_t",
    ";",
    "typedef",
    "unsigned",
    "_Decimal128x",
    "__uint128_t",
    ";",
];

/// An attribute that was taken out of the text.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    /// Index of the first token after it.
    pub(crate) before: usize,
    /// Its name, without underscores around it.
    pub(crate) name: String,
    /// The text of its arguments; empty where it has none.
    pub(crate) args: String,
}

/// What the parser gets, and the way back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prepared {
    /// The text to parse: tokens with single spaces between them.
    pub(crate) text: String,
    /// Where each token starts in that text.
    pub(crate) starts: Vec<usize>,
    /// The token of the preprocessed text that each token stands for.
    pub(crate) sources: Vec<usize>,
    /// Attributes, in order of their place.
    pub(crate) attributes: Vec<Attribute>,
    /// The token of the preprocessed text that is the first bracket without a fitting partner.
    pub(crate) unclosed: Option<usize>,
}

impl Prepared {
    /// The token at or before this offset of the text.
    pub(crate) fn token_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1)
    }

    /// The text of a token; empty behind the last.
    pub(crate) fn token_text(&self, index: usize) -> &str {
        let Some(&start) = self.starts.get(index) else { return "" };
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end()
    }

    /// The attributes that stand before one of the tokens `first..=last`.
    pub(crate) fn attributes_between(&self, first: usize, last: usize) -> &[Attribute] {
        let from = self.attributes.partition_point(|attribute| attribute.before < first);
        let to = self.attributes.partition_point(|attribute| attribute.before <= last);
        &self.attributes[from..to.max(from)]
    }

    fn push(&mut self, text: &str, source: usize) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.starts.push(self.text.len());
        self.sources.push(source);
        self.text.push_str(text);
    }
}

/// Something wrong with the tokens; the label goes to the given token.
pub(crate) struct Finding {
    /// The diagnostic without its labels.
    pub(crate) diagnostic: Diagnostic,
    /// Which token of the preprocessed text it is about.
    pub(crate) token: usize,
    /// What to say there.
    pub(crate) label: String,
}

/// The name that the programmer wrote, from the one that the parser has seen.
pub(crate) fn original_name(name: &str) -> String {
    if !name.contains("__pdU") {
        return name.to_owned();
    }
    let mut parts = name.split("__pdU");
    let mut result = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let decoded = part
            .split_once('_')
            .and_then(|(code, rest)| Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest)));
        match decoded {
            Some((letter, rest)) => {
                result.push(letter);
                result.push_str(rest);
            }
            None => {
                result.push_str("__pdU");
                result.push_str(part);
            }
        }
    }
    result
}

/// Whether the word is a keyword of C or of GNU C.
pub(crate) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "_Alignas",
        "_Alignof",
        "_Atomic",
        "_Bool",
        "_Complex",
        "_Generic",
        "_Imaginary",
        "_Noreturn",
        "_Static_assert",
        "_Thread_local",
        "__alignof__",
        "__asm__",
        "__attribute__",
        "__auto_type",
        "__complex__",
        "__const",
        "__extension__",
        "__inline",
        "__inline__",
        "__int128",
        "__label__",
        "__restrict",
        "__restrict__",
        "__signed__",
        "__thread",
        "__typeof",
        "__typeof__",
        "__volatile__",
        "asm",
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "typeof",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
    ];
    KEYWORDS.binary_search(&word).is_ok()
}

/// Rewrites the tokens of a preprocessed text. Findings that are errors come together; with one of them
/// the text must not be parsed.
pub(crate) fn prepare(text: &str, tokens: &[Token]) -> (Prepared, Vec<Finding>) {
    let mut findings = Vec::new();
    let (partner, unclosed) = match_brackets(text, tokens, &mut findings);
    find_stray_tokens(text, tokens, &mut findings);
    let out = Prepared { unclosed, ..Prepared::default() };
    let mut pass = Pass { text, tokens, partner, out, findings, depth: 0 };
    for word in PRELUDE {
        pass.out.push(word, 0);
    }
    let mut at = 0;
    let mut start = true;
    while at < tokens.len() {
        at = pass.step(at, &mut start);
    }
    (pass.out, pass.findings)
}

/// For each bracket the index of its partner, and the first bracket that is not closed as it should be.
/// Also measures the nesting.
fn match_brackets(
    text: &str,
    tokens: &[Token],
    findings: &mut Vec<Finding>,
) -> (Vec<usize>, Option<usize>) {
    let mut partner = vec![usize::MAX; tokens.len()];
    // Open brackets, each with the lengths of the chains outside of it.
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    let (mut expression_chain, mut statement_chain, mut outside) = (0usize, 0usize, 0usize);
    for (at, token) in tokens.iter().enumerate() {
        let word = token.text(text);
        match word {
            "(" | "[" | "{" => {
                open.push((at, expression_chain, statement_chain));
                outside += expression_chain + statement_chain;
                (expression_chain, statement_chain) = (0, 0);
                if open.len() > BRACKET_LIMIT {
                    findings.push(too_deep(at, format!("more than {BRACKET_LIMIT} brackets are open here")));
                    return (partner, None);
                }
            }
            ")" | "]" | "}" => {
                let Some((opener, expressions, statements)) = open.pop() else {
                    findings.push(Finding {
                        diagnostic: Diagnostic::error(
                            "unbalanced-bracket",
                            format!("`{word}` closes nothing"),
                        ),
                        token: at,
                        label: "no bracket is open here".to_owned(),
                    });
                    return (partner, None);
                };
                if closing(tokens[opener].text(text)) != word {
                    // The parser stops here at the latest, and says it better.
                    return (partner, Some(opener));
                }
                partner[opener] = at;
                partner[at] = opener;
                // What was in brackets adds one more level at most to what stands around it.
                (expression_chain, statement_chain) = (expressions + 1, statements);
                outside = outside.saturating_sub(expressions + statements);
                if word == "}" {
                    expression_chain = 0;
                    if tokens.get(at + 1).is_none_or(|next| next.text(text) != "else") {
                        statement_chain = 0;
                    }
                }
            }
            "," => expression_chain = 0,
            ";" => {
                expression_chain = 0;
                if tokens.get(at + 1).is_none_or(|next| next.text(text) != "else") {
                    statement_chain = 0;
                }
            }
            "if" | "else" | "while" | "do" | "for" | "switch" | "case" | "default" => statement_chain += 1,
            ":" => statement_chain += 1,
            _ => match token.kind {
                TokenKind::Punct => expression_chain += 1,
                TokenKind::Word if is_keyword(word) => expression_chain += 1,
                TokenKind::Word
                | TokenKind::Number
                | TokenKind::Character
                | TokenKind::String
                | TokenKind::Stray => {}
            },
        }
        if outside + expression_chain + statement_chain > CHAIN_LIMIT {
            let label = format!("more than {CHAIN_LIMIT} operators belong together here");
            findings.push(too_deep(at, label));
            return (partner, None);
        }
    }
    (partner, open.last().map(|&(opener, _, _)| opener))
}

/// What closes a bracket.
pub(crate) fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

fn too_deep(token: usize, label: String) -> Finding {
    Finding {
        diagnostic: Diagnostic::error("nesting-too-deep", "the program is nested too deeply")
            .help("split the expression or statement into several"),
        token,
        label,
    }
}

fn find_stray_tokens(text: &str, tokens: &[Token], findings: &mut Vec<Finding>) {
    let strays = tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Stray);
    for (at, token) in strays.take(5) {
        let stray = token.text(text);
        let finding = if stray.contains('"') || stray.contains('\'') {
            Finding {
                diagnostic: Diagnostic::error("unterminated-literal", "a quote is not closed in its line"),
                token: at,
                label: "opened here".to_owned(),
            }
        } else {
            Finding {
                diagnostic: Diagnostic::error("stray-character", format!("stray {stray:?} in the program")),
                token: at,
                label: "no token of C starts with this".to_owned(),
            }
        };
        findings.push(finding);
    }
}

struct Pass<'t> {
    text: &'t str,
    tokens: &'t [Token],
    partner: Vec<usize>,
    out: Prepared,
    findings: Vec<Finding>,
    /// Open braces.
    depth: usize,
}

impl<'t> Pass<'t> {
    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| token.text(self.text))
    }

    fn previous(&self, at: usize) -> &'t str {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word) && !is_keyword(self.word(at))
    }

    fn close_of(&self, open: usize) -> Option<usize> {
        self.partner.get(open).copied().filter(|&close| close != usize::MAX && close > open)
    }

    fn copy(&mut self, at: usize) {
        let text = self.word(at);
        self.out.push(text, at);
    }

    /// Treats the token at `at` and returns the index of the next one. `start` is true where an external
    /// declaration starts.
    fn step(&mut self, at: usize, start: &mut bool) -> usize {
        let word = self.word(at);
        let at_start = std::mem::replace(start, false);
        match self.tokens[at].kind {
            TokenKind::Word => return self.step_word(at, at_start, start),
            TokenKind::String | TokenKind::Character => {
                let text = plain_escapes(word);
                self.out.push(&text, at);
                return at + 1;
            }
            TokenKind::Punct | TokenKind::Number | TokenKind::Stray => {}
        }
        match word {
            "{" => {
                self.depth += 1;
                let empty_literal = self.word(at + 1) == "}" && self.is_compound_literal(at);
                self.copy(at);
                if empty_literal {
                    self.out.push("0", at);
                }
            }
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                self.copy(at);
                // After a function's body, but not after a struct's, a new declaration starts.
                let opener = self.partner[at];
                *start =
                    self.depth == 0 && opener != usize::MAX && matches!(self.previous(opener), ")" | ";");
            }
            ";" => {
                *start = self.depth == 0;
                if !(at_start && self.depth == 0 && self.out.sources.len() == PRELUDE.len()) {
                    self.copy(at);
                }
            }
            "?" if self.word(at + 1) == ":" => {
                self.copy(at);
                self.out.push(ELVIS, at);
            }
            ":" if self.word(at + 1) == "}" => {
                self.copy(at);
                self.out.push(";", at);
            }
            "&&" if self.is_label_address(at) => {
                self.out.push(LABEL_ADDRESS, at);
                self.out.push("(", at);
                let name = format!("\"{}\"", self.word(at + 1));
                self.out.push(&name, at + 1);
                self.out.push(")", at + 1);
                return at + 2;
            }
            "[" if self.word(at + 1) == "["
                && !ends_operand(self.previous(at), self.is_name(at.wrapping_sub(1))) =>
            {
                if let Some(close) = self.close_of(at) {
                    *start = at_start;
                    return close + 1;
                }
                self.copy(at);
            }
            _ => self.copy(at),
        }
        at + 1
    }

    fn step_word(&mut self, at: usize, at_start: bool, start: &mut bool) -> usize {
        let word = self.word(at);
        match word {
            "__extension__" | "__real__" | "__real" => {
                *start = at_start;
                return at + 1;
            }
            "__attribute__" | "__attribute" => {
                if let Some(close) = self.close_of(at + 1) {
                    self.take_attributes(at + 2, close);
                    *start = at_start;
                    return close + 1;
                }
            }
            "_Alignas" => {
                if let Some(close) = self.close_of(at + 1) {
                    let args = self.source_text(at + 2, close);
                    let before = self.out.starts.len();
                    self.out.attributes.push(Attribute { before, name: "aligned".to_owned(), args });
                    *start = at_start;
                    return close + 1;
                }
            }
            "asm" | "__asm" | "__asm__" => {
                if let Some(next) = self.take_asm(at, at_start) {
                    *start = at_start;
                    return next;
                }
            }
            "__label__" => {
                let mut end = at + 1;
                while self.is_name(end) || self.word(end) == "," {
                    end += 1;
                }
                return end;
            }
            "goto" if self.word(at + 1) == "*" => {
                let end = (at..self.tokens.len()).find(|&i| self.word(i) == ";");
                if let Some(end) = end {
                    self.out.push(COMPUTED_GOTO, at);
                    self.out.push("(", at + 1);
                    self.copy_range(at + 2, end);
                    self.out.push(")", end);
                    return end;
                }
            }
            "__builtin_types_compatible_p" => {
                if let Some(close) = self.close_of(at + 1) {
                    self.types_compatible(at, close);
                    return close + 1;
                }
            }
            "_Alignof" | "__alignof__" | "__alignof" => {
                if let Some(close) = self.close_of(at + 1) {
                    self.out.push(ALIGNOF, at);
                    self.out.push("(", at + 1);
                    self.out.push("sizeof", at + 1);
                    self.out.push("(", at + 1);
                    self.copy_range(at + 2, close);
                    self.out.push(")", close);
                    self.out.push(")", close);
                    return close + 1;
                }
            }
            "_Static_assert" => {
                if let Some(close) = self.close_of(at + 1)
                    && self.split_arguments(at + 2, close).len() == 1
                {
                    self.copy(at);
                    self.copy(at + 1);
                    self.copy_range(at + 2, close);
                    self.out.push(",", close);
                    self.out.push("\"\"", close);
                    self.copy(close);
                    return close + 1;
                }
            }
            "static" | "extern" | "register" | "auto" | "const" | "volatile" | "inline" | "__inline"
            | "__inline__" | "_Noreturn" => {
                let previous = self.previous(at);
                self.copy(at);
                if matches!(previous, "" | ";" | "{" | "}" | "(" | ":") || at_start {
                    *start = at_start;
                    if self.lacks_type(at + 1, previous == "(") {
                        self.out.push("int", at);
                    }
                }
                return at + 1;
            }
            _ => {}
        }
        if at_start && self.is_name(at) && self.word(at + 1) == "(" && self.is_old_function(at) {
            self.out.push("int", at);
        }
        match replacement(word) {
            Some(other) => self.out.push(other, at),
            None if word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => self.copy(at),
            None => {
                let mut plain = String::new();
                for letter in word.chars() {
                    if letter.is_ascii_alphanumeric() || letter == '_' {
                        plain.push(letter);
                    } else {
                        plain.push_str(&format!("__pdU{:x}_", u32::from(letter)));
                    }
                }
                self.out.push(&plain, at);
            }
        }
        at + 1
    }

    /// Copies tokens, with all the rewriting.
    fn copy_range(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            at = self.step(at, &mut false);
        }
    }

    fn source_text(&self, from: usize, to: usize) -> String {
        let words: Vec<_> = (from..to).map(|at| self.word(at)).collect();
        words.join(" ")
    }

    /// `name(…)` followed by a body, by old-style parameter declarations or by `;`.
    fn is_old_function(&self, at: usize) -> bool {
        let Some(close) = self.close_of(at + 1) else { return false };
        matches!(self.word(close + 1), "{" | ";" | ",")
            || (self.tokens.get(close + 1).is_some_and(|token| token.kind == TokenKind::Word)
                && self.is_name(at + 2)
                && matches!(self.word(at + 3), "," | ")"))
    }

    /// Whether a declared name follows where a type should stand (`static n = 0;`).
    fn lacks_type(&self, at: usize, in_parentheses: bool) -> bool {
        if !self.is_name(at) {
            return false;
        }
        match self.word(at + 1) {
            "=" => true,
            ";" | "," | "[" => !in_parentheses,
            "(" => !in_parentheses && self.is_old_function(at),
            _ => false,
        }
    }

    /// `(T) {}`: the brace belongs to a compound literal, not to a statement.
    fn is_compound_literal(&self, brace: usize) -> bool {
        if self.previous(brace) != ")" {
            return false;
        }
        let open = self.partner[brace - 1];
        open != usize::MAX
            && matches!(
                self.previous(open),
                "=" | "(" | "," | "return" | "?" | ":" | "&" | "+" | "-" | "*" | "[" | "=="
            )
    }

    fn is_label_address(&self, at: usize) -> bool {
        let previous = self.previous(at);
        let after_cast = previous == ")" && at >= 2 && self.word(at - 2) == "*";
        let prefix = after_cast || !ends_operand(previous, self.is_name(at.wrapping_sub(1)));
        let literal = at > 0
            && matches!(
                self.tokens[at - 1].kind,
                TokenKind::Number | TokenKind::Character | TokenKind::String
            );
        prefix && !literal && self.is_name(at + 1)
    }

    fn take_attributes(&mut self, from: usize, close: usize) {
        // `from` is the inner parenthesis.
        let Some(inner_close) = self.close_of(from) else { return };
        let before = self.out.starts.len();
        for (first, last) in self.split_arguments(from + 1, inner_close.min(close)) {
            let name = self.word(first).trim_matches('_').to_owned();
            if first < last && !name.is_empty() {
                let args =
                    self.close_of(first + 1).map_or(String::new(), |end| self.source_text(first + 2, end));
                self.out.attributes.push(Attribute { before, name, args });
            }
        }
    }

    /// The ranges between the commas of `from..to` that are in no inner bracket.
    fn split_arguments(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let (mut first, mut at) = (from, from);
        while at < to {
            if self.word(at) == "," {
                parts.push((first, at));
                first = at + 1;
            }
            at = self.close_of(at).map_or(at, |close| close) + 1;
        }
        parts.push((first, to));
        parts
    }

    fn types_compatible(&mut self, at: usize, close: usize) {
        self.out.push(TYPES_COMPATIBLE, at);
        self.out.push("(", at + 1);
        for (position, (first, last)) in self.split_arguments(at + 2, close).into_iter().enumerate() {
            if position > 0 {
                self.out.push(",", first);
            }
            self.out.push("sizeof", first);
            self.out.push("(", first);
            self.copy_range(first, last);
            self.out.push(")", last);
        }
        self.out.push(")", close);
    }

    /// Inline assembly. An empty template is a hint to compilers and does nothing; anything else
    /// becomes a plain `asm` statement, which is refused later where it matters.
    fn take_asm(&mut self, at: usize, at_start: bool) -> Option<usize> {
        let mut open = at + 1;
        while matches!(self.word(open), "volatile" | "__volatile__" | "__volatile" | "inline" | "goto") {
            open += 1;
        }
        let close = self.close_of(open)?;
        if at_start && self.depth == 0 {
            self.findings.push(Finding {
                diagnostic: Diagnostic::warning("top-level-asm", "assembly outside of functions is ignored"),
                token: at,
                label: "not part of the model".to_owned(),
            });
            return Some(if self.word(close + 1) == ";" { close + 2 } else { close + 1 });
        }
        if self.depth == 0 || self.is_name(at.wrapping_sub(1)) || self.word(close + 1) != ";" {
            // The assembler name of a declared object.
            return Some(close + 1);
        }
        let template_end =
            (open + 1..close).find(|&i| self.tokens[i].kind != TokenKind::String).unwrap_or(close);
        let empty = (open + 1..template_end).all(|i| self.word(i).trim_matches('"').trim().is_empty());
        if !empty || template_end == open + 1 {
            for word in ["__asm__", "(", "\"?\"", ")"] {
                self.out.push(word, at);
            }
        }
        Some(close + 1)
    }
}

/// Whether an expression can end with this token, so that an operator after it is binary.
fn ends_operand(word: &str, is_name: bool) -> bool {
    is_name || matches!(word, ")" | "]")
}

fn replacement(word: &str) -> Option<&'static str> {
    Some(match word {
        "__thread" => "_Thread_local",
        "__const__" => "const",
        "__int128" | "__int128__" => "_Decimal128x",
        "__float128" | "__ibm128" | "__float80" => "_Float128",
        "__auto_type" => AUTO_TYPE,
        "__null" => "0",
        _ => return None,
    })
}

/// A literal with only those escapes that the parser knows.
fn plain_escapes(literal: &str) -> std::borrow::Cow<'_, str> {
    if !literal.contains('\\') {
        return literal.into();
    }
    let mut result = String::with_capacity(literal.len());
    let mut rest = literal.chars();
    while let Some(letter) = rest.next() {
        if letter != '\\' {
            result.push(letter);
            continue;
        }
        match rest.next() {
            Some(
                escape @ ('\'' | '"' | '?' | '\\' | 'a' | 'b' | 'c' | 'f' | 'n' | 'r' | 't' | 'v' | 'x'),
            ) => {
                result.push('\\');
                result.push(escape);
            }
            Some(digit @ '0'..='7') => {
                result.push('\\');
                result.push(digit);
            }
            Some('e' | 'E') => result.push_str("\\033"),
            Some(kind @ ('u' | 'U')) => {
                let length = if kind == 'u' { 4 } else { 8 };
                let code: String = rest.clone().take(length).collect();
                let letter = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                if let (Some(letter), true) = (letter, code.len() == length) {
                    let mut buffer = [0; 4];
                    for byte in letter.encode_utf8(&mut buffer).bytes() {
                        result.push_str(&format!("\\{byte:03o}"));
                    }
                    for _ in 0..length {
                        rest.next();
                    }
                } else {
                    result.push(kind);
                }
            }
            Some(other) => result.push(other),
            None => {}
        }
    }
    result.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::lex;

    #[track_caller]
    fn assert_rewritten(source: &str, expected: &str) {
        let (prepared, findings) = prepare(source, &lex(source));
        let prelude = PRELUDE.join(" ");
        assert_eq!(prepared.text[prelude.len()..].trim_start(), expected);
        assert!(findings.iter().all(|finding| finding.diagnostic.severity != pdnet_source::Severity::Error));
    }

    #[test]
    fn keywords_are_sorted() {
        // `is_keyword` searches by halving; a few words from all over the list.
        for word in ["_Alignas", "__thread", "asm", "int", "while", "struct", "typeof", "__const"] {
            assert!(is_keyword(word), "{word}");
        }
        assert!(!is_keyword("main"));
    }

    #[test]
    fn what_the_parser_lacks_is_written_in_another_way() {
        assert_rewritten("__thread int x;", "_Thread_local int x ;");
        assert_rewritten("y = a ?: b;", "y = a ? __pdnet_elvis : b ;");
        assert_rewritten("p = &&l;", "p = __pdnet_label_address ( \"l\" ) ;");
        assert_rewritten("p = a && l;", "p = a && l ;");
        assert_rewritten("f() { l: }", "int f ( ) { l : ; }");
        assert_rewritten("static n = 0;", "static int n = 0 ;");
        assert_rewritten("int f(void) { asm volatile(\"\" ::: \"memory\"); }", "int f ( void ) { ; }");
        assert_rewritten("int f(void) { asm(\"nop\"); }", "int f ( void ) { __asm__ ( \"?\" ) ; }");
        assert_rewritten("int f(void) __asm__(\"g\");", "int f ( void ) ;");
        assert_rewritten("asm(\"x\"); int y;", "int y ;");
        assert_rewritten("x = (struct s){};", "x = ( struct s ) { 0 } ;");
        assert_rewritten("void f(void) { while (1) {} }", "void f ( void ) { while ( 1 ) { } }");
        assert_rewritten("a = __alignof__(int);", "a = __pdnet_alignof ( sizeof ( int ) ) ;");
        assert_rewritten("_Static_assert(1);", "_Static_assert ( 1 , \"\" ) ;");
        assert_rewritten("s = \"\\e[0m\\u00e9\\q\";", "s = \"\\033[0m\\303\\251q\" ;");
        assert_rewritten("a$b = 1;", "a__pdU24_b = 1 ;");
    }

    #[test]
    fn attributes_go_to_the_side_table() {
        let source = "struct __attribute__((packed, aligned(4))) s { int x; };";
        let (prepared, _) = prepare(source, &lex(source));
        let found: Vec<_> = prepared.attributes.iter().map(|a| (a.name.as_str(), a.args.as_str())).collect();
        assert_eq!(found, [("packed", ""), ("aligned", "4")]);
        assert_eq!(prepared.token_text(prepared.attributes[0].before), "s");
    }

    #[test]
    fn names_come_back() {
        assert_eq!(original_name("a__pdU24_b"), "a$b");
        assert_eq!(original_name("__pdU"), "__pdU");
        assert_eq!(original_name("plain"), "plain");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let source = "(".repeat(5000);
        let (_, findings) = prepare(&source, &lex(&source));
        assert_eq!(findings[0].diagnostic.id, "nesting-too-deep");
        let source = format!("int x = {}1;", "!".repeat(20_000));
        let (_, findings) = prepare(&source, &lex(&source));
        assert_eq!(findings[0].diagnostic.id, "nesting-too-deep");
    }
}
