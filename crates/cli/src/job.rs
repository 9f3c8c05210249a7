//! What is to be checked: a program by itself, or the program of a task definition.

use pdnet_source::{Diagnostic, SourceMap};

use crate::args::{DataModel, FrontArgs, ProgramArgs};
use crate::task::{Task, is_task, read_task};

/// What was given.
#[derive(Debug)]
pub(crate) struct Job {
    /// The files of the program.
    pub(crate) program: ProgramArgs,
    /// The sizes of the types: what the user says, else what the task says, else the default.
    pub(crate) data_model: DataModel,
    /// The task.
    pub(crate) task: Option<Task>,
}

/// Finds out what was given.
///
/// # Errors
/// What is wrong with the task definition.
pub(crate) fn resolve_job(
    map: &mut SourceMap,
    program: &ProgramArgs,
    front: &FrontArgs,
) -> Result<Job, Vec<Diagnostic>> {
    let chosen = front.data_model();
    let [file] = program.files.as_slice() else {
        return Ok(Job { program: program.clone(), data_model: chosen.unwrap_or_default(), task: None });
    };
    if !is_task(file) {
        return Ok(Job { program: program.clone(), data_model: chosen.unwrap_or_default(), task: None });
    }
    let task = read_task(map, file)?;
    let program = ProgramArgs { files: task.inputs.clone(), ..program.clone() };
    let data_model = chosen.or(task.data_model).unwrap_or_default();
    Ok(Job { program, data_model, task: Some(task) })
}
