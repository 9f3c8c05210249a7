//! Statements.

use pdnet_net::{Action, Base, Expr, IntType, Place};
use pdnet_source::Span;

use super::Lowerer;
use super::cells;
use super::flow::frame_key;
use super::path::{Path, Root, View};
use super::points_to::Home;
use super::shape::{Dimension, Leaf, size_of};
use super::step::Step;
use super::survey;
use crate::tree::{Callee, Expr as TreeExpr, ExprKind, Init, InitStep, Label, Stmt, StmtKind, Variable};
use crate::types::{IntKind, SyncKind, Type};

impl Lowerer<'_> {
    /// Statements in order. Between `__VERIFIER_atomic_begin()` and the matching end no other thread moves,
    /// so that accesses need no steps of their own, unless a label lets control in from elsewhere or
    /// something in between can end the section.
    pub(crate) fn statements(&mut self, stmts: &[Stmt]) {
        let outer = self.frame.coarse;
        for (position, stmt) in stmts.iter().enumerate() {
            self.statement(stmt);
            if self.is_call_of(stmt, "__VERIFIER_atomic_begin") {
                let rest = &stmts[position + 1..];
                let end = rest.iter().position(|later| self.is_call_of(later, "__VERIFIER_atomic_end"));
                let is_closed = |inside: &[Stmt]| {
                    !inside.iter().any(has_label) && !survey::moves_atomic(self.program, &self.survey, inside)
                };
                self.frame.coarse = outer || end.is_some_and(|end| is_closed(&rest[..end]));
            } else if self.is_call_of(stmt, "__VERIFIER_atomic_end") {
                self.frame.coarse = outer;
            }
        }
        self.frame.coarse = outer;
    }

    fn is_call_of(&self, stmt: &Stmt, name: &str) -> bool {
        let StmtKind::Expr(expr) = &stmt.kind else { return false };
        let ExprKind::Call(Callee::Direct(function), _) = &expr.kind else { return false };
        let data = &self.program.functions[*function];
        data.name == name && data.body.is_none()
    }

    pub(crate) fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.effects(expr),
            StmtKind::Declare(variable, init) => {
                self.enter_lifetime(*variable, stmt.span);
                self.initialise(*variable, init.as_ref(), stmt.span);
            }
            StmtKind::Block(stmts) => {
                self.enter_block(stmt);
                self.statements(stmts);
                self.leave_block(stmt.span);
            }
            StmtKind::If(condition, then, otherwise) => {
                let on_true = self.fresh_place(then.span);
                let join = self.fresh_place(stmt.span);
                let on_false = match otherwise {
                    Some(otherwise) => self.fresh_place(otherwise.span),
                    None => join,
                };
                self.condition(condition, on_true, on_false);
                self.frame.current = Some(on_true);
                self.statement(then);
                self.go_on_at(join);
                if let Some(otherwise) = otherwise {
                    self.frame.current = Some(on_false);
                    self.statement(otherwise);
                    self.go_on_at(join);
                }
                self.frame.current = Some(join);
            }
            StmtKind::While(condition, body) => {
                let head = self.fresh_place(condition.span);
                self.go_on_at(head);
                self.loop_from(head, Some(condition), None, body, stmt.span);
            }
            StmtKind::For(init, condition, step, body) => {
                self.enter_block(stmt);
                self.statements(init);
                let head = self.fresh_place(stmt.span);
                self.go_on_at(head);
                self.loop_from(head, condition.as_ref(), step.as_ref(), body, stmt.span);
                self.leave_block(stmt.span);
            }
            StmtKind::DoWhile(body, condition) => self.do_while(body, condition, stmt.span),
            StmtKind::Switch(value, body) => self.switch(value, body, stmt.span),
            StmtKind::Case(_, _, body) | StmtKind::Default(body) => {
                if let Some(cases) = self.frame.cases.last_mut()
                    && !cases.is_empty()
                {
                    let place = cases.remove(0);
                    self.go_on_at(place);
                    self.frame.current = Some(place);
                }
                self.statement(body);
            }
            StmtKind::Label(label, body) => self.label(*label, body),
            StmtKind::Goto(label) => {
                let to = self.frame.labels[*label];
                self.emit(stmt.span, vec![Step::new(Action::Jump, self.text(stmt.span), Some(to))]);
            }
            StmtKind::Break => {
                if let Some(&target) = self.frame.breaks.last() {
                    self.jump_to(target, stmt.span);
                }
            }
            StmtKind::Continue => {
                if let Some(&target) = self.frame.continues.last() {
                    self.jump_to(target, stmt.span);
                }
            }
            StmtKind::Return(value) => self.return_statement(value.as_ref(), stmt.span),
            StmtKind::Asm => self.unsupported(stmt.span, "inline assembly is"),
        }
    }

    fn loop_from(
        &mut self,
        head: Place,
        condition: Option<&TreeExpr>,
        step: Option<&TreeExpr>,
        body: &Stmt,
        span: Span,
    ) {
        let start = self.fresh_place(body.span);
        let end = self.fresh_place(span);
        let next = step.map_or(head, |step| self.fresh_place(step.span));
        self.frame.current = Some(head);
        match condition {
            Some(condition) => self.condition(condition, start, end),
            None => drop(self.emit(span, vec![Step::new(Action::Jump, self.text(span), Some(start))])),
        }
        self.frame.current = Some(start);
        self.body_of_loop(body, end, next);
        self.go_on_at(next);
        if let Some(step) = step {
            self.frame.current = Some(next);
            self.effects(step);
            self.go_on_at(head);
        }
        self.frame.current = Some(end);
    }

    fn body_of_loop(&mut self, body: &Stmt, end: Place, next: Place) {
        self.frame.breaks.push(self.target(end));
        self.frame.continues.push(self.target(next));
        self.statement(body);
        self.frame.breaks.pop();
        self.frame.continues.pop();
    }

    fn do_while(&mut self, body: &Stmt, condition: &TreeExpr, span: Span) {
        let start = self.fresh_place(body.span);
        let test = self.fresh_place(condition.span);
        let end = self.fresh_place(span);
        self.go_on_at(start);
        self.frame.current = Some(start);
        self.body_of_loop(body, end, test);
        self.go_on_at(test);
        self.frame.current = Some(test);
        if matches!(condition.kind, ExprKind::Int(0)) {
            // The idiom `do { … } while (0)` is no loop.
            self.go_on_at(end);
        } else {
            self.condition(condition, start, end);
        }
        self.frame.current = Some(end);
    }

    fn switch(&mut self, value: &TreeExpr, body: &Stmt, span: Span) {
        let ty = self.int_type_at(&value.ty, value.span);
        let value_expr = self.value(value);
        let mut labels = Vec::new();
        collect_cases(body, &mut labels);
        let end = self.fresh_place(span);
        let places: Vec<Place> = labels.iter().map(|(_, span)| self.fresh_place(*span)).collect();
        let text = self.text(value.span);
        let mut steps = Vec::new();
        let mut default = end;
        let mut others = Expr::TRUE;
        for ((range, _), &place) in labels.iter().zip(&places) {
            let Some((low, high)) = range else {
                default = place;
                continue;
            };
            #[expect(clippy::cast_possible_truncation, reason = "case labels have the type of the switch")]
            let (low, high) = (ty.wrap(*low as i64), ty.wrap(*high as i64));
            let at_least = Expr::binary(pdnet_net::BinaryOp::Le, ty, Expr::Const(low), value_expr.clone());
            let at_most = Expr::binary(pdnet_net::BinaryOp::Le, ty, value_expr.clone(), Expr::Const(high));
            let (is_case, label) = if low == high {
                (Expr::equal(value_expr.clone(), Expr::Const(low)), format!("{text} == {low}"))
            } else {
                (Expr::both(at_least, at_most), format!("{text} in {low}..{high}"))
            };
            others = Expr::both(others, Expr::logical_not(is_case.clone()));
            steps.push(Step::new(Action::BranchTrue, label, Some(place)).when(is_case));
        }
        let label = format!("{text}: no case");
        steps.push(Step::new(Action::BranchFalse, label, Some(default)).when(others));
        steps.retain(|step| !matches!(step.guard, Some(Expr::Const(0))));
        self.emit(value.span, steps);
        self.frame.cases.push(places);
        self.frame.breaks.push(self.target(end));
        self.statement(body);
        self.frame.breaks.pop();
        self.frame.cases.pop();
        self.go_on_at(end);
        self.frame.current = Some(end);
    }

    /// A label has a place of its own, so that a thread can be there.
    fn label(&mut self, label: Label, body: &Stmt) {
        let place = self.frame.labels[label];
        self.go_on_at(place);
        self.frame.current = Some(place);
        let first_new = self.net.places.next_index();
        if !starts_with_step(body) {
            self.advance(body.span, Step::new(Action::Jump, self.text(body.span), None));
        }
        self.statement(body);
        let mut places = vec![place];
        if matches!(body.kind, StmtKind::Expr(_) | StmtKind::Return(_)) {
            // A simple statement may take several steps: a thread between them is still there.
            let end = self.frame.current;
            let new = self.net.places.indices().filter(|&new| new >= first_new && Some(new) != end);
            places
                .extend(new.filter(|&new| self.net.is_frame_place(new) && !self.return_sites.contains(&new)));
        }
        let body = self.program.functions[self.frame.source].body.as_ref();
        if let Some(data) = body.and_then(|body| body.labels.get(label)) {
            let name = data.name.clone();
            self.labels.entry((self.frame.source, name)).or_default().extend(places);
        }
    }

    /// Gives a local its initial value, also when its declaration is reached again.
    pub(crate) fn initialise(&mut self, variable: Variable, init: Option<&Init>, span: Span) {
        let data = &self.program.variables[variable];
        self.set_length(variable, span);
        match init {
            None => self.leave_uninitialised(variable, span),
            Some(Init::Sync(kind)) => self.reset_sync(variable, *kind, span),
            Some(Init::Value(value)) if matches!(data.ty.ty, Type::Record(_)) => {
                let Some((values, written)) = self.copied_record(value) else { return };
                if written.iter().any(|flag| !matches!(flag, Expr::Const(_))) {
                    self.add_notes(variable, span);
                }
                let path = self.variable_path(variable);
                self.store_record(path, &data.ty.ty, &values, &written, span.to(value.span));
            }
            Some(Init::Value(value)) => {
                let span = span.to(value.span);
                let value = self.value(value);
                let path = self.variable_path(variable);
                let Some(object) = self.resolve_path(path, span) else { return };
                self.store(&object, value, false, span);
            }
            Some(Init::List(items)) => self.initialise_list(variable, items, span),
        }
    }

    fn variable_path(&self, variable: Variable) -> Path {
        let ty = &self.program.variables[variable].ty;
        Path {
            root: Root::Named(Home::Variable(variable)),
            offset: 0,
            indices: Vec::new(),
            view: View::As(ty.ty.clone()),
        }
    }

    /// An object of the thread library in its first state, each time that its declaration is reached.
    fn reset_sync(&mut self, variable: Variable, kind: i128, span: Span) {
        if kind == 0 && self.frame.continues.is_empty() && self.frame.labels.is_empty() {
            return;
        }
        let home = Home::Variable(variable);
        let Some(shape) = self.shape(home, span) else { return };
        let mut step = Step::new(Action::Assign, self.text(span), None);
        for (position, leaf) in shape.leaves.iter().enumerate() {
            if matches!(leaf.ty, Type::Sync(SyncKind::Condition)) {
                continue;
            }
            let Some(place) = self.leaf_place(home, position, span) else { return };
            for key in self.all_keys(home, leaf) {
                step = step.write(place, key, Expr::Const(super::mutex::of_kind(kind)));
            }
        }
        self.advance(span, step);
    }

    /// The keys of all cells of a leaf of a named object.
    fn all_keys(&self, home: Home, leaf: &Leaf) -> Vec<Vec<Expr>> {
        let own = self.own_key(home);
        if leaf.dimensions.is_empty() {
            return vec![own];
        }
        let with = |index: i64| own.iter().cloned().chain([Expr::Const(index)]).collect();
        (0..i64::try_from(leaf.count()).unwrap_or(0)).map(with).collect()
    }

    /// A local without an initialiser. A scalar that no pointer reaches has an arbitrary value; of anything else
    /// it is kept what was written, and reading the rest is undefined. (Handles of threads need neither: 0 is
    /// no thread.)
    fn leave_uninitialised(&mut self, variable: Variable, span: Span) {
        let data = &self.program.variables[variable];
        let home = Home::Variable(variable);
        let is_pointed = self.survey.points_to.number(home).is_some();
        if !is_pointed && !self.options.uninitialised {
            match (&data.ty.ty, self.int_type_of(&data.ty.ty)) {
                (Type::Sync(_) | Type::Thread, _) => return,
                (_, Some(int)) => {
                    let is_bool = data.ty.ty == Type::Int(IntKind::Bool);
                    return self.uninitialised_variable(variable, int, is_bool, span);
                }
                (_, None) => {}
            }
        }
        let Some(shape) = self.shape(home, span) else { return };
        let mut step = Step::new(Action::Assign, self.text(span), None);
        for (position, leaf) in shape.leaves.iter().enumerate() {
            if matches!(leaf.ty, Type::Sync(_) | Type::Thread) || leaf.count() == 0 {
                continue;
            }
            let Some(place) = self.leaf_place(home, position, span) else { return };
            let Some(shadow) = self.add_shadow(place) else { return };
            for key in self.all_keys(home, leaf) {
                step = step.write(shadow, key, Expr::Const(0));
            }
        }
        // Where the declaration can be reached again, the object is a new one each time.
        let again = !self.frame.continues.is_empty() || !self.frame.labels.is_empty();
        if again && !step.writes.is_empty() {
            self.advance(span, step);
        }
    }

    /// Makes the notes of what was written before any function is lowered: also those that reach the local
    /// through a pointer take part in them.
    pub(crate) fn declare_notes(&mut self) {
        for function in self.survey.reachable.clone() {
            let Some(body) = &self.program.functions[function].body else { continue };
            let mut found = Vec::new();
            body.stmts.iter().for_each(|stmt| collect_uninitialised(stmt, &mut found));
            for (variable, span) in found {
                if self.survey.points_to.number(Home::Variable(variable)).is_some() {
                    self.add_notes(variable, span);
                }
            }
        }
    }

    /// Adds the places that say which parts of a local were written.
    fn add_notes(&mut self, variable: Variable, span: Span) {
        let home = Home::Variable(variable);
        let Some(shape) = self.shape(home, span) else { return };
        for (position, leaf) in shape.leaves.iter().enumerate() {
            if matches!(leaf.ty, Type::Sync(_) | Type::Thread) || leaf.count() == 0 {
                continue;
            }
            let Some(place) = self.leaf_place(home, position, span) else { return };
            self.add_shadow(place);
        }
    }

    /// A local without an initialiser has an arbitrary value. Where nobody reads it before it is written,
    /// the step goes again when the function is finished.
    fn uninitialised_variable(&mut self, variable: Variable, int: IntType, is_bool: bool, span: Span) {
        self.arbitrary_variable(variable, int, cells::domain_of(int, is_bool), span);
    }

    fn arbitrary_variable(
        &mut self,
        variable: Variable,
        int: IntType,
        domain: pdnet_net::Domain,
        span: Span,
    ) {
        let Some(place) = self.cells_of(variable, span) else { return };
        let name = self.program.variables[variable].name.clone();
        let label = format!("{name} is not initialised");
        let mut step = Step::new(Action::Assign, label, None);
        let var = step.binder(&name, Base::Int(int), Some(domain));
        let step = step.write(place, frame_key(), Expr::Var(var));
        let transition = self.advance(span, step);
        self.uninitialised.extend(transition.map(|transition| (transition, place)));
    }

    /// The environment decides on the parameters of `main`.
    pub(crate) fn arbitrary_parameters_of_main(&mut self, source: crate::tree::Function) {
        if source != self.program.main {
            return;
        }
        for parameter in self.program.functions[source].params.clone() {
            let data = &self.program.variables[parameter];
            if let (Type::Pointer(_), Some(place)) = (&data.ty.ty, self.cells_of(parameter, data.span)) {
                let outside = self.address_of_home(Home::Outside);
                let label = format!("{} comes from the environment", data.name);
                let step = Step::new(Action::Assign, label, None).write(place, frame_key(), outside);
                let transition = self.advance(data.span, step);
                self.uninitialised.extend(transition.map(|transition| (transition, place)));
                continue;
            }
            let (Type::Int(_), Some(int)) = (&data.ty.ty, self.int_type_of(&data.ty.ty)) else { continue };
            let domain = pdnet_net::Domain { ranges: vec![(0, 8), (int.max(), int.max())], exact: false };
            self.arbitrary_variable(parameter, int, domain, data.span);
        }
    }

    /// Gives every local an arbitrary value at the start of the function, where that can matter.
    pub(crate) fn uninitialised_locals(&mut self, source: crate::tree::Function) {
        for variable in self.locals.get(&source).cloned().unwrap_or_default() {
            let data = &self.program.variables[variable];
            if !self.options.uninitialised
                && self.survey.points_to.number(Home::Variable(variable)).is_none()
                && let (Type::Int(_) | Type::Pointer(_) | Type::Float(_), Some(int)) =
                    (&data.ty.ty, self.int_type_of(&data.ty.ty))
            {
                let domain = cells::domain_of(int, data.ty.ty == Type::Int(IntKind::Bool));
                self.arbitrary_variable(variable, int, domain, data.span);
            }
        }
    }

    fn initialise_list(
        &mut self,
        variable: Variable,
        items: &[(Vec<crate::tree::InitStep>, TreeExpr)],
        span: Span,
    ) {
        let home = Home::Variable(variable);
        let Some(shape) = self.shape(home, span) else { return };
        let ty = &self.program.variables[variable].ty;
        // What each cell gets; all that is not given is zero, also when the declaration is reached again.
        let mut values: Vec<Vec<Expr>> = Vec::new();
        for leaf in &shape.leaves {
            values.push(vec![Expr::Const(0); usize::try_from(leaf.count()).unwrap_or(0)]);
        }
        let mut records = Vec::new();
        for (path, value) in items {
            if matches!(value.ty, Type::Record(_)) {
                let Some(parts) = self.copied_record(value) else { return };
                records.push((path, &value.ty, parts));
                continue;
            }
            let Some(part) = self.init_part(&shape, ty, path, value.span) else { return };
            let mut lowered = self.value(value);
            if !matches!(lowered, Expr::Const(_)) {
                lowered = self.spill(lowered, part.value, value.span);
            }
            let index = usize::try_from(part.index).unwrap_or(usize::MAX);
            let Some(cell) = values.get_mut(part.leaf).and_then(|cells| cells.get_mut(index)) else {
                continue;
            };
            *cell = match part.bits {
                None if shape.leaves[part.leaf].is_bool() => Expr::truth(lowered),
                None => lowered,
                Some((shift, bits)) => {
                    let mask = cells::low_bits(bits);
                    let word = |op, left, right| Expr::binary(op, IntType::U64, left, right);
                    let new = word(pdnet_net::BinaryOp::And, lowered, Expr::Const(mask));
                    let new = word(pdnet_net::BinaryOp::Shl, new, Expr::Const(i64::from(shift)));
                    word(pdnet_net::BinaryOp::Or, cell.clone(), new)
                }
            };
        }
        let mut step = Step::new(Action::Assign, self.text(span), None);
        for (position, (leaf, values)) in shape.leaves.iter().zip(values).enumerate() {
            if matches!(leaf.ty, Type::Sync(SyncKind::Condition)) || leaf.count() == 0 {
                continue;
            }
            let Some(place) = self.leaf_place(home, position, span) else { return };
            for (key, value) in self.all_keys(home, leaf).into_iter().zip(values) {
                step = step.write(place, key, value);
            }
        }
        self.advance(span, step);
        for (path, ty, parts) in records {
            let Some(way) = self.init_path(variable, path) else {
                return self.unsupported(span, "this initialiser is");
            };
            self.store_record(way, ty, &parts.0, &parts.1, span);
        }
    }

    /// The way to a part of a variable that an initialiser sets.
    fn init_path(&self, variable: Variable, steps: &[crate::tree::InitStep]) -> Option<Path> {
        let mut path = self.variable_path(variable);
        let mut at = &self.program.variables[variable].ty.ty;
        for step in steps {
            match (step, at) {
                (InitStep::Index(index), Type::Array(element, Some(count))) => {
                    let stride = size_of(self.program, &element.ty)?;
                    let index = Expr::Const(i64::try_from(*index).ok()?);
                    path.indices.push((index, Dimension { stride, count: *count }));
                    at = &element.ty;
                }
                (InitStep::Field(position), Type::Record(record)) => {
                    let field = self.program.records[*record].fields.as_ref()?.get(*position)?;
                    path.offset += field.bit_offset / 8;
                    at = &field.ty.ty;
                }
                _ => return None,
            }
        }
        path.view = View::As(at.clone());
        Some(path)
    }

    fn return_statement(&mut self, value: Option<&TreeExpr>, span: Span) {
        if self.frame.current.is_none() {
            return;
        }
        let wanted = self.results.contains_key(&self.frame.source);
        let values = match value {
            None => None,
            Some(value) if matches!(value.ty, Type::Record(_)) => {
                let values = self.record_value(value);
                values.filter(|_| wanted)
            }
            Some(value) => {
                let class = self.class(value);
                // A value that nobody uses is computed only for what computing it does.
                let matters = wanted || class.steps || class.shared || class.faults;
                matters.then(|| vec![self.value(value)])
            }
        };
        self.leave_function(values, span, false);
    }

    /// Control goes to the exit of the function, with its result.
    pub(crate) fn leave_function(&mut self, values: Option<Vec<Expr>>, span: Span, falls_off: bool) {
        if self.frame.current.is_none() {
            return;
        }
        let name = &self.program.functions[self.frame.source].name;
        let mut values = values;
        let results = self.results.get(&self.frame.source).cloned().unwrap_or_default();
        if name.starts_with("__VERIFIER_atomic_") {
            // The section ends after the result was computed.
            for (position, value) in values.iter_mut().flatten().enumerate() {
                let cells = results.get(position).and_then(|&cell| self.net.places[cell].cells());
                let ty = cells.map_or(IntType::I64, |cells| cells.value);
                if !self.is_stable(value) {
                    *value = self.spill(value.clone(), ty, span);
                }
            }
            self.atomic_end(span);
        }
        let exit = self.net.functions[self.frame.function].exit;
        let label = if falls_off { format!("end of {name}") } else { self.text(span) };
        let mut step = Step::new(Action::Exit, label, Some(exit));
        match values {
            Some(values) if results.is_empty() => step.touches.extend(values),
            Some(values) => {
                for (&result, value) in results.iter().zip(values) {
                    step = step.write(result, frame_key(), value);
                }
            }
            None if self.frame.source == self.program.main => {
                for &result in &results {
                    step = step.write(result, frame_key(), Expr::Const(0));
                }
            }
            None => {
                // Whoever uses the value gets an arbitrary one (C11 6.9.1p12).
                for &result in &results {
                    let int = self.net.places[result].cells().map_or(IntType::I64, |cells| cells.value);
                    let domain = cells::domain_of(int, false);
                    let var = step.binder("missing result", Base::Int(int), Some(domain));
                    step = step.write(result, frame_key(), Expr::Var(var));
                }
            }
        }
        self.emit(span, vec![step]);
    }

    /// `({ … })`: the value of the last statement, if that is an expression.
    pub(crate) fn statement_expression(&mut self, stmts: &[Stmt], ty: &Type, span: Span) -> Expr {
        let Some((last, rest)) = stmts.split_last() else { return Expr::Const(0) };
        self.statements(rest);
        match &last.kind {
            StmtKind::Expr(expr) if *ty != Type::Void => {
                let int = self.int_type_at(ty, span);
                let value = self.value(expr);
                if self.is_stable(&value) { value } else { self.spill(value, int, span) }
            }
            _ => {
                self.statement(last);
                Expr::Const(0)
            }
        }
    }
}

/// The labels of a `switch`, in the order of the source; `None` is `default`.
fn collect_cases(stmt: &Stmt, labels: &mut Vec<(Option<(i128, i128)>, Span)>) {
    match &stmt.kind {
        StmtKind::Case(low, high, body) => {
            labels.push((Some((*low, *high)), stmt.span));
            collect_cases(body, labels);
        }
        StmtKind::Default(body) => {
            labels.push((None, stmt.span));
            collect_cases(body, labels);
        }
        StmtKind::Block(stmts) => stmts.iter().for_each(|stmt| collect_cases(stmt, labels)),
        StmtKind::If(_, then, otherwise) => {
            collect_cases(then, labels);
            otherwise.iter().for_each(|otherwise| collect_cases(otherwise, labels));
        }
        StmtKind::While(_, body)
        | StmtKind::DoWhile(body, _)
        | StmtKind::For(_, _, _, body)
        | StmtKind::Label(_, body) => collect_cases(body, labels),
        StmtKind::Switch(..)
        | StmtKind::Expr(_)
        | StmtKind::Declare(..)
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Asm => {}
    }
}

/// The locals of which a part may be left unset: those that are declared without an initialiser, and copies of
/// structs.
fn collect_uninitialised(stmt: &Stmt, found: &mut Vec<(Variable, Span)>) {
    let list = std::cell::RefCell::new(found);
    any_part(stmt, &|kind| {
        match kind {
            StmtKind::Declare(variable, None) => list.borrow_mut().push((*variable, stmt.span)),
            StmtKind::Declare(variable, Some(Init::Value(value)))
                if matches!((&value.ty, &value.kind), (Type::Record(_), ExprKind::Load(_))) =>
            {
                list.borrow_mut().push((*variable, stmt.span));
            }
            _ => {}
        }
        false
    });
}

/// Whether there is a `switch` in the statement.
pub(crate) fn has_switch(stmt: &Stmt) -> bool {
    any_part(stmt, &|kind| matches!(kind, StmtKind::Switch(..)))
}

/// Whether control can come in from elsewhere.
fn has_label(stmt: &Stmt) -> bool {
    any_part(stmt, &|kind| matches!(kind, StmtKind::Label(..) | StmtKind::Case(..) | StmtKind::Default(_)))
}

/// Whether the statement or one inside of it is of the kind that is asked for.
fn any_part(stmt: &Stmt, is_wanted: &dyn Fn(&StmtKind) -> bool) -> bool {
    if is_wanted(&stmt.kind) {
        return true;
    }
    match &stmt.kind {
        StmtKind::Block(stmts) => stmts.iter().any(|part| any_part(part, is_wanted)),
        StmtKind::If(_, then, otherwise) => {
            any_part(then, is_wanted) || otherwise.as_ref().is_some_and(|part| any_part(part, is_wanted))
        }
        StmtKind::While(_, body)
        | StmtKind::DoWhile(body, _)
        | StmtKind::For(_, _, _, body)
        | StmtKind::Switch(_, body)
        | StmtKind::Case(_, _, body)
        | StmtKind::Default(body)
        | StmtKind::Label(_, body) => any_part(body, is_wanted),
        StmtKind::Expr(_)
        | StmtKind::Declare(..)
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Asm => false,
    }
}

/// Whether the first thing that the statement does is a step out of the place where it begins.
fn starts_with_step(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Expr(expr) => matches!(
            expr.kind,
            ExprKind::Assign(..)
                | ExprKind::CompoundAssign { .. }
                | ExprKind::Step { .. }
                | ExprKind::Call(..)
        ),
        StmtKind::Block(stmts) => stmts.first().is_some_and(starts_with_step),
        StmtKind::If(..)
        | StmtKind::While(..)
        | StmtKind::Switch(..)
        | StmtKind::Return(_)
        | StmtKind::Goto(_) => true,
        StmtKind::Declare(..)
        | StmtKind::DoWhile(..)
        | StmtKind::For(..)
        | StmtKind::Case(..)
        | StmtKind::Default(_)
        | StmtKind::Label(..)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Asm => false,
    }
}
