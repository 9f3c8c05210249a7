//! What a task's end means.

use serde_json::Value;

/// How pdnet ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with this exit code.
    Exit(i32),
    /// By a signal, in words.
    Signal(String),
    /// By us, since it took too long.
    Killed,
}

/// The classes, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Correct,
    Unknown,
    Refused,
    Timeout,
    Wrong,
    Crashed,
}

impl Class {
    pub(crate) const ALL: [Self; 6] =
        [Self::Correct, Self::Unknown, Self::Refused, Self::Timeout, Self::Wrong, Self::Crashed];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::Unknown => "unknown",
            Self::Refused => "refused",
            Self::Timeout => "timeout",
            Self::Wrong => "wrong",
            Self::Crashed => "crashed",
        }
    }

    /// How good it is: an answer, no answer, a bug.
    pub(crate) const fn rank(self) -> u8 {
        match self {
            Self::Correct => 2,
            Self::Unknown | Self::Refused | Self::Timeout => 1,
            Self::Wrong | Self::Crashed => 0,
        }
    }
}

/// A class, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) class: Class,
    /// Tasks with the same text stand in one group. Empty for correct ones.
    pub(crate) reason: String,
}

/// Judges the end of `pdnet check --format json`.
///
/// The exit code and the object must agree: an answer that only one of them gives is none.
pub(crate) fn judge(expected: bool, end: &End, stdout: &str, stderr: &str) -> Judgement {
    let (class, reason) = match end {
        End::Killed => (Class::Timeout, "did not keep its limit of time".to_owned()),
        End::Signal(signal) => (Class::Crashed, signal.clone()),
        End::Exit(code @ (0 | 10 | 5)) => {
            let said = match code {
                0 => "true",
                10 => "false",
                _ => "unknown",
            };
            match serde_json::from_str::<Value>(stdout) {
                Err(_) => (Class::Crashed, format!("exit code {code} without a JSON object")),
                Ok(object) if object["verdict"] != said => {
                    (Class::Crashed, format!("exit code {code}, but the verdict {}", object["verdict"]))
                }
                Ok(object) if *code == 5 => (Class::Unknown, unknown_reason(&object)),
                // The right verdict for the wrong part of a property.
                Ok(object) if contradicts(&object) => (Class::Wrong, format!("{said}, but not as expected")),
                Ok(_) if (*code == 0) == expected => (Class::Correct, String::new()),
                Ok(_) => (Class::Wrong, format!("{said} instead of {expected}")),
            }
        }
        End::Exit(2) => match first_error(stderr) {
            // That is a question that pdnet has no answer to, whatever the program is.
            Some(("unsupported-check" | "unsupported-property", message)) => {
                (Class::Unknown, message.to_owned())
            }
            Some((id, message)) => (Class::Refused, format!("{id}: {message}")),
            None => (Class::Crashed, "exit code 2 without a diagnostic".to_owned()),
        },
        End::Exit(code) => {
            let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
            let line = lines.clone().find(|line| line.contains("panicked")).or_else(|| lines.next());
            (Class::Crashed, format!("exit code {code}: {}", line.unwrap_or("nothing was said")))
        }
    };
    Judgement { class, reason }
}

/// Whether pdnet itself says that its answer is not the one that the task expects.
fn contradicts(object: &Value) -> bool {
    let properties = object["task"]["properties"].as_array().map_or(&[][..], Vec::as_slice);
    properties.iter().any(|it| it["agreement"] == "unexpected")
}

/// Why the first property without an answer has none.
fn unknown_reason(object: &Value) -> String {
    let results = object["results"].as_array().map_or(&[][..], Vec::as_slice);
    let text = results.iter().find_map(|it| it["reason"]["text"].as_str());
    text.unwrap_or("no reason was given").to_owned()
}

/// Id and message of the first line `error[ID]: MESSAGE`.
fn first_error(stderr: &str) -> Option<(&str, &str)> {
    stderr.lines().find_map(|line| line.strip_prefix("error[")?.split_once("]: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_its_class_and_reason() {
        let unknown = r#"{"verdict": "unknown", "results": [
            {"verdict": "true", "reason": null},
            {"verdict": "unknown", "reason": {"text": "time limit 3 s"}}]}"#;
        let refused =
            "warning[w]: some\nerror[unknown-function]: `f` is not supported\n --> a.c\nerror[e]: more\n";
        let race = "error[unsupported-check]: the check `race` does not exist yet\n";
        let panicked = "note: a\nthread 'main' panicked at a.rs:3\n";
        let (yes, no) = (r#"{"verdict": "true"}"#, r#"{"verdict": "false"}"#);
        let other_part = r#"{"verdict": "false", "task": {"properties": [{"agreement": "unexpected"}]}}"#;
        for (expected, end, stdout, stderr, class, reason) in [
            (true, End::Exit(0), yes, "", Class::Correct, ""),
            (false, End::Exit(10), no, "", Class::Correct, ""),
            (false, End::Exit(0), yes, "", Class::Wrong, "true instead of false"),
            (true, End::Exit(10), no, "", Class::Wrong, "false instead of true"),
            (false, End::Exit(10), other_part, "", Class::Wrong, "false, but not as expected"),
            (true, End::Exit(0), no, "", Class::Crashed, "exit code 0, but the verdict \"false\""),
            (true, End::Exit(0), "", "", Class::Crashed, "exit code 0 without a JSON object"),
            (true, End::Exit(5), unknown, "", Class::Unknown, "time limit 3 s"),
            (true, End::Exit(2), "", refused, Class::Refused, "unknown-function: `f` is not supported"),
            (true, End::Exit(2), "", race, Class::Unknown, "the check `race` does not exist yet"),
            (true, End::Exit(2), "", "", Class::Crashed, "exit code 2 without a diagnostic"),
            (
                true,
                End::Exit(6),
                "",
                panicked,
                Class::Crashed,
                "exit code 6: thread 'main' panicked at a.rs:3",
            ),
            (true, End::Exit(1), "", "error: bad\n", Class::Crashed, "exit code 1: error: bad"),
            (true, End::Signal("signal: 11".into()), "", "", Class::Crashed, "signal: 11"),
            (true, End::Killed, yes, "", Class::Timeout, "did not keep its limit of time"),
        ] {
            let judgement = judge(expected, &end, stdout, stderr);
            assert_eq!(judgement, Judgement { class, reason: reason.into() }, "{end:?}");
        }
    }
}
