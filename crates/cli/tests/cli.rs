//! The command as a user sees it: what is printed where, and the exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::{Expect, expect};
use tempfile::TempDir;

/// A folder with files, in which the command is run.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file in it");
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn pdnet(&self, args: &[&str]) -> Outcome {
        pdnet(self.0.path(), args)
    }
}

struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Outcome {
    /// The last line of standard output.
    fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or("")
    }
}

fn pdnet(folder: &Path, args: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    command.args(args).current_dir(folder).env("COLUMNS", "100").env("NO_COLOR", "1");
    let Output { status, stdout, stderr } = command.output().expect("the command runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Outcome { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

/// Runs the command without files and compares everything.
fn check(args: &[&str], expected: &Expect) {
    let outcome = Folder::new(&[]).pdnet(args);
    expected.assert_eq(&format!("exit {}\n{}--\n{}", outcome.code, outcome.stdout, outcome.stderr));
}

const LOST: &str = "\
#include <pthread.h>
#include <assert.h>
int x;
void *worker(void *arg) { x = x + 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    x = x + 1;
    pthread_join(t, 0);
    assert(x == 2);
    return 0;
}
";

const SPIN: &str = "\
#include <pthread.h>
//@ ltl progress: F(seen == 1)
int flag, seen;
void *setter(void *arg) { flag = 1; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, setter, 0);
    while (flag == 0) { }
    seen = 1;
    return 0;
}
";

#[test]
fn what_a_lossy_store_does_not_find_is_unknown() {
    let folder = Folder::new(&[("lost.c", LOST), ("right.c", &LOST.replace("x == 2", "x <= 2"))]);
    for (args, broken, right) in [
        (&["--search", "dfs"][..], "FALSE (unreach-call)", "TRUE"),
        (&["--store", "hash-compact"], "FALSE (unreach-call)", "UNKNOWN (hash-compact: a state was taken"),
        (&["--store", "bitstate"], "FALSE (unreach-call)", "UNKNOWN (bitstate: of the states that were met"),
    ] {
        for (file, verdict) in [("lost.c", broken), ("right.c", right)] {
            let outcome =
                folder.pdnet(&[&["check", file, "--check", "assert", "--reduce", "none"], args].concat());
            let expected = format!("Verification result: {verdict}");
            assert!(
                outcome.last_line().starts_with(&expected),
                "{args:?}: {}{}",
                outcome.stdout,
                outcome.stderr
            );
            let code = if verdict.starts_with("UNKNOWN") { Some(5) } else { None };
            assert!(code.is_none_or(|code| code == outcome.code), "{args:?}: {}", outcome.code);
        }
    }
}

#[test]
fn what_reductions_saved_is_said_of_formulas_too() {
    let program = "#include <pthread.h>\n\
        int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        void *w(void *p) { int k = 0; while (1) { k = 1 - k; pthread_mutex_lock(&m); x = (x + 1) % 3; pthread_mutex_unlock(&m); } }\n\
        int main(void) { pthread_t t; for (int i = 0; i < 3; i++) pthread_create(&t, 0, w, 0); pthread_exit(0); }\n";
    let folder = Folder::new(&[("p.c", program)]);
    let asked = ["check", "p.c", "--ltl", "G(x == 1 -> F(x == 2))", "--timings", "--reduce"];
    let said = [" reduced by stubborn sets)", ", steps left out in ", ", threads exchanged after "];
    for (reductions, is_said) in [
        ("all", [true, true, true]),
        ("symmetry,forget", [false, false, true]),
        ("stubborn,guide", [true, true, false]),
        ("none", [false; 3]),
    ] {
        let outcome = folder.pdnet(&[&asked[..], &[reductions]].concat());
        assert_eq!(outcome.last_line(), "Verification result: TRUE", "{reductions}: {}", outcome.stderr);
        assert_eq!(
            said.map(|text| outcome.stdout.contains(text)),
            is_said,
            "{reductions}:\n{}",
            outcome.stdout
        );
    }
}

#[test]
fn the_version_goes_to_standard_output() {
    let outcome = Folder::new(&[]).pdnet(&["--version"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert_eq!(outcome.stdout, format!("pdnet {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn usage_errors_have_code_1() {
    for args in [
        &[][..],
        &["check"],
        &["chekc", "a.c"],
        &["check", "a.c", "--fair", "very"],
        &["check", "a.c", "--memory", "much"],
        &["check", "a.c", "--max-threads", "256"],
        &["check", "a.c", "--store", "bitstate", "--search", "bfs"],
        &["check", "a.c", "--search", "dfs", "--preemptions", "2"],
        &["automaton", "p", "--format", "svg"],
    ] {
        let outcome = Folder::new(&[]).pdnet(args);
        assert_eq!(outcome.code, 1, "{args:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{args:?}");
        assert!(!outcome.stderr.is_empty(), "{args:?}");
    }
    check(
        &["check", "a.c", "--timeout", "5 weeks"],
        &expect![[r#"
        exit 1
        --
        error: invalid value '5 weeks' for '--timeout <TIME>': unknown unit `weeks`; write for example 90, 90s, 5m or 1h

        For more information, try '--help'.
    "#]],
    );
    check(
        &["check", "a.c", "--threads", "-1"],
        &expect![[r#"
        exit 1
        --
        error: invalid value '-1' for '--threads <N>': -1 is not in 1..=256

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn help_shows_examples_and_exit_codes() {
    for args in [&["--help"][..], &["check", "--help"], &["check", "-h"]] {
        let outcome = Folder::new(&[]).pdnet(args);
        assert_eq!(outcome.code, 0);
        assert_eq!(outcome.stderr, "");
        for text in ["Examples:", "Exit codes:", "pdnet check counter.c", "a bug in pdnet"] {
            assert!(outcome.stdout.contains(text), "{text} in {}", outcome.stdout);
        }
        let widest = outcome.stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(110), "{widest:?}");
    }
}

#[test]
fn automata_come_in_three_formats() {
    check(
        &["automaton", "[] <> p", "--format", "text"],
        &expect![[r#"
        exit 0
        automaton of G F p
        states: 1, edges: 2, acceptance sets: 1, deterministic
        q0 (start)
          !p -> q0
          p -> q0 {0}
        --
    "#]],
    );
    check(
        &["automaton", "G(p -> F q)", "--format", "hoa", "--negate"],
        &expect![[r#"
        exit 0
        HOA: v1
        name: "!G(p -> F q)"
        States: 2
        Start: 0
        AP: 2 "p" "q"
        acc-name: Buchi
        Acceptance: 1 Inf(0)
        properties: trans-labels explicit-labels trans-acc no-univ-branch stutter-invariant
        --BODY--
        State: 0
        [t] 0
        [0&!1] 1
        State: 1
        [!1] 1 {0}
        --END--
        --
    "#]],
    );
    let dot = Folder::new(&[]).pdnet(&["automaton", "X p", "--format", "dot"]);
    assert_eq!(dot.code, 0);
    assert!(dot.stdout.starts_with("digraph"), "{}", dot.stdout);
}

#[test]
fn a_wrong_formula_gets_a_caret_and_code_2() {
    check(
        &["automaton", "G(p -> q))"],
        &expect![[r#"
        exit 2
        --
        error[unmatched-parenthesis]: this `)` closes nothing
         --> <formula>:1:10
          |
        1 | G(p -> q))
          |          ^ no parenthesis is open here
          |
          = help: remove it, or add the opening one
    "#]],
    );
}

#[test]
fn a_missing_program_has_code_2() {
    let outcome = Folder::new(&[]).pdnet(&["check", "nowhere.c"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("there is no file `nowhere.c`"), "{}", outcome.stderr);
}

#[test]
fn a_violation_has_code_10_and_a_run() {
    let folder = Folder::new(&[("lost.c", LOST)]);
    let outcome = folder.pdnet(&["check", "lost.c"]);
    assert_eq!(outcome.code, 10, "{}", outcome.stderr);
    assert_eq!(outcome.last_line(), "Verification result: FALSE (unreach-call)");
    for text in ["creates thread 1 (worker)", "reads x = 0", "writes x = 1", "assertion fails: x == 2"] {
        assert!(outcome.stdout.contains(text), "{text} in {}", outcome.stdout);
    }
    assert!(outcome.stdout.contains("data races were checked"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("violated (no-data-race)"), "{}", outcome.stdout);
    let quiet = folder.pdnet(&["check", "lost.c", "--quiet"]);
    assert_eq!(quiet.stdout, "Verification result: FALSE (unreach-call)\n");
}

#[test]
fn a_flag_of_atomics_is_called_by_its_own_name() {
    let program = "#include <stdatomic.h>\n#include <assert.h>\nstruct { int n; atomic_flag busy; } many[2];\n\
                   int main(void) { assert(!atomic_flag_test_and_set(&many[1].busy)); assert(0); }\n";
    let outcome = Folder::new(&[("flag.c", program)]).pdnet(&["check", "flag.c", "--check", "assert"]);
    assert_eq!(outcome.code, 10, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("writes many[1].busy = 1\n"), "{}", outcome.stdout);
}

#[test]
fn the_same_input_gives_the_same_output() {
    let folder = Folder::new(&[("lost.c", LOST)]);
    let run = || {
        let text = folder.pdnet(&["check", "lost.c"]).stdout;
        let lines = text.lines().filter(|line| !line.contains(" engine: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn what_holds_has_code_0() {
    let folder = Folder::new(&[("lost.c", LOST)]);
    let outcome = folder.pdnet(&["check", "lost.c", "--check", "deadlock,locks", "--ltl", "G(x <= 2)"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.last_line(), "Verification result: TRUE");
    assert!(outcome.stdout.contains("no fairness assumed"), "{}", outcome.stdout);
}

#[test]
fn a_limit_has_code_5() {
    let folder = Folder::new(&[("lost.c", LOST)]);
    let outcome = folder.pdnet(&["check", "lost.c", "--check", "deadlock", "--states", "3"]);
    assert_eq!(outcome.code, 5, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.last_line(), "Verification result: UNKNOWN (state limit 3)");
    let outcome = folder.pdnet(&["check", "lost.c", "--check", "deadlock", "--max-threads", "1"]);
    assert_eq!(outcome.code, 5, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("at lost.c:7"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("raise --max-threads"), "{}", outcome.stdout);
}

#[test]
fn a_failure_by_starvation_is_called_one() {
    let folder = Folder::new(&[("spin.c", SPIN)]);
    let outcome = folder.pdnet(&["check", "spin.c"]);
    assert_eq!(outcome.code, 10, "{}", outcome.stderr);
    let finding = "fails only by starving thread 1 (setter): with --fair weak it holds";
    assert!(outcome.stdout.contains(finding), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("cycle starts here"), "{}", outcome.stdout);
    let fair = folder.pdnet(&["check", "spin.c", "--fair", "weak"]);
    assert_eq!(fair.code, 0, "{}", fair.stdout);
    assert!(fair.stdout.contains("weak fairness assumed"), "{}", fair.stdout);
}

#[test]
fn options_take_the_place_of_comments() {
    let folder = Folder::new(&[("spin.c", SPIN)]);
    let outcome = folder.pdnet(&["check", "spin.c", "--check", "assert"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("progress"), "{}", outcome.stdout);
}

#[test]
fn json_is_all_there_is_on_standard_output() {
    let folder = Folder::new(&[("spin.c", SPIN)]);
    let outcome = folder.pdnet(&["check", "spin.c", "--format", "json"]);
    assert_eq!(outcome.code, 10);
    assert!(outcome.stdout.starts_with("{\n  \"schema\": \"pdnet-result/1\""), "{}", outcome.stdout);
    assert!(outcome.stdout.ends_with("}\n"), "{}", outcome.stdout);
    assert_eq!(outcome.stderr, "Verification result: FALSE (valid-ltl)\n");
}

#[test]
fn property_files_bring_their_names_and_classes() {
    let error = "extern void reach_error(void);\nint main(void) { reach_error(); return 0; }\n";
    let files = [
        ("error.c", error),
        ("unreach-call.prp", "CHECK( init(main()), LTL(G ! call(reach_error())) )\n"),
        ("no-data-race.prp", "CHECK( init(main()), LTL(G ! data-race) )\n"),
    ];
    let folder = Folder::new(&files);
    let outcome = folder.pdnet(&["check", "error.c", "--prp", "unreach-call.prp"]);
    assert_eq!(outcome.code, 10, "{}{}", outcome.stdout, outcome.stderr);
    assert_eq!(outcome.last_line(), "Verification result: FALSE (unreach-call)");
    let outcome = folder.pdnet(&["check", "error.c", "--prp", "no-data-race.prp"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("no-data-race: no two threads"), "{}", outcome.stdout);
    let outcome = folder.pdnet(&["check", "error.c", "--ltl", "F data-race"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("only as `G ! data-race`"), "{}", outcome.stderr);
}

#[test]
fn the_next_operator_needs_reductions_off() {
    let folder = Folder::new(&[("lost.c", LOST)]);
    let outcome = folder.pdnet(&["check", "lost.c", "--ltl", "G(x == 0 -> X (x <= 1))"]);
    assert_eq!(outcome.code, 2);
    expect![[r#"
        error[next-operator]: the operator `X` is not preserved by reductions
         --> <--ltl>:1:13
          |
        1 | G(x == 0 -> X (x <= 1))
          |             ^ "in the next state" depends on what counts as a step
          |
          = help: say it without `X`, or pass `--reduce none`
    "#]]
    .assert_eq(&outcome.stderr);
    let outcome = folder.pdnet(&["check", "lost.c", "--ltl", "G(x == 0 -> X (x <= 1))", "--reduce", "none"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stdout);
    assert!(outcome.stdout.contains("uses X"), "{}", outcome.stdout);
}

#[test]
fn misspelt_names_get_suggestions() {
    let folder = Folder::new(&[("lost.c", LOST)]);
    let outcome = folder.pdnet(&["check", "lost.c", "--check", "deadlok"]);
    assert_eq!(outcome.code, 2);
    expect![[r#"
        error[unknown-check]: there is no check `deadlok`
         --> <--check>:1:1
          |
        1 | deadlok
          | ^^^^^^^ unknown name
          |
          = help: did you mean `deadlock`?
    "#]]
    .assert_eq(&outcome.stderr);
}

#[test]
fn nets_come_in_three_formats() {
    let folder = Folder::new(&[("lost.c", LOST)]);
    for (format, start) in
        [("text", "net \"lost.c\""), ("dot", "digraph"), ("json", "{\n  \"schema\": \"pdnet-net/1\"")]
    {
        let outcome = folder.pdnet(&["net", "lost.c", "--format", format]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(outcome.stdout.starts_with(start), "{}", outcome.stdout);
        let to_file = folder.pdnet(&["net", "lost.c", "--format", format, "-o", "net.out"]);
        assert_eq!((to_file.code, to_file.stdout.as_str()), (0, ""));
        assert_eq!(std::fs::read_to_string(folder.path("net.out")).unwrap(), outcome.stdout);
    }
}

#[test]
fn several_files_are_one_program() {
    let folder = Folder::new(&[
        (
            "main.c",
            "#include <pthread.h>\n#include \"count.h\"\nvoid *run(void *a) { add(); return 0; }\nint main(void) { pthread_t t; pthread_create(&t, 0, run, 0); add(); pthread_join(t, 0);\n  //@ assert count == N;\n  return 0; }\n",
        ),
        ("count.c", "#include \"count.h\"\nint count;\nvoid add(void) { count++; }\n"),
        ("count.h", "extern int count;\nvoid add(void);\n"),
        (
            "compile_commands.json",
            r#"[{"directory": ".", "file": "main.c", "command": "cc -DN=2 -c main.c"}, {"directory": ".", "file": "count.c", "command": "cc -c count.c"}]"#,
        ),
    ]);
    for args in [
        ["check", "main.c", "count.c", "-DN=2"].as_slice(),
        &["check", "--compile-commands", "."],
        &["check", "--compile-commands", "compile_commands.json", "count.c", "main.c"],
    ] {
        let outcome = folder.pdnet(args);
        assert_eq!(outcome.code, 10, "{args:?} {}", outcome.stderr);
        assert!(outcome.stdout.contains("assertion fails: count == N"), "{}", outcome.stdout);
        assert!(outcome.stdout.contains("count.c:3"), "{}", outcome.stdout);
    }
    let alone = folder.pdnet(&["check", "count.c"]);
    assert_eq!(alone.code, 2);
    assert!(alone.stderr.contains("no-main"), "{}", alone.stderr);
    let net = folder.pdnet(&["net", "main.c", "count.c", "-DN=2"]);
    assert_eq!(net.code, 0, "{}", net.stderr);
}
