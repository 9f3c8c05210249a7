//! Traps of loops, locks, joins and ends: what has no value for the formula, and decides whether it is ever reached.

use crate::Trap;

pub(crate) const TRAPS: &[Trap] = &[
    Trap {
        // Nobody ever raises it, so that no step leads on: but the thread waits there.
        name: "a semaphore that nobody posts",
        program: "sem_t e; void *a(void *p) { sem_wait(&e); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_exit(0); }",
        asks: &[("deadlock", "v"), ("termination", "v"), ("F terminated(a)", "v")],
    },
    Trap {
        name: "a semaphore that nobody posts, on a branch that a constant chooses",
        program: "unsigned char g; sem_t e; int x;
            int main(void) { if (g < 1) { sem_wait(&e); } else { x = 2; } x = 1; return 0; }",
        asks: &[("deadlock", "v"), ("F x == 1", "v"), ("G x == 0", "h"), ("termination", "v")],
    },
    Trap {
        // The first state is none, but what comes before the lock has no value for the formula.
        name: "when a deadlock comes",
        program: "int g, x; pthread_mutex_t m; int main(void) { if (g < 1) g = 2; x = 1; g = 3; pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        asks: &[("deadlock U deadlock", "v"), ("G deadlock", "v"), ("F deadlock", "h"), ("F (x == 1 && !deadlock)", "h"), ("deadlock", "v")],
    },
    Trap {
        // Where the cycle begins, the other threads cannot move; fair runs let them go to their ends all the same.
        name: "what is cut lies behind an atomic section in which the cycle begins",
        program: "int y; void *a(void *p) { int k = 0; while (1) { __VERIFIER_atomic_begin(); y = k; y = k; __VERIFIER_atomic_end(); } return 0; }
            void *b(void *p) { int k = 0; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_create(&t, 0, b, 0); pthread_create(&t, 0, b, 0); y = 1; pthread_exit(0); }",
        asks: &[("F G y == 1", "v"), ("G F y == 0", "h")],
    },
    Trap {
        // Nobody comes to the call; what is wrong only there is right.
        name: "an endless loop before the call",
        program: "int x, u; void f(void) { x = 1; } int main(void) { while (1) u = 1 - u; f(); return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("G !call(f)", "h"), ("termination", "v")],
    },
    Trap {
        // The same, where the end of the loop can be reached as far as control flow can tell.
        name: "a loop on a flag that nobody sets, before the call",
        program: "int x, go; void f(void) { x = 1; } int main(void) { while (!go); f(); return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("G !call(f)", "h")],
    },
    Trap {
        // The other thread may run alone forever, unless that is not fair.
        name: "an endless loop in another thread",
        program: "int x; void *a(void *p) { while (1); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; return 0; }",
        asks: &[("F x == 1", "vhh"), ("F end", "vhh"), ("G x == 0", "v"), ("deadlock", "h")],
    },
    Trap {
        name: "an endless loop in a callee",
        program: "int x; void f(void) { while (1); } int main(void) { f(); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("deadlock", "h")],
    },
    Trap {
        // The callee of a callee, on one branch only.
        name: "an endless loop in a callee, now and then",
        program: "int x, u; void g(void) { while (u) u = 2; } void f(void) { g(); }
            int main(void) { u = __VERIFIER_nondet_bool(); f(); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("G (x == 1 -> u == 0)", "h")],
    },
    Trap {
        // f never returns, so that there is no second call.
        name: "a callee that ends the process, in nested calls",
        program: "int x, u; int f(int k) { exit(0); } int main(void) { x = f(f(u)); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("F end", "h"), ("F deadlock", "v"), ("F G call(f)", "v")],
    },
    Trap {
        // The thread never returns from its callee, and main waits.
        name: "a join of a thread whose callee never returns",
        program: "int x; void g(void) { } void f(void) { while (1); } void *a(void *p) { f(); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_join(t, 0); g(); x = 1; return 0; }",
        asks: &[("F G call(g)", "v"), ("F x == 1", "v"), ("G x == 0", "h"), ("F terminated(a)", "v")],
    },
    Trap {
        // The thread that would give the result never ends.
        name: "the result of a thread that never ends",
        program: "int x; void *a(void *p) { while (1); return 0; }
            int main(void) { pthread_t t; void *r = 0; pthread_create(&t, 0, a, 0); pthread_join(t, &r);
                x = (int)(long)r; return 0; }",
        asks: &[("assert", "h"), ("memory", "h"), ("F x == 1", "v"), ("G x == 0", "h")],
    },
    Trap {
        // If a is first, main waits forever.
        name: "a lock that is never given back",
        program: "int x, u; pthread_mutex_t m; void *a(void *p) { pthread_mutex_lock(&m); u = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m); x = 1;
                pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }",
        asks: &[("F x == 1", "v"), ("deadlock", "v"), ("F deadlock", "v"), ("G x == 0", "v")],
    },
    Trap {
        name: "a join of an endless thread",
        program: "int x, u; void *a(void *p) { while (1) u = 1 - u; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_join(t, 0); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("deadlock", "h"), ("partial-deadlock", "h")],
    },
    Trap {
        name: "a semaphore that nobody posts",
        program: "int x; sem_t s; int main(void) { sem_init(&s, 0, 0); sem_wait(&s); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("deadlock", "v"), ("F end", "v")],
    },
    Trap {
        // The process may end before, between and after the two writes.
        name: "an exit in an unrelated thread",
        program: "int x, u; void *a(void *p) { u = 1; exit(0); }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; x = 2; pthread_join(t, 0); return 0; }",
        asks: &[
            ("F x == 1", "v"),
            ("G (x == 1 -> F x == 2)", "v"),
            ("F end", "h"),
            ("G !(end && x == 1)", "v"),
            ("F x == 1 || F G x == 0", "h"),
        ],
    },
    Trap {
        // With fairness the helper gets its turn.
        name: "a loop that ends only if another thread helps",
        program: "int x, go; void *a(void *p) { go = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); while (!go); x = 1; return 0; }",
        asks: &[("F x == 1", "vhh"), ("G x == 0", "v"), ("F end", "vhh")],
    },
    Trap {
        // The helper waits for a flag itself, which nobody sets.
        name: "a loop whose helper needs help",
        program: "int x, go, u; void *a(void *p) { if (u) go = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); while (!go); x = 1; u = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h")],
    },
    Trap {
        // a holds n and waits for m, main holds m and waits for n.
        name: "locks of other data in two orders",
        program: "int x, u; pthread_mutex_t m, n;
            void *a(void *p) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); u = 1; pthread_mutex_unlock(&m);
                pthread_mutex_unlock(&n); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m); pthread_mutex_lock(&n);
                u = 2; pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); x = 1; pthread_join(t, 0); return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("deadlock", "v"), ("race", "h"), ("G (u == 2 -> F x == 1)", "h")],
    },
    Trap {
        // Where the greedy thread has the lock main cannot move, so that weak fairness does not help it.
        name: "a lock that is taken again and again",
        program: "int x, u; pthread_mutex_t m;
            void *a(void *p) { while (1) { pthread_mutex_lock(&m); u = 1 - u; pthread_mutex_unlock(&m); } return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m); x = 1;
                pthread_mutex_unlock(&m); return 0; }",
        asks: &[("F x == 1", "vvh"), ("G x == 0", "v"), ("F end", "vvh")],
    },
    Trap {
        // b writes when a has ended; a does so after some steps of its own.
        name: "a handle that is joined by a thread that matters",
        program: "int x, u; pthread_t s; void *a(void *p) { u = 1; u = 2; return 0; }
            void *b(void *p) { pthread_join(s, 0); x = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0);
                pthread_join(t, 0); return 0; }",
        asks: &[
            ("F x == 1", "h"),
            ("G (x == 1 -> terminated(a))", "h"),
            ("G (x == 1 -> u == 2)", "h"),
            ("F terminated(a)", "h"),
        ],
    },
    Trap {
        // All runs come to the division first: nothing is known.
        name: "undefined behaviour in other data, before",
        program: "int x, u; int main(void) { u = 1 / u; x = 1; return 0; }",
        asks: &[("G x == 0", "u"), ("F x == 1", "u"), ("assert", "u"), ("memory", "u")],
    },
    Trap {
        // What came before the division did happen.
        name: "undefined behaviour in other data, after",
        program: "int x, u; int main(void) { x = 1; u = 1 / u; return 0; }",
        asks: &[("G x == 0", "v"), ("G x != 2", "u"), ("deadlock", "u")],
    },
    Trap {
        name: "undefined behaviour in another thread",
        program: "int x, b[2], i = 2; void *a(void *p) { b[i] = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; __pdnet_assert(x != 2); return 0; }",
        asks: &[("G x != 2", "u"), ("assert", "u"), ("memory", "v"), ("locks", "u"), ("G x == 0", "v")],
    },
    Trap {
        // Main's frame may be gone when the thread writes into it.
        name: "a local of a thread that has ended",
        program: "int x; void *a(void *p) { int *q = p; *q = 1; return 0; }
            int main(void) { pthread_t t; int v = 0; pthread_create(&t, 0, a, &v); x = 1; pthread_exit(0); }",
        asks: &[("memory", "v"), ("locks", "u"), ("G x != 2", "u"), ("assert", "u"), ("G x == 0", "v")],
    },
    Trap {
        // The frame of the callee is gone when the thread writes into it, if the thread is late.
        name: "a local of a function that has returned",
        program: "int x; pthread_t t; void *a(void *p) { int *q = p; *q = 1; return 0; }
            void start(void) { int v = 0; pthread_create(&t, 0, a, &v); }
            int main(void) { start(); x = 1; pthread_join(t, 0); return 0; }",
        asks: &[("memory", "v"), ("locks", "u"), ("G x != 2", "u"), ("assert", "u"), ("G x == 0", "v")],
    },
    Trap {
        // The assumption fails. Main waits for that thread, and no run goes on forever; an assertion before it
        // fails all the same.
        name: "a failed assumption in a thread that is joined",
        program: "int x, u; void *a(void *p) { __VERIFIER_assume(u); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; __pdnet_assert(x == 0); pthread_join(t, 0);
                return 0; }",
        asks: &[("assert", "v"), ("deadlock", "h")],
    },
    Trap {
        name: "no run goes on beyond a failed assumption",
        program: "int x, u; void *a(void *p) { __VERIFIER_assume(u); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; pthread_join(t, 0); return 0; }",
        asks: &[("G x == 0", "h"), ("F x == 2", "h"), ("deadlock", "h")],
    },
    Trap {
        // The process may end before the assumption is met.
        name: "a run that ends before the assumption",
        program: "int x, u; void *a(void *p) { __VERIFIER_assume(u); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; return 0; }",
        asks: &[("G x == 0", "v"), ("F x == 1", "h")],
    },
    Trap {
        // Only an unfair run never comes to the assumption.
        name: "a run that is not fair to the assumption",
        program: "int x, u; void *a(void *p) { __VERIFIER_assume(u); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; while (1); return 0; }",
        asks: &[("G x == 0", "vhh"), ("F x == 2", "vhh")],
    },
    Trap {
        // In the section a waits, and nobody else can move to post.
        name: "an atomic section with a wait in it",
        program: "int x; sem_t s; void *a(void *p) { __VERIFIER_atomic_begin(); sem_wait(&s); __VERIFIER_atomic_end(); return 0; }
            int main(void) { pthread_t t; sem_init(&s, 0, 0); pthread_create(&t, 0, a, 0); x = 1; sem_post(&s);
                pthread_join(t, 0); return 0; }",
        asks: &[("F x == 1", "v"), ("deadlock", "v"), ("G x == 0", "v")],
    },
    Trap {
        // Nobody can move while the other is in its section without an end.
        name: "an atomic section with an endless loop in it",
        program: "int x, u; void *a(void *p) { __VERIFIER_atomic_begin(); while (1) u = 1 - u; __VERIFIER_atomic_end(); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("F end", "v"), ("deadlock", "h")],
    },
    Trap {
        name: "the last pthread_exit ends the process",
        program: "int x, u; void *a(void *p) { u = 1; u = 2; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; pthread_exit(0); }",
        asks: &[("F end", "h"), ("G (end -> u == 2)", "h"), ("G (end -> x == 1)", "h"), ("G (terminated(main) -> end)", "v")],
    },
    Trap {
        name: "the last pthread_exit never comes",
        program: "int x, u; void *a(void *p) { while (1) u = 1 - u; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; pthread_exit(0); }",
        asks: &[("F end", "v"), ("F x == 1", "vhh"), ("F G x == 1", "vhh")],
    },
    Trap {
        // A signal that nobody waits for is lost.
        name: "a lost signal",
        program: "int x; pthread_mutex_t m; pthread_cond_t c; void *a(void *p) { pthread_cond_signal(&c); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m); pthread_cond_wait(&c, &m);
                pthread_mutex_unlock(&m); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("deadlock", "v"), ("F waiting(main, c)", "h")],
    },
    Trap {
        // If a was first, main tries forever.
        name: "a trylock that never succeeds",
        program: "int x, u; pthread_mutex_t m; void *a(void *p) { pthread_mutex_lock(&m); u = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); while (pthread_mutex_trylock(&m) != 0); x = 1;
                return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("deadlock", "h")],
    },
    Trap {
        name: "a barrier that the other one comes to",
        program: "int x, u; pthread_barrier_t b;
            void *a(void *p) { int i; for (i = 0; i < 2; i++) u = i; pthread_barrier_wait(&b); return 0; }
            int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, a, 0);
                pthread_barrier_wait(&b); x = 1; pthread_join(t, 0); return 0; }",
        asks: &[("F x == 1", "h"), ("G (x == 1 -> u == 1)", "h"), ("deadlock", "h")],
    },
    Trap {
        name: "a barrier that the other one never comes to",
        program: "int x, u; pthread_barrier_t b; void *a(void *p) { while (u == 0); pthread_barrier_wait(&b); return 0; }
            int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, a, 0);
                pthread_barrier_wait(&b); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("partial-deadlock", "v")],
    },
    Trap {
        // Main ends in the callee, and a is the last one.
        name: "a pthread_exit in a callee",
        program: "int x, u; void f(void) { if (u) pthread_exit(0); } void *a(void *p) { u = 2; return 0; }
            int main(void) { pthread_t t; u = 1; pthread_create(&t, 0, a, 0); f(); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("F end", "h"), ("F u == 2", "h")],
    },
    Trap {
        // The assertion is behind a loop that does not end.
        name: "an assertion that nobody comes to",
        program: "int u; int main(void) { while (u == 0); __pdnet_assert(0); return 0; }",
        asks: &[("assert", "h"), ("termination", "v")],
    },
    Trap {
        name: "an assertion that another thread lets one come to",
        program: "int u; void *a(void *p) { u = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); while (u == 0); __pdnet_assert(0); return 0; }",
        asks: &[("assert", "v"), ("termination", "vhh")],
    },
    Trap {
        // The thread waits for itself, while main works on.
        name: "a thread that is blocked beside one that works",
        program: "int x, u; pthread_mutex_t m;
            void *a(void *p) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); x = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); while (1) u = 1 - u; return 0; }",
        asks: &[("partial-deadlock", "v"), ("deadlock", "h"), ("G x == 0", "h"), ("F holds(a, m)", "vhh")],
    },
    Trap {
        // Without the other thread the loop ends; with it, not always.
        name: "a continue that never comes to the counter",
        program: "int x, u; void *a(void *p) { u = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0);
                int i = 0; while (i < 2) { if (u) continue; i++; } x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("F end", "v")],
    },
    Trap {
        // i is set back by the callee and never gets to 2.
        name: "a counter that a callee sets back through a pointer",
        program: "int x; void back(int *p) { *p = 0; }
            int main(void) { int i; for (i = 0; i < 2; i++) back(&i); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("termination", "v")],
    },
    Trap {
        // Behind the function pointer the counter is set back only if the input says so.
        name: "a counter that a callee by pointer sets back",
        program: "int x; void back(int *p) { *p = 0; } void no(int *p) { } void (*f)(int *) = no;
            int main(void) { int i; if (__VERIFIER_nondet_bool()) f = back; for (i = 0; i < 2; i++) f(&i); x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("termination", "v")],
    },
    Trap {
        name: "a loop that ends by break only",
        program: "int x, u; void *a(void *p) { u = 0; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); while (1) { u++; if (u == 2) break; } x = 1; return 0; }",
        asks: &[("F x == 1", "h"), ("F end", "h"), ("G (x == 1 -> u == 2)", "v")],
    },
    Trap {
        // u is 1, 3, 5, ..., and comes back to 1 when it wraps.
        name: "a loop whose break never comes",
        program: "int x; unsigned char u = 1; int main(void) { while (1) { u += 64; if (u == 2) break; } x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("G F u == 1", "h")],
    },
    Trap {
        name: "do while",
        program: "int x, u; int main(void) { do { u++; } while (u < 2); x = 1; return 0; }",
        asks: &[("F x == 1", "h"), ("F end", "h"), ("G x == 0", "v")],
    },
    Trap {
        // The bound on the depth of calls: what comes behind it is not known.
        name: "recursion without end before",
        program: "int x, u; void f(void) { u = 1; f(); } int main(void) { f(); x = 1; return 0; }",
        asks: &[("G x == 0", "u"), ("F x == 1", "u"), ("deadlock", "u")],
    },
    Trap {
        // All runs come to the bound, and behind it the assumption might fail; a slice that has found that it
        // cannot may know more.
        name: "an assumption that cannot fail, and a bound",
        program: "int x, u; int f(int n) { return f(n - 1); } void *a(void *p) { f(2); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); __VERIFIER_assume(u != 2); x = 1;
                pthread_join(t, 0); return 0; }",
        asks: &[("G x == 0", "u"), ("G x != 2", "u"), ("assert", "u")],
    },
    Trap {
        name: "recursion without end in another thread",
        program: "int x, u; void f(void) { u = 1; f(); } void *a(void *p) { f(); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; return 0; }",
        asks: &[("G x != 2", "u"), ("assert", "u"), ("G x == 0", "v")],
    },
    Trap {
        // Once waits for who is in it already, and he waits for the lock.
        name: "a once that does not end",
        program: "int x, u; pthread_once_t o; pthread_mutex_t m; void init(void) { pthread_mutex_lock(&m); u = 1; }
            void *a(void *p) { pthread_once(&o, init); return 0; }
            int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, a, 0); pthread_once(&o, init);
                x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "h"), ("deadlock", "v")],
    },
    Trap {
        // More threads than there can be: the create is not followed.
        name: "more threads than allowed",
        program: "int x; void *a(void *p) { return 0; }
            int main(void) { pthread_t t; int i; for (i = 0; i < 5; i++) pthread_create(&t, 0, a, 0); x = 1; return 0; }",
        asks: &[("G x == 0", "u"), ("assert", "u"), ("F x == 1", "u")],
    },
];
