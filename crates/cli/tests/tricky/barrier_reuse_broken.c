// As barrier_reuse.c without the second barrier: a fast worker writes its cell for the next round while the other one
// still reads that of this round.
// Expected --check race: FALSE (no-data-race)
// Expected --check assert: FALSE (unreach-call)
// Expected --check deadlock,memory,locks: TRUE
#include <assert.h>
#include <pthread.h>

#define WORKERS 2
#define ROUNDS 2

static pthread_barrier_t meeting;
static int cells[WORKERS];

static void *worker(void *arg) {
    int me = *(int *)arg;
    for (int round = 1; round <= ROUNDS; round++) {
        cells[me] = round;
        pthread_barrier_wait(&meeting);
        int neighbour = cells[(me + 1) % WORKERS];
        assert(neighbour == round);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    int ids[WORKERS];
    pthread_barrier_init(&meeting, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&meeting);
    return 0;
}
