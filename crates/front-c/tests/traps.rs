//! Corners of C's memory: programs that a careless model gets wrong. Those whose runs are fine are compiled and
//! run as well where there is a compiler, so that no row is more lenient than C.

mod runs;

use std::fmt::Write as _;
use std::process::Command;

use pdnet_front_c::types::DataModel;
use pdnet_front_c::{LowerOptions, Options};

const PRELUDE: &str = include_str!("runs/memory.h");

/// Each row: a name, the program, and what its runs can do, as in `memory.rs`.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        "the struct and its first field have one address",
        "struct s { int a, b; } g; int main(void) { int *p = (int *)&g; *p = 3; A(g.a == 3); A((void *)&g == (void *)&g.a); p[1] = 4; A(g.b == 4); return 0; }",
        "fine",
    ),
    (
        "a pointer to an array and one to its element",
        "int a[2][3]; int main(void) { int (*r)[3] = a; int (*w)[2][3] = &a; int *e = &a[1][0]; r[1][2] = 5; e[1] = 4; (*w)[0][1] = 3; A(a[1][2] == 5 && a[1][1] == 4 && *(*a + 1) == 3); A((void *)(r + 1) == (void *)e && (char *)(w + 1) - (char *)w == 24); return 0; }",
        "fine",
    ),
    (
        "a row through a flat pointer",
        "int a[2][3]; int main(void) { int *p = &a[0][0]; for (int i = 0; i < 6; i++) p[i] = i; A(a[1][2] == 5 && a[1][0] == 3); return 0; }",
        "fine",
    ),
    (
        "negative indices",
        "int a[4]; int main(void) { int *p = a + 3; p[-1] = 7; *(p - 2) = 6; int i = -3; p[i] = 5; A(a[2] == 7 && a[1] == 6 && a[0] == 5); return 0; }",
        "fine",
    ),
    (
        "unions in arrays in structs",
        "struct s { char t; union { int i; unsigned char c[4]; short h[2]; } u[2]; } g[2]; int main(void) { int k = 1; g[k].u[k].i = 0x01020304; struct s *p = g; A(p[1].u[1].c[0] == 4 && p[k].u[1].h[1] == 0x0102); p[k].u[k].h[0] = -1; A(g[1].u[1].i == 0x0102ffff && g[1].u[0].i == 0 && g[0].u[1].i == 0); return 0; }",
        "fine",
    ),
    (
        "wide bit-fields",
        "struct b { unsigned long long a : 64; long long s : 40; unsigned long long r : 24; int : 0; int x : 5; } g; int main(void) { g.a = -1ull; g.s = -5; g.r = 0x1ffffff; g.x = 17; A(g.a == 0xffffffffffffffffull && g.s == -5 && g.r == 0xffffff && g.x == -15); struct b *p = &g; p->s = 1ll << 39; A(p->s < 0 && p->r == 0xffffff); p->s++; p->r += 2; A(p->s == -(1ll << 39) + 1 && p->r == 1); return 0; }",
        "fine",
    ),
    (
        "zero width ends a unit",
        "struct b { char a : 3; int : 0; char c : 3; } g; int main(void) { g.a = 3; g.c = -2; unsigned char *p = (unsigned char *)&g; A((p[4] & 7) == 6 && (p[0] & 7) == 3 && g.a == 3); return 0; }",
        "fine",
    ),
    (
        "packed",
        "struct __attribute__((packed)) p { char c; int i; short s; } g[2]; int main(void) { A(sizeof(struct p) == 7); g[1].i = 0x01020304; g[1].s = -1; unsigned char *b = (unsigned char *)g; A(b[8] == 4 && b[11] == 1 && b[12] == 255); struct p *q = &g[1]; q->i++; A(q->i == 0x01020305 && b[8] == 5); return 0; }",
        "fine",
    ),
    (
        "aligned",
        "struct s { char c; int i __attribute__((aligned(16))); } g; int main(void) { A(sizeof g == 32); g.i = 3; int *p = (int *)((char *)&g + 16); A(*p == 3); return 0; }",
        "fine",
    ),
    (
        "a flexible array member",
        "struct f { int n; int d[]; }; int main(void) { struct f *p = malloc(sizeof *p + 3 * sizeof(int)); p->n = 3; for (int i = 0; i < p->n; i++) p->d[i] = i * i; A(p->d[2] == 4 && p->d[0] == 0 && p->n == 3); free(p); return 0; }",
        "fine",
    ),
    (
        "a flexible array of characters",
        "struct f { int n; char d[]; }; int main(void) { int n = 3; struct f *p = malloc(sizeof(struct f) + n); p->n = n; p->d[0] = 'a'; p->d[2] = 'c'; char *q = p->d; A(q[2] == 'c' && p->n == 3); free(p); return 0; }",
        "fine",
    ),
    (
        "beyond a flexible array",
        "struct f { int n; int d[]; }; int main(void) { struct f *p = malloc(sizeof *p + 2 * sizeof(int)); p->d[2] = 1; return 0; }",
        "invalid-pointer",
    ),
    (
        "by way of void pointers",
        "struct s { int a; double d; } g; int main(void) { void *v = &g; struct s *p = v; p->d = 2.5; const void *c = p; A(((const struct s *)c)->d == 2.5); void **w = &v; *w = &g.a; *(int *)v = 4; A(g.a == 4); return 0; }",
        "fine",
    ),
    (
        "the container of a field",
        "struct l { struct l *next; }; struct o { int v; struct l link; int w; } a = { 1, { 0 }, 2 }, b = { 3, { 0 }, 4 }; struct l *head; int main(void) { a.link.next = head; head = &a.link; b.link.next = head; head = &b.link; int s = 0; for (struct l *p = head; p; p = p->next) { struct o *o = (struct o *)((char *)p - __builtin_offsetof(struct o, link)); s = s * 10 + o->v * o->w; o->w = 0; } A(s == 122 && a.w == 0 && b.w == 0); return 0; }",
        "fine",
    ),
    (
        "a common prefix",
        "struct base { int kind; }; struct a { struct base b; int x; }; struct c { struct base b; char y; }; int get(struct base *p) { return p->kind == 1 ? ((struct a *)p)->x : ((struct c *)p)->y; } int main(void) { struct a a = { { 1 }, 5 }; struct c c = { { 2 }, 7 }; A(get(&a.b) == 5 && get((struct base *)&c) == 7); return 0; }",
        "fine",
    ),
    (
        "a struct through another of the same shape",
        "struct a { int k; int x; }; struct b { int k; int y; }; int main(void) { struct a *p = malloc(sizeof *p); p->k = 1; p->x = 2; struct b *q = (struct b *)p; A(q->k == 1 && q->y == 2); q->y = 3; A(p->x == 3); free(q); return 0; }",
        "fine",
    ),
    (
        "self-assignment",
        "struct s { int a[2]; char c; } g = { { 1, 2 }, 3 }; int main(void) { struct s *p = &g, *q = &g; *p = *p; *p = *q; int *e = &g.a[1]; *e = *e; A(g.a[0] == 1 && g.a[1] == 2 && g.c == 3); return 0; }",
        "fine",
    ),
    (
        "the next of the old",
        "struct n { struct n *next; int v; } b = { 0, 2 }, a = { &b, 1 }; int main(void) { struct n *p = &a; p = p->next; A(p == &b && p->v == 2); struct n *q = (p = &a)->next; A(q->v == 2); p->next->next = p; p = p->next->next->next; A(p == &b); return 0; }",
        "fine",
    ),
    (
        "the value of an assignment whose target decides the way",
        "int a[4] = { 0, 5, 6, 7 }; int main(void) { int x = 2; int y = (a[a[0]] = x); A(y == 2 && a[0] == 2); a[0] = 0; y = ++a[a[0]]; A(y == 1); a[0] = 0; y = (a[a[0]] += x); A(y == 2 && a[2] == 6); a[0] = 1; y = a[a[0]]++; A(y == 5 && a[1] == 6); return 0; }",
        "fine",
    ),
    (
        "a pointer that is overwritten through itself",
        "struct n { struct n *p; int v; } a, b; int main(void) { a.p = &a; a.v = 1; b.v = 2; b.p = &b; struct n *q = (a.p->p = &b); A(q == &b && a.p == &b); void *v = &v; void *w = (*(void **)v = &a); A(w == &a && v == &a); return 0; }",
        "fine",
    ),
    (
        "the address of what is assigned",
        "int f(int *p) { *p += 2; return *p * 10; } int main(void) { int x = 1; x = f(&x); A(x == 30); int a[2] = { 1, 2 }; a[1] = f(a); A(a[0] == 3 && a[1] == 30); return 0; }",
        "fine",
    ),
    (
        "calls on both sides",
        "int a[3] = { 1, 2, 3 }, n; int *f(void) { n++; return &a[1]; } int g(void) { n *= 2; return 10; } int main(void) { *f() += g(); A(a[1] == 12); A(n == 1 || n == 2); f()[1] = g(); A(a[2] == 10); (*f())++; A(a[1] == 13); return 0; }",
        "fine",
    ),
    (
        "calls with struct results inside each other",
        "struct v { int x, y; }; struct v mk(int x, int y) { struct v v = { x, y }; return v; } struct v sum(struct v a, struct v b) { return mk(a.x + b.x, a.y + b.y); } int main(void) { A(sum(sum(mk(1, 2), mk(3, 4)), mk(5, 6)).y == 12); struct v w = sum(mk(1, 1), mk(2, 2)); w = sum(w, w); A(w.x == 6); A(mk(7, 8).x == 7); return 0; }",
        "fine",
    ),
    (
        "the result of a call has arrays",
        "struct v { int a[3]; }; struct v mk(int x) { struct v v = { { x, x + 1, x + 2 } }; return v; } int main(void) { int i = 2; A(mk(4).a[i] == 6); struct v v[2]; v[1] = mk(1); v[0] = v[1]; A(v[0].a[1] == 2); return 0; }",
        "fine",
    ),
    (
        "checks before use",
        "struct s { int x; struct s *n; } g = { 3, 0 }; int main(void) { struct s *p = 0; A(!(p && p->x)); p = &g; A(p && p->x == 3 && !(p->n && p->n->x)); int r = p->n ? p->n->x : -1; A(r == -1); A(!p->n || p->n->x); return 0; }",
        "fine",
    ),
    (
        "conditional structs",
        "struct s { int a, b; } x = { 1, 2 }, y = { 3, 4 }; int main(void) { int c = __VERIFIER_nondet_int(); struct s z = c ? x : y; A(z.a == (c ? 1 : 3) && z.b == z.a + 1); A((c ? x : y).b == z.b); return 0; }",
        "fine",
    ),
    (
        "statement expressions",
        "struct s { int a; } g = { 3 }; int main(void) { int x = ({ int t = g.a; t *= 2; t + 1; }); A(x == 7); struct s s = ({ struct s t = g; t.a++; t; }); A(s.a == 4); int *p = ({ int *q = &x; *q = 1; q; }); A(*p == 1); return 0; }",
        "fine",
    ),
    (
        "locals of loops",
        "int main(void) { int s = 0; for (int i = 0; i < 3; i++) { int x = i; int *p = &x; int a[2] = { 0 }; a[1] += i; *p += a[1]; s += x + a[0]; } A(s == 6); return 0; }",
        "fine",
    ),
    (
        "recursion with pointers to locals",
        "int f(int n, int *out) { int mine = n; if (n == 0) { *out = 1; return 0; } int r = f(n - 1, &mine); *out = mine + 10; return r + mine; } int main(void) { int x = 0; int r = f(3, &x); A(x == 31 && r == 1 + 11 + 21); return 0; }",
        "fine",
    ),
    (
        "a chain of frames",
        "struct f { struct f *up; int v; }; int sum(struct f *p) { int s = 0; while (p) { s += p->v; p = p->up; } return s; } int g(struct f *up, int n) { struct f me = { up, n }; return n ? g(&me, n - 1) : sum(&me); } int main(void) { A(g(0, 3) == 6); return 0; }",
        "fine",
    ),
    (
        "a pointer to a local that is gone, left in the caller's local",
        "void f(int **pp) { int x = 1; *pp = &x; } int main(void) { int *p; f(&p); return *p; }",
        "dangling",
    ),
    (
        "a thread that outlives the frame",
        "void *t(void *p) { *(int *)p = 1; return 0; } void f(void) { pthread_t h; int x = 0; pthread_create(&h, 0, t, &x); } int main(void) { f(); return 0; }",
        "dangling",
    ),
    (
        "static locals by address",
        "int *f(void) { static int n; n++; return &n; } int main(void) { int *p = f(); f(); A(*p == 2 && p == f()); *p = 9; A(*f() == 10); return 0; }",
        "fine",
    ),
    (
        "constant tables",
        "static const struct { const char *n; int v; } t[] = { { \"one\", 1 }, { \"two\", 2 }, { 0, 0 } }; int look(char c) { for (int i = 0; t[i].n; i++) if (t[i].n[0] == c) return t[i].v; return -1; } int main(void) { A(look('t') == 2 && look('o') == 1 && look('x') == -1); return 0; }",
        "fine",
    ),
    (
        "rows as parameters",
        "int sum(int m[][3], int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) s += m[i][j]; return s; } int main(void) { int a[2][3] = { { 1, 2 }, { [1] = 3, 4 } }; A(sum(a, 2) == 10 && sum(a + 1, 1) == 7); return 0; }",
        "fine",
    ),
    (
        "function pointers in structs and arrays",
        "int add(int a, int b) { return a + b; } int sub(int a, int b) { return a - b; } struct ops { int (*f[2])(int, int); int n; } o = { { add, sub }, 2 }; int main(void) { int s = 0; for (int i = 0; i < o.n; i++) s = s * 10 + o.f[i](5, 2); A(s == 73); struct ops *p = &o; p->f[0] = p->f[1]; A((*p->f[0])(5, 2) == 3 && p->f[0] == sub); return 0; }",
        "fine",
    ),
    (
        "callbacks with a context",
        "struct ctx { int sum; int scale; }; void each(int *a, int n, void (*f)(int, void *), void *c) { while (n-- > 0) f(*a++, c); } void acc(int x, void *c) { struct ctx *k = c; k->sum += x * k->scale; } int main(void) { int a[3] = { 1, 2, 3 }; struct ctx k = { .scale = 2 }; each(a, 3, acc, &k); A(k.sum == 12); return 0; }",
        "fine",
    ),
    (
        "functions of many types in one struct",
        "struct big { int a[2]; }; int log_; void ini(void) { log_ = 1; } int get(int x) { return x + 1; } struct big mk(int x) { struct big b = { { x, x + 1 } }; return b; } int sum(struct big b) { return b.a[0] + b.a[1]; } double half(double d) { return d / 2; } struct ops { void (*ini)(void); int (*get)(int); struct big (*mk)(int); int (*sum)(struct big); double (*half)(double); } o = { ini, get, mk, sum, half }; int main(void) { struct ops *p = &o; p->ini(); A(log_ == 1 && p->get(3) == 4 && p->sum(p->mk(2)) == 5 && p->half(3) == 1.5); o.get = 0; return 0; }",
        "fine",
    ),
    (
        "a block of characters of unknown size as storage",
        "int main(void) { int n = 12; char *m = malloc(n); int *p = (int *)m; p[2] = 5; m[4] = 1; A(m[8] == 5 && m[9] == 0); struct s { char c; short h; } *q = (struct s *)(m + 4); q->h = 7; A(m[6] == 7 && q->c == 1); free(m); return 0; }",
        "fine",
    ),
    (
        "an object that is smaller than what it is seen as",
        "struct job { int k, v; }; int id = 1; int use(void *p) { struct job *j = p; return j->k == 1 ? 0 : j->v; } int main(void) { struct job j = { 2, 5 }; A(use(&id) == 0 && use(&j) == 5); struct job *b = (struct job *)&id; return b->v; }",
        "invalid-pointer",
    ),
    (
        "a library function through a pointer",
        "void (*release)(void *) = free; int main(void) { int *p = malloc(4); release(p); return 0; }",
        "error[unsupported]",
    ),
    ("a function that is null", "void (*f)(void); int main(void) { f(); return 0; }", "null-pointer"),
    (
        "unions of pointers and numbers",
        "union u { int *p; long l; void *v; } g; int x = 3; int main(void) { g.p = &x; A(*g.p == 3 && g.v == &x); *(int *)g.v = 4; A(x == 4); g.l = 5; A(g.l == 5); return 0; }",
        "fine",
    ),
    (
        "fields of enumerations and truth values",
        "enum e { P = -1, Q, R = 300 }; struct s { enum e e; _Bool b; unsigned char c; } g; int main(void) { g.e = R; g.b = 256; g.c = 256; struct s *p = &g; A(p->e == 300 && p->b == 1 && p->c == 0); _Bool *q = &p->b; *q = 0; A(!p->b); *q = 2; A(g.b == 1); (*q)--; A(*q == 0); --*q; A(*q == 1); *q += 7; A(g.b == 1); *q = 0.5; A(*q == 1); return 0; }",
        "fine",
    ),
    (
        "truncation through pointers",
        "short s; signed char c; unsigned short u; int main(void) { short *p = &s; *p = 70000; A(s == 4464 && *p == 4464); signed char *q = &c; *q = 200; A(c == -56); *q += 100; A(c == 44); unsigned short *r = &u; *r = -1; A(u == 65535); ++*r; A(u == 0); *r -= 1; A(u == 65535); return 0; }",
        "fine",
    ),
    (
        "signs through pointers",
        "int x; unsigned *p = (unsigned *)&x; char c; long l; int main(void) { *p = 0xffffffffu; A(x == -1 && x < 0 && *p > 0); x = -2; A(*p == 0xfffffffeu); unsigned char *q = (unsigned char *)&c; *q = 200; A(c == -56); *(unsigned long *)&l = -1ul; A(l == -1); *p -= 1; A(x == -3); return 0; }",
        "fine",
    ),
    (
        "volatile",
        "volatile struct { volatile int a; int b[2]; } g; int main(void) { volatile int *p = &g.a; *p = 1; g.a; *p; g.b[*p]++; A(g.a == 1 && g.b[1] == 1); return 0; }",
        "fine",
    ),
    (
        "bytes of a pointer",
        "int x = 3; int main(void) { int *p = &x, *q; for (unsigned i = 0; i < sizeof p; i++) ((char *)&q)[i] = ((char *)&p)[i]; A(*q == 3 && p == q); return 0; }",
        "fine",
    ),
    (
        "copying a struct of which a part was never written",
        "struct s { int a, b; }; int main(void) { struct s *p = malloc(sizeof *p), *q = malloc(sizeof *q); p->a = 1; *q = *p; A(q->a == 1); struct s l, m; l.a = 2; m = l; A(m.a == 2); return 0; }",
        "fine",
    ),
    (
        "a function that was lowered before the local that it writes",
        "struct s { int a, b; }; void set(struct s *p) { p->a = 1; } void h(void) { struct s s; set(&s); A(s.a == 1); } int main(void) { struct s t; set(&t); h(); A(t.a == 1); return 0; }",
        "fine",
    ),
    (
        "packed bit-fields",
        "struct __attribute__((packed)) p { unsigned a : 30, b : 26, c : 8; unsigned char d : 4, e : 8; } g; int main(void) { g.a = 5; g.b = 0x2aaaaaa; g.c = 0xa5; g.d = 3; g.e = 0xf1; struct p *p = &g; A(sizeof g == 10 && p->a == 5 && p->b == 0x2aaaaaa && p->c == 0xa5 && p->d == 3 && p->e == 0xf1); p->c++; A(g.b == 0x2aaaaaa && g.c == 0xa6 && g.d == 3); return 0; }",
        "fine",
    ),
    (
        "bit-fields in a union, as a whole",
        "struct b { int a : 3; unsigned c : 20; }; union u { struct b b; unsigned w[3]; } u; int main(void) { struct b b = { -1, 0x12345 }; u.w[2] = 7; u.b = b; A((u.w[0] & 0x7fffff) == (7 | 0x12345 << 3) && u.w[2] == 7); union u *p = &u; p->b.a = 2; b = p->b; A(b.a == 2 && b.c == 0x12345); return 0; }",
        "fine",
    ),
    (
        "realloc of what calloc gave",
        "int main(void) { int *p = calloc(2, sizeof(int)); p = realloc(p, 4 * sizeof(int)); A(p[0] == 0 && p[1] == 0); p[3] = 1; p = realloc(p, sizeof(int)); A(*p == 0); free(p); return 0; }",
        "fine",
    ),
    (
        "realloc does not initialise",
        "int main(void) { int *p = calloc(2, sizeof(int)); p = realloc(p, 4 * sizeof(int)); return p[2]; }",
        "uninitialised",
    ),
    (
        "realloc of a struct",
        "struct s { int a; char b; }; int main(void) { struct s *p = malloc(sizeof *p); p->a = 1; p->b = 2; p = realloc(p, 2 * sizeof *p); p[1].a = 3; p[1].b = 4; A(p[0].a == 1 && p[0].b == 2 && p[1].b == 4); free(p); return 0; }",
        "fine",
    ),
    (
        "realloc of null",
        "int main(void) { int *p = 0; int n = 0; for (int i = 0; i < 3; i++) { p = realloc(p, (n + 1) * sizeof *p); p[n++] = i + 5; } A(p[0] == 5 && p[1] == 6 && p[2] == 7); free(p); return 0; }",
        "fine",
    ),
    (
        "a block for two types, one after the other",
        "int main(void) { void *v = malloc(8); int *p = v; p[1] = 3; A(p[1] == 3); long *q = v; *q = 5; A(*q == 5); free(v); return 0; }",
        "fine",
    ),
    (
        "a block that is cut in pieces",
        "struct h { int n; }; int main(void) { char *m = malloc(16); struct h *h = (struct h *)m; h->n = 7; double *d = (double *)(m + 8); *d = 1.5; A(h->n == 7 && *d == 1.5); free(m); return 0; }",
        "fine",
    ),
    (
        "an allocator behind a function",
        "void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; } struct s { int a; struct s *n; }; int main(void) { struct s *p = xmalloc(sizeof *p); int *q = xmalloc(3 * sizeof *q); p->a = 1; p->n = 0; q[2] = 2; A(p->a + q[2] == 3 && !p->n); free(p); free(q); return 0; }",
        "fine",
    ),
    (
        "a buffer of characters as storage",
        "char buf[16]; struct h { int n; char c; }; int main(void) { struct h *h = (struct h *)buf; h->n = 0x10203; h->c = 4; A(buf[0] == 3 && h->n == 0x10203 && buf[4] == 4); buf[1] = 9; A(h->n == 0x10903); long *l = (long *)(buf + 8); *l = -1; A(buf[15] == -1); return 0; }",
        "fine",
    ),
    (
        "a part that is not what it is seen as, by way of void",
        "struct s { int n; long l; } s; int main(void) { void *v = &s; int *p = v; *p = 1; v = &s.l; p = v; *p = 2; return 0; }",
        "mixed-access",
    ),
    (
        "a large buffer as storage has no model",
        "char buf[256]; int main(void) { int *p = (int *)buf; *p = 1; A(buf[0] == 1); return 0; }",
        "mixed-access",
    ),
    (
        "beyond a buffer",
        "char buf[16]; int main(void) { int *p = (int *)buf; p[4] = 1; return 0; }",
        "invalid-pointer",
    ),
    (
        "a block and its size",
        "int main(void) { char *m = malloc(12); int *p = (int *)m; p[2] = 1; long *q = (long *)m; *q = 2; q[1] = 3; return 0; }",
        "invalid-pointer",
    ),
    (
        "numbers as pointers",
        "int main(void) { void *p = (void *)5; A((long)p == 5 && p != 0); p = (void *)(long)-1; A((long)p == -1 && (int)(long)p == -1); A(p == (void *)-1); return 0; }",
        "fine",
    ),
    (
        "the offset of a field by hand",
        "struct s { char c; int i; long l; }; int main(void) { A((size_t)&((struct s *)0)->l == 8 && __builtin_offsetof(struct s, i) == 4); struct s s, *p = &s; A((char *)&p->l - (char *)p == 8); return 0; }",
        "fine",
    ),
    (
        "anonymous parts",
        "struct s { int t; union { int i; float f; struct { short lo, hi; }; }; } g = { 1, { 0x20001 } }; int main(void) { A(g.lo == 1 && g.hi == 2); g.f = 1.0f; A(g.i == 0x3f800000); struct s h = { .hi = 3 }; A(h.i == 0x30000); struct s *p = &h; p->lo = -1; A(p->i == 0x3ffff); return 0; }",
        "fine",
    ),
    (
        "a struct in a union, as a whole",
        "struct p { short x; char y; int z; }; union u { struct p p; long long l[2]; char b[9]; } u; int main(void) { struct p q = { 1, 2, 3 }; u.p = q; A(u.l[0] == 0x300000001ll + (2ll << 16)); A(u.p.z == 3 && u.b[2] == 2); u.b[4] = 9; q = u.p; A(q.z == 9 && q.x == 1); union u v = u; A(v.p.y == 2); return 0; }",
        "fine",
    ),
    (
        "initialisers of unions and bit-fields",
        "union o { unsigned b : 3; } o = { 9 - 8 }; union u { char c; int i; } a = { 5 }, b = { .i = 0x102 }; struct f { unsigned x : 4, y : 4; _Bool t : 1; signed z : 3; } f = { 3, 12, 1, -2 }; int main(void) { A(o.b == 1 && a.i == 5 && b.c == 2); A(f.x == 3 && f.y == 12 && f.t && f.z == -2); struct f g = { .y = 7, .t = 5 }; A(g.x == 0 && g.y == 7 && g.t == 1 && g.z == 0); f = g; A(f.y == 7 && f.z == 0); return 0; }",
        "fine",
    ),
    (
        "addresses in initialisers",
        "int a[3] = { 1, 2, 3 }; struct s { int *p; struct s *n; char *t; double d; }; struct s x = { a + 1, &x, \"hi\" + 1, 1.0 / 4 }, y = { &a[2], &x, (char *)&a[1], -2 }; int main(void) { A(*x.p == 2 && *y.p == 3 && x.n == &x && *x.t == 'i' && x.d == 0.25 && y.d == -2.0 && *y.t == 2 && y.n->n->p == x.p); return 0; }",
        "fine",
    ),
    (
        "characters and strings",
        "char s[] = \"ab\\377\", t[8] = \"xy\"; char *u = \"ab\" \"cd\"; int main(void) { A(sizeof s == 4 && s[2] == -1 && t[2] == 0 && t[7] == 0 && u[3] == 'd' && u[4] == 0); char l[] = \"hey\"; l[0]++; A(l[0] == 'i'); char *p = t; while (*u) *p++ = *u++; A(t[3] == 'd' && p - t == 4); A(\"abc\"[1] == 'b'); return 0; }",
        "fine",
    ),
    (
        "conversions of floating values",
        "int main(void) { float f = 16777217; A(f == 16777216.0f); double d = 0.1f; A(d != 0.1 && (float)0.1 == 0.1f); int i = -7; d = i / 2.0; A(d == -3.5 && (int)d == -3); unsigned u = 4000000000u; d = u; A(d == 4e9 && (unsigned)d == 4000000000u); unsigned long long b = 1ull << 63; d = b; A(d > 9e18 && (unsigned long long)d == b); i += 1.5; A(i == -5); f = 1; f /= 3; A(f != 1.0 / 3 && f == 1.0f / 3); A(f ? !0.0 : 0); d = -0.0; A(!d && 1 / d < 0); d = 0.0 / (d + 0.0 * 0); A(d != d && !(d < d) && !(d >= d)); unsigned char c = 200.7; A(c == 200); f++; --d; A(f > 1.33f); return 0; }",
        "fine",
    ),
    (
        "the value is read before the target is written",
        "int main(void) { int a[3] = { 2, 0, 1 }; int i = 0; i = a[i]; A(i == 2); i = a[a[a[i]]]; A(i == 0 || i == 1 || i == 2); int *p = a; *p = *(p + *p); A(a[0] == 1); int x = 1; int *q = &x; *q = *q + *q; x = *q + x; A(x == 4); return 0; }",
        "fine",
    ),
    (
        "commas and steps in the way",
        "int a[4], n; int *next(void) { return &a[n++]; } int main(void) { int i = 0; int *p = a; *p++ = 1; *p++ = 2; *++p = 4; A(p - a == 3 && a[0] == 1 && a[1] == 2 && a[3] == 4); a[(i = 2, i)] = 3; A(a[2] == 3); *next() = *(next(), p) + (i++, i); A(a[0] == 7 || a[1] == 7); A((p = a, *p) == a[0]); int y = (n = 5) ? (n++, n) : 0; A(y == 6); return 0; }",
        "fine",
    ),
    (
        "switch on a field through a pointer",
        "struct s { unsigned char k; } g = { 200 }; int main(void) { struct s *p = &g; int r = 0; switch (p->k) { case 200: r = 1; p->k++; case 3: r += 2; break; default: r = 9; } A(r == 3 && g.k == 201); switch ((signed char)p->k) { case -55: r = 4; } A(r == 4); return 0; }",
        "fine",
    ),
    (
        "loops through pointers",
        "int main(void) { int a[5] = { 5, 3, 4, 1, 2 }; for (int *p = a; p != a + 5; ++p) for (int *q = p; q > a && q[-1] > q[0]; q--) { int t = *q; *q = q[-1]; q[-1] = t; } for (int i = 0; i < 5; i++) A(a[i] == i + 1); return 0; }",
        "fine",
    ),
    (
        "pointers to pointers",
        "int x, y; int main(void) { int *p = &x; int **pp = &p; int ***ppp = &pp; **pp = 1; *pp = &y; ***ppp = 2; A(x == 1 && y == 2 && *p == 2); int *arr[2] = { &x, &y }; int **q = arr; *q[1] = 5; *++q = &x; A(y == 5 && *arr[1] == 1); return 0; }",
        "fine",
    ),
    (
        "deleting from a list through a pointer to the link",
        "struct n { int v; struct n *next; }; int main(void) { struct n *head = 0, **t = &head; for (int i = 0; i < 4; i++) { struct n *x = malloc(sizeof *x); *x = (struct n){ i, 0 }; *t = x; t = &x->next; } for (struct n **p = &head; *p;) { if ((*p)->v % 2) { struct n *d = *p; *p = d->next; free(d); } else p = &(*p)->next; } A(head->v == 0 && head->next->v == 2 && !head->next->next); return 0; }",
        "fine",
    ),
    (
        "a struct with an array by value",
        "struct s { int a[3]; }; int f(struct s s, int *p) { s.a[0] = 9; p[1] = 8; return s.a[0] + s.a[1]; } int main(void) { struct s s = { { 1, 2, 3 } }; A(f(s, s.a) == 11 && s.a[0] == 1 && s.a[1] == 8); struct s t[2] = { s, { { 4 } } }; A(t[0].a[1] == 8 && t[1].a[0] == 4 && t[1].a[2] == 0); return 0; }",
        "fine",
    ),
    (
        "parameters as objects",
        "int f(int n, int *q) { int *p = &n; *p += *q; return n; } int g(int a[3]) { a++; return *a; } int main(void) { int x = 2; A(f(3, &x) == 5); int b[3] = { 1, 2, 3 }; A(g(b) == 2); return 0; }",
        "fine",
    ),
    (
        "mixed sizes of one object",
        "long long x = 0x0102030405060708ll; int main(void) { int *p = (int *)&x; A(p[0] == 0x05060708 && p[1] == 0x01020304); p[1] = -1; A(x == -1ll << 32 | 0x05060708); short *s = (short *)&x; s[3] = 0; A(x == 0x0000ffff05060708ll); return 0; }",
        "fine",
    ),
    (
        "a wide view of narrow objects",
        "struct s { int a, b; } g = { 1, 2 }; unsigned char c[4] = { 1, 2, 3, 4 }; int main(void) { long *p = (long *)&g; A(*p == 0x200000001l); *p = 0x300000004l; A(g.a == 4 && g.b == 3); unsigned *q = (unsigned *)c; A(*q == 0x04030201u); return 0; }",
        "fine",
    ),
    (
        "the bits of a float",
        "int main(void) { float f = 1.5f; unsigned u = *(unsigned *)&f; A(u == 0x3fc00000u); *(unsigned *)&f = 0x40000000u; A(f == 2.0f); double d = 0; unsigned long *p = (unsigned long *)&d; *p = 0x3ff8000000000000ul; A(d == 1.5); return 0; }",
        "fine",
    ),
    (
        "ways around an address",
        "struct s { int a, b[2]; } s; int main(void) { (&s)->a = 1; (*&s).b[1] = 2; int *p = &*&s.b[0]; (&s.b)[0][0] = 3; A(s.a == 1 && p[1] == 2 && *p == 3 && &s.b[0] == s.b && *&p[1] == 2); int x = 0, y = 0; *(s.a ? &x : &y) = 5; A(x == 5 && !y); (s.a ? &s : &s)->a++; A(s.a == 2); 1[s.b] = 7; A(s.b[1] == 7); return 0; }",
        "fine",
    ),
    (
        "functions that give pointers",
        "struct s { int x; struct s *n; } a = { 1, 0 }; struct s *f(void) { static struct s s = { 5, &a }; return &s; } int main(void) { f()->x++; f()->n->x = 3; A(f()->x == 6 && a.x == 3); struct s t = *f(); A(t.x == 6); *f() = a; A(f()->x == 3 && !f()->n); return 0; }",
        "fine",
    ),
    (
        "functions that give functions",
        "int inc(int x) { return x + 1; } int dec(int x) { return x - 1; } typedef int (*fn)(int); fn pick(int c) { return c ? inc : dec; } int (*pick2(int c))(int) { return pick(!c); } int app(fn f, int x) { return f(x); } int main(void) { A(pick(1)(3) == 4 && pick2(1)(3) == 2 && app(pick(0), app(inc, 1)) == 1); fn t[2][2] = { { inc, dec }, { dec } }; A(t[0][1](0) == -1 && t[1][1] == 0 && (***t[1])(1) == 0); return 0; }",
        "fine",
    ),
    (
        "chains of assignments",
        "struct b { unsigned f : 3; signed g : 2; _Bool h : 1; } s; int main(void) { int a; char c; unsigned char u; a = c = 300; A(a == 44 && c == 44); a = u = -1; A(a == 255); a = s.f = 9; A(a == 1); a = s.g = 3; A(a == -1); a = s.h = 4; A(a == 1); a = s.f++; A(a == 1 && s.f == 2); s.f = 7; a = ++s.f; A(a == 0); a = s.f--; A(a == 0 && s.f == 7); a = (s.g += 3); A(a == -2 && s.g == -2); double d; a = d = 2.75; A(a == 2 && d == 2.75); float f; d = f = 0.1; A(d != 0.1 && d == 0.1f); return 0; }",
        "fine",
    ),
    (
        "designated ranges and strings",
        "struct s { char n[4]; int v[4]; } g = { \"abc\", { [1 ... 2] = 5 } }, h[2] = { [1] = { .n = \"x\", .v[3] = 7 } }; const char *names[] = { \"x\", \"yy\", [3] = \"z\" }; int main(void) { A(g.n[3] == 0 && g.v[1] == 5 && g.v[2] == 5 && g.v[3] == 0 && h[1].n[0] == 'x' && h[1].v[3] == 7 && h[0].v[3] == 0); A(sizeof names / sizeof *names == 4 && names[1][1] == 'y' && names[2] == 0 && *names[3] == 'z'); struct s l = { .v = { 1, 2 }, .v[0] = 9, .n = { 'q' } }; A(l.v[0] == 9 && l.v[1] == 2 && l.n[1] == 0); return 0; }",
        "fine",
    ),
    (
        "initialisers that are overridden",
        "struct s { int a; unsigned b : 4, c : 4; } g = { 1, 2, 3, .b = 5, .a = 7 }; union u { int i; char c[4]; } u = { .i = -1, .c = { 1 } }; int main(void) { A(g.a == 7 && g.b == 5 && g.c == 3); struct s l = { .c = 9, .b = 8, .c = 1 }; A(l.b == 8 && l.c == 1); A(u.c[0] == 1 && u.c[1] == 0); int a[3] = { 1, 2, [0] = 5, 6 }; A(a[0] == 5 && a[1] == 6); return 0; }",
        "fine",
    ),
    (
        "compound literals in loops",
        "struct s { int a, b; }; int sum(const struct s *p) { return p->a + p->b; } int main(void) { int t = 0; for (int i = 0; i < 3; i++) { struct s *p = &(struct s){ i, 1 }; p->a++; t += sum(p) + sum(&(struct s){ .b = i }); int *q = (int[]){ i, i + 1, 5 }; q[0] += q[1]; t += q[0]; } A(t == 2 + 3 + 4 + 3 + 9); return 0; }",
        "fine",
    ),
    (
        "goto over blocks",
        "int main(void) { int n = 0, s = 0; again: { int x = n; int *p = &x; *p += 1; s += x; } if (++n < 3) goto again; A(s == 6); return 0; }",
        "fine",
    ),
    (
        "blocks of arrays",
        "int main(void) { int (*p)[2] = malloc(3 * sizeof *p); for (int i = 0; i < 3; i++) for (int j = 0; j < 2; j++) p[i][j] = i * 10 + j; A(p[2][1] == 21 && (*(p + 1))[0] == 10 && p[1] - p[0] == 2); free(p); struct s { int a[2]; char c; } *q = malloc(2 * sizeof(struct s)); q[1].a[1] = 4; q[1].c = 5; struct s *r = &q[1]; A(r->a[1] == 4 && r - q == 1); free(q); return 0; }",
        "fine",
    ),
    (
        "blocks of pointers",
        "struct n { int v; } a = { 1 }; int main(void) { struct n **t = calloc(4, sizeof *t); A(!t[2]); t[2] = &a; t[2]->v = 7; A(a.v == 7 && t[2] != 0 && !t[3]); t[0] = malloc(sizeof **t); t[0]->v = 2; A(t[0]->v == 2); free(t[0]); free(t); return 0; }",
        "fine",
    ),
    (
        "nothing twice",
        "int main(void) { int *p = malloc(4); free(p); p = 0; free(p); p = malloc(8); *p = 1; free(p); return 0; }",
        "fine",
    ),
    (
        "a list that is popped by reference",
        "struct n { struct n *next; int v; }; void push(struct n **h, int v) { struct n *x = malloc(sizeof *x); x->v = v; x->next = *h; *h = x; } int pop(struct n **h) { struct n *x = *h; int v = x->v; *h = x->next; free(x); return v; } int main(void) { struct n *h = 0; push(&h, 1); push(&h, 2); A(pop(&h) == 2); push(&h, 3); A(pop(&h) == 3 && pop(&h) == 1 && !h); return 0; }",
        "fine",
    ),
    (
        "addresses of parts in initialisers",
        "struct s { int a; struct { int x, y; } in[2]; } s; int *p = &s.in[1].y; int arr[3][2]; int (*row)[2] = &arr[1]; int *q = arr[2]; int *e = &arr[1][2]; extern int late[]; int *r = &late[1]; int late[3] = { 1, 2, 3 }; int main(void) { *p = 1; (*row)[1] = 2; *q = 3; A(s.in[1].y == 1 && arr[1][1] == 2 && arr[2][0] == 3 && e == q && *r == 2); return 0; }",
        "fine",
    ),
    (
        "parameters by value and by address",
        "struct s { int a[2]; double d; }; double f(struct s s, struct s *p, float x) { p->a[0] += s.a[1]; s.d *= x; struct s *q = &s; q->a[1]++; return q->d + s.a[1]; } int r(struct s s, int n) { struct s *p = &s; p->a[0] += n; return n ? r(*p, n - 1) + p->a[0] : s.a[0]; } int main(void) { struct s s = { { 1, 2 }, 1.5 }; A(f(s, &s, 2) == 6.0 && s.a[0] == 3 && s.d == 1.5); A(r(s, 2) == 6 + 6 + 5); return 0; }",
        "fine",
    ),
    (
        "characters through pointers",
        "int len(const char *s) { const char *p = s; while (*p) p++; return p - s; } int num(const char *s) { int n = 0; while (*s >= '0' && *s <= '9') n = n * 10 + (*s++ - '0'); return n; } int main(void) { char b[8]; char *d = b; const char *s = \"1234x\"; while ((*d++ = *s++)) ; A(len(b) == 5 && num(b) == 1234 && d - b == 6); b[2] = 0; A(num(b) == 12 && len(\"\") == 0); return 0; }",
        "fine",
    ),
    (
        "wide unsigned values through pointers",
        "unsigned long long x = ~0ull; int main(void) { unsigned long long *p = &x; A(*p > 1 && *p / 2 == 0x7fffffffffffffffull && *p % 10 == 5 && *p >> 63 == 1); long long *q = (long long *)p; A(*q < 0 && *q == -1); *p += 2; A(*q == 1); unsigned u = 1; int i = -1; A(!(i < u) && i < (int)u); double d = *p; A(d == 1); *p = 1ull << 63; A((double)*p == 9223372036854775808.0 && (float)*p == 9223372036854775808.0f && (double)*q < 0); return 0; }",
        "fine",
    ),
    (
        "an address in a number",
        "int x = 1; int main(void) { A(*(int *)(long)&x == 1); long v = (long)&x; return v != 0; }",
        "address-as-number",
    ),
    (
        "a torn copy",
        "struct s { int a, b; } g, h; void *f(void *p) { struct s *q = p; *q = (struct s){ 1, 1 }; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, &g); h = g; A(h.a == h.b); return 0; }",
        "fails",
    ),
    (
        "a block that goes while another thread uses it",
        "struct s { int a; }; void *f(void *p) { struct s *q = p; q->a = 1; return 0; } int main(void) { pthread_t t; struct s *p = malloc(sizeof *p); p->a = 0; pthread_create(&t, 0, f, p); free(p); return 0; }",
        "dangling",
    ),
    (
        "a block from a thread",
        "void *f(void *p) { int *x = malloc(sizeof *x); *x = *(int *)p + 1; return x; } int main(void) { pthread_t t[2]; int a[2] = { 1, 5 }; void *r; int s = 0; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, &a[i]); for (int i = 0; i < 2; i++) { pthread_join(t[i], &r); s += *(int *)r; free(r); } A(s == 8); return 0; }",
        "fine",
    ),
    (
        "locks in blocks",
        "struct a { pthread_mutex_t m; int n; } *acc; void *f(void *p) { struct a *x = p; pthread_mutex_lock(&x->m); x->n++; pthread_mutex_unlock(&x->m); return 0; } int main(void) { acc = malloc(2 * sizeof *acc); for (int i = 0; i < 2; i++) { pthread_mutex_init(&acc[i].m, 0); acc[i].n = i; } pthread_t t, u; pthread_create(&t, 0, f, &acc[1]); pthread_create(&u, 0, f, acc + 1); pthread_join(t, 0); pthread_join(u, 0); A(acc[1].n == 3 && acc[0].n == 0); return 0; }",
        "fine",
    ),
    (
        "a lost update through pointers",
        "struct a { int n; }; void *f(void *p) { struct a *x = p; x->n++; return 0; } int main(void) { struct a *x = malloc(sizeof *x); x->n = 0; pthread_t t, u; pthread_create(&t, 0, f, x); pthread_create(&u, 0, f, x); pthread_join(t, 0); pthread_join(u, 0); A(x->n == 2); return 0; }",
        "fails",
    ),
    (
        "neighbouring bit-fields of two threads",
        "struct b { unsigned a : 4, c : 4; } g; void *f(void *p) { g.a = 3; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); g.c = 5; pthread_join(t, 0); A(g.a == 3 && g.c == 5); return 0; }",
        "fails",
    ),
    (
        "a pointer that another thread changes",
        "int x = 1, y = 2; int *p = &x; void *f(void *a) { p = &y; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int r = *p; A(r == 1); return 0; }",
        "fails",
    ),
    (
        "a local of main that threads share",
        "struct job { int *sum; int n; }; void *f(void *p) { struct job *j = p; int t = *j->sum; *j->sum = t + j->n; return 0; } int main(void) { int sum = 0; struct job j = { &sum, 3 }, k = { &sum, 4 }; pthread_t t; pthread_create(&t, 0, f, &j); pthread_join(t, 0); pthread_create(&t, 0, f, &k); pthread_join(t, 0); A(sum == 7); return 0; }",
        "fine",
    ),
    (
        "a union that threads share",
        "union u { int i; char c[4]; } g; void *f(void *p) { ((union u *)p)->c[3] = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, &g); g.c[0] = 1; pthread_join(t, 0); A(g.i == 0x01000001); return 0; }",
        "fine",
    ),
    (
        "blocks of no bytes",
        "int main(void) { int n = 0; char *p = malloc(n); free(p); int *q = malloc(n * sizeof *q); *q = 1; return 0; }",
        "invalid-pointer",
    ),
    (
        "the last element and one more, by a field",
        "struct s { int a[2]; int b; } s; int main(void) { int i = 2; s.a[i] = 1; return 0; }",
        "out-of-bounds",
    ),
    (
        "types that only differ in names",
        "struct a { int x; float f; }; struct b { int y; float g; }; int main(void) { struct a a = { 1, 2.5f }; struct b *p = (struct b *)&a; A(p->y == 1 && p->g == 2.5f); struct b c = *p; A(c.g == 2.5f); return 0; }",
        "fine",
    ),
    (
        "an atomic function makes it shared",
        "int g; void *f(void *p) { __atomic_fetch_add(&g, 1, 5); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int r = g - g; A(r == 0); return 0; }",
        "fails",
    ),
    (
        "memset makes it shared",
        "int g[2] = { 1, 1 }; void *f(void *p) { memset(g, 0, sizeof g); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); A(g[0] == g[1]); return 0; }",
        "fails",
    ),
    (
        "memcpy makes it shared",
        "struct s { int a, b; } g, h = { 1, 1 }; void *f(void *p) { memcpy(&g, &h, sizeof g); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); A(g.a == g.b); return 0; }",
        "fails",
    ),
    (
        "a join makes it shared",
        "void *r; void *e(void *p) { return (void *)1; } void *f(void *p) { pthread_t t; pthread_create(&t, 0, e, 0); pthread_join(t, &r); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); A(r == r); return 0; }",
        "fails",
    ),
    (
        "a struct is copied part by part",
        "struct s { int a, b; } g; void *f(void *p) { struct s *q = &g; struct s l = { 1, 1 }; *q = l; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); struct s m = g; A(m.a == m.b); return 0; }",
        "fails",
    ),
    (
        "two reads in a condition",
        "int x, y; void *f(void *p) { int *q = &x; *q = 1; y = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int *p = &x, *q = &y; if (*p == 0 && *q == 1) A(0); return 0; }",
        "fails",
    ),
    (
        "two reads in a comparison",
        "int x, y; void *f(void *p) { x = 1; y = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int *p = &x, *q = &y; if (*p < *q) A(0); return 0; }",
        "fails",
    ),
    (
        "two reads in an index",
        "int a[2] = { 5, 6 }, i; void *f(void *p) { a[0] = 7; i = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int *q = a; A(q[i] != 7 || i == 0 || 1); int r = q[i]; A(r != 7); return 0; }",
        "fails",
    ),
    (
        "a pointer and what is behind it",
        "struct n { struct n *next; int v; } a = { 0, 1 }, b = { 0, 2 }, h = { &a, 0 }; void *f(void *p) { h.next = &b; a.v = 9; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); struct n *p = &h; int r = p->next->v; A(r != 9); return 0; }",
        "fails",
    ),
    (
        "a function pointer and the call",
        "int x; int f1(void) { return x; } int f2(void) { return 5; } int (*fp)(void) = f1; void *f(void *p) { fp = f2; x = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int r = fp(); A(r != 1); return 0; }",
        "fails",
    ),
    (
        "a shared pointer to a lock",
        "struct s { pthread_mutex_t m; } a, b; struct s *p = &a; void *f(void *q) { p = &b; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&p->m); pthread_mutex_unlock(&p->m); return 0; }",
        "not-owner",
    ),
    (
        "a compound assignment reads before it writes",
        "struct s { int n; } g; void *f(void *p) { struct s *q = &g; q->n += 2; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); g.n += 1; pthread_join(t, 0); A(g.n == 3); return 0; }",
        "fails",
    ),
    (
        "a local whose address is in a shared block",
        "struct s { int *p; }; void *f(void *a) { struct s *s = a; *s->p = 1; return 0; } int main(void) { int x = 0; struct s *s = malloc(sizeof *s); s->p = &x; pthread_t t; pthread_create(&t, 0, f, s); int r = x + x; pthread_join(t, 0); A(r != 1); return 0; }",
        "fails",
    ),
    (
        "a parameter that a thread reaches",
        "void *f(void *a) { ++*(int *)a; return 0; } int g(int n) { pthread_t t; pthread_create(&t, 0, f, &n); int r = n + n; pthread_join(t, 0); return r; } int main(void) { int r = g(0); A(r != 1); return 0; }",
        "fails",
    ),
    (
        "a static local of two threads",
        "void *f(void *a) { static int n; n++; A(n < 2 || a); int r = n; return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); return 0; }",
        "fails",
    ),
    (
        "thread-local objects by address",
        "_Thread_local int n; int *p; void *f(void *a) { *p = 5; return 0; } int main(void) { pthread_t t; p = &n; n = 0; pthread_create(&t, 0, f, 0); int r = n + n; A(r != 5); pthread_join(t, 0); A(n == 5); return 0; }",
        "fails",
    ),
    (
        "swapping through pointers is no atomic step",
        "int x = 1, y = 2; void *f(void *p) { int *a = &x, *b = &y; int t = *a; *a = *b; *b = t; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); A(x + y == 3); return 0; }",
        "fails",
    ),
    (
        "the value of a shared assignment",
        "int x; void *f(void *p) { x = 7; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int *p = &x; int r = (*p = 3); A(r == 3); return 0; }",
        "fine",
    ),
    (
        "the value of a shared increment",
        "int x; void *f(void *p) { x = 7; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int *p = &x; int r = ++*p; A(r == 1 || r == 8); r = (*p)--; A(r == 1 || r == 8 || r == 7); return 0; }",
        "fine",
    ),
    (
        "a conditional on shared objects",
        "struct s { int a; } g = { 1 }, *p = &g; void *f(void *q) { p = 0; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); int r = p ? p->a : 0; return r; }",
        "null-pointer",
    ),
    (
        "a checked pointer that another thread clears",
        "struct s { int a; } g = { 1 }, *p = &g; void *f(void *q) { p = 0; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); struct s *l = p; if (l && l->a) A(l->a == 1); return 0; }",
        "fine",
    ),
    (
        "an initialised buffer as storage",
        "char b[8] = \"abc\"; int main(void) { A(*(int *)b == 0x636261); char l[8] = { 1, 2, [4] = 7 }; int *p = (int *)l; A(p[0] == 0x201 && p[1] == 7); memset(l, 1, sizeof l); A(p[1] == 0x1010101); struct s { short a; short b; } q = { 1, 2 }; A(*(int *)&q == 0x20001); return 0; }",
        "fine",
    ),
    (
        "a local that is new in each turn",
        "int main(void) { for (int i = 0; i < 2; i++) { int x; int *p = &x; if (i == 0) *p = 5; A(x == 5); } return 0; }",
        "uninitialised",
    ),
    (
        "a struct by value through a function pointer",
        "struct v { int a; char c; }; struct v f1(struct v v, int n) { v.a += n; return v; } struct v f2(struct v v, int n) { v.c = n; return v; } int main(void) { struct v (*t[2])(struct v, int) = { f1, f2 }; struct v v = { 1, 2 }; for (int i = 0; i < 4; i++) v = t[i & 1](v, i); A(v.a == 3 && v.c == 3); A(t[1](t[0](v, 4), 9).c == 9); return 0; }",
        "fine",
    ),
    (
        "a switch into a loop",
        "int main(void) { int a[7], n = 7, *p = a, i = (n + 3) / 4; switch (n % 4) { case 0: do { *p++ = n; case 3: *p++ = n; case 2: *p++ = n; case 1: *p++ = n; } while (--i > 0); } A(p - a == 7 && a[6] == 7); return 0; }",
        "fine",
    ),
    (
        "an atomic function on a part",
        "struct s { char c; int n; long l; } s; union u { int i; unsigned char b[4]; } u; int main(void) { struct s *p = &s; A(__atomic_fetch_add(&p->n, 2, 5) == 0 && s.n == 2); long o = 0; A(__atomic_compare_exchange_n(&p->l, &o, 7, 0, 5, 5) && s.l == 7); A(!__atomic_compare_exchange_n(&p->l, &o, 8, 0, 5, 5) && o == 7); __atomic_store_n(&u.i, 0x102, 5); A(u.b[1] == 1 && __sync_add_and_fetch(&u.b[0], 255) == 1); int *q = (int *)&s.l; A(q[0] == 7); __atomic_fetch_or(&q[1], 1, 5); A(s.l == 0x100000007l); return 0; }",
        "fine",
    ),
    (
        "memory of a struct with handles",
        "struct w { pthread_t t; int n; struct w *next; }; void *f(void *p) { ((struct w *)p)->n++; return p; } int main(void) { struct w *a = calloc(2, sizeof *a); for (int i = 0; i < 2; i++) { a[i].next = &a[!i]; pthread_create(&a[i].t, 0, f, a[i].next); } for (int i = 0; i < 2; i++) { void *r; pthread_join(a[i].t, &r); A(r == &a[!i]); } A(a[0].n == 1 && a[1].n == 1); free(a); return 0; }",
        "fine",
    ),
    (
        "one function for arguments of several types",
        "struct job { int k; int v; }; int id = 1; struct job j = { 2, 5 }; int got[2]; void *f(void *p) { int k = *(int *)p; if (k == 1) got[0] = id; else got[1] = ((struct job *)p)->v; return 0; } int main(void) { pthread_t t, u; pthread_create(&t, 0, f, &id); pthread_create(&u, 0, f, &j); pthread_join(t, 0); pthread_join(u, 0); A(got[0] == 1 && got[1] == 5); return 0; }",
        "fine",
    ),
    (
        "a generic stack",
        "struct st { void *d[3]; int n; } s; void push(struct st *s, void *p) { s->d[s->n++] = p; } void *pop(struct st *s) { return s->n > 0 ? s->d[--s->n] : 0; } struct p { int x, y; }; int main(void) { int i = 3; double d = 1.5; struct p p = { 1, 2 }; push(&s, &i); push(&s, &d); push(&s, &p); A(((struct p *)pop(&s))->y == 2); *(double *)pop(&s) *= 2; A(d == 3.0); ++*(int *)pop(&s); A(i == 4 && !pop(&s)); return 0; }",
        "fine",
    ),
    (
        "objects behind one interface",
        "struct sh { int (*area)(struct sh *); }; struct sq { struct sh b; int a; }; struct re { struct sh b; char t; int w, h; }; int asq(struct sh *s) { struct sq *q = (struct sq *)s; return q->a * q->a; } int are(struct sh *s) { struct re *r = (struct re *)s; return r->w * r->h; } int main(void) { struct sq *q = malloc(sizeof *q); q->b.area = asq; q->a = 3; struct re r = { { are }, 'r', 2, 5 }; struct sh *all[] = { &q->b, &r.b }; int s = 0; for (int i = 0; i < 2; i++) s += all[i]->area(all[i]); A(s == 19); free(q); return 0; }",
        "fine",
    ),
    (
        "a tree",
        "struct t { int k; struct t *l, *r; }; struct t *ins(struct t *t, int k) { if (!t) { t = malloc(sizeof *t); t->k = k; t->l = t->r = 0; } else if (k < t->k) t->l = ins(t->l, k); else t->r = ins(t->r, k); return t; } int sum(struct t *t) { return t ? sum(t->l) * 3 + t->k + sum(t->r) : 0; } void del(struct t *t) { if (t) { del(t->l); del(t->r); free(t); } } int main(void) { struct t *t = 0; int k[] = { 2, 1, 3 }; for (int i = 0; i < 3; i++) t = ins(t, k[i]); A(sum(t) == 8 && t->l->k == 1 && !t->r->l); del(t); return 0; }",
        "fine",
    ),
    (
        "a hash table",
        "struct e { int k, v; struct e *n; } *b[2]; int *at(int k) { struct e **p = &b[k % 2]; while (*p && (*p)->k != k) p = &(*p)->n; if (!*p) { *p = calloc(1, sizeof **p); (*p)->k = k; } return &(*p)->v; } int main(void) { *at(1) = 5; *at(3) = 6; *at(1) += 1; ++*at(4); A(*at(1) == 6 && *at(3) == 6 && *at(4) == 1 && b[1]->n->k == 3 && !b[0]->n); return 0; }",
        "fine",
    ),
    (
        "a ring buffer with wide indices",
        "struct r { unsigned char h, t; short d[4]; } r; void put(struct r *r, int v) { r->d[r->h++ & 3] = v; } int get(struct r *r) { return r->d[r->t++ & 3]; } int main(void) { r.h = r.t = 254; for (int i = 0; i < 4; i++) put(&r, i + 40000); A(r.h == 2 && get(&r) == (short)40000 && get(&r) == (short)40001); put(&r, 7); A(r.d[2 & 3] == 7); return 0; }",
        "fine",
    ),
    (
        "a local of a block that was left",
        "int main(void) { int *p; { int y = 1; p = &y; A(*p == 1); } return *p; }",
        "dangling",
    ),
    (
        "a write to a local of a block that was left",
        "struct s { int a[2]; }; int main(void) { int *p = 0; if (1) { struct s s; s.a[1] = 1; p = &s.a[1]; *p = 3; A(s.a[1] == 3); } *p = 4; return 0; }",
        "dangling",
    ),
    (
        "a block that is left by break",
        "int main(void) { int *p = 0; while (1) { int y = 1; p = &y; if (*p) break; } return *p; }",
        "dangling",
    ),
    (
        "a block that is left by continue",
        "int main(void) { int *p = 0; for (int i = 0; i < 2; i++) { if (i == 0) { int y = 1; p = &y; continue; } return *p; } return 0; }",
        "dangling",
    ),
    (
        "the variable of a loop that has ended",
        "int main(void) { int *p = 0; for (int i = 0; i < 2; i++) p = &i; return *p; }",
        "dangling",
    ),
    (
        "a local of the turn before",
        "int main(void) { int *p = 0; for (int i = 0; i < 2; i++) { if (p) return *p; int y = 1; p = &y; } return 0; }",
        "dangling",
    ),
    (
        "a local of a block, kept by the caller",
        "void f(int **o) { { int y; *o = &y; } **o = 1; } int main(void) { int *p; f(&p); return 0; }",
        "dangling",
    ),
    (
        "a local of a block, kept on the heap",
        "int main(void) { int **h = malloc(sizeof *h); { int y = 1; *h = &y; } return **h; }",
        "dangling",
    ),
    (
        "a local of a block, by way of a function",
        "int *id(int *p) { return p; } int main(void) { int *p; { int y = 1; p = id(&y); } return *p; }",
        "dangling",
    ),
    (
        "a thread with a local of a block that was left",
        "void *f(void *a) { *(int *)a = 1; return 0; } int main(void) { pthread_t t; { int y = 0; pthread_create(&t, 0, f, &y); } pthread_join(t, 0); return 0; }",
        "dangling",
    ),
    (
        "a thread with a local of a block that waits for it",
        "void *f(void *a) { *(int *)a += 1; return 0; } int main(void) { for (int i = 0; i < 2; i++) { pthread_t t; int y = i; pthread_create(&t, 0, f, &y); pthread_join(t, 0); A(y == i + 1); } return 0; }",
        "fine",
    ),
    (
        "locals of blocks that are there again",
        "int main(void) { int s = 0; int *p; for (int i = 0; i < 3; i++) { int y = i; p = &y; if (i == 1) continue; s += *p; { int z = *p; p = &z; s += *p; } } A(s == 4); return 0; }",
        "fine",
    ),
    (
        "a declaration that a switch jumps past",
        "int main(void) { int *p = 0, s = 0; for (int i = 0; i < 3; i++) { switch (i) { int y; case 0: case 2: y = i; p = &y; s += *p; break; case 1: y = 5; p = &y; s += *p; } } A(s == 7); return 0; }",
        "fine",
    ),
    (
        "a block that a goto leaves and enters",
        "int main(void) { int *p = 0, n = 0; again: { int y = n; p = &y; A(*p == n); if (n++ < 2) goto again; } A(n == 3); return 0; }",
        "fine",
    ),
    (
        "a switch inside of a block",
        "int main(void) { int *p = 0, s = 0; for (int i = 0; i < 3; i++) { int y = i; p = &y; switch (i) { case 1: { int z = *p; p = &z; s += *p; break; } default: s += *p; } s += y; } A(s == 6); return 0; }",
        "fine",
    ),
    (
        "a pointer handed down out of a block",
        "int add(int *p, int n) { int *q = p; { int *r = q; *r += n; } return *p; } int main(void) { int s = 0; { int y = 1; s += add(&y, 2); } { int y = 4; s += add(&y, 1); } A(s == 8); return 0; }",
        "fine",
    ),
    (
        "blocks in a recursion",
        "int sum(int n, int *up) { int s = up ? *up : 0; if (n > 0) { int y = n; s += sum(n - 1, &y); A(y == n); } return s; } int main(void) { A(sum(3, 0) == 6); return 0; }",
        "fine",
    ),
    (
        "a list of locals of blocks",
        "struct n { int v; struct n *next; }; int main(void) { struct n *head = 0; int s = 0; { struct n a = { 1, head }; head = &a; { struct n b = { 2, head }; head = &b; for (struct n *p = head; p; p = p->next) s += p->v; head = b.next; } s += head->v; head = 0; } A(s == 4 && head == 0); return 0; }",
        "fine",
    ),
    (
        "a string literal is written",
        "int main(void) { char *s = \"abc\"; s[1] = 'x'; return 0; }",
        "read-only",
    ),
    (
        "a string literal is written by the library",
        "char *strcpy(char *, const char *); int main(void) { char *s = \"abc\"; strcpy(s, \"x\"); return 0; }",
        "read-only",
    ),
    (
        "a string literal or a buffer",
        "int main(void) { char b[] = \"abc\"; char *s = \"abc\"; int c = __VERIFIER_nondet_int(); char *p = c ? b : s; if (p == b) { p[0] = 'x'; A(b[0] == 'x'); } A(s[0] == 'a' && p[1] == 'b'); return 0; }",
        "fine",
    ),
    (
        "an increment in a string literal",
        "int main(void) { char *s = \"abc\"; ++*s; return 0; }",
        "read-only",
    ),
    (
        "copies of string literals",
        "int main(void) { char b[4] = \"abc\", *s = \"abc\"; memcpy(b, s, 4); b[0] = 'x'; const char *t = \"abc\"; A(b[0] == 'x' && t[0] == 'a' && s[0] == 'a'); return 0; }",
        "fine",
    ),
    (
        "a mark in the low bit of a pointer",
        "struct n { int v; struct n *next; } g; int main(void) { struct n *p = &g, *q = (struct n *)((unsigned long)p | 1); A((unsigned long)q & 1); A(!((unsigned long)p & 1)); A(p != q && (unsigned long)p != (unsigned long)q); struct n *r = (struct n *)((unsigned long)q & ~1ul); r->v = 3; A(g.v == 3 && (unsigned long)r == (unsigned long)p && (unsigned long)r != 0); return 0; }",
        "fine",
    ),
    (
        "marks on the heap",
        "struct n { struct n *next; int v; }; int main(void) { struct n *a = malloc(sizeof *a), *b = malloc(sizeof *b); b->v = 5; a->next = (struct n *)((long)b | 2); int mark = (int)((long)a->next & 3); A(mark == 2); a->next = (struct n *)((long)a->next ^ 3); A(((unsigned long)a->next & 3) == 1); A(((struct n *)((long)a->next & ~(long)3))->v == 5); free(a); free(b); return 0; }",
        "fine",
    ),
    (
        "a marked pointer is none to follow",
        "struct n { int v; } g; int main(void) { struct n *q = (struct n *)((unsigned long)&g | 1); return q->v; }",
        "invalid-pointer",
    ),
    (
        "more bits than are known",
        "int g; int main(void) { return ((unsigned long)&g & 4) != 0; }",
        "address-as-number",
    ),
    (
        "the low bit of the address of a character",
        "char g[4]; int main(void) { char *p = (char *)((unsigned long)&g[1] | 1); return *p; }",
        "address-as-number",
    ),
    (
        "null as a number",
        "int g; int main(void) { int *p = 0, *q = &g; A((unsigned long)p == 0 && 0 != (unsigned long)q); A(((unsigned long)p & 1) == 0); return 0; }",
        "fine",
    ),
    (
        "an address as a number in a variable has no meaning",
        "int g; int main(void) { unsigned long n = (unsigned long)&g; return n % 7; }",
        "address-as-number",
    ),
    (
        "the order of addresses as numbers",
        "int g, h; int main(void) { return (unsigned long)&g < (unsigned long)&h; }",
        "address-as-number",
    ),
];

/// Programs where pointers and `long` have 32 bits.
const SMALL: &[(&str, &str, &str)] = &[
    (
        "sizes",
        "struct s { char c; long l; void *p; long long q; } s; int main(void) { A(sizeof s == 20 && sizeof(long) == 4 && sizeof(int *) == 4); int *p = (int *)&s.l; *p = -1; A(s.l == -1); unsigned long u = -1; A(u == 0xffffffffu); return 0; }",
        "fine",
    ),
    (
        "pointers to all",
        "struct n { struct n *next; int v; } a, b = { &a, 2 }; int main(void) { struct n *p = &b; p->next->v = 3; A(a.v == 3); struct n **q = &p->next; *q = p; A(b.next == &b && (*q)->v == 2); int *t[2] = { &a.v, &b.v }; int **r = t; A(*r[1] == 2 && &r[1] - r == 1); struct n *h = malloc(sizeof *h); h->next = h; h->v = 4; A(h->next->v == 4); free(h); return 0; }",
        "fine",
    ),
    (
        "a pointer in a union has no room for what pdnet knows of it",
        "union u { int *p; int i; } u, *q = &u; int x; int main(void) { q->p = &x; A(q->p == &x); return 0; }",
        "mixed-access",
    ),
    (
        "numbers as pointers",
        "int main(void) { void *p = (void *)5; A((int)p == 5); p = (void *)-1; A((int)p == -1); return 0; }",
        "fine",
    ),
    (
        "wide bit-fields",
        "struct b { int a : 20; long long w : 40; unsigned c : 10; } g; int main(void) { g.a = -3; g.w = -4; g.c = 1023; struct b *p = &g; A(p->a == -3 && p->w == -4 && p->c == 1023); p->w = 1ll << 38; A(g.w == 1ll << 38 && g.a == -3 && g.c == 1023); return 0; }",
        "fine",
    ),
];

/// Programs, and an atom that is true when they have ended, whatever the object is kept as.
const ATOMS: &[(&str, &str)] = &[
    ("union u { int i; unsigned char c[4]; } u; int main(void) { u.i = 0x302; return 0; }", "u.c[1] == 3"),
    (
        "struct b { unsigned x : 3; int y : 4; } b; int main(void) { b.x = 9; b.y = -2; return 0; }",
        "b.x + b.y == -1",
    ),
    ("int x = 7; int main(void) { short *p = (short *)&x; p[1] = 1; return 0; }", "x == 0x10007"),
    ("char b[8]; int main(void) { *(int *)b = -2; return 0; }", "b[0] == -2 && b[3] == -1"),
    (
        "struct s { int a[2]; struct { short k; } n; } s[2]; int main(void) { s[1].n.k = 70000; return 0; }",
        "s[1].n.k == 4464",
    ),
];

#[test]
fn atoms_see_the_parts_of_objects() {
    for (text, atom) in ATOMS {
        let formula = format!("F (\"{atom}\")");
        let lowered = runs::lowered(PRELUDE, text, &[&formula], &options());
        let lowered = lowered.unwrap_or_else(|error| panic!("{text}: {error}"));
        let ends: Vec<u64> = runs::explore(&lowered).ends.into_iter().collect();
        assert_eq!(ends, [1], "{text}: {atom}");
    }
}

fn options() -> LowerOptions {
    LowerOptions { max_threads: 4, max_depth: 12, ..LowerOptions::default() }
}

#[test]
fn programs_do_what_c_says() {
    let mut wrong = String::new();
    let large = PROGRAMS.iter().map(|row| (row, DataModel::Lp64));
    for ((name, text, expected), data_model) in large.chain(SMALL.iter().map(|row| (row, DataModel::Ilp32))) {
        let text = text.replace("A(", "__pdnet_assert(");
        let loading = Options { data_model, ..Options::default() };
        let found = match runs::lowered_with(PRELUDE, &text, &[], &options(), &loading) {
            Ok(lowered) => runs::explore(&lowered).words(),
            Err(error) => error,
        };
        if found != *expected && !(expected.starts_with("error") && found.starts_with(expected)) {
            let _ = writeln!(wrong, "{name}: expected {expected}, found {found}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// All programs that are fine in one, each with its names behind a prefix of its own.
#[test]
fn what_is_fine_is_fine_when_compiled() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut failed = String::new();
    for (number, (name, text, expected)) in PROGRAMS.iter().enumerate() {
        if *expected != "fine" {
            continue;
        }
        let path = folder.path().join(format!("p{number}.c"));
        let start = "#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n#include <pthread.h>\n\
                     int __VERIFIER_nondet_int(void) { return 1; }\n";
        std::fs::write(&path, format!("{start}{}", text.replace("A(", "assert("))).expect("written");
        let binary = folder.path().join("program");
        let compiled = Command::new("cc")
            .args(["-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-pthread", "-o"])
            .args([&binary, &path])
            .output();
        let Ok(compiled) = compiled else { return };
        let run =
            if compiled.status.success() { Command::new(&binary).output().expect("runs") } else { compiled };
        if !run.status.success() {
            let _ = writeln!(failed, "{name}: {}", String::from_utf8_lossy(&run.stderr));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
