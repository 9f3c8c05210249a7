//! Properties that stand in comments of the program: `//@ ltl NAME: F` and `//@ check NAMES`.

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

/// Finds the annotations of a file. A word that we do not know gives a warning.
pub(crate) fn find(map: &SourceMap, file: File, warnings: &mut Vec<Diagnostic>) -> Vec<Annotation> {
    let text = &map.file(file).text;
    let mut annotations = Vec::new();
    for (start, end) in line_comments(text) {
        let Some(body) = text[start..end].strip_prefix("//@") else { continue };
        let at = Cursor { file, offset: start + 3, text: body }.trimmed();
        let span = span_of(file, start, end);
        let word_end =
            at.text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(at.text.len());
        let (word, rest) = at.split(word_end);
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
            other => {
                let message = format!("unknown annotation `{other}`");
                let near = pdnet_source::nearest_name(other, ["ltl", "check"]).filter(|_| !other.is_empty());
                // Whoever wrote it wants something checked: to ignore it would be to answer another question.
                let error = Diagnostic::error("unknown-annotation", message)
                    .at(word.span(), "not a kind of annotation");
                warnings.push(match (other, near) {
                    ("assert", _) => error.help("write a call `assert(...)` of <assert.h> instead"),
                    (_, Some(near)) => error.help(format!("did you mean `{near}`?")),
                    (_, None) => error.help("annotations are `//@ ltl NAME: FORMULA` and `//@ check NAMES`"),
                });
            }
        }
    }
    annotations
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

    fn span(self) -> Span {
        span_of(self.file, self.offset, self.offset + self.text.len())
    }
}

fn span_of(file: File, start: usize, end: usize) -> Span {
    let small = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
    Span { file, start: small(start), end: small(end) }
}

fn ltl(at: Cursor<'_>) -> Option<AnnotationKind> {
    let word_end =
        at.text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(at.text.len());
    let (word, rest) = at.split(word_end);
    let after = rest.trimmed();
    // `main::x` is an atom, not a name.
    let named = !word.text.is_empty() && after.text.starts_with(':') && !after.text.starts_with("::");
    let (name, formula) =
        if named { (Some(word.text.to_owned()), after.split(1).1.trimmed()) } else { (None, at) };
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

/// The ranges of all `//` comments that stand in no string and in no other comment.
fn line_comments(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
                let end = at + text[at..end].trim_end().len();
                found.push((at, end));
                at = end;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = text[at + 2..].find("*/").map_or(text.len(), |length| at + 2 + length + 2);
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
