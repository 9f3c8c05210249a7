//! YAML as a tree with places in the source, for diagnostics.
//!
//! Scalars are kept as they were written: that `2.0` is a version and no number, and `false` a verdict and no
//! truth value, only the reader of the document knows. This is the only file that knows the parser library.

use pdnet_source::{Diagnostic, File, SourceMap, Span};
use saphyr_parser::{Event, Marker, Parser};

/// A node of the document.
#[derive(Debug)]
pub(crate) struct Node {
    /// Where it stands.
    pub(crate) span: Span,
    /// What it is.
    pub(crate) value: Value,
}

/// What a node is.
#[derive(Debug)]
pub(crate) enum Value {
    /// A text, a number, a truth value: as it was written, without quotes.
    Scalar(String),
    /// A list.
    List(Vec<Node>),
    /// Keys with their values, in the order of the file.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// The text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Whether there is nothing behind the key.
    pub(crate) fn is_null(&self) -> bool {
        self.text().is_some_and(|text| text.is_empty() || text == "~" || text == "null")
    }

    /// The value of a key of a map, `None` where there is none or nothing stands behind it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Value::Map(entries) = &self.value else { return None };
        let found = entries.iter().find(|(name, _)| name.text() == Some(key));
        found.map(|(_, value)| value).filter(|value| !value.is_null())
    }
}

/// Something that is not yet complete.
enum Open {
    List(Span, Vec<Node>),
    Map(Span, Vec<(Node, Node)>, Option<Node>),
}

/// Reads the one document of a file.
///
/// # Errors
/// What is no YAML, what has no document or more than one, and aliases, which nobody writes here.
pub(crate) fn parse_yaml(map: &SourceMap, file: File) -> Result<Node, Diagnostic> {
    let text = &map.file(file).text;
    let place = Places::new(file, text);
    let mut open: Vec<Open> = Vec::new();
    let mut document = None;
    for event in Parser::new_from_str(text) {
        let (event, at) = event.map_err(|error| {
            let span = place.span(*error.marker(), *error.marker());
            Diagnostic::error("malformed-yaml", "this is not YAML").at(span, error.info().to_owned())
        })?;
        let span = place.span(at.start, at.end);
        let node = match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
            Event::DocumentStart(_) => {
                if document.is_some() {
                    return Err(Diagnostic::error("malformed-yaml", "there is more than one document")
                        .at(span, "the second one"));
                }
                continue;
            }
            Event::Alias(_) => {
                return Err(
                    Diagnostic::error("malformed-yaml", "aliases are not supported here").at(span, "")
                );
            }
            Event::Scalar(text, ..) => Node { span, value: Value::Scalar(text.into_owned()) },
            Event::SequenceStart(..) => {
                open.push(Open::List(span, Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(span, Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(start, items)) => {
                    let last = items.last().map(|item| item.span);
                    Node { span: whole(start, last, span), value: Value::List(items) }
                }
                Some(Open::Map(start, entries, _)) => {
                    let last = entries.last().map(|(_, value)| value.span);
                    Node { span: whole(start, last, span), value: Value::Map(entries) }
                }
                None => continue,
            },
        };
        match open.last_mut() {
            None => document = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map(_, entries, key)) => match key.take() {
                None => *key = Some(node),
                Some(key) => entries.push((key, node)),
            },
        }
    }
    document.ok_or_else(|| {
        Diagnostic::error("malformed-yaml", "the file is empty").at(Span { file, start: 0, end: 0 }, "")
    })
}

/// The span of a list or map. One that is ended by nothing but the indent of what follows ends with its last
/// item.
fn whole(start: Span, last: Option<Span>, end: Span) -> Span {
    start.to(if end.start == end.end { last.unwrap_or(end) } else { end })
}

/// The parser counts characters, we count bytes.
struct Places {
    file: File,
    offsets: Vec<usize>,
    length: usize,
}

impl Places {
    fn new(file: File, text: &str) -> Self {
        Self { file, offsets: text.char_indices().map(|(offset, _)| offset).collect(), length: text.len() }
    }

    fn span(&self, start: Marker, end: Marker) -> Span {
        let offset = |marker: Marker| {
            let offset = self.offsets.get(marker.index()).copied().unwrap_or(self.length);
            u32::try_from(offset).unwrap_or(u32::MAX)
        };
        Span { file: self.file, start: offset(start), end: offset(end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Node, Diagnostic> {
        let mut map = SourceMap::new();
        let file = map.add("t.yml", text);
        parse_yaml(&map, file)
    }

    #[test]
    fn scalars_are_as_written_and_have_places() {
        let node = parse("# é\na: 2.0\nb: ['x y', false]\nc:\n").unwrap();
        let version = node.get("a").unwrap();
        assert_eq!(version.text(), Some("2.0"));
        assert_eq!((version.span.start, version.span.end), (8, 11));
        let Value::List(items) = &node.get("b").unwrap().value else { panic!("a list") };
        let texts: Vec<_> = items.iter().map(|item| item.text().unwrap()).collect();
        assert_eq!(texts, ["x y", "false"]);
        assert!(node.get("c").is_none() && node.get("d").is_none());
    }

    #[test]
    fn what_is_no_yaml_has_a_place() {
        for text in ["", "a: [1, 2\n", "a: 1\n---\nb: 2\n", "a: &x 1\nb: *x\n", "\"open"] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.id, error.labels.len()), ("malformed-yaml", 1), "{text:?}");
        }
    }
}
