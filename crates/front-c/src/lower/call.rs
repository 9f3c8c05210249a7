//! Calls of functions with a body, and their return.

use pdnet_net::{Action, ArcData, BinaryOp, Bound, Expr, Fault, IntType, Pattern, Place, TransitionBuilder};
use pdnet_source::{Diagnostic, Span};

use super::Lowerer;
use super::flow::{self, callee_depth, frame_key};
use super::library::ends_process;
use super::pointer::is_in;
use super::points_to::Home;
use super::step::Step;
use super::survey::strip_casts;
use crate::library::shown_name;
use crate::tree::{Callee, Expr as TreeExpr, ExprKind, Function, Variable};
use crate::types::Type;

/// Arguments that are kept until a call.
struct KeptArguments {
    /// The temporaries, with what goes into each.
    kept: Vec<(Place, Expr)>,
    /// The arguments as they are afterwards.
    after: Vec<Vec<Expr>>,
}

impl Lowerer<'_> {
    /// A call. `wanted` is the type of the result where it is used.
    pub(crate) fn call(
        &mut self,
        callee: &Callee,
        arguments: &[TreeExpr],
        wanted: Option<&Type>,
        span: Span,
    ) -> Option<Expr> {
        match self.call_any(callee, arguments, wanted, span)? {
            Called::Library(result) => result,
            Called::Body(results) => results.first().map(|&place| Expr::Cell(place, frame_key())),
        }
    }

    /// A call whose result is a struct: the values of its parts.
    pub(crate) fn call_for_record(
        &mut self,
        callee: &Callee,
        arguments: &[TreeExpr],
        ty: &Type,
        span: Span,
    ) -> Option<Vec<Expr>> {
        match self.call_any(callee, arguments, Some(ty), span)? {
            Called::Library(_) => {
                let what = format!("results of type `{}` of library functions are", ty.display(self.program));
                self.unsupported(span, &what);
                None
            }
            Called::Body(results) => {
                Some(results.into_iter().map(|place| Expr::Cell(place, frame_key())).collect())
            }
        }
    }

    fn call_any(
        &mut self,
        callee: &Callee,
        arguments: &[TreeExpr],
        wanted: Option<&Type>,
        span: Span,
    ) -> Option<Called> {
        let (functions, pointer) = match callee {
            Callee::Direct(function) => {
                let data = &self.program.functions[*function];
                let resolved = crate::library::resolve(self.program, *function);
                let is_copy =
                    matches!(data.name.trim_start_matches("__builtin_"), "memset" | "memcpy" | "memmove");
                if is_copy
                    && resolved != *function
                    && let Some(address) = self.copy_call(&data.name, arguments, span)
                {
                    return Some(Called::Library(Some(address)));
                }
                if self.program.functions[resolved].body.is_none() {
                    let result = self.library_call(*function, arguments, wanted, span);
                    return Some(Called::Library(result));
                }
                (vec![resolved], None)
            }
            Callee::Indirect(pointer) => {
                let mut address = self.value(pointer);
                let later = arguments.iter().any(|argument| self.class(argument).steps);
                if self.is_shared_expr(&address) || (later && !self.is_stable(&address)) {
                    address = self.spill(address, IntType::U64, pointer.span);
                }
                let found = self.survey.points_to.callees(self.program, callee).into_iter();
                let found: Vec<Function> =
                    found.filter(|function| self.can_be_called(*function, &pointer.ty, arguments)).collect();
                let is_callable = |function: &Function| {
                    self.has_body(*function) || ends_process(&self.program.functions[*function].name)
                };
                if !found.iter().all(is_callable) {
                    self.unsupported(span, "calls of library functions through pointers are");
                    return None;
                }
                (found, Some(address))
            }
        };
        self.call_bodies(&functions, pointer, arguments, wanted.is_some(), span).map(Called::Body)
    }

    /// Whether a function can be called through a pointer of this type: any other call of it is undefined.
    fn can_be_called(&self, function: Function, pointer: &Type, arguments: &[TreeExpr]) -> bool {
        let data = &self.program.functions[function];
        let is_same = |one: &Type, other: &Type| match (one, other) {
            (Type::Record(one), Type::Record(other)) => one == other,
            (Type::Record(_), _) | (_, Type::Record(_)) => false,
            (Type::Float(one), Type::Float(other)) => one == other,
            (Type::Float(_), _) | (_, Type::Float(_)) => false,
            _ => {
                let bits = |ty: &Type| self.int_type_of(ty).map(|int| int.bits);
                bits(one) == bits(other)
            }
        };
        let result = match pointer {
            Type::Pointer(to) => match &to.ty {
                Type::Function(ty) => Some(&ty.result.ty),
                _ => None,
            },
            Type::Function(ty) => Some(&ty.result.ty),
            _ => None,
        };
        let n_params = data.param_types.len();
        let has_number = n_params == arguments.len() || (data.variadic && n_params < arguments.len());
        let mut pairs = data.param_types.iter().zip(arguments);
        has_number
            && pairs.all(|(param, argument)| is_same(&param.ty, &argument.ty))
            && result.is_none_or(|result| *result == Type::Void || is_same(result, &data.result.ty))
    }

    /// The values of arguments, such that all of them can be used in one step.
    pub(crate) fn arguments(&mut self, arguments: &[TreeExpr]) -> Vec<Expr> {
        self.argument_parts(arguments)
            .into_iter()
            .map(|mut parts| parts.pop().unwrap_or(Expr::Const(0)))
            .collect()
    }

    /// The values of arguments, those of structs in parts.
    fn argument_parts(&mut self, arguments: &[TreeExpr]) -> Vec<Vec<Expr>> {
        let mut values: Vec<Vec<Expr>> = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            if matches!(argument.ty, Type::Record(_)) {
                values.push(self.record_value(argument).unwrap_or_default());
                continue;
            }
            let mut value = self.value(argument);
            let rest = &arguments[position + 1..];
            let has_steps = |later: &TreeExpr| matches!(later.ty, Type::Record(_)) || self.class(later).steps;
            let later_steps = rest.iter().any(has_steps);
            let later_shared = rest.iter().any(|later| self.class(later).shared);
            let unstable = later_steps && !self.is_stable(&value);
            if unstable || (later_shared && self.is_shared_expr(&value)) {
                let ty = self.int_type_at(&argument.ty, argument.span);
                value = self.spill(value, ty, argument.span);
            }
            values.push(vec![value]);
        }
        values
    }

    /// The functions that an argument can point to, and its value where it does not name one.
    pub(crate) fn routine(&mut self, argument: &TreeExpr) -> Option<(Vec<Function>, Option<Expr>)> {
        let homes = self.survey.points_to.value(self.program, argument);
        let functions: Vec<Function> = homes
            .iter()
            .filter_map(|home| match home {
                Home::Function(function) => Some(*function),
                Home::Variable(_) | Home::Heap(_) | Home::Text(_) | Home::Outside => None,
            })
            .collect();
        for &function in &functions {
            if !self.functions.contains_key(&function) {
                let message = format!("`{}` has no body to be called", self.program.functions[function].name);
                self.error(Diagnostic::error("unknown-function", message).at(argument.span, ""));
                return None;
            }
        }
        if matches!(strip_casts(argument).kind, ExprKind::FunctionRef(_)) {
            return Some((functions, None));
        }
        let pointer = self.value(argument);
        let stable = self.is_stable(&pointer);
        let pointer = if stable { pointer } else { self.spill(pointer, IntType::U64, argument.span) };
        Some((functions, Some(pointer)))
    }

    /// A call of one of several functions, as the pointer says. The result is in temporaries.
    fn call_bodies(
        &mut self,
        functions: &[Function],
        pointer: Option<Expr>,
        arguments: &[TreeExpr],
        wanted: bool,
        span: Span,
    ) -> Option<Vec<Place>> {
        let values = self.argument_parts(arguments);
        self.call_values(functions, pointer, &values, wanted, span)
    }

    /// As [`Self::call_bodies`], with the values of the arguments.
    pub(crate) fn call_values(
        &mut self,
        functions: &[Function],
        pointer: Option<Expr>,
        values: &[Vec<Expr>],
        wanted: bool,
        span: Span,
    ) -> Option<Vec<Place>> {
        if self.frame.current.is_none() {
            self.frame.checks.clear();
            return None;
        }
        if let Some(pointer) = &pointer {
            self.add_check(Expr::truth(pointer.clone()), Fault::NullPointer);
            let is_one = |function: &Function| self.is_function(pointer, *function);
            let valid = functions.iter().map(is_one).fold(Expr::Const(0), Expr::either);
            self.add_check(valid, Fault::InvalidPointer);
        }
        let mut results = Vec::new();
        match (pointer, functions) {
            (None, &[function]) => {
                let step = self.call_step(function, values, span)?;
                self.call_and_return(step, function, wanted.then_some(&mut results), span)?;
            }
            (Some(pointer), &[function]) if self.has_body(function) => {
                let step = self.call_step(function, values, span)?;
                let step = step.when(self.is_function(&pointer, function));
                self.call_and_return(step, function, wanted.then_some(&mut results), span)?;
            }
            (pointer, _) => {
                let pointer = pointer.unwrap_or(Expr::Const(0));
                self.call_chosen(functions, &pointer, values, wanted.then_some(&mut results), span)?;
            }
        }
        Some(results)
    }

    fn has_body(&self, function: Function) -> bool {
        self.program.functions[function].body.is_some()
    }

    /// A call and the return from it. The result, if it is wanted, is in temporaries; those that are not there yet
    /// are made.
    pub(crate) fn call_and_return(
        &mut self,
        call: Step,
        function: Function,
        results: Option<&mut Vec<Place>>,
        span: Span,
    ) -> Option<()> {
        let site = self.fresh_place(span);
        self.return_sites.insert(site);
        let call = Step { to: Some(site), ..call };
        let steps = std::iter::once(call).chain(self.too_deep(span)).collect();
        self.emit(span, steps);
        self.frame.current = Some(site);
        self.return_from(function, results, span)
    }

    /// A call of one of several functions: first a step that finds out which one and evaluates the arguments,
    /// then the call, from a place that nothing else goes out of. A thread that stands there is about to call
    /// that function, which is what the atom `call(f)` asks; where all calls went out of one place, it would be
    /// true for each function that the pointer might have pointed to.
    fn call_chosen(
        &mut self,
        functions: &[Function],
        pointer: &Expr,
        values: &[Vec<Expr>],
        mut results: Option<&mut Vec<Place>>,
        span: Span,
    ) -> Option<()> {
        let KeptArguments { kept, after: values } = self.keep_arguments(functions, values, span)?;
        let text = self.text(span);
        let mut chosen = Vec::new();
        let mut steps = Vec::new();
        for &function in functions {
            let place = self.fresh_place(span);
            let name = shown_name(&self.program.functions[function].name);
            let step = Step::new(Action::Jump, format!("{text} (is {name})"), Some(place));
            let step = step.when(self.is_function(pointer, function));
            let keep =
                |step: Step, (place, value): &(Place, Expr)| step.write(*place, frame_key(), value.clone());
            steps.push(kept.iter().fold(step, keep));
            chosen.push((function, place));
        }
        self.emit(span, steps);
        let end = self.fresh_place(span);
        let mut returns = false;
        for (function, place) in chosen {
            self.frame.current = Some(place);
            if !self.has_body(function) {
                let name = self.program.functions[function].name.clone();
                self.end_by(&name, span);
                continue;
            }
            let step = self.call_step(function, &values, span)?;
            self.call_and_return(step, function, results.as_deref_mut(), span)?;
            self.go_on_at(end);
            returns = true;
        }
        self.frame.current = returns.then_some(end);
        Some(())
    }

    /// Keeps the arguments until the call, in temporaries. They have the types of the parameters: all functions that a pointer can be used
    /// for have as many bits there.
    fn keep_arguments(
        &mut self,
        functions: &[Function],
        values: &[Vec<Expr>],
        span: Span,
    ) -> Option<KeptArguments> {
        let with_body = functions.iter().copied().find(|function| self.has_body(*function));
        let params = with_body.map(|function| self.program.functions[function].params.clone());
        let mut kept = Vec::new();
        let mut after = Vec::new();
        for (&parameter, parts) in params.iter().flatten().zip(values) {
            let types = self.part_types(parameter, span)?;
            let mut parts_after = Vec::new();
            for (part, ty) in parts.iter().zip(types) {
                if self.is_stable(part) {
                    parts_after.push(part.clone());
                    continue;
                }
                let temporary = self.fresh_temporary(ty);
                kept.push((temporary, part.clone()));
                parts_after.push(Expr::Cell(temporary, frame_key()));
            }
            after.push(parts_after);
        }
        Some(KeptArguments { kept, after })
    }

    /// The step that calls a function, without the place where the caller waits.
    pub(crate) fn call_step(&mut self, function: Function, values: &[Vec<Expr>], span: Span) -> Option<Step> {
        let data = &self.program.functions[function];
        if values.len() < data.params.len() {
            let message = format!("too few arguments in the call of `{}`", data.name);
            self.error(Diagnostic::error("too-few-arguments", message).at(span, ""));
            return None;
        }
        let below = vec![TransitionBuilder::thread(), callee_depth()];
        let entry = self.net.functions[*self.functions.get(&function)?].entry;
        let mut step = Step::new(Action::Call, self.text(span), None).calling(shown_name(&data.name));
        step = step.arc(ArcData::Put { place: entry, token: below.clone() });
        for (&parameter, value) in data.params.iter().zip(values) {
            step = self.pass(step, parameter, value, &below, span)?;
        }
        Some(match self.is_shallow() {
            Some(fits) => step.when(fits),
            None => step,
        })
    }

    /// With recursion the depth has a bound: whether there is room for a call.
    fn is_shallow(&self) -> Option<Expr> {
        let limit = Expr::Const(i64::from(self.net.max_depth));
        self.survey.max_chain.is_none().then(|| flow::binary(BinaryOp::Lt, callee_depth(), limit))
    }

    /// A run that calls too deeply is not followed.
    pub(crate) fn too_deep(&self, span: Span) -> Option<Step> {
        let fits = self.is_shallow()?;
        let step = Step::new(Action::Bound(Bound::Depth), self.text(span), None);
        Some(step.when(Expr::logical_not(fits)))
    }

    /// Writes an argument into the parameter of a new frame.
    pub(crate) fn pass(
        &mut self,
        mut step: Step,
        parameter: Variable,
        values: &[Expr],
        frame: &[Expr],
        span: Span,
    ) -> Option<Step> {
        let mut values = values.iter();
        for (place, index) in self.parts(parameter, span)? {
            let key = frame.iter().cloned().chain(index).collect();
            step = step.write(place, key, values.next()?.clone());
        }
        Some(step)
    }

    /// The types of the scalar parts of a variable.
    fn part_types(&mut self, variable: Variable, span: Span) -> Option<Vec<IntType>> {
        let parts = self.parts(variable, span)?;
        parts.iter().map(|(place, _)| self.net.places[*place].cells().map(|cells| cells.value)).collect()
    }

    /// The scalar parts of a variable that values are kept in: their cells, and the index inside of an array.
    fn parts(&mut self, variable: Variable, span: Span) -> Option<Vec<(Place, Option<Expr>)>> {
        let home = Home::Variable(variable);
        let shape = self.shape(home, span)?;
        let mut parts = Vec::new();
        for (position, leaf) in shape.leaves.iter().enumerate() {
            if matches!(leaf.ty, Type::Sync(_)) {
                continue;
            }
            let place = self.leaf_place(home, position, span)?;
            for index in 0..leaf.count() {
                let index = Expr::Const(i64::try_from(index).ok()?);
                parts.push((place, (!leaf.dimensions.is_empty()).then_some(index)));
            }
        }
        Some(parts)
    }

    /// Whether a pointer is the address of a function.
    pub(crate) fn is_function(&self, pointer: &Expr, function: Function) -> Expr {
        let number = self.survey.points_to.number(Home::Function(function)).unwrap_or(0);
        is_in(pointer, number)
    }

    /// The steps back from a called function, with the result in temporaries.
    fn return_from(
        &mut self,
        function: Function,
        results: Option<&mut Vec<Place>>,
        span: Span,
    ) -> Option<()> {
        let next = self.fresh_place(span);
        let mut steps = Vec::new();
        let mut unwinding = None;
        let exit = self.net.functions[*self.functions.get(&function)?].exit;
        let token = vec![Pattern::Is(TransitionBuilder::thread()), Pattern::Is(callee_depth())];
        let name = shown_name(&self.program.functions[function].name);
        let mut step = Step::new(Action::Return, format!("return from {name}"), Some(next));
        step = step.arc(ArcData::Take { place: exit, token });
        if let Some((normal, ending)) = self.may_unwind(function, &step, &mut unwinding, span) {
            steps.push(ending);
            step = normal;
        }
        if let (Some(temporaries), Some(cells)) = (results, self.results.get(&function).cloned()) {
            for (position, cell) in cells.into_iter().enumerate() {
                let ty = self.net.places[cell].cells()?.value;
                if temporaries.len() == position {
                    temporaries.push(self.fresh_temporary(ty));
                }
                let value = Expr::Cell(cell, vec![TransitionBuilder::thread(), callee_depth()]);
                step = step.write(*temporaries.get(position)?, frame_key(), value);
            }
        }
        steps.push(step);
        self.emit(span, steps);
        if let Some(unwinding) = unwinding {
            self.frame.current = Some(unwinding);
            self.unwind(span);
        }
        self.frame.current = Some(next);
        Some(())
    }
}

/// What a call was.
enum Called {
    Library(Option<Expr>),
    /// The cells with its result.
    Body(Vec<Place>),
}
