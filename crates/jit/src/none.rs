//! There is no native code for this machine.

#![forbid(unsafe_code)]

use crate::{NoCode, Program};

/// A function that does not exist.
#[derive(Clone, Debug)]
pub enum Function {}

impl Function {
    /// See the version for other machines.
    pub fn look(&self, _: &mut [i64], _: &[i64], _: &[i64], _: usize) -> i64 {
        match *self {}
    }

    /// See the version for other machines.
    pub fn act(&self, _: &mut [i64], _: &mut [i64], _: &mut [i64], _: usize) -> i64 {
        match *self {}
    }
}

/// There is none.
///
/// # Errors
/// Always.
pub fn compile(_: &[Program]) -> Result<Vec<Function>, NoCode> {
    Err(NoCode("there is native code for x86-64 only".to_owned()))
}
