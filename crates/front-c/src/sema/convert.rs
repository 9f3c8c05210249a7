//! Conversions: of lvalues, of arithmetic operands, by assignment (C11 6.3, 6.5.16.1).

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::{Diagnostic, Span};

use super::{Sema, Value, plain, pointer_to};
use crate::tree::{Expr, ExprKind, Lvalue, LvalueKind};
use crate::types::{FloatKind, FunctionType, IntKind, QualType, Type};

impl<'a> Sema<'a> {
    /// The type of a value before any conversion.
    pub(super) fn type_of_value(&self, value: &Value) -> QualType {
        match value {
            Value::Rvalue(expr) => plain(expr.ty.clone()),
            Value::Lvalue(lvalue) => lvalue.ty.clone(),
            Value::Function(function, _) => plain(self.function_type(*function)),
        }
    }

    pub(super) fn function_type(&self, function: crate::tree::Function) -> Type {
        let data = &self.program.functions[function];
        Type::Function(Box::new(FunctionType {
            result: data.result.clone(),
            params: data.param_types.clone(),
            variadic: data.variadic,
        }))
    }

    /// Reads an object, turns an array into a pointer and a function into its address (C11 6.3.2.1).
    pub(super) fn rvalue(&mut self, value: Value) -> Expr {
        match value {
            Value::Rvalue(expr) => expr,
            Value::Function(function, span) => {
                self.mark_used(function);
                let ty = pointer_to(plain(self.function_type(function)));
                Expr { kind: ExprKind::FunctionRef(function), ty, span }
            }
            Value::Lvalue(lvalue) => self.load(lvalue),
        }
    }

    fn load(&mut self, lvalue: Lvalue) -> Expr {
        let span = lvalue.span;
        match &lvalue.ty.ty {
            Type::Array(element, _) => {
                // The qualifiers of the array are those of its elements.
                let mut element = (**element).clone();
                element.quals.is_const |= lvalue.ty.quals.is_const;
                element.quals.is_volatile |= lvalue.ty.quals.is_volatile;
                let ty = pointer_to(element);
                Expr { kind: ExprKind::Decay(Box::new(lvalue)), ty, span }
            }
            Type::Void => match lvalue.kind {
                // `*p` with `void *p`, as a statement: only `p` is evaluated.
                LvalueKind::Deref(pointer) => Expr { kind: ExprKind::Cast(pointer), ty: Type::Void, span },
                _ => Self::unsupported("a value of type void", Type::Void, span),
            },
            Type::Record(record) if self.program.records[*record].fields.is_none() => {
                let ty = lvalue.ty.ty.clone();
                self.incomplete(&ty, span);
                Self::poison(span)
            }
            ty => {
                let ty = ty.clone();
                Expr { kind: ExprKind::Load(Box::new(lvalue)), ty, span }
            }
        }
    }

    /// Checks an expression and takes its value.
    pub(super) fn rvalue_expr(&mut self, node: &'a Node<ast::Expression>) -> Expr {
        let value = self.expr(node);
        self.rvalue(value)
    }

    /// Converts a value to a type; nothing happens where it has that type already.
    pub(super) fn cast(&self, expr: Expr, ty: &Type) -> Expr {
        if expr.ty == *ty {
            return expr;
        }
        if let (Type::Pointer(from), Type::Pointer(to)) = (&expr.ty, ty)
            && from.ty == to.ty
            && from.quals.is_atomic == to.quals.is_atomic
        {
            // `const` and `volatile` behind a pointer change no value.
            return Expr { ty: ty.clone(), ..expr };
        }
        let span = expr.span;
        let kind = match (&expr.kind, ty) {
            (ExprKind::Int(value), Type::Int(kind)) => ExprKind::Int(kind.wrap(self.model, *value)),
            (ExprKind::Unsupported(text), _) => ExprKind::Unsupported(text.clone()),
            // A number that becomes another kind of pointer on the way, as in `NULL`.
            (ExprKind::Cast(inner), Type::Pointer(_)) if matches!(inner.kind, ExprKind::Int(_)) => {
                ExprKind::Cast(inner.clone())
            }
            _ => ExprKind::Cast(Box::new(expr)),
        };
        Expr { kind, ty: ty.clone(), span }
    }

    /// The integer promotions (C11 6.3.1.1).
    pub(super) fn promote(&self, expr: Expr) -> Expr {
        let ty = self.promoted_type(&expr);
        self.cast(expr, &ty)
    }

    /// The type that a value has after the integer promotions.
    fn promoted_type(&self, expr: &Expr) -> Type {
        match expr.ty {
            Type::Int(kind) => Type::Int(match self.bit_width(expr) {
                Some(width) if kind.is_signed() && width <= 32 => IntKind::Int,
                Some(width) if !kind.is_signed() && width < 32 => IntKind::Int,
                Some(_) | None => promoted(kind),
            }),
            Type::Thread => Type::Int(IntKind::UnsignedLong),
            Type::Void
            | Type::Float(_)
            | Type::Pointer(_)
            | Type::Array(..)
            | Type::Record(_)
            | Type::Function(_)
            | Type::Sync(_) => expr.ty.clone(),
        }
    }

    /// The width of the bit-field that an expression has just read or written.
    pub(super) fn bit_width(&self, expr: &Expr) -> Option<u32> {
        match &expr.kind {
            ExprKind::Load(lvalue)
            | ExprKind::Assign(lvalue, _)
            | ExprKind::CompoundAssign { target: lvalue, .. }
            | ExprKind::Step { target: lvalue, .. } => self.bit_field_width(lvalue),
            _ => None,
        }
    }

    /// The width of a bit-field; `None` for other objects.
    pub(super) fn bit_field_width(&self, lvalue: &Lvalue) -> Option<u32> {
        let LvalueKind::Field(object, field) = &lvalue.kind else { return None };
        let Type::Record(record) = object.ty.ty else { return None };
        self.program.records[record].fields.as_ref()?.get(*field)?.bit_width
    }

    /// The default argument promotions (C11 6.5.2.2p6).
    pub(super) fn promote_argument(&self, expr: Expr) -> Expr {
        match expr.ty {
            Type::Float(FloatKind::Float) => self.cast(expr, &Type::Float(FloatKind::Double)),
            Type::Int(_) => self.promote(expr),
            Type::Thread
            | Type::Float(FloatKind::Double | FloatKind::LongDouble)
            | Type::Void
            | Type::Pointer(_)
            | Type::Array(..)
            | Type::Record(_)
            | Type::Function(_)
            | Type::Sync(_) => expr,
        }
    }

    /// The usual arithmetic conversions (C11 6.3.1.8). Both operands must be arithmetic.
    pub(super) fn balance(&self, left: Expr, right: Expr) -> (Expr, Expr, Type) {
        let ty = match (&left.ty, &right.ty) {
            (Type::Float(a), Type::Float(b)) => Type::Float(wider(*a, *b)),
            (Type::Float(a), _) => Type::Float(*a),
            (_, Type::Float(b)) => Type::Float(*b),
            _ => {
                // The operands go to the common type in one step, as compilers do it.
                match (self.promoted_type(&left), self.promoted_type(&right)) {
                    (Type::Int(a), Type::Int(b)) => Type::Int(self.common_kind(a, b)),
                    (ty, _) => ty,
                }
            }
        };
        (self.cast(left, &ty), self.cast(right, &ty), ty)
    }

    fn common_kind(&self, a: IntKind, b: IntKind) -> IntKind {
        if a.is_signed() == b.is_signed() {
            return if a.rank() >= b.rank() { a } else { b };
        }
        let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
        if unsigned.rank() >= signed.rank() {
            unsigned
        } else if signed.bits(self.model) > unsigned.bits(self.model) {
            signed
        } else {
            signed.to_unsigned()
        }
    }

    /// Whether the expression is an integer constant zero, or that cast to `void *`.
    pub(super) fn is_null(&self, expr: &Expr) -> bool {
        match (&expr.kind, &expr.ty) {
            (ExprKind::Cast(inner), Type::Pointer(target)) => {
                target.ty == Type::Void
                    && self.fold_strict(inner) == Some(0)
                    && matches!(inner.ty, Type::Int(_))
            }
            (_, Type::Int(_)) => self.fold_strict(expr) == Some(0),
            _ => false,
        }
    }

    /// Whether two types are compatible, up to qualifiers (C11 6.2.7).
    pub(super) fn compatible(&self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Pointer(a), Type::Pointer(b)) => self.compatible(&a.ty, &b.ty),
            (Type::Array(a, n), Type::Array(b, m)) => {
                self.compatible(&a.ty, &b.ty) && (n.is_none() || m.is_none() || n == m)
            }
            (Type::Function(a), Type::Function(b)) => {
                // Without a prototype only the result counts.
                let open = |f: &FunctionType| f.variadic && f.params.is_empty();
                self.compatible(&a.result.ty, &b.result.ty)
                    && (open(a)
                        || open(b)
                        || (a.variadic == b.variadic
                            && a.params.len() == b.params.len()
                            && a.params.iter().zip(&b.params).all(|(a, b)| self.compatible(&a.ty, &b.ty))))
            }
            (Type::Thread, Type::Int(IntKind::UnsignedLong))
            | (Type::Int(IntKind::UnsignedLong), Type::Thread) => true,
            _ => a == b,
        }
    }

    /// Converts as by assignment; `what` says for messages what happens here.
    pub(super) fn assign_convert(&mut self, expr: Expr, target: &Type, what: &str) -> Expr {
        if Self::is_poison(&expr) {
            return self.cast(expr, target);
        }
        let span = expr.span;
        let arithmetic = |ty: &Type| matches!(ty, Type::Int(_) | Type::Float(_) | Type::Thread);
        match (target, &expr.ty) {
            (Type::Record(a), Type::Record(b)) if a == b => return expr,
            (Type::Sync(a), Type::Sync(b)) if a == b => return expr,
            (to, from) if arithmetic(to) && arithmetic(from) => return self.cast(expr, target),
            (Type::Int(IntKind::Bool), Type::Pointer(_)) => return self.cast(expr, target),
            (Type::Pointer(_), _) if self.is_null(&expr) => return self.cast(expr, target),
            (Type::Pointer(to), Type::Pointer(from)) => {
                let void = to.ty == Type::Void || from.ty == Type::Void;
                if !void && !self.compatible(&to.ty, &from.ty) && !differ_in_sign(&to.ty, &from.ty) {
                    let (to, from) = (self.show(target), self.show(&expr.ty));
                    self.report(
                        Diagnostic::warning("incompatible-pointers", format!("{what} mixes pointer types"))
                            .at(span, format!("`{from}` becomes `{to}`"))
                            .help(format!("write `({to})` in front of it if that is what is meant")),
                    );
                }
                return self.cast(expr, target);
            }
            (Type::Pointer(_), Type::Int(_) | Type::Thread)
            | (Type::Int(_) | Type::Thread, Type::Pointer(_)) => {
                let (to, from) = (self.show(target), self.show(&expr.ty));
                self.report(
                    Diagnostic::warning("pointer-and-integer", format!("{what} mixes pointer and integer"))
                        .at(span, format!("`{from}` becomes `{to}`"))
                        .help(format!("write `({to})` in front of it if that is what is meant")),
                );
                return self.cast(expr, target);
            }
            _ => {}
        }
        if let Type::Sync(_) = target
            && self.fold(&expr) == Some(0)
        {
            // `pthread_once_t` and `pthread_spinlock_t` are integers in most libraries.
            return Self::unsupported("a number as an object of the thread library", target.clone(), span);
        }
        self.mismatch(&expr.ty.clone(), target, span, what);
        Self::poison(span)
    }

    fn mismatch(&mut self, from: &Type, to: &Type, span: Span, what: &str) {
        let (from, to) = (self.show(from), self.show(to));
        self.report(
            Diagnostic::error("incompatible-types", format!("{what} needs `{to}`, not `{from}`"))
                .at(span, format!("this is `{from}`")),
        );
    }

    pub(super) fn incomplete(&mut self, ty: &Type, span: Span) {
        let name = self.show(ty);
        self.report(
            Diagnostic::error("incomplete-type", format!("`{name}` has no definition here"))
                .at(span, "its size and members are unknown")
                .help("define the type before this use, or include the header that does"),
        );
    }

    /// Checks that a value can be tested for being zero.
    pub(super) fn condition(&mut self, expr: Expr) -> Expr {
        match &expr.ty {
            Type::Int(_) | Type::Float(_) | Type::Pointer(_) | Type::Thread => expr,
            Type::Void | Type::Array(..) | Type::Record(_) | Type::Function(_) | Type::Sync(_) => {
                let (span, ty) = (expr.span, self.show(&expr.ty));
                self.report(
                    Diagnostic::error(
                        "not-a-condition",
                        format!("a value of type `{ty}` is neither true nor false"),
                    )
                    .at(span, "a number or a pointer is needed"),
                );
                Self::poison(span)
            }
        }
    }
}

/// `char *` and `unsigned char *` and the like: gcc says nothing about them.
fn differ_in_sign(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Int(a), Type::Int(b)) => a.rank() == b.rank() && *a != IntKind::Bool && *b != IntKind::Bool,
        _ => false,
    }
}

/// The promoted type of an integer that is no bit-field.
pub(super) fn promoted(kind: IntKind) -> IntKind {
    if kind.rank() < IntKind::Int.rank() { IntKind::Int } else { kind }
}

fn wider(a: FloatKind, b: FloatKind) -> FloatKind {
    let rank = |kind| match kind {
        FloatKind::Float => 0,
        FloatKind::Double => 1,
        FloatKind::LongDouble => 2,
    };
    if rank(a) >= rank(b) { a } else { b }
}
