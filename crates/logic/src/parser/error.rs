//! Everything that the parser can say. None of it is inlined, because that would make the frames of the
//! recursive functions large.

use pdnet_source::{Diagnostic, Span};

use super::atom::is_identifier;
use super::{MAX_DEPTH, Parser};
use crate::MAX_ATOMS;
use crate::lexer::{BadNumber, Mode, Tok, Token};
use crate::words::{infix_word, prefix_word};

impl Parser<'_> {
    #[cold]
    #[inline(never)]
    pub(super) fn empty_formula(&self) -> Diagnostic {
        Diagnostic::error("empty-formula", "there is no formula")
            .at(self.here(), "expected a formula here")
            .help("write one, for example `G(x == 1 -> F(y == 2))`")
    }

    #[cold]
    #[inline(never)]
    pub(super) fn too_deep(&self, span: Span) -> Diagnostic {
        Diagnostic::error("formula-too-deep", format!("the formula has more than {MAX_DEPTH} levels"))
            .at(span, "too deep from here on")
            .help("check several smaller properties instead of one")
    }

    #[cold]
    #[inline(never)]
    pub(super) fn too_many_atoms(&self, span: Span) -> Diagnostic {
        Diagnostic::error("too-many-atoms", format!("the formula has more than {MAX_ATOMS} different atoms"))
            .at(span, "one too many")
            .help("check several smaller properties, or put `&&` and `||` of C inside of quotes")
    }

    /// Something that is wrong about the token at hand wherever it stands.
    fn bad_token(&self) -> Option<Diagnostic> {
        let here = self.here();
        let text = self.text();
        Some(match self.token.tok {
            Tok::Unknown(c) => Diagnostic::error("unknown-character", format!("unknown character `{c}`"))
                .at(here, "no operator or name starts like this")
                .help(match c {
                    '@' => "write `at(func, LABEL)` for \"some thread is at that label\"",
                    '\u{201c}' | '\u{201d}' | '`' => "use plain double quotes: \"",
                    '{' | '}' => "use parentheses",
                    _ => "operators are G F X U W R M ! && || -> <->, and the operators of C",
                }),
            Tok::BadNumber(BadNumber::Float) => {
                Diagnostic::error("float-in-formula", "floating-point numbers are not supported")
                    .at(here, "not an integer")
                    .help("compare integers only")
            }
            Tok::BadNumber(BadNumber::TooLarge) => {
                Diagnostic::error("number-too-large", "this number does not fit into 64 bits").at(here, "")
            }
            Tok::BadNumber(BadNumber::Malformed) => {
                Diagnostic::error("malformed-number", format!("`{text}` is not a number of C"))
                    .at(here, "")
                    .help("a name cannot start with a digit")
            }
            Tok::BadChar => Diagnostic::error("malformed-character", "this is not a character constant of C")
                .at(here, "")
                .help("write one character or an escape sequence between single quotes"),
            Tok::Assign if text == "=" => {
                Diagnostic::error("assignment-in-formula", "a formula cannot assign")
                    .at(here, "did you mean `==`?")
            }
            Tok::Assign => Diagnostic::error("assignment-in-formula", "a formula cannot change the program")
                .at(here, format!("`{text}` assigns"))
                .help("say what should hold before or after, for example with `==`"),
            _ => return None,
        })
    }

    /// Something else should stand here.
    #[cold]
    #[inline(never)]
    pub(super) fn wanted(&self, what: &str) -> Diagnostic {
        if let Some(diagnostic) = self.bad_token() {
            return diagnostic;
        }
        let message = match self.token.tok {
            Tok::End => format!("expected {what}, but the formula ends here"),
            _ => format!("expected {what}, found `{}`", self.text()),
        };
        Diagnostic::error("unexpected-token", message).at(self.here(), format!("expected {what}"))
    }

    /// An operator has nothing to work on.
    #[cold]
    #[inline(never)]
    pub(super) fn missing_operand(&self) -> Diagnostic {
        if let Some(diagnostic) = self.bad_token() {
            return diagnostic;
        }
        let message = match self.token.tok {
            Tok::End => "the formula ends where an operand should stand".to_owned(),
            Tok::Quote => "the quoted expression ends where an operand should stand".to_owned(),
            _ => format!("expected an operand, found `{}`", self.text()),
        };
        let diagnostic =
            Diagnostic::error("missing-operand", message).at(self.here(), "expected an operand here");
        match self.previous_word() {
            Some((before, span)) => {
                diagnostic.context(span, format!("`{before}` needs a formula or an expression after it"))
            }
            None => {
                diagnostic.help("a formula starts with an atom, a `(` or an operator such as `G`, `F`, `!`")
            }
        }
    }

    /// The token read last, found again in the text.
    fn previous_word(&self) -> Option<(&str, Span)> {
        let before = self.lexer.slice(0, self.last_end);
        let last = before.chars().next_back()?;
        let is_part = |c: char| if is_word(last) { is_word(c) } else { is_sign(c) };
        let len: usize = before.chars().rev().take_while(|&c| is_part(c)).map(char::len_utf8).sum();
        let start = self.last_end - len;
        (len > 0).then(|| (&before[start..], self.lexer.span(start, self.last_end)))
    }

    /// An operator word stands where a name should.
    #[cold]
    #[inline(never)]
    pub(super) fn operator_as_operand(&self) -> Diagnostic {
        let text = self.text();
        Diagnostic::error("missing-operand", format!("expected an operand, found the operator `{text}`"))
            .at(self.here(), "this is an operator")
            .help(format!("if `{text}` is a variable, put the expression in quotes: `\"{text} == 1\"`"))
    }

    /// A temporal operator stands inside of a comparison or a sum.
    #[cold]
    #[inline(never)]
    pub(super) fn temporal_in_expression(&self) -> Diagnostic {
        let text = self.text();
        let diagnostic = Diagnostic::error(
            "formula-in-expression",
            format!("`{text}` cannot stand inside of an expression"),
        )
        .at(self.here(), "this is an operator of the logic");
        if is_identifier(text) {
            diagnostic
                .help(format!("if `{text}` is a variable, put the expression in quotes: `\"{text} == 1\"`"))
        } else {
            diagnostic.help("compare two formulas with `<->` instead of `==`")
        }
    }

    /// The left or right side of a comparison is a formula.
    #[cold]
    #[inline(never)]
    pub(super) fn formula_in_expression(&self, formula: Span, op: Token) -> Diagnostic {
        let text = self.lexer.slice(op.start, op.end);
        Diagnostic::error("formula-in-expression", format!("`{text}` needs numbers, not a formula"))
            .at(formula, "this is a formula")
            .context(self.span_of(op), "")
            .help("compare formulas with `<->` or `xor`; put a C expression with `!`, `&&`, `||` in quotes")
    }

    #[cold]
    #[inline(never)]
    pub(super) fn nothing_in_parentheses(&self, open: Token) -> Diagnostic {
        Diagnostic::error("missing-operand", "there is nothing between the parentheses")
            .at(self.span_of(open).to(self.here()), "expected a formula in here")
            .help("`call(f())` may have empty parentheses, everything else may not")
    }

    #[cold]
    #[inline(never)]
    pub(super) fn nothing_in_quotes(&self, open: Token) -> Diagnostic {
        Diagnostic::error("missing-operand", "there is nothing between the quotes")
            .at(self.span_of(open).to(self.here()), "expected a C expression in here")
    }

    /// The token at hand should have been what closes `open`.
    #[cold]
    #[inline(never)]
    pub(super) fn unclosed(&self, open: Token) -> Diagnostic {
        let (id, what, closing) = match open.tok {
            Tok::Quote => ("unclosed-quote", "quote", '"'),
            Tok::LBracket => ("unclosed-bracket", "bracket", ']'),
            _ => ("unclosed-parenthesis", "parenthesis", ')'),
        };
        // A token that nothing can explain is the better news.
        let unexpected = match self.token.tok {
            Tok::End => None,
            Tok::RParen | Tok::RBracket | Tok::Quote => None,
            _ => Some(self.cannot_follow()),
        };
        if let Some(diagnostic) = unexpected {
            return diagnostic.context(self.span_of(open), format!("inside of this {what}"));
        }
        Diagnostic::error(id, format!("this {what} is never closed"))
            .at(self.span_of(open), "opened here")
            .context(self.here(), format!("expected `{closing}` here"))
            .help(format!("add the missing `{closing}`"))
    }

    /// Something complete has been read, and the token at hand cannot continue it.
    #[cold]
    #[inline(never)]
    pub(super) fn cannot_follow(&self) -> Diagnostic {
        if let Some(diagnostic) = self.bad_token() {
            return diagnostic;
        }
        let (here, text) = (self.here(), self.text());
        match self.token.tok {
            Tok::RParen | Tok::RBracket => {
                Diagnostic::error("unmatched-parenthesis", format!("this `{text}` closes nothing"))
                    .at(here, "no parenthesis is open here")
                    .help("remove it, or add the opening one")
            }
            Tok::Question | Tok::Colon => {
                Diagnostic::error("unexpected-token", format!("`{text}` cannot stand in a bare atom"))
                    .at(here, "only inside of quotes")
                    .help("put the C expression in quotes: `\"c ? a : b\"`")
            }
            _ => {
                let diagnostic =
                    Diagnostic::error("missing-operator", format!("expected an operator, found `{text}`"))
                        .at(here, "expected an operator before this");
                let previous = self.previous_word();
                let known = match text.to_ascii_lowercase().as_str() {
                    "and" => Some("&&"),
                    "or" => Some("||"),
                    "not" => Some("!"),
                    "iff" => Some("<->"),
                    _ => None,
                };
                match (known, previous) {
                    (Some(operator), _) => diagnostic.help(format!("write `{operator}` for \"{text}\"")),
                    (None, Some((before, _))) if before == ")" || is_operator_word(before) => {
                        diagnostic.help("join the two parts with `&&`, `||`, `->`, `U` or another operator")
                    }
                    (None, Some((before, _))) if is_letters_of_operators(before) => diagnostic.help(format!(
                        "`{before}` is one name; write `{}` with spaces if you mean operators",
                        spaced(before)
                    )),
                    (None, _) if self.mode == Mode::C => diagnostic.help("close the quotes before this"),
                    (None, _) => {
                        diagnostic.help("join the two parts with `&&`, `||`, `->`, `U` or another operator")
                    }
                }
            }
        }
    }

    /// `0 < x < 3`
    #[cold]
    #[inline(never)]
    pub(super) fn chained(&self, inner: (Span, Span), op: Token, right: Span) -> Diagnostic {
        let (first, middle) = inner;
        self.chain(first.to(right), format!("`{}`", self.between(first, middle)), middle, op, right)
    }

    /// `x == y < 3`, where the right side was read first because `<` binds tighter.
    #[cold]
    #[inline(never)]
    pub(super) fn chained_right(&self, left: Span, op: Token, inner: (Span, Span)) -> Diagnostic {
        let (middle, last) = inner;
        let first = format!("{} {} {}", self.source(left), self.token_text(op), self.source(middle));
        let second = self.between(middle, last);
        Diagnostic::error("chained-comparison", "comparisons do not chain in C")
            .at(left.to(last), format!("this compares the truth value of `{second}`"))
            .help(format!("write `{first} && {second}`, or add parentheses if you mean that"))
    }

    fn chain(&self, whole: Span, first: String, middle: Span, op: Token, right: Span) -> Diagnostic {
        let second = format!("{} {} {}", self.source(middle), self.token_text(op), self.source(right));
        let plain = first.trim_matches('`');
        Diagnostic::error("chained-comparison", "comparisons do not chain in C")
            .at(whole, format!("this compares the truth value of {first}"))
            .help(format!("write `{plain} && {second}`, or add parentheses if you mean that"))
    }

    /// A single `&`, `|` or `^` between things that look like numbers.
    #[cold]
    #[inline(never)]
    pub(super) fn bitwise(&self, op: Token, whole: Span) -> Diagnostic {
        let text = self.token_text(op);
        let quoted = format!("\"{}\"", self.source(whole));
        Diagnostic::error("ambiguous-operator", format!("`{text}` is a logical operator outside of quotes"))
            .at(self.span_of(op), "did you mean the operator of C?")
            .context(whole, "")
            .help(format!("put the C expression in quotes: `{quoted}`"))
    }

    /// `f(x)` in an expression.
    #[cold]
    #[inline(never)]
    pub(super) fn call_in_expression(&self, name: Token) -> Diagnostic {
        let text = self.token_text(name);
        let diagnostic =
            Diagnostic::error("call-in-formula", format!("`{text}` cannot be called in a formula"))
                .at(self.span_of(name), "a formula looks at a state, it does not run code");
        if prefix_word(text).is_some() || infix_word(text).is_some() {
            return diagnostic;
        }
        diagnostic.help(format!("write `call({text})` for \"some thread is about to call {text}\""))
    }

    fn token_text(&self, token: Token) -> &str {
        self.lexer.slice(token.start, token.end)
    }

    fn source(&self, span: Span) -> &str {
        self.lexer.slice(span.start as usize, span.end as usize)
    }

    fn between(&self, first: Span, last: Span) -> &str {
        self.source(first.to(last))
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_sign(c: char) -> bool {
    !is_word(c) && !c.is_whitespace() && !matches!(c, '(' | ')' | '[' | ']' | '"')
}

fn is_operator_word(word: &str) -> bool {
    prefix_word(word).is_some() || infix_word(word).is_some()
}

/// Whether a name looks like operators written together, as `GF`.
fn is_letters_of_operators(word: &str) -> bool {
    word.len() > 1 && word.chars().all(|c| matches!(c, 'G' | 'F' | 'X'))
}

fn spaced(word: &str) -> String {
    word.chars().map(String::from).collect::<Vec<_>>().join(" ")
}
