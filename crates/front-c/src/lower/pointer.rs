//! Pointers to global and static objects.
//!
//! A pointer is a number: the object's number plus one in the upper half, the position of the element in the
//! lower half; null is 0. Adding to a pointer adds to the position. What a pointer can point to is every
//! object of the right type whose address the program takes somewhere: a dereference touches all of them, each
//! under the condition that the pointer says so, and is a fault where none is meant.

use pdnet_net::{BinaryOp, Expr, Fault, IntType};
use pdnet_source::{Diagnostic, Span};

use super::Lowerer;
use super::cells::{Object, Target, array_shape};
use super::flow::binary;
use crate::tree::{Expr as TreeExpr, Lvalue, Storage, Variable};
use crate::types::{DataModel, IntKind, Type};

/// Where the number of the object begins.
const OBJECT_SHIFT: i64 = 32;
/// String literals have numbers from here on.
const STRING: i64 = 1 << 30;

impl Lowerer<'_> {
    /// The number of an object whose address is taken, counted from 1.
    fn object_number(&self, variable: Variable) -> Option<i64> {
        let position = self.survey.pointed.iter().position(|pointed| *pointed == variable)?;
        i64::try_from(position + 1).ok()
    }

    fn is_static(&self, variable: Variable) -> bool {
        matches!(self.program.variables[variable].storage, Storage::Global | Storage::Static(_))
    }

    /// `&x`, `&a[i]`, or an array used as a pointer to its first element.
    pub(crate) fn address_of(&mut self, lvalue: &Lvalue, decays: bool) -> Expr {
        if let crate::tree::LvalueKind::Deref(pointer) = &lvalue.kind {
            return self.value(pointer);
        }
        if let crate::tree::LvalueKind::String(_) = &lvalue.kind {
            // Its text cannot be read yet; that it is there is known.
            self.n_strings += 1;
            return Expr::Const((STRING + self.n_strings) << OBJECT_SHIFT);
        }
        let index = if decays {
            let Some(variable) = super::survey::root(lvalue) else {
                self.unsupported(lvalue.span, "pointers to this are");
                return Expr::Const(0);
            };
            let is_whole = matches!(lvalue.kind, crate::tree::LvalueKind::Variable(_));
            let flat =
                array_shape(&self.program.variables[variable].ty.ty).is_some_and(|(_, l)| l.len() == 1);
            if !is_whole || !flat {
                self.unsupported(lvalue.span, "pointers into arrays of arrays are");
                return Expr::Const(0);
            }
            Some((variable, None))
        } else {
            self.variable_and_index(lvalue, true)
        };
        let Some((variable, index)) = index else { return Expr::Const(0) };
        let has_cells = array_shape(&self.program.variables[variable].ty.ty)
            .is_some_and(|(element, _)| matches!(element, Type::Int(_) | Type::Pointer(_) | Type::Thread));
        let (true, true, Some(number), DataModel::Lp64) =
            (self.is_static(variable), has_cells, self.object_number(variable), self.program.data_model)
        else {
            let message = "pointers to this object are not supported yet";
            let diagnostic = Diagnostic::error("unsupported", message);
            let diagnostic = diagnostic.at(lvalue.span, "this cannot be turned into a net");
            self.error(
                diagnostic.note("supported are pointers to global integers and their arrays, under LP64"),
            );
            return Expr::Const(0);
        };
        let start = Expr::Const(number << OBJECT_SHIFT);
        self.pointer_plus(start, index.unwrap_or(Expr::Const(0)), false)
    }

    /// A pointer moved by a number of elements. One that leaves the lower half would get into another
    /// object: that is a fault.
    pub(crate) fn pointer_plus(&mut self, pointer: Expr, offset: Expr, negate: bool) -> Expr {
        let op = if negate { BinaryOp::Sub } else { BinaryOp::Add };
        let position = binary(BinaryOp::And, pointer.clone(), Expr::Const((1 << OBJECT_SHIFT) - 1));
        let moved = binary(op, position, offset.clone());
        let stays = Expr::binary(BinaryOp::Lt, IntType::U64, moved, Expr::Const(1 << (OBJECT_SHIFT - 1)));
        if stays != Expr::TRUE {
            self.frame.checks.push((stays, Fault::InvalidPointer));
        }
        Expr::binary(op, IntType::U64, pointer, offset)
    }

    /// Refuses to count in elements that are no cells.
    pub(crate) fn refuse_odd_pointer(&mut self, ty: &Type, span: Span) {
        if let Type::Pointer(to) = ty
            && !matches!(to.ty, Type::Int(_) | Type::Pointer(_))
        {
            self.unsupported(span, "arithmetic on pointers of this type is");
        }
    }

    /// Pointer plus or minus integer.
    pub(crate) fn pointer_offset(
        &mut self,
        pointer: &TreeExpr,
        offset: &TreeExpr,
        negate: bool,
        span: Span,
    ) -> Expr {
        let mut base = self.value(pointer);
        let class = self.class(offset);
        if (class.steps && !self.is_stable(&base)) || (class.shared && self.is_shared_expr(&base)) {
            base = self.spill(base, IntType::U64, pointer.span);
        }
        let offset = self.value(offset);
        self.refuse_odd_pointer(&pointer.ty, span);
        self.pointer_plus(base, offset, negate)
    }

    /// Pointer minus pointer, in elements.
    pub(crate) fn pointer_difference(&mut self, left: &TreeExpr, right: &TreeExpr, span: Span) -> Expr {
        self.refuse_odd_pointer(&left.ty, span);
        let values = self.arguments(&[left.clone(), right.clone()]);
        binary(BinaryOp::Sub, values[0].clone(), values[1].clone())
    }

    /// The object behind a pointer. `fixed`: other steps will come before it is used.
    pub(crate) fn pointed(
        &mut self,
        pointer: &TreeExpr,
        ty: &Type,
        fixed: bool,
        span: Span,
    ) -> Option<Object> {
        let int = self.int_type_at(ty, span);
        if is_character(ty) && self.survey.string_pointers {
            self.unsupported(span, "reading the text of a string literal is");
            return None;
        }
        let mut address = self.value(pointer);
        if self.is_shared_expr(&address) || (fixed && !self.is_stable(&address)) {
            address = self.spill(address, IntType::U64, pointer.span);
        }
        let object = Expr::binary(BinaryOp::Shr, IntType::U64, address.clone(), Expr::Const(OBJECT_SHIFT));
        let position = binary(BinaryOp::And, address, Expr::Const((1 << OBJECT_SHIFT) - 1));
        let mut targets = Vec::new();
        let mut stored = Vec::new();
        let mut is_valid = Expr::Const(0);
        for variable in self.survey.pointed.clone() {
            let Some((element, lengths)) = array_shape(&self.program.variables[variable].ty.ty) else {
                continue;
            };
            let Some(number) = self.object_number(variable) else { continue };
            if !self.is_static(variable) || !may_alias(ty, element) {
                if is_character(ty) && matches!(element, Type::Int(_)) && self.is_static(variable) {
                    self.unsupported(span, "looking at the bytes of an object through a pointer is");
                }
                continue;
            }
            let Some(place) = self.cells_of(variable, span) else { continue };
            let n_elements = lengths.iter().product::<u64>();
            let is_object = Expr::equal(object.clone(), Expr::Const(number));
            let end = Expr::Const(i64::try_from(n_elements).unwrap_or(i64::MAX));
            let is_inside = Expr::binary(BinaryOp::Lt, IntType::U64, position.clone(), end);
            let when = Expr::both(is_object, is_inside);
            let key = if lengths.is_empty() { vec![] } else { vec![position.clone()] };
            is_valid = Expr::either(is_valid, when.clone());
            stored.extend(self.net.places[place].cells().map(|cells| cells.value));
            targets.push(Target { when: Some(when), place, key });
        }
        self.frame.checks.push((is_valid, Fault::InvalidPointer));
        Some(Object { targets, ty: int, stored, is_bool: *ty == Type::Int(IntKind::Bool) })
    }
}

fn is_character(ty: &Type) -> bool {
    matches!(ty, Type::Int(IntKind::Char | IntKind::SignedChar | IntKind::UnsignedChar))
}

/// Whether an object of one type may be accessed as the other: the same type, or its signed or unsigned
/// form (C11 6.5p7).
fn may_alias(accessed: &Type, object: &Type) -> bool {
    match (accessed, object) {
        (Type::Int(accessed), Type::Int(object)) => accessed.to_unsigned() == object.to_unsigned(),
        (Type::Pointer(_), Type::Pointer(_)) => true,
        (accessed, object) => accessed == object,
    }
}
