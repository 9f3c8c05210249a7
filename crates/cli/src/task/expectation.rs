//! What is said of the answers that a task expects.

use pdnet_report::{Agreement, Question, Report, TaskReport};
use pdnet_source::Diagnostic;

use super::{Task, TaskProperty};

/// What the report needs to know of a task.
pub(crate) fn report_of(task: &Task, asked: &[(TaskProperty, Question)]) -> TaskReport {
    TaskReport {
        definition: task.definition.display().to_string(),
        questions: asked.iter().map(|(_, question)| question.clone()).collect(),
    }
}

/// A warning for each answer that contradicts the expected one: either pdnet or the task is wrong.
pub(crate) fn unexpected(report: &Report<'_>, asked: &[(TaskProperty, Question)]) -> Vec<Diagnostic> {
    let contradicts = |(property, question): &(TaskProperty, Question)| {
        let (expected, span) = property.expected.as_ref()?;
        (report.agreement(question) == Some(Agreement::Unexpected)).then(|| {
            let answer = report.answer_to(question);
            let message = format!("UNEXPECTED: the answer to `{}` is {answer}", property.name);
            Diagnostic::warning("unexpected-verdict", message).at(*span, expected.words())
        })
    };
    asked.iter().filter_map(contradicts).collect()
}
