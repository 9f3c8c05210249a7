//! What `pdnet atomize` did, as JSON.
//!
//! # The schema `pdnet-atomize/1`
//!
//! One object. Fields may be added within version 1; none is removed or changes its meaning. What does not
//! apply is `null`, lists are never `null`.
//!
//! | field | content |
//! | --- | --- |
//! | `schema` | `"pdnet-atomize/1"` |
//! | `tool` | `name`, `version` |
//! | `input` | the file as the user named it |
//! | `output` | the file with the new model; `null` where `model` has it |
//! | `model` | the new text; `null` where it is in a file |
//! | `obstacle` | why nothing was merged at all; `null` where that is not so |
//! | `merged` | one object for each `atomic` that was put in |
//! | `kept` | statements that were not merged with what stands before them: `process`, `file`, `line`, `column`, `text`, `reason` |
//! | `channels` | what was found out: `channel`, `fact`, and `process` or `messages` and `capacity` |
//!
//! An object of `merged` has `process`, `file`, `line`, `column`, `exchanged` (how many statements at the front now come
//! behind the one after them) and `statements`: `file`, `line`, `column`, `text`, `rule` (a name), `reason` (a text).
//! A `fact` is `"exclusive-receive"`, `"exclusive-send"`, `"sufficient-capacity"`, or `"given-back"` of a variable that is a lock or a
//! counter.

use serde::Serialize;

use crate::json::to_json;

/// The name and version of the schema.
pub const ATOMIZE_SCHEMA: &str = "pdnet-atomize/1";

/// What was done to a model.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the table above says it")]
pub struct AtomizeReport {
    pub input: String,
    pub output: Option<String>,
    pub model: Option<String>,
    pub obstacle: Option<String>,
    pub merged: Vec<MergedSequence>,
    pub kept: Vec<StatementNote>,
    pub channels: Vec<ChannelNote>,
}

/// One `atomic` that was put in.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the table above says it")]
pub struct MergedSequence {
    pub process: String,
    #[serde(flatten)]
    pub place: SourcePlace,
    pub exchanged: usize,
    pub statements: Vec<StatementNote>,
}

/// A statement, and what is said of it.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the table above says it")]
pub struct StatementNote {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    #[serde(flatten)]
    pub place: SourcePlace,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    pub reason: String,
}

/// Where something stands.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct SourcePlace {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// What was found out about a channel.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the table above says it")]
pub struct ChannelNote {
    pub channel: String,
    pub fact: &'static str,
    pub process: Option<String>,
    pub messages: Option<u64>,
    pub capacity: Option<u32>,
}

/// The report as one JSON object, indented, ending in a newline.
#[must_use]
pub fn atomize_json(report: &AtomizeReport, version: &str) -> String {
    to_json(&Object { schema: ATOMIZE_SCHEMA, tool: Tool { name: "pdnet", version }, report })
}

#[derive(Serialize)]
struct Object<'a> {
    schema: &'static str,
    tool: Tool<'a>,
    #[serde(flatten)]
    report: &'a AtomizeReport,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'static str,
    version: &'a str,
}
