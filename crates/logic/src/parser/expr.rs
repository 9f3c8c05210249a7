//! C expressions. The grammar is that of C11 6.5 without calls, casts, `sizeof` and side effects.

use pdnet_source::Span;

use super::{Parse, Parser, Part, PartKind, arithmetic};
use crate::expr::level;
use crate::lexer::{Mode, Tok};
use crate::words::{infix_word, prefix_word};
use crate::{BinaryOp, ExprKind, ExprSyntax, IntSuffix, Name, ThreadRef, UnaryOp};

impl Parser<'_> {
    /// An expression in C mode whose operators have at least this level, and its depth.
    pub(super) fn c_expr(&mut self, min: u8) -> Parse<(ExprSyntax, u32)> {
        self.nested(|parser| {
            let (mut left, mut depth) = parser.c_unary()?;
            loop {
                if parser.token.tok == Tok::Question && min <= level::CONDITIONAL {
                    (left, depth) = parser.conditional(left, depth)?;
                    continue;
                }
                let Some(op) = c_infix(parser.token.tok).filter(|op| op.level() >= min) else { break };
                let token = parser.bump();
                let (right, right_depth) = parser.c_expr(op.level() + 1)?;
                if op.level() == level::RELATIONAL
                    && !parser.ends_in_parenthesis(&left)
                    && let Some(sides) = left.comparison().filter(|_| left.is_relational())
                {
                    return Err(parser.chained(sides, token, right.span).into());
                }
                depth = parser.depth_over(&[depth, right_depth], parser.span_of(token))?;
                let span = left.span.to(right.span);
                left = ExprSyntax { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
            }
            Ok((left, depth))
        })
    }

    #[inline(never)]
    fn conditional(&mut self, condition: ExprSyntax, depth: u32) -> Parse<(ExprSyntax, u32)> {
        let question = self.bump();
        let (yes, yes_depth) = self.c_expr(level::CONDITIONAL)?;
        if self.token.tok != Tok::Colon {
            return Err(self.wanted("`:` and the other value of the `?`").into());
        }
        self.bump();
        let (no, no_depth) = self.c_expr(level::CONDITIONAL)?;
        let depth = self.depth_over(&[depth, yes_depth, no_depth], self.span_of(question))?;
        let span = condition.span.to(no.span);
        let kind = ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no));
        Ok((ExprSyntax { kind, span }, depth))
    }

    /// Whether the expression was written in parentheses: then its span ends with one that the
    /// expression itself does not have.
    fn ends_in_parenthesis(&self, expr: &ExprSyntax) -> bool {
        self.lexer.slice(expr.span.start as usize, expr.span.end as usize).starts_with('(')
            && expr.comparison().is_some_and(|(left, _)| left.start > expr.span.start)
    }

    /// A prefix operator of C and its operand, or something without one. Works in both modes.
    #[inline(never)]
    pub(super) fn unary(&mut self) -> Parse<Part> {
        let (expr, depth) = self.c_unary()?;
        Ok(Part::expr(expr, depth))
    }

    fn c_unary(&mut self) -> Parse<(ExprSyntax, u32)> {
        let op = match self.token.tok {
            Tok::Minus => UnaryOp::Neg,
            Tok::Plus => UnaryOp::Plus,
            Tok::Tilde => UnaryOp::BitNot,
            Tok::Bang => UnaryOp::Not,
            Tok::Star => UnaryOp::Deref,
            Tok::Amp => UnaryOp::AddressOf,
            _ => return self.c_postfix(),
        };
        let token = self.bump();
        let (operand, depth) = self.nested(Self::c_unary)?;
        let depth = self.depth_over(&[depth], self.span_of(token))?;
        let span = self.span_of(token).to(operand.span);
        Ok((ExprSyntax { kind: ExprKind::Unary(op, Box::new(operand)), span }, depth))
    }

    fn c_postfix(&mut self) -> Parse<(ExprSyntax, u32)> {
        let (expr, depth) = self.c_primary()?;
        let part = self.postfix(expr, depth)?;
        match part.kind {
            PartKind::Expr(expr) => Ok((expr, part.depth)),
            PartKind::Ltl(_) => Err(self.wanted("an expression").into()),
        }
    }

    /// The `[i]`, `.f` and, in C mode, `->f` that follow an expression. The result counts as being in
    /// parentheses where nothing follows and the expression was.
    #[inline(never)]
    pub(super) fn postfix(&mut self, expr: ExprSyntax, depth: u32) -> Parse<Part> {
        let (mut expr, mut depth) = (expr, depth);
        let mut in_parentheses = self.lexer.slice(self.last_end.saturating_sub(1), self.last_end) == ")";
        loop {
            let token = self.token;
            let kind = match token.tok {
                Tok::LBracket => {
                    let (index, index_depth) = self.index()?;
                    depth = depth.max(index_depth);
                    ExprKind::Index(Box::new(expr), Box::new(index))
                }
                Tok::Dot => {
                    self.bump();
                    ExprKind::Member(Box::new(expr), self.name("the name of a member")?)
                }
                Tok::Arrow if self.mode == Mode::C => {
                    self.bump();
                    ExprKind::Arrow(Box::new(expr), self.name("the name of a member")?)
                }
                _ => break,
            };
            in_parentheses = false;
            depth = self.depth_over(&[depth], self.span_of(token))?;
            let start = match &kind {
                ExprKind::Index(base, _) | ExprKind::Member(base, _) | ExprKind::Arrow(base, _) => base.span,
                _ => self.span_of(token),
            };
            expr = ExprSyntax { kind, span: start.to(self.span_from(token.start)) };
        }
        Ok(Part { in_parentheses, ..Part::expr(expr, depth) })
    }

    /// `[ … ]`, which is C in both modes.
    #[inline(never)]
    fn index(&mut self) -> Parse<(ExprSyntax, u32)> {
        let open = self.token;
        let outer = self.mode;
        self.mode = Mode::C;
        self.bump();
        let index = self.c_expr(level::CONDITIONAL)?;
        if self.token.tok != Tok::RBracket {
            return Err(self.unclosed(open).into());
        }
        self.mode = outer;
        self.bump();
        Ok(index)
    }

    fn c_primary(&mut self) -> Parse<(ExprSyntax, u32)> {
        let token = self.token;
        let span = self.here();
        match token.tok {
            Tok::Int(value, suffix) => {
                self.bump();
                Ok((ExprSyntax { kind: ExprKind::Int(value, suffix), span }, 1))
            }
            Tok::Word => self.word_expr(),
            Tok::LParen if self.mode == Mode::Formula => {
                let part = self.parenthesized()?;
                self.as_expr(part, token)
            }
            Tok::LParen => {
                self.bump();
                if self.token.tok == Tok::RParen {
                    return Err(self.nothing_in_parentheses(token).into());
                }
                let (expr, depth) = self.c_expr(level::CONDITIONAL)?;
                self.close(token, Tok::RParen)?;
                Ok((ExprSyntax { span: self.span_from(token.start), ..expr }, depth))
            }
            _ => Err(self.missing_operand().into()),
        }
    }

    /// A name, a constant that is a word, or a local of a thread.
    #[inline(never)]
    fn word_expr(&mut self) -> Parse<(ExprSyntax, u32)> {
        let span = self.here();
        let text = self.text();
        let operator = prefix_word(text).is_some() || infix_word(text).is_some();
        if self.mode == Mode::Formula && operator {
            return Err(self.operator_as_operand().into());
        }
        if let Some(thread) = self.thread_before_colons() {
            let name = self.name("the name of a local variable")?;
            let kind = ExprKind::Local { thread, name };
            return Ok((ExprSyntax { kind, span: span.to(self.span_from(span.start as usize)) }, 1));
        }
        let kind = match text {
            "true" => ExprKind::Int(1, IntSuffix::PLAIN),
            "false" => ExprKind::Int(0, IntSuffix::PLAIN),
            _ => ExprKind::Name(text.to_owned()),
        };
        let token = self.bump();
        if self.token.tok == Tok::LParen && self.token.start == token.end {
            return Err(self.call_in_expression(token).into());
        }
        Ok((ExprSyntax { kind, span }, 1))
    }

    /// Reads `func::` or `func[k]::`; reads nothing where something else is there.
    fn thread_before_colons(&mut self) -> Option<ThreadRef> {
        let function = Name { text: self.text().to_owned(), span: self.here() };
        let mut ahead = self.lexer;
        let mut index = None;
        let mut token = ahead.next(Mode::C);
        if token.tok == Tok::LBracket {
            let Tok::Int(value, _) = ahead.next(Mode::C).tok else { return None };
            index = Some(u32::try_from(value).ok()?);
            if ahead.next(Mode::C).tok != Tok::RBracket {
                return None;
            }
            token = ahead.next(Mode::C);
        }
        if token.tok != Tok::ColonColon {
            return None;
        }
        self.lexer = ahead;
        self.token = token;
        self.bump();
        Some(ThreadRef { function, index })
    }

    /// An identifier, where nothing else can stand.
    pub(super) fn name(&mut self, what: &str) -> Parse<Name> {
        // `data-race` is one token, but no name.
        if self.token.tok != Tok::Word || self.text().contains('-') {
            return Err(self.wanted(what).into());
        }
        let (text, span) = (self.text().to_owned(), self.here());
        self.bump();
        Ok(Name { text, span })
    }
}

impl ExprSyntax {
    /// The places of the two sides, where this is a comparison.
    pub(super) fn comparison(&self) -> Option<(Span, Span)> {
        match &self.kind {
            ExprKind::Binary(op, left, right) if op.is_comparison() => Some((left.span, right.span)),
            _ => None,
        }
    }

    /// Whether this is `<`, `<=`, `>` or `>=`.
    fn is_relational(&self) -> bool {
        matches!(&self.kind, ExprKind::Binary(op, ..) if op.level() == level::RELATIONAL)
    }
}

/// The infix operator that this token is in C.
fn c_infix(tok: Tok) -> Option<BinaryOp> {
    Some(match tok {
        Tok::AmpAmp => BinaryOp::And,
        Tok::PipePipe => BinaryOp::Or,
        Tok::Amp => BinaryOp::BitAnd,
        Tok::Pipe => BinaryOp::BitOr,
        Tok::Caret => BinaryOp::BitXor,
        _ => return arithmetic(tok),
    })
}
