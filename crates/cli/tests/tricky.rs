//! Programs in an engineer's style that are easily got wrong, most of them as a broken and a right twin.
//!
//! Each file of `tricky/` argues its verdicts in the comment at its top and promises them in lines
//! `// Expected ARGUMENTS: VERDICT`. The arguments go to `pdnet check`, in the folder of the programs; quotes group words.
//! The verdict `refused (ID)` is for what pdnet does not accept, with the diagnostic ID.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tricky")
}

/// The names of the programs; what stands in folders below is part of them.
fn programs() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder of programs");
    let names =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"));
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".c")).collect();
    names.sort();
    names
}

/// Splits a line into words at blanks that are outside of single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.last_mut().expect("a word").push_str(part);
            continue;
        }
        for (index, piece) in part.split(' ').enumerate() {
            if index > 0 {
                words.push(String::new());
            }
            words.last_mut().expect("a word").push_str(piece);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The promises of a program: arguments, and the verdict under them.
fn promises(text: &str) -> Vec<(Vec<String>, &str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("// Expected "));
    lines
        .map(|line| {
            let verdicts = ["TRUE", "FALSE", "UNKNOWN", "refused"];
            let ends = verdicts.iter().filter_map(|verdict| line.find(&format!(": {verdict}")));
            let (arguments, verdict) = line.split_at(ends.min().expect("a verdict"));
            (words(arguments), &verdict[2..])
        })
        .collect()
}

/// What pdnet says, in the words of promises, and all that it printed.
fn answer(program: &str, arguments: &[String], verdict: &str) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    command.current_dir(folder()).args(["check", program, "--timeout", "60"]).args(arguments);
    let output = command.output().expect("pdnet runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let all = format!("{printed}{errors}");
    let last = printed.lines().last().unwrap_or("").strip_prefix("Verification result: ").unwrap_or("");
    let code = match last.split(' ').next() {
        Some("TRUE") => 0,
        Some("FALSE") => 10,
        Some("UNKNOWN") => 5,
        _ => 2,
    };
    assert_eq!(output.status.code(), Some(code), "{program} {arguments:?}\n{all}");
    let refused = code == 2
        && verdict
            .strip_prefix("refused (")
            .is_some_and(|id| errors.contains(&format!("[{}]", id.trim_end_matches(')'))));
    (if refused { verdict.to_owned() } else { last.to_owned() }, all)
}

#[test]
fn tricky_programs_have_the_verdicts_that_they_promise() {
    let programs = programs();
    assert!(programs.len() >= 40, "there are programs");
    let mut wrong = Vec::new();
    for program in programs {
        let text = std::fs::read_to_string(folder().join(&program)).expect("a program");
        let promises = promises(&text);
        assert!(!promises.is_empty(), "{program}: no promise");
        for (arguments, verdict) in promises {
            let (found, all) = answer(&program, &arguments, verdict);
            if found != verdict {
                wrong.push(format!("{program} {}: {verdict} was promised\n{all}", arguments.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
