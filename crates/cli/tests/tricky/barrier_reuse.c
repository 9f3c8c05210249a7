// Two workers compute in rounds: each writes its cell, all meet, each reads the cell of its neighbour, all meet again.
// The second barrier keeps a fast worker from writing the next round while the other still reads.
// Expected --check assert,deadlock,race,memory,locks: TRUE
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
        pthread_barrier_wait(&meeting);
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
