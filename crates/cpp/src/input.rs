//! Reading the user's file.

use std::path::Path;

use pdnet_source::{Diagnostic, File, SourceMap, Span};

/// The largest file that is read.
const SIZE_LIMIT: u64 = 256 << 20;

/// Bytes as text: UTF-8 where it is UTF-8, otherwise each bad byte becomes a replacement character, so
/// that a comment in Latin-1 does no harm.
#[must_use]
pub fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// What a file should be, in the words of a diagnostic.
#[derive(Clone, Copy, Debug)]
pub struct FileKind {
    /// `a C file`.
    pub short: &'static str,
    /// The same with the endings of names.
    pub long: &'static str,
}

/// Reads a source file into the map.
///
/// # Errors
/// It is not there, not a file, too large, or not text.
pub fn read(map: &mut SourceMap, path: &Path, kind: FileKind) -> Result<File, Diagnostic> {
    let name = path.display();
    let unreadable =
        |reason: String| Diagnostic::error("unreadable-file", format!("cannot read `{name}`: {reason}"));
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let diagnostic = Diagnostic::error("missing-file", format!("there is no file `{name}`"));
            return Err(match similar_file(path) {
                Some(other) => diagnostic.help(format!("did you mean `{other}`?")),
                None => diagnostic.help("check the path; it is taken relative to the current directory"),
            });
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    if metadata.is_dir() {
        return Err(
            unreadable("it is a directory".to_owned()).help(format!("give the path of {}", kind.short))
        );
    }
    if metadata.len() > SIZE_LIMIT {
        return Err(unreadable("it is larger than 256 MiB".to_owned()));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(Diagnostic::error("binary-file", format!("`{name}` is not a text file"))
            .note(format!("byte {at} is zero"))
            .help(format!("give {}", kind.long)));
    }
    Ok(map.add(name.to_string(), decode(bytes)))
}

/// A file in the same folder with nearly the same name.
fn similar_file(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).ok()?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let name = pdnet_source::nearest_name(wanted, names.iter().map(String::as_str))?;
    Some(path.with_file_name(name).display().to_string())
}

/// The start of the file, for diagnostics about the whole of it.
#[must_use]
pub fn start_of(file: File) -> Span {
    Span { file, start: 0, end: 0 }
}
