// Two hundred workers, each with a cell of its own; main looks at the cells before it has waited for the last worker.
// So the last cell may still be 0, and main reads it while the worker may write it.
// Expected --check assert: FALSE (unreach-call)
// Expected --check race: FALSE (no-data-race)
// Expected --check deadlock: TRUE
#include <assert.h>
#include <pthread.h>

#define WORKERS 200

static int cells[WORKERS];

static void *worker(void *arg) {
    cells[(long)arg] = 1;
    return 0;
}

int main(void) {
    pthread_t threads[WORKERS];
    for (long i = 0; i < WORKERS; i++) pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < WORKERS - 1; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < WORKERS; i++) assert(cells[i] == 1);
    return 0;
}
