//! Atoms of formulas: from the user's words to an expression over the marking.

use pdnet_logic::{
    AtomKind, AtomSyntax, BinaryOp as SyntaxOp, ExprKind, ExprSyntax, Formula, IntSuffix, Name, ThreadRef,
    UnaryOp as SyntaxUnary,
};
use pdnet_net::{BinaryOp, Expr, IntType, Place, UnaryOp};
use pdnet_source::{Diagnostic, Span, nearest_name};

use super::Lowerer;
use super::cells::array_shape;
use super::value::convert;
use crate::link::names_apart;
use crate::tree::{Storage, Variable};
use crate::types::{DataModel, SyncKind, Type};

/// A value and its type.
type Typed = (Expr, IntType);

impl Lowerer<'_> {
    /// The expressions that decide the atoms of a formula.
    pub(crate) fn lower_atoms(&mut self, formula: &Formula) -> Vec<Expr> {
        formula.atoms.iter().map(|atom| self.atom(atom).unwrap_or(Expr::Const(0))).collect()
    }

    fn atom(&mut self, atom: &AtomSyntax) -> Option<Expr> {
        match &atom.kind {
            AtomKind::Expr(expr) => Some(Expr::truth(self.atom_value(expr)?.0)),
            AtomKind::Call { function } => self.call_atom(function),
            AtomKind::AtLabel { function, label } => self.label_atom(function, label),
            AtomKind::AtLine { file, line } => self.line_atom(file.as_deref(), *line, atom.span),
            AtomKind::Terminated(thread) => {
                let (number, exists) = self.thread_number(thread)?;
                let ended = Expr::Marked(self.net.ended?, vec![]);
                let done = Expr::Marked(self.net.done?, vec![number]);
                Some(Expr::both(exists, Expr::either(ended, done)))
            }
            AtomKind::End => Some(Expr::Marked(self.net.ended?, vec![])),
            AtomKind::Holds { thread, object } => {
                let (variable, index) = self.sync_object(object, SyncKind::Mutex)?;
                let cell = self.cell_of_global(variable, index, object.span)?;
                let owner = Expr::Cell(self.observe_thread(thread)?, vec![]);
                Some(Expr::both(Expr::truth(owner.clone()), Expr::equal(cell, owner)))
            }
            AtomKind::Waiting { thread, object } => {
                let (variable, index) = self.sync_object(object, SyncKind::Condition)?;
                let waiters = self.waiters_of(variable, object.span)?;
                let (number, exists) = self.thread_number(thread)?;
                let prefix = index.into_iter().chain([number]).collect();
                Some(Expr::both(exists, Expr::Marked(waiters, prefix)))
            }
            AtomKind::Deadlock => Some(Expr::Deadlock),
            AtomKind::DataRace
            | AtomKind::Overflow
            | AtomKind::ValidFree
            | AtomKind::ValidDeref
            | AtomKind::ValidMemtrack
            | AtomKind::ValidMemcleanup => {
                let message = format!("the atom `{atom}` is not supported yet");
                self.error(Diagnostic::error("unsupported", message).at(atom.span, ""));
                None
            }
        }
    }

    /// The number of a thread that a formula names, and whether that thread was created.
    fn thread_number(&mut self, thread: &ThreadRef) -> Option<(Expr, Expr)> {
        let cell = Expr::Cell(self.observe_thread(thread)?, vec![]);
        let number = Expr::binary(BinaryOp::Sub, IntType::I64, cell.clone(), Expr::Const(1));
        Some((number, Expr::truth(cell)))
    }

    fn any_marked(places: impl IntoIterator<Item = Place>) -> Expr {
        let mut places: Vec<Place> = places.into_iter().collect();
        places.sort_unstable();
        places.dedup();
        let marked = places.into_iter().map(|place| Expr::Marked(place, vec![]));
        marked.reduce(Expr::either).unwrap_or(Expr::Const(0))
    }

    fn call_atom(&mut self, function: &Name) -> Option<Expr> {
        self.function_named(function)?;
        let transitions = self.net.transitions.iter();
        let calls = transitions.filter(|data| data.calls.as_deref() == Some(function.text.as_str()));
        let places: Vec<Place> = calls.filter_map(|data| data.source()).collect();
        Some(Self::any_marked(places))
    }

    fn label_atom(&mut self, function: &Name, label: &Name) -> Option<Expr> {
        let source = self.function_named(function)?;
        if let Some(places) = self.labels.get(&(source, label.text.clone())) {
            return Some(Self::any_marked(places.clone()));
        }
        let body = self.program.functions[source].body.as_ref();
        let known: Vec<&str> =
            body.iter().flat_map(|body| body.labels.iter()).map(|data| data.name.as_str()).collect();
        if known.contains(&label.text.as_str()) {
            // The label exists in a function, or a part of one, that no thread reaches.
            return Some(Expr::Const(0));
        }
        let message = format!("`{function}` has no label `{label}`");
        let mut diagnostic = Diagnostic::error("unknown-label", message).at(label.span, "not found");
        if let Some(near) = nearest_name(&label.text, known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.error(diagnostic);
        None
    }

    fn line_atom(&mut self, file: Option<&str>, line: u32, span: Span) -> Option<Expr> {
        let main = self.program.functions[self.program.main].span.file;
        let is_file = |found: pdnet_source::File| match file {
            None => found == main,
            Some(name) => {
                let known = &self.map.file(found).name;
                known == name || known.ends_with(&format!("/{name}"))
            }
        };
        let mut places = Vec::new();
        let mut lines = Vec::new();
        for data in &self.net.transitions {
            let (Some(pos), Some(source)) = (data.pos, data.source()) else { continue };
            if is_file(pos.file) && !self.return_sites.contains(&source) {
                lines.push(pos.line);
                if pos.line == line {
                    places.push(source);
                }
            }
        }
        if !places.is_empty() {
            return Some(Self::any_marked(places));
        }
        let message = format!("no step of the program is at line {line}");
        let mut diagnostic = Diagnostic::error("unknown-line", message).at(span, "");
        if let Some(nearest) = lines.into_iter().min_by_key(|found| found.abs_diff(line)) {
            diagnostic = diagnostic.help(format!("the nearest line with a step is {nearest}"));
        } else if let Some(file) = file {
            diagnostic = diagnostic.help(format!("no step comes from a file `{file}`"));
        }
        self.error(diagnostic);
        None
    }

    /// A global mutex or condition variable, with an index where it is an array.
    fn sync_object(&mut self, object: &ExprSyntax, kind: SyncKind) -> Option<(Variable, Option<Expr>)> {
        let (variable, index) = match &object.kind {
            ExprKind::Name(name) => (self.global_named(name, object.span)?, None),
            ExprKind::Index(base, index) => {
                let ExprKind::Name(name) = &base.kind else { return self.no_sync_object(object, kind) };
                let variable = self.global_named(name, base.span)?;
                (variable, Some(self.atom_value(index)?.0))
            }
            ExprKind::Unary(SyntaxUnary::AddressOf, inner) => return self.sync_object(inner, kind),
            _ => return self.no_sync_object(object, kind),
        };
        let (element, lengths) = array_shape(&self.program.variables[variable].ty.ty)?;
        if *element != Type::Sync(kind) || lengths.len() != usize::from(index.is_some()) {
            return self.no_sync_object(object, kind);
        }
        Some((variable, index))
    }

    fn no_sync_object<T>(&mut self, object: &ExprSyntax, kind: SyncKind) -> Option<T> {
        let wanted = Type::Sync(kind).display(self.program);
        let message = format!("expected a global `{wanted}`");
        self.error(Diagnostic::error("type-mismatch", message).at(object.span, ""));
        None
    }

    fn global_named(&mut self, name: &str, span: Span) -> Option<Variable> {
        let variables = &self.program.variables;
        let is_global = |storage| matches!(storage, Storage::Global | Storage::ThreadLocal);
        let globals: Vec<_> =
            variables.iter_enumerated().filter(|(_, data)| is_global(data.storage)).collect();
        if let Some((variable, _)) = globals.iter().find(|(_, data)| data.name == name) {
            return Some(*variable);
        }
        let apart: Vec<Span> = globals
            .iter()
            .filter(|(_, data)| names_apart(&data.name, name))
            .map(|(_, data)| data.span)
            .collect();
        if let [first, second, ..] = apart.as_slice() {
            let message = format!("several files have a static variable `{name}`");
            let diagnostic = Diagnostic::error("ambiguous-name", message).at(span, "which one?");
            let diagnostic = diagnostic.context(*first, "this one").context(*second, "or this one");
            self.error(diagnostic.help("give one of them another name"));
            return None;
        }
        let message = format!("the program has no global variable `{name}`");
        let mut diagnostic = Diagnostic::error("unknown-name", message).at(span, "not found");
        let mut locals = variables.iter().filter(|data| data.name == name);
        let owner = locals.find_map(|data| match data.storage {
            Storage::Local(function) | Storage::Param(function) | Storage::Static(function) => Some(function),
            Storage::Global | Storage::ThreadLocal => None,
        });
        let user_file = self.program.functions[self.program.main].span.file;
        let in_file = globals.iter().filter(|(_, data)| data.span.file == user_file);
        let names = in_file.map(|(_, data)| data.name.as_str());
        let enumerators = self.program.enumerators.iter().map(|(name, _)| name.as_str());
        if let Some(function) = owner {
            let function = &self.program.functions[function].name;
            diagnostic = diagnostic.help(format!("for the local of `{function}` write `{function}::{name}`"));
        } else if let Some(near) = nearest_name(name, names.chain(enumerators)) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.error(diagnostic);
        None
    }

    /// The value of a C expression in an atom, by C's rules.
    fn atom_value(&mut self, expr: &ExprSyntax) -> Option<Typed> {
        match &expr.kind {
            ExprKind::Int(value, suffix) => Some(literal(*value, *suffix, self.program.data_model)),
            ExprKind::Name(name) => {
                if let Some((_, value)) = self.program.enumerators.iter().find(|(known, _)| known == name) {
                    let suffix = IntSuffix { unsigned: false, longs: 0, decimal: false };
                    return Some(literal(*value, suffix, self.program.data_model));
                }
                let variable = self.global_named(name, expr.span)?;
                self.variable_value(variable, &[], expr.span)
            }
            ExprKind::Local { thread, name } => self.local_value(thread, name, &[], expr.span),
            ExprKind::Index(..) => {
                let mut indices = Vec::new();
                let mut base = expr;
                while let ExprKind::Index(inner, index) = &base.kind {
                    indices.insert(0, self.atom_value(index)?.0);
                    base = inner;
                }
                match &base.kind {
                    ExprKind::Name(name) => {
                        let variable = self.global_named(name, base.span)?;
                        self.variable_value(variable, &indices, expr.span)
                    }
                    ExprKind::Local { thread, name } => self.local_value(thread, name, &indices, expr.span),
                    _ => self.atom_unsupported(base.span, "indexing this is"),
                }
            }
            ExprKind::Unary(op, operand) => self.atom_unary(*op, operand, expr.span),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.atom_value(left)?, self.atom_value(right)?);
                Some(atom_binary(*op, left, right))
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                let condition = self.atom_value(condition)?.0;
                let (then, otherwise) = (self.atom_value(then)?, self.atom_value(otherwise)?);
                let ty = common_type(then.1, otherwise.1);
                let (then, otherwise) = (convert(then.1, ty, then.0), convert(otherwise.1, ty, otherwise.0));
                Some((Expr::cond(condition, then, otherwise), ty))
            }
            ExprKind::Member(..) | ExprKind::Arrow(..) => {
                self.atom_unsupported(expr.span, "structs and unions are")
            }
        }
    }

    fn atom_unsupported(&mut self, span: Span, what: &str) -> Option<Typed> {
        let message = format!("{what} not supported in atoms yet");
        self.error(Diagnostic::error("unsupported", message).at(span, ""));
        None
    }

    fn local_value(
        &mut self,
        thread: &ThreadRef,
        name: &Name,
        indices: &[Expr],
        span: Span,
    ) -> Option<Typed> {
        let (function, variable) = self.local_named(thread, name)?;
        if matches!(self.program.variables[variable].storage, Storage::Static(_)) {
            return self.variable_value(variable, indices, span);
        }
        let index = thread.index.unwrap_or(0);
        let place = *self.observers.locals.get(&(function, index, variable))?;
        let key = self.flat_key(variable, indices, span)?;
        let ty = self.net.places[place].cells()?.value;
        Some((Expr::Cell(place, key), ty))
    }

    fn variable_value(&mut self, variable: Variable, indices: &[Expr], span: Span) -> Option<Typed> {
        if self.program.variables[variable].storage == Storage::ThreadLocal {
            return self.atom_unsupported(span, "thread-local variables are");
        }
        let element = array_shape(&self.program.variables[variable].ty.ty).map(|(element, _)| element);
        if let Some(Type::Sync(_)) = element {
            let name = &self.program.variables[variable].name;
            let message = format!("`{name}` has no value: it is an object of the thread library");
            let diagnostic = Diagnostic::error("type-mismatch", message).at(span, "");
            self.error(diagnostic.help("ask for `holds(func, m)` or `waiting(func, c)`"));
            return None;
        }
        let place = self.cells_of(variable, span)?;
        let key = self.flat_key(variable, indices, span)?;
        let ty = self.net.places[place].cells()?.value;
        Some((Expr::Cell(place, key), ty))
    }

    /// The position in the flat array; an index outside of the array gives a cell that is always 0.
    fn flat_key(&mut self, variable: Variable, indices: &[Expr], span: Span) -> Option<Vec<Expr>> {
        let (_, lengths) = array_shape(&self.program.variables[variable].ty.ty)?;
        if lengths.len() != indices.len() {
            let name = &self.program.variables[variable].name;
            let message = match (lengths.len(), indices.len()) {
                (0, _) => format!("`{name}` is no array"),
                (n, m) => format!("`{name}` has {n} dimensions, {m} given"),
            };
            self.error(Diagnostic::error("type-mismatch", message).at(span, ""));
            return None;
        }
        let mut flat: Option<Expr> = None;
        for (index, length) in indices.iter().zip(&lengths) {
            let length = i64::try_from(*length).ok()?;
            if let Expr::Const(index) = index
                && !(0..length).contains(index)
            {
                let name = &self.program.variables[variable].name;
                let message = format!("index {index} is outside of `{name}`, which has {length} elements");
                self.error(Diagnostic::error("index-out-of-bounds", message).at(span, ""));
                return None;
            }
            let inside = Expr::binary(BinaryOp::Lt, IntType::U64, index.clone(), Expr::Const(length));
            let scaled = |outer| Expr::binary(BinaryOp::Mul, IntType::I64, outer, Expr::Const(length));
            let sum = match flat {
                None => index.clone(),
                Some(outer) => Expr::binary(BinaryOp::Add, IntType::I64, scaled(outer), index.clone()),
            };
            flat = Some(Expr::cond(inside, sum, Expr::Const(-1)));
        }
        Some(flat.into_iter().collect())
    }

    fn atom_unary(&mut self, op: SyntaxUnary, operand: &ExprSyntax, span: Span) -> Option<Typed> {
        if matches!(op, SyntaxUnary::Deref | SyntaxUnary::AddressOf) {
            return self.atom_unsupported(span, "pointers are");
        }
        let (value, ty) = self.atom_value(operand)?;
        if op == SyntaxUnary::Not {
            return Some((Expr::logical_not(value), IntType::I32));
        }
        let promoted = promote(ty);
        let value = convert(ty, promoted, value);
        let value = match op {
            SyntaxUnary::Neg => Expr::unary(UnaryOp::Neg, promoted, value),
            SyntaxUnary::BitNot => Expr::unary(UnaryOp::Not, promoted, value),
            SyntaxUnary::Plus | SyntaxUnary::Not | SyntaxUnary::Deref | SyntaxUnary::AddressOf => value,
        };
        Some((value, promoted))
    }
}

/// Integer promotion (C11 6.3.1.1p2).
const fn promote(ty: IntType) -> IntType {
    if ty.bits < 32 { IntType::I32 } else { ty }
}

/// The usual arithmetic conversions (C11 6.3.1.8), by width: types of the same width and signedness
/// behave alike.
fn common_type(left: IntType, right: IntType) -> IntType {
    let (left, right) = (promote(left), promote(right));
    let bits = left.bits.max(right.bits);
    let unsigned = |ty: IntType| !ty.signed && ty.bits == bits;
    IntType { bits, signed: !(unsigned(left) || unsigned(right)) }
}

/// The type and value of a literal (C11 6.4.4.1).
fn literal(value: i128, suffix: IntSuffix, model: DataModel) -> Typed {
    let long_bits = match model {
        DataModel::Lp64 => 64,
        DataModel::Ilp32 => 32,
    };
    let least = [32, long_bits, 64][usize::from(suffix.longs.min(2))];
    let fits = |ty: IntType| ty.to_i128(ty.min()) <= value && value <= ty.to_i128(ty.max());
    let candidates =
        [least, 64].into_iter().flat_map(|bits| [true, false].map(|signed| IntType { bits, signed }));
    let allowed = candidates.filter(|ty| match (suffix.unsigned, suffix.decimal) {
        (true, _) => !ty.signed,
        (false, true) => ty.signed,
        (false, false) => true,
    });
    let ty = allowed.into_iter().find(|ty| fits(*ty)).unwrap_or(IntType::U64);
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    (Expr::Const(ty.wrap(value as i64)), ty)
}

fn atom_binary(op: SyntaxOp, left: Typed, right: Typed) -> Typed {
    let is_shift = matches!(op, SyntaxOp::Shl | SyntaxOp::Shr);
    let ty = if is_shift { promote(left.1) } else { common_type(left.1, right.1) };
    let (l, r) = match op {
        SyntaxOp::And => return (Expr::both(left.0, right.0), IntType::I32),
        SyntaxOp::Or => return (Expr::either(left.0, right.0), IntType::I32),
        _ if is_shift => (convert(left.1, ty, left.0), right.0),
        _ => (convert(left.1, ty, left.0), convert(right.1, ty, right.0)),
    };
    let arithmetic = |op, l, r| (Expr::binary(op, ty, l, r), ty);
    let comparison = |op, l, r| (Expr::binary(op, ty, l, r), IntType::I32);
    match op {
        SyntaxOp::Mul => arithmetic(BinaryOp::Mul, l, r),
        SyntaxOp::Div => arithmetic(BinaryOp::Div, l, r),
        SyntaxOp::Rem => arithmetic(BinaryOp::Rem, l, r),
        SyntaxOp::Add => arithmetic(BinaryOp::Add, l, r),
        SyntaxOp::Sub => arithmetic(BinaryOp::Sub, l, r),
        SyntaxOp::Shl => arithmetic(BinaryOp::Shl, l, r),
        SyntaxOp::Shr => arithmetic(BinaryOp::Shr, l, r),
        SyntaxOp::BitAnd => arithmetic(BinaryOp::And, l, r),
        SyntaxOp::BitXor => arithmetic(BinaryOp::Xor, l, r),
        SyntaxOp::BitOr => arithmetic(BinaryOp::Or, l, r),
        SyntaxOp::Lt => comparison(BinaryOp::Lt, l, r),
        SyntaxOp::Le => comparison(BinaryOp::Le, l, r),
        SyntaxOp::Gt => comparison(BinaryOp::Lt, r, l),
        SyntaxOp::Ge => comparison(BinaryOp::Le, r, l),
        SyntaxOp::Eq => comparison(BinaryOp::Eq, l, r),
        SyntaxOp::Ne => comparison(BinaryOp::Ne, l, r),
        SyntaxOp::And | SyntaxOp::Or => (Expr::Const(0), IntType::I32),
    }
}
