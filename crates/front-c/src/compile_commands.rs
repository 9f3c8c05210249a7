//! `compile_commands.json`: how the files of a project are compiled, as build systems write it down.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use pdnet_source::{Diagnostic, SourceMap, Span, nearest_name};

use crate::json::{self, Json, Value};
use crate::types::DataModel;
use crate::{Input, Options};

/// The name of the file that build systems write.
const FILE_NAME: &str = "compile_commands.json";

/// The inputs that a compilation database describes: of the given files, or of all its C files where none
/// is given. `path` is the database or the folder with it. What `options` say comes after what it says.
///
/// # Errors
/// A database that cannot be read or understood, and files that are not in it or do not exist.
pub fn compile_commands(
    map: &mut SourceMap,
    path: &Path,
    files: &[PathBuf],
    options: &Options,
) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let path = if path.is_dir() { path.join(FILE_NAME) } else { path.to_path_buf() };
    let file = pdnet_cpp::read(map, &path, crate::load::C_FILE).map_err(|error| vec![error])?;
    let json = json::parse(file, &map.file(file).text).map_err(|error| vec![error])?;
    let entries = entries(&json, &path)?;
    let mut errors = Vec::new();
    let chosen =
        if files.is_empty() { all_entries(&entries) } else { chosen_entries(&entries, files, &mut errors) };
    if chosen.is_empty() && errors.is_empty() {
        errors
            .push(Diagnostic::error("no-input", "the compilation database has no C files").at(json.span, ""));
    }
    let mut inputs = Vec::new();
    for entry in chosen {
        if !entry.path.is_file() {
            let message = format!("there is no file `{}`", entry.path.display());
            errors.push(Diagnostic::error("missing-file", message).at(entry.span, "named here"));
            continue;
        }
        match entry.options(options) {
            Ok(options) => inputs.push(Input { path: shortened(&entry.path), options }),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(inputs) } else { Err(errors) }
}

/// How one file is compiled.
#[derive(Debug)]
struct Entry {
    folder: PathBuf,
    path: PathBuf,
    /// Where the file is named.
    span: Span,
    /// The words of the command, the compiler first.
    words: Vec<String>,
    /// Where the command stands.
    command: Span,
}

fn entries(json: &Json, path: &Path) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    let wrong = |span: Span, label: &str| {
        let error =
            Diagnostic::error("bad-compile-commands", "this is no compilation database").at(span, label);
        vec![error.help("it is a list of objects with `directory`, `file`, and `command` or `arguments`")]
    };
    let Value::List(items) = &json.value else { return Err(wrong(json.span, "expected a list")) };
    let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut entries = Vec::new();
    for item in items {
        let Value::Object(_) = item.value else { return Err(wrong(item.span, "expected an object")) };
        let Some((name, span)) = item.get("file").and_then(|json| Some((json.text()?, json.span))) else {
            return Err(wrong(item.span, "it has no `file`"));
        };
        let folder =
            item.get("directory").and_then(Json::text).map_or(base.clone(), |folder| base.join(folder));
        let (words, command) = match (item.get("arguments"), item.get("command")) {
            (Some(json), _) => match &json.value {
                Value::List(words) => {
                    let words = words.iter().map(|word| word.text().map(str::to_owned));
                    let words: Option<Vec<String>> = words.collect();
                    (words.ok_or_else(|| wrong(json.span, "expected strings"))?, json.span)
                }
                Value::String(_) | Value::Object(_) | Value::Other => {
                    return Err(wrong(json.span, "expected a list"));
                }
            },
            (None, Some(json)) => match json.text() {
                Some(text) => (shell_words(text), json.span),
                None => return Err(wrong(json.span, "expected a string")),
            },
            (None, None) => return Err(wrong(item.span, "it has neither `command` nor `arguments`")),
        };
        entries.push(Entry { path: folder.join(name), folder, span, words, command });
    }
    Ok(entries)
}

/// All C files, each once: where a file is compiled several times, the first command counts.
fn all_entries(entries: &[Entry]) -> Vec<&Entry> {
    let mut seen: Vec<PathBuf> = Vec::new();
    let is_c =
        |entry: &&Entry| entry.path.extension().is_some_and(|extension| extension == "c" || extension == "i");
    let is_new = |entry: &&Entry| {
        let real = real_path(&entry.path);
        let is_new = !seen.contains(&real);
        if is_new {
            seen.push(real);
        }
        is_new
    };
    entries.iter().filter(is_c).filter(is_new).collect()
}

fn chosen_entries<'e>(
    entries: &'e [Entry],
    files: &[PathBuf],
    errors: &mut Vec<Diagnostic>,
) -> Vec<&'e Entry> {
    let mut chosen = Vec::new();
    for file in files {
        let wanted = real_path(file);
        match entries.iter().find(|entry| real_path(&entry.path) == wanted) {
            Some(entry) => chosen.push(entry),
            None => {
                let name = file.display().to_string();
                let error =
                    Diagnostic::error("missing-file", format!("`{name}` is not in the compilation database"));
                let known: Vec<String> =
                    entries.iter().map(|entry| shortened(&entry.path).display().to_string()).collect();
                errors.push(match nearest_name(&name, known.iter().map(String::as_str)) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help("name only files that it lists, or leave `--compile-commands` away"),
                });
            }
        }
    }
    chosen
}

fn real_path(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The path as seen from the current folder, where it is below it.
fn shortened(path: &Path) -> PathBuf {
    let real = real_path(path);
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| real.strip_prefix(here).ok().map(Path::to_path_buf));
    below.unwrap_or(real)
}

impl Entry {
    /// The options of the front end that the command's options are.
    fn options(&self, base: &Options) -> Result<Options, Diagnostic> {
        let mut options = base.clone();
        let given = std::mem::take(&mut options.arguments);
        let mut words = self.words.iter().skip(1).map(String::as_str);
        while let Some(word) = words.next() {
            if let Some(flag) = PATH_FLAGS.iter().find(|flag| word.starts_with(**flag)) {
                let value = if word == *flag { words.next().unwrap_or("") } else { &word[flag.len()..] };
                // A header that is included by its name is looked for in the folders for headers too.
                let path = self.folder.join(value);
                let is_name = matches!(*flag, "-include" | "-imacros") && !path.exists();
                options.arguments.push((*flag).into());
                options.arguments.push(if is_name { value.into() } else { path.into_os_string() });
            } else if let Some(flag) = ["-D", "-U"].iter().find(|flag| word.starts_with(**flag)) {
                let value = if word == *flag { words.next().unwrap_or("") } else { &word[flag.len()..] };
                options.arguments.push(OsString::from(format!("{flag}{value}")));
            } else if let Some(standard) = word.strip_prefix("-std=") {
                options.standard = Some(standard.to_owned());
            } else {
                match word {
                    "-m32" => options.data_model = DataModel::Ilp32,
                    "-ansi" => options.standard = Some("c90".to_owned()),
                    "-pthread" | "-nostdinc" | "-undef" => options.arguments.push(word.into()),
                    "-o" | "-MF" | "-MT" | "-MQ" | "-x" => {
                        words.next();
                    }
                    "-funsigned-char" | "-fno-signed-char" | "-fshort-enums" | "-fpack-struct" => {
                        let message = format!("the option `{word}` is not supported");
                        return Err(Diagnostic::error("unsupported-option", message)
                            .at(self.command, "it changes what the program means"));
                    }
                    // Optimisation, warnings, and the like.
                    _ => {}
                }
            }
        }
        options.arguments.extend(given);
        Ok(options)
    }
}

/// Options with a path, which is relative to the folder of the entry; longer ones first.
const PATH_FLAGS: &[&str] = &["-idirafter", "-isystem", "-include", "-imacros", "-iquote", "-I"];

/// The words of a command, as a shell would split it.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(letters.next()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(letters.by_ref().take_while(|&letter| letter != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(letter) = letters.next().filter(|&letter| letter != '"') {
                    // Inside of quotes a backslash is one unless something special follows.
                    if letter == '\\'
                        && letters.peek().is_some_and(|next| matches!(next, '"' | '\\' | '$' | '`'))
                    {
                        word.extend(letters.next());
                    } else {
                        word.push(letter);
                    }
                }
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_as_a_shell_does() {
        let words = shell_words(r#"cc -DA=1 '-DB="x y"' "-DC=\"z\"" -I../in\ c  -c a.c"#);
        assert_eq!(words, ["cc", "-DA=1", "-DB=\"x y\"", "-DC=\"z\"", "-I../in c", "-c", "a.c"]);
    }
}
