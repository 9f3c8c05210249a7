//! Changes of a text at given places.

use pdnet_source::{File, Span};

/// Something to put in, in the place of what stands there.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    start: u32,
    end: u32,
    text: String,
}

impl Edit {
    /// Puts a text in.
    pub(super) fn insert(at: u32, text: impl Into<String>) -> Self {
        Self { start: at, end: at, text: text.into() }
    }

    /// Puts a text in the place of another.
    pub(super) fn replace(span: Span, text: impl Into<String>) -> Self {
        Self { start: span.start, end: span.end, text: text.into() }
    }
}

/// The text with the edits made. Several at one place come in the order given.
pub(super) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| edit.start);
    let mut out = String::with_capacity(text.len() + 16 * sorted.len());
    let mut from = 0usize;
    for edit in sorted {
        out.push_str(&text[from..edit.start as usize]);
        out.push_str(&edit.text);
        from = edit.end as usize;
    }
    out.push_str(&text[from..]);
    out
}

/// Whether text may be put around this range: it is in the file, on the borders of characters, and no line in it is
/// one of the preprocessor's.
pub(super) fn is_editable(text: &str, file: File, range: Span) -> bool {
    range.file == file
        && range.start < range.end
        && text
            .get(range.start as usize..range.end as usize)
            .is_some_and(|inner| !inner.lines().skip(1).any(|line| line.trim_start().starts_with('#')))
}
