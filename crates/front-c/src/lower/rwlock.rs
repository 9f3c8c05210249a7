//! Read-write locks: a cell with the number of readers, or, negated, the number plus one of the thread that
//! holds it for writing. Which threads are the readers is not kept.

use pdnet_net::{Action, BinaryOp, Expr, Fault, IntType, UnaryOp};
use pdnet_source::Span;

use super::Lowerer;
use super::cells::Object;
use super::flow::binary;
use super::pthread::{EBUSY, ETIMEDOUT, me};
use super::step::Step;
use crate::tree::Expr as TreeExpr;
use crate::types::SyncKind;

/// The value of a lock that the moving thread holds for writing.
fn my_writing() -> Expr {
    Expr::unary(UnaryOp::Neg, IntType::I64, me())
}

/// The condition under which the lock can be taken, and its value then.
fn taking(lock: &Object, writing: bool) -> (Action, Expr, Expr) {
    let value = lock.load();
    if writing {
        return (Action::Lock, Expr::logical_not(value), my_writing());
    }
    let no_writer = binary(BinaryOp::Le, Expr::Const(0), value.clone());
    (Action::ReadLock, no_writer, binary(BinaryOp::Add, value, Expr::Const(1)))
}

impl Lowerer<'_> {
    /// A call of a function for read-write locks; `None` where the name is not one of these.
    pub(crate) fn rwlock_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        match (name, arguments) {
            ("pthread_rwlock_init", [lock, attribute]) => {
                self.discard(attribute);
                self.rwlock_init(lock, span);
            }
            ("pthread_rwlock_rdlock" | "pthread_rwlock_wrlock", [lock]) => {
                self.rwlock_take(name, lock, span);
            }
            ("pthread_rwlock_tryrdlock" | "pthread_rwlock_trywrlock", [lock]) => {
                return Some(self.rwlock_try(name, EBUSY, lock, span));
            }
            // They give up at some time while they wait: the same as not waiting at some time.
            ("pthread_rwlock_timedrdlock" | "pthread_rwlock_timedwrlock", [lock, time])
            | ("pthread_rwlock_clockrdlock" | "pthread_rwlock_clockwrlock", [lock, _, time]) => {
                self.discard(time);
                return Some(self.rwlock_try(name, ETIMEDOUT, lock, span));
            }
            ("pthread_rwlock_unlock", [lock]) => self.rwlock_unlock(lock, span),
            ("pthread_rwlock_destroy", [lock]) => self.rwlock_destroy(lock, span),
            ("pthread_rwlockattr_init" | "pthread_rwlockattr_destroy", [_])
            | ("pthread_rwlockattr_setpshared" | "pthread_rwlockattr_setkind_np", [_, _]) => {
                let step = Step::new(Action::Library, self.text(span), None).calling(name);
                self.advance(span, step);
            }
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    fn rwlock(&mut self, argument: &TreeExpr) -> Option<Object> {
        let lock = self.library_object(argument, SyncKind::RwLock)?;
        self.hide(&lock);
        Some(lock)
    }

    fn rwlock_init(&mut self, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.rwlock(lock) else { return };
        let step = Step::new(Action::Assign, self.text(span), None).calling("pthread_rwlock_init");
        self.advance(span, step.write_object(&lock, &Expr::Const(0)));
    }

    fn rwlock_take(&mut self, called: &str, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.rwlock(lock) else { return };
        let (action, possible, value) = taking(&lock, called.ends_with("wrlock"));
        let step = Step::new(action, self.text(span), None).calling(called);
        self.advance(span, step.when(possible).write_object(&lock, &value));
    }

    fn rwlock_try(&mut self, called: &str, otherwise: i64, lock: &TreeExpr, span: Span) -> Option<Expr> {
        let lock = self.rwlock(lock)?;
        let (action, possible, value) = taking(&lock, called.ends_with("wrlock"));
        let text = self.text(span);
        let taken = Step::new(action, format!("{text} (succeeds)"), None);
        let taken = taken.when(possible.clone()).write_object(&lock, &value);
        let busy = Step::new(Action::Library, format!("{text} (gives up)"), None);
        let busy = busy.when(Expr::logical_not(possible));
        Some(self.either_way(called, vec![(taken, 0), (busy, otherwise)], span))
    }

    /// The writer gives the lock back; any other thread is taken for one of the readers.
    fn rwlock_unlock(&mut self, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.rwlock(lock) else { return };
        if self.frame.current.is_none() {
            return self.frame.checks.clear();
        }
        let value = lock.load();
        let is_read = binary(BinaryOp::Lt, Expr::Const(0), value.clone());
        let is_mine = Expr::equal(value.clone(), my_writing());
        self.add_check(Expr::either(is_read.clone(), is_mine.clone()), Fault::NotOwner);
        let text = self.text(span);
        let to = self.fresh_place(span);
        let step = |action| Step::new(action, text.clone(), Some(to)).calling("pthread_rwlock_unlock");
        let less = binary(BinaryOp::Sub, value, Expr::Const(1));
        let reader = step(Action::ReadUnlock).when(is_read).write_object(&lock, &less);
        let writer = step(Action::Unlock).when(is_mine).write_object(&lock, &Expr::Const(0));
        self.emit(span, vec![reader, writer]);
        self.frame.current = Some(to);
    }

    fn rwlock_destroy(&mut self, lock: &TreeExpr, span: Span) {
        let Some(lock) = self.rwlock(lock) else { return };
        self.add_check(Expr::logical_not(lock.load()), Fault::DestroyHeld);
        let step = Step::new(Action::Library, self.text(span), None).calling("pthread_rwlock_destroy");
        self.advance(span, step);
    }
}
