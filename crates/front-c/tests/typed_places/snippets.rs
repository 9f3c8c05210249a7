//! Pieces of C whose types compilers are asked about.

/// Declarations that the snippets share.
const DECLARATIONS: &str = r#"
typedef unsigned long size_t; typedef struct s T;
enum color { RED, GREEN = 5 };
struct s { int i; char c; unsigned u3 : 3; int i7 : 7; unsigned u32 : 32; long w; struct s *next; short a[4]; };
union u { int i; float f; };
_Bool b; char c; signed char sc; unsigned char uc; short sh; unsigned short us; int i; unsigned u; long l;
unsigned long ul; long long ll; unsigned long long ull; float f; double d; long double ld; enum color e;
int *p; const char *cp; char *mp; void *v; int arr[5]; int two[2][3]; struct s s, *ps; union u un; const T *pt;
int (*fp)(int, char); volatile int vi; __int128 big; unsigned __int128 ubig;
int f0(void); long f1(char, float); double f2(int, ...); struct s f3(struct s); int old(); void nothing(void);
"#;

/// Each is the body of a function.
pub(crate) const SNIPPETS: &[&str] = &[
    "i = b + c; i = sc * uc; i = sh - us; u = u + i; l = l + u; ul = l + ul; ll = ll * ul; ull = ull / ll; i = -c; u = ~us; i = +b; i = !p;",
    "i = c << l; u = us >> ul; l = l << c; ull = 1 << ull; b = i; b = p; b = d; c = i; us = l; i = u; l = u; ul = i; d = i; f = l; i = f; u = d;",
    "f = f + 1; d = f * d; ld = d + i; f = f + 1.0f; d = f + 1.0; ld = 1.0L * f; d = ull; i = f < d; i = f == i; i = ld > f;",
    "c += 1; c += l; us *= u; i -= d; f /= i; d *= f; u <<= l; sh >>= c; p += c; p -= l; ul |= i; b &= i; ll ^= c; u %= sh;",
    "c++; --us; p++; ps--; d++; f--; b++; i = c++; l = --sh; *p++ = c; *--p = uc;",
    "i = s.u3 + 1; i = s.i7 * s.u3; u = s.u32 + 1; l = s.u32 << 1; i = ps->u3 < ps->i7; s.u3 = l; s.i7++; s.u3 += 2; i = -s.u3; l = s.w + s.c;",
    "i = p == 0; i = p != v; i = cp == mp; i = p < arr; l = p - arr; p = p + c; p = us + arr; p = arr; p = &arr[1]; i = *arr; i = 2[arr]; i = arr[c]; i = two[1][c]; p = two[i];",
    "v = p; p = v; cp = mp; p = 0; v = 0; cp = \"text\"; mp = (char *)cp; p = (int *)l; l = (long)p; ul = (size_t)v; c = (char)i; d = (double)1; i = (int)2.5; (void)i;",
    "i = i ? c : us; l = i ? i : l; d = i ? f : d; p = i ? p : 0; v = i ? v : p; cp = i ? cp : mp; u = b ? u : -1; i = (i, c); l = (c++, l); ld = i ? ld : i;",
    "i = f0(); l = f1(i, d); d = f2(c, c, f, us, l, p); s = f3(s); i = fp(l, i); i = (*fp)(c, c); i = (&f0)(); old(c, f); fp = 0; i = f3(s).i; nothing();",
    "i = RED; i = GREEN + c; e = RED; e = i; u = e + 1; i = e < c; e++; l = e * l;",
    "i = 1; u = 1u; l = 1l; ul = 1ul; ll = 1ll; l = 2147483648; u = 0xffffffff; l = 0x100000000; ul = 0xffffffffffffffff; i = 'a'; i = '\\n'; d = 1e3; f = 1.5f; ld = 1.5l; d = 0x1p-3;",
    "ul = sizeof(i); ul = sizeof i + 1; i = sizeof(struct s) < 100; ul = sizeof arr / sizeof arr[0]; l = (long)sizeof(int);",
    "i = i && c; i = l || p; i = !d; i = b && b; if (p) i = 1; while (d) d = 0; for (i = 0; l; i++) l--; do i++; while (c); switch (c) { case 1: i = 0; }",
    "struct s t = s; t = *ps; ps = &t; ps->next->next = ps; i = ps->a[c]; ps = ps->next; *ps = t; T *q = ps; i = (*q).i; i = pt->c; un.f = i; i = un.i;",
    "int n = 3; int x[] = {1, c, l}; struct s t = {c, l, .w = i, .a = {[2] = l}}; char str[] = \"abc\"; int y[4] = {[1 ... 2] = 7}; float g = d; const int k = c; struct s z = {.next = &t};",
    "i = ({ long t = c; t + 1; }); ({ i; }); l = ({ c; }); p = &(int){c}; s = (struct s){.i = c}; __typeof__(c + 1) tt = c; i = _Generic(c, char: 1, default: 2.0) + l;",
    "vi = c; i = vi + 1; vi++; vi += l; const volatile int cv = 1; i = cv; big = l; big = big + i; ubig = big * ul; i = big; i = big < l; ull = ubig >> 3;",
    "l = i ?: l; p = p ?: arr; u = c ? : u; goto end; end: return;",
    "int n = i; int vla[n]; vla[1] = c; i = vla[c]; p = vla; ul = sizeof vla; int (*row)[3] = two; i = (*row)[1]; i = row[1][2]; row++;",
];

/// A program around a snippet; `more` follows it in the same function.
pub(crate) fn program_of(snippet: &str, more: &str) -> String {
    format!("{DECLARATIONS}\nvoid test(void) {{ {snippet} {more} }}\nint main(void) {{ return 0; }}\n")
}
