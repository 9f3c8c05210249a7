//! The way from a file to the tree, read from top to bottom.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pdnet_base::FxHashMap;
use pdnet_cpp::{FileKind, Positions};
use pdnet_source::{Diagnostic, File, Severity, SourceMap, Span};

use crate::lexer::{Token, lex, lex_file, lex_instead};
use crate::names::Names;
use crate::parser::{Parser, separate_asked_labels};
use crate::preprocess::{macros, preprocess};
use crate::tree::{LtlBlock, Model};

/// What we expect to read.
const MODEL_FILE: FileKind = FileKind { short: "a Promela model", long: "a Promela model (`.pml`)" };

/// Stack for the recursive parser. The limits on nesting are chosen so that this is enough in a debug build; the
/// memory is only touched as far as it is needed.
const STACK_SIZE: usize = 256 << 20;

/// How to read Promela.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders with files to include.
    pub include_dirs: Vec<PathBuf>,
    /// Macros: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Further arguments for the preprocessor, in order.
    pub arguments: Vec<OsString>,
    /// The C compiler that runs the preprocessor; by default `$CC`, `cc`, `gcc` or `clang`.
    pub preprocessor: Option<String>,
}

/// A model that was accepted.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model.
    pub model: Model,
    /// Its names, for [`parse_formula`].
    pub names: Names,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
    /// The file and how it was read, to find its macros again.
    origin: Option<Origin>,
}

#[derive(Clone, Debug)]
struct Origin {
    file: File,
    path: PathBuf,
    options: Options,
}

/// How deep macros of formulas may stand inside of each other.
const MACRO_DEPTH_LIMIT: usize = 32;

/// How many tokens the macros of a formula may expand to.
const MACRO_SIZE_LIMIT: usize = 10_000;

/// Reads a model.
///
/// # Errors
/// The diagnostics when the file cannot be read, preprocessed or parsed; warnings are among them.
pub fn load(map: &mut SourceMap, path: &Path, options: &Options) -> Result<Loaded, Vec<Diagnostic>> {
    let file = pdnet_cpp::read(map, path, MODEL_FILE).map_err(|diagnostic| vec![diagnostic])?;
    let positions = preprocess(map, file, path, options)?;
    let mut loaded = parse(map, file, positions)?;
    loaded.origin = Some(Origin { file, path: path.to_path_buf(), options: options.clone() });
    Ok(loaded)
}

/// Takes a text that needs no preprocessor, for tests.
///
/// # Errors
/// The diagnostics when the text is not accepted; warnings are among them.
pub fn load_text(map: &mut SourceMap, file: File) -> Result<Loaded, Vec<Diagnostic>> {
    parse(map, file, None)
}

fn parse(map: &mut SourceMap, file: File, positions: Option<Positions>) -> Result<Loaded, Vec<Diagnostic>> {
    with_large_stack(move || {
        let tokens = match positions {
            Some(mut positions) => lex(map, &mut positions),
            None => lex_file(map, file),
        };
        let mut parser = Parser::new(tokens, end_of(map, file), Model::default(), Names::default());
        parser.units();
        let mut loaded = finish(parser)?;
        crate::places::widen(map, &mut loaded.model);
        Ok(loaded)
    })
}

/// Reads a formula over a model that was loaded before, in SPIN's spelling or ours. `file` has the text of the formula.
/// Macros of the model without parameters can be used, as SPIN's users do.
///
/// Where the formula asks for a label in front of a jump, the jump gets a step of its own, as in SPIN: lower the model
/// behind this.
///
/// # Errors
/// The diagnostics when the formula is not accepted.
pub fn parse_formula(
    map: &SourceMap,
    file: File,
    name: &str,
    loaded: &mut Loaded,
) -> Result<LtlBlock, Vec<Diagnostic>> {
    let (model, names) = (loaded.model.clone(), loaded.names.clone());
    let macros = loaded
        .origin
        .as_ref()
        .map(|origin| macros(&map.file(origin.file).text, &origin.path, &origin.options));
    let (block, asked) = with_large_stack(|| {
        let mut tokens = lex_file(map, file);
        for _ in 0..MACRO_DEPTH_LIMIT {
            if !macros.as_ref().is_some_and(|macros| expand(&mut tokens, macros, &names)) {
                break;
            }
        }
        let end = end_of(map, file);
        let mut parser = Parser::new(tokens, end, model, names);
        let whole = Span { file, start: 0, end: end.end };
        match parser.whole_formula(name.to_owned(), whole) {
            Ok(block) => Ok((block, parser.asked_labels())),
            Err(_) => Err(parser.diagnostics),
        }
    })?;
    separate_asked_labels(&mut loaded.model, &asked);
    Ok(block)
}

/// Puts the texts of macros in their places, once; whether there were any.
fn expand(tokens: &mut Vec<Token>, macros: &FxHashMap<String, String>, names: &Names) -> bool {
    let mut expanded = Vec::with_capacity(tokens.len());
    let mut any = false;
    for token in &*tokens {
        let known = names.globals.contains_key(&*token.text) || names.constants.contains_key(&*token.text);
        match macros.get(&*token.text).filter(|_| token.is_name() && !known) {
            Some(text) if expanded.len() < MACRO_SIZE_LIMIT => {
                any = true;
                expanded.extend(lex_instead(text, token));
            }
            Some(_) | None => expanded.push(token.clone()),
        }
    }
    *tokens = expanded;
    any
}

fn end_of(map: &SourceMap, file: File) -> Span {
    let text = &map.file(file).text;
    let end = u32::try_from(text.trim_end().len()).unwrap_or(u32::MAX);
    Span { file, start: end, end }
}

fn finish(parser: Parser) -> Result<Loaded, Vec<Diagnostic>> {
    let Parser { model, names, diagnostics, .. } = parser;
    if diagnostics.iter().any(|found| found.severity == Severity::Error) {
        return Err(diagnostics);
    }
    Ok(Loaded { model, names, warnings: diagnostics, origin: None })
}

fn with_large_stack<T: Send>(
    work: impl FnOnce() -> Result<T, Vec<Diagnostic>> + Send,
) -> Result<T, Vec<Diagnostic>> {
    std::thread::scope(|scope| {
        match std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work) {
            Ok(thread) => match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(error) => Err(vec![Diagnostic::error(
                "no-memory",
                format!("cannot start the thread that reads the model: {error}"),
            )]),
        }
    })
}
