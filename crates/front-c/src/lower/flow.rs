//! Control flow: the places where threads are, and the steps between them.

use std::collections::BTreeMap;

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{
    Action, ArcData, Base, BinaryOp, CellData, Expr, Fault, FunctionData, IntType, Net, Place, PlaceForm,
    PlaceKind, Scope, Transition, TransitionBuilder,
};
use pdnet_source::{SourceMap, Span};

use super::points_to::Home;
use super::step::Step;
use super::unset::Check;
use super::{Atomicity, LowerOptions, Lowerer, blocks, survey};
use crate::library::shown_name;
use crate::tree::{Function, Label, Program, Storage, Variable};
use crate::types::Type;

/// What is known while a function is lowered.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) source: Function,
    pub(crate) function: pdnet_net::Function,
    /// Where control is; `None` behind a jump.
    pub(crate) current: Option<Place>,
    pub(crate) breaks: Vec<blocks::Target>,
    pub(crate) continues: Vec<blocks::Target>,
    /// The blocks that control is in, the outermost first: the cells of locals that are gone afterwards.
    pub(crate) blocks: Vec<Vec<Place>>,
    pub(crate) labels: IndexVec<Label, Place>,
    /// The places of the cases of the enclosing `switch` statements, in the order of the source.
    pub(crate) cases: Vec<Vec<Place>>,
    /// No other thread can move here, or statements are atomic: accesses need no steps of their own.
    pub(crate) coarse: bool,
    /// Conditions without which the next step is undefined, in the order of evaluation.
    pub(crate) checks: Vec<Check>,
    pub(crate) n_temporaries: usize,
    /// The handlers that were pushed and not yet popped, the last one last.
    pub(crate) cleanups: Vec<super::exit::Cleanup>,
}

/// The locals of each function, in order.
fn locals(program: &Program) -> BTreeMap<Function, Vec<Variable>> {
    let mut locals: BTreeMap<Function, Vec<Variable>> = BTreeMap::new();
    for (variable, data) in program.variables.iter_enumerated() {
        if let Storage::Local(function) = data.storage {
            locals.entry(function).or_default().push(variable);
        }
    }
    locals
}

/// The key of a cell of the frame that moves.
pub(crate) fn frame_key() -> Vec<Expr> {
    TransitionBuilder::frame()
}

/// An operation on indices and thread numbers.
pub(crate) fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, IntType::I64, left, right)
}

/// The depth of the frame that is called.
pub(crate) fn callee_depth() -> Expr {
    binary(BinaryOp::Add, TransitionBuilder::depth(), Expr::Const(1))
}

impl<'a> Lowerer<'a> {
    pub(crate) fn new(map: &'a SourceMap, program: &'a Program, options: &'a LowerOptions) -> Self {
        let mut survey = survey::survey(program);
        let points_to_frame = survey.points_to.points_to_frame(program);
        // A pointer has room for so many depths.
        let limit = if points_to_frame { super::pointer::MAX_DEPTH } else { u32::MAX };
        survey.max_chain = survey.max_chain.filter(|chain| *chain <= limit);
        let mut net = Net {
            name: map.file(program.functions[program.main].span.file).name.clone(),
            files: map.files().map(|(_, data)| data.name.clone()).collect(),
            max_threads: options.max_threads.clamp(1, super::MOST_THREADS),
            max_depth: survey.max_chain.unwrap_or(options.max_depth).clamp(1, limit),
            ..Net::default()
        };
        net.done = Some(net.add_token_place("ended threads", PlaceKind::Execution, vec![Base::Thread]));
        net.ended = Some(net.add_token_place("end of process", PlaceKind::Execution, vec![]));
        let counter =
            CellData { scope: Scope::Global, length: None, value: IntType::U8, default: 1, listed: vec![] };
        let thread_counter = net.add_cells("number of threads", counter);
        net.places[thread_counter].internal = true;
        let frame = Frame {
            source: program.main,
            function: pdnet_net::Function::new(0),
            current: None,
            breaks: Vec::new(),
            continues: Vec::new(),
            blocks: Vec::new(),
            labels: IndexVec::new(),
            cases: Vec::new(),
            coarse: false,
            checks: Vec::new(),
            n_temporaries: 0,
            cleanups: Vec::new(),
        };
        let mut lowerer = Self {
            map,
            program,
            options,
            survey,
            net,
            errors: Vec::new(),
            warnings: Vec::new(),
            cells: Default::default(),
            shapes: Default::default(),
            slots: Default::default(),
            lengths: Default::default(),
            live_blocks: None,
            alive: Default::default(),
            conditions: Default::default(),
            written: Default::default(),
            shared_cells: Default::default(),
            temporaries: Default::default(),
            locals: locals(program),
            functions: Default::default(),
            results: Default::default(),
            thread_counter,
            thread_results: None,
            library_cells: Default::default(),
            atomic: None,
            same_as: Default::default(),
            labels: Default::default(),
            return_sites: Default::default(),
            uninitialised: Vec::new(),
            gone: Default::default(),
            literals: Default::default(),
            bools: Default::default(),
            observers: Default::default(),
            frame,
        };
        if options.leaks {
            let cells = CellData {
                scope: Scope::Global,
                length: None,
                value: IntType::I64,
                default: 0,
                listed: vec![],
            };
            let place = lowerer.net.add_cells("allocated blocks", cells);
            lowerer.net.places[place].internal = true;
            lowerer.live_blocks = Some(place);
        }
        if lowerer.survey.joins_result {
            let cells = CellData {
                scope: Scope::Thread,
                length: None,
                value: IntType::U64,
                default: 0,
                listed: vec![],
            };
            let place = lowerer.net.add_cells("thread result", cells);
            lowerer.net.places[place].internal = true;
            lowerer.thread_results = Some(place);
        }
        lowerer
    }

    /// Entry, exit and result of every function that can run.
    pub(crate) fn declare_functions(&mut self) {
        for source in self.survey.reachable.clone() {
            let data = &self.program.functions[source];
            let function = self.net.functions.next_index();
            let pos = self.pos(data.span);
            let mut add = |name: &str| {
                let name = format!("{}: {name}", shown_name(&data.name));
                let components = vec![Base::Thread, Base::Depth];
                let place = self.net.add_token_place(&name, PlaceKind::Execution, components);
                self.net.places[place].function = Some(function);
                self.net.places[place].pos = pos;
                place
            };
            let (entry, exit) = (add("entry"), add("exit"));
            self.net.functions.push(FunctionData {
                name: shown_name(&data.name).to_owned(),
                entry,
                exit,
                pos,
            });
            self.functions.insert(source, function);
            if source == self.program.main {
                self.net.places[entry].form = PlaceForm::Tokens { initial: vec![vec![0, 0]] };
            }
            let returns_value = data.result.ty != Type::Void;
            let is_start = self.survey.start_routines.contains(&source);
            let wanted =
                self.survey.result_used.contains(&source) || (is_start && self.thread_results.is_some());
            if returns_value && wanted {
                let cells = self.add_result_cells(function, &data.name, &data.result.ty, data.span);
                self.results.insert(source, cells);
            }
            let is_outlived = |home: &Home| match home {
                Home::Variable(variable) => matches!(
                    self.program.variables[*variable].storage,
                    Storage::Local(f) | Storage::Param(f) if f == source
                ),
                Home::Heap(_) | Home::Text(_) | Home::Function(_) | Home::Outside => false,
            };
            if self.survey.outlived.iter().any(is_outlived) {
                let scope = Scope::Frame(function);
                let value = IntType { bits: 1, signed: false };
                let cells = CellData { scope, length: None, value, default: 0, listed: vec![] };
                let place = self.net.add_cells(&format!("{} is there", data.name), cells);
                self.net.places[place].internal = true;
                self.alive.insert(function, place);
            }
        }
    }

    /// Lowers the body of a function.
    pub(crate) fn lower_function(&mut self, source: Function) {
        let data = &self.program.functions[source];
        let Some(body) = &data.body else { return };
        let function = self.functions[&source];
        let FunctionData { entry, exit, .. } = self.net.functions[function];
        let is_atomic = data.name.starts_with("__VERIFIER_atomic_");
        self.frame = Frame {
            source,
            function,
            current: Some(entry),
            breaks: Vec::new(),
            continues: Vec::new(),
            blocks: Vec::new(),
            labels: IndexVec::new(),
            cases: Vec::new(),
            coarse: (is_atomic && !self.survey.moves_atomic.contains(&source))
                || self.options.atomicity == Atomicity::Statement,
            checks: Vec::new(),
            n_temporaries: 0,
            cleanups: Vec::new(),
        };
        for label in &body.labels {
            let place = self.fresh_place(label.span);
            self.frame.labels.push(place);
        }
        let start = self.fresh_place(data.span);
        let mut enter = Step::new(Action::Enter, format!("enter {}", data.name), Some(start));
        if let Some(&alive) = self.alive.get(&function) {
            enter = enter.write(alive, frame_key(), Expr::Const(1));
        }
        self.emit(data.span, vec![enter]);
        self.frame.current = Some(start);
        if is_atomic {
            self.atomic_begin(data.span);
        }
        self.arbitrary_parameters_of_main(source);
        if !body.labels.is_empty() || body.stmts.iter().any(super::statement::has_switch) {
            // A jump can go past a declaration.
            self.uninitialised_locals(source);
        }
        self.statements(&body.stmts);
        self.leave_function(None, body.end, true);
        self.frame.current = Some(exit);
        self.end_of_start_routine(source, exit, body.end);
        self.frame.current = None;
    }

    /// At the exit of a function that threads start in: the end of the thread, or of the process.
    fn end_of_start_routine(&mut self, source: Function, exit: Place, end: Span) {
        let at_bottom = Expr::equal(TransitionBuilder::depth(), Expr::Const(0));
        let name = &self.program.functions[source].name;
        if source == self.program.main {
            let step = Step::new(Action::ProcessEnd, format!("{name} returns: end of process"), None);
            self.check_leaks();
            self.emit_from(exit, end, step.when(at_bottom));
        } else if self.survey.start_routines.contains(&source) {
            let mut step = Step::new(Action::ThreadEnd, format!("{name} returns: end of thread"), None);
            if let (Some(results), Some([result])) =
                (self.thread_results, self.results.get(&source).map(Vec::as_slice))
            {
                let value = Expr::Cell(*result, frame_key());
                step = step.write(results, vec![TransitionBuilder::thread()], value);
            }
            self.frame.current = Some(exit);
            self.end_thread(step, Some(at_bottom), end);
        }
    }

    /// A new place of the function that is being lowered.
    pub(crate) fn fresh_place(&mut self, span: Span) -> Place {
        let function = self.frame.function;
        let pos = self.pos(span);
        let line = pos.map_or(0, |pos| pos.line);
        let name = format!("{}: line {line}", self.net.functions[function].name);
        let place = self.net.add_token_place(&name, PlaceKind::Execution, vec![Base::Thread, Base::Depth]);
        self.net.places[place].function = Some(function);
        self.net.places[place].pos = pos;
        place
    }

    /// A new temporary of the function that is being lowered.
    pub(crate) fn fresh_temporary(&mut self, value: IntType) -> Place {
        let scope = Scope::Frame(self.frame.function);
        let name = format!("tmp{}", self.frame.n_temporaries);
        self.frame.n_temporaries += 1;
        let cells = CellData { scope, length: None, value, default: 0, listed: Vec::new() };
        let place = self.net.add_cells(&name, cells);
        self.net.places[place].internal = true;
        self.temporaries.insert(place);
        place
    }

    /// Emits the steps out of the current place: the alternatives of one decision. Where pending checks
    /// fail, the step is a fault instead. Control is nowhere afterwards.
    pub(crate) fn emit(&mut self, span: Span, mut steps: Vec<Step>) -> Vec<Transition> {
        steps.iter_mut().for_each(|step| self.spare_literals(step));
        let checks = std::mem::take(&mut self.frame.checks);
        let Some(from) = self.frame.current.take() else { return Vec::new() };
        let function = self.frame.function;
        let pos = self.pos(span);
        let mut transitions = Vec::new();
        for mut step in steps {
            for Check { condition, .. } in checks.iter().rev() {
                step.guard = Some(match step.guard.take() {
                    None => condition.clone(),
                    Some(guard) => Expr::both(condition.clone(), guard),
                });
            }
            transitions.push(step.emit(&mut self.net, function, from, pos));
        }
        let mut passed: Option<Expr> = None;
        for Check { condition, otherwise } in checks {
            let fails = Expr::logical_not(condition.clone());
            let guard = passed.clone().map_or(fails.clone(), |passed| Expr::both(passed, fails));
            let step = otherwise.step(&self.net, from).when(guard);
            step.emit(&mut self.net, function, from, pos);
            passed = Some(passed.map_or(condition.clone(), |passed| Expr::both(passed, condition)));
        }
        transitions
    }

    /// A string literal must not be written: where the step would, it is a fault.
    fn spare_literals(&mut self, step: &mut Step) {
        let (writes, literals): (Vec<_>, Vec<_>) = std::mem::take(&mut step.writes)
            .into_iter()
            .partition(|(target, _)| !self.literals.contains(&target.place));
        step.writes = writes;
        for (target, _) in literals {
            let is_other = target.when.map_or(Expr::Const(0), Expr::logical_not);
            self.add_check(is_other, Fault::ReadOnly);
        }
    }

    /// Emits one step out of a given place.
    pub(crate) fn emit_from(&mut self, from: Place, span: Span, step: Step) {
        self.frame.current = Some(from);
        self.emit(span, vec![step]);
    }

    /// Emits one step to a new place, where control is then.
    pub(crate) fn advance(&mut self, span: Span, mut step: Step) -> Option<Transition> {
        if self.frame.current.is_none() {
            // Behind a jump nothing is evaluated, and nothing has to be checked.
            self.frame.checks.clear();
            return None;
        }
        let to = self.fresh_place(span);
        step.to = Some(to);
        let transition = self.emit(span, vec![step]).first().copied();
        self.frame.current = Some(to);
        transition
    }

    /// Control goes on at `target`, without a step: the current place is the same as that one.
    pub(crate) fn go_on_at(&mut self, target: Place) {
        if let Some(current) = self.frame.current.take() {
            let (current, target) = (self.resolve(current), self.resolve(target));
            if current != target {
                self.same_as.insert(current, target);
            }
        } else {
            self.frame.checks.clear();
        }
    }

    /// The place that stands for all that are the same as this one.
    pub(crate) fn resolve(&self, mut place: Place) -> Place {
        while let Some(&next) = self.same_as.get(&place) {
            place = next;
        }
        place
    }

    /// Asks that the next step be a fault unless the index is inside of the array.
    pub(crate) fn check_index(&mut self, index: &Expr, length: i64) {
        if let Expr::Const(index) = index
            && (0..length).contains(index)
        {
            return;
        }
        // Negative indices are large unsigned ones.
        let inside = Expr::binary(BinaryOp::Lt, IntType::U64, index.clone(), Expr::Const(length));
        self.add_check(inside, Fault::OutOfBounds);
    }

    /// Evaluates an expression in a step of its own, into a temporary.
    pub(crate) fn spill(&mut self, value: Expr, ty: IntType, span: Span) -> Expr {
        let temporary = self.fresh_temporary(ty);
        let label = self.text(span);
        self.advance(span, Step::new(Action::Assign, label, None).write(temporary, frame_key(), value));
        Expr::Cell(temporary, frame_key())
    }

    pub(crate) fn is_shared_cell(&self, place: Place) -> bool {
        !self.frame.coarse && self.shared_cells.contains(&place)
    }

    /// Whether evaluating the expression touches a shared cell.
    pub(crate) fn is_shared_expr(&self, expr: &Expr) -> bool {
        let mut shared = false;
        expr.walk(&mut |part| {
            if let Expr::Cell(place, _) = part {
                shared |= self.is_shared_cell(*place);
            }
        });
        shared
    }

    /// Whether another thread can change the value before it is used again, atomic statements or not.
    pub(crate) fn may_change(&self, expr: &Expr) -> bool {
        let mut shared = false;
        expr.walk(&mut |part| {
            if let Expr::Cell(place, _) = part {
                shared |= self.shared_cells.contains(place);
            }
        });
        shared
    }

    /// Whether the value stays the same whatever happens until it is used.
    pub(crate) fn is_stable(&self, expr: &Expr) -> bool {
        let mut stable = true;
        expr.walk(&mut |part| {
            if let Expr::Cell(place, _) = part {
                stable &= self.temporaries.contains(place);
            }
        });
        stable
    }

    /// A token of the frame that moves, put on another place.
    pub(crate) fn put_frame(place: Place) -> ArcData {
        ArcData::Put { place, token: TransitionBuilder::frame() }
    }
}
