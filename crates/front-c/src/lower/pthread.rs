//! The thread library: threads, mutexes, condition variables.
//!
//! A new function of the library gets a row in [`Lowerer::pthread_call`] and a method below it. A thread's
//! handle is its number plus one, so that 0 is no thread.

use pdnet_net::{
    Action, ArcData, Base, BinaryOp, Bound, Expr, Fault, IntType, Pattern, Place, TransitionBuilder,
};
use pdnet_source::{Diagnostic, Span};

use super::Lowerer;
use super::cells::{Condition, Target};
use super::flow::{binary, frame_key};
use super::step::Step;
use super::survey::{self, is_null, strip_casts};
use crate::tree::{Expr as TreeExpr, ExprKind, Storage, Variable};
use crate::types::{SyncKind, Type};

/// What a function returns that would have to wait: the number that Linux gives it.
const EBUSY: i64 = 16;

/// The value of a mutex that the moving thread holds.
fn me() -> Expr {
    binary(BinaryOp::Add, TransitionBuilder::thread(), Expr::Const(1))
}

impl Lowerer<'_> {
    /// A call of the thread library; `None` where the name is not one of its functions.
    pub(crate) fn pthread_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        match (name, arguments) {
            ("pthread_create", [handle, attribute, start, argument]) => {
                self.discard(attribute);
                self.create(handle, start, argument, span);
            }
            ("pthread_join", [thread, result]) => self.join(thread, result, span),
            ("pthread_exit", [result]) => self.thread_exit(result, span),
            ("pthread_self", []) => {
                self.advance(span, Step::new(Action::Library, self.text(span), None).calling("pthread_self"));
                return Some(Some(me()));
            }
            ("pthread_equal", [left, right]) => {
                let values = self.arguments(&[left.clone(), right.clone()]);
                return Some(Some(Expr::equal(values[0].clone(), values[1].clone())));
            }
            ("pthread_mutex_init", [mutex, attribute]) => {
                self.discard(attribute);
                self.mutex_init(mutex, span);
            }
            ("pthread_mutex_destroy", [mutex]) => self.mutex_destroy(mutex, span),
            ("pthread_mutex_lock", [mutex]) => self.lock(mutex, span),
            ("pthread_mutex_trylock", [mutex]) => return Some(self.try_lock(mutex, span)),
            ("pthread_mutex_unlock", [mutex]) => self.unlock(mutex, span),
            ("pthread_cond_wait", [condition, mutex]) => self.wait(condition, mutex, span),
            ("pthread_cond_signal", [condition]) => self.signal(condition, span),
            ("pthread_cond_broadcast", [condition]) => self.broadcast(condition, span),
            _ => return None,
        }
        // These functions return 0: success. What they cannot do, they wait for or stop at.
        Some(Some(Expr::Const(0)))
    }

    fn create(&mut self, handle: &TreeExpr, start: &TreeExpr, argument: &TreeExpr, span: Span) {
        let ExprKind::FunctionRef(function) = strip_casts(start).kind else {
            let message = "the function that a thread starts in must be named";
            let diagnostic =
                Diagnostic::error("unsupported", message).at(start.span, "not the name of a function");
            return self.error(diagnostic.help("function pointers are not supported yet"));
        };
        let Some(&started) = self.functions.get(&function) else {
            let name = &self.program.functions[function].name;
            let message = format!("`{name}` has no body: a thread cannot start in it");
            return self.error(Diagnostic::error("unknown-function", message).at(start.span, ""));
        };
        if function == self.program.main {
            return self.unsupported(start.span, "threads that start in `main` are");
        }
        let name = self.program.functions[function].name.clone();
        let parameter = self.program.functions[function].params.first().copied();
        let mut argument_value = match parameter {
            Some(_) if !is_null(argument) => self.value(argument),
            _ => {
                self.discard(argument);
                Expr::Const(0)
            }
        };
        let Some((variable, index)) = self.pointed_object(handle) else { return };
        let Some(object) = self.typed_object(variable, index, handle.span) else { return };
        let handle_shared =
            self.is_shared_cell(object.place) || object.key.iter().any(|k| self.is_shared_expr(k));
        if handle_shared && self.is_shared_expr(&argument_value) {
            argument_value = self.spill(argument_value, IntType::U64, argument.span);
        }
        let number = Expr::Cell(self.thread_counter, vec![]);
        let fits = binary(BinaryOp::Lt, number.clone(), Expr::Const(i64::from(self.net.max_threads)));
        let next = binary(BinaryOp::Add, number.clone(), Expr::Const(1));
        let to = self.fresh_place(span);
        let text = self.text(span);
        let mut step = Step::new(Action::Create, text.clone(), Some(to)).calling("pthread_create");
        let first_frame = vec![number.clone(), Expr::Const(0)];
        step =
            step.arc(ArcData::Put { place: self.net.functions[started].entry, token: first_frame.clone() });
        step = step.write(self.thread_counter, vec![], next.clone());
        step = step.write(object.place, object.key, next);
        if let Some(place) = parameter.and_then(|parameter| self.cells_of(parameter, span)) {
            step = step.write(place, first_frame, argument_value);
        }
        step.label = format!("{text} (starts {name})");
        let bound =
            Step::new(Action::Bound(Bound::Threads), text, None).when(Expr::logical_not(fits.clone()));
        self.emit(span, vec![step.when(fits), bound]);
        self.frame.current = Some(to);
    }

    fn join(&mut self, thread: &TreeExpr, result: &TreeExpr, span: Span) {
        let mut handle = self.value(thread);
        if self.is_shared_expr(&handle) {
            // Reading the handle is one thing, waiting for the thread another.
            handle = self.spill(handle, IntType::U64, thread.span);
        }
        let target = if is_null(result) {
            None
        } else {
            let Some((variable, index)) = self.pointed_object(result) else { return };
            let Some(object) = self.typed_object(variable, index, result.span) else { return };
            let bits = self.net.places[object.place].cells().map_or(0, |cells| cells.value.bits);
            if Some(bits) != self.int_type_of(&survey::void_pointer()).map(|ty| ty.bits) {
                let message = "the result of a thread has the size of a pointer";
                let diagnostic =
                    Diagnostic::error("type-mismatch", message).at(result.span, "too small for it");
                return self.error(diagnostic.help("take it into a `void *` and convert that"));
            }
            Some(object)
        };
        let number = binary(BinaryOp::Sub, handle.clone(), Expr::Const(1));
        let created = Expr::Cell(self.thread_counter, vec![]);
        let is_thread = Expr::both(
            Expr::truth(handle.clone()),
            Expr::binary(BinaryOp::Le, IntType::U64, handle, created),
        );
        self.frame.checks.push((is_thread, Fault::NoThread));
        let mut step = Step::new(Action::Join, self.text(span), None).calling("pthread_join");
        if let Some(done) = self.net.done {
            step = step.arc(ArcData::Test { place: done, token: vec![Pattern::Is(number.clone())] });
        }
        if let (Some(object), Some(results)) = (target, self.thread_results) {
            if let Some(&written) = self.written.get(&object.place) {
                step = step.write(written, object.key.clone(), Expr::Const(1));
            }
            step = step.write(object.place, object.key, Expr::Cell(results, vec![number]));
        }
        self.advance(span, step);
    }

    fn thread_exit(&mut self, result: &TreeExpr, span: Span) {
        let value = match self.thread_results {
            Some(results) if !is_null(result) => Some((results, self.value(result))),
            _ => {
                self.discard(result);
                None
            }
        };
        let mut step = Step::new(Action::ThreadEnd, self.text(span), None).calling("pthread_exit");
        if let Some((results, value)) = value {
            step = step.write(results, vec![TransitionBuilder::thread()], value);
        }
        self.emit(span, vec![step]);
    }

    /// A cell, given its variable and index.
    fn typed_object(&mut self, variable: Variable, index: Option<Expr>, span: Span) -> Option<Target> {
        let place = self.cells_of(variable, span)?;
        let mut key = self.scope_key(place);
        key.extend(index);
        if key.len() + 1 != self.net.components(place).len() {
            self.unsupported(span, "pointers to whole arrays are");
            return None;
        }
        Some(Target { when: None, place, key })
    }

    /// The mutex behind an argument. Its index is spilled where it is shared, since the mutex itself is.
    fn mutex(&mut self, argument: &TreeExpr) -> Option<Target> {
        let (variable, index) = self.pointed_object(argument)?;
        if !self.has_sync_type(variable, SyncKind::Mutex, argument.span) {
            return None;
        }
        let index = self.private_index(index, argument.span);
        self.typed_object(variable, index, argument.span)
    }

    fn condition_variable(&mut self, argument: &TreeExpr) -> Option<(Condition, Vec<Expr>)> {
        let (variable, index) = self.pointed_object(argument)?;
        if !self.has_sync_type(variable, SyncKind::Condition, argument.span) {
            return None;
        }
        let index = self.private_index(index, argument.span);
        let condition = self.condition_of(variable, argument.span)?;
        Some((condition, index.into_iter().collect()))
    }

    /// Several steps may use the index: it must be the same in all of them.
    fn private_index(&mut self, index: Option<Expr>, span: Span) -> Option<Expr> {
        index.map(|index| if self.is_stable(&index) { index } else { self.spill(index, IntType::I64, span) })
    }

    fn has_sync_type(&mut self, variable: Variable, kind: SyncKind, span: Span) -> bool {
        let data = &self.program.variables[variable];
        let element = super::cells::array_shape(&data.ty.ty).map(|(element, _)| element);
        if element == Some(&Type::Sync(kind)) {
            if matches!(data.storage, Storage::Param(_)) {
                self.unsupported(span, "mutexes as parameters are");
                return false;
            }
            return true;
        }
        let found = data.ty.ty.display(self.program);
        let wanted = Type::Sync(kind).display(self.program);
        let message = format!("expected a `{wanted}`, found `{found}`");
        self.error(Diagnostic::error("type-mismatch", message).at(span, ""));
        false
    }

    fn mutex_init(&mut self, mutex: &TreeExpr, span: Span) {
        let Some(mutex) = self.mutex(mutex) else { return };
        let step = Step::new(Action::Assign, self.text(span), None).calling("pthread_mutex_init");
        self.advance(span, step.write(mutex.place, mutex.key, Expr::Const(0)));
    }

    fn mutex_destroy(&mut self, mutex: &TreeExpr, span: Span) {
        let Some(mutex) = self.mutex(mutex) else { return };
        self.frame.checks.push((Expr::logical_not(mutex.load()), Fault::DestroyHeld));
        let step = Step::new(Action::Library, self.text(span), None).calling("pthread_mutex_destroy");
        self.advance(span, step);
    }

    fn lock(&mut self, mutex: &TreeExpr, span: Span) {
        let Some(mutex) = self.mutex(mutex) else { return };
        let is_free = Expr::logical_not(mutex.load());
        let step = Step::new(Action::Lock, self.text(span), None).calling("pthread_mutex_lock");
        self.advance(span, step.when(is_free).write(mutex.place, mutex.key, me()));
    }

    /// Takes the mutex if it is free, and never waits. The result is in a temporary.
    fn try_lock(&mut self, mutex: &TreeExpr, span: Span) -> Option<Expr> {
        let mutex = self.mutex(mutex)?;
        let result = self.fresh_temporary(IntType::I32);
        let to = self.fresh_place(span);
        let text = self.text(span);
        let taken = Step::new(Action::Lock, format!("{text} (succeeds)"), Some(to));
        let taken = taken.when(Expr::logical_not(mutex.load())).write(mutex.place, mutex.key.clone(), me());
        let busy =
            Step::new(Action::Library, format!("{text} (busy)"), Some(to)).when(Expr::truth(mutex.load()));
        let step = |step: Step, value| {
            step.calling("pthread_mutex_trylock").write(result, frame_key(), Expr::Const(value))
        };
        self.emit(span, vec![step(taken, 0), step(busy, EBUSY)]);
        self.frame.current = Some(to);
        Some(Expr::Cell(result, frame_key()))
    }

    fn unlock(&mut self, mutex: &TreeExpr, span: Span) {
        let Some(mutex) = self.mutex(mutex) else { return };
        self.frame.checks.push((Expr::equal(mutex.load(), me()), Fault::NotOwner));
        let step = Step::new(Action::Unlock, self.text(span), None).calling("pthread_mutex_unlock");
        self.advance(span, step.write(mutex.place, mutex.key, Expr::Const(0)));
    }

    /// Giving up the mutex and starting to wait are one step; waking is the signaller's; taking the mutex
    /// again is another.
    fn wait(&mut self, condition: &TreeExpr, mutex: &TreeExpr, span: Span) {
        let Some((condition, index)) = self.condition_variable(condition) else { return };
        let Some(mutex) = self.mutex(mutex) else { return };
        let token: Vec<Expr> = index.iter().cloned().chain([TransitionBuilder::thread()]).collect();
        let pattern: Vec<Pattern> = token.iter().cloned().map(Pattern::Is).collect();
        let text = self.text(span);
        self.frame.checks.push((Expr::equal(mutex.load(), me()), Fault::NotOwner));
        let wait = Step::new(Action::Wait1, text.clone(), None).calling("pthread_cond_wait");
        let wait = wait.arc(ArcData::Put { place: condition.waiters, token: token.clone() });
        self.advance(span, wait.write(mutex.place, mutex.key.clone(), Expr::Const(0)));
        let Some(waiting) = self.frame.current else { return };
        if self.options.spurious_wakeups {
            let wake = Step::new(Action::Wait2, format!("{text} (wakes without a signal)"), None);
            let wake = wake.arc(ArcData::Take { place: condition.waiters, token: pattern.clone() });
            let wake = wake.arc(ArcData::Put { place: condition.woken, token });
            self.emit_from(waiting, span, wake.arc(Self::put_frame(waiting)));
        }
        let next = self.fresh_place(span);
        let again = Step::new(Action::Wait3, format!("{text} (goes on)"), Some(next));
        let again = again.arc(ArcData::Take { place: condition.woken, token: pattern });
        let again = again.when(Expr::logical_not(mutex.load()));
        self.emit_from(waiting, span, again.write(mutex.place, mutex.key, me()));
        self.frame.current = Some(next);
    }

    fn signal(&mut self, condition: &TreeExpr, span: Span) {
        let Some((condition, index)) = self.condition_variable(condition) else { return };
        let to = self.fresh_place(span);
        let text = self.text(span);
        let mut wake = Step::new(Action::Signal, text.clone(), Some(to)).calling("pthread_cond_signal");
        let waiter = wake.binder("u", Base::Thread, None);
        let mut pattern: Vec<Pattern> = index.iter().cloned().map(Pattern::Is).collect();
        pattern.push(Pattern::Bind(waiter));
        let token = index.iter().cloned().chain([Expr::Var(waiter)]).collect();
        wake = wake.arc(ArcData::Take { place: condition.waiters, token: pattern });
        wake = wake.arc(ArcData::Put { place: condition.woken, token });
        let nobody = Step::new(Action::Signal, format!("{text} (nobody waits)"), Some(to));
        let nobody = nobody.calling("pthread_cond_signal");
        let nobody = nobody.arc(ArcData::Inhibit { place: condition.waiters, prefix: index });
        self.emit(span, vec![wake, nobody]);
        self.frame.current = Some(to);
    }

    fn broadcast(&mut self, condition: &TreeExpr, span: Span) {
        let Some((Condition { waiters, woken }, prefix)) = self.condition_variable(condition) else { return };
        let step = Step::new(Action::Broadcast, self.text(span), None).calling("pthread_cond_broadcast");
        self.advance(span, step.arc(ArcData::Drain { place: waiters, prefix, to: woken }));
    }

    /// The mutex or condition variable of a global name, for atoms.
    pub(crate) fn cell_of_global(
        &mut self,
        variable: Variable,
        index: Option<Expr>,
        span: Span,
    ) -> Option<Expr> {
        let object = self.typed_object(variable, index, span)?;
        Some(object.load())
    }

    /// The place of waiters of a condition variable, for atoms.
    pub(crate) fn waiters_of(&mut self, variable: Variable, span: Span) -> Option<Place> {
        self.condition_of(variable, span).map(|condition| condition.waiters)
    }
}
