//! Expressions for their value.
//!
//! The value of a C expression becomes an [`Expr`] over cells that the next step will evaluate. Operands
//! are evaluated from left to right. Each access to a shared cell is a step of its own: where an
//! expression would touch a second one, or where something else has steps of its own, what was computed
//! so far goes into a temporary first.

use pdnet_net::{Action, BinaryOp as NetOp, Expr, Fault, IntType, UnaryOp as NetUnary};
use pdnet_source::Span;

use super::cells::{Object, Target, int_type};
use super::flow::frame_key;
use super::path::{negated, scaled};
use super::points_to::Home;
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

    /// What evaluating both will take, one after the other.
    const fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps || other.steps || (self.shared && other.shared),
            shared: self.shared || other.shared,
            faults: self.faults || other.faults,
        }
    }

    const fn is_plain(self) -> bool {
        !self.steps && !self.shared && !self.faults
    }
}

/// A value as a bit-field keeps it.
fn narrowed(object: &Object, value: Expr) -> Expr {
    let is_whole = object.targets.iter().all(|target| target.slice.is_none());
    if is_whole || object.is_bool { value } else { Expr::convert(object.ty, value) }
}

/// Whether a value of a C type is not zero.
pub(crate) fn truth_of(ty: &Type, value: Expr) -> Expr {
    match ty {
        Type::Float(_) => super::float::truth(ty, value),
        _ => Expr::truth(value),
    }
}

/// Whether the mathematical result of an operation on signed values fits into their type.
fn fits(op: BinaryOp, ty: IntType, l: &Expr, r: &Expr) -> Expr {
    let op = match op {
        BinaryOp::Add => NetOp::Add,
        BinaryOp::Sub => NetOp::Sub,
        _ => NetOp::Mul,
    };
    if ty.bits < 64 && (op != NetOp::Mul || ty.bits <= 32) {
        let wide = Expr::binary(op, IntType::I64, l.clone(), r.clone());
        return Expr::equal(Expr::convert(ty, wide.clone()), wide);
    }
    let result = Expr::binary(op, ty, l.clone(), r.clone());
    let xor = |left: &Expr, right: &Expr| Expr::binary(NetOp::Xor, ty, left.clone(), right.clone());
    let both = |left, right| {
        let both = Expr::binary(NetOp::And, ty, left, right);
        Expr::binary(NetOp::Le, ty, Expr::Const(0), both)
    };
    match op {
        // The result has another sign than both operands.
        NetOp::Add => both(xor(l, &result), xor(r, &result)),
        NetOp::Sub => both(xor(l, r), xor(l, &result)),
        _ => {
            let back = Expr::binary(NetOp::Div, ty, result, r.clone());
            let is_same = Expr::equal(back, l.clone());
            let is_least = Expr::equal(l.clone(), Expr::Const(ty.min()));
            let is_minus_one = Expr::equal(r.clone(), Expr::Const(-1));
            let fits = Expr::both(Expr::logical_not(Expr::both(is_minus_one, is_least)), is_same);
            Expr::either(Expr::logical_not(r.clone()), fits)
        }
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
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => self.class_of_way(lvalue),
            ExprKind::PointerOffset { pointer: left, offset: right, .. }
            | ExprKind::PointerDifference(left, right) => {
                Class { faults: true, ..self.class(left).and(self.class(right)) }
            }
            ExprKind::Load(lvalue) => self.class_of_load(lvalue),
            ExprKind::Cast(operand) => {
                let loses_address = matches!(operand.ty, Type::Pointer(_))
                    && matches!(expr.ty, Type::Int(kind) if kind != IntKind::Bool);
                let class = self.class(operand);
                Class { faults: class.faults || loses_address, ..class }
            }
            ExprKind::Unary(_, operand) => {
                let class = self.class(operand);
                Class { faults: class.faults || self.may_overflow(&expr.ty), ..class }
            }
            ExprKind::Binary(op, left, right) => {
                let class = self.class(left).and(self.class(right));
                Class { faults: class.faults || self.binary_may_fault(*op, left, right), ..class }
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

    /// Whether an operator may be undefined on its operands.
    fn binary_may_fault(&self, op: BinaryOp, left: &TreeExpr, right: &TreeExpr) -> bool {
        let constant = match super::survey::strip_casts(right).kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        };
        let bits = self.int_type_of(&left.ty).map_or(0, |ty| i128::from(ty.bits));
        match op {
            BinaryOp::Div | BinaryOp::Rem => constant.is_none_or(|n| n <= 0),
            BinaryOp::Shl | BinaryOp::Shr => {
                !constant.is_some_and(|n| (0..bits).contains(&n))
                    || (op == BinaryOp::Shl && self.may_overflow(&left.ty))
            }
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                matches!(left.ty, Type::Pointer(_))
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => self.may_overflow(&left.ty),
            BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::And | BinaryOp::Xor | BinaryOp::Or => false,
        }
    }

    /// Whether results that do not fit into the type are looked for.
    fn may_overflow(&self, ty: &Type) -> bool {
        self.options.overflow && matches!(ty, Type::Int(kind) if kind.is_signed())
    }

    /// What finding the object that an lvalue names will take.
    pub(crate) fn class_of_way(&self, lvalue: &Lvalue) -> Class {
        match &lvalue.kind {
            LvalueKind::Variable(_) | LvalueKind::String(_) => Class::default(),
            LvalueKind::Compound(..) => Class::STEPS,
            LvalueKind::Field(base, _) => self.class_of_way(base),
            LvalueKind::Deref(pointer) => Class { faults: true, ..self.class(pointer) },
            LvalueKind::Index(base, index) => {
                let length = match &base.ty.ty {
                    Type::Array(_, Some(length)) => i128::from(*length),
                    _ => 0,
                };
                let inside = matches!(index.kind, ExprKind::Int(n) if (0..length).contains(&n));
                let class = self.class_of_way(base).and(self.class(index));
                Class { faults: class.faults || !inside, ..class }
            }
        }
    }

    fn class_of_load(&self, lvalue: &Lvalue) -> Class {
        let way = self.class_of_way(lvalue);
        let objects = self.survey.points_to.objects(self.program, lvalue);
        let shared = !self.frame.coarse && objects.iter().any(|home| self.survey.shared.contains(home));
        let has_shadow = |home: &Home| {
            let leaves = self.cells.range((*home, 0)..=(*home, usize::MAX));
            leaves.into_iter().any(|(_, place)| self.written.contains_key(place))
        };
        Class {
            steps: way.steps || (way.shared && shared),
            shared: way.shared || shared,
            faults: way.faults || objects.iter().any(has_shadow),
        }
    }

    /// The value of an expression, to be evaluated by the next step.
    pub(crate) fn value(&mut self, expr: &TreeExpr) -> Expr {
        match &expr.kind {
            ExprKind::Int(kind) if matches!(expr.ty, Type::Sync(_)) => {
                Expr::Const(super::mutex::of_kind(*kind))
            }
            ExprKind::Int(value) => {
                let ty = self.int_type_at(&expr.ty, expr.span);
                // The value is within its type, so that its low 64 bits are its canonical form.
                #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
                Expr::Const(ty.wrap(*value as i64))
            }
            ExprKind::Float(value) => self.float_constant(*value, &expr.ty, expr.span),
            ExprKind::Load(lvalue) => match self.object(lvalue) {
                Some(object) => {
                    self.check_written(&object);
                    object.load()
                }
                None => Expr::Const(0),
            },
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => self.address_of(lvalue),
            ExprKind::PointerOffset { pointer, offset, negate } => {
                self.pointer_offset(pointer, offset, *negate, expr.span)
            }
            ExprKind::PointerDifference(left, right) => self.pointer_difference(left, right, expr.span),
            ExprKind::FunctionRef(function) => self.address_of_home(Home::Function(*function)),
            ExprKind::Unsupported(what) => self.refuse(expr.span, &format!("{what}:")),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, left, right) => {
                if let Some(bits) = self.tag_bits(expr) {
                    return bits;
                }
                if let Some(equality) = self.tagged_equality(expr) {
                    return self.value(&equality);
                }
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
                let left = self.truth_value(left);
                Expr::both(left, self.truth_value(right))
            }
            ExprKind::LogicalOr(left, right) if self.class(right).is_plain() => {
                let left = self.truth_value(left);
                Expr::either(left, self.truth_value(right))
            }
            ExprKind::LogicalAnd(..) | ExprKind::LogicalOr(..) => self.truth_by_flow(expr),
            ExprKind::Conditional(condition, then, otherwise) => {
                if self.class(then).is_plain() && self.class(otherwise).is_plain() {
                    let condition = self.truth_value(condition);
                    return Expr::cond(condition, self.value(then), self.value(otherwise));
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

    /// Whether an expression is not zero, to be evaluated by the next step.
    pub(crate) fn truth_value(&mut self, expr: &TreeExpr) -> Expr {
        let value = self.value(expr);
        truth_of(&expr.ty, value)
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
            ExprKind::Assign(target, value) if matches!(target.ty.ty, Type::Record(_)) => {
                self.assign_record(target, value, expr.span);
            }
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
            _ if matches!(expr.ty, Type::Record(_)) => {
                self.record_value(expr);
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
        let is_float = matches!(operand.ty, Type::Float(_));
        match op {
            UnaryOp::Not => Expr::logical_not(truth_of(&operand.ty, value)),
            UnaryOp::Negate if is_float => {
                Expr::unary(NetUnary::FloatNeg, self.int_type_at(&operand.ty, operand.span), value)
            }
            UnaryOp::Negate => {
                let ty = self.int_type_at(&operand.ty, operand.span);
                if self.may_overflow(&operand.ty) {
                    let fits = Expr::binary(NetOp::Ne, ty, value.clone(), Expr::Const(ty.min()));
                    self.add_check(fits, Fault::Overflow);
                }
                Expr::unary(NetUnary::Neg, ty, value)
            }
            UnaryOp::Complement => {
                Expr::unary(NetUnary::Not, self.int_type_at(&operand.ty, operand.span), value)
            }
        }
    }

    /// Asks that the next step be a fault where the operation is undefined.
    fn check_operation(&mut self, op: BinaryOp, ty: &Type, int: IntType, l: &Expr, r: &Expr) {
        match op {
            BinaryOp::Div | BinaryOp::Rem => {
                self.add_check(Expr::truth(r.clone()), Fault::DivisionByZero);
                if int.signed && !matches!(r, Expr::Const(n) if *n != -1) {
                    let is_least = Expr::equal(l.clone(), Expr::Const(int.min()));
                    let is_minus_one = Expr::equal(r.clone(), Expr::Const(-1));
                    self.add_check(Expr::logical_not(Expr::both(is_minus_one, is_least)), Fault::Overflow);
                }
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                // Negative counts are large unsigned ones.
                let bits = Expr::Const(i64::from(int.bits));
                self.add_check(Expr::binary(NetOp::Lt, IntType::U64, r.clone(), bits), Fault::Shift);
                if op == BinaryOp::Shl && self.may_overflow(ty) {
                    let shifted = Expr::binary(NetOp::Shl, int, l.clone(), r.clone());
                    let back = Expr::binary(NetOp::Shr, int, shifted, r.clone());
                    let is_positive = Expr::binary(NetOp::Le, int, Expr::Const(0), l.clone());
                    self.add_check(Expr::both(is_positive, Expr::equal(back, l.clone())), Fault::Overflow);
                }
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if self.may_overflow(ty) => {
                self.add_check(fits(op, int, l, r), Fault::Overflow);
            }
            _ => {}
        }
    }

    /// An operator on values of the type `ty` (of the left operand, for shifts).
    pub(crate) fn binary(&mut self, op: BinaryOp, ty: &Type, l: Expr, r: Expr, span: Span) -> Expr {
        let int = self.int_type_at(ty, span);
        if let Type::Float(_) = ty {
            return self.float_binary(op, int, l, r, span);
        }
        self.check_operation(op, ty, int, &l, &r);
        let is_order =
            matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual);
        if is_order && matches!(ty, Type::Pointer(_)) {
            self.check_same_object(&l, &r);
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
        Expr::binary(op, int, l, r)
    }

    fn cast(&mut self, expr: &TreeExpr, operand: &TreeExpr) -> Expr {
        // An address that becomes a number only to become an address again stays what it is.
        if let (Type::Pointer(_), ExprKind::Cast(inner)) = (&expr.ty, &operand.kind)
            && matches!(inner.ty, Type::Pointer(_))
            && self.int_type_of(&operand.ty).is_some_and(|ty| ty.bits == self.pointer_bits())
        {
            return self.value(inner);
        }
        let is_truth = expr.ty == Type::Int(IntKind::Bool);
        if (is_truth || matches!(expr.ty, Type::Pointer(_)))
            && let Some(tagged) = self.tagged(operand)
        {
            let address = self.tagged_value(&tagged);
            return if is_truth { Expr::truth(address) } else { address };
        }
        let value = self.value(operand);
        self.converted(value, &operand.ty, &expr.ty, expr.span)
    }

    /// A value of one C type converted to another.
    pub(crate) fn converted(&mut self, value: Expr, from: &Type, to: &Type, span: Span) -> Expr {
        if *to == Type::Void {
            return value;
        }
        if *to == Type::Int(IntKind::Bool) {
            return truth_of(from, value);
        }
        if matches!(from, Type::Float(_)) || matches!(to, Type::Float(_)) {
            return self.float_converted(value, from, to, span);
        }
        if let (Type::Pointer(_), Type::Int(_)) = (from, to) {
            self.check_no_address(&value);
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
        let way = self.class_of_way(target);
        let steps = way.steps || self.class_of_load(target).steps;
        let two_shared = self.is_shared_expr(&result) && way.shared;
        if two_shared || (steps && !self.is_stable(&result)) {
            let ty = self.int_type_at(&value.ty, value.span);
            result = self.spill(result, ty, value.span);
        }
        let Some(object) = self.object(target) else { return Expr::Const(0) };
        let result = narrowed(&object, result);
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
        let may_change = self.may_change_before_use(object);
        if wanted && may_change && !self.is_stable(&value) {
            return self.update_in_one_step(object, value, false, true, span);
        }
        let mut step = Step::new(Action::Assign, self.text(span), None);
        if object.is_bits && writes_shared {
            // The bits around it are read first, and written again: another thread may come between.
            let old = self.spill(object.location(), IntType::U64, span);
            let stored = |target: &Target| {
                let whole = Target { slice: None, ..target.clone() };
                (whole, target.stored_over(old.clone(), &value))
            };
            step.writes.extend(object.targets.iter().map(stored));
        } else {
            step = step.write_object(object, &value);
        }
        self.advance(span, self.with_written(step, object));
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
        if target.ty.quals.is_atomic {
            return self.atomic_update(target, op, computation, value, wanted, span);
        }
        let class = self.class(value);
        let object = if class.steps || self.class_of_way(target).shared {
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
        self.store(&object, narrowed(&object, new), wanted, span)
    }

    /// The operation of a compound assignment; on a pointer, it moves.
    fn computed(&mut self, op: BinaryOp, ty: &Type, left: Expr, right: Expr, span: Span) -> Expr {
        match (ty, op) {
            (Type::Pointer(_), BinaryOp::Add | BinaryOp::Sub) => {
                let bytes = scaled(right, self.pointee_size(ty, span));
                self.pointer_plus(left, if op == BinaryOp::Sub { negated(bytes) } else { bytes })
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
        let Some(object) = self.object(target) else { return Expr::Const(0) };
        self.check_written(&object);
        let old = self.converted(object.load(), &target.ty.ty, computation, span);
        let new = self.computed(op, computation, old, right, span);
        let new = narrowed(&object, self.converted(new, computation, &target.ty.ty, span));
        self.update_in_one_step(&object, new, false, wanted, span)
    }

    /// Whether the object is, or may be, shared.
    pub(crate) fn is_shared_object(&self, object: &Object) -> bool {
        object.targets.iter().any(|target| self.is_shared_cell(target.place))
    }

    /// Whether reading an object right after it was written may give something else than what was written:
    /// another thread may have come between, or, as in `a[a[0]] = x`, the write may change which object is meant.
    fn may_change_before_use(&self, object: &Object) -> bool {
        let is_target = |place| object.targets.iter().any(|target| target.place == place);
        let decides = |target: &Target| {
            let shift = target.slice.as_ref().map(|slice| &slice.shift);
            let mut found = false;
            for part in target.key.iter().chain(&target.when).chain(shift) {
                part.walk(&mut |part| found |= matches!(part, Expr::Cell(place, _) if is_target(*place)));
            }
            found
        };
        object.targets.iter().any(|target| self.shared_cells.contains(&target.place) || decides(target))
    }

    /// Whether finding the object touches a shared cell.
    pub(crate) fn has_shared_key(&self, object: &Object) -> bool {
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
        let way = self.class_of_way(target);
        let object = if way.shared { self.fixed_object(target) } else { self.object(target) };
        let Some(object) = object else { return Expr::Const(0) };
        self.check_written(&object);
        let old = object.load();
        if self.is_shared_expr(&old) && !target.ty.quals.is_atomic {
            let old = self.spill(old, object.ty, span);
            let new = self.next_value(target, &object, old.clone(), decrement, span);
            let new = self.store(&object, new, wanted && !postfix, span);
            return if postfix { old } else { new };
        }
        let new = self.next_value(target, &object, old, decrement, span);
        self.update_in_one_step(&object, new, postfix, wanted, span)
    }

    /// The value after `++` or `--`.
    fn next_value(
        &mut self,
        target: &Lvalue,
        object: &Object,
        old: Expr,
        decrement: bool,
        span: Span,
    ) -> Expr {
        let op = if decrement { BinaryOp::Sub } else { BinaryOp::Add };
        match &target.ty.ty {
            Type::Pointer(_) => {
                let size = self.pointee_size(&target.ty.ty, span);
                self.pointer_plus(old, Expr::Const(if decrement { -size } else { size }))
            }
            Type::Float(_) => {
                let one = self.float_constant(1.0, &target.ty.ty, span);
                self.float_binary(op, object.ty, old, one, span)
            }
            _ => {
                let promoted = if object.ty.bits < 32 { IntType::I32 } else { object.ty };
                let old = convert(object.ty, promoted, old);
                if self.options.overflow && promoted.signed {
                    self.add_check(fits(op, promoted, &old, &Expr::Const(1)), Fault::Overflow);
                }
                let net_op = if decrement { NetOp::Sub } else { NetOp::Add };
                let sum = Expr::binary(net_op, promoted, old, Expr::Const(1));
                if object.is_bool { Expr::truth(sum) } else { convert(promoted, object.ty, sum) }
            }
        }
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
        let may_change = self.may_change_before_use(object);
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
        self.net.places[temporary].shown = super::shape::shown(ty);
        let mut step = Step::new(Action::Assign, self.text(span), None).calling(called);
        let var = step.binder("input", pdnet_net::Base::Int(int), Some(domain));
        self.advance(span, step.write(temporary, frame_key(), Expr::Var(var)));
        Expr::Cell(temporary, frame_key())
    }
}
