//! Initialisers: designators are followed, left-out braces are put in (C11 6.7.9).

use lang_c::ast;
use lang_c::span::Node;
use pdnet_source::{Diagnostic, Span};

use super::{Sema, Value};
use crate::prepass::original_name;
use crate::tree::{Expr, ExprKind, Init, InitStep, Lvalue, LvalueKind, Variable};
use crate::types::{IntKind, QualType, SyncKind, Type};

/// More elements than this are not written out one by one.
const ELEMENT_LIMIT: usize = 1 << 20;

/// The parts that an initialiser gives, each with its path.
type Parts = Vec<(Vec<InitStep>, Expr)>;

/// An aggregate that is being filled, and its next part.
struct Frame {
    ty: QualType,
    path: Vec<InitStep>,
    next: u64,
}

impl<'a> Sema<'a> {
    /// The initialiser of a variable that lives as long as the program.
    pub(super) fn static_init(&mut self, variable: Variable, node: &'a Node<ast::Initializer>) {
        let (mut init, ty) = self.initializer(&self.program.variables[variable].ty.clone(), node);
        match &mut init {
            Init::Value(expr) => self.static_part(expr),
            Init::List(parts) => {
                for (_, expr) in parts {
                    self.static_part(expr);
                }
            }
            Init::Sync(_) => {}
        }
        self.remember_constant(variable, &init);
        let data = &mut self.program.variables[variable];
        data.ty.ty = ty;
        data.init = Some(init);
    }

    /// The initialiser of a local variable.
    pub(super) fn local_init(&mut self, variable: Variable, node: &'a Node<ast::Initializer>) -> Init {
        let (init, ty) = self.initializer(&self.program.variables[variable].ty.clone(), node);
        self.remember_constant(variable, &init);
        self.program.variables[variable].ty.ty = ty;
        init
    }

    fn remember_constant(&mut self, variable: Variable, init: &Init) {
        let ty = &self.program.variables[variable].ty;
        if let (true, false, Init::Value(expr)) = (ty.quals.is_const, ty.quals.is_volatile, init)
            && let Type::Int(_) = ty.ty
            && let Some(value) = self.fold(expr)
        {
            self.constants.insert(variable, value);
        }
    }

    fn static_part(&mut self, expr: &mut Expr) {
        if Self::is_poison(expr) {
            return;
        }
        if let (Type::Int(_), Some(value)) = (&expr.ty, self.fold(expr)) {
            expr.kind = ExprKind::Int(value);
        } else if !self.is_static(expr) {
            self.not_constant(expr.span, "the initializer of a static variable");
        }
    }

    /// An initialiser for an object of this type; the type comes back with the length of an array filled
    /// in.
    pub(super) fn initializer(&mut self, ty: &QualType, node: &'a Node<ast::Initializer>) -> (Init, Type) {
        let same = ty.ty.clone();
        match (&ty.ty, &node.node) {
            (Type::Sync(kind), init) => (Init::Sync(self.sync_init(*kind, init, node)), same),
            (Type::Array(..), ast::Initializer::Expression(expression)) => self.array_from(ty, expression),
            (Type::Array(element, _), ast::Initializer::List(items)) => {
                // `char s[] = { "abc" }`
                if let ([only], Type::Int(_)) = (items.as_slice(), &element.ty)
                    && is_string(&only.node)
                {
                    return self.initializer(ty, &only.node.initializer);
                }
                self.list_init(ty, items)
            }
            (Type::Record(record), ast::Initializer::List(items)) => {
                if self.program.records[*record].fields.is_none() {
                    let span = self.span(node.span);
                    self.incomplete(&same, span);
                    return (Init::List(Vec::new()), same);
                }
                self.list_init(ty, items)
            }
            (_, ast::Initializer::Expression(expression)) => {
                let expr = self.rvalue_expr(expression);
                (Init::Value(self.assign_convert(expr, &same, "the initializer")), same)
            }
            (_, ast::Initializer::List(items)) => match items.as_slice() {
                [] => (Init::List(Vec::new()), same),
                [first, rest @ ..] => {
                    if let Some(extra) = rest.first() {
                        self.excess(extra);
                    }
                    self.initializer(ty, &first.node.initializer)
                }
            },
        }
    }

    /// The list of a compound literal.
    pub(super) fn literal_list(
        &mut self,
        ty: &QualType,
        items: &'a [Node<ast::InitializerListItem>],
        at: Span,
    ) -> (Init, Type) {
        match &ty.ty {
            Type::Sync(kind) => {
                let found = self.sync_state(items);
                (Init::Sync(self.sync_kind(*kind, found, at)), ty.ty.clone())
            }
            Type::Record(record) if self.program.records[*record].fields.is_none() => {
                self.incomplete(&ty.ty, at);
                (Init::List(Vec::new()), ty.ty.clone())
            }
            Type::Array(..) | Type::Record(_) => match items {
                [only] if matches!(ty.ty, Type::Array(..)) && is_string(&only.node) => {
                    self.initializer(ty, &only.node.initializer)
                }
                _ => self.list_init(ty, items),
            },
            Type::Void
            | Type::Int(_)
            | Type::Thread
            | Type::Float(_)
            | Type::Pointer(_)
            | Type::Function(_) => match items.first() {
                Some(first) => self.initializer(ty, &first.node.initializer),
                None => (Init::List(Vec::new()), ty.ty.clone()),
            },
        }
    }

    fn list_init(&mut self, ty: &QualType, items: &'a [Node<ast::InitializerListItem>]) -> (Init, Type) {
        let mut parts = Parts::new();
        let length = self.fill(ty, &[], items, &mut parts);
        let designated = items.iter().any(|item| !item.node.designation.is_empty());
        if designated {
            drop_overridden(&mut parts);
        }
        let ty = match &ty.ty {
            Type::Array(element, None) => Type::Array(element.clone(), Some(length)),
            other => other.clone(),
        };
        (Init::List(parts), ty)
    }

    /// An array from a string, or from a compound literal.
    fn array_from(&mut self, ty: &QualType, node: &'a Node<ast::Expression>) -> (Init, Type) {
        let Type::Array(element, length) = &ty.ty else { return (Init::List(Vec::new()), ty.ty.clone()) };
        let value = self.expr(node);
        let span = value.span();
        match value {
            Value::Lvalue(lvalue) if self.is_wide_for(&lvalue, element) => {
                let parts = self.wide_parts(&lvalue).unwrap_or_default();
                let known = u64::try_from(parts.len()).unwrap_or(u64::MAX).saturating_add(1);
                let length = length.unwrap_or(known);
                let n_parts = usize::try_from(length).unwrap_or(usize::MAX).min(parts.len());
                return (Init::List(parts[..n_parts].to_vec()), Type::Array(element.clone(), Some(length)));
            }
            Value::Lvalue(lvalue) => match lvalue.kind {
                LvalueKind::String(bytes) if is_character(&element.ty) => {
                    let mut parts = Parts::new();
                    let length = length.unwrap_or(bytes.len() as u64);
                    string_parts(&bytes, length, &element.ty, &[], span, self, &mut parts);
                    return (Init::List(parts), Type::Array(element.clone(), Some(length)));
                }
                LvalueKind::Compound(_, init) if self.compatible(&lvalue.ty.ty, &ty.ty) => {
                    return (*init, lvalue.ty.ty);
                }
                _ => {}
            },
            Value::Rvalue(expr) if matches!(expr.kind, ExprKind::Unsupported(_)) => {
                return (Init::Value(Expr { ty: ty.ty.clone(), ..expr }), ty.ty.clone());
            }
            Value::Rvalue(_) | Value::Function(..) => {}
        }
        self.report(
            Diagnostic::error("invalid-initializer", "an array needs a list of values")
                .at(span, "not a list")
                .help("write the values in braces"),
        );
        (Init::List(Vec::new()), ty.ty.clone())
    }

    /// Whether a value is a wide string for arrays of such elements.
    fn is_wide_for(&self, lvalue: &Lvalue, element: &QualType) -> bool {
        let same = matches!(&lvalue.ty.ty, Type::Array(unit, _) if unit.ty == element.ty);
        same && self.wide_parts(lvalue).is_some()
    }

    /// Objects of the thread library start in their default state, mutexes also as another kind; anything else
    /// is refused. Gives the kind.
    fn sync_init(
        &mut self,
        kind: SyncKind,
        init: &'a ast::Initializer,
        node: &'a Node<ast::Initializer>,
    ) -> i128 {
        let found = match init {
            ast::Initializer::List(items) => self.sync_state(items),
            ast::Initializer::Expression(expression) => match self.expr(expression) {
                Value::Lvalue(lvalue) => match &lvalue.kind {
                    LvalueKind::Compound(_, init) => match **init {
                        Init::Sync(found) => Some(found),
                        Init::Value(_) | Init::List(_) => None,
                    },
                    _ => None,
                },
                Value::Rvalue(expr) if Self::is_poison(&expr) => Some(0),
                Value::Rvalue(expr) => self.fold(&expr).filter(|value| *value == 0),
                Value::Function(..) => None,
            },
        };
        // The parser counts the `=` in front to the initializer.
        let (first, last) = self.tokens(node.span);
        let first = if self.prepared.token_text(first) == "=" { first + 1 } else { first };
        let span = self.token_range(first, last);
        self.sync_kind(kind, found, span)
    }

    /// The kind of an object, from the one number in its initialiser that is not 0.
    fn sync_kind(&mut self, kind: SyncKind, found: Option<i128>, span: Span) -> i128 {
        match found {
            Some(0) => 0,
            Some(found @ (1 | 2)) if kind == SyncKind::Mutex => found,
            // An adaptive mutex is a normal one that spins for a while.
            Some(3) if kind == SyncKind::Mutex => 0,
            _ => {
                self.report(
                    Diagnostic::error("unsupported-initializer", "this initializer is not supported")
                        .at(span, "sets a state that only the library knows")
                        .help("the library's own initializers, and 0, are supported"),
                );
                0
            }
        }
    }

    /// The one number between the braces that is not 0, or 0; `None` where there are more.
    fn sync_state(&mut self, items: &'a [Node<ast::InitializerListItem>]) -> Option<i128> {
        let mut state = 0;
        for item in items {
            let found = match &item.node.initializer.node {
                ast::Initializer::List(items) => self.sync_state(items)?,
                ast::Initializer::Expression(expression) => {
                    let value = self.expr(expression);
                    let expr = self.rvalue(value);
                    self.fold(&expr)?
                }
            };
            if found != 0 && state != 0 {
                return None;
            }
            state += found;
        }
        Some(state)
    }

    /// Fills an aggregate from the items between its braces; gives the number of elements of an array.
    fn fill(
        &mut self,
        ty: &QualType,
        path: &[InitStep],
        items: &'a [Node<ast::InitializerListItem>],
        parts: &mut Parts,
    ) -> u64 {
        let mut stack = vec![Frame { ty: ty.clone(), path: path.to_vec(), next: 0 }];
        let designated = items.iter().any(|item| !item.node.designation.is_empty());
        let mut length = 0;
        for item in items {
            let mut repeat = None;
            if item.node.designation.is_empty() {
                self.close_full(&mut stack);
                if self.is_full(&mut stack) {
                    self.excess(item);
                    break;
                }
            } else {
                stack.truncate(1);
                match self.follow(&item.node.designation, &mut stack) {
                    Ok(range) => repeat = range,
                    Err(()) => continue,
                }
            }
            let mark = parts.len();
            let depth = stack.len();
            let path = stack[depth - 1].path.clone();
            if designated {
                self.forget(&stack[depth - 1], &item.node.initializer, parts);
            }
            self.place(&item.node.initializer, &mut stack, parts);
            if let Some((from, to)) = repeat {
                self.repeat(mark, &path, from, to, parts, item);
                // Frames above belong to the first element; the range goes on after its last.
                stack.truncate(depth);
                if let Some(frame) = stack.get_mut(depth - 1) {
                    frame.next = to + 1;
                }
            }
            length = length.max(stack[0].next.saturating_add(u64::from(stack.len() > 1)));
            if parts.len() > ELEMENT_LIMIT {
                let span = self.span(item.span);
                self.report(
                    Diagnostic::error("initializer-too-large", "the initializer has too many elements")
                        .at(span, format!("more than {ELEMENT_LIMIT}")),
                );
                break;
            }
        }
        length
    }

    /// Drops what was given before and is replaced now: the other members of a union, and all parts of an
    /// aggregate that gets a list of its own.
    fn forget(&self, frame: &Frame, node: &Node<ast::Initializer>, parts: &mut Parts) {
        let is_union = matches!(&frame.ty.ty, Type::Record(record) if self.program.records[*record].is_union);
        let replaced = match (is_union, &node.node) {
            (true, _) => Some(frame.path.clone()),
            (false, ast::Initializer::List(_)) => self.part(frame).map(|(_, path)| path),
            (false, ast::Initializer::Expression(_)) => None,
        };
        if let Some(path) = replaced {
            parts.retain(|(earlier, _)| !earlier.starts_with(&path));
        }
    }

    /// Whether the innermost aggregate has no further part. Parts without a name are stepped over.
    fn is_full(&self, stack: &mut [Frame]) -> bool {
        let Some(top) = stack.last_mut() else { return true };
        match &top.ty.ty {
            Type::Array(_, length) => length.is_some_and(|length| top.next >= length),
            Type::Record(record) => {
                let data = &self.program.records[*record];
                let fields = data.fields.as_deref().unwrap_or(&[]);
                let skipped =
                    |field: &crate::types::FieldData| field.name.is_empty() && field.bit_width.is_some();
                while usize::try_from(top.next).ok().and_then(|at| fields.get(at)).is_some_and(skipped) {
                    top.next += 1;
                }
                top.next >= fields.len() as u64
            }
            _ => top.next > 0,
        }
    }

    /// The next part of the innermost aggregate.
    fn part(&self, frame: &Frame) -> Option<(QualType, Vec<InitStep>)> {
        let mut path = frame.path.clone();
        match &frame.ty.ty {
            Type::Array(element, _) => {
                path.push(InitStep::Index(frame.next));
                Some(((**element).clone(), path))
            }
            Type::Record(record) => {
                let at = usize::try_from(frame.next).ok()?;
                let field = self.program.records[*record].fields.as_ref()?.get(at)?;
                path.push(InitStep::Field(at));
                Some((field.ty.clone(), path))
            }
            _ => Some((frame.ty.clone(), path)),
        }
    }

    /// Moves on after a part was given. A union has only one.
    fn advance(&self, frame: &mut Frame) {
        frame.next = match &frame.ty.ty {
            Type::Record(record) if self.program.records[*record].is_union => u64::MAX,
            _ => frame.next.saturating_add(1),
        };
    }

    /// Puts one item into the next part, opening aggregates whose braces were left out.
    fn place(&mut self, node: &'a Node<ast::Initializer>, stack: &mut Vec<Frame>, parts: &mut Parts) {
        let Some((ty, path)) = stack.last().and_then(|frame| self.part(frame)) else { return };
        match &node.node {
            ast::Initializer::List(items) => {
                match &ty.ty {
                    Type::Array(..) | Type::Record(_) => {
                        let (init, _) = self.initializer(&ty, node);
                        extend(parts, &path, init);
                    }
                    Type::Sync(kind) => {
                        let found = self.sync_init(*kind, &node.node, node);
                        if found != 0 {
                            let span = self.span(node.span);
                            parts.push((path, Expr { kind: ExprKind::Int(found), ty: ty.ty.clone(), span }));
                        }
                    }
                    _ => {
                        if !items.is_empty() {
                            let (init, _) = self.initializer(&ty, node);
                            extend(parts, &path, init);
                        }
                    }
                }
                if let Some(top) = stack.last_mut() {
                    self.advance(top);
                }
            }
            ast::Initializer::Expression(expression) => {
                let value = self.expr(expression);
                self.place_value(value, stack, parts);
            }
        }
    }

    fn place_value(&mut self, value: Value, stack: &mut Vec<Frame>, parts: &mut Parts) {
        loop {
            let Some((ty, path)) = stack.last().and_then(|frame| self.part(frame)) else { return };
            let span = value.span();
            match (&ty.ty, &value) {
                (Type::Array(element, length), Value::Lvalue(lvalue))
                    if is_character(&element.ty) && matches!(lvalue.kind, LvalueKind::String(_)) =>
                {
                    if let LvalueKind::String(bytes) = &lvalue.kind {
                        let length = length.unwrap_or(bytes.len() as u64);
                        string_parts(bytes, length, &element.ty, &path, span, self, parts);
                    }
                }
                (Type::Array(element, length), Value::Lvalue(lvalue))
                    if self.is_wide_for(lvalue, element) =>
                {
                    let wide = self.wide_parts(lvalue).unwrap_or_default();
                    let n_parts =
                        length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
                    for (steps, expr) in wide.iter().take(n_parts) {
                        parts.push((path.iter().chain(steps).copied().collect(), expr.clone()));
                    }
                }
                (Type::Record(_), _) if self.type_of_value(&value).ty == ty.ty => {
                    let expr = self.rvalue(value.clone());
                    parts.push((path, expr));
                }
                (Type::Sync(_), _) => {
                    let expr = self.rvalue(value.clone());
                    if !Self::is_poison(&expr) && self.fold(&expr) != Some(0) {
                        self.assign_convert(expr, &ty.ty, "the initializer");
                    }
                }
                (Type::Array(..) | Type::Record(_), _) => {
                    let mut frame = vec![Frame { ty, path, next: 0 }];
                    if self.is_full(&mut frame) {
                        // Nothing fits into an empty struct.
                        if let Some(top) = stack.last_mut() {
                            self.advance(top);
                        }
                        if self.is_full(stack) {
                            return;
                        }
                        continue;
                    }
                    stack.append(&mut frame);
                    continue;
                }
                _ => {
                    let expr = self.rvalue(value.clone());
                    let expr = self.assign_convert(expr, &ty.ty, "the initializer");
                    parts.push((path, expr));
                }
            }
            // A whole aggregate that was opened on the way counts as begun, not as done.
            if let Some(top) = stack.last_mut() {
                self.advance(top);
            }
            self.close_full(stack);
            return;
        }
    }

    /// Leaves the inner aggregates that have no further part.
    fn close_full(&self, stack: &mut Vec<Frame>) {
        while stack.len() > 1 && self.is_full(stack) {
            stack.pop();
            if let Some(top) = stack.last_mut() {
                self.advance(top);
            }
        }
    }

    /// Follows designators; gives the range of a last `[a ... b]`.
    fn follow(
        &mut self,
        designators: &'a [Node<ast::Designator>],
        stack: &mut Vec<Frame>,
    ) -> Result<Option<(u64, u64)>, ()> {
        let mut range = None;
        for (position, designator) in designators.iter().enumerate() {
            if position > 0 {
                let Some((ty, path)) = stack.last().and_then(|frame| self.part(frame)) else {
                    return Err(());
                };
                stack.push(Frame { ty, path, next: 0 });
            }
            let Some(top) = stack.last() else { return Err(()) };
            let (top_ty, top_path) = (top.ty.clone(), top.path.clone());
            match &designator.node {
                ast::Designator::Index(index) => {
                    let at = self.designated_index(index, &top_ty)?;
                    stack.last_mut().ok_or(())?.next = at;
                }
                ast::Designator::Range(node) => {
                    let from = self.designated_index(&node.node.from, &top_ty)?;
                    let to = self.designated_index(&node.node.to, &top_ty)?;
                    stack.last_mut().ok_or(())?.next = from;
                    if from > to || position + 1 != designators.len() {
                        let span = self.span(node.span);
                        self.report(
                            Diagnostic::error("invalid-initializer", "this range cannot be used here")
                                .at(span, "it must be the last designator and not be empty"),
                        );
                        return Err(());
                    }
                    range = Some((from, to));
                }
                ast::Designator::Member(name) => {
                    let span = self.span(name.span);
                    let shown = original_name(&name.node.name);
                    let Type::Record(record) = top_ty.ty else {
                        let ty = self.show(&top_ty.ty);
                        self.report(
                            Diagnostic::error(
                                "invalid-initializer",
                                format!("`{ty}` has no field `{shown}`"),
                            )
                            .at(span, "only structs and unions have fields"),
                        );
                        return Err(());
                    };
                    let Some(way) = self.find_field(record, &shown) else {
                        self.no_field(record, &shown, span);
                        return Err(());
                    };
                    let mut frame = Frame { ty: top_ty, path: top_path, next: 0 };
                    stack.pop();
                    for (step, &field) in way.iter().enumerate() {
                        frame.next = field as u64;
                        let part = self.part(&frame);
                        stack.push(frame);
                        let Some((ty, path)) = part else { return Err(()) };
                        frame = Frame { ty, path, next: 0 };
                        if step + 1 == way.len() {
                            break;
                        }
                    }
                }
            }
        }
        Ok(range)
    }

    fn designated_index(&mut self, node: &'a Node<ast::Expression>, ty: &QualType) -> Result<u64, ()> {
        let (value, expr) = self.integer_constant(node, "the index of a designator").ok_or(())?;
        let Type::Array(_, length) = &ty.ty else {
            let shown = self.show(&ty.ty);
            self.report(
                Diagnostic::error("invalid-initializer", format!("`{shown}` has no elements"))
                    .at(expr.span, "not an array"),
            );
            return Err(());
        };
        let index = u64::try_from(value).ok().filter(|&index| length.is_none_or(|length| index < length));
        match index {
            Some(index) if index < 1 << 32 => Ok(index),
            Some(_) | None => {
                self.report(
                    Diagnostic::error("invalid-initializer", format!("the array has no element {value}"))
                        .at(expr.span, "out of range"),
                );
                Err(())
            }
        }
    }

    fn repeat(
        &mut self,
        mark: usize,
        path: &[InitStep],
        from: u64,
        to: u64,
        parts: &mut Parts,
        item: &Node<ast::InitializerListItem>,
    ) {
        let given: Parts = parts[mark..].to_vec();
        let copies = (to - from).saturating_mul(given.len() as u64);
        if copies > ELEMENT_LIMIT as u64 {
            let span = self.span(item.span);
            self.report(
                Diagnostic::error("initializer-too-large", "the initializer has too many elements")
                    .at(span, format!("more than {ELEMENT_LIMIT}")),
            );
            return;
        }
        for index in from + 1..=to {
            for (part, expr) in &given {
                let mut part = part.clone();
                if let Some(step) = part.get_mut(path.len()) {
                    *step = InitStep::Index(index);
                }
                parts.push((part, expr.clone()));
            }
        }
    }

    fn excess(&mut self, item: &Node<ast::InitializerListItem>) {
        let span = self.span(item.span);
        self.report(
            Diagnostic::warning("excess-initializer", "more values than the object has parts")
                .at(span, "ignored"),
        );
    }
}

/// A string literal without a designator.
fn is_string(item: &ast::InitializerListItem) -> bool {
    let ast::Initializer::Expression(expression) = &item.initializer.node else { return false };
    matches!(expression.node, ast::Expression::StringLiteral(_)) && item.designation.is_empty()
}

fn extend(parts: &mut Parts, path: &[InitStep], init: Init) {
    match init {
        Init::Value(expr) => parts.push((path.to_vec(), expr)),
        Init::List(list) => {
            for (rest, expr) in list {
                let mut whole = path.to_vec();
                whole.extend(rest);
                parts.push((whole, expr));
            }
        }
        Init::Sync(_) => {}
    }
}

/// Later initialisers of the same part replace earlier ones.
fn drop_overridden(parts: &mut Parts) {
    if parts.len() > 4096 {
        return;
    }
    let overlap = |a: &[InitStep], b: &[InitStep]| a.iter().zip(b).all(|(a, b)| a == b);
    let mut kept = Parts::new();
    for (path, expr) in parts.drain(..) {
        kept.retain(|(earlier, _)| !overlap(earlier, &path) || earlier.len() < path.len());
        kept.push((path, expr));
    }
    *parts = kept;
}

fn is_character(ty: &Type) -> bool {
    matches!(ty, Type::Int(IntKind::Char | IntKind::SignedChar | IntKind::UnsignedChar))
}

/// The characters of a string as parts of an array. Zeros are left out: everything not given is zero.
fn string_parts(
    bytes: &[u8],
    length: u64,
    element: &Type,
    path: &[InitStep],
    span: Span,
    sema: &Sema<'_>,
    parts: &mut Parts,
) {
    let Type::Int(kind) = element else { return };
    for (index, &byte) in (0..length).zip(bytes) {
        if byte != 0 {
            let mut path = path.to_vec();
            path.push(InitStep::Index(index));
            let value = kind.wrap(sema.model, i128::from(byte));
            parts.push((path, Expr { kind: ExprKind::Int(value), ty: element.clone(), span }));
        }
    }
}
