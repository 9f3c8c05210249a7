//! The properties of a task among what is to be checked.

use std::path::Path;

use pdnet_check::StopReason;
use pdnet_report::Question;
use pdnet_source::Diagnostic;

use super::{Resolver, UNSUPPORTED};
use crate::task::{Task, TaskProperty};

impl Resolver<'_> {
    /// All properties of a task. What cannot be checked yet is an answer that is not known, so that the others
    /// get theirs; where nothing is left, it is an error.
    pub(super) fn whole_task(&mut self, properties: &[TaskProperty]) {
        let mut refused = Vec::new();
        for property in properties {
            if asks_for_tests(&property.file) {
                let note = format!("{} asks for tests, not for an answer: it was left out", property.name);
                self.found.notes.push(note);
                continue;
            }
            let n_errors = self.errors.len();
            let n_wanted = self.found.wanted.len();
            self.task_property(property);
            let errors = &self.errors[n_errors..];
            if !errors.is_empty() && errors.iter().all(|error| error.id == UNSUPPORTED) {
                let reason = StopReason::Unsupported(errors[0].message.clone());
                refused.extend(self.errors.drain(n_errors..));
                self.found.wanted.truncate(n_wanted);
                if let Some((_, question)) = self.found.questions.last_mut() {
                    question.results = n_wanted..n_wanted;
                    question.refused = Some(reason);
                }
            }
        }
        if self.found.wanted.is_empty() && self.errors.is_empty() {
            self.errors = refused;
            if self.errors.is_empty()
                && let Some(first) = properties.first()
            {
                let error = Diagnostic::error("no-property", "the task has no property that can be checked");
                self.errors.push(error.at(first.span, "asks for tests, not for an answer"));
            }
        }
    }

    /// A property of a task, with the answer that is expected of it.
    fn task_property(&mut self, property: &TaskProperty) {
        let first = self.found.wanted.len();
        self.property_file(&property.file);
        let question = Question {
            name: property.name.clone(),
            expected: property.expected.as_ref().map(|(expected, _)| expected.clone()),
            results: first..self.found.wanted.len(),
            refused: None,
        };
        self.found.questions.push((property.clone(), question));
    }

    pub(super) fn option_property(&mut self, name: &str, task: Option<&Task>) {
        let Some(task) = task else {
            let message = format!("`--property {name}` chooses from a task definition, and there is none");
            let error = Diagnostic::error("no-task", message);
            return self
                .errors
                .push(error.help("give a task definition (.yml), or the property's file with `--prp`"));
        };
        match task.property(self.map, name) {
            Ok(property) => self.task_property(&property),
            Err(error) => self.errors.push(error),
        }
    }

    /// A property file. Where the task has a property of its name, that is what is meant.
    pub(super) fn option_prp(&mut self, path: &Path, of_task: &[TaskProperty]) {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        match of_task.iter().find(|property| stem.as_deref() == Some(&property.name)) {
            Some(property) => self.task_property(&TaskProperty { file: path.to_owned(), ..property.clone() }),
            None => self.property_file(path),
        }
    }
}

/// Whether a property file is one of the competition on testing, which says how much is to be covered.
fn asks_for_tests(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim_start().starts_with("COVER")
}
