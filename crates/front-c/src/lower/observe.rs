//! What formulas want to know of locals and threads.
//!
//! An atom such as `thr[1]::v` or `holds(thr, m)` speaks of one thread: the k-th that runs `thr`, in the
//! order of creation (or of the first call, for functions that are called). The net keeps no such order,
//! so that for each thread that a formula names, a cell is added that holds the thread's number plus one.
//! A local lives in its frame and goes with it; for each local that a formula names, a global cell is
//! added that follows the value in the innermost activation and keeps the last one.

use std::collections::BTreeMap;

use pdnet_logic::{AtomKind, ExprKind, ExprSyntax, Formula, Name, ThreadRef};
use pdnet_net::{
    Action, ArcData, BinaryOp, CellData, Expr, IntType, Place, Scope, Transition, TransitionBuilder, VarData,
};
use pdnet_source::{Diagnostic, Span, nearest_name};

use super::Lowerer;
use super::flow::{binary, frame_key};
use super::points_to::Home;
use crate::link::names_apart;
use crate::tree::{Function, Storage, Variable};

/// The cells that were added for formulas.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observers {
    /// For each function that a formula names: the numbers plus one of the threads that run it, in order.
    pub(crate) threads: BTreeMap<Function, Vec<Place>>,
    /// The last values of locals, by function, order of the thread, variable, and leaf.
    pub(crate) locals: BTreeMap<(Function, u32, Variable, usize), Place>,
}

/// The most threads of one function that a formula can speak of.
const MAX_INDEX: u32 = 63;

impl Lowerer<'_> {
    /// Finds the threads and locals that formulas name.
    pub(crate) fn declare_observers(&mut self, formulas: &[Formula]) {
        for atom in formulas.iter().flat_map(|formula| formula.atoms.iter()) {
            match &atom.kind {
                AtomKind::Terminated(thread) => drop(self.observe_thread(thread)),
                AtomKind::Holds { thread, object } | AtomKind::Waiting { thread, object } => {
                    self.observe_thread(thread);
                    self.observe_locals(object);
                }
                AtomKind::Expr(expr) => self.observe_locals(expr),
                AtomKind::Call { .. }
                | AtomKind::AtLabel { .. }
                | AtomKind::AtLine { .. }
                | AtomKind::End
                | AtomKind::Deadlock
                | AtomKind::DataRace
                | AtomKind::Overflow
                | AtomKind::ValidFree
                | AtomKind::ValidDeref
                | AtomKind::ValidMemtrack
                | AtomKind::ValidMemcleanup => {}
            }
        }
    }

    fn observe_locals(&mut self, expr: &ExprSyntax) {
        match &expr.kind {
            ExprKind::Int(..) | ExprKind::Name(_) => {}
            ExprKind::Local { thread, name } => self.observe_local(thread, name),
            ExprKind::Unary(_, operand) | ExprKind::Member(operand, _) | ExprKind::Arrow(operand, _) => {
                self.observe_locals(operand);
            }
            ExprKind::Binary(_, left, right) | ExprKind::Index(left, right) => {
                self.observe_locals(left);
                self.observe_locals(right);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.observe_locals(condition);
                self.observe_locals(then);
                self.observe_locals(otherwise);
            }
        }
    }

    /// The function of that name, or a diagnostic.
    pub(crate) fn function_named(&mut self, name: &Name) -> Option<Function> {
        let functions = &self.program.functions;
        let found = functions.iter_enumerated().find(|(_, data)| data.name == name.text);
        if let Some((function, _)) = found {
            return Some(function);
        }
        let apart = functions.iter().filter(|data| names_apart(&data.name, &name.text));
        let apart: Vec<Span> = apart.map(|data| data.span).collect();
        if let [first, second, ..] = apart.as_slice() {
            let message = format!("several files have a static function `{name}`");
            let diagnostic = Diagnostic::error("ambiguous-name", message).at(name.span, "which one?");
            let diagnostic = diagnostic.context(*first, "this one").context(*second, "or this one");
            self.error(diagnostic.help("give one of them another name"));
            return None;
        }
        let message = format!("the program has no function `{name}`");
        let mut diagnostic = Diagnostic::error("unknown-function", message).at(name.span, "not found");
        let known = functions.iter().filter(|data| data.body.is_some()).map(|data| data.name.as_str());
        if let Some(near) = nearest_name(&name.text, known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.error(diagnostic);
        None
    }

    /// The cell with the number plus one of a thread that a formula names.
    pub(crate) fn observe_thread(&mut self, thread: &ThreadRef) -> Option<Place> {
        let function = self.function_named(&thread.function)?;
        if self.program.functions[function].body.is_none() {
            let message = format!("`{}` has no body: no thread runs it", thread.function);
            let diagnostic = Diagnostic::error("unknown-function", message);
            self.error(diagnostic.at(thread.function.span, "only declared"));
            return None;
        }
        let index = thread.index.unwrap_or(0);
        if index > MAX_INDEX {
            let message = format!("there are at most {} threads", MAX_INDEX + 1);
            self.error(Diagnostic::error("thread-index", message).at(thread.function.span, ""));
            return None;
        }
        let cells = self.observers.threads.entry(function).or_default();
        while cells.len() <= index as usize {
            let is_main = function == self.program.main && cells.is_empty();
            let default = i64::from(is_main);
            let data =
                CellData { scope: Scope::Global, length: None, value: IntType::U8, default, listed: vec![] };
            let name = format!("thread {}[{}]", self.program.functions[function].name, cells.len());
            let place = self.net.add_cells(&name, data);
            self.net.places[place].internal = true;
            cells.push(place);
        }
        cells.get(index as usize).copied()
    }

    /// The local that a formula names: a variable of the function, by name.
    pub(crate) fn local_named(&mut self, thread: &ThreadRef, name: &Name) -> Option<(Function, Variable)> {
        let function = self.function_named(&thread.function)?;
        let variables = &self.program.variables;
        let of_function = |storage: Storage| matches!(storage, Storage::Local(f) | Storage::Param(f) | Storage::Static(f) if f == function);
        let locals: Vec<_> =
            variables.iter_enumerated().filter(|(_, data)| of_function(data.storage)).collect();
        let found: Vec<_> = locals.iter().filter(|(_, data)| data.name == name.text).collect();
        match found.as_slice() {
            [(variable, _)] => Some((function, *variable)),
            [] => {
                let message = format!("`{}` has no local `{name}`", thread.function);
                let mut diagnostic = Diagnostic::error("unknown-name", message).at(name.span, "not found");
                if let Some(near) =
                    nearest_name(&name.text, locals.iter().map(|(_, data)| data.name.as_str()))
                {
                    diagnostic = diagnostic.help(format!("did you mean `{}::{near}`?", thread.function));
                }
                self.error(diagnostic);
                None
            }
            [first, second, ..] => {
                let message = format!("`{}` has several locals `{name}`", thread.function);
                let diagnostic = Diagnostic::error("ambiguous-name", message).at(name.span, "which one?");
                let diagnostic =
                    diagnostic.context(first.1.span, "this one").context(second.1.span, "or this one");
                self.error(diagnostic.help("give one of them another name"));
                None
            }
        }
    }

    fn observe_local(&mut self, thread: &ThreadRef, name: &Name) {
        let Some((function, variable)) = self.local_named(thread, name) else { return };
        if matches!(self.program.variables[variable].storage, Storage::Static(_)) {
            return;
        }
        if self.observe_thread(thread).is_none() {
            return;
        }
        if self.survey.mutually_recursive.contains(&function) {
            let message = format!("locals of `{}` cannot be observed", thread.function);
            let diagnostic = Diagnostic::error("unsupported", message);
            return self.error(diagnostic.at(name.span, "it calls itself by way of another function"));
        }
        let index = thread.index.unwrap_or(0);
        if !self.functions.contains_key(&function) {
            // No thread ever runs the function.
            return;
        }
        let home = Home::Variable(variable);
        let Some(shape) = self.shape(home, name.span) else { return };
        for (position, leaf) in shape.leaves.iter().enumerate() {
            if self.observers.locals.contains_key(&(function, index, variable, position)) {
                continue;
            }
            let Some(cells) = self.leaf_place(home, position, name.span) else { return };
            let Some(data) = self.net.places[cells].cells().cloned() else { return };
            let data = CellData { scope: Scope::Global, ..data };
            let place = self.net.add_cells(&format!("{thread}::{name}{}", leaf.name), data);
            self.net.places[place].internal = true;
            self.observers.locals.insert((function, index, variable, position), place);
        }
    }

    /// Adds to every step what the observers must see of it.
    pub(crate) fn add_observations(&mut self) {
        for (function, cells) in self.observers.threads.clone() {
            let Some(&net_function) = self.functions.get(&function) else { continue };
            for transition in self.net.transitions.indices() {
                self.observe_step(transition, function, net_function, &cells);
            }
        }
    }

    fn observe_step(
        &mut self,
        transition: Transition,
        function: Function,
        net_function: pdnet_net::Function,
        cells: &[Place],
    ) {
        let entry = self.net.functions[net_function].entry;
        let data = &self.net.transitions[transition];
        let begins = data.arcs.iter().find_map(|arc| match arc {
            ArcData::Put { place, token } if *place == entry => token.first().cloned(),
            _ => None,
        });
        let returns_to_itself = data.action == Action::Return && data.function == net_function && {
            let exit = self.net.functions[net_function].exit;
            data.arcs.iter().any(|arc| matches!(arc, ArcData::Take { place, .. } if *place == exit))
        };
        let is_uninitialised = self.uninitialised.iter().any(|(found, _)| *found == transition);
        let observed: Vec<_> = self.observers.locals.iter().filter(|((f, ..), _)| *f == function).collect();
        let observed: Vec<(u32, Place, Place)> = observed
            .into_iter()
            .filter_map(|((_, index, variable, leaf), observer)| {
                let home = Home::Variable(*variable);
                Some((*index, *self.cells.get(&(home, *leaf))?, *observer))
            })
            .collect();
        let writes_local = !is_uninitialised
            && data.arcs.iter().any(|arc| {
                matches!(arc, ArcData::Write { place, .. } if observed.iter().any(|(_, cell, _)| cell == place))
            });
        if begins.is_none() && !returns_to_itself && !writes_local {
            return;
        }
        let mut editor = Editor { lowerer: self, transition };
        let threads: Vec<Expr> = cells.iter().map(|&cell| editor.read(cell, vec![])).collect();
        let mut writes = Vec::new();
        if let Some(thread) = &begins {
            let number = binary(BinaryOp::Add, thread.clone(), Expr::Const(1));
            for (position, cell) in cells.iter().enumerate() {
                let when = Some(is_new(&threads, position, &number));
                writes.push(ArcData::Write { place: *cell, key: vec![], value: number.clone(), when });
            }
        }
        for (index, cell, observer) in observed {
            let position = index as usize;
            // The thread of this step, or the one that begins with it, is the one that is observed.
            let is_observed = |thread: &Expr| {
                let number = binary(BinaryOp::Add, thread.clone(), Expr::Const(1));
                let same = Expr::equal(threads[position].clone(), number.clone());
                if begins.is_none() {
                    return same;
                }
                Expr::cond(threads[position].clone(), same, is_new(&threads, position, &number))
            };
            editor.follow(cell, observer, begins.as_ref(), returns_to_itself, &is_observed, &mut writes);
        }
        let arcs = &mut self.net.transitions[transition].arcs;
        arcs.extend(writes);
    }
}

/// Whether the thread with this number plus one becomes the `position`-th: that one is not known yet, all
/// before it are, and none of them is this thread.
fn is_new(threads: &[Expr], position: usize, number: &Expr) -> Expr {
    let mut condition = Expr::logical_not(threads[position].clone());
    for earlier in &threads[..position] {
        let known = Expr::truth(earlier.clone());
        let other = Expr::logical_not(Expr::equal(earlier.clone(), number.clone()));
        condition = Expr::both(condition, Expr::both(known, other));
    }
    condition
}

/// Adds arcs to one transition.
struct Editor<'a, 'b> {
    lowerer: &'a mut Lowerer<'b>,
    transition: Transition,
}

impl Editor<'_, '_> {
    fn read(&mut self, place: Place, key: Vec<Expr>) -> Expr {
        let net = &mut self.lowerer.net;
        let base = *net.components(place).last().expect("cells have a value");
        let name = net.places[place].name.clone();
        let data = &mut net.transitions[self.transition];
        let var = data.vars.push(VarData { name, base, choice: None, note: None });
        data.arcs.push(ArcData::Read { place, key, var, when: None });
        Expr::Var(var)
    }

    /// The observer follows the cell: what the step writes to it, zero for a new activation, and the
    /// caller's value after a return.
    fn follow(
        &mut self,
        cell: Place,
        observer: Place,
        begins: Option<&Expr>,
        returns: bool,
        is_observed: &dyn Fn(&Expr) -> Expr,
        writes: &mut Vec<ArcData>,
    ) {
        let length = self.lowerer.net.places[cell].cells().and_then(|cells| cells.length);
        let indices: Vec<Vec<Expr>> = match length {
            None => vec![vec![]],
            Some(length) => (0..length).map(|index| vec![Expr::Const(i64::from(index))]).collect(),
        };
        if let Some(thread) = begins {
            for key in indices.clone() {
                let when = Some(is_observed(thread));
                writes.push(ArcData::Write { place: observer, key, value: Expr::Const(0), when });
            }
        }
        if returns {
            for key in indices {
                let mut frame = frame_key();
                frame.extend(key.clone());
                let value = self.read(cell, frame);
                let when = Some(is_observed(&TransitionBuilder::thread()));
                writes.push(ArcData::Write { place: observer, key, value, when });
            }
        }
        for arc in &self.lowerer.net.transitions[self.transition].arcs {
            if let ArcData::Write { place, key, value, when } = arc
                && *place == cell
            {
                let observed = is_observed(&key[0]);
                let when = Some(match when {
                    None => observed,
                    Some(when) => Expr::both(when.clone(), observed),
                });
                let key = key[2..].to_vec();
                writes.push(ArcData::Write { place: observer, key, value: value.clone(), when });
            }
        }
    }
}
