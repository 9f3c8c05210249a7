//! Messages: sends, receives, polls.

use pdnet_source::{Diagnostic, Span};

use super::expression::ABOVE_LOGIC;
use super::reference::{Arrays, Reference, Target, constant};
use super::{BodyKind, Parsed, Parser};
use crate::tree::{Expr, ExprKind, Init, ReceiveArg, StmtKind};

impl Parser {
    /// `! …` or `!! …` behind a channel.
    pub(super) fn send(&mut self, reference: Reference) -> Parsed<StmtKind> {
        let start = reference.span;
        let channel = self.channel_of(reference)?;
        let sorted = self.sees("!!");
        self.at += 1;
        self.refuse_in_claim(start)?;
        let mut args = Vec::new();
        self.argument_of_send(&mut args)?;
        if self.take("(") {
            self.arguments_of_send(&mut args)?;
            self.expect(")", "behind the fields of the message")?;
        } else if self.take(",") {
            self.arguments_of_send(&mut args)?;
        }
        self.check_fields(&channel, args.len(), self.since(start))?;
        Ok(StmtKind::Send { channel, args, sorted })
    }

    fn arguments_of_send(&mut self, args: &mut Vec<Expr>) -> Parsed<()> {
        loop {
            self.argument_of_send(args)?;
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    /// In `trace`, `_` stands for any value.
    fn argument_of_send(&mut self, args: &mut Vec<Expr>) -> Parsed<()> {
        let in_trace = self.body.as_ref().is_some_and(|body| body.kind == BodyKind::Trace);
        if in_trace && self.sees("_") {
            args.push(Expr { kind: ExprKind::Anything, span: self.here() });
            self.at += 1;
            return Ok(());
        }
        self.argument(args)
    }

    /// `? …`, `?? …`, `? < … >` behind a channel.
    pub(super) fn receive(&mut self, reference: Reference) -> Parsed<StmtKind> {
        let start = reference.span;
        let channel = self.channel_of(reference)?;
        let random = self.sees("??");
        self.at += 1;
        self.refuse_in_claim(start)?;
        let keep = self.take("<");
        let mut args = Vec::new();
        self.receive_args(&mut args)?;
        if keep {
            self.expect(">", "behind the fields of the message")?;
        }
        self.check_fields(&channel, args.len(), self.since(start))?;
        self.refuse_stored_twice(&args)?;
        Ok(StmtKind::Receive { channel, args, random, keep })
    }

    /// `? [ … ]`, `?? [ … ]` behind a channel.
    pub(super) fn poll(&mut self, reference: Reference) -> Parsed<Expr> {
        let start = reference.span;
        let channel = self.channel_of(reference)?;
        let random = self.sees("??");
        self.at += 2;
        let mut args = Vec::new();
        self.receive_args(&mut args)?;
        self.expect("]", "behind the fields of the message")?;
        let span = self.since(start);
        // A poll may leave out the last fields.
        let n_args = args.len().max(self.declared_fields(&channel).unwrap_or(0));
        self.check_fields(&channel, n_args, span)?;
        args.resize(n_args, ReceiveArg::Ignore);
        for arg in &mut args {
            if matches!(arg, ReceiveArg::Store(_)) {
                *arg = ReceiveArg::Ignore;
            }
        }
        self.expression_depth = 2;
        Ok(Expr { kind: ExprKind::Poll { channel: Box::new(channel), args, random }, span })
    }

    fn refuse_in_claim(&mut self, span: Span) -> Parsed<()> {
        if self.body.as_ref().is_some_and(|body| body.kind == BodyKind::Claim) {
            let diagnostic = Diagnostic::error("claim-with-effect", "a claim cannot send or receive")
                .at(span, "changes the model")
                .help("poll instead: `q?[…]`");
            return self.fail(diagnostic);
        }
        Ok(())
    }

    /// The fields of a receive: `a, b`, `a(b, c)`, `(a, b)`.
    fn receive_args(&mut self, args: &mut Vec<ReceiveArg>) -> Parsed<()> {
        self.deeper(|parser| {
            loop {
                if parser.take("(") {
                    parser.receive_args(args)?;
                    parser.expect(")", "behind the fields of the message")?;
                } else {
                    parser.receive_arg(args)?;
                    if parser.take("(") {
                        parser.receive_args(args)?;
                        parser.expect(")", "behind the fields of the message")?;
                        return Ok(());
                    }
                }
                if !parser.take(",") {
                    return Ok(());
                }
            }
        })
    }

    fn receive_arg(&mut self, args: &mut Vec<ReceiveArg>) -> Parsed<()> {
        let start = self.here();
        if self.take("eval") {
            self.expect("(", "behind `eval`")?;
            let value = self.expression()?;
            self.expect(")", "behind the value")?;
            args.push(ReceiveArg::Match(value));
            return Ok(());
        }
        let negative = self.take("-");
        if let Some(literal) = self.literal()? {
            let value = Self::constant_value(&literal).unwrap_or(0);
            let value = if negative { -value } else { value };
            args.push(ReceiveArg::Match(constant(value, self.since(start))));
            return Ok(());
        }
        if negative || !self.peek().is_some_and(crate::lexer::Token::is_name) {
            let diagnostic = self
                .unexpected("expected a variable, a constant or `eval` in a receive")
                .help("to compare a field with the value of an expression, write `eval(…)`");
            return self.fail(diagnostic);
        }
        let reference = self.reference(Arrays::Whole)?;
        match reference.target {
            Target::Ignore => args.push(ReceiveArg::Ignore),
            Target::Special(_) => {
                let name = reference.name;
                let message = format!("`{}` cannot be changed by a receive", name.text);
                let diagnostic = Diagnostic::error("read-only-name", message)
                    .at(name.place(), "kept by the system")
                    .help(format!("to compare, write `eval({})`", name.text));
                return self.fail(diagnostic);
            }
            Target::Part { .. } => {
                args.extend(self.parts_of(reference)?.into_iter().map(ReceiveArg::Store));
            }
        }
        if super::expression::BINARY
            .iter()
            .any(|(text, rank, _)| *rank >= ABOVE_LOGIC && *text != ">" && self.sees(text))
        {
            let diagnostic = self
                .unexpected("expected `,` or the end of the receive")
                .help("to compare a field with the value of an expression, write `eval(…)`");
            return self.fail(diagnostic);
        }
        Ok(())
    }

    /// SPIN does not say which of two fields a variable would get.
    fn refuse_stored_twice(&mut self, args: &[ReceiveArg]) -> Parsed<()> {
        let places: Vec<_> = args
            .iter()
            .filter_map(|arg| match arg {
                ReceiveArg::Store(place) if place.indices.is_empty() => Some(place),
                ReceiveArg::Store(_) | ReceiveArg::Match(_) | ReceiveArg::Ignore => None,
            })
            .collect();
        for (position, place) in places.iter().enumerate() {
            if let Some(first) = places[..position].iter().find(|first| first.var == place.var) {
                let diagnostic =
                    Diagnostic::error("stored-twice", "a variable cannot take two fields of a message")
                        .at(place.span, "again here")
                        .context(first.span, "first here");
                return self.fail(diagnostic);
            }
        }
        Ok(())
    }

    /// The number of fields of a channel, where its declaration says it.
    fn declared_fields(&self, channel: &Expr) -> Option<usize> {
        let ExprKind::Load(place) = &channel.kind else { return None };
        match &self.model.vars[place.var].init {
            Init::Channel(ty) => Some(ty.fields.len()),
            Init::Zero | Init::Value(_) | Init::List(_) => None,
        }
    }

    /// Compares the number of fields with the declaration of the channel, where it is known.
    fn check_fields(&mut self, channel: &Expr, n_args: usize, span: Span) -> Parsed<()> {
        let ExprKind::Load(place) = &channel.kind else { return Ok(()) };
        let Some(n_fields) = self.declared_fields(channel) else { return Ok(()) };
        let declared = self.model.vars[place.var].span;
        let name = &self.model.vars[place.var].name;
        let what =
            format!("{n_args} field{} here, {n_fields} in the channel", if n_args == 1 { "" } else { "s" });
        if n_args != n_fields {
            let more = if n_args > n_fields { "fewer" } else { "more" };
            let diagnostic =
                Diagnostic::error("wrong-field-count", format!("messages of `{name}` have {more} fields"))
                    .at(span, what)
                    .context(declared, "declared here");
            return self.fail(diagnostic);
        }
        Ok(())
    }
}
