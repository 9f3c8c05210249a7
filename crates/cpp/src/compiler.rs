//! Running the C compiler that the system has as a preprocessor, and reading its complaints.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

use pdnet_source::{Diagnostic, File, SourceMap, Span};

use crate::input::decode;

/// At most this many of the compiler's messages are passed on.
const MESSAGE_LIMIT: usize = 20;

/// The commands to try, in order: the chosen one alone, or `$CC` and the usual names.
#[must_use]
pub fn commands(chosen: Option<&str>) -> Vec<String> {
    if let Some(command) = chosen {
        return vec![command.to_owned()];
    }
    let from_environment = std::env::var("CC").ok().filter(|command| !command.trim().is_empty());
    from_environment.into_iter().chain(["cc", "gcc", "clang"].map(str::to_owned)).collect()
}

/// Runs a command, which may hold options too, as `CC` may.
///
/// # Errors
/// The command cannot be started.
pub fn run(command: &str, arguments: &[OsString]) -> std::io::Result<Output> {
    let mut words = command.split_whitespace();
    let program = words.next().ok_or(ErrorKind::NotFound)?;
    Command::new(program).args(words).args(arguments).env("LC_ALL", "C").env_remove("LANGUAGE").output()
}

/// What the first command that exists says, and which one that was.
///
/// # Errors
/// There is none, or it cannot be run.
pub fn first_output(
    candidates: &[String],
    mut attempt: impl FnMut(&str) -> std::io::Result<Output>,
) -> Result<(String, Output), Diagnostic> {
    for command in candidates {
        match attempt(command) {
            Ok(output) => return Ok((command.clone(), output)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Diagnostic::error("no-preprocessor", format!("cannot run `{command}`: {error}")));
            }
        }
    }
    let tried = candidates.join("`, `");
    Err(Diagnostic::error("no-preprocessor", format!("no C compiler was found (tried `{tried}`)"))
        .note("pdnet lets a C compiler run the preprocessor")
        .help("install gcc or clang, or set CC"))
}

/// The compiler's complaints as our diagnostics.
///
/// `missing_include_help` says what to do where a header is not found.
pub fn failures(
    map: &mut SourceMap,
    file: File,
    path: &Path,
    command: &str,
    output: &Output,
    missing_include_help: &[&str],
) -> Vec<Diagnostic> {
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
                Some(map.add(message.file.clone(), decode(bytes)))
            })
        };
        let span = place.and_then(|place| message_span(map, place, &message));
        found.push(describe(&message, span, missing_include_help));
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

fn describe(message: &Message, span: Option<Span>, missing_include_help: &[&str]) -> Diagnostic {
    let (diagnostic, label) = if let Some(name) = missing_header(&message.text) {
        let diagnostic = Diagnostic::error("missing-include", format!("cannot find the header `{name}`"));
        (missing_include_help.iter().fold(diagnostic, |diagnostic, help| diagnostic.help(*help)), "not found")
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
