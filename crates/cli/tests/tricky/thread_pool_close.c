// As thread_pool.c, but closing signals one worker only: the other one sleeps forever, and main waits for it.
// Expected --check deadlock: FALSE (no-deadlock)
// Expected --check assert,race,memory,locks: TRUE
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define JOBS 2
#define WORKERS 2

typedef void (*job_function)(void *);

struct job {
    job_function run;
    void *argument;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job jobs[JOBS];
    unsigned head, tail;
    bool closed;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void submit(job_function run, void *argument) {
    pthread_mutex_lock(&pool.lock);
    pool.jobs[pool.tail % JOBS] = (struct job){ run, argument };
    pool.tail++;
    pthread_cond_signal(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

static bool take(struct job *job) {
    pthread_mutex_lock(&pool.lock);
    while (pool.head == pool.tail && !pool.closed)
        pthread_cond_wait(&pool.changed, &pool.lock);
    bool found = pool.head != pool.tail;
    if (found)
        *job = pool.jobs[pool.head++ % JOBS];
    pthread_mutex_unlock(&pool.lock);
    return found;
}

static void *worker(void *unused) {
    struct job job;
    while (take(&job))
        job.run(job.argument);
    return unused;
}

static void close_pool(void) {
    pthread_mutex_lock(&pool.lock);
    pool.closed = true;
    pthread_cond_signal(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

static void add_one(void *argument) {
    int *number = argument;
    *number += 1;
}

static void negate(void *argument) {
    int *number = argument;
    *number = -*number;
}

int main(void) {
    pthread_t workers[WORKERS];
    int a = 1, b = 5;
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    submit(add_one, &a);
    submit(negate, &b);
    close_pool();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(a == 2 && b == -5);
    return 0;
}
