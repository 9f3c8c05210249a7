//! The thread library: threads, mutexes, spin locks, condition variables.
//!
//! A new function of the library gets a row in [`Lowerer::pthread_call`] and a method below it, or in the
//! file of its kind of object. A thread's handle is its number plus one, so that 0 is no thread.

use pdnet_net::{
    Action, ArcData, Base, BinaryOp, Bound, Expr, Fault, IntType, Pattern, Place, TransitionBuilder,
};
use pdnet_source::{Diagnostic, Span};

use super::Lowerer;
use super::cells::{Condition, Object};
use super::flow::{binary, frame_key};
use super::path::Root;
use super::points_to::Home;
use super::step::Step;
use super::survey::{self, is_null, strip_casts};
use crate::tree::{Expr as TreeExpr, ExprKind, Function};
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
    mutex: Object,
}

/// A condition variable or barrier that may be meant.
pub(crate) struct WaitingPlace {
    /// It is meant only where this is true.
    pub(crate) when: Option<Expr>,
    pub(crate) condition: Condition,
    /// Which of several.
    pub(crate) row: Vec<Expr>,
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
        let first_frame = vec![number, Expr::Const(0)];
        let mut steps = Vec::new();
        for function in functions {
            let Some(&started) = self.functions.get(&function) else { continue };
            let data = &self.program.functions[function];
            let label = format!("{text} (starts {})", data.name);
            let mut step = Step::new(Action::Create, label, Some(to)).calling("pthread_create");
            let entry = self.net.functions[started].entry;
            step = step.arc(ArcData::Put { place: entry, token: first_frame.clone() });
            step = step.write(self.thread_counter, vec![], next.clone());
            step = self.with_written(step.write_object(&object, &next), &object);
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

    fn join(&mut self, thread: &TreeExpr, result: &TreeExpr, span: Span) {
        let mut handle = self.value(thread);
        let steps = self.class(result).steps;
        if self.is_shared_expr(&handle) || (steps && !self.is_stable(&handle)) {
            // Reading the handle is one thing, waiting for the thread another.
            handle = self.spill(handle, IntType::U64, thread.span);
        }
        let target = if is_null(result) {
            None
        } else {
            let Some(object) = self.behind(result, &survey::void_pointer(), false) else { return };
            Some(object)
        };
        let number = binary(BinaryOp::Sub, handle.clone(), Expr::Const(1));
        let created = Expr::Cell(self.thread_counter, vec![]);
        let is_thread = Expr::both(
            Expr::truth(handle.clone()),
            Expr::binary(BinaryOp::Le, IntType::U64, handle, created),
        );
        self.add_check(is_thread, Fault::NoThread);
        let mut step = Step::new(Action::Join, self.text(span), None).calling("pthread_join");
        if let Some(done) = self.net.done {
            step = step.arc(ArcData::Test { place: done, token: vec![Pattern::Is(number.clone())] });
        }
        if let (Some(object), Some(results)) = (target, self.thread_results) {
            let value = Expr::Cell(results, vec![number]);
            step = self.with_written(step.write_object(&object, &value), &object);
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

    /// The mutex behind an argument.
    fn mutex(&mut self, argument: &TreeExpr) -> Option<Object> {
        self.library_object(argument, SyncKind::Mutex)
    }

    /// The mutex or spin lock that a function of this name is about.
    fn lock_of(&mut self, called: &str, argument: &TreeExpr) -> Option<Object> {
        let is_spin = called.starts_with("pthread_spin_");
        self.library_object(argument, if is_spin { SyncKind::SpinLock } else { SyncKind::Mutex })
    }

    /// The object of the thread library behind an argument. What finds it does not change until it is used.
    pub(crate) fn library_object(&mut self, argument: &TreeExpr, kind: SyncKind) -> Option<Object> {
        self.behind(argument, &Type::Sync(kind), true)
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

    /// The condition variables or barriers that an argument can point to.
    pub(crate) fn waiting_places(
        &mut self,
        argument: &TreeExpr,
        kind: SyncKind,
    ) -> Option<Vec<WaitingPlace>> {
        let ty = Type::Sync(kind);
        let path = self.behind_path(argument, &ty);
        let mut path = self.never_silent(path, argument.span)?;
        self.fix_path(&mut path, true, argument.span);
        let homes = match &path.root {
            Root::Named(home) => [*home].into(),
            Root::Pointer(_, homes) => homes.clone(),
        };
        let is_named = matches!(path.root, Root::Named(_));
        if let Root::Named(home) = path.root {
            let found = self.named_leaf(home, &path, argument.span)?;
            return Some(vec![self.waiting_place(None, home, found.0, &found.1, argument.span)?]);
        }
        let address = self.path_address(&path);
        let targets = self.sync_targets(&address, &homes, &ty, argument.span);
        debug_assert!(!is_named);
        self.add_check(Expr::truth(address), Fault::NullPointer);
        let valid = targets.iter().map(|(when, ..)| when.clone()).fold(Expr::Const(0), Expr::either);
        self.add_check(valid, Fault::InvalidPointer);
        let mut found = Vec::new();
        for (when, home, leaf, key) in targets {
            found.push(self.waiting_place(Some(when), home, leaf, &key, argument.span)?);
        }
        Some(found)
    }

    fn waiting_place(
        &mut self,
        when: Option<Expr>,
        home: Home,
        leaf: usize,
        key: &[Expr],
        span: Span,
    ) -> Option<WaitingPlace> {
        let condition = self.condition_of(home, leaf, span)?;
        let shape = self.shape(home, span)?;
        let row = self.condition_row(home, &shape.leaves[leaf], key);
        Some(WaitingPlace { when, condition, row: row.into_iter().collect() })
    }

    fn lock_init(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.lock_of(called, lock) else { return };
        let step = Step::new(Action::Assign, self.text(span), None).calling(called);
        self.advance(span, step.write_object(&lock, &Expr::Const(0)));
    }

    fn lock_destroy(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.lock_of(called, lock) else { return };
        self.add_check(Expr::logical_not(lock.load()), Fault::DestroyHeld);
        let step = Step::new(Action::Library, self.text(span), None).calling(called);
        self.advance(span, step);
    }

    fn lock(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.lock_of(called, lock) else { return };
        let is_free = Expr::logical_not(lock.load());
        let step = Step::new(Action::Lock, self.text(span), None).calling(called);
        self.advance(span, step.when(is_free).write_object(&lock, &me()));
    }

    /// Takes the lock if it is free, and never waits. The result is in a temporary.
    fn try_lock(&mut self, called: &str, otherwise: i64, lock: &TreeExpr, span: Span) -> Option<Expr> {
        let lock = self.lock_of(called, lock)?;
        let text = self.text(span);
        let taken = Step::new(Action::Lock, format!("{text} (succeeds)"), None);
        let taken = taken.when(Expr::logical_not(lock.load())).write_object(&lock, &me());
        let busy =
            Step::new(Action::Library, format!("{text} (gives up)"), None).when(Expr::truth(lock.load()));
        Some(self.either_way(called, vec![(taken, 0), (busy, otherwise)], span))
    }

    fn unlock(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.lock_of(called, lock) else { return };
        self.add_check(Expr::equal(lock.load(), me()), Fault::NotOwner);
        let step = Step::new(Action::Unlock, self.text(span), None).calling(called);
        self.advance(span, step.write_object(&lock, &Expr::Const(0)));
    }

    fn wait(&mut self, called: &str, condition: &TreeExpr, mutex: &TreeExpr, span: Span) {
        let Some(waiting) = self.begin_wait(called, condition, mutex, span) else { return };
        let next = self.fresh_place(span);
        for Waiting { at, woken, mutex, .. } in waiting {
            let label = format!("{} (goes on)", self.text(span));
            let again = Step::new(Action::Wait3, label, Some(next)).arc(woken);
            let again = again.when(Expr::logical_not(mutex.load()));
            self.emit_from(at, span, again.write_object(&mutex, &me()));
        }
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
        let Some(waiting) = self.begin_wait(called, condition, mutex, span) else { return Some(value) };
        let text = self.text(span);
        let (late, next) = (self.fresh_place(span), self.fresh_place(span));
        for Waiting { at, waits, woken, mutex } in waiting {
            let over = Step::new(Action::Wait2, format!("{text} (its time is over)"), Some(late)).arc(waits);
            let again = |label: &str, result_value| {
                let step = Step::new(Action::Wait3, format!("{text} ({label})"), Some(next));
                let step = step.when(Expr::logical_not(mutex.load())).write_object(&mutex, &me());
                step.write(result, frame_key(), Expr::Const(result_value))
            };
            self.frame.current = Some(at);
            self.emit(span, vec![again("goes on", 0).arc(woken), over]);
            self.emit_from(late, span, again("goes on late", ETIMEDOUT));
        }
        self.frame.current = Some(next);
        Some(value)
    }

    /// Giving up the mutex and starting to wait are one step; waking is the signaller's; taking the mutex
    /// again is another. One for each condition variable that can be meant. `None` where no control comes here,
    /// or behind a diagnostic.
    fn begin_wait(
        &mut self,
        called: &str,
        condition: &TreeExpr,
        mutex: &TreeExpr,
        span: Span,
    ) -> Option<Vec<Waiting>> {
        let places = self.waiting_places(condition, SyncKind::Condition)?;
        let mutex = self.mutex(mutex)?;
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return None;
        }
        self.add_check(Expr::equal(mutex.load(), me()), Fault::NotOwner);
        let text = self.text(span);
        let mut steps = Vec::new();
        let mut waiting = Vec::new();
        for WaitingPlace { when, condition, row } in places {
            let token: Vec<Expr> = row.into_iter().chain([TransitionBuilder::thread()]).collect();
            let pattern: Vec<Pattern> = token.iter().cloned().map(Pattern::Is).collect();
            let at = self.fresh_place(span);
            let wait = Step::new(Action::Wait1, text.clone(), Some(at)).calling(called);
            let wait = wait.arc(ArcData::Put { place: condition.waiters, token: token.clone() });
            let wait = wait.write_object(&mutex, &Expr::Const(0));
            steps.push(when.into_iter().fold(wait, Step::when));
            let waits = ArcData::Take { place: condition.waiters, token: pattern.clone() };
            let woken = ArcData::Take { place: condition.woken, token: pattern };
            waiting.push((Waiting { at, waits, woken, mutex: mutex.clone() }, condition, token));
        }
        self.emit(span, steps);
        if self.options.spurious_wakeups {
            for (Waiting { at, waits, .. }, condition, token) in &waiting {
                let wake = Step::new(Action::Wait2, format!("{text} (wakes without a signal)"), None);
                let wake = wake.arc(waits.clone());
                let wake = wake.arc(ArcData::Put { place: condition.woken, token: token.clone() });
                self.emit_from(*at, span, wake.arc(Self::put_frame(*at)));
            }
        }
        Some(waiting.into_iter().map(|(waiting, ..)| waiting).collect())
    }

    fn signal(&mut self, condition: &TreeExpr, span: Span) {
        let Some(places) = self.waiting_places(condition, SyncKind::Condition) else { return };
        if self.frame.current.is_none() {
            return self.frame.checks.clear();
        }
        let to = self.fresh_place(span);
        let text = self.text(span);
        let mut steps = Vec::new();
        for WaitingPlace { when, condition, row } in places {
            let mut wake = Step::new(Action::Signal, text.clone(), Some(to)).calling("pthread_cond_signal");
            let waiter = wake.binder("u", Base::Thread, None);
            let mut pattern: Vec<Pattern> = row.iter().cloned().map(Pattern::Is).collect();
            pattern.push(Pattern::Bind(waiter));
            let token = row.iter().cloned().chain([Expr::Var(waiter)]).collect();
            wake = wake.arc(ArcData::Take { place: condition.waiters, token: pattern });
            wake = wake.arc(ArcData::Put { place: condition.woken, token });
            let nobody = Step::new(Action::Signal, format!("{text} (nobody waits)"), Some(to));
            let nobody = nobody.calling("pthread_cond_signal");
            let nobody = nobody.arc(ArcData::Inhibit { place: condition.waiters, prefix: row });
            let when: Vec<Expr> = when.into_iter().collect();
            steps.extend([wake, nobody].map(|step| when.iter().cloned().fold(step, Step::when)));
        }
        self.emit(span, steps);
        self.frame.current = Some(to);
    }

    fn broadcast(&mut self, condition: &TreeExpr, span: Span) {
        let Some(places) = self.waiting_places(condition, SyncKind::Condition) else { return };
        if self.frame.current.is_none() {
            return self.frame.checks.clear();
        }
        let to = self.fresh_place(span);
        let text = self.text(span);
        let mut steps = Vec::new();
        for WaitingPlace { when, condition: Condition { waiters, woken }, row } in places {
            let step = Step::new(Action::Broadcast, text.clone(), Some(to)).calling("pthread_cond_broadcast");
            let step = step.arc(ArcData::Drain { place: waiters, prefix: row, to: woken });
            steps.push(when.into_iter().fold(step, Step::when));
        }
        self.emit(span, steps);
        self.frame.current = Some(to);
    }
}
