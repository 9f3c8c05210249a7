//! C expressions in the atoms of formulas.
//!
//! They look at the marking and have no effects. An index outside of its array, and a pointer to no object,
//! give 0.

use pdnet_logic::{
    BinaryOp as SyntaxOp, ExprKind, ExprSyntax, IntSuffix, Name, ThreadRef, UnaryOp as SyntaxUnary,
};
use pdnet_net::{BinaryOp, Expr, IntType, UnaryOp};
use pdnet_source::{Diagnostic, Span, nearest_name};

use super::Lowerer;
use super::path::{Path, Root, View, add, scaled};
use super::points_to::{Home, Homes};
use super::shape::{self, Dimension, int_type};
use super::value::{convert, truth_of};
use crate::tree::{Function, Record, Storage, Variable};
use crate::types::{DataModel, IntKind, Type};

/// A value and its type.
type Number = (Expr, IntType);

/// A value in an atom.
pub(crate) struct AtomValue {
    value: Expr,
    /// The type in which it is computed with.
    int: IntType,
    /// Its type in C, where that is no plain integer.
    ty: Option<Type>,
    /// What it can point to.
    homes: Homes,
}

impl AtomValue {
    fn number(number: Number) -> Self {
        Self { value: number.0, int: number.1, ty: None, homes: Homes::new() }
    }

    /// Whether it is not zero.
    pub(crate) fn truth(self) -> Expr {
        match &self.ty {
            Some(ty) => truth_of(ty, self.value),
            None => Expr::truth(self.value),
        }
    }
}

/// An object in an atom.
pub(crate) struct AtomPlace {
    path: Path,
    pub(crate) ty: Type,
    /// All indices are inside of their arrays.
    inside: Expr,
    /// A local, which is looked at through cells that follow it.
    local: Option<(Function, u32, Variable)>,
}

impl Lowerer<'_> {
    fn atom_unsupported<T>(&mut self, span: Span, what: &str) -> Option<T> {
        let message = format!("{what} not supported in atoms");
        self.error(Diagnostic::error("unsupported", message).at(span, ""));
        None
    }

    fn atom_mismatch<T>(&mut self, span: Span, message: String) -> Option<T> {
        self.error(Diagnostic::error("type-mismatch", message).at(span, ""));
        None
    }

    /// The value of a C expression in an atom, by C's rules.
    pub(crate) fn atom_value(&mut self, expr: &ExprSyntax) -> Option<AtomValue> {
        let model = self.program.data_model;
        match &expr.kind {
            ExprKind::Int(value, suffix) => Some(AtomValue::number(literal(*value, *suffix, model))),
            ExprKind::Name(name) => {
                if let Some((_, value)) = self.program.enumerators.iter().find(|(known, _)| known == name) {
                    let suffix = IntSuffix { unsigned: false, longs: 0, decimal: false };
                    return Some(AtomValue::number(literal(*value, suffix, model)));
                }
                self.atom_loaded(expr)
            }
            ExprKind::Local { .. }
            | ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::Unary(SyntaxUnary::Deref, _) => self.atom_loaded(expr),
            ExprKind::Unary(SyntaxUnary::AddressOf, operand) => {
                let place = self.atom_place(operand)?;
                if place.local.is_some() {
                    return self.atom_unsupported(expr.span, "addresses of locals are");
                }
                let (value, homes) = self.atom_address(&place);
                let ty = Type::Pointer(Box::new(place.ty.into()));
                Some(AtomValue { value, int: IntType::U64, ty: Some(ty), homes })
            }
            ExprKind::Unary(op, operand) => self.atom_unary(*op, operand, expr.span),
            ExprKind::Binary(op, left, right) => {
                let (left_value, right_value) = (self.atom_value(left)?, self.atom_value(right)?);
                self.atom_binary_value(*op, left_value, right_value, expr.span)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                let condition = self.atom_value(condition)?.truth();
                let (then, otherwise) = (self.atom_number(then)?, self.atom_number(otherwise)?);
                let ty = common_type(then.1, otherwise.1);
                let (then, otherwise) = (convert(then.1, ty, then.0), convert(otherwise.1, ty, otherwise.0));
                Some(AtomValue::number((Expr::cond(condition, then, otherwise), ty)))
            }
        }
    }

    /// The value of an expression that must be an integer or a pointer.
    fn atom_number(&mut self, expr: &ExprSyntax) -> Option<Number> {
        let value = self.atom_value(expr)?;
        if matches!(value.ty, Some(Type::Float(_))) {
            return self.atom_unsupported(expr.span, "floating values in this place are");
        }
        Some((value.value, value.int))
    }

    fn atom_binary_value(
        &mut self,
        op: SyntaxOp,
        left: AtomValue,
        right: AtomValue,
        span: Span,
    ) -> Option<AtomValue> {
        match op {
            SyntaxOp::And => {
                return Some(AtomValue::number((Expr::both(left.truth(), right.truth()), IntType::I32)));
            }
            SyntaxOp::Or => {
                return Some(AtomValue::number((Expr::either(left.truth(), right.truth()), IntType::I32)));
            }
            _ => {}
        }
        let float = [&left.ty, &right.ty].into_iter().flatten().find(|ty| matches!(ty, Type::Float(_)));
        if let Some(float) = float.cloned() {
            return self.atom_float(op, left, right, &float, span);
        }
        if let (Some(Type::Pointer(to)), None, SyntaxOp::Add | SyntaxOp::Sub) = (&left.ty, &right.ty, op) {
            let size = i64::try_from(shape::size_of(self.program, &to.ty)?).ok()?;
            let bytes = scaled(right.value, if op == SyntaxOp::Sub { -size } else { size });
            let value = Expr::binary(BinaryOp::Add, IntType::U64, left.value, bytes);
            return Some(AtomValue { value, ..left });
        }
        let number = atom_binary(op, (left.value, left.int), (right.value, right.int));
        Some(AtomValue::number(number))
    }

    fn atom_float(
        &mut self,
        op: SyntaxOp,
        left: AtomValue,
        right: AtomValue,
        float: &Type,
        span: Span,
    ) -> Option<AtomValue> {
        let other = |value: &AtomValue| value.ty.clone().filter(|ty| matches!(ty, Type::Float(_)));
        let ty = match (other(&left), other(&right)) {
            (Some(left), Some(right)) if left != right => Type::Float(crate::types::FloatKind::Double),
            _ => float.clone(),
        };
        let mut both = Vec::new();
        for value in [left, right] {
            let from = value.ty.unwrap_or(match value.int.signed {
                true => Type::Int(IntKind::LongLong),
                false => Type::Int(IntKind::UnsignedLongLong),
            });
            both.push(self.float_converted(value.value, &from, &ty, span));
        }
        let (r, l) = (both.pop()?, both.pop()?);
        let int = int_type(self.program.data_model, &ty)?;
        let (tree_op, is_comparison) = float_operator(op)?;
        let value = self.float_binary(tree_op, int, l, r, span);
        if is_comparison {
            return Some(AtomValue::number((value, IntType::I32)));
        }
        Some(AtomValue { value, int, ty: Some(ty), homes: Homes::new() })
    }

    /// The value of an object.
    fn atom_loaded(&mut self, expr: &ExprSyntax) -> Option<AtomValue> {
        let place = self.atom_place(expr)?;
        if let Type::Sync(_) = place.ty {
            let message = "this has no value: it is an object of the thread library".to_owned();
            let diagnostic = Diagnostic::error("type-mismatch", message).at(expr.span, "");
            self.error(diagnostic.help("ask for `holds(func, m)` or `waiting(func, c)`"));
            return None;
        }
        if let Type::Array(element, _) = &place.ty {
            // As in C, an array is a pointer to its first element.
            let (value, homes) = self.atom_address(&place);
            let ty = Some(Type::Pointer(element.clone()));
            return Some(AtomValue { value, int: IntType::U64, ty, homes });
        }
        let homes = match &place.path.root {
            Root::Named(home) => self.survey.points_to.contents(*home).collect(),
            Root::Pointer(_, homes) => {
                homes.iter().flat_map(|&home| self.survey.points_to.contents(home)).collect()
            }
        };
        let value = self.atom_load(&place, expr.span)?;
        let int = int_type(self.program.data_model, &place.ty);
        let Some(int) = int else {
            let name = place.ty.display(self.program);
            return self.atom_unsupported(expr.span, &format!("values of type `{name}` are"));
        };
        let ty = Some(place.ty).filter(|ty| matches!(ty, Type::Pointer(_) | Type::Float(_)));
        Some(AtomValue { value, int, ty, homes })
    }

    /// The cell at the end of a way, as an expression over the marking.
    pub(crate) fn atom_load(&mut self, place: &AtomPlace, span: Span) -> Option<Expr> {
        // A formula looks at one state: nothing comes between finding the object and reading it.
        let coarse = std::mem::replace(&mut self.frame.coarse, true);
        let object = self.resolve_path(place.path.clone(), span);
        self.frame.coarse = coarse;
        let object = object?;
        // Where the program would be undefined, an atom sees 0.
        self.frame.checks.clear();
        let Some((function, index, variable)) = place.local else {
            return Some(Expr::cond(place.inside.clone(), object.load(), Expr::Const(0)));
        };
        let mut object = object;
        for target in &mut object.targets {
            let mut cells = self.cells.iter();
            let leaf = cells.find(|(_, found)| **found == target.place).map(|((_, leaf), _)| *leaf)?;
            target.place = *self.observers.locals.get(&(function, index, variable, leaf))?;
            // Thread and depth are the observer's matter.
            target.key.drain(..2);
        }
        Some(Expr::cond(place.inside.clone(), object.load(), Expr::Const(0)))
    }

    /// Whether a thread waits on the condition variable at the end of a way.
    pub(crate) fn atom_waiters(&mut self, place: &AtomPlace, thread: &Expr, span: Span) -> Option<Expr> {
        let mut found = Vec::new();
        match &place.path.root {
            Root::Named(home) => {
                let (leaf, key) = self.named_leaf(*home, &place.path, span)?;
                found.push((place.inside.clone(), *home, leaf, key));
            }
            Root::Pointer(_, homes) => {
                let address = self.path_address(&place.path);
                found.extend(self.sync_targets(&address, &homes.clone(), &place.ty, span));
            }
        }
        let mut waits = Expr::Const(0);
        for (when, home, leaf, key) in found {
            let condition = self.condition_of(home, leaf, span)?;
            let shape = self.shape(home, span)?;
            let row = self.condition_row(home, &shape.leaves[leaf], &key);
            let prefix = row.into_iter().chain([thread.clone()]).collect();
            waits = Expr::either(waits, Expr::both(when, Expr::Marked(condition.waiters, prefix)));
        }
        Some(waits)
    }

    fn atom_address(&mut self, place: &AtomPlace) -> (Expr, Homes) {
        let homes = match &place.path.root {
            Root::Named(home) => [*home].into(),
            Root::Pointer(_, homes) => homes.clone(),
        };
        (self.path_address(&place.path), homes)
    }

    /// The object that an expression names.
    pub(crate) fn atom_place(&mut self, expr: &ExprSyntax) -> Option<AtomPlace> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let variable = self.global_named(name, expr.span)?;
                if self.program.variables[variable].storage == Storage::ThreadLocal {
                    return self.atom_unsupported(expr.span, "thread-local variables are");
                }
                Some(self.atom_variable(variable, None))
            }
            ExprKind::Local { thread, name } => self.atom_local(thread, name),
            ExprKind::Member(base, field) => {
                let base = self.atom_place(base)?;
                self.atom_field(base, field)
            }
            ExprKind::Arrow(base, field) => {
                let pointed = self.atom_pointed(base, Expr::Const(0))?;
                self.atom_field(pointed, field)
            }
            ExprKind::Unary(SyntaxUnary::Deref, pointer) => self.atom_pointed(pointer, Expr::Const(0)),
            ExprKind::Index(base, index) => self.atom_element(base, index, expr.span),
            ExprKind::Int(..) | ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Conditional(..) => {
                self.atom_mismatch(expr.span, "this is no object".to_owned())
            }
        }
    }

    fn atom_variable(&self, variable: Variable, local: Option<(Function, u32, Variable)>) -> AtomPlace {
        let ty = self.program.variables[variable].ty.ty.clone();
        let path = Path {
            root: Root::Named(Home::Variable(variable)),
            offset: 0,
            indices: Vec::new(),
            view: View::As(ty.clone()),
        };
        AtomPlace { path, ty, inside: Expr::TRUE, local }
    }

    fn atom_local(&mut self, thread: &ThreadRef, name: &Name) -> Option<AtomPlace> {
        let (function, variable) = self.local_named(thread, name)?;
        let is_static = matches!(self.program.variables[variable].storage, Storage::Static(_));
        let local = (!is_static).then(|| (function, thread.index.unwrap_or(0), variable));
        if local.is_some() && !self.functions.contains_key(&function) {
            // No thread ever runs the function: an observer that is never written says so.
            let mut place = self.atom_variable(variable, None);
            place.inside = Expr::Const(0);
            place.path.root = Root::Pointer(Expr::Const(0), Homes::new());
            return Some(place);
        }
        Some(self.atom_variable(variable, local))
    }

    fn atom_element(&mut self, base: &ExprSyntax, index: &ExprSyntax, span: Span) -> Option<AtomPlace> {
        let index_value = self.atom_number(index)?.0;
        let is_object = !matches!(base.kind, ExprKind::Binary(..) | ExprKind::Conditional(..));
        let array = if is_object { Some(self.atom_place(base)?) } else { None };
        let Some(array) = array.filter(|array| !matches!(array.ty, Type::Pointer(_))) else {
            return self.atom_pointed(base, index_value);
        };
        let AtomPlace { mut path, ty, inside, local } = array;
        let Type::Array(element, Some(count)) = ty else {
            let found = ty.display(self.program);
            return self.atom_mismatch(span, format!("`{found}` is no array"));
        };
        let length = i64::try_from(count).ok()?;
        if let Expr::Const(index) = index_value
            && !(0..length).contains(&index)
        {
            let message = format!("index {index} is outside of the array, which has {length} elements");
            self.error(Diagnostic::error("index-out-of-bounds", message).at(span, ""));
            return None;
        }
        let fits = Expr::binary(BinaryOp::Lt, IntType::U64, index_value.clone(), Expr::Const(length));
        let stride = shape::size_of(self.program, &element.ty)?;
        path.indices.push((index_value, Dimension { stride, count }));
        path.view = View::As(element.ty.clone());
        Some(AtomPlace { path, ty: element.ty, inside: Expr::both(inside, fits), local })
    }

    /// What a pointer points to, some elements further.
    fn atom_pointed(&mut self, pointer: &ExprSyntax, index: Expr) -> Option<AtomPlace> {
        let AtomValue { value, ty, homes, .. } = self.atom_value(pointer)?;
        let Some(Type::Pointer(to)) = ty else {
            return self.atom_mismatch(pointer.span, "this is no pointer".to_owned());
        };
        let size = i64::try_from(shape::size_of(self.program, &to.ty)?).ok()?;
        let address = add(value, scaled(index, size));
        let view = View::As(to.ty.clone());
        let root = Root::Pointer(address, homes);
        let path = Path { root, offset: 0, indices: Vec::new(), view };
        Some(AtomPlace { path, ty: to.ty, inside: Expr::TRUE, local: None })
    }

    fn atom_field(&mut self, base: AtomPlace, name: &Name) -> Option<AtomPlace> {
        let AtomPlace { mut path, ty, inside, local } = base;
        let Type::Record(record) = ty else {
            let found = ty.display(self.program);
            return self.atom_mismatch(name.span, format!("`{found}` has no fields"));
        };
        let Some((bits, width, ty)) = self.field_named(record, &name.text) else {
            let message = format!("`{}` has no field `{name}`", ty.display(self.program));
            let mut diagnostic = Diagnostic::error("unknown-name", message).at(name.span, "not found");
            let fields = self.program.records[record].fields.iter().flatten();
            if let Some(near) = nearest_name(&name.text, fields.map(|field| field.name.as_str())) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            self.error(diagnostic);
            return None;
        };
        match width {
            None => {
                path.offset += bits / 8;
                path.view = View::As(ty.clone());
            }
            Some(width) => {
                let signed = int_type(self.program.data_model, &ty)?.signed;
                let is_bool = ty == Type::Int(IntKind::Bool);
                path.view = View::Bits { offset: bits, width: u8::try_from(width).ok()?, signed, is_bool };
            }
        }
        Some(AtomPlace { path, ty, inside, local })
    }

    /// The distance in bits, the width of a bit-field, and the type of a field, also inside of anonymous members.
    fn field_named(&self, record: Record, name: &str) -> Option<(u64, Option<u32>, Type)> {
        for field in self.program.records[record].fields.as_ref()? {
            if field.name == name {
                return Some((field.bit_offset, field.bit_width, field.ty.ty.clone()));
            }
            if let (true, Type::Record(inner)) = (field.name.is_empty(), &field.ty.ty)
                && let Some((bits, width, ty)) = self.field_named(*inner, name)
            {
                return Some((field.bit_offset + bits, width, ty));
            }
        }
        None
    }

    fn atom_unary(&mut self, op: SyntaxUnary, operand: &ExprSyntax, span: Span) -> Option<AtomValue> {
        let operand = self.atom_value(operand)?;
        if op == SyntaxUnary::Not {
            return Some(AtomValue::number((Expr::logical_not(operand.truth()), IntType::I32)));
        }
        if let (Some(Type::Float(_)), SyntaxUnary::Neg | SyntaxUnary::Plus) = (&operand.ty, op) {
            let negative = Expr::unary(UnaryOp::FloatNeg, operand.int, operand.value.clone());
            let value = if op == SyntaxUnary::Neg { negative } else { operand.value };
            return Some(AtomValue { value, ..operand });
        }
        if operand.ty.is_some() {
            return self.atom_unsupported(span, "this operator on pointers and floating values is");
        }
        let promoted = promote(operand.int);
        let value = convert(operand.int, promoted, operand.value);
        let value = match op {
            SyntaxUnary::Neg => Expr::unary(UnaryOp::Neg, promoted, value),
            SyntaxUnary::BitNot => Expr::unary(UnaryOp::Not, promoted, value),
            SyntaxUnary::Plus | SyntaxUnary::Not | SyntaxUnary::Deref | SyntaxUnary::AddressOf => value,
        };
        Some(AtomValue::number((value, promoted)))
    }
}

/// The operator on floating values, and whether it compares.
const fn float_operator(op: SyntaxOp) -> Option<(crate::tree::BinaryOp, bool)> {
    use crate::tree::BinaryOp as Tree;
    Some(match op {
        SyntaxOp::Mul => (Tree::Mul, false),
        SyntaxOp::Div => (Tree::Div, false),
        SyntaxOp::Add => (Tree::Add, false),
        SyntaxOp::Sub => (Tree::Sub, false),
        SyntaxOp::Lt => (Tree::Less, true),
        SyntaxOp::Le => (Tree::LessEqual, true),
        SyntaxOp::Gt => (Tree::Greater, true),
        SyntaxOp::Ge => (Tree::GreaterEqual, true),
        SyntaxOp::Eq => (Tree::Equal, true),
        SyntaxOp::Ne => (Tree::NotEqual, true),
        _ => return None,
    })
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
fn literal(value: i128, suffix: IntSuffix, model: DataModel) -> Number {
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

fn atom_binary(op: SyntaxOp, left: Number, right: Number) -> Number {
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
