//! Calls (C11 6.5.2.2).

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::{Diagnostic, Span};

use super::scope::Entity;
use super::{Sema, Value, plain};
use crate::headers::header_of;
use crate::prepass::original_name;
use crate::tree::{Callee, Expr, ExprKind, Function, Linkage, Lvalue, LvalueKind, Storage, VariableData};
use crate::types::{FunctionType, Type};

impl<'a> Sema<'a> {
    pub(super) fn call(&mut self, call: &'a ast::CallExpression, node: &'a Node<ast::Expression>) -> Expr {
        let span = self.span(node.span);
        if let ast::Expression::Identifier(name) = &call.callee.node
            && self.lookup(&name.node.name).is_none()
        {
            let callee_span = self.span(name.span);
            if let Some(expr) = self.builtin_call(&name.node.name, call, callee_span, span) {
                return expr;
            }
            let function = match self.library_function(&name.node.name, callee_span) {
                Some(function) => function,
                None => self.implicit_function(&name.node.name, callee_span),
            };
            return self.call_function(function, call, span);
        }
        let callee = self.expr(&call.callee);
        if let Value::Function(function, _) = callee {
            return self.call_function(function, call, span);
        }
        let callee = self.rvalue(callee);
        if let ExprKind::FunctionRef(function) = callee.kind {
            // `(&f)(x)` and `(*f)(x)` call `f`.
            return self.call_function(function, call, span);
        }
        if Self::is_poison(&callee) {
            self.arguments_for_nothing(call);
            return Self::poison(span);
        }
        let function_type = match &callee.ty {
            Type::Pointer(target) => match &target.ty {
                Type::Function(ty) => Some((**ty).clone()),
                _ => None,
            },
            _ => None,
        };
        let Some(ty) = function_type else {
            let shown = self.show(&callee.ty);
            self.report(
                Diagnostic::error("not-a-function", format!("`{shown}` is called, but it is not a function"))
                    .at(callee.span, format!("this is `{shown}`")),
            );
            self.arguments_for_nothing(call);
            return Self::poison(span);
        };
        let args = self.arguments(&ty, None, call, span);
        Expr { kind: ExprKind::Call(Callee::Indirect(Box::new(callee)), args), ty: ty.result.ty, span }
    }

    fn call_function(&mut self, function: Function, call: &'a ast::CallExpression, span: Span) -> Expr {
        if self.program.functions[function].name == "__errno_location" && call.arguments.is_empty() {
            return self.errno(function, span);
        }
        self.mark_used(function);
        let Type::Function(ty) = self.function_type(function) else { return Self::poison(span) };
        let args = self.arguments(&ty, Some(function), call, span);
        Expr { kind: ExprKind::Call(Callee::Direct(function), args), ty: ty.result.ty, span }
    }

    /// The address of `errno`, which is what the C library makes of the name.
    fn errno(&mut self, function: Function, span: Span) -> Expr {
        let declared = self.program.functions[function].span;
        let variable = match self.program.errno {
            Some(variable) => variable,
            None => self.program.variables.push(VariableData {
                name: "errno".to_owned(),
                ty: plain(Type::INT),
                storage: Storage::ThreadLocal,
                span: declared,
                init: None,
                extern_only: false,
                linkage: Linkage::External,
                lengths: Vec::new(),
            }),
        };
        self.program.errno = Some(variable);
        let object = Lvalue { kind: LvalueKind::Variable(variable), ty: plain(Type::INT), span };
        let ty = Type::Pointer(Box::new(plain(Type::INT)));
        Expr { kind: ExprKind::AddressOf(Box::new(object)), ty, span }
    }

    /// Checks arguments whose callee is wrong, for the mistakes in them.
    fn arguments_for_nothing(&mut self, call: &'a ast::CallExpression) {
        for argument in &call.arguments {
            self.rvalue_expr(argument);
        }
    }

    fn arguments(
        &mut self,
        ty: &FunctionType,
        function: Option<Function>,
        call: &'a ast::CallExpression,
        span: Span,
    ) -> Vec<Expr> {
        let name = function.map(|function| self.program.functions[function].name.clone());
        let shown = name.as_deref().map_or("the function".to_owned(), |name| format!("`{name}`"));
        let (given, wanted) = (call.arguments.len(), ty.params.len());
        if given < wanted || (given > wanted && !ty.variadic) {
            let diagnostic = Diagnostic::error(
                "wrong-argument-count",
                format!(
                    "{shown} takes {}{}, not {given}",
                    if ty.variadic { "at least " } else { "" },
                    plural(wanted)
                ),
            );
            let diagnostic = match call.arguments.get(wanted) {
                Some(extra) if given > wanted => {
                    let at = self.span(extra.span);
                    diagnostic.at(at, "one too many")
                }
                _ => diagnostic.at(span, "arguments are missing"),
            };
            let place = function.map(|function| self.program.functions[function].span);
            self.report(match place {
                Some(place) if place != span => diagnostic.context(place, "declared here"),
                _ => diagnostic,
            });
        }
        let mut args = Vec::with_capacity(given);
        for (position, node) in call.arguments.iter().enumerate() {
            let expr = self.rvalue_expr(node);
            args.push(match ty.params.get(position) {
                Some(param) => {
                    let what = format!("argument {} of {shown}", position + 1);
                    self.assign_convert(expr, &param.ty, &what)
                }
                None => {
                    if expr.ty == Type::Void && !Self::is_poison(&expr) {
                        self.report(
                            Diagnostic::error("incompatible-types", "`void` is no value")
                                .at(expr.span, "nothing to pass"),
                        );
                    }
                    self.promote_argument(expr)
                }
            });
        }
        args
    }

    /// A function that was never declared: `int f()`, as in old C.
    fn implicit_function(&mut self, name: &str, span: Span) -> Function {
        let ty = FunctionType { result: plain(Type::INT), params: Vec::new(), variadic: true };
        let function = self.new_function(name, &ty, span, false);
        if let Some(signature) = self.signatures.get_mut(&function) {
            signature.implicit = true;
        }
        self.declare_global_name(name, Entity::Function(function));
        let shown = original_name(name);
        let names: Vec<String> = self
            .program
            .functions
            .iter_enumerated()
            .filter(|(other, _)| *other != function)
            .map(|(_, data)| data.name.clone())
            .filter(|other| !other.starts_with("__") || shown.starts_with("__"))
            .collect();
        let near = pdnet_source::nearest_name(&shown, names.iter().map(String::as_str));
        let diagnostic =
            Diagnostic::warning("implicit-declaration", format!("the function `{shown}` is not declared"))
                .at(span, format!("taken as `int {shown}()`"));
        let diagnostic = match (header_of(&shown), near) {
            (Some(header), _) => diagnostic.help(format!("include <{header}>")),
            (None, Some(near)) => diagnostic.help(format!("did you mean `{near}`?")),
            (None, None) => diagnostic.help("include the header that declares it, or declare it"),
        };
        self.report(diagnostic);
        function
    }
}

fn plural(n: usize) -> String {
    match n {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}
