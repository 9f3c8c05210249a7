//! What is to be checked: a program by itself, or the program of a task definition.

use std::path::PathBuf;

use pdnet_source::{Diagnostic, SourceMap};

use crate::args::{CheckArgs, DataModel};
use crate::task::{Task, is_task, read_task};

/// What was given.
#[derive(Debug)]
pub(crate) struct Job {
    /// The file of the program.
    pub(crate) program: PathBuf,
    /// The sizes of the types: what the user says, else what the task says, else the default.
    pub(crate) data_model: DataModel,
    /// The task.
    pub(crate) task: Option<Task>,
}

/// Finds out what was given.
///
/// # Errors
/// What is wrong with the task definition.
pub(crate) fn resolve_job(map: &mut SourceMap, args: &CheckArgs) -> Result<Job, Vec<Diagnostic>> {
    let chosen = args.front.data_model();
    if !is_task(&args.file) {
        let data_model = chosen.unwrap_or_default();
        return Ok(Job { program: args.file.clone(), data_model, task: None });
    }
    let task = read_task(map, &args.file)?;
    let program = single_program(&task).map_err(|error| vec![error])?;
    let data_model = chosen.or(task.data_model).unwrap_or_default();
    Ok(Job { program, data_model, task: Some(task) })
}

/// The one file of a task's program: programs of several files are not read yet.
fn single_program(task: &Task) -> Result<PathBuf, Diagnostic> {
    match task.inputs.as_slice() {
        [program] => Ok(program.clone()),
        inputs => {
            let names: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
            let message = format!("the program of this task has {} files", inputs.len());
            Err(Diagnostic::error("several-files", message)
                .at(task.inputs_span, "programs of one file are read in this version")
                .note(names.join(", ")))
        }
    }
}
