//! The end of a thread: `pthread_exit`, and the handlers that run before.
//!
//! `pthread_cleanup_push` and `pthread_cleanup_pop` stand in one block, so that which handlers a frame has is
//! known at each place of it; where a handler is and what it gets is in temporaries. A thread that exits in a
//! program with handlers goes back through its frames: it sets a cell and leaves the function, and whoever has
//! called it finds the cell set, runs the handlers of its own frame, and does the same.

use pdnet_net::{Action, Expr, IntType, Place, Scope, TransitionBuilder};
use pdnet_source::{Diagnostic, Span};

use super::Lowerer;
use super::step::Step;
use super::survey::is_null;
use crate::tree::{Expr as TreeExpr, Function};

/// A handler that was pushed and not yet popped.
#[derive(Clone, Debug)]
pub(crate) struct Cleanup {
    functions: Vec<Function>,
    pointer: Option<Expr>,
    argument: Expr,
}

impl Lowerer<'_> {
    /// A call that has to do with handlers; `None` where the name is none of these.
    pub(crate) fn exit_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        match (name, arguments) {
            ("__pdnet_cleanup_push", [routine, argument]) => self.cleanup_push(routine, argument),
            ("__pdnet_cleanup_pop", [execute]) => self.cleanup_pop(execute, span),
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    fn cleanup_push(&mut self, routine: &TreeExpr, argument: &TreeExpr) {
        let Some((functions, pointer)) = self.routine(routine) else { return };
        let mut value = self.value(argument);
        if !self.is_stable(&value) {
            value = self.spill(value, IntType::U64, argument.span);
        }
        self.frame.cleanups.push(Cleanup { functions, pointer, argument: value });
    }

    fn cleanup_pop(&mut self, execute: &TreeExpr, span: Span) {
        let Some(cleanup) = self.frame.cleanups.pop() else {
            let message = "`pthread_cleanup_pop` without a `pthread_cleanup_push` before it";
            return self.error(Diagnostic::error("unbalanced-cleanup", message).at(span, ""));
        };
        if is_null(execute) {
            return;
        }
        let (run, next) = (self.fresh_place(span), self.fresh_place(span));
        self.condition(execute, run, next);
        self.frame.current = Some(run);
        self.run_cleanup(cleanup, span);
        self.go_on_at(next);
        self.frame.current = Some(next);
    }

    fn run_cleanup(&mut self, cleanup: Cleanup, span: Span) {
        self.call_values(&cleanup.functions, cleanup.pointer, &[vec![cleanup.argument]], false, span);
    }

    /// Whether threads that exit go back through their frames.
    fn unwinds(&self) -> bool {
        self.survey.calls_any(&["__pdnet_cleanup_push"])
    }

    /// For each thread, whether it is on its way to its end.
    fn exiting(&mut self) -> (Place, Vec<Expr>) {
        let value = IntType { bits: 1, signed: false };
        let place = self.library_cell("exiting", Scope::Thread, None, value);
        (place, vec![TransitionBuilder::thread()])
    }

    /// The two ways to come back from a function that may have ended the thread: as always, or to the place
    /// where handlers run.
    pub(crate) fn may_unwind(
        &mut self,
        function: Function,
        step: &Step,
        unwinding: &mut Option<Place>,
        span: Span,
    ) -> Option<(Step, Step)> {
        if !self.unwinds() || !self.survey.may_exit.contains(&function) {
            return None;
        }
        let (place, key) = self.exiting();
        let to = *unwinding.get_or_insert_with(|| self.fresh_place(span));
        let is_exiting = Expr::Cell(place, key.clone());
        let ending = Step { to: Some(to), ..step.clone() };
        let ending = ending.when(Expr::truth(is_exiting.clone())).write(place, key, Expr::Const(0));
        Some((step.clone().when(Expr::logical_not(is_exiting)), ending))
    }

    /// The thread is on its way to its end: runs the handlers of this frame, the last one first, and leaves it.
    pub(crate) fn unwind(&mut self, span: Span) {
        let cleanups = std::mem::take(&mut self.frame.cleanups);
        for (position, cleanup) in cleanups.iter().enumerate().rev() {
            // A handler that exits itself is not run again.
            self.frame.cleanups = cleanups[..position].to_vec();
            self.run_cleanup(cleanup.clone(), span);
        }
        self.frame.cleanups = cleanups;
        if self.frame.current.is_none() {
            return;
        }
        let at_bottom = Expr::equal(TransitionBuilder::depth(), Expr::Const(0));
        let end = Step::new(Action::ThreadEnd, self.text(span), None).calling("pthread_exit");
        if !self.unwinds() {
            return self.end_thread(end, None, span);
        }
        let (bottom, above) = (self.fresh_place(span), self.fresh_place(span));
        let (place, key) = self.exiting();
        let exit = self.net.functions[self.frame.function].exit;
        let step = |to| Step::new(Action::Jump, self.text(span), Some(to));
        let steps =
            vec![step(bottom).when(at_bottom.clone()), step(above).when(Expr::logical_not(at_bottom))];
        self.emit(span, steps);
        self.frame.current = Some(bottom);
        self.end_thread(end, None, span);
        let leave = Step::new(Action::Exit, self.text(span), Some(exit));
        self.emit_from(above, span, leave.write(place, key, Expr::Const(1)));
    }

    /// Ends the thread from where it is, wherever that is.
    pub(crate) fn thread_exit(&mut self, called: &str, result: &TreeExpr, span: Span) {
        let value = match self.thread_results {
            Some(results) if !is_null(result) => Some((results, self.value(result))),
            _ => {
                self.discard(result);
                None
            }
        };
        let is_plain = !self.unwinds() && !self.has_destructors();
        let action = if is_plain { Action::ThreadEnd } else { Action::Jump };
        let mut step = Step::new(action, self.text(span), None).calling(called);
        if let Some((results, value)) = value {
            step = step.write(results, vec![TransitionBuilder::thread()], value);
        }
        if is_plain {
            self.emit(span, vec![step]);
            return;
        }
        step = self.beyond_cancellation(step);
        self.advance(span, step);
        self.unwind(span);
    }
}
