//! Task definitions of the software verification competition: a program, properties, and the answers that
//! somebody expects.

mod expectation;
mod yaml;

use std::path::{Path, PathBuf};

use pdnet_source::{Diagnostic, SourceMap, Span, nearest_name};

pub(crate) use self::expectation::{report_of, unexpected};
use self::yaml::{Node, Value, parse_yaml};
use crate::args::DataModel;

/// The versions of the format that differ in nothing that we read.
const VERSIONS: [&str; 3] = ["1.0", "2.0", "2.1"];

/// A task.
#[derive(Debug)]
pub(crate) struct Task {
    /// The file of the definition, as it was named.
    pub(crate) definition: PathBuf,
    /// The files of the program. Not empty.
    pub(crate) inputs: Vec<PathBuf>,
    /// The sizes of the types.
    pub(crate) data_model: Option<DataModel>,
    /// What is asked.
    pub(crate) properties: Vec<TaskProperty>,
}

/// A property of a task.
#[derive(Clone, Debug)]
pub(crate) struct TaskProperty {
    /// The name: that of the file without its ending.
    pub(crate) name: String,
    /// The property file.
    pub(crate) file: PathBuf,
    /// Where the task names it.
    pub(crate) span: Span,
    /// The answer that is expected, and where it stands.
    pub(crate) expected: Option<(pdnet_report::Expected, Span)>,
}

/// Whether a file is a task definition rather than a program.
pub(crate) fn is_task(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yml" || ending == "yaml")
}

/// Reads a task definition.
///
/// # Errors
/// Everything that is wrong with it, each with its place.
pub(crate) fn read_task(map: &mut SourceMap, path: &Path) -> Result<Task, Vec<Diagnostic>> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| {
        let message = format!("cannot read the task definition `{name}`: {error}");
        vec![Diagnostic::error("unreadable-file", message)]
    })?;
    let file = map.add(name, String::from_utf8_lossy(&text));
    let document = parse_yaml(map, file).map_err(|error| vec![error])?;
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let mut reader = Reader { folder, errors: Vec::new() };
    reader.version(&document);
    let inputs = reader.inputs(&document);
    let properties = reader.properties(&document);
    let data_model = reader.options(&document);
    if reader.errors.is_empty() {
        return Ok(Task { definition: path.to_owned(), inputs, data_model, properties });
    }
    Err(reader.errors)
}

impl Task {
    /// The property of that name, which the user asked for.
    ///
    /// # Errors
    /// When the task has none of that name.
    pub(crate) fn property(&self, map: &mut SourceMap, name: &str) -> Result<TaskProperty, Diagnostic> {
        if let Some(found) = self.properties.iter().find(|property| property.name == name) {
            return Ok(found.clone());
        }
        let file = map.add("<--property>", name);
        let span = Span { file, start: 0, end: u32::try_from(name.len()).unwrap_or(0) };
        let names: Vec<&str> = self.properties.iter().map(|property| property.name.as_str()).collect();
        let message = format!("`{}` has no property `{name}`", self.definition.display());
        let error = Diagnostic::error("unknown-property", message).at(span, "not one of the task's");
        Err(match nearest_name(name, names.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if names.is_empty() => error.help("the task has no properties"),
            None => error.help(format!("the task has: {}", names.join(", "))),
        })
    }
}

struct Reader<'a> {
    folder: &'a Path,
    errors: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn error(&mut self, id: &'static str, message: impl Into<String>, span: Span, label: &str) {
        self.errors.push(Diagnostic::error(id, message).at(span, label));
    }

    fn malformed(&mut self, message: impl Into<String>, span: Span, label: &str) {
        self.error("malformed-task", message, span, label);
    }

    fn version(&mut self, document: &Node) {
        match document.get("format_version") {
            None => {
                let start = Span { end: document.span.start, ..document.span };
                let error = Diagnostic::error("malformed-task", "this is no task definition")
                    .at(start, "`format_version` is missing")
                    .help("write `format_version: '2.0'`");
                self.errors.push(error);
            }
            Some(node) if node.text().is_some_and(|text| VERSIONS.contains(&text)) => {}
            Some(node) => {
                let label = format!("known are {}", VERSIONS.join(", "));
                self.malformed("unknown version of task definitions", node.span, &label);
            }
        }
    }

    fn inputs(&mut self, document: &Node) -> Vec<PathBuf> {
        let Some(node) = document.get("input_files") else {
            let start = Span { end: document.span.start, ..document.span };
            self.malformed("the task has no program", start, "`input_files` is missing");
            return Vec::new();
        };
        let single = std::slice::from_ref(node);
        let patterns = if let Value::List(items) = &node.value { items.as_slice() } else { single };
        let mut inputs = Vec::new();
        for pattern in patterns {
            let Some(text) = pattern.text() else {
                self.malformed("`input_files` is the name of a file or a list of names", pattern.span, "");
                continue;
            };
            let found = self.expand(text);
            if found.is_empty() {
                let message = format!("there is no file `{text}`");
                let place = if self.folder == Path::new("") { Path::new(".") } else { self.folder };
                let label = format!("looked for in {}", place.display());
                self.error("missing-file", message, pattern.span, &label);
            }
            inputs.extend(found);
        }
        if inputs.is_empty() && self.errors.is_empty() {
            self.malformed("the task has no program", node.span, "no name of a file");
        }
        inputs
    }

    /// The files that a name stands for, which may have wildcards. A file of just that name comes first.
    fn expand(&self, pattern: &str) -> Vec<PathBuf> {
        let path = self.folder.join(pattern);
        if path.is_file() {
            return vec![path];
        }
        // Wildcards in the name of the folder are none.
        let folder = glob::Pattern::escape(&self.folder.display().to_string());
        let pattern = Path::new(&folder).join(pattern).display().to_string();
        let Ok(paths) = glob::glob(&pattern) else { return Vec::new() };
        paths.filter_map(Result::ok).filter(|path| path.is_file()).collect()
    }

    fn properties(&mut self, document: &Node) -> Vec<TaskProperty> {
        let Some(node) = document.get("properties") else { return Vec::new() };
        let Value::List(items) = &node.value else {
            self.malformed("`properties` is not a list", node.span, "each item has a `property_file`");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.property(item)).collect()
    }

    fn property(&mut self, item: &Node) -> Option<TaskProperty> {
        let Some((text, span)) =
            item.get("property_file").and_then(|node| node.text().map(|text| (text, node.span)))
        else {
            self.malformed("this property has no file", item.span, "`property_file` is missing");
            return None;
        };
        let file = self.folder.join(text);
        if !file.is_file() {
            self.error("missing-file", format!("there is no property file `{}`", file.display()), span, "");
            return None;
        }
        let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let expected = item.get("expected_verdict").and_then(|node| self.expected(item, node));
        Some(TaskProperty { name, file, span, expected })
    }

    fn expected(&mut self, item: &Node, node: &Node) -> Option<(pdnet_report::Expected, Span)> {
        // The words that YAML 1.1 takes for truth values.
        let holds = match node.text().map(str::to_ascii_lowercase).as_deref() {
            Some("true" | "yes" | "on") => true,
            Some("false" | "no" | "off") => false,
            _ => {
                self.malformed("this is no verdict", node.span, "`true` or `false`");
                return None;
            }
        };
        let subproperty = item.get("subproperty").and_then(Node::text).map(str::to_owned);
        Some((pdnet_report::Expected { holds, subproperty }, node.span))
    }

    fn options(&mut self, document: &Node) -> Option<DataModel> {
        let options = document.get("options")?;
        if let Some(language) = options.get("language")
            && language.text() != Some("C")
        {
            let message = format!("programs in `{}` are not read", language.text().unwrap_or("?"));
            self.error("unsupported-language", message, language.span, "only C is");
        }
        let node = options.get("data_model")?;
        match node.text() {
            Some("LP64") => Some(DataModel::Lp64),
            Some("ILP32") => Some(DataModel::Ilp32),
            _ => {
                self.malformed("unknown data model", node.span, "`ILP32` or `LP64`");
                None
            }
        }
    }
}
