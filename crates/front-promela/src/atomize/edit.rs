//! Changes of a text at given places.

use pdnet_source::{File, Span};

/// Something to put in.
#[derive(Clone, Debug)]
pub(super) struct Insertion {
    pub(super) at: u32,
    pub(super) text: String,
}

/// The text with the insertions made. Several at one place come in the order given.
pub(super) fn apply(text: &str, insertions: &[Insertion]) -> String {
    let mut sorted: Vec<&Insertion> = insertions.iter().collect();
    sorted.sort_by_key(|insertion| insertion.at);
    let mut out = String::with_capacity(text.len() + 16 * sorted.len());
    let mut from = 0usize;
    for insertion in sorted {
        let to = insertion.at as usize;
        out.push_str(&text[from..to]);
        out.push_str(&insertion.text);
        from = to;
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
