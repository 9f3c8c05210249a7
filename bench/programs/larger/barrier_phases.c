// Workers compute in phases, with a barrier of a mutex and a condition variable between them.
// In each phase all see the totals of the phase before.
// Expected: TRUE
//@ check assert, deadlock
#include <assert.h>
#include <pthread.h>

#define WORKERS 3
#define PHASES 2

static pthread_mutex_t barrier_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t barrier_opens = PTHREAD_COND_INITIALIZER;
static int n_arrived = 0;
static int phase_number = 0;

static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static int totals[PHASES];

static void wait_for_all(void) {
    pthread_mutex_lock(&barrier_lock);
    int mine = phase_number;
    n_arrived++;
    if (n_arrived == WORKERS) {
        n_arrived = 0;
        phase_number++;
        pthread_cond_broadcast(&barrier_opens);
    } else {
        while (mine == phase_number)
            pthread_cond_wait(&barrier_opens, &barrier_lock);
    }
    pthread_mutex_unlock(&barrier_lock);
}

static void add(int phase, int value) {
    pthread_mutex_lock(&total_lock);
    totals[phase] = totals[phase] + value;
    pthread_mutex_unlock(&total_lock);
}

static int total(int phase) {
    pthread_mutex_lock(&total_lock);
    int value = totals[phase];
    pthread_mutex_unlock(&total_lock);
    return value;
}

static void *worker(void *arg) {
    int part = 1;
    for (int phase = 0; phase < PHASES; phase++) {
        int work = part;
        work = work * 2;
        work = work - part;
        add(phase, work);
        wait_for_all();
        int sum = total(phase);
        assert(sum == WORKERS * part);
        part = sum;
    }
    assert(part == 9);
    return NULL;
}

int main(void) {
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(phase_number == PHASES);
    assert(n_arrived == 0);
    return 0;
}
