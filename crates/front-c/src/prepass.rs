//! The pass over tokens between the preprocessor and the parser library.
//!
//! The library does not know all of GNU C. What it cannot parse is written in another way here, and
//! nothing that matters is lost on the way: attributes go to a side table, constructs without a
//! counterpart become calls of names that start with `__pdnet_`, which the type checker knows.
//! The new text is a list of tokens, and each of them remembers the token of the old text that it
//! came from: positions never depend on what was inserted or dropped.

mod acsl;
mod brackets;
mod words;

use pdnet_source::Diagnostic;

use crate::acsl::MARKER;
use brackets::{find_stray_tokens, match_brackets};
use pdnet_cpp::{Token, TokenKind};
use words::{plain_escapes, replacement};

pub(crate) use brackets::closing;
pub(crate) use words::{is_keyword, original_name};

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

/// What an assertion is a call of.
pub(crate) const ASSERT: &str = "__pdnet_assert";

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
    /// The token of the preprocessed text that is the first bracket without a partner.
    pub(crate) unbalanced: Option<usize>,
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

/// Rewrites the tokens of a preprocessed text. Findings that are errors come together; with one of them
/// the text must not be parsed.
pub(crate) fn prepare(text: &str, tokens: &[Token]) -> (Prepared, Vec<Finding>) {
    let mut findings = Vec::new();
    let (partner, unbalanced) = match_brackets(text, tokens, &mut findings);
    find_stray_tokens(text, tokens, &mut findings);
    let out = Prepared { unbalanced, ..Prepared::default() };
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
            MARKER => return self.take_assertion(at),
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
    is_name || matches!(word, ")" | "]" | "++" | "--")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pdnet_cpp::lex;

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
        assert_rewritten("p = a++ && l;", "p = a ++ && l ;");
        assert_rewritten("p = 1 && l;", "p = 1 && l ;");
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
        assert_rewritten(
            "int f(void) { __acsl a ==> b ==> c; }",
            "int f ( void ) { __pdnet_assert ( ( ! ( a ) || ( ( ! ( b ) || ( c ) ) ) ) ) ; }",
        );
        assert_rewritten(
            "int f(void) { __acsl (a <==> b) && c; }",
            "int f ( void ) { __pdnet_assert ( ( ( ! ( a ) == ! ( b ) ) ) && c ) ; }",
        );
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
