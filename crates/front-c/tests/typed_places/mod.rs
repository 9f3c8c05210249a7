//! The types in a tree, by the places of the expressions.

#![allow(dead_code, reason = "each test file uses a part of this")]

pub(crate) mod snippets;

use std::collections::BTreeMap;

use pdnet_front_c::tree::{
    Callee, Expr, ExprKind, Init, Lvalue, LvalueKind, Program, Stmt, StmtKind, UnaryOp,
};
use pdnet_front_c::types::Type;
use pdnet_source::Span;

/// The types at one place: that of the last conversion first.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    pub(crate) types: Vec<String>,
    /// The innermost type: that of the expression itself.
    pub(crate) own: Option<Type>,
    /// Conversions of constants may be done already.
    pub(crate) constant: bool,
    /// Only the value matters: promotions of conditions and of indices are left away or done at will.
    pub(crate) loose: bool,
}

impl Chain {
    /// Adds a type further inside; a type that stays is not repeated.
    pub(crate) fn push(&mut self, ty: String) {
        if self.types.last() != Some(&ty) {
            self.types.push(ty);
        }
    }

    /// Whether the conversions are the same; for constants, whether the result is.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let is_pointer = |ty: &String| ty.ends_with('*');
        let same_result = self.types.first() == other.types.first();
        let same_start = self.types.last() == other.types.last();
        // Compared with a `void *`, either side may be converted; a null pointer is converted once.
        if self.types.iter().chain(&other.types).all(is_pointer) {
            return same_result || same_start;
        }
        if self.loose || other.loose {
            return same_start;
        }
        if self.constant || other.constant {
            return same_result;
        }
        self.types == other.types
    }
}

/// Chains by the first and the last byte of the expression.
pub(crate) type Places = BTreeMap<(usize, usize), Chain>;

/// The chains of a program whose text is one file.
pub(crate) fn our_places(program: &Program) -> Places {
    let mut walk = Walk { program, places: BTreeMap::new() };
    for variable in &program.variables {
        if let Some(init) = &variable.init {
            walk.init(init);
        }
    }
    for function in &program.functions {
        if let Some(body) = &function.body {
            body.stmts.iter().for_each(|stmt| walk.stmt(stmt));
        }
    }
    walk.places
}

struct Walk<'p> {
    program: &'p Program,
    places: Places,
}

impl Walk<'_> {
    fn add(&mut self, span: Span, ty: &Type, constant: bool) {
        let text = match ty {
            Type::Record(record) if self.program.records[*record].tag.is_empty() => "?".to_owned(),
            _ => ty.display(self.program),
        };
        let text = text.replace("pthread_t", "unsigned long");
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let text = if text.contains('#') || text.contains("pthread") || text.contains("sem_t") {
            "?".to_owned()
        } else {
            text
        };
        let chain = self.places.entry((span.start as usize, span.end as usize)).or_default();
        chain.push(text);
        chain.own = Some(ty.clone());
        chain.constant |= constant;
    }

    /// An expression whose promotions do not matter.
    fn loosely(&mut self, expr: &Expr) {
        self.expr(expr);
        let place = (expr.span.start as usize, expr.span.end as usize);
        if let Some(chain) = self.places.get_mut(&place) {
            chain.loose = true;
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Value(expr) => self.expr(expr),
            Init::List(parts) => parts.iter().for_each(|(_, expr)| self.expr(expr)),
            Init::Sync(_) => {}
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Declare(_, init) => init.iter().for_each(|init| self.init(init)),
            StmtKind::Block(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt)),
            StmtKind::If(condition, yes, no) => {
                self.expr(condition);
                self.stmt(yes);
                no.iter().for_each(|no| self.stmt(no));
            }
            StmtKind::While(condition, body)
            | StmtKind::DoWhile(body, condition)
            | StmtKind::Switch(condition, body) => {
                self.expr(condition);
                self.stmt(body);
            }
            StmtKind::For(init, condition, step, body) => {
                init.iter().for_each(|stmt| self.stmt(stmt));
                condition.iter().chain(step).for_each(|expr| self.expr(expr));
                self.stmt(body);
            }
            StmtKind::Case(_, _, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => {
                self.stmt(body)
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Asm => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let is_decay = matches!(expr.kind, ExprKind::Decay(_) | ExprKind::FunctionRef(_));
        if !is_decay {
            let constant = matches!(expr.kind, ExprKind::Int(_) | ExprKind::Float(_));
            self.add(expr.span, &expr.ty, constant);
        }
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::FunctionRef(_) | ExprKind::Unsupported(_) => {}
            ExprKind::Load(lvalue) | ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => {
                self.lvalue(lvalue)
            }
            ExprKind::Unary(UnaryOp::Not, operand) => self.loosely(operand),
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => self.expr(operand),
            ExprKind::Binary(_, left, right)
            | ExprKind::PointerDifference(left, right)
            | ExprKind::Comma(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::PointerOffset { pointer, offset, .. } => {
                self.expr(pointer);
                self.loosely(offset);
            }
            ExprKind::LogicalAnd(left, right) | ExprKind::LogicalOr(left, right) => {
                self.loosely(left);
                self.loosely(right);
            }
            ExprKind::Conditional(condition, yes, no) => {
                self.loosely(condition);
                self.expr(yes);
                self.expr(no);
            }
            ExprKind::Assign(target, value) => {
                self.lvalue(target);
                self.expr(value);
            }
            ExprKind::CompoundAssign { target, value, .. } => {
                self.lvalue(target);
                if matches!(target.ty.ty, Type::Pointer(_)) { self.loosely(value) } else { self.expr(value) }
            }
            ExprKind::Step { target, .. } => self.lvalue(target),
            ExprKind::Call(callee, args) => {
                if let Callee::Indirect(callee) = callee {
                    self.expr(callee);
                }
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Statement(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt)),
        }
    }

    fn lvalue(&mut self, lvalue: &Lvalue) {
        let implicit = matches!(&lvalue.kind, LvalueKind::Deref(pointer) if pointer.span == lvalue.span);
        if !implicit {
            self.add(lvalue.span, &lvalue.ty.ty, false);
        }
        match &lvalue.kind {
            LvalueKind::Variable(_) | LvalueKind::String(_) => {}
            LvalueKind::Index(array, index) => {
                self.lvalue(array);
                // In `*a` nobody wrote the index.
                if index.span != array.span {
                    self.loosely(index);
                }
            }
            // `p[i]` stands where the sum stands that nobody wrote.
            LvalueKind::Deref(sum) if implicit && matches!(sum.kind, ExprKind::PointerOffset { .. }) => {
                let ExprKind::PointerOffset { pointer, offset, .. } = &sum.kind else { return };
                self.add(lvalue.span, &lvalue.ty.ty, false);
                self.expr(pointer);
                self.loosely(offset);
            }
            LvalueKind::Deref(pointer) => self.expr(pointer),
            LvalueKind::Field(object, _) => self.lvalue(object),
            LvalueKind::Compound(_, init) => self.init(init),
        }
    }
}
