//! `pdnet atomize` on the command line: where the model and the report go, and what is refused.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MODEL: &str = "/* two of a kind */\nbyte x;\nactive [2] proctype P() { byte i; x = 1; i = 2 /* kept */; x = 2 }\n\
                     ltl small { [] (x < 3) }\nltl inner { <> (P[0]:i == 2) }\n";
const MERGED: &str = "active [2] proctype P() { byte i; atomic { x = 1; i = 2 } /* kept */; x = 2 }";

fn atomize(folder: &Path, arguments: &[&str]) -> Output {
    let model = folder.join("model.pml");
    std::fs::write(&model, MODEL).expect("writable");
    let mut pdnet = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    pdnet.current_dir(folder).args(["atomize", "model.pml"]).args(arguments).output().expect("pdnet runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn the_model_goes_to_standard_output_or_to_a_file() {
    let (_keep, folder) = folder();
    let output = atomize(&folder, &["--claim", "small"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains(MERGED), "{}", text(&output.stdout));
    assert!(text(&output.stdout).starts_with("/* two of a kind */"));
    assert!(text(&output.stderr).contains("model.pml:3:35: merged in P"), "{}", text(&output.stderr));

    let output = atomize(&folder, &["--claim", "small", "-o", "merged.pml"]);
    assert!(text(&output.stdout).contains("1 sequence merged"), "{}", text(&output.stdout));
    let written = std::fs::read_to_string(folder.join("merged.pml")).expect("written");
    assert!(written.contains(MERGED), "{written}");
}

#[test]
fn all_claims_are_kept_unless_some_are_named() {
    let (_keep, folder) = folder();
    let output = atomize(&folder, &[]);
    assert_eq!(text(&output.stdout), MODEL, "the formula `inner` looks at `i`");
    let output = atomize(&folder, &["--claim", "smal"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("its claims: small, inner"), "{}", text(&output.stderr));
}

#[test]
fn the_report_as_json() {
    let (_keep, folder) = folder();
    let output = text(&atomize(&folder, &["--claim", "small", "--format", "json"]).stdout);
    for part in [
        "\"schema\": \"pdnet-atomize/1\"",
        "\"output\": null",
        "atomic { x = 1; i = 2 } /* kept */",
        "\"obstacle\": null",
        "\"rule\": \"post\"",
        "\"text\": \"x = 2\"",
        "\"line\": 3,\n      \"column\": 35",
    ] {
        assert!(output.contains(part), "{part} is not in {output}");
    }
    let output =
        text(&atomize(&folder, &["--claim", "small", "--format", "json", "-o", "merged.pml"]).stdout);
    for part in ["\"output\": \"merged.pml\"", "\"model\": null"] {
        assert!(output.contains(part), "{part} is not in {output}");
    }
    let output = atomize(&folder, &["--format", "json", "-q"]);
    assert_eq!(output.status.code(), Some(1), "a report and no report");
}
