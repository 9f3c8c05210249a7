//! Addresses as numbers, as far as that has a meaning without knowing a machine's addresses: `(uintptr_t)p` that
//! becomes a pointer again, with low bits set or cleared on the way; these bits themselves; and two such numbers
//! compared for equality.
//!
//! An object stands at an address that its alignment divides, and so do the low bits of a pointer's distance from
//! its start say what the low bits of the address are. This is looked for where it is written as one expression.
//! A number with an address in a variable has no meaning: every use of it would have to be looked at.

use pdnet_net::{BinaryOp as NetOp, Expr, IntType};

use super::Lowerer;
use super::points_to::Home;
use super::survey::void_pointer;
use crate::tree::{BinaryOp, Expr as TreeExpr, ExprKind, UnaryOp};
use crate::types::Type;

/// What `malloc` promises at least.
const HEAP_ALIGNMENT: u64 = 8;

/// An address as a number: a pointer, and what is done to its low bits.
pub(crate) struct Tagged<'t> {
    pointer: &'t TreeExpr,
    operations: Vec<(NetOp, i64)>,
}

impl Lowerer<'_> {
    /// The address that an expression has as a number.
    pub(crate) fn tagged<'t>(&self, expr: &'t TreeExpr) -> Option<Tagged<'t>> {
        let is_wide = self.pointer_bits() == 64 && self.int_type_of(&expr.ty)?.bits == 64;
        if !is_wide || !matches!(expr.ty, Type::Int(_)) {
            return None;
        }
        match &expr.kind {
            ExprKind::Cast(inner) if matches!(inner.ty, Type::Pointer(_)) => {
                Some(Tagged { pointer: inner, operations: Vec::new() })
            }
            ExprKind::Cast(inner) => self.tagged(inner),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor), left, right) => {
                let (mut tagged, mask) = self.tagged_and_mask(left, right)?;
                let (op, changed) = match op {
                    BinaryOp::And => (NetOp::And, !mask),
                    BinaryOp::Or => (NetOp::Or, mask),
                    _ => (NetOp::Xor, mask),
                };
                tagged.operations.push((op, mask));
                self.knows_bits(&tagged, changed).then_some(tagged)
            }
            _ => None,
        }
    }

    fn tagged_and_mask<'t>(&self, left: &'t TreeExpr, right: &'t TreeExpr) -> Option<(Tagged<'t>, i64)> {
        match (self.mask(left), self.mask(right)) {
            (None, Some(mask)) => Some((self.tagged(left)?, mask)),
            (Some(mask), None) => Some((self.tagged(right)?, mask)),
            _ => None,
        }
    }

    /// The low bits of an address, where an expression asks for no others.
    pub(crate) fn tag_bits(&mut self, expr: &TreeExpr) -> Option<Expr> {
        let ExprKind::Binary(BinaryOp::And, left, right) = &expr.kind else { return None };
        let (tagged, mask) = self.tagged_and_mask(left, right)?;
        if !self.knows_bits(&tagged, mask) {
            return None;
        }
        let address = self.tagged_value(&tagged);
        Some(Expr::binary(NetOp::And, IntType::U64, address, Expr::Const(mask)))
    }

    /// An equality of addresses as numbers, as one of pointers.
    pub(crate) fn tagged_equality(&self, expr: &TreeExpr) -> Option<TreeExpr> {
        let ExprKind::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right) = &expr.kind else {
            return None;
        };
        let is_address = |side: &TreeExpr| self.tagged(side).is_some();
        let is_known = |side: &TreeExpr| is_address(side) || self.mask(side) == Some(0);
        if !is_known(left) || !is_known(right) || !(is_address(left) || is_address(right)) {
            return None;
        }
        let pointer = |side: &TreeExpr| {
            let kind = ExprKind::Cast(Box::new(side.clone()));
            Box::new(TreeExpr { kind, ty: void_pointer(), span: side.span })
        };
        let kind = ExprKind::Binary(*op, pointer(left), pointer(right));
        Some(TreeExpr { kind, ty: expr.ty.clone(), span: expr.span })
    }

    /// The address as pdnet has it.
    pub(crate) fn tagged_value(&mut self, tagged: &Tagged<'_>) -> Expr {
        let pointer = self.value(tagged.pointer);
        tagged
            .operations
            .iter()
            .fold(pointer, |address, (op, mask)| Expr::binary(*op, IntType::U64, address, Expr::Const(*mask)))
    }

    /// Whether these bits of an address follow from the alignment of what it may be the address of.
    fn knows_bits(&self, tagged: &Tagged<'_>, bits: i64) -> bool {
        let homes = self.survey.points_to.value(self.program, tagged.pointer);
        let alignment = homes.into_iter().map(|home| match home {
            Home::Variable(variable) => self.alignment(&self.program.variables[variable].ty.ty),
            Home::Heap(_) => HEAP_ALIGNMENT,
            Home::Text(_) | Home::Function(_) | Home::Outside => 1,
        });
        let alignment = alignment.min().unwrap_or(HEAP_ALIGNMENT);
        u64::try_from(bits).is_ok_and(|bits| bits < alignment)
    }

    fn alignment(&self, ty: &Type) -> u64 {
        match ty {
            Type::Array(element, _) => self.alignment(&element.ty),
            Type::Record(record) => self.program.records[*record].align.max(1),
            Type::Int(_) | Type::Float(_) | Type::Pointer(_) => {
                super::shape::size_of(self.program, ty).unwrap_or(1).clamp(1, 8)
            }
            Type::Thread | Type::Sync(_) | Type::Void | Type::Function(_) => 1,
        }
    }

    /// A constant mask.
    fn mask(&self, expr: &TreeExpr) -> Option<i64> {
        let ty = self.int_type_of(&expr.ty).filter(|_| matches!(expr.ty, Type::Int(_)))?;
        match &expr.kind {
            ExprKind::Int(value) => {
                i64::try_from(*value).ok().or_else(|| u64::try_from(*value).ok().map(u64::cast_signed))
            }
            ExprKind::Cast(inner) => Some(ty.wrap(self.mask(inner)?)),
            ExprKind::Unary(UnaryOp::Complement, inner) => Some(ty.wrap(!self.mask(inner)?)),
            ExprKind::Unary(UnaryOp::Negate, inner) => Some(ty.wrap(self.mask(inner)?.wrapping_neg())),
            _ => None,
        }
    }
}
