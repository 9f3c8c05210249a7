//! Expressions for their value.
//!
//! The value of a C expression becomes an [`Expr`] over cells that the next step will evaluate. Operands
//! are evaluated from left to right. Each access to a shared cell is a step of its own: where an
//! expression would touch a second one, or where something else has steps of its own, what was computed
//! so far goes into a temporary first.

use pdnet_net::{Action, BinaryOp as NetOp, Expr, Fault, IntType, UnaryOp as NetUnary};
use pdnet_source::Span;

use super::cells::{Object, int_type};
use super::flow::frame_key;
use super::step::Step;
use super::{Lowerer, cells};
use crate::tree::{BinaryOp, Expr as TreeExpr, ExprKind, Lvalue, LvalueKind, UnaryOp};
use crate::types::{IntKind, Type};

/// What evaluating an expression will take, found without lowering it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Class {
    /// It emits steps.
    pub(crate) steps: bool,
    /// The value that remains after those steps touches a shared cell.
    pub(crate) shared: bool,
    /// The value that remains may be undefined.
    pub(crate) faults: bool,
}

impl Class {
    const STEPS: Self = Self { steps: true, shared: false, faults: false };

    const fn is_plain(self) -> bool {
        !self.steps && !self.shared && !self.faults
    }
}

/// A conversion between canonical values; none where the canonical value does not change.
pub(crate) fn convert(from: IntType, to: IntType, value: Expr) -> Expr {
    let keeps = to.bits == 64
        || (to.bits >= from.bits && to.signed == from.signed)
        || (to.bits > from.bits && to.signed);
    if keeps { value } else { Expr::convert(to, value) }
}

impl Lowerer<'_> {
    /// What evaluating the expression will take.
    pub(crate) fn class(&self, expr: &TreeExpr) -> Class {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::FunctionRef(_) | ExprKind::Unsupported(_) => {
                Class::default()
            }
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => {
                // Only the index is evaluated.
                Class { shared: self.class_of_indices(lvalue).shared, ..self.class_of_load(lvalue) }
            }
            ExprKind::PointerOffset { pointer: left, offset: right, .. }
            | ExprKind::PointerDifference(left, right) => {
                let (l, r) = (self.class(left), self.class(right));
                Class {
                    steps: l.steps || r.steps || (l.shared && r.shared),
                    shared: l.shared || r.shared,
                    faults: l.faults || r.faults,
                }
            }
            ExprKind::Load(lvalue) => self.class_of_load(lvalue),
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => self.class(operand),
            ExprKind::Binary(op, left, right) => {
                let (l, r) = (self.class(left), self.class(right));
                let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem)
                    && !matches!(super::survey::strip_casts(right).kind, ExprKind::Int(n) if n != 0);
                Class {
                    steps: l.steps || r.steps || (l.shared && r.shared),
                    shared: l.shared || r.shared,
                    faults: l.faults || r.faults || divides,
                }
            }
            ExprKind::LogicalAnd(left, right) | ExprKind::LogicalOr(left, right) => {
                if self.class(right).is_plain() { self.class(left) } else { Class::STEPS }
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                let plain = self.class(then).is_plain() && self.class(otherwise).is_plain();
                if plain { self.class(condition) } else { Class::STEPS }
            }
            ExprKind::Comma(_, right) => Class { steps: true, ..self.class(right) },
            ExprKind::Assign(..)
            | ExprKind::CompoundAssign { .. }
            | ExprKind::Step { .. }
            | ExprKind::Call(..)
            | ExprKind::Statement(_) => Class::STEPS,
        }
    }

    /// What evaluating the indices of an lvalue will take.
    fn class_of_indices(&self, lvalue: &Lvalue) -> Class {
        let mut class = Class::default();
        let mut at = lvalue;
        while let LvalueKind::Index(base, index) = &at.kind {
            let part = self.class(index);
            class.steps |= part.steps;
            class.shared |= part.shared;
            at = base;
        }
        class
    }

    fn class_of_load(&self, lvalue: &Lvalue) -> Class {
        if let LvalueKind::Deref(pointer) = &lvalue.kind {
            // What is behind a pointer may be shared, and the pointer may be wrong.
            let pointer = self.class(pointer);
            let steps = pointer.steps || (pointer.shared && !self.frame.coarse);
            return Class { steps, shared: !self.frame.coarse, faults: true };
        }
        let shared = !self.frame.coarse
            && super::survey::root(lvalue).is_some_and(|variable| self.survey.shared.contains(&variable));
        let cells = super::survey::root(lvalue).and_then(|variable| self.cells.get(&variable));
        let faults = cells.is_some_and(|place| self.written.contains_key(place));
        let mut class = Class { steps: false, shared, faults };
        let mut at = lvalue;
        let mut shared_indices = 0;
        while let LvalueKind::Index(base, index) = &at.kind {
            let part = self.class(index);
            shared_indices += usize::from(part.shared);
            class.steps |= part.steps;
            class.shared |= part.shared;
            class.faults |= part.faults;
            let length = match &base.ty.ty {
                Type::Array(_, Some(length)) => i128::from(*length),
                _ => 0,
            };
            let inside = matches!(index.kind, ExprKind::Int(n) if (0..length).contains(&n));
            class.faults |= !inside;
            at = base;
        }
        class.steps |= shared_indices + usize::from(shared) > 1;
        class
    }

    /// The value of an expression, to be evaluated by the next step.
    pub(crate) fn value(&mut self, expr: &TreeExpr) -> Expr {
        match &expr.kind {
            ExprKind::Int(value) => {
                let ty = self.int_type_at(&expr.ty, expr.span);
                // The value is within its type, so that its low 64 bits are its canonical form.
                #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
                Expr::Const(ty.wrap(*value as i64))
            }
            ExprKind::Float(_) => self.refuse(expr.span, "floating-point values are"),
            ExprKind::Load(lvalue) => match self.object(lvalue) {
                Some(object) => {
                    self.check_written(&object);
                    object.load()
                }
                None => Expr::Const(0),
            },
            ExprKind::AddressOf(lvalue) => self.address_of(lvalue, false),
            ExprKind::Decay(lvalue) => self.address_of(lvalue, true),
            ExprKind::PointerOffset { pointer, offset, negate } => {
                self.pointer_offset(pointer, offset, *negate, expr.span)
            }
            ExprKind::PointerDifference(left, right) => self.pointer_difference(left, right, expr.span),
            ExprKind::FunctionRef(_) => self.refuse(expr.span, "function pointers are"),
            ExprKind::Unsupported(what) => self.refuse(expr.span, &format!("{what}:")),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, left, right) => {
                let mut l = self.value(left);
                let r = self.class(right);
                if (r.steps && !self.is_stable(&l)) || (r.shared && self.is_shared_expr(&l)) {
                    let ty = self.int_type_at(&left.ty, left.span);
                    l = self.spill(l, ty, left.span);
                }
                let r = self.value(right);
                self.binary(*op, &left.ty, l, r, expr.span)
            }
            ExprKind::LogicalAnd(left, right) if self.class(right).is_plain() => {
                let left = self.value(left);
                Expr::both(left, self.value_plain(right))
            }
            ExprKind::LogicalOr(left, right) if self.class(right).is_plain() => {
                let left = self.value(left);
                Expr::either(left, self.value_plain(right))
            }
            ExprKind::LogicalAnd(..) | ExprKind::LogicalOr(..) => self.truth_by_flow(expr),
            ExprKind::Conditional(condition, then, otherwise) => {
                if self.class(then).is_plain() && self.class(otherwise).is_plain() {
                    let condition = self.value(condition);
                    return Expr::cond(condition, self.value_plain(then), self.value_plain(otherwise));
                }
                self.conditional_by_flow(expr, condition, then, otherwise)
            }
            ExprKind::Comma(left, right) => {
                self.effects(left);
                self.value(right)
            }
            ExprKind::Cast(operand) => self.cast(expr, operand),
            ExprKind::Assign(target, value) => self.assign(target, value, true, expr.span),
            ExprKind::CompoundAssign { target, op, computation, value } => {
                self.compound_assign(target, *op, computation, value, true, expr.span)
            }
            ExprKind::Step { target, decrement, postfix } => {
                self.increment(target, *decrement, *postfix, true, expr.span)
            }
            ExprKind::Call(callee, arguments) => {
                let result = self.call(callee, arguments, Some(&expr.ty), expr.span);
                result.unwrap_or(Expr::Const(0))
            }
            ExprKind::Statement(stmts) => self.statement_expression(stmts, &expr.ty, expr.span),
        }
    }

    /// The value of an expression without steps, shared accesses and faults.
    fn value_plain(&mut self, expr: &TreeExpr) -> Expr {
        self.value(expr)
    }

    fn refuse(&mut self, span: Span, what: &str) -> Expr {
        self.unsupported(span, what);
        Expr::Const(0)
    }

    /// Evaluates an argument that nobody uses, where that can be noticed.
    pub(crate) fn discard(&mut self, expr: &TreeExpr) {
        if !self.class(expr).is_plain() {
            self.effects(expr);
        }
    }

    /// Evaluates an expression for its effects only.
    pub(crate) fn effects(&mut self, expr: &TreeExpr) {
        match &expr.kind {
            ExprKind::Assign(target, value) => {
                self.assign(target, value, false, expr.span);
            }
            ExprKind::CompoundAssign { target, op, computation, value } => {
                self.compound_assign(target, *op, computation, value, false, expr.span);
            }
            ExprKind::Step { target, decrement, .. } => {
                self.increment(target, *decrement, false, false, expr.span);
            }
            ExprKind::Call(callee, arguments) => {
                self.call(callee, arguments, None, expr.span);
            }
            ExprKind::Comma(left, right) => {
                self.effects(left);
                self.effects(right);
            }
            ExprKind::Cast(operand) if expr.ty == Type::Void => self.effects(operand),
            ExprKind::Statement(stmts) => self.statements(stmts),
            ExprKind::Conditional(condition, then, otherwise) => {
                let (on_true, on_false) = (self.fresh_place(then.span), self.fresh_place(otherwise.span));
                let join = self.fresh_place(expr.span);
                self.condition(condition, on_true, on_false);
                for (place, arm) in [(on_true, then), (on_false, otherwise)] {
                    self.frame.current = Some(place);
                    self.effects(arm);
                    self.go_on_at(join);
                }
                self.frame.current = Some(join);
            }
            ExprKind::LogicalAnd(..) | ExprKind::LogicalOr(..) if self.class(expr).steps => {
                let join = self.fresh_place(expr.span);
                self.condition(expr, join, join);
                self.frame.current = Some(join);
            }
            _ if expr.ty == Type::Void => {
                self.value(expr);
            }
            _ => {
                // The value is computed and thrown away: what it reads, it reads.
                let value = self.value(expr);
                let mut reads = false;
                value.walk(&mut |part| reads |= matches!(part, Expr::Cell(..)));
                if reads || !self.frame.checks.is_empty() {
                    let mut step = Step::new(Action::Jump, self.text(expr.span), None);
                    step.touches.push(value);
                    self.advance(expr.span, step);
                }
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &TreeExpr) -> Expr {
        let value = self.value(operand);
        match op {
            UnaryOp::Not => Expr::logical_not(value),
            UnaryOp::Negate => Expr::unary(NetUnary::Neg, self.int_type_at(&operand.ty, operand.span), value),
            UnaryOp::Complement => {
                Expr::unary(NetUnary::Not, self.int_type_at(&operand.ty, operand.span), value)
            }
        }
    }

    /// An operator on values of the type `ty` (of the left operand, for shifts).
    pub(crate) fn binary(&mut self, op: BinaryOp, ty: &Type, l: Expr, r: Expr, span: Span) -> Expr {
        let ty = self.int_type_at(ty, span);
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) && !matches!(r, Expr::Const(n) if n != 0) {
            self.frame.checks.push((Expr::truth(r.clone()), Fault::DivisionByZero));
        }
        let (op, l, r) = match op {
            BinaryOp::Mul => (NetOp::Mul, l, r),
            BinaryOp::Div => (NetOp::Div, l, r),
            BinaryOp::Rem => (NetOp::Rem, l, r),
            BinaryOp::Add => (NetOp::Add, l, r),
            BinaryOp::Sub => (NetOp::Sub, l, r),
            BinaryOp::Shl => (NetOp::Shl, l, r),
            BinaryOp::Shr => (NetOp::Shr, l, r),
            BinaryOp::Less => (NetOp::Lt, l, r),
            BinaryOp::LessEqual => (NetOp::Le, l, r),
            BinaryOp::Greater => (NetOp::Lt, r, l),
            BinaryOp::GreaterEqual => (NetOp::Le, r, l),
            BinaryOp::Equal => (NetOp::Eq, l, r),
            BinaryOp::NotEqual => (NetOp::Ne, l, r),
            BinaryOp::And => (NetOp::And, l, r),
            BinaryOp::Xor => (NetOp::Xor, l, r),
            BinaryOp::Or => (NetOp::Or, l, r),
        };
        Expr::binary(op, ty, l, r)
    }

    fn cast(&mut self, expr: &TreeExpr, operand: &TreeExpr) -> Expr {
        let value = self.value(operand);
        self.converted(value, &operand.ty, &expr.ty, expr.span)
    }

    /// A value of one C type converted to another.
    fn converted(&mut self, value: Expr, from: &Type, to: &Type, span: Span) -> Expr {
        if *to == Type::Void {
            return value;
        }
        if *to == Type::Int(IntKind::Bool) {
            return Expr::truth(value);
        }
        let from = self.int_type_at(from, span);
        let to = self.int_type_at(to, span);
        convert(from, to, value)
    }

    /// `a && b` and `a || b` whose right side must not always be evaluated: 1 or 0 in a temporary.
    fn truth_by_flow(&mut self, expr: &TreeExpr) -> Expr {
        let temporary = self.fresh_temporary(IntType::U8);
        let (on_true, on_false) = (self.fresh_place(expr.span), self.fresh_place(expr.span));
        let join = self.fresh_place(expr.span);
        self.condition(expr, on_true, on_false);
        let label = self.text(expr.span);
        for (place, value) in [(on_true, 1), (on_false, 0)] {
            let step = Step::new(Action::Assign, label.clone(), Some(join));
            self.emit_from(place, expr.span, step.write(temporary, frame_key(), Expr::Const(value)));
        }
        self.frame.current = Some(join);
        Expr::Cell(temporary, frame_key())
    }

    fn conditional_by_flow(
        &mut self,
        expr: &TreeExpr,
        condition: &TreeExpr,
        then: &TreeExpr,
        otherwise: &TreeExpr,
    ) -> Expr {
        let ty = self.int_type_at(&expr.ty, expr.span);
        let temporary = self.fresh_temporary(ty);
        let (on_true, on_false) = (self.fresh_place(then.span), self.fresh_place(otherwise.span));
        let join = self.fresh_place(expr.span);
        self.condition(condition, on_true, on_false);
        for (place, arm) in [(on_true, then), (on_false, otherwise)] {
            self.frame.current = Some(place);
            let value = self.value(arm);
            let step = Step::new(Action::Assign, self.text(arm.span), Some(join));
            self.emit(arm.span, vec![step.write(temporary, frame_key(), value)]);
        }
        self.frame.current = Some(join);
        Expr::Cell(temporary, frame_key())
    }

    /// `target = value`. The value is evaluated before the target's index.
    fn assign(&mut self, target: &Lvalue, value: &TreeExpr, wanted: bool, span: Span) -> Expr {
        let mut result = self.value(value);
        let index = self.class_of_load(target);
        let two_shared = self.is_shared_expr(&result) && self.class_of_indices(target).shared;
        if two_shared || (index.steps && !self.is_stable(&result)) {
            let ty = self.int_type_at(&value.ty, value.span);
            result = self.spill(result, ty, value.span);
        }
        let Some(object) = self.object(target) else { return Expr::Const(0) };
        self.store(&object, result, wanted, span)
    }

    /// Writes a value, which has the object's type, to an object.
    pub(crate) fn store(&mut self, object: &Object, mut value: Expr, wanted: bool, span: Span) -> Expr {
        let writes_shared = self.is_shared_object(object);
        let key_shared = self.has_shared_key(object);
        let must_split = self.is_shared_expr(&value) && (writes_shared || key_shared);
        if must_split || (wanted && writes_shared && !self.is_stable(&value)) {
            // The checks that are pending concern the value and the index alike: all are made now.
            value = self.spill(value, object.ty, span);
        }
        let may_change = object.targets.iter().any(|target| self.shared_cells.contains(&target.place));
        if wanted && may_change && !self.is_stable(&value) {
            return self.update_in_one_step(object, value, false, true, span);
        }
        let step = Step::new(Action::Assign, self.text(span), None);
        self.advance(span, self.with_written(step.write_object(object, &value), object));
        // A private object keeps its value until the reader comes; of a shared one we know what was written.
        if writes_shared || self.is_stable(&value) { value } else { object.load() }
    }

    fn compound_assign(
        &mut self,
        target: &Lvalue,
        op: BinaryOp,
        computation: &Type,
        value: &TreeExpr,
        wanted: bool,
        span: Span,
    ) -> Expr {
        self.refuse_odd_pointer(&target.ty.ty, span);
        if target.ty.quals.is_atomic {
            return self.atomic_update(target, op, computation, value, wanted, span);
        }
        let class = self.class(value);
        let object = if class.steps || self.class_of_indices(target).shared {
            self.fixed_object(target)
        } else {
            self.object(target)
        };
        let Some(object) = object else { return Expr::Const(0) };
        self.check_written(&object);
        let mut old = object.load();
        let reads_shared = self.is_shared_expr(&old);
        if reads_shared || class.steps {
            old = self.spill(old, object.ty, target.span);
        }
        let old = self.converted(old, &target.ty.ty, computation, span);
        let right = self.value(value);
        let new = self.computed(op, computation, old, right, span);
        let new = self.converted(new, computation, &target.ty.ty, span);
        self.store(&object, new, wanted, span)
    }

    /// The operation of a compound assignment; on a pointer, it moves.
    fn computed(&mut self, op: BinaryOp, ty: &Type, left: Expr, right: Expr, span: Span) -> Expr {
        match (ty, op) {
            (Type::Pointer(_), BinaryOp::Add | BinaryOp::Sub) => {
                self.pointer_plus(left, right, op == BinaryOp::Sub)
            }
            _ => self.binary(op, ty, left, right, span),
        }
    }

    /// `target op= value` on an `_Atomic` object: one step reads and writes it (C11 6.5.16.2p3).
    fn atomic_update(
        &mut self,
        target: &Lvalue,
        op: BinaryOp,
        computation: &Type,
        value: &TreeExpr,
        wanted: bool,
        span: Span,
    ) -> Expr {
        let mut right = self.value(value);
        if self.is_shared_expr(&right) || (self.class_of_load(target).steps && !self.is_stable(&right)) {
            let ty = self.int_type_at(&value.ty, value.span);
            right = self.spill(right, ty, value.span);
        }
        let Some(mut object) = self.object(target) else { return Expr::Const(0) };
        if self.has_shared_key(&object) {
            self.stabilise_key(&mut object, span);
        }
        let old = self.converted(object.load(), &target.ty.ty, computation, span);
        let new = self.computed(op, computation, old, right, span);
        let new = self.converted(new, computation, &target.ty.ty, span);
        self.update_in_one_step(&object, new, false, wanted, span)
    }

    /// Fixes the index of an object before other steps come between now and its use.
    pub(crate) fn stabilise_key(&mut self, object: &mut Object, span: Span) {
        for target in &mut object.targets {
            if let Some(index) = target.key.last().cloned()
                && target.when.is_none()
                && !self.is_stable(&index)
            {
                let index = self.spill(index, IntType::I64, span);
                *target.key.last_mut().expect("just seen") = index;
            }
        }
    }

    /// Asks that the next step be a fault where it reads an element that was never written.
    pub(crate) fn check_written(&mut self, object: &Object) {
        if let [target] = object.targets.as_slice()
            && let Some(&written) = self.written.get(&target.place)
        {
            self.frame.checks.push((Expr::Cell(written, target.key.clone()), Fault::Uninitialised));
        }
    }

    /// Notes that the step writes the element.
    pub(crate) fn with_written(&self, step: Step, object: &Object) -> Step {
        match object.targets.as_slice() {
            [target] => match self.written.get(&target.place) {
                Some(&written) => step.write(written, target.key.clone(), Expr::Const(1)),
                None => step,
            },
            _ => step,
        }
    }

    /// Whether the object is, or may be, shared.
    fn is_shared_object(&self, object: &Object) -> bool {
        object.targets.iter().any(|target| self.is_shared_cell(target.place))
    }

    /// Whether finding the object touches a shared cell.
    fn has_shared_key(&self, object: &Object) -> bool {
        let mut parts = object.targets.iter().flat_map(|target| target.key.iter().chain(&target.when));
        parts.any(|part| self.is_shared_expr(part))
    }

    fn increment(
        &mut self,
        target: &Lvalue,
        decrement: bool,
        postfix: bool,
        wanted: bool,
        span: Span,
    ) -> Expr {
        self.refuse_odd_pointer(&target.ty.ty, span);
        let Some(object) = self.object(target) else { return Expr::Const(0) };
        let promoted = if object.ty.bits < 32 { IntType::I32 } else { object.ty };
        let op = if decrement { NetOp::Sub } else { NetOp::Add };
        let is_pointer = matches!(target.ty.ty, Type::Pointer(_));
        let next = |lowerer: &mut Self, old: Expr| {
            if is_pointer {
                return lowerer.pointer_plus(old, Expr::Const(1), decrement);
            }
            let sum = Expr::binary(op, promoted, convert(object.ty, promoted, old), Expr::Const(1));
            if object.is_bool { Expr::truth(sum) } else { convert(promoted, object.ty, sum) }
        };
        self.check_written(&object);
        let old = object.load();
        if self.is_shared_expr(&old) {
            let mut object = object.clone();
            if self.is_shared_object(&object) && !target.ty.quals.is_atomic {
                // The index is private here, or was spilled; it may still be a local that is read twice.
                let old = self.spill(old, object.ty, span);
                let new = next(self, old.clone());
                let new = self.store(&object, new, false, span);
                return if postfix { old } else { new };
            }
            self.stabilise_key(&mut object, span);
            let new = next(self, object.load());
            return self.update_in_one_step(&object, new, postfix, wanted, span);
        }
        let new = next(self, old);
        self.update_in_one_step(&object, new, postfix, wanted, span)
    }

    /// Reads and writes an object in one step: nobody else can come between.
    fn update_in_one_step(
        &mut self,
        object: &Object,
        new: Expr,
        postfix: bool,
        wanted: bool,
        span: Span,
    ) -> Expr {
        let mut step = Step::new(Action::Assign, self.text(span), None);
        let mut result = object.load();
        let may_change = object.targets.iter().any(|target| self.shared_cells.contains(&target.place));
        if wanted && (postfix || may_change) {
            let temporary = self.fresh_temporary(object.ty);
            let kept = if postfix { object.load() } else { new.clone() };
            step = step.write(temporary, frame_key(), kept);
            result = Expr::Cell(temporary, frame_key());
        }
        self.advance(span, self.with_written(step.write_object(object, &new), object));
        result
    }

    /// The integer type of a C type without a diagnostic.
    pub(crate) fn int_type_of(&self, ty: &Type) -> Option<IntType> {
        int_type(self.program.data_model, ty)
    }

    /// An arbitrary value of a type, in a temporary.
    pub(crate) fn arbitrary(&mut self, ty: &Type, called: &str, span: Span) -> Expr {
        let int = self.int_type_at(ty, span);
        let domain = cells::domain_of(int, *ty == Type::Int(IntKind::Bool));
        let temporary = self.fresh_temporary(int);
        let mut step = Step::new(Action::Assign, self.text(span), None).calling(called);
        let var = step.binder("input", pdnet_net::Base::Int(int), Some(domain));
        self.advance(span, step.write(temporary, frame_key(), Expr::Var(var)));
        Expr::Cell(temporary, frame_key())
    }
}
