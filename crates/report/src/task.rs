//! The answers to a task beside those that somebody expects.

use std::fmt::Write as _;
use std::ops::Range;

use pdnet_check::StopReason;

use crate::report::{Overall, Report};

/// A task: properties that come with expected answers.
#[derive(Debug)]
pub struct TaskReport {
    /// The file that defines it, as the user named it.
    pub definition: String,
    /// Its properties that were asked for.
    pub questions: Vec<Question>,
}

/// A property of a task. It may consist of several that have an answer each.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its name in the task.
    pub name: String,
    /// The answer that is expected.
    pub expected: Option<Expected>,
    /// Which of the report's results belong to it.
    pub results: Range<usize>,
    /// Why it was not checked, where it was not.
    pub refused: Option<StopReason>,
}

/// An expected answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Whether the property holds.
    pub holds: bool,
    /// Of a property with several parts that does not hold, the part that is violated.
    pub subproperty: Option<String>,
}

/// What an answer and an expected one have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// They are the same.
    Expected,
    /// They contradict each other: one of the two is wrong.
    Unexpected,
    /// There is no answer to compare with.
    Open,
}

impl Agreement {
    /// The word in the JSON output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Unexpected => "unexpected",
            Self::Open => "open",
        }
    }
}

impl Report<'_> {
    /// The answer to a property of the task.
    #[must_use]
    pub fn answer_to<'a>(&'a self, question: &'a Question) -> Overall<'a> {
        let results = self.results.get(question.results.clone()).unwrap_or_default();
        Overall::of(results, question.refused.as_ref())
    }

    /// Whether the answer is the expected one; `None` where none is expected.
    #[must_use]
    pub fn agreement(&self, question: &Question) -> Option<Agreement> {
        let expected = question.expected.as_ref()?;
        let results = self.results.get(question.results.clone()).unwrap_or_default();
        Some(match self.answer_to(question) {
            Overall::Unknown(_) => Agreement::Open,
            Overall::True if expected.holds => Agreement::Expected,
            Overall::True => Agreement::Unexpected,
            Overall::False(_) if expected.holds => Agreement::Unexpected,
            Overall::False(_) => {
                let is_part = |part: &String| {
                    results.iter().any(|result| result.is_violated() && result.property.class == part)
                };
                if expected.subproperty.as_ref().is_none_or(is_part) {
                    Agreement::Expected
                } else {
                    Agreement::Unexpected
                }
            }
        })
    }

    /// A line for each property of the task; empty where there is no task.
    pub(crate) fn task_lines(&self) -> Vec<(Option<Agreement>, String)> {
        let Some(task) = &self.task else { return Vec::new() };
        let lines = task.questions.iter().map(|question| {
            let agreement = self.agreement(question);
            (agreement, self.task_line(question, agreement))
        });
        lines.collect()
    }

    fn task_line(&self, question: &Question, agreement: Option<Agreement>) -> String {
        let answer = match self.answer_to(question) {
            Overall::True => "holds".to_owned(),
            Overall::False(class) => format!("is violated ({class})"),
            Overall::Unknown(reason) => format!("is not known ({reason})"),
        };
        let mut line = format!("{} {answer}", question.name);
        let expected = question.expected.as_ref();
        let _ = match (agreement, expected) {
            (None, _) | (_, None) => write!(line, "; the task expects nothing"),
            (Some(Agreement::Expected), _) => write!(line, ", as expected"),
            (Some(Agreement::Open), Some(expected)) => write!(line, "; {}", expected.words()),
            (Some(Agreement::Unexpected), Some(expected)) => {
                line.insert_str(0, "UNEXPECTED: ");
                write!(line, ", but {}", expected.words())
            }
        };
        line
    }
}

impl Expected {
    /// What the task expects, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match (self.holds, &self.subproperty) {
            (true, _) => "the task expects that it holds".to_owned(),
            (false, None) => "the task expects a violation".to_owned(),
            (false, Some(part)) => format!("the task expects a violation of {part}"),
        }
    }
}
