//! Lvalues: the way from a variable or a pointer to a part of an object.

use pdnet_net::{BinaryOp, Expr, IntType, UnaryOp};
use pdnet_source::Span;

use super::Lowerer;
use super::cells::{Object, Slice, Target, int_type};
use super::flow::binary;
use super::points_to::{Home, Homes};
use super::shape::{self, Dimension, Leaf};
use super::survey::strip_casts;
use crate::tree::{Expr as TreeExpr, ExprKind, Lvalue, LvalueKind};
use crate::types::{IntKind, Type};

/// Where a way begins.
#[derive(Clone, Debug)]
pub(crate) enum Root {
    /// An object that the program names.
    Named(Home),
    /// What a pointer points to: its value, and the objects that this can be.
    Pointer(Expr, Homes),
}

/// How a part of an object is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// As this type.
    As(Type),
    /// As a bit-field, by its distance in bits and its width.
    Bits { offset: u64, width: u8, signed: bool, is_bool: bool },
    /// As the bytes that they are: a cell of a union or of bit-fields as a whole.
    Raw { size: u64 },
}

impl View {
    pub(crate) const fn is_bits(&self) -> bool {
        matches!(self, Self::Bits { .. })
    }

    pub(crate) const fn is_pointer(&self) -> bool {
        matches!(self, Self::As(Type::Pointer(_)))
    }
}

/// The way to a part of an object.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) root: Root,
    /// Bytes from there, without those of the indices.
    pub(crate) offset: u64,
    pub(crate) indices: Vec<(Expr, Dimension)>,
    pub(crate) view: View,
}

impl Lowerer<'_> {
    /// The object that an lvalue names. May emit steps for its indices; leaves checks pending.
    pub(crate) fn object(&mut self, lvalue: &Lvalue) -> Option<Object> {
        let path = self.path(lvalue);
        let object = path.and_then(|path| self.resolve_path(path, lvalue.span));
        self.never_silent(object, lvalue.span)
    }

    /// The object that an lvalue names, where other steps will come between now and its use.
    pub(crate) fn fixed_object(&mut self, lvalue: &Lvalue) -> Option<Object> {
        let path = self.path(lvalue);
        let path = path.map(|mut path| {
            self.fix_path(&mut path, true, lvalue.span);
            path
        });
        let object = path.and_then(|path| self.resolve_path(path, lvalue.span));
        self.never_silent(object, lvalue.span)
    }

    /// The way to the object that an lvalue names.
    pub(crate) fn path(&mut self, lvalue: &Lvalue) -> Option<Path> {
        let view = View::As(lvalue.ty.ty.clone());
        let start = |root| Path { root, offset: 0, indices: Vec::new(), view: view.clone() };
        match &lvalue.kind {
            LvalueKind::Variable(variable) => Some(start(Root::Named(Home::Variable(*variable)))),
            LvalueKind::Compound(variable, init) => {
                self.initialise(*variable, Some(init), lvalue.span);
                Some(start(Root::Named(Home::Variable(*variable))))
            }
            LvalueKind::String(text) => {
                let number = self.survey.points_to.text_number(text)?;
                Some(start(Root::Named(Home::Text(number))))
            }
            LvalueKind::Deref(pointer) => {
                let homes = self.survey.points_to.value(self.program, pointer);
                let address = self.value(pointer);
                Some(start(Root::Pointer(address, homes)))
            }
            LvalueKind::Index(base, index) => {
                let mut path = self.path(base)?;
                let class = self.class(index);
                if class.steps || (class.shared && self.has_shared_part(&path)) {
                    self.fix_path(&mut path, class.steps, lvalue.span);
                }
                let Type::Array(_, count) = &base.ty.ty else { return None };
                let stride = shape::size_of(self.program, &lvalue.ty.ty);
                let length = match (&base.kind, count) {
                    (LvalueKind::Variable(variable), None) => self.own_length(*variable),
                    _ => None,
                };
                let room = length.as_ref().map(|_| u64::from(self.options.max_elements));
                // An array without a length at the end of a struct goes on to the end of the block.
                let is_flexible = count.is_none() && matches!(path.root, Root::Pointer(..));
                let count = count.or(room).or(is_flexible.then_some(0));
                let (Some(stride), Some(count)) = (stride, count) else {
                    self.unsupported(lvalue.span, "arrays whose length is not constant are");
                    return None;
                };
                let value = self.value(index);
                match length {
                    _ if is_flexible => {}
                    None => self.check_index(&value, i64::try_from(count).unwrap_or(i64::MAX)),
                    Some(length) => {
                        let inside = Expr::binary(BinaryOp::Lt, IntType::U64, value.clone(), length);
                        self.add_check(inside, pdnet_net::Fault::OutOfBounds);
                    }
                }
                path.indices.push((value, Dimension { stride, count }));
                path.view = view;
                Some(path)
            }
            LvalueKind::Field(base, position) => {
                let mut path = self.path(base)?;
                let Type::Record(record) = &base.ty.ty else { return None };
                let field = self.program.records[*record].fields.as_ref()?.get(*position)?;
                match field.bit_width {
                    None => {
                        path.offset += field.bit_offset / 8;
                        path.view = view;
                    }
                    Some(width) => {
                        let signed = int_type(self.program.data_model, &field.ty.ty)?.signed;
                        path.view = View::Bits {
                            offset: field.bit_offset,
                            width: u8::try_from(width).ok()?,
                            signed,
                            is_bool: field.ty.ty == Type::Int(IntKind::Bool),
                        };
                    }
                }
                Some(path)
            }
        }
    }

    /// The way to what is behind a pointer argument such as `&m`, `&m[i]`, `m + i`, `p`, accessed as the type.
    /// An object that the argument names is taken itself; nothing needs to know its address.
    pub(crate) fn behind_path(&mut self, argument: &TreeExpr, ty: &Type) -> Option<Path> {
        let view = View::As(ty.clone());
        let stripped = strip_casts(argument);
        let is_same = |named: &Type| shape::size_of(self.program, named) == shape::size_of(self.program, ty);
        let zero = TreeExpr { kind: ExprKind::Int(0), ty: Type::INT, span: argument.span };
        let element = |base: &Lvalue, index: &TreeExpr| {
            let Type::Array(element, _) = &base.ty.ty else { return None };
            let kind = LvalueKind::Index(Box::new(base.clone()), Box::new(index.clone()));
            is_same(&element.ty).then(|| Lvalue { kind, ty: (**element).clone(), span: argument.span })
        };
        let named = match &stripped.kind {
            ExprKind::AddressOf(lvalue) if is_same(&lvalue.ty.ty) => Some((**lvalue).clone()),
            ExprKind::Decay(base) => element(base, &zero),
            ExprKind::PointerOffset { pointer, offset, negate: false } => match &pointer.kind {
                ExprKind::Decay(base) => element(base, offset),
                _ => None,
            },
            _ => None,
        };
        if let Some(lvalue) = named {
            let mut path = self.path(&lvalue)?;
            if let View::As(_) = path.view {
                path.view = view;
            }
            return Some(path);
        }
        let homes = self.survey.points_to.value(self.program, argument);
        let address = self.value(argument);
        Some(Path { root: Root::Pointer(address, homes), offset: 0, indices: Vec::new(), view })
    }

    /// The object behind a pointer argument. `fixed`: other steps come before its use.
    pub(crate) fn behind(&mut self, argument: &TreeExpr, ty: &Type, fixed: bool) -> Option<Object> {
        let path = self.behind_path(argument, ty);
        let path = path.map(|mut path| {
            if fixed {
                self.fix_path(&mut path, true, argument.span);
            }
            path
        });
        let object = path.and_then(|path| self.resolve_path(path, argument.span));
        self.never_silent(object, argument.span)
    }

    /// Whether finding the object touches a shared cell.
    pub(crate) fn has_shared_part(&self, path: &Path) -> bool {
        let root = match &path.root {
            Root::Named(_) => false,
            Root::Pointer(address, _) => self.is_shared_expr(address),
        };
        root || path.indices.iter().any(|(index, _)| self.is_shared_expr(index))
    }

    /// Puts what decides the way into temporaries: what is shared, or, where other steps come before the way
    /// is used, what may change.
    pub(crate) fn fix_path(&mut self, path: &mut Path, always: bool, span: Span) {
        if let Root::Pointer(address, _) = &mut path.root
            && (self.is_shared_expr(address) || (always && !self.is_stable(address)))
        {
            *address = self.spill(address.clone(), IntType::U64, span);
        }
        for at in 0..path.indices.len() {
            let index = path.indices[at].0.clone();
            if self.is_shared_expr(&index) || (always && !self.is_stable(&index)) {
                path.indices[at].0 = self.spill(index, IntType::I64, span);
            }
        }
    }

    /// The object at the end of a way. What finds it is in temporaries where it and the object are shared.
    pub(crate) fn resolve_path(&mut self, mut path: Path, span: Span) -> Option<Object> {
        if self.has_shared_part(&path) && self.may_be_shared(&path.root) {
            self.fix_path(&mut path, false, span);
        }
        match &path.root {
            Root::Named(home) => self.named_part(*home, &path, span),
            Root::Pointer(address, homes) => {
                let moved = self.moved_address(address.clone(), &path);
                self.pointed(&moved, &homes.clone(), &path.view, span)
            }
        }
    }

    fn may_be_shared(&self, root: &Root) -> bool {
        if self.frame.coarse {
            return false;
        }
        match root {
            Root::Named(home) => self.survey.shared.contains(home),
            Root::Pointer(_, homes) => homes.iter().any(|home| self.survey.shared.contains(home)),
        }
    }

    /// The bytes between the start of the way and its end that indices make, from the n-th on.
    fn index_bytes(path: &Path, n: usize) -> Expr {
        path.indices[n..].iter().fold(Expr::Const(0), |sum, (index, dimension)| {
            let stride = i64::try_from(dimension.stride).unwrap_or(i64::MAX);
            add(sum, scaled(index.clone(), stride))
        })
    }

    fn moved_address(&self, address: Expr, path: &Path) -> Expr {
        let bytes = add(Self::index_bytes(path, 0), Expr::Const(i64::try_from(path.offset).unwrap_or(0)));
        if bytes == Expr::Const(0) {
            address
        } else {
            Expr::binary(BinaryOp::Add, IntType::U64, address, bytes)
        }
    }

    /// The address of the end of a way.
    pub(crate) fn path_address(&mut self, path: &Path) -> Expr {
        match &path.root {
            Root::Named(home) => {
                let start = self.address_of_home(*home);
                self.moved_address(start, path)
            }
            Root::Pointer(address, _) => self.moved_address(address.clone(), path),
        }
    }

    /// A part of an object that the program names.
    fn named_part(&mut self, home: Home, path: &Path, span: Span) -> Option<Object> {
        let shape = self.shape(home, span)?;
        let mut targets = Vec::new();
        let Viewed { bytes, bit, width, ty, is_bool } = self.viewed(&path.view, span)?;
        let start = path.offset + bytes;
        for (position, leaf) in shape.leaves.iter().enumerate() {
            let n = leaf.dimensions.len();
            if !path.indices.iter().map(|(_, dimension)| dimension).take(n).eq(&leaf.dimensions) {
                continue;
            }
            let inner = add(Self::index_bytes(path, n), Expr::Const(i64::try_from(start).ok()?));
            let Some(found) = self.leaf_slice(leaf, &inner, bit, width, &path.view) else { continue };
            let place = self.leaf_place(home, position, span)?;
            let mut key = self.own_key(home);
            if n > 0 {
                key.push(flat_index(&path.indices[..n]));
            }
            targets.push(Target { when: found.0, place, key, stored: leaf.value, slice: found.1 });
        }
        if targets.is_empty() {
            self.unsupported(span, "accessing this part of the object in this way is");
            return None;
        }
        let (is_bits, is_pointer) = (path.view.is_bits(), path.view.is_pointer());
        Some(Object { targets, ty, is_bool, is_bits, is_pointer })
    }

    /// The leaf of a named object that a way ends at, and the key of its cell.
    pub(crate) fn named_leaf(&mut self, home: Home, path: &Path, span: Span) -> Option<(usize, Vec<Expr>)> {
        let shape = self.shape(home, span)?;
        let is_leaf = |leaf: &Leaf| {
            let fits = matches!(&path.view, View::As(ty) if shape::fits(self.program, ty, leaf));
            let dimensions = path.indices.iter().map(|(_, dimension)| dimension);
            fits && leaf.offset == path.offset && dimensions.eq(&leaf.dimensions)
        };
        let Some(position) = shape.leaves.iter().position(is_leaf) else {
            let wanted = if let View::As(ty) = &path.view { ty.display(self.program) } else { String::new() };
            let message = format!("expected a `{wanted}`");
            self.error(pdnet_source::Diagnostic::error("type-mismatch", message).at(span, ""));
            return None;
        };
        let mut key = self.own_key(home);
        if !path.indices.is_empty() {
            key.push(flat_index(&path.indices));
        }
        Some((position, key))
    }

    /// Whether the bytes at a distance from the element's origin are in the leaf: under which condition, and
    /// in which part of the cell.
    fn leaf_slice(
        &self,
        leaf: &Leaf,
        start: &Expr,
        bit: u64,
        width: u64,
        view: &View,
    ) -> Option<(Option<Expr>, Option<Slice>)> {
        let first = i64::try_from(leaf.offset).ok()?;
        if let View::As(ty) = view
            && shape::fits(self.program, ty, leaf)
        {
            return (*start == Expr::Const(first)).then_some((None, None));
        }
        // Pointers need more bits than they have in memory where that has 32.
        let is_wide = matches!(view, View::As(Type::Pointer(_))) && self.pointer_bits() < 64;
        if is_wide {
            return None;
        }
        if let View::As(ty) = view
            && !leaf.is_unit
            && (!shape::is_character(ty) || matches!(leaf.ty, Type::Sync(_)))
        {
            return None;
        }
        let distance = add(start.clone(), Expr::Const(-first));
        let room = i64::try_from(leaf.size).ok()? - i64::try_from((bit + width).div_ceil(8)).ok()?;
        let when = Expr::binary(BinaryOp::Le, IntType::U64, distance.clone(), Expr::Const(room.max(0)));
        if when == Expr::Const(0) || room < 0 {
            return None;
        }
        let shift = add(scaled(distance, 8), Expr::Const(i64::try_from(bit).ok()?));
        let bits = u8::try_from(width).ok()?;
        let when = if when == Expr::TRUE { None } else { Some(when) };
        if shift == Expr::Const(0) && bits == leaf.value.bits {
            return Some((when, None));
        }
        let is_apart = !matches!(view, View::Bits { .. });
        Some((when, Some(Slice { shift, bits, is_apart })))
    }

    /// What a view needs: bytes and bits from its start, its width in bits, and the type of the value.
    pub(crate) fn viewed(&mut self, view: &View, span: Span) -> Option<Viewed> {
        Some(match view {
            View::As(ty) => {
                let int = self.int_type_at(ty, span);
                let width = shape::size_of(self.program, ty)? * 8;
                Viewed { bytes: 0, bit: 0, width, ty: int, is_bool: *ty == Type::Int(IntKind::Bool) }
            }
            View::Bits { offset, width, signed, is_bool } => Viewed {
                bytes: offset / 8,
                bit: offset % 8,
                width: u64::from(*width),
                ty: IntType { bits: *width, signed: *signed },
                is_bool: *is_bool,
            },
            View::Raw { size } => {
                let ty = IntType { bits: u8::try_from(size * 8).ok()?, signed: false };
                Viewed { bytes: 0, bit: 0, width: size * 8, ty, is_bool: false }
            }
        })
    }
}

/// See [`Lowerer::viewed`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Viewed {
    pub(crate) bytes: u64,
    pub(crate) bit: u64,
    pub(crate) width: u64,
    pub(crate) ty: IntType,
    pub(crate) is_bool: bool,
}

/// A sum; adding 0 is left out.
pub(crate) fn add(left: Expr, right: Expr) -> Expr {
    match (&left, &right) {
        (Expr::Const(0), _) => right,
        (_, Expr::Const(0)) => left,
        _ => binary(BinaryOp::Add, left, right),
    }
}

/// A product with a constant; multiplying with 1 is left out.
pub(crate) fn scaled(value: Expr, factor: i64) -> Expr {
    if factor == 1 { value } else { binary(BinaryOp::Mul, value, Expr::Const(factor)) }
}

/// A negated number.
pub(crate) fn negated(value: Expr) -> Expr {
    Expr::unary(UnaryOp::Neg, IntType::I64, value)
}

/// The position among all elements.
fn flat_index(indices: &[(Expr, Dimension)]) -> Expr {
    indices.iter().fold(Expr::Const(0), |flat, (index, dimension)| {
        let count = i64::try_from(dimension.count).unwrap_or(i64::MAX);
        add(scaled(flat, count), index.clone())
    })
}
