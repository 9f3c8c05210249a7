//! Several translation units, linked to one program.
//!
//! Units are taken one after the other into the program of the first. A name with external linkage is the
//! same object or function in all of them; one that is `static` stays apart. Where several units have a
//! `static` of one name, each gets its file's name in front, so that reports say which is meant.

mod records;
mod renumber;

use pdnet_base::{FxHashMap, IndexVec};
use pdnet_source::{Diagnostic, File, SourceMap, Span, nearest_name};

use crate::sema::Unit;
use crate::tree::{Function, FunctionData, Linkage, Program, Storage, Variable, VariableData};
use crate::types::{FunctionType, QualType, Type};
use records::match_records;
use renumber::Renumber;

/// Links the units, and functions of the C library that they do not define.
///
/// # Errors
/// Names that are declared in two ways or defined twice, and a program without `main`.
pub(crate) fn link(
    map: &SourceMap,
    units: Vec<Unit>,
    library: Option<Unit>,
) -> Result<Program, Vec<Diagnostic>> {
    let mut units = units.into_iter();
    let Some(first) = units.next() else {
        let error = Diagnostic::error("no-main", "no file was given");
        return Err(vec![error.help("give a C program with a function `main`")]);
    };
    let n_units = units.len() + 1;
    let main_file = first.file;
    let mut linker = Linker::new(first);
    for unit in units {
        linker.add(unit);
    }
    if n_units > 1 {
        linker.name_apart(map);
    }
    if let Some(library) = library {
        linker.add(library);
    }
    if !linker.has_main && linker.errors.is_empty() {
        let error = no_main(&linker.program, main_file, n_units);
        linker.errors.push(error);
    }
    linker.program.library = crate::library::index(&linker.program);
    if linker.errors.is_empty() { Ok(linker.program) } else { Err(linker.errors) }
}

fn no_main(program: &Program, file: File, n_units: usize) -> Diagnostic {
    let defined = program.functions.iter().filter(|data| data.body.is_some());
    let near = nearest_name("main", defined.map(|data| data.name.as_str()));
    let diagnostic = Diagnostic::error("no-main", "the program has no function `main`");
    let diagnostic = match near {
        Some(near) => diagnostic.help(format!("there is a function `{near}`; should it be called `main`?")),
        None => diagnostic.help("a run starts in `int main(void)`; add one, or name the file that has it"),
    };
    let label =
        if n_units > 1 { "no `main` in this file, nor in the others" } else { "no `main` in this file" };
    diagnostic.at(pdnet_cpp::start_of(file), label)
}

/// What a name with external linkage means.
#[derive(Clone, Copy, Debug)]
enum Known {
    Function(Function),
    Variable(Variable),
}

struct Linker {
    program: Program,
    has_main: bool,
    names: FxHashMap<String, Known>,
    /// The files of the units.
    units: Vec<File>,
    /// The unit that each function was first seen in.
    function_units: IndexVec<Function, File>,
    /// The unit that each variable was first seen in.
    variable_units: IndexVec<Variable, File>,
    errors: Vec<Diagnostic>,
}

impl Linker {
    fn new(first: Unit) -> Self {
        let mut names = FxHashMap::default();
        for (function, data) in first.program.functions.iter_enumerated() {
            if is_shared(data.linkage) {
                names.insert(data.name.clone(), Known::Function(function));
            }
        }
        for (variable, data) in first.program.variables.iter_enumerated() {
            if is_shared(data.linkage) {
                names.insert(data.name.clone(), Known::Variable(variable));
            }
        }
        let Unit { file, program, has_main } = first;
        let function_units = program.functions.iter().map(|_| file).collect();
        let variable_units = program.variables.iter().map(|_| file).collect();
        let (units, errors) = (vec![file], Vec::new());
        Self { program, has_main, names, units, function_units, variable_units, errors }
    }

    /// Takes one more unit into the program.
    fn add(&mut self, unit: Unit) {
        let Unit { program: mut new, has_main, file } = unit;
        self.units.push(file);
        let records = match_records(&mut self.program, &new);
        let mut renumber = Renumber { records, variables: IndexVec::new(), functions: IndexVec::new() };
        // First the names, so that bodies and initialisers can refer to all of them.
        for function in new.functions.indices() {
            let data = &mut new.functions[function];
            renumber.signature(data);
            let number = self.function(data, file);
            renumber.functions.push(number);
        }
        for variable in new.variables.indices() {
            let data = &mut new.variables[variable];
            renumber.variable_type(data);
            let number = self.variable(data, file);
            renumber.variables.push(number);
        }
        for (function, data) in new.functions.iter_enumerated() {
            let mut data = data.clone();
            renumber.body(&mut data);
            self.define_function(renumber.functions[function], data);
        }
        for (variable, data) in new.variables.iter_enumerated() {
            let mut data = data.clone();
            renumber.init(&mut data);
            self.define_variable(renumber.variables[variable], data);
        }
        self.enumerators(new.enumerators);
        if self.program.errno.is_none() {
            self.program.errno = new.errno.map(|errno| renumber.variables[errno]);
        }
        if has_main && !self.has_main {
            self.program.main = renumber.functions[new.main];
            self.has_main = true;
        }
    }

    /// The number of a function in the whole program. A new one has no body yet.
    fn function(&mut self, data: &FunctionData, unit: File) -> Function {
        let mut linkage = data.linkage;
        if is_shared(data.linkage) {
            match self.names.get(&data.name) {
                Some(&Known::Function(function)) => {
                    let known = &mut self.program.functions[function];
                    let is_inline = [known.linkage, data.linkage].contains(&Linkage::Inline);
                    if !(is_inline && known.body.is_some() && data.body.is_some()) {
                        return function;
                    }
                    // Each unit keeps its own; others mean the one that is not inline, or else the first.
                    if data.linkage == Linkage::External {
                        known.linkage = Linkage::Internal;
                    } else {
                        linkage = Linkage::Internal;
                    }
                }
                Some(Known::Variable(variable)) => {
                    let known = &self.program.variables[*variable];
                    let (ty, span) = (known.ty.ty.clone(), known.span);
                    self.conflict(&data.name, (&ty, span), (&function_type(data), data.span));
                }
                None => {}
            }
        }
        let blank = FunctionData { linkage, body: None, params: Vec::new(), ..data.clone() };
        let function = self.program.functions.push(blank);
        self.function_units.push(unit);
        if is_shared(linkage) {
            self.names.insert(data.name.clone(), Known::Function(function));
        }
        function
    }

    /// The number of a variable in the whole program. A new one has no initialiser yet.
    fn variable(&mut self, data: &VariableData, unit: File) -> Variable {
        if is_shared(data.linkage) {
            match self.names.get(&data.name) {
                Some(Known::Variable(variable)) => return *variable,
                Some(Known::Function(function)) => {
                    let known = &self.program.functions[*function];
                    let (ty, span) = (function_type(known), known.span);
                    self.conflict(&data.name, (&ty, span), (&data.ty.ty, data.span));
                }
                None => {}
            }
        }
        let variable = self.program.variables.push(VariableData { init: None, ..data.clone() });
        self.variable_units.push(unit);
        if is_shared(data.linkage) {
            self.names.insert(data.name.clone(), Known::Variable(variable));
        }
        variable
    }

    /// Joins what a unit says of a function with what is known.
    fn define_function(&mut self, function: Function, new: FunctionData) {
        let known = &self.program.functions[function];
        let defined = known.body.is_some() || new.body.is_some();
        let (old_type, new_type) = (function_type(known), function_type(&new));
        // Whatever nobody defines belongs to the library, whose declarations may differ from ours.
        if defined && !compatible(&old_type, &new_type) {
            let before = known.span;
            let name = new.name.clone();
            self.conflict(&name, (&old_type, before), (&new_type, new.span));
            return;
        }
        if known.body.is_some() && new.body.is_some() {
            let message = format!("the function `{}` is defined twice", new.name);
            let error = Diagnostic::error("redefined", message).at(new.span, "second definition");
            self.errors.push(error.context(known.span, "first definition"));
            return;
        }
        let known = &mut self.program.functions[function];
        if new.body.is_some() {
            *known = FunctionData { linkage: known.linkage, ..new };
        } else if known.body.is_none() && is_unprototyped(known) && !is_unprototyped(&new) {
            known.param_types = new.param_types;
            known.variadic = new.variadic;
        }
    }

    /// Joins what a unit says of a variable with what is known.
    fn define_variable(&mut self, variable: Variable, new: VariableData) {
        let known = &self.program.variables[variable];
        let (before, old_type) = (known.span, known.ty.ty.clone());
        if !compatible(&old_type, &new.ty.ty) {
            self.conflict(&new.name, (&old_type, before), (&new.ty.ty, new.span));
            return;
        }
        let is_apart = |storage: Storage| storage == Storage::ThreadLocal;
        if is_apart(known.storage) != is_apart(new.storage) {
            let message = format!("`{}` is declared with and without `_Thread_local`", new.name);
            let error = Diagnostic::error("conflicting-types", message).at(new.span, "here");
            self.errors.push(error.context(before, "and here"));
            return;
        }
        if known.init.is_some() && new.init.is_some() {
            let message = format!("`{}` has two initializers", new.name);
            let error = Diagnostic::error("redefined", message).at(new.span, "second definition");
            self.errors.push(error.context(before, "first definition"));
            return;
        }
        let known = &mut self.program.variables[variable];
        if matches!((&known.ty.ty, &new.ty.ty), (Type::Array(_, None), Type::Array(_, Some(_)))) {
            known.ty = new.ty;
        }
        if !new.extern_only {
            if known.extern_only || new.init.is_some() {
                known.span = new.span;
            }
            known.extern_only = false;
        }
        known.init = known.init.take().or(new.init);
        known.lengths = new.lengths;
    }

    fn conflict(&mut self, name: &str, old: (&Type, Span), new: (&Type, Span)) {
        let (was, is) = (old.0.display(&self.program), new.0.display(&self.program));
        let message = format!("`{name}` is declared with two types");
        let error = Diagnostic::error("conflicting-types", message).at(new.1, format!("`{is}` here"));
        self.errors.push(error.context(old.1, format!("`{was}` here")));
    }

    /// Constants of enumerations. Those that differ between units mean nothing outside of them.
    fn enumerators(&mut self, new: Vec<(String, i128)>) {
        for (name, value) in new {
            match self.program.enumerators.iter().position(|(known, _)| *known == name) {
                Some(at) if self.program.enumerators[at].1 != value => {
                    self.program.enumerators.remove(at);
                }
                Some(_) => {}
                None => self.program.enumerators.push((name, value)),
            }
        }
    }

    /// Puts the file's name before names that several units use for different things.
    fn name_apart(&mut self, map: &SourceMap) {
        let mut users: FxHashMap<String, usize> = FxHashMap::default();
        let functions = self.program.functions.iter().map(|data| (&data.name, data.linkage));
        let variables = self.program.variables.iter().map(|data| (&data.name, data.linkage));
        for (name, linkage) in functions.chain(variables) {
            if linkage != Linkage::None {
                *users.entry(name.clone()).or_default() += 1;
            }
        }
        let short = |file: File| map.file(file).name.rsplit('/').next().unwrap_or_default();
        let qualified = |name: &str, unit: File| {
            let is_unique = self.units.iter().filter(|other| short(**other) == short(unit)).count() == 1;
            let file = if is_unique { short(unit) } else { &map.file(unit).name };
            format!("{file}:{name}")
        };
        let is_ambiguous = |name: &str| users.get(name).is_some_and(|&count| count > 1);
        for (function, unit) in self.function_units.iter_enumerated() {
            let data = &mut self.program.functions[function];
            if data.linkage == Linkage::Internal && is_ambiguous(&data.name) {
                data.name = qualified(&data.name, *unit);
            }
        }
        for (variable, unit) in self.variable_units.iter_enumerated() {
            let data = &mut self.program.variables[variable];
            if data.linkage == Linkage::Internal && is_ambiguous(&data.name) {
                data.name = qualified(&data.name, *unit);
            }
        }
    }
}

/// Whether `full` is `name` with the name of a file in front.
pub(crate) fn names_apart(full: &str, name: &str) -> bool {
    full.strip_suffix(name).is_some_and(|file| file.ends_with(':') && !file.ends_with("::"))
}

fn is_shared(linkage: Linkage) -> bool {
    matches!(linkage, Linkage::External | Linkage::Inline)
}

fn function_type(data: &FunctionData) -> Type {
    Type::Function(Box::new(FunctionType {
        result: data.result.clone(),
        params: data.param_types.clone(),
        variadic: data.variadic,
    }))
}

fn is_unprototyped(data: &FunctionData) -> bool {
    data.variadic && data.param_types.is_empty()
}

/// Whether two declarations can be of the same thing (C11 6.2.7). Qualifiers are left to the compiler.
fn compatible(left: &Type, right: &Type) -> bool {
    let same = |left: &QualType, right: &QualType| compatible(&left.ty, &right.ty);
    match (left, right) {
        (Type::Pointer(left), Type::Pointer(right)) => same(left, right),
        (Type::Array(left, n), Type::Array(right, m)) => {
            (n.is_none() || m.is_none() || n == m) && same(left, right)
        }
        (Type::Function(left), Type::Function(right)) => {
            let is_open = |ty: &FunctionType| ty.variadic && ty.params.is_empty();
            let params = left.params.len() == right.params.len()
                && left.variadic == right.variadic
                && left.params.iter().zip(&right.params).all(|(left, right)| same(left, right));
            same(&left.result, &right.result) && (is_open(left) || is_open(right) || params)
        }
        (left, right) => left == right,
    }
}
