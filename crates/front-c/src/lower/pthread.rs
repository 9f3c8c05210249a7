//! The thread library: threads, mutexes, spin locks, condition variables.
//!
//! A new function of the library gets a row in [`Lowerer::pthread_call`] and a method below it, or in the
//! file of its kind of object. A thread's handle is its number plus one, so that 0 is no thread.

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
pub(crate) const EBUSY: i64 = 16;
/// What a function returns that has waited too long.
pub(crate) const ETIMEDOUT: i64 = 110;

/// The value of a mutex that the moving thread holds.
pub(crate) fn me() -> Expr {
    binary(BinaryOp::Add, TransitionBuilder::thread(), Expr::Const(1))
}

/// A thread that waits on a condition variable.
struct Waiting {
    /// Where it stands.
    at: Place,
    /// Ends its waiting without a signal.
    waits: ArcData,
    /// Finds it woken.
    woken: ArcData,
    /// What it has to take again.
    mutex: Target,
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
            ("pthread_detach", [thread]) => {
                self.discard(thread);
                let step = Step::new(Action::Library, self.text(span), None).calling(name);
                self.advance(span, step);
            }
            ("pthread_mutex_init" | "pthread_spin_init", [lock, attribute]) => {
                self.discard(attribute);
                self.lock_init(name, lock, span);
            }
            ("pthread_mutex_destroy" | "pthread_spin_destroy", [lock]) => self.lock_destroy(name, lock, span),
            ("pthread_mutex_lock" | "pthread_spin_lock", [lock]) => self.lock(name, lock, span),
            ("pthread_mutex_trylock" | "pthread_spin_trylock", [lock]) => {
                return Some(self.try_lock(name, EBUSY, lock, span));
            }
            // It gives up at some time while it waits: the same as not waiting at some time.
            ("pthread_mutex_timedlock", [lock, time]) => {
                self.discard(time);
                return Some(self.try_lock(name, ETIMEDOUT, lock, span));
            }
            ("pthread_mutex_unlock" | "pthread_spin_unlock", [lock]) => self.unlock(name, lock, span),
            ("pthread_cond_wait", [condition, mutex]) => self.wait(name, condition, mutex, span),
            ("pthread_cond_timedwait", [condition, mutex, time]) => {
                self.discard(time);
                return Some(self.timed_wait(name, condition, mutex, span));
            }
            ("pthread_cond_signal", [condition]) => self.signal(condition, span),
            ("pthread_cond_broadcast", [condition]) => self.broadcast(condition, span),
            _ => {
                let other = self.semaphore_call(name, arguments, span);
                let other = other.or_else(|| self.rwlock_call(name, arguments, span));
                return other.or_else(|| self.barrier_call(name, arguments, span));
            }
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
    pub(crate) fn typed_object(
        &mut self,
        variable: Variable,
        index: Option<Expr>,
        span: Span,
    ) -> Option<Target> {
        let place = self.cells_of(variable, span)?;
        let mut key = self.scope_key(place);
        key.extend(index);
        if key.len() + 1 != self.net.components(place).len() {
            self.unsupported(span, "pointers to whole arrays are");
            return None;
        }
        Some(Target { when: None, place, key })
    }

    /// The mutex behind an argument.
    fn mutex(&mut self, argument: &TreeExpr) -> Option<Target> {
        self.library_object(argument, SyncKind::Mutex)
    }

    /// The mutex or spin lock that a function of this name is about.
    fn lock_of(&mut self, called: &str, argument: &TreeExpr) -> Option<Target> {
        let is_spin = called.starts_with("pthread_spin_");
        self.library_object(argument, if is_spin { SyncKind::SpinLock } else { SyncKind::Mutex })
    }

    /// The object of the thread library behind an argument. Its index is spilled where it is shared, since
    /// the object itself is.
    pub(crate) fn library_object(&mut self, argument: &TreeExpr, kind: SyncKind) -> Option<Target> {
        let (variable, index) = self.pointed_object(argument)?;
        if !self.has_sync_type(variable, kind, argument.span) {
            return None;
        }
        let index = self.private_index(index, argument.span);
        self.typed_object(variable, index, argument.span)
    }

    /// Two ways that a call can go, in one step: each with the result that it gives. The results are in a
    /// temporary.
    pub(crate) fn either_way(&mut self, called: &str, ways: Vec<(Step, i64)>, span: Span) -> Expr {
        let result = self.fresh_temporary(IntType::I32);
        let to = self.fresh_place(span);
        let finish = |(mut step, value): (Step, i64)| {
            step.to = Some(to);
            step.calling(called).write(result, frame_key(), Expr::Const(value))
        };
        if self.frame.current.is_none() {
            self.frame.checks.clear();
        } else {
            self.emit(span, ways.into_iter().map(finish).collect());
            self.frame.current = Some(to);
        }
        Expr::Cell(result, frame_key())
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

    /// Several steps may use the index: it must be the same in all of them. Nobody else changes a local.
    pub(crate) fn private_index(&mut self, index: Option<Expr>, span: Span) -> Option<Expr> {
        index.map(|index| if self.may_change(&index) { self.spill(index, IntType::I64, span) } else { index })
    }

    pub(crate) fn has_sync_type(&mut self, variable: Variable, kind: SyncKind, span: Span) -> bool {
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

    fn lock_init(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.lock_of(called, lock) else { return };
        let step = Step::new(Action::Assign, self.text(span), None).calling(called);
        self.advance(span, step.write(lock.place, lock.key, Expr::Const(0)));
    }

    fn lock_destroy(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.lock_of(called, lock) else { return };
        self.frame.checks.push((Expr::logical_not(lock.load()), Fault::DestroyHeld));
        let step = Step::new(Action::Library, self.text(span), None).calling(called);
        self.advance(span, step);
    }

    fn lock(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.lock_of(called, lock) else { return };
        let is_free = Expr::logical_not(lock.load());
        let step = Step::new(Action::Lock, self.text(span), None).calling(called);
        self.advance(span, step.when(is_free).write(lock.place, lock.key, me()));
    }

    /// Takes the lock if it is free, and never waits. The result is in a temporary.
    fn try_lock(&mut self, called: &str, otherwise: i64, lock: &TreeExpr, span: Span) -> Option<Expr> {
        let lock = self.lock_of(called, lock)?;
        let text = self.text(span);
        let taken = Step::new(Action::Lock, format!("{text} (succeeds)"), None);
        let taken = taken.when(Expr::logical_not(lock.load())).write(lock.place, lock.key.clone(), me());
        let busy =
            Step::new(Action::Library, format!("{text} (gives up)"), None).when(Expr::truth(lock.load()));
        Some(self.either_way(called, vec![(taken, 0), (busy, otherwise)], span))
    }

    fn unlock(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.lock_of(called, lock) else { return };
        self.frame.checks.push((Expr::equal(lock.load(), me()), Fault::NotOwner));
        let step = Step::new(Action::Unlock, self.text(span), None).calling(called);
        self.advance(span, step.write(lock.place, lock.key, Expr::Const(0)));
    }

    fn wait(&mut self, called: &str, condition: &TreeExpr, mutex: &TreeExpr, span: Span) {
        let Some(Waiting { at, woken, mutex, .. }) = self.begin_wait(called, condition, mutex, span) else {
            return;
        };
        let next = self.fresh_place(span);
        let again = Step::new(Action::Wait3, format!("{} (goes on)", self.text(span)), Some(next)).arc(woken);
        let again = again.when(Expr::logical_not(mutex.load()));
        self.emit_from(at, span, again.write(mutex.place, mutex.key, me()));
        self.frame.current = Some(next);
    }

    /// As [`Self::wait`], but the thread may also wake because its time is over, whenever that is. The result
    /// is in a temporary.
    fn timed_wait(
        &mut self,
        called: &str,
        condition: &TreeExpr,
        mutex: &TreeExpr,
        span: Span,
    ) -> Option<Expr> {
        let result = self.fresh_temporary(IntType::I32);
        let value = Expr::Cell(result, frame_key());
        let Some(Waiting { at, waits, woken, mutex }) = self.begin_wait(called, condition, mutex, span)
        else {
            return Some(value);
        };
        let text = self.text(span);
        let (late, next) = (self.fresh_place(span), self.fresh_place(span));
        let over = Step::new(Action::Wait2, format!("{text} (its time is over)"), Some(late)).arc(waits);
        let again = |label: &str, result_value| {
            let step = Step::new(Action::Wait3, format!("{text} ({label})"), Some(next));
            let step = step.when(Expr::logical_not(mutex.load()));
            let step = step.write(mutex.place, mutex.key.clone(), me());
            step.write(result, frame_key(), Expr::Const(result_value))
        };
        self.frame.current = Some(at);
        self.emit(span, vec![again("goes on", 0).arc(woken), over]);
        self.emit_from(late, span, again("goes on late", ETIMEDOUT));
        self.frame.current = Some(next);
        Some(value)
    }

    /// Giving up the mutex and starting to wait are one step; waking is the signaller's; taking the mutex
    /// again is another. `None` where no control comes here, or behind a diagnostic.
    fn begin_wait(
        &mut self,
        called: &str,
        condition: &TreeExpr,
        mutex: &TreeExpr,
        span: Span,
    ) -> Option<Waiting> {
        let (condition, index) = self.condition_variable(condition)?;
        let mutex = self.mutex(mutex)?;
        let token: Vec<Expr> = index.iter().cloned().chain([TransitionBuilder::thread()]).collect();
        let pattern: Vec<Pattern> = token.iter().cloned().map(Pattern::Is).collect();
        let text = self.text(span);
        self.frame.checks.push((Expr::equal(mutex.load(), me()), Fault::NotOwner));
        let wait = Step::new(Action::Wait1, text.clone(), None).calling(called);
        let wait = wait.arc(ArcData::Put { place: condition.waiters, token: token.clone() });
        self.advance(span, wait.write(mutex.place, mutex.key.clone(), Expr::Const(0)));
        let at = self.frame.current?;
        let waits = ArcData::Take { place: condition.waiters, token: pattern.clone() };
        if self.options.spurious_wakeups {
            let wake = Step::new(Action::Wait2, format!("{text} (wakes without a signal)"), None);
            let wake = wake.arc(waits.clone());
            let wake = wake.arc(ArcData::Put { place: condition.woken, token });
            self.emit_from(at, span, wake.arc(Self::put_frame(at)));
        }
        let woken = ArcData::Take { place: condition.woken, token: pattern };
        Some(Waiting { at, waits, woken, mutex })
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
