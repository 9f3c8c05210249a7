//! The way from files to the typed tree, read from top to bottom.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pdnet_cpp::{FileKind, Positions};
use pdnet_source::{Diagnostic, File, Severity, SourceMap};

use crate::annotations::{self, Annotation};
use crate::sema::Unit;
use crate::types::DataModel;
use crate::{acsl, library, link, parse, prepass, preprocess, sema, tree};

/// Stack for the recursive parser and the type checker. The limits on nesting are chosen so that this
/// is enough in a debug build; the memory is only touched as far as it is needed.
const STACK_SIZE: usize = 256 << 20;

/// What we expect to read.
pub(crate) const C_FILE: FileKind =
    FileKind { short: "a C file", long: "a C source file (`.c`) or a preprocessed one (`.i`)" };

/// How to read C.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The sizes of the types.
    pub data_model: DataModel,
    /// Folders with headers.
    pub include_dirs: Vec<PathBuf>,
    /// Macros: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Further arguments for the preprocessor, in order.
    pub arguments: Vec<OsString>,
    /// The C compiler that runs the preprocessor; by default `$CC`, `cc`, `gcc` or `clang`.
    pub preprocessor: Option<String>,
    /// The language standard that the preprocessor assumes; by default `gnu17`.
    pub standard: Option<String>,
}

/// A file to read, and how.
#[derive(Clone, Debug)]
pub struct Input {
    /// The C file.
    pub path: PathBuf,
    /// How to read it.
    pub options: Options,
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

/// Reads a C file that is the whole program. A file whose name ends in `.i` is taken as preprocessed already.
///
/// # Errors
/// The diagnostics when the file cannot be read, preprocessed, parsed or typed; warnings are among them.
pub fn load(map: &mut SourceMap, path: &Path, options: &Options) -> Result<Loaded, Vec<Diagnostic>> {
    load_all(map, &[Input { path: path.to_path_buf(), options: options.clone() }])
}

/// Reads several C files, each a translation unit of its own, and links them to one program.
///
/// # Errors
/// The diagnostics of all files that are not accepted, or those of the linking; warnings are among them.
pub fn load_all(map: &mut SourceMap, inputs: &[Input]) -> Result<Loaded, Vec<Diagnostic>> {
    let units = inputs.iter().map(|input| load_unit(map, &input.path, &input.options)).collect();
    let options = inputs.first().map(|input| input.options.clone()).unwrap_or_default();
    link_units(map, units, &options)
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
    let unit = preprocessed_unit(map, file, options);
    link_units(map, vec![unit], options)
}

/// A translation unit with what was found in its comments.
struct LoadedUnit {
    unit: Unit,
    annotations: Vec<Annotation>,
    warnings: Vec<Diagnostic>,
}

/// One program out of the units, when all of them are accepted.
fn link_units(
    map: &mut SourceMap,
    units: Vec<Result<LoadedUnit, Vec<Diagnostic>>>,
    options: &Options,
) -> Result<Loaded, Vec<Diagnostic>> {
    let (mut accepted, mut annotations) = (Vec::new(), Vec::new());
    let (mut warnings, mut errors) = (Vec::new(), Vec::new());
    for unit in units {
        match unit {
            Ok(mut loaded) => {
                warnings.append(&mut loaded.warnings);
                annotations.append(&mut loaded.annotations);
                accepted.push(loaded.unit);
            }
            Err(mut found) => errors.append(&mut found),
        }
    }
    if errors.is_empty() {
        let library = library::wanted(&accepted).then(|| {
            let file = map.add(library::FILE, library::TEXT);
            preprocessed_unit(map, file, options)
        });
        let library = library.transpose()?.map(|loaded| loaded.unit);
        match link::link(map, accepted, library) {
            Ok(program) => return Ok(Loaded { program, annotations, warnings }),
            Err(mut found) => errors.append(&mut found),
        }
    }
    // The same header can be wrong in several units; that is to be said once.
    let mut all: Vec<Diagnostic> = Vec::new();
    for diagnostic in warnings.into_iter().chain(errors) {
        if !all.contains(&diagnostic) {
            all.push(diagnostic);
        }
    }
    Err(all)
}

fn load_unit(map: &mut SourceMap, path: &Path, options: &Options) -> Result<LoadedUnit, Vec<Diagnostic>> {
    let file = pdnet_cpp::read(map, path, C_FILE).map_err(|diagnostic| vec![diagnostic])?;
    if path.extension().is_some_and(|extension| extension == "i") {
        return preprocessed_unit(map, file, options);
    }
    refuse_empty(map, file)?;
    let mut found = Vec::new();
    let uncovered = acsl::uncover(map, file, &mut found);
    let source = preprocess::Source { file, path, instead: uncovered.as_deref() };
    let text = preprocess::preprocess(map, source, options)?;
    let mut positions = Positions::new(text, &map.file(file).name.clone(), None);
    positions.set_own_headers(preprocess::overlay_text);
    positions.set_file(&path.display().to_string(), file);
    if let Some(uncovered) = uncovered {
        positions.set_uncovered(file, uncovered);
    }
    for header in positions.user_files(map).into_iter().filter(|&header| header != file) {
        annotations::find_in_header(map, header, &mut found);
    }
    finish(map, file, positions, options, found)
}

fn preprocessed_unit(
    map: &mut SourceMap,
    file: File,
    options: &Options,
) -> Result<LoadedUnit, Vec<Diagnostic>> {
    refuse_empty(map, file)?;
    let mut found = Vec::new();
    let uncovered = acsl::uncover(map, file, &mut found);
    let data = map.file(file);
    let text = uncovered.unwrap_or_else(|| data.text.clone());
    let positions = Positions::new(text, &data.name.clone(), Some(file));
    finish(map, file, positions, options, found)
}

fn refuse_empty(map: &SourceMap, file: File) -> Result<(), Vec<Diagnostic>> {
    let data = map.file(file);
    if !data.text.trim().is_empty() {
        return Ok(());
    }
    Err(vec![
        Diagnostic::error("no-main", format!("`{}` is empty", data.name))
            .at(pdnet_cpp::start_of(file), "no function `main` here")
            .help("give a C program with a function `main`"),
    ])
}

fn finish(
    map: &mut SourceMap,
    file: File,
    mut positions: Positions,
    options: &Options,
    mut warnings: Vec<Diagnostic>,
) -> Result<LoadedUnit, Vec<Diagnostic>> {
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
        Ok((unit, mut found)) => {
            warnings.append(&mut found);
            Ok(LoadedUnit { unit, annotations, warnings })
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
) -> Result<(Unit, Vec<Diagnostic>), Vec<Diagnostic>> {
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
    let (unit, mut found) = sema::check(map, file, positions, &prepared, &unit, options.data_model);
    diagnostics.append(&mut found);
    if diagnostics.iter().any(is_error) { Err(diagnostics) } else { Ok((unit, diagnostics)) }
}
