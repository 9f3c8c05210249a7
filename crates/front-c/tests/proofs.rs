//! What is proven of programs without running them: which loops end, and after how many rounds; and which steps
//! can never happen; and which memory several threads may race for.

#[allow(dead_code, reason = "programs are not run here")]
mod runs;

use pdnet_front_c::{LowerOptions, Lowered};
use pdnet_net::{Action, Flow, Loops, impossible};
use pdnet_source::Pos;
use runs::lowered;

const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_cond_t;
typedef unsigned long size_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
int pthread_detach(pthread_t); pthread_t pthread_self(void); void pthread_exit(void *);
int pthread_mutex_init(pthread_mutex_t *, const void *); int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_mutex_trylock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
int __VERIFIER_nondet_int(void); void *malloc(unsigned long); void free(void *);
int g, h; int a[10]; pthread_mutex_t m = { 0 }; pthread_mutex_t ms[3]; pthread_cond_t c;
typedef struct { int k; } pthread_rwlock_t; int pthread_rwlock_wrlock(pthread_rwlock_t *);
int pthread_rwlock_rdlock(pthread_rwlock_t *); int pthread_rwlock_unlock(pthread_rwlock_t *); pthread_rwlock_t rw;
";

fn lower(text: &str) -> Lowered {
    let options = LowerOptions { max_threads: 4, max_depth: 6, ..LowerOptions::default() };
    lowered(PRELUDE, text, &[], &options).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The loops in the order of where they begin: the number of rounds, `ends` where it is not known, or `no`.
fn loops(text: &str) -> String {
    let lowered = lower(text);
    let flow = Flow::new(&lowered.net);
    let mut found: Vec<(Option<Pos>, String)> = Vec::new();
    for data in Loops::new(&lowered.net, &flow).list {
        let word = match data.ends {
            None => "no".to_owned(),
            Some(ending) => ending.max_rounds.map_or("ends".to_owned(), |rounds| rounds.to_string()),
        };
        found.push((lowered.net.places[data.header].pos, word));
    }
    found.sort();
    found.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

/// All rows that are not as expected, at once.
fn compare<'a>(rows: impl Iterator<Item = (String, &'a str)>, found: impl Fn(&str) -> String) {
    let mut wrong = String::new();
    for (text, expected) in rows {
        let found = found(&text);
        if found != expected {
            wrong += &format!("{text}\n  found {found}, expected {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The body of `main`, and what is known of its loops.
const LOOPS: &[(&str, &str)] = &[
    ("for (int i = 0; i < 10; i++) g++;", "10"),
    ("for (int i = 0; i <= 10; i++) g++;", "11"),
    ("for (int i = 0; i < 10; i += 3) g++;", "4"),
    ("for (int i = 10; i > 0; i--) g++;", "10"),
    ("for (int i = 10; i >= 0; i--) g++;", "11"),
    ("for (int i = 10; i < 5; i++) g++;", "0"),
    ("for (int i = 0; 10 > i; ++i) g++;", "10"),
    ("int i; for (i = 0; i < 10; i = i + 1) g++;", "10"),
    ("int i; for (i = 0; i < 10; i = 1 + i) g++;", "10"),
    ("for (unsigned i = 0; i < 10; i++) g++;", "10"),
    ("for (size_t i = 0; i < 10; i++) g++;", "10"),
    ("for (int i = 0; i < sizeof(a); i++) g++;", "40"),
    ("for (int i = 0; (unsigned)i < 10u; i++) g++;", "10"),
    ("for (char i = 0; i < 100; i++) g++;", "100"),
    ("for (unsigned char i = 0; i < 255; i++) g++;", "255"),
    ("int n = 3; while (n > 0) n--;", "3"),
    ("int n = 3; while (n > 0) { n--; if (g) continue; h++; }", "3"),
    ("int n = 3; while (n) { n--; }", "3"),
    ("int n = 3; while (n-- > 0) h++;", "3"),
    ("int n = 3; while (n--) h++;", "3"),
    ("int n = 3; while (--n) h++;", "2"),
    ("int n = 3; do h++; while (--n > 0);", "2"),
    ("int n = 3; do { h++; n--; } while (n > 0);", "2"),
    ("int n = 0; do { n++; } while (n < 5);", "4"),
    ("for (int i = 0; i != 10; i++) g++;", "10"),
    ("for (int i = 10; i != 0; i--) g++;", "10"),
    ("for (unsigned i = 10; i != 3; i++) g++;", "4294967289"),
    ("int n = __VERIFIER_nondet_int(); for (int i = 0; i < n; i++) g++;", "2147483647"),
    ("int n = __VERIFIER_nondet_int(); while (n > 0) n--;", "ends"),
    // Whatever happens to the limit, the counter comes to the largest value of its type.
    ("for (int i = 0; i < g; i++) g++;", "2147483647"),
    ("size_t n = g; for (size_t i = 0; i < n; i++) g++;", "18446744073709551615"),
    ("for (int i = 0; i < 10 && g; i++) h++;", "10"),
    ("for (int i = 0; g && i < 10; i++) h++;", "10"),
    ("for (int i = 0; i < 10; i++) { if (g) break; }", "10"),
    ("for (int i = 0; i < 10; i++) { if (g) continue; h++; }", "10"),
    ("for (int i = 0; i < 10; i++) { if (g) i++; }", "10"),
    ("for (int i = 0; i < 10; ) { if (g) i++; else i += 2; }", "10"),
    ("for (int i = 0; i < 10; ) { i++; i++; }", "5"),
    ("for (int i = 0; ; i++) { if (i >= 10) break; g++; }", "10"),
    ("int i = 3; if (g) i = 2; h++; while (i < 10) i++;", "ends"),
    ("int i; if (g) i = 2; else i = 5; while (i < 10) i++;", "8"),
    ("for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) g++;", "3 4"),
    ("for (int i = 0; i < 3; i++) { for (int j = 0; j < i; j++) g++; while (g) h++; }", "no 2147483647 no"),
    (
        "for (int i = 0; i < 3; i++) { for (int j = 0; j < 4; j++) { if (g) break; } do { h--; } while (h > 0 && i > 5); }",
        "no 4 no",
    ),
    ("int i = 0; again: if (i < 3) { i++; goto again; }", "3"),
    (
        "for (int i = 0; i < 3; i++) { switch (g) { case 1: continue; case 2: h = 1; break; default: h = 2; } }",
        "3",
    ),
    // The counter is not counted, or not always, or not in one direction.
    ("while (1) g++;", "no"),
    ("while (g < 10) g++;", "no"),
    ("for (int i = 0; i < 10; ) { if (g) i++; }", "no"),
    ("int i = 0; while (i < 10) { if (g) continue; i++; }", "no"),
    ("for (int i = 0; i < 10; i++) { if (g) i--; }", "no"),
    ("for (int i = 0; i < 10; i++) { if (g) i = 0; }", "no"),
    ("for (int i = 0; i < 10; i--) g++;", "no"),
    ("for (int i = 1; i < 10; i *= 2) g++;", "no"),
    ("for (int i = 0; i < 10; i += g) h++;", "no"),
    ("int i = 0; while (g) { if (i < 10) i++; }", "no"),
    ("for (int i = 0; i < 10 || g; i++) h++;", "no"),
    ("for (int i = 0; g < 10; i++) h++;", "no"),
    // The counter wraps around.
    ("for (unsigned char i = 0; i < 300; i++) g++;", "no"),
    ("for (unsigned char i = 0; i <= 255; i++) g++;", "no"),
    ("for (unsigned char i = 0; i < 255; i += 2) g++;", "no"),
    ("for (unsigned i = 10; i >= 0; i--) g++;", "no"),
    ("unsigned n = g; for (unsigned i = 0; i <= n; i++) h++;", "no"),
    ("unsigned n = g; for (unsigned i = 0; i < n; i += 2) h++;", "no"),
    ("int n = g; for (int i = 0; i <= n; i++) h++;", "no"),
    ("for (int i = 0; i <= 2147483647; i++) g++;", "no"),
    ("for (int i = 0; i != 10; i += 3) g++;", "no"),
    ("int n = g; for (int i = 0; i != n; i++) h++;", "no"),
    ("for (unsigned char i = 0; i != 300; i++) g++;", "no"),
    ("for (int i = 0; i != 10; i++) { if (g) i++; }", "no"),
    ("for (unsigned i = 10; i - 1 < 20; i--) g++;", "no"),
    ("for (char i = 0; (unsigned)i < 4294967290u; i--) g++;", "no"),
    ("for (size_t i = 5; (long)i < 10; i++) g++;", "no"),
    // Others write the counter.
    ("int *p; int i; p = &i; for (i = 0; i < 10; i++) *p = 0;", "no"),
    ("static int i; for (i = 0; i < 10; i++) g++;", "no"),
    ("for (int i = 0; i < 10; i++) { for (int j = 0; j < 3; j++) i--; }", "no 3"),
    ("for (int i = 0; i < 10; ) { for (int j = 0; j < 3; j++) i++; }", "no 3"),
    // There is another way into the loop, or around its test.
    ("int i = 0; if (g) goto in; while (i < 10) { h++; in: i++; }", "no"),
    ("int i = 0; while (1) { if (g) { if (i >= 10) break; } i++; }", "no"),
];

#[test]
fn loops_that_count_end() {
    let program = |body: &str| format!("int main(void) {{ {body} return 0; }}");
    compare(LOOPS.iter().map(|(body, expected)| (program(body), *expected)), loops);
}

/// Whole programs, and what is known of their loops.
const PROGRAMS: &[(&str, &str)] = &[
    ("void f(int n) { for (int i = 0; i < n; i++) g++; } int main(void) { f(3); return 0; }", "2147483647"),
    ("void f(int n) { while (n > 0) { n--; g++; } } int main(void) { f(3); return 0; }", "ends"),
    ("void f(int *p) { *p = 0; } int main(void) { for (int i = 0; i < 10; i++) f(&i); return 0; }", "no"),
    ("void f(void) { g++; } int main(void) { for (int i = 0; i < 10; i++) f(); return 0; }", "10"),
    (
        "int f(int n) { for (int i = 0; i < 2; i++) if (n > 0) g += f(n - 1); return g; } int main(void) { f(1); return 0; }",
        "2",
    ),
    (
        "int f(int i) { return i + 1; } int main(void) { for (int i = 0; i < 10; i = f(i)) g++; return 0; }",
        "no",
    ),
    (
        "void *w(void *p) { int *q = p; *q = 0; return 0; } int main(void) { pthread_t t; int i; pthread_create(&t, 0, w, &i); for (i = 0; i < 10; i++) g++; return 0; }",
        "no",
    ),
    (
        "void *w(void *p) { for (int i = 0; i < 5; i++) g++; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); return 0; }",
        "5",
    ),
    ("int main(void) { for (int i = 0; i < 2; i++) while (pthread_mutex_trylock(&m)) ; return 0; }", "no no"),
];

#[test]
fn loops_of_programs() {
    compare(PROGRAMS.iter().map(|(text, expected)| ((*text).to_owned(), *expected)), loops);
}

/// The faults and bounds of a program in the order of where they are: those that are not ruled out by their names,
/// with how many there are of each.
fn possible(text: &str) -> String {
    let lowered = lower(text);
    let impossible = impossible(&lowered.net);
    let mut found: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for (transition, data) in lowered.net.transitions.iter_enumerated() {
        if matches!(data.action, Action::Fault(_) | Action::Bound(_)) && !impossible[transition] {
            *found.entry(data.action.name().trim_start_matches("fault-")).or_default() += 1;
        }
    }
    let words: Vec<String> = found.iter().map(|(name, n)| format!("{n} {name}")).collect();
    words.join(", ")
}

/// The body of `main`, and the faults that it may run into.
const RANGES: &[(&str, &str)] = &[
    ("for (int i = 0; i < 10; i++) a[i] = i;", ""),
    ("for (int i = 9; i >= 0; i--) a[i] = i;", ""),
    ("for (unsigned i = 0; i < 10; i++) a[i] = i;", ""),
    ("for (size_t i = 0; i < 10; i++) a[i] = i;", ""),
    ("int i; for (i = 0; i != 10; i++) g++; ", ""),
    ("a[g & 3] = 1;", ""),
    ("unsigned n = g; a[n % 4] = 1;", ""),
    ("int n = g; if (n >= 0 && n < 10) a[n] = 1;", ""),
    ("int n = g; if (n < 0 || n > 9) return 1; a[n] = 1;", ""),
    ("int i = 0; while (g) { a[i] = 1; i = (i + 1) % 10; }", ""),
    ("int i = 0; while (g) { a[i] = 1; i++; if (i >= 10) i = 0; }", ""),
    ("for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[3 * i + j] = 1;", ""),
    ("int n = 4; g = 100 / n;", ""),
    ("for (int i = 1; i < 5; i++) g = 100 / i;", ""),
    ("char k = g; a[k & 7] = 1;", ""),
    ("for (int i = 0; i <= 10; i++) a[i] = i;", "1 out-of-bounds"),
    ("for (int i = 9; i > -2; i--) a[i] = i;", "1 out-of-bounds"),
    ("a[g] = 1;", "1 out-of-bounds"),
    ("int n = g; a[n % 4] = 1;", "1 out-of-bounds"),
    ("int n = g; if (n < 10) a[n] = 1;", "1 out-of-bounds"),
    ("int n = g; if (n >= 0 && n < 10) { n = n + h; a[n] = 1; }", "1 out-of-bounds"),
    ("unsigned char i = 250; i += 10; a[i] = 1;", ""),
    ("unsigned char i = 250; i += 10; i = i - 5; a[i] = 1;", "1 out-of-bounds"),
    ("int n = 5; int *p; p = &n; *p = 20; a[n] = 1;", "1 invalid-pointer, 1 out-of-bounds"),
    ("unsigned n = 0; n--; a[n] = 1;", "1 out-of-bounds"),
    ("int n = 2147483647; n++; if (n > 0) a[n] = 1;", ""),
    ("int n = g; n++; if (n > 0) { n--; if (n > 9) n = 9; a[n] = 1; }", ""),
    ("int n = g; if (n > 0) { n++; if (n > 9) n = 9; a[n] = 1; }", "1 out-of-bounds"),
    ("int n = g; g = 100 / n;", "1 division-by-zero"),
    ("for (int i = -2; i < 5; i++) g = 100 / i;", "1 division-by-zero"),
    ("int *p = 0; *p = 2;", "1 null-pointer"),
];

#[test]
fn faults_that_bounds_rule_out() {
    let program =
        |body: &str| format!("int main(void) {{ g = __VERIFIER_nondet_int(); h = g; {body} return 0; }}");
    compare(RANGES.iter().map(|(body, expected)| (program(body), *expected)), possible);
}

/// The variables that threads may race for.
fn contested(text: &str) -> String {
    let net = lower(text).net;
    let mut names: Vec<String> =
        net.contested_memory().into_iter().map(|place| net.places[place].name.clone()).collect();
    names.sort();
    names.join(" ")
}

/// What is known to a worker that reads `data`, and what `main` does after it started two of them; and the variables that
/// may be raced for.
const HANDED_OVER: &[(&str, &str, &str)] = &[
    ("WAIT int x = data;", "data = 1; SET", ""),
    ("LOCK int r = ready; UNLOCK if (r) { int x = data; }", "data = 1; SET", ""),
    ("LOCK int r = !ready; UNLOCK if (r) return 0; int x = data;", "data = 1; SET", ""),
    ("WAIT int x = data;", "data = 1; go();", ""),
    ("WAIT int x = data;", "put(); if (g) put(); go();", ""),
    ("WAIT int x = take();", "put(); SET", ""),
    ("WAIT int x = data;", "LOCK ready = 0; UNLOCK data = 1; SET", ""),
    ("WAIT int x = data;", "data = 1; SET SET", ""),
    ("WAIT int x = data;", "data = 1; SET int y = data;", ""),
    ("while (!ready) ; int x = data;", "data = 1; ready = 1;", "ready"),
    // Too late, again, or in another order.
    ("WAIT int x = data;", "SET data = 1;", "data"),
    ("WAIT int x = data;", "for (;;) { data = 1; SET }", "data"),
    ("WAIT int x = data;", "if (g) { SET } data = 1; SET", "data"),
    ("WAIT int x = data;", "go(); data = 1;", "data"),
    ("WAIT int x = data;", "put(); go(); put();", "data"),
    ("int x = data; WAIT", "data = 1; SET", "data"),
    // The flag is taken back, or says nothing.
    ("WAIT int x = data;", "SET LOCK ready = 0; UNLOCK data = 1;", "data"),
    ("WAIT int x = data;", "data = 1; LOCK ready = g; UNLOCK", "data"),
    ("LOCK int r = ready; UNLOCK if (!r) { int x = data; }", "data = 1; SET", "data"),
    ("LOCK int r = ready; UNLOCK r = 1; if (r) { int x = data; }", "data = 1; SET", "data"),
    ("LOCK int r = ready; r = g; UNLOCK if (r) { int x = data; }", "data = 1; SET", "data"),
    ("LOCK int r = ready + 1; UNLOCK if (r) { int x = data; }", "data = 1; SET", "data"),
    ("LOCK int r = ready; UNLOCK if (r == g) { int x = data; }", "data = 1; SET", "data"),
    ("LOCK if (g) while (!ready) pthread_cond_wait(&c, &m); UNLOCK int x = data;", "data = 1; SET", "data"),
    // Others set it, or write as well.
    ("SET WAIT int x = data;", "data = 1; SET", "data"),
    ("go(); WAIT int x = data;", "data = 1; SET", "data"),
    ("WAIT data = 2;", "data = 1; SET", "data"),
    ("WAIT put();", "data = 1; SET", "data"),
];

#[test]
fn data_that_is_handed_over_by_a_flag() {
    let program = |(worker, main): (&str, &str)| {
        let text = format!(
            "int ready, data; void put(void) {{ data = 3; }} int take(void) {{ return data; }} void go(void) {{ SET }} \
             void *w(void *p) {{ {worker} return 0; }} \
             int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); pthread_create(&t, 0, w, 0); {main} return 0; }}"
        );
        let text = text.replace("WAIT", "LOCK while (!ready) pthread_cond_wait(&c, &m); UNLOCK");
        let text = text.replace("SET", "LOCK ready = 1; UNLOCK");
        text.replace("UNLOCK", UNLOCK).replace("LOCK", LOCK)
    };
    let rows = HANDED_OVER.iter().map(|(worker, main, expected)| (program((worker, main)), *expected));
    compare(rows, contested);
}

/// Programs with locks, and the variables that may be raced for.
const LOCKED: &[(&str, &str)] = &[
    (
        "void *w(void *p) { LOCK g++; UNLOCK return 0; } int main(void) { START START LOCK g = 1; UNLOCK return 0; }",
        "",
    ),
    ("void *w(void *p) { LOCK g++; UNLOCK return 0; } int main(void) { START START g = 1; return 0; }", "g"),
    ("void *w(void *p) { LOCK UNLOCK g++; return 0; } int main(void) { START return 0; }", "g"),
    (
        "void *w(void *p) { LOCK if (h) UNLOCK g++; return 0; } int main(void) { START h = 1; return 0; }",
        "g h",
    ),
    ("void *w(void *p) { LOCK g++; UNLOCK return 0; } int main(void) { g = 1; START return 0; }", ""),
    // Each two of them have a lock in common, and all three have none.
    (
        "void *u(void *p) { IN(0) IN(1) g++; OUT(1) OUT(0) return 0; } void *w(void *p) { IN(1) IN(2) g++; OUT(2) OUT(1) return 0; } int main(void) { pthread_t s; pthread_create(&s, 0, u, 0); START IN(0) IN(2) g++; OUT(2) OUT(0) return 0; }",
        "",
    ),
    (
        "void *w(void *p) { IN(1) IN(2) int x = g; OUT(2) OUT(1) return 0; } void *u(void *p) { IN(0) IN(1) int x = g; OUT(1) OUT(0) return 0; } int main(void) { pthread_t s; pthread_create(&s, 0, u, 0); START IN(0) IN(2) g++; OUT(2) OUT(0) return 0; }",
        "",
    ),
    (
        "void *w(void *p) { pthread_rwlock_rdlock(&rw); g++; pthread_rwlock_unlock(&rw); return 0; } int main(void) { START START return 0; }",
        "g",
    ),
];

#[test]
fn memory_that_locks_protect() {
    let program = |text: &str| {
        let text = text.replace("START", "{ pthread_t t; pthread_create(&t, 0, w, 0); }");
        let text = text.replace("UNLOCK", UNLOCK).replace("LOCK", LOCK);
        let text =
            text.replace("IN(", "pthread_mutex_lock(ms + ").replace("OUT(", "pthread_mutex_unlock(ms + ");
        ["0", "1", "2"]
            .iter()
            .fold(text, |text, index| text.replace(&format!("ms + {index})"), &format!("&ms[{index}]);")))
    };
    compare(LOCKED.iter().map(|(text, expected)| (program(text), *expected)), contested);
}

const LOCK: &str = "pthread_mutex_lock(&m);";
const UNLOCK: &str = "pthread_mutex_unlock(&m);";

/// Programs with locks, where `LOCK` and `UNLOCK` stand for those of `m`, and the faults that they may run into.
const LOCKS: &[(&str, &str)] = &[
    ("int main(void) { LOCK g++; UNLOCK return 0; }", ""),
    ("int main(void) { pthread_mutex_init(&m, 0); LOCK g++; UNLOCK return 0; }", ""),
    ("void make(void) { pthread_mutex_init(&m, 0); } int main(void) { make(); LOCK UNLOCK return 0; }", ""),
    (
        "void *w(void *p) { for (int i = 0; i < 3; i++) { LOCK g++; UNLOCK } return 0; } int main(void) { pthread_t t; pthread_mutex_init(&m, 0); pthread_create(&t, 0, w, 0); LOCK if (g) g = 1; else g = 2; UNLOCK return 0; }",
        "",
    ),
    ("int main(void) { LOCK while (!g) pthread_cond_wait(&c, &m); UNLOCK return 0; }", ""),
    ("int main(void) { if (pthread_mutex_trylock(&m)) return 1; UNLOCK return 0; }", "1 not-owner"),
    ("void in(void) { LOCK } void out(void) { UNLOCK } int main(void) { in(); g++; out(); return 0; }", ""),
    ("void f(void) { g++; } int main(void) { LOCK f(); UNLOCK return 0; }", ""),
    ("void f(void) { UNLOCK LOCK } int main(void) { LOCK f(); UNLOCK return 0; }", ""),
    ("int main(void) { pthread_mutex_lock(&ms[1]); pthread_mutex_unlock(&ms[1]); return 0; }", ""),
    (
        "int main(void) { pthread_mutex_lock(&ms[1]); pthread_mutex_lock(&ms[2]); pthread_mutex_unlock(&ms[1]); pthread_mutex_unlock(&ms[2]); return 0; }",
        "",
    ),
    ("int main(void) { pthread_rwlock_wrlock(&rw); pthread_rwlock_unlock(&rw); return 0; }", ""),
    (
        "void *w(void *p) { pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_rwlock_wrlock(&rw); pthread_rwlock_unlock(&rw); return 0; }",
        "1 not-owner",
    ),
    (
        "int f(int n) { LOCK g++; UNLOCK if (n > 0) return f(n - 1); return 0; } int main(void) { return f(3); }",
        "2 bound-depth",
    ),
    // Not on every way, not any more, or not by this thread.
    ("int main(void) { UNLOCK return 0; }", "1 not-owner"),
    ("int main(void) { g = __VERIFIER_nondet_int(); if (g) LOCK UNLOCK return 0; }", "1 not-owner"),
    ("int main(void) { LOCK UNLOCK UNLOCK return 0; }", "1 not-owner"),
    ("int main(void) { g = __VERIFIER_nondet_int(); LOCK while (g) { UNLOCK } return 0; }", "1 not-owner"),
    ("int main(void) { g = __VERIFIER_nondet_int(); LOCK if (g) UNLOCK UNLOCK return 0; }", "1 not-owner"),
    (
        "void out(void) { UNLOCK } int main(void) { g = __VERIFIER_nondet_int(); LOCK out(); UNLOCK return 0; }",
        "1 not-owner",
    ),
    ("void out(void) { UNLOCK } int main(void) { LOCK out(); out(); return 0; }", "1 not-owner"),
    (
        "void out(void) { if (g) UNLOCK } int main(void) { g = __VERIFIER_nondet_int(); LOCK out(); UNLOCK return 0; }",
        "1 not-owner",
    ),
    (
        "void *w(void *p) { UNLOCK return 0; } int main(void) { pthread_t t; LOCK pthread_create(&t, 0, w, 0); UNLOCK return 0; }",
        "1 not-owner",
    ),
    ("int main(void) { LOCK pthread_mutex_init(&m, 0); UNLOCK return 0; }", "1 not-owner"),
    (
        "void *w(void *p) { pthread_mutex_init(&m, 0); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); LOCK UNLOCK return 0; }",
        "1 not-owner",
    ),
    (
        "void *w(void *p) { return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); pthread_mutex_init(&m, 0); LOCK UNLOCK return 0; }",
        "1 not-owner",
    ),
    (
        "void make(void) { pthread_mutex_init(&m, 0); } void *w(void *p) { make(); return 0; } int main(void) { pthread_t t; make(); pthread_create(&t, 0, w, 0); LOCK UNLOCK return 0; }",
        "1 not-owner",
    ),
    (
        "int main(void) { g = __VERIFIER_nondet_int(); pthread_mutex_lock(&ms[g & 1]); pthread_mutex_unlock(&ms[g & 1]); return 0; }",
        "1 not-owner",
    ),
    ("int main(void) { pthread_mutex_lock(&ms[1]); pthread_mutex_unlock(&ms[2]); return 0; }", "1 not-owner"),
    (
        "int main(void) { g = __VERIFIER_nondet_int(); pthread_mutex_lock(&ms[1]); pthread_mutex_lock(&ms[g & 1]); pthread_mutex_unlock(&ms[g & 1]); pthread_mutex_unlock(&ms[1]); return 0; }",
        "2 not-owner",
    ),
    (
        "void out(pthread_mutex_t *p) { pthread_mutex_unlock(p); } int main(void) { LOCK pthread_mutex_lock(&ms[0]); out(&m); UNLOCK out(&ms[0]); return 0; }",
        "2 not-owner",
    ),
    ("int main(void) { pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); return 0; }", "1 not-owner"),
    (
        "void *w(void *p) { LOCK return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); UNLOCK return 0; }",
        "1 not-owner",
    ),
];

#[test]
fn locks_that_are_held() {
    let program = |text: &str| text.replace("UNLOCK", UNLOCK).replace("LOCK", LOCK);
    compare(LOCKS.iter().map(|(text, expected)| (program(text), *expected)), possible);
}

const WORKER: &str = "void *w(void *p) { return 0; }";

/// What stands around the start of threads, of which there may be four, and whether the bound may be met.
const THREADS: &[(&str, &str)] = &[
    ("int main(void) { pthread_t t; START return 0; }", ""),
    ("int main(void) { pthread_t t; START START START return 0; }", ""),
    ("int main(void) { pthread_t t; for (int i = 0; i < 2; i++) { START } return 0; }", ""),
    (
        "int main(void) { g = __VERIFIER_nondet_int(); pthread_t t; if (g) { START START } else { START } return 0; }",
        "",
    ),
    ("void f(void) { pthread_t t; START } int main(void) { f(); f(); return 0; }", ""),
    (
        "void *v(void *p) { pthread_t t; START return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, v, 0); return 0; }",
        "",
    ),
    ("int main(void) { pthread_t t; START START START START return 0; }", "4 bound-threads"),
    ("int main(void) { pthread_t t; for (int i = 0; i < 4; i++) { START } return 0; }", "1 bound-threads"),
    (
        "int main(void) { pthread_t t; g = __VERIFIER_nondet_int(); for (int i = 0; i < g; i++) { START } return 0; }",
        "1 bound-threads",
    ),
    ("int main(void) { pthread_t t; while (1) { START } return 0; }", "1 bound-threads"),
    (
        "int main(void) { g = __VERIFIER_nondet_int(); pthread_t t; again: START if (g) goto again; return 0; }",
        "1 bound-threads",
    ),
    ("void f(void) { pthread_t t; START START } int main(void) { f(); f(); return 0; }", "2 bound-threads"),
    (
        "void f(int n) { pthread_t t; START if (n) f(n - 1); } int main(void) { g = __VERIFIER_nondet_int(); f(g); return 0; }",
        "2 bound-depth, 1 bound-threads",
    ),
    (
        "void *v(void *p) { pthread_t t; START return 0; } int main(void) { pthread_t t; for (int i = 0; i < 2; i++) pthread_create(&t, 0, v, 0); return 0; }",
        "2 bound-threads",
    ),
    (
        "void *v(void *p) { pthread_t t; pthread_create(&t, 0, v, 0); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, v, 0); return 0; }",
        "2 bound-threads",
    ),
    (
        "int main(void) { pthread_t t; for (int j = 0; j < 2; j++) for (int i = 0; i < 2; i++) { START } return 0; }",
        "1 bound-threads",
    ),
];

#[test]
fn bounds_that_are_not_met() {
    let program = |text: &str| format!("{WORKER} {}", text.replace("START", "pthread_create(&t, 0, w, 0);"));
    compare(THREADS.iter().map(|(text, expected)| (program(text), *expected)), possible);
}

/// Programs with the worker `w`, where `START` and `JOIN` stand for those of `t`, and the joins that may fail.
const HANDLES: &[(&str, &str)] = &[
    ("int main(void) { pthread_t t; START JOIN return 0; }", ""),
    ("pthread_t t; int main(void) { START JOIN return 0; }", ""),
    (
        "int main(void) { pthread_t t, u; START pthread_create(&u, 0, w, 0); JOIN pthread_join(u, 0); return 0; }",
        "",
    ),
    (
        "int main(void) { pthread_t t[2]; pthread_create(&t[0], 0, w, 0); pthread_create(&t[1], 0, w, 0); pthread_join(t[0], 0); pthread_join(t[1], 0); return 0; }",
        "",
    ),
    ("int main(void) { pthread_t t; START g++; pthread_detach(t); return 0; }", ""),
    ("int main(void) { pthread_t t; for (int i = 0; i < 2; i++) { START JOIN } return 0; }", ""),
    ("void f(void) { pthread_t t; START JOIN } int main(void) { f(); return 0; }", ""),
    ("int main(void) { pthread_t t; JOIN return 0; }", "1 no-thread"),
    ("int main(void) { pthread_t t; START JOIN JOIN return 0; }", "1 no-thread"),
    ("int main(void) { pthread_t t; START pthread_detach(t); JOIN return 0; }", "1 no-thread"),
    (
        "int main(void) { pthread_t t; g = __VERIFIER_nondet_int(); if (g) { START } JOIN return 0; }",
        "1 no-thread",
    ),
    ("int main(void) { pthread_t t; START t = 0; JOIN return 0; }", "1 no-thread"),
    ("int main(void) { pthread_t t; START t = 2; JOIN return 0; }", "1 no-thread"),
    ("int main(void) { pthread_t t, u; START u = t; pthread_join(u, 0); JOIN return 0; }", "2 no-thread"),
    (
        "void f(pthread_t u) { pthread_join(u, 0); } int main(void) { pthread_t t; START f(t); JOIN return 0; }",
        "2 no-thread",
    ),
    (
        "pthread_t t; void *v(void *p) { JOIN return 0; } int main(void) { pthread_t u; START pthread_create(&u, 0, v, 0); JOIN pthread_join(u, 0); return 0; }",
        "3 no-thread",
    ),
    (
        "void f(pthread_t *p) { pthread_join(*p, 0); } int main(void) { pthread_t t; START f(&t); JOIN return 0; }",
        "1 invalid-pointer, 2 no-thread",
    ),
    (
        "void *v(void *p) { pthread_detach(pthread_self()); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, v, 0); JOIN return 0; }",
        "2 no-thread",
    ),
    (
        "int main(void) { pthread_t t[2]; int i = __VERIFIER_nondet_int() & 1; pthread_create(&t[0], 0, w, 0); pthread_create(&t[1], 0, w, 0); pthread_join(t[i], 0); pthread_join(t[1], 0); return 0; }",
        "2 no-thread",
    ),
    (
        "pthread_t u = 2; int main(void) { pthread_t t; START pthread_join(u, 0); JOIN return 0; }",
        "2 no-thread",
    ),
    ("int main(void) { pthread_t t; START while (g < 2) { JOIN g++; } return 0; }", "1 no-thread"),
];

#[test]
fn handles_that_are_fresh() {
    let program = |text: &str| {
        let text =
            text.replace("START", "pthread_create(&t, 0, w, 0);").replace("JOIN", "pthread_join(t, 0);");
        format!("{WORKER} {text}")
    };
    compare(HANDLES.iter().map(|(text, expected)| (program(text), *expected)), possible);
}
