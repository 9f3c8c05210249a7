//! Objects of the thread library other than mutexes and condition variables: what the runs of programs with
//! them can do, by the reference interpreter.

mod runs;

use pdnet_front_c::{LowerOptions, Lowered};
use runs::{explore, lowered};

const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_attr_t;
typedef struct { int k; } sem_t; typedef volatile int pthread_spinlock_t; typedef struct { int k; } pthread_rwlock_t;
typedef struct { int k; } pthread_rwlockattr_t; typedef struct { int k; } pthread_barrier_t;
typedef struct { int k; } pthread_barrierattr_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
int pthread_detach(pthread_t); void pthread_exit(void *);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int sem_init(sem_t *, int, unsigned); int sem_wait(sem_t *); int sem_trywait(sem_t *); int sem_post(sem_t *);
int sem_getvalue(sem_t *, int *); int sem_destroy(sem_t *); int *__errno_location(void);
int pthread_spin_init(pthread_spinlock_t *, int); int pthread_spin_lock(pthread_spinlock_t *);
int pthread_spin_trylock(pthread_spinlock_t *); int pthread_spin_unlock(pthread_spinlock_t *);
int pthread_spin_destroy(pthread_spinlock_t *);
int pthread_rwlock_init(pthread_rwlock_t *, const pthread_rwlockattr_t *); int pthread_rwlock_rdlock(pthread_rwlock_t *);
int pthread_rwlock_wrlock(pthread_rwlock_t *); int pthread_rwlock_tryrdlock(pthread_rwlock_t *);
int pthread_rwlock_trywrlock(pthread_rwlock_t *); int pthread_rwlock_unlock(pthread_rwlock_t *);
int pthread_rwlock_destroy(pthread_rwlock_t *);
int pthread_barrier_init(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned);
int pthread_barrier_wait(pthread_barrier_t *); int pthread_barrier_destroy(pthread_barrier_t *);
typedef struct { int k; } pthread_cond_t; struct timespec { long s; long n; };
int pthread_mutex_timedlock(pthread_mutex_t *, const struct timespec *); int sem_timedwait(sem_t *, const struct timespec *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int pthread_rwlock_timedwrlock(pthread_rwlock_t *, const struct timespec *);
void __pdnet_assert(_Bool);
";

fn lower(text: &str) -> Result<Lowered, String> {
    let options = LowerOptions { max_threads: 8, max_depth: 12, ..LowerOptions::default() };
    lowered(PRELUDE, text, &[], &options)
}

/// Each row: a name, the program, and what its runs can do.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (
        "a semaphore as a lock",
        "int x; sem_t s; void *f(void *a) { sem_wait(&s); x++; sem_post(&s); return 0; } int main(void) { pthread_t t; sem_init(&s, 0, 1); pthread_create(&t, 0, f, 0); sem_wait(&s); x++; sem_post(&s); pthread_join(t, 0); __pdnet_assert(x == 2); sem_destroy(&s); return 0; }",
        "fine",
    ),
    (
        "a semaphore of two lets two in",
        "int x; sem_t s; void *f(void *a) { sem_wait(&s); x++; sem_post(&s); return 0; } int main(void) { pthread_t t; sem_init(&s, 0, 2); pthread_create(&t, 0, f, 0); sem_wait(&s); x++; sem_post(&s); pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fails",
    ),
    (
        "a semaphore at 0",
        "sem_t s; int main(void) { sem_init(&s, 0, 1); sem_wait(&s); sem_wait(&s); return 0; }",
        "deadlocks",
    ),
    (
        "a post is remembered",
        "int x; sem_t s; void *f(void *a) { x = 1; sem_post(&s); return 0; } int main(void) { pthread_t t; sem_init(&s, 0, 0); pthread_create(&t, 0, f, 0); sem_wait(&s); __pdnet_assert(x == 1); return 0; }",
        "fine",
    ),
    (
        "any thread may post",
        "sem_t s; void *f(void *a) { sem_post(&s); return 0; } int main(void) { pthread_t t; sem_init(&s, 0, 1); sem_wait(&s); pthread_create(&t, 0, f, 0); sem_wait(&s); return 0; }",
        "fine",
    ),
    (
        "try to wait",
        "sem_t s; int main(void) { sem_init(&s, 0, 1); __pdnet_assert(sem_trywait(&s) == 0); __pdnet_assert(sem_trywait(&s) == -1); if (sem_trywait(&s)) sem_post(&s); __pdnet_assert(!sem_trywait(&s)); return 0; }",
        "fine",
    ),
    (
        "the value of a semaphore",
        "sem_t s; int main(void) { int v; sem_init(&s, 0, 3); sem_wait(&s); sem_getvalue(&s, &v); __pdnet_assert(v == 2); sem_post(&s); sem_post(&s); sem_getvalue(&s, &v); __pdnet_assert(v == 4); return 0; }",
        "fine",
    ),
    (
        "the value of a semaphore in a shared variable",
        "int v; sem_t s; void *f(void *a) { sem_post(&s); v = 7; return 0; } int main(void) { pthread_t t; sem_init(&s, 0, 1); pthread_create(&t, 0, f, 0); sem_getvalue(&s, &v); pthread_join(t, 0); __pdnet_assert(v == 1 || v == 2 || v == 7); __pdnet_assert(v != 1); return 0; }",
        "fails",
    ),
    (
        "an array of semaphores",
        "int n = 2; sem_t s[2]; void *f(void *a) { int i = 1; sem_wait(&s[i]); sem_post(s); return 0; } int main(void) { pthread_t t; for (int i = 0; i < 2; i++) sem_init(&s[i], 0, n - 2); pthread_create(&t, 0, f, 0); sem_post(s + 1); sem_wait(&s[0]); return 0; }",
        "fine",
    ),
    (
        "a semaphore out of bounds",
        "sem_t s[2]; int main(void) { int i = 2; sem_post(&s[i]); return 0; }",
        "out-of-bounds",
    ),
    (
        "a static semaphore",
        "void enter(void) { static sem_t s; sem_post(&s); sem_wait(&s); sem_wait(&s); } int main(void) { enter(); return 0; }",
        "deadlocks",
    ),
    (
        "semaphores in two orders",
        "sem_t a, b; void *f(void *x) { sem_wait(&b); sem_wait(&a); sem_post(&a); sem_post(&b); return 0; } int main(void) { pthread_t t; sem_init(&a, 0, 1); sem_init(&b, 0, 1); pthread_create(&t, 0, f, 0); sem_wait(&a); sem_wait(&b); sem_post(&b); sem_post(&a); pthread_join(t, 0); return 0; }",
        "deadlocks",
    ),
    (
        "a spin lock",
        "int x; pthread_spinlock_t l; void *f(void *a) { pthread_spin_lock(&l); x++; pthread_spin_unlock(&l); return 0; } int main(void) { pthread_t t; pthread_spin_init(&l, 0); pthread_create(&t, 0, f, 0); pthread_spin_lock(&l); x++; pthread_spin_unlock(&l); pthread_join(t, 0); __pdnet_assert(x == 2); pthread_spin_destroy(&l); return 0; }",
        "fine",
    ),
    (
        "a spin lock taken twice",
        "pthread_spinlock_t l; int main(void) { pthread_spin_lock(&l); __pdnet_assert(pthread_spin_trylock(&l) == 16); pthread_spin_lock(&l); return 0; }",
        "deadlocks",
    ),
    (
        "a spin lock that is not held",
        "pthread_spinlock_t l; int main(void) { pthread_spin_unlock(&l); return 0; }",
        "not-owner",
    ),
    (
        "a held spin lock destroyed",
        "pthread_spinlock_t l[2]; int main(void) { pthread_spin_trylock(&l[1]); pthread_spin_destroy(&l[0]); pthread_spin_destroy(&l[1]); return 0; }",
        "destroy-held",
    ),
    (
        "a detached thread",
        "int x; void *f(void *a) { x = 1; return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); __pdnet_assert(pthread_detach(t) == 0); __pdnet_assert(x == 0); return 0; }",
        "fails",
    ),
    (
        "readers together",
        "int in; sem_t s; pthread_rwlock_t l; void *f(void *a) { pthread_rwlock_rdlock(&l); sem_post(&s); pthread_rwlock_unlock(&l); return 0; } int main(void) { pthread_t t; pthread_rwlock_init(&l, 0); pthread_create(&t, 0, f, 0); pthread_rwlock_rdlock(&l); sem_wait(&s); pthread_rwlock_unlock(&l); pthread_join(t, 0); pthread_rwlock_destroy(&l); return 0; }",
        "fine",
    ),
    (
        "a reader keeps the writer out",
        "sem_t s; pthread_rwlock_t l; void *f(void *a) { pthread_rwlock_wrlock(&l); sem_post(&s); pthread_rwlock_unlock(&l); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_rwlock_rdlock(&l); sem_wait(&s); pthread_rwlock_unlock(&l); pthread_join(t, 0); return 0; }",
        "deadlocks",
    ),
    (
        "writers one by one",
        "int x; pthread_rwlock_t l; void *f(void *a) { pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_rwlock_wrlock(&l); x++; pthread_rwlock_unlock(&l); pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fine",
    ),
    (
        "writing under a read lock",
        "int x; pthread_rwlock_t l; void *f(void *a) { pthread_rwlock_rdlock(&l); x++; pthread_rwlock_unlock(&l); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_rwlock_rdlock(&l); x++; pthread_rwlock_unlock(&l); pthread_join(t, 0); __pdnet_assert(x == 2); return 0; }",
        "fails",
    ),
    (
        "a reader sees no half of a write",
        "int x, y; pthread_rwlock_t l; void *f(void *a) { pthread_rwlock_wrlock(&l); x = 1; y = 1; pthread_rwlock_unlock(&l); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_rwlock_rdlock(&l); __pdnet_assert(x == y); pthread_rwlock_unlock(&l); return 0; }",
        "fine",
    ),
    (
        "tries of a read-write lock",
        "pthread_rwlock_t l[2]; int main(void) { int i = 1; __pdnet_assert(!pthread_rwlock_tryrdlock(&l[i])); __pdnet_assert(!pthread_rwlock_tryrdlock(&l[i])); __pdnet_assert(pthread_rwlock_trywrlock(&l[i]) == 16); pthread_rwlock_unlock(&l[i]); __pdnet_assert(pthread_rwlock_trywrlock(&l[i]) == 16); pthread_rwlock_unlock(l + i); __pdnet_assert(!pthread_rwlock_trywrlock(&l[i])); __pdnet_assert(pthread_rwlock_tryrdlock(&l[i]) == 16); __pdnet_assert(pthread_rwlock_trywrlock(&l[i]) == 16); return 0; }",
        "fine",
    ),
    (
        "an upgrade of a read lock",
        "pthread_rwlock_t l; int main(void) { pthread_rwlock_rdlock(&l); pthread_rwlock_wrlock(&l); return 0; }",
        "deadlocks",
    ),
    (
        "a read-write lock that nobody holds",
        "pthread_rwlock_t l; int main(void) { pthread_rwlock_rdlock(&l); pthread_rwlock_unlock(&l); pthread_rwlock_unlock(&l); return 0; }",
        "not-owner",
    ),
    (
        "a read-write lock of another writer",
        "pthread_rwlock_t l; void *f(void *a) { pthread_rwlock_unlock(&l); return 0; } int main(void) { pthread_t t; pthread_rwlock_wrlock(&l); pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }",
        "not-owner",
    ),
    (
        "a held read-write lock destroyed",
        "pthread_rwlock_t l; int main(void) { pthread_rwlock_rdlock(&l); pthread_rwlock_destroy(&l); return 0; }",
        "destroy-held",
    ),
    (
        "a barrier",
        "int x; pthread_barrier_t b; void *f(void *a) { x = 1; pthread_barrier_wait(&b); return 0; } int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, f, 0); pthread_barrier_wait(&b); __pdnet_assert(x == 1); pthread_join(t, 0); pthread_barrier_destroy(&b); return 0; }",
        "fine",
    ),
    (
        "a barrier for more than come",
        "pthread_barrier_t b; void *f(void *a) { pthread_barrier_wait(&b); return 0; } int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 3); pthread_create(&t, 0, f, 0); pthread_barrier_wait(&b); return 0; }",
        "deadlocks",
    ),
    (
        "one thread is the serial one",
        "int n; pthread_mutex_t m; pthread_barrier_t b; void *f(void *a) { int r = pthread_barrier_wait(&b); __pdnet_assert(r == 0 || r == -1); if (r == -1) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); } return 0; } int main(void) { pthread_t t, u; pthread_barrier_init(&b, 0, 3); pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); f(0); pthread_join(t, 0); pthread_join(u, 0); __pdnet_assert(n == 1); return 0; }",
        "fine",
    ),
    (
        "any thread can be the serial one",
        "pthread_barrier_t b; void *f(void *a) { pthread_barrier_wait(&b); return 0; } int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, f, 0); __pdnet_assert(pthread_barrier_wait(&b) == 0); return 0; }",
        "fails",
    ),
    (
        "a barrier again and again",
        "int x, y; pthread_barrier_t b; void *f(void *a) { for (int i = 0; i < 3; i++) { x++; pthread_barrier_wait(&b); __pdnet_assert(x == y); pthread_barrier_wait(&b); } return 0; } int main(void) { pthread_t t; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, f, 0); for (int i = 0; i < 3; i++) { y++; pthread_barrier_wait(&b); __pdnet_assert(x == y && x == i + 1); pthread_barrier_wait(&b); } pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "three at a barrier for two",
        "pthread_barrier_t b; void *f(void *a) { pthread_barrier_wait(&b); return 0; } int main(void) { pthread_t t, u; pthread_barrier_init(&b, 0, 2); pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0); pthread_barrier_wait(&b); pthread_join(t, 0); pthread_join(u, 0); return 0; }",
        "deadlocks",
    ),
    (
        "an array of barriers",
        "unsigned n = 2; pthread_barrier_t b[2]; void *f(void *a) { int i = (int)(long)a; pthread_barrier_wait(&b[i]); return 0; } int main(void) { pthread_t t; pthread_barrier_init(&b[0], 0, n); pthread_barrier_init(b + 1, 0, 1); pthread_create(&t, 0, f, (void *)0); __pdnet_assert(pthread_barrier_wait(&b[1]) == -1); pthread_barrier_wait(&b[0]); pthread_join(t, 0); return 0; }",
        "fine",
    ),
    (
        "a barrier for nobody",
        "pthread_barrier_t b; int main(void) { __pdnet_assert(pthread_barrier_init(&b, 0, 0) == 22); __pdnet_assert(pthread_barrier_init(&b, 0, 1) == 0); return 0; }",
        "fine",
    ),
    (
        "a barrier without a number",
        "pthread_barrier_t b; int main(void) { pthread_barrier_wait(&b); return 0; }",
        "uninitialised",
    ),
    (
        "timed locks give up",
        "struct timespec z; pthread_mutex_t m; pthread_rwlock_t l; sem_t s; int main(void) { __pdnet_assert(pthread_mutex_timedlock(&m, &z) == 0); __pdnet_assert(pthread_mutex_timedlock(&m, &z) == 110); __pdnet_assert(pthread_rwlock_timedwrlock(&l, &z) == 0); __pdnet_assert(pthread_rwlock_timedwrlock(&l, &z) == 110); __pdnet_assert(sem_timedwait(&s, &z) == -1); return 0; }",
        "fine",
    ),
    (
        "a timed lock may be taken or not",
        "struct timespec z; int x; pthread_mutex_t m; void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); if (pthread_mutex_timedlock(&m, &z) == 0) { x++; pthread_mutex_unlock(&m); } pthread_join(t, 0); __pdnet_assert(x == 1 || x == 2); __pdnet_assert(x == 2); return 0; }",
        "fails",
    ),
    (
        "a timed wait without a signal ends",
        "struct timespec z; pthread_mutex_t m; pthread_cond_t c; int main(void) { pthread_mutex_lock(&m); __pdnet_assert(pthread_cond_timedwait(&c, &m, &z) == 110); pthread_mutex_unlock(&m); return 0; }",
        "fine",
    ),
    (
        "a timed wait takes the mutex again",
        "struct timespec z; int x; pthread_mutex_t m; pthread_cond_t c; void *f(void *a) { pthread_mutex_lock(&m); x++; pthread_cond_signal(&c); x++; pthread_mutex_unlock(&m); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); int r = pthread_cond_timedwait(&c, &m, &z); __pdnet_assert(x == 0 || x == 2); __pdnet_assert(r == 110 || (r == 0 && x == 2)); pthread_mutex_unlock(&m); return 0; }",
        "fine",
    ),
    (
        "a timed wait can be woken in time",
        "struct timespec z; pthread_mutex_t m; pthread_cond_t c; void *f(void *a) { pthread_cond_signal(&c); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_mutex_lock(&m); __pdnet_assert(pthread_cond_timedwait(&c, &m, &z) == 110); return 0; }",
        "fails",
    ),
    (
        "a timed wait whose mutex is kept",
        "struct timespec z; pthread_mutex_t m; pthread_cond_t c; sem_t s; void *f(void *a) { pthread_mutex_lock(&m); sem_post(&s); return 0; } int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, f, 0); pthread_cond_timedwait(&c, &m, &z); sem_wait(&s); return 0; }",
        "deadlocks",
    ),
    (
        "errno says why a semaphore was not taken",
        "sem_t s; struct timespec z; int main(void) { __pdnet_assert(*__errno_location() == 0); if (sem_trywait(&s) == -1) __pdnet_assert((*__errno_location()) == 11); (*__errno_location()) = 0; sem_post(&s); sem_trywait(&s); __pdnet_assert(*__errno_location() == 0); sem_timedwait(&s, &z); __pdnet_assert(*__errno_location() == 110); return 0; }",
        "fine",
    ),
    (
        "each thread has its errno",
        "sem_t s; void *f(void *a) { sem_trywait(&s); __pdnet_assert(*__errno_location() == 11); return 0; } int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); __pdnet_assert(*__errno_location() == 0); return 0; }",
        "fine",
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
const REFUSED: &[(&str, &str)] =
    &[("int main(void) { pthread_mutex_t m, *p = &m; *p = m; sem_open(\"x\", 0); return 0; }", "`sem_open`")];

#[test]
fn what_has_no_net_is_refused() {
    for (text, words) in REFUSED {
        match lower(text) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => assert!(error.contains(words), "{text}\n{error}"),
        }
    }
}
