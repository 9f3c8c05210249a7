//! What a program does as a whole: who calls whom, which functions threads start in, and which variables
//! several threads can reach.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{
    Callee, Expr, ExprKind, Function, Init, Lvalue, LvalueKind, Program, Stmt, StmtKind, Storage, Variable,
};
use crate::types::Type;

/// The survey of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    /// Functions with a body that some thread can run, in order of discovery from `main`.
    pub(crate) reachable: Vec<Function>,
    /// Functions that are given to `pthread_create`.
    pub(crate) start_routines: BTreeSet<Function>,
    /// Functions whose result some caller uses.
    pub(crate) result_used: BTreeSet<Function>,
    /// Functions that can call themselves, directly or not.
    pub(crate) recursive: BTreeSet<Function>,
    /// Functions that are called by functions other than themselves on a cycle of calls.
    pub(crate) mutually_recursive: BTreeSet<Function>,
    /// The longest chain of calls, where no function is recursive.
    pub(crate) max_chain: Option<u32>,
    /// Whether some join asks for the thread's result.
    pub(crate) joins_result: bool,
    /// Functions that can begin or end an atomic section by a call of their own.
    pub(crate) moves_atomic: BTreeSet<Function>,
    /// Variables that several threads can reach, and that some thread writes.
    pub(crate) shared: BTreeSet<Variable>,
    /// Whether a string literal is used as a value other than in the call of a library function.
    pub(crate) string_pointers: bool,
    /// Variables whose address the program keeps, passes on or computes with, in order.
    pub(crate) pointed: BTreeSet<Variable>,
}

/// Surveys the program from `main`.
pub(crate) fn survey(program: &Program) -> Survey {
    let mut facts: BTreeMap<Function, Facts> = BTreeMap::new();
    let mut result = Survey::default();
    let mut queue = vec![program.main];
    while let Some(function) = queue.pop() {
        if facts.contains_key(&function) {
            continue;
        }
        let Some(body) = &program.functions[function].body else { continue };
        result.reachable.push(function);
        let mut walker = Walker { program, facts: Facts::default() };
        walker.stmts(&body.stmts);
        let found = walker.facts;
        queue.extend(found.calls.iter().rev());
        queue.extend(found.starts.iter().rev());
        facts.insert(function, found);
    }
    for data in &program.variables {
        // Static initialisers may hold addresses.
        let mut walker = Walker { program, facts: Facts::default() };
        data.init.iter().for_each(|init| walker.init(init));
        result.pointed.extend(&walker.facts.pointed);
        result.string_pointers |= walker.facts.string_pointers;
    }
    for found in facts.values() {
        result.start_routines.extend(&found.starts);
        result.result_used.extend(&found.used_results);
        result.joins_result |= found.joins_result;
        result.pointed.extend(&found.pointed);
        result.string_pointers |= found.string_pointers;
    }
    for (&function, found) in &facts {
        let reached = reach(&facts, found.calls.iter().copied().chain([function]));
        if reached.iter().any(|reached| facts.get(reached).is_some_and(|found| found.moves_atomic)) {
            result.moves_atomic.insert(function);
        }
    }
    find_recursion(&facts, program.main, &mut result);
    find_shared(program, &facts, &mut result);
    result
}

/// What one function's body does.
#[derive(Clone, Debug, Default)]
struct Facts {
    calls: BTreeSet<Function>,
    starts: BTreeSet<Function>,
    used_results: BTreeSet<Function>,
    reads: BTreeSet<Variable>,
    writes: BTreeSet<Variable>,
    pointed: BTreeSet<Variable>,
    joins_result: bool,
    moves_atomic: bool,
    string_pointers: bool,
}

fn reach(facts: &BTreeMap<Function, Facts>, roots: impl IntoIterator<Item = Function>) -> BTreeSet<Function> {
    let mut seen = BTreeSet::new();
    let mut queue: Vec<Function> = roots.into_iter().collect();
    while let Some(function) = queue.pop() {
        if seen.insert(function)
            && let Some(found) = facts.get(&function)
        {
            queue.extend(&found.calls);
        }
    }
    seen
}

fn find_recursion(facts: &BTreeMap<Function, Facts>, main: Function, result: &mut Survey) {
    for (&function, found) in facts {
        if reach(facts, found.calls.iter().copied()).contains(&function) {
            result.recursive.insert(function);
            let others = found.calls.iter().copied().filter(|callee| *callee != function);
            if can_reach(facts, others, function) {
                result.mutually_recursive.insert(function);
            }
        }
    }
    if result.recursive.is_empty() {
        let mut depths = BTreeMap::new();
        let roots = std::iter::once(main).chain(result.start_routines.iter().copied());
        result.max_chain = roots.map(|root| chain(facts, root, &mut depths)).max();
    }
}

/// Whether one of the functions can call `target`.
fn can_reach(
    facts: &BTreeMap<Function, Facts>,
    from: impl IntoIterator<Item = Function>,
    target: Function,
) -> bool {
    reach(facts, from).contains(&target)
}

/// The number of frames that a thread needs from here on. Only for programs without recursion.
fn chain(facts: &BTreeMap<Function, Facts>, function: Function, depths: &mut BTreeMap<Function, u32>) -> u32 {
    if let Some(&depth) = depths.get(&function) {
        return depth;
    }
    let calls: Vec<Function> =
        facts.get(&function).map_or(Vec::new(), |found| found.calls.iter().copied().collect());
    let depth = 1 + calls.into_iter().map(|callee| chain(facts, callee, depths)).max().unwrap_or(0);
    depths.insert(function, depth);
    depth
}

/// A variable with one object for the process is shared unless only `main`'s thread reaches it, or
/// nobody writes it.
fn find_shared(program: &Program, facts: &BTreeMap<Function, Facts>, result: &mut Survey) {
    let in_threads = reach(facts, result.start_routines.iter().copied());
    for (variable, data) in program.variables.iter_enumerated() {
        if !matches!(data.storage, Storage::Global | Storage::Static(_)) {
            continue;
        }
        let touched = |function: &Function| {
            facts.get(function).is_some_and(|f| f.reads.contains(&variable) || f.writes.contains(&variable))
        };
        let written = facts.values().any(|found| found.writes.contains(&variable));
        // Through a pointer, any thread may come.
        let pointed = result.pointed.contains(&variable) && !result.start_routines.is_empty();
        if pointed || (written && in_threads.iter().any(touched)) {
            result.shared.insert(variable);
        }
    }
}

/// The functions that begin and end atomic sections.
pub(crate) const ATOMIC_BOUNDARIES: [&str; 4] =
    ["__VERIFIER_atomic_begin", "__VERIFIER_atomic_end", "__ESBMC_atomic_begin", "__ESBMC_atomic_end"];

/// Whether the statements can begin or end an atomic section.
pub(crate) fn moves_atomic(program: &Program, survey: &Survey, stmts: &[Stmt]) -> bool {
    let mut walker = Walker { program, facts: Facts::default() };
    walker.stmts(stmts);
    walker.facts.moves_atomic || walker.facts.calls.iter().any(|callee| survey.moves_atomic.contains(callee))
}

/// The type `void *`.
pub(crate) fn void_pointer() -> Type {
    Type::Pointer(Box::new(Type::Void.into()))
}

/// Removes casts around an expression.
pub(crate) fn strip_casts(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(inner) => strip_casts(inner),
        _ => expr,
    }
}

/// Whether the expression is the null pointer or the integer 0.
pub(crate) fn is_null(expr: &Expr) -> bool {
    matches!(strip_casts(expr).kind, ExprKind::Int(0))
}

struct Walker<'a> {
    program: &'a Program,
    facts: Facts,
}

impl Walker<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr, false),
            StmtKind::Declare(_, init) => {
                if let Some(init) = init {
                    self.init(init);
                }
            }
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::If(condition, then, otherwise) => {
                self.expr(condition, true);
                self.stmt(then);
                if let Some(otherwise) = otherwise {
                    self.stmt(otherwise);
                }
            }
            StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
                self.expr(condition, true);
                self.stmt(body);
            }
            StmtKind::For(init, condition, step, body) => {
                self.stmts(init);
                condition.iter().for_each(|condition| self.expr(condition, true));
                step.iter().for_each(|step| self.expr(step, false));
                self.stmt(body);
            }
            StmtKind::Switch(value, body) => {
                self.expr(value, true);
                self.stmt(body);
            }
            StmtKind::Case(_, _, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => {
                self.stmt(body)
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.expr(value, true)),
            StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Asm => {}
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Value(value) => self.expr(value, true),
            Init::List(items) => items.iter().for_each(|(_, value)| self.expr(value, true)),
            Init::SyncDefault => {}
        }
    }

    fn expr(&mut self, expr: &Expr, used: bool) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Unsupported(_) | ExprKind::FunctionRef(_) => {}
            ExprKind::Load(lvalue) => {
                self.facts.reads.extend(root(lvalue));
                self.lvalue(lvalue);
            }
            // What is behind an address can be read and written.
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => {
                self.facts.reads.extend(root(lvalue));
                self.facts.writes.extend(root(lvalue));
                self.facts.pointed.extend(root(lvalue));
                self.facts.string_pointers |= matches!(lvalue.kind, LvalueKind::String(_));
                self.lvalue(lvalue);
            }
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => self.expr(operand, used),
            ExprKind::Binary(_, left, right)
            | ExprKind::PointerDifference(left, right)
            | ExprKind::LogicalAnd(left, right)
            | ExprKind::LogicalOr(left, right)
            | ExprKind::PointerOffset { pointer: left, offset: right, .. } => {
                self.expr(left, true);
                self.expr(right, true);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.expr(condition, true);
                self.expr(then, used);
                self.expr(otherwise, used);
            }
            ExprKind::Comma(left, right) => {
                self.expr(left, false);
                self.expr(right, used);
            }
            ExprKind::Assign(target, value) => {
                self.facts.writes.extend(root(target));
                self.lvalue(target);
                self.expr(value, true);
            }
            ExprKind::CompoundAssign { target, value, .. } => {
                self.facts.reads.extend(root(target));
                self.facts.writes.extend(root(target));
                self.lvalue(target);
                self.expr(value, true);
            }
            ExprKind::Step { target, .. } => {
                self.facts.reads.extend(root(target));
                self.facts.writes.extend(root(target));
                self.lvalue(target);
            }
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, used),
            ExprKind::Statement(stmts) => self.stmts(stmts),
        }
    }

    fn call(&mut self, callee: &Callee, arguments: &[Expr], used: bool) {
        let function = match callee {
            Callee::Direct(function) => *function,
            Callee::Indirect(pointer) => {
                arguments.iter().for_each(|argument| self.expr(argument, true));
                return self.expr(pointer, true);
            }
        };
        let data = &self.program.functions[function];
        for (position, argument) in arguments.iter().enumerate() {
            let known = self.facts.pointed.clone();
            let strings = self.facts.string_pointers;
            self.expr(argument, true);
            // A library function uses the address while it runs and forgets it, but for the argument of a
            // thread.
            let keeps = data.body.is_some() || (data.name == "pthread_create" && position == 3);
            if !keeps {
                self.facts.pointed = known;
                self.facts.string_pointers = strings;
            }
        }
        if data.body.is_some() {
            self.facts.calls.insert(function);
            if used {
                self.facts.used_results.insert(function);
            }
            return;
        }
        match (data.name.as_str(), arguments) {
            ("pthread_create", [_, _, start, _]) => {
                if let ExprKind::FunctionRef(start) = strip_casts(start).kind {
                    self.facts.starts.insert(start);
                }
            }
            ("pthread_join", [_, result]) => self.facts.joins_result |= !is_null(result),
            (name, _) if ATOMIC_BOUNDARIES.contains(&name) => self.facts.moves_atomic = true,
            _ => {}
        }
    }

    fn lvalue(&mut self, lvalue: &Lvalue) {
        match &lvalue.kind {
            LvalueKind::Variable(_) | LvalueKind::String(_) => {}
            LvalueKind::Index(base, index) => {
                self.lvalue(base);
                self.expr(index, true);
            }
            LvalueKind::Deref(pointer) => self.expr(pointer, true),
            LvalueKind::Field(base, _) => self.lvalue(base),
            LvalueKind::Compound(_, init) => self.init(init),
        }
    }
}

/// The variable that an lvalue is a part of, where it is reached without a pointer.
pub(crate) fn root(lvalue: &Lvalue) -> Option<Variable> {
    match &lvalue.kind {
        LvalueKind::Variable(variable) | LvalueKind::Compound(variable, _) => Some(*variable),
        LvalueKind::Index(base, _) | LvalueKind::Field(base, _) => root(base),
        LvalueKind::Deref(_) | LvalueKind::String(_) => None,
    }
}
