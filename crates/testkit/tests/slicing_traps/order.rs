//! Traps of order: an observed step must come neither earlier nor later than others.

use crate::Trap;

pub(crate) const TRAPS: &[Trap] = &[
    Trap {
        // The label is behind the write, with other steps between them.
        name: "a write before an arrival",
        program: "int x, u; void *a(void *p) { u = x; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); u = 1; x = 1; u = 2; L: u = 3; return 0; }",
        asks: &[
            ("G (at(main, L) -> x == 1)", "h"),
            ("!at(main, L) U x == 1", "h"),
            ("G (x == 1 -> at(main, L))", "v"),
            ("F at(main, L)", "h"),
            ("G (x == 1 -> !at(main, L))", "v"),
        ],
    },
    Trap {
        // The label is before the write: with other steps between them there is a state with neither.
        name: "an arrival before a write",
        program: "int x, u; void *a(void *p) { u = x; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); L: u = 3; u = 4; x = 1; return 0; }",
        asks: &[
            ("G (at(main, L) -> x == 0)", "h"),
            ("G (at(main, L) -> at(main, L) U x == 1)", "v"),
            ("G (at(main, L) -> F x == 1)", "h"),
            ("x == 0 U at(main, L)", "h"),
        ],
    },
    Trap {
        // The label stands at the observed write itself.
        name: "a label at the write",
        program: "int x, u; void *a(void *p) { u = x; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); u = 1; L: x = 1; u = 2; M: u = 3; return 0; }",
        asks: &[
            ("G (at(main, L) -> x == 0)", "h"),
            ("G (at(main, L) -> at(main, L) U x == 1)", "h"),
            ("G (at(main, L) -> at(main, L) U (x == 1 && x == 1 U at(main, M)))", "h"),
            ("G !(at(main, L) && at(main, M))", "h"),
        ],
    },
    Trap {
        // The callee does nothing: that it is called is all there is.
        name: "a write before a call",
        program: "int x, u; void f(void) { } void *a(void *p) { u = x; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); u = 1; x = 1; u = 2; f(); u = 3; return 0; }",
        asks: &[
            ("G (call(f) -> x == 1)", "h"),
            ("x == 0 U call(f)", "v"),
            ("F call(f)", "h"),
            ("G (x == 1 -> call(f))", "v"),
        ],
    },
    Trap {
        // Two statements, in the order that the jump says.
        name: "a jump decides which write comes first",
        program: "int x, n; int main(void) { if (__VERIFIER_nondet_bool()) goto second;
                first: x = 1; n++; if (n == 2) goto out;
                second: x = 2; n++; if (n < 2) goto first;
                out: return 0; }",
        asks: &[
            ("F G x == 2", "v"),
            ("F G x == 1", "v"),
            ("F x == 1 && F x == 2", "h"),
            ("G (x == 2 -> G x == 2)", "v"),
            ("x == 0 U x == 1", "v"),
        ],
    },
    Trap {
        // No condition decides: the text says 2 first, the jumps say 1.
        name: "jumps that turn the order of the text round",
        program: "int x; int main(void) { goto one; two: x = 2; goto out; one: x = 1; goto two; out: return 0; }",
        asks: &[("x == 0 U x == 1", "h"), ("F G x == 2", "h"), ("G (x == 2 -> G x == 2)", "h")],
    },
    Trap {
        // The value is the old one again, and was another one in between.
        name: "a value that is restored",
        program: "int x, u; void *a(void *p) { x = 1; u = 1; x = 0; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_join(t, 0); return 0; }",
        asks: &[("G x == 0", "v"), ("G F x == 0", "h"), ("F G x == 0", "h"), ("F x == 1", "h")],
    },
    Trap {
        // Nobody else moves in the section; the formula sees the states in it.
        name: "an atomic section around two writes",
        program: "int x, u; void *a(void *p) { __VERIFIER_atomic_begin(); x = 1; u = 1; x = 0; __VERIFIER_atomic_end(); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); int r = x; __pdnet_assert(r == 0); pthread_join(t, 0); return 0; }",
        asks: &[("assert", "h"), ("G x == 0", "v"), ("race", "v"), ("F x == 1", "h")],
    },
    Trap {
        // The section is around other data only, and that is what main must not see.
        name: "an atomic section around what decides",
        program: "int x, u, w; void *a(void *p) { __VERIFIER_atomic_begin(); u = 1; w = 1; __VERIFIER_atomic_end(); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); if (u == 1) if (w == 0) x = 1; return 0; }",
        asks: &[("G x == 0", "h"), ("F u == 1", "v")],
    },
    Trap {
        // A lock around the writes of a, and around the two reads of main.
        name: "a lock around what decides",
        program: "int x, u, w; pthread_mutex_t m;
            void *a(void *p) { pthread_mutex_lock(&m); u = 1; w = 1; pthread_mutex_unlock(&m); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m); int r = u, s = w;
                pthread_mutex_unlock(&m); if (r != s) x = 1; return 0; }",
        asks: &[("G x == 0", "h"), ("race", "h"), ("G (holds(main, m) -> !holds(a, m))", "h")],
    },
    Trap {
        // Without the lock in a they can differ.
        name: "a lock of one thread only",
        program: "int x, u, w; pthread_mutex_t m; void *a(void *p) { u = 1; w = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m); int r = u, s = w;
                pthread_mutex_unlock(&m); if (r != s) x = 1; return 0; }",
        asks: &[("G x == 0", "v"), ("race", "v")],
    },
    Trap {
        name: "who holds a lock around other data",
        program: "int x, u; pthread_mutex_t m; void *a(void *p) { pthread_mutex_lock(&m); u = 1; u = 2; pthread_mutex_unlock(&m); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m); x = 1; x = 2; pthread_mutex_unlock(&m);
                pthread_join(t, 0); return 0; }",
        asks: &[
            ("G (x == 1 -> holds(main, m))", "h"),
            ("G (x == 1 -> !holds(a, m))", "h"),
            ("G (x == 2 -> !holds(a, m))", "v"),
            ("F holds(a, m)", "h"),
            ("G (call(pthread_mutex_lock) -> x == 0)", "v"),
        ],
    },
    Trap {
        // Main may return before, and then all threads have ended.
        name: "the end of a thread and its write",
        program: "int x, u; void *a(void *p) { u = 1; x = 1; u = 2; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); if (__VERIFIER_nondet_bool()) pthread_join(t, 0); return 0; }",
        asks: &[
            ("G (terminated(a) -> x == 1)", "v"),
            ("G (terminated(a) && !end -> x == 1)", "h"),
            ("G (x == 1 -> terminated(a))", "v"),
            ("F terminated(a)", "h"),
        ],
    },
    Trap {
        // Waiting begins after the flag was seen, and ends only after it was set.
        name: "a wait between two writes",
        program: "int x, go; pthread_mutex_t m; pthread_cond_t c;
            void *a(void *p) { pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }
            int main(void) { pthread_t t; x = 1; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m);
                while (!go) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); x = 2; return 0; }",
        asks: &[
            ("F x == 2", "h"),
            ("G (waiting(main, c) -> x == 1)", "h"),
            ("F waiting(main, c)", "v"),
            ("G (x == 2 -> go == 1)", "h"),
            ("deadlock", "h"),
        ],
    },
    Trap {
        // A case falls through into the next one.
        name: "a case that falls through",
        program: "int x, u; int main(void) { switch (u) { case 0: u = 5; case 1: x = 1; break; default: x = 2; } return 0; }",
        asks: &[("F x == 1", "h"), ("G x != 2", "h"), ("F G u == 5", "h")],
    },
    Trap {
        // Whoever comes second sees what the first one wrote, before or after other steps.
        name: "two threads that take turns by a flag",
        program: "int x, turn, u; void *a(void *p) { while (turn != 1); u = 1; x = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 2; u = 2; turn = 1; pthread_join(t, 0); return 0; }",
        asks: &[("F x == 1", "vhh"), ("!x == 1 U x == 2", "vhh"), ("!x == 1 W x == 2", "h"), ("F G x == 1", "vhh")],
    },
    Trap {
        // Both threads run the same function; which one is asked for matters.
        name: "the second of two threads with one function",
        program: "int x; void *a(void *p) { int v = (int)(long)p; x = v; return 0; }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, (void *)1); pthread_create(&t, 0, a, (void *)2);
                pthread_join(s, 0); pthread_join(t, 0); return 0; }",
        asks: &[
            ("F a[1]::v == 2", "h"),
            ("G a[0]::v != 2", "h"),
            ("F G x == 2", "v"),
            ("G (terminated(a[0]) -> terminated(a[1]))", "v"),
        ],
    },
    Trap {
        // The first create may not happen; then b is the first thread beside main.
        name: "a thread that is not always created",
        program: "int x, u; void *a(void *p) { u = 1; return 0; } void *b(void *p) { int v = 1; x = v; return 0; }
            int main(void) { pthread_t s, t; int c = __VERIFIER_nondet_bool(); if (c) pthread_create(&s, 0, a, 0);
                pthread_create(&t, 0, b, 0); pthread_join(t, 0); return 0; }",
        asks: &[("F b::v == 1", "h"), ("F terminated(b)", "h"), ("F terminated(a)", "v"), ("F x == 1", "h")],
    },
];
