//! Statements (C11 6.8).

use lang_c::ast;
use lang_c::span::Node;
use pdnet_base::{FxHashMap, IndexVec};
use pdnet_source::{Diagnostic, Span, nearest_name};

use super::Sema;
use crate::prepass::original_name;
use crate::tree::{Expr, Function, Label, LabelData, Stmt, StmtKind};
use crate::types::{IntKind, QualType, Type};

/// The function whose body is being checked.
pub(super) struct BodyContext {
    pub(super) function: Function,
    result: QualType,
    labels: IndexVec<Label, LabelData>,
    by_name: FxHashMap<String, Label>,
    /// Where each label is set; `None` for one that was only jumped to.
    set: IndexVec<Label, Option<Span>>,
    /// The statements that `break` can leave, innermost last.
    breakable: Vec<Breakable>,
}

enum Breakable {
    Loop,
    Switch(SwitchContext),
}

struct SwitchContext {
    /// `None` where the controlling expression is wrong.
    kind: Option<IntKind>,
    cases: Vec<(i128, i128, Span)>,
    default: Option<Span>,
}

impl BodyContext {
    pub(super) fn new(function: Function, result: QualType) -> Self {
        Self {
            function,
            result,
            labels: IndexVec::new(),
            by_name: FxHashMap::default(),
            set: IndexVec::new(),
            breakable: Vec::new(),
        }
    }
}

impl<'a> Sema<'a> {
    pub(super) fn block_items(&mut self, items: &'a [Node<ast::BlockItem>], stmts: &mut Vec<Stmt>) {
        for item in items {
            match &item.node {
                ast::BlockItem::Declaration(declaration) => self.declaration(declaration, stmts),
                ast::BlockItem::StaticAssert(assertion) => self.static_assert(assertion),
                ast::BlockItem::Statement(statement) => {
                    let stmt = self.stmt(statement);
                    stmts.push(stmt);
                }
            }
        }
    }

    fn stmt(&mut self, node: &'a Node<ast::Statement>) -> Stmt {
        self.nested(
            node.span,
            |_, span| Stmt { kind: StmtKind::Block(Vec::new()), span },
            |sema| sema.stmt_inner(node),
        )
    }

    fn stmt_inner(&mut self, node: &'a Node<ast::Statement>) -> Stmt {
        let span = self.stmt_span(node);
        let kind = match &node.node {
            ast::Statement::Labeled(labeled) => return self.labeled(&labeled.node),
            ast::Statement::Compound(items) => {
                let mut stmts = Vec::new();
                self.push_scope();
                self.block_items(items, &mut stmts);
                self.pop_scope();
                StmtKind::Block(stmts)
            }
            ast::Statement::Expression(None) => StmtKind::Block(Vec::new()),
            ast::Statement::Expression(Some(expression)) => StmtKind::Expr(self.rvalue_expr(expression)),
            ast::Statement::If(node) => {
                let condition = self.condition_of(&node.node.condition);
                let yes = Box::new(self.scoped_stmt(&node.node.then_statement));
                let no = node.node.else_statement.as_ref().map(|no| Box::new(self.scoped_stmt(no)));
                StmtKind::If(condition, yes, no)
            }
            ast::Statement::Switch(node) => self.switch(&node.node),
            ast::Statement::While(node) => {
                let condition = self.condition_of(&node.node.expression);
                let body = self.loop_body(&node.node.statement);
                StmtKind::While(condition, Box::new(body))
            }
            ast::Statement::DoWhile(node) => {
                let body = self.loop_body(&node.node.statement);
                let condition = self.condition_of(&node.node.expression);
                StmtKind::DoWhile(Box::new(body), condition)
            }
            ast::Statement::For(node) => self.for_loop(&node.node),
            ast::Statement::Goto(name) => {
                let at = self.span(name.span);
                StmtKind::Goto(self.label(&name.node.name, at))
            }
            ast::Statement::Continue => {
                let inside = self
                    .body
                    .as_ref()
                    .is_some_and(|body| body.breakable.iter().any(|outer| matches!(outer, Breakable::Loop)));
                if !inside {
                    self.misplaced("continue", "a loop", span);
                }
                StmtKind::Continue
            }
            ast::Statement::Break => {
                if self.body.as_ref().is_none_or(|body| body.breakable.is_empty()) {
                    self.misplaced("break", "a loop or `switch`", span);
                }
                StmtKind::Break
            }
            ast::Statement::Return(value) => self.return_stmt(value.as_deref(), span),
            ast::Statement::Asm(_) => StmtKind::Asm,
        };
        Stmt { kind, span }
    }

    fn misplaced(&mut self, word: &str, where_to: &str, span: Span) {
        self.report(
            Diagnostic::error("misplaced-jump", format!("`{word}` outside of {where_to}"))
                .at(span, "nothing to leave here"),
        );
    }

    /// The place of a statement: of compound ones only the head, of others without the semicolon.
    fn stmt_span(&mut self, node: &'a Node<ast::Statement>) -> Span {
        let (first, last) = self.tokens(node.span);
        let head_end = |sema: &Self, body: &Node<ast::Statement>| sema.tokens(body.span).0.saturating_sub(1);
        let (from, to) = match &node.node {
            ast::Statement::If(inner) => (first, head_end(self, &inner.node.then_statement)),
            ast::Statement::Switch(inner) => (first, head_end(self, &inner.node.statement)),
            ast::Statement::While(inner) => (first, head_end(self, &inner.node.statement)),
            ast::Statement::For(inner) => (first, head_end(self, &inner.node.statement)),
            // `while (…)` after the body is where the decision is made.
            ast::Statement::DoWhile(inner) => {
                let (_, body_end) = self.tokens(inner.node.statement.span);
                (body_end + 1, last.saturating_sub(1))
            }
            ast::Statement::Compound(_) => (first, first),
            ast::Statement::Labeled(_)
            | ast::Statement::Expression(_)
            | ast::Statement::Goto(_)
            | ast::Statement::Continue
            | ast::Statement::Break
            | ast::Statement::Return(_)
            | ast::Statement::Asm(_) => {
                let semicolon = self.prepared.token_text(last) == ";";
                (first, if semicolon { last.saturating_sub(1).max(first) } else { last })
            }
        };
        self.token_range(from, to.max(from))
    }

    fn condition_of(&mut self, node: &'a Node<ast::Expression>) -> Expr {
        let expr = self.rvalue_expr(node);
        self.condition(expr)
    }

    /// The statement below a head is a scope of its own.
    fn scoped_stmt(&mut self, node: &'a Node<ast::Statement>) -> Stmt {
        self.push_scope();
        let stmt = self.stmt(node);
        self.pop_scope();
        stmt
    }

    fn loop_body(&mut self, node: &'a Node<ast::Statement>) -> Stmt {
        self.enter(Breakable::Loop);
        let stmt = self.scoped_stmt(node);
        self.leave();
        stmt
    }

    fn enter(&mut self, breakable: Breakable) {
        if let Some(body) = &mut self.body {
            body.breakable.push(breakable);
        }
    }

    fn leave(&mut self) -> Option<Breakable> {
        self.body.as_mut().and_then(|body| body.breakable.pop())
    }

    fn for_loop(&mut self, node: &'a ast::ForStatement) -> StmtKind {
        let mut init = Vec::new();
        self.push_scope();
        match &node.initializer.node {
            ast::ForInitializer::Empty => {}
            ast::ForInitializer::Expression(expression) => {
                let expr = self.rvalue_expr(expression);
                let span = expr.span;
                init.push(Stmt { kind: StmtKind::Expr(expr), span });
            }
            ast::ForInitializer::Declaration(declaration) => self.declaration(declaration, &mut init),
            ast::ForInitializer::StaticAssert(assertion) => self.static_assert(assertion),
        }
        let condition = node.condition.as_ref().map(|condition| self.condition_of(condition));
        let step = node.step.as_ref().map(|step| self.rvalue_expr(step));
        let body = self.loop_body(&node.statement);
        self.pop_scope();
        StmtKind::For(init, condition, step, Box::new(body))
    }

    fn switch(&mut self, node: &'a ast::SwitchStatement) -> StmtKind {
        let control = self.rvalue_expr(&node.expression);
        let kind = self.switch_kind(&control);
        if kind.is_none() && !Self::is_poison(&control) {
            let shown = self.show(&control.ty);
            self.report(
                Diagnostic::error("invalid-operand", format!("`switch` needs an integer, not `{shown}`"))
                    .at(control.span, format!("this is `{shown}`")),
            );
        }
        let control = self.promote(control);
        let kind = Self::integer_kind(&control).filter(|_| kind.is_some());
        self.enter(Breakable::Switch(SwitchContext { kind, cases: Vec::new(), default: None }));
        let body = self.scoped_stmt(&node.statement);
        self.leave();
        StmtKind::Switch(control, Box::new(body))
    }

    fn innermost_switch(&mut self) -> Option<&mut SwitchContext> {
        let breakable = &mut self.body.as_mut()?.breakable;
        breakable.iter_mut().rev().find_map(|outer| match outer {
            Breakable::Switch(context) => Some(context),
            Breakable::Loop => None,
        })
    }

    fn labeled(&mut self, node: &'a ast::LabeledStatement) -> Stmt {
        let span = self.span(node.label.span);
        match &node.label.node {
            ast::Label::Identifier(name) => {
                let at = self.span(name.span);
                let label = self.label(&name.node.name, at);
                self.set_label(label, at);
                let stmt = self.stmt(&node.statement);
                Stmt { kind: StmtKind::Label(label, Box::new(stmt)), span: at }
            }
            ast::Label::Case(value) => {
                let low = self.integer_constant(value, "the value of a `case`");
                let kind = self.case(low.as_ref().map(|(value, _)| (*value, *value)), span);
                let stmt = self.stmt(&node.statement);
                Stmt { kind: StmtKind::Case(kind.0, kind.1, Box::new(stmt)), span }
            }
            ast::Label::CaseRange(range) => {
                let low = self.integer_constant(&range.node.low, "the value of a `case`");
                let high = self.integer_constant(&range.node.high, "the value of a `case`");
                let bounds = low.zip(high).map(|((low, _), (high, _))| (low, high));
                let kind = self.case(bounds, span);
                let stmt = self.stmt(&node.statement);
                Stmt { kind: StmtKind::Case(kind.0, kind.1, Box::new(stmt)), span }
            }
            ast::Label::Default => {
                match self.innermost_switch().map(|context| context.default.replace(span)) {
                    None => self.misplaced("default", "a `switch`", span),
                    Some(Some(before)) => self.report(
                        Diagnostic::error("duplicate-case", "the `switch` has two `default` labels")
                            .at(span, "second")
                            .context(before, "first"),
                    ),
                    Some(None) => {}
                }
                let stmt = self.stmt(&node.statement);
                Stmt { kind: StmtKind::Default(Box::new(stmt)), span }
            }
        }
    }

    /// Converts the bounds of a `case` and looks for the same value among the others.
    fn case(&mut self, bounds: Option<(i128, i128)>, span: Span) -> (i128, i128) {
        let model = self.model;
        let Some(context) = self.innermost_switch() else {
            self.misplaced("case", "a `switch`", span);
            return (0, 0);
        };
        let (Some(kind), Some((low, high))) = (context.kind, bounds) else { return (0, 0) };
        let (low, high) = (kind.wrap(model, low), kind.wrap(model, high));
        let clash = context.cases.iter().find(|(a, b, _)| *a <= high && low <= *b).copied();
        context.cases.push((low, high, span));
        if low > high {
            self.report(
                Diagnostic::warning("empty-range", "this range of values is empty").at(span, "never taken"),
            );
        } else if let Some((_, _, before)) = clash {
            self.report(
                Diagnostic::error("duplicate-case", "the value occurs twice in this `switch`")
                    .at(span, "second")
                    .context(before, "first"),
            );
        }
        (low, high)
    }

    fn label(&mut self, name: &str, span: Span) -> Label {
        let Some(body) = &mut self.body else { return pdnet_base::Idx::new(0) };
        if let Some(&label) = body.by_name.get(name) {
            return label;
        }
        let label = body.labels.push(LabelData { name: original_name(name), span });
        body.set.push(None);
        body.by_name.insert(name.to_owned(), label);
        label
    }

    fn set_label(&mut self, label: Label, span: Span) {
        let Some(body) = &mut self.body else { return };
        let before = body.set[label].replace(span);
        body.labels[label].span = span;
        if let Some(before) = before {
            let name = body.labels[label].name.clone();
            self.report(
                Diagnostic::error("redefined", format!("the label `{name}` is set twice"))
                    .at(span, "second")
                    .context(before, "first"),
            );
        }
    }

    /// The labels of a body that is done; jumps to nowhere are reported.
    pub(super) fn finish_labels(&mut self, context: BodyContext) -> IndexVec<Label, LabelData> {
        let set: Vec<&str> = context
            .labels
            .iter_enumerated()
            .filter(|(label, _)| context.set[*label].is_some())
            .map(|(_, data)| data.name.as_str())
            .collect();
        for (label, data) in context.labels.iter_enumerated() {
            if context.set[label].is_some() {
                continue;
            }
            let diagnostic =
                Diagnostic::error("undeclared-label", format!("there is no label `{}`", data.name))
                    .at(data.span, "not set in this function");
            let near = nearest_name(&data.name, set.iter().copied());
            self.report(match near {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic,
            });
        }
        context.labels
    }

    fn return_stmt(&mut self, value: Option<&'a Node<ast::Expression>>, span: Span) -> StmtKind {
        let result = self.body.as_ref().map_or(Type::Void, |body| body.result.ty.clone());
        let Some(node) = value else {
            return StmtKind::Return(None);
        };
        let expr = self.rvalue_expr(node);
        if result != Type::Void {
            return StmtKind::Return(Some(self.assign_convert(expr, &result, "the return value")));
        }
        if expr.ty == Type::Void || Self::is_poison(&expr) {
            return StmtKind::Return(Some(expr));
        }
        let name = self.body.as_ref().map(|body| self.program.functions[body.function].name.clone());
        self.report(
            Diagnostic::warning("void-return", format!("`{}` returns no value", name.unwrap_or_default()))
                .at(span, "the value is dropped"),
        );
        StmtKind::Return(Some(self.cast(expr, &Type::Void)))
    }
}
