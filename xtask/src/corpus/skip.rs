//! Tasks that are left out, with the reason.
//!
//! An expected answer can be wrong. A task whose answer is, as far as somebody has shown, is left out by naming it in a
//! file, so that it can be seen who is left out and why.

use anyhow::{Context, ensure};

use super::index::Task;

/// A task that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skip {
    pub(crate) kind: String,
    pub(crate) file: String,
    pub(crate) reason: String,
}

impl Skip {
    pub(crate) fn names(&self, task: &Task) -> bool {
        task.kind.name() == self.kind && task.file == self.file
    }
}

/// Reads a list: in each line kind, file and reason, separated by tabs. Empty lines, and those that begin with `#`, say
/// nothing.
pub(crate) fn parse(text: &str) -> anyhow::Result<Vec<Skip>> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#'));
    let skip = |(line, number): (&str, u32)| {
        let mut fields = line.splitn(3, '\t').map(str::trim);
        let mut field = |name: &str| {
            let field = fields.next().filter(|field| !field.is_empty());
            field.with_context(|| format!("line {number} has no {name}")).map(str::to_owned)
        };
        Ok(Skip { kind: field("kind")?, file: field("file")?, reason: field("reason")? })
    };
    lines.map(skip).collect()
}

/// The tasks that are left, and what is said of those that are not. A name that fits no task is an error: it may be
/// misspelt, or stay behind after a task was removed.
pub(crate) fn split(tasks: Vec<Task>, skips: &[Skip]) -> anyhow::Result<Vec<Task>> {
    for skip in skips {
        ensure!(
            tasks.iter().any(|task| skip.names(task)),
            "no task `{} {}` is there to be left out",
            skip.kind,
            skip.file
        );
    }
    Ok(tasks.into_iter().filter(|task| !skips.iter().any(|skip| skip.names(task))).collect())
}

/// What is left out, for the end of the summary.
pub(crate) fn render(skips: &[Skip]) -> String {
    let mut text = String::new();
    if !skips.is_empty() {
        text += "\nleft out\n";
    }
    for skip in skips {
        text += &format!("  {} {}\n    {}\n", skip.kind, skip.file, skip.reason);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::index::Kind;

    fn task(kind: Kind, file: &str) -> Task {
        Task { kind, file: file.into(), property: "p".into(), expected: true }
    }

    #[test]
    fn tasks_are_left_out_by_kind_and_file() {
        let skips = parse("# why\n\nc-race\ta.c\tits label is about an assertion\n").unwrap();
        let tasks = vec![task(Kind::Race, "a.c"), task(Kind::Deadlock, "a.c"), task(Kind::Race, "b.c")];
        let left = split(tasks, &skips).unwrap();
        assert_eq!(left, [task(Kind::Deadlock, "a.c"), task(Kind::Race, "b.c")]);
        assert_eq!(render(&skips), "\nleft out\n  c-race a.c\n    its label is about an assertion\n");
        assert_eq!(render(&[]), "");
    }

    #[test]
    fn nothing_is_left_out_without_a_reason_or_by_a_wrong_name() {
        for (text, message) in [
            ("c-race\ta.c\n", "line 1 has no reason"),
            ("c-race\ta.c\t \n", "line 1 has no reason"),
            ("\nc-race\n", "line 2 has no file"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
        let skips = parse("c-race\tother.c\twrong\n").unwrap();
        let error = split(vec![task(Kind::Race, "a.c")], &skips).unwrap_err();
        assert_eq!(error.to_string(), "no task `c-race other.c` is there to be left out");
    }
}
