//! Functions of the C library that are written in C.
//!
//! A new one gets a definition in `overlay/library.c`, under its name with `__pdnet_` in front. A program that
//! declares the function and does not define it gets it.

use crate::sema::Unit;
use crate::tree::{Function, Program};

/// The name of the file that they stand in, for reports.
pub(crate) const FILE: &str = "<C library>";
/// The functions.
pub(crate) const TEXT: &str = include_str!("overlay/library.c");

/// What stands in front of their names.
const PREFIX: &str = "__pdnet_";

/// Whether a unit declares one of the functions and none defines it.
pub(crate) fn wanted(units: &[Unit]) -> bool {
    let functions = units.iter().flat_map(|unit| unit.program.functions.iter());
    functions.filter(|data| data.body.is_none()).any(|data| TEXT.contains(&format!("{PREFIX}{}(", data.name)))
}

/// The function that a call of a function goes to: one without a body may have one in the library.
pub(crate) fn resolve(program: &Program, function: Function) -> Function {
    let data = &program.functions[function];
    if data.body.is_some() {
        return function;
    }
    let name = data.name.strip_prefix("__builtin_").unwrap_or(&data.name);
    program.library.get(name).copied().unwrap_or(function)
}

/// The name that users know a function by.
pub(crate) fn shown_name(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// The names of the functions in a linked program, without what stands in front.
pub(crate) fn index(program: &Program) -> std::collections::BTreeMap<String, Function> {
    let functions = program.functions.iter_enumerated().filter(|(_, data)| data.body.is_some());
    functions
        .filter_map(|(function, data)| data.name.strip_prefix(PREFIX).map(|name| (name.to_owned(), function)))
        .collect()
}
