//! Expressions (C11 6.5), apart from operators and calls.

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::{Diagnostic, Span};

use super::literal::string_lvalue;
use super::operator::pointed_object;
use super::scope::Entity;
use super::{Sema, Value, plain, pointer_to};
use crate::prepass::{ELVIS, original_name};
use crate::tree::{Expr, ExprKind, Init, Lvalue, LvalueKind, Stmt, StmtKind};
use crate::types::{IntKind, QualType, Type};

impl<'a> Sema<'a> {
    /// Checks an expression.
    pub(super) fn expr(&mut self, node: &'a Node<ast::Expression>) -> Value {
        self.nested(node.span, |_, span| Value::Rvalue(Self::poison(span)), |sema| sema.expr_inner(node))
    }

    fn expr_inner(&mut self, node: &'a Node<ast::Expression>) -> Value {
        match &node.node {
            ast::Expression::Identifier(name) => self.name(name),
            ast::Expression::Constant(constant) => Value::Rvalue(self.constant(constant)),
            ast::Expression::StringLiteral(literal) => Value::Lvalue(self.string(literal)),
            ast::Expression::GenericSelection(selection) => self.generic(selection),
            ast::Expression::Member(member) => self.member(&member.node, node),
            ast::Expression::Call(call) => Value::Rvalue(self.call(&call.node, node)),
            ast::Expression::CompoundLiteral(literal) => self.compound_literal(&literal.node, node),
            ast::Expression::SizeOfTy(size) => {
                let ty = self.type_name(&size.node.0);
                let span = self.span(node.span);
                Value::Rvalue(self.size_value(&ty.ty, span))
            }
            ast::Expression::SizeOfVal(size) => {
                let span = self.span(node.span);
                Value::Rvalue(self.size_of_value(&size.node.0, span))
            }
            ast::Expression::AlignOf(align) => {
                let ty = self.type_name(&align.node.0);
                let span = self.span(node.span);
                Value::Rvalue(self.size_constant(self.align_of(&ty.ty), span))
            }
            ast::Expression::UnaryOperator(unary) => self.unary(&unary.node, node),
            ast::Expression::Cast(cast) => Value::Rvalue(self.explicit_cast(&cast.node, node)),
            ast::Expression::BinaryOperator(binary) => self.binary(&binary.node, node),
            ast::Expression::Conditional(conditional) => {
                Value::Rvalue(self.conditional(&conditional.node, node))
            }
            ast::Expression::Comma(list) => Value::Rvalue(self.comma(list)),
            ast::Expression::OffsetOf(offset) => {
                let span = self.span(node.span);
                Value::Rvalue(self.offset_of(&offset.node, span))
            }
            ast::Expression::VaArg(argument) => {
                let ty = self.type_name(&argument.node.type_name);
                let span = self.span(node.span);
                Value::Rvalue(Self::unsupported("va_arg", ty.ty, span))
            }
            ast::Expression::Statement(statement) => {
                Value::Rvalue(self.statement_expression(statement, node))
            }
        }
    }

    fn name(&mut self, node: &'a Node<ast::Identifier>) -> Value {
        let span = self.span(node.span);
        let name = node.node.name.as_str();
        match self.lookup(name) {
            Some(Entity::Variable(variable)) => {
                let variable = *variable;
                let ty = self.program.variables[variable].ty.clone();
                Value::Lvalue(Lvalue { kind: LvalueKind::Variable(variable), ty, span })
            }
            Some(Entity::Function(function)) => Value::Function(*function, span),
            Some(Entity::Enumerator(value, kind)) => {
                Value::Rvalue(Expr { kind: ExprKind::Int(*value), ty: Type::Int(*kind), span })
            }
            Some(Entity::Typedef(_)) => {
                let name = original_name(name);
                self.report(
                    Diagnostic::error("unexpected-type", format!("`{name}` is a type, not a value"))
                        .at(span, "a value is needed here"),
                );
                Value::Rvalue(Self::poison(span))
            }
            None => {
                if matches!(name, "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") {
                    let function = self.body.as_ref().map(|body| body.function);
                    let text = function.map_or(String::new(), |f| self.program.functions[f].name.clone());
                    return Value::Lvalue(string_lvalue(text.into_bytes(), span));
                }
                if let Some(function) = self.library_function(name, span) {
                    return Value::Function(function, span);
                }
                self.undeclared(&original_name(name), span);
                Value::Rvalue(Self::poison(span))
            }
        }
    }

    pub(super) fn size_constant(&self, value: u64, span: Span) -> Expr {
        Expr { kind: ExprKind::Int(i128::from(value)), ty: Type::Int(self.size_type()), span }
    }

    pub(super) fn size_value(&mut self, ty: &Type, span: Span) -> Expr {
        match self.size_of(ty) {
            Some(size) => self.size_constant(size, span),
            None if matches!(ty, Type::Array(..)) => {
                let size_type = Type::Int(self.size_type());
                Self::unsupported("the size of an array whose length is not constant", size_type, span)
            }
            None => {
                self.incomplete(ty, span);
                Self::poison(span)
            }
        }
    }

    fn size_of_value(&mut self, node: &'a Node<ast::Expression>, span: Span) -> Expr {
        let value = self.expr(node);
        if let Value::Lvalue(lvalue) = &value
            && self.bit_field_width(lvalue).is_some()
        {
            self.report(
                Diagnostic::error("invalid-operand", "`sizeof` does not apply to a bit-field")
                    .at(lvalue.span, "a bit-field has no size in bytes"),
            );
            return Self::poison(span);
        }
        if let Value::Rvalue(expr) = &value
            && Self::is_poison(expr)
        {
            return Self::poison(span);
        }
        let ty = self.type_of_value(&value);
        self.size_value(&ty.ty, span)
    }

    fn generic(&mut self, node: &'a Node<ast::GenericSelection>) -> Value {
        let control = self.rvalue_expr(&node.node.expression);
        let mut default = None;
        for association in &node.node.associations {
            match &association.node {
                ast::GenericAssociation::Type(choice) => {
                    let ty = self.type_name(&choice.node.type_name);
                    if self.same_type(&ty.ty, &control.ty) && ty.quals == crate::types::Qualifiers::default()
                    {
                        return self.expr(&choice.node.expression);
                    }
                }
                ast::GenericAssociation::Default(expression) => default = Some(expression),
            }
        }
        if let Some(expression) = default {
            return self.expr(expression);
        }
        let span = self.span(node.span);
        let shown = self.show(&control.ty);
        self.report(
            Diagnostic::error("no-generic-choice", format!("no choice of `_Generic` fits `{shown}`"))
                .at(control.span, format!("this is `{shown}`"))
                .help("add a `default:` choice"),
        );
        Value::Rvalue(Self::poison(span))
    }

    /// Compatible, and below the top level with the same qualifiers.
    pub(super) fn same_type(&self, a: &Type, b: &Type) -> bool {
        match (a, b) {
            (Type::Pointer(a), Type::Pointer(b)) => a.quals == b.quals && self.same_type(&a.ty, &b.ty),
            _ => self.compatible(a, b),
        }
    }

    fn member(&mut self, member: &'a ast::MemberExpression, node: &'a Node<ast::Expression>) -> Value {
        let span = self.span(node.span);
        let name = original_name(&member.identifier.node.name);
        let name_span = self.span(member.identifier.span);
        let value = self.expr(&member.expression);
        let object = match member.operator.node {
            ast::MemberOperator::Direct => match value {
                Value::Lvalue(lvalue) => lvalue,
                Value::Rvalue(expr) if Self::is_poison(&expr) => return Value::Rvalue(Self::poison(span)),
                Value::Rvalue(expr) => self.temporary(expr),
                Value::Function(_, at) => {
                    self.not_a_record(&Type::Void, at, &name);
                    return Value::Rvalue(Self::poison(span));
                }
            },
            ast::MemberOperator::Indirect => {
                let pointer = self.rvalue(value);
                if Self::is_poison(&pointer) {
                    return Value::Rvalue(Self::poison(span));
                }
                let Type::Pointer(target) = &pointer.ty else {
                    let (shown, at) = (self.show(&pointer.ty), pointer.span);
                    let diagnostic =
                        Diagnostic::error("not-a-pointer", format!("`->` needs a pointer, not `{shown}`"))
                            .at(at, format!("this is `{shown}`"));
                    let is_record = matches!(pointer.ty, Type::Record(_));
                    self.report(if is_record {
                        diagnostic.help(format!("write `.{name}`"))
                    } else {
                        diagnostic
                    });
                    return Value::Rvalue(Self::poison(span));
                };
                let ty = (**target).clone();
                pointed_object(pointer, ty)
            }
        };
        let Type::Record(record) = object.ty.ty else {
            let at = object.span;
            if let (Type::Pointer(target), ast::MemberOperator::Direct) =
                (&object.ty.ty, &member.operator.node)
                && let Type::Record(_) = target.ty
            {
                let shown = self.show(&object.ty.ty);
                self.report(
                    Diagnostic::error("not-a-record", format!("`.` needs a struct or union, not `{shown}`"))
                        .at(at, "this is a pointer")
                        .help(format!("write `->{name}`")),
                );
            } else {
                self.not_a_record(&object.ty.ty, at, &name);
            }
            return Value::Rvalue(Self::poison(span));
        };
        if self.program.records[record].fields.is_none() {
            self.incomplete(&Type::Record(record), object.span);
            return Value::Rvalue(Self::poison(span));
        }
        let Some(way) = self.find_field(record, &name) else {
            self.no_field(record, &name, name_span);
            return Value::Rvalue(Self::poison(span));
        };
        let mut lvalue = object;
        for field in way {
            let Some(ty) = self.field_type(&lvalue, field) else { break };
            lvalue = Lvalue { kind: LvalueKind::Field(Box::new(lvalue), field), ty, span };
        }
        Value::Lvalue(lvalue)
    }

    /// The type of a field, with the qualifiers of the whole.
    fn field_type(&self, object: &Lvalue, field: usize) -> Option<QualType> {
        let Type::Record(record) = object.ty.ty else { return None };
        let mut ty = self.program.records[record].fields.as_ref()?.get(field)?.ty.clone();
        ty.quals.is_const |= object.ty.quals.is_const;
        ty.quals.is_volatile |= object.ty.quals.is_volatile;
        Some(ty)
    }

    fn not_a_record(&mut self, ty: &Type, span: Span, field: &str) {
        let shown = self.show(ty);
        self.report(
            Diagnostic::error("not-a-record", format!("`{shown}` has no field `{field}`"))
                .at(span, "not a struct or union"),
        );
    }

    /// An object that holds a value, so that a part of it can be taken.
    fn temporary(&mut self, expr: Expr) -> Lvalue {
        let (ty, span) = (plain(expr.ty.clone()), expr.span);
        let variable = self.new_local(".temporary", ty.clone(), span);
        Lvalue { kind: LvalueKind::Compound(variable, Box::new(Init::Value(expr))), ty, span }
    }

    fn compound_literal(
        &mut self,
        literal: &'a ast::CompoundLiteral,
        node: &'a Node<ast::Expression>,
    ) -> Value {
        let span = self.span(node.span);
        let ty = self.type_name(&literal.type_name);
        if let Type::Function(_) | Type::Void = ty.ty {
            let shown = self.show(&ty.ty);
            self.report(
                Diagnostic::error("invalid-initializer", format!("no object has the type `{shown}`"))
                    .at(span, "an object type is needed"),
            );
            return Value::Rvalue(Self::poison(span));
        }
        let (init, complete) = self.literal_list(&ty, &literal.initializer_list, span);
        let ty = QualType { ty: complete, quals: ty.quals };
        let variable = self.new_local(".literal", ty.clone(), span);
        Value::Lvalue(Lvalue { kind: LvalueKind::Compound(variable, Box::new(init)), ty, span })
    }

    fn explicit_cast(&mut self, cast: &'a ast::CastExpression, node: &'a Node<ast::Expression>) -> Expr {
        let span = self.span(node.span);
        let ty = self.type_name(&cast.type_name).ty;
        let expr = self.rvalue_expr(&cast.expression);
        if Self::is_poison(&expr) {
            return Expr { ty, ..expr };
        }
        let scalar =
            |ty: &Type| matches!(ty, Type::Int(_) | Type::Float(_) | Type::Pointer(_) | Type::Thread);
        let allowed = match (&ty, &expr.ty) {
            (Type::Void, _) => true,
            (Type::Pointer(_), Type::Float(_)) | (Type::Float(_), Type::Pointer(_)) => false,
            (Type::Record(a), Type::Record(b)) => a == b,
            (Type::Sync(a), Type::Sync(b)) => a == b,
            (Type::Record(record), _) if self.program.records[*record].is_union => {
                return Self::unsupported("cast to a union", ty, span);
            }
            (to, from) => scalar(to) && scalar(from),
        };
        if !allowed {
            let (to, from) = (self.show(&ty), self.show(&expr.ty));
            self.report(
                Diagnostic::error("invalid-cast", format!("`{from}` cannot be cast to `{to}`"))
                    .at(span, format!("the operand is `{from}`")),
            );
            return Self::poison(span);
        }
        if expr.ty == ty && self.bit_width(&expr).is_some() {
            // What comes out has the whole type, and is promoted like it.
            return Expr { kind: ExprKind::Cast(Box::new(expr)), ty, span };
        }
        let cast = self.cast(expr, &ty);
        Expr { span, ..cast }
    }

    fn comma(&mut self, list: &'a [Node<ast::Expression>]) -> Expr {
        let mut result: Option<Expr> = None;
        for node in list {
            let expr = self.rvalue_expr(node);
            result = Some(match result {
                None => expr,
                Some(before) => {
                    let (ty, span) = (expr.ty.clone(), before.span.to(expr.span));
                    Expr { kind: ExprKind::Comma(Box::new(before), Box::new(expr)), ty, span }
                }
            });
        }
        result.unwrap_or_else(|| Self::poison(pdnet_cpp::start_of(pdnet_base::Idx::new(0))))
    }

    fn offset_of(&mut self, offset: &'a ast::OffsetOfExpression, span: Span) -> Expr {
        let mut ty = self.type_name(&offset.type_name).ty;
        let mut bits = 0u64;
        let designator = &offset.designator.node;
        if !self.offset_step(&designator.base, &mut ty, &mut bits) {
            return Self::poison(span);
        }
        for member in &designator.members {
            match &member.node {
                ast::OffsetMember::Member(name) => {
                    if !self.offset_step(name, &mut ty, &mut bits) {
                        return Self::poison(span);
                    }
                }
                ast::OffsetMember::Index(index) => {
                    let index = self.integer_constant(index, "the index in `offsetof`");
                    let (Type::Array(element, _), Some((index, _))) = (&ty, index) else {
                        return Self::poison(span);
                    };
                    let size = self.size_of(&element.ty).unwrap_or(0);
                    let index = u64::try_from(index).unwrap_or(0);
                    bits = bits.saturating_add(size.saturating_mul(8).saturating_mul(index));
                    ty = element.ty.clone();
                }
                ast::OffsetMember::IndirectMember(name) => {
                    let span = self.span(name.span);
                    return Self::unsupported("`->` in offsetof", Type::Int(self.size_type()), span);
                }
            }
        }
        self.size_constant(bits / 8, span)
    }

    fn offset_step(&mut self, name: &'a Node<ast::Identifier>, ty: &mut Type, bits: &mut u64) -> bool {
        let span = self.span(name.span);
        let text = original_name(&name.node.name);
        let Type::Record(mut record) = *ty else {
            self.not_a_record(&ty.clone(), span, &text);
            return false;
        };
        if self.program.records[record].fields.is_none() {
            self.incomplete(&Type::Record(record), span);
            return false;
        }
        let Some(way) = self.find_field(record, &text) else {
            self.no_field(record, &text, span);
            return false;
        };
        for step in way {
            let Some(field) =
                self.program.records[record].fields.as_ref().and_then(|fields| fields.get(step))
            else {
                return false;
            };
            *bits = bits.saturating_add(field.bit_offset);
            *ty = field.ty.ty.clone();
            if let Type::Record(inner) = ty {
                record = *inner;
            }
        }
        true
    }

    fn statement_expression(
        &mut self,
        statement: &'a Node<ast::Statement>,
        node: &'a Node<ast::Expression>,
    ) -> Expr {
        let span = self.span(node.span);
        if self.body.is_none() {
            return Self::unsupported("a statement in an expression outside of functions", Type::INT, span);
        }
        let mut stmts = Vec::new();
        self.push_scope();
        if let ast::Statement::Compound(items) = &statement.node {
            self.block_items(items, &mut stmts);
        }
        self.pop_scope();
        let ty = match stmts.last().map(|stmt| &stmt.kind) {
            Some(StmtKind::Expr(expr)) => expr.ty.clone(),
            _ => Type::Void,
        };
        Expr { kind: ExprKind::Statement(stmts), ty, span }
    }

    fn conditional(
        &mut self,
        node: &'a ast::ConditionalExpression,
        whole: &'a Node<ast::Expression>,
    ) -> Expr {
        let span = self.span(whole.span);
        if let ast::Expression::Identifier(name) = &node.then_expression.node
            && name.node.name == ELVIS
        {
            return self.elvis(&node.condition, &node.else_expression, span);
        }
        let condition = self.rvalue_expr(&node.condition);
        let condition = self.condition(condition);
        let yes = self.rvalue_expr(&node.then_expression);
        let no = self.rvalue_expr(&node.else_expression);
        self.choose(condition, yes, no, span)
    }

    /// `c ? a : b` from its three values.
    fn choose(&mut self, condition: Expr, yes: Expr, no: Expr, span: Span) -> Expr {
        let arithmetic = |ty: &Type| matches!(ty, Type::Int(_) | Type::Float(_) | Type::Thread);
        if Self::is_poison(&yes) || Self::is_poison(&no) || Self::is_poison(&condition) {
            return Self::poison(span);
        }
        let (yes, no, ty) = if yes.ty == Type::Thread && no.ty == Type::Thread {
            (yes, no, Type::Thread)
        } else if arithmetic(&yes.ty) && arithmetic(&no.ty) {
            self.balance(yes, no)
        } else if yes.ty == Type::Void || no.ty == Type::Void {
            (self.cast(yes, &Type::Void), self.cast(no, &Type::Void), Type::Void)
        } else {
            let ty = match (&yes.ty, &no.ty) {
                (a, b) if a == b => a.clone(),
                (Type::Pointer(_), _) if self.is_null(&no) => yes.ty.clone(),
                (_, Type::Pointer(_)) if self.is_null(&yes) => no.ty.clone(),
                (Type::Pointer(a), Type::Pointer(b)) => {
                    let mut target = if a.ty == Type::Void { (**a).clone() } else { (**b).clone() };
                    if b.ty != Type::Void && a.ty != Type::Void && !self.compatible(&a.ty, &b.ty) {
                        let (left, right) = (self.show(&yes.ty), self.show(&no.ty));
                        self.report(
                            Diagnostic::warning(
                                "incompatible-pointers",
                                "the two values have different pointer types",
                            )
                            .at(span, format!("`{left}` and `{right}`")),
                        );
                        target = plain(Type::Void);
                    }
                    target.quals.is_const |= a.quals.is_const || b.quals.is_const;
                    target.quals.is_volatile |= a.quals.is_volatile || b.quals.is_volatile;
                    pointer_to(target)
                }
                (Type::Pointer(_), Type::Int(_)) => yes.ty.clone(),
                (Type::Int(_), Type::Pointer(_)) => no.ty.clone(),
                (left, right) => {
                    let (left, right) = (self.show(left), self.show(right));
                    self.report(
                        Diagnostic::error("incompatible-types", "the two values of `?:` have no common type")
                            .at(yes.span, format!("this is `{left}`"))
                            .at(no.span, format!("this is `{right}`")),
                    );
                    return Self::poison(span);
                }
            };
            (self.cast(yes, &ty), self.cast(no, &ty), ty)
        };
        Expr { kind: ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no)), ty, span }
    }

    /// `a ?: b`: the value of `a` is kept, so that it is computed once.
    fn elvis(
        &mut self,
        condition: &'a Node<ast::Expression>,
        otherwise: &'a Node<ast::Expression>,
        span: Span,
    ) -> Expr {
        let value = self.rvalue_expr(condition);
        let value = self.condition(value);
        let no = self.rvalue_expr(otherwise);
        if self.fold_strict(&value).is_some() || self.body.is_none() {
            return self.choose(value.clone(), value, no, span);
        }
        let ty = plain(value.ty.clone());
        let at = value.span;
        let variable = self.new_local(".value", ty.clone(), at);
        let read = || {
            let lvalue = Lvalue { kind: LvalueKind::Variable(variable), ty: ty.clone(), span: at };
            Expr { kind: ExprKind::Load(Box::new(lvalue)), ty: ty.ty.clone(), span: at }
        };
        let chosen = self.choose(read(), read(), no, span);
        let ty = chosen.ty.clone();
        let stmts = vec![
            Stmt { kind: StmtKind::Declare(variable, Some(Init::Value(value))), span: at },
            Stmt { kind: StmtKind::Expr(chosen), span },
        ];
        Expr { kind: ExprKind::Statement(stmts), ty, span }
    }

    /// The integer type of a value that must be an integer.
    pub(super) fn integer_kind(expr: &Expr) -> Option<IntKind> {
        match expr.ty {
            Type::Int(kind) => Some(kind),
            Type::Void
            | Type::Thread
            | Type::Float(_)
            | Type::Pointer(_)
            | Type::Array(..)
            | Type::Record(_)
            | Type::Function(_)
            | Type::Sync(_) => None,
        }
    }
}
