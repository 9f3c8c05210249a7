//! Running the system's preprocessor with our headers in front.

use std::ffi::OsString;
use std::path::Path;

use pdnet_cpp::compiler;
use pdnet_source::{Diagnostic, File, SourceMap};

use crate::Options;
use crate::types::DataModel;

/// Headers that take the place of the system's: they keep atomics and assertions as plain calls.
const OVERLAY: &[(&str, &str)] = &[
    ("assert.h", include_str!("overlay/assert.h")),
    ("pthread.h", include_str!("overlay/pthread.h")),
    ("semaphore.h", include_str!("overlay/semaphore.h")),
    ("stdatomic.h", include_str!("overlay/stdatomic.h")),
    ("threads.h", include_str!("overlay/threads.h")),
    // glibc wants these for a data model that is not installed; they say only which functions are stubs.
    ("gnu/stubs-32.h", ""),
    ("gnu/stubs-x32.h", ""),
];

/// What to do where a header is missing.
const MISSING_INCLUDE_HELP: &[&str] = &[
    "give its folder with `-I`, or install the library that has it",
    "or preprocess the file where the header is, and give the `.i` file",
];

/// What stands in line markers before the name of one of our headers.
const OVERLAY_PREFIX: &str = "<pdnet>/";

/// The text of one of our headers, by its name in a line marker.
pub(crate) fn overlay_text(name: &str) -> Option<&'static str> {
    let short = name.strip_prefix(OVERLAY_PREFIX)?;
    OVERLAY.iter().find(|(known, _)| *known == short).map(|(_, text)| *text)
}

/// What the preprocessor reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The file in the map.
    pub(crate) file: File,
    /// Its path.
    pub(crate) path: &'a Path,
    /// A text to take in the place of the file's own, with the same lines.
    pub(crate) instead: Option<&'a str>,
}

/// The preprocessed text of a file.
pub(crate) fn preprocess(
    map: &mut SourceMap,
    source: Source<'_>,
    options: &Options,
) -> Result<String, Vec<Diagnostic>> {
    let Source { file, path, instead } = source;
    let unwritable = |error: std::io::Error| {
        vec![Diagnostic::error("no-temporary-folder", format!("cannot write to a temporary folder: {error}"))]
    };
    let overlay = write_overlay().map_err(unwritable)?;
    let text_path = match instead {
        Some(text) => write_instead(overlay.path(), path, text).map_err(unwritable)?,
        None => path.to_path_buf(),
    };
    let input = Input { path: &text_path, folder: instead.and(path.parent()) };
    let candidates = compiler::commands(options.preprocessor.as_deref());
    let (command, output) = compiler::first_output(&candidates, |command| {
        let output = compiler::run(command, &arguments(command, overlay.path(), input, options, true))?;
        if output.status.success() || options.data_model != DataModel::Ilp32 {
            return Ok(output);
        }
        // No 32-bit target, or no headers for it: the 64-bit headers with the sizes set by hand.
        let second = compiler::run(command, &arguments(command, overlay.path(), input, options, false));
        Ok(second.ok().filter(|second| second.status.success()).unwrap_or(output))
    })
    .map_err(|diagnostic| {
        vec![diagnostic.help("or give a preprocessed file: `cc -E program.c > program.i` on another machine")]
    })?;
    if !output.status.success() {
        return Err(compiler::failures(map, file, path, &command, &output, MISSING_INCLUDE_HELP));
    }
    let text = pdnet_cpp::decode(output.stdout);
    // Our headers have a name of their own: the folder is gone soon, and differs in each run.
    let folder = format!("\"{}/", overlay.path().display());
    Ok(text.replace(&folder, &format!("\"{OVERLAY_PREFIX}")))
}

fn write_overlay() -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("pdnet-headers-").tempdir()?;
    std::fs::create_dir(folder.path().join("gnu"))?;
    for (name, text) in OVERLAY {
        std::fs::write(folder.path().join(name), text)?;
    }
    Ok(folder)
}

/// The file that the compiler opens, and the folder where it looks for headers in quotes when that is not
/// the folder of the file.
#[derive(Clone, Copy, Debug)]
struct Input<'a> {
    path: &'a Path,
    folder: Option<&'a Path>,
}

/// Writes the text that takes the place of a file. It says itself which file it stands for.
fn write_instead(folder: &Path, path: &Path, text: &str) -> std::io::Result<std::path::PathBuf> {
    let folder = folder.join("source");
    std::fs::create_dir(&folder)?;
    let place = folder.join(path.file_name().unwrap_or_default());
    let name = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    std::fs::write(&place, format!("#line 1 \"{name}\"\n{text}"))?;
    Ok(place)
}

fn arguments(
    command: &str,
    overlay: &Path,
    input: Input<'_>,
    options: &Options,
    native: bool,
) -> Vec<OsString> {
    let standard = options.standard.as_deref().unwrap_or("gnu17");
    let mut list: Vec<OsString> = ["-E", "-x", "c"].map(OsString::from).to_vec();
    list.push(format!("-std={standard}").into());
    list.push("-isystem".into());
    list.push(overlay.into());
    if let Some(folder) = input.folder {
        list.push("-iquote".into());
        list.push(if folder.as_os_str().is_empty() { ".".into() } else { folder.into() });
    }
    for folder in &options.include_dirs {
        list.push("-I".into());
        list.push(folder.into());
    }
    for define in &options.defines {
        list.push(format!("-D{define}").into());
    }
    list.extend(options.arguments.iter().cloned());
    if options.data_model == DataModel::Ilp32 {
        if native {
            list.push("-m32".into());
            if let Some(folder) = architecture_folder(command) {
                list.push("-idirafter".into());
                list.push(folder);
            }
        } else {
            list.extend(ILP32_MACROS.iter().map(OsString::from));
        }
    }
    list.push(input.path.into());
    list
}

/// What a 32-bit target would define, for compilers that have none. Headers that look at the name of the
/// processor instead still take the 64-bit branch; the sizes of `long` and of pointers come from us in
/// any case.
const ILP32_MACROS: &[&str] = &[
    "-U__LP64__",
    "-U_LP64",
    "-D__ILP32__=1",
    "-D_ILP32=1",
    "-U__SIZEOF_LONG__",
    "-D__SIZEOF_LONG__=4",
    "-U__SIZEOF_POINTER__",
    "-D__SIZEOF_POINTER__=4",
    "-U__SIZEOF_SIZE_T__",
    "-D__SIZEOF_SIZE_T__=4",
    "-U__SIZEOF_PTRDIFF_T__",
    "-D__SIZEOF_PTRDIFF_T__=4",
    "-U__LONG_MAX__",
    "-D__LONG_MAX__=2147483647L",
    "-U__LONG_WIDTH__",
    "-D__LONG_WIDTH__=32",
    "-U__SIZE_TYPE__",
    "-D__SIZE_TYPE__=unsigned int",
    "-U__PTRDIFF_TYPE__",
    "-D__PTRDIFF_TYPE__=int",
    "-U__SIZE_MAX__",
    "-D__SIZE_MAX__=4294967295U",
    "-U__PTRDIFF_MAX__",
    "-D__PTRDIFF_MAX__=2147483647",
    "-U__INTPTR_TYPE__",
    "-D__INTPTR_TYPE__=int",
    "-U__UINTPTR_TYPE__",
    "-D__UINTPTR_TYPE__=unsigned int",
    "-U__INT64_TYPE__",
    "-D__INT64_TYPE__=long long int",
    "-U__UINT64_TYPE__",
    "-D__UINT64_TYPE__=long long unsigned int",
    "-U__INTMAX_TYPE__",
    "-D__INTMAX_TYPE__=long long int",
    "-U__UINTMAX_TYPE__",
    "-D__UINTMAX_TYPE__=long long unsigned int",
    "-U__SIZEOF_INT128__",
];

/// Where Debian keeps the headers of this machine's processor.
fn architecture_folder(command: &str) -> Option<OsString> {
    let output = compiler::run(command, &["-print-multiarch".into()]).ok()?;
    let name = String::from_utf8(output.stdout).ok()?;
    let folder = Path::new("/usr/include").join(name.trim());
    (!name.trim().is_empty() && folder.is_dir()).then(|| folder.into_os_string())
}
