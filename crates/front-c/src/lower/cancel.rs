//! Cancellation of threads, as far as it waits for a cancellation point (deferred, which is the default).
//!
//! Each thread has a cell that says whether it was cancelled, and one for its state: 1 where it does not want to
//! know. A function that is a cancellation point has one step more, which leads to the end of the thread; where
//! POSIX has the thread act at once, its other steps are not possible then.

use pdnet_net::{Action, BinaryOp, Expr, Fault, IntType, Place, Scope, TransitionBuilder};
use pdnet_source::{Diagnostic, Span};

use super::Lowerer;
use super::flow::binary;
use super::step::Step;
use super::survey::is_null;
use crate::tree::Expr as TreeExpr;
use crate::types::Type;

const BIT: IntType = IntType { bits: 1, signed: false };
/// `PTHREAD_CANCELED`.
const CANCELED: i64 = -1;

/// Functions that act on a cancellation.
const POINTS: [&str; 13] = [
    "pthread_testcancel",
    "pthread_join",
    "pthread_timedjoin_np",
    "pthread_clockjoin_np",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "sleep",
    "usleep",
    "nanosleep",
];
/// Output functions that may act on one, or not.
const POSSIBLE_POINTS: [&str; 14] = [
    "printf", "fprintf", "vprintf", "vfprintf", "dprintf", "puts", "fputs", "putchar", "putc", "fputc",
    "perror", "fflush", "syslog", "fsync",
];

/// Whether a thread may end in this function because it was cancelled.
pub(crate) fn is_cancellation_point(name: &str) -> bool {
    POINTS.contains(&name) || POSSIBLE_POINTS.contains(&name)
}

/// Where a thread may find that it was cancelled.
pub(crate) struct CancelPoint {
    /// It was not.
    pub(crate) goes_on: Expr,
    /// It was.
    pub(crate) is_cancelled: Expr,
    /// The step that acts on it.
    pub(crate) step: Step,
    /// Where that leads.
    pub(crate) place: Place,
}

impl Lowerer<'_> {
    /// A call that has to do with cancellation; `None` where the name is none of these.
    pub(crate) fn cancel_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        match (name, arguments) {
            ("pthread_cancel", [thread]) => self.cancel(name, thread, span),
            ("pthread_testcancel", []) => {
                let step = Step::new(Action::Library, self.text(span), None).calling(name);
                self.advance_or_cancel(step, span);
            }
            ("pthread_setcanceltype", [kind, _]) if self.cancels() && !is_null(kind) => {
                let diagnostic =
                    Diagnostic::error("unsupported", "asynchronous cancellation is not modelled");
                let diagnostic = diagnostic.at(span, "asked for here");
                self.error(diagnostic.help("deferred cancellation, which is the default, is supported"));
            }
            ("pthread_setcancelstate" | "pthread_setcanceltype", [new, old]) => {
                self.set_cancel_state(name, new, old, span);
            }
            _ => return None,
        }
        Some(Some(Expr::Const(0)))
    }

    fn cancels(&self) -> bool {
        self.survey.calls_any(&["pthread_cancel"])
    }

    fn cancel_state(&mut self) -> Place {
        self.library_cell("cancelstate", Scope::Thread, None, BIT)
    }

    fn cancel(&mut self, called: &str, thread: &TreeExpr, span: Span) {
        let mut handle = self.value(thread);
        if self.is_shared_expr(&handle) {
            handle = self.spill(handle, IntType::U64, thread.span);
        }
        let (number, is_thread) = self.thread_number_of(&handle);
        self.add_check(is_thread, Fault::NoThread);
        let cancelled = self.library_cell("cancelled", Scope::Thread, None, BIT);
        let step = Step::new(Action::Library, self.text(span), None).calling(called);
        self.advance(span, step.write(cancelled, vec![number], Expr::Const(1)));
    }

    /// Keeps the state, so that the next call can give it back.
    fn set_cancel_state(&mut self, called: &str, new: &TreeExpr, old: &TreeExpr, span: Span) {
        let cell = self.library_cell(called.trim_start_matches("pthread_set"), Scope::Thread, None, BIT);
        let key = vec![TransitionBuilder::thread()];
        let mut state = self.value(new);
        if !is_null(old) {
            if !self.is_stable(&state) {
                state = self.spill(state, IntType::I32, span);
            }
            let Some(object) = self.behind(old, &Type::INT, false) else { return };
            let step = Step::new(Action::Assign, self.text(span), None).calling(called);
            let step = step.write_object(&object, &Expr::Cell(cell, key.clone()));
            self.advance(span, self.with_written(step, &object));
        }
        let step = Step::new(Action::Library, self.text(span), None).calling(called);
        self.advance(span, step.write(cell, key, binary(BinaryOp::And, state, Expr::Const(1))));
    }

    /// A thread on its way to its end is not cancelled any more.
    pub(crate) fn beyond_cancellation(&mut self, step: Step) -> Step {
        if !self.cancels() {
            return step;
        }
        let state = self.cancel_state();
        step.write(state, vec![TransitionBuilder::thread()], Expr::Const(1))
    }

    /// A cancellation point; `None` where nobody cancels.
    pub(crate) fn cancel_point(&mut self, span: Span) -> Option<CancelPoint> {
        if !self.cancels() || self.frame.current.is_none() {
            return None;
        }
        let key = vec![TransitionBuilder::thread()];
        let cancelled = self.library_cell("cancelled", Scope::Thread, None, BIT);
        let state = self.cancel_state();
        let is_open = Expr::logical_not(Expr::Cell(state, key.clone()));
        let is_cancelled = Expr::both(Expr::Cell(cancelled, key.clone()), is_open);
        let place = self.fresh_place(span);
        let label = format!("{} (cancelled)", self.text(span));
        let mut step = Step::new(Action::Jump, label, Some(place)).when(is_cancelled.clone());
        step = self.beyond_cancellation(step);
        if let Some(results) = self.thread_results {
            step = step.write(results, key, Expr::Const(CANCELED));
        }
        let goes_on = Expr::logical_not(is_cancelled.clone());
        Some(CancelPoint { goes_on, is_cancelled, step, place })
    }

    /// What a cancelled thread does from the place where it found out.
    pub(crate) fn end_cancelled(&mut self, place: Place, span: Span) {
        let current = self.frame.current.replace(place);
        self.unwind(span);
        self.frame.current = current;
    }

    /// One step to a new place, unless the thread is cancelled.
    pub(crate) fn advance_or_cancel(&mut self, mut step: Step, span: Span) {
        let Some(CancelPoint { goes_on, step: cancelled, place, .. }) = self.cancel_point(span) else {
            self.advance(span, step);
            return;
        };
        let is_sure = step.calls.as_deref().is_none_or(|called| !POSSIBLE_POINTS.contains(&called));
        let to = self.fresh_place(span);
        step.to = Some(to);
        self.emit(span, vec![if is_sure { step.when(goes_on) } else { step }, cancelled]);
        self.frame.current = Some(to);
        self.end_cancelled(place, span);
    }

    /// A cancellation point before something that need not wait.
    pub(crate) fn test_cancel(&mut self, span: Span) {
        if self.cancels() {
            let step = Step::new(Action::Jump, self.text(span), None);
            self.advance_or_cancel(step, span);
        }
    }
}
