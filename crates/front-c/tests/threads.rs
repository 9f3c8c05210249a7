//! Threads, kinds of mutexes, what is done once, values under keys, handlers, C11 threads: what the runs of
//! programs with them can do, by the reference interpreter.

mod runs;

use pdnet_front_c::{LowerOptions, Lowered};
use runs::{explore, lowered};

const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_attr_t;
typedef struct { int k; } pthread_mutexattr_t; typedef struct { int k; } pthread_cond_t; typedef int pthread_once_t;
typedef unsigned pthread_key_t; struct timespec { long s; long n; };
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
int pthread_tryjoin_np(pthread_t, void **); int pthread_timedjoin_np(pthread_t, void **, const struct timespec *);
int pthread_detach(pthread_t); void pthread_exit(void *); pthread_t pthread_self(void);
int pthread_attr_init(pthread_attr_t *); int pthread_attr_setdetachstate(pthread_attr_t *, int);
int pthread_attr_getdetachstate(const pthread_attr_t *, int *);
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *); int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_mutex_trylock(pthread_mutex_t *); int pthread_mutex_timedlock(pthread_mutex_t *, const struct timespec *);
int pthread_mutexattr_init(pthread_mutexattr_t *); int pthread_mutexattr_settype(pthread_mutexattr_t *, int);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *, int *); int pthread_mutexattr_destroy(pthread_mutexattr_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
int pthread_once(pthread_once_t *, void (*)(void));
int pthread_key_create(pthread_key_t *, void (*)(void *)); int pthread_key_delete(pthread_key_t);
void *pthread_getspecific(pthread_key_t); int pthread_setspecific(pthread_key_t, const void *);
void __pdnet_cleanup_push(void (*)(void *), void *); void __pdnet_cleanup_pop(int);
int pthread_cancel(pthread_t); int pthread_setcancelstate(int, int *); void pthread_testcancel(void);
typedef pthread_t thrd_t; typedef pthread_mutex_t mtx_t; typedef pthread_cond_t cnd_t; typedef pthread_once_t once_flag; typedef unsigned tss_t;
int thrd_create(thrd_t *, int (*)(void *), void *); int thrd_join(thrd_t, int *); void thrd_exit(int); int thrd_detach(thrd_t);
thrd_t thrd_current(void); int thrd_equal(thrd_t, thrd_t);
int mtx_init(mtx_t *, int); int mtx_lock(mtx_t *); int mtx_trylock(mtx_t *); int mtx_unlock(mtx_t *); void mtx_destroy(mtx_t *);
int mtx_timedlock(mtx_t *, const struct timespec *);
int cnd_init(cnd_t *); int cnd_wait(cnd_t *, mtx_t *); int cnd_signal(cnd_t *); int cnd_broadcast(cnd_t *);
int cnd_timedwait(cnd_t *, mtx_t *, const struct timespec *);
void call_once(once_flag *, void (*)(void)); int tss_create(tss_t *, void (*)(void *)); void *tss_get(tss_t); int tss_set(tss_t, void *);
void *malloc(unsigned long); void free(void *); void __pdnet_assert(_Bool);
";

fn lower(text: &str) -> Result<Lowered, String> {
    let options = LowerOptions { max_threads: 5, max_depth: 12, ..LowerOptions::default() };
    lowered(PRELUDE, text, &[], &options)
}

/// Each row: a name, the program, and what its runs can do.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        "a recursive mutex locked twice",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } int main(void) { make(); __pdnet_assert(pthread_mutex_lock(&m) == 0); __pdnet_assert(pthread_mutex_lock(&m) == 0); __pdnet_assert(pthread_mutex_unlock(&m) == 0); __pdnet_assert(pthread_mutex_unlock(&m) == 0); pthread_mutex_destroy(&m); return 0; }",
        "fine",
    ),
    (
        "a normal mutex locked twice",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 0); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } int main(void) { make(); pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        "deadlocks",
    ),
    (
        "an adaptive mutex is a normal one",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 3); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } pthread_mutex_t r = { 1 }; int main(void) { make(); pthread_mutex_lock(&r); pthread_mutex_lock(&r); pthread_mutex_lock(&m); __pdnet_assert(pthread_mutex_trylock(&m) == 16); pthread_mutex_lock(&m); return 0; }",
        "deadlocks",
    ),
    (
        "an error-checking mutex locked twice",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 2); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } int main(void) { make(); __pdnet_assert(pthread_mutex_lock(&m) == 0); __pdnet_assert(pthread_mutex_lock(&m) == 35); __pdnet_assert(pthread_mutex_trylock(&m) == 16); __pdnet_assert(pthread_mutex_unlock(&m) == 0); __pdnet_assert(pthread_mutex_unlock(&m) == 1); return 0; }",
        "fine",
    ),
    (
        "a recursive mutex that is not held",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } int main(void) { make(); __pdnet_assert(pthread_mutex_unlock(&m) == 1); return 0; }",
        "fine",
    ),
    (
        "a normal mutex that is not held, among others",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } pthread_mutex_t n; int main(void) { make(); pthread_mutex_unlock(&n); return 0; }",
        "not-owner",
    ),
    (
        "a recursive mutex given back by another thread",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } void *f(void *a) { __pdnet_assert(pthread_mutex_unlock(&m) == 1); __pdnet_assert(pthread_mutex_trylock(&m) == 16); return 0; } int main(void) { pthread_t t; make(); pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a recursive mutex keeps others out until the last unlock",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } int x; void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; make(); pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); x++; pthread_mutex_unlock(&m); pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fine",
    ),
    (
        "a recursive mutex given back too often",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } int x; void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; make(); pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); x++; pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fails",
    ),
    (
        "a recursive mutex given back too seldom",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } void *f(void *a) { pthread_mutex_lock(&m); return 0; } int main(void) { pthread_t t; make(); pthread_mutex_lock(&m); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
        "deadlocks",
    ),
    (
        "tries of a recursive mutex",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } struct timespec z; int main(void) { make(); __pdnet_assert(!pthread_mutex_trylock(&m)); __pdnet_assert(!pthread_mutex_trylock(&m)); __pdnet_assert(!pthread_mutex_timedlock(&m, &z)); pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); pthread_mutex_destroy(&m); return 0; }",
        "destroy-held",
    ),
    (
        "a timed lock of an error-checking mutex",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 2); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } struct timespec z; int main(void) { make(); __pdnet_assert(!pthread_mutex_timedlock(&m, &z)); __pdnet_assert(pthread_mutex_timedlock(&m, &z) == 35); return 0; }",
        "fine",
    ),
    (
        "a recursive mutex locked without end",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } int main(void) { make(); for (;;) pthread_mutex_lock(&m); return 0; }",
        "bounds",
    ),
    (
        "initialisers of all kinds",
        "pthread_mutex_t n = { 0 }, r = { 1 }, e = { 2 }, a[3] = { { 0 }, { 2 }, { 1 } }; struct s { int x; pthread_mutex_t m; } s = { 1, { 1 } }; int main(void) { pthread_mutex_t l = { 1 }; struct s t = { 1, { 2 } }; static pthread_mutex_t v = { 2 }; pthread_mutex_lock(&r); __pdnet_assert(!pthread_mutex_lock(&r)); pthread_mutex_lock(&e); __pdnet_assert(pthread_mutex_lock(&e) == 35); pthread_mutex_lock(&a[1]); __pdnet_assert(pthread_mutex_lock(&a[1]) == 35); pthread_mutex_lock(&a[2]); __pdnet_assert(!pthread_mutex_lock(&a[2])); pthread_mutex_lock(&s.m); __pdnet_assert(!pthread_mutex_lock(&s.m)); pthread_mutex_lock(&l); __pdnet_assert(!pthread_mutex_lock(&l)); pthread_mutex_lock(&t.m); __pdnet_assert(pthread_mutex_lock(&t.m) == 35); pthread_mutex_lock(&v); __pdnet_assert(pthread_mutex_lock(&v) == 35); pthread_mutex_lock(&a[0]); pthread_mutex_lock(&a[0]); return 0; }",
        "deadlocks",
    ),
    (
        "a mutex that is given its initialiser later",
        "pthread_mutex_t m; int main(void) { pthread_mutex_lock(&m); m = (pthread_mutex_t){ 1 }; pthread_mutex_lock(&m); __pdnet_assert(!pthread_mutex_lock(&m)); return 0; }",
        "fine",
    ),
    (
        "attributes by pointer, or none",
        "pthread_mutex_t m, n; int set(pthread_mutex_t *m, pthread_mutexattr_t *a) { return pthread_mutex_init(m, a); } int main(void) { pthread_mutexattr_t a; int k; pthread_mutexattr_init(&a); __pdnet_assert(pthread_mutexattr_settype(&a, 9) == 22); pthread_mutexattr_settype(&a, 2); pthread_mutexattr_gettype(&a, &k); __pdnet_assert(k == 2); set(&m, &a); set(&n, 0); pthread_mutex_lock(&m); __pdnet_assert(pthread_mutex_lock(&m) == 35); pthread_mutex_lock(&n); pthread_mutex_lock(&n); return 0; }",
        "deadlocks",
    ),
    (
        "a wait gives up a recursive mutex once",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } pthread_cond_t c; int go; void *f(void *a) { pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; make(); pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); while (!go) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a wait with a recursive mutex that is held twice",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 1); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } pthread_cond_t c; int go; void *f(void *a) { pthread_mutex_lock(&m); go = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; make(); pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); pthread_mutex_lock(&m); while (!go) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }",
        "deadlocks",
    ),
    (
        "a wait without the mutex",
        "pthread_mutex_t m; void make(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, 2); pthread_mutex_init(&m, &a); pthread_mutexattr_destroy(&a); } pthread_cond_t c; int main(void) { make(); __pdnet_assert(pthread_cond_wait(&c, &m) == 1); return 0; }",
        "fine",
    ),
    (
        "once",
        "int n; pthread_once_t o; void init(void) { n++; } void *f(void *a) { pthread_once(&o, init); __pdnet_assert(n == 1); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); f(0); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "not once",
        "int n, o; void init(void) { n++; } void *f(void *a) { if (!o) { o = 1; init(); } __pdnet_assert(n == 1); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); f(0); pthread_join(t, 0); return 0; }",
        "fails",
    ),
    (
        "once by pointer, and another once",
        "int n, k; pthread_once_t o[2]; void one(void) { n++; } void two(void) { k++; } int main(void) { void (*p)(void) = one; pthread_once(&o[0], p); p = two; pthread_once(&o[0], p); __pdnet_assert(n == 1 && k == 0); pthread_once(&o[1], p); __pdnet_assert(n == 1 && k == 1); return 0; }",
        "fine",
    ),
    (
        "once within once",
        "pthread_once_t o; void init(void) { pthread_once(&o, init); } int main(void) { pthread_once(&o, init); return 0; }",
        "deadlocks",
    ),
    (
        "values under keys",
        "pthread_key_t k, l; void *f(void *a) { __pdnet_assert(pthread_getspecific(k) == 0); pthread_setspecific(k, a); __pdnet_assert(pthread_getspecific(k) == a); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, 0); pthread_key_create(&l, 0); pthread_setspecific(k, (void *)7); pthread_setspecific(l, (void *)8); pthread_create(&t, 0, f, (void *)5); pthread_join(t, 0); __pdnet_assert(pthread_getspecific(k) == (void *)7); __pdnet_assert(pthread_getspecific(l) == (void *)8); pthread_key_delete(k); return 0; }",
        "fine",
    ),
    (
        "a value of another thread",
        "pthread_key_t k; void *f(void *a) { __pdnet_assert(pthread_getspecific(k) == (void *)7); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, 0); pthread_setspecific(k, (void *)7); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
        "fails",
    ),
    (
        "a key that was not created",
        "pthread_key_t k; int main(void) { pthread_setspecific(k, (void *)1); return 0; }",
        "uninitialised",
    ),
    (
        "more keys than are kept",
        "pthread_key_t k; int main(void) { for (int i = 0; i < 20; i++) pthread_key_create(&k, 0); return 0; }",
        "bounds",
    ),
    (
        "destructors",
        "int n; pthread_key_t k, l; void gone(void *p) { n += (int)(long)p; } void *f(void *a) { pthread_setspecific(k, (void *)1); pthread_setspecific(l, (void *)2); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, gone); pthread_key_create(&l, gone); pthread_create(&t, 0, f, 0); pthread_join(t, 0); __pdnet_assert(n == 3); return 0; }",
        "fine",
    ),
    (
        "a destructor has run before the join",
        "int n; pthread_key_t k; void gone(void *p) { n = 1; } void *f(void *a) { pthread_setspecific(k, (void *)1); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, gone); pthread_create(&t, 0, f, 0); __pdnet_assert(n == 0); pthread_join(t, 0); return 0; }",
        "fails",
    ),
    (
        "no destructor for null, for a key without one, for one that was deleted",
        "int n; pthread_key_t k, l, m; void gone(void *p) { n++; } void *f(void *a) { pthread_setspecific(k, (void *)1); pthread_setspecific(k, 0); pthread_setspecific(l, (void *)1); pthread_setspecific(m, (void *)1); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, gone); pthread_key_create(&l, 0); pthread_key_create(&m, gone); pthread_key_delete(m); __pdnet_assert(1); pthread_create(&t, 0, f, 0); pthread_join(t, 0); __pdnet_assert(n == 0); return 0; }",
        "fine",
    ),
    (
        "a destructor that sets its value again",
        "int n; pthread_key_t k; void gone(void *p) { n++; if (p != (void *)3) pthread_setspecific(k, (void *)((long)p + 1)); } void *f(void *a) { pthread_setspecific(k, (void *)1); pthread_exit(0); } int main(void) { pthread_t t; pthread_key_create(&k, gone); pthread_create(&t, 0, f, 0); pthread_join(t, 0); __pdnet_assert(n == 3); return 0; }",
        "fine",
    ),
    (
        "a destructor frees",
        "pthread_key_t k; void gone(void *p) { free(p); } void *f(void *a) { int *p = malloc(sizeof(int)); *p = 1; pthread_setspecific(k, p); if (*(int *)pthread_getspecific(k)) pthread_exit(0); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, gone); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a destructor after a return from main",
        "pthread_key_t k; void gone(void *p) { __pdnet_assert(0); } int main(void) { pthread_key_create(&k, gone); pthread_setspecific(k, (void *)1); return 0; }",
        "fine",
    ),
    (
        "a destructor after main exits",
        "pthread_key_t k; void gone(void *p) { __pdnet_assert(0); } int main(void) { pthread_key_create(&k, gone); pthread_setspecific(k, (void *)1); pthread_exit(0); }",
        "fails",
    ),
    (
        "a key that is made once",
        "int n; pthread_key_t k; pthread_once_t o; void gone(void *p) { n++; } void make(void) { pthread_key_create(&k, gone); } void *f(void *a) { pthread_once(&o, make); pthread_setspecific(k, (void *)1); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_once(&o, make); pthread_join(t, 0); __pdnet_assert(n == 1); return 0; }",
        "fine",
    ),
    (
        "a handler that is popped",
        "int n; void h(void *p) { n += (int)(long)p; } int main(void) { __pdnet_cleanup_push(h, (void *)1); __pdnet_cleanup_push(h, (void *)2); __pdnet_cleanup_pop(0); __pdnet_assert(n == 0); __pdnet_cleanup_pop(1); __pdnet_assert(n == 1); return 0; }",
        "fine",
    ),
    (
        "a handler that gives back a mutex",
        "pthread_mutex_t m; void h(void *p) { pthread_mutex_unlock(p); } void *f(void *a) { pthread_mutex_lock(&m); do { __pdnet_cleanup_push(h, &m); if (a) pthread_exit(0); __pdnet_cleanup_pop(1); } while (0); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, (void *)1); pthread_join(t, 0); pthread_mutex_lock(&m); return 0; }",
        "fine",
    ),
    (
        "no handler that gives back a mutex",
        "pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); if (a) pthread_exit(0); pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, (void *)1); pthread_join(t, 0); pthread_mutex_lock(&m); return 0; }",
        "deadlocks",
    ),
    (
        "handlers run in reverse order",
        "int n; void one(void *p) { __pdnet_assert(n == 1); n = 2; } void two(void *p) { __pdnet_assert(n == 0); n = 1; } void *f(void *a) { __pdnet_cleanup_push(one, 0); __pdnet_cleanup_push(two, 0); pthread_exit((void *)9); __pdnet_cleanup_pop(0); __pdnet_cleanup_pop(0); return 0; } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, 0); pthread_join(t, &r); __pdnet_assert(n == 2 && r == (void *)9); return 0; }",
        "fine",
    ),
    (
        "handlers of callers run",
        "int n; void h(void *p) { n = n * 4 + (int)(long)p; } void deep(int d) { __pdnet_cleanup_push(h, (void *)3); if (d) pthread_exit((void *)8); __pdnet_cleanup_pop(0); } void mid(int d) { __pdnet_cleanup_push(h, (void *)2); deep(d); __pdnet_cleanup_pop(0); n = 100; } void *f(void *a) { __pdnet_cleanup_push(h, (void *)1); mid(0); n = 0; mid(1); n = 50; __pdnet_cleanup_pop(1); return 0; } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, 0); pthread_join(t, &r); __pdnet_assert(n == 57 && r == (void *)8); return 0; }",
        "fine",
    ),
    (
        "handlers run before destructors",
        "int n; pthread_key_t k; void gone(void *p) { __pdnet_assert(n == 1); n = 2; } void h(void *p) { __pdnet_assert(n == 0); n = 1; } void deep(void) { pthread_exit(0); } void *f(void *a) { pthread_setspecific(k, (void *)1); __pdnet_cleanup_push(h, 0); deep(); __pdnet_cleanup_pop(0); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, gone); pthread_create(&t, 0, f, 0); pthread_join(t, 0); __pdnet_assert(n == 2); return 0; }",
        "fine",
    ),
    (
        "main exits through a handler",
        "int n; void h(void *p) { n = 1; } void *f(void *a) { __pdnet_assert(n == 0); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); __pdnet_cleanup_push(h, 0); pthread_exit(0); __pdnet_cleanup_pop(0); return 0; }",
        "fails",
    ),
    (
        "join twice",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); pthread_join(t, 0); return 0; }",
        "no-thread",
    ),
    (
        "two threads joined once each",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); return 0; }",
        "fine",
    ),
    (
        "detach then join",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_detach(t); pthread_join(t, 0); return 0; }",
        "no-thread",
    ),
    (
        "a thread that detaches itself and is joined",
        "void *f(void *a) { pthread_detach(pthread_self()); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
        "no-thread",
    ),
    (
        "detach twice",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_detach(t); pthread_detach(t); return 0; }",
        "no-thread",
    ),
    (
        "created detached, and joined",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; pthread_attr_t a; int s; pthread_attr_init(&a); pthread_attr_setdetachstate(&a, 1); pthread_attr_getdetachstate(&a, &s); __pdnet_assert(s == 1); pthread_create(&t, &a, f, 0); pthread_join(t, 0); return 0; }",
        "no-thread",
    ),
    (
        "created joinable, and joined",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t, u; pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setdetachstate(&a, 1); pthread_create(&u, &a, f, 0); pthread_attr_setdetachstate(&a, 0); pthread_create(&t, &a, f, 0); pthread_join(t, 0); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "join what is still running, or not",
        "int n; struct timespec z; void *f(void *a) { n = 1; return (void *)4; } int main(void) { pthread_t t; void *r; int e; pthread_create(&t, 0, f, 0); e = pthread_tryjoin_np(t, &r); __pdnet_assert(e == 16 || (e == 0 && n == 1 && r == (void *)4)); if (e) { e = pthread_timedjoin_np(t, &r, &z); __pdnet_assert(e == 110 || (e == 0 && n == 1)); } return 0; }",
        "fine",
    ),
    (
        "try to join twice",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); while (pthread_tryjoin_np(t, 0)) ; pthread_tryjoin_np(t, 0); return 0; }",
        "no-thread",
    ),
    (
        "handles in a heap block",
        "int n; void *f(void *a) { n++; return 0; } int main(void) { pthread_t *t = malloc(2 * sizeof(pthread_t)); pthread_create(&t[0], 0, f, 0); pthread_join(t[0], 0); pthread_create(&t[1], 0, f, 0); pthread_join(t[1], 0); __pdnet_assert(n == 2); free(t); return 0; }",
        "fine",
    ),
    (
        "handles in a struct",
        "struct w { pthread_t t; int n; } w[2]; void *f(void *a) { ((struct w *)a)->n = 1; return 0; } int main(void) { for (int i = 0; i < 2; i++) pthread_create(&w[i].t, 0, f, &w[i]); for (int i = 0; i < 2; i++) { pthread_join(w[i].t, 0); __pdnet_assert(w[i].n == 1); } return 0; }",
        "fine",
    ),
    (
        "threads without end",
        "void *f(void *a) { return 0; } int main(void) { pthread_t t; for (;;) { pthread_create(&t, 0, f, 0); pthread_detach(t); } return 0; }",
        "bounds",
    ),
    (
        "a state that nobody uses",
        "int main(void) { int old = 5; pthread_setcancelstate(1, &old); __pdnet_assert(old == 0); pthread_testcancel(); pthread_setcancelstate(old, &old); __pdnet_assert(old == 1); pthread_setcancelstate(0, 0); return 0; }",
        "fine",
    ),
    (
        "a C11 thread and its result",
        "int f(void *a) { return *(int *)a - 10; } int main(void) { thrd_t t; int x = 3, r; __pdnet_assert(thrd_create(&t, f, &x) == 0); __pdnet_assert(thrd_join(t, &r) == 0); __pdnet_assert(r == -7); return 0; }",
        "fine",
    ),
    (
        "a C11 thread that exits",
        "void deep(void) { thrd_exit(-2); } int f(void *a) { deep(); return 1; } int main(void) { thrd_t t; int r; thrd_create(&t, f, 0); thrd_join(t, &r); __pdnet_assert(r == -2); __pdnet_assert(!thrd_equal(t, thrd_current())); return 0; }",
        "fine",
    ),
    (
        "C11 mutexes",
        "int x; mtx_t m; int f(void *a) { mtx_lock(&m); x++; mtx_unlock(&m); return 0; } int main(void) { thrd_t t; mtx_init(&m, 0); thrd_create(&t, f, 0); f(0); thrd_join(t, 0); __pdnet_assert(x == 2); __pdnet_assert(mtx_trylock(&m) == 0); __pdnet_assert(mtx_trylock(&m) == 1); mtx_unlock(&m); mtx_destroy(&m); return 0; }",
        "fine",
    ),
    (
        "a C11 thread without its mutex",
        "int x; mtx_t m; int f(void *a) { mtx_lock(&m); x++; mtx_unlock(&m); return 0; } int main(void) { thrd_t t; mtx_init(&m, 0); thrd_create(&t, f, 0); x++; thrd_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fails",
    ),
    (
        "kinds of C11 mutexes",
        "struct timespec z; mtx_t m, n; int main(void) { mtx_init(&m, 1 | 2); mtx_init(&n, 2); mtx_lock(&m); __pdnet_assert(mtx_lock(&m) == 0); __pdnet_assert(mtx_timedlock(&n, &z) == 0); __pdnet_assert(mtx_timedlock(&n, &z) == 4); mtx_lock(&n); return 0; }",
        "deadlocks",
    ),
    (
        "C11 condition variables",
        "int go; mtx_t m; cnd_t c; struct timespec z; int f(void *a) { mtx_lock(&m); go = 1; cnd_signal(&c); mtx_unlock(&m); return 0; } int main(void) { thrd_t t; mtx_init(&m, 0); cnd_init(&c); thrd_create(&t, f, 0); mtx_lock(&m); while (!go) cnd_wait(&c, &m); __pdnet_assert(cnd_timedwait(&c, &m, &z) == 4); mtx_unlock(&m); thrd_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a lost C11 signal",
        "mtx_t m; cnd_t c; int f(void *a) { cnd_broadcast(&c); return 0; } int main(void) { thrd_t t; mtx_init(&m, 0); thrd_create(&t, f, 0); mtx_lock(&m); cnd_wait(&c, &m); return 0; }",
        "deadlocks",
    ),
    (
        "C11's once and keys",
        "int n, g; once_flag o; tss_t k; void gone(void *p) { g++; } void init(void) { n++; tss_create(&k, gone); } int f(void *a) { call_once(&o, init); tss_set(k, &n); __pdnet_assert(*(int *)tss_get(k) == 1); return 0; } int main(void) { thrd_t t; thrd_create(&t, f, 0); call_once(&o, init); thrd_join(t, 0); __pdnet_assert(n == 1 && g == 1); return 0; }",
        "fine",
    ),
    (
        "a C11 thread detached and joined",
        "int f(void *a) { return 0; } int main(void) { thrd_t t; thrd_create(&t, f, 0); thrd_detach(t); thrd_join(t, 0); return 0; }",
        "no-thread",
    ),
    (
        "a thread cancelled where it waits",
        "pthread_mutex_t m; pthread_cond_t c; void *f(void *a) { pthread_mutex_lock(&m); for (;;) pthread_cond_wait(&c, &m); return 0; } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, 0); __pdnet_assert(pthread_cancel(t) == 0); pthread_join(t, &r); __pdnet_assert(r == (void *)-1); return 0; }",
        "fine",
    ),
    (
        "a cancelled thread keeps the mutex of its wait",
        "pthread_mutex_t m; pthread_cond_t c; void *f(void *a) { pthread_mutex_lock(&m); for (;;) pthread_cond_wait(&c, &m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0); pthread_mutex_lock(&m); return 0; }",
        "deadlocks",
    ),
    (
        "a handler gives back the mutex of a cancelled wait",
        "pthread_mutex_t m; pthread_cond_t c; void h(void *p) { pthread_mutex_unlock(p); } void *f(void *a) { pthread_mutex_lock(&m); __pdnet_cleanup_push(h, &m); for (;;) pthread_cond_wait(&c, &m); __pdnet_cleanup_pop(1); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0); pthread_mutex_lock(&m); return 0; }",
        "fine",
    ),
    (
        "a wait for a mutex is no cancellation point",
        "pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); return 0; } int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0); return 0; }",
        "deadlocks",
    ),
    (
        "a thread that tests whether it is cancelled",
        "int n; void *f(void *a) { for (;;) pthread_testcancel(); n = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0); __pdnet_assert(n == 0); return 0; }",
        "fine",
    ),
    (
        "a thread that does not want to be cancelled",
        "int n; void *f(void *a) { pthread_setcancelstate(1, 0); pthread_testcancel(); n = 1; pthread_setcancelstate(0, 0); pthread_testcancel(); n = 2; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0); __pdnet_assert(n != 0); return 0; }",
        "fine",
    ),
    (
        "a thread that is cancelled too late",
        "int n; void *f(void *a) { pthread_testcancel(); n = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0); __pdnet_assert(n == 0); return 0; }",
        "fails",
    ),
    (
        "a join that is cancelled in a called function",
        "int n; pthread_t u; void h(void *p) { n++; } void *g(void *a) { for (;;) pthread_testcancel(); } void wait(void) { pthread_join(u, 0); } void *f(void *a) { __pdnet_cleanup_push(h, 0); wait(); __pdnet_cleanup_pop(0); return 0; } int main(void) { pthread_t t; pthread_create(&u, 0, g, 0); pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0); __pdnet_assert(n == 1); return 0; }",
        "fine",
    ),
    (
        "a destructor of a cancelled thread",
        "int n; pthread_key_t k; void gone(void *p) { n++; pthread_testcancel(); n++; } void *f(void *a) { pthread_setspecific(k, &n); for (;;) pthread_testcancel(); return 0; } int main(void) { pthread_t t; pthread_key_create(&k, gone); pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, 0); __pdnet_assert(n == 2); return 0; }",
        "fine",
    ),
    (
        "output may be a cancellation point",
        "int n; int puts(const char *); void *f(void *a) { puts(\"x\"); n = 1; return 0; } int main(void) { pthread_t t; void *r; pthread_create(&t, 0, f, 0); pthread_cancel(t); pthread_join(t, &r); __pdnet_assert((n == 1) == (r == 0)); __pdnet_assert(n == 0); return 0; }",
        "fails",
    ),
];

#[test]
fn programs_do_what_they_should() {
    for (name, text, expected) in PROGRAMS {
        let lowered = lower(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(explore(&lowered).words(), *expected, "{name}\n{}", lowered.net);
    }
}

/// Each row: a program that is refused, and words of the diagnostic.
const REFUSED: &[(&str, &str)] = &[
    (
        "int pthread_setcanceltype(int, int *); int main(void) { pthread_setcanceltype(1, 0); pthread_cancel(pthread_self()); return 0; }",
        "asynchronous cancellation is not modelled",
    ),
    ("int main(void) { __pdnet_cleanup_pop(1); return 0; }", "without a `pthread_cleanup_push`"),
    ("void g(void); pthread_once_t o; int main(void) { pthread_once(&o, g); return 0; }", "`g` has no body"),
];

#[test]
fn what_has_no_net_is_refused() {
    for (text, words) in REFUSED {
        match lower(text) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => assert!(error.contains(words), "{text}\n{error}"),
        }
    }
}
