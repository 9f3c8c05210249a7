//! Calls of functions with a body, and their return.

use pdnet_net::{Action, ArcData, BinaryOp, Bound, Expr, Pattern, TransitionBuilder};
use pdnet_source::{Diagnostic, Span};

use super::Lowerer;
use super::flow::{self, callee_depth, frame_key};
use super::step::Step;
use crate::tree::{Callee, Expr as TreeExpr, Function};
use crate::types::Type;

impl Lowerer<'_> {
    /// A call. `wanted` is the type of the result where it is used.
    pub(crate) fn call(
        &mut self,
        callee: &Callee,
        arguments: &[TreeExpr],
        wanted: Option<&Type>,
        span: Span,
    ) -> Option<Expr> {
        let function = match callee {
            Callee::Direct(function) => *function,
            Callee::Indirect(pointer) => {
                self.unsupported(pointer.span, "calls through a function pointer are");
                return None;
            }
        };
        if self.program.functions[function].body.is_none() {
            return self.library_call(function, arguments, wanted, span);
        }
        self.call_with_body(function, arguments, wanted, span)
    }

    /// The values of arguments, such that all of them can be used in one step.
    pub(crate) fn arguments(&mut self, arguments: &[TreeExpr]) -> Vec<Expr> {
        let mut values: Vec<Expr> = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let mut value = self.value(argument);
            let rest = &arguments[position + 1..];
            let later_steps = rest.iter().any(|later| self.class(later).steps);
            let later_shared = rest.iter().any(|later| self.class(later).shared);
            let unstable = later_steps && !self.is_stable(&value);
            if unstable || (later_shared && self.is_shared_expr(&value)) {
                let ty = self.int_type_at(&argument.ty, argument.span);
                value = self.spill(value, ty, argument.span);
            }
            values.push(value);
        }
        values
    }

    fn call_with_body(
        &mut self,
        function: Function,
        arguments: &[TreeExpr],
        wanted: Option<&Type>,
        span: Span,
    ) -> Option<Expr> {
        let data = &self.program.functions[function];
        let name = data.name.clone();
        let callee = *self.functions.get(&function)?;
        let values = self.arguments(arguments);
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return None;
        }
        if values.len() < data.params.len() {
            let message = format!("too few arguments in the call of `{name}`");
            self.error(Diagnostic::error("too-few-arguments", message).at(span, ""));
            return None;
        }
        let (entry, exit) = (self.net.functions[callee].entry, self.net.functions[callee].exit);
        let site = self.fresh_place(span);
        self.return_sites.insert(site);
        let text = self.text(span);
        let below = vec![TransitionBuilder::thread(), callee_depth()];
        let mut step = Step::new(Action::Call, text.clone(), Some(site)).calling(&name);
        step = step.arc(ArcData::Put { place: entry, token: below.clone() });
        for (&parameter, value) in data.params.clone().iter().zip(values) {
            if let Some(place) = self.cells_of(parameter, span) {
                step = step.write(place, below.clone(), value);
            }
        }
        let mut steps = vec![step];
        if self.survey.max_chain.is_none() {
            // With recursion the depth has a bound; a run that meets it is not followed.
            let limit = Expr::Const(i64::from(self.net.max_depth));
            let fits = flow::binary(BinaryOp::Lt, callee_depth(), limit);
            let too_deep =
                Step::new(Action::Bound(Bound::Depth), text, None).when(Expr::logical_not(fits.clone()));
            steps[0] = steps[0].clone().when(fits);
            steps.push(too_deep);
        }
        self.emit(span, steps);
        self.frame.current = Some(site);
        self.return_from(function, exit, wanted, &name, span)
    }

    /// The step back from a called function, with its result in a temporary.
    fn return_from(
        &mut self,
        function: Function,
        exit: pdnet_net::Place,
        wanted: Option<&Type>,
        name: &str,
        span: Span,
    ) -> Option<Expr> {
        let token = vec![Pattern::Is(TransitionBuilder::thread()), Pattern::Is(callee_depth())];
        let mut step = Step::new(Action::Return, format!("return from {name}"), None);
        step = step.arc(ArcData::Take { place: exit, token });
        let mut result = None;
        if let (Some(_), Some(&cell)) = (wanted, self.results.get(&function)) {
            let ty = self.net.places[cell].cells()?.value;
            let temporary = self.fresh_temporary(ty);
            let value = Expr::Cell(cell, vec![TransitionBuilder::thread(), callee_depth()]);
            step = step.write(temporary, frame_key(), value);
            result = Some(Expr::Cell(temporary, frame_key()));
        }
        self.advance(span, step);
        result
    }
}
