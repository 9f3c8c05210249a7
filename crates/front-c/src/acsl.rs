//! Assertions in comments: `//@ assert E;` and `/*@ assert E; */`, as ACSL writes them.
//!
//! They are uncovered before the preprocessor runs, so that macros in them are expanded and those in parts
//! that `#if` leaves out are left out. The text with the comments uncovered has the length and the lines of
//! the original: the word `assert` becomes [`MARKER`], which has as many letters, and what makes the comment
//! a comment becomes blanks. So every place in one text is the same place in the other. What stands between
//! the marker and the semicolon is made into C by the pre-pass (`prepass/acsl.rs`).

use pdnet_source::{Diagnostic, File, SourceMap, Span};

use crate::annotations::{Comment, comments};

/// Stands for `assert` in a comment.
pub(crate) const MARKER: &str = "__acsl";
const WORD: &str = "assert";

/// The text of a file with the assertions in its comments uncovered; `None` where it has none.
pub(crate) fn uncover(map: &SourceMap, file: File, found: &mut Vec<Diagnostic>) -> Option<String> {
    let text = &map.file(file).text;
    let mut uncovered: Option<Vec<u8>> = None;
    for comment in comments(text) {
        let Some(body) = comment.annotation(text) else { continue };
        if first_word(&text[body.clone()]) != WORD {
            continue;
        }
        if starts_directive(text, comment.start) {
            found.push(
                Diagnostic::error("misplaced-annotation", "an assertion cannot be a part of a directive")
                    .at(span(file, comment.start, comment.end), "this comment is in a line of a directive"),
            );
            continue;
        }
        let bytes = uncovered.get_or_insert_with(|| text.as_bytes().to_vec());
        if let Err(error) = uncover_one(text, file, comment, body, bytes) {
            // It stays a comment: what is wrong with it was said.
            bytes[comment.start..comment.end].copy_from_slice(&text.as_bytes()[comment.start..comment.end]);
            found.push(error);
        }
    }
    uncovered.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Rewrites one comment in `bytes`.
fn uncover_one(
    text: &str,
    file: File,
    comment: Comment,
    body: std::ops::Range<usize>,
    bytes: &mut [u8],
) -> Result<(), Diagnostic> {
    blank(bytes, comment.start, body.start);
    blank(bytes, body.end, comment.end);
    // In comments of several lines ACSL allows an `@` at the start of each.
    let mut line_start = false;
    for at in body.clone() {
        match bytes[at] {
            b'\n' => line_start = true,
            b'@' if line_start => bytes[at] = b' ',
            b' ' | b'\t' | b'\r' => {}
            _ => line_start = false,
        }
    }
    let mut at = body.start;
    loop {
        at += text[at..body.end].find(|c: char| !c.is_whitespace() && c != '@').unwrap_or(body.end - at);
        let rest = &text[at..body.end];
        if rest.is_empty() || rest.starts_with("//") {
            blank(bytes, at, body.end);
            return Ok(());
        }
        if first_word(rest) != WORD {
            return Err(Diagnostic::error("unknown-annotation", "only assertions may follow an assertion")
                .at(span(file, at, body.end), "this is not read")
                .help("start a comment of its own for it"));
        }
        bytes[at..at + WORD.len()].copy_from_slice(MARKER.as_bytes());
        let Some(length) = rest.find(';') else {
            return Err(Diagnostic::error("incomplete-annotation", "the assertion has no `;`")
                .at(span(file, at, body.end), "a `;` is missing at its end")
                .help("write `//@ assert CONDITION;`"));
        };
        let condition = at + WORD.len()..at + length;
        if text[condition.clone()].trim().is_empty() {
            return Err(Diagnostic::error("empty-annotation", "the assertion has no condition")
                .at(span(file, at, at + length + 1), "a condition is missing here")
                .help("write `//@ assert CONDITION;`"));
        }
        logic_words(text, file, condition, bytes)?;
        at += length + 1;
    }
}

/// `\true` and `\false`; all other words with a backslash need a logic that C does not have.
fn logic_words(
    text: &str,
    file: File,
    condition: std::ops::Range<usize>,
    bytes: &mut [u8],
) -> Result<(), Diagnostic> {
    for (offset, _) in text[condition.clone()].match_indices('\\') {
        let at = condition.start + offset;
        let word = first_word(&text[at + 1..condition.end]);
        let end = at + 1 + word.len();
        let value = match word {
            "true" => b'1',
            "false" => b'0',
            _ => {
                let message = format!("`\\{word}` is not supported in assertions");
                return Err(Diagnostic::error("unsupported-annotation", message)
                    .at(span(file, at, end), "not an expression of C")
                    .help("conditions are expressions of C, with `==>`, `<==>`, `\\true` and `\\false`"));
            }
        };
        blank(bytes, at, end);
        bytes[at] = value;
    }
    Ok(())
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Whether the line of this offset is one of the preprocessor's.
fn starts_directive(text: &str, at: usize) -> bool {
    let mut start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    while let Some(before) = text[..start].trim_end_matches(['\n', '\r']).strip_suffix('\\') {
        start = before.rfind('\n').map_or(0, |newline| newline + 1);
    }
    text[start..].trim_start().starts_with('#')
}

fn blank(bytes: &mut [u8], from: usize, to: usize) {
    for byte in &mut bytes[from..to] {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

fn span(file: File, start: usize, end: usize) -> Span {
    let small = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
    Span { file, start: small(start), end: small(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uncovered(text: &str) -> Result<Option<String>, &'static str> {
        let mut map = SourceMap::new();
        let file = map.add("a.c", text);
        let mut found = Vec::new();
        let uncovered = uncover(&map, file, &mut found);
        found.first().map_or(Ok(uncovered), |diagnostic| Err(diagnostic.id))
    }

    #[test]
    fn the_text_keeps_its_length_and_lines() {
        for (text, expected) in [
            ("x; //@ assert x == 1;", "x;     __acsl x == 1;"),
            ("/*@ assert \\false; */ y", "    __acsl 0     ;    y"),
            ("//@assert a; assert b; // note", "   __acsl a; __acsl b;        "),
            ("/*@ assert a\n  @ && b;\n  @*/", "    __acsl a\n    && b;\n     "),
        ] {
            assert_eq!(text.len(), expected.len(), "{text}");
            assert_eq!(uncovered(text), Ok(Some(expected.to_owned())));
        }
        for text in ["//@ ltl G x", "// @ assert x;", "\"//@ assert x;\"", "/* //@ assert x; */"] {
            assert_eq!(uncovered(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn what_is_no_assertion_is_refused() {
        for (text, id) in [
            ("//@ assert x", "incomplete-annotation"),
            ("//@ assert ;", "empty-annotation"),
            ("//@ assert x; requires y;", "unknown-annotation"),
            ("//@ assert \\forall int i; a[i] > 0;", "unsupported-annotation"),
            ("#define A \\\n b //@ assert x;", "misplaced-annotation"),
        ] {
            assert_eq!(uncovered(text), Err(id), "{text}");
        }
    }
}
