//! Witnesses: every violation of the examples gets one, and each keeps the rules of the format.
//!
//! The rules are written down here once more, from the format's side: allowed words, which waypoints have a
//! constraint, and that a thread is created before it moves.

use std::path::{Path, PathBuf};
use std::process::Command;

use saphyr::{LoadableYamlNode as _, SafelyIndex as _, Yaml};
use tempfile::TempDir;

fn pdnet(folder: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pdnet")).args(args).current_dir(folder).output();
    let output = output.expect("pdnet runs");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A waypoint in one line: thread, type, action, line and column, constraint.
fn line_of(waypoint: &Yaml<'_>) -> String {
    let location = &waypoint["location"];
    let mut text = format!(
        "{} {} {} {}:{}",
        integer(&waypoint["thread_id"]),
        string(&waypoint["type"]),
        string(&waypoint["action"]),
        integer(&location["line"]),
        location.get("column").map_or_else(|| "-".to_owned(), |column| integer(column).to_string()),
    );
    if let Some(constraint) = waypoint.get("constraint") {
        text += &format!(" [{}]", string(&constraint["value"]));
    }
    text
}

fn string<'a>(node: &'a Yaml<'_>) -> &'a str {
    node.as_str().unwrap_or_else(|| panic!("a text: {node:?}"))
}

fn integer(node: &Yaml<'_>) -> i64 {
    node.as_integer().unwrap_or_else(|| panic!("a number: {node:?}"))
}

/// Checks that a waypoint keeps the rules by itself.
fn check_waypoint(waypoint: &Yaml<'_>, sources: &[(String, String)]) {
    let kind = string(&waypoint["type"]);
    let constraint = waypoint.get("constraint");
    let format = constraint.and_then(|constraint| constraint.get("format")).map(string);
    let value = constraint.map(|constraint| string(&constraint["value"]));
    match kind {
        "target" | "function_enter" => assert_eq!(value, None, "{kind}"),
        "branching" => {
            let value = value.expect("a constraint");
            let is_value = value == "true" || value == "false" || value.parse::<i64>().is_ok();
            assert!(is_value && format.is_none(), "{value}");
        }
        "function_return" => {
            let number = value.and_then(|value| value.strip_prefix("\\result == ")).expect("a result");
            assert!(number.parse::<i128>().is_ok(), "{number}");
            assert_eq!(format, Some("acsl_expression"));
        }
        "assumption" => {
            assert!(value.is_some_and(|value| !value.is_empty()));
            assert_eq!(format, Some("c_expression"));
        }
        other => panic!("unknown type {other}"),
    }
    let location = &waypoint["location"];
    let file = string(&location["file_name"]);
    let text = &sources.iter().find(|(name, _)| name == file).unwrap_or_else(|| panic!("no {file}")).1;
    let line = usize::try_from(integer(&location["line"])).expect("a line");
    let line = text.lines().nth(line - 1).expect("a line of the file");
    assert!(!string(&location["function"]).is_empty());
    let Some(column) = location.get("column") else { return };
    let rest: String = line.chars().skip(usize::try_from(integer(column)).expect("a column") - 1).collect();
    let fits = match kind {
        "function_enter" | "function_return" => rest.starts_with(')'),
        "branching" => ["if", "while", "for", "switch", "?"].iter().any(|word| rest.starts_with(word)),
        _ => rest.starts_with(|c: char| c.is_ascii_alphabetic() || "_*(+-}".contains(c)),
    };
    assert!(fits, "a {kind} at `{rest}`");
}

/// Checks a violation witness; returns its waypoints, one in a line.
fn check_violation(text: &str, sources: &[(String, String)]) -> Vec<String> {
    let documents = Yaml::load_from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [document] = documents.as_slice() else { panic!("one document") };
    let [entry] = document.as_vec().expect("a list").as_slice() else { panic!("one entry") };
    assert_eq!(string(&entry["entry_type"]), "violation_sequence");
    check_metadata(&entry["metadata"], "2.2", sources);
    let segments = entry["content"].as_vec().expect("segments");
    let (mut n_threads, mut in_cycle, mut lines) = (0, false, Vec::new());
    for (position, segment) in segments.iter().enumerate() {
        let waypoints = segment["segment"].as_vec().expect("waypoints");
        let is_race = waypoints.len() == 2 && position + 1 == segments.len();
        assert!(is_race || waypoints.len() == 1, "one waypoint in a segment, but for the accesses of a race");
        for other in &waypoints[1..] {
            let (first, other) = (&waypoints[0]["waypoint"], &other["waypoint"]);
            check_waypoint(other, sources);
            assert_eq!((string(&first["type"]), string(&other["type"])), ("target", "target"));
            assert_ne!(integer(&first["thread_id"]), integer(&other["thread_id"]), "two threads race");
        }
        let waypoint = &waypoints[0]["waypoint"];
        check_waypoint(waypoint, sources);
        let (kind, action) = (string(&waypoint["type"]), string(&waypoint["action"]));
        let is_last = position + 1 == segments.len();
        match action {
            "follow" => {
                assert!(!in_cycle, "nothing comes after the cycle");
                assert_eq!(kind == "target", is_last && !in_cycle, "a target is the end\n{text}");
            }
            "cycle" => {
                assert_ne!(kind, "target");
                in_cycle = true;
            }
            other => panic!("unknown action {other}"),
        }
        assert!(integer(&waypoint["thread_id"]) <= n_threads, "a thread moves before it is there\n{text}");
        n_threads += i64::from(kind == "function_enter");
        lines.push(line_of(waypoint));
        // A run without end is followed up to its cycle, and ends in it.
        if action == "follow" && kind != "target" {
            let last = &segments[segments.len() - 1]["segment"][0]["waypoint"];
            assert!(string(&last["type"]) == "target" || string(&last["action"]) == "cycle", "{text}");
        }
    }
    assert!(!lines.is_empty(), "an empty witness");
    lines
}

fn check_metadata(metadata: &Yaml<'_>, version: &str, sources: &[(String, String)]) {
    assert_eq!(string(&metadata["format_version"]), version);
    let uuid: Vec<usize> = string(&metadata["uuid"]).split('-').map(str::len).collect();
    assert_eq!(uuid, [8, 4, 4, 4, 12]);
    let time = string(&metadata["creation_time"]);
    assert!(time.len() == 20 && time.ends_with('Z') && time.contains('T'), "{time}");
    assert_eq!(string(&metadata["producer"]["name"]), "pdnet");
    assert_eq!(string(&metadata["producer"]["version"]), env!("CARGO_PKG_VERSION"));
    assert_eq!(string(&metadata["producer"]["configuration"]), "explicit engine, fairness none");
    let task = &metadata["task"];
    let [input] = task["input_files"].as_vec().expect("files").as_slice() else { panic!("one file") };
    assert!(sources.iter().any(|(name, _)| name == string(input)));
    let hash = string(&task["input_file_hashes"][string(input)]);
    assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
    assert!(string(&task["specification"]).starts_with("CHECK( init(main()), LTL("));
    assert!(["LP64", "ILP32"].contains(&string(&task["data_model"])));
    assert_eq!(string(&task["language"]), "C");
}

/// The witnesses that a run has written, by name.
fn witnesses(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("the folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yml"));
    files.sort();
    let name = |file: &Path| file.file_name().expect("a name").to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).expect("a witness"))).collect()
}

#[test]
fn every_violation_of_the_examples_has_a_witness_that_keeps_the_rules() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(examples).expect("examples").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "c"));
    files.sort();
    let mut n_witnesses = 0;
    for file in files {
        let folder = TempDir::new().expect("a temporary folder");
        let text = std::fs::read_to_string(&file).expect("an example");
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        std::fs::write(folder.path().join(&name), &text).expect("a copy");
        let (code, errors) = pdnet(folder.path(), &["check", &name, "--witness", "w.yml"]);
        let sources = [(name.clone(), text)];
        let written = witnesses(folder.path());
        match code {
            0 => assert_eq!(written.len(), 1, "{name}: {errors}"),
            10 => assert!(!written.is_empty(), "{name}: {errors}"),
            _ => panic!("{name}: exit code {code}\n{errors}"),
        }
        for (_, witness) in written {
            if code == 10 {
                check_violation(&witness, &sources);
                n_witnesses += 1;
            } else {
                let documents = Yaml::load_from_str(&witness).expect("YAML");
                assert_eq!(string(&documents[0][0]["entry_type"]), "invariant_set");
                check_metadata(&documents[0][0]["metadata"], "2.0", &sources);
                assert_eq!(documents[0][0]["content"].as_vec().map(Vec::len), Some(0));
            }
        }
    }
    assert!(n_witnesses >= 5, "{n_witnesses} witnesses");
}

/// The waypoints of the witnesses of a program.
fn waypoints(program: &str, args: &[&str]) -> Vec<(String, Vec<String>)> {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("p.c"), program).expect("a program");
    let args = [&["check", "p.c", "--witness", "w.yml"], args].concat();
    let (code, errors) = pdnet(folder.path(), &args);
    assert_eq!(code, 10, "{errors}");
    let sources = [("p.c".to_owned(), program.to_owned())];
    witnesses(folder.path())
        .into_iter()
        .map(|(name, text)| (name, check_violation(&text, &sources)))
        .collect()
}

#[test]
fn waypoints_are_where_the_format_wants_them() {
    let program = "\
#include <pthread.h>
extern void reach_error(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
int x, y;
int twice(int a) { return a + a + x; }
void *worker(void *arg) {
    unsigned char n = __VERIFIER_nondet_uchar();
    if (n > 3 && x == 0)
        x = x + 1;
    for (int i = 0; i < 1; i++)
        y = twice(1) + x;
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0,
        worker, 0);
    pthread_join(t, 0);
    switch (y) {
        case 4: reach_error();
    }
    return 0;
}
";
    let expected = [
        "0 function_enter follow 17:18",
        "1 function_return follow 7:47 [\\result == 4]",
        "1 branching follow 8:5 [true]",
        "1 assumption follow 9:9 [x == 0]",
        "1 branching follow 10:5 [true]",
        "1 assumption follow 5:20 [x == 1]",
        "1 branching follow 10:5 [false]",
        "0 assumption follow 18:5 [1]",
        "0 branching follow 19:5 [4]",
        "0 target follow 20:17",
    ];
    for args in [["--check", "assert"], ["--ltl", "G ! call(reach_error())"]] {
        assert_eq!(waypoints(program, &args), [("w.yml".to_owned(), expected.map(str::to_owned).to_vec())]);
    }
}

#[test]
fn a_cycle_and_a_second_violation_have_their_files() {
    let program = "\
#include <pthread.h>
int go;
pthread_mutex_t m;
void *worker(void *arg) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return 0;
}
";
    let found = waypoints(program, &["--check", "deadlock", "--ltl", "F end", "--ltl", "G !(go == 0)"]);
    let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    let create = "0 function_enter follow 7:36";
    let lock = "1 assumption follow 4:27 [1]";
    assert_eq!(
        found,
        [
            ("w.deadlock.yml".to_owned(), lines(&[create, lock, "1 target follow 4:51"])),
            ("w.ltl-2.yml".to_owned(), lines(&["0 target follow 5:1"])),
            ("w.yml".to_owned(), lines(&[create, lock, "1 target follow 4:51"])),
        ]
    );
    let spin = "int go;\nint main(void) {\n    while (!go) { }\n    return 0;\n}\n";
    assert_eq!(
        waypoints(spin, &["--ltl", "F end"]),
        [("w.yml".to_owned(), lines(&["0 branching cycle 3:5 [true]"]))]
    );
    let silent = "int main(void) {\n    for (;;) { }\n}\n";
    let found = waypoints(silent, &["--ltl", "F end"]);
    assert!(found[0].1.iter().all(|line| line.contains(" cycle ")), "{found:?}");
}

#[test]
fn the_specification_is_that_of_the_property_file() {
    let folder = TempDir::new().expect("a temporary folder");
    let lines = "CHECK( init(main()), LTL(G  ! (x == 1)) )\nCHECK( init(main()), LTL(F end) )";
    for (name, text) in [("p.c", "int x; int main(void) { x = 1; return 0; }\n"), ("both.prp", lines)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    for (args, code, expected) in [
        (&["--prp", "both.prp"][..], 10, lines),
        (
            &["--check", "deadlock,assert"],
            0,
            "CHECK( init(main()), LTL(G ! deadlock) )\nCHECK( init(main()), LTL(G ! call(reach_error())) )",
        ),
        (&["--ltl", "F  end", "-m32"], 0, "CHECK( init(main()), LTL(F  end) )"),
    ] {
        let (found, errors) = pdnet(folder.path(), &[&["check", "p.c", "--witness", "w.yml"], args].concat());
        assert_eq!(found, code, "{errors}");
        let text = std::fs::read_to_string(folder.path().join("w.yml")).expect("a witness");
        let documents = Yaml::load_from_str(&text).expect("YAML");
        let task = &documents[0][0]["metadata"]["task"];
        assert_eq!(string(&task["specification"]), expected);
        assert_eq!(string(&task["data_model"]), if args.contains(&"-m32") { "ILP32" } else { "LP64" });
    }
}

#[test]
fn an_unknown_answer_has_no_witness_and_a_folder_that_is_not_there_is_an_error() {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("p.c"), "int x; int main(void) { x = 1; return 0; }\n")
        .expect("a file");
    let (code, _) = pdnet(folder.path(), &["check", "p.c", "--states", "1", "--witness", "w.yml"]);
    assert_eq!((code, witnesses(folder.path()).len()), (5, 0));
    let (code, errors) = pdnet(folder.path(), &["check", "p.c", "--witness", "nowhere/w.yml"]);
    assert_eq!(code, 1);
    assert!(errors.contains("cannot write `nowhere/w.yml`"), "{errors}");
}
