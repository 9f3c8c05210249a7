//! The typed tree of small programs, as text.

mod support;

use expect_test::{Expect, expect};
use pdnet_front_c::dump;
use pdnet_front_c::types::DataModel;

#[track_caller]
fn assert_tree(text: &str, expected: Expect) {
    let (map, result) = support::load_text(text, DataModel::Lp64);
    match result {
        Ok(loaded) => expected.assert_eq(&dump(&loaded.program)),
        Err(diagnostics) => panic!("{}", support::rendered(&map, &diagnostics)),
    }
}

/// The statements of `main` after some declarations.
#[track_caller]
fn assert_body(declarations: &str, body: &str, expected: Expect) {
    let text = format!("{declarations}\nint main(void) {{ {body} }}\n");
    let (map, result) = support::load_text(&text, DataModel::Lp64);
    match result {
        Ok(loaded) => {
            let main = &loaded.program.functions[loaded.program.main];
            let body = main.body.as_ref().expect("main has a body");
            expected.assert_eq(&pdnet_front_c::dump_body(&loaded.program, body));
        }
        Err(diagnostics) => panic!("{}", support::rendered(&map, &diagnostics)),
    }
}

#[test]
fn integers_are_promoted_and_balanced() {
    assert_body(
        "char c; unsigned char uc; short s; unsigned u; long l; unsigned long ul; long long ll; int i;",
        "i = c + uc; l = i + u; l = l + u; ul = l + ul; ll = ll + ul; u = c << l; i = -s; i = ~uc; i = !l; i = c < uc;",
        expect![[r#"
            i = ((int)[c] + (int)[uc])
            l = (long)((unsigned int)[i] + [u])
            l = ([l] + (long)[u])
            ul = ((unsigned long)[l] + [ul])
            ll = (long long)((unsigned long long)[ll] + (unsigned long long)[ul])
            u = (unsigned int)((int)[c] << [l])
            i = -(int)[s]
            i = ~(int)[uc]
            i = ![l]
            i = ((int)[c] < (int)[uc])
        "#]],
    );
}

#[test]
fn constants_have_the_first_type_that_holds_them() {
    assert_body(
        "double d;",
        "1; 2147483647; 2147483648; 0x7fffffff; 0xffffffff; 0x100000000; 1u; 1l; 1ull; 0777; 0b11; 'a'; '\\n'; '\\377'; 'ab';
         1.5; 1.5f; 0x1p4; 18446744073709551615u;",
        expect![[r#"
            1
            2147483647
            2147483648:long
            2147483647
            4294967295:unsigned int
            4294967296:long
            1:unsigned int
            1:long
            1:unsigned long long
            511
            3
            97
            10
            -1
            24930
            1.5:double
            1.5:float
            16.0:double
            18446744073709551615:unsigned long
        "#]],
    );
}

#[test]
fn assignments_convert() {
    assert_body(
        r#"char c; unsigned u; float f; double d; int *p; void *v; _Bool b; const char *s;"#,
        r#"c = u; f = d; d = 1; u = -1; p = v; v = p; p = 0; b = p; b = 2; c += u; f *= d; u <<= c; p += c; s = "x"; c++; --p;"#,
        expect![[r#"
            c = (char)[u]
            f = (float)[d]
            d = (double)1
            u = (unsigned int)-1
            p = (int *)[v]
            v = (void *)[p]
            p = (int *)0
            b = (_Bool)[p]
            b = 1:_Bool
            c += [u] in unsigned int
            f *= [d] in double
            u <<= (int)[c] in unsigned int
            p += (int)[c] in int *
            s = &"x\0"[0]
            c++
            --p
        "#]],
    );
}

#[test]
fn pointers_and_arrays() {
    assert_body(
        r#"int a[3][4], *p, (*q)[4]; char *s; long n;"#,
        r#"p = a[1]; p = *a; p = &a[1][2]; q = a; n = q[1][2]; n = 2[p]; n = *(p + 1); n = p - a[0]; p = p - n; n = p == 0; n = p < a[0] + 3; n = &*p == p; n = !p; s = (char *)p; n = (long)s; n = sizeof a; n = sizeof a[0]; n = sizeof(a + 0);"#,
        expect![[r#"
            p = &a[1][0]
            p = &a[0][0]
            p = &a[1][2]
            q = &a[0]
            n = (long)[*([q] +@ 1)[2]]
            n = (long)[*([p] +@ 2)]
            n = (long)[*([p] +@ 1)]
            n = ([p] -@@ &a[0][0])
            p = ([p] -@ [n])
            n = (long)([p] == (int *)0)
            n = (long)([p] < (&a[0][0] +@ 3))
            n = (long)([p] == [p])
            n = (long)![p]
            s = (char *)[p]
            n = (long)[s]
            n = 48:long
            n = 16:long
            n = 8:long
        "#]],
    );
}

#[test]
fn structs_unions_and_bit_fields() {
    assert_body(
        r#"struct s { int a; struct { short b; union { char c; long d; }; }; unsigned f : 3; int g : 5; struct s *next; } x, *p; struct s make(void); int i;"#,
        r#"x.a = p->a; x.d = 1; p->next->b = x.c; i = x.f - 1; i = x.g; x.f += 2; x = *p; i = make().a; i = sizeof x; i = (x.f = 9) > 3;"#,
        expect![[r#"
            x.a = [*[p].a]
            x.#1.#1.d = 1:long
            *[*[p].next].#1.b = (short)[x.#1.#1.c]
            i = ((int)[x.f] - 1)
            i = [x.g]
            x.f += 2 in int
            x = [*[p]]
            i = [<struct s make()>.a]
            i = 40
            i = ((int)x.f = 9:unsigned int > 3)
        "#]],
    );
}

#[test]
fn conditions() {
    assert_body(
        r#"int i, *p; double d; char c; void *v; unsigned u;"#,
        r#"if (p) i = 1; else i = 2; while (d) break; do i--; while (i && p || !d); i = i ? c : u; p = i ? p : 0; v = i ? v : p; i ? (void)0 : (void)1; i = i ?: 5; for (;;) { continue; }"#,
        expect![[r#"
            if [p]
              i = 1
            else
              i = 2
            while [d]
              break
            do
              i--
            while (([i] && [p]) || ![d])
            i = (int)([i] ? (unsigned int)[c] : [u])
            p = ([i] ? [p] : (int *)0)
            v = ([i] ? [v] : (void *)[p])
            ([i] ? (void)0 : (void)1)
            i = ({var .value: int = [i]; ([.value] ? [.value] : 5)})
            for
            ; ; 
              block
                continue
        "#]],
    );
}

#[test]
fn switch_and_goto() {
    assert_body(
        r#"unsigned char c; int i;"#,
        r#"switch (c) { case 1: case 'a' ... 'c': i = 1; break; default: ; } again: i++; if (i < 3) goto again; goto out; { out: ; }"#,
        expect![[r#"
            switch (int)[c]
              block
                case 1:
                  case 97 ... 99:
                    i = 1
                break
                default:
                  block
            lab0:
              i++
            if ([i] < 3)
              goto lab0
            goto lab1
            block
              lab1:
                block
        "#]],
    );
}

#[test]
fn statement_expressions_and_builtins() {
    assert_body(
        r#"int i; int *p; struct s { char a; int b[3]; };"#,
        r#"i = ({ int t = i; t + 1; }); i = __builtin_expect(i == 1, 0); i = __builtin_offsetof(struct s, b[2]); i = _Generic(i, long: 1, int: 2, default: 3); i = _Alignof(long); i = __builtin_types_compatible_p(int, unsigned); __typeof__(i) j = 1; __auto_type k = &j; i = (int){7}; p = (int[]){1, 2}; i = __builtin_constant_p(i); __builtin_unreachable();"#,
        expect![[r#"
            i = ({var t: int = [i]; ([t] + 1)})
            i = (int)(long)([i] == 1)
            i = 12
            i = 2
            i = 8
            i = 0
            var j: int = 1
            var k: int * = &j
            i = [<int 7>]
            p = &<int[2] {[0] = 1, [1] = 2}>[0]
            i = 0
            __builtin_unreachable()
        "#]],
    );
}

#[test]
fn atomics() {
    assert_body(
        r#"_Atomic int a; int i; long l; _Atomic(int *) p;"#,
        r#"a = 1; a++; i = a; i = atomic_load(&a); atomic_store_explicit(&a, l, 0); i = atomic_compare_exchange_strong(&a, &i, 3); i = atomic_fetch_add(&a, 1L); atomic_fetch_add(&p, 1); i = __sync_bool_compare_and_swap(&i, 1, 2); l = __atomic_add_fetch(&l, 1, 5); i = __sync_lock_test_and_set(&i, 1); __sync_synchronize(); atomic_thread_fence(5); __atomic_load(&l, &l, 5);"#,
        expect![[r#"
            a = 1
            a++
            i = [a]
            i = atomic_load(&a)
            atomic_store_explicit(&a, (int)[l], 0)
            i = (int)atomic_compare_exchange_strong(&a, &i, 3)
            i = atomic_fetch_add(&a, 1)
            atomic_fetch_add(&p, 1:long)
            i = (int)__sync_bool_compare_and_swap(&i, 1, 2)
            l = __atomic_add_fetch(&l, 1:long, 5)
            i = __sync_lock_test_and_set(&i, 1)
            __sync_synchronize()
            atomic_thread_fence(5)
            __atomic_load(&l, &l, 5)
        "#]],
    );
}

#[test]
fn calls() {
    assert_body(
        r#"int f(char, double); int g(); int v(int, ...); void (*h)(int); float x; short s; int i; void *malloc(unsigned long); int (*table[2])(char, double);"#,
        r#"f(i, i); g(s, x); v(1, s, x); h(s); (*h)(1); (&f)(1, 2); table[1](2, 3); h = 0; int *p = malloc(4); printf("%d", s);"#,
        expect![[r#"
            f((char)[i], (double)[i])
            g((int)[s], (double)[x])
            v(1, (int)[s], (double)[x])
            ([h])((int)[s])
            ([h])(1)
            f(1:char, (double)2)
            ([table[1]])(2:char, (double)3)
            h = (void (int) *)0
            var p: int * = (int *)malloc(4:unsigned long)
            printf(&"%d\0"[0], (int)[s])
        "#]],
    );
}

#[test]
fn initialisers() {
    assert_tree(
        r#"struct p { int x, y; }; struct n { struct p a; int v[3]; char s[4]; union { int i; float f; } u; };
struct n one = { 1, 2, 3, 4, 5, "ab", 6 };
struct n two = { .v = { [1] = 7 }, .a.y = 8, { 9 }, .u.f = 1 };
struct p grid[][2] = { { { 1, 2 }, { 3 } }, 4, 5, 6, 7 };
int ranged[] = { [1 ... 3] = 5, 6, [0] = 1, [2] = 9 };
char text[] = "hi", cut[2] = "hello", wrapped[] = { "x" }; unsigned char bytes[3] = { 255, 256 };
int zero = { 0 }; const int n = 3; int from_const[n]; int *address = &grid[1][0].y; int (*call)(void);
int tentative; int tentative; extern int outside; extern int later[]; int later[5]; static long folded = 1 ? 2 * 3 : 4;
int main(void) { struct p a = { .y = 1 }, b = a; struct p *q = &(struct p){ 5, 6 }; int m[2] = {}; return 0; }"#,
        expect![[r#"
            one: struct n = {.0.0 = 1, .0.1 = 2, .1[0] = 3, .1[1] = 4, .1[2] = 5, .2[0] = 97:char, .2[1] = 98:char, .3.0 = 6}
            two: struct n = {.0.1 = 8, .1[0] = 9, .3.1 = (float)1}
            grid: struct p[2][2] = {[0][0].0 = 1, [0][0].1 = 2, [0][1].0 = 3, [1][0].0 = 4, [1][0].1 = 5, [1][1].0 = 6, [1][1].1 = 7}
            ranged: int[5] = {[1] = 5, [3] = 5, [4] = 6, [0] = 1, [2] = 9}
            text: char[3] = {[0] = 104:char, [1] = 105:char}
            cut: char[2] = {[0] = 104:char, [1] = 101:char}
            wrapped: char[2] = {[0] = 120:char}
            bytes: unsigned char[3] = {[0] = 255:unsigned char, [1] = 0:unsigned char}
            zero: int = 0
            n: const int = 3
            from_const: int[3]
            address: int * = &grid[1][0].y
            call: int () *
            tentative: int
            extern outside: int
            later: int[5]
            folded: long = 6:long
            main(): int
              var a: struct p = {.1 = 1}
              var b: struct p = [a]
              var q: struct p * = &<struct p {.0 = 5, .1 = 6}>
              var m: int[2] = {}
              return 0
        "#]],
    );
}

#[test]
fn storage_and_scopes() {
    assert_tree(
        r#"typedef int T; static T file; _Thread_local int t; __thread T u; extern int e;
enum color { RED, GREEN = 5, BLUE }; enum { HIDDEN = -1 };
int f(int T) { return T + 1; }
int g(void) { static int n = 1; { int n = 2; { extern int n; n = BLUE; } } { typedef long T; T x = 3; return x; } }
int n; int (*pick(int a))(int) { return a ? f : &f; }
int old(a, b) int a; char *b; { return a + *b; }
int main() { T T = 1; struct s { int a; } x; { struct s { char b; } y; y.b = 1; } x.a = RED; return T; }"#,
        expect![[r#"
            file: int
            thread_local t: int
            thread_local u: int
            extern e: int
            static n: int = 1
            n: int
            f(T: int): int
              return ([T] + 1)
            g(): int
              block
                var n: int = 2
                block
                  n = 6
              block
                var x: long = 3:long
                return (int)[x]
            pick(a: int): int (int) *
              return ([a] ? &f : &f)
            old(a: int, b: char *): int
              return ([a] + (int)[*[b]])
            main(...): int
              var T: int = 1
              var x: struct s
              block
                var y: struct s
                y.b = 1:char
              x.a = 0
              return [T]
        "#]],
    );
}

#[test]
fn library_types_are_known_by_name() {
    assert_tree(
        r#"typedef unsigned long pthread_t; typedef union { char s[40]; long a; } pthread_mutex_t; typedef int pthread_once_t;
typedef struct { int x; } sem_t; typedef pthread_mutex_t lock_t; typedef struct { int x; } pthread_mutexattr_t;
pthread_mutex_t m = { { 0, 0 } }; lock_t table[2] = { { 0 }, { 0 } }; struct { int a; lock_t l; int b; } s = { 1, { 0 }, 2 };
pthread_once_t once = 0; sem_t sem; pthread_t id; int pthread_equal(pthread_t, pthread_t);
int main(void) { pthread_t a = id, b = 0; if (a == b || a == 3) return pthread_equal(a, 1); lock_t local; local = (lock_t) { 0 }; return sizeof m; }"#,
        expect![[r#"
            m: pthread_mutex_t = default
            table: pthread_mutex_t[2] = {}
            s: struct #3 = {.0 = 1, .2 = 2}
            once: pthread_once_t = default
            sem: sem_t
            id: pthread_t
            main(): int
              var a: pthread_t = [id]
              var b: pthread_t = (pthread_t)0
              if (([a] == [b]) || ((unsigned long)[a] == 3:unsigned long))
                return pthread_equal([a], (pthread_t)1)
              var local: pthread_mutex_t
              local = [<pthread_mutex_t default>]
              return 40
        "#]],
    );
}

#[test]
fn functions_of_headers_are_taken_when_they_are_used() {
    assert_tree(
        r#"# 1 "header.h" 1 3
static int unused(void) { return no_such_name; }
static int inner(void) { return 1; }
static int used(void) { return inner(); }
# 1 "test.c" 2
int main(void) { return used(); }"#,
        expect![[r#"
            inner(): int
              return 1
            used(): int
              return inner()
            main(): int
              return used()
        "#]],
    );
}

#[test]
fn odd_syntax() {
    assert_tree(
        r#"a$b(x) { return x; } static n = 4; int é = 1;
struct __attribute__((packed)) q { char c; int i __attribute__((aligned(2))); };
int f(void) __asm__("other"); int __attribute__((noinline)) h(int x __attribute__((unused))) { return x; }
int main(void) { __label__ l; int s = sizeof(struct q); __asm__ volatile("" : : : "memory"); if (s) goto l; __extension__ s = 1; l: }"#,
        expect![[r#"
            n: int = 4
            é: int = 1
            a$b(x: int): int
              return [x]
            h(x: int): int
              return [x]
            main(): int
              block
              var s: int = 6
              block
              if [s]
                goto lab0
              s = 1
              lab0:
                block
        "#]],
    );
}

#[test]
fn assertions_in_comments_are_calls() {
    assert_body(
        "int x, y, *p;",
        "/*@ assert x == 1; assert p; */ x = 1; //@ assert x ==> y ==> \\false;
         l: //@ assert (x <==> y) && x;
         //@ assert x ? y : x < 2; // done
         ",
        expect![[r#"
            __pdnet_assert((_Bool)([x] == 1))
            __pdnet_assert((_Bool)[p])
            x = 1
            __pdnet_assert((_Bool)(![x] || (![y] || 0)))
            lab0:
              __pdnet_assert((_Bool)((![x] == ![y]) && [x]))
            __pdnet_assert((_Bool)([x] ? [y] : ([x] < 2)))
        "#]],
    );
}

#[test]
fn the_atomics_of_clang_are_those_of_the_standard() {
    assert_body(
        "_Atomic int x; int e;",
        "__c11_atomic_init(&x, 1); __c11_atomic_store(&x, 2, 5); e = __c11_atomic_load(&x, 5); __c11_atomic_fetch_add(&x, 1L, 0);
         __c11_atomic_compare_exchange_strong(&x, &e, 3, 5, 5); __c11_atomic_thread_fence(5);",
        expect![[r#"
            atomic_init(&x, 1)
            atomic_store_explicit(&x, 2, 5)
            e = atomic_load_explicit(&x, 5)
            atomic_fetch_add_explicit(&x, 1, 0)
            atomic_compare_exchange_strong_explicit(&x, &e, 3, 5, 5)
            atomic_thread_fence(5)
        "#]],
    );
}

#[test]
fn wide_strings_are_arrays_of_their_own() {
    assert_tree(
        r#"int *w = L"a\u00e9" "b"; unsigned short h[] = u"\U0001F600"; struct s { unsigned n[3]; } s = { U"xyz" };
        int main(void) { int l[4] = L"z"; return L"q"[0] + sizeof(u"ab"); }"#,
        expect![[r#"
            w: int * = &.wide[0]
            .wide: int[4] = {[0] = 97, [1] = 233, [2] = 98}
            h: unsigned short[3] = {[0] = 55357:unsigned short, [1] = 56832:unsigned short}
            .wide: unsigned short[3] = {[0] = 55357:unsigned short, [1] = 56832:unsigned short}
            s: struct s = {.0[0] = 120:unsigned int, .0[1] = 121:unsigned int, .0[2] = 122:unsigned int}
            .wide: unsigned int[4] = {[0] = 120:unsigned int, [1] = 121:unsigned int, [2] = 122:unsigned int}
            .wide: int[2] = {[0] = 122}
            .wide: int[2] = {[0] = 113}
            .wide: unsigned short[3] = {[0] = 97:unsigned short, [1] = 98:unsigned short}
            main(): int
              var l: int[4] = {[0] = 122}
              return (int)((unsigned long)[.wide[0]] + 6:unsigned long)
        "#]],
    );
}

#[test]
fn arrays_of_variable_length_know_their_sizes() {
    assert_tree(
        "const int n = 2; int f(int n, int m, int a[n][m], int b[static 3][4]) { int v[n + 1], w[m][3]; return v[0] + w[1][2] + a[1][m] + b[0][1]; }
         int main(void) { return 0; }",
        expect![[r#"
            n: const int = 2
            f(n: int, m: int, a: int[] *, b: int[4] *): int
              var v: int[] * ([n] + 1)
              var w: int[][3] * [m] * 3
              return ((([v[0]] + [w[1][2]]) + [*unsupported(a pointer to an array whose length is not constant):int[] *[[m]]]) + [*([b] +@ 0)[1]])
            main(): int
              return 0
        "#]],
    );
}

#[test]
fn types_of_c11_threads_are_known_in_headers_of_the_system() {
    assert_tree(
        "# 1 \"threads.h\" 1 3\ntypedef unsigned long thrd_t; typedef union { char s[40]; long a; } mtx_t; typedef struct { int d; } once_flag;\n# 2 \"a.c\" 2\nmtx_t m; thrd_t t; once_flag o = { 0 }; typedef struct { int own; } cnd_t; cnd_t c;\nint main(void) { return 0; }",
        expect![[r#"
            m: pthread_mutex_t
            t: pthread_t
            o: pthread_once_t = default
            c: struct #2
            main(): int
              return 0
        "#]],
    );
}
