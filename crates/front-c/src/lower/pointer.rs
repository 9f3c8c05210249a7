//! Pointers.
//!
//! A pointer is a number. Its lower half is the distance from the start of the object in bytes. The upper
//! half says which object: 8 bits for the thread that owns it, 8 bits for the depth of the frame or the slot
//! of the heap that it is in, and the number of the variable, allocation, string or function plus one. Null
//! is 0, and a small integer that became a pointer has no object: all bits of its upper half are the same. An access through a pointer touches every object that
//! points-to analysis allows, each under the condition that the pointer says so; where none is meant, the step is
//! a fault.

use pdnet_net::{BinaryOp, Expr, Fault, IntType, Scope, TransitionBuilder};
use pdnet_source::Span;

use super::Lowerer;
use super::cells::{Object, Slice, Target};
use super::flow::binary;
use super::path::{View, Viewed, add, negated, scaled};
use super::points_to::{Home, Homes};
use super::shape::{self, Dimension, Leaf, Shape};
use super::unset::{Check, Otherwise};
use crate::tree::{Expr as TreeExpr, Lvalue};
use crate::types::Type;

/// Where the thread begins.
const THREAD_SHIFT: i64 = 32;
/// Where the depth or the slot begins.
const SLOT_SHIFT: i64 = 40;
/// Where the number of the object begins.
const OBJECT_SHIFT: i64 = 48;
/// How many depths a pointer can tell apart.
pub(crate) const MAX_DEPTH: u32 = 256;
/// The largest distance.
const MAX_OFFSET: i64 = 1 << 31;

/// A part of a pointer.
fn field(address: &Expr, shift: i64, mask: i64) -> Expr {
    let moved = Expr::binary(BinaryOp::Shr, IntType::U64, address.clone(), Expr::Const(shift));
    binary(BinaryOp::And, moved, Expr::Const(mask))
}

/// The distance from the start of the object.
pub(crate) fn offset_of(address: &Expr) -> Expr {
    binary(BinaryOp::And, address.clone(), Expr::Const((1 << THREAD_SHIFT) - 1))
}

/// The thread that owns the object.
pub(crate) fn thread_of(address: &Expr) -> Expr {
    field(address, THREAD_SHIFT, 0xff)
}

/// The depth of the frame, or the slot of the heap, that the object is in.
pub(crate) fn slot_of(address: &Expr) -> Expr {
    field(address, SLOT_SHIFT, 0xff)
}

/// Everything but the distance.
fn object_of(address: &Expr) -> Expr {
    Expr::binary(BinaryOp::Shr, IntType::U64, address.clone(), Expr::Const(THREAD_SHIFT))
}

/// Whether the address is in the object with this number.
pub(crate) fn is_in(address: &Expr, number: i64) -> Expr {
    let found = Expr::binary(BinaryOp::Shr, IntType::U64, address.clone(), Expr::Const(OBJECT_SHIFT));
    Expr::equal(found, Expr::Const(number))
}

impl Lowerer<'_> {
    /// The address of the start of an object, in the frame that moves.
    pub(crate) fn address_of_home(&mut self, home: Home) -> Expr {
        let Some(number) = self.survey.points_to.number(home) else {
            // Nobody takes it as a value.
            return Expr::Const(0);
        };
        let start = Expr::Const(number << OBJECT_SHIFT);
        let thread = || scaled(TransitionBuilder::thread(), 1 << THREAD_SHIFT);
        match self.scope_of(home) {
            Some(Scope::Global) | None => start,
            Some(Scope::Thread) => add(start, thread()),
            Some(Scope::Frame(_)) => {
                add(add(start, thread()), scaled(TransitionBuilder::depth(), 1 << SLOT_SHIFT))
            }
        }
    }

    /// The address of a block that was allocated, given its owner and its slot.
    pub(crate) fn address_of_block(&self, site: usize, thread: Option<Expr>, slot: Expr) -> Expr {
        let number = self.survey.points_to.number(Home::Heap(site)).unwrap_or(0);
        let start = Expr::Const(number << OBJECT_SHIFT);
        let start = thread.map_or(start.clone(), |thread| add(start, scaled(thread, 1 << THREAD_SHIFT)));
        add(start, scaled(slot, 1 << SLOT_SHIFT))
    }

    /// `&x`, or an array used as a pointer to its first element.
    pub(crate) fn address_of(&mut self, lvalue: &Lvalue) -> Expr {
        // The address of an element just behind the array is fine, so that the last index is not checked here.
        if let crate::tree::LvalueKind::Index(base, index) = &lvalue.kind {
            let start = self.address_of(base);
            return self.element_address(start, index, &lvalue.ty.ty, false, lvalue.span);
        }
        let Some(path) = self.path(lvalue) else {
            self.never_silent(None::<()>, lvalue.span);
            return Expr::Const(0);
        };
        self.path_address(&path)
    }

    /// The address some elements further.
    fn element_address(
        &mut self,
        mut start: Expr,
        index: &TreeExpr,
        element: &Type,
        negate: bool,
        span: Span,
    ) -> Expr {
        let class = self.class(index);
        if (class.steps && !self.is_stable(&start)) || (class.shared && self.is_shared_expr(&start)) {
            start = self.spill(start, IntType::U64, span);
        }
        let index = self.value(index);
        let Some(size) = shape::size_of(self.program, element).and_then(|size| i64::try_from(size).ok())
        else {
            self.unsupported(span, "arithmetic on pointers of this type is");
            return Expr::Const(0);
        };
        let bytes = scaled(index, size);
        self.pointer_plus(start, if negate { negated(bytes) } else { bytes })
    }

    /// A pointer moved by a number of bytes. One that leaves the lower half would get into another
    /// object: that is a fault.
    pub(crate) fn pointer_plus(&mut self, pointer: Expr, bytes: Expr) -> Expr {
        if bytes == Expr::Const(0) {
            return pointer;
        }
        let moved = binary(BinaryOp::Add, offset_of(&pointer), bytes.clone());
        let stays = Expr::binary(BinaryOp::Lt, IntType::U64, moved, Expr::Const(MAX_OFFSET));
        self.add_check(stays, Fault::OutOfBounds);
        Expr::binary(BinaryOp::Add, IntType::U64, pointer, bytes)
    }

    /// The size of what a pointer of this type points to.
    pub(crate) fn pointee_size(&mut self, ty: &Type, span: Span) -> i64 {
        let Type::Pointer(to) = ty else { return 1 };
        let size = shape::size_of(self.program, &to.ty).and_then(|size| i64::try_from(size).ok());
        size.unwrap_or_else(|| {
            self.unsupported(span, "arithmetic on pointers of this type is");
            1
        })
    }

    /// Pointer plus or minus integer.
    pub(crate) fn pointer_offset(
        &mut self,
        pointer: &TreeExpr,
        offset: &TreeExpr,
        negate: bool,
        span: Span,
    ) -> Expr {
        let Type::Pointer(to) = &pointer.ty else { return Expr::Const(0) };
        let start = self.value(pointer);
        self.element_address(start, offset, &to.ty, negate, span)
    }

    /// Pointer minus pointer, in elements.
    pub(crate) fn pointer_difference(&mut self, left: &TreeExpr, right: &TreeExpr, span: Span) -> Expr {
        let size = self.pointee_size(&left.ty, span);
        let values = self.arguments(&[left.clone(), right.clone()]);
        self.check_same_object(&values[0], &values[1]);
        let bytes = binary(BinaryOp::Sub, values[0].clone(), values[1].clone());
        if size == 1 { bytes } else { binary(BinaryOp::Div, bytes, Expr::Const(size.max(1))) }
    }

    /// Which of two objects comes first in memory, C does not say (C11 6.5.8p5).
    pub(crate) fn check_same_object(&mut self, left: &Expr, right: &Expr) {
        let same = Expr::equal(object_of(left), object_of(right));
        self.add_check(same, Fault::UnrelatedPointers);
    }

    /// Asks that the next step be a fault unless the condition is true.
    pub(crate) fn add_check(&mut self, condition: Expr, fault: Fault) {
        self.add_condition(Check { condition, otherwise: Otherwise::Fault(fault) });
    }

    pub(crate) fn add_condition(&mut self, check: Check) {
        let is_true = matches!(check.condition, Expr::Const(value) if value != 0);
        if !is_true && !self.frame.checks.contains(&check) {
            self.frame.checks.push(check);
        }
    }

    /// The address of an object becomes a number: only pdnet's own would be known.
    pub(crate) fn check_no_address(&mut self, value: &Expr) {
        let object = object_of(value);
        let is_negative = Expr::equal(object.clone(), Expr::Const((1 << THREAD_SHIFT) - 1));
        let is_number = Expr::either(Expr::logical_not(object), is_negative);
        self.add_check(is_number, Fault::AddressAsNumber);
    }

    /// The object at an address, accessed in a certain way.
    pub(crate) fn pointed(
        &mut self,
        address: &Expr,
        homes: &Homes,
        view: &View,
        span: Span,
    ) -> Option<Object> {
        let viewed = self.viewed(view, span)?;
        let mut found = Found::default();
        for &home in homes {
            self.add_targets(home, address, view, viewed, span, &mut found)?;
        }
        self.add_check(Expr::truth(address.clone()), Fault::NullPointer);
        if let (true, Some(number)) =
            (homes.contains(&Home::Outside), self.survey.points_to.number(Home::Outside))
        {
            self.add_check(Expr::logical_not(is_in(address, number)), Fault::Environment);
        }
        for alive in found.alive {
            self.add_check(alive, Fault::Dangling);
        }
        let valid = found.valid.into_iter().fold(Expr::Const(0), Expr::either);
        if !found.mixed.is_empty() {
            let mixed = found.mixed.into_iter().fold(Expr::Const(0), Expr::either);
            self.add_check(Expr::either(valid.clone(), Expr::logical_not(mixed)), Fault::MixedAccess);
        }
        self.add_check(valid, Fault::InvalidPointer);
        let Viewed { ty, is_bool, .. } = viewed;
        let (is_bits, is_pointer) = (view.is_bits(), view.is_pointer());
        Some(Object { targets: found.targets, ty, is_bool, is_bits, is_pointer })
    }

    /// The parts of one object that may be meant.
    fn add_targets(
        &mut self,
        home: Home,
        address: &Expr,
        view: &View,
        viewed: Viewed,
        span: Span,
        found: &mut Found,
    ) -> Option<()> {
        let Some(number) = self.survey.points_to.number(home) else { return Some(()) };
        let Some(scope) = self.scope_of(home) else { return Some(()) };
        let shape = self.shape(home, span)?;
        let is_object = is_in(address, number);
        let offset = add(offset_of(address), Expr::Const(i64::try_from(viewed.bytes).ok()?));
        let n_before = found.targets.len();
        for (position, leaf) in shape.leaves.iter().enumerate() {
            let Some((when, index, slice)) = self.leaf_at(leaf, &offset, viewed, view) else { continue };
            if leaf.count() == 0 {
                continue;
            }
            let place = self.leaf_place(home, position, span)?;
            let (mut key, index) = self.key_at(home, scope, leaf, address, index);
            key.extend(index);
            let mut when = Expr::both(is_object.clone(), when);
            if let Home::Heap(site) = home
                && let Some(inside) =
                    self.is_inside_block(site, address, viewed.bytes + viewed.width.div_ceil(8))
            {
                when = Expr::both(when, inside);
            }
            if let Home::Variable(variable) = home
                && let Some(bytes) = self.bytes_at(variable, address)
            {
                let end = Expr::Const(i64::try_from(viewed.bytes + viewed.width.div_ceil(8)).ok()?);
                when = Expr::both(when, binary(BinaryOp::Le, add(offset_of(address), end), bytes));
            }
            let when = Some(when);
            found.targets.push(Target { when, place, key, stored: leaf.value, slice });
        }
        if self.may_be_mixed(home, &shape, view) {
            let end = add(offset.clone(), Expr::Const(i64::try_from(viewed.width.div_ceil(8)).ok()?));
            let size = self.object_size(home, &shape, address);
            let inside = Expr::binary(BinaryOp::Le, IntType::U64, end, size);
            found.mixed.push(Expr::both(is_object.clone(), inside));
        }
        if let View::As(ty) = view
            && shape::is_character(ty)
        {
            // Any byte may be looked at, also those between the parts, of which nothing is known.
            let inside =
                Expr::binary(BinaryOp::Lt, IntType::U64, offset, self.object_size(home, &shape, address));
            found.valid.push(Expr::both(is_object.clone(), inside));
        } else {
            found.valid.extend(found.targets[n_before..].iter().filter_map(|target| target.when.clone()));
        }
        if found.targets.len() > n_before
            && let Some(alive) = self.is_alive(home, scope, address)
        {
            found.alive.push(Expr::either(Expr::logical_not(is_object), alive));
        }
        Some(())
    }

    /// Whether an access inside of the object may be one that the model has no cells for.
    fn may_be_mixed(&self, home: Home, shape: &Shape, view: &View) -> bool {
        let is_wide = matches!(view, View::As(Type::Pointer(_))) && self.pointer_bits() < 64;
        self.survey.points_to.mixed.contains(&home)
            || (is_wide && shape.leaves.iter().any(|leaf| leaf.is_unit))
    }

    fn object_size(&mut self, home: Home, shape: &Shape, address: &Expr) -> Expr {
        match home {
            Home::Heap(site) => self.block_size(site, address),
            Home::Variable(_) | Home::Text(_) | Home::Function(_) | Home::Outside => {
                Expr::Const(i64::try_from(shape.size).unwrap_or(i64::MAX))
            }
        }
    }

    /// The key of the cell at an address: who owns it, and the position.
    fn key_at(
        &self,
        home: Home,
        scope: Scope,
        leaf: &Leaf,
        address: &Expr,
        index: Option<Expr>,
    ) -> (Vec<Expr>, Option<Expr>) {
        let key = match scope {
            Scope::Global => Vec::new(),
            Scope::Thread => vec![thread_of(address)],
            Scope::Frame(_) => vec![thread_of(address), slot_of(address)],
        };
        let Home::Heap(_) = home else { return (key, index) };
        let count = i64::try_from(leaf.count()).unwrap_or(i64::MAX);
        let start = scaled(Self::slot_number(address), count);
        (key, Some(add(start, index.unwrap_or(Expr::Const(0)))))
    }

    /// Whether an object that may have gone is still there; `None` where it cannot have gone.
    fn is_alive(&mut self, home: Home, scope: Scope, address: &Expr) -> Option<Expr> {
        match (home, scope) {
            (Home::Heap(site), _) => Some(self.is_block(site, address)),
            (Home::Variable(variable), Scope::Frame(function)) => {
                let note = |place| Expr::truth(Expr::Cell(place, vec![thread_of(address), slot_of(address)]));
                let alive = self.alive.get(&function).filter(|_| self.survey.outlived.contains(&home));
                let alive = alive.map(|&alive| note(alive));
                let there = self.gone.get(&variable).map(|&gone| Expr::logical_not(note(gone)));
                alive.into_iter().chain(there).reduce(Expr::both)
            }
            _ => None,
        }
    }

    /// Whether a distance is in a leaf: the condition, the position among its elements, and the part of the
    /// cell.
    fn leaf_at(
        &self,
        leaf: &Leaf,
        offset: &Expr,
        viewed: Viewed,
        view: &View,
    ) -> Option<(Expr, Option<Expr>, Option<Slice>)> {
        let is_whole = match view {
            View::As(ty) => shape::fits(self.program, ty, leaf),
            View::Raw { size } => leaf.is_unit && leaf.size == *size,
            View::Bits { .. } => false,
        };
        let is_sliced = match view {
            View::As(ty) => leaf.is_unit || (shape::is_character(ty) && !matches!(leaf.ty, Type::Sync(_))),
            View::Bits { .. } => leaf.is_unit,
            View::Raw { .. } => leaf.is_unit,
        };
        // Pointers need more bits than they have in memory where that has 32.
        let is_wide = matches!(view, View::As(_)) && u64::from(viewed.ty.bits) > viewed.width;
        let is_sliced = is_sliced && !is_wide;
        let size = (viewed.bit + viewed.width).div_ceil(8);
        if !is_whole && (!is_sliced || leaf.size < size) {
            return None;
        }
        let first = i64::try_from(leaf.offset).ok()?;
        let mut distance = add(offset.clone(), Expr::Const(-first));
        let mut when = Expr::TRUE;
        let mut index: Option<Expr> = None;
        for &Dimension { stride, count } in &leaf.dimensions {
            let stride = i64::try_from(stride).ok()?.max(1);
            let count = i64::try_from(count).ok()?;
            let bytes = Expr::Const(stride.saturating_mul(count));
            when = Expr::both(when, Expr::binary(BinaryOp::Lt, IntType::U64, distance.clone(), bytes));
            let at = if stride == 1 {
                distance.clone()
            } else {
                Expr::binary(BinaryOp::Div, IntType::U64, distance.clone(), Expr::Const(stride))
            };
            index = Some(match index {
                None => at,
                Some(outer) => add(scaled(outer, count), at),
            });
            distance = if stride == 1 {
                Expr::Const(0)
            } else {
                Expr::binary(BinaryOp::Rem, IntType::U64, distance, Expr::Const(stride))
            };
        }
        if is_whole {
            let exact = Expr::equal(distance, Expr::Const(0));
            return Some((Expr::both(when, exact), index, None));
        }
        let room = i64::try_from(leaf.size - size).ok()?;
        let inside = Expr::binary(BinaryOp::Le, IntType::U64, distance.clone(), Expr::Const(room));
        let shift = add(scaled(distance, 8), Expr::Const(i64::try_from(viewed.bit).ok()?));
        let is_apart = !matches!(view, View::Bits { .. });
        let slice = Slice { shift, bits: u8::try_from(viewed.width).ok()?, is_apart };
        Some((Expr::both(when, inside), index, Some(slice)))
    }

    /// The conditions under which an address is in an object of the thread library, and where that is.
    pub(crate) fn sync_targets(
        &mut self,
        address: &Expr,
        homes: &Homes,
        ty: &Type,
        span: Span,
    ) -> Vec<(Expr, Home, usize, Vec<Expr>)> {
        let mut found = Vec::new();
        let view = View::As(ty.clone());
        let Some(viewed) = self.viewed(&view, span) else { return found };
        for &home in homes {
            let (Some(number), Some(scope)) = (self.survey.points_to.number(home), self.scope_of(home))
            else {
                continue;
            };
            let Some(shape) = self.shape(home, span) else { continue };
            for (position, leaf) in shape.leaves.iter().enumerate() {
                let offset = offset_of(address);
                let Some((when, index, _)) = self.leaf_at(leaf, &offset, viewed, &view) else { continue };
                if leaf.count() == 0 {
                    continue;
                }
                let (mut key, index) = self.key_at(home, scope, leaf, address, index);
                key.extend(index);
                found.push((Expr::both(is_in(address, number), when), home, position, key));
            }
        }
        found
    }
}

/// What is found behind a pointer.
#[derive(Default)]
struct Found {
    targets: Vec<Target>,
    /// One of these must be true.
    valid: Vec<Expr>,
    /// All of these must be true.
    alive: Vec<Expr>,
    /// Where one of these is true and nothing is valid, the model has no cells for the access.
    mixed: Vec<Expr>,
}
