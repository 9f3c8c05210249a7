//! Atoms as the user wrote them.

use std::fmt;

use pdnet_source::Span;

use crate::ExprSyntax;

/// A name with its place in the text. Equality ignores the place.
#[derive(Clone, Debug)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Name {}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A thread, named by the function that it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRef {
    /// The function that the thread was started with, or an activated function for `func::v`.
    pub function: Name,
    /// Which of several, in order of creation from 0; `None` where the user did not say.
    pub index: Option<u32>,
}

impl fmt::Display for ThreadRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            None => write!(f, "{}", self.function),
            Some(index) => write!(f, "{}[{index}]", self.function),
        }
    }
}

/// An atom with its place in the text. Equality ignores places; `Display` prints the canonical text.
#[derive(Clone, Debug)]
pub struct AtomSyntax {
    /// What it says.
    pub kind: AtomKind,
    /// Where it stands; of several equal atoms, the first.
    pub span: Span,
}

impl PartialEq for AtomSyntax {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for AtomSyntax {}

/// The kinds of atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtomKind {
    /// A C expression; true where it is not zero.
    Expr(ExprSyntax),
    /// `call(f)`: some thread's next step is a call of `f`.
    Call {
        /// The called function.
        function: Name,
    },
    /// `at(func, LABEL)`: some thread is at that label.
    AtLabel {
        /// The function that has the label.
        function: Name,
        /// The label.
        label: Name,
    },
    /// `at(file.c:12)` or `at(12)`: some thread is at that line.
    AtLine {
        /// The file as written; `None` where only a line was given.
        file: Option<String>,
        /// The line, from 1.
        line: u32,
    },
    /// `terminated(func)`: that thread has ended.
    Terminated(ThreadRef),
    /// `end`: the process has ended.
    End,
    /// `holds(func, m)`: that thread holds that lock.
    Holds {
        /// The thread.
        thread: ThreadRef,
        /// The lock.
        object: ExprSyntax,
    },
    /// `waiting(func, c)`: that thread waits on that condition.
    Waiting {
        /// The thread.
        thread: ThreadRef,
        /// The condition.
        object: ExprSyntax,
    },
    /// `deadlock`
    Deadlock,
    /// `data-race`
    DataRace,
    /// `overflow`
    Overflow,
    /// `valid-free`
    ValidFree,
    /// `valid-deref`
    ValidDeref,
    /// `valid-memtrack`
    ValidMemtrack,
    /// `valid-memcleanup`
    ValidMemcleanup,
}

impl fmt::Display for AtomSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

/// The canonical text of the atom. Expressions are printed without quotes where that reads back as the
/// same expression.
impl fmt::Display for AtomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expr(expr) if expr.is_bare() => write!(f, "{expr}"),
            Self::Expr(expr) => write!(f, "\"{expr}\""),
            Self::Call { function } => write!(f, "call({function})"),
            Self::AtLabel { function, label } => write!(f, "at({function}, {label})"),
            Self::AtLine { file: None, line } => write!(f, "at({line})"),
            Self::AtLine { file: Some(file), line } if is_plain_file(file) => write!(f, "at({file}:{line})"),
            Self::AtLine { file: Some(file), line } => write!(f, "at(\"{file}\":{line})"),
            Self::Terminated(thread) => write!(f, "terminated({thread})"),
            Self::End => f.write_str("end"),
            Self::Holds { thread, object } => write!(f, "holds({thread}, {object})"),
            Self::Waiting { thread, object } => write!(f, "waiting({thread}, {object})"),
            Self::Deadlock => f.write_str("deadlock"),
            Self::DataRace => f.write_str("data-race"),
            Self::Overflow => f.write_str("overflow"),
            Self::ValidFree => f.write_str("valid-free"),
            Self::ValidDeref => f.write_str("valid-deref"),
            Self::ValidMemtrack => f.write_str("valid-memtrack"),
            Self::ValidMemcleanup => f.write_str("valid-memcleanup"),
        }
    }
}

/// Whether a file name can stand in `at(…)` without quotes.
pub(crate) fn is_plain_file(file: &str) -> bool {
    !file.is_empty() && file.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-' | '+'))
}
