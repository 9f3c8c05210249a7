//! Declarations: variables, `typedef`, `mtype`.

use std::sync::Arc;

use pdnet_source::{Diagnostic, Span, nearest_name};

use super::choice::assign;
use super::label::skip;
use super::reference::constant;
use super::{BodyKind, Parsed, Parser};
use crate::lexer::Token;
use crate::names::{DeclaredChannel, Field, Node, Struct, Symbol, TypeRef};
use crate::tree::{ChannelType, ExprKind, Init, MtypeSet, Place, Scope, Sequence, Type, Var, VarData};

/// The most elements that an array may have, and the most scalars that a variable may consist of.
const SIZE_LIMIT: u64 = 1 << 20;

/// The basic types; `unsigned` gets its width, `mtype` its set later.
const BASIC: &[(&str, Type)] = &[
    ("bit", Type::Bit),
    ("bool", Type::Bool),
    ("byte", Type::Byte),
    ("pid", Type::Pid),
    ("short", Type::Short),
    ("int", Type::Int),
    ("unsigned", Type::Unsigned(0)),
    ("mtype", Type::Mtype(0)),
    ("chan", Type::Chan),
];

/// The words before a type.
#[derive(Clone, Copy, Debug, Default)]
struct Visibility {
    hidden: bool,
    show: bool,
    local: bool,
}

/// One name of a declaration.
#[derive(Debug)]
struct Declarator {
    name: Token,
    ty: TypeRef,
    length: Option<u32>,
    init: Init,
    channel: Option<DeclaredChannel>,
    span: Span,
}

/// Where a declaration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    Variables,
    Params,
    Fields,
}

impl Parser {
    /// Whether a declaration of variables begins here.
    pub(super) fn declaration_ahead(&self) -> bool {
        let Some(token) = self.peek() else { return false };
        if self.sees_any(&["hidden", "show", "local"]) || BASIC.iter().any(|(word, _)| token.is(word)) {
            return true;
        }
        self.names.structs.contains_key(&*token.text) && self.peek_at(1).is_some_and(Token::is_name)
    }

    /// A declaration outside of all bodies.
    pub(super) fn global_declaration(&mut self) -> Parsed<()> {
        let visibility = self.visibility();
        if self.sees("mtype")
            && (self.sees_at(1, "=")
                || self.sees_at(1, "{")
                || self.sees_at(3, "=") && self.sees_at(4, "{") && self.sees_at(1, ":"))
        {
            return self.mtype_declaration();
        }
        for declarator in self.declarators(Context::Variables)? {
            self.declare(declarator, visibility, Scope::Global, None)?;
        }
        Ok(())
    }

    /// A declaration inside of a body. Behind the first statement it is a step.
    pub(super) fn local_declaration(&mut self, out: &mut Sequence) -> Parsed<()> {
        let visibility = self.visibility();
        let (kind, at_start) = match &self.body {
            Some(body) => (body.kind, body.at_start),
            None => return Err(super::Failed),
        };
        if self.sees("mtype") && (self.sees_at(1, "=") || self.sees_at(1, "{")) {
            let diagnostic =
                Diagnostic::error("local-mtype", "constants of `mtype` must be declared outside")
                    .at(self.here(), "inside of a body");
            return self.fail(diagnostic);
        }
        let start = self.here();
        let BodyKind::Proc(proc) = kind else {
            let diagnostic = Diagnostic::error("claim-variable", "claims and traces have no variables here")
                .at(start, "a variable that nothing may change")
                .help("declare it outside");
            return self.fail(diagnostic);
        };
        for declarator in self.declarators(Context::Variables)? {
            if at_start {
                self.declare(declarator, visibility, Scope::Local(proc), None)?;
            } else {
                self.declare_later(declarator, visibility, Scope::Local(proc), out)?;
            }
        }
        Ok(())
    }

    /// Declares a variable in the middle of a body: what it begins with is assigned by a step.
    fn declare_later(
        &mut self,
        mut declarator: Declarator,
        visibility: Visibility,
        scope: Scope,
        out: &mut Sequence,
    ) -> Parsed<()> {
        let span = declarator.span;
        let init = std::mem::replace(&mut declarator.init, Init::Zero);
        let value = match init {
            Init::Zero => constant(0, span),
            Init::Value(value) => value,
            Init::List(_) => {
                let diagnostic = Diagnostic::error(
                    "late-initializer",
                    "an array can get a list only at the start of the proctype",
                )
                .at(span, "behind the first statement, or in a block")
                .help("move the declaration to the start of the proctype");
                return self.fail(diagnostic);
            }
            Init::Channel(_) => {
                let diagnostic = Diagnostic::error(
                    "late-initializer",
                    "a channel can be made only at the start of the proctype",
                )
                .at(span, "behind the first statement, or in a block")
                .help("move the declaration to the start of the proctype");
                return self.fail(diagnostic);
            }
        };
        let symbol = self.declare(declarator, visibility, scope, None)?;
        match symbol.node {
            Node::Leaf(var, _) => {
                let indices = symbol.length.map(|_| constant(0, span)).into_iter().collect();
                out.push(assign(Place { var, indices, span }, value, span));
            }
            Node::Struct(..) => {
                if let Some(body) = &mut self.body {
                    body.kept_skips.insert(span);
                }
                out.push(skip(Vec::new(), span));
            }
        }
        Ok(())
    }

    /// The parameters of a proctype, up to the parenthesis.
    pub(super) fn parameters(&mut self, proc: crate::tree::Proc) -> Parsed<Vec<Var>> {
        let mut params: Vec<Var> = Vec::new();
        loop {
            while self.take(";") {}
            if self.sees(")") || self.peek().is_none() {
                return Ok(params);
            }
            let visibility = self.visibility();
            for declarator in self.declarators(Context::Params)? {
                let span = declarator.span;
                if !matches!(declarator.init, Init::Zero) {
                    let diagnostic =
                        Diagnostic::error("initialized-parameter", "a parameter gets its value from `run`")
                            .at(span, "an initialiser has no meaning here");
                    return self.fail(diagnostic);
                }
                let symbol = self.declare(declarator, visibility, Scope::Local(proc), Some(params.len()))?;
                let mut leaves = Vec::new();
                leaves_of(&symbol.node, &mut leaves);
                if leaves.iter().any(|&var| !self.model.vars[var].dims.is_empty()) {
                    let diagnostic = Diagnostic::error("array-parameter", "an array cannot be a parameter")
                        .at(span, "it, or a field of it, is an array");
                    return self.fail(diagnostic);
                }
                for var in leaves {
                    self.model.vars[var].param = Some(params.len());
                    params.push(var);
                }
            }
            if self.sees(",") {
                let diagnostic = self
                    .unexpected("expected `;` between parameters of different types")
                    .help("`byte a, b; int c`: a comma joins names of one type");
                return self.fail(diagnostic);
            }
            if !self.sees(";") && !self.sees(")") {
                let diagnostic = self.unexpected("expected `;` or `)` behind a parameter");
                return self.fail(diagnostic);
            }
        }
    }

    /// `typedef T { … }`.
    pub(super) fn typedef(&mut self) -> Parsed<()> {
        self.at += 1;
        let name = self.expect_name("the name of the type")?;
        let inner = self.braces("behind the name of the type")?;
        let end = self.before();
        if let Some(known) = self.names.structs.get(&*name.text) {
            let diagnostic =
                Diagnostic::error("redeclared-name", format!("the type `{}` is declared twice", name.text))
                    .at(name.place(), "again here")
                    .context(known.span, "first here");
            return self.fail(diagnostic);
        }
        let inner = self.separated(&inner);
        let fields = self.within(inner, end, Self::fields)?;
        let ty = Struct { name: name.text.to_string(), fields, span: name.span };
        if ty.size() > SIZE_LIMIT {
            return self.too_large(name.place());
        }
        self.names.structs.insert(name.text.to_string(), Arc::new(ty));
        Ok(())
    }

    fn fields(&mut self) -> Parsed<Vec<Field>> {
        self.at += 1;
        let mut fields: Vec<Field> = Vec::new();
        loop {
            while self.take(";") {}
            if self.take("}") || self.peek().is_none() {
                break;
            }
            self.visibility();
            for declarator in self.declarators(Context::Fields)? {
                let Declarator { name, ty, length, init, span, .. } = declarator;
                if let Some(known) = fields.iter().find(|known| *known.name == *name.text) {
                    let diagnostic = Diagnostic::error(
                        "redeclared-name",
                        format!("the field `{}` is here twice", name.text),
                    )
                    .at(name.place(), "again here")
                    .context(known.span, "first here");
                    return self.fail(diagnostic);
                }
                fields.push(Field { name: name.text.to_string(), ty, length, init, span });
            }
            if !self.sees(";") && !self.sees("}") {
                let diagnostic = self.unexpected("expected `;` behind a field");
                return self.fail(diagnostic);
            }
        }
        if fields.is_empty() {
            let diagnostic =
                Diagnostic::error("empty-type", "a type needs at least one field").at(self.end, "none here");
            return self.fail(diagnostic);
        }
        Ok(fields)
    }

    fn visibility(&mut self) -> Visibility {
        let mut visibility = Visibility::default();
        loop {
            if self.take("hidden") {
                visibility.hidden = true;
            } else if self.take("show") {
                visibility.show = true;
            } else if self.take("local") {
                visibility.local = true;
            } else {
                return visibility;
            }
        }
    }

    /// A type, without the width of `unsigned`.
    fn type_name(&mut self) -> Parsed<TypeRef> {
        let Some(token) = self.peek().cloned() else {
            let diagnostic = self.unexpected("expected a type");
            return self.fail(diagnostic);
        };
        if let Some(&(_, ty)) = BASIC.iter().find(|(word, _)| token.is(word)) {
            self.at += 1;
            if matches!(ty, Type::Mtype(_)) {
                return Ok(TypeRef::Basic(Type::Mtype(self.mtype_set()?)));
            }
            return Ok(TypeRef::Basic(ty));
        }
        if let Some(known) = self.names.structs.get(&*token.text) {
            let ty = TypeRef::Struct(Arc::clone(known));
            self.at += 1;
            return Ok(ty);
        }
        if !token.is_name() {
            let diagnostic = self.unexpected("expected a type");
            return self.fail(diagnostic);
        }
        let mut names: Vec<&str> = self.names.structs.keys().map(String::as_str).collect();
        names.sort_unstable();
        let near = nearest_name(&token.text, names.into_iter().chain(BASIC.iter().map(|(word, _)| *word)));
        let near = near.map(|near| format!("did you mean `{near}`?"));
        let mut diagnostic = Diagnostic::error("unknown-type", format!("there is no type `{}`", token.text))
            .at(token.place(), "not known here");
        if let Some(near) = near {
            diagnostic = diagnostic.help(near);
        }
        self.fail(diagnostic)
    }

    /// The set behind `mtype`, with its name where there is one.
    fn mtype_set(&mut self) -> Parsed<usize> {
        if !self.take(":") {
            return Ok(self.set_named(""));
        }
        let name = self.expect_name("the name of a set of `mtype`")?;
        Ok(self.set_named(&name.text))
    }

    fn set_named(&mut self, name: &str) -> usize {
        let sets = &mut self.model.mtypes;
        sets.iter().position(|set| set.name == name).unwrap_or_else(|| {
            sets.push(MtypeSet { name: name.to_owned(), constants: Vec::new() });
            sets.len() - 1
        })
    }

    /// `mtype = { … }`, `mtype : s = { … }`.
    fn mtype_declaration(&mut self) -> Parsed<()> {
        self.at += 1;
        let set = self.mtype_set()?;
        self.take("=");
        self.expect("{", "before the constants")?;
        let mut added: Vec<Token> = Vec::new();
        while !self.sees("}") {
            if self.take(",") {
                continue;
            }
            let name = self.expect_name("the name of a constant")?;
            let known = self.names.constants.get(&*name.text).map(|&(_, _, span)| span);
            let again = added.iter().find(|other| other.text == name.text).map(|other| other.span);
            let variable = self.names.globals.get(&*name.text).map(|symbol| symbol.span);
            if let Some(first) = known.or(again).or(variable) {
                let diagnostic =
                    Diagnostic::error("redeclared-name", format!("`{}` is declared twice", name.text))
                        .at(name.place(), "again here")
                        .context(first, "first here");
                self.report(diagnostic);
                continue;
            }
            added.push(name);
        }
        self.at += 1;
        // SPIN numbers the constants of one declaration from the last to the first.
        let first = self.model.mtypes[set].constants.len();
        let n_added = added.len();
        if first + n_added > 255 {
            let span = added.last().map_or(self.end, Token::place);
            let diagnostic =
                Diagnostic::error("too-many-constants", "a set of `mtype` has at most 255 constants")
                    .at(span, format!("{} with this one", first + n_added));
            return self.fail(diagnostic);
        }
        for (position, name) in added.into_iter().enumerate() {
            let value = i64::try_from(first + n_added - position).unwrap_or(i64::MAX);
            self.names.constants.insert(name.text.to_string(), (set, value, name.span));
            self.model.mtypes[set].constants.push((name.text.to_string(), value));
        }
        Ok(())
    }

    /// A type and its names.
    fn declarators(&mut self, place: Context) -> Parsed<Vec<Declarator>> {
        let ty = self.type_name()?;
        let mut list = Vec::new();
        loop {
            list.push(self.declarator(&ty)?);
            let joins = self.sees(",");
            let new_type = place == Context::Params
                && self.peek_at(1).is_some_and(|next| BASIC.iter().any(|(word, _)| next.is(word)));
            if !joins || new_type {
                return Ok(list);
            }
            self.at += 1;
        }
    }

    fn declarator(&mut self, ty: &TypeRef) -> Parsed<Declarator> {
        let name = self.expect_name("the name of a variable")?;
        if let Some(&(_, _, known)) = self.names.constants.get(&*name.text) {
            let diagnostic =
                Diagnostic::error("redeclared-name", format!("`{}` is a constant of `mtype`", name.text))
                    .at(name.place(), "cannot be a variable, too")
                    .context(known, "the constant");
            return self.fail(diagnostic);
        }
        let mut ty = ty.clone();
        let mut width = None;
        if self.take(":") {
            let span = self.here();
            let value = self.literal()?.and_then(|value| Self::constant_value(&value));
            let Some(value) = value.filter(|value| (1..32).contains(value)) else {
                let diagnostic = Diagnostic::error("bad-width", "the width of an `unsigned` is 1 to 31")
                    .at(span, "not a possible width");
                return self.fail(diagnostic);
            };
            width = Some((u8::try_from(value).unwrap_or(31), span));
        }
        let length = if self.take("[") {
            let length = self.bound(&name)?;
            self.expect("]", "behind the length of the array")?;
            Some(length)
        } else {
            None
        };
        match (&mut ty, width) {
            (TypeRef::Basic(Type::Unsigned(bits)), Some((value, _))) => *bits = value,
            (TypeRef::Basic(Type::Unsigned(_)), None) => {
                let diagnostic = Diagnostic::error("missing-width", "an `unsigned` needs a width")
                    .at(name.place(), "how many bits?")
                    .help(format!("write `unsigned {} : 8`", name.text));
                return self.fail(diagnostic);
            }
            (_, Some((_, span))) => {
                let diagnostic = Diagnostic::error("bad-width", "only an `unsigned` has a width")
                    .at(span, "no meaning here");
                return self.fail(diagnostic);
            }
            (_, None) => {}
        }
        let (init, channel) =
            if self.take("=") { self.initializer(&ty, length)? } else { (Init::Zero, None) };
        let span = self.since(name.span);
        Ok(Declarator { name, ty, length, init, channel, span })
    }

    /// The length of an array.
    fn bound(&mut self, name: &Token) -> Parsed<u32> {
        let expr = self.expression()?;
        let mut value = Self::constant_value(&expr);
        if value.is_none()
            && let ExprKind::Load(place) = &expr.kind
            && place.indices.is_empty()
            && let Init::Value(init) = &self.model.vars[place.var].init
        {
            // SPIN takes the first value of a variable.
            value = Self::constant_value(init);
            let warning = Diagnostic::warning("variable-length", "the length of an array is a variable")
                .at(expr.span, "taken as the value that it has at first, as SPIN does");
            self.report(warning);
        }
        let Some(value) = value else {
            let diagnostic = Diagnostic::error(
                "not-constant",
                format!("the length of `{}` must be a constant", name.text),
            )
            .at(expr.span, "not a constant")
            .help("use a number or a `#define`");
            return self.fail(diagnostic);
        };
        match u32::try_from(value) {
            Ok(length) if length > 0 && u64::from(length) <= SIZE_LIMIT => Ok(length),
            _ => {
                let diagnostic =
                    Diagnostic::error("bad-length", format!("`{}` cannot have {value} elements", name.text))
                        .at(expr.span, format!("1 to {SIZE_LIMIT} are possible"));
                self.fail(diagnostic)
            }
        }
    }

    fn initializer(&mut self, ty: &TypeRef, length: Option<u32>) -> Parsed<(Init, Option<DeclaredChannel>)> {
        let start = self.here();
        let basic = match ty {
            TypeRef::Basic(basic) => *basic,
            TypeRef::Struct(ty) => {
                let diagnostic = Diagnostic::error(
                    "initialized-structure",
                    "a structure cannot be initialised as a whole",
                )
                .at(start, "an initialiser has no meaning here")
                .context(ty.span, "initialise its fields here, or assign them");
                return self.fail(diagnostic);
            }
        };
        if self.sees("[") {
            let channel = self.channel_type()?;
            if basic != Type::Chan {
                let diagnostic =
                    Diagnostic::error("not-a-channel", "only a `chan` can be initialised with a channel")
                        .at(self.since(start), "a channel");
                return self.fail(diagnostic);
            }
            return Ok((Init::Channel(channel.ty.clone()), Some(channel)));
        }
        if self.take("{") {
            let mut values = Vec::new();
            while !self.sees("}") && self.peek().is_some() {
                values.push(self.expression()?);
                if !self.take(",") {
                    break;
                }
            }
            self.take(";");
            self.expect("}", "behind the values")?;
            let span = self.since(start);
            if length.is_none() {
                let diagnostic =
                    Diagnostic::error("not-an-array", "only an array can be initialised with a list")
                        .at(span, "a list of values");
                return self.fail(diagnostic);
            }
            let n_values = u32::try_from(values.len()).unwrap_or(u32::MAX);
            if n_values > length.unwrap_or(0) || n_values == 0 {
                let diagnostic = Diagnostic::error("wrong-value-count", "the list does not fit the array")
                    .at(span, format!("{n_values} values for {} elements", length.unwrap_or(0)));
                return self.fail(diagnostic);
            }
            // SPIN repeats the last value.
            while values.len() < length.unwrap_or(0) as usize {
                let last = values.last().cloned().unwrap_or_else(|| constant(0, span));
                values.push(last);
            }
            return Ok((Init::List(values), None));
        }
        let value = self.expression()?;
        if basic == Type::Chan && matches!(value.kind, ExprKind::Const(_)) {
            let diagnostic = Diagnostic::error("channel-from-number", "a number is no channel")
                .at(value.span, "a channel is expected")
                .help("write `[n] of { … }`");
            return self.fail(diagnostic);
        }
        Ok((Init::Value(value), None))
    }

    /// `[ n ] of { … }`.
    fn channel_type(&mut self) -> Parsed<DeclaredChannel> {
        let start = self.expect("[", "")?;
        let expr = self.expression()?;
        let Some(capacity) = Self::constant_value(&expr) else {
            let diagnostic =
                Diagnostic::error("not-constant", "the capacity of a channel must be a constant")
                    .at(expr.span, "not a constant");
            return self.fail(diagnostic);
        };
        let Some(capacity) =
            u32::try_from(capacity).ok().filter(|&capacity| u64::from(capacity) <= SIZE_LIMIT)
        else {
            let diagnostic =
                Diagnostic::error("bad-length", format!("a channel cannot hold {capacity} messages"))
                    .at(expr.span, "not a possible capacity");
            return self.fail(diagnostic);
        };
        self.expect("]", "behind the capacity")?;
        self.expect("of", "behind the capacity of a channel")?;
        self.expect("{", "before the types of the fields")?;
        let mut fields = Vec::new();
        let mut types: Vec<TypeRef> = Vec::new();
        loop {
            let at = self.here();
            let ty = self.type_name()?;
            match &ty {
                TypeRef::Basic(Type::Unsigned(_)) => {
                    let diagnostic =
                        Diagnostic::error("unsigned-field", "`unsigned` cannot be the type of a field")
                            .at(at, "SPIN does not allow it")
                            .help("use `byte`, `short` or `int`");
                    return self.fail(diagnostic);
                }
                TypeRef::Basic(basic) => fields.push(*basic),
                TypeRef::Struct(inner) => {
                    if inner.size() > SIZE_LIMIT {
                        return self.too_large(at);
                    }
                    inner.flatten(&mut fields);
                }
            }
            types.push(ty);
            if !self.take(",") {
                break;
            }
        }
        self.take(";");
        self.expect("}", "behind the types of the fields")?;
        if fields.len() as u64 > SIZE_LIMIT {
            return self.too_large(self.since(start));
        }
        let message = match &types[..] {
            [TypeRef::Struct(only)] => Some(Arc::clone(only)),
            _ => None,
        };
        Ok(DeclaredChannel { ty: ChannelType { capacity, fields }, message })
    }

    fn too_large<T>(&mut self, span: Span) -> Parsed<T> {
        let diagnostic = Diagnostic::error("too-large", "this is too large")
            .at(span, format!("more than {SIZE_LIMIT} numbers"));
        self.fail(diagnostic)
    }

    /// Adds a variable to the model and to the names.
    fn declare(
        &mut self,
        declarator: Declarator,
        visibility: Visibility,
        scope: Scope,
        param: Option<usize>,
    ) -> Parsed<Arc<Symbol>> {
        let Declarator { name, ty, length, init, channel, span } = declarator;
        let known = self.variable(&name.text).map(|symbol| symbol.span);
        let system = ["_", "_pid", "_last", "_nr_pr", "_priority"].contains(&&*name.text);
        if known.is_some() || system {
            let mut diagnostic =
                Diagnostic::error("redeclared-name", format!("`{}` is declared already", name.text))
                    .at(name.place(), "again here");
            diagnostic = match known {
                Some(first) => diagnostic
                    .context(first, "first here")
                    .note("an inner block cannot hide a name, as in SPIN"),
                None => diagnostic.note("the system has a variable of this name"),
            };
            return self.fail(diagnostic);
        }
        let size = match &ty {
            TypeRef::Basic(_) => 1,
            TypeRef::Struct(inner) => inner.size(),
        };
        if size.saturating_mul(length.unwrap_or(1).into()) > SIZE_LIMIT {
            return self.too_large(span);
        }
        let template = VarData {
            name: name.text.to_string(),
            ty: Type::Byte,
            scope,
            dims: length.into_iter().collect(),
            init,
            hidden: visibility.hidden,
            show: visibility.show,
            local: visibility.local,
            param,
            span: name.span,
        };
        let node = self.make_node(&ty, template);
        if let (Some(channel), Node::Leaf(var, _)) = (channel, &node) {
            self.channels.insert(*var, channel);
        }
        let symbol = Arc::new(Symbol { name: name.text.to_string(), length, node, span: name.span });
        match (&mut self.body, scope) {
            (Some(body), Scope::Local(_)) => {
                body.all.push(Arc::clone(&symbol));
                if let Some(inner) = body.variables.last_mut() {
                    inner.push(Arc::clone(&symbol));
                }
            }
            (_, Scope::Global | Scope::Local(_)) => {
                self.names.globals.insert(symbol.name.clone(), Arc::clone(&symbol));
            }
        }
        Ok(symbol)
    }

    /// The scalars of a type.
    fn make_node(&mut self, ty: &TypeRef, template: VarData) -> Node {
        match ty {
            TypeRef::Basic(basic) => {
                let channel = match &template.init {
                    Init::Channel(ty) => Some(DeclaredChannel { ty: ty.clone(), message: None }),
                    Init::Zero | Init::Value(_) | Init::List(_) => None,
                };
                let var = self.model.vars.push(VarData { ty: *basic, ..template });
                if let Some(channel) = channel {
                    self.channels.insert(var, channel);
                }
                Node::Leaf(var, *basic)
            }
            TypeRef::Struct(inner) => {
                let mut fields = Vec::new();
                let open = if template.dims.len() > template.name.matches("[]").count() { "[]" } else { "" };
                for field in &inner.fields {
                    let mut part = template.clone();
                    part.name = format!("{}{open}.{}", template.name, field.name);
                    part.dims.extend(field.length);
                    part.init = field.init.clone();
                    let node = self.make_node(&field.ty, part);
                    fields.push(Symbol {
                        name: field.name.clone(),
                        length: field.length,
                        node,
                        span: field.span,
                    });
                }
                Node::Struct(Arc::clone(inner), fields)
            }
        }
    }
}

fn leaves_of(node: &Node, out: &mut Vec<Var>) {
    match node {
        Node::Leaf(var, _) => out.push(*var),
        Node::Struct(_, fields) => fields.iter().for_each(|field| leaves_of(&field.node, out)),
    }
}
