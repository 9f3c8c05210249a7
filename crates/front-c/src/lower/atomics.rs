//! The atomic functions of C11, and the compiler's `__atomic` and `__sync` builtins.
//!
//! Each is one step on the object behind its first argument, and sequentially consistent whatever order it
//! asks for. A new function gets a row in [`Form::of`].

use pdnet_net::{Action, BinaryOp, Expr, IntType, UnaryOp};
use pdnet_source::{Diagnostic, Span};

use super::cells::Object;
use super::flow::frame_key;
use super::path::{Root, negated, scaled};
use super::step::Step;
use super::survey::strip_casts;
use super::value::convert;
use super::{Atomicity, Lowerer};
use crate::tree::{Expr as TreeExpr, ExprKind};
use crate::types::{IntKind, Type};

/// The number of `memory_order_seq_cst` and of `__ATOMIC_SEQ_CST`.
const SEQUENTIAL: i128 = 5;

/// What an atomic function does with the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Load,
    Store,
    Exchange,
    /// Combines it with a value. The result is the old value, or the one `after`.
    Update {
        op: Op,
        after: bool,
    },
    /// Compares it with a value behind a pointer, which gets the object's value where they differ. The new
    /// value may be behind a pointer too.
    CompareExchange {
        behind: bool,
    },
    /// Loads it into what is behind a pointer.
    LoadInto,
    /// Stores what is behind a pointer.
    StoreFrom,
    /// Stores what is behind a pointer, and the old value behind another.
    ExchangeBehind,
    /// Compares it with a value. The result is whether they were equal, or the `old` value.
    CompareSwap {
        old: bool,
    },
    /// Sets its first byte; the result is whether it was set.
    TestAndSet,
    /// Clears its first byte.
    Clear,
    /// Writes 0.
    Release,
    /// Nothing, in one step.
    Fence,
    /// Nothing. Everything here is free of locks.
    IsLockFree,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Plain(BinaryOp),
    Nand,
}

impl Op {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "add" => Self::Plain(BinaryOp::Add),
            "sub" => Self::Plain(BinaryOp::Sub),
            "and" => Self::Plain(BinaryOp::And),
            "or" => Self::Plain(BinaryOp::Or),
            "xor" => Self::Plain(BinaryOp::Xor),
            "nand" => Self::Nand,
            _ => return None,
        })
    }

    fn apply(self, ty: IntType, left: Expr, right: Expr) -> Expr {
        match self {
            Self::Plain(op) => Expr::binary(op, ty, left, right),
            Self::Nand => Expr::unary(UnaryOp::Not, ty, Expr::binary(BinaryOp::And, ty, left, right)),
        }
    }
}

/// How an atomic function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    operation: Operation,
    /// How many arguments it works with; the others are orders and flags.
    n_operands: usize,
    /// Where the memory orders begin: they are the last arguments.
    orders: usize,
}

impl Form {
    /// The atomic function of this name.
    fn of(name: &str) -> Option<Self> {
        use Operation::{
            Clear, CompareExchange, CompareSwap, Exchange, ExchangeBehind, Fence, IsLockFree, Load, LoadInto,
            Release, Store, StoreFrom, TestAndSet, Update,
        };
        let update = |op: Option<&str>, after| Some((Update { op: Op::of(op?)?, after }, 2));
        if let Some(rest) = name.strip_prefix("__sync_") {
            let (operation, n_operands) = match rest {
                "bool_compare_and_swap" => (CompareSwap { old: false }, 3),
                "val_compare_and_swap" => (CompareSwap { old: true }, 3),
                "lock_test_and_set" => (Exchange, 2),
                "lock_release" => (Release, 1),
                "synchronize" => (Fence, 0),
                _ => update(rest.strip_prefix("fetch_and_"), false)
                    .or_else(|| update(rest.strip_suffix("_and_fetch"), true))?,
            };
            // What follows is a list of variables that GCC ignores.
            return Some(Self { operation, n_operands, orders: usize::MAX });
        }
        if let Some(rest) = name.strip_prefix("__atomic_") {
            let (operation, n_operands) = match rest {
                "load_n" => (Load, 1),
                "load" => (LoadInto, 2),
                "store_n" => (Store, 2),
                "store" => (StoreFrom, 2),
                "exchange_n" => (Exchange, 2),
                "exchange" => (ExchangeBehind, 3),
                "compare_exchange_n" | "compare_exchange" => {
                    let operation = CompareExchange { behind: rest == "compare_exchange" };
                    return Some(Self { operation, n_operands: 3, orders: 4 });
                }
                "test_and_set" => (TestAndSet, 1),
                "clear" => (Clear, 1),
                "thread_fence" | "signal_fence" => (Fence, 0),
                "is_lock_free" | "always_lock_free" => {
                    return Some(Self { operation: IsLockFree, n_operands: 0, orders: usize::MAX });
                }
                _ => update(rest.strip_prefix("fetch_"), false)
                    .or_else(|| update(rest.strip_suffix("_fetch"), true))?,
            };
            return Some(Self { operation, n_operands, orders: n_operands });
        }
        let rest = name.strip_prefix("atomic_")?;
        let (operation, n_operands) = match rest.strip_suffix("_explicit").unwrap_or(rest) {
            "load" => (Load, 1),
            "store" | "init" => (Store, 2),
            "exchange" => (Exchange, 2),
            "compare_exchange_strong" | "compare_exchange_weak" => (CompareExchange { behind: false }, 3),
            "thread_fence" | "signal_fence" => (Fence, 0),
            "is_lock_free" => return Some(Self { operation: IsLockFree, n_operands: 0, orders: usize::MAX }),
            rest => update(rest.strip_prefix("fetch_"), false)?,
        };
        Some(Self { operation, n_operands, orders: n_operands })
    }
}

/// What a compare-and-swap compares with.
enum Expected {
    Value(Expr),
    Behind(Object),
}

/// A call of an atomic function, for the steps that it becomes.
#[derive(Clone, Copy)]
struct Call<'a> {
    name: &'a str,
    /// The type of the result where it is used.
    wanted: Option<&'a Type>,
    span: Span,
}

impl Lowerer<'_> {
    /// A call of an atomic function; `None` where the name is not one of them.
    pub(crate) fn atomic_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        wanted: Option<&Type>,
        span: Span,
    ) -> Option<Option<Expr>> {
        let form = Form::of(name)?;
        let (operands, others) = arguments.split_at_checked(form.n_operands)?;
        if operands.first().is_some_and(|object| !matches!(object.ty, Type::Pointer(_))) {
            // Declared by the program, as something else.
            return None;
        }
        self.warn_of_orders(name, arguments.get(form.orders..).unwrap_or_default(), span);
        let call = Call { name, wanted, span };
        match form.operation {
            Operation::Fence => {
                others.iter().for_each(|other| self.discard(other));
                self.advance(span, Step::new(Action::Library, self.text(span), None).calling(name));
                Some(Some(Expr::Const(0)))
            }
            Operation::IsLockFree => {
                others.iter().for_each(|other| self.discard(other));
                Some(Some(Expr::Const(1)))
            }
            operation => Some(self.atomic_operation(operation, operands, others, call)),
        }
    }

    /// Says once for a call that its order is taken for a stronger one.
    fn warn_of_orders(&mut self, name: &str, orders: &[TreeExpr], span: Span) {
        let is_sequential = |order: &TreeExpr| matches!(strip_casts(order).kind, ExprKind::Int(SEQUENTIAL));
        if orders.iter().all(is_sequential) {
            return;
        }
        let message = format!("`{name}` is treated as sequentially consistent");
        let warning = Diagnostic::warning("weaker-order", message);
        let warning = warning.at(span, "a weaker memory order is asked for here");
        let warning = warning.note("runs that only the weaker order allows are not looked at");
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// One operation on one object. Arguments are evaluated from left to right before it.
    fn atomic_operation(
        &mut self,
        operation: Operation,
        operands: &[TreeExpr],
        others: &[TreeExpr],
        call: Call<'_>,
    ) -> Option<Expr> {
        let mut later = operands.iter().skip(1).chain(others);
        let fixed = later.any(|later| self.class(later).steps);
        let (first, mut rest) = operands.split_first()?;
        let Type::Pointer(to) = &first.ty else { return None };
        let is_byte = matches!(operation, Operation::TestAndSet | Operation::Clear)
            && !matches!(to.ty, Type::Int(_) | Type::Pointer(_));
        let ty = if is_byte { &Type::Int(IntKind::UnsignedChar) } else { &to.ty };
        let object = self.atomic_object(first, ty, fixed)?;
        let mut behind = None;
        if let Operation::CompareExchange { .. } = operation {
            let (expected, values) = rest.split_first()?;
            behind = Some(self.atomic_object(expected, ty, true)?);
            rest = values;
        }
        let is_behind = matches!(
            operation,
            Operation::LoadInto
                | Operation::StoreFrom
                | Operation::ExchangeBehind
                | Operation::CompareExchange { behind: true }
        );
        if is_behind {
            return self.atomic_behind(operation, &object, (ty, behind), rest, call);
        }
        let mut values = Vec::new();
        for (position, operand) in rest.iter().enumerate() {
            let from = self.int_type_at(&operand.ty, operand.span);
            let value = self.value(operand);
            let value = if object.is_bool { Expr::truth(value) } else { convert(from, object.ty, value) };
            let mut later = rest[position + 1..].iter().chain(others);
            let unstable = later.any(|later| self.class(later).steps) && !self.is_stable(&value);
            let is_apart = self.is_plain_access(&value) || unstable;
            values.push(if is_apart { self.spill(value, object.ty, operand.span) } else { value });
        }
        others.iter().for_each(|other| self.discard(other));
        let mut values = values.into_iter();
        match operation {
            Operation::Load => {
                self.check_written(&object);
                Some(self.atomic_step(&object, None, Some(object.load()), call))
            }
            Operation::Store => {
                let new = values.next()?;
                Some(self.atomic_step(&object, Some(new), None, call))
            }
            Operation::Release => Some(self.atomic_step(&object, Some(Expr::Const(0)), None, call)),
            Operation::Exchange => {
                self.check_written(&object);
                let new = values.next()?;
                Some(self.atomic_step(&object, Some(new), Some(object.load()), call))
            }
            Operation::Update { op, after } => {
                if matches!(ty, Type::Pointer(_)) && !matches!(op, Op::Plain(BinaryOp::Add | BinaryOp::Sub)) {
                    self.unsupported(call.span, "this atomic operation on pointers is");
                    return None;
                }
                self.check_written(&object);
                let value = values.next()?;
                let new = if let Type::Pointer(_) = ty {
                    self.moved_pointer(&object, op, value, ty, call)
                } else {
                    updated(&object, op, value)
                };
                let result = if after { new.clone() } else { object.load() };
                Some(self.atomic_step(&object, Some(new), Some(result), call))
            }
            Operation::TestAndSet | Operation::Clear => {
                self.check_written(&object);
                let sets = operation == Operation::TestAndSet;
                let (new, was_set) = first_byte(&object, sets);
                Some(self.atomic_step(&object, Some(new), sets.then_some(was_set), call))
            }
            Operation::CompareExchange { .. } => {
                let desired = values.next()?;
                self.compare(&object, Expected::Behind(behind?), &desired, false, call)
            }
            Operation::CompareSwap { old } => {
                let expected = Expected::Value(values.next()?);
                let desired = values.next()?;
                self.compare(&object, expected, &desired, old, call)
            }
            Operation::LoadInto
            | Operation::StoreFrom
            | Operation::ExchangeBehind
            | Operation::Fence
            | Operation::IsLockFree => Some(Expr::Const(0)),
        }
    }

    /// A pointer moved on: by elements as C11 has it for its own functions, by bytes for the compiler's.
    fn moved_pointer(&mut self, object: &Object, op: Op, value: Expr, ty: &Type, call: Call<'_>) -> Expr {
        let is_generic = call.name.starts_with("atomic_");
        let size = if is_generic { self.pointee_size(ty, call.span) } else { 1 };
        let bytes = scaled(value, size);
        let bytes = if op == Op::Plain(BinaryOp::Sub) { negated(bytes) } else { bytes };
        self.pointer_plus(object.load(), bytes)
    }

    /// The forms whose values are all behind pointers: what they take is read in a step before, and what they
    /// give is written in a step after.
    fn atomic_behind(
        &mut self,
        operation: Operation,
        object: &Object,
        (ty, expected): (&Type, Option<Object>),
        others: &[TreeExpr],
        call: Call<'_>,
    ) -> Option<Expr> {
        let mut others = others.iter();
        let mut new = None;
        if operation != Operation::LoadInto {
            let from = self.atomic_object(others.next()?, ty, true)?;
            self.check_written(&from);
            new = Some(self.spill(from.load(), object.ty, call.span));
        }
        let into = match operation {
            Operation::LoadInto | Operation::ExchangeBehind => {
                Some(self.atomic_object(others.next()?, ty, true)?)
            }
            _ => None,
        };
        if let Operation::CompareExchange { .. } = operation {
            return self.compare(object, Expected::Behind(expected?), &new?, false, call);
        }
        let Some(into) = into else { return Some(self.atomic_step(object, new, None, call)) };
        self.check_written(object);
        let found = self.fresh_temporary(object.ty);
        let mut step = Step::new(Action::Assign, self.text(call.span), None).calling(call.name).atomic();
        if let Some(new) = new {
            step = self.with_written(step.write_object(object, &new), object);
        }
        self.advance(call.span, step.write(found, frame_key(), object.load()));
        let label = format!("{} (stores what it found)", self.text(call.span));
        let back = Step::new(Action::Assign, label, None);
        let back = back.write_object(&into, &Expr::Cell(found, frame_key()));
        self.advance(call.span, self.with_written(back, &into));
        Some(Expr::Const(0))
    }

    /// Whether evaluating the expression is an access of its own, before the operation: it is plain, and may race.
    /// (Where statements are atomic it is one step with the operation all the same.)
    fn is_plain_access(&self, expr: &Expr) -> bool {
        match self.options.atomicity {
            Atomicity::Access => self.may_change(expr),
            Atomicity::Statement => self.is_shared_expr(expr),
        }
    }

    /// The object behind an argument, accessed as the type `ty`. `fixed`: other steps come before its use.
    fn atomic_object(&mut self, argument: &TreeExpr, ty: &Type, fixed: bool) -> Option<Object> {
        if !matches!(ty, Type::Int(_) | Type::Pointer(_)) {
            self.unsupported(argument.span, "atomic operations on objects of this type are");
            return None;
        }
        let path = self.behind_path(argument, ty);
        let mut path = self.never_silent(path, argument.span)?;
        let address = if let Root::Pointer(address, _) = &path.root { Some(address) } else { None };
        let mut parts = path.indices.iter().map(|(index, _)| index).chain(address);
        // Finding the object is an access of its own, before the operation.
        if fixed || parts.any(|part| self.is_plain_access(part)) {
            self.fix_path(&mut path, true, argument.span);
        }
        let object = self.resolve_path(path, argument.span);
        self.never_silent(object, argument.span)
    }

    /// The step: writes the object, and the result into a temporary.
    fn atomic_step(
        &mut self,
        object: &Object,
        new: Option<Expr>,
        result: Option<Expr>,
        call: Call<'_>,
    ) -> Expr {
        let step = Step::new(Action::Assign, self.text(call.span), None);
        let mut step = step.calling(call.name).atomic();
        if let Some(new) = new {
            step = self.with_written(step.write_object(object, &new), object);
        }
        let value = match (result, call.wanted) {
            (Some(result), Some(wanted)) => {
                let temporary = self.fresh_temporary(object.ty);
                step = step.write(temporary, frame_key(), result);
                self.atomic_result(Expr::Cell(temporary, frame_key()), object.ty, wanted)
            }
            (result, _) => {
                // What nobody wants is still read.
                step.touches.extend(result);
                Expr::Const(0)
            }
        };
        self.advance(call.span, step);
        value
    }

    /// The result in the type that the call has: another one only where the program declares the function.
    fn atomic_result(&self, value: Expr, ty: IntType, wanted: &Type) -> Expr {
        match self.int_type_of(wanted) {
            Some(wanted) => convert(ty, wanted, value),
            None => value,
        }
    }

    /// Compares and, where equal, writes, in one step. Where not equal, what was expected behind a pointer
    /// gets the object's value: in the same step, but in one of its own where other threads can see it.
    fn compare(
        &mut self,
        object: &Object,
        expected: Expected,
        desired: &Expr,
        gives_old: bool,
        call: Call<'_>,
    ) -> Option<Expr> {
        let (value, behind) = match expected {
            Expected::Value(value) => (value, None),
            Expected::Behind(behind) => {
                self.check_written(&behind);
                let is_apart = behind.targets.iter().any(|target| {
                    self.is_plain_access(&target.cell())
                        || object.targets.iter().any(|other| other.place == target.place)
                });
                let value = behind.load();
                let value = if is_apart { self.spill(value, behind.ty, call.span) } else { value };
                (value, Some((behind, is_apart)))
            }
        };
        self.check_written(object);
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return None;
        }
        let old = object.load();
        let is_equal = Expr::equal(old.clone(), value);
        let text = self.text(call.span);
        let next = self.fresh_place(call.span);
        let success = Step::new(Action::Assign, format!("{text} (succeeds)"), Some(next)).calling(call.name);
        let mut success = success.atomic().when(is_equal.clone()).write_object(object, desired);
        let failure = Step::new(Action::Library, format!("{text} (fails)"), Some(next)).calling(call.name);
        let mut failure = failure.atomic().when(Expr::logical_not(is_equal));
        let mut result = Expr::Const(0);
        if let Some(wanted) = call.wanted {
            let ty = if gives_old { object.ty } else { IntType::U8 };
            let temporary = self.fresh_temporary(ty);
            let kept = |equal| if gives_old { old.clone() } else { Expr::Const(equal) };
            success = success.write(temporary, frame_key(), kept(1));
            failure = failure.write(temporary, frame_key(), kept(0));
            result = self.atomic_result(Expr::Cell(temporary, frame_key()), ty, wanted);
        }
        match behind {
            None => {
                self.emit(call.span, vec![success, failure]);
            }
            Some((behind, false)) => {
                self.emit(call.span, vec![success, failure.write_object(&behind, &old)]);
            }
            Some((behind, true)) => {
                let seen = self.fresh_temporary(object.ty);
                let failed = self.fresh_place(call.span);
                failure.to = Some(failed);
                self.emit(call.span, vec![success, failure.write(seen, frame_key(), old)]);
                let back = Step::new(Action::Assign, format!("{text} (stores what it found)"), Some(next));
                let back = back.calling(call.name);
                self.emit_from(failed, call.span, back.write_object(&behind, &Expr::Cell(seen, frame_key())));
            }
        }
        self.frame.current = Some(next);
        Some(result)
    }
}

/// The object's value combined with another, in the object's type. Overflow wraps (C11 7.17.7.5p3).
fn updated(object: &Object, op: Op, value: Expr) -> Expr {
    let promoted = if object.ty.bits < 32 { IntType::I32 } else { object.ty };
    let old = convert(object.ty, promoted, object.load());
    let new = op.apply(promoted, old, convert(object.ty, promoted, value));
    if object.is_bool { Expr::truth(new) } else { convert(promoted, object.ty, new) }
}

/// The object with its first byte, the lowest one, set to 1 or 0, and whether that byte was set.
fn first_byte(object: &Object, sets: bool) -> (Expr, Expr) {
    let old = object.load();
    let byte = Expr::Const(i64::from(sets));
    if object.ty.bits <= 8 {
        return (byte, Expr::truth(old));
    }
    let part = |mask| Expr::binary(BinaryOp::And, object.ty, old.clone(), Expr::Const(object.ty.wrap(mask)));
    (Expr::binary(BinaryOp::Or, object.ty, part(!0xff), byte), Expr::truth(part(0xff)))
}
