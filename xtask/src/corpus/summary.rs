//! The tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use super::judge::Class;
use super::run::TaskResult;

/// The counts of each kind, the reasons by frequency, and the tasks that show a bug.
pub(crate) fn render(results: &[TaskResult], elapsed: Duration) -> String {
    let mut text = counts(results);
    for class in [Class::Unknown, Class::Refused, Class::Timeout] {
        text += &groups(results, class);
    }
    for class in [Class::Wrong, Class::Crashed] {
        let mut listed = results.iter().filter(|it| it.judgement.class == class).peekable();
        if listed.peek().is_some() {
            text += &format!("\n{}\n", class.name());
        }
        for it in listed {
            let _ = writeln!(text, "  {}\n    {}", it.judgement.reason, it.command);
        }
    }
    let _ = writeln!(text, "\n{} tasks in {:.0} s", results.len(), elapsed.as_secs_f64());
    text
}

fn counts(results: &[TaskResult]) -> String {
    let mut text = format!("{:<12}", "kind");
    for class in Class::ALL {
        let _ = write!(text, "{:>9}", class.name());
    }
    let _ = writeln!(text, "{:>9}{:>10}", "total", "seconds");
    let kinds: BTreeSet<_> = results.iter().map(|it| it.task.kind).collect();
    let mut row = |name: &str, rows: &[&TaskResult]| {
        let _ = write!(text, "{name:<12}");
        for class in Class::ALL {
            let _ = write!(text, "{:>9}", rows.iter().filter(|it| it.judgement.class == class).count());
        }
        let seconds: f64 = rows.iter().map(|it| it.seconds).sum();
        let _ = writeln!(text, "{:>9}{seconds:>10.1}", rows.len());
    };
    for &kind in &kinds {
        row(kind.name(), &results.iter().filter(|it| it.task.kind == kind).collect::<Vec<_>>());
    }
    if kinds.len() > 1 {
        row("all", &results.iter().collect::<Vec<_>>());
    }
    text
}

/// The reasons of one class, the most frequent first; equally frequent ones by their text.
fn groups(results: &[TaskResult], class: Class) -> String {
    let mut reasons: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for it in results.iter().filter(|it| it.judgement.class == class) {
        *reasons.entry(&it.judgement.reason).or_default().entry(it.task.kind.name()).or_default() += 1;
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut reasons: Vec<_> =
        reasons.into_iter().map(|(it, by)| (by.values().sum::<usize>(), it, by)).collect();
    reasons.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
    let mut text = format!("\n{}\n", class.name());
    for (count, reason, by_kind) in reasons {
        let kinds: Vec<String> = by_kind.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
        let _ = writeln!(text, "{count:>5}  {reason}  ({})", kinds.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::index::Kind;
    use crate::corpus::results::tests::result;

    #[test]
    fn kinds_are_counted_and_reasons_sorted_by_frequency() {
        let results = [
            result(Kind::Reach, "a.c", Class::Correct, ""),
            result(Kind::Reach, "b.c", Class::Unknown, "rare"),
            result(Kind::Reach, "c.c", Class::Unknown, "zoo"),
            result(Kind::Ltl, "d.c", Class::Unknown, "zoo"),
            result(Kind::Ltl, "e.c", Class::Wrong, "true instead of false"),
        ];
        let expected = "\
kind          correct  unknown  refused  timeout    wrong  crashed    total   seconds
c-reach             1        2        0        0        0        0        3       1.5
c-ltl               0        1        0        0        1        0        2       1.0
all                 1        3        0        0        1        0        5       2.5

unknown
    2  zoo  (c-ltl 1, c-reach 1)
    1  rare  (c-reach 1)

wrong
  true instead of false
    pdnet check e.c

5 tasks in 3 s
";
        assert_eq!(render(&results, Duration::from_secs(3)), expected);
    }
}
