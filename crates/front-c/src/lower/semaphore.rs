//! Semaphores: a cell with the count.

use pdnet_net::{Action, BinaryOp, Expr, IntType};
use pdnet_source::Span;

use super::Lowerer;
use super::flow::binary;
use super::points_to::Home;
use super::pthread::{EAGAIN, ETIMEDOUT};
use super::step::Step;
use super::value::convert;
use crate::tree::Expr as TreeExpr;
use crate::types::{SyncKind, Type};

/// The type of the count.
const COUNT: IntType = IntType { bits: 32, signed: false };

impl Lowerer<'_> {
    /// A call of a function for semaphores; `None` where the name is not one of these.
    pub(crate) fn semaphore_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        match (name, arguments) {
            ("sem_init", [semaphore, shared, count]) => self.semaphore_init(semaphore, shared, count, span),
            ("sem_wait", [semaphore]) => self.down(semaphore, span),
            ("sem_trywait", [semaphore]) => return Some(self.try_down(name, EAGAIN, semaphore, span)),
            // It gives up at some time while it waits: the same as not waiting at some time.
            ("sem_timedwait", [semaphore, time]) | ("sem_clockwait", [semaphore, _, time]) => {
                self.discard(time);
                self.test_cancel(span);
                return Some(self.try_down(name, ETIMEDOUT, semaphore, span));
            }
            ("sem_post", [semaphore]) => self.up(semaphore, span),
            ("sem_getvalue", [semaphore, target]) => self.semaphore_value(semaphore, target, span),
            ("sem_destroy", [semaphore]) => {
                self.library_object(semaphore, SyncKind::Semaphore);
                let step = Step::new(Action::Library, self.text(span), None).calling(name);
                self.advance(span, step);
            }
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    fn semaphore_init(&mut self, semaphore: &TreeExpr, shared: &TreeExpr, count: &TreeExpr, span: Span) {
        let Some(semaphore) = self.library_object(semaphore, SyncKind::Semaphore) else { return };
        self.discard(shared);
        let mut value = self.value(count);
        if self.is_shared_expr(&value) {
            value = self.spill(value, COUNT, count.span);
        }
        let step = Step::new(Action::Assign, self.text(span), None).calling("sem_init");
        self.advance(span, step.write_object(&semaphore, &value));
    }

    fn down(&mut self, semaphore: &TreeExpr, span: Span) {
        let Some(semaphore) = self.library_object(semaphore, SyncKind::Semaphore) else { return };
        let count = semaphore.load();
        let less = binary(BinaryOp::Sub, count.clone(), Expr::Const(1));
        let step = Step::new(Action::Down, self.text(span), None).calling("sem_wait");
        self.advance_or_cancel(step.when(Expr::truth(count)).write_object(&semaphore, &less), span);
    }

    /// Never waits; where it would have to, it sets `errno`.
    fn try_down(&mut self, called: &str, errno: i64, semaphore: &TreeExpr, span: Span) -> Option<Expr> {
        let semaphore = self.library_object(semaphore, SyncKind::Semaphore)?;
        let count = semaphore.load();
        let less = binary(BinaryOp::Sub, count.clone(), Expr::Const(1));
        let text = self.text(span);
        let taken = Step::new(Action::Down, format!("{text} (succeeds)"), None);
        let taken = taken.when(Expr::truth(count.clone())).write_object(&semaphore, &less);
        let busy = Step::new(Action::Library, format!("{text} (gives up)"), None);
        let busy = self.failing(busy.when(Expr::logical_not(count)), errno, span);
        Some(self.either_way(called, vec![(taken, 0), (busy, -1)], span))
    }

    /// A step of a function that fails also sets `errno`, where the program looks at it.
    pub(crate) fn failing(&mut self, step: Step, errno: i64, span: Span) -> Step {
        let Some(variable) = self.program.errno else { return step };
        let home = Home::Variable(variable);
        let Some(place) = self.leaf_place(home, 0, span) else { return step };
        let key = self.own_key(home);
        step.write(place, key, Expr::Const(errno))
    }

    fn up(&mut self, semaphore: &TreeExpr, span: Span) {
        let Some(semaphore) = self.library_object(semaphore, SyncKind::Semaphore) else { return };
        let more = Expr::binary(BinaryOp::Add, COUNT, semaphore.load(), Expr::Const(1));
        let step = Step::new(Action::Up, self.text(span), None).calling("sem_post");
        self.advance(span, step.write_object(&semaphore, &more));
    }

    fn semaphore_value(&mut self, semaphore: &TreeExpr, target: &TreeExpr, span: Span) {
        let Some(semaphore) = self.library_object(semaphore, SyncKind::Semaphore) else { return };
        let Some(object) = self.behind(target, &Type::INT, false) else { return };
        let mut value = semaphore.load();
        if self.is_shared_object(&object) && self.is_shared_expr(&value) {
            value = self.spill(value, COUNT, span);
        }
        let value = convert(COUNT, object.ty, value);
        let step = Step::new(Action::Assign, self.text(span), None).calling("sem_getvalue");
        self.advance(span, self.with_written(step.write_object(&object, &value), &object));
    }
}
