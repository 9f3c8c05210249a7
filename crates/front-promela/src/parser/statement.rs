//! Statements.

use pdnet_source::{Diagnostic, Span, nearest_name};

use super::reference::{Arrays, Reference, Target, constant};
use super::{BodyKind, Parsed, Parser};
use crate::lexer::{Kind, Token, keywords};
use crate::names::Node;
use crate::tree::{
    BinaryOp, Exclusive, ExclusiveKind, Expr, ExprKind, Place, Sequence, Stmt, StmtKind, Type,
};

use super::label::skip;

/// What ends a sequence.
const CLOSING: &[&str] = &["}", "fi", "od", "::"];

impl Parser {
    /// Statements up to a closing brace, `fi`, `od` or `::`, which are not taken.
    pub(super) fn sequence(&mut self) -> Sequence {
        let mut out = Vec::new();
        loop {
            while self.take(";") || self.take("->") {}
            if self.peek().is_none() || self.sees_any(CLOSING) || self.gave_up() {
                return out;
            }
            let start = self.at;
            if self.step(&mut out).is_err() {
                self.recover(start);
                continue;
            }
            let ended = self.peek().is_none() || self.sees_any(&[";", "->"]) || self.sees_any(CLOSING);
            let behind_block = self.at.checked_sub(1).is_some_and(|at| self.tokens[at].is("}"));
            if !ended && !behind_block {
                let diagnostic = self.missing_separator();
                self.report(diagnostic);
                self.recover(self.at);
            }
        }
    }

    fn missing_separator(&self) -> Diagnostic {
        let diagnostic = self.unexpected("expected `;` or `->` between two statements");
        let last = self.at.checked_sub(1).map(|at| &self.tokens[at]);
        let Some(last) = last.filter(|last| last.is_name()) else { return diagnostic };
        match nearest_name(&last.text, keywords()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}` instead of `{}`?", last.text)),
            None => diagnostic,
        }
    }

    /// Goes to the next place where a statement may begin.
    fn recover(&mut self, start: usize) {
        let mut open = 0usize;
        // At least one token, or we would come back to the same place.
        if self.at == start {
            if self.sees_any(&["{", "if", "do"]) {
                open += 1;
            }
            self.at += 1;
        }
        while let Some(token) = self.peek() {
            if ["{", "if", "do"].iter().any(|text| token.is(text)) {
                open += 1;
            } else if ["}", "fi", "od"].iter().any(|text| token.is(text)) {
                if open == 0 {
                    return;
                }
                open -= 1;
            } else if open == 0 && (token.is(";") || token.is("->") || token.is("::")) {
                return;
            }
            self.at += 1;
        }
    }

    /// A declaration, a promise about a channel, or a statement with its escape.
    fn step(&mut self, out: &mut Sequence) -> Parsed<()> {
        if self.declaration_ahead() {
            return self.local_declaration(out);
        }
        if self.sees("xr") || self.sees("xs") {
            return self.exclusive();
        }
        let stmt = self.statement(out)?;
        if !self.take("unless") {
            out.push(stmt);
            return Ok(());
        }
        let escape = self.statement(out)?;
        let span = stmt.span.to(escape.span);
        let escape = self.as_sequence(escape, "an escape")?;
        // A label in front of a block is one in front of the whole.
        let labels = match &stmt.kind {
            StmtKind::Block(_) | StmtKind::Atomic(_) | StmtKind::DStep(_) => stmt.labels.clone(),
            _ => Vec::new(),
        };
        if labels.is_empty() {
            let main = self.as_sequence(stmt, "`… unless …`")?;
            out.push(Stmt { labels, kind: StmtKind::Unless { main, escape }, span });
            return Ok(());
        }
        let wrap: fn(Sequence) -> StmtKind = match &stmt.kind {
            StmtKind::Atomic(_) => StmtKind::Atomic,
            StmtKind::DStep(_) => StmtKind::DStep,
            _ => StmtKind::Block,
        };
        let main = match stmt.kind {
            StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => inner,
            _ => Vec::new(),
        };
        let inner = Stmt { labels: Vec::new(), kind: StmtKind::Unless { main, escape }, span };
        out.push(Stmt { labels, kind: wrap(vec![inner]), span });
        Ok(())
    }

    fn as_sequence(&mut self, stmt: Stmt, what: &str) -> Parsed<Sequence> {
        match stmt {
            Stmt { labels, kind: StmtKind::Block(inner), .. } if labels.is_empty() => Ok(inner),
            other => {
                let sequence = vec![other];
                self.refuse_first_label(&sequence, what)?;
                Ok(sequence)
            }
        }
    }

    /// `xr q, …` or `xs q, …`.
    fn exclusive(&mut self) -> Parsed<()> {
        let kind = if self.take("xr") { ExclusiveKind::Receive } else { ExclusiveKind::Send };
        if kind == ExclusiveKind::Send {
            self.at += 1;
        }
        loop {
            let reference = self.reference(Arrays::Whole)?;
            let (name, span) = (reference.name.clone(), reference.span);
            let place = match reference.target {
                Target::Part { node: Node::Leaf(var, Type::Chan), indices, .. } => {
                    Place { var, indices, span }
                }
                Target::Part { .. } | Target::Special(_) | Target::Ignore => {
                    let message = format!("`{}` is not a channel", name.text);
                    let diagnostic = Diagnostic::error("not-a-channel", message)
                        .at(name.place(), "a channel is needed here");
                    return self.fail(diagnostic);
                }
            };
            if let Some(body) = &mut self.body {
                body.exclusive.push(Exclusive { kind, place });
            }
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    /// One statement; what SPIN puts before it goes to `prelude`.
    fn statement(&mut self, prelude: &mut Sequence) -> Parsed<Stmt> {
        let start = self.here();
        let mut labels = Vec::new();
        while self.label_ahead() {
            let name = self.expect_name("a label")?;
            self.at += 1;
            labels.push(self.define_label(&name));
            if self.declaration_ahead() || self.sees("xr") || self.sees("xs") {
                let diagnostic =
                    Diagnostic::error("label-before-declaration", "a label must stand before a statement")
                        .at(name.place(), "this label")
                        .context(self.here(), "a declaration is no statement")
                        .help(format!("put the declaration first, or write `{}: skip;`", name.text));
                return self.fail(diagnostic);
            }
        }
        let ended = self.peek().is_none() || self.sees_any(&[";", "->"]) || self.sees_any(CLOSING);
        let mut stmt = if ended && !labels.is_empty() {
            self.statement_is_there();
            skip(labels, start)
        } else {
            let at = self.here();
            let kind = self.deeper(|parser| parser.kind(prelude))?;
            self.statement_is_there();
            Stmt { labels, kind, span: self.since(at) }
        };
        self.separate_special_label(&mut stmt, prelude);
        Ok(stmt)
    }

    /// From here on declarations are steps.
    pub(super) fn statement_is_there(&mut self) {
        if let Some(body) = &mut self.body {
            body.at_start = false;
        }
    }

    fn label_ahead(&self) -> bool {
        let Some(token) = self.peek() else { return false };
        let is_proctype = self.names.procs.get(&*token.text).is_some_and(|known| known.declared);
        token.is_name() && !is_proctype && self.sees_at(1, ":")
    }

    fn kind(&mut self, prelude: &mut Sequence) -> Parsed<StmtKind> {
        let Some(token) = self.peek().cloned() else {
            let diagnostic = self.unexpected("expected a statement");
            return self.fail(diagnostic);
        };
        let start = token.span;
        if token.kind == Kind::Stray {
            let diagnostic = self.unexpected("expected a statement");
            return self.fail(diagnostic);
        }
        match &*token.text {
            "if" => Ok(StmtKind::If(self.choices("if", "fi")?)),
            "do" => {
                self.enter_loop(1);
                let choices = self.choices("do", "od");
                self.enter_loop(-1);
                Ok(StmtKind::Do(choices?))
            }
            "for" => self.for_loop(prelude),
            "select" => self.select(prelude),
            "atomic" => {
                self.at += 1;
                let inner = self.block("behind `atomic`")?;
                self.refuse_first_label(&inner, "atomic { … }")?;
                Ok(StmtKind::Atomic(inner))
            }
            "d_step" => {
                self.at += 1;
                let inner = self.dstep()?;
                self.refuse_first_label(&inner, "d_step { … }")?;
                Ok(StmtKind::DStep(inner))
            }
            "{" => {
                let inner = self.block("")?;
                self.refuse_first_label(&inner, "{ … }")?;
                Ok(StmtKind::Block(inner))
            }
            "goto" => {
                self.at += 1;
                let name = self.expect_name("a label")?;
                Ok(self.jump(&name))
            }
            "break" => {
                self.at += 1;
                self.check_break(start)?;
                Ok(StmtKind::Break)
            }
            "else" => {
                self.at += 1;
                Ok(StmtKind::Else)
            }
            "assert" => {
                self.at += 1;
                Ok(StmtKind::Assert(self.expression()?))
            }
            "printf" => self.printf(),
            "printm" => self.printm(),
            "return" => self.return_statement(),
            "set_priority" => self.refuse_priority(),
            "c_code" | "c_expr" | "c_decl" | "c_state" | "c_track" => self.refuse_c(),
            _ if token.is_name() => self.name_statement(&token),
            _ => Ok(StmtKind::Condition(self.expression_or_run()?)),
        }
    }

    pub(super) fn enter_loop(&mut self, by: isize) {
        if let Some(body) = &mut self.body {
            body.loops = body.loops.saturating_add_signed(by);
        }
    }

    fn check_break(&mut self, span: Span) -> Parsed<()> {
        let Some(body) = &self.body else { return Ok(()) };
        if body.loops == 0 {
            let diagnostic = Diagnostic::error("misplaced-break", "`break` outside of a loop")
                .at(span, "there is no `do` around it");
            return self.fail(diagnostic);
        }
        if body.dstep.is_some_and(|(_, loops)| body.loops <= loops) {
            let diagnostic = Diagnostic::error("jump-across-d-step", "a jump cannot leave a `d_step`")
                .at(span, "leaves a loop outside of the `d_step`");
            return self.fail(diagnostic);
        }
        Ok(())
    }

    /// `{ … }` with a scope of its own.
    pub(super) fn block(&mut self, context: &str) -> Parsed<Sequence> {
        let open = self.expect("{", context)?;
        self.open_scope();
        if let Some(body) = &mut self.body {
            body.at_start = false;
        }
        let n_errors = self.n_errors();
        let inner = self.sequence();
        self.close_scope();
        self.expect("}", "at the end of the block")?;
        if inner.is_empty() {
            if self.n_errors() > n_errors {
                return Err(super::Failed);
            }
            let diagnostic = Diagnostic::error("empty-sequence", "a block needs at least one statement")
                .at(self.since(open), "nothing is done here")
                .help("write `skip`");
            return self.fail(diagnostic);
        }
        Ok(inner)
    }

    pub(super) fn open_scope(&mut self) {
        self.n_scopes += 1;
        if let Some(body) = &mut self.body {
            body.scope.push(self.n_scopes);
            body.variables.push(Vec::new());
        }
    }

    pub(super) fn close_scope(&mut self) {
        if let Some(body) = &mut self.body {
            body.scope.pop();
            body.variables.pop();
        }
    }

    fn dstep(&mut self) -> Parsed<Sequence> {
        self.n_scopes += 1;
        let number = self.n_scopes;
        let outer = self.body.as_mut().and_then(|body| {
            let outer = body.dstep;
            body.dstep = outer.or(Some((number, body.loops)));
            outer
        });
        let inner = self.block("behind `d_step`");
        if let Some(body) = &mut self.body {
            body.dstep = outer;
        }
        inner
    }

    fn printf(&mut self) -> Parsed<StmtKind> {
        self.at += 1;
        self.expect("(", "behind `printf`")?;
        let Some(token) = self.peek().filter(|token| token.kind == Kind::String).cloned() else {
            let diagnostic = self.unexpected("expected a string");
            return self.fail(diagnostic);
        };
        self.at += 1;
        let mut args = Vec::new();
        while self.take(",") {
            self.argument(&mut args)?;
        }
        self.expect(")", "behind the arguments of `printf`")?;
        Ok(StmtKind::Print { format: unescape(&token.text), args })
    }

    fn printm(&mut self) -> Parsed<StmtKind> {
        self.at += 1;
        self.expect("(", "behind `printm`")?;
        let value = self.expression()?;
        self.expect(")", "behind the argument of `printm`")?;
        Ok(StmtKind::Print { format: "%e".to_owned(), args: vec![value] })
    }

    fn return_statement(&mut self) -> Parsed<StmtKind> {
        let start = self.here();
        self.at += 1;
        let value = self.expression_or_run()?;
        match self.frames.last().and_then(|frame| frame.result.clone()) {
            Some(place) => Ok(StmtKind::Assign(place, value)),
            None => {
                let diagnostic =
                    Diagnostic::error("misplaced-return", "nobody takes the value of this `return`")
                        .at(start, "not in an inline that is called as `x = f(…)`");
                self.fail(diagnostic)
            }
        }
    }

    /// A statement that begins with a name: an assignment, a message, a call, or a condition.
    fn name_statement(&mut self, token: &Token) -> Parsed<StmtKind> {
        if self.names.inlines.contains_key(&*token.text) && self.sees_at(1, "(") {
            return self.call(None);
        }
        if self.names.constants.contains_key(&*token.text)
            || self.sees_at(1, "@")
            || self.variable(&token.text).is_none() && self.names.procs.contains_key(&*token.text)
        {
            return Ok(StmtKind::Condition(self.expression_or_run()?));
        }
        if self.variable(&token.text).is_none()
            && !token.text.starts_with('_')
            && let Some(diagnostic) = self.unknown_statement(token)
        {
            return self.fail(diagnostic);
        }
        let reference = self.reference(Arrays::NeedIndex)?;
        let polls = self.sees_at(1, "[");
        match self.peek().map(|token| token.text.to_string()).as_deref() {
            Some("=") => self.assignment(reference),
            Some("++") => self.increment(reference, BinaryOp::Add),
            Some("--") => self.increment(reference, BinaryOp::Sub),
            Some("!" | "!!") => self.send(reference),
            Some("?" | "??") if !polls => self.receive(reference),
            Some(op @ ("+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "<<" | ">>"))
                if self.sees_at(1, "=") =>
            {
                let name = &*token.text;
                let start = self.here();
                self.at += 1;
                let diagnostic = Diagnostic::error("syntax-error", format!("Promela has no `{op}=`"))
                    .at(self.here().to(start), "not understood")
                    .help(format!("write it out: `{name} = {name} {op} …`"));
                self.fail(diagnostic)
            }
            _ => {
                let first = self.poll_or_value(reference)?;
                Ok(StmtKind::Condition(self.expression_from(first)?))
            }
        }
    }

    /// That a statement begins with a word that is no variable, where it looks like a call or a keyword.
    fn unknown_statement(&self, token: &Token) -> Option<Diagnostic> {
        let text = &*token.text;
        let next_is_word = self.peek_at(1).is_some_and(|next| next.kind == Kind::Word);
        let in_promela = match text {
            "while" => Some("`do :: condition -> … :: else -> break od`"),
            "switch" => Some("`if :: x == 1 -> … :: x == 2 -> … :: else -> … fi`"),
            _ => None,
        };
        if let Some(in_promela) = in_promela {
            let message = format!("`{text}` is a word of C, not of Promela");
            let diagnostic = Diagnostic::error("syntax-error", message).at(token.place(), "not understood");
            return Some(diagnostic.help(format!("Promela has {in_promela}")));
        }
        if self.sees_at(1, "(") {
            let mut names: Vec<&str> = self.names.inlines.keys().map(String::as_str).collect();
            names.sort_unstable();
            let diagnostic = Diagnostic::error("unknown-inline", format!("there is no inline `{text}`"))
                .at(token.place(), "called here");
            return Some(match nearest_name(text, names.into_iter().chain(keywords())) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic.help("an inline must be declared before it is called"),
            });
        }
        let near = nearest_name(text, keywords()).filter(|_| next_is_word || self.sees_at(1, "{"))?;
        Some(
            Diagnostic::error("undeclared-name", format!("`{text}` is not declared"))
                .at(token.place(), "not known here")
                .help(format!("did you mean `{near}`?")),
        )
    }

    fn assignment(&mut self, reference: Reference) -> Parsed<StmtKind> {
        let span = reference.span;
        let ignored = matches!(reference.target, Target::Ignore);
        if ignored {
            let diagnostic = Diagnostic::error("useless-assignment", "an assignment to `_` does nothing")
                .at(span, "no value is kept here")
                .help("leave the assignment out, or declare a variable");
            return self.fail(diagnostic);
        }
        let (place, ty) = self.place_of(reference)?;
        self.at += 1;
        self.warn_of_effect(span);
        let calls = self.peek().is_some_and(|token| self.names.inlines.contains_key(&*token.text));
        if calls && self.sees_at(1, "(") {
            return self.call(Some(place));
        }
        let first = self.peek().cloned();
        let start = self.at;
        let value = self.expression_or_run()?;
        if let (Type::Mtype(set), Some(token)) = (ty, first)
            && self.at == start + 1
        {
            self.check_mtype(set, &token)?;
        }
        // SPIN does not look into structures here.
        let is_field = self.model.vars[place.var].name.contains('.');
        if ty == Type::Chan && !is_field && matches!(value.kind, ExprKind::Const(_)) {
            let diagnostic = Diagnostic::error("channel-from-number", "a number is no channel")
                .at(value.span, "a channel is expected");
            return self.fail(diagnostic);
        }
        Ok(StmtKind::Assign(place, value))
    }

    /// A variable of a named set of `mtype` takes only constants of that set.
    fn check_mtype(&mut self, set: usize, token: &Token) -> Parsed<()> {
        let Some(&(found, _, declared)) = self.names.constants.get(&*token.text) else { return Ok(()) };
        let named = |set: usize| self.model.mtypes.get(set).map_or("", |set| set.name.as_str());
        if found == set || named(set).is_empty() {
            return Ok(());
        }
        let message = format!("`{}` is not of `mtype:{}`", token.text, named(set));
        let diagnostic = Diagnostic::error("wrong-mtype-set", message)
            .at(token.place(), "a constant of another set")
            .context(declared, "declared here");
        self.fail(diagnostic)
    }

    fn increment(&mut self, reference: Reference, operator: BinaryOp) -> Parsed<StmtKind> {
        let span = reference.span;
        let (place, ty) = self.place_of(reference)?;
        self.at += 1;
        self.warn_of_effect(span);
        if ty == Type::Chan {
            let diagnostic = Diagnostic::error("arithmetic-on-channel", "one cannot count with channels")
                .at(span, "a channel");
            return self.fail(diagnostic);
        }
        let old = Expr { kind: ExprKind::Load(place.clone()), span };
        let one = constant(1, self.before());
        let kind = ExprKind::Binary(operator, Box::new(old), Box::new(one));
        Ok(StmtKind::Assign(place, Expr { kind, span: self.since(span) }))
    }

    fn warn_of_effect(&mut self, span: Span) {
        if self.body.as_ref().is_some_and(|body| body.kind == BodyKind::Claim) {
            let diagnostic = Diagnostic::error("claim-with-effect", "a claim cannot change variables")
                .at(span, "changes the model");
            self.report(diagnostic);
        }
    }
}

/// A string without its quotes, escapes resolved as C does.
fn unescape(text: &str) -> String {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    let mut result = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            result.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => result.push('\n'),
            Some('t') => result.push('\t'),
            Some('r') => result.push('\r'),
            Some('f') => result.push('\x0c'),
            Some('0') => result.push('\0'),
            // The string goes on in the next line.
            Some('\n') => {}
            Some(other) => result.push(other),
            None => result.push('\\'),
        }
    }
    result
}
