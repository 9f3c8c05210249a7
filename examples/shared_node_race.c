// Each thread has a node of its own, but both count in the one that they share.
// Expected: FALSE (no-data-race)
//@ check race
#include <pthread.h>
#include <stdlib.h>

struct counter {
    int own;
    struct counter *total;
};

void *worker(void *arg) {
    struct counter *counter = arg;
    counter->own++;
    counter->total->own++;
    return NULL;
}

int main(void) {
    struct counter *total = calloc(1, sizeof *total);
    struct counter *counters = calloc(2, sizeof *counters);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        counters[i].total = total;
        pthread_create(&threads[i], NULL, worker, &counters[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(counters);
    free(total);
    return 0;
}
