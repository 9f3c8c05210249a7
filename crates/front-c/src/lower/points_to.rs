//! Points-to analysis: which objects an expression's value can point to.
//!
//! Inclusion-based (Andersen 1994), flow- and context-insensitive: an object is a variable, a place in the
//! program where memory is allocated, a string literal, or a function, and has one set of objects that its
//! contents, whichever part, can point to. Integers may carry pointers. Functions that are reached through
//! pointers are found on the way. What an access through a pointer touches is then on the arcs of the net;
//! that a pointer really is one of these is checked when the step fires, so that the analysis decides about
//! precision, never about a verdict.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::Idx as _;
use pdnet_source::Span;

use super::largest::Largest;
use super::shape::{self, Spot};
use crate::tree::{
    Callee, Expr, ExprKind, Function, Init, Lvalue, LvalueKind, Program, Stmt, StmtKind, Storage, Variable,
};
use crate::types::Type;

/// An object that a pointer can point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Home {
    Variable(Variable),
    /// The memory that an allocation gives, by the number of the site.
    Heap(usize),
    /// A string literal, by its number.
    Text(usize),
    Function(Function),
    /// What the environment has and nothing is known of, such as the strings behind `argv`.
    Outside,
}

/// A set of objects.
pub(crate) type Homes = BTreeSet<Home>;

/// A call that allocates memory.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) span: Span,
    /// The function with the call.
    pub(crate) function: Function,
    /// How many bytes it allocates, where that is constant.
    pub(crate) size: Option<u64>,
    /// How many it allocates at most, as far as that is known.
    pub(crate) most: Option<u64>,
    /// The type of the objects in it, as far as the program shows it.
    pub(crate) element: Option<Type>,
    /// All of it is 0 at first.
    pub(crate) is_zeroed: bool,
    /// The element type comes from the call itself.
    is_sure: bool,
}

/// The result of the analysis.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointsTo {
    /// What the contents of objects can point to.
    contents: BTreeMap<Home, Homes>,
    /// What the results of functions can point to.
    results: BTreeMap<Function, Homes>,
    /// The results of threads.
    thread_results: Homes,
    /// The arguments of threads.
    thread_arguments: Homes,
    /// Values under keys of threads.
    specific: Homes,
    pub(crate) sites: Vec<Site>,
    site_numbers: BTreeMap<(u32, u32, u32), usize>,
    pub(crate) texts: Vec<Vec<u8>>,
    text_numbers: BTreeMap<Vec<u8>, usize>,
    /// Functions with a body that some thread can run, in order of discovery from `main`.
    pub(crate) reachable: Vec<Function>,
    /// Functions that threads start in.
    pub(crate) starts: BTreeSet<Function>,
    /// Functions that run at the end of the process or of a thread, or once: called by the library.
    pub(crate) called_back: BTreeSet<Function>,
    /// Those of them that run at the end of a thread.
    pub(crate) at_exit: BTreeSet<Function>,
    /// Those of them that run once.
    pub(crate) run_once: BTreeSet<Function>,
    /// Objects whose address is a value somewhere, in the order of their numbers.
    numbers: BTreeMap<Home, i64>,
    /// How large integers in variables can be.
    largest: Largest,
    /// The types of pointers to objects, where a cast made them.
    seen_as: BTreeMap<Home, Vec<Type>>,
    /// Objects of which a part is looked at through a pointer to a type that does not fit.
    misfits: Homes,
    /// Objects that are kept as their bytes, since the program looks at them as if they were others.
    pub(crate) as_bytes: BTreeSet<Home>,
    /// Objects of which that is not sure, or not possible.
    pub(crate) mixed: BTreeSet<Home>,
}

/// The most bytes of a variable that is kept as its bytes.
const MAX_BYTES: u64 = 64;

impl PointsTo {
    /// What the contents of an object can point to.
    pub(crate) fn contents(&self, home: Home) -> impl Iterator<Item = Home> {
        self.contents.get(&home).into_iter().flatten().copied()
    }

    /// All objects with contents that can point somewhere, and where to.
    pub(crate) fn all_contents(&self) -> impl Iterator<Item = (Home, &Homes)> {
        self.contents.iter().map(|(home, contents)| (*home, contents))
    }

    /// Whether the address of a local is a value somewhere.
    pub(crate) fn points_to_frame(&self, program: &Program) -> bool {
        self.numbers.keys().any(|home| match home {
            Home::Variable(variable) => {
                matches!(program.variables[*variable].storage, Storage::Local(_) | Storage::Param(_))
            }
            Home::Heap(_) | Home::Text(_) | Home::Function(_) | Home::Outside => false,
        })
    }

    /// What functions return pointers to.
    pub(crate) fn returned(&self) -> impl Iterator<Item = Home> {
        self.results.values().flatten().chain(&self.specific).copied()
    }

    /// The number of an object, counted from 1.
    pub(crate) fn number(&self, home: Home) -> Option<i64> {
        self.numbers.get(&home).copied()
    }

    /// The objects whose address is a value somewhere.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = Home> {
        self.numbers.keys().copied()
    }

    /// The number of the string.
    pub(crate) fn text_number(&self, text: &[u8]) -> Option<usize> {
        self.text_numbers.get(text).copied()
    }

    /// The number of the allocation at this place of the source.
    pub(crate) fn site_number(&self, span: Span) -> Option<usize> {
        self.site_numbers.get(&key(span)).copied()
    }

    /// Objects that more than one thread can reach through pointers.
    pub(crate) fn escaped(&self, program: &Program) -> Homes {
        let mut escaped = Homes::new();
        let mut queue: Vec<Home> = self.thread_arguments.iter().copied().collect();
        queue.extend(&self.thread_results);
        for (variable, data) in program.variables.iter_enumerated() {
            if matches!(data.storage, Storage::Global | Storage::Static(_)) {
                queue.extend(self.contents(Home::Variable(variable)));
            }
        }
        while let Some(home) = queue.pop() {
            if escaped.insert(home) {
                queue.extend(self.contents(home));
            }
        }
        escaped
    }

    /// The objects that the value of an expression can point to.
    pub(crate) fn value(&self, program: &Program, expr: &Expr) -> Homes {
        let value = |expr: &Expr| self.value(program, expr);
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Unsupported(_) => Homes::new(),
            ExprKind::FunctionRef(function) => [Home::Function(*function)].into(),
            ExprKind::Load(lvalue) => self.load(&self.objects(program, lvalue)),
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => self.objects(program, lvalue),
            ExprKind::Unary(_, operand) | ExprKind::Cast(operand) => value(operand),
            ExprKind::Binary(_, left, right) => {
                if is_comparison(expr) {
                    return Homes::new();
                }
                &value(left) | &value(right)
            }
            ExprKind::PointerOffset { pointer, .. } => value(pointer),
            ExprKind::PointerDifference(..) | ExprKind::LogicalAnd(..) | ExprKind::LogicalOr(..) => {
                Homes::new()
            }
            ExprKind::Conditional(_, then, otherwise) => &value(then) | &value(otherwise),
            ExprKind::Comma(_, right) => value(right),
            ExprKind::Assign(_, right) => value(right),
            ExprKind::CompoundAssign { target, value: right, .. } => {
                &self.load(&self.objects(program, target)) | &value(right)
            }
            ExprKind::Step { target, .. } => self.load(&self.objects(program, target)),
            ExprKind::Call(callee, arguments) => self.call_result(program, callee, arguments, expr.span),
            ExprKind::Statement(stmts) => match stmts.last().map(|last| &last.kind) {
                Some(StmtKind::Expr(last)) => value(last),
                _ => Homes::new(),
            },
        }
    }

    /// The objects that an lvalue can be a part of.
    pub(crate) fn objects(&self, program: &Program, lvalue: &Lvalue) -> Homes {
        match &lvalue.kind {
            LvalueKind::Variable(variable) | LvalueKind::Compound(variable, _) => {
                [Home::Variable(*variable)].into()
            }
            LvalueKind::Index(base, _) | LvalueKind::Field(base, _) => self.objects(program, base),
            LvalueKind::Deref(pointer) => self.value(program, pointer),
            LvalueKind::String(text) => {
                self.text_numbers.get(text).map(|&number| Home::Text(number)).into_iter().collect()
            }
        }
    }

    /// The functions that a call can call.
    pub(crate) fn callees(&self, program: &Program, callee: &Callee) -> Vec<Function> {
        match callee {
            Callee::Direct(function) => vec![crate::library::resolve(program, *function)],
            Callee::Indirect(pointer) => functions(&self.value(program, pointer)).collect(),
        }
    }

    fn load(&self, objects: &Homes) -> Homes {
        objects.iter().flat_map(|&home| self.contents(home)).collect()
    }

    fn call_result(&self, program: &Program, callee: &Callee, arguments: &[Expr], span: Span) -> Homes {
        let mut result = Homes::new();
        for function in self.callees(program, callee) {
            let data = &program.functions[function];
            if data.body.is_some() {
                result.extend(self.results.get(&function).into_iter().flatten());
                continue;
            }
            let argument =
                |at: usize| arguments.get(at).map(|arg| self.value(program, arg)).unwrap_or_default();
            match library(&data.name) {
                Library::Allocates => result.extend(self.site_number(span).map(Home::Heap)),
                Library::CopiesTo => result.extend(argument(0)),
                Library::Finds => result.extend(argument(0)),
                Library::Specific => result.extend(&self.specific),
                Library::Atomic => {
                    result.extend(self.load(&argument(0)));
                    result.extend(argument(1));
                }
                Library::Other if super::input::gives_outside(&data.name) => {
                    result.insert(Home::Outside);
                }
                Library::Other => {}
            }
        }
        result
    }
}

/// What a library function does with pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Library {
    Allocates,
    /// Copies what is behind the second argument to what is behind the first, and gives the first.
    CopiesTo,
    /// Gives a pointer into what is behind the first argument.
    Finds,
    /// Gives the value under a key.
    Specific,
    /// Works on what is behind its first argument with the others.
    Atomic,
    Other,
}

/// Functions that allocate memory.
pub(crate) const ALLOCATORS: [&str; 8] =
    ["malloc", "calloc", "realloc", "alloca", "__builtin_alloca", "aligned_alloc", "memalign", "valloc"];

fn library(name: &str) -> Library {
    match name {
        name if ALLOCATORS.contains(&name) => Library::Allocates,
        "memcpy" | "memmove" | "__builtin_memcpy" | "__builtin_memmove" | "strcpy" | "strncpy" | "strcat"
        | "strncat" | "memset" | "__builtin_memset" => Library::CopiesTo,
        "strchr" | "strrchr" | "strstr" | "memchr" | "strpbrk" => Library::Finds,
        "pthread_getspecific" | "tss_get" => Library::Specific,
        name if name.starts_with("__atomic_")
            || name.starts_with("__sync_")
            || name.starts_with("atomic_") =>
        {
            Library::Atomic
        }
        _ => Library::Other,
    }
}

fn functions(homes: &Homes) -> impl Iterator<Item = Function> {
    homes.iter().filter_map(|home| match home {
        Home::Function(function) => Some(*function),
        Home::Variable(_) | Home::Heap(_) | Home::Text(_) | Home::Outside => None,
    })
}

fn is_comparison(expr: &Expr) -> bool {
    use crate::tree::BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(expr.kind, ExprKind::Binary(Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual, ..))
}

fn key(span: Span) -> (u32, u32, u32) {
    (u32::try_from(span.file.index()).unwrap_or(u32::MAX), span.start, span.end)
}

/// Analyses the program from `main`.
pub(crate) fn analyse(program: &Program) -> PointsTo {
    let mut analysis = Analysis { program, found: PointsTo::default(), changed: true, at: program.main };
    analysis.found.reachable.push(program.main);
    // What is behind `argv` and the like comes from outside, and so does what is behind that.
    analysis.point_at(&[Home::Outside].into());
    let mut from_outside: Homes = [Home::Outside].into();
    for &parameter in &program.functions[program.main].params {
        if matches!(program.variables[parameter].ty.ty, Type::Pointer(_)) {
            from_outside.insert(Home::Variable(parameter));
        }
    }
    analysis.add_contents(&from_outside, &[Home::Outside].into());
    while std::mem::take(&mut analysis.changed) {
        for (variable, data) in program.variables.iter_enumerated() {
            if let Some(init) = &data.init {
                analysis.init(variable, init);
            }
        }
        let mut at = 0;
        while let Some(&function) = analysis.found.reachable.get(at) {
            analysis.at = function;
            if let Some(body) = &program.functions[function].body {
                analysis.stmts(&body.stmts);
            }
            at += 1;
        }
    }
    let mut found = analysis.found;
    find_mixed(program, &mut found);
    for (number, home) in (1..).zip(found.numbers.values_mut()) {
        *home = number;
    }
    found
}

/// Finds the objects of which the program sees what is not there.
fn find_mixed(program: &Program, found: &mut PointsTo) {
    for (&home, types) in &found.seen_as {
        let object = match home {
            Home::Variable(variable) => program.variables[variable].ty.ty.clone(),
            Home::Heap(site) => {
                let site = &found.sites[site];
                let element = site.element.clone().unwrap_or(Type::Int(crate::types::IntKind::Char));
                let size = shape::size_of(program, &element).unwrap_or(1).max(1);
                let count = site.size.map_or(1, |bytes| bytes.div_ceil(size));
                Type::Array(Box::new(element.into()), Some(count.max(1)))
            }
            Home::Text(_) | Home::Function(_) | Home::Outside => continue,
        };
        let shows = |spot| types.iter().all(|seen| shape::shows(program, &object, seen, spot));
        let is_misfit = found.misfits.contains(&home);
        if !is_misfit && shows(Spot::All) {
            continue;
        }
        // Blocks of many sizes are arrays of all that they are seen as.
        let is_array = matches!(home, Home::Heap(site) if found.sites[site].size.is_none());
        if !is_misfit && !is_array && shows(Spot::Some) {
            found.mixed.insert(home);
            continue;
        }
        let is_small = match home {
            Home::Variable(variable) => {
                let size = shape::size_of(program, &object);
                let is_parameter = matches!(program.variables[variable].storage, Storage::Param(_));
                size.is_some_and(|size| (1..=MAX_BYTES).contains(&size)) && !is_parameter
            }
            _ => true,
        };
        let has_sync = |ty: &Type| shape::has_sync(program, ty);
        if is_small && !has_sync(&object) && !types.iter().any(has_sync) {
            found.as_bytes.insert(home);
        } else {
            found.mixed.insert(home);
        }
    }
}

struct Analysis<'a> {
    program: &'a Program,
    found: PointsTo,
    changed: bool,
    /// The function that is being walked.
    at: Function,
}

impl Analysis<'_> {
    fn value(&self, expr: &Expr) -> Homes {
        self.found.value(self.program, expr)
    }

    fn add_contents(&mut self, to: &Homes, what: &Homes) {
        for &home in to.iter().filter(|_| !what.is_empty()) {
            let set = self.found.contents.entry(home).or_default();
            let before = set.len();
            set.extend(what);
            self.changed |= set.len() > before;
        }
    }

    fn add(set: &mut Homes, what: &Homes, changed: &mut bool) {
        let before = set.len();
        set.extend(what);
        *changed |= set.len() > before;
    }

    fn point_at(&mut self, homes: &Homes) {
        for &home in homes {
            self.changed |= self.found.numbers.insert(home, 0).is_none();
        }
    }

    fn reach(&mut self, function: Function) {
        if self.program.functions[function].body.is_some() && !self.found.reachable.contains(&function) {
            self.found.reachable.push(function);
            self.changed = true;
        }
    }

    fn init(&mut self, variable: Variable, init: &Init) {
        let to = [Home::Variable(variable)].into();
        match init {
            Init::Value(value) => {
                self.changed |= self.found.largest.assign(variable, value);
                self.store(&to, value);
            }
            Init::List(items) => items.iter().for_each(|(_, value)| self.store(&to, value)),
            Init::Sync(_) => {}
        }
    }

    fn store(&mut self, to: &Homes, value: &Expr) {
        self.expr(value);
        let what = self.value(value);
        self.add_contents(to, &what);
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Declare(variable, init) => {
                if let Some(init) = init {
                    self.init(*variable, init);
                }
            }
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::If(condition, then, otherwise) => {
                self.expr(condition);
                self.stmt(then);
                otherwise.iter().for_each(|otherwise| self.stmt(otherwise));
            }
            StmtKind::While(condition, body)
            | StmtKind::DoWhile(body, condition)
            | StmtKind::Switch(condition, body) => {
                self.expr(condition);
                self.stmt(body);
            }
            StmtKind::For(init, condition, step, body) => {
                self.stmts(init);
                condition.iter().chain(step).for_each(|part| self.expr(part));
                self.stmt(body);
            }
            StmtKind::Case(_, _, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => {
                self.stmt(body);
            }
            StmtKind::Return(Some(value)) => {
                self.expr(value);
                let what = self.value(value);
                let set = self.found.results.entry(self.at).or_default();
                Self::add(set, &what, &mut self.changed);
                if self.found.starts.contains(&self.at) {
                    Self::add(&mut self.found.thread_results, &what, &mut self.changed);
                }
            }
            StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(None)
            | StmtKind::Asm => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Unsupported(_) => {}
            ExprKind::FunctionRef(function) => self.point_at(&[Home::Function(*function)].into()),
            ExprKind::Load(lvalue) => self.lvalue(lvalue),
            ExprKind::AddressOf(lvalue) | ExprKind::Decay(lvalue) => {
                self.lvalue(lvalue);
                let objects = self.found.objects(self.program, lvalue);
                self.point_at(&objects);
            }
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Cast(operand) => {
                self.expr(operand);
                self.note_type(operand, &expr.ty);
                self.note_view(operand, &expr.ty);
            }
            ExprKind::Binary(_, left, right)
            | ExprKind::PointerDifference(left, right)
            | ExprKind::LogicalAnd(left, right)
            | ExprKind::LogicalOr(left, right)
            | ExprKind::Comma(left, right)
            | ExprKind::PointerOffset { pointer: left, offset: right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Assign(target, value) | ExprKind::CompoundAssign { target, value, .. } => {
                if let LvalueKind::Variable(variable) = target.kind {
                    let largest = &mut self.found.largest;
                    self.changed |= match &expr.kind {
                        ExprKind::Assign(..) => largest.assign(variable, value),
                        _ => largest.forget(variable),
                    };
                }
                self.lvalue(target);
                let to = self.found.objects(self.program, target);
                self.store(&to, value);
            }
            ExprKind::Step { target, .. } => {
                if let LvalueKind::Variable(variable) = target.kind {
                    self.changed |= self.found.largest.forget(variable);
                }
                self.lvalue(target);
            }
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, expr),
            ExprKind::Statement(stmts) => self.stmts(stmts),
        }
    }

    fn lvalue(&mut self, lvalue: &Lvalue) {
        match &lvalue.kind {
            LvalueKind::Variable(_) => {}
            LvalueKind::Index(base, index) => {
                self.lvalue(base);
                self.expr(index);
            }
            LvalueKind::Deref(pointer) => self.expr(pointer),
            LvalueKind::Field(base, _) => self.lvalue(base),
            LvalueKind::String(text) => {
                if !self.found.text_numbers.contains_key(text) {
                    self.found.text_numbers.insert(text.clone(), self.found.texts.len());
                    self.found.texts.push(text.clone());
                    self.changed = true;
                }
            }
            LvalueKind::Compound(variable, init) => self.init(*variable, init),
        }
    }

    /// Objects that are looked at through a pointer to another type.
    fn note_view(&mut self, operand: &Expr, ty: &Type) {
        let (Type::Pointer(to), Type::Pointer(from)) = (ty, &operand.ty) else { return };
        let is_raw = |ty: &Type| matches!(ty, Type::Void | Type::Function(_)) || shape::is_character(ty);
        if is_raw(&to.ty) || (!is_raw(&from.ty) && shape::shows(self.program, &from.ty, &to.ty, Spot::Start))
        {
            return;
        }
        // To the type of the part, or from a first part to the whole.
        let is_whole = shape::size_of(self.program, &to.ty) > shape::size_of(self.program, &from.ty)
            && shape::shows(self.program, &to.ty, &from.ty, Spot::Start);
        let is_misfit = !is_raw(&from.ty) && !is_whole;
        for home in self.value(operand) {
            if is_misfit {
                self.found.misfits.insert(home);
            }
            let types = self.found.seen_as.entry(home).or_default();
            if !types.contains(&to.ty) {
                types.push(to.ty.clone());
            }
        }
    }

    /// Allocated memory that is taken for objects of some type.
    fn note_type(&mut self, operand: &Expr, ty: &Type) {
        let Type::Pointer(to) = ty else { return };
        let Type::Pointer(from) = &operand.ty else { return };
        let is_raw = |ty: &Type| matches!(ty, Type::Void | Type::Function(_));
        if is_raw(&to.ty) || !(is_raw(&from.ty) || shape::is_character(&from.ty)) {
            return;
        }
        let Some(size) = shape::size_of(self.program, &to.ty).filter(|size| *size > 0) else { return };
        let is_call = matches!(operand.kind, ExprKind::Call(..));
        for home in self.value(operand) {
            let Home::Heap(site) = home else { continue };
            let site = &mut self.found.sites[site];
            let known = site.element.as_ref().and_then(|known| shape::size_of(self.program, known));
            let fits = site.size.is_none_or(|whole| size <= whole);
            if (is_call && !site.is_sure) || (!site.is_sure && fits && known.is_none_or(|known| known < size))
            {
                site.element = Some(to.ty.clone());
                site.is_sure = is_call;
            }
        }
    }

    fn call(&mut self, callee: &Callee, arguments: &[Expr], call: &Expr) {
        if let Callee::Indirect(pointer) = callee {
            self.expr(pointer);
        }
        arguments.iter().for_each(|argument| self.expr(argument));
        for function in self.found.callees(self.program, callee) {
            let data = &self.program.functions[function];
            if data.body.is_none() {
                self.library_call(&data.name, arguments, call);
                continue;
            }
            self.reach(function);
            for (&parameter, argument) in data.params.iter().zip(arguments) {
                let what = self.value(argument);
                self.add_contents(&[Home::Variable(parameter)].into(), &what);
                self.changed |= self.found.largest.assign(parameter, argument);
            }
        }
    }

    /// The library calls a function with an argument.
    fn call_back(&mut self, pointer: &Expr, argument: &Homes) -> Vec<Function> {
        let called: Vec<Function> = functions(&self.value(pointer)).collect();
        for &function in &called {
            self.reach(function);
            self.changed |= self.found.called_back.insert(function);
            if let Some(&parameter) = self.program.functions[function].params.first() {
                self.add_contents(&[Home::Variable(parameter)].into(), argument);
            }
        }
        called
    }

    fn library_call(&mut self, name: &str, arguments: &[Expr], call: &Expr) {
        match (name, arguments) {
            ("pthread_create" | "thrd_create", [_, .., start, argument]) => {
                let what = self.value(argument);
                Self::add(&mut self.found.thread_arguments, &what, &mut self.changed);
                let started: Vec<Function> = functions(&self.value(start)).collect();
                for function in started {
                    self.reach(function);
                    self.changed |= self.found.starts.insert(function);
                    let data = &self.program.functions[function];
                    if let Some(&parameter) = data.params.first() {
                        self.add_contents(&[Home::Variable(parameter)].into(), &what);
                    }
                }
            }
            ("pthread_exit" | "thrd_exit", [result]) => {
                let what = self.value(result);
                Self::add(&mut self.found.thread_results, &what, &mut self.changed);
            }
            ("pthread_join" | "pthread_tryjoin_np", [_, result])
            | ("pthread_timedjoin_np", [_, result, _])
            | ("pthread_clockjoin_np", [_, result, _, _]) => {
                let what = self.found.thread_results.clone();
                let to = self.value(result);
                self.add_contents(&to, &what);
            }
            ("pthread_setspecific" | "tss_set", [_, value]) => {
                let what = self.value(value);
                Self::add(&mut self.found.specific, &what, &mut self.changed);
            }
            ("pthread_key_create" | "tss_create", [_, destructor]) => {
                let what = self.found.specific.clone();
                let called = self.call_back(destructor, &what);
                self.found.at_exit.extend(called);
            }
            ("pthread_once" | "call_once", [_, function]) => {
                let called = self.call_back(function, &Homes::new());
                self.found.run_once.extend(called);
            }
            ("atexit", [function]) => drop(self.call_back(function, &Homes::new())),
            ("__pdnet_cleanup_push", [function, argument]) => {
                let what = self.value(argument);
                let called = self.call_back(function, &what);
                self.found.at_exit.extend(called);
            }
            _ => self.copying_call(name, arguments, call),
        }
    }

    fn copying_call(&mut self, name: &str, arguments: &[Expr], call: &Expr) {
        match (library(name), arguments) {
            (Library::Allocates, arguments) => {
                self.allocate(name, arguments, call);
                if let ("realloc", [old, _]) = (name, arguments)
                    && let Some(site) = self.found.site_number(call.span)
                {
                    let what = self.found.load(&self.value(old));
                    self.add_contents(&[Home::Heap(site)].into(), &what);
                }
            }
            (Library::CopiesTo, [to, from, ..]) => {
                let (to, what) = (self.value(to), self.found.load(&self.value(from)));
                self.add_contents(&to, &what);
            }
            (Library::Atomic, [object, others @ ..]) => {
                let to = self.value(object);
                let what: Homes = others.iter().flat_map(|other| self.value(other)).collect();
                self.add_contents(&to, &what);
                // What is expected behind a pointer gets the value that was found.
                let (found, behind) = (self.found.load(&to), what);
                let takes_pointers = matches!(name, "__atomic_load" | "__atomic_store" | "__atomic_exchange");
                if takes_pointers || name.contains("compare_exchange") {
                    let inner = self.found.load(&behind);
                    self.add_contents(&behind, &found);
                    self.add_contents(&to, &inner);
                }
            }
            _ => {}
        }
    }

    fn allocate(&mut self, name: &str, arguments: &[Expr], call: &Expr) {
        let largest = |at: usize| arguments.get(at).and_then(|size| self.found.largest.of(size));
        let most = match name {
            "calloc" => largest(0).zip(largest(1)).and_then(|(n, size)| n.checked_mul(size)),
            "realloc" | "aligned_alloc" | "memalign" => largest(1),
            _ => largest(0),
        };
        if let Some(&number) = self.found.site_numbers.get(&key(call.span)) {
            // What is known in the last round counts.
            self.found.sites[number].most = most;
            return;
        }
        let number = self.found.sites.len();
        let constant = |at: usize| arguments.get(at).and_then(constant);
        let size = match name {
            "calloc" => constant(0).zip(constant(1)).and_then(|(n, size)| n.checked_mul(size)),
            "realloc" | "aligned_alloc" | "memalign" => constant(1),
            _ => constant(0),
        };
        let is_zeroed = name == "calloc";
        self.found.sites.push(Site {
            span: call.span,
            function: self.at,
            size,
            most,
            element: None,
            is_zeroed,
            is_sure: false,
        });
        self.found.site_numbers.insert(key(call.span), number);
        self.point_at(&[Home::Heap(number)].into());
        self.changed = true;
    }
}

/// The value of an expression that is constant at first sight.
fn constant(expr: &Expr) -> Option<u64> {
    use crate::tree::BinaryOp::{Add, Mul, Sub};
    match &expr.kind {
        ExprKind::Int(value) => u64::try_from(*value).ok(),
        ExprKind::Cast(operand) => constant(operand),
        ExprKind::Binary(Mul, left, right) => constant(left)?.checked_mul(constant(right)?),
        ExprKind::Binary(Add, left, right) => constant(left)?.checked_add(constant(right)?),
        ExprKind::Binary(Sub, left, right) => constant(left)?.checked_sub(constant(right)?),
        _ => None,
    }
}
