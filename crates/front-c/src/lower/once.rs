//! What is done once: `pthread_once` and `call_once`.
//!
//! The cell is 0 at first, 1 while a thread is doing it, and 2 from then on.

use pdnet_net::{Action, Expr};
use pdnet_source::Span;

use super::Lowerer;
use super::step::Step;
use crate::tree::Expr as TreeExpr;
use crate::types::SyncKind;

const RUNNING: i64 = 1;
const DONE: i64 = 2;

impl Lowerer<'_> {
    /// A call of `pthread_once` or its like; `None` where the name is none of these.
    pub(crate) fn once_call(
        &mut self,
        name: &str,
        arguments: &[TreeExpr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let ("pthread_once" | "call_once", [control, routine]) = (name, arguments) else { return None };
        Some(self.once(name, control, routine, span))
    }

    fn once(&mut self, called: &str, control: &TreeExpr, routine: &TreeExpr, span: Span) -> Option<Expr> {
        let (functions, pointer) = self.routine(routine)?;
        let control = self.library_object(control, SyncKind::Once)?;
        self.hide(&control);
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return Some(Expr::Const(0));
        }
        let text = self.text(span);
        let (first, next) = (self.fresh_place(span), self.fresh_place(span));
        let is = |value| Expr::equal(control.load(), Expr::Const(value));
        let begin = Step::new(Action::OnceBegin, text.clone(), Some(first)).calling(called);
        let begin = begin.when(is(0)).write_object(&control, &Expr::Const(RUNNING));
        let pass = Step::new(Action::OncePass, text.clone(), Some(next)).calling(called).when(is(DONE));
        self.emit(span, vec![begin, pass]);
        self.frame.current = Some(first);
        self.call_values(&functions, pointer, &[], false, span);
        if self.frame.current.is_some() {
            let end = Step::new(Action::OnceEnd, format!("{text} (done)"), Some(next));
            self.emit(span, vec![end.write_object(&control, &Expr::Const(DONE))]);
        }
        self.frame.current = Some(next);
        Some(Expr::Const(0))
    }
}
