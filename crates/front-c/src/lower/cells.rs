//! Variables as places.

use pdnet_net::{Base, CellData, Domain, Expr, IntType, Net, Place, PlaceKind, Scope};
use pdnet_source::Span;

use super::{Lowerer, flow, survey};
use crate::tree::{Expr as TreeExpr, ExprKind, Init, InitStep, Lvalue, LvalueKind, Storage, Variable};
use crate::types::{DataModel, IntKind, QualType, SyncKind, Type};

/// A condition variable: who waits, and who was woken and has not yet gone on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) waiters: Place,
    pub(crate) woken: Place,
}

/// A cell with its key, in terms of the step that will touch it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The cell is meant only where this is true: a pointer may point elsewhere.
    pub(crate) when: Option<Expr>,
    pub(crate) place: Place,
    pub(crate) key: Vec<Expr>,
}

impl Target {
    pub(crate) fn load(&self) -> Expr {
        Expr::Cell(self.place, self.key.clone())
    }
}

/// An object of the program: one cell, or one of several behind a pointer.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) targets: Vec<Target>,
    /// The type in which it is accessed.
    pub(crate) ty: IntType,
    /// The types in which the targets keep their values: through a pointer, the sign may differ.
    pub(crate) stored: Vec<IntType>,
    pub(crate) is_bool: bool,
}

impl Object {
    pub(crate) fn new(place: Place, key: Vec<Expr>, ty: IntType, is_bool: bool) -> Self {
        Self { targets: vec![Target { when: None, place, key }], ty, stored: vec![ty], is_bool }
    }

    pub(crate) fn load(&self) -> Expr {
        let targets = self.targets.iter().zip(&self.stored).rev();
        targets.fold(Expr::Const(0), |otherwise, (target, stored)| {
            let value = super::value::convert(*stored, self.ty, target.load());
            match &target.when {
                None => value,
                Some(when) => Expr::cond(when.clone(), value, otherwise),
            }
        })
    }
}

/// The integer type in which values of a C type are kept; `None` where there is none yet.
pub(crate) fn int_type(model: DataModel, ty: &Type) -> Option<IntType> {
    let pointer_bits = match model {
        DataModel::Lp64 => 64,
        DataModel::Ilp32 => 32,
    };
    match ty {
        Type::Int(kind) => {
            let bits = u8::try_from(kind.bits(model)).ok().filter(|bits| *bits <= 64)?;
            Some(IntType { bits, signed: kind.is_signed() })
        }
        Type::Thread | Type::Pointer(_) => Some(IntType { bits: pointer_bits, signed: false }),
        // A lock: who holds it, as the thread's number plus one.
        Type::Sync(SyncKind::Mutex | SyncKind::SpinLock) => Some(IntType::U8),
        // The number of readers, or the negated number plus one of the thread that writes.
        Type::Sync(SyncKind::RwLock) => Some(IntType::I32),
        // How many threads it is for, and how many have come: see `barrier.rs`.
        Type::Sync(SyncKind::Barrier) => Some(IntType::U64),
        // The count.
        Type::Sync(SyncKind::Semaphore) => Some(IntType { bits: 32, signed: false }),
        Type::Void
        | Type::Float(_)
        | Type::Array(..)
        | Type::Record(_)
        | Type::Function(_)
        | Type::Sync(_) => None,
    }
}

/// The element type of an array of arrays, and the lengths, outermost first.
pub(crate) fn array_shape(ty: &Type) -> Option<(&Type, Vec<u64>)> {
    match ty {
        Type::Array(element, length) => {
            let (inner, mut lengths) = array_shape(&element.ty)?;
            lengths.insert(0, (*length)?);
            Some((inner, lengths))
        }
        ty => Some((ty, Vec::new())),
    }
}

/// Whether objects of the type are plain memory, on which threads can race: atomic ones and locks are not.
fn is_memory(ty: &QualType) -> bool {
    match &ty.ty {
        Type::Array(element, _) => is_memory(element) && !ty.quals.is_atomic,
        Type::Int(_) | Type::Pointer(_) | Type::Thread => !ty.quals.is_atomic,
        Type::Void | Type::Float(_) | Type::Record(_) | Type::Function(_) | Type::Sync(_) => false,
    }
}

/// What an unknown value of the type ranges over: all values where they are few, else a sample.
pub(crate) fn domain_of(ty: IntType, is_bool: bool) -> Domain {
    if is_bool {
        return Domain { ranges: vec![(0, 1)], exact: true };
    }
    if ty.bits <= 8 {
        return Domain { ranges: vec![(ty.min(), ty.max())], exact: true };
    }
    let ranges = match (ty.signed, ty.bits) {
        (true, _) => vec![(ty.min(), ty.min()), (-2, 8), (ty.max(), ty.max())],
        // Of unsigned 64-bit values those above `i64::MAX` look negative and so come first.
        (false, 64) => vec![(-1, -1), (0, 8)],
        (false, _) => vec![(0, 8), (ty.max(), ty.max())],
    };
    Domain { ranges, exact: false }
}

/// The largest array that becomes a place.
const MAX_ELEMENTS: u64 = 1 << 20;

impl Lowerer<'_> {
    /// The integer type of a C type, or a diagnostic.
    pub(crate) fn int_type_at(&mut self, ty: &Type, span: Span) -> IntType {
        if let Some(found) = int_type(self.program.data_model, ty) {
            return found;
        }
        let what = match ty {
            Type::Float(_) => "floating-point values are",
            Type::Record(_) => "structs and unions are",
            Type::Array(..) => "whole arrays as values are",
            Type::Int(_) => "128-bit integers are",
            Type::Function(_) => "functions as values are",
            Type::Sync(_) => "objects of this thread library type are",
            Type::Void | Type::Thread | Type::Pointer(_) => "values of this type are",
        };
        self.unsupported(span, what);
        IntType::I32
    }

    /// The place with the cells of a variable.
    pub(crate) fn cells_of(&mut self, variable: Variable, span: Span) -> Option<Place> {
        if let Some(&place) = self.cells.get(&variable) {
            return Some(place);
        }
        let data = &self.program.variables[variable];
        let Some((element, lengths)) = array_shape(&data.ty.ty) else {
            self.unsupported(span, "arrays whose length is not constant are");
            return None;
        };
        if data.extern_only {
            let name = &data.name;
            let message = format!("`{name}` is declared but never defined");
            let diagnostic = pdnet_source::Diagnostic::error("undefined-variable", message);
            self.error(diagnostic.at(span, "its value is not known").context(data.span, "declared here"));
            return None;
        }
        let n_elements = lengths.iter().try_fold(1u64, |n, &length| n.checked_mul(length));
        let length = match n_elements {
            _ if lengths.is_empty() => None,
            Some(n @ 1..=MAX_ELEMENTS) => Some(u32::try_from(n).expect("in range")),
            _ => {
                self.unsupported(span, "arrays of no or of more than a million elements are");
                return None;
            }
        };
        let is_bool = *element == Type::Int(IntKind::Bool);
        let value = self.int_type_at(element, span);
        let scope = match data.storage {
            Storage::Global | Storage::Static(_) => Scope::Global,
            Storage::ThreadLocal => Scope::Thread,
            Storage::Local(function) | Storage::Param(function) => {
                Scope::Frame(*self.functions.get(&function)?)
            }
        };
        let mut cells = CellData { scope, length, value, default: 0, listed: Vec::new() };
        if let Some(init) = &data.init {
            self.static_init(&mut cells, &lengths, is_bool, init);
        }
        let name = match data.storage {
            Storage::Static(function) => format!("{}::{}", self.program.functions[function].name, data.name),
            _ => data.name.clone(),
        };
        let place = self.net.add_cells(&name, cells);
        self.net.places[place].pos = self.pos(data.span);
        self.net.places[place].memory = is_memory(&data.ty);
        if self.survey.shared.contains(&variable) {
            self.shared_cells.insert(place);
        }
        self.cells.insert(variable, place);
        Some(place)
    }

    /// The initial values of a global or static variable.
    fn static_init(&mut self, cells: &mut CellData, lengths: &[u64], is_bool: bool, init: &Init) {
        match init {
            Init::SyncDefault => {}
            Init::Value(value) => cells.default = self.constant(value, cells.value, is_bool),
            Init::List(items) => {
                for (path, value) in items {
                    let found = self.constant(value, cells.value, is_bool);
                    match flat_index(path, lengths) {
                        Some(_) if cells.length.is_none() => cells.default = found,
                        Some(index) => {
                            cells.listed.retain(|&(listed, _)| listed != index);
                            cells.listed.push((index, found));
                        }
                        None => self.unsupported(value.span, "this initialiser is"),
                    }
                }
                cells.listed.sort_unstable();
                cells.listed.retain(|&(_, value)| value != cells.default);
            }
        }
    }

    /// A constant initialiser, converted to its type.
    fn constant(&mut self, value: &TreeExpr, ty: IntType, is_bool: bool) -> i64 {
        let lowered = self.value(value);
        match lowered {
            Expr::Const(found) if is_bool => i64::from(found != 0),
            Expr::Const(found) => ty.wrap(found),
            _ => {
                let message = "the initialiser of a static object must be constant";
                let diagnostic = pdnet_source::Diagnostic::error("not-constant", message);
                self.error(diagnostic.at(value.span, "not a constant"));
                0
            }
        }
    }

    /// The waiters of a condition variable.
    pub(crate) fn condition_of(&mut self, variable: Variable, span: Span) -> Option<Condition> {
        if let Some(&condition) = self.conditions.get(&variable) {
            return Some(condition);
        }
        let data = &self.program.variables[variable];
        if !matches!(data.storage, Storage::Global | Storage::Static(_)) {
            self.unsupported(span, "condition variables that are local to a function are");
            return None;
        }
        let (_, lengths) = array_shape(&data.ty.ty)?;
        let mut components = Vec::new();
        if !lengths.is_empty() {
            let n = lengths.iter().try_fold(1u64, |n, &length| n.checked_mul(length)).unwrap_or(0);
            components.push(Base::Index(u32::try_from(n.min(MAX_ELEMENTS)).expect("in range")));
        }
        components.push(Base::Thread);
        let add = |net: &mut Net, name: String| {
            let place = net.add_token_place(&name, PlaceKind::Variable, components.clone());
            net.places[place].pos = Some(self.map.pos(data.span));
            place
        };
        let waiters = add(&mut self.net, data.name.clone());
        let woken = add(&mut self.net, format!("{} (woken)", data.name));
        let condition = Condition { waiters, woken };
        self.conditions.insert(variable, condition);
        Some(condition)
    }

    /// The key of a cell of a place with this scope, in the frame that moves.
    pub(crate) fn scope_key(&self, place: Place) -> Vec<Expr> {
        match self.net.places[place].cells().map(|cells| cells.scope) {
            Some(Scope::Frame(_)) => flow::frame_key(),
            Some(Scope::Thread) => vec![pdnet_net::TransitionBuilder::thread()],
            Some(Scope::Global) | None => Vec::new(),
        }
    }

    /// The object that an lvalue names. May emit steps for its index; leaves checks of its bounds pending.
    pub(crate) fn object(&mut self, lvalue: &Lvalue) -> Option<Object> {
        let object = self.find_object(lvalue, false);
        self.never_silent(object, lvalue.span)
    }

    /// The object that an lvalue names, where other steps will come between now and its use.
    pub(crate) fn fixed_object(&mut self, lvalue: &Lvalue) -> Option<Object> {
        let object = self.find_object(lvalue, true);
        let mut object = self.never_silent(object, lvalue.span)?;
        self.stabilise_key(&mut object, lvalue.span);
        Some(object)
    }

    /// Nothing is dropped without a word: where there is no result, there is a diagnostic.
    fn never_silent<T>(&mut self, result: Option<T>, span: Span) -> Option<T> {
        if result.is_none() && self.errors.is_empty() {
            self.unsupported(span, "this object is");
        }
        result
    }

    fn find_object(&mut self, lvalue: &Lvalue, fixed: bool) -> Option<Object> {
        if let LvalueKind::Deref(pointer) = &lvalue.kind {
            return self.pointed(pointer, &lvalue.ty.ty, fixed, lvalue.span);
        }
        let (variable, index) = self.variable_and_index(lvalue, false)?;
        let place = self.cells_of(variable, lvalue.span)?;
        let mut key = self.scope_key(place);
        if let Some(index) = index {
            let index = if self.is_shared_expr(&index) && self.is_shared_cell(place) {
                self.spill(index, IntType::I64, lvalue.span)
            } else {
                index
            };
            key.push(index);
        }
        let cells = self.net.places[place].cells()?;
        if cells.length.is_some() && key.len() + 1 != self.net.components(place).len() {
            self.unsupported(lvalue.span, "whole arrays as values are");
            return None;
        }
        let is_bool = lvalue.ty.ty == Type::Int(IntKind::Bool);
        Some(Object::new(place, key, cells.value, is_bool))
    }

    /// The variable of which the lvalue is a part, and the index of that part in the flat array.
    /// For an `address`, the last index may be any: only an access is checked.
    pub(crate) fn variable_and_index(
        &mut self,
        lvalue: &Lvalue,
        address: bool,
    ) -> Option<(Variable, Option<Expr>)> {
        let mut indices = Vec::new();
        let mut at = lvalue;
        let variable = loop {
            match &at.kind {
                LvalueKind::Variable(variable) => break *variable,
                LvalueKind::Index(base, index) => {
                    indices.insert(0, index.as_ref());
                    at = base;
                }
                LvalueKind::Deref(_) => {
                    self.unsupported(at.span, "dereferencing a pointer is");
                    return None;
                }
                LvalueKind::Field(..) => {
                    self.unsupported(at.span, "structs and unions are");
                    return None;
                }
                LvalueKind::String(_) => {
                    self.unsupported(at.span, "reading a string literal is");
                    return None;
                }
                LvalueKind::Compound(..) => {
                    self.unsupported(at.span, "compound literals are");
                    return None;
                }
            }
        };
        if indices.is_empty() {
            return Some((variable, None));
        }
        let Some((_, lengths)) = array_shape(&self.program.variables[variable].ty.ty) else {
            self.unsupported(lvalue.span, "arrays whose length is not constant are");
            return None;
        };
        if lengths.len() != indices.len() {
            self.unsupported(lvalue.span, "whole arrays as values are");
            return None;
        }
        let mut flat: Option<Expr> = None;
        for (position, (&index, &length)) in indices.iter().zip(&lengths).enumerate() {
            let mut value = self.value(index);
            let later_steps = indices[position + 1..].iter().any(|later| self.class(later).steps);
            let later_shared = indices[position + 1..].iter().any(|later| self.class(later).shared);
            let unstable =
                (later_steps && !self.is_stable(&value)) || (later_shared && self.is_shared_expr(&value));
            let length = i64::try_from(length).unwrap_or(i64::MAX);
            if !(address && position + 1 == indices.len()) {
                self.check_index(&value, length);
            }
            if unstable {
                value = self.spill(value, IntType::I64, index.span);
            }
            flat = Some(match flat {
                None => value,
                Some(outer) => {
                    let scaled = flow::binary(pdnet_net::BinaryOp::Mul, outer, Expr::Const(length));
                    flow::binary(pdnet_net::BinaryOp::Add, scaled, value)
                }
            });
        }
        Some((variable, flat))
    }

    /// The object behind a pointer argument such as `&m`, `&m[i]`, `m + i`, as an lvalue with its index.
    pub(crate) fn pointed_object(&mut self, argument: &TreeExpr) -> Option<(Variable, Option<Expr>)> {
        let object = self.find_pointed_object(argument);
        self.never_silent(object, argument.span)
    }

    fn find_pointed_object(&mut self, argument: &TreeExpr) -> Option<(Variable, Option<Expr>)> {
        let stripped = survey::strip_casts(argument);
        match &stripped.kind {
            ExprKind::AddressOf(lvalue) => self.variable_and_index(lvalue, false),
            ExprKind::Decay(lvalue) => self.element(lvalue, None, false),
            ExprKind::PointerOffset { pointer, offset, negate } => {
                if let ExprKind::Decay(lvalue) = &survey::strip_casts(pointer).kind {
                    return self.element(lvalue, Some(offset), *negate);
                }
                self.unknown_object(argument.span)
            }
            _ => self.unknown_object(argument.span),
        }
    }

    fn unknown_object(&mut self, span: Span) -> Option<(Variable, Option<Expr>)> {
        let message = "pointers to objects are not supported yet";
        let diagnostic = pdnet_source::Diagnostic::error("unsupported", message);
        let diagnostic = diagnostic.at(span, "pdnet cannot tell which object this is");
        self.error(diagnostic.help("name the object itself, as in `&m` or `&m[i]`"));
        None
    }

    fn element(
        &mut self,
        lvalue: &Lvalue,
        offset: Option<&TreeExpr>,
        negate: bool,
    ) -> Option<(Variable, Option<Expr>)> {
        let LvalueKind::Variable(variable) = lvalue.kind else { return self.unknown_object(lvalue.span) };
        let (_, lengths) = array_shape(&self.program.variables[variable].ty.ty)?;
        let &[length] = lengths.as_slice() else { return self.unknown_object(lvalue.span) };
        let mut index = offset.map_or(Expr::Const(0), |offset| self.value(offset));
        if negate {
            index = Expr::unary(pdnet_net::UnaryOp::Neg, IntType::I64, index);
        }
        self.check_index(&index, i64::try_from(length).unwrap_or(i64::MAX));
        Some((variable, Some(index)))
    }
}

/// The position of an initialised element in the flat array.
pub(crate) fn flat_index(path: &[InitStep], lengths: &[u64]) -> Option<u32> {
    if path.len() != lengths.len() {
        return None;
    }
    let mut flat = 0u64;
    for (step, length) in path.iter().zip(lengths) {
        match step {
            InitStep::Index(index) => flat = flat.checked_mul(*length)?.checked_add(*index)?,
            InitStep::Field(_) => return None,
        }
    }
    u32::try_from(flat).ok()
}
