//! Programs through the checks `race`, `partial-deadlock` and `termination`, from the text to the last line.

use std::process::Command;

/// Threads that run these bodies.
fn program(globals: &str, bodies: &[&str], main: &str) -> String {
    let mut text = String::from(
        "#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n\
         void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void __VERIFIER_assume(int);\n\
         int __VERIFIER_nondet_int(void); _Bool __VERIFIER_nondet_bool(void);\n",
    );
    text.push_str(globals);
    for (number, body) in bodies.iter().enumerate() {
        text.push_str(&format!("\nvoid *f{number}(void *arg) {{ {body} return NULL; }}"));
    }
    text.push_str("\nint main(void) {");
    for number in 0..bodies.len() {
        text.push_str(&format!(
            "\n    pthread_t t{number}; pthread_create(&t{number}, NULL, f{number}, NULL);"
        ));
    }
    text.push_str(&format!("\n    {main}\n    return 0;\n}}\n"));
    text
}

fn check(name: &str, text: &str, check: &str, options: &[&str], verdict: &str, phrases: &[&str]) {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("p.c"), text).expect("a file in it");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    command.args(["check", "p.c", "--check", check]).args(options).current_dir(folder.path());
    let output = command.env("COLUMNS", "300").env("NO_COLOR", "1").output().expect("the command runs");
    let stdout = String::from_utf8(output.stdout).expect("text");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = format!("Verification result: {verdict}");
    assert_eq!(stdout.lines().last(), Some(expected.as_str()), "{name}:\n{text}\n{stdout}{stderr}");
    for phrase in phrases {
        assert!(stdout.contains(phrase), "{name}: no `{phrase}` in\n{stdout}");
    }
}

/// A name, globals, the bodies of threads, what is said of the race; nothing where there is none.
type RaceRow = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const RACES: &[RaceRow] = &[
    ("bytes of one object apart", "int x;", &["((char *)&x)[1] = 1;", "((char *)&x)[2] = 1;"], &[]),
    (
        "the same byte of an object",
        "int x;",
        &["((char *)&x)[1] = 1;", "((char *)&x)[1] = 1;"],
        &["data race on x"],
    ),
    ("a byte and the whole", "int x;", &["((char *)&x)[1] = 1;", "x = 1;"], &["data race on x"]),
    ("bytes of a union apart", "union { int i; char c[4]; } u;", &["u.c[0] = 1;", "u.c[3] = 1;"], &[]),
    (
        "a union and its byte",
        "union { int i; char c[4]; } u;",
        &["u.i = 1;", "u.c[3] = 1;"],
        &["data race on u"],
    ),
    (
        "bit-fields side by side",
        "struct { unsigned a : 8, b : 8; } s;",
        &["s.a = 1;", "s.b = 1;"],
        &["data race on s"],
    ),
    ("fields side by side", "struct { char a, b; } s;", &["s.a = 1;", "s.b = 1;"], &[]),
    (
        "a counter without a lock",
        "int x;",
        &["x++;", "x++;"],
        &[
            "data race on x",
            "thread 1 (f0) in f0 at p.c:7 writes x: x++",
            "thread 2 (f1) in f1 at p.c:8 reads x: x++",
        ],
    ),
    (
        "a counter with a lock",
        "int x; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;",
        &[
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);",
        ],
        &[],
    ),
    ("only reads", "int x = 1;", &["int a = x; (void)a;", "int a = x; (void)a;"], &[]),
    ("a read before a join", "int x;", &["x = 1;"], &[]),
    ("an atomic counter", "_Atomic int x;", &["x++;", "x++; x = 3;"], &[]),
    ("an array of atomic objects", "_Atomic int x[2];", &["x[1]++;", "x[1] = 3;"], &[]),
    (
        "two builtins on a plain object",
        "int x;",
        &["__sync_fetch_and_add(&x, 1);", "__atomic_store_n(&x, 2, 5);"],
        &[],
    ),
    (
        "an atomic operation and a plain read",
        "int x;",
        &["__sync_fetch_and_add(&x, 1);", "int a = x; (void)a;"],
        &["writes x by an atomic operation", "thread 2 (f1) in f1 at p.c:8 reads x"],
    ),
    (
        "a failed comparison only reads",
        "int x = 1;",
        &["__sync_bool_compare_and_swap(&x, 7, 1);", "int a = x; (void)a;"],
        &[],
    ),
    (
        "an atomic section and a plain access",
        "int x;",
        &["__VERIFIER_atomic_begin(); x = 1; __VERIFIER_atomic_end();", "int a = x; (void)a;"],
        &["data race on x"],
    ),
    (
        "two atomic sections",
        "int x;",
        &[
            "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();",
            "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();",
        ],
        &[],
    ),
    (
        "an operand of an atomic operation in a section is plain",
        "int x, y;",
        &[
            "__VERIFIER_atomic_begin(); __atomic_store_n(&x, y, 5); __VERIFIER_atomic_end();",
            "__atomic_store_n(&y, 1, 5);",
        ],
        &["data race on y", "writes y by an atomic operation"],
    ),
    ("different elements", "int a[2];", &["a[0] = 1;", "a[1] = 1;"], &[]),
    ("the same element", "int a[3]; int i = 2;", &["a[i] = 1;", "a[2] = 1;"], &["data race on a[2]"]),
    (
        "different objects behind pointers",
        "int a, b; int *p = &a; int *q = &b;",
        &["*p = 1;", "*q = 1;"],
        &[],
    ),
    (
        "the same object behind pointers",
        "int a, b; int *p = &b; int *q = &b;",
        &["*p = 1;", "int c = *q; (void)c;"],
        &["data race on b"],
    ),
    (
        "one of two objects is read",
        "int a, b; int w = 1;",
        &["__VERIFIER_atomic_begin(); int c = w ? a : b; (void)c; __VERIFIER_atomic_end();", "b = 1;"],
        &[],
    ),
    (
        "the other one of two objects is read",
        "int a, b; int w;",
        &["__VERIFIER_atomic_begin(); int c = w ? a : b; (void)c; __VERIFIER_atomic_end();", "b = 1;"],
        &["data race on b"],
    ),
    ("an assumption reads", "int x;", &["__VERIFIER_assume(x == 1);", "x = 1;"], &["data race on x"]),
    ("a condition reads", "int x;", &["if (x) { }", "x = 1;"], &["reads x"]),
    ("locals are one's own", "", &["int x = 0; x++;", "int x = 0; x++;"], &[]),
    ("a semaphore orders", "int x; sem_t s;", &["x = 1; sem_post(&s);", "sem_wait(&s); x = 2;"], &[]),
    (
        "a flag does not order",
        "int x; int ready;",
        &["x = 1; ready = 1;", "while (!ready) { } x = 2;"],
        &["data race on ready"],
    ),
    (
        "an atomic flag orders",
        "int x; _Atomic int ready;",
        &["x = 1; ready = 1;", "while (!ready) { } x = 2;"],
        &[],
    ),
];

#[test]
fn races_are_found_where_they_are() {
    for (name, globals, bodies, phrases) in RACES {
        let joins: String =
            (0..bodies.len()).map(|number| format!("pthread_join(t{number}, NULL); ")).collect();
        let after = if globals.starts_with("int x") { "x = 5;" } else { "" };
        let text = program(globals, bodies, &format!("{joins}{after}"));
        let verdict = if phrases.is_empty() { "TRUE" } else { "FALSE (no-data-race)" };
        check(name, &text, "race", &[], verdict, phrases);
    }
}

#[test]
fn a_race_as_json_has_both_accesses() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let text = program("int a[2];", &["a[1] = 1;", "int b = a[1]; (void)b;"], "");
    std::fs::write(folder.path().join("p.c"), text).expect("a file in it");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    command.args(["check", "p.c", "--check", "race", "--format", "json"]).current_dir(folder.path());
    let output = command.output().expect("the command runs");
    let json: String = String::from_utf8_lossy(&output.stdout).split_whitespace().collect();
    for part in [
        r#""outcome":"race""#,
        r#""race":{"object":"a[1]","accesses":[{"thread":1,"function":"f0","file":"p.c","line":7,"#,
        r#""access":"write","atomic":false,"label":"a[1]=1"},{"thread":2,"function":"f1","file":"p.c","line":8,"#,
        r#""access":"read","atomic":false,"label":"b=a[1]"}]}"#,
    ] {
        assert!(json.contains(part), "no {part} in {json}");
    }
}

/// A name, globals, the bodies of threads, what main does, what is said of the thread that is stuck.
type StuckRow = (&'static str, &'static str, &'static [&'static str], &'static str, &'static [&'static str]);

const LOCKS: &str = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER; \
                     pthread_cond_t c = PTHREAD_COND_INITIALIZER; pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER; \
                     pthread_barrier_t b; sem_t s;";
const WAIT: &str = "pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m);";

const STUCK: &[StuckRow] = &[
    ("a worker that waits when main returns", LOCKS, &[WAIT], "", &[]),
    ("main joins a thread that works forever", LOCKS, &["while (1) { }"], "pthread_join(t0, NULL);", &[]),
    (
        "a lost wake-up beside a spinning thread",
        LOCKS,
        &[WAIT],
        "pthread_cond_signal(&c); while (1) { }",
        &["thread 1 (f0) at p.c:7 waits for a signal on c"],
    ),
    ("a wake-up that can always come", LOCKS, &[WAIT], "while (1) { pthread_cond_signal(&c); }", &[]),
    (
        "a loop that may end counts as one that may not",
        LOCKS,
        &[WAIT],
        "while (__VERIFIER_nondet_bool()) { }",
        &["waits for a signal on c"],
    ),
    (
        "locks in opposite orders, and a join",
        LOCKS,
        &[
            "pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);",
            "pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n);",
            "while (1) { }",
        ],
        "pthread_join(t0, NULL);",
        &["thread 1 (f0) at p.c:7 waits for mutex n, held by thread 2 (f1) since p.c:8"],
    ),
    (
        "a semaphore that nobody posts",
        LOCKS,
        &["sem_wait(&s);"],
        "while (1) { }",
        &["waits for semaphore s, which is 0"],
    ),
    (
        "a read-write lock that its reader keeps",
        LOCKS,
        &["pthread_rwlock_wrlock(&rw); pthread_rwlock_unlock(&rw);"],
        "pthread_rwlock_rdlock(&rw); while (1) { }",
        &["waits for read-write lock rw, held by thread 0 (main) since p.c:10"],
    ),
    (
        "a read-write lock that its writer keeps",
        LOCKS,
        &["pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw);"],
        "pthread_rwlock_wrlock(&rw); while (1) { }",
        &["waits for read-write lock rw, held by thread 0 (main) since p.c:10"],
    ),
    (
        "a barrier for one more",
        "pthread_barrier_t b;",
        &["while (!arg) { } "],
        "pthread_barrier_init(&b, NULL, 2); pthread_barrier_wait(&b);",
        &["thread 0 (main) at p.c:10 waits at barrier b for others to come"],
    ),
    ("nothing waits", LOCKS, &["while (1) { }", "while (1) { }"], "", &[]),
];

#[test]
fn threads_that_are_left_behind_are_found() {
    for (name, globals, bodies, main, phrases) in STUCK {
        let text = program(globals, bodies, main);
        let verdict = if phrases.is_empty() { "TRUE" } else { "FALSE (no-partial-deadlock)" };
        check(name, &text, "partial-deadlock", &[], verdict, phrases);
    }
}

#[test]
fn what_follows_a_bound_is_not_known() {
    let main = "int n = __VERIFIER_nondet_int(); while (n != 12345) { } pthread_cond_signal(&c);";
    let text = program(LOCKS, &[WAIT], main);
    check(
        "a wake-up behind a sampled input",
        &text,
        "partial-deadlock",
        &[],
        "FALSE (no-partial-deadlock)",
        &[],
    );
    let main =
        "while (__VERIFIER_nondet_int() * __VERIFIER_nondet_int() != 12345) { } pthread_cond_signal(&c);";
    let text = program(LOCKS, &[WAIT], main);
    let verdict = "UNKNOWN (an input was sampled: `__VERIFIER_nondet_int` at p.c:10 is used in arithmetic with a value that is not constant at p.c:10)";
    check("a wake-up that another input brings", &text, "partial-deadlock", &[], verdict, &[]);
}

#[test]
fn termination_is_the_end_of_every_run() {
    let spin = program("_Atomic int x;", &["x = 1;"], "while (!x) { }");
    check("a loop that ends", &spin, "termination", &["--fair", "weak"], "TRUE", &[]);
    let starving = "fails only by starving thread 1 (f0): with --fair weak it holds";
    check("a loop that starves", &spin, "termination", &[], "FALSE (termination)", &[starving]);
    let stuck = program(LOCKS, &[WAIT], "pthread_join(t0, NULL);");
    let blocked = "thread 1 (f0) at p.c:7 waits for a signal on c";
    check("a deadlock", &stuck, "termination", &["--fair", "strong"], "FALSE (termination)", &[blocked]);
    let plain = program("int x;", &["x = 1;"], "pthread_join(t0, NULL);");
    check("a program without loops", &plain, "termination", &[], "TRUE", &[]);
}
