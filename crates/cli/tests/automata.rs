//! Automata of bad runs through the command line: `--hoa`.

use std::path::Path;
use std::process::{Command, Output};

/// `x` becomes 1 and 2; a second thread sets `y` when `x` is 1, and may come too late.
const PROGRAM: &str = "
#include <pthread.h>
int x, y;
void *late(void *arg) { while (x != 1) ; y = 1; return NULL; }
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, late, NULL);
    x = 1;
    x = 2;
    pthread_join(t, NULL);
    return 0;
}
";

/// Accepts what has `x == 2` at some time: a claim that comes to its end.
const REACHES_TWO: &str = r#"HOA: v1
name: "F x == 2"
Start: 0
AP: 1 "x == 2"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[!0] 0
[0] 1
State: 1 {0}
[t] 1
--END--
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::TempDir::new().expect("a temporary folder"));
        folder.write("p.c", PROGRAM);
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("a file in it");
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
        command.args(args).current_dir(self.path()).env("COLUMNS", "300").env("NO_COLOR", "1");
        command.output().expect("the command runs")
    }

    fn stdout(&self, args: &[&str]) -> String {
        String::from_utf8(self.run(args).stdout).expect("text")
    }

    fn verdict(&self, args: &[&str]) -> String {
        self.stdout(args).lines().last().unwrap_or_default().to_owned()
    }
}

/// The way of a formula through `pdnet automaton --negate` gives the formula's verdict, with every fairness, and with
/// reductions.
#[test]
fn the_automaton_of_a_negated_formula_is_the_formula() {
    let folder = Folder::new();
    for formula in [
        "G F x == 2",
        "F y == 1",
        "G(x == 1 -> F y == 1)",
        "x == 0 U (x == 1 || end)",
        "G x < 2",
        "F G \"x == 2 && !0\"",
    ] {
        let hoa = folder.stdout(&["automaton", "--negate", formula]);
        assert!(hoa.contains("stutter-invariant"), "{hoa}");
        folder.write("bad.hoa", &hoa);
        for fair in ["none", "weak", "strong"] {
            let by_formula = folder.verdict(&["check", "p.c", "--ltl", formula, "--fair", fair]);
            let by_automaton = folder.stdout(&["check", "p.c", "--hoa", "bad.hoa", "--fair", fair]);
            assert!(by_formula.starts_with("Verification result: "), "{formula}: {by_formula}");
            assert_eq!(
                by_automaton.lines().last(),
                Some(by_formula.as_str()),
                "{formula}, {fair}: {by_automaton}"
            );
            assert!(!by_automaton.contains("without any reduction"), "{by_automaton}");
        }
    }
}

#[test]
fn a_run_that_is_accepted_is_shown() {
    let folder = Folder::new();
    folder.write("two.hoa", REACHES_TWO);
    let text = folder.stdout(&["check", "p.c", "--hoa", "two.hoa"]);
    for part in [
        "no run is accepted by two.hoa (F x == 2)",
        "the automaton two may tell runs apart by the number of their steps",
        "checked without any reduction",
        "no fairness assumed",
        "x == 2",
        "Verification result: FALSE (valid-ltl)",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json = folder.stdout(&["check", "p.c", "--hoa", "two.hoa", "--format", "json"]);
    for part in
        ["\"name\": \"two\"", "\"fairness\": \"none\"", "\"class\": \"valid-ltl\"", "\"verdict\": \"false\""]
    {
        assert!(json.contains(part), "no `{part}` in\n{json}");
    }
    folder.write("three.hoa", &REACHES_TWO.replace("x == 2", "x == 3"));
    let both = ["check", "p.c", "--hoa", "three.hoa", "--hoa", "two.hoa", "--fair", "weak"];
    assert_eq!(folder.verdict(&both), "Verification result: FALSE (valid-ltl)");
    assert_eq!(folder.verdict(&both[..4]), "Verification result: TRUE");
}

/// The last state of a run that ends is repeated; the number of steps counts where the file does not say otherwise.
#[test]
fn steps_count_unless_the_file_says_otherwise() {
    let folder = Folder::new();
    folder.write("p.c", "int x; int main(void) { x = 1; x = 2; return 0; }");
    // Accepts when `x == 1` is true in exactly one state.
    let once = "HOA: v1 Start: 0 AP: 2 \"x == 0\" \"x == 1\" Acceptance: 0 t --BODY--\n\
                State: 0 [0] 0 [1] 1 State: 1 [!1] 2 State: 2 [t] 2 --END--";
    folder.write("once.hoa", once);
    let twice = once.replace("State: 1 [!1] 2", "State: 1 [1] 3 State: 3 [!1] 2");
    folder.write("twice.hoa", &twice);
    let verdicts: Vec<String> = ["once", "twice"]
        .iter()
        .map(|name| folder.verdict(&["check", "p.c", "--hoa", &format!("{name}.hoa")]))
        .collect();
    // Which of the two it is depends on what counts as a step; that it is exactly one of them does not.
    let n_accepted = verdicts.iter().filter(|verdict| verdict.contains("FALSE")).count();
    assert_eq!(n_accepted, 1, "{verdicts:?}");
    let whole = folder.stdout(&["slice", "p.c", "--hoa", "once.hoa"]);
    assert!(whole.contains("may tell runs apart"), "{whole}");
}

#[test]
fn the_cache_tells_automata_apart() {
    let folder = Folder::new();
    folder.write("bad.hoa", REACHES_TWO);
    let args = ["check", "p.c", "--hoa", "bad.hoa", "--cache", "kept", "--format", "json"];
    let cached = |text: &str| text.contains("\"cached\": true");
    assert!(!cached(&folder.stdout(&args)));
    assert!(cached(&folder.stdout(&args)));
    folder.write("bad.hoa", &REACHES_TWO.replace("[!0] 0", "[!0] 1"));
    assert!(!cached(&folder.stdout(&args)));
    folder.write("bad.hoa", &REACHES_TWO.replace("Acceptance:", "properties: stutter-invariant Acceptance:"));
    assert!(!cached(&folder.stdout(&args)));
}

#[test]
fn what_is_wrong_is_shown_in_the_file() {
    let folder = Folder::new();
    let rows: &[(&str, &str, &[&str])] = &[
        ("x == 2", "z == 2", &["two.hoa:4:8", "`z`"]),
        ("Inf(0)", "Fin(0)", &["two.hoa:5:15", "no Büchi automaton"]),
        ("[0] 1", "[7] 1", &["two.hoa:9:2", "no atomic proposition 7"]),
        ("--END--", "", &["two.hoa:", "expected `State:` or `--END--`"]),
        ("AP: 1 \"x == 2\"", "AP: 1 \"data-race\"", &["two.hoa:4:8", "cannot be checked"]),
    ];
    for (old, new, parts) in rows {
        // (The name of the automaton has the atom too.)
        let text = REACHES_TWO.replace("name: \"F x == 2\"", "name: \"\"").replace(old, new);
        folder.write("two.hoa", &text);
        let output = folder.run(&["check", "p.c", "--hoa", "two.hoa"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}\n{stderr}");
        for part in *parts {
            assert!(stderr.contains(part), "no `{part}` in\n{stderr}");
        }
    }
    let missing = folder.run(&["check", "p.c", "--hoa", "none.hoa"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot read the automaton `none.hoa`"));
}
