//! What the reductions *stubborn sets*, *forget* and *symmetry* must not do, one trap each: the verdict is the same
//! with them and without them, and that of the reference.

use pdnet_base::Idx as _;
use pdnet_check::{
    AtomData, Engine as _, Fairness, Limits, Outcome, Property, PropertyKind, Request, Silent, Verdict,
};
use pdnet_explicit::Explicit;
use pdnet_front_c::{Atomicity, LowerOptions, Options, load_preprocessed, lower};
use pdnet_logic::parse_formula;
use pdnet_source::SourceMap;
use pdnet_testkit::{ReachableGraph, compare};

const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_attr_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_trylock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *); void pthread_exit(void *);
void __pdnet_assert(_Bool); void __VERIFIER_assume(int); void exit(int);
_Bool __VERIFIER_nondet_bool(void); void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);
";

#[derive(Clone, Copy)]
enum Ask {
    Assert,
    Deadlock,
    Formula(&'static str),
}

struct Trap {
    name: &'static str,
    program: &'static str,
    ask: Ask,
    /// `h`olds, `v`iolated or `u`nknown.
    expected: char,
    /// Whether fewer states are visited.
    saves: bool,
}

const TRAPS: &[Trap] = &[
    Trap {
        name: "two locks in two orders",
        program: "pthread_mutex_t m, n; void *a(void *p) { int k = 0; k++; pthread_mutex_lock(&n); pthread_mutex_lock(&m);
                pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_mutex_lock(&m); pthread_mutex_lock(&n);
                pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); pthread_join(s, 0); return 0; }",
        ask: Ask::Deadlock,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "who only tries a lock sees whether it is held",
        program: "pthread_mutex_t m; void *a(void *p) { int k = 0; k++; __pdnet_assert(pthread_mutex_trylock(&m) == 0); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); int k = 0; k++;
                pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "and whether it is free again",
        program: "pthread_mutex_t m; void *a(void *p) { int k = 0; k++; __pdnet_assert(pthread_mutex_trylock(&m) != 0); return 0; }
            int main(void) { pthread_t s; pthread_mutex_lock(&m); pthread_create(&s, 0, a, 0); int k = 0; k++;
                pthread_mutex_unlock(&m); pthread_mutex_lock(&m); pthread_join(s, 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a thread that waits for a lock needs the one that holds it",
        program: "pthread_mutex_t m; int y, z; void *t(void *p) { pthread_mutex_lock(&m); y = 1; pthread_mutex_unlock(&m); return 0; }
            void *a(void *p) { __pdnet_assert(y == 0); return 0; } void *w(void *p) { z = 2; return 0; }
            int main(void) { pthread_t s[4]; pthread_mutex_lock(&m);
                pthread_create(&s[0], 0, w, 0); pthread_create(&s[1], 0, w, 0); pthread_create(&s[2], 0, t, 0);
                pthread_create(&s[3], 0, a, 0); z = 1; pthread_mutex_unlock(&m); pthread_join(s[2], 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "an element of an array that a thread comes to later",
        program: "int x[2]; void *a(void *p) { int i = 1; x[i] = 1; i = 0; __pdnet_assert(x[i] == 1); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); x[0] = 1; pthread_join(s, 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a thread that spins on its own does not hide what another does",
        program: "void *a(void *x) { while (1); } int f;
            void *b(void *x) { f = 1; __pdnet_assert(f == 0); return 0; }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
                pthread_join(s, 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "nor does one that counts in a loop without end",
        program: "void *a(void *x) { unsigned char i = 0; while (1) { i += 64; i += 64; } }
            void *b(void *x) { int k; k = 0; k++; __pdnet_assert(k != 1); return 0; }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
                pthread_join(s, 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "nor does one that calls and returns without end",
        program: "int g(int i) { return i; } void *a(void *x) { while (1) g(1); }
            int f; void *b(void *x) { f = 1; return 0; }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
                __pdnet_assert(f == 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a local step into undefined behaviour does not hide what another thread does",
        program: "void *a(void *x) { int i; i = 0; i = 1 / i; return 0; }
            int main(void) { pthread_t s; int k; k = 1; pthread_create(&s, 0, a, 0); k++;
                __pdnet_assert(k == 1); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "nor does a local step into a failed assumption",
        program: "void *a(void *x) { int i; i = 0; __VERIFIER_assume(i); return 0; }
            int main(void) { pthread_t s; int k; k = 1; pthread_create(&s, 0, a, 0); k++;
                __pdnet_assert(k == 1); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "nor does the end of the process",
        program: "void *a(void *x) { int i; i = 0; i++; exit(0); }
            int main(void) { pthread_t s; int k; k = 1; pthread_create(&s, 0, a, 0); k++;
                __pdnet_assert(k == 1); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "undefined behaviour is not missed behind local steps",
        program: "void *a(void *x) { int i; i = 1; i--; i = 1 / i; return 0; }
            int main(void) { pthread_t s; int k; k = 1; pthread_create(&s, 0, a, 0); k++;
                pthread_join(s, 0); return 0; }",
        ask: Ask::Assert,
        expected: 'u',
        saves: true,
    },
    Trap {
        name: "a variable that is set before the threads start is constant, and one that is set later is not",
        program: "int n, x; void *a(void *p) { __pdnet_assert(n == 1); __pdnet_assert(x == 0); return 0; }
            int main(void) { pthread_t s; n = 1; pthread_create(&s, 0, a, 0); x = 1; return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a step that can be kept back by an atomic section",
        program: "int x; void *a(void *p) { __VERIFIER_atomic_begin(); x = 1; x = 0; __VERIFIER_atomic_end();
                return 0; }
            int main(void) { pthread_t s; int k; k = 0; pthread_create(&s, 0, a, 0); k++;
                __pdnet_assert(x == 0); return 0; }",
        ask: Ask::Assert,
        expected: 'h',
        saves: true,
    },
    Trap {
        name: "a thread that ends inside of an atomic section stops all others",
        program: "void *a(void *p) { __VERIFIER_atomic_begin(); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_exit(0); }",
        ask: Ask::Deadlock,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a deadlock behind local steps",
        program:
            "pthread_mutex_t m; void *a(void *x) { int i; i = 1; i++; pthread_mutex_lock(&m); i++; return 0; }
            int main(void) { pthread_t s; int k; pthread_mutex_lock(&m); pthread_create(&s, 0, a, 0);
                k = 1; k++; pthread_join(s, 0); return 0; }",
        ask: Ask::Deadlock,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a join waits",
        program: "int x; void *a(void *p) { x = 1; return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_join(s, 0);
                __pdnet_assert(x == 1); return 0; }",
        ask: Ask::Assert,
        expected: 'h',
        saves: true,
    },
    Trap {
        name: "groups of threads that have nothing to do with each other",
        program: "int x, y, z; void *a(void *p) { x = 1; return 0; } void *b(void *p) { y = x; return 0; }
            void *c(void *p) { z = 1; return 0; }
            int main(void) { pthread_t r, s, t; pthread_create(&r, 0, a, 0); pthread_create(&s, 0, b, 0);
                pthread_create(&t, 0, c, 0); pthread_join(r, 0); pthread_join(s, 0); pthread_join(t, 0);
                __pdnet_assert(y == 1 && z == 1); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a local variable that the formula observes",
        program: "int x; void *a(void *p) { int v; v = 1; v = 2; v = 3; return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); x = 1; x = 2; return 0; }",
        ask: Ask::Formula("G !(a::v == 2 && x == 0)"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a local variable in the order that the formula asks for",
        program:
            "int x; void *a(void *p) { int v; v = 1; v = 2; return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); x = 1; pthread_join(s, 0); return 0; }",
        ask: Ask::Formula("(a::v == 0) U (x == 1)"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "an invisible loop starves what the formula waits for",
        program:
            "int x; void *a(void *p) { int i; i = 0; while (1) i = 1 - i; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); x = 1; pthread_join(s, 0); return 0; }",
        ask: Ask::Formula("F x == 1"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "and does not hide what comes when it does not",
        program:
            "int x; void *a(void *p) { int i; i = 0; while (1) i = 1 - i; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); x = 1; pthread_join(s, 0); return 0; }",
        ask: Ask::Formula("G F x == 0"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "where a thread is",
        program: "int x; void *a(void *p) { int i; i = 0; L: i++; i++; return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); x = 1; return 0; }",
        ask: Ask::Formula("G (x == 1 -> !at(a, L))"),
        expected: 'v',
        saves: true,
    },
    Trap {
        // Only the first states are no deadlock, and nothing else is looked at.
        name: "a deadlock from the beginning on",
        program: "pthread_mutex_t m; int x;
            int main(void) { x = 1; pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        ask: Ask::Formula("G deadlock"),
        expected: 'v',
        saves: false,
    },
    Trap {
        name: "the order of a deadlock and a value",
        program: "pthread_mutex_t m; int x;
            void *a(void *p) { int i; i = 0; i++; pthread_mutex_lock(&m); return 0; }
            int main(void) { pthread_t s; pthread_mutex_lock(&m); pthread_create(&s, 0, a, 0); x = 1;
                pthread_join(s, 0); return 0; }",
        ask: Ask::Formula("G (x == 1 -> deadlock)"),
        expected: 'v',
        saves: false,
    },
    Trap {
        name: "the end of a thread that the formula observes",
        program:
            "int x; void *a(void *p) { int i; i = 1; i++; return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); int k; k = 1; k++; x = 1; pthread_join(s, 0); return 0; }",
        ask: Ask::Formula("G !(x == 1 && !terminated(a))"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a thread waits for one that has nothing to do with the others",
        program: "int x, y; void *a(void *p) { __pdnet_assert(x == 0); return 0; }
            void *b(void *p) { y = 1; return 0; } void *c(void *p) { y = 2; return 0; }
            int main(void) { pthread_t r, s, t; pthread_create(&r, 0, a, 0); pthread_create(&s, 0, b, 0);
                pthread_create(&t, 0, c, 0); pthread_join(s, 0); x = 1; pthread_join(r, 0); pthread_join(t, 0);
                return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "only one thread has atomic sections, and what it does in them is no secret",
        program: "int x; void *a(void *p) { int k; __VERIFIER_atomic_begin(); k = x; __VERIFIER_atomic_end();
                __pdnet_assert(k != 1); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); x = 1; x = 2; pthread_join(s, 0);
                return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "what a thread will touch in a function that it has not called yet",
        program: "int x; void g(void) { x = 1; } void *a(void *p) { __pdnet_assert(x == 0); return 0; }
            void *b(void *p) { g(); return 0; }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
                pthread_join(s, 0); pthread_join(t, 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "what a thread will touch in one that it has not created yet",
        program: "int x; pthread_mutex_t m; void *c(void *p) { x = 1; return 0; }
            void *a(void *p) { __pdnet_assert(x == 0); return 0; }
            void *b(void *p) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, c, 0); return 0; }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
                pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_join(s, 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a thread that could move all the time, where fairness asks for it",
        program: "int x; void *a(void *p) { _Bool i; while (1) i = __VERIFIER_nondet_bool(); }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); x = 1; pthread_join(s, 0); return 0; }",
        ask: Ask::Formula("F x == 1"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "the next state",
        program: "int x; int main(void) { int k; k = 0; k = 1; k = 2; x = 1; return 0; }",
        ask: Ask::Formula("X X (x == 0)"),
        expected: 'h',
        saves: false,
    },
];

/// Traps for *forget*. The variable `d` is there to be forgotten.
const VALUES: &[Trap] = &[
    Trap {
        name: "a counter that nobody asks for makes no states",
        program: "int x; unsigned char y; void *a(void *p) { __pdnet_assert(x != 3); return 0; }
            int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; pthread_t s; pthread_create(&s, 0, a, 0); x = 1; while (1) y++; }",
        ask: Ask::Assert,
        expected: 'h',
        saves: true,
    },
    Trap {
        name: "one that somebody asks for at the end does",
        program: "unsigned char y; int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; int n; for (n = 0; n < 9; n++) y++; int z = y;
                __pdnet_assert(z != 9); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "what only a formula asks for",
        program: "int x, y; int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; y = 1; int k; for (k = 0; k < 3; k++) x = x + y; return 0; }",
        ask: Ask::Formula("G x < 3"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a local that is read behind a loop that does not touch it",
        program: "int x; int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; int k = __VERIFIER_nondet_bool(), i;
                for (i = 0; i < 3; i++) x = i; __pdnet_assert(!k); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a local that is written in one branch only",
        program: "int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; int k = __VERIFIER_nondet_bool(), c = __VERIFIER_nondet_bool();
                int dead = __VERIFIER_nondet_bool(); dead = dead + 1; if (c) k = 0; c = 5;
                __pdnet_assert(!k); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a local that is read through a pointer",
        program: "int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; int k = 0, *p = &k; k = __VERIFIER_nondet_bool(); __pdnet_assert(*p == 0);
                return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a local that another thread reads",
        program: "void *a(void *p) { int k = *(int *)p; __pdnet_assert(k != 2); return 0; }
            int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; pthread_t s; int i = 1; pthread_create(&s, 0, a, &i); i = 2; pthread_join(s, 0);
                return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "parameters and results, in frames of the same function",
        program: "int f(int n, int k) { int r = n; if (k > 0) r = r + f(n, k - 1); return r; }
            int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; int n = __VERIFIER_nondet_bool(); int r = f(n, 2); n = 7;
                __pdnet_assert(r != 3); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "one element of an array is written, another one is read",
        program: "int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; int a[3]; int i = __VERIFIER_nondet_bool(), c = __VERIFIER_nondet_bool();
                a[0] = c; a[1] = 1; a[2] = 1; a[i] = 0; c = 0; __pdnet_assert(a[0] == 0); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a value that only decides which lock is taken",
        program: "pthread_mutex_t m[2]; int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; int i = __VERIFIER_nondet_bool();
                pthread_mutex_lock(&m[1]); pthread_mutex_lock(&m[i]); return 0; }",
        ask: Ask::Deadlock,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "the handle of a thread, until it is joined",
        program: "int x; void *a(void *p) { x = 1; return 0; } void *b(void *p) { x = 2; return 0; }
            int main(void) { int d = __VERIFIER_nondet_bool(); if (d) d = 2; pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
                int k = 0; k++; pthread_join(t, 0); t = 0; __pdnet_assert(x != 1); pthread_join(s, 0);
                return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
];

/// Traps for *symmetry*: who is who must not matter, or must count.
const EXCHANGES: &[Trap] = &[
    Trap {
        name: "threads that nobody tells apart",
        program: "int x; void *a(void *p) { int k = x; x = k + 1; return 0; }
            int main(void) { pthread_t s; int i; for (i = 0; i < 3; i++) pthread_create(&s, 0, a, 0); __pdnet_assert(x < 3); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a lock knows its holder",
        program: "pthread_mutex_t m; int x; void *a(void *p) { pthread_mutex_lock(&m); x = x + 1; __pdnet_assert(x == 1); x = 0;
                pthread_mutex_unlock(&m); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); return 0; }",
        ask: Ask::Assert,
        expected: 'h',
        saves: true,
    },
    Trap {
        name: "main waits for one of them, and only for that one",
        program: "int x; void *a(void *p) { x = x + 1; return 0; }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, a, 0); pthread_join(t, 0);
                __pdnet_assert(x >= 1); return 0; }",
        ask: Ask::Assert,
        expected: 'h',
        saves: false,
    },
    Trap {
        name: "it waits for the first, and the second has not moved",
        program: "int x[2]; void *a(void *p) { x[p != 0] = 1; return 0; }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, a, &x); pthread_join(s, 0);
                __pdnet_assert(x[1] == 1); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: false,
    },
    Trap {
        name: "the one whose handle was kept",
        program: "pthread_t pthread_self(void); int pthread_equal(pthread_t, pthread_t); pthread_t last; int n, others;
            void *a(void *p) { __VERIFIER_atomic_begin(); if (pthread_equal(last, pthread_self())) n = n + 1; else others = others + 1;
                __VERIFIER_atomic_end(); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&last, 0, a, 0); pthread_create(&s, 0, a, 0);
                __pdnet_assert(n < 2 && others < 3); return 0; }",
        ask: Ask::Assert,
        expected: 'h',
        saves: true,
    },
    Trap {
        name: "a number that is used as a number",
        program: "pthread_t pthread_self(void); unsigned long sum; void *a(void *p) { __VERIFIER_atomic_begin(); sum = sum * 2 + (pthread_self() & 1);
                __VERIFIER_atomic_end(); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); __pdnet_assert(sum != 1); return 0; }",
        ask: Ask::Assert,
        expected: 'v',
        saves: false,
    },
    Trap {
        name: "two that wait for each other's locks",
        program: "pthread_mutex_t m, n; void *a(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n);
                pthread_mutex_unlock(&m); return 0; }
            void *b(void *p) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_create(&s, 0, b, 0); pthread_exit(0); }",
        ask: Ask::Deadlock,
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "a cycle on which threads change places is no proof that all of them move",
        program: "int x, y; void *a(void *p) { while (1) { __VERIFIER_atomic_begin(); x = 1 - x; __VERIFIER_atomic_end(); } }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); y = 1; pthread_exit(0); }",
        ask: Ask::Formula("F y == 1"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "the only cycle is one on which two threads exchange their roles",
        program: "pthread_t pthread_self(void); int pthread_equal(pthread_t, pthread_t); pthread_t last; int x, y;
            void *a(void *p) { while (1) { __VERIFIER_atomic_begin(); __VERIFIER_assume(!pthread_equal(last, pthread_self()));
                last = pthread_self(); x = 1; __VERIFIER_atomic_end(); } }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_exit(0); }",
        ask: Ask::Formula("G F y == 1"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "three threads that pass something on in a circle",
        program: "pthread_t pthread_self(void); int pthread_equal(pthread_t, pthread_t); pthread_t last, before; int y;
            void *a(void *p) { while (1) { __VERIFIER_atomic_begin();
                __VERIFIER_assume(!pthread_equal(last, pthread_self()) && !pthread_equal(before, pthread_self()));
                before = last; last = pthread_self(); y = 1 - y; __VERIFIER_atomic_end(); } }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_exit(0); }",
        ask: Ask::Formula("F G y == 1"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "what all of them do again and again, whoever it is",
        program: "pthread_t pthread_self(void); int pthread_equal(pthread_t, pthread_t); pthread_t last; int y;
            void *a(void *p) { while (1) { __VERIFIER_atomic_begin(); __VERIFIER_assume(!pthread_equal(last, pthread_self()));
                last = pthread_self(); y = 1 - y; __VERIFIER_atomic_end(); } }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_exit(0); }",
        ask: Ask::Formula("G F y == 1"),
        expected: 'h',
        saves: true,
    },
    Trap {
        name: "one thread of them need not come",
        program: "int y; void *a(void *p) { int k = 0; while (1) { k = 1 - k; y = 1 - y; } }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_exit(0); }",
        ask: Ask::Formula("G F a[1]::k == 1"),
        expected: 'v',
        saves: true,
    },
    Trap {
        name: "one thread of them is named",
        program: "int y; void *a(void *p) { int k = 0; while (1) { k = 1 - k; y = 1 - y; } }
            int main(void) { pthread_t s; pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_exit(0); }",
        ask: Ask::Formula("F G a[1]::k < 2"),
        expected: 'h',
        saves: false,
    },
    Trap {
        name: "a handle that is kept, and read by who is not in the circle",
        program: "pthread_t pthread_self(void); int pthread_equal(pthread_t, pthread_t); pthread_t last, first; int x;
            void *a(void *p) { while (1) { __VERIFIER_atomic_begin(); last = pthread_self(); x = pthread_equal(last, first); __VERIFIER_atomic_end(); } }
            int main(void) { pthread_t s; pthread_create(&first, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_create(&s, 0, a, 0); pthread_exit(0); }",
        ask: Ask::Formula("F G x == 0"),
        expected: 'v',
        saves: true,
    },
];

/// No reduction at all.
const PLAIN: Explicit = Explicit::PLAIN;

#[test]
fn stubborn_sets_walk_into_no_trap() {
    for trap in TRAPS {
        walk(trap, Explicit { stubborn: true, ..PLAIN });
    }
}

#[test]
fn forget_walks_into_no_trap() {
    for trap in VALUES {
        walk(trap, Explicit { forget: true, ..PLAIN });
    }
}

#[test]
fn symmetry_walks_into_no_trap() {
    for trap in EXCHANGES {
        walk(trap, Explicit { symmetry: true, ..PLAIN });
    }
}

/// Compares with the reference: without reductions, with this one, and with all.
fn walk(trap: &Trap, reduced: Explicit) {
    let name = trap.name;
    let mut map = SourceMap::new();
    let file = map.add("trap.i", format!("{PRELUDE}{}", trap.program));
    let loaded = load_preprocessed(&mut map, file, &Options::default()).expect(name);
    let mut formulas = Vec::new();
    if let Ask::Formula(text) = trap.ask {
        let text = map.add("<ltl>", text);
        formulas.push(parse_formula(&map, text).expect(name));
    }
    let options = LowerOptions {
        atomicity: Atomicity::Access,
        spurious_wakeups: false,
        max_threads: 6,
        max_depth: 4,
        ..LowerOptions::default()
    };
    let lowered = lower(&map, &loaded.program, &formulas, &options).expect(name);
    let property = match trap.ask {
        Ask::Assert => Property::assertions(&lowered.net),
        Ask::Deadlock => Property::no_deadlock(),
        Ask::Formula(text) => {
            let atoms = lowered.atoms[0].iter().enumerate().map(|(idx, expr)| AtomData {
                text: formulas[0].atoms[pdnet_logic::Atom::new(idx)].to_string(),
                expr: expr.clone(),
            });
            let kind = PropertyKind::Ltl { formula: formulas[0].ltl.clone(), atoms: atoms.collect() };
            Property { name: "ltl".into(), text: text.into(), class: "valid-ltl", kind }
        }
    };
    let properties = [property];
    let graph = ReachableGraph::build(&lowered.net, 20_000).expect(name);
    let (mut n_states, mut n_exchanged) = (Vec::new(), 0);
    for engine in [PLAIN, reduced, Explicit::default()] {
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            compare(&engine, &graph, &properties, fairness, !engine.stubborn)
                .unwrap_or_else(|found| panic!("{name}, {engine:?}: {found}"));
        }
        let request = Request {
            net: &lowered.net,
            properties: &properties,
            fairness: Fairness::None,
            limits: Limits::default(),
        };
        let Outcome { verdict, stats } = engine.check(&request, &mut Silent).remove(0);
        let found = match verdict {
            Verdict::Holds => 'h',
            Verdict::Violated(_) => 'v',
            Verdict::Unknown(_) => 'u',
        };
        assert_eq!(found, trap.expected, "{name}, {engine:?}");
        n_states.push(stats.states);
        n_exchanged += stats.steps_exchanged.unwrap_or(0);
    }
    // A trap in a program that is not reduced would catch nothing. A search for a cycle that ends at a violation may come to another one, and
    // meet more on the way: that it meets not as many, or has exchanged threads, shows that the reduction is at work.
    let is_reduced = match trap.ask {
        Ask::Formula(_) if trap.expected == 'v' => n_states[1] != n_states[0] || n_exchanged > 0,
        Ask::Formula(_) | Ask::Assert | Ask::Deadlock => n_states[1] < n_states[0],
    };
    assert_eq!(is_reduced, trap.saves, "{name}: states without and with: {n_states:?}");
}
