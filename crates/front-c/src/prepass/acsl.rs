//! Conditions of assertions in comments, from ACSL to C.
//!
//! `a ==> b` becomes `(!(a) || (b))`, `a <==> b` becomes `(!(a) == !(b))`. What C reads in another way than
//! ACSL, and what would change the program, is refused.

use pdnet_source::Diagnostic;

use super::{ASSERT, Finding, Pass};
use pdnet_cpp::TokenKind;

impl Pass<'_> {
    /// The assertion whose marker is at `at`; returns the index of the token after it.
    pub(super) fn take_assertion(&mut self, at: usize) -> usize {
        let mut end = at + 1;
        while end < self.tokens.len() && self.word(end) != ";" {
            end = self.close_of(end).unwrap_or(end) + 1;
        }
        if self.depth == 0 || !matches!(self.previous(at), "{" | "}" | ";" | ":") {
            let help = if matches!(self.previous(at), ")" | "else" | "do") {
                "put braces around it and the statement that it belongs to"
            } else {
                "put it between two statements of a function"
            };
            self.findings.push(Finding {
                diagnostic: Diagnostic::error("misplaced-annotation", "an assertion cannot stand here")
                    .help(help),
                token: at,
                label: "no statement can stand here".to_owned(),
            });
            return end + 1;
        }
        self.out.push(ASSERT, at);
        self.out.push("(", at);
        self.condition(at + 1, end);
        self.out.push(")", end.saturating_sub(1));
        self.out.push(";", end);
        end + 1
    }

    /// A condition: `?:` binds weakest, then `<==>`, then `==>` (from the right), then C's operators.
    fn condition(&mut self, from: usize, to: usize) {
        if let Some((question, colon)) = self.choice(from, to) {
            self.condition(from, question);
            self.copy(question);
            self.condition(question + 1, colon);
            self.copy(colon);
            self.condition(colon + 1, to);
        } else if let Some(at) = self.find(from, to, &["<=", "=", ">"]) {
            self.connective(["!", "== !", ""], (from, at), (at + 3, to));
        } else if let Some(at) = self.find(from, to, &["==", ">"]) {
            self.connective(["!", "||", ""], (from, at), (at + 2, to));
        } else {
            self.plain_condition(from, to);
        }
    }

    /// `( before ( left ) between ( right ) )`.
    fn connective(&mut self, words: [&str; 3], left: (usize, usize), right: (usize, usize)) {
        self.out.push("(", left.0);
        self.out.push(words[0], left.0);
        self.out.push("(", left.0);
        self.condition(left.0, left.1);
        self.out.push(")", left.1);
        for word in words[1].split(' ') {
            self.out.push(word, left.1);
        }
        self.out.push("(", right.0);
        self.condition(right.0, right.1);
        self.out.push(")", right.1.saturating_sub(1));
        self.out.push(")", right.1.saturating_sub(1));
    }

    fn plain_condition(&mut self, from: usize, to: usize) {
        let mut comparison: Option<usize> = None;
        let mut at = from;
        while at < to {
            match self.word(at) {
                "<" | "<=" | ">" | ">=" | "==" | "!=" => {
                    let before = comparison.replace(at);
                    if before.is_some() {
                        self.refuse(
                            at,
                            "comparisons in a row mean something else in C",
                            "second comparison",
                            "write `a < b && b < c`",
                        );
                    }
                }
                "&&" | "||" | "&" | "|" | "^" | "," => comparison = None,
                "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | "++" | "--" => {
                    self.refuse(
                        at,
                        "an assertion cannot change the program",
                        "this writes",
                        "only ask for values",
                    );
                }
                "{" => self.refuse(at, "an assertion is an expression", "a brace", "only ask for values"),
                "(" => {
                    if at > from && self.is_name(at - 1) {
                        self.refuse(
                            at - 1,
                            "an assertion cannot call functions",
                            "called here",
                            "call it before, and ask for its result",
                        );
                    }
                    if let Some(close) = self.close_of(at).filter(|&close| close < to) {
                        self.copy(at);
                        self.condition(at + 1, close);
                        self.copy(close);
                        at = close + 1;
                        continue;
                    }
                }
                _ => {}
            }
            at = self.step(at, &mut false);
        }
    }

    fn refuse(&mut self, token: usize, message: &str, label: &str, help: &str) {
        self.findings.push(Finding {
            diagnostic: Diagnostic::error("unsupported-annotation", message).help(help),
            token,
            label: label.to_owned(),
        });
    }

    /// Where these tokens follow each other, outside of brackets.
    fn find(&self, from: usize, to: usize, words: &[&str]) -> Option<usize> {
        let mut at = from;
        while at < to {
            let is_operator = |at: usize| self.tokens[at].kind == TokenKind::Punct;
            if is_operator(at)
                && words.iter().enumerate().all(|(offset, word)| self.word(at + offset) == *word)
            {
                return Some(at);
            }
            at = self.close_of(at).unwrap_or(at) + 1;
        }
        None
    }

    /// The first `?` outside of brackets, and its `:`.
    fn choice(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let question = self.find(from, to, &["?"])?;
        let (mut at, mut open) = (question + 1, 0_usize);
        while at < to {
            match self.word(at) {
                "?" => open += 1,
                ":" if open == 0 => return Some((question, at)),
                ":" => open -= 1,
                _ => {}
            }
            at = self.close_of(at).unwrap_or(at) + 1;
        }
        None
    }
}
