//! Inlines: declared as text, and put as text in the place of each call.

use std::sync::Arc;

use pdnet_source::Diagnostic;

use super::{EXPANSION_LIMIT, Frame, Parsed, Parser};
use crate::lexer::{Token, with_separators};
use crate::names::Inline;
use crate::tree::{Place, StmtKind};

impl Parser {
    /// `inline f ( … ) { … }`.
    pub(super) fn inline_declaration(&mut self) -> Parsed<()> {
        self.at += 1;
        let name = self.expect_name("the name of the inline")?;
        self.expect("(", "behind the name of the inline")?;
        let mut params = Vec::new();
        while !self.sees(")") {
            params.push(self.expect_name("a parameter, which has no type")?.text);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")", "behind the parameters")?;
        let body = self.braces("before the text of the inline")?;
        if let Some(known) = self.names.inlines.get(&*name.text) {
            let diagnostic =
                Diagnostic::error("redeclared-name", format!("the inline `{}` is declared twice", name.text))
                    .at(name.place(), "again here")
                    .context(known.span, "first here");
            return self.fail(diagnostic);
        }
        let id = self.names.inlines.len();
        let inline = Inline { id, params, body, span: name.span };
        self.names.inlines.insert(name.text.to_string(), Arc::new(inline));
        Ok(())
    }

    /// A call: the next tokens are the name of an inline and a parenthesis.
    pub(super) fn call(&mut self, result: Option<Place>) -> Parsed<StmtKind> {
        let name = self.expect_name("an inline")?;
        let start = name.span;
        let Some(inline) = self.names.inlines.get(&*name.text).cloned() else { return Err(super::Failed) };
        let args = self.call_arguments()?;
        let span = self.since(start);
        if args.len() != inline.params.len() {
            let (wanted, given) = (inline.params.len(), args.len());
            let message =
                format!("`{}` takes {wanted} argument{}", name.text, if wanted == 1 { "" } else { "s" });
            let diagnostic = Diagnostic::error("wrong-argument-count", message)
                .at(span, format!("{given} given here"))
                .context(inline.span, "declared here");
            return self.fail(diagnostic);
        }
        if self.frames.iter().any(|frame| frame.name == name.text) {
            let diagnostic =
                Diagnostic::error("recursive-inline", format!("the inline `{}` calls itself", name.text))
                    .at(name.place(), "its text would never end")
                    .context(inline.span, "declared here")
                    .help("use a proctype for recursion");
            return self.fail(diagnostic);
        }
        let text = substitute(&inline, &args);
        self.n_expanded = self.n_expanded.saturating_add(text.len());
        if self.n_expanded > EXPANSION_LIMIT {
            let diagnostic = Diagnostic::error("expansion-too-large", "the inlines expand to too much text")
                .at(span, format!("more than {EXPANSION_LIMIT} words with this call"));
            return self.fail(diagnostic);
        }
        let text = self.separated(&text);
        let end = text.last().map_or(span, |last| last.span);
        self.statement_is_there();
        self.frames.push(Frame { name: name.text.clone(), id: inline.id, result });
        let inner = self.within(text, end, |parser| {
            let inner = parser.block("at the start of the inline")?;
            parser.refuse_first_label(&inner, "{ … }")?;
            Ok(inner)
        });
        self.frames.pop();
        Ok(StmtKind::Block(inner?))
    }

    /// Tokens with the separators that SPIN adds.
    pub(super) fn separated(&self, tokens: &[Token]) -> Vec<Token> {
        let names = &self.names;
        with_separators(tokens, |word| {
            names.structs.contains_key(word)
                || names.inlines.contains_key(word)
                || names.procs.get(word).is_some_and(|known| known.declared)
        })
    }

    /// The tokens of each argument.
    fn call_arguments(&mut self) -> Parsed<Vec<Vec<Token>>> {
        let open = self.expect("(", "behind the name of the inline")?;
        let mut args: Vec<Vec<Token>> = Vec::new();
        let mut current: Vec<Token> = Vec::new();
        let mut nesting = 0usize;
        loop {
            let Some(token) = self.advance() else {
                let diagnostic =
                    Diagnostic::error("unclosed-parenthesis", "this parenthesis is never closed")
                        .at(open, "no `)` for it");
                return self.fail(diagnostic);
            };
            if nesting == 0 && token.is(")") {
                if !(current.is_empty() && args.is_empty()) {
                    args.push(current);
                }
                return Ok(args);
            }
            if nesting == 0 && token.is(",") {
                args.push(std::mem::take(&mut current));
                continue;
            }
            if token.is("(") || token.is("[") || token.is("{") {
                nesting += 1;
            } else if token.is(")") || token.is("]") || token.is("}") {
                nesting = nesting.saturating_sub(1);
            }
            current.push(token);
        }
    }
}

/// The text of an inline with the arguments in the place of the parameters.
fn substitute(inline: &Inline, args: &[Vec<Token>]) -> Vec<Token> {
    let mut text = Vec::with_capacity(inline.body.len());
    for token in &inline.body {
        let position = inline.params.iter().position(|param| token.is_name() && *param == token.text);
        let Some(arg) = position.and_then(|position| args.get(position)) else {
            text.push(token.clone());
            continue;
        };
        for (at, word) in arg.iter().enumerate() {
            let first = at == 0;
            text.push(Token {
                span: token.span,
                argument: Some(word.place()),
                newline: first && token.newline,
                glued: if first { token.glued } else { word.glued },
                ..word.clone()
            });
        }
    }
    text
}
