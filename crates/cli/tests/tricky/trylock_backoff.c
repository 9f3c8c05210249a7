// Two threads take two locks in opposite orders, but the second one by trylock: who does not get it gives the first one
// back and starts again. There is no deadlock; the two can chase each other forever, also under strong fairness.
// Expected --check assert,deadlock,race,locks: TRUE
// Expected --ltl 'F end' --fair strong: FALSE (valid-ltl)
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void lock_both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0)
            return;
        pthread_mutex_unlock(first);
        sched_yield();
    }
}

static void *left_first(void *unused) {
    lock_both(&left, &right);
    shared++;
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return unused;
}

static void *right_first(void *unused) {
    lock_both(&right, &left);
    shared++;
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, left_first, NULL);
    pthread_create(&b, NULL, right_first, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(shared == 2);
    return 0;
}
