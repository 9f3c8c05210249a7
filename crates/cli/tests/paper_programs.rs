//! Our versions of the programs of the slicing paper have the verdicts of its Table 2, with every method of slicing.

use std::path::{Path, PathBuf};
use std::process::Command;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/programs/paper");
    let entries = std::fs::read_dir(folder).expect("the folder of programs");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}

/// The lines that start with this, as pairs of a name and what stands behind the colon.
fn pairs<'a>(text: &'a str, start: &str) -> Vec<(&'a str, &'a str)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(start));
    lines.map(|line| line.split_once(": ").expect("a colon")).collect()
}

/// Table 2: the results of both formulas.
const TABLE: [(&str, [&str; 2]); 11] = [
    ("ccnf", ["FALSE", "FALSE"]),
    ("datarace", ["TRUE", "FALSE"]),
    ("dekker", ["TRUE", "TRUE"]),
    ("fib", ["FALSE", "FALSE"]),
    ("lamport", ["TRUE", "FALSE"]),
    ("lazy", ["FALSE", "FALSE"]),
    ("peterson", ["TRUE", "TRUE"]),
    ("rwlock", ["TRUE", "TRUE"]),
    ("sync", ["TRUE", "TRUE"]),
    ("szymanski", ["TRUE", "FALSE"]),
    ("varmutex", ["TRUE", "TRUE"]),
];

#[test]
fn verdicts_are_those_of_the_paper_with_every_method() {
    let programs = programs();
    let names: Vec<_> = programs.iter().map(|path| path.file_stem().expect("a name").to_owned()).collect();
    assert_eq!(names, TABLE.map(|(name, _)| name));
    for (path, (_, expected)) in programs.iter().zip(TABLE) {
        let text = std::fs::read_to_string(path).expect("a program");
        let promised: Vec<&str> =
            pairs(&text, "// Expected ").into_iter().map(|(_, verdict)| verdict).collect();
        assert_eq!(promised, expected, "{}", path.display());
        for ((name, formula), verdict) in pairs(&text, "//@ ltl ").into_iter().zip(expected) {
            for method in ["on-demand", "program", "net", "off"] {
                let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
                command.arg("check").arg(path).args(["--quiet", "--ltl", formula, "--slice", method]);
                let output = command.output().expect("pdnet runs");
                let printed = String::from_utf8_lossy(&output.stdout);
                let found = printed.trim_start_matches("Verification result: ").split_whitespace().next();
                let errors = String::from_utf8_lossy(&output.stderr);
                assert_eq!(found, Some(verdict), "{} {name} {method}: {errors}", path.display());
            }
        }
    }
}
