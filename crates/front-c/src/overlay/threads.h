/* C11 threads, in terms of POSIX threads. */
#ifndef PDNET_THREADS_H
#define PDNET_THREADS_H 1

#include <pthread.h>
#include <time.h>

#define thread_local _Thread_local
#define ONCE_FLAG_INIT PTHREAD_ONCE_INIT
#define TSS_DTOR_ITERATIONS 4

enum { thrd_success = 0, thrd_busy = 1, thrd_error = 2, thrd_nomem = 3, thrd_timedout = 4 };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };

typedef pthread_t thrd_t;
typedef pthread_mutex_t mtx_t;
typedef pthread_cond_t cnd_t;
typedef pthread_once_t once_flag;
typedef pthread_key_t tss_t;
typedef int (*thrd_start_t)(void *);
typedef void (*tss_dtor_t)(void *);

static inline int thrd_create(thrd_t *thread, thrd_start_t start, void *argument) {
  return pthread_create(thread, 0, (void *(*)(void *)) start, argument) == 0 ? thrd_success : thrd_error;
}
static inline int thrd_join(thrd_t thread, int *result) {
  void *value;
  if (pthread_join(thread, &value) != 0) return thrd_error;
  if (result) *result = (int) (long) value;
  return thrd_success;
}
static inline int thrd_detach(thrd_t thread) { return pthread_detach(thread) == 0 ? thrd_success : thrd_error; }
static inline thrd_t thrd_current(void) { return pthread_self(); }
static inline int thrd_equal(thrd_t left, thrd_t right) { return pthread_equal(left, right); }
static inline void thrd_yield(void) { sched_yield(); }
static inline int thrd_sleep(const struct timespec *duration, struct timespec *remaining) { return 0; }
static inline _Noreturn void thrd_exit(int result) { pthread_exit((void *) (long) result); }

static inline int mtx_init(mtx_t *mutex, int type) {
  pthread_mutexattr_t attribute;
  pthread_mutexattr_init(&attribute);
  if (type & mtx_recursive) pthread_mutexattr_settype(&attribute, PTHREAD_MUTEX_RECURSIVE);
  return pthread_mutex_init(mutex, &attribute) == 0 ? thrd_success : thrd_error;
}
static inline void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy(mutex); }
static inline int mtx_lock(mtx_t *mutex) { return pthread_mutex_lock(mutex) == 0 ? thrd_success : thrd_error; }
static inline int mtx_trylock(mtx_t *mutex) { return pthread_mutex_trylock(mutex) == 0 ? thrd_success : thrd_busy; }
static inline int mtx_unlock(mtx_t *mutex) { return pthread_mutex_unlock(mutex) == 0 ? thrd_success : thrd_error; }
static inline int mtx_timedlock(mtx_t *mutex, const struct timespec *until) {
  return pthread_mutex_timedlock(mutex, until) == 0 ? thrd_success : thrd_timedout;
}

static inline int cnd_init(cnd_t *condition) { return pthread_cond_init(condition, 0) == 0 ? thrd_success : thrd_error; }
static inline void cnd_destroy(cnd_t *condition) { pthread_cond_destroy(condition); }
static inline int cnd_signal(cnd_t *condition) { return pthread_cond_signal(condition) == 0 ? thrd_success : thrd_error; }
static inline int cnd_broadcast(cnd_t *condition) {
  return pthread_cond_broadcast(condition) == 0 ? thrd_success : thrd_error;
}
static inline int cnd_wait(cnd_t *condition, mtx_t *mutex) {
  return pthread_cond_wait(condition, mutex) == 0 ? thrd_success : thrd_error;
}
static inline int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
  return pthread_cond_timedwait(condition, mutex, until) == 0 ? thrd_success : thrd_timedout;
}

static inline void call_once(once_flag *flag, void (*function)(void)) { pthread_once(flag, function); }
static inline int tss_create(tss_t *key, tss_dtor_t destructor) {
  return pthread_key_create(key, destructor) == 0 ? thrd_success : thrd_error;
}
static inline void tss_delete(tss_t key) { pthread_key_delete(key); }
static inline void *tss_get(tss_t key) { return pthread_getspecific(key); }
static inline int tss_set(tss_t key, void *value) {
  return pthread_setspecific(key, value) == 0 ? thrd_success : thrd_error;
}

#endif
