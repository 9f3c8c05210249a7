//! Slices as JSON, for programs.
//!
//! # The schema `pdnet-slice/1`
//!
//! One object. Fields may be added within version 1; none is removed or changes its meaning. What does not
//! apply is `null`, lists are never `null`.
//!
//! | field | content |
//! | --- | --- |
//! | `schema` | `"pdnet-slice/1"` |
//! | `tool` | `name`, `version` |
//! | `input` | the file as the user named it |
//! | `method` | `"on-demand"`, `"program"`, `"net"` |
//! | `slices` | one object for each group of properties that is checked together |
//! | `notes` | texts that the user should know |
//!
//! A slice:
//!
//! | field | content |
//! | --- | --- |
//! | `properties` | `name`, `formula` of each |
//! | `mode` | `"prefix"`: one step or state breaks it; `"run"`: whole runs do |
//! | `fairness` | `"none"`, `"weak"`, `"strong"`; `null` where it makes no difference |
//! | `seconds` | how long slicing took |
//! | `transitions`, `places` | `before`, `after`: their numbers; control places are not counted |
//! | `files` | `file`, `lines`: for each line with code `line`, `mark` (`"kept"` or `"cut"`), `reasons` (texts) |
//! | `functions` | names of those cut entirely |
//! | `threads` | creations of threads that are cut: `label`, `file`, `line`, `column` |
//! | `variables` | names of those cut |

use pdnet_reduce::Mode;
use serde::Serialize;

use crate::json::{PlaceObject, to_json};
use crate::slice_words::Words;
use crate::slicing::{Change, SliceReport, SlicedProperties, changes, code_lines, cut_things, file_name};

/// The name and version of the schema.
pub const SLICE_SCHEMA: &str = "pdnet-slice/1";

/// All slices as one JSON object, indented, ending in a newline.
#[must_use]
pub fn slice_json(report: &SliceReport<'_>) -> String {
    to_json(&Object {
        schema: SLICE_SCHEMA,
        tool: Tool { name: "pdnet", version: report.version },
        input: &report.input,
        method: report.method,
        slices: report.slices.iter().map(|sliced| slice_of(report, sliced)).collect(),
        notes: &report.notes,
    })
}

fn slice_of<'a>(report: &'a SliceReport<'_>, sliced: &'a SlicedProperties) -> SliceObject<'a> {
    let (net, map) = (report.net, report.map);
    let (transitions, places) = changes(net, &sliced.parts);
    let things = cut_things(net, map, &sliced.parts);
    let words = Words::new(net, map, sliced);
    let mut files: Vec<FileObject<'_>> = Vec::new();
    for ((file, line), code) in code_lines(net, map, &sliced.parts.kept) {
        let name = file_name(net, map, file);
        if files.last().is_none_or(|last| last.file != name) {
            files.push(FileObject { file: name, lines: Vec::new() });
        }
        let mark = if code.is_kept() { "kept" } else { "cut" };
        let reasons = words.of_line(file, line, &code);
        if let Some(last) = files.last_mut() {
            last.lines.push(LineObject { line, mark, reasons });
        }
    }
    let properties = sliced.properties.iter();
    let threads = things.threads.into_iter();
    SliceObject {
        properties: properties
            .map(|property| PropertyObject { name: &property.name, formula: &property.text })
            .collect(),
        mode: match sliced.parts.mode {
            Mode::Prefix => "prefix",
            Mode::Run => "run",
        },
        fairness: sliced.fairness.map(|fairness| fairness.to_string()),
        seconds: sliced.seconds,
        transitions: transitions.into(),
        places: places.into(),
        files,
        functions: things.functions,
        threads: threads
            .map(|(label, pos)| ThreadObject {
                label,
                place: PlaceObject::new(pos, |pos| file_name(net, map, pos.file).to_owned()),
            })
            .collect(),
        variables: things.variables,
    }
}

#[derive(Serialize)]
struct Object<'a> {
    schema: &'static str,
    tool: Tool<'a>,
    input: &'a str,
    method: &'static str,
    slices: Vec<SliceObject<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'static str,
    version: &'a str,
}

#[derive(Serialize)]
struct SliceObject<'a> {
    properties: Vec<PropertyObject<'a>>,
    mode: &'static str,
    fairness: Option<String>,
    seconds: f64,
    transitions: ChangeObject,
    places: ChangeObject,
    files: Vec<FileObject<'a>>,
    functions: Vec<String>,
    threads: Vec<ThreadObject>,
    variables: Vec<String>,
}

#[derive(Serialize)]
struct PropertyObject<'a> {
    name: &'a str,
    formula: &'a str,
}

/// A size before and after.
#[derive(Serialize)]
pub(crate) struct ChangeObject {
    before: usize,
    after: usize,
}

impl From<Change> for ChangeObject {
    fn from(change: Change) -> Self {
        Self { before: change.before, after: change.after }
    }
}

#[derive(Serialize)]
struct FileObject<'a> {
    file: &'a str,
    lines: Vec<LineObject>,
}

#[derive(Serialize)]
struct LineObject {
    line: u32,
    mark: &'static str,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct ThreadObject {
    label: String,
    #[serde(flatten)]
    place: PlaceObject,
}
