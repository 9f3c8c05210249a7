//! Traps of values: by what ways they come to what is observed.

use crate::Trap;

pub(crate) const TRAPS: &[Trap] = &[
    Trap {
        name: "a write through a pointer",
        program: "int x, u; int *p = &u; int main(void) { p = &x; *p = 1; return 0; }",
        asks: &[("F x == 1", "h"), ("G x == 0", "v"), ("G u == 0", "h")],
    },
    Trap {
        // Where p points is written by the other thread, at any time.
        name: "a write through a pointer that another thread sets",
        program: "int x, u; int *p = &u; void *a(void *q) { p = &x; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); *p = 1; pthread_join(t, 0); return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("F (x == 1 || u == 1)", "h"), ("race", "v")],
    },
    Trap {
        name: "a local that escapes into a callee",
        program: "int x; void set(int *r) { *r = 1; } int main(void) { int l = 0; set(&l); x = l; return 0; }",
        asks: &[("F x == 1", "h"), ("F main::l == 1", "h"), ("G x == 0", "v")],
    },
    Trap {
        // The join comes before the read.
        name: "a local that escapes into a thread",
        program: "int x; void *a(void *p) { *(int *)p = 2; return 0; }
            int main(void) { pthread_t t; int l = 0; pthread_create(&t, 0, a, &l); pthread_join(t, 0); x = l; return 0; }",
        asks: &[("G (end -> x == 2)", "h"), ("F main::l == 2", "h"), ("F G x == 2", "h")],
    },
    Trap {
        // The innermost activation counts; w is 2, 1, 0, and on the way back 7.
        name: "a local of a recursive function",
        program: "int u; int f(int n) { int w = n; if (n > 0) f(n - 1); u = n; w = 7; return w; }
            int main(void) { f(2); return 0; }",
        asks: &[
            ("F f::w == 2", "h"),
            ("G f::w != 1", "v"),
            ("F G f::w == 7", "h"),
            ("G (f::n == 0 -> u == 0)", "h"),
            ("G (f::w == 7 -> G f::w == 7)", "v"),
        ],
    },
    Trap {
        // Of the first call only the effect on u is left, which nobody asks for.
        name: "a function that matters for its result, once",
        program: "int x, u; int f(int k) { u = k; return k; } int main(void) { f(5); x = f(1); return 0; }",
        asks: &[("F x == 1", "h"), ("G x != 5", "h"), ("G u != 5", "v"), ("F G u == 1", "h")],
    },
    Trap {
        // f gives no value, so that it may be any; the run that is shown has to choose one.
        name: "a result that nobody gives",
        program: "int x, u; int f(int k) { } void *a(void *p) { u = f(f(2)) ? 1 : 0; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_join(t, 0); x = u; return 0; }",
        asks: &[("G x == 0", "v"), ("F x == 1", "v"), ("F end", "h"), ("F G call(f)", "v")],
    },
    Trap {
        // The pointer may point to each of the two, and points to b.
        name: "which function is called through a pointer",
        program: "int x, u; void a(int n) { x = n; } void b(int n) { u = n; } void (*f)(int) = a;
            int main(void) { f = b; f(u + 1); return 0; }",
        asks: &[
            ("G !call(a)", "h"),
            ("G !call(b)", "v"),
            ("F call(b)", "h"),
            ("G x == 0", "h"),
            ("F (call(b) && u == 0)", "h"),
            ("F G u == 1", "h"),
        ],
    },
    Trap {
        // The other thread may set the pointer before the call, not after it has been read.
        name: "a function that another thread chooses",
        program: "int x; void a(int n) { x = n; } void b(int n) { while (1) ; } void (*f)(int) = a;
            void *t1(void *p) { f = b; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, t1, 0); f(x + 1); x = x + 1; return 0; }",
        asks: &[
            ("G !call(a)", "v"),
            ("G !call(b)", "v"),
            ("G !(call(a) && call(b))", "h"),
            ("F x == 2", "v"),
            ("G (call(b) -> G x == 0)", "h"),
            ("G (call(a) -> F x == 2)", "h"),
        ],
    },
    Trap {
        // At the end of the thread there is nothing to be destroyed.
        name: "a destructor that is not called",
        program: "int x; pthread_key_t k; void gone(void *p) { x = 1; } void other(void *p) { x = 2; }
            void *t1(void *p) { if (p) pthread_setspecific(k, p); return 0; }
            int main(void) { pthread_t t; pthread_key_create(&k, x ? other : gone);
                pthread_create(&t, 0, t1, (void *)0); pthread_join(t, 0); return 0; }",
        asks: &[("G !call(gone)", "h"), ("G !call(other)", "h"), ("G x == 0", "h"), ("F end", "h")],
    },
    Trap {
        name: "a destructor that is called",
        program: "int x; pthread_key_t k; void gone(void *p) { x = 1; } void other(void *p) { x = 2; }
            void *t1(void *p) { if (p) pthread_setspecific(k, p); return 0; }
            int main(void) { pthread_t t; pthread_key_create(&k, x ? other : gone);
                pthread_create(&t, 0, t1, (void *)5); pthread_join(t, 0); return 0; }",
        asks: &[("G !call(gone)", "v"), ("G !call(other)", "h"), ("F x == 1", "h"), ("F end", "h")],
    },
    Trap {
        name: "an end of the process through a pointer",
        program: "int x; void a(void) { x = 1; } void (*f)(void) = a;
            void *t1(void *p) { f = abort; f(); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, t1, 0); x = 2; x = 3; pthread_join(t, 0); x = 4; return 0; }",
        asks: &[("F x == 3", "v"), ("G x != 4", "h"), ("G !call(abort)", "v"), ("F end", "h"), ("G !call(a)", "h")],
    },
    Trap {
        name: "a static local",
        program: "int x; int next(void) { static int n; n = n + 1; return n; }
            int main(void) { next(); x = next(); return 0; }",
        asks: &[("F x == 2", "h"), ("G x != 2", "v"), ("F next::n == 2", "h"), ("G x != 1", "h")],
    },
    Trap {
        name: "another element of the array",
        program: "int a[2]; int main(void) { a[0] = 2; a[1] = 1; return 0; }",
        asks: &[("G a[1] != 2", "h"), ("F a[1] == 1", "h"), ("memory", "h")],
    },
    Trap {
        // The index is not known.
        name: "some element of the array",
        program: "int a[2]; int main(void) { int i = __VERIFIER_nondet_bool(); a[i] = 2; return 0; }",
        asks: &[("G a[1] == 0", "v"), ("F a[0] == 2", "v"), ("F (a[0] == 2 || a[1] == 2)", "h")],
    },
    Trap {
        // The index is counted by a loop that asks for nothing observed.
        name: "an index that a loop has counted",
        program: "int a[3]; int main(void) { int i = 0; while (i < 2) i++; a[i] = 1; return 0; }",
        asks: &[("F a[2] == 1", "h"), ("G a[1] == 0", "h"), ("memory", "h")],
    },
    Trap {
        name: "the neighbour of a field, and the whole struct",
        program: "struct s { int f; int g; } s, t; int main(void) { s.g = 2; s.f = 1; t.f = 3; t.g = 4; s = t; return 0; }",
        asks: &[("G s.f != 2", "h"), ("F s.f == 1", "h"), ("F G s.f == 3", "h"), ("G s.g != 4", "v")],
    },
    Trap {
        name: "the other member of a union",
        program: "union { int i; unsigned char c; } v; int x; int main(void) { v.i = 2; v.c = 1; x = v.i; return 0; }",
        asks: &[("F x == 1", "h"), ("G x != 2", "h")],
    },
    Trap {
        name: "an argument that comes back as the result of the thread",
        program: "int x; void *a(void *p) { return p; }
            int main(void) { pthread_t t; void *r = 0; pthread_create(&t, 0, a, (void *)3); pthread_join(t, &r);
                x = (int)(long)r; return 0; }",
        asks: &[("F x == 3", "h"), ("G x == 0", "v")],
    },
    Trap {
        // By return or by pthread_exit.
        name: "a result that says how the thread ended",
        program: "int x, u; void *a(void *p) { if (u) pthread_exit((void *)1); return (void *)2; }
            int main(void) { pthread_t t; void *r = 0; pthread_create(&t, 0, a, 0); u = 1; pthread_join(t, &r);
                x = (int)(long)r; return 0; }",
        asks: &[("F x == 1", "v"), ("F x == 2", "v"), ("F (x == 1 || x == 2)", "h")],
    },
    Trap {
        name: "a value under a key",
        program: "int x, u = 3; pthread_key_t k;
            int main(void) { pthread_key_create(&k, 0); pthread_setspecific(k, &u); int *p = pthread_getspecific(k); x = *p;
                return 0; }",
        asks: &[("F x == 3", "h"), ("G x == 0", "v")],
    },
    Trap {
        // At the end of the thread the destructor runs, as the value is not null.
        name: "the destructor of a key",
        program: "int x, u; pthread_key_t k; void gone(void *p) { x = 1; }
            void *a(void *p) { pthread_setspecific(k, &u); return 0; }
            int main(void) { pthread_t t; pthread_key_create(&k, gone); pthread_create(&t, 0, a, 0); pthread_join(t, 0); return 0; }",
        asks: &[("F x == 1", "h"), ("G x == 0", "v"), ("G (terminated(a) -> x == 1)", "h")],
    },
    Trap {
        name: "once",
        program: "int x; pthread_once_t o; void init(void) { x = x + 1; } void *a(void *p) { pthread_once(&o, init); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_once(&o, init); pthread_join(t, 0); return 0; }",
        asks: &[("G x != 2", "h"), ("F x == 1", "h"), ("F G x == 1", "h")],
    },
    Trap {
        // Nothing is read or written through p.
        name: "a pointer that is only compared",
        program: "int x, u, w; int main(void) { int *p = &w; if (__VERIFIER_nondet_bool()) p = &u; if (p == &u) x = 1; return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("G u == 0", "h")],
    },
    Trap {
        name: "a function pointer",
        program: "int x, u; void set(void) { x = 1; } void no(void) { u = 1; } void (*f)(void) = no;
            int main(void) { if (__VERIFIER_nondet_bool()) f = set; f(); return 0; }",
        asks: &[("F x == 1", "v"), ("G x == 0", "v"), ("F (x == 1 || u == 1)", "h"), ("G !(x == 1 && u == 1)", "h")],
    },
    Trap {
        // The call on the right side happens only if u is set, and what it does matters.
        name: "an operand that is not always evaluated",
        program: "int x, u; int f(void) { x = 1; return 0; }
            int main(void) { u = __VERIFIER_nondet_bool(); if (u && f()) u = 3; return 0; }",
        asks: &[("F x == 1", "v"), ("G (x == 1 -> u == 1)", "h"), ("F call(f)", "v")],
    },
    Trap {
        name: "a block of the heap",
        program: "int x; int main(void) { int *p = malloc(sizeof(int)); *p = 1; x = *p; free(p); return 0; }",
        asks: &[("F x == 1", "h"), ("G x == 0", "v"), ("memory", "h")],
    },
    Trap {
        // The block is gone when the other thread reads it.
        name: "a block that is freed elsewhere",
        program: "int x; void *a(void *p) { x = *(int *)p; return 0; }
            int main(void) { pthread_t t; int *p = malloc(sizeof(int)); *p = 1; pthread_create(&t, 0, a, p); free(p);
                pthread_join(t, 0); return 0; }",
        asks: &[("memory", "v"), ("G x != 2", "u"), ("G x == 0", "v")],
    },
    Trap {
        // What is read depends on where the other thread is.
        name: "a value that goes through other variables",
        program: "int x, u, w; void *a(void *p) { u = 1; w = u; u = 2; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = w; pthread_join(t, 0); return 0; }",
        asks: &[("G x != 2", "h"), ("G x != 1", "v"), ("F x == 1", "v")],
    },
    Trap {
        // A thread-local variable, of the innermost thread; a parameter that is written.
        name: "a parameter that is changed in the callee",
        program: "int x, u; int f(int k) { k = k + 1; u = k; return k; } int main(void) { int k = 1; f(k); x = k; return 0; }",
        asks: &[("F x == 1", "h"), ("G x != 2", "h"), ("F f::k == 2", "h")],
    },
    Trap {
        // The write is undone in one branch only.
        name: "a value by the branch that was taken",
        program: "int x, u; void *a(void *p) { u = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); int r = 0; if (u) r = 1; else r = 2; x = r; return 0; }",
        asks: &[("F x == 1", "v"), ("F x == 2", "v"), ("F x != 0", "h")],
    },
    Trap {
        // The input is squared, and only a sample of it is tried; a slice without it may know more.
        name: "an input that nobody observes",
        program: "int x, u; int main(void) { int n = __VERIFIER_nondet_int(); u = n * n; if (u == 3) u = 4; x = 1; return 0; }",
        asks: &[("G x != 2", "u"), ("G x == 0", "v")],
    },
    Trap {
        // The result of trylock says who was first.
        name: "the result of a trylock",
        program: "int x; pthread_mutex_t m; void *a(void *p) { pthread_mutex_lock(&m); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); if (pthread_mutex_trylock(&m)) x = 1; else x = 2; return 0; }",
        asks: &[("F x == 1", "v"), ("F x == 2", "v"), ("F x != 0", "h")],
    },
    Trap {
        // One of two is the serial thread.
        name: "the result of a barrier",
        program: "int x; pthread_barrier_t b; void *a(void *p) { pthread_barrier_wait(&b); return 0; }
            int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, a, 0);
                if (pthread_barrier_wait(&b)) x = 1; else x = 2; pthread_join(t, 0); return 0; }",
        asks: &[("F x == 1", "v"), ("F x == 2", "v"), ("F x != 0", "h")],
    },
    Trap {
        // A thread compares itself with the handle that main has stored.
        name: "the number of a thread, after an unrelated create",
        program: "int x, u; pthread_t s, t; void *a(void *p) { u = 1; return 0; }
            void *b(void *p) { if (pthread_self() == s) x = 1; else x = 2; return 0; }
            int main(void) { pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0); pthread_join(t, 0); return 0; }",
        asks: &[("F x == 2", "h"), ("G x != 1", "h")],
    },
    Trap {
        // Nobody waits for the end of main, but with it `v` is gone.
        name: "a variable of a thread that has ended",
        program: "int x; void *a(void *p) { int *q = p; x = *q; return 0; }
            int main(void) { int v = 0; pthread_t t; pthread_create(&t, 0, a, &v); pthread_exit(0); }",
        asks: &[("memory", "v"), ("G x != 1", "u")],
    },
    Trap {
        // Nobody waits for the return either.
        name: "a variable of a function that has returned",
        program: "int x; int *p; void *a(void *q) { int *l = p; if (l) x = *l; return 0; }
            void f(void) { int v = 1; p = &v; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); f(); pthread_join(t, 0); return 0; }",
        asks: &[("memory", "v"), ("G x != 2", "u")],
    },
    Trap {
        // A second call makes another `v` where the first one was.
        name: "a variable of a function that is called twice",
        program: "int x; int *p; void *a(void *q) { int *l = p; if (l) x = *l; return 0; }
            void f(int n) { int v = n; p = &v; p = 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); f(1); f(2); return 0; }",
        asks: &[("memory", "v"), ("G x != 2", "v"), ("G x != 3", "u")],
    },
];
