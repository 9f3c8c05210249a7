// Two hundred workers, each with a cell of its own; main waits for all of them before it looks.
// No two threads touch the same cell at a time, so the order in which they run does not matter.
// Expected --check assert,deadlock,race: TRUE
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
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < WORKERS; i++) assert(cells[i] == 1);
    return 0;
}
