//! From a file: reads the model, and reads the changed text again as it was read the first time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use pdnet_source::{Diagnostic, File, SourceMap};

use super::{AtomizeOptions, Atomized, atomize};
use crate::tree::{LtlBlock, Model};
use crate::{Options, load, parse_formula};

/// Merges what can be merged in the model of a file. `formulas` are asked of it beside its own.
///
/// # Errors
/// The diagnostics where the model or a formula is not accepted.
pub fn atomize_file(
    map: &mut SourceMap,
    path: &Path,
    options: &Options,
    formulas: &[String],
    atomize_options: &AtomizeOptions,
) -> Result<(File, Atomized, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut loaded = load(map, path, options)?;
    let Some(file) = map.find(&path.display().to_string()) else {
        return Err(vec![Diagnostic::error(
            "missing-file",
            format!("there is no file `{}`", path.display()),
        )]);
    };
    check_claims(&loaded.model, &atomize_options.claims)?;
    let mut blocks: Vec<LtlBlock> = Vec::new();
    for (number, formula) in formulas.iter().enumerate() {
        let name = format!("--ltl {}", number + 1);
        let text = map.add(format!("<{name}>"), formula.as_str());
        blocks.push(parse_formula(map, text, &name, &mut loaded)?);
    }
    let blocks: Vec<&LtlBlock> = blocks.iter().collect();
    // Asking for a label makes a step of a jump behind it; the text that is read again does not know of that.
    let plain = load(&mut SourceMap::new(), path, options)?;
    let asked = crate::dump(&plain.model) != crate::dump(&loaded.model);
    if asked {
        loaded.model = plain.model;
    }
    let mut reload = |text: &str| read_again(path, options, text);
    let atomized = atomize(map, file, &loaded, &blocks, atomize_options, &mut reload)?;
    Ok((file, atomized, loaded.warnings))
}

/// Complains about claims that the model does not have.
fn check_claims(model: &Model, claims: &[String]) -> Result<(), Vec<Diagnostic>> {
    let formulas = model.formulas.iter().map(|block| block.name.as_str());
    let names: Vec<&str> = formulas.chain(model.claims.iter().map(|claim| claim.name.as_str())).collect();
    let unknown = claims.iter().filter(|claim| !names.contains(&claim.as_str()));
    let errors: Vec<Diagnostic> = unknown
        .map(|claim| {
            let error = Diagnostic::error("unknown-claim", format!("the model has no claim `{claim}`"));
            match names.is_empty() {
                true => error.help("it has no `ltl` block and no `never` claim"),
                false => error.help(format!("its claims: {}", names.join(", "))),
            }
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Reads a changed text as the file was read: with the same macros and folders.
fn read_again(path: &Path, options: &Options, text: &str) -> Result<Model, Vec<Diagnostic>> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let copy = std::env::temp_dir().join(format!("pdnet-atomize-{}-{number}.pml", std::process::id()));
    let failed = |error: std::io::Error| {
        vec![Diagnostic::error("unwritable-file", format!("cannot write `{}`: {error}", copy.display()))]
    };
    std::fs::write(&copy, text).map_err(failed)?;
    let mut options = options.clone();
    if text.contains('#') {
        let folder: PathBuf =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).into();
        options.arguments.push(OsString::from("-iquote"));
        options.arguments.push(folder.into());
    }
    let loaded = load(&mut SourceMap::new(), &copy, &options);
    // A copy that stays behind does no harm.
    let _ = std::fs::remove_file(&copy);
    loaded.map(|loaded| loaded.model)
}
