//! What stands outside of all braces.

use pdnet_base::{FxHashMap, FxHashSet, IndexVec};
use pdnet_source::{Diagnostic, Severity, Span};

use super::choice::replace_lost_else;
use super::label::{Labels, named, separate_asked_labels};
use super::{Body, BodyKind, Parsed, Parser, stray};
use crate::lexer::{Kind, Token};
use crate::names::ProcNames;
use crate::tree::{Claim, Init, Label, LabelData, Proc, ProcData, Sequence, Trace};

/// A claim or formula that is read when everything else is known.
#[derive(Debug)]
struct Deferred {
    name: Option<Token>,
    tokens: Vec<Token>,
    span: Span,
}

/// Words with which a unit begins, to go on after an error.
const STARTS: &[&str] = &[
    "active",
    "proctype",
    "D_proctype",
    "init",
    "never",
    "trace",
    "notrace",
    "ltl",
    "typedef",
    "inline",
    "mtype",
];

/// Words with which a declaration begins, outside of all bodies or in a list of parameters.
const DECLARATIONS: &[&str] =
    &["hidden", "show", "local", "bit", "bool", "byte", "pid", "short", "int", "unsigned", "chan"];

impl Parser {
    /// Reads a whole model.
    pub(crate) fn units(&mut self) {
        if self.refuse_open_quotes() {
            return;
        }
        self.find_procs();
        let mut claims: Vec<Deferred> = Vec::new();
        let mut formulas: Vec<Deferred> = Vec::new();
        while self.peek().is_some() && !self.gave_up() {
            let start = self.at;
            if self.unit(&mut claims, &mut formulas).is_err() {
                self.recover_unit(start);
            }
        }
        for claim in claims {
            self.claim(claim);
        }
        for (number, formula) in formulas.into_iter().enumerate() {
            let name = formula.name.map_or_else(|| format!("ltl_{number}"), |name| name.text.to_string());
            if let Some(known) = self.model.formulas.iter().find(|known| known.name == name) {
                let diagnostic =
                    Diagnostic::error("redeclared-name", format!("the formula `{name}` is here twice"))
                        .at(formula.span, "again here")
                        .context(known.span, "first here");
                self.report(diagnostic);
                continue;
            }
            if let Ok(block) = self.formula_block(name, formula.tokens, formula.span) {
                self.model.formulas.push(block);
            }
        }
        self.check_run_arguments();
        let asked = std::mem::take(&mut self.asked_labels);
        separate_asked_labels(&mut self.model, &asked);
        let has_errors = self.diagnostics.iter().any(|found| found.severity == Severity::Error);
        if self.model.procs.is_empty() && !has_errors {
            let diagnostic = Diagnostic::error("no-process", "the model has no proctype and no `init`")
                .at(self.end, "nothing runs")
                .help("write `active proctype P() { … }` or `init { … }`");
            self.report(diagnostic);
        } else if self.model.procs.iter().all(|data| data.active == 0) && !has_errors {
            let span = self.model.procs.iter().next().map_or(self.end, |data| data.span);
            let warning = Diagnostic::warning("no-process", "no process runs from the start")
                .at(span, "started by nobody")
                .help("write `active proctype`, or an `init` with `run`");
            self.report(warning);
        }
    }

    /// A quote that is not closed hides what stands behind it, so that nothing else that could be said is sure.
    fn refuse_open_quotes(&mut self) -> bool {
        let quotes = self.tokens.iter().filter(|token| {
            token.kind == Kind::Stray && (token.text.starts_with(['"', '\'', '$']) || &*token.text == "/*")
        });
        let found: Vec<Diagnostic> = quotes.map(stray).collect();
        let any = !found.is_empty();
        found.into_iter().for_each(|diagnostic| self.report(diagnostic));
        any
    }

    /// Notes the names of all proctypes, so that they can be used before they are declared.
    fn find_procs(&mut self) {
        let mut depth = 0usize;
        let mut found: Vec<(String, Span)> = Vec::new();
        for (at, token) in self.tokens.iter().enumerate() {
            if token.is("{") {
                depth += 1;
            } else if token.is("}") {
                depth = depth.saturating_sub(1);
            } else if depth == 0 && (token.is("proctype") || token.is("D_proctype")) {
                if let Some(name) = self.tokens.get(at + 1).filter(|name| name.is_name()) {
                    found.push((name.text.to_string(), name.span));
                }
            } else if depth == 0 && token.is("init") {
                found.push((":init:".to_owned(), token.span));
            }
        }
        for (name, span) in found {
            if let Some(known) = self.names.procs.get(&name) {
                let what =
                    if name == ":init:" { "`init`".to_owned() } else { format!("the proctype `{name}`") };
                let diagnostic = Diagnostic::error("redeclared-name", format!("{what} is declared twice"))
                    .at(span, "again here")
                    .context(known.span, "first here");
                self.report(diagnostic);
                continue;
            }
            let proc = self.model.procs.push(ProcData {
                name: name.clone(),
                params: Vec::new(),
                active: 0,
                deterministic: false,
                provided: None,
                labels: IndexVec::default(),
                exclusive: Vec::new(),
                body: Vec::new(),
                span,
                end: span,
            });
            let names = ProcNames {
                proc,
                span,
                declared: false,
                complete: false,
                locals: Vec::new(),
                labels: Vec::new(),
            };
            self.names.procs.insert(name, names);
        }
    }

    fn unit(&mut self, claims: &mut Vec<Deferred>, formulas: &mut Vec<Deferred>) -> Parsed<()> {
        let Some(token) = self.peek().cloned() else { return Ok(()) };
        if token.kind == Kind::Stray {
            let diagnostic = self.unexpected("expected a declaration");
            return self.fail(diagnostic);
        }
        match &*token.text {
            ";" | "->" => {
                self.at += 1;
                Ok(())
            }
            "active" | "proctype" | "D_proctype" => self.proctype(),
            "init" => self.init(),
            "never" | "ltl" => {
                let start = token.span;
                self.at += 1;
                let name = self.peek().filter(|name| name.is_name()).cloned();
                self.at += usize::from(name.is_some());
                let tokens = self.braces(if &*token.text == "ltl" {
                    "before the formula"
                } else {
                    "before the claim"
                })?;
                let list = if &*token.text == "ltl" { formulas } else { claims };
                list.push(Deferred { name, tokens, span: self.since(start) });
                Ok(())
            }
            "trace" | "notrace" => self.trace(),
            "typedef" => self.typedef(),
            "inline" => self.inline_declaration(),
            "c_code" | "c_decl" | "c_state" | "c_track" | "c_expr" => self.refuse_c(),
            _ if self.declaration_ahead() => {
                self.global_declaration()?;
                let ended = self.peek().is_none_or(|next| {
                    next.is(";")
                        || next.newline
                        || STARTS.iter().chain(DECLARATIONS).any(|start| next.is(start))
                });
                if ended || self.at.checked_sub(1).is_some_and(|at| self.tokens[at].is("}")) {
                    return Ok(());
                }
                let diagnostic = self.unexpected("expected `;` behind a declaration");
                self.fail(diagnostic)
            }
            text => {
                let mut diagnostic = self.unexpected("expected a declaration or a proctype");
                let near = pdnet_source::nearest_name(text, STARTS.iter().chain(DECLARATIONS).copied())
                    .filter(|_| token.is_name());
                if let Some(near) = near {
                    diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                } else if token.is_name() && self.peek_at(1).is_some_and(Token::is_name) {
                    diagnostic = diagnostic
                        .help(format!("a type `{text}` would have to be declared before, with `typedef`"));
                } else if text == "}" {
                    diagnostic = diagnostic.help("there is one `}` too many, here or before");
                }
                self.fail(diagnostic)
            }
        }
    }

    /// Goes to the next place where a unit may begin.
    fn recover_unit(&mut self, start: usize) {
        self.at = self.at.max(start + 1);
        let mut open = 0usize;
        while let Some(token) = self.peek() {
            if token.is("{") {
                open += 1;
            } else if token.is("}") {
                open = open.saturating_sub(1);
            } else if open == 0 {
                let starts = STARTS.iter().any(|text| token.is(text));
                if starts || token.newline && DECLARATIONS.iter().any(|text| token.is(text)) {
                    return;
                }
            }
            self.at += 1;
        }
    }

    /// `active [ n ] proctype P ( … ) priority n provided ( … ) { … }`.
    fn proctype(&mut self) -> Parsed<()> {
        let start = self.here();
        let active = if self.take("active") { self.active_count()? } else { 0 };
        let deterministic = self.sees("D_proctype");
        if !self.take("D_proctype") {
            self.expect("proctype", "behind `active`")?;
        }
        let name = self.expect_name("the name of the proctype")?;
        let Some(known) = self.names.procs.get_mut(&*name.text).filter(|known| known.span == name.span)
        else {
            // Declared twice, and said so.
            return Err(super::Failed);
        };
        known.declared = true;
        let proc = known.proc;
        self.body = Some(new_body(BodyKind::Proc(proc)));
        let result = self.proctype_rest(proc, start);
        self.body = None;
        let data = &mut self.model.procs[proc];
        data.active = active;
        data.deterministic = deterministic;
        result
    }

    fn proctype_rest(&mut self, proc: Proc, start: Span) -> Parsed<()> {
        self.expect("(", "behind the name of the proctype")?;
        let params = self.parameters(proc)?;
        self.expect(")", "behind the parameters")?;
        self.model.procs[proc].params = params;
        self.skip_priority();
        if self.take("provided") {
            self.expect("(", "behind `provided`")?;
            let condition = self.expression()?;
            self.expect(")", "behind the condition")?;
            self.model.procs[proc].provided = Some(condition);
            self.skip_priority();
        }
        self.model.procs[proc].span = self.since(start);
        self.process_body(proc)
    }

    /// `init { … }`.
    fn init(&mut self) -> Parsed<()> {
        let start = self.here();
        self.at += 1;
        let known = self.names.procs.get_mut(":init:").filter(|known| known.span == start);
        let Some(known) = known else { return Err(super::Failed) };
        known.declared = true;
        let proc = known.proc;
        self.skip_priority();
        self.model.procs[proc].active = 1;
        self.model.procs[proc].span = start;
        self.body = Some(new_body(BodyKind::Proc(proc)));
        let result = self.process_body(proc);
        self.body = None;
        result
    }

    fn active_count(&mut self) -> Parsed<u32> {
        if !self.take("[") {
            return Ok(1);
        }
        let expr = self.expression()?;
        let mut value = Self::constant_value(&expr);
        if let (None, crate::tree::ExprKind::Load(place)) = (value, &expr.kind)
            && let Init::Value(init) = &self.model.vars[place.var].init
        {
            value = Self::constant_value(init);
        }
        self.expect("]", "behind the number of processes")?;
        match value.and_then(|value| u32::try_from(value).ok()) {
            Some(count) if count <= 255 => Ok(count),
            Some(_) | None => {
                let diagnostic = Diagnostic::error(
                    "bad-process-count",
                    "the number of processes must be a constant up to 255",
                )
                .at(expr.span, "not a possible number");
                self.fail(diagnostic)
            }
        }
    }

    /// `priority n`, which is ignored.
    pub(super) fn skip_priority(&mut self) {
        if !self.sees("priority") {
            return;
        }
        let start = self.here();
        self.at += 1;
        if self.peek().is_some_and(|token| token.kind == Kind::Number) {
            self.at += 1;
        }
        if !self.warned_priority {
            self.warned_priority = true;
            let warning = Diagnostic::warning("ignored-priority", "priorities are ignored")
                .at(self.since(start), "all processes have the same priority")
                .note("all orders of steps are looked at, more than with priorities");
            self.report(warning);
        }
    }

    fn process_body(&mut self, proc: Proc) -> Parsed<()> {
        let (sequence, labels, end) = self.body_sequence("before the statements")?;
        let Some(body) = self.body.take() else { return Err(super::Failed) };
        let name = self.model.procs[proc].name.clone();
        if let Some(known) = self.names.procs.get_mut(&name) {
            known.complete = true;
            known.locals = body.all;
            known.labels = named(&labels);
        }
        let data = &mut self.model.procs[proc];
        data.body = sequence;
        data.exclusive = body.exclusive;
        data.end = end;
        data.labels = labels;
        Ok(())
    }

    /// The statements of a body, jumps resolved, with its labels.
    fn body_sequence(&mut self, context: &str) -> Parsed<(Sequence, IndexVec<Label, LabelData>, Span)> {
        let tokens = self.braces(context)?;
        let end = self.before();
        let tokens = self.separated(&tokens);
        self.open_scope();
        let mut sequence = self.within(tokens, end, |parser| {
            parser.at += 1;
            let n_errors = parser.n_errors();
            let sequence = parser.sequence();
            if !parser.sees("}") || parser.peek_at(1).is_some() {
                let diagnostic = parser.unexpected("expected a statement");
                if parser.n_errors() == n_errors {
                    parser.report(diagnostic);
                }
            }
            sequence
        });
        self.close_scope();
        let labels = match &mut self.body {
            Some(body) => std::mem::take(&mut body.labels),
            None => Labels::default(),
        };
        self.resolve_jumps(&labels, &mut sequence);
        let mut lost = Vec::new();
        replace_lost_else(&mut sequence, false, &mut lost);
        for span in lost {
            let warning = Diagnostic::warning("misplaced-else", "this `else` begins no choice")
                .at(span, "always executable, as in SPIN");
            self.report(warning);
        }
        Ok((sequence, labels.data, end))
    }

    fn claim(&mut self, claim: Deferred) {
        let name = claim.name.map_or_else(|| "never".to_owned(), |name| name.text.to_string());
        if let Some(known) = self.model.claims.iter().find(|known| known.name == name) {
            let diagnostic =
                Diagnostic::error("redeclared-name", format!("the claim `{name}` is here twice"))
                    .at(claim.span, "again here")
                    .context(known.span, "first here");
            self.report(diagnostic);
            return;
        }
        self.body = Some(new_body(BodyKind::Claim));
        let body = self.within(claim.tokens, claim.span, |parser| parser.body_sequence("before the claim"));
        self.body = None;
        if let Ok((body, labels, _)) = body {
            self.model.claims.push(Claim { name, labels, body, span: claim.span });
        }
    }

    fn trace(&mut self) -> Parsed<()> {
        let start = self.here();
        let negated = self.take("notrace");
        self.at += usize::from(!negated);
        self.body = Some(new_body(BodyKind::Trace));
        let body = self.body_sequence("before the events");
        self.body = None;
        let (body, labels, _) = body?;
        let span = self.since(start);
        if let Some(known) = self.model.traces.first() {
            let diagnostic = Diagnostic::error("redeclared-name", "there can be only one trace")
                .at(start, "again here")
                .context(known.span, "first here");
            return self.fail(diagnostic);
        }
        self.model.traces.push(Trace { negated, labels, body, span });
        Ok(())
    }

    fn check_run_arguments(&mut self) {
        for run in std::mem::take(&mut self.runs) {
            let data = &self.model.procs[run.proc];
            let complete = self.names.procs.get(&data.name).is_some_and(|known| known.complete);
            let (wanted, given) = (data.params.len(), run.n_args);
            if complete && wanted != given {
                let message =
                    format!("`{}` takes {wanted} argument{}", data.name, if wanted == 1 { "" } else { "s" });
                let diagnostic = Diagnostic::error("wrong-argument-count", message)
                    .at(run.span, format!("{given} given here"))
                    .context(data.span, "declared here");
                self.report(diagnostic);
            }
        }
    }
}

fn new_body(kind: BodyKind) -> Body {
    Body {
        kind,
        labels: Labels::default(),
        scope: Vec::new(),
        variables: vec![Vec::new()],
        all: Vec::new(),
        at_start: true,
        loops: 0,
        dstep: None,
        exclusive: Vec::new(),
        kept_skips: FxHashSet::default(),
        counters: FxHashMap::default(),
    }
}
