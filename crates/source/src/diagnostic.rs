//! Diagnostics as values.

use crate::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input is not accepted.
    Error,
    /// The input is accepted, but the user should know.
    Warning,
}

/// A marked range with its explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What is marked.
    pub span: Span,
    /// What is said of it; may be empty.
    pub text: String,
    /// The one place that the diagnostic is about, as against context.
    pub primary: bool,
}

/// One finding about the user's input. Built with chained calls:
/// `Diagnostic::error("unknown-name", "…").at(span, "not declared").help("…")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable name in kebab case, such as `undeclared-name`.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One terse sentence, lower case, no full stop.
    pub message: String,
    /// Marked ranges, the primary ones first.
    pub labels: Vec<Label>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What the user can do.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error.
    #[must_use]
    pub fn error(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, id, message.into())
    }

    /// A warning.
    #[must_use]
    pub fn warning(id: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, id, message.into())
    }

    fn new(severity: Severity, id: &'static str, message: String) -> Self {
        Self { id, severity, message, labels: Vec::new(), notes: Vec::new(), help: Vec::new() }
    }

    /// Marks the place that this is about.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: true });
        self
    }

    /// Marks a place that helps to understand.
    #[must_use]
    pub fn context(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}
