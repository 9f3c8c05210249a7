//! The JSON of a whole run, and the comparison with an earlier one.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::judge::Class;
use super::run::TaskResult;

const SCHEMA: &str = "pdnet-corpus/1";

/// The classes of an earlier run, by kind, file and property.
pub(crate) type OldResults = BTreeMap<[String; 3], Class>;

/// The run as JSON, one task after the other in the order of the index.
pub(crate) fn to_json(results: &[TaskResult], timeout: u64, memory: &str, extra: &[String]) -> String {
    let tasks: Vec<Value> = results
        .iter()
        .map(|it| {
            json!({
                "kind": it.task.kind.name(),
                "file": it.task.file,
                "property": it.task.property,
                "expected": it.task.expected,
                "class": it.judgement.class.name(),
                "reason": it.judgement.reason,
                "seconds": it.seconds,
                "command": it.command,
            })
        })
        .collect();
    let counts: BTreeMap<&str, usize> = Class::ALL
        .iter()
        .map(|class| (class.name(), results.iter().filter(|it| it.judgement.class == *class).count()))
        .collect();
    let object = json!({
        "schema": SCHEMA,
        "timeout": timeout,
        "memory": memory,
        "options": extra,
        "counts": counts,
        "tasks": tasks,
    });
    format!("{object:#}\n")
}

/// Reads what `to_json` wrote.
pub(crate) fn parse(text: &str) -> anyhow::Result<OldResults> {
    let object: Value = serde_json::from_str(text)?;
    ensure!(object["schema"] == SCHEMA, "the schema is not {SCHEMA}");
    let tasks = object["tasks"].as_array().context("there are no tasks")?;
    let entry = |task: &Value| -> anyhow::Result<([String; 3], Class)> {
        let field = |name: &str| task[name].as_str().with_context(|| format!("a task has no `{name}`"));
        let class = field("class")?;
        let class =
            Class::ALL.into_iter().find(|it| it.name() == class).context("a task has no known class")?;
        Ok(([field("kind")?.to_owned(), field("file")?.to_owned(), field("property")?.to_owned()], class))
    };
    tasks.iter().map(entry).collect()
}

/// Says which tasks changed their class, those that got worse first, and which are only in one of the runs.
pub(crate) fn compare(old: &OldResults, new: &[TaskResult]) -> String {
    let mut changes: [Vec<String>; 3] = Default::default();
    let (mut n_new, mut n_common) = (0, 0);
    for it in new {
        let key = [it.task.kind.name().to_owned(), it.task.file.clone(), it.task.property.clone()];
        let Some(&before) = old.get(&key) else {
            n_new += 1;
            continue;
        };
        n_common += 1;
        let after = it.judgement.class;
        if before == after {
            continue;
        }
        let [kind, file, property] = key;
        let mut line = format!("  {} -> {}: {kind} {file}, {property}", before.name(), after.name());
        if !it.judgement.reason.is_empty() {
            let _ = write!(line, "\n    {}", it.judgement.reason);
        }
        let group = match after.rank().cmp(&before.rank()) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Equal => 2,
        };
        changes[group].push(line);
    }
    let mut text = "\ncompared with the earlier run\n".to_owned();
    for (title, lines) in ["worse", "better", "other"].into_iter().zip(&changes) {
        let _ = writeln!(text, "{title}: {}", lines.len());
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(text, "only now: {n_new}, only then: {}", old.len() - n_common);
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus::index::{Kind, Task};
    use crate::corpus::judge::Judgement;

    /// A result that took half a second.
    pub(crate) fn result(kind: Kind, file: &str, class: Class, reason: &str) -> TaskResult {
        TaskResult {
            task: Task { kind, file: file.into(), property: "p".into(), expected: true },
            judgement: Judgement { class, reason: reason.into() },
            seconds: 0.5,
            command: format!("pdnet check {file}"),
        }
    }

    #[test]
    fn what_was_written_can_be_compared() {
        let old = [
            result(Kind::Reach, "better.c", Class::Unknown, "time limit"),
            result(Kind::Reach, "gone.c", Class::Correct, ""),
            result(Kind::Reach, "same.c", Class::Correct, ""),
            result(Kind::Reach, "same-file.c", Class::Correct, ""),
            result(Kind::Ltl, "same-file.c", Class::Refused, "id: text"),
            result(Kind::Ltl, "worse.c", Class::Correct, ""),
        ];
        let new = [
            result(Kind::Reach, "better.c", Class::Correct, ""),
            result(Kind::Reach, "same.c", Class::Correct, ""),
            result(Kind::Reach, "same-file.c", Class::Correct, ""),
            result(Kind::Ltl, "same-file.c", Class::Unknown, "time limit"),
            result(Kind::Ltl, "worse.c", Class::Wrong, "false instead of true"),
            result(Kind::Ltl, "new.c", Class::Wrong, "false instead of true"),
        ];
        let old = parse(&to_json(&old, 60, "4G", &[])).unwrap();
        let expected = "
compared with the earlier run
worse: 1
  correct -> wrong: c-ltl worse.c, p
    false instead of true
better: 1
  unknown -> correct: c-reach better.c, p
other: 1
  refused -> unknown: c-ltl same-file.c, p
    time limit
only now: 1, only then: 1
";
        assert_eq!(compare(&old, &new), expected);
    }

    #[test]
    fn something_else_is_not_taken_for_a_run() {
        for (text, message) in [
            (r#"{"schema": "pdnet-result/1"}"#, "the schema is not pdnet-corpus/1"),
            (r#"{"schema": "pdnet-corpus/1"}"#, "there are no tasks"),
            (r#"{"schema": "pdnet-corpus/1", "tasks": [{}]}"#, "a task has no `class`"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
    }
}
