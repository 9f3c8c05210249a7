//! The way from a file to the typed tree, read from top to bottom.

use std::path::{Path, PathBuf};

use pdnet_source::{Diagnostic, File, Severity, SourceMap};

use crate::annotations::{self, Annotation};
use crate::positions::Positions;
use crate::types::DataModel;
use crate::{input, parse, prepass, preprocess, sema, tree};

/// Stack for the recursive parser and the type checker. The limits on nesting are chosen so that this
/// is enough in a debug build; the memory is only touched as far as it is needed.
const STACK_SIZE: usize = 256 << 20;

/// How to read C.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The sizes of the types.
    pub data_model: DataModel,
    /// Folders with headers.
    pub include_dirs: Vec<PathBuf>,
    /// Macros: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// The C compiler that runs the preprocessor; by default `$CC`, `cc`, `gcc` or `clang`.
    pub preprocessor: Option<String>,
    /// The language standard that the preprocessor assumes; by default `gnu17`.
    pub standard: Option<String>,
}

/// A program that was accepted.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program.
    pub program: tree::Program,
    /// Properties that its comments ask for.
    pub annotations: Vec<Annotation>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a C file. A file whose name ends in `.i` is taken as preprocessed already.
///
/// # Errors
/// The diagnostics when the file cannot be read, preprocessed, parsed or typed; warnings are among them.
pub fn load(map: &mut SourceMap, path: &Path, options: &Options) -> Result<Loaded, Vec<Diagnostic>> {
    let file = input::read(map, path).map_err(|diagnostic| vec![diagnostic])?;
    if path.extension().is_some_and(|extension| extension == "i") {
        return load_preprocessed(map, file, options);
    }
    refuse_empty(map, file)?;
    let text = preprocess::preprocess(map, file, path, options)?;
    let mut positions = Positions::new(text, &map.file(file).name.clone(), None);
    positions.set_file(&path.display().to_string(), file);
    finish(map, file, positions, options)
}

/// Takes a text that is preprocessed already, for `.i` files and for tests.
///
/// # Errors
/// The diagnostics when the text cannot be parsed or typed; warnings are among them.
pub fn load_preprocessed(
    map: &mut SourceMap,
    file: File,
    options: &Options,
) -> Result<Loaded, Vec<Diagnostic>> {
    refuse_empty(map, file)?;
    let data = map.file(file);
    let positions = Positions::new(data.text.clone(), &data.name.clone(), Some(file));
    finish(map, file, positions, options)
}

fn refuse_empty(map: &SourceMap, file: File) -> Result<(), Vec<Diagnostic>> {
    let data = map.file(file);
    if !data.text.trim().is_empty() {
        return Ok(());
    }
    Err(vec![
        Diagnostic::error("no-main", format!("`{}` is empty", data.name))
            .at(input::start_of(file), "no function `main` here")
            .help("give a C program with a function `main`"),
    ])
}

fn finish(
    map: &mut SourceMap,
    file: File,
    mut positions: Positions,
    options: &Options,
) -> Result<Loaded, Vec<Diagnostic>> {
    let mut warnings = Vec::new();
    let annotations = annotations::find(map, file, &mut warnings);
    let work = || analyze(map, file, &mut positions, options);
    let result = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work);
        match thread {
            Ok(thread) => match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(error) => Err(vec![Diagnostic::error(
                "no-memory",
                format!("cannot start the thread that reads the program: {error}"),
            )]),
        }
    });
    match result {
        // An annotation that is not understood would be a property that is not checked.
        Ok(_) if warnings.iter().any(|found| found.severity == Severity::Error) => Err(warnings),
        Ok((program, mut found)) => {
            warnings.append(&mut found);
            Ok(Loaded { program, annotations, warnings })
        }
        Err(mut found) => {
            found.append(&mut warnings);
            Err(found)
        }
    }
}

/// Pre-pass, parser, names and types.
fn analyze(
    map: &mut SourceMap,
    file: File,
    positions: &mut Positions,
    options: &Options,
) -> Result<(tree::Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (prepared, findings) = prepass::prepare(positions.text(), positions.tokens());
    let mut diagnostics: Vec<_> = findings
        .into_iter()
        .map(|finding| {
            let span = positions.token_span(map, finding.token);
            finding.diagnostic.at(span, finding.label)
        })
        .collect();
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    if diagnostics.iter().any(is_error) {
        return Err(diagnostics);
    }
    let unit = match parse::parse(map, positions, &prepared) {
        Ok(unit) => unit,
        Err(diagnostic) => {
            diagnostics.insert(0, diagnostic);
            return Err(diagnostics);
        }
    };
    let (program, mut found) = sema::check(map, file, positions, &prepared, &unit, options.data_model);
    diagnostics.append(&mut found);
    match program {
        Some(program) if !diagnostics.iter().any(is_error) => Ok((program, diagnostics)),
        Some(_) | None => Err(diagnostics),
    }
}
