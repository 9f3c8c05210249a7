//! Task definitions: what is read from them, what is said of expected answers, and what is refused.

use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use tempfile::TempDir;

const BROKEN: &str = "\
extern void reach_error(void);
int x;
int main(void) {
    x = sizeof(long);
    if (x == 8) { reach_error(); }
    return 0;
}
";

const UNREACH: &str = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n";

/// A folder with a program, property files and `t.yml`.
fn folder(task: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in [
        ("broken.c", BROKEN),
        ("other.c", BROKEN),
        ("unreach-call.prp", UNREACH),
        ("termination.prp", "CHECK( init(main()), LTL(F end) )\n"),
        ("valid-memtrack.prp", "CHECK( init(main()), LTL(G valid-memtrack) )\n"),
        ("coverage-branches.prp", "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )\n"),
        ("t.yml", task),
    ] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

fn pdnet(folder: &Path, args: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    let output = command.args(args).current_dir(folder).env("COLUMNS", "100").env("NO_COLOR", "1").output();
    let output = output.expect("pdnet runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let code = output.status.code().unwrap_or(-1);
    Outcome { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Checks a task and compares the exit code, the part of the output about the task, and standard error.
fn check(task: &str, args: &[&str], expected: &Expect) {
    let folder = folder(task);
    let outcome = pdnet(folder.path(), &[&["check", "t.yml"], args].concat());
    let from = outcome.stdout.find("task t.yml:").unwrap_or(outcome.stdout.len());
    let text = format!("exit {}\n{}--\n{}", outcome.code, &outcome.stdout[from..], outcome.stderr);
    expected.assert_eq(&text);
}

/// A task with these properties and options.
fn task(properties: &str, options: &str) -> String {
    format!(
        "format_version: '2.0'\ninput_files: 'broken.c'\nproperties:\n{properties}options:\n  language: C\n{options}"
    )
}

const REACH_FALSE: &str = "  - property_file: unreach-call.prp\n    expected_verdict: false\n";
const REACH_TRUE: &str = "  - property_file: unreach-call.prp\n    expected_verdict: true\n";
const ENDS: &str = "  - property_file: ./termination.prp\n    expected_verdict: true\n";

#[test]
fn an_answer_that_is_expected_is_called_so() {
    check(
        &task(&format!("{REACH_FALSE}{ENDS}"), "  data_model: LP64\n"),
        &[],
        &expect![[r#"
        exit 10
        task t.yml:
          unreach-call is violated (unreach-call), as expected
          termination holds, as expected

        Verification result: FALSE (unreach-call)
        --
    "#]],
    );
}

#[test]
fn the_data_model_of_the_task_counts_unless_the_user_gives_one() {
    let text = task(REACH_TRUE, "  data_model: ILP32\n");
    check(
        &text,
        &[],
        &expect![[r#"
        exit 0
        task t.yml:
          unreach-call holds, as expected

        Verification result: TRUE
        --
    "#]],
    );
    for args in [&["-m64"][..], &["--64"], &["--data-model", "LP64"]] {
        let outcome = pdnet(folder(&text).path(), &[&["check", "t.yml", "-q"], args].concat());
        assert_eq!(outcome.code, 10, "{args:?}: {}", outcome.stderr);
    }
    let text = task(REACH_FALSE, "  data_model: LP64\n");
    for args in [&["-m32"][..], &["-m", "32"], &["--32"], &["--data-model", "ilp32"]] {
        let outcome = pdnet(folder(&text).path(), &[&["check", "t.yml", "-q"], args].concat());
        assert_eq!(outcome.code, 0, "{args:?}: {}", outcome.stderr);
    }
    let outcome = pdnet(folder(&text).path(), &["check", "t.yml", "-m32", "--64"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
}

#[test]
fn an_answer_that_is_not_expected_is_said_loudly() {
    check(
        &task(REACH_TRUE, ""),
        &["--quiet"],
        &expect![[r#"
        exit 10
        --
        warning[unexpected-verdict]: UNEXPECTED: the answer to `unreach-call` is FALSE (unreach-call)
         --> t.yml:5:23
          |
        5 |     expected_verdict: true
          |                       ^^^^ the task expects that it holds
    "#]],
    );
    check(
        &task(REACH_TRUE, ""),
        &["--property", "unreach-call"],
        &expect![[r#"
        exit 10
        task t.yml:
          UNEXPECTED: unreach-call is violated (unreach-call), but the task expects that it holds

        Verification result: FALSE (unreach-call)
        --
        warning[unexpected-verdict]: UNEXPECTED: the answer to `unreach-call` is FALSE (unreach-call)
         --> t.yml:5:23
          |
        5 |     expected_verdict: true
          |                       ^^^^ the task expects that it holds
    "#]],
    );
    let wrong_part =
        "  - property_file: unreach-call.prp\n    expected_verdict: false\n    subproperty: valid-free\n";
    check(
        &task(wrong_part, ""),
        &["--prp", "unreach-call.prp"],
        &expect![[r#"
        exit 10
        task t.yml:
          UNEXPECTED: unreach-call is violated (unreach-call), but the task expects a violation of
            valid-free

        Verification result: FALSE (unreach-call)
        --
        warning[unexpected-verdict]: UNEXPECTED: the answer to `unreach-call` is FALSE (unreach-call)
         --> t.yml:5:23
          |
        5 |     expected_verdict: false
          |                       ^^^^^ the task expects a violation of valid-free
    "#]],
    );
}

#[test]
fn what_cannot_be_checked_is_unknown_and_tests_are_left_out() {
    let more = "  - property_file: valid-memtrack.prp\n    expected_verdict: true\n  - property_file: coverage-branches.prp\n";
    check(
        &task(&format!("{more}{ENDS}"), ""),
        &[],
        &expect![[r#"
            exit 5
            task t.yml:
              valid-memtrack is not known (not supported: `valid-memtrack` cannot be checked yet: whether a
                block can still be reached is not followed in this version); the task expects that it holds
              termination holds, as expected

            note: coverage-branches asks for tests, not for an answer: it was left out

            Verification result: UNKNOWN (not supported: `valid-memtrack` cannot be checked yet: whether a block can still be reached is not followed in this version)
            --
        "#]],
    );
}

#[test]
fn the_answers_stand_in_the_json_object() {
    let folder = folder(&task(&format!("{REACH_TRUE}{ENDS}  - property_file: valid-memtrack.prp\n"), ""));
    let outcome = pdnet(folder.path(), &["check", "t.yml", "--format", "json"]);
    let from = outcome.stdout.find("\"task\"").expect("a task");
    let to = outcome.stdout.find("\"notes\"").expect("notes");
    expect![[r#"
        "task": {
            "definition": "t.yml",
            "properties": [
              {
                "name": "unreach-call",
                "verdict": "false",
                "reason": null,
                "expected": "true",
                "subproperty": null,
                "agreement": "unexpected"
              },
              {
                "name": "termination",
                "verdict": "true",
                "reason": null,
                "expected": "true",
                "subproperty": null,
                "agreement": "expected"
              },
              {
                "name": "valid-memtrack",
                "verdict": "unknown",
                "reason": "not supported: `valid-memtrack` cannot be checked yet: whether a block can still be reached is not followed in this version",
                "expected": null,
                "subproperty": null,
                "agreement": null
              }
            ]
          },"#]].assert_eq(outcome.stdout[from..to].trim_end());
}

#[test]
fn options_take_the_place_of_the_properties() {
    check(
        &task(REACH_TRUE, ""),
        &["--check", "deadlock"],
        &expect![[r#"
            exit 0
            --
        "#]],
    );
}

#[test]
fn files_are_found_beside_the_task_and_may_have_wildcards() {
    let folder = folder("format_version: 1.0\ninput_files:\n  - 'brok*.c'\n");
    let elsewhere = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("t.yml").display().to_string();
    let outcome = pdnet(elsewhere.path(), &["check", &path, "--check", "assert"]);
    assert_eq!(outcome.code, 10, "{}", outcome.stderr);
}

#[test]
fn bad_tasks_are_refused_with_their_place() {
    for (text, args, expected) in [
        (String::new(), &[][..], expect![[r#"
            exit 2
            --
            error[malformed-yaml]: the file is empty
             --> t.yml:1:1
              |
            1 |
              | ^
        "#]]),
        ("input_files: [broken.c\n".to_owned(), &[], expect![[r#"
            exit 2
            --
            error[malformed-yaml]: this is not YAML
             --> t.yml:1:24
              |
            1 | input_files: [broken.c
              |                       ^ while parsing a flow sequence, expected ',' or ']'
        "#]]),
        ("input_files: broken.c\n".to_owned(), &[], expect![[r#"
            exit 2
            --
            error[malformed-task]: this is no task definition
             --> t.yml:1:1
              |
            1 | input_files: broken.c
              | ^ `format_version` is missing
              |
              = help: write `format_version: '2.0'`
        "#]]),
        ("format_version: '3.0'\ninput_files: brokn.c\n".to_owned(), &[], expect![[r#"
            exit 2
            --
            error[malformed-task]: unknown version of task definitions
             --> t.yml:1:17
              |
            1 | format_version: '3.0'
              |                 ^^^^^ known are 1.0, 2.0, 2.1
            error[missing-file]: there is no file `brokn.c`
             --> t.yml:2:14
              |
            2 | input_files: brokn.c
              |              ^^^^^^^ looked for in .
        "#]]),
        ("format_version: '2.0'\n".to_owned(), &[], expect![[r#"
            exit 2
            --
            error[malformed-task]: the task has no program
             --> t.yml:1:1
              |
            1 | format_version: '2.0'
              | ^ `input_files` is missing
        "#]]),
        ("format_version: '2.0'\ninput_files: ['*.c']\n".to_owned(), &[], expect![[r#"
            exit 2
            --
            error[redefined]: the function `main` is defined twice
             --> other.c:3:5
              |
            3 | int main(void) {
              |     ^^^^ second definition
              |
             ::: broken.c:3:5
              |
            3 | int main(void) {
              |     ---- first definition
        "#]]),
        (
            task(
                "  - property_file: nowhere.prp\n  - expected_verdict: true\n  - property_file: termination.prp\n    expected_verdict: perhaps\n",
                "  data_model: LP32\n",
            )
            .replace("language: C", "language: Java"),
            &[],
            expect![[r#"
                exit 2
                --
                error[missing-file]: there is no property file `nowhere.prp`
                 --> t.yml:4:20
                  |
                4 |   - property_file: nowhere.prp
                  |                    ^^^^^^^^^^^
                error[malformed-task]: this property has no file
                 --> t.yml:5:5
                  |
                5 |   - expected_verdict: true
                  |     ^^^^^^^^^^^^^^^^^^^^^^ `property_file` is missing
                error[malformed-task]: this is no verdict
                 --> t.yml:7:23
                  |
                7 |     expected_verdict: perhaps
                  |                       ^^^^^^^ `true` or `false`
                error[unsupported-language]: programs in `Java` are not read
                 --> t.yml:9:13
                  |
                9 |   language: Java
                  |             ^^^^ only C is
                error[malformed-task]: unknown data model
                  --> t.yml:10:15
                   |
                10 |   data_model: LP32
                   |               ^^^^ `ILP32` or `LP64`
            "#]],
        ),
        (task(REACH_TRUE, ""), &["--property", "unreach-cal"], expect![[r#"
            exit 2
            --
            error[unknown-property]: `t.yml` has no property `unreach-cal`
             --> <--property>:1:1
              |
            1 | unreach-cal
              | ^^^^^^^^^^^ not one of the task's
              |
              = help: did you mean `unreach-call`?
        "#]]),
        (task("  - property_file: valid-memtrack.prp\n", ""), &[], expect![[r#"
            exit 2
            --
            error[unsupported-property]: `valid-memtrack` cannot be checked yet: whether a block can still be reached is not followed in this version
             --> valid-memtrack.prp:1:28
              |
            1 | CHECK( init(main()), LTL(G valid-memtrack) )
              |                            ^^^^^^^^^^^^^^ not in this version
        "#]]),
        (task("  - property_file: coverage-branches.prp\n", ""), &[], expect![[r#"
            exit 2
            --
            error[no-property]: the task has no property that can be checked
             --> t.yml:4:20
              |
            4 |   - property_file: coverage-branches.prp
              |                    ^^^^^^^^^^^^^^^^^^^^^ asks for tests, not for an answer
        "#]]),
        ("format_version: '2.0'\ninput_files: broken.c\nproperties: unreach-call.prp\n".to_owned(), &[], expect![[r#"
            exit 2
            --
            error[malformed-task]: `properties` is not a list
             --> t.yml:3:13
              |
            3 | properties: unreach-call.prp
              |             ^^^^^^^^^^^^^^^^ each item has a `property_file`
        "#]]),
    ] {
        check(&text, args, &expected);
    }
    let folder = folder("");
    let outcome = pdnet(folder.path(), &["check", "broken.c", "--property", "unreach-call"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("error[no-task]"), "{}", outcome.stderr);
    let outcome = pdnet(folder.path(), &["check", "nowhere.yml"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("cannot read the task definition `nowhere.yml`"), "{}", outcome.stderr);
}
