//! What a program does as a whole: who calls whom, which functions threads start in, and which variables
//! several threads can reach.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_source::Span;

use super::blocks::left_behind;
use super::cancel::is_cancellation_point;
use super::points_to::{self, ALLOCATORS, Home, Homes, PointsTo};
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
    /// Objects that several threads can reach, and that some thread writes.
    pub(crate) shared: BTreeSet<Home>,
    /// Objects that a pointer may point to after they have gone.
    pub(crate) outlived: BTreeSet<Home>,
    /// Locals of blocks that a pointer may point to when the block has been left.
    pub(crate) left_behind: BTreeSet<Variable>,
    /// How often a thread can allocate memory at each site at most, counted up to [`MANY`].
    pub(crate) n_blocks: BTreeMap<usize, u32>,
    /// Functions that only the thread of `main` runs.
    pub(crate) only_main: BTreeSet<Function>,
    /// Allocated memory that some call frees.
    pub(crate) freed: BTreeSet<Home>,
    /// The functions without a body that are called.
    pub(crate) library: BTreeSet<String>,
    /// The kinds of mutexes that there can be, beside normal ones.
    pub(crate) kinds: Kinds,
    /// Functions that can end their thread by a call.
    pub(crate) may_exit: BTreeSet<Function>,
    /// How many keys of thread-specific values the process can create, counted up to [`MANY`].
    pub(crate) n_keys: u32,
    /// What pointers point to.
    pub(crate) points_to: PointsTo,
}

/// Kinds of mutexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) recursive: bool,
    pub(crate) checking: bool,
}

impl Kinds {
    /// Some mutex is none of the normal ones.
    pub(crate) const fn any(self) -> bool {
        self.recursive || self.checking
    }

    fn add(&mut self, kind: i128) {
        self.recursive |= kind == 1;
        self.checking |= kind == 2;
    }
}

impl Survey {
    /// Whether one of these library functions is called.
    pub(crate) fn calls_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.library.contains(*name))
    }
}

/// More often than anybody counts.
pub(crate) const MANY: u32 = 64;

/// Surveys the program from `main`.
pub(crate) fn survey(program: &Program) -> Survey {
    let points_to = points_to::analyse(program);
    let mut facts: BTreeMap<Function, Facts> = BTreeMap::new();
    let mut result = Survey { reachable: points_to.reachable.clone(), ..Survey::default() };
    for &function in &result.reachable {
        let Some(body) = &program.functions[function].body else { continue };
        let mut walker = Walker { program, points_to: &points_to, facts: Facts::default(), loops: 0 };
        walker.facts.jumps = !body.labels.is_empty();
        walker.stmts(&body.stmts);
        facts.insert(function, walker.facts);
    }
    result.start_routines = points_to.starts.iter().copied().filter(|f| facts.contains_key(f)).collect();
    // The library calls these at the end of a thread.
    let roots: Vec<Function> = result.start_routines.iter().copied().chain([program.main]).collect();
    for root in roots {
        if let Some(found) = facts.get_mut(&root) {
            for &function in &points_to.called_back {
                found.calls.entry(function).or_insert(1);
            }
        }
    }
    let cancels = facts.values().any(|found| found.library.contains("pthread_cancel"));
    for found in facts.values_mut().filter(|_| cancels) {
        if found.library.iter().any(|name| is_cancellation_point(name)) {
            found.exits = true;
            for &function in &points_to.at_exit {
                found.calls.entry(function).or_insert(1);
            }
        }
    }
    for found in facts.values() {
        result.result_used.extend(&found.used_results);
        result.joins_result |= found.joins_result;
        result.freed.extend(&found.frees);
        result.library.extend(found.library.iter().cloned());
        result.kinds.recursive |= found.kinds.recursive;
        result.kinds.checking |= found.kinds.checking;
    }
    for data in &program.variables {
        data.init.iter().for_each(|init| init_kinds(init, &mut result.kinds));
    }
    result.moves_atomic = coming_to(&facts, |found| found.moves_atomic);
    result.may_exit = coming_to(&facts, |found| found.exits);
    find_recursion(&facts, program.main, &mut result);
    count_runs(&facts, program.main, &mut result);
    let in_threads = reach(&facts, result.start_routines.iter().copied());
    result.n_keys = count_keys(&facts, &points_to, &in_threads);
    result.only_main = result.reachable.iter().copied().filter(|f| !in_threads.contains(f)).collect();
    find_shared(program, &points_to, &facts, &in_threads, &mut result);
    result.outlived = outlived(program, &points_to, &facts, &result.recursive);
    result.left_behind = left_behind(program, &points_to, &|from, to| {
        reach(&facts, facts.get(&from).into_iter().flat_map(|found| found.calls.keys().copied()))
            .contains(&to)
    });
    result.points_to = points_to;
    result
}

/// What one function's body does.
#[derive(Clone, Debug, Default)]
struct Facts {
    /// The functions that it calls, and how often at most, counted up to [`MANY`].
    calls: BTreeMap<Function, u32>,
    used_results: BTreeSet<Function>,
    /// How often it allocates memory at each site.
    allocations: BTreeMap<usize, u32>,
    reads: Homes,
    writes: Homes,
    /// What it frees.
    frees: Homes,
    joins_result: bool,
    moves_atomic: bool,
    /// It has labels: anything in it can happen again.
    jumps: bool,
    /// It calls `pthread_exit`, or what ends a cancelled thread.
    exits: bool,
    /// How many keys it creates.
    keys: u32,
    /// The functions without a body that it calls.
    library: BTreeSet<String>,
    kinds: Kinds,
}

/// The kinds of mutexes that an initialiser gives.
fn init_kinds(init: &Init, kinds: &mut Kinds) {
    match init {
        Init::Sync(kind) => kinds.add(*kind),
        Init::List(items) => {
            for (_, value) in items {
                if let (ExprKind::Int(kind), Type::Sync(_)) = (&value.kind, &value.ty) {
                    kinds.add(*kind);
                }
            }
        }
        Init::Value(_) => {}
    }
}

/// How many keys the process can create: one for each call that happens once, else many.
fn count_keys(
    facts: &BTreeMap<Function, Facts>,
    points_to: &PointsTo,
    in_threads: &BTreeSet<Function>,
) -> u32 {
    let mut sum = 0u32;
    for (function, found) in facts.iter().filter(|(_, found)| found.keys > 0) {
        let times: u32 = facts.values().filter_map(|caller| caller.calls.get(function)).sum();
        // What `pthread_once` calls runs once, however many calls there are.
        let is_once = points_to.run_once.contains(function);
        let again = !is_once && (times > 1 || in_threads.contains(function));
        sum = sum.saturating_add(if again { MANY } else { found.keys });
    }
    sum.min(MANY)
}

fn reach(facts: &BTreeMap<Function, Facts>, roots: impl IntoIterator<Item = Function>) -> BTreeSet<Function> {
    let mut seen = BTreeSet::new();
    let mut queue: Vec<Function> = roots.into_iter().collect();
    while let Some(function) = queue.pop() {
        if seen.insert(function)
            && let Some(found) = facts.get(&function)
        {
            queue.extend(found.calls.keys());
        }
    }
    seen
}

/// The functions that can come to do something, themselves or by what they call.
fn coming_to(facts: &BTreeMap<Function, Facts>, does: impl Fn(&Facts) -> bool) -> BTreeSet<Function> {
    let callers = callers(facts);
    let mut seen = BTreeSet::new();
    let doing = facts.iter().filter(|(_, found)| does(found));
    let mut open: Vec<Function> = doing.map(|(&function, _)| function).collect();
    while let Some(function) = open.pop() {
        if seen.insert(function) {
            open.extend(callers.get(&function).into_iter().flatten());
        }
    }
    seen
}

/// The functions that call each function.
fn callers(facts: &BTreeMap<Function, Facts>) -> BTreeMap<Function, Vec<Function>> {
    let mut callers: BTreeMap<Function, Vec<Function>> = BTreeMap::new();
    for (&function, found) in facts {
        for &callee in found.calls.keys() {
            callers.entry(callee).or_default().push(function);
        }
    }
    callers
}

fn find_recursion(facts: &BTreeMap<Function, Facts>, main: Function, result: &mut Survey) {
    for group in calling_each_other(facts) {
        for &function in &group {
            let calls_itself = facts.get(&function).is_some_and(|found| found.calls.contains_key(&function));
            if group.len() > 1 {
                result.mutually_recursive.insert(function);
            }
            if group.len() > 1 || calls_itself {
                result.recursive.insert(function);
            }
        }
    }
    if result.recursive.is_empty() {
        let mut depths = BTreeMap::new();
        let roots = std::iter::once(main).chain(result.start_routines.iter().copied());
        result.max_chain = roots.map(|root| chain(facts, root, &mut depths)).max();
    }
}

/// Functions in groups, such that two are in one group where each can come to call the other: the strongly connected
/// components, by Kosaraju's method.
fn calling_each_other(facts: &BTreeMap<Function, Facts>) -> Vec<Vec<Function>> {
    let callers = callers(facts);
    let all: Vec<Function> = facts.keys().copied().collect();
    let mut groups = Vec::new();
    let mut seen: BTreeSet<Function> = BTreeSet::new();
    for root in callers_first(facts, &all) {
        let mut group = Vec::new();
        let mut open = vec![root];
        while let Some(function) = open.pop() {
            if seen.insert(function) {
                group.push(function);
                open.extend(callers.get(&function).into_iter().flatten());
            }
        }
        if !group.is_empty() {
            groups.push(group);
        }
    }
    groups
}

/// The number of frames that a thread needs from here on. Only for programs without recursion.
fn chain(facts: &BTreeMap<Function, Facts>, function: Function, depths: &mut BTreeMap<Function, u32>) -> u32 {
    if let Some(&depth) = depths.get(&function) {
        return depth;
    }
    let calls: Vec<Function> =
        facts.get(&function).map_or(Vec::new(), |found| found.calls.keys().copied().collect());
    let depth = 1 + calls.into_iter().map(|callee| chain(facts, callee, depths)).max().unwrap_or(0);
    depths.insert(function, depth);
    depth
}

/// The functions that can be called from these, each after its callers where there is no recursion.
fn callers_first(facts: &BTreeMap<Function, Facts>, roots: &[Function]) -> Vec<Function> {
    let mut order = Vec::new();
    let mut seen: BTreeSet<Function> = BTreeSet::new();
    let calls = |function: Function| -> Vec<Function> {
        facts.get(&function).map_or(Vec::new(), |found| found.calls.keys().copied().collect())
    };
    for &root in roots {
        let mut stack = if seen.insert(root) { vec![(root, calls(root))] } else { Vec::new() };
        while let Some((function, open)) = stack.last_mut() {
            match open.pop() {
                Some(callee) if seen.insert(callee) => stack.push((callee, calls(callee))),
                Some(_) => {}
                None => {
                    order.push(*function);
                    stack.pop();
                }
            }
        }
    }
    order.reverse();
    order
}

/// How often one thread can run each function, and so allocate memory.
fn count_runs(facts: &BTreeMap<Function, Facts>, main: Function, result: &mut Survey) {
    let roots: Vec<Function> = std::iter::once(main).chain(result.start_routines.iter().copied()).collect();
    let mut counts: BTreeMap<Function, u32> = BTreeMap::new();
    roots.iter().for_each(|&root| *counts.entry(root).or_default() += 1);
    counts.extend(result.recursive.iter().map(|&function| (function, MANY)));
    // Callers before callees; what is recursive is run many times whoever calls it.
    for function in callers_first(facts, &roots) {
        let Some(&count) = counts.get(&function) else { continue };
        for (&callee, &times) in facts.get(&function).into_iter().flat_map(|found| &found.calls) {
            let sum = counts.entry(callee).or_default();
            *sum = (*sum + count.saturating_mul(times)).min(MANY);
        }
    }
    for (function, found) in facts {
        for (&site, &times) in &found.allocations {
            let sum = result.n_blocks.entry(site).or_default();
            let runs = counts.get(function).copied().unwrap_or(1);
            *sum = (*sum + runs.saturating_mul(times)).min(MANY);
        }
    }
}

/// A variable with one object for the process is shared unless only `main`'s thread reaches it, or nobody
/// writes it. Any other object is shared where a pointer to it can get to another thread.
fn find_shared(
    program: &Program,
    points_to: &PointsTo,
    facts: &BTreeMap<Function, Facts>,
    in_threads: &BTreeSet<Function>,
    result: &mut Survey,
) {
    if result.start_routines.is_empty() {
        return;
    }
    let written: BTreeSet<Home> = facts.values().flat_map(|found| &found.writes).copied().collect();
    let others = in_threads.iter().filter_map(|function| facts.get(function));
    let touched: BTreeSet<Home> =
        others.flat_map(|found| found.reads.iter().chain(&found.writes)).copied().collect();
    for (variable, data) in program.variables.iter_enumerated() {
        let home = Home::Variable(variable);
        let has_one = matches!(data.storage, Storage::Global | Storage::Static(_));
        if has_one && written.contains(&home) && touched.contains(&home) {
            result.shared.insert(home);
        }
    }
    let escaped = points_to.escaped(program).into_iter();
    result.shared.extend(escaped.filter(|home| match home {
        Home::Variable(variable) => {
            !matches!(program.variables[*variable].storage, Storage::Global | Storage::Static(_))
        }
        Home::Heap(_) => true,
        Home::Text(_) | Home::Function(_) | Home::Outside => false,
    }));
}

/// Objects to which pointers get that may live longer than a frame.
fn outlived(
    program: &Program,
    points_to: &PointsTo,
    facts: &BTreeMap<Function, Facts>,
    recursive: &BTreeSet<Function>,
) -> BTreeSet<Home> {
    let mut found = points_to.escaped(program);
    let mut queue: Vec<Home> = points_to.returned().collect();
    queue.extend((0..points_to.sites.len()).flat_map(|site| points_to.contents(Home::Heap(site))));
    while let Some(home) = queue.pop() {
        if found.insert(home) {
            queue.extend(points_to.contents(home));
        }
    }
    // A local of a function may keep a pointer to one of the functions that it calls.
    let owner = |home: Home| match home {
        Home::Variable(variable) => match program.variables[variable].storage {
            Storage::Local(function) | Storage::Param(function) => Some(function),
            _ => None,
        },
        Home::Heap(_) | Home::Text(_) | Home::Function(_) | Home::Outside => None,
    };
    for variable in program.variables.indices() {
        let home = Home::Variable(variable);
        let Some(keeper) = owner(home) else { continue };
        let others = points_to.contents(home).filter_map(|to| owner(to).map(|function| (to, function)));
        let others: Vec<(Home, Function)> = others.collect();
        if others.iter().all(|(_, function)| *function == keeper && !recursive.contains(function)) {
            continue;
        }
        let below =
            reach(facts, facts.get(&keeper).into_iter().flat_map(|found| found.calls.keys().copied()));
        found.extend(others.iter().filter(|(_, function)| below.contains(function)).map(|(to, _)| *to));
    }
    found
}

/// The functions that begin and end atomic sections.
pub(crate) const ATOMIC_BOUNDARIES: [&str; 4] =
    ["__VERIFIER_atomic_begin", "__VERIFIER_atomic_end", "__ESBMC_atomic_begin", "__ESBMC_atomic_end"];

/// Whether the statements can begin or end an atomic section.
pub(crate) fn moves_atomic(program: &Program, survey: &Survey, stmts: &[Stmt]) -> bool {
    let points_to = &survey.points_to;
    let mut walker = Walker { program, points_to, facts: Facts::default(), loops: 0 };
    walker.stmts(stmts);
    walker.facts.moves_atomic || walker.facts.calls.keys().any(|callee| survey.moves_atomic.contains(callee))
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
    points_to: &'a PointsTo,
    facts: Facts,
    /// How many loops it is in.
    loops: u32,
}

impl Walker<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr, false),
            StmtKind::Declare(variable, init) => {
                if let Some(init) = init {
                    self.facts.writes.insert(Home::Variable(*variable));
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
                self.loops += 1;
                self.expr(condition, true);
                self.stmt(body);
                self.loops -= 1;
            }
            StmtKind::For(init, condition, step, body) => {
                self.stmts(init);
                self.loops += 1;
                condition.iter().for_each(|condition| self.expr(condition, true));
                step.iter().for_each(|step| self.expr(step, false));
                self.stmt(body);
                self.loops -= 1;
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
            Init::Sync(_) => {}
        }
        init_kinds(init, &mut self.facts.kinds);
    }

    fn reads(&mut self, lvalue: &Lvalue) {
        let objects = self.points_to.objects(self.program, lvalue);
        self.facts.reads.extend(objects);
    }

    fn writes(&mut self, lvalue: &Lvalue) {
        let objects = self.points_to.objects(self.program, lvalue);
        self.facts.writes.extend(objects);
    }

    fn expr(&mut self, expr: &Expr, used: bool) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Unsupported(_) | ExprKind::FunctionRef(_) => {}
            ExprKind::Load(lvalue) => {
                self.reads(lvalue);
                self.lvalue(lvalue);
            }
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => self.lvalue(lvalue),
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
                self.writes(target);
                self.lvalue(target);
                self.expr(value, true);
            }
            ExprKind::CompoundAssign { target, value, .. } => {
                self.reads(target);
                self.writes(target);
                self.lvalue(target);
                self.expr(value, true);
            }
            ExprKind::Step { target, .. } => {
                self.reads(target);
                self.writes(target);
                self.lvalue(target);
            }
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, used, expr.span),
            ExprKind::Statement(stmts) => self.stmts(stmts),
        }
    }

    /// How often something at this place can happen.
    const fn times(&self) -> u32 {
        if self.loops > 0 || self.facts.jumps { MANY } else { 1 }
    }

    fn calls(&mut self, function: Function) {
        let times = self.times();
        let count = self.facts.calls.entry(function).or_default();
        *count = (*count + times).min(MANY);
    }

    fn call(&mut self, callee: &Callee, arguments: &[Expr], used: bool, span: Span) {
        if let Callee::Indirect(pointer) = callee {
            self.expr(pointer, true);
        }
        arguments.iter().for_each(|argument| self.expr(argument, true));
        for function in self.points_to.callees(self.program, callee) {
            let data = &self.program.functions[function];
            if data.body.is_some() {
                self.calls(function);
                if used {
                    self.facts.used_results.insert(function);
                }
                continue;
            }
            if let (true, Some(site)) =
                (ALLOCATORS.contains(&data.name.as_str()), self.points_to.site_number(span))
            {
                let times = self.times();
                let count = self.facts.allocations.entry(site).or_default();
                *count = (*count + times).min(MANY);
            }
            self.facts.library.insert(data.name.clone());
            let is_create = matches!(data.name.as_str(), "pthread_create" | "thrd_create");
            let n_looked_at = if is_create { 1 } else { arguments.len() };
            for argument in &arguments[..n_looked_at.min(arguments.len())] {
                // A library function may read and write what is behind its arguments.
                let objects = self.points_to.value(self.program, argument);
                for &home in &objects {
                    if let Home::Function(function) = home
                        && self.points_to.called_back.contains(&function)
                    {
                        self.calls(function);
                    }
                }
                self.facts.reads.extend(&objects);
                self.facts.writes.extend(&objects);
            }
            match (data.name.as_str(), arguments) {
                ("pthread_join" | "thrd_join" | "pthread_tryjoin_np", [_, result])
                | ("pthread_timedjoin_np", [_, result, _])
                | ("pthread_clockjoin_np", [_, result, _, _]) => {
                    self.facts.joins_result |= !is_null(result);
                }
                ("free" | "realloc", [block, ..]) => {
                    self.facts.frees.extend(self.points_to.value(self.program, block));
                }
                ("pthread_mutexattr_settype", [_, kind]) => self.kind(kind, |kind| kind),
                ("mtx_init", [_, kind]) => self.kind(kind, |kind| kind & 1),
                ("pthread_key_create" | "tss_create", _) => {
                    self.facts.keys = (self.facts.keys + self.times()).min(MANY);
                }
                ("pthread_exit" | "thrd_exit", _) => {
                    self.facts.exits = true;
                    let points_to = self.points_to;
                    points_to.at_exit.iter().for_each(|&function| self.calls(function));
                }
                (name, _) if ATOMIC_BOUNDARIES.contains(&name) => self.facts.moves_atomic = true,
                _ => {}
            }
        }
    }

    /// A mutex may be of the kind that an argument says.
    fn kind(&mut self, argument: &Expr, of: impl Fn(i128) -> i128) {
        match strip_casts(argument).kind {
            ExprKind::Int(kind) => self.facts.kinds.add(of(kind)),
            _ => (1..=2).for_each(|kind| self.facts.kinds.add(of(kind))),
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
            LvalueKind::Compound(variable, init) => {
                self.facts.writes.insert(Home::Variable(*variable));
                self.init(init);
            }
        }
    }
}
