//! Names and types: from the parser's tree to ours.
//!
//! One [`Sema`] walks the translation unit once, from top to bottom, as C demands. Mistakes are
//! collected, up to a limit; after one, the walk goes on with a stand-in (`Sema::poison`) that fits
//! everywhere and causes no further messages.
//!
//! Bodies of functions in headers of the system are looked at only when a function of the program uses
//! them: such headers are full of inline functions that nobody calls.

mod builtin;
mod call;
mod constant;
mod convert;
mod declaration;
mod declarator;
mod expr;
mod init;
mod layout;
mod literal;
mod operator;
mod scope;
mod specifiers;
mod stmt;

use lang_c::ast;
use lang_c::span::{Node, Span as TextSpan};
use pdnet_base::{FxHashMap, FxHashSet, Idx as _, IndexVec};
use pdnet_cpp::Positions;
use pdnet_source::{Diagnostic, File, Severity, SourceMap, Span, nearest_name};

use crate::headers::header_of;
use crate::prepass::Prepared;
use crate::tree::{Expr, ExprKind, Function, Lvalue, Program, Variable};
use crate::types::{DataModel, QualType, Type};
pub(crate) use operator::symbol;
use scope::{Entity, Scope};

/// How deep expressions and statements of an accepted program are nested in each other at most. Rooms
/// that walk the tree by recursion can rely on it.
pub const TREE_DEPTH_LIMIT: usize = 1_000;
/// After this many errors the rest is not reported.
const ERROR_LIMIT: usize = 20;

/// A translation unit that was checked.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Its file.
    pub(crate) file: File,
    /// What it declares; `main` means nothing where the unit does not define it.
    pub(crate) program: Program,
    /// It defines `main`.
    pub(crate) has_main: bool,
}

/// Checks a translation unit. What was found may contain errors.
pub(crate) fn check<'a>(
    map: &'a mut SourceMap,
    file: File,
    positions: &'a mut Positions,
    prepared: &'a Prepared,
    unit: &'a ast::TranslationUnit,
    model: DataModel,
) -> (Unit, Vec<Diagnostic>) {
    let mut sema = Sema::new(map, positions, prepared, model);
    for declaration in &unit.0 {
        sema.external(declaration);
    }
    sema.check_used_headers();
    sema.finish_globals();
    let has_main = sema.find_main();
    let Sema { program, diagnostics, .. } = sema;
    (Unit { file, program, has_main }, diagnostics)
}

/// What an expression denotes before it is used.
#[derive(Clone, Debug)]
enum Value {
    /// A plain value.
    Rvalue(Expr),
    /// An object.
    Lvalue(Lvalue),
    /// A function by name.
    Function(Function, Span),
}

impl Value {
    fn span(&self) -> Span {
        match self {
            Self::Rvalue(expr) => expr.span,
            Self::Lvalue(lvalue) => lvalue.span,
            Self::Function(_, span) => *span,
        }
    }
}

/// The state of the walk.
struct Sema<'a> {
    map: &'a mut SourceMap,
    positions: &'a mut Positions,
    prepared: &'a Prepared,
    model: DataModel,
    program: Program,
    scopes: Vec<Scope>,
    /// What is known of functions beyond the tree.
    signatures: FxHashMap<Function, declaration::Signature>,
    /// Definitions in system headers whose bodies nobody has asked for yet.
    pending: FxHashMap<Function, &'a Node<ast::FunctionDefinition>>,
    /// Functions that are used, in the order of their first use.
    used: Vec<Function>,
    used_set: FxHashSet<Function>,
    /// Functions that need no declaration.
    builtins: FxHashMap<String, Function>,
    /// The values of `const` variables with a constant initialiser.
    constants: FxHashMap<Variable, i128>,
    /// Names that were reported as missing.
    missing: FxHashSet<String>,
    /// The function whose body is being checked.
    body: Option<stmt::BodyContext>,
    /// Inside of the parameters of a function type.
    in_prototype: bool,
    /// The sizes of the arrays in the declarator that is being read, the innermost first.
    lengths: Vec<Expr>,
    diagnostics: Vec<Diagnostic>,
    n_errors: usize,
    depth: usize,
    /// No diagnostics are wanted at the moment.
    quiet: bool,
}

impl<'a> Sema<'a> {
    fn new(
        map: &'a mut SourceMap,
        positions: &'a mut Positions,
        prepared: &'a Prepared,
        model: DataModel,
    ) -> Self {
        let program = Program {
            data_model: model,
            variables: IndexVec::new(),
            functions: IndexVec::new(),
            records: IndexVec::new(),
            enumerators: Vec::new(),
            main: Function::new(0),
            library: std::collections::BTreeMap::new(),
            errno: None,
        };
        Self {
            map,
            positions,
            prepared,
            model,
            program,
            scopes: vec![Scope::default()],
            signatures: FxHashMap::default(),
            pending: FxHashMap::default(),
            used: Vec::new(),
            used_set: FxHashSet::default(),
            builtins: FxHashMap::default(),
            constants: FxHashMap::default(),
            missing: FxHashSet::default(),
            body: None,
            in_prototype: false,
            lengths: Vec::new(),
            diagnostics: Vec::new(),
            n_errors: 0,
            depth: 0,
            quiet: false,
        }
    }

    /// First and last token of a piece of the parsed text.
    fn tokens(&self, span: TextSpan) -> (usize, usize) {
        let first = self.prepared.token_at(span.start);
        let last = self.prepared.token_at(span.end.saturating_sub(1));
        (first, last.max(first))
    }

    /// The place of a piece of the parsed text.
    fn span(&mut self, span: TextSpan) -> Span {
        let (first, last) = self.tokens(span);
        self.token_range(first, last)
    }

    /// The place of a range of tokens.
    fn token_range(&mut self, first: usize, last: usize) -> Span {
        let source = |index: usize| self.prepared.sources.get(index).copied().unwrap_or(usize::MAX);
        self.positions.range_span(self.map, source(first), source(last))
    }

    fn in_system_header(&self, span: TextSpan) -> bool {
        let token = self.prepared.token_at(span.start);
        self.prepared.sources.get(token).is_some_and(|&source| self.positions.in_system_header(source))
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Error {
            self.n_errors += 1;
        }
        if self.quiet || self.n_errors > ERROR_LIMIT {
            return;
        }
        // A macro that is wrong is wrong at each of its uses; one text at one place is enough.
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Runs a step whose mistakes are no mistakes of the program; `None` when it made one.
    fn quietly<T>(&mut self, step: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let (quiet, n_errors) = (self.quiet, self.n_errors);
        self.quiet = true;
        let result = step(self);
        let failed = self.n_errors > n_errors;
        (self.quiet, self.n_errors) = (quiet, n_errors);
        (!failed).then_some(result)
    }

    /// Counts the nesting around a step; where it is too deep, says so and takes `instead`.
    fn nested<T>(
        &mut self,
        at: TextSpan,
        instead: impl FnOnce(&mut Self, Span) -> T,
        step: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.depth >= TREE_DEPTH_LIMIT {
            let span = self.span(at);
            self.report(
                Diagnostic::error("nesting-too-deep", "the program is nested too deeply")
                    .at(span, format!("more than {TREE_DEPTH_LIMIT} levels"))
                    .help("split the expression or statement into several"),
            );
            return instead(self, span);
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    /// The stand-in for an expression that is wrong.
    fn poison(span: Span) -> Expr {
        Expr { kind: ExprKind::Unsupported(String::new()), ty: Type::INT, span }
    }

    fn is_poison(expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Unsupported(text) if text.is_empty())
    }

    fn unsupported(text: impl Into<String>, ty: Type, span: Span) -> Expr {
        Expr { kind: ExprKind::Unsupported(text.into()), ty, span }
    }

    /// A type for messages.
    fn show(&self, ty: &Type) -> String {
        ty.display(&self.program)
    }

    /// Remembers that a function is called or that its address is taken.
    fn mark_used(&mut self, function: Function) {
        if self.used_set.insert(function) {
            self.used.push(function);
        }
    }

    fn check_used_headers(&mut self) {
        let mut next = 0;
        while let Some(&function) = self.used.get(next) {
            next += 1;
            if let Some(definition) = self.pending.remove(&function) {
                self.define_body(function, definition);
            }
        }
    }

    fn find_main(&mut self) -> bool {
        let main = match self.scopes[0].names.get("main") {
            Some(Entity::Function(main)) => *main,
            _ => return false,
        };
        self.program.main = main;
        self.signatures.get(&main).is_some_and(|signature| signature.defined.is_some())
    }

    /// Says once for each name that it is not declared.
    fn undeclared(&mut self, name: &str, span: Span) {
        if !self.quiet && !self.missing.insert(name.to_owned()) {
            return;
        }
        let candidates: Vec<String> = self.visible_names();
        // Any letter is near to any other: a suggestion for a name of one letter would be a guess.
        let near = nearest_name(name, candidates.iter().map(String::as_str)).filter(|_| name.len() > 1);
        let diagnostic =
            Diagnostic::error("undeclared-name", format!("`{name}` is not declared")).at(span, "not found");
        let diagnostic = match near {
            Some(near) if header_of(name).is_none() => diagnostic.help(format!("did you mean `{near}`?")),
            Some(_) | None => match header_of(name) {
                Some(header) => diagnostic.help(format!("include <{header}>")),
                None if name.chars().all(|c| !c.is_ascii_lowercase()) => {
                    diagnostic.help(format!("if it is a macro, define it with `-D {name}=VALUE`"))
                }
                None => diagnostic.help("declare it before its first use"),
            },
        };
        self.report(diagnostic);
    }
}

/// Shorthand for types without qualifiers.
fn plain(ty: Type) -> QualType {
    QualType::from(ty)
}

/// A pointer to a type.
fn pointer_to(target: QualType) -> Type {
    Type::Pointer(Box::new(target))
}
