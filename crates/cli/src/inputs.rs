//! Reading the program: one file, several, or those of a compilation database.

use pdnet_front_c::{Input, Loaded, compile_commands, load_all};
use pdnet_source::{Diagnostic, SourceMap};

use crate::args::{DataModel, FrontArgs, ProgramArgs};

/// Reads the files and links them.
///
/// # Errors
/// What is wrong with the files, or with the database.
pub(crate) fn load_program(
    map: &mut SourceMap,
    program: &ProgramArgs,
    front: &FrontArgs,
    model: DataModel,
) -> Result<Loaded, Vec<Diagnostic>> {
    let options = front.load_options(model);
    let inputs = match &program.compile_commands {
        Some(database) => compile_commands(map, database, &program.files, &options)?,
        None => {
            let input = |path: &std::path::PathBuf| Input { path: path.clone(), options: options.clone() };
            program.files.iter().map(input).collect()
        }
    };
    load_all(map, &inputs)
}

/// What to call the program in reports.
pub(crate) fn program_name(program: &ProgramArgs) -> String {
    let paths = if program.files.is_empty() { program.compile_commands.as_slice() } else { &program.files };
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(" ")
}
