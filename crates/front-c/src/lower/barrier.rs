//! Barriers.
//!
//! A cell holds the number of threads that the barrier is for, times 256, plus the number of those that have
//! come. (There are at most 255 threads.) Who waits is a token, as with condition variables: the thread that
//! comes last moves all tokens at once, so that a thread that comes again at once does not mix with those
//! that have not left yet.

use pdnet_net::{Action, ArcData, BinaryOp, Expr, Fault, IntType, Pattern, TransitionBuilder};
use pdnet_source::Span;

use super::Lowerer;
use super::cells::{Condition, Object};
use super::condvar::WaitingPlace;
use super::flow::{binary, frame_key};
use super::pthread::EINVAL;
use super::step::Step;
use crate::tree::Expr as TreeExpr;
use crate::types::SyncKind;

/// What the number of threads is multiplied by.
const UNIT: i64 = 256;
/// What the thread that comes last gets.
const SERIAL_THREAD: i64 = -1;

impl Lowerer<'_> {
    /// A call of a function for barriers; `None` where the name is not one of these.
    pub(crate) fn barrier_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        match (name, arguments) {
            ("pthread_barrier_init", [barrier, attribute, count]) => {
                self.discard(attribute);
                return Some(self.barrier_init(barrier, count, span));
            }
            ("pthread_barrier_wait", [barrier]) => return Some(self.barrier_wait(barrier, span)),
            ("pthread_barrier_destroy", [barrier]) => {
                self.barrier(barrier);
                let step = Step::new(Action::Library, self.text(span), None).calling(name);
                self.advance(span, step);
            }
            ("pthread_barrierattr_init" | "pthread_barrierattr_destroy", [_])
            | ("pthread_barrierattr_setpshared", [_, _]) => {
                let step = Step::new(Action::Library, self.text(span), None).calling(name);
                self.advance(span, step);
            }
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    /// The numbers of the barrier, and where its threads wait.
    fn barrier(&mut self, argument: &TreeExpr) -> Option<(Object, Vec<WaitingPlace>)> {
        let waiting = self.waiting_places(argument, SyncKind::Barrier)?;
        let numbers = self.library_object(argument, SyncKind::Barrier)?;
        for target in &numbers.targets {
            let data = &mut self.net.places[target.place];
            if !data.internal {
                data.name.push_str(" (arrived)");
                data.internal = true;
            }
        }
        Some((numbers, waiting))
    }

    fn barrier_init(&mut self, barrier: &TreeExpr, count: &TreeExpr, span: Span) -> Option<Expr> {
        let (numbers, _) = self.barrier(barrier)?;
        let mut value = self.value(count);
        if self.is_shared_expr(&value) {
            value = self.spill(value, IntType { bits: 32, signed: false }, count.span);
        }
        let text = self.text(span);
        let set = Step::new(Action::Assign, text.clone(), None);
        let start = binary(BinaryOp::Mul, value.clone(), Expr::Const(UNIT));
        let set = set.when(Expr::truth(value.clone())).write_object(&numbers, &start);
        let refused = Step::new(Action::Library, format!("{text} (for no threads)"), None);
        let refused = refused.when(Expr::logical_not(value));
        Some(self.either_way("pthread_barrier_init", vec![(set, 0), (refused, EINVAL)], span))
    }

    /// Coming is one step, and leaving another; the thread that comes last does both in one.
    fn barrier_wait(&mut self, barrier: &TreeExpr, span: Span) -> Option<Expr> {
        let (numbers, places) = self.barrier(barrier)?;
        let result = self.fresh_temporary(IntType::I32);
        let value = Expr::Cell(result, frame_key());
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return Some(value);
        }
        let next = self.fresh_place(span);
        let text = self.text(span);
        let called = "pthread_barrier_wait";
        let state = numbers.load();
        let wanted = binary(BinaryOp::Div, state.clone(), Expr::Const(UNIT));
        let start = binary(BinaryOp::Mul, wanted.clone(), Expr::Const(UNIT));
        let arrived = binary(BinaryOp::Sub, state.clone(), start.clone());
        let is_last = binary(BinaryOp::Le, wanted, binary(BinaryOp::Add, arrived, Expr::Const(1)));
        self.add_check(Expr::truth(state.clone()), Fault::Uninitialised);
        let one_more = binary(BinaryOp::Add, state, Expr::Const(1));
        let mut steps = Vec::new();
        let mut waiting = Vec::new();
        for WaitingPlace { when, condition: Condition { waiters, woken }, row } in places {
            let at = self.fresh_place(span);
            let token: Vec<Expr> = row.iter().cloned().chain([TransitionBuilder::thread()]).collect();
            let pattern: Vec<Pattern> = token.iter().cloned().map(Pattern::Is).collect();
            let arrive = Step::new(Action::Arrive, text.clone(), Some(at)).calling(called);
            let arrive = arrive.when(Expr::logical_not(is_last.clone()));
            let arrive = arrive.arc(ArcData::Put { place: waiters, token }).write_object(&numbers, &one_more);
            let last = Step::new(Action::Arrive, format!("{text} (the last)"), Some(next)).calling(called);
            let last = last.when(is_last.clone());
            let last = last.arc(ArcData::Drain { place: waiters, prefix: row, to: woken });
            let last = last.write_object(&numbers, &start);
            let last = last.write(result, frame_key(), Expr::Const(SERIAL_THREAD));
            let when: Vec<Expr> = when.into_iter().collect();
            steps.extend([arrive, last].map(|step| when.iter().cloned().fold(step, Step::when)));
            waiting.push((at, ArcData::Take { place: woken, token: pattern }));
        }
        self.emit(span, steps);
        for (at, woken) in waiting {
            let leave = Step::new(Action::Leave, text.clone(), Some(next)).calling(called).arc(woken);
            self.emit_from(at, span, leave.write(result, frame_key(), Expr::Const(0)));
        }
        self.frame.current = Some(next);
        Some(value)
    }
}
