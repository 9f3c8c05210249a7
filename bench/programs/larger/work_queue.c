// A queue of numbered jobs that workers take one by one; results are gathered under a second lock.
// Every job is done once.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

#define WORKERS 3
#define JOBS 4

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_job = 0;
static int taken[JOBS];

static pthread_mutex_t result_lock = PTHREAD_MUTEX_INITIALIZER;
static int results[JOBS];
static int n_results = 0;

static int square(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += n;
    return sum;
}

static int take_job(void) {
    int job = -1;
    pthread_mutex_lock(&queue_lock);
    if (next_job < JOBS) {
        job = next_job;
        assert(taken[job] == 0);
        taken[job] = 1;
        next_job = next_job + 1;
    }
    pthread_mutex_unlock(&queue_lock);
    return job;
}

static void give_result(int job, int value) {
    pthread_mutex_lock(&result_lock);
    results[job] = value;
    n_results = n_results + 1;
    assert(n_results <= JOBS);
    pthread_mutex_unlock(&result_lock);
}

static void *worker(void *arg) {
    int n_done = 0;
    while (1) {
        int job = take_job();
        if (job < 0)
            break;
        int value = square(job);
        give_result(job, value);
        n_done++;
        assert(n_done <= JOBS);
    }
    return NULL;
}

int main(void) {
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(n_results == JOBS);
    for (int i = 0; i < JOBS; i++)
        assert(results[i] == i * i);
    return 0;
}
