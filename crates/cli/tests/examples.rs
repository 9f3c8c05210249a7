//! Every program in `examples/` gets the verdict that its first lines promise.

use std::path::{Path, PathBuf};
use std::process::Command;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).expect("the folder of examples");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c" || extension == "pml"));
    files.sort();
    files
}

/// The promises of an example: further arguments, and the verdict under them.
fn promises(text: &str) -> Vec<(Vec<&str>, &str)> {
    let mut promises = Vec::new();
    for line in text.lines() {
        let Some(promise) = line.strip_prefix("// Expected") else { continue };
        let (condition, verdict) = promise.split_once(": ").expect("a verdict");
        let arguments = condition.trim().strip_prefix("with ").unwrap_or("").split_whitespace().collect();
        promises.push((arguments, verdict));
    }
    promises
}

#[test]
fn examples_have_the_verdicts_that_they_promise() {
    let files = examples();
    assert!(files.len() >= 10, "there are examples");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("an example");
        let is_model = file.extension().is_some_and(|extension| extension == "pml");
        assert!(is_model || text.contains("//@ "), "{}: no property", file.display());
        let promises = promises(&text);
        assert!(!promises.is_empty(), "{}: no promise", file.display());
        for (arguments, verdict) in promises {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
            let output = command.arg("check").arg(&file).args(&arguments).output().expect("pdnet runs");
            let printed = String::from_utf8_lossy(&output.stdout);
            let last = printed.lines().last().unwrap_or("");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(last, format!("Verification result: {verdict}"), "{}\n{errors}", file.display());
            let code = if verdict == "TRUE" { 0 } else { 10 };
            assert_eq!(output.status.code(), Some(code), "{}", file.display());
        }
    }
}
