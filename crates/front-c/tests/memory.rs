//! Pointers, structs, unions, the heap, floating point: what the runs of programs can do.

mod runs;

use pdnet_front_c::LowerOptions;

const PRELUDE: &str = include_str!("runs/memory.h");

/// Each row: a name, the program, and what its runs can do: `fails`, `deadlocks`, names of faults, `bounds`,
/// or `fine` for none of these.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        "a pointer to a local",
        "int main(void) { int x = 1; int *p = &x; *p = 2; A(x == 2); return 0; }",
        "fine",
    ),
    (
        "a field",
        "struct s { int a, b; } g; int main(void) { g.a = 1; g.b = 2; A(g.a == 1 && g.b == 2); return 0; }",
        "fine",
    ),
    (
        "a field through a pointer",
        "struct s { int a, b; } g; int main(void) { struct s *p = &g; p->b = 3; A(g.b == 3 && g.a == 0); return 0; }",
        "fine",
    ),
    (
        "a pointer to a field",
        "struct s { int a, b; } g; int main(void) { int *p = &g.b; *p = 3; A(g.b == 3 && g.a == 0); return 0; }",
        "fine",
    ),
    (
        "an array of structs",
        "struct s { char c; int a[2]; } g[3]; int main(void) { int i = 2; g[i].a[1] = 7; struct s *p = g; p += 2; A(p->a[1] == 7 && p - g == 2); return 0; }",
        "fine",
    ),
    ("an index outside", "int g[3]; int main(void) { int i = 3; g[i] = 1; return 0; }", "out-of-bounds"),
    (
        "a pointer outside",
        "int g[3]; int main(void) { int *p = g; p += 3; *p = 1; return 0; }",
        "invalid-pointer",
    ),
    (
        "one behind the end is fine",
        "int g[3]; int main(void) { int n = 0; for (int *p = g; p < g + 3; p++) n++; A(n == 3); return 0; }",
        "fine",
    ),
    ("null", "int main(void) { int *p = 0; *p = 1; return 0; }", "null-pointer"),
    (
        "a list",
        "struct n { int v; struct n *next; }; int main(void) { struct n *head = 0; for (int i = 0; i < 3; i++) { struct n *x = malloc(sizeof *x); x->v = i; x->next = head; head = x; } int s = 0; while (head) { s = s * 10 + head->v; struct n *d = head; head = head->next; free(d); } A(s == 210); return 0; }",
        "fine",
    ),
    (
        "use after free",
        "int main(void) { int *p = malloc(sizeof(int)); *p = 1; free(p); return *p; }",
        "dangling",
    ),
    ("double free", "int main(void) { int *p = malloc(4); free(p); free(p); return 0; }", "invalid-free"),
    ("free of a local", "int main(void) { int x; free(&x); return 0; }", "invalid-free"),
    ("free of null", "int main(void) { free(0); return 0; }", "fine"),
    ("free in the middle", "int main(void) { int *p = malloc(8); free(p + 1); return 0; }", "invalid-free"),
    (
        "a new block may be at the old address",
        "int *f(void) { return malloc(4); } int main(void) { int *p = f(); free(p); int *q = f(); A(p != q); return 0; }",
        "fails",
    ),
    (
        "a new block may be at another address",
        "int *f(void) { return malloc(4); } int main(void) { int *p = f(); free(p); int *q = f(); *q = 1; return *p; }",
        "dangling",
    ),
    ("reading what malloc gave", "int main(void) { int *p = malloc(4); return *p; }", "uninitialised"),
    (
        "reading what calloc gave",
        "int main(void) { int *p = calloc(2, 4); A(p[1] == 0); p[1] = 4; A(p[0] == 0 && p[1] == 4); return 0; }",
        "fine",
    ),
    (
        "a block of unknown size",
        "int main(void) { int n = __VERIFIER_nondet_int(); if (n != 3) return 0; int *p = malloc(n * sizeof(int)); p[2] = 1; A(p[2] == 1); p[3] = 1; return 0; }",
        "invalid-pointer",
    ),
    (
        "realloc",
        "int main(void) { int *p = malloc(4); *p = 5; p = realloc(p, 8); p[1] = 6; A(p[0] == 5 && p[1] == 6); free(p); return 0; }",
        "fine",
    ),
    (
        "a struct as a value",
        "struct s { int a; char b[2]; }; struct s f(struct s x) { x.a++; x.b[1] = 3; return x; } int main(void) { struct s s = { 1, { 1, 2 } }; struct s t = f(s); A(s.a == 1 && s.b[1] == 2 && t.a == 2 && t.b[0] == 1 && t.b[1] == 3); return 0; }",
        "fine",
    ),
    (
        "designated initialisers",
        "struct s { int a, b; int c[3]; }; struct s g = { .b = 4, .c[1] = 5 }; int main(void) { struct s l = { .c = { [2] = 7 }, .a = 1 }; A(g.a == 0 && g.b == 4 && g.c[1] == 5 && l.a == 1 && l.c[2] == 7 && l.c[0] == 0); return 0; }",
        "fine",
    ),
    (
        "nested structs",
        "struct i { int x; }; struct o { struct i in; struct i *p; } g = { { 3 }, 0 }; int main(void) { g.p = &g.in; g.p->x++; A(g.in.x == 4); return 0; }",
        "fine",
    ),
    (
        "bit-fields",
        "struct b { unsigned a : 3; int s : 2; unsigned c : 5; } g; int main(void) { g.a = 9; g.s = 3; g.c = 17; A(g.a == 1 && g.s == -1 && g.c == 17); g.a++; A(g.a == 2 && g.c == 17); return 0; }",
        "fine",
    ),
    (
        "a union",
        "union u { int i; unsigned char c[4]; } g; int main(void) { g.i = 0x01020304; A(g.c[0] == 4 && g.c[3] == 1); g.c[1] = 0xff; A(g.i == 0x0102ff04); return 0; }",
        "fine",
    ),
    (
        "a union through a pointer",
        "union u { long l; int i[2]; } g; int main(void) { union u *p = &g; p->l = 0x100000002l; int k = 1; A(p->i[0] == 2 && p->i[k] == 1); return 0; }",
        "fine",
    ),
    (
        "bytes of an object",
        "int x = 0x01020304; int main(void) { unsigned char *p = (unsigned char *)&x; A(p[0] == 4 && p[3] == 1); p[2] = 0; A(x == 0x01000304); return 0; }",
        "fine",
    ),
    (
        "a string",
        "int f(const char *s) { int n = 0; while (*s++) n++; return n; } int main(void) { char b[] = \"ab\"; A(f(\"abc\") == 3 && f(b) == 2 && b[1] == 'b'); return 0; }",
        "fine",
    ),
    (
        "two dimensions",
        "int m[2][3]; int main(void) { int (*r)[3] = m; r[1][2] = 5; int i = 1, j = 2; A(m[i][j] == 5 && *(m[1] + 2) == 5 && m[0][2] == 0); return 0; }",
        "fine",
    ),
    (
        "pointers to pointers",
        "int x, y; int main(void) { int *p = &x; int **q = &p; **q = 1; *q = &y; **q = 2; A(x == 1 && y == 2); return 0; }",
        "fine",
    ),
    (
        "out parameters",
        "void f(int *a, int *b) { *a = 1; *b = 2; } int main(void) { int x, y; f(&x, &y); A(x + y == 3); return 0; }",
        "fine",
    ),
    (
        "an out parameter that stays unset",
        "void f(int *a) { } int main(void) { int x; f(&x); return x; }",
        "uninitialised",
    ),
    (
        "swap in recursion",
        "int f(int n, int *r) { int l = n; if (n > 0) f(n - 1, &l); *r += l; return 0; } int main(void) { int s = 0; f(2, &s); A(s == 3); return 0; }",
        "fine",
    ),
    (
        "a pointer to a frame that is gone",
        "int *g; void f(void) { int x = 1; g = &x; } int main(void) { f(); return *g; }",
        "dangling",
    ),
    (
        "a function pointer",
        "int f(int a) { return a + 1; } int h(int a) { return a * 2; } int main(void) { int (*p)(int) = f; int x = p(3); p = &h; A(x == 4 && (*p)(3) == 6); return 0; }",
        "fine",
    ),
    (
        "a table of functions",
        "int f(void) { return 1; } int h(void) { return 2; } int (*const t[2])(void) = { f, h }; int main(void) { int s = 0; for (int i = 0; i < 2; i++) s += t[i](); A(s == 3); return 0; }",
        "fine",
    ),
    ("a null function", "int main(void) { void (*p)(void) = 0; p(); return 0; }", "null-pointer"),
    (
        "an integer in a pointer",
        "void *f(void *a) { A((long)a == 7); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, (void *)7l); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "an address as a number",
        "int x; int main(void) { long a = (long)&x; return a % 8; }",
        "address-as-number",
    ),
    (
        "unrelated pointers",
        "int x, y; int main(void) { int *p = &x, *q = &y; return p < q; }",
        "unrelated-pointers",
    ),
    (
        "an argument on the heap",
        "struct a { int n; }; int g; void *f(void *p) { struct a *a = p; g = a->n; free(a); return 0; } int main(void) { pthread_t t; struct a *a = malloc(sizeof *a); a->n = 5; pthread_create(&t, 0, f, a); pthread_join(t, 0); A(g == 5); return 0; }",
        "fine",
    ),
    (
        "a local shared with a thread",
        "void *f(void *p) { int *x = p; *x = *x + 1; return 0; } int main(void) { int x = 0; pthread_t t; pthread_create(&t, 0, f, &x); x = x + 1; pthread_join(t, 0); A(x == 2); return 0; }",
        "fails",
    ),
    (
        "a lost update on a field",
        "struct c { int n; } c; void *f(void *p) { struct c *x = p; x->n++; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, &c); c.n++; pthread_join(t, 0); A(c.n == 2); return 0; }",
        "fails",
    ),
    (
        "a lock through a pointer",
        "struct c { pthread_mutex_t m; int n; } c; void *f(void *p) { struct c *x = p; pthread_mutex_lock(&x->m); x->n++; pthread_mutex_unlock(&x->m); return 0; } int main(void) { pthread_t t; pthread_mutex_init(&c.m, 0); pthread_create(&t, 0, f, &c); f(&c); pthread_join(t, 0); A(c.n == 2); return 0; }",
        "fine",
    ),
    (
        "a lock on the heap",
        "struct c { int n; pthread_mutex_t m; }; void *f(void *p) { struct c *x = p; pthread_mutex_lock(&x->m); x->n++; pthread_mutex_unlock(&x->m); return 0; } int main(void) { pthread_t t; struct c *c = malloc(sizeof *c); c->n = 0; pthread_mutex_init(&c->m, 0); pthread_create(&t, 0, f, c); f(c); pthread_join(t, 0); A(c->n == 2); free(c); return 0; }",
        "fine",
    ),
    (
        "a condition in a struct",
        "struct c { int ready; pthread_mutex_t m; pthread_cond_t c; } c[2]; void *f(void *p) { struct c *x = p; pthread_mutex_lock(&x->m); x->ready = 1; pthread_cond_signal(&x->c); pthread_mutex_unlock(&x->m); return 0; } int main(void) { pthread_t t; int i = 1; pthread_create(&t, 0, f, &c[i]); pthread_mutex_lock(&c[1].m); while (!c[1].ready) pthread_cond_wait(&c[1].c, &c[1].m); pthread_mutex_unlock(&c[1].m); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a signal to another condition",
        "struct c { int ready; pthread_mutex_t m; pthread_cond_t c; } c[2]; void *f(void *p) { struct c *x = p; pthread_mutex_lock(&x->m); x->ready = 1; pthread_cond_signal(&(x - 1)->c); pthread_mutex_unlock(&x->m); return 0; } int main(void) { pthread_t t; int i = 1; pthread_create(&t, 0, f, &c[i]); pthread_mutex_lock(&c[1].m); while (!c[1].ready) pthread_cond_wait(&c[1].c, &c[1].m); pthread_mutex_unlock(&c[1].m); return 0; }",
        "deadlocks",
    ),
    (
        "handles on the heap",
        "int n; void *f(void *p) { return p; } int main(void) { pthread_t *t = malloc(2 * sizeof(pthread_t)); for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); free(t); return 0; }",
        "fine",
    ),
    (
        "a thread that starts in a pointer",
        "int g; void *f(void *p) { g = 1; return 0; } void *h(void *p) { g = 2; return 0; } int main(void) { void *(*s)(void *) = h; pthread_t t; pthread_create(&t, 0, s, 0); pthread_join(t, 0); A(g == 2); return 0; }",
        "fine",
    ),
    (
        "the result of a thread is a pointer",
        "int x = 3; void *f(void *p) { return &x; } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, 0); pthread_join(t, &r); A(*(int *)r == 3); return 0; }",
        "fine",
    ),
    (
        "memset and memcpy",
        "struct s { int a; char b[3]; } g, h; int main(void) { g.a = 5; g.b[2] = 1; memcpy(&h, &g, sizeof(g)); A(h.a == 5 && h.b[2] == 1); memset(&g, 0, sizeof g); A(g.a == 0 && g.b[2] == 0); char c[4]; memset(c, 1, sizeof c); A(c[3] == 1); return 0; }",
        "fine",
    ),
    (
        "double",
        "int main(void) { double d = 1.5; float f = 0.1f; d = d * 2 - 0.5; A(d == 2.5 && d > 2 && (int)d == 2 && f != 0.1 && !(f > 1)); int i = 3; d = i; A(d / 2 == 1.5); return 0; }",
        "fine",
    ),
    (
        "a compound literal",
        "struct s { int a, b; }; int f(struct s *p) { return p->a + p->b; } int main(void) { A(f(&(struct s){ 1, 2 }) == 3); return 0; }",
        "fine",
    ),
    ("shifts", "int main(void) { int n = 40; return 1 << n; }", "shift"),
    (
        "the least number by minus one",
        "int main(void) { int n = __VERIFIER_nondet_int(), m = -1; if (n != -2147483647 - 1) return 0; return n / m; }",
        "overflow",
    ),
    (
        "a struct with an uninitialised part",
        "struct s { int a, b; }; int main(void) { struct s s; s.a = 1; return s.b; }",
        "uninitialised",
    ),
    (
        "a copy of a struct with an uninitialised part",
        "struct s { int a, b; }; int main(void) { struct s s; s.a = 1; struct s t = s; struct s *p = &t; A(p->a == 1 && t.a == 1); return 0; }",
        "fine",
    ),
    (
        "an uninitialised part of a copy",
        "struct s { int a, b; }; int main(void) { struct s s; s.a = 1; struct s t = s; struct s *p = &t; return p->b; }",
        "uninitialised",
    ),
    (
        "memcpy of an array that is partly set",
        "int main(void) { int a[3], b[3]; b[1] = 3; memcpy(a, b, sizeof a); A(a[1] == 3); return 0; }",
        "fine",
    ),
    (
        "what memcpy copied unset",
        "int main(void) { int a[3], b[3]; b[1] = 3; memcpy(a, b, sizeof a); return a[2]; }",
        "uninitialised",
    ),
    (
        "a struct that is partly set, as an argument",
        "struct s { int a, b; }; int f(struct s s) { return s.a; } int main(void) { struct s s; s.a = 0; return f(s); }",
        "unwritten-copy",
    ),
    (
        "thread-local",
        "_Thread_local int n; void *f(void *p) { n++; A(n == 1); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); n++; A(n == 1); int *q = &n; A(*q == 1); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a static local",
        "int f(void) { static int n; return ++n; } int main(void) { f(); A(f() == 2); return 0; }",
        "fine",
    ),
    (
        "conditional pointers",
        "int x, y; int main(void) { int c = __VERIFIER_nondet_int(); int *p = c ? &x : &y; *p = 1; A(x + y == 1 && (c != 0) == x); return 0; }",
        "fine",
    ),
    (
        "a block for each thread",
        "void *f(void *p) { int *x = malloc(4); *x = 1; A(*x == 1); free(x); return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_join(t, 0); pthread_join(u, 0); return 0; }",
        "fine",
    ),
    ("too many blocks", "int main(void) { for (int i = 0; i < 40; i++) malloc(4); return 0; }", "bounds"),
    (
        "an array of variable length",
        "int f(int n) { int a[n]; for (int i = 0; i < n; i++) a[i] = i; int *p = a; return p[n - 1]; } int main(void) { A(f(3) == 2 && f(1) == 0); return 0; }",
        "fine",
    ),
    (
        "outside of an array of variable length",
        "int main(void) { int n = 3; int a[n]; a[n] = 1; return 0; }",
        "out-of-bounds",
    ),
    (
        "a pointer outside of an array of variable length",
        "int main(void) { int n = 3; int a[n], *p = a; p[3] = 1; return 0; }",
        "invalid-pointer",
    ),
    (
        "strings",
        "size_t strlen(const char *); char *strcpy(char *, const char *); char *strcat(char *, const char *); int strcmp(const char *, const char *); char *strdup(const char *); int main(void) { char b[8]; strcpy(b, \"ab\"); strcat(b, \"cd\"); A(strlen(b) == 4 && strcmp(b, \"abcd\") == 0 && strcmp(b, \"abd\") < 0); char *d = strdup(b); A(d[3] == 'd' && d[4] == 0); free(d); return 0; }",
        "fine",
    ),
    (
        "a string that is too long",
        "char *strcpy(char *, const char *); int main(void) { char b[2]; strcpy(b, \"ab\"); return 0; }",
        "invalid-pointer",
    ),
    (
        "a part of an array is copied",
        "int a[4] = { 1, 2, 3, 4 }, b[4]; int main(void) { int n = 2; memcpy(b + 1, a, n * sizeof(int)); A(b[0] == 0 && b[1] == 1 && b[2] == 2 && b[3] == 0); memset(a, 0, n * sizeof(int)); A(a[1] == 0 && a[2] == 3); return 0; }",
        "fine",
    ),
    (
        "a block of a bounded size",
        "int main(void) { int n = __VERIFIER_nondet_int(); if (n < 1 || n > 3) return 0; int *p = malloc(n * sizeof(int)); for (int i = 0; i < n; i++) p[i] = i; int s = 0; for (int i = 0; i < n; i++) s += p[i]; A(s == n * (n - 1) / 2); free(p); return 0; }",
        "fine",
    ),
    (
        "a block of more elements than there is room for otherwise",
        "int main(void) { const int n = 100; int *p = malloc(n * sizeof(int)); p[99] = 1; A(p[99] == 1); p[100] = 1; return 0; }",
        "invalid-pointer",
    ),
    (
        "a size that a parameter brings",
        "int *f(int n, int k) { return malloc((n + k) * sizeof(int)); } int main(void) { int *p = f(70, 2), *q = f(80, 1); p[71] = 1; q[80] = 2; A(p[71] == 1 && q[80] == 2); p[72] = 1; return 0; }",
        "invalid-pointer",
    ),
    (
        "realloc to a size that is assigned",
        "int main(void) { size_t n = 4; int *p = malloc(n * sizeof(int)); p[3] = 5; n = 90; p = realloc(p, n * sizeof(int)); p[89] = 6; A(p[3] == 5 && p[89] == 6); free(p); return 0; }",
        "fine",
    ),
    (
        "a size that grows again and again",
        "int main(void) { int n = 1; int *p = 0; for (int i = 0; i < 8; i++) { n = n * 2; free(p); p = malloc(n * sizeof(int)); } p[100] = 1; return 0; }",
        "bounds",
    ),
    (
        "an array of locks on the heap",
        "int x; void *f(void *a) { pthread_mutex_t *m = a; pthread_mutex_lock(m + 1); x++; pthread_mutex_unlock(&m[1]); return 0; } int main(void) { pthread_t t; int n = 2; pthread_mutex_t *m = malloc(n * sizeof *m); for (int i = 0; i < n; i++) pthread_mutex_init(&m[i], 0); pthread_create(&t, 0, f, m); pthread_mutex_lock(&m[1]); x++; pthread_mutex_unlock(m + 1); pthread_join(t, 0); A(x == 2); m = realloc(m, 3 * sizeof *m); return 0; }",
        "fine",
    ),
    ("an assertion without a header", "int x; int main(void) { x = 1; assert(x == 2); return 0; }", "fails"),
];

/// Programs that read memory which was never written, with arbitrary values there.
const UNSET: &[(&str, &str, &str)] = &[
    (
        "what malloc gave is anything",
        "int main(void) { int *p = malloc(4); A(*p != 1234); return 0; }",
        "fails",
    ),
    (
        "what malloc gave is one value",
        "int main(void) { int *p = malloc(4); int x = *p; A(x == *p); return 0; }",
        "fine",
    ),
    (
        "what malloc gave is of its type",
        "int main(void) { unsigned char *p = malloc(2); _Bool *b = malloc(1); A(p[1] <= 255 && (*b == 0 || *b == 1)); return 0; }",
        "fine",
    ),
    (
        "a bool looked at as a byte",
        "int main(void) { _Bool *b = malloc(1); unsigned char c = *(unsigned char *)b; A(c < 2 && *b == c); return 0; }",
        "fine",
    ),
    (
        "a local whose address is taken",
        "int main(void) { int x, *p = &x; if (*p == 77) reach_error(); return 0; }",
        "fails",
    ),
    (
        "an element of an array is anything, its neighbour is not",
        "int main(void) { int a[3]; a[1] = 5; A(a[1] == 5); A(a[2] != 9); return 0; }",
        "fails",
    ),
    (
        "a written element stays what it is",
        "int main(void) { int a[3]; a[1] = 5; int s = a[0] > a[2]; A(a[1] == 5 && s <= 1); return 0; }",
        "fine",
    ),
    (
        "a local is new in each turn",
        "int main(void) { for (int i = 0; i < 2; i++) { int x; int *p = &x; if (i == 0) *p = 5; if (i == 1) A(x != 5); } return 0; }",
        "fails",
    ),
    ("an increment", "int main(void) { int *p = malloc(4); ++*p; A(*p != 3); return 0; }", "fails"),
    (
        "an atomic increment",
        "int main(void) { _Atomic int x; _Atomic int *p = &x; x += 2; A(*p != 5); return 0; }",
        "fails",
    ),
    (
        "a compound assignment",
        "int main(void) { int *p = malloc(8); p[1] = 2; p[0] -= p[1]; A(p[0] != 6 && p[1] == 2); return 0; }",
        "fails",
    ),
    (
        "a block that is freed and allocated again",
        "int *f(void) { return malloc(4); } int main(void) { int *p = f(); *p = 5; free(p); p = f(); A(*p == 5 || *p == 0); return 0; }",
        "fails",
    ),
    (
        "a pointer stays without a meaning",
        "int main(void) { int **p = malloc(8); return **p; }",
        "uninitialised",
    ),
    (
        "what is not read need not be written",
        "int main(void) { int *p = malloc(8); p[0] = 1; A(p[0] == 1); return 0; }",
        "fine",
    ),
    (
        "one of two blocks",
        "int main(void) { int *p = malloc(4), *q = malloc(4), *r; *q = 3; r = __VERIFIER_nondet_int() ? p : q; A(*q == 3); A(*r == 3 || r == p); return 0; }",
        "fine",
    ),
    (
        "an argument that is partly set",
        "struct s { int a, b; char *p; }; int f(struct s s) { return s.a; } int main(void) { struct s s; s.a = 4; A(f(s) == 4); return 0; }",
        "fine",
    ),
    (
        "the part of an argument that is not set",
        "struct s { int a, b; }; int f(struct s s) { return s.b; } int main(void) { struct s s; s.a = 4; A(f(s) != 12); return 0; }",
        "fails",
    ),
    (
        "a pointer in an argument that is not set",
        "struct s { int a; int *p; }; int f(struct s s) { return s.p == 0; } int main(void) { struct s s; s.a = 4; A(!f(s)); return 0; }",
        "fails",
    ),
    (
        "the pointer is the same in the copy and in the original",
        "struct s { int a; int *p; }; int f(struct s s, struct s *o) { return (s.p == 0) == (o->p == 0); } int main(void) { struct s s; s.a = 4; A(f(s, &s)); return 0; }",
        "fine",
    ),
    (
        "a result that is partly set",
        "struct s { int a, b; }; struct s f(void) { struct s s; s.a = 4; return s; } int main(void) { struct s t = f(); A(t.a == 4); A(t.b != 12); return 0; }",
        "fails",
    ),
    (
        "a copy to a static object",
        "struct s { int a; _Bool b; } g; int main(void) { struct s s; s.a = 4; g = s; A(g.a == 4); A(g.b == 0 || g.b == 1); A(g.b); return 0; }",
        "fails",
    ),
    (
        "a copy of a copy",
        "struct s { int a, b; } g; int main(void) { struct s s, *h = malloc(sizeof *h); s.a = 4; *h = s; g = *h; A(g.a == 4 && h->a == 4); A(g.b != 3); return 0; }",
        "fails",
    ),
    (
        "bytes of an unset object are copied one by one",
        "struct s { int a, b; }; int main(void) { struct s s, t; s.a = 4; int n = sizeof s; memcpy(&t, &s, n); A(t.a == 4 && t.b == s.b); return 0; }",
        "fine",
    ),
    ("a union", "union u { int i; char c; }; int main(void) { union u u; A(u.c != 7); return 0; }", "fails"),
    (
        "a bit-field",
        "struct b { unsigned a : 3; } ; int main(void) { struct b *b = malloc(sizeof *b); A(b->a < 8); A(b->a != 5); return 0; }",
        "fails",
    ),
    (
        "a condition",
        "int main(void) { int *p = malloc(4); int x = 1; if (x && *p) reach_error(); return 0; }",
        "fails",
    ),
    (
        "another thread writes before, or not",
        "int *p; void *f(void *a) { *p = 1; return 0; } int main(void) { pthread_t t; p = malloc(4); pthread_create(&t, 0, f, 0); int x = *p; pthread_join(t, 0); A(*p == 1); A(x == 1 || x != 6); return 0; }",
        "fails",
    ),
];

#[test]
fn memory_that_was_never_written_has_any_value() {
    let options =
        LowerOptions { max_threads: 8, max_depth: 12, arbitrary_memory: true, ..LowerOptions::default() };
    check(UNSET, &options);
    // Whoever does not need such values does the same as without them.
    let needs_none = |(.., expected): &&(&str, &str, &str)| {
        !["uninitialised", "unwritten-copy"].iter().any(|fault| expected.contains(fault))
    };
    let others: Vec<(&str, &str, &str)> = PROGRAMS.iter().filter(needs_none).copied().collect();
    check(&others, &options);
}

/// Where nobody asks for values, every such read ends the run, and with the check it is a fault in any case.
#[test]
fn what_needs_a_value_that_was_never_written_is_known() {
    for uninitialised in [false, true] {
        let options =
            LowerOptions { max_threads: 8, max_depth: 12, uninitialised, ..LowerOptions::default() };
        for (name, text, _) in UNSET {
            if name.starts_with("what is not read") || name.starts_with("one of two blocks") {
                continue;
            }
            let text = text.replace("A(", "__pdnet_assert(");
            let lowered = runs::lowered(PRELUDE, &text, &[], &options).expect("a program");
            let found = runs::explore(&lowered).words();
            assert!(found.contains("uninitialised") || found.contains("unwritten-copy"), "{name}: {found}");
        }
    }
}

#[test]
fn programs_do_what_they_should() {
    check(PROGRAMS, &LowerOptions { max_threads: 8, max_depth: 12, ..LowerOptions::default() });
}

fn check(programs: &[(&str, &str, &str)], options: &LowerOptions) {
    let mut wrong = Vec::new();
    for (name, text, expected) in programs {
        let text = text.replace("A(", "__pdnet_assert(");
        let found = match runs::lowered(PRELUDE, &text, &[], options) {
            Ok(lowered) => runs::explore(&lowered).words(),
            Err(error) => error,
        };
        if found != *expected {
            wrong.push(format!("{name}: expected {expected}, found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
