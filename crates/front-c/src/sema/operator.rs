//! Operators on one and two operands (C11 6.5.3, 6.5.5 to 6.5.16).

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::{Diagnostic, Span};

use super::{Sema, Value, plain, pointer_to};
use crate::tree::{BinaryOp, Expr, ExprKind, Lvalue, LvalueKind, UnaryOp};
use crate::types::{IntKind, QualType, Type};

impl<'a> Sema<'a> {
    pub(super) fn unary(
        &mut self,
        unary: &'a ast::UnaryOperatorExpression,
        node: &'a Node<ast::Expression>,
    ) -> Value {
        let span = self.span(node.span);
        let operator_span = self.span(unary.operator.span);
        let value = self.expr(&unary.operand);
        if let Value::Rvalue(expr) = &value
            && Self::is_poison(expr)
        {
            return Value::Rvalue(Self::poison(span));
        }
        match unary.operator.node {
            ast::UnaryOperator::Address => Value::Rvalue(self.address_of(value, span)),
            ast::UnaryOperator::Indirection => self.dereference(value, span),
            ast::UnaryOperator::PostIncrement => {
                Value::Rvalue(self.step(value, span, operator_span, false, true))
            }
            ast::UnaryOperator::PostDecrement => {
                Value::Rvalue(self.step(value, span, operator_span, true, true))
            }
            ast::UnaryOperator::PreIncrement => {
                Value::Rvalue(self.step(value, span, operator_span, false, false))
            }
            ast::UnaryOperator::PreDecrement => {
                Value::Rvalue(self.step(value, span, operator_span, true, false))
            }
            ast::UnaryOperator::Plus => {
                let expr = self.rvalue(value);
                if !matches!(expr.ty, Type::Int(_) | Type::Float(_) | Type::Thread) {
                    return Value::Rvalue(self.invalid_operand("+", &expr, span));
                }
                let promoted = self.promote(expr);
                Value::Rvalue(Expr { span, ..promoted })
            }
            ast::UnaryOperator::Minus => {
                let expr = self.rvalue(value);
                if !matches!(expr.ty, Type::Int(_) | Type::Float(_) | Type::Thread) {
                    return Value::Rvalue(self.invalid_operand("-", &expr, span));
                }
                let expr = self.promote(expr);
                let ty = expr.ty.clone();
                Value::Rvalue(Expr { kind: ExprKind::Unary(UnaryOp::Negate, Box::new(expr)), ty, span })
            }
            ast::UnaryOperator::Complement => {
                let expr = self.rvalue(value);
                if !matches!(expr.ty, Type::Int(_) | Type::Thread) {
                    return Value::Rvalue(self.invalid_operand("~", &expr, span));
                }
                let expr = self.promote(expr);
                let ty = expr.ty.clone();
                Value::Rvalue(Expr { kind: ExprKind::Unary(UnaryOp::Complement, Box::new(expr)), ty, span })
            }
            ast::UnaryOperator::Negate => {
                let expr = self.rvalue(value);
                let expr = self.condition(expr);
                let expr = self.promote(expr);
                Value::Rvalue(Expr {
                    kind: ExprKind::Unary(UnaryOp::Not, Box::new(expr)),
                    ty: Type::INT,
                    span,
                })
            }
        }
    }

    fn invalid_operand(&mut self, operator: &str, expr: &Expr, span: Span) -> Expr {
        if !Self::is_poison(expr) {
            let shown = self.show(&expr.ty);
            self.report(
                Diagnostic::error("invalid-operand", format!("`{operator}` does not apply to `{shown}`"))
                    .at(expr.span, format!("this is `{shown}`")),
            );
        }
        Self::poison(span)
    }

    fn address_of(&mut self, value: Value, span: Span) -> Expr {
        match value {
            Value::Function(..) => {
                let expr = self.rvalue(value);
                Expr { span, ..expr }
            }
            Value::Lvalue(lvalue) => {
                if self.bit_field_width(&lvalue).is_some() {
                    self.report(
                        Diagnostic::error("invalid-operand", "a bit-field has no address")
                            .at(lvalue.span, "a bit-field"),
                    );
                    return Self::poison(span);
                }
                let ty = pointer_to(lvalue.ty.clone());
                match lvalue.kind {
                    // `&*p` is `p`.
                    LvalueKind::Deref(pointer) => Expr { span, ty, ..*pointer },
                    _ => Expr { kind: ExprKind::AddressOf(Box::new(lvalue)), ty, span },
                }
            }
            Value::Rvalue(expr) => {
                self.not_an_object(&expr, "`&`");
                Self::poison(span)
            }
        }
    }

    fn not_an_object(&mut self, expr: &Expr, what: &str) {
        if !Self::is_poison(expr) {
            self.report(
                Diagnostic::error("not-an-object", format!("{what} needs an object, not a plain value"))
                    .at(expr.span, "only a value, stored nowhere"),
            );
        }
    }

    fn dereference(&mut self, value: Value, span: Span) -> Value {
        if let Value::Function(function, _) = value {
            return Value::Function(function, span);
        }
        let pointer = self.rvalue(value);
        match &pointer.ty {
            Type::Pointer(target) => match &target.ty {
                // A function that is reached through a pointer turns into that pointer again.
                Type::Function(_) => Value::Rvalue(Expr { span, ..pointer }),
                _ => {
                    let ty = (**target).clone();
                    Value::Lvalue(Lvalue { span, ..pointed_object(pointer, ty) })
                }
            },
            _ => {
                let shown = self.show(&pointer.ty);
                if !Self::is_poison(&pointer) {
                    self.report(
                        Diagnostic::error("not-a-pointer", format!("`*` needs a pointer, not `{shown}`"))
                            .at(pointer.span, format!("this is `{shown}`")),
                    );
                }
                Value::Rvalue(Self::poison(span))
            }
        }
    }

    /// An object that may be written.
    fn target(&mut self, value: Value, what: &str) -> Option<Lvalue> {
        match value {
            Value::Lvalue(lvalue) => {
                let problem = match &lvalue.ty.ty {
                    Type::Array(..) => Some(("an array cannot be assigned as a whole", "an array")),
                    Type::Void => Some(("`void` cannot be assigned", "no object")),
                    _ if lvalue.ty.quals.is_const => {
                        Some(("a constant cannot be changed", "declared `const`"))
                    }
                    _ => None,
                };
                if let Some((message, label)) = problem {
                    self.report(Diagnostic::error("not-assignable", message).at(lvalue.span, label));
                    return None;
                }
                Some(lvalue)
            }
            Value::Rvalue(expr) => {
                self.not_an_object(&expr, what);
                None
            }
            Value::Function(_, span) => {
                self.report(
                    Diagnostic::error("not-assignable", "a function cannot be assigned")
                        .at(span, "a function"),
                );
                None
            }
        }
    }

    fn step(&mut self, value: Value, span: Span, operator: Span, decrement: bool, postfix: bool) -> Expr {
        let what = if decrement { "`--`" } else { "`++`" };
        let Some(target) = self.target(value, what) else { return Self::poison(span) };
        let ty = target.ty.ty.clone();
        match &ty {
            Type::Int(_) | Type::Float(_) => {}
            Type::Pointer(pointed) => {
                if self.size_of(&pointed.ty).is_none() {
                    self.incomplete(&pointed.ty.clone(), target.span);
                    return Self::poison(span);
                }
            }
            Type::Thread
            | Type::Void
            | Type::Array(..)
            | Type::Record(_)
            | Type::Function(_)
            | Type::Sync(_) => {
                let (shown, word) = (self.show(&ty), if decrement { "--" } else { "++" });
                self.report(
                    Diagnostic::error("invalid-operand", format!("`{word}` does not apply to `{shown}`"))
                        .at(operator, "needs a number or a pointer")
                        .context(target.span, format!("this is `{shown}`")),
                );
                return Self::poison(span);
            }
        }
        Expr { kind: ExprKind::Step { target: Box::new(target), decrement, postfix }, ty, span }
    }

    pub(super) fn binary(
        &mut self,
        binary: &'a ast::BinaryOperatorExpression,
        node: &'a Node<ast::Expression>,
    ) -> Value {
        let span = self.span(node.span);
        let left = self.expr(&binary.lhs);
        let right = self.expr(&binary.rhs);
        let operator = &binary.operator.node;
        if let ast::BinaryOperator::Index = operator {
            return self.index(left, right, span);
        }
        let right = self.rvalue(right);
        if let ast::BinaryOperator::Assign = operator {
            return Value::Rvalue(self.assign(left, right, span));
        }
        if let Some(op) = compound_operator(operator) {
            return Value::Rvalue(self.compound_assign(left, op, right, span));
        }
        let left = self.rvalue(left);
        if Self::is_poison(&left) || Self::is_poison(&right) {
            return Value::Rvalue(Self::poison(span));
        }
        Value::Rvalue(match operator {
            ast::BinaryOperator::LogicalAnd => {
                let (left, right) = (self.condition(left), self.condition(right));
                Expr { kind: ExprKind::LogicalAnd(Box::new(left), Box::new(right)), ty: Type::INT, span }
            }
            ast::BinaryOperator::LogicalOr => {
                let (left, right) = (self.condition(left), self.condition(right));
                Expr { kind: ExprKind::LogicalOr(Box::new(left), Box::new(right)), ty: Type::INT, span }
            }
            _ => match plain_operator(operator) {
                Some(op) => self.arithmetic(op, left, right, span),
                None => Self::poison(span),
            },
        })
    }

    fn index(&mut self, left: Value, right: Value, span: Span) -> Value {
        let is_array =
            |value: &Value| matches!(value, Value::Lvalue(lvalue) if matches!(lvalue.ty.ty, Type::Array(..)));
        // `2[a]` is `a[2]`.
        let swapped = !is_array(&left)
            && (is_array(&right) || matches!(self.type_of_value(&right).ty, Type::Pointer(_)));
        let (base, index) = if swapped { (right, left) } else { (left, right) };
        let index = self.rvalue(index);
        let is_poison = matches!(&base, Value::Rvalue(expr) if Self::is_poison(expr));
        if is_poison || Self::is_poison(&index) {
            return Value::Rvalue(Self::poison(span));
        }
        if Self::integer_kind(&index).is_none() {
            let shown = self.show(&index.ty);
            self.report(
                Diagnostic::error("invalid-operand", format!("an index must be an integer, not `{shown}`"))
                    .at(index.span, format!("this is `{shown}`")),
            );
            return Value::Rvalue(Self::poison(span));
        }
        let index = self.promote(index);
        if let Value::Lvalue(array) = base {
            if let Type::Array(element, _) = &array.ty.ty {
                let mut ty = (**element).clone();
                ty.quals.is_const |= array.ty.quals.is_const;
                ty.quals.is_volatile |= array.ty.quals.is_volatile;
                return Value::Lvalue(Lvalue {
                    kind: LvalueKind::Index(Box::new(array), Box::new(index)),
                    ty,
                    span,
                });
            }
            let pointer = self.rvalue(Value::Lvalue(array));
            return self.index_pointer(pointer, index, span);
        }
        let pointer = self.rvalue(base);
        self.index_pointer(pointer, index, span)
    }

    fn index_pointer(&mut self, pointer: Expr, index: Expr, span: Span) -> Value {
        if !matches!(pointer.ty, Type::Pointer(_)) {
            let shown = self.show(&pointer.ty);
            self.report(
                Diagnostic::error(
                    "not-a-pointer",
                    format!("only arrays and pointers have elements, not `{shown}`"),
                )
                .at(pointer.span, format!("this is `{shown}`")),
            );
            return Value::Rvalue(Self::poison(span));
        }
        let pointer = self.pointer_offset(pointer, index, false, span);
        self.dereference(Value::Rvalue(pointer), span)
    }

    fn pointer_offset(&mut self, pointer: Expr, offset: Expr, negate: bool, span: Span) -> Expr {
        let ty = pointer.ty.clone();
        if let Type::Pointer(target) = &ty
            && self.size_of(&target.ty).is_none()
        {
            if let Type::Array(..) = target.ty {
                return Self::unsupported("a pointer to an array whose length is not constant", ty, span);
            }
            self.incomplete(&target.ty.clone(), pointer.span);
            return Self::poison(span);
        }
        let offset = self.promote(offset);
        let kind = ExprKind::PointerOffset { pointer: Box::new(pointer), offset: Box::new(offset), negate };
        Expr { kind, ty, span }
    }

    fn assign(&mut self, left: Value, right: Expr, span: Span) -> Expr {
        let Some(target) = self.target(left, "an assignment") else {
            return Self::poison(span);
        };
        let ty = target.ty.ty.clone();
        let value = self.assign_convert(right, &ty, "the assignment");
        Expr { kind: ExprKind::Assign(Box::new(target), Box::new(value)), ty, span }
    }

    fn compound_assign(&mut self, left: Value, op: BinaryOp, right: Expr, span: Span) -> Expr {
        let Some(target) = self.target(left, "an assignment") else {
            return Self::poison(span);
        };
        if Self::is_poison(&right) {
            return Self::poison(span);
        }
        let ty = target.ty.ty.clone();
        let arithmetic = |ty: &Type| matches!(ty, Type::Int(_) | Type::Float(_) | Type::Thread);
        let read = Expr { kind: ExprKind::Load(Box::new(target.clone())), ty: ty.clone(), span: target.span };
        let (computation, value) = match op {
            BinaryOp::Add | BinaryOp::Sub if matches!(ty, Type::Pointer(_)) => {
                if Self::integer_kind(&right).is_none() {
                    return self.invalid_operands(op, &read, &right, span);
                }
                (ty.clone(), self.promote(right))
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                if Self::integer_kind(&read).is_none() || Self::integer_kind(&right).is_none() {
                    return self.invalid_operands(op, &read, &right, span);
                }
                (self.promote(read).ty, self.promote(right))
            }
            _ => {
                let integers = matches!(op, BinaryOp::Rem | BinaryOp::And | BinaryOp::Xor | BinaryOp::Or);
                let fits = |ty: &Type| arithmetic(ty) && !(integers && matches!(ty, Type::Float(_)));
                if !fits(&ty) || !fits(&right.ty) {
                    return self.invalid_operands(op, &read, &right, span);
                }
                let (_, value, computation) = self.balance(read, right);
                (computation, value)
            }
        };
        let kind =
            ExprKind::CompoundAssign { target: Box::new(target), op, computation, value: Box::new(value) };
        Expr { kind, ty, span }
    }

    fn invalid_operands(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Expr {
        let (a, b) = (self.show(&left.ty), self.show(&right.ty));
        self.report(
            Diagnostic::error(
                "invalid-operand",
                format!("`{}` does not apply to `{a}` and `{b}`", symbol(op)),
            )
            .at(left.span, format!("this is `{a}`"))
            .at(right.span, format!("this is `{b}`")),
        );
        Self::poison(span)
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let arithmetic = |ty: &Type| matches!(ty, Type::Int(_) | Type::Float(_) | Type::Thread);
        let both = arithmetic(&left.ty) && arithmetic(&right.ty);
        match op {
            BinaryOp::Add => match (&left.ty, &right.ty) {
                (Type::Pointer(_), Type::Int(_)) => return self.pointer_offset(left, right, false, span),
                (Type::Int(_), Type::Pointer(_)) => return self.pointer_offset(right, left, false, span),
                _ => {}
            },
            BinaryOp::Sub => match (&left.ty, &right.ty) {
                (Type::Pointer(_), Type::Int(_)) => return self.pointer_offset(left, right, true, span),
                (Type::Pointer(a), Type::Pointer(b)) if self.compatible(&a.ty, &b.ty) => {
                    if self.size_of(&a.ty).is_none() {
                        self.incomplete(&a.ty.clone(), left.span);
                        return Self::poison(span);
                    }
                    let kind = ExprKind::PointerDifference(Box::new(left), Box::new(right));
                    return Expr { kind, ty: Type::Int(self.difference_type()), span };
                }
                _ => {}
            },
            BinaryOp::Shl | BinaryOp::Shr => {
                if Self::integer_kind(&left).is_none() || Self::integer_kind(&right).is_none() {
                    return self.invalid_operands(op, &left, &right, span);
                }
                let (left, right) = (self.promote(left), self.promote(right));
                let ty = left.ty.clone();
                return Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span };
            }
            BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual => return self.compare(op, left, right, span),
            BinaryOp::Rem | BinaryOp::And | BinaryOp::Xor | BinaryOp::Or => {
                if matches!(left.ty, Type::Float(_)) || matches!(right.ty, Type::Float(_)) {
                    return self.invalid_operands(op, &left, &right, span);
                }
            }
            BinaryOp::Mul | BinaryOp::Div => {}
        }
        if !both {
            return self.invalid_operands(op, &left, &right, span);
        }
        let (left, right, ty) = self.balance(left, right);
        Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span }
    }

    fn compare(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        let (left, right) = match (&left.ty, &right.ty) {
            (Type::Thread, Type::Thread) => (left, right),
            (Type::Int(_) | Type::Float(_) | Type::Thread, Type::Int(_) | Type::Float(_) | Type::Thread) => {
                let (left, right, _) = self.balance(left, right);
                (left, right)
            }
            (Type::Pointer(_), Type::Int(_) | Type::Thread) => {
                self.compared_with_integer(&right, span);
                let ty = left.ty.clone();
                (left, self.cast(right, &ty))
            }
            (Type::Int(_) | Type::Thread, Type::Pointer(_)) => {
                self.compared_with_integer(&left, span);
                let ty = right.ty.clone();
                (self.cast(left, &ty), right)
            }
            (Type::Pointer(a), Type::Pointer(b)) => {
                let void = a.ty == Type::Void || b.ty == Type::Void;
                if !void && !self.compatible(&a.ty, &b.ty) {
                    let (a, b) = (self.show(&left.ty), self.show(&right.ty));
                    self.report(
                        Diagnostic::warning("incompatible-pointers", "different pointer types are compared")
                            .at(span, format!("`{a}` and `{b}`")),
                    );
                }
                // Compare as the type that says less.
                let ty = if b.ty == Type::Void { plain(right.ty.clone()) } else { plain(left.ty.clone()) };
                let null_right = self.is_null(&right);
                let ty = if null_right {
                    left.ty.clone()
                } else if self.is_null(&left) {
                    right.ty.clone()
                } else {
                    ty.ty
                };
                (self.cast(left, &ty), self.cast(right, &ty))
            }
            _ => return self.invalid_operands(op, &left, &right, span),
        };
        Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty: Type::INT, span }
    }

    fn compared_with_integer(&mut self, integer: &Expr, span: Span) {
        if self.is_null(integer) {
            return;
        }
        self.report(
            Diagnostic::warning("pointer-and-integer", "a pointer is compared with an integer")
                .at(span, "one side is a pointer, the other is not"),
        );
    }

    /// The type `int` or wider that a `switch` is computed in.
    pub(super) fn switch_kind(&self, expr: &Expr) -> Option<IntKind> {
        Self::integer_kind(expr).map(super::convert::promoted)
    }
}

/// The object that a pointer points to. Where the pointer says which object that is, this is it: `*&x` is
/// `x`, and `*(a + i)` is `a[i]`.
pub(super) fn pointed_object(pointer: Expr, ty: QualType) -> Lvalue {
    let span = pointer.span;
    let kind = match pointer.kind {
        ExprKind::AddressOf(object) if object.ty.ty == ty.ty => return Lvalue { ty, ..*object },
        ExprKind::Decay(array) => {
            LvalueKind::Index(array, Box::new(Expr { kind: ExprKind::Int(0), ty: Type::INT, span }))
        }
        ExprKind::PointerOffset { pointer: base, offset, negate: false }
            if matches!(base.kind, ExprKind::Decay(_)) =>
        {
            match base.kind {
                ExprKind::Decay(array) => LvalueKind::Index(array, offset),
                kind => LvalueKind::Deref(Box::new(Expr { kind, ty: base.ty, span: base.span })),
            }
        }
        kind => LvalueKind::Deref(Box::new(Expr { kind, ty: pointer.ty, span })),
    };
    Lvalue { kind, ty, span }
}

fn plain_operator(operator: &ast::BinaryOperator) -> Option<BinaryOp> {
    use ast::BinaryOperator as Op;
    Some(match operator {
        Op::Multiply => BinaryOp::Mul,
        Op::Divide => BinaryOp::Div,
        Op::Modulo => BinaryOp::Rem,
        Op::Plus => BinaryOp::Add,
        Op::Minus => BinaryOp::Sub,
        Op::ShiftLeft => BinaryOp::Shl,
        Op::ShiftRight => BinaryOp::Shr,
        Op::Less => BinaryOp::Less,
        Op::Greater => BinaryOp::Greater,
        Op::LessOrEqual => BinaryOp::LessEqual,
        Op::GreaterOrEqual => BinaryOp::GreaterEqual,
        Op::Equals => BinaryOp::Equal,
        Op::NotEquals => BinaryOp::NotEqual,
        Op::BitwiseAnd => BinaryOp::And,
        Op::BitwiseXor => BinaryOp::Xor,
        Op::BitwiseOr => BinaryOp::Or,
        _ => return None,
    })
}

fn compound_operator(operator: &ast::BinaryOperator) -> Option<BinaryOp> {
    use ast::BinaryOperator as Op;
    Some(match operator {
        Op::AssignMultiply => BinaryOp::Mul,
        Op::AssignDivide => BinaryOp::Div,
        Op::AssignModulo => BinaryOp::Rem,
        Op::AssignPlus => BinaryOp::Add,
        Op::AssignMinus => BinaryOp::Sub,
        Op::AssignShiftLeft => BinaryOp::Shl,
        Op::AssignShiftRight => BinaryOp::Shr,
        Op::AssignBitwiseAnd => BinaryOp::And,
        Op::AssignBitwiseXor => BinaryOp::Xor,
        Op::AssignBitwiseOr => BinaryOp::Or,
        _ => return None,
    })
}

/// The operator as it is written.
pub(crate) fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::And => "&",
        BinaryOp::Xor => "^",
        BinaryOp::Or => "|",
    }
}
