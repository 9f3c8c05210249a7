//! Variables, their elements and fields; references to other processes.

use pdnet_source::{Diagnostic, Span, nearest_name};

use super::{BodyKind, Parsed, Parser};
use crate::lexer::Token;
use crate::names::{Node, ProcNames, Symbol};
use crate::tree::{Expr, ExprKind, Place, Type};

/// What a reference names.
#[derive(Debug)]
pub(super) enum Target {
    /// A variable or a part of one.
    Part {
        /// What it consists of.
        node: Node,
        /// The indices on the way to it.
        indices: Vec<Expr>,
        /// Its length, where it is an array that was given no index.
        whole: Option<u32>,
    },
    /// One of the variables that the system keeps.
    Special(ExprKind),
    /// `_`.
    Ignore,
}

/// A reference to a variable.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) target: Target,
    pub(super) name: Token,
    pub(super) span: Span,
}

/// What to do with an array that has no index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrays {
    /// It is an error.
    NeedIndex,
    /// All of it is meant.
    Whole,
}

impl Parser {
    /// The variable of that name that can be seen from here.
    pub(super) fn variable(&self, name: &str) -> Option<std::sync::Arc<Symbol>> {
        let local = self.body.as_ref().and_then(|body| {
            let inner_first = body.variables.iter().rev();
            inner_first.flat_map(|scope| scope.iter().rev()).find(|symbol| symbol.name == name)
        });
        local.or_else(|| self.names.globals.get(name)).cloned()
    }

    /// Reads a reference; the next token is a name.
    pub(super) fn reference(&mut self, arrays: Arrays) -> Parsed<Reference> {
        let name = self.expect_name("a variable")?;
        let start = name.span;
        let special = match &*name.text {
            "_" => Some(Target::Ignore),
            "_pid" => Some(Target::Special(ExprKind::Pid)),
            "_nr_pr" => Some(Target::Special(ExprKind::ProcessCount)),
            "_last" => Some(Target::Special(ExprKind::Last)),
            "_priority" => {
                let diagnostic = Diagnostic::error("unsupported-priority", "priorities cannot be modelled")
                    .at(name.place(), "the priority of a process");
                return self.fail(diagnostic);
            }
            _ => None,
        };
        if let Some(target) = special {
            if self.sees("[") || self.sees(".") {
                let diagnostic =
                    Diagnostic::error("not-an-array", format!("`{}` is a plain number", name.text))
                        .at(self.here(), "has no parts");
                return self.fail(diagnostic);
            }
            return Ok(Reference { target, span: start, name });
        }
        let Some(symbol) = self.variable(&name.text) else {
            let diagnostic = self.undeclared(&name);
            return self.fail(diagnostic);
        };
        let mut indices = Vec::new();
        let mut current: &Symbol = &symbol;
        loop {
            let index_is_there = self.sees("[");
            let mut whole = None;
            match (current.length, index_is_there) {
                (Some(_), true) => {
                    self.at += 1;
                    indices.push(self.expression()?);
                    self.expect("]", "behind the index")?;
                }
                (None, true) => {
                    let diagnostic =
                        Diagnostic::error("not-an-array", format!("`{}` is not an array", current.name))
                            .at(self.here(), "an index has no meaning here")
                            .context(current.span, "declared here");
                    return self.fail(diagnostic);
                }
                (Some(length), false) => whole = Some(length),
                (None, false) => {}
            }
            if !self.sees(".") {
                if whole.is_some() && arrays == Arrays::NeedIndex {
                    return self.missing_index(current, self.since(start));
                }
                let target = Target::Part { node: current.node.clone(), indices, whole };
                return Ok(Reference { target, span: self.since(start), name });
            }
            if whole.is_some() {
                return self.missing_index(current, self.since(start));
            }
            let dot = self.here();
            self.at += 1;
            let Node::Struct(ty, fields) = &current.node else {
                let diagnostic =
                    Diagnostic::error("not-a-structure", format!("`{}` is not a structure", current.name))
                        .at(dot, "it has no fields")
                        .context(current.span, "declared here");
                return self.fail(diagnostic);
            };
            let field = self.expect_name("the name of a field")?;
            match fields.iter().find(|candidate| *candidate.name == *field.text) {
                Some(found) => current = found,
                None => {
                    let message = format!("`{}` has no field `{}`", ty.name, field.text);
                    let mut diagnostic = Diagnostic::error("unknown-field", message)
                        .at(field.place(), "not a field")
                        .context(ty.span, "the type is declared here");
                    let names = ty.fields.iter().map(|field| field.name.as_str());
                    if let Some(near) = nearest_name(&field.text, names) {
                        diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                    }
                    return self.fail(diagnostic);
                }
            }
        }
    }

    fn missing_index<T>(&mut self, symbol: &Symbol, span: Span) -> Parsed<T> {
        let diagnostic = Diagnostic::error("missing-index", format!("`{}` is an array", symbol.name))
            .at(span, "which element?")
            .context(symbol.span, "declared here")
            .help(format!("write `{}[…]`", symbol.name));
        self.fail(diagnostic)
    }

    /// That a name is not known, with the best guess at what was meant.
    pub(super) fn undeclared(&self, name: &Token) -> Diagnostic {
        let text = &*name.text;
        let mut diagnostic = Diagnostic::error("undeclared-name", format!("`{text}` is not declared"));
        if let Some(known) = self.names.inlines.get(text) {
            return Diagnostic::error(
                "inline-in-expression",
                format!("`{text}` is an inline, which has no value"),
            )
            .at(name.place(), "used as a value")
            .context(known.span, "declared here")
            .help(format!("call it as a statement: `{text}(…)`"));
        }
        if self.names.procs.contains_key(text) {
            return Diagnostic::error("proctype-as-value", format!("`{text}` is a proctype"))
                .at(name.place(), "used as a value")
                .help(format!("start a process with `run {text}(…)`"));
        }
        if self.names.structs.contains_key(text) {
            return Diagnostic::error("type-as-value", format!("`{text}` is a type"))
                .at(name.place(), "used as a value");
        }
        diagnostic = diagnostic.at(name.place(), "not known here");
        if name.argument.is_some() {
            diagnostic = diagnostic.context(name.span, "takes the place of this parameter");
        }
        let mut candidates: Vec<String> = Vec::new();
        if let Some(body) = &self.body {
            candidates.extend(body.variables.iter().flatten().map(|symbol| symbol.name.clone()));
        }
        let mut globals: Vec<String> =
            self.names.globals.keys().chain(self.names.constants.keys()).cloned().collect();
        globals.sort();
        candidates.extend(globals);
        // A formula or claim that means a local variable has to say whose.
        if !self.body.as_ref().is_some_and(|body| matches!(body.kind, BodyKind::Proc(_)))
            && let Some(owner) = self.owner_of(text)
        {
            return diagnostic.help(format!(
                "`{owner}:{text}` is that of `{owner}`, `{owner}[pid]:{text}` that of one of several"
            ));
        }
        if let Some(near) = nearest_name(text, candidates.iter().map(String::as_str)) {
            return diagnostic.help(format!("did you mean `{near}`?"));
        }
        let later = self
            .tokens
            .iter()
            .skip(self.at)
            .position(|token| *token.text == *text && token.argument.is_none());
        if later.is_none() && self.body.is_some() && text.starts_with(char::is_uppercase) {
            return diagnostic.help("constants come from `mtype = { … }` or from `#define`");
        }
        diagnostic
    }

    /// The first proctype that has a local variable of this name.
    fn owner_of(&self, name: &str) -> Option<&str> {
        let has_it = |known: &&ProcNames| known.locals.iter().any(|symbol| symbol.name == name);
        let owner = self.names.procs.values().filter(has_it).min_by_key(|known| known.proc)?;
        Some(&self.model.procs[owner.proc].name)
    }

    /// The scalar that a reference names.
    pub(super) fn place_of(&mut self, reference: Reference) -> Parsed<(Place, Type)> {
        match reference.target {
            Target::Part { node, indices, whole: None } => match node.scalar() {
                Some((var, ty)) => Ok((Place { var, indices, span: reference.span }, ty)),
                None => {
                    let message = format!("`{}` is a structure, not a number", reference.name.text);
                    let diagnostic = Diagnostic::error("incomplete-structure", message)
                        .at(reference.span, "a field is missing")
                        .help("structures are used field by field; only messages and `run` take them whole");
                    self.fail(diagnostic)
                }
            },
            Target::Part { whole: Some(_), .. } => {
                let diagnostic = Diagnostic::error("missing-index", "this is an array")
                    .at(reference.span, "which element?");
                self.fail(diagnostic)
            }
            Target::Special(_) => {
                let message = format!("`{}` cannot be changed", reference.name.text);
                let diagnostic = Diagnostic::error("read-only-name", message)
                    .at(reference.name.place(), "kept by the system");
                self.fail(diagnostic)
            }
            Target::Ignore => {
                let diagnostic = Diagnostic::error("write-only-name", "`_` has no value")
                    .at(reference.name.place(), "can only be written")
                    .help("`_` stands for a field of a message that nobody wants");
                self.fail(diagnostic)
            }
        }
    }

    /// The value of what a reference names.
    pub(super) fn value_of(&mut self, reference: Reference) -> Parsed<Expr> {
        let span = reference.span;
        match reference.target {
            Target::Special(kind) => Ok(Expr { kind, span }),
            Target::Part { .. } | Target::Ignore => {
                let (place, _) = self.place_of(reference)?;
                Ok(Expr { kind: ExprKind::Load(place), span })
            }
        }
    }

    /// All scalars of what a reference names, in order.
    pub(super) fn parts_of(&mut self, reference: Reference) -> Parsed<Vec<Place>> {
        match reference.target {
            Target::Part { node, indices, whole } => {
                let mut places = Vec::new();
                flatten(&node, whole, &indices, reference.span, &mut places);
                Ok(places)
            }
            Target::Special(_) | Target::Ignore => {
                let (place, _) = self.place_of(reference)?;
                Ok(vec![place])
            }
        }
    }
}

fn flatten(node: &Node, length: Option<u32>, indices: &[Expr], span: Span, out: &mut Vec<Place>) {
    if let Some(length) = length {
        for element in 0..length {
            let mut inner = indices.to_vec();
            inner.push(Expr { kind: ExprKind::Const(element.into()), span });
            flatten(node, None, &inner, span, out);
        }
        return;
    }
    match node {
        Node::Leaf(var, _) => out.push(Place { var: *var, indices: indices.to_vec(), span }),
        Node::Struct(_, fields) => {
            for field in fields {
                flatten(&field.node, field.length, indices, span, out);
            }
        }
    }
}

/// A number that is no variable, for lists that must have one.
pub(super) fn constant(value: i64, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(value), span }
}
