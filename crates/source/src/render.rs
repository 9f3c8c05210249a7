//! The one renderer of diagnostics.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::{Diagnostic, Severity, SourceMap};

/// Whether to use terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorChoice {
    /// Plain text.
    Plain,
    /// With terminal escapes.
    Colored,
}

/// The diagnostic as a person reads it, in the manner of rustc, ending in a newline.
#[must_use]
pub fn render(map: &SourceMap, diagnostic: &Diagnostic, color: ColorChoice) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()).id(diagnostic.id));
    let mut files: Vec<_> = diagnostic.labels.iter().map(|label| label.span.file).collect();
    files.dedup();
    for file in files {
        let data = map.file(file);
        let mut snippet = Snippet::source(data.text.as_str()).path(data.name.as_str());
        for label in diagnostic.labels.iter().filter(|label| label.span.file == file) {
            let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(char_range(&data.text, label.span.start, label.span.end));
            let text = (!label.text.is_empty()).then_some(label.text.as_str());
            snippet = snippet.annotation(annotation.label(text));
        }
        group = group.element(snippet);
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = match color {
        ColorChoice::Plain => Renderer::plain(),
        ColorChoice::Colored => Renderer::styled(),
    };
    let mut text = renderer.render(&[group]);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The range moved to character boundaries inside the text.
fn char_range(text: &str, start: u32, end: u32) -> std::ops::Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(start as usize);
    start..boundary(end as usize).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    #[test]
    fn a_label_gets_its_line_and_caret() {
        let mut map = SourceMap::new();
        let file = map.add("a.c", "int x;\nint main(void) { return y; }\n");
        let span = Span { file, start: 31, end: 32 };
        let diagnostic = Diagnostic::error("undeclared-name", "`y` is not declared").at(span, "not found");
        let text = render(&map, &diagnostic.help("did you mean `x`?"), ColorChoice::Plain);
        assert!(text.contains("error[undeclared-name]: `y` is not declared"), "{text}");
        assert!(text.contains("a.c:2:25"), "{text}");
        assert!(text.contains("^ not found"), "{text}");
        assert!(text.contains("help: did you mean `x`?"), "{text}");
    }

    #[test]
    fn ranges_outside_the_text_do_not_panic() {
        let mut map = SourceMap::new();
        let file = map.add("a.c", "é");
        let diagnostic = Diagnostic::error("x", "y").at(Span { file, start: 1, end: 900 }, "");
        assert!(render(&map, &diagnostic, ColorChoice::Plain).contains("a.c:1:1"));
    }
}
