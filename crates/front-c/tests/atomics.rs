//! Atomic functions through the lowering and the reference interpreter: what they do, and what can come
//! between them.

mod runs;

use pdnet_front_c::{Atomicity, LowerOptions, Lowered};

const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_attr_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
void __pdnet_assert(_Bool); int __VERIFIER_nondet_int(void); _Bool __VERIFIER_nondet_bool(void);
typedef _Atomic int atomic_int; typedef struct { _Atomic _Bool pdnet_value; } atomic_flag;
";

/// `main` that starts a thread in `f`, runs `f` itself, and asserts the condition.
const TWICE: &str = "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); ";

fn lowered(text: &str, atomicity: Atomicity) -> Result<Lowered, String> {
    let options = LowerOptions { atomicity, max_threads: 8, max_depth: 12, ..LowerOptions::default() };
    runs::lowered(PRELUDE, text, &[], &options)
}

/// What the runs can do; never to get to the end is `endless`.
fn runs(name: &str, text: &str, atomicity: Atomicity) -> String {
    let lowered = lowered(text, atomicity).unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = runs::explore(&lowered);
    match found.words().as_str() {
        "fine" if found.ends.is_empty() => "endless".to_owned(),
        words => words.to_owned(),
    }
}

/// Each row: declarations, a function `f` that two threads run, what is true when both have, and what the
/// runs can do.
const THREADS: &[(&str, &str, &str, &str)] = &[
    (
        "fetch_add loses no update",
        "atomic_int x; void *f(void *a) { atomic_fetch_add(&x, 1); return 0; }",
        "x == 2",
        "fine",
    ),
    (
        "fetch_add on a plain object loses no update",
        "int x; void *f(void *a) { __sync_fetch_and_add(&x, 1); __atomic_add_fetch(&x, 1, 5); return 0; }",
        "x == 4",
        "fine",
    ),
    (
        "load and store lose an update",
        "atomic_int x; void *f(void *a) { atomic_store(&x, atomic_load(&x) + 1); return 0; }",
        "x == 2",
        "fails",
    ),
    (
        "fetch_add gives different results",
        "atomic_int n; int got[2]; void *f(void *a) { int k = atomic_fetch_add(&n, 1); got[k]++; return 0; }",
        "got[0] == 1 && got[1] == 1",
        "fine",
    ),
    (
        "test_and_set as a spin lock",
        "_Bool l; int x; void *f(void *a) { while (__atomic_test_and_set(&l, 5)) ; x++; __atomic_clear(&l, 5); return 0; }",
        "x == 2 && !l",
        "fine",
    ),
    (
        "a spin lock that is looked at and then taken",
        "_Bool l; int x; void *f(void *a) { while (__atomic_load_n(&l, 5)) ; __atomic_store_n(&l, 1, 5); x++; __atomic_clear(&l, 5); return 0; }",
        "x == 2",
        "fails",
    ),
    (
        "exchange as a lock",
        "atomic_int l; int x; void *f(void *a) { while (atomic_exchange(&l, 1)) ; x++; atomic_store(&l, 0); return 0; }",
        "x == 2",
        "fine",
    ),
    (
        "lock_test_and_set as a lock",
        "int l; int x; void *f(void *a) { while (__sync_lock_test_and_set(&l, 1)) ; x++; __sync_lock_release(&l); return 0; }",
        "x == 2",
        "fine",
    ),
    (
        "compare and swap as a lock",
        "int l; int x; void *f(void *a) { while (!__sync_bool_compare_and_swap(&l, 0, 1)) ; x++; l = 0; return 0; }",
        "x == 2",
        "fine",
    ),
    (
        "a counter with compare and exchange",
        "atomic_int x; void *f(void *a) { int e = atomic_load(&x); while (!atomic_compare_exchange_weak(&x, &e, e + 1)) ; return 0; }",
        "x == 2",
        "fine",
    ),
    (
        "a counter with val_compare_and_swap",
        "int x; void *f(void *a) { int e, v = 0; do { e = v; v = __sync_val_compare_and_swap(&x, e, e + 1); } while (v != e); return 0; }",
        "x == 2",
        "fine",
    ),
    (
        "compare and exchange without a loop",
        "atomic_int x; void *f(void *a) { int e = atomic_load(&x); atomic_compare_exchange_strong(&x, &e, e + 1); return 0; }",
        "x == 2",
        "fails",
    ),
    (
        "a ticket lock",
        "atomic_int next, serving; int x; void *f(void *a) { int mine = atomic_fetch_add(&next, 1); while (atomic_load(&serving) != mine) ; x++; atomic_fetch_add(&serving, 1); return 0; }",
        "x == 2 && next == 2 && serving == 2",
        "fine",
    ),
    (
        "through a pointer",
        "int x; void add(int *p) { __atomic_fetch_add(p, 1, 5); } void *f(void *a) { add(&x); return 0; }",
        "x == 2",
        "fine",
    ),
    (
        "an element that shared data chooses",
        "int i = 1; int c[3]; void *f(void *a) { __sync_add_and_fetch(&c[i], 1); __sync_add_and_fetch(c + i, 1); return 0; }",
        "c[0] == 0 && c[1] == 4",
        "fine",
    ),
    (
        "an operand that is shared is read before",
        "atomic_int x; int y = 1; void *f(void *a) { atomic_fetch_add(&x, y); y = 2; return 0; }",
        "x == 2",
        "fails",
    ),
    (
        "what is expected may be shared",
        "atomic_int x = 1; int e; void *f(void *a) { atomic_compare_exchange_strong(&x, &e, 7); return 0; }",
        "(x == 1 || x == 7) && (e == 1 || e == 7)",
        "fine",
    ),
    (
        "what is expected is written in a later step",
        "atomic_int x = 1; int e; void *f(void *a) { atomic_compare_exchange_strong(&x, &e, 7); return 0; }",
        "x == 7",
        "fails",
    ),
    (
        "exchange by pointers as a lock",
        "int l; int x; void *f(void *a) { int one = 1, was; do __atomic_exchange(&l, &one, &was, 5); while (was); x++; was = 0; __atomic_store(&l, &was, 5); return 0; }",
        "x == 2",
        "fine",
    ),
    (
        "load and store by pointers lose an update",
        "int x; void *f(void *a) { int y; __atomic_load(&x, &y, 5); y++; __atomic_store(&x, &y, 5); return 0; }",
        "x == 2",
        "fails",
    ),
    (
        "a flag as a spin lock",
        "atomic_flag l; int x; void *f(void *a) { while (atomic_exchange(&l.pdnet_value, 1)) ; x++; atomic_store(&l.pdnet_value, 0); return 0; }",
        "x == 2",
        "fine",
    ),
];

#[test]
fn threads_meet_at_atomic_objects() {
    for (name, text, condition, expected) in THREADS {
        let text = format!("{text} {TWICE} __pdnet_assert({condition}); return 0; }}");
        assert_eq!(runs(name, &text, Atomicity::Access), *expected, "{name}");
        if *expected == "fine" {
            assert_eq!(runs(name, &text, Atomicity::Statement), "fine", "{name}, statements");
        }
    }
}

/// Each row: declarations of globals, statements of `main`, and what is true after them.
const VALUES: &[(&str, &str, &str)] = &[
    ("atomic_int x = 3;", "int r = atomic_load(&x);", "r == 3"),
    ("atomic_int x;", "atomic_init(&x, 4); int r = atomic_load_explicit(&x, 5);", "r == 4"),
    ("atomic_int x;", "atomic_store(&x, 4); atomic_store_explicit(&x, x + 1, 5);", "x == 5"),
    ("atomic_int x = 3;", "int r = atomic_exchange(&x, 4);", "r == 3 && x == 4"),
    ("atomic_int x = 3;", "int r = atomic_exchange_explicit(&x, 4, 5);", "r == 3 && x == 4"),
    ("atomic_int x = 3;", "int r = atomic_fetch_add(&x, 4);", "r == 3 && x == 7"),
    ("atomic_int x = 3;", "int r = atomic_fetch_sub(&x, 4);", "r == 3 && x == -1"),
    ("atomic_int x = 6;", "int r = atomic_fetch_and(&x, 3);", "r == 6 && x == 2"),
    ("atomic_int x = 6;", "int r = atomic_fetch_or(&x, 3);", "r == 6 && x == 7"),
    ("atomic_int x = 6;", "int r = atomic_fetch_xor_explicit(&x, 3, 5);", "r == 6 && x == 5"),
    ("int x = 3;", "int r = __atomic_load_n(&x, 5); __atomic_store_n(&x, 8, 5);", "r == 3 && x == 8"),
    ("int x = 3;", "int r = __atomic_exchange_n(&x, 4, 5);", "r == 3 && x == 4"),
    ("int x = 3;", "int r = __atomic_fetch_add(&x, 4, 5);", "r == 3 && x == 7"),
    ("int x = 3;", "int r = __atomic_fetch_sub(&x, 4, 5);", "r == 3 && x == -1"),
    ("int x = 6;", "int r = __atomic_fetch_and(&x, 3, 5);", "r == 6 && x == 2"),
    ("int x = 6;", "int r = __atomic_fetch_or(&x, 3, 5);", "r == 6 && x == 7"),
    ("int x = 6;", "int r = __atomic_fetch_xor(&x, 3, 5);", "r == 6 && x == 5"),
    ("int x = 6;", "int r = __atomic_fetch_nand(&x, 3, 5);", "r == 6 && x == -3"),
    ("int x = 3;", "int r = __atomic_add_fetch(&x, 4, 5);", "r == 7 && x == 7"),
    ("int x = 3;", "int r = __atomic_sub_fetch(&x, 4, 5);", "r == -1 && x == -1"),
    ("int x = 6;", "int r = __atomic_and_fetch(&x, 3, 5);", "r == 2 && x == 2"),
    ("int x = 6;", "int r = __atomic_or_fetch(&x, 3, 5);", "r == 7 && x == 7"),
    ("int x = 6;", "int r = __atomic_xor_fetch(&x, 3, 5);", "r == 5 && x == 5"),
    ("int x = 6;", "int r = __atomic_nand_fetch(&x, 3, 5);", "r == -3 && x == -3"),
    ("int x = 3;", "int r = __sync_fetch_and_add(&x, 4);", "r == 3 && x == 7"),
    ("int x = 3;", "int r = __sync_fetch_and_sub(&x, 4);", "r == 3 && x == -1"),
    ("int x = 6;", "int r = __sync_fetch_and_or(&x, 3);", "r == 6 && x == 7"),
    ("int x = 6;", "int r = __sync_fetch_and_nand(&x, 3);", "r == 6 && x == -3"),
    ("int x = 3;", "int r = __sync_add_and_fetch(&x, 4);", "r == 7 && x == 7"),
    ("int x = 3;", "int r = __sync_sub_and_fetch(&x, 4);", "r == -1 && x == -1"),
    ("int x = 6;", "int r = __sync_and_and_fetch(&x, 3);", "r == 2 && x == 2"),
    ("int x = 6;", "int r = __sync_xor_and_fetch(&x, 3);", "r == 5 && x == 5"),
    ("int x = 6;", "int r = __sync_bool_compare_and_swap(&x, 6, 8);", "r == 1 && x == 8"),
    ("int x = 6;", "int r = __sync_bool_compare_and_swap(&x, 7, 8);", "r == 0 && x == 6"),
    ("int x = 6;", "int r = __sync_val_compare_and_swap(&x, 6, 8);", "r == 6 && x == 8"),
    ("int x = 6;", "int r = __sync_val_compare_and_swap(&x, 7, 8);", "r == 6 && x == 6"),
    ("int x = 6;", "int r = __sync_lock_test_and_set(&x, 1);", "r == 6 && x == 1"),
    ("int x = 6;", "__sync_lock_release(&x); __sync_synchronize();", "x == 0"),
    ("_Bool x;", "int r = __atomic_test_and_set(&x, 5);", "r == 0 && x == 1"),
    ("char x = 1;", "int r = __atomic_test_and_set(&x, 5);", "r == 1 && x == 1"),
    ("int x = 0x302;", "int r = __atomic_test_and_set(&x, 5);", "r == 1 && x == 0x301"),
    ("int x = 0x302;", "__atomic_clear(&x, 5);", "x == 0x300"),
    (
        "atomic_int x = 6;",
        "int e = 6, r = atomic_compare_exchange_strong(&x, &e, 8);",
        "r && x == 8 && e == 6",
    ),
    (
        "atomic_int x = 6;",
        "int e = 7, r = atomic_compare_exchange_strong(&x, &e, 8);",
        "!r && x == 6 && e == 6",
    ),
    (
        "atomic_int x = 6;",
        "int e[2] = { 7, 7 }; atomic_compare_exchange_weak(&x, &e[1], 8);",
        "e[0] == 7 && e[1] == 6",
    ),
    (
        "atomic_int x = 6;",
        "int e = 7, r = atomic_compare_exchange_weak_explicit(&x, &e, 8, 5, 5);",
        "!r && x == 6 && e == 6",
    ),
    (
        "int x = 6;",
        "int e = 6, r = __atomic_compare_exchange_n(&x, &e, 8, 0, 5, 5);",
        "r && x == 8 && e == 6",
    ),
    (
        "int x = 6;",
        "int e = 7, r = __atomic_compare_exchange_n(&x, &e, 8, 1, 5, 5);",
        "!r && x == 6 && e == 6",
    ),
    ("int x = 6;", "int r = __atomic_compare_exchange_n(&x, &x, 8, 0, 5, 5);", "r && x == 8"),
    ("int x = 6, e = 7;", "int *p = &e; __atomic_compare_exchange_n(&x, p, 8, 0, 5, 5);", "x == 6 && e == 6"),
    ("unsigned char x = 250;", "int r = __sync_add_and_fetch(&x, 10);", "r == 4 && x == 4"),
    ("signed char x = 127;", "int r = __sync_add_and_fetch(&x, 1);", "r == -128 && x == -128"),
    ("unsigned char x = 6;", "int r = __sync_nand_and_fetch(&x, 3);", "r == 253 && x == 253"),
    ("unsigned x;", "unsigned r = __sync_sub_and_fetch(&x, 1);", "r == 4294967295u && x == r"),
    ("int x = 2147483647;", "int r = __sync_add_and_fetch(&x, 1);", "r < 0 && x == r"),
    ("unsigned char x;", "__atomic_store_n(&x, 257, 5);", "x == 1"),
    ("_Atomic _Bool x;", "int r = atomic_exchange(&x, 7);", "r == 0 && x == 1"),
    ("long x = 1;", "long r = __sync_add_and_fetch(&x, 1L << 40);", "r == (1L << 40) + 1 && x == r"),
    ("int x = -1;", "long r = __sync_fetch_and_add((unsigned *)&x, 1);", "r == 4294967295 && x == 0"),
    ("int a[3];", "int i = 0; int r = __sync_add_and_fetch(&a[i++], i);", "r == 1 && a[0] == 1 && i == 1"),
    ("int a[3];", "__sync_fetch_and_add(a + 2, 5); __sync_fetch_and_add(a, 3);", "a[0] == 3 && a[2] == 5"),
    ("int a[3];", "int *p = a; __sync_fetch_and_add(p + 2, 5);", "a[2] == 5"),
    ("int x, y;", "int *p = __VERIFIER_nondet_bool() ? &x : &y; __sync_fetch_and_add(p, 5);", "x + y == 5"),
    ("int x, y; int *p;", "int *q = &x; __atomic_store_n(&p, q, 5); *__atomic_load_n(&p, 5) = 3;", "x == 3"),
    ("", "_Atomic int x = 3; int r = atomic_fetch_add(&x, 1);", "r == 3 && x == 4"),
    ("", "int a[2]; __atomic_store_n(&a[1], 3, 5); int r = __atomic_load_n(&a[1], 5);", "r == 3"),
    ("atomic_int x = 3;", "int r = atomic_fetch_add(&x, 1) * 10 + atomic_fetch_add(&x, 1);", "r == 34"),
    (
        "atomic_int x;",
        "int r = atomic_is_lock_free(&x); atomic_thread_fence(5); __atomic_thread_fence(5);",
        "r",
    ),
    ("int x = 3;", "int y; __atomic_load(&x, &y, 5);", "y == 3"),
    ("int x = 3;", "int y = 4; __atomic_store(&x, &y, 5);", "x == 4 && y == 4"),
    ("int x = 3;", "int y = 4, z; __atomic_exchange(&x, &y, &z, 5);", "x == 4 && y == 4 && z == 3"),
    ("int x = 3;", "int y = 4; __atomic_exchange(&x, &y, &y, 5);", "x == 4 && y == 3"),
    (
        "int x = 3, e = 3, d = 5;",
        "int r = __atomic_compare_exchange(&x, &e, &d, 0, 5, 5);",
        "r && x == 5 && e == 3",
    ),
    (
        "int x = 4, e = 3, d = 5;",
        "int r = __atomic_compare_exchange(&x, &e, &d, 0, 5, 5);",
        "!r && x == 4 && e == 4",
    ),
    ("int x, *p = &x, *q;", "__atomic_load(&p, &q, 5); *q = 6;", "x == 6"),
    ("int a[3]; int *_Atomic p = a;", "int *q = atomic_fetch_add(&p, 2); *p = 1;", "a[2] == 1 && q == a"),
    ("int a[3]; int *_Atomic p = a + 2;", "atomic_fetch_sub(&p, 1); *p = 1;", "a[1] == 1"),
    ("int a[3]; int *p = a;", "__atomic_fetch_add(&p, 8, 5); *p = 1;", "a[2] == 1"),
    ("int a[3]; int *p = a;", "int *q = __sync_add_and_fetch(&p, 4); *q = 1;", "a[1] == 1 && q == p"),
    (
        "atomic_flag f = { 0 };",
        "int r = atomic_exchange(&f.pdnet_value, 1), s = atomic_exchange(&f.pdnet_value, 1);",
        "!r && s",
    ),
    (
        "struct { _Bool v; } f;",
        "int r = __atomic_test_and_set(&f, 5), s = __atomic_test_and_set(&f, 5); __atomic_clear(&f, 5);",
        "!r && s && !f.v",
    ),
    ("atomic_int x = 3;", "atomic_load(&x); if (atomic_fetch_sub(&x, 3) == 3) x = 9;", "x == 9"),
];

#[test]
fn operations_have_their_values() {
    for (globals, text, condition) in VALUES {
        let text = format!("{globals} int main(void) {{ {text} __pdnet_assert({condition}); return 0; }}");
        // The same with another thread in the program, which makes what is pointed to shared.
        let threaded = format!("void *g(void *a) {{ return 0; }} {text}")
            .replace("main(void) {", "main(void) { pthread_t t; pthread_create(&t, 0, g, 0);");
        for text in [text, threaded] {
            for atomicity in [Atomicity::Access, Atomicity::Statement] {
                assert_eq!(runs(&text, &text, atomicity), "fine", "{text}");
            }
        }
    }
}

#[test]
fn wrong_objects_are_faults() {
    for (text, fault) in [
        (
            "int a[2]; int main(void) { int i = 2; __sync_fetch_and_add(&a[i], 1); return 0; }",
            "out-of-bounds",
        ),
        (
            "int a[2]; int main(void) { int i = 2; __sync_fetch_and_add(a + i, 1); return 0; }",
            "out-of-bounds",
        ),
        (
            "int x; int main(void) { int *p = &x; p = 0; return __sync_bool_compare_and_swap(p, 0, 1); }",
            "null-pointer",
        ),
        ("int main(void) { int a[2]; a[0] = 1; return __sync_fetch_and_add(&a[1], 1); }", "uninitialised"),
        (
            "int x; int main(void) { int e[2]; e[0] = 1; return __atomic_compare_exchange_n(&x, &e[1], 1, 0, 5, 5); }",
            "uninitialised",
        ),
        ("int x; int main(void) { int y; __atomic_store(&x, &y, 5); return 0; }", "uninitialised"),
        (
            "int a[2]; int *_Atomic p = a; int main(void) { atomic_fetch_add(&p, 2); return *p; }",
            "invalid-pointer",
        ),
    ] {
        assert_eq!(runs(text, text, Atomicity::Access), fault, "{text}");
    }
}

#[test]
fn an_operation_is_one_step() {
    for call in [
        "atomic_load(&x)",
        "atomic_store(&x, 1)",
        "atomic_fetch_add(&x, 1)",
        "__atomic_exchange_n(&x, 1, 5)",
        "__sync_lock_release(&x)",
    ] {
        let steps = |statement: &str| {
            let text =
                format!("atomic_int x; void *f(void *a) {{ {statement} return 0; }} {TWICE} return 0; }}");
            lowered(&text, Atomicity::Access).expect("lowers").net.transitions.len()
        };
        assert_eq!(steps(&format!("{call};")), steps("") + 1, "{call}");
    }
}

#[test]
fn weaker_orders_are_warned_of() {
    let warnings = |call: &str| {
        let text = format!("atomic_int x; int main(void) {{ int e = 0; {call}; return e; }}");
        let warnings = lowered(&text, Atomicity::Access).expect("lowers").warnings;
        assert!(warnings.iter().all(|warning| warning.id == "weaker-order"));
        warnings.len()
    };
    for call in [
        "atomic_load_explicit(&x, 0)",
        "atomic_store_explicit(&x, 5, 3)",
        "atomic_compare_exchange_strong_explicit(&x, &e, 5, 5, 2)",
        "atomic_compare_exchange_strong_explicit(&x, &e, 5, 0, 0)",
        "__atomic_compare_exchange_n(&x, &e, 5, 0, 4, 5)",
        "__atomic_fetch_add(&x, 5, e)",
        "__atomic_thread_fence(2)",
        "atomic_thread_fence(4)",
    ] {
        assert_eq!(warnings(call), 1, "{call}");
    }
    for call in [
        "atomic_load(&x)",
        "atomic_store(&x, 3)",
        "atomic_store_explicit(&x, 3, 5)",
        "__atomic_compare_exchange_n(&x, &e, 1, 0, 5, 5)",
        "__sync_fetch_and_add(&x, 1)",
        "atomic_thread_fence(5)",
    ] {
        assert_eq!(warnings(call), 0, "{call}");
    }
}

/// Each row: a program that is refused, and words of the diagnostic.
const REFUSED: &[(&str, &str)] = &[
    (
        "struct s { int a, b; } x, y; int main(void) { __atomic_load(&x, &y, 5); return 0; }",
        "objects of this type",
    ),
    ("int atomic_load(int); int main(void) { return atomic_load(1); }", "`atomic_load` has no body"),
];

#[test]
fn what_has_no_net_is_refused() {
    for (text, words) in REFUSED {
        match lowered(text, Atomicity::Access) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => assert!(error.contains(words), "{text}\n{error}"),
        }
    }
}
