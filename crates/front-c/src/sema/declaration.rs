//! Declarations: typedefs, variables, functions; redeclarations are merged (C11 6.7, 6.9).

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::{Diagnostic, Span};

use super::declarator::{Declared, Params, adjust_parameter};
use super::scope::Entity;
use super::specifiers::{Spec, of_declaration};
use super::stmt::BodyContext;
use super::{Sema, plain};
use crate::prepass::{AUTO_TYPE, original_name};
use crate::tree::{
    Body, Expr, Function, FunctionData, Init, Linkage, Stmt, StmtKind, Storage, Variable, VariableData,
};
use crate::types::{IntKind, QualType, SyncKind, Type};

/// What is known of a function beyond the tree.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    /// It was declared with the types of its parameters.
    pub(super) has_prototype: bool,
    /// It was only called so far, never declared.
    pub(super) implicit: bool,
    /// Where it is defined.
    pub(super) defined: Option<Span>,
}

/// Storage class and the like.
#[derive(Clone, Copy, Debug, Default)]
struct StorageWords {
    is_typedef: bool,
    is_extern: bool,
    is_static: bool,
    is_thread_local: bool,
    is_inline: bool,
}

impl<'a> Sema<'a> {
    /// Anything at file scope.
    pub(super) fn external(&mut self, node: &'a Node<ast::ExternalDeclaration>) {
        match &node.node {
            ast::ExternalDeclaration::Declaration(declaration) => {
                let mut stmts = Vec::new();
                self.declaration(declaration, &mut stmts);
            }
            ast::ExternalDeclaration::StaticAssert(assertion) => self.static_assert(assertion),
            ast::ExternalDeclaration::FunctionDefinition(definition) => self.definition(definition),
        }
    }

    pub(super) fn static_assert(&mut self, node: &'a Node<ast::StaticAssert>) {
        let what = "the condition of a static assertion";
        let Some((value, expr)) = self.integer_constant(&node.node.expression, what) else { return };
        if value == 0 {
            let text = super::literal::string_bytes(&node.node.message.node).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let message = if text.is_empty() {
                "static assertion failed".to_owned()
            } else {
                format!("static assertion failed: {text}")
            };
            self.report(Diagnostic::error("static-assertion", message).at(expr.span, "this is 0"));
        }
    }

    /// A declaration in any scope; what a local one does at run time is appended.
    pub(super) fn declaration(&mut self, node: &'a Node<ast::Declaration>, stmts: &mut Vec<Stmt>) {
        let words = storage_words(&node.node.specifiers);
        let specs = of_declaration(&node.node.specifiers);
        let is_auto = specs.iter().any(|spec| match spec {
            Spec::Type(node) => {
                matches!(&node.node, ast::TypeSpecifier::TypedefName(name) if name.node.name == AUTO_TYPE)
            }
            Spec::Qualifier(_) => false,
        });
        let (first, last) = self.tokens(node.span);
        self.refuse_attributes(first, last);
        if is_auto && !words.is_typedef {
            self.auto_declaration(node, stmts);
            return;
        }
        let base = self.base_type(&specs, node.span);
        for init_declarator in &node.node.declarators {
            self.lengths.clear();
            let mut declared = self.declared(base.clone(), &init_declarator.node.declarator);
            let Some(name) = declared.name else { continue };
            self.apply_mode(node, &mut declared.ty);
            let span = self.span(name.span);
            if words.is_typedef {
                let in_header = self.in_system_header(node.span);
                self.typedef(&name.node.name, declared.ty, span, in_header);
            } else if let Type::Function(_) = declared.ty.ty {
                let function = self.declare_function(&declared, span);
                if words.is_static {
                    self.program.functions[function].linkage = Linkage::Internal;
                }
                if let Some(init) = &init_declarator.node.initializer {
                    let span = self.span(init.span);
                    self.report(
                        Diagnostic::error("invalid-initializer", "a function cannot have an initializer")
                            .at(span, "not allowed here"),
                    );
                }
            } else {
                let init = init_declarator.node.initializer.as_ref();
                self.variable(&name.node.name, declared.ty, words, span, init, stmts);
            }
        }
    }

    /// Attributes that change the meaning in a way that we do not model.
    fn refuse_attributes(&mut self, first: usize, last: usize) {
        let source = self.prepared.sources.get(first).copied().unwrap_or(usize::MAX);
        if self.positions.in_system_header(source) {
            return;
        }
        for attribute in self.prepared.attributes_between(first, last) {
            if matches!(
                attribute.name.as_str(),
                "cleanup" | "constructor" | "destructor" | "vector_size" | "alias"
            ) {
                let span =
                    self.token_range(attribute.before.saturating_sub(1), attribute.before.saturating_sub(1));
                self.report(
                    Diagnostic::error(
                        "unsupported-attribute",
                        format!("the attribute `{}` is not supported", attribute.name),
                    )
                    .at(span, "it follows this"),
                );
            }
        }
    }

    /// `__attribute__((mode(DI)))`.
    fn apply_mode(&self, node: &Node<ast::Declaration>, ty: &mut QualType) {
        let Type::Int(kind) = ty.ty else { return };
        let (first, last) = self.tokens(node.span);
        let attributes = self.prepared.attributes_between(first, last);
        let Some(mode) = attributes.iter().find(|attribute| attribute.name == "mode") else { return };
        let signed = match mode.args.trim_matches('_') {
            "QI" | "byte" => IntKind::SignedChar,
            "HI" => IntKind::Short,
            "SI" => IntKind::Int,
            "DI" => IntKind::LongLong,
            "TI" => IntKind::Int128,
            "word" | "pointer" => IntKind::Long,
            _ => return,
        };
        ty.ty = Type::Int(if kind.is_signed() { signed } else { signed.to_unsigned() });
    }

    /// `__auto_type x = e`.
    fn auto_declaration(&mut self, node: &'a Node<ast::Declaration>, stmts: &mut Vec<Stmt>) {
        for init_declarator in &node.node.declarators {
            let declared = self.declared(plain(Type::INT), &init_declarator.node.declarator);
            let Some(name) = declared.name else { continue };
            let span = self.span(name.span);
            let Some(ast::Initializer::Expression(init)) =
                init_declarator.node.initializer.as_ref().map(|init| &init.node)
            else {
                self.report(
                    Diagnostic::error("invalid-initializer", "`__auto_type` needs a value")
                        .at(span, "no value here"),
                );
                continue;
            };
            let expr = self.rvalue_expr(init);
            let variable = self.new_local(&name.node.name, plain(expr.ty.clone()), span);
            self.declare(&name.node.name, Entity::Variable(variable));
            stmts.push(Stmt { kind: StmtKind::Declare(variable, Some(Init::Value(expr))), span });
        }
    }

    fn typedef(&mut self, name: &str, ty: QualType, span: Span, in_header: bool) {
        if name == AUTO_TYPE {
            return;
        }
        let library = if self.in_file_scope() { library_type(name, in_header) } else { None };
        let ty = library.clone().map_or(ty, plain);
        match self.lookup_here(name) {
            Some(Entity::Typedef(known)) => {
                let known = known.ty.clone();
                if library.is_none() && !self.compatible(&known, &ty.ty) {
                    let (old, new) = (self.show(&known), self.show(&ty.ty));
                    let name = original_name(name);
                    self.report(
                        Diagnostic::error("conflicting-types", format!("the type `{name}` is defined twice"))
                            .at(span, format!("`{new}` here, `{old}` before")),
                    );
                }
            }
            Some(Entity::Variable(_) | Entity::Function(_) | Entity::Enumerator(..)) => {
                self.redeclared(name, span)
            }
            None => {}
        }
        self.declare(name, Entity::Typedef(ty));
    }

    fn redeclared(&mut self, name: &str, span: Span) {
        let before = match self.lookup_here(name) {
            Some(Entity::Variable(variable)) => Some(self.program.variables[*variable].span),
            Some(Entity::Function(function)) => Some(self.program.functions[*function].span),
            Some(Entity::Typedef(_) | Entity::Enumerator(..)) | None => None,
        };
        let name = original_name(name);
        let diagnostic = Diagnostic::error("redefined", format!("`{name}` is declared twice in this scope"))
            .at(span, "second declaration");
        self.report(match before {
            Some(before) => diagnostic.context(before, "first declaration"),
            None => diagnostic,
        });
    }

    fn variable(
        &mut self,
        name: &str,
        ty: QualType,
        words: StorageWords,
        span: Span,
        init: Option<&'a Node<ast::Initializer>>,
        stmts: &mut Vec<Stmt>,
    ) {
        if ty.ty == Type::Void {
            let shown = original_name(name);
            self.report(
                Diagnostic::error("incomplete-type", format!("the variable `{shown}` cannot be `void`"))
                    .at(span, "no value has this type"),
            );
            return;
        }
        if self.in_file_scope() || (words.is_extern && init.is_none()) {
            let variable = self.global(name, ty, words, span, init.is_some());
            if !self.in_file_scope() {
                self.declare(name, Entity::Variable(variable));
            }
            if let Some(init) = init {
                self.static_init(variable, init);
            }
            return;
        }
        if self.lookup_here(name).is_some() {
            self.redeclared(name, span);
        }
        let lengths = self.variable_lengths(&ty.ty);
        let variable = self.new_local(name, ty, span);
        self.program.variables[variable].lengths = lengths;
        self.declare(name, Entity::Variable(variable));
        if words.is_static || words.is_thread_local {
            let function = self.current_function();
            self.program.variables[variable].storage =
                if words.is_thread_local { Storage::ThreadLocal } else { Storage::Static(function) };
            if let Some(init) = init {
                self.static_init(variable, init);
            }
            self.complete(variable);
            return;
        }
        let init = init.map(|init| self.local_init(variable, init));
        self.complete(variable);
        stmts.push(Stmt { kind: StmtKind::Declare(variable, init), span });
    }

    /// Checks that the type of a variable is complete by now; arrays whose length is only known at run
    /// time are left to the lowering.
    fn complete(&mut self, variable: Variable) {
        let data = &self.program.variables[variable];
        let (ty, span) = (data.ty.ty.clone(), data.span);
        if let Type::Record(record) = ty
            && self.program.records[record].fields.is_none()
        {
            self.incomplete(&ty, span);
        }
    }

    /// The sizes that the declarator has just given for an array, when one of them is only known at run time.
    fn variable_lengths(&mut self, ty: &Type) -> Vec<Expr> {
        let mut lengths = std::mem::take(&mut self.lengths);
        let (mut n_dimensions, mut is_variable, mut ty) = (0, false, ty);
        while let Type::Array(element, length) = ty {
            n_dimensions += 1;
            is_variable |= length.is_none();
            ty = &element.ty;
        }
        lengths.reverse();
        // Other counts: the type has a name, or its length comes from the initialiser.
        if is_variable && lengths.len() == n_dimensions { lengths } else { Vec::new() }
    }

    pub(super) fn new_local(&mut self, name: &str, ty: QualType, span: Span) -> Variable {
        let storage = match &self.body {
            Some(body) => Storage::Local(body.function),
            None => Storage::Global,
        };
        let name = original_name(name);
        self.program.variables.push(VariableData {
            name,
            ty,
            storage,
            span,
            init: None,
            extern_only: false,
            linkage: Linkage::None,
            lengths: Vec::new(),
        })
    }

    fn current_function(&self) -> Function {
        self.body.as_ref().map_or(self.program.main, |body| body.function)
    }

    /// A variable of file scope, new or declared before.
    fn global(
        &mut self,
        name: &str,
        ty: QualType,
        words: StorageWords,
        span: Span,
        has_init: bool,
    ) -> Variable {
        let defines = has_init || !words.is_extern;
        match self.scopes[0].names.get(name).cloned() {
            Some(Entity::Variable(variable)) => {
                let known = self.program.variables[variable].ty.clone();
                if !self.compatible(&known.ty, &ty.ty) {
                    self.conflict(name, &known.ty, &ty.ty, self.program.variables[variable].span, span);
                }
                let twice = has_init && self.program.variables[variable].init.is_some();
                let data = &mut self.program.variables[variable];
                let before = data.span;
                if let (Type::Array(_, None), Type::Array(_, Some(_))) = (&known.ty, &ty.ty) {
                    data.ty = ty;
                }
                if defines {
                    if data.extern_only {
                        data.span = span;
                    }
                    data.extern_only = false;
                }
                if words.is_thread_local {
                    data.storage = Storage::ThreadLocal;
                }
                if words.is_static {
                    data.linkage = Linkage::Internal;
                }
                if twice {
                    let name = original_name(name);
                    self.report(
                        Diagnostic::error("redefined", format!("`{name}` has two initializers"))
                            .at(span, "second definition")
                            .context(before, "first definition"),
                    );
                }
                variable
            }
            Some(Entity::Function(function)) => {
                let before = self.program.functions[function].span;
                let known = self.function_type(function);
                self.conflict(name, &known, &ty.ty, before, span);
                self.new_global(name, ty, words, span, !defines)
            }
            Some(Entity::Typedef(_) | Entity::Enumerator(..)) => {
                if self.in_file_scope() {
                    self.redeclared(name, span);
                }
                self.new_global(name, ty, words, span, !defines)
            }
            None => {
                let variable = self.new_global(name, ty, words, span, !defines);
                self.declare_global_name(name, Entity::Variable(variable));
                variable
            }
        }
    }

    fn new_global(
        &mut self,
        name: &str,
        ty: QualType,
        words: StorageWords,
        span: Span,
        extern_only: bool,
    ) -> Variable {
        let storage = if words.is_thread_local { Storage::ThreadLocal } else { Storage::Global };
        let name = original_name(name);
        let linkage = if words.is_static { Linkage::Internal } else { Linkage::External };
        self.program.variables.push(VariableData {
            name,
            ty,
            storage,
            span,
            init: None,
            extern_only,
            linkage,
            lengths: Vec::new(),
        })
    }

    fn conflict(&mut self, name: &str, old: &Type, new: &Type, before: Span, span: Span) {
        let (old, new) = (self.show(old), self.show(new));
        let name = original_name(name);
        self.report(
            Diagnostic::error("conflicting-types", format!("`{name}` is declared with two types"))
                .at(span, format!("`{new}` here"))
                .context(before, format!("`{old}` here")),
        );
    }

    /// Declares a function, or merges with an earlier declaration.
    pub(super) fn declare_function(&mut self, declared: &Declared<'a>, span: Span) -> Function {
        let name = declared.name.map_or("", |name| name.node.name.as_str());
        let Type::Function(ty) = &declared.ty.ty else { return self.program.main };
        let has_prototype = !(ty.variadic && ty.params.is_empty());
        if let Some(Entity::Function(function)) = self.scopes[0].names.get(name).cloned() {
            let known = self.function_type(function);
            if !self.compatible(&known, &declared.ty.ty) {
                let before = self.program.functions[function].span;
                // What a call has assumed gives way to the declaration.
                let implicit = self.signatures.get(&function).is_some_and(|known| known.implicit);
                if !implicit {
                    self.conflict(name, &known, &declared.ty.ty, before, span);
                }
            }
            let data = &mut self.program.functions[function];
            let known = self.signatures.get_mut(&function);
            let implicit = known.as_ref().is_some_and(|known| known.implicit);
            if has_prototype || implicit {
                data.result = ty.result.clone();
                data.param_types = ty.params.clone();
                data.variadic = ty.variadic;
            }
            if implicit {
                data.span = span;
            }
            if let Some(known) = known {
                known.has_prototype |= has_prototype;
                known.implicit = false;
            }
            if !self.in_file_scope() {
                self.declare(name, Entity::Function(function));
            }
            return function;
        }
        match self.scopes[0].names.get(name) {
            Some(Entity::Variable(variable)) => {
                let data = &self.program.variables[*variable];
                let (known, before) = (data.ty.ty.clone(), data.span);
                self.conflict(name, &known, &declared.ty.ty, before, span);
            }
            Some(Entity::Typedef(_) | Entity::Enumerator(..)) if self.in_file_scope() => {
                self.redeclared(name, span)
            }
            Some(_) | None => {}
        }
        let function = self.new_function(name, ty, span, has_prototype);
        self.declare_global_name(name, Entity::Function(function));
        if !self.in_file_scope() {
            self.declare(name, Entity::Function(function));
        }
        function
    }

    pub(super) fn new_function(
        &mut self,
        name: &str,
        ty: &crate::types::FunctionType,
        span: Span,
        has_prototype: bool,
    ) -> Function {
        let function = self.program.functions.push(FunctionData {
            name: original_name(name),
            result: ty.result.clone(),
            param_types: ty.params.clone(),
            params: Vec::new(),
            variadic: ty.variadic,
            span,
            linkage: Linkage::External,
            body: None,
        });
        self.signatures.insert(function, Signature { has_prototype, implicit: false, defined: None });
        function
    }

    fn definition(&mut self, node: &'a Node<ast::FunctionDefinition>) {
        let specs = of_declaration(&node.node.specifiers);
        let base = self.base_type(&specs, node.span);
        let declared = self.declared(base, &node.node.declarator);
        let Some(name) = declared.name else { return };
        let span = self.span(name.span);
        let Type::Function(_) = &declared.ty.ty else {
            self.report(
                Diagnostic::error("invalid-function", "this is not a function")
                    .at(span, "a body follows, but no parameters"),
            );
            return;
        };
        let (first, _) = self.tokens(node.span);
        let (body, _) = self.tokens(node.node.statement.span);
        self.refuse_attributes(first, body);
        let function = self.declare_function(&declared, span);
        let before = self.signatures.get(&function).and_then(|signature| signature.defined);
        if let Some(before) = before {
            let name = original_name(&name.node.name);
            self.report(
                Diagnostic::error("redefined", format!("the function `{name}` is defined twice"))
                    .at(span, "second definition")
                    .context(before, "first definition"),
            );
            return;
        }
        if let Some(signature) = self.signatures.get_mut(&function) {
            signature.defined = Some(span);
        }
        let in_header = self.in_system_header(node.span);
        let words = storage_words(&node.node.specifiers);
        let data = &mut self.program.functions[function];
        data.span = span;
        if words.is_static {
            data.linkage = Linkage::Internal;
        } else if data.linkage == Linkage::External && (in_header || (words.is_inline && !words.is_extern)) {
            data.linkage = Linkage::Inline;
        }
        if in_header {
            self.pending.insert(function, node);
        } else {
            self.define_body_with(function, node, &declared);
        }
    }

    /// Checks the body of a function whose definition was put aside.
    pub(super) fn define_body(&mut self, function: Function, node: &'a Node<ast::FunctionDefinition>) {
        let specs = of_declaration(&node.node.specifiers);
        let base = self.base_type(&specs, node.span);
        let declared = self.declared(base, &node.node.declarator);
        self.define_body_with(function, node, &declared);
    }

    fn define_body_with(
        &mut self,
        function: Function,
        node: &'a Node<ast::FunctionDefinition>,
        declared: &Declared<'a>,
    ) {
        let Type::Function(ty) = &declared.ty.ty else { return };
        self.body = Some(BodyContext::new(function, ty.result.clone()));
        self.push_scope();
        let params = match &declared.params {
            Some(Params::Prototype(list)) => list.clone(),
            Some(Params::Names(names)) => self.old_parameters(names, &node.node.declarations),
            None => Vec::new(),
        };
        let mut variables = Vec::new();
        for (position, (name, ty)) in params.iter().enumerate() {
            let (text, span) = match name {
                Some(name) => (name.node.name.clone(), self.span(name.span)),
                None => (format!(".param{position}"), self.program.functions[function].span),
            };
            if name.is_some() && self.lookup_here(&text).is_some() {
                self.redeclared(&text, span);
            }
            let variable = self.new_local(&text, ty.clone(), span);
            self.program.variables[variable].storage = Storage::Param(function);
            self.complete(variable);
            if name.is_some() {
                self.declare(&text, Entity::Variable(variable));
            }
            variables.push(variable);
        }
        let data = &mut self.program.functions[function];
        data.params = variables;
        if let Some(Params::Names([_, ..])) = &declared.params {
            data.param_types = params.iter().map(|(_, ty)| ty.clone()).collect();
            data.variadic = false;
        }
        let mut stmts = Vec::new();
        if let ast::Statement::Compound(items) = &node.node.statement.node {
            self.block_items(items, &mut stmts);
        }
        self.pop_scope();
        let (_, last) = self.tokens(node.node.statement.span);
        let end = self.token_range(last, last);
        let Some(context) = self.body.take() else { return };
        let labels = self.finish_labels(context);
        self.program.functions[function].body = Some(Body { stmts, labels, end });
    }

    /// Parameters in the old style: names first, then declarations.
    fn old_parameters(
        &mut self,
        names: &'a [Node<ast::Identifier>],
        declarations: &'a [Node<ast::Declaration>],
    ) -> Vec<(Option<&'a Node<ast::Identifier>>, QualType)> {
        let mut params: Vec<(Option<&'a Node<ast::Identifier>>, QualType)> =
            names.iter().map(|name| (Some(name), plain(Type::INT))).collect();
        for declaration in declarations {
            let specs = of_declaration(&declaration.node.specifiers);
            let base = self.base_type(&specs, declaration.span);
            for init_declarator in &declaration.node.declarators {
                let declared = self.declared(base.clone(), &init_declarator.node.declarator);
                let Some(name) = declared.name else { continue };
                let slot = params
                    .iter_mut()
                    .find(|(known, _)| known.is_some_and(|known| known.node.name == name.node.name));
                match slot {
                    Some((_, ty)) => *ty = adjust_parameter(declared.ty),
                    None => {
                        let span = self.span(name.span);
                        let name = original_name(&name.node.name);
                        self.report(
                            Diagnostic::error("invalid-function", format!("`{name}` is not a parameter"))
                                .at(span, "not in the list of names"),
                        );
                    }
                }
            }
        }
        params
    }

    /// At the end of the file: tentative definitions get their last form (C11 6.9.2).
    pub(super) fn finish_globals(&mut self) {
        for variable in self.program.variables.indices() {
            let data = &mut self.program.variables[variable];
            if data.storage != Storage::Global || data.extern_only {
                continue;
            }
            if let Type::Array(_, length @ None) = &mut data.ty.ty {
                *length = Some(1);
            }
            self.complete(variable);
        }
    }
}

fn storage_words(specifiers: &[Node<ast::DeclarationSpecifier>]) -> StorageWords {
    let mut words = StorageWords::default();
    for specifier in specifiers {
        if let ast::DeclarationSpecifier::StorageClass(class) = &specifier.node {
            match class.node {
                ast::StorageClassSpecifier::Typedef => words.is_typedef = true,
                ast::StorageClassSpecifier::Extern => words.is_extern = true,
                ast::StorageClassSpecifier::Static => words.is_static = true,
                ast::StorageClassSpecifier::ThreadLocal => words.is_thread_local = true,
                ast::StorageClassSpecifier::Auto | ast::StorageClassSpecifier::Register => {}
            }
        }
        if let ast::DeclarationSpecifier::Function(function) = &specifier.node {
            words.is_inline |= matches!(function.node, ast::FunctionSpecifier::Inline);
        }
    }
    words
}

/// Types of the thread library, by name. Those of C11 have short names, which programs may use for their own.
fn library_type(name: &str, in_header: bool) -> Option<Type> {
    Some(match name {
        "thrd_t" if in_header => Type::Thread,
        "mtx_t" if in_header => Type::Sync(SyncKind::Mutex),
        "cnd_t" if in_header => Type::Sync(SyncKind::Condition),
        "once_flag" if in_header => Type::Sync(SyncKind::Once),
        "pthread_t" => Type::Thread,
        "pthread_mutex_t" => Type::Sync(SyncKind::Mutex),
        "pthread_cond_t" => Type::Sync(SyncKind::Condition),
        "pthread_rwlock_t" => Type::Sync(SyncKind::RwLock),
        "pthread_spinlock_t" => Type::Sync(SyncKind::SpinLock),
        "pthread_barrier_t" => Type::Sync(SyncKind::Barrier),
        "pthread_once_t" => Type::Sync(SyncKind::Once),
        "sem_t" => Type::Sync(SyncKind::Semaphore),
        _ if name.starts_with("pthread_") && name.ends_with("attr_t") => Type::Sync(SyncKind::Attribute),
        _ => return None,
    })
}
