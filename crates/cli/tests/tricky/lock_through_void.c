// A callback interface in the old style: the library gets lock and unlock functions and a void pointer to the lock.
// Both threads use the same mutex through it, so the counter is safe.
// Expected --check assert,deadlock,race,memory,locks: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct lock_ops {
    void (*acquire)(void *);
    void (*release)(void *);
};

static void posix_acquire(void *lock) {
    pthread_mutex_lock((pthread_mutex_t *)lock);
}

static void posix_release(void *lock) {
    pthread_mutex_unlock((pthread_mutex_t *)lock);
}

static const struct lock_ops posix_ops = { posix_acquire, posix_release };

struct counter {
    const struct lock_ops *ops;
    void *lock;
    int value;
};

static void counter_add(struct counter *counter, int amount) {
    counter->ops->acquire(counter->lock);
    counter->value += amount;
    counter->ops->release(counter->lock);
}

static void *worker(void *arg) {
    counter_add(arg, 1);
    return NULL;
}

int main(void) {
    pthread_mutex_t lock;
    pthread_mutex_init(&lock, NULL);
    struct counter *counter = malloc(sizeof *counter);
    if (counter == NULL)
        exit(1);
    counter->ops = &posix_ops;
    counter->lock = &lock;
    counter->value = 0;

    pthread_t thread;
    pthread_create(&thread, NULL, worker, counter);
    counter_add(counter, 2);
    pthread_join(thread, NULL);
    assert(counter->value == 3);
    free(counter);
    pthread_mutex_destroy(&lock);
    return 0;
}
