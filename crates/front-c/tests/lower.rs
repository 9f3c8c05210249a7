//! Programs through the lowering and the reference interpreter: what their runs can do.

mod runs;

use pdnet_front_c::{Atomicity, LowerOptions, Lowered};
use runs::explore;

const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_cond_t;
typedef struct { int k; } pthread_attr_t; typedef struct { int k; } pthread_mutexattr_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
void pthread_exit(void *); pthread_t pthread_self(void);
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_broadcast(pthread_cond_t *);
void __pdnet_assert(_Bool); void abort(void); void exit(int); int printf(const char *, ...);
void __VERIFIER_assume(int); void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
_Bool __VERIFIER_nondet_bool(void); int __VERIFIER_nondet_int(void); unsigned char __VERIFIER_nondet_uchar(void);
void reach_error(void);
";

fn lowered(text: &str, formulas: &[&str], atomicity: Atomicity) -> Result<Lowered, String> {
    let options = LowerOptions { atomicity, max_threads: 8, max_depth: 12, ..LowerOptions::default() };
    runs::lowered(PRELUDE, text, formulas, &options)
}

/// Each row: a name, the program, and what its runs can do: `fails`, `deadlocks`, the names of faults,
/// `bounds`, or `fine` for none of these.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("an empty main", "int main(void) { return 0; }", "fine"),
    ("a false assertion", "int x; int main(void) { x = 2; __pdnet_assert(x == 1); return 0; }", "fails"),
    (
        "arithmetic",
        "int main(void) { int x = 7; x -= 3; x <<= 2; __pdnet_assert(x == 16 && (x ^ 1) == 17); return 0; }",
        "fine",
    ),
    (
        "unsigned wraps",
        "int main(void) { unsigned char c = 255; c++; __pdnet_assert(c == 0); return 0; }",
        "fine",
    ),
    (
        "promotion",
        "int main(void) { unsigned char c = 255; __pdnet_assert(c + 1 == 256); return 0; }",
        "fine",
    ),
    (
        "a for loop",
        "int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += i; __pdnet_assert(s == 6); return 0; }",
        "fine",
    ),
    (
        "break and continue",
        "int main(void) { int s = 0; for (int i = 0; ; i++) { if (i == 5) break; if (i % 2) continue; s += i; } __pdnet_assert(s == 6); return 0; }",
        "fine",
    ),
    (
        "do while",
        "int main(void) { int n = 0; do { n++; } while (n < 3); __pdnet_assert(n == 3); return 0; }",
        "fine",
    ),
    (
        "switch",
        "int f(int x) { switch (x) { case 1: return 10; case 2: case 3: x = 20; break; default: x = 30; } return x; } int main(void) { __pdnet_assert(f(1) == 10 && f(2) == 20 && f(3) == 20 && f(4) == 30); return 0; }",
        "fine",
    ),
    (
        "switch falls through",
        "int main(void) { int r = 0; switch (1) { case 0: r += 1; case 1: r += 2; case 2: r += 4; } __pdnet_assert(r == 6); return 0; }",
        "fine",
    ),
    (
        "goto",
        "int main(void) { int n = 0; again: n++; if (n < 3) goto again; __pdnet_assert(n == 3); return 0; }",
        "fine",
    ),
    (
        "recursion",
        "int fact(int n) { if (n <= 1) return 1; return n * fact(n - 1); } int main(void) { __pdnet_assert(fact(5) == 120); return 0; }",
        "fine",
    ),
    ("recursion without end", "int f(int n) { return f(n + 1); } int main(void) { return f(0); }", "bounds"),
    (
        "arrays",
        "int a[4] = { 1, 2, 3 }; int main(void) { int i = 2; a[i] += a[0]; __pdnet_assert(a[2] == 4 && a[3] == 0); return 0; }",
        "fine",
    ),
    (
        "two dimensions",
        "int a[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; int main(void) { int s = 0; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) s += a[i][j] * (i + 1); __pdnet_assert(s == 36); return 0; }",
        "fine",
    ),
    ("index out of bounds", "int a[4]; int main(void) { int i = 4; a[i] = 1; return 0; }", "out-of-bounds"),
    ("negative index", "int a[4]; int main(void) { int i = -1; return a[i]; }", "out-of-bounds"),
    ("division by zero", "int z; int main(void) { int x = 1 / z; return x; }", "division-by-zero"),
    (
        "guarded division",
        "int z; int main(void) { int x = z ? 1 / z : 7; __pdnet_assert(x == 7); return 0; }",
        "fine",
    ),
    (
        "short circuit skips effects",
        "int n; int f(void) { n++; return 1; } int main(void) { int r = 0 && f(); __pdnet_assert(r == 0 && n == 0); r = 1 || f(); __pdnet_assert(r == 1 && n == 0); return 0; }",
        "fine",
    ),
    (
        "comma and postfix",
        "int main(void) { int i = 1; int j = (i++, i++ + 10); __pdnet_assert(i == 3 && j == 12); return 0; }",
        "fine",
    ),
    (
        "chained assignment",
        "int g; int main(void) { int x, y; x = y = g = 5; __pdnet_assert(x == 5 && y == 5 && g == 5); return 0; }",
        "fine",
    ),
    (
        "assignment as a value",
        "int main(void) { int i = 1; int j = (i = i + 1) * 2; __pdnet_assert(j == 4 && i == 2); return 0; }",
        "fine",
    ),
    (
        "index with an effect",
        "int a[3]; int main(void) { int i = 0; a[i++] = 7; a[i++] = i; __pdnet_assert(a[0] == 7 && i == 2); return 0; }",
        "fine",
    ),
    (
        "static local",
        "int f(void) { static int n = 3; return ++n; } int main(void) { f(); __pdnet_assert(f() == 5); return 0; }",
        "fine",
    ),
    (
        "statement expression",
        "int main(void) { int x = ({ int y = 2; y + 1; }); __pdnet_assert(x == 3); return 0; }",
        "fine",
    ),
    (
        "bool",
        "int main(void) { _Bool b = 7; __pdnet_assert(b == 1); b++; __pdnet_assert(b == 1); b--; __pdnet_assert(b == 0); return 0; }",
        "fine",
    ),
    (
        "enum",
        "enum e { A, B = 5, C }; int main(void) { enum e x = C; __pdnet_assert(x == 6); return 0; }",
        "fine",
    ),
    ("abort ends the process", "int main(void) { abort(); __pdnet_assert(0); return 0; }", "fine"),
    ("exit ends the process", "int main(void) { exit(3); __pdnet_assert(0); return 0; }", "fine"),
    (
        "exit in a function",
        "void f(void) { exit(0); } int main(void) { f(); __pdnet_assert(0); return 0; }",
        "fine",
    ),
    ("reach_error", "int main(void) { reach_error(); return 0; }", "fails"),
    (
        "a failed assumption removes the run",
        "int main(void) { __VERIFIER_assume(0); __pdnet_assert(0); return 0; }",
        "fine",
    ),
    (
        "every input",
        "int main(void) { unsigned char c = __VERIFIER_nondet_uchar(); __pdnet_assert(c != 77); return 0; }",
        "fails",
    ),
    (
        "an input as a condition",
        "int main(void) { if (__VERIFIER_nondet_int()) { __pdnet_assert(0); } return 0; }",
        "fails",
    ),
    (
        "an uninitialised local is arbitrary",
        "int main(void) { int x; if (x) reach_error(); return 0; }",
        "fails",
    ),
    (
        "a local written before it is read",
        "int main(void) { int x; x = 0; if (x) reach_error(); return 0; }",
        "fine",
    ),
    (
        "an array element that was never written",
        "int main(void) { int a[3]; a[0] = 1; a[1] = 2; return a[0] + a[2]; }",
        "uninitialised",
    ),
    (
        "an array that is written before it is read",
        "int main(void) { int a[3], s = 0; for (int i = 0; i < 3; i++) a[i] = i; for (int i = 0; i < 3; i++) { s += a[i]; a[i]++; } __pdnet_assert(s == 3 && a[2] == 3); return 0; }",
        "fine",
    ),
    (
        "an array that is new in each round",
        "int main(void) { for (int i = 0; i < 2; i++) { int a[2]; if (i == 0) a[0] = 1; a[0]++; } return 0; }",
        "uninitialised",
    ),
    (
        "a missing return value is arbitrary",
        "int f(int x) { if (x) return 1; } int main(void) { if (f(0)) reach_error(); return 0; }",
        "fails",
    ),
    (
        "an atomic section that ends early",
        "int g, flag = 1; void *f(void *a) { __VERIFIER_atomic_begin(); if (flag) { __VERIFIER_atomic_end(); g = g + 1; return 0; } __VERIFIER_atomic_end(); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); __pdnet_assert(g == 2); return 0; }",
        "fails",
    ),
    (
        "an atomic section that a function ends",
        "int g; void ul(void) { __VERIFIER_atomic_end(); } void lk(void) { __VERIFIER_atomic_begin(); } void *f(void *a) { __VERIFIER_atomic_begin(); ul(); g = g + 1; lk(); __VERIFIER_atomic_end(); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); __pdnet_assert(g == 2); return 0; }",
        "fails",
    ),
    (
        "the argument of pthread_exit is evaluated",
        "int f(void) { __pdnet_assert(0); return 1; } void *t(void *a) { pthread_exit((void *)(long)f()); } int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0); return 0; }",
        "fails",
    ),
    (
        "the argument of a thread without parameter is evaluated",
        "int f(void) { __pdnet_assert(0); return 1; } void *t() { return 0; } int main(void) { pthread_t a; pthread_create(&a, 0, t, (void *)(long)f()); pthread_join(a, 0); return 0; }",
        "fails",
    ),
    ("the status of exit is evaluated", "int z; int main(void) { exit(1 / z); }", "division-by-zero"),
    ("dead code is not checked", "int a[4]; int main(void) { int i = 7; return 0; a[i] = 1; }", "fine"),
    (
        "code behind a goto is not checked",
        "int a[4], x; int main(void) { int i = 7; goto L; a[i] = 1; L: x = 1; return 0; }",
        "fine",
    ),
    (
        "another sign through a pointer",
        "int x; int main(void) { unsigned *p = (unsigned *)&x; x = -1; __pdnet_assert(*p > 5); *p = 4294967294u; __pdnet_assert(x == -2); return 0; }",
        "fine",
    ),
    (
        "a pointer to the end of an array",
        "int a[4]; int main(void) { int *end = &a[4]; int n = 0; for (int *p = a; p != end; p++) n++; __pdnet_assert(n == 4); return 0; }",
        "fine",
    ),
    (
        "a pointer does not get into the next object",
        "int a[2], b[2]; int main(void) { int *q = b, *p = a + 1; unsigned i = 0; return p[i - 1] + *q; }",
        "out-of-bounds",
    ),
    (
        "a large step does not either",
        "int a[2], b[2]; int main(void) { int *q = b, *p = a; p += 1L << 32; *p = 7; return *q; }",
        "out-of-bounds",
    ),
    (
        "a pointer that the right side moves",
        "int a = 1, b = 10, *p; int f(void) { p = &b; return 1; } int main(void) { p = &a; *p += f(); __pdnet_assert((a == 2 && b == 10) || (a == 1 && b == 11)); return 0; }",
        "fine",
    ),
    (
        "argc is not known",
        "int main(int argc, char **argv) { __pdnet_assert(argc == 0); return 0; }",
        "fails",
    ),
    (
        "main called for its result",
        "int n; int main(void) { if (n++) return 5; int r = main(); __pdnet_assert(r == 5); return 0; }",
        "fine",
    ),
    (
        "a jump past a declaration",
        "int main(void) { goto L; { int x = 5; L: if (x) reach_error(); } return 0; }",
        "fails",
    ),
    (
        "a case past a declaration",
        "int main(void) { switch (1) { int x; case 1: if (x) reach_error(); } return 0; }",
        "fails",
    ),
    (
        "the missing result of a thread is arbitrary",
        "void *f(void *a) { } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, 0); pthread_join(t, &r); if (r) reach_error(); return 0; }",
        "fails",
    ),
    (
        "results of threads in an array",
        "void *f(void *a) { return a; } int main(void) { pthread_t t; void *r[2]; pthread_create(&t, 0, f, (void *)3); pthread_join(t, &r[1]); __pdnet_assert((long)r[1] == 3); return 0; }",
        "fine",
    ),
    (
        "a string as a message",
        "int x = 1; int main(void) { __pdnet_assert(x > 0 && \"positive\"); const char *s = x ? \"a\" : \"b\"; printf(\"%s\", s); return 0; }",
        "fine",
    ),
    (
        "two shared cells in an assignment to a private array",
        "int g, h = 7; void *f(void *a) { h = 0; g = 5; return 0; } int main(void) { pthread_t t; int arr[2] = { 7, 7 }; pthread_create(&t, 0, f, 0); arr[g] = h; __pdnet_assert(arr[0] == 0 || arr[0] == 7); pthread_join(t, 0); return 0; }",
        "out-of-bounds",
    ),
    (
        "the lost update",
        "int x; void *f(void *a) { x++; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x++; pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fails",
    ),
    (
        "a lock against it",
        "int x; pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fine",
    ),
    (
        "an atomic section against it",
        "int x; void *f(void *a) { __VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end(); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); __VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end(); pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fine",
    ),
    (
        "an atomic function against it",
        "int x; void __VERIFIER_atomic_inc(void) { x++; } void *f(void *a) { __VERIFIER_atomic_inc(); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); __VERIFIER_atomic_inc(); pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fine",
    ),
    (
        "ABBA",
        "pthread_mutex_t a, b; void *f(void *x) { pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); pthread_join(t, 0); return 0; }",
        "deadlocks",
    ),
    (
        "locking twice",
        "pthread_mutex_t m; int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        "deadlocks",
    ),
    (
        "unlocking what one does not hold",
        "pthread_mutex_t m; int main(void) { pthread_mutex_unlock(&m); return 0; }",
        "not-owner",
    ),
    (
        "a signal before the wait is lost",
        "pthread_mutex_t m; pthread_cond_t c; void *f(void *x) { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_cond_signal(&c); pthread_join(t, 0); return 0; }",
        "deadlocks",
    ),
    (
        "a flag against the lost signal",
        "int go; pthread_mutex_t m; pthread_cond_t c; void *f(void *x) { pthread_mutex_lock(&m); while (!go) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a signal wakes one of two",
        "int go; pthread_mutex_t m; pthread_cond_t c; void *f(void *x) { pthread_mutex_lock(&m); while (!go) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); pthread_join(t, 0); pthread_join(u, 0); return 0; }",
        "deadlocks",
    ),
    (
        "a broadcast wakes both",
        "int go; pthread_mutex_t m; pthread_cond_t c; void *f(void *x) { pthread_mutex_lock(&m); while (!go) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_mutex_lock(&m); go = 1; pthread_cond_broadcast(&c); pthread_mutex_unlock(&m); pthread_join(t, 0); pthread_join(u, 0); return 0; }",
        "fine",
    ),
    (
        "return from main ends all threads",
        "int x; void *f(void *a) { while (1) x = 1 - x; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }",
        "fine",
    ),
    (
        "pthread_exit in main does not",
        "int x; void *f(void *a) { __pdnet_assert(0); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_exit(0); }",
        "fails",
    ),
    (
        "a thread exits from a function",
        "void g(void) { pthread_exit(0); } void *f(void *a) { g(); __pdnet_assert(0); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a mutex of an ended thread stays locked",
        "pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); pthread_mutex_lock(&m); return 0; }",
        "deadlocks",
    ),
    (
        "threads in a loop with arguments",
        "int s; pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); s += (int)(long)a; pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, (void *)(long)(i + 1)); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); __pdnet_assert(s == 3); return 0; }",
        "fine",
    ),
    (
        "the result of a thread",
        "void *f(void *a) { return (void *)((long)a * 2); } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, (void *)21); pthread_join(t, &r); __pdnet_assert((long)r == 42); return 0; }",
        "fine",
    ),
    (
        "joining what is no thread",
        "int main(void) { pthread_t t = 0; pthread_join(t, 0); return 0; }",
        "no-thread",
    ),
    (
        "more threads than allowed",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; for (int i = 0; i < 9; i++) { pthread_create(&t, 0, f, 0); pthread_join(t, 0); } return 0; }",
        "bounds",
    ),
    (
        "an array of mutexes",
        "int x; pthread_mutex_t m[2]; void *f(void *a) { pthread_mutex_lock(&m[1]); x++; pthread_mutex_unlock(&m[1]); return 0; } int main(void) { pthread_t t; int i = 1; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m[i]); x++; pthread_mutex_unlock(m + i); pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fine",
    ),
    (
        "a pointer to a global",
        "int g; void set(int *p, int v) { *p = v; } int main(void) { set(&g, 4); int *q = &g; *q += 2; __pdnet_assert(g == 6 && *q == 6); return 0; }",
        "fine",
    ),
    (
        "a pointer to either global",
        "int g, h; int main(void) { int *p = __VERIFIER_nondet_bool() ? &g : &h; *p = 1; __pdnet_assert(g + h == 1); __pdnet_assert(g == 1); return 0; }",
        "fails",
    ),
    (
        "a pointer through an array",
        "int a[3] = { 1, 2, 3 }; int main(void) { int s = 0; for (int *p = a; p < a + 3; p++) s += *p; __pdnet_assert(s == 6 && &a[2] - a == 2); return 0; }",
        "fine",
    ),
    (
        "a pointer beyond the array",
        "int a[3]; int main(void) { int *p = a + 3; return *p; }",
        "invalid-pointer",
    ),
    ("a null pointer", "int g; int main(void) { int *p = &g; p = 0; *p = 1; return 0; }", "null-pointer"),
    (
        "the lost update through a pointer",
        "int x; void *f(void *a) { int *p = a; (*p)++; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, &x); x++; pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fails",
    ),
    (
        "reads of a sum are apart",
        "int a, b; void *f(void *x) { a = 1; b = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int s = a + b; int d = s; __pdnet_assert(!(d == 1 && a == 0)); int e = a - b; __pdnet_assert(e != -1); return 0; }",
        "fails",
    ),
];

#[test]
fn programs_do_what_they_should() {
    for (name, text, expected) in PROGRAMS {
        let lowered = lowered(text, &[], Atomicity::Access).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(explore(&lowered).words(), *expected, "{name}\n{}", lowered.net);
    }
}

#[test]
fn the_value_of_an_assignment_is_what_was_assigned() {
    let text = "int g, x = 1, y; void *f(void *a) { g = 5; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); y = (g = x); __pdnet_assert(y == 1); return 0; }";
    for atomicity in [Atomicity::Access, Atomicity::Statement] {
        assert!(!explore(&lowered(text, &[], atomicity).expect("lowers")).fails, "{atomicity:?}");
    }
}

#[test]
fn statements_are_atomic_on_request() {
    let text = PROGRAMS.iter().find(|(name, ..)| *name == "the lost update").expect("listed").1;
    assert!(!explore(&lowered(text, &[], Atomicity::Statement).expect("lowers")).fails);
}

/// Each row: the program, an atom, and its possible values at the end of the process.
const ATOMS: &[(&str, &str, &[u64])] = &[
    ("int x; int main(void) { x = 3; return 0; }", "x == 3", &[1]),
    ("enum { BIG = 3000000000u }; int main(void) { return 0; }", "BIG + 0 == 3000000000", &[1]),
    ("int x = -1; int main(void) { return 0; }", "\"x < 0u\"", &[0]),
    ("int a[3]; int main(void) { a[1] = 4; return 0; }", "a[1] - 1 == 3", &[1]),
    ("int main(void) { int k = 0; for (k = 0; k < 3; k++) ; return 0; }", "main::k == 3", &[1]),
    (
        "int f(int n) { int r = n; if (n > 0) f(n - 1); return 0; } int main(void) { f(2); return 0; }",
        "f::r == 2",
        &[1],
    ),
    ("int f(int n) { return 0; } int main(void) { f(2); f(5); return 0; }", "f::n == 5", &[1]),
    (
        "void *f(void *a) { int v = (int)(long)a; return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, (void *)4); pthread_create(&u, 0, f, (void *)9); pthread_join(t, 0); pthread_join(u, 0); return 0; }",
        "f[1]::v == 9",
        &[1],
    ),
    (
        "void *f(void *a) { int v = (int)(long)a; return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, (void *)4); pthread_create(&u, 0, f, (void *)9); return 0; }",
        "f[1]::v == 9",
        &[0, 1],
    ),
    (
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }",
        "terminated(f)",
        &[1],
    ),
    (
        "void *f(void *a) { return 0; } int main(void) { if (0) { pthread_t t; pthread_create(&t, 0, f, 0); } return 0; }",
        "terminated(f)",
        &[0],
    ),
    (
        "struct s { int n; } a, b; struct s *p = &a; void *f(void *x) { p = &b; p->n = 2; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }",
        "\"p->n == 2\"",
        &[0, 1],
    ),
    ("pthread_mutex_t m; int main(void) { pthread_mutex_lock(&m); return 0; }", "holds(main, m)", &[1]),
    ("int main(void) { return 0; }", "end", &[1]),
    ("int main(void) { printf(\"x\"); return 0; }", "call(printf)", &[0]),
];

#[test]
fn atoms_have_their_values_at_the_end() {
    for (text, atom, expected) in ATOMS {
        let lowered =
            lowered(text, &[atom], Atomicity::Access).unwrap_or_else(|error| panic!("{atom}: {error}"));
        let ends: Vec<u64> = explore(&lowered).ends.into_iter().collect();
        assert_eq!(ends, *expected, "{atom} in {text}\n{}", lowered.net);
    }
}

/// Each row: a program that is refused, and words of the diagnostic.
const REFUSED: &[(&str, &str)] = &[
    ("int main(void) { int n = 3; int a[2][n]; a[0][0] = 1; return 0; }", "size is not constant"),
    ("int main(void) { long double d = 1.5; return d > 1; }", "long double"),
    ("int putchar(int); int main(void) { return putchar(65) == 65; }", "result of `putchar`"),
    ("int g(int); int main(void) { return g(1); }", "`g` has no body"),
];

#[test]
fn what_has_no_net_is_refused() {
    for (text, words) in REFUSED {
        match lowered(text, &[], Atomicity::Access) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => assert!(error.contains(words), "{text}\n{error}"),
        }
    }
}
