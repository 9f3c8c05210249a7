//! The thread library: its table of functions, and threads themselves.
//!
//! A new function of the library gets a row in [`Lowerer::pthread_call`] and a method below it, or in the
//! file of its kind of object. A thread's handle is its number plus one, so that 0 is no thread. C11's
//! functions are those of POSIX under other names, with other numbers for what goes wrong.

use pdnet_net::{
    Action, ArcData, BinaryOp, Bound, CellData, Expr, Fault, IntType, Pattern, Place, Scope,
    TransitionBuilder,
};
use pdnet_source::{Diagnostic, Span};

use super::Lowerer;
use super::cells::Object;
use super::flow::binary;
use super::points_to::Home;
use super::step::Step;
use super::survey::{self, is_null, strip_casts};
use super::value::convert;
use crate::tree::{Expr as TreeExpr, ExprKind, Function};
use crate::types::{SyncKind, Type};

/// What functions return that fail: the numbers that Linux gives them.
pub(crate) const EPERM: i64 = 1;
pub(crate) const EAGAIN: i64 = 11;
pub(crate) const EBUSY: i64 = 16;
pub(crate) const EINVAL: i64 = 22;
pub(crate) const EDEADLK: i64 = 35;
pub(crate) const ETIMEDOUT: i64 = 110;

/// What a function of this name returns where POSIX would say `code`: C11's have numbers of their own.
pub(crate) fn result_code(called: &str, code: i64) -> i64 {
    if !["thrd_", "mtx_", "cnd_", "tss_"].iter().any(|prefix| called.starts_with(prefix)) {
        return code;
    }
    match code {
        0 => 0,
        EBUSY => 1,
        ETIMEDOUT => 4,
        _ => 2,
    }
}

/// The handle of the moving thread, and the value of a mutex that it holds.
pub(crate) fn me() -> Expr {
    binary(BinaryOp::Add, TransitionBuilder::thread(), Expr::Const(1))
}

/// A call that waits for the end of a thread.
#[derive(Clone, Copy)]
struct Join<'a> {
    called: &'a str,
    /// What it gives where it does not wait.
    otherwise: Option<i64>,
    span: Span,
}

impl Lowerer<'_> {
    /// A call of the thread library; `None` where the name is not one of its functions.
    pub(crate) fn pthread_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let join = |otherwise| Join { called: name, otherwise, span };
        match (name, arguments) {
            ("pthread_create", [handle, attribute, start, argument]) => {
                let detached = if self.survey.calls_any(&["pthread_attr_setdetachstate"]) {
                    self.attribute(attribute, span)
                } else {
                    self.discard(attribute);
                    None
                };
                self.create(name, handle, start, argument, detached, span);
            }
            ("thrd_create", [handle, start, argument]) => {
                self.create(name, handle, start, argument, None, span);
            }
            ("pthread_join" | "thrd_join", [thread, result]) => {
                return Some(self.join(join(None), thread, result));
            }
            ("pthread_tryjoin_np", [thread, result]) => {
                return Some(self.join(join(Some(EBUSY)), thread, result));
            }
            ("pthread_timedjoin_np", [thread, result, time])
            | ("pthread_clockjoin_np", [thread, result, _, time]) => {
                self.discard(time);
                self.test_cancel(span);
                return Some(self.join(join(Some(ETIMEDOUT)), thread, result));
            }
            ("pthread_detach" | "thrd_detach", [thread]) => self.detach(name, thread, span),
            ("pthread_exit" | "thrd_exit", [result]) => self.thread_exit(name, result, span),
            ("pthread_self" | "thrd_current", []) => {
                self.advance(span, Step::new(Action::Library, self.text(span), None).calling(name));
                return Some(Some(me()));
            }
            ("pthread_equal" | "thrd_equal", [left, right]) => {
                let values = self.arguments(&[left.clone(), right.clone()]);
                return Some(Some(Expr::equal(values[0].clone(), values[1].clone())));
            }
            _ => {
                let other = self.lock_call(name, arguments, span);
                let other = other.or_else(|| self.condition_call(name, arguments, span));
                let other = other.or_else(|| self.semaphore_call(name, arguments, span));
                let other = other.or_else(|| self.rwlock_call(name, arguments, span));
                let other = other.or_else(|| self.barrier_call(name, arguments, span));
                let other = other.or_else(|| self.attribute_call(name, arguments, span));
                let other = other.or_else(|| self.once_call(name, arguments, span));
                let other = other.or_else(|| self.key_call(name, arguments, span));
                let other = other.or_else(|| self.exit_call(name, arguments, span));
                return other.or_else(|| self.cancel_call(name, arguments, span));
            }
        }
        // These functions return 0: success. What they cannot do, they wait for or stop at.
        Some(Some(Expr::Const(0)))
    }

    /// The object of the thread library behind an argument. What finds it does not change until it is used.
    pub(crate) fn library_object(&mut self, argument: &TreeExpr, kind: SyncKind) -> Option<Object> {
        self.behind(argument, &Type::Sync(kind), true)
    }

    /// A cell that only the thread library knows.
    pub(crate) fn library_cell(
        &mut self,
        name: &str,
        scope: Scope,
        length: Option<u32>,
        value: IntType,
    ) -> Place {
        if let Some(&place) = self.library_cells.get(name) {
            return place;
        }
        let place = self.net.add_cells(name, CellData { scope, length, value, default: 0, listed: vec![] });
        self.net.places[place].internal = true;
        self.library_cells.insert(name.to_owned(), place);
        place
    }

    /// For each thread, whether it was joined or detached: it cannot be joined (again).
    fn let_go(&mut self) -> Place {
        let value = IntType { bits: 1, signed: false };
        self.library_cell("joined or detached", Scope::Thread, None, value)
    }

    /// The number of a thread, from its handle, and whether there is such a thread.
    pub(crate) fn thread_number_of(&self, handle: &Expr) -> (Expr, Expr) {
        let number = binary(BinaryOp::Sub, handle.clone(), Expr::Const(1));
        let created = Expr::Cell(self.thread_counter, vec![]);
        let is_created = Expr::binary(BinaryOp::Le, IntType::U64, handle.clone(), created);
        (number, Expr::both(Expr::truth(handle.clone()), is_created))
    }

    /// Asks that the next step be a fault unless the handle is that of a thread that can be joined.
    fn check_thread(&mut self, handle: &Expr) -> Expr {
        let (number, is_thread) = self.thread_number_of(handle);
        let let_go = self.let_go();
        // Of what is no thread there is no cell.
        let asked = Expr::cond(is_thread.clone(), number.clone(), Expr::Const(0));
        let is_free = Expr::logical_not(Expr::Cell(let_go, vec![asked]));
        self.add_check(Expr::both(is_thread, is_free), Fault::NoThread);
        number
    }

    fn create(
        &mut self,
        called: &str,
        handle: &TreeExpr,
        start: &TreeExpr,
        argument: &TreeExpr,
        detached: Option<Expr>,
        span: Span,
    ) {
        let homes = self.survey.points_to.value(self.program, start);
        let functions: Vec<Function> = homes
            .iter()
            .filter_map(|home| match home {
                Home::Function(function) => Some(*function),
                Home::Variable(_) | Home::Heap(_) | Home::Text(_) | Home::Outside => None,
            })
            .collect();
        for &function in &functions {
            if !self.functions.contains_key(&function) {
                let name = &self.program.functions[function].name;
                let message = format!("`{name}` has no body: a thread cannot start in it");
                return self.error(Diagnostic::error("unknown-function", message).at(start.span, ""));
            }
            if function == self.program.main {
                return self.unsupported(start.span, "threads that start in `main` are");
            }
        }
        let is_named = matches!(strip_casts(start).kind, ExprKind::FunctionRef(_));
        let pointer = if is_named {
            None
        } else {
            let pointer = self.value(start);
            Some(self.spill(pointer, IntType::U64, start.span))
        };
        let takes_argument =
            functions.iter().any(|&function| !self.program.functions[function].params.is_empty());
        let mut argument_value = if takes_argument && !is_null(argument) {
            let value = self.value(argument);
            let steps = self.class(handle).steps;
            if steps && !self.is_stable(&value) {
                self.spill(value, IntType::U64, argument.span)
            } else {
                value
            }
        } else {
            self.discard(argument);
            Expr::Const(0)
        };
        let Some(object) = self.behind(handle, &Type::Thread, false) else { return };
        let handle_shared = self.is_shared_object(&object) || self.has_shared_key(&object);
        if handle_shared && self.is_shared_expr(&argument_value) {
            argument_value = self.spill(argument_value, IntType::U64, argument.span);
        }
        if let Some(pointer) = &pointer {
            let is_one = |function: &Function| self.is_function(pointer, *function);
            let valid = functions.iter().map(is_one).fold(Expr::Const(0), Expr::either);
            self.add_check(valid, Fault::InvalidPointer);
        }
        let number = Expr::Cell(self.thread_counter, vec![]);
        let fits = binary(BinaryOp::Lt, number.clone(), Expr::Const(i64::from(self.net.max_threads)));
        let next = binary(BinaryOp::Add, number.clone(), Expr::Const(1));
        let to = self.fresh_place(span);
        let text = self.text(span);
        let first_frame = vec![number.clone(), Expr::Const(0)];
        let mut steps = Vec::new();
        for function in functions {
            let Some(&started) = self.functions.get(&function) else { continue };
            let data = &self.program.functions[function];
            let label = format!("{text} (starts {})", data.name);
            let mut step = Step::new(Action::Create, label, Some(to)).calling(called);
            let entry = self.net.functions[started].entry;
            step = step.arc(ArcData::Put { place: entry, token: first_frame.clone() });
            step = step.write(self.thread_counter, vec![], next.clone());
            step = self.with_written(step.write_object(&object, &next), &object);
            if let Some(detached) = &detached {
                step = step.write(self.let_go(), vec![number.clone()], detached.clone());
            }
            if let Some(&parameter) = data.params.first() {
                let values = [argument_value.clone()];
                let Some(passed) = self.pass(step, parameter, &values, &first_frame, span) else { return };
                step = passed;
            }
            if let Some(pointer) = &pointer {
                step = step.when(self.is_function(pointer, function));
            }
            steps.push(step.when(fits.clone()));
        }
        let bound = Step::new(Action::Bound(Bound::Threads), text, None).when(Expr::logical_not(fits));
        steps.push(bound);
        self.emit(span, steps);
        self.frame.current = Some(to);
    }

    fn join(&mut self, join: Join<'_>, thread: &TreeExpr, result: &TreeExpr) -> Option<Expr> {
        let Join { called, otherwise, span } = join;
        let mut handle = self.value(thread);
        let steps = self.class(result).steps;
        if self.is_shared_expr(&handle) || (steps && !self.is_stable(&handle)) {
            // Reading the handle is one thing, waiting for the thread another.
            handle = self.spill(handle, IntType::U64, thread.span);
        }
        let ty = if called == "thrd_join" { Type::INT } else { survey::void_pointer() };
        let target = if is_null(result) { None } else { Some(self.behind(result, &ty, false)?) };
        let number = self.check_thread(&handle);
        let let_go = self.let_go();
        let mut step = Step::new(Action::Join, self.text(span), None).calling(called);
        let done = self.net.done?;
        step = step.arc(ArcData::Test { place: done, token: vec![Pattern::Is(number.clone())] });
        step = step.write(let_go, vec![number.clone()], Expr::Const(1));
        if let (Some(object), Some(results)) = (target, self.thread_results) {
            let value = convert(IntType::U64, object.ty, Expr::Cell(results, vec![number.clone()]));
            step = self.with_written(step.write_object(&object, &value), &object);
        }
        let Some(code) = otherwise else {
            self.advance_or_cancel(step, span);
            return Some(Expr::Const(0));
        };
        let running = Step::new(Action::Library, format!("{} (still runs)", self.text(span)), None);
        let running = running.arc(ArcData::Inhibit { place: done, prefix: vec![number] });
        Some(self.either_way(called, vec![(step, 0), (running, code)], span))
    }

    fn detach(&mut self, called: &str, thread: &TreeExpr, span: Span) {
        let mut handle = self.value(thread);
        if self.is_shared_expr(&handle) {
            handle = self.spill(handle, IntType::U64, thread.span);
        }
        let number = self.check_thread(&handle);
        let let_go = self.let_go();
        let step = Step::new(Action::Library, self.text(span), None).calling(called);
        self.advance(span, step.write(let_go, vec![number], Expr::Const(1)));
    }
}
