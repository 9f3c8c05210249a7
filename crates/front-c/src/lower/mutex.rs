//! Mutexes of all kinds, and spin locks.
//!
//! The cell of a mutex holds the number plus one of the thread that holds it. Where the program has mutexes
//! that are not normal, these are the lower 8 bits; the next 8 count how often a recursive mutex was locked
//! beyond the first time, and above them stands the kind.

use pdnet_net::{Action, BinaryOp, Bound, Expr, Fault, IntType};
use pdnet_source::Span;

use super::Lowerer;
use super::cells::Object;
use super::flow::binary;
use super::pthread::{EBUSY, EDEADLK, EPERM, ETIMEDOUT, me, result_code};
use super::step::Step;
use super::survey::Kinds;
use crate::tree::Expr as TreeExpr;
use crate::types::SyncKind;

/// Where the kind begins.
const KIND_SHIFT: i64 = 16;
const OWNER: i64 = 0xff;
const COUNT: i64 = 0xff00;
/// One more lock of a recursive mutex.
const ONE_MORE: i64 = 0x100;

const RECURSIVE: i64 = 1;
const CHECKING: i64 = 2;

/// The value of a free mutex of a kind: 0 for normal ones, 1 for recursive, 2 for error-checking ones.
pub(crate) fn of_kind(kind: i128) -> i64 {
    i64::try_from(kind).unwrap_or(0) << KIND_SHIFT
}

/// The state of a lock, in terms of the step that looks at it.
pub(crate) struct State {
    value: Expr,
    /// The kinds that it may have beside the normal one.
    kinds: Kinds,
}

impl State {
    fn owner(&self) -> Expr {
        if self.kinds.any() { self.part(OWNER) } else { self.value.clone() }
    }

    fn part(&self, mask: i64) -> Expr {
        binary(BinaryOp::And, self.value.clone(), Expr::Const(mask))
    }

    fn plus(&self, number: Expr) -> Expr {
        binary(BinaryOp::Add, self.value.clone(), number)
    }

    fn is_kind(&self, kind: i64) -> Expr {
        let found = Expr::binary(BinaryOp::Shr, IntType::U64, self.value.clone(), Expr::Const(KIND_SHIFT));
        Expr::equal(found, Expr::Const(kind))
    }

    pub(crate) fn has_kinds(&self) -> bool {
        self.kinds.any()
    }

    fn is_free(&self) -> Expr {
        Expr::logical_not(self.owner())
    }

    pub(crate) fn is_mine(&self) -> Expr {
        Expr::equal(self.owner(), me())
    }

    /// The thread that moves holds a recursive mutex.
    fn is_mine_again(&self) -> Expr {
        if self.kinds.recursive {
            Expr::both(self.is_mine(), self.is_kind(RECURSIVE))
        } else {
            Expr::Const(0)
        }
    }

    /// The thread that moves holds an error-checking mutex.
    fn is_mine_and_checked(&self) -> Expr {
        if self.kinds.checking { Expr::both(self.is_mine(), self.is_kind(CHECKING)) } else { Expr::Const(0) }
    }

    /// Giving it back without holding it gives an error, and is not undefined.
    pub(crate) fn tells_strangers(&self) -> Expr {
        if self.kinds.any() { Expr::logical_not(self.is_kind(0)) } else { Expr::Const(0) }
    }

    /// It is held more than once.
    fn is_counted(&self) -> Expr {
        if self.kinds.recursive { Expr::truth(self.part(COUNT)) } else { Expr::Const(0) }
    }

    /// The value when a free lock was taken.
    fn taken(&self) -> Expr {
        if self.kinds.any() { self.plus(me()) } else { me() }
    }

    /// The value when a lock that is held once was given back.
    fn released(&self) -> Expr {
        if self.kinds.any() { self.part(!OWNER) } else { Expr::Const(0) }
    }

    /// The value when it was given back once.
    pub(crate) fn given_up(&self) -> Expr {
        Expr::cond(self.is_counted(), self.plus(Expr::Const(-ONE_MORE)), self.released())
    }

    /// Whether the thread that moves can lock it without waiting.
    pub(crate) fn is_open(&self) -> Expr {
        Expr::either(self.is_mine_again(), self.is_free())
    }

    /// The value when it was locked without waiting.
    pub(crate) fn locked(&self) -> Expr {
        Expr::cond(self.is_mine_again(), self.plus(Expr::Const(ONE_MORE)), self.taken())
    }
}

impl Lowerer<'_> {
    /// The mutex or spin lock that a function of this name is about.
    fn lock_of(&mut self, called: &str, argument: &TreeExpr) -> Option<(Object, State)> {
        let is_spin = called.starts_with("pthread_spin_");
        if !is_spin {
            return self.mutex(argument);
        }
        let lock = self.library_object(argument, SyncKind::SpinLock)?;
        let state = State { value: lock.load(), kinds: Kinds::default() };
        Some((lock, state))
    }

    /// The mutex behind an argument.
    pub(crate) fn mutex(&mut self, argument: &TreeExpr) -> Option<(Object, State)> {
        let lock = self.library_object(argument, SyncKind::Mutex)?;
        let state = State { value: lock.load(), kinds: self.survey.kinds };
        if state.has_kinds() {
            self.hide(&lock);
        }
        Some((lock, state))
    }

    /// A call of a function for mutexes or spin locks; `None` where the name is not one of these.
    pub(crate) fn lock_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        match (name, arguments) {
            ("pthread_mutex_init" | "pthread_spin_init" | "mtx_init", [lock, kind]) => {
                self.lock_init(name, lock, kind, span);
            }
            ("pthread_mutex_destroy" | "pthread_spin_destroy" | "mtx_destroy", [lock]) => {
                self.lock_destroy(name, lock, span);
            }
            ("pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock", [lock]) => {
                return Some(self.lock(name, lock, span));
            }
            ("pthread_mutex_trylock" | "pthread_spin_trylock" | "mtx_trylock", [lock]) => {
                return Some(self.try_lock(name, EBUSY, lock, span));
            }
            // It gives up at some time while it waits: the same as not waiting at some time.
            ("pthread_mutex_timedlock" | "mtx_timedlock", [lock, time])
            | ("pthread_mutex_clocklock", [lock, _, time]) => {
                self.discard(time);
                return Some(self.try_lock(name, ETIMEDOUT, lock, span));
            }
            ("pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock", [lock]) => {
                return Some(self.unlock(name, lock, span));
            }
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    fn lock_init(&mut self, called: &str, lock: &TreeExpr, kind: &TreeExpr, span: Span) {
        let kind = if called == "pthread_mutex_init" && self.survey.kinds.any() {
            let Some(kind) = self.attribute(kind, span) else { return };
            // An adaptive mutex is a normal one that spins for a while.
            let is_adaptive = binary(BinaryOp::Lt, Expr::Const(CHECKING), kind.clone());
            Expr::cond(is_adaptive, Expr::Const(0), kind)
        } else if called == "mtx_init" && self.survey.kinds.any() {
            let kind = self.value(kind);
            let kind = self.spill(kind, IntType::I32, span);
            binary(BinaryOp::And, kind, Expr::Const(RECURSIVE))
        } else {
            self.discard(kind);
            Expr::Const(0)
        };
        let Some((lock, _)) = self.lock_of(called, lock) else { return };
        let value = binary(BinaryOp::Shl, kind, Expr::Const(KIND_SHIFT));
        let step = Step::new(Action::Assign, self.text(span), None).calling(called);
        self.advance(span, step.write_object(&lock, &value));
    }

    fn lock_destroy(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some((_, state)) = self.lock_of(called, lock) else { return };
        self.add_check(state.is_free(), Fault::DestroyHeld);
        let step = Step::new(Action::Library, self.text(span), None).calling(called);
        self.advance(span, step);
    }

    fn lock(&mut self, called: &str, lock: &TreeExpr, span: Span) -> Option<Expr> {
        let (lock, state) = self.lock_of(called, lock)?;
        let text = self.text(span);
        let take = Step::new(Action::Lock, text.clone(), None).calling(called);
        let take = take.when(state.is_free()).write_object(&lock, &state.taken());
        if !state.has_kinds() {
            self.advance(span, take);
            return Some(Expr::Const(0));
        }
        let mut ways = vec![(take, 0)];
        ways.extend(again(&lock, &state, &text));
        let refused = Step::new(Action::Library, format!("{text} (would wait for itself)"), None);
        ways.push((refused.when(state.is_mine_and_checked()), EDEADLK));
        Some(self.lock_ways(called, ways, &state, span))
    }

    /// Takes the lock if it is free, and never waits. The result is in a temporary.
    fn try_lock(&mut self, called: &str, otherwise: i64, lock: &TreeExpr, span: Span) -> Option<Expr> {
        let (lock, state) = self.lock_of(called, lock)?;
        let text = self.text(span);
        let taken = Step::new(Action::Lock, format!("{text} (succeeds)"), None);
        let taken = taken.when(state.is_free()).write_object(&lock, &state.taken());
        let mut ways = vec![(taken, 0)];
        ways.extend(again(&lock, &state, &text));
        let mut is_busy = Expr::logical_not(state.is_open());
        if otherwise == ETIMEDOUT && state.kinds.checking {
            let refused = Step::new(Action::Library, format!("{text} (would wait for itself)"), None);
            ways.push((refused.when(state.is_mine_and_checked()), EDEADLK));
            is_busy = Expr::both(Expr::logical_not(state.is_mine_and_checked()), is_busy);
        }
        let busy = Step::new(Action::Library, format!("{text} (gives up)"), None).when(is_busy);
        ways.push((busy, otherwise));
        Some(self.lock_ways(called, ways, &state, span))
    }

    /// The ways that locking can go; more locks of a recursive mutex than can be counted are a bound.
    fn lock_ways(&mut self, called: &str, ways: Vec<(Step, i64)>, state: &State, span: Span) -> Expr {
        let is_full = Expr::both(state.is_mine_again(), Expr::equal(state.part(COUNT), Expr::Const(COUNT)));
        let too_often = Step::new(Action::Bound(Bound::Library), self.text(span), None).when(is_full);
        self.ways(called, ways, vec![too_often], span)
    }

    fn unlock(&mut self, called: &str, lock: &TreeExpr, span: Span) -> Option<Expr> {
        let (lock, state) = self.lock_of(called, lock)?;
        self.add_check(Expr::either(state.is_mine(), state.tells_strangers()), Fault::NotOwner);
        let text = self.text(span);
        let release = Step::new(Action::Unlock, text.clone(), None).calling(called);
        let release = release.write_object(&lock, &state.released());
        if !state.has_kinds() {
            self.advance(span, release);
            return Some(Expr::Const(0));
        }
        let held_once = Expr::both(Expr::logical_not(state.is_counted()), state.is_mine());
        let release = release.when(held_once);
        let fewer = Step::new(Action::Library, format!("{text} (still held)"), None);
        let fewer = fewer.when(Expr::both(state.is_counted(), state.is_mine()));
        let fewer = fewer.write_object(&lock, &state.given_up());
        let refused = Step::new(Action::Library, format!("{text} (is not held)"), None);
        let refused = refused.when(Expr::logical_not(state.is_mine()));
        Some(self.either_way(called, vec![(release, 0), (fewer, 0), (refused, EPERM)], span))
    }

    /// The values of these cells are the net's own: nobody wants to see them.
    pub(crate) fn hide(&mut self, object: &Object) {
        for target in &object.targets {
            self.net.places[target.place].internal = true;
        }
    }

    /// Ways that a call can go, in one step: each with the result that it gives, in the numbers of POSIX. The
    /// result is in a temporary. The other steps lead nowhere.
    pub(crate) fn ways(
        &mut self,
        called: &str,
        ways: Vec<(Step, i64)>,
        others: Vec<Step>,
        span: Span,
    ) -> Expr {
        let result = self.fresh_temporary(IntType::I32);
        let value = Expr::Cell(result, super::flow::frame_key());
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return value;
        }
        let to = self.fresh_place(span);
        let finish = |(mut step, code): (Step, i64)| {
            step.to = Some(to);
            let code = Expr::Const(result_code(called, code));
            step.calling(called).write(result, super::flow::frame_key(), code)
        };
        let steps = ways.into_iter().map(finish).chain(others);
        let is_possible = |step: &Step| !matches!(step.guard, Some(Expr::Const(0)));
        let steps = steps.filter(is_possible).collect();
        self.emit(span, steps);
        self.frame.current = Some(to);
        value
    }

    /// [`Self::ways`] without others.
    pub(crate) fn either_way(&mut self, called: &str, ways: Vec<(Step, i64)>, span: Span) -> Expr {
        self.ways(called, ways, Vec::new(), span)
    }
}

/// One more lock of a recursive mutex, unless there are too many.
fn again(lock: &Object, state: &State, text: &str) -> Option<(Step, i64)> {
    if !state.kinds.recursive {
        return None;
    }
    let is_full = Expr::equal(state.part(COUNT), Expr::Const(COUNT));
    let step = Step::new(Action::Library, format!("{text} (held already)"), None);
    let step = step.when(Expr::both(state.is_mine_again(), Expr::logical_not(is_full)));
    Some((step.write_object(lock, &state.locked()), 0))
}
