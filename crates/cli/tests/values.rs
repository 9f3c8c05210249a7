//! How values and cells are called in runs, from the text of a program to what is printed.

use std::process::Command;

/// The last statement of the programs: it fails, so that there is a run.
fn program(globals: &str, body: &str) -> String {
    format!(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\n{globals}\n\
         int main(void) {{ {body} assert(0); return 0; }}\n"
    )
}

fn pdnet(text: &str, options: &[&str]) -> (String, String) {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("p.c"), text).expect("a file in it");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    command.args(["check", "p.c", "--check", "assert"]).args(options).current_dir(folder.path());
    command.args(["--witness", "witness.yml"]);
    let output = command.env("COLUMNS", "300").env("NO_COLOR", "1").output().expect("the command runs");
    let stdout = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(10), "{text}\n{stdout}{}", String::from_utf8_lossy(&output.stderr));
    let witness = std::fs::read_to_string(folder.path().join("witness.yml")).expect("a witness");
    (stdout, witness)
}

/// Globals, the body of `main`, and lines of the run.
const VALUES: &[(&str, &str, &[&str])] = &[
    ("int x, *p;", "p = &x;", &["writes p = &x"]),
    ("int x, *p;", "p = &x; p = 0;", &["writes p = NULL"]),
    ("int a[4], *p, *q;", "p = &a[2]; q = a + 4;", &["writes p = &a[2]", "writes q = &a[4]"]),
    (
        "struct s { int a; struct s *next; int b[2]; } s, t[3], *p; int *q, *r; struct s **l;",
        "p = &s; q = &s.b[1]; l = &s.next; p = &t[2]; r = &t[1].b[1];",
        &[
            "writes p = &s",
            "writes q = &s.b[1]",
            "writes l = &s.next",
            "writes p = &t[2]",
            "writes r = &t[1].b[1]",
        ],
    ),
    (
        "struct s { int a; int b[2]; } t[3];",
        "t[1].b[1] = 4;",
        &["writes t[1].b[1] = 4", "t[].b = {0, 0, 0, 4, 0, 0}"],
    ),
    ("char c[8]; void *p;", "int x = 1; p = (char *)&x + 3;", &["writes p = &x of thread 0 + 3"]),
    ("int f(void) { return 1; } int (*p)(void);", "p = f;", &["writes p = f"]),
    ("const char *p;", "p = \"abc\"; p++;", &["writes p = \"abc\"", "writes p = \"abc\" + 1"]),
    ("double d; float f;", "d = -2.5; f = 0.1f;", &["writes d = -2.5", "writes f = 0.1", "f = 0.1"]),
    ("double d;", "d = 0; d = 1 / d;", &["writes d = inf"]),
    (
        "double __VERIFIER_nondet_double(void); double d;",
        "d = __VERIFIER_nondet_double(); if (d == 0)",
        &["input 0.0"],
    ),
    ("int *find(int *p) { return p + 1; } int a[2], *p;", "p = find(a);", &["returns &a[1] (p = &a[0])"]),
    (
        "struct node { int v; struct node *next; }; struct node *head;",
        "for (int i = 0; i < 2; i++) { struct node *n = malloc(sizeof *n); n->v = i; n->next = head; head = n; }",
        &[
            "writes head = &node@5#0",
            "writes node@5#1.next = &node@5#0",
            "writes head = &node@5#1",
            "node@5#0.v = 0, node@5#0.next = NULL, node@5#1.v = 1, node@5#1.next = &node@5#0",
        ],
    ),
    (
        "int *p;",
        "p = malloc(3 * sizeof(int)); p[1] = 7;",
        &["writes p = &int@5#0[0]", "writes int@5#0[1] = 7"],
    ),
    (
        "void *f(void *arg) { int *p = arg; *p = 5; return 0; }",
        "int x = 3; pthread_t t; pthread_create(&t, 0, f, &x); pthread_join(t, 0);",
        &["writes p = &x of thread 0", "writes x of thread 0 = 5"],
    ),
    ("struct { unsigned a : 4, b : 4; } s;", "s.b = 1;", &["writes s.a/b = 0x10"]),
];

#[test]
fn values_are_shown_as_people_write_them() {
    for (globals, body, lines) in VALUES {
        let (printed, _) = pdnet(&program(globals, body), &[]);
        for line in *lines {
            assert!(printed.contains(line), "no `{line}` in\n{printed}");
        }
    }
}

#[test]
fn json_has_the_number_and_the_text() {
    let (printed, _) = pdnet(&program("int x, *p; int n;", "p = &x; n = 4;"), &["--format", "json"]);
    let json: String = printed.split_whitespace().collect();
    assert!(json.contains(r#""text":"&x","access":"write""#), "{printed}");
    assert!(json.contains(r#"{"name":"n","value":4,"access":"write""#), "{printed}");
}

/// What a thread reads of these, and the assumption that a witness has of it.
const ASSUMPTIONS: &[(&str, &str, Option<&str>)] = &[
    ("struct { int a; struct { int b; } in; } s;", "s.in.b", Some("s.in.b == 1")),
    ("float s = 0.5f;", "s", Some("s == 0.5")),
    ("float s = 0.1f;", "s", Some("s == 0.10000000149011612")),
    ("int *s;", "s != 0", Some("s == 0")),
    ("int x, *s = &x;", "s != 0", None),
];

#[test]
fn assumptions_of_witnesses_are_c() {
    for (globals, read, assumption) in ASSUMPTIONS {
        let write = if assumption.is_some_and(|text| text.ends_with("== 1")) {
            format!("{read} = 1;")
        } else {
            String::new()
        };
        let thread = format!("{globals}\nint seen;\nvoid *f(void *arg) {{ seen = {read}; return 0; }}");
        let other = "\nvoid *g(void *arg) { s = s; return 0; }";
        let body = format!(
            "{write} pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0);"
        );
        let (_, witness) = pdnet(&program(&(thread + other), &body), &[]);
        let assumed = |text: &str| witness.lines().any(|line| line.trim() == format!("value: \"{text}\""));
        match assumption {
            Some(text) => assert!(assumed(text), "no `{text}` in\n{witness}"),
            None => assert!(!witness.contains("s == "), "{witness}"),
        }
    }
}
