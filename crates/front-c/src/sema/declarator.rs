//! Declarators: from `*a[3]` and a base type to a name and its type.

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::Diagnostic;

use super::scope::Entity;
use super::specifiers::{add_qualifier, of_declaration};
use super::{Sema, plain, pointer_to};
use crate::types::{FunctionType, QualType, Qualifiers, Type};

/// Arrays and structs of more bytes than this cannot be meant.
const SIZE_LIMIT: u64 = 1 << 40;

/// What a declarator declares.
pub(super) struct Declared<'a> {
    /// The name; none in a type name.
    pub(super) name: Option<&'a Node<ast::Identifier>>,
    /// The type.
    pub(super) ty: QualType,
    /// The parameters, where a function is declared.
    pub(super) params: Option<Params<'a>>,
}

/// The parameters of a function declarator.
#[derive(Clone)]
pub(super) enum Params<'a> {
    /// With types.
    Prototype(Vec<(Option<&'a Node<ast::Identifier>>, QualType)>),
    /// Only names, as in old C; empty for `()`.
    Names(&'a [Node<ast::Identifier>]),
}

impl<'a> Sema<'a> {
    /// Applies a declarator to a base type.
    pub(super) fn declared(&mut self, base: QualType, node: &'a Node<ast::Declarator>) -> Declared<'a> {
        self.nested(
            node.span,
            |_, _| Declared { name: None, ty: plain(Type::INT), params: None },
            |sema| sema.declared_inner(base, &node.node),
        )
    }

    fn declared_inner(&mut self, base: QualType, declarator: &'a ast::Declarator) -> Declared<'a> {
        let mut ty = base;
        let is_pointer = |derived: &ast::DerivedDeclarator| {
            matches!(derived, ast::DerivedDeclarator::Pointer(_) | ast::DerivedDeclarator::Block(_))
        };
        let n_pointers = declarator.derived.iter().take_while(|derived| is_pointer(&derived.node)).count();
        let (pointers, suffixes) = declarator.derived.split_at(n_pointers);
        for pointer in pointers {
            ty = pointer_type(ty, &pointer.node);
        }
        let mut params = None;
        for (position, suffix) in suffixes.iter().enumerate().rev() {
            match &suffix.node {
                ast::DerivedDeclarator::Pointer(_) | ast::DerivedDeclarator::Block(_) => {
                    ty = pointer_type(ty, &suffix.node);
                }
                ast::DerivedDeclarator::Array(array) => ty = self.array_type(ty, array),
                ast::DerivedDeclarator::Function(function) => {
                    let (function_type, list) = self.function_declarator(ty, &function.node);
                    ty = plain(Type::Function(Box::new(function_type)));
                    if position == 0 {
                        params = Some(list);
                    }
                }
                ast::DerivedDeclarator::KRFunction(names) => {
                    let function_type = FunctionType { result: ty, params: Vec::new(), variadic: true };
                    ty = plain(Type::Function(Box::new(function_type)));
                    if position == 0 {
                        params = Some(Params::Names(names));
                    }
                }
            }
        }
        match &declarator.kind.node {
            ast::DeclaratorKind::Abstract => Declared { name: None, ty, params },
            ast::DeclaratorKind::Identifier(name) => Declared { name: Some(name), ty, params },
            ast::DeclaratorKind::Declarator(inner) => {
                let declared = self.declared(ty, inner);
                // `int (f)(void)`: the parentheses change nothing.
                let params = if inner.node.derived.is_empty() { params } else { declared.params };
                Declared { params, ..declared }
            }
        }
    }

    fn array_type(&mut self, element: QualType, array: &'a Node<ast::ArrayDeclarator>) -> QualType {
        if let Type::Function(_) | Type::Void = element.ty {
            let span = self.span(array.span);
            let shown = self.show(&element.ty);
            self.report(
                Diagnostic::error("invalid-array", format!("there are no arrays of `{shown}`"))
                    .at(span, "an object type is needed"),
            );
            return plain(Type::INT);
        }
        let size = match &array.node.size {
            ast::ArraySize::Unknown | ast::ArraySize::VariableUnknown => None,
            ast::ArraySize::VariableExpression(size) | ast::ArraySize::StaticExpression(size) => {
                self.array_size(size, &element)
            }
        };
        plain(Type::Array(Box::new(element), size))
    }

    /// The number of elements; `None` where it is only known when the program runs.
    fn array_size(&mut self, node: &'a Node<ast::Expression>, element: &QualType) -> Option<u64> {
        let expr = if self.in_prototype {
            // It may use parameters, which mean nothing outside of calls, and does not matter in the end.
            self.quietly(|sema| sema.rvalue_expr(node))?
        } else {
            self.rvalue_expr(node)
        };
        let span = expr.span;
        if Self::is_poison(&expr) {
            return Some(1);
        }
        if !matches!(expr.ty, Type::Int(_)) {
            let shown = self.show(&expr.ty);
            self.report(
                Diagnostic::error("invalid-array", format!("the size of an array cannot be `{shown}`"))
                    .at(span, "an integer is needed"),
            );
            return Some(1);
        }
        let folded = self.fold(&expr);
        if !self.in_prototype {
            self.lengths.push(expr);
        }
        let Some(value) = folded else {
            if self.in_file_scope() {
                self.not_constant(span, "the size of an array outside of functions");
            }
            return None;
        };
        let bytes = self.size_of(&element.ty).unwrap_or(1).max(1);
        match u64::try_from(value) {
            Ok(n) if n.checked_mul(bytes).is_some_and(|total| total <= SIZE_LIMIT) => Some(n),
            Ok(n) => {
                self.report(
                    Diagnostic::error("invalid-array", format!("an array of {n} elements is too large"))
                        .at(span, "more than 1 TiB"),
                );
                Some(1)
            }
            Err(_) => {
                self.report(
                    Diagnostic::error("invalid-array", format!("the size of an array cannot be {value}"))
                        .at(span, "negative"),
                );
                Some(1)
            }
        }
    }

    fn function_declarator(
        &mut self,
        result: QualType,
        function: &'a ast::FunctionDeclarator,
    ) -> (FunctionType, Params<'a>) {
        let ellipsis = function.ellipsis == ast::Ellipsis::Some;
        if function.parameters.is_empty() {
            let ty = FunctionType { result, params: Vec::new(), variadic: true };
            return (ty, Params::Prototype(Vec::new()));
        }
        let mut list = Vec::new();
        self.push_scope();
        let outside = std::mem::replace(&mut self.in_prototype, true);
        for parameter in &function.parameters {
            let (name, ty) = self.parameter(parameter);
            if let Some(name) = name {
                // Hides what the name means outside: the parameter is no constant.
                self.declare(&name.node.name, Entity::Typedef(ty.clone()));
            }
            list.push((name, ty));
        }
        self.in_prototype = outside;
        self.pop_scope();
        if let [(None, only)] = list.as_slice()
            && only.ty == Type::Void
        {
            list.clear();
        }
        let params = list.iter().map(|(_, ty)| ty.clone()).collect();
        (FunctionType { result, params, variadic: ellipsis }, Params::Prototype(list))
    }

    fn parameter(
        &mut self,
        node: &'a Node<ast::ParameterDeclaration>,
    ) -> (Option<&'a Node<ast::Identifier>>, QualType) {
        let specs = of_declaration(&node.node.specifiers);
        let base = self.base_type(&specs, node.span);
        let Some(declarator) = &node.node.declarator else { return (None, base) };
        let declared = self.declared(base, declarator);
        (declared.name, adjust_parameter(declared.ty))
    }
}

/// Arrays and functions as parameters are pointers (C11 6.7.6.3p7).
pub(super) fn adjust_parameter(ty: QualType) -> QualType {
    match ty.ty {
        Type::Array(element, _) => plain(Type::Pointer(element)),
        Type::Function(_) => plain(pointer_to(ty)),
        Type::Void
        | Type::Int(_)
        | Type::Thread
        | Type::Float(_)
        | Type::Pointer(_)
        | Type::Record(_)
        | Type::Sync(_) => ty,
    }
}

fn pointer_type(target: QualType, derived: &ast::DerivedDeclarator) -> QualType {
    let mut quals = Qualifiers::default();
    if let ast::DerivedDeclarator::Pointer(list) = derived {
        for qualifier in list {
            if let ast::PointerQualifier::TypeQualifier(qualifier) = &qualifier.node {
                add_qualifier(&mut quals, &qualifier.node);
            }
        }
    }
    QualType { ty: pointer_to(target), quals }
}
