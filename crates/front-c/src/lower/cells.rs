//! Objects as places: each scalar part of each object is a place with cells.

use std::rc::Rc;

use pdnet_net::{Base, BinaryOp, CellData, Domain, Expr, IntType, Net, Place, PlaceKind, Scope, Shown};
use pdnet_source::{Diagnostic, Span};

use super::points_to::Home;
use super::shape::{Dimension, Leaf, Shape, shape_of, words_of};
use super::{Lowerer, flow};
use crate::tree::{Expr as TreeExpr, Init, InitStep, Storage, Variable};
use crate::types::{DataModel, QualType, Type};

pub(crate) use super::shape::int_type;

/// A condition variable or barrier: who waits, and who was woken and has not yet gone on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) waiters: Place,
    pub(crate) woken: Place,
}

/// Some bits of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    /// How many lower bits are not meant.
    pub(crate) shift: Expr,
    pub(crate) bits: u8,
    /// It is a memory location of its own, other than a bit-field.
    pub(crate) is_apart: bool,
}

/// A cell of which only a part is meant: the reader of the step's cells knows it by the conversion, which changes
/// nothing ([`super::reads`]).
fn in_part(cell: Expr, is_apart: bool) -> Expr {
    if is_apart { Expr::convert(IntType::U64, cell) } else { cell }
}

/// A cell with its key, in terms of the step that will touch it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The cell is meant only where this is true: a pointer may point elsewhere.
    pub(crate) when: Option<Expr>,
    pub(crate) place: Place,
    pub(crate) key: Vec<Expr>,
    /// The type in which the cell keeps its value.
    pub(crate) stored: IntType,
    /// Only a part of the cell is meant.
    pub(crate) slice: Option<Slice>,
}

impl Target {
    pub(crate) fn cell(&self) -> Expr {
        Expr::Cell(self.place, self.key.clone())
    }

    /// The value in a type.
    fn load(&self, ty: IntType) -> Expr {
        let Some(Slice { shift, bits, is_apart }) = &self.slice else {
            return super::value::convert(self.stored, ty, self.cell());
        };
        let cell = in_part(self.cell(), *is_apart);
        let moved = Expr::binary(BinaryOp::Shr, IntType::U64, cell, shift.clone());
        Expr::convert(IntType { bits: *bits, signed: ty.signed }, moved)
    }

    /// What the cell holds after a value was written.
    pub(crate) fn stored_value(&self, value: &Expr) -> Expr {
        self.stored_over(self.cell(), value)
    }

    /// The same where this is what the cell held.
    pub(crate) fn stored_over(&self, old: Expr, value: &Expr) -> Expr {
        let Some(Slice { shift, bits, is_apart }) = &self.slice else { return value.clone() };
        let old = in_part(old, *is_apart);
        let mask = Expr::Const(low_bits(u32::from(*bits)));
        let word = |op, left, right| Expr::binary(op, IntType::U64, left, right);
        let hole = word(BinaryOp::Shl, mask.clone(), shift.clone());
        let hole = Expr::unary(pdnet_net::UnaryOp::Not, IntType::U64, hole);
        let kept = word(BinaryOp::And, old, hole);
        let new = word(BinaryOp::And, value.clone(), mask);
        word(BinaryOp::Or, kept, word(BinaryOp::Shl, new, shift.clone()))
    }
}

/// An object of the program: one cell, or one of several behind a pointer.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) targets: Vec<Target>,
    /// The type in which it is accessed; of a bit-field, as wide as that is.
    pub(crate) ty: IntType,
    pub(crate) is_bool: bool,
    /// It is a bit-field: a part of a memory location (C11 3.14), which is written as a whole.
    pub(crate) is_bits: bool,
    /// It is accessed as a pointer.
    pub(crate) is_pointer: bool,
}

impl Object {
    /// The whole memory location of a bit-field.
    pub(crate) fn location(&self) -> Expr {
        self.targets.iter().rev().fold(Expr::Const(0), |otherwise, target| match &target.when {
            None => target.cell(),
            Some(when) => Expr::cond(when.clone(), target.cell(), otherwise),
        })
    }

    pub(crate) fn load(&self) -> Expr {
        self.targets.iter().rev().fold(Expr::Const(0), |otherwise, target| {
            let value = target.load(self.ty);
            match &target.when {
                None => value,
                Some(when) => Expr::cond(when.clone(), value, otherwise),
            }
        })
    }
}

/// A number whose lowest bits are 1.
pub(crate) fn low_bits(bits: u32) -> i64 {
    if bits >= 64 { -1 } else { (1u64 << bits).wrapping_sub(1).cast_signed() }
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
            Type::Float(_) => "values of type `long double` are",
            Type::Record(_) => "structs and unions as values are, in this place,",
            Type::Array(..) => "whole arrays as values are",
            Type::Int(_) => "128-bit integers are",
            Type::Function(_) => "functions as values are",
            Type::Sync(_) | Type::Void | Type::Thread | Type::Pointer(_) => "values of this type are",
        };
        self.unsupported(span, what);
        IntType::I32
    }

    /// The number of bits of a pointer.
    pub(crate) const fn pointer_bits(&self) -> u8 {
        match self.program.data_model {
            DataModel::Lp64 => 64,
            DataModel::Ilp32 => 32,
        }
    }

    /// The type of an object.
    pub(crate) fn home_type(&self, home: Home) -> QualType {
        match home {
            Home::Variable(variable) => self.type_with_room(variable),
            Home::Text(number) => {
                let length = self.survey.points_to.texts[number].len() as u64;
                let character = Type::Int(crate::types::IntKind::Char);
                Type::Array(Box::new(character.into()), Some(length)).into()
            }
            Home::Heap(site) => self.block_type(site).into(),
            Home::Function(_) | Home::Outside => Type::Void.into(),
        }
    }

    /// The shape of an object, or a diagnostic.
    pub(crate) fn shape(&mut self, home: Home, span: Span) -> Option<Rc<Shape>> {
        if let Some(shape) = self.shapes.get(&home) {
            return Some(Rc::clone(shape));
        }
        let ty = self.home_type(home);
        let shape = shape_of(self.program, &ty).map(|shape| {
            let as_bytes = self.survey.points_to.as_bytes.contains(&home);
            if as_bytes { words_of(shape.size, matches!(home, Home::Heap(_))) } else { shape }
        });
        match shape {
            Ok(shape) => {
                let shape = Rc::new(shape);
                self.shapes.insert(home, Rc::clone(&shape));
                Some(shape)
            }
            Err(what) => {
                let span = if let Home::Variable(variable) = home {
                    self.program.variables[variable].span
                } else {
                    span
                };
                self.unsupported(span, &what);
                None
            }
        }
    }

    /// How long an object lives.
    pub(crate) fn scope_of(&self, home: Home) -> Option<Scope> {
        Some(match home {
            Home::Variable(variable) => match self.program.variables[variable].storage {
                Storage::Global | Storage::Static(_) => Scope::Global,
                Storage::ThreadLocal => Scope::Thread,
                Storage::Local(function) | Storage::Param(function) => {
                    Scope::Frame(*self.functions.get(&function)?)
                }
            },
            Home::Heap(site) => self.block_scope(site),
            Home::Text(_) => Scope::Global,
            Home::Function(_) | Home::Outside => return None,
        })
    }

    /// The place with the cells of a leaf of an object.
    pub(crate) fn leaf_place(&mut self, home: Home, leaf: usize, span: Span) -> Option<Place> {
        if let Some(&place) = self.cells.get(&(home, leaf)) {
            return Some(place);
        }
        if let Home::Variable(variable) = home
            && self.program.variables[variable].extern_only
        {
            let data = &self.program.variables[variable];
            let message = format!("`{}` is declared but never defined", data.name);
            let diagnostic = Diagnostic::error("undefined-variable", message);
            self.error(diagnostic.at(span, "its value is not known").context(data.span, "declared here"));
            return None;
        }
        let shape = self.shape(home, span)?;
        let data = shape.leaves.get(leaf)?;
        let n_blocks = if let Home::Heap(site) = home { Some(self.n_slots(site)) } else { None };
        let is_single = data.dimensions.is_empty() && n_blocks.is_none();
        let count = data.count().saturating_mul(u64::from(n_blocks.unwrap_or(1)));
        let length = match count {
            _ if is_single => None,
            n @ 1..=MAX_ELEMENTS => Some(u32::try_from(n).expect("in range")),
            _ => {
                self.unsupported(span, "arrays of no or of more than a million elements are");
                return None;
            }
        };
        let scope = self.scope_of(home)?;
        let mut cells = CellData { scope, length, value: data.value, default: 0, listed: Vec::new() };
        if let Home::Variable(variable) = home {
            // The address of the object itself may be in its initialiser.
            self.static_init(variable, leaf, &shape, &mut cells);
            if let Some(&place) = self.cells.get(&(home, leaf)) {
                return Some(place);
            }
        }
        if let Home::Text(number) = home {
            let text = &self.survey.points_to.texts[number];
            let listed = (0..).zip(text).filter(|(_, byte)| **byte != 0);
            cells.listed = listed.map(|(at, byte)| (at, i64::from(byte.cast_signed()))).collect();
        }
        let name = format!("{}{}", self.home_name(home), data.name);
        let place = self.net.add_cells(&name, cells);
        self.net.places[place].pos = self.home_span(home).and_then(|span| self.pos(span));
        let is_shared = self.survey.shared.contains(&home);
        // What only one thread can come to cannot be raced for.
        self.net.places[place].memory = is_shared && !matches!(data.ty, Type::Sync(_)) && !data.is_atomic;
        self.net.places[place].shown = if data.is_unit { Shown::Bits } else { super::shape::shown(&data.ty) };
        if is_shared {
            self.shared_cells.insert(place);
        }
        self.cells.insert((home, leaf), place);
        if data.is_bool() {
            self.bools.insert(place);
        }
        if let Home::Text(_) = home {
            self.literals.insert(place);
        }
        if let Home::Heap(site) = home
            && !self.survey.points_to.sites[site].is_zeroed
            && !matches!(data.ty, Type::Sync(_) | Type::Thread)
        {
            self.add_shadow(place);
        }
        Some(place)
    }

    /// Adds a place that says which cells of another one were written: reading one that was not is undefined.
    pub(crate) fn add_shadow(&mut self, place: Place) -> Option<Place> {
        if let Some(&shadow) = self.written.get(&place) {
            return Some(shadow);
        }
        let cells = self.net.places[place].cells()?.clone();
        let value = IntType { bits: 1, signed: false };
        let name = format!("{} (written)", self.net.places[place].name);
        let shadow = self.net.add_cells(&name, CellData { value, default: 0, listed: vec![], ..cells });
        self.net.places[shadow].internal = true;
        self.written.insert(place, shadow);
        Some(shadow)
    }

    /// The place that says which cells of another one were written.
    pub(crate) fn shadow_of(&self, place: Place) -> Option<Place> {
        self.written.get(&place).copied()
    }

    /// The place of a variable that is a scalar or an array of scalars.
    pub(crate) fn cells_of(&mut self, variable: Variable, span: Span) -> Option<Place> {
        let shape = self.shape(Home::Variable(variable), span)?;
        if shape.leaves.len() != 1 || shape.leaves[0].is_unit {
            self.unsupported(span, "structs and unions as values are, in this place,");
            return None;
        }
        self.leaf_place(Home::Variable(variable), 0, span)
    }

    fn home_span(&self, home: Home) -> Option<Span> {
        match home {
            Home::Variable(variable) => Some(self.program.variables[variable].span),
            Home::Heap(site) => Some(self.survey.points_to.sites[site].span),
            Home::Text(_) | Home::Function(_) | Home::Outside => None,
        }
    }

    /// The name of an object, for people.
    pub(crate) fn home_name(&self, home: Home) -> String {
        match home {
            Home::Variable(variable) => {
                let data = &self.program.variables[variable];
                match data.storage {
                    Storage::Static(function) => {
                        format!("{}::{}", self.program.functions[function].name, data.name)
                    }
                    _ => data.name.clone(),
                }
            }
            Home::Heap(site) => {
                let line = self.pos(self.survey.points_to.sites[site].span).map_or(0, |pos| pos.line);
                format!("{}@{line}", self.block_word(site))
            }
            Home::Text(number) => {
                let text = String::from_utf8_lossy(&self.survey.points_to.texts[number]).into_owned();
                format!("{:?}", text.trim_end_matches('\0'))
            }
            Home::Function(function) => self.program.functions[function].name.clone(),
            Home::Outside => "the environment".to_owned(),
        }
    }

    /// The initial values of a leaf of a global or static variable.
    fn static_init(&mut self, variable: Variable, leaf: usize, shape: &Shape, cells: &mut CellData) {
        let program = self.program;
        let data = &program.variables[variable];
        match &data.init {
            None => {}
            Some(Init::Sync(kind)) => cells.default = super::mutex::of_kind(*kind),
            Some(Init::Value(value)) => {
                let is_bool = shape.leaves[leaf].is_bool();
                cells.default = self.constant(value, cells.value, is_bool);
            }
            Some(Init::List(items)) => {
                for (path, value) in items {
                    let Some(part) = self.init_part(shape, &data.ty, path, value.span) else { continue };
                    if part.leaf != leaf {
                        continue;
                    }
                    let found = self.constant(value, part.value, shape.leaves[leaf].is_bool());
                    let index = u32::try_from(part.index).unwrap_or(u32::MAX);
                    let old = cells.listed.iter().find(|(listed, _)| *listed == index).map_or(0, |(_, v)| *v);
                    let found = match part.bits {
                        None => found,
                        Some((shift, bits)) => {
                            let mask = low_bits(bits);
                            cells.value.wrap((old & !(mask << shift)) | ((found & mask) << shift))
                        }
                    };
                    cells.listed.retain(|&(listed, _)| listed != index);
                    cells.listed.push((index, found));
                }
                cells.listed.sort_unstable();
                if cells.length.is_none() {
                    cells.default = cells.listed.first().map_or(0, |(_, value)| *value);
                    cells.listed.clear();
                }
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
                let diagnostic = Diagnostic::error("not-constant", message);
                self.error(diagnostic.at(value.span, "not a constant"));
                0
            }
        }
    }

    /// The part of an object that an item of an initialiser sets.
    pub(crate) fn init_part(
        &mut self,
        shape: &Shape,
        ty: &QualType,
        path: &[InitStep],
        span: Span,
    ) -> Option<InitPart> {
        let part = find_part(self.program, shape, &ty.ty, path);
        if part.is_none() {
            self.unsupported(span, "this initialiser is");
        }
        part
    }

    /// The waiters of condition variables or barriers: of all elements of a leaf.
    pub(crate) fn condition_of(&mut self, home: Home, leaf: usize, span: Span) -> Option<Condition> {
        if let Some(&condition) = self.conditions.get(&(home, leaf)) {
            return Some(condition);
        }
        let shape = self.shape(home, span)?;
        let rows = self.n_rows(home, &shape.leaves[leaf]);
        let mut components = Vec::new();
        if let Some(rows) = rows {
            components.push(Base::Index(u32::try_from(rows.min(MAX_ELEMENTS)).expect("in range")));
        }
        components.push(Base::Thread);
        let pos = self.home_span(home).and_then(|span| self.pos(span));
        let add = |net: &mut Net, name: String| {
            let place = net.add_token_place(&name, PlaceKind::Variable, components.clone());
            net.places[place].pos = pos;
            place
        };
        let name = format!("{}{}", self.home_name(home), shape.leaves[leaf].name);
        let waiters = add(&mut self.net, name.clone());
        let woken = add(&mut self.net, format!("{name} (woken)"));
        let condition = Condition { waiters, woken };
        self.conditions.insert((home, leaf), condition);
        Some(condition)
    }

    /// How many condition variables a leaf stands for in the whole process: of all threads and frames.
    fn n_rows(&self, home: Home, leaf: &Leaf) -> Option<u64> {
        let blocks = if let Home::Heap(site) = home { u64::from(self.n_slots(site)) } else { 1 };
        let owners = match self.scope_of(home) {
            Some(Scope::Thread) => u64::from(self.net.max_threads),
            Some(Scope::Frame(_)) => u64::from(self.net.max_threads) * u64::from(self.net.max_depth),
            Some(Scope::Global) | None => 1,
        };
        let is_single = leaf.dimensions.is_empty() && owners == 1 && !matches!(home, Home::Heap(_));
        (!is_single).then(|| leaf.count().saturating_mul(blocks).saturating_mul(owners))
    }

    /// The row of a condition variable, given the key that its cell would have.
    pub(crate) fn condition_row(&self, home: Home, leaf: &Leaf, key: &[Expr]) -> Option<Expr> {
        let rows = self.n_rows(home, leaf)?;
        let has_index = !leaf.dimensions.is_empty() || matches!(home, Home::Heap(_));
        let scoped = &key[..key.len() - usize::from(has_index)];
        let mut row = Expr::Const(0);
        let bounds = [i64::from(self.net.max_threads), i64::from(self.net.max_depth)];
        for (part, bound) in scoped.iter().zip(bounds) {
            let scaled = flow::binary(BinaryOp::Mul, row, Expr::Const(bound));
            row = flow::binary(BinaryOp::Add, scaled, part.clone());
        }
        if has_index {
            let owners: i64 = bounds.iter().take(scoped.len()).product();
            let inner = i64::try_from(rows).unwrap_or(i64::MAX) / owners.max(1);
            let scaled = flow::binary(BinaryOp::Mul, row, Expr::Const(inner));
            row = flow::binary(BinaryOp::Add, scaled, key.last()?.clone());
        }
        Some(row)
    }

    /// The first part of the key of an object that the frame which moves reaches by name.
    pub(crate) fn own_key(&self, home: Home) -> Vec<Expr> {
        match self.scope_of(home) {
            Some(Scope::Frame(_)) => flow::frame_key(),
            Some(Scope::Thread) => vec![pdnet_net::TransitionBuilder::thread()],
            Some(Scope::Global) | None => Vec::new(),
        }
    }

    /// Nothing is dropped without a word: where there is no result, there is a diagnostic.
    pub(crate) fn never_silent<T>(&mut self, result: Option<T>, span: Span) -> Option<T> {
        if result.is_none() && self.errors.is_empty() {
            self.unsupported(span, "this object is");
        }
        result
    }
}

/// A part of an object that an initialiser sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InitPart {
    pub(crate) leaf: usize,
    /// The position among all elements of the leaf.
    pub(crate) index: u64,
    /// The lowest bit, and the number of bits, where it is a part of a cell.
    pub(crate) bits: Option<(u32, u32)>,
    /// The type of the value.
    pub(crate) value: IntType,
}

fn find_part(
    program: &crate::tree::Program,
    shape: &Shape,
    ty: &Type,
    path: &[InitStep],
) -> Option<InitPart> {
    let (mut at, mut offset, mut width) = (ty, 0u64, None);
    let mut bit = 0;
    let mut indices: Vec<(u64, Dimension)> = Vec::new();
    for step in path {
        match (step, at) {
            (InitStep::Index(index), Type::Array(element, count)) => {
                let stride = super::shape::size_of(program, &element.ty)?;
                indices.push((*index, Dimension { stride, count: count.unwrap_or(0) }));
                at = &element.ty;
            }
            (InitStep::Field(position), Type::Record(record)) => {
                let field = program.records[*record].fields.as_ref()?.get(*position)?;
                width = field.bit_width;
                offset += field.bit_offset / 8;
                bit = field.bit_offset % 8;
                at = &field.ty.ty;
            }
            _ => return None,
        }
    }
    let value = int_type(program.data_model, at)?;
    let bits = width.map_or_else(|| u64::from(value.bits), u64::from);
    for (leaf, data) in shape.leaves.iter().enumerate() {
        let n = data.dimensions.len();
        let outer: Vec<Dimension> = indices.iter().take(n).map(|(_, dimension)| *dimension).collect();
        if outer != data.dimensions {
            continue;
        }
        let inner: u64 = indices[n..].iter().map(|(index, dimension)| index * dimension.stride).sum();
        let start = offset + inner;
        let index = indices[..n].iter().fold(0, |flat, (index, dimension)| flat * dimension.count + index);
        if !data.is_unit {
            if start == data.offset && indices.len() == n {
                return Some(InitPart { leaf, index, bits: None, value });
            }
            continue;
        }
        if (data.offset..data.offset + data.size).contains(&start) {
            let shift = (start - data.offset) * 8 + bit;
            let bits = (u32::try_from(shift).ok()?, u32::try_from(bits).ok()?);
            return Some(InitPart { leaf, index, bits: Some(bits), value });
        }
    }
    None
}
