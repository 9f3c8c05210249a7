//! `pdnet check` on Promela models: which properties, and what is refused.

use std::process::Command;

/// A model with an assertion that can fail, a claim of each kind, and a way to stop too early.
const MODEL: &str = r"
byte x;
active proctype P() {
progress: do :: x < 3 -> x++ :: x > 1 -> break od;
    assert(x != 3);
    x == 9
}
ltl small { [] (x < 4) }
ltl reaches { <> (x == 3) }
never late { do :: x != 3 :: x == 3 -> break od }
";

/// Arguments, and the last line of the output or a part of the complaint.
const ROWS: &[(&[&str], i32, &str)] = &[
    (&[], 10, "Verification result: FALSE (unreach-call)"),
    (&["--check", "assert"], 10, "Verification result: FALSE (unreach-call)"),
    (&["--check", "deadlock"], 10, "Verification result: FALSE (no-deadlock)"),
    (&["--check", "acceptance"], 0, "Verification result: TRUE"),
    (&["--check", "non-progress"], 0, "Verification result: TRUE"),
    (&["--claim", "small"], 0, "Verification result: TRUE"),
    (&["--claim", "reaches"], 10, "Verification result: FALSE (valid-ltl)"),
    (&["--claim", "late"], 10, "Verification result: FALSE (valid-never)"),
    (&["--ltl", "[] (x <= 3)"], 0, "Verification result: TRUE"),
    (&["--ltl", "<> P@progress"], 0, "Verification result: TRUE"),
    (&["--check", "race"], 2, "the check `race` is for C programs"),
    (&["--check", "asert"], 2, "did you mean `assert`?"),
    (&["--claim", "smal"], 2, "did you mean `small`?"),
    (&["--ltl", "[] y"], 2, "y"),
    (&["--prp", "a.prp"], 2, "--prp is for C programs"),
    (&["--witness", "w.yml"], 2, "--trail writes the run of a model to a file"),
];

#[test]
fn models_are_checked_as_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("model.pml");
    std::fs::write(&file, MODEL).expect("a model");
    for &(arguments, code, expected) in ROWS {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
        let output = command.arg("check").arg(&file).args(arguments).output().expect("pdnet runs");
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{printed}{errors}");
        let found = if code == 2 { errors.as_ref() } else { printed.lines().last().unwrap_or("") };
        assert!(found.contains(expected), "{arguments:?}\n{printed}{errors}");
    }
}

#[test]
fn the_language_can_be_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("model.txt");
    std::fs::write(&file, "active proctype P() { skip }").expect("a model");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    let output =
        command.arg("check").arg(&file).args(["--language", "promela"]).output().expect("pdnet runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn trails_name_processes_and_statements() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, trail) = (folder.path().join("model.pml"), folder.path().join("model.pml.trail"));
    // The numbers are those of SPIN, which counts the elements of the text: two statements and the end of A, then B.
    let model = "chan q = [0] of { byte }; byte x;\n\
                 active proctype A() { q!1; x = 2 }\n\
                 active proctype B() { q?x; assert(x == 2) }\n";
    std::fs::write(&file, model).expect("a model");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    let output = command.arg("check").arg(&file).args(["--check", "assert", "--trail"]).arg(&trail).output();
    assert_eq!(output.expect("pdnet runs").status.code(), Some(10));
    assert_eq!(std::fs::read_to_string(&trail).expect("a trail"), "0:0:0\n1:1:3\n2:1:4\n");
}
