//! Slices as a user sees them: `pdnet slice`, what `check` says of slicing, and answers from the cache.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

/// A folder with one program, in which the command is run.
struct Folder(TempDir);

impl Folder {
    fn new(program: &str) -> Self {
        let folder = Self(TempDir::new().expect("a temporary folder"));
        folder.write(program);
        folder
    }

    fn write(&self, program: &str) {
        std::fs::write(self.path("p.c"), program).expect("a file in the folder");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn pdnet(&self, args: &[&str]) -> Outcome {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
        command.args(args).current_dir(self.0.path()).env("COLUMNS", "100").env("NO_COLOR", "1");
        let Output { status, stdout, stderr } = command.output().expect("the command runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Outcome { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Checks the assertions with the cache in the folder `cache`.
    fn cached(&self) -> Outcome {
        self.pdnet(&["check", "p.c", "--check", "assert", "--cache", "cache"])
    }

    /// The files in the cache.
    fn entries(&self) -> Vec<PathBuf> {
        files_of(&self.path("cache"))
    }
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

impl Outcome {
    fn is_from_cache(&self) -> bool {
        self.stdout.contains("answered from the cache")
    }
}

/// The assertion holds; the log and the statistics have nothing to do with it.
const PROGRAM: &str = "\
#include <pthread.h>
#include <assert.h>
int x, log, hits;
void note(int what) { log = what; }
void *counter(void *arg) { hits = hits + 1; return 0; }
void *worker(void *arg) {
    note(5);
    x = 1;
    return 0;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, worker, 0);
    pthread_create(&u, 0, counter, 0);
    pthread_join(t, 0);
    assert(x == 1);
    return 0;
}
";

/// The mark of each line with this text in front of its number.
fn marks(text: &str, line: u32) -> char {
    let number = format!(" {line} |");
    let found = text.lines().find(|text| text.contains(&number));
    found.and_then(|text| text.chars().next()).unwrap_or_else(|| panic!("line {line} in {text}"))
}

#[test]
fn the_program_is_shown_with_marks_and_reasons() {
    let folder = Folder::new(PROGRAM);
    let outcome = folder.pdnet(&["slice", "p.c", "--check", "assert"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let text = &outcome.stdout;
    let found: String = [7, 8, 13, 15, 16].map(|line| marks(text, line)).into_iter().collect();
    assert_eq!(found, "-++++", "{text}");
    assert_eq!([1, 3, 12].map(|line| marks(text, line)), [' '; 3], "{text}");
    assert!(text.contains("writes `x`, read by the"), "{text}");
    assert!(text.contains("variables cut: "), "{text}");
    assert!(text.contains("functions cut entirely: counter, note\n"), "{text}");
    let file = folder.pdnet(&["slice", "p.c", "--check", "assert", "-o", "out.txt", "--color", "always"]);
    assert_eq!((file.code, file.stdout.as_str()), (0, ""));
    let written = std::fs::read_to_string(folder.path("out.txt")).expect("a file");
    assert!(written.contains("x = 1;") && !written.contains('\x1b'), "{written}");
}

/// The index may leave the array; an input that is too large ends the process.
const ENDS: &str = "\
#include <assert.h>
#include <stdlib.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
int a[4], x;
int twice(int n)
{
    return 2 * n;
}
int idle(int n) {
    return n;
}
int main(void) {
    unsigned char i = __VERIFIER_nondet_uchar();
    if (i > 7)
        exit(1);
    a[i] = 1;
    x = twice(1);
    idle(x);
    return 0;
}
";

#[test]
fn it_is_said_by_what_a_run_may_end_and_whose_head_a_line_is() {
    let folder = Folder::new(ENDS);
    let outcome = folder.pdnet(&["slice", "p.c", "--ltl", "F(x == 2)"]);
    let text = &outcome.stdout;
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{text}");
    let line = |part: &str| text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{text}"));
    let heads = ["| int twice", "| int idle", "| int main"].map(|head| line(head).chars().next());
    assert_eq!(heads, [Some('+'), Some('-'), Some('+')], "{text}");
    // Lines of text are broken.
    let json = folder.pdnet(&["slice", "p.c", "--ltl", "F(x == 2)", "--format", "json"]).stdout;
    for reason in [
        "the process may end here",
        "a run may end here in undefined behaviour: array index out of bounds",
        "begins `twice`, of which something is kept",
        "writes `main::i`, read by the condition at line 14",
    ] {
        assert!(json.contains(reason), "{reason}\n{json}");
    }
    assert!(!json.contains("guard"), "{json}");
}

#[test]
fn a_limit_of_time_is_kept_before_the_search() {
    let folder = Folder::new(PROGRAM);
    // No program is modelled in less than a nanosecond.
    for method in ["on-demand", "off"] {
        let args = ["check", "p.c", "--check", "assert", "--ltl", "F(x == 1)", "--timeout", "0.000000001s"];
        let outcome = folder.pdnet(&[&args[..], &["--slice", method]].concat());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (5, ""), "{}", outcome.stdout);
        let reasons = outcome.stdout.lines().filter(|line| line.trim().starts_with("unknown: time limit"));
        assert_eq!(reasons.count(), 2, "{}", outcome.stdout);
        assert!(outcome.stdout.ends_with("Verification result: UNKNOWN (time limit 0.000000001 s)\n"));
        let json = folder.pdnet(&[&args[..], &["--slice", method, "--format", "json"]].concat());
        assert_eq!(json.stdout.matches("\"text\": \"time limit").count(), 2, "{}", json.stdout);
    }
}

#[test]
fn slices_come_as_json_and_as_drawings() {
    let folder = Folder::new(PROGRAM);
    let json = folder.pdnet(&["slice", "p.c", "--ltl", "G(x < 2)", "--ltl", "F(x == 1)", "--format", "json"]);
    assert_eq!(json.code, 0, "{}", json.stderr);
    assert!(json.stdout.starts_with("{\n  \"schema\": \"pdnet-slice/1\""), "{}", json.stdout);
    // A formula has a slice of its own.
    assert_eq!(json.stdout.matches("\"mode\":").count(), 2, "{}", json.stdout);
    let dot = folder.pdnet(&["slice", "p.c", "--check", "assert,locks", "--format", "dot"]);
    assert_eq!(dot.code, 0, "{}", dot.stderr);
    assert_eq!(dot.stdout.matches("digraph").count(), 1, "{}", dot.stdout);
    assert!(dot.stdout.contains("gray85"), "{}", dot.stdout);
    let whole = folder.pdnet(&["slice", "p.c", "--check", "assert", "--format", "dot", "--slice", "off"]);
    assert!(!whole.stdout.contains("gray85"), "{}", whole.stdout);
}

#[test]
fn what_cannot_be_sliced_is_refused() {
    let folder = Folder::new(PROGRAM);
    for (args, code) in [
        (&["slice", "p.c", "--ltl", "X(x == 0)"][..], 2),
        (&["slice", "p.c", "--ltl", "G(xx == 0)"], 2),
        (&["slice", "q.c"], 2),
        (&["slice", "p.c", "--slice", "sometimes"], 1),
        (&["slice"], 1),
        (&["slice", "p.c", "-o", "no/such/folder"], 1),
    ] {
        let outcome = folder.pdnet(args);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{args:?}: {}", outcome.stderr);
        assert!(!outcome.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn check_says_what_slicing_cut() {
    let folder = Folder::new(PROGRAM);
    let outcome = folder.pdnet(&["check", "p.c", "--check", "assert", "--ltl", "F(x == 1)", "--timings"]);
    let text = &outcome.stdout;
    assert!(text.contains("slicing for assert: "), "{text}");
    assert!(text.contains("slicing for ltl-1: "), "{text}");
    assert!(text.contains(" places kept (lines "), "{text}");
    assert!(text.contains("modelling ms  slicing ms  together ms  checking ms  states  result"), "{text}");
    let json = folder.pdnet(&["check", "p.c", "--check", "assert", "--format", "json"]);
    assert!(json.stdout.contains("\"name\": \"slice\""), "{}", json.stdout);
    assert!(json.stdout.contains("\"method\": \"on-demand\""), "{}", json.stdout);
    for off in [["--slice", "off"], ["--reduce", "none"]] {
        let args = [&["check", "p.c", "--check", "assert"][..], &off].concat();
        let outcome = folder.pdnet(&args);
        assert!(!outcome.stdout.contains("slicing"), "{off:?}: {}", outcome.stdout);
        assert_eq!(outcome.code, 0, "{off:?}");
    }
}

#[test]
fn verdicts_are_the_same_with_every_method() {
    let broken = PROGRAM.replace("x = 1;", "x = 2;");
    for (program, code) in [(PROGRAM, 0), (broken.as_str(), 10)] {
        let folder = Folder::new(program);
        for method in ["on-demand", "program", "net", "off"] {
            let outcome = folder.pdnet(&["check", "p.c", "--check", "assert,deadlock", "--slice", method]);
            assert_eq!(outcome.code, code, "{method}: {}{}", outcome.stdout, outcome.stderr);
        }
    }
}

#[test]
fn runs_into_calls_that_do_not_return_are_found_in_the_whole_program() {
    let program = "\
int f, g;
void work(void) {
    while (1) {
        g = 1;
        f = f + 1;
    }
}
int main(void) {
    work();
    return 0;
}
";
    let folder = Folder::new(program);
    let outcome = folder.pdnet(&["check", "p.c", "--ltl", "G(f < 3)"]);
    assert_eq!(outcome.code, 10, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("writes g = 1"), "{}", outcome.stdout);
}

#[test]
fn the_same_question_is_answered_from_the_cache() {
    let folder = Folder::new(PROGRAM);
    let first = folder.cached();
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    assert!(!first.is_from_cache(), "{}", first.stdout);
    let second = folder.cached();
    assert_eq!((second.code, second.stderr.as_str()), (0, ""));
    assert!(second.is_from_cache(), "{}", second.stdout);
    let json = folder.pdnet(&["check", "p.c", "--check", "assert", "--cache", "cache", "--format", "json"]);
    assert!(json.stdout.contains("\"cached\": true"), "{}", json.stdout);
    // Another question, another answer.
    let other = folder.pdnet(&["check", "p.c", "--check", "deadlock", "--cache", "cache"]);
    assert!(!other.is_from_cache(), "{}", other.stdout);
    assert_eq!(folder.entries().len(), 2);
}

#[test]
fn what_is_outside_of_the_slice_may_change() {
    let folder = Folder::new(PROGRAM);
    folder.cached();
    for (what, changed) in [
        ("another statement", PROGRAM.replace("note(5)", "note(7)")),
        ("lines further down", format!("\n\n/* a comment */\n{PROGRAM}")),
        (
            "another name",
            PROGRAM
                .replace("worker", "laborer")
                .replace("(x ", "(y ")
                .replace("x = 1", "y = 1")
                .replace("int x", "int y"),
        ),
        (
            "more of the same",
            PROGRAM.replace("    note(5);\n", "    note(5);\n    log = hits;\n    note(hits);\n"),
        ),
    ] {
        folder.write(&changed);
        let outcome = folder.cached();
        assert!(outcome.is_from_cache(), "{what}: {}{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.code, 0, "{what}");
    }
    assert_eq!(folder.entries().len(), 1);
}

#[test]
fn what_is_in_the_slice_may_not() {
    let folder = Folder::new(PROGRAM);
    folder.cached();
    for (code, changed) in [
        (10, PROGRAM.replace("x = 1;", "x = 2;")),
        (10, PROGRAM.replace("x == 1", "x == 0")),
        (10, PROGRAM.replace("    pthread_join(t, 0);\n", "")),
        (0, PROGRAM.replace("x = 1;", "x = 0; x = 1;")),
    ] {
        folder.write(&changed);
        let outcome = folder.cached();
        assert!(!outcome.is_from_cache(), "{changed}\n{}", outcome.stdout);
        assert_eq!(outcome.code, code, "{changed}\n{}{}", outcome.stdout, outcome.stderr);
    }
}

#[test]
fn a_violation_from_the_cache_is_replayed_on_the_present_program() {
    let broken = PROGRAM.replace("x = 1;", "x = 2;");
    let folder = Folder::new(&broken);
    let first = folder.cached();
    assert_eq!(first.code, 10, "{}{}", first.stdout, first.stderr);
    assert!(first.stdout.contains("p.c:16"), "{}", first.stdout);
    folder.write(&format!("\n\n\n{}", broken.replace("note(5)", "note(9)")));
    let second = folder.cached();
    assert_eq!((second.code, second.stderr.as_str()), (10, ""));
    assert!(second.is_from_cache(), "{}", second.stdout);
    // The run is one of the program as it is now.
    for text in ["p.c:19", "assertion fails: x == 1", "writes x = 2", "log = 9"] {
        assert!(second.stdout.contains(text), "{text} in {}", second.stdout);
    }
}

#[test]
fn a_damaged_cache_is_ignored_with_a_warning() {
    type Damage = fn(&str) -> Vec<u8>;
    let damages: [(&str, Damage); 6] = [
        ("truncated", |text| text.as_bytes()[..text.len() / 2].to_vec()),
        ("empty", |_| Vec::new()),
        ("no text", |_| vec![0xff, 0xfe, 0x00]),
        ("another verdict", |text| {
            text.replace("\"verdict\": \"true\"", "\"verdict\": \"false\"").into_bytes()
        }),
        ("another version", |text| text.replace("\"version\": \"", "\"version\": \"9.").into_bytes()),
        ("other figures", |text| text.replace("\"states\": ", "\"states\": 1").into_bytes()),
    ];
    for (what, damage) in damages {
        let folder = Folder::new(PROGRAM);
        folder.cached();
        let [entry] = folder.entries().try_into().expect("one entry");
        let text = std::fs::read_to_string(&entry).expect("a text");
        let damaged = damage(&text);
        assert_ne!(damaged, text.as_bytes(), "{what}");
        std::fs::write(&entry, damaged).expect("written");
        let outcome = folder.cached();
        assert!(outcome.stderr.contains("warning[cache]"), "{what}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("is ignored"), "{what}: {}", outcome.stderr);
        assert!(!outcome.is_from_cache(), "{what}: {}", outcome.stdout);
        assert_eq!(outcome.code, 0, "{what}");
        // And it is mended.
        assert!(folder.cached().is_from_cache(), "{what}");
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_no_reason_not_to_check() {
    let folder = Folder::new(PROGRAM);
    let outcome = folder.pdnet(&["check", "p.c", "--check", "assert", "--cache", "p.c/cache"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stderr.contains("warning[cache]"), "{}", outcome.stderr);
    let quiet = folder.pdnet(&["check", "p.c", "--check", "assert", "--cache", "p.c/cache", "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
    // A folder in the place of an entry.
    folder.cached();
    let [entry] = folder.entries().try_into().expect("one entry");
    std::fs::remove_file(&entry).expect("removed");
    std::fs::create_dir(&entry).expect("a folder");
    let outcome = folder.cached();
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stderr.contains("is ignored"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot keep an answer"), "{}", outcome.stderr);
    assert_eq!(folder.entries().len(), 1, "no drafts are left");
}

#[test]
fn only_what_is_known_is_kept() {
    let folder = Folder::new(PROGRAM);
    let outcome = folder.pdnet(&["check", "p.c", "--check", "assert", "--cache", "cache", "--states", "1"]);
    assert_eq!(outcome.code, 5, "{}", outcome.stdout);
    assert_eq!(folder.entries(), Vec::<PathBuf>::new());
}

#[test]
fn fairness_is_a_part_of_the_question() {
    let spin = "\
#include <pthread.h>
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
    let folder = Folder::new(spin);
    for _ in 0..2 {
        for (fairness, code) in [("none", 10), ("weak", 0), ("strong", 0)] {
            let args = ["check", "p.c", "--ltl", "F(seen == 1)", "--fair", fairness, "--cache", "cache"];
            let outcome = folder.pdnet(&args);
            assert_eq!(outcome.code, code, "{fairness}: {}{}", outcome.stdout, outcome.stderr);
            assert_eq!(outcome.stderr, "", "{fairness}");
        }
    }
    assert_eq!(folder.entries().len(), 3);
}
