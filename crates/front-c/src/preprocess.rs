//! Running the system's preprocessor with our headers in front.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

use pdnet_source::{Diagnostic, File, SourceMap, Span};

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

/// What stands in line markers before the name of one of our headers.
const OVERLAY_PREFIX: &str = "<pdnet>/";

/// The text of one of our headers, by its name in a line marker.
pub(crate) fn overlay_text(name: &str) -> Option<&'static str> {
    let short = name.strip_prefix(OVERLAY_PREFIX)?;
    OVERLAY.iter().find(|(known, _)| *known == short).map(|(_, text)| *text)
}

/// At most this many of the compiler's messages are passed on.
const MESSAGE_LIMIT: usize = 20;

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
    let candidates = commands(options);
    for command in &candidates {
        let arguments = arguments(command, overlay.path(), input, options, true);
        let mut output = match run(command, &arguments) {
            Ok(output) => output,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                return Err(vec![Diagnostic::error(
                    "no-preprocessor",
                    format!("cannot run `{command}`: {error}"),
                )]);
            }
        };
        if !output.status.success() && options.data_model == DataModel::Ilp32 {
            // No 32-bit target, or no headers for it: the 64-bit headers with the sizes set by hand.
            let plain = self::arguments(command, overlay.path(), input, options, false);
            if let Ok(second) = run(command, &plain)
                && second.status.success()
            {
                output = second;
            }
        }
        if output.status.success() {
            let text = crate::input::decode(output.stdout);
            // Our headers have a name of their own: the folder is gone soon, and differs in each run.
            let folder = format!("\"{}/", overlay.path().display());
            return Ok(text.replace(&folder, &format!("\"{OVERLAY_PREFIX}")));
        }
        return Err(failures(map, file, path, command, &output));
    }
    let tried = candidates.join("`, `");
    Err(vec![
        Diagnostic::error("no-preprocessor", format!("no C compiler was found (tried `{tried}`)"))
            .note("pdnet lets a C compiler run the preprocessor")
            .help("install gcc or clang, or set CC")
            .help("or give a preprocessed file: `cc -E program.c > program.i` on another machine"),
    ])
}

fn write_overlay() -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("pdnet-headers-").tempdir()?;
    std::fs::create_dir(folder.path().join("gnu"))?;
    for (name, text) in OVERLAY {
        std::fs::write(folder.path().join(name), text)?;
    }
    Ok(folder)
}

/// The commands to try, in order.
fn commands(options: &Options) -> Vec<String> {
    if let Some(command) = &options.preprocessor {
        return vec![command.clone()];
    }
    let chosen = std::env::var("CC").ok().filter(|command| !command.trim().is_empty());
    chosen.into_iter().chain(["cc", "gcc", "clang"].map(str::to_owned)).collect()
}

fn run(command: &str, arguments: &[OsString]) -> std::io::Result<Output> {
    // `CC` may hold options too.
    let mut words = command.split_whitespace();
    let program = words.next().ok_or(ErrorKind::NotFound)?;
    Command::new(program).args(words).args(arguments).env("LC_ALL", "C").env_remove("LANGUAGE").output()
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
    let output = run(command, &["-print-multiarch".into()]).ok()?;
    let name = String::from_utf8(output.stdout).ok()?;
    let folder = Path::new("/usr/include").join(name.trim());
    (!name.trim().is_empty() && folder.is_dir()).then(|| folder.into_os_string())
}

/// The compiler's complaints as our diagnostics.
fn failures(map: &mut SourceMap, file: File, path: &Path, command: &str, output: &Output) -> Vec<Diagnostic> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let main_name = path.display().to_string();
    let mut found = Vec::new();
    for line in stderr.lines() {
        let Some(message) = parse_message(line) else { continue };
        let place = if message.file == main_name {
            Some(file)
        } else {
            map.find(&message.file).or_else(|| {
                let bytes = std::fs::read(&message.file).ok()?;
                Some(map.add(message.file.clone(), crate::input::decode(bytes)))
            })
        };
        let span = place.and_then(|place| message_span(map, place, &message));
        found.push(describe(&message, span));
        if found.len() == MESSAGE_LIMIT {
            break;
        }
    }
    if found.is_empty() {
        let mut diagnostic = Diagnostic::error("preprocessor-error", format!("`{command} -E` failed"));
        for line in stderr.lines().take(5) {
            diagnostic = diagnostic.note(line);
        }
        found.push(diagnostic);
    }
    found
}

struct Message {
    file: String,
    line: u32,
    column: u32,
    text: String,
}

/// `file:line:column: error: text`.
fn parse_message(line: &str) -> Option<Message> {
    let (place, text) =
        [": fatal error: ", ": error: "].iter().find_map(|separator| line.split_once(separator))?;
    let mut parts = place.rsplitn(3, ':');
    let (last, middle) = (parts.next()?, parts.next()?);
    let text = text.trim().to_owned();
    match (middle.parse(), last.parse(), parts.next()) {
        (Ok(line), Ok(column), Some(file)) => Some(Message { file: file.to_owned(), line, column, text }),
        _ => None,
    }
}

fn message_span(map: &SourceMap, file: File, message: &Message) -> Option<Span> {
    let data = map.file(file);
    let text = data.line_text(message.line)?;
    let start = data.line_start(message.line)?;
    if let Some(name) = missing_header(&message.text)
        && let Some(at) = text.find(name)
    {
        // Take the brackets or quotes around the name too.
        let from = start + u32::try_from(at.saturating_sub(1)).ok()?;
        let width = u32::try_from(name.len()).ok()? + if at > 0 { 2 } else { 0 };
        let end = (from + width).min(start + u32::try_from(text.len()).ok()?);
        return Some(Span { file, start: from, end });
    }
    let column = (message.column.max(1) as usize - 1).min(text.len());
    let rest = text.get(column..).unwrap_or("").trim_end();
    let from = start + u32::try_from(column).ok()?;
    Some(Span { file, start: from, end: from + u32::try_from(rest.len()).ok()? })
}

fn missing_header(text: &str) -> Option<&str> {
    let quoted = text.strip_suffix(" file not found").map(|name| name.trim_matches('\''));
    text.strip_suffix(": No such file or directory").or(quoted)
}

fn describe(message: &Message, span: Option<Span>) -> Diagnostic {
    let (diagnostic, label) = if let Some(name) = missing_header(&message.text) {
        let diagnostic = Diagnostic::error("missing-include", format!("cannot find the header `{name}`"))
            .help("give its folder with `-I`, or install the library that has it")
            .help("or preprocess the file where the header is, and give the `.i` file");
        (diagnostic, "not found")
    } else {
        (Diagnostic::error("preprocessor-error", message.text.clone()), "reported by the C preprocessor")
    };
    match span {
        Some(span) => diagnostic.at(span, label),
        None => diagnostic.note(format!("in {}:{}", message.file, message.line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_gcc_and_clang_are_read() {
        let message =
            parse_message("a.c:3:10: fatal error: foo.h: No such file or directory").expect("parsed");
        assert_eq!((message.file.as_str(), message.line, message.column), ("a.c", 3, 10));
        assert_eq!(missing_header(&message.text), Some("foo.h"));
        let message = parse_message("a.c:3:10: fatal error: 'foo.h' file not found").expect("parsed");
        assert_eq!(missing_header(&message.text), Some("foo.h"));
        let message = parse_message("b:1.c:2:2: error: #error \"no\"").expect("parsed");
        assert_eq!(message.file, "b:1.c");
        assert!(parse_message("In file included from a.c:1:").is_none());
    }
}
