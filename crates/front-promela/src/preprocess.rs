//! Macros and includes: through the system's C compiler, as SPIN does it.

use std::ffi::OsString;
use std::path::Path;

use pdnet_base::FxHashMap;
use pdnet_cpp::{Positions, compiler};
use pdnet_source::{Diagnostic, File, SourceMap};

use crate::Options;

/// What to do where a header is missing.
const MISSING_INCLUDE_HELP: &[&str] = &["give its folder with `-I`"];

/// The preprocessed text of a model. `None` without directives: there is nothing to do, and no compiler is needed.
pub(crate) fn preprocess(
    map: &mut SourceMap,
    file: File,
    path: &Path,
    options: &Options,
) -> Result<Option<Positions>, Vec<Diagnostic>> {
    let data = map.file(file);
    let name = data.name.clone();
    if !has_directives(&data.text) && options.defines.is_empty() && options.arguments.is_empty() {
        return Ok(None);
    }
    let arguments = arguments(path, options);
    let candidates = compiler::commands(options.preprocessor.as_deref());
    let (command, output) = compiler::first_output(&candidates, |command| compiler::run(command, &arguments))
        .map_err(|diagnostic| vec![diagnostic.help("or give a model without `#` lines")])?;
    if !output.status.success() {
        return Err(compiler::failures(map, file, path, &command, &output, MISSING_INCLUDE_HELP));
    }
    let mut positions = Positions::new(pdnet_cpp::decode(output.stdout), &name, None);
    positions.set_file(&path.display().to_string(), file);
    Ok(Some(positions))
}

/// The macros without parameters that are defined at the end of a model, for formulas that use them. Empty where there
/// are none, or where the compiler cannot tell.
pub(crate) fn macros(text: &str, path: &Path, options: &Options) -> FxHashMap<String, String> {
    let mut found = FxHashMap::default();
    if !has_directives(text) && options.defines.is_empty() && options.arguments.is_empty() {
        return found;
    }
    let mut arguments = arguments(path, options);
    arguments.insert(0, "-dM".into());
    let candidates = compiler::commands(options.preprocessor.as_deref());
    let output = compiler::first_output(&candidates, |command| compiler::run(command, &arguments));
    let Ok((_, output)) = output else { return found };
    for line in pdnet_cpp::decode(output.stdout).lines() {
        let Some(definition) = line.strip_prefix("#define ") else { continue };
        let (name, value) = definition.split_once(' ').unwrap_or((definition, ""));
        if !name.contains('(') {
            found.insert(name.to_owned(), value.to_owned());
        }
    }
    found
}

fn has_directives(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with('#'))
}

fn arguments(path: &Path, options: &Options) -> Vec<OsString> {
    // GNU's dialect, for the standard's has trigraphs, and `??(` is a receive.
    let mut list: Vec<OsString> = ["-E", "-x", "c", "-std=gnu99"].map(OsString::from).to_vec();
    for folder in &options.include_dirs {
        list.push("-I".into());
        list.push(folder.into());
    }
    for define in &options.defines {
        list.push(format!("-D{define}").into());
    }
    list.extend(options.arguments.iter().cloned());
    list.push(path.into());
    list
}
