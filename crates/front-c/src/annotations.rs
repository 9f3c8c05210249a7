//! Properties that stand in comments of the program: `//@ ltl NAME: F` and `//@ check NAMES`.
//!
//! Assertions in comments are statements of the program, not properties: see `acsl.rs`.

use pdnet_source::{Diagnostic, File, SourceMap, Span};

/// A comment that asks for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// What it asks for.
    pub kind: AnnotationKind,
    /// The whole comment.
    pub span: Span,
}

/// The kinds of annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationKind {
    /// `//@ ltl NAME: F`: a temporal property.
    Ltl {
        /// Its name, where it has one.
        name: Option<String>,
        /// The place of the formula.
        formula: Span,
    },
    /// `//@ check a, b`: built-in checks.
    Check {
        /// Their names, each with its place.
        names: Vec<(String, Span)>,
    },
}

/// Finds the annotations of a file. A word that we do not know is an error; after `/*@`, where other tools
/// keep their own, it is a warning.
pub(crate) fn find(map: &SourceMap, file: File, warnings: &mut Vec<Diagnostic>) -> Vec<Annotation> {
    let text = &map.file(file).text;
    let mut annotations = Vec::new();
    for comment in comments(text) {
        let Some(body) = comment.annotation(text) else { continue };
        let at = Cursor { file, offset: body.start, text: &text[body] }.trimmed();
        let span = span_of(file, comment.start, comment.end);
        let (word, rest) = at.word();
        match word.text {
            "ltl" => match ltl(rest.trimmed()) {
                Some(kind) => annotations.push(Annotation { kind, span }),
                None => warnings.push(
                    Diagnostic::error("empty-annotation", "the annotation has no formula")
                        .at(span, "a formula is missing here")
                        .help("write `//@ ltl NAME: FORMULA`"),
                ),
            },
            "check" => {
                let names = names(rest);
                if names.is_empty() {
                    warnings.push(
                        Diagnostic::error("empty-annotation", "the annotation names no check")
                            .at(span, "names are missing here")
                            .help("write for example `//@ check assert, deadlock`"),
                    );
                } else {
                    annotations.push(Annotation { kind: AnnotationKind::Check { names }, span });
                }
            }
            // Uncovered before the preprocessor runs.
            "assert" => {}
            other if comment.is_block => {
                let message = format!("the annotation `{other}` is not read");
                warnings.push(
                    Diagnostic::warning("unknown-annotation", message)
                        .at(word.span(), "written for another tool?"),
                );
            }
            other => {
                let message = format!("unknown annotation `{other}`");
                let near = pdnet_source::nearest_name(other, ["ltl", "check", "assert"])
                    .filter(|_| !other.is_empty());
                // Whoever wrote it wants something checked: to ignore it would be to answer another question.
                let error = Diagnostic::error("unknown-annotation", message)
                    .at(word.span(), "not a kind of annotation");
                warnings.push(match near {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(
                        "annotations are `//@ ltl NAME: FORMULA`, `//@ check NAMES` and `//@ assert CONDITION;`",
                    ),
                });
            }
        }
    }
    annotations
}

/// Annotations in a header are not read. For properties that is a warning: the report names those that were
/// checked. An assertion that is left out would change an answer.
pub(crate) fn find_in_header(map: &SourceMap, header: File, found: &mut Vec<Diagnostic>) {
    let text = &map.file(header).text;
    for comment in comments(text) {
        let Some(body) = comment.annotation(text) else { continue };
        let at = Cursor { file: header, offset: body.start, text: &text[body] }.trimmed();
        let (id, message) = ("unread-annotation", "annotations in headers are not read");
        let diagnostic = match at.word().0.text {
            "assert" => Diagnostic::error(id, message).help("call `assert` of <assert.h> instead"),
            "ltl" | "check" => Diagnostic::warning(id, message).help("move it to a `.c` file"),
            _ => continue,
        };
        found.push(diagnostic.at(span_of(header, comment.start, comment.end), "not checked"));
    }
}

/// A part of a comment and where it stands.
#[derive(Clone, Copy)]
struct Cursor<'t> {
    file: File,
    offset: usize,
    text: &'t str,
}

impl<'t> Cursor<'t> {
    fn trimmed(self) -> Self {
        let front = self.text.len() - self.text.trim_start().len();
        Self { offset: self.offset + front, text: self.text.trim(), ..self }
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (left, right) = self.text.split_at(at);
        (Self { text: left, ..self }, Self { offset: self.offset + at, text: right, ..self })
    }

    /// The word at the start, which may be empty, and what follows.
    fn word(self) -> (Self, Self) {
        let is_end = |c: char| !c.is_alphanumeric() && c != '_' && c != '-';
        self.split(self.text.find(is_end).unwrap_or(self.text.len()))
    }

    fn span(self) -> Span {
        span_of(self.file, self.offset, self.offset + self.text.len())
    }
}

fn span_of(file: File, start: usize, end: usize) -> Span {
    let small = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
    Span { file, start: small(start), end: small(end) }
}

/// `NAME: F`, `F`, or `invariant NAME: F;` as other tools write it.
fn ltl(at: Cursor<'_>) -> Option<AnnotationKind> {
    let (word, rest) = at.word();
    let (second, _) = rest.trimmed().word();
    let invariant = word.text == "invariant" && !second.text.is_empty();
    let at = if invariant { rest.trimmed() } else { at };
    let (word, rest) = at.word();
    let after = rest.trimmed();
    // `main::x` is an atom, not a name.
    let named = !word.text.is_empty() && after.text.starts_with(':') && !after.text.starts_with("::");
    let (name, formula) =
        if named { (Some(word.text.to_owned()), after.split(1).1.trimmed()) } else { (None, at) };
    let length = formula.text.strip_suffix(';').map_or(formula.text.len(), str::len);
    let formula = formula.split(length).0.trimmed();
    (!formula.text.is_empty()).then(|| AnnotationKind::Ltl { name, formula: formula.span() })
}

fn names(list: Cursor<'_>) -> Vec<(String, Span)> {
    let mut names = Vec::new();
    let mut rest = list;
    loop {
        let end = rest.text.find([',', ' ', '\t']).unwrap_or(rest.text.len());
        let (word, after) = rest.split(end);
        let word = word.trimmed();
        if !word.text.is_empty() {
            names.push((word.text.to_owned(), word.span()));
        }
        if after.text.is_empty() {
            return names;
        }
        rest = after.split(1).1;
    }
}

/// A comment of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comment {
    /// Its first byte.
    pub(crate) start: usize,
    /// One past its last byte, without blanks at the end of the line.
    pub(crate) end: usize,
    /// Between `/*` and `*/`.
    pub(crate) is_block: bool,
}

impl Comment {
    /// What stands between `//@` or `/*@` and the end, when the comment starts so.
    pub(crate) fn annotation(self, text: &str) -> Option<std::ops::Range<usize>> {
        let whole = &text[self.start..self.end];
        let mark = if self.is_block { "/*@" } else { "//@" };
        if !whole.starts_with(mark) {
            return None;
        }
        let inner = if self.is_block { whole.strip_suffix("*/").unwrap_or(whole) } else { whole };
        let inner = if self.is_block { inner.strip_suffix('@').unwrap_or(inner) } else { inner };
        let end = self.start + inner.len().max(mark.len());
        Some(self.start + mark.len()..end)
    }
}

/// All comments that stand in no string and in no other comment.
pub(crate) fn comments(text: &str) -> Vec<Comment> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
                let end = at + text[at..end].trim_end().len();
                found.push(Comment { start: at, end, is_block: false });
                at = end;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = text[at + 2..].find("*/").map_or(text.len(), |length| at + 2 + length + 2);
                found.push(Comment { start: at, end, is_block: true });
                at = end;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Vec<String>, Vec<String>) {
        let mut map = SourceMap::new();
        let file = map.add("a.c", text);
        let mut warnings = Vec::new();
        let annotations = find(&map, file, &mut warnings);
        let show = |annotation: &Annotation| match &annotation.kind {
            AnnotationKind::Ltl { name, formula } => {
                let formula = &text[formula.start as usize..formula.end as usize];
                format!("ltl {name:?} {formula:?}")
            }
            AnnotationKind::Check { names } => {
                let names: Vec<_> = names.iter().map(|(name, _)| name.as_str()).collect();
                format!("check {}", names.join("+"))
            }
        };
        let warnings =
            warnings.iter().map(|warning| format!("{}: {}", warning.id, warning.message)).collect();
        (annotations.iter().map(show).collect(), warnings)
    }

    #[test]
    fn properties_are_found_with_their_places() {
        let (found, warnings) = found(
            "//@ ltl safe: G (x == 0)  \nint x; //@ltl main::x U y\n  //@ check race , assert\n//@check a,b\n",
        );
        assert_eq!(
            found,
            [
                "ltl Some(\"safe\") \"G (x == 0)\"",
                "ltl None \"main::x U y\"",
                "check race+assert",
                "check a+b"
            ]
        );
        assert!(warnings.is_empty());
    }

    #[test]
    fn strings_and_other_comments_are_no_annotations() {
        let (found, warnings) = found("char *s = \"//@ ltl a\"; /* //@ ltl b */ '\\'' // @ ltl c");
        assert!(found.is_empty() && warnings.is_empty());
    }

    #[test]
    fn other_tools_spellings_are_read() {
        let (found, warnings) =
            found("//@ ltl invariant live: []<>AP(x == 1);\n/*@ ltl F y */ /*@null@*/ //@ assert x;");
        assert_eq!(found, ["ltl Some(\"live\") \"[]<>AP(x == 1)\"", "ltl None \"F y\""]);
        assert_eq!(warnings, ["unknown-annotation: the annotation `null` is not read"]);
    }

    #[test]
    fn unknown_words_are_errors() {
        let (found, warnings) = found("//@ lt F x\n//@ ltl\n//@ check\n");
        assert!(found.is_empty());
        assert_eq!(
            warnings,
            [
                "unknown-annotation: unknown annotation `lt`",
                "empty-annotation: the annotation has no formula",
                "empty-annotation: the annotation names no check"
            ]
        );
    }
}
