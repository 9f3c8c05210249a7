//! Expressions.

use pdnet_source::{Diagnostic, Span, nearest_name};

use super::reference::{Arrays, Reference, Target, constant};
use super::{BodyKind, Parsed, Parser, PendingRun, TREE_DEPTH_LIMIT, too_deep};
use crate::arithmetic;
use crate::lexer::{Kind, Token};
use crate::names::Node;
use crate::tree::{BinaryOp, ChannelQuery, Expr, ExprKind, Place, Type, UnaryOp};

/// Binary operators with their rank; a higher one binds tighter.
pub(super) const BINARY: &[(&str, u8, BinaryOp)] = &[
    ("||", 1, BinaryOp::Or),
    ("&&", 2, BinaryOp::And),
    ("|", 3, BinaryOp::BitOr),
    ("^", 4, BinaryOp::BitXor),
    ("&", 5, BinaryOp::BitAnd),
    ("==", 6, BinaryOp::Eq),
    ("!=", 6, BinaryOp::Ne),
    ("<", 7, BinaryOp::Lt),
    ("<=", 7, BinaryOp::Le),
    (">", 7, BinaryOp::Gt),
    (">=", 7, BinaryOp::Ge),
    ("<<", 8, BinaryOp::Shl),
    (">>", 8, BinaryOp::Shr),
    ("+", 9, BinaryOp::Add),
    ("-", 9, BinaryOp::Sub),
    ("*", 10, BinaryOp::Mul),
    ("/", 10, BinaryOp::Div),
    ("%", 10, BinaryOp::Rem),
];

/// The rank above `&&`: what atoms of formulas are made of.
pub(super) const ABOVE_LOGIC: u8 = 3;

impl Parser {
    /// Reads an expression that starts no process.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let n_runs = self.runs.len();
        let result = self.binary(0)?;
        self.refuse_runs(n_runs)?;
        Ok(result)
    }

    /// Reads an expression that may be a `run` as a whole.
    pub(super) fn expression_or_run(&mut self) -> Parsed<Expr> {
        let n_runs = self.runs.len();
        let result = self.binary(0)?;
        self.check_runs(&result, n_runs)?;
        Ok(result)
    }

    /// Goes on with an expression whose first operand has been read.
    pub(super) fn expression_from(&mut self, first: Expr) -> Parsed<Expr> {
        let n_runs = self.runs.len();
        self.expression_depth = 1;
        let result = self.binary_from(first, 0)?;
        self.check_runs(&result, n_runs)?;
        Ok(result)
    }

    fn check_runs(&mut self, expr: &Expr, n_runs: usize) -> Parsed<()> {
        let own = usize::from(matches!(expr.kind, ExprKind::Run(..)));
        self.refuse_runs(n_runs + own)
    }

    fn refuse_runs(&mut self, n_allowed: usize) -> Parsed<()> {
        if self.runs.len() <= n_allowed {
            return Ok(());
        }
        let span = self.runs.last().map_or(self.end, |run| run.span);
        let diagnostic = Diagnostic::error("run-in-expression", "`run` cannot be a part of an expression")
            .at(span, "starts a process here")
            .help("assign it first: `p = run P()`");
        self.fail(diagnostic)
    }

    /// Operators of at least this rank.
    pub(super) fn binary(&mut self, rank: u8) -> Parsed<Expr> {
        let first = self.deeper(Self::unary)?;
        self.binary_from(first, rank)
    }

    pub(super) fn binary_from(&mut self, first: Expr, rank: u8) -> Parsed<Expr> {
        let mut left = first;
        while let Some((operator_rank, operator)) = self.binary_operator(rank) {
            let depth = self.expression_depth;
            self.at += 1;
            let right = self.deeper(|parser| parser.binary(operator_rank + 1))?;
            self.expression_depth = self.expression_depth.max(depth) + 1;
            let span = left.span.to(right.span);
            if self.expression_depth > TREE_DEPTH_LIMIT {
                return self.fail(too_deep(span));
            }
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            left = Expr { kind, span };
        }
        Ok(left)
    }

    fn binary_operator(&self, rank: u8) -> Option<(u8, BinaryOp)> {
        let token = self.peek()?;
        if self.in_formula && self.temporal_ahead() {
            return None;
        }
        let found = BINARY.iter().find(|(text, ..)| token.is(text));
        found.filter(|(_, found, _)| *found >= rank).map(|&(_, found, operator)| (found, operator))
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.here();
        for (text, operator) in [("-", UnaryOp::Neg), ("~", UnaryOp::BitNot), ("!", UnaryOp::Not)] {
            if self.take(text) {
                let operand = self.deeper(Self::unary)?;
                return self.unary_of(operator, operand, start);
            }
        }
        if self.take("!!") {
            let operand = self.deeper(Self::unary)?;
            let inner = self.unary_of(UnaryOp::Not, operand, start)?;
            return self.unary_of(UnaryOp::Not, inner, start);
        }
        self.expression_depth = 1;
        self.primary()
    }

    fn unary_of(&mut self, operator: UnaryOp, operand: Expr, start: Span) -> Parsed<Expr> {
        self.expression_depth += 1;
        let span = start.to(operand.span);
        if self.expression_depth > TREE_DEPTH_LIMIT {
            return self.fail(too_deep(span));
        }
        Ok(Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span })
    }

    /// A number, if the next token is one.
    pub(super) fn literal(&mut self) -> Parsed<Option<Expr>> {
        let Some(token) = self.peek().cloned() else { return Ok(None) };
        let value = match token.kind {
            Kind::Number => self.number(&token),
            Kind::Char => match character(&token.text) {
                Some(value) => value,
                None => {
                    let diagnostic = Diagnostic::error("bad-character", "this is not one character")
                        .at(token.place(), "a number is expected")
                        .help("strings stand in double quotes, in `printf` only");
                    return self.fail(diagnostic);
                }
            },
            Kind::Word => match &*token.text {
                "true" | "skip" => 1,
                "false" => 0,
                name => match self.names.constants.get(name) {
                    Some(&(_, value, _)) => value,
                    None => return Ok(None),
                },
            },
            Kind::String | Kind::Punct | Kind::Stray => return Ok(None),
        };
        self.at += 1;
        Ok(Some(constant(value, token.span)))
    }

    /// The value of a number: 32 bits, as in SPIN.
    #[expect(clippy::cast_possible_truncation, reason = "SPIN keeps the low 32 bits")]
    fn number(&mut self, token: &Token) -> i64 {
        let value: i64 = token.text.parse().unwrap_or(i64::MAX);
        let kept = i64::from(value as i32);
        if kept != value {
            let warning =
                Diagnostic::warning("number-out-of-range", format!("`{}` has more than 32 bits", token.text))
                    .at(token.place(), format!("taken as {kept}, as SPIN does"));
            self.report(warning);
        }
        kept
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.here();
        if let Some(literal) = self.literal()? {
            return Ok(literal);
        }
        if self.take("(") {
            return self.parenthesis(start);
        }
        let Some(token) = self.peek().cloned() else {
            let diagnostic = self.unexpected("expected an expression");
            return self.fail(diagnostic);
        };
        match &*token.text {
            "timeout" if token.kind == Kind::Word => {
                self.at += 1;
                Ok(Expr { kind: ExprKind::Timeout, span: start })
            }
            "np_" => {
                self.at += 1;
                let in_claim = self.body.as_ref().is_some_and(|body| body.kind == BodyKind::Claim);
                if !in_claim && !self.in_formula {
                    let diagnostic =
                        Diagnostic::error("misplaced-np", "`np_` can only be used in claims and formulas")
                            .at(start, "not in a process");
                    return self.fail(diagnostic);
                }
                Ok(Expr { kind: ExprKind::NonProgress, span: start })
            }
            "run" => self.run(),
            "len" => self.query(ChannelQuery::Len),
            "empty" => self.query(ChannelQuery::Empty),
            "nempty" => self.query(ChannelQuery::NotEmpty),
            "full" => self.query(ChannelQuery::Full),
            "nfull" => self.query(ChannelQuery::NotFull),
            "enabled" => self.function(ExprKind::Enabled),
            "pc_value" => self.function(ExprKind::PcValue),
            "c_expr" => self.refuse_c(),
            "get_priority" => self.refuse_priority(),
            "else" => {
                let diagnostic = Diagnostic::error("misplaced-else", "`else` is no expression")
                    .at(token.place(), "can only begin a choice: `:: else -> …`");
                self.fail(diagnostic)
            }
            "eval" => {
                let diagnostic = Diagnostic::error("misplaced-eval", "`eval` can only stand in a receive")
                    .at(token.place(), "not needed here")
                    .help("write its argument alone");
                self.fail(diagnostic)
            }
            _ if token.is_name() => self.name(&token),
            _ => {
                let diagnostic = self.unexpected("expected an expression");
                self.fail(diagnostic)
            }
        }
    }

    fn parenthesis(&mut self, start: Span) -> Parsed<Expr> {
        let inner = self.deeper(|parser| parser.binary(0))?;
        let depth = self.expression_depth;
        if self.sees("->") && !self.in_formula {
            self.at += 1;
            let positive = self.deeper(|parser| parser.binary(0))?;
            let depth = depth.max(self.expression_depth);
            self.expect(":", "between the two values of a choice")?;
            let negative = self.deeper(|parser| parser.binary(0))?;
            self.expression_depth = depth.max(self.expression_depth) + 1;
            self.expect(")", "behind the expression")?;
            let span = self.since(start);
            if self.expression_depth > TREE_DEPTH_LIMIT {
                return self.fail(too_deep(span));
            }
            let kind = ExprKind::If(Box::new(inner), Box::new(positive), Box::new(negative));
            return Ok(Expr { kind, span });
        }
        self.expect(")", "behind the expression")?;
        self.expression_depth = depth;
        Ok(Expr { kind: inner.kind, span: self.since(start) })
    }

    /// A variable, a poll of a channel, or a reference to another process.
    fn name(&mut self, token: &Token) -> Parsed<Expr> {
        let is_variable = self.variable(&token.text).is_some();
        if !is_variable && let Some(known) = self.names.procs.get(&*token.text) {
            let follows = if known.declared { ["[", "@", ":"].as_slice() } else { &["[", "@"] };
            if follows.iter().any(|text| self.sees_at(1, text)) {
                return self.remote(token);
            }
        }
        if !is_variable && self.sees_at(1, "@") {
            let names = self.proc_names();
            let message = format!("there is no proctype `{}`", token.text);
            let mut diagnostic =
                Diagnostic::error("unknown-proctype", message).at(token.place(), "not known");
            if let Some(near) = nearest_name(&token.text, names.iter().map(String::as_str)) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            return self.fail(diagnostic);
        }
        let reference = self.reference(Arrays::NeedIndex)?;
        self.poll_or_value(reference)
    }

    pub(super) fn proc_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.procs.keys().cloned().collect();
        names.sort();
        names
    }

    /// Goes on behind a reference: `? [ … ]`, or its value.
    pub(super) fn poll_or_value(&mut self, reference: Reference) -> Parsed<Expr> {
        let polls = (self.sees("?") || self.sees("??")) && self.sees_at(1, "[");
        if polls { self.poll(reference) } else { self.value_of(reference) }
    }

    /// `P[p]:x`, `P[p]@l`, `P:x`, `P@l`.
    fn remote(&mut self, token: &Token) -> Parsed<Expr> {
        let start = token.span;
        self.at += 1;
        let pid = if self.take("[") {
            let pid = self.expression()?;
            self.expect("]", "behind the number of the process")?;
            Some(Box::new(pid))
        } else {
            None
        };
        let Some(mut known) = self.names.procs.get(&*token.text).cloned() else {
            let diagnostic = self.undeclared(token);
            return self.fail(diagnostic);
        };
        // Of its own proctype, a process can name what was read up to here.
        if let Some(body) = self.body.as_ref().filter(|body| body.kind == BodyKind::Proc(known.proc)) {
            known.complete = true;
            known.locals.clone_from(&body.all);
            known.labels = body.labels.read();
        }
        let of_label = self.sees("@");
        if !of_label && !self.sees(":") {
            let diagnostic = self.unexpected("expected `@` and a label, or `:` and a variable");
            return self.fail(diagnostic);
        }
        self.at += 1;
        let name = self.expect_name(if of_label { "a label" } else { "a variable" })?;
        if !known.complete {
            let message = format!("`{}` is not complete here", token.text);
            let diagnostic = Diagnostic::error("incomplete-proctype", message)
                .at(self.since(start), "a reference to a proctype that comes later")
                .context(known.span, "declared here")
                .help("put the proctype before this one");
            return self.fail(diagnostic);
        }
        if of_label {
            let Some(&(_, label)) = known.labels.iter().find(|(label, _)| **label == *name.text) else {
                let message = format!("`{}` has no label `{}`", token.text, name.text);
                let names = known.labels.iter().map(|(label, _)| label.as_str());
                return self.fail_with_guess("unknown-label", message, &name, names);
            };
            self.asked_labels.insert((known.proc, label));
            let kind = ExprKind::At { proc: known.proc, pid, label };
            return Ok(Expr { kind, span: self.since(start) });
        }
        let Some(symbol) = known.locals.iter().find(|symbol| *symbol.name == *name.text).cloned() else {
            let message = format!("`{}` has no variable `{}`", token.text, name.text);
            let names = known.locals.iter().map(|symbol| symbol.name.as_str());
            return self.fail_with_guess("undeclared-name", message, &name, names);
        };
        let Node::Leaf(var, _) = symbol.node else {
            let diagnostic = Diagnostic::error("incomplete-structure", "this is a structure, not a number")
                .at(self.since(start), "fields of other processes cannot be looked at");
            return self.fail(diagnostic);
        };
        let mut indices = Vec::new();
        match (symbol.length, self.take("[")) {
            (Some(_), true) => {
                indices.push(self.expression()?);
                self.expect("]", "behind the index")?;
            }
            (None, false) => {}
            (Some(_), false) => {
                let diagnostic = Diagnostic::error("missing-index", format!("`{}` is an array", name.text))
                    .at(name.place(), "which element?");
                return self.fail(diagnostic);
            }
            (None, true) => {
                let diagnostic =
                    Diagnostic::error("not-an-array", format!("`{}` is not an array", name.text))
                        .at(name.place(), "an index has no meaning here");
                return self.fail(diagnostic);
            }
        }
        let place = Place { var, indices, span: name.span };
        Ok(Expr { kind: ExprKind::Remote { proc: known.proc, pid, place }, span: self.since(start) })
    }

    fn fail_with_guess<'n, T>(
        &mut self,
        id: &'static str,
        message: String,
        name: &Token,
        candidates: impl Iterator<Item = &'n str>,
    ) -> Parsed<T> {
        let mut diagnostic = Diagnostic::error(id, message).at(name.place(), "not known");
        if let Some(near) = nearest_name(&name.text, candidates) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.fail(diagnostic)
    }

    /// `run P ( … )`.
    fn run(&mut self) -> Parsed<Expr> {
        let start = self.here();
        self.at += 1;
        let name = self.expect_name("the name of a proctype")?;
        self.expect("(", "behind the name of the proctype")?;
        let mut args = Vec::new();
        while !self.sees(")") {
            self.argument(&mut args)?;
            if !self.take(",") {
                break;
            }
        }
        self.expect(")", "behind the arguments")?;
        self.skip_priority();
        let span = self.since(start);
        let Some(known) = self.names.procs.get(&*name.text) else {
            let message = format!("there is no proctype `{}`", name.text);
            let names = self.proc_names();
            return self.fail_with_guess(
                "unknown-proctype",
                message,
                &name,
                names.iter().map(String::as_str),
            );
        };
        let proc = known.proc;
        if !matches!(self.body.as_ref().map(|body| body.kind), Some(BodyKind::Proc(_))) {
            let diagnostic = Diagnostic::error("misplaced-run", "`run` can only be used in a process")
                .at(span, "would change what is only observed");
            return self.fail(diagnostic);
        }
        self.runs.push(PendingRun { proc, n_args: args.len(), span });
        Ok(Expr { kind: ExprKind::Run(proc, args), span })
    }

    /// One argument of `run`, a send or `printf`; a structure is all its fields.
    pub(super) fn argument(&mut self, out: &mut Vec<Expr>) -> Parsed<()> {
        let structure = self.peek().filter(|token| token.is_name()).is_some_and(|token| {
            self.variable(&token.text).is_some_and(|symbol| matches!(symbol.node, Node::Struct(..)))
        });
        if !structure {
            out.push(self.expression()?);
            return Ok(());
        }
        let reference = self.reference(Arrays::Whole)?;
        let is_scalar = match &reference.target {
            Target::Part { node, whole, .. } => node.scalar().is_some() && whole.is_none(),
            Target::Special(_) | Target::Ignore => true,
        };
        if is_scalar {
            let first = self.poll_or_value(reference)?;
            out.push(self.expression_from(first)?);
            return Ok(());
        }
        let load = |place: Place| Expr { span: place.span, kind: ExprKind::Load(place) };
        out.extend(self.parts_of(reference)?.into_iter().map(load));
        Ok(())
    }

    /// `len ( q )` and its kin.
    fn query(&mut self, query: ChannelQuery) -> Parsed<Expr> {
        let start = self.here();
        self.at += 1;
        self.expect("(", "before the channel")?;
        let reference = self.reference(Arrays::NeedIndex)?;
        let channel = self.channel_of(reference)?;
        self.expect(")", "behind the channel")?;
        let kind = ExprKind::Query(query, Box::new(channel));
        Ok(Expr { kind, span: self.since(start) })
    }

    /// A reference to a channel, as a value.
    pub(super) fn channel_of(&mut self, reference: Reference) -> Parsed<Expr> {
        let name = reference.name.clone();
        let (place, ty) = self.place_of(reference)?;
        if ty != Type::Chan {
            let declared = self.model.vars[place.var].span;
            let diagnostic = Diagnostic::error("not-a-channel", format!("`{}` is not a channel", name.text))
                .at(name.place(), "a channel is needed here")
                .context(declared, "declared here");
            return self.fail(diagnostic);
        }
        Ok(Expr { span: place.span, kind: ExprKind::Load(place) })
    }

    fn function(&mut self, make: fn(Box<Expr>) -> ExprKind) -> Parsed<Expr> {
        let start = self.here();
        self.at += 1;
        self.expect("(", "before the number of the process")?;
        let inner = self.deeper(Self::expression)?;
        self.expect(")", "behind the number of the process")?;
        self.expression_depth += 1;
        Ok(Expr { kind: make(Box::new(inner)), span: self.since(start) })
    }

    /// `c_code` and its kin cannot be modelled.
    pub(super) fn refuse_c<T>(&mut self) -> Parsed<T> {
        let word = self.advance().map_or_else(String::new, |token| token.text.to_string());
        let span = self.before();
        while self.peek().is_some_and(|token| token.kind == Kind::String) {
            self.at += 1;
        }
        if self.sees("[") {
            while !self.sees("{") && self.advance().is_some() {}
        }
        if self.sees("{")
            && let Some(end) = self.closing_brace()
        {
            self.at = end;
        }
        let diagnostic = Diagnostic::error("unsupported-c-code", format!("`{word}` cannot be modelled"))
            .at(span, "C code inside of the model")
            .note("pdnet reads the whole model, and C code can do what the model does not show")
            .help("write it in Promela, for instance as a `d_step`");
        self.fail(diagnostic)
    }

    /// `get_priority` and `set_priority` cannot be modelled.
    pub(super) fn refuse_priority<T>(&mut self) -> Parsed<T> {
        let word = self.advance().map_or_else(String::new, |token| token.text.to_string());
        let span = self.before();
        if self.sees("(") {
            let mut open = 0usize;
            while let Some(token) = self.advance() {
                open += usize::from(token.is("("));
                open -= usize::from(token.is(")"));
                if open == 0 {
                    break;
                }
            }
        }
        let diagnostic = Diagnostic::error("unsupported-priority", format!("`{word}` cannot be modelled"))
            .at(span, "priorities of processes are not supported");
        self.fail(diagnostic)
    }

    /// The value of an expression of constants.
    pub(super) fn constant_value(expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Const(value) => Some(*value),
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                arithmetic::unary(UnaryOp::Neg, wrap(Self::constant_value(inner)?))
            }
            // Comparisons are no sizes and no numbers of constants.
            ExprKind::Binary(
                BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::And
                | BinaryOp::Or,
                ..,
            ) => None,
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (Self::constant_value(left)?, Self::constant_value(right)?);
                arithmetic::binary(*operator, wrap(left), wrap(right))
            }
            ExprKind::Load(_)
            | ExprKind::Pid
            | ExprKind::ProcessCount
            | ExprKind::Last
            | ExprKind::NonProgress
            | ExprKind::Anything
            | ExprKind::Timeout
            | ExprKind::Unary(..)
            | ExprKind::If(..)
            | ExprKind::Run(..)
            | ExprKind::Query(..)
            | ExprKind::Poll { .. }
            | ExprKind::Enabled(_)
            | ExprKind::PcValue(_)
            | ExprKind::Remote { .. }
            | ExprKind::At { .. } => None,
        }
    }
}

/// 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "numbers have 32 bits")]
fn wrap(value: i64) -> i64 {
    i64::from(value as i32)
}

/// The value of a character constant with its quotes.
fn character(text: &str) -> Option<i64> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut characters = inner.chars();
    let value = match (characters.next()?, characters.next()) {
        ('\\', Some(escaped)) => match escaped {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0c',
            other => other,
        },
        ('\\', None) => '\\',
        (plain, None) => plain,
        (_, Some(_)) => return None,
    };
    if characters.next().is_some() || !value.is_ascii() {
        return None;
    }
    Some(i64::from(u32::from(value)))
}
